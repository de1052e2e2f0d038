"""Which column of a source holds what, and the error that asks the caller to name one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .cells import as_whole_number, column_at, entry_text, has_lists
from .table import Columns, Table

USUAL_NAMES = {
    "predictions": (
        *("predictions", "prediction", "samples", "sample", "responses", "response"),
        *("completions", "completion", "generations", "generation", "outputs", "output"),
    ),
    "outcomes": (
        *("outcomes", "outcome", "correct", "is_correct", "passed"),
        *("rewards", "reward", "verdicts", "verdict"),
    ),
    "references": (
        *("references", "reference", "answers", "answer", "targets", "target", "ground_truth"),
        *("gold", "expected", "label", "solution"),
    ),
    "questions": (
        *("question_id", "task_id", "problem_id", "prompt_id", "doc_id", "example_id"),
        *("instance_id", "id", "question", "problem", "prompt"),
    ),
    "n": (
        *("n", "n_samples", "num_samples", "total", "samples"),
        *("attempts", "num_attempts", "trials", "num_trials"),
    ),
    "correct": ("c", "correct", "num_correct", "n_correct", "passed"),
    "groups": ("groups", "group"),
    "R0": ("r0",),
    "clusters": ("clusters", "cluster"),
}
"""The usual names of the column for each role, in lower case and in order of precedence."""

_COMPLEMENTS = {"incorrect", "wrong", "failed", "num_incorrect", "n_incorrect"}

PER_QUESTION = ("groups", "R0", "clusters")
"""The optional parameters of `compute` that take one value per question, each from a column."""


RowsOf = Callable[[], Sequence[Sequence[int]]]
"""Returns the rows of each question. It is only called where they are needed."""


class SelectionError(ValueError):
    """A source can only be read if the caller names one of its columns, or one of its splits.

    The message states the problem without saying how to name a column, which depends on the
    caller: the command adds its flags.

    Attributes:
        roles: the parameters of `read_questions` that would name it: ("predictions", "outcomes").
        choices: the names to choose from: the columns, or the splits, of the source.
        examples: what each of the roles could be given, if the message does not say so.
    """

    def __init__(
        self,
        problem: str,
        roles: Sequence[str] = (),
        choices: Iterable[str] = (),
        examples: Sequence[str] = (),
    ):
        super().__init__(problem)
        self.roles = tuple(roles)
        self.choices = tuple(choices)
        self.examples = tuple(examples)


def choose_columns(
    table: Table,
    named: Mapping[str, str],
    checked: bool,
    rows_of: RowsOf,
) -> dict[str, str]:
    """Return the columns that hold the samples of a source that can be read in several ways.

    The rule, in which each step decides before those below:

    1. The columns that the caller names are taken. References are for predictions: beside outcomes
       or counts they are refused. Predictions in a column with a usual name of outcomes are
       outcomes, unless references are named.
    2. The reader of a log knows its columns. Graded outcomes of a log are taken, unless a checker
       is given.
    3. Columns are found by their usual names, `USUAL_NAMES`. A column that numbers the samples of
       each question holds no predictions and no outcomes.
    4. Two columns of whole numbers, n and correct, are counts. See `find_counts`.
    5. Graded outcomes or counts are taken if there are no predictions, or no references to check
       these against. Predictions are taken if nothing is graded, or if a checker is given.
    6. Otherwise there are two readings, which can give different scores: the caller has to name
       one. The same holds for two columns of one role, unless they are equal or one has the name
       of the role itself. Among references, `solution` gives way to every other name.

    Args:
        table: the source.
        named: the columns that the caller names, by role.
        checked: whether the caller gives a checker.
        rows_of: returns the rows of each question, if a row is one sample.

    Returns:
        the columns by role: "predictions" with or without "references", or "outcomes", or "n" and
        "correct".

    Raises:
        SelectionError: if the caller has to name a column.
        ValueError: if the columns that are named exclude each other.
    """
    _check_exclusive(named)
    if "n" in named or "outcomes" in named:
        return {role: named[role] for role in ("n", "correct", "outcomes") if role in named}
    references = [named["references"]] if "references" in named else _found(table, "references")
    if "predictions" in named:
        samples = named["predictions"]
        if "references" not in named and samples.lower() in USUAL_NAMES["outcomes"]:
            return {"outcomes": samples}
        return _with_references(table, samples, references)
    counts = find_counts(table, rows_of)
    predictions = [
        name
        for name in _found(table, "predictions")
        if name not in counts.values()
        and not numbers_samples(
            table.columns[name], rows_of, in_order=name.lower() == "predictions"
        )
    ]
    outcomes = [
        name
        for name in _found(table, "outcomes")
        if name not in counts.values()
        and not numbers_samples(table.columns[name], rows_of, in_order=True)
    ]
    graded = [*outcomes, *counts.values()]
    if predictions and ("references" in named or (checked and references)):
        return _with_references(table, _only(table, "predictions", predictions), references)
    if "references" in named or not (predictions or graded):
        numbered = [*_found(table, "predictions"), *_found(table, "outcomes")]
        reason = (
            f"{numbered[0]} holds 0 to n-1 or 1 to n in each question, as the index of a sample "
            f"does, and no other column has"
            if numbered
            else "There is no column with"
        )
        raise SelectionError(
            f"{reason} a usual name for samples. {list_columns(table.columns)}",
            ["predictions"] if "references" in named else ["predictions", "outcomes"],
            table.columns,
        )
    if predictions and references and graded and not table.roles:
        raise SelectionError(
            f"The samples in {predictions[0]} can be checked against {references[0]}, and "
            f"{graded[-1]} has graded outcomes.",
            ["predictions", "outcomes"],
            table.columns,
        )
    if not graded:
        return _with_references(table, _only(table, "predictions", predictions), references)
    if outcomes and counts:
        raise SelectionError(
            f"There are outcomes in {outcomes[0]}, and counts in {' and '.join(counts.values())}.",
            ["outcomes", "n"],
            table.columns,
        )
    return counts or {"outcomes": _only(table, "outcomes", outcomes)}


def _check_exclusive(named: Mapping[str, str]) -> None:
    """Raise a ValueError if columns are named that cannot be read together."""
    if "predictions" in named and "outcomes" in named:
        raise ValueError(
            "predictions are checked and outcomes are already graded: name a column for one of "
            "them only."
        )
    if ("n" in named) != ("correct" in named):
        given, missing = ("n", "correct") if "n" in named else ("correct", "n")
        raise ValueError(f"Counts need two columns: {given} is given without {missing}.")
    for graded in ("outcomes", "n"):
        for other in ("predictions", "references", "outcomes"):
            if graded in named and other in named and other != graded:
                what = "outcomes are" if graded == "outcomes" else "counts of n and correct are"
                raise ValueError(f"{what} already graded: leave out {other}.")


def _with_references(table: Table, samples: str, references: Sequence[str]) -> dict[str, str]:
    chosen = {"predictions": samples}
    references = [name for name in references if name != samples]
    if references:
        chosen["references"] = _only(table, "references", references)
    return chosen


def _only(table: Table, role: str, names: Sequence[str]) -> str:
    """Return the first column, if the others of the role are equal to it.

    Raises:
        SelectionError: if they are not, so that another column can give another score.
    """
    first = names[0]
    if role == "references":
        names = [name for name in names if name.lower() != "solution"]
    others = [name for name in names if name != first]
    if first.lower() != role:
        for other in others:
            if list(table.columns[other]) != list(table.columns[first]):
                raise SelectionError(
                    f"The columns {first} and {other} can both hold the {role}.",
                    [role],
                    table.columns,
                )
    return first


def find_counts(table: Table, rows_of: RowsOf) -> dict[str, str]:
    """Return the columns of n and correct of a table of counts, or nothing.

    Raises:
        SelectionError: if the columns can also hold outcomes of one sample per row.
    """
    columns = table.columns
    for n in _found(table, "n"):
        for correct in _found(table, "correct"):
            sizes = [as_whole_number(cell) for cell in columns[n]]
            counts = [as_whole_number(cell) for cell in columns[correct]]
            if n == correct or None in sizes or None in counts:
                continue
            found = {"n": n, "correct": correct}
            repeated = any(len(rows) > 1 for rows in rows_of())
            if table.roles or not set(counts) <= {0, 1}:
                return found
            if repeated and numbers_samples(sizes, rows_of):
                continue
            if repeated or 0 in sizes or (len(sizes) > 1 and _counts_up(sizes)):
                raise SelectionError(
                    f"{n} and {correct} can be counts, and {correct} can be the outcome of one "
                    f"sample in each row.",
                    ["n", "outcomes"],
                    columns,
                )
            return found
    _refuse_complements(table)
    return {}


def _refuse_complements(table: Table) -> None:
    """Raise a SelectionError if two columns count the correct and the incorrect samples."""
    for correct in _found(table, "correct"):
        for incorrect in _COMPLEMENTS & table.columns.keys():
            successes, failures = (
                [
                    number
                    for number in map(as_whole_number, table.columns[name])
                    if number is not None
                ]
                for name in (correct, incorrect)
            )
            are_numbers = len(successes) == len(failures) == len(table.columns[correct])
            if are_numbers and any(a + b != 1 for a, b in zip(successes, failures, strict=True)):
                raise SelectionError(
                    f"{correct} and {incorrect} can be counts of samples, which need a column of "
                    f"their sum; or {correct} can be the outcome of one sample in each row.",
                    ["n", "outcomes"],
                    table.columns,
                )


def numbers_samples(cells: Sequence[Any], rows_of: RowsOf, in_order: bool = False) -> bool:
    """Whether the cells are 0 to n-1 or 1 to n in each question, such as the index of a sample.

    Args:
        cells: a column.
        rows_of: returns the rows of each question, if a row is one sample.
        in_order: whether the numbers have to ascend, in two questions at least, and one of three
            samples. Outcomes of two samples can be 0 and 1, and ranks can be any permutation.
    """
    of_lists = has_lists(cells)
    cells = cells if of_lists else list(cells)  # an entry of an Arrow column is slow to look up
    questions: Iterable[Any] = (
        cells if of_lists else ([cells[row] for row in rows] for rows in rows_of())
    )
    count = longest = 0
    has_texts = False
    for question in questions:
        if not isinstance(question, list):
            return False
        numbers = [as_whole_number(cell) for cell in question]
        has_texts = has_texts or any(isinstance(cell, str) for cell in question)
        if None in numbers or (has_texts and of_lists):
            return False
        if not in_order:
            numbers.sort(key=lambda number: number or 0)
        if not _counts_up(numbers):
            return False
        count, longest = count + 1, max(longest, len(numbers))
    if in_order:
        return longest > 2 and count > 1
    return longest > 1 and (count > 1 or not has_texts)  # "1" and "2" can be answers


def _counts_up(numbers: list[int | None]) -> bool:
    """Whether the numbers are 0 to n-1 or 1 to n, in this order."""
    n = len(numbers)
    return numbers in (list(range(n)), list(range(1, n + 1)))


def find_column(table: Table, role: str, named: str | None) -> str | None:
    """Return the named column, or else the first column with a usual name for a role, or None."""
    return next(iter(_found(table, role)), None) if named is None else named


def _found(table: Table, role: str) -> list[str]:
    """Return the columns of a role: those of the reader, or those with usual names."""
    if table.roles:
        name = table.roles.get(role)
        return [name] if isinstance(name, str) else list(name or ())
    return usual_columns(table.columns, role)


def question_columns(table: Table, of_lists: bool) -> tuple[str, ...]:
    """Return the columns that identify the questions, without those that the caller names.

    Args:
        table: the source.
        of_lists: whether a row has several samples. Then rows without a repeated entry are
            different questions, and no column is returned. Otherwise a column without repeated
            entries numbers the samples, and another one is preferred.
    """
    found = _found(table, "questions")
    if table.roles:
        return tuple(found)
    texts = {name: [entry_text(entry) for entry in table.columns[name]] for name in found}
    repeated = [name for name in found if len(set(texts[name])) < len(texts[name])]
    if of_lists:
        repeated = [] if len(repeated) < len(found) else repeated
        return tuple(name for name in repeated if "" not in texts[name])[:1]
    return tuple(repeated or found)[:1]


def with_fields(table: Table, names: Iterable[tuple[str, str]]) -> Table:
    """Return the table with the columns that the caller names, which can be dotted paths.

    Args:
        table: the source.
        names: pairs of a role and a name.

    Raises:
        SelectionError: if there is no such column or field.
    """
    columns = dict(table.columns)
    for role, name in names:
        column = column_at(columns, name)
        if column is None:
            raise SelectionError(
                f"There is no column {name!r}. {list_columns(table.columns)}", [role], table.columns
            )
        columns[name] = column
    return table.with_columns(columns)


def usual_columns(columns: Columns, role: str) -> list[str]:
    """Return the columns with a usual name for a role, which may be in any case."""
    by_lower_name = {name.lower(): name for name in reversed(columns)}
    return [by_lower_name[name] for name in USUAL_NAMES[role] if name in by_lower_name]


def list_columns(columns: Columns) -> str:
    """Return the sentence of an error message that lists the columns."""
    return f"The columns are {', '.join(columns)}."
