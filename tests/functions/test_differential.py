"""Random calls of all functions and metrics: their results, and what they refuse."""

import brute_force as exact
import pytest
from agreement import check_calls
from container_types import TYPES
from hostile_calls import check_hostile_calls
from random_steps import check_random_steps


@pytest.mark.parametrize("seed", range(4))
def test_random_calls_agree_with_brute_force_and_scorio(seed):
    compared, disagreements = check_calls(100, seed)
    assert not disagreements, "\n".join(map(str, disagreements))
    assert compared["brute force"] > 90
    assert compared["scorio"] > 25


def test_arguments_that_make_no_sense_give_a_result_or_an_error_that_names_one():
    problems = check_hostile_calls(800, seed=1)
    assert not problems, "\n".join(map(str, problems))


def test_random_steps_and_comparisons_agree_with_brute_force():
    problems = check_random_steps(120, seed=1)
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("name", TYPES)
def test_every_type_of_container_is_read_by_functions_and_metrics(name, metrics_and_functions):
    rows = [[1, 0, 1], [1, 1, 1], [0, 0, 1]]
    expected = exact.mean_of([exact.subset_mean(row, exact.values_of("pass", 2)) for row in rows])
    for score in metrics_and_functions:
        assert score(TYPES[name].make(rows)) == pytest.approx(float(expected), rel=1e-15)


@pytest.fixture(scope="module")
def metrics_and_functions():
    import at_k

    gpassk, best = at_k.load("gpassk"), at_k.load("max_at_k")
    return [
        lambda R: at_k.pass_at_k(R, 2),
        lambda R: at_k.max_at_k(R, 2),
        lambda R: gpassk.compute(predictions=R, k=2, include=["pass@k"])["pass@2"],
        lambda R: best.compute(predictions=R, k=2, confidence=None)["max@2"],
    ]
