"""Sandboxes that cannot start, die, or wait on a busy machine: none of this is a wrong answer."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import at_k
import pytest
from at_k.checkers import SandboxError, python_tests, sandbox
from at_k.checkers.references import read_tests

TESTS = ["assert f() == 1"]
RIGHT = "def f(): return 1\n"
SLOW = "import time\ntime.sleep(0.4)\n" + RIGHT


def descendants(pid):
    """Return the processes below another: those of other tests are among them."""
    return {*sandbox._descendants(pid)}


def signal_when_busy(monkeypatch, times, number=signal.SIGKILL, what="server"):
    """Send a signal to the sandbox while it runs SLOW, the first times that it does."""
    send, remaining = sandbox.Sandbox._send, [None] * times

    def send_and_signal(self, job, exam):
        send(self, job, exam)
        if job["program"].startswith(SLOW) and remaining:
            remaining.pop()
            time.sleep(0.1)  # the program sleeps longer
            if what == "server":
                os.kill(self.processes()[0], number)
            else:
                self._process.send_signal(number)

    monkeypatch.setattr(sandbox.Sandbox, "_send", send_and_signal)
    return remaining


@pytest.mark.parametrize("what", ["bubblewrap", "server"])
def test_a_sandbox_that_dies_is_replaced_and_its_program_runs_again(what, monkeypatch):
    before, remaining = descendants(os.getpid()), signal_when_busy(monkeypatch, 1, what=what)
    [records] = python_tests(workers=1).run([[SLOW, RIGHT, "def f(): return 2"]], TESTS)
    assert not remaining
    assert [record["status"] for record in records] == ["passed", "passed", "failed"]
    assert descendants(os.getpid()) <= before


def test_a_program_whose_sandbox_dies_twice_is_not_scored_with_a_warning(monkeypatch):
    signal_when_busy(monkeypatch, 2)
    with pytest.warns(UserWarning, match=r"^1 of 3 distinct samples could not be run"):
        scores = at_k.load("gpassk").compute(
            predictions=[[SLOW, RIGHT, "def f(): return 2"]],
            references=TESTS,
            check_correct_fn=python_tests(workers=1),
            k=[1, 2],
            include="pass@k",
        )
    assert scores == {"pass@1": 0.5, "pass@2": 1.0}


def test_a_server_that_does_not_answer_is_replaced(monkeypatch):
    """It is stopped, as on a machine that hangs, and so its reply is overdue."""
    monkeypatch.setattr(sandbox, "_PATIENCE", -9.0)  # a reply is overdue after 3 s
    before = descendants(os.getpid())
    signal_when_busy(monkeypatch, 1, signal.SIGSTOP)
    [records] = python_tests(timeout=0.2, workers=1).run([[SLOW, RIGHT]], TESTS)
    assert [record["status"] for record in records] == ["passed", "passed"]
    assert descendants(os.getpid()) <= before


def test_a_server_that_starts_no_programs_is_replaced(monkeypatch):
    """Its own limits are too small, as where no system calls are refused."""
    monkeypatch.setattr(sandbox, "_system_call_filter", lambda: None)
    lowering = "import resource\nresource.prlimit(1, resource.RLIMIT_FSIZE, (0, 0))\n" + RIGHT
    [records] = python_tests(workers=1).run([[lowering, RIGHT, RIGHT + "#"]], TESTS)
    assert [record["status"] for record in records] == ["passed"] * 3


def test_nothing_is_left_of_a_process_that_is_killed(tmp_path):
    """Neither its sandboxes, nor what runs in them, nor a folder."""
    code = (
        "from at_k.checkers import python_tests\n"
        'loop = \'import subprocess\\nsubprocess.Popen(["sleep", "1234"])\\nwhile True: pass\'\n'
        "python_tests(timeout=60, workers=2).run([[loop, loop + ' ']], ['assert x'])\n"
    )
    before = {*Path("/tmp").iterdir()}
    process = subprocess.Popen(
        [sys.executable, "-c", code], env=os.environ | {"TMPDIR": str(tmp_path)}
    )
    deadline = time.monotonic() + 20
    while len(below := descendants(process.pid)) < 8 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(below) >= 8, "two bubblewraps, servers, programs and what they started"
    process.kill()
    process.wait()
    while any(Path(f"/proc/{pid}").exists() for pid in below) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [pid for pid in below if Path(f"/proc/{pid}").exists()]
    assert not [*tmp_path.iterdir()]
    assert not [path for path in {*Path("/tmp").iterdir()} - before if path.name.startswith("at_k")]


def test_a_program_that_waits_for_a_busy_machine_keeps_its_cpu_time():
    """Eight processes compete with one that needs half of its CPU time."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(8)]
    try:
        program = "import time\nwhile time.process_time() < 0.3: pass\n" + RIGHT
        [records] = python_tests(timeout=0.6, workers=1).run([[program]], TESTS)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert records[0]["status"] == "passed"
    assert 0.3 <= records[0]["cpu_seconds"] < 0.6


