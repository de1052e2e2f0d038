"""What is delivered: the wheel, the folders of the metrics, what is imported, and the layout."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import vendor
from at_k.loading import core_hash
from conftest import ROOT

METRICS = sorted(path.parent for path in (ROOT / "metrics").glob("*/README.md"))


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **options)


@pytest.fixture(name="source", scope="module")
def copy_of_the_checkout(tmp_path_factory):
    """A build leaves nothing in the checkout."""
    ignored = shutil.ignore_patterns(".git", ".venv", ".*_cache", "*.egg-info", "build", "dist")
    return shutil.copytree(ROOT, tmp_path_factory.mktemp("copy") / "source", ignore=ignored)


@pytest.fixture(scope="module")
def wheel(source, tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q"]
    result = run(*pip, "-w", folder, source)
    assert result.returncode == 0, result.stderr
    return next(folder.glob("evaluate_at_k-*.whl"))


def test_the_wheel_holds_the_package_the_metrics_and_the_samples(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    shared = ROOT / "shared"
    for pattern in ("**/*.py", "py.typed", "samples/*.jsonl"):
        for path in (shared / "at_k").glob(pattern):
            assert str(path.relative_to(shared)) in names
    for path in (ROOT / "metrics").glob("*/*.*"):
        assert f"at_k/{path.relative_to(ROOT)}" in names
    metadata = "-".join(wheel.name.split("-")[:2]) + ".dist-info"
    assert {name.split("/")[0] for name in names} == {"at_k", metadata}


def build_sdist(source, folder):
    build = "import sys, build_backend as b; b.build_sdist(sys.argv[1])"
    paths = os.environ | {"PYTHONPATH": str(source / "shared")}
    result = run(sys.executable, "-c", build, folder, cwd=source, env=paths)
    assert result.returncode == 0, result.stderr
    (sdist,) = folder.glob("evaluate_at_k-*.tar.gz")
    return sdist


def test_the_sdist_holds_every_file_of_the_repository_and_has_the_same_bytes_again(
    source, tmp_path
):
    (tmp_path / "again").mkdir()
    sdist = build_sdist(source, tmp_path)
    os.utime(source / "LICENSE", (0, 0))
    (source / "LICENSE").chmod(0o600)
    assert build_sdist(source, tmp_path / "again").read_bytes() == sdist.read_bytes()
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    tracked = run("git", "ls-files", cwd=ROOT).stdout.splitlines()
    assert set(tracked) - names <= {".gitattributes", ".gitignore"}


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A function that runs code in an empty folder with the wheel, whose folder it has."""
    site, empty, home = (tmp_path_factory.mktemp(name) for name in ("site", "empty", "home"))
    zipfile.ZipFile(wheel).extractall(site)
    environment = os.environ | {"PYTHONPATH": str(site), "HF_HOME": str(home)}

    def python(code):
        result = run(sys.executable, "-c", code, cwd=empty, env=environment)
        assert result.returncode == 0, result.stderr
        return result.stdout.replace(str(site), "site")

    return python


def test_the_wheel_works_in_an_empty_folder(installed):
    score = "print(metric.compute(predictions=[[1, 0, 1, 1]], k=2, include='pass@k'))"
    shown = installed(
        "import at_k, at_k.cli.command as c; print(c.__file__); c.main(['demo'])\n"
        f"c.main(['register']); metric = at_k.load('gpassk'); {score}"
    )
    assert shown.startswith("site")
    assert "T = 0.8 has the higher pass@k" in shown
    by_name = installed(f"import evaluate; metric = evaluate.load('gpassk'); {score}")
    assert by_name == "{'pass@2': 1.0}\n"
    assert shown.endswith(by_name)


def test_the_metadata_the_command_and_the_citation_agree_on_the_version(installed):
    code = """
import importlib.metadata, at_k.cli.command
print(at_k.__version__, importlib.metadata.version("evaluate-at-k"))
at_k.cli.command.main(["--version"])
"""
    versions = installed(code).split()
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


# --- What is required -------------------------------------------------------------------

