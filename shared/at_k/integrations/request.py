"""The scores that a task of a harness requests, and their values for its samples.

If a score cannot be computed, it is NaN, and a sentence says why. An error would make the harness
fail after it has generated all samples.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.checks import as_list, check_ks, check_name
from ..core.choice import interval_options
from ..core.computations import GPASSK, MAX_AT_K
from ..core.credits import PASS_FAMILY, ScoreOptions, build_scores
from ..core.score import ScoreId
from ..results import estimates_of

REQUESTED = ("pass@k", "pass^k")


@dataclass(unsafe_hash=True)  # Requests are keys of a cache of scores.
class ScoreRequest:
    """The requested scores, each at one or more k, and their intervals.

    `scores` are one or more names, such as "pass@k", "G-Pass@k" or "max@k". They and k become
    tuples. With the confidence None, there are no limits.
    """

    k: Any = 1
    scores: Any = REQUESTED
    interval: str | None = None
    confidence: float | None = 0.95

    def __post_init__(self) -> None:
        interval_options(1, self.confidence, self.interval, None)
        known = (*PASS_FAMILY, "max@k")
        names = as_list("scores", self.scores)
        self.scores = tuple(check_name("scores", name, known) for name in names)
        self.k = tuple(check_ks(self.k) or ())

    @property
    def _binary_scores(self) -> list[str]:
        """The requested scores of the metric gpassk: all but max@k."""
        return [name for name in self.scores if name != "max@k"]

    @property
    def names(self) -> dict[str, str]:
        """The key of the score by requested name: {"pass@4": "pass@4", "pass@4_lo": "pass@4"}."""
        ids = [*build_scores(map(ScoreId, self._binary_scores), self.k, ScoreOptions())]
        if "max@k" in self.scores:
            ids += [ScoreId("max@k", k) for k in self.k]
        suffixes = ("",) if self.confidence is None else ("", "_stderr", "_lo", "_hi")
        return {f"{score.key}{suffix}": score.key for score in ids for suffix in suffixes}

    def values(
        self,
        outcomes: Sequence[Sequence[Any]],
        ids: Sequence[Any],
        groups: Sequence[str] | None = None,
        clusters: Sequence[Any] | None = None,
    ) -> tuple[dict[str, float], dict[str, float]]:
        """Return the values by name, and the problems: a number of questions by sentence.

        The values are scores, standard errors and limits; requested scores that cannot be computed
        are NaN, and problems say why. The number is NaN for a problem that is not about single
        questions. The M questions have one or more samples each; `ids` are their names in problems.
        """
        values: dict[str, float] = {}
        problems: dict[str, float] = {}
        for k in self.k if outcomes else ():
            without_limits: dict[str, Any] = {"k": k, "groups": groups}
            limits = {"confidence": self.confidence, "interval": self.interval}
            with_limits = without_limits | limits | {"clusters": clusters}
            # If the limits cannot be computed, compute the scores alone.
            for options in [with_limits, without_limits] if self.confidence else [without_limits]:
                try:
                    values |= self._values_at(outcomes, options)
                    break
                except ValueError as error:
                    sentence, number = _problem(error, k, [len(row) for row in outcomes], ids)
                    problems[sentence] = number
        # A missing score becomes NaN. A missing standard error or limit is left out.
        requested_first = {
            name: values.get(name, math.nan)
            for name, key in self.names.items()
            if name in values or name == key
        }
        return requested_first | values, problems

    def _values_at(
        self, outcomes: Sequence[Sequence[Any]], options: Mapping[str, Any]
    ) -> dict[str, float]:
        """Return the scores, also of groups, with their standard errors and limits, by name.

        `options` are keyword arguments of `compute`. Raises ValueError if a score is undefined.
        """
        if max(map(len, outcomes)) == 1 < options["k"]:
            # Scores at k > n need to know how questions differ, which n = 1 does not show.
            raise ValueError("one sample of each question")
        estimates = []
        if names := self._binary_scores:
            scores = GPASSK.compute(predictions=outcomes, include=names, **options)
            estimates += estimates_of(scores)
        if "max@k" in self.scores:
            estimates += estimates_of(MAX_AT_K.compute(predictions=outcomes, **options))
        values: dict[str, float] = {}
        for estimate in estimates:
            key = estimate.full_key
            values[key] = float(estimate.score)
            if estimate.interval is not None and estimate.limits is not None:
                numbers = (estimate.interval.sigma, *estimate.limits)
                for name, number in zip(("stderr", "lo", "hi"), numbers, strict=True):
                    values[f"{key}_{name}"] = math.nan if number is None else float(number)
        return values


def _problem(error: ValueError, k: int, n: Sequence[int], ids: Sequence[Any]) -> tuple[str, float]:
    """Return a sentence for an error of the scores at k, and how many questions it is about.

    It names a question with fewer than k of its `n` samples, (M,). Without such a question, it is
    the message of the error, and the number NaN.
    """
    if max(n) == 1 < k:
        return f"questions with one scored sample each: no scores at k = {k}", float(len(n))
    too_small = [question for question, size in enumerate(n) if size < k]
    if not too_small:
        return str(error).rstrip("."), math.nan
    example = f"{ids[too_small[0]]} with {n[too_small[0]]}"
    sentence = f"questions with fewer than {k} scored samples, such as {example}"
    return f"{sentence}: no scores at k = {k}", float(len(too_small))


def log_problems(problems: Mapping[str, float]) -> None:
    """Log a warning for each of the problems that `ScoreRequest.values` returns."""
    for sentence, number in problems.items():
        text = sentence if math.isnan(number) else f"{number:.0f} {sentence}"
        logging.getLogger(__name__).warning("at_k: %s.", text)
