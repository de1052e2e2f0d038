"""Run a checker on predictions and references, which gives outcomes."""

from __future__ import annotations

import math
import os
import socket
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor
from contextlib import closing
from functools import cached_property, partial
from numbers import Integral
from typing import Any

import dill
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from datasets.utils import tqdm

from ..checks import check_names, short
from .columns import distinct_entries, samples_per_question, to_numpy, to_python
from .graded import Labels, graded_outcomes
from .named_checkers import NAMES, check_references, match, math_verify, math_verify_library
from .outcomes import Outcomes, place
from .parsing import has_references

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
        ValueError: see `run_checker` and `graded_outcomes`.
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
        ValueError: the checker raised an exception (which is the cause), returned something that
            is not an outcome, or ended its process; the error names `predictions[i][j]`. Or a
            named checker cannot use a reference; the error names it.
    """
    validate_checker(checker, num_proc, executor)
    values, sizes = pc.list_flatten(predictions), samples_per_question(predictions)
    name = "the result for predictions"
    if checker == "exact_match" or checker == "numeric":
        correct = match(values, references, sizes, checker)
        scored = to_numpy(values.is_valid()) if values.null_count else None
        return Outcomes(correct, sizes, name, scored)
    answers = to_python(references)
    if isinstance(checker, str):
        check_references(answers)
        checker = math_verify

    distinct, code = distinct_entries(values)
    question = np.repeat(np.arange(len(sizes)), sizes)
    given = np.flatnonzero(code >= 0)
    keys = question[given] * len(distinct) + code[given]
    _, first, pair = np.unique(keys, return_index=True, return_inverse=True)
    first = given[first]
    entries = to_python(distinct)
    pairs = [(entries[code[sample]], answers[question[sample]]) for sample in first]

    results: list[float | None] = []
    check = CheckBatch(checker, dict(labels or {}))
    try:
        with closing(_run(check, pairs, num_proc, executor)) as checked:
            for result, problem in checked:
                if problem is not None:
                    call = _call(pairs[len(results)][0], sizes, first[len(results)])
                    if isinstance(problem, str):
                        raise ValueError(f"{call} {problem}.")
                    what = f"raised {type(problem).__name__}: {problem}"
                    raise ValueError(f"{call} {what}.") from problem
                results.append(result)
    except BrokenExecutor as error:
        raise ValueError(
            f"A worker died. The first missing result is that of "
            f"{_call(pairs[len(results)][0], sizes, first[len(results)])}: check_correct_fn may "
            f"have ended its process, or used more memory than there is."
        ) from error
    if len(results) != len(pairs):
        raise ValueError(f"The executor gave {len(results)} results for {len(pairs)} pairs.")

    known = np.array([result is not None for result in results], dtype=bool)
    whole = not any(isinstance(result, float) for result in results)
    outcome = np.zeros(len(code), dtype=np.int64 if whole else np.float64)
    outcome[given] = np.array([result or 0 for result in results], dtype=outcome.dtype)[pair]
    scored = np.zeros(len(code), dtype=bool)
    scored[given] = known[pair]
    return Outcomes(outcome, sizes, name, None if scored.all() else scored)


def _call(prediction: Any, sizes: np.ndarray, sample: int) -> str:
    """Return the call of the checker for a sample, as messages show it."""
    return f"check_correct_fn({short(prediction)}, ..) on {place('predictions', sizes, sample)}"


# --- Running a function here or in workers ------------------------------------------------

PairToCheck = tuple[Any, Any]
"""A prediction and a reference."""

PairResult = tuple[float | None, str | BaseException | None]
"""The outcome of a pair and None; or None and what went wrong, an exception or a description."""

_BATCHES = 256  # batches of pairs, enough to keep many workers busy


def _run(
    check: CheckBatch,
    pairs: list[PairToCheck],
    num_proc: int | None,
    executor: Executor | None,
) -> Generator[PairResult, None, None]:
    """Yield the result of each pair, in order, and show the progress."""
    with tqdm(total=len(pairs), desc="Checking", unit=" pairs", delay=1) as bar:
        for results in _run_batches(check, pairs, num_proc, executor):
            bar.update(len(results))
            yield from results


def _run_batches(
    check: CheckBatch,
    pairs: list[PairToCheck],
    num_proc: int | None,
    executor: Executor | None,
) -> Iterator[list[PairResult]]:
    size = max(1, math.ceil(len(pairs) / _BATCHES))
    batches = [pairs[start : start + size] for start in range(0, len(pairs), size)]
    if executor is not None:
        if isinstance(executor, ProcessPoolExecutor):
            _require_workers(executor, len(batches))
        yield from executor.map(check, batches)
    elif num_proc is not None and num_proc > 1:
        # The checker may be large: each process gets it once, not with every batch.
        with ProcessPoolExecutor(num_proc, initializer=_keep, initargs=(check,)) as pool:
            _require_workers(pool, len(batches))
            yield from pool.map(_check_with_kept, batches)
    else:
        yield from (check([pair]) for pair in pairs)


def _require_workers(pool: ProcessPoolExecutor, tasks: int) -> None:
    """Raise a ValueError unless workers start and run tasks that cannot fail.

    A worker that dies after this died while it checked a sample. A worker that cannot start is
    most often one that imports a main module which creates this pool again.
    """
    try:
        list(pool.map(bool, range(tasks)))
    except BrokenExecutor as error:
        raise ValueError(
            "No worker process could start; its own error is on standard error. Workers import "
            "the main module: protect the start of the program with "
            '`if __name__ == "__main__":`.'
        ) from error


_kept_check: CheckBatch


def _keep(check: CheckBatch) -> None:
    """Keep the checker in a worker process."""
    global _kept_check
    _kept_check = check


def _check_with_kept(batch: list[PairToCheck]) -> list[PairResult]:
    return _kept_check(batch)


class CheckBatch:
    """Runs a checker on a batch of pairs, in this process or in another one.

    Any pickle can carry it, to a process that has neither this module nor the checker's: it is
    pickled as what `dill` makes of the checker and of the function that calls it.
    """

    def __init__(self, checker: Callable[[Any, Any], CheckResult], labels: dict[str, float]):
        self._checker = checker
        self._settings = labels, f"{socket.gethostname()}:{os.getpid()}"

    def __call__(self, batch: list[PairToCheck]) -> list[PairResult]:
        return _function_for_workers()(self._checker, *self._settings, batch)

    def __reduce__(self):
        return partial, (*self._pickled, *self._settings)

    @cached_property
    def _pickled(self) -> tuple[_Dilled, _Dilled]:
        function = dill.dumps(_function_for_workers(), recurse=True)
        try:
            try:
                checker = dill.dumps(self._checker, recurse=True)
            except Exception:  # two functions that call each other, for example
                checker = dill.dumps(self._checker)
        except Exception as error:
            raise ValueError(f"check_correct_fn cannot be sent to a worker: {error}.") from error
        return _Dilled(function), _Dilled(checker)


class _Dilled:
    """An object as the bytes that `dill` made of it: unpickling gives the object itself."""

    def __init__(self, pickled: bytes):
        self._bytes = pickled

    def __reduce__(self):
        return dill.loads, (self._bytes,)


def _function_for_workers() -> Callable[..., list[PairResult]]:
    """Return the function that runs a checker on a batch of pairs.

    It is defined inside this function, imports what it uses and refers to nothing in this module,
    because `dill` then pickles its code. A function at the top level would be pickled as a name,
    and a worker on another machine could not import it without the code of the metric.
    """

    def check_batch(
        checker: Callable[[Any, Any], CheckResult],
        labels: dict[str, float],
        home: str,
        batch: list[PairToCheck],
    ) -> list[PairResult]:
        import os
        import pickle
        import socket
        import traceback

        results: list[PairResult] = []
        for prediction, reference in batch:
            try:
                result: Any = checker(prediction, reference)
            except (Exception, SystemExit) as error:  # generated code may well call sys.exit
                problem: BaseException = error
                if home != f"{socket.gethostname()}:{os.getpid()}":
                    error.add_note(f"In the worker:\n{traceback.format_exc()}")
                    try:
                        pickle.loads(pickle.dumps(error))
                    except Exception:  # some exceptions cannot be pickled
                        problem = RuntimeError(f"{type(error).__name__}: {error}")
                results.append((None, problem))
                continue
            if getattr(result, "ndim", None) == 0:
                result = result.item()  # a scalar of NumPy or torch
            if isinstance(result, str):
                result = labels.get(result, result)
            is_category = isinstance(result, int) and 0 <= result < 2**31
            if result is None or is_category or (isinstance(result, float) and 0 <= result <= 1):
                results.append((result, None))
            else:
                results.append(
                    (
                        None,
                        f"returned {repr(result)[:60]}: a result is "
                        f"{''.join(f'{label!r}, ' for label in labels)}a bool, a category 0, 1, "
                        f"2, .., a share of correctness from 0.0 to 1.0, or None for a sample "
                        f"that is not to be scored",
                    )
                )
        return results

    return check_batch
