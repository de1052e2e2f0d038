"""Large files of graded samples -> their distinct rows, and how often each occurs.

Parquet and CSV are counted by Arrow's scan and aggregation, JSON Lines by DuckDB where it is
installed. All cells of text formats are texts, so that no type is guessed. What needs each sample
by itself, and CSV with quotes (Arrow accepts one that is not closed), is read whole.
"""

from __future__ import annotations

import csv
import json
import mmap
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ..core.checks import short
from .formats import file_format
from .layouts import recognised
from .missing import ask_about_counts
from .names import (
    COLUMN_NAMES,
    IDS,
    INDICES,
    PARTS,
    QUESTION_TEXTS,
    SCORES,
    SETTINGS,
    SHARED_NUMBERS,
    columns_named,
    sample_numbers,
    usual_columns,
)
from .reading import Reading
from .remote import is_remote
from .roles import columns_of_role
from .settings import refuse_settings
from .table import COUNT, FILE, SelectionError, Table, rows_where, table_of_columns, table_of_rows
from .words import NO_ID, as_outcome, entry_text

LEAST_BYTES = 1 << 24
"""Smaller files are read whole. A row takes less in Parquet: see `LEAST_ROWS`."""
LEAST_ROWS = 1 << 20
_MOST_KEPT = 1 << 22  # distinct rows
_HEAD = 1 << 14  # rows whose settings are looked at
_FORMATS = (".parquet", ".csv", ".jsonl", ".ndjson")


class Choice(NamedTuple):
    """The columns of a file by what they are for: `number` numbers samples, or is ""."""

    questions: list[str]
    outcome: str
    others: list[str]
    number: str

    @property
    def distinct(self) -> list[str]:
        """The columns of the rows that are counted."""
        return list(dict.fromkeys((*self.questions, self.outcome, *self.others)))


def counted_table(names: Sequence[str], reading: Reading) -> Table | None:
    """Return the distinct rows of large files with the column `COUNT`, or None.

    Raises:
        SelectionError: if samples have different settings, or are repeated or missing.
    """
    roles = {role for role, x in reading.columns.items() if x is not None}
    others = (reading.group_size, reading.records, reading.has_labels, reading.checked)
    if any(others) or reading.pool not in ((), ("files",)):
        return None
    if roles - {"outcomes", "groups", "R0", "clusters"}:
        return None
    if not _are_large(names):
        return None
    head = _head(names[0])
    choice = None if head is None else _choice(head, reading)
    if head is None or choice is None or recognised(head) is not None:
        return None
    _refuse_settings_of(head, choice)
    is_split = len(names) > 1 and not reading.pool
    counted = _all_counts(names, list(head.columns), choice, is_split)
    if counted is None:
        return None
    columns = dict(
        zip((*choice.distinct, *([FILE] if is_split else []), COUNT), counted, strict=True)
    )
    title = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
    table = table_of_columns(columns, title)
    if _is_unclear(table, choice, reading):
        return None
    table = replace(table, files=tuple(names) if is_split else ())
    return _settled(rows_where(table, reading.where), choice, reading)


def _all_counts(
    names: Sequence[str], columns: Sequence[str], choice: Choice, is_split: bool
) -> list[list[Any]] | None:
    """Return the distinct rows of all files by column, the last of which has their numbers; with
    the index of the file, if rows of files are told apart.
    """
    import pyarrow as pa

    keys = [f"key {i}" for i, _ in enumerate(choice.distinct)]
    tables: list[Any] = []
    for index, name in enumerate(names):
        rows = _counted_rows(name, columns, choice)
        if rows is None or sum(len(x) for x in [*tables, rows]) > _MOST_KEPT:
            return None
        if choice.number and not _are_distinct(name, rows, choice):
            return None
        tables.append(rows.select([*keys, "n"]))
        if is_split:
            tables[-1] = tables[-1].append_column("file", pa.array([index] * len(rows)))
    keys += ["file"] if is_split else []
    try:
        table = pa.concat_tables(tables, promote_options="permissive")
        table = table.group_by(keys, use_threads=False).aggregate([("n", "sum")])
        table = table.sort_by([(key, "ascending") for key in keys])
    except pa.ArrowException:  # columns of different types
        return None
    return [table[x].to_pylist() for x in (*keys, "n_sum")]


