"""Hold the rows of a source by column, choose some of them, and join those of several files."""

from __future__ import annotations

import itertools
import json
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.checks import FROM_0, Index, InputError, did_you_mean, short
from .names import shown_name
from .words import entry_text, first_entries, word

if TYPE_CHECKING:
    from .layouts import Layout

Columns = dict[str, Sequence[Any]]
"""The entries of each column by its name, one per row."""

Roles = dict[str, str | tuple[str, ...]]
"""The column of each role, or several columns of which the caller chooses one."""

ColumnsByRole = Mapping[str, Any]
"""The name of the column of each role. The role `counts` may have a dict of them by outcome."""

FILE = "file (index)"
"""The name of the column that has the index of the file of each row, if there are several."""

FILES = "files"
"""The name by which a caller means the file of each row, as in `pool`, `groups` and `questions`."""

ROW = "row (index)"
"""The name of the column that has the index of the source's row of each sample.

It is there if a row of the source had several samples.
"""

_LISTED_COLUMNS = 40  # in a message


class Way(NamedTuple):
    """One answer to what an error asks: arguments of `read`, and what they mean.

    Attributes:
        arguments: values by the parameter of `read`: the name of a column, or a tuple of several;
            of `where`, a dict of columns and entries; None for a column that the message lists.
        meaning: what the answer means for the samples, unless `_MEANINGS` has it; or "".
    """

    arguments: Mapping[str, Any]
    meaning: str = ""


_MEANINGS = {
    "predictions": "samples to be checked",
    "references": "samples to be checked",
    "predictions references": "samples to be checked",
    "outcomes": "already graded",
    "correct_at_least": "the least score of a correct sample",
    "n correct": "each row counts the samples of a question",
    "counts": "the number of samples in each outcome",
    "records": "the rows of one object",
    "where": "only these samples",
    "questions": "what identifies a question",
    "pool": "they are samples of one question",
    "finish": "why responses ended",
}
"""What a way means for the samples, by its parameters."""


class SelectionError(InputError):
    """A source can only be read if the caller names one of its columns, or another choice.

    The message states the problem without the ways to settle it, because how an argument is written
    depends on the caller: the command adds its flags.

    Attributes:
        ways: the alternatives that settle it. A text is the name of a role, for which the caller
            chooses one of the columns that the message lists.
    """

    def __init__(self, problem: str | Sequence[str | Index], ways: Iterable[Way | str] = ()):
        super().__init__(*([problem] if isinstance(problem, str) else problem))
        self.ways = [Way({x: None}) if isinstance(x, str) else x for x in ways]

    def remedy(self, verb: str, typed: Callable[[Way], Sequence[str]]) -> str:
        """Return a sentence that offers the ways, such as " Add --x (..), or --y (..)."; or "".

        The verb begins it, and `typed` returns the arguments of a way as the caller types them.
        """
        offers: dict[str, None] = {}
        for way in self.ways:
            roles = " ".join(role.removesuffix("_b") for role in way.arguments)  # of a second file
            meaning = way.meaning or _MEANINGS.get(roles)
            offers[" ".join([*typed(way), *([f"({meaning})"] if meaning else [])])] = None
        return f" {verb} {', or '.join(offers)}." if offers else ""

    @property
    def roles(self) -> set[str]:
        """The parameters of `read` that settle it."""
        return {role for way in self.ways for role in way.arguments}

    @property
    def is_open(self) -> bool:
        """Return whether the caller has to choose one of the columns that the message lists."""
        return all(value is None for way in self.ways for value in way.arguments.values())

    def __reduce__(self) -> Any:
        """Keep the ways when the error is pickled."""
        return type(self), (self.args, self.ways)


def class_names(schema: Any) -> dict[str, list[str]]:
    """Return the class names of each column of an Arrow schema that `datasets` wrote as indices."""
    features = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))
    known = features.get("info", {}).get("features", {}).items()
    return {x: y["names"] for x, y in known if isinstance(y, dict) and "names" in y}


