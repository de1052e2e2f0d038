"""Read the samples of a request, from a table, a text or files, and limit their size."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping, Sequence
from pathlib import Path
from typing import Any

from at_k.checks import QUESTION, SAMPLE, InputError
from at_k.cli.compare_files import match_questions
from at_k.readers.columns import PER_QUESTION, USUAL_NAMES, SelectionError, as_outcome
from at_k.readers.questions import Questions, read_questions
from at_k.scores.score_agg import VERDICTS

from .pasted import (
    NOT_SCORED,
    Row,
    are_outcomes,
    as_csv,
    decoded,
    has_header,
    is_numbered,
    names_roles,
    parse_table,
    sample_columns,
    sample_names,
    with_all_cells,
    with_header,
)
from .received import TEXT_TYPES, copy_files, write_text
from .request import ColumnError, Request, Samples

MAX_QUESTIONS = 10_000
MAX_SAMPLES_PER_QUESTION = 512
MAX_SAMPLES = 200_000
MAX_GROUPS = 40

Identifiers = dict[str, list[Any]]
"""Columns that identify questions, such as "id" or "question": M texts each, by name."""


def read_samples(
    request: Request, parameters: Container[str]
) -> tuple[dict[str, Samples], Identifiers, list[str]]:
    """Return the samples of each run of a request by its label, and what identifies questions.

    Text and files are copied to the current folder, so that error messages name them without a
    path.

    Args:
        request: what to read.
        parameters: the names of the parameters that `compute` takes.

    Returns:
        The samples, what identifies the questions, and sentences that say how they were read.

    Raises:
        ColumnError: if no column has a usual name.
        ValueError: if the samples cannot be read, or are too many.
    """
    metric = request.space.metric
    columns: dict[str, Any] = {role: None for role in PER_QUESTION if role in parameters}
    notes: list[str] = []
    if request.table is not None:
        rows = [
            ["" if cell is None else str(cell).strip() for cell in row] for row in request.table
        ]
        if not any(map(any, rows[1:])):
            raise InputError("The table has no ", QUESTION, "s.")
        tables = {"table.csv": _prepared_rows(rows, "table.csv", request, notes, of_page=True)}
    else:
        paths = copy_files(request.files) if request.files else [write_text(request.text, notes)]
        tables = {path: _prepared(path, request, notes) for path in paths}
        if request.files and "groups" in columns:
            # A group column can be chosen for files, on the pages that have such an option.
            columns["groups"] = request.options.get("group")
    wide = {path: rows for path, rows in tables.items() if rows is not None}
    if not wide:
        samples, identifiers = _read_runs(list(tables), columns, request.columns, notes)
    elif len(wide) == len(tables):
        not_scored = NOT_SCORED - VERDICTS.keys() if metric == "score_agg" else NOT_SCORED
        samples, identifiers = _read_tables(wide, not_scored, notes)
    else:
        raise ValueError("Give a table with a column for each sample in all files or in none.")
    for label, run in samples.items():
        if metric == "score_agg" and isinstance(run["predictions"], list):
            run["predictions"] = [_in_lower_case(row) for row in run["predictions"]]
        _check_size(run, f"{label}: " if len(samples) > 1 else "")
    if len({"references" in run for run in samples.values()}) > 1:
        raise ValueError("One file has references and the other has none. Give both or neither.")
    return samples, identifiers, list(dict.fromkeys(notes))


def _in_lower_case(verdicts: list[Any] | None) -> list[Any] | None:
    """Return verdicts such as "Fully" as the metric names them."""
    if verdicts is None:
        return None
    return [v.strip().lower() if isinstance(v, str) else v for v in verdicts]


def sample_counts(samples: Samples) -> list[int]:
    """Return the number of scored samples of each question."""
    predictions = samples["predictions"]
    if isinstance(predictions, dict):  # counts of samples
        return predictions["n"]
    return [sum(sample is not None for sample in row or ()) for row in predictions]


def _check_size(samples: Samples, prefix: str) -> None:
    """Raise a ValueError, with a prefix in its message, if the samples are too many."""
    predictions = samples["predictions"]
    if isinstance(predictions, dict):
        sizes = predictions["n"]
    else:
        sizes = [len(row or ()) for row in predictions]
    counts = (
        ("questions", len(sizes), MAX_QUESTIONS),
        ("samples per question", max(sizes), MAX_SAMPLES_PER_QUESTION),
        ("samples", sum(sizes), MAX_SAMPLES),
        ("groups", len(set(map(str, samples.get("groups", ())))), MAX_GROUPS),
    )
    for things, count, limit in counts:
        if count > limit:
            raise ValueError(f"{prefix}{count:,} {things} are too many. The limit is {limit:,}.")


# --- Text and files ---------------------------------------------------------------------


def _read_runs(
    paths: Sequence[str], columns: Mapping[str, Any], chosen: Mapping[str, str], notes: list[str]
) -> tuple[dict[str, Samples], Identifiers]:
    """Read a run from each file, all with the questions in the order of the first.

    They are matched by a column that identifies them in both files. Runs on different questions
    keep their own order, and are not compared later.

    Args:
        paths: the path of the file of each run, whose stem is the label.
        columns, chosen: the columns as in `_read_questions`.
        notes: sentences that say how the files were read, to which this adds.
    """
    questions = {Path(path).stem: _read_questions(path, columns, chosen, notes) for path in paths}
    (first_label, first), *_ = questions.items()
    samples = {}
    for label, each in questions.items():
        try:
            order = match_questions(first, each, first_label, label)
        except ValueError:
            order = None
        samples[label] = _arguments(each)
        if order is not None:
            samples[label] = {
                name: _in_order(column, order) for name, column in samples[label].items()
            }
    return samples, dict(first.identifiers)


def _prepared(path: str, request: Request, notes: list[str]) -> list[Row] | None:
    """Rewrite a file as the file reader takes it, or return its rows if each has all samples."""
    file = Path(path)
    if file.suffix not in TEXT_TYPES:  # the file reader reads it as it is
        return None
    text = decoded(file.read_bytes(), path)
    if file.suffix not in (".csv", ".tsv"):
        file.write_text(text, encoding="utf-8")
        return None
    rows = parse_table(text)
    if rows:
        return _prepared_rows(rows, path, request, notes)
    file.write_text(text, encoding="utf-8")  # the file reader says what is wrong
    return None


def _prepared_rows(
    rows: list[Row], path: str, request: Request, notes: list[str], of_page: bool = False
) -> list[Row] | None:
    """Write a table for the file reader, or return it if each row has all samples of a question.

    The table of the page names its columns 1, 2, 3, which in a pasted text may be rewards.
    """
    if len(rows) > 1 and names_roles(rows[1]):  # names typed below those of the page
        rows = rows[1:]
    reading = "" if of_page else request.reading
    if reading and rows[0] == sample_names(len(rows[0])):  # which the page has given
        rows = rows[1:]
    has_names = reading == "names"
    if not reading:
        has_names = has_header(rows) or (of_page and is_numbered(rows[0]))
    if not has_names:
        of_any_number = request.space.metric in ("max_at_k", "bayes_at_n")
        is_graded = reading == "outcomes" or (not reading and are_outcomes(rows, of_any_number))
        rows = with_header(rows, [] if is_graded else request.space.headers)
        names = ", ".join(rows[0][: len(rows[0]) - len(sample_columns(rows[0]))])
        what = f"{names} and samples" if names else "outcomes"
        notes.append(f"The columns have no names. They are read as {what}.")
    rows = with_all_cells(rows)
    if request.space.metric == "score_agg":
        names_of_items = ("item", "answer")
        rows[0] = ["question_id" if x.lower() in names_of_items else x for x in rows[0]]
    if sample_columns(rows[0]):
        return rows
    Path(path).write_text(as_csv([row for row in rows if any(row)]), encoding="utf-8")
    return None


def _read_questions(
    path: str, columns: Mapping[str, Any], chosen: Mapping[str, Any], notes: list[str]
) -> Questions:
    """Read one file.

    Args:
        path: the path of the file.
        columns: the column of each argument with one value per question. If it is None, the column
            is found by its name.
        chosen: the columns that the visitor has chosen.
        notes: sentences that say how the file was read, to which this adds.
    """
    try:
        named: dict[str, Any] = {role: name for role, name in chosen.items() if role != "where"}
        if "where" in chosen:
            column, _, entry = chosen["where"].partition("=")
            named["where"] = [(column, entry)]
        if "predictions" in named and "references" not in named and _has_outcomes(path, columns):
            named |= {"outcomes": named["predictions"], "predictions": None}
        questions = read_questions(path, **columns, **named)
        if named.get("predictions") and "references" not in questions.columns:
            named |= {"outcomes": named["predictions"], "predictions": None}
            questions = read_questions(path, **columns, **named)
    except SelectionError as error:
        names = {name for role, name in chosen.items() if role != "where"}
        if not names <= {*error.choices}:
            notes.append("The chosen columns are not in these samples, and are not used.")
            return _read_questions(path, columns, {}, notes)
        examples = dict(zip(error.examples, error.roles, strict=False))
        rows = [str(example) for example, role in examples.items() if role == "where"]
        raise ColumnError([*error.args, _remedy(error)], error.choices, rows) from error
    if "questions" in questions.columns:
        notes.append(
            f"Read as one sample in each row: rows with the same {questions.columns['questions']} "
            f"are of one question."
        )
    return questions


def _has_outcomes(path: str, columns: Mapping[str, Any]) -> bool:
    """Whether a log has several columns of outcomes, one of which a visitor has to choose."""
    try:
        read_questions(path, **columns)
    except SelectionError as error:
        return error.roles == ("outcomes",)
    return False


def _arguments(questions: Questions) -> Samples:
    return {name: _as_lists(column) for name, column in questions.arguments.items()}


def _in_order(column: Any, order: Sequence[int]) -> Any:
    """Return the entries of a column, or of each list of counts, in an order."""
    if isinstance(column, dict):
        return {name: _in_order(counts, order) for name, counts in column.items()}
    return [column[question] for question in order]


def _as_lists(column: Any) -> Any:
    """Return a column as a list. Counts are a dict of two lists."""
    if isinstance(column, dict):
        return {name: _as_lists(counts) for name, counts in column.items()}
    return column.to_pylist() if hasattr(column, "to_pylist") else list(column)


def _remedy(error: SelectionError) -> str:
    """Return what a visitor can do about the error, which ends its message.

    A visitor of the page can choose columns, and a client of the API can name them.
    """
    if error.roles == ("groups",):
        return ""
    if set(error.roles) == {"where"}:
        return " Choose its rows, or leave out the others."
    if "where" in error.roles:  # the last example is the column that varies
        return (
            f" Give each run as a file of its own, or leave out the column "
            f"{error.examples[-1]} if all samples are of one run."
        )
    present = {column.lower() for column in error.choices}
    roles = [role for role in error.roles if role in USUAL_NAMES]
    of_one_role = len(error.roles) == 1  # several columns can have it
    if of_one_role or all(present.intersection(USUAL_NAMES[role]) for role in roles):
        return " Choose one, or leave out the columns that are not meant."
    names = " or ".join(f'"{USUAL_NAMES[role][0]}"' for role in roles)
    return f" Name a column {names}."


# --- Tables with a column for each sample -----------------------------------------------


def _read_tables(
    tables: Mapping[str, list[Row]], not_scored: Collection[str], notes: list[str]
) -> tuple[dict[str, Samples], Identifiers]:
    """Read a run from each table. The first one has the names of the questions."""
    read = {Path(path).stem: _read_table(rows, not_scored, notes) for path, rows in tables.items()}
    identifiers = next(iter(read.values()))[1]
    return {label: samples for label, (samples, _) in read.items()}, identifiers


def _read_table(
    table: list[Row], not_scored: Collection[str], notes: list[str]
) -> tuple[Samples, Identifiers]:
    """Read a row of headers, and a row for each question.

    The columns of the reference, the group and the question have one of their usual names, and
    those of samples are numbered. Empty cells and empty rows are ignored. An outcome that is one of
    the words `not_scored` is None.
    """
    headers, *rows = table
    roles = [_role(header) for header in headers]
    for place in sample_columns(headers):
        roles[place] = "predictions"
    unused = [
        header or "without a name"
        for place, header in enumerate(headers)
        if not roles[place] and any(row[place] for row in rows)
    ]
    notes += [f"Not used: the column {header}." for header in unused]
    numbers = []
    samples: Samples = {"predictions": [], "references": [], "groups": []}
    names = {headers[i].lower(): i for i, role in enumerate(roles) if role == "questions"}
    identifiers: Identifiers = {name: [] for name in names}
    for number, row in enumerate(rows, start=1):
        if not any(row):
            continue
        cells = list(zip(roles, row, strict=True))
        predictions = [cell for role, cell in cells if role == "predictions" and cell]
        if not predictions:
            raise InputError(f"Row {number} has no ", SAMPLE, ".")
        numbers.append(number)
        samples["predictions"].append(predictions)
        by_role = dict(cells)
        samples["references"].append(by_role.get("references", ""))
        samples["groups"].append(by_role.get("groups", ""))
        for name, place in names.items():
            identifiers[name].append(row[place])
    if not numbers:
        raise InputError("The table has no ", QUESTION, "s.")
    for role, noun in (("references", "reference"), ("groups", "group")):
        if not any(samples[role]):
            del samples[role]
        elif not all(samples[role]):
            missing = numbers[samples[role].index("")]
            raise ValueError(f"Row {missing} has no {noun}, but other rows have one.")
    if "references" not in samples:
        samples["predictions"] = [
            [_outcome(cell, not_scored) for cell in row] for row in samples["predictions"]
        ]
    return samples, identifiers


def _outcome(cell: str, not_scored: Collection[str]) -> Any:
    return None if cell.lower() in not_scored else as_outcome(cell)


def _role(header: str) -> str:
    """Return the role of a column of the table that is not a sample, or "" if it has none."""
    for role in ("references", "groups", "questions"):
        if header.lower() in USUAL_NAMES[role]:
            return role
    return ""
