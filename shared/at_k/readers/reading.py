"""Validate what the caller says of how a source is read, and hold it as `ReadingOptions`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, fields
from math import inf
from typing import Any

from ..core.checks import check_count, check_name, check_number, check_text, is_list_like, short
from .missing import CHOICES
from .names import PER_QUESTION, PER_SAMPLE
from .words import as_outcome, number_in


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

    Arguments that are no attributes of `ReadingOptions` are columns by their role. If one is None,
    it is found by a usual name; "finish" and the roles in `PER_SAMPLE` are left out of `columns`.
    """
    names = {field.name for field in fields(ReadingOptions)} & options.keys()
    known = {name: x for name in names if (x := options.pop(name)) is not None}
    for name, check in _CHECKS.items():
        if name in known:
            known[name] = check(name, known[name])
    if known.get("correct_values") and "correct_at_least" in known:
        raise ValueError("correct_values and correct_at_least exclude each other.")
    columns = {
        role: name if name is None else _checked_column(role, name, bool(known.get("has_labels")))
        for role, name in options.items()
        if name is not None or role not in (*PER_SAMPLE, "finish")
    }
    return ReadingOptions(columns, **known)


def _checked_column(role: str, name: Any, has_labels: bool) -> Any:
    """Return the column of a role, or several: a tuple of samples, or counts by outcome."""
    if role == "references" or (role == "counts" and isinstance(name, Mapping)):
        return name
    if role not in ("counts", "predictions", "outcomes"):
        return check_text(role, name)
    names = _names(role, name)
    if len(names) == 1:
        return names[0]
    return _columns_by_outcome(names, has_labels) if role == "counts" else names


def _columns_by_outcome(names: Sequence[str], has_labels: bool) -> dict[Any, str]:
    """Return the columns of counts by outcome, sorted by outcome unless these are labels.

    The outcomes are the names themselves if these are labels, or numbers or words of outcomes, such
    as right and wrong. If no name is, they are the categories 0, 1, .., in the order of the names.
    A ValueError is raised if two are equal or, without labels, if only some are outcomes.
    """
    outcomes: list[Any] = [number_in(name) for name in names]
    if not has_labels:
        outcomes = [int(x) if isinstance(x, bool) else x for x in map(as_outcome, names)]
        are_numbers = [isinstance(outcome, (int, float)) for outcome in outcomes]
        if not any(are_numbers):
            outcomes = list(range(len(names)))
        elif not all(are_numbers):
            raise ValueError(
                f"counts names the column {names[are_numbers.index(False)]}, which is no outcome "
                f"as the others are: name a column for each outcome."
            )
    if len({*outcomes}) < len(names) or len({*names}) < len(names):
        raise ValueError(f"counts names two columns of the same outcome: {', '.join(names)}.")
    pairs = zip(outcomes, names, strict=True)
    return dict(pairs if has_labels else sorted(pairs))


def _names(role: str, names: Any) -> tuple[str, ...]:
    """Return one name or several as a tuple of texts; a TypeError for other values."""
    return tuple(check_text(role, x) for x in _listed(role, names))


def _listed(role: str, values: Any) -> tuple[Any, ...]:
    """Return a text, or the entries of a collection, as a tuple; or raise a TypeError."""
    if not isinstance(values, (str, Set)) and not is_list_like(values):
        raise TypeError(f"{role} is {short(values)}: give a text, or a list.")
    return (values,) if isinstance(values, str) else tuple(values)


def _conditions(role: str, where: Any) -> dict[str, list[Any]]:
    """Return the allowed entries of each column in `where`: a dict, or (column, entry) pairs.

    An entry may be a list of allowed ones, and pairs may repeat a column. Errors start with `role`.
    """
    pairs = list(where.items()) if isinstance(where, Mapping) else where
    if not is_list_like(pairs) or not all(isinstance(x, tuple) and len(x) == 2 for x in pairs):
        raise TypeError(f"{role} is {short(where)}: give a dict, {{column: entry}}.")
    conditions: dict[str, list[Any]] = {}
    for name, entry in pairs:
        listed = entry if isinstance(entry, list) else [entry]
        conditions.setdefault(check_text(role, name), []).extend(listed)
    return conditions


_CHECKS: dict[str, Any] = {
    "questions": _names,
    "where": _conditions,
    "pool": _names,
    "missing": lambda role, choice: check_name(role, choice, CHOICES),
    "correct_values": _listed,
    "correct_at_least": lambda role, x: check_number(role, x, "give a number", -inf, inf),
    "group_size": check_count,
    "records": check_text,
    "unfinished": lambda role, choice: check_name(role, choice, ("incorrect",)),
}
"""The functions that check an option, given its name and value, by the name of the option."""
