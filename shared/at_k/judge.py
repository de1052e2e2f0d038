"""Judging: predictions and references become outcomes. Knows texts, and no statistics."""

from __future__ import annotations

import itertools
import logging
import re
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import closing
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from functools import cached_property, lru_cache
from typing import Any

import dill
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from datasets.utils import tqdm

from .columns import is_number, is_text, samples_per_question, to_python
from .outcomes import Outcomes

Verdict = bool | int | float | None
"""Right or wrong, a category, a share of correctness in [0, 1], or None: not scored."""

Judge = str | Callable[[Any, Any], Verdict]
"""check_correct_fn(prediction, reference) -> Verdict, or the name of one of `NAMED`."""

NAMED = ("exact_match", "numeric", "math_verify")


def check_judge(check: Judge, num_proc: int | None = None, executor: Executor | None = None):
    """Raise unless the judge can be called, and in one way."""
    if isinstance(check, str):
        if check not in NAMED:
            raise ValueError(
                f"check_correct_fn is {check!r}: give a function of a prediction and a "
                f"reference, or one of the names {', '.join(NAMED)}."
            )
        if check == "math_verify":
            _math_verify_library()
    elif not callable(check):
        raise TypeError(f"check_correct_fn is {check!r}, which cannot be called.")
    if num_proc is not None and (isinstance(num_proc, bool) or num_proc < 1):
        raise ValueError(f"num_proc is {num_proc!r}: give a number of processes from 1 on.")
    if num_proc is not None and executor is not None:
        raise ValueError("num_proc and executor both say where to judge: give one of them.")


def as_outcomes(predictions: pa.ChunkedArray) -> Outcomes:
    """Predictions that are outcomes already. A missing one (None) is not scored."""
    values, sizes = pc.list_flatten(predictions), samples_per_question(predictions)
    if not (is_number(values.type) or pa.types.is_null(values.type)):
        raise ValueError(
            f"predictions are of type {values.type}, and there are no references to judge them "
            f"by: give references, or outcomes that are bools or numbers."
        )
    scored = _to_numpy(values.is_valid()) if values.null_count else None
    kind = pa.int8() if pa.types.is_null(values.type) else values.type
    numbers = _to_numpy(values.cast(kind).fill_null(pa.scalar(0).cast(kind)))
    outcomes = Outcomes(numbers, sizes, "predictions", scored)
    if numbers.dtype.kind == "f":
        outcomes.require(np.isfinite(numbers), "an outcome is a finite number")
    return outcomes


def judge(
    predictions: pa.ChunkedArray,
    references: pa.ChunkedArray,
    check: Judge = "exact_match",
    num_proc: int | None = None,
    executor: Executor | None = None,
) -> Outcomes:
    """The verdict on every sample.

    Each distinct pair of a prediction and its question's reference is judged once. A
    prediction that is None is not scored, nor is one that the judge answers None to.

    Raises:
        ValueError: that names `predictions[i][j]`, where the judge raised (its exception
            is the cause) or returned no verdict; or the reference that cannot be judged by.
    """
    check_judge(check, num_proc, executor)
    values, sizes = pc.list_flatten(predictions), samples_per_question(predictions)
    if check == "exact_match" or check == "numeric":
        right = _match(values, references, sizes, check)
        return Outcomes(right, sizes, _NAME, _to_numpy(values.is_valid()))
    function = math_verify if isinstance(check, str) else check
    return _judge_pairs(values, references, sizes, function, num_proc, executor)


_NAME = "the verdict on predictions"


def _to_numpy(values: pa.ChunkedArray) -> np.ndarray:
    return values.combine_chunks().to_numpy(zero_copy_only=False)


# --- Named judges: an answer is read out of each text, and answers are compared ------


def _match(
    values: pa.ChunkedArray, references: pa.ChunkedArray, sizes: np.ndarray, check: str
) -> np.ndarray:
    """Whether each sample's answer is one of its question's acceptable answers."""
    text = is_text(values.type)
    if not (text or is_number(values.type)):
        raise ValueError(
            f"{check} compares texts or numbers, but predictions are of type {values.type}: give "
            f"a function as check_correct_fn."
        )
    read = last_number if check == "numeric" else _as_text if text else _as_number
    if read is _as_text and is_text(references.type):
        accepted, counts = references, np.ones(len(references), dtype=np.int64)
    else:
        rows = [_acceptable(each, i, read) for i, each in enumerate(to_python(references))]
        counts = np.array([len(row) for row in rows])
        accepted = pa.array(itertools.chain.from_iterable(rows))
    if read is last_number:
        values = _read_each(values, last_number)
    question, first = np.repeat(np.arange(len(sizes)), sizes), np.cumsum(counts) - counts
    right = np.zeros(len(values), dtype=bool)
    for choice in range(counts.max()):
        index = pa.array(first + choice, mask=counts <= choice).take(pa.array(question))
        right |= _to_numpy(pc.equal(values, accepted.take(index)).fill_null(False))
    return right


