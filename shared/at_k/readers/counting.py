"""Large files of graded samples -> the counts of each question, without a list of their samples.

Parquet and CSV are counted by Arrow's scan and aggregation, JSON Lines by DuckDB where it is
installed. All cells of text formats are texts, so that no type is guessed. What needs each sample
by itself, what is unclear, and CSV with quotes (Arrow accepts one that is not closed) is read
whole. Settings and repeated rows are looked for in all rows of some questions.
"""

from __future__ import annotations

import csv
import itertools
import json
import math
import mmap
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .cells import entries_of_role, read_outcomes
from .layouts import recognised
from .missing import ask_about_counts, is_error
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
from .table import Table, class_names, rows_where, table_of_columns, table_of_rows
from .words import NO_ID

LEAST_BYTES = 1 << 24
"""Smaller files are read whole. A row takes less in Parquet: see `LEAST_ROWS`."""
LEAST_ROWS = 1 << 20
_MOST_KEPT = 1 << 24  # distinct rows
_MOST_OUTCOMES = 64
_HEAD = 1 << 14  # rows that show what the columns hold
_LOOKED_AT = 32  # questions
_BATCH = 1 << 20
_WIDE = 64  # bytes in each row: a column of texts is no setting
_FORMATS = (".parquet", ".csv", ".jsonl", ".ndjson")


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


def counted_questions(
    names: Sequence[str], reading: Reading, read_table: Callable[[Table], Any]
) -> tuple[Table, dict[str, Any], Gathered] | None:
    """Return the questions of large files with their counts, or None if they are read whole.

    Args:
        names: of the files.
        reading: what the caller says.
        read_table: reads a table, of which the errors are raised.

    Raises:
        SelectionError: if samples have different settings, or are repeated or missing.
    """
    if not _can_be_counted(names, reading):
        return None
    head = _head(names[0])
    try:
        choice = None if head is None or recognised(head) else _choice(head, reading)
    except ValueError:  # reading whole says what is wrong, with its row
        return None
    rows = None if head is None or choice is None else _distinct_rows(names, head, choice)
    if rows is None or head is None or choice is None or len(rows) > _MOST_KEPT:
        return None
    title = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
    counted = _Questions.of_rows(rows, choice, reading, title)
    if counted is None or not len(counted.ids):
        return None
    unclear = counted.unclear(names, reading)
    some = _rows_of_some(names, head, choice, counted, unclear)
    if some is not None:
        read_table(replace(some, title=f"{title} (all rows of some questions)"))
    if unclear:
        return None
    gathered = counted.gathered(reading)
    chosen = {"outcomes": choice.outcome, **choice.per_question}
    return Table({}, title), chosen, gathered


def _can_be_counted(names: Sequence[str], reading: Reading) -> bool:
    """Whether the files have one of the formats and are large, and nothing needs single samples."""
    others = (
        reading.group_size,
        reading.records,
        reading.has_labels,
        reading.checked,
        reading.unfinished,
    )
    if any(others) or reading.pool not in ((), ("files",)) or len(reading.questions) > 1:
        return False
    if reading.named().keys() - {"outcomes", *PER_QUESTION}:
        return False
    formats = {Path(name).suffix.lower() for name in names}
    if len(formats) != 1 or not formats <= {*_FORMATS} or any(map(is_remote, names)):
        return False
    paths = [Path(name) for name in names]
    if not all(path.is_file() for path in paths):
        return False
    if formats == {".parquet"}:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return sum(pq.read_metadata(path).num_rows for path in paths) >= LEAST_ROWS
        except (pa.ArrowException, OSError):
            return False
    return sum(path.stat().st_size for path in paths) >= LEAST_BYTES


