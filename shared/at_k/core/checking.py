"""The checking of samples against references. Each distinct pair is checked once.

There are S samples of M questions, and P distinct pairs of a sample and its question's reference.
"""

from __future__ import annotations

import inspect
import math
import os
import platform
import re
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .checks import (
    InputError,
    InputWarning,
    InPython,
    Place,
    check_count,
    check_name,
    check_positive,
    short,
)
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
1, a label of one of these, or None if the sample is not to be scored. It may be async. If it has an
attribute `batched` that is True, it is a function of a list of predictions and a list of
references, and returns a list of results. The lists have at most `batch_size` entries, which is
another attribute of the function, by default 64. Named checkers with options are made by
`at_k.checkers`.
"""

PairToCheck = tuple[Any, Any]  # a prediction and a reference
PairBatch = tuple[int, list[PairToCheck]]  # the index of the first pair of a batch, and its pairs

PairResult = tuple[Any, str | BaseException | None]
"""The result of a pair and None; or None and the problem: an exception, or a text "returned .."."""

BatchResult = tuple[int, list[PairResult]]  # the index of the first pair, and all results

NOT_FINISHED: PairResult = (None, None)
"""The result of a pair that took too long, which is not scored. Compare it with `is`."""

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
    """A checker and the options that say how it runs.

    Attributes:
        checker: the name of a checker, or a function as `Checker` describes it.
        num_proc: number of processes to check in, or None for this process. A checker of
            `at_k.checkers` may carry this option and the next two.
        executor: an executor to check in, or None.
        timeout: seconds that a check may take, or None for no limit.
        labels: the number of each label that the checker may return, or None.
        package_checker: the checker object of the installed package, or None for "exact_match" and
            functions.

    A ValueError or TypeError is raised if an attribute is invalid, or if two exclude each other,
    and an ImportError if the checker needs a library that is not installed.
    """

    checker: Checker = "exact_match"
    num_proc: int | None = None
    executor: Executor | None = None
    timeout: float | None = None
    labels: Labels | None = None
    matches_exactly: bool = field(init=False)
    package_checker: Any = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Take the options that the checker carries, and validate all attributes."""
        for name, value in getattr(self.checker, "run_options", {}).items():
            if getattr(self, name) is not None:
                raise ValueError(
                    f"{name} is given to compute and to the checker: give it to the checker only."
                )
            setattr(self, name, value)
        is_name, is_object = isinstance(self.checker, str), hasattr(self.checker, "check_samples")
        if is_name:
            check_name("check_correct_fn", self.checker, CHECKERS)
        elif not is_object and not callable(self.checker):
            raise TypeError(
                f"check_correct_fn is {short(self.checker)}, which cannot be called: give a "
                f"function of a prediction and a reference, or one of the names "
                f"{', '.join(CHECKERS)}."
            )
        self._check_options()
        self.matches_exactly = is_name and self.checker == "exact_match"
        if is_object or (is_name and not self.matches_exactly):
            self.package_checker = PACKAGE.rooms.checker(self.checker)
            self.package_checker.validate(self)
        elif self._needs_workers():
            PACKAGE.rooms.check_workers(self)

    def _needs_workers(self) -> bool:
        """Return whether the options or the function need processes, threads or batches."""
        if self.timeout is not None or (self.num_proc or 1) > 1:
            return True
        return callable(self.checker) and (self.is_async or self.batch_size is not None)

    def _check_options(self) -> None:
        """Raise an error if num_proc, executor or timeout is invalid, or two exclude each other."""
        if self.num_proc is not None:
            check_count("num_proc", self.num_proc, "give a number of processes")
        if self.timeout is not None:
            check_positive("timeout", self.timeout, "give a number of seconds", math.inf)
        if self.executor is None:
            return
        if isinstance(self.executor, type) or not hasattr(self.executor, "map"):
            raise TypeError(
                f"executor is {short(self.executor)}: give an Executor, such as a pool."
            )
        if self.num_proc is not None:
            raise ValueError("num_proc and executor exclude each other: give one of them.")
        if self.timeout is not None:
            raise ValueError(
                "timeout cannot end the calls of an executor: give num_proc instead of the "
                "executor, or limit the time in check_correct_fn."
            )

    @property
    def is_async(self) -> bool:
        """Return whether the checker is an async function, or has an async `__call__` method."""
        call = getattr(self.checker, "__call__", None)  # noqa: B004
        return inspect.iscoroutinefunction(self.checker) or inspect.iscoroutinefunction(call)

    @cached_property
    def batch_size(self) -> int | None:
        """Return how many pairs a batched checker takes at once, or None if it is not batched."""
        if getattr(self.checker, "batched", None) is not True:
            return None
        size = getattr(self.checker, "batch_size", 64)
        return check_count("batch_size of check_correct_fn", size, "give a number of pairs")

    def check(self, samples: Samples, cache: CheckCache | None = None) -> Checked:
        """Check every sample against the reference of its question.

        A sample is not scored if it is None, if the checker returns None, or if its check takes
        longer than the timeout. If a check fails, the finished ones are added to the cache.

        Raises:
            ValueError: if the checker raises an exception (which is the cause), returns something
                that is not an outcome, or ends its process; or if a named checker cannot use a
                reference. The message has the index, such as predictions[3][7].
        """
        if self.matches_exactly:
            outcomes = outcomes_of_match(samples, match_exactly(samples))
            if samples.values.type == TEXTS:
                _warn_of_responses(samples, outcomes)
            return Checked(outcomes, samples.values)
        cache = CheckCache() if cache is None else cache
        if self.package_checker is not None:
            return self.package_checker.check_samples(samples, self, cache)
        pairs = DistinctPairs.from_samples(samples)
        results = self.results(pairs, cache, PACKAGE.rooms.check_pairs or Checking.check_here)
        return Checked(pairs.outcomes([outcome for outcome, _ in results]), samples.values)

    def results(
        self, pairs: DistinctPairs, cache: CheckCache, check_pairs: CheckPairs
    ) -> list[PairResult]:
        """Return the (P,) results of distinct pairs, with a warning of those that took too long.

        `check_pairs` checks the pairs that have no result in the cache. A ValueError is raised for
        a pair with a problem, a dead worker, or too few results.
        """
        finished = cache.results_of(self)
        # The texts of all pairs would take long, and are not needed without earlier results.
        results = [finished.get(repr(pair)) if finished else None for pair in pairs.pairs]
        try:
            self._check_missing(pairs, results, check_pairs)
        except BaseException as error:
            finished.keep(pairs.pairs, results)
            if finished:
                error.add_note(
                    f"{len(finished)} finished checks are kept: compute again with the same "
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

    def _check_missing(
        self, pairs: DistinctPairs, results: list[PairResult | None], check_pairs: CheckPairs
    ) -> None:
        """Check the pairs whose result is None, and set their entries in the (P,) `results`."""
        missing = [pair for pair, result in enumerate(results) if result is None]
        if not missing:
            return
        try:
            with closing(check_pairs(self, [pairs.pairs[pair] for pair in missing])) as batches:
                for start, batch in batches:
                    for pair, result in zip(missing[start:], batch, strict=False):
                        results[pair] = result
                        if result[1] is not None:
                            self._raise_problem(pairs.call(pair), result[1])
        except BrokenExecutor as error:
            raise InputError(
                "A worker died. The first missing result is that of ",
                *pairs.call(results.index(None)),
                ": check_correct_fn may have ended its process, or used more memory than there is. "
                "If no worker could start, protect the start of the program with "
                '`if __name__ == "__main__":`, as workers import the main module.',
            ) from error
        if None in results:
            known_results = len(results) - results.count(None)
            raise ValueError(f"The executor gave {known_results} results for {len(results)} pairs.")

    def check_here(self, pairs: list[PairToCheck]) -> Generator[BatchResult, None, None]:
        """Check pairs in the executor, or else in this thread; yield the results of each batch."""
        assert callable(self.checker)
        check = partial(check_batch, self.checker, self.labels or {}, host())
        if self.executor is None:
            yield from map(check, ((i, [pair]) for i, pair in enumerate(pairs)))
            return
        size = max(1, math.ceil(len(pairs) / 4096))  # so many batches keep many workers busy
        batches = [(start, pairs[start : start + size]) for start in range(0, len(pairs), size)]
        yield from self.executor.map(check, batches)

    def _raise_problem(self, call: tuple[str, Place], problem: str | BaseException) -> NoReturn:
        """Raise the error for a problem of a `PairResult`. `call` is from `DistinctPairs.call`."""
        if isinstance(problem, BaseException):
            text = text_or_type(str, problem)
            raise InputError(*call, f" raised {type(problem).__name__}: {text}.") from problem
        valid = "".join(f"{label!r}, " for label in self.labels or ())
        raise InputError(
            *call,
            f" {problem}: a result is {valid}a bool, a category 0, 1, 2, .., a share of "
            f"correctness from 0.0 to 1.0, or None for a sample that is not to be scored.",
        )


CheckPairs = Callable[[Checking, list[PairToCheck]], Generator[BatchResult, None, None]]
"""A function that checks pairs with the options of a `Checking`, and yields finished batches."""


# --- A batch of pairs ---------------------------------------------------------------------


def host() -> str:
    """Return a name of this process that differs from those of processes on other machines."""
    return f"{platform.node()}:{os.getpid()}"


def check_batch(
    checker: Callable[[Any, Any], Any],
    labels: Mapping[str, float] | None,
    home: str,
    batch: PairBatch,
) -> BatchResult:
    """Apply a checker to a batch of pairs, in any thread or process, and return the results.

    A problem is part of the result of its pair. `labels` is None for a checker of this package,
    whose results are not validated. `home` is the `host()` of the process that asks.
    """
    start, pairs = batch
    results = [call_checker(checker, home, *pair) for pair in pairs]
    return start, [validated_result(result, labels) for result in results]


def call_checker(checker: Callable[..., Any], home: str, *arguments: Any) -> PairResult:
    """Return the result of a checker and None; or None and the exception that it raised.

    An exception in a worker has its traceback as a note, and can be pickled.
    """
    # Workers receive the code of `PARTS_OF_BATCH` without the module.
    import copy
    import os
    import pickle
    import platform
    import traceback

    try:
        # The checker might change a dict or list, which samples share.
        own = [copy.deepcopy(x) if isinstance(x, (dict, list)) else x for x in arguments]
        return checker(*own), None
    except (Exception, SystemExit, GeneratorExit) as error:  # The checker may call sys.exit.
        problem: BaseException = error
        if home != f"{platform.node()}:{os.getpid()}":
            error.add_note(f"In the worker:\n{traceback.format_exc()}")
            try:
                pickle.loads(pickle.dumps(error))
            except Exception:  # some exceptions cannot be pickled
                problem = RuntimeError(f"{type(error).__name__}: {text_or_type(str, error)}")
        return None, problem


def validated_result(called: PairResult, labels: Mapping[str, float] | None) -> PairResult:
    """Return the outcome and None, or None and the problem, for what `call_checker` returned."""
    result, problem = called
    if problem is not None or labels is None:
        return called
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


PARTS_OF_BATCH = (text_or_type, validated_result, call_checker, check_batch)
"""What `check_batch` consists of. Workers may receive the code of these functions alone."""


# --- Distinct pairs, and a cache of results -----------------------------------------------


@dataclass(frozen=True)
class DistinctPairs:
    """The P distinct pairs of a sample and its question's reference, of S samples in all.

    Attributes:
        pairs: (P,) pairs of a prediction and a reference.
        first: (P,) index of the first sample of each pair.
        index: (S,) index of the pair of each sample, P for samples that are None.
        samples: all samples, with references.
    """

    pairs: list[PairToCheck]
    first: np.ndarray
    index: np.ndarray
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
        index = np.full(len(code), len(first))
        index[present] = inverse
        predictions, references = to_python(distinct), to_python(samples.references)
        pairs = [(predictions[code[sample]], references[question[sample]]) for sample in first]
        return cls(pairs, first, index, samples)

    def call(self, pair: int) -> tuple[str, Place]:
        """Return the text and the place that a message about the check of a pair starts with."""
        place = sample_place("predictions", self.samples.sizes, self.first[pair])
        return f"check_correct_fn({short(self.pairs[pair][0])}, ..) on ", place

    def outcomes(self, results: Sequence[float | None]) -> Samples:
        """Return the outcomes of all samples, from the (P,) outcomes of the pairs or None.

        Raises a ValueError if there are both categories above 1 and shares, which are floats.
        """
        padded = [*results, None]  # the last one is for samples that are None
        numbers = np.array([0 if result is None else result for result in padded])
        if numbers.dtype.kind == "f" and numbers.max() > 1:
            pair = int(numbers.argmax())
            raise InputError(
                *self.call(pair),
                f" returned {results[pair]}, a category, and shares of correctness for other "
                f"samples: return one of the two for all.",
            )
        scored = np.array([result is not None for result in padded])[self.index]
        samples = self.samples
        multiplicity = samples.multiplicity if scored.all() else samples.weights * scored
        return Samples(numbers[self.index], samples.sizes, _OUTCOMES, multiplicity)


class CheckCache(dict[str, PairResult]):
    """The finished checks of a run that failed by the `repr` of their pair, for a retry.

    The retry needs the same labels and an equal checker, such as the same function.
    """

    _checker: Any = None

    def __reduce__(self):
        return CheckCache, ()  # An empty cache is pickled: not every checker can be pickled.

    def results_of(self, checking: Checking) -> CheckCache:
        """Return this cache, emptied if its results are those of another checker or labels."""
        checker = (checking.checker, checking.labels)
        if self._checker != checker:
            self._checker = checker
            self.clear()
        return self

    def keep(self, pairs: list[PairToCheck], results: list[PairResult | None]) -> None:
        """Add the results of pairs that are known and have no problem."""
        for pair, result in zip(pairs, results, strict=True):
            if result is not None and result[1] is None:
                self[repr(pair)] = result


# --- exact_match --------------------------------------------------------------


def outcomes_of_match(samples: Samples, correct: np.ndarray) -> Samples:
    """Return the outcomes of samples from `correct`, (S,): whether each sample is correct."""
    return Samples(correct, samples.sizes, _OUTCOMES, samples.multiplicity)


def _warn_of_responses(samples: Samples, outcomes: Samples) -> None:
    """Warn if texts seem to be whole responses: if none equals its reference, or many contain it.

    Many are more than a tenth of those that equal it, among the first 1000 samples.
    """
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
