"""The options of intervals, the rule of `interval="auto"`, and the choice of the method of limits.

`interval_options` validates the parameters of a metric once, before any sample is checked. There
are M questions, U distinct rows of scores, and m columns.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .checks import (
    check_bounds,
    check_confidence,
    check_flag,
    check_name,
    check_number,
    check_prior,
    entries_of,
    label_index,
)
from .coherent import CoherentIntervals, with_neighbors
from .counts import BinaryCounts
from .expected import largest_scores, pass_scores
from .interval import UNIT_RANGE, IntervalMethod
from .package import PACKAGE
from .questions import QuestionIntervals, Ranges, effective_clusters
from .rewards import Rewards, max_scores
from .score import Score, ScoreKey, Scores

INTERVALS = ("posterior", "sampling", "hierarchical", "questions", "auto")


def method_of_auto(has_prior: bool, has_clusters: bool, repeated: bool | None = None) -> str:
    """Return the name of the method that `interval="auto"` stands for.

    It is "posterior" with a prior that is not uniform, and "questions" with clusters. Otherwise it
    is "sampling" if a question is `repeated`, with two samples or more, as these show how scores
    vary when the same questions are sampled again ("hierarchical" for k > n). If each has one, it
    is "questions", as only differences between questions show a variance. Scores with k > n then
    have no estimate. If `repeated` is None, not known yet, it is "auto".
    """
    if has_prior:
        return "posterior"
    if has_clusters:
        return "questions"
    return {None: "auto", True: "sampling", False: "questions"}[repeated]


# --- Options ------------------------------------------------------------------------------


class Weighting(NamedTuple):
    """How the scores of questions are averaged, by default with equal weights."""

    values: np.ndarray | None = None  # (M,) the weight of each question, or None for equal ones
    words: str = ""  # a description such as "averaged over 3 groups"
    over_groups: bool = False  # whether the result is the mean of the scores of groups


OVER_QUESTIONS = Weighting()


@dataclass(frozen=True)
class IntervalOptions:
    """How intervals are computed. The values are valid."""

    confidence: float | None = None  # of each interval, or None for no intervals
    method: str = "auto"  # by name, or "auto" if it depends on the numbers of samples
    is_named: bool = True  # whether results name the method of each interval, as for "auto"
    clusters: np.ndarray | None = None  # (M,) integer labels, or None if each question is its own
    weighting: Weighting = OVER_QUESTIONS
    prior: tuple[float, float] = (1.0, 1.0)  # alpha0 and beta0 of the Beta prior of success rates
    bounds: tuple[float, float] = (-math.inf, math.inf)  # to which limits are clipped
    band: bool = False  # whether to add the simultaneous confidence band of each score over k
    anytime: bool = False  # whether limits hold together at all looks at the data

    @property
    def weights(self) -> np.ndarray | None:
        """Return the weight of each question in means, (M,), or None if all are equal."""
        return self.weighting.values

    @property
    def allow_above_n(self) -> bool:
        """Return whether k may exceed the number of samples of a question.

        It may not in a mean over groups, because each group would be extrapolated by its own prior.
        """
        if self.weighting.over_groups:
            return False
        return self.confidence is not None and self.method in ("hierarchical", "auto")


def interval_options(
    questions: int,
    confidence: float | None,
    interval: str | None,
    clusters,
    *,
    known: Sequence[str] = INTERVALS,
    alpha0: float = 1.0,
    beta0: float = 1.0,
    has_prior_outcomes: bool = False,
    bounds: tuple[float, float] | None = None,
    band: bool = False,
    weighting: Weighting = OVER_QUESTIONS,
    anytime: bool = False,
) -> IntervalOptions:
    """Return the parameters of a metric for M questions as options of intervals.

    `known` are the names that `interval` can have, and `has_prior_outcomes` says if R0 is given. A
    ValueError is raised if a parameter is invalid, or contradicts or lacks another.
    """
    prior, limits = check_prior(alpha0, beta0), check_bounds(bounds)
    check_flag("band", band)
    check_flag("anytime", anytime)
    requested = "auto" if interval is None else check_name("interval", interval, known)
    if confidence is not None:
        confidence = check_confidence(confidence)
    else:
        _refuse_without_confidence(interval=interval, clusters=clusters, band=band, anytime=anytime)
    prior_name = "alpha0, beta0" if prior != (1, 1) else ""
    prior_name = "R0" if has_prior_outcomes else prior_name
    method = requested
    if requested == "auto":
        method = method_of_auto(bool(prior_name), clusters is not None)
    uses_prior = f"interval='posterior' uses {prior_name}"
    has_two = "and interval='questions' uses clusters: leave out one of them."
    needs_data = (
        "anytime needs limits of the data alone, and interval is 'posterior': give "
        "interval='sampling' or 'questions', without a prior."
    )
    contradictions = (  # facts that exclude each other, and the message
        (prior_name, method != "posterior", f"only {uses_prior}, and interval is {requested!r}."),
        (prior_name, requested == "auto", clusters is not None, f"{uses_prior}, {has_two}"),
        (anytime, method == "posterior", needs_data),
        (anytime, band, "a band holds at one look: leave out band or anytime."),
    )
    for *facts, message in contradictions:
        if all(facts):
            raise ValueError(message)
    index = check_clusters(clusters, method, questions, weighting.values)
    is_named = requested == "auto"
    return IntervalOptions(
        confidence, method, is_named, index, weighting, prior, limits, band, anytime
    )


def _refuse_without_confidence(**for_limits: Any) -> None:
    """Raise a ValueError if an option that only limits use is given: neither None nor False."""
    for name, value in for_limits.items():
        if value is not None and value is not False:
            raise ValueError(
                f"only limits use {name}, and there is no confidence: give one, such as "
                f"confidence=0.95."
            )


def question_weighting(
    average: Any, question_weights: Any, groups: Any, questions: int
) -> Weighting:
    """Return the parameters of a metric about averages over M questions as a `Weighting`.

    For average="groups", the weights of each group are scaled to the sum 1. A ValueError is raised
    if a parameter is invalid, if groups are missing, or if all weights of a group are 0.
    """
    over_groups = check_name("average", average, ("questions", "groups")) == "groups"
    if over_groups and groups is None:
        raise ValueError(
            "average='groups' is the mean of the scores of groups: give a label of its group for "
            "each question as groups (in the shell, their column as --groups)."
        )
    names, index = ([], None) if groups is None else label_index(groups, questions, "groups")
    if question_weights is None and not over_groups:
        return OVER_QUESTIONS
    weights, words = np.ones(questions), ""
    if question_weights is not None:
        weights, words = _check_weights(question_weights, questions), "averaged with weights"
    if index is not None:
        sums = np.bincount(index, weights)
        if not sums.all():
            raise ValueError(
                f"question_weights are 0 for all questions of group {names[int(sums.argmin())]!r}: "
                f"give one of them a weight above 0, or leave the group out."
            )
        if over_groups:
            weights = weights / sums[index]
            words = f"averaged over {len(names)} groups{', with weights in each' if words else ''}"
    return Weighting(None if (weights == weights[0]).all() else weights, words, over_groups)


def _check_weights(question_weights: Any, questions: int) -> np.ndarray:
    """Return the weights of questions, (M,); raise a ValueError if one is invalid, or all are 0."""
    entries = entries_of("question_weights", question_weights)
    if len(entries) != questions:
        raise ValueError(
            f"question_weights has {len(entries)} entries for {questions} questions: give one "
            f"weight for each."
        )
    weights, wanted = [], "a weight is 0, or a number from 1e-50 to 1e50"
    for question, weight in enumerate(entries):
        name = f"question_weights[{question}]"
        number = check_number(name, weight, wanted, 0, 1e50)
        weights.append(number and check_number(name, number, wanted, 1e-50, 1e50))
    if not any(weights):
        raise ValueError("question_weights are all 0: give a weight above 0.")
    return np.array(weights)


def refuse_group_average_of_products(average: Any, scores: Mapping[ScoreKey, Score]) -> None:
    """Raise a ValueError if average="groups", and a score is a product of two pooled means."""
    for key, score in scores.items():
        if average == "groups" and score.pooled and len(score.terms) > 1:
            raise ValueError(
                f"{key} is a product of two means over all questions, so average='groups' does not "
                f"apply: leave it out, or give groups without average."
            )


class KnownClusters(list[str]):
    """Labels of clusters that a run was read with, although nobody asked for them.

    Only the interval "questions" uses them. Others ignore them, and refuse labels that are given.
    """

    is_optional = True


def check_clusters(
    clusters, interval: str, questions: int, weights: np.ndarray | None = None
) -> np.ndarray | None:
    """Return integer labels of the clusters of M questions, (M,), or None if `clusters` is None.

    A warning says if a few clusters have most of the questions. A ValueError is raised unless there
    are M labels, and the method `interval` is "questions" or "auto".
    """
    if clusters is None:
        return None
    if interval not in ("questions", "auto"):
        raise ValueError(
            f"clusters are used by interval='questions' only, and interval is {interval!r}."
        )
    names, index = label_index(clusters, questions, "clusters")
    effective = effective_clusters(index, questions, weights)
    if effective < len(names) / 2:
        warnings.warn(
            f"The {len(names)} clusters differ in size, so they count as {effective:.1f} of equal "
            f"size: the limits are as wide as with so few clusters.",
            stacklevel=2,
        )
    return index


# --- Scores, and the method of their limits ------------------------------------------------


def pass_limits(
    counts: BinaryCounts, scores: Mapping[ScoreKey, Score], options: IntervalOptions
) -> tuple[Scores, IntervalMethod]:
    """Return estimates of scores of the pass@k family, and the method of their limits.

    Without a confidence, callers do not use the method that is returned. Methods other than
    "questions" are in the installed package, which `PACKAGE.rooms` calls.
    """
    if options.confidence is None:
        points = pass_scores(counts, scores)
        return points, QuestionIntervals(points)
    if options.method != "questions":
        return PACKAGE.rooms.pass_limits(counts, scores, options)
    # Limits at one k are compared with those at neighboring k, which may not be requested.
    with_others = with_neighbors(scores, int(counts.n.min()))
    points = pass_scores(counts, with_others)
    method = limits_for_questions(points, "", options, (0.0, largest_scores(with_others)))
    return points.only(scores), CoherentIntervals(method, scores)


def max_limits(
    rewards: Rewards,
    ks: Mapping[ScoreKey, int],
    options: IntervalOptions,
    score_range: tuple[float, float] | None = None,
) -> tuple[Scores, IntervalMethod]:
    """Return estimates of Max@k at the k of each key, and the method of their limits.

    `score_range` is the range of possible scores; by default, that of the rewards of each question.
    The method is as for `pass_limits`.
    """
    if options.confidence is None:
        points = max_scores(rewards, ks)
        return points, QuestionIntervals(points)
    ranges = np.clip(rewards.ranges if score_range is None else [score_range], *options.bounds)
    if options.method != "questions":
        return PACKAGE.rooms.max_limits(rewards, ks, options, ranges)
    points, (least, most) = max_scores(rewards, ks), ranges.T
    return points, limits_for_questions(points, "", options, (least[:, None], most[:, None]))


def limits_for_questions(
    points: Scores, name: str, options: IntervalOptions, score_range: Ranges = UNIT_RANGE
) -> IntervalMethod:
    """Return the method "questions" of limits of scores from `score_range`.

    `name` is that of scores for which no other method exists, or "". A ValueError is raised if
    another method is requested for these.
    """
    if name and options.confidence is not None and options.method not in ("questions", "auto"):
        raise ValueError(
            f"{name} has limits for other questions only: give interval='questions', without a "
            f"prior, or leave {name} out of include."
        )
    allow_one = bool(name) and options.is_named
    return QuestionIntervals(
        points, score_range, options.clusters, allow_one, weights=options.weights
    )
