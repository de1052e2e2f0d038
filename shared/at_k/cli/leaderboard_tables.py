"""How a leaderboard is shown: in the terminal, in papers, as records and in a sentence."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .formats import Cells, Scale, View, short_label
from .sentences import (
    INTERVAL_NAME,
    INTERVAL_SCOPE,
    P_VALUES,
    Scope,
    enumerated,
    interval_heading,
    limits_in_words,
    listed,
    p_value,
)

_MOST_PAIRS = 15  # up to which the differences are in a table of their own
_PAIR_COLUMNS = {
    "difference": "difference",
    "lo": "lo",
    "hi": "hi",
    "band_lo": "band lo",
    "band_hi": "band hi",
    "p": "p",
    "p_adjusted": "adjusted p",
}
_P_COLUMNS = ("p", "p_adjusted")


@dataclass(frozen=True)
class LeaderboardView(View):
    """Many runs by descending score.

    Args:
        board: of `at_k.leaderboard`; "groups" has those of groups of questions by their labels.
        scope: the questions and their samples, for the sentence.
        input: a sentence for each run: what was read.
    """

    board: Mapping[str, Any]
    scope: Scope
    input: Sequence[str] = ()

    def _boards(self) -> Iterator[tuple[str | None, Mapping[str, Any]]]:
        """The leaderboard of all questions (None), and that of each group."""
        yield None, self.board
        yield from self.board.get("groups", {}).items()

    @property
    def _shows_pairs(self) -> bool:
        """Whether the differences have a table: if there are few, or if they have p-values."""
        return len(self.board["pairs"]) <= _MOST_PAIRS or "p" in self.board["pairs"][0]

    def data(self) -> dict[str, Any]:
        return dict(self.board)

    # --- Tables ---------------------------------------------------------------------------

    def tables(self) -> list[Cells]:
        """For all questions and each group a table of runs at each k, and one of differences."""
        tables = []
        for group, board in self._boards():
            title = "all questions" if "groups" in self.board else ""
            title = title if group is None else short_label(group)
            tables += [_table_of_runs(board, key, title) for key in _keys(board)]
            if self._shows_pairs:
                tables.append(_table_of_pairs(board))
        return tables

    def paper_tables(self) -> list[Cells]:
        """A row for each run, with the scores at each k and their letters."""
        tables = []
        for group, board in self._boards():
            keys, scale = _keys(board), _scale(board)
            interval, unit = interval_heading(board["confidence"]), " in %" if scale.percent else ""
            head = ["Run" if group is None else f"Run, {short_label(group)}"]
            for key in keys:
                head += [f"{key}{unit} ({interval})", "Letters" if len(keys) == 1 else ""]
            if len(keys) == 1:
                head.append(f"Rank ({interval})")
            rows = {row["run"]: [row["run"]] for row in board["runs"]}
            for row in board["runs"]:
                cells = rows[row["run"]]
                limits = scale.limits(row["lo"], row["hi"])
                cells += [f"{scale.number(row['score'])} {limits}", row["letters"]]
                if len(keys) == 1:
                    cells.append(f"{row['rank']} ({row['rank_lo']}, {row['rank_hi']})")
            tables.append([head, *rows.values()])
        return tables

    def records(self) -> Cells:
        columns = list(self.board["runs"][0])
        table = [["group", *columns]]
        for group, board in self._boards():
            table += [[group or "", *(str(row[name]) for name in columns)] for row in board["runs"]]
        return table

    # --- Sentences ------------------------------------------------------------------------

    def notes(self, for_paper: bool = False) -> list[str]:
        """What the limits, the ranks and the letters are."""
        notes = leaderboard_notes(self.board, for_paper)
        if for_paper:
            return [notes]
        if not self._shows_pairs:
            number = len(self.board["pairs"])
            return [f"{notes} The {number} differences are in the output of --format json."]
        return [
            f"{notes} band lo and band hi are the limits of all differences together, from which "
            f"the letters follow; lo and hi are the limits of one difference alone."
        ]

    def sentence(self) -> str:
        """The highest score, and which runs it differs from."""
        board, key = self.board, _keys(self.board)[-1]
        rows = [row for row in board["runs"] if row["key"] == key]
        best, scale, confidence = rows[0], _scale(board), board["confidence"]
        pairs = [pair for pair in board["pairs"] if pair["key"] == key]
        behind = [pair["b"] for pair in pairs if pair["a"] == best["run"] and pair["band_lo"] > 0]
        equal = [row["run"] for row in rows[1:] if row["run"] not in behind]
        ks = len(_keys(board))
        over = f"{len(pairs)} pairwise differences" + (f" at each of {ks} values of k" * (ks > 1))
        highest = [row["run"] for row in rows if math.isclose(row["score"], best["score"])]
        have, of_one = ("have", f"for {best['run']}, ") if len(highest) > 1 else ("has", "")
        limits = limits_in_words(scale, (best["lo"], best["hi"]), board["interval"], confidence)
        text = (
            f"Of {len(rows)} runs on {self.scope.in_words()}, {enumerated(highest)} {have} the "
            f"highest {key}, {scale.with_unit(best['score'])} ({of_one}{limits}). By simultaneous "
            f"{100 * confidence:g} % confidence intervals of all {over}, the {key} of "
            f"{best['run']} "
        )
        if not behind:
            return f"{text}cannot be told apart from that of any other run."
        text += f"is higher than that of {listed(behind, len(rows) - 1)}"
        if not equal:
            return f"{text}."
        return f"{text} and cannot be told apart from that of {listed(equal, len(rows) - 1)}."


def leaderboard_notes(board: Mapping[str, Any], for_paper: bool = False) -> str:
    """Return sentences that explain the limits of scores, the ranks and the letters."""
    percent = f"{100 * board['confidence']:g} %"
    limits = f"{percent} CI" if for_paper else "lo and hi"
    over = " and k" if len(_keys(board)) > 1 else ""
    notes = (
        f"{limits}: {percent} {INTERVAL_NAME[board['interval']]} of each score, "
        f"{INTERVAL_SCOPE[board['interval']]}. The rank intervals and the letters follow from "
        f"{percent} confidence intervals of all pairwise differences together, over all "
        f"pairs{over}: runs that share a letter cannot be told apart."
    )
    return f"{notes} {P_VALUES}" if "p" in board["pairs"][0] else notes


def _table_of_runs(board: Mapping[str, Any], key: str, heading: str) -> Cells:
    table = [[heading, key, "lo", "hi", "rank", "rank interval", "letters"]]
    for row in board["runs"]:
        if row["key"] == key:
            numbers = [f"{row[name]:.4f}" for name in ("score", "lo", "hi")]
            least, most = row["rank_lo"], row["rank_hi"]
            ranks = f"{least}" if least == most else f"{least} to {most}"
            table.append([row["run"], *numbers, str(row["rank"]), ranks, row["letters"]])
    return table


def _table_of_pairs(board: Mapping[str, Any]) -> Cells:
    several = len(_keys(board)) > 1
    names = [name for name in _PAIR_COLUMNS if name in board["pairs"][0]]
    table = [["", *(_PAIR_COLUMNS[name] for name in names)]]
    for pair in board["pairs"]:
        title = f"{pair['a']} - {pair['b']}" + (f", {pair['key']}" if several else "")
        cells = [
            p_value(pair[name]) if name in _P_COLUMNS else f"{pair[name]:+.4f}" for name in names
        ]
        table.append([title, *cells])
    return table


def _keys(board: Mapping[str, Any]) -> list[str]:
    """The keys of the scores, one for each k."""
    return list(dict.fromkeys(row["key"] for row in board["runs"]))


def _scale(board: Mapping[str, Any]) -> Scale:
    numbers = [row[name] for row in board["runs"] for name in ("score", "lo", "hi")]
    return Scale.of([board["metric"]], numbers)
