"""The rows of a source by column, as every reader returns them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Columns = dict[str, Sequence[Any]]
"""Entries by column name, one per row."""


@dataclass(frozen=True)
class Table:
    """The rows of a source by column, and what is known about them.

    Attributes:
        columns: entries by column name, one per row. A row is a question with a list of samples,
            or one sample.
        roles: the column that holds the predictions, outcomes, references, questions, groups, R0
            or clusters, by role. "questions" may be a tuple of columns, which identify a question
            together. The caller may name others. Columns with usual names are only looked for if
            there are no roles.
        origin: what the source says about itself, in the order in which it is reported:
            {"harness": "lm-evaluation-harness", "model": .., "task": ..}.
    """

    columns: Columns
    roles: dict[str, str | tuple[str, ...]] = field(default_factory=dict)
    origin: dict[str, str] = field(default_factory=dict)
