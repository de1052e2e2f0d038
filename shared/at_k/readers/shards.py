"""Reduce graded samples in large files to the number of times that each distinct row occurs.

The rest of the reading sees a table whose rows are distinct, as after a GROUP BY, with their number
in the column `COUNT`. Files are read one after another, by two threads, and Parquet in parts, so
that only the distinct rows are kept. What needs each sample by itself is read in the ordinary way.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .columns import COUNT, USUAL_NAMES, entry_text, usual_columns
from .files import file_format
from .rows import IDENTIFYING, SAMPLE_NUMBERS, check_ids
from .table import ArrowColumn, Columns, Table

_FIRST = "first row"
LEAST_ROWS = 1 << 20
"""Files with fewer rows are read in the ordinary way."""
_ROWS_OF_A_PART = 1 << 20
_MOST_KEPT = 1 << 21
_THREADS = 2


class Named(NamedTuple):
    """The columns that the caller names, as far as distinct rows are enough to read them.

    Args:
        questions: that identify the questions, if they are named.
        outcomes: the column of graded outcomes, if it is named.
        per_question: columns with an entry per question, such as the groups.
        others: columns that are read too, such as those of `where`.
    """

    questions: Sequence[str] = ()
    outcomes: str | None = None
    per_question: Sequence[str] = ()
    others: Sequence[str] = ()


class Choice(NamedTuple):
    """The columns of a file by what they are for.

    Args:
        questions: that identify the questions.
        outcomes: the column of graded outcomes.
        per_question: whose entries are equal in all rows of a question.
        others: whose entries distinguish rows too.
    """

    questions: Sequence[str]
    outcomes: str
    per_question: Sequence[str]
    others: Sequence[str]

    @property
    def distinct(self) -> list[str]:
        """The columns of the rows that are counted."""
        return list(
            dict.fromkeys((*self.questions, self.outcomes, *self.per_question, *self.others))
        )


def reduced_table(
    names: Sequence[str], named: Named, is_log: Callable[[Table], bool]
) -> Table | None:
    """Return the distinct rows of large files of Parquet, or None.

    Args:
        names: the files.
        named: the columns that the caller names.
        is_log: whether a reader knows a table with these columns.

    Raises:
        ValueError: if a file has a row without an entry that identifies its question.
    """
    paths = [Path(name) for name in names]
    if not all(path.is_file() and file_format(path) == ".parquet" for path in paths):
        return None
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        files = [pq.read_metadata(path) for path in paths]
        schemas = [file.schema.to_arrow_schema() for file in files]
    except (pa.ArrowException, OSError):
        return None
    if sum(file.num_rows for file in files) < LEAST_ROWS:
        return None
    if any(not schema.equals(schemas[0]) for schema in schemas):
        return None
    choice = _choice(schemas[0], named)
    if choice is None or is_log(_first_row(paths[0])):
        return None
    kept: list[Any] = []
    with ThreadPoolExecutor(_THREADS) as executor:
        for number, parts in enumerate(_in_turn(executor, paths, choice)):
            if parts is None:
                return None
            _check_ids_of(names[number], parts, choice)
            kept += [_moved(part, number << 40) for part in parts]
            if sum(map(len, kept)) > _MOST_KEPT:
                kept = [_added(kept, choice)]
                if len(kept[0]) > _MOST_KEPT:  # few rows are equal
                    return None
    table = _added(kept, choice).sort_by(_FIRST)
    if not _is_consistent(table, choice):  # the ordinary reading names the rows
        return None
    columns: Columns = {name: ArrowColumn(table[name]) for name in (*choice.distinct, COUNT)}
    return Table(columns, sources=len(names))


def _choice(schema: Any, named: Named) -> Choice | None:
    """Return the columns to read, or None unless they are named or clear from their names."""
    import pyarrow as pa

    columns: dict[str, Any] = dict.fromkeys(schema.names, ())
    if any(pa.types.is_nested(kind) for kind in schema.types):
        return None
    outcomes, questions = named.outcomes, list(named.questions)
    if outcomes is None:
        others = ("predictions", "n")
        found = usual_columns(columns, "outcomes")
        if len(found) != 1 or any(usual_columns(columns, role) for role in others):
            return None
        outcomes = found[0]
    if not questions:
        questions = usual_columns(columns, "questions")
        if len(questions) != 1:
            return None
    numbered = [name for name in schema.names if name.lower() in SAMPLE_NUMBERS]
    if any(name not in (outcomes, *questions) for name in numbered):
        return None
    also = [name for name in schema.names if name.rpartition(".")[2].lower() in IDENTIFYING]
    also += named.others
    per_question = [*usual_columns(columns, "groups"), *named.per_question]
    read = {*questions, outcomes, *per_question, *also}
    if not read <= columns.keys() or {COUNT, _FIRST} & columns.keys():
        return None
    if any(name.lower() in ("count", "counts", *USUAL_NAMES["n"]) for name in columns):
        return None
    return Choice(questions, outcomes, per_question, also)


def _check_ids_of(name: str, parts: Sequence[Any], choice: Choice) -> None:
    """Raise the ValueError of the ordinary reading if an id of a file is missing."""
    import pyarrow.parquet as pq

    for column in choice.questions:
        if any("" in map(entry_text, part[column].unique().to_pylist()) for part in parts):
            file = pq.ParquetFile(name).read([column], use_threads=False)
            check_ids(name, column, list(map(entry_text, file[column].to_pylist())))


def _is_consistent(table: Any, choice: Choice) -> bool:
    """Whether no ids differ by spaces only, and no entry of a question differs between its rows."""
    for name in choice.questions:
        ids = {entry_text(entry) for entry in table[name].unique().to_pylist()}
        if len({text.strip() for text in ids}) < len(ids):
            return False
    sizes = {
        len(table.group_by(list(dict.fromkeys(names)), use_threads=False).aggregate([]))
        for names in (choice.questions, [*choice.questions, *choice.per_question])
    }
    return len(sizes) == 1


def _first_row(path: Path) -> Table:
    import pyarrow.parquet as pq

    batch = next(pq.ParquetFile(path).iter_batches(1, use_threads=False))
    return Table({name: batch.column(name).to_pylist() for name in batch.schema.names})


def _in_turn(executor: Any, paths: Sequence[Path], choice: Choice) -> Iterator[list[Any] | None]:
    """Yield the distinct rows of each file, in their order, while others are read."""
    ahead = [executor.submit(_distinct_rows, path, choice) for path in paths[: 2 * _THREADS]]
    for path in itertools.chain(paths[2 * _THREADS :], itertools.repeat(None)):
        if not ahead:
            return
        yield ahead.pop(0).result()
        if path is not None:
            ahead.append(executor.submit(_distinct_rows, path, choice))


def _distinct_rows(path: Path, choice: Choice) -> list[Any] | None:
    """Return the distinct rows of the parts of a file, or None if it has to be read otherwise."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pq.read_schema(path)
    texts = [name for name in choice.distinct if "string" in str(schema.field(name).type)]
    try:
        file = pq.ParquetFile(path, read_dictionary=texts)
        batches = file.iter_batches(_ROWS_OF_A_PART, columns=choice.distinct, use_threads=False)
        parts, rows = [], 0
        for batch in batches:
            if len(batch):
                parts.append(_moved(_distinct_of(batch, choice), rows))
            rows += len(batch)
    except (pa.ArrowException, OSError):
        return None
    return [_added(parts, choice)] if parts else []


