"""Limits near 1 have as many correct digits as those near 0, of which they are mirror images.

If correct and incorrect samples change places, 1 - pass@k becomes pass^k. Near 0 no digits cancel.
"""

from typing import Any

import at_k
import numpy as np
import pytest
from scored import gpassk

EASY: dict[str, Any] = {
    "all correct": np.ones((6, 16), int),
    "one sample incorrect": np.pad(np.zeros((1, 1), int), ((0, 11), (0, 23)), constant_values=1),
    "one question incorrect": np.repeat([[0], [1], [1], [1], [1]], 9, axis=1),
    "different sizes": [[1] * 5, [1] * 7, [1] * 9 + [0], [1] * 6],
}


@pytest.mark.filterwarnings("ignore:.* of the samples are called", "ignore:The corrected pass@2")
@pytest.mark.parametrize("interval", ["sampling", "questions", "hierarchical"])
@pytest.mark.parametrize("rates", [None, (0.95, 0.02)])
@pytest.mark.parametrize("name", EASY)
def test_pass_at_k_has_the_limits_of_pass_hat_k_with_the_outcomes_exchanged(name, rates, interval):
    k = [*range(1, 1 + min(map(len, EASY[name])))]
    options = {"k": k, "confidence": 0.9, "interval": interval}
    exchanged = None if rates is None else (1 - rates[1], 1 - rates[0])
    scores = gpassk(EASY[name], include="pass@k", checker_rates=rates, **options)
    mirrored = gpassk(
        [[1 - x for x in row] for row in EASY[name]],
        include="pass^k",
        checker_rates=exchanged,
        **options,
    )
    for size in k:
        limits = scores[f"pass@{size}_lo"], scores[f"pass@{size}_hi"]
        of_mirrored = 1 - mirrored[f"pass^{size}_hi"], 1 - mirrored[f"pass^{size}_lo"]
        assert limits == pytest.approx(of_mirrored, rel=1e-10)
        sigma = mirrored[f"pass^{size}_sigma"]
        assert scores[f"pass@{size}_sigma"] == pytest.approx(sigma, rel=1e-10)


@pytest.mark.parametrize("interval", ["sampling", "questions"])
@pytest.mark.parametrize(("questions", "samples"), [(5, 7), (6, 10), (9, 12)])
def test_r_correct_samples_of_n_have_the_limits_of_n_plus_1_minus_r(questions, samples, interval):
    """Fewer than r samples are correct if n + 1 - r or more are incorrect."""
    gpassk, needed = at_k.load("gpassk"), range(1, samples + 1)
    thresholds = [r / samples for r in needed]
    options = {"k": samples, "thresholds": thresholds, "include": "G-Pass@k"}
    options |= {"confidence": 0.95, "interval": interval}
    correct = np.ones((questions, samples), int)
    scores = gpassk.compute(predictions=correct, **options)
    mirrored = gpassk.compute(predictions=1 - correct, **options)
    for r in needed:
        lo = scores[f"G-Pass@{samples}_{thresholds[r - 1]}_lo"]
        hi = mirrored[f"G-Pass@{samples}_{thresholds[samples - r]}_hi"]
        assert lo == pytest.approx(1 - hi, rel=1e-10)
