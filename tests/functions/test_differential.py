"""Random calls of all functions and metrics: their results, and what they refuse."""

import pytest
from generated_calls import check_calls, check_hostile_calls


@pytest.mark.parametrize("seed", range(4))
def test_random_calls_agree_with_brute_force(seed):
    problems = check_calls(180, seed)
    assert not problems, "\n".join(problems)


def test_arguments_that_make_no_sense_give_a_result_or_an_error_that_names_one():
    problems = check_hostile_calls(800, seed=3)
    assert not problems, "\n".join(problems)
