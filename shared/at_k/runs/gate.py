"""The gate: whether an interval shows that a run reaches a score, or is no worse than another.

A two-sided interval with the confidence 0.95 shows a wrong claim with a probability of about 0.025.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..core.checks import check_number
from ..core.rewards import check_rewards, has_real_rewards
from .differences import Compared, differences_of
from .options import REWARDS, WITHOUT_K, ComparisonOptions
from .outcomes_of_runs import Run
from .scored_run import ScoredRun, names_of_falling_runs, score_runs

SHOWN, CONTRARY, UNDECIDED = "shown", "contrary", "undecided"


class Gate(NamedTuple):
    """A claim about the score of a run, and the interval that decides it.

    With a `baseline`, `threshold`, `lo` and `hi` are about the difference of the scores. `size` is
    the number of questions or clusters, or the mean number of samples of a question, by `unit`:
    "question", "cluster" or "sample". `bounds` are the least and the largest possible score.
    """

    key: str
    score: float
    baseline: float | None
    threshold: float
    lo: float
    hi: float
    bounds: tuple[float, float]
    options: ComparisonOptions
    size: float
    unit: str
    has_labels: bool

    @property
    def estimate(self) -> float:
        """Return the score of the run; with a baseline, the score minus that of the baseline."""
        return self.score if self.baseline is None else self.score - self.baseline

    @property
    def status(self) -> str:
        """Return SHOWN or CONTRARY if the interval decides the claim, otherwise UNDECIDED."""
        if self.lo >= self.threshold:
            return SHOWN
        return CONTRARY if self.hi < self.threshold else UNDECIDED

    @property
    def more(self) -> int | None:
        """Return the approximate number of additional units of `size` that would decide the claim.

        In Wilson's interval of N outcomes, a limit x of the estimate u fulfils N (x - u)^2 =
        z^2 x (1 - x). So the threshold t would be this limit for N ((x - u) / (t - u))^2 t (1 - t)
        / (x (1 - x)) outcomes. Limits of differences are less skewed: the last factor is left out.
        The number is None for a decided claim, and if the estimate is equal to the threshold.
        """
        limit = self.lo if self.estimate > self.threshold else self.hi
        side, distance = abs(limit - self.estimate), abs(self.threshold - self.estimate)
        if self.status != UNDECIDED or distance <= 1e-9 * side:
            return None
        factor, (least, most) = (side / distance) ** 2, self.bounds
        if self.baseline is None and least < limit < most:
            factor *= (self.threshold - least) * (most - self.threshold)
            factor /= (limit - least) * (most - limit)
        return max(1, math.ceil(self.size * (factor - 1)))


def gate_options(*arguments: Any, **options: Any) -> ComparisonOptions:
    """Return `ComparisonOptions` with one k, by default 1. Raises ValueError if one is invalid."""
    result = ComparisonOptions(*arguments, **options)
    if result.k is None and result.metric not in WITHOUT_K:
        result.k = 1
    if (number := len(result.ks)) > 1:
        raise ValueError(f"There are {number} values of k: a gate has one score, so give one k.")
    return result


def check_bound(name: str, value: Any, metric: str, is_margin: bool = False) -> float:
    """Return a threshold or a margin as a float; ValueError for one that is not possible."""
    wanted, least = "give a finite number", -1e300
    if is_margin:
        wanted, least = "give a number that is not negative", 0
    number = check_number(name, value, wanted, least, 1e300)
    if metric in REWARDS:
        return number
    example = number / 100 if 1 < number <= 100 else 0.02 if is_margin else 0.6
    wanted = f"{metric} is from 0 to 1, so give {example:g} for {100 * example:g} %"
    return check_number(name, number, wanted, 0, 1)


def gate_at_least(run: Run, threshold: float, options: ComparisonOptions) -> Gate:
    """Return the gate that tests whether the score of a run is at least a threshold.

    Raises ValueError if the score or its limits cannot be computed, or no rewards reach it.
    """
    options = options.for_samples({run.name: run.outcomes.n})
    if options.metric in REWARDS and not (options.w is None and has_real_rewards(run.outcomes)):
        rewards = check_rewards(options.w)
        if not rewards.min() <= threshold <= rewards.max():
            raise ValueError(
                f"The least score is {threshold:g}, and {options.metric} of rewards from "
                f"{rewards.min():g} to {rewards.max():g} cannot be less or more than these."
            )
    scored = score_runs([run], options)
    names_of_falling_runs(scored)  # called for its warnings
    confidence = options.confidence
    limits = scored[0].widened(scored[0].limits(confidence), confidence)
    return _gate(scored, None, threshold, *limits[:, 0].tolist())


def gate_not_worse(run: Run, baseline: Run, margin: float, options: ComparisonOptions) -> Gate:
    """Return the gate that tests whether a run scores at least a baseline minus a margin."""
    compared = Compared([baseline, run], options)
    (difference,), scored = differences_of(compared), compared.scored[::-1]
    return _gate(scored, difference.a, 0.0 - margin, *difference.interval)


def _gate(
    scored: list[ScoredRun], baseline: float | None, threshold: float, lo: float, hi: float
) -> Gate:
    """Return the gate of the run scored[0], of one score; scored[1], if any, is its baseline."""
    run, options = scored[0], scored[0].options
    (score,), (estimate,) = run.points.keys, run.estimates.tolist()
    # How many units the interval is computed from: more of them would make it narrower.
    size, unit = float(len(run.run.outcomes)), "question"
    if options.interval != "questions":
        size, unit = float(np.mean([x.run.outcomes.n.mean() for x in scored])), "sample"
    elif options.clusters is not None:
        size, unit = float(len(np.unique(options.clusters))), "cluster"
    has_labels = any(x.run.errors.labels is not None for x in scored)
    measured = (score.key, estimate, baseline, threshold, lo, hi, run.bounds)
    return Gate(*measured, options, size, unit, has_labels)
