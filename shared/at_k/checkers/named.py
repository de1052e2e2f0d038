"""The named checkers, which read answers out of responses and compare them with references."""

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
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache, partial
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa

from ..core.checking import (
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
    equals_any,
    no_texts_or_numbers,
    read_distinct,
)
from ..core.samples import Samples, read_samples
from .choices import read_choice, read_options
from .numbers import decimal_form, equal_forms, read_reference, read_response
from .python_tests import python_tests
from .responses import answer_part, boxed
from .workers import (
    NOT_FINISHED,
    BatchResult,
    check_worker_options,
    portable_check,
    results_of_pairs,
    run_check,
)


@dataclass(frozen=True)
class NamedChecker:
    """A checker that reads an answer out of each response. A response ends at a text in `stop`.

    `run_options` has num_proc, executor and timeout, if the user gave them to this checker.
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

    `match` takes samples that are not all None, and `stop`. It returns two arrays, (S,): whether
    each sample is correct, and its answer, which is null if it has none.
    """

    match: Callable[..., Any]

    def validate(self, checking: Checking) -> None:
        """Do nothing: any options of a `Checking` are accepted, and change nothing here."""

    def check_samples(self, rows: Samples, checking: Checking, cache: dict[str, Any]) -> Checked:
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

    def check_samples(self, rows: Samples, checking: Checking, cache: dict[str, Any]) -> Checked:
        """Return the outcome and the answer of each sample. `Checking.check` calls this.

        Samples that run into the limit of math-verify are incorrect, and a warning counts them;
        those that exceed the timeout of `checking` are not scored. Raises a ValueError for a
        reference in which math-verify finds no answer.
        """
        expected = (
            "math_verify compares with an answer that math-verify finds, such as 1/2 or $x^2$"
        )
        if not _has_signals():
            expected += ", and before version 0.9 it finds none outside of the main thread"
        acceptable_answers(rows.references, _parse_reference, expected)
        pairs = DistinctPairs.from_samples(rows)
        results = results_of_pairs(checking, pairs, cache, self._check_pairs)
        unfinished = (TIMED_OUT if checking.timeout is None else None, None)
        read = [unfinished if result is NOT_FINISHED else result[0] for result in results]
        if late := sum(grade == TIMED_OUT for grade, _ in read):
            text = f"{late} of {len(read)} distinct samples ran into the time limit of"
            text += f" {TIME_LIMIT} s of math-verify, and count as incorrect."
            warnings.warn(text, stacklevel=4)
        grades = [0 if grade == TIMED_OUT else grade for grade, _ in read]
        answers = pa.array([*(answer for _, answer in read), None], TEXTS)
        sample_answers = answers.take(pa.array(pairs.index))  # A sample that is None has the last.
        return Checked(pairs.outcomes(grades), pa.chunked_array([sample_answers]))

    def _check_pairs(
        self, checking: Checking, pairs: list[PairToCheck]
    ) -> Generator[BatchResult, None, None]:
        """Check pairs with `verify_math`, and yield the results of each batch. See `CheckPairs`."""
        # Some expressions ignore TIME_LIMIT. Without an executor, their process is ended later.
        limit = checking.timeout or (LONGEST_CHECK if checking.executor is None else None)
        check = portable_check(partial(verify_math, stop=self.stop), None)
        return run_check(checking, check, pairs, checking.executor, limit)


def numeric(
    stop: str | Sequence[str] = (),
    num_proc: int | None = None,
    executor: Executor | None = None,
    timeout: float | None = None,
) -> Matching:
    """Return the checker "numeric", which compares the numbers that responses give, with options.

    Args:
        stop: texts with which a response ends, such as the header of the next question. What
            follows is not read.
        num_proc, executor, timeout: as in `compute`. All samples are read at once in this process,
            so that they change nothing but are validated, as in `math_verify`.

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
    """Return the checker "choice", which compares chosen options. Arguments are as in `numeric`."""
    return _with_options(Matching(_texts(stop), match_choices), num_proc, executor, timeout)


def math_verify(
    stop: str | Sequence[str] = (),
    num_proc: int | None = None,
    executor: Executor | None = None,
    timeout: float | None = None,
) -> MathVerify:
    """Return the checker "math_verify", which compares expressions with the library math-verify.

    Arguments are those of `numeric`, but num_proc, executor and timeout work as in `compute`.
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


def package_checker(checking: Checking) -> Any:
    """Return the checker object of a `Checking`, or that with its name, with valid options."""
    check_worker_options(checking)
    checker: Any = checking.checker
    if isinstance(checker, str):
        makers: Any = (numeric, choice, math_verify, python_tests)
        checker = {maker.__name__: maker for maker in makers}[checker]()
    checker.validate(checking)
    return checker


# --- Comparisons in Arrow, without a Python object for each text --------------------------


