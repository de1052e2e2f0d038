"""Fixtures of all tests, which use a temporary Hugging Face home and no network.

There are two exceptions: tests/releases.py downloads published wheels from the package index, and
the tests of the Spaces install the requirements of the bundles from it.
"""

import os
import shutil
import tempfile
from pathlib import Path

# evaluate and datasets read these once, when they are imported.
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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let pytest-xdist run each file in one process, and the Spaces first and in one process.

    The Spaces share servers and an environment, and they take as long as all other tests together.
    """
    spaces = ROOT / "tests" / "spaces"
    items.sort(key=lambda item: spaces not in item.path.parents)
    for item in items:
        shared = spaces in item.path.parents and item.path.name != "test_bundle.py"
        group = "spaces" if shared else str(item.path.relative_to(ROOT))
        item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture(scope="session", autouse=True)
def temporary_home():
    yield
    shutil.rmtree(os.environ["HF_HOME"], ignore_errors=True)


@pytest.fixture
def gpassk() -> evaluate.Metric:
    return evaluate.load(str(ROOT / "metrics" / "gpassk"))
