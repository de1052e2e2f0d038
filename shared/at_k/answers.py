"""Named judges: an answer is read out of each text, and answers are compared."""

from __future__ import annotations

import itertools
import logging
import re
import threading
from collections.abc import Callable
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .columns import distinct_entries, is_number, is_text, to_numpy, to_python

NAMES = ("exact_match", "numeric", "math_verify")


def match(
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
    if read is _as_text and is_text(references.type) and not references.null_count:
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
        right |= to_numpy(pc.equal(values, accepted.take(index)).fill_null(False))
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
    distinct, index = distinct_entries(values)
    answers = [None if entry is None else read(entry) for entry in distinct]
    return pa.chunked_array([pa.array(answers, pa.large_string()).take(pa.array(index))])


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


def math_verify(prediction: str, reference: str | int | float | list[Any]) -> bool:
    """Whether math-verify finds the prediction equal to (one of) the references."""
    library = math_verify_library()
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
    parsed = math_verify_library().parse(text, parsing_timeout=_math_verify_timeout())
    if not parsed:
        raise ValueError(f"math-verify can read no answer in the reference {reference!r}")
    return parsed


def _math_verify_timeout() -> int | None:
    """math-verify's own 5 s, which it can only keep in a main thread."""
    return 5 if threading.current_thread() is threading.main_thread() else None
