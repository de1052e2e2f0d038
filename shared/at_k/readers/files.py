"""Parse a file into columns: JSON Lines, JSON, CSV, TSV or Parquet, also compressed.

Nothing is converted: the text "2024-01-01" is not a time, 012 in CSV is not 12, and the answer
"None" is not a missing value. Large JSON Lines are parsed by Arrow, if it gives the same entries.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .table import ArrowColumn, Columns, columns_of_rows

FORMATS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
_SIGNATURES = {
    b"\x1f\x8b": ".gz",
    b"BZh": ".bz2",
    b"\xfd7zXZ\x00": ".xz",
    b"\x28\xb5\x2f\xfd": ".zst",
}
ARROW_BYTES = 1 << 20
"""JSON Lines that are larger are parsed by Arrow. It is faster, and Python objects are simpler."""


def file_format(path: Path) -> str:
    """Return the last suffix in lower case, except that of a compression."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    kept = [suffix for suffix in suffixes if suffix not in _COMPRESSED]
    return kept[-1] if kept else ""


def read_file(name: str) -> Columns:
    """Return the columns of a file, or of standard input if the name is `-`.

    The format is that of the suffix, or else the one that the content has.

    Raises:
        ValueError: if the file cannot be parsed, with the line if there is one.
    """
    path = Path(name)
    if name == "-":
        name, data, suffix = "standard input", sys.stdin.buffer.read(), ""
    else:
        suffix = file_format(path) if path.is_file() else ""  # a pipe such as /dev/fd/63 has none
        if suffix and suffix not in FORMATS:
            raise ValueError(f"{name} has none of the supported formats: {', '.join(FORMATS)}.")
        data = path.read_bytes()
    compression = path.suffix.lower() if suffix else _signature(data)
    if compression in _COMPRESSED:
        data = _decompressed(data, compression, name)
    suffix = suffix or _format_of(data)
    if not data:
        raise ValueError(f"{name} is empty.")
    if suffix == ".parquet":
        return _parse_parquet(data, name)
    data = data.removeprefix(b"\xef\xbb\xbf")
    if suffix in (".jsonl", ".ndjson"):
        columns = _parse_with_arrow(data) if len(data) > ARROW_BYTES else None
        return _parse_json_lines(_decoded(data, name), name) if columns is None else columns
    text = _decoded(data, name)
    if suffix == ".json":
        return _parse_json_file(text, name)
    return _parse_csv(text, name, "\t" if suffix == ".tsv" else ",")


# --- Bytes ------------------------------------------------------------------------------


def _signature(data: bytes) -> str:
    return next((suffix for start, suffix in _SIGNATURES.items() if data.startswith(start)), "")


def _decompressed(data: bytes, compression: str, name: str) -> bytes:
    decompress: dict[str, Callable[[bytes], bytes]] = {
        ".gz": gzip.decompress,
        ".bz2": bz2.decompress,
        ".xz": lzma.decompress,
        ".zst": _decompress_zstd,
    }
    try:
        return decompress[compression](data)
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
        raise ValueError(f"{name} cannot be decompressed: {error}.") from error


def _decompress_zstd(data: bytes) -> bytes:
    import pyarrow as pa

    with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
        return stream.read()


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{name}, line {line}: the text is not UTF-8 ({error.reason}).") from error


def _format_of(data: bytes) -> str:
    """Return the suffix of the format that the content has."""
    if data.startswith(b"PAR1"):
        return ".parquet"
    start = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    first_line = start.partition(b"\n")[0]
    if start.startswith(b"{"):
        return ".jsonl" if len(first_line) > 4000 or first_line.rstrip().endswith(b"}") else ".json"
    if start.startswith(b"["):
        return ".json"
    return ".tsv" if b"\t" in first_line and b"," not in first_line else ".csv"


# --- Parquet and JSON -------------------------------------------------------------------


def _parse_parquet(data: bytes, name: str) -> Columns:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(pa.BufferReader(data))
    except pa.ArrowException as error:
        raise ValueError(f"{name} cannot be read: {error}.") from error
    return {column: ArrowColumn(table[column]) for column in table.column_names}


