"""Random calls of all functions and metrics agree with brute force and with scorio."""

import brute_force as exact
import pytest
from agreement import check_calls
from container_types import TYPES


@pytest.mark.parametrize("seed", range(4))
def test_random_calls_agree_with_brute_force_and_scorio(seed):
    compared, disagreements = check_calls(150, seed)
    assert not disagreements, "\n".join(map(str, disagreements))
    assert compared["brute force"] > 140
    assert compared["scorio"] > 40


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
