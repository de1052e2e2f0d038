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


def copy_files(uploads: Sequence[str]) -> dict[str, str]:
    """Copy uploaded files to the current folder; return their names there by plain labels."""
    names: dict[str, str] = {}
    for number, upload in enumerate(map(Path, uploads), start=1):
        suffix = upload.suffix.lower()
        if suffix in _SPREADSHEETS:
            raise ValueError(f"A file {suffix} is a spreadsheet: save its table as CSV.")
        if suffix not in (*_FILE_TYPES, ".txt"):
            raise ValueError(f"The name of a file must end in one of {', '.join(_FILE_TYPES)}.")
        if upload.stat().st_size > MAX_BYTES:
            raise ValueError(TOO_LARGE)
        label = re.sub(r"[^\w.=+-]+", "_", upload.stem).strip("._-")[:24] or "file"
        if suffix == ".txt":  # a text is read as if it were pasted: its name has no type
            label, suffix = label.replace(".", "_"), ""
        while label in names:
            label = f"{label}_{number}"
        names[label] = f"{label}{suffix}"
        Path(names[label]).write_bytes(upload.read_bytes())
    return names


def write_text(text: str) -> dict[str, str]:
    """Write a text to the current folder; return the name of the file by its label."""
    content = text.encode(errors="replace")
    if len(content) > MAX_BYTES:
        raise ValueError(TOO_LARGE)
    if not text.strip():
        raise ValueError("There are no samples. Paste a table, rows of outcomes, or JSON.")
    Path("text").write_bytes(content)
    return {"text": "text"}