def match_numbers(rows: Samples, stop: Sequence[str]) -> tuple[np.ndarray, pa.ChunkedArray]:
    """Return whether the number of each sample is acceptable, (S,), and the numbers, (S,).

    A number is in normal form, 0.5 for 50%, or null. A ValueError is raised if the samples are
    neither texts nor numbers, or if a reference is not one number.
    """

    def read_sample(sample: Any) -> str | None:
        if isinstance(sample, bool):
            raise no_texts_or_numbers("numeric")
        return read_response(sample, stop) if isinstance(sample, str) else form_of_number(sample)

    def form_of_number(value: Any) -> str | None:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value):
            return None
        return decimal_form(Decimal(value) if isinstance(value, int) else Decimal(repr(value)))

    def read_number(reference: Any) -> str | None:
        is_text = isinstance(reference, str)
        return read_reference(reference) if is_text else form_of_number(reference)

    if sample_kind(rows) == "other values":
        raise no_texts_or_numbers("numeric")
    expected = (
        "numeric compares the number that a response gives with a reference that is one number, "
        "such as 12, -1,200.5, 3/4 or 50% (math_verify compares other expressions)"
    )
    answers, counts = acceptable_answers(rows.references, read_number, expected)
    distinct, numbers = read_distinct(rows.values, read_sample)
    if not any(number and "%" in number for number in (*answers, *distinct)):
        return equals_any(numbers, pa.array(answers, TEXTS), counts, rows.sizes), numbers
    # Where percentages occur, each of several forms is acceptable: for 50%, also 0.5 and 50.
    forms = [equal_forms(answer) for answer in answers]
    accepted = pa.array(itertools.chain.from_iterable(forms), TEXTS)
    first_answers = np.cumsum(counts) - counts  # the index of the first answer of each question
    forms_per_question = np.add.reduceat([*map(len, forms)], first_answers)
    correct = equals_any(numbers, accepted, forms_per_question, rows.sizes)

    def without_percent(number: str) -> str:
        _, same_value, *_ = equal_forms(number)  # 0.5 for 50%
        return same_value if number.endswith("%") else number

    return correct, read_distinct(numbers, without_percent)[1]


def match_choices(rows: Samples, stop: Sequence[str]) -> tuple[np.ndarray, pa.ChunkedArray]:
    """Return whether each sample chooses a correct option, (S,), and what it chooses, (S,).

    That is a letter or a word in capitals, or null. A ValueError is raised if a sample is no text,
    a reference is no choice, or the references of a question have different options.
    """
    if sample_kind(rows) != "texts":
        raise InputError("choice compares texts, and some predictions are not texts.")
    expected = (
        'choice compares with a letter, yes or no, or with {"answer": "B", "options": [..]}, whose '
        "options are the same for all answers to a question"
    )
    answers, counts = acceptable_answers(rows.references, read_options, expected)
    options = [answers[end - n : end] for end, n in zip(np.cumsum(counts), counts, strict=True)]
    for question, accepted in enumerate(options):
        if len({(option.letters, option.texts) for option in accepted}) > 1:
            what = f" has answers with different options, but {expected}."
            raise InputError(Place("references", question), what)
    questions = np.repeat(np.arange(len(options)), rows.sizes).tolist()
    read = lru_cache(maxsize=None)(read_choice)
    chosen: list[str | None] = []
    correct = []
    for text, question in zip(to_python(rows.values), questions, strict=True):
        accepted = options[question]
        chosen.append(None if text is None else read(text, accepted[0], stop))
        correct.append(chosen[-1] in {option.correct for option in accepted})
    return np.array(correct, dtype=bool), pa.chunked_array([pa.array(chosen, TEXTS)])


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
    logging.getLogger("math_verify").setLevel(logging.ERROR)
    return math_verify


TIMED_OUT = 2  # a result of `verify_math`


def verify_math(
    prediction: Any, reference: Any, stop: Sequence[str] = ()
) -> tuple[int, str | None]:
    """Compare the answers in a prediction with a reference, which may be a list of acceptable ones.

    Return 1 if the text or an answer in it equals a reference, TIMED_OUT if TIME_LIMIT ends the
    comparison, and 0 otherwise; and `_normal_form` of the first answer, None without one.
    """
    text = answer_part(str(prediction), stop, _MARK.search).strip()
    references = [*map(str, reference if isinstance(reference, list) else [reference])]
    if text.count("\\boxed") > 1 and not any(map(_is_collection, references)):  # the last counts
        box = f"\\boxed{{{boxed(text)}}}"
        # Dollars keep math-verify from adding other numbers. A box without an end starts the rest.
        text = f"${box}$" if box in text else text[text.rfind("\\boxed") :]
    is_same = text in (accepted.strip() for accepted in references)
    first = None
    math_verify_library()  # a worker may import it here, which is no part of the comparison
    try:
        with _time_limit():
            answers = _parse_math(text)
            first = _normal_form(answers[0], text) if answers else None
            is_equal = is_same or any(
                _are_equal_answers(expected, answer)
                for accepted in references
                if not any(map(_is_sequence_with_dots, (accepted, text)))  # equal as texts only
                for expected in _parse_math(accepted.strip())
                for answer in answers
            )
    except _OutOfTime:
        return 1 if is_same else TIMED_OUT, first
    return int(is_equal), first


