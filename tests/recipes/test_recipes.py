"""The recipes: short scripts that use at_k with other libraries, and check their scores.

The libraries of LIGHT, Dask and openai are installed for the tests. The other scripts were run by
hand on Python 3.11 with lm-eval 0.4.13, lighteval 0.13.0, transformers 5.23.0, accelerate 1.15.0,
ray 2.60.0, pyspark 4.3.0, mlflow 3.17.2, tensorboardX 2.6.5, wandb 0.31.0 and trackio 0.43.0. So
were verl_advantages, and the training of trl_pass_at_k: with torch 2.15.0, verl 0.9.1 and trl
1.16.0. torch for Linux on PyPI takes 4 GB with its libraries, too much for the tests.
mpi_counts runs in one process here, and ran by hand in 2 and 3. remote_sandbox runs among the tests
of checkers.
"""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import yaml
from conftest import ROOT

FOLDER = Path(__file__).parent
LIGHT = (
    *("datasets_map", "duckdb_counts", "from_samples_to_paper", "inspect_metric", "mpi_counts"),
    *("pandas_counts", "polars_counts", "trl_pass_at_k", "trl_rewards"),
    *(["lm_eval_task"] if os.environ.get("CI") or find_spec("lm_eval") else []),
)


def run(*command, folder):
    environment = os.environ | {"PYTHONPATH": str(ROOT / "shared"), "HF_HUB_OFFLINE": "1"}
    result = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr


def test_the_recipes_get_the_scores_that_they_assert(tmp_path):
    """In one process: each would import evaluate again."""
    files = [str(FOLDER / f"{name}.py") for name in LIGHT]
    code = f"import runpy\nfor file in {files}:\n    runpy.run_path(file, run_name='__main__')"
    run("-c", code, folder=tmp_path)


def test_the_recipe_with_workers_gets_the_scores_that_it_asserts(tmp_path):
    run(FOLDER / "dask_counts.py", folder=tmp_path)


def test_the_recipe_with_a_judge_gets_the_scores_that_it_asserts(tmp_path):
    run(FOLDER / "llm_judge.py", folder=tmp_path)


def test_the_assertions_of_the_recipe_for_pytest_pass(tmp_path):
    run("-m", "pytest", "-q", "-p", "no:cacheprovider", FOLDER / "pytest_gate.py", folder=tmp_path)


def test_the_workflow_of_github_gates_a_run(tmp_path):
    """The command of its last step, in a shell, with a better run and with a worse one."""
    (*_, step) = yaml.safe_load((FOLDER / "github_gate.yml").read_text())["jobs"]["gate"]["steps"]
    command = step["run"].replace("at-k", f"{sys.executable} -m at_k", 1)
    samples = ROOT / "shared/at_k/samples"
    runs = {name: samples / f"smollm2_{name}.jsonl" for name in ("warm", "cool")}
    for new, baseline, status in (("cool", "warm", 0), ("warm", "cool", 1)):
        for target, name in {"new": new, "baseline": baseline}.items():
            shutil.copy(runs[name], tmp_path / f"{target}.jsonl")
        environment = os.environ | {"PYTHONPATH": str(ROOT / "shared")}
        environment["GITHUB_STEP_SUMMARY"] = str(tmp_path / "summary.md")
        result = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert result.returncode == status, result.stderr
        assert ("Shown: " if status == 0 else "The contrary is shown: ") in result.stdout
    assert (tmp_path / "summary.md").read_text().count("pass@1 is ") == 2


def test_every_recipe_says_what_it_needs_and_is_on_the_page():
    recipes = [file for file in FOLDER.glob("*.py") if not file.name.startswith("test_")]
    assert len(recipes) >= 14
    page = (FOLDER / "README.md").read_text()
    for file in recipes:
        assert "Needs " in file.read_text().split('"""')[1], file.name
        assert f"({file.name})" in page
