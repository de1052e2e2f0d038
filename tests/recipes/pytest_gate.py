"""Assertions about runs in a test suite: `pytest pytest_gate.py`. Needs pytest.

A test fails unless the whole interval agrees, so that a run of a few samples neither passes nor
fails by chance: its message says whether the contrary is shown, or how much more data would decide.

The default interval is for other questions like these. Of the 94 questions, the run solves 66 % in
eight attempts, and the interval is 57 to 73 %: that shows at least 55 %, and does not show 60 %.
"""

from pathlib import Path

import at_k
import pytest
from at_k.testing import assert_at_least, assert_not_worse

SAMPLES = Path(at_k.__file__).parent / "samples"  # those of your own run
RUN = at_k.read(str(SAMPLES / "smollm2_warm.jsonl"))
BASELINE = at_k.read(str(SAMPLES / "smollm2_cool.jsonl"))


def test_more_than_half_of_the_questions_are_solved_in_eight_attempts():
    assert_at_least(RUN, 0.55, k=8, check_correct_fn="numeric")


def test_eight_attempts_solve_no_fewer_questions_than_before():
    assert_not_worse(RUN, BASELINE, margin=0.02, k=8, check_correct_fn="numeric")


def test_one_attempt_is_worse_than_before():
    with pytest.raises(AssertionError, match="contrary is shown"):
        assert_not_worse(RUN, BASELINE, margin=0.02, check_correct_fn="numeric")