def _is_collection(reference: str) -> bool:
    """Return whether a reference has several values, as in "1, 2", "x or y" or "\\pm 3"."""
    text = re.sub(r"\d,\d{3}(?!\d)|[(\[][^()\[\]]*[)\]]", "", reference)
    return bool(re.search(r",|;|\\boxed.*\\boxed|\band\b|\bor\b|\\(?:pm|cup|lor|in)\b", text))


_MARK = re.compile(r"boxed|\$|answer|=\s*\S+\s*$")  # A text with it may have an answer.
_TINY = 1e-12


def _is_sequence_with_dots(text: str) -> bool:
    """Return whether a text is a sequence that goes on, as in "1, 2, ..."."""
    return bool(re.search(r"\\[lcd]?dots\b|,\s*\.\.\.|…", text)) and "," in text


def _are_equal_answers(expected: Any, answer: Any) -> bool:
    """Return whether math-verify finds two parsed answers equal; False if it fails."""
    # Some answers have no numbers, and some cannot be compared.
    with suppress(TypeError, ValueError, AttributeError, OverflowError):
        a, b = _numbers_in(expected), _numbers_in(answer)
        if any(0 < abs(number) < _TINY for number in (*a, *b)):  # all equal for math-verify
            pairs = zip(a, b, strict=True)  # a ValueError if one has more numbers
            return all(math.isclose(x, y, rel_tol=1e-6) for x, y in pairs)
    with suppress(Exception):
        return math_verify_library().verify(expected, answer, timeout_seconds=0)
    return False


def _numbers_in(answer: Any) -> list[float]:
    """Return the numbers in a number, an equation as x = 2, a set (sorted) or a tuple."""
    answer = getattr(answer, "rhs", answer)
    is_set = getattr(answer, "is_FiniteSet", False)
    if is_set or type(answer).__name__ == "Tuple":
        numbers = [float(entry) for entry in answer.args]
        return sorted(numbers) if is_set else numbers
    return [float(answer)]


def _normal_form(answer: Any, text: str) -> str:
    """Return a parsed answer as SymPy writes it, with 2*sqrt(3) for sqrt(12), or else `text`."""

    # Only roots of integers are evaluated, because 9^(9^9) would not end.
    def is_root(part: Any) -> bool:
        if not part.is_Pow:
            return False
        base, exponent = part.args
        is_fraction = exponent.is_Rational and not exponent.is_Integer and abs(exponent) < 1
        return bool(is_fraction and base.is_Integer and abs(base) < 10**9)

    if isinstance(answer, str):
        return answer
    with suppress(Exception):  # Python does not write integers of many thousands of digits
        return str(answer.replace(is_root, lambda root: root.func(*root.args), simultaneous=False))
    return text


class _OutOfTime(BaseException):
    """Raised when the time is over. Not an Exception, which math-verify and SymPy would catch."""


def _has_signals() -> bool:
    """Return whether Python handles signals of timers here: in the main thread, not on Windows."""
    return os.name == "posix" and threading.current_thread() is threading.main_thread()


@contextmanager
def _time_limit() -> Generator[None, None, None]:
    """Raise `_OutOfTime` in a block that takes more than TIME_LIMIT, if there are signals.

    The limits of math-verify are switched off: versions before 0.6.1 do not report reaching them.
    """
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


# Cached, because reading takes most of the time of a check, and questions may share texts.
@lru_cache(maxsize=1 << 13)
def _parse_math(text: str) -> list[Any]:
    """Return the answers that math-verify finds in a text, which may be none."""
    with suppress(Exception):
        return math_verify_library().parse(_as_math(text), parsing_timeout=0)
    return []


def _parse_reference(reference: Any) -> list[Any] | None:
    """Return the answers that math-verify finds in a reference, or None if it finds none."""
    if not isinstance(reference, (str, int, float)):
        return None
    with suppress(_OutOfTime), _time_limit():
        return _parse_math(str(reference).strip()) or None
    return None


def _as_math(text: str) -> str:
    r"""Return a text as math-verify reads it in full: it reads 3\sqrt{2} without dollars as 3.

    An expression as in Python, also after a last "answer" or "x =", becomes LaTeX between dollars.
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

TIME_LIMIT = 5  # seconds of CPU time that `verify_math` may take
LONGEST_CHECK = 20  # seconds after which the process of a check that ignores TIME_LIMIT is ended
