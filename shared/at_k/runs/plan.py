"""`at_k.plan`: how many questions and samples a wanted precision needs.

A design has M questions with n samples each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Self, TypedDict, Unpack

import numpy as np

from ..core.checks import as_list, check_k, check_name, check_number
from ..core.choice import check_clusters
from ..core.credits import PASS_FAMILY, ScoreOptions, included_scores
from ..core.expected import pass_scores
from ..core.questions import cluster_errors, means_of_questions, student_quantile
from ..core.score import Score, ScoreId
from ..core.signatures import check_options, shows_options
from ..functions import OutcomesLike
from ..intervals.binary_family import estimate_rate_prior, scores_of_rates
from ..intervals.family import multiplicities
from ..intervals.labelled import Errors
from .designs import Design, Population, prior_of_rates
from .options import ComparisonOptions
from .outcomes_of_runs import Run, grade_sources

_KINDS = ("sampling", "questions")
_QUESTIONS = (100, 200, 500, 1000)
_ASSUMED_CORRELATION = 0.5
_JACKKNIFE_GROUPS = 20  # The jackknife leaves out one of 20 groups of pilot questions at a time.
_MOST_SAMPLES, _MOST_QUESTIONS = 4096, 1_000_000
_SHARE = "give a number above 0, at most 1, such as 0.02 for 2 %"
_COST = ("a cost is a number from 0 to 1e15", 0, 1e15)
_NUMBERS = {
    "correlation": ("a correlation is a number from -1 to 1", -1, 1),
    "power": ("give a probability from 0.5 to 0.999", 0.5, 0.999),
    "half_width": (_SHARE, math.ulp(0.0), 1),
    "difference": (_SHARE, math.ulp(0.0), 1),
    **dict.fromkeys(("question_cost", "sample_cost"), _COST),
}
"""For each option that is a number: (text of the rule for messages, least value, largest value)."""


# --- Options ------------------------------------------------------------------------------


class PlanArguments(TypedDict, total=False):
    """The keyword arguments of `plan`, whose docstring describes them."""

    questions: int | list[int] | None
    samples: int | list[int] | None
    confidence: float
    power: float
    tau: float
    clusters: list[str] | None
    rates: list[float] | None
    correlation: float | None
    interval: str
    half_width: float | None
    difference: float | None
    question_cost: float
    sample_cost: float
    check_correct_fn: str | Callable[..., Any]
    num_proc: int | None
    groups: list[str] | None
    average: str
    question_weights: list[float] | None


def scores_of_one_mean() -> list[str]:
    """Return the names of the scores that are one expected credit, not a product of two."""
    scores = {name: make(2, 0.5, ScoreOptions()) for name, make in PASS_FAMILY.items()}
    return [name for name, score in scores.items() if len(score.terms) == 1]


@dataclass
class PlanOptions(ComparisonOptions):
    """The parameters of `at_k.plan`, which describes them, without the pilot run, validated.

    Questions and samples become ascending lists, and rates an array. `most` is the largest number
    of questions that the cheapest design may have.
    """

    interval: str | None = "questions"
    questions: Any = None
    samples: Any = None
    power: float = 0.8
    rates: Any = None
    correlation: float | None = None
    half_width: float | None = None
    difference: float | None = None
    question_cost: float = 0.0
    sample_cost: float = 1.0
    most: int = field(default=_MOST_QUESTIONS, init=False)

    def __post_init__(self) -> None:
        """Validate the options, turn numbers into lists, and fill in k, questions and samples."""
        (score,), _ = included_scores(self.metric, None, scores_of_one_mean(), parameter="metric")
        check_name("interval", self.interval, _KINDS)
        if self.k is not None:
            self.k = check_k(self.k)
        elif score.k is None:
            self.k = 1
        super().__post_init__()
        (k,) = self.ks
        questions = _ascending_integers("questions", self.questions, _QUESTIONS, 2, _MOST_QUESTIONS)
        if self.questions is not None:
            self.most = max(questions)
        self.questions, samples = questions, (k, 2 * k, 4 * k, 8 * k)
        self.samples = _ascending_integers("samples", self.samples, samples, k, _MOST_SAMPLES)
        for name, (rule, least, most) in _NUMBERS.items():
            value, default = getattr(self, name), getattr(PlanOptions, name)
            if value is not None or default is not None:
                setattr(self, name, check_number(name, value, rule, least, most))
        self._check_rates()
        if self.half_width is not None and self.difference is not None:
            given = f"half_width={self.half_width} and difference={self.difference}"
            raise ValueError(f"{given} are both given: give one of them.")

    def _check_rates(self) -> None:
        """Validate the assumed success rates, if any, and turn them into an array."""
        if self.rates is not None:
            rule, rates = "a success rate is a number from 0 to 1", as_list("rates", self.rates)
            checked = [check_number(f"rates[{i}]", p, rule, 0, 1) for i, p in enumerate(rates)]
            self.rates = np.array(checked)

    @property
    def wanted(self) -> tuple[str, float] | None:
        """Return the field of `Precision` that is wanted and its largest value, or None."""
        precisions = {"half_width": self.half_width, "difference": self.difference}
        return next(((name, x) for name, x in precisions.items() if x is not None), None)

    @property
    def goal(self) -> tuple[Score, float, float, float]:
        """Return (score, confidence, power, correlation), which are fields of `Population`."""
        r = _ASSUMED_CORRELATION if self.correlation is None else self.correlation
        return self.score[1], self.confidence, self.power, r

    def ratio(self, design: Design, questions: int) -> float:
        """Return the half-width or difference at M questions over the wanted one, or infinity."""
        assert self.wanted is not None
        name, wanted = self.wanted
        value = getattr(design.precision(questions, str(self.interval)), name)
        # None: the design has no interval, or finds no difference.
        return math.inf if value is None else value / wanted

    def for_samples(self, sizes: Mapping[str, np.ndarray]) -> Self:
        """Return a copy of the options with the weights and clusters of a pilot run's questions."""
        result = super().for_samples(sizes)
        if result.clusters is not None and not result.clusters.any():  # all are cluster 0
            raise ValueError(
                "All questions are in one cluster, which does not show how clusters differ: leave "
                "clusters out, or give more."
            )
        return result

    def _check_clusters(self, questions: int, weights: np.ndarray | None) -> np.ndarray | None:
        """Return the clusters, which every plan uses for its half-widths for other questions."""
        return check_clusters(self.clusters, "questions", questions, weights)

    def _choose_ks(self, sizes: Mapping[str, np.ndarray]) -> list[int]:
        """Return the k, which may exceed the numbers of samples of a pilot run."""
        return self.ks

    @cached_property
    def score(self) -> tuple[ScoreId, Score]:
        """Return the id and the definition of the score that is planned for."""
        (item,) = self.scores_at(self.ks).items()
        return item


