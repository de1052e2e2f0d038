"""The Space of cons@k: what a majority of k samples says."""

from __future__ import annotations

from page.pictures import curves, draws, share, strip
from page.space import (
    Bank,
    Call,
    Example,
    Options,
    Picture,
    Slider,
    Space,
    draws_up_to,
    percent,
)

ABOUT = r"""
Ask $k$ times and let the answers vote. How often is the vote right? There are two ways to count,
which are often taken for one:

- **maj@k**: more than half of $k$ drawn samples are right. It needs verdicts only, and is the mean
  over *all* ways to draw $k$ of the $n$ samples.
- **vote@k**: the *most frequent answer* among the $k$ is right, ties shared. A right answer can win
  with much less than half of the votes, where the wrong ones disagree: so vote@k needs the answers
  themselves, and a judge that reads them.
- **cons@k** is the rule of some harnesses: more than $k/2$ right among *all* $n$ samples. It is
  biased unless $k = n$.

Voting helps on questions where the right answer is the likeliest, and hurts on all the others:
hence a curve that climbs above **avg@n** or sinks below it.

Self-consistency: [Wang et al. 2022](https://arxiv.org/abs/2203.11171).
"""

TABLE = [
    ["56", "56", "56", "56", "54", "56", "56", "56", "56"],
    ["81", "81", "18", "81", "81", "71", "81", "91", "81"],
    ["12", "12", "13", "14", "12", "15", "12", "11", "16"],
    ["105", "95", "105", "95", "115", "95", "105", "95", "95"],
    ["64", "64", "32", "46", "64", "48", "60", "64", "66"],
    ["119", "109", "109", "119", "109", "107", "109", "119", "129"],
]

LINES = {"vote@": "vote@k: the most frequent", "maj@": "maj@k: more than half", "avg@": "avg@n"}


def calls(options: Options, least: int) -> dict[str, Call]:
    drawn = sorted({*draws_up_to(least, 16), options["k"]})
    sure = {"confidence": options["confidence"], "interval": "auto"}
    return {
        "scores": Call({"k": options["k"], **sure}),
        "by_k": Call({"k": drawn, **sure, "return_per_question": True}),
    }


def sentence(banks: list[Bank], options: Options) -> str:
    k, told = options["k"], []
    for bank in banks:
        scores = bank.scores()
        single = percent(scores[bank.key("avg@")])
        half = percent(scores[f"maj@{k}"])
        voted = ""
        if f"vote@{k}" in scores:  # which needs answers
            voted = f"a vote of {k} is right {percent(scores[f'vote@{k}'])} of the time and "
        told.append(
            f"a single sample is right {single} of the time, {voted}more than half of {k} are "
            f"right {half} of the time"
        )
    if len(banks) == 1:
        return f"{told[0][0].upper()}{told[0][1:]}."
    return " ".join(f"{bank.label}: {each}." for bank, each in zip(banks, told, strict=True))


def by_k(banks: list[Bank], options: Options) -> Picture:
    rows = []
    for bank in banks:
        drawn = [int(key[4:]) for key in bank.scores("by_k") if _is_maj(key)]
        for start, line in LINES.items():
            for k in drawn:
                key = bank.key("avg@", "by_k") if start == "avg@" else f"{start}{k}"
                if key in bank.scores("by_k"):
                    row = bank.row("by_k", key, k=k, line=line)
                    if start == "avg@":  # whose band would cover the others
                        row = {name: row[name] for name in ("bank", "score", "k", "line")}
                    rows.append(row)
    return Picture(
        "What a vote of k says, beside a single sample",
        "Where the vote is above the flat line, asking more often helps. Ties make maj@k lower at "
        "even k. The bands are where new samples would put it.",
        curves(
            rows,
            draws("k", max(row["k"] for row in rows)),
            share("score"),
            colour="bank" if len(banks) > 1 else "line",
            dash="line",
            interpolate="linear",
            marked=[row for row in rows if row["k"] == options["k"]],
            tooltip=[
                ("line", "score", ""),
                ("k", "k", "d"),
                ("score", "is", ".4f"),
                ("bank", "of", ""),
            ],
        ),
    )


def _is_maj(key: str) -> bool:
    return key.startswith("maj@") and key[4:].isdigit()


def by_question(banks: list[Bank], options: Options) -> Picture:
    rates = {}
    for bank in banks:
        each = bank.scores("by_k")["per_question"]
        rates[bank.label] = each[bank.key("avg@", "by_k")]
    return Picture(
        "Every question, from the hardest to the easiest",
        "One cell a question. A vote pushes what is above the middle up, and the rest down.",
        strip(rates, "samples that are right"),
    )


SPACE = Space(
    metric="cons_at_k",
    title="cons@k",
    lead="What does a majority of k samples say, and is it right? Voting lifts a model that is "
    "right more often than it is wrong in any one way, and sinks it where a mistake is popular.",
    about=ABOUT,
    headers=["reference"],
    examples=[
        Example("Six questions, eight answers each", TABLE, options={"k": 5}),
        Example(
            "A small model, 94 questions",
            files=("smollm2_warm.jsonl",),
            judge="numeric",
            options={"k": 16},
        ),
        Example(
            "The same model, cool against warm",
            files=("smollm2_cool.jsonl", "smollm2_warm.jsonl"),
            judge="numeric",
            options={"k": 16},
        ),
    ],
    controls=[
        Slider("k", "k", "how many samples vote", 1, 512, 1, 5, of_samples=True),
        Slider("confidence", "Confidence", "of the bands", 0.5, 0.99, 0.01, 0.95),
    ],
    calls=calls,
    sentence=sentence,
    pictures=(by_k, by_question),
)

if __name__ == "__main__":
    # Worker processes import this file too, and need no page.
    from page.interface import serve

    serve(SPACE)
