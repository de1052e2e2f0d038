"""Find the references of samples in several columns, in a dict or list, or in another file."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.checks import InputError, short
from . import names as usual
from .formats import FORMATS, file_format
from .names import columns_named, plain_name
from .opening import is_remote
from .reading import ReadingOptions
from .roles import columns_of_role, question_columns, require_one_way
from .table import ColumnsByRole, SelectionError, Table, Way, column_at, list_columns, with_fields
from .words import as_lists, entry_text, is_list_of, parse_list

TESTS = "rows with tests"
"""The name of the column that `with_tests` adds."""

_COLUMNS_OF_TESTS = (
    *({"test", "entry_point"}, {"test_list"}, {"input_output"}, {"public_test_cases"}),
    {"inputs", "outputs", "entry_point"},
)
_PARTS_OF_TESTS = {"prompt", "test_imports", "test_setup_code", "private_test_cases", "metadata"}
_PARTS_OF_TESTS |= {"func_name"}.union(*_COLUMNS_OF_TESTS)


def read_references(table: Table, columns: ColumnsByRole) -> list[Any]:
    """Return the reference of each row, with the options of its question if a column has them.

    In CSV, texts that are all lists are read as lists of acceptable answers, unless the samples are
    such lists too: then [1, 2] is one answer. An empty text is None.
    """
    references = table.columns[columns["references"]]
    if table.is_csv:
        samples = columns["predictions"]
        is_single = plain_name(samples) in usual.SINGLE
        answers_are_lists = is_single and any(map(parse_list, table.columns[samples]))
        cells = references if answers_are_lists else as_lists(references)
        references = [None if cell == "" else cell for cell in cells]
    if "options" in columns:
        return _with_options(references, table.columns[columns["options"]])
    return list(references)


def _with_options(references: Sequence[Any], lists: Sequence[Any]) -> list[Any]:
    """Return references for `choice`, {"options": .., "answer": ..}, from lists of options.

    An integer is an index from 0. A letter stays alone if options are letters themselves.
    """
    indices = {answer for answer in references if type(answer) is int}
    if indices and min(indices) > 0:
        warnings.warn(
            f"The answers are taken as indices of the options from 0, and none of them is 0: they "
            f"are {min(indices)} to {max(indices)}. If they count from 1, give letters instead.",
            stacklevel=2,
        )
    return [
        {"options": options, "answer": answer} if _is_option(answer, options) else answer
        for answer, options in zip(references, lists, strict=True)
    ]


def _is_option(answer: Any, options: Any) -> bool:
    """Return whether an answer names one of the options: its text, its index, or its letter."""
    if isinstance(options, dict):
        return True
    if not is_list_of(options, str):
        return False
    letter = isinstance(answer, str) and re.fullmatch(r"\s*\(?[A-Za-z][).]?\s*", answer)
    are_letters = any(re.fullmatch(r"\s*[A-Za-z]\s*", option) for option in options)
    return answer in options or type(answer) is int or bool(letter and not are_letters)


def with_tests(table: Table) -> Table:
    """Return the table with a column `TESTS`, if other columns have tests for `python_tests`.

    Its entries are dicts of those columns. `outputs` is removed, so that expected outputs of tests
    are not read as samples. A table in the layout of a known tool is returned unchanged.
    """
    has_tests = any(needed <= table.columns.keys() for needed in _COLUMNS_OF_TESTS)
    if table.layout or not (has_tests or _has_cases(table)):
        return table
    names = [name for name in table.columns if name in _PARTS_OF_TESTS]
    rows = zip(*(table.columns[name] for name in names), strict=True)
    tests = [dict(zip(names, row, strict=True)) for row in rows]
    others = {name: cells for name, cells in table.columns.items() if name != "outputs"}
    return table.with_columns({**others, TESTS: tests})


def _has_cases(table: Table) -> bool:
    """Return whether rows have lists of inputs and of outputs, and no column of references."""
    if not {"inputs", "outputs"} <= {*table.columns} or columns_of_role(table, "references"):
        return False
    for pair in zip(table.columns["inputs"], table.columns["outputs"], strict=True):
        if not is_list_of([*pair], list) or len(pair[0]) != len(pair[1]):
            return False
    return True


# --- References elsewhere ---------------------------------------------------------------------


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
    table: Table, references: Mapping[Any, Any] | Sequence[Any] | str, options: ReadingOptions
) -> tuple[Table, str]:
    """Return the table with a column of references, and the name of the column.

    References are a dict by the id of the question, a list in the order of the rows, or a file with
    a column of ids (not if `options.by_order`) and one of references, which FILE:COLUMN names. A
    ValueError is raised if a question has not one reference, or not one column identifies it.
    """
    key = options.questions or question_columns(table)
    name = Path(references).name if isinstance(references, str) else "references"
    if isinstance(references, str) and not key and options.by_order:
        references = [answer for _, answer in _ids_and_references(references, "", options)]
    if isinstance(references, (list, tuple)):
        if len(references) != table.size:
            raise ValueError(
                f"{name} has {len(references)} references for {table.size} rows: give one for each."
            )
        return table.with_columns({**table.columns, "references": references}), "references"
    if len(key) != 1:
        raise SelectionError(
            f"References are joined by one column that identifies questions, not by {len(key)}. "
            f"{list_columns(table.columns)} If they are in the same order, give a list of them (in "
            f"the shell, say so by --by-order).",
            ["questions"],
        )
    if isinstance(references, Mapping):
        pairs = list(references.items())
    else:
        pairs = _ids_and_references(str(references), key[0], options)
    column = _references_of_rows(table, key[0], pairs, name)
    return table.with_columns({**table.columns, name: column}), name


def _references_of_rows(
    table: Table, key: str, pairs: Sequence[tuple[Any, Any]], name: str
) -> list[Any]:
    """Return the reference of each row by its id, from pairs (id, reference). Each id needs one."""
    answers: dict[str, Any] = {}
    for entry, answer in pairs:
        if answers.setdefault(entry_text(entry), answer) != answer:
            raise ValueError(f"{name} has two references for {short(entry)}.")
    texts = list(map(entry_text, table.columns[key]))
    for row, text in enumerate(texts):
        if text not in answers:
            what = f": {key} is {short(text)}, for which {name} has no reference."
            raise InputError(*table.row_place(row), what)
    return [answers[text] for text in texts]


def _ids_and_references(
    source: str, id_column: str, options: ReadingOptions
) -> list[tuple[Any, Any]]:
    """Return the (id, reference) pairs of the rows of a file, which may be written FILE:COLUMN.

    The ids are in `id_column`, or else in a column with a usual name. If `id_column` is "", there
    may be none, and the references take their place.
    """
    from .sources import load_files, names_in

    file, column = _file_and_column(source)
    table = with_tests(load_files(names_in(file), ReadingOptions()))
    try:
        if column:
            table = with_fields(table, [("references", column)])
        key = [id_column] if id_column in table.columns else question_columns(table)
        names = [TESTS] if TESTS in table.columns else columns_of_role(table, "references")
        ways = [Way({"references": name}) for name in ([column] if column else names)]
        if not ways or (id_column and not key):
            raise SelectionError(
                f"There is no column of ids, or none with a usual name for references. "
                f"{list_columns(table.columns)}"
            )
        way = require_one_way(table, ways)
    except SelectionError as error:
        remedy = f"Name the ids {id_column}, as in the samples, and the references {file}:COLUMN."
        raise ValueError(f"{file}: {error} {remedy}") from None
    references = table.columns[way.arguments["references"]]
    lists = columns_named(table.columns, usual.OPTIONS) if options.checker == "choice" else []
    if lists:
        references = _with_options(references, table.columns[lists[0]])
    return list(zip(table.columns[key[0]] if key else references, references, strict=True))
