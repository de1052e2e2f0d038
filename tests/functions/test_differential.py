"""Random calls of all functions and metrics: their results, and what they refuse."""

import pytest
from hostile_calls import check_hostile_calls
from random_calls import check_calls
from random_options import check_options

pytestmark = pytest.mark.filterwarnings("ignore:The limits of the posterior")


@pytest.mark.parametrize("seed", range(4))
def test_random_calls_agree_with_brute_force_and_scorio(seed):
    compared, disagreements = check_calls(100, seed)
    assert not disagreements, "\n".join(map(str, disagreements))
    assert compared["brute force"] > 90
    assert compared["scorio"] > 25


def test_arguments_that_make_no_sense_give_a_result_or_an_error_that_names_one():
    problems = check_hostile_calls(800, seed=1)
    assert not problems, "\n".join(map(str, problems))


def test_random_options_steps_logs_and_formats_agree_with_brute_force():
    problems = check_options(450, seed=1)
    assert not problems, "\n".join(problems)
