"""The dicts that `compute` returns carry their estimates; other dicts are read by their keys.

A dict that was changed, merged, or read from a file carries none. No other code takes a key apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .core.estimates import Estimate, read_score
from .core.interval import Interval


class _TakenForDict(type):
    """The type of `Result`, for PyYAML: it writes an object as the first class in this order."""

    @property
    def __mro__(cls) -> tuple[type, ...]:
        """The classes of a dict, in order."""
        return dict.__mro__


class Result(dict[str, Any], metaclass=_TakenForDict):
    """A flat dict of scores, which carries what it was made of. Everything else sees a dict.

    Attributes:
        estimates: an `Estimate` for each score, in the order of the keys; of `compare` a
            `Difference`; and of `leaderboard` an `Estimate` for each entry of "runs".
        averaging: how questions are averaged, such as "averaged over 3 groups", or "".
    """

    def __init__(
        self, values: Any = (), estimates: Iterable[Any] | None = None, averaging: str = ""
    ):
        # Libraries copy a dict x as type(x)(values): without estimates.
        super().__init__(values)
        self.estimates = () if estimates is None else tuple(estimates)
        self._made = None if estimates is None else dict(self)  # see `is_unchanged`
        self.averaging = averaging

    @property
    def is_unchanged(self) -> bool:
        """Whether the estimates are still those of the dict, which callers may change."""
        return self == self._made

    def __reduce__(self) -> Any:
        """Pickle a plain dict if the estimates are no longer those of the dict."""
        if self.is_unchanged:
            return type(self), (self._made, self.estimates, self.averaging)
        return dict, (dict(self),)


def overall_label(averaging: str) -> str:
    """Return what a score of no group is called in a table with scores of groups.

    Args:
        averaging: see `Result`.
    """
    return "mean of groups" if averaging.startswith("averaged over") else "all questions"


# --- Keys to estimates --------------------------------------------------------------------


def estimates_of(scores: Mapping[str, Any]) -> list[Estimate]:
    """Return the estimates that the flat dict of `compute` was made of, in its order."""
    carried = carried_by(scores, Estimate)
    return list(_read_estimates(scores)) if carried is None else carried


def carried_by(scores: Mapping[str, Any], kind: type) -> list[Any] | None:
    """Return the records of a kind that a dict carries, or None: it was changed, or has others."""
    if not isinstance(scores, Result) or not scores.is_unchanged:
        return None
    records = list(scores.estimates)
    return records if all(isinstance(record, kind) for record in records) else None


def _read_estimates(scores: Mapping[str, Any]) -> Iterator[Estimate]:
    """Yield the estimates that the keys of a result name."""
    suffixes = (*Interval._fields, "band_lo", "band_hi")
    statistics = {f"{key}_{suffix}" for key in scores for suffix in suffixes}
    for key, value in scores.items():
        if key in statistics or key in ("per_question", "checker"):
            continue
        group, slash, name = key.rpartition("/")
        values = [scores.get(f"{key}_{field}") for field in Interval._fields]
        interval = None if values == [None] * len(values) else Interval(*values)
        band = None
        if f"{key}_band_lo" in scores:
            band = scores[f"{key}_band_lo"], scores[f"{key}_band_hi"]
        yield Estimate(*read_score(name), group if slash else None, value, interval, band)
