"""Sampling intervals: test inversion with the variance estimated from the data.

The estimate U of a score is a mean over questions of unbiased estimates. Its variance depends on
the distributions of the questions' outcomes. A prior over them is estimated from the data
(`family`) and used for the width of the interval only. The family of distributions is shifted
along one parameter d. Its score is theta(d) and the estimate has the variance v(d), for new
samples of the same questions or for other questions like these. The interval consists of the
theta(d) with

    |U - theta(d)| <= z sqrt(v(d)),

as in Wilson's interval (1927), where the family is the binomial. It stays inside the range of the
score without clipping, and is longer towards the middle of the range. `inversion` finds the limits,
also where few events are observed and for products of powers.

For the same questions and k > n/2, the data do not determine the variance: it depends on scores of
2k samples, which differ between priors that fit the data equally well. A family may therefore have
two estimates of the prior, and the interval contains those under both.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..scores.family import Family, Fit, Shifted
from ..scores.score import ScoreKey
from .clusters import TOO_FEW_CLUSTERS, cluster_deviations, design_effects
from .interval import Interval, normal_z, student_z
from .inversion import limits_of_score, lower_limit, upper_limit
from .methods import Clusters, FamilyMethod

ONE_SAMPLE_EACH = (
    "one sample of each question does not show how samples vary: add samples, or pass "
    "interval='questions'"
)


class ErrorModel(NamedTuple):
    """Estimates of B parts, and the family that their limits are found in.

    Args:
        point: (m, B) estimates of the columns.
        shifted: the family under each prior, with covariances of the estimates over all questions.
        clusters: (B,) number of clusters for Student's t, or None for the normal quantile.
    """

    point: np.ndarray
    shifted: list[Shifted]
    clusters: np.ndarray | None


class SamplingIntervals(FamilyMethod):
    """Intervals for new samples of the same questions, or of other questions like these.

    Args:
        family: of the outcomes.
        new_questions: whether the questions are new too.
        clusters: (M,) label of each question's cluster, or None if each question is its own.
    """

    def __init__(
        self, family: Family, new_questions: bool = False, clusters: np.ndarray | None = None
    ):
        super().__init__(family, clusters)
        self._new_questions = new_questions

    def problem(self, rows: np.ndarray) -> str | None:
        if not self._new_questions:
            if not self.one_sample_each(rows):
                return None
            return ONE_SAMPLE_EACH
        number = len(rows) if self._clusters is None else len(np.unique(self._clusters[rows]))
        return TOO_FEW_CLUSTERS if number < 2 else None

    def covariance(self, rows: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        result, scores = np.eye(len(keys)), list(self.family.scores)
        known = [place for place, key in enumerate(keys) if key in scores]
        columns = [scores.index(keys[place]) for place in known]
        inverse = self.family.inverse[rows]
        multiplicity = np.bincount(inverse, minlength=len(self.family.n))
        gradient = self.family.gradient(multiplicity)[:, columns]
        if self._new_questions:
            clusters = None if self._clusters is None else self._clusters[rows]
            deviations = cluster_deviations(self.family.columns[inverse] @ gradient, clusters)
            found = deviations.T @ deviations
        else:
            fit = self.family.fit(multiplicity[None])
            found = gradient.T @ self.family.covariance_of_samples(fit) @ gradient
        result[np.ix_(known, known)] = found
        return result

    def from_fit(
        self, fit: Fit, confidence: float, clusters: Clusters | None = None
    ) -> dict[ScoreKey, Interval]:
        if not self.family.scores:
            return {}
        return self.limits(self.model(fit, clusters), confidence)

    def model(self, fit: Fit, clusters: Clusters | None = None) -> ErrorModel:
        """The estimates of all parts and the covariance of their errors."""
        columns, total = self.family.columns, fit.multiplicity.sum(axis=1)
        number, effect = total, np.ones((columns.shape[1], len(total)))
        if clusters is not None:
            number = np.array([len(np.unique(labels)) for _, labels in clusters])
            for part, (inverse, labels) in enumerate(clusters):
                effect[:, part] = design_effects(columns[inverse], labels)
        # Other questions show their variance, which then depends little on the prior.
        fits = [fit] if self._new_questions else [fit, *self.family.other_fits(fit)]
        every = [self.family.shifted(each, self._new_questions) for each in fits]
        for place, shifted in enumerate(every):
            covariance = {
                (a, b): each * np.sqrt(effect[a] * effect[b]) / total
                for (a, b), each in shifted.covariance.items()
            }
            every[place] = shifted._replace(covariance=covariance)
        point = (fit.multiplicity @ columns / total[:, None]).T
        return ErrorModel(point, every, number if self._new_questions else None)

    def limits(self, model: ErrorModel, confidence: float) -> dict[ScoreKey, Interval]:
        """The intervals with this confidence, which contain those under each prior."""
        point, every, number = model
        theta, covariance, origin, width = every[0]
        z = np.full(point.shape[1], normal_z(confidence))
        if number is not None:
            z = np.array([student_z(each, confidence) for each in number.tolist()])
            z = z * np.sqrt(number / (number - 1))
        u, alpha = (point - origin) / width, 1 - confidence
        lo, hi = u.copy(), u.copy()
        columns = {column for score in self.family.scores.values() for column in score.terms}
        for shifted, column in itertools.product(every, columns):
            values = shifted.theta[:, column]
            sigma = np.sqrt(np.maximum(shifted.covariance[column, column], 0.0))
            upper = upper_limit(values, sigma, u[column], z, alpha)
            lower = lower_limit(values, sigma, u[column], z, alpha)
            hi[column], lo[column] = np.maximum(hi[column], upper), np.minimum(lo[column], lower)
        middle = len(theta) // 2
        here = {pair: each[middle] for pair, each in covariance.items()}
        name = "questions" if self._new_questions else "sampling"
        result = {}
        for key, score in self.family.scores.items():
            mu, variance = score.value(point), score.variance(theta[middle], here)
            lower, upper = limits_of_score(score, lo, u, hi, here)
            result[key] = Interval(
                mu,
                width * np.sqrt(np.maximum(variance, 0.0)),
                # Rounding of the scale must not move a limit past the score.
                np.clip(np.minimum(origin + width * lower, mu), *self.family.bounds),
                np.clip(np.maximum(origin + width * upper, mu), *self.family.bounds),
                name,
            )
        return result
