"""Turn the cells of a table into samples, one entry each, whatever form they have in the source.

The samples of a question may be lists in a cell or in several, fields of objects, single samples in
rows, or counts. `Reading` has them in one shape, so that each rule is written once.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.checks import Index, InputError, short
from . import names as usual
from .missing import failed_rows, missing_answers, warn_of_api_messages
from .names import last_part, plain_name, shown_name
from .reading import ReadingOptions
from .references import read_references
from .roles import columns_of_role, count_column, is_unique, question_columns
from .table import (
    ROW,
    Columns,
    SelectionError,
    Table,
    Way,
    column_at,
    nested_columns,
    pairs_of,
    rows_where,
)
from .words import (
    KNOWN_WORDS,
    as_lists,
    as_outcome,
    as_outcomes,
    comparable,
    first_entries,
    has_lists,
    number_in,
    parse_list,
    word,
)


@dataclass
class Reading:
    """The rows and samples of a source, and how they are read: step by step, in `run`.

    Attributes:
        table: the rows.
        options: what the caller says.
        columns: the column of each role; of `counts`, also a dict of columns by outcome.
        samples: entries by role, one per sample: "samples" (outcomes, or answers with None for
            those that are missing), "written" (answers as in the source), "verdicts" (outcomes of
            graded answers), "grades" (outcomes in the log of answers that are checked),
            "multiplicities" (how often a sample occurs), "finish", and those of `PER_SAMPLE`.
        row_of: the index of the row of each sample.
        rows: entries by role, one per row: "counts" instead of samples (the number of samples in
            each outcome, or n and correct), "references", and those of `PER_QUESTION`.
        has_lists: whether a row has the samples of a question, as a list or as counts.
        key: the columns that identify the questions; () if each row is one.
        questions: the indices of the rows of each question by its id: a text, or a tuple of texts
            if `key` has several columns.
    """

    table: Table
    options: ReadingOptions
    columns: Mapping[str, Any]
    samples: dict[str, Sequence[Any]] = field(default_factory=dict)
    row_of: Sequence[int] = ()
    rows: dict[str, Sequence[Any]] = field(default_factory=dict)
    has_lists: bool = True
    key: tuple[str, ...] = ()
    questions: Mapping[Any, Sequence[int]] = field(default_factory=dict)

    @property
    def used(self) -> set[str]:
        """The names of the columns that have a role."""
        return {name for _, name in pairs_of(self.columns)}

    @property
    def used_by_samples(self) -> set[str]:
        """The names of the columns that have a role, other than those of `PER_QUESTION`."""
        pairs = pairs_of(self.columns)
        return {name for role, name in pairs if role not in usual.PER_QUESTION}

    @property
    def named_key(self) -> tuple[str, ...]:
        """The columns of the key; () if they are not columns of the source but were added."""
        is_numbered = self.key == (ROW,) or self.options.group_size is not None
        return () if is_numbered else self.key

    @property
    def several(self) -> list[Sequence[int]]:
        """The indices of the rows of each question that has two or more rows."""
        return [rows for rows in self.questions.values() if len(rows) > 1]

    @property
    def question_of_row(self) -> list[int]:
        """The index of the question of each row."""
        question_of = [0] * self.table.size
        for question, rows in enumerate(self.questions.values()):
            for row in rows:
                question_of[row] = question
        return question_of

    def ids_of(self, row: int) -> str:
        """Return the id of the question of a row as messages show it: "task a, id 3", or ""."""
        names = (name for name in self.key if name != ROW)
        return ", ".join(f"{shown_name(x)} {short(self.table.columns[x][row])}" for x in names)

    def with_outcomes(self) -> Reading:
        """Return the reading without the rows whose samples are all missing."""
        if None not in self.samples.get("samples", ()):
            return self
        samples = zip(self.row_of, self.samples["samples"], strict=True)
        kept = {row for row, sample in samples if sample is not None}
        rows = {x: [row for row in rows if row in kept] for x, rows in self.questions.items()}
        return replace(self, questions={x: y for x, y in rows.items() if y})


def read_samples(table: Table, columns: Mapping[str, Any], options: ReadingOptions) -> Reading:
    """Return the samples or counts in the columns of each role, without questions so far."""
    reading = Reading(table, options, columns)
    name = columns.get("predictions") or columns.get("outcomes")
    if options.graded_by and "references" in columns:
        raise ValueError(f"{options.graded_by} is for outcomes: name their column.")
    if name is None:
        reading.rows["counts"] = _counts(reading)
        _read_rows(reading)
        return reading
    conditions = {x: y for x, y in options.where.items() if has_lists(table.columns[x])}
    _parse_lists(reading, name)
    _make_a_row_of_each_sample(reading)
    reading.table = rows_where(reading.table, conditions)  # on entries of lists, now in rows
    _read_rows(reading)
    names: dict[str, Any] = {role: columns.get(role) for role in (*usual.PER_SAMPLE, "finish")}
    names |= {"samples": name, "multiplicities": columns.get("counts")}
    # If a table has answers and outcomes, the outcomes are the verdicts on the answers.
    names["verdicts"] = columns.get("outcomes") if "predictions" in columns else None
    _read_sample_entries(reading, {role: x for role, x in names.items() if x})
    for role in reading.samples.keys() & {*usual.PER_SAMPLE}:
        reading.samples[role] = _numbers(reading, role)
    _read_outcomes_and_answers(reading)
    _leave_out_missing(reading)
    if "finish" in reading.samples:
        _make_cut_off_incorrect(reading.samples)
    if table.layout and "references" in columns:
        _read_grades_of_log(reading, table)
    return reading


def _read_grades_of_log(reading: Reading, table: Table) -> None:
    """Read the outcomes of answers that are checked again, if the log `table` has one of each."""
    graded = columns_of_role(table, "outcomes")
    if len(graded) == 1 and len(reading.row_of) == table.size:
        reading.samples["grades"] = as_outcomes(table.columns[graded[0]])


def _read_rows(reading: Reading) -> None:
    """Read references and the roles of `PER_QUESTION` into `reading.rows`, an entry for each row.
    Empty cells of CSV are None. Each entry of R0 is a list, which may be written as a text."""
    table, columns = reading.table, reading.columns
    if "references" in columns:
        reading.rows["references"] = read_references(table, columns)
    for role in (x for x in usual.PER_QUESTION if x in columns):
        cells = [None if table.is_csv and x == "" else x for x in table.columns[columns[role]]]
        if role == "question_weights":
            cells = [number_in(x) if isinstance(x, str) else x for x in cells]
        reading.rows[role] = list(as_lists(cells) if role == "R0" else cells)


# --- One entry for each sample ----------------------------------------------------------------


def _parse_lists(reading: Reading, name: str) -> None:
    """Replace texts by lists in the table, if each text in the column `name` is a list of samples.
    A text is one sample if `name` is a singular such as `answer`, or a question several rows."""
    table = reading.table
    lists = _lists_in_texts(table.columns[name])
    if lists and "predictions" in reading.columns and plain_name(name) in usual.SINGLE:
        if _are_samples(reading, lists):
            row = next(i for i, x in enumerate(lists) if x)
            raise InputError(
                *table.row_place(row),
                f": {name} is {short(table.columns[name][row])}, a list in a text, but {name} "
                f"holds one answer by its name. If the lists are the samples of questions, name "
                f"the column {name}s, or write JSON Lines with lists.",
            )
    elif lists and is_unique(table, *reading.options.questions):
        if None in lists:
            row = lists.index(None)
            problem = (
                f": {short(table.columns[name][row])} is not a JSON list of samples. If each row "
                f"is one sample, a column has to identify its question."
            )
            raise SelectionError([*table.row_place(row), problem], ["questions"])
        parsed: Columns = {x: as_lists(table.columns[x]) for x in reading.used_by_samples}
        reading.table = table.with_columns({**table.columns, **parsed, name: lists})


def _lists_in_texts(samples: Sequence[Any]) -> list[list[Any] | None]:
    """Return the list in each text: [] for an empty cell, None for a text without a list. Return []
    if entries are no texts, or if none holds a list."""
    texts = list(filter(None, samples))
    if not texts or not all(isinstance(x, (str, type(None))) for x in samples):
        return []
    lists = [parse_list(x) if x else [] for x in samples]
    return lists if any(lists) or all(x.startswith("[") for x in texts) else []


def _are_samples(reading: Reading, lists: Sequence[list[Any] | None]) -> bool:
    """Return whether `lists`, parsed from texts in a column with the name of one answer, may be
    lists of samples: each text is a list, one has two entries or more, no reference is a list, and
    each question has one row."""
    table, options, references = reading.table, reading.options, reading.columns.get("references")
    if None in lists or max(len(x or ()) for x in lists) < 2 or table.layout or options.group_size:
        return False
    if references and any(isinstance(x, list) or parse_list(x) for x in table.columns[references]):
        return False
    return is_unique(table, *(options.questions or question_columns(table)))


_OF_QUESTION = {"options", "choices", "tests", "test_list", "inputs", "outputs"}
"""Columns with a list for each question, whose entries are not those of its samples."""


def _make_a_row_of_each_sample(reading: Reading) -> None:
    """Replace the table by one with a row for each sample, if several columns have lists of them. A
    row with the lists [1, 0] and ["a", "b"] becomes the two rows (1, "a") and (0, "b"), so that
    settings in lists are looked at too. A column `ROW` has the number of the original row."""
    table, columns = reading.table, reading.columns
    roles = ("predictions", "outcomes", "counts", "finish", *usual.PER_SAMPLE)
    of_samples = [columns[role] for role in roles if role in columns]
    sizes = _sizes(table.columns[of_samples[0]])
    if table.layout or 0 in sizes:
        return
    _refuse_other_sizes(table, of_samples[0], columns.get("references"))
    candidates = table.columns | _outer_columns(table, of_samples[0])
    fixed = {columns.get("references"), columns.get("R0"), *usual.QUESTION_TEXTS, *_OF_QUESTION}
    lists = {
        x: cells for x, cells in candidates.items() if x not in fixed and _sizes(cells) == sizes
    }
    if {*of_samples} < lists.keys():
        taken = table.taken([row for row, size in enumerate(sizes) for _ in range(size)])
        rows: Columns = {x: cells for x, cells in taken.columns.items() if x not in lists}
        rows |= {name: list(itertools.chain(*column)) for name, column in lists.items()}
        reading.table = taken.with_columns({**rows, ROW: taken.row_numbers()})


def _outer_columns(table: Table, path: str) -> Columns:
    """Return the columns that a dotted path goes through, such as `a` for "a.text"."""
    parts = path.split(".")
    outer = (".".join(parts[:i]) for i in range(1, len(parts)))
    return {name: column_at(table.columns, name) or () for name in outer}


def _sizes(column: Sequence[Any]) -> list[int]:
    """Return the length of each entry that is a list, and 0 for each other entry."""
    return [len(x) if isinstance(x, list) else 0 for x in column]


def _refuse_other_sizes(table: Table, samples: str, references: str | None) -> None:
    """Raise an InputError if a column that has an entry for each sample, by its name, has lists as
    long as those of the column `samples` in some rows only. Columns with references may differ."""
    expected = _sizes(table.columns[samples])
    sample_names = usual.OF_SAMPLE - {*usual.COLUMN_NAMES["references"]}
    for name in (x for x in table.columns if x != references and last_part(x) in sample_names):
        sizes = _sizes(table.columns[name])
        rows = [row for row, size in enumerate(sizes) if size and expected[row]]
        others = [row for row in rows if sizes[row] != expected[row]]
        if 0 < len(others) < len(rows):
            raise _other_size(table, others[0], name, samples)


def _read_sample_entries(reading: Reading, names: Mapping[str, str]) -> None:
    """Read the columns `names`, by role, into `reading.samples`, and set `reading.row_of`. A cell
    is one sample, or all are lists, equally long in a row. A null is a list of nulls then."""
    table, cells = reading.table, reading.table.columns[names["samples"]]
    reading.has_lists = any(isinstance(x, list) for x in cells)
    if not reading.has_lists:
        reading.row_of = range(table.size)
        reading.samples = {role: table.columns[name] for role, name in names.items()}
        if "multiplicities" in names:
            reading.samples["multiplicities"] = count_column(table, names["multiplicities"])
        return
    _refuse_single_samples(table, names["samples"])
    reading.row_of = [row for row, size in enumerate(_sizes(cells)) for _ in range(size)]
    for role, name in names.items():
        pairs = zip(_sizes(cells), table.columns[name], strict=True)
        lists = [[None] * size if x is None else x for size, x in pairs]
        for row, entries in enumerate(lists):
            if not isinstance(entries, list) or len(entries) != len(cells[row] or ()):
                raise _other_size(table, row, name, names["samples"])
        reading.samples[role] = list(itertools.chain(*lists))


def _refuse_single_samples(table: Table, name: str) -> None:
    """Raise an InputError if a column has lists of samples, and a single sample in some row."""
    cells = table.columns[name]
    others = [row for row, x in enumerate(cells) if x is not None and not isinstance(x, list)]
    if others:
        first = next(row for row, x in enumerate(cells) if isinstance(x, list))
        raise InputError(
            *table.row_place(others[0]),
            f": {shown_name(name)} is {short(cells[others[0]])}, and that of row ",
            Index(table.row_numbers()[first]),
            " is a list. Write a list in each row, with null for each sample that is missing.",
        )


def _other_size(table: Table, row: int, name: str, samples: str) -> InputError:
    """Return the error about a column with another number of entries in a row than `samples`."""
    size, expected = (_sizes([table.columns[x][row]])[0] for x in (name, samples))
    problem = f": {shown_name(name)} has {size} entries, and {shown_name(samples)} has {expected}"
    return InputError(*table.row_place(row), f"{problem}. Give one for each sample.")


# --- Outcomes, answers and numbers ------------------------------------------------------------


def _read_outcomes_and_answers(reading: Reading) -> None:
    """Replace the cells in `reading.samples` by outcomes or answers, with None for missing ones. If
    there are both, the samples are the answers, and the outcomes are the verdicts on them."""
    table, samples = reading.table, reading.samples
    answers, outcomes = (reading.columns.get(role) for role in ("predictions", "outcomes"))
    if answers is not None:
        cells = samples["written"] = samples["samples"]
        if not reading.options.checker:
            _refuse_objects(table, cells, "predictions", answers)
        warn_of_api_messages(cells, answers)
        samples["samples"] = missing_answers(table, cells, reading.rows.get("references", ()))
    if outcomes is not None:
        role = "samples" if answers is None else "verdicts"
        samples[role] = _outcomes(reading, samples[role], outcomes)


def _leave_out_missing(reading: Reading) -> None:
    """Replace samples that failed by None. A graded answer without a verdict is None too, and so is
    the verdict on a missing answer."""
    samples = reading.samples
    # A column such as status may say so also if it has the groups.
    if failed := failed_rows(reading.table, reading.used_by_samples):
        for role in samples.keys() & {"samples", "written"}:
            pairs = zip(reading.row_of, samples[role], strict=True)
            samples[role] = [None if row in failed else x for row, x in pairs]
    if "verdicts" in samples:
        graded = [*zip(samples["samples"], samples["verdicts"], strict=True)]
        samples["samples"] = [None if verdict is None else x for x, verdict in graded]
        samples["verdicts"] = [None if x is None else verdict for x, verdict in graded]


def _make_cut_off_incorrect(samples: dict[str, Sequence[Any]]) -> None:
    """Make each sample incorrect whose entry of "finish" says that it was cut off: an answer
    becomes empty, and an outcome or a verdict becomes False."""
    is_cut_off = [word(reason) in usual.CUT_OFF for reason in samples["finish"]]
    # With answers as "written", "samples" are answers; otherwise they are outcomes.
    incorrect = {"samples": "" if "written" in samples else False, "verdicts": False}
    for role in samples.keys() & incorrect.keys():
        pairs = zip(is_cut_off, samples[role], strict=True)
        samples[role] = [incorrect[role] if is_incorrect else x for is_incorrect, x in pairs]


def _outcomes(reading: Reading, cells: Sequence[Any], name: str) -> list[Any]:
    """Return the outcomes in the column `name` as bools, numbers or labels, None for missing."""
    table, options = reading.table, reading.options
    _refuse_objects(table, cells, "outcomes", name)
    if options.correct_values:
        return _graded(cells, options.correct_values)
    outcomes = as_outcomes(cells, table.has_decimal_commas, options.has_labels)
    if options.correct_at_least is not None:
        return _at_least(outcomes, options.correct_at_least, name)
    if any(type(x) is int and x < 0 for x in outcomes):  # All are rewards: categories are 0, 1, ..
        return [float(x) if type(x) is int else x for x in outcomes]
    return outcomes


def _refuse_objects(table: Table, cells: Sequence[Any], role: str, name: str) -> None:
    """Raise a SelectionError if the column `name` has objects: a field has to be named."""
    objects = [x for x in cells if isinstance(x, dict)]
    if objects and table.is_object and table.size == 1:
        problem = f"The {role} in {shown_name(name)} are objects inside of one object"
        raise SelectionError(f"{problem}: if each is a row, say so.", [Way({"records": name})])
    if objects:
        fields = nested_columns(Table({name: objects}))
        names = [x for x, y in fields.items() if not has_lists(y)] or list(fields)
        shown = ", ".join(map(shown_name, names[:12])) + (", .." if len(names) > 12 else "")
        raise SelectionError(
            f"The {role} in {shown_name(name)} are objects: name one of their fields, {shown}.",
            list(dict.fromkeys([role, "outcomes"])),
        )


def _graded(outcomes: Sequence[Any], correct_values: Collection[Any]) -> list[bool | None]:
    """Return whether each outcome is one of the correct values, and None for missing outcomes."""
    correct = {comparable(value): value for value in correct_values}
    keys = [None if as_outcome(x) is None else comparable(x) for x in outcomes]
    pairs = zip(keys, outcomes, strict=True)
    occurring = {key: outcome for key, outcome in pairs if key is not None}
    absent = [value for key, value in correct.items() if key not in occurring]
    if absent and occurring:
        raise ValueError(
            f"correct_values has {', '.join(map(short, absent))}, and no outcome is equal to it. "
            f"The outcomes are {first_entries([*occurring.values()])}."
        )
    return [None if key is None else key in correct for key in keys]


def _at_least(scores: Sequence[Any], least: float, name: str) -> list[bool | None]:
    """Return whether each score is at least `least`, and None for missing scores."""
    known = [x for x in scores if x is not None]
    for x in known:
        if not isinstance(x, (int, float)) or not math.isfinite(x):
            raise ValueError(f"{name} has {short(x)}: a least correct score is for numbers.")
    most = max(known, default=least)
    scale = f"{name} has scores up to {most:g}, and the least correct score is {least:g}"
    if most <= 1 < least:
        remedy = "For scores from 0 to 1, give a number between them."
        warnings.warn(f"{scale}: no sample is correct. {remedy}", stacklevel=2)
    elif 0 < least < 1 < most:
        warnings.warn(f"{scale}: a score of 1 counts as correct.", stacklevel=2)
    return [None if score is None else score >= least for score in scores]


def _numbers(reading: Reading, role: str) -> list[Any]:
    """Return the numbers in the cells of a role of `PER_SAMPLE`, or None; an error for others."""
    numbers = list(map(as_outcome, reading.samples[role]))
    for row, number in zip(reading.row_of, numbers, strict=True):
        if not isinstance(number, (int, float, type(None))):
            kind = KNOWN_WORDS if role == "labels" else "numbers"
            raise InputError(
                *reading.table.row_place(row),
                f": {reading.columns[role]} is {short(number)}: {role} are {kind}, and empty for "
                f"samples without one.",
            )
    return numbers


def _counts(reading: Reading) -> list[tuple[int, ...]]:
    """Return the counts in each row: (n, correct), or the number of samples with each outcome."""
    table, columns, graded_by = reading.table, reading.columns, reading.options.graded_by
    if graded_by:
        raise ValueError(
            f"{graded_by} is for outcomes, and {table.title} has counts: add up those of the "
            f"correct samples of each question, and name n and correct."
        )
    for role in columns.keys() & {*usual.PER_SAMPLE}:
        raise ValueError(f"{role} go with samples, and {table.title} has counts.")
    counts = columns.get("counts")
    names = [columns["n"], columns["correct"]] if counts is None else list(counts.values())
    rows = list(zip(*(count_column(table, name) for name in names), strict=True))
    for row, (n, correct, *_) in enumerate(rows if counts is None else ()):
        if correct > n:
            raise InputError(
                *table.row_place(row),
                f": {names[0]} is {n} and {names[1]} is {correct}. Counts are whole numbers with "
                f"0 <= correct <= n.",
            )
    return rows
