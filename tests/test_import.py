"""What `import at_k` imports, and that its modules can be imported on every system."""

import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

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
