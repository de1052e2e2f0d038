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
from collections.abc import Callable, Iterator, Sequence
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
from .numbers import answer_part, equal_forms, number_form, read_reference, read_response
from .rows import Rows, sample_place

NAMES = ("exact_match", "numeric", "choice", "math_verify", "python_tests")

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


def match_numbers(rows: Rows, stop: Sequence[str] = ()) -> tuple[np.ndarray, pa.ChunkedArray]:
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
    distinct, numbers = _as_forms(values, lambda sample: _number_of_sample(sample, stop))
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


def match_choices(rows: Rows, stop: Sequence[str] = ()) -> tuple[np.ndarray, pa.ChunkedArray]:
    """Compare the option that each sample chooses with the correct ones of its question.

    Returns:
        (S,) whether it is one of them, and (S,) its letter, or None if there is none.

    Raises:
        ValueError: if a reference is no choice, with its index, or if samples are no texts.
    """
    values, read = rows.values, _part_of_package("choice").read_choice
    if pa.types.is_null(values.type):
        return np.zeros(len(values), dtype=bool), values
    if sample_kind(values) != "texts":
        raise InputError("choice compares texts, and some predictions are none.")
    options = []
    for question, reference in enumerate(to_python(rows.references)):
        references = reference if isinstance(reference, list) else [reference]
        accepted = [*map(_part_of_package("choice").read_options, references)]
        if not accepted or None in accepted:
            what = (
                f" is {short(reference)}, but choice compares with a letter, yes or no, or with "
                f'{{"answer": "B", "options": [..]}}'
            )
            raise InputError(Place("references", question), what, ".")
        options.append(accepted)
    samples, index = to_python(values), np.repeat(np.arange(len(options)), rows.sizes)
    known: dict[Any, str | None] = {}
    letters, correct = [], np.zeros(len(samples), dtype=bool)
    for sample, question in enumerate(index.tolist()):
        text, accepted = samples[sample], options[question]
        key = (text, accepted[0].letters, accepted[0].texts)
        if key not in known:
            known[key] = None if text is None else read(text, accepted[0], stop)
        letters.append(known[key])
        correct[sample] = known[key] in {option.correct for option in accepted}
    return correct, pa.chunked_array([pa.array(letters, TEXTS)])


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


def _number_of_sample(sample: str | int | float, stop: Sequence[str] = ()) -> str | None:
    if isinstance(sample, str):
        return read_response(sample, stop)
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
    return _part_of_package("python_tests").python_tests()


