"""Read the cells of the columns with samples, outcomes, counts and references.

A table and its columns by role go in. The entries of each role come out, one per row. References
may be in several columns, or in another file.
"""

from __future__ import annotations

import itertools
import os
import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.checks import Index, InputError, short
from . import names as usual
from .formats import FORMATS, file_format
from .missing import missing_answers, missing_outcomes, warn_of_api_messages
from .names import columns_named, last_part, plain_name, shown_name
from .opening import is_remote
from .reading import ReadingOptions
from .roles import columns_of_role, count_column, is_unique, question_columns, require_one_way
from .table import (
    ROW,
    Columns,
    ColumnsByRole,
    SelectionError,
    Table,
    Way,
    column_at,
    list_columns,
    nested_columns,
    with_fields,
)
from .words import (
    KNOWN_WORDS,
    as_lists,
    as_outcome,
    as_outcomes,
    as_whole_number,
    at_least,
    entry_text,
    flat,
    graded,
    has_lists,
    is_list_of,
    map_entries,
    number_in,
    parse_list,
)

CellsByRole = dict[str, Sequence[Any]]
"""Entries by role, one per row.

The role `samples` has outcomes or answers, or lists of them; `references` what answers are checked
against; `verdicts` the outcomes of answers that are graded; `as_written` the answers before missing
ones became None; `multiplicities` how often each sample occurs. Roles of `PER_SAMPLE`, such as
`labels`, have a number for each sample. Instead of samples, `counts` has the numbers of samples in
each outcome.
"""


_OF_QUESTION = ("options", "choices", "tests", "test_list", "inputs", "outputs")
"""Columns with a list for each question, whose entries are not those of its samples."""


def rows_of_samples(table: Table, chosen: ColumnsByRole) -> Table:
    """Return the table with a row for each sample, if several columns have an entry for each.

    A row with the lists [1, 0] and ["a", "b"] becomes the two rows (1, "a") and (0, "b"). The
    fields of a list of objects count as lists too. A column `ROW` has the number of the original
    row.
    """
    lists = {} if table.layout else _lists_by_sample(table, chosen)
    if not lists:
        return table
    rows = [row for row, samples in enumerate(next(iter(lists.values()))) for _ in samples]
    taken = table.taken(rows)
    columns = {x: cells for x, cells in taken.columns.items() if x not in lists}
    columns |= {name: list(itertools.chain(*column)) for name, column in lists.items()}
    return taken.with_columns({**columns, ROW: taken.row_numbers()})


def _lists_by_sample(table: Table, chosen: ColumnsByRole) -> Columns:
    """Return the columns that have, in every row, a list with an entry for each sample.

    Return {} if a column `chosen` for samples has no such lists, if no other column has them, if a
    row has no samples, or if a role has several columns. Raises InputError if a column that belongs
    to samples by its name has lists of another length in some rows only.
    """
    roles = ("predictions", "outcomes", "counts", "finish", *usual.PER_SAMPLE)
    aligned = [chosen[x] for x in roles if x in chosen]
    if {*map(type, aligned)} != {str}:
        return {}
    columns = table.columns | _lists_of_objects(table, aligned[0])
    sizes = _sizes(table.columns[aligned[0]])
    fixed = {chosen.get(role) for role in ("references", *usual.PER_QUESTION)}
    fixed |= {*usual.QUESTION_TEXTS, *_OF_QUESTION}
    lists = {name: x for name, x in columns.items() if name not in fixed and _sizes(x) == sizes}
    for name in filter(_is_of_sample, table.columns):
        if name != chosen.get("references"):
            _refuse_other_sizes(table, name, aligned[0])
    return lists if {*aligned} < lists.keys() and 0 not in sizes else {}


def _is_of_sample(name: str) -> bool:
    """Return whether a column, by its name, has lists with an entry for each sample."""
    part = last_part(name)
    return part in usual.OF_SAMPLE and part not in usual.COLUMN_NAMES["references"]