def _is_unclear(table: Table, choice: Choice, reading: Reading) -> bool:
    """Whether an id or an outcome may be wrong, which reading whole says with its row."""
    ids = {entry_text(x) for name in choice.questions for x in table.columns[name]}
    if ids & NO_ID or len({" ".join(text.split()) for text in ids}) < len(ids):
        return True
    labels = (isinstance(as_outcome(x), str) for x in table.columns[choice.outcome])
    return not reading.correct_values and any(labels)


def _are_large(names: Sequence[str]) -> bool:
    """Whether the files have one of the formats, and so many rows or bytes."""
    formats = {Path(name).suffix.lower() for name in names}
    if len(formats) > 1 or not formats <= {*_FORMATS} or any(map(is_remote, names)):
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
            batch = next(pq.ParquetFile(name).iter_batches(_HEAD, use_threads=False))
            return table_of_columns(batch.to_pydict(), name)
        with open(name, encoding="utf-8") as file:
            lines = [line for _, line in zip(range(_HEAD), file, strict=False)]
        if file_format(Path(name)) != ".csv":
            return table_of_rows([json.loads(line) for line in lines if line.strip()], name)
        rows = list(csv.reader(lines))
        columns = dict(zip(rows[0], map(list, zip(*rows[1:], strict=True)), strict=True))
        return table_of_columns(columns, name, is_csv=True)
    except (ValueError, StopIteration, AttributeError, IndexError, csv.Error, pa.ArrowException):
        return None


def _choice(head: Table, reading: Reading) -> Choice | None:
    """Return the columns to read, or None unless they are named or clear from their names."""
    columns = head.columns
    outcomes = columns_of_role(head, "outcomes")
    if reading.correct_at_least is not None:
        outcomes = outcomes or columns_named(columns, SCORES)
    outcome = reading.columns.get("outcomes") or (outcomes[0] if len(outcomes) == 1 else None)
    is_open = not reading.columns.get("outcomes")
    if outcome is None or (is_open and columns_of_role(head, "predictions")):
        return None
    questions = list(reading.questions) or next(
        (x for names in (IDS, INDICES, QUESTION_TEXTS) if (x := columns_named(columns, names))), []
    )
    named = reading.named()
    per_question: list[str] = [named[x] for x in ("groups", "R0", "clusters") if x in named]
    fixed = SETTINGS | PARTS | {*COLUMN_NAMES["questions"]}
    others = [*per_question, *usual_columns(columns, "groups"), *(x for x, _ in reading.where)]
    others += [name for name in columns if name.lower() in fixed and name not in questions]
    read = {*questions, outcome, *others}
    counts = {*COLUMN_NAMES["n"], "count", "counts"} & {name.lower() for name in columns}
    numbers = [x for x in sample_numbers(columns, read) if x.lower() not in SHARED_NUMBERS]
    is_flat = read <= columns.keys() and not any(
        isinstance(x, (list, dict)) for name in read for x in columns[name]
    )
    if len(questions) != 1 or counts or len(numbers) > 1 or not is_flat:
        return None
    number = numbers[0] if numbers and numbers[0] not in others else ""
    return Choice(questions, outcome, others, number)


def _refuse_settings_of(head: Table, choice: Choice) -> None:
    """Look for settings in the first rows, in all columns."""
    ids = list(map(entry_text, head.columns[choice.questions[0]]))
    rows_of: dict[str, list[int]] = {}
    for row, (question, outcome) in enumerate(zip(ids, head.columns[choice.outcome], strict=True)):
        if as_outcome(outcome) is not None:
            rows_of.setdefault(question, []).append(row)
    used = {choice.outcome, *choice.others, choice.number}
    refuse_settings(head, choice.questions, rows_of, used, ())


