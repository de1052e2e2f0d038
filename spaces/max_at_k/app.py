"""The Space of Max@k: how good the best of k samples is."""

from __future__ import annotations

from typing import Any

from page.pictures import curves, draws, quantity, strip
from page.space import (
    Bank,
    Call,
    Example,
    Line,
    Options,
    Picture,
    Slider,
    Space,
    draws_up_to,
    figure,
    numbers,
)

ABOUT = r"""
Each sample of a question has a reward: a test score, a judge's mark, or just 0 and 1. Draw $k$ of
the $n$ samples and keep the best one, as best-of-k sampling with a perfect judge does. **Max@k**
is the expected reward of that best one. With the rewards in order, $r_{(1)} \le \dots \le r_{(n)}$,

$$
\text{Max@}k = \mathbb{E} \sum_{i = k}^{n} r_{(i)} \binom{i - 1}{k - 1} \Big/ \binom{n}{k},
$$

averaged over the questions: the mean over *all* ways to draw $k$ of the $n$, so it is unbiased.
With rewards of 0 and 1 it is pass@k. Where it goes on climbing, more tries pay; where it is flat,
they are wasted. The band says where new samples of the same questions would put the curve.

[Bagirov et al. 2025](https://arxiv.org/abs/2510.23393),
[Walder and Karkhanis 2025](https://arxiv.org/abs/2505.15201).
"""

TABLE = [
    ["", "0.9", "0.85", "0.9", "0.8", "0.95", "0.9", "0.85", "0.9"],
    ["", "0.2", "0.1", "0.9", "0.2", "0.15", "0.1", "0.2", "0.3"],
    ["", "0.5", "0.6", "0.4", "0.55", "0.7", "0.5", "0.45", "0.6"],
    ["", "0", "0", "0", "0.1", "0", "0", "0.8", "0"],
    ["", "0.3", "0.35", "0.3", "0.25", "0.3", "0.4", "0.3", "0.35"],
]

GRADES = [
    ["", "2", "1", "2", "2", "0", "1"],
    ["", "0", "1", "0", "0", "2", "0"],
    ["", "1", "1", "1", "1", "1", "1"],
    ["", "0", "0", "1", "0", "0", "0"],
]


def calls(options: Options, least: int) -> dict[str, Call]:
    chosen: dict[str, Any] = {} if options["w"] is None else {"w": options["w"]}
    chosen |= {"confidence": options["confidence"], "interval": "auto"}
    drawn = sorted({*draws_up_to(least), options["k"]})
    curve = {"k": drawn, **chosen, "return_per_question": True}
    return {"scores": Call({"k": sorted({1, options["k"]}), **chosen}), "by_k": Call(curve)}


def sentence(banks: list[Bank], options: Options) -> str:
    k = options["k"]
    told = []
    for bank in banks:
        one, best = (figure(bank.scores()[key]) for key in ("max@1", f"max@{k}"))
        told.append(f"a sample is worth {one} on average, the best of {k} is worth {best}")
    if len(banks) == 1:
        return f"Of a question's samples, {told[0]}."
    return " ".join(f"{bank.label}: {each}." for bank, each in zip(banks, told, strict=True))


def by_k(banks: list[Bank], options: Options) -> Picture:
    rows = [
        bank.row("by_k", key, k=int(key[4:]))
        for bank in banks
        for key in bank.scores("by_k")
        if key.startswith("max@") and key[4:].isdigit()
    ]
    told = [("k", "k", "d"), ("score", "reward", ".4f"), ("bank", "of", "")]
    return Picture(
        "Max@k: the best of k",
        "At k = 1 it is the average. Where the curve is flat, more tries are wasted. The band is "
        "where new samples of these questions would put it.",
        curves(
            rows,
            draws("k", max(row["k"] for row in rows)),
            quantity("score", None, nice=True, zero=False),
            colour="bank",
            marked=[row for row in rows if row["k"] == options["k"]],
            tooltip=told,
        ),
    )


def by_question(banks: list[Bank], options: Options) -> Picture:
    each = {
        bank.label: bank.scores("by_k")["per_question"][f"max@{options['k']}"] for bank in banks
    }
    least = min(map(min, each.values()))
    span = (max(map(max, each.values())) - least) or 1.0
    rates = {label: [(value - least) / span for value in values] for label, values in each.items()}
    return Picture(
        f"Every question by its Max@{options['k']}, from the lowest to the highest",
        "One cell a question.",
        strip(rates, f"from {figure(least)} to {figure(least + span)}"),
    )


SPACE = Space(
    metric="max_at_k",
    title="Max@k",
    lead="How good is the best of k samples? What best-of-k sampling can gain, from rewards that "
    "are real numbers, categories, or just wrong and right.",
    about=ABOUT,
    headers=["reference"],
    examples=[
        Example("Five questions with test scores", TABLE, options={"k": 4}),
        Example("Grades 0, 1 and 2", GRADES, options={"k": 3, "w": "0, 0.5, 1"}),
        Example(
            "A small model, cool against warm",
            files=("smollm2_cool.jsonl", "smollm2_warm.jsonl"),
            judge="numeric",
            options={"k": 8},
        ),
    ],
    controls=[
        Slider("k", "k", "how many samples are drawn", 1, 512, 1, 4, of_samples=True),
        Line("w", "Rewards", "of the categories 0, 1, ..; empty: 0, 1, or as given", numbers),
        Slider("confidence", "Confidence", "of the band", 0.5, 0.99, 0.01, 0.95),
    ],
    calls=calls,
    sentence=sentence,
    pictures=(by_k, by_question),
)

if __name__ == "__main__":
    # Worker processes import this file too, and need no page.
    from page.interface import serve

    serve(SPACE)
