"""Compare what `at_k.plan` predicts with simulated runs: half-widths, power, and pilot runs.

    python tests/benchmarks/precision_of_plans.py [--runs 1000]

Success rates are drawn from known distributions, which `plan` gets as `rates`.

- The predicted half-width is compared with the mean half-width of the intervals of simulated runs.
- Run b of a comparison has the smallest difference that is predicted to be found with a power of
  80 %. The share of comparisons that `at_k.compare` finds significant is the actual power. For new
  questions, the log-odds of both runs are correlated normally (a Gaussian copula), and `plan` gets
  the resulting correlation of scores.
- A judge grades the samples, and a person labels some of them: half-widths are compared with those
  of `at_k.noise`, and the power is that of runs with the same rates, shifted in log-odds.
- Pilot runs take the place of the rates, and their predictions are compared with those from the
  rates. This is the noise that a pilot run adds.

All takes about an hour on one core.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import at_k
import numpy as np
from judges import graded
from scipy.special import expit, logit, ndtr
from scipy.stats import binom

KINDS = ("sampling", "questions")
POPULATION = 20_000
COPULA = 0.8  # correlation of the log-odds of two runs, on the normal scale
SCORES = {
    "pass@k": lambda p, k: 1 - (1 - p) ** k,
    "pass^k": lambda p, k: p**k,
    "maj@k": lambda p, k: binom.sf(k // 2, k, p),
}


def truths() -> dict[str, np.ndarray]:
    """Return the success rates of many questions, ascending, by the name of their distribution."""
    q = (np.arange(POPULATION) + 0.5) / POPULATION
    rng = np.random.default_rng(0)
    rates = {
        "uniform": q,
        "all 0.3": np.full(POPULATION, 0.3),
        "Beta(0.6, 0.9)": rng.beta(0.6, 0.9, POPULATION),
        "Beta(0.3, 3)": rng.beta(0.3, 3, POPULATION),
        "Beta(8, 1)": rng.beta(8, 1, POPULATION),
        "0.1 or 0.9": np.repeat([0.1, 0.9], POPULATION // 2),
        "30 % impossible": np.where(q < 0.3, 0.0, rng.beta(2, 2, POPULATION)),
        "normal log-odds": expit(rng.normal(-1, 2, POPULATION)),
    }
    return {name: np.sort(each) for name, each in rates.items()}


class Case(NamedTuple):
    """M questions of n samples each, which are scored by a metric at k."""

    metric: str
    k: int
    questions: int
    samples: int

    def plan(self, **given: Any) -> dict[str, Any]:
        """Return the row of `at_k.plan` for this case."""
        (row,) = at_k.plan(
            metric=self.metric, k=self.k, questions=self.questions, samples=self.samples, **given
        )["rows"]
        return row

    def score(self, rates: np.ndarray) -> np.ndarray:
        return SCORES[self.metric](rates, self.k)

    def rates(self, truth: np.ndarray, kind: str, rng: np.random.Generator) -> np.ndarray:
        """Return the rates of M questions: the same in each run, or drawn from the truth."""
        if kind == "questions":
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
    case: Case, truth: np.ndarray, kind: str, runs: int, rng: np.random.Generator
) -> float:
    """Return the mean half-width of the intervals of simulated runs."""
    n, questions = case.samples, case.questions
    correct = [rng.binomial(n, case.rates(truth, kind, rng)) for _ in range(runs)]
    scores = at_k.load("gpassk").compute(
        predictions=at_k.Counts(np.full(runs * questions, n), np.concatenate(correct)),
        groups=np.repeat(np.arange(runs), questions).tolist(),
        k=case.k,
        include=case.metric,
        confidence=0.95,
        interval=kind,
    )
    key = f"{case.metric[:-1]}{case.k}"
    return float(
        np.mean([scores[f"{i}/{key}_hi"] - scores[f"{i}/{key}_lo"] for i in range(runs)]) / 2
    )


def power(
    case: Case,
    truth: np.ndarray,
    kind: str,
    runs: int,
    rng: np.random.Generator,
) -> tuple[float, float] | None:
    """Return the smallest difference that is predicted, and how often `compare` finds it."""
    pairs = copula_pairs(truth, 200_000, np.random.default_rng(1))
    at = {"rates": truth, "correlation": 0.5}
    difference = case.plan(**at)[f"difference_{kind}"]
    largest = case.score(shifted(truth, 20.0)).mean() - case.score(truth).mean()
    for _ in range(3):  # the correlation of scores depends on the difference
        if difference is None or difference > largest:
            return None
        shift = shift_of(case, truth, difference)
        if kind == "questions":
            a, b = (case.score(each) for each in (pairs[0], shifted(pairs[1], shift)))
            varies = min(a.std(), b.std()) > 1e-9
            at["correlation"] = np.corrcoef(a, b)[0, 1] if varies else 0.0
        difference = case.plan(**at)[f"difference_{kind}"]
    shift, found, n = shift_of(case, truth, difference), 0, case.samples
    rates = case.rates(truth, kind, rng)
    a, b = rates, shifted(rates, shift)
    for _ in range(runs):
        if kind == "questions":
            a, b = copula_pairs(truth, case.questions, rng)
            b = shifted(b, shift)
        run_a, run_b = (at_k.Counts(np.full(len(p), n), rng.binomial(n, p)) for p in (a, b))
        result = at_k.compare(run_a, run_b, case.metric, case.k, interval=kind)
        (lo,) = (result[key] for key in result if key.endswith("_lo") and "band" not in key)
        found += lo > 0
    return difference, found / runs


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


def shift_of(case: Case, truth: np.ndarray, difference: float) -> float:
    """Return the shift of log-odds that increases the mean score by a difference."""
    low, high, start = 0.0, 20.0, case.score(truth).mean()
    for _ in range(40):
        middle = (low + high) / 2
        gain = case.score(shifted(truth, middle)).mean() - start
        low, high = (middle, high) if gain < difference else (low, middle)
    return low


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--parts", nargs="+", default=["widths", "power", "labels", "pilots"])
    options = parser.parse_args()
    studies = {"widths": study_widths, "power": study_power, "labels": study_labels}
    studies["pilots"] = study_pilots
    for part in options.parts:
        studies[part](options.runs)


def study_widths(runs: int) -> None:
    print("## Predicted half-width, relative to the mean half-width of simulated runs\n")
    errors = []
    for name, truth in truths().items():
        for case, kind in itertools.product(cases(), KINDS):
            rng = np.random.default_rng(2)
            predicted = case.plan(rates=truth)[f"half_width_{kind}"]
            mean = half_widths(case, truth, kind, runs // 5, rng)
            score = case.score(truth).mean()
            events = case.questions * min(score, 1 - score)
            errors.append((predicted / mean - 1, events, name, kind, *case))
    for label, few in (("1 or more", False), ("fewer than 1", True)):
        found = np.array([error for error, events, *_ in errors if (events < 1) == few])
        print(
            f"M x min(score, 1 - score) {label}: {len(found)} cells, "
            f"{np.mean(np.abs(found) <= 0.1):.1%} within 10 %, "
            f"from {found.min():+.1%} to {found.max():+.1%}, median {np.median(found):+.1%}"
        )
    print("\nThe largest:")
    for error, events, *cell in sorted(errors, key=lambda each: -abs(each[0]))[:12]:
        print(f"  {error:+.1%}  {events:.2f} expected  {cell}")


def study_power(runs: int) -> None:
    print("\n## Share of comparisons that find the smallest difference of a power of 80 %\n")
    found = []
    chosen = [Case("pass@k", 1, 100, 4), Case("pass@k", 8, 100, 16)]
    chosen += [Case("pass^k", 4, 200, 8), Case("maj@k", 5, 50, 8)]
    for name, truth in truths().items():
        for case, kind in itertools.product(chosen, KINDS):
            result = power(case, truth, kind, runs, np.random.default_rng(3))
            if result is None:
                continue
            found.append((result[1], result[0], name, kind, *case))
            print("  {:.3f}  difference {:.4f}  {} {} {} k={} M={} n={}".format(*found[-1]))
    error = np.array([each[0] for each in found]) - 0.8
    print(
        f"{len(error)} cells, mean power {error.mean() + 0.8:.3f}; "
        f"{np.mean(np.abs(error) <= 0.03):.1%} within 3 points, from {error.min() + 0.8:.3f} to "
        f"{error.max() + 0.8:.3f}; Monte Carlo error {np.sqrt(0.16 / runs):.3f}"
    )


def study_labels(runs: int) -> None:
    print("\n## Runs that a judge grades and a person labels in part\n")
    print(
        "truth, rates of the judge, labels, case, kind: predicted and simulated half-width, power"
    )
    judges = (((0.9, 0.1), 300), ((0.95, 0.05), 150))
    chosen = [Case("pass@k", 1, 150, 4), Case("pass@k", 2, 200, 8), Case("pass@k", 4, 150, 8)]
    limits = dict(zip(KINDS, ("same_questions", "other_questions"), strict=True))
    for name, (checker_rates, labels) in itertools.product(("uniform", "Beta(0.6, 0.9)"), judges):
        truth, rng = truths()[name], np.random.default_rng(5)

        def run_of(rates: np.ndarray, n: int) -> dict[str, Any]:
            called, given = graded(rng, rates, n, checker_rates, labels)  # noqa: B023
            return {"predictions": called.astype(int), "labels": given}

        for case, kind in itertools.product(chosen, KINDS):
            of_judge: dict[str, Any] = {"checker_rates": checker_rates, "labels": labels}
            row = case.plan(rates=truth, correlation=1.0, **of_judge)
            widths, found = [], 0
            for _ in range(runs // 10):
                run = run_of(case.rates(truth, kind, rng), case.samples)
                (noise,) = at_k.noise(run, case.k).values()
                widths.append(np.ptp(noise[limits[kind]]) / 2)
            shift = shift_of(case, truth, row[f"difference_{kind}"])
            for _ in range(runs // 5):
                a = case.rates(truth, kind, rng)
                run_a, run_b = (run_of(x, case.samples) for x in (a, shifted(a, shift)))
                result = at_k.compare(run_a, run_b, case.metric, case.k, interval=kind)
                found += result[f"pass@{case.k}_lo"] > 0
            print(
                f"  {name} {checker_rates} {labels} k={case.k} M={case.questions} "
                f"n={case.samples} {kind}: {row[f'half_width_{kind}']:.4f} "
                f"{np.mean(widths):.4f}, {found / (runs // 5):.3f}",
                flush=True,
            )


def study_pilots(runs: int) -> None:
    print("\n## Predictions from pilot runs, relative to those from the rates\n")
    print("truth, case, kind, pilot M0 x n0: mean, and 5 % to 95 % of pilots")
    chosen = [Case("pass@k", 1, 200, 8), Case("pass@k", 8, 200, 32), Case("pass^k", 4, 200, 16)]
    quantity = [f"{what}_{kind}" for what in ("half_width", "difference") for kind in KINDS]
    for name, truth in truths().items():
        for case in chosen:
            exact = case.plan(rates=truth)
            for m0, n0 in ((30, 4), (100, 4), (100, 16), (400, 4)):
                rng = np.random.default_rng(4)
                ratios = []
                for _ in range(max(20, runs // 20)):
                    pilot = at_k.Counts([n0] * m0, rng.binomial(n0, rng.choice(truth, m0)))
                    row = case.plan(R=pilot)
                    ratios.append([(row[x] or np.nan) / (exact[x] or np.nan) for x in quantity])
                for what, values in zip(quantity, np.transpose(ratios), strict=True):
                    if np.isfinite(values).all():
                        low, high = np.quantile(values, [0.05, 0.95])
                        print(
                            f"  {name}  {case.metric} k={case.k}  {what}  {m0} x {n0}: "
                            f"{values.mean():.2f}, {low:.2f} to {high:.2f}"
                        )


if __name__ == "__main__":
    main()
