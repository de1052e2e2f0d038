"""The folders that spaces/bundle.py writes."""

import os
import re
import subprocess
import sys

import pytest
from apps import NAMES
from conftest import ROOT
from hub import Hub

PACKAGE = ROOT / "shared" / "at_k"


def bundle(name, target):
    command = [sys.executable, ROOT / "spaces" / "bundle.py", name, target.name]
    return subprocess.run(command, cwd=target.parent, capture_output=True, text=True, timeout=300)


def run(code, folder, **environment):
    """Return what the code prints in a folder, in a process without the path of this project."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    settings = {"cwd": folder, "env": inherited | environment, "text": True, "timeout": 300}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, **settings)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture(scope="module", params=NAMES)
def space(request, tmp_path_factory):
    target = tmp_path_factory.mktemp("bundles") / request.param
    result = bundle(request.param, target)
    assert result.returncode == 0, result.stderr
    return target


def test_a_bundle_has_the_files_of_the_metric_the_app_and_the_page(space):
    files = {"app.py", f"{space.name}.py", "kernel.py", "README.md", "requirements.txt"}
    assert {path.name for path in space.iterdir()} == {*files, "page"}
    assert not any(path.is_symlink() for path in space.rglob("*"))
    lib = space / "page" / "lib" / "at_k"
    copies = [path for path in lib.rglob("*.py") if path != lib / "__init__.py"]
    assert {lib / "core" / "votes.py", lib / "charts" / "curves.py"} <= {*copies}
    sources = {copy: PACKAGE / copy.relative_to(lib) for copy in copies}
    sources |= {space / x.name: x for x in (ROOT / "metrics" / space.name).glob("*.py")}
    page = [path for path in (ROOT / "spaces" / "page").iterdir() if path.is_file()]
    sources |= {space / "page" / path.name: path for path in page}
    for copy, source in sources.items():
        assert copy.read_bytes() == source.read_bytes()
    for module in ("cli/command", "cli/gate_files", "integrations/lm_eval", "runs/plan"):
        assert (PACKAGE / f"{module}.py").exists()
        assert not (lib / f"{module}.py").exists()


def test_the_page_is_built_with_its_own_package_and_all_files(space):
    code = """
import sys
from pathlib import Path
from app import SPACE  # which puts the package of the bundle on the path
import at_k
from page.files import write_files
from page.interface import build_page
from page.request import example_request
from page.scoring import score
assert Path(at_k.__file__).is_relative_to(Path("page/lib").resolve())
assert not [path for path in sys.path if path.endswith("..")]
functions = [x["api_name"] for x in build_page(SPACE).get_config_file()["dependencies"]]
assert functions.count("scores") == 1
Path("files").mkdir()
for file in write_files(score(example_request(SPACE, SPACE.examples[0])), "files"):
    assert Path(file).stat().st_size
"""
    run(code, space)


def test_the_card_has_the_header_of_a_space_and_links_that_lead_somewhere(space):
    card = (space / "README.md").read_text(encoding="utf-8")
    original = (ROOT / "metrics" / space.name / "README.md").read_text(encoding="utf-8")
    for field in ("sdk: gradio", "sdk_version: 6.", "app_file: app.py", 'python_version: "3.11"'):
        assert f"\n{field}" in card.split("---")[1]
    (version,) = re.findall(r"sdk_version: (\S+)", card)
    assert f"gradio=={version}\n" in (space / "requirements.txt").read_text()
    links = re.findall(r"\]\(([^)]+)\)", card)
    assert len(links) == len(re.findall(r"\]\(([^)]+)\)", original))
    for link in links:
        url, *parts = re.split("/(?:blob|raw)/main/", link)
        for path in parts:
            assert f"\nurl = {url}\n" in (ROOT / "setup.cfg").read_text()
            assert (ROOT / path.partition("#")[0]).exists()
        assert link.startswith(("https:", "http:", "#"))


def test_a_metric_loads_from_its_space_on_the_hub(tmp_path):
    assert bundle("gpassk", tmp_path / "space").returncode == 0
    code = """
import sys
sys.modules["at_k"] = None  # the metric needs no other files
import evaluate
metric = evaluate.load("someone/gpassk")
print(metric.compute(predictions=[[1, 0]], k=1, include="pass@k"))
"""
    with Hub({"someone/gpassk": tmp_path / "space"}) as hub:
        home = {"HF_HOME": str(tmp_path / "home")}
        assert run(code, tmp_path, **home, **hub.environment) == "{'pass@1': 0.5}\n"


def test_a_bundle_overwrites_nothing_and_an_unknown_name_is_refused(tmp_path):
    (tmp_path / "mine").touch()
    for name, target, message in (
        ("gpassk", tmp_path, "is not empty"),
        ("gpass", tmp_path / "new", "There is no Space 'gpass'. The Spaces are bayes_at_n, "),
    ):
        result = bundle(name, target)
        assert result.returncode == 1
        assert message in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
