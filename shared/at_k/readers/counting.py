"""Large files of graded samples -> the counts of each question, without a list of their samples.

Parquet and CSV are counted by Arrow, JSON Lines by DuckDB where it is installed. All cells of text
formats are texts, so that no type is guessed. What needs each sample by itself, what is unclear,
and CSV with quotes (Arrow accepts one that is not closed) is read whole. Settings and repeated rows
are looked for in all rows of some questions.
"""

from __future__ import annotations

import itertools
import json
import mmap
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .cells import entries_of_role, read_outcomes
from .formats import parse_file
from .layouts import recognised
from .missing import is_error, missing_error, warn_of_left_out
from .names import (
    ERRORS,
    IDS,
    INDICES,
    MODELS,
    OF_QUESTION,
    PARTS,
    PER_QUESTION,
    SETTINGS,
    SHARED_NUMBERS,
    columns_named,
    plain_name,
    sample_numbers,
)
from .questions import (
    LEAST_PLAIN_ROWS,
    Gathered,
    are_repeated_runs,
    copy_error,
    shared_questions_error,
)
from .reading import Reading
from .remote import is_remote
from .roles import choose_columns, column_per_question, columns_of_role, question_columns
from .settings import are_parts
from .table import FILE, Table, class_names, rows_where, table_of_columns, table_of_rows
from .words import NO_ID

LEAST_BYTES = 1 << 24
"""Smaller files are read whole. A row takes less in Parquet: see `LEAST_ROWS`."""
LEAST_ROWS = 1 << 20
_MOST_KEPT = 1 << 24  # distinct rows
_MOST_OUTCOMES = 64
_HEAD, _HEAD_BYTES = 1 << 14, 1 << 21  # rows, or bytes, that show what the columns hold
_LOOKED_AT = 32  # questions
_BATCH = 1 << 20
_WIDE = 64  # bytes in each row: a column of texts is no setting
_FORMATS = (".parquet", ".csv", ".jsonl", ".ndjson")
_N, _LEAST, _MOST, _SUM = "n (rows)", "least (number)", "greatest (number)", "sum (numbers)"
"""Columns of distinct rows: how many they are, and what is known of their numbers of samples."""


class Choice(NamedTuple):
    """The columns of a file by what they are for: `number` numbers samples, or is ""."""

    question: str
    outcome: str
    per_question: dict[str, str]
    others: list[str]
    number: str

    @property
    def distinct(self) -> list[str]:
        """The columns of the rows that are counted."""
        names = (self.question, self.outcome, *self.per_question.values(), *self.others)
        return list(dict.fromkeys(names))

    @property
    def read(self) -> list[str]:
        """All columns that are read."""
        return list(dict.fromkeys([*self.distinct, *filter(None, [self.number])]))


def counted_questions(
    names: Sequence[str], reading: Reading, read_table: Callable[[Table], Any]
) -> tuple[Table, dict[str, Any], Gathered] | None:
    """Return the questions of large files with their counts, or None if they are read whole.

    Raises:
        SelectionError: if samples have different settings, or are repeated or missing; and what
            `read_table` raises for all rows of some questions.
    """
    if not _can_be_counted(names, reading):
        return None
    title = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
    try:
        head = _head(names[0], reading)
        choice = _choice(head, reading)
        rows = _distinct_rows(names, head, choice) if choice else None
        counted = _questions_of(rows, choice, reading, title) if choice and rows else None
    except (ValueError, KeyError, OSError, NotImplementedError):
        return None  # reading whole says what is wrong, with its row
    if counted is None or choice is None:
        return None
    unclear = counted.unclear(names, reading)
    some = _rows_of_some(names, head, counted, unclear)
    if some is not None:
        read_table(replace(some, title=f"{title} (all rows of some questions)"))
    if unclear:
        return None
    chosen = {"outcomes": choice.outcome, **choice.per_question}
    return Table({}, title), chosen, counted.gathered(reading)


def _can_be_counted(names: Sequence[str], reading: Reading) -> bool:
    """Whether the files have one of the formats and are large, and nothing needs single samples."""
    needs_samples = (
        reading.group_size
        or reading.records
        or reading.has_labels
        or reading.checked
        or reading.unfinished
        or reading.pool not in ((), ("files",))
        or len(reading.questions) > 1
        or reading.named().keys() - {"outcomes", *PER_QUESTION}
    )
    formats = {Path(name).suffix.lower() for name in names}
    is_format = len(formats) == 1 and formats <= {*_FORMATS}
    if needs_samples or not is_format or any(map(is_remote, names)):
        return False
    paths = [Path(name) for name in names]
    return all(path.is_file() for path in paths) and _are_large(paths, formats == {".parquet"})


