"""The dicts of scores that `compute` returns, and the estimates in them.

Such a dict carries its estimates. If it was changed, merged, or read from a file, the estimates are
parsed from its keys. No other module parses keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .core.estimates import Estimate, read_score
from .core.interval import Interval


class _SerializedAsDict(type):
    """The metaclass of `Result`, by which PyYAML writes a result as a plain dict.

    PyYAML takes the first class in `__mro__` that it can write. The order for method calls, which
    Python keeps elsewhere, does not change.
    """

    @property
    def __mro__(cls) -> tuple[type, ...]:
        """The method resolution order of dict, without `Result`."""
        return dict.__mro__


class Result(dict[str, Any], metaclass=_SerializedAsDict):
    """A dict of scores that carries the estimates that it was made of.

    Attributes:
        estimates: an `Estimate` for each score, in the order of the keys. The result of `compare`
            has a `Difference` for each, and that of `leaderboard` an `Estimate` for each entry of
            "runs".
        averaging: how questions are averaged, such as "averaged over 3 groups"; "" for the mean.
    """

    def __init__(
        self, values: Any = (), estimates: Iterable[Any] | None = None, averaging: str = ""
    ):
        # Libraries copy a dict x by type(x)(values). Such a copy has no estimates.
        super().__init__(values)
        self.estimates = () if estimates is None else tuple(estimates)
        self._made = None if estimates is None else dict(self)  # see `is_unchanged`
        self.averaging = averaging

    @property
    def is_unchanged(self) -> bool:
        """Whether the entries are still those that the dict was made with, with its estimates."""
        return self == self._made

    def __reduce__(self) -> Any:
        """Return what pickle stores: the result, or a plain dict if its entries were changed."""
        if self.is_unchanged:
            return type(self), (self._made, self.estimates, self.averaging)
        return dict, (dict(self),)


def overall_label(averaging: str) -> str:
    """Return how all questions are called beside groups; `averaging` is that of a `Result`."""
    return "mean of groups" if averaging.startswith("averaged over") else "all questions"


# --- Keys to estimates --------------------------------------------------------------------


def estimates_of(scores: Mapping[str, Any]) -> list[Estimate]:
    """Return the estimates in a dict of `compute`, also if it was changed or read from a file."""
    carried = carried_by(scores, Estimate)
    return list(_parse_estimates(scores)) if carried is None else carried


def carried_by(scores: Mapping[str, Any], kind: type) -> list[Any] | None:
    """Return the estimates of this kind that an unchanged `Result` carries; None for others."""
    if not isinstance(scores, Result) or not scores.is_unchanged:
        return None
    estimates = list(scores.estimates)
    return estimates if all(isinstance(estimate, kind) for estimate in estimates) else None


def _parse_estimates(scores: Mapping[str, Any]) -> Iterator[Estimate]:
    """Yield an estimate for each score, parsed from the keys of a dict of scores."""
    suffixes = (*Interval._fields, "band_lo", "band_hi")
    statistics = {f"{key}_{suffix}" for key in scores for suffix in suffixes}
    for key in scores:
        if key in statistics or key in ("per_question", "checker"):
            continue
        group, slash, name = key.rpartition("/")
        numbers = [scores.get(f"{key}_{field}") for field in Interval._fields]
        interval = Interval(*numbers) if numbers.count(None) < len(numbers) else None
        band = None
        if f"{key}_band_lo" in scores:
            band = scores[f"{key}_band_lo"], scores[f"{key}_band_hi"]
        yield Estimate(*read_score(name), group if slash else None, scores[key], interval, band)
