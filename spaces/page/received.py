"""Write what a visitor gives to the current folder: a text or files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from at_k.readers.formats import COMPRESSED, FORMATS

MAX_BYTES = 40_000_000
MAX_FILES = 8
TOO_LARGE = f"The limit for a file, and for a text, is {MAX_BYTES // 1_000_000} MB."
_FILE_TYPES = (*FORMATS, ".eval", *COMPRESSED)
_SPREADSHEETS = (".xlsx", ".xls", ".ods", ".numbers")


def copy_files(uploads: Sequence[str]) -> list[str]:
    """Copy uploaded files to the current folder; return their new names, short and plain."""
    names: dict[str, str] = {}
    for number, upload in enumerate(map(Path, uploads), start=1):
        label = _label(upload)
        if upload.stat().st_size > MAX_BYTES:
            raise ValueError(TOO_LARGE)
        if label in names:
            label = f"{label}_{number}"
        suffix = upload.suffix.lower()  # a text is read as if it were pasted
        names[label] = _write(f"{label}{'' if suffix == '.txt' else suffix}", upload.read_bytes())
    return list(names.values())


def write_text(text: str) -> str:
    """Write a text to the current folder, and return the name of the file."""
    if len(text.encode(errors="replace")) > MAX_BYTES:
        raise ValueError(TOO_LARGE)
    if not text.strip():
        raise ValueError("There are no samples. Paste a table, rows of outcomes, or JSON.")
    return _write("text", text.encode(errors="replace"))


def _label(file: Path) -> str:
    """Return a short and plain label for a file; a ValueError if it is of another type."""
    suffix = file.suffix.lower()
    if suffix in _SPREADSHEETS:
        raise ValueError(f"A file {suffix} is a spreadsheet: save its table as CSV.")
    if suffix not in (*_FILE_TYPES, ".txt"):
        raise ValueError(f"The name of a file must end in one of {', '.join(_FILE_TYPES)}.")
    return re.sub(r"[^\w.=+-]+", "_", file.stem).strip("._-")[:24] or "file"


def _write(name: str, content: bytes) -> str:
    """Write a file to the current folder; return its name."""
    Path(name).write_bytes(content)
    return name
