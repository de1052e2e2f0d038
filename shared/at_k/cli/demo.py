"""`at-k demo`: the scores of one model at two temperatures, side by side."""

from __future__ import annotations

import itertools

from ..core.computations import GPASSK
from ..readers.run import read_run
from .flags import COOL, WARM
from .formats import aligned, print_output

# The keys of the scores to show, by the title above them.
_TABLE = {
    "at least 1 of k correct": ["pass@1", "pass@2", "pass@4", "pass@8", "pass@16", "pass@32"],
    "at least half correct": ["G-Pass@4_0.5", "G-Pass@8_0.5", "G-Pass@16_0.5", "G-Pass@32_0.5"],
    "all k correct": ["pass^2", "pass^4", "pass^8", "pass^16", "pass^32"],
    "mean over shares > 1/2": ["mG-Pass@4", "mG-Pass@8", "mG-Pass@16", "mG-Pass@32"],
}


def demo() -> None:
    """Print a table of the scores at two temperatures and their differences."""
    all_keys = [*itertools.chain(*_TABLE.values())]
    low, high = (
        GPASSK.compute(**read_run(file), check_correct_fn="numeric", include=all_keys)
        for file in (COOL, WARM)
    )
    table = [["", "T = 0.2", "T = 0.8", "difference"]]
    for title, keys in _TABLE.items():
        table.append([title, "", "", ""])
        for key in keys:
            difference = high[key] - low[key]
            table.append([f"  {key}", f"{low[key]:.3f}", f"{high[key]:.3f}", f"{difference:+.3f}"])
    text = f"""\
SmolLM2-135M-Instruct on 94 arithmetic questions, 32 samples each, at two temperatures T.
A sample is correct if the number that it gives is the answer.

{aligned(table)}

T = 0.2 is more consistent, and T = 0.8 has the higher pass@k at large k.

To score one of these files, or your own with a line such as
{{"predictions": ["12", "13"], "reference": "12"}} for each question:

  at-k gpassk {WARM} --check-correct-fn numeric"""
    print_output(text)
