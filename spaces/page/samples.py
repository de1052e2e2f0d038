"""Read the samples of a request, from a table, a text or files, and limit their size."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

from at_k.cli.compare_files import match_questions
from at_k.readers.cells import as_outcome
from at_k.readers.names import PER_QUESTION, USUAL_NAMES, SelectionError
from at_k.readers.questions import Questions, read_questions

from .pasted import (
    as_csv,
    decoded,
    is_wide,
    parse_table,
    refuse_repeated_keys,
    with_all_cells,
)
from .request import Request, Samples

MAX_BYTES = 2 << 20
TOO_LARGE = f"The limit for a file, and for a text, is {MAX_BYTES // 1_000_000} MB."
MAX_QUESTIONS = 2_000
MAX_SAMPLES_PER_QUESTION = 512
MAX_SAMPLES = 100_000
MAX_GROUPS = 40
_FILE_TYPES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")


Identifiers = dict[str, list[Any]]
"""Columns that identify questions, such as "id" or "question": M texts each, by name."""


def read_samples(
    request: Request, parameters: Container[str]
) -> tuple[dict[str, Samples], Identifiers]:
    """Return the samples of each run of a request by its label, and what identifies questions.

    Text and files are copied to the current folder, so that error messages name them without a
    path.

    Args:
        request: what to read.
        parameters: the names of the parameters that `compute` takes.

    Raises:
        ValueError: if the samples cannot be read, or are too many.
    """
    samples: dict[str, Samples] = {}
    identifiers: Identifiers = {}
    metric = request.space.metric
    if request.table is not None:
        samples["table"], identifiers = _read_table(request.table)
    else:
        columns = {role: None for role in PER_QUESTION if role in parameters}
        if request.files:
            paths = _copy_files(request.files)
            # A group column can be chosen for files, on the pages that have such an option.
            group = {"groups": request.options.get("group")} if "groups" in columns else {}
            files = {label: (path, columns | group) for label, path in paths.items()}
            samples, identifiers = _read_runs(files, metric)
        else:
            samples, identifiers = _read_runs(
                {"text": (_write_text(request.text), columns)}, metric
            )
    for label, run in samples.items():
        if metric == "score_agg" and isinstance(run["predictions"], list):
            run["predictions"] = [_in_lower_case(row) for row in run["predictions"]]
        _check_size(run, f"{label}: " if len(samples) > 1 else "")
    if len({"references" in run for run in samples.values()}) > 1:
        raise ValueError("One file has references and the other has none. Give both or neither.")
    return samples, identifiers


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
    files: Mapping[str, tuple[str, Mapping[str, Any]]], metric: str
) -> tuple[dict[str, Samples], Identifiers]:
    """Read a run from each file, all with the questions in the order of the first.

    They are matched by a column that identifies them in both files. Runs on different questions
    keep their own order, and are not compared later.

    Args:
        files: by the label of the run, the path of a file, and its columns as in `_read_questions`.
        metric: the name of the metric.
    """
    tables = {label: _prepared(path, metric) for label, (path, _) in files.items()}
    if wide := {label: table for label, table in tables.items() if table is not None}:
        if len(wide) < len(tables):
            raise ValueError("Give a table with a column for each sample in all files or in none.")
        read = {label: _read_table(table) for label, table in wide.items()}
        (_, identifiers), *_ = read.values()
        return {label: run for label, (run, _) in read.items()}, identifiers
    questions = {label: _read_questions(path, columns) for label, (path, columns) in files.items()}
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


def _prepared(path: str, metric: str) -> list[list[str]] | None:
    """Rewrite a file as the file reader takes it, or return its rows if each has all samples."""
    file = Path(path)
    text = decoded(file.read_bytes(), path)
    if file.suffix not in (".csv", ".tsv"):
        refuse_repeated_keys(text)
        file.write_text(text, encoding="utf-8")
        return None
    rows, delimiter = parse_table(text)
    if rows and is_wide(rows[0]):
        return with_all_cells(rows)
    is_verdicts = metric == "score_agg"
    if rows and (delimiter != "," or is_verdicts):
        text = as_csv(rows, is_verdicts)
    file.write_text(text, encoding="utf-8")
    return None


def _read_questions(path: str, columns: Mapping[str, Any]) -> Questions:
    """Read one file.

    Args:
        path: the path of the file.
        columns: the column of each argument with one value per question. If it is None, the column
            is found by its name.
    """
    try:
        return read_questions(path, **columns)
    except SelectionError as error:
        raise ValueError(_with_remedy(error)) from error


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


def _with_remedy(error: SelectionError) -> str:
    """Return the message of the error and what a visitor can do about it.

    The page has no way to choose a column, except for groups, so its name has to be a usual one.
    """
    if error.roles == ("groups",):
        return str(error)
    if set(error.roles) == {"where"}:
        return f"{error} Leave out the other rows."
    if "where" in error.roles:  # the last example is the column that varies
        return (
            f"{error} Give each run as a file of its own, or leave out the column "
            f"{error.examples[-1]} if all samples are of one run."
        )
    present = {column.lower() for column in error.choices}
    roles = [role for role in error.roles if role in USUAL_NAMES]
    if all(present.intersection(USUAL_NAMES[role]) for role in roles):
        return f"{error} Leave out the columns that are not meant."
    names = " or ".join(f'"{USUAL_NAMES[role][0]}"' for role in roles)
    return f"{error} Name a column {names}."


def _copy_files(uploads: Sequence[str]) -> dict[str, str]:
    """Copy uploaded files to the current folder; return their new names by short, plain labels."""
    names: dict[str, str] = {}
    for number, upload in enumerate(map(Path, uploads), start=1):
        file_type = upload.suffix.lower()
        if file_type not in _FILE_TYPES:
            raise ValueError(f"The name of a file must end in one of {', '.join(_FILE_TYPES)}.")
        if upload.stat().st_size > MAX_BYTES:
            raise ValueError(TOO_LARGE)
        label = re.sub(r"[^\w.=+-]+", "_", upload.stem).strip("._-")[:24] or "file"
        if label in names:
            label = f"{label}_{number}"
        names[label] = f"{label}{'.csv' if file_type == '.tsv' else file_type}"
        Path(names[label]).write_bytes(upload.read_bytes())
    return names


def _write_text(text: str) -> str:
    """Write the text to a file in the current folder, and return the name of the file."""
    if len(text.encode(errors="replace")) > MAX_BYTES:
        raise ValueError(TOO_LARGE)
    if not text.strip():
        raise ValueError("There is no text. Paste JSON Lines or CSV.")
    file_type = {"[": "json", "{": "jsonl"}.get(text.lstrip()[0], "csv")
    name = f"text.{file_type}"
    Path(name).write_text(text, encoding="utf-8", errors="replace")
    return name


# --- Table ------------------------------------------------------------------------------


def _read_table(table: list[list[Any]]) -> tuple[Samples, Identifiers]:
    """Read the table of the page: a row of headers, and a row for each question.

    The columns of the reference, the group and the question have one of their usual names. All
    other columns hold samples. Empty cells and empty rows are ignored.

    Returns:
        The samples, and the columns that identify questions.
    """
    headers, *rows = [["" if cell is None else str(cell).strip() for cell in row] for row in table]
    roles = [_role(header) for header in headers]
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
            raise ValueError(f"Row {number} has no sample.")
        numbers.append(number)
        samples["predictions"].append(predictions)
        by_role = dict(cells)
        samples["references"].append(by_role.get("references", ""))
        samples["groups"].append(by_role.get("groups", ""))
        for name, place in names.items():
            identifiers[name].append(row[place])
    if not numbers:
        raise ValueError("The table has no questions.")
    for role, noun in (("references", "reference"), ("groups", "group")):
        if not any(samples[role]):
            del samples[role]
        elif not all(samples[role]):
            missing = numbers[samples[role].index("")]
            raise ValueError(f"Row {missing} has no {noun}, but other rows have one.")
    if "references" not in samples:
        samples["predictions"] = [[as_outcome(c) for c in row] for row in samples["predictions"]]
    return samples, identifiers


def _role(header: str) -> str:
    """Return the role of a column of the table."""
    for role in ("references", "groups", "questions"):
        if header.lower() in USUAL_NAMES[role]:
            return role
    return "predictions"
