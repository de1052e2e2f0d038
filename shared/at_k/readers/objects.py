"""Find the table in one object of JSON: its columns, its rows, or a row for each of its keys.

The keys are names of columns if one of them is a usual name, or is named by the caller. Otherwise
they are ids of questions. Keys that may be models or samples are an error.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..core.checks import short
from . import names as usual
from .formats import kind_of_rows
from .grids import sample_columns
from .names import columns_named, is_verdict, plain_name
from .reading import ReadingOptions
from .table import SelectionError, Table, Way, pairs_of, table_of_columns, table_of_rows
from .words import first_entries, flat, is_list_of

Record = dict[str, Any]
"""An object of JSON, or a row."""

_MOST_SAMPLES = 16  # that a message names
_COLUMN_NAMES = {x for names in usual.COLUMN_NAMES.values() for x in names if len(x) > 1}


def table_in_object(table: Table, options: ReadingOptions) -> Table:
    """Return the table that the only row of `table` holds, or `table` if it is just a row."""
    title = table.title
    record = {name: cells[0] for name, cells in table.columns.items()}
    if rows := _rows_of_library(record, title):
        return table_of_rows(rows, title)
    counts = record.get("predictions")
    if isinstance(counts, dict) and counts.keys() == {"n", "correct"}:  # a run that `read` returned
        columns = {name: x for name, x in record.items() if name != "predictions"} | counts
        return table_of_columns(columns, title)
    if _has_column_names(record, options):
        held = _columns_in(record, table.is_line)
        return table if held is None else table_of_columns(held, title)
    if not (rows := _rows_by_key(record, title, options)):
        return table
    # The keys may be models, which only a reader of the first line can tell.
    origin = {"keys": f"object with the keys {first_entries(list(record), 4)}"}
    return replace(table_of_rows(rows, title), origin=origin)


def _rows_of_library(record: Record, title: str) -> list[Record]:
    """Return the rows of an object in a form that libraries and servers write, or []."""
    if "schema" in record and is_list_of(record.get("data"), dict):  # pandas
        return record["data"]
    if "features" in record and is_list_of(record.get("rows"), dict):  # the server of the Hub
        return [x.get("row", x) for x in record["rows"]]
    if all(is_list_of(x, list) for x in record.values()):  # bigcode's harness: [number, row]
        entries = list(flat(record.values()))
        if all(list(map(type, entry)) == [int, dict] for entry in entries):
            return [row for _, row in entries]
    return _rows_below_names(record.get("columns"), record.get("data"), title)


def _rows_below_names(names: Any, data: Any, title: str) -> list[Record]:
    """Return the rows of `data`, lists of cells below `names`, as MLflow, W&B and pandas write
    them; [] for other values."""
    if not (isinstance(names, list) and is_list_of(data, list)):
        return []
    if any(len(cells) != len(names) for cells in data):
        return []
    if len({*map(str, names)}) < len(names):
        raise ValueError(f"{title}: two columns have the same name.")
    return [dict(zip(map(str, names), cells, strict=True)) for cells in data]


# --- Keys that are names of columns -----------------------------------------------------------


def _has_column_names(keys: Iterable[Any], options: ReadingOptions) -> bool:
    """Return whether a key is a usual name of a column, or a column that the caller names."""
    named = {role: x for role, x in options.named().items() if role != "references"}
    known = {name for _, name in pairs_of(named)} | {*options.questions}
    return any(plain_name(key) in _COLUMN_NAMES or key in known for key in map(str, keys))


def _columns_in(record: Record, is_line: bool) -> Record | None:
    """Return the columns of an object whose keys name them, or None if it is a single row. The
    values are lists, or objects with the same keys, such as {"correct": {"0": 1, "1": 0}}. The only
    line of JSON Lines (`is_line`) is a single row with lists of samples, unless its first value is
    a list of lists, or it has the key n."""
    values = list(record.values())
    if is_list_of(values, dict) and len({frozenset(x) for x in values}) == 1:
        return {name: [x[row] for row in values[0]] for name, x in record.items()}
    is_list_of_rows = len(values) == 1 and is_list_of(values[0], dict)
    if is_list_of_rows or not is_list_of(values, list):
        return None
    is_row = is_line and "n" not in record and not is_list_of(values[0], list)
    return None if is_row else record


# --- Keys that are ids ------------------------------------------------------------------------


def _rows_by_key(record: Record, title: str, options: ReadingOptions) -> list[Record]:
    """Return the rows of an object whose keys are ids or parts of a run; [] for other objects. Each
    value is a row, a list of rows, or the samples of a question: a list, an outcome or a text."""
    known = [x for x in record.values() if x is not None]
    are_rows = is_list_of(known, dict)
    are_facts = are_rows and not set.intersection(*map(set, known))  # of a run, beside its rows
    if are_facts or _is_name_of_rows(known):
        return []
    if len(known) < len(record) and (are_rows or is_list_of(known, list)):
        kind_of_rows([*record.values()], title)  # raises an error that names the null
    _refuse_keys_of_samples(record, title, options)
    if are_rows or (known and all(is_list_of(x, dict) for x in known)):
        return _rows_with_keys(record)
    return _rows_of_samples(record, title)


def _is_name_of_rows(values: Sequence[Any]) -> bool:
    """Return whether an object has one key, such as "results", with an object or list of rows. A
    list of rows without ids may have the samples of one question only if it has one row."""
    if len(values) != 1:
        return False
    if isinstance(values[0], dict):
        return is_list_of([*values[0].values()], dict)
    return is_list_of(values[0], dict) and len(values[0]) > 1 and not _have_ids(values[0])


def _rows_with_keys(record: Mapping[str, Record | list[Record]]) -> list[Record]:
    """Return the row or rows of each key, with the key in a column `id`. If the rows have ids, the
    column is `key`, or `object.key` if they have that too. It is left out if the keys are the index
    of a data frame."""
    rows_of = {key: rows if isinstance(rows, list) else [rows] for key, rows in record.items()}
    rows, column = list(itertools.chain(*rows_of.values())), "id"
    if _have_ids(rows):
        if list(rows_of) == list(map(str, range(len(rows)))):
            return rows
        names = {plain_name(str(name)) for row in rows for name in row}
        column = "object.key" if "key" in names else "key"
    return [{column: key, **row} for key, own_rows in rows_of.items() for row in own_rows]


def _have_ids(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a row has a column with a usual name for an id."""
    return any(columns_named(map(str, row), (*usual.IDS, *usual.INDICES)) for row in rows)