def _parse_with_arrow(data: bytes) -> Columns | None:
    """Return the columns of JSON Lines, or None if Arrow would refuse or convert an entry.

    Arrow reads texts that look like times as times, unless it is given their type. It also turns
    integers beside other numbers into floats, and gives all objects the same keys, so columns of
    floats or objects are not read with it.
    """
    import pyarrow as pa
    import pyarrow.json as pj

    lines = sum(1 for line in io.BytesIO(data) if not line.isspace())
    options = pj.ReadOptions(block_size=8 << 20)
    try:
        table = pj.read_json(pa.BufferReader(data), read_options=options)
        as_read = {field.name: _with_texts(field.type) for field in table.schema}
        if any(as_read[field.name] != field.type for field in table.schema):
            parsing = pj.ParseOptions(explicit_schema=pa.schema(list(as_read.items())))
            table = pj.read_json(pa.BufferReader(data), options, parsing)
    except pa.ArrowException:
        return None
    if table.num_rows != lines or not all(_is_kept(field.type) for field in table.schema):
        return None
    return {column: ArrowColumn(table[column]) for column in table.column_names}


def _with_texts(arrow_type: Any) -> Any:
    """Return the type with texts instead of times."""
    import pyarrow as pa

    if pa.types.is_list(arrow_type):
        return pa.list_(_with_texts(arrow_type.value_type))
    return pa.string() if pa.types.is_temporal(arrow_type) else arrow_type


def _is_kept(arrow_type: Any) -> bool:
    """Whether Arrow keeps all entries as they are if it reads JSON as this type."""
    import pyarrow as pa

    if pa.types.is_list(arrow_type):
        return _is_kept(arrow_type.value_type)
    return arrow_type in (pa.string(), pa.bool_(), pa.int64(), pa.null())


def _parse_json_lines(text: str, name: str) -> Columns:
    records = [
        _parse_json(line.rstrip(), name, number)
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    ]
    return _columns_of_records(records, name)


def _parse_json_file(text: str, name: str) -> Columns:
    """Return the columns of a list of objects, an object of columns, one object, or JSON Lines."""
    try:
        parsed = _parse_json(text, name)
    except ValueError as error:
        cause = error.__cause__
        if isinstance(cause, json.JSONDecodeError) and cause.msg == "Extra data":
            return _parse_json_lines(text, name)
        raise
    if isinstance(parsed, dict) and all(isinstance(value, list) for value in parsed.values()):
        return parsed
    return _columns_of_records(parsed if isinstance(parsed, list) else [parsed], name)


def _columns_of_records(records: list[Any], name: str) -> Columns:
    if not all(isinstance(record, dict) for record in records):
        raise ValueError(f"{name} must hold JSON objects only, with one key per column.")
    return columns_of_rows(records)


def _parse_json(text: str, name: str, first_line: int = 1) -> Any:
    """Return the value of a JSON text that starts at a line of the file."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        raise ValueError(
            f"{name}, line {line}: invalid JSON: {error.msg} (column {error.colno})."
        ) from error
    except ValueError as error:  # an integer with too many digits
        raise ValueError(f"{name}, from line {first_line}: invalid JSON: {error}.") from error
    except RecursionError as error:
        raise ValueError(
            f"{name}, from line {first_line}: lists or objects are nested too deeply."
        ) from error


# --- CSV --------------------------------------------------------------------------------


def _parse_csv(text: str, name: str, delimiter: str) -> Columns:
    csv.field_size_limit(sys.maxsize)  # a cell may hold all samples of a question
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    names = [column.strip() for column in next(reader)]
    if len(set(names)) < len(names):
        raise ValueError(f"{name}, line 1: two columns have the same name.")
    records = []
    for record in reader:
        if not record:
            continue
        if len(record) != len(names):
            raise ValueError(
                f"{name}, line {reader.line_num}: {len(record)} cells, but line 1 names "
                f"{len(names)} columns."
            )
        records.append(record)
    return {column: [record[i] for record in records] for i, column in enumerate(names)}
