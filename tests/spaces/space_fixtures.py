"""Fixtures of the tests of Spaces: the page, a running Space, and a browser without a window.

The tests name this module as a pytest plugin. A conftest.py in this folder would have the same
module name as tests/conftest.py.
"""

import importlib
import os
import shutil
import subprocess
import venv
from pathlib import Path
from types import SimpleNamespace

import pytest
from apps import MODULES
from conftest import ROOT
from linked_packages import link_requirements
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