def _acceptable(reference, question: int, read: Callable[[Any], Any]) -> list[Any]:
    """The answers that a reference accepts, as `read` reads them."""
    answers = [read(each) for each in (reference if isinstance(reference, list) else [reference])]
    if not answers or None in answers:
        raise ValueError(
            f"references[{question}] is {reference!r}, but {_COMPARES[read]}. Give that, a list "
            f"of acceptable ones, or a function as check_correct_fn."
        )
    return answers


def _as_text(answer) -> str | None:
    """Texts as they are, and whole numbers as they are written."""
    whole = isinstance(answer, int) and not isinstance(answer, bool)
    return str(answer) if whole or isinstance(answer, str) else None


def _as_number(answer) -> int | float | None:
    return answer if isinstance(answer, (int, float)) else None


_NUMBER = re.compile(
    r"(?:(?<![\w.)\]])[-+\u2212])?"  # a sign, unless it stands between two terms
    r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+|(?<!\d)(?=\.\d))"  # 1,000 or 1000, or nothing before .5
    r"(?:\.\d+)?(?:[eE][-+]?\d+)?"
)
_ALL_DIGITS = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)


def last_number(text) -> str | None:
    """The last number in a text, written in one way whatever its form, or None.

    >>> last_number("9 + 3 = 12."), last_number("so $1,200.50"), last_number(0.5), last_number("?")
    ('12', '1200.5', '0.5', None)
    """
    found = _NUMBER.findall(text if isinstance(text, str) else repr(_as_number(text)))
    if not found:
        return None
    number = Decimal(found[-1].replace(",", "").replace("\u2212", "-"))
    return str(number.normalize(_ALL_DIGITS) if number else Decimal(0))


_COMPARES: dict[Callable[[Any], Any], str] = {
    _as_text: "exact_match compares texts with a text (for numbers there is numeric)",
    _as_number: "exact_match compares numbers, as the predictions are, with a number",
    last_number: "numeric compares the last number of a text with a number",
}


def _read_each(values: pa.ChunkedArray, read: Callable[[Any], str | None]) -> pa.ChunkedArray:
    """`read` of each entry, called once for each distinct one."""
    distinct, index = _distinct(values)
    answers = [None if entry is None else read(entry) for entry in distinct]
    return pa.chunked_array([pa.array(answers, pa.large_string()).take(pa.array(index))])


def _math_verify_library():
    try:
        import math_verify
    except ImportError as error:
        raise ImportError(
            "check_correct_fn='math_verify' needs the math-verify library: "
            "pip install 'evaluate-at-k[math]' or pip install math-verify."
        ) from error
    logging.getLogger("math_verify").setLevel(logging.ERROR)
    return math_verify


def math_verify(prediction: str, reference: str | int | float | list[Any]) -> bool:
    """Whether math-verify finds the prediction equal to (one of) the references."""
    library = _math_verify_library()
    limit = _math_verify_timeout()
    answer = library.parse(str(prediction), parsing_timeout=limit)
    references = reference if isinstance(reference, list) else [reference]
    return any(
        library.verify(_parse_reference(str(each)), answer, timeout_seconds=limit)
        for each in references
    )


@lru_cache(maxsize=1024)
def _parse_reference(reference: str) -> list[Any]:
    # math-verify reads all of an expression only between dollars: of a bare 3\sqrt{2}
    # it would take the 3.
    bare = not any(sign in reference for sign in ("$", "\\boxed", "\\(", "\\["))
    text = f"${reference}$" if bare else reference
    parsed = _math_verify_library().parse(text, parsing_timeout=_math_verify_timeout())
    if not parsed:
        raise ValueError(f"math-verify can read no answer in the reference {reference!r}")
    return parsed


def _math_verify_timeout() -> int | None:
    """math-verify's own 5 s, which it can only keep in a main thread."""
    return 5 if threading.current_thread() is threading.main_thread() else None


# --- Functions: each distinct pair is judged once -----------------------------------


def _judge_pairs(
    values: pa.ChunkedArray,
    references: pa.ChunkedArray,
    sizes: np.ndarray,
    function: Callable[[Any, Any], Verdict],
    num_proc: int | None,
    executor: Executor | None,
) -> Outcomes:
    distinct, index = _distinct(values)
    asked_for = to_python(references)
    question = np.repeat(np.arange(len(sizes)), sizes)
    given = np.array([entry is not None for entry in distinct], dtype=bool)[index]
    samples = np.flatnonzero(given)
    keys = question[samples] * len(distinct) + index[samples]
    _, first, pair = np.unique(keys, return_index=True, return_inverse=True)
    first = samples[first]
    pairs = [(distinct[index[sample]], asked_for[question[sample]]) for sample in first]

    verdicts = np.zeros(len(pairs))
    scored = np.ones(len(pairs), dtype=bool)
    whole = True
    with closing(_run(function, pairs, num_proc, executor)) as answers:
        for position, (answer, error) in enumerate(answers):
            verdict = _plain(answer)
            if error is None and verdict is None:
                scored[position] = False
            elif error is None and _is_verdict(verdict):
                verdicts[position] = verdict
                whole = whole and isinstance(verdict, int)
            else:
                place = Outcomes(index, sizes, "predictions").place(int(first[position]))
                raise ValueError(_complaint(place, pairs[position][0], answer, error)) from error

    outcome = np.zeros(len(index), dtype=np.int64 if whole else np.float64)
    outcome[samples] = verdicts[pair]
    kept = given.copy()
    kept[samples] = scored[pair]
    return Outcomes(outcome, sizes, _NAME, None if kept.all() else kept)


