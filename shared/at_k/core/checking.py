"""The checking of samples against references. Each distinct pair is checked once.

There are S samples of M questions, and P distinct pairs of a sample and its question's reference.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .checks import InputError, InputWarning, InPython, Place, check_name, short
from .columns import JSON, TEXTS, distinct_entries, to_python
from .containers import to_numpy
from .match import as_answers, match_exactly
from .package import PACKAGE
from .samples import Labels, Samples, sample_place

CHECKERS = ("exact_match", "numeric", "choice", "math_verify", "python_tests")
"""The names of checkers. All but exact_match need the installed package."""

Checker = str | Callable[[Any, Any], Any]
"""A function check_correct_fn(prediction, reference), or one of `CHECKERS`.

It returns whether the sample is correct, a category 0, 1, 2, .., a share of correctness from 0 to
1, a label of one of these, or None if the sample is not to be scored. With the package it may also
be async, or take batches, as the card of a metric says.
"""

PairToCheck = tuple[Any, Any]  # a prediction and a reference

PairResult = tuple[Any, str | BaseException | None]
"""The result of a pair and None; or None and the problem: an exception, or a text "returned .."."""

_OUTCOMES = "the result for predictions"  # what messages call the outcomes of a checker


@dataclass(frozen=True)
class Checked:
    """The outcomes of samples, and the answers that a checker compared.

    `read_answers`, (S,), are the answers that the checker found in the samples, or null. For
    "exact_match" and functions the whole sample is the answer. It is None for given outcomes.
    """

    outcomes: Samples
    read_answers: pa.ChunkedArray | None = None

    @cached_property
    def answers(self) -> np.ndarray | None:
        """Return an integer code of each sample's answer, (S,), or None if there are no answers.

        The code of no answer is -1. An empty text is no answer, unless it is correct.
        """
        answers = self.read_answers
        if answers is None:
            return None
        distinct, codes = distinct_entries(answers)
        if answers.type == JSON:  # Answers such as 1 and 1.0 are equal, but not as JSON texts.
            code_of: dict[Any, int] = {}
            merged = [code_of.setdefault(_hashable(x), len(code_of)) for x in to_python(distinct)]
            codes = np.array([*merged, -1])[codes]
        if answers.type == TEXTS:
            is_empty = to_numpy(pc.fill_null(pc.equal(answers, ""), False))
            codes = np.where(is_empty & (self.outcomes.values == 0), -1, codes)
        return codes


def _hashable(value: Any) -> Any:
    """Return a hashable form of a JSON value. Values that Python calls equal have equal forms."""
    if isinstance(value, dict):
        return frozenset((key, _hashable(entry)) for key, entry in value.items())
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


@dataclass
class Checking:
    """A checker and the options that say how it runs, as in `compute`.

    `labels` has the number of each label that the checker may return. `package_checker` is the
    object of the installed package that checks all samples, or None for "exact_match" and
    functions. A ValueError or TypeError is raised if an attribute is invalid or excludes another,
    and an ImportError if the checker needs a library that is not installed.
    """

    checker: Checker = "exact_match"
    num_proc: int | None = None
    executor: Executor | None = None
    timeout: float | None = None
    labels: Labels | None = None
    package_checker: Any = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Validate all attributes. The package takes the options that its checkers carry."""
        checker = self.checker
        is_object = hasattr(checker, "check_samples")  # a checker of the package
        if isinstance(checker, str):
            check_name("check_correct_fn", checker, CHECKERS)
        elif not is_object and not callable(checker):
            raise TypeError(
                f"check_correct_fn is {short(checker)}, which cannot be called: give a function of "
                f"a prediction and a reference, or one of the names {', '.join(CHECKERS)}."
            )
        if is_object or (isinstance(checker, str) and not self.matches_exactly):
            self.package_checker = PACKAGE.rooms.checker(self)
        elif self._needs_workers():
            PACKAGE.rooms.check_workers(self)
        executor = self.executor
        if executor is not None and (isinstance(executor, type) or not hasattr(executor, "map")):
            raise TypeError(f"executor is {short(executor)}: give an Executor, such as a pool.")

    def _needs_workers(self) -> bool:
        """Return whether the package has to check pairs: in processes, in batches, or async."""
        needs_calls = getattr(self.checker, "batched", None) is True or is_async(self.checker)
        return needs_calls or self.num_proc is not None or self.timeout is not None

    @property
    def matches_exactly(self) -> bool:
        """Return whether the checker is "exact_match"."""
        return isinstance(self.checker, str) and self.checker == "exact_match"

    def check(self, samples: Samples, cache: dict[str, Any] | None = None) -> Checked:
        """Check every sample against the reference of its question.

        A sample is not scored if it is None, or if the checker returns None. A ValueError, with the
        index, is raised if the checker raises an exception, returns something other than an
        outcome, or cannot use a reference. If the package (`PACKAGE.rooms`) runs the checks, those
        that are finished then stay in `cache` for a later call.
        """
        if self.matches_exactly:
            outcomes = outcomes_of_match(samples, match_exactly(samples))
            if samples.values.type == TEXTS:
                _warn_of_responses(samples, outcomes)
            return Checked(outcomes, samples.values)
        cache = {} if cache is None else cache
        if self.package_checker is not None:
            return self.package_checker.check_samples(samples, self, cache)
        pairs = DistinctPairs.from_samples(samples)
        check_pairs = getattr(PACKAGE.rooms, "check_pairs", _check_pairs_alone)
        return Checked(pairs.outcomes(check_pairs(self, pairs, cache)), samples.values)


