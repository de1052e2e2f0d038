"""How the comparison of two runs is shown: in a terminal, in papers, as records and in words."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..runs.compared import ComparisonOptions
from ..runs.comparison import Difference, differences_as_dict
from .formats import Cells, Scale, View, short_label
from .sentences import (
    INTERVAL_NAME,
    INTERVAL_SCOPE,
    P_VALUES,
    Scope,
    band_heading,
    interval_heading,
    limits_in_words,
    p_value,
)

_LIMIT_COLUMNS = ("lo", "hi", "band lo", "band hi")


@dataclass(frozen=True)
class ComparisonView(View):
    """The differences of two runs at each k.

    Args:
        differences: of all questions (None), and of each group of them by its label.
        names: of both runs.
        options: of the comparison.
        scope: the questions and their samples.
        input: a sentence for each run: what was read.
    """

    differences: Mapping[str | None, Sequence[Difference]]
    names: Sequence[str]
    options: ComparisonOptions
    scope: Scope
    input: Sequence[str] = ()

    @property
    def _overall(self) -> Sequence[Difference]:
        """The differences of all questions."""
        return self.differences[None]

    @property
    def _has_band(self) -> bool:
        """Whether the band is not equal to the interval."""
        return len(self._overall) > 1

    @property
    def _has_p(self) -> bool:
        return self._overall[0].p is not None

    def data(self) -> dict[str, Any]:
        return differences_as_dict(itertools.chain(*self.differences.values()))

    # --- Tables ---------------------------------------------------------------------------

    def tables(self) -> list[Cells]:
        """A table for all questions and one for each group, with a row for each k."""
        limits = _LIMIT_COLUMNS if self._has_band else _LIMIT_COLUMNS[:2]
        head = [*self.names, "diff", *limits, *["p"] * self._has_p]  # most have 80 columns
        tables = []
        for group, differences in self.differences.items():
            title = "all questions" if len(self.differences) > 1 else ""
            table = [[title if group is None else short_label(group), *head]]
            for x in differences:
                numbers = (x.score, *x.interval, *x.band)[: 1 + len(limits)]
                cells = [f"{x.a:.4f}", f"{x.b:.4f}", *(f"{number:+.4f}" for number in numbers)]
                table.append([x.key, *cells, *_p_cells(x)])
            tables.append(table)
        return tables

    def paper_tables(self) -> list[Cells]:
        tables = []
        for group, differences in self.differences.items():
            scale = scale_of_two(differences)
            head = [scale.heading, *self.names]
            if group is not None:
                head[0] += f", {short_label(group)}"
            head.append(f"Difference ({interval_heading(self.options.confidence)})")
            head += [band_heading(self.options.confidence)] * self._has_band
            table = [[*head, *["p"] * self._has_p]]
            for x in differences:
                cells = [x.key, scale.number(x.a), scale.number(x.b)]
                cells.append(f"{scale.number(x.score, sign=True)} {scale.limits(*x.interval)}")
                if self._has_band:
                    cells.append(scale.limits(*x.band))
                table.append([*cells, *_p_cells(x)])
            tables.append(table)
        return tables

    def records(self) -> Cells:
        head = ["group", "key", *self.names, "difference", *_LIMIT_COLUMNS, *["p"] * self._has_p]
        table = [head]
        for x in itertools.chain(*self.differences.values()):
            numbers = [x.a, x.b, x.score, *x.interval, *x.band, *[x.p] * self._has_p]
            table.append([x.group or "", x.key, *map(str, numbers)])
        return table

    # --- Sentences ------------------------------------------------------------------------

    def notes(self, for_paper: bool = False) -> list[str]:
        """What the difference and its limits are, and which run is higher."""
        percent = f"{100 * self.options.confidence:g} %"
        limits, band, difference = "lo and hi", "band lo and band hi", "diff"
        if for_paper:
            limits, band, difference = f"{percent} CI", f"{percent} band", "Difference"
        interval = str(self.options.interval)
        name, scope = f"{percent} {INTERVAL_NAME[interval]}", INTERVAL_SCOPE[interval]
        conclusion = zero_in_band(self._overall, self.names)
        sentences = [f"{difference}: {self.names[1]} minus {self.names[0]}."]
        if self._has_band:
            sentences.append(f"{limits}: {name} of the difference at each k, {scope}.")
            sentences.append(f"{band}: simultaneous {percent} confidence band over all k.")
            sentences.append(f"The band {conclusion}.")
        else:
            sentences.append(f"{limits}: {name} of the difference, {scope}.")
            sentences.append(f"The interval {conclusion}.")
        if self._has_p:
            sentences.append(P_VALUES)
        return [" ".join(sentences)]

    def sentence(self, key: str | None = None) -> str:
        """The difference at one k, and at which k the band excludes 0.

        Args:
            key: of the difference. Default: that at the largest k.
        """
        differences, scale = self._overall, scale_of_two(self._overall)
        x = next((x for x in differences if x.key == key), differences[-1])
        higher, lower = (self.names[0], x.a), (self.names[1], x.b)
        (lo, hi), confidence = x.interval, self.options.confidence
        if x.score >= 0:
            higher, lower = lower, higher
        else:
            lo, hi = -hi, -lo
        unit = " percentage points" if scale.percent else ""
        limits = limits_in_words(scale, (lo, hi), str(self.options.interval), confidence)
        sentence = (
            f"On {self.scope.in_words()}, {x.key} is {scale.with_unit(higher[1])} for {higher[0]} "
            f"and {scale.with_unit(lower[1])} for {lower[0]}, a difference of "
            f"{scale.number(abs(x.score))}{unit} ({limits})."
        )
        if not self._has_band:
            return sentence
        return (
            f"{sentence} The simultaneous {100 * confidence:g} % confidence band over all "
            f"{len(differences)} values of k {zero_in_band(differences, self.names)}."
        )


def zero_in_band(differences: Sequence[Difference], names: Sequence[str]) -> str:
    """Return where the band excludes 0, and which run is higher there: what follows "The band"."""
    ranges = []
    for sign, successive in itertools.groupby(differences, lambda x: x.sign):
        keys = [x.key for x in successive]
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


def scale_of_two(differences: Sequence[Difference]) -> Scale:
    """The scale of the scores of two runs."""
    scores = [score for x in differences for score in (x.a, x.b)]
    return Scale.of([x.metric for x in differences], scores)


def _p_cells(x: Difference) -> list[str]:
    return [] if x.p is None else [p_value(x.p)]
