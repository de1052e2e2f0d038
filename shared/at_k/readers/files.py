"""Parse a file into columns: JSON Lines, JSON, CSV, other tables, or Parquet, also compressed.

Nothing is converted: the text "2024-01-01" is not a time, 012 in CSV is not 12, and the answer
"None" is not a missing value. Large JSON Lines are parsed by Arrow, if it gives the same entries.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import itertools
import json
import lzma
import math
import re
import sys
import warnings
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .grids import (
    BY_CONTENT,
    Unnamed,
    columns_of_grid,
    delimiter_of,
    first_line,
    names_columns,
    rows_of_text,
    sample_columns,
)
from .opening import Limited, most_bytes, read_pipe, require_size
from .remote import RemoteFile, is_remote, path_of, remote_size
from .table import ArrowColumn, Columns, UnreadColumn, columns_of_rows

FORMATS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
_SIGNATURES = {
    b"\x1f\x8b": ".gz",
    b"BZh": ".bz2",
    b"\xfd7zXZ\x00": ".xz",
    b"\x28\xb5\x2f\xfd": ".zst",
}
REMOTE_BLOCK = 1 << 20
"""How many bytes of a file elsewhere are requested at once, at least."""
BOM = b"\xef\xbb\xbf"
"""The byte order mark, which some programs write before a text."""
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""The byte order marks of UTF-16, in which spreadsheets save "Unicode text"."""
_OBJECT_OF_COLUMNS = re.compile(rb'\{\s*("\w+":\s*\[\s*\[|"n":\s*\[)')
"""How an object begins whose first entry has the lists of all questions, or their numbers n."""
ARROW_BYTES = 1 << 20
"""JSON Lines that are larger are parsed by Arrow. It is faster, and Python objects are simpler."""
_MOST_COLUMNS = 10_000
"""JSON Lines with more columns are parsed by Python: Arrow takes 0.1 ms for each, in each block."""
_MOST_NESTED = 100  # of lists and objects, which Arrow parses by recursion
_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"')
_LONG_LINE_BYTES = 1 << 22
"""Longer lines are parsed by Python, because Arrow needs 24 bytes for each digit that it parses."""