# --- Distinct pairs -----------------------------------------------------------------------


@dataclass(frozen=True)
class DistinctPairs:
    """The P distinct pairs of a sample and its question's reference, of S samples in all.

    `samples` are all samples, with references.
    """

    pairs: list[PairToCheck]
    first: np.ndarray  # (P,) the index of the first sample of each pair
    index: np.ndarray  # (S,) the index of the pair of each sample, P for samples that are None
    samples: Samples

    @classmethod
    def from_samples(cls, samples: Samples) -> DistinctPairs:
        """Return the distinct pairs of samples and the references of their questions."""
        distinct, code = distinct_entries(samples.values)
        question = np.repeat(np.arange(len(samples.sizes)), samples.sizes)
        present = np.flatnonzero(code >= 0)  # the samples that are not None
        pair_code = question[present] * len(distinct) + code[present]
        _, first, inverse = np.unique(pair_code, return_index=True, return_inverse=True)
        first = present[first]
        index = np.full(len(code), len(first))  # P, no index of a pair, for samples that are None
        index[present] = inverse
        predictions, references = to_python(distinct), to_python(samples.references)
        pairs = [(predictions[code[sample]], references[question[sample]]) for sample in first]
        return cls(pairs, first, index, samples)

    def call(self, pair: int) -> tuple[str, Place]:
        """Return the start of a message about the pair with this index: a text and its place."""
        place = sample_place("predictions", self.samples.sizes, self.first[pair])
        return f"check_correct_fn({short(self.pairs[pair][0])}, ..) on ", place

    def error(self, pair: int, problem: str | BaseException, labels: Labels | None) -> InputError:
        """Return the error for the problem of a `PairResult`. An exception becomes its cause."""
        if isinstance(problem, BaseException):
            text = f" raised {type(problem).__name__}: {text_or_type(str, problem)}."
            error = InputError(*self.call(pair), text)
            error.__cause__ = problem
            return error
        valid = "".join(f"{label!r}, " for label in labels or ())
        return InputError(
            *self.call(pair),
            f" {problem}: a result is {valid}a bool, a category 0, 1, 2, .., a share of "
            f"correctness from 0.0 to 1.0, or None for a sample that is not to be scored.",
        )

    def require_all(self, number: int) -> None:
        """Raise a ValueError if an executor gave a `number` of results that is too small."""
        if number < len(self.pairs):
            raise ValueError(f"The executor gave {number} results for {len(self.pairs)} pairs.")

    def outcomes(self, results: Sequence[float | None]) -> Samples:
        """Return the outcomes of all samples, from those of the P pairs, None for unscored ones.

        Raises a ValueError if there are both categories above 1 and shares, which are floats.
        """
        padded = [*results, None]  # Samples that are None have the index P.
        numbers = np.array([0 if result is None else result for result in padded])
        if numbers.dtype.kind == "f" and numbers.max() > 1:
            pair = int(numbers.argmax())
            raise InputError(
                *self.call(pair),
                f" returned {results[pair]}, a category, and shares of correctness for other "
                f"samples: return one of the two for all.",
            )
        is_scored = np.array([result is not None for result in padded])[self.index]
        samples = self.samples
        multiplicity = samples.multiplicity if is_scored.all() else samples.weights * is_scored
        return Samples(numbers[self.index], samples.sizes, _OUTCOMES, multiplicity)


