"""Read answers out of responses and compare them with references: the named checkers.

Samples and references go in as Arrow arrays, and the outcomes and the answers of the S samples of
all questions come out.
"""

from __future__ import annotations

import itertools
import logging
import math
import os
import re
import signal
import threading
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache, partial
from inspect import signature
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa

from ..core.checking import (
    NOT_FINISHED,
    BatchResult,
    CheckCache,
    Checked,
    Checking,
    DistinctPairs,
    PairToCheck,
    outcomes_of_match,
)
from ..core.checks import InputError, Place, short
from ..core.columns import TEXTS, sample_kind, stored, to_python
from ..core.match import (
    acceptable_answers,
    as_answers,
    equals_any,
    no_texts_or_numbers,
    read_distinct,
)
from ..core.samples import Samples, read_samples
from .choices import read_choice, read_options
from .numbers import decimal_form, equal_forms, read_reference, read_response
from .python_tests import python_tests
from .responses import answer_part, boxed
from .workers import portable_check, run_check


@dataclass(frozen=True)
class NamedChecker:
    """A checker that reads an answer out of each response. A response ends at a text in `stop`.

    `run_options` has those of num_proc, executor and timeout that the user gave to the checker.
    """

    stop: tuple[str, ...]
    run_options: Mapping[str, Any] = field(default_factory=dict, hash=False, kw_only=True)

    def __call__(self, prediction: str, reference: Any) -> float:
        """Return 1.0 if a prediction is correct, else 0.0; raise ValueError for a bad reference."""
        alone = replace(self, run_options={})
        checked = Checking(alone).check(stored(read_samples([[prediction]]), [reference]))
        return float(checked.outcomes.values[0])


@dataclass(frozen=True)
class Matching(NamedChecker):
    """Compares the answer with the reference. Made by `numeric` or `choice`.

    Attributes:
        match: a function of samples that are not all None, and of `stop`. It returns two arrays,
            (S,): whether each sample is correct, and its answer, which is null if it has none.
    """

    match: Callable[..., Any]

    def validate(self, checking: Checking) -> None:
        """Do nothing: any options of a `Checking` are accepted, and change nothing here."""

    def check_samples(self, rows: Samples, checking: Checking, cache: CheckCache) -> Checked:
        """Return the outcome and the answer of each sample. `Checking.check` calls this."""
        if sample_kind(rows) is None:
            correct, answers = np.zeros(len(rows.values), dtype=bool), rows.values
        else:
            correct, answers = self.match(rows, self.stop)
        return Checked(outcomes_of_match(rows, correct), answers)


class MathVerify(NamedChecker):
    """Compares mathematical expressions with math-verify. Made by `math_verify`."""

    def validate(self, checking: Checking) -> None:
        """Raise an ImportError without math-verify, and a ValueError for an executor of threads."""
        math_verify_library()
        if isinstance(checking.executor, ThreadPoolExecutor):
            text = "executor runs threads, in which math_verify has no time limit"
            raise ValueError(f"{text}: give num_proc or an executor of processes.")

    def check_samples(self, rows: Samples, checking: Checking, cache: CheckCache) -> Checked:
        """Return the outcome and the answer of each sample. `Checking.check` calls this.

        Samples that run into the limit of math-verify are incorrect, and a warning counts them;
        those that exceed the timeout of `checking` are not scored. Raises as `check_references`.
        """
        check_references(rows.references)
        pairs = DistinctPairs.from_samples(rows)
        results = checking.results(pairs, cache, self._check_pairs)
        unfinished = (TIMED_OUT if checking.timeout is None else None, None)
        read = [unfinished if result is NOT_FINISHED else result[0] for result in results]
        if late := sum(grade == TIMED_OUT for grade, _ in read):
            text = f"{late} of {len(read)} distinct samples ran into the time limit of"
            text += f" {TIME_LIMIT} s of math-verify, and count as incorrect."
            warnings.warn(text, stacklevel=4)
        grades = [0 if grade == TIMED_OUT else grade for grade, _ in read]
        return Checked(
            pairs.outcomes(grades), _sample_answers(pairs, [answer for _, answer in read])
        )

    def _check_pairs(
        self, checking: Checking, pairs: list[PairToCheck]
    ) -> Generator[BatchResult, None, None]:
        """Check pairs with `verify_math`, and yield the results of each batch. See `CheckPairs`."""
        # Some expressions ignore the time limit of math-verify, so it runs where it can be ended.
        limit = checking.timeout or (LONGEST_CHECK if checking.executor is None else None)
        check = portable_check(partial(verify_math, stop=self.stop), None)
        return run_check(checking, check, pairs, checking.executor, limit)


