"""What is opened: files, standard input and pipes. Devices and large files are refused."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import at_k
import pytest
from conftest import ROOT
from logs import refused
from run_command import error_of

ROW = b'{"id": 1, "outcomes": [0, 1]}\n'
pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no devices, FIFOs and links")


# --- Kinds of files -----------------------------------------------------------------------


def link_to_a_device(folder: Path) -> Path:
    (folder / "a.jsonl").symlink_to("/dev/zero")
    return folder / "a.jsonl"


def socket_file(folder: Path) -> Path:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "a.jsonl"))
    return folder / "a.jsonl"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (link_to_a_device, "is a device: give a file, a pipe, or - for standard input"),
        (lambda _: Path("/dev/zero"), "/dev/zero is a device"),
        (lambda _: Path("/dev/urandom"), "/dev/urandom is a device"),
        (socket_file, "is a socket: give a file"),
    ],
)
def test_what_is_no_file_is_refused_at_once(capsys, tmp_path, make: Callable, message: str):
    path = make(tmp_path)
    refused(path, message)
    assert message in error_of(capsys, "gpassk", path)
    other = tmp_path / "other.jsonl"
    other.write_bytes(ROW)
    assert message in error_of(capsys, "compare", other, path)


def test_links_are_read_unless_they_lead_nowhere(tmp_path):
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    with pytest.raises(FileNotFoundError, match="There is no such file"):
        at_k.read(tmp_path / "loop.csv")
    (tmp_path / "a.jsonl").write_bytes(ROW)
    (tmp_path / "b.jsonl").symlink_to("a.jsonl")
    assert at_k.read(tmp_path / "b.jsonl")["predictions"] == [[0, 1]]


# --- Pipes --------------------------------------------------------------------------------


def test_a_pipe_is_read_when_its_writer_comes(tmp_path):
    path = tmp_path / "a.jsonl"
    os.mkfifo(path)
    writer = threading.Timer(0.1, path.write_bytes, [ROW])
    writer.daemon = True
    writer.start()
    assert at_k.read(path)["predictions"] == [[0, 1]]


def test_standard_input_without_end_is_refused_at_the_limit(tmp_path):
    limit = "from at_k.readers import opening; opening._memory = lambda: 1e8"
    program = f"{limit}; from at_k.cli.command import main; raise SystemExit(main())"
    command = f"yes '{ROW.decode().strip()}' | {sys.executable} -c '{program}' gpassk -"
    variables = {"PYTHONPATH": str(ROOT / "shared"), "OPENBLAS_NUM_THREADS": "1"}
    result = subprocess.run(
        ["bash", "-c", f"ulimit -v 4000000; {command}"],  # in kB, for each process
        cwd=tmp_path,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 2
    assert "standard input holds more than 0.05 GB" in result.stderr


# --- Sizes --------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet", "json", "tsv.gz", "eval"])
def test_a_file_larger_than_the_memory_is_refused_before_it_is_read(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    with path.open("wb") as file:
        file.truncate(10**13)
    refused(path, r"has 1e\+04 GB, more than .* GB")
