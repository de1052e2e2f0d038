"""How samples are checked: each distinct pair of a sample and its reference once."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property, partial
from numbers import Real
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..checks import InputError, Place, check_count, check_name, short
from .columns import TEXTS, distinct_entries, from_numpy, to_python
from .named_checkers import (
    LONGEST_CHECK,
    NAMES,
    TIME_LIMIT,
    TIMED_OUT,
    check_references,
    match_choices,
    match_exactly,
    match_numbers,
    math_verify_library,
    python_tests_checker,
    verify_math,
)
from .outcomes import Labels, Outcomes
from .portable import BatchResult, PairResult, PairToCheck
from .rows import Rows, sample_place
from .workers import CONCURRENT_CALLS, NOT_FINISHED, Workers, is_async, with_progress

CheckResult = bool | int | float | str | None
"""What a checker returns for a sample: correct or incorrect, a category, a share of
correctness from 0 to 1, a label of one of these, or None if the sample is not to be scored."""

Checker = str | Callable[[Any, Any], Any]
"""check_correct_fn(prediction, reference) -> CheckResult, or one of the names in `NAMES`.

The function may be async. If it has an attribute `batched` that is True, it is a function of a list
of predictions and a list of references, and returns a list of results. The lists have at most
`batch_size` entries, which is another attribute of the function, by default 64. A checker with the
methods `read_references` and `check_pairs`, as `python_tests` has, runs its own workers.
"""

_CHECKED = "the result for predictions"  # what messages call the outcomes of a checker
_COMPARED = 1000  # samples that are searched for their reference, for a warning


@dataclass(frozen=True)
class Checked:
    """The outcomes of samples, and the answers that a checker compared.

    Attributes:
        outcomes: the outcomes, or the counts of them that a metric makes.
        read: (S,) the answer that was read out of each sample, or a code of it; None for samples
            without one. For "exact_match" and functions the whole sample is the answer. Samples
            that were handed in as outcomes have no answers.
        graded: the outcome of each sample, if `outcomes` are counts of them.
    """

    outcomes: Any
    read: pa.ChunkedArray | None = None
    graded: Outcomes | None = None

    @cached_property
    def answers(self) -> np.ndarray | None:
        """(S,) a code of each sample's answer, or -1 if it has none: equal for equal answers."""
        read = self.read
        if read is None:
            return None
        if pa.types.is_floating(read.type):
            read = pc.add(read, pa.scalar(0.0, read.type))  # so that -0.0 equals 0.0
        return distinct_entries(read)[1]


