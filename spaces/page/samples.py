"""Read the samples of a request, from a text or files, and limit their size."""

from __future__ import annotations

import warnings
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from at_k.cli.formats import enumerated
from at_k.cli.run_input import RunInput
from at_k.core.checks import Place, short
from at_k.core.counts import sums_per_question
from at_k.core.samples import read_samples as as_samples
from at_k.readers.names import PER_QUESTION
from at_k.readers.run import Run, read_run
from at_k.readers.table import SelectionError
from at_k.readers.words import KNOWN_WORDS
from at_k.runs.outcomes_of_runs import orders_of

from .asking import choice_error, columns_in, source_of
from .places import REWARDS
from .received import copy_files, write_text
from .request import MAX_SAMPLES_PER_QUESTION, ChoiceError, Reading, Request
from .space import Samples, Space

MAX_QUESTIONS = 10_000
MAX_SAMPLES = 200_000
MAX_GROUPS = 40
_CHOICES_OF_PAGE = ("samples", "references_first", "by_order")
"""Choices of a visitor that are no arguments of `read`."""


@dataclass(frozen=True)
class ReadSamples:
    """The samples of a request.

    Attributes:
        files: the name of the file of each run, by its label.
        runs: the samples of each run, by its label.
        identifiers: columns that identify questions, such as "id": M texts each, by name.
        notes: sentences that say how the samples were read.
        problem: why the runs cannot be compared, or "".
    """

    files: dict[str, str]
    runs: dict[str, Samples]
    identifiers: dict[str, list[Any]]
    notes: list[str]
    problem: str


