"""The differences between runs on the same questions, with intervals that may cover together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cache
from statistics import NormalDist
from typing import Any, Unpack

import numpy as np
from scipy.special import ndtr

from ..core.checks import label_index
from ..core.questions import (
    degrees_of_freedom,
    effective_clusters,
    student_quantile,
    unseen_share,
)
from ..core.score import ScoreId
from ..core.signatures import check_options, shows_options
from ..functions import OutcomesLike
from ..intervals.band import confidence_of_each, path_angles, path_exceedance
from ..intervals.labelled import Errors
from ..results import Result
from .comparison import Difference, differences_as_dict
from .options import ComparisonOptions, RunOptions
from .outcomes_of_runs import Run, grade_sources
from .scored_run import ScoredRun, names_of_falling_runs, score_runs


@shows_options(RunOptions, ComparisonOptions)
def compare(
    R_a: OutcomesLike,
    R_b: OutcomesLike,
    metric: str = "pass@k",
    k: int | list[int] | None = None,
    interval: str | None = None,
    confidence: float = 0.95,
    *,
    temperature: float = 0.5,
    p_values: bool = False,
    checker_rates: tuple[float, float] | None = None,
    labels: tuple[Any, Any] | None = None,
    by_order: bool = False,
    common: bool = False,
    anytime: bool = False,
    **options: Unpack[RunOptions],
) -> Result:
    """Return the score of run b minus that of run a on the same questions, for each k.

    `leaderboard` has the opposite sign: its pair (a, b) is the score of a minus that of b.

    Args:
        R_a: run a: the outcomes of the samples of M questions; or a dict of predictions and
            references, as `at_k.read` returns it.
        R_b: run b on the same questions. The numbers of samples may differ. Runs that were read
            are paired by the ids of their questions; matrices are paired by their rows.
        metric: the name of the score: one of those of gpassk, such as pass@k or pass^k; or vote@k,
            max@k, avg@N, bayes@N or score_agg.
        k: size of the subsets of samples, one or several. Default: each k up to the smallest number
            of samples of a question, above 64 only the powers of the square root of 2, and this
            number; for vote@k the powers of 2, and this number. avg@N, bayes@N and score_agg have
            no k.
        interval: "questions", for other questions like these, as in a claim about models; or
            "sampling", for the same questions, sampled again. score_agg has "questions" only, and
            bayes@N has "posterior" only, for the same questions, sampled again. Default:
            "questions" where it applies.
        confidence: confidence of the interval at each k, and of the simultaneous band over all k.
        tau: share of correct samples that G-Pass@k requires, from 0 to 1.
        clusters: a label of the cluster of each question, for interval "questions". Default: each
            question is its own cluster.
        w: rewards of the categories, for max@k, avg@N and bayes@N. Default: 0 and 1; or, if an
            outcome is a float other than 0 and 1, the outcomes are rewards themselves.
        temperature: strictness of score_agg, from 0.1 (strict) to 1.0 (lenient).
        check_correct_fn: what to check predictions with, if the runs have references: a function of
            a prediction and a reference, or "exact_match", "numeric", "choice", "math_verify" or
            "python_tests".
        num_proc: number of processes to run the checker in.
        p_values: whether to add <key>_p, the two-sided p-value of no difference: the smallest alpha
            at which the interval at this k with the confidence 1 - alpha excludes 0.
        checker_rates: true-positive and false-positive rate of a checker that errs alike on both
            runs. The scores are corrected for its errors, so they count truly correct samples. Only
            for avg@N and the scores of gpassk.
        labels: the labels that a person gave to some samples of run a, and those for run b, each in
            a form that the metric gpassk takes: a list, or a dict of counts. The rates of the
            checker are estimated for each run, as it may favor one of them. Default: the labels
            that both were read with.
        by_order: whether questions are paired by their order, if runs were read without ids, or
            are data frames of pandas with different labels of rows.
        common: whether only the questions that all runs have are compared, by their ids. If not,
            runs with different questions raise an error.
        groups: a label for each question. Adds the differences within each group, with keys
            <label>/<key>.
        average: "questions" (the default), for the mean over all questions; or "groups", for the
            mean of the scores of the groups, whatever their sizes (macro average).
        question_weights: a weight for each question in all means over questions, not negative.
            Default: those that the runs were read with, or equal weights.
        anytime: whether limits hold at all looks together: while samples or questions are added,
            one may look at them as often as one likes, and stop when they decide. They are 1.6 to
            1.8 times as wide. Not for bayes@N.

    Returns:
        For each k in ascending order, with <key> such as "pass@4": <key>, the difference; <key>_a
        and <key>_b, the scores; <key>_lo and <key>_hi, the confidence limits of the difference;
        <key>_band_lo and <key>_band_hi, the limits of the simultaneous confidence band. The band is
        equal to the interval if there is a single k.

    Raises:
        ValueError: if an outcome or a parameter is invalid, if the runs have different numbers of
            questions, or if there are too few samples or questions to estimate a variance.

    Examples:
        >>> result = compare([[0, 0, 1, 0], [1, 0, 1, 1]], [[0, 1, 1, 0], [1, 1, 1, 1]], k=1)
        >>> {key: round(value, 3) for key, value in result.items() if "band" not in key}
        {'pass@1': 0.25, 'pass@1_a': 0.5, 'pass@1_b': 0.75, 'pass@1_lo': -0.381, 'pass@1_hi': 0.671}

    References:
        Miller (2024). Adding Error Bars to Evals. arXiv:2411.00640
        Wilson (1927). Probable Inference, the Law of Succession, and Statistical Inference.
            Journal of the American Statistical Association 22, 209.
        Naiman (1986). Conservative Confidence Bands in Curvilinear Regression.
            Annals of Statistics 14, 896.
    """
    check_options(compare, options)
    requested = ComparisonOptions(
        metric, k, interval, confidence, temperature=temperature, anytime=anytime, **options
    )
    sources = [("R_a", R_a), ("R_b", R_b)]
    graded = grade_sources(sources, requested, checker_rates, labels, by_order, common)
    overall = Compared(*graded)
    by_group = compare_groups(overall, overall.options.groups)
    differences = [
        difference
        for group, compared in by_group.items()
        for difference in differences_of(compared, p_values, group)
    ]
    return differences_as_dict(differences, averaging=overall.options.weighting.words)


class Compared:
    """Hold K runs on the same questions, scored at m values of k, and all P pairs of them.

    `pairs` has the `Pair` of the runs with the indices (a, b), a < b, and `scores` the ids of the
    scores. `falling` are the names of runs whose corrected pass@k falls with k, if it `warns` of
    them. Raises ValueError, with the name of the run, if one does not allow the interval.
    """

    def __init__(self, runs: Sequence[Run], options: ComparisonOptions, warns: bool = True):
        self.runs = runs
        self.options = options.for_samples({run.name: run.outcomes.n for run in runs})
        self.scored = score_runs(runs, self.options)
        self.scores: list[ScoreId] = [*self.scored[0].points.keys]
        self.falling = names_of_falling_runs(self.scored) if warns else []
        self.pairs = {
            (a, b): Pair(self.scored[a], self.scored[b])
            for a, b in itertools.combinations(range(len(runs)), 2)
        }
        angles = np.array([path_angles(pair.covariance) for pair in self.pairs.values()])
        self.simultaneous = Simultaneous(len(runs), angles, self.options.interval != "questions")

    @property
    def checkers(self) -> dict[str, dict[str, float]]:
        """The rates of the checker for each corrected run, and "falls_with_k" if in `falling`."""
        checkers = {run.name: run.errors.described() for run in self.runs if run.errors != Errors()}
        for name in self.falling:
            checkers[name]["falls_with_k"] = True
        return checkers

    @property
    def confidence_of_each(self) -> float:
        """The confidence each interval needs so that all cover with the confidence of `options`."""
        confidence = self.options.confidence
        if self.options.anytime:  # `simultaneous` is for one look, so Bonferroni is used.
            return 1 - (1 - confidence) / (len(self.pairs) * len(self.scores))
        return self.simultaneous.confidence_of_each(confidence)

    def limits_by_run(self, confidence: float) -> np.ndarray:
        """Return lower and upper limits, (2, K, K, m): [:, i, j] are those of run i minus run j."""
        result = np.zeros((2, len(self.runs), len(self.runs), len(self.scores)))
        for (a, b), pair in self.pairs.items():
            lo, hi = pair.limits(confidence)
            result[:, b, a], result[:, a, b] = (lo, hi), (-hi, -lo)
        return result


class Pair:
    """Hold two runs on the same questions, and the differences b - a of their m scores.

    Differences for new questions are paired, because these would be the same for both runs.
    `limits` is a cached function from a confidence to lower and upper limits, (2, m), and
    `covariance`, (m, m), is that of the differences.
    """

    def __init__(self, a: ScoredRun, b: ScoredRun):
        self._a, self._b, self._differences = a, b, b.estimates - a.estimates
        self.limits = cache(self._limits)
        sampling_covariance = None
        if a.covariance is not None and b.covariance is not None:
            # New samples of the same questions are independent, so the covariances add up.
            sampling_covariance = a.covariance + b.covariance
        self._new_questions = a.options.interval == "questions"
        if self._new_questions:
            # Both runs have the same new questions, so errors are subtracted cluster by cluster.
            errors = b.errors - a.errors
            self.covariance = errors.T @ errors
            self._correlation = _correlation_over_questions(a, b, sampling_covariance)
        else:
            assert sampling_covariance is not None
            self.covariance = sampling_covariance
            self._correlation = np.zeros(len(self._differences))

    def _limits(self, confidence: float) -> np.ndarray:
        """Return the lower and upper limits of the differences, (2, m)."""
        a, b, r = self._a, self._b, self._correlation
        (lo_a, hi_a), (lo_b, hi_b) = a.limits(confidence), b.limits(confidence)
        if_equal = unseen_down = unseen_up = np.zeros(len(r))
        if self._new_questions:
            alpha, options = 1 - a.look_confidence(confidence), a.options
            clusters = effective_clusters(options.clusters, len(a.run.outcomes), options.weights)
            t = student_quantile(degrees_of_freedom(clusters), alpha)
            if_equal = t * np.abs(b.standard_errors - a.standard_errors)
            unseen_down, unseen_up = self._unseen_distances(alpha)
        down = _distance_of_limit(hi_a - a.estimates, b.estimates - lo_b, r, if_equal)
        up = _distance_of_limit(a.estimates - lo_a, hi_b - b.estimates, r, if_equal)
        down, up = np.fmax(down, unseen_down), np.fmax(up, unseen_up)
        # The labels of the two runs are independent, so squared distances add up.
        (down_a, up_a), (down_b, up_b) = (run.label_distances(confidence) for run in (a, b))
        down, up = np.hypot(np.hypot(down, up_a), down_b), np.hypot(np.hypot(up, down_a), up_b)
        # Scores that are corrected for the errors of a checker may leave their range.
        limits = [self._differences - down, self._differences + up]
        least, most = a.bounds
        return np.clip(limits, least - most, most - least)

    def _unseen_distances(self, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Return how far a kind of questions that is not among these may move differences.

        Both distances, down and up, are (m,). Such questions may be hard for one run alone. Then
        they move the difference as far as the score of that run.
        """
        a, b, labels = self._a, self._b, self._a.options.clusters
        counted = a.counted if labels is None else np.unique(labels[a.counted])
        share, (least, most) = unseen_share(len(counted), alpha), a.bounds
        down = share * np.fmax(b.estimates - least, most - a.estimates)
        return down, share * np.fmax(most - b.estimates, a.estimates - least)

    def p_values(self) -> list[float]:
        """Return the two-sided p-value of each difference, not adjusted for the others."""
        # It is the smallest miscoverage at which the interval excludes 0, found by bisection.
        normal, p = NormalDist(), [1.0] * len(self._differences)
        for score in np.flatnonzero(self._differences).tolist():
            least, most = 0.0, 8.0  # z-values
            for _ in range(26):
                z = (least + most) / 2
                lo, hi = self._limits(1 - 2 * normal.cdf(-z))[:, score]
                least, most = (z, most) if lo > 0 or hi < 0 else (least, z)
            p[score] = 2 * normal.cdf(-least)
        return p


