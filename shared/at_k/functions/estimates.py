"""Point estimates and posterior summaries of scores that are expected credits."""

from __future__ import annotations

from collections.abc import Callable

from ..checks import check_bounds, check_confidence, check_k
from ..inputs.outcomes import read_outcomes
from ..scores.credits import Credits, Score
from ..scores.distributions import check_prior, estimator, posterior

Bounds = tuple[float, float] | None
"""(lo, hi) of the range that contains the confidence limits, or None for no range."""

Summary = tuple[float, float, float, float]
"""(mu, sigma, lo, hi): posterior mean, posterior standard deviation and confidence limits."""

ScoreOfK = Callable[[int], Score | Credits]
"""Returns the score of k samples."""


def point_estimate(R, k: int, score: ScoreOfK) -> float:
    """Return the unbiased estimate of a score, averaged over questions."""
    counts = read_outcomes(R).counts()
    keys, estimate = estimator({"": score(check_k(k, counts.n))})
    columns = estimate(*counts.kinds)
    return float(keys[""].of(counts.questions @ columns / len(counts.n)))


def posterior_summary(
    R, k: int, score: ScoreOfK, confidence: float, bounds: Bounds, alpha0: float, beta0: float
) -> Summary:
    """Return the posterior summary of a score of k new samples, averaged over questions."""
    scores, prior = {"": score(check_k(k))}, check_prior(alpha0, beta0)
    confidence, limits = check_confidence(confidence), check_bounds(bounds)
    counts = read_outcomes(R).counts()
    found = posterior(counts, scores, prior, limits)
    return found.over(counts.questions[None], confidence)[""].of(0)[:4]
