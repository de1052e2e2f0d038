"""Describe the Space of G-Pass@k: how often at least one, most or all of k samples are correct.

k is the number of samples that are drawn of a question, and the threshold tau the share of them
that must be correct."""

import sys
from collections.abc import Sequence

sys.path.append(f"{sys.path[0]}/..")  # in a clone, the package `page` is beside this folder
from page.controls import CONFIDENCE, WHICH_QUESTIONS, NumberField
from page.describing import COOL, WARM, curve_ks, model_example, required_samples
from page.space import Call, Chart, Example, Options, Run, Show, Space

TEXT = """\
reference,1,2,3,4,5,6,7,8
56,56,56,56,56,56,56,56,56
81,81,81,81,81,18,81,81,81
12,12,12,13,12,12,13,12,12
105,105,95,105,115,105,105,95,95
64,32,46,64,46,32,46,46,64
119,109,109,107,119,129,107,109,109
"""


def compared_ks(k: int) -> list[int]:
    """Return up to three powers of two, the largest ones from 2 to below k, and then k."""
    powers = [2**i for i in range(1, k.bit_length()) if 2**i < k]
    return [*powers[-3:], k]


def compute_calls(options: Options, smallest_n: int) -> dict[str, Call]:
    """Return the calls of `compute`. Curves by k end at `smallest_n`, the least of all n."""
    ks = compared_ks(options["k"])
    thresholds = sorted({i / k for k in ks for i in range(1, k + 1)})
    return {
        "scores": Call(
            {
                "k": ks,
                "thresholds": [options["tau"]],
                "include": ["pass@k", "G-Pass@k", "mG-Pass@k", "pass^k"],
            }
        ),
        "by_threshold": Call({"k": ks, "thresholds": thresholds, "include": ["G-Pass@k"]}),
        "by_k": Call(
            {
                "k": sorted({*curve_ks(smallest_n), options["k"]}),
                "include": ["pass@k", "pass^k"],
                "return_per_question": True,
            }
        ),
    }


def main_scores(run: Run, options: Options) -> list[str]:
    """Return the keys of pass@k, G-Pass@k and pass^k, without those equal by definition."""
    k, tau = options["k"], options["tau"]
    between = [f"G-Pass@{k}_{tau}"] if 1 < required_samples(k, tau) < k else []
    return [f"pass@{k}", *between, f"pass^{k}"] if k > 1 else ["pass@1"]


def clause(run: Run, options: Options, show: Show) -> str:
    """Return how often at least one, most and all of k samples are correct, in words."""
    k, tau = options["k"], options["tau"]
    shares = {key: show(run.scores()[key]) for key in main_scores(run, options)}
    at_least_one = shares[f"pass@{k}"]
    if k == 1:
        return f"a sample is correct {at_least_one} of the time"
    most, all_k = "", "both" if k == 2 else f"all {k}"
    if share := shares.get(f"G-Pass@{k}_{tau}"):
        most = f"at least {required_samples(k, tau)} are correct {share} of the time, "
    return (
        f"of {k} samples of a question, at least one is correct {at_least_one} of the time, {most}"
        f"and {all_k} are correct {shares[f'pass^{k}']} of the time"
    )


def charts(runs: Sequence[Run], options: Options) -> list[Chart | None]:
    """Return the charts of the scores by k, by threshold unless k is 1, and by question."""
    k, tau = options["k"], options["tau"]
    by_threshold = Chart(
        "G-Pass@k by threshold τ",
        "Probability that at least a share τ of k samples is correct: pass@k at small τ, pass^k at "
        "τ = 1. Dashed line: the selected τ.",
        function="by_threshold",
        call="by_threshold",
        arguments={"k": compared_ks(k) if len(runs) == 1 else k, "highlight": tau},
    )
    return [
        Chart(
            "pass@k and pass^k by k",
            "Probability that at least one of k samples is correct (pass@k), and that all k are "
            "(pass^k). Dashed line: the selected k.",
            function="by_k",
            call="by_k",
            arguments={"metric": ["pass@k", "pass^k"], "highlight": k},
        ),
        None if k == 1 else by_threshold,
        Chart(
            "Share of correct samples per question",
            "A model that always solves some questions and never others has a steep curve; one "
            "that is equally unreliable on all questions has a flat one.",
            function="by_question",
            call="by_k",
            arguments={"key": "pass@1"},
        ),
    ]


SPACE = Space(
    metric="gpassk",
    summary="How often is at least one of k samples correct? Most of them? All of them? Models "
    "with the same accuracy can differ: one is unreliable on every question, another is perfect on "
    "some questions and fails on the rest.",
    examples=[
        Example("Six questions, eight samples each", TEXT, options={"k": 4, "tau": 0.5}),
        model_example("A small model, 94 questions", WARM, k=16, tau=0.5),
        model_example("The same model at temperatures 0.2 and 0.8", COOL, WARM, k=8, tau=0.5),
    ],
    controls=[
        NumberField("k", "k", "drawn from the n samples of a question", 4, 1, 512, 1),
        NumberField("tau", "τ", "share of them that must be correct, 0 to 1", 0.5, 0, 1, 0.05),
        WHICH_QUESTIONS,
        CONFIDENCE,
    ],
    compute_calls=compute_calls,
    clause=clause,
    main_scores=main_scores,
    charts=charts,
    compared_by_k="pass@k",
)

if __name__ == "__main__":  # worker processes only import this file
    SPACE.serve()