def _sample_answers(pairs: DistinctPairs, answers: Sequence[str | None]) -> pa.ChunkedArray:
    """Return the code of each sample's answer, (S,), or null, from the answers of the pairs.

    Equal answers have equal codes, also in different questions.
    """
    codes: dict[str | None, int] = {None: -1}
    pair_codes = [codes.setdefault(answer, len(codes)) for answer in (*answers, None)]
    sample_codes = np.array(pair_codes)[pairs.index]
    return pa.chunked_array([pa.array(sample_codes, mask=sample_codes < 0)])


def numeric(
    stop: str | Sequence[str] = (),
    num_proc: int | None = None,
    executor: Executor | None = None,
    timeout: float | None = None,
) -> Matching:
    """Return the checker "numeric" with options.

    Args:
        stop: texts with which a response ends, such as the header of the next question. What
            follows is not read.
        num_proc, executor, timeout: as in `compute`. They change nothing here, because all samples
            are read at once in this process.

    Raises:
        ValueError, TypeError: if stop has anything but texts, or an option is invalid.

    Examples:
        >>> import at_k
        >>> checker = at_k.checkers.numeric(stop=["Exercise"])
        >>> at_k.load("gpassk").compute(
        ...     predictions=[["It is 7. Exercise 8"]], references=["7"], k=1, include="pass@k",
        ...     check_correct_fn=checker,
        ... )
        {'pass@1': 1.0}
    """
    return _with_options(Matching(_texts(stop), match_numbers), num_proc, executor, timeout)


def choice(
    stop: str | Sequence[str] = (),
    num_proc: int | None = None,
    executor: Executor | None = None,
    timeout: float | None = None,
) -> Matching:
    """Return the checker "choice" with the options of `numeric`."""
    return _with_options(Matching(_texts(stop), match_choices), num_proc, executor, timeout)


def math_verify(
    stop: str | Sequence[str] = (),
    num_proc: int | None = None,
    executor: Executor | None = None,
    timeout: float | None = None,
) -> MathVerify:
    """Return the checker "math_verify" with the options of `numeric`.

    Unlike in `numeric`, num_proc, executor and timeout have the effect that `compute` describes.
    """
    return _with_options(MathVerify(_texts(stop)), num_proc, executor, timeout)


def _with_options(
    checker: Any, num_proc: int | None, executor: Executor | None, timeout: float | None
) -> Any:
    """Return a copy of a checker with the options that are not None. Raises if one is invalid."""
    options = {"num_proc": num_proc, "executor": executor, "timeout": timeout}
    run_options = {name: value for name, value in options.items() if value is not None}
    checker = replace(checker, run_options=run_options)
    Checking(checker)  # validates
    return checker


def _texts(stop: str | Sequence[str]) -> tuple[str, ...]:
    """Return `stop` as a tuple of texts; raise a ValueError for an entry that is "" or no text."""
    texts = (stop,) if isinstance(stop, str) else tuple(stop)
    for text in texts:
        if not isinstance(text, str) or not text:
            raise ValueError(f"stop has {short(text)}: give texts with which a response ends.")
    return texts


def package_checker(checker: Any) -> Any:
    """Return the checker that has a name such as "numeric"; return any other value unchanged."""
    if not isinstance(checker, str):
        return checker
    makers: Any = (numeric, choice, math_verify, python_tests)
    return {maker.__name__: maker for maker in makers}[checker]()


# --- Comparisons in Arrow, without a Python object for each text --------------------------


