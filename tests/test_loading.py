"""Every way to load a metric, each in a process and a Hugging Face home of its own."""

import doctest
import http.server
import importlib
import inspect
import os
import shutil
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from typing import ClassVar
from unittest.mock import patch

import at_k
import evaluate
import pytest
from at_k.cli.flags import parameter_helps
from at_k.loading import metric_folders
from conftest import ROOT
from evaluate.loading import evaluation_module_factory, import_main_class

METRICS = sorted(path.parent for path in (ROOT / "metrics").glob("*/README.md"))

USE = """
import evaluate
metric = {load}
print(metric.compute(predictions=[["a", "b"]], references=["a"], k=1, include="pass@k"))
"""
EXPECTED = "{'pass@1': 0.5}\n"


def run(code: str, home: Path, folder: Path, isolated: bool = False, **environment: str) -> str:
    """What the code prints, in a fresh process that can import no `at_k` if isolated."""
    if isolated:
        code = "import sys\nsys.modules['at_k'] = None\n" + code
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=os.environ | {"HF_HOME": str(home)} | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_from_the_checkout(tmp_path):
    code = USE.format(load='evaluate.load("metrics/gpassk")')
    assert run(code, tmp_path, ROOT, isolated=True) == EXPECTED


def test_from_the_folder_copied_anywhere(tmp_path):
    shutil.copytree(ROOT / "metrics" / "gpassk", tmp_path / "elsewhere" / "gpassk")
    code = USE.format(load='evaluate.load("gpassk")')
    assert run(code, tmp_path, tmp_path / "elsewhere", isolated=True) == EXPECTED


def test_with_the_package_from_anywhere(tmp_path):
    code = "import at_k\n" + USE.format(load='at_k.load("gpassk")')
    assert run(code, tmp_path, tmp_path) == EXPECTED


def test_by_bare_name_after_at_k_register_without_a_network(tmp_path):
    by_name = USE.format(load='evaluate.load("gpassk")')
    with pytest.raises(AssertionError, match="Couldn't find a module script"):
        run(by_name, tmp_path, tmp_path, isolated=True)
    said = run("from at_k.cli.command import main; main(['register'])", tmp_path, tmp_path)
    assert '"gpassk"' in said
    assert run(by_name, tmp_path, tmp_path, isolated=True) == EXPECTED
    # No Hub within reach is the same as being told to be offline.
    unreachable = {"HF_EVALUATE_OFFLINE": "0", "HF_ENDPOINT": "http://127.0.0.1:1"}
    assert run(by_name, tmp_path, tmp_path, isolated=True, **unreachable) == EXPECTED


def test_registering_again_wins_over_what_was_registered_before(tmp_path):
    old = tmp_path / "modules/evaluate_modules/metrics/evaluate-metric--gpassk" / ("0" * 64)
    register = "import at_k.loading; at_k.loading.register()"
    run(register, tmp_path, tmp_path)
    shutil.copytree(next(old.parent.glob("[0-9a-f]" * 64)), old)
    (old / "gpassk.py").write_text("raise RuntimeError('an old one')")
    run(register, tmp_path, tmp_path)
    by_name = USE.format(load='evaluate.load("gpassk")')
    assert run(by_name, tmp_path, tmp_path, isolated=True) == EXPECTED


class Hub(http.server.SimpleHTTPRequestHandler):
    """Serves metrics/ as a Hub serves the Spaces of an organisation."""

    asked: ClassVar[list[str]] = []

    def translate_path(self, path):
        self.asked.append(f"{self.command} {path}")
        place = path.removeprefix("/spaces/evaluate-metric/").split("/")
        if len(place) == 4 and place[1:3] == ["resolve", "main"]:
            return str(ROOT / "metrics" / place[0] / place[3])
        return str(ROOT / "no such file")

    def log_message(self, *args):
        pass


def test_by_bare_name_from_a_hub(tmp_path):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        endpoint = f"http://127.0.0.1:{server.server_port}"
        code = USE.format(load='evaluate.load("gpassk")')
        online = {"HF_ENDPOINT": endpoint, "HF_EVALUATE_OFFLINE": "0", "HF_HUB_OFFLINE": "0"}
        assert run(code, tmp_path, tmp_path, isolated=True, **online) == EXPECTED
        server.shutdown()
    fetched = {line.rpartition("/")[2] for line in Hub.asked if line.startswith("GET")}
    assert fetched >= {path.name for path in (ROOT / "metrics" / "gpassk").glob("*.py")}


def test_a_name_that_is_no_metric_is_refused_with_the_names():
    with pytest.raises(ValueError, match=r"no metric 'gpass': there are .*gpassk"):
        at_k.load("gpass")


def test_the_package_finds_every_metric_folder():
    assert metric_folders() == {folder.name: folder for folder in METRICS}


# --- As evaluate's own module test has it -----------------------------------------------


@pytest.mark.parametrize("folder", METRICS, ids=lambda folder: folder.name)
def test_the_module_test_of_evaluate(folder, monkeypatch):
    monkeypatch.chdir(ROOT)
    path = evaluation_module_factory(f"metrics/{folder.name}", module_type="metric").module_path
    module = importlib.import_module(path)
    metric = import_main_class(module.__name__)
    parameters = inspect.signature(metric._compute).parameters.values()
    assert all(parameter.kind != parameter.VAR_KEYWORD for parameter in parameters)

    def load_local(load, name, *args, **options):
        return load(os.path.join("metrics", name), *args, **options)

    with patch("evaluate.load", partial(load_local, evaluate.load)):
        results = doctest.testmod(module)
    assert results.failed == 0
    assert results.attempted > 1


@pytest.mark.parametrize("folder", METRICS, ids=lambda folder: folder.name)
def test_every_parameter_is_told_of_in_the_docstring_and_on_the_card(folder):
    metric = at_k.load(folder.name)
    parameters = list(inspect.signature(metric._compute).parameters)
    assert list(parameter_helps(metric.inputs_description)) == parameters
    inputs = (folder / "README.md").read_text().partition("### Inputs")[2]
    for parameter in parameters:
        assert f"**{parameter}**" in inputs


@pytest.mark.parametrize("folder", METRICS, ids=lambda folder: folder.name)
def test_the_requirements_of_a_folder_are_among_those_of_the_package(folder):
    setup = (ROOT / "setup.cfg").read_text()
    for line in (folder / "requirements.txt").read_text().split():
        assert f"    {line}\n" in setup