@dataclass(frozen=True)
class Checking:
    """A checker, and how it runs. All is validated when the object is made.

    Attributes:
        checker: see `Checker`.
        num_proc: number of processes to check in.
        executor: an executor to check in.
        timeout: seconds that a check may take.
        labels: labels that stand for outcomes, and the number of each.

    Raises:
        ValueError, TypeError: if an attribute is invalid, or does not go with another.
        ImportError: if the checker needs a library that is not installed.
    """

    checker: Checker = "exact_match"
    num_proc: int | None = None
    executor: Executor | None = None
    timeout: float | None = None
    labels: Labels | None = None

    def __post_init__(self) -> None:
        checker, num_proc, executor = self.checker, self.num_proc, self.executor
        if isinstance(checker, str):
            check_name("check_correct_fn", checker, NAMES)
        if self._name is not None:
            if self._name == "math_verify":
                math_verify_library()
                if isinstance(executor, ThreadPoolExecutor):
                    raise ValueError(
                        "executor runs threads, in which math_verify has no time limit: give "
                        "num_proc or an executor of processes."
                    )
        elif not callable(checker):
            raise TypeError(
                f"check_correct_fn is {short(checker)}, which cannot be called: give a function of "
                f"a prediction and a reference, or one of the names {', '.join(NAMES)}."
            )
        if num_proc is not None:
            if executor is not None:
                raise ValueError("num_proc and executor exclude each other: give one of them.")
            check_count("num_proc", num_proc, "give a number of processes")
        if executor is not None and (isinstance(executor, type) or not hasattr(executor, "map")):
            raise TypeError(f"executor is {short(executor)}: give an Executor, such as a pool.")
        timeout = self.timeout
        if timeout is not None:
            if isinstance(timeout, bool) or not isinstance(timeout, Real) or not timeout > 0:
                raise ValueError(f"timeout is {short(timeout)}: give a number of seconds.")
            if executor is not None or is_async(checker):
                raise ValueError(
                    "timeout cannot end the calls of an executor or of an async check_correct_fn: "
                    "give num_proc instead of the executor, or limit the time in the function."
                )
        if is_async(checker) and not (
            num_proc in (None, 1) and isinstance(executor, ThreadPoolExecutor | None)
        ):
            raise ValueError(
                f"check_correct_fn is an async function, {CONCURRENT_CALLS} calls of which run at "
                f"the same time: give neither num_proc nor processes, but a ThreadPoolExecutor as "
                f"executor to run more or fewer."
            )
        if self._runner is not None and (executor is not None or timeout is not None):
            raise ValueError(
                "python_tests runs programs in sandboxes of its own: give num_proc for their "
                "number instead of an executor, and check_correct_fn=python_tests(timeout=..) of "
                "at_k.checkers instead of a timeout."
            )
        self._batch_size  # noqa: B018

    @property
    def _name(self) -> str | None:
        """The name of a named checker, also of one with options (see `at_k.checkers.options`)."""
        name = self.checker if isinstance(self.checker, str) else None
        return getattr(self.checker, "named_checker", name)

    @property
    def _stop(self) -> tuple[str, ...]:
        return getattr(self.checker, "stop", ()) if self._name is not None else ()

    @cached_property
    def _runner(self) -> Any:
        """The checker if it runs its own workers, or None."""
        checker = python_tests_checker() if self.checker == "python_tests" else self.checker
        return checker if hasattr(checker, "check_pairs") else None

    @cached_property
    def _batch_size(self) -> int | None:
        """The number of pairs that the checker takes at once, or None if it takes single ones."""
        if getattr(self.checker, "batched", None) is not True:
            return None
        size = getattr(self.checker, "batch_size", 64)
        return check_count("batch_size of check_correct_fn", size, "give a number of pairs")

    def check(self, rows: Rows, cache: CheckCache | None = None) -> Checked:
        """Check every sample.

        Each distinct pair of a prediction and its question's reference is checked once. A sample is
        not scored if it is None, if the checker returns None, or if its check takes too long.

        Args:
            rows: the samples and references.
            cache: results of earlier checks; a failed run adds its own.

        Raises:
            ValueError: if the checker raises an exception (which is the cause), returns something
                that is not an outcome, or ends its process, with its index `predictions[i][j]`; or
                if a named checker cannot use a reference, with its index.
        """
        if self.checker == "exact_match":
            outcomes = _outcomes_of_match(rows, match_exactly(rows))
            if rows.values.type == TEXTS:
                _warn_of_responses(rows, outcomes)
            return Checked(outcomes, rows.values)
        if self._name in ("numeric", "choice"):
            match = match_numbers if self._name == "numeric" else match_choices
            correct, answers = match(rows, self._stop)
            return Checked(_outcomes_of_match(rows, correct), answers)
        if self._name == "math_verify":
            check_references(rows.references)
        if self._runner is not None:
            self._runner.read_references(to_python(rows.references))
            if rows.values.type != TEXTS:
                first = 0 if rows.is_present is None else int(rows.is_present.argmax())
                what = f" is {short(to_python(rows.values)[first])}: python_tests checks Python "
                raise InputError(sample_place(rows.name, rows.sizes, first), what, "code.")
        pairs = DistinctPairs.of(rows)
        results = self._results(pairs, cache or CheckCache())
        if self._name == "math_verify":
            return self._read_by_math_verify(pairs, results)
        return Checked(pairs.outcomes([result for result, _ in results]), rows.values)

    def _read_by_math_verify(self, pairs: DistinctPairs, results: list[PairResult]) -> Checked:
        """Return outcomes and answers. A pair that ran into a limit of math-verify is incorrect."""
        unfinished = (TIMED_OUT if self.timeout is None else None, None)
        read = [unfinished if result is NOT_FINISHED else result[0] for result in results]
        if late := sum(grade == TIMED_OUT for grade, _ in read):
            warnings.warn(
                f"{late} of {len(read)} distinct samples ran into the time limit of {TIME_LIMIT} s "
                f"of math-verify, and count as incorrect.",
                stacklevel=3,
            )
        grades = [0 if grade == TIMED_OUT else grade for grade, _ in read]
        return Checked(pairs.outcomes(grades), pairs.answers([answer for _, answer in read]))

    def _results(self, pairs: DistinctPairs, cache: CheckCache) -> list[PairResult]:
        """Return the result of each distinct pair, and warn of those that took too long."""
        results = cache.results(self, pairs)
        try:
            self._check_missing(pairs, results)
        except BaseException as error:
            if kept := cache.keep(pairs, results):
                error.add_note(
                    f"{kept} finished checks are kept: compute again with the same "
                    f"check_correct_fn to check the others."
                )
            raise
        late = sum(result is NOT_FINISHED for result in results)
        if late and self.timeout is not None:
            warnings.warn(
                f"{late} of {len(results)} distinct samples took longer to check than the timeout "
                f"of {self.timeout:g} s. They are not scored.",
                stacklevel=3,
            )
        return [result for result in results if result is not None]

    def _check_missing(self, pairs: DistinctPairs, results: list[PairResult | None]) -> None:
        """Fill in the results that are None; raise an error for the first pair with a problem."""
        missing = [pair for pair, result in enumerate(results) if result is None]
        if not missing:
            return
        first = 0  # all pairs before it have results
        try:
            with closing(self._batches([pairs.pairs[pair] for pair in missing])) as batches:
                for start, batch in batches:
                    checked = missing[start : start + len(batch)]
                    for pair, result in zip(checked, batch, strict=True):
                        results[pair] = result
                    while first < len(results) and (known := results[first]) is not None:
                        if known[1] is not None:
                            self._raise_problem(pairs.call(first), known[1])
                        first += 1
        except BrokenExecutor as error:
            raise InputError(
                "A worker died. The first missing result is that of ",
                *pairs.call(first),
                ": check_correct_fn may have ended its process, or used more memory than there is.",
            ) from error
        if None in results:
            known_results = len(results) - results.count(None)
            raise ValueError(f"The executor gave {known_results} results for {len(results)} pairs.")

    def _batches(self, pairs: list[PairToCheck]) -> Generator[BatchResult, None, None]:
        """Yield the results of batches of pairs as they finish."""
        if self._runner is not None:
            batches = self._runner.check_pairs(pairs, self.num_proc)
            return with_progress(batches, len(pairs))
        if callable(self.checker):
            workers = Workers(self.num_proc, self.executor, self.timeout, self._batch_size)
            return workers.check(self.checker, self.labels or {}, pairs)
        # Some expressions ignore the time limit of math-verify, so it runs where it can be ended.
        limit = self.timeout or (LONGEST_CHECK if self.executor is None else None)
        return Workers(self.num_proc, self.executor, limit).check(
            partial(verify_math, stop=self._stop), None, pairs
        )

    def _raise_problem(self, call: tuple[str, Place], problem: str | BaseException) -> NoReturn:
        """Raise the error of a call that raised an exception, or returned no outcome."""
        if isinstance(problem, BaseException):
            try:
                text = str(problem)
            except Exception:  # its own class cannot write it
                text = "without a message"
            raise InputError(*call, f" raised {type(problem).__name__}: {text}.") from problem
        valid = "".join(f"{label!r}, " for label in self.labels or ())
        raise InputError(
            *call,
            f" {problem}: a result is {valid}a bool, a category 0, 1, 2, .., a share of "
            f"correctness from 0.0 to 1.0, or None for a sample that is not to be scored.",
        )