def file_format(path: Path) -> str:
    """Return the last suffix in lower case, except that of a compression."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    kept = [suffix for suffix in suffixes if suffix not in _COMPRESSED]
    return kept[-1] if kept else ""


def read_file(
    name: str,
    max_gb: float | None = None,
    content: bytes | None = None,
    unnamed: Unnamed = BY_CONTENT,
) -> Columns:
    """Return the columns of a file, or of standard input if the name is `-`.

    The format is that of the suffix, or else the one that the content has.

    Args:
        name: path of the file.
        max_gb: the most that it may hold when it is decompressed, in GB (10^9 bytes). Default: see
            `most_bytes`.
        content: of the file, if it has been read. The suffix counts if the name has a protocol.
        unnamed: how a table is read whose columns may have no names.

    Raises:
        ValueError: if the file cannot be parsed, with the line if there is one; or if it holds more
            than `max_gb`.
    """
    path = Path(name)
    is_file = content is None and path.is_file()
    suffix = file_format(path) if is_file else ""  # a pipe such as /dev/fd/63 has none
    if content is not None and is_remote(name):
        suffix = file_format(path_of(name))
        suffix = suffix if suffix in FORMATS else ""
    if suffix and suffix not in FORMATS:
        raise ValueError(f"{name} has none of the supported formats: {', '.join(FORMATS)}.")
    source: Any = path
    if is_file and suffix:
        compression, size = path.suffix.lower(), path.stat().st_size
    else:
        if content is None:
            content = read_pipe(name, max_gb)
        source = content
        name = "standard input" if name == "-" else name
        compression, size = _signature(source), len(source)

    is_compressed = compression in _COMPRESSED
    most = most_bytes(max_gb, size if is_compressed else None)
    if not is_compressed:
        require_size(name, size, most)

    def opened() -> Any:
        return _open_limited(source, compression, name, most)

    try:
        with opened() as stream:
            start = stream.read(ARROW_BYTES)
        suffix = suffix or _format_of(start)
        if not start:
            raise ValueError(f"{name} is empty.")
        if suffix in (".jsonl", ".ndjson") and len(start) == ARROW_BYTES:
            with opened() as stream:
                columns = parse_with_arrow(stream)
            if columns is not None:
                return columns
        with opened() as stream:
            data = stream.read()
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        if isinstance(error, (FileNotFoundError, PermissionError)):
            raise
        raise ValueError(f"{name} cannot be decompressed: {error}.") from error
    if suffix == ".parquet":
        return _parse_parquet(data, name)
    text = decoded(data.removeprefix(BOM), name)
    del data
    if suffix in (".jsonl", ".ndjson"):
        return parse_json_lines(text, name, unnamed=unnamed)
    if suffix == ".json":
        return _parse_json_file(text, name, unnamed)
    return _parse_table(text, name, suffix == ".tsv", unnamed)


# --- Bytes ------------------------------------------------------------------------------


def _signature(data: bytes) -> str:
    return next((suffix for start, suffix in _SIGNATURES.items() if data.startswith(start)), "")


@contextmanager
def open_file(name: str, max_gb: float | None) -> Iterator[Any]:
    """Open a stream of the decompressed bytes of a file.

    The suffix tells its compression. Elsewhere the content does: servers may decompress it.
    """
    if is_remote(name):
        with io.BufferedReader(RemoteFile(name), REMOTE_BLOCK) as file:
            compression = _signature(file.peek(4))
            with _open_limited(
                file, compression, name, _most_of_stream(compression, remote_size(name), max_gb)
            ) as stream:
                yield stream
        return
    path = Path(name)
    compression = path.suffix.lower()
    most = _most_of_stream(compression, path.stat().st_size, max_gb)
    with _open_limited(path, compression, name, most) as stream:
        yield stream


def _most_of_stream(compression: str, size: int, max_gb: float | None) -> float:
    """Return how many bytes a file may hold that is read in parts: any, if it is as it is."""
    if max_gb is None and compression not in _COMPRESSED:
        return math.inf
    return most_bytes(max_gb, size)


def _open_limited(source: Path | bytes | BinaryIO, compression: str, name: str, most: float) -> Any:
    return Limited(_open(source, compression), name, most, compression in _COMPRESSED)


def _open(source: Path | bytes | BinaryIO, compression: str) -> Any:
    """Return a stream of the decompressed bytes of a file, or of its content."""
    file = io.BytesIO(source) if isinstance(source, bytes) else source
    if compression == ".gz":
        return gzip.open(file)
    if compression == ".bz2":
        return bz2.open(file)
    if compression == ".xz":
        return lzma.open(file)
    if compression == ".zst":
        import pyarrow as pa

        return pa.CompressedInputStream(str(file) if isinstance(file, Path) else file, "zstd")
    return file.open("rb") if isinstance(file, Path) else file


def blocks_of_lines(stream: Any, size: int) -> Iterator[bytes]:
    """Yield the content in blocks of whole lines, of this size or a little more."""
    chunks: list[bytes] = []  # of a line, which are joined once
    while chunk := stream.read(size):
        if end := chunk.rfind(b"\n") + 1:
            block = b"".join([*chunks, chunk[:end]])
            chunks, chunk = [], chunk[end:]
            yield block
        chunks.append(chunk)
    if rest := b"".join(chunks):
        yield rest


def decoded(data: bytes, name: str, first_line: int = 1) -> str:
    """Return bytes as text, which are UTF-8, or UTF-16 with a byte order mark.

    Raises:
        ValueError: if they are not, with the line of the file.
    """
    is_utf_16 = first_line == 1 and data.startswith(_UTF_16)
    try:
        return data.decode("utf-16" if is_utf_16 else "utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + first_line
        raise ValueError(
            f"{name}, line {line}: the text is not UTF-8 ({error.reason}), but may be Latin-1 or "
            f"another encoding. Save the file as UTF-8, which spreadsheets call CSV UTF-8."
        ) from error


def _format_of(data: bytes) -> str:
    """Return the suffix of the format that the content has."""
    if data.startswith(b"PAR1"):
        return ".parquet"
    start = data[:4096]
    if start.startswith(_UTF_16):
        start = start.decode("utf-16", "ignore").encode()
    start = start.removeprefix(BOM).lstrip()
    first_line = start.partition(b"\n")[0]
    if start.startswith(b"{"):
        is_line = len(first_line) > 4000 or first_line.rstrip().endswith(b"}")
        return ".jsonl" if is_line and not _OBJECT_OF_COLUMNS.match(start) else ".json"
    if start.startswith(b"[") and start[1:].lstrip()[:1] in (b"{", b"]", b""):
        return ".json"
    return ".tsv" if b"\t" in first_line and b"," not in first_line else ".csv"


# --- Parquet and JSON -------------------------------------------------------------------


def _parse_parquet(data: bytes, name: str) -> Columns:
    import pyarrow as pa
    import pyarrow.parquet as pq

    def read(column: str | None = None) -> Any:
        try:  # without threads: a process that ends soon after they start is aborted by Arrow
            if column is None:
                return pq.ParquetFile(pa.BufferReader(data))
            return file.read([column], use_threads=False)[column]
        except (pa.ArrowException, OSError, KeyError) as error:
            reason = " ".join(str(error).split())
            raise ValueError(f"{name} cannot be read: {reason}.") from error

    file = read()
    rows = file.metadata.num_rows
    return {
        field.name: UnreadColumn(partial(read, field.name), field.type, rows)
        for field in file.schema_arrow
    }


def parse_with_arrow(stream: Any, block_size: int = 1 << 20) -> Columns | None:
    """Return the columns of JSON Lines, or None if Arrow would refuse or convert an entry.

    Arrow reads texts that look like times as times, unless it is given their type. It also turns
    integers beside other numbers into floats, and gives all objects the same keys, so columns of
    floats or objects are not read with it.

    Args:
        stream: of bytes.
        block_size: number of bytes to parse at once. Arrow needs several times as much memory.
    """
    import pyarrow as pa

    tables: list[Any] = []
    known: dict[str, Any] = {}
    names: dict[str, None] = {}  # in the order of the file
    for block in blocks_of_lines(stream, block_size):
        if not tables:
            block = block.removeprefix(BOM)
            if block.partition(b"\n")[0].count(b'":') > _MOST_COLUMNS:
                return None
        if block.isspace():
            continue
        table = table_of_lines(block, known)
        if table is None or not all(_is_kept(field.type) for field in table.schema):
            return None
        names |= dict.fromkeys(table.column_names)
        # The metrics need large texts. To cast small tables takes less memory.
        large = [field.with_type(_large(field.type)) for field in table.schema]
        try:
            tables.append(table.cast(pa.schema(large)))
        except (pa.ArrowException, ValueError):
            return None
    try:
        table = pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException:
        return None
    return {name: ArrowColumn(table[name]) for name in names}


def table_of_lines(block: bytes, known: dict[str, Any]) -> Any | None:
    """Return the table of a block of JSON Lines, or None if Arrow refuses it.

    Texts that look like times are texts.

    Args:
        block: whole lines, at least one of which has an object.
        known: the types of the columns, as far as earlier blocks have shown them. Those of this
            block are added.
    """
    import pyarrow as pa

    lines = _number_of_objects(block)
    if lines is None:
        return None
    try:
        is_long_line = lines == 1 and len(block) > _LONG_LINE_BYTES
        read_block = _read_long_line if is_long_line else _read_lines
        names: list[str] = []
        for _ in range(2):  # again if texts were read as times
            table = read_block(block, known)
            names = names or table.column_names  # a type that is given moves its column
            types = {field.name: _with_texts(field.type) for field in table.schema}
            known |= {name: kind for name, kind in types.items() if "null" not in str(kind)}
            if all(types[field.name] == field.type for field in table.schema):
                break
        table = table.select(names)
    except (pa.ArrowException, KeyError, ValueError, OverflowError, RecursionError):
        return None
    # A table without columns does not keep its number of rows.
    return table if table.num_rows == lines and table.num_columns else None


def _number_of_objects(block: bytes) -> int | None:
    """Return the number of lines, or None if Arrow's parser may end the interpreter.

    It does for a line that is no object at the start of a block, and for deep nesting.
    """
    starts = block.startswith(b"{") + block.count(b"\n{")
    if b"[" not in block and starts == block.count(b"{") == block.rstrip().count(b"\n") + 1:
        return starts  # objects without lists and objects, one in each line
    number = 0
    for line in io.BytesIO(block):
        if line.isspace():
            continue
        if not line.lstrip().startswith(b"{") or _may_be_deep(line):
            return None
        number += 1
    return number


def _may_be_deep(line: bytes) -> bool:
    """Whether lists and objects may be nested more than `_MOST_NESTED` deep."""
    if line.count(b"[") + line.count(b"{") <= _MOST_NESTED:
        return False
    # Outside of texts, an opening bracket leads one level down and a closing one up.
    brackets = np.frombuffer(_TEXT.sub(b"", line), np.uint8)
    down = np.isin(brackets, np.frombuffer(b"[{", np.uint8))
    up = np.isin(brackets, np.frombuffer(b"]}", np.uint8))
    return int(np.cumsum(down.astype(np.int64) - up).max(initial=0)) > _MOST_NESTED


def _read_lines(block: bytes, types: Mapping[str, Any]) -> Any:
    """Return JSON Lines as a table of Arrow, with these types of the columns that have one."""
    import pyarrow as pa
    import pyarrow.json as pj

    options = pj.ReadOptions(use_threads=False, block_size=len(block) + 1)
    parsing = pj.ParseOptions(explicit_schema=pa.schema(list(types.items())))
    return pj.read_json(pa.BufferReader(block), options, parsing)


def _read_long_line(line: bytes, types: Mapping[str, Any]) -> Any:
    """Return one line of JSON as a table of Arrow, with these types of the columns that have one.

    Raises:
        ValueError: if Python or Arrow refuses the line; `pyarrow.ArrowInvalid` is one.
    """
    import pyarrow as pa

    record = _decode(line.decode())
    if not isinstance(record, dict):
        raise ValueError("a line of JSON Lines is an object")
    table = pa.table({name: pa.array([entry]) for name, entry in record.items()})
    for field in table.schema:
        if field.name in types and "null" not in str(field.type) != str(types[field.name]):
            raise ValueError(f"{field.name} has entries of two types")
    return table


def _with_texts(arrow_type: Any) -> Any:
    """Return the type with texts instead of times."""
    import pyarrow as pa

    if pa.types.is_list(arrow_type):
        return pa.list_(_with_texts(arrow_type.value_type))
    return pa.string() if pa.types.is_temporal(arrow_type) else arrow_type


def _large(arrow_type: Any) -> Any:
    """Return the type with texts and lists that have no limit of 2 GB."""
    import pyarrow as pa

    if pa.types.is_list(arrow_type):
        return pa.large_list(_large(arrow_type.value_type))
    return pa.large_string() if pa.types.is_string(arrow_type) else arrow_type


def _is_kept(arrow_type: Any) -> bool:
    """Whether Arrow keeps all entries as they are if it reads JSON as this type."""
    import pyarrow as pa

    if pa.types.is_list(arrow_type):
        return _is_kept(arrow_type.value_type)
    return arrow_type in (pa.string(), pa.bool_(), pa.int64(), pa.null())


def parse_json_lines(
    text: str, name: str, first_line: int = 1, unnamed: Unnamed = BY_CONTENT
) -> Columns:
    records = [
        _parse_json(line.rstrip(), name, number)
        for number, line in enumerate(text.split("\n"), start=first_line)
        if line.strip()
    ]
    return _columns_of_records(records, name, unnamed)


def _parse_json_file(text: str, name: str, unnamed: Unnamed) -> Columns:
    """Return the columns of objects or lists, an object of columns, one object, or JSON Lines.

    MLflow and W&B write tables as one object, with the names in `columns` and the rows in `data`.
    """
    try:
        parsed = _parse_json(text, name)
    except ValueError as error:
        cause = error.__cause__
        if isinstance(cause, json.JSONDecodeError) and cause.msg == "Extra data":
            return parse_json_lines(text, name, unnamed=unnamed)
        raise
    if isinstance(parsed, dict) and parsed.keys() >= {"columns", "data"}:
        names, rows = parsed["columns"], parsed["data"]
        lists = isinstance(names, list) and isinstance(rows, list)
        if lists and all(isinstance(row, list) and len(row) == len(names) for row in rows):
            if len(set(map(str, names))) < len(names):
                raise ValueError(f"{name}: two columns have the same name.")
            return {str(column): [row[i] for row in rows] for i, column in enumerate(names)}
    if isinstance(parsed, dict) and all(isinstance(value, list) for value in parsed.values()):
        return parsed
    return _columns_of_records(parsed if isinstance(parsed, list) else [parsed], name, unnamed)


def _columns_of_records(records: list[Any], name: str, unnamed: Unnamed) -> Columns:
    if any(records) and all(isinstance(record, list) for record in records):
        return columns_of_grid(records, name, unnamed, are_samples=True)
    if not all(isinstance(record, dict) for record in records):
        raise ValueError(
            f"{name} must hold JSON objects only, with one key per column, or lists of samples."
        )
    return columns_of_rows(records)


def _object_of_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; a ValueError if one entry would replace another."""
    entries = dict(pairs)
    if len(entries) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"an object has the key {repeated!r} twice")
    return entries


