"""`at_k.noise`: how much of an error bar comes from questions, samples and labels of a checker."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from ..core.interval import Interval, normal_z
from ..core.signatures import check_options, shows_options
from ..functions import OutcomesLike
from .options import ComparisonOptions, RunOptions
from .outcomes_of_runs import Run, grade_sources

Limits = tuple[float, float]


@shows_options(RunOptions, ComparisonOptions)
def noise(
    R: OutcomesLike,
    k: int | list[int] | None = None,
    metric: str = "pass@k",
    confidence: float = 0.95,
    *,
    checker_rates: tuple[float, float] | None = None,
    labels: Any = None,
    **options: Unpack[RunOptions],
) -> dict[str, dict[str, Any]]:
    """Return how much of the error of a score comes from questions, from samples and from labels.

    Args:
        R: the outcomes of the samples of M questions; or a dict of predictions and references, as
            `at_k.read` returns it.
        k: size of the subsets of samples, one or several. Default: each k up to the smallest number
            of samples of a question; above 64, powers of the square root of 2, and this number.
        metric: the name of a score of `at_k.compare` other than bayes@N and score_agg.
        confidence: the confidence of the intervals.
        checker_rates: true-positive and false-positive rate of a checker that errs.
        labels: the labels that a person gave to some samples, in place of the rates, in a form that
            the metric gpassk takes. Default: the labels that the run was read with.
        clusters: a label of the cluster of each question. Default: each is its own cluster.
        w: rewards of the categories, for max@k and avg@N. Default: 0 and 1.
        groups: a label for each question, for average "groups".
        tau, check_correct_fn, num_proc, average, question_weights: see `at_k.compare`.

    Returns:
        A dict with a dict for the key of each score, such as "pass@4", with these entries:

        - "score", and "standard_error", that for other questions like these;
        - "questions", "samples" and "checker", the shares of the variance that come from each, with
          the sum 1. If each question has one sample, "samples" is None, and "questions" has the
          share of both. If all questions have the same score, they are the shares of the squared
          widths of the limits;
        - "same_questions", the (lower, upper) limits for the same questions, sampled again, or None
          if each question has one sample; "other_questions", those for other questions like these;
        - "helps_most", what would narrow the latter most: "questions", "samples" or "labels". It is
          the one with the largest share; or "questions" if the questions are too few to show how
          they vary, as in the example.

    Raises:
        ValueError: if an outcome or a parameter is invalid, or if there are fewer than two
            questions or clusters.

    Examples:
        >>> result = noise([[0, 0, 1, 0], [1, 0, 1, 1], [1, 1, 1, 1]], k=2)["pass@2"]
        >>> round(result["questions"], 2), round(result["samples"], 2), result["helps_most"]
        (0.49, 0.51, 'questions')

    References:
        Miller (2024). Adding Error Bars to Evals. arXiv:2411.00640
        Wang (2025). Measuring all the noises of LLM Evals. arXiv:2512.21326
    """
    check_options(noise, options)
    requested = ComparisonOptions(metric, k, "questions", confidence, **options)
    labels_of_runs = None if labels is None else [labels]
    (run,), requested = grade_sources([("R", R)], requested, checker_rates, labels_of_runs)
    return noise_of(run, requested)


def noise_of(
    run: Run, options: ComparisonOptions, same: Sequence[Interval] | None = None
) -> dict[str, dict[str, Any]]:
    """Return the result of `noise` for a graded run. `options` has the interval "questions".

    With the true score s of a question and its estimate S, the variance for other questions is
    Var[s] / M + E[Var[S | question]] / M. The sum is estimated from the variance of S over
    questions or clusters, and the second part is that of the interval "sampling".

    `same` has the latter interval of each score, uncorrected for labels, if it is known already.
    """
    # Imported here because it imports SciPy, which scores without limits do not need.
    from .scored_run import limits_of, score_runs

    options = options.for_samples({run.name: run.outcomes.n})
    (scored,), confidence = score_runs([run], options), options.confidence
    other = scored.intervals("questions", confidence)
    if same is None and scored.shows_samples:
        same = scored.intervals("sampling", confidence)
    # Estimated rates of the checker move each limit by about z standard errors.
    checker_errors = scored.label_distances(confidence).mean(axis=0) / normal_z(confidence)
    other_limits = scored.widened(limits_of(other), confidence).T.tolist()
    sampling_errors: list[float] = [0.0] * len(other)
    same_limits: list[Any] = [None] * len(other)
    if same is not None:
        sampling_errors = [interval.sigma for interval in same]
        same_limits = [*map(tuple, scored.widened(limits_of(same), confidence).T.tolist())]
    result = {}
    for i, score_id in enumerate(scored.points.keys):
        errors = other[i].sigma, sampling_errors[i], float(checker_errors[i])
        limits = same_limits[i], tuple(other_limits[i])
        result[score_id.key] = _noise_of_score(float(scored.estimates[i]), errors, *limits)
    return result


def _noise_of_score(
    score: float, errors: tuple[float, float, float], same: Limits | None, other: Limits
) -> dict[str, Any]:
    """Return the entry of `noise` for a score with limits for the same and for other questions.

    The `errors` are standard errors: for other questions, for new samples of the same questions,
    and from estimated rates of the checker.
    """
    variance, within, checker = (error**2 for error in errors)
    standard_error = math.sqrt(variance + checker)
    # If all questions have the same score, the variance is 0 up to rounding, but limits differ.
    if standard_error <= 1e-12 * abs(score):
        standard_error, checker = 0.0, 0.0
        variance, within = _squared_width(other) or 1.0, _squared_width(same)
    total, within = variance + checker, min(within, variance)
    noise = {
        "score": score,
        "standard_error": standard_error,
        "questions": (variance - within) / total,
        "samples": None if same is None else within / total,
        "checker": checker / total,
        "same_questions": same,
        "other_questions": other,
    }
    return noise | {"helps_most": _helps_most(noise)}


def _squared_width(limits: Limits | None) -> float:
    """Return (upper - lower)^2, or 0 for None."""
    return 0.0 if limits is None else (limits[1] - limits[0]) ** 2


def largest_share(noise: Mapping[str, Any]) -> str:
    """Return what causes most of the variance of a score: "questions", "samples" or "labels"."""
    shares = {"questions": noise["questions"], "samples": noise["samples"] or 0.0}
    shares["labels"] = noise["checker"]
    return max(shares, key=lambda name: shares[name])


def _helps_most(noise: Mapping[str, Any]) -> str:
    """Return what to add to narrow the limits for other questions most.

    It is the largest share; but "questions" if so few of them show little of how questions vary, so
    that the limits for the same questions, which more samples narrow, are much narrower already.
    """
    cause = largest_share(noise)
    if cause == "samples":
        same = _squared_width(noise["same_questions"])
        if same < _squared_width(noise["other_questions"]) / 2:
            return "questions"
    return cause


def correction_in_words(checker: Mapping[str, float]) -> str:
    """Return the end of a sentence on corrected scores, from the entry "checker" of a result."""
    rates = []
    for name in ("true_positive_rate", "false_positive_rate"):
        words = f"{name.replace('_rate', '').replace('_', '-')} rate of {100 * checker[name]:.1f} %"
        if f"{name}_lo" in checker:
            lo, hi = (100 * checker[f"{name}_{end}"] for end in ("lo", "hi"))
            words += f" ({lo:.1f} to {hi:.1f})"
        rates.append(words)
    text = f"corrected for a judge with a {' and a '.join(rates)}"
    if "labels" in checker:
        text += f", estimated from {checker['labels']} labelled samples"
    return f"{text}, assuming that its errors are independent"