def _ascending_integers(
    name: str, value: Any, default: Sequence[int], least: int, most: int
) -> list[int]:
    """Return a parameter as an ascending list of integers from `least` to `most`."""
    numbers = as_list(name, default if value is None else value)
    rule = f"give integers from {least} to {most}"
    for i, number in enumerate(numbers):
        if check_number(f"{name}[{i}]", number, rule, least, most) != int(number):
            raise ValueError(f"{name}[{i}] is {number}: {rule}.")
    return sorted({int(number) for number in numbers})


@shows_options(PlanArguments, PlanOptions)
def plan(
    R: OutcomesLike | None = None,
    metric: str = "pass@k",
    k: int | None = None,
    **options: Unpack[PlanArguments],
) -> dict[str, Any]:
    """Return the precision of runs with M questions and n samples each, and the cheapest design.

    The distribution of success rates is estimated from a pilot run, or assumed. It gives the
    variance for any n >= k, so n and k may exceed the number of samples of the pilot run. Scores
    with such a k are extrapolated. The formulas are in `at_k.runs.designs.Design`.

    Args:
        R: outcomes of a pilot run, 0 or 1, with at least two samples of some question; or
            `at_k.Counts`; or a dict of predictions and references, as `at_k.read` returns it.
        metric: a score of the metric gpassk that is not a product of two means. For avg@n, give
            pass@k with k = 1.
        k: size of the subsets of samples. Default: 1.
        questions: numbers of questions M, from 2 to a million. If given, the cheapest design has at
            most the largest of them. Default: 100, 200, 500 and 1000.
        samples: numbers of samples n of each question, from k to 4096. Default: k, 2k, 4k and 8k.
        confidence: probability that an interval covers the true value.
        power: probability that a comparison finds the difference.
        tau: share of correct samples that G-Pass@k requires, from 0 to 1.
        clusters: a label of the cluster of each question of the pilot run. More questions are
            assumed to come in more clusters of the same sizes.
        rates: assumed success rates of questions, from 0 to 1, instead of a pilot run. Each rate
            holds for the same share of the questions.
        correlation: correlation over questions of the true scores of two runs, from -1 to 1.
            Default: 0.5.
        interval: the interval that the wanted half-width or difference is for: "questions", or
            "sampling".
        half_width: the wanted half-width of the interval of a score.
        difference: the difference between two runs that a comparison should find with this power.
            Give it in place of a half-width.
        question_cost: cost of a question. Default: 0.
        sample_cost: cost of a sample. Default: 1.
        check_correct_fn, num_proc: for a pilot run with references, see `at_k.compare`.
        groups: a label for each question of the pilot run, for average "groups".
        average: see `at_k.compare`. Groups and weights of planned questions are assumed to be as in
            the pilot run.
        question_weights: a weight for each question of the pilot run, see `at_k.compare`.

    Returns:
        A dict that JSON can store: "key", such as "pass@4"; its expected "score"; "confidence" and
        "power"; and

        - "rows", a list with a dict for each n and M. Its keys are "questions", "samples", and
          "cost", which is M (question_cost + n sample_cost); "half_width_sampling", the expected
          half-width of the interval for the same questions, sampled again, and
          "half_width_questions", that for other questions like these; "difference_sampling" and
          "difference_questions", by how much the score of a second run has to be higher for
          `compare` to find the difference with this power. For "questions" the comparison is
          paired. A half-width is None if the interval does not exist, as n = 1 does not show how
          samples vary. A difference is None then too, or if no score is high enough.
        - "cheapest", a row with the lowest cost that has the wanted half-width or difference, or
          None. Its n is in `samples`, and its M is at most the largest number in `questions` if
          these are given. For a pilot run of three questions or more, it also has "questions_lo"
          and "questions_hi", limits of the number of questions that this design needs, with about
          the given confidence: few pilot questions tell little of the rates (for 12 questions,
          limits of 95 % covered in 85 to 95 % of simulated pilot runs).
        - "assumptions", a dict with "correlation" and "correlation_is", which is "assumed" or
          "given"; "rates_are", which is "assumed" or "estimated"; for a pilot run
          "pilot_questions", "pilot_samples" (of the question with fewest), and whether the score is
          "extrapolated"; for weights "design_effect", the factor by which they increase the
          variance; for clusters "pilot_clusters".

    Raises:
        ValueError: if an outcome or a parameter is invalid; if neither R nor rates is given, or
            both; if each question of the pilot run has one sample; or if it was read with labels,
            because a plan is not corrected for the errors of a checker.

    Examples:
        >>> result = plan([[0, 1, 1, 0], [1, 1, 1, 1], [0, 0, 1, 0]], questions=100, samples=4)
        >>> {name: round(value, 3) for name, value in result["rows"][0].items() if "half" in name}
        {'half_width_sampling': 0.039, 'half_width_questions': 0.078}
        >>> best = plan(rates=[0.2, 0.8], samples=[2, 4], half_width=0.05)["cheapest"]
        >>> best["questions"], best["samples"]
        (261, 2)

    References:
        Miller (2024). Adding Error Bars to Evals. arXiv:2411.00640
    """
    check_options(plan, options)
    requested = PlanOptions(metric, k, **options)
    if R is None:
        return plan_for(None, requested)
    (run,), requested = grade_sources([("R", R)], requested)
    return plan_for(run, requested)


