"""The tests read and write a Hugging Face home of their own, and reach no network.

Except for the package index, once: tests/releases.py has releases that cannot be installed
side by side downloaded from where pip installs from.
"""

import os
import shutil
import tempfile
from pathlib import Path

# Before anything imports evaluate or datasets, which read these once.
os.environ["HF_HOME"] = tempfile.mkdtemp(prefix="at-k-tests-")
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_EVALUATE_OFFLINE"] = "1"

import evaluate
import hypothesis
import pytest

ROOT = Path(__file__).resolve().parents[1]

# A property test must not fail because the machine is busy.
hypothesis.settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any machine")


@pytest.fixture(scope="session", autouse=True)
def home():
    yield
    shutil.rmtree(os.environ["HF_HOME"], ignore_errors=True)


@pytest.fixture
def gpassk() -> evaluate.Metric:
    return evaluate.load(str(ROOT / "metrics" / "gpassk"))