def _correlation_over_questions(
    a: ScoredRun, b: ScoredRun, sampling_covariance: np.ndarray | None
) -> np.ndarray:
    """Return the correlation of the scores of two runs over questions, (m,).

    The variance of a difference, Var[a] + Var[b] - 2 Cov[a, b], is at least that for new samples of
    the same questions, so it bounds the covariance. If the samples do not show that variance, it is
    at least the squared error of two questions, one that only a answers, and one that only b does.
    """
    least_variance: np.ndarray | float
    if sampling_covariance is None:
        number = effective_clusters(None, len(a.run.outcomes), a.options.weights)
        least_variance = 2.0 * (a.bounds[1] - a.bounds[0]) ** 2 / number**2
    else:
        least_variance = np.diag(sampling_covariance)
    most = np.maximum(a.standard_errors**2 + b.standard_errors**2 - least_variance, 0.0) / 2
    covariance = np.minimum(np.sum(a.errors * b.errors, axis=0), most)
    sd_product = a.standard_errors * b.standard_errors  # 0 if a score does not vary
    return covariance / np.where(sd_product > 0, sd_product, 1.0)


def _distance_of_limit(
    distance_a: np.ndarray,
    distance_b: np.ndarray,
    correlation: np.ndarray,
    distance_if_equal: np.ndarray,
) -> np.ndarray:
    """Return how far a limit of the differences is from their estimates, (m,).

    Let x and y be the distances of the two limits that bound it from the scores A and B, and r the
    correlation of the scores over questions, 0 for new samples. As for the standard deviation of a
    difference, it is sqrt(x^2 + y^2 - 2 r x y), so the interval is skewed as the limits are
    (Newcombe 1998, Statistics in Medicine 17, 873 and 2635; Zou & Donner 2008, ibid. 27, 1693). For
    r > 0 the square is (1 - r) (x^2 + y^2) + r (x - y)^2. As skewed limits may approach each other
    with a rising confidence, `distance_if_equal`, z |sigma_B - sigma_A|, takes the place of x - y.
    """
    # With this bound, the limits of the difference stay in the range of differences.
    largest = np.maximum(distance_a, distance_b)
    shared = np.minimum(distance_if_equal, largest)
    squares = distance_a**2 + distance_b**2
    positive, negative = np.maximum(correlation, 0.0), np.minimum(correlation, 0.0)
    product = distance_a * distance_b
    return np.sqrt(squares - positive * (squares - shared**2) - 2 * negative * product)


