"""G-Pass@k, pass@k and pass^k: how often some, most or all of k samples are correct."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

from ..checks import as_list, check_ks, check_names, choose_ks
from ..inputs.checking import Checker, Checking
from ..inputs.outcomes import Outcomes
from ..intervals.choice import INTERVALS
from ..intervals.options import check_clusters, check_interval, chosen_method
from ..intervals.pass_intervals import pass_intervals
from ..report import Report
from ..scores.credits import (
    PASS_FAMILY,
    ScoreOptions,
    check_lam,
    check_powers,
    check_tau,
    scores_by_name,
)
from ..scores.distributions import check_prior
from ..scores.pass_family import pass_scores
from .computation import DEFAULT_K, Computation, Samples

_DEFAULT_INCLUDE = ("G-Pass@k", "mG-Pass@k")

_FOR_K_ABOVE_N = (
    " With a confidence, and without clusters or a prior, interval='hierarchical' allows k > n for "
    "most scores."
)
"""What to give, other than a smaller k, if k exceeds n."""


def gpassk_results(
    samples: Samples,
    k: int | list[int] | None = None,
    thresholds: float | list[float] | tuple[float, ...] = (0.25, 0.5, 0.75, 1.0),
    include: str | list[str] | None = None,
    lam: float = 0.5,
    weights: list[float] | None = None,
    pass_power: float = 0.5,
    unanimous_power: float = 0.5,
    check_correct_fn: Checker = "exact_match",
    num_proc: int | None = None,
    executor: Executor | None = None,
    timeout: float | None = None,
    confidence: float | None = None,
    interval: str | None = None,
    clusters: list[str] | None = None,
    alpha0: float = 1.0,
    beta0: float = 1.0,
    band: bool = False,
    groups: list[str] | None = None,
    return_per_question: bool = False,
    keys: str = "exact",
) -> dict[str, Any]:
    """Return what `compute` returns. The script of the metric documents the parameters."""
    # Validate everything that does not depend on outcomes first.
    checking = Checking(check_correct_fn, num_proc, executor, timeout)
    include = check_names("include", _DEFAULT_INCLUDE if include is None else include, PASS_FAMILY)
    taus = [check_tau(tau) for tau in as_list("thresholds", thresholds)]
    powers = check_powers(pass_power, unanimous_power)
    options = ScoreOptions(taus, check_lam(lam), weights, powers)
    if weights is not None and not {"Spectrum@k", "GeoSpectrum@k"} & {*include}:
        raise ValueError("weights are for Spectrum@k and GeoSpectrum@k: include one of them.")
    prior = check_prior(alpha0, beta0)
    interval = check_interval(interval, confidence, INTERVALS)
    method = chosen_method(interval, None if prior == (1, 1) else "alpha0, beta0", clusters)
    cluster_index = check_clusters(clusters, method, confidence, len(samples))
    report = Report(len(samples), groups, confidence, return_per_question, keys, band=band)
    allow_above_n = confidence is not None and method in ("hierarchical", "auto")
    requested, given = check_ks(k), samples.n
    ks = choose_ks(requested, DEFAULT_K, given, allow_above_n, _FOR_K_ABOVE_N)
    scores = scores_by_name(include, ks, options)

    counts = samples.check(checking).outcomes
    if (counts.n < given).any():  # the checker left samples unscored
        ks = choose_ks(requested, DEFAULT_K, counts.n, allow_above_n, _FOR_K_ABOVE_N)
        scores = scores_by_name(include, ks, options)
    if confidence is None:
        return report.of(pass_scores(counts, scores))
    found = pass_intervals(counts, scores, method, prior, cluster_index)
    return report.of(*found, name_methods=interval == "auto")


GPASSK = Computation(gpassk_results, Outcomes.counts)
