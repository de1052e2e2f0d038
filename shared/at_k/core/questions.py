"""Intervals for other questions like these, in closed form.

The mean u of M scores in [0, 1] has the estimated variance v. A proportion of N independent trials
has the same variance for N = u (1 - u) / v, the effective number of trials. Its interval is
Wilson's (1927), with the quantile z of Student's t in place of the normal one:

    (u + z^2 / 2N -+ z sqrt(u (1 - u) / N + z^2 / 4N^2)) / (1 + z^2 / N).

Scores in another range are scaled to [0, 1], so limits stay inside of their range.

*Clusters.* Questions of one cluster, such as those about one text, are correlated. Leave out each
of G clusters in turn: with D_g the sum over cluster g of its n_g deviations from u,

    v = (G - 1) / G x the sum over g of (D_g / (M - n_g))^2,

the jackknife (MacKinnon, Nielsen & Webb 2023, J. Econometrics 232, 272). z has G* - 1 degrees of
freedom, at least 1, for the effective number of clusters G* = M^2 / sum of n_g^2 (Kish 1965).
The jackknife hardly shows that small clusters differ. So v is at least the variance of a model in
which clusters of all sizes vary alike, b / G* + w / M, with the variances b between and w within
clusters of an analysis of variance, times (t / z)^2 for the quantile t with G - 1 degrees.

*Weights.* u is a weighted mean, D_g a sum of weighted deviations, and n_g and M are sums of
weights. Without clusters, (sum w)^2 / sum w^2 takes the place of G and M. A mean over groups gives
a question of a group of size n the weight 1 / n.

*What M questions cannot show.* Their effective number M* is M divided by the factor by which
clusters increase the variance, but at least G*.

- An eighth of an event, 1 / (8 M*), is added to the variance of one question, M* v, and to its
  largest value, u (1 - u), because M* observations cannot show rarer events.
- M questions miss a kind of questions that is a share 1 - r of all with the probability r^M, which
  is alpha / 2 for r = (alpha / 2)^(1 / M). So the lower limit is at most u r, and the upper limit
  at least 1 - (1 - u) r. With clusters, G takes the place of M.
- Near a limit of the range, the score is a sum of rare events of the size v / u. Below four events,
  the interval extends at least to Garwood's exact limit for a Poisson number of them (1936,
  Biometrika 28, 437; Brown, Cai & DasGupta 2001, Statistical Science 16, 101).

There are m columns of scores with U distinct rows, and alpha is 1 - confidence. Clusters, weights
and multiplicities are None for clusters of one question and equal weights.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from .counts import UniqueIntegers
from .interval import UNIT_RANGE, Interval, IntervalMethod
from .score import ColumnPair, Score, ScoreKey, Scores

ONE_CLUSTER = "there is one question, or one cluster of questions"

FEW_EVENTS = 4 - 1e-9  # For fewer than four events the normal approximation is too poor.

Ranges = tuple[np.ndarray | float, np.ndarray | float]
"""The smallest and the largest possible values of scores, as two arrays or numbers."""


class MeansOfQuestions(NamedTuple):
    """The means of m columns over M questions, and their uncertainty for other questions.

    Attributes:
        mean: (m,) means.
        covariance: (m, m) covariance of the errors of the means.
        effective_questions: (m,) M* of each column. The module docstring defines M* and G*.
        clusters: number of clusters, G; or of questions, if each is its own cluster.
        effective_clusters: G*.
        homogeneous_variance: (m,) variances b / G* + w / M of the means, or 0 if sizes are equal.
    """

    mean: np.ndarray
    covariance: np.ndarray
    effective_questions: np.ndarray
    clusters: float
    effective_clusters: float
    homogeneous_variance: np.ndarray | float = 0.0

    def limits(
        self, confidence: float, score_range: Ranges, range_of_estimates: Ranges | None = None
    ) -> np.ndarray:
        """Return the lower and the upper limits of the means, (2, m).

        Estimates of a question may lie outside of the range of scores. `range_of_estimates` is
        `score_range` by default.
        """
        alpha, z = 1 - confidence, self._z(confidence)
        least, most = range_of_estimates or score_range
        width = np.subtract(most, least)
        scale = np.where(width > 0, width, 1.0)
        # The means and variances of scores that are scaled to the range from 0 to 1.
        u = np.clip((self.mean - least) / scale, 0.0, 1.0)
        v = self.variance_for_limits(confidence) / scale**2
        lo, hi = wilson_limits(u, v, self.effective_questions, z)
        lo = np.minimum(lo, _lower_limit_of_few_events(u, v, alpha))
        hi = np.maximum(hi, 1 - _lower_limit_of_few_events(1 - u, v, alpha))
        lo, hi = least + width * lo, least + width * hi
        # A share 1 - r of all questions may be of a kind that is not among these.
        r = 1 - unseen_share(self.clusters, alpha)
        lo = np.minimum(lo, score_range[0] + (self.mean - score_range[0]) * r)
        hi = np.maximum(hi, score_range[1] - (score_range[1] - self.mean) * r)
        limits = np.clip([np.minimum(lo, self.mean), np.maximum(hi, self.mean)], *score_range)
        # A mean may be outside of the range by its rounding error.
        return np.where(np.abs(limits - self.mean) < 1e-14 * scale, self.mean, limits)

    def variance_for_limits(self, confidence: float) -> np.ndarray:
        """Return the variances of the means, at least those of clusters that vary alike, (m,)."""
        t = student_quantile(degrees_of_freedom(self.clusters), 1 - confidence)
        least = self.homogeneous_variance * (t / self._z(confidence)) ** 2
        return np.maximum(np.diag(self.covariance), least)

    def _z(self, confidence: float) -> float:
        """Return the quantile of Student's t for the effective number of clusters."""
        return student_quantile(degrees_of_freedom(self.effective_clusters), 1 - confidence)