def _check_pairs_alone(checking: Checking, pairs: DistinctPairs, cache: dict[str, Any]) -> list:
    """Return the (P,) outcomes of pairs without the package, by the executor or in this thread."""
    assert callable(checking.checker)
    run: Callable[..., Any] = map if checking.executor is None else checking.executor.map
    check = partial(check_pair, checking.checker, checking.labels or {})
    outcomes = []
    for index, (outcome, problem) in enumerate(run(check, pairs.pairs)):
        if problem is not None:
            raise pairs.error(index, problem, checking.labels)
        outcomes.append(outcome)
    pairs.require_all(len(outcomes))
    return outcomes


def is_async(checker: Any) -> bool:
    """Return whether a checker is an async function, or has an async `__call__` method."""
    call = getattr(checker, "__call__", None)  # noqa: B004
    return inspect.iscoroutinefunction(checker) or inspect.iscoroutinefunction(call)


def check_pair(
    checker: Callable[..., Any], labels: Mapping[str, float], pair: PairToCheck
) -> PairResult:
    """Return the result of a checker for a pair, in any thread or process."""
    return validated_result(*call_checker(checker, *pair), labels)


def call_checker(checker: Callable[..., Any], *arguments: Any) -> PairResult:
    """Return the result of a checker and None; or None and the exception that it raised."""
    import copy  # Workers receive the code of this function without the module.

    try:
        # The checker might change a dict or list, which samples share.
        own = [copy.deepcopy(x) if isinstance(x, (dict, list)) else x for x in arguments]
        return checker(*own), None
    except (Exception, SystemExit, GeneratorExit) as error:  # The checker may call sys.exit.
        return None, error


def validated_result(
    result: Any, problem: str | BaseException | None, labels: Mapping[str, float]
) -> PairResult:
    """Return the outcome and None, or None and the problem, for what `call_checker` returned."""
    if problem is not None:
        return None, problem
    if getattr(result, "ndim", None) == 0:
        try:
            result = result.item()  # a scalar of NumPy or torch
        except Exception as error:  # such as a tensor without data
            return None, f"returned {type(result).__name__} without a value ({error})"
    if isinstance(result, str):
        result = labels.get(result, result)
    is_category = isinstance(result, int) and 0 <= result < 2**31
    is_share = isinstance(result, float) and 0 <= result <= 1
    if result is None or is_category or is_share:
        return result, None
    return None, f"returned {text_or_type(repr, result)[:60]}"


def text_or_type(write: Callable[[Any], str], value: Any) -> str:
    """Return `write(value)`, or the name of the type if that fails."""
    try:
        return write(value)
    except Exception:
        return f"a {type(value).__name__}"


# --- exact_match --------------------------------------------------------------


def outcomes_of_match(samples: Samples, correct: np.ndarray) -> Samples:
    """Return the outcomes of samples from `correct`, (S,): whether each sample is correct."""
    return Samples(correct, samples.sizes, _OUTCOMES, samples.multiplicity)


def _warn_of_responses(samples: Samples, outcomes: Samples) -> None:
    """Warn if texts seem to be whole responses: none equals its reference, or many contain it."""
    problem = f"None of the {outcomes.n.sum()} scored samples equals its reference"
    if outcomes.values.any():
        correct, occurrences = outcomes.values[:1000], samples.weights[:1000]
        texts, references = to_python(samples.values[:1000]), to_python(samples.references[:1000])
        question = np.repeat(np.arange(len(references)), samples.sizes[:1000])
        incorrect = np.flatnonzero(~correct)
        containing = [i for i in incorrect if _contains(texts[i], references[question[i]])]
        n_containing, n_equal = occurrences[containing].sum(), occurrences[correct].sum()
        if 10 * n_containing <= n_equal:
            return
        problem = (
            f"{n_containing} of the first {occurrences.sum()} samples contain their reference but "
            f"do not equal it"
        )
    warning = InputWarning(
        f"{problem}: exact_match compares whole texts. Of the other checkers",
        InPython(" (check_correct_fn)"),
        ", 'numeric' compares the number that a text gives, 'choice' compares the option that it "
        "chooses, 'math_verify' compares mathematical expressions",
        InPython(", and 'python_tests' runs programs with tests"),
        ".",
    )
    warnings.warn(warning, stacklevel=3)


def _contains(text: str | None, reference: Any) -> bool:
    """Return whether a text contains the reference, or an entry of a list, as a separate word."""
    text, answers = text or "", (x for x in as_answers(reference) if isinstance(x, str) and x)
    # Most texts do not contain the answer at all, and compiling a pattern takes long.
    return any(x in text and re.search(rf"(?<!\w){re.escape(x)}(?!\w)", text) for x in answers)
