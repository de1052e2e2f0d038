"""Family-wise error of leaderboards: how often any simultaneous statement is false.

    python tests/benchmarks/familywise.py [--leaderboards 400] [--truths 3] [--seed 0]

K runs on the same questions are simulated, with success rates from distributions that no interval
was tuned on (`truths.held_out_truths`). A run replaces a share of the rates by draws of its own, so
that the runs are correlated over questions and their scores are equal in the population. Where some
runs differ, the others have the power 0.6 of the rates. With "equal rates" all runs have the same
rates, which is the hardest case for new samples of the same questions.

Of each leaderboard, at all k together, the table has the shares in % where

- any: any interval band_lo to band_hi misses the true difference, of all pairs and k (at most 5 %);
- sign: any run is called better that is not (at most 5 %);
- ranks: any true rank is outside of rank_lo to rank_hi (at most 5 %);
- one: the mean share of single intervals lo to hi that miss (about 5 %);
- found: the mean share of true differences that are found, where runs differ.
"""

from __future__ import annotations

import argparse
import itertools
import math

import at_k
import numpy as np
from truths import Truth, held_out_truths

KS = [1, 4]
DESIGNS = ["equal rates", "equal scores", "half better"]
REDRAWN, BETTER, SIGMA = 0.3, 0.6, 0.7
POPULATION = 200_000
_NORMAL = np.exp(SIGMA * np.random.default_rng(0).normal(size=(400_000, max(KS))))
MEANS_OF_LARGEST = [0.0, *(_NORMAL[:, :j].max(axis=1).mean() for j in range(1, max(KS) + 1))]
"""The expected largest of j lognormal rewards."""


def rates_of_runs(
    truth: Truth, design: str, runs: int, questions: int, rng: np.random.Generator
) -> np.ndarray:
    """Return (K, M) success rates."""
    shared = truth(rng, (1, questions))
    if design == "equal rates":
        return np.repeat(shared, runs, axis=0)
    own = np.concatenate([truth(rng, (1, questions)) for _ in range(runs)])
    rates = np.where(rng.random((runs, questions)) < REDRAWN, own, shared)
    if design == "half better":
        rates[runs // 2 :] **= BETTER
    return rates


def outcomes_of(rates: np.ndarray, samples: int, rewards: bool, rng: np.random.Generator):
    correct = rng.random((*rates.shape, samples)) < rates[..., None]
    if not rewards:
        return correct.astype(int)
    return correct * np.exp(SIGMA * rng.normal(size=correct.shape))


def true_scores(rates: np.ndarray, rewards: bool) -> np.ndarray:
    """Return (.., m) means of pass@k, or of Max@k of rewards, over (.., M) rates."""
    scores = []
    for k in KS:
        if not rewards:
            scores.append(1 - (1 - rates) ** k)
            continue
        terms = (
            math.comb(k, j) * rates**j * (1 - rates) ** (k - j) * MEANS_OF_LARGEST[j]
            for j in range(k + 1)
        )
        scores.append(sum(terms))
    return np.stack(scores, axis=-1).mean(axis=-2)


def study(
    truth: Truth,
    design: str,
    runs: int,
    shape: tuple[int, int],
    rewards: bool,
    interval: str,
    leaderboards: int,
    rng: np.random.Generator,
) -> dict[str, float]:
    """Simulate leaderboards of one setting, and return the shares in %."""
    names = [f"run {i}" for i in range(runs)]
    population = true_scores(rates_of_runs(truth, design, runs, POPULATION, rng), rewards)
    if design != "half better":
        population[:] = population.mean(axis=0)
    else:
        for half in (slice(runs // 2), slice(runs // 2, None)):
            population[half] = population[half].mean(axis=0)
    tally: dict[str, list[float]] = {name: [] for name in ("any", "sign", "ranks", "one", "found")}
    for _ in range(leaderboards):
        rates = rates_of_runs(truth, design, runs, shape[0], rng)
        R = outcomes_of(rates, shape[1], rewards, rng)
        if all(len(np.unique(each)) == 1 for each in R):
            continue
        score = population if interval == "questions" else true_scores(rates, rewards)
        board = at_k.leaderboard(
            dict(zip(names, R, strict=True)), "max@k" if rewards else "pass@k", KS, interval
        )
        missed, wrong, single, found = [], [], [], []
        for pair in board["pairs"]:
            a, b = names.index(pair["a"]), names.index(pair["b"])
            place = next(i for i, k in enumerate(KS) if pair["key"].endswith(f"@{k}"))
            difference = score[a, place] - score[b, place]
            lo, hi = pair["band_lo"] - 1e-12, pair["band_hi"] + 1e-12
            missed.append(not lo <= difference <= hi)
            single.append(not pair["lo"] - 1e-12 <= difference <= pair["hi"] + 1e-12)
            wrong.append((lo > 0 and difference <= 1e-12) or (hi < 0 and difference >= -1e-12))
            if abs(difference) > 1e-12:
                found.append(lo > 0 or hi < 0)
        outside = []
        for row in board["runs"]:
            place = next(i for i, k in enumerate(KS) if row["key"].endswith(f"@{k}"))
            own = score[names.index(row["run"]), place]
            above = int(np.sum(score[:, place] > own + 1e-12))
            below = int(np.sum(score[:, place] < own - 1e-12))
            outside.append(row["rank_lo"] > 1 + above or row["rank_hi"] < runs - below)
        for name, values in (("any", missed), ("sign", wrong), ("ranks", outside)):
            tally[name].append(any(values))
        tally["one"].append(float(np.mean(single)))
        if found:
            tally["found"].append(float(np.mean(found)))
    return {name: 100 * float(np.mean(x)) if x else math.nan for name, x in tally.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--leaderboards", type=int, default=400)
    parser.add_argument("--truths", type=int, default=3, help="of each setting, 1 to 3")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chosen = held_out_truths()
    names = ["0.02, 0.35 or 0.97", "log-odds normal(-1, 2.5)", "fixed rates"]
    print(f"{options.leaderboards} leaderboards each, at k = {KS} together. Shares in %.\n")
    print(
        "| runs | rates | design | questions x samples | outcomes | interval | any | sign | ranks"
        " | one | found |"
    )
    print("|--:|:--|:--|--:|:--|:--|--:|--:|--:|--:|--:|", flush=True)
    worst: dict[str, list[float]] = {}
    for number, (runs, design, rewards, interval) in enumerate(
        itertools.product((3, 6), DESIGNS, (False, True), ("sampling", "questions"))
    ):
        fitting = names[:2] if interval == "questions" else names  # fixed rates are not drawn
        chosen_names = [
            fitting[(number // 2 + i) % len(fitting)]
            for i in range(min(options.truths, len(fitting)))
        ]
        for place, name in enumerate(chosen_names):
            rng = np.random.default_rng([options.seed, number, place])
            shape = [(40, 8), (100, 16), (30, 6)][(number + place) % 3]
            shares = study(
                chosen[name], design, runs, shape, rewards, interval, options.leaderboards, rng
            )
            cells = [f"{shares[column]:.1f}" for column in ("any", "sign", "ranks", "one", "found")]
            kind = "rewards" if rewards else "binary"
            first = f"| {runs} | {name} | {design} | {shape[0]} x {shape[1]} | {kind} | {interval} "
            print(f"{first}| {' | '.join(cells)} |", flush=True)
            worst.setdefault(f"{kind}, {interval}", []).append(shares["any"])
    print()
    for kind, values in worst.items():
        print(f"{kind}: any false interval in {np.mean(values):.1f} %, at most {max(values):.1f} %")


if __name__ == "__main__":
    main()
