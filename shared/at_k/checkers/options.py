"""Named checkers with options, as functions. `choice` is in `choices`, with what it reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
    """

    named_checker: str
    stop: tuple[str, ...] = ()

    def __call__(self, prediction: str, reference: Any) -> float:
        """Return the outcome of one prediction.

        Raises:
            ValueError: if the reference cannot be used.
        """
        checked = Checking(self).check(stored(read_samples([[prediction]]), [reference]))
        return float(checked.outcomes.values[0])

    @property
    def __name__(self) -> str:
        """In what the command prints."""
        return self.named_checker


def checker_with_options(name: str, stop: Sequence[str]) -> NamedChecker:
    """Return a named checker; raise a ValueError if an option is invalid."""
    texts = (stop,) if isinstance(stop, str) else tuple(stop)
    for text in texts:
        if not isinstance(text, str) or not text:
            raise ValueError(f"stop has {short(text)}: give texts with which a response ends.")
    return NamedChecker(name, texts)


def numeric(stop: Sequence[str] = ()) -> NamedChecker:
    """Return the checker "numeric" with options.

    Args:
        stop: texts with which a response ends, such as the header of the next question. What
            follows is not read.

    Examples:
        >>> import at_k
        >>> checker = at_k.checkers.numeric(stop=["Exercise"])
        >>> at_k.load("gpassk").compute(
        ...     predictions=[["It is 7. Exercise 8"]], references=["7"], k=1, include="pass@k",
        ...     check_correct_fn=checker,
        ... )
        {'pass@1': 1.0}
    """
    return checker_with_options("numeric", stop)


def math_verify(stop: Sequence[str] = ()) -> NamedChecker:
    """Return the checker "math_verify" with options: see `numeric`."""
    return checker_with_options("math_verify", stop)
