"""Score a request in a process of its own. `scoring` starts the processes and ends them."""

from __future__ import annotations

import inspect
import logging
import os
import resource
import tempfile
import warnings
from multiprocessing.connection import Connection
from typing import Any

import evaluate

from .files import metric_script
from .request import Answer, Request, Samples
from .samples import MAX_BYTES, read_samples, sample_counts
from .space import Call, Run

_MAX_MEMORY = 3 << 30
_MAX_FILE_SIZE = 20 * MAX_BYTES
_MAX_MESSAGE = 600
OUT_OF_MEMORY = (
    "The request exceeded the memory limit. Use fewer samples, or run the metric on your own "
    "machine."
)

_logger = logging.getLogger(__name__)


def work(request: Request, folder: str, connection: Connection) -> None:
    """Score a request in this process, with bounded memory and file size.

    Args:
        request: what to score.
        folder: a folder for temporary files.
        connection: where the answer is sent, or a sentence that says why there is none.
    """
    resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY, _MAX_MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MAX_FILE_SIZE, _MAX_FILE_SIZE))
    tempfile.tempdir = folder
    os.chdir(folder)
    reply: Answer | str
    try:
        reply = _score(request)
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


def _shortened(message: str) -> str:
    return message if len(message) < _MAX_MESSAGE else f"{message[:_MAX_MESSAGE]}.."


def _score(request: Request) -> Answer:
    metric = evaluate.load(str(metric_script(request.metric)))
    samples = read_samples(request, inspect.signature(metric._compute).parameters)
    counts = {label: sample_counts(run) for label, run in samples.items()}
    smallest = max(1, min(min(run) for run in counts.values()))
    options = dict(request.options)
    for name in request.limited_options:
        options[name] = max(1, min(options[name], smallest))
    calls = request.calls(options, smallest)
    has_references = any("references" in run for run in samples.values())
    if has_references and request.checker != "exact_match":  # which is the default of compute
        checker = {"check_correct_fn": request.checker}
        calls = {
            name: Call({**checker, **call.arguments}, call.sweep) for name, call in calls.items()
        }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        # The page itself says how many samples equal their references.
        warnings.filterwarnings("ignore", "None of the .* exact_match", UserWarning)
        runs = [
            Run(label, counts[label], {name: _compute(metric, run, c) for name, c in calls.items()})
            for label, run in samples.items()
        ]
    messages = dict.fromkeys(str(warning.message) for warning in caught)
    return Answer(runs, calls, options, samples, tuple(messages))


def _compute(metric: evaluate.Metric, samples: Samples, call: Call) -> Any:
    """Return the scores of a call, or the list of them for a sweep."""
    if call.sweep is None:
        return metric.compute(**samples, **call.arguments)
    name, values = call.sweep
    return [metric.compute(**samples, **call.arguments, **{name: value}) for value in values]
