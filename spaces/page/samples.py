"""Read the samples of a request, from a pasted text or uploaded files, and limit their size."""

import re
import warnings
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

from at_k.cli.formats import short_label
from at_k.cli.run_input import RunInput
from at_k.core.checks import Place, entries_of, short
from at_k.core.samples import read_samples as as_samples
from at_k.readers.formats import COMPRESSED, FORMATS
from at_k.readers.missing import text_of_ids
from at_k.readers.names import PER_QUESTION, QUESTION_TEXTS
from at_k.readers.run import Run, read_run
from at_k.readers.table import SelectionError, column_at
from at_k.readers.words import KNOWN_WORDS
from at_k.runs.options import naming_run
from at_k.runs.outcomes_of_runs import in_one_order

from .asking import ChoiceError, choice_error, load_columns, message_for_page
from .request import MAX_BYTES, MAX_FILES, Request
from .space import SampleFile, Samples, Space

MAX_QUESTIONS = 10_000
MAX_SAMPLES_PER_QUESTION = 512
MAX_SAMPLES = 200_000
MAX_GROUPS = 40
_TOO_LARGE = f"The limit for a file, and for a text, is {MAX_BYTES // 1_000_000} MB."
_FILE_TYPES = (*FORMATS, ".txt", *COMPRESSED)
_SPREADSHEETS = (".xlsx", ".xls", ".ods", ".numbers")
_LONGEST_NAME = 18  # the width of the column of names in characters
_PASTED = "The text"
"""The name of the file that holds a pasted text, as messages name it."""


def read_samples(
    request: Request, parameters: Container[str]
) -> tuple[list[SampleFile], list[str], str]:
    """Return the samples of each file, sentences on how they were read, and a problem or "".

    The problem says why the runs cannot be compared. Text and files are copied to the current
    folder, so that error messages name them without a path. `parameters` are those of `compute`.
    Raise a ChoiceError if the visitor has to choose how they are read.
    """
    space, chosen = request.space, _arguments_of_read(request)
    uploads = _copy_uploads(request.files) if request.files else _save_pasted_text(request.text)
    roles = [role for role in PER_QUESTION if role in parameters]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        arguments = dict.fromkeys(roles) | chosen  # None: a column is found by its usual name
        runs = {label: _read_run(request, copy, arguments) for label, (copy, _) in uploads.items()}
    problem, notes = "", []
    try:
        runs = dict(in_one_order([*runs.items()]))
    except ValueError as error:
        problem = f"The runs are not compared: {message_for_page(error, request)}"
    files = []
    for label, run in runs.items():
        with naming_run(label):
            samples = _columns_as_lists(run)
            _check_size(samples, space)
        reading = chosen | _columns_of(run, roles)
        shown = _names_and_texts(run, len(as_samples(samples["predictions"])))
        files.append(SampleFile(label, uploads[label][1], reading, samples, *shown))
        described = RunInput(run, request.checker).described(*space.nouns)
        notes.append(f"{label}: {described}" if len(runs) > 1 else described)
    if len({"references" in file.samples for file in files}) > 1:
        raise ValueError("One file has references and the other has none. Give both or neither.")
    notes += [message_for_page(warning.message, request) for warning in caught]
    return files, list(dict.fromkeys(notes)), problem


# --- Text and files -----------------------------------------------------------------------


