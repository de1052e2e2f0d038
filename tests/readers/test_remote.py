"""Files elsewhere: on a server of this machine, and in the file system of fsspec in memory."""

import functools
import gzip
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer

import at_k
import fsspec
import pytest
from at_k.readers import opening
from logs import the_file
from run_command import error_of, pass_at_k, write_json_lines

ROWS = [{"id": x, "correct": y} for x, y in (("a", True), ("a", False), ("b", True), ("b", True))]
OUTCOMES = [[True, False], [True, True]]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format, *args):
        pass


class _Bad(BaseHTTPRequestHandler):
    """Sends nothing for a while, or an error of the server."""

    def do_GET(self):
        if "silent" in self.path:
            time.sleep(2)
        else:
            self.send_error(503)

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, format, *args):
        pass


def _served(handler):
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}"


@pytest.fixture
def folder_and_address(tmp_path):
    server, address = _served(functools.partial(_Quiet, directory=str(tmp_path)))
    yield tmp_path, address
    server.shutdown()
    server.server_close()


@pytest.fixture
def bad_address():
    server, address = _served(_Bad)
    yield address
    server.shutdown()
    server.server_close()


def _lines(rows) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def test_files_of_a_server_are_read_as_local_ones(capsys, folder_and_address):
    folder, address = folder_and_address
    write_json_lines(folder / "plain.jsonl", ROWS)
    (folder / "packed.jsonl.gz").write_bytes(gzip.compress(_lines(ROWS)))
    (folder / "table.csv").write_text("id,correct\na,1\na,0\nb,1\nb,1\n")
    assert at_k.read(f"{address}/plain.jsonl")["predictions"] == OUTCOMES
    assert at_k.read(f"{address}/packed.jsonl.gz")["predictions"] == OUTCOMES
    assert pass_at_k(capsys, f"{address}/table.csv?download=true") == {"pass@1": 0.75}


def test_wildcards_are_expanded_where_files_are_listed(folder_and_address):
    folder, address = folder_and_address
    system = fsspec.filesystem("memory")
    for name, rows in (("one", ROWS[:2]), ("two", ROWS[2:])):
        write_json_lines(folder / f"{name}.jsonl", rows)
        system.pipe_file(f"/runs/{name}.jsonl", _lines(rows))
    try:
        for source in (f"{address}/*.jsonl", "memory://runs/*.jsonl"):
            assert at_k.read(source)["predictions"] == OUTCOMES
        with pytest.raises(FileNotFoundError, match=r"No file matches memory://runs/\*\.csv"):
            at_k.read("memory://runs/*.csv")
        with pytest.raises(ValueError, match="given twice"):
            at_k.read(["memory://runs/one.jsonl"] * 2)
    finally:
        system.rm("/runs", recursive=True)


def test_what_cannot_be_read_is_said_in_a_sentence(
    capsys, folder_and_address, bad_address, monkeypatch
):
    _, address = folder_and_address
    monkeypatch.setattr(opening, "_SECONDS_OF_SILENCE", 0.3)
    assert "There is no file" in error_of(capsys, "gpassk", f"{address}/absent.jsonl")
    assert "503" in error_of(capsys, "gpassk", f"{bad_address}/rows.jsonl")
    assert "Timeout" in error_of(capsys, "gpassk", f"{bad_address}/silent.jsonl")
    assert "Protocol not known" in error_of(capsys, "gpassk", "nowhere://rows.jsonl")


def test_a_missing_driver_is_a_package_to_install(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "s3fs", None)
    monkeypatch.setattr(sys.modules["fsspec.registry"], "_registry", {})
    message = error_of(capsys, "gpassk", "s3://bucket/rows.jsonl")
    assert message.startswith("at-k: s3://bucket/rows.jsonl needs a driver")
    assert "pip install s3fs" in message


def test_a_log_of_inspect_ai_is_read_from_a_server(folder_and_address):
    folder, address = folder_and_address
    log = the_file("inspect_ai/sums.eval")
    (folder / log.name).write_bytes(log.read_bytes())
    assert at_k.read(f"{address}/{log.name}") == at_k.read(log)


def test_a_folder_elsewhere_is_refused_with_a_sentence(capsys, folder_and_address):
    _, address = folder_and_address
    assert f"{address}/ is a page: give the" in error_of(capsys, "gpassk", f"{address}/")
    fsspec.filesystem("memory").pipe("/logs/a.jsonl", b"{}")
    error = error_of(capsys, "gpassk", "memory://logs")
    assert (
        "no file memory://logs. Files in a folder are read by a pattern such as /*.jsonl" in error
    )


def test_a_connection_that_ends_early_is_an_error():
    """Otherwise the scores would be those of the first part of a file."""

    class Cut(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", "100000")
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(_lines(ROWS * 100))

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, format, *args):
            pass

    server, address = _served(Cut)
    try:
        with pytest.raises(ValueError, match=f"{address}/rows.jsonl cannot be read: .*Payload"):
            at_k.read(f"{address}/rows.jsonl")
    finally:
        server.shutdown()
        server.server_close()
