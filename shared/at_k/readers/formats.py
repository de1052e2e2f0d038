"""Parse the bytes of a file as a table: JSON Lines, JSON, CSV, other texts, Parquet, or a log.

The bytes may be compressed. No entry is converted: the text "2024-01-01" is not a time, 012 in CSV
is not 12, and the answer "None" is not a missing value.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..core.checks import FROM_0, Index, InputError, short
from .grids import delimiter_of, first_line, is_value, rows_of_text, table_of_grid
from .opening import most_bytes, read_limited, require_size
from .table import Table, table_of_arrow, table_of_rows
from .words import WORDS, word

FORMATS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".eval")
COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zip")
BOM = b"\xef\xbb\xbf"
"""The byte order mark, which some programs write before a text."""
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""The byte order marks of UTF-16, which PowerShell and spreadsheets write."""
_ROW_FORMS = {
    dict: 'an object with a key for each column, such as {"id": 1, "correct": true}',
    list: "the list of the samples of a question, such as [1, 0, null]",
}


def file_format(path: Path) -> str:
    """Return the last suffix that is none of `COMPRESSED`, in lower case; "" if there is none."""
    kept = [x for suffix in path.suffixes if (x := suffix.lower()) not in COMPRESSED]
    return kept[-1] if kept else ""


def parse_file(name: str, data: bytes, suffix: str = "") -> Table:
    """Return the table in the bytes of a file, which may be compressed. `suffix` is one of
    `FORMATS`; or "" if the content tells the format. A ValueError is raised if the file cannot be
    parsed, with the line if there is one."""
    if suffix not in ("", ".txt", *FORMATS):
        raise ValueError(
            f"{name} has none of the supported formats: {', '.join(FORMATS)}, .txt. Save it as one "
            f"of them, such as spreadsheets as CSV."
        )
    if suffix == ".eval":
        return table_of_rows([eval_log(data, name)], name)
    data = _decompressed(data, name)
    if not data:
        raise ValueError(f"{name} is empty.")
    suffix = suffix if suffix in FORMATS else _format_of(data)
    if suffix == ".parquet":
        return _parse_parquet(data, name)
    text = _decoded(data.removeprefix(BOM), name)
    if suffix in (".jsonl", ".ndjson", ".json"):
        return _parse_json(text, name, is_lines=suffix != ".json")
    return _parse_text(text, name, suffix == ".tsv")


# --- Bytes ------------------------------------------------------------------------------------


