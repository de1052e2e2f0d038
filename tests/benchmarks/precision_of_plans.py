"""Compare what `at_k.plan` predicts with simulated runs: half-widths and power.

    python tests/benchmarks/precision_of_plans.py [--runs 1000] [--studies widths power labels]

Success rates are drawn from known distributions, which `plan` gets as `rates`.

- The predicted half-width is compared with the mean half-width of the intervals of simulated runs.
- Run b of a comparison has the smallest difference that is predicted to be found with a power of
  80 %. The share of comparisons that `at_k.compare` finds significant is the actual power. For new
  questions, the log-odds of both runs are correlated normally (a Gaussian copula), and `plan` gets
  the resulting correlation of scores.
- A judge grades the samples, and a person labels some of them: half-widths are compared with those
  of `at_k.noise`, and the power is that of runs with the same rates, shifted in log-odds.

All takes about an hour on one core.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import at_k
import numpy as np
from scipy.special import expit, logit, ndtr
from scipy.stats import binom
from studies import Labelling, graded
from truths import beta, constant, mixture, normal_log_odds, one_of

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


def populations(names: tuple[str, ...] = tuple(TRUTHS)) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the name of each distribution, and success rates of many questions, ascending."""
    for name in names:
        (rates,) = TRUTHS[name](np.random.default_rng(0), (1, POPULATION))
        yield name, np.sort(rates)


class Case(NamedTuple):
    """M questions of n samples each, which are scored by a metric at k."""

    metric: str
    k: int
    questions: int
    samples: int

    def plan(self, **options: Any) -> dict[str, Any]:
        """Return the row of `at_k.plan` for this case."""
        (row,) = at_k.plan(
            metric=self.metric, k=self.k, questions=self.questions, samples=self.samples, **options
        )["rows"]
        return row

    @property
    def key(self) -> str:
        return f"{self.metric[:-1]}{self.k}"

    def score(self, rates: np.ndarray) -> np.ndarray:
        return SCORES[self.metric](rates, self.k)

    def rates(self, truth: np.ndarray, interval: str, rng: np.random.Generator) -> np.ndarray:
        """Return the rates of M questions: the same in each run, or drawn from the truth."""
        if interval == "questions":
            return rng.choice(truth, self.questions)
        position = (np.arange(self.questions) + 0.5) / self.questions * len(truth)
        return truth[position.astype(int)]


def cases() -> Iterator[Case]:
    designs = {("pass@k", 1): (2, 4, 16), ("pass@k", 8): (8, 32), ("pass^k", 4): (4, 16)}
    designs |= {("maj@k", 5): (8,)}
    for (metric, k), samples in designs.items():
        for n, questions in itertools.product(samples, (30, 100, 500)):
            yield Case(metric, k, questions, n)


def half_widths(
    case: Case, truth: np.ndarray, interval: str, runs: int, rng: np.random.Generator
) -> float:
    """Return the mean half-width of the intervals of simulated runs."""
    n, questions = case.samples, case.questions
    correct = [rng.binomial(n, case.rates(truth, interval, rng)) for _ in range(runs)]
    scores = at_k.load("gpassk").compute(
        predictions=at_k.Counts(np.full(runs * questions, n), np.concatenate(correct)),
        groups=np.repeat(np.arange(runs), questions).tolist(),
        k=case.k,
        include=case.metric,
        confidence=0.95,
        interval=interval,
    )
    ends = (f"{i}/{case.key}" for i in range(runs))
    return float(np.mean([scores[f"{end}_hi"] - scores[f"{end}_lo"] for end in ends]) / 2)


def power(
    case: Case, truth: np.ndarray, interval: str, runs: int, rng: np.random.Generator
) -> tuple[float, float] | None:
    """Return the smallest difference that is predicted, and how often `compare` finds it.

    None if no rates have this difference.
    """
    pairs = copula_pairs(truth, 200_000, np.random.default_rng(1))
    options = {"rates": truth, "correlation": 0.5}
    difference = case.plan(**options)[f"difference_{interval}"]
    largest = case.score(shifted(truth, 20.0)).mean() - case.score(truth).mean()
    for _ in range(3):  # the correlation of scores depends on the difference
        if difference is None or difference > largest:
            return None
        shift = shift_for(case, truth, difference)
        if interval == "questions":
            a, b = case.score(pairs[0]), case.score(shifted(pairs[1], shift))
            varies = min(a.std(), b.std()) > 1e-9
            options["correlation"] = np.corrcoef(a, b)[0, 1] if varies else 0.0
        difference = case.plan(**options)[f"difference_{interval}"]
    shift, n, significant = shift_for(case, truth, difference), case.samples, 0
    a = case.rates(truth, interval, rng)
    b = shifted(a, shift)
    for _ in range(runs):
        if interval == "questions":
            a, b = copula_pairs(truth, case.questions, rng)
            b = shifted(b, shift)
        run_a, run_b = (at_k.Counts(np.full(len(p), n), rng.binomial(n, p)) for p in (a, b))
        significant += is_significant(run_a, run_b, case, interval)
    return difference, significant / runs


def is_significant(run_a: Any, run_b: Any, case: Case, interval: str) -> bool:
    result = at_k.compare(run_a, run_b, case.metric, case.k, interval=interval)
    return result[f"{case.key}_lo"] > 0


