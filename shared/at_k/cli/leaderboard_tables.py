"""The tables of a leaderboard, and the sentences that explain its limits and ranks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .comparison_tables import INTERVAL_NAME, INTERVAL_SCOPE
from .formats import Cells
from .paper_tables import P_VALUES, keys_of_board, p_value
from .tables import group_heading

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


def leaderboard_tables(board: Mapping[str, Any]) -> list[Cells]:
    """Return for all questions and each group a table of runs at each k, and one of differences."""
    tables = []
    groups = board.get("groups", {})
    for heading, each in {"all questions" if groups else "": board, **groups}.items():
        title = group_heading(heading) if groups else ""
        tables += [_table_of_runs(each, key, title) for key in keys_of_board(each)]
        if _shows_pairs(each):
            tables.append(_table_of_pairs(each))
    return tables


def _table_of_runs(board: Mapping[str, Any], key: str, heading: str) -> Cells:
    table = [[heading, key, "lo", "hi", "rank", "rank interval", "letters"]]
    for row in board["runs"]:
        if row["key"] == key:
            numbers = [f"{row[name]:.4f}" for name in ("score", "lo", "hi")]
            possible = _range(row["rank_lo"], row["rank_hi"])
            table.append([row["run"], *numbers, str(row["rank"]), possible, row["letters"]])
    return table


def _table_of_pairs(board: Mapping[str, Any]) -> Cells:
    several = len(keys_of_board(board)) > 1
    names = [name for name in _PAIR_COLUMNS if name in board["pairs"][0]]
    table = [["", *(_PAIR_COLUMNS[name] for name in names)]]
    for pair in board["pairs"]:
        title = f"{pair['a']} - {pair['b']}" + (f", {pair['key']}" if several else "")
        cells = [
            p_value(pair[name]) if name.startswith("p") else f"{pair[name]:+.4f}" for name in names
        ]
        table.append([title, *cells])
    return table


def leaderboard_records(board: Mapping[str, Any]) -> Cells:
    """Return the runs of all questions and of each group in one table, in full precision."""
    columns = list(board["runs"][0])
    table = [["group", *columns]]
    for group, each in {"": board, **board.get("groups", {})}.items():
        table += [[group, *(str(row[column]) for column in columns)] for row in each["runs"]]
    return table


def leaderboard_notes(board: Mapping[str, Any], for_paper: bool = False) -> list[str]:
    """Return sentences that explain the limits, the ranks and the letters.

    Args:
        board: of `at_k.leaderboard`.
        for_paper: whether limits are in parentheses, and not in columns lo and hi.
    """
    percent = f"{100 * board['confidence']:g} %"
    scope = INTERVAL_SCOPE[board["interval"]]
    limits = f"{percent} CI" if for_paper else "lo and hi"
    over = " and k" if len(keys_of_board(board)) > 1 else ""
    notes = (
        f"{limits}: {percent} {INTERVAL_NAME[board['interval']]} of each score, {scope}. The rank "
        f"intervals and the letters follow from {percent} confidence intervals of all pairwise "
        f"differences together, over all pairs{over}: runs that share a letter cannot be told "
        f"apart."
    )
    if "p" in board["pairs"][0]:
        notes += f" {P_VALUES}"
    if for_paper:
        return [notes]
    if not _shows_pairs(board):
        notes += f" The {len(board['pairs'])} differences are in the output of --format json."
    else:
        notes += (
            " band lo and band hi are the limits of all differences together, from which the "
            "letters follow; lo and hi are the limits of one difference alone."
        )
    return [notes]


def _shows_pairs(board: Mapping[str, Any]) -> bool:
    """Whether the differences have a table: if there are few, or if p-values were requested."""
    return len(board["pairs"]) <= _MOST_PAIRS or "p" in board["pairs"][0]


def _range(least: int, most: int) -> str:
    return f"{least}" if least == most else f"{least} to {most}"
