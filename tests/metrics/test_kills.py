"""Processes that are killed at random moments."""

import subprocess
import sys

from conftest import ROOT


def test_a_process_that_was_killed_leaves_nothing_that_harms_the_next_one():
    command = [sys.executable, str(ROOT / "tests/benchmarks/kills.py"), "--rounds", "16"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=1200)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout == "0 failures in 16 rounds\n"
