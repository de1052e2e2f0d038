"""Read the completions that TRL logs: `completions_<step>.parquet`, by `log_completions`.

A row is a sample: the rows with equal `prompt` belong to a question. TRL leaves out a reward that
is NaN, which is None here.
"""

from __future__ import annotations

from pathlib import Path

from .table import Columns, Roles, Table


def read_trl(table: Table, path: Path | None) -> Table | None:
    """Return the table with the columns of the reward functions as outcomes."""
    if not table.columns.keys() >= {"step", "prompt", "completion", "advantage"}:
        return None
    columns: Columns = dict(table.columns)
    rewards = tuple(
        name
        for name, cells in columns.items()
        if name not in ("step", "advantage")
        and all(isinstance(cell, (int, float)) for cell in cells if cell is not None)
    )
    for name in rewards:
        columns[name] = [None if cell != cell else cell for cell in columns[name]]
    roles: Roles = {"questions": "prompt", "predictions": "completion"}
    return Table(columns, roles | {"outcomes": rewards}, {"harness": "TRL"})
