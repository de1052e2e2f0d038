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


def is_of_a_running_space(nodeid: str) -> bool:
    return nodeid.startswith("tests/spaces/") and "test_bundle" not in nodeid


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the Spaces, which take as long as all other tests together."""
    items.sort(key=lambda item: not is_of_a_running_space(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Run each file in one process, and all Spaces in one: they share servers."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "spaces" if is_of_a_running_space(nodeid) else nodeid.partition("::")[0]

    return ByFile(config, log)


@pytest.fixture(scope="session", autouse=True)
def temporary_home():
    yield
    shutil.rmtree(os.environ["HF_HOME"], ignore_errors=True)


@pytest.fixture
def gpassk() -> evaluate.Metric:
    return evaluate.load(str(ROOT / "metrics" / "gpassk"))