# --- Distinct pairs, and results that are kept --------------------------------------------


@dataclass(frozen=True)
class DistinctPairs:
    """The P distinct pairs of a sample and its question's reference, of S samples in all.

    Attributes:
        pairs: (P,) a prediction and a reference each.
        first: (P,) index of the first sample of each pair.
        index: (S,) index of the pair of each sample, P for samples that are None.
        rows: the samples.
    """

    pairs: list[PairToCheck]
    first: np.ndarray
    index: np.ndarray
    rows: Rows

    @classmethod
    def of(cls, rows: Rows) -> DistinctPairs:
        """Find the distinct pairs."""
        distinct, code = distinct_entries(rows.values)
        question = np.repeat(np.arange(len(rows.sizes)), rows.sizes)
        present = np.flatnonzero(code >= 0)
        keys = question[present] * len(distinct) + code[present]
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        first = present[first]
        index = np.full(len(code), len(first))
        index[present] = inverse
        samples, references = to_python(distinct), to_python(rows.references)
        pairs = [(samples[code[sample]], references[question[sample]]) for sample in first]
        return cls(pairs, first, index, rows)

    def call(self, pair: int) -> tuple[str, Place]:
        """Return the call of the checker for a pair, as parts of messages."""
        place = sample_place("predictions", self.rows.sizes, self.first[pair])
        return f"check_correct_fn({short(self.pairs[pair][0])}, ..) on ", place

    def outcomes(self, results: Sequence[float | None]) -> Outcomes:
        """Return the outcomes of all samples, from the (P,) results of the pairs."""
        dtype = np.float64 if any(isinstance(result, float) for result in results) else np.int64
        values = np.array([*(result or 0 for result in results), 0], dtype=dtype)[self.index]
        is_scored = np.array([*(result is not None for result in results), False], dtype=bool)
        scored = is_scored[self.index]
        sizes, multiplicity = self.rows.sizes, self.rows.multiplicity
        return Outcomes(
            values, sizes, _CHECKED, None if scored.all() else scored, multiplicity=multiplicity
        )

    def answers(self, answers: Sequence[str | None]) -> pa.ChunkedArray:
        """Return a code of the answer of each sample, from the (P,) answers of the pairs."""
        codes: dict[str | None, int] = {None: -1}
        of_pairs = [codes.setdefault(answer, len(codes)) for answer in (*answers, None)]
        of_samples = np.array(of_pairs)[self.index]
        return pa.chunked_array([from_numpy(of_samples, of_samples < 0)])