def _part_of_package(checker: str) -> Any:
    """Import a module of checkers, which the package has and a metric of a Hub has not.

    Raises:
        ImportError: if the package is not installed.
    """
    try:
        import_module("at_k.checkers")  # without the package, this fails
        return import_module(f"at_k.checkers.{checker}")
    except ModuleNotFoundError as error:
        raise ImportError(
            f"check_correct_fn='{checker}' needs the package evaluate-at-k, which a metric of "
            f'the Hub does not bring: pip install "evaluate-at-k @ '
            f'git+https://github.com/evaluate-at-k/evaluate-at-k".'
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


def verify_math(
    prediction: Any, reference: Any, stop: Sequence[str] = ()
) -> tuple[int, str | None]:
    """Compare the answers in a prediction with the reference, or with each of a list.

    Thinking and a prompt that follows are left out, see `answer_part`. Where the reference is one
    value, the last box of several is the answer.

    Returns:
        1 if math-verify finds them equal, 0 if not, and TIMED_OUT if it found no equal one and ran
        into its time limit; and the first answer in a normal form, or None if there is none.
    """
    library = math_verify_library()
    text = answer_part(str(prediction), stop, _has_marked_answer).strip()
    references = [*map(str, reference if isinstance(reference, list) else [reference])]
    if text.count("\\boxed") > 1 and not any(map(_is_collection, references)):
        text = _last_box(text)
    answers, timed_out = _parse_math(text)
    first = _normal_form(answers[0], text) if answers else None
    if text in (accepted.strip() for accepted in references):
        return 1, first
    for accepted in references:
        for expected, answer in itertools.product(_parse_reference(accepted), answers or []):
            if _is_sequence_with_dots(accepted) or _is_sequence_with_dots(text):
                continue  # equal only as texts
            if (tiny := _are_tiny_and_equal(expected, answer)) is not None:
                if tiny:
                    return 1, first
                continue
            equal, late = _call_math_verify(library.verify, expected, answer, timeout_seconds=0)
            if equal:
                return 1, first
            timed_out |= late
    return TIMED_OUT if timed_out else 0, first


def _has_marked_answer(text: str) -> bool:
    return "boxed" in text or "$" in text or re.search(r"answer|=\s*\S+\s*$", text) is not None


def _is_collection(reference: str) -> bool:
    """Whether a reference has several values: a list, a set, a pair, or values with "and"."""
    text = re.sub(r"\d,\d{3}(?!\d)|[(\[][^()\[\]]*[)\]]", "", reference)
    return bool(re.search(r",|;|\\boxed.*\\boxed|\band\b|\bor\b|\\(?:pm|cup|lor|in)\b", text))


def _last_box(text: str) -> str:
    """Return the last box of a text, with its content in balanced braces."""
    start = text.rfind("\\boxed")
    depth = 0
    for index in range(start, len(text)):
        depth += (text[index] == "{") - (text[index] == "}")
        if depth == 0 and text[index] == "}":
            return f"${text[start : index + 1]}$"
    return text[start:]


def _is_sequence_with_dots(text: str) -> bool:
    return bool(re.search(r"\\[lcd]?dots\b|,\s*\.\.\.|…", text)) and "," in text


_TINY = 1e-12


def _are_tiny_and_equal(expected: Any, answer: Any) -> bool | None:
    """Whether two numbers near 0 are equal up to rounding; None if one of them is not near 0.

    math-verify compares them with an absolute tolerance, in which all of them are equal.
    """
    try:
        a, b = float(expected), float(answer)
    except (TypeError, ValueError, AttributeError, OverflowError):
        return None
    if not (0 < abs(a) < _TINY or 0 < abs(b) < _TINY):
        return None
    return math.isclose(a, b, rel_tol=1e-6)


def _normal_form(answer: Any, text: str) -> str:
    """Return an answer as SymPy writes it, or the text that it was read from."""
    try:
        return str(_with_simple_roots(answer))
    except Exception:  # Python does not write integers of many thousands of digits
        return text


def _with_simple_roots(answer: Any) -> Any:
    """Return an expression with its roots of integers simplified, as 2 sqrt(3) for sqrt(12).

    Nothing else is evaluated, because 9^(9^9) would not end.
    """
    parts = getattr(answer, "args", ())
    simple = [_with_simple_roots(part) for part in parts]
    if getattr(answer, "is_Pow", False):
        base, exponent = simple
        is_root = exponent.is_Rational and not exponent.is_Integer and abs(exponent) < 1
        if base.is_Integer and is_root and abs(base) < _LARGEST_RADICAND:
            return answer.func(base, exponent)
    return answer.func(*simple) if simple != list(parts) else answer


_LARGEST_RADICAND = 10**9


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
    if not text or re.search(r"(?<!\\)\$|\\boxed|\\\(|\\\[", text):
        return text
    if re.fullmatch(r"[\d\s.()+*/^a-zA-Z-]+", text):  # as in Python: pi/2, -2*pi, e^16 - 1
        names = re.findall(r"[a-zA-Z]+", text)
        if all(name in _PLAIN_NAMES or len(name) == 1 for name in names):
            text = re.sub(r"\b(pi|sqrt|sin|cos|tan|log|ln|exp)\b", r"\\\1 ", text)
            text = re.sub(r"\\sqrt \(([^()]*)\)", r"\\sqrt{\1}", text)
            text = re.sub(r"\^(?:\(([^()]*)\)|(-?\w+))", r"^{\1\2}", text.replace("**", "^"))
            text = re.sub(r"(?<=\d)[eE](-?\d+)\b", r" \\cdot 10^{\1}", text)
            text = text.replace("*", " \\cdot ")
            return f"${text}$"
    words = re.search(r"(?<![\\a-zA-Z{])[a-zA-Z]{2,}", text)
    return text if words else f"${text}$"


_PLAIN_NAMES = frozenset({"pi", "sqrt", "sin", "cos", "tan", "log", "ln", "exp"})


TIME_LIMIT = 5
"""The seconds of CPU time that math-verify may take to read an answer, and to compare two."""

LONGEST_CHECK = 20
"""The seconds after which the process of a check is ended. Some expressions ignore TIME_LIMIT."""
