"""Files elsewhere: on a server of this machine, and in the file system of fsspec in memory."""

import functools
import gzip
import json
import sys
import threading
import time
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import at_k
import fsspec
import pytest
from at_k.readers import opening
from logs import the_file
from run_command import error_of, pass_at_k, write_json_lines

ROWS = [{"id": x, "correct": y} for x, y in (("a", True), ("a", False), ("b", True), ("b", True))]
OUTCOMES = [[True, False], [True, True]]


class _Files(SimpleHTTPRequestHandler):
    """Sends the files of a folder; for some paths, nothing, an error, or a part of a file."""

    def do_GET(self):
        if "silent" in self.path:
            time.sleep(2)
        elif "broken" in self.path:
            self.send_error(503)
        elif "cut" in self.path:
            self.send_response(200)
            self.send_header("Content-Length", "100000")
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(_lines(ROWS * 100))
        else:
            getattr(super(), f"do_{self.command}")()

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, format, *args):
        pass


@pytest.fixture
def folder_and_address(tmp_path):
    handler = functools.partial(_Files, directory=str(tmp_path))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield tmp_path, f"http://127.0.0.1:{server.server_port}"
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


def test_what_cannot_be_read_is_said_in_a_sentence(capsys, folder_and_address, monkeypatch):
    _, address = folder_and_address
    monkeypatch.setattr(opening, "_SECONDS_OF_SILENCE", 0.3)
    fsspec.filesystem("memory").pipe("/logs/a.jsonl", b"{}")
    for source, message in (
        (f"{address}/absent.jsonl", "There is no file"),
        (f"{address}/broken.jsonl", "503"),
        (f"{address}/silent.jsonl", "Timeout"),
        # Otherwise the scores would be those of the first part of a file.
        (f"{address}/cut.jsonl", "Payload"),
        (f"{address}/", f"{address}/ is a page: give the"),
        ("nowhere://rows.jsonl", "Protocol not known"),
        ("memory://logs", "no file memory://logs. Files in a folder are read by a pattern such as"),
    ):
        assert message in error_of(capsys, "gpassk", source)


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
