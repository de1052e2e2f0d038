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
from collections.abc import Mapping, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection
from types import SimpleNamespace
from typing import Any

import numpy as np
from at_k.cli.formats import Scope
from at_k.core.checking import Checking
from at_k.core.checks import category_numbers
from at_k.core.computation import Computation, SampledQuestions
from at_k.core.computations import COMPUTATIONS
from at_k.core.score_agg import VERDICTS
from at_k.runs.outcomes_of_runs import Run as GradedRun
from at_k.runs.outcomes_of_runs import Ungraded, check_same_questions

from .comparing import compare
from .controls import OTHER_QUESTIONS, SAME_QUESTIONS
from .grading import grade, names_and_texts, rewards_by_question, samples_for_metric
from .places import message_in_words
from .received import MAX_BYTES
from .request import Answer, ChoiceError, Request
from .samples import read_samples
from .space import Call, Options, Run, Samples, Space

SECONDS = {"exact_match": 10, "numeric": 10, "choice": 10, "math_verify": 20}
"""The processor time that a request may take, by its checker."""

_MAX_MEMORY = 3 << 30
_MAX_FILE_SIZE = 5 * MAX_BYTES
_MAX_MESSAGE = 600
OUT_OF_MEMORY = (
    "The request exceeded the memory limit. Use fewer samples, or run the metric on your own "
    "machine."
)
_UNEXPECTED = "The samples could not be scored. Check that the columns hold what is expected."

_logger = logging.getLogger(__name__)

_EXECUTORS: dict[Any, Any] = {"math_verify": SimpleNamespace(map=map)}
"""math_verify would start processes of its own, unless it has an executor. This one is no pool."""


