"""The Space of G-Pass@k: how often some, most or all of k samples are right."""

from __future__ import annotations

import math

from page.pictures import curves, draws, share, strip
from page.space import Bank, Call, Example, Options, Picture, Slider, Space, draws_up_to, percent

ABOUT = r"""
A model is sampled $n$ times on each question, and $c$ of the samples are right. Now draw $k$ of
them. **G-Pass@k** is the probability that at least a share $\tau$ of the $k$ is right, which means
$m = \max(1, \lceil \tau k \rceil)$ of them, averaged over the questions:

$$
\text{G-Pass@}k_\tau = \mathbb{E} \sum_{j = m}^{k}
\binom{c}{j} \binom{n - c}{k - j} \Big/ \binom{n}{k}
$$

- With a small $\tau$ it is **pass@k**: one of $k$ is right. What the model *can* do.
- With $\tau = 1$ it is **pass^k**: all of $k$ are right. What it does *every time*.
- **mG-Pass@k** averages over what lies between a half and all.

Each is the mean over *all* ways to draw $k$ of the $n$, so there is no luck in it, and no bias. The
bands say where *new* samples of the same questions would put it: they get narrower with more
samples, and with more questions.

G-Pass@k: [Liu et al. 2024](https://arxiv.org/abs/2412.13147). pass@k:
[Chen et al. 2021](https://arxiv.org/abs/2107.03374). pass^k:
[Yao et al. 2024](https://arxiv.org/abs/2406.12045).
"""

TABLE = [
    ["56", "56", "56", "56", "56", "56", "56", "56", "56"],
    ["81", "81", "81", "81", "81", "18", "81", "81", "81"],
    ["12", "12", "12", "13", "12", "12", "13", "12", "12"],
    ["105", "105", "95", "105", "115", "105", "105", "95", "95"],
    ["64", "32", "46", "64", "46", "32", "46", "46", "64"],
    ["119", "109", "109", "107", "119", "129", "107", "109", "109"],
]


def compared(k: int) -> list[int]:
    """k, and up to three powers of two below it."""
    return [*[2**i for i in range(1, k.bit_length()) if 2**i < k][-3:], k]


def calls(options: Options, least: int) -> dict[str, Call]:
    ks, tau = compared(options["k"]), options["tau"]
    steps = sorted({i / k for k in ks for i in range(1, k + 1)})
    sure = {"confidence": options["confidence"], "interval": "auto"}
    every = ["pass@k", "G-Pass@k", "mG-Pass@k", "pass^k"]
    both = ["pass@k", "pass^k"]
    drawn = sorted({*draws_up_to(least), options["k"]})
    curve = {"k": drawn, "include": both, **sure, "return_per_question": True}
    return {
        "scores": Call({"k": ks, "thresholds": [tau], "include": every, **sure}),
        "by_threshold": Call({"k": ks, "thresholds": steps, "include": ["G-Pass@k"], **sure}),
        "by_k": Call(curve),
    }


def sentence(banks: list[Bank], options: Options) -> str:
    k, tau = options["k"], options["tau"]
    needed = max(1, math.ceil(tau * k - 1e-9))
    figures = [
        [percent(bank.scores()[key]) for key in (f"pass@{k}", f"G-Pass@{k}_{tau}", f"pass^{k}")]
        for bank in banks
    ]
    some, enough, every = (" against ".join(each) for each in zip(*figures, strict=True))
    start = f"{banks[0].label} against {banks[1].label}: " if len(banks) > 1 else ""
    if k == 1:
        told = f"a sample is right {some} of the time."
    elif needed in (1, k):
        told = (
            f"of {k} samples of a question, at least one is right {some} of the time, and all {k} "
            f"are right {every} of the time."
        )
    else:
        told = (
            f"of {k} samples of a question, at least one is right {some} of the time, at least "
            f"{needed} are right {enough} of the time, and all {k} are right {every} of the time."
        )
    return start + told if start else told[0].upper() + told[1:]


