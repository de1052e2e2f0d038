"""`at-k demo`: what G-Pass@k tells of one model at two temperatures."""

from __future__ import annotations

from pathlib import Path

from ..loading import load
from .reading import read_questions
from .tables import aligned

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
_DRAWS = [1, 2, 4, 8, 16, 32]
_TABLE = {
    "some of k right": ["pass@1", "pass@2", "pass@4", "pass@8", "pass@16", "pass@32"],
    "half of k right": ["G-Pass@4_0.5", "G-Pass@8_0.5", "G-Pass@16_0.5", "G-Pass@32_0.5"],
    "all of k right": ["pass^2", "pass^4", "pass^8", "pass^16", "pass^32"],
    "half to all, on average": ["mG-Pass@4", "mG-Pass@8", "mG-Pass@16", "mG-Pass@32"],
}


def demo() -> str:
    """The samples that ship with the package, cool and warm side by side."""
    cool, warm = (_scores(name) for name in ("smollm2_cool", "smollm2_warm"))
    table = [["", "T = 0.2", "T = 0.8", "difference"]]
    for title, keys in _TABLE.items():
        table.append([title, "", "", ""])
        table += [
            [f"  {key}", f"{cool[key]:.3f}", f"{warm[key]:.3f}", f"{warm[key] - cool[key]:+.3f}"]
            for key in keys
        ]
    stable = [_percent(scores["pass^4"]) for scores in (cool, warm)]
    reach = [_percent(scores["pass@32"]) for scores in (cool, warm)]
    ahead = next(k for k in _DRAWS if warm[f"pass@{k}"] > cool[f"pass@{k}"])
    return f"""\
SmolLM2-135M-Instruct on 94 questions of small arithmetic, 32 samples of each, at two
temperatures. A sample is right if the last number in it is the answer.

{aligned(table)}

The cool samples are the more stable: all of 4 are right for {stable[0]} of the questions,
against {stable[1]} when warm. The warm samples reach further: some of 32 are right for
{reach[1]}, against {reach[0]} when cool, and they are ahead from k = {ahead} on.

The same for one of these files, or for samples of your own with a line such as
{{"predictions": ["12", "13"], "reference": "12"}} for each question:

  at-k gpassk {SAMPLES / "smollm2_warm.jsonl"} --check-correct-fn numeric"""


def _scores(name: str) -> dict[str, float]:
    questions = read_questions(str(SAMPLES / f"{name}.jsonl"))
    return load("gpassk").compute(
        predictions=questions.predictions,
        references=questions.references,
        check_correct_fn="numeric",
        k=_DRAWS,
        thresholds=[0.5],
        include=["pass@k", "G-Pass@k", "pass^k", "mG-Pass@k"],
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