_decode = json.JSONDecoder(object_pairs_hook=_object_of_pairs).decode


def _parse_json(text: str, name: str, first_line: int = 1) -> Any:
    """Return the value of a JSON text that starts at a line of the file."""
    try:
        return _decode(text)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        raise ValueError(
            f"{name}, line {line}: invalid JSON: {error.msg} (column {error.colno})."
        ) from error
    except ValueError as error:  # an integer with too many digits, or a repeated key
        problem = str(error)
        if "set_int_max_str_digits" in problem:
            problem = "an integer has too many digits"
        raise ValueError(f"{name}, from line {first_line}: invalid JSON: {problem}.") from error
    except RecursionError as error:
        raise ValueError(
            f"{name}, from line {first_line}: lists or objects are nested too deeply."
        ) from error


# --- CSV --------------------------------------------------------------------------------


def _parse_table(text: str, name: str, has_tabs: bool, unnamed: Unnamed) -> Columns:
    """Return the columns of CSV, or of a table in another form that people write or paste."""
    rows, are_samples = rows_of_text(text)
    if rows:
        return columns_of_grid(rows, name, unnamed, are_samples)
    head = first_line(text)
    if not head:  # nothing but blank lines
        return {}
    if head.lstrip().startswith("["):  # lists that do not end
        return _parse_json_file(text, name, unnamed)
    delimiter = "\t" if has_tabs and "\t" in head else delimiter_of(head)
    first = next(csv.reader([head], delimiter=delimiter), [])

    @cache
    def records() -> list[list[str]]:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        return list(iter(lambda: _next_record(reader, name, 0), None))

    if names_columns(first, lambda: records()[1:], unnamed):
        lines = io.StringIO(text, newline="")
        (columns,) = parse_csv_lines(lines, name, delimiter, sys.maxsize)
        return columns
    return columns_of_grid(records(), name, unnamed)


