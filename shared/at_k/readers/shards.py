"""Reduce graded samples in large files to the number of times that each distinct row occurs.

The rest of the reading sees a table whose rows are distinct, as after a GROUP BY, with their number
in the column `COUNT`. Files of Parquet, CSV and JSON Lines are read in parts, by two threads, so
that only the distinct rows are kept. What needs each sample by itself is read in the ordinary way.
"""

from __future__ import annotations

import itertools
import lzma
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..core.checks import InputError, short
from .columns import (
    COUNT,
    USUAL_NAMES,
    as_outcome,
    entry_text,
    usual_columns,
)
from .files import file_format
from .parts import FORMATS_IN_PARTS, as_texts, open_parquet, parts_of_file
from .remote import is_remote, path_of, remote_size
from .rows import IDENTIFYING, NO_ID, SAMPLE_NUMBERS
from .sample_numbers import Places, SampleNumbers
from .table import ArrowColumn, Columns, Table

_FIRST = "first row"
LEAST_BYTES = 1 << 24
"""Smaller files are read in the ordinary way. A row takes less in Parquet: see `LEAST_ROWS`."""
LEAST_ROWS = 1 << 20
_MOST_KEPT = 1 << 21
_MOST_PLACES = 8
_THREADS = 2


class Named(NamedTuple):
    """The columns that the caller names, as far as distinct rows are enough to read them.

    Args:
        questions: that identify the questions, if they are named.
        outcomes: the column of graded outcomes, if it is named.
        per_question: columns with an entry per question, such as the groups.
        others: columns that are read too, such as those of `where`.
        correct_values: whether the caller names the outcomes that are correct.
        max_gb: the most that a compressed file may hold.
    """

    questions: Sequence[str] = ()
    outcomes: str | None = None
    per_question: Sequence[str] = ()
    others: Sequence[str] = ()
    correct_values: bool = False
    max_gb: float | None = None


class Choice(NamedTuple):
    """The columns of a file by what they are for.

    Args:
        questions: that identify the questions.
        outcomes: the column of graded outcomes.
        per_question: whose entries are equal in all rows of a question.
        others: whose entries distinguish rows too.
        numbers: that number the samples of a question.
    """

    questions: Sequence[str]
    outcomes: str
    per_question: Sequence[str]
    others: Sequence[str]
    numbers: Sequence[str]

    @property
    def distinct(self) -> list[str]:
        """The columns of the rows that are counted."""
        return list(
            dict.fromkeys((*self.questions, self.outcomes, *self.per_question, *self.others))
        )


def reduced_table(
    names: Sequence[str], named: Named, is_log: Callable[[Table], bool]
) -> Table | None:
    """Return the distinct rows of large files, or None.

    Args:
        names: the files.
        named: the columns that the caller names.
        is_log: whether a reader knows a table with these columns.

    Raises:
        ValueError: if a file cannot be parsed, or if an id or an outcome is wrong. The message has
            the file and the row.
    """
    import pyarrow as pa

    try:
        return _reduced(names, named, is_log)
    except (
        pa.ArrowException,
        OSError,
        EOFError,
        zlib.error,
        lzma.LZMAError,
    ):
        return None


def _reduced(names: Sequence[str], named: Named, is_log: Callable[[Table], bool]) -> Table | None:
    if not _are_large(names):
        return None
    try:
        start = next(parts_of_file(names[0], max_gb=named.max_gb), None)
    except ValueError:  # no names of columns, or UTF-16: the reader of whole files knows
        return None
    if start is None or start.rows.num_rows == 0:
        return None
    choice = _choice(start.rows.schema, named)
    if choice is None or is_log(_first_row(start.rows)):
        return None
    reading = _Reading(frozenset(start.names), choice, named.max_gb)
    kept: list[Any] = []
    with ThreadPoolExecutor(_THREADS) as executor:
        for number, parts in enumerate(_in_turn(executor, names, reading)):
            if parts is None:
                return None
            if not parts:
                raise ValueError(f"{names[number]} has no rows: leave it out.")
            kept += [_moved(part, number << 40) for part in parts]
            if sum(map(len, kept)) > _MOST_KEPT:
                kept = [_added(kept, choice)]
                if len(kept[0]) > _MOST_KEPT:  # few rows are equal
                    return None
    table = _added(kept, choice).sort_by(_FIRST)
    places = Places(names)
    _check_ids(table, choice, places)
    for column, samples in reading.samples.items():
        if samples.too_many:
            warnings.warn(
                f"{column} has numbers that are too large to check in parts that no question has a "
                f"sample twice: the files are read whole, into memory. If no sample is repeated, "
                f"leave out this column.",
                stacklevel=2,
            )
            return None
        samples.check(column, choice.questions, places)
    if not _is_one_per_question(table, choice):
        return None
    first_of = _first_of_outcomes(table, choice.outcomes)
    if not named.correct_values:
        _check_outcomes(first_of, choice.outcomes, places)
    columns: Columns = {name: ArrowColumn(table[name]) for name in (*choice.distinct, COUNT)}
    of_few = first_of if len(first_of) <= _MOST_PLACES else {}
    named_places = {outcome: "".join(map(str, places[first])) for outcome, first in of_few.items()}
    return Table(columns, sources=len(names), places=named_places)