def copula_pairs(
    truth: np.ndarray, questions: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rates of questions in two runs, both distributed as the truth."""
    z = rng.standard_normal((2, questions))
    z[1] = COPULA * z[0] + np.sqrt(1 - COPULA**2) * z[1]
    position = (ndtr(z) * len(truth)).astype(int)
    a, b = truth[np.minimum(position, len(truth) - 1)]
    return a, b


def shifted(rates: np.ndarray, shift: float) -> np.ndarray:
    """Return success rates with higher log-odds."""
    return expit(logit(rates) + shift)


def shift_for(case: Case, truth: np.ndarray, difference: float) -> float:
    """Return the shift of log-odds that increases the mean score by a difference."""
    low, high, start = 0.0, 20.0, case.score(truth).mean()
    for _ in range(40):
        middle = (low + high) / 2
        gain = case.score(shifted(truth, middle)).mean() - start
        low, high = (middle, high) if gain < difference else (low, middle)
    return low


def study_widths(runs: int) -> None:
    print("## Predicted half-width, relative to the mean half-width of simulated runs\n")
    errors = []
    for name, truth in populations():
        for case, interval in itertools.product(cases(), INTERVALS):
            predicted = case.plan(rates=truth)[f"half_width_{interval}"]
            mean = half_widths(case, truth, interval, runs // 5, np.random.default_rng(2))
            score = case.score(truth).mean()
            events = case.questions * min(score, 1 - score)
            errors.append((predicted / mean - 1, events, name, interval, *case))
    for label, is_rare in (("1 or more", False), ("fewer than 1", True)):
        chosen = np.array([error for error, events, *_ in errors if (events < 1) == is_rare])
        print(
            f"M x min(score, 1 - score) {label}: {len(chosen)} cells, "
            f"{np.mean(np.abs(chosen) <= 0.1):.1%} within 10 %, "
            f"from {chosen.min():+.1%} to {chosen.max():+.1%}, median {np.median(chosen):+.1%}"
        )
    print("\nThe largest:")
    for error, events, *cell in sorted(errors, key=lambda row: -abs(row[0]))[:12]:
        print(f"  {error:+.1%}  {events:.2f} expected  {cell}")


def study_power(runs: int) -> None:
    print("\n## Share of comparisons that find the smallest difference of a power of 80 %\n")
    powers = []
    chosen = [Case("pass@k", 1, 100, 4), Case("pass@k", 8, 100, 16)]
    chosen += [Case("pass^k", 4, 200, 8), Case("maj@k", 5, 50, 8)]
    for name, truth in populations():
        for case, interval in itertools.product(chosen, INTERVALS):
            result = power(case, truth, interval, runs, np.random.default_rng(3))
            if result is not None:
                powers.append(result[1])
                print(f"  {result[1]:.3f}  difference {result[0]:.4f}  {name} {interval} {case}")
    print(
        f"{len(powers)} cells, mean power {np.mean(powers):.3f}; from {min(powers):.3f} to "
        f"{max(powers):.3f}; Monte Carlo error {np.sqrt(0.16 / runs):.3f}"
    )


def study_labels(runs: int) -> None:
    print("\n## Runs that a judge grades and a person labels in part\n")
    print("predicted and simulated half-width, power")
    chosen = [Case("pass@k", 1, 150, 4), Case("pass@k", 2, 200, 8), Case("pass@k", 4, 150, 8)]
    limits = dict(zip(INTERVALS, ("same_questions", "other_questions"), strict=True))
    for (name, truth), (checker_rates, labels) in itertools.product(
        populations(("uniform", "Beta(0.6, 0.9)")), (((0.9, 0.1), 300), ((0.95, 0.05), 150))
    ):
        rng = np.random.default_rng(5)
        labelling = Labelling(TRUTHS[name], labels=labels, rates=checker_rates)
        for case, interval in itertools.product(chosen, INTERVALS):
            judged: dict[str, Any] = {"checker_rates": checker_rates, "labels": labels}
            row = case.plan(rates=truth, correlation=1.0, **judged)
            widths, significant = [], 0
            for _ in range(runs // 10):
                rates = case.rates(truth, interval, rng)
                (noise,) = at_k.noise(judged_run(rates, case, labelling, rng), case.k).values()
                widths.append(np.ptp(noise[limits[interval]]) / 2)
            shift = shift_for(case, truth, row[f"difference_{interval}"])
            for _ in range(runs // 5):
                a = case.rates(truth, interval, rng)
                run_a, run_b = (judged_run(x, case, labelling, rng) for x in (a, shifted(a, shift)))
                significant += is_significant(run_a, run_b, case, interval)
            print(
                f"  {name} {checker_rates} {labels} {case} {interval}: "
                f"{row[f'half_width_{interval}']:.4f} {np.mean(widths):.4f}, "
                f"{significant / (runs // 5):.3f}",
                flush=True,
            )


def judged_run(
    rates: np.ndarray, case: Case, labelling: Labelling, rng: np.random.Generator
) -> dict[str, Any]:
    correct = rng.random((len(rates), case.samples)) < rates[:, None]
    accepted, labels = graded(correct, labelling, rng)
    return {"predictions": accepted.astype(int), "labels": labels.tolist()}


STUDIES = {"widths": study_widths, "power": study_power, "labels": study_labels}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--studies", nargs="+", choices=STUDIES, default=[*STUDIES])
    options = parser.parse_args()
    for name in options.studies:
        STUDIES[name](options.runs)


if __name__ == "__main__":
    main()
