"""Every way to load a metric, each in a process and a Hugging Face home of its own."""

import doctest
import importlib
import inspect
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import at_k
import evaluate
import pytest
from at_k.cli.flags import parameter_helps
from at_k.core.package import OPTIONS
from at_k.loading import core_hash, metric_folders, register, unregister
from at_k.rooms import PackageRooms
from conftest import ROOT
from evaluate.loading import evaluation_module_factory, import_main_class
from hub import Hub

METRICS = sorted(path.parent for path in (ROOT / "metrics").glob("*/README.md"))

USE = """
import evaluate
metric = {load}
print(metric.compute(predictions=[["a", "b"]], references=["a"], k=1, include="pass@k"))
"""
BY_NAME = USE.format(load='evaluate.load("gpassk")')
EXPECTED = "{'pass@1': 0.5}\n"


def run(
    code: str,
    home: Path,
    folder: Path,
    isolated: bool = False,
    warning: str | None = None,
    **environment: str,
) -> str:
    """Return what the code prints in a new process, which cannot import `at_k` if isolated.

    It prints only this warning, or none.
    """
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
    assert result.stderr.count("Warning") == (warning is not None)
    assert (warning or "") in result.stderr
    return result.stdout


def test_a_metric_loads_from_a_checkout_and_from_a_copy_of_its_folder(tmp_path):
    copy = tmp_path / "elsewhere" / "gpassk"
    shutil.copytree(ROOT / "metrics" / "gpassk", copy)
    with (copy / "gpassk.py").open("a") as script:
        script.write("print('the copy')\n")
    code = f"import os\n{BY_NAME}\nos.chdir({str(ROOT)!r})\n" + USE.format(
        load='evaluate.load("metrics/gpassk")'
    )
    printed = run(code, tmp_path, copy.parent, isolated=True)
    assert printed == f"the copy\n{EXPECTED}{EXPECTED}"


ALONE = """
import evaluate
import pandas as pd
from concurrent.futures import ThreadPoolExecutor
metric = evaluate.load({path!r})
async def later(prediction, reference): ...
class Short(ThreadPoolExecutor):
    def map(self, *arguments): return [*super().map(*arguments)][:-1]
print(type(metric).__module__.split(".")[0])
samples = dict(predictions=[["a", "b"], ["b", "b"]], references=["a", "b"], k=2)
print(metric.compute(**samples, include=["pass@k", "Geom@k"], groups=["x", "y"]))
print(metric.compute(**samples, include="pass@k", check_correct_fn=lambda p, r: p != r))
pool = {{"executor": ThreadPoolExecutor(2), "return_per_question": True}}
print(metric.compute(**samples, include="pass^k", check_correct_fn=lambda p, r: p == r, **pool))
counts = {{"n": [2, 4], "correct": [1, 4]}}
print(metric.compute(predictions=counts, k=1, include="pass@k"))
limits = metric.compute(**samples, include="pass@k", confidence=0.9, interval="questions")
print(limits["pass@2_lo"] < 1)
for option in [
    {{"confidence": 0.9}}, {{"check_correct_fn": "numeric"}}, {{"budget": 3}},
    {{"labels": [[1, 0], [1, 1]]}}, {{"check_correct_fn": max, "num_proc": 2}},
    {{"check_correct_fn": max, "timeout": 2}}, {{"check_correct_fn": later}},
    {{"confidence": 0.9, "interval": "questions", "anytime": True}},
    {{"confidence": 0.9, "interval": "questions", "band": True}},
    {{"predictions": pd.DataFrame([[1, 0], [1, 1]]), "references": None}},
    {{"check_correct_fn": lambda p, r: p == r, "executor": Short(2)}},
    {{"check_correct_fn": lambda p, r: 1 / 0}},
]:
    try:
        metric.compute(**(samples | option))
    except (ImportError, ValueError) as error:
        print(error)
"""
NEED_PACKAGE = (
    "interval='auto' (unlike interval='questions')",
    "check_correct_fn='numeric'",
    "budget",
    "checker_rates and labels",
    "num_proc, timeout, or an async or batched check_correct_fn",
    "num_proc, timeout, or an async or batched check_correct_fn",
    "num_proc, timeout, or an async or batched check_correct_fn",
    "anytime=True",
    "band=True",
    "predictions in a data frame, or as a run,",
)


def test_each_method_that_a_script_alone_lacks_is_one_of_the_package():
    assert all(callable(getattr(PackageRooms(), method)) for method in OPTIONS)


