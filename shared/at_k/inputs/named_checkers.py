"""Named judges: an answer is read out of each text, and answers are compared."""

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
from .columns import distinct_entries, is_number, is_text, one_chunk, to_numpy, to_python
from .outcomes import place

NAMES = ("exact_match", "numeric", "math_verify")

_SAMPLES_AT_ONCE = 1 << 14  # samples compared at once, which bounds the memory


def match(
    values: pa.ChunkedArray, references: pa.ChunkedArray, sizes: np.ndarray, check: str
) -> np.ndarray:
    """Whether each sample's answer is one of its question's acceptable answers.

    Compared in Arrow: no text enters a loop of Python.
    """
    text, number = is_text(values.type), is_number(values.type)
    if pa.types.is_null(values.type):
        return np.zeros(len(values), dtype=bool)
    if not (text or number) or (check == "numeric" and pa.types.is_boolean(values.type)):
        raise ValueError(
            f"{check} compares texts or numbers, and some predictions are neither: give a function "
            f"as check_correct_fn."
        )
    if check == "numeric":
        accepted, counts = _acceptable_answers(references, last_number, pa.large_string())
        values = _read_each(values, last_number)
    elif text:
        accepted, counts = _acceptable_answers(references, _as_text, pa.large_string())
    else:
        values = _comparable_numbers(values, sizes)
        accepted, counts = _acceptable_answers(references, _as_number, values.type)
    values, accepted = one_chunk(values), accepted.cast(values.type)
    first = np.cumsum(counts) - counts
    starts = np.cumsum(sizes) - sizes
    right = np.zeros(len(values), dtype=bool)
    # A block at a time, for which the acceptable answers are repeated beside the samples.
    step = max(1, _SAMPLES_AT_ONCE * len(sizes) // len(values))
    for start in range(0, len(sizes), step):
        block = slice(start, start + step)
        samples = slice(starts[start], starts[block][-1] + sizes[block][-1])
        for choice in range(counts[block].max()):
            # Where there are no more, the last one does no harm again.
            index = first[block] + np.minimum(choice, counts[block] - 1)
            wanted = accepted.take(pa.array(np.repeat(index, sizes[block])))
            right[samples] |= to_numpy(pc.equal(values[samples], wanted).fill_null(False))
    return right


def read_answers(values: pa.ChunkedArray, check) -> np.ndarray:
    """The code of each sample's answer, or -1 where there is none: equal for equal answers.

    A named judge reads the answer out of the text; for one's own the text is the answer.
    """
    if check == "numeric":
        values = _read_each(values, last_number)
    elif check == "math_verify":
        values = _read_each(values, _math_answer)
    elif pa.types.is_floating(values.type):
        values = pc.add(values, pa.scalar(0.0, values.type))  # so that -0.0 is 0.0
    return distinct_entries(values)[1]


def _comparable_numbers(values: pa.ChunkedArray, sizes: np.ndarray) -> pa.ChunkedArray:
    """Integers of 64 bits, or floats."""
    if not pa.types.is_floating(values.type):
        return values.cast(pa.int64())
    if values.type == pa.float16():
        values = values.cast(pa.float32())
    if pc.any(pc.is_nan(values)).as_py():
        where = place("predictions", sizes, pc.index(pc.is_nan(values), True).as_py())
        raise ValueError(f"{where} is nan, which equals nothing: give None if it is unscored.")
    return values


def _acceptable_answers(
    references: pa.ChunkedArray, read: Callable[[Any], Any], kind: pa.DataType
) -> tuple[pa.Array, np.ndarray]:
    """All acceptable answers, question after question, and how many each question has."""
    if read is _as_text and is_text(references.type) and not references.null_count:
        return references.combine_chunks().cast(kind), np.ones(len(references), dtype=np.int64)
    rows = []
    for question, reference in enumerate(to_python(references)):
        row = [read(each) for each in (reference if isinstance(reference, list) else [reference])]
        if not row or None in row:
            raise ValueError(
                f"references[{question}] is {short(reference)}, but {_COMPARES[read]}. Give that, "
                f"a list of acceptable ones, or a function as check_correct_fn."
            )
        rows.append(row)
    flat = list(itertools.chain.from_iterable(rows))
    if kind == pa.int64():  # which a number with a fraction, or beyond 64 bits, is none of
        flat = [each if isinstance(each, int) else None for each in flat]
    elif read is _as_number:
        flat = [float(each) for each in flat]
    return pa.array(flat, kind), np.array([len(row) for row in rows])


def _as_text(answer) -> str | None:
    """Texts as they are, and whole numbers as they are written."""
    whole = isinstance(answer, int) and not isinstance(answer, bool)
    return str(answer) if whole or isinstance(answer, str) else None


def _as_number(answer) -> int | float | None:
    """Numbers, as integers where they are integers of 64 bits."""
    if not isinstance(answer, (int, float)):
        return None
    if -(2.0**63) <= answer < 2**63 and answer == int(answer):
        return int(answer)
    return answer if isinstance(answer, float) else math.inf if answer > 0 else -math.inf


_NUMBER = re.compile(
    r"(?:(?<![\w.)\]}])[-+\u2212\u2013])?"  # a sign, unless it stands between two terms
    r"(?:\\?[$\u20ac\u00a3])?"  # a currency
    r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+|(?<!\d)(?=\.\d))"  # 1,000 or 1000, or nothing before .5
    r"(?:\.\d+)?(?:[eE][-+]?\d+)?"
)
_LATEX_COMMA = re.compile(r"(?<=\d)(?:\{,\}|\\[,!])(?=\d{3})")  # 12{,}345 and 12\,345
_NOT_IN_NUMBERS = str.maketrans({"\u2212": "-", "\u2013": "-"} | dict.fromkeys(",\\$\u20ac\u00a3"))
_ALL_DIGITS = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)


