"""Count the equal rows of large files of graded outcomes, instead of reading all of them.

Arrow reads the columns that matter. The distinct rows, with how often each occurs, are a table of
counts. Files are read whole instead if single samples are needed, or if something is unclear, such
as a column that the first rows lack. Settings and repeated rows are looked for in some questions.
"""

from __future__ import annotations

import mmap
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.checks import Index
from . import names as usual
from .formats import parse_file
from .layouts import recognised
from .names import columns_named, is_verdict, last_part, plain_name, sample_numbers
from .opening import is_remote
from .reading import ReadingOptions
from .roles import choose_columns, column_per_question, columns_of_role, question_columns
from .settings import are_continued, are_parts
from .table import (
    FILE,
    SelectionError,
    Table,
    class_names,
    nested_columns,
    rows_where,
    table_of_columns,
    title_of_files,
)

if TYPE_CHECKING:
    from .run import Run

LEAST_BYTES = 1 << 24
"""Smaller files are read whole. A row takes less in Parquet: see `LEAST_ROWS`."""
LEAST_ROWS = 1 << 20
_MOST_KEPT = 1 << 22  # distinct rows
_HEAD, _HEAD_BYTES = 1 << 14, 1 << 21  # rows, or bytes, that show what the columns hold
_LOOKED_AT = 1 << 15  # rows of questions, in which settings and repeated rows are looked for
_WIDE = 64  # characters
_BATCH, _BATCH_BYTES = 1 << 20, 1 << 22  # rows, or bytes, that are read at once
_CELL = rb'(?:"[^"\r\n\0]*"|[^",\r\n\0]*)'
_UNCLEAR = {
    ".csv": rb"(?m)^(?!%b(?:,%b)*\r?$)" % (_CELL, _CELL),
    **dict.fromkeys((".jsonl", ".ndjson"), rb"}[ \t\r]*{"),
    ".parquet": b"",
}
"""What Arrow may read in other ways: a line with a quote inside of a cell, or with one that is not
closed; a second object in a line. Otherwise a line is cells, some of them in quotes."""
_MOST_GAPS = 32  # kinds of questions whose sample numbers have gaps, which are looked at
_FIRST, _N, _HASHES = "first (row)", "n (rows)", "sum (hashes of numbers)"
_LEAST, _GREATEST = "least (number)", "greatest (number)"
_AGGREGATIONS = {_FIRST: "min", _N: "sum", _LEAST: "min", _GREATEST: "max", _HASHES: "sum"}
"""What is known of equal rows, and the aggregation of Arrow that merges it: the first of them, how
many they are, and the least, the greatest and the hashes of their sample numbers."""
_PROBLEMS = (ValueError, TypeError, KeyError, OSError, OverflowError, NotImplementedError)


class _ReadWholeError(ValueError):
    """The files have to be read whole."""


class _Choice(NamedTuple):
    """What is read of large files.

    Attributes:
        names: the files.
        head: the first rows of the first file.
        question, outcome: the columns of the ids and of the outcomes.
        distinct: the columns by which rows are distinguished: these two, and others such as groups.
        number: the column that numbers the samples of a question, or "".
    """

    names: Sequence[str]
    head: Table
    question: str
    outcome: str
    distinct: list[str]
    number: str


def counted_run(
    names: Sequence[str],
    reading: ReadingOptions,
    read_table: Callable[[Table, ReadingOptions], Run],
) -> Run | None:
    """Return the run in large files by counting equal rows, or None if they must be read whole.
    `read_table` reads a table. Its SelectionErrors are passed on, except those that name a row."""
    try:
        if not (_can_be_counted(names, reading) and _are_large(names)):
            return None
        choice = _choose_columns(names, reading)
        rows = _distinct_rows(choice, reading)
        some = _rows_of_some(rows, choice)
    except _PROBLEMS:  # reading whole says what is wrong, with its row
        return None
    try:
        run = _run_of_counts(rows, choice, reading, read_table)
        if some is not None:
            read_table(some, reading)  # raises an error for mixed settings or repeated rows
        return run
    except SelectionError as error:
        if not any(isinstance(part, Index) for part in error.args):
            raise
        return None  # The rows that it names are no rows of the files.
    except _PROBLEMS:
        return None


def _run_of_counts(
    rows: Any,
    choice: _Choice,
    reading: ReadingOptions,
    read_table: Callable[[Table, ReadingOptions], Run],
) -> Run:
    """Return the run in a table of `_distinct_rows`; a _ReadWholeError if an outcome is a text."""
    table = _table_with_files(rows.select([*choice.distinct, FILE, _N]), choice)
    named = {**reading.columns, "outcomes": choice.outcome, "counts": _N}
    run = read_table(table, replace(reading, columns=named))
    if any(isinstance(x, str) for row in run["predictions"]["answers"] for x in row):
        raise _ReadWholeError
    # The files have no column `_N`.
    run.columns = {role: name for role, name in run.columns.items() if role != "counts"}
    return run


