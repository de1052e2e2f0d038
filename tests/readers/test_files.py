"""Files: compressed ones, and large JSON Lines, which Arrow parses without converting anything."""

import bz2
import gzip
import io
import json
import lzma
from collections.abc import Callable

import at_k
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from at_k.readers import files
from at_k.readers.files import decoded, parse_json_lines, parse_with_arrow
from hypothesis import given, settings
from hypothesis import strategies as st

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
    assert at_k.read(file, records="rows") == {"predictions": [[1]]}


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


# --- Large files ------------------------------------------------------------------------

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**66), 2**66),
    st.floats(allow_nan=False),
    st.text(max_size=3),
    st.sampled_from(["2024-01-01", "2024-01-01T00:00:00Z", "12:00", "1", "null", "\ud83d", "-0"]),
    st.dictionaries(st.sampled_from("ab"), st.integers(), max_size=2),
)
CELLS = st.one_of(
    VALUES, st.lists(VALUES, max_size=3), st.lists(st.lists(st.integers()), max_size=2)
)
TABLES = st.lists(st.dictionaries(st.sampled_from(["a", "b", "c"]), CELLS), min_size=1, max_size=6)


def typed(value) -> str:
    """Return a value with its type, so that 1, 1.0 and True differ."""
    return repr(value)


@settings(deadline=None, max_examples=300)
@given(
    rows=TABLES,
    gap=st.sampled_from(["\n", "\n\n", "\r\n"]),
    block_size=st.sampled_from([1, 20, 1000]),
)
def test_arrow_reads_what_python_reads(rows, gap, block_size):
    text = gap.join(map(json.dumps, rows)) + gap
    by_arrow = parse_with_arrow(io.BytesIO(text.encode()), block_size)
    if by_arrow is not None:
        by_python = parse_json_lines(text, "a.jsonl")
        assert list(by_arrow) == list(by_python)
        for name in by_python:
            assert typed(list(by_arrow[name])) == typed(by_python[name])
            assert [typed(by_arrow[name][i]) for i in range(len(rows))] == list(
                map(typed, by_python[name])
            )


@pytest.mark.parametrize(
    "rows",
    [
        [{"samples": ["2024-01-01", "x"], "outcomes": [1, 0]}, {"samples": None}],
        [{"time": "2024-01-01T00:00:00Z"}, {"time": "2024-01-02"}],
        [{"id": 1, "passed": True, "error": None}, {"id": 2, "passed": False}],
    ],
)
def test_arrow_reads_texts_integers_and_bools(rows):
    text = "".join(json.dumps(row) + "\n" for row in rows)
    for block_size in (1, 1000):
        columns = parse_with_arrow(io.BytesIO(text.encode()), block_size)
        assert columns is not None
        read = {name: list(cells) for name, cells in columns.items()}
        assert read == parse_json_lines(text, "a.jsonl")


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}\n{"a": 2.5}\n',
        '{"a": 9223372036854775808}\n',
        '{"a": {"x": 1}}\n{"a": {"y": 1}}\n',
        '{"a":\n1}\n{"a": 2}\n',
        '{"a": 1} {"a": 2}\n',
        '{"a": NaN}\n',
        '{"a": 1}\n{"a": "x"}\n',
        '{"a": 1, "a": 2}\n',
    ],
)
def test_what_arrow_would_convert_or_refuse_is_left_to_python(text):
    assert parse_with_arrow(io.BytesIO(text.encode())) is None


LONG = [1, 0, -25, 9223372036854775807] * 500


@pytest.fixture
def long_lines_of_1000_bytes(monkeypatch):
    monkeypatch.setattr(files, "_LONG_LINE_BYTES", 1000)


@pytest.mark.parametrize(
    "rows",
    [
        [{"id": "a", "outcomes": [0, 1]}, {"id": "b", "outcomes": LONG, "k": 1}],
        [{"outcomes": LONG}, {"outcomes": None}, {"outcomes": LONG[1:], "id": "ä"}],
        [{"text": json.dumps({"outcomes": LONG}), "outcomes": LONG[2:]}],
    ],
)
@pytest.mark.usefixtures("long_lines_of_1000_bytes")
def test_long_lines_become_columns_of_arrow(rows):
    text = "".join(json.dumps(row) + "\n" for row in rows)
    columns = parse_with_arrow(io.BytesIO(text.encode()), block_size=1000)
    assert columns is not None
    assert {name: list(cells) for name, cells in columns.items()} == parse_json_lines(text, "a")