def _head(name: str) -> Table | None:
    """Return the first rows of a file, or None if they cannot be parsed."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if name.lower().endswith(".parquet"):
            file = pq.ParquetFile(name)
            if class_names(file.schema_arrow):
                return None
            batch = next(file.iter_batches(_HEAD, use_threads=False))
            return table_of_columns(batch.to_pydict(), name)
        with open(name, encoding="utf-8") as lines:
            first = list(itertools.islice(lines, _HEAD))
        if not name.lower().endswith(".csv"):
            return table_of_rows([json.loads(line) for line in first if line.strip()], name)
        rows = list(csv.reader(first))
        columns = dict(zip(rows[0], map(list, zip(*rows[1:], strict=True)), strict=True))
        return table_of_columns(columns, name, is_csv=True)
    except (ValueError, StopIteration, AttributeError, IndexError, csv.Error, pa.ArrowException):
        return None


def _choice(head: Table, reading: Reading) -> Choice | None:
    """Return the columns to read; None unless questions and outcomes have one scalar column."""
    columns, named = head.columns, reading.named()
    if not {*named.values(), *reading.questions, *(x for x, _ in reading.where)} <= {*columns}:
        return None
    candidates = (columns_of_role(head, "outcomes"), columns_named(columns, IDS))
    told = (named.get("outcomes"), reading.questions)
    if any(len(x) > 1 and not y for x, y in zip(candidates, told, strict=True)):
        return None  # they may be equal in the first rows only
    chosen = choose_columns(head, named, reading.checked, reading.graded_by)
    questions = reading.questions or question_columns(head)
    if chosen.keys() != {"outcomes"} or len(questions) != 1:
        return None
    per_question: dict[str, str] = {}
    for role in PER_QUESTION:
        name = column_per_question(head, role, named.get(role)) if role in reading.columns else None
        per_question |= {role: name} if name else {}
    fixed = {*SETTINGS, *PARTS, *OF_QUESTION, *ERRORS, *IDS, *INDICES}
    fixed |= {x for x, _ in reading.where}
    others = [x for x in columns if {x, x.lower()} & fixed and x not in questions]
    read = {*questions, chosen["outcomes"], *others, *per_question.values()}
    numbers = [x for x in sample_numbers(columns, read) if x.lower() not in SHARED_NUMBERS]
    is_flat = not any(isinstance(x, (list, dict)) for name in read for x in columns[name])
    if len(numbers) > 1 or not is_flat or columns_of_role(head, "n"):
        return None
    number = next(iter(numbers), "")
    return Choice(questions[0], chosen["outcomes"], per_question, others, number)


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

    @classmethod
    def of_rows(cls, rows: Any, choice: Choice, reading: Reading, title: str) -> _Questions | None:
        """Return the questions, or None if an id or an outcome is unclear."""
        import pyarrow as pa
        import pyarrow.compute as pc

        rows = rows.filter(_chosen_rows(rows, choice, reading))
        ids = rows["key 0"]
        if ids.null_count or not (pa.types.is_integer(ids.type) or pa.types.is_string(ids.type)):
            return None
        encoded = pc.dictionary_encode(ids.cast(pa.string()).combine_chunks())
        texts = encoded.dictionary
        trimmed = pc.replace_substring_regex(texts, r"\s+", " ")
        is_lost = pc.any(pc.is_in(texts, pa.array(sorted(NO_ID)))).as_py()
        if is_lost or len(pc.unique(pc.utf8_trim_whitespace(trimmed))) < len(texts):
            return None
        values = pc.unique(rows["key 1"])
        if len(values) > _MOST_OUTCOMES:
            return None
        source = Table({choice.outcome: values.to_pylist()}, title)
        read = read_outcomes(source, source.columns[choice.outcome], choice.outcome, reading)
        if any(isinstance(x, str) for x in read):
            return None
        outcomes = sorted({x for x in read if x is not None}, key=float)
        places = np.array([-1 if x is None else outcomes.index(x) for x in read])
        outcome = places[_array(pc.index_in(rows["key 1"], values))]
        for name in choice.others:
            if name.lower() in ERRORS:
                outcome[_where(rows[_key(choice, name)], is_error)] = -1
        arrays = (_array(encoded.indices), _array(rows["file"]), _array(rows["n"]), outcome)
        return cls(title, choice, rows, texts, *arrays, outcomes)

    def unclear(self, names: Sequence[str], reading: Reading) -> list[int]:
        """Return questions that show settings, different models or a sample twice, if any do.

        Raises:
            SelectionError, ValueError: if files are of different models, or copies.
        """
        for name in (*self.choice.per_question.values(), *self.choice.others):
            if name.lower() in ERRORS:
                continue
            codes = _codes(self.rows[_key(self.choice, name)])
            if (mixed := self._first_mixed(codes)) is not None:
                return [mixed]
            known, first = np.unique(codes, return_index=True)
            if name.lower() in MODELS and len(known) > 1:
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
        if len(pairs) == len(self.ids):
            return None
        return int(pairs[:-1][pairs[1:] == pairs[:-1]][0])

    def _refuse_copies(self, names: Sequence[str]) -> None:
        """Raise a ValueError if a file has all rows of another one."""
        width = len(self.outcomes) + 1
        keys = self.question.astype(np.int64) * width + self.outcome + 1
        files = []
        for index in range(len(names)):
            rows = np.flatnonzero(self.file == index)
            rows = rows[np.argsort(keys[rows])]
            files.append((keys[rows], self.n[rows]))
        for (i, (one, n)), (j, (other, m)) in itertools.permutations(enumerate(files), 2):
            if len(one) <= len(other) and n.sum() >= LEAST_PLAIN_ROWS:
                places = np.minimum(np.searchsorted(other, one), len(other) - 1)
                if (other[places] == one).all() and (n <= m[places]).all():
                    raise copy_error(names[j], names[i])

    def _with_repeats(self, names: Sequence[str]) -> list[int]:
        """Return a question whose numbers of samples do not show that they are distinct, if any.

        The numbers of n samples between a least and a greatest one are distinct if there are as
        many as numbers between them, and their sum is that of these numbers.
        """
        import pyarrow as pa

        of_run = np.zeros_like(self.file) if are_parts(names) else self.file
        numbers = pa.table({x: self.rows[x] for x in ("n", "min", "max", "sum")})
        for name, column in (("question", self.question), ("file", of_run)):
            numbers = numbers.append_column(name, pa.array(column))
        table = _summed(numbers, ["question", "file"])
        n, least, most, total = (np.asarray(table[x]) for x in ("n", "min", "max", "sum"))
        is_unclear = (n != most - least + 1) | (2 * total != n * (least + most))
        return np.asarray(table["question"])[is_unclear][:1].tolist()

    def some_ids(self, number: int) -> Any:
        """Return ids of questions, in blocks that follow each other: Arrow skips other blocks."""
        m, block = len(self.ids), max(1, number // 4)
        starts = [i * max(0, m - block) // 3 for i in range(4)]
        places = sorted({x for start in starts for x in range(start, min(m, start + block))})
        return self.ids.take(self._order()[places])

    def _order(self) -> np.ndarray:
        import pyarrow.compute as pc

        return np.asarray(pc.sort_indices(self.ids))

    def gathered(self, reading: Reading) -> Gathered:
        """Return the counts; a `MissingError` if nothing says what missing outcomes count."""
        m, outcomes, outcome, n = len(self.ids), self.outcomes, self.outcome, self.n
        is_missing = outcome < 0
        number, said = int(n[is_missing].sum()), ""
        if number and reading.missing is None:
            raise ask_about_counts(self.title, number, int(n.sum()))
        if reading.missing == "incorrect" and number:
            said = f"{number} of them missing, counted as incorrect"
            outcomes = outcomes if False in outcomes else [False, *outcomes]
            outcome = np.where(is_missing, 0, outcome + (len(outcomes) > len(self.outcomes)))
        counts = np.zeros((m, len(outcomes)), dtype=np.int64)
        kept = outcome >= 0
        np.add.at(counts, (self.question[kept], outcome[kept]), n[kept])
        order = self._order()
        lost = counts[order].sum(axis=1) == 0
        if reading.missing == "drop" and number:
            said = f"{number} of them not scored"
        if lost.any():
            left = f"{lost.sum()} of {m} questions have no sample that is scored"
            shown = self.ids.take(order[lost][:10]).to_pylist()
            warnings.warn(f"{self.title}: {left}, and are left out: {shown}.", stacklevel=2)
            said += f"; {left}, and are left out"
            order = order[~lost]
        counts, first = counts[order], np.unique(self.question, return_index=True)[1][order]
        cells: dict[str, Any] = {
            role: entries_of_role(role, self.rows[_key(self.choice, name)].take(first).to_pylist())
            for role, name in self.choice.per_question.items()
        }
        cells["predictions"] = _predictions(outcomes, counts)
        return Gathered(
            cells, self.ids.take(order).to_pylist(), (self.choice.question,), True, said
        )


def _predictions(outcomes: list[Any], counts: np.ndarray) -> dict[str, list[Any]]:
    if all(isinstance(x, bool) for x in outcomes):
        correct = counts[:, outcomes.index(True)] if True in outcomes else 0 * counts[:, 0]
        return {"n": counts.sum(axis=1).tolist(), "correct": correct.tolist()}
    return {"answers": [outcomes] * len(counts), "counts": counts.tolist()}


def _key(choice: Choice, name: str) -> str:
    return f"key {choice.distinct.index(name)}"


def _array(column: Any) -> np.ndarray:
    return (
        column.to_numpy(zero_copy_only=False) if hasattr(column, "indices") else np.asarray(column)
    )


def _codes(column: Any) -> np.ndarray:
    """Return a number for each value of a column of Arrow, 0 if it is missing."""
    return _array(column.combine_chunks().dictionary_encode().indices.fill_null(-1)) + 1


def _where(column: Any, condition: Callable[[Any], bool]) -> np.ndarray:
    """Return whether the values of a column of Arrow fulfil a condition."""
    import pyarrow.compute as pc

    values = pc.unique(column)
    return np.array([*map(condition, values.to_pylist())], dtype=bool)[
        _array(pc.index_in(column, values))
    ]


def _chosen_rows(rows: Any, choice: Choice, reading: Reading) -> Any:
    """Return whether the rows have the entries of `where`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    chosen = np.ones(len(rows), dtype=bool)
    for name in dict.fromkeys(x for x, _ in reading.where):
        column = rows[_key(choice, name)]
        values = Table({name: pc.unique(column).to_pylist()})
        pairs = [x for x in reading.where if x[0] == name]
        kept = [*rows_where(values, pairs).columns[name]]
        chosen &= _where(column, kept.__contains__)
    return pa.array(chosen)


