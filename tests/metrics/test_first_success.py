"""Samples that stop at the first success: pass@k is unbiased, and other scores are refused."""

import math
import warnings
from typing import Any

import at_k
import numpy as np
import pytest
from run_command import output_of, write_runs
from scored import bayes_at_n, cons_at_k, gpassk, max_at_k


def attempts(t: int, budget: int) -> list[int]:
    """Return the outcomes of a question whose first success would be the t-th of any number."""
    return [0] * budget if t > budget else [0] * (t - 1) + [1]


STOPPED = [attempts(t, 4) for t in (1, 3, 9, 4, 2, 9)]


@pytest.mark.parametrize(
    "compute",
    [
        lambda rows: bayes_at_n(rows),
        lambda rows: cons_at_k(rows, k=1),
        lambda rows: max_at_k(rows, k=1),
        lambda rows: at_k.noise(rows, k=1),
        lambda rows: at_k.plan(rows, k=1),
        lambda rows: at_k.testing.assert_at_least(rows, 0.01, k=1),
        lambda rows: at_k.compare(rows, [[1, 0]] * len(rows), k=1),
        lambda rows: at_k.leaderboard({"a": [[1, 0]] * len(rows), "b": rows}, k=1),
    ],
)
def test_whoever_takes_samples_that_seem_to_stop_warns(compute):
    with pytest.warns(UserWarning, match="seem to stop at the first correct one"):
        compute(STOPPED)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compute([[0, *row, 1] for row in STOPPED])


def test_limits_cover_the_score_of_other_questions():
    rng, covered = np.random.default_rng(1), []
    truth = 1 - math.prod((2.5 + i) / (3.3 + i) for i in range(3))  # of a Beta(0.8, 2.5)
    for _ in range(300):
        first = rng.geometric(np.maximum(rng.beta(0.8, 2.5, 80), 1e-12))
        rows = [attempts(int(t), 5) for t in first]
        scores = gpassk(rows, k=3, budget=5, confidence=0.95)
        assert scores["pass@3_interval"] == "questions"
        covered.append(scores["pass@3_lo"] <= truth <= scores["pass@3_hi"])
    assert 0.92 < np.mean(covered) < 0.98


def test_texts_counts_and_outcomes_agree():
    counts = {"n": list(map(len, STOPPED)), "correct": list(map(sum, STOPPED))}
    texts = [["yes" if x else "no" for x in row] for row in STOPPED]
    options: dict[str, Any] = {"k": [1, 2, 3, 4], "budget": 4, "confidence": 0.9, "band": True}
    scores = gpassk(STOPPED, **options)
    assert gpassk(counts, **options) == scores
    assert gpassk(texts, references=["yes"] * 6, **options) == scores
    assert [scores[f"pass@{k}"] for k in (1, 2, 3, 4)] == pytest.approx(
        [1 / 6, 1 / 3, 1 / 2, 2 / 3]
    )


def test_the_command_takes_a_budget(capsys, tmp_path):
    (file,) = write_runs(tmp_path, {"retries": STOPPED})
    printed = " ".join(
        output_of(capsys, "gpassk", file, "--budget", 4, "--confidence", 0.9).split()
    )
    assert "pass@4 is 66.7 % (90 % confidence interval" in printed
    assert "for other questions like these" in printed
    assert "sampled again" not in printed
    assert "extrapolated" not in printed


@pytest.mark.parametrize(
    "rows",
    [
        [[1, 0], [0, 0], [0, 1], [0, 0]],  # equal sizes
        [[1], [0, 1], [0], [0, 0, 0]],  # a short question without success
        [[1], [0, 1], [1, 1, 1], [0, 1]],  # a question with several
        [[1], [0, 1, 0], [0, 0, 0]],  # one short question may be chance
    ],
)
def test_there_is_no_warning_about_other_data(rows):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gpassk(rows, k=1)
