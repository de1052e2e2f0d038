"""The choice of an interval: by name, or "auto" from what the data can show.

The rule of "auto", for all questions and for each group by itself:

- If a question has two samples or more, the samples show how scores vary when the same questions
  are sampled again: `sampling` for k <= n, `hierarchical` for k > n.
- If each question has one sample, only other questions show it: `questions` for k <= n.
- Otherwise nothing does, and the interval is the whole range of the score, named "none".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..inputs.counts import Counts
from ..scores.credits import Credits
from ..scores.distributions import Prior
from ..scores.pass_family import estimator, pass_moments, pass_scores
from ..scores.rewards import Rewards, max_moments, max_scores
from ..scores.score import Score, Scores
from .family import Family, FamilyMethod, Fit
from .hierarchical import HierarchicalIntervals
from .interval import ClusterLabels, Interval, IntervalMethod, Intervals
from .posterior import PosteriorIntervals
from .reward_distributions import RewardDistributions
from .sampling import SamplingIntervals
from .success_rates import SuccessRates

INTERVALS = ("posterior", "sampling", "hierarchical", "questions", "auto")


def choose_interval(
    family: Family, interval: str, clusters: np.ndarray | None = None
) -> IntervalMethod:
    """The method that computes an interval of this name.

    Args:
        family: of the outcomes, with the scores.
        interval: "sampling", "questions", "hierarchical" or "auto".
        clusters: (M,) label of each question's cluster, for other questions like these.
    """
    if interval == "auto":
        return AutoIntervals(family, clusters)
    if interval == "hierarchical":
        return HierarchicalIntervals(family)
    if interval == "questions":
        return SamplingIntervals(family, new_questions=True, clusters=clusters)
    return SamplingIntervals(family)


class AutoIntervals(IntervalMethod):
    """For each part of a run, the interval that its data allow."""

    def __init__(self, family: Family, clusters: np.ndarray | None):
        self._family = family
        unknown = UnknownIntervals(family)
        self._resampled = _Together(SamplingIntervals(family), HierarchicalIntervals(family))
        new_questions = SamplingIntervals(family, new_questions=True, clusters=clusters)
        self._other_questions = _Together(unknown, new_questions, clusters=clusters)
        self._none = _Together(unknown)

    def for_parts(
        self, parts: Sequence[np.ndarray], confidence: float
    ) -> list[dict[str, Interval]]:
        methods = [self._method_for(rows) for rows in parts]
        found: list[dict[str, Interval]] = [{} for _ in parts]
        for method in dict.fromkeys(methods):
            places = [place for place, each in enumerate(methods) if each is method]
            intervals = method.for_parts([parts[place] for place in places], confidence)
            for place, each in zip(places, intervals, strict=True):
                found[place] = each
        return found

    def _method_for(self, rows: np.ndarray) -> FamilyMethod:
        if self._family.n[self._family.inverse[rows]].max() > 1:
            return self._resampled
        if self._other_questions.problem(rows) is None:
            return self._other_questions
        return self._none


class _Together(FamilyMethod):
    """Several methods that share the estimated priors. Later ones take precedence."""

    def __init__(self, *methods: FamilyMethod, clusters: np.ndarray | None = None):
        super().__init__(methods[0].family, clusters)
        self._methods = methods

    def problem(self, rows: np.ndarray) -> str | None:
        return next(filter(None, (method.problem(rows) for method in self._methods)), None)

    def from_fit(
        self, fit: Fit, confidence: float, clusters: ClusterLabels | None = None
    ) -> dict[str, Intervals]:
        result: dict[str, Intervals] = {}
        for method in self._methods:
            result |= method.from_fit(fit, confidence, clusters)
        return result


class UnknownIntervals(FamilyMethod):
    """The whole range of each score, for data that do not show any variation."""

    def from_fit(
        self, fit: Fit, confidence: float, clusters: ClusterLabels | None = None
    ) -> dict[str, Intervals]:
        family, total = self.family, fit.multiplicity.sum(axis=1)
        least, most = family.extremes(fit.multiplicity)
        point = (fit.multiplicity @ family.columns / total[:, None]).T
        result = {}
        for key, score in family.scores.items():
            lo, hi = score.value(least), score.value(most)
            result[key] = Intervals(score.value(point), (hi - lo) / 2, lo, hi, "none")
        if family.extrapolated:
            means = (fit.multiplicity @ family.extrapolated_columns / total[:, None]).T
            lo, hi = (np.full(len(total), bound) for bound in family.bounds)
            for key, mean in zip(family.extrapolated, means, strict=True):
                result[key] = Intervals(mean, (hi - lo) / 2, lo, hi, "none")
        return result


# --- Scores with intervals ----------------------------------------------------------------


def pass_intervals(
    counts: Counts,
    scores: Mapping[str, Score],
    interval: str,
    prior: Prior,
    clusters: np.ndarray | None,
) -> tuple[Scores, IntervalMethod]:
    """Scores of the pass family, and the method of their intervals.

    A score with k > n is a posterior mean under the prior estimated from the data.
    """
    if interval == "posterior":
        moments = pass_moments(counts, scores, prior)
        return pass_scores(counts, scores), PosteriorIntervals(moments, (0.0, 1.0))
    least = counts.n.min()
    observed = {key: score for key, score in scores.items() if len(score.terms[0]) <= least}
    beyond = {key: score for key, score in scores.items() if key not in observed}
    keys, estimate = estimator(observed)
    extrapolated = _single_credits(scores if interval == "hierarchical" else beyond)
    family = SuccessRates(counts, keys, estimate, extrapolated)
    found = _with_extrapolated(pass_scores(counts, observed), family, scores)
    return found, choose_interval(family, interval, clusters)


def reward_intervals(
    rewards: Rewards,
    ks: Mapping[str, int],
    interval: str,
    bounds: tuple[float, float],
    clusters: np.ndarray | None,
) -> tuple[Scores, IntervalMethod]:
    """Max@k for each key, and the method of its intervals.

    A score with k > n is a posterior mean under the prior estimated from the data.
    """
    if interval == "posterior":
        return max_scores(rewards, ks), PosteriorIntervals(max_moments(rewards, ks), bounds)
    observed = {key: k for key, k in ks.items() if k <= rewards.n.min()}
    family = reward_family(rewards, ks, interval, bounds)
    found = _with_extrapolated(max_scores(rewards, observed), family, ks)
    return found, choose_interval(family, interval, clusters)


def reward_family(
    rewards: Rewards, ks: Mapping[str, int], interval: str, bounds: tuple[float, float]
) -> RewardDistributions:
    """The family of rewards with Max@k for each key, as the interval of this name needs it."""
    observed = {key: k for key, k in ks.items() if k <= rewards.n.min()}
    beyond = {key: k for key, k in ks.items() if key not in observed}
    extrapolated = ks if interval == "hierarchical" else beyond
    return RewardDistributions(rewards, observed, extrapolated, bounds)


def _single_credits(scores: Mapping[str, Score]) -> dict[str, Credits]:
    for key, score in scores.items():
        if len(score.terms) > 1:
            raise ValueError(
                f"{key} is a product of two scores, for which neither k > n nor "
                f"interval='hierarchical' is available: leave it out, or pass interval='sampling'."
            )
    return {key: score.terms[0] for key, score in scores.items()}


def _with_extrapolated(found: Scores, family: Family, keys: Mapping[str, object]) -> Scores:
    """All scores in the order of the keys. Those that are not found are extrapolated."""
    missing = [key for key in keys if key not in found.keys]
    if not missing:
        return found
    first = found.columns.shape[1]
    places = [family.extrapolated.index(key) for key in missing]
    every = dict(found.keys) | {key: Score((first + i,)) for i, key in enumerate(missing)}
    columns = np.hstack([found.columns, family.extrapolated_columns[:, places]])
    return Scores({key: every[key] for key in keys}, found.inverse, columns)
