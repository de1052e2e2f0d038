"""The results of this version are those of the recorded table."""

import subprocess
import sys

from conftest import ROOT


def test_every_result_is_the_recorded_one():
    """`python tests/golden.py record` records the table anew, if a change is meant."""
    compare = [sys.executable, str(ROOT / "tests" / "golden.py"), "compare"]
    finished = subprocess.run(compare, capture_output=True, text=True, cwd=ROOT)
    assert finished.returncode == 0, finished.stdout + finished.stderr
