"""Judging: predictions and references become outcomes. Knows texts, and no statistics."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor
from contextlib import closing
from functools import cached_property
from numbers import Integral
from typing import Any

import dill
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from datasets.utils import tqdm

from ..checks import check_names, short
from .columns import (
    distinct_entries,
    is_number,
    is_text,
    samples_per_question,
    to_numpy,
    to_python,
)
from .named_checkers import NAMES, check_references, match, math_verify, math_verify_library
from .outcomes import Outcomes, per_question

Labels = Mapping[str, float]
"""What verdicts may be called, and the number that each label stands for."""

Verdict = bool | int | float | str | None
"""Right or wrong, a category, a share of correctness in [0, 1], a label of one of these, or
None: not scored."""

Judge = str | Callable[[Any, Any], Verdict]
"""check_correct_fn(prediction, reference) -> Verdict, or the name of one of `NAMES`."""


def check_judge(check: Judge, num_proc: int | None = None, executor: Executor | None = None):
    """Raise unless the judge can be called, and in one way."""
    if isinstance(check, str):
        check_names("check_correct_fn", [check], NAMES)
        if check == "math_verify":
            math_verify_library()
    elif not callable(check):
        raise TypeError(
            f"check_correct_fn is {short(check)}, which cannot be called: give a function of a "
            f"prediction and a reference, or one of the names {', '.join(NAMES)}."
        )
    if num_proc is not None:
        if executor is not None:
            raise ValueError("num_proc and executor both say where to judge: give one of them.")
        if isinstance(num_proc, bool) or not isinstance(num_proc, Integral) or num_proc < 1:
            raise ValueError(f"num_proc is {short(num_proc)}: give a number of processes.")
    if executor is not None and (isinstance(executor, type) or not hasattr(executor, "map")):
        raise TypeError(f"executor is {short(executor)}: give an Executor, such as a pool.")


def as_outcomes(predictions: pa.ChunkedArray, labels: Labels | None = None) -> Outcomes:
    """Predictions that are outcomes already. A missing one (None) is not scored.

    Raises:
        ValueError: that names the sample, unless each is a number or one of the labels.
    """
    values, sizes = pc.list_flatten(predictions), samples_per_question(predictions)
    if labels is not None and is_text(values.type):
        values = _numbers_of_labels(values, sizes, labels)
    if not (is_number(values.type) or pa.types.is_null(values.type)):
        raise ValueError(
            "There are no references to judge the predictions by, and they are no outcomes: give "
            "references, or bools or numbers as predictions."
        )
    scored = None
    if values.null_count:
        scored = to_numpy(values.is_valid())
        known = per_question(scored, sizes)
        if not known.all():
            raise ValueError(f"predictions[{known.argmin()}] holds nothing but None: leave it out.")
        kind = pa.int8() if pa.types.is_null(values.type) else values.type
        values = values.cast(kind).fill_null(pa.scalar(0).cast(kind))
    numbers = to_numpy(values)
    outcomes = Outcomes(numbers, sizes, "predictions", scored)
    if numbers.dtype.kind == "f":
        outcomes.require(np.isfinite(numbers), "an outcome is a finite number")
    return outcomes


def _numbers_of_labels(
    values: pa.ChunkedArray, sizes: np.ndarray, labels: Labels
) -> pa.ChunkedArray:
    place = pc.index_in(values, value_set=pa.array(list(labels), values.type))
    unknown = pc.and_(pc.is_null(place), pc.is_valid(values))
    if pc.any(unknown).as_py():
        sample = pc.index(unknown, True).as_py()
        where = Outcomes(np.empty(0), sizes, "predictions").place(sample)
        raise ValueError(
            f"{where} is {short(values[sample].as_py())}, which is none of {', '.join(labels)}."
        )
    return pc.take(pa.chunked_array([pa.array(list(labels.values()))]), place)


def judge(
    predictions: pa.ChunkedArray,
    references: pa.ChunkedArray,
    check: Judge = "exact_match",
    num_proc: int | None = None,
    executor: Executor | None = None,
    labels: Labels | None = None,
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
    name = "the verdict on predictions"
    if check == "exact_match" or check == "numeric":
        right = match(values, references, sizes, check)
        scored = to_numpy(values.is_valid()) if values.null_count else None
        return Outcomes(right, sizes, name, scored)
    answers = to_python(references)
    if isinstance(check, str):
        check_references(answers)
        check = math_verify

    distinct, code = distinct_entries(values)
    question = np.repeat(np.arange(len(sizes)), sizes)
    given = np.flatnonzero(code >= 0)
    keys = question[given] * len(distinct) + code[given]
    _, first, pair = np.unique(keys, return_index=True, return_inverse=True)
    first = given[first]
    entries = to_python(distinct)
    pairs = [(entries[code[sample]], answers[question[sample]]) for sample in first]

    verdicts: list[float | None] = []
    asker = _Asker(check, dict(labels or {}))
    with closing(_run(asker, pairs, num_proc, executor)) as said:
        for verdict, problem in said:
            if problem is not None:
                place = Outcomes(code, sizes, "predictions").place(int(first[len(verdicts)]))
                asked = f"check_correct_fn({short(pairs[len(verdicts)][0])}, ..) on {place}"
                if isinstance(problem, str):
                    raise ValueError(f"{asked} {problem}.")
                what = f"raised {type(problem).__name__}: {problem}"
                raise ValueError(f"{asked} {what}.") from problem
            verdicts.append(verdict)
    if len(verdicts) != len(pairs):
        raise ValueError(f"The executor gave {len(verdicts)} verdicts for {len(pairs)} pairs.")

    known = np.array([verdict is not None for verdict in verdicts], dtype=bool)
    whole = not any(isinstance(verdict, float) for verdict in verdicts)
    outcome = np.zeros(len(code), dtype=np.int64 if whole else np.float64)
    outcome[given] = np.array([verdict or 0 for verdict in verdicts], dtype=outcome.dtype)[pair]
    scored = np.zeros(len(code), dtype=bool)
    scored[given] = known[pair]
    return Outcomes(outcome, sizes, name, None if scored.all() else scored)


# --- Running a judge, here or elsewhere ---------------------------------------------

PairToCheck = tuple[Any, Any]
Said = tuple[float | None, str | BaseException | None]
"""A verdict as a number; or None and what is wrong: an exception, or a text that says it."""

_BATCHES = 256  # that the pairs are sent out in: enough to keep many workers busy


def _run(
    asker: _Asker,
    pairs: list[PairToCheck],
    num_proc: int | None,
    executor: Executor | None,
) -> Generator[Said, None, None]:
    """What is said to each pair, in order."""
    with tqdm(total=len(pairs), desc="Judging", unit=" pairs", delay=1) as bar:
        for batch in _batches(asker, pairs, num_proc, executor):
            bar.update(len(batch))
            yield from batch


def _batches(
    asker: _Asker,
    pairs: list[PairToCheck],
    num_proc: int | None,
    executor: Executor | None,
) -> Iterator[list[Said]]:
    size = max(1, -(-len(pairs) // _BATCHES))
    batches = [pairs[start : start + size] for start in range(0, len(pairs), size)]
    try:
        if executor is not None:
            yield from executor.map(asker, batches)
        elif num_proc is not None and num_proc > 1:
            # Each process is given the function once, which may carry much with it.
            with ProcessPoolExecutor(num_proc, initializer=_take, initargs=(asker,)) as processes:
                yield from processes.map(_ask_taken, batches)
        else:
            yield from (asker([pair]) for pair in pairs)
    except BrokenExecutor as error:
        raise ValueError(
            "A worker died while judging: check_correct_fn ended its process, or took more memory "
            "than there is."
        ) from error


_worker_checker: _Asker


def _take(asker: _Asker) -> None:
    global _worker_checker
    _worker_checker = asker


def _ask_taken(batch: list[PairToCheck]) -> list[Said]:
    return _worker_checker(batch)


def _asker(
    function: Callable[[Any, Any], Verdict] | None,
    pickled: bytes | None,
    home: int,
    labels: dict[str, float],
) -> Callable[[list[PairToCheck]], list[Said]]:
    """What asks the function, which is at hand or pickled, for its verdicts on pairs.

    `home` is the process that wants to know, to which an exception may have to travel.
    """

    # Nested, and free of names from this module, so that it travels by value: a worker
    # on another machine need not have the metric's code.
    def ask(batch: list[PairToCheck]) -> list[Said]:
        import os
        import pickle
        import traceback

        import dill

        call: Any = function if pickled is None else dill.loads(pickled)
        said: list[Said] = []
        for prediction, reference in batch:
            try:
                answer = call(prediction, reference)
            except (Exception, SystemExit) as error:  # model code in a judge may well exit
                problem: str | BaseException = error
                if os.getpid() != home:
                    error.add_note(f"In the worker:\n{traceback.format_exc()}")
                    try:
                        pickle.loads(pickle.dumps(error))
                    except Exception:  # not every exception survives the way back
                        problem = RuntimeError(f"{type(error).__name__}: {error}")
                said.append((None, problem))
                continue
            if getattr(answer, "ndim", None) == 0:
                answer = answer.item()  # of NumPy or torch
            if isinstance(answer, str):
                answer = labels.get(answer, answer)
            whole = isinstance(answer, int) and 0 <= answer < 2**31
            if answer is None or whole or (isinstance(answer, float) and 0 <= answer <= 1):
                said.append((answer, None))
            else:
                said.append(
                    (
                        None,
                        f"returned {repr(answer)[:60]}: a verdict is "
                        f"{''.join(f'{label!r}, ' for label in labels)}a bool, a category 0, 1, "
                        f"2, .., a share of correctness from 0.0 to 1.0, or None for a sample "
                        f"that is not to be scored",
                    )
                )
        return said

    return ask


class _Asker:
    """The asker of a function, which any pickle can carry anywhere: that of a lambda too."""

    def __init__(self, function: Callable[[Any, Any], Verdict], labels: dict[str, float]):
        self._function, self._home, self._labels = function, os.getpid(), labels

    def __call__(self, batch: list[PairToCheck]) -> list[Said]:
        return _asker(self._function, None, self._home, self._labels)(batch)

    @cached_property
    def _pickled(self) -> bytes:
        try:
            try:
                function = dill.dumps(self._function, recurse=True)
            except Exception:  # such as two functions that call each other
                function = dill.dumps(self._function)
        except Exception as error:
            raise ValueError(f"check_correct_fn cannot be sent to a worker: {error}.") from error
        return dill.dumps(_asker(None, function, self._home, self._labels), recurse=True)

    def __reduce__(self):
        return dill.loads, (self._pickled,)
