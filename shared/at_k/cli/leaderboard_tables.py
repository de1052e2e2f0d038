"""The tables of a leaderboard, and the sentences that explain its limits and ranks."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from .comparison_tables import INTERVAL_SCOPE
from .formats import Cells
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
        tables += [_table_of_runs(each, key, title) for key in _keys(each)]
        if 0 < len(each["pairs"]) <= _MOST_PAIRS:
            tables.append(_table_of_pairs(each))
    return tables


def _table_of_runs(board: Mapping[str, Any], key: str, heading: str) -> Cells:
    table = [[heading, key, "lo", "hi", "rank", "possible", "letters"]]
    for row in board["runs"]:
        if row["key"] == key:
            numbers = [f"{row[name]:.4f}" for name in ("score", "lo", "hi")]
            possible = _range(row["rank_lo"], row["rank_hi"])
            table.append([row["run"], *numbers, str(row["rank"]), possible, row["letters"]])
    return table


def _table_of_pairs(board: Mapping[str, Any]) -> Cells:
    several = len(_keys(board)) > 1
    names = [name for name in _PAIR_COLUMNS if name in board["pairs"][0]]
    table = [["", *(_PAIR_COLUMNS[name] for name in names)]]
    for pair in board["pairs"]:
        title = f"{pair['a']} - {pair['b']}" + (f", {pair['key']}" if several else "")
        cells = [
            f"{pair[name]:.4f}" if name.startswith("p") else f"{pair[name]:+.4f}" for name in names
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


def leaderboard_notes(board: Mapping[str, Any]) -> list[str]:
    """Return sentences that explain the limits, the ranks and the letters."""
    percent = f"{100 * board['confidence']:g} %"
    scope = INTERVAL_SCOPE[board["interval"]]
    over = " and k" if len(_keys(board)) > 1 else ""
    notes = (
        f"lo and hi: {percent} confidence interval of each score, {scope}. The ranks under "
        f"`possible` and the letters follow from {percent} confidence intervals of all pairwise "
        f"differences together, over all pairs{over}: runs that share a letter cannot be told "
        f"apart."
    )
    if len(board["pairs"]) > _MOST_PAIRS:
        notes += f" The {len(board['pairs'])} differences are in the output of --format json."
    else:
        notes += " band lo and band hi are these limits; lo and hi of a difference are its own."
    return [textwrap.fill(notes)]


def _keys(board: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys(row["key"] for row in board["runs"]))


def _range(least: int, most: int) -> str:
    return f"{least}" if least == most else f"{least} to {most}"
