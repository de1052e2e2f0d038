"""The interface through which the core uses the other parts (rooms) of the installed package.

A metric that `evaluate` loads as a script has only the core, in its kernel file. The installed
package has more: limits for the same questions, other checkers, worker processes, rarer scores. The
core calls them as methods of `PACKAGE.rooms`. That is a `Rooms` object, whose methods raise an
error that names the missing package, until `at_k/__init__` replaces it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NoReturn

KERNEL = ""
"""A hash of the core, which `shared/vendor.py` writes into kernels; "" in the package itself."""

INSTALL = 'pip install "evaluate-at-k @ git+https://github.com/evaluate-at-k/evaluate-at-k"'


def installed_version() -> str | None:
    """Return the version of the installed package with the hash of its core, or None."""
    try:
        from at_k import __version__
        from at_k.loading import core_hash
    except ImportError:
        return None
    return f"{__version__} (kernel {core_hash()})"


def has_same_package() -> bool:
    """Return whether the installed package has the same core as the kernel with this code.

    A script then uses the class of the package, so that a process has one copy of each class. If
    the package has another core, a warning says that the kernel may be out of date.
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
    """Raise an ImportError for an option of a script that only the installed package has.

    The message says how to install the package; or, if one is installed whose kernel (the modules
    of core/) differs from that of the script, how to get both of the same version.
    """
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
"""The option that needs each method. A format field such as {0} is an argument of the call."""


class Rooms:
    """The stand-in for `at_k.rooms.PackageRooms` in a script without the package.

    Methods that are not defined here raise an ImportError that names the option.
    """

    def __getattr__(self, method: str) -> Callable[..., Any]:
        """Return a function that raises the ImportError for the option of a method."""
        if method not in OPTIONS:
            raise AttributeError(method)
        return lambda *arguments: needs_package(OPTIONS[method].format(*arguments))

    def check_workers(self, checking: Any) -> None:
        """Raise an ImportError, because checks with these options need worker processes."""
        option = "An async check_correct_fn" if checking.is_async else "A batched check_correct_fn"
        if checking.timeout is not None or (checking.num_proc or 1) > 1:
            option = "num_proc" if checking.timeout is None else "timeout"
        needs_package(option)

    def check_pairs(self, checking: Any, pairs: list[Any]) -> Any:
        """Check pairs of a prediction and a reference, and yield the results of each batch.

        Pairs are checked in this thread or in the executor. The package has worker processes too.
        """
        return checking.check_here(pairs)

    def run_name(self) -> str | None:
        """Return a name that all processes of this run share; None without the package."""
        return None

    def result(self, scores: dict[str, Any], estimates: Any, averaging: str) -> dict[str, Any]:
        """Return the dict of `compute`. The package returns one that carries the other arguments.

        Args:
            estimates: an `Estimate` for each of its scores.
            averaging: how questions are averaged, such as "averaged over 3 groups", or "".
        """
        return scores


PACKAGE = SimpleNamespace(rooms=Rooms())
"""Its attribute `rooms` is that of the installed package, or `Rooms` in a script without it."""
