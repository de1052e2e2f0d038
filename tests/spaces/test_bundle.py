"""The folders that spaces/bundle.py writes."""

import os
import re
import subprocess
import sys

import pytest
from conftest import ROOT
from hub import Hub

NAMES = sorted(path.parent.name for path in (ROOT / "spaces").glob("*/app.py"))
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
    for path in (ROOT / "metrics" / space.name).glob("*.py"):
        assert (space / path.name).read_bytes() == path.read_bytes()
    pages = [path for path in (ROOT / "spaces" / "page").iterdir() if path.is_file()]
    for path in pages:
        assert (space / "page" / path.name).read_bytes() == path.read_bytes()
    lib = space / "page" / "lib" / "at_k"
    copies = [path for path in lib.rglob("*.py") if path != lib / "__init__.py"]
    assert {lib / "core" / "votes.py", lib / "charts" / "curves.py"} <= {*copies}
    for copy in copies:
        assert copy.read_bytes() == (PACKAGE / copy.relative_to(lib)).read_bytes()
    app = ROOT / "spaces" / space.name / "app.py"
    assert (space / "app.py").read_bytes() == app.read_bytes()


def test_the_page_is_built_with_its_own_package_and_all_downloads(space):
    code = """
from pathlib import Path
from app import SPACE  # which puts the package of the bundle on the path
import at_k
from page.files import write_files
from page.interface import build_page
from page.scoring import score
from page.sharing import example_request
assert Path(at_k.__file__).is_relative_to(Path("page/lib").resolve())
functions = [x["api_name"] for x in build_page(SPACE).get_config_file()["dependencies"]]
assert functions.count("scores") == 1
request = example_request(SPACE, SPACE.examples[0])
Path("files").mkdir()
for file in write_files(request, score(request), "files"):
    assert Path(file).stat().st_size
"""
    run(code, space)
    lib = space / "page" / "lib" / "at_k"
    for module in ("cli/command", "cli/gate_files", "integrations/lm_eval", "runs/plan"):
        assert (PACKAGE / f"{module}.py").exists()
        assert not (lib / f"{module}.py").exists()


def test_the_card_has_the_header_of_a_space(space):
    header = (space / "README.md").read_text(encoding="utf-8").split("---")[1]
    for field in ("sdk: gradio", "sdk_version: 6.", "app_file: app.py", 'python_version: "3.11"'):
        assert f"\n{field}" in header
    (version,) = re.findall(r"sdk_version: (\S+)", header)
    assert f"gradio=={version}\n" in (space / "requirements.txt").read_text()


def test_every_link_of_the_card_leads_somewhere(space):
    card = (space / "README.md").read_text(encoding="utf-8")
    original = (ROOT / "metrics" / space.name / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]+)\)", card)
    assert len(links) == len(re.findall(r"\]\(([^)]+)\)", original))
    for link in links:
        url, _, path = link.partition("/blob/main/")
        if path:
            assert f"\nurl = {url}\n" in (ROOT / "setup.cfg").read_text()
            assert (ROOT / path.partition("#")[0]).exists()
        elif not link.startswith(("https:", "http:", "#")):
            assert (space / link).is_file()


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


def test_a_bundle_overwrites_nothing(tmp_path):
    (tmp_path / "mine").touch()
    result = bundle("gpassk", tmp_path)
    assert result.returncode == 1
    assert "is not empty" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_name_without_a_space_is_refused_with_the_names(tmp_path):
    result = bundle("gpass", tmp_path / "space")
    assert result.returncode == 1
    assert "There is no Space 'gpass'. The Spaces are bayes_at_n, " in result.stderr
