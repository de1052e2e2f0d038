"""Describe the Space of score_agg, which aggregates verdicts on statements into one score."""

import sys
from collections.abc import Sequence

sys.path.append(f"{sys.path[0]}/..")  # in a clone, the package `page` is beside this folder
from page.controls import CONFIDENCE, NumberField
from page.describing import Scope
from page.space import Call, Chart, Example, Options, Run, Show, Space

TEXT = """\
id,1,2,3,4,5
a,fully,fully,mostly,fully,partial
b,fully,mostly,partial,minor,mostly
c,fully,fully,fully,fully,none
d,partial,minor,minor,partial,minor
"""

TEMPERATURES = [round(0.1 + 0.025 * step, 3) for step in range(37)]


def compute_calls(options: Options, smallest_n: int) -> dict[str, Call]:
    """Return the calls of `compute`, which do not depend on the numbers of samples."""
    common = {"penalty": options["penalty"], "return_per_question": True}
    return {
        "scores": Call({"temperature": options["temperature"], **common}),
        "by_temperature": Call(common, sweep=("temperature", TEMPERATURES)),
    }


def main_scores(run: Run, options: Options) -> list[str]:
    """Return the key of the only score."""
    return ["score_agg"]


def clause(run: Run, options: Options, show: Show) -> str:
    """Return the score in words, with those at the lowest and the highest temperature."""
    sweep = [*run.results["by_temperature"].values()]
    score, strictest, most_lenient = (
        show(scores["score_agg"]) for scores in (run.scores(), sweep[0], sweep[-1])
    )
    return (
        f"at temperature {options['temperature']} the mean score is {score}, between {strictest} "
        f"at the lowest and {most_lenient} at the highest temperature"
    )


def charts(runs: Sequence[Run], options: Options) -> list[Chart | None]:
    """Return the charts of the score by temperature, and by item."""
    scope = Scope([run.sample_counts for run in runs], None, *SPACE.nouns)
    caption = {"caption": f"{scope.in_words()}."}  # in place of one about questions
    limits = ""
    if all(run.estimate_of("score_agg").limits is not None for run in runs):
        limits = f" Bands: {100 * options['confidence']:g} % limits for other items like these."
    return [
        Chart(
            "Score by temperature",
            "At a low temperature a single low verdict lowers the score of an item, at a high "
            f"temperature a single high verdict raises it.{limits} Dashed line: the selected "
            "temperature.",
            function="by_parameter",
            call="by_temperature",
            arguments={
                "key": "score_agg",
                "parameter": "temperature, from strict to lenient",
                "highlight": options["temperature"],
                **caption,
            },
        ),
        Chart(
            "Score per item",
            "The score of each item at the selected temperature.",
            function="by_question",
            call="scores",
            arguments={"key": "score_agg", "noun": SPACE.nouns[0], **caption},
        ),
    ]


SPACE = Space(
    metric="score_agg",
    summary="Aggregates graded verdicts on the statements of an answer into one score. A "
    "temperature sets how strict the score is: close to the lowest verdict, or to the highest.",
    examples=[
        Example("Four items, five verdicts each", TEXT),
        Example(
            "One unsupported statement",
            "fully fully fully fully none",
            options={"temperature": 0.1},
        ),
        Example("Verdicts as numbers", "1 0.9 0.7 0.3 0.0"),
    ],
    controls=[
        NumberField(
            "temperature", "Temperature", "strict to lenient, 0.1 to 1", 0.5, 0.1, 1.0, 0.05
        ),
        NumberField("penalty", "Penalty", "for each verdict of none, 0 to 1", 0.1, 0.0, 1.0, 0.05),
        CONFIDENCE,
    ],
    compute_calls=compute_calls,
    clause=clause,
    main_scores=main_scores,
    charts=charts,
)

if __name__ == "__main__":  # worker processes only import this file
    SPACE.serve()