def test_a_script_alone_has_the_scores_and_names_what_needs_the_package(tmp_path):
    shutil.copytree(ROOT / "metrics" / "gpassk", tmp_path / "gpassk")
    code = ALONE.format(path=str(tmp_path / "gpassk"))
    lines = run(code, tmp_path, tmp_path, isolated=True).splitlines()
    module, *scores, limits = lines[:6]
    assert (module, limits) == ("evaluate_modules", "True")
    assert scores == [
        "{'pass@2': 1.0, 'Geom@2': 0.5, 'x/pass@2': 1.0, 'x/Geom@2': 0.0, 'y/pass@2': 1.0, "
        "'y/Geom@2': 1.0}",
        "{'pass@2': 0.5}",
        "{'pass^2': 0.5, 'per_question': {'pass^2': [0.0, 1.0]}}",
        "{'pass@1': 0.75}",
    ]
    assert lines[-2] == "The executor gave 2 results for 3 pairs."
    assert lines[-1].startswith(
        "check_correct_fn('a', ..) on predictions[0][0] raised ZeroDivision"
    )
    for option, error in zip(NEED_PACKAGE, lines[6:-2], strict=True):
        assert error.startswith(f"{option} needs the package evaluate-at-k: pip install ")


def test_a_script_of_another_version_runs_alone_and_names_both_versions(tmp_path):
    shutil.copytree(ROOT / "metrics" / "gpassk", tmp_path / "gpassk")
    kernel = tmp_path / "gpassk" / "kernel.py"
    kernel.write_text(re.sub('KERNEL = "[^"]+"', 'KERNEL = "0123"', kernel.read_text(), count=1))
    code = ALONE.format(path=str(tmp_path / "gpassk"))
    warning = (
        "If you have changed shared/at_k/core, the kernel is out of date: run shared/vendor.py"
    )
    lines = run(code, tmp_path, tmp_path, warning=warning).splitlines()
    assert lines[0] == "evaluate_modules"
    installed = f"Version {at_k.__version__} (kernel {core_hash()}) is installed"
    for option, error in zip(NEED_PACKAGE, lines[6:-2], strict=True):
        assert error.startswith(f"{option} needs the package evaluate-at-k of the same version")
        assert "whose kernel is 0123." in error
        assert installed in error


def test_a_script_of_the_same_version_is_the_class_of_the_package(tmp_path):
    shutil.copytree(ROOT / "metrics" / "gpassk", tmp_path / "gpassk")
    metric = evaluate.load(str(tmp_path / "gpassk"))
    assert type(metric) is type(at_k.load("gpassk"))


# In one process: the metric is not found, registered, and loaded from the package. Then there is
# another version, which was registered before.
REGISTER = f"""
import shutil
import at_k, evaluate, pytest
from at_k.cli.command import main
from at_k.loading import register

with pytest.raises(FileNotFoundError, match="Couldn't find a module script"):
    evaluate.load("gpassk")
main(["register"])
{USE.format(load='at_k.load("gpassk")')}
folder = register()["gpassk"]
old = folder.with_name("0" * 64)
shutil.copytree(folder, old)
(old / "gpassk.py").write_text("raise RuntimeError('an old version')")
print(register()["gpassk"])
"""
REMOVE = """
import evaluate, pytest
from at_k.cli.command import main

main(["register", "--remove"])
with pytest.raises(FileNotFoundError, match="Couldn't find a module script"):
    evaluate.load("gpassk")
main(["register", "--remove"])  # there is nothing left
"""


def test_a_registered_metric_loads_by_name_without_a_network_until_it_is_removed(tmp_path):
    *shown, scores, folder = run(REGISTER, tmp_path, tmp_path).splitlines()
    assert '"gpassk"' in " ".join(shown)
    assert f"{scores}\n" == EXPECTED
    assert (
        "from at_k.metrics.gpassk.gpassk import Gpassk" in (Path(folder) / "gpassk.py").read_text()
    )
    assert run(BY_NAME, tmp_path, tmp_path) == EXPECTED
    # Offline mode takes the same path as a Hub that does not answer.
    unreachable: dict[str, Any] = {"HF_EVALUATE_OFFLINE": "0", "HF_ENDPOINT": "http://127.0.0.1:1"}
    assert run(BY_NAME, tmp_path, tmp_path, **unreachable) == EXPECTED
    assert run(REMOVE, tmp_path, tmp_path).count('"gpassk"') == 2


def test_a_hub_gets_six_requests_at_the_first_load_and_three_at_each_later_one(tmp_path):
    with Hub() as hub:
        code = BY_NAME + BY_NAME
        assert run(code, tmp_path, tmp_path, isolated=True, **hub.environment) == 2 * EXPECTED
        requests = hub.requests
    space = "/spaces/evaluate-metric/gpassk/resolve"
    head = [f"HEAD {space}/v{evaluate.__version__}/gpassk.py", f"HEAD {space}/main/gpassk.py"]
    script, kernel = f"GET {space}/main/gpassk.py", f"{space}/main/kernel.py"
    ours = [request for request in requests if "/spaces/" in request]
    first = [*head, script, f"HEAD {kernel}", f"GET {kernel}"]
    assert ours == [*first, *head, f"HEAD {kernel}"]
    assert len(requests) <= len(ours) + 1  # huggingface_hub may ask for something of its own