def _distinct(values: pa.ChunkedArray) -> tuple[list[Any], np.ndarray]:
    """The distinct entries as Python objects, and for each entry which of them it is."""
    flat = values.combine_chunks()
    if isinstance(flat.type, pa.JsonType):
        objects, index = _distinct(pa.chunked_array([flat.storage]))
        return to_python(
            pa.ExtensionArray.from_storage(flat.type, pa.array(objects, flat.storage.type))
        ), index
    if pa.types.is_nested(flat.type):
        objects = flat.to_pylist()
        codes: dict[str, int] = {}
        index = np.array([codes.setdefault(repr(entry), len(codes)) for entry in objects])
        return [objects[sample] for sample in np.unique(index, return_index=True)[1]], index
    encoded = flat.dictionary_encode(null_encoding="encode")
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy()


def _plain(answer):
    """Verdicts of NumPy or torch as Python's own."""
    return answer.item() if getattr(answer, "ndim", None) == 0 else answer


def _is_verdict(verdict) -> bool:
    if isinstance(verdict, float):
        return 0 <= verdict <= 1
    return isinstance(verdict, int) and verdict >= 0


def _complaint(place: str, prediction, answer, error: Exception | None) -> str:
    if error is not None:
        problem = f"raised {type(error).__name__}: {error}"
    else:
        problem = (
            f"returned {answer!r}: a verdict is a bool, a category 0, 1, 2, .., a share of "
            f"correctness from 0.0 to 1.0, or None for a sample that is not to be scored"
        )
    return f"check_correct_fn({_short(prediction)}, ..) on {place} {problem}."


def _short(text, most: int = 60) -> str:
    shown = repr(text)
    return shown if len(shown) <= most else f"{shown[:most]}.."


# --- Running a judge, here or elsewhere ---------------------------------------------

Pair = tuple[Any, Any]
Answer = tuple[Any, Exception | None]

_BATCHES = 256  # that the pairs are sent out in: enough to keep many workers busy


def _run(
    function: Callable[[Any, Any], Verdict],
    pairs: list[Pair],
    num_proc: int | None,
    executor: Executor | None,
) -> Generator[Answer, None, None]:
    """What the function answers to each pair, in order, or the exception it raises."""
    with tqdm(total=len(pairs), desc="Judging", unit=" pairs", delay=1) as bar:
        for answers in _batches(function, pairs, num_proc, executor):
            bar.update(len(answers))
            yield from answers


def _batches(
    function: Callable[[Any, Any], Verdict],
    pairs: list[Pair],
    num_proc: int | None,
    executor: Executor | None,
) -> Iterator[list[Answer]]:
    if executor is not None:
        size = -(-len(pairs) // _BATCHES)
        batches = [pairs[start : start + size] for start in range(0, len(pairs), size or 1)]
        yield from executor.map(_ByValue(_asker(function, remote=True)), batches)
    elif num_proc is not None and num_proc > 1:
        with ProcessPoolExecutor(num_proc) as processes:
            yield from _batches(function, pairs, None, processes)
    else:
        ask = _asker(function, remote=False)
        yield from (ask([pair]) for pair in pairs)


def _asker(
    function: Callable[[Any, Any], Verdict], remote: bool
) -> Callable[[list[Pair]], list[Answer]]:
    # Nested, and free of names from this module, so that it travels by value: a worker
    # on another machine need not have the metric's code.
    def ask(batch: list[Pair]) -> list[Answer]:
        import pickle
        import traceback

        answers: list[Answer] = []
        for prediction, reference in batch:
            try:
                answers.append((function(prediction, reference), None))
            except Exception as error:
                if remote:
                    error.add_note("In the worker:\n" + traceback.format_exc())
                    try:
                        pickle.loads(pickle.dumps(error))
                    except Exception:  # not every exception survives the way back
                        error = RuntimeError(f"{type(error).__name__}: {error}")
                answers.append((None, error))
        return answers

    return ask


class _ByValue:
    """A function that any pickle can carry to any executor: a lambda too."""

    def __init__(self, function: Callable[[list[Pair]], list[Answer]]):
        self.function = function

    def __call__(self, batch: list[Pair]) -> list[Answer]:
        return self.function(batch)

    @cached_property
    def _pickle(self) -> bytes:
        try:
            return dill.dumps(self.function, recurse=True)
        except Exception as error:
            raise ValueError(f"check_correct_fn cannot be sent to a worker: {error}") from error

    def __reduce__(self):
        return dill.loads, (self._pickle,)
