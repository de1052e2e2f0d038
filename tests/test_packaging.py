"""What is installed: the wheel, alone in an empty folder; and the vendored copies."""

import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest
from conftest import ROOT


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **options)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    # From a copy, so that a build leaves nothing in the checkout.
    source = shutil.copytree(
        ROOT, folder / "source", ignore=shutil.ignore_patterns(".*", "*.egg-info", "build")
    )
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q"]
    result = run(*pip, "-w", folder, source)
    assert result.returncode == 0, result.stderr
    return next(folder.glob("evaluate_at_k-*.whl"))


def test_the_wheel_holds_the_package_the_metrics_and_the_samples(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for path in [*(ROOT / "shared/at_k").glob("*.py"), *(ROOT / "shared/at_k").glob("*/*.jsonl")]:
        assert str(path.relative_to(ROOT / "shared")) in names
    for path in (ROOT / "metrics").glob("*/*.*"):
        if path.suffix != ".svg":  # of the cards, which no program needs
            assert f"at_k/{path.relative_to(ROOT)}" in names
    metadata = "-".join(wheel.name.split("-")[:2]) + ".dist-info"
    assert {name.split("/")[0] for name in names} == {"at_k", metadata}


def test_the_wheel_works_in_an_empty_folder(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    empty = tmp_path / "empty"
    empty.mkdir()
    code = "import at_k.cli.command as c; print(c.__file__); c.main(['demo'])"
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "site")}
    result = run(sys.executable, "-c", code, cwd=empty, env=environment)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith(str(tmp_path / "site"))
    assert "warm samples reach further" in result.stdout


def test_the_metadata_the_command_and_the_citation_agree_on_the_version(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path)
    code = """
import importlib.metadata, at_k.cli.command
print(at_k.__version__, importlib.metadata.version("evaluate-at-k"))
at_k.cli.command.main(["--version"])
"""
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    result = run(sys.executable, "-c", code, cwd=tmp_path, env=environment)
    assert result.returncode == 0, result.stderr
    versions = result.stdout.split()
    assert len(versions) == 3
    assert len({*versions}) == 1
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    released = re.search(r"^version: (.+)$", citation, re.MULTILINE)
    assert released
    # Between releases, the citation names the latest one.
    newest = re.search(r"^## \[(\d[^]]*)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest
    assert newest[1] == released[1]
    assert versions[0] == newest[1] or versions[0].endswith(".dev0")


def test_the_vendored_copies_are_those_of_shared():
    result = run(sys.executable, ROOT / "shared/vendor.py", "--check")
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.fixture
def tree(tmp_path):
    for name in ("shared", "metrics"):
        shutil.copytree(ROOT / name, tmp_path / name)
    return tmp_path


def vendor(tree, *flags):
    return run(sys.executable, tree / "shared/vendor.py", *flags)


def test_vendoring_notes_and_mends_drift(tree):
    changed = tree / "metrics/gpassk/draws.py"
    missing = tree / "metrics/gpassk/wide.py"
    stale = tree / "metrics/gpassk/old.py"
    changed.write_text("# changed")
    missing.unlink()
    stale.write_text("")
    result = vendor(tree, "--check")
    assert result.returncode != 0
    for path in (changed, missing, stale):
        assert f"metrics/gpassk/{path.name}" in result.stdout
    assert changed.read_text() == "# changed"
    assert vendor(tree).returncode == 0
    assert vendor(tree, "--check").returncode == 0
    assert not stale.exists()
    assert changed.read_bytes() == (tree / "shared/at_k/draws.py").read_bytes()


def test_a_script_has_to_name_every_module_it_needs(tree):
    script = tree / "metrics/gpassk/gpassk.py"
    script.write_text(re.sub(r"^from \.wide.*\n", "", script.read_text(), flags=re.MULTILINE))
    result = vendor(tree, "--check")
    assert result.returncode != 0
    assert "import from these too: wide" in result.stderr
