"""The scores that a task of a harness requests, and their values for its samples.

If a score cannot be computed, it is NaN, and a sentence says why. An error would make the harness
fail after it has generated all samples.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.checks import as_list, check_ks, check_name
from ..core.choice import interval_options
from ..core.computations import GPASSK, MAX_AT_K
from ..core.credits import PASS_FAMILY, ScoreOptions, build_scores
from ..core.estimates import Estimate
from ..core.score import ScoreId
from ..results import estimates_of

REQUESTED = ("pass@k", "pass^k")
_KNOWN = (*PASS_FAMILY, "max@k")


@dataclass(unsafe_hash=True)  # Requests are keys of a cache of scores.
class ScoreRequest:
    """The requested scores, each at one or more k, and their intervals.

    Args:
        k: one or more k. It becomes a tuple.
        scores: one or more names, such as "pass@k", "G-Pass@k" or "max@k". They become a tuple.
        interval: the interval, as in the metric `gpassk`.
        confidence: the confidence of the limits, or None for scores without limits.
    """

    k: Any = 1
    scores: Any = REQUESTED
    interval: str | None = None
    confidence: float | None = 0.95

    def __post_init__(self) -> None:
        interval_options(1, self.confidence, self.interval, None)
        self.scores = tuple(check_name("scores", x, _KNOWN) for x in as_list("scores", self.scores))
        self.k = tuple(check_ks(self.k) or ())

    def values(
        self,
        outcomes: Sequence[Sequence[Any]],
        ids: Sequence[Any],
        groups: Sequence[str] | None = None,
        clusters: Sequence[Any] | None = None,
    ) -> tuple[dict[str, float], dict[str, float]]:
        """Return the scores, and sentences about scores or limits that cannot be computed.

        Args:
            outcomes: the outcomes of M questions, each with one or more samples.
            ids: (M,) the names of the questions in sentences.
            groups, clusters: (M,) labels of the questions, or None.

        Returns:
            Two dicts. The first has the scores, standard errors and limits by their names, in which
            requested scores that cannot be computed are NaN. The second maps each sentence to the
            number of questions that it is about, or to NaN.
        """
        n = [len(samples) for samples in outcomes]
        estimates: list[Estimate] = []
        problems: dict[str, float] = {}
        for k in self.k if outcomes else ():
            if max(n) == 1 < k:
                # Scores with k > n are extrapolated from how questions differ, which n = 1 does not
                # show.
                text = f"questions with one scored sample each: no scores at k = {k}"
                problems[text] = float(len(n))
                continue
            # If the limits cannot be computed, compute the scores alone.
            for confidence in (self.confidence, None):
                try:
                    estimates += self._estimates(outcomes, k, confidence, groups, clusters)
                    break
                except ValueError as error:
                    text, number = _problem(error, k, n, ids)
                    problems[text] = number
        values = {name: x for estimate in estimates for name, x in _values_by_name(estimate)}
        # A missing score becomes NaN. A missing standard error or limit is left out.
        requested_first = {
            name: values.get(name, math.nan)
            for name, key in self.names.items()
            if name in values or name == key
        }
        return requested_first | values, problems

    @property
    def names(self) -> dict[str, str]:
        """The key of the score for each requested name: "pass@4" for "pass@4" and "pass@4_lo"."""
        requested = [*build_scores(map(ScoreId, self._binary_scores), self.k, ScoreOptions())]
        if "max@k" in self.scores:
            requested += [ScoreId("max@k", k) for k in self.k]
        keys = [score_id.key for score_id in requested]
        if self.confidence is None:
            return {key: key for key in keys}
        return {name: key for key in keys for name in _names_of_score(key)}

    @property
    def _binary_scores(self) -> list[str]:
        """The requested scores of the metric gpassk: all but max@k."""
        return [name for name in self.scores if name != "max@k"]

    def _estimates(
        self,
        outcomes: Sequence[Sequence[Any]],
        k: int,
        confidence: float | None,
        groups: Sequence[str] | None,
        clusters: Sequence[Any] | None,
    ) -> list[Estimate]:
        """Return the estimates of the requested scores at this k, for all questions and groups.

        They have limits unless `confidence` is None. The other arguments are as in `values`. Raises
        ValueError if an estimate or a limit cannot be computed.
        """
        options: dict[str, Any] = {"predictions": outcomes, "k": k, "groups": groups}
        if confidence is not None:
            options |= {"confidence": confidence, "interval": self.interval, "clusters": clusters}
        results = []
        if self._binary_scores:
            results.append(GPASSK.compute(include=self._binary_scores, **options))
        if "max@k" in self.scores:
            results.append(MAX_AT_K.compute(**options))
        return [estimate for result in results for estimate in estimates_of(result)]


def _problem(error: ValueError, k: int, n: Sequence[int], ids: Sequence[Any]) -> tuple[str, float]:
    """Return a sentence for an error at this k, and the number of questions that it is about.

    If questions have fewer than k samples, the sentence names one. Otherwise it is the text of the
    error, and the number is NaN. `n` has the numbers of samples, and `ids` the names of questions.
    """
    too_small = [question for question, size in enumerate(n) if size < k]
    if not too_small:
        return str(error).rstrip("."), math.nan
    first = too_small[0]
    text = (
        f"questions with fewer than {k} scored samples, such as {ids[first]} with {n[first]}: no "
        f"scores at k = {k}"
    )
    return text, float(len(too_small))


def log_problems(problems: Mapping[str, float]) -> None:
    """Log a warning for each sentence in the second dict that `ScoreRequest.values` returns."""
    for sentence, number in problems.items():
        text = sentence if math.isnan(number) else f"{number:.0f} {sentence}"
        logging.getLogger(__name__).warning("at_k: %s.", text)


def _names_of_score(key: str) -> list[str]:
    """Return four names: those of the score with this key, its standard error and its limits."""
    return [key, f"{key}_stderr", f"{key}_lo", f"{key}_hi"]


def _values_by_name(estimate: Estimate) -> Iterator[tuple[str, float]]:
    """Yield (name, value) for the score of an estimate, and for its standard error and limits."""
    values = [estimate.score]
    if estimate.interval is not None and estimate.limits is not None:
        values += [estimate.interval.sigma, *estimate.limits]
    for name, value in zip(_names_of_score(estimate.full_key), values, strict=False):
        yield name, math.nan if value is None else float(value)
