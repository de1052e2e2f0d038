"""What `at_k.plan` does with its parameters: the grid of designs, and the cheapest design."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..checks import (
    as_list,
    check_confidence,
    check_k,
    check_names,
    check_number,
    check_positive,
)
from ..scores.credits import ScoreOptions, check_tau, scores_by_name
from ..scores.score import Score
from .designs import Design, Goal
from .outcomes_of_runs import Run
from .pilots import Pilot, prior_of_rates

_PLANNED = ("pass@k", "pass^k", "G-Pass@k", "mG-Pass@k", "maj@k", "AUC@k")
_KINDS = ("sampling", "questions")
_QUESTIONS = (100, 200, 500, 1000)
_ASSUMED_CORRELATION = 0.5
_MOST_SAMPLES, _MOST_QUESTIONS = 4096, 1_000_000


class Wanted(NamedTuple):
    """The precision that is wanted of the cheapest design.

    Args:
        name: "half_width" or "difference".
        value: the largest that is wanted.
        kind: of the interval, "sampling" or "questions".
        most: the largest number of questions.
    """

    name: str
    value: float
    kind: str
    most: int


class PlanOptions(NamedTuple):
    """The parameters of `at_k.plan`, which have been checked."""

    key: str
    score: Score
    questions: list[int]
    samples: list[int]
    confidence: float
    power: float
    rates: np.ndarray | None
    correlation: float | None
    wanted: Wanted | None
    question_cost: float
    sample_cost: float


def check_plan(
    metric: str = "pass@k",
    k: int = 1,
    questions: int | list[int] | None = None,
    samples: int | list[int] | None = None,
    confidence: float = 0.95,
    power: float = 0.8,
    tau: float = 0.5,
    rates: list[float] | None = None,
    correlation: float | None = None,
    interval: str = "questions",
    half_width: float | None = None,
    difference: float | None = None,
    question_cost: float = 0.0,
    sample_cost: float = 1.0,
) -> PlanOptions:
    """Check the parameters of `at_k.plan` before any sample is checked."""
    check_names("metric", [metric], _PLANNED)
    check_names("interval", [interval], _KINDS)
    k = check_k(k)
    ((score_id, score),) = scores_by_name([metric], [k], ScoreOptions([check_tau(tau)])).items()
    sizes = _numbers("questions", questions, _QUESTIONS, 2, _MOST_QUESTIONS)
    most = _MOST_QUESTIONS if questions is None else max(sizes)
    if correlation is not None:
        wanted = "a correlation is a number from -1 to 1"
        correlation = check_number("correlation", correlation, wanted, -1, 1)
    return PlanOptions(
        score_id.key,
        score,
        sizes,
        _numbers("samples", samples, (k, 2 * k, 4 * k, 8 * k), k, _MOST_SAMPLES),
        check_confidence(confidence),
        check_number("power", power, "give a probability from 0.5 to 0.999", 0.5, 0.999),
        None if rates is None else _check_rates(rates),
        correlation,
        _check_wanted(half_width, difference, interval, most),
        _check_cost("question_cost", question_cost),
        _check_cost("sample_cost", sample_cost),
    )


def plan_runs(runs: Sequence[Run], options: PlanOptions) -> dict[str, Any]:
    """Return what `at_k.plan` returns, from no, one or two pilot runs."""
    prior, assumptions = _prior(runs, options)
    goal = Goal(options.confidence, options.power, assumptions["correlation"])
    designs = [Design(prior, options.score, n, goal) for n in options.samples]
    return {
        "key": options.key,
        "score": designs[0].score,
        "confidence": options.confidence,
        "power": options.power,
        "rows": [_row(design, m, options) for design in designs for m in options.questions],
        "cheapest": _cheapest(designs, options),
        "assumptions": assumptions,
    }


def _prior(runs: Sequence[Run], options: PlanOptions) -> tuple[np.ndarray, dict[str, Any]]:
    """Return the prior of the success rates, and the assumptions that a plan states."""
    if (options.rates is None) == (not runs):
        raise ValueError("Give a pilot run R, or the assumed success rates as rates.")
    r, source = options.correlation, "given"
    if len(runs) == 2 and r is not None:
        raise ValueError("R_b estimates the correlation: give it or a correlation.")
    pilots = [Pilot(run, options.score) for run in runs]
    if len(runs) == 2:
        r, source = pilots[0].correlation(pilots[1]), "estimated"
    elif r is None:
        r, source = _ASSUMED_CORRELATION, "assumed"
    assumptions = {"correlation": r, "correlation_is": source}
    if options.rates is not None:
        return prior_of_rates(options.rates), {"rates_are": "assumed"} | assumptions
    return pilots[0].prior, pilots[0].assumptions | assumptions


def _row(design: Design, questions: int, options: PlanOptions) -> dict[str, Any]:
    of_samples, of_questions = (design.precision(questions, kind) for kind in _KINDS)
    return {
        "questions": questions,
        "samples": design.n,
        "cost": questions * (options.question_cost + design.n * options.sample_cost),
        "half_width_sampling": of_samples.half_width,
        "half_width_questions": of_questions.half_width,
        "difference_sampling": of_samples.difference,
        "difference_questions": of_questions.difference,
    }


def _cheapest(designs: Sequence[Design], options: PlanOptions) -> dict[str, Any] | None:
    """Return the row of the cheapest design that reaches what is wanted, or None."""
    if options.wanted is None:
        return None
    rows = []
    for design in designs:
        questions = _fewest_questions(design, options.wanted)
        if questions is not None:
            rows.append(_row(design, questions, options))
    return min(rows, key=lambda row: row["cost"], default=None)


def _fewest_questions(design: Design, wanted: Wanted) -> int | None:
    """Return about the smallest number of questions that reaches what is wanted, or None.

    A half-width and a difference are nearly proportional to 1 / sqrt(M), so repeated scaling of M
    converges in a few steps.
    """

    def ratio(questions: int) -> float:
        value = getattr(design.precision(questions, wanted.kind), wanted.name)
        # Without a value, the run is too small for any difference to be found.
        return 2.0 if value is None else value / wanted.value

    m = min(100, wanted.most)
    for _ in range(20):
        scaled = min(max(math.ceil(m * ratio(m) ** 2), 2), wanted.most)
        if abs(scaled - m) <= m // 500:
            break
        m = scaled
    while ratio(m) > 1:
        m += 1 + m // 500
        if m > wanted.most:
            return None
    return m


# --- Checks -------------------------------------------------------------------------------


def _numbers(name: str, given: Any, default: Sequence[int], least: int, most: int) -> list[int]:
    """Return a parameter of one or more integers from `least` to `most`."""
    numbers = as_list(name, default if given is None else given)
    wanted = f"give integers from {least} to {most}"
    for i, number in enumerate(numbers):
        if check_number(f"{name}[{i}]", number, wanted, least, most) != int(number):
            raise ValueError(f"{name}[{i}] is {number}: {wanted}.")
    return sorted({int(number) for number in numbers})


def _check_wanted(half_width: Any, difference: Any, kind: str, most: int) -> Wanted | None:
    if half_width is not None and difference is not None:
        raise ValueError("half_width and difference are both given: give one of them.")
    for name, value in {"half_width": half_width, "difference": difference}.items():
        if value is not None:
            value = check_positive(name, value, "give a number above 0, at most 1", 1.0)
            return Wanted(name, value, kind, most)
    return None


def _check_cost(name: str, cost: Any) -> float:
    return check_number(name, cost, "a cost is a number from 0 to 1e15", 0, 1e15)


def _check_rates(rates: Any) -> np.ndarray:
    wanted = "a success rate is a number from 0 to 1"
    return np.array(
        [
            check_number(f"rates[{i}]", rate, wanted, 0, 1)
            for i, rate in enumerate(as_list("rates", rates))
        ]
    )
