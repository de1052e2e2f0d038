"""The named checkers: each reads an answer out of a text and compares it with the reference."""

from __future__ import annotations

import itertools
import logging
import math
import re
import threading
from collections.abc import Callable
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal, InvalidOperation
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..checks import short
from .columns import (
    distinct_entries,
    from_numpy,
    is_number,
    is_text,
    one_chunk,
    to_python,
)
from .containers import to_numpy
from .rows import Rows, sample_name

NAMES = ("exact_match", "numeric", "math_verify", "python_tests")

# `pa.array` and `pa.scalar` import pandas, if it is installed, which takes 0.2 s.
_FALSE = from_numpy(np.zeros(1, dtype=bool))[0]
_SAMPLES_AT_ONCE = 1 << 14  # bounds the memory of a comparison


# --- Comparisons in Arrow, without a Python object for each text --------------------------


def match_exactly(rows: Rows) -> np.ndarray:
    """Return (S,) whether each sample equals an acceptable answer of its question.

    Raises:
        ValueError: if samples or references cannot be compared, with its index.
    """
    values, references = rows.values, rows.references
    if pa.types.is_null(values.type):
        return np.zeros(len(values), dtype=bool)
    if is_number(values.type):
        values = _comparable_numbers(rows)
        expected = "exact_match compares numbers, as the predictions are, with a number"
        answers, counts = _acceptable_answers(references, _as_number, expected)
        if values.type == pa.int64():  # it equals no fraction, and no integer beyond 64 bits
            accepted = pa.array([x if isinstance(x, int) else None for x in answers], pa.int64())
        else:
            accepted = pa.array([float(x) for x in answers], pa.float64())
    elif not is_text(values.type):
        raise _neither_texts_nor_numbers("exact_match")
    elif is_text(references.type) and not references.null_count:
        accepted, counts = one_chunk(references), np.ones(len(references), dtype=np.int64)
    else:
        expected = "exact_match compares texts with a text (for numbers there is numeric)"
        answers, counts = _acceptable_answers(references, _as_text, expected)
        accepted = pa.array(answers, pa.large_string())
    return _equals_any(values, accepted.cast(values.type), counts, rows.sizes)


def match_numbers(rows: Rows) -> tuple[np.ndarray, pa.ChunkedArray]:
    """Compare the last number of each sample with the acceptable numbers of its question.

    Returns:
        (S,) whether the number equals one of them, and (S,) the number, or None if there is none.

    Raises:
        ValueError: if samples or references cannot be compared, with its index.
    """
    values = rows.values
    if pa.types.is_null(values.type):
        return np.zeros(len(values), dtype=bool), values
    if pa.types.is_boolean(values.type) or not (is_text(values.type) or is_number(values.type)):
        raise _neither_texts_nor_numbers("numeric")
    expected = "numeric compares the last number of a text with a number"
    answers, counts = _acceptable_answers(rows.references, last_number, expected)
    accepted = pa.array(answers, pa.large_string())
    distinct, code = distinct_entries(values)
    read = pa.array([last_number(entry) for entry in distinct.to_pylist()], pa.large_string())
    numbers = pa.chunked_array([read.take(from_numpy(code, code < 0))])
    return _equals_any(numbers, accepted, counts, rows.sizes), numbers


def _neither_texts_nor_numbers(checker: str) -> ValueError:
    return ValueError(
        f"{checker} compares texts or numbers, and some predictions are neither: give a function "
        f"as check_correct_fn."
    )


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
            raise ValueError(
                f"references[{question}] is {short(reference)}, but {expected}. Give that, a list "
                f"of acceptable ones, or a function as check_correct_fn."
            )
        rows.append(row)
    return list(itertools.chain.from_iterable(rows)), np.array([len(row) for row in rows])


# --- Texts and numbers --------------------------------------------------------------------


def _as_text(answer) -> str | None:
    """Return a text as it is, and an integer as it is written."""
    is_integer = isinstance(answer, int) and not isinstance(answer, bool)
    return str(answer) if is_integer or isinstance(answer, str) else None


def _as_number(answer) -> int | float | None:
    """Return a number, as an int if it is an integer of 64 bits."""
    if not isinstance(answer, (int, float)):
        return None
    if -(2.0**63) <= answer < 2**63 and answer == int(answer):
        return int(answer)
    return answer if isinstance(answer, float) else math.inf if answer > 0 else -math.inf