# --- All differences together -------------------------------------------------------------


class Simultaneous:
    """Make inferences about all differences together: of P pairs of K `runs`, at m values of k.

    `angles`, (P, m - 1), are those of `path_angles` for each pair. The regions where no error of a
    pair exceeds c are convex and symmetric, so the probability that no error exceeds c is at least
    the product over pairs, by the Gaussian correlation inequality (Royen 2014, Far East J.
    Theoretical Statistics 48, 139). If runs are `independent`, the errors at each k have at most
    the range of K equal variances, too (Tukey-Kramer; Hayter 1984, Annals of Statistics 12, 61).
    """

    def __init__(self, runs: int, angles: np.ndarray, independent: bool):
        self._runs, self._angles, self._independent = runs, angles, independent

    def exceedance(self, c: float) -> float:
        """Return an upper bound of P(any difference errs by more than c standard deviations)."""
        # (P,) the bound for the differences of each pair at all m values of k
        pair_tails = path_exceedance(self._angles, c)
        with np.errstate(divide="ignore"):
            bound = -math.expm1(np.log1p(-pair_tails).sum())  # 1 - the product of 1 - tail
        if self._independent and self._runs > 2:
            # The bound for the differences of all pairs at one k, and then at all m of them.
            range_tail = studentized_range_tail(c * math.sqrt(2), self._runs)
            m = self._angles.shape[1] + 1
            bound = min(bound, -math.expm1(m * math.log1p(-min(range_tail, 1 - 1e-16))))
        return bound

    def confidence_of_each(self, confidence: float) -> float:
        """Return the confidence that each interval needs so that all cover with `confidence`."""
        pairs, arcs = self._angles.shape
        return confidence_of_each(self.exceedance, pairs * (arcs + 1), confidence)

    def adjusted(self, p: float) -> float:
        """Return the p-value of one difference, two-sided, adjusted for all P m differences."""
        return 1.0 if p >= 1 else max(p, self.exceedance(-NormalDist().inv_cdf(p / 2)))


