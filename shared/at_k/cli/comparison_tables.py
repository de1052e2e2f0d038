"""The output for comparisons of two runs and for leaderboards: tables, records and sentences."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..runs.comparison import Difference, differences_as_dict, zero_in_band
from ..runs.options import ComparisonOptions
from .formats import (
    P_VALUES,
    Cells,
    Limits,
    Scale,
    Scope,
    Texts,
    View,
    crossed,
    enumerated,
    group_heading,
    make_table,
    p_value,
)

_MOST_PAIRS_SHOWN = 15  # the largest number of pairs that a table of differences shows

# The heading of each column with limits.
_LIMITS = {"lo": "lo", "hi": "hi"}
_BAND = {"band_lo": "band lo", "band_hi": "band hi"}

_WITH_SIGN = "{:+.4f}".format  # of differences and their limits
_TEXTS: Texts = {
    **dict.fromkeys(("key", "title"), str),
    **dict.fromkeys(("a", "b"), "{:.4f}".format),
    **dict.fromkeys(("p", "p_adjusted"), p_value),
}


# --- Two runs -----------------------------------------------------------------------------


@dataclass(frozen=True)
class ComparisonView(View):
    """Format the differences between two runs.

    `differences` has one for each k, by group; the group None has all questions. `names` are those
    of the runs a and b.
    """

    differences: Mapping[str | None, Sequence[Difference]]
    names: Sequence[str]
    options: ComparisonOptions
    scope: Scope
    input: Sequence[str] = ()
    label = "comparison"

    @property
    def _has_band(self) -> bool:
        """Whether there are several k. With one, the band is equal to the interval."""
        return len(self.differences[None]) > 1

    @property
    def _limits(self) -> Limits:
        """The words about the limits for sentences and headings."""
        options = self.options
        return Limits(options.confidence, str(options.interval), self.scope.row, options.anytime)

    def _heading(self, group: str | None) -> str:
        """Return the heading of a group, or of all questions (None); "" if there are no groups."""
        return group_heading(group, len(self.differences) > 1, self.scope.averaging)

    def data(self) -> dict[str, Any]:
        """Return the dict that `compare` returns."""
        return differences_as_dict(self._paper_rows())

    def tables(self) -> list[Cells]:
        """Return a table for all questions and one for each group, with a row for each k."""
        a, b = self.names
        # With "diff" instead of "difference", most tables fit into 80 characters.
        columns = {"a": a, "b": b, "difference": "diff", **_LIMITS}
        columns |= {**(_BAND if self._has_band else {}), "p": "p"}
        tables = []
        for group, differences in self.differences.items():
            headings, rows = {"key": self._heading(group)} | columns, map(_row_of, differences)
            tables.append(make_table(headings, rows, _WITH_SIGN, _TEXTS))
        return tables

    def paper_tables(self) -> list[Cells]:
        """Return [a table with a row for each k of all questions and of each group]."""
        differences, (a, b) = self._paper_rows(), self.names
        scale, band = _scale_of_two(differences), f"{self._limits.percent} band"
        columns = {"key": scale.heading, "a": a, "b": b}
        columns["difference"] = f"Difference ({self._limits.heading})"
        columns |= {"band": band, "p": "p"} if self._has_band else {"p": "p"}
        rows = [self._paper_row(difference, scale) for difference in differences]
        return [make_table(columns, rows)]

    def _paper_rows(self) -> list[Difference]:
        """Return the differences of all groups. Pages add those of other scores."""
        return [*itertools.chain(*self.differences.values())]

    def _paper_row(self, difference: Difference, scale: Scale) -> dict[str, str]:
        """Return the texts of a difference in `paper_tables` by the names of the columns."""
        texts = filter(None, [difference.key, self._heading(difference.group)])
        shown = scale.number(difference.score, sign=True)
        row = {
            "key": ", ".join(texts),
            "a": scale.number(difference.a),
            "b": scale.number(difference.b),
            "difference": f"{shown} {scale.limits(*difference.interval)}",
            "band": scale.limits(*difference.band),
        }
        return row if difference.p is None else row | {"p": p_value(difference.p)}

    def records(self) -> Cells:
        """Return a row for each group and k; the group of all questions is ""."""
        columns = {"group": "group", "key": "key", "a": self.names[0], "b": self.names[1]}
        columns |= {"difference": "difference", **_LIMITS, **_BAND, "p": "p"}
        return make_table(columns, map(_row_of, self._paper_rows()))

    def notes(self, for_paper: bool = False) -> list[str]:
        """Return one paragraph in a list: what the columns are, and which run is higher."""
        described, percent = self._limits, self._limits.percent
        limits, band, difference = "lo and hi", "band lo and band hi", "diff"
        if for_paper:
            limits, band, difference = f"{percent} CI", f"{percent} band", "Difference"
        at_each_k, subject = (" at each k", "band") if self._has_band else ("", "interval")
        sentences = [
            f"{difference}: {self.names[1]} minus {self.names[0]}.",
            f"{limits}: {described.name} of the difference{at_each_k}, {described.scope}.",
        ]
        if self._has_band:
            sentences.append(f"{band}: simultaneous {percent} confidence band over all k.")
        if len(self.differences) > 1:
            subject += f" ({self._heading(None)})"  # which is that of all questions
        overall = self.differences[None]
        sentences.append(f"The {subject} {zero_in_band(overall, self.names)}.")
        if overall[0].p is not None:
            sentences.append(P_VALUES)
        return [" ".join(sentences)]

    def sentence(self, key: str | None = None) -> str:
        """Return a sentence on the difference at `key`, or else the first, and on the band."""
        differences, (name_a, name_b) = self.differences[None], self.names
        scale = _scale_of_two(differences)
        at_key = [difference for difference in differences if difference.key == key]
        shown = (at_key or differences)[0]
        score_a, score_b = (scale.with_unit(score) for score in (shown.a, shown.b))
        scores, (lo, hi) = f"{score_b} for {name_b} and {score_a} for {name_a}", shown.interval
        if shown.score < 0:  # The difference is b - a. The higher score is stated first.
            scores, lo, hi = f"{score_a} for {name_a} and {score_b} for {name_b}", -hi, -lo
        unit = " percentage points" if scale.percent else ""
        limits = self._limits.described(_with_visible_signs(scale, (lo, hi)), (lo, hi))
        sentence = (
            f"On {self.scope.in_words()}, {shown.key} is {scores}, a difference of "
            f"{scale.number(abs(shown.score))}{unit} ({limits})."
        )
        if not self._has_band:
            return sentence
        return (
            f"{sentence} The simultaneous {self._limits.percent} confidence band over all "
            f"{len(differences)} values of k {zero_in_band(differences, self.names)}."
        )


def _row_of(difference: Difference) -> dict[str, Any]:
    """Return the values of a difference by the names of the columns."""
    row = {name: getattr(difference, name) for name in ("group", "key", "a", "b")}
    row["difference"] = difference.score
    row["lo"], row["hi"] = difference.interval
    row["band_lo"], row["band_hi"] = difference.band
    return row if difference.p is None else row | {"p": difference.p}


def _with_visible_signs(scale: Scale, limits: tuple[float, float]) -> Scale:
    """Return the scale with decimals added, up to 3, until only a limit of 0 is shown as 0."""
    while scale.decimals < 3 and any(x != 0 and float(scale.number(x)) == 0 for x in limits):
        scale = scale._replace(decimals=scale.decimals + 1)
    return scale


def _scale_of_two(differences: Sequence[Difference]) -> Scale:
    """Return the scale for the scores of two runs at all k."""
    scores = [score for difference in differences for score in (difference.a, difference.b)]
    return Scale.of([difference.metric for difference in differences], scores)


# --- More runs ----------------------------------------------------------------------------


@dataclass
class LeaderboardView(View):
    """Format a leaderboard; `board` is the dict that `at_k.leaderboard` returns."""

    board: Mapping[str, Any]
    scope: Scope
    input: Sequence[str] = ()
    label = "leaderboard"

    def __post_init__(self) -> None:
        """Collect the leaderboards of groups, and what all tables and sentences say."""
        board = self.board
        # The leaderboards by group. The group None has all questions.
        self._boards: dict[str | None, Any] = {None: board, **board.get("groups", {})}
        self._keys = list(dict.fromkeys(row["key"] for row in board["runs"]))  # one for each k
        self._limits = Limits(board["confidence"], board["interval"], self.scope.row)
        numbers = [row[name] for row in board["runs"] for name in ("score", "lo", "hi")]
        self._scale = Scale.of([board["metric"]], numbers)
        self._has_p = "p" in board["pairs"][0]
        self._shows_pairs = self._has_p or len(board["pairs"]) <= _MOST_PAIRS_SHOWN

    def data(self) -> dict[str, Any]:
        """Return the dict that `leaderboard` returns."""
        return dict(self.board)

    def _heading(self, group: str | None) -> str:
        """Return the heading of a group, or of all questions (None); "" if there are no groups."""
        return group_heading(group, len(self._boards) > 1, self.scope.averaging)

    def _rows(self, group: str | None, key: str) -> list[Mapping[str, Any]]:
        """Return the rows of "runs" with this key for a group (None: all questions), best first."""
        return [row for row in self._boards[group]["runs"] if row["key"] == key]

    def tables(self) -> list[Cells]:
        """Return the tables of runs and of differences, for all questions and for each group."""
        tables = []
        for group, board in self._boards.items():
            tables += [self._table_of_runs(group, key) for key in self._keys]
            if self._shows_pairs:
                tables.append(self._table_of_pairs(board))
        return tables

    def _table_of_runs(self, group: str | None, key: str) -> Cells:
        """Return the table of the scores with this key in the leaderboard of a group."""
        table = [[self._heading(group), key, "lo", "hi", "rank", "rank interval", "letters"]]
        for row in self._rows(group, key):
            numbers = [f"{row[name]:.4f}" for name in ("score", "lo", "hi")]
            least, most = row["rank_lo"], row["rank_hi"]
            ranks = f"{least}" if least == most else f"{least} to {most}"
            table.append([row["run"], *numbers, f"{row['rank']}", ranks, row["letters"]])
        return table

    def _table_of_pairs(self, board: Mapping[str, Any]) -> Cells:
        """Return the table of the differences in a leaderboard."""
        title = "{a} - {b}, {key}" if len(self._keys) > 1 else "{a} - {b}"
        pairs = [{**pair, "title": title.format(**pair)} for pair in board["pairs"]]
        columns = {"title": "", "difference": "difference", **_LIMITS, **_BAND}
        columns |= {"p": "p", "p_adjusted": "adjusted p"}
        return make_table(columns, pairs, _WITH_SIGN, _TEXTS)

    def paper_tables(self) -> list[Cells]:
        """Return a table for each k."""
        return [self._paper_table(key) for key in self._keys]

    def _paper_table(self, key: str) -> Cells:
        """Return the table of the scores with this key: limits, letters and rank of each run.

        With groups, there is a cell with score, limits and letters for each run and group.
        """
        heading, rows = f"{key}{' in %' if self._scale.percent else ''}", self._rows(None, key)
        if len(self._boards) == 1:
            heading += f" ({self._limits.heading})"
            table = [["Run", heading, "Letters", f"Rank ({self._limits.percent} CI)"]]
            for row in rows:
                rank = f"{row['rank']} ({row['rank_lo']}, {row['rank_hi']})"
                table.append([row["run"], self._score(row), row["letters"], rank])
            return table
        by_group = [{row["run"]: row for row in self._rows(group, key)} for group in self._boards]
        names = [row["run"] for row in rows]
        cells = [
            [[f"{self._score(by_run[name])} {by_run[name]['letters']}"] for by_run in by_group]
            for name in names
        ]
        groups = [self._heading(group) for group in self._boards]
        return crossed(heading, names, groups, cells)

    def _score(self, row: Mapping[str, Any]) -> str:
        """Return the score of a run with its limits, such as "53.1 (42.4, 63.6)"."""
        return f"{self._scale.number(row['score'])} {self._scale.limits(row['lo'], row['hi'])}"

    def records(self) -> Cells:
        """Return a row for each group, k and run, and for each pair of runs."""
        rows = [
            {"group": group, **row}
            for group, board in self._boards.items()
            for row in [*board["runs"], *board["pairs"]]
        ]
        columns = dict.fromkeys(name for row in rows for name in row)
        return make_table({name: name for name in columns}, rows)

    def notes(self, for_paper: bool = False) -> list[str]:
        """Return one paragraph, in a list, on limits, ranks and letters; a short one for papers."""
        described, percent = self._limits, self._limits.percent
        limits = f"{percent} CI" if for_paper else "lo and hi"
        pairs = "pairs and k" if len(self._keys) > 1 else "pairs"
        ranks, letter = "The rank intervals and the letters follow", "a letter"
        if for_paper and len(self._boards) > 1:
            limits, ranks = "In parentheses", "The letters follow"
            letter = "a letter within a group"
        notes = [
            f"{limits}: {described.name} of each score, {described.scope}.",
            f"{ranks} from {percent} confidence intervals of all pairwise differences together, "
            f"over all {pairs}: runs that share {letter} cannot be told apart.",
        ]
        return [" ".join(notes if for_paper else [*notes, *self._notes_on_pairs()])]

    def _notes_on_pairs(self) -> list[str]:
        """Return sentences about the table of differences, or about where the differences are."""
        if not self._shows_pairs:
            number = len(self.board["pairs"])
            return [f"The {number} differences are in the output of --format json and csv."]
        bands = (
            "band lo and band hi are the limits of all differences together, from which the "
            "letters follow; lo and hi are the limits of one difference alone."
        )
        return [P_VALUES, bands] if self._has_p else [bands]

    def sentence(self) -> str:
        """Return a sentence on all questions: the best run at the first k, and all others."""
        key, limits = self._keys[0], self._limits
        rows = self._rows(None, key)  # of all questions, the highest score first
        best = rows[0]
        equal = [row["run"] for row in rows if math.isclose(row["score"], best["score"])]
        interval, verb = limits.described(self._scale, (best["lo"], best["hi"])), "has"
        if len(equal) > 1:
            verb, interval = "have", f"for {best['run']}, {interval}"
        return (
            f"Of {len(rows)} runs on {self.scope.in_words()}, {enumerated(equal)} {verb} the "
            f"highest {key}, {self._scale.with_unit(best['score'])} ({interval}). By simultaneous "
            f"{limits.percent} confidence intervals of all pairwise differences, the {key} of "
            f"{best['run']} {self._conclusion(best['run'], key)}."
        )

    def _conclusion(self, best: str, key: str) -> str:
        """Return a clause on which runs the run `best`, with the highest score, surely exceeds."""
        pairs = [pair for pair in self.board["pairs"] if (pair["a"], pair["key"]) == (best, key)]
        lower = [pair["b"] for pair in pairs if pair["band_lo"] > 0]
        others = [pair["b"] for pair in pairs if pair["band_lo"] <= 0]
        clauses = [f"is higher than that of {enumerated(lower)}"] if lower else []
        if others:
            clauses.append(f"cannot be told apart from that of {enumerated(others)}")
        return " and ".join(clauses)
