"""Gather rows into questions, and refuse rows that are not to be mixed or counted twice."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..core.checks import InputError, InPython, is_missing, short
from . import names as usual
from .missing import settle_missing, text_of_ids
from .names import columns_named, plain_name, shown_name
from .roles import columns_of_role, question_columns, whole_numbers
from .samples import Reading
from .settings import are_parts
from .table import FILE, FILES, ROW, SelectionError, Table, Way, list_columns
from .words import NO_ID, WORDS, entry_text, word

# --- 2. What identifies a question ------------------------------------------------------------


def with_questions(reading: Reading) -> Reading:
    """Return the reading with the rows of each question; an error if nothing identifies them."""
    table, options = reading.table, reading.options
    key = options.questions
    if options.group_size is not None:
        name = f"every {options.group_size} rows"
        numbers = _numbers_of_groups(reading, options.group_size)
        table, key = table.with_columns({**table.columns, name: numbers}), (name,)
    elif not key:
        key = _free_key(reading)
    if not key and not reading.has_lists:
        raise SelectionError(
            [
                f"{table.title} has one sample in each row, and no column with a usual name for "
                f"the question of a row. ",
                InPython(
                    "If the samples of a question follow each other, give their number as "
                    "group_size (in the shell --group-size). "
                ),
                list_columns(table.columns),
            ],
            ["questions"],
        )
    questions = _rows_by_id(table, key) if key else {row: [row] for row in range(table.size)}
    return replace(reading, table=table, key=key, questions=questions)


def _numbers_of_groups(reading: Reading, size: int) -> list[int]:
    """Return the number of the question of each row, of which every `size` rows belong to one."""
    table = reading.table
    if reading.options.questions:
        raise ValueError("Questions are identified by columns or by group_size, not by both.")
    if reading.has_lists:
        raise ValueError(f"group_size is for one sample in each row, and {table.title} has lists.")
    if table.size % size:
        raise ValueError(f"{table.title} has {table.size} rows, which is not a multiple of {size}.")
    return [row // size for row in range(table.size)]


def _free_key(reading: Reading) -> tuple[str, ...]:
    """Return the columns that identify questions by the layout or by their names, or ().

    Columns with another role do not. Where outcomes are labels, `item` or `answer` does too. If no
    column does, and a row of the source had several samples, each such row is a question (`ROW`).
    """
    key = question_columns(reading.table)
    if reading.table.layout is None:
        if reading.options.are_labels and not key:
            has_samples = columns_of_role(reading.table, "predictions")
            names = ("item",) if has_samples else ("item", "answer")
            key = tuple(columns_named(reading.table.columns, names)[:1])
        key = tuple(name for name in key if name not in reading.used_by_samples)
    return key or ((ROW,) if ROW in reading.table.columns else ())


def _rows_by_id(table: Table, key: Sequence[str]) -> dict[Any, list[int]]:
    """Return the indices of the rows of each id: a text, or a tuple of texts."""
    texts = [list(map(entry_text, table.columns[name])) for name in key]
    for name, entries in zip(key, texts, strict=True):
        for row, text in enumerate(entries):
            if not text or (text in NO_ID and len(key) == 1):
                what = f"{short(text)} as {shown_name(name)}" if text else f"no {shown_name(name)}"
                raise InputError(
                    *table.row_place(row),
                    f" has {what}, so the question is unknown. Leave out a row that is no sample.",
                )
        remedy = "; if not, another column has to identify it"
        refuse_spaces(table, name, entries, "question", remedy)
    rows_of: dict[Any, list[int]] = {}
    for row, question in enumerate(texts[0] if len(key) == 1 else zip(*texts, strict=True)):
        rows_of.setdefault(question, []).append(row)
    return rows_of


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


_SUBTOTAL = re.compile(
    rf"[*:. ]*({'|'.join(usual.SUBTOTALS)})[*:. ]*".replace("_", "[ _-]?"), re.IGNORECASE
)


def refuse_summaries(reading: Reading) -> None:
    """Raise a SelectionError if a row sums up others: the first or last of a file, or a subtotal.

    The ids of questions are searched, unless the user has named their columns or a tool wrote the
    file. In CSV, and without ids, the first column without a role is searched too.
    """
    table, key = reading.table, reading.key
    if reading.options.questions or table.layout:
        return
    names = list(key)
    if table.is_csv or not key:  # a column of Parquet takes time
        used = {*reading.used, *key} - {reading.columns.get("groups")}
        names += [name for name in table.columns if name not in used][:1]
    for name in names:
        texts = list(map(entry_text, table.columns[name]))
        are_ids = name in key or not {*map(word, texts)} <= WORDS.keys()
        if (row := _row_of_summary(table, texts, are_ids=are_ids)) is not None:
            problem = (
                f" has {short(texts[row])} as {shown_name(name)}, as a row that sums up others: "
                f"leave it out. If it is a question, say so."
            )
            ways = [Way({"questions": reading.named_key or (name,)})]
            raise SelectionError([*table.row_place(row), problem], ways)


def _row_of_summary(table: Table, texts: Sequence[str], *, are_ids: bool) -> int | None:
    """Return the first row that is a subtotal, or a summary at either end of a file; or None."""
    files = table.columns.get(FILE, [0] * table.size)
    for row, text in enumerate(texts):
        if _SUBTOTAL.fullmatch(text):
            return row
        is_first = row == 0 or files[row - 1] != files[row]
        is_last = row + 1 == table.size or files[row + 1] != files[row]
        is_summary = (is_first or is_last) and are_ids and _is_summary(text)
        # A text that occurs twice in a file is no summary.
        if is_summary and [*zip(files, texts, strict=True)].count((files[row], text)) == 1:
            return row
    return None


def _is_summary(text: str) -> bool:
    """Return whether an id is that of a row that sums up others, such as Total or Algebra total."""
    name = text.strip("*:. ")
    words = name.lower().split()
    is_total = len(words) <= 3 and not {"total", "subtotal"}.isdisjoint(words)
    return is_total or plain_name(name) in usual.SUMMARIES


def refuse_filters(table: Table) -> None:
    """Raise a SelectionError if a log has each response several times, once for each filter."""
    for name in columns_of_role(table, "filters") if table.layout else ():
        key, cells = question_columns(table), list(map(entry_text, table.columns[name]))
        questions = _rows_by_id(table, key).values()
        rows = next((rows for rows in questions if len({cells[row] for row in rows}) > 1), None)
        if rows is None:
            continue
        entries = list(dict.fromkeys(cells[row] for row in rows))
        ids = ", ".join(f"{column} {short(table.columns[column][rows[0]])}" for column in key)
        tasks = {*map(entry_text, table.columns.get("task", ()))}
        task = {"task": table.columns["task"][rows[0]]} if len(tasks) > 1 else {}
        raise SelectionError(
            f"The samples of {ids} have different values of {name}: "
            f"{', '.join(map(short, entries))}. The rows of each {name} hold the same responses, "
            f"which would be counted {len(entries)} times: choose one {name}.",
            [Way({"where": {name: entry, **task}}) for entry in entries],
        )


# --- 5. The entries of questions --------------------------------------------------------------


def entries_of_questions(reading: Reading) -> tuple[list[Any], dict[str, Any], str]:
    """Return the ids of the questions that are scored, their entries by role (lists of samples),
    and a note on samples that were added, missing or cut off."""
    ids, samples, notes = list(reading.questions), reading.samples, []
    entries: dict[str, Any] = {role: _question_entries(reading, role) for role in reading.rows}
    kept = list(range(len(ids)))
    if reading.has_lists and reading.several:
        notes.append(f"added from {reading.table.size} rows")
    if "finish" in samples:
        number = sum(word(reason) in usual.CUT_OFF for reason in samples["finish"])
        notes.append(f"{number} of them cut off by length, counted as incorrect")
    lists: dict[str, list[list[Any]]] = {}
    question_of = reading.question_of_row
    for role in samples.keys() - {"finish"}:
        lists[role] = [[] for _ in ids]
        for row, sample in zip(reading.row_of, samples[role], strict=True):
            lists[role][question_of[row]].append(sample)
    if samples:
        lists["samples"], kept, of_missing = settle_missing(reading, lists, ids)
        notes += filter(None, [of_missing])
    lists.pop("written", None)
    entries |= lists
    entries = {role: [of_questions[i] for i in kept] for role, of_questions in entries.items()}
    return [ids[i] for i in kept], entries, "; ".join(notes)


def _question_entries(reading: Reading, role: str) -> list[Any]:
    """Return the entry of a role for each question. Counts are added; others may not differ."""
    cells = reading.rows[role]
    if role == "counts":
        counts = ([cells[row] for row in rows] for rows in reading.questions.values())
        return [[*map(sum, zip(*rows, strict=True))] for rows in counts]
    for first, *others in reading.questions.values():
        for row in others:
            pair = cells[first], cells[row]
            if pair[0] != pair[1] and not all(map(is_missing, pair)):
                raise _not_equal(reading, role, first, row)
    return [cells[rows[0]] for rows in reading.questions.values()]


def _not_equal(reading: Reading, role: str, one: int, other: int) -> InputError:
    """Return the error about two rows of a question that differ in a role."""
    first, second = (short(reading.rows[role][row]) for row in (one, other))
    problem = (
        f" have the same {reading.ids_of(one) or 'question'}, but different {role}: {first} and "
        f"{second}."
    )
    places = reading.table.places_of_two(one, other)
    if role != "groups" or not reading.named_key:
        return InputError(*places, problem)
    group = reading.columns["groups"]
    problem += (
        f" If {shown_name(group)} is a setting, so that a question is another one in each group, "
        f"name both columns."
    )
    return SelectionError([*places, problem], [Way({"questions": (*reading.named_key, group)})])


def identifiers_of(reading: Reading, ids: Sequence[Any]) -> dict[str, list[Any]]:
    """Return the ids, and the texts of columns that identify the questions too, by name.

    A column does if all rows of a question have one text, which no other question has.
    """
    if not reading.key or reading.key == (ROW,):
        return {}
    identifiers = {plain_name(", ".join(reading.key)): [*ids]}
    columns = reading.table.columns
    for name in columns_named(columns, (*usual.IDS, *usual.INDICES, *usual.QUESTION_TEXTS)):
        cells = list(map(entry_text, columns[name]))
        texts_of = ({cells[row] for row in reading.questions[question]} for question in ids)
        texts = [*itertools.chain(*texts_of)]
        if "" not in texts and len(texts) == len({*texts}) == len(ids):
            identifiers.setdefault(plain_name(name), texts)
    return identifiers


# --- 9. Several files -------------------------------------------------------------------------

_NUMBERED_RUN = re.compile(
    r"(?<![a-z])(run|rs|seed|sample|samples|trial|attempt|repeat|rep|rollout|try)[-_. ]?\d+"
    r"([-_]of[-_]\d+)?(?![a-z\d]|\.\d)"
)
_TIME = re.compile(r"\d{4}[-_]?\d\d[-_]?\d\d[t_-]+\d\d[-:_.]?\d\d([-:_.]?\d\d)?([.-]\d+)?(?!\d)")
"""A date with a time of day. A date alone may be the version of a model."""
_LAST_NUMBER = re.compile(r"(?:^|(?<=[-_/]))([a-z]*|\d+b)_(\d+)(?=(?:\.[a-z][a-z\d]*)*$)")
_NO_RUNS = (
    usual.SETTINGS | usual.PARTS | usual.OF_QUESTION | {"epoch", "ckpt", "exp", "shot", "set"}
)
"""Words before the number of a file that is no repeated run, as in epoch_1 and prompt_2."""
_LEAST_PLAIN_ROWS = 20


def refuse_mixed_files(reading: Reading) -> None:
    """Raise a SelectionError if files with the same questions may belong to different models."""
    table = reading.table
    if FILE not in table.columns or {FILES, FILE} & {*reading.options.pool}:
        return
    files = table.columns[FILE]
    if not reading.key:
        raise SelectionError(
            f"{table.title} have no column with a usual name for the question of a row, so their "
            f"questions may be the same. {list_columns(table.columns)}",
            ["questions"],
        )
    questions = reading.questions.items()
    shared = next((id_ for id_, rows in questions if len({files[row] for row in rows}) > 1), None)
    if shared is None:
        return
    _refuse_copies(reading)
    if are_repeated_runs(table.files) or _are_runs_of_tool(table):
        return
    raise SelectionError(
        f"{table.title} have the same questions, such as {short(text_of_ids(shared))}. Compare "
        f"different models with at-k compare. If these are repeated runs of one model, or "
        f"different benchmarks, say so.",
        [
            Way({"pool": (FILES,)}, "repeated runs"),
            Way({"groups": FILES, "questions": (FILES, *reading.key)}, "different benchmarks"),
        ],
    )


def _are_runs_of_tool(table: Table) -> bool:
    """Return whether a tool writes repeated runs of one known model to files such as these."""
    if table.layout is None or not table.layout.files_are_runs:
        return False
    knows_model = "model" in table.columns or bool(table.origin.get("model"))
    return knows_model or len({re.sub(r"\d+", "#", file) for file in table.files}) == 1


def are_repeated_runs(names: Sequence[str]) -> bool:
    """Return whether names of files differ only in the number of a run, a time, or _1 to _n."""
    if are_parts(names):
        return False
    masked = [_NUMBERED_RUN.sub(r"\1#", _TIME.sub("TIME", name.lower())) for name in names]
    if len({*masked}) == 1:
        return True
    ends = [end for name in masked if (end := _LAST_NUMBER.search(name))]
    numbers = sorted(int(end[2]) for end in ends if end[1] not in _NO_RUNS)
    are_alike = len({_LAST_NUMBER.sub("#", name) for name in masked}) == 1
    return are_alike and numbers in ([*range(len(names))], [*range(1, len(names) + 1)])


def _refuse_copies(reading: Reading) -> None:
    """Raise a ValueError if a file has all rows of another file. Files of ids and outcomes alone
    need 20 rows or more, because few rows may be equal by chance."""
    table, counts = reading.table, None
    if "multiplicities" in reading.samples and not reading.has_lists:
        counts = reading.columns["counts"]  # how often the sample of a row occurs
    plain = {*reading.key, *reading.used, FILE} - {reading.columns.get("groups")}
    least = 1 if table.columns.keys() - plain else _LEAST_PLAIN_ROWS
    names = [name for name in table.columns if name not in (FILE, counts)]
    texts = [list(map(entry_text, table.columns[name])) for name in names]
    multiplicity = whole_numbers(table, counts) if counts else [1] * table.size
    rows_of: dict[int, Counter[Any]] = {}
    for file, n, *row in zip(table.columns[FILE], multiplicity, *texts, strict=True):
        rows_of.setdefault(file, Counter())[tuple(row)] += n or 0
    for copy, whole in itertools.permutations(rows_of, 2):
        if rows_of[copy] <= rows_of[whole] and rows_of[copy].total() >= least:
            raise ValueError(
                f"{table.files[whole]} contains all rows of {table.files[copy]}, which would count "
                f"twice: leave it out. If they are different samples, pool='files' says so."
            )
