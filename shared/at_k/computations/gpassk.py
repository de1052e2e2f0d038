"""G-Pass@k, pass@k and pass^k: how often some, most or all of k samples are correct."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

from ..checks import as_list, check_ks, check_names, choose_ks
from ..inputs.checking import Checker, Checking
from ..inputs.outcomes import Outcomes
from ..intervals.binary_family import pass_intervals
from ..intervals.choice import interval_options
from ..intervals.labelled import Errors, check_errors
from ..report import Report
from ..scores.checker_rates import CheckerRates
from ..scores.credits import (
    PASS_FAMILY,
    ScoreOptions,
    check_lam,
    check_powers,
    check_tau,
    scores_by_name,
)
from ..scores.pass_family import pass_scores
from ..scores.score import Scores
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
    checker_rates: tuple[float, float] | None = None,
    labels: list[list[int]] | dict[str, int] | None = None,
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
    score_options = ScoreOptions(taus, check_lam(lam), weights, powers)
    if weights is not None and not {"Spectrum@k", "GeoSpectrum@k"} & {*include}:
        raise ValueError("weights are for Spectrum@k and GeoSpectrum@k: include one of them.")
    options = interval_options(
        len(samples), confidence, interval, clusters, alpha0=alpha0, beta0=beta0, band=band
    )
    has_errors = check_errors(checker_rates, labels)
    if has_errors and confidence is not None and options.method == "posterior":
        raise ValueError(
            "interval='posterior' does not correct for the errors of a checker: use 'sampling' or "
            "'questions'."
        )
    report = Report(len(samples), groups, options, return_per_question, keys)
    requested, n = check_ks(k), samples.n
    ks = choose_ks(requested, DEFAULT_K, n, options.allow_above_n, _FOR_K_ABOVE_N)
    scores = scores_by_name(include, ks, score_options)

    checked = samples.check(checking)
    counts, errors = checked.outcomes, Errors.of_options(checker_rates, labels, checked.graded)
    if (counts.n < n).any():  # the checker left samples unscored
        ks = choose_ks(requested, DEFAULT_K, counts.n, options.allow_above_n, _FOR_K_ABOVE_N)
        scores = scores_by_name(include, ks, score_options)
    errors.require_correction(scores)
    checker = errors.described() if has_errors else None
    if confidence is None:
        return report.of(pass_scores(counts, scores, errors.rates), checker=checker)
    points, method = pass_intervals(counts, scores, options, errors.rates)

    def under(rates: CheckerRates) -> Scores:
        return pass_intervals(counts, scores, options, rates)[0]

    return report.of(points, errors.widened(method, points, under), checker)


GPASSK = Computation(gpassk_results, Outcomes.counts, per_sample=("labels",))
