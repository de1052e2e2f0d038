"""`at-k demo`: the scores of one model at two temperatures, on the samples of the package."""

from __future__ import annotations

import textwrap
from pathlib import Path

from ..computations.gpassk import GPASSK
from ..readers.questions import read_questions
from .formats import aligned

_SAMPLES = Path(__file__).resolve().parents[1] / "samples"
COOL, WARM = (str(_SAMPLES / f"smollm2_{name}.jsonl") for name in ("cool", "warm"))
"""Files of samples at the temperatures 0.2 and 0.8."""
_K_VALUES = [1, 2, 4, 8, 16, 32]
_TABLE = {
    "at least 1 of k correct": ["pass@1", "pass@2", "pass@4", "pass@8", "pass@16", "pass@32"],
    "at least half correct": ["G-Pass@4_0.5", "G-Pass@8_0.5", "G-Pass@16_0.5", "G-Pass@32_0.5"],
    "all k correct": ["pass^2", "pass^4", "pass^8", "pass^16", "pass^32"],
    "mean over shares > 1/2": ["mG-Pass@4", "mG-Pass@8", "mG-Pass@16", "mG-Pass@32"],
}


def demo() -> str:
    """Return what the subcommand prints: the scores at both temperatures side by side."""
    low, high = _scores(COOL), _scores(WARM)
    table = [["", "T = 0.2", "T = 0.8", "difference"]]
    for title, keys in _TABLE.items():
        table.append([title, "", "", ""])
        for key in keys:
            difference = high[key] - low[key]
            table.append([f"  {key}", f"{low[key]:.3f}", f"{high[key]:.3f}", f"{difference:+.3f}"])
    first_k = next(k for k in _K_VALUES if high[f"pass@{k}"] > low[f"pass@{k}"])
    summary = (
        f"T = 0.2 is more consistent: all 4 samples are correct for {_percent(low['pass^4'])} "
        f"of the questions, against {_percent(high['pass^4'])} at T = 0.8. "
        f"T = 0.8 has the higher pass@k at large k: at least 1 of 32 samples is correct for "
        f"{_percent(high['pass@32'])} of the questions, against {_percent(low['pass@32'])} at "
        f"T = 0.2. In this table, it has the higher pass@k from k = {first_k} on."
    )
    return f"""\
SmolLM2-135M-Instruct on 94 arithmetic questions, 32 samples each, at two temperatures T.
A sample is correct if the last number in it is the answer.

{aligned(table)}

{textwrap.fill(summary, 88)}

To score one of these files, or your own with a line such as
{{"predictions": ["12", "13"], "reference": "12"}} for each question:

  at-k gpassk {WARM} --check-correct-fn numeric"""


def _scores(file: str) -> dict[str, float]:
    questions = read_questions(file)
    return GPASSK.compute(
        **questions.arguments,
        check_correct_fn="numeric",
        k=_K_VALUES,
        thresholds=[0.5],
        include=["pass@k", "G-Pass@k", "pass^k", "mG-Pass@k"],
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
