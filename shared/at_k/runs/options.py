"""The options that comparisons, leaderboards, gates, `noise` and plans share.

M is the number of questions.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Self, TypedDict

import numpy as np

from ..core.checks import (
    InputError,
    RunName,
    as_list,
    check_confidence,
    check_flag,
    check_k,
    check_name,
    check_samples,
    short,
)
from ..core.choice import (
    OVER_QUESTIONS,
    IntervalOptions,
    Weighting,
    check_clusters,
    question_weighting,
    refuse_group_average_of_products,
)
from ..core.coherent import spread_of_k
from ..core.credits import (
    PASS_FAMILY,
    ScoreOptions,
    build_scores,
    check_tau,
    included_scores,
)
from ..core.rewards import check_rewards
from ..core.score import Score, ScoreId
from ..core.score_agg import VERDICTS, exponent

WITHOUT_K = ("avg@N", "bayes@N", "score_agg")
REWARDS = ("max@k", "avg@N", "bayes@N")
"""Scores in the unit of the rewards. All others are from 0 to 1."""

_APPLICABLE_INTERVALS = {"bayes@N": ("posterior",), "score_agg": ("questions",)}


def compared_scores() -> tuple[str, ...]:
    """Return the names of the scores by which runs can be compared."""
    return (*PASS_FAMILY, "vote@k", "max@k", *WITHOUT_K)


class RunOptions(TypedDict, total=False):
    """Type the arguments of `compare` that `leaderboard`, `noise` and `at_k.testing` share."""

    tau: float
    clusters: list[str] | None
    w: list[float] | None
    check_correct_fn: str | Callable[..., Any]
    num_proc: int | None
    groups: list[str] | None
    average: str
    question_weights: list[float] | None


@dataclass
class ComparisonOptions:
    """The parameters of `at_k.compare`, whose docstring describes them, validated.

    `all_k` is whether the default of k is a list. For the samples of runs, `for_samples` validates
    them again, and fills in `k`, `clusters` as integers, and `weighting`.
    """

    metric: str = "pass@k"
    k: int | list[int] | None = None
    interval: str | None = None
    confidence: float = 0.95
    tau: float = 0.5
    clusters: Any = None
    w: list[float] | None = None
    temperature: float = 0.5
    groups: Any = None
    average: str = "questions"
    question_weights: Any = None
    all_k: bool = True
    anytime: bool = False
    check_correct_fn: Any = "exact_match"
    num_proc: int | None = None
    weighting: Weighting = field(default=OVER_QUESTIONS, init=False)

    def __post_init__(self) -> None:
        """Validate the options, and fill in the interval, k and tau."""
        self._split_metric_key()
        if check_flag("anytime", self.anytime) and self.metric == "bayes@N":
            raise ValueError("anytime is not for bayes@N, whose limits are those of a posterior.")
        applicable = _APPLICABLE_INTERVALS.get(self.metric, ("questions", "sampling"))
        self.interval = applicable[0] if self.interval is None else self.interval
        check_name("interval", self.interval, ("sampling", "posterior", "questions"))
        if self.interval not in applicable:
            raise ValueError(
                f"{self.metric} is compared with interval={' or '.join(map(repr, applicable))}, "
                f"not {self.interval!r}."
            )
        if self.metric in WITHOUT_K and self.k is not None:
            raise ValueError(
                f"k is {short(self.k)}, but {self.metric} is of all samples: leave k out."
            )
        self.confidence, self.tau = check_confidence(self.confidence), check_tau(self.tau)
        check_rewards(self.w)
        exponent(self.temperature)
        self._refuse_unused()
        check_name("average", self.average, ("questions", "groups"))
        if self.average == "groups" and self.metric in PASS_FAMILY:
            refuse_group_average_of_products(self.average, self.scores_at([1]))

    def _refuse_unused(self) -> None:
        """Raise a ValueError for an option that the score does not use."""
        for name, is_given, metrics in (
            ("w", self.w is not None, REWARDS),
            ("tau", self.tau != 0.5, ("G-Pass@k",)),
            ("temperature", self.temperature != 0.5, ("score_agg",)),
        ):
            if is_given and self.metric not in metrics:
                raise ValueError(
                    f"{name} is given, but {self.metric} does not use it: {name} is for "
                    f"{', '.join(metrics)}."
                )

    def _split_metric_key(self) -> None:
        """Split a metric that is a key, such as "pass@4", into the name of the score, k and tau."""
        if not isinstance(self.metric, str):
            check_name("metric", self.metric, compared_scores())
        (score,), _ = included_scores(self.metric, self.k, compared_scores(), parameter="metric")
        if score.k is not None:
            self.metric, self.k = score.metric, [int(score.k)]
        if score.tau is not None:
            if self.tau not in (0.5, score.tau):
                raise ValueError(
                    f"tau is {short(self.tau)}, and that of {score.key} is {score.tau:g}: leave "
                    f"one of them out."
                )
            self.tau = score.tau

    @property
    def ks(self) -> list[int]:
        """Return the list of k, ascending after `for_samples`; empty if k is None."""
        return [] if self.k is None else as_list("k", self.k)

    @property
    def checking(self) -> Any:
        """Return the `Checking` that grades the samples of runs with references."""
        from ..core.checking import Checking  # Imported here because it imports Arrow.

        verdicts = VERDICTS if self.metric == "score_agg" else None
        return Checking(self.check_correct_fn, self.num_proc, labels=verdicts)

    def for_samples(self, sizes: Mapping[str, np.ndarray]) -> Self:
        """Return a copy of the options for runs with these numbers of samples, (M,) by name.

        Raises ValueError if one is below k, or if there are not M clusters, groups or weights.
        """
        questions, result = len(next(iter(sizes.values()))), copy(self)
        result.weighting = question_weighting(
            self.average, self.question_weights, self.groups, questions
        )
        result.clusters = self._check_clusters(questions, result.weights)
        result.k = self._choose_ks(sizes) or None
        return result

    def _check_clusters(self, questions: int, weights: np.ndarray | None) -> np.ndarray | None:
        """Return the clusters of M `questions` as integers, or None."""
        return check_clusters(self.clusters, str(self.interval), questions, weights)

    def interval_options(self, interval: str) -> IntervalOptions:
        """Return the options of the interval with this name for one run."""
        clusters = self.clusters if interval == "questions" else None
        return IntervalOptions(
            self.confidence, interval, is_named=False, clusters=clusters, weighting=self.weighting
        )

    @property
    def weights(self) -> np.ndarray | None:
        """Return the weight of each question in means, (M,), or None if all are equal."""
        return self.weighting.values

    def for_questions(self, rows: np.ndarray) -> Self:
        """Return a copy of options `for_samples` for only these questions, without groups."""
        result = copy(self)
        result.groups, result.average = None, "questions"
        if self.clusters is not None:
            result.clusters = self.clusters[rows]
        result.question_weights = None if self.weights is None else self.weights[rows]
        return result

    def scores_at(self, ks: Sequence[int]) -> dict[ScoreId, Score]:
        """Return the score at each of these k, by its id, for a metric of the pass@k family."""
        return build_scores([ScoreId(self.metric)], ks, ScoreOptions(thresholds=[self.tau]))

    def _choose_ks(self, sizes: Mapping[str, np.ndarray]) -> list[int]:
        """Return the requested or the default k in ascending order; [] for a metric without k."""
        if self.metric in WITHOUT_K:
            return []
        if self.k is not None:
            ks = sorted({check_k(k) for k in self.ks})
            for name, n in sizes.items():
                with naming_run(name):
                    check_samples(ks, n)
            return ks
        return self._default_ks(int(min(n.min() for n in sizes.values())))

    def _default_ks(self, least: int) -> list[int]:
        """Return the default k, ascending, if each question has at least `least` samples."""
        if self.metric == "vote@k":
            # The variances of vote@k take long for many k.
            powers = [2**i for i in range(least.bit_length()) if 2**i < least]
            return [*powers, least] if self.all_k else [least]
        if self.all_k:
            return spread_of_k(least)
        return [max((k for k in (4, 8, 16) if k <= least), default=least)]


@contextlib.contextmanager
def naming_run(name: str) -> Iterator[None]:
    """Put the name of the run before the message of a ValueError that lacks it."""
    try:
        yield
    except InputError as error:
        place = error.place  # "question 3" names no run, not even one with the name question.
        names_run = place is not None and place.parameter == name and not place.is_question
        if names_run or any(isinstance(part, RunName) for part in error.args):
            raise
        raise InputError(RunName(f"{name}: "), *error.args) from error
    except ValueError as error:
        raise InputError(RunName(f"{name}: "), str(error)) from error
