"""Refuse rows of a question that have different settings, such as prompts, or the same sample.

A column without a role is a setting by its name, or by how its values occur: see `is_setting`.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import mode
from typing import Any

from ..core.checks import InputError, short
from . import names as usual
from .names import is_verdict, last_part, sample_numbers, shown_name
from .roles import columns_of_role
from .samples import Reading
from .table import FILE, ROW, Columns, SelectionError, Way, nested_columns, pairs_of
from .words import entry_text, first_entries, is_outcome

_SHARE_OF_QUESTIONS = 0.5  # that have a value, if it is common
_SHARE_OF_ROWS = 0.9  # that have common values
_LEAST_Z = -3.5  # of the number of equal pairs, if chance explains it
_LEAST_ROW_IDS = 20  # fewer values may be different by chance
_PART = re.compile(r"(?<![a-z])(part|shard|chunk|rank|worker)[-_. ]?\d", re.IGNORECASE)


def refuse_settings(reading: Reading) -> None:
    """Raise a SelectionError if the samples of a question, or all rows, mix settings or models."""
    several, columns = reading.several, _free_columns(reading)
    settings = [
        name
        for name, texts in columns.items()
        if _is_setting_by_name(name, texts, reading) and _differs(texts, several)
    ]
    if len(several) > 1:
        settings += _settings_by_values(columns, settings, reading)
    if settings:
        texts = columns[settings[0]]
        rows = next(rows for rows in several if _differs(texts, [rows]))
        raise _mixed_settings(reading, settings, texts, rows)
    if reading.table.layout is None:
        _refuse_models(reading, columns)


def _refuse_models(reading: Reading, columns: Mapping[str, Sequence[str]]) -> None:
    """Raise a SelectionError if a column of models has several entries, of any questions."""
    scored = [row for rows in reading.questions.values() for row in rows]
    for name in columns:
        if last_part(name) in usual.MODELS:
            with_model = [row for row in scored if columns[name][row]]
            if _differs(columns[name], [with_model]):
                raise _mixed_settings(reading, [name], columns[name], with_model)


def _free_columns(reading: Reading) -> dict[str, list[str]]:
    """Return the texts of the columns that may be settings, by name: those without lists or a role.

    If each question has one row, only columns of models are returned.
    """
    table, has_several = reading.table, bool(reading.several)
    taken = {*reading.key, *reading.used, *reading.options.pool}
    columns = {}
    for name, cells in nested_columns(table).items():
        part = last_part(name)
        # Where outcomes are labels, a sample is a statement of an answer.
        is_criterion = reading.options.has_labels and part in usual.CRITERIA
        is_of_source = table.layout is None or name in table.columns
        is_searched = has_several or part in usual.MODELS
        if is_criterion or name in taken or not (is_of_source and is_searched):
            continue
        if not any(isinstance(cell, list) for cell in cells):
            columns[name] = list(map(entry_text, cells))
    return columns


def _is_setting_by_name(name: str, texts: Sequence[str], reading: Reading) -> bool:
    """Return whether a column has a name of settings, ids or texts of the question, so that it has
    to be equal in all samples of a question; with a layout, of settings and references only."""
    table, part = reading.table, last_part(name)
    is_id = part in (*usual.IDS, *usual.INDICES)
    if part in usual.SAMPLE_NUMBERS and sample_numbers({name: texts}):
        return False
    if is_id and len(reading.questions) > 1 and len({*texts}) == len(texts):
        return False
    if part in usual.SETTINGS | usual.PARTS:
        return True
    if table.layout is not None:
        return name in columns_of_role(table, "references")
    path = name.rpartition(".")[0]  # `usage.prompt` is a number of tokens
    is_of_row = not path or (ROW in table.columns and path in table.columns)
    return is_id or (is_of_row and part in usual.OF_QUESTION)


def _settings_by_values(
    columns: Mapping[str, Sequence[str]], excluded: Iterable[str], reading: Reading
) -> list[str]:
    """Return the columns whose values occur as those of settings do, but not those in `excluded`.

    Columns that describe samples, verdicts, and columns that are one-to-one with the number of a
    sample are no settings; nor are those that the layout of a tool names.
    """
    layout, taken = reading.table.layout, {*excluded}
    if layout is not None:
        taken |= {*layout.fields.split(), *layout.columns}
        taken |= {name for _, name in pairs_of(reading.table.roles)}
        taken |= {*reading.table.columns} if layout.rows is not None else set()
    numbers = [columns[name] for name in sample_numbers(columns)]
    questions = list(reading.questions.values())
    settings = []
    for name, texts in columns.items():
        is_verdict_column = is_verdict(name) and any(map(is_outcome, {*texts}))
        if name in taken or last_part(name) in usual.OF_SAMPLE or is_verdict_column:
            continue
        is_number = any(_are_one_to_one(texts, number) for number in numbers)
        if not is_number and is_setting(texts, questions):
            settings.append(name)
    return settings


def _are_one_to_one(texts: Sequence[str], others: Sequence[str]) -> bool:
    """Return whether each text of one column goes with one text of the other, and vice versa."""
    return len({*zip(texts, others, strict=True)}) == len({*texts}) == len({*others})


def _mixed_settings(
    reading: Reading, names: Sequence[str], texts: Sequence[str], rows: Sequence[int]
) -> SelectionError:
    """Return the error about the columns `names`, which are settings, with ways to settle it.

    `texts` has the entries of the first column in all rows. They differ between the given `rows`.
    """
    key, name, others = reading.named_key, names[0], names[1:]
    if reading.options.group_size and last_part(name) in (*usual.IDS, *usual.INDICES):
        return SelectionError(
            f"Rows of a group have different values of {shown_name(name)}: leave out group_size "
            f"(in the shell --group-size), so that {shown_name(name)} identifies the questions."
        )
    entries = list(dict.fromkeys(texts[row] for row in rows))
    entry = entries[0] if len(entries[0]) <= 40 else ".."
    ways = [Way({"where": {name: entry, **dict.fromkeys(others, "..")}})]
    if reading.key == (ROW,) and last_part(name) in usual.COLUMN_NAMES["questions"]:
        ways.insert(0, Way({"questions": name}))
    elif key:
        ids = (*key, *names)
        ways.append(Way({"groups": name, "questions": ids}, "scores for each of them"))
        ways.append(Way({"questions": ids}, "each is another question"))
    ways.append(Way({"pool": tuple(names)}))
    whose = reading.ids_of(rows[0]) if rows in reading.several else reading.table.title
    beside = f" Other settings are {' and '.join(map(shown_name, others))}." if others else ""
    return SelectionError(
        f"The samples of {whose or 'a question'} have different values of {shown_name(name)}: "
        f"{first_entries(entries, 4)}. They can be different models, runs or questions.{beside}",
        ways,
    )


def _differs(texts: Sequence[str], questions: Sequence[Sequence[int]]) -> bool:
    """Return whether the texts differ within any question; `questions` are lists of row indices."""
    return any(texts[row] != texts[rows[0]] for rows in questions for row in rows[1:])


# --- How the values of a setting occur --------------------------------------------------------


def is_setting(texts: Sequence[str], questions: Sequence[Sequence[int]]) -> bool:
    """Return whether the values of a column, the `texts` of its rows, occur as those of a setting.

    Questions have each value equally often, or the rows of each value follow each other, or rows of
    a question have equal values less often than chance explains. `questions` has the row indices.
    """
    counts = [Counter(texts[row] for row in rows) for rows in questions]
    has_pattern = _is_crossed(counts) or _has_blocks(texts, questions)
    return has_pattern or z_of_equal_pairs(counts) <= _LEAST_Z


def _is_crossed(counts: Sequence[Counter[str]]) -> bool:
    """Return whether questions have the values equally often; `counts` has the rows of each value.

    A value is common if more than half of the questions have it, and most of them have its modal
    number of rows. There are two common values or more, they cover 90 % of the rows, no question
    has more rows of one than its modal number, and half have exactly the modal number of each.
    """
    numbers: dict[str, list[int]] = {}
    for value, number in itertools.chain(*(of_question.items() for of_question in counts)):
        numbers.setdefault(value, []).append(number)
    least = _SHARE_OF_QUESTIONS * len(counts)
    modal = {value: mode(known) for value, known in numbers.items() if len(known) > least}
    if len(modal) < 2 or any(max(numbers[value]) > number for value, number in modal.items()):
        return False
    covered = sum(sum(numbers[value]) for value in modal)
    exact = sum(modal.items() <= of_question.items() for of_question in counts)
    rows = sum(map(Counter.total, counts))
    return covered >= _SHARE_OF_ROWS * rows and exact >= len(counts) / 2


def _has_blocks(texts: Sequence[str], questions: Sequence[Sequence[int]]) -> bool:
    """Return whether the rows of each value of a column form a block, and blocks share questions.

    The rows of a block follow each other, and have each of its questions equally often. The largest
    block has half of all questions, and shares two questions with another block.
    """
    question_of = {row: question for question, rows in enumerate(questions) for row in rows}
    blocks = itertools.groupby(sorted(question_of), key=texts.__getitem__)
    pairs = [(value, Counter(question_of[row] for row in rows)) for value, rows in blocks]
    if not 1 < len({value for value, _ in pairs}) == len(pairs):
        return False
    first, *others = sorted((block for _, block in pairs), key=len, reverse=True)
    has_all_equally = all(len({*block.values()}) == 1 for _, block in pairs)
    shares_two = any(len(first.keys() & block.keys()) > 1 for block in others)
    return has_all_equally and shares_two and 2 * len(first) >= len(questions)


def z_of_equal_pairs(counts: Sequence[Counter[str]]) -> float:
    """Return how many standard deviations the number of equal pairs is above its mean.

    A pair is two rows of one question, equal if both have the same text. `counts` has the number of
    rows of each text in a question. The mean and the variance are those of texts dealt to the rows
    at random. The result is 0 if the variance is, or if there are fewer than four rows.
    """

    def falling(numbers: Iterable[int], k: int) -> int:
        """Return the sum of the falling factorials x (x - 1) .. (x - k + 1)."""
        return sum(math.perm(x, k) for x in numbers)

    sizes = list(map(Counter.total, counts))
    total = Counter(itertools.chain(*(of_question.elements() for of_question in counts)))
    n, within, equal = sum(sizes), falling(sizes, 2) // 2, falling(total.values(), 2) // 2
    all_pairs = n * (n - 1) // 2
    if n < 4 or not within or not equal or equal == all_pairs:
        return 0.0
    # The mean square is a sum over two pairs: the same twice, sharing a row, or disjoint.
    sharing = [falling(sizes, 3), falling(total.values(), 3)]
    disjoint = [x * x - x - y for x, y in zip((within, equal), sharing, strict=True)]
    triples, quadruples = n * (n - 1) * (n - 2), n * (n - 1) * (n - 2) * (n - 3) / 4
    mean = within * equal / all_pairs
    square = mean + sharing[0] * sharing[1] / triples + disjoint[0] * disjoint[1] / quadruples
    variance = square - mean * mean
    observed = sum(falling(of_question.values(), 2) // 2 for of_question in counts)
    return (observed - mean) / math.sqrt(variance) if variance > 0 else 0.0


# --- The same sample twice --------------------------------------------------------------------


def refuse_repeats(reading: Reading) -> None:
    """Raise a SelectionError if two rows of a question are the same sample, or the same samples.

    They are if their sample numbers and the columns in `pool` are equal, and their file if each
    file numbers its samples anew; or, without sample numbers, by a column that identifies rows.
    """
    table, pool, columns = reading.table, reading.options.pool, nested_columns(reading.table)
    numbers = _sample_number_columns(reading, columns)
    names = [*numbers, *(columns.keys() & {*pool})]
    if not numbers:
        _refuse_equal_questions(reading)
        names = numbers = _row_ids(reading, columns)
    elif FILE in table.columns and not are_parts(table.files):
        files = table.columns[FILE]
        if not are_continued(zip(reading.question_of_row, files, strict=True)):
            columns[FILE] = files  # each file numbers its samples anew
            names.append(FILE)
    samples = list(zip(*(map(entry_text, columns[name]) for name in names), strict=True))
    for rows in reading.several if samples else ():
        row_of: dict[Any, int] = {}
        for row in rows:
            first = row_of.setdefault(samples[row], row)
            if first == row:
                continue
            sample = ", ".join(
                f"{shown_name(name)} {short(columns[name][row])}" for name in numbers
            )
            of_question = f" of {reading.ids_of(row)}" if reading.ids_of(row) else ""
            problem = (
                f" have the same sample: {sample}{of_question}. Leave out one of them. If they are "
                f"two samples, say so."
            )
            ways = [Way({"pool": (*pool, *numbers)})]
            raise SelectionError([*table.places_of_two(first, row), problem], ways)


def are_parts(names: Sequence[str]) -> bool:
    """Return whether all files are parts of one run by their names, such as shard-0."""
    return all(map(_PART.search, names))


def are_continued(pairs: Iterable[tuple[Any, int]]) -> bool:
    """Return whether two files share questions and each has others, from (question, file) pairs."""
    questions_of: dict[int, set[Any]] = {}
    for question, file in pairs:
        questions_of.setdefault(file, set()).add(question)
    distinct = {frozenset(questions) for questions in questions_of.values()}
    return any(a & b and a - b and b - a for a, b in itertools.combinations(distinct, 2))


def _sample_number_columns(reading: Reading, columns: Columns) -> list[str]:
    """Return the columns that number samples, without a seed or the like that never differs."""
    pool, table = reading.options.pool, reading.table
    of_layout = columns_of_role(table, "samples") if table.layout else ()
    return [name for name in of_layout if name in columns and name not in pool] or [
        name
        for name in sample_numbers(columns, {*reading.key, *reading.used, *pool})
        if last_part(name) not in usual.SHARED_NUMBERS
        or _differs(list(map(entry_text, columns[name])), reading.several)
    ]


def _refuse_equal_questions(reading: Reading) -> None:
    """Raise an InputError if some questions have several lists, and all of these are equal; not if
    all questions have, as in parts of a run, in which rows may be equal by chance."""
    table, several = reading.table, reading.several
    if reading.has_lists and len(several) < len(reading.questions):
        columns = (list(map(entry_text, cells)) for cells in table.columns.values())
        if not any(_differs(texts, several) for texts in columns):
            first, second, *_ = several[0]
            raise InputError(
                *table.places_of_two(first, second),
                f" are equal, and each has the samples of {reading.ids_of(first) or 'a question'}: "
                f"leave out one of them.",
            )


def _row_ids(reading: Reading, columns: Columns) -> list[str]:
    """Return a column without a role that identifies rows, in a list, if rows are equal; else [].

    Fewer than 20 values count only if they are random ids or times, because others may differ by
    chance. Responses identify rows only if all rows occur equally often.
    """
    texts = {name: list(map(entry_text, cells)) for name, cells in columns.items()}
    rows = Counter(zip(*texts.values(), strict=True))
    if len(rows) == reading.table.size:
        return []
    is_copied = len({*rows.values()}) == 1
    taken = {*reading.key, *reading.options.pool} | (set() if is_copied else reading.used)
    for name, column in texts.items():
        values = {*column}
        may_be_equal = name in taken or (last_part(name) in usual.OF_SAMPLE and not is_copied)
        if may_be_equal or len(values) < len(rows) or not _differs(column, reading.several):
            continue
        if len(values) >= _LEAST_ROW_IDS or all(map(_is_unique_by_nature, values)):
            return [name]
    return []


def _is_unique_by_nature(text: str) -> bool:
    """Return whether a text is a random id of hexadecimal digits, or a time."""
    is_random = sum(x in "0123456789abcdefABCDEF" for x in text) >= 16
    is_time = len(text) >= 10 and (text.count(":") >= 2 or text.replace(".", "").isdigit())
    return is_random or is_time
