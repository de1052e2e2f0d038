"""G-Pass@k, pass@k and pass^k: how often some, most or all of k samples are correct."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

from ..checks import as_list, check_k, check_ks, check_names, choose_ks
from ..inputs.checking import Checker, Checking
from ..inputs.outcomes import Outcomes
from ..intervals.binary_family import pass_intervals
from ..intervals.choice import INTERVALS, IntervalOptions, interval_options
from ..intervals.interval import UNIT_RANGE
from ..intervals.labelled import Errors, check_errors
from ..intervals.question_scores import QuestionIntervals
from ..report import Report
from ..scores.checker_rates import CheckerRates, require_correction
from ..scores.credits import (
    PASS_FAMILY,
    ScoreOptions,
    check_lam,
    check_powers,
    check_tau,
    scores_by_name,
)
from ..scores.first_success import check_stopped, first_success_scores, warn_of_stopping
from ..scores.pass_family import pass_scores
from ..scores.score import ScoreId, Scores
from .computation import DEFAULT_K, Computation, Samples

_DEFAULT_INCLUDE = ["G-Pass@k", "mG-Pass@k"]

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
    budget: int | None = None,
    groups: list[str] | None = None,
    return_per_question: bool = False,
    keys: str = "exact",
) -> dict[str, Any]:
    """Return what `compute` returns. The script of the metric documents the parameters."""
    # Validate everything that does not depend on outcomes first.
    questions = len(samples)
    checking = Checking(check_correct_fn, num_proc, executor, timeout)
    included = _DEFAULT_INCLUDE if budget is None else ["pass@k"]
    if include is not None:
        included = check_names("include", include, PASS_FAMILY)
    taus = [check_tau(tau) for tau in as_list("thresholds", thresholds)]
    powers = check_powers(pass_power, unanimous_power)
    score_options = ScoreOptions(taus, check_lam(lam), weights, powers)
    if weights is not None and not {"Spectrum@k", "GeoSpectrum@k"} & {*included}:
        raise ValueError("weights are for Spectrum@k and GeoSpectrum@k: include one of them.")
    options = interval_options(
        questions,
        confidence,
        interval,
        clusters,
        known=INTERVALS if budget is None else ("questions", "auto"),
        alpha0=alpha0,
        beta0=beta0,
        band=band,
    )
    has_errors = check_errors(checker_rates, labels)
    if budget is not None:
        budget = check_k(budget, name="budget")
        _check_allowed_by_budget(included, has_errors, options)
    if has_errors and confidence is not None and options.method == "posterior":
        raise ValueError(
            "interval='posterior' does not correct for the errors of a checker: use 'sampling' or "
            "'questions'."
        )
    report = Report(questions, groups, options, return_per_question, keys)
    requested, n = check_ks(k), samples.n
    if budget is not None:
        return _first_successes(samples, checking, requested, budget, options, report)
    ks = choose_ks(requested, DEFAULT_K, n, options.allow_above_n, _FOR_K_ABOVE_N)
    scores = scores_by_name(included, ks, score_options)

    checked = samples.check(checking)
    counts = checked.outcomes
    warn_of_stopping(counts)
    if (counts.n < n).any():  # the checker left samples unscored
        ks = choose_ks(requested, DEFAULT_K, counts.n, options.allow_above_n, _FOR_K_ABOVE_N)
        scores = scores_by_name(included, ks, score_options)
    errors, checker = Errors(), None
    if has_errors:
        errors = Errors.of_options(checker_rates, labels, checked.graded)
        require_correction(scores, errors.rates)
        errors.warn_if_contradicted(counts)
        checker = errors.described()
    if confidence is None:
        return report.of(pass_scores(counts, scores, errors.rates), checker=checker)
    points, method = pass_intervals(counts, scores, options, errors.rates)

    def under(rates: CheckerRates) -> Scores:
        return pass_intervals(counts, scores, options, rates)[0]

    return report.of(points, errors.widened(method, points, under), checker)


def _first_successes(
    samples: Samples,
    checking: Checking,
    requested: list[int] | None,
    budget: int,
    options: IntervalOptions,
    report: Report,
) -> dict[str, Any]:
    """Return pass@k of samples that stop at the first success, or at the budget."""
    if requested and max(requested) > budget:
        raise ValueError(f"k is {max(requested)}: give a k of at most the budget, {budget}.")
    checked = samples.check(checking)
    known = check_stopped(checked.outcomes, checked.graded, budget)
    ks = choose_ks(requested, DEFAULT_K, known)
    points = first_success_scores(checked.outcomes, {ScoreId("pass@k", k): k for k in ks})
    # "auto" gives a single question the whole range, "questions" refuses it.
    by_auto = options.is_named
    return report.of(points, QuestionIntervals(points, UNIT_RANGE, options.clusters, by_auto))


def _check_allowed_by_budget(
    include: list[str], has_errors: bool, options: IntervalOptions
) -> None:
    if include != ["pass@k"]:
        (other, *_) = [name for name in include if name != "pass@k"]
        raise ValueError(
            f"include has {other!r}, and samples that stop at the first correct one show pass@k "
            f"only: leave it out, or leave out budget."
        )
    if has_errors or options.prior != (1, 1):
        raise ValueError(
            "budget is for samples that stop at the first correct one, which neither a correction "
            "for checker_rates or labels nor a prior is for: leave these out."
        )


GPASSK = Computation(gpassk_results, Outcomes.counts, in_order=("labels", "budget"))
