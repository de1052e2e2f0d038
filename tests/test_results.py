"""Results: a dict to everybody else, which carries the records that it was made of."""

import copy
import json
import os
import pickle
import subprocess
import sys

import at_k
import datasets
import evaluate
import pandas as pd
import pytest
import yaml
from at_k.core.computations import GPASSK
from at_k.core.estimates import Estimate, as_dict
from at_k.results import Result, carried_by, estimates_of
from at_k.runs.comparison import Difference, differences_in
from conftest import ROOT

A = [[1, 0, 1, 1], [0, 0, 1, 0], [1, 1, 1, 1], [0, 1, 0, 1], [0, 0, 0, 1]]
B = [[1, 1, 1, 1], [0, 1, 1, 0], [1, 1, 1, 1], [0, 1, 1, 1], [0, 0, 0, 0]]
OPTIONS: dict = {"k": [1, 2], "include": ["pass@k", "maj@k", "G-Pass@k"], "confidence": 0.9}


def computed(**options) -> Result:
    result = GPASSK.compute(predictions=A, **{**OPTIONS, **options})
    assert isinstance(result, Result)
    return result


def by_keys(scores) -> list[Estimate]:
    """Return the estimates as they are read from the keys of a plain dict."""
    return estimates_of(dict(scores))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"confidence": None},
        {"groups": ["a/b", "c", "a/b", "c", "1"], "band": True},
        {"interval": "posterior", "return_per_question": True},
        {"checker_rates": (0.9, 0.05), "include": "pass@k"},
    ],
)
def test_the_estimates_are_those_that_the_keys_say(options):
    result = computed(**options)
    assert list(result.estimates) == by_keys(result) == estimates_of(result)
    assert [x.full_key for x in result.estimates] == [
        key for key in result if key in {x.full_key for x in result.estimates}
    ]


def test_names_for_loggers_are_not_read():
    safe, exact = computed(keys="safe"), computed()
    assert safe.estimates == exact.estimates
    assert set(safe).isdisjoint(exact)


def test_a_comparison_carries_its_differences():
    result = at_k.compare(A, B, k=[1, 3], p_values=True)
    assert isinstance(result, Result)
    assert all(isinstance(x, Difference) for x in result.estimates)
    assert differences_in(dict(result)) == list(result.estimates) == differences_in(result)
    # Where scores are wanted, differences are none.
    assert carried_by(result, Estimate) is None
    assert estimates_of(result) == by_keys(result)


def test_a_leaderboard_carries_an_estimate_for_each_of_its_rows():
    board = at_k.leaderboard({"a": A, "b": B}, k=[1, 2])
    assert isinstance(board, Result)
    for row, estimate in zip(board["runs"], board.estimates, strict=True):
        assert (estimate.key, estimate.score) == (row["key"], row["score"])
        assert estimate.limits == (row["lo"], row["hi"])


def changed_results() -> dict:
    result = computed()
    replaced, shorter, longer, merged = (copy.copy(result) for _ in range(4))
    replaced["pass@1"] = 0.25
    for name in [key for key in shorter if key.startswith("pass@2")]:
        del shorter[name]
    longer["pass@3"] = 0.75
    merged |= {"x/pass@1": 0.5}
    return {
        "an entry is replaced": replaced,
        "an entry is removed": shorter,
        "an entry is added": longer,
        "updated": merged,
        "merged": {**result, "y/pass@1": 0.5},
        "joined": result | {"maj@1": 0.125},
        "from a file": json.loads(json.dumps(result)),
    }


@pytest.mark.parametrize(("name", "scores"), changed_results().items(), ids=changed_results())
def test_a_dict_that_differs_from_its_estimates_is_read_by_its_keys(name, scores):
    assert estimates_of(scores) == by_keys(scores)
    assert {x.full_key: x.score for x in estimates_of(scores)} == {
        key: value
        for key, value in scores.items()
        if not key.endswith(("_mu", "_sigma", "_lo", "_hi", "_interval"))
    }
    if isinstance(scores, Result):
        assert not scores.is_unchanged
        assert type(pickle.loads(pickle.dumps(scores))) is dict


# --- A dict to everybody else -------------------------------------------------------------


def loaded() -> dict:
    """Return results of the package, and of a script that `evaluate` loads."""
    script = evaluate.load(str(ROOT / "metrics" / "gpassk"))
    return {
        "package": computed(),
        "script": script.compute(predictions=A, **OPTIONS),
        "comparison": at_k.compare(A, B, k=1),
        "leaderboard": at_k.leaderboard({"a": A, "b": B}, k=1),
    }


@pytest.fixture(scope="module", params=["package", "script", "comparison", "leaderboard"])
def result(request):
    return loaded()[request.param]


def test_a_result_is_written_as_a_dict(result, tmp_path):
    plain = dict(result)
    assert result == plain
    assert isinstance(result, dict)
    assert repr(result) == repr(plain)
    assert json.dumps(result, indent=1) == json.dumps(plain, indent=1)
    assert json.loads(json.dumps(result)) == plain
    for dump in (yaml.safe_dump, yaml.dump):
        assert dump(result, sort_keys=False) == dump(plain, sort_keys=False)
        assert dump([{"scores": result}]) == dump([{"scores": plain}])
    in_c = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    assert yaml.dump(result, Dumper=in_c) == yaml.safe_dump(plain)
    saved = evaluate.save(tmp_path, experiment="run", **{"scores": result})
    assert json.loads(saved.read_text())["scores"] == plain


def test_a_result_is_copied_and_pickled_as_a_dict(result):
    plain = dict(result)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(result, protocol)) == plain
    for copied in (copy.copy(result), copy.deepcopy(result), result.copy(), {**result}):
        assert copied == plain
        copied.clear()
        assert result == plain
    assert type(result)({"a": 1}) == {"a": 1}
    assert type(result).fromkeys("ab", 1) == {"a": 1, "b": 1}


def test_a_result_of_the_package_keeps_its_estimates_in_copies():
    result = computed()
    for copied in (copy.copy(result), copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
        assert isinstance(copied, Result)
        assert copied.estimates == result.estimates
        assert copied.is_unchanged


def test_a_result_becomes_rows_of_tables(result):
    numbers = {key: value for key, value in result.items() if isinstance(value, float)}
    number = type(result)(numbers)
    assert pd.DataFrame([number]).to_dict("records") == [numbers]
    assert datasets.Dataset.from_list([number])[0] == numbers


READ = "import pickle, sys; x = pickle.load(open(sys.argv[1], 'rb')); print(type(x), x)"


@pytest.mark.parametrize("name", ["package", "script"])
def test_a_pickle_is_read_in_a_fresh_process(name, tmp_path):
    """The script's module is no module there; the class of the package can be imported."""
    result = loaded()[name]
    (tmp_path / "scores.pickle").write_bytes(pickle.dumps({"scores": result}))
    with_package = os.environ | {"PYTHONPATH": str(ROOT / "shared")}
    done = subprocess.run(
        [sys.executable, "-c", READ, str(tmp_path / "scores.pickle")],
        cwd=tmp_path,
        env=with_package if name == "package" else os.environ | {"PYTHONPATH": ""},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    shown = {"scores": dict(result)}
    assert done.stdout == f"<class 'dict'> {shown}\n"


def test_estimates_and_keys_are_each_made_of_the_other():
    result = computed(groups=["x"] * 5)
    assert as_dict(by_keys(result)) == result
