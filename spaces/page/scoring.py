"""Scores what a visitor hands in, each request in a process of its own.

What strangers upload is read, judged and scored by code that may take long on it: so that
runs in a process that is ended when its time is up, and that can take no more than its
share of the memory. `score` starts such processes and waits for them; `_work` is what they do.
"""

from __future__ import annotations

import inspect
import logging
import multiprocessing
import os
import re
import resource
import tempfile
import threading
from collections.abc import Callable, Container
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

# Whatever the libraries keep goes where it is forgotten, and they ask nobody for anything.
if not os.environ.get("HF_HOME", "").startswith(tempfile.gettempdir()):
    os.environ["HF_HOME"] = tempfile.mkdtemp(prefix="space-")
os.environ |= {"HF_HUB_OFFLINE": "1", "HF_EVALUATE_OFFLINE": "1"}

import evaluate

from .files import metric_script
from .reading import PER_QUESTION, USUAL_NAMES, as_outcome, read_questions
from .space import JUDGES, Bank, Call, Options

MOST_BYTES = 2 << 20
MOST_QUESTIONS = 2_000
MOST_EACH = 512
MOST_SAMPLES = 100_000
MOST_GROUPS = 40
MOST_MEMORY = 3 << 30
SECONDS = {"exact_match": 10.0, "numeric": 10.0, "math_verify": 20.0}
ENDINGS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")

_logger = logging.getLogger(__name__)

Calls = Callable[[Options, int], dict[str, Call]]


@dataclass(frozen=True)
class Request:
    """What is to be scored: one of a table, a text and files."""

    metric: str
    judge: str
    options: Options
    calls: Calls
    of_samples: tuple[str, ...] = ()
    """Options that are lowered to the number of samples that each question has."""
    table: list[list[Any]] | None = None
    text: str | None = None
    files: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Answer:
    """Banks with their scores, the calls and the options that gave them, and what was scored."""

    banks: list[Bank]
    calls: dict[str, Call]
    options: Options
    samples: dict[str, dict[str, Any]]
    """For each bank its predictions, references and groups, as `compute` takes them."""


# --- Asking -----------------------------------------------------------------------------

_context = multiprocessing.get_context("forkserver")
# The server loads the libraries and the metric once, and forks what has them.
_context.set_forkserver_preload(["page.scoring"])

# Slow judging has lanes of its own, so that it can only hold up its own kind.
_LANES = {"slow": threading.BoundedSemaphore(1), "fast": threading.BoundedSemaphore(4)}


def score(request: Request) -> Answer:
    """The scores, or a ValueError with a sentence for the visitor that says why there are none."""
    # The folder is made and removed here, because a process may be ended anywhere.
    lane = _lane("slow" if request.judge == "math_verify" else "fast")
    with lane, tempfile.TemporaryDirectory() as folder:
        limit = SECONDS[request.judge]
        ours, theirs = _context.Pipe(duplex=False)
        process = _context.Process(target=_work, args=(request, folder, theirs), daemon=True)
        process.start()
        theirs.close()
        try:
            if not ours.poll(limit):
                raise ValueError(
                    f"This took longer than the {limit:.0f} seconds that a request is given here. "
                    f"Take fewer samples or a simpler judge, or run the metric on your own machine."
                )
            problem, answer = ours.recv()
        except EOFError as error:
            raise ValueError("This took more memory than a request is given here.") from error
        finally:
            process.kill()
            process.join()
            process.close()
            ours.close()
    if problem is not None:
        raise ValueError(problem)
    return answer


@contextmanager
def _lane(name: str):
    if not _LANES[name].acquire(timeout=2 * max(SECONDS.values())):
        raise ValueError("Many people are asking at once: try again in a minute.")
    try:
        yield
    finally:
        _LANES[name].release()


# --- Answering --------------------------------------------------------------------------


def _work(request: Request, folder: str, out: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_BYTES * 20, MOST_BYTES * 20))
    tempfile.tempdir = folder
    os.chdir(folder)  # so that messages name a file as the visitor does, without the folder
    said: tuple[str | None, Answer | None]
    try:
        said = None, _answer(request)
    except (ValueError, TypeError, OverflowError) as error:
        said = _in_words_of_the_page(str(error)), None
    except RecursionError:
        said = "The lists in this are nested too deep.", None
    except MemoryError:
        said = "This took more memory than a request is given here.", None
    except Exception:
        _logger.exception("A request failed in a way that is not foreseen")
        said = "This could not be scored. Look whether the columns hold what is asked for.", None
    out.send(said)


def _answer(request: Request) -> Answer:
    if request.judge not in JUDGES:
        raise ValueError(f"The judge has to be one of {', '.join(JUDGES)}.")
    metric = metric_of(request.metric)
    samples = _read(request, inspect.signature(metric._compute).parameters)
    for label, bank in samples.items():
        _check_size(bank, f"{label}: " if len(samples) > 1 else "")
    if len({"references" in bank for bank in samples.values()}) > 1:
        raise ValueError("One file has references and the other has none: give both the same.")
    sizes = {
        label: [sum(sample is not None for sample in row) for row in bank["predictions"]]
        for label, bank in samples.items()
    }
    least = min(min(bank) for bank in sizes.values())
    options = dict(request.options)
    for name in request.of_samples:
        options[name] = max(1, min(options[name], least))
    calls = request.calls(options, max(1, least))
    if request.judge != "exact_match" and "references" in next(iter(samples.values())):
        judge = {"check_correct_fn": request.judge}
        calls = {name: Call({**judge, **call.arguments}, call.over) for name, call in calls.items()}
    banks = [
        Bank(
            label,
            sizes[label],
            {name: _compute(metric, bank, call) for name, call in calls.items()},
        )
        for label, bank in samples.items()
    ]
    return Answer(banks, calls, options, samples)


