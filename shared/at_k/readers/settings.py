"""Refuse rows of a question that have different settings, such as prompts, or the same sample.

A column without a role is a setting by its name, or by how its values occur (`is_setting`): each
question has every value equally often, as in a crossed design, or equal values meet within a
question so rarely that chance does not explain it.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..core.checks import InputError, short
from . import names as usual
from .names import is_verdict, last_part, plain_name, sample_numbers, shown_name
from .roles import columns_of_role
from .table import (
    FILE,
    ROW,
    Columns,
    QuestionRows,
    SelectionError,
    Table,
    Way,
    nested_columns,
    pairs_of,
)
from .words import entry_text, first_entries, is_outcome

_SHARE_OF_QUESTIONS = 0.5
_SHARE_OF_ROWS = 0.9
_LEAST_Z = -3.5
_PART = re.compile(r"(?<![a-z])(part|shard|chunk|rank|worker)[-_. ]?\d", re.IGNORECASE)


def refuse_settings(questions: QuestionRows) -> None:
    """Raise a SelectionError if the samples of a question, or all rows, mix settings or models."""
    table, several = questions.table, questions.several
    columns = _scalar_columns(questions)
    settings = [
        name
        for name, texts in columns.items()
        if _is_setting_by_name(name, table)
        and _differs(texts, several)
        and not _numbers_rows(name, texts, len(questions.rows))
    ]
    if len(several) > 1:
        known = {*settings, *_columns_of_layout(table)}
        others = {name: texts for name, texts in columns.items() if name not in known}
        settings += _settings_by_values(columns, others, list(questions.rows.values()))
    if settings:
        _refuse_mixed_settings(questions, settings, columns[settings[0]])
    if table.layout is None:
        _refuse_models(table, columns, [row for rows in questions.rows.values() for row in rows])


def _columns_of_layout(table: Table) -> set[str]:
    """Return the columns that a tool has written, whose settings its layout names."""
    layout = table.layout
    if layout is None:
        return set()
    if layout.rows is not None:  # These rows have no other columns.
        return {*table.columns}
    return {*layout.fields.split(), *layout.columns, *(name for _, name in pairs_of(table.roles))}


def _scalar_columns(questions: QuestionRows) -> dict[str, list[str]]:
    """Return the texts of the columns that may be settings, by name: those without lists or a role.

    Fields of objects are columns too, unless a layout knows them. If each question has one row,
    only columns of models are returned.
    """
    table = questions.table
    taken = {*questions.key, *questions.used, *questions.reading.pool}
    if questions.reading.has_labels:  # a sample is a statement of an answer
        taken |= {name for name in table.columns if last_part(name) in usual.CRITERIA}
    return {
        name: list(map(entry_text, cells))
        for name, cells in nested_columns(table).items()
        if name not in taken and (table.layout is None or name in table.columns)
        if questions.several or last_part(name) in usual.MODELS
        if not any(isinstance(x, list) for x in cells)
    }


def _settings_by_values(
    columns: Mapping[str, Sequence[str]],
    names: Iterable[str],
    questions: Sequence[Sequence[int]],
) -> list[str]:
    """Return the columns in `names` that are settings by their values, and number no samples.

    A column with a name of verdicts is a setting only if none of its texts is an outcome.
    """
    numbers = [columns[name] for name in sample_numbers(columns)]
    return [
        name
        for name in names
        if last_part(name) not in usual.OF_SAMPLE
        and not (is_verdict(name) and any(is_outcome(x) for x in {*columns[name]}))
        and not _is_one_to_one(columns[name], numbers)
        and is_setting(columns[name], questions)
    ]


def _refuse_models(table: Table, columns: Mapping[str, Sequence[str]], rows: Sequence[int]) -> None:
    """Raise a SelectionError if the `rows` that are read belong to several models."""
    for name, texts in columns.items():
        models = list(dict.fromkeys(texts[row] for row in rows if texts[row]))
        if last_part(name) in usual.MODELS and len(models) > 1:
            raise SelectionError(
                f"The rows of {table.title} have different values of {shown_name(name)}: "
                f"{first_entries(models, 4)}. They can be of different models.",
                [
                    Way({"where": {name: models[0]}}, "only this model"),
                    Way({"groups": name}, "scores for each of them"),
                    Way({"pool": (name,)}, "they are one model"),
                ],
            )


def _is_setting_by_name(name: str, table: Table) -> bool:
    """Return whether a column has to be equal in all samples of a question by its name.

    Names of settings and parts are such names, and those of references of a layout; without a
    layout also those of ids and texts of questions. Texts inside of objects do not count:
    `usage.prompt` may be a number of tokens.
    """
    if last_part(name) in usual.SETTINGS | usual.PARTS:
        return True
    if table.layout is not None:
        return name in columns_of_role(table, "references")
    path, _, field = plain_name(name).rpartition(".")
    is_plain = not path or (ROW in table.columns and name.rpartition(".")[0] in table.columns)
    is_id = field in (*usual.IDS, *usual.INDICES)
    return is_id or (is_plain and field in usual.OF_QUESTION)


def _refuse_mixed_settings(
    questions: QuestionRows, names: Sequence[str], texts: Sequence[str]
) -> None:
    """Raise a SelectionError about settings; `texts` has the entries of the first of them."""
    key, name, others = questions.named_key, names[0], names[1:]
    if questions.reading.group_size and last_part(name) in (*usual.IDS, *usual.INDICES):
        raise SelectionError(
            f"Rows of a group have different values of {shown_name(name)}: leave out group_size "
            f"(in the shell --group-size), so that {shown_name(name)} identifies the questions.",
            [],
        )
    why = "They can be different runs or questions."
    why += f" Other settings are {' and '.join(map(shown_name, others))}." if others else ""
    rows = next(x for x in questions.several if len({texts[row] for row in x}) > 1)
    entries = list(dict.fromkeys(texts[row] for row in rows))
    entry = entries[0] if len(entries[0]) <= 40 else ".."
    ways = [Way({"where": {name: entry, **dict.fromkeys(others, "..")}}, "only these samples")]
    if questions.key == (ROW,) and last_part(name) in usual.COLUMN_NAMES["questions"]:
        ways.insert(0, Way({"questions": name}))
    elif key:
        all_columns = (*key, *names)
        ways += [
            Way({"groups": name, "questions": all_columns}, "scores for each of them"),
            Way({"questions": all_columns}, "each is another question"),
        ]
    ways.append(Way({"pool": tuple(names)}, "they are samples of one question"))
    raise SelectionError(
        f"The samples of {questions.ids_of(rows[0]) or 'a question'} have different values of "
        f"{shown_name(name)}: {first_entries(entries, 4)}. {why}",
        ways,
    )


def _differs(texts: Sequence[str], questions: Sequence[Sequence[int]]) -> bool:
    """Return whether the texts differ within any question; `questions` are lists of row indices."""
    return any(texts[row] != texts[rows[0]] for rows in questions for row in rows[1:])


def _numbers_rows(name: str, texts: Sequence[str], questions: int) -> bool:
    """Return whether a column such as `run` numbers samples, or one such as `id` numbers rows."""
    if last_part(name) in usual.SAMPLE_NUMBERS:
        return name in sample_numbers({name: texts})
    is_id = last_part(name) in (*usual.IDS, *usual.INDICES)
    return is_id and questions > 1 and len({*texts}) == len(texts)


def _is_one_to_one(texts: Sequence[str], numbers: Sequence[Sequence[str]]) -> bool:
    """Return whether a column is one-to-one with a column in `numbers`, which number samples."""
    return any(
        len({*zip(texts, of_samples, strict=True)}) == len({*texts}) == len({*of_samples})
        for of_samples in numbers
    )


def is_setting(texts: Sequence[str], questions: Sequence[Sequence[int]]) -> bool:
    """Return whether the values of a column occur as those of a setting do.

    `texts` has an entry for each row, and `questions` the indices of the rows of each question.
    """
    return (
        _is_crossed(texts, questions)
        or _has_blocks(texts, questions)
        or z_of_equal_pairs(texts, questions) <= _LEAST_Z
    )


def _is_crossed(texts: Sequence[str], questions: Sequence[Sequence[int]]) -> bool:
    """Return whether questions, given by their rows, have the values of a column equally often.

    A value is common if more than half of the questions have it. Its modal number is the number of
    rows that most of them have. There are two common values or more, no question has more rows of
    one than its modal number, common values cover 90 % of the rows, and half of the questions have
    exactly the modal number of each.
    """
    counts = [Counter(texts[row] for row in rows) for rows in questions]
    numbers: dict[str, Counter[int]] = {}
    for of_question in counts:
        for value, number in of_question.items():
            numbers.setdefault(value, Counter())[number] += 1
    modal = {
        value: of_value.most_common(1)[0][0]
        for value, of_value in numbers.items()
        if of_value.total() > _SHARE_OF_QUESTIONS * len(questions)
    }
    if len(modal) < 2 or any(max(numbers[value]) > number for value, number in modal.items()):
        return False
    covered = sum(x[value] for x in counts for value in modal)
    exact = sum(all(x[value] == number for value, number in modal.items()) for x in counts)
    rows = sum(map(len, questions))
    return covered >= _SHARE_OF_ROWS * rows and exact >= len(questions) / 2


def _has_blocks(texts: Sequence[str], questions: Sequence[Sequence[int]]) -> bool:
    """Return whether the rows of each value of a column form a block, and blocks share questions.

    The rows of a block follow each other, and have each of its questions equally often. The largest
    block has half of all questions, and shares two questions with another block.
    """
    in_order = [texts[row] for row in sorted(row for rows in questions for row in rows)]
    blocks = [value for value, _ in itertools.groupby(in_order)]
    if not 1 < len({*blocks}) == len(blocks):
        return False
    counts: dict[str, Counter[int]] = {value: Counter() for value in blocks}
    for question, rows in enumerate(questions):
        for row in rows:
            counts[texts[row]][question] += 1
    first, *others = sorted(counts.values(), key=len, reverse=True)
    has_all_equally = all(len({*block.values()}) == 1 for block in counts.values())
    shares_two = any(len(first.keys() & block.keys()) > 1 for block in others)
    return has_all_equally and shares_two and 2 * len(first) >= len(questions)


def z_of_equal_pairs(texts: Sequence[str], questions: Sequence[Sequence[int]]) -> float:
    """Return how many standard deviations the number of equal pairs is above its mean.

    A pair is two rows of one question, and it is equal if both have the same text. The mean and the
    variance are those of texts dealt to the rows at random. Return 0 if there is no variance.
    """
    counts = [Counter(texts[row] for row in rows) for rows in questions]
    sizes = [of_question.total() for of_question in counts]
    frequencies = Counter(texts[row] for rows in questions for row in rows).values()
    n, within, equal = sum(sizes), _falling(sizes, 2) // 2, _falling(frequencies, 2) // 2
    all_pairs = n * (n - 1) // 2
    if n < 4 or not within or not equal or equal == all_pairs:
        return 0.0
    sharing = [_falling(sizes, 3), _falling(frequencies, 3)]
    disjoint = [x * x - x - y for x, y in zip((within, equal), sharing, strict=True)]
    triples, quadruples = n * (n - 1) * (n - 2), n * (n - 1) * (n - 2) * (n - 3) / 4
    mean = within * equal / all_pairs
    square = mean + sharing[0] * sharing[1] / triples + disjoint[0] * disjoint[1] / quadruples
    variance = square - mean * mean
    if variance <= 0:
        return 0.0
    observed = sum(_falling(of_question.values(), 2) // 2 for of_question in counts)
    return (observed - mean) / math.sqrt(variance)


def _falling(numbers: Iterable[int], k: int) -> int:
    """Return the sum of the falling factorials x (x - 1) .. (x - k + 1)."""
    return sum(math.perm(x, k) for x in numbers)


# --- The same sample twice --------------------------------------------------------------------


def are_parts(names: Sequence[str]) -> bool:
    """Return whether all files are parts of one run by their names, such as shard-0."""
    return all(map(_PART.search, names))


def refuse_repeats(questions: QuestionRows) -> None:
    """Raise an InputError if two rows are the same sample, or have the same samples.

    Two rows are the same sample if they have the same question, file and sample numbers. Without
    sample numbers, see `_refuse_equal_questions` and `_refuse_equal_rows`.
    """
    table, pool = questions.table, questions.reading.pool
    columns = nested_columns(table)
    numbers = _sample_number_columns(questions, columns)
    if not numbers:
        if questions.are_lists:
            _refuse_equal_questions(questions)
        _refuse_equal_rows(questions)
        return
    others = [x for x in pool if x in columns and x not in numbers]
    if FILE in table.columns and not are_parts(table.files):
        columns[FILE] = table.columns[FILE]
        pairs = ((x, columns[FILE][row]) for x, rows in questions.rows.items() for row in rows)
        if not are_continued(pairs):
            others.append(FILE)
    samples = list(zip(*(map(entry_text, columns[x]) for x in (*numbers, *others)), strict=True))
    pair = _equal_rows(questions, samples)
    if pair is not None:
        ids, row = questions.ids_of(pair[1]), pair[1]
        sample = ", ".join(f"{shown_name(x)} {short(columns[x][row])}" for x in numbers)
        problem = (
            f" have the same sample: {sample}{f' of {ids}' if ids else ''}. Leave out one of them. "
            f"If they are two samples, say so."
        )
        ways = [Way({"pool": (*pool, *numbers)})]
        raise SelectionError([*table.places_of_two(*pair), problem], ways)


def _equal_rows(questions: QuestionRows, entries: Sequence[Any]) -> tuple[int, int] | None:
    """Return the first two rows of a question with equal entries that are not empty, or None."""
    for rows in questions.several:
        first: dict[Any, int] = {}
        for row in rows:
            if entries[row] and first.setdefault(entries[row], row) != row:
                return first[entries[row]], row
    return None


def are_continued(pairs: Iterable[tuple[Any, int]]) -> bool:
    """Return whether two files share questions, and each has others too, as parts of one run."""
    files_of: dict[Any, set[int]] = {}
    for question, file in pairs:
        files_of.setdefault(question, set()).add(file)
    sets = {frozenset(x) for x in files_of.values()}
    return any(
        any(one in x and other not in x for x in sets)
        and any(other in x and one not in x for x in sets)
        for files in sets
        for one, other in itertools.combinations(files, 2)
    )


def _sample_number_columns(questions: QuestionRows, columns: Columns) -> list[str]:
    """Return the columns that number samples: those of the layout, or else those by usual names.

    A seed or the like that is equal in all rows of each question is left out.
    """
    table, pool = questions.table, questions.reading.pool
    if table.layout:
        named = [x for x in columns_of_role(table, "samples") if x in columns and x not in pool]
        if named:
            return named
    return [
        name
        for name in sample_numbers(columns, {*questions.key, *questions.used, *pool})
        if last_part(name) not in usual.SHARED_NUMBERS
        or _differs(list(map(entry_text, columns[name])), questions.several)
    ]


def _refuse_equal_questions(questions: QuestionRows) -> None:
    """Raise an InputError if only some questions have several rows, and all of these are equal.

    If all questions have several rows, as in parts of a run, rows may be equal by chance.
    """
    table, several = questions.table, questions.several
    if not 0 < len(several) < len(questions.rows):
        return
    columns = table.columns.values()
    if all(len({tuple(entry_text(x[i]) for x in columns) for i in rows}) == 1 for rows in several):
        first, second, *_ = several[0]
        raise InputError(
            *table.places_of_two(first, second),
            f" are equal, and each has the samples of {questions.ids_of(first) or 'a question'}: "
            f"leave out one of them.",
        )


def _refuse_equal_rows(questions: QuestionRows) -> None:
    """Raise a SelectionError if two rows are equal, and a column without a role identifies rows.

    It does if it differs in all distinct rows, also within a question. Fewer than 20 values count
    only if they are random ids or times, because others may differ by chance. Responses may be
    equal by chance too, and identify rows only if all rows occur equally often.
    """
    table = questions.table
    texts = {name: list(map(entry_text, cells)) for name, cells in nested_columns(table).items()}
    rows = list(zip(*texts.values(), strict=True))
    first: dict[Any, int] = {}
    for row, cells in enumerate(rows):
        first.setdefault(cells, row)
    if len(first) == len(rows):
        return
    distinct = list(first.values())
    is_copied = len({*Counter(rows).values()}) == 1
    taken = {*questions.key, *questions.reading.pool} | (set() if is_copied else questions.used)
    for name in texts:
        if name in taken or (last_part(name) in usual.OF_SAMPLE and not is_copied):
            continue
        values = [texts[name][row] for row in distinct]
        if len({*values}) < len(values) or not _differs(texts[name], questions.several):
            continue
        if len(values) >= 20 or all(map(_is_unique_by_nature, values)):
            second = next(row for row, cells in enumerate(rows) if first[cells] != row)
            problem = (
                f" are equal, and {shown_name(name)} differs in all other rows: leave out one of "
                f"them. If they are two samples, say so."
            )
            places = table.places_of_two(first[rows[second]], second)
            raise SelectionError([*places, problem], [Way({"pool": (name,)})])


def _is_unique_by_nature(text: str) -> bool:
    """Return whether a text is a random id of hexadecimal digits, or a time."""
    is_random = sum(x in "0123456789abcdefABCDEF" for x in text) >= 16
    is_time = len(text) >= 10 and (text.count(":") >= 2 or text.replace(".", "").isdigit())
    return is_random or is_time
