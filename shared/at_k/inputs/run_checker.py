"""Run a checker on predictions and references, which gives outcomes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor
from contextlib import closing
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa

from ..checks import check_names, short
from .columns import (
    distinct_entries,
    flat_samples,
    is_text,
    samples_per_question,
    to_numpy,
    to_python,
)
from .graded import Labels, graded_outcomes
from .named_checkers import (
    NAMES,
    TIME_LIMIT,
    TIMED_OUT,
    check_references,
    match,
    math_verify,
    math_verify_library,
)
from .outcomes import Outcomes, place
from .parsing import has_references
from .workers import PairToCheck, check_in_workers, portable_check

CheckResult = bool | int | float | str | None
"""What a checker returns for a sample: correct or incorrect, a category, a share of
correctness from 0 to 1, a label of one of these, or None if the sample is not to be scored."""

Checker = str | Callable[[Any, Any], CheckResult]
"""check_correct_fn(prediction, reference) -> CheckResult, or one of the names in `NAMES`."""


def validate_checker(
    checker: Checker, num_proc: int | None = None, executor: Executor | None = None
) -> None:
    """Raise an error unless the checker can be called, in one way of running it."""
    if isinstance(checker, str):
        check_names("check_correct_fn", [checker], NAMES)
        if checker == "math_verify":
            math_verify_library()
    elif not callable(checker):
        raise TypeError(
            f"check_correct_fn is {short(checker)}, which cannot be called: give a function of a "
            f"prediction and a reference, or one of the names {', '.join(NAMES)}."
        )
    if num_proc is not None:
        if executor is not None:
            raise ValueError("num_proc and executor exclude each other: give one of them.")
        if isinstance(num_proc, bool) or not isinstance(num_proc, Integral) or num_proc < 1:
            raise ValueError(f"num_proc is {short(num_proc)}: give a number of processes.")
    if executor is not None and (isinstance(executor, type) or not hasattr(executor, "map")):
        raise TypeError(f"executor is {short(executor)}: give an Executor, such as a pool.")


def outcomes_of(
    predictions: pa.ChunkedArray,
    references: pa.ChunkedArray,
    checker: Checker = "exact_match",
    num_proc: int | None = None,
    executor: Executor | None = None,
    labels: Labels | None = None,
) -> Outcomes:
    """Return the outcomes of predictions: check them, or read already-graded outcomes.

    Args:
        predictions: M lists of samples.
        references: M references, or M nulls if predictions are already-graded outcomes.
        checker: what to check samples with.
        num_proc: number of processes to check in.
        executor: an executor to check in.
        labels: labels that stand for outcomes, and the number of each.

    Raises:
        ValueError: if `run_checker` or `graded_outcomes` raises it.
    """
    if has_references(references):
        return run_checker(predictions, references, checker, num_proc, executor, labels)
    if checker != "exact_match":
        raise ValueError(
            "check_correct_fn is given, but there are no references to check against: without "
            "references, predictions are outcomes."
        )
    return graded_outcomes(predictions, labels)


def run_checker(
    predictions: pa.ChunkedArray,
    references: pa.ChunkedArray,
    checker: Checker = "exact_match",
    num_proc: int | None = None,
    executor: Executor | None = None,
    labels: Labels | None = None,
) -> Outcomes:
    """Check every sample and return the outcomes.

    Each distinct pair of a prediction and its question's reference is checked once. A sample is
    not scored if it is None or if the checker returns None.

    Raises:
        ValueError: if the checker raises an exception (which is the cause), returns something that
            is not an outcome, or ends its process, with the place `predictions[i][j]`; or if a
            named checker cannot use a reference, with its place.
    """
    validate_checker(checker, num_proc, executor)
    sizes, (values, times) = samples_per_question(predictions), flat_samples(predictions)
    if checker == "exact_match" or checker == "numeric":
        correct = match(values, references, sizes, checker)
        scored = to_numpy(values.is_valid()) if values.null_count else None
        if checker == "exact_match" and is_text(values.type) and not correct.any():
            warnings.warn(
                f"None of the {len(values) - values.null_count} scored samples equals its "
                f"reference: exact_match compares whole texts. check_correct_fn='numeric' compares "
                f"the last number of a text, and 'math_verify' compares mathematical expressions.",
                stacklevel=2,
            )
        return Outcomes(correct, sizes, _NAME, scored, times=times)
    answers = to_python(references)
    pairs = DistinctPairs.of(values, sizes, answers)
    if isinstance(checker, str):
        check_references(answers)
        results = _check_pairs(pairs, math_verify, num_proc, executor, {})
        results = _without_timeouts(results)
    else:
        results = _check_pairs(pairs, checker, num_proc, executor, labels or {})
    return replace(pairs.outcomes(results), times=times)


_NAME = "the result for predictions"  # what messages call the outcomes of a checker


@dataclass(frozen=True)
class DistinctPairs:
    """The P distinct pairs of a sample and its question's reference, of S samples in all.

    Attributes:
        pairs: (P,) a prediction and a reference each.
        first: (P,) index of the first sample of each pair.
        given: (G,) indices of the samples that are not None.
        inverse: (G,) index of the pair of each of these samples.
        sizes: (M,) number of samples of each question.
    """

    pairs: list[PairToCheck]
    first: np.ndarray
    given: np.ndarray
    inverse: np.ndarray
    sizes: np.ndarray

    @classmethod
    def of(cls, values: pa.ChunkedArray, sizes: np.ndarray, answers: list[Any]) -> DistinctPairs:
        """Find the distinct pairs of (S,) samples and (M,) references."""
        distinct, code = distinct_entries(values)
        question = np.repeat(np.arange(len(sizes)), sizes)
        given = np.flatnonzero(code >= 0)
        keys = question[given] * len(distinct) + code[given]
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        first = given[first]
        entries = to_python(distinct)
        pairs = [(entries[code[sample]], answers[question[sample]]) for sample in first]
        return cls(pairs, first, given, inverse, sizes)

    def call(self, pair: int) -> str:
        """Return the call of the checker for a pair, for messages."""
        where = place("predictions", self.sizes, self.first[pair])
        return f"check_correct_fn({short(self.pairs[pair][0])}, ..) on {where}"

    def outcomes(self, results: list[float | None]) -> Outcomes:
        """Return the outcomes of all samples, from the results of the pairs."""
        dtype = np.float64 if any(isinstance(each, float) for each in results) else np.int64
        of_pairs = np.array([result or 0 for result in results], dtype=dtype)
        values = np.zeros(self.sizes.sum(), dtype=dtype)
        values[self.given] = of_pairs[self.inverse]
        is_scored = np.array([result is not None for result in results], dtype=bool)
        scored = np.zeros(len(values), dtype=bool)
        scored[self.given] = is_scored[self.inverse]
        return Outcomes(values, self.sizes, _NAME, None if scored.all() else scored)


def _check_pairs(
    distinct: DistinctPairs,
    checker: Callable[[Any, Any], CheckResult],
    num_proc: int | None,
    executor: Executor | None,
    labels: Labels,
) -> list[float | None]:
    """Return the result of each distinct pair, None for a pair that is not scored."""
    check = portable_check(checker, labels)
    results: list[float | None] = []
    try:
        with closing(check_in_workers(check, distinct.pairs, num_proc, executor)) as checked:
            for result, problem in checked:
                if problem is not None:
                    _raise_problem(distinct.call(len(results)), problem, labels)
                results.append(result)
    except BrokenExecutor as error:
        raise ValueError(
            f"A worker died. The first missing result is that of {distinct.call(len(results))}: "
            f"check_correct_fn may have ended its process, or used more memory than there is."
        ) from error
    if len(results) != len(distinct.pairs):
        raise ValueError(
            f"The executor gave {len(results)} results for {len(distinct.pairs)} pairs."
        )
    return results


def _without_timeouts(results: list[float | None]) -> list[float | None]:
    """Return the results of math-verify, and warn of time-outs, which are incorrect."""
    if late := results.count(TIMED_OUT):
        warnings.warn(
            f"{late} of {len(results)} distinct samples ran into the time limit of {TIME_LIMIT} s "
            f"of math-verify, and count as incorrect.",
            stacklevel=2,
        )
    return [0 if result == TIMED_OUT else result for result in results]


def _raise_problem(call: str, problem: str | BaseException, labels: Labels) -> NoReturn:
    """Raise the error of a call: it raised an exception, or returned what is not an outcome."""
    if isinstance(problem, BaseException):
        raise ValueError(f"{call} raised {type(problem).__name__}: {problem}.") from problem
    valid = "".join(f"{label!r}, " for label in labels)
    raise ValueError(
        f"{call} {problem}: a result is {valid}a bool, a category 0, 1, 2, .., a share of "
        f"correctness from 0.0 to 1.0, or None for a sample that is not to be scored."
    )
