"""The interface through which the core uses the other folders (rooms) of the installed package.

A metric that `evaluate` loads as a script has only the core, in one file, its kernel. The core
calls what only the package has as methods of `PACKAGE.rooms`, which in a script is a `Rooms`.
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
    """Return "VERSION (kernel HASH)" of the installed package, or None without a package."""
    try:
        from at_k import __version__
        from at_k.loading import core_hash
    except ImportError:
        return None
    return f"{__version__} (kernel {core_hash()})"


def has_same_package() -> bool:
    """Return whether a script with this copy of the core, its kernel, can use the package instead.

    It can if the core of the package is the same. If it is another one, a warning says so.
    """
    version = installed_version()
    if not KERNEL or version is None:  # This is the package itself, or there is no package.
        return False
    if version.endswith(f"(kernel {KERNEL})"):
        return True
    warnings.warn(
        f"This script has the kernel {KERNEL}, and the installed package evaluate-at-k is version "
        f"{version}: the script computes with its own kernel. If you have changed "
        f"shared/at_k/core, the kernel is out of date: run shared/vendor.py.",
        stacklevel=2,
    )
    return False


def raise_needs_package(option: str) -> NoReturn:
    """Raise the ImportError for an option that only the package of the same version has."""
    version = installed_version()
    if version is None:
        raise ImportError(f"{option} needs the package evaluate-at-k: {INSTALL}.")
    raise ImportError(
        f"{option} needs the package evaluate-at-k of the same version as this script, whose "
        f"kernel is {KERNEL}. Version {version} is installed: load the script of that version, or "
        f"install the other one with {INSTALL}. In a checkout, run shared/vendor.py."
    )


OPTIONS = {
    "checker": "check_correct_fn={0.checker!r}",
    "check_workers": "num_proc, timeout, or an async or batched check_correct_fn",
    "exchange": "num_process above 1",
    "read_table": "{1} in a data frame, or as a run,",
    "frame_rows": "a data frame of counts",
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
    "band": "band=True",
}
"""The option that needs each method. {2.method!r} shows the `method` of its third argument."""


class Rooms:
    """The stand-in for `at_k.rooms.PackageRooms` in a script without the package."""

    def __getattr__(self, method: str) -> Callable[..., Any]:
        """Return a function that raises the ImportError for the option of a method."""
        if method not in OPTIONS:
            raise AttributeError(method)
        return lambda *arguments: raise_needs_package(OPTIONS[method].format(*arguments))

    def run_name(self) -> str | None:
        """Return None. The package returns a name that all processes of this run share."""
        return None

    def result(self, scores: dict[str, Any], estimates: Any, averaging: str) -> dict[str, Any]:
        """Return the dict of `compute`. That of the package also shows the other arguments."""
        return scores


PACKAGE = SimpleNamespace(rooms=Rooms())
"""`PACKAGE.rooms` is a `PackageRooms` in the installed package, and a `Rooms` in a script."""