# --- The plan -----------------------------------------------------------------------------


def plan_for(run: Run | None, options: PlanOptions) -> dict[str, Any]:
    """Return the dict that `at_k.plan` returns, for a graded pilot run, or None for no run."""
    if run is not None:
        options = options.for_samples({run.name: run.outcomes.n})  # checked for this run
    _check_pilot(run, options)
    if run is None:
        population = Population(prior_of_rates(options.rates), *options.goal)
    else:
        population = _pilot_population(run, options)
    designs = [Design(population, n) for n in options.samples]
    cheapest = _cheapest_row(designs, options)
    if run is not None and cheapest is not None:
        cheapest |= _limits_of_questions(run, options, cheapest["questions"], cheapest["samples"])
    return {
        "key": options.score[0].key,
        "score": designs[0].score,
        "confidence": options.confidence,
        "power": options.power,
        "rows": [_plan_row(design, m, options) for design in designs for m in options.questions],
        "cheapest": cheapest,
        "assumptions": _assumptions(run, options, population),
    }


def _check_pilot(run: Run | None, options: PlanOptions) -> None:
    """Raise a ValueError unless there is either a pilot run that can be used, or assumed rates."""
    if run is None:
        given = (options.groups, options.clusters, options.question_weights)
        if options.average != "questions" or any(x is not None for x in given):
            raise ValueError("Groups, clusters and weights of questions are those of a pilot run.")
    if run is not None and run.errors != Errors():
        raise ValueError(
            "The pilot run has labels, and a plan is not corrected for the errors of a checker: "
            "leave out the labels, and plan for the samples that it calls correct."
        )
    if (options.rates is None) == (run is None):
        raise ValueError(
            "Give a pilot run or the assumed success rates, such as rates=[0.2, 0.8]; not both."
        )
    if run is not None and run.outcomes.n.max() < 2:
        raise ValueError(
            f"{run.name} has one sample of each question, which does not show how questions "
            f"differ: give a pilot run with more samples, or rates."
        )


