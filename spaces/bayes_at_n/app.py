"""The Space of Bayes@N: an average with an error bar that holds, also from few samples."""

from __future__ import annotations

from page.pictures import intervals, quantity, share, strip
from page.space import (
    Bank,
    Call,
    Example,
    Line,
    Options,
    Picture,
    Slider,
    Space,
    figure,
    numbers,
    word,
    words,
)

ABOUT = r"""
Each question was sampled $N$ times, and each sample fell in a category: wrong or right, or one of
more, with rewards $w_0, \dots, w_C$. **avg@N** is the plain average of the rewards. **Bayes@N** is
what to expect of the next sample, if all mixtures of the categories were equally likely before the
first: each category starts with one sample that nobody saw. With $n_c$ samples in category $c$,

$$
\text{Bayes@}N = \mathbb{E} \, \frac{\sum_c w_c \, (n_c + 1)}{N + C + 1},
$$

averaged over the questions, with the exact variance of the posterior. So three wrong answers of
three are not taken for a proof that the fourth is wrong, and the interval says how far apart two
models have to be. Ranks by avg@N and by Bayes@N are the same where $N$ is the same everywhere.

[Hariri et al. 2026, *Don't Pass@k*](https://arxiv.org/abs/2510.04265).
"""

TABLE = [
    ["sums", "56", "56", "56", "56", "56", "56", "56"],
    ["sums", "81", "81", "81", "18", "81", "81", "81"],
    ["sums", "23", "23", "23", "23", "23", "22", "23"],
    ["products", "105", "105", "95", "105", "115", "105", "95"],
    ["products", "64", "32", "46", "64", "46", "64", "46"],
    ["products", "119", "109", "119", "107", "109", "119", "129"],
    ["fractions", "3/4", "1/4", "3/4", "1/2", "3/8", "3/8", "1/2"],
    ["fractions", "5/6", "2/5", "2/5", "1/6", "2/5", "5/5", "2/5"],
]

GRADED = [
    ["", "", "right", "right", "close", "right"],
    ["", "", "close", "wrong", "close", "right"],
    ["", "", "wrong", "wrong", "close", "wrong"],
]


def calls(options: Options, least: int) -> dict[str, Call]:
    chosen = {name: options[name] for name in ("w", "categories") if options[name] is not None}
    ends = [min(_rewards(options)), max(_rewards(options))]
    sure = {"confidence": options["confidence"], "bounds": ends, "return_per_question": True}
    return {"scores": Call(chosen | sure)}


def _rewards(options: Options) -> list[float]:
    return options["w"] or [0.0, 1.0]


def in_share(options: Options) -> bool:
    """Whether rewards are a share, of samples that are right."""
    return options["w"] in (None, [0.0, 1.0])


def sentence(banks: list[Bank], options: Options) -> str:
    told = []
    for bank in banks:
        scores, bayes, avg = bank.scores(), bank.key("bayes@"), bank.key("avg@")
        mean, lo, hi, plain = (
            figure(scores[key], in_share(options))
            for key in (bayes, f"{bayes}_lo", f"{bayes}_hi", avg)
        )
        told.append(f"{mean}, between {lo} and {hi}, where the plain average says {plain}")
    kind = "of new samples are right" if in_share(options) else "is what a new sample is worth"
    sure = f"with {figure(options['confidence'], True)} probability"
    if len(banks) == 1:
        mean, rest = told[0].split(", ", 1)
        return f"Expect that {mean} {kind}; {sure} it is {rest}."
    apart = " ".join(f"{bank.label}: {each}." for bank, each in zip(banks, told, strict=True))
    ends = [
        (b.scores()[f"{b.key('bayes@')}_lo"], b.scores()[f"{b.key('bayes@')}_hi"]) for b in banks
    ]
    overlap = max(lo for lo, _ in ends) <= min(hi for _, hi in ends)
    return f"{apart} The intervals {'overlap' if overlap else 'do not overlap'}."


def by_group(banks: list[Bank], options: Options) -> Picture:
    rows = []
    for bank in banks:
        scores, bayes, avg = bank.scores(), bank.key("bayes@"), bank.key("avg@")
        for start, group in [("", "all questions"), *((f"{g}/", g) for g in bank.groups())]:
            row = bank.row("scores", start + bayes, group=group)
            rows.append(row | {"mean": row["score"], "point": scores[start + avg]})
    worth = _rewards(options)
    ends = {"domain": [min(worth), max(worth)]} if min(worth) < max(worth) else {}
    x = share("mean") if in_share(options) else quantity("mean", "reward", **ends)
    return Picture(
        "Bayes@N with its interval, beside avg@N",
        "Dot and line are Bayes@N and its interval, the upright mark is avg@N. The fewer samples, "
        "the further the dot is from the mark, and the longer the line.",
        intervals(rows, x, "group", "bank"),
    )


def by_question(banks: list[Bank], options: Options) -> Picture:
    worth = _rewards(options)
    least, span = min(worth), (max(worth) - min(worth)) or 1.0
    rates = {
        bank.label: [
            (value - least) / span for value in bank.scores()["per_question"][bank.key("bayes@")]
        ]
        for bank in banks
    }
    return Picture(
        "Every question, from the hardest to the easiest",
        "One cell a question: what to expect of its next sample.",
        strip(rates, "share of the highest reward"),
    )


SPACE = Space(
    metric="bayes_at_n",
    title="Bayes@N",
    lead="How good is the model, and how sure can one be of that? An average with an error bar, "
    "also from a few samples of each question.",
    about=ABOUT,
    headers=["group", "reference"],
    examples=[
        Example("Three subjects, six samples each", TABLE),
        Example(
            "A small model by topic",
            files=("smollm2_cool.jsonl",),
            judge="numeric",
            options={"group": "topic"},
        ),
        Example(
            "The same model, cool against warm",
            files=("smollm2_cool.jsonl", "smollm2_warm.jsonl"),
            judge="numeric",
            options={"group": "topic"},
        ),
        Example(
            "Wrong, close or right",
            GRADED,
            options={"categories": "wrong, close, right", "w": "0, 0.5, 1"},
        ),
    ],
    controls=[
        Slider("confidence", "Confidence", "of the intervals", 0.5, 0.99, 0.01, 0.95),
        Line("w", "Rewards", "of the categories 0, 1, ..; empty: 0, 1", numbers),
        Line("categories", "Categories", "labels in the order of the rewards, if any", words),
        Line("group", "Column of the groups", "of a file, such as topic", word),
    ],
    calls=calls,
    sentence=sentence,
    pictures=(by_group, by_question),
)

if __name__ == "__main__":
    # Worker processes import this file too, and need no page.
    from page.interface import serve

    serve(SPACE)
