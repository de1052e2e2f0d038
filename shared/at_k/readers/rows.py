"""The rows of each question, chosen by their entries.

Rows of different runs, or of different questions, are not taken as samples of one question.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.checks import FROM_0, Index, InputError, is_missing, short
from ..core.containers import QUESTION_NAMES
from .columns import (
    PER_SAMPLE,
    Filter,
    SelectionError,
    as_whole_number,
    column_at,
    comparable,
    entry_text,
    found_columns,
    has_lists,
    in_row,
    list_columns,
    question_columns,
    with_fields,
    word,
)
from .selection import numbers_samples
from .table import ArrowColumn, Columns, Table, columns_of_rows

IDENTIFYING = {
    # which model gave the sample, and how it was run
    *("model", "model_name", "model_id", "model_args", "checkpoint", "revision", "policy"),
    *("run", "run_id", "run_name", "eval_id", "eval", "experiment", "experiment_id", "log"),
    *("step", "global_step", "training_step", "iteration", "temperature", "config", "system"),
    *("solver", "method", "variant", "agent", "prompt_template", "template", "num_fewshot"),
    *("condition", "setting", "arm", "source", "file", "filename", "path"),
    # what became of it
    *("filter", "filter_key", "scorer", "scorer_name", "metric", "metric_name", "grader"),
    # which question it answers
    *("task", "task_name", "dataset", "dataset_name", "benchmark", "subset", "subtask", "split"),
    *("subject", "category", "topic", "level", "language", "lang"),
    *QUESTION_NAMES,
}
"""Columns whose entries are equal in all samples of a question, by their names in lower case.

The index of a sample, an epoch and a seed are not among them, because they differ from sample to
sample.
"""

SAMPLE_NUMBERS = {
    f"{sample}{suffix}"
    for sample in ("sample", "completion", "response", "generation", "rollout", "attempt", "trial")
    for suffix in ("_id", "_idx", "_index", "_num", "_number")
} | {"epoch", "repeat", "repeat_id", "repeat_idx", "repeat_index"}
"""Columns that number the samples of a question, by their names in lower case.

