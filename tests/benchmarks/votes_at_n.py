"""Coverage of limits of vote@k where the most frequent answers are about equally probable.

    python tests/benchmarks/votes_at_n.py [RUNS]

All questions have the same probabilities of answers. This is the worst case for k = n: the variance
is estimated by p (1 - p), with the chance p that a vote of n samples drawn with replacement is
correct, and near p = 1/2 the mean of that is below its value at the true p.
"""

from __future__ import annotations

import itertools
import sys

import numpy as np
from at_k.core.interval import normal_z
from at_k.core.questions import wilson_limits
from at_k.core.votes import AnswerCounts, vote_at_k
from at_k.intervals.vote_variances import vote_variances

_ANSWERS = [(0.45, 0.45, 0.1), (0.4, 0.3, 0.3), (0.34, 0.33, 0.33), (0.5, 0.5), (0.55, 0.45)]
_SIZES = [(8, 6), (8, 8), (16, 12), (16, 16), (32, 32)]  # n and k
_MANY = 20_000  # samples for the true vote


def answer_counts(counts: np.ndarray) -> list[AnswerCounts]:
    """Return the counts of questions whose first answer is correct."""
    return [
        AnswerCounts(tuple(x for x in row[:1] if x), tuple(sorted(x for x in row[1:] if x)), 0)
        for row in counts.tolist()
    ]


def coverage(
    answers: tuple[float, ...], n: int, k: int, questions: int, runs: int
) -> tuple[float, float]:
    """Return the coverage of 95 % limits, and the mean variance divided by the true one."""
    rng = np.random.default_rng(5)
    counts = answer_counts(rng.multinomial(n, answers, size=runs * questions))
    votes, variances = (f(counts, k).reshape(runs, -1) for f in (vote_at_k, vote_variances))
    (true,) = vote_at_k(answer_counts(np.rint(_MANY * np.array([answers])).astype(int)), k)
    covered = []
    for vote, variance in zip(votes.mean(axis=1), variances.mean(axis=1) / questions, strict=True):
        lo, hi = wilson_limits(vote, variance, questions * n / k, normal_z(0.95))
        covered.append(lo <= true <= hi)
    return float(np.mean(covered)), float(variances.mean() / votes.var())


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 800
    for (n, k), questions in itertools.product(_SIZES, (20, 100, 400)):
        cells = [coverage(answers, n, k, questions, runs) for answers in _ANSWERS]
        shown = ", ".join(f"{covered:.1%} ({ratio:.2f})" for covered, ratio in cells)
        print(f"n = {n}, k = {k}, {questions} questions: {shown}", flush=True)


if __name__ == "__main__":
    main()