def match_numbers(rows: Samples, stop: Sequence[str]) -> tuple[np.ndarray, pa.ChunkedArray]:
    """Return whether the number of each sample is acceptable, (S,), and the numbers, (S,).

    A number is in normal form, 0.5 for 50%, or null. Responses end at a text in `stop`. Raises a
    ValueError if the samples are neither texts nor numbers, or if a reference is not one number.
    """
    values = rows.values
    if sample_kind(rows) == "other values":
        raise no_texts_or_numbers("numeric")
    expected = (
        "numeric compares the number that a response gives with a reference that is one number, "
        "such as 12, -1,200.5, 3/4 or 50% (math_verify compares other expressions)"
    )
    answers, counts = acceptable_answers(rows.references, _number_of_reference, expected)
    distinct, numbers = read_distinct(values, lambda sample: _number_of_sample(sample, stop))
    if not any(number and "%" in number for number in (*answers, *distinct)):
        accepted = pa.array(answers, TEXTS)
        return equals_any(numbers, accepted, counts, rows.sizes), numbers
    forms = [*map(equal_forms, answers)]
    accepted = pa.array(itertools.chain.from_iterable(forms), TEXTS)
    per_answer = np.array([*map(len, forms)])
    per_question = np.add.reduceat(per_answer, np.cumsum(counts) - counts)
    correct = equals_any(numbers, accepted, per_question, rows.sizes)
    # 50% and 0.5 are one answer.
    _, merged = read_distinct(numbers, lambda x: equal_forms(x)[1] if x.endswith("%") else x)
    return correct, merged


def match_choices(rows: Samples, stop: Sequence[str]) -> tuple[np.ndarray, pa.ChunkedArray]:
    """Return whether each sample chooses a correct option, (S,), and what it chooses, (S,).

    That is a letter or a word in capitals, or null. Raises a ValueError if a sample is no text, if
    a reference is no choice, or if the references of a question have different options.
    """
    if sample_kind(rows) != "texts":
        raise InputError("choice compares texts, and some predictions are not texts.")
    options = []
    for question, reference in enumerate(to_python(rows.references)):
        references = as_answers(reference)
        accepted = [option for x in references if (option := read_options(x)) is not None]
        kinds = {(option.letters, option.texts) for option in accepted}
        if len(accepted) < len(references) or len(kinds) != 1:
            what = (
                f" is {short(reference)}, but choice compares with a letter, yes or no, or with "
                f'{{"answer": "B", "options": [..]}}'
            )
            raise InputError(Place("references", question), what, ".")
        options.append(accepted)
    questions = np.repeat(np.arange(len(options)), rows.sizes).tolist()
    read = lru_cache(maxsize=None)(read_choice)
    chosen: list[str | None] = []
    correct = []
    for text, question in zip(to_python(rows.values), questions, strict=True):
        accepted = options[question]
        chosen.append(None if text is None else read(text, accepted[0], stop))
        correct.append(chosen[-1] in {option.correct for option in accepted})
    return np.array(correct, dtype=bool), pa.chunked_array([pa.array(chosen, TEXTS)])


# --- Texts and numbers --------------------------------------------------------------------


def _number_of_sample(sample: str | int | float, stop: Sequence[str] = ()) -> str | None:
    """Return the normal form of the number in a sample, or None; raise a ValueError for a bool."""
    if isinstance(sample, str):
        return read_response(sample, stop)
    if isinstance(sample, bool):
        raise no_texts_or_numbers("numeric")
    if not math.isfinite(sample):
        return None
    return decimal_form(Decimal(sample) if isinstance(sample, int) else Decimal(repr(sample)))


def _number_of_reference(reference: Any) -> str | None:
    """Return the normal form of the number that a reference is, or None if it is not one number."""
    if isinstance(reference, str):
        return read_reference(reference)
    if isinstance(reference, bool) or not isinstance(reference, (int, float)):
        return None
    return _number_of_sample(reference)


# --- math-verify --------------------------------------------------------------------------


def math_verify_library():
    """Import math-verify, silence its log, and return it; raise an ImportError if it fails."""
    try:
        import math_verify
    except Exception as error:
        raise ImportError(
            f"check_correct_fn='math_verify' needs the math-verify library (pip install "
            f"math-verify), which cannot be imported: {type(error).__name__}: {error}."
        ) from error
    # Old versions set a handler of signals even without a limit, and hide that they may not.
    if not _has_signals() and "raise_on_error" not in signature(math_verify.parse).parameters:
        text = "This version of math-verify only works in a main thread, and not on Windows"
        raise ImportError(f"{text}: install 0.9 or newer, or compute in the main thread.")
    logging.getLogger("math_verify").setLevel(logging.ERROR)
    return math_verify


