"""What the core asks of the rooms around it.

A metric that `evaluate` loads as a script has the core alone, as its kernel. The installed package
has more: limits for the same questions, other checkers, worker processes, rarer scores. The core
calls them through `PACKAGE.rooms`. Its methods are those of `Rooms`, which say what is missing,
until `at_k/__init__` sets an object that has them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NoReturn

KERNEL = ""
"""A hash of the core, in a kernel. `shared/vendor.py` sets it."""

INSTALL = 'pip install "evaluate-at-k @ git+https://github.com/evaluate-at-k/evaluate-at-k"'


def installed_version() -> str | None:
    """Return the version of the installed package and its kernel; None if there is none."""
    try:
        from at_k import __version__
        from at_k.loading import core_hash
    except ImportError:
        return None
    return f"{__version__} (kernel {core_hash()})"


def has_same_package() -> bool:
    """Return whether the installed package has the kernel that this module is part of.

    A script then uses the class of the package, so that a process has one copy of each class. With
    another kernel, which may be out of date, a warning says so.
    """
    version = installed_version() if KERNEL else None  # the package itself has no kernel
    if version is None or version.endswith(f"(kernel {KERNEL})"):
        return version is not None
    warnings.warn(
        f"This script has the kernel {KERNEL}, and the installed package evaluate-at-k is version "
        f"{version}: the script computes with its own kernel. If you have changed "
        f"shared/at_k/core, the kernel is out of date: run shared/vendor.py.",
        stacklevel=2,
    )
    return False


def needs_package(option: str) -> NoReturn:
    """Raise the error for an option that a script without the package does not have."""
    version = installed_version()
    if version is None:
        raise ImportError(f"{option} needs the package evaluate-at-k: {INSTALL}.")
    raise ImportError(
        f"{option} needs the package evaluate-at-k of the same version as this script, whose "
        f"kernel is {KERNEL}. Version {version} is installed: load the script of that version, or "
        f"install the other one with {INSTALL}. In a checkout, run shared/vendor.py."
    )


OPTIONS = {
    "checker": "check_correct_fn={0!r}",
    "exchange": "num_process above 1",
    "errors": "checker_rates and labels",
    "first_successes": "budget",
    "pass_limits": "interval={2.method!r} (unlike interval='questions')",
    "max_limits": "interval={2.method!r} (unlike interval='questions')",
    "consensus_limits": "interval={1.method!r} (unlike interval='questions')",
    "tails": "TailPass@k",
    "picked": "picked@k",
    "weighted_votes": "vote_weights",
    "anytime_limits": "anytime=True",
    "joined": "include with several kinds of scores and a confidence",
    "bands": "band=True",
}
"""The option that each method of the package is for, with an argument of the call by its number."""


class Rooms:
    """What the installed package adds to the core, as a core without the package has it.

    `at_k.rooms.PackageRooms` has all methods. Those that are not defined here raise the error that
    names the option.
    """

    def __getattr__(self, method: str) -> Callable[..., Any]:
        """Return a function that raises the error for an option of the package."""
        if method not in OPTIONS:
            raise AttributeError(method)
        return lambda *arguments: needs_package(OPTIONS[method].format(*arguments))

    def check_workers(self, checking: Any) -> None:
        """Raise an error if workers cannot check as these options say."""
        option = "An async check_correct_fn" if checking.is_async else "A batched check_correct_fn"
        if checking.timeout is not None or (checking.num_proc or 1) > 1:
            option = "num_proc" if checking.timeout is None else "timeout"
        needs_package(option)

    def check_pairs(self, checking: Any, pairs: list[Any]) -> Any:
        """Yield the results of batches of these pairs of a prediction and a reference.

        They are checked in this thread or in the executor. The package has worker processes too.
        """
        return checking.check_here(pairs)

    def run_name(self) -> str | None:
        """Return a name that the processes of this run share, if there may be several."""
        return None

    def result(self, scores: dict[str, Any], estimates: Any, averaging: str) -> dict[str, Any]:
        """Return the dict of `compute`, which may carry what it was made of.

        Args:
            scores: the dict.
            estimates: an `Estimate` for each of its scores.
            averaging: how questions are averaged, such as "averaged over 3 groups", or "".
        """
        return scores


PACKAGE = SimpleNamespace(rooms=Rooms())
"""The attribute `rooms` has those of the installed package, or `Rooms` in a script without it."""
