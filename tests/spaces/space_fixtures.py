"""Fixtures of the tests of Spaces: the page, a running Space, and a browser without a window.

The tests name this module as a pytest plugin. A conftest.py in this folder would have the same
module name as tests/conftest.py.
"""

import importlib
import os
import shutil
import subprocess
import venv
from importlib.metadata import Distribution, distribution
from pathlib import Path
from types import SimpleNamespace

import pytest
from apps import MODULES
from conftest import ROOT
from packaging.requirements import Requirement
from playwright.sync_api import sync_playwright
from running_space import bundle, start


@pytest.fixture
def page(monkeypatch, tmp_path):
    """The modules of the page. Requests write their files to the current folder."""
    monkeypatch.syspath_prepend(ROOT / "spaces")
    monkeypatch.chdir(tmp_path)
    return SimpleNamespace(**{name: importlib.import_module(f"page.{name}") for name in MODULES})


@pytest.fixture(scope="session")
def clean_python(tmp_path_factory):
    """The Python of a virtual environment with what a Space requires, and nothing else.

    The packages are links to those of the environment of the tests: an installation would take
    longer than all tests of a Space.
    """
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder / "env")
    bundle("gpassk", folder / "gpassk")
    requirements = (folder / "gpassk" / "requirements.txt").read_text().split()
    # A Space on the Hub has the version of gradio that its card names. Later ones have to work too.
    requirements = [line.replace("==", ">=") for line in requirements]
    python = folder / "env" / "bin" / "python"
    code = "import sysconfig; print(sysconfig.get_path('platlib'))"
    packages = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    link_requirements(requirements, Path(packages.stdout.strip()))
    return str(python)


@pytest.fixture(scope="session", params=["gpassk"])
def space(request, clean_python, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    with start(request.param, clean_python, folder) as running:
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


# --- Links ------------------------------------------------------------------------------


def link_requirements(requirements: list[str], folder: Path) -> None:
    """Link the installed distributions that meet requirements, and all that these require."""
    waiting = [(Requirement(line), "") for line in requirements]
    done = set()
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        found = distribution(requirement.name)
        if not requirement.specifier.contains(found.version, prereleases=True):
            raise ValueError(f"{requirement} is required, and {found.version} is installed.")
        for wanted in ("", *requirement.extras):
            if (found.name, wanted) not in done:
                done.add((found.name, wanted))
                waiting += [(Requirement(line), wanted) for line in found.requires or ()]
        link_files(found, folder)


def link_files(found: Distribution, folder: Path) -> None:
    """Link the modules, packages and metadata of a distribution, but not its scripts."""
    for name in {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
        link = folder / name
        if not link.exists():
            link.symlink_to(Path(str(found.locate_file(name))))
