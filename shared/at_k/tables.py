"""Scores as aligned text."""

from __future__ import annotations

from typing import Any


def score_table(scores: dict[str, Any]) -> str:
    """A flat dict of scores: a row for each key, a column for all questions and each group."""
    each = scores.get("per_question")
    values = {key: value for key, value in scores.items() if key != "per_question"}
    details = ("_mu", "_sigma", "_lo", "_hi")
    keys = [
        key
        for key in values
        if not any(key.endswith(end) and key.removesuffix(end) in values for end in details)
    ]
    rows = [key for key in keys if "/" not in key]
    labels = list(dict.fromkeys(key.rpartition("/")[0] for key in keys if "/" in key))
    prefixes = ["", *(f"{label}/" for label in labels)]
    table = [["", "all" if labels else "score", *labels]]
    table += [[row, *(_cell(values, prefix + row) for prefix in prefixes)] for row in rows]
    text = aligned(table)
    if any(f"{row}_lo" in values for row in rows):
        text += "\n\nIn brackets the interval around the posterior mean; --json has more digits."
    if each:
        lines = zip(*each.values(), strict=True)
        numbered = [[str(i), *(f"{x:.4f}" for x in line)] for i, line in enumerate(lines)]
        text += "\n\n" + aligned([["question", *each], *numbered])
    return text


def _cell(values: dict[str, float], key: str) -> str:
    score = f"{values[key]:.4f}"
    if f"{key}_lo" in values:
        score += f" [{values[f'{key}_lo']:.4f}, {values[f'{key}_hi']:.4f}]"
    return score


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
    rule = "  ".join("\u2500" * width for width in widths)
    return "\n".join([lines[0], rule, *lines[1:]])
