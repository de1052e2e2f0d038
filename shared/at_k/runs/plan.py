"""`at_k.plan`: how many questions and samples a wanted precision needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def plan(
    R=None,
    metric: str = "pass@k",
    k: int = 1,
    questions: int | list[int] | None = None,
    samples: int | list[int] | None = None,
    confidence: float = 0.95,
    power: float = 0.8,
    tau: float = 0.5,
    R_b=None,
    rates: list[float] | None = None,
    correlation: float | None = None,
    interval: str = "questions",
    half_width: float | None = None,
    difference: float | None = None,
    question_cost: float = 0.0,
    sample_cost: float = 1.0,
    check_correct_fn: str | Callable[..., Any] = "exact_match",
    num_proc: int | None = None,
) -> dict[str, Any]:
    """Return the precision of runs with M questions and n samples each, and the cheapest design.

    The distribution of success rates is estimated from a pilot run, or assumed. It gives the
    variance for any n >= k, so n and k may exceed the n of the pilot run. Scores with such a k are
    extrapolated. The formulas are in `at_k.runs.designs`.

    Args:
        R: outcomes of a pilot run, 0 or 1, with two samples or more of a question; or
            `at_k.Counts`; or a dict of predictions and references, as `at_k.read` returns it.
        metric: the score: pass@k, pass^k, G-Pass@k, mG-Pass@k, maj@k or AUC@k. pass@1 is avg@n.
        k: size of the subsets of samples.
        questions: numbers of questions M, from 2 to a million. If given, the cheapest design has at
            most the largest of them. Default: 100, 200, 500 and 1000.
        samples: numbers of samples n of each question, from k to 4096. Default: k, 2k, 4k and 8k.
        confidence: probability that an interval covers the true value.
        power: probability that a comparison finds the difference.
        tau: share of correct samples that G-Pass@k requires, from 0 to 1.
        R_b: outcomes of a second pilot run on the same questions, to estimate the correlation from.
        rates: assumed success rates of questions, from 0 to 1, instead of a pilot run. Each rate
            holds for the same share of the questions.
        correlation: correlation over questions of the true scores of two runs, from -1 to 1.
            Default: estimated from two pilot runs, or 0.5 if there is one.
        interval: the interval that the wanted half-width or difference is for: "questions", or
            "sampling".
        half_width: the wanted half-width of the interval of a score.
        difference: instead of a half-width, the difference of two runs that a comparison should
            find with this power.
        question_cost: cost of a question. Default: 0.
        sample_cost: cost of a sample. Default: 1.
        check_correct_fn: what the samples of the pilot runs are checked with, if they have
            references, see the metric gpassk.
        num_proc: number of processes to run the checker in.

    Returns:
        A dict that JSON can store: "key", such as "pass@4"; its expected "score"; "confidence" and
        "power"; and

        - "rows", with a dict for each n and M: "questions", "samples" and "cost", which is
          M (question_cost + n sample_cost); "half_width_sampling", the expected half-width of the
          interval for the same questions, sampled again, and "half_width_questions", for other
          questions like these; "difference_sampling" and "difference_questions", by how much the
          score of a second run has to be higher for `compare` to find it with this power. For
          "questions" the comparison is paired. None stands for an interval that does not exist, as
          n = 1 does not show how samples vary, or for a difference that no score has.
        - "cheapest", such a row with the lowest cost that has the wanted half-width or difference,
          among the numbers in `samples`, and with at most the largest number in `questions` if
          these are given; or None.
        - "assumptions": "correlation", and "correlation_is" "assumed", "given" or "estimated";
          "rates_are" "assumed" or "estimated"; for a pilot run "pilot_questions", "pilot_samples"
          (of the question with fewest), and whether the score is "extrapolated".

    Raises:
        ValueError: if an outcome or a parameter is invalid; if neither R nor rates is given, or
            both; or if each question of the pilot run has one sample.

    Examples:
        >>> result = plan([[0, 1, 1, 0], [1, 1, 1, 1], [0, 0, 1, 0]], questions=100, samples=4)
        >>> {name: round(value, 3) for name, value in result["rows"][0].items() if "half" in name}
        {'half_width_sampling': 0.039, 'half_width_questions': 0.071}

    References:
        Miller (2024). Adding Error Bars to Evals. arXiv:2411.00640
    """
    # Imported here because SciPy and Arrow take longer to import than the rest of at_k.
    from ..inputs.checking import Checking
    from .outcomes_of_runs import check_same_questions, grade_runs, parse_run
    from .planning import check_plan, plan_runs

    options = check_plan(
        metric,
        k,
        questions,
        samples,
        confidence,
        power,
        tau,
        rates,
        correlation,
        interval,
        half_width,
        difference,
        question_cost,
        sample_cost,
    )
    sources = {name: run for name, run in {"R": R, "R_b": R_b}.items() if run is not None}
    parsed = [parse_run(name, source) for name, source in sources.items()]
    if parsed:
        check_same_questions(parsed)
    runs = grade_runs(parsed, Checking(check_correct_fn, num_proc)) if parsed else []
    return plan_runs(runs, options)
