"""Count the samples in large files of graded outcomes, instead of reading all of them.

Arrow counts Parquet and CSV, and DuckDB counts JSON Lines if it is installed. The result is a table
of distinct rows and how often each occurs, which is read as any table of counts. All cells of text
formats are texts, so that no type is guessed. A file is read whole, and None returned here, if
single samples are needed, if something is unclear, or if CSV has quotes, because Arrow accepts one
that is not closed. Settings and repeated rows are looked for in all rows of some questions.
"""

from __future__ import annotations

import itertools
import json
import mmap
import re
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.checks import Index
from . import names as usual
from .formats import parse_file
from .layouts import recognised
from .names import columns_named, is_verdict, plain_name, sample_numbers
from .opening import is_remote
from .reading import ReadingOptions
from .roles import choose_columns, column_per_question, columns_of_role, question_columns
from .settings import are_continued, are_parts
from .table import (
    FILE,
    SelectionError,
    Table,
    class_names,
    rows_where,
    table_of_columns,
    table_of_rows,
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
_BATCH = 1 << 20  # rows
_FORMATS = (".parquet", ".csv", ".jsonl", ".ndjson")
_LINES = (".jsonl", ".ndjson")
_N, _FIRST = "n (rows)", "first (row)"
_LEAST, _MOST, _SUM = "least (number)", "greatest (number)", "sum (numbers)"
_SQUARES = "sum (squares of numbers)"
"""Columns of distinct rows: how many they are, and what is known of their numbers of samples."""
_PROBLEMS = (ValueError, KeyError, OSError, NotImplementedError)


class Choice(NamedTuple):
    """The names of large files, the first rows of the first file, and the columns that are read.

    Attributes:
        question, outcome: the columns of the ids and of the outcomes.
        others: further columns by which rows are distinguished, such as groups and settings.
        number: the column that numbers the samples of a question, or "".
    """

    names: Sequence[str]
    head: Table
    question: str
    outcome: str
    others: list[str]
    number: str = ""

    @property
    def distinct(self) -> list[str]:
        """The columns by which rows are distinguished, each once."""
        return list(dict.fromkeys((self.question, self.outcome, *self.others)))


def counted_run(
    names: Sequence[str],
    reading: ReadingOptions,
    read_table: Callable[[Table, ReadingOptions], Run],
) -> Run | None:
    """Return the run in large files with counts of outcomes, or None to have them read whole.

    `read_table` reads the run in a table; a SelectionError that it raises is not caught.
    """
    choice, rows = None, None
    with suppress(*_PROBLEMS):  # reading whole says what is wrong, with its row
        if _can_be_counted(names, reading) and _are_large(names):
            choice = _choose_columns(names, reading)
            rows = _distinct_rows(choice, reading) if choice else None
    if choice is None or rows is None:
        return None
    try:
        if choice.number and _may_have_repeats(rows, choice):
            return None
        run = _run_of_counts(rows, choice, reading, read_table)
        if (some := _rows_of_some(rows, choice)) is not None:
            read_table(some, reading)
        return run
    except SelectionError as error:
        if not any(isinstance(part, Index) for part in error.args):
            raise
        return None  # The rows that it names are no rows of the files.
    except _PROBLEMS:
        return None


def _run_of_counts(
    rows: Any,
    choice: Choice,
    reading: ReadingOptions,
    read_table: Callable[[Table, ReadingOptions], Run],
) -> Run | None:
    """Return the run in the rows of `_distinct_rows`, or None if an outcome is a word."""
    names = choice.names
    columns: dict[str, Any] = rows.select([*choice.distinct, _N]).to_pydict()
    if len(names) > 1:
        columns[FILE] = rows[FILE].to_pylist()
    table = Table(columns, title_of_files(names), files=tuple(names), is_csv=choice.head.is_csv)
    named = {**reading.columns, "outcomes": choice.outcome, "counts": _N}
    run = read_table(table, replace(reading, columns=named, questions=(choice.question,)))
    if any(isinstance(x, str) for row in run["predictions"]["answers"] for x in row):
        return None
    run.columns = {role: name for role, name in run.columns.items() if role != "counts"}
    return run


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
    is_format = len(formats) == 1 and formats <= {*_FORMATS}
    return not needs_samples and is_format and not any(map(is_remote, names))


def _are_large(names: Sequence[str]) -> bool:
    """Return whether the files together reach `LEAST_ROWS` (Parquet) or else `LEAST_BYTES`."""
    import pyarrow.parquet as pq

    if names[0].lower().endswith(".parquet"):
        return sum(pq.read_metadata(name).num_rows for name in names) >= LEAST_ROWS
    return sum(Path(name).stat().st_size for name in names) >= LEAST_BYTES


def _first_rows(name: str, reading: ReadingOptions) -> Table:
    """Return the table of the first rows of a file.

    Raises a ValueError if the file has no rows, or if `datasets` wrote class labels as indices.
    """
    if not name.lower().endswith(".parquet"):
        with open(name, "rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # reading whole warns again
            lines, newline, _ = file.read(_HEAD_BYTES).rpartition(b"\n")
            return parse_file(name, lines + newline, Path(name).suffix.lower(), reading.unnamed)
    import pyarrow.parquet as pq

    file = pq.ParquetFile(name)
    batch = next(file.iter_batches(_HEAD, use_threads=False), None)
    if batch is None or class_names(file.schema_arrow):
        raise ValueError(f"{name} has no rows, or classes.")
    return table_of_columns(batch.to_pydict(), name)


def _choose_columns(names: Sequence[str], reading: ReadingOptions) -> Choice | None:
    """Return the columns to read, chosen by the first rows of the first file.

    Return None if the files have to be read whole: if a tool wrote them, if a column that is named
    is missing, or if the questions or the outcomes are in several columns or in lists.
    """
    head, named = _first_rows(names[0], reading), reading.named()
    columns = head.columns
    if not {*named.values(), *reading.questions, *reading.where} <= {*columns}:
        return None
    if recognised(head):
        return None
    chosen = choose_columns(head, named, reading)
    questions = reading.questions or question_columns(head)
    if chosen.keys() != {"outcomes"} or len(questions) != 1 or columns_of_role(head, "n"):
        return None
    outcomes = [] if "outcomes" in named else list(filter(is_verdict, columns))
    ids = [] if reading.questions else columns_named(columns, usual.IDS)
    if max(len(outcomes), len(ids)) > 1:
        return None  # they may be equal in the first rows only
    others = _columns_beside(head, reading)
    choice = Choice(names, head, questions[0], chosen["outcomes"], others)
    numbers = sample_numbers(columns, choice.distinct)
    numbers = [x for x in numbers if plain_name(x) not in usual.SHARED_NUMBERS]
    if len(numbers) > 1 or _has_other_types(choice):
        return None
    return choice._replace(number="".join(numbers))


def _has_other_types(choice: Choice) -> bool:
    """Return whether a column has lists, objects, or bools that DuckDB would write otherwise."""
    others: set[type] = {list, dict}
    if choice.names[0].lower().endswith(_LINES):
        others |= {bool}  # DuckDB has the text true for the bool of JSON, whose label is True.
    columns = {x: set(map(type, choice.head.columns[x])) for x in choice.distinct}
    columns[choice.outcome] -= {bool}
    return not others.isdisjoint(itertools.chain(*columns.values()))


def _columns_beside(head: Table, reading: ReadingOptions) -> list[str]:
    """Return the columns that are read beside those of questions and outcomes, such as settings."""
    named = reading.named()
    roles = [role for role in usual.PER_QUESTION if role in reading.columns]
    fixed = {column_per_question(head, role, named.get(role)) for role in roles}
    fixed = fixed.union(reading.where, usual.SETTINGS, usual.PARTS, usual.OF_QUESTION)
    fixed = fixed.union(usual.ERRORS, usual.STATUSES, usual.IDS, usual.INDICES)
    return [name for name in head.columns if {name, plain_name(name)} & fixed]


# --- Distinct rows, by Arrow and DuckDB -------------------------------------------------------


def _distinct_rows(choice: Choice, reading: ReadingOptions) -> Any | None:
    """Return the distinct rows of files as a table of Arrow, or None to have files read whole.

    The rows are in the order in which they first occur. Beside the columns `choice.distinct` they
    have the index of the file in `FILE`, how often the row occurs in `_N` and, if samples are
    numbered, `_LEAST`, `_MOST`, `_SUM` and `_SQUARES` of their numbers. A ValueError is raised if
    `reading.where` selects no row of a file.
    """
    import pyarrow as pa

    tables = []
    for index, name in enumerate(choice.names):
        is_lines = name.lower().endswith(_LINES)
        rows = _lines_counted(name, choice) if is_lines else _rows_counted(name, choice)
        if rows is None:
            return None
        if reading.where:
            cells = rows.select([*reading.where]).to_pydict()
            rows_where(Table(cells, name, is_csv=choice.head.is_csv), reading.where)
        tables.append(rows.append_column(FILE, pa.array([index] * len(rows), pa.int64())))
    rows = pa.concat_tables(tables)
    if len(rows) > _MOST_KEPT or (choice.number and rows[_SUM].null_count):
        return None
    if _has_unclear_ids(rows[choice.question], choice.question):
        return None
    return rows


def _has_unclear_ids(ids: Any, column: str) -> bool:
    """Return whether an id is a text such as "1.0" or "total", or the name of its column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    names = "|".join([*usual.SUMMARIES, re.escape(column), r"(\S+ )*total( \S+)*"]).replace(
        "_", "[_ -]"
    )
    is_text = pa.types.is_string(ids.type) or pa.types.is_large_string(ids.type)
    unclear = rf"(?i)^\W*(\d+\.0|{names})\W*$"
    return is_text and pc.any(pc.match_substring_regex(ids, unclear)).as_py()


def _rows_counted(name: str, choice: Choice) -> Any | None:
    """Return the distinct rows of a Parquet or CSV file, counted by Arrow, as a table of Arrow.

    The columns are those of `_distinct_rows`, without `FILE`. Return None for CSV with quotes, or
    if the columns are not those of the first file.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import acero

    if choice.head.is_csv and _has_quotes(name):
        return None
    dataset = _dataset([name], choice.head)
    if {*dataset.schema.names} != choice.head.columns.keys():
        return None
    columns = {x: pc.field(x) for x in choice.distinct}
    for column in columns:
        kind = dataset.schema.field(column).type
        if pa.types.is_dictionary(kind):
            columns[column] = columns[column].cast(kind.value_type)
        elif pa.types.is_string_view(kind):
            columns[column] = columns[column].cast(pa.large_string())
    totals: list[Any] = [([], "hash_count_all", None, _N)]
    if choice.number:
        columns[_SUM] = pc.field(choice.number).cast(pa.int64())
        columns[_SQUARES] = pc.multiply(columns[_SUM], columns[_SUM])
        exact = pc.ScalarAggregateOptions(skip_nulls=False)
        kinds = {_LEAST: "hash_min", _MOST: "hash_max", _SUM: "hash_sum"}
        totals += [(_SUM, kind, exact, total) for total, kind in kinds.items()]
        totals.append((_SQUARES, "hash_sum", exact, _SQUARES))
    steps = {
        "scan": acero.ScanNodeOptions(dataset, columns=columns),
        "project": acero.ProjectNodeOptions([*columns.values()], [*columns]),
        "aggregate": acero.AggregateNodeOptions(totals, choice.distinct),
    }
    plan = acero.Declaration.from_sequence([acero.Declaration(*step) for step in steps.items()])
    # Without threads: a process that ends soon after they start is aborted by Arrow.
    rows = plan.to_table(use_threads=False)
    ids = _ids_in_order(dataset, columns[choice.question])
    return _sorted_by(rows, pc.index_in(rows[choice.question].combine_chunks(), value_set=ids))


def _sorted_by(rows: Any, order: Any) -> Any:
    """Return the rows of a table of Arrow by ascending entries of the array `order`."""
    return rows.append_column(_FIRST, order).sort_by(_FIRST).drop_columns(_FIRST)


def _ids_in_order(dataset: Any, column: Any) -> Any:
    """Return the distinct entries of a column as an array of Arrow, each where it first occurs."""
    import pyarrow as pa

    scanner = dataset.scanner(columns={_FIRST: column}, batch_size=_BATCH, use_threads=False)
    ids = None
    for batch in scanner.to_batches():
        chunks = [batch[_FIRST]] if ids is None else [ids, batch[_FIRST]]
        ids = pa.chunked_array(chunks).unique()
    return ids


def _has_quotes(name: str) -> bool:
    """Return whether a file of CSV has quotes below its first line."""
    with open(name, "rb") as file:
        file.readline()
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.find(b'"', file.tell()) >= 0


def _dataset(names: Sequence[str], head: Table) -> Any:
    """Return files of Parquet or CSV as a `pyarrow.dataset.Dataset`; cells of CSV are texts."""
    import pyarrow as pa
    import pyarrow.csv as pc
    import pyarrow.dataset as ds

    if not head.is_csv:
        return ds.dataset(list(names), format="parquet")
    types = dict.fromkeys(head.columns, pa.string())
    converting = pc.ConvertOptions(column_types=types, strings_can_be_null=False)
    return ds.dataset(list(names), format=ds.CsvFileFormat(convert_options=converting))


def _lines_counted(name: str, choice: Choice) -> Any | None:
    """Return the distinct rows of a JSON Lines file, counted by DuckDB, or None if that fails.

    Return None as well if the keys are not those of the first rows of the first file.
    """
    try:
        import duckdb
    except ImportError:
        return None
    columns = dict.fromkeys((*choice.distinct, *filter(None, [choice.number])), "VARCHAR")
    if any('"' in x for x in columns):
        return None
    keys = ", ".join(f'"{x}"' for x in choice.distinct)
    number = f'CAST("{choice.number}" AS BIGINT)'
    of_numbers = f"""
        , min({number}) AS "{_LEAST}", max({number}) AS "{_MOST}"
        , CASE WHEN count({number}) = count(*) THEN sum({number})::BIGINT END AS "{_SUM}"
        , sum({number} * {number})::BIGINT AS "{_SQUARES}"
    """
    try:
        with duckdb.connect() as connection:
            if _keys_of_lines(connection, name) != choice.head.columns.keys():
                return None
            counted = connection.sql(
                f"""
                SELECT {keys}, count(*) AS "{_N}", min(row) AS "{_FIRST}"
                    {of_numbers if choice.number else ""}
                FROM (
                    SELECT *, row_number() OVER () AS row
                    FROM read_json(
                        ?, format='newline_delimited', columns=?, auto_detect=false,
                        hive_partitioning=false
                    )
                )
                GROUP BY {keys}
                """,
                params=[_without_wildcards(name), columns],
            ).to_arrow_table()
            return _sorted_by(counted.drop_columns(_FIRST), counted[_FIRST])
    except duckdb.Error:
        return None


def _keys_of_lines(connection: Any, name: str) -> set[str]:
    """Return the keys of the objects in a file of JSON Lines; `connection` is one of DuckDB."""
    keys = (
        "SELECT DISTINCT unnest(json_keys(json)) "
        "FROM read_ndjson_objects(?, hive_partitioning=false)"
    )
    return {key for (key,) in connection.execute(keys, [_without_wildcards(name)]).fetchall()}


def _without_wildcards(name: str) -> str:
    """Return the pattern of DuckDB that matches the file with this name, and no other."""
    return re.sub(r"[\[*?]", r"[\g<0>]", name)


# --- Questions that are looked at -------------------------------------------------------------


def _may_have_repeats(rows: Any, choice: Choice) -> bool:
    """Return whether the counts show that a question has the same sample number twice.

    They do unless the numbers of its n samples have the count, the sum and the sum of squares of
    all numbers from the least to the greatest one.
    """
    names, question = choice.names, choice.question
    totals = [(_N, "sum"), (_LEAST, "min"), (_MOST, "max"), (_SUM, "sum"), (_SQUARES, "sum")]
    are_together = len(names) > 1 and (
        are_parts(names)
        or are_continued(zip(rows[question].to_pylist(), rows[FILE].to_pylist(), strict=True))
    )
    keys = [question] if are_together else [question, FILE]
    table = rows.group_by(keys, use_threads=False).aggregate(totals)
    n, least, most, total, squares = (np.asarray(table["_".join(x)]) for x in totals)
    # The sum of squares about the least number, which is 0 + 1 + 4 + .. + (n - 1)^2.
    about_least = squares - 2 * least * total + n * least**2
    is_other = (2 * total != n * (least + most)) | (6 * about_least != n * (n - 1) * (2 * n - 1))
    return bool(np.any((n != most - least + 1) | is_other))


def _rows_of_some(rows: Any, choice: Choice) -> Table | None:
    """Return the table of all rows of some questions, to look for settings and repeated rows.

    They are evenly spaced in the files, where the rows of a run that was resumed are a block.
    `rows` are the distinct rows of the files. Columns of long texts cannot be settings and are left
    out. Return None if then no columns remain except those that have been counted.
    """
    names, head = choice.names, choice.head
    ids = rows[choice.question].unique().to_pylist()
    samples = max(1, sum(rows[_N].to_pylist()) // len(ids))
    number = min(len(ids), max(32, _LOOKED_AT // samples))
    ids = [ids[i * (len(ids) - 1) // max(1, number - 1)] for i in range(number)]
    read = {*choice.distinct, choice.number}
    others = [x for x, cells in head.columns.items() if x in read or not _is_wide(cells)]
    if {*others} <= read:
        return None
    title = f"{title_of_files(names)} (all rows of some questions)"
    if names[0].lower().endswith(_LINES):
        return table_of_rows(_lines_of(names, choice.question, list(map(str, ids))), title)
    import pyarrow.dataset as ds

    chosen = ds.field(choice.question).isin(ids)
    all_rows = _dataset(names, head).to_table(columns=others, filter=chosen)
    return table_of_columns(all_rows.to_pydict(), title, is_csv=head.is_csv)


def _is_wide(cells: Sequence[Any]) -> bool:
    """Return whether a column has long texts that mostly differ."""
    texts = {x for x in cells if isinstance(x, str) and len(x) > _WIDE}
    return 2 * len(texts) > len(cells)


def _lines_of(names: Sequence[str], question: str, ids: Sequence[str]) -> list[dict[str, Any]]:
    """Return all rows in files of JSON Lines whose column `question` has one of the ids."""
    import duckdb

    with duckdb.connect() as connection:
        rows = connection.execute(
            "SELECT json FROM read_ndjson_objects(?, hive_partitioning=false) "
            "WHERE list_contains(?, json_extract_string(json, ?))",
            [
                list(map(_without_wildcards, names)),
                list(ids),
                f"$.{json.dumps(question, ensure_ascii=False)}",
            ],
        ).fetchall()
    return [json.loads(x) for (x,) in rows]
