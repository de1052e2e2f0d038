"""`at-k demo`: the scores of one model at two temperatures, side by side."""

from __future__ import annotations

import itertools
import textwrap

from ..core.computations import GPASSK
from ..readers.run import read_run
from .flags import COOL, WARM
from .formats import aligned

_TABLE = {
    "at least 1 of k correct": ["pass@1", "pass@2", "pass@4", "pass@8", "pass@16", "pass@32"],
    "at least half correct": ["G-Pass@4_0.5", "G-Pass@8_0.5", "G-Pass@16_0.5", "G-Pass@32_0.5"],
    "all k correct": ["pass^2", "pass^4", "pass^8", "pass^16", "pass^32"],
    "mean over shares > 1/2": ["mG-Pass@4", "mG-Pass@8", "mG-Pass@16", "mG-Pass@32"],
}


def demo() -> str:
    """Return what the subcommand prints."""
    low, high = _scores(COOL), _scores(WARM)
    table = [["", "T = 0.2", "T = 0.8", "difference"]]
    for title, keys in _TABLE.items():
        table.append([title, "", "", ""])
        for key in keys:
            difference = high[key] - low[key]
            table.append([f"  {key}", f"{low[key]:.3f}", f"{high[key]:.3f}", f"{difference:+.3f}"])
    first = next(key for key in _TABLE["at least 1 of k correct"] if high[key] > low[key])
    percent = {key: (f"{100 * low[key]:.0f} %", f"{100 * high[key]:.0f} %") for key in low}
    (low_4, high_4), (low_32, high_32) = percent["pass^4"], percent["pass@32"]
    summary = (
        f"T = 0.2 is more consistent: all 4 samples are correct for {low_4} of the questions, "
        f"against {high_4} at T = 0.8. T = 0.8 has the higher pass@k at large k: at least 1 of 32 "
        f"samples is correct for {high_32} of the questions, against {low_32} at T = 0.2. In this "
        f"table, it has the higher pass@k from {first} on."
    )
    return f"""\
SmolLM2-135M-Instruct on 94 arithmetic questions, 32 samples each, at two temperatures T.
A sample is correct if the number that it gives is the answer.

{aligned(table)}

{textwrap.fill(summary, 88)}

To score one of these files, or your own with a line such as
{{"predictions": ["12", "13"], "reference": "12"}} for each question:

  at-k gpassk {WARM} --check-correct-fn numeric"""


def _scores(file: str) -> dict[str, float]:
    keys = list(itertools.chain(*_TABLE.values()))
    return GPASSK.compute(**read_run(file), check_correct_fn="numeric", include=keys)
