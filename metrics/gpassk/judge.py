"""Judging: predictions and references become outcomes. Knows texts, and no statistics."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import closing
from functools import cached_property
from typing import Any

import dill
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from datasets.utils import tqdm

from .answers import NAMES, match, math_verify, math_verify_library
from .columns import distinct_entries, is_number, samples_per_question, to_numpy, to_python
from .outcomes import Outcomes

Verdict = bool | int | float | None
"""Right or wrong, a category, a share of correctness in [0, 1], or None: not scored."""

Judge = str | Callable[[Any, Any], Verdict]
"""check_correct_fn(prediction, reference) -> Verdict, or the name of one of `NAMES`."""


def check_judge(check: Judge, num_proc: int | None = None, executor: Executor | None = None):
    """Raise unless the judge can be called, and in one way."""
    if isinstance(check, str):
        if check not in NAMES:
            raise ValueError(
                f"check_correct_fn is {check!r}: give a function of a prediction and a "
                f"reference, or one of the names {', '.join(NAMES)}."
            )
        if check == "math_verify":
            math_verify_library()
    elif not callable(check):
        raise TypeError(f"check_correct_fn is {check!r}, which cannot be called.")
    if num_proc is not None and (isinstance(num_proc, bool) or num_proc < 1):
        raise ValueError(f"num_proc is {num_proc!r}: give a number of processes from 1 on.")
    if num_proc is not None and executor is not None:
        raise ValueError("num_proc and executor both say where to judge: give one of them.")


def as_outcomes(predictions: pa.ChunkedArray) -> Outcomes:
    """Predictions that are outcomes already. A missing one (None) is not scored."""
    values, sizes = pc.list_flatten(predictions), samples_per_question(predictions)
    if not (is_number(values.type) or pa.types.is_null(values.type)):
        raise ValueError(
            f"predictions are of type {values.type}, and there are no references to judge them "
            f"by: give references, or outcomes that are bools or numbers."
        )
    scored = to_numpy(values.is_valid()) if values.null_count else None
    kind = pa.int8() if pa.types.is_null(values.type) else values.type
    numbers = to_numpy(values.cast(kind).fill_null(pa.scalar(0).cast(kind)))
    outcomes = Outcomes(numbers, sizes, "predictions", scored)
    if numbers.dtype.kind == "f":
        outcomes.require(np.isfinite(numbers), "an outcome is a finite number")
    return outcomes


def judge(
    predictions: pa.ChunkedArray,
    references: pa.ChunkedArray,
    check: Judge = "exact_match",
    num_proc: int | None = None,
    executor: Executor | None = None,
) -> Outcomes:
    """The verdict on every sample.

    Each distinct pair of a prediction and its question's reference is judged once. A
    prediction that is None is not scored, nor is one that the judge answers None to.

    Raises:
        ValueError: that names `predictions[i][j]`, where the judge raised (its exception
            is the cause) or returned no verdict; or the reference that cannot be judged by.
    """
    check_judge(check, num_proc, executor)
    values, sizes = pc.list_flatten(predictions), samples_per_question(predictions)
    if check == "exact_match" or check == "numeric":
        right = match(values, references, sizes, check)
        return Outcomes(right, sizes, _NAME, to_numpy(values.is_valid()))
    function = math_verify if isinstance(check, str) else check
    return _judge_pairs(values, references, sizes, function, num_proc, executor)


_NAME = "the verdict on predictions"


# --- Functions: each distinct pair is judged once -----------------------------------


def _judge_pairs(
    values: pa.ChunkedArray,
    references: pa.ChunkedArray,
    sizes: np.ndarray,
    function: Callable[[Any, Any], Verdict],
    num_proc: int | None,
    executor: Executor | None,
) -> Outcomes:
    distinct, index = distinct_entries(values)
    asked_for = to_python(references)
    question = np.repeat(np.arange(len(sizes)), sizes)
    given = np.array([entry is not None for entry in distinct], dtype=bool)[index]
    samples = np.flatnonzero(given)
    keys = question[samples] * len(distinct) + index[samples]
    _, first, pair = np.unique(keys, return_index=True, return_inverse=True)
    first = samples[first]
    pairs = [(distinct[index[sample]], asked_for[question[sample]]) for sample in first]

    verdicts = np.zeros(len(pairs))
    scored = np.ones(len(pairs), dtype=bool)
    whole = True
    with closing(_run(function, pairs, num_proc, executor)) as answers:
        for position, (answer, error) in enumerate(answers):
            verdict = _plain(answer)
            if error is None and verdict is None:
                scored[position] = False
            elif error is None and _is_verdict(verdict):
                verdicts[position] = verdict
                whole = whole and isinstance(verdict, int)
            else:
                place = Outcomes(index, sizes, "predictions").place(int(first[position]))
                raise ValueError(_complaint(place, pairs[position][0], answer, error)) from error

    outcome = np.zeros(len(index), dtype=np.int64 if whole else np.float64)
    outcome[samples] = verdicts[pair]
    kept = given.copy()
    kept[samples] = scored[pair]
    return Outcomes(outcome, sizes, _NAME, None if kept.all() else kept)


def _plain(answer):
    """Verdicts of NumPy or torch as Python's own."""
    return answer.item() if getattr(answer, "ndim", None) == 0 else answer


