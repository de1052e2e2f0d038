"""`shared/publish.py`, with a Hub on the loopback interface that keeps what it is sent."""

import os
import subprocess
import sys

import pytest
from conftest import ROOT
from hub import Hub

METRICS = sorted(path.parent.name for path in (ROOT / "metrics").glob("*/requirements.txt"))
LOAD = """
import sys
sys.modules["at_k"] = None
import evaluate
for name in sys.argv[1:]:
    print(evaluate.load(f"lab/{name}").name)
metric = evaluate.load("lab/gpassk")
print(metric.compute(predictions=[["a", "b"]], references=["a"], k=1, include="pass@k"))
"""


@pytest.fixture(name="hub")
def writable_hub(tmp_path):
    with Hub(spaces={}, uploads=tmp_path / "hub") as hub:
        yield hub


def run(hub, *command, version=None):
    """Run Python with this Hub, and return the exit status and what it prints."""
    environment = os.environ | hub.environment | {"HF_TOKEN": "hf_test"}
    environment["HF_HOME"] = str(hub.uploads.parent / "home")
    if version is not None:  # that of a release
        code = f"import sys; sys.path.insert(0, {str(ROOT / 'shared')!r}); import publish\n"
        code += f"publish._version = lambda: {version!r}\nsys.exit(publish.main())"
        command = ("-c", code, *command)
    result = subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True, timeout=300
    )
    return result.returncode, result.stdout + result.stderr


def publish(hub, *flags, version="0.2.0"):
    return run(hub, "--organization", "lab", *flags, version=version)


def test_a_dry_run_says_what_it_would_send_and_sends_nothing(hub):
    status, printed = run(hub, ROOT / "shared/publish.py", "--organization", "lab", "--dry-run")
    assert status == 0
    assert [line.split()[0] for line in printed.splitlines()] == [f"lab/{x}" for x in METRICS]
    assert printed.count("is created with") == len(METRICS)
    assert not hub.spaces
    assert not any(request.startswith("POST") for request in hub.requests)


def test_a_hub_that_does_not_answer_is_said_in_one_line(hub):
    hub.shutdown()
    hub.server_close()
    code = f"import sys, time; time.sleep = print; sys.path.insert(0, {str(ROOT / 'shared')!r})\n"
    code += "import publish; sys.exit(publish.main())"
    status, printed = run(hub, "-c", code, "--organization", "lab", "--dry-run")
    assert status == 1
    assert "publish.py: " in printed
    assert "Traceback" not in printed


def test_published_metrics_load_by_name_and_only_changes_are_sent_again(hub):
    status, printed = publish(hub)
    assert status == 0, printed
    assert sorted(hub.spaces) == [f"lab/{name}" for name in METRICS]
    assert hub.tags == {f"lab/{name}": ["v0.2.0"] for name in METRICS}

    _, loaded = run(hub, "-c", LOAD, *METRICS)
    lines = loaded.splitlines()
    assert [line for line in lines if line in METRICS] == METRICS
    assert "{'pass@1': 0.5}" in lines

    # Nothing has changed since, and a development version has no tag.
    hub.requests.clear()
    status, printed = publish(hub, version="0.3.0.dev0")
    assert status == 0
    assert printed.count("is up to date") == len(METRICS)
    assert not any(request.startswith("POST") for request in hub.requests)

    # A file that was changed on the Hub, and one that is no longer needed.
    space = hub.spaces["lab/gpassk"]
    (space / "gpassk.py").write_text("raise SystemExit\n")
    (space / "old.py").write_text("")
    status, printed = publish(hub, version="0.2.0")
    assert status == 1
    assert "lab/gpassk has the tag v0.2.0 with other files: raise __version__" in printed
    assert (space / "old.py").exists()
    status, printed = publish(hub, version="0.2.1")
    assert status == 0, printed
    assert "lab/gpassk gets 1 files, and 1 files are removed." in printed
    assert (space / "gpassk.py").read_text() == (ROOT / "metrics/gpassk/gpassk.py").read_text()
    assert not (space / "old.py").exists()
    assert (space / ".gitattributes").exists()
    assert hub.tags["lab/gpassk"] == ["v0.2.0", "v0.2.1"]


def test_the_message_of_a_hub_that_refuses_is_one_line(hub):
    hub.refuses = True
    status, printed = publish(hub)
    assert status == 1
    assert printed.startswith("publish.py: ")
    assert "This token may not write" in printed
