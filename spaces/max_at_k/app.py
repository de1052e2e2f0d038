"""Describe the Space of Max@k: the expected reward of the best of k samples."""

import sys
from collections.abc import Sequence

sys.path.append(f"{sys.path[0]}/..")  # in a clone, the package `page` is beside this folder
from page.controls import CONFIDENCE, WHICH_QUESTIONS, NumberField, TextField, parse_numbers
from page.describing import COOL, WARM, curve_ks, model_example
from page.space import Call, Chart, Example, Options, Run, Show, Space

TEXT = """\
question,1,2,3,4,5,6,7,8
q1,0.9,0.85,0.9,0.8,0.95,0.9,0.85,0.9
q2,0.2,0.1,0.9,0.2,0.15,0.1,0.2,0.3
q3,0.5,0.6,0.4,0.55,0.7,0.5,0.45,0.6
q4,0,0,0,0.1,0,0,0.8,0
q5,0.3,0.35,0.3,0.25,0.3,0.4,0.3,0.35
"""

GRADES = """\
question,1,2,3,4,5,6
q1,2,1,2,2,0,1
q2,0,1,0,0,2,0
q3,1,1,1,1,1,1
q4,0,0,1,0,0,0
"""


def compute_calls(options: Options, smallest_n: int) -> dict[str, Call]:
    """Return the calls of `compute`. Curves by k end at `smallest_n`, the least of all n."""
    k, w = options["k"], options["w"]
    ks = sorted({*curve_ks(smallest_n), k})
    return {
        "scores": Call({"k": sorted({1, k}), "w": w}),
        "by_k": Call({"k": ks, "w": w, "return_per_question": True}),
    }


def main_scores(run: Run, options: Options) -> list[str]:
    """Return the keys of max@k at the selected k and at 1."""
    return [f"max@{k}" for k in sorted({1, options["k"]}, reverse=True)]


def clause(run: Run, options: Options, show: Show) -> str:
    """Return the expected reward of the best of k samples and of a single one, in words."""
    k, mean = options["k"], show(run.scores()["max@1"])
    if k == 1:
        return f"the mean reward of a sample is {mean}"
    best = show(run.scores()[f"max@{k}"])
    return f"the best of {k} samples has an expected reward of {best}, a single sample {mean}"


def charts(runs: Sequence[Run], options: Options) -> list[Chart | None]:
    """Return the charts of max@k by k and by question, of the results of the call "by_k"."""
    k = options["k"]
    return [
        Chart(
            "Max@k by k",
            "Expected reward of the best of k samples. At k = 1 it is the mean reward. Dashed "
            "line: the selected k.",
            function="by_k",
            call="by_k",
            arguments={"metric": "max@k", "highlight": k},
        ),
        Chart(
            f"Max@{k} per question",
            f"Expected reward of the best of {k} samples of each question.",
            function="by_question",
            call="by_k",
            arguments={"key": f"max@{k}"},
        ),
    ]


SPACE = Space(
    metric="max_at_k",
    summary="The expected reward of the best of k samples: what best-of-k sampling can gain. "
    "Rewards are numbers, categories, or whether a sample is correct.",
    examples=[
        Example("Five questions with test scores", TEXT, options={"k": 4}),
        Example("Grades 0, 1 and 2", GRADES, options={"k": 3, "w": "0, 0.5, 1"}),
        model_example("A small model at temperatures 0.2 and 0.8", COOL, WARM, k=8),
    ],
    controls=[
        NumberField("k", "k", "drawn from the n samples of a question", 4, 1, 512, 1),
        TextField(
            "w",
            "Rewards",
            "of the categories 0, 1, ..; empty if the samples are rewards, or are checked",
            "",
            parse_numbers,
        ),
        WHICH_QUESTIONS,
        CONFIDENCE,
    ],
    compute_calls=compute_calls,
    clause=clause,
    main_scores=main_scores,
    charts=charts,
    compared_by_k="max@k",
)

if __name__ == "__main__":  # worker processes only import this file
    SPACE.serve()
