"""The recipes: short scripts that use at_k with other libraries, and check their scores.

The libraries of LIGHT and Dask are installed for the tests. The other scripts were run by hand on
Python 3.11 with lm-eval 0.4.13, lighteval 0.13.0, transformers 5.23.0, accelerate 1.15.0, ray
2.60.0, pyspark 4.3.0, mlflow 3.17.2, tensorboardX 2.6.5, wandb 0.31.0 and trackio 0.43.0.
mpi_counts runs in one process here, and ran by hand in 2 and 3. remote_sandbox runs among the tests
of checkers.
"""

import os
import subprocess
import sys
from pathlib import Path

from conftest import ROOT

FOLDER = Path(__file__).parent
LIGHT = (
    *("datasets_map", "duckdb_counts", "from_samples_to_paper", "inspect_reducer", "mpi_counts"),
    *("pandas_counts", "polars_counts", "trl_rewards"),
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


def test_every_recipe_says_what_it_needs_and_is_on_the_page():
    recipes = [file for file in FOLDER.glob("*.py") if not file.name.startswith("test_")]
    assert len(recipes) >= 14
    page = (FOLDER / "README.md").read_text()
    for file in recipes:
        assert "Needs " in file.read_text().split('"""')[1], file.name
        assert f"({file.name})" in page
