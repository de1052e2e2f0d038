"""Predictions that are already-graded outcomes."""

import numpy as np
import pyarrow as pa
import pytest
from at_k.core.outcomes import outcomes_of
from at_k.core.rows import read_rows

GRADES = {"wrong": 0, "close": 1, "right": 2}


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_labels_among_graded_outcomes_stand_for_their_numbers(kind):
    rows = pa.array([["right", None], ["wrong", "close"]], pa.list_(kind))
    outcomes = outcomes_of(read_rows(rows), GRADES)
    assert outcomes.values.tolist() == [2, 0, 0, 1]
    np.testing.assert_array_equal(outcomes.scored, [True, False, True, True])
    with pytest.raises(ValueError, match=r"predictions\[1\]\[1\] is 'close', which is none of bad"):
        outcomes_of(read_rows(rows), {"bad": 0, "wrong": 1, "right": 2})
    with pytest.raises(ValueError, match="no references to check"):
        outcomes_of(read_rows(rows))