def _are_large(names: Sequence[str]) -> bool:
    """Whether the files have one of the formats, and so many rows or bytes."""
    paths = [path_of(name) for name in names]
    formats = {file_format(path) for path in paths}
    if (
        len(formats) > 1
        or not formats <= {*FORMATS_IN_PARTS}
        or not all(is_remote(name) or Path(name).is_file() for name in names)
    ):
        return False
    size, least = _bytes, LEAST_BYTES
    if formats == {".parquet"}:
        if any(path.suffix != ".parquet" for path in paths):  # compressed as a whole
            return False
        size, least = _rows_of_parquet, LEAST_ROWS
    return any(total >= least for total in itertools.accumulate(map(size, names)))


def _bytes(name: str) -> int:
    return remote_size(name) if is_remote(name) else Path(name).stat().st_size


def _rows_of_parquet(name: str) -> int:
    import pyarrow.parquet as pq

    try:
        with open_parquet(name) as source:
            return pq.read_metadata(source).num_rows
    except ValueError:  # of a server that sends whole files only
        return 0


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
    also = [name for name in schema.names if name.rpartition(".")[2].lower() in IDENTIFYING]
    also += named.others
    per_question = [*usual_columns(columns, "groups"), *named.per_question]
    read = {*questions, outcomes, *per_question, *also}
    if not read <= columns.keys() or {COUNT, _FIRST} & columns.keys():
        return None
    if any(name.lower() in ("count", "counts", *USUAL_NAMES["n"]) for name in columns):
        return None
    numbers = [name for name in schema.names if name.lower() in SAMPLE_NUMBERS and name not in read]
    return Choice(questions, outcomes, per_question, also, numbers)


def _first_row(rows: Any) -> Table:
    return Table({name: rows.column(name)[:1].to_pylist() for name in rows.schema.names})


# --- Checks of what is left of the rows -------------------------------------------------


def _check_ids(table: Any, choice: Choice, places: Places) -> None:
    """Raise a ValueError if an id is missing, or if two ids differ by spaces only."""
    for name in choice.questions:
        first_of: dict[str, tuple[str, int]] = {}
        for entry, first in zip(table[name].to_pylist(), table[_FIRST].to_pylist(), strict=True):
            text = entry_text(entry)
            if not text or (text in NO_ID and len(choice.questions) == 1):
                what = f"{short(text)} as {name}" if text else f"no {name}"
                what = f", has {what}, so the question is unknown."
                raise InputError(*places[first], what)
            other, row = first_of.setdefault(" ".join(text.split()), (text, first))
            if other != text:
                raise InputError(
                    *(*places[row], ", and ", *places[first]),
                    f", have {short(other)} and {short(text)} in {name}, which differ by spaces "
                    f"only. If they are one question, give both the same text; if not, another "
                    f"column has to identify it.",
                )


def _is_one_per_question(table: Any, choice: Choice) -> bool:
    """Whether no entry of a question, such as its group, differs between its rows."""
    sizes = {
        len(table.group_by(list(dict.fromkeys(names)), use_threads=False).aggregate([]))
        for names in (choice.questions, [*choice.questions, *choice.per_question])
    }
    return len(sizes) == 1


def _first_of_outcomes(table: Any, name: str) -> dict[Any, int]:
    """Return where each outcome occurs first, in this order."""
    first = table.select([name, _FIRST]).group_by(name, use_threads=False)
    of_entries = first.aggregate([(_FIRST, "min")]).to_pydict()
    rows = zip(of_entries[f"{_FIRST}_min"], of_entries[name], strict=True)
    first_of: dict[Any, int] = {}
    for row, entry in rows:
        outcome = as_outcome(entry)
        first_of[outcome] = min(first_of.get(outcome, row), row)
    return dict(sorted(first_of.items(), key=lambda item: item[1]))


def _check_outcomes(first_of: Mapping[Any, int], name: str, places: Places) -> None:
    """Raise a ValueError if some outcomes are texts, and others are numbers or true and false."""
    of_kind: dict[bool, tuple[Any, int]] = {}
    for outcome, row in first_of.items():
        if outcome is not None:
            of_kind.setdefault(isinstance(outcome, str), (outcome, row))
    if len(of_kind) == 2:
        (text, row), (other, other_row) = of_kind[True], of_kind[False]
        raise InputError(
            *(*places[row], f": {name} is {short(text)}, but ", *places[other_row]),
            f", has {other}. Outcomes are of one type, unless correct_values names those that are "
            f"correct (in the shell --correct-values).",
        )


# --- Reading ----------------------------------------------------------------------------


