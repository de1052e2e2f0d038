"""How often the simultaneous band over k of a single run covers the true scores at all k.

    python tests/benchmarks/band_coverage.py [--runs 400] [--seed 0]

The success rates come from distributions that no interval was tuned on. In %: `each` is the mean
share of intervals lo to hi that cover, `all` the share of runs whose intervals all cover, and
`band` that of runs whose band covers at all k, which should be 95 or more.
"""

from __future__ import annotations

import argparse

import at_k
import numpy as np
from truths import Truth, held_out_truths

POPULATION = 200_000
SHAPES = {(40, 8): [1, 2, 4, 8], (100, 16): [1, 2, 4, 8, 16], (30, 6): [1, 2, 3, 4, 5, 6]}
NAMES = ["0.02, 0.35 or 0.97", "log-odds normal(-1, 2.5)", "few hard: Beta(20, 2) or Beta(1, 30)"]


def true_scores(rates: np.ndarray, ks: list[int], score: str) -> np.ndarray:
    """Return (m,) means of pass@k or pass^k over rates."""
    powers = np.array(ks)
    column = rates.ravel()[:, None]
    return np.mean(column**powers if score == "pass^k" else 1 - (1 - column) ** powers, axis=0)


def study(
    truth: Truth,
    shape: tuple[int, int],
    score: str,
    interval: str,
    runs: int,
    rng: np.random.Generator,
) -> list[float]:
    """Return the shares in % of the three columns."""
    gpassk, ks = at_k.load("gpassk"), SHAPES[shape]
    population = true_scores(truth(rng, (1, POPULATION)), ks, score)
    shares = []
    for _ in range(runs):
        rates = truth(rng, (1, shape[0]))[0]
        result = gpassk.compute(
            predictions=(rng.random(shape) < rates[:, None]).astype(int),
            k=ks,
            include=score,
            confidence=0.95,
            interval=interval,
            band=True,
        )
        true = population if interval == "questions" else true_scores(rates, ks, score)
        limits = [
            np.array([result[f"{score[:-1]}{k}_{name}"] for k in ks])
            for name in ("lo", "hi", "band_lo", "band_hi")
        ]
        lo, hi, band_lo, band_hi = limits
        each = (lo <= true + 1e-12) & (true - 1e-12 <= hi)
        band = np.all((band_lo <= true + 1e-12) & (true - 1e-12 <= band_hi))
        shares.append([each.mean(), each.all(), band])
    return (100 * np.mean(shares, axis=0)).tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    truths, bands = held_out_truths(), []
    print("| rates | questions x samples | score | interval | each | all | band |")
    print("|:--|--:|:--|:--|--:|--:|--:|", flush=True)
    for number, name in enumerate(NAMES):
        for place, shape in enumerate(SHAPES):
            for score, interval in (("pass@k", "sampling"), ("pass^k", "questions")):
                rng = np.random.default_rng([options.seed, number, place])
                shares = study(truths[name], shape, score, interval, options.runs, rng)
                cells = " | ".join(f"{share:.1f}" for share in shares)
                print(
                    f"| {name} | {shape[0]} x {shape[1]} | {score} | {interval} | {cells} |",
                    flush=True,
                )
                bands.append(shares[-1])
    print(f"\nThe band covers in {np.mean(bands):.1f} % of runs, at least {min(bands):.1f} %.")


if __name__ == "__main__":
    main()