def _comparable_numbers(rows: Rows) -> pa.ChunkedArray:
    """Return bools and integers as integers of 64 bits, and floats as floats without nan."""
    values = rows.values
    if not pa.types.is_floating(values.type):
        return values.cast(pa.int64())
    if values.type == pa.float16():
        values = values.cast(pa.float32())
    if pc.any(pc.is_nan(values)).as_py():
        where = sample_name("predictions", rows.sizes, pc.index(pc.is_nan(values), True).as_py())
        raise ValueError(f"{where} is nan, which equals nothing: give None if it is unscored.")
    return values


_NUMBER = re.compile(
    r"(?:(?<![\w.)\]}])[-+\u2212\u2013])?"  # a sign, unless it is an operator between two terms
    r"(?:\\?[$\u20ac\u00a3])?"  # a currency
    r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+|(?<!\d)(?=\.\d))"  # 1,000 or 1000, or nothing before .5
    r"(?:\.\d+)?(?:[eE][-+]?\d+)?"
)
_LATEX_COMMA = re.compile(r"(?<=\d)(?:\{,\}|\\[,!])(?=\d{3})")  # 12{,}345 and 12\,345
_NOT_IN_NUMBERS = str.maketrans({"\u2212": "-", "\u2013": "-"} | dict.fromkeys(",\\$\u20ac\u00a3"))
_ALL_DIGITS = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)


def last_number(text) -> str | None:
    """Return the last number in a text in a normal form, or None if there is none.

    >>> last_number("9 + 3 = 12."), last_number("so $1,200.50"), last_number(0.5), last_number("?")
    ('12', '1200.5', '0.5', None)
    """
    if isinstance(text, bool) or not isinstance(text, (str, int, float)):
        return None
    numbers = _NUMBER.findall(_LATEX_COMMA.sub(",", text) if isinstance(text, str) else repr(text))
    if not numbers:
        return None
    try:
        number = Decimal(numbers[-1].translate(_NOT_IN_NUMBERS))
    except InvalidOperation:  # the exponent is too large
        return None
    return str(number.normalize(_ALL_DIGITS) if number else Decimal(0))


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
                raise ValueError(
                    f"references[{question}] is {short(reference)}, in which math-verify finds no "
                    f"answer."
                )


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
            equal, late = _call_math_verify(
                library.verify, expected, answer, timeout_seconds=_time_limit()
            )
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


def _call_math_verify(
    function: Callable[..., Any], *arguments: Any, **limit: Any
) -> tuple[Any, bool]:
    """Return the result of a function of math-verify, and whether it ran into its time limit.

    The result is None if the function fails.
    """
    from math_verify.errors import TimeoutException

    try:
        return function(*arguments, **limit, raise_on_error=True), False
    except TimeoutException:
        return None, True
    except Exception:  # it cannot read or compare the answer
        return None, False


# To read an answer takes most of the time of a check. Questions may share texts and references.
@lru_cache(maxsize=1 << 13)
def _parse_math(text: str) -> tuple[list[Any] | None, bool]:
    """Return the answers that math-verify finds in a text, and whether it ran out of time."""
    parse = math_verify_library().parse
    return _call_math_verify(parse, _as_math(text), parsing_timeout=_time_limit())


def _parse_reference(reference: str) -> list[Any]:
    return _parse_math(reference.strip())[0] or []


def _as_math(text: str) -> str:
    """Put a bare expression between dollars: math-verify reads 3\\sqrt{2} without them as 3."""
    marked = re.search(r"(?<!\\)\$|\\boxed|\\\(|\\\[", text)
    words = re.search(r"(?<![\\a-zA-Z{])[a-zA-Z]{2,}", text)
    return text if marked or words or not text else f"${text}$"


TIME_LIMIT = 5
"""The seconds that math-verify may take to read an answer, and to compare two."""

LONGEST_CHECK = 20
"""The seconds after which the process of a check is ended. Some expressions ignore TIME_LIMIT."""


def _time_limit() -> int | None:
    """Return the time limit, which only works in a main thread."""
    return TIME_LIMIT if threading.current_thread() is threading.main_thread() else None
