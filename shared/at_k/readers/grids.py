"""Convert rows of cells, as people write and paste them, to a table with named columns.

The cells are separated by commas, semicolons, tabs, bars or brackets, and outcomes also by spaces.
The columns may have no names. Columns such as sample_1, sample_2, .. have a sample each, which are
joined to a list for each row.
"""

from __future__ import annotations

import itertools
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from ..core.checks import FROM_0, SAMPLE, Index, InputError
from ..core.score_agg import VERDICTS
from .names import COLUMN_NAMES, shown_name
from .table import (
    ColumnsByRole,
    SelectionError,
    Table,
    list_columns,
    pairs_of,
    table_of_columns,
)
from .words import (
    MISSING_WORDS,
    WORDS,
    is_decimal_comma,
    is_list_of,
    number_in,
    parse_list,
    word,
)

CellsOfRow = list[Any]

_VALUES = {
    *("true", "false", "yes", "no", "pass", "fail", *MISSING_WORDS, *VERDICTS),
    *(x for x in WORDS if not x.isalpha()),
}
"""Words that are entries, and never names of columns, as "correct" and "n" can be."""

_USUAL = {"item", *(name for names in COLUMN_NAMES.values() for name in names)}
_NUMBERED = {
    *("", *COLUMN_NAMES["predictions"], *COLUMN_NAMES["outcomes"], "answer"),
    *("run", "attempt", "trial", "try", "seed", "epoch", "rollout"),
}
"""The texts before the number in the name of a column that holds a sample."""
_RULE = re.compile(r"[-:=|+ ]*-[-:=|+ ]*|\(\d+ rows?\)")
"""A line between the rows of a table, or the last one of PostgreSQL."""
_LINE = re.compile(r"[^\r\n]*[^\s\ufeff][^\r\n]*")


class _Absent(str):
    """The type of `_ABSENT`, the empty text that fills up rows with fewer cells."""


_ABSENT = _Absent()


# --- Text that is not CSV -----------------------------------------------------------------


def rows_of_text(text: str) -> tuple[list[CellsOfRow], bool]:
    """Return the rows of lists, Markdown or values between spaces, and whether all are samples."""
    lists = re.fullmatch(r"\s*(?:np\.)?(?:array|tensor)\((.*)\)\s*", text, re.DOTALL)
    if rows := parse_list(lists[1] if lists else text) or []:
        return (rows if is_list_of(rows, list) else [rows]), True
    return _rows_of_markdown(text) or _rows_between_spaces(text), False


def _rows_of_markdown(text: str) -> list[CellsOfRow]:
    """Return the rows of a table with bars, as Markdown and databases write it, or []."""
    head = first_line(text).lstrip()
    if "|" not in head and not head.startswith("+-"):
        return []
    lines = list(filter(None, map(str.strip, text.splitlines())))
    kept = list(itertools.filterfalse(_RULE.fullmatch, lines))
    has_rules = len(kept) < len(lines)
    if not (has_rules or head.startswith("|")) or not all("|" in line for line in kept):
        return []
    cells = (re.split(r"(?<!\\)\|", line.strip("|")) for line in kept)
    return [[cell.strip().replace("\\|", "|") for cell in row] for row in cells]


def _rows_between_spaces(text: str) -> list[CellsOfRow]:
    """Return the values of each line, or [] unless the text has only values and spaces."""
    head = first_line(text)
    if "\t" in head or len(head.split()) < 2 or not all(map(is_value, head.split())):
        return []
    rows = [line.split() for line in text.splitlines() if line.strip()]
    return rows if all(map(is_value, itertools.chain(*rows))) else []


def first_line(text: str) -> str:
    """Return the first line that is not blank, or "", without a copy of the text."""
    line = _LINE.search(text)
    return line[0] if line else ""


def delimiter_of(head: str) -> str:
    """Return the character that separates the cells in the first line: a tab, `;`, `,` or `|`."""
    return max("\t;,|", key=head.count) if any(x in head for x in "\t;|") else ","


# --- Names of columns -----------------------------------------------------------------------


def table_of_grid(
    rows: Sequence[CellsOfRow],
    name: str,
    are_samples: bool = False,
    lines: Sequence[int] = (),
    **known: Any,
) -> Table:
    """Return the table of rows of cells, of which the first may name the columns.

    A row with fewer cells has fewer samples. In CSV, which has the number of the `lines` where rows
    begin, that is an error unless columns have a sample each. Other errors are two columns with the
    same name, and too many cells.
    """
    if [] in rows:
        empty = f"{name}, row ", Index(rows.index([])), FROM_0
        raise InputError(*empty, " is empty: write null for each ", SAMPLE, " that is missing.")
    names = [] if are_samples else _names_in_first_row(rows, name)
    has_names, is_csv = bool(names), bool(names) and len(lines) > 0
    if not has_names:
        names = [f"sample {i}" for i in range(1, max(map(len, rows), default=0) + 1)]
        rows = [names, *rows]
    least = len(names) if is_csv and not sample_columns(names) else 0
    for index, row in enumerate(rows[1:], start=1):
        if problem := _problem_of_row(row, names, least, has_names):
            place = f"line {lines[index]}" if is_csv else f"row {index}"
            raise ValueError(f"{name}, {place}: {problem}")
    columns = map(list, itertools.zip_longest(names, *rows[1:], fillvalue=_ABSENT))
    known["is_matrix"] = not has_names
    return table_of_columns({head: cells for head, *cells in columns}, name, **known)


