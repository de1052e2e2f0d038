"""The named checkers: each reads an answer out of a text and compares it with the reference."""

from __future__ import annotations

import itertools
import json
import logging
import math
import os
import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from functools import lru_cache
from importlib import import_module
from inspect import signature
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..checks import InputError, InPython, Place, short
from .columns import (
    JSON,
    TEXTS,
    distinct_entries,
    from_numpy,
    one_chunk,
    sample_kind,
    to_python,
)
from .containers import to_numpy
from .numbers import equal_forms, number_form, read_reference, read_response
from .rows import Rows, sample_place

NAMES = ("exact_match", "numeric", "math_verify", "python_tests")

# `pa.array` and `pa.scalar` import pandas, if it is installed, which takes 0.2 s.
_FALSE = from_numpy(np.zeros(1, dtype=bool))[0]
_SAMPLES_AT_ONCE = 1 << 14  # that are compared, to bound memory


# --- Comparisons in Arrow, without a Python object for each text --------------------------


def match_exactly(rows: Rows) -> np.ndarray:
    """Return (S,) whether each sample equals an acceptable answer of its question.

    Raises:
        ValueError: if samples or references cannot be compared, with its index.
    """
    values, references = rows.values, rows.references
    kind = sample_kind(values)
    if kind is None:
        return np.zeros(len(values), dtype=bool)
    if kind == "numbers":
        expected = "exact_match compares numbers, as the predictions are, with a number"
        answers, counts = _acceptable_answers(references, _as_number, expected)
        values, accepted = _comparable_numbers(rows, answers)
    elif kind != "texts":
        raise _neither_texts_nor_numbers("exact_match")
    elif references.type == TEXTS and not references.null_count and values.type == TEXTS:
        accepted, counts = one_chunk(references), np.ones(len(references), dtype=np.int64)
    else:
        expected = (
            "exact_match compares texts with a text (for numbers there is numeric, for programs "
            "with tests python_tests)"
        )
        answers, counts = _acceptable_answers(references, _as_text, expected)
        if values.type == JSON or not all(map(_is_unicode, answers)):
            _, values = _as_forms(values, json.dumps)
            answers = [*map(json.dumps, answers)]
        accepted = pa.array(answers, TEXTS)
    return _equals_any(values, accepted.cast(values.type), counts, rows.sizes)


def match_numbers(rows: Rows) -> tuple[np.ndarray, pa.ChunkedArray]:
    """Compare the number of each sample with the acceptable numbers of its question.

    A number is read as `numbers` says.

    Returns:
        (S,) whether the number equals one of them, and (S,) the number, or None if there is none.

    Raises:
        ValueError: if samples or references cannot be compared, with its index.
    """
    values = rows.values
    if pa.types.is_null(values.type):
        return np.zeros(len(values), dtype=bool), values
    if pa.types.is_boolean(values.type) or sample_kind(values) == "other values":
        raise _neither_texts_nor_numbers("numeric")
    expected = (
        "numeric compares the number that a response gives with a reference that is one number, "
        "such as 12, -1,200.5, 3/4 or 50% (math_verify compares other expressions)"
    )
    answers, counts = _acceptable_answers(rows.references, _number_of_reference, expected)
    distinct, numbers = _as_forms(values, _number_of_sample)
    if not any(number and "%" in number for number in (*answers, *distinct)):
        accepted = pa.array(answers, TEXTS)
        return _equals_any(numbers, accepted, counts, rows.sizes), numbers
    forms = [*map(equal_forms, answers)]
    accepted = pa.array(itertools.chain.from_iterable(forms), TEXTS)
    per_answer = np.array([*map(len, forms)])
    per_question = np.add.reduceat(per_answer, np.cumsum(counts) - counts)
    correct = _equals_any(numbers, accepted, per_question, rows.sizes)
    # 50% and 0.5 are one answer to a question with one reference.
    only = np.repeat(counts == 1, rows.sizes)
    first = np.repeat(np.cumsum(counts) - counts, rows.sizes)
    references = pa.array(answers, TEXTS).take(from_numpy(first))
    merged = pc.if_else(from_numpy(correct & only), references, one_chunk(numbers))
    return correct, pa.chunked_array([merged])


def _neither_texts_nor_numbers(checker: str) -> ValueError:
    what = f"{checker} compares texts or numbers, and some predictions are neither"
    return InputError(what, InPython(": give a function as check_correct_fn"), ".")


