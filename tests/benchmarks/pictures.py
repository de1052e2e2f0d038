"""Draw the pictures of the README, of the card of score_agg, and of the page for trainers.

python tests/benchmarks/pictures.py

In the last one, a policy is trained on pass@1 and on pass@8. The questions look alike to it: each
has one of four correct answers, in 40, 30, 20 and 10 % of the questions. It is a softmax over 16
answers, 12 of which are never correct, and starts with equal probabilities. A step samples 16
answers to each of 64 questions, and follows the gradient with the weights of `at_k.advantages`. The
scores of the policy are exact.
"""

from __future__ import annotations

from pathlib import Path

import at_k
import numpy as np
from at_k import charts
from at_k.charts.figure import Figure

PICTURES = Path(__file__).parent / "pictures"


def curves() -> Figure:
    """Return the chart of pass@k and pass^k of the two runs of the package."""
    gpassk, samples = at_k.load("gpassk"), Path(at_k.__file__).parent / "samples"
    results = {
        name: gpassk.compute(
            **at_k.read(samples / file),
            check_correct_fn="numeric",
            k=[1, 2, 4, 8, 16, 32],
            include=["pass@k", "pass^k"],
            confidence=0.95,
        )
        for name, file in {"T = 0.2": "smollm2_cool.jsonl", "T = 0.8": "smollm2_warm.jsonl"}.items()
    }
    return charts.by_k(results, questions=94, n=32, checker="numeric", confidence=0.95, width=4.8)


VERDICTS = {
    "mostly, mostly, partial": ["mostly", "mostly", "partial"],
    "fully, mostly, partial, minor": ["fully", "mostly", "partial", "minor"],
    "9 fully, 1 none": ["fully"] * 9 + ["none"],
    "fully, mostly, partial, none": ["fully", "mostly", "partial", "none"],
}


def temperatures() -> Figure:
    """Return the chart of score_agg against the temperature, for four lists of verdicts."""
    # A finer grid around 0.443, where p = 0 and lists with a zero start to score.
    grid = np.unique(np.append(np.linspace(0.1, 1, 91), np.linspace(0.44, 0.46, 41))).tolist()
    results = {
        name: {t: {"score_agg": at_k.score_agg(verdicts, t)} for t in grid}
        for name, verdicts in VERDICTS.items()
    }
    return charts.by_parameter(results, parameter="temperature", width=4.8)


# --- Training -----------------------------------------------------------------------------

SHARES = np.array([0.4, 0.3, 0.2, 0.1])  # of questions with each correct answer
ANSWERS, QUESTIONS, SAMPLES, STEPS, K, RATE = 16, 64, 16, 400, 8, 1.0


def train(k: int) -> dict[int, dict[str, float]]:
    """Return the scores of the policy at every tenth step of a training on pass@k."""
    random, logits, scores = np.random.default_rng(0), np.zeros(ANSWERS), {}
    for step in range(STEPS + 1):
        policy = np.exp(logits) / np.exp(logits).sum()
        if step % 10 == 0:
            missed = 1 - policy[: len(SHARES)]
            scores[step] = {f"pass@{k}": float(SHARES @ (1 - missed**k)) for k in (1, K)}
        correct = random.choice(len(SHARES), QUESTIONS, p=SHARES)
        sampled = random.choice(ANSWERS, (QUESTIONS, SAMPLES), p=policy)
        rewards = (sampled == correct[:, None]).astype(float)
        weights = at_k.advantages(rewards, k, "pass@k", "leave-one-out")
        # The gradient of log policy[a] by the logits is the indicator of a less the policy.
        of_answer = np.bincount(sampled.ravel(), weights.ravel(), ANSWERS)
        logits += RATE * (of_answer - weights.sum() * policy) / QUESTIONS
    return scores


def training() -> Figure:
    """Return the chart of the scores of a policy during its training on pass@1 and on pass@8."""
    results = {f"trained on pass@{k}": train(k) for k in (1, K)}
    return charts.by_parameter(results, parameter="training step", width=4.8)


if __name__ == "__main__":
    curves().save(PICTURES / "curves.svg")
    temperatures().save(PICTURES / "score_agg_by_temperature.svg")
    training().save(PICTURES / "training.svg")
