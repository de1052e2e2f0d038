"""Each consensus score has the estimate and the posterior of the function of the same name."""

import at_k
import numpy as np
import pytest
from at_k.estimates import read_score
from at_k.inputs.outcomes import read_outcomes
from at_k.intervals.posterior import PosteriorIntervals
from at_k.scores.consensus import consensus_estimator, consensus_moments, consensus_scores

R = (np.random.default_rng(3).random((12, 6)) < np.linspace(0, 1, 12)[:, None]).astype(int)
RAGGED = [row[: 4 + i % 3] for i, row in enumerate(R.tolist())]
FUNCTIONS = {"cons": at_k.cons_at_k, "pass": at_k.pass_at_k, "maj": at_k.maj_at_k}


@pytest.mark.parametrize("outcomes", [R.tolist(), RAGGED], ids=["equal n", "ragged"])
def test_estimates_agree_with_the_functions(outcomes):
    counts = read_outcomes(outcomes).counts()
    scores = consensus_scores({2: 2, "n": None}, "n")
    keys, estimate = consensus_estimator(scores)
    table = estimate(*counts.unique)[counts.inverse]
    assert [key.key for key in keys] == [
        "cons@2",
        "cons@n",
        "avg@n",
        "pass@2",
        "pass@n",
        "maj@2",
        "maj@n",
    ]
    for key, score in keys.items():
        name, k = key.key.split("@")
        if name == "avg":
            expected = [at_k.avg([row])[0] for row in outcomes]
        else:
            sizes = [2 if k == "2" else len(row) for row in outcomes]
            expected = [
                FUNCTIONS[name]([row], size) for row, size in zip(outcomes, sizes, strict=True)
            ]
        np.testing.assert_array_equal(score.value(table.T), expected)


def test_posterior_moments_agree_with_the_functions():
    counts, prior = read_outcomes(RAGGED).counts(), (0.5, 2.0)
    moments = consensus_moments(consensus_scores({2: 2, 3: 3}, "n"), counts, prior)
    intervals = PosteriorIntervals(moments, (0.0, 1.0)).over(counts.multiplicity[None], 0.9)
    expected = {
        "avg@n": at_k.avg_ci(RAGGED, confidence=0.9, bounds=(0.0, 1.0)),
        **{f"pass@{k}": at_k.pass_at_k_ci(RAGGED, k, 0.9, (0.0, 1.0), *prior) for k in (2, 3)},
        **{f"maj@{k}": at_k.maj_at_k_ci(RAGGED, k, 0.9, (0.0, 1.0), *prior) for k in (2, 3)},
    }
    assert [key.key for key in intervals] == list(expected)
    for key, summary in expected.items():
        assert intervals[read_score(key)].of_part(0)[:4] == pytest.approx(summary, rel=1e-13)