def _refuse_other_sizes(table: Table, name: str, samples: str) -> None:
    """Raise an InputError if a column has a list as long as that of `samples` in some rows only."""
    sizes = list(zip(*(_sizes(table.columns[x]) for x in (name, samples)), strict=True))
    others = [row for row, (one, other) in enumerate(sizes) if one != other and one and other]
    if others and any(one == other > 0 for one, other in sizes):
        one, other = sizes[others[0]]
        problem = f": {shown_name(name)} has {one} entries, and {shown_name(samples)} has {other}"
        raise InputError(*table.row_place(others[0]), f"{problem}. Give one for each sample.")


def _sizes(column: Sequence[Any]) -> list[int]:
    """Return the length of each entry that is a list, and 0 for each other entry."""
    return [len(x) if isinstance(x, list) else 0 for x in column]


def _lists_of_objects(table: Table, path: str) -> Columns:
    """Return the columns with lists that a dotted path goes through, such as `a` for "a.text"."""
    lists: Columns = {}
    while path := path.rpartition(".")[0]:
        column = column_at(table.columns, path)
        if column and any(isinstance(x, list) for x in column):
            lists[path] = column
    return lists


def read_cells(
    table: Table, chosen: ColumnsByRole, reading: ReadingOptions
) -> tuple[CellsByRole, bool]:
    """Return the cells of the chosen columns by role, and whether a row has a list or counts."""
    if reading.graded_by and "references" in chosen:
        raise ValueError(f"{reading.graded_by} is for outcomes: name their column.")
    aligned = [role for role in usual.PER_SAMPLE if role in chosen]
    name = chosen.get("predictions") or chosen.get("outcomes")
    if name is None:
        if reading.graded_by:
            raise ValueError(
                f"{reading.graded_by} is for outcomes, and {table.title} has counts: add up those "
                f"of the correct samples of each question, and name n and correct."
            )
        return {"counts": _counts(table, chosen, aligned)}, True
    cells = _cells_of_columns(table, chosen, name, reading)
    cells = _with_parsed_lists(table, chosen, name, cells, reading)
    if has_lists(cells["samples"]):
        cells |= _empty_lists(cells)
    are_lists = _holds_lists(table, cells["samples"], name)
    if "multiplicities" in cells and not are_lists:
        cells["multiplicities"] = count_column(table, chosen["counts"])
    for role in aligned:
        cells[role] = _numbers_of_samples(table, role, chosen[role], cells[role])
    return _with_missing(table, chosen, cells, reading), are_lists


def _with_parsed_lists(
    table: Table, chosen: ColumnsByRole, name: str, cells: CellsByRole, reading: ReadingOptions
) -> CellsByRole:
    """Return the cells with lists in place of texts, if the column `name` has lists of samples.

    Return the cells unchanged if a question has several rows. For a column with one answer in each
    row by its name, see `_refuse_lists_as_answers`. Else a text without a list is a SelectionError.
    """
    samples = cells["samples"]
    lists = _lists_in(samples)
    is_single = "predictions" in chosen and plain_name(name) in usual.SINGLE
    if not lists or (is_single and (table.layout or reading.group_size)):
        return cells
    key = reading.questions
    if is_single and not key:
        key = question_columns(table)
    if not is_unique(table, *key):
        return cells
    if is_single:
        _refuse_lists_as_answers(table, name, cells, lists)
        return cells
    if None in lists:
        row = lists.index(None)
        problem = (
            f": {short(samples[row])} is not a JSON list of samples. If each row is one sample, a "
            f"column has to identify its question."
        )
        raise SelectionError([*table.row_place(row), problem], ["questions"])
    return {role: as_lists(entries) for role, entries in cells.items()} | {"samples": lists}


def _lists_in(samples: Sequence[Any]) -> list[list[Any] | None]:
    """Return the list in each text, None for a text without one, and [] for an empty cell.

    Return [] if samples are no texts or all empty, or if no list has entries and a text lacks "[".
    """
    texts = [x for x in samples if x]
    if not texts or not all(isinstance(x, (str, type(None))) for x in samples):
        return []
    lists = [parse_list(x) if x else [] for x in samples]
    return lists if any(lists) or all(x.startswith("[") for x in texts) else []


