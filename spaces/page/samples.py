"""Read the samples of a request, from a text or files, and limit their size."""

from __future__ import annotations

import warnings
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from at_k.cli.formats import enumerated
from at_k.cli.run_input import RunInput
from at_k.core.checks import Place, short
from at_k.core.counts import sums_per_question
from at_k.core.samples import read_samples as as_samples
from at_k.readers.names import COLUMN_NAMES, PER_QUESTION, columns_named
from at_k.readers.reading import FIRST_COLUMN
from at_k.readers.run import Run, read_run
from at_k.readers.table import SelectionError
from at_k.readers.words import KNOWN_WORDS, as_outcome, changed
from at_k.runs.outcomes_of_runs import in_one_order

from .asking import choice_error, columns_in
from .places import REWARDS, message_in_words
from .received import copy_files, write_text
from .request import MAX_SAMPLES_PER_QUESTION, ChoiceError, Request
from .space import Samples, Space

MAX_QUESTIONS = 10_000
MAX_SAMPLES = 200_000
MAX_GROUPS = 40


@dataclass(frozen=True)
class ReadSamples:
    """The samples of a request.

    Attributes:
        files: the name of the file of each run, by its label, as the visitor knows it.
        arguments: those of `at_k.read` that read each file, by the label of its run.
        runs: the samples of each run, by its label.
        identifiers: columns that identify questions, such as "id": M texts each, by name.
        notes: sentences that say how the samples were read.
        problem: why the runs cannot be compared, or "".
    """

    files: dict[str, str]
    arguments: dict[str, dict[str, Any]]
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
    space, notes = request.space, []
    files = copy_files(request.files) if request.files else write_text(request.text)
    roles = [role for role in PER_QUESTION if role in parameters]
    chosen = _arguments_of_read(request)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        arguments = dict.fromkeys(roles) | chosen
        runs = {label: _read_run(request, file, arguments) for label, file in files.items()}
    used = {label: chosen | _columns_of(roles, run) for label, run in runs.items()}
    samples, problem = _in_one_order(runs, request.reading.get("by_order"))
    for label, run in runs.items():
        prefix = f"{label}: " if len(runs) > 1 else ""
        described = RunInput(run, request.checker).described(space.row_noun, space.cell_noun)
        notes.append(f"{prefix}{described}")
        if not (space.has_binary_outcomes or "references" in run):
            as_outcomes = _as_verdicts if space.metric == "score_agg" else _as_rewards
            samples[label]["predictions"] = as_outcomes(samples[label]["predictions"])
        _check_size(samples[label], prefix)
    notes += [_without_name(str(warning.message), [*files.values()]) for warning in caught]
    if len({"references" in run for run in samples.values()}) > 1:
        raise ValueError("One file has references and the other has none. Give both or neither.")
    first = next(iter(runs.values()))
    files, notes = _names_of_files(files, request.files), list(dict.fromkeys(notes))
    return ReadSamples(files, used, samples, dict(first.identifiers), notes, problem)


def _columns_of(roles: Sequence[str], run: Run) -> dict[str, Any]:
    """Return the columns that were read for roles, of those that the run has."""
    return {role: run.columns[role] for role in roles if role in run.columns}


def _names_of_files(files: dict[str, str], uploaded: Sequence[str]) -> dict[str, str]:
    """Return the names of files as the visitor knows them, by the labels of their runs.

    Two folders may have files of the same name: these keep the names of their copies.
    """
    names = [Path(file).name for file in uploaded]
    return dict(zip(files, names, strict=True)) if len({*names}) == len(names) > 0 else files


def _as_verdicts(outcomes: Any) -> Any:
    """Return verdicts in small letters, as the table of questions counts them."""
    if not isinstance(outcomes, list):
        return outcomes
    return changed(lambda entry: entry.lower() if isinstance(entry, str) else entry, outcomes)


