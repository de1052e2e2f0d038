"""Fixtures of the tests of Spaces: each Space, running, and Debian's Chromium without a window.

The tests name this module as a pytest plugin. A conftest.py in this folder would have the same
module name as tests/conftest.py.
"""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from filelock import FileLock
from playwright.sync_api import sync_playwright
from running_space import NAMES, bundle, clean_environment, start


@pytest.fixture(scope="session")
def clean_python(tmp_path_factory):
    """The Python of a virtual environment with the requirements of the Spaces, and nothing else.

    All processes of a parallel run share the environment: the first one installs it.
    """
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "clean"
    with FileLock(f"{folder}.lock"):
        if not (folder / "installed").exists():
            install_requirements(folder)
            (folder / "installed").touch()
    return str(folder / "env" / "bin" / "python")


def install_requirements(folder):
    python = str(folder / "env" / "bin" / "python")
    venv.create(folder / "env")
    requirements = []
    for name in NAMES:
        bundle(name, folder / name)
        requirements += ["-r", str(folder / name / "requirements.txt")]
    # The pip of this environment installs, and modules are compiled when they are first imported.
    # This halves the time of the installation.
    pip = [sys.executable, "-m", "pip", "--python", python, "install"]
    options = ["-q", "--disable-pip-version-check", "--no-compile"]
    subprocess.run(
        [*pip, *options, *requirements], check=True, timeout=900, env=clean_environment()
    )


@pytest.fixture(scope="session", params=NAMES)
def space(request, clean_python, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    compiled = Path(clean_python).parents[2] / "compiled"
    with start(request.param, clean_python, compiled, folder) as running:
        yield running


@pytest.fixture(scope="session")
def browser():
    chromium = shutil.which("chromium")
    if chromium is None:
        if os.environ.get("CI"):
            pytest.fail("Chromium is required if CI is set: apt-get install chromium")
        pytest.skip("Chromium is not installed: apt-get install chromium")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=flags)
        yield started
        started.close()