def _assumptions(run: Run | None, options: PlanOptions, population: Population) -> dict[str, Any]:
    """Return the entry "assumptions" of the result of `plan`."""
    result: dict[str, Any] = {"rates_are": "assumed"}
    if run is not None:
        least = int(run.outcomes.n.min())
        result = {
            "rates_are": "estimated",
            "pilot_questions": len(run.outcomes),
            "pilot_samples": least,
            "extrapolated": options.ks[0] > least,
        }
    result["correlation"] = population.correlation
    result["correlation_is"] = "assumed" if options.correlation is None else "given"
    if options.weights is not None:
        result["design_effect"] = population.design_effect
    if options.clusters is not None:
        result["pilot_clusters"] = len(np.unique(options.clusters))
    return result


def _plan_row(design: Design, questions: int, options: PlanOptions) -> dict[str, Any]:
    """Return an entry of "rows": the cost and the precision of a design with M `questions`."""
    precisions = {kind: design.precision(questions, kind) for kind in _KINDS}
    return {
        "questions": questions,
        "samples": design.n,
        "cost": questions * (options.question_cost + design.n * options.sample_cost),
        **{f"half_width_{kind}": expected.half_width for kind, expected in precisions.items()},
        **{f"difference_{kind}": expected.difference for kind, expected in precisions.items()},
    }