def studentized_range_tail(q: float, runs: int) -> float:
    """Return P(Q > q) for the range Q of `runs` independent standard normal numbers."""
    z = np.linspace(-8.5, 8.5, 401)
    density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    # Q <= q if the largest number is z, and all others are between z - q and z: the integral over
    # z of K phi(z) (Phi(z) - Phi(z - q))^(K - 1), by the trapezoidal rule.
    inside = runs * density * (ndtr(z) - ndtr(z - q)) ** (runs - 1)
    return max(0.0, 1.0 - float(inside.sum() * (z[1] - z[0])))


# --- Runs ---------------------------------------------------------------------------------


def compare_groups(overall: Compared, groups: Any) -> dict[str | None, Compared]:
    """Return the comparison of the questions of each group by its label, after {None: overall}.

    `groups` has a label for each question, or is None. Groups have the k of `overall`.
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
    """Return the `Difference` at each k of a comparison of two runs, with `group` as its label."""
    a, b = (run.estimates.tolist() for run in compared.scored)
    (pair,) = compared.pairs.values()
    intervals, bands = (
        [(lo, hi) for lo, hi in pair.limits(confidence).T.tolist()]
        for confidence in (compared.options.confidence, compared.confidence_of_each)
    )
    p = pair.p_values() if p_values else [None] * len(a)
    return [
        Difference(*score, group, b[i] - a[i], a[i], b[i], intervals[i], bands[i], p[i])
        for i, score in enumerate(compared.scores)
    ]