OPTIONAL = {
    "aiohttp",
    "altair",
    "inspect_ai",
    "IPython",
    "lighteval",
    "lm_eval",
    "math_verify",
    "vl_convert",
    "pytest",
    "_pytest",
}


def imported_by(paths, standard=False):
    """Return the libraries that modules import by name, at the top level or in functions."""
    names = set()
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names.add((node.module or "").partition(".")[0])
    return names - {"at_k"} if standard else names - sys.stdlib_module_names - {"at_k"}


def required(lines):
    return {re.split(r"\W", line.strip())[0] for line in lines}


def test_the_package_requires_every_library_that_it_imports():
    harnesses = {"inspect_ai", "lighteval", "lm_eval"}  # whoever calls an integration has its own
    imported = imported_by((ROOT / "shared" / "at_k").rglob("*.py")) - OPTIONAL - harnesses
    imported = {"pyyaml" if name == "yaml" else name for name in imported}  # as PyPI names it
    settings = (ROOT / "setup.cfg").read_text()
    lines = settings.partition("install_requires =\n")[2].partition("# Subpackages")[0]
    assert imported == required(lines.splitlines())


@pytest.mark.parametrize("folder", METRICS, ids=lambda folder: folder.name)
def test_a_metric_requires_every_library_that_it_imports(folder):
    imported = imported_by(folder.glob("*.py")) - OPTIONAL
    assert imported <= required((folder / "requirements.txt").read_text().splitlines())


# --- The kernel -------------------------------------------------------------------------


def test_the_kernel_is_the_core_as_it_is_in_every_folder():
    for folder in METRICS:
        assert (folder / "kernel.py").read_text(encoding="utf-8") == vendor.kernel()
    assert vendor.core_hash() == core_hash()


def test_the_core_needs_no_process_signal_or_socket():
    refused = {"socket", "signal", "mmap", "dill", "multiprocessing", "subprocess"}
    assert not refused & imported_by((ROOT / "shared/at_k/core").glob("*.py"), standard=True)


# --- The command that writes kernels ----------------------------------------------------


@pytest.fixture
def tree(tmp_path):
    """A copy of what the command works on."""
    for name in ("shared", "metrics"):
        shutil.copytree(
            ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
        )
    return tmp_path


def command(tree, *flags):
    return run(sys.executable, tree / "shared/vendor.py", *flags)


def test_check_names_kernels_that_are_out_of_date_and_changes_nothing(tree):
    changed, missing = tree / "metrics/gpassk/kernel.py", tree / "metrics/score_agg/kernel.py"
    generated = changed.read_bytes(), missing.read_bytes()
    changed.write_text("# changed")
    missing.unlink()
    assert "python shared/vendor.py --check" in command(tree, "--chek").stderr
    result = command(tree, "--check")
    assert result.returncode == 1
    assert result.stderr.splitlines() == [
        "metrics/gpassk/kernel.py is out of date; run shared/vendor.py.",
        "metrics/score_agg/kernel.py is out of date; run shared/vendor.py.",
    ]
    assert changed.read_text() == "# changed"
    assert command(tree).returncode == 0
    assert command(tree, "--check").returncode == 0
    assert (changed.read_bytes(), missing.read_bytes()) == generated


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("from ..intervals import band", "the core imports nothing else of at_k"),
        ("def f():\n    from .checks import short", "write `from .module import name` at the top"),
        ("from .checks import short as brief", "write `from .module import name` at the top"),
        ("def short(x): return x", "short is also defined in checks.py"),
    ],
)
def test_no_kernel_is_written_if_the_core_cannot_be_joined(tree, line, problem):
    before = (tree / "metrics/bayes_at_n/kernel.py").read_bytes()
    with (tree / "shared/at_k/core/votes.py").open("a") as file:
        file.write(f"\n\n{line}\n")
    result = command(tree)
    assert result.returncode == 1
    assert problem in result.stderr
    assert "Traceback" not in result.stderr
    assert (tree / "metrics/bayes_at_n/kernel.py").read_bytes() == before


# --- What is imported -------------------------------------------------------------------

