"""The scores that a task of a harness requests, and their values for its samples.

A harness must not stop at its end because a score cannot be computed. So a score is NaN then, and a
sentence says why.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.checks import as_list, check_ks, check_names
from ..core.choice import interval_options
from ..core.computations import GPASSK, MAX_AT_K
from ..core.credits import PASS_FAMILY, ScoreOptions, scores_by_name
from ..core.estimates import Estimate
from ..core.score import ScoreId
from ..results import estimates_of

REQUESTED = ("pass@k", "pass^k")
_KNOWN = (*PASS_FAMILY, "max@k")


@dataclass(unsafe_hash=True)  # a key of a cache of scores
class ScoreRequest:
    """Scores, each at several k, and their intervals.

    Args:
        k: one or more.
        scores: names, such as "pass@k", "G-Pass@k" or "max@k".
        interval: as in the metric `gpassk`.
        confidence: of the limits, or None for scores alone.

    Raises:
        ValueError: if one of them is invalid.
    """

    k: Any = 1
    scores: Any = REQUESTED
    interval: str | None = None
    confidence: float | None = 0.95

    def __post_init__(self) -> None:
        interval_options(1, self.confidence, self.interval, None)
        self.scores = tuple(check_names("scores", as_list("scores", self.scores), _KNOWN))
        self.k = tuple(check_ks(self.k) or ())

    def values(
        self,
        outcomes: Sequence[Sequence[Any]],
        ids: Sequence[Any],
        groups: Sequence[str] | None = None,
        clusters: Sequence[Any] | None = None,
    ) -> tuple[dict[str, float], dict[str, float]]:
        """Return the scores by name, and sentences about those that are NaN.

        Args:
            outcomes: of M questions, each with one sample or more.
            ids: (M,) what the questions are called in sentences.
            groups, clusters: (M,) labels.

        Returns:
            the scores with their standard errors and limits; and for each sentence the number of
            questions that it is about, or NaN.
        """
        n = [len(samples) for samples in outcomes]
        estimates: list[Estimate] = []
        problems: dict[str, float] = {}
        for k in self.k if outcomes else ():
            few = [i for i, size in enumerate(n) if size < k]
            if few and max(n) == 1:
                # An estimate needs to know how questions differ, which n = 1 does not show.
                text = f"questions with one scored sample each: no scores at k = {k}"
                problems[text] = float(len(n))
                continue
            for confidence in (self.confidence, None):
                try:
                    estimates += self._estimates(outcomes, k, confidence, groups, clusters)
                    break
                except ValueError as error:
                    text, number = str(error).rstrip("."), math.nan
                    if few:
                        text = (
                            f"questions with fewer than {k} scored samples, such as {ids[few[0]]} "
                            f"with {n[few[0]]}: no scores at k = {k}"
                        )
                        number = float(len(few))
                    problems[text] = number
        scores = {name: x for estimate in estimates for name, x in _values_by_name(estimate)}
        requested_first = {
            name: scores.get(name, math.nan)
            for name, key in self.names.items()
            if name in scores or name == key
        }
        return requested_first | scores, problems

    @property
    def names(self) -> dict[str, str]:
        """The names of the scores, their standard errors and limits, each with the score's key."""
        requested = [*scores_by_name(self._binary, self.k, ScoreOptions())]
        if "max@k" in self.scores:
            requested += [ScoreId("max@k", k) for k in self.k]
        most = None if self.confidence is not None else 1  # the key alone
        return {name: x.key for x in requested for name in _names(x.key)[:most]}

    @property
    def _binary(self) -> list[str]:
        """The requested scores of correct and incorrect samples."""
        return [name for name in self.scores if name != "max@k"]

    def _estimates(
        self,
        outcomes: Sequence[Sequence[Any]],
        k: int,
        confidence: float | None,
        groups: Sequence[str] | None,
        clusters: Sequence[Any] | None,
    ) -> list[Estimate]:
        """Return the estimates at this k, with limits if there is a confidence."""
        options: dict[str, Any] = {"predictions": outcomes, "k": k, "groups": groups}
        if confidence is not None:
            options |= {"confidence": confidence, "interval": self.interval, "clusters": clusters}
        results = []
        if self._binary:
            results.append(GPASSK.compute(include=self._binary, **options))
        if "max@k" in self.scores:
            results.append(MAX_AT_K.compute(**options))
        return [estimate for result in results for estimate in estimates_of(result)]


def log_problems(problems: Mapping[str, float]) -> None:
    """Write the sentences of `ScoreRequest.values` to the log of the run."""
    for sentence, number in problems.items():
        shown = sentence if math.isnan(number) else f"{number:.0f} {sentence}"
        logging.getLogger(__name__).warning("at_k: %s.", shown)


def _names(key: str) -> list[str]:
    """Return the names of a score, of its standard error and of its limits."""
    return [key, f"{key}_stderr", f"{key}_lo", f"{key}_hi"]


def _values_by_name(estimate: Estimate) -> Iterator[tuple[str, float]]:
    """Yield a score, its standard error and its limits, each with its name."""
    values = [estimate.score]
    if estimate.interval is not None and estimate.limits is not None:
        values += [estimate.interval.sigma, *estimate.limits]
    for name, value in zip(_names(estimate.full_key), values, strict=False):
        yield name, math.nan if value is None else float(value)
