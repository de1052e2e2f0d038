"""The output for comparisons of two runs and for leaderboards: tables, records and sentences."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
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
    View,
    enumerated,
    group_heading,
    make_table,
    p_value,
)

_MOST_PAIRS_SHOWN = 15  # the largest number of pairs that a table of differences shows

# Headings by the names of columns.
_LIMITS = {"lo": "lo", "hi": "hi"}
_BAND = {"band_lo": "band lo", "band_hi": "band hi"}
_PAIR_COLUMNS = {"title": "", "difference": "difference", **_LIMITS, **_BAND}
_PAIR_COLUMNS |= {"p": "p", "p_adjusted": "adjusted p"}


# --- Two runs -----------------------------------------------------------------------------


@dataclass(frozen=True)
class ComparisonView(View):
    """The output for the differences between two runs.

    `differences` has those at each k for each group of questions, by its label. Those for all
    questions have the key None, which comes first.
    """

    differences: Mapping[str | None, Sequence[Difference]]
    names: Sequence[str]
    options: ComparisonOptions
    scope: Scope
    input: Sequence[str] = ()
    label = "comparison"

    @property
    def _overall(self) -> Sequence[Difference]:
        """The differences for all questions."""
        return self.differences[None]

    @property
    def _has_band(self) -> bool:
        """Whether there are several k. With one, the band is equal to the interval."""
        return len(self._overall) > 1

    @property
    def _limits(self) -> Limits:
        """What sentences and headings say about the limits."""
        options = self.options
        return Limits(options.confidence, str(options.interval), self.scope.row, options.anytime)

    def data(self) -> dict[str, Any]:
        """Return the dict that `compare` returns."""
        return differences_as_dict(itertools.chain(*self.differences.values()))

    def _rows(self, group: str | None = None) -> list[dict[str, Any]]:
        """Return the values of the differences of a group, by the names of the columns."""
        rows = []
        for point in self.differences[group]:
            row = {"group": group, "key": point.key, "a": point.a, "b": point.b}
            row |= {"difference": point.score, **dict(zip(_LIMITS, point.interval, strict=True))}
            row |= dict(zip(_BAND, point.band, strict=True))
            rows.append(row if point.p is None else row | {"p": point.p})
        return rows

    def tables(self) -> list[Cells]:
        """Return a table for all questions and one for each group, with a row for each k."""
        # With "diff" instead of "difference", most tables fit into 80 characters.
        columns = {"a": self.names[0], "b": self.names[1], "difference": "diff", **_LIMITS}
        columns |= {**(_BAND if self._has_band else {}), "p": "p"}
        return [
            make_table({"key": self._heading(group)} | columns, self._rows(group), _cell)
            for group in self.differences
        ]

    def paper_tables(self) -> list[Cells]:
        """Return one table in a list, with a row for each k of all questions and of each group.

        The limits are in the same cell as the difference, and the band has a column of its own.
        """
        points = [*itertools.chain(*self.differences.values())]
        scale, (a, b) = scale_of_two(points), self.names
        columns = {"key": scale.heading, "a": a, "b": b}
        columns["difference"] = f"Difference ({self._limits.heading})"
        columns |= {"band": f"{self._limits.percent} band"} if self._has_band else {}
        rows = []
        for point in points:
            row = {"key": ", ".join(filter(None, [point.key, self._heading(point.group)]))}
            row |= {"a": scale.number(point.a), "b": scale.number(point.b)}
            difference = scale.number(point.score, sign=True)
            row["difference"] = f"{difference} {scale.limits(*point.interval)}"
            row["band"] = scale.limits(*point.band)
            rows.append(row if point.p is None else row | {"p": p_value(point.p)})
        return [make_table(columns | {"p": "p"}, rows)]

    def _heading(self, group: str | None) -> str:
        """Return the heading of a group, or of all questions (None); "" if there are no groups."""
        return group_heading(group, len(self.differences) > 1, self.scope.averaging)

    def records(self) -> Cells:
        """Return a row for each group and k; the group of all questions is ""."""
        columns = {"group": "group", "key": "key", "a": self.names[0], "b": self.names[1]}
        columns |= {"difference": "difference", **_LIMITS, **_BAND, "p": "p"}
        return make_table(columns, itertools.chain(*map(self._rows, self.differences)))

    def notes(self, for_paper: bool = False) -> list[str]:
        """Return one paragraph in a list: what the columns are, and which run is higher."""
        described, percent = self._limits, self._limits.percent
        limits, band, difference = "lo and hi", "band lo and band hi", "diff"
        if for_paper:
            limits, band, difference = f"{percent} CI", f"{percent} band", "Difference"
        of_what = "of the difference at each k" if self._has_band else "of the difference"
        sentences = [
            f"{difference}: {self.names[1]} minus {self.names[0]}.",
            f"{limits}: {described.name} {of_what}, {described.scope}.",
        ]
        if self._has_band:
            sentences.append(f"{band}: simultaneous {percent} confidence band over all k.")
        conclusion = zero_in_band(self._overall, self.names)
        which = "band" if self._has_band else "interval"
        if len(self.differences) > 1:
            which += f" ({self._heading(None)})"
        sentences.append(f"The {which} {conclusion}.")
        if self._overall[0].p is not None:
            sentences.append(P_VALUES)
        return [" ".join(sentences)]

    def sentence(self, key: str | None = None) -> str:
        """Return a sentence about the difference at `key` (default: the first), and the band."""
        differences, scale = self._overall, scale_of_two(self._overall)
        point = next((point for point in differences if point.key == key), differences[0])
        a, b, (lo, hi) = (self.names[0], point.a), (self.names[1], point.b), point.interval
        if point.score >= 0:  # The difference is b - a.
            higher, lower = b, a
        else:
            higher, lower, lo, hi = a, b, -hi, -lo
        unit = " percentage points" if scale.percent else ""
        limits = self._limits.described(with_visible_signs(scale, (lo, hi)), (lo, hi))
        sentence = (
            f"On {self.scope.in_words()}, {point.key} is {scale.with_unit(higher[1])} for "
            f"{higher[0]} and {scale.with_unit(lower[1])} for {lower[0]}, a difference of "
            f"{scale.number(abs(point.score))}{unit} ({limits})."
        )
        if not self._has_band:
            return sentence
        return (
            f"{sentence} The simultaneous {self._limits.percent} confidence band over all "
            f"{len(differences)} values of k {zero_in_band(differences, self.names)}."
        )


def with_visible_signs(scale: Scale, limits: tuple[float, float]) -> Scale:
    """Return the scale with more decimals, up to 3, if it would show other limits than 0 as 0."""
    while scale.decimals < 3 and any(x != 0 and float(scale.number(x)) == 0 for x in limits):
        scale = scale._replace(decimals=scale.decimals + 1)
    return scale


def scale_of_two(differences: Sequence[Difference]) -> Scale:
    """Return the scale for the scores of two runs at all k."""
    scores = [score for point in differences for score in (point.a, point.b)]
    return Scale.of([point.metric for point in differences], scores)


def _cell(name: str, value: Any) -> str:
    """Return the text of a cell. Differences and limits have a sign; scores and p-values do not."""
    if isinstance(value, str):
        return value
    if name in ("p", "p_adjusted"):
        return p_value(value)
    return f"{value:.4f}" if name in ("a", "b") else f"{value:+.4f}"


# --- More runs ----------------------------------------------------------------------------


@dataclass(frozen=True)
class LeaderboardView(View):
    """The output for a leaderboard; `board` is the dict that `at_k.leaderboard` returns."""

    board: Mapping[str, Any]
    scope: Scope
    input: Sequence[str] = ()
    label = "leaderboard"

    def _boards(self) -> Iterator[tuple[str | None, Mapping[str, Any]]]:
        """Yield (group, board) for all questions, with the group None, and for each group."""
        yield None, self.board
        yield from self.board.get("groups", {}).items()

    @property
    def _limits(self) -> Limits:
        """What sentences and headings say about the limits."""
        return Limits(self.board["confidence"], self.board["interval"], self.scope.row)

    @property
    def _shows_pairs(self) -> bool:
        """Whether to show a table of differences: if they are few or have p-values."""
        return len(self.board["pairs"]) <= _MOST_PAIRS_SHOWN or "p" in self.board["pairs"][0]

    def data(self) -> dict[str, Any]:
        """Return the dict that `leaderboard` returns."""
        return dict(self.board)

    def tables(self) -> list[Cells]:
        """Return the tables of runs and of differences, for all questions and for each group."""
        tables = []
        for group, board in self._boards():
            title = group_heading(group, "groups" in self.board, self.scope.averaging)
            tables += [_table_of_runs(board, key, title) for key in _keys(board)]
            if self._shows_pairs:
                tables.append(_table_of_pairs(board))
        return tables

    def paper_tables(self) -> list[Cells]:
        """Return a table for each k, with a row for each run; or `_table_of_groups` for each k."""
        tables = []
        for key in _keys(self.board):
            heading = f"{key}{' in %' if _scale(self.board).percent else ''}"
            if "groups" in self.board:
                tables.append(self._table_of_groups(key, heading))
                continue
            heading += f" ({self._limits.heading})"
            table = [["Run", heading, "Letters", f"Rank ({self._limits.percent} CI)"]]
            for row in _rows_at(self.board, key):
                rank = f"{row['rank']} ({row['rank_lo']}, {row['rank_hi']})"
                table.append([row["run"], self._score_cell(row), row["letters"], rank])
            tables.append(table)
        return tables

    def _table_of_groups(self, key: str, corner: str) -> Cells:
        """Return a table of the score with this key: its limits and letters by run and group.

        If there are more runs than groups, runs are the rows, and otherwise groups are. `corner` is
        the text of the first cell.
        """
        runs = [row["run"] for row in _rows_at(self.board, key)]
        columns = [[corner, *runs]]
        for group, board in self._boards():
            cells = {
                row["run"]: f"{self._score_cell(row)} {row['letters']}"
                for row in _rows_at(board, key)
            }
            heading = group_heading(group, True, self.scope.averaging)
            columns.append([heading, *(cells[run] for run in runs)])
        if len(columns) > len(runs) + 1:
            return columns  # as rows, one for each group
        return [list(row) for row in zip(*columns, strict=True)]

    def _score_cell(self, row: Mapping[str, Any]) -> str:
        """Return the score of a run with its limits, such as "53.1 (42.4, 63.6)"."""
        scale = _scale(self.board)
        return f"{scale.number(row['score'])} {scale.limits(row['lo'], row['hi'])}"

    def records(self) -> Cells:
        """Return a row for each group, k and run, and for each pair of runs that has p-values.

        The group of all questions is "".
        """
        rows = [
            {"group": group, **row}
            for group, board in self._boards()
            for row in [*board["runs"], *(x for x in board["pairs"] if "p" in x)]
        ]
        return make_table([*dict.fromkeys(name for row in rows for name in row)], rows)

    def notes(self, for_paper: bool = False) -> list[str]:
        """Return one paragraph in a list, which explains the limits, the ranks and the letters."""
        described, percent = self._limits, self._limits.percent
        limits = f"{percent} CI" if for_paper else "lo and hi"
        pairs = "pairs and k" if len(_keys(self.board)) > 1 else "pairs"
        ranks, letter = "The rank intervals and the letters follow", "a letter"
        if for_paper and "groups" in self.board:
            limits, ranks = "In parentheses", "The letters follow"
            letter = "a letter within a group"
        notes = [f"{limits}: {described.name} of each score, {described.scope}."]
        notes.append(
            f"{ranks} from {percent} confidence intervals of all pairwise differences together, "
            f"over all {pairs}: runs that share {letter} cannot be told apart."
        )
        if "p" in self.board["pairs"][0] and not for_paper:
            notes.append(P_VALUES)
        if not (for_paper or self._shows_pairs):
            number = len(self.board["pairs"])
            notes.append(f"The {number} differences are in the output of --format json.")
        elif not for_paper:
            notes.append(
                "band lo and band hi are the limits of all differences together, from which the "
                "letters follow; lo and hi are the limits of one difference alone."
            )
        return [" ".join(notes)]

    def sentence(self) -> str:
        """Return a sentence that compares the best run at the first k with all others."""
        board, key = self.board, _keys(self.board)[0]
        rows, scale = _rows_at(board, key), _scale(board)
        best = rows[0]
        lower_runs = [
            pair["b"]
            for pair in board["pairs"]
            if (pair["a"], pair["key"]) == (best["run"], key) and pair["band_lo"] > 0
        ]
        undecided_runs = [row["run"] for row in rows[1:] if row["run"] not in lower_runs]
        best_runs = [row["run"] for row in rows if math.isclose(row["score"], best["score"])]
        limits = self._limits.described(scale, (best["lo"], best["hi"]))
        verb = "has"
        if len(best_runs) > 1:
            verb, limits = "have", f"for {best['run']}, {limits}"
        conclusions = []
        if lower_runs:
            conclusions.append(f"is higher than that of {enumerated(lower_runs)}")
        if undecided_runs:
            conclusions.append(f"cannot be told apart from that of {enumerated(undecided_runs)}")
        return (
            f"Of {len(rows)} runs on {self.scope.in_words()}, {enumerated(best_runs)} {verb} the "
            f"highest {key}, {scale.with_unit(best['score'])} ({limits}). By simultaneous "
            f"{self._limits.percent} confidence intervals of all pairwise differences, the {key} "
            f"of {best['run']} {' and '.join(conclusions)}."
        )


def _table_of_runs(board: Mapping[str, Any], key: str, heading: str) -> Cells:
    """Return the table of the runs for the score with this key, by descending score."""
    rows = []
    for row in _rows_at(board, key):
        lo, hi = row["rank_lo"], row["rank_hi"]
        rows.append({**row, "ranks": f"{lo}" if lo == hi else f"{lo} to {hi}"})
    columns = {"run": heading, "score": key, **_LIMITS, "rank": "rank"}
    columns |= {"ranks": "rank interval", "letters": "letters"}
    return make_table(columns, rows, lambda _, x: f"{x:.4f}" if isinstance(x, float) else str(x))


def _table_of_pairs(board: Mapping[str, Any]) -> Cells:
    """Return a table with the differences of all pairs of runs, with a row for each pair and k."""
    title = "{a} - {b}, {key}" if len(_keys(board)) > 1 else "{a} - {b}"
    rows = [{**pair, "title": title.format(**pair)} for pair in board["pairs"]]
    return make_table(_PAIR_COLUMNS, rows, _cell)


def _keys(board: Mapping[str, Any]) -> list[str]:
    """Return the keys of the scores of a leaderboard, one for each k."""
    return list(dict.fromkeys(row["key"] for row in board["runs"]))


def _rows_at(board: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """Return the entries of "runs" for the score with this key, by descending score."""
    return [row for row in board["runs"] if row["key"] == key]


def _scale(board: Mapping[str, Any]) -> Scale:
    """Return the scale for the scores and limits of a leaderboard."""
    numbers = [row[name] for row in board["runs"] for name in ("score", "lo", "hi")]
    return Scale.of([board["metric"]], numbers)