def _copy_uploads(uploads: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Copy uploads to this folder. Return {label of the run: (name of copy, name of upload)}."""
    if len(uploads) > MAX_FILES:
        raise ValueError(f"{len(uploads)} files are too many. The limit is {MAX_FILES}.")
    copies: dict[str, tuple[str, str]] = {}
    for number, upload in enumerate(map(Path, uploads), start=1):
        suffix = upload.suffix.lower()
        if suffix in _SPREADSHEETS:
            raise ValueError(f"A file {suffix} is a spreadsheet: save its table as CSV.")
        if suffix not in _FILE_TYPES:
            raise ValueError(f"The name of a file must end in one of {', '.join(_FILE_TYPES)}.")
        if upload.stat().st_size > MAX_BYTES:
            raise ValueError(_TOO_LARGE)
        label = short_label(re.sub(r"[^\w.=+-]+", "_", upload.stem).strip("._-") or "file")
        if suffix == ".txt":  # a text is read as if it were pasted: its name has no type
            label, suffix = label.replace(".", "_"), ""
        while label in copies:
            label = f"{label}_{number}"
        copies[label] = f"{label}{suffix}", upload.name
        Path(copies[label][0]).write_bytes(upload.read_bytes())
    return copies


def _save_pasted_text(text: str) -> dict[str, tuple[str, str]]:
    """Save a pasted text as a file. Return {label of the run: (name of file, name to show)}."""
    content = text.encode(errors="replace")
    if len(content) > MAX_BYTES:
        raise ValueError(_TOO_LARGE)
    if not text.strip():
        raise ValueError(
            "There are no samples. Paste a table, rows of outcomes or JSON, or choose a file."
        )
    Path(_PASTED).write_bytes(content)
    return {"text": (_PASTED, "text")}


def _arguments_of_read(request: Request) -> dict[str, Any]:
    """Return the arguments of `read_run` for the visitor's choices, the options and the metric."""
    chosen = dict(request.reading)
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
    space, references = request.space, str(arguments.get("references") or "")
    # `read_run` would open a file of this name, such as that of another visitor.
    if re.search("[/:]", references) and column_at(load_columns(path), references) is None:
        raise ValueError(f"There is no column {references!r:.100}.")
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
    """Raise a ChoiceError, which asks what is correct, for a sample that is no outcome here."""
    predictions = run["predictions"]
    rewards = ", and rewards are numbers"
    if space.has_binary_outcomes:
        rewards = " (the pages Max@k and Bayes@N score rewards)"
    for question, row in enumerate(predictions if isinstance(predictions, list) else ()):
        for index, sample in enumerate(row or ()):
            is_reward = isinstance(sample, (int, float)) and sample not in (0, 1)
            if isinstance(sample, str) or (space.has_binary_outcomes and is_reward):
                raise ChoiceError(
                    Place("predictions", question, index),
                    f" is {short(sample)}, which is no outcome. Outcomes are {KNOWN_WORDS}"
                    f"{rewards}. Say which outcomes are correct, or which column has the "
                    f"references.",
                    columns=filter(None, load_columns(path)),
                    asks_correct=True,
                )


# --- What was read ------------------------------------------------------------------------


def _columns_of(run: Run, roles: Sequence[str]) -> dict[str, str]:
    """Return the column of each of these roles, and of the options of choices, in a run."""
    columns = {x: run.columns[x] for x in (*roles, "options") if x in run.columns}
    if ", " in columns.get("clusters", ""):
        del columns["clusters"]  # `at_k.read` makes clusters from several settings by itself
    return columns


def _names_and_texts(run: Run, total: int) -> tuple[list[str], list[str]]:
    """Return the names (or "1", "2", ..) and the texts (or "") of a run's `total` questions."""
    names: list[list[str]] = []
    texts: list[list[str]] = []
    for column, entries in run.identifiers.items():
        shown = [*map(text_of_ids, entries)]
        is_long = any(" " in x and len(x) > _LONGEST_NAME for x in shown)
        (texts if is_long and column in QUESTION_TEXTS else names).append(shown)
    names.append([str(number) for number in range(1, total + 1)])
    return names[0], [*texts, [""] * total][0]


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
    sizes = predictions.n if predictions.are_counts else predictions.sizes
    counts = (
        (f"{question}s", len(sizes), MAX_QUESTIONS),
        (f"{sample}s per {question}", sizes.max(), MAX_SAMPLES_PER_QUESTION),
        (f"{sample}s", sizes.sum(), MAX_SAMPLES),
        ("groups", len(set(map(str, samples.get("groups", ())))), MAX_GROUPS),
    )
    for things, count, limit in counts:
        if count > limit:
            raise ValueError(f"{count:,} {things} are too many. The limit is {limit:,}.")