def _as_rewards(outcomes: Any) -> Any:
    """Return outcomes with whole numbers as rewards if one is below 0, and so is no category."""
    if not isinstance(outcomes, list):
        return outcomes
    if not any(isinstance(x, int) and x < 0 for row in outcomes for x in row):
        return outcomes
    return [[float(x) if isinstance(x, int) else x for x in row] for row in outcomes]


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


def _arguments_of_read(request: Request) -> dict[str, Any]:
    """Return what a visitor has chosen, and what the page is for, as arguments of `at_k.read`."""
    chosen = {name: x for name, x in request.reading.items() if name != "by_order"}
    if {"predictions", "outcomes"} <= chosen.keys():
        raise ValueError("Choose a column of samples, or one of outcomes, and not both.")
    if "where" in chosen:
        chosen["where"] = [(column, entry) for column, entry in chosen["where"]]
    if request.options.get("group"):
        chosen["groups"] = request.options["group"]
    if request.options.get("categories") or request.space.metric == "score_agg":
        chosen["has_labels"] = True
    return chosen


def _read_run(request: Request, path: str, arguments: Mapping[str, Any]) -> Run:
    """Read one file with arguments of `read_run`."""
    space = request.space
    try:
        run = read_run(path, **arguments)
    except SelectionError as error:
        raise choice_error(error, path, space.has_references) from error
    except ValueError as error:
        if request.reading or not space.has_references or not _has_unnamed_references(path):
            raise
        raise ChoiceError(error.args, [{"references": FIRST_COLUMN}]) from error
    if not ("has_labels" in arguments or "references" in run):
        _require_outcomes(run, path, space)
    return run


def _has_unnamed_references(path: str) -> bool:
    """Whether a table can be read without names of columns, with references in the first column.

    It cannot if the first row has usual names, or is text above outcomes.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = read_run(path, references=FIRST_COLUMN)
    except ValueError:
        return False
    if "references" not in run:
        return False
    names, *rows = zip(run["references"], run["predictions"], strict=True)
    first = [names[0], *names[1]]
    is_usual = any(columns_named(map(str, first), x) for x in COLUMN_NAMES.values())
    is_above_outcomes = all(type(as_outcome(x)) is str for x in first) and all(
        as_outcome(x) in (0, 1, None) for _, row in rows for x in row
    )
    return not (is_usual or is_above_outcomes)


def _require_outcomes(run: Run, path: str, space: Space) -> None:
    """Raise a ChoiceError for the first sample that is no outcome, if a choice can explain it.

    The visitor says which outcomes are correct. For numbers without names of columns, the choice is
    that the first column has the references, if the table can be read like that.
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
            is_number = isinstance(sample, (int, float)) and sample not in (0, 1)
            if space.has_binary_outcomes and is_number:
                what.append(f": an outcome is 0 if incorrect, 1 if correct{REWARDS}.")
                if run.is_matrix and _has_unnamed_references(path):
                    raise ChoiceError(what, [{"references": FIRST_COLUMN}])
                what.append(" Say from which score on a sample is correct.")
                raise ChoiceError(what, asks_correct=True)


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
    selected, problem = list(runs.items()), ""
    try:
        selected, _ = in_one_order(selected, bool(by_order))
    except ValueError as error:
        without_ids = [label for label, run in runs.items() if run.ids is None]
        if without_ids and by_order is None:
            raise ChoiceError(
                [f"The questions of {enumerated(without_ids)} have no ids by which to pair them."],
                [{"by_order": True}, {"by_order": False}],
            ) from error
        problem = f"The runs are not compared: {message_in_words(error, 'question', 'sample')}"
        if without_ids:
            problem = "Each file is scored by itself."
    return {label: _listed(run) for label, run in selected}, problem


def _listed(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns as lists. Counts are a dict of two columns."""
    return {
        name: _listed(x) if isinstance(x, dict) else getattr(x, "to_pylist", x.copy)()
        for name, x in columns.items()
    }
