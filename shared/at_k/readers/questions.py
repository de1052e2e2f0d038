"""Gather rows into questions, and refuse rows that are not to be mixed or counted twice.

A table and its cells by role go in, with an entry for each row. The cells come out with an entry
for each of M questions, with their ids.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ..core.checks import InputError, is_missing, short
from . import names as usual
from .cells import CellsByRole
from .missing import settle_missing, text_of_ids
from .names import columns_named, plain_name, shown_name
from .reading import ReadingOptions
from .roles import columns_of_role, question_columns, whole_numbers
from .settings import are_parts, refuse_repeats, refuse_settings
from .table import (
    FILE,
    FILES,
    ROW,
    ColumnsByRole,
    QuestionRows,
    SelectionError,
    Table,
    Way,
    list_columns,
    pairs_of,
)
from .words import NO_ID, WORDS, entry_text, word


def gather(
    table: Table,
    chosen: ColumnsByRole,
    cells: CellsByRole,
    are_lists: bool,
    reading: ReadingOptions,
) -> tuple[dict[str, list[Any]], dict[str, list[Any]], tuple[str, ...], str]:
    """Return the cells of the M questions, their identifiers, the columns of the ids, and a note.

    The identifiers are the ids, texts or tuples of the texts of several columns, and the columns
    that identify the questions too, by name; {} if nothing does. The note is on samples that were
    missing or added. Errors are raised if rows of one question are different runs or settings, or
    the same sample; if an id is missing; or if a question has two references or groups.
    """
    table, key = _key_of_rows(table, chosen, are_lists, reading)
    rows_of = _rows_of(table, key) if key else {row: [row] for row in range(table.size)}
    questions = QuestionRows(table, reading, chosen, cells, are_lists, key, rows_of)
    if not (reading.questions or table.layout):
        _refuse_summaries(questions)
    _refuse_mixed_files(questions)
    refuse_settings(questions.with_outcome())
    if questions.several and "multiplicities" not in cells:
        refuse_repeats(questions)
    merged = {role: _merged(questions, role) for role in cells}
    ids, merged, said = _settled(questions, merged)
    if are_lists and questions.several:
        said = "; ".join(filter(None, [f"added from {table.size} rows", said]))
    if not key or key == (ROW,):
        return merged, {}, (), said
    return merged, _identifiers(questions, ids), key, said


def _identifiers(questions: QuestionRows, ids: Sequence[Any]) -> dict[str, list[Any]]:
    """Return the ids, and the texts of columns that identify the questions too, by name.

    Such columns have ids or texts of questions by their name. Their entries are equal in all rows
    of a question, and differ between questions.
    """
    identifiers = {plain_name(", ".join(questions.key)): [*ids]}
    columns = questions.table.columns
    for name in columns_named(columns, (*usual.IDS, *usual.INDICES, *usual.QUESTION_TEXTS)):
        cells = list(map(entry_text, columns[name]))
        texts = [x for question in ids for x in {cells[row] for row in questions.rows[question]}]
        if "" not in texts and len(texts) == len({*texts}) == len(ids):
            identifiers.setdefault(plain_name(name), texts)
    return identifiers


def _settled(
    questions: QuestionRows, cells: dict[str, Any]
) -> tuple[list[Any], dict[str, Any], str]:
    """Return the ids and the cells of the questions that are scored, and the note on samples.

    Samples that are missing or were cut off count as the caller or the layout says. `as_written`
    and `finish` are removed from the cells, which have an entry for each question.
    """
    ids = list(questions.rows)
    written, reasons = cells.pop("as_written", None), cells.pop("finish", ())
    if "samples" not in cells:
        return ids, cells, ""
    samples = dict(zip(ids, cells["samples"], strict=True))
    # Without `as_written`, samples are outcomes. With it they are answers, and "" is a wrong one.
    cut_off = _fail_cut_off(samples, reasons, False if written is None else "")
    multiplicities = cells["multiplicities"] if questions.counts else None
    missing = questions.reading.missing
    kept, of_missing = settle_missing(questions.table, samples, written, multiplicities, missing)
    indices = [i for i, question in enumerate(ids) if question in kept]
    cells = {role: [x[i] for i in indices] for role, x in cells.items()}
    cells["samples"] = list(kept.values())
    return list(kept), cells, "; ".join(filter(None, [cut_off, of_missing]))


def _fail_cut_off(samples: Mapping[Any, Any], reasons: Sequence[Any], wrong: Any) -> str:
    """Replace samples that were cut off by `wrong`, in place; return a note on their number."""
    number = 0
    for (question, row), ends in zip(samples.items(), reasons, strict=False):
        if row is None or ends is None or len(ends) != len(row):
            raise InputError(
                f"Question {short(text_of_ids(question))} has another number of samples than of "
                f"reasons why they ended."
            )
        for i, reason in enumerate(ends):
            if word(reason) in usual.CUT_OFF:
                row[i] = wrong
                number += 1
    return f"{number} of them cut off by length, counted as incorrect" if len(reasons) else ""


# --- What identifies a question ---------------------------------------------------------------


def _key_of_rows(
    table: Table, chosen: ColumnsByRole, are_lists: bool, reading: ReadingOptions
) -> tuple[Table, tuple[str, ...]]:
    """Return the table, and the columns that identify questions; () if each row is one."""
    if reading.group_size is not None:
        name = f"every {reading.group_size} rows"
        numbers = _numbers_of_groups(table, reading.group_size, are_lists, reading)
        return table.with_columns({**table.columns, name: numbers}), (name,)
    key = reading.questions or _free_key(table, chosen)
    if not key and ROW in table.columns:
        return table, (ROW,)
    if not key and not are_lists:
        raise SelectionError(
            f"{table.title} has one sample in each row, and no column with a usual name for the "
            f"question of a row. If the samples of a question follow each other, give their number "
            f"as group_size (in the shell --group-size). {list_columns(table.columns)}",
            ["questions"],
        )
    return table, key


def _free_key(table: Table, chosen: ColumnsByRole) -> tuple[str, ...]:
    """Return the columns that identify questions by the layout or by names, if they are free."""
    key = question_columns(table)
    if table.layout is not None:
        return key
    taken = {name for role, name in pairs_of(chosen) if role not in usual.PER_QUESTION}
    return tuple(name for name in key if name not in taken)


def _numbers_of_groups(
    table: Table, size: int, are_lists: bool, reading: ReadingOptions
) -> list[int]:
    """Return the number of the question of each row, of which every `size` rows belong to one."""
    if reading.questions:
        raise ValueError("Questions are identified by columns or by group_size, not by both.")
    if are_lists:
        raise ValueError(f"group_size is for one sample in each row, and {table.title} has lists.")
    if table.size % size:
        raise ValueError(f"{table.title} has {table.size} rows, which is not a multiple of {size}.")
    return [row // size for row in range(table.size)]


def _rows_of(table: Table, key: Sequence[str]) -> dict[Any, list[int]]:
    """Return the indices of the rows of each question by its id: a text, or a tuple of texts."""
    texts = [list(map(entry_text, table.columns[name])) for name in key]
    for name, entries in zip(key, texts, strict=True):
        _check_ids(table, name, entries, is_whole=len(key) == 1)
    rows_of: dict[Any, list[int]] = {}
    for row, question in enumerate(texts[0] if len(key) == 1 else zip(*texts, strict=True)):
        rows_of.setdefault(question, []).append(row)
    return rows_of


def _check_ids(table: Table, name: str, texts: Sequence[str], is_whole: bool) -> None:
    """Raise an InputError if an id is missing, or if two ids differ by spaces only.

    `is_whole` says that the column alone identifies questions, so that "nan" or the like is no id.
    """
    for row, text in enumerate(texts):
        if not text or (is_whole and text in NO_ID):
            what = f"{short(text)} as {shown_name(name)}" if text else f"no {shown_name(name)}"
            raise InputError(
                *table.row_place(row),
                f" has {what}, so the question is unknown. Leave out a row that is no sample.",
            )
    refuse_spaces(table, name, texts, "question", "; if not, another column has to identify it")


def refuse_spaces(
    table: Table, name: str, texts: Sequence[str], noun: str, remedy: str = ""
) -> None:
    """Raise an InputError if two texts of a column, which names a `noun`, differ by spaces only."""
    row_of: dict[str, int] = {}
    for row, text in enumerate(texts):
        first = row_of.setdefault(" ".join(text.split()), row)
        if texts[first] != text:
            raise InputError(
                *table.places_of_two(first, row),
                f" have a {shown_name(name)} that differs by spaces only: {short(texts[first])} "
                f"and {short(text)}. If they are one {noun}, give both the same text{remedy}.",
            )


def _refuse_summaries(questions: QuestionRows) -> None:
    """Raise a SelectionError if a row sums up others: the first or last of a file, or a subtotal.

    The ids of such rows are words such as Total. In a table of text, and where there are no ids,
    the first column without a role is searched too.
    """
    table, key = questions.table, questions.key
    names = list(key)
    if table.is_csv or not key:  # a column of Parquet takes time
        used = {*questions.used, *key} - {questions.group}
        names += [name for name in table.columns if name not in used][:1]
    for name in names:
        texts = list(map(entry_text, table.columns[name]))
        may_be_alone = name in key or not {*map(word, texts)} <= WORDS.keys()  # not Y and N
        if (row := _row_of_summary(table, texts, may_be_alone)) is not None:
            problem = (
                f" has {short(texts[row])} as {shown_name(name)}, as a row that sums up others: "
                f"leave it out. If it is a question, say so."
            )
            ways = [Way({"questions": questions.named_key or (name,)})]
            raise SelectionError([*table.row_place(row), problem], ways)


def _row_of_summary(table: Table, texts: Sequence[str], may_be_alone: bool) -> int | None:
    """Return the first row with the id of a summary, or None; `texts` has the ids.

    It is a subtotal or, if `may_be_alone`, the only row of this id at either end of a file.
    """
    subtotals = [row for row, text in enumerate(texts) if _SUBTOTAL.fullmatch(text)]
    files, rows = list(table.columns.get(FILE, [0] * table.size)), range(table.size)
    ends = [dict(zip(files, rows, strict=True)), dict(zip(files[::-1], rows[::-1], strict=True))]
    for row in sorted({*subtotals, *ends[0].values(), *ends[1].values()}):
        if row in subtotals:
            return row
        ids = zip(files, texts, strict=True)
        if may_be_alone and _is_summary(texts[row]) and [*ids].count((files[row], texts[row])) == 1:
            return row
    return None


def _is_summary(text: str) -> bool:
    """Return whether an id is that of a row that sums up others, such as Total or Algebra total."""
    name = text.strip("*:. ")
    words = name.lower().split()
    is_total = len(words) <= 3 and not {"total", "subtotal"}.isdisjoint(words)
    return is_total or plain_name(name) in usual.SUMMARIES


_SUBTOTAL = re.compile(
    rf"[*:. ]*({'|'.join(usual.SUBTOTALS)})[*:. ]*".replace("_", "[ _-]?"), re.IGNORECASE
)


# --- Rows that are merged ---------------------------------------------------------------------


_OF_SAMPLES = ("samples", "as_written", "verdicts", "multiplicities", "grades", "finish")


def _merged(questions: QuestionRows, role: str) -> list[Any]:
    """Return the cells of a role with one entry for each question.

    The samples of a question are joined to one list, and its counts are added. Other entries have
    to be equal in all rows of a question.
    """
    cells = questions.cells[role]
    entries = [[cells[row] for row in rows] for rows in questions.rows.values()]
    if role == "counts":
        return [list(map(sum, zip(*lists, strict=True))) for lists in entries]
    if role in (*_OF_SAMPLES, *usual.PER_SAMPLE):
        return [list(itertools.chain(*x)) for x in entries] if questions.are_lists else entries
    for first, *others in questions.rows.values():
        for row in others:
            if not _is_equal(cells[first], cells[row]):
                raise _not_equal(questions, role, first, row)
    return [of_question[0] for of_question in entries]


def _is_equal(one: Any, other: Any) -> bool:
    """Return whether two entries are equal, or both missing."""
    return one == other or (is_missing(one) and is_missing(other))


def _not_equal(questions: QuestionRows, role: str, one: int, other: int) -> InputError:
    """Return the error about the rows `one` and `other` of a question, which differ in a role.

    For groups, it offers to identify a question by its id and its group together.
    """
    first, second = (short(questions.cells[role][row]) for row in (one, other))
    problem = (
        f" have the same {questions.ids_of(one) or 'question'}, but different {role}: {first} and "
        f"{second}."
    )
    places, group = questions.table.places_of_two(one, other), questions.group
    if role != "groups" or group is None or not questions.named_key:
        return InputError(*places, problem)
    problem += (
        f" If {shown_name(group)} is a setting, so that a question is another one in each group, "
        f"name both columns."
    )
    return SelectionError([*places, problem], [Way({"questions": (*questions.named_key, group)})])


# --- Several files ----------------------------------------------------------------------------

_NUMBERED_RUN = re.compile(
    r"(?<![a-z])(run|rs|seed|sample|samples|trial|attempt|repeat|rep|rollout|try)[-_. ]?\d+"
    r"([-_]of[-_]\d+)?(?![a-z\d]|\.\d)"
)
_TIME = re.compile(r"\d{4}[-_]?\d\d[-_]?\d\d[t_-]+\d\d[-:_.]?\d\d([-:_.]?\d\d)?([.-]\d+)?(?!\d)")
"""A date with a time of day. A date alone may be the version of a model."""
_LEAST_PLAIN_ROWS = 20
_LAST_NUMBER = re.compile(r"(?:^|(?<=[-_/]))([a-z]*|\d+b)_(\d+)(?=(?:\.[a-z][a-z\d]*)*$)")


def are_repeated_runs(names: Sequence[str]) -> bool:
    """Return whether names of files differ only in the number of a run, a time, or _1 to _n."""
    if are_parts(names):
        return False
    masked = [_NUMBERED_RUN.sub(r"\1#", _TIME.sub("TIME", name.lower())) for name in names]
    if len({*masked}) == 1:
        return True
    ends = [end for name in masked if (end := _LAST_NUMBER.search(name))]
    numbers = sorted(int(end[2]) for end in ends if end[1] not in usual.SETTINGS | usual.PARTS)
    first = {*numbers[:1]} & {0, 1}
    are_alike = len({_LAST_NUMBER.sub("#", name) for name in masked}) == 1
    return are_alike and bool(first) and numbers == [*range(numbers[0], numbers[0] + len(names))]


def _refuse_mixed_files(questions: QuestionRows) -> None:
    """Raise a SelectionError if files with the same questions may belong to different models."""
    table, rows_of = questions.table, questions.rows
    if FILE not in table.columns or {FILES, FILE} & {*questions.reading.pool}:
        return
    files = list(table.columns[FILE])
    if not questions.key:
        raise SelectionError(
            f"{table.title} have no column with a usual name for the question of a row, so their "
            f"questions may be the same. {list_columns(table.columns)}",
            ["questions"],
        )
    shared = next((x for x, rows in rows_of.items() if len({files[r] for r in rows}) > 1), None)
    if shared is None:
        return
    _refuse_copies(questions)
    if are_repeated_runs(table.files) or _are_runs_of_tool(table):
        return
    raise SelectionError(
        f"{table.title} have the same questions, such as {short(text_of_ids(shared))}. Compare "
        f"different models with at-k compare. If these are repeated runs of one model, or "
        f"different benchmarks, say so.",
        [
            Way({"pool": (FILES,)}, "repeated runs"),
            Way({"groups": FILES, "questions": (FILES, *questions.key)}, "different benchmarks"),
        ],
    )


def _are_runs_of_tool(table: Table) -> bool:
    """Return whether a tool writes repeated runs of one known model to files such as these."""
    if table.layout is None or not table.layout.files_are_runs:
        return False
    knows_model = "model" in table.columns or bool(table.origin.get("model"))
    return knows_model or len({re.sub(r"\d+", "#", x) for x in table.files}) == 1


def _refuse_copies(questions: QuestionRows) -> None:
    """Raise a ValueError if a file has all rows of another file.

    Files of ids and outcomes alone need 20 rows or more, because few rows may be equal by chance.
    """
    table, counts = questions.table, questions.counts
    plain = {*questions.key, *questions.used, FILE} - {questions.group}
    least = 1 if table.columns.keys() - plain else _LEAST_PLAIN_ROWS
    names = [name for name in table.columns if name not in (FILE, counts)]
    texts = [list(map(entry_text, table.columns[name])) for name in names]
    multiplicity = whole_numbers(table, counts) if counts else [1] * table.size
    rows: dict[int, Counter[Any]] = {}
    for file, n, *cells in zip(table.columns[FILE], multiplicity, *texts, strict=True):
        rows.setdefault(file, Counter())[tuple(cells)] += n or 0
    for one, other in itertools.permutations(rows, 2):
        if rows[one] <= rows[other] and rows[one].total() >= least:
            raise ValueError(
                f"{table.files[other]} contains all rows of {table.files[one]}, which would count "
                f"twice: leave it out. If they are different samples, pool='files' says so."
            )


# --- Filters of lm-evaluation-harness ---------------------------------------------------------


def refuse_filters(table: Table) -> None:
    """Raise a SelectionError if a log repeats responses, with the rows of several filters."""
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
        task = {"task": table.columns["task"][rows[0]]} if len(tasks) > 1 else {}
        raise SelectionError(
            f"The samples of {ids} have different values of {name}: "
            f"{', '.join(map(short, entries))}. The rows of each {name} hold the same responses, "
            f"which would be counted {len(entries)} times: choose one {name}.",
            [Way({"where": {name: entry, **task}}) for entry in entries],
        )