def _are_large(paths: Sequence[Path], is_parquet: bool) -> bool:
    if not is_parquet:
        return sum(path.stat().st_size for path in paths) >= LEAST_BYTES
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return sum(pq.read_metadata(path).num_rows for path in paths) >= LEAST_ROWS
    except (pa.ArrowException, OSError):
        return False


def _head(name: str, reading: Reading) -> Table:
    """Return the first rows of a file; a ValueError if they cannot be parsed or have classes."""
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


def _choice(head: Table, reading: Reading) -> Choice | None:
    """Return the columns to read; None unless questions and outcomes have one scalar column."""
    columns, named = head.columns, reading.named()
    where = {x for x, _ in reading.where}
    if recognised(head) or not {*named.values(), *reading.questions, *where} <= {*columns}:
        return None
    candidates = (columns_of_role(head, "outcomes"), columns_named(columns, IDS))
    told = (named.get("outcomes"), reading.questions)
    if any(len(x) > 1 and not y for x, y in zip(candidates, told, strict=True)):
        return None  # they may be equal in the first rows only
    chosen = choose_columns(head, named, reading.checked, reading.graded_by)
    questions = reading.questions or question_columns(head)
    if chosen.keys() != {"outcomes"} or len(questions) != 1 or columns_of_role(head, "n"):
        return None
    per_question = {
        role: name
        for role in PER_QUESTION
        if role in reading.columns and (name := column_per_question(head, role, named.get(role)))
    }
    fixed = {*SETTINGS, *PARTS, *OF_QUESTION, *ERRORS, *IDS, *INDICES, *where}
    others = [x for x in columns if {x, plain_name(x)} & fixed and x not in questions]
    read = {*questions, chosen["outcomes"], *others, *per_question.values()}
    numbers = [x for x in sample_numbers(columns, read) if plain_name(x) not in SHARED_NUMBERS]
    is_nested = any(isinstance(x, (list, dict)) for name in read for x in columns[name])
    if len(numbers) > 1 or is_nested:
        return None
    return Choice(questions[0], chosen["outcomes"], per_question, others, "".join(numbers))


# --- The counts of questions ------------------------------------------------------------------