def test_without_bubblewrap_an_error_says_what_is_missing_and_what_consent_does(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(
        SandboxError, match=r"apt-get install bubblewrap.*HF_ALLOW_CODE_EVAL=1.*not a"
    ):
        at_k.load("gpassk").compute(
            predictions=[[RIGHT]], references=TESTS, check_correct_fn="python_tests", k=1
        )
    monkeypatch.setenv("HF_ALLOW_CODE_EVAL", "1")
    folders = {*Path("/tmp").glob("at_k_*")}
    loop, memory = "import os\nos.fork()\nwhile True: pass\n", "x = bytearray(50 << 30)"
    programs = [RIGHT, "def f(): return 2", loop, memory]
    with pytest.warns(UserWarning, match="not a sandbox"):
        [records] = python_tests(timeout=0.3).run([programs], TESTS)
    statuses = [record["status"] for record in records]
    assert statuses == ["passed", "failed", "timeout", "memory"]
    assert {*Path("/tmp").glob("at_k_*")} == folders


def test_a_bubblewrap_that_fails_is_an_error_with_its_message(monkeypatch, tmp_path):
    broken = tmp_path / "bwrap"
    broken.write_text(
        "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"
    )
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(SandboxError, match="No permissions to create new namespace"):
        python_tests().run([[RIGHT]], TESTS)


def test_a_plain_process_ends_with_its_program(tmp_path):
    """As after an interruption, where nobody waits for the reply."""
    number = tmp_path / "number"
    program = f"import os, time\nopen({str(number)!r}, 'w').write(f'{{os.getpid()}}.')\n"
    box = sandbox.Sandbox(sandbox.Limits(3, 1 << 30), is_isolated=False)
    box._send(*read_tests("assert x", "").jobs(program + "time.sleep(1000)"))
    while not (number.exists() and number.read_text().endswith(".")):
        time.sleep(0.01)
    box.end()
    deadline = time.monotonic() + 5
    while Path("/proc", number.read_text().rstrip(".")).exists():
        assert time.monotonic() < deadline


def test_on_windows_an_error_names_what_to_use(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(SandboxError, match="Windows Subsystem for Linux"):
        python_tests().run([[RIGHT]], TESTS)


@pytest.mark.skipif(os.geteuid() != 0, reason="the tests run as another user than root")
def test_a_package_that_only_root_may_read_runs_programs(tmp_path, monkeypatch):
    """They run as another user, after an installation by root with umask 077."""
    package = Path(sandbox.__file__).with_name("sandboxed")
    for file in package.glob("*.py"):
        (tmp_path / "sandboxed").mkdir(mode=0o700, exist_ok=True)
        shutil.copy(file, tmp_path / "sandboxed")
        (tmp_path / "sandboxed" / file.name).chmod(0o600)
    monkeypatch.setattr(sandbox, "_compiled_package", lambda: tmp_path / "sandboxed")
    cases = {"inputs": [[1]], "outputs": [1], "entry_point": "f"}
    programs = [["def f(x=1): return x\n", "def f(x=1): return 2\n"]] * 2
    statuses = [
        [record["status"] for record in row] for row in python_tests().run(programs, [TESTS, cases])
    ]
    assert statuses == [["passed", "failed"]] * 2
