"""The difference between the scores of two runs on the same questions.

`differences_as_dict` converts a list of `Difference` to the dict that `compare` returns, with keys
such as "pass@4_lo". `differences_in` converts it back. The dict carries the differences; if it was
changed, merged, or read from a file, they are parsed from its keys.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Unpack

from ..core.score import ScoreId
from ..core.signatures import check_options, shows_options
from ..functions import OutcomesLike
from ..results import Result, carried_by, estimates_of
from .options import ComparisonOptions, RunOptions


class Difference(NamedTuple):
    """The score of run b minus that of run a at one k, and its limits.

    Attributes:
        metric: the name of the score, such as "pass@k".
        k: the k in the key of the score, or its n or "n" if it has no k; see `Estimate`.
        tau: the threshold of G-Pass@k; None for other scores.
        group: the label of the group of questions, or None for all questions.
        score: the difference b - a.
        a, b: the scores of the runs.
        interval: the (lower, upper) limits of the difference.
        band: its (lower, upper) limits in the simultaneous band over k.
        p: the two-sided p-value, or None if it was not requested.
    """

    metric: str
    k: int | str | None
    tau: float | None
    group: str | None
    score: float
    a: float
    b: float
    interval: tuple[float, float]
    band: tuple[float, float]
    p: float | None = None

    @property
    def key(self) -> str:
        """The key of the score, such as "pass@4", without the group."""
        return ScoreId(self.metric, self.k, self.tau).key

    @property
    def full_key(self) -> str:
        """The key in the dict of `compare`: "pass@4", or "topic/pass@4" for a group."""
        return self.key if self.group is None else f"{self.group}/{self.key}"

    @property
    def sign(self) -> int:
        """1 if the band is above 0, -1 if it is below 0, and 0 if it contains 0."""
        return (self.band[0] > 0) - (self.band[1] < 0)


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
        by_order: whether questions are paired by their order, if runs were read without ids.
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
    # Imported here because SciPy takes longer to import than the rest of at_k.
    from .differences import Compared, compare_groups, differences_of
    from .outcomes_of_runs import grade_sources

    check_options(compare, options)
    requested = ComparisonOptions(
        metric, k, interval, confidence, temperature=temperature, anytime=anytime, **options
    )
    sources = [("R_a", R_a), ("R_b", R_b)]
    graded = grade_sources(sources, requested, checker_rates, labels, by_order, common)
    overall = Compared(*graded)
    differences = [
        difference
        for group, compared in compare_groups(overall, overall.options.groups).items()
        for difference in differences_of(compared, p_values, group)
    ]
    return differences_as_dict(differences, averaging=overall.options.weighting.words)


def differences_as_dict(
    differences: Iterable[Difference],
    others: Mapping[str, Any] | None = None,
    averaging: str = "",
) -> Result:
    """Return the dict that `compare` returns.

    Args:
        differences: the differences, in the order of the keys.
        others: more entries for the end of the dict, or None.
        averaging: a phrase that says how questions are averaged, or "".
    """
    differences = list(differences)
    result: dict[str, Any] = {}
    for difference in differences:
        key = difference.full_key
        result |= {
            key: difference.score,
            f"{key}_a": difference.a,
            f"{key}_b": difference.b,
            f"{key}_lo": difference.interval[0],
            f"{key}_hi": difference.interval[1],
            f"{key}_band_lo": difference.band[0],
            f"{key}_band_hi": difference.band[1],
        }
        if difference.p is not None:
            result[f"{key}_p"] = difference.p
    return Result(result | dict(others or {}), differences, averaging)


def differences_in(comparison: Mapping[str, Any]) -> list[Difference]:
    """Return the differences in a dict that `compare` has returned, in the order of its keys.

    The dict may have been changed, merged with other entries, or read from a file.
    """
    carried = carried_by(comparison, Difference)
    if carried is not None:
        return carried
    differences = []
    for estimate in estimates_of(comparison):
        if estimate.interval is None or estimate.band is None:
            continue  # This entry is the score of one run, or a p-value.
        key = estimate.full_key
        difference = Difference(
            estimate.metric,
            estimate.k,
            estimate.tau,
            estimate.group,
            estimate.score,
            a=comparison[f"{key}_a"],
            b=comparison[f"{key}_b"],
            interval=(estimate.interval.lo, estimate.interval.hi),
            band=estimate.band,
            p=comparison.get(f"{key}_p"),
        )
        differences.append(difference)
    return differences


def by_sign(differences: Iterable[Difference]) -> list[tuple[int, list[Difference]]]:
    """Return (sign, differences) for each stretch of successive differences of the same sign."""
    groups = itertools.groupby(differences, lambda difference: difference.sign)
    return [(sign, [*successive]) for sign, successive in groups]


def zero_in_band(differences: Sequence[Difference], names: Sequence[str]) -> str:
    """Return the end of the sentence "The band ..": where it excludes 0, and which run is higher.

    `names` are those of runs a and b.
    """
    ranges = []
    for sign, successive in by_sign(differences):
        keys = [difference.key for difference in successive]
        if sign != 0:
            higher = names[1] if sign > 0 else names[0]
            if len(differences) == 1:
                return f"excludes 0: {higher} has the higher {keys[0]}"
            where = f"at {keys[0]}" if len(keys) == 1 else f"from {keys[0]} to {keys[-1]}"
            ranges.append(f"{where}, where {higher} is higher")
    if ranges:
        return f"excludes 0 {', and '.join(ranges)}"
    if len(differences) == 1:
        return f"contains 0, so the data do not show which run has the higher {differences[0].key}"
    return "contains 0 at all k, so the data do not show which run is higher"
