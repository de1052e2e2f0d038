"""Describe the Space of Bayes@N: the expected reward of a sample, with a credible interval."""

import sys
from collections.abc import Sequence
from dataclasses import replace

sys.path.append(f"{sys.path[0]}/..")  # in a clone, the package `page` is beside this folder
from page.controls import CONFIDENCE, WHICH_QUESTIONS, TextField, parse_numbers, parse_words
from page.describing import COOL, WARM, model_example
from page.space import Call, Chart, Example, Options, Run, Show, Space

POSTERIOR = "posterior"
WHICH_LIMITS = {
    **WHICH_QUESTIONS.choices,
    POSTERIOR: "the same questions, under a uniform prior",
}

TEXT = """\
group,reference,1,2,3,4,5,6
sums,56,56,56,56,56,56,56
sums,81,81,81,18,81,81,81
sums,23,23,23,23,23,22,23
products,105,105,95,105,115,105,95
products,64,32,46,64,46,64,46
products,119,109,119,107,109,119,129
fractions,3/4,1/4,3/4,1/2,3/8,3/8,1/2
fractions,5/6,2/5,2/5,1/6,2/5,5/5,2/5
"""

GRADED = """\
question,1,2,3,4
q1,A,A,B,A
q2,B,C,B,A
q3,C,C,B,C
"""


def compute_calls(options: Options, smallest_n: int) -> dict[str, Call]:
    """Return the calls of `compute`, which do not depend on the numbers of samples."""
    rewards = {"w": options["w"], "categories": options["categories"]}
    return {"scores": Call({**rewards, "return_per_question": True})}


def main_scores(run: Run, options: Options) -> list[str]:
    """Return the key of avg@N. If limits are under a uniform prior, put that of Bayes@N first."""
    keys = [run.estimate_of(metric).key for metric in ("avg@N", "bayes@N")]
    return keys[::-1] if options["interval"] == POSTERIOR else keys[:1]


def clause(run: Run, options: Options, show: Show) -> str:
    """Return the mean reward of a sample in words, and Bayes@N if it differs."""
    bayes, mean = (show(run.estimate_of(metric).score) for metric in ("bayes@N", "avg@N"))
    noun = "probability that a sample is correct" if run.is_binary else "mean reward of a sample"
    words = f"the {noun} is {mean}"
    if bayes != mean:
        words += f"; under a uniform prior, the estimate for a new sample is {bayes}"
    return words


def charts(runs: Sequence[Run], options: Options) -> list[Chart | None]:
    """Return a chart of scores by group, or None without groups, and one of Bayes@N by question."""
    key = {"key": runs[0].estimate_of("bayes@N").key}
    is_one = len(runs) == 1
    by_group = Chart(
        "Bayes@N and avg@N by group" if is_one else "Bayes@N by group",
        "With fewer samples, the limits are wider and Bayes@N is nearer to the mean of its prior.",
        function="by_group",
        call="scores",
        arguments={} if is_one else key,  # {} for all scores
    )
    by_question = Chart(
        "Bayes@N per question",
        "The expected reward of a new sample of each question.",
        function="by_question",
        call="scores",
        arguments=key,
    )
    return [by_group if "groups" in runs[0].samples else None, by_question]


SPACE = Space(
    metric="bayes_at_n",
    summary="The expected reward of a new sample, or the probability that it is correct: the mean "
    "of the samples, and the estimate under a uniform prior for few samples per question.",
    examples=[
        Example("Three subjects, six samples each", TEXT),
        model_example("A small model by topic", COOL, group="topic"),
        model_example("The same model at temperatures 0.2 and 0.8", COOL, WARM, group="topic"),
        Example("Letter grades", GRADED, options={"categories": "C, B, A", "w": "0, 0.5, 1"}),
    ],
    controls=[
        replace(WHICH_QUESTIONS, choices=WHICH_LIMITS),
        CONFIDENCE,
        TextField(
            "w",
            "Rewards",
            "of the categories 0, 1, ..; empty if samples are correct or not, or are rewards",
            "",
            parse_numbers,
        ),
        TextField(
            "categories",
            "Categories",
            "in the order of the rewards, if the samples are labels",
            "",
            parse_words,
        ),
        TextField("group", "Group column", "of a file, such as topic", "", str),
    ],
    compute_calls=compute_calls,
    clause=clause,
    main_scores=main_scores,
    charts=charts,
)

if __name__ == "__main__":  # worker processes only import this file
    SPACE.serve()