def parse_csv_lines(
    lines: Iterable[str],
    name: str,
    delimiter: str,
    size: int,
    names: Sequence[str] = (),
    before: int = 0,
) -> Iterator[Columns]:
    """Yield the columns of CSV in parts, at least one.

    Args:
        lines: with their ends.
        name: of the file.
        delimiter: between cells.
        size: the number of rows of a part.
        names: of the columns, if the line of names is not among the lines.
        before: the number of lines of the file before these.
    """
    csv.field_size_limit(2**31 - 1)  # a cell may hold all samples of a question
    # Without `strict`, a quote that is not closed swallows the rows that follow.
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    if not names:
        names = [column.strip() for column in _next_record(reader, name, before) or ()]
        if len(set(names)) < len(names):
            raise ValueError(f"{name}, line 1: two columns have the same name.")
    may_be_short = bool(sample_columns(names))  # a question with fewer samples
    columns: list[list[str]] = [[] for _ in names]
    parts = 0
    last = before + reader.line_num
    while (record := _next_record(reader, name, before)) is not None:
        first, last = last + 1, before + reader.line_num
        if not record:
            continue
        if may_be_short:
            record += [""] * (len(names) - len(record))
        if len(record) != len(names):
            raise ValueError(
                f"{name}, line {first}: {len(record)} cells, but line 1 names {len(names)} columns."
            )
        if first < last:
            _warn_of_rows_in_cell(record, f"{name}, line {first}", delimiter)
        for column, cell in zip(columns, record, strict=True):
            column.append(cell)
        if columns and len(columns[0]) == size:
            yield dict(zip(names, columns, strict=True))
            parts, columns = parts + 1, [[] for _ in names]
    if not parts or any(columns):
        yield dict(zip(names, columns, strict=True))