def _refuse_lists_as_answers(
    table: Table, name: str, cells: CellsByRole, lists: Sequence[list[Any] | None]
) -> None:
    """Raise an InputError if the column `name` of single answers has the `lists` in its texts.

    They are answers if a text has none, if none has two entries, or if a reference is a list.
    """
    is_reference = (isinstance(x, list) or parse_list(x) for x in cells.get("references", ()))
    if None in lists or max(len(x or ()) for x in lists) < 2 or any(is_reference):
        return
    row = next(i for i, x in enumerate(lists) if x)
    raise InputError(
        *table.row_place(row),
        f": {name} is {short(cells['samples'][row])}, a list in a text, but {name} holds one "
        f"answer by its name. If the lists are the samples of questions, name the column {name}s, "
        f"or write JSON Lines with lists.",
    )


def _empty_lists(cells: CellsByRole) -> CellsByRole:
    """Return the roles of samples, with an empty list for None, a question without samples."""
    of_samples = cells.keys() & {"samples", "verdicts", "finish", *usual.PER_SAMPLE}
    return {role: [[] if x is None else x for x in cells[role]] for role in of_samples}


def _cells_of_columns(
    table: Table, chosen: ColumnsByRole, samples: str, reading: ReadingOptions
) -> CellsByRole:
    """Return the cells of the column `samples` and of the columns beside it, by role."""
    names = {"samples": samples, "finish": chosen.get("finish")}
    names |= {role: chosen.get(role) for role in usual.PER_SAMPLE}
    names["multiplicities"] = chosen.get("counts")
    names["verdicts"] = chosen.get("outcomes") if "predictions" in chosen else None
    cells = {role: table.columns[name] for role, name in names.items() if name}
    if "references" in chosen:
        are_lists = plain_name(samples) in usual.SINGLE and any(map(parse_list, cells["samples"]))
        references = table.columns[chosen["references"]]
        if table.is_csv:  # where lists of acceptable answers are texts, as answers such as [1, 2]
            texts = references if are_lists else as_lists(references)
            references = [None if x == "" else x for x in texts]
        if "options" in chosen:
            references = _with_options(references, table.columns[chosen["options"]])
        cells["references"] = references
    return cells


def _with_options(references: Sequence[Any], lists: Sequence[Any]) -> list[Any]:
    """Return references for `choice`, with the lists of options of their questions.

    Such a reference is {"options": .., "answer": ..}. An integer answer is an index from 0. A
    letter stays alone if the options are letters themselves.
    """
    indices = {x for x in references if type(x) is int}
    if indices and min(indices) > 0:
        warnings.warn(
            f"The answers are taken as indices of the options from 0, and none of them is 0: they "
            f"are {min(indices)} to {max(indices)}. If they count from 1, give letters instead.",
            stacklevel=2,
        )
    return [
        {"options": options, "answer": answer}
        if isinstance(options, dict)
        or (is_list_of(options, str) and (type(answer) is int or _is_option(answer, options)))
        else answer
        for answer, options in zip(references, lists, strict=True)
    ]


def _is_option(answer: Any, options: Sequence[str]) -> bool:
    """Return whether an answer is the text of an option, or a letter if no option is one."""
    letter = isinstance(answer, str) and re.fullmatch(r"\s*\(?[A-Za-z][).]?\s*", answer)
    are_letters = any(re.fullmatch(r"\s*[A-Za-z]\s*", option) for option in options)
    return answer in options or bool(letter and not are_letters)


def _with_missing(
    table: Table, chosen: ColumnsByRole, cells: CellsByRole, reading: ReadingOptions
) -> CellsByRole:
    """Parse the outcomes in cells, and replace missing samples by None. `cells` is changed."""
    written, graded_role = cells["samples"], "samples"
    if "predictions" in chosen:
        if not reading.checker:
            _refuse_objects(table, written, "predictions", chosen["predictions"])
        warn_of_api_messages(written, chosen["predictions"])
        answers = missing_answers(table, written, cells.get("references", ()))
        cells |= {"as_written": written, "samples": answers}
        graded_role = "verdicts"
    if "outcomes" in chosen:
        cells[graded_role] = read_outcomes(table, cells[graded_role], chosen["outcomes"], reading)
    cells["samples"] = missing_outcomes(table, cells["samples"], chosen.values())
    if "verdicts" in cells:
        cells["samples"] = _where_graded(cells["samples"], cells["verdicts"])
    return cells


