"""Bundle a Space and start it, with nothing of this repository in its environment."""

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import gradio_client
from conftest import ROOT


@dataclass
class RunningSpace:
    """A bundled Space that serves its page."""

    name: str
    folder: Path
    temporary: Path
    pid: int
    url: str


def client(space: RunningSpace) -> gradio_client.Client:
    """Return a client, which waits for a busy machine longer than the usual 5 seconds."""
    return gradio_client.Client(space.url, verbose=False, httpx_kwargs={"timeout": 300})


def bundle(name: str, target: Path) -> None:
    """Write a Space into a folder."""
    command = [sys.executable, str(ROOT / "spaces" / "bundle.py"), name, str(target)]
    subprocess.run(command, check=True, timeout=300)


@contextlib.contextmanager
def start(name: str, python: str, folder: Path):
    """Bundle and start a Space. When it ends, it must have written to its temporary folder only."""
    target, home, temporary, log = (folder / part for part in (name, "home", "tmp", "log"))
    bundle(name, target)
    home.mkdir()
    temporary.mkdir()
    port = free_port()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "HF_ENDPOINT": f"http://127.0.0.1:{free_port()}",  # where nothing answers
        "GRADIO_SERVER_PORT": str(port),
    }
    # Which kernels OpenBLAS takes changes the last digits of products of matrices.
    environment |= {name: x for name, x in os.environ.items() if name.startswith("OPENBLAS_")}
    url = f"http://127.0.0.1:{port}"
    before = files_in(target)
    with log.open("w") as output:
        process = subprocess.Popen(
            [python, "app.py"], cwd=target, env=environment, stdout=output, stderr=output
        )
        try:
            wait_until_it_answers(f"{url}/config", process, log)
            yield RunningSpace(name, target, temporary, process.pid, url)
        finally:
            process.terminate()
            process.wait(120)
    assert not list(temporary.iterdir()), "the Space left temporary files"
    assert files_in(target) == before, "the Space wrote into its own folder"
    assert not [path for path in home.rglob("*") if path.is_file()], "the Space wrote into the home"
    assert "Traceback" not in log.read_text(), log.read_text()


def wait_for_worker(space: RunningSpace) -> int:
    """Wait until a process of a Space scores a request, and return its id."""

    def children(pid: int) -> list[int]:
        return [*map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]

    while not (workers := [x for child in children(space.pid) for x in children(child)]):
        time.sleep(0.05)
    return workers[0]


def files_in(folder: Path) -> list[Path]:
    """Return all files except compiled modules, which are there after each import."""
    return sorted(path for path in folder.rglob("*") if "__pycache__" not in path.parts)


def wait_until_it_answers(url: str, process: subprocess.Popen, log: Path) -> None:
    started = time.monotonic()
    while True:
        assert process.poll() is None, log.read_text()
        with contextlib.suppress(OSError), urllib.request.urlopen(url):
            return
        assert time.monotonic() - started < 300, f"The Space does not start: {log.read_text()}"
        time.sleep(0.25)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]
