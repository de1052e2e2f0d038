"""Read the samples of a request, from a table, a text or files, and limit their size."""

from __future__ import annotations

import warnings
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

from at_k.core.checks import QUESTION, InputError
from at_k.readers.names import COLUMN_NAMES, PER_QUESTION
from at_k.readers.run import Run, read_run
from at_k.readers.table import SelectionError
from at_k.runs.outcomes_of_runs import orders_of

from .pasted import as_text, unnamed_of
from .received import copy_files, write, write_text
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
    reading = request.reading
    if request.table is not None:
        if not any(any(map(_text_of, row)) for row in request.table[1:]):
            raise InputError("The table has no ", QUESTION, "s.")
        text, has_names = as_text([list(map(_text_of, row)) for row in request.table])
        paths, reading = [write("table", text)], "names" if has_names else ""
    elif request.files:
        paths = copy_files(request.files)
        if "groups" in columns:
            # A group column can be chosen for files, on the pages that have such an option.
            columns["groups"] = request.options.get("group")
    else:
        paths = [write_text(request.text, notes)]
    columns |= {"unnamed": unnamed_of(request.space, reading), "has_labels": metric == "score_agg"}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        samples, identifiers = _read_runs(paths, columns, request.columns, notes)
    notes += [_without_path(str(warning.message), paths) for warning in caught]
    for label, run in samples.items():
        if metric == "score_agg" and isinstance(run["predictions"], list):
            run["predictions"] = [_in_lower_case(row) for row in run["predictions"]]
        _check_size(run, f"{label}: " if len(samples) > 1 else "")
    if len({"references" in run for run in samples.values()}) > 1:
        raise ValueError("One file has references and the other has none. Give both or neither.")
    return samples, identifiers, list(dict.fromkeys(notes))


def _text_of(cell: Any) -> str:
    return "" if cell is None else str(cell).strip()


def _without_path(note: str, paths: Sequence[str]) -> str:
    """Return a note about the only file without its name."""
    if len(paths) > 1 or not note.startswith(f"{paths[0]}: "):
        return note
    note = note.removeprefix(f"{paths[0]}: ")
    return f"{note[0].upper()}{note[1:]}"


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
        columns, chosen: the columns as in `_read_run`.
        notes: sentences that say how the files were read, to which this adds.
    """
    runs = {Path(path).stem: _read_run(path, columns, chosen, notes) for path in paths}
    (first_label, first), *_ = runs.items()
    samples = {}
    for label, each in runs.items():
        try:
            _, order = orders_of([first_label, label], [first, each], by_order=True)
        except ValueError:
            order = slice(None)
        samples[label] = _arguments(each)
        if isinstance(order, list):
            samples[label] = {
                name: _in_order(column, order) for name, column in samples[label].items()
            }
    return samples, dict(first.identifiers)


def _read_run(
    path: str, columns: Mapping[str, Any], chosen: Mapping[str, Any], notes: list[str]
) -> Run:
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
        # A page says what is missing, and leaves it out.
        named |= {"missing": "drop", "words_are_answers": True}
        run = read_run(path, **columns, **named)
        if named.get("predictions") and "references" not in run.columns:
            named |= {"outcomes": named["predictions"], "predictions": None}
            run = read_run(path, **columns, **named)
    except SelectionError as error:
        names = {name for role, name in chosen.items() if role != "where"}
        if not names <= {*error.choices}:
            notes.append("The chosen columns are not in these samples, and are not used.")
            return _read_run(path, columns, {}, notes)
        examples = dict(zip(error.examples, error.roles, strict=False))
        rows = [str(example) for example, role in examples.items() if role == "where"]
        raise ColumnError([*error.args, _remedy(error)], error.choices, rows) from error
    if run.is_merged:
        notes.append(
            f"Read as one sample in each row: rows with the same {run.columns['questions']} "
            f"are of one question."
        )
    if run.missing:
        notes.append(f"Missing samples: {run.missing}.")
    return run


def _has_outcomes(path: str, columns: Mapping[str, Any]) -> bool:
    """Whether a log has several columns of outcomes, one of which a visitor has to choose."""
    try:
        read_run(path, **columns, missing="drop")
    except SelectionError as error:
        return set(error.roles) == {"outcomes"}
    return False


def _arguments(run: Run) -> Samples:
    return {name: _as_lists(column) for name, column in run.items()}


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
    roles = [role for role in error.roles if role in COLUMN_NAMES]
    of_one_role = len(set(error.roles)) == 1  # several columns can have it
    if of_one_role or all(present.intersection(COLUMN_NAMES[role]) for role in roles):
        return " Choose one, or leave out the columns that are not meant."
    names = " or ".join(f'"{COLUMN_NAMES[role][0]}"' for role in roles)
    return f" Name a column {names}."
