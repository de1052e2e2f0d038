"""Studies of what `at_k.plan` predicts: half-widths of intervals, and power.

Success rates are drawn from known distributions, which `plan` gets as `rates`.

- The predicted half-width is compared with the mean half-width of the intervals of simulated runs.
- Run b of a comparison has the smallest difference that is predicted to be found with a power of
  80 %. The share of comparisons that `at_k.compare` finds significant is the actual power. For new
  questions, the log-odds of both runs are correlated normally (a Gaussian copula), and `plan` gets
  the resulting correlation of scores.
- A judge grades the samples, and a person labels some of them: half-widths are compared with those
  of `at_k.noise`, and the power is that of runs with the same rates, shifted in log-odds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import at_k
import numpy as np
from scipy.special import expit, logit, ndtr
from scipy.stats import binom
from studies import Labelling, Result, Results, counts_of, graded, limits_of_runs
from truths import Truth, beta, constant, mixture, normal_log_odds, one_of

INTERVALS = ("sampling", "questions")
POPULATION = 20_000
COPULA = 0.8  # correlation of the log-odds of two runs, on the normal scale
SCORES = {
    "pass@k": lambda p, k: 1 - (1 - p) ** k,
    "pass^k": lambda p, k: p**k,
    "maj@k": lambda p, k: binom.sf(k // 2, k, p),
}
TRUTHS = {
    "uniform": beta(1, 1),
    "all 0.3": constant(0.3),
    "Beta(0.6, 0.9)": beta(0.6, 0.9),
    "Beta(0.3, 3)": beta(0.3, 3),
    "Beta(8, 1)": beta(8, 1),
    "0.1 or 0.9": one_of([0.1, 0.9]),
    "30 % impossible": mixture(0.3, constant(0), beta(2, 2)),
    "normal log-odds": normal_log_odds(-1, 2),
}


class Planned(NamedTuple):
    """A run that is planned.

    Args:
        truth: of the success rates.
        metric: its score, such as pass@k.
        k: of the score.
        labelling: how a judge grades the run, if one does.
    """

    truth: Truth
    metric: str
    k: int
    labelling: Labelling | None = None

    @property
    def key(self) -> str:
        return f"{self.metric[:-1]}{self.k}"

    def score(self, rates: np.ndarray) -> np.ndarray:
        return SCORES[self.metric](rates, self.k)

    def population(self) -> np.ndarray:
        """Return the success rates of many questions, ascending."""
        return np.sort(self.truth(np.random.default_rng(0), (1, POPULATION))[0])

    def rates(
        self, questions: int, interval: str, runs: int, rng: np.random.Generator
    ) -> np.ndarray:
        """Return (B, M) rates: the same in each run, or drawn from the population."""
        population = self.population()
        if interval == "questions":
            return rng.choice(population, (runs, questions))
        position = (np.arange(questions) + 0.5) / questions * len(population)
        return np.tile(population[position.astype(int)], (runs, 1))

    def predicted(self, questions: int, n: int, **options: Any) -> dict[str, Any]:
        """Return the row of `at_k.plan`."""
        if self.labelling:
            rates, labels = self.labelling.rates, self.labelling.labels
            options |= {"checker_rates": rates, "labels": labels, "correlation": 1.0}
        (row,) = at_k.plan(
            metric=self.metric,
            k=self.k,
            rates=self.population().tolist(),
            questions=questions,
            samples=n,
            **options,
        )["rows"]
        return row

    def shift(self, difference: float) -> float:
        """Return the shift of log-odds that increases the mean score by a difference."""
        rates = self.population()
        low, high, start = 0.0, 20.0, self.score(rates).mean()
        for _ in range(40):
            middle = (low + high) / 2
            gain = self.score(shifted(rates, middle)).mean() - start
            low, high = (middle, high) if gain < difference else (low, middle)
        return low

    def is_significant(self, run_a: Any, run_b: Any, interval: str) -> bool:
        result = at_k.compare(run_a, run_b, self.metric, self.k, interval=interval)
        return result[f"{self.key}_lo"] > 0


def shifted(rates: np.ndarray, shift: float) -> np.ndarray:
    """Return success rates with higher log-odds."""
    return expit(logit(rates) + shift)


def copula_pairs(
    truth: np.ndarray, questions: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rates of questions in two runs, both distributed as the truth."""
    z = rng.standard_normal((2, questions))
    z[1] = COPULA * z[0] + np.sqrt(1 - COPULA**2) * z[1]
    position = (ndtr(z) * len(truth)).astype(int)
    a, b = truth[np.minimum(position, len(truth) - 1)]
    return a, b