def _decompressed(data: bytes, name: str) -> bytes:
    """Return the decompressed bytes of a file, or the same bytes if they are not compressed."""
    open_stream = next((x for start, x in _OPENERS.items() if data.startswith(start)), None)
    try:
        if data.startswith(_ZIP):
            return _zip_member(data, _only_member(data, name), name)
        if open_stream is None:
            return data
        with open_stream(io.BytesIO(data)) as stream:
            return read_limited(stream, name, most_bytes(len(data)), " when it is decompressed")
    except (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
        raise ValueError(f"{name} cannot be decompressed: {error}.") from error


def _open_zstandard(stream: io.BytesIO) -> Any:
    """Return a stream of decompressed bytes. Python 3.13 and older have no decoder for them."""
    import pyarrow as pa

    return pa.CompressedInputStream(stream, "zstd")


_ZIP, _ZSTANDARD_IN_ZIP = b"PK\x03\x04", 93  # first bytes of a file, and a type of compression
_OPENERS: dict[bytes, Callable[[io.BytesIO], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"\x28\xb5\x2f\xfd": _open_zstandard,
}
"""The functions that decompress a stream, by its first bytes."""


def _only_member(data: bytes, name: str) -> zipfile.ZipInfo:
    """Return the only file in the bytes of a zip file, without those that macOS adds."""
    members = [x for x in zipfile.ZipFile(io.BytesIO(data)).infolist() if not x.is_dir()]
    # These are hidden: __MACOSX/._a.csv and .DS_Store.
    files = [x for x in members if not Path(x.filename).name.startswith(".")]
    if len(files) != 1:
        shown = ", ".join(x.filename for x in files[:5])
        raise ValueError(f"{name} holds {len(files)} files: extract the one to read. {shown}")
    return files[0]


def _zip_member(data: bytes, member: zipfile.ZipInfo, name: str) -> bytes:
    """Return the bytes of a member of a zip file, given as the bytes `data` of the whole."""
    require_size(f"{member.filename} in {name}", member.file_size, most_bytes(len(data)))
    try:
        if member.compress_type != _ZSTANDARD_IN_ZIP:
            return zipfile.ZipFile(io.BytesIO(data)).read(member)
        # zipfile of Python 3.13 and older has no Zstandard. The data follow a header of 30 bytes, a
        # name and an extra field, whose sizes are at the bytes 26 and 28 of the header.
        header = data[member.header_offset : member.header_offset + 30]
        sizes = [int.from_bytes(header[i : i + 2], "little") for i in (26, 28)]
        start = member.header_offset + 30 + sum(sizes)
        packed = io.BytesIO(data[start : start + member.compress_size])
        return _open_zstandard(packed).read(member.file_size)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        raise ValueError(f"{name} cannot be decompressed: {member.filename}: {error}") from error


def eval_log(data: bytes, name: str, with_samples: bool = True) -> dict[str, Any]:
    """Return the log in a `.eval` file of inspect_ai, a zip file with a member for each sample.
    Without `with_samples`, its list of samples is empty. Raises a ValueError for a damaged file."""
    try:
        members = {x.filename: x for x in zipfile.ZipFile(io.BytesIO(data)).infolist()}
        header = next(x for x in ("header.json", "_journal/start.json") if x in members)
        names = [x for x in members if with_samples and x.startswith("samples/")]
        log, *samples = (json.loads(_zip_member(data, members[x], name)) for x in (header, *names))
        known = {"version": 2, "status": "started", **log, "samples": samples}
        return {**known, "samples": sorted(samples, key=lambda x: x["epoch"])}
    except (zipfile.BadZipFile, StopIteration, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{name} is no log of inspect_ai: {error}") from error


def _decoded(data: bytes, name: str) -> str:
    """Return bytes of UTF-8, or of UTF-16 with a byte order mark, as text without NUL. A ValueError
    names the line of other bytes."""
    try:
        text = data.decode("utf-16" if data.startswith(_UTF_16) else "utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{name}, line {line}: the text is not UTF-8 ({error.reason}): it is damaged, or in "
            f"Latin-1 or another encoding. Save the file as UTF-8, which spreadsheets call CSV "
            f"UTF-8."
        ) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise ValueError(
            f"{name}, line {line}: the text has a NUL character, so the file is damaged or is no "
            f"text. Write it again."
        )
    return text


def _format_of(data: bytes) -> str:
    """Return the suffix of the format of a file, one of `FORMATS`, from its first bytes."""
    if data.startswith(b"PAR1"):
        return ".parquet"
    start = data[:4096]
    if start.startswith(_UTF_16):
        start = start.decode("utf-16", "ignore").encode()
    start = start.removeprefix(BOM).lstrip()
    first = start.partition(b"\n")[0]
    if start.startswith(b"{"):
        return ".jsonl" if len(first) > 4000 or first.rstrip().endswith(b"}") else ".json"
    if start.startswith(b"[") and start[1:].lstrip()[:1] in (b"{", b"]", b""):
        return ".json"
    return ".tsv" if b"\t" in first and b"," not in first else ".csv"


# --- Parquet and JSON -------------------------------------------------------------------------


def _parse_parquet(data: bytes, name: str) -> Table:
    """Return the table in a file of Parquet; a ValueError if it is damaged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:  # without threads: a process that ends soon after they start is aborted by Arrow
        return table_of_arrow(pq.ParquetFile(pa.BufferReader(data)).read(use_threads=False), name)
    except (pa.ArrowException, OSError, LookupError, ValueError, OverflowError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise ValueError(f"{name} cannot be read: {reason}.") from error


def _parse_json(text: str, name: str, is_lines: bool = False) -> Table:
    """Return the table of JSON Lines (`is_lines`), or of JSON. Each value is a row: an object, or a
    list of samples. A single list has all rows, but a list of samples in JSON Lines is one row. A
    single object is the only row, and `is_object` marks that it may hold a table."""
    records, is_list = _values_of_json(text, name), False
    if len(records) == 1 and isinstance(records[0], list):
        is_list = not is_lines or any(isinstance(x, (dict, list)) for x in records[0])
    records = records[0] if is_list else records
    table = table_of_records(records, name)
    is_object = len(records) == 1 and isinstance(records[0], dict)
    return replace(table, is_object=is_object, is_line=is_object and (is_lines or is_list))


def table_of_records(records: Sequence[Any], name: str) -> Table:
    """Return the table of rows that are all objects, or all lists of samples. Lists of texts that
    are not all outcomes, such as "yes", become one column of lists."""
    if kind_of_rows(records, name) is dict:
        return table_of_rows(records, name)
    for row, record in enumerate(records):
        if any(isinstance(x, dict) for x in record):
            problem = (
                " is a list of objects, which can be samples or questions: write a single list of "
                "all objects, each with the id of its question"
            )
            raise InputError(f"{name}, row ", Index(row), FROM_0, f"{problem}.")
    texts = [x for record in records for x in record if isinstance(x, str)]
    are_texts = len(texts) == sum(map(len, records))
    if are_texts and not {*map(word, texts)} <= WORDS.keys():
        # bigcode writes such lists: the generations of each problem.
        return Table({"samples": records}, name)
    return table_of_grid(records, name, are_samples=True)


def kind_of_rows(records: Sequence[Any], name: str) -> type:
    """Return the type of all rows, dict or list: that of the first row that has one of these types,
    or dict if there are no rows. Raises InputError if a row has another type."""
    kind = next((x for x in map(type, records) if x in _ROW_FORMS), dict)
    for row, record in enumerate(records):
        if not isinstance(record, kind):
            others_have_it = kind in map(type, records)
            ending = ", as other rows are." if others_have_it else f", or {_ROW_FORMS[list]}."
            problem = f" is {short(record)}: write {_ROW_FORMS[kind]}{ending}"
            raise InputError(f"{name}, row ", Index(row), FROM_0, problem)
    return kind


def _object_of_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the dict of an object of JSON; a ValueError if it has a key twice."""
    entries = dict(pairs)
    if len(entries) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"an object has the key {repeated!r} twice")
    return entries


_DECODER = json.JSONDecoder(object_pairs_hook=_object_of_pairs)
_NOT_BLANK = re.compile(r"\S")


def _values_of_json(text: str, name: str) -> list[Any]:
    """Return the values of JSON in a text, each of which begins in a line of its own."""
    values: list[Any] = []
    start, end = _NOT_BLANK.search(text), 0
    try:
        while start:
            value, next_end = _DECODER.raw_decode(text, start.start())
            if values and "\n" not in text[end : start.start()]:
                raise json.JSONDecodeError("Another value begins in the same line", text, end)
            values.append(value)
            end = next_end
            start = _NOT_BLANK.search(text, end)
    except json.JSONDecodeError as error:
        # A comma that is missing at the end of a line is reported at the next value, lines below.
        before = text[: error.pos].rstrip()
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise ValueError(
            f"{name}, line {line}: invalid JSON: {error.msg} (column {column})."
        ) from error
    except (ValueError, RecursionError) as error:  # a repeated key, long integers, deep lists
        line = text.count("\n", 0, start.start() if start else 0) + 1
        is_deep = isinstance(error, RecursionError)
        problem = "lists or objects are nested too deeply" if is_deep else str(error).split(":")[0]
        raise ValueError(f"{name}, from line {line}: invalid JSON: {problem}.") from error
    return values


# --- CSV and other tables of text -------------------------------------------------------------


def _parse_text(text: str, name: str, has_tabs: bool) -> Table:
    """Return the table in a text of CSV, or of another form that `rows_of_text` reads."""
    rows, are_samples = rows_of_text(text)
    if rows:
        return table_of_grid(rows, name, are_samples, is_csv=True)
    head = first_line(text)
    if not head:  # nothing but blank lines
        return Table({}, name)
    if head.lstrip().startswith("["):  # lists that do not end
        return _parse_json(text, name)
    if separator := re.fullmatch("sep=(.)", head):  # of Excel
        return _parse_text(text.replace(head, "", 1), name, separator[1] == "\t")
    delimiter = "\t" if has_tabs and "\t" in head else delimiter_of(head)
    rows, lines = _rows_of_csv(text, name, delimiter)
    known = {"is_csv": True, "has_decimal_commas": delimiter in "\t;"}
    return table_of_grid(rows, name, lines=lines, **known)


def _rows_of_csv(text: str, name: str, delimiter: str) -> tuple[list[list[str]], list[int]]:
    """Return the rows of CSV that are not empty, and the number of the first line of each."""
    csv.field_size_limit(2**31 - 1)  # a cell may hold all samples of a question
    # Without `strict`, a quote that is not closed swallows the rows that follow.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows, lines, last = [], [], 0
    try:
        for row in reader:
            if len(row) == 1 or any(row):
                rows.append(row)
                lines.append(last + 1)
            if reader.line_num > last + 1:
                _refuse_rows_in_cell(row, f"{name}, line {last + 1}", delimiter)
            last = reader.line_num
    except csv.Error as error:
        problem = "a quote is not closed" if "end of data" in str(error) else str(error)
        raise ValueError(
            f"{name}, line {last + 1}: {problem}. A cell in quotes ends with a quote, and a quote "
            f"inside of it is written twice."
        ) from error
    return rows, lines


def _refuse_rows_in_cell(record: list[str], where: str, delimiter: str) -> None:
    """Raise a ValueError if each line of a record in several lines could be a row of its own: with
    as many cells as the record, and a number or an outcome wherever the record has one."""
    lines = [line.split(delimiter) for line in delimiter.join(record).splitlines()]
    indices = [i for i, cell in enumerate(record) if is_value(cell)]
    have_columns = all(len(cells) == len(record) > 1 for cells in lines)
    if indices and have_columns and all(is_value(cells[i]) for cells in lines for i in indices):
        raise ValueError(
            f"{where}: a quote is closed in a later line, and each of the {len(lines)} lines looks "
            f"like a row. Write a quote that belongs to a text twice, in a cell in quotes. If the "
            f"text has several lines, write the table as JSON Lines."
        )