def metric_of(name: str) -> evaluate.Metric:
    """Return the metric of that name."""
    return evaluate.load(str(metric_script(name)))


def _compute(metric: evaluate.Metric, bank: dict[str, Any], call: Call) -> Any:
    if call.over is None:
        return metric.compute(**bank, **call.arguments)
    name, values = call.over
    return [metric.compute(**bank, **call.arguments, **{name: value}) for value in values]


def _check_size(bank: dict[str, Any], place: str) -> None:
    predictions = bank["predictions"]
    if len(predictions) > MOST_QUESTIONS:
        raise ValueError(
            f"{place}{len(predictions)} questions are too many here: {MOST_QUESTIONS} at most."
        )
    most = max(len(row) for row in predictions)
    if most > MOST_EACH:
        raise ValueError(
            f"{place}{most} samples of one question are too many: {MOST_EACH} at most."
        )
    total = sum(len(row) for row in predictions)
    if total > MOST_SAMPLES:
        raise ValueError(f"{place}{total} samples are too many here: {MOST_SAMPLES} at most.")
    groups = len(set(map(str, bank.get("groups", ()))))
    if groups > MOST_GROUPS:
        raise ValueError(f"{place}{groups} groups are too many here: {MOST_GROUPS} at most.")


def _in_words_of_the_page(message: str) -> str:
    """The flags of the command are columns here, and no message is longer than a paragraph."""
    message = re.sub(r"(?:with )?--(\w+)", r'"\1"', message)
    return message if len(message) < 600 else f"{message[:600]}.."


# --- Reading ----------------------------------------------------------------------------


def _read(request: Request, parameters: Container[str]) -> dict[str, dict[str, Any]]:
    """For each label the predictions, references and whatever else the metric takes of them."""
    if request.table is not None:
        return {"table": _of_table(request.table)}
    named = _copied(request.files) if request.files else _written(request.text or "")
    columns: dict[str, str | None] = {role: None for role in PER_QUESTION if role in parameters}
    if columns and request.files:
        columns["groups"] = request.options.get("group")
    return {label: _of_file(name, columns) for label, name in named.items()}


def _of_file(name: str, columns: dict[str, str | None]) -> dict[str, Any]:
    found = read_questions(name, **columns)
    return {name: list(column) for name, column in found.arguments.items()}


def _copied(uploads: list[str]) -> dict[str, str]:
    """The uploads here, by a label of each, under names that are short and plain."""
    named: dict[str, str] = {}
    for number, upload in enumerate(map(Path, uploads), start=1):
        ending = upload.suffix.lower()
        if ending not in ENDINGS:
            raise ValueError(f"Files have to end in one of {', '.join(ENDINGS)}.")
        if upload.stat().st_size > MOST_BYTES:
            raise ValueError(f"Files can have up to {MOST_BYTES // 1_000_000} MB here.")
        stem = re.sub(r"[^\w.=+-]+", "_", upload.stem).strip("._-")[:24] or "file"
        label = stem if stem not in named else f"{stem}_{number}"
        named[label] = f"{label}{ending}"
        Path(named[label]).write_bytes(upload.read_bytes())
    return named


def _written(text: str) -> dict[str, str]:
    """The pasted text as a file, which then is read as any other."""
    if len(text.encode(errors="replace")) > MOST_BYTES:
        raise ValueError(f"A text can have up to {MOST_BYTES // 1_000_000} MB here.")
    if not text.strip():
        raise ValueError("There is no text yet: paste JSON Lines or CSV.")
    start = text.lstrip()[0]
    ending = "json" if start == "[" else "jsonl" if start == "{" else "csv"
    Path(f"text.{ending}").write_text(text, encoding="utf-8", errors="replace")
    return {"text": f"text.{ending}"}


def _of_table(table: list[list[Any]]) -> dict[str, Any]:
    """The table of the page: a header, then in each row a question, with its samples across.

    What is not the reference, the group or the question is a sample; empty cells are none.
    """
    headers, *rows = [["" if cell is None else str(cell).strip() for cell in row] for row in table]
    roles = [
        next((role for role, names in _ROLES.items() if head.lower() in names), "predictions")
        for head in headers
    ]
    columns: dict[str, list[Any]] = {role: [] for role in ("predictions", *_ROLES)}
    for number, row in enumerate(rows, start=1):
        cells = dict.fromkeys(columns, ()) | {
            role: tuple(c for c, r in zip(row, roles, strict=True) if r == role and c)
            for role in set(roles)
        }
        if not any(cells.values()):
            continue
        if not cells["predictions"]:
            raise ValueError(f"Row {number} has no sample.")
        for role, given in cells.items():
            columns[role].append(list(given) if role == "predictions" else "".join(given))
    if not columns["predictions"]:
        raise ValueError("There is no question in the table yet.")
    bank: dict[str, Any] = {"predictions": columns["predictions"]}
    for role in ("references", "groups"):
        if any(columns[role]):
            if not all(columns[role]):
                first = columns[role].index("") + 1
                raise ValueError(f"Some rows have an entry under {role}, and row {first} has none.")
            bank[role] = columns[role]
    if "references" not in bank:
        bank["predictions"] = [[as_outcome(c) for c in row] for row in bank["predictions"]]
    return bank


_ROLES = {
    "references": USUAL_NAMES["references"],
    "groups": USUAL_NAMES["groups"],
    "questions": USUAL_NAMES["questions"],
}