def _next_record(reader: Any, name: str, before: int) -> list[str] | None:
    """Return the next record, or None at the end; a ValueError if its quotes are wrong."""
    first = before + reader.line_num + 1
    try:
        return next(reader, None)
    except csv.Error as error:
        problem = "a quote is not closed" if "end of data" in str(error) else str(error)
        raise ValueError(
            f"{name}, line {first}: {problem}. A cell in quotes ends with a quote, and a quote "
            f"inside of it is written twice."
        ) from error


def _warn_of_rows_in_cell(record: list[str], where: str, delimiter: str) -> None:
    """Warn if a cell contains lines that look like rows: its quotes may be a typing error."""
    numbers = [i for i, cell in enumerate(record) if _is_decimal(cell)]
    for line in itertools.chain.from_iterable(cell.splitlines()[1:] for cell in record):
        cells = line.split(delimiter)
        has_columns = len(cells) == len(record) > 1
        if numbers and has_columns and all(_is_decimal(cells[i]) for i in numbers):
            warnings.warn(
                f"{where}: a cell in quotes contains the line {line[:60]!r}, which looks like a "
                f"row of its own. If it is one, close the quote before it.",
                stacklevel=2,
            )
            return


def _is_decimal(text: str) -> bool:
    return text.strip().replace(".", "", 1).isdigit()
