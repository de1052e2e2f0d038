"""What a family of distributions contributes to the intervals of its scores.

Sampling and hierarchical intervals ask how the distributions of outcomes vary over questions. A
family answers: it has a grid of distributions that one question may have, their likelihood given
the samples of a question, the scores of each distribution, and how all of them shift along one
parameter. `success_rates` is the family of binary outcomes, `reward_distributions` that of
rewards. How the prior over the grid is estimated does not depend on the family.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..scores.score import ColumnPair, Score
from .interval import ClusterLabels, CountsMethod, Intervals
from .profile import Profile


class Fit(NamedTuple):
    """The priors estimated for B parts of a run.

    Args:
        multiplicity: (B, U) number of questions of each part with each distinct count.
        priors: of each part, in the form of the family.
    """

    multiplicity: np.ndarray
    priors: Any


class Shifted(NamedTuple):
    """Scores of a family whose F members are shifted along one parameter.

    Scores are on a scale from 0 to 1, so that a score is origin + width x theta. The middle
    member is the estimated one, and the first and the last are the limits of the family.

    Args:
        theta: (F, m, B) scores.
        covariance: (F, B) of each pair of columns: of estimates from one question.
        origin: (B,) the score at 0.
        width: (B,) the difference of the scores at 1 and at 0.
    """

    theta: np.ndarray
    covariance: Mapping[ColumnPair, np.ndarray]
    origin: np.ndarray
    width: np.ndarray


class Candidates(NamedTuple):
    """Scores of the distributions that a profile over priors considers.

    Args:
        profile: finds the range of mean scores over all priors that fit.
        scores: (J, e) of each distribution, on a scale from 0 to 1.
        origin: (e,) the score at 0.
        width: the difference of the scores at 1 and at 0.
    """

    profile: Profile
    scores: np.ndarray
    origin: np.ndarray
    width: float


class Family(abc.ABC):
    """Distributions of the outcomes of a question, and the scores of a run under them.

    Args:
        inverse: (M,) index of each question's counts among the U distinct ones.
        multiplicity: (U,) number of questions with each.
        n: (U,) samples.
        scores: for each key the score of k <= n samples, in terms of the columns.
        extrapolated: the keys of scores that come from the estimated prior, for any k.
        bounds: the smallest and the largest score.
    """

    def __init__(
        self,
        inverse: np.ndarray,
        multiplicity: np.ndarray,
        n: np.ndarray,
        scores: Mapping[str, Score],
        extrapolated: list[str],
        bounds: tuple[float, float],
    ):
        self.inverse, self.multiplicity, self.n = inverse, multiplicity, n
        self.scores, self.extrapolated, self.bounds = scores, extrapolated, bounds

    def fit(self, multiplicity: np.ndarray) -> Fit:
        """Estimate the priors of (B, U) parts; that of the whole run only once."""
        if len(multiplicity) == 1 and np.array_equal(multiplicity[0], self.multiplicity):
            return self._whole_run
        return self._estimate_priors(multiplicity)

    @cached_property
    def _whole_run(self) -> Fit:
        return self._estimate_priors(self.multiplicity[None])

    @cached_property
    def extrapolated_columns(self) -> np.ndarray:
        """(U, e) posterior means of the extrapolated scores under the prior of the whole run."""
        return self._posterior_means(self._whole_run)

    @property
    def pairs(self) -> list[ColumnPair]:
        """The pairs of columns whose covariance the scores need."""
        pairs = (pair for score in self.scores.values() for pair in score.pairs())
        return list(dict.fromkeys(pairs))

    @property
    @abc.abstractmethod
    def columns(self) -> np.ndarray:
        """(U, m) unbiased estimates of the columns that the scores are made of."""

    @abc.abstractmethod
    def extremes(self, multiplicity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(m, B) the smallest and the largest possible value of each column, over (B, U) parts."""

    @abc.abstractmethod
    def shifted(self, fit: Fit, new_questions: bool) -> Shifted:
        """Scores and covariances of the shifted family.

        The covariance is that of new samples of the same questions, or of new questions too.
        """

    @abc.abstractmethod
    def candidates(self, fit: Fit, part: int) -> Candidates | None:
        """What a profile over priors needs, or None if all samples have the same reward."""

    @abc.abstractmethod
    def _estimate_priors(self, multiplicity: np.ndarray) -> Fit:
        """Estimate the prior of each of (B, U) parts."""

    @abc.abstractmethod
    def _posterior_means(self, fit: Fit) -> np.ndarray:
        """(U, e) posterior means of the extrapolated scores of each distinct count."""


class FamilyMethod(CountsMethod):
    """A method that uses a family of distributions, with priors estimated for each part."""

    def __init__(self, family: Family, clusters: np.ndarray | None = None):
        super().__init__(family.inverse, len(family.n), clusters)
        self.family = family

    def over(
        self, multiplicity: np.ndarray, confidence: float, clusters: ClusterLabels | None = None
    ) -> dict[str, Intervals]:
        return self.from_fit(self.family.fit(multiplicity), confidence, clusters)

    @abc.abstractmethod
    def from_fit(
        self, fit: Fit, confidence: float, clusters: ClusterLabels | None = None
    ) -> dict[str, Intervals]:
        """The intervals of the parts whose priors have been estimated."""


def estimate_prior(
    n: np.ndarray, likelihood: np.ndarray, multiplicity: np.ndarray, start: np.ndarray
) -> dict[int, np.ndarray]:
    """Estimate the prior over a grid for B parts by the EM algorithm, stopped early.

    The limit of the EM algorithm is the nonparametric maximum likelihood estimate (Kiefer &
    Wolfowitz 1956; Laird 1978), which has a few atoms. Stopping after T steps keeps the
    distributions that the samples do not contradict: without a correct sample, a question keeps
    success rates of the order 1/(nT), so no variance is estimated as 0.

    Args:
        n: (U,) samples.
        likelihood: (U, J) of each distribution of the grid.
        multiplicity: (B, U) number of questions.
        start: (J,) prior to start from, of sum 1.

    Returns:
        The priors split by n: for each n, (B, J). The sum over n and J is 1.
    """
    total = multiplicity.sum(axis=1, keepdims=True)
    share = multiplicity / total
    prior = np.broadcast_to(start, (len(share), len(start)))

    def weights() -> np.ndarray:
        # Counts of other parts may be almost impossible under the prior of this one.
        return share / np.maximum(prior @ likelihood.T, 1e-300)

    steps = np.maximum(20, (2 * np.sqrt(total)).astype(int))
    for step in range(1, steps.max()):
        prior = np.where(step < steps, prior * (weights() @ likelihood), prior)
    last = weights()
    return {
        size: prior * (last[:, n == size] @ likelihood[n == size]) for size in np.unique(n).tolist()
    }
