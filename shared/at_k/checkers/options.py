"""Named checkers with options, as functions. `choice` is in `choices`, with what it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any

from ..core.checking import Checking
from ..core.checks import short
from ..core.columns import stored
from ..core.samples import read_samples


@dataclass(frozen=True)
class NamedChecker:
    """A named checker with options. Made by `numeric`, `choice` or `math_verify`.

    Attributes:
        named_checker: its name.
        stop: texts with which a response ends.
        run_options: see `ParallelChecker`.
    """

    named_checker: str
    stop: tuple[str, ...] = ()
    run_options: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __call__(self, prediction: str, reference: Any) -> float:
        """Return the outcome of one prediction.

        Raises:
            ValueError: if the reference cannot be used.
        """
        checking = Checking(NamedChecker(self.named_checker, self.stop))
        checked = checking.check(stored(read_samples([[prediction]]), [reference]))
        return float(checked.outcomes.values[0])

    @property
    def __name__(self) -> str:
        """In what the command prints."""
        return self.named_checker


@dataclass(frozen=True)
class ParallelChecker:
    """A function that checks samples, and where it runs. Made by `parallel`.

    Attributes:
        function: of a prediction and a reference.
        run_options: the values of num_proc, executor and timeout that were given.
    """

    function: Callable[[Any, Any], Any]
    run_options: Mapping[str, Any] = field(hash=False)

    def __call__(self, prediction: Any, reference: Any) -> Any:
        """Return what the function returns."""
        return self.function(prediction, reference)

    @property
    def __name__(self) -> str:
        """In what the command prints."""
        return getattr(self.function, "__name__", type(self.function).__name__)


def run_options(
    num_proc: int | None, executor: Executor | None, timeout: float | None
) -> dict[str, Any]:
    """Return those options that are given."""
    options = {"num_proc": num_proc, "executor": executor, "timeout": timeout}
    return {name: value for name, value in options.items() if value is not None}


def checker_with_options(
    name: str, stop: Sequence[str], options: Mapping[str, Any]
) -> NamedChecker:
    """Return a named checker; raise a ValueError if an option is invalid."""
    texts = (stop,) if isinstance(stop, str) else tuple(stop)
    for text in texts:
        if not isinstance(text, str) or not text:
            raise ValueError(f"stop has {short(text)}: give texts with which a response ends.")
    checker = NamedChecker(name, texts, options)
    Checking(checker)
    return checker


def parallel(
    check_correct_fn: Callable[[Any, Any], Any],
    num_proc: int | None = None,
    executor: Executor | None = None,
    timeout: float | None = None,
) -> ParallelChecker:
    """Return a checker that calls a function in other processes, or for a limited time.

    Args:
        check_correct_fn: a function of a prediction and a reference, see `compute`.
        num_proc: number of processes.
        executor: any `concurrent.futures.Executor`, in place of num_proc.
        timeout: seconds that a call may take. A sample whose check takes longer is not scored.

    Raises:
        ValueError, TypeError: if an option is invalid, or does not go with another.

    Examples:
        >>> import operator
        >>> import at_k
        >>> checker = at_k.checkers.parallel(operator.eq, num_proc=2)
        >>> at_k.load("gpassk").compute(
        ...     predictions=[["4", "5"]], references=["4"], k=1, include="pass@k",
        ...     check_correct_fn=checker,
        ... )
        {'pass@1': 0.5}
    """
    if not callable(check_correct_fn) or hasattr(check_correct_fn, "run_options"):
        raise TypeError(
            f"check_correct_fn is {short(check_correct_fn)}: give a function; named checkers have "
            f"these options themselves, such as at_k.checkers.math_verify(num_proc=4)."
        )
    checker = ParallelChecker(check_correct_fn, run_options(num_proc, executor, timeout))
    Checking(checker)
    return checker


def numeric(
    stop: Sequence[str] = (),
    num_proc: int | None = None,
    executor: Executor | None = None,
    timeout: float | None = None,
) -> NamedChecker:
    """Return the checker "numeric" with options.

    Args:
        stop: texts with which a response ends, such as the header of the next question. What
            follows is not read.
        num_proc, executor, timeout: see `parallel`. They change nothing here, as all samples are
            read at once in this process.

    Examples:
        >>> import at_k
        >>> checker = at_k.checkers.numeric(stop=["Exercise"])
        >>> at_k.load("gpassk").compute(
        ...     predictions=[["It is 7. Exercise 8"]], references=["7"], k=1, include="pass@k",
        ...     check_correct_fn=checker,
        ... )
        {'pass@1': 1.0}
    """
    return checker_with_options("numeric", stop, run_options(num_proc, executor, timeout))


def math_verify(
    stop: Sequence[str] = (),
    num_proc: int | None = None,
    executor: Executor | None = None,
    timeout: float | None = None,
) -> NamedChecker:
    """Return the checker "math_verify" with options.

    Args:
        stop: see `numeric`.
        num_proc, executor, timeout: see `parallel`.
    """
    return checker_with_options("math_verify", stop, run_options(num_proc, executor, timeout))
