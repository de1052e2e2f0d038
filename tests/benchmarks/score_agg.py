"""How fast score_agg is, as ratios against one pass of NumPy and against published loops.

    PYTHONPATH=tests python tests/benchmarks/score_agg.py

Needs the `test` extra, and downloads three releases of eval-ai-library. Times are the least
of several.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import at_k
import numpy as np
import pyarrow as pa
from at_k.outcomes import Outcomes
from at_k.power_mean import VERDICTS, exponent, item_scores
from at_k.tables import aligned
from releases import RELEASES, published_score_agg
from speed import least

ITEMS, VERDICT_COUNT = 100_000, 1_000_000
TEMPERATURES = (0.1, 0.3, 0.45, 0.5, 0.7, 1.0)


def score_each(published: Callable[..., float], items: list[list[float]]) -> list[float]:
    return [published(item, 0.3) for item in items]


def main() -> None:
    rng = np.random.default_rng(0)
    sizes = 1 + rng.multinomial(VERDICT_COUNT - ITEMS, np.full(ITEMS, 1 / ITEMS))
    code = rng.integers(0, len(VERDICTS), VERDICT_COUNT)
    x = np.array(list(VERDICTS.values()))[code]
    starts = np.cumsum(sizes) - sizes
    bank = Outcomes(x, sizes)
    lists = [each.tolist() for each in np.split(x, starts[1:])]
    ends = pa.array([0, *np.cumsum(sizes)])
    weights = pa.LargeListArray.from_arrays(ends, pa.array(x))
    names = pa.array(list(VERDICTS)).take(pa.array(code))
    labels = pa.LargeListArray.from_arrays(ends, names)
    metric = at_k.load("score_agg")

    mean = least(lambda: np.add.reduceat(x, starts) / sizes, 20)
    powers = least(lambda: x**4.6, 20)
    print(
        f"{VERDICT_COUNT:,} verdicts in {ITEMS:,} items. One pass of NumPy: {1e3 * mean:.1f} ms "
        f"for the mean of each item, {1e3 * powers:.1f} ms for x**4.6.\n"
    )
    rows = []
    for temperature in TEMPERATURES:
        time = least(partial(item_scores, bank, exponent(temperature), 0.1, 1e-9), 10)
        rows.append((f"arrays, temperature {temperature}", time / mean, time / powers))
    for kind, predictions in (("weights", weights), ("labels", labels)):
        time = least(partial(metric.compute, predictions=predictions, temperature=0.3), 5)
        rows.append((f"the metric, {kind} in Arrow, temperature 0.3", time / mean, time / powers))
    head = ["", "/ means", "/ powers"]
    print(aligned([head, *([what, f"{a:.1f}", f"{b:.1f}"] for what, a, b in rows)]))

    ours = least(lambda: at_k.score_agg(lists, 0.3), 3)
    array = least(lambda: np.array(list(itertools.chain.from_iterable(lists))))
    against = [["np.array of the lists joined", f"{ours / array:.2f}"]]
    with tempfile.TemporaryDirectory() as folder:
        for release in RELEASES.values():
            published = published_score_agg(release, Path(folder))
            loop = least(partial(score_each, published, lists), 1)
            against.append([f"eval-ai-library {release} in a loop", f"{ours / loop:.2f}"])
    print()
    print(aligned([["score_agg of nested lists, temperature 0.3, against", "ratio"], *against]))


if __name__ == "__main__":
    main()
