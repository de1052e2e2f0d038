"""Read the generations that the trainer of verl dumps: `<step>.jsonl`.

A row is a sample: the rows with equal `input` belong to a question. verl scores every sample.
"""

from __future__ import annotations

from pathlib import Path

from .table import Roles, Table


def read_verl(table: Table, path: Path | None) -> Table | None:
    """Return the table with `score`, the reward, as outcomes.

    If the reward function also gives `acc`, the caller has to choose, unless both are equal.
    """
    if not table.columns.keys() >= {"input", "output", "gts", "score", "step"}:
        return None
    roles: Roles = {
        "questions": "input",
        "predictions": "output",
        "references": "gts",
        "outcomes": ("acc", "score") if "acc" in table.columns else "score",
    }
    return Table(table.columns, roles, {"harness": "verl"})