def _where_graded(samples: Sequence[Any], verdicts: Sequence[Any]) -> list[Any]:
    """Return the samples with None for those whose verdict is None."""
    return [
        _where_graded(cell, verdict)
        if isinstance(cell, list) and isinstance(verdict, list)
        else None
        if verdict is None
        else cell
        for cell, verdict in zip(samples, verdicts, strict=True)
    ]


def entries_of_role(role: str, cells: Sequence[Any], is_csv: bool) -> list[Any]:
    """Return the cells of a role of `PER_QUESTION`, with None for empty cells of CSV.

    Texts of weights are converted to numbers, and texts of lists (R0) to lists.
    """
    cells = [None if is_csv and x == "" else x for x in cells]
    if role == "question_weights":
        return [number_in(x) if isinstance(x, str) else x for x in cells]
    return list(as_lists(cells) if role == "R0" else cells)


def read_outcomes(
    table: Table, cells: Sequence[Any], name: str, reading: ReadingOptions
) -> list[Any]:
    """Return the outcomes in cells or lists as bools, numbers or labels, None for missing ones."""
    _refuse_objects(table, cells, "outcomes", name)
    if reading.correct_values:
        return graded(cells, reading.correct_values)
    outcomes = as_outcomes(cells, table.has_decimal_commas, reading.has_labels)
    if reading.correct_at_least is not None:
        return at_least(outcomes, reading.correct_at_least, name)
    if "reward" in last_part(name) and any(type(x) is int and x < 0 for x in flat(outcomes)):
        return map_entries(lambda x: x if x is None else float(x), outcomes)  # no categories
    return outcomes


def _refuse_objects(table: Table, cells: Sequence[Any], role: str, name: str) -> None:
    """Raise a SelectionError if the column `name` has objects: a field has to be named."""
    objects = [x for x in flat(cells) if isinstance(x, dict)]
    if objects and table.is_object and table.size == 1:
        raise SelectionError(
            f"The {role} in {shown_name(name)} are objects inside of one object: if each is a row, "
            f"say so.",
            [Way({"records": name})],
        )
    if objects:
        fields = nested_columns(Table({name: objects}))
        names = [x for x, y in fields.items() if not has_lists(y)] or list(fields)
        shown = ", ".join(map(shown_name, names[:12])) + (", .." if len(names) > 12 else "")
        raise SelectionError(
            f"The {role} in {shown_name(name)} are objects: name one of their fields, {shown}.",
            list(dict.fromkeys([role, "outcomes"])),
        )


def _numbers_of_samples(table: Table, role: str, name: str, cells: Sequence[Any]) -> Sequence[Any]:
    """Return the numbers in cells of a role of `PER_SAMPLE`, or None; an InputError for others."""
    cells = map_entries(as_outcome, cells)
    for row, numbers in enumerate(cells):
        for number in numbers if isinstance(numbers, list) else [numbers]:
            if not isinstance(number, (int, float, type(None))):
                kind = KNOWN_WORDS if role == "labels" else "numbers"
                raise InputError(
                    *table.row_place(row),
                    f": {name} is {short(number)}: {role} are {kind}, and empty for samples "
                    f"without one.",
                )
    return cells


def _holds_lists(table: Table, cells: Sequence[Any], name: str) -> bool:
    """Return whether all cells of the column `name` are lists; an InputError if only some are."""
    are_lists = [isinstance(cell, list) for cell in cells]
    if any(are_lists) and not all(are_lists):
        row, other = are_lists.index(False), Index(table.row_numbers()[are_lists.index(True)])
        problem = f": {shown_name(name)} is {short(cells[row])}, and that of row "
        remedy = " is a list. Write a list in each row, with null for each sample that is missing."
        raise InputError(*table.row_place(row), problem, other, remedy)
    return any(are_lists)


