"""Validate what the caller says of how a source is read, and hold it as `ReadingOptions`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields
from math import inf
from typing import Any

from ..core.checks import (
    check_count,
    check_name,
    check_number,
    check_text,
    is_list_like,
    short,
)
from .missing import CHOICES
from .names import PER_QUESTION, PER_SAMPLE
from .words import as_outcome, number_in

FIRST_COLUMN = "column 1"
"""The value of `references` if the columns have no names and the first has the references."""


@dataclass(frozen=True)
class ReadingOptions:
    """The options that a caller gives for reading a source, most of them as in `read`.

    Attributes:
        columns: the column of each role, or None if the caller does not name it: then it is found
            by its exact names. Roles of `PER_QUESTION` that are not among the keys are not read.
        where: the rows that are read, as the entries that they may have in each column.
        missing: "incorrect" or "drop"; None for the rule of the layout, or an error that asks.
        records: the dotted path to the rows inside of one object of JSON.
        by_order: whether references in a file belong to the rows in the same order.
        has_labels: whether outcomes are labels, such as verdicts or categories, which are kept as
            they are written.
        in_order: whether single samples are needed, in their order, so that none may be counted.
        unnamed: "references" if the columns have no names and the first holds the references.
    """

    columns: Mapping[str, Any] = field(default_factory=dict)
    questions: tuple[str, ...] = ()
    where: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    pool: tuple[str, ...] = ()
    missing: str | None = None
    correct_values: tuple[Any, ...] = ()
    correct_at_least: float | None = None
    group_size: int | None = None
    records: str | None = None
    config: str | None = None
    split: str | None = None
    by_order: bool = False
    unfinished: str | None = None
    checker: Any = None
    has_labels: bool = False
    in_order: bool = False
    unnamed: str = ""

    @property
    def graded_by(self) -> str:
        """The name of the parameter that says which outcomes are correct, or ""."""
        if self.correct_values:
            return "correct_values"
        return "" if self.correct_at_least is None else "correct_at_least"

    @property
    def are_labels(self) -> bool:
        """Return whether outcomes are labels, and nothing is checked."""
        is_checked = self.checker or self.columns.get("references") is not None
        return self.has_labels and not is_checked

    @property
    def roles_per_question(self) -> list[str]:
        """Return the roles of `PER_QUESTION` that are read."""
        return [role for role in PER_QUESTION if role in self.columns]

    def named(self) -> dict[str, Any]:
        """Return the columns that the caller names, by role."""
        return {role: name for role, name in self.columns.items() if name is not None}


def make_reading(**options: Any) -> ReadingOptions:
    """Return the options of a reading from the arguments of `read` or of the command.

    Arguments that are no attributes of `ReadingOptions` are columns by their role.
    """
    if options.get("references") == FIRST_COLUMN:
        options |= {"references": "reference", "unnamed": "references"}
    if options.get("has_labels") and is_list_like(options.get("counts")):
        names_of_counts = checked_names("counts", options["counts"])
        if len(names_of_counts) > 1:  # The columns are named by the labels that they count.
            options["counts"] = {number_in(x): x for x in names_of_counts}
    names = {field.name for field in fields(ReadingOptions)} & options.keys()
    known = {name: x for name in names if (x := options.pop(name)) is not None}
    for name, check in _CHECKS.items():
        if name in known:
            known[name] = check(name, known[name])
    if known.get("correct_values") and "correct_at_least" in known:
        raise ValueError("correct_values and correct_at_least exclude each other.")
    return ReadingOptions(_checked_columns(options), **known)


def _checked_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns by role, after a check of their types.

    A role that is None stays, because its column is found by a usual name. Roles of samples that
    are None are left out, because their columns have to be named.
    """
    checked = {}
    for role, name in columns.items():
        if role == "counts" and name is not None:
            is_plain = isinstance(name, (str, Mapping))
            name = _count_columns(name if is_plain else checked_names("counts", name))
        elif role in ("predictions", "outcomes") and name is not None:
            names = checked_names(role, name)
            name = names[0] if len(names) == 1 else names  # several have a sample each
        elif name is not None and role != "references":
            check_text(role, name)
        if name is not None or role not in (*PER_SAMPLE, "finish"):
            checked[role] = name
    return checked


def _count_columns(names: Any) -> str | dict[Any, str]:
    """Return the name of a single column of counts, or a dict from outcome to column of several.

    If all names are numbers or words of outcomes, such as right and wrong, they are the outcomes.
    Otherwise the outcomes are the categories 0, 1, .., in the order of the columns.
    """
    if isinstance(names, str):
        return names
    if isinstance(names, Mapping):
        return dict(names)
    if len(names) == 1:
        return names[0]
    outcomes: list[Any] = [
        int(outcome) if isinstance(outcome, bool) else outcome for outcome in map(as_outcome, names)
    ]
    are_outcomes = [isinstance(outcome, (int, float)) for outcome in outcomes]
    if any(are_outcomes) and not all(are_outcomes):
        name = names[are_outcomes.index(False)]
        raise ValueError(
            f"counts names the column {name}, which is no outcome as the others are: name a column "
            f"for each outcome."
        )
    if not any(are_outcomes):
        outcomes = list(range(len(names)))
    if len({*outcomes}) < len(names) or len({*names}) < len(names):
        raise ValueError(f"counts names two columns of the same outcome: {', '.join(names)}.")
    return dict(sorted(zip(outcomes, names, strict=True)))


def checked_names(role: str, names: Any) -> tuple[str, ...]:
    """Return one name or several as a tuple of texts; a TypeError for other values."""
    return tuple(check_text(role, x) for x in _listed(role, names))


def _listed(role: str, values: Collection[Any]) -> list[Any]:
    """Return a list with one text, or with the entries of a collection; or raise a TypeError."""
    if not isinstance(values, (str, Set)) and not is_list_like(values):
        raise TypeError(f"{role} is {short(values)}: give a text, or a list.")
    listed = [values] if isinstance(values, str) else list(values)
    return listed


def _conditions(role: str, where: Any) -> dict[str, list[Any]]:
    """Return the entries of each column in `where`, a dict or a list of (column, entry) pairs."""
    if isinstance(where, Mapping):
        pairs = list(where.items())
    elif is_list_like(where) and all(isinstance(x, tuple) and len(x) == 2 for x in where):
        pairs = list(where)
    else:
        raise TypeError(f"{role} is {short(where)}: give a dict, {{column: entry}}.")
    conditions: dict[str, list[Any]] = {}
    for name, entry in pairs:
        listed = entry if isinstance(entry, list) else [entry]
        conditions.setdefault(check_text(role, name), []).extend(listed)
    return conditions


_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "questions": checked_names,
    "where": _conditions,
    "pool": checked_names,
    "missing": lambda role, choice: check_name(role, choice, CHOICES),
    "correct_values": lambda role, values: tuple(_listed(role, values)),
    "correct_at_least": lambda role, x: check_number(role, x, "give a number", -inf, inf),
    "group_size": check_count,
    "records": check_text,
    "unfinished": lambda role, choice: check_name(role, choice, ("incorrect",)),
}
