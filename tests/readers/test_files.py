"""Files: compressed ones, large JSON Lines, those on servers, and outcomes in any form."""

import bz2
import functools
import gzip
import json
import lzma
import sys
import threading
import time
import zipfile
from collections.abc import Callable
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import at_k
import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from at_k.readers import opening
from at_k.readers.run import read_run
from hostile_files import check_files, read_counts_beside_columns, read_outcomes_beside_columns
from logs import the_file
from run_command import error_of, pass_at_k, write_json_lines

ROWS = [{"id": i, "samples": ["a", "b"], "answer": "a"} for i in range(3)]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
READ = {"predictions": [["a", "b"]] * 3, "references": ["a"] * 3}


def zstd(data: bytes) -> bytes:
    return pa.compress(data, "zstd", asbytes=True)


COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstd,
}


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_compressed_files_are_read(tmp_path, suffix):
    compress = COMPRESSIONS[suffix]
    file = tmp_path / f"a.jsonl{suffix}"
    file.write_bytes(compress(LINES))
    assert at_k.read(file) == READ
    # Two compressed parts in one file, as `cat a.gz b.gz` writes them.
    middle = LINES.index(b"\n") + 1
    file.write_bytes(compress(LINES[:middle]) + compress(LINES[middle:]))
    assert at_k.read(file) == READ
    csv = tmp_path / f"a.CSV{suffix.upper()}"
    csv.write_bytes(compress(b"id,correct\n1,1\n1,0\n"))
    assert at_k.read(csv) == {"predictions": [[1, 0]]}
    file.write_bytes(compress(LINES)[:-6])
    with pytest.raises(ValueError, match=f"a.jsonl{suffix} cannot be decompressed"):
        at_k.read(file)


@pytest.mark.parametrize("outcomes", [[1, 0, 1], [1]])
def test_columns_of_an_object_of_json_have_the_same_number_of_rows(tmp_path, outcomes):
    columns = {"id": ["a", "a"], "correct": outcomes}
    file = tmp_path / "a.json"
    file.write_text(json.dumps(columns))
    problem = f"different numbers of rows: 'id' has 2, and 'correct' has {len(outcomes)}"
    for source in (file, columns):
        with pytest.raises(ValueError, match=problem):
            at_k.read(source)
    file.write_text(json.dumps({"errors": [], "rows": [{"id": "a", "correct": 1}]}))
    assert read_run(file, records="rows") == {"predictions": [[1]]}
    file.write_text(json.dumps({"errors": {}, "rows": [{"id": "a", "correct": 1}]}))
    with pytest.raises(ValueError, match="has no question"):
        read_run(file, records="errors")


def test_text_that_is_not_utf8_is_refused_with_its_line(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_bytes(b'{"outcomes": [1]}\n{"outcomes": [0], "x": "\xe9"}\n')
    with pytest.raises(ValueError, match=r"a\.jsonl, line 2: the text is not UTF-8"):
        at_k.read(file)
    file = tmp_path / "runs.csv"  # only the start of a file tells UTF-16
    file.write_bytes(b"id,correct\n" + b"a,1\n" * 5 + b"\xff\xfea,0\n")
    with pytest.raises(ValueError, match=r"runs\.csv, line 7: the text is not UTF-8"):
        at_k.read(file)


def test_json_lines_in_a_file_of_json_are_read_and_texts_with_line_separators(tmp_path):
    for name, start in (("a.json", b""), ("a.jsonl", b"\xef\xbb\xbf")):
        (tmp_path / name).write_bytes(start + LINES)
        assert at_k.read(tmp_path / name) == READ
    file = tmp_path / "a.jsonl"
    file.write_text('{"samples": ["a\u2028b", "\x85"], "answer": "\x85"}\n', encoding="utf-8")
    assert at_k.read(file)["predictions"] == [["a\u2028b", "\x85"]]


def test_a_name_that_two_columns_of_parquet_have_is_an_error(tmp_path):
    file = tmp_path / "twice.parquet"
    pq.write_table(pa.table([[1, 0], [1, 1], ["a", "a"]], names=["correct", "correct", "id"]), file)
    with pytest.raises(ValueError, match=r"twice\.parquet cannot be read: .*correct"):
        at_k.read(file)


def test_a_zip_file_with_one_file_is_read_as_that_file(tmp_path):
    file = tmp_path / "a.jsonl.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("folder/", b"")
        archive.writestr("folder/a.jsonl", LINES)
        archive.writestr("__MACOSX/folder/._a.jsonl", b"x")
        archive.writestr("folder/.DS_Store", b"x")
    assert at_k.read(file) == READ
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("b.jsonl", LINES)
    with pytest.raises(ValueError, match=r"holds 2 files: extract the one to read\. folder/a\.jso"):
        at_k.read(file)


def test_outcomes_in_any_representation_give_the_same_counts_or_an_error():
    readers = (read_outcomes_beside_columns, read_counts_beside_columns)
    assert check_files(500, 0, *readers) == []


# --- Files elsewhere --------------------------------------------------------------------

REMOTE_ROWS = [
    {"id": x, "correct": y} for x, y in (("a", True), ("a", False), ("b", True), ("b", True))
]
REMOTE_OUTCOMES = [[True, False], [True, True]]


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
                self.wfile.write(_lines(REMOTE_ROWS * 100))
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
    write_json_lines(folder / "plain.jsonl", REMOTE_ROWS)
    (folder / "packed.jsonl.gz").write_bytes(gzip.compress(_lines(REMOTE_ROWS)))
    (folder / "table.csv").write_text("id,correct\na,1\na,0\nb,1\nb,1\n")
    assert at_k.read(f"{address}/plain.jsonl")["predictions"] == REMOTE_OUTCOMES
    assert at_k.read(f"{address}/packed.jsonl.gz")["predictions"] == REMOTE_OUTCOMES
    assert pass_at_k(capsys, f"{address}/table.csv?download=true") == {"pass@1": 0.75}


def test_wildcards_are_expanded_where_files_are_listed(folder_and_address):
    folder, address = folder_and_address
    system = fsspec.filesystem("memory")
    for name, rows in (("one", REMOTE_ROWS[:2]), ("two", REMOTE_ROWS[2:])):
        write_json_lines(folder / f"{name}.jsonl", rows)
        system.pipe_file(f"/runs/{name}.jsonl", _lines(rows))
    try:
        for source in (f"{address}/*.jsonl", "memory://runs/*.jsonl"):
            assert at_k.read(source)["predictions"] == REMOTE_OUTCOMES
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
