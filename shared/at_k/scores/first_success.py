"""pass@k of samples that stop at the first success, such as the attempts of an agent that retries.

The attempts of a question end with the first correct one, the T-th, or when a budget is used up, so
the share of correct samples is biased. But they show whether T <= k for each k up to the budget,
and the share of questions with T <= k is an unbiased estimate of pass@k. They show nothing about
scores that need several observations of a question, such as pass^k.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from ..core.checking import Checked
from ..core.checks import InputError, Place, check_k, choose_ks
from ..core.choice import IntervalOptions, limits_for_questions
from ..core.computation import DEFAULT_K
from ..core.counts import BinaryCounts
from ..core.interval import IntervalMethod
from ..core.samples import Samples, sample_place
from ..core.score import ScoreId, Scores


class FirstSuccesses:
    """pass@k of samples that stop at the first success, and the method of its limits.

    `budget` is the largest number of samples of a question, `ks` the requested k or None, and
    `metrics` the included scores. A ValueError is raised if a k exceeds the budget, or if another
    score, a prior or a correction for `errors` of a checker is requested.
    """

    def __init__(
        self,
        budget: int,
        ks: list[int] | None,
        metrics: Collection[str],
        options: IntervalOptions,
        errors: Any,
    ):
        self._budget = check_k(budget, name="budget")
        self._ks, self._options = ks, options
        if ks and max(ks) > self._budget:
            raise ValueError(f"k is {max(ks)}: give a k of at most the budget, {self._budget}.")
        if others := sorted({*metrics} - {"pass@k"}):
            raise ValueError(
                f"include has {others[0]!r}, and samples that stop at the first correct one show "
                f"pass@k only: leave it out, or leave out budget."
            )
        if errors is not None or options.prior != (1, 1):
            raise ValueError(
                "budget is for samples that stop at the first correct one, which neither a "
                "correction for checker_rates or labels nor a prior is for: leave these out."
            )

    def scores(self, checked: Checked) -> tuple[Scores, IntervalMethod]:
        """Return pass@k of the checked samples, and the method of its limits."""
        counts = checked.outcomes.counts
        largest_ks = largest_known_ks(counts, checked.outcomes, self._budget)
        ids = [ScoreId("pass@k", k) for k in choose_ks(self._ks, DEFAULT_K, largest_ks)]
        # The first success of a question, its n-th sample, may be among the first k samples.
        is_solved = {score: (counts.c == 1) & (counts.n <= score.k) for score in ids}
        points = Scores.from_values({score: x.astype(float) for score, x in is_solved.items()})
        return points, limits_for_questions(points, "pass@k", self._options)


def largest_known_ks(counts: BinaryCounts, outcomes: Samples, budget: int) -> np.ndarray:
    """Return the largest k for which it is known whether one of k samples is correct, (M,).

    It is the budget for a question with a correct sample, and otherwise its number of samples.
    `counts` are those of `outcomes`. Raises ValueError if a sample follows a correct one or is not
    scored, or if a question has more samples than the budget.
    """
    name, rule = "predictions", "With a budget, samples stop at the first correct one"
    if not outcomes.are_counts:
        is_last = np.zeros(len(outcomes.values), dtype=bool)
        is_last[np.cumsum(outcomes.sizes) - 1] = True
        if not outcomes.is_scored.all():
            place = sample_place(name, outcomes.sizes, int(np.argmin(outcomes.is_scored)))
            raise InputError(place, f" is not scored. {rule}, so all have to be scored.")
        if (early := (outcomes.values == 1) & ~is_last).any():
            place = sample_place(name, outcomes.sizes, int(np.argmax(early)))
            remedy = "sort them by the number of the attempt, or leave out budget"
            raise InputError(place, f" is correct, and others follow. {rule}: {remedy}.")
    if (counts.c > 1).any():
        question = int(np.argmax(counts.c > 1))
        text = f" has {counts.c[question]} correct samples. {rule}: leave out budget."
        raise InputError(Place("Question", question), text)
    if (counts.n > budget).any():
        question = int(np.argmax(counts.n > budget))
        text = f" has more samples than the budget of {budget}: give a larger one."
        raise InputError(Place("Question", question), text)
    return np.where(counts.c == 1, budget, counts.n)
