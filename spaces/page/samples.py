"""Read the samples of a request, from a pasted text or uploaded files, and limit their size."""

import re
import warnings
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from at_k.cli.formats import enumerated, short_label
from at_k.cli.run_input import RunInput
from at_k.core.checks import Place, entries_of, short
from at_k.core.counts import sums_per_question
from at_k.core.samples import read_samples as as_samples
from at_k.readers.formats import COMPRESSED, FORMATS
from at_k.readers.names import PER_QUESTION
from at_k.readers.run import Run, read_run
from at_k.readers.table import SelectionError
from at_k.readers.words import KNOWN_WORDS
from at_k.runs.options import naming_run
from at_k.runs.outcomes_of_runs import in_one_order

from .asking import choice_error, load_columns
from .messages import NO_SAMPLES, REWARDS, message_for_page, without_name
from .request import MAX_SAMPLES_PER_QUESTION, ChoiceError, Request
from .space import Samples, Space

MAX_BYTES = 40_000_000
MAX_FILES = 8
MAX_QUESTIONS = 10_000
MAX_SAMPLES = 200_000
MAX_GROUPS = 40
_TOO_LARGE = f"The limit for a file, and for a text, is {MAX_BYTES // 1_000_000} MB."
_REMEDY = (
    "Say from which score on a sample is correct. If a column has the references, begin with a row "
    "of names: reference, 1, 2, .."
)
_FILE_TYPES = (*FORMATS, ".eval", *COMPRESSED)
_SPREADSHEETS = (".xlsx", ".xls", ".ods", ".numbers")


@dataclass(frozen=True)
class ReadSamples:
    """Hold the samples of a request.

    Attributes:
        files: a dict from the label of each run to the name of its file, as the visitor knows it.
        arguments: a dict from the label of each run to the arguments of `read_run` for its file.
        runs: a dict from the label of each run to its samples.
        identifiers: the columns that identify the questions, by name, such as "id". Each has an
            entry for each question.
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
    path. `parameters` are the names of the parameters that `compute` takes.

    Raises:
        ChoiceError: if the samples can be read in several ways, so that the visitor has to choose.
        ValueError: if the samples cannot be read, or are too many.
    """
    space = request.space
    files = _copy_uploads(request.files) if request.files else _save_pasted_text(request.text)
    chosen = _arguments_of_read(request)
    roles = [role for role in PER_QUESTION if role in parameters]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        arguments = dict.fromkeys(roles) | chosen  # None: a column is found by its usual name
        runs = {label: _read_run(request, file, arguments) for label, file in files.items()}
    runs, problem = _in_one_order(request, runs)
    samples = {label: _samples_for_page(run, space) for label, run in runs.items()}
    if len({"references" in run for run in samples.values()}) > 1:
        raise ValueError("One file has references and the other has none. Give both or neither.")
    for label in runs:
        with naming_run(label):
            _check_size(samples[label], space)
    notes = _notes(request, runs, files, [str(warning.message) for warning in caught])
    return ReadSamples(
        _names_for_visitor(files, request.files),
        {label: chosen | _columns_of(run, roles) for label, run in runs.items()},
        samples,
        dict(next(iter(runs.values())).identifiers),
        notes,
        problem,
    )


def _notes(
    request: Request, runs: Mapping[str, Run], files: Mapping[str, str], warned: Iterable[str]
) -> list[str]:
    """Return sentences that say how samples were read, without the name of a single file."""
    described = {
        label: RunInput(run, request.checker).described(*request.space.nouns)
        for label, run in runs.items()
    }
    if len(runs) > 1:
        return list(dict.fromkeys([*(f"{label}: {x}" for label, x in described.items()), *warned]))
    warned = [without_name(warning, *files.values()) for warning in warned]
    return list(dict.fromkeys([*described.values(), *warned]))


# --- Text and files -----------------------------------------------------------------------


def _copy_uploads(uploads: Sequence[str]) -> dict[str, str]:
    """Copy uploaded files to the current folder. Return {label of the run: name of the copy}."""
    names: dict[str, str] = {}
    for number, upload in enumerate(map(Path, uploads), start=1):
        suffix = upload.suffix.lower()
        if suffix in _SPREADSHEETS:
            raise ValueError(f"A file {suffix} is a spreadsheet: save its table as CSV.")
        if suffix not in (*_FILE_TYPES, ".txt"):
            raise ValueError(f"The name of a file must end in one of {', '.join(_FILE_TYPES)}.")
        if upload.stat().st_size > MAX_BYTES:
            raise ValueError(_TOO_LARGE)
        label = short_label(re.sub(r"[^\w.=+-]+", "_", upload.stem).strip("._-") or "file")
        if suffix == ".txt":  # a text is read as if it were pasted: its name has no type
            label, suffix = label.replace(".", "_"), ""
        while label in names:
            label = f"{label}_{number}"
        names[label] = f"{label}{suffix}"
        Path(names[label]).write_bytes(upload.read_bytes())
    return names


def _save_pasted_text(text: str) -> dict[str, str]:
    """Save a pasted text as the file "text". Return {label of the run: name of the file}."""
    content = text.encode(errors="replace")
    if len(content) > MAX_BYTES:
        raise ValueError(_TOO_LARGE)
    if not text.strip():
        raise ValueError(NO_SAMPLES)
    Path("text").write_bytes(content)
    return {"text": "text"}


def _names_for_visitor(files: dict[str, str], uploads: Sequence[str]) -> dict[str, str]:
    """Return {label of the run: name of its uploaded file}.

    If names are equal, or nothing was uploaded, return the names of the copies in `files`.
    """
    names = [Path(upload).name for upload in uploads]
    return dict(zip(files, names, strict=True)) if len({*names}) == len(names) > 0 else files