def _pilot_population(
    run: Run, options: PlanOptions, questions: np.ndarray | None = None
) -> Population:
    """Return the population of the pilot run, or of its questions with these indices."""
    counts, weights, clusters = run.outcomes.counts, options.weights, options.clusters
    if questions is not None:
        counts = run.for_questions(questions).outcomes.counts
        weights, clusters = (x if x is None else x[questions] for x in (weights, clusters))
    n, c = counts.unique
    numbers, _ = multiplicities(counts.inverse, len(n), weights)
    effective, prior = float(numbers.sum()), estimate_rate_prior(n, c, numbers)
    population = Population(
        prior, *options.goal, len(counts) / effective, effective / max(effective - 1, 1.0)
    )
    if clusters is None:
        return population
    # What clusters add to the variance, and B, are those of the largest k that the pilot run has.
    scores = options.scores_at([min(*options.ks, int(n.min()))])
    (score,), estimates = scores.values(), pass_scores(counts, scores)
    columns = estimates.columns[estimates.inverse]
    means = means_of_questions(columns, None, clusters, weights)
    independent = np.sum(cluster_errors(columns, None, weights) ** 2)
    (variance,) = means.variance_for_limits(options.confidence)
    added = effective * max(0.0, float(variance - independent))
    values = scores_of_rates(score.terms)[:, 0]
    between = population.variance_factor * (prior @ values**2 - (prior @ values) ** 2)
    return population._replace(
        variance_factor=population.variance_factor * (1 + added / max(between, 1e-12)),
        clusters=means.clusters / effective,
        effective_clusters=means.effective_clusters / effective,
    )


# --- The cheapest design ------------------------------------------------------------------


def _cheapest_row(designs: Sequence[Design], options: PlanOptions) -> dict[str, Any] | None:
    """Return the row of the cheapest design with the wanted precision, or None if there is none."""
    if options.wanted is None:
        return None
    fewest = [(design, _fewest_questions(design, options)) for design in designs]
    rows = [_plan_row(design, m, options) for design, m in fewest if m is not None]
    return min(rows, key=lambda row: row["cost"], default=None)


def _limits_of_questions(
    run: Run, options: PlanOptions, questions: int, samples: int
) -> dict[str, int]:
    """Return the entries "questions_lo" and "questions_hi", or {} for too few pilot questions.

    Leaving out one group of pilot questions, or of clusters, at a time (jackknife) estimates the
    variance of the logarithm of the number that a design needs. The limits use Student's t.
    """
    labels, logs = options.clusters, []
    if labels is None:
        labels = np.arange(len(run.outcomes))
    groups = min(int(labels.max()) + 1, _JACKKNIFE_GROUPS)
    if groups < 3:
        return {}
    for group in range(groups):
        rows = np.flatnonzero(labels % groups != group)
        design = Design(_pilot_population(run, options, rows), samples)
        # A half-width or difference is nearly proportional to 1 / sqrt(number of questions).
        number = questions * options.ratio(design, questions) ** 2
        logs.append(math.log(min(max(number, 2.0), _MOST_QUESTIONS)))
    variance = (groups - 1) * float(np.var(logs))
    factor = math.exp(student_quantile(groups - 1, 1 - options.confidence) * math.sqrt(variance))
    return {
        "questions_lo": max(2, math.floor(questions / factor)),
        "questions_hi": math.ceil(min(questions * factor, _MOST_QUESTIONS)),
    }


def _fewest_questions(design: Design, options: PlanOptions) -> int | None:
    """Return about the smallest number M of questions with the wanted precision, or None.

    A half-width and a difference are nearly proportional to 1 / sqrt(M), so repeated scaling of M
    converges in a few steps. A bisection then finds M to within 0.2 %.
    """
    ratio, most = partial(options.ratio, design), options.most  # A ratio of at most 1 suffices.
    m = min(100, most)
    for _ in range(20):
        factor = ratio(m)
        if math.isinf(factor):
            factor = 2.0  # Too few questions to find any difference: try four times as many.
        scaled = min(max(math.ceil(m * factor**2), 2), most)
        if abs(scaled - m) <= m // 500:
            break
        m = scaled
    too_few, step = m, 1 + m // 500
    while ratio(m) > 1:  # Double the step until m is enough.
        if m == most:
            return None
        too_few, m, step = m, min(m + step, most), 2 * step
    while m - too_few > 1 + m // 500:
        middle = (too_few + m) // 2
        too_few, m = (middle, m) if ratio(middle) > 1 else (too_few, middle)
    return m