def means_of_questions(
    columns: np.ndarray,
    multiplicity: np.ndarray | None = None,
    clusters: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> MeansOfQuestions:
    """Return the means of columns over two questions or more, or over two clusters or more.

    `columns`, (U, m), has a row for each question if there are `clusters`, (U,), or `weights`,
    (U,). Otherwise `multiplicity`, (U,), is the number of questions with each row.
    """
    if clusters is None and weights is None:
        multiplicity = np.ones(len(columns)) if multiplicity is None else multiplicity
        total = float(multiplicity.sum())
        mean = multiplicity @ columns / total
        deviations = _deviations(columns, multiplicity)
        squares = (deviations * multiplicity[:, None]).T @ deviations
        covariance = squares / (total * (total - 1))
        return MeansOfQuestions(mean, covariance, np.full(len(mean), total), total, total)
    mean, errors = np.average(columns, 0, weights), cluster_errors(columns, clusters, weights)
    covariance = errors.T @ errors
    questions = effective_clusters(None, len(columns), weights)  # with each its own cluster
    effective = effective_clusters(clusters, len(columns), weights)
    # The factor by which clusters increase the variance of each mean. Scores that do not vary do
    # not show it, so it is then the number of questions, which makes M* as small as G*.
    factor = np.full(len(mean), questions)
    variance_without = np.sum(cluster_errors(columns, clusters=None, weights=weights) ** 2, axis=0)
    np.divide(np.diag(covariance), variance_without, out=factor, where=variance_without > 0)
    effective_questions = np.clip(questions / np.maximum(factor, 1.0), effective, questions)
    homogeneous = _homogeneous_variance(columns, clusters, weights)
    return MeansOfQuestions(
        mean, covariance, effective_questions, len(errors), effective, homogeneous
    )


def _deviations(columns: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the columns minus their weighted means, (U, m), which are exactly 0 if constant."""
    # Deviations from the first row have no rounding error where they are 0. Otherwise a column that
    # does not vary would have a tiny variance, and correlations with others.
    from_first = columns - columns[0]
    return from_first - np.average(from_first, 0, weights)


def _cluster_sizes(
    clusters: np.ndarray | None, questions: int, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the index of each question's cluster, (M,), the weights, (M,), and the sizes, (G,).

    The size of a cluster is the sum of the weights of its questions.
    """
    weights = np.ones(questions) if weights is None else weights
    if clusters is None:
        return np.arange(questions), weights, weights
    index = UniqueIntegers(clusters, int(clusters.max())).inverse
    return index, weights, np.bincount(index, weights)


def _sums_by_cluster(index: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the sums of (M, m) columns over the questions of each cluster, (G, m)."""
    return np.array([np.bincount(index, column) for column in columns.T]).T


def _homogeneous_variance(
    columns: np.ndarray, clusters: np.ndarray | None, weights: np.ndarray | None
) -> np.ndarray:
    """Return the variance of the mean of each column if clusters of all sizes vary alike, (m,).

    It is b / G* + w / M of the module docstring, for the variances b between and w within them.
    """
    index, weights, sizes = _cluster_sizes(clusters, len(columns), weights)
    share, share_of_cluster = weights / weights.sum(), sizes / weights.sum()
    divisor = np.where(share_of_cluster > 0, share_of_cluster, 1.0)
    centers = _sums_by_cluster(index, share[:, None] * columns) / divisor[:, None]
    within = share @ (columns - centers[index]) ** 2
    between = share_of_cluster @ (centers - share @ columns) ** 2
    # The expected values of these sums are (1 - a) w and (1 - c) b + (a - d) w.
    a, d = share**2 @ (1 / divisor[index]), share @ share
    c = share_of_cluster @ share_of_cluster
    w = within / (1 - a) if a < 1 - 1e-9 else np.zeros_like(within)
    b = (between - (a - d) * w) / max(1 - c, 1e-9)
    return c * b + d * w


def cluster_errors(
    columns: np.ndarray, clusters: np.ndarray | None, weights: np.ndarray | None = None
) -> np.ndarray:
    """Return how much the means of m columns fall if one of G clusters is left out, (G, m).

    It is scaled by sqrt((G - 1) / G), so that the sum of squares is the jackknife variance.
    """
    index, weights, sizes = _cluster_sizes(clusters, len(columns), weights)
    deviations = _deviations(columns, weights) * weights[:, None]
    if clusters is not None:
        rounding = 1e-14 * np.abs(deviations).sum(axis=0)
        deviations = _sums_by_cluster(index, deviations)
        deviations[np.abs(deviations) < rounding] = 0.0  # These would be 0 in exact arithmetic.
    n_clusters, weight_of_others = np.count_nonzero(sizes), sizes.sum() - sizes
    # A cluster with all of the weight has the deviation 0.
    divisor = np.where(weight_of_others > 0, weight_of_others, 1.0)
    return np.sqrt((n_clusters - 1) / n_clusters) * deviations / divisor[:, None]


def effective_clusters(
    clusters: np.ndarray | None, questions: int, weights: np.ndarray | None = None
) -> float:
    """Return G* of M `questions`: (sum of the sizes of clusters)^2 / (sum of their squares)."""
    _, _, sizes = _cluster_sizes(clusters, questions, weights)
    return float(sizes.sum() ** 2 / np.sum(sizes**2))


def degrees_of_freedom(clusters: float) -> float:
    """Return G* - 1, but at least 1: the degrees of freedom of a variance over G* `clusters`."""
    return max(1.0, clusters - 1)


def student_quantile(freedom: float, alpha: float) -> float:
    """Return the quantile 1 - alpha / 2 of Student's t with `freedom` degrees of freedom."""
    from scipy.special import stdtrit  # imported here, because it takes longer than all of at_k

    # It is computed from the lower tail, because 1 - alpha / 2 may round to 1.
    return -float(stdtrit(freedom, alpha / 2))


def unseen_share(clusters: float, alpha: float) -> float:
    """Return the share 1 - r of all questions that G clusters miss with probability alpha / 2."""
    return -math.expm1(math.log(alpha / 2) / clusters)


def wilson_limits(u, v, number, z: float):
    """Return Wilson's lower and upper limits of means u, from 0 to 1, with variances v.

    `number` is the effective number of questions of each mean, and z a quantile of the normal or of
    Student's distribution. All may be numbers or arrays.
    """
    u, event = np.clip(u, 0.0, 1.0), 1 / 8 / number
    # The variance of one question, as a share of the largest that the mean allows.
    share = (number * v + event) / (u * (1 - u) + event)
    trials = number / np.maximum(share, 1e-6)  # the effective number of trials
    center = (u + z**2 / 2 / trials) / (1 + z**2 / trials)
    margin = z / (1 + z**2 / trials) * np.sqrt(u * (1 - u) / trials + z**2 / 4 / trials**2)
    lo, hi = np.minimum(center - margin, u), np.maximum(center + margin, u)
    return np.maximum(lo, 0.0), np.minimum(hi, 1.0)


def _lower_limit_of_few_events(u: np.ndarray, v: np.ndarray, alpha: float) -> np.ndarray:
    """Return Garwood's lower limits of means u with variances v, (m,), or 1 for no limit.

    A mean near 0 is that of rare events of the size v / u. With many of them, it has no such limit.
    """
    from scipy.special import gammaincinv

    size = v / np.where(u > 0, u, 1.0)  # the size of one event
    events = u / np.where(size > 0, size, np.inf)
    are_few = (events > 0) & (events < FEW_EVENTS)
    return np.where(are_few, size * gammaincinv(np.clip(events, 1e-9, FEW_EVENTS), alpha), 1.0)


def limits_of_product(
    score: Score,
    lower: np.ndarray,
    estimate: np.ndarray,
    upper: np.ndarray,
    covariance: Mapping[ColumnPair, np.ndarray] | np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and the upper limits of a score, (..), from the limits of its columns.

    A product of powers is far from linear where a factor is near 0. So its limits are combined from
    those of its factors, as for a difference by Zou & Donner (2008, Statistics in Medicine 27,
    1693): for the lower limit, each factor alone moves from its estimate to its lower limit, and
    the changes of the product are added as correlated errors are. For the upper limit, all factors
    are at their upper limits, and each alone moves back to its estimate. The limits are never
    beyond the products of all lower and of all upper limits.

    `lower`, `estimate` and `upper`, (m, ..), are those of the columns, and `covariance` has the
    covariance of each pair of columns, (..).
    """

    def correlation(a: int, b: int) -> np.ndarray | float:
        """Return the correlation of two columns, at least 0: both rise with correct samples."""
        if a == b:
            return 1.0
        sd_product = np.sqrt(np.maximum(covariance[a, a] * covariance[b, b], 0.0))
        return np.clip(covariance[a, b] / np.where(sd_product > 0, sd_product, 1.0), 0.0, 1.0)

    def root_sum_of_moves(low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return the change of the score if columns move from `high` to `low`."""
        moves = {}
        for column in score.terms:
            moved = high.copy()
            moved[column] = low[column]
            moves[column] = score.value(high) - score.value(moved)
        pairs = ((min(a, b), max(a, b)) for a in moves for b in moves)
        return np.sqrt(sum(correlation(a, b) * moves[a] * moves[b] for a, b in pairs))

    center = score.value(estimate)
    return (
        np.maximum(center - root_sum_of_moves(lower, estimate), score.value(lower)),
        np.minimum(center + root_sum_of_moves(estimate, upper), score.value(upper)),
    )


class QuestionIntervals(IntervalMethod):
    """Intervals of scores for other questions like these, as the module docstring describes.

    `ranges` are the smallest and the largest possible true scores, which broadcast to (U, m), and
    `ranges_of_estimates` those of estimates, if they differ. `clusters` and `weights` are (M,). If
    `allow_one`, one question or cluster has the whole range as its interval. Otherwise `problem`
    says why it has none.
    """

    def __init__(
        self,
        scores: Scores,
        ranges: Ranges = UNIT_RANGE,
        clusters: np.ndarray | None = None,
        allow_one: bool = False,
        ranges_of_estimates: Ranges | None = None,
        weights: np.ndarray | None = None,
    ):
        self._scores, self._clusters, self._allow_one = scores, clusters, allow_one
        self._weights = weights
        self._ranges, self._ranges_of_estimates = ranges, ranges_of_estimates

    def problem(self, questions: np.ndarray) -> str | None:
        """Return why questions with these indices have no interval, or None if they have one."""
        if self._allow_one or not self._is_one_cluster(questions):  # One has the whole range.
            return None
        return (
            "one question, or one cluster of questions, does not show how questions vary: add "
            "questions, or choose limits for the same questions, sampled again (interval "
            "'sampling')"
        )

    def _is_one_cluster(self, questions: np.ndarray) -> bool:
        """Return whether the questions with these indices are one question or one cluster."""
        labels = questions if self._clusters is None else self._clusters[questions]
        return bool((labels == labels[0]).all())

    def means(self, questions: np.ndarray) -> MeansOfQuestions:
        """Return the means of the columns over the questions with these indices."""
        rows, columns = self._scores.inverse[questions], self._scores.columns
        if self._clusters is None and self._weights is None:
            used = UniqueIntegers(rows, len(columns))
            return means_of_questions(columns[used.values], used.multiplicity)
        clusters = None if self._clusters is None else self._clusters[questions]
        weights = None if self._weights is None else self._weights[questions]
        return means_of_questions(columns[rows], None, clusters, weights)

    def covariance(self, questions: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        """Return the covariance of the errors of the scores with these keys, (keys, keys).

        A key that is not in `scores` has the variance 1 and no covariance.
        """
        result, scores = np.eye(len(keys)), self._scores.keys
        known = [i for i, key in enumerate(keys) if key in scores]
        means = self.means(questions)
        gradient = np.stack([scores[keys[i]].gradient(means.mean) for i in known], axis=1)
        result[np.ix_(known, known)] = gradient.T @ means.covariance @ gradient
        return result

    def intervals(self, questions: np.ndarray, confidence: float) -> dict[ScoreKey, Interval]:
        """Return the interval of each score over the questions with these indices."""
        if self._is_one_cluster(questions):
            return self._whole_ranges(questions)
        means, of_estimates = self.means(questions), self._ranges_of_estimates
        limits_of_estimates = of_estimates and self._extremes(of_estimates, questions)
        ranges = self._extremes(self._ranges, questions)
        lo, hi = means.limits(confidence, ranges, limits_of_estimates)
        sigma = np.sqrt(np.maximum(np.diag(means.covariance), 0.0))
        columns = np.transpose([means.mean, sigma, lo, hi]).tolist()
        result = {}
        for key, score in self._scores.keys.items():
            if score.powers == (1.0,):  # The score is one column, as most are.
                mean, sd, lower, upper = columns[score.terms[0]]
            else:
                product_limits = limits_of_product(score, lo, means.mean, hi, means.covariance)
                lower, upper = map(float, product_limits)
                mean = float(score.value(means.mean))
                sd = math.sqrt(max(0.0, score.variance(means.mean, means.covariance)))
            result[key] = Interval(mean, sd, lower, upper, "questions")
        return result

    def _whole_ranges(self, questions: np.ndarray) -> dict[ScoreKey, Interval]:
        """Return the whole range of each score over questions that show no variation."""
        columns = self._scores.columns[self._scores.inverse[questions]]
        # With weights, np.average takes a table without columns: all scores may be extrapolated.
        weights = np.ones(len(columns)) if self._weights is None else self._weights[questions]
        values = (np.average(columns, 0, weights), *self._extremes(self._ranges, questions))
        result = {}
        for key, score in self._scores.keys.items():
            mu, lo, hi = (float(score.value(x)) for x in values)
            result[key] = Interval(mu, (hi - lo) / 2, lo, hi, f"none: {ONE_CLUSTER}")
        return result

    def _extremes(self, ranges: Ranges, questions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest and the largest value of each column over questions, (m,) both."""
        shape, rows = self._scores.columns.shape, self._scores.inverse[questions]
        least, most = (np.broadcast_to(values, shape)[rows] for values in ranges)
        return least.min(axis=0), most.max(axis=0)
