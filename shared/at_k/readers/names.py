"""The usual names of columns, and the error that asks the caller to name one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..inputs.containers import QUESTION_NAMES
from .cells import column_at, entry_text
from .table import Columns, Table

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
        *("gold", "expected", "label", "solution"),
    ),
    "questions": QUESTION_NAMES,
    "n": (
        *("n", "n_samples", "num_samples", "total", "samples"),
        *("attempts", "num_attempts", "trials", "num_trials"),
    ),
    "correct": ("c", "correct", "num_correct", "n_correct", "passed"),
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
        examples: what each of the roles could be given, if the message does not say so.
    """

    def __init__(
        self,
        problem: str,
        roles: Sequence[str] = (),
        choices: Iterable[str] = (),
        examples: Sequence[str] = (),
    ):
        super().__init__(problem)
        self.roles = tuple(roles)
        self.choices = tuple(choices)
        self.examples = tuple(examples)


def find_column(table: Table, role: str, named: str | None) -> str | None:
    """Return the named column, or else the first column with a usual name for a role, or None."""
    return next(iter(found_columns(table, role)), None) if named is None else named


def found_columns(table: Table, role: str) -> list[str]:
    """Return the columns of a role: those of the reader, or those with usual names."""
    if table.roles:
        name = table.roles.get(role)
        return [name] if isinstance(name, str) else list(name or ())
    return usual_columns(table.columns, role)


def question_columns(table: Table, of_lists: bool) -> tuple[str, ...]:
    """Return the columns that identify the questions, without those that the caller names.

    Args:
        table: the source.
        of_lists: whether a row has several samples. Then rows without a repeated entry are
            different questions, and no column is returned. Otherwise a column without repeated
            entries numbers the samples, and another one is preferred.
    """
    found = found_columns(table, "questions")
    if table.roles:
        return tuple(found)
    texts = {name: [entry_text(entry) for entry in table.columns[name]] for name in found}
    repeated = [name for name in found if len(set(texts[name])) < len(texts[name])]
    if of_lists:
        repeated = [] if len(repeated) < len(found) else repeated
        return tuple(name for name in repeated if "" not in texts[name])[:1]
    return tuple(repeated or found)[:1]


def with_fields(table: Table, names: Iterable[tuple[str, str]]) -> Table:
    """Return the table with the columns that the caller names, which can be dotted paths.

    Args:
        table: the source.
        names: pairs of a role and a name.

    Raises:
        SelectionError: if there is no such column or field.
    """
    columns = dict(table.columns)
    for role, name in names:
        column = column_at(columns, name)
        if column is None:
            raise SelectionError(
                f"There is no column {name!r}. {list_columns(table.columns)}", [role], table.columns
            )
        columns[name] = column
    return table.with_columns(columns)


def usual_columns(columns: Columns, role: str) -> list[str]:
    """Return the columns with a usual name for a role, which may be in any case."""
    return columns_named(columns, USUAL_NAMES[role])


def columns_named(columns: Columns, names: Iterable[str]) -> list[str]:
    """Return the columns with these names, which are in lower case."""
    by_lower_name = {name.lower(): name for name in reversed(columns)}
    return [by_lower_name[name] for name in names if name in by_lower_name]


def list_columns(columns: Columns) -> str:
    """Return the sentence of an error message that lists the columns."""
    return f"The columns are {', '.join(columns)}."
