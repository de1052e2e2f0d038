"""Predictions that are already-graded outcomes."""

import numpy as np
import pyarrow as pa
import pytest
from at_k.core.samples import as_outcomes, read_samples

GRADES = {"wrong": 0, "close": 1, "right": 2}


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_labels_among_graded_outcomes_stand_for_their_numbers(kind):
    rows = pa.array([["right", None], ["wrong", "close"]], pa.list_(kind))
    outcomes = as_outcomes(read_samples(rows), GRADES)
    assert outcomes.values.tolist() == [2, 0, 0, 1]
    np.testing.assert_array_equal(outcomes.scored, [True, False, True, True])
    with pytest.raises(ValueError, match=r"predictions\[1\]\[1\] is 'close', which is none of bad"):
        as_outcomes(read_samples(rows), {"bad": 0, "wrong": 1, "right": 2})
    with pytest.raises(ValueError, match="no references to check"):
        as_outcomes(read_samples(rows))
