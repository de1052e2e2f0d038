"""The metric for inspect_ai, in runs of its own `eval` with a model that replays replies."""

import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import at_k
import pytest
from at_k.integrations.inspect import at_k as at_k_metric
from conftest import ROOT
from inspect_ai.log import read_eval_log
from inspect_ai.scorer import SampleScore, Score
from scored import gpassk, max_at_k

RUN = Path(__file__).parent / "inspect_run.py"


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    environment = os.environ | {"PYTHONPATH": str(ROOT / "shared")}
    subprocess.run([sys.executable, RUN, folder], check=True, cwd=folder, env=environment)
    (file,) = folder.glob("*.eval")
    log = read_eval_log(str(file))
    assert log.status == "success"
    return log


@pytest.fixture(scope="module")
def metrics(log):
    """The values of the metrics of all epochs, by name."""
    (scores,) = [score for score in log.results.scores if score.reducer is None]
    return {name: metric.value for name, metric in scores.metrics.items()}


OUTCOMES = [[1, 1, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1], [1, 0, 0, 0], [1, 1]]


def test_all_k_have_the_scores_and_limits_of_gpassk(metrics):
    expected = gpassk(
        OUTCOMES,
        k=[1, 2],
        include=["pass@k", "pass^k"],
        groups=list("ststs"),
        confidence=0.95,
        interval="questions",
    )
    names = {key: key.replace("_sigma", "_stderr") for key in expected}
    numbers = {names[key]: x for key, x in expected.items() if not key.endswith(("_mu", "val"))}
    assert {"pass@2_lo", "s/pass^2_hi", "pass@1_stderr"} <= numbers.keys()
    assert {name: metrics[name] for name in numbers} == pytest.approx(numbers, rel=1e-12)
    assert metrics["pass@1"] == pytest.approx((3 / 4 + 0 + 1 + 1 / 4 + 1) / 5)


def test_k_above_n_is_an_entry_and_not_the_end_of_the_run(log, metrics):
    assert math.isnan(metrics["pass@4"])
    assert "pass@4_lo" not in metrics
    sentence = "questions with fewer than 4 scored samples, such as e with 2: no scores at k = 4"
    assert metrics[sentence] == 1  # f has no scored sample, and is no question of the metric


def test_other_scores_need_no_limits(metrics):
    expected = max_at_k(OUTCOMES, k=2)
    assert metrics["max@2"] == pytest.approx(expected["max@2"])
    assert metrics["max@2"] == pytest.approx(metrics["pass@2"])
    assert "max@2_lo" not in metrics
    assert metrics["G-Pass@2_1.0"] == pytest.approx(metrics["pass^2"])


def test_groups_that_samples_do_not_have_are_an_entry(metrics):
    assert metrics["questions without absent in their metadata: no groups"] == 5


def test_the_log_read_afterwards_gives_the_same(log, metrics):
    with pytest.warns(UserWarning, match=r"1 of 6 questions .* left out: 't f'\."):
        arguments = at_k.read(log.location, groups="metadata_topic", missing="drop")
    scores = gpassk(**arguments, k=2, include="pass@k")
    for name in ("pass@2", "s/pass@2", "t/pass@2"):
        assert scores[name] == pytest.approx(metrics[name])


def scored(values: str, **arguments: Any) -> dict[str, float]:
    """Return what the metric makes of the grades of a question, a letter each."""
    metric: Any = at_k_metric(**arguments)
    return metric([SampleScore(sample_id="a", score=Score(value=value)) for value in values])


def test_scores_between_0_and_1_are_an_entry_unless_it_is_said_which_are_correct():
    name, problem = scored("CPIC", k=2, scores="pass@k")
    assert name == "pass@2"
    assert "0.5" in problem
    assert scored("CPIC", k=1, scores="max@k", confidence=None) == {"max@1": 0.625}
    only_c = scored("CPIC", k=1, scores="pass@k", confidence=None, correct_values=["C"])
    assert only_c == {"pass@1": 0.5}
    rounded: Any = [1.0, 0.5, 0.25, "0.50"]
    numbers = scored(rounded, k=1, scores="pass@k", confidence=None, correct_values=["1", 0.5])
    assert numbers == {"pass@1": 0.75}


def test_without_a_scored_sample_the_scores_are_nan():
    empty = scored("", k=2, scores="pass@k")
    assert [*empty] == ["pass@2"]
    assert math.isnan(empty["pass@2"])


@pytest.mark.parametrize(
    "arguments",
    [
        {"k": 0},
        {"scores": "pass@4"},
        {"scores": "vote@k"},
        {"interval": "other"},
        {"confidence": 2.0},
    ],
)
def test_invalid_arguments_are_errors_before_the_run(arguments):
    with pytest.raises(ValueError, match=next(iter(arguments))):
        at_k_metric(**arguments)