# --- Arrow and DuckDB -------------------------------------------------------------------------


def _distinct_rows(names: Sequence[str], head: Table, choice: Choice) -> Any | None:
    """Return the distinct rows of files as a table of Arrow, each with the index of its file, its
    number n and the least, the greatest and the sum of the numbers of samples; or None if the files
    have to be read whole.
    """
    import pyarrow as pa

    suffix = Path(names[0]).suffix.lower()
    is_lines = suffix in (".jsonl", ".ndjson")
    try:
        if not (is_lines or _have_columns(names, suffix, choice.distinct)):
            return None
        tables = []
        for index, name in enumerate(names):
            rows = _by_duckdb(name, choice) if is_lines else _by_arrow(name, head, choice)
            if rows is None or rows["key 1"].null_count == len(rows):
                return None
            tables.append(rows.append_column("file", pa.array([index] * len(rows), pa.int64())))
        return pa.concat_tables(tables)
    except (pa.ArrowException, OSError, ValueError):
        return None


def _have_columns(names: Sequence[str], suffix: str, columns: Sequence[str]) -> bool:
    """Whether all files have the columns with the same types, and no quotes below their names."""
    if suffix == ".csv":
        heads = set()
        for name in names:
            with open(name, "rb") as file:
                heads.add(file.readline().strip())
                with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                    if data.find(b'"', file.tell()) >= 0:
                        return False
        return len(heads) == 1
    import pyarrow.parquet as pq

    schemas = [pq.read_schema(name) for name in names]
    return len({tuple(str(x.field(name).type) for name in columns) for x in schemas}) == 1