def read_samples(request: Request, parameters: Container[str]) -> ReadSamples:
    """Return the samples of a request.

    Text and files are copied to the current folder, so that error messages name them without a
    path.

    Args:
        request: what to read.
        parameters: the names of the parameters that `compute` takes.

    Raises:
        ChoiceError: if the rules of reading need an answer.
        ValueError: if the samples cannot be read, or are too many.
    """
    columns: dict[str, Any] = {role: None for role in PER_QUESTION if role in parameters}
    notes: list[str] = []
    if request.files:
        files = copy_files(request.files)
        if "groups" in columns:
            # A group column can be chosen for files, on the pages that have such an option.
            columns["groups"] = request.options.get("group")
    else:
        files = write_text(request.text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        runs = {label: _read_run(request, file, columns) for label, file in files.items()}
    samples, problem = _in_one_order(runs, request.reading.get("by_order"))
    space = request.space
    for label, run in runs.items():
        prefix = f"{label}: " if len(runs) > 1 else ""
        described = RunInput(run, request.checker).described(space.row_noun, space.cell_noun)
        notes.append(f"{prefix}{described}")
        samples[label]["predictions"] = _as_scored(space, samples[label])
        _check_size(samples[label], prefix)
    notes += [_without_name(str(warning.message), [*files.values()]) for warning in caught]
    if len({"references" in run for run in samples.values()}) > 1:
        raise ValueError("One file has references and the other has none. Give both or neither.")
    first = next(iter(runs.values()))
    return ReadSamples(files, samples, dict(first.identifiers), list(dict.fromkeys(notes)), problem)


def _as_scored(space: Space, samples: Samples) -> Any:
    """Return predictions as the metric takes them: verdicts in lower case, or rewards."""
    predictions = samples["predictions"]
    if not isinstance(predictions, list):
        return predictions
    if space.metric == "score_agg":
        return [
            [x.strip().lower() if isinstance(x, str) else x for x in row] for row in predictions
        ]
    if space.has_binary_outcomes or "references" in samples:
        return predictions
    if not any(isinstance(x, int) and x < 0 for row in predictions for x in row):
        return predictions
    # A negative integer is no category, so all numbers are rewards.
    return [[float(x) if isinstance(x, int) else x for x in row] for row in predictions]


def _without_name(note: str, files: Sequence[str]) -> str:
    """Return a note about the only file without its name."""
    if len(files) > 1 or not note.startswith(f"{files[0]}: "):
        return note
    note = note.removeprefix(f"{files[0]}: ")
    return f"{note[0].upper()}{note[1:]}"


def _check_size(samples: Samples, prefix: str) -> None:
    """Raise a ValueError, with a prefix in its message, if the samples are too many."""
    predictions = as_samples(samples["predictions"])
    sizes = sums_per_question(predictions.occurrences, predictions.sizes)
    counts = (
        ("questions", len(sizes), MAX_QUESTIONS),
        ("samples per question", sizes.max(), MAX_SAMPLES_PER_QUESTION),
        ("samples", sizes.sum(), MAX_SAMPLES),
        ("groups", len(set(map(str, samples.get("groups", ())))), MAX_GROUPS),
    )
    for things, count, limit in counts:
        if count > limit:
            raise ValueError(f"{prefix}{count:,} {things} are too many. The limit is {limit:,}.")


# --- Text and files ---------------------------------------------------------------------


def arguments_of_read(reading: Reading, has_verdicts: bool = False) -> dict[str, Any]:
    """Return what a visitor has chosen as arguments of `read_run`."""
    chosen = {name: x for name, x in reading.items() if name not in _CHOICES_OF_PAGE}
    if "where" in chosen:
        chosen["where"] = [(column, entry) for column, entry in chosen["where"]]
    if reading.get("references_first"):
        chosen["unnamed"] = "references"
    elif has_verdicts:
        chosen["unnamed"] = "verdicts"
    return chosen


def _read_run(request: Request, path: str, columns: Mapping[str, Any]) -> Run:
    """Read one file.

    Args:
        request: what to read.
        path: of the file.
        columns: the column of each argument with one value per question. If it is None, the column
            is found by its name.
    """
    space = request.space
    has_verdicts = space.metric == "score_agg"
    has_labels = has_verdicts or bool(request.options.get("categories"))
    chosen = {**columns, **arguments_of_read(request.reading, has_verdicts)}
    try:
        run = read_run(source_of(path, request.reading), **chosen, has_labels=has_labels)
    except SelectionError as error:
        raise choice_error(error, path, space.has_references) from error
    except ValueError as error:
        if request.reading or not space.has_references or not _has_unnamed_references(path):
            raise
        raise ChoiceError(error.args, [{"references_first": True}]) from error
    if not (has_labels or "references" in run):
        _require_outcomes(run, path, space)
    return run


def _has_unnamed_references(path: str) -> bool:
    """Whether a table without names can be read with references in its first column."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = read_run(path, **arguments_of_read({"references_first": True}))
    except ValueError:
        return False
    return "references" in run


def _require_outcomes(run: Run, path: str, space: Space) -> None:
    """Raise a ChoiceError for the first sample that is no outcome, if a choice can explain it.

    For a text, the visitor says which outcomes are correct. For a number other than 0 and 1, the
    choice is that the first column has the references, if the table can be read like that.
    """
    predictions = run["predictions"]
    for question, row in enumerate(predictions if isinstance(predictions, list) else ()):
        for index, sample in enumerate(row or ()):
            what = [Place("predictions", question, index), f" is {short(sample)}"]
            if isinstance(sample, str):
                remedy = ". Say which outcomes are correct"
                remedy += ", or which column has the references." * space.has_references
                what.append(f", which is no outcome. Outcomes are {KNOWN_WORDS}{remedy}")
                raise ChoiceError(what, columns=columns_in(path), asks_correct=True)
            is_other_number = space.has_binary_outcomes and sample not in (0, 1, None)
            if is_other_number and _has_unnamed_references(path):
                what.append(f": an outcome is 0 if incorrect, 1 if correct{REWARDS}.")
                raise ChoiceError(what, [{"references_first": True}])


def _in_one_order(runs: Mapping[str, Run], by_order: bool | None) -> tuple[dict[str, Samples], str]:
    """Return the samples of each run, all with the questions in the order of the first.

    Questions are paired by their ids. Rows of outcomes only have an order.

    Args:
        runs: the runs.
        by_order: whether questions without ids are in the same order, as a visitor says.

    Returns:
        The samples, and why the runs have different questions, or "".

    Raises:
        ChoiceError: if questions have no ids, and nothing says whether the order is the same.
    """
    orders: list[list[int] | None] = [None] * len(runs)
    problem = ""
    try:
        orders = orders_of(list(runs), list(runs.values()), by_order=bool(by_order))
    except ValueError as error:
        without_ids = [label for label, run in runs.items() if run.ids is None]
        if without_ids and by_order is None:
            raise ChoiceError(
                [f"The questions of {enumerated(without_ids)} have no ids by which to pair them."],
                [{"by_order": True}, {"by_order": False}],
            ) from error
        problem = f"The runs are not compared: {error}"
        if without_ids:
            problem = "Each file is scored by itself."
    samples = {
        label: {name: _in_order(column, order) for name, column in run.items()}
        for (label, run), order in zip(runs.items(), orders, strict=True)
    }
    return samples, problem


def _in_order(column: Any, order: list[int] | None) -> Any:
    """Return a column as a list in an order. Counts are a dict of two lists."""
    if isinstance(column, dict):
        return {name: _in_order(counts, order) for name, counts in column.items()}
    entries = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
    return entries if order is None else [entries[question] for question in order]
