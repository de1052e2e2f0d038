"""Each consensus score has the estimate and the posterior of the function of the same name."""

import at_k
import numpy as np
import pytest
from at_k.core.checking import Checked
from at_k.core.choice import IntervalOptions
from at_k.core.consensus import Consensus
from at_k.core.estimates import read_score
from at_k.core.samples import read_outcomes
from at_k.intervals.consensus import consensus_limits

R = (np.random.default_rng(3).random((12, 6)) < np.linspace(0, 1, 12)[:, None]).astype(int)
RAGGED = [row[: 4 + i % 3] for i, row in enumerate(R.tolist())]
FUNCTIONS = {"cons": at_k.cons_at_k, "pass": at_k.pass_at_k, "maj": at_k.maj_at_k}


@pytest.mark.parametrize("outcomes", [R.tolist(), RAGGED], ids=["equal n", "ragged"])
def test_estimates_agree_with_the_functions(outcomes):
    for ks in ([2], None):
        check_values(outcomes, ks)


def check_values(outcomes, ks):
    n = "n" if outcomes is RAGGED else 6
    values = Consensus.from_checked(Checked(read_outcomes(outcomes)), ks, True, False).values()
    shown = 2 if ks else n
    names = [f"cons@{shown}", f"avg@{n}", f"pass@{shown}", f"maj@{shown}"]
    assert [key.key for key in values] == names
    for key, column in values.items():
        name, k = key.key.split("@")
        if name == "avg":
            expected = [at_k.avg([row])[0] for row in outcomes]
        else:
            sizes = [2 if k == "2" else len(row) for row in outcomes]
            expected = [
                FUNCTIONS[name]([row], size) for row, size in zip(outcomes, sizes, strict=True)
            ]
        np.testing.assert_array_equal(column, expected)


@pytest.mark.filterwarnings("ignore:The limits of the posterior")
def test_posterior_moments_agree_with_the_functions():
    prior = (0.5, 2.0)
    consensus = Consensus.from_checked(Checked(read_outcomes(RAGGED)), [2, 3], True, False)
    options = IntervalOptions(0.9, "posterior", prior=prior)
    method = consensus_limits(consensus, options)
    intervals = method.intervals(np.arange(len(RAGGED)), 0.9)
    expected = {
        "avg@n": at_k.avg_ci(RAGGED, confidence=0.9, bounds=(0.0, 1.0)),
        **{f"pass@{k}": at_k.pass_at_k_ci(RAGGED, k, 0.9, (0.0, 1.0), *prior) for k in (2, 3)},
        **{f"maj@{k}": at_k.maj_at_k_ci(RAGGED, k, 0.9, (0.0, 1.0), *prior) for k in (2, 3)},
    }
    assert [key.key for key in intervals] == list(expected)
    for key, summary in expected.items():
        assert intervals[read_score(key)][:4] == pytest.approx(summary, rel=1e-13)