def _equals_any(
    values: pa.ChunkedArray, accepted: pa.Array, counts: np.ndarray, sizes: np.ndarray
) -> np.ndarray:
    """Return (S,) whether each sample equals an acceptable answer of its question.

    Each of M questions has a number of samples (`sizes`) and of accepted answers (`counts`).
    """
    first = np.cumsum(counts) - counts
    starts = np.cumsum(sizes) - sizes
    correct = np.zeros(len(values), dtype=bool)
    step = max(1, _SAMPLES_AT_ONCE * len(sizes) // len(values))
    for start in range(0, len(sizes), step):
        block = slice(start, start + step)
        samples = slice(starts[start], starts[block][-1] + sizes[block][-1])
        for choice in range(counts[block].max()):
            # Questions with fewer answers compare their last one again.
            index = first[block] + np.minimum(choice, counts[block] - 1)
            answers = accepted.take(from_numpy(np.repeat(index, sizes[block])))
            correct[samples] |= to_numpy(pc.equal(values[samples], answers).fill_null(_FALSE))
    return correct


def _acceptable_answers(
    references: pa.ChunkedArray, read: Callable[[Any], Any], expected: str
) -> tuple[list[Any], np.ndarray]:
    """Return the acceptable answers, question after question, and (M,) their numbers.

    Args:
        references: (M,) an answer, or a list of acceptable answers, for each question.
        read: returns an answer in the form to compare, or None if it is not valid.
        expected: what a valid answer is, for the message.
    """
    rows = []
    for question, reference in enumerate(to_python(references)):
        row = [*map(read, reference if isinstance(reference, list) else [reference])]
        if not row or None in row:
            raise InputError(
                Place("references", question),
                f" is {short(reference)}, but {expected}. Give that, or a list of acceptable ones",
                InPython(", or a function as check_correct_fn"),
                ".",
            )
        rows.append(row)
    return list(itertools.chain.from_iterable(rows)), np.array([len(row) for row in rows])


# --- Texts and numbers --------------------------------------------------------------------


def _as_text(answer) -> str | None:
    """Return a text as it is, and an integer as it is written."""
    is_integer = isinstance(answer, int) and not isinstance(answer, bool)
    return str(answer) if is_integer or isinstance(answer, str) else None


def _is_unicode(text: str) -> bool:
    """Whether UTF-8 can hold a text. It cannot hold half of a surrogate pair."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _as_number(answer) -> int | float | None:
    """Return a number, as an int if its shortest decimal is an integer."""
    if not isinstance(answer, (int, float)):
        return None
    if isinstance(answer, float) and answer.is_integer():
        return int(Decimal(repr(answer)))
    return int(answer) if isinstance(answer, bool) else answer


def _as_double(answer: int | float) -> float | None:
    """Return the double whose shortest decimal is the number, or None if there is none."""
    try:
        double = float(answer)
    except OverflowError:
        return None
    return double if double != double or _as_number(double) == answer else None


def _comparable_numbers(rows: Rows, answers: list[int | float]) -> tuple[pa.ChunkedArray, pa.Array]:
    """Return samples and acceptable answers in a type that holds both without rounding."""
    values = rows.values
    if values.type == JSON:  # bools, or large integers, among other numbers
        accepted = [None if math.isnan(x) else _number_form(x) for x in answers]
        return _as_forms(values, _number_form)[1], pa.array(accepted, TEXTS)
    if pa.types.is_floating(values.type):
        if pc.any(pc.is_nan(values)).as_py():
            index = pc.index(pc.is_nan(values), True).as_py()
            place = sample_place("predictions", rows.sizes, index)
            what = " is nan, which equals nothing: give None if it is unscored."
            raise InputError(place, what)
        return values, pa.array([*map(_as_double, answers)], pa.float64())
    integer = pa.uint64() if values.type == pa.uint64() else pa.int64()
    least, beyond = (0, 2**64) if integer == pa.uint64() else (-(2**63), 2**63)
    integers = [x if isinstance(x, int) and least <= x < beyond else None for x in answers]
    return values.cast(integer), pa.array(integers, integer)


def _number_form(number: int | float) -> str:
    """Return the normal form of a number. True is 1."""
    if not math.isfinite(number):
        return str(number)
    return number_form(Decimal(int(number) if isinstance(number, int) else repr(number)))


def _as_forms(
    values: pa.ChunkedArray, form: Callable[[Any], str | None]
) -> tuple[list[str | None], pa.ChunkedArray]:
    """Return the forms of the distinct samples, and (S,) the form of each sample, or None."""
    distinct, code = distinct_entries(values)
    forms = [form(entry) for entry in to_python(distinct)]
    samples = pa.array(forms, TEXTS).take(from_numpy(code, code < 0))
    return forms, pa.chunked_array([samples])


def _number_of_sample(sample: str | int | float) -> str | None:
    if isinstance(sample, str):
        return read_response(sample)
    if isinstance(sample, bool):
        raise _neither_texts_nor_numbers("numeric")
    return _number_form(sample) if math.isfinite(sample) else None


def _number_of_reference(reference: Any) -> str | None:
    if isinstance(reference, str):
        return read_reference(reference)
    if isinstance(reference, bool) or not isinstance(reference, (int, float)):
        return None
    return _number_of_sample(reference)


# --- math-verify --------------------------------------------------------------------------


def math_verify_library():
    """Import math-verify, without its log of answers that it cannot read.

    Raises:
        ImportError: if it is not installed, or if it cannot be imported.
    """
    try:
        import math_verify
    except Exception as error:
        need = "check_correct_fn='math_verify' needs the math-verify library"
        if isinstance(error, ModuleNotFoundError) and error.name == "math_verify":
            install = "pip install math-verify"
            raise ImportError(f"{need}: {install}.") from error
        raise ImportError(
            f"{need}, which is installed but cannot be imported: {type(error).__name__}: {error}."
        ) from error
    # Old versions set a handler of signals even without a limit, and hide that they may not.
    if not _has_signals() and "raise_on_error" not in signature(math_verify.parse).parameters:
        raise ImportError(
            "This version of math-verify only works in a main thread, and not on Windows: install "
            "0.9 or newer, or compute in the main thread."
        )
    logging.getLogger("math_verify").setLevel(logging.ERROR)
    return math_verify


def python_tests_checker() -> Any:
    """Return the checker that runs tests, which the package has and a metric of a Hub has not.

    Raises:
        ImportError: if the package is not installed.
    """
    try:
        return import_module("at_k.checkers").python_tests()
    except ModuleNotFoundError as error:
        raise ImportError(
            "check_correct_fn='python_tests' needs the package evaluate-at-k, which a metric of "
            'the Hub does not bring: pip install "evaluate-at-k @ '
            'git+https://github.com/evaluate-at-k/evaluate-at-k".'
        ) from error


def check_references(references: pa.ChunkedArray) -> None:
    """Raise a ValueError for a reference in which math-verify finds no answer."""
    for question, reference in enumerate(to_python(references)):
        for answer in reference if isinstance(reference, list) else [reference]:
            text = str(answer) if isinstance(answer, (str, int, float)) else ""
            if not _parse_reference(text):
                what = f" is {short(reference)}, in which math-verify finds no answer."
                raise InputError(Place("references", question), what)


TIMED_OUT = 2  # a result of `math_verify`


def math_verify(prediction: Any, reference: Any) -> tuple[int, str | None]:
    """Compare the answers in a prediction with the reference, or with each of a list.

    Returns:
        1 if math-verify finds them equal, 0 if not, and TIMED_OUT if it found no equal one and ran
        into its time limit; and the first answer in a normal form, or None if there is none.
    """
    library, text = math_verify_library(), str(prediction).strip()
    references = [*map(str, reference if isinstance(reference, list) else [reference])]
    answers, timed_out = _parse_math(text)
    first = _normal_form(answers[0], text) if answers else None
    if text in (accepted.strip() for accepted in references):
        return 1, first
    for accepted in references:
        for expected, answer in itertools.product(_parse_reference(accepted), answers or []):
            equal, late = _call_math_verify(library.verify, expected, answer, timeout_seconds=0)
            if equal:
                return 1, first
            timed_out |= late
    return TIMED_OUT if timed_out else 0, first


def _normal_form(answer: Any, text: str) -> str:
    """Return an answer as SymPy writes it, or the text that it was read from."""
    try:
        return str(answer)
    except Exception:  # Python does not write integers of many thousands of digits
        return text


class _OutOfTime(BaseException):
    """Not an Exception, which math-verify and SymPy catch as an answer that they cannot read."""


@contextmanager
def _time_limit() -> Iterator[None]:
    """Raise `_OutOfTime` after TIME_LIMIT seconds of CPU time, where Python handles signals."""
    if not _has_signals():
        yield
        return

    def stop(*_: Any) -> NoReturn:
        raise _OutOfTime

    previous = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, TIME_LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous)


def _has_signals() -> bool:
    return os.name == "posix" and threading.current_thread() is threading.main_thread()


def _call_math_verify(
    function: Callable[..., Any], *arguments: Any, **no_limit: int
) -> tuple[Any, bool]:
    """Return the result of a function of math-verify, and whether it ran into the time limit.

    The result is None if the function fails. Its own limit is switched off, because versions
    before 0.6.1 do not say that they ran into it.
    """
    try:
        with _time_limit():
            return function(*arguments, **no_limit), False
    except _OutOfTime:
        return None, True
    except Exception:  # it cannot read or compare the answer
        return None, False


# To read an answer takes most of the time of a check. Questions may share texts and references.
@lru_cache(maxsize=1 << 13)
def _parse_math(text: str) -> tuple[list[Any] | None, bool]:
    """Return the answers that math-verify finds in a text, and whether it ran out of time."""
    parse = math_verify_library().parse
    return _call_math_verify(parse, _as_math(text), parsing_timeout=0)


def _parse_reference(reference: str) -> list[Any]:
    return _parse_math(reference.strip())[0] or []


def _as_math(text: str) -> str:
    """Put a bare expression between dollars: math-verify reads 3\\sqrt{2} without them as 3."""
    marked = re.search(r"(?<!\\)\$|\\boxed|\\\(|\\\[", text)
    words = re.search(r"(?<![\\a-zA-Z{])[a-zA-Z]{2,}", text)
    return text if marked or words or not text else f"${text}$"


TIME_LIMIT = 5
"""The seconds of CPU time that math-verify may take to read an answer, and to compare two."""

LONGEST_CHECK = 20
"""The seconds after which the process of a check is ended. Some expressions ignore TIME_LIMIT."""
