"""The differences of two runs at each k, and their dict with keys such as "pass@4_lo"."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..core.score import ScoreId
from ..results import Result, carried_by, estimates_of


class Difference(NamedTuple):
    """The score of run b minus that of run a at one k, with its limits and its p-value, if any.

    The first five fields are those of `Estimate`; `score` is the difference.
    """

    metric: str
    k: int | str | None
    tau: float | None
    group: str | None
    score: float
    a: float
    b: float
    interval: tuple[float, float]
    band: tuple[float, float]
    p: float | None = None

    @property
    def key(self) -> str:
        """Return the key of the score, such as "pass@4", without the group."""
        return ScoreId(self.metric, self.k, self.tau).key

    @property
    def full_key(self) -> str:
        """Return the key in the dict of `compare`: "pass@4", or "topic/pass@4" for a group."""
        return self.key if self.group is None else f"{self.group}/{self.key}"

    @property
    def sign(self) -> int:
        """Return 1 if the band is above 0, -1 if it is below 0, and 0 if it contains 0."""
        return (self.band[0] > 0) - (self.band[1] < 0)


def differences_as_dict(
    differences: Iterable[Difference],
    others: Mapping[str, Any] | None = None,
    averaging: str = "",
) -> Result:
    """Return the dict that `compare` returns, with the entries of `others` at its end."""
    differences = list(differences)
    result: dict[str, Any] = {}
    for difference in differences:
        key = difference.full_key
        result |= {
            key: difference.score,
            f"{key}_a": difference.a,
            f"{key}_b": difference.b,
            f"{key}_lo": difference.interval[0],
            f"{key}_hi": difference.interval[1],
            f"{key}_band_lo": difference.band[0],
            f"{key}_band_hi": difference.band[1],
        }
        if difference.p is not None:
            result[f"{key}_p"] = difference.p
    return Result(result | dict(others or {}), differences, averaging)


def differences_in(comparison: Mapping[str, Any]) -> list[Difference]:
    """Return the differences in a dict of `compare`, also one that was changed or read."""
    carried = carried_by(comparison, Difference)
    if carried is not None:
        return carried
    differences = []
    for estimate in estimates_of(comparison):
        if estimate.interval is None or estimate.band is None:
            continue  # This entry is the score of one run, or a p-value.
        key, interval = estimate.full_key, (estimate.interval.lo, estimate.interval.hi)
        scores = comparison[f"{key}_a"], comparison[f"{key}_b"]
        p = comparison.get(f"{key}_p")
        # Estimate and Difference begin with the same five fields: metric, k, tau, group, score.
        differences.append(Difference(*estimate[:5], *scores, interval, estimate.band, p))
    return differences


def by_sign(differences: Iterable[Difference]) -> list[tuple[int, list[Difference]]]:
    """Return (sign, differences) for each stretch of successive differences of the same sign."""
    groups = itertools.groupby(differences, lambda difference: difference.sign)
    return [(sign, [*successive]) for sign, successive in groups]


def zero_in_band(differences: Sequence[Difference], names: Sequence[str]) -> str:
    """Return the end of a sentence that begins with "The band": at which k it excludes 0.

    The text also says which run is higher there. `names` are those of runs a and b.
    """
    ranges = []
    for sign, successive in by_sign(differences):
        keys = [difference.key for difference in successive]
        if sign != 0:
            higher = names[1] if sign > 0 else names[0]
            if len(differences) == 1:
                return f"excludes 0: {higher} has the higher {keys[0]}"
            where = f"at {keys[0]}" if len(keys) == 1 else f"from {keys[0]} to {keys[-1]}"
            ranges.append(f"{where}, where {higher} is higher")
    if ranges:
        return f"excludes 0 {', and '.join(ranges)}"
    if len(differences) == 1:
        return f"contains 0, so the data do not show which run has the higher {differences[0].key}"
    return "contains 0 at all k, so the data do not show which run is higher"
