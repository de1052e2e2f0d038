"""The differences between runs on the same questions, with intervals that may cover together.

Let A and B be the scores of two runs, with the intervals A - x_lo .. A + x_hi and
B - y_lo .. B + y_hi. The interval of B - A extends upwards by

    sqrt(y_hi^2 + x_lo^2 - 2 r y_hi x_lo),

and downwards by the same expression of y_lo and x_hi. This is the variance of a difference, applied
to the limits that bound it, so the interval is skewed as they are and stays within the range of
differences (Newcombe 1998, Statistics in Medicine 17, 873 and 2635; Zou & Donner 2008, ibid. 27,
1693). New samples of the same questions are independent, so r = 0. For new questions, r is the
correlation of the scores over questions, or over clusters of questions: a question may be hard for
both runs.

If r > 0, the square is (1 - r) (y_hi^2 + x_lo^2) + r (y_hi - x_lo)^2. With a rising confidence two
skewed limits may approach each other, and the last term would shrink the interval. The part of the
errors that both runs share is symmetric: z |sigma_B - sigma_A|, with the standard errors of the
scores, takes the place of y_hi - x_lo, so that a higher confidence never has a narrower interval.

A kind of questions that was not seen may be hard for one run alone. So for new questions, the
interval extends at least as far down as this kind alone moves the lower limit of B or the upper one
of A (the share 1 - r in `core.questions`), and likewise upwards.

The p-value of a difference is the smallest miscoverage at which its interval excludes 0.

*All differences together.* The errors of the differences, divided by their standard deviations, are
normal with unit variance. Two bounds of the probability that any of them exceeds c are known
without random numbers, and the smaller one is used:

- *Any errors.* Let e be the probability that an error of one pair of runs exceeds c at any k, which
  `intervals.band` bounds. The regions where no error of a pair exceeds c are convex and symmetric,
  so the probability that no error exceeds c at all is at least the product of all (1 - e), by the
  Gaussian correlation inequality (Royen 2014, Far East J. Theoretical Statistics 48, 139). For one
  k this is Sidak's inequality (1967, J. American Statistical Association 62, 626).
- *Independent runs*, as when the same questions are sampled again. At each k the largest of the
  errors has at most the distribution of the studentized range of K equal variances, over the root
  of 2: the Tukey-Kramer procedure is conservative for unequal variances (Hayter 1984, Annals of
  Statistics 12, 61). Several k multiply, again by the Gaussian correlation inequality.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
from scipy.special import ndtr

from ..core.checks import label_index
from ..core.questions import student_quantile, unseen_share
from ..core.score import ScoreId
from ..intervals.band import confidence_of_each, path_angles, path_exceedance
from ..intervals.labelled import Errors, falls_with_k
from .comparison import Difference
from .options import ComparisonOptions
from .outcomes_of_runs import Run
from .scored_run import ScoredRun, score_runs

_LARGEST_Z, _HALVINGS = 8.0, 26


class Compared:
    """K runs on the same questions with m scores of each, and the differences b - a of all pairs.

    For "questions", the questions are new too, and so the runs are paired by question.

    Args:
        runs: with their outcomes. A checker may leave samples unscored, so k is chosen by the
            samples that have outcomes.
        options: of the comparison.
        warns: whether to warn of each run whose corrected pass@k falls with k.

    Attributes:
        options: for the samples of the runs.
        scored: the runs with their scores.
        scores: m scores, one for each k.
        falling: the names of runs whose corrected pass@k falls with k.
        pairs: (P, 2) the indices of a and b.
        values: (P, m) the differences.
        simultaneous: simultaneous inference about all of them.
    """

    def __init__(self, runs: Sequence[Run], options: ComparisonOptions, warns: bool = True):
        self.runs = runs
        self.options = options.for_samples({run.name: run.outcomes.n for run in runs})
        self.scored = scored = score_runs(runs, self.options)
        self.scores: list[ScoreId] = [*scored[0].points.keys]
        self.falling = warn_of_falling_runs(runs, self.options) if warns else []
        self._bounds, self._new_questions = scored[0].bounds, self.options.interval == "questions"
        self.pairs = np.array([*itertools.combinations(range(len(runs)), 2)])
        a, b = self.pairs.T
        estimates = np.array([run.estimates for run in scored])
        self.values = estimates[b] - estimates[a]
        self._correlation = np.zeros(self.values.shape)
        self._shared = np.zeros(self.values.shape)
        pairs = [(scored[i], scored[j]) for i, j in self.pairs.tolist()]
        if self._new_questions:
            for pair, (run_a, run_b) in enumerate(pairs):
                least = _least_variance(run_a, run_b)
                self._correlation[pair] = _correlation(run_a.errors, run_b.errors, least)
                self._shared[pair] = np.abs(run_b.standard_errors - run_a.standard_errors)
        angles = np.array([path_angles(self._covariance(*pair)) for pair in pairs])
        self.simultaneous = Simultaneous(len(runs), angles, not self._new_questions)

    @property
    def checkers(self) -> dict[str, dict[str, float]]:
        """For each run what its scores are corrected for; empty if they are not corrected."""
        checkers = {run.name: run.errors.described() for run in self.runs if run.errors != Errors()}
        for name in self.falling:
            checkers[name]["falls_with_k"] = True
        return checkers

    def _covariance(self, a: ScoredRun, b: ScoredRun) -> np.ndarray:
        """(m, m) covariance of the errors of the differences of a pair.

        Both runs have the same new questions, so their errors are subtracted question by question.
        New samples of the same questions are independent: covariances add up.
        """
        if self._new_questions:
            errors = b.errors - a.errors
            return errors.T @ errors
        assert a.covariance is not None
        assert b.covariance is not None
        return a.covariance + b.covariance

    def limits(self, confidence: float) -> np.ndarray:
        """(2, P, m) lower and upper limits of the differences."""
        limits = [self._pair_limits(pair, confidence) for pair in range(len(self.pairs))]
        return np.stack(limits, axis=1)

    def _pair_limits(self, pair: int, confidence: float) -> np.ndarray:
        """(2, m) lower and upper limits of the differences of a pair, given by its index."""
        a, b = (self.scored[run] for run in self.pairs[pair])
        (lo_a, hi_a), (lo_b, hi_b) = a.limits(confidence), b.limits(confidence)
        r, difference, shared = self._correlation[pair], self.values[pair], self._shared[pair]
        alpha = 1 - a.look_confidence(confidence)
        if self._new_questions:
            shared = student_quantile(a.freedom, alpha) * shared
        down = _length(b.estimates - lo_b, hi_a - a.estimates, r, shared)
        up = _length(hi_b - b.estimates, a.estimates - lo_a, r, shared)
        if self._new_questions:
            (least, most), share = self._bounds, unseen_share(a.clusters, alpha)
            down = np.fmax(down, share * np.fmax(b.estimates - least, most - a.estimates))
            up = np.fmax(up, share * np.fmax(most - b.estimates, a.estimates - least))
        for run, is_subtracted in ((a, True), (b, False)):
            moves = run.moves(confidence)
            if moves is not None:  # labels of one run say nothing of those of the other
                below, above = moves[::-1] if is_subtracted else moves
                down, up = np.hypot(down, below), np.hypot(up, above)
        # Scores that are corrected for the errors of a checker may leave their range.
        width = self._bounds[1] - self._bounds[0]
        return np.clip([difference - down, difference + up], -width, width)

    def simultaneous_limits(self, confidence: float) -> np.ndarray:
        """(2, P, m) limits that cover together, over all pairs and scores."""
        if self.options.anytime:  # Bonferroni: the bounds are those of one look
            return self.limits(1 - (1 - confidence) / self.values.size)
        return self.limits(self.simultaneous.confidence_of_each(confidence))

    def limits_by_run(self, confidence: float) -> np.ndarray:
        """(2, K, K, m) lower and upper limits: [:, i, j] are those of run i minus run j."""
        lo, hi = self.limits(confidence)
        a, b = self.pairs.T
        runs = len(self.runs)
        result = np.zeros((2, runs, runs, lo.shape[1]))
        result[:, b, a] = lo, hi
        result[:, a, b] = -hi, -lo
        return result

    def p_values(self) -> np.ndarray:
        """(K, K, m) p-values of the differences between each two runs, each by itself."""
        normal = NormalDist()
        p = np.ones((len(self.runs), len(self.runs), self.values.shape[1]))
        for pair, score in np.argwhere(self.values != 0).tolist():
            least, most = 0.0, _LARGEST_Z
            for _ in range(_HALVINGS):
                z = (least + most) / 2
                lo, hi = self._pair_limits(pair, 1 - 2 * normal.cdf(-z))[:, score]
                least, most = (z, most) if lo > 0 or hi < 0 else (least, z)
            a, b = self.pairs[pair]
            p[a, b, score] = p[b, a, score] = 2 * normal.cdf(-least)
        return p


def _least_variance(a: ScoredRun, b: ScoredRun) -> np.ndarray | float:
    """(m,) the smallest variance of b - a: that for new samples of the same questions.

    Where samples show no variation, 2 stands for one question that only a answers and one that
    only b does.
    """
    if a.covariance is None or b.covariance is None:
        return 2.0 * (a.bounds[1] - a.bounds[0]) ** 2 / a.number**2
    return np.diag(a.covariance + b.covariance)


def _length(x: np.ndarray, y: np.ndarray, r: np.ndarray, shared: np.ndarray) -> np.ndarray:
    """(m,) the distance of a limit from the difference; it grows with x, y and `shared`.

    Args:
        x, y: (m,) distances of the limits of both scores.
        r: (m,) correlations.
        shared: (m,) distance if the correlation were 1.
    """
    shared = np.minimum(shared, np.maximum(x, y))  # the difference stays in its range
    squares, positive, negative = x * x + y * y, np.maximum(r, 0.0), np.minimum(r, 0.0)
    return np.sqrt(squares - positive * (squares - shared * shared) - 2 * negative * x * y)


def _correlation(a: np.ndarray, b: np.ndarray, least: np.ndarray | float) -> np.ndarray:
    """(m,) correlations of the scores of two runs over questions or clusters.

    A correlation is limited so that the difference varies at least as much as it does for new
    samples of the same questions.

    Args:
        a, b: (G, m) errors of the means.
        least: the smallest variance of b - a, (m,).
    """
    square_a, square_b = np.sum(a * a, axis=0), np.sum(b * b, axis=0)
    most = np.maximum(square_a + square_b - least, 0.0) / 2
    size = np.sqrt(square_a * square_b)
    return np.minimum(np.sum(a * b, axis=0), most) / np.where(size > 0, size, 1.0)


# --- All differences together -------------------------------------------------------------


class Simultaneous:
    """Simultaneous inference about all differences between K runs, at m values of k.

    Args:
        runs: K.
        angles: (P, m - 1) angles between the errors of each pair of runs at successive k.
        independent: whether the errors of different runs are independent.
    """

    def __init__(self, runs: int, angles: np.ndarray, independent: bool):
        self._runs, self._angles, self._independent = runs, angles, independent

    def exceedance(self, c: float) -> float:
        """A bound of the probability that any error exceeds c standard deviations."""
        pair_tails = path_exceedance(self._angles, c)
        with np.errstate(divide="ignore"):
            bound = -math.expm1(np.log1p(-pair_tails).sum())
        if self._independent and self._runs > 2:
            range_tail = studentized_range_tail(c * math.sqrt(2), self._runs)
            keys = self._angles.shape[1] + 1
            bound = min(bound, -math.expm1(keys * math.log1p(-min(range_tail, 1 - 1e-16))))
        return bound

    def confidence_of_each(self, confidence: float) -> float:
        """The confidence of each interval, so that all cover with the given confidence."""
        pairs, arcs = self._angles.shape
        return confidence_of_each(self.exceedance, pairs * (arcs + 1), confidence)

    def adjusted(self, p: float) -> float:
        """The p-value of one difference, adjusted for all of them."""
        return 1.0 if p >= 1 else max(p, self.exceedance(-NormalDist().inv_cdf(p / 2)))


def studentized_range_tail(q: float, runs: int) -> float:
    """P(Q > q) for the range Q of independent standard normal numbers, one for each run.

    With the largest at z, the others are between z - q and z. The trapezoidal rule converges
    exponentially for this integrand.
    """
    z = np.linspace(-8.5, 8.5, 401)
    density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    # The integrand K phi(z) (Phi(z) - Phi(z - q))^(K - 1), for K runs.
    inside = runs * density * (ndtr(z) - ndtr(z - q)) ** (runs - 1)
    return max(0.0, 1.0 - float(inside.sum() * (z[1] - z[0])))


# --- Runs ---------------------------------------------------------------------------------


def warn_of_falling_runs(runs: Sequence[Run], options: ComparisonOptions) -> list[str]:
    """Return the names of runs whose corrected pass@k falls with k, and warn of each."""
    if options.metric != "pass@k":
        return []
    scores = options.scores_at(options.ks)
    return [
        run.name
        for run in runs
        if not run.errors.rates.are_exact
        and falls_with_k(run.outcomes.counts(), scores, run.errors.rates, options.weights, run.name)
    ]


def compare_groups(overall: Compared, groups: Any) -> dict[str | None, Compared]:
    """Return the comparison of all questions under None, and that of each group at the same k.

    Args:
        overall: the comparison of all questions.
        groups: a label for each question, or None.

    Raises:
        ValueError: if the questions of a group do not allow the interval, with its label.
    """
    result: dict[str | None, Compared] = {None: overall}
    if groups is None:
        return result
    labels, index = label_index(groups, len(overall.runs[0].outcomes), "groups")
    for group, label in enumerate(labels):
        rows = np.flatnonzero(index == group)
        runs = [run.for_questions(rows) for run in overall.runs]
        try:
            result[label] = Compared(runs, overall.options.for_questions(rows), warns=False)
        except ValueError as error:
            raise ValueError(f"Group {label}: {error}") from error
    return result


def differences_of(
    compared: Compared, p_values: bool = False, group: str | None = None
) -> list[Difference]:
    """Return the differences of two compared runs, one for each k.

    Args:
        compared: two runs.
        p_values: whether the differences have p-values.
        group: the label of the questions, or None for all questions.
    """
    a, b = (run.estimates.tolist() for run in compared.scored)
    confidence = compared.options.confidence
    intervals, bands = (
        [(lo, hi) for lo, hi in limits[:, 0].T.tolist()]
        for limits in (compared.limits(confidence), compared.simultaneous_limits(confidence))
    )
    p = compared.p_values()[0, 1].tolist() if p_values else [None] * len(a)
    return [
        Difference(*score, group, b[i] - a[i], a[i], b[i], intervals[i], bands[i], p[i])
        for i, score in enumerate(compared.scores)
    ]