class _Questions(NamedTuple):
    """Distinct rows as arrays: the question of each row, its outcome and how often it occurs."""

    title: str
    choice: Choice
    rows: Any  # a table of Arrow
    ids: Any  # (M,) an array of Arrow
    question: np.ndarray
    file: np.ndarray
    n: np.ndarray
    outcome: np.ndarray  # an index of `outcomes`, -1 if it is missing
    outcomes: list[Any]

    def unclear(self, names: Sequence[str], reading: Reading) -> list[int]:
        """Return questions that show settings, different models or a sample twice, if any do.

        Raises:
            SelectionError, ValueError: if files are of different models, or copies.
        """
        for name in (*self.choice.per_question.values(), *self.choice.others):
            if plain_name(name) in ERRORS:
                continue
            codes = _codes(self.rows[name])
            if (mixed := self._first_mixed(codes)) is not None:
                return [mixed]
            known, first = np.unique(codes, return_index=True)
            if plain_name(name) in MODELS and len(known) > 1:
                return self.question[first].tolist()
        mixed = self._first_mixed(self.file)
        if mixed is not None and "files" not in reading.pool:
            self._refuse_copies(names)
            if not are_repeated_runs(names):
                raise shared_questions_error(self.title, self.ids[mixed].as_py())
        return self._with_repeats(names) if self.choice.number else []

    def _first_mixed(self, codes: np.ndarray) -> int | None:
        """Return the first question with several of the codes, or None."""
        width = int(codes.max()) + 1
        pairs = np.unique(self.question.astype(np.int64) * width + codes) // width
        repeated = pairs[:-1][pairs[1:] == pairs[:-1]]
        return int(repeated[0]) if len(repeated) else None

    def _refuse_copies(self, names: Sequence[str]) -> None:
        """Raise a ValueError if a file has all rows of another one."""
        width = len(self.outcomes) + 1
        keys = self.question.astype(np.int64) * width + self.outcome + 1
        counts = [
            np.bincount(keys[rows], self.n[rows], len(self.ids) * width)
            for rows in (self.file == index for index in range(len(names)))
        ]
        for one, other in itertools.permutations(range(len(names)), 2):
            is_copy = (counts[one] <= counts[other]).all()
            if is_copy and counts[one].sum() >= LEAST_PLAIN_ROWS:
                raise copy_error(names[other], names[one])

    def _with_repeats(self, names: Sequence[str]) -> list[int]:
        """Return a question whose numbers of samples do not show that they are distinct, if any.

        The numbers of n samples between a least and a greatest one are distinct if there are as
        many as numbers between them, and their sum is that of these numbers.
        """
        import pyarrow as pa

        run = np.zeros_like(self.file) if are_parts(names) else self.file
        numbers = self.rows.select([_N, _LEAST, _MOST, _SUM])
        for name, column in (("question", self.question), ("run", run)):
            numbers = numbers.append_column(name, pa.array(column))
        table = _summed(numbers, ["question", "run"])
        n, least, most, total = (np.asarray(table[x]) for x in (_N, _LEAST, _MOST, _SUM))
        is_unclear = (n != most - least + 1) | (2 * total != n * (least + most))
        return np.asarray(table["question"])[is_unclear][:1].tolist()

    def some_ids(self) -> Any:
        """Return ids of questions, in blocks that follow each other: Arrow skips other blocks."""
        m, block = len(self.ids), max(1, _LOOKED_AT // 4)
        starts = [i * max(0, m - block) // 3 for i in range(4)]
        indices = sorted({x for start in starts for x in range(start, min(m, start + block))})
        return self.ids.take(self._order()[indices])

    def _order(self) -> np.ndarray:
        import pyarrow.compute as pc

        return np.asarray(pc.sort_indices(self.ids))

    def gathered(self, reading: Reading) -> Gathered:
        """Return the counts; a `MissingError` if nothing says what missing outcomes count."""
        m, outcomes, outcome = len(self.ids), self.outcomes, self.outcome
        number, said = int(self.n[outcome < 0].sum()), ""
        if number and reading.missing is None:
            what = f"{number} of {self.n.sum()} outcomes are missing"
            raise missing_error(self.title, what, "leaves them out")
        if number:
            said = f"{number} more not scored"
        if number and reading.missing == "incorrect":
            said = f"{number} of them missing, counted as incorrect"
            if False not in outcomes:
                outcomes, outcome = [False, *outcomes], outcome + 1
            outcome = np.maximum(outcome, 0)
        counts = np.zeros((m, len(outcomes)), dtype=np.int64)
        kept = outcome >= 0
        np.add.at(counts, (self.question[kept], outcome[kept]), self.n[kept])
        order = self._order()
        lost = counts[order].sum(axis=1) == 0
        if lost.any():
            said += warn_of_left_out(self.title, self.ids.take(order[lost]).to_pylist(), m)
            order = order[~lost]
        first = np.unique(self.question, return_index=True)[1][order]
        cells: dict[str, Any] = {
            role: entries_of_role(role, self.rows[name].take(first).to_pylist())
            for role, name in self.choice.per_question.items()
        }
        cells["predictions"] = _predictions(outcomes, counts[order])
        ids = self.ids.take(order).to_pylist()
        return Gathered(cells, ids, (self.choice.question,), True, said)


def _questions_of(rows: Any, choice: Choice, reading: Reading, title: str) -> _Questions | None:
    """Return the questions of distinct rows, or None if an id or an outcome is unclear."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in dict.fromkeys(x for x, _ in reading.where):
        pairs = [x for x in reading.where if x[0] == name]
        values = Table({name: pc.unique(rows[name]).to_pylist()})
        kept = [*rows_where(values, pairs).columns[name]]
        rows = rows.filter(pa.array(_where(rows[name], kept.__contains__)))
    ids = rows[choice.question]
    if ids.null_count or not (pa.types.is_integer(ids.type) or pa.types.is_string(ids.type)):
        return None
    encoded = pc.dictionary_encode(ids.cast(pa.string()).combine_chunks())
    texts = encoded.dictionary
    is_lost = pc.any(pc.is_in(texts, pa.array(sorted(NO_ID)))).as_py()
    trimmed = pc.utf8_trim_whitespace(pc.replace_substring_regex(texts, r"\s+", " "))
    if is_lost or not len(texts) or len(pc.unique(trimmed)) < len(texts):
        return None
    values = pc.unique(rows[choice.outcome])
    if len(values) > _MOST_OUTCOMES:
        return None
    source = Table({choice.outcome: values.to_pylist()}, title)
    read = read_outcomes(source, source.columns[choice.outcome], choice.outcome, reading)
    if any(isinstance(x, str) for x in read):
        return None
    outcomes = sorted({x for x in read if x is not None}, key=float)
    codes = np.array([-1 if x is None else outcomes.index(x) for x in read])
    outcome = codes[np.asarray(pc.index_in(rows[choice.outcome], values))]
    for name in choice.others:
        if plain_name(name) in ERRORS:
            outcome[_where(rows[name], is_error)] = -1
    question, file, n = (np.asarray(x) for x in (encoded.indices, rows[FILE], rows[_N]))
    return _Questions(title, choice, rows, texts, question, file, n, outcome, outcomes)


def _predictions(outcomes: list[Any], counts: np.ndarray) -> dict[str, list[Any]]:
    if all(isinstance(x, bool) for x in outcomes):
        correct = counts[:, outcomes.index(True)] if True in outcomes else 0 * counts[:, 0]
        return {"n": counts.sum(axis=1).tolist(), "correct": correct.tolist()}
    return {"answers": [outcomes] * len(counts), "counts": counts.tolist()}


def _codes(column: Any) -> np.ndarray:
    """Return a number for each value of a column of Arrow, 0 if it is missing."""
    return np.asarray(column.combine_chunks().dictionary_encode().indices.fill_null(-1)) + 1


def _where(column: Any, condition: Callable[[Any], bool]) -> np.ndarray:
    """Return whether the values of a column of Arrow fulfil a condition."""
    import pyarrow.compute as pc

    values = pc.unique(column)
    fulfilled = np.array([condition(x) for x in values.to_pylist()], dtype=bool)
    return fulfilled[np.asarray(pc.index_in(column, values))]


# --- Arrow and DuckDB -------------------------------------------------------------------------


def _distinct_rows(names: Sequence[str], head: Table, choice: Choice) -> Any | None:
    """Return the distinct rows of files as a table of Arrow, or None if they are read whole.

    Beside the columns that are counted, it has the index of the file, `_N` and, if samples are
    numbered, what is known of their numbers.
    """
    import pyarrow as pa

    tables = []
    for index, name in enumerate(names):
        is_lines = name.lower().endswith((".jsonl", ".ndjson"))
        rows = _lines_counted(name, choice) if is_lines else _batches_counted(name, head, choice)
        if rows is None or rows[choice.outcome].null_count == len(rows):
            return None
        tables.append(rows.append_column(FILE, pa.array([index] * len(rows), pa.int64())))
    rows = pa.concat_tables(tables)
    return rows if len(rows) <= _MOST_KEPT else None


def _batches_counted(name: str, head: Table, choice: Choice) -> Any | None:
    """Return the distinct rows of a file of Parquet or CSV, which is read in batches."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if name.lower().endswith(".parquet"):
        file = pq.ParquetFile(name, read_dictionary=[choice.question])
        batches = file.iter_batches(_BATCH, columns=choice.read)
    elif _has_quotes(name):
        return None
    else:
        batches = _dataset([name], head, choice.question).to_batches(columns=choice.read)
    tables = [_batch_counted(batch, choice) for batch in batches if len(batch)]
    return _summed(pa.concat_tables(tables), choice.distinct)


def _has_quotes(name: str) -> bool:
    """Whether a file of CSV has quotes below the names of its columns."""
    with open(name, "rb") as file:
        file.readline()
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.find(b'"', file.tell()) >= 0


def _batch_counted(batch: Any, choice: Choice) -> Any:
    """Return the distinct rows of a batch. Ids are grouped as numbers, which takes half as long.

    Raises:
        ValueError: if the number of a sample is missing, or is no whole number.
    """
    import pyarrow as pa

    ids = _encoded(batch[choice.question])
    columns = {name: batch[name] for name in choice.distinct} | {choice.question: ids.indices}
    columns[_N] = pa.array(np.ones(len(batch), dtype=np.int64))
    if choice.number:
        numbers = batch[choice.number].cast(pa.int64())
        if numbers.null_count:
            raise ValueError(f"{choice.number} is missing in some rows.")
        columns |= dict.fromkeys((_LEAST, _MOST, _SUM), numbers)
    rows = _summed(pa.table(columns), choice.distinct)
    return rows.set_column(0, choice.question, ids.dictionary.take(rows[choice.question]))


def _summed(rows: Any, keys: list[str]) -> Any:
    """Return rows with the same keys as one."""
    known = [(_N, "sum"), (_LEAST, "min"), (_MOST, "max"), (_SUM, "sum")]
    known = [pair for pair in known if pair[0] in rows.column_names]
    table = rows.group_by(keys, use_threads=False).aggregate(known)
    names = [*keys, *(name for name, _ in known)]
    return table.select([*keys, *map("_".join, known)]).rename_columns(names)


def _encoded(column: Any) -> Any:
    """Return a column of Arrow as numbers of its values."""
    return column if hasattr(column, "indices") else column.dictionary_encode()


def _dataset(names: Sequence[str], head: Table, question: str) -> Any:
    """Return files of Parquet or CSV as a dataset of Arrow, which filters by questions."""
    import pyarrow as pa
    import pyarrow.csv as pc
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    if not head.is_csv:
        # Texts stay dictionaries: most rows are left out, and decoding them takes most of the time.
        schema = pq.read_schema(names[0])
        texts = [x.name for x in schema if pa.types.is_string(x.type) and x.name != question]
        return ds.dataset(list(names), format=ds.ParquetFileFormat(dictionary_columns=texts))
    types = dict.fromkeys(head.columns, pa.string())
    converting = pc.ConvertOptions(column_types=types, strings_can_be_null=False)
    return ds.dataset(list(names), format=ds.CsvFileFormat(convert_options=converting))


def _lines_counted(name: str, choice: Choice) -> Any | None:
    """Return the distinct rows of a file of JSON Lines; None without DuckDB."""
    try:
        import duckdb
    except ImportError:
        return None
    if any('"' in x for x in choice.read):
        return None
    keys = ", ".join(f'"{x}"' for x in choice.distinct)
    number = f'CAST("{choice.number}" AS BIGINT)'
    of_numbers = f"""
        , min({number}) AS "{_LEAST}", max({number}) AS "{_MOST}"
        , CASE WHEN count({number}) = count(*) THEN sum({number})::BIGINT END AS "{_SUM}"
    """
    try:
        with duckdb.connect() as connection:
            rows = connection.sql(
                f"""
                SELECT {keys}, count(*) AS "{_N}" {of_numbers if choice.number else ""}
                FROM read_json(?, format='newline_delimited', columns=?, auto_detect=false)
                GROUP BY ALL
                """,
                params=[name, dict.fromkeys(choice.read, "VARCHAR")],
            ).to_arrow_table()
    except duckdb.Error:
        return None
    return None if choice.number and rows[_SUM].null_count else rows


def _rows_of_some(
    names: Sequence[str], head: Table, counted: _Questions, unclear: Sequence[int]
) -> Table | None:
    """Return all rows of some questions, or None if there are no columns but those that are read.

    Columns that take many bytes in a row are left out, unless they are of text formats.
    """
    question, read = counted.choice.question, counted.choice.read
    others = [x for x, cells in head.columns.items() if not any(isinstance(y, list) for y in cells)]
    if names[0].lower().endswith(".parquet"):
        narrow = _narrow_columns(names[0])
        others = [x for x in others if x in narrow or x in read]
    if {*others} <= {*read} and not unclear:
        return None
    ids = counted.ids.take(unclear) if unclear else counted.some_ids()
    if names[0].lower().endswith((".jsonl", ".ndjson")):
        return _lines_of(names, question, ids.to_pylist())
    import pyarrow.dataset as ds

    dataset = _dataset(names, head, question)
    chosen = ids.cast(dataset.schema.field(question).type)
    rows = dataset.to_table(columns=others, filter=ds.field(question).isin(chosen))
    return table_of_columns(rows.to_pydict(), is_csv=head.is_csv)


def _narrow_columns(name: str) -> set[str]:
    """Return the columns of a file of Parquet that take few bytes in a row."""
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(name)
    sizes: dict[str, int] = {}
    for group in range(metadata.num_row_groups):
        for index in range(metadata.num_columns):
            column = metadata.row_group(group).column(index)
            outer = column.path_in_schema.partition(".")[0]
            sizes[outer] = sizes.get(outer, 0) + column.total_uncompressed_size
    return {x for x, size in sizes.items() if size <= _WIDE * metadata.num_rows}


def _lines_of(names: Sequence[str], question: str, ids: Sequence[str]) -> Table:
    import duckdb

    with duckdb.connect() as connection:
        rows = connection.execute(
            "SELECT json FROM read_ndjson_objects(?) WHERE list_contains(?, "
            "json_extract_string(json, ?))",
            [list(names), list(ids), f"$.{json.dumps(question)}"],
        ).fetchall()
    return table_of_rows([json.loads(x) for (x,) in rows])
