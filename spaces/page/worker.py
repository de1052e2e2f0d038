"""Score a request in a process of its own. `scoring` starts the processes and ends them."""

from __future__ import annotations

import ctypes
import inspect
import logging
import os
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection
from typing import Any

import evaluate

from .comparing import compare_samples, grade_samples, questions_of
from .files import metric_script
from .request import Answer, Progress, Request
from .samples import MAX_BYTES, read_samples, sample_counts
from .space import Call, Run

SECONDS = {"exact_match": 10, "numeric": 10, "math_verify": 20}
"""The processor time that a request may take, by its checker."""

_MAX_MEMORY = 3 << 30
_MAX_FILE_SIZE = 20 * MAX_BYTES
_MAX_MESSAGE = 600
OUT_OF_MEMORY = (
    "The request exceeded the memory limit. Use fewer samples, or run the metric on your own "
    "machine."
)

_logger = logging.getLogger(__name__)
evaluate.disable_progress_bar()


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
    reply: Answer | str
    try:
        reply = _score(request, connection.send)
    except (ValueError, TypeError, OverflowError) as error:
        reply = _shortened(str(error))
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


def _shortened(message: str) -> str:
    return message if len(message) < _MAX_MESSAGE else f"{message[:_MAX_MESSAGE]}.."


class CheckOnce:
    """Runs a checker in this process, once for each pair in all calls of `compute`.

    It is an executor with the method `map` only, like a pool of multiprocessing.

    Args:
        report: is called with the progress, at most twice a second.
    """

    def __init__(self, report: Callable[[Progress], None]):
        self._report = report
        self._results: dict[str, Any] = {}

    def map(self, check: Callable, batches: Iterable) -> Iterator:
        """Yield the results of each batch of pairs."""
        batches = list(batches)
        total, checked = sum(len(pairs) for _, pairs in batches), 0
        started = reported = time.monotonic()
        for start, pairs in batches:
            results = []
            for pair in pairs:
                key = repr(pair)
                if key not in self._results:
                    _, (self._results[key],) = check((0, [pair]))
                results.append(self._results[key])
                checked += 1
                now = time.monotonic()
                if now - reported > 0.5:
                    reported = now
                    left = (now - started) / checked * (total - checked)
                    self._report(Progress(checked, total, left))
            yield start, results


def _score(request: Request, report: Callable[[Progress], None]) -> Answer:
    metric = evaluate.load(str(metric_script(request.metric)))
    samples, identifiers = read_samples(request, inspect.signature(metric._compute).parameters)
    counts = {label: sample_counts(run) for label, run in samples.items()}
    smallest = max(1, min(min(run) for run in counts.values()))
    options = dict(request.options)
    for name in request.limited_options:
        options[name] = max(1, min(options[name], smallest))
    calls = request.calls(options, smallest)
    has_references = any("references" in run for run in samples.values())
    if has_references and request.checker != "exact_match":  # which is the default of compute
        chosen = {"check_correct_fn": request.checker}
        calls = {
            name: Call({**chosen, **call.arguments}, call.sweep) for name, call in calls.items()
        }
    # The other named checkers are fast, and compare samples without an executor.
    executor: Any = CheckOnce(report) if request.checker == "math_verify" else None
    checking = {} if executor is None else {"executor": executor}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        # The page itself says how many samples equal their references.
        warnings.filterwarnings("ignore", "None of the .* exact_match", UserWarning)
        runs = [
            Run(
                label,
                counts[label],
                {name: _compute(metric, run | checking, call) for name, call in calls.items()},
            )
            for label, run in samples.items()
        ]
        graded, comparison, problem = [], None, ""
        checker = request.checker if has_references else "exact_match"
        measures = request.measures(options, smallest, has_references)
        try:
            graded = grade_samples(samples, checker, executor, measures[0]["metric"])
            if len(runs) > 1:
                k = options.get("k")
                comparison = compare_samples(samples, graded, checker, measures, k)
        except ValueError as error:
            if len(runs) > 1:
                problem = f"The runs are not compared: {error}"
    messages = dict.fromkeys(str(warning.message) for warning in caught)
    warned = tuple(filter(None, [*messages, problem]))
    used = request.checker if has_references else None
    questions = questions_of(samples, identifiers, graded)
    return Answer(runs, calls, options, samples, used, questions, comparison, warned)


def _compute(metric: evaluate.Metric, given: dict[str, Any], call: Call) -> Any:
    """Return the scores of a call, or the list of them for a sweep."""
    if call.sweep is None:
        return metric.compute(**given, **call.arguments)
    name, values = call.sweep
    return [metric.compute(**given, **call.arguments, **{name: value}) for value in values]
