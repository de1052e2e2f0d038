"""Score a request in a process of its own. `scoring` starts the processes and ends them."""

from __future__ import annotations

import ctypes
import logging
import os
import resource
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from at_k.core.checks import check_categories
from at_k.core.computation import Computation, SampledQuestions
from at_k.core.computations import COMPUTATIONS
from at_k.runs.options import ComparisonOptions

from .comparing import compare_samples
from .controls import OTHER_QUESTIONS, SAME_QUESTIONS
from .grading import ReportingExecutor, grade_samples, questions_of, samples_for
from .places import in_words
from .received import MAX_BYTES
from .request import Answer, ChoiceError, Progress, Request
from .samples import read_samples, sample_counts
from .space import Call, Options, Run, Space

SECONDS = {"exact_match": 10, "numeric": 10, "math_verify": 20}
"""The processor time that a request may take, by its checker."""

_MAX_MEMORY = 3 << 30
_MAX_FILE_SIZE = 5 * MAX_BYTES
_MAX_MESSAGE = 600
OUT_OF_MEMORY = (
    "The request exceeded the memory limit. Use fewer samples, or run the metric on your own "
    "machine."
)

_logger = logging.getLogger(__name__)

_ROLES = ("predictions", "references")
"""The samples of a run. Its other columns are options of `compute`."""


def work(request: Request, folder: str, connection: Connection) -> None:
    """Score a request in this process, with bounded memory and file size.

    Args:
        request: what to score.
        folder: a folder for temporary files.
        connection: where None is sent first, then the progress; and at last the answer, or a
            sentence that says why there is none.
    """
    connection.send(None)
    _end_with_parent()
    # Processor time does not depend on how busy the server is.
    seconds = SECONDS[request.checker]
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY, _MAX_MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MAX_FILE_SIZE, _MAX_FILE_SIZE))
    tempfile.tempdir = folder
    os.chdir(folder)
    reply: Answer | ChoiceError | str
    try:
        reply = _score(request, connection.send)
    except ChoiceError as error:
        message = _shortened(_in_words(error, request))
        reply = ChoiceError([message], error.ways, error.columns, error.asks_correct)
    except (ValueError, TypeError, OverflowError) as error:
        reply = _shortened(_in_words(error, request))
    except RecursionError:
        reply = "The lists are nested too deeply."
    except MemoryError:
        reply = OUT_OF_MEMORY
    except Exception:
        _logger.exception("Unexpected error while scoring a request")
        reply = "The samples could not be scored. Check that the columns hold what is expected."
    connection.send(reply)


def _end_with_parent() -> None:
    """Let the system end this process when the fork server ends, which ends with the server."""
    if sys.platform == "linux":
        set_parent_death_signal = 1
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)


def _in_words(error: Exception, request: Request) -> str:
    """Return the message of an error in the words of the page."""
    space = request.space
    return in_words(error, space.row_noun, space.cell_noun, has_names=bool(request.files))


def _shortened(message: str) -> str:
    return message if len(message) < _MAX_MESSAGE else f"{message[:_MAX_MESSAGE]}.."