@pytest.mark.parametrize(
    "entries", [[*LONG, 0.5], [*LONG, None], [*LONG, 1 << 63], [[*LONG]], [*LONG, True]]
)
@pytest.mark.usefixtures("long_lines_of_1000_bytes")
def test_other_long_lists_are_left_to_arrow_or_python(entries):
    text = json.dumps({"id": 1, "outcomes": entries}) + "\n"
    columns = parse_with_arrow(io.BytesIO(text.encode()))
    if columns is not None:
        assert list(columns["outcomes"]) == [entries]
        assert typed(columns["outcomes"][0][-1]) == typed(entries[-1])


@pytest.mark.parametrize("end", [b",", b",,1", b", 01", b"1 2", b"-"])
@pytest.mark.usefixtures("long_lines_of_1000_bytes")
def test_a_long_list_that_is_not_json_is_refused(end):
    line = b'{"outcomes": [' + b"1," * 5000 + b"1" + end + b"]}\n"
    assert parse_with_arrow(io.BytesIO(line)) is None


def test_a_large_file_gives_the_scores_of_a_small_one(tmp_path, monkeypatch):
    file = tmp_path / "a.jsonl"
    file.write_bytes(LINES)
    expected = at_k.load("gpassk").compute(**at_k.read(file), k=[1, 2])
    monkeypatch.setattr(files, "ARROW_BYTES", 1)
    read = at_k.read(file)
    assert isinstance(read["predictions"], pa.ChunkedArray)
    assert at_k.load("gpassk").compute(**read, k=[1, 2]) == expected
    file.write_bytes(b'{"id": 1, "correct": 1}\n{"id": 1, "correct": 0}\n')
    assert at_k.read(file) == {"predictions": [[1, 0]]}


def test_of_parquet_only_the_columns_that_are_used_are_read(tmp_path, monkeypatch):
    file, columns = tmp_path / "wide.parquet", {"id": ["a", "a", "b", "b"], "correct": [1, 0, 1, 1]}
    others = {f"column {i}": [i] * 4 for i in range(50)} | {"id.text": ["x"] * 4}
    pq.write_table(pa.table(columns | others), file)
    read, names = pq.ParquetFile.read, []

    def noting_names(self, columns=None, **options):
        names.extend(columns)
        return read(self, columns, **options)

    monkeypatch.setattr(pq.ParquetFile, "read", noting_names)
    assert at_k.read(file) == {"predictions": [[1, 0], [1, 1]]}
    assert sorted(set(names)) == ["correct", "id"]


def test_a_name_that_two_columns_of_parquet_have_is_an_error(tmp_path):
    file = tmp_path / "twice.parquet"
    pq.write_table(pa.table([[1, 0], [1, 1], ["a", "a"]], names=["correct", "correct", "id"]), file)
    with pytest.raises(ValueError, match=r"twice\.parquet cannot be read: .*correct"):
        at_k.read(file)


def test_json_lines_with_thousands_of_columns_are_parsed_by_python(tmp_path, monkeypatch):
    file = tmp_path / "wide.jsonl"
    row = {f"column {i}": "-" * 90 for i in range(files._MOST_COLUMNS)}
    rows = [{"id": "a", "correct": i % 2} | row for i in range(3)]
    file.write_text("\n".join(map(json.dumps, rows)))
    assert file.stat().st_size > files.ARROW_BYTES
    monkeypatch.setattr(files, "table_of_lines", lambda *_: pytest.fail("Arrow was asked"))
    assert at_k.read(file) == {"predictions": [[0, 1, 0]]}


def test_only_the_start_of_a_file_tells_utf_16():
    assert decoded("\ufeffä".encode("utf-16"), "runs.csv").endswith("ä")
    with pytest.raises(ValueError, match=r"runs\.csv, line 7: the text is not UTF-8"):
        decoded(b"\xff\xfea\0", "runs.csv", first_line=7)
