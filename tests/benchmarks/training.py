"""Train a policy on pass@1 and on pass@8, and draw both scores, the picture for trainers in README.

    python tests/benchmarks/training.py [tests/benchmarks/pictures/training.svg]

The questions look alike to the policy: each has one of four correct answers, in 40, 30, 20 and 10 %
of the questions. The policy is a softmax over 16 answers, 12 of which are never correct. It starts
with equal probabilities. A step samples 16 answers to each of 64 questions, and follows the
gradient with the weights of `at_k.advantages`. The scores of the policy are exact.
"""

from __future__ import annotations

import sys
from pathlib import Path

import at_k
import numpy as np
from at_k import charts
from at_k.charts.figure import Figure

PICTURE = Path(__file__).parent / "pictures" / "training.svg"
SHARES = np.array([0.4, 0.3, 0.2, 0.1])  # of questions with each correct answer
ANSWERS, QUESTIONS, SAMPLES, STEPS, K, RATE = 16, 64, 16, 400, 8, 1.0
Scores = dict[str, float]


def train(k: int, seed: int = 0) -> dict[int, Scores]:
    """Return the scores of the policy at every tenth step of a training on pass@k."""
    random, logits, scores = np.random.default_rng(seed), np.zeros(ANSWERS), {}
    for step in range(STEPS + 1):
        policy = np.exp(logits) / np.exp(logits).sum()
        if step % 10 == 0:
            scores[step] = scores_of(policy)
        correct = random.choice(len(SHARES), QUESTIONS, p=SHARES)
        sampled = random.choice(ANSWERS, (QUESTIONS, SAMPLES), p=policy)
        rewards = (sampled == correct[:, None]).astype(float)
        weights = at_k.advantages(rewards, k, "pass@k", "leave-one-out")
        # The gradient of log policy[a] by the logits is the indicator of a less the policy.
        of_answer = np.bincount(sampled.ravel(), weights.ravel(), ANSWERS)
        logits += RATE * (of_answer - weights.sum() * policy) / QUESTIONS
    return scores


def scores_of(policy: np.ndarray) -> Scores:
    """Return the expected scores over all questions."""
    rates = policy[: len(SHARES)]
    return {f"pass@{k}": float(SHARES @ (1 - (1 - rates) ** k)) for k in (1, K)}


def training() -> Figure:
    """Return the chart."""
    results = {f"trained on pass@{k}": train(k) for k in (1, K)}
    return charts.by_parameter(results, parameter="training step", width=4.8)


if __name__ == "__main__":
    training().save(sys.argv[1] if len(sys.argv) > 1 else PICTURE)
    for k in (1, K):
        scores = train(k)
        print(f"trained on pass@{k}: {scores[0]} at first, {scores[STEPS]} in the end")