def _dataset(names: Sequence[str], head: Table, suffix: str) -> Any:
    import pyarrow as pa
    import pyarrow.csv as pc
    import pyarrow.dataset as ds

    if suffix == ".parquet":
        return ds.dataset(list(names), format="parquet")
    types = dict.fromkeys(head.columns, pa.string())
    converting = pc.ConvertOptions(column_types=types, strings_can_be_null=False)
    return ds.dataset(list(names), format=ds.CsvFileFormat(convert_options=converting))


def _by_arrow(name: str, head: Table, choice: Choice) -> Any | None:
    """Return the distinct rows of a file of Parquet or CSV, which is read in batches.

    The values of each batch are numbered first, because to group texts takes three times as long.
    Parquet has numbered them already.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    read = list(dict.fromkeys((*choice.distinct, *([choice.number] if choice.number else []))))
    if name.lower().endswith(".parquet"):
        file = pq.ParquetFile(name, read_dictionary=[choice.question])
        batches = file.iter_batches(_BATCH, columns=read)
    else:
        batches = _dataset([name], head, ".csv").to_batches(columns=read)
    tables = [_rows_of_batch(batch, choice) for batch in batches if len(batch)]
    if not tables or any(table is None for table in tables):
        return None
    keys = [f"key {i}" for i, _ in enumerate(choice.distinct)]
    return _summed(pa.concat_tables(tables), keys)


def _rows_of_batch(batch: Any, choice: Choice) -> Any | None:
    """Return the distinct rows of a batch, or None if a question or the number of a sample is
    missing.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    codes, dictionaries = np.zeros(len(batch), dtype=np.int64), []
    for name in choice.distinct:
        encoded = pc.dictionary_encode(batch[name], null_encoding="encode")
        dictionaries.append(encoded.dictionary)
        if encoded.indices.null_count:
            return None
        codes = codes * len(encoded.dictionary) + np.asarray(encoded.indices)
    distinct = None
    if math.prod(map(len, dictionaries)) > 4 * _BATCH:
        distinct, codes = np.unique(codes, return_inverse=True)
    numbers = np.zeros(len(batch), dtype=np.int64)
    if choice.number:
        column = batch[choice.number].cast(pa.int64())
        if column.null_count:
            return None
        numbers = np.asarray(column)
    n = np.bincount(codes)
    rows = np.flatnonzero(n)
    least, most = np.full(len(n), numbers.max()), np.full(len(n), numbers.min())
    np.minimum.at(least, codes, numbers)
    np.maximum.at(most, codes, numbers)
    total = np.bincount(codes, numbers).astype(np.int64)
    columns: dict[str, Any] = {}
    codes = rows if distinct is None else distinct
    for i in reversed(range(len(dictionaries))):
        codes, places = np.divmod(codes, len(dictionaries[i]))
        columns[f"key {i}"] = dictionaries[i].take(pa.array(places))
    columns |= {"n": n[rows], "min": least[rows], "max": most[rows], "sum": total[rows]}
    return pa.table(columns)


