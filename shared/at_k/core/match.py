"""The checker exact_match, and functions for other checkers that compare answers with references.

Texts and numbers are compared in Arrow, without a Python object for each. There are S samples of M
questions.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .checks import InputError, InPython, Place, short
from .columns import JSON, TEXTS, distinct_entries, from_numpy, one_chunk, sample_kind, to_python
from .containers import to_numpy
from .samples import Samples, sample_place

# `pa.array` and `pa.scalar` import pandas, if it is installed, which takes 0.2 s.
_FALSE = from_numpy(np.zeros(1, dtype=bool))[0]
_ALL_DIGITS = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
_SAMPLES_AT_ONCE = 1 << 14  # so many are compared at once, to bound memory


def match_exactly(samples: Samples) -> np.ndarray:
    """Return whether each sample equals an acceptable answer to its question, (S,).

    An integer reference equals its decimal text. Raises a ValueError if the samples are neither all
    texts nor all numbers, if one is nan, or if a reference cannot be compared with them.
    """
    values, references = samples.values, samples.references
    kind = sample_kind(values)
    if kind is None:
        return np.zeros(len(values), dtype=bool)
    if kind == "numbers":
        expected = "exact_match compares numbers, as the predictions are, with a number"
        answers, counts = acceptable_answers(references, _number_form, expected)
        values, accepted = _forms_of_numbers(samples), pa.array(answers, TEXTS)
    elif kind != "texts":
        raise no_texts_or_numbers("exact_match")
    elif references.type == TEXTS and not references.null_count and values.type == TEXTS:
        accepted, counts = one_chunk(references), np.ones(len(references), dtype=np.int64)
    else:
        expected = (
            "exact_match compares texts with a text (for numbers there is numeric, for programs "
            "with tests python_tests)"
        )
        answers, counts = acceptable_answers(references, _as_text, expected)
        if values.type == JSON or not all(map(_is_unicode, answers)):
            _, values = read_distinct(values, json.dumps)
            answers = [*map(json.dumps, answers)]
        accepted = pa.array(answers, TEXTS)
    return equals_any(values, accepted.cast(values.type), counts, samples.sizes)


def no_texts_or_numbers(checker: str) -> ValueError:
    """Return the error to raise for predictions that are neither all texts nor all numbers."""
    what = f"{checker} compares texts or numbers, and some predictions are neither"
    return InputError(what, InPython(": give a function as check_correct_fn"), ".")


def equals_any(
    values: pa.ChunkedArray, accepted: pa.Array, counts: np.ndarray, sizes: np.ndarray
) -> np.ndarray:
    """Return whether each sample equals an accepted answer to its question, (S,).

    Args:
        values: (S,) samples, question after question.
        accepted: the accepted answers, question after question, of the same Arrow type as `values`.
        counts: (M,) number of accepted answers to each question, at least one.
        sizes: (M,) number of samples of each question.
    """
    first = np.cumsum(counts) - counts
    starts = np.cumsum(sizes) - sizes
    correct = np.zeros(len(values), dtype=bool)
    step = max(1, _SAMPLES_AT_ONCE * len(sizes) // len(values))
    for start in range(0, len(sizes), step):
        block = slice(start, start + step)  # of questions
        samples = slice(starts[start], starts[block][-1] + sizes[block][-1])
        for choice in range(counts[block].max()):
            # Questions with fewer answers compare their last one again.
            index = first[block] + np.minimum(choice, counts[block] - 1)
            answers = accepted.take(from_numpy(np.repeat(index, sizes[block])))
            correct[samples] |= to_numpy(pc.equal(values[samples], answers).fill_null(_FALSE))
    return correct


def acceptable_answers(
    references: pa.ChunkedArray, read: Callable[[Any], Any], expected: str
) -> tuple[list[Any], np.ndarray]:
    """Return the acceptable answers to all questions in one list, and how many each has, (M,).

    Args:
        references: (M,) an answer, or a list of acceptable answers, for each question.
        read: a function that returns an answer in the form to compare, or None if it is invalid.
        expected: the part of the message that says what a valid answer is.

    Raises:
        ValueError: if a question has no answer, or one that is not valid.
    """
    answers = []
    for question, reference in enumerate(to_python(references)):
        forms = [*map(read, reference if isinstance(reference, list) else [reference])]
        if not forms or None in forms:
            raise InputError(
                Place("references", question),
                f" is {short(reference)}, but {expected}. Give that, or a list of acceptable ones",
                InPython(", or a function as check_correct_fn"),
                ".",
            )
        answers.append(forms)
    return list(itertools.chain.from_iterable(answers)), np.array([*map(len, answers)])


def _as_text(answer) -> str | None:
    """Return a text unchanged and an integer as its decimal text; None for any other value."""
    is_integer = isinstance(answer, int) and not isinstance(answer, bool)
    return str(answer) if is_integer or isinstance(answer, str) else None


def _is_unicode(text: str) -> bool:
    """Return whether UTF-8 can encode a text. It cannot encode half of a surrogate pair."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _number_form(answer) -> str | None:
    """Return `exact_form` of a number or bool, or None for any other value."""
    return exact_form(answer) if isinstance(answer, (int, float)) else None


def _forms_of_numbers(samples: Samples) -> pa.ChunkedArray:
    """Return a column with `exact_form` of each sample or null; raise a ValueError for a nan."""
    forms, values = read_distinct(samples.values, exact_form)
    if "nan" in forms:
        index = pc.index(values, "nan").as_py()
        place = sample_place("predictions", samples.sizes, index)
        raise InputError(place, " is nan, which equals nothing: give None if it is unscored.")
    return values


def exact_form(number: int | float) -> str:
    """Return the normal form of a number, a text. Equal numbers have equal forms, as 1 and True."""
    if isinstance(number, int):
        return decimal_form(Decimal(int(number)))
    return decimal_form(Decimal(repr(number))) if math.isfinite(number) else str(number)


def decimal_form(number: Decimal) -> str:
    """Return the normal form of a decimal, a text with all its digits. Equal numbers share it."""
    return f"{number.normalize(_ALL_DIGITS) if number else Decimal(0)}"


def read_distinct(
    values: pa.ChunkedArray, form: Callable[[Any], str | None]
) -> tuple[list[str | None], pa.ChunkedArray]:
    """Return a list of the forms of the distinct values, and a column with the form of each value.

    `form` is called once for each distinct value that is not null, and returns its form or None.
    The column is null where the value is null or has no form.
    """
    distinct, code = distinct_entries(values)
    forms = [form(entry) for entry in to_python(distinct)]
    samples = pa.array(forms, TEXTS).take(from_numpy(code, code >= 0))
    return forms, pa.chunked_array([samples])