def _rows_of_samples(record: Record, title: str) -> list[Record]:
    """Return a row for each key; [] if its values are not all lists, all texts, or all outcomes."""
    values = list(record.values())
    kinds, inner = ({*map(type, x)} - {type(None)} for x in (values, flat(values)))
    are_lists, are_texts = kinds == {list}, kinds == {str}
    if inner & {dict, str} and not (are_lists or are_texts):
        return []
    _refuse_fractions(record, title)
    if not are_lists and len(values) < 2:
        return []
    if not (are_lists or are_texts) and any(x not in (0, 1, None) for x in values):
        return []
    role = "samples" if str in inner else "outcomes"
    return [{"id": key, role: value} for key, value in record.items()]


def _refuse_keys_of_samples(record: Record, title: str, options: ReadingOptions) -> None:
    """Raise a SelectionError if the keys of an object may be models or samples, and no questions.
    They may be if they number samples, as sample_1 does, or if their values have samples by
    question: lists of lists, which may also be the tests of samples, or objects of outcomes."""
    values = list(record.values())
    are_numbered = bool(sample_columns(record)) and not next(iter(record)).isdigit()
    has_lists = all(is_list_of(x, list) for x in values)
    are_objects = is_list_of(values, dict)
    has_objects = are_objects and _have_samples(values, options)
    if not (are_numbered or has_lists or has_objects):
        return
    ways = []
    if has_lists or has_objects:
        ways.append(Way({"records": next(iter(record))}, "only these samples"))
    inner = dict.fromkeys(map(str, itertools.chain(*values))) if has_objects else {}
    has_outcomes = has_objects and not any(isinstance(y, list) for x in values for y in x.values())
    if has_outcomes and len(values) > 1 and len(inner) <= _MOST_SAMPLES:
        ways.append(Way({"outcomes": tuple(inner)}, "each key is a question"))
    raise SelectionError(
        f"{title} has {'an object' if has_objects else 'a list'} for each of "
        f"{first_entries(list(record), 4)}: these can be questions, models or samples. Write a "
        f'row for each question, or a list of them with "id" and "outcomes".',
        ways,
    )


def _have_samples(objects: Sequence[Record], options: ReadingOptions) -> bool:
    """Return whether objects hold samples by question: outcomes or lists alone, and no key is the
    name of a column."""
    names = list(map(str, itertools.chain(*objects)))
    entries = itertools.chain(*(x.values() for x in objects))
    are_columns = any(map(is_verdict, names)) or _has_column_names(names, options)
    return not are_columns and not any(isinstance(x, (dict, str)) for x in entries)


def _refuse_fractions(record: Record, title: str) -> None:
    """Raise a ValueError if a value of an object, or an entry of its lists, is a fraction."""
    floats = (x for x in flat(record.values()) if isinstance(x, float) and math.isfinite(x))
    fraction = next((x for x in floats if not x.is_integer()), None)
    if fraction is not None:
        raise ValueError(
            f"{title} has the number {fraction} for one of its keys, such as "
            f"{short(next(iter(record)))}: fractions are a summary of scores, and not the outcomes "
            f"of samples. For rewards, write a row for each question, with the keys id and rewards."
        )