TOLD = [("score", "score", ".4f"), ("lo", "from", ".4f"), ("hi", "to", ".4f"), ("bank", "of", "")]


def by_threshold(banks: list[Bank], options: Options) -> Picture:
    rows, marked, tau = [], [], options["tau"]
    for bank in banks:
        for k in compared(options["k"])[-1 if len(banks) > 1 else -4 :]:
            line = {"line": f"k = {k}"}
            marked.append(bank.row("scores", f"G-Pass@{k}_{tau}", tau=tau, **line))
            rows.append(bank.row("by_threshold", f"G-Pass@{k}_{1 / k}", tau=0.0, **line))
            for i in range(1, k + 1):
                key = f"G-Pass@{k}_{i / k}"
                rows.append(bank.row("by_threshold", key, tau=i / k, **line))
    return Picture(
        "G-Pass@k: the more of the k have to be right, the fewer questions pass",
        "Left is what the model can do, right what it does every time. The dashed line is your τ, "
        "the bands are where new samples of these questions would put the lines.",
        curves(
            rows,
            share("tau", "τ, the share of the k draws that has to be right"),
            share("score"),
            colour="bank" if len(banks) > 1 else "line",
            interpolate="step-before",
            marked=marked,
            tooltip=[("line", "draws", ""), ("tau", "share", ".3f"), *TOLD],
        ),
    )


def by_k(banks: list[Bank], options: Options) -> Picture:
    titles = {"pass@": "pass@k: at least one", "pass^": "pass^k: all of them"}
    rows = [
        bank.row("by_k", key, k=int(key[5:]), line=titles[key[:5]])
        for bank in banks
        for key in bank.scores("by_k")
        if key[:5] in titles and key[5:].isdigit()
    ]
    return Picture(
        "pass@k climbs with every try, pass^k falls",
        "At k = 1 they are one number. How far they part is what one number cannot tell.",
        curves(
            rows,
            draws("k", max(each["k"] for each in rows)),
            share("score"),
            colour="bank" if len(banks) > 1 else "line",
            dash="line",
            marked=[each for each in rows if each["k"] == options["k"]],
            tooltip=[("line", "score of", ""), ("k", "k", "d"), *TOLD],
        ),
    )


def by_question(banks: list[Bank], options: Options) -> Picture:
    rates = {bank.label: bank.scores("by_k")["per_question"]["pass@1"] for bank in banks}
    return Picture(
        "Every question, from the hardest to the easiest",
        "One cell a question. A model that knows some things by heart is dark on the left and "
        "bright on the right; one that guesses is of one colour.",
        strip(rates, "samples that are right"),
    )


SPACE = Space(
    metric="gpassk",
    title="G-Pass@k",
    lead="How often are some, most or all of k samples right? One model may know a little of "
    "everything, another everything of a little: a single accuracy cannot tell them apart.",
    about=ABOUT,
    headers=["reference"],
    examples=[
        Example("Six questions, eight samples each", TABLE, options={"k": 4, "tau": 0.5}),
        Example(
            "A small model, 94 questions",
            files=("smollm2_warm.jsonl",),
            judge="numeric",
            options={"k": 16, "tau": 0.5},
        ),
        Example(
            "The same model, cool against warm",
            files=("smollm2_cool.jsonl", "smollm2_warm.jsonl"),
            judge="numeric",
            options={"k": 8, "tau": 0.5},
        ),
    ],
    controls=[
        Slider("k", "k", "how many samples are drawn", 1, 512, 1, 4, of_samples=True),
        Slider("tau", "τ", "the share of them that has to be right", 0, 1, 0.05, 0.5),
        Slider("confidence", "Confidence", "of the bands", 0.5, 0.99, 0.01, 0.95),
    ],
    calls=calls,
    sentence=sentence,
    pictures=(by_threshold, by_k, by_question),
)

if __name__ == "__main__":
    # Worker processes import this file too, and need no page.
    from page.interface import serve

    serve(SPACE)