class CheckCache:
    """Results of earlier checks; a failed run adds its own.

    A retry with the same checker checks only the other pairs. The same checker is the same
    function, or the same method of the same object.
    """

    def __init__(self) -> None:
        self._checker: Any = None
        self._results: dict[str, PairResult] = {}

    def __reduce__(self):
        return CheckCache, ()  # not every checker can be pickled

    def results(self, checking: Checking, pairs: DistinctPairs) -> list[PairResult | None]:
        """Return the results of these pairs, None for a pair that is to be checked."""
        checker = (checking.checker, checking.labels)
        if self._checker != checker:
            self._checker, self._results = checker, {}
        if not self._results:
            return [None] * len(pairs.pairs)
        return [self._results.get(repr(pair)) for pair in pairs.pairs]

    def keep(self, pairs: DistinctPairs, results: list[PairResult | None]) -> int:
        """Keep the results of pairs, except problems, and return how many are kept in all."""
        for pair, result in zip(pairs.pairs, results, strict=True):
            if result is not None and result[1] is None:
                self._results[repr(pair)] = result
        return len(self._results)


# --- exact_match and numeric --------------------------------------------------------------


def _outcomes_of_match(rows: Rows, correct: np.ndarray) -> Outcomes:
    return Outcomes(correct, rows.sizes, _CHECKED, rows.is_present, multiplicity=rows.multiplicity)


def _warn_of_responses(rows: Rows, outcomes: Outcomes) -> None:
    """Warn if texts are compared with answers that they contain, or if none equals its answer."""
    first = slice(_COMPARED)
    correct, multiplicity = outcomes.values[first], np.ones(_COMPARED, dtype=int)
    if rows.multiplicity is not None:
        multiplicity = rows.multiplicity
    multiplicity = multiplicity[: len(correct)]
    if outcomes.values.any():
        texts, references = to_python(rows.values[first]), to_python(rows.references[first])
        question = np.repeat(np.arange(len(references)), rows.sizes[first])
        containing = [
            sample
            for sample in np.flatnonzero(~correct)
            if _contains(texts[sample], references[question[sample]])
        ]
        contain, equal = multiplicity[containing].sum(), multiplicity[correct].sum()
        if 10 * contain <= equal:  # as correct samples, they would raise the score by up to a tenth
            return
        problem = (
            f"{contain} of the first {multiplicity.sum()} samples contain their reference but do "
            f"not equal it"
        )
    else:
        problem = f"None of the {outcomes.n.sum()} scored samples equals its reference"
    remedy = "'numeric' compares the number that a text gives, 'math_verify' compares mathematical "
    remedy += "expressions, and 'python_tests' runs programs with tests"
    if all(map(_is_choice, to_python(rows.references[first]))):
        remedy = "'choice' compares the option that a text chooses"
    warnings.warn(
        f"{problem}: exact_match compares whole texts. check_correct_fn={remedy}.",
        stacklevel=3,
    )


def _is_choice(reference: Any) -> bool:
    """Whether a reference is a single letter, yes or no, or a list of those."""
    references = reference if isinstance(reference, list) else [reference]
    return all(
        isinstance(answer, str) and re.fullmatch(r"\(?[A-Z]\)?|yes|no|Yes|No", answer.strip())
        for answer in references
    )


def _contains(text: str | None, reference: Any) -> bool:
    """Whether a text has an answer, or one of several, between other words."""
    answers = reference if isinstance(reference, list) else [reference]
    return any(
        isinstance(answer, str)
        and answer
        and re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text or "")
        for answer in answers
    )