WRITES_NOTHING = """
import os, pathlib, at_k
home = pathlib.Path(os.environ["HF_HOME"])
for name in {names}:
    at_k.load(name)
print(sorted(home.rglob("*")))
"""


def test_loading_from_the_package_writes_nothing(tmp_path):
    names = [folder.name for folder in METRICS]
    for home in (tmp_path, Path("/proc/no-such-folder")):
        assert run(WRITES_NOTHING.format(names=names), home, tmp_path) == "[]\n"


@pytest.mark.parametrize("folder", METRICS, ids=lambda folder: folder.name)
def test_a_metric_from_the_package_is_that_of_evaluate(folder, tmp_path):
    options: dict[str, Any] = {"config_name": "a", "seed": 1, "num_process": 3, "process_id": 2}
    options |= {"experiment_id": "b", "timeout": 4}
    ours = at_k.load(folder.name, cache_dir=str(tmp_path / "ours"), **options)
    theirs = evaluate.load(str(folder), cache_dir=str(tmp_path / "theirs"), **options)
    assert isinstance(ours, evaluate.Metric)
    for name in ("info", "name", "description", "citation", "features", "inputs_description"):
        assert getattr(ours, name) == getattr(theirs, name)
    for name in ("seed", "num_process", "process_id", "experiment_id", "timeout"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert ours.data_dir == str(tmp_path / "ours" / folder.name / "a")
    assert theirs.data_dir == str(tmp_path / "theirs" / folder.name / "a")
    for method in ("add", "add_batch", "compute"):
        assert getattr(ours, method).__doc__ == getattr(theirs, method).__doc__
    assert repr(ours) == repr(theirs)


def name_of(metric):
    return metric.compute(predictions=[[1, 0]], k=1, include="pass@k"), type(metric).__module__


def test_a_metric_from_the_package_is_sent_to_a_new_process():
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        scores, module = pool.submit(name_of, at_k.load("gpassk")).result()
    assert (scores, module) == ({"pass@1": 0.5}, "at_k.metrics.gpassk.gpassk")


def test_the_package_finds_every_metric_and_refuses_another_name():
    assert metric_folders() == {folder.name: folder for folder in METRICS}
    with pytest.raises(
        ValueError, match=r"no metric 'gpass'\. Did you mean 'gpassk'\? The metrics are .*gpassk"
    ):
        at_k.load("gpass")


# --- The scripts --------------------------------------------------------------------------


@pytest.mark.parametrize("folder", METRICS, ids=lambda folder: folder.name)
def test_a_script_passes_the_module_test_of_evaluate(folder, monkeypatch):
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
def test_the_docstring_and_the_card_describe_every_parameter(folder):
    metric: Any = at_k.load(folder.name)
    parameters = ["predictions", "references", *metric.computation.parameters]
    assert sorted(parameter_helps(metric.inputs_description)) == sorted(parameters)
    inputs = (folder / "README.md").read_text().partition("### Inputs")[2]
    for parameter in parameters:
        assert f"**{parameter}**" in inputs


@pytest.mark.parametrize("folder", METRICS, ids=lambda folder: folder.name)
def test_the_package_requires_what_a_metric_requires(folder):
    setup = (ROOT / "setup.cfg").read_text()
    for line in (folder / "requirements.txt").read_text().split():
        assert f"    {line}\n" in setup


# --- Scripts in the cache of evaluate ---------------------------------------------------

OUTCOMES: dict[str, Any] = {"predictions": [[1, 0]], "k": 1, "include": "pass@k"}


@pytest.fixture
def registered():
    """The folder of gpassk in the cache of scripts."""
    yield register()["gpassk"]
    unregister()


def files_in(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_registering_on_a_full_disk_leaves_whole_files(registered, monkeypatch):
    (registered / "gpassk.py").write_text("# of an earlier version")
    before = files_in(Path(os.environ["HF_HOME"]))

    def fail(self, *args, **options):
        with open(self, "wb") as file:
            file.write(b"half a fi")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "open", fail)
    with pytest.raises(OSError, match="No space left"):
        register()
    monkeypatch.undo()
    assert files_in(Path(os.environ["HF_HOME"])) == before
    register()
    metric = evaluate.load("gpassk")
    assert metric.compute(**OUTCOMES) == {"pass@1": 0.5}
    assert type(metric) is type(at_k.load("gpassk"))
    assert len((registered / "gpassk.py").read_text().splitlines()) == 3


def test_one_process_writes_no_data(tmp_path):
    metric = at_k.load("gpassk", cache_dir=str(tmp_path / "data"))
    metric.add_batch(predictions=[[1, 0]])
    assert metric.compute(k=1, include="pass@k") == {"pass@1": 0.5}
    assert not (tmp_path / "data").exists()
