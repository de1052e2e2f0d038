"""Which column of a source holds what, and the error that asks the caller to name one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .table import Columns

USUAL_NAMES = {
    "predictions": (
        *("predictions", "prediction", "samples", "sample", "responses", "response"),
        *("completions", "completion", "generations", "generation", "outputs", "output"),
    ),
    "outcomes": (
        *("outcomes", "outcome", "correct", "is_correct", "passed"),
        *("rewards", "reward", "verdicts", "verdict"),
    ),
    "references": (
        *("references", "reference", "answers", "answer", "targets", "target", "ground_truth"),
        *("gold", "solution", "expected", "label"),
    ),
    "questions": (
        *("question_id", "task_id", "problem_id", "prompt_id", "id"),
        *("question", "problem", "prompt"),
    ),
    "groups": ("groups", "group"),
    "R0": ("r0",),
    "clusters": ("clusters", "cluster"),
}
"""The usual names of the column for each role, in lower case and in order of precedence."""

PER_QUESTION = ("groups", "R0", "clusters")
"""The optional parameters of `compute` that take one value per question, each from a column."""


class SelectionError(ValueError):
    """A source can only be read if the caller names one of its columns, or one of its splits.

    The message states the problem without saying how to name a column, which depends on the
    caller: the command adds its flags.

    Attributes:
        roles: the parameters of `read_questions` that would name it: ("predictions", "outcomes").
        choices: the names to choose from: the columns, or the splits, of the source.
    """

    def __init__(self, problem: str, roles: Sequence[str] = (), choices: Iterable[str] = ()):
        super().__init__(problem)
        self.roles = tuple(roles)
        self.choices = tuple(choices)


def find_column(columns: Columns, role: str, named: str | None) -> str | None:
    """Return the named column, or else the first column with a usual name for a role, or None.

    Raises:
        SelectionError: if there is no column of the given name.
    """
    if named is None:
        return next(iter(usual_columns(columns, role)), None)
    if named not in columns:
        raise SelectionError(
            f"There is no column {named!r}. {list_columns(columns)}", [role], columns
        )
    return named


def usual_columns(columns: Columns, role: str) -> list[str]:
    """Return the columns with a usual name for a role, which may be in any case."""
    by_lower_name = {name.lower(): name for name in reversed(columns)}
    return [by_lower_name[name] for name in USUAL_NAMES[role] if name in by_lower_name]


def list_columns(columns: Columns) -> str:
    """Return the sentence of an error message that lists the columns."""
    return f"The columns are {', '.join(columns)}."
