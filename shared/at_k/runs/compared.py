"""Several runs on the same questions: the options of their comparison, and what it gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..checks import as_list, check_confidence, check_k, check_names, check_samples
from ..inputs.run_checker import Checker
from ..intervals.options import check_clusters
from ..scores.credits import check_tau
from ..scores.rewards import check_rewards
from ..scores.score import ScoreId
from ..scores.score_agg import VERDICTS, exponent
from .comparison import Difference
from .differences import Differences
from .measure import COMPARED, WITHOUT_K, Measure, Measured
from .outcomes_of_runs import Run, check_same_questions, grade_runs, is_read_result, parse_run

_INTERVALS_OF = {"bayes@N": ("posterior",), "score_agg": ("questions",)}
_USUAL_KS = (4, 8, 16)


@dataclass(frozen=True)
class ComparisonOptions:
    """Which score of runs is compared, and how: the parameters of `at_k.compare`.

    Args:
        all_k: whether the default is every k, or the largest of 4, 8 and 16.

    Attributes:
        interval: "sampling", "posterior" or "questions"; never None.

    Raises:
        ValueError: if an option is invalid whatever the runs are.
    """

    metric: str = "pass@k"
    k: int | list[int] | None = None
    interval: str | None = None
    confidence: float = 0.95
    tau: float = 0.5
    clusters: Sequence[Any] | None = None
    w: list[float] | None = None
    temperature: float = 0.5
    all_k: bool = True

    def __post_init__(self) -> None:
        check_names("metric", [self.metric], COMPARED)
        applicable = _INTERVALS_OF.get(self.metric, ("sampling", "questions"))
        interval = applicable[0] if self.interval is None else self.interval
        check_names("interval", [interval], ("sampling", "posterior", "questions"))
        if interval not in applicable:
            raise ValueError(
                f"{self.metric} is compared with interval={applicable[0]!r}, not {interval!r}."
            )
        if self.metric in WITHOUT_K and self.k is not None:
            raise ValueError(f"k is {self.k!r}, but {self.metric} is of all samples: leave k out.")
        object.__setattr__(self, "interval", interval)
        object.__setattr__(self, "confidence", check_confidence(self.confidence))
        check_tau(self.tau)
        check_rewards(self.w)
        exponent(self.temperature)

    @property
    def labels(self) -> dict[str, float] | None:
        """The labels that stand for outcomes, and the number of each."""
        return VERDICTS if self.metric == "score_agg" else None

    def measure(self, sizes: Mapping[str, np.ndarray]) -> Measure:
        """Return the measure for runs with these samples.

        Args:
            sizes: for the name of each run (M,) samples of each question.

        Raises:
            ValueError: if there are not k samples of a question, or not M clusters.
        """
        assert self.interval is not None
        questions = len(next(iter(sizes.values())))
        return Measure(
            self.metric,
            self._choose_ks(sizes),
            self.interval,
            check_tau(self.tau),
            check_clusters(self.clusters, self.interval, self.confidence, questions),
            self.w,
            exponent(self.temperature),
        )

    def _choose_ks(self, sizes: Mapping[str, np.ndarray]) -> list[int]:
        """Return the requested k, or the default, in ascending order."""
        if self.metric in WITHOUT_K:
            return []
        least = int(min(n.min() for n in sizes.values()))
        if self.k is None:
            if self.metric == "vote@k":  # whose variances take long for many k
                powers = [2**i for i in range(least.bit_length()) if 2**i < least]
                return [*powers, least] if self.all_k else [least]
            if self.all_k:
                return list(range(1, least + 1))
            return [max((k for k in _USUAL_KS if k <= least), default=least)]
        ks = sorted({check_k(k) for k in as_list("k", self.k)})
        for name, n in sizes.items():
            try:
                check_samples(ks, n)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from error
        return ks


@dataclass(frozen=True)
class Compared:
    """Measured runs and their differences.

    Args:
        options: of the comparison, with the k that were chosen.
        scores: m scores, one for each k.
        runs: with their outcomes.
        measured: with their scores.
        differences: of all pairs of runs.
    """

    options: ComparisonOptions
    scores: list[ScoreId]
    runs: Sequence[Run]
    measured: Sequence[Measured]
    differences: Differences


def compare_sources(
    sources: Mapping[str, Any],
    options: ComparisonOptions,
    check_correct_fn: Checker = "exact_match",
    num_proc: int | None = None,
) -> Compared:
    """Read, check and compare runs.

    Clusters that the first run was read with are used if they apply and no others are given.
    """
    for name, source in sources.items():
        if is_read_result(source) and source.get("R0") is not None:
            raise ValueError(f"{name} has prior outcomes R0, which a comparison does not use.")
    first = next(iter(sources.values()))
    if is_read_result(first) and options.interval == "questions" and options.clusters is None:
        options = replace(options, clusters=first.get("clusters"))
    parsed = [parse_run(name, source, options.labels) for name, source in sources.items()]
    check_same_questions(parsed)
    options.measure({run.name: run.n for run in parsed})  # raises before any sample is checked
    return compare_runs(grade_runs(parsed, check_correct_fn, num_proc, options.labels), options)


def compare_runs(runs: Sequence[Run], options: ComparisonOptions) -> Compared:
    """Compare runs on the same questions.

    A checker may leave samples unscored, so k is chosen by the samples that have outcomes.
    """
    measure = options.measure({run.name: run.outcomes.n for run in runs})
    scores, measured, width = measure.of_runs(runs)
    differences = Differences(measured, measure.interval == "questions", width)
    return Compared(replace(options, k=measure.ks or None), scores, runs, measured, differences)


def differences_of(
    compared: Compared, p_values: bool = False, group: str | None = None
) -> list[Difference]:
    """Return the differences of two compared runs, one for each k.

    Args:
        compared: two runs.
        p_values: whether the differences have p-values.
        group: the label of the questions, or None for all questions.
    """
    a, b = (run.estimates.tolist() for run in compared.measured)
    differences, confidence = compared.differences, compared.options.confidence
    lo, hi = differences.limits(confidence)[:, 0].tolist()
    band_lo, band_hi = differences.simultaneous_limits(confidence)[:, 0].tolist()
    p = differences.p_values()[0, 1].tolist() if p_values else [None] * len(a)
    return [
        Difference(
            *score,
            group,
            b[i] - a[i],
            a[i],
            b[i],
            (lo[i], hi[i]),
            (band_lo[i], band_hi[i]),
            p[i],
        )
        for i, score in enumerate(compared.scores)
    ]