def check_references(references: pa.ChunkedArray) -> None:
    """Raise a ValueError for a reference in which math-verify finds no answer."""
    for question, reference in enumerate(to_python(references)):
        for answer in as_answers(reference):
            text = str(answer) if isinstance(answer, (str, int, float)) else ""
            if not _parse_reference(text):
                what = f" is {short(reference)}, in which math-verify finds no answer."
                raise InputError(Place("references", question), what)


TIMED_OUT = 2  # a result of `verify_math`


def verify_math(
    prediction: Any, reference: Any, stop: Sequence[str] = ()
) -> tuple[int, str | None]:
    """Compare the answers in a prediction with a reference, which may be a list of acceptable ones.

    If each reference is a single value, only the last box of several in the prediction counts.

    Returns:
        1 if the text or an answer in it equals a reference, TIMED_OUT if none does and math-verify
        ran out of time, and 0 otherwise; and `_normal_form` of the first answer, None without one.
    """
    text = answer_part(str(prediction), stop, _may_mark_answer).strip()
    references = [*map(str, reference if isinstance(reference, list) else [reference])]
    if text.count("\\boxed") > 1 and not any(map(_is_collection, references)):
        text = _last_box(text)
    answers, timed_out = _parse_math(text)
    first = _normal_form(answers[0], text) if answers else None
    if text in (accepted.strip() for accepted in references):
        return 1, first
    for accepted in references:
        if _is_sequence_with_dots(accepted) or _is_sequence_with_dots(text):
            continue  # equal only as texts
        for expected, answer in itertools.product(_parse_reference(accepted), answers or []):
            equal, late = _are_equal_answers(expected, answer)
            if equal:
                return 1, first
            timed_out |= late
    return TIMED_OUT if timed_out else 0, first


def _may_mark_answer(text: str) -> bool:
    r"""Return whether a text may have an answer: \boxed, $, "answer", or "=" near its end."""
    return "boxed" in text or "$" in text or re.search(r"answer|=\s*\S+\s*$", text) is not None


def _is_collection(reference: str) -> bool:
    """Return whether a reference has several values, as in "1, 2", "x or y" or "\\pm 3"."""
    text = re.sub(r"\d,\d{3}(?!\d)|[(\[][^()\[\]]*[)\]]", "", reference)
    return bool(re.search(r",|;|\\boxed.*\\boxed|\band\b|\bor\b|\\(?:pm|cup|lor|in)\b", text))


def _last_box(text: str) -> str:
    """Put the last box of a text between dollars; without an end, return the text from it on."""
    box = f"\\boxed{{{boxed(text)}}}"
    return f"${box}$" if box in text else text[text.rfind("\\boxed") :]


def _is_sequence_with_dots(text: str) -> bool:
    """Return whether a text is a sequence that goes on, as in "1, 2, ..."."""
    return bool(re.search(r"\\[lcd]?dots\b|,\s*\.\.\.|…", text)) and "," in text


_TINY = 1e-12


def _are_equal_answers(expected: Any, answer: Any) -> tuple[bool, bool]:
    """Return whether two parsed answers are equal, and whether math-verify ran out of time.

    Numbers near 0 are compared here, because math-verify would find all of them equal.
    """
    # Some answers have no numbers.
    with suppress(TypeError, ValueError, AttributeError, OverflowError):
        a, b = _numbers_in(expected), _numbers_in(answer)
        if any(0 < abs(number) < _TINY for number in (*a, *b)):
            pairs = zip(a, b, strict=True)  # a ValueError if one has more numbers
            return all(math.isclose(x, y, rel_tol=1e-6) for x, y in pairs), False
    verify = math_verify_library().verify
    return _call_math_verify(verify, expected, answer, timeout_seconds=0)


def _numbers_in(answer: Any) -> list[float]:
    """Return the numbers in a parsed answer: a number, an equation as x = 2, a set, or a tuple.

    Those of a set are sorted. Raises the errors of `float` for an entry that is not a number.
    """
    answer = getattr(answer, "rhs", answer)
    is_set = getattr(answer, "is_FiniteSet", False)
    if is_set or type(answer).__name__ == "Tuple":
        numbers = [float(entry) for entry in answer.args]
        return sorted(numbers) if is_set else numbers
    return [float(answer)]