def _are_distinct(name: str, rows: Any, choice: Choice) -> bool:
    """Whether the numbers of samples show that no question has a sample twice.

    The numbers of n samples between a least and a greatest one are distinct if there are as many
    as numbers between them, and their sum is that of these numbers.
    """
    keys = [f"key {choice.distinct.index(x)}" for x in choice.questions]
    parts = [("n", "sum"), ("min", "min"), ("max", "max"), ("sum", "sum")]
    table = rows.group_by(keys, use_threads=False).aggregate(parts)
    if table["min_min"].null_count:
        return False
    n, least, most, total = (table[f"{x}_{y}"].to_numpy() for x, y in parts)
    has_copies = n > most - least + 1
    if has_copies.any():
        row = int(has_copies.argmax())
        question = table[keys[0]][row].as_py()
        raise SelectionError(
            f"{name}: {choice.questions[0]} {short(question)} has {n[row]} samples, and "
            f"{choice.number} numbers {most[row] - least[row] + 1} at most: samples are repeated. "
            f"Leave out the copies, unless {choice.number} does not number samples.",
            ["pool"],
            choice.distinct,
            [choice.number],
        )
    return bool(((n == most - least + 1) & (2 * total == n * (least + most))).all())


def _settled(table: Table, choice: Choice, reading: Reading) -> Table:
    """Return the table as the caller says of missing outcomes; a `MissingError` if it does not."""
    outcomes = [None if as_outcome(x) is None else x for x in table.columns[choice.outcome]]
    counts = table.columns[COUNT]
    absent = sum(n for x, n in zip(outcomes, counts, strict=True) if x is None)
    if not absent:
        return table
    if reading.missing is None:
        raise ask_about_counts(table.title, outcomes, counts)
    if reading.missing == "incorrect":
        wrong = "false" if reading.correct_values else False
        filled = [wrong if x is None else x for x in outcomes]
        said = f"{absent} of them missing, counted as incorrect"
        return replace(table, columns={**table.columns, choice.outcome: filled}, missing=said)
    kept = [row for row, x in enumerate(outcomes) if x is not None]
    ids = table.columns[choice.questions[0]]
    lost = len({*ids}) - len({ids[row] for row in kept})
    said = f"{absent} missing samples left out" + (f", with {lost} questions" if lost else "")
    return replace(table.with_rows(kept), missing=said)


# --- Arrow and DuckDB -------------------------------------------------------------------------


def _counted_rows(name: str, names: Sequence[str], choice: Choice) -> Any | None:
    """Return the distinct rows of a file as a table of Arrow, each with its number n and the least,
    the greatest and the sum of the numbers of samples; or None if the file has to be read whole.
    """
    import pyarrow as pa

    suffix = Path(name).suffix.lower()
    try:
        if suffix in (".jsonl", ".ndjson"):
            return _by_duckdb(name, choice)
        if suffix == ".csv" and _has_quotes(name):
            return None
        return _by_arrow(name, names if suffix == ".csv" else (), choice)
    except (pa.ArrowException, OSError, ValueError):
        return None


def _has_quotes(name: str) -> bool:
    """Whether there are quotes below the names of the columns."""
    with open(name, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(b'"', data.find(b"\n") + 1) >= 0


def _by_arrow(name: str, texts: Sequence[str], choice: Choice) -> Any:
    import pyarrow as pa
    import pyarrow.csv as pc
    import pyarrow.dataset as ds
    from pyarrow.acero import AggregateNodeOptions, Declaration, ProjectNodeOptions, ScanNodeOptions

    kind: Any = "parquet"
    if texts:
        types = dict.fromkeys(texts, pa.string())
        converting = pc.ConvertOptions(column_types=types, strings_can_be_null=False)
        kind = ds.CsvFileFormat(convert_options=converting)
    keys = choice.distinct
    fields, labels = [ds.field(x) for x in keys], [f"key {i}" for i, _ in enumerate(keys)]
    number = ds.field(choice.number).cast(pa.int64()) if choice.number else ds.scalar(0)
    aggregates: list[Any] = [([], "hash_count_all", None, "n")]
    aggregates += [("number", f"hash_{x}", None, x) for x in ("min", "max", "sum")]
    read = [*keys, choice.number] if choice.number else keys
    plan = Declaration.from_sequence(
        [
            Declaration("scan", ScanNodeOptions(ds.dataset(name, format=kind), columns=read)),
            Declaration("project", ProjectNodeOptions([*fields, number], [*labels, "number"])),
            Declaration("aggregate", AggregateNodeOptions(aggregates, labels)),
        ]
    )
    return plan.to_table()


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
