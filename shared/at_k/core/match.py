"""The checker exact_match, and functions for other checkers that compare answers with references.

Texts and numbers are compared in Arrow, without a Python object for each. There are S samples of M
questions.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .checks import InputError, InPython, Place, short
from .columns import JSON, TEXTS, distinct_entries, one_chunk, sample_kind, to_python
from .containers import to_numpy
from .samples import Samples, sample_place

_SAMPLES_AT_ONCE = 1 << 16  # so many are compared at once, to bound memory


def match_exactly(samples: Samples) -> np.ndarray:
    """Return whether each sample equals an acceptable answer to its question, (S,).

    An integer reference equals its decimal text. A ValueError is raised unless samples and
    references are texts or numbers.
    """
    values, references = samples.values, samples.references
    if values.type == references.type == TEXTS and not references.null_count:
        counts = np.ones(len(references), dtype=np.int64)
        return equals_any(values, one_chunk(references), counts, samples.sizes)
    kind = sample_kind(samples)
    if kind is None:
        return np.zeros(len(values), dtype=bool)
    if kind == "other values":
        raise no_texts_or_numbers("exact_match")
    read: Callable[[Any], Any] = _as_number
    expected = "numbers, as the predictions are, with a number"
    if kind == "texts":
        read = _as_text
        expected = "texts with a text (for numbers there is numeric)"
    answers, counts = acceptable_answers(references, read, f"exact_match compares {expected}")
    if values.type == JSON or any(map(re.compile("[\ud800-\udfff]").search, answers)):
        # Arrow cannot compare numbers of different types, nor hold half of a surrogate pair.
        code_of: dict[Any, str] = {}
        _, values = read_distinct(values, lambda x: code_of.setdefault(x, str(len(code_of))))
        for value, code in code_of.items():
            if value != value:
                place = sample_place("predictions", samples.sizes, pc.index(values, code).as_py())
                what = " is nan, which equals nothing: give None if it is unscored."
                raise InputError(place, what)
        answers = [*map(code_of.get, answers)]
    return equals_any(values, pa.array(answers, TEXTS), counts, samples.sizes)


def no_texts_or_numbers(checker: str) -> ValueError:
    """Return the error to raise for predictions that are neither all texts nor all numbers."""
    what = f"{checker} compares texts or numbers, and some predictions are neither"
    return InputError(what, InPython(": give a function as check_correct_fn"), ".")


def equals_any(
    values: pa.ChunkedArray, accepted: pa.Array, counts: np.ndarray, sizes: np.ndarray
) -> np.ndarray:
    """Return whether each of the values, (S,), equals an accepted answer to its question, (S,).

    Each question has `sizes`, (M,), values and `counts`, (M,), answers. All have one Arrow type.
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
            answers = accepted.take(pa.array(np.repeat(index, sizes[block])))
            correct[samples] |= to_numpy(pc.equal(values[samples], answers).fill_null(False))
    return correct


def acceptable_answers(
    references: pa.ChunkedArray, read: Callable[[Any], Any], expected: str
) -> tuple[list[Any], np.ndarray]:
    """Return the acceptable answers to all questions in one list, and how many each has, (M,).

    A reference is an answer or a list of acceptable ones. `read` returns an answer in the form to
    compare, or None for a ValueError, whose message says that this is `expected`.
    """
    answers = []
    for question, reference in enumerate(to_python(references)):
        forms = [*map(read, as_answers(reference))]
        if not forms or None in forms:
            raise InputError(
                Place("references", question),
                f" is {short(reference)}, but {expected}. Give that, or a list of acceptable ones",
                InPython(", or 'python_tests' or a function as check_correct_fn"),
                ".",
            )
        answers.append(forms)
    return list(itertools.chain.from_iterable(answers)), np.array([*map(len, answers)])


def as_answers(reference: Any) -> list[Any]:
    """Return the acceptable answers of a reference, which is one of them or a list of them."""
    return reference if isinstance(reference, list) else [reference]


def _as_text(answer) -> str | None:
    """Return a text unchanged and an integer as its decimal text; None for any other value."""
    is_integer = isinstance(answer, int) and not isinstance(answer, bool)
    return str(answer) if is_integer or isinstance(answer, str) else None


def _as_number(answer) -> int | float | None:
    """Return a number or bool unchanged; None for any other value."""
    return answer if isinstance(answer, (int, float)) else None


def read_distinct(
    values: pa.ChunkedArray, form: Callable[[Any], str | None]
) -> tuple[list[str | None], pa.ChunkedArray]:
    """Return a list of the forms of the distinct values, and a column with the form of each value.

    `form` is called once for each distinct value. The column is null where it returns None.
    """
    distinct, code = distinct_entries(values)
    forms = [form(entry) for entry in to_python(distinct)]
    # A null has the code -1, and stays null.
    samples = pa.array(forms, TEXTS).take(pa.array(code, mask=code < 0))
    return forms, pa.chunked_array([samples])