def _table_with_files(rows: Any, choice: _Choice) -> Table:
    """Return the table of rows of Arrow, whose column `FILE` has the index of the file."""
    several = len(choice.names) > 1
    columns = {x: y for x, y in rows.to_pydict().items() if several or x != FILE}
    files = tuple(choice.names) if several else ()
    return Table(columns, title_of_files(choice.names), files=files, is_csv=choice.head.is_csv)


# --- Columns that are read --------------------------------------------------------------------


def _can_be_counted(names: Sequence[str], reading: ReadingOptions) -> bool:
    """Return whether all files are local and of one format, and no option needs single samples."""
    needs_samples = (
        any((reading.group_size, reading.records, reading.has_labels, reading.unfinished))
        or any((reading.checker, reading.in_order))
        or reading.pool not in ((), ("files",))
        or len(reading.questions) > 1
        or any(len(entries) > 1 for entries in reading.where.values())
        or reading.named().keys() - {"outcomes", *usual.PER_QUESTION}
    )
    formats = {Path(name).suffix.lower() for name in names}
    is_format = len(formats) == 1 and formats <= {*_UNCLEAR}
    return not needs_samples and is_format and not any(map(is_remote, names))


def _are_large(names: Sequence[str]) -> bool:
    """Return whether the files together reach `LEAST_ROWS` (Parquet) or else `LEAST_BYTES`."""
    import pyarrow.parquet as pq

    if names[0].lower().endswith(".parquet"):
        return sum(pq.read_metadata(name).num_rows for name in names) >= LEAST_ROWS
    return sum(Path(name).stat().st_size for name in names) >= LEAST_BYTES


