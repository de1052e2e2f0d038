"""Type checkers accept what the documentation shows, and refuse wrong names and types."""

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import at_k
import pytest
from conftest import ROOT
from test_docs import examples

ACCEPTED = """
import at_k
import numpy as np
import pandas as pd
import polars as pl
from typing import assert_type

rows: list[list[int | None]] = [[1, None, 0], [1, 0]]
assert_type(at_k.pass_at_k(rows, 2), float)
at_k.pass_at_k([[True, False], [True]], 1)
at_k.pass_at_k([1, 0, 1], 1)
at_k.pass_at_k((row for row in rows), 1)
at_k.pass_at_k(np.array([[1, 0]]), 1)
at_k.pass_at_k([np.array([1, 0]), np.array([1])], 1)
at_k.pass_at_k(pd.DataFrame([[1, 0]]), 1)
at_k.pass_at_k(pl.DataFrame([[1, 0]]), 1)
at_k.pass_at_k(at_k.Counts([5], [3]), 1)
at_k.pass_at_k(at_k.Counts(np.array([5]), np.array([3])), 1)
at_k.bayes(at_k.Counts([[1, 2, 2]]), [0, 0.5, 1], R0=[[0]])
assert_type(at_k.pass_at_k_ci(rows, 1, bounds=None), tuple[float, float, float, float])
assert_type(at_k.bayes([[0.5, 1.5]]), tuple[float, float])
profile = at_k.tailpass([[0, 1]], 1, thresholds=[0.5])
assert_type(profile.moment(1), tuple[float, float])
assert_type(profile.linear_ci([1.0]), tuple[float, float, float, float])
at_k.tailpass_empirical([[0, 1]], 1).tolist()
at_k.leaderboard({"a": [[1, 0]], "b": at_k.read("b.jsonl")}, k=1)
at_k.compare({"predictions": [["a"]], "references": ["a"]}, np.array([[1, 0]]))
assert_type(at_k.score_agg(["fully", 0.5, None]), float)
metric = at_k.load("gpassk", num_process=2, process_id=1, experiment_id="a")
metric.add(prediction=["a"], reference="b")
metric.add_batch(predictions=np.array([[1, 0]]))
metric.add_batch(predictions={"n": [8], "correct": [3]})
metric.compute(k=2, budget=8, confidence=0.9)
metric.compute(picked_by=[[0.5, None]], vote_weights=np.array([[1.0, 2.0]]))
metric.compute(k=2, groups=["a"], check_correct_fn="numeric")
at_k.charts.by_k({"A": {"pass@1": 0.5}})
"""

REFUSED = """
at_k.pass_at_k([[1, 0]], k="2")
at_k.pass_at_k([[1, 0]], kk=2)
at_k.pass_at_k([[1, 0]], k=2.0)
at_k.pass_at_k([[1, 0]], k=[1, 2])
at_k.pass_at_k([["a"]], k=1)
at_k.pass_at_k("01", k=1)
at_k.pass_at_k(7, k=1)
at_k.pass_at_k(k=1)
at_k.pass_at_k([[1, 0]], 1).lower()
at_k.pass_at_k_ci([[1, 0]], 1, bounds=0.5)
at_k.pass_at_k_ci([[1, 0]], 1, confidence="95%")
at_k.g_pass_at_k_tau([[1, 0]], 1)
at_k.max_at_k([[1, 0]], 1, w="01")
at_k.tailpass([[0, 1]], 1).moments(1)
at_k.compare([[1, 0]], [[1, 0]], ks=2)
at_k.compare([[1, 0]], k=2)
at_k.plan(rates="0.5")
at_k.leaderboard([[[1, 0]], [[1, 0]]])
at_k.read("a", prediction="b")
at_k.score_agg(["fully"], temperature="hot")
at_k.Counts("5", 3)
at_k.load(7)
""".strip().splitlines()


def pyright(folder: Path) -> dict[str, set[int]]:
    """Return the lines with errors of each file, with at_k installed as a typed package."""
    packages = folder / "venv" / "lib" / "python3.11" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "at_k").symlink_to(ROOT / "shared" / "at_k")
    paths = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "libraries.pth").write_text("\n".join(paths))
    settings = {
        "typeCheckingMode": "strict",
        "pythonVersion": "3.11",
        "venvPath": str(folder),
        "venv": "venv",
        "include": ["*.py"],
        "reportUnusedExpression": False,  # the last line of an example is what it shows
        "reportMissingTypeStubs": False,  # those of pandas
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "basedpyright", "-p", str(folder), "--outputjson"]
    printed = subprocess.run(command, capture_output=True, text=True, timeout=300).stdout
    lines: dict[str, set[int]] = {}
    for problem in json.loads(printed)["generalDiagnostics"]:
        line = problem["range"]["start"]["line"] + 1
        lines.setdefault(Path(problem["file"]).name, set()).add(line)
    return lines


def mypy(folder: Path) -> dict[str, set[int]]:
    """Return the lines with errors of each file."""
    (folder / "mypy.ini").write_text(f"[mypy]\nmypy_path = {ROOT / 'shared'}\nstrict = true\n")
    flags = ["--follow-imports=silent", "--disable-error-code=import-untyped"]
    command = [sys.executable, "-m", "mypy", *flags, *map(str, sorted(folder.glob("*.py")))]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=folder)
    assert result.returncode < 2, result.stdout + result.stderr
    lines: dict[str, set[int]] = {}
    for path, line in re.findall(r"^(.+\.py):(\d+): error: ", result.stdout, re.MULTILINE):
        lines.setdefault(Path(path).name, set()).add(int(line))
    return lines


@pytest.mark.parametrize("checker", [pyright, mypy])
def test_the_examples_are_accepted_and_wrong_arguments_are_refused(checker, tmp_path):
    pages = [ROOT / "README.md", *sorted((ROOT / "shared/site/pages").glob("*.md"))]
    blocks = [code for page in pages for code, _ in examples(page)]
    blocks = [code for code in blocks if "evaluate.combine" not in code]  # which has no types
    assert len(blocks) >= 4
    for number, code in enumerate(blocks):
        (tmp_path / f"readme_{number}.py").write_text(code)
    (tmp_path / "accepted.py").write_text(ACCEPTED)
    (tmp_path / "refused.py").write_text("\n".join(["import at_k", *REFUSED, ""]))
    errors = checker(tmp_path)
    assert {name: lines for name, lines in errors.items() if name != "refused.py"} == {}
    lines = errors["refused.py"]
    assert [call for line, call in enumerate(REFUSED, 2) if line not in lines] == []


def test_every_parameter_and_result_of_a_public_function_has_a_type():
    for name in set(at_k.__all__) - {"Counts"}:
        function = getattr(at_k, name)
        parameters = inspect.signature(function).parameters.values()
        assert all(parameter.annotation is not parameter.empty for parameter in parameters), name
        assert inspect.signature(function).return_annotation is not inspect.Signature.empty, name