def last_number(text) -> str | None:
    """The last number in a text, written in one way whatever its form, or None.

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
    except InvalidOperation:  # an exponent beyond all reason
        return None
    return str(number.normalize(_ALL_DIGITS) if number else Decimal(0))


_COMPARES: dict[Callable[[Any], Any], str] = {
    _as_text: "exact_match compares texts with a text (for numbers there is numeric)",
    _as_number: "exact_match compares numbers, as the predictions are, with a number",
    last_number: "numeric compares the last number of a text with a number",
}


def _read_each(values: pa.ChunkedArray, read: Callable[[Any], str | None]) -> pa.ChunkedArray:
    """`read` of each entry, called once for each distinct one."""
    distinct, code = distinct_entries(values)
    answers = pa.array([read(entry) for entry in distinct.to_pylist()], pa.large_string())
    return pa.chunked_array([answers.take(pa.array(code, mask=code < 0))])


# --- math-verify ------------------------------------------------------------------------


def math_verify_library():
    try:
        import math_verify
    except ImportError as error:
        raise ImportError(
            "check_correct_fn='math_verify' needs the math-verify library: "
            "pip install 'evaluate-at-k[math]' or pip install math-verify."
        ) from error
    logging.getLogger("math_verify").setLevel(logging.ERROR)
    return math_verify


def check_references(references: list[Any]) -> None:
    """Raise a ValueError for a reference in which math-verify can read no answer."""
    for question, reference in enumerate(references):
        for each in reference if isinstance(reference, list) else [reference]:
            if not _parse_reference(str(each) if isinstance(each, (str, int, float)) else ""):
                raise ValueError(
                    f"references[{question}] is {short(reference)}, in which math-verify can "
                    f"read no answer."
                )


def math_verify(prediction: Any, reference: Any) -> bool:
    """Whether math-verify finds the prediction equal to the reference, or to one of a list."""
    library, limit = math_verify_library(), _time_limit()
    said = str(prediction).strip()
    answer = library.parse(_as_math(said), parsing_timeout=limit)
    return any(
        said == str(each).strip()
        or library.verify(_parse_reference(str(each)), answer, timeout_seconds=limit)
        for each in (reference if isinstance(reference, list) else [reference])
    )


def _math_answer(text: Any) -> str | None:
    """What math-verify reads out of a text, written in one way, or None."""
    library, limit = math_verify_library(), _time_limit()
    read = library.parse(_as_math(str(text).strip()), parsing_timeout=limit)
    return str(read[0]) if read else None


@lru_cache(maxsize=4096)
def _parse_reference(reference: str) -> list[Any]:
    library = math_verify_library()
    return library.parse(_as_math(reference.strip()), parsing_timeout=_time_limit())


def _as_math(text: str) -> str:
    """A bare expression between dollars: of 3\\sqrt{2} without them math-verify reads the 3."""
    marked = re.search(r"(?<!\\)\$|\\boxed|\\\(|\\\[", text)
    words = re.search(r"(?<![\\a-zA-Z{])[a-zA-Z]{2,}", text)
    return text if marked or words or not text else f"${text}$"


def _time_limit() -> int | None:
    """math-verify's own 5 s, which it can only keep in a main thread."""
    return 5 if threading.current_thread() is threading.main_thread() else None