# --- Studies ----------------------------------------------------------------------------


def study_half_widths(
    planned: Planned, questions: int, n: int, runs: int, rng: np.random.Generator
) -> Results:
    """Yield the predicted half-width, relative to the mean half-width of simulated runs."""
    row = planned.predicted(questions, n)
    for interval in INTERVALS:
        correct = rng.binomial(n, planned.rates(questions, interval, runs, rng))
        limits = limits_of_runs(
            "gpassk",
            counts_of(np.full(correct.shape, n), correct),
            runs,
            k=planned.k,
            include=planned.metric,
            interval=interval,
        )
        _, lo, hi = limits[planned.key]
        yield half_width_result(planned, interval, row, hi - lo)


def half_width_result(
    planned: Planned, interval: str, row: dict[str, Any], widths: np.ndarray
) -> Result:
    error = row[f"half_width_{interval}"] / (widths.mean() / 2) - 1
    return Result(interval, planned.key, np.full(len(widths), np.nan), widths, error)


def study_power(
    planned: Planned, questions: int, n: int, runs: int, rng: np.random.Generator
) -> Results:
    """Yield how often `compare` finds the smallest difference that is predicted."""
    for interval in INTERVALS:
        difference = smallest_difference(planned, questions, n, interval)
        if difference is None:
            continue
        shift = planned.shift(difference)
        significant = []
        for rates in planned.rates(questions, "sampling", runs, rng):
            a, b = rates, rates
            if interval == "questions":
                a, b = copula_pairs(planned.population(), questions, rng)
            run_a, run_b = (
                at_k.Counts(np.full(questions, n), rng.binomial(n, p))
                for p in (a, shifted(b, shift))
            )
            significant.append(planned.is_significant(run_a, run_b, interval))
        yield Result(interval, planned.key, np.array(significant))


def smallest_difference(planned: Planned, questions: int, n: int, interval: str) -> float | None:
    """Return the predicted difference, or None if no rates have it."""
    rates, correlation = planned.population(), 0.5
    pairs = copula_pairs(rates, 200_000, np.random.default_rng(1))
    largest = planned.score(shifted(rates, 20.0)).mean() - planned.score(rates).mean()
    for _ in range(4):  # the correlation of scores depends on the difference
        row = planned.predicted(questions, n, correlation=correlation)
        difference = row[f"difference_{interval}"]
        if difference is None or difference > largest:
            return None
        if interval == "questions":
            a = planned.score(pairs[0])
            b = planned.score(shifted(pairs[1], planned.shift(difference)))
            varies = min(a.std(), b.std()) > 1e-9
            correlation = float(np.corrcoef(a, b)[0, 1]) if varies else 0.0
    return difference


def study_judged_plans(
    planned: Planned, questions: int, n: int, runs: int, rng: np.random.Generator
) -> Results:
    """Yield half-widths as those above for half of the runs, and the power, with a judge."""
    labelling = planned.labelling or Labelling(planned.truth)

    def judged(rates: np.ndarray) -> dict[str, Any]:
        accepted, labels = graded(rng.random((questions, n)) < rates[:, None], labelling, rng)
        return {"predictions": accepted.astype(int), "labels": labels.tolist()}

    row = planned.predicted(questions, n)
    for interval, limits in zip(INTERVALS, ("same_questions", "other_questions"), strict=True):
        rates = planned.rates(questions, interval, runs, rng)
        noise = [at_k.noise(judged(x), planned.k)[planned.key] for x in rates[: -(-runs // 2)]]
        widths = np.array([np.ptp(x[limits]) for x in noise])
        yield half_width_result(planned, interval, row, widths)
        shift = planned.shift(row[f"difference_{interval}"])
        significant = [
            planned.is_significant(judged(x), judged(shifted(x, shift)), interval) for x in rates
        ]
        yield Result(f"power, {interval}", planned.key, np.array(significant))