def work(request: Request, folder: str, connection: Connection) -> None:
    """Score a request in this process, with bounded memory and file size.

    Args:
        request: what to score.
        folder: a folder for temporary files.
        connection: where None is sent first; and at last the answer, or a ValueError that says
            why there is none.
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
    reply: Answer | ValueError
    try:
        reply = _score(request)
    except (ValueError, TypeError, OverflowError) as error:
        message = _in_words(error, request)
        if len(message) >= _MAX_MESSAGE:
            message = f"{message[:_MAX_MESSAGE]}.."
        reply = ValueError(message)
        if isinstance(error, ChoiceError):
            reply = ChoiceError([message], error.ways, error.columns, error.asks_correct)
    except RecursionError:
        reply = ValueError("The lists are nested too deeply.")
    except MemoryError:
        reply = ValueError(OUT_OF_MEMORY)
    except Exception:
        _logger.exception("Unexpected error while scoring a request")
        reply = ValueError(_UNEXPECTED)
    connection.send(reply)


def _end_with_parent() -> None:
    """Let the system end this process when the fork server ends, which ends with the server."""
    if sys.platform == "linux":
        set_parent_death_signal = 1
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)


def _in_words(error: Exception, request: Request) -> str:
    """Return the message of an error in the words of the page."""
    space = request.space
    message = message_in_words(error, space.row_noun, space.cell_noun, bool(request.files))
    return _without_python(message)


def _score(request: Request) -> Answer:
    """Return the answer to a request: read, check and score its samples."""
    space, computation = request.space, COMPUTATIONS[request.space.metric]
    read = read_samples(request, computation.parameters)
    has_references = any("references" in samples for samples in read.runs.values())
    checker = request.checker if has_references else None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        sampled = samples_for_metric(computation, read.runs)
        sizes = [questions.n for questions in sampled.values()]
        smallest_n = min(int(n.min()) for n in sizes)
        options, changes = _used_options(request, sizes, smallest_n)
        calls, measures = _calls(space, options, smallest_n, checker)
        labels = category_numbers(options.get("categories")) if space.has_references else VERDICTS
        checking = Checking(
            checker or "exact_match", executor=_EXECUTORS.get(checker), labels=labels
        )
        graded = grade(sampled, checking)
        runs = [
            Run(
                label=run.name,
                file=read.files[run.name],
                reading=read.arguments[run.name],
                samples=samples,
                rewards=rewards_by_question(run.outcomes, options.get("w")),
                results=_results(computation, sampled[run.name], samples, calls),
                is_binary=_is_binary(space, options, run),
            )
            for run, samples in zip(graded, read.runs.values(), strict=True)
        ]
        comparison, problem = None, read.problem
        if len(runs) > 1 and not problem:
            scope = Scope([x.outcomes.n for x in graded], checker, space.row_noun, space.cell_noun)
            try:
                check_same_questions([Ungraded(label, x.batch) for label, x in sampled.items()])
                comparison = compare(graded, measures, options.get("k"), scope)
            except ValueError as error:
                problem = f"The runs are not compared: {_in_words(error, request)}"
    messages = dict.fromkeys(_without_python(str(warning.message)) for warning in caught)
    about_reading = map(_without_python, read.notes)
    notes = tuple(filter(None, [*about_reading, *changes, *messages, problem]))
    names, texts = names_and_texts(read.identifiers, len(sizes[0]))
    return Answer(runs, calls, options, request.reading, checker, names, texts, comparison, notes)


def _used_options(
    request: Request, sizes: Sequence[np.ndarray], smallest_n: int
) -> tuple[Options, list[str]]:
    """Return the options that are used, and sentences that say which were changed.

    Args:
        request: the request.
        sizes: for each run (M,) numbers of samples.
        smallest_n: the smallest of them.

    Raises:
        ValueError: if one question is to tell how questions vary.
    """
    space, options, changes = request.space, dict(request.options), []
    row, cell = space.row_noun, space.cell_noun
    if options.get("k", 1) > smallest_n:
        options["k"] = smallest_n
        why = f"the smallest number of {cell}s of any {row}"
        changes.append(f"k was lowered to {smallest_n}, {why}.")
    chosen = options.setdefault("interval", SAME_QUESTIONS)
    is_single = any(len(n) == 1 for n in sizes)
    if chosen == OTHER_QUESTIONS and is_single:
        raise ValueError(
            f"One {row} does not show how {row}s vary: add {row}s, or choose the same {row}s, "
            f"sampled again."
        )
    has_one_each = all(n.max() == 1 for n in sizes)
    if chosen == SAME_QUESTIONS and space.has_references and has_one_each and not is_single:
        options["interval"] = OTHER_QUESTIONS
        changes.append(f"Each {row} has one {cell}, so the limits are for other {row}s like these.")
    return options, changes


def _calls(
    space: Space, options: Options, smallest_n: int, checker: str | None
) -> tuple[dict[str, Call], list[dict[str, Any]]]:
    """Return the calls of `compute` by name, and the arguments of `at_k.compare` for each measure.

    Args:
        space: the page.
        options: the options that are used.
        smallest_n: the smallest number of samples of a question.
        checker: the name of the checker, or None if samples have no references.
    """
    is_default = checker in (None, "exact_match")
    checking = {} if is_default else {"check_correct_fn": checker}
    limits = {name: options[name] for name in ("confidence", "interval")}
    calls = {
        name: replace(call, arguments={**checking, **call.arguments, **limits})
        for name, call in space.calls(options, smallest_n).items()
    }
    compared: dict[str, Any] = {"confidence": options["confidence"]}
    if space.has_references and options["interval"] in (SAME_QUESTIONS, OTHER_QUESTIONS):
        has_same = options["interval"] == SAME_QUESTIONS
        compared["interval"] = "sampling" if has_same else "questions"
    measures = [
        {**checking, **measure, **compared}
        for measure in space.measures(options, smallest_n, checker is not None)
    ]
    return calls, measures


def _results(
    computation: Computation,
    questions: SampledQuestions,
    samples: Samples,
    calls: Mapping[str, Call],
) -> dict[str, Any]:
    """Return the scores of each call of `compute`; of a sweep, by the values of its parameter."""
    columns = {x: y for x, y in samples.items() if x not in ("predictions", "references")}
    results: dict[str, Any] = {}
    for name, call in calls.items():
        options = {**columns, **call.arguments}
        if call.sweep is None:
            results[name] = computation.results(questions, **options)
        else:
            parameter, values = call.sweep
            results[name] = {
                value: computation.results(questions, **options, **{parameter: value})
                for value in values
            }
    return results


def _is_binary(space: Space, options: Options, run: GradedRun) -> bool:
    """Whether samples are correct or not, and have no rewards."""
    has_rewards = options.get("w") or options.get("categories") or not space.has_references
    return not has_rewards and bool(np.isin(run.outcomes.scored_values, (0, 1)).all())


def _without_python(message: str) -> str:
    """Return a message of the package without what a page does not have."""
    words = {
        " If the samples of a question follow each other, give their number as group_size (in the "
        "shell --group-size).": "",
        ", for programs with tests python_tests": "",
        "w has rewards for": "There are rewards for",
        ", and 'python_tests' runs programs with tests": "",
        "check_correct_fn=": "The checker ",
        ": unfinished='incorrect' counts them as incorrect": "",
        "correct_at_least": "the least correct score",
    }
    for python, word in words.items():
        message = message.replace(python, word)
    return message
