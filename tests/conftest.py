"""Fixtures of all tests, which use a temporary Hugging Face home and no network."""

import os
import re
import shutil
import tempfile
from collections import Counter
from importlib.util import find_spec
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


def scope_of(nodeid: str) -> str:
    """Return what runs in one process: the tests of a running Space, or those of a file."""
    file, _, test = nodeid.partition("::")
    is_of_a_running_space = file.startswith("tests/spaces/") and "test_bundle" not in file
    names = re.findall(r"\w+", test.partition("[")[2]) if is_of_a_running_space else []
    spaces = [name for name in names if (ROOT / "spaces" / name / "app.py").exists()]
    return spaces[0] if spaces else file


HARNESSES = {"test_inspect_metric": "inspect_ai", "test_lm_eval_metric": "lm_eval"}
collect_ignore = [  # where a harness is not installed; under CI, its tests fail
    f"integrations/{test}.py"
    for test, harness in HARNESSES.items()
    if not (os.environ.get("CI") or find_spec(harness))
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spread the Spaces among the first half of the files, and begin both with the longest.

    These are the Space with the most tests, the tests of sandboxes, and the last files in
    alphabetical order. So all processes end at about the same time.
    """
    numbers = Counter(scope_of(item.nodeid) for item in items)
    spaces = sorted((s for s in numbers if "/" not in s), key=lambda s: -numbers[s])
    files = [scope for scope in reversed(numbers) if "/" in scope]
    files.sort(key=lambda file: not file.startswith("tests/checkers/"))
    ranks = {scope: index / len(files) for index, scope in enumerate(files)}
    ranks |= {scope: index / (2 * len(spaces)) for index, scope in enumerate(spaces)}
    items.sort(key=lambda item: ranks[scope_of(item.nodeid)])


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip the tests of sandboxes without bubblewrap, or fail them if CI is set."""
    if item.path.is_relative_to(ROOT / "tests" / "checkers") and shutil.which("bwrap") is None:
        problem = "bubblewrap is not installed: apt-get install bubblewrap"
        pytest.fail(problem) if os.environ.get("CI") else pytest.skip(problem)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Run one file in this process, and more of them in two processes more than there are cores.

    Tests of pages wait for a browser, so a process for each core would leave some cores idle.
    """
    files = [name.partition("::")[0] for name in config.option.file_or_dir]
    is_one_file = len({*files}) == 1 and files[0].endswith(".py")
    return 0 if is_one_file else (os.cpu_count() or 1) + 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Run each file in one process, and each Space in one: its tests share a server."""
    from xdist.scheduler import LoadScopeScheduling

    class ByScope(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return scope_of(nodeid)

    return ByScope(config, log)


@pytest.fixture(scope="session", autouse=True)
def temporary_home():
    yield
    shutil.rmtree(os.environ["HF_HOME"], ignore_errors=True)


@pytest.fixture
def gpassk() -> evaluate.Metric:
    return evaluate.load(str(ROOT / "metrics" / "gpassk"))
