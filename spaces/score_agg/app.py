"""The Space of score_agg: many verdicts folded into one score, as strictly as one likes."""

from __future__ import annotations

from page.pictures import COLOURS, curves, quantity, strip
from page.space import Bank, Call, Example, Options, Picture, Scores, Slider, Space, figure

ABOUT = r"""
A judge looks at an answer statement by statement, and says of each how well it holds: *fully* (1),
*mostly* (0.9), *partial* (0.7), *minor* (0.3) or *none* (0). One number has to come out. The plain
average forgives a single hallucination, the minimum forgives nothing. **score_agg** is the power
mean between them,

$$
M_p = \Big( \frac{1}{n} \sum_{i=1}^{n} x_i^p \Big)^{1/p},
$$

with the power $p$ set by a *temperature*: 0.1 is strict ($p = -8$, close to the minimum), 0.5 is
the average ($p = 1$), and 1 is lenient ($p = 12.25$, close to the maximum). Each verdict of *none*
costs a penalty on top: the score is multiplied by
$\max(0, 1 - \text{penalty} \times \text{zeros})$.

Use a strict temperature where one wrong statement is dangerous, as in medicine or law; a lenient
one where a good idea makes up for bad ones.
"""

TABLE = [
    ["fully", "fully", "mostly", "fully", "partial"],
    ["fully", "mostly", "partial", "minor", "mostly"],
    ["fully", "fully", "fully", "fully", "none"],
    ["partial", "minor", "minor", "partial", "minor"],
]

SWEEP = [round(0.1 + 0.025 * step, 3) for step in range(37)]


def calls(options: Options, least: int) -> dict[str, Call]:
    each = {"penalty": options["penalty"], "return_per_question": True}
    return {
        "scores": Call({"temperature": options["temperature"], **each}),
        "by_temperature": Call(each, over=("temperature", SWEEP)),
    }


def sentence(banks: list[Bank], options: Options) -> str:
    told = []
    for bank in banks:
        swept = bank.results["by_temperature"]
        score, strict, lenient = (
            figure(scores["score_agg"]) for scores in (bank.scores(), swept[0], swept[-1])
        )
        told.append(
            f"at temperature {options['temperature']} the answers score {score}, between {strict} "
            f"at the strictest and {lenient} at the most lenient"
        )
    if len(banks) == 1:
        return f"{told[0][0].upper()}{told[0][1:]}."
    return " ".join(f"{bank.label}: {each}." for bank, each in zip(banks, told, strict=True))


def lines(bank: Bank) -> list[str]:
    """The lines of a bank alone: their mean, and each answer where they are few."""
    answers = len(bank.sizes)
    return ["mean", *(f"answer {i}" for i in range(1, answers + 1) if 1 < answers < len(COLOURS))]


def at(scores: Scores, line: str) -> float:
    if line == "mean":
        return scores["score_agg"]
    return scores["per_question"]["score_agg"][int(line.removeprefix("answer ")) - 1]


def by_temperature(banks: list[Bank], options: Options) -> Picture:
    swept, marked = [], []
    for bank in banks:
        for line in lines(bank) if len(banks) == 1 else ["mean"]:
            columns = {"bank": bank.label, "line": line}
            chosen = {"temperature": options["temperature"], "score": at(bank.scores(), line)}
            marked.append(columns | chosen)
            for temperature, scores in zip(SWEEP, bank.results["by_temperature"], strict=True):
                swept.append(columns | {"temperature": temperature, "score": at(scores, line)})
    return Picture(
        "The score against the temperature",
        "Left a single bad verdict ruins an answer, right a single good one saves it. The dashed "
        "line is your temperature.",
        curves(
            swept,
            quantity(
                "temperature",
                "temperature, from strict to lenient",
                [0.1, 0.3, 0.5, 0.7, 0.9, 1.0],
                domain=[0.1, 1.0],
            ),
            quantity("score", None, domain=[0, 1]),
            colour="line" if len(banks) == 1 else "bank",
            marked=marked,
            tooltip=[
                ("line", "of", ""),
                ("temperature", "temperature", ".2f"),
                ("score", "score", ".4f"),
            ],
        ),
    )


def by_answer(banks: list[Bank], options: Options) -> Picture:
    rates = {bank.label: bank.scores()["per_question"]["score_agg"] for bank in banks}
    return Picture(
        "Every answer, from the worst to the best",
        "One cell an answer, at your temperature.",
        strip(rates, "score"),
    )


SPACE = Space(
    metric="score_agg",
    title="score_agg",
    lead="Many verdicts on the statements of an answer, folded into one score, as strictly as the "
    "use asks for: from close to the worst verdict to close to the best.",
    about=ABOUT,
    headers=[],
    examples=[
        Example("Four answers of five statements", TABLE),
        Example("One hallucination", [TABLE[2]], options={"temperature": 0.1}),
        Example("Verdicts as numbers", [["1", "0.9", "0.7", "0.3", "0.0"]]),
    ],
    controls=[
        Slider("temperature", "Temperature", "0.1 strict, 1 lenient", 0.1, 1.0, 0.05, 0.5),
        Slider("penalty", "Penalty", "for each verdict of none", 0.0, 1.0, 0.05, 0.1),
    ],
    calls=calls,
    sentence=sentence,
    pictures=(by_temperature, by_answer),
    row="answer",
    cell="statement",
    judged=False,
)

if __name__ == "__main__":
    # Worker processes import this file too, and need no page.
    from page.interface import serve

    serve(SPACE)