def _first_rows(name: str) -> Table:
    """Return the table of the first rows of a file. A _ReadWholeError is raised for Parquet without
    rows, or with class labels that `datasets` wrote as indices."""
    if not name.lower().endswith(".parquet"):
        with open(name, "rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # reading the whole file warns again
            lines, newline, _ = file.read(_HEAD_BYTES).rpartition(b"\n")
            return parse_file(name, lines + newline, Path(name).suffix.lower())
    import pyarrow.parquet as pq

    file = pq.ParquetFile(name)
    batch = next(file.iter_batches(_HEAD, use_threads=False), None)
    if batch is None or class_names(file.schema_arrow):
        raise _ReadWholeError
    return table_of_columns(batch.to_pydict(), name)


def _choose_columns(names: Sequence[str], reading: ReadingOptions) -> _Choice:
    """Return the columns to read, by the first rows of the first file. A _ReadWholeError is raised
    if these do not tell: a tool wrote the file, a named column is missing, samples are no graded
    outcomes, or several columns may have the ids, the outcomes or the sample numbers."""
    head, named = _first_rows(names[0]), reading.named()
    columns = head.columns
    if recognised(head) or not {*named.values(), *reading.questions, *reading.where} <= {*columns}:
        raise _ReadWholeError
    chosen = choose_columns(head, named, reading)
    questions = reading.questions or question_columns(head)
    if chosen.keys() != {"outcomes"} or len(questions) != 1 or columns_of_role(head, "n"):
        raise _ReadWholeError
    question, outcome = questions[0], chosen["outcomes"]
    distinct = list(dict.fromkeys((question, outcome, *_columns_beside(head, reading))))
    outcomes = [] if "outcomes" in named else list(filter(is_verdict, columns))
    ids = [] if reading.questions else columns_named(columns, usual.IDS)
    numbers = sample_numbers(columns, {question, outcome, *named.values()})
    # A column such as `run` numbers samples too, unless another one does.
    numbers = [x for x in numbers if plain_name(x) not in usual.SHARED_NUMBERS] or numbers
    if max(len(outcomes), len(ids), len(numbers)) > 1 or outcome == question:
        raise _ReadWholeError
    if any(map(_is_of_sample, nested_columns(head).keys() - columns.keys())):
        raise _ReadWholeError
    return _Choice(names, head, question, outcome, distinct, "".join(numbers))


def _is_of_sample(name: str) -> bool:
    """Return whether a column says by its name that a sample failed, or which one it is."""
    is_error = not {*plain_name(name).split(".")}.isdisjoint(usual.ERRORS)
    return is_error or last_part(name) in (*usual.STATUSES, *usual.SAMPLE_NUMBERS)


def _columns_beside(head: Table, reading: ReadingOptions) -> list[str]:
    """Return the columns that are read beside those of questions and outcomes, such as settings."""
    named = reading.named()
    roles = reading.roles_per_question
    fixed = {column_per_question(head, role, named.get(role)) for role in roles}
    fixed = fixed.union(reading.where, usual.SETTINGS, usual.PARTS, usual.OF_QUESTION)
    fixed = fixed.union(usual.STATUSES, usual.IDS, usual.INDICES)
    errors = {*usual.ERRORS}
    return [
        name
        for name in head.columns
        if {name, last_part(name)} & fixed or {*plain_name(name).split(".")} & errors
    ]


# --- Distinct rows, by Arrow ------------------------------------------------------------------


def _batches(name: str, head: Table, columns: Sequence[str]) -> Iterator[Any]:
    """Yield some columns of a file as tables of Arrow, in the order of its rows. Cells of CSV are
    texts, and those of JSON Lines have the types of the first rows, `head`. Raises a ValueError for
    other types or columns, and at the end if Arrow may misread the file."""
    import pyarrow as pa
    import pyarrow.csv as pc
    import pyarrow.json as pj
    import pyarrow.parquet as pq

    # Without threads: a process that ends soon after they start is aborted by Arrow.
    options: dict[str, Any] = {"block_size": _BATCH_BYTES, "use_threads": False}
    if name.lower().endswith(".parquet"):
        file = pq.ParquetFile(name)
        names = file.schema_arrow.names
        batches: Any = file.iter_batches(_BATCH, columns=[*columns], use_threads=False)
    elif head.is_csv:
        types = dict.fromkeys(head.columns, pa.string())
        converting = pc.ConvertOptions(column_types=types, strings_can_be_null=False)
        batches = pc.open_csv(name, pc.ReadOptions(**options), convert_options=converting)
        names = batches.schema.names
    elif not hasattr(pj, "open_json"):  # before Arrow 20
        raise _ReadWholeError
    else:
        types = {x: pa.array(cells).type for x, cells in head.columns.items()}
        schema = pa.schema({x: pa.string() if y == pa.null() else y for x, y in types.items()})
        parsing = pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error")
        batches = pj.open_json(name, pj.ReadOptions(**options), parsing)
        names = batches.schema.names
    if {*names} != {*head.columns}:
        raise _ReadWholeError
    for batch in batches:
        yield pa.table({x: _groupable(batch[x]) for x in columns})
    if _is_unclear(name):  # looked for last, in a file that Arrow can read
        raise _ReadWholeError


def _groupable(column: Any) -> Any:
    """Cast an Arrow column of a dictionary or string-view type to one that `group_by` accepts."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    return column.cast(pa.large_string()) if pa.types.is_string_view(column.type) else column


def _is_unclear(name: str) -> bool:
    """Return whether a file has, below its first line, bytes of its format in `_UNCLEAR`."""
    suffix = Path(name).suffix.lower()
    if not _UNCLEAR[suffix]:
        return False
    with open(name, "rb") as file:
        file.readline()
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            start = file.tell()
            if suffix == ".csv" and data.find(b'"', start) == data.find(b"\0", start) == -1:
                return False  # which is fast
            return re.compile(_UNCLEAR[suffix]).search(data, start) is not None


def _distinct_rows(choice: _Choice, reading: ReadingOptions) -> Any:
    """Return the distinct rows of files as a table of Arrow, in order of their first occurrence,
    with the columns `choice.distinct`, `FILE` and `_AGGREGATIONS`. A ValueError is raised if
    `reading.where` selects no row of a file, if ids are unclear, or if there are too many rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    parts: list[Any] = []  # The first one has the distinct rows so far.
    keys, size = [*choice.distinct, FILE], 0
    read = list(dict.fromkeys([*choice.distinct, choice.number or choice.question]))
    for index, name in enumerate(choice.names):
        for batch in _batches(name, choice.head, read):
            columns = {x: batch[x] for x in choice.distinct}
            columns[FILE] = pa.array(np.full(len(batch), index))
            parts.append(pa.table(columns | _columns_of_rows(batch, choice.number, size)))
            size += len(batch)
            # Merging after each batch would take a time quadratic in the number of distinct rows.
            if sum(map(len, parts)) >= 2 * len(parts[0]):
                parts = [_merged(parts, keys)]
    if not size:
        raise _ReadWholeError
    rows = _merged(parts, keys)
    for index, name in enumerate(choice.names if reading.where else ()):
        cells = rows.filter(pc.field(FILE) == index).select([*reading.where]).to_pydict()
        rows_where(Table(cells, name, is_csv=choice.head.is_csv), reading.where)
    ids = rows[choice.question]
    if pa.types.is_string(ids.type) or pa.types.is_large_string(ids.type):
        # Texts such as "1.0", and the names of columns again.
        unclear = rf"(?i)^\W*(\d+\.0|{re.escape(choice.question)})\W*$"
        if pc.any(pc.match_substring_regex(ids, unclear)).as_py():
            raise _ReadWholeError
    return rows.sort_by(_FIRST)


def _columns_of_rows(batch: Any, number: str, first: int) -> dict[str, Any]:
    """Return the columns of `_AGGREGATIONS` for a batch of rows, of which each counts once. `first`
    is the number of rows before the batch. Only `_FIRST` and `_N` are returned if `number`, the
    column of sample numbers, is ""."""
    import pyarrow as pa

    columns = {_FIRST: np.arange(first, first + len(batch)), _N: np.ones(len(batch), int)}
    if number:
        numbers = batch[number].cast(pa.int64())
        if numbers.null_count:
            raise _ReadWholeError
        array = numbers.to_numpy()
        columns |= {_LEAST: array, _GREATEST: array, _HASHES: _hashes(array)}
    return {name: pa.array(entries) for name, entries in columns.items()}


def _merged(tables: Sequence[Any], keys: Sequence[str]) -> Any:
    """Return Arrow tables as one, in which rows that are equal in the columns `keys` are merged."""
    import pyarrow as pa

    rows = pa.concat_tables(tables)
    aggregations = {x: y for x, y in _AGGREGATIONS.items() if x in rows.column_names}
    merged = rows.group_by(keys, use_threads=False).aggregate([*aggregations.items()])
    if len(merged) > _MOST_KEPT:
        raise _ReadWholeError
    return merged.rename_columns({f"{x}_{y}": x for x, y in aggregations.items()})


def _hashes(numbers: np.ndarray) -> np.ndarray:
    """Return a hash below 2^32 of each of (N,) integers. Equal sums mean the same integers. It is
    the finalizer of SplitMix64, so that other integers give an equal sum once in 2^32 times."""
    mixed = numbers.astype(np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return (mixed >> np.uint64(32)).astype(np.int64)


# --- Questions that are looked at -------------------------------------------------------------


def _rows_of_some(rows: Any, choice: _Choice) -> Table | None:
    """Return the table of all rows of some questions, to look for settings and repeated rows: of
    questions that are evenly spaced, as the rows of a resumed run are a block, and those of
    `_ids_with_gaps`. Return None if there are no columns but counted ones and long texts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    head, with_gaps = choice.head, _ids_with_gaps(rows, choice)
    ids = rows[choice.question].unique()
    samples = max(1, pc.sum(rows[_N]).as_py() // len(ids))
    number = min(len(ids), max(32, _LOOKED_AT // samples))
    ids = ids.take([i * (len(ids) - 1) // max(1, number - 1) for i in range(number)])
    read = {*choice.distinct, choice.number}
    others = [x for x, cells in head.columns.items() if x in read or not _is_wide(cells)]
    if {*others} <= read and not with_gaps:
        return None
    ids = pa.concat_arrays([ids, pa.array(with_gaps, ids.type)])
    parts = []
    for index, name in enumerate(choice.names):
        for batch in _batches(name, head, others):
            part = batch.filter(pc.is_in(batch[choice.question], value_set=ids))
            parts.append(part.append_column(FILE, pa.array(np.full(len(part), index))))
    return _table_with_files(pa.concat_tables(parts), choice)


def _ids_with_gaps(rows: Any, choice: _Choice) -> list[Any]:
    """Return the ids of questions that may have a sample number twice, one for each set of numbers.
    They do not if their numbers are all integers from the least to the greatest. A ValueError is
    raised if there are too many sets, or if two files may number the samples of a question."""
    names, question = choice.names, choice.question
    if not choice.number:
        return []
    if plain_name(choice.number) in usual.SHARED_NUMBERS:
        table = _merged([rows], [question])
        if table[_LEAST].equals(table[_GREATEST]):
            return []  # The seed of a program, which numbers no samples.
    pairs = zip(rows[question].to_pylist(), rows[FILE].to_pylist(), strict=True)
    if len(names) > 1 and not are_parts(names) and are_continued(pairs):
        raise _ReadWholeError
    table = _merged([rows], [question] if are_parts(names) else [question, FILE])
    sets = zip(*(table[x].to_pylist() for x in (_N, _LEAST, _GREATEST, _HASHES)), strict=True)
    id_of_set = dict(zip(sets, table[question].to_pylist(), strict=True))
    with_gaps = [
        question_id
        for (n, least, greatest, hashes), question_id in id_of_set.items()
        if n != greatest - least + 1 or hashes != _hashes(np.arange(least, greatest + 1)).sum()
    ]
    if len(with_gaps) > _MOST_GAPS:
        raise _ReadWholeError
    return with_gaps


def _is_wide(cells: Sequence[Any]) -> bool:
    """Return whether a column has long texts that mostly differ."""
    texts = {x for x in cells if isinstance(x, str) and len(x) > _WIDE}
    return 2 * len(texts) > len(cells)