# --- Counts -----------------------------------------------------------------------------------


def _counts(table: Table, chosen: ColumnsByRole, aligned: Sequence[str]) -> list[Any]:
    """Return the counts in each row: (n, correct), or the number of samples in each category."""
    if aligned:
        raise ValueError(f"{aligned[0]} go with samples, and {table.title} has counts.")
    counts = chosen.get("counts")
    if isinstance(counts, str):
        return _lists_of_counts(table, counts)
    names = [chosen["n"], chosen["correct"]] if counts is None else list(counts.values())
    rows = list(zip(*(count_column(table, name) for name in names), strict=True))
    for row, (n, correct, *_) in enumerate(rows if counts is None else ()):
        if correct > n:
            raise InputError(
                *table.row_place(row),
                f": {names[0]} is {n} and {names[1]} is {correct}. Counts are whole numbers with "
                f"0 <= correct <= n.",
            )
    return rows


def _lists_of_counts(table: Table, name: str) -> list[Any]:
    """Return the lists of counts in a column; an InputError unless all have the same length."""
    cells = as_lists(table.columns[name])
    rows = [list(map(as_whole_number, x)) if isinstance(x, list) else [None] for x in cells]
    for row, counts in enumerate(rows):
        if any(x is None or x < 0 for x in counts) or len(counts) != len(rows[0]):
            raise InputError(
                *table.row_place(row),
                f": {name} is {short(cells[row])}. Give a list of whole numbers of at least 0, one "
                f"for each category, with the same length in all rows.",
            )
    return rows


# --- References in several columns, or elsewhere ----------------------------------------------

TESTS = "rows with tests"
"""The name of the column that `with_tests` adds."""

_COLUMNS_OF_TESTS = (
    *({"test", "entry_point"}, {"test_list"}, {"input_output"}, {"public_test_cases"}),
    {"inputs", "outputs", "entry_point"},
)
_PARTS_OF_TESTS = {"prompt", "test_imports", "test_setup_code"}.union(*_COLUMNS_OF_TESTS)
_PARTS_OF_TESTS |= {"private_test_cases", "metadata", "func_name"}


def with_tests(table: Table) -> Table:
    """Return the table with a column `TESTS` of references for `python_tests`, if it has tests.

    HumanEval, MBPP, APPS and LiveCodeBench have the tests of a question in several columns, which
    are joined to a dict. The column `outputs` is removed, because outputs of tests are no samples.
    """
    has_tests = any(needed <= table.columns.keys() for needed in _COLUMNS_OF_TESTS)
    if table.layout or not (has_tests or _has_cases(table)):
        return table
    names = [name for name in table.columns if name in _PARTS_OF_TESTS]
    rows = zip(*(table.columns[name] for name in names), strict=True)
    tests = [dict(zip(names, row, strict=True)) for row in rows]
    others = {x: cells for x, cells in table.columns.items() if x != "outputs"}
    return table.with_columns({**others, TESTS: tests})


def _has_cases(table: Table) -> bool:
    """Return whether rows have lists of inputs and outputs, and no column of references."""
    inputs, outputs = (table.columns.get(name, ()) for name in ("inputs", "outputs"))
    return (
        0 < len(inputs) == len(outputs)
        and all(
            isinstance(x, list) and isinstance(y, list) and len(x) == len(y)
            for x, y in zip(inputs, outputs, strict=True)
        )
        and not columns_of_role(table, "references")
    )


def are_elsewhere(references: Any, table: Table) -> bool:
    """Return whether references are a dict, a list or a file, and not a column of the table."""
    if not isinstance(references, str):
        return isinstance(references, (Mapping, list, tuple))
    if column_at(table.columns, references) is not None:
        return False
    if is_remote(references) or Path(_file_and_column(references)[0]).is_file():
        return True
    if os.sep in references or file_format(Path(references)) in FORMATS:
        raise FileNotFoundError(
            f"There is no file {references!r} with references, nor a column of this name."
        )
    return False