def _score(request: Request, report: Callable[[Progress], None]) -> Answer:
    computation = COMPUTATIONS[request.space.metric]
    space = request.space
    read = read_samples(request, computation.parameters)
    samples = read.runs
    counts = {label: sample_counts(run) for label, run in samples.items()}
    smallest = max(1, min(min(run) for run in counts.values()))
    options, lowered = _lowered(request, smallest)
    options["interval"], note = _interval(options.get("interval", SAME_QUESTIONS), counts, space)
    calls = space.calls(options, smallest)
    has_references = any("references" in run for run in samples.values())
    checker = request.checker if has_references else "exact_match"
    if checker != "exact_match":  # which is the default of compute
        calls = {
            name: Call({"check_correct_fn": checker, **call.arguments}, call.sweep)
            for name, call in calls.items()
        }
    # The other named checkers are fast, and compare samples without an executor.
    executor = ReportingExecutor(report) if checker == "math_verify" else None
    measures = [
        {**measure, "confidence": options["confidence"]}
        for measure in space.measures(options, smallest, has_references)
    ]
    labels = ComparisonOptions(measures[0]["metric"]).verdicts
    labels = labels or check_categories(options.get("categories"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        graded = grade_samples(samples, checker, executor, labels)
        runs = []
        for run in graded:
            sampled = samples_for(computation, samples[run.name], run)
            others = {
                name: column for name, column in samples[run.name].items() if name not in _ROLES
            }
            results = {
                name: _results(computation, sampled, others, call) for name, call in calls.items()
            }
            is_binary = space.has_references and not (options.get("w") or options.get("categories"))
            is_binary = is_binary and bool(np.isin(run.outcomes.scored_values, (0, 1)).all())
            runs.append(Run(run.name, counts[run.name], results, is_binary, options["interval"]))
        comparison, problem = None, read.problem
        if len(runs) > 1 and not problem:
            try:
                k = options.get("k")
                nouns = space.row_noun, space.cell_noun
                comparison = compare_samples(samples, graded, checker, measures, k, nouns)
            except ValueError as error:
                problem = f"The runs are not compared: {_in_words(error, request)}"
    messages = dict.fromkeys(_without_python(str(warning.message)) for warning in caught)
    notes = tuple(filter(None, [*read.notes, *lowered, note, *messages, problem]))
    used = request.checker if has_references else None
    questions = questions_of(samples, read.identifiers, graded)
    return Answer(
        runs,
        calls,
        options,
        samples,
        read.files,
        request.reading,
        used,
        questions,
        comparison,
        notes,
    )


def _lowered(request: Request, smallest: int) -> tuple[Options, list[str]]:
    """Return the options with k at most the number of samples, and sentences that say so."""
    options, notes = dict(request.options), []
    row, cell = request.space.row_noun, request.space.cell_noun
    for name in request.limited_options:
        if options[name] > smallest:
            options[name] = smallest
            notes.append(
                f"{name} was lowered to {smallest}, the smallest number of {cell}s of any {row}."
            )
    return options, notes


def _without_python(message: str) -> str:
    """Return a warning of the package in the words of the page."""
    problem, separator, _ = message.partition(": exact_match compares whole texts.")
    if not separator:
        return message.replace("check_correct_fn=", "the checker ")
    return (
        f"{problem}: exact_match compares whole texts. Try numeric, which compares the number in "
        f"each sample, or math_verify for mathematical expressions."
    )


def _interval(chosen: str, counts: Mapping[str, Sequence[int]], space: Space) -> tuple[str, str]:
    """Return the interval method for the chosen questions, and a note if it is another one.

    Raises:
        ValueError: if one question is to tell how questions vary.
    """
    row, cell = space.row_noun, space.cell_noun
    is_single = any(len(run) == 1 for run in counts.values())
    if chosen == OTHER_QUESTIONS and is_single:
        raise ValueError(
            f"One {row} does not show how {row}s vary: add {row}s, or choose the same {row}s, "
            f"sampled again."
        )
    has_one_each = all(max(run) == 1 for run in counts.values())
    if chosen == SAME_QUESTIONS and space.has_references and has_one_each and not is_single:
        note = f"Each {row} has one {cell}, so the limits are for other {row}s like these."
        return OTHER_QUESTIONS, note
    return chosen, ""


def _results(
    computation: Computation, samples: SampledQuestions, others: dict[str, Any], call: Call
) -> Any:
    """Return the scores of a call, or the list of them for a sweep."""
    options = {**others, **call.arguments}
    if call.sweep is None:
        return computation.results(samples, **options)
    name, values = call.sweep
    return [computation.results(samples, **options, **{name: value}) for value in values]
