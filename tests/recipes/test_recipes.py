"""The recipes: short scripts that use at_k with other libraries, and check their scores.

The libraries of LIGHT are installed for the tests. The other scripts were run by hand on Python
3.11 with lm-eval 0.4.13, lighteval 0.13.0, transformers 5.23.0, accelerate 1.15.0, ray 2.60.0,
pyspark 4.3.0, mlflow 3.17.2, tensorboardX 2.6.5, wandb 0.31.0 and trackio 0.43.0.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

FOLDER = Path(__file__).parent
LIGHT = {
    "dask_counts": "distributed",
    "datasets_map": "datasets",
    "duckdb_counts": "duckdb",
    "inspect_reducer": "inspect_ai",
    "pandas_counts": "pandas",
    "polars_counts": "polars",
    "trl_rewards": "numpy",
}


@pytest.mark.parametrize("name", LIGHT)
def test_a_recipe_gets_the_scores_that_it_asserts(name, tmp_path):
    if importlib.util.find_spec(LIGHT[name]) is None:
        pytest.skip(f"needs {LIGHT[name]}")
    environment = os.environ | {"PYTHONPATH": str(ROOT / "shared"), "HF_HUB_OFFLINE": "1"}
    run = subprocess.run(
        [sys.executable, FOLDER / f"{name}.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr


def test_every_recipe_says_what_it_needs_and_is_on_the_page():
    recipes = [file for file in FOLDER.glob("*.py") if not file.name.startswith("test_")]
    assert len(recipes) >= 14
    page = (FOLDER / "README.md").read_text()
    for file in recipes:
        assert "Needs " in file.read_text().split('"""')[1], file.name
        assert f"({file.name})" in page