def _summed(rows: Any, keys: list[str]) -> Any:
    """Return rows with the same keys as one."""
    parts = [("n", "sum"), ("min", "min"), ("max", "max"), ("sum", "sum")]
    table = rows.group_by(keys, use_threads=False).aggregate(parts)
    return table.select([*keys, *(f"{x}_{y}" for x, y in parts)]).rename_columns(
        [*keys, *(x for x, _ in parts)]
    )


def _by_duckdb(name: str, choice: Choice) -> Any | None:
    try:
        import duckdb
    except ImportError:
        return None
    read = dict.fromkeys((*choice.distinct, *([choice.number] if choice.number else [])), "VARCHAR")
    keys = ", ".join(f'"{x}" AS "key {i}"' for i, x in enumerate(choice.distinct))
    number = f'CAST("{choice.number}" AS BIGINT)' if choice.number else "0"
    if any('"' in x for x in read):
        return None
    try:
        with duckdb.connect() as connection:
            return connection.sql(
                f"SELECT {keys}, count(*) AS n, min({number}) AS min, max({number}) AS max, "
                f"sum({number})::BIGINT AS sum "
                f"FROM read_json(?, format='newline_delimited', columns=?, auto_detect=false) "
                f"GROUP BY ALL",
                params=[name, read],
            ).to_arrow_table()
    except duckdb.Error:
        return None


def _rows_of_some(
    names: Sequence[str],
    head: Table,
    choice: Choice,
    counted: _Questions,
    unclear: Sequence[int],
) -> Table | None:
    """Return all rows of some questions, or None if there are no columns but those that are read.

    Columns that take many bytes in a row are left out, unless they are of text formats.
    """
    used = {*choice.distinct, choice.number}
    others = [x for x, cells in head.columns.items() if not any(isinstance(y, list) for y in cells)]
    suffix = Path(names[0]).suffix.lower()
    if suffix == ".parquet":
        narrow = _narrow_columns(names[0])
        others = [x for x in others if x in narrow or x in used]
    if used.issuperset(others) and not unclear:
        return None
    ids = counted.ids.take(unclear) if unclear else counted.some_ids(_LOOKED_AT)
    if suffix in (".jsonl", ".ndjson"):
        return _lines_of(names, choice.question, ids.to_pylist())
    import pyarrow.dataset as ds

    dataset = _dataset(names, head, suffix)
    field = ds.field(choice.question)
    chosen = ids.cast(dataset.schema.field(choice.question).type)
    rows = dataset.to_table(columns=others, filter=field.isin(chosen))
    return table_of_columns(rows.to_pydict(), is_csv=suffix == ".csv")


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

    path = "$." + json.dumps(question)
    with duckdb.connect() as connection:
        rows = connection.execute(
            "SELECT json FROM read_ndjson_objects(?) WHERE list_contains(?, "
            "json_extract_string(json, ?))",
            [list(names), list(ids), path],
        ).fetchall()
    return table_of_rows([json.loads(x) for (x,) in rows])
