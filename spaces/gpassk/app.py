"""The Space of G-Pass@k: how often at least one, most or all of k samples are correct.

The threshold tau is the share of the k samples that must be correct.
"""

from collections.abc import Sequence
from typing import Any

from page.controls import CONFIDENCE, WHICH_QUESTIONS, NumberField
from page.describing import COOL, WARM, curve_ks, model_example, percent, required_samples
from page.space import Call, Chart, Estimate, Example, Options, Run, Space

ABOUT = r"""
A model is sampled $n$ times on each question, and $c$ of the samples are correct. **G-Pass@k** is
the probability that at least a share $\tau$ of $k$ samples, drawn from the $n$ without replacement,
is correct. This requires $m = \max(1, \lceil \tau k \rceil)$ correct samples. The probability is
averaged over the questions:

$$
\text{G-Pass@}k_\tau = \mathbb{E} \sum_{j = m}^{k}
\binom{c}{j} \binom{n - c}{k - j} \Big/ \binom{n}{k}
$$

- For small $\tau$ it is **pass@k**: at least one of $k$ samples is correct.
- For $\tau = 1$ it is **pass^k**: all $k$ samples are correct.
- **mG-Pass@k** sums up the thresholds above one half. For odd k it is at most (k - 1)/k.

All of them are means over *all* subsets of $k$ of the $n$ samples, so they are unbiased. The
limits are for one of two questions: how far the scores could move if the *same* questions were
sampled again, or if *other* questions like these were asked, as in a claim about a benchmark's
topic.

G-Pass@k: [Liu et al. 2024](https://arxiv.org/abs/2412.13147). pass@k:
[Chen et al. 2021](https://arxiv.org/abs/2107.03374). pass^k:
[Yao et al. 2024](https://arxiv.org/abs/2406.12045).
"""

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
    """Return the largest powers of two below k, at most three and not 1, and k."""
    powers = [2**i for i in range(1, k.bit_length()) if 2**i < k]
    return [*powers[-3:], k]


def compute_calls(options: Options, smallest_n: int) -> dict[str, Call]:
    """Return the calls of `compute` by name. Curves end at the smallest number of samples."""
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


def measures(options: Options, smallest_n: int, checked: bool) -> list[dict[str, Any]]:
    """Return the arguments of `at_k.compare` for each score by which runs are compared."""
    k, tau = options["k"], options["tau"]
    compared: list[dict[str, Any]] = [{"metric": "pass@k", "k": sorted({*curve_ks(smallest_n), k})}]
    if 1 < required_samples(k, tau) < k:
        compared.append({"metric": "G-Pass@k", "k": k, "tau": tau})
    compared.append({"metric": "pass^k", "k": k})
    return compared


def main_scores(run: Run, options: Options) -> list[str]:
    """Return the keys of pass@k, G-Pass@k and pass^k at the selected k and threshold.

    A key is left out if its score equals another one by definition.
    """
    k, tau = options["k"], options["tau"]
    keys = [f"pass@{k}"]
    if 1 < required_samples(k, tau) < k:
        keys.append(f"G-Pass@{k}_{tau}")
    if k > 1:
        keys.append(f"pass^{k}")
    return keys


def is_repeated(estimate: Estimate) -> bool:
    """Return whether a score is pass@k or pass^k by another name."""
    if estimate.metric == "mG-Pass@k":
        return estimate.k == 2
    k, tau = estimate.k, estimate.tau
    if tau is None or not isinstance(k, int):
        return False
    return required_samples(k, tau) in (1, k)


def clause(run: Run, options: Options) -> str:
    """Return how often at least one, most and all of k samples are correct, in words."""
    k, tau = options["k"], options["tau"]
    shares = {key: percent(run.scores()[key]) for key in main_scores(run, options)}
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


def by_threshold(runs: Sequence[Run], options: Options) -> Chart | None:
    """Return the chart of G-Pass@k by threshold, or None if k is 1."""
    k = options["k"]
    if k == 1:
        return None
    return Chart(
        "G-Pass@k by threshold τ",
        "Probability that at least a share τ of k samples is correct: pass@k at small τ, pass^k at "
        "τ = 1. Dashed line: the selected τ.",
        function="by_threshold",
        call="by_threshold",
        arguments={"k": compared_ks(k) if len(runs) == 1 else k, "highlight": options["tau"]},
    )


def by_k(runs: Sequence[Run], options: Options) -> Chart:
    """Return the chart of pass@k and pass^k by k."""
    return Chart(
        "pass@k and pass^k by k",
        "Probability that at least one of k samples is correct (pass@k), and that all k are "
        "(pass^k). Dashed line: the selected k.",
        function="by_k",
        call="by_k",
        arguments={"metric": ["pass@k", "pass^k"], "highlight": options["k"]},
    )


def by_question(runs: Sequence[Run], options: Options) -> Chart:
    """Return the chart of the share of correct samples of each question."""
    return Chart(
        "Share of correct samples per question",
        "A model that always solves some questions and never others has a steep curve; one that is "
        "equally unreliable on all questions has a flat one.",
        function="by_question",
        call="by_k",
        arguments={"key": "pass@1"},
    )


SPACE = Space(
    metric="gpassk",
    summary="How often is at least one of k samples correct? Most of them? All of them? Models "
    "with the same accuracy can differ: one is unreliable on every question, another is perfect on "
    "some questions and fails on the rest.",
    about=ABOUT,
    examples=[
        Example("Six questions, eight samples each", TEXT, options={"k": 4, "tau": 0.5}),
        model_example("A small model, 94 questions", WARM, k=16, tau=0.5),
        model_example("The same model at temperatures 0.2 and 0.8", COOL, WARM, k=8, tau=0.5),
    ],
    controls=[
        NumberField("k", "k", "samples drawn per question", 4, 1, 512, 1),
        NumberField("tau", "τ", "share of them that must be correct", 0.5, 0, 1, 0.05),
        WHICH_QUESTIONS,
        CONFIDENCE,
    ],
    compute_calls=compute_calls,
    measures=measures,
    clause=clause,
    main_scores=main_scores,
    charts=(by_k, by_threshold, by_question),
    is_repeated=is_repeated,
)

if __name__ == "__main__":  # worker processes import this file too, without the page
    from page.interface import serve

    serve(SPACE)
