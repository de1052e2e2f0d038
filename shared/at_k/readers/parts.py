"""Read a large file in parts, each a table of Arrow, as strictly as whole files are read."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from .columns import entry_text
from .files import (
    BOM,
    REMOTE_BLOCK,
    blocks_of_lines,
    decoded,
    file_format,
    open_file,
    parse_csv_lines,
    parse_json_lines,
    table_of_lines,
)
from .remote import RemoteFile, is_remote, path_of
from .table import Columns

_ROWS_OF_A_PART = 1 << 20
_ROWS_OF_OBJECTS = 1 << 17
"""Rows whose entries are Python objects, before they are converted."""
_BYTES_OF_A_PART = 1 << 24
_QUOTED = re.compile(rb'"[^"\r\n]*"')
FORMATS_IN_PARTS = (".parquet", ".csv", ".tsv", ".jsonl", ".ndjson")
"""The formats that can be read in parts."""


class Part(NamedTuple):
    """Consecutive rows of a file.

    Attributes:
        rows: a table or a record batch of Arrow, with the columns that are needed at least.
        names: of all columns of the file, as far as they are known.
    """

    rows: Any
    names: Sequence[str]


def parts_of_file(
    name: str, columns: Sequence[str] | None = None, max_gb: float | None = None
) -> Iterator[Part]:
    """Yield the rows of a file, part by part.

    Args:
        name: of the file, whose format is one of `FORMATS_IN_PARTS`.
        columns: the columns that are needed. Default: all.
        max_gb: the most that a compressed file may hold.

    Raises:
        ValueError: as `read_file`.
        pyarrow.ArrowException: if a file of Parquet is damaged.
    """
    suffix = file_format(path_of(name))
    if suffix == ".parquet":
        yield from _parts_of_parquet(name, columns)
        return
    with open_file(name, max_gb) as stream:
        blocks = blocks_of_lines(stream, _BYTES_OF_A_PART)
        if suffix in (".csv", ".tsv"):
            yield from _parts_of_csv(blocks, name, "\t" if suffix == ".tsv" else ",", columns)
        else:
            yield from _parts_of_json(blocks, name)


def _parts_of_parquet(name: str, columns: Sequence[str] | None) -> Iterator[Part]:
    import pyarrow.parquet as pq

    with open_parquet(name) as source:
        schema = pq.read_schema(source)
        texts = [field.name for field in schema if "string" in str(field.type)]
        file = pq.ParquetFile(source, read_dictionary=texts)
        rows = _ROWS_OF_A_PART if columns else 1024
        for batch in file.iter_batches(rows, columns=columns, use_threads=False):
            yield Part(batch, schema.names)


@contextmanager
def open_parquet(name: str) -> Iterator[Any]:
    """Yield what Arrow opens: the name of a file, or the open file if it is elsewhere."""
    if not is_remote(name):
        yield name
        return
    with io.BufferedReader(RemoteFile(name, seekable=True), REMOTE_BLOCK) as file:
        yield file


def _parts_of_json(blocks: Iterable[bytes], name: str) -> Iterator[Part]:
    known: dict[str, Any] = {}
    line = 1
    for block in blocks:
        objects = block.removeprefix(BOM) if line == 1 else block
        if not objects.isspace():
            table = table_of_lines(objects, known)
            if table is None:
                table = _as_arrow(parse_json_lines(decoded(objects, name, line), name, line))
            yield Part(table, table.column_names)
        line += block.count(b"\n")


def _parts_of_csv(
    blocks: Iterator[bytes], name: str, delimiter: str, columns: Sequence[str] | None
) -> Iterator[Part]:
    """Yield the rows of CSV. After the first unusual quote or end of a line, Python reads them."""
    import pyarrow as pa
    import pyarrow.csv as pc

    kind = pa.dictionary(pa.int32(), pa.string()) if columns else pa.string()
    names: list[str] = []
    lines = 0
    for block in blocks:
        rows = block.removeprefix(BOM) if lines == 0 else block
        if not names:
            head, _, rest = rows.partition(b"\n")
            if head.count(b'"') % 2 or b"\r" in head[:-1]:
                break
            (header,) = parse_csv_lines([decoded(head, name)], name, delimiter, 1)
            names, rows, lines = list(header), rest, 1
        has_quotes = b'"' in rows
        is_plain = b"\r" not in rows or rows.count(b"\r") == rows.count(b"\r\n")
        is_plain = is_plain and not (has_quotes and _has_unusual_quotes(rows, delimiter.encode()))
        table = None
        if is_plain and rows:
            read = pc.ReadOptions(use_threads=False, column_names=names, block_size=len(rows) + 1)
            parsing = pc.ParseOptions(delimiter=delimiter, quote_char='"' if has_quotes else False)
            converting = pc.ConvertOptions(
                column_types=dict.fromkeys(names, kind),
                strings_can_be_null=False,
                include_columns=columns,
            )
            try:
                table = pc.read_csv(pa.BufferReader(rows), read, parsing, converting)
            except pa.ArrowException:
                table = None
        if table is None and rows:
            break
        if table is not None:
            yield Part(table, names)
        lines += rows.count(b"\n")
    else:
        return
    texts = _decoded_lines(itertools.chain([rows], blocks), name, lines + 1)
    size = _ROWS_OF_OBJECTS
    for part in parse_csv_lines(texts, name, delimiter, size, names, lines):
        yield Part(_as_arrow(part), list(part))


def _has_unusual_quotes(rows: bytes, delimiter: bytes) -> bool:
    """Whether quotes are elsewhere than around whole cells, of one line and without a quote."""
    cells = _QUOTED.sub(b"\0", rows)
    starts = cells.startswith(b"\0") + cells.count(delimiter + b"\0") + cells.count(b"\n\0")
    ends = cells.endswith(b"\0") + sum(
        cells.count(b"\0" + end) for end in (delimiter, b"\r", b"\n")
    )
    return b'"' in cells or b"\0" in rows or not starts == ends == cells.count(b"\0")


def _decoded_lines(blocks: Iterable[bytes], name: str, line: int) -> Iterator[str]:
    """Yield the lines of blocks of which the first begins at a line of the file."""
    for block in blocks:
        yield from io.StringIO(decoded(block, name, line), newline="")
        line += block.count(b"\n")


def _as_arrow(columns: Columns) -> Any:
    """Return a table of Arrow. Entries of several types become texts."""
    import pyarrow as pa

    def converted(cells: Sequence[Any]) -> Any:
        try:
            return pa.array(cells)
        except (pa.ArrowException, OverflowError):
            return as_texts(cells)

    return pa.table({name: converted(cells) for name, cells in columns.items()})


def as_texts(cells: Iterable[Any]) -> Any:
    """Return entries as texts, from which `as_outcome` restores bools and numbers.

    Raises:
        pyarrow.ArrowInvalid: if an entry is not a number, which can be missing or an error.
    """
    import pyarrow as pa

    cells = list(cells)
    if any(isinstance(cell, float) and cell != cell for cell in cells):
        raise pa.ArrowInvalid("a NaN among entries of several types")
    return pa.array([None if cell is None else entry_text(cell) for cell in cells], pa.string())
