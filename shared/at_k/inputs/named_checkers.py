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
from .rows import place

NAMES = ("exact_match", "numeric", "math_verify")

_FALSE = from_numpy(np.zeros(1, dtype=bool))[0]  # from Python's False, Arrow imports pandas
_SAMPLES_AT_ONCE = 1 << 14  # bounds the memory of a comparison


def match(
    values: pa.ChunkedArray, references: pa.ChunkedArray, sizes: np.ndarray, checker: str
) -> np.ndarray:
    """Check samples with "exact_match" or "numeric".

    Samples are compared in Arrow, without a Python object for each text.

    Args:
        values: (S,) samples of all questions, question after question.
        references: (M,) an answer, or a list of acceptable answers, for each question.
        sizes: (M,) number of samples of each question.
        checker: "exact_match" or "numeric".

    Returns:
        (S,) bool: whether the sample equals one of the acceptable answers.

    Raises:
        ValueError: if samples or references cannot be compared, with the place.
    """
    if pa.types.is_null(values.type):
        return np.zeros(len(values), dtype=bool)
    compares_texts = is_text(values.type)
    if not (compares_texts or is_number(values.type)) or (
        checker == "numeric" and pa.types.is_boolean(values.type)
    ):
        raise ValueError(
            f"{checker} compares texts or numbers, and some predictions are neither: give a "
            f"function as check_correct_fn."
        )
    if checker == "numeric":
        expected = "numeric compares the last number of a text with a number"
        answers, counts = _acceptable_answers(references, last_number, expected)
        accepted = pa.array(answers, pa.large_string())
        values = _map_distinct(values, last_number)
    elif not compares_texts:
        values = _comparable_numbers(values, sizes)
        expected = "exact_match compares numbers, as the predictions are, with a number"
        answers, counts = _acceptable_answers(references, _as_number, expected)
        if values.type == pa.int64():  # it equals no fraction, and no integer beyond 64 bits
            accepted = pa.array([x if isinstance(x, int) else None for x in answers], pa.int64())
        else:
            accepted = pa.array([float(x) for x in answers], values.type)
    elif is_text(references.type) and not references.null_count:
        accepted, counts = one_chunk(references), np.ones(len(references), dtype=np.int64)
    else:
        expected = "exact_match compares texts with a text (for numbers there is numeric)"
        answers, counts = _acceptable_answers(references, _as_text, expected)
        accepted = pa.array(answers, pa.large_string())
    return _equals_any(values, accepted.cast(values.type), counts, sizes)


def _equals_any(
    values: pa.ChunkedArray, accepted: pa.Array, counts: np.ndarray, sizes: np.ndarray
) -> np.ndarray:
    """Return (S,) whether each sample equals an acceptable answer of its question.

    Args:
        values: (S,) samples.
        accepted: (A,) acceptable answers of all questions, question after question.
        counts: (M,) number of acceptable answers of each question.
        sizes: (M,) number of samples of each question.
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


def read_answers(values: pa.ChunkedArray, checker: Any) -> np.ndarray:
    """Return (S,) a code of each sample's answer, or -1 if it has none: equal for equal answers.

    "numeric" and "math_verify" read the answer out of the text. For "exact_match" and functions
    the whole sample is the answer.
    """
    if checker == "numeric":
        values = _map_distinct(values, last_number)
    elif checker == "math_verify":
        values = _map_distinct(values, _math_answer)
    elif pa.types.is_floating(values.type):
        values = pc.add(values, pa.scalar(0.0, values.type))  # so that -0.0 equals 0.0
    return distinct_entries(values)[1]


def _map_distinct(values: pa.ChunkedArray, read: Callable[[Any], str | None]) -> pa.ChunkedArray:
    """Return `read` of each entry, called once for each distinct entry."""
    distinct, code = distinct_entries(values)
    answers = pa.array([read(entry) for entry in distinct.to_pylist()], pa.large_string())
    return pa.chunked_array([answers.take(from_numpy(code, code < 0))])


def _acceptable_answers(
    references: pa.ChunkedArray, read: Callable[[Any], Any], expected: str
) -> tuple[list[Any], np.ndarray]:
    """Read the acceptable answers of all questions.

    Args:
        references: (M,) an answer, or a list of acceptable answers, for each question.
        read: returns an answer in the form to compare, or None if it is not valid.
        expected: what a valid answer is, for the message.

    Returns:
        The answers, question after question, and (M,) the number of answers of each question.
    """
    rows = []
    for question, reference in enumerate(to_python(references)):
        row = [read(each) for each in (reference if isinstance(reference, list) else [reference])]
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


def _comparable_numbers(values: pa.ChunkedArray, sizes: np.ndarray) -> pa.ChunkedArray:
    """Return bools and integers as integers of 64 bits, and floats as floats without nan."""
    if not pa.types.is_floating(values.type):
        return values.cast(pa.int64())
    if values.type == pa.float16():
        values = values.cast(pa.float32())
    if pc.any(pc.is_nan(values)).as_py():
        where = place("predictions", sizes, pc.index(pc.is_nan(values), True).as_py())
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
    found = _NUMBER.findall(_LATEX_COMMA.sub(",", text) if isinstance(text, str) else repr(text))
    if not found:
        return None
    try:
        number = Decimal(found[-1].translate(_NOT_IN_NUMBERS))
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


def check_references(references: list[Any]) -> None:
    """Raise a ValueError for a reference in which math-verify finds no answer."""
    for question, reference in enumerate(references):
        for each in reference if isinstance(reference, list) else [reference]:
            if not _parse_reference(str(each) if isinstance(each, (str, int, float)) else ""):
                raise ValueError(
                    f"references[{question}] is {short(reference)}, in which math-verify finds no "
                    f"answer."
                )


TIMED_OUT = 2  # a result of `math_verify`


def math_verify(prediction: Any, reference: Any) -> int:
    """Compare a prediction with the reference, or with each of a list.

    Returns:
        1 if math-verify finds them equal, 0 if not, and TIMED_OUT if it found no equal one and ran
        into its time limit.
    """
    library, text = math_verify_library(), str(prediction).strip()
    references = [str(each) for each in (reference if isinstance(reference, list) else [reference])]
    if text in (each.strip() for each in references):
        return 1
    answers, timed_out = _parse_math(text)
    for each in references:
        for expected, answer in itertools.product(_parse_reference(each), answers or []):
            equal, late = _call_math_verify(
                library.verify, expected, answer, timeout_seconds=_time_limit()
            )
            if equal:
                return 1
            timed_out |= late
    return TIMED_OUT if timed_out else 0


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


# To read an answer takes most of the time of a check. Votes need the answers again.
@lru_cache(maxsize=1 << 13)
def _parse_math(text: str) -> tuple[list[Any] | None, bool]:
    """Return the answers that math-verify finds in a text, and whether it ran out of time."""
    parse = math_verify_library().parse
    return _call_math_verify(parse, _as_math(text), parsing_timeout=_time_limit())


def _math_answer(text: Any) -> str | None:
    """Return the answer that math-verify finds in a text, in a normal form, or None."""
    found, _ = _parse_math(str(text).strip())
    return str(found[0]) if found else None


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