def _problem_of_row(row: CellsOfRow, names: Sequence[str], least: int, has_names: bool) -> str:
    """Return what is wrong with a row, or "": fewer cells than `least`, more than there are names
    of columns, or the names of the first row again."""
    if not least <= len(row) <= len(names):
        problem = f"{len(row)} cells, but line 1 has {len(names)}."
        if len(names) == 1:
            problem += " If lines above the table are its title or comments, remove them."
        return problem
    if has_names and str(row[-1]).strip() == names[-1]:  # which is fast
        texts = [str(cell).strip("\ufeff ") for cell in row]
        if texts == names and not all(map(is_value, row)):
            return "the names of line 1 occur again: leave them out."
    return ""


def _names_in_first_row(rows: Sequence[CellsOfRow], title: str) -> list[str]:
    """Return the names of the columns in the first row; [] and a warning if it has samples."""
    if not rows or not _is_first_sample(rows):
        names = [str(cell).strip() for cell in rows[0]] if rows else []
        if twice := [name for name, number in Counter(names).items() if number > 1]:
            raise ValueError(
                f"{title}, line 1: two columns have the same name, {twice[0][:60]!r}. Each needs a "
                f"name of its own: columns with a sample each are sample_1, sample_2, .."
            )
        return names
    if len(rows[0]) > 2 and sample_columns(rows[0]):
        raise ValueError(
            f"{title}: the first row, {', '.join(map(str, rows[0][:4]))}, .., can number the "
            f"samples or hold those of a question. Write a row above it: sample_1, sample_2, .."
        )
    warnings.warn(f"{title}: the columns have no names. They are read as outcomes.", stacklevel=4)
    return []


def sample_columns(head: Iterable[Any]) -> list[str]:
    """Return the first columns that hold a sample each by their names, or []."""
    return next(iter(numbered_columns(map(str, head)).values()), [])


def numbered_columns(names: Iterable[str]) -> dict[str, list[str]]:
    """Return {text: columns with a sample each} for names such as sample_1, sample_2, ..

    The text is what precedes the numbers, which are those from 0 or 1 on, in any order. It is ""
    for names 1, 2, .., which are in order.
    """
    names = list(names)
    numbered: dict[str, list[tuple[int, str]]] = {}  # the number and the name, by text
    for name in names:
        match = re.fullmatch(r"([a-z_ ]*?)[ _-]?(\d{1,5})", name.strip().lower())
        if match and match[1] in _NUMBERED:
            numbered.setdefault(match[1], []).append((int(match[2]), name))
    columns = {}
    for text, pairs in numbered.items():
        numbers, samples = map(list, zip(*(sorted(pairs) if text else pairs), strict=True))
        are_all = numbers in ([*range(len(numbers))], [*range(1, len(numbers) + 1)])
        # Rewards such as 1, 0.5, 0.25 and outcomes such as 0, 1 are numbers too.
        others = set(map(word, {*names} - {*samples}))
        are_names = bool(text) or others <= {""} or not _USUAL.isdisjoint(others)
        if are_all and are_names:
            columns[text] = samples
    return columns


def _is_first_sample(rows: Sequence[CellsOfRow]) -> bool:
    """Return whether the first row has samples: only values, which do not number the samples.

    Numbers such as 1, 2, 3 in it number the samples if there are outcomes or words below them.
    """
    head, below = rows[0], rows[1:]
    if not all(map(is_value, head)):
        return False
    texts = {text for row in below for text in map(word, row) if text}
    are_words = all(isinstance(number_in(text), str) for text in texts)
    # Two values above outcomes, 0 and 1, can be outcomes too.
    has_more_than_two = sum(map(bool, map(word, head))) > 2
    are_outcomes = has_more_than_two and texts <= {"0", "1"}
    return not ((are_words or are_outcomes) and sample_columns(head))


def is_value(cell: Any) -> bool:
    """Return whether a cell holds a number, a bool or a verdict, as samples do."""
    text = word(cell)
    return text in _VALUES or is_decimal_comma(text) or not isinstance(number_in(text), str)


# --- A column for each sample -----------------------------------------------------------


def with_sample_lists(
    table: Table, columns: ColumnsByRole, others: ColumnsByRole
) -> tuple[Table, dict[str, Any]]:
    """Return the table with a column of lists in place of columns with a sample each, and
    `columns`, by role, with its name.

    A SelectionError is raised if one of them has another role, also in `others`.
    """
    columns, cells = dict(columns), dict(table.columns)
    for role in ("predictions", "outcomes"):
        if not isinstance(samples := columns.get(role), tuple):
            continue
        for other, name in pairs_of({**columns, **others}):
            if name in samples and other not in ("predictions", "outcomes"):
                raise SelectionError(
                    f"{shown_name(name)} is one of the columns with a sample each, and is named "
                    f"for {other} too: name the other columns of samples. "
                    f"{list_columns(table.columns)}",
                    ["predictions", "outcomes"],
                )
        lists = cells_of_rows(table, samples)
        cells = {name: column for name, column in cells.items() if name not in samples}
        columns[role] = samples[0] if len(samples) == 1 else f"{samples[0]} to {samples[-1]}"
        cells[columns[role]] = lists
    return table.with_columns(cells), columns


def cells_of_rows(table: Table, names: Iterable[str]) -> list[list[Any]]:
    """Return the cells of each row in some columns, without those that it lacks."""
    rows = zip(*(table.columns[name] for name in names), strict=True)
    return [[cell for cell in row if cell is not _ABSENT] for row in rows]