def _is_verdict(verdict) -> bool:
    if isinstance(verdict, float):
        return 0 <= verdict <= 1
    return isinstance(verdict, int) and verdict >= 0


def _complaint(place: str, prediction, answer, error: Exception | None) -> str:
    if error is not None:
        problem = f"raised {type(error).__name__}: {error}"
    else:
        problem = (
            f"returned {answer!r}: a verdict is a bool, a category 0, 1, 2, .., a share of "
            f"correctness from 0.0 to 1.0, or None for a sample that is not to be scored"
        )
    return f"check_correct_fn({_short(prediction)}, ..) on {place} {problem}."


def _short(text, most: int = 60) -> str:
    shown = repr(text)
    return shown if len(shown) <= most else f"{shown[:most]}.."


# --- Running a judge, here or elsewhere ---------------------------------------------

Pair = tuple[Any, Any]
Answer = tuple[Any, Exception | None]

_BATCHES = 256  # that the pairs are sent out in: enough to keep many workers busy


def _run(
    function: Callable[[Any, Any], Verdict],
    pairs: list[Pair],
    num_proc: int | None,
    executor: Executor | None,
) -> Generator[Answer, None, None]:
    """What the function answers to each pair, in order, or the exception it raises."""
    with tqdm(total=len(pairs), desc="Judging", unit=" pairs", delay=1) as bar:
        for answers in _batches(function, pairs, num_proc, executor):
            bar.update(len(answers))
            yield from answers


def _batches(
    function: Callable[[Any, Any], Verdict],
    pairs: list[Pair],
    num_proc: int | None,
    executor: Executor | None,
) -> Iterator[list[Answer]]:
    if executor is not None:
        size = -(-len(pairs) // _BATCHES)
        batches = [pairs[start : start + size] for start in range(0, len(pairs), size or 1)]
        yield from executor.map(_ByValue(_asker(function, remote=True)), batches)
    elif num_proc is not None and num_proc > 1:
        with ProcessPoolExecutor(num_proc) as processes:
            yield from _batches(function, pairs, None, processes)
    else:
        ask = _asker(function, remote=False)
        yield from (ask([pair]) for pair in pairs)


def _asker(
    function: Callable[[Any, Any], Verdict], remote: bool
) -> Callable[[list[Pair]], list[Answer]]:
    # Nested, and free of names from this module, so that it travels by value: a worker
    # on another machine need not have the metric's code.
    def ask(batch: list[Pair]) -> list[Answer]:
        import pickle
        import traceback

        answers: list[Answer] = []
        for prediction, reference in batch:
            try:
                answers.append((function(prediction, reference), None))
            except Exception as error:
                if remote:
                    error.add_note("In the worker:\n" + traceback.format_exc())
                    try:
                        pickle.loads(pickle.dumps(error))
                    except Exception:  # not every exception survives the way back
                        error = RuntimeError(f"{type(error).__name__}: {error}")
                answers.append((None, error))
        return answers

    return ask


class _ByValue:
    """A function that any pickle can carry to any executor: a lambda too."""

    def __init__(self, function: Callable[[list[Pair]], list[Answer]]):
        self.function = function

    def __call__(self, batch: list[Pair]) -> list[Answer]:
        return self.function(batch)

    @cached_property
    def _pickle(self) -> bytes:
        try:
            return dill.dumps(self.function, recurse=True)
        except Exception as error:
            raise ValueError(f"check_correct_fn cannot be sent to a worker: {error}") from error

    def __reduce__(self):
        return dill.loads, (self._pickle,)
