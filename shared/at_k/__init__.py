"""Metrics for repeated sampling: pass@k, G-Pass@k, Bayes@N, max@k, cons@k and others.

The functions take already-graded outcomes; their common parameters are documented in
`at_k.functions`. `load` returns a metric of Hugging Face `evaluate`, which checks predictions
against references. `charts` draws the results, and `checkers` has checkers that run programs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .core.package import PACKAGE
from .functions import Counts
from .functions.advantages import advantages
from .functions.pass_family import (
    auc_at_k,
    auc_at_k_ci,
    cons_at_k,
    g_pass_at_k,
    g_pass_at_k_ci,
    g_pass_at_k_tau,
    g_pass_at_k_tau_ci,
    maj_at_k,
    maj_at_k_ci,
    mg_pass_at_k,
    mg_pass_at_k_ci,
    pass_at_k,
    pass_at_k_ci,
    pass_hat_k,
    pass_hat_k_ci,
    unanimous_at_k,
    unanimous_at_k_ci,
)
from .functions.rewards import avg, avg_ci, bayes, bayes_ci, max_at_k, max_at_k_ci
from .functions.spectra import (
    geo_spectrum_at_k,
    geo_spectrum_at_k_ci,
    geo_spectrum_star_at_k,
    geo_spectrum_star_at_k_ci,
    geom_at_k,
    geom_at_k_ci,
    geom_ds_at_k,
    geom_ds_at_k_ci,
    threshold_spectrum_at_k,
    threshold_spectrum_at_k_ci,
)
from .functions.tailpass import tailpass, tailpass_empirical
from .functions.verdicts import score_agg
from .loading import load
from .rooms import PackageRooms

if TYPE_CHECKING:
    from . import charts as charts
    from . import checkers as checkers
    from . import integrations as integrations
    from . import testing as testing
    from .readers.run import read as read
    from .runs.differences import compare as compare
    from .runs.leaderboard import leaderboard as leaderboard
    from .runs.noise import noise as noise
    from .runs.plan import plan as plan

__version__ = "0.2.0.dev0"  # read by setup.cfg

PACKAGE.rooms = PackageRooms()

_MODULES = ("charts", "checkers", "integrations", "testing")
_FUNCTIONS = {
    "read": "readers.run",
    "compare": "runs.differences",
    "leaderboard": "runs.leaderboard",
    "noise": "runs.noise",
    "plan": "runs.plan",
}
"""The modules of functions that are imported when they are first used, because they are slow."""


def __getattr__(name: str) -> Any:
    """Import a module in _MODULES or a function in _FUNCTIONS when it is first used."""
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _FUNCTIONS:
        module = import_module(f"{__name__}.{_FUNCTIONS[name]}")
        return globals().setdefault(name, getattr(module, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return all names, among them those that have not been imported yet."""
    return sorted({*globals(), *_MODULES, *_FUNCTIONS})


__all__ = [
    "Counts",
    "advantages",
    "auc_at_k",
    "auc_at_k_ci",
    "avg",
    "avg_ci",
    "bayes",
    "bayes_ci",
    "compare",
    "cons_at_k",
    "g_pass_at_k",
    "g_pass_at_k_ci",
    "g_pass_at_k_tau",
    "g_pass_at_k_tau_ci",
    "geo_spectrum_at_k",
    "geo_spectrum_at_k_ci",
    "geo_spectrum_star_at_k",
    "geo_spectrum_star_at_k_ci",
    "geom_at_k",
    "geom_at_k_ci",
    "geom_ds_at_k",
    "geom_ds_at_k_ci",
    "leaderboard",
    "load",
    "maj_at_k",
    "maj_at_k_ci",
    "max_at_k",
    "max_at_k_ci",
    "mg_pass_at_k",
    "mg_pass_at_k_ci",
    "noise",
    "pass_at_k",
    "pass_at_k_ci",
    "pass_hat_k",
    "pass_hat_k_ci",
    "plan",
    "read",
    "score_agg",
    "tailpass",
    "tailpass_empirical",
    "threshold_spectrum_at_k",
    "threshold_spectrum_at_k_ci",
    "unanimous_at_k",
    "unanimous_at_k_ci",
]
