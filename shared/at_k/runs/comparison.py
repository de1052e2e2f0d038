"""The difference between the scores of two runs on the same questions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..functions import Run

if TYPE_CHECKING:
    from .compared import Compared


def compare(
    R_a: Run,
    R_b: Run,
    metric: str = "pass@k",
    k: int | list[int] | None = None,
    interval: str | None = None,
    confidence: float = 0.95,
    tau: float = 0.5,
    clusters: list[str] | None = None,
    w: list[float] | None = None,
    temperature: float = 0.5,
    check_correct_fn: str | Callable[..., Any] = "exact_match",
    num_proc: int | None = None,
    p_values: bool = False,
) -> dict[str, float]:
    """Return the score of run b minus that of run a on the same questions, for each k.

    `leaderboard` has the opposite sign: a pair (a, b) there is the score of a minus that of b.

    Args:
        R_a: run a: the outcomes of the samples of M questions; or a dict of predictions and
            references, as `at_k.read` returns it.
        R_b: run b on the same questions, in the same order. The numbers of samples may differ.
            Questions are matched by position: if both runs have references, these have to be the
            same; outcomes in another order give a wrong difference without an error.
        metric: the score: pass@k, pass^k, G-Pass@k, mG-Pass@k, maj@k, AUC@k, Geom@k, Geom_ds@k,
            GeoSpectrum@k, Spectrum@k, vote@k, max@k, avg@N, bayes@N or score_agg.
        k: size of the subsets of samples, one or several. Default: each k up to the smallest number
            of samples of a question; for vote@k the powers of 2, and this number. avg@N, bayes@N
            and score_agg have no k.
        interval: "sampling", for the same questions, sampled again; or "questions", for other
            questions like these, paired. score_agg has "questions" only, and bayes@N has
            "posterior" only, for the same questions, sampled again. Default: "sampling" where it
            applies.
        confidence: probability of the interval at each k, and of the simultaneous band over all k.
        tau: share of correct samples that G-Pass@k requires, from 0 to 1.
        clusters: a label of the cluster of each question, for interval "questions". Default: each
            question is its own cluster.
        w: rewards of the categories, for max@k, avg@N and bayes@N. Default: 0 and 1; or, if an
            outcome is a float other than 0 and 1, the outcomes are rewards themselves.
        temperature: strictness of score_agg, from 0.1 (strict) to 1.0 (lenient).
        check_correct_fn: what to check predictions with, if the runs have references: a function of
            a prediction and a reference, or "exact_match", "numeric" or "math_verify".
        num_proc: number of processes to run the checker in.
        p_values: whether to add <key>_p, the two-sided p-value of no difference: the smallest alpha
            at which the interval at this k with the confidence 1 - alpha excludes 0.

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
        {'pass@1': 0.25, 'pass@1_a': 0.5, 'pass@1_b': 0.75, 'pass@1_lo': -0.166, 'pass@1_hi': 0.58}

    References:
        Miller (2024). Adding Error Bars to Evals. arXiv:2411.00640
        Wilson (1927). Probable Inference, the Law of Succession, and Statistical Inference.
            Journal of the American Statistical Association 22, 209.
        Naiman (1986). Conservative Confidence Bands in Curvilinear Regression.
            Annals of Statistics 14, 896.
    """
    # Imported here because SciPy takes longer to import than the rest of at_k.
    from .compared import compare_sources

    found = compare_sources(
        {"R_a": R_a, "R_b": R_b},
        check_correct_fn,
        num_proc,
        metric=metric,
        k=k,
        interval=interval,
        confidence=confidence,
        tau=tau,
        clusters=clusters,
        w=w,
        temperature=temperature,
    )
    return comparison_of_two(found, p_values)


def comparison_of_two(found: Compared, p_values: bool = False) -> dict[str, float]:
    """Return what `compare` returns, for two compared runs."""
    a, b = (run.estimates.tolist() for run in found.measured)
    differences, confidence = found.differences, found.measure.confidence
    lo, hi = differences.limits(confidence)[:, 0].tolist()
    band_lo, band_hi = differences.simultaneous_limits(confidence)[:, 0].tolist()
    p = differences.p_values()[0, 1].tolist() if p_values else []
    result: dict[str, float] = {}
    for place, key in enumerate(found.keys):
        result |= {
            key: b[place] - a[place],
            f"{key}_a": a[place],
            f"{key}_b": b[place],
            f"{key}_lo": lo[place],
            f"{key}_hi": hi[place],
            f"{key}_band_lo": band_lo[place],
            f"{key}_band_hi": band_hi[place],
        }
        if p_values:
            result[f"{key}_p"] = p[place]
    return result
