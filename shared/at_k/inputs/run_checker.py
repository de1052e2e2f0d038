"""Run a checker on predictions and references, which gives outcomes."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa

from ..checks import check_names, short
from .async_checkers import CONCURRENT_CALLS, is_async, threads_for
from .columns import is_text, to_python
from .containers import to_numpy
from .named_checkers import (
    LONGEST_CHECK,
    NAMES,
    TIME_LIMIT,
    TIMED_OUT,
    check_references,
    match,
    math_verify,
    math_verify_library,
)
from .outcomes import Labels, Outcomes
from .pairs import CHECKED, DistinctPairs, FinishedChecks
from .portable import CheckBatch, PairResult, portable_check
from .processes import NOT_FINISHED
from .rows import Rows
from .workers import check_in_workers

CheckResult = bool | int | float | str | None
"""What a checker returns for a sample: correct or incorrect, a category, a share of
correctness from 0 to 1, a label of one of these, or None if the sample is not to be scored."""

Checker = str | Callable[[Any, Any], Any]
"""check_correct_fn(prediction, reference) -> CheckResult, or one of the names in `NAMES`.

The function may be async. If it has an attribute `batched` that is True, it is a function of a list
of predictions and a list of references, and returns a list of results. The lists have at most
`batch_size` entries, which is another attribute of the function, by default 64.
"""


_LOOKED_AT = 1000  # samples, for a warning


def validate_checker(
    checker: Checker,
    num_proc: int | None = None,
    executor: Executor | None = None,
    timeout: float | None = None,
) -> None:
    """Raise an error unless the checker can be called, in one way of running it."""
    if isinstance(checker, str):
        check_names("check_correct_fn", [checker], NAMES)
        if checker == "math_verify":
            math_verify_library()
            if isinstance(executor, ThreadPoolExecutor):
                raise ValueError(
                    "executor runs threads, in which math_verify has no time limit: give num_proc "
                    "or an executor of processes."
                )
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
    if timeout is not None:
        if isinstance(timeout, bool) or not isinstance(timeout, Real) or not timeout > 0:
            raise ValueError(f"timeout is {short(timeout)}: give a number of seconds.")
        if executor is not None or is_async(checker):
            raise ValueError(
                "timeout cannot end the calls of an executor or of an async check_correct_fn: give "
                "num_proc instead of the executor, or limit the time in the function."
            )
    if is_async(checker) and not (
        num_proc in (None, 1) and isinstance(executor, ThreadPoolExecutor | None)
    ):
        raise ValueError(
            f"check_correct_fn is an async function, {CONCURRENT_CALLS} calls of which run at the "
            f"same time: give neither num_proc nor processes, but a ThreadPoolExecutor as executor "
            f"to run more or fewer."
        )
    _batch_size(checker)


def _batch_size(checker: Checker) -> int | None:
    """Return the number of pairs that a checker takes at once, or None if it takes single ones."""
    if getattr(checker, "batched", None) is not True:
        return None
    size = getattr(checker, "batch_size", 64)
    if isinstance(size, bool) or not isinstance(size, Integral) or size < 1:
        raise ValueError(
            f"batch_size of check_correct_fn is {short(size)}: give a number of pairs."
        )
    return int(size)


def _warn_of_responses(
    values: pa.ChunkedArray, references: pa.ChunkedArray, outcomes: Outcomes
) -> None:
    """Warn if texts are compared with answers that they contain, or if none equals its answer."""
    if not outcomes.values.any():
        found = f"None of the {outcomes.n.sum()} scored samples equals its reference"
    else:
        correct, ends = outcomes.values[:_LOOKED_AT], np.cumsum(outcomes.sizes[:_LOOKED_AT])
        texts, answers = to_python(values[:_LOOKED_AT]), to_python(references[:_LOOKED_AT])
        others = np.flatnonzero(~correct)
        of_question = np.searchsorted(ends, others, side="right")
        containing = [
            sample
            for sample, question in zip(others, of_question, strict=True)
            if _contains(texts[sample], answers[question])
        ]
        times = (
            np.ones(len(texts), dtype=int)
            if outcomes.multiplicity is None
            else outcomes.multiplicity
        )
        contain, equal = times[containing].sum(), times[: len(texts)][correct].sum()
        if 10 * contain <= equal:  # as correct samples, they would raise the score by up to a tenth
            return
        found = (
            f"{contain} of the first {times[: len(texts)].sum()} samples contain their reference "
            f"but do not equal it"
        )
    warnings.warn(
        f"{found}: exact_match compares whole texts. check_correct_fn='numeric' compares the last "
        f"number of a text, and 'math_verify' compares mathematical expressions.",
        stacklevel=3,
    )


def _contains(text: str | None, answer: Any) -> bool:
    """Whether a text has an answer, or one of several, between other words."""
    words = [x for x in (answer if isinstance(answer, list) else [answer]) if isinstance(x, str)]
    return any(x and re.search(rf"(?<!\w){re.escape(x)}(?!\w)", text or "") for x in words)


def run_checker(
    rows: Rows,
    checker: Checker = "exact_match",
    num_proc: int | None = None,
    executor: Executor | None = None,
    timeout: float | None = None,
    labels: Labels | None = None,
    finished: FinishedChecks | None = None,
) -> Outcomes:
    """Check every sample and return the outcomes. The arguments are those of `outcomes_of`.

    Each distinct pair of a prediction and its question's reference is checked once. A sample is
    not scored if it is None, if the checker returns None, or if its check takes too long.

    Raises:
        ValueError: if the checker raises an exception (which is the cause), returns something that
            is not an outcome, or ends its process, with the place `predictions[i][j]`; or if a
            named checker cannot use a reference, with its place.
    """
    validate_checker(checker, num_proc, executor, timeout)
    values, sizes, times, references = rows.values, rows.sizes, rows.multiplicity, rows.references
    if checker == "exact_match" or checker == "numeric":
        correct = match(values, references, sizes, checker)
        scored = to_numpy(values.is_valid()) if values.null_count else None
        outcomes = Outcomes(correct, sizes, CHECKED, scored, multiplicity=times)
        if checker == "exact_match" and is_text(values.type):
            _warn_of_responses(values, references, outcomes)
        return outcomes
    answers = to_python(references)
    pairs = DistinctPairs.of(values, sizes, answers)
    if isinstance(checker, str):
        check_references(answers)
        # Some expressions ignore the time limit of math-verify, so it runs where it can be ended.
        limit = timeout if timeout is not None or executor is not None else LONGEST_CHECK
        checked = _check_pairs(pairs, math_verify, num_proc, executor, limit, {}, finished)
        results = _results_of_math_verify(checked, timeout)
    else:
        checked = _check_pairs(pairs, checker, num_proc, executor, timeout, labels or {}, finished)
        results = _results_of(checked, timeout)
    return replace(pairs.outcomes(results), multiplicity=times)


def _check_pairs(
    distinct: DistinctPairs,
    checker: Callable[..., Any],
    num_proc: int | None,
    executor: Executor | None,
    timeout: float | None,
    labels: Labels,
    finished: FinishedChecks | None,
) -> list[PairResult]:
    """Return the result of each distinct pair."""
    finished = finished or FinishedChecks()
    checked = finished.of(checker, labels, distinct.pairs)
    with ExitStack() as stack:
        batch_size, call = _batch_size(checker), checker
        if is_async(checker):
            call, executor = stack.enter_context(threads_for(checker, executor))
        check = portable_check(call, labels, batched=batch_size is not None)
        try:
            _check_missing(
                distinct, checked, check, batch_size, num_proc, executor, timeout, labels
            )
        except BaseException as error:
            if kept := finished.keep(distinct.pairs, checked):
                error.add_note(
                    f"{kept} finished checks are kept: compute again with the same "
                    f"check_correct_fn to check the others."
                )
            raise
    return [each for each in checked if each is not None]


def _check_missing(
    distinct: DistinctPairs,
    checked: list[PairResult | None],
    check: CheckBatch,
    batch_size: int | None,
    num_proc: int | None,
    executor: Executor | None,
    timeout: float | None,
    labels: Labels,
) -> None:
    """Check the pairs without a result, and raise an error for the first that has a problem."""
    missing = [place for place, result in enumerate(checked) if result is None]
    if not missing:
        return
    pairs = [distinct.pairs[place] for place in missing]
    first = 0  # all pairs before it have results
    try:
        results = check_in_workers(check, pairs, batch_size, num_proc, executor, timeout)
        with closing(results) as batches:
            for start, found in batches:
                places = missing[start : start + len(found)]
                for place, result in zip(places, found, strict=True):
                    checked[place] = result
                while first < len(checked) and (known := checked[first]) is not None:
                    if known[1] is not None:
                        _raise_problem(distinct.call(first), known[1], labels)
                    first += 1
    except BrokenExecutor as error:
        raise ValueError(
            f"A worker died. The first missing result is that of {distinct.call(first)}: "
            f"check_correct_fn may have ended its process, or used more memory than there is."
        ) from error
    if None in checked:
        given = len(checked) - checked.count(None)
        raise ValueError(f"The executor gave {given} results for {len(checked)} pairs.")


def _results_of(checked: list[PairResult], timeout: float | None) -> list[float | None]:
    """Return the result of each pair, and warn of those that took too long."""
    if late := sum(each is NOT_FINISHED for each in checked):
        warnings.warn(
            f"{late} of {len(checked)} distinct samples took longer to check than the timeout of "
            f"{timeout:g} s. They are not scored.",
            stacklevel=2,
        )
    return [each[0] for each in checked]


def _results_of_math_verify(checked: list[PairResult], timeout: float | None) -> list[float | None]:
    """Return the result of each pair. One that ran into a limit of math-verify is incorrect."""
    if timeout is None:
        checked = [(TIMED_OUT, None) if each is NOT_FINISHED else each for each in checked]
    results = _results_of(checked, timeout)
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
