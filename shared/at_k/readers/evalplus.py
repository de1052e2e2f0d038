"""Read the results of evalplus: `*_eval_results.json`.

evalplus counts every sample. One passes `base` if it passes the original tests, and `plus` if it
passes the additional tests too. A test that times out has failed.
"""

from __future__ import annotations

from pathlib import Path

from .table import Columns, Table


def read_evalplus(table: Table, path: Path | None) -> Table | None:
    """Return a row for each solution, with the outcomes `base` and, if they were run, `plus`."""
    if not table.columns.keys() >= {"date", "hash", "eval"} or len(table.columns["eval"]) != 1:
        return None
    (tasks,) = table.columns["eval"]
    if not isinstance(tasks, dict):
        return None
    results = [result for solutions in tasks.values() for result in solutions]
    base = [result["base_status"] == "pass" for result in results]
    columns: Columns = {
        "task_id": [task for task, solutions in tasks.items() for _ in solutions],
        "solution": [result["solution"] for result in results],
        "base": base,
    }
    outcomes: tuple[str, ...] = ("base",)
    if all(result["plus_status"] is not None for result in results):
        passed = [result["plus_status"] == "pass" for result in results]
        columns["plus"] = list(map(all, zip(base, passed, strict=True)))
        outcomes = ("base", "plus")
    return Table(columns, {"questions": "task_id", "outcomes": outcomes}, {"harness": "evalplus"})