@dataclass(frozen=True)
class Table:
    """The rows of a source by column, and what is known about them.

    Attributes:
        columns: entries by column name, one per row. A row is a question with a list of samples,
            or one sample.
        title: the name of the source in messages.
        partial: the columns that some rows lack, which is other than a null entry.
        is_object: whether the row is one object of JSON, which may be a table by itself.
        is_line: whether the row is the only line of JSON Lines: a question with lists of samples.
        layout: the layout of the tool that wrote the source, or None.
        origin: the facts that the source states: {"harness": .., "model": .., "task": ..}.
        files: the names of the files, if there are several; `FILE` has the index of each row.
        is_csv: whether an empty cell may stand for a missing entry.
        has_decimal_commas: whether 0,5 is a number: semicolons or tabs separate the cells.
        is_matrix: whether the source has only a row of outcomes for each question.
        numbers: the number of each row in its file, or None if all rows of one file are there.
    """

    columns: Columns
    title: str = "The source"
    partial: frozenset[str] = frozenset()
    is_object: bool = False
    is_line: bool = False
    layout: Layout | None = None
    origin: dict[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    is_csv: bool = False
    has_decimal_commas: bool = False
    is_matrix: bool = False
    numbers: Sequence[int] | None = None

    @property
    def size(self) -> int:
        """Number of rows."""
        return max(map(len, self.columns.values()), default=0)

    def with_columns(self, columns: Columns) -> Table:
        """Return the table with other columns."""
        return replace(self, columns=columns)

    def taken(self, rows: Sequence[int]) -> Table:
        """Return the table of the rows with these indices, in this order."""
        columns: Columns = {x: [cells[row] for row in rows] for x, cells in self.columns.items()}
        numbers = self.row_numbers()
        return replace(self, columns=columns, numbers=[numbers[row] for row in rows])

    @cached_property
    def roles(self) -> Roles:
        """The columns by role, as the layout names them; {} without a layout."""
        return self.layout.roles_of(self.columns) if self.layout else {}

    def row_numbers(self) -> Sequence[int]:
        """Return the number of each row in its file, from 0."""
        return range(self.size) if self.numbers is None else self.numbers

    def row_place(self, row: int) -> tuple[str | Index, ...]:
        """Return the parts of a message that name a row by its file and its number there."""
        title = self.files[self.columns[FILE][row]] if FILE in self.columns else self.title
        return title, ", row ", Index(self.row_numbers()[row]), FROM_0

    def places_of_two(self, first: int, second: int) -> list[str | Index]:
        """Return message parts such as "a.csv, rows 1 and 4" or "a.csv, row 1: two samples"."""
        one, other = self.row_place(first), self.row_place(second)
        if one == other:
            return [*one, ": two samples"]
        if FILE in self.columns:
            return [*one, " and ", *other]
        return [f"{self.title}, rows ", one[2], " and ", other[2], FROM_0]


def pairs_of(names: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return a (role, column) pair for each column of a role: a name, a list or a dict of names."""
    pairs = []
    for role, columns in names.items():
        listed = list(columns.values()) if isinstance(columns, Mapping) else columns
        pairs += [(role, x) for x in ([listed] if isinstance(listed, str) else listed)]
    return pairs


def table_of_rows(rows: Sequence[Mapping[str, Any]], title: str = "The source") -> Table:
    """Return the table of rows given as dicts, with None where a row lacks a key."""
    counts = Counter(name for row in rows for name in row)
    columns: Columns = {str(name): [row.get(name) for row in rows] for name in counts}
    partial = frozenset(str(name) for name, n in counts.items() if n < len(rows))
    return Table(columns, title, partial)


def table_of_columns(columns: Mapping[Any, Any], title: str = "The source", **known: Any) -> Table:
    """Return the table of columns by name, with `known` attributes, if they are equally long."""
    sizes = {name: len(cells) for name, cells in columns.items()}
    for name, size in sizes.items():
        first, expected = next(iter(sizes.items()))
        if size != expected:
            raise ValueError(
                f"{title} has columns with different numbers of rows: {short(first)} has "
                f"{expected}, and {short(name)} has {size}."
            )
    return Table({str(name): cells for name, cells in columns.items()}, title, **known)


def table_of_arrow(source: Any, title: str = "The source") -> Table:
    """Return the `Table` of an Arrow table. Class indices become names, and negative ones None."""
    names, classes = source.column_names, class_names(source.schema)
    if twice := [name for name, number in Counter(names).items() if number > 1]:
        raise ValueError(f"Two columns have the same name, {short(twice[0])}.")
    columns: Columns = {name: source[name].to_pylist() for name in names}
    for name in classes.keys() & columns.keys():
        known = classes[name]
        columns[name] = [None if x is None or x < 0 else known[x] for x in columns[name]]
    return Table(columns, title)


def rows_of(table: Table) -> list[dict[str, Any]]:
    """Return the rows of a table as a list of dicts."""
    names = list(table.columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*table.columns.values(), strict=True)]


def column_at(columns: Mapping[str, Sequence[Any]], path: str) -> Sequence[Any] | None:
    """Return the column with the name `path`, or the fields at this dotted path, one per row. A
    path through a list gives the list of the fields of its entries: `response.choices.text` is a
    list of texts if `choices` is a list. None if there is no such column, and no row has such a
    field."""
    if path in columns:
        return columns[path]
    keys = path.split(".")
    for i in range(len(keys) - 1, 0, -1):
        name = ".".join(keys[:i])
        if name in columns:
            fields = [field_at(cell, keys[i:]) for cell in columns[name]]
            return fields if _has_value(fields) else None
    return None


def field_at(cell: Any, keys: Sequence[str]) -> Any:
    """Return the field of nested dicts at a path of keys, or None; of a list, a list of fields."""
    for i, key in enumerate(keys):
        if isinstance(cell, list):
            return [field_at(entry, keys[i:]) for entry in cell]
        cell = cell.get(key) if isinstance(cell, dict) else None
    return cell


def _has_value(field: Any) -> bool:
    """Return whether a field, or any entry of nested lists of fields, is not None."""
    return any(map(_has_value, field)) if isinstance(field, list) else field is not None


def nested_columns(table: Table) -> Columns:
    """Return the columns; a column of dicts is replaced by a column for each field, named `a.b`."""
    columns: Columns = {}
    waiting = [x for x in reversed(table.columns.items()) if x[0] not in (FILE, ROW)]
    while waiting:
        name, cells = waiting.pop()
        fields = dict.fromkeys(x for cell in cells if isinstance(cell, dict) for x in cell)
        for key in reversed(fields):
            inner = [x.get(key) if isinstance(x, dict) else None for x in cells]
            waiting.append((f"{name}.{key}", inner))
        if not fields:
            columns.setdefault(name, cells)
    return columns


def list_columns(columns: Iterable[str]) -> str:
    """Return the sentence of an error message that lists the columns, at most 40 of them."""
    names = [shown_name(name) for name in columns if name not in (FILE, ROW)]
    if len(names) > _LISTED_COLUMNS:
        names[_LISTED_COLUMNS:] = [f".., {len(names):,} in all"]
    return f"The columns are {', '.join(names)}."


# --- Rows that are chosen ---------------------------------------------------------------------


def with_fields(table: Table, names: Iterable[tuple[str, str]]) -> Table:
    """Return the table with an additional column for each dotted path in pairs of (role, path)."""
    columns = dict(table.columns)
    for role, name in names:
        column = column_at(columns, name)
        if column is None:
            raise SelectionError(
                f"There is no column {name!r}.{did_you_mean(name, table.columns)} "
                f"{list_columns(table.columns)}",
                [role],
            )
        columns[name] = column
    return table.with_columns(columns)


def rows_where(table: Table, where: Mapping[str, Sequence[Any]]) -> Table:
    """Return the table of the rows that have, in each column of `where`, one of its entries.
    Entries are compared as text, and without regard to case if no row has one otherwise. A
    ValueError is raised if no row is left."""
    for name, entries in where.items():
        cells = table.columns[name]
        rows: list[int] = []
        for text_of in (entry_text, word):
            texts = {*map(text_of, entries)}
            rows = rows or [row for row, cell in enumerate(cells) if text_of(cell) in texts]
        if not rows:
            known = list(dict.fromkeys(map(entry_text, cells)))
            wanted = " or ".join(map(short, entries))
            raise ValueError(
                f"No row has {wanted} in {shown_name(name)}. Its entries are "
                f"{first_entries(known)}."
            )
        table = table.taken(rows)
    return table


# --- Several files ----------------------------------------------------------------------------


def join_tables(tables: Sequence[Table]) -> Table:
    """Return the rows of several files as one table, with the columns that all of them have. Files
    of tools that write repeated runs have all columns of any of them, and None in the rows of a
    file that lacks one. A ValueError is raised if two files have no column in common, or come from
    different tools or models."""
    first, files = tables[0], tuple(table.title for table in tables)
    for table in tables[1:]:
        _refuse_other_run(first, table)
    columns: Columns = {}
    for name in _names_in_all(tables):
        parts = (table.columns.get(name) or [None] * table.size for table in tables)
        columns[name] = list(itertools.chain.from_iterable(parts))
    columns[FILE] = [index for index, table in enumerate(tables) for _ in range(table.size)]
    return replace(
        first,
        columns=columns,
        title=title_of_files(files),
        origin=_joined_origin(tables),
        files=files,
        is_csv=any(table.is_csv for table in tables),
        has_decimal_commas=all(table.has_decimal_commas for table in tables),
        numbers=[number for table in tables for number in table.row_numbers()],
    )


def _joined_origin(tables: Sequence[Table]) -> dict[str, str]:
    """Return the facts that all tables state, with commas between different entries."""
    return {
        fact: ", ".join(dict.fromkeys(table.origin[fact] for table in tables))
        for fact in tables[0].origin
        if all(fact in table.origin for table in tables)
    }


def _refuse_other_run(first: Table, table: Table) -> None:
    """Raise a ValueError if tools or models differ, or if tables without a tool share no column."""
    both = f"{first.title} and {table.title}"
    if first.layout is None and first.columns.keys().isdisjoint(table.columns):
        raise ValueError(f"{both} have no column in common: leave out the one without samples.")
    for fact in ("harness", "model"):
        one, other = (x.origin.get(fact) or "unknown" for x in (first, table))
        if one != other:
            raise ValueError(
                f"{both} are not parts of one run: their {fact} is {one} and {other}. Compare "
                f"them, or score each by itself."
            )


def _names_in_all(tables: Sequence[Table]) -> list[str]:
    """Return the columns of tables that are read: those that all have, or all columns of runs. A
    run that broke off has fewer columns. Warn of columns that some tables lack if no tool wrote
    them."""
    layout = tables[0].layout
    names = list(dict.fromkeys(name for table in tables for name in table.columns))
    if layout is not None and layout.files_are_runs:
        return names
    titles = {x: [table.title for table in tables if x not in table.columns] for x in names}
    lacking = [f"{name} (not in {files[0]})" for name, files in titles.items() if files]
    if lacking and layout is None:
        shown = ", ".join(lacking)
        warnings.warn(f"Only columns that all files have are read, without {shown}.", stacklevel=3)
    return [name for name in names if not titles[name]]


def names_of_files(table: Table) -> Columns:
    """Return the column `FILES`, the name of the file of each row; {} if the table has one file.
    Names are without their suffixes, or with their paths if two are equal."""
    if FILE not in table.columns:
        return {}
    names = [Path(file).name.split(".")[0] for file in table.files]
    if len({*names}) < len(names):
        names = list(table.files)
    return {FILES: [names[index] for index in table.columns[FILE]]}


def title_of_files(names: Sequence[str]) -> str:
    """Return a title for several files in messages: one or two names, or the first and a number."""
    return " and ".join(names) if len(names) < 3 else f"{names[0]} and {len(names) - 1} more"