SLOW = ("altair", "datasets", "evaluate", "pandas", "pyarrow", "scipy")
NOT_ON_WINDOWS = ("fcntl", "grp", "pwd", "resource")

IMPORTS = f"""
import importlib, os, pkgutil, sys
sys.modules.update(dict.fromkeys({NOT_ON_WINDOWS}))
del os.fork
import at_k
print([name for name in {SLOW} if name in sys.modules])
for module in pkgutil.walk_packages(at_k.__path__, "at_k."):
    # An integration imports its harness.
    if not module.name.endswith(("__main__", ".inspect", ".lm_eval", ".lighteval")):
        importlib.import_module(module.name)
print("at_k.core.metric" in sys.modules)
"""


def test_the_package_imports_no_slow_library_and_no_module_imports_one_that_windows_lacks():
    found = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert found.stdout.split() == ["[]", "True"]


def test_a_space_says_that_it_does_not_run_on_windows(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "spaces"))
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.delitem(sys.modules, "page", raising=False)  # which another test has imported
    with pytest.raises(ImportError, match="does not run on Windows"):
        import page  # noqa: F401


RUNS_THE_COMMAND = f"""
import contextlib, io, sys
from at_k.cli.command import main
texts, outcomes, others = sys.argv[1:]
for arguments in ([], ["gpassk", outcomes], ["gpassk", texts], ["compare", outcomes, others]):
    with contextlib.redirect_stdout(io.StringIO()):
        assert main([*arguments, "--k", "1"] if arguments else []) == 0  # [] prints the help
    print(*(name for name in {SLOW} if name in sys.modules))
"""


def test_the_command_imports_few_slow_libraries(tmp_path):
    """pyarrow itself imports pandas where a list of texts is converted."""
    texts, outcomes = tmp_path / "texts.jsonl", tmp_path / "outcomes.jsonl"
    texts.write_text('{"samples": ["a", "b", "\u00e9"], "answer": "b"}', encoding="utf-8")
    outcomes.write_text('{"id": 1, "outcomes": [true, false]}\n{"id": 2, "outcomes": [true, true]}')
    others = shutil.copy(outcomes, tmp_path / "others.jsonl")
    found = subprocess.run(
        [sys.executable, "-c", RUNS_THE_COMMAND, texts, outcomes, others],
        capture_output=True,
        text=True,
    )
    imported = ["", "pyarrow", "pandas pyarrow", "pandas pyarrow scipy"]
    assert found.stdout.splitlines() == imported, found.stderr


# --- Layout -----------------------------------------------------------------------------

PACKAGE = ROOT / "shared" / "at_k"
# Each room may import from the rooms before it.
ROOMS = [
    ["core"],
    ["exchange", "results", "scores"],
    ["intervals"],
    ["functions", "checkers"],
    ["rooms"],
    ["loading"],
    ["metrics"],
    ["readers"],
    ["runs"],
    ["charts"],
    ["cli"],
    ["testing"],
    ["integrations"],
    ["__main__"],
]
LEVEL = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}
MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]


def room_of(path: Path) -> str:
    """Return the folder of a module, or its name if it is in no folder."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def rooms_imported_by(path: Path) -> set[str]:
    """Return the rooms that relative imports of a module lead to, its own included."""
    folder = path.relative_to(PACKAGE).parts[:-1]
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            target = folder[: len(folder) - node.level + 1]
            rooms.add([*target, *(node.module or "").split(".")][0])
    return rooms


def test_a_metric_is_four_files_and_has_a_space():
    for folder in METRICS:
        files = {path.name for path in folder.iterdir() if path.name != "__pycache__"}
        assert files == {f"{folder.name}.py", "kernel.py", "README.md", "requirements.txt"}
    spaces = (ROOT / "spaces").glob("*/app.py")
    assert [folder.name for folder in METRICS] == sorted(path.parent.name for path in spaces)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_between_rooms_point_one_way(path):
    own = room_of(path)
    for room in rooms_imported_by(path) - {own}:
        assert LEVEL[room] < LEVEL[own], f"{own} imports {room}"
