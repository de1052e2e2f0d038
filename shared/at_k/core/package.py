"""What the core asks of the rooms around it.

A metric that `evaluate` loads as a script has the core alone, as its kernel. The installed package
has more: limits for the same questions, other checkers, worker processes, rarer scores. The core
calls them through `PACKAGE.rooms`. Its methods are those of `Rooms`, which say what is missing,
until `at_k/__init__` sets an object that has them.
"""

from __future__ import annotations

import warnings
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
    """Whether the installed package has the kernel that this module is part of.

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


class Rooms:
    """What the installed package adds to the core, as a core without the package has it."""

    def checker(self, checker: Any) -> Any:
        """Return what checks samples with a checker of the package, which may be its name."""
        needs_package(f"check_correct_fn={checker!r}")

    def check_workers(self, checking: Any) -> None:
        """Raise an error if workers cannot check as these options say."""
        option = "An async check_correct_fn" if checking.is_async else "A batched check_correct_fn"
        if checking.timeout is not None or (checking.num_proc or 1) > 1:
            option = "num_proc" if checking.timeout is None else "timeout"
        needs_package(option)

    def check_pairs(self, checking: Any, pairs: list[Any]) -> Any:
        """Yield the results of batches of pairs of a prediction and a reference."""
        return checking.check_here(pairs)

    def run_name(self) -> str | None:
        """Return a name that the processes of this run share, if there may be several."""
        return None

    def result(self, scores: dict[str, Any], estimates: Any, averaging: str) -> dict[str, Any]:
        """Return the dict of `compute`, which may carry what it was made of."""
        return scores

    def exchange(self, metric: Any) -> Any:
        """Return what gathers the rows of several processes."""
        needs_package("num_process above 1")

    def errors(self, checker_rates: Any, labels: Any) -> Any:
        """Return the errors of a checker, which scores are corrected for."""
        needs_package("checker_rates and labels")

    def first_successes(self, checked: Any, budget: int, ks: Any, options: Any) -> Any:
        """Return pass@k of samples that stop at the first success, and its method of limits."""
        needs_package("budget")

    def pass_limits(self, counts: Any, scores: Any, options: Any) -> Any:
        """Return scores of the pass@k family, and the method of their limits."""
        needs_package(_interval(options))

    def max_limits(self, rewards: Any, ks: Any, options: Any) -> Any:
        """Return Max@k, and the method of its limits."""
        needs_package(_interval(options))

    def consensus_limits(self, consensus: Any, options: Any) -> Any:
        """Return the method of the limits of the scores of cons_at_k."""
        needs_package(_interval(options))

    def tails(self, rewards: Any, ks: Any, thresholds: Any) -> Any:
        """Return TailPass@k of each question."""
        needs_package("TailPass@k")

    def picked(self, outcomes: Any, rewards: Any, picked_by: Any, ks: Any) -> Any:
        """Return picked@k of each question."""
        needs_package("picked@k")

    def weighted_votes(self, checked: Any, vote_weights: Any, merge_right: bool) -> Any:
        """Return the votes of answers with weights."""
        needs_package("vote_weights")

    def anytime_limits(self, method: Any, n: Any, other_questions: bool | None) -> Any:
        """Return a method of limits that hold at all looks together."""
        needs_package("anytime=True")

    def joined(self, most: Any, some: Any, keys: Any) -> Any:
        """Return a method of limits for most scores, joined with another for those with keys."""
        needs_package("include with several kinds of scores and a confidence")

    def bands(self, method: Any, groups: Any, intervals: Any, confidence: Any) -> Any:
        """Return the limits of the simultaneous bands over k, of each group."""
        needs_package("band=True")


def _interval(options: Any) -> str:
    return f"interval={options.method!r} (unlike interval='questions')"


class _Package:
    """Where the rooms are.

    Attributes:
        rooms: those of the installed package, or `Rooms` in a script without it.
    """

    rooms = Rooms()


PACKAGE = _Package()
