"""Files: compressed ones, and large JSON Lines, which Arrow parses without converting anything."""

import bz2
import gzip
import json
import lzma
import zipfile
from collections.abc import Callable

import at_k
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from at_k.readers.run import read_run
from hostile_files import (
    check_files,
    read_counts_beside_columns,
    read_outcomes_beside_columns,
)

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


def test_text_that_is_not_utf8_is_refused_with_its_line(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_bytes(b'{"outcomes": [1]}\n{"outcomes": [0], "x": "\xe9"}\n')
    with pytest.raises(ValueError, match=r"a\.jsonl, line 2: the text is not UTF-8"):
        at_k.read(file)
    file.write_bytes(b"\xef\xbb\xbf" + LINES)
    assert at_k.read(file) == READ


def test_json_lines_in_a_file_of_json_are_read(tmp_path):
    file = tmp_path / "a.json"
    file.write_bytes(LINES)
    assert at_k.read(file) == READ


def test_a_line_separator_in_a_text_ends_no_line(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text('{"samples": ["a\u2028b", "\x85"], "answer": "\x85"}\n', encoding="utf-8")
    assert at_k.read(file)["predictions"] == [["a\u2028b", "\x85"]]


# --- Parquet ----------------------------------------------------------------------------


def test_a_name_that_two_columns_of_parquet_have_is_an_error(tmp_path):
    file = tmp_path / "twice.parquet"
    pq.write_table(pa.table([[1, 0], [1, 1], ["a", "a"]], names=["correct", "correct", "id"]), file)
    with pytest.raises(ValueError, match=r"twice\.parquet cannot be read: .*correct"):
        at_k.read(file)


def test_only_the_start_of_a_file_tells_utf_16(tmp_path):
    file = tmp_path / "runs.csv"
    file.write_bytes(b"id,correct\n" + b"a,1\n" * 5 + b"\xff\xfea,0\n")
    with pytest.raises(ValueError, match=r"runs\.csv, line 7: the text is not UTF-8"):
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
