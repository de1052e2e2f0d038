"""Scores as aligned text."""

from __future__ import annotations

from typing import Any

_DETAILS = {
    "": "score",
    "_mu": "mean",
    "_sigma": "sd",
    "_lo": "lo",
    "_hi": "hi",
    "_interval": "interval",
}


def score_table(scores: dict[str, Any]) -> str:
    """A flat dict of scores: a row for each key, a column for all questions and each group.

    With intervals, a table for all questions and one for each group.
    """
    values = {key: value for key, value in scores.items() if key != "per_question"}
    keys = [key for key in values if not any(_is_detail(key, end, values) for end in _DETAILS)]
    rows = [key for key in keys if "/" not in key]
    labels = list(dict.fromkeys(key.rpartition("/")[0] for key in keys if "/" in key))
    prefixes = ["", *(f"{label}/" for label in labels)]
    if any(f"{row}_lo" in values for row in rows):
        tables = [
            _without_empty_columns(
                [[_head(prefix) if labels else "", *_DETAILS.values()]]
                + [
                    [row, *(_cell(values.get(prefix + row + end)) for end in _DETAILS)]
                    for row in rows
                ]
            )
            for prefix in prefixes
        ]
    else:
        heads = [_head(prefix) if labels else "score" for prefix in prefixes]
        lines = [[row, *(f"{values[prefix + row]:.4f}" for prefix in prefixes)] for row in rows]
        tables = [[["", *heads], *lines]]
    if each := scores.get("per_question"):
        numbers = enumerate(zip(*each.values(), strict=True))
        lines = [[str(question), *(f"{x:.4f}" for x in line)] for question, line in numbers]
        tables.append([["question", *each], *lines])
    return "\n\n".join(map(aligned, tables))


def _without_empty_columns(table: list[list[str]]) -> list[list[str]]:
    kept = [i for i, cells in enumerate(zip(*table[1:], strict=True)) if i == 0 or any(cells)]
    return [[row[i] for i in kept] for row in table]


def _cell(value: float | str | None) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:.4f}"


def _is_detail(key: str, end: str, values: dict[str, Any]) -> bool:
    return end != "" and key.endswith(end) and key.removesuffix(end) in values


def _head(prefix: str, most: int = 24) -> str:
    label = " ".join(prefix.removesuffix("/").split()) or (
        "(no label)" if prefix else "all questions"
    )
    return label if len(label) <= most else f"{label[: most - 2]}.."


def aligned(table: list[list[str]]) -> str:
    """Rows of cells with the columns lined up, the first to the left; under the heads a rule."""
    widths = [max(len(cell) for cell in column) for column in zip(*table, strict=True)]
    lines = [
        "  ".join(
            [row[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        ).rstrip()
        for row in table
    ]
    rule = "  ".join("-" * width for width in widths)
    return "\n".join([lines[0], rule, *lines[1:]])