def _normal_form(answer: Any, text: str) -> str:
    """Return a parsed answer as SymPy writes it, or `text` if SymPy cannot write it."""
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
    """Raised when the time is over. Not an Exception, which math-verify and SymPy would catch."""


def _has_signals() -> bool:
    """Return whether Python handles signals of timers here: in the main thread, not on Windows."""
    return os.name == "posix" and threading.current_thread() is threading.main_thread()


def _call_math_verify(
    function: Callable[..., Any], *arguments: Any, **no_limit: int
) -> tuple[Any, bool]:
    """Call a function of math-verify; return its result, and whether it ran into TIME_LIMIT.

    The result is None if the function fails or is stopped. `no_limit` switches off its own limit,
    because versions before 0.6.1 do not report that they reach it. Without signals there is none.
    """
    if not _has_signals():
        with suppress(Exception):  # it cannot read or compare the answer
            return function(*arguments, **no_limit), False
        return None, False

    def stop(*_: Any) -> NoReturn:
        raise _OutOfTime

    previous = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, TIME_LIMIT)
    try:
        return function(*arguments, **no_limit), False
    except (Exception, _OutOfTime) as error:
        return None, isinstance(error, _OutOfTime)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous)


# Cached, because reading takes most of the time of a check, and questions may share texts.
@lru_cache(maxsize=1 << 13)
def _parse_math(text: str) -> tuple[list[Any] | None, bool]:
    """Return the answers that math-verify finds (or None), and whether it ran out of time."""
    parse = math_verify_library().parse
    return _call_math_verify(parse, _as_math(text), parsing_timeout=0)


def _parse_reference(reference: str) -> list[Any]:
    """Return the answers that math-verify finds in a reference, which may be none."""
    return _parse_math(reference.strip())[0] or []


def _as_math(text: str) -> str:
    r"""Return a text as math-verify reads it in full: it reads 3\sqrt{2} without dollars as 3.

    If the text is an expression as in Python, or ends with one after "answer" or "x =", that one is
    returned in LaTeX between dollars. Another text gets dollars around it if it has no words. A
    text with dollars, a box, \( or \[ is returned unchanged.
    """
    if not text or re.search(r"(?<!\\)\$|\\boxed|\\\(|\\\[", text):
        return text
    marked = _BARE_ANSWER.search(text)
    for expression in (text, *([marked[1]] if marked else [])):
        if (latex := _latex_of_python(expression)) is not None:
            return f"${latex}$"
    words = re.search(r"(?<![\\a-zA-Z{])[a-zA-Z]{2,}", text)
    return text if words else f"${text}$"


def _latex_of_python(text: str) -> str | None:
    """Convert an expression such as -2*pi or e^16 - 1 to LaTeX; return None for any other text."""
    if not re.fullmatch(r"[\d\s.()+*/^a-zA-Z-]+", text):
        return None
    if any(len(name) > 1 and name not in _PLAIN_NAMES for name in re.findall(r"[a-zA-Z]+", text)):
        return None
    text = re.sub(r"\b(pi|sqrt|sin|cos|tan|log|ln|exp)\b", r"\\\1 ", text)
    text = re.sub(r"\\sqrt \(([^()]*)\)", r"\\sqrt{\1}", text)
    text = re.sub(r"\^(?:\(([^()]*)\)|(-?\w+))", r"^{\1\2}", text.replace("**", "^"))
    text = re.sub(r"(?<=\d)[eE](-?\d+)\b", r" \\cdot 10^{\1}", text)
    return text.replace("*", " \\cdot ")


_BARE_ANSWER = re.compile(
    r"(?:\banswer(?:\s+is\b|\s*[:=])|\b[a-z]\s*=)\s*:?\s*([^\n=]+?)[.\s]*$", re.IGNORECASE
)
_PLAIN_NAMES = frozenset({"pi", "sqrt", "sin", "cos", "tan", "log", "ln", "exp"})

TIME_LIMIT = 5  # seconds of CPU time that math-verify may take to read an answer or compare two
LONGEST_CHECK = 20  # seconds after which the process of a check that ignores TIME_LIMIT is ended