def _arguments_of_read(request: Request) -> dict[str, Any]:
    """Return the arguments of `read_run` for the visitor's choices, the options and the metric."""
    chosen = {name: x for name, x in request.reading.items() if name not in ("by_order", "common")}
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
    """Return the run in a file. Raise a ChoiceError if the visitor has to choose how to read it."""
    space = request.space
    try:
        run = read_run(path, **arguments)
        if request.checker == "choice" and "references" in run:
            run = read_run(path, **arguments, checker="choice")  # with the column of options
    except SelectionError as error:
        raise choice_error(error, path, space.has_references) from error
    if not ("has_labels" in arguments or "references" in run):
        _require_outcomes(run, path, space)
    return run


def _require_outcomes(run: Run, path: str, space: Space) -> None:
    """Raise a ChoiceError, which asks what is correct, for a sample that is no outcome here.

    Counts are not tested.
    """
    predictions = run["predictions"]
    rows = predictions if isinstance(predictions, list) else ()
    others = (
        (Place("predictions", question, index), sample)
        for question, row in enumerate(rows)
        for index, sample in enumerate(row or ())
        if isinstance(sample, str) or (space.has_binary_outcomes and _is_reward(sample))
    )
    place, sample = next(others, (None, None))
    if _is_reward(sample):
        outcomes = f": an outcome is 0 if incorrect, 1 if correct{REWARDS}. {_REMEDY}"
        raise ChoiceError(place, f" is {short(sample)}{outcomes}", asks_correct=True)
    if place is not None:
        raise ChoiceError(
            place,
            f" is {short(sample)}, which is no outcome. Outcomes are {KNOWN_WORDS}. Say which "
            f"outcomes are correct, or which column has the references.",
            columns=filter(None, load_columns(path)),
            asks_correct=True,
        )


def _is_reward(sample: Any) -> bool:
    """Return whether a sample is a number other than 0 and 1."""
    return isinstance(sample, (int, float)) and sample not in (0, 1)


# --- What was read ------------------------------------------------------------------------


def _in_one_order(request: Request, runs: dict[str, Run]) -> tuple[dict[str, Run], str]:
    """Return the runs with their questions in the order of the first run, and "".

    If they cannot be compared, return them unchanged, and why. Questions are paired by their ids.
    Rows of matrices are paired by their order, and so are questions without ids if the reading has
    `by_order`. With `common`, questions that a run lacks are left out. Raises a ChoiceError if the
    visitor has to choose one of these first.
    """
    reading = request.reading
    by_order, common = bool(reading.get("by_order")), bool(reading.get("common"))
    try:
        return dict(in_one_order([*runs.items()], by_order, common)), ""
    except ValueError as error:
        ids = {label: run.ids for label, run in runs.items() if run.ids is not None}
        without_ids = [label for label in runs if label not in ids]
        if without_ids:
            argument = "by_order"
            question = (
                f"The questions of {enumerated(without_ids)} have no ids by which to pair them."
            )
        elif shared := set.intersection(*map(set, ids.values())):
            argument = "common"
            sizes = enumerated([f"{label} has {len(own)}" for label, own in ids.items()])
            question = f"The files have different questions: {sizes}; {len(shared)} are in all."
        else:
            message = message_for_page(error, *request.space.nouns)
            return runs, f"The runs are not compared: {message}"
        if argument not in reading:
            choices = [{argument: True}, {argument: False}]
            raise ChoiceError(question, choices=choices) from error
        return runs, "Each file is scored by itself."


def _columns_of(run: Run, roles: Sequence[str]) -> dict[str, str]:
    """Return the column of each of these roles, and of the options of choices, in a run."""
    columns = {x: run.columns[x] for x in (*roles, "options") if x in run.columns}
    if ", " in columns.get("clusters", ""):
        del columns["clusters"]  # `at_k.read` finds those of settings again
    return columns


def _samples_for_page(run: Run, space: Space) -> Samples:
    """Return the columns of a run as lists, with floats for integers if an outcome is below 0.

    For `compute`, floats are rewards and integers categories.
    """
    samples = _columns_as_lists(run)
    outcomes = samples["predictions"]
    is_graded = isinstance(outcomes, list) and "references" not in run
    has_rewards = is_graded and not space.has_binary_outcomes
    if has_rewards and any(isinstance(x, int) and x < 0 for row in outcomes for x in row):
        samples["predictions"] = [
            [float(x) if isinstance(x, int) else x for x in row] for row in outcomes
        ]
    return samples


def _columns_as_lists(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Convert each column of a dict to a list. A column that is a dict is converted recursively."""
    return {
        name: _columns_as_lists(x) if isinstance(x, dict) else entries_of(name, x)
        for name, x in columns.items()
    }


def _check_size(samples: Samples, space: Space) -> None:
    """Raise a ValueError for too many questions, samples or groups."""
    question, sample = space.nouns
    predictions = as_samples(samples["predictions"])
    sizes = sums_per_question(predictions.occurrences, predictions.sizes)
    counts = (
        (f"{question}s", len(sizes), MAX_QUESTIONS),
        (f"{sample}s per {question}", sizes.max(), MAX_SAMPLES_PER_QUESTION),
        (f"{sample}s", sizes.sum(), MAX_SAMPLES),
        ("groups", len(set(map(str, samples.get("groups", ())))), MAX_GROUPS),
    )
    for things, count, limit in counts:
        if count > limit:
            raise ValueError(f"{count:,} {things} are too many. The limit is {limit:,}.")