A seed is not among them, because several samples can have the same one, and a completion is not,
because it can be an answer.
"""

_TEXTS = ("question", "problem", "prompt")


@dataclass(frozen=True)
class Gathering:
    """How the rows of a source become questions.

    Attributes:
        columns: the source.
        title: its name in messages.
        key: the columns that identify the questions.
        rows_of: the rows of each question, by what identifies it.
        pool: columns that distinguish samples of the same number, such as the name of a run.
        used: columns that may vary within a question.
    """

    columns: Columns
    title: str
    key: Sequence[str]
    rows_of: Mapping[Any, Sequence[int]]
    pool: Sequence[str] = ()
    used: Collection[str] = ()

    def name_question(self, row: int) -> str:
        """Return the question of a row with the columns that identify it."""
        return ", ".join(f"{name} {short(self.columns[name][row])}" for name in self.key)


def rows_inside(table: Table, path: str) -> Table:
    """Return the table whose rows are the objects in the lists that a dotted path leads to.

    Raises:
        SelectionError: if there is no such column or field.
        ValueError: if there are other entries than objects.
    """
    records = list(_flat(with_fields(table, [("records", path)]).columns[path]))
    for index, record in enumerate(records):
        if not isinstance(record, dict):
            raise ValueError(
                f"records is {path!r}, where entry {index} is {short(record)}: name the list whose "
                f"entries are objects, one for each row."
            )
    return Table(columns_of_rows(records), sources=table.sources)


def _flat(cells: Iterable[Any]) -> Iterator[Any]:
    for cell in cells:
        if isinstance(cell, list):
            yield from _flat(cell)
        elif cell is not None:
            yield cell


def rows_where(table: Table, where: Sequence[tuple[str, Any]]) -> Table:
    """Return the table with the rows that have these entries in these columns.

    Args:
        table: the source.
        where: pairs of a column and an entry. Entries of the same column are alternatives.
    """
    for name, entries in entries_by_column(where).items():
        cells, words = table.columns[name], set(map(word, entries))
        numbers = set(map(comparable, entries))
        rows = [
            row
            for row, cell in enumerate(cells)
            if cell in entries
            or word(cell) in words
            or (not isinstance(cell, str) and comparable(cell) in numbers)
        ]
        if not rows:
            texts = list(dict.fromkeys(map(entry_text, cells)))
            shown = ", ".join(map(short, texts[:8])) + (", .." if len(texts) > 8 else "")
            wanted = " or ".join(map(short, entries))
            raise ValueError(f"No row has {wanted} in {name}. Its entries are {shown}.")
        table = table.with_rows(
            {column: _entries_in(cells, rows) for column, cells in table.columns.items()}
        )
    return table


def entries_by_column(where: Sequence[tuple[str, Any]]) -> dict[str, list[Any]]:
    """Return the entries that each column may have."""
    entries: dict[str, list[Any]] = {}
    for name, entry in where:
        entries.setdefault(name, []).append(entry)
    return entries


def _entries_in(cells: Sequence[Any], rows: Sequence[int]) -> Sequence[Any]:
    """Return the entries of a column in these rows."""
    if isinstance(cells, ArrowColumn):
        return ArrowColumn(cells.array.take(rows))
    return [cells[row] for row in rows]


def rows_by_question(
    columns: Columns, key: Sequence[str], title: str | None = None
) -> dict[Any, list[int]]:
    """Return the rows of each question, by the entry or the entries that identify it.

    Args:
        columns: the source.
        key: the columns that identify questions. If there is none, all rows are one question.
        title: the name of the source, if a missing entry is an error.
    """
    if not key:
        return {"": list(range(max(map(len, columns.values()))))}
    texts = [[entry_text(entry) for entry in columns[name]] for name in key]
    if title is not None:
        for name, entries in zip(key, texts, strict=True):
            check_ids(title, name, entries, is_whole=len(key) == 1)
    rows_of: dict[Any, list[int]] = {}
    for row, question in enumerate(texts[0] if len(key) == 1 else zip(*texts, strict=True)):
        rows_of.setdefault(question, []).append(row)
    return rows_of


NO_ID = frozenset(("", "nan", "NaN", "<NA>", "NaT", "None", "null", "NULL"))
"""What libraries write for an id that is missing."""


def check_ids(title: str, name: str, texts: Sequence[str], is_whole: bool = True) -> None:
    """Raise a ValueError if an id is missing, or if two ids differ by spaces only.

    Args:
        is_whole: whether the column identifies questions alone, and not with another one.
    """
    missing = [row for row, text in enumerate(texts) if not text or (is_whole and text in NO_ID)]
    if missing:
        rows = [part for row in missing[:5] for part in (", ", Index(row))][1:]
        more = ", .." if len(missing) > 5 else ""
        noun, verb = ("row", "has") if len(missing) == 1 else ("rows", "have")
        text = texts[missing[0]]
        what = f"{short(text)} as {name}" if text else f"no {name}"
        what = f" {verb} {what}, so the question is unknown."
        raise InputError(f"{title}, {noun} ", *rows, more, FROM_0, what)
    row_of: dict[str, int] = {}
    for row, text in enumerate(texts):
        first = row_of.setdefault(" ".join(text.split()), row)
        if texts[first] != text:
            raise InputError(
                *(f"{title}, rows ", Index(first), " and ", Index(row), FROM_0),
                f" have a {name} that differs by spaces only: {short(texts[first])} and "
                f"{short(text)}. If they are one question, give both the same text; if not, "
                f"another column has to identify it.",
            )


def refuse_lists_of_ids(
    columns: Columns, names: Iterable[str], samples: Sequence[Any], title: str
) -> None:
    """Raise a ValueError if a row has an id for each of its samples: it holds several questions.

    A prompt that is a list of messages, which are objects, is one id.

    Args:
        columns: the source.
        names: the columns or paths of ids, which may not exist.
        samples: a list of samples in each row.
        title: the name of the source.
    """
    for name in names:
        ids = column_at(columns, name)
        if ids is None or not has_lists(ids):
            continue
        for row, (entry, cell) in enumerate(zip(ids, samples, strict=True)):
            is_list = isinstance(entry, list) and isinstance(cell, list)
            if not is_list or len(entry) != len(cell) or any(isinstance(x, dict) for x in entry):
                continue
            if len({entry_text(x) for x in entry}) > 1:
                path = name.rpartition(".")[0] or name
                raise InputError(
                    *in_row(title, row),
                    f" has {len(cell)} samples, and a {name} for each of them. If the rows are "
                    f"inside of one object, say where: records={path!r}.",
                )


def gathered(gathering: Gathering, role: str, cells: Sequence[Any], of_lists: bool) -> list[Any]:
    """Return the cells of a role with one entry per question.

    Samples of a question are put together, and its counts are added. Its other entries have to be
    equal in all rows.
    """
    questions = gathering.rows_of.values()
    cells = list(cells)
    if role == "counts":
        return [
            [sum(column) for column in zip(*_at(cells, rows), strict=True)] for rows in questions
        ]
    if role in ("samples", "multiplicities", "grades", *PER_SAMPLE):
        if not of_lists:
            return [_at(cells, rows) for rows in questions]
        return [
            None if None in (lists := _at(cells, rows)) else list(itertools.chain(*lists))
            for rows in questions
        ]
    for question, (first, *copies) in gathering.rows_of.items():
        for row in copies:
            if cells[row] != cells[first] and not (
                is_missing(cells[row]) and is_missing(cells[first])
            ):
                key = ", ".join(gathering.key)
                raise ValueError(
                    f"Rows {first} and {row} of {gathering.title} have the same {key}, "
                    f"{short(question)}, "
                    f"but different {role}: {short(cells[first])} and {short(cells[row])}."
                )
    return [cells[rows[0]] for rows in questions]


def _at(cells: Sequence[Any], rows: Sequence[int]) -> list[Any]:
    return [cells[row] for row in rows]


def number_questions(table: Table, group_size: int, title: str) -> tuple[Table, str]:
    """Return the table with a column that numbers the questions, and the name of this column.

    Args:
        table: a source with one sample in each row.
        group_size: the number of consecutive rows that belong to a question.
        title: the name of the source.

    Raises:
        ValueError: if the number of rows is not a multiple of it.
    """
    rows = max(map(len, table.columns.values()))
    if group_size < 1 or rows % group_size:
        raise ValueError(f"{title} has {rows} rows, which is not a multiple of {group_size}.")
    name = f"every {group_size} rows"
    numbers = [row // group_size for row in range(rows)]
    return table.with_columns({**table.columns, name: numbers}), name


# --- Runs and questions that must not be mixed ------------------------------------------


def refuse_filters(table: Table) -> None:
    """Raise an error if a log has the rows of several filters, which repeat the same responses.

    Raises:
        SelectionError: with the filters of which the caller has to choose one for each task.
    """
    for name in found_columns(table, "filters") if table.roles else ():
        key = question_columns(table, of_lists=False)
        cells = table.columns[name]
        gathering = Gathering(table.columns, "", key, rows_by_question(table.columns, key))
        rows = _rows_that_differ(cells, gathering.rows_of.values())
        if rows is None:
            continue
        entries = list(dict.fromkeys(entry_text(cells[row]) for row in rows))
        ways = _choices_of_filter(table, name, rows[0], entries)
        raise SelectionError(
            f"The samples of {gathering.name_question(rows[0])} have different values of "
            f"{name}: {', '.join(map(short, entries))}. The rows of each {name} hold the same "
            f"responses, which would be counted {len(entries)} times: choose one {name}.",
            ["where"] * len(ways),
            table.columns,
            [way[0] for way in ways],
            [[("where", other) for other in way[1:]] for way in ways],
        )


def _choices_of_filter(
    table: Table, name: str, row: int, entries: Sequence[str]
) -> list[tuple[Filter, ...]]:
    """Return the conditions that choose one filter of each task, or one filter of one task.

    Args:
        table: a log.
        name: the column of filters.
        row: of a question with several filters.
        entries: its filters.
    """
    if "task" not in table.columns:
        return [(Filter(name, entry),) for entry in entries]
    filters: dict[Any, dict[str, None]] = {}
    tasks = list(table.columns["task"])
    for task, cell in zip(tasks, table.columns[name], strict=True):
        filters.setdefault(task, {})[entry_text(cell)] = None
    together = []
    for entry in entries:
        chosen = [entry]
        for others in filters.values():
            chosen += [] if {*chosen} & others.keys() else [next(iter(others))]
        if all(len({*chosen} & others.keys()) == 1 for others in filters.values()):
            together.append(tuple(Filter(name, choice) for choice in chosen))
    task = Filter("task", entry_text(tasks[row]))
    return together + [(task, Filter(name, entry)) for entry in entries]


def warn_of_copies(gathering: Gathering, samples: Sequence[Any]) -> None:
    """Warn if two pooled runs have the same predictions, one or a list per row, everywhere."""
    pool, columns = gathering.pool, gathering.columns
    runs: dict[Any, dict[int, list[str]]] = {}
    for question, rows in enumerate(gathering.rows_of.values()):
        for row in rows:
            run = tuple(entry_text(columns[name][row]) for name in pool)
            runs.setdefault(run, {}).setdefault(question, []).append(repr(samples[row]))
    first: dict[str, Any] = {}
    for run, predictions in runs.items():
        other = first.setdefault(repr(predictions), run)
        if other != run:
            warnings.warn(
                f"The predictions of {' and '.join(pool)} {', '.join(other)} are those of "
                f"{', '.join(run)}, so each is counted twice. Unless these are different samples, "
                f"read the rows of one of them only, by where.",
                stacklevel=2,
            )
            return


def refuse_mixtures(gathering: Gathering) -> None:
    """Raise an error if an identifying column varies within a question.

    Raises:
        SelectionError: with the name and the values of the column.
    """
    columns, key, questions = gathering.columns, gathering.key, list(gathering.rows_of.values())
    for name, cells in (columns | _fields(columns)).items():
        if name.rpartition(".")[2].lower() not in IDENTIFYING or name in (*key, *gathering.used):
            continue
        cells = list(cells)  # an entry of an Arrow column is slow to look up
        rows = _rows_that_differ(cells, questions)
        if rows is None or _numbers_rows(name, cells, questions):
            continue
        entries = list(dict.fromkeys(entry_text(cells[row]) for row in rows))
        shown = ", ".join(map(short, entries[:4])) + (", .." if len(entries) > 4 else "")
        where = Filter(name, entries[0] if len(entries[0]) <= 40 else "..")
        raise SelectionError(
            f"The samples of {gathering.name_question(rows[0])} have different values of {name}: "
            f"{shown}. They can be different runs or questions. {list_columns(columns)}",
            ["where", "questions", "pool"],
            columns,
            [where, f"{name} {' '.join(key)}", name],
        )


def refuse_repeated_samples(gathering: Gathering) -> None:
    """Raise an error if two rows have the same question and the same number of a sample.

    Raises:
        SelectionError: with the rows, the question and the column.
    """
    columns, questions = gathering.columns, list(gathering.rows_of.values())
    for name, cells in columns.items():
        if name.lower() not in SAMPLE_NUMBERS or name in (*gathering.key, *gathering.used):
            continue
        numbers = [as_whole_number(cell) for cell in cells]
        if None in numbers or not _rows_that_differ(numbers, questions):
            continue
        samples = list(
            zip(numbers, *(map(entry_text, columns[run]) for run in gathering.pool), strict=True)
        )
        for rows in questions:
            first: dict[Any, int] = {}
            for row in rows:
                if first.setdefault(samples[row], row) != row:
                    pair = Index(first[samples[row]]), " and ", Index(row), FROM_0
                    problem = (
                        f" have the same sample: {name} {numbers[row]} of "
                        f"{gathering.name_question(row)}. Leave out one of them, unless {name} "
                        f"does not number samples."
                    )
                    raise SelectionError(
                        [f"{gathering.title}, rows ", *pair, problem],
                        ["pool"],
                        columns,
                        [name],
                    )


def _fields(columns: Columns) -> Columns:
    """Return the fields of columns whose entries are dicts, by their dotted names."""
    return {
        f"{name}.{field}": [cell.get(field) if isinstance(cell, dict) else None for cell in cells]
        for name, cells in columns.items()
        if not isinstance(cells, ArrowColumn) or "struct" in str(cells.type)
        if len(cells) and isinstance(cells[0], dict)
        for field in cells[0]
    }


def _rows_that_differ(
    cells: Sequence[Any], rows_of: Iterable[Sequence[int]]
) -> Sequence[int] | None:
    """Return the rows of the first question in which the cells differ, or None."""
    for rows in rows_of:
        if len(rows) > 1:
            first = cells[rows[0]]
            if any(cells[row] != first for row in rows[1:]):
                return rows
    return None


def _numbers_rows(name: str, cells: Sequence[Any], rows_of: Sequence[Sequence[int]]) -> bool:
    """Whether a column numbers the rows of several questions, or the samples of each question."""
    name = name.lower()
    if name in ("run", "run_id", "iteration"):
        return numbers_samples(cells, lambda: rows_of)
    if name not in QUESTION_NAMES or name in _TEXTS or len(rows_of) == 1:
        return False
    return len(set(map(entry_text, cells))) == len(cells) or numbers_samples(cells, lambda: rows_of)