def _moved(table: Any, rows: int) -> Any:
    """Return a table of distinct rows that starts so many rows later."""
    import pyarrow.compute as pc

    index = table.column_names.index(_FIRST)
    return table.set_column(index, _FIRST, pc.add(table[_FIRST], rows))


def _distinct_of(batch: Any, choice: Choice) -> Any:
    """Return the distinct rows of a batch, with their numbers and where they occur first."""
    import pyarrow as pa

    codes, entries, size = np.zeros(len(batch), dtype=np.int64), [], 1
    for name in choice.distinct:
        column = batch.column(name)
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        index = column.indices.fill_null(len(column.dictionary)).to_numpy(zero_copy_only=False)
        codes = codes * (len(column.dictionary) + 1) + index
        size *= len(column.dictionary) + 1
        entries.append(column.dictionary)
    if size > 4 * len(batch) + 1024:
        distinct, first, counts = np.unique(codes, return_index=True, return_counts=True)
    else:
        counts = np.bincount(codes, minlength=size)
        distinct = np.flatnonzero(counts)
        first_of = np.empty(size, dtype=np.int64)
        first_of[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
        counts, first = counts[distinct], first_of[distinct]
    columns = {name: batch.column(name).take(pa.array(first)) for name in choice.distinct}
    plain = {
        name: column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        for name, column in columns.items()
    }
    return pa.table(plain | {COUNT: pa.array(counts), _FIRST: pa.array(first)})


def _added(parts: Sequence[Any], choice: Choice) -> Any:
    """Return the distinct rows of several tables, with the sums of their numbers."""
    import pyarrow as pa

    table = pa.concat_tables(parts)
    groups = table.group_by(choice.distinct, use_threads=False)
    added = groups.aggregate([(COUNT, "sum"), (_FIRST, "min")])
    return added.rename_columns([*choice.distinct, COUNT, _FIRST])
