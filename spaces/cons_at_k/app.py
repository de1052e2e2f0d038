"""Describe the Space of cons@k: how often a majority vote of k samples is correct."""

import sys
from collections.abc import Sequence

sys.path.append(f"{sys.path[0]}/..")  # in a clone, the package `page` is beside this folder
from page.controls import CONFIDENCE, WHICH_QUESTIONS, NumberField
from page.describing import COOL, WARM, curve_ks, enumerated, model_example
from page.space import Call, Chart, Example, Options, Run, Show, Space

TEXT = """\
reference,1,2,3,4,5,6,7,8
56,56,56,56,54,56,56,56,56
81,81,18,81,81,71,81,91,81
12,12,13,14,12,15,12,11,16
105,95,105,95,115,95,105,95,95
64,64,32,46,64,48,60,64,66
119,109,109,119,109,107,109,119,129
"""


def compute_calls(options: Options, smallest_n: int) -> dict[str, Call]:
    """Return the calls of `compute`. Curves by k end at `smallest_n`, the least of all n."""
    ks = curve_ks(smallest_n)
    # maj@k is lower at even k, because a tie is incorrect: each k is beside the one before.
    ks = sorted({*ks, *(k - 1 for k in ks[1:]), options["k"]})
    return {
        "scores": Call({"k": options["k"]}),
        "by_k": Call({"k": ks, "return_per_question": True}),
    }


def main_scores(run: Run, options: Options) -> list[str]:
    """Return the keys of vote@k, maj@k and avg@N, without vote@k if samples are not answers."""
    k, scores = options["k"], run.scores()
    votes = [f"vote@{k}"] if f"vote@{k}" in scores else []
    return [*votes, f"maj@{k}", run.estimate_of("avg@N").key]


def clause(run: Run, options: Options, show: Show) -> str:
    """Return how often a vote, a majority and a single sample are correct, in words."""
    k, scores = options["k"], run.scores()
    single = show(run.estimate_of("avg@N").score)
    claims = [f"a single sample is correct {single} of the time"]
    if k > 1:
        majority = show(scores[f"maj@{k}"])
        claims.insert(0, f"more than half of {k} samples are correct {majority} of the time")
    if k > 1 and f"vote@{k}" in scores:  # only if the samples are answers
        vote = show(scores[f"vote@{k}"])
        claims.insert(0, f"a vote of {k} is correct {vote} of the time")
    return enumerated(claims)


def charts(runs: Sequence[Run], options: Options) -> list[Chart | None]:
    """Return the charts of the votes by k, and of the share of correct samples by question."""
    has_votes = all("vote@1" in run.scores("by_k") for run in runs)  # if the samples are answers
    metrics = ["vote@k", "maj@k"] if has_votes else ["maj@k"]
    if len(runs) == 1 and isinstance(runs[0].estimate_of("avg@N").k, int):  # not "n"
        metrics.append("avg@k")
    return [
        Chart(
            "Majority vote of k samples",
            "Voting helps where a curve rises above its value at k = 1, the share of correct "
            "samples. Dashed line: the selected k.",
            function="by_k",
            call="by_k",
            arguments={"metric": metrics, "highlight": options["k"]},
        ),
        Chart(
            "Share of correct samples per question",
            "With increasing k, maj@k approaches 1 where the share is above 0.5, and 0 where it is "
            "below.",
            function="by_question",
            call="by_k",
            arguments={"key": runs[0].estimate_of("avg@N", "by_k").key},
        ),
    ]


SPACE = Space(
    metric="cons_at_k",
    summary="How often is a majority vote of k samples correct? Voting helps on questions where "
    "the correct answer is the most frequent one, and hurts where an incorrect answer is.",
    examples=[
        Example("Six questions, eight answers each", TEXT, options={"k": 5}),
        model_example("A small model, 94 questions", WARM, k=16),
        model_example("The same model at temperatures 0.2 and 0.8", COOL, WARM, k=16),
    ],
    controls=[
        NumberField("k", "k", "that vote, of the n samples of a question", 5, 1, 512, 1),
        WHICH_QUESTIONS,
        CONFIDENCE,
    ],
    compute_calls=compute_calls,
    clause=clause,
    main_scores=main_scores,
    charts=charts,
)

if __name__ == "__main__":  # worker processes only import this file
    SPACE.serve()