def _file_and_column(references: str) -> tuple[str, str]:
    """Return the file and the column of references written as FILE:COLUMN, or the file and ""."""
    file, _, column = references.rpartition(":")
    is_column = file and not Path(references).is_file() and not re.search(r"[/\\.]", column)
    return (file, column) if is_column else (references, "")


def join_references(
    table: Table, references: Mapping[Any, Any] | Sequence[Any] | str, reading: ReadingOptions
) -> tuple[Table, str]:
    """Return the table with a column of references, and the name of the column.

    References are a dict by the id of the question, a list in the order of the rows, or a file with
    a column of ids (not if `reading.by_order`) and one of references, which FILE:COLUMN names. A
    ValueError is raised if a question has not one reference, or not one column identifies it.
    """
    columns = reading.questions or question_columns(table)
    name = Path(references).name if isinstance(references, str) else "references"
    if isinstance(references, str) and not columns and reading.by_order:
        references = [answer for _, answer in _answers_in(references, "", reading)]
    if isinstance(references, (list, tuple)):
        if len(references) != table.size:
            raise ValueError(
                f"{name} has {len(references)} references for {table.size} rows: give one for each."
            )
        return table.with_columns({**table.columns, "references": references}), "references"
    if len(columns) != 1:
        raise SelectionError(
            f"References are joined by one column that identifies questions, not by "
            f"{len(columns)}. {list_columns(table.columns)} If they are in the same order, "
            f"give a list of them (in the shell, say so by --by-order).",
            ["questions"],
        )
    if isinstance(references, Mapping):
        pairs = list(references.items())
    else:
        pairs = _answers_in(str(references), columns[0], reading)
    answers = _answers_by_id(table, columns[0], pairs, name)
    return table.with_columns({**table.columns, name: answers}), name


def _answers_by_id(
    table: Table, column: str, pairs: Sequence[tuple[Any, Any]], name: str
) -> list[Any]:
    """Return the reference of each row by its id, from pairs (id, reference). Each id needs one."""
    by_text: dict[str, Any] = {}
    for entry, answer in pairs:
        if by_text.setdefault(entry_text(entry), answer) != answer:
            raise ValueError(f"{name} has two references for {short(entry)}.")
    texts = list(map(entry_text, table.columns[column]))
    for row, text in enumerate(texts):
        if text not in by_text:
            what = f": {column} is {short(text)}, for which {name} has no reference."
            raise InputError(*table.row_place(row), what)
    return [by_text[text] for text in texts]


def _answers_in(file: str, question: str, reading: ReadingOptions) -> list[tuple[Any, Any]]:
    """Return pairs of the id of a question and its reference in a file, or in FILE:COLUMN.

    Ids are in the column `question`, or else in one with a usual name; for "", references may stand
    in for them. References for `choice` have the options in the file, if it has a column of them.
    """
    from .sources import load_files, names_in

    file, named = _file_and_column(file)
    answers = with_tests(load_files(names_in(file), ReadingOptions()))
    try:
        if named:
            answers = with_fields(answers, [("references", named)])
        key = [question] if question in answers.columns else question_columns(answers)
        columns = [TESTS] if TESTS in answers.columns else columns_of_role(answers, "references")
        columns = [named] if named else columns
        if not columns or (question and not key):
            raise SelectionError(
                f"There is no column of ids, or none with a usual name for references. "
                f"{list_columns(answers.columns)}"
            )
        way = require_one_way(answers, [Way({"references": name}) for name in columns])
    except SelectionError as error:
        remedy = f"Name the ids {question}, as in the samples, and the references {file}:COLUMN."
        raise ValueError(f"{file}: {error} {remedy}") from None
    references = answers.columns[way.arguments["references"]]
    options = columns_named(answers.columns, usual.OPTIONS) if reading.checker == "choice" else []
    if options:
        references = _with_options(references, answers.columns[options[0]])
    return list(zip(answers.columns[key[0]] if key else references, references, strict=True))
