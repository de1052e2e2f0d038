"""Flat rewards, as reward functions of TRL and verl return them: one group for each question."""

from __future__ import annotations

from numbers import Real
from typing import Any

from .table import Table


def read_flat_rewards(source: Any) -> Table | None:
    """Return a table with a row for each number of a list or of a one-dimensional array."""
    if getattr(source, "ndim", None) == 1 and hasattr(source, "tolist"):
        source = source.tolist()
    if not isinstance(source, (list, tuple)) or not source:
        return None
    if not all(reward is None or isinstance(reward, Real) for reward in source):
        return None
    return Table({"rewards": list(source)}, {"outcomes": "rewards"})


def number_questions(table: Table, group_size: int, title: str) -> tuple[Table, str]:
    """Return the table with a column that numbers the questions, and the name of this column.

    Args:
        table: a source with one sample in each row.
        group_size: the number of consecutive rows that belong to a question.
        title: the name of the source.

    Raises:
        ValueError: if the number of rows is not a multiple of it.
    """
    rows = max(map(len, table.columns.values()))
    if group_size < 1 or rows % group_size:
        raise ValueError(f"{title} has {rows} rows, which is not a multiple of {group_size}.")
    name = f"every {group_size} rows"
    numbers = [row // group_size for row in range(rows)]
    return table.with_columns({**table.columns, name: numbers}), name