class _Reading:
    """How files are reduced.

    Attributes:
        names: the columns of the first file.
        choice: what they are for.
        max_gb: the most that a compressed file may hold.
        samples: the samples of each column that numbers them.
    """

    def __init__(self, names: frozenset[str], choice: Choice, max_gb: float | None):
        self.names, self.choice, self.max_gb = names, choice, max_gb
        self.samples = {name: SampleNumbers() for name in choice.numbers}


def _in_turn(executor: Any, names: Sequence[str], reading: _Reading) -> Iterator[list[Any] | None]:
    """Yield the distinct rows of each file, in their order, while others are read."""

    def submit(number: int) -> Any:
        return executor.submit(_distinct_rows, names[number], number << 40, reading)

    ahead = [submit(number) for number in range(min(2 * _THREADS, len(names)))]
    for number in itertools.count(len(ahead)):
        if not ahead:
            return
        yield ahead.pop(0).result()
        if number < len(names):
            ahead.append(submit(number))


def _distinct_rows(name: str, start: int, reading: _Reading) -> list[Any] | None:
    """Return the distinct rows of the parts of a file, or None if it has to be read otherwise.

    Args:
        name: of the file.
        start: the number of its first row in `_FIRST`.
        reading: how it is reduced.
    """
    import pyarrow as pa

    kept: list[Any] = []
    choice, rows = reading.choice, 0
    needed = [*choice.distinct, *choice.numbers]
    for part in parts_of_file(name, needed, reading.max_gb):
        if not reading.names >= {*part.names} or not {*part.rows.schema.names} >= {*needed}:
            return None
        is_table = isinstance(part.rows, pa.Table)
        for batch in part.rows.to_batches() if is_table else [part.rows]:
            if len(batch):
                kept.append(_moved(_distinct_of(batch, reading, start + rows), rows))
            rows += len(batch)
        if len(kept) > 16:
            kept = [_added(kept, choice)]
    return [_added(kept, choice)] if kept else []


def _moved(table: Any, rows: int) -> Any:
    """Return a table of distinct rows that starts so many rows later."""
    import pyarrow.compute as pc

    return _with_column(table, _FIRST, pc.add(table[_FIRST], rows))


def _distinct_of(batch: Any, reading: _Reading, start: int) -> Any:
    """Return the distinct rows of a batch, with their numbers and where they occur first."""
    import pyarrow as pa

    choice = reading.choice
    codes, size = np.zeros(len(batch), dtype=np.int64), 1
    for position, name in enumerate(choice.distinct):
        column = batch.column(name)
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        index = column.indices.fill_null(len(column.dictionary)).to_numpy(zero_copy_only=False)
        codes = codes * (len(column.dictionary) + 1) + index
        size *= len(column.dictionary) + 1
        if position == len(choice.questions) - 1 and choice.numbers:
            first, _, question = _distinct_codes(codes, size)
            ids = [batch.column(key).take(pa.array(first)).to_pylist() for key in choice.questions]
            texts = [tuple(map(entry_text, row)) for row in zip(*ids, strict=True)]
            for number, samples in reading.samples.items():
                samples.add(texts, question, batch.column(number), start)
    first, counts, _ = _distinct_codes(codes, size)
    columns = {name: batch.column(name).take(pa.array(first)) for name in choice.distinct}
    plain = {
        name: column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        for name, column in columns.items()
    }
    return pa.table(plain | {COUNT: pa.array(counts), _FIRST: pa.array(first)})


def _distinct_codes(codes: Any, size: int) -> tuple[Any, Any, Any]:
    """Return where each distinct code occurs first, how often, and its index for each row.

    Args:
        codes: (rows,) below `size`.
        size: the number of possible codes.
    """
    if size > 4 * len(codes) + 1024:
        _, first, index, counts = np.unique(
            codes, return_index=True, return_inverse=True, return_counts=True
        )
        return first, counts, index
    counts = np.bincount(codes, minlength=size)
    distinct = np.flatnonzero(counts)
    of_codes = np.empty(size, dtype=np.int64)
    of_codes[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    first = of_codes[distinct]
    of_codes[distinct] = np.arange(len(distinct))
    return first, counts[distinct], of_codes[codes]


def _added(parts: Sequence[Any], choice: Choice) -> Any:
    """Return the distinct rows of several tables, with the sums of their numbers."""
    import pyarrow as pa

    for name in choice.distinct:
        types = {part.schema.field(name).type for part in parts} - {pa.null()}
        if len(types) > 1:
            if name not in (*choice.questions, choice.outcomes):
                raise pa.ArrowInvalid(f"{name} has entries of several types")
            parts = [_with_column(part, name, as_texts(part[name].to_pylist())) for part in parts]
    table = pa.concat_tables(parts, promote_options="default")
    groups = table.group_by(choice.distinct, use_threads=False)
    added = groups.aggregate([(COUNT, "sum"), (_FIRST, "min")])
    return added.rename_columns([*choice.distinct, COUNT, _FIRST])


def _with_column(table: Any, name: str, column: Any) -> Any:
    return table.set_column(table.column_names.index(name), name, column)
