"""Rows -> questions: which rows are samples of one question, and which are not to be mixed."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.checks import FROM_0, Index, InputError, is_missing, short
from .cells import SampleCells
from .missing import settle_missing, text_of_ids
from .names import CUT_OFF, PARTS, PER_QUESTION, PER_SAMPLE, SETTINGS
from .reading import Reading, pairs_of
from .roles import columns_of_role, question_columns
from .settings import refuse_repeats, refuse_settings
from .table import FILE, ROW, SelectionError, Table, list_columns
from .words import NO_ID, entry_text, word

RowsOf = Mapping[Any, Sequence[int]]
"""The rows of each question, by the text or the texts that identify it."""


@dataclass(frozen=True)
class Gathered:
    """The cells of M questions.

    Attributes:
        cells: by role, an entry for each question.
        ids: what identifies each question, a text or a tuple of texts; None if nothing does.
        key: the columns of the ids.
        is_merged: whether a row is one sample.
        missing: what the first line says of missing samples.
    """

    cells: dict[str, list[Any]]
    ids: list[Any] | None
    key: Sequence[str]
    is_merged: bool
    missing: str = field(default="")


def gather(
    table: Table, chosen: Mapping[str, Any], cells: SampleCells, of_lists: bool, reading: Reading
) -> Gathered:
    """Return the cells of the questions.

    Args:
        table: the source.
        chosen: its columns, by role.
        cells: of the samples, and of the roles with an entry for each question.
        of_lists: whether a row has several samples.
        reading: what the caller says.

    Raises:
        SelectionError: if rows of one question are different runs or settings, or the same sample.
        ValueError: if an id is missing, or if a question has two references or groups.
    """
    table, key = _key_of_rows(table, chosen, of_lists, reading)
    if not key:
        rows_of: RowsOf = {row: [row] for row in range(table.size)}
    else:
        rows_of = _rows_of(table, key)
    used = {name for role, name in pairs_of(chosen) if role != "groups"}
    _refuse_mixed_files(table, key, rows_of, used, reading.pool)
    _refuse_mixed_groups(table, key, rows_of, chosen)
    _refuse_mixtures(table, key, rows_of, {*used, *_group(chosen)}, cells, reading)
    merged = {role: _merged(table, key, rows_of, role, x, of_lists) for role, x in cells.items()}
    samples, said = dict(zip(rows_of, merged.get("samples", ()), strict=False)), ""
    written = merged.pop("as_written", None)
    cut_off = _fail_cut_off(samples, merged.pop("finish", ()), False if written is None else "")
    if samples and not any(row is None for row in samples.values()):
        kept, said = settle_missing(table, samples, written, reading.missing)
        merged["samples"] = list(kept.values())
        places = [i for i, question in enumerate(rows_of) if question in kept]
        merged = {
            role: x if role == "samples" else [x[i] for i in places] for role, x in merged.items()
        }
        rows_of = {question: rows_of[question] for question in kept}
    key = () if key == (ROW,) else key
    ids = list(rows_of) if key else None
    return Gathered(merged, ids, key, not of_lists, "; ".join(x for x in (cut_off, said) if x))


def _fail_cut_off(samples: Mapping[Any, Any], reasons: Sequence[Any], wrong: Any) -> str:
    """Make samples incorrect that were cut off by length; return what the first line says of them.

    Args:
        samples: of each question.
        reasons: why each of them ended; none if it does not matter.
        wrong: what an incorrect sample is.
    """
    number = 0
    for (question, row), ends in zip(samples.items(), reasons, strict=False):
        if row is None or ends is None or len(ends) != len(row):
            raise InputError(
                f"Question {short(text_of_ids(question))} has another number of samples than of "
                f"reasons why they ended."
            )
        for i, reason in enumerate(ends):
            if word(reason) in CUT_OFF:
                row[i] = wrong
                number += 1
    return f"{number} of them cut off by length, counted as incorrect" if len(reasons) else ""


def _group(chosen: Mapping[str, Any]) -> set[str]:
    return {chosen["groups"]} if "groups" in chosen else set()


# --- What identifies a question ---------------------------------------------------------------


def _key_of_rows(
    table: Table, chosen: Mapping[str, Any], of_lists: bool, reading: Reading
) -> tuple[Table, tuple[str, ...]]:
    """Return the columns that identify questions, none if rows are questions without ids."""
    if reading.group_size is not None:
        return _numbered(table, reading.group_size, of_lists, reading)
    key = reading.questions or question_columns(table)
    taken = {name for role, name in pairs_of(chosen) if role not in PER_QUESTION}
    if not reading.questions and table.layout is None:
        key = tuple(name for name in key if name not in taken)
    if not key and ROW in table.columns:
        return table, (ROW,)
    if not key and not of_lists:
        raise SelectionError(
            [
                f"{table.title} has one sample in each row, and no column with a usual name for "
                f"the question of a row. If the samples of a question follow each other, give "
                f"their number as group_size (in the shell --group-size). ",
                list_columns(table.columns),
            ],
            ["questions"],
            table.columns,
        )
    return table, key


def _numbered(
    table: Table, group_size: int, of_lists: bool, reading: Reading
) -> tuple[Table, tuple[str, ...]]:
    """Return the table with a column that numbers the questions, and its name."""
    if reading.questions:
        raise ValueError("Questions are identified by columns or by group_size, not by both.")
    if of_lists:
        raise ValueError(f"group_size is for one sample in each row, and {table.title} has lists.")
    if table.size % group_size:
        raise ValueError(
            f"{table.title} has {table.size} rows, which is not a multiple of {group_size}."
        )
    name = f"every {group_size} rows"
    numbers = [row // group_size for row in range(table.size)]
    return table.with_columns({**table.columns, name: numbers}), (name,)


def _rows_of(table: Table, key: Sequence[str]) -> dict[Any, list[int]]:
    """Return the rows of each question; a ValueError if an id is missing."""
    texts = [list(map(entry_text, table.columns[name])) for name in key]
    for name, entries in zip(key, texts, strict=True):
        _check_ids(table, name, entries, is_whole=len(key) == 1)
    rows_of: dict[Any, list[int]] = {}
    for row, question in enumerate(texts[0] if len(key) == 1 else zip(*texts, strict=True)):
        rows_of.setdefault(question, []).append(row)
    return rows_of


def _check_ids(table: Table, name: str, texts: Sequence[str], is_whole: bool) -> None:
    """Raise a ValueError if an id is missing, or if two ids differ by spaces only."""
    absent = [row for row, text in enumerate(texts) if not text or (is_whole and text in NO_ID)]
    if absent:
        rows = [part for row in absent[:5] for part in (", ", Index(row))][1:]
        more = ", .." if len(absent) > 5 else ""
        noun, verb = ("row", "has") if len(absent) == 1 else ("rows", "have")
        text = texts[absent[0]]
        what = f"{short(text)} as {name}" if text else f"no {name}"
        what = f" {verb} {what}, so the question is unknown."
        raise InputError(f"{table.title}, {noun} ", *rows, more, FROM_0, what)
    row_of: dict[str, int] = {}
    for row, text in enumerate(texts):
        first = row_of.setdefault(" ".join(text.split()), row)
        if texts[first] != text:
            raise InputError(
                *(f"{table.title}, rows ", Index(first), " and ", Index(row), FROM_0),
                f" have a {name} that differs by spaces only: {short(texts[first])} and "
                f"{short(text)}. If they are one question, give both the same text; if not, "
                f"another column has to identify it.",
            )


# --- Rows that are merged ---------------------------------------------------------------------


def _merged(
    table: Table,
    key: Sequence[str],
    rows_of: RowsOf,
    role: str,
    cells: Sequence[Any],
    of_lists: bool,
) -> list[Any]:
    """Return the cells of a role with one entry for each question.

    Samples of a question are put together, and its counts are added. Its other entries have to be
    equal in all rows.
    """
    cells = list(cells)
    questions = [[cells[row] for row in rows] for rows in rows_of.values()]
    if role == "counts":
        return [[sum(column) for column in zip(*lists, strict=True)] for lists in questions]
    if role in (
        "samples",
        "as_written",
        "verdicts",
        "multiplicities",
        "grades",
        "finish",
        *PER_SAMPLE,
    ):
        if not of_lists:
            return questions
        return [None if None in x else list(itertools.chain(*x)) for x in questions]
    for question, (first, *copies) in rows_of.items():
        for row in copies:
            if cells[row] != cells[first] and not (
                is_missing(cells[row]) and is_missing(cells[first])
            ):
                raise ValueError(
                    f"Rows {first} and {row} of {table.title} have the same {', '.join(key)}, "
                    f"{short(question)}, but different {role}: {short(cells[first])} and "
                    f"{short(cells[row])}."
                )
    return [entries[0] for entries in questions]


def _refuse_mixed_groups(
    table: Table, key: Sequence[str], rows_of: RowsOf, chosen: Mapping[str, Any]
) -> None:
    """Raise a SelectionError if a question has several groups: each of them may be a question."""
    name = chosen.get("groups")
    if name is None or name in key:
        return
    texts = list(map(entry_text, table.columns[name]))
    for question, rows in rows_of.items():
        row = next((row for row in rows if texts[row] != texts[rows[0]]), None)
        if row is not None:
            raise SelectionError(
                [
                    f"Rows {rows[0]} and {row} of {table.title} have the same {', '.join(key)}, "
                    f"{short(text_of_ids(question))}, but different groups: "
                    f"{short(texts[rows[0]])} and {short(texts[row])}. If {name} is a setting, so "
                    f"that a question is another one in each group, name both columns."
                ],
                ["questions"],
                table.columns,
                [" ".join((*key, name))],
            )


def _refuse_mixtures(
    table: Table,
    key: Sequence[str],
    rows_of: RowsOf,
    used: Collection[str],
    cells: SampleCells,
    reading: Reading,
) -> None:
    """Raise a SelectionError if rows of one question are different runs, or the same sample."""
    scored = {row for row, cell in enumerate(cells.get("samples", ())) if cell is not None}
    with_outcome = {
        question: [row for row in rows if row in scored or "samples" not in cells]
        for question, rows in rows_of.items()
    }
    with_outcome = {question: rows for question, rows in with_outcome.items() if rows}
    refuse_settings(table, key, with_outcome, used, reading.pool)
    if any(len(rows) > 1 for rows in rows_of.values()) and "multiplicities" not in cells:
        _refuse_repeated_counts(table, key, rows_of, cells, reading)
        numbered_by = columns_of_role(table, "samples") if table.layout else ()
        refuse_repeats(table, key, rows_of, used, reading.pool, numbered_by)


def _refuse_repeated_counts(
    table: Table,
    key: Sequence[str],
    rows_of: RowsOf,
    cells: SampleCells,
    reading: Reading,
) -> None:
    """Raise a SelectionError if a file has several counts of a question that nobody named."""
    n, correct = ([*columns_of_role(table, role), ""][0] for role in ("n", "correct"))
    if "counts" not in cells or table.layout or {"n", "counts"} & reading.named().keys():
        return
    if n.lower() in ("n", "n_samples", "num_samples"):
        return
    files = table.columns.get(FILE, [0] * table.size)
    for question, rows in rows_of.items():
        if len({files[row] for row in rows}) < len(rows):
            raise SelectionError(
                f"{table.title} has several rows of {', '.join(key)} {text_of_ids(question)}. If "
                f"{n} and {correct} count samples, and not the tests of one sample, name them: "
                f"their numbers are added.",
                ["n", "outcomes"],
                table.columns,
                [n, "COLUMN"],
                [[("correct", correct)], []],
            )


# --- Several files ----------------------------------------------------------------------------

_NUMBERED_RUN = re.compile(
    r"(?<![a-z])(run|rs|seed|sample|samples|trial|attempt|repeat|rep|rollout|try|part|shard|chunk|"
    r"rank|worker)[-_. ]?\d+([-_]of[-_]\d+)?(?![a-z\d]|\.\d)"
)
_TIME = re.compile(r"\d{4}[-_]?\d\d[-_]?\d\d[t_-]+\d\d[-:_.]?\d\d([-:_.]?\d\d)?([.-]\d+)?(?!\d)")
"""A date with a time of day. A date alone may be the version of a model."""
LEAST_PLAIN_ROWS = 20
_LAST_NUMBER = re.compile(r"(?:^|(?<=[-_/]))([a-z]*)_(\d+)(?=(?:\.[a-z][a-z\d]*)*$)")


def are_repeated_runs(names: Sequence[str]) -> bool:
    """Whether names of files differ in nothing but the number of a run, a time, or _1 to _n."""
    masked = [_NUMBERED_RUN.sub(r"\1#", _TIME.sub("TIME", name.lower())) for name in names]
    if len({*masked}) == 1:
        return True
    ends = [_LAST_NUMBER.search(name) for name in masked]
    known = [end for end in ends if end and end[1] not in SETTINGS | PARTS]
    if len({_LAST_NUMBER.sub("#", name) for name in masked}) > 1 or len(known) < len(ends):
        return False
    last = sorted(int(end[2]) for end in known)
    return last in (list(range(len(last))), list(range(1, len(last) + 1)))


def _refuse_mixed_files(
    table: Table,
    key: Sequence[str],
    rows_of: RowsOf,
    used: Collection[str],
    pool: Sequence[str],
) -> None:
    """Raise a SelectionError if files have the same questions, and may be of different models."""
    if FILE not in table.columns or "files" in pool or FILE in pool:
        return
    files = list(table.columns[FILE])
    if not key:
        raise SelectionError(
            f"{table.title} have no column with a usual name for the question of a row, so their "
            f"questions may be the same.",
            ["questions"],
            table.columns,
        )
    shared = next((x for x, rows in rows_of.items() if len({files[r] for r in rows}) > 1), None)
    if shared is None:
        return
    _refuse_copies(table, files, {*key, *used, FILE})
    if (table.layout and table.layout.files_are_runs) or are_repeated_runs(table.files):
        return
    raise shared_questions_error(table.title, text_of_ids(shared))


def shared_questions_error(title: str, question: str) -> SelectionError:
    """Return the error about files that have the same questions."""
    return SelectionError(
        f"{title} have the same questions, such as {short(question)}: they are runs of one model "
        f"if pool='files' says so, and otherwise at-k compare compares them.",
        ["pool"],
        ["files"],
        ["files"],
    )


def _refuse_copies(table: Table, files: Sequence[int], plain: Collection[str]) -> None:
    """Raise a ValueError if a file has all rows of another one.

    Few rows of nothing but ids and outcomes may be equal by chance.
    """
    least = 1 if table.columns.keys() - plain else LEAST_PLAIN_ROWS
    names = [name for name in table.columns if name != FILE]
    texts = [list(map(entry_text, table.columns[name])) for name in names]
    rows: dict[int, Counter[Any]] = {}
    for file, cells in zip(files, zip(*texts, strict=True), strict=True):
        rows.setdefault(file, Counter())[cells] += 1
    for one, other in itertools.permutations(rows, 2):
        if rows[one] <= rows[other] and rows[one].total() >= least:
            raise copy_error(table.files[other], table.files[one])


def copy_error(name: str, copy: str) -> ValueError:
    """Return the error about a file that has all rows of another one."""
    return ValueError(
        f"{name} contains all rows of {copy}, which would count twice: leave it out. If they are "
        f"different samples, pool='files' says so."
    )


# --- Filters of lm-evaluation-harness ---------------------------------------------------------


def refuse_filters(table: Table) -> None:
    """Raise a SelectionError if a log has the rows of several filters, one of which has to be
    chosen: they repeat the same responses.
    """
    for name in columns_of_role(table, "filters") if table.layout else ():
        key = question_columns(table)
        cells = list(map(entry_text, table.columns[name]))
        rows_of = _rows_of(table, key)
        rows = next((x for x in rows_of.values() if len({cells[r] for r in x}) > 1), None)
        if rows is None:
            continue
        entries = list(dict.fromkeys(cells[row] for row in rows))
        ids = ", ".join(f"{x} {short(table.columns[x][rows[0]])}" for x in key)
        tasks = {*map(entry_text, table.columns.get("task", ()))}
        task = [("where", f"task={table.columns['task'][rows[0]]}")] if len(tasks) > 1 else []
        raise SelectionError(
            f"The samples of {ids} have different values of {name}: "
            f"{', '.join(map(short, entries))}. The rows of each {name} hold the same responses, "
            f"which would be counted {len(entries)} times: choose one {name}.",
            ["where"] * len(entries),
            table.columns,
            [f"{name}={entry}" for entry in entries],
            [task] * len(entries),
        )
