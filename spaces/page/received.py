"""Write what a visitor gives to the current folder: a text, files, or the name of a dataset."""

from __future__ import annotations

import json
import os
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from .pasted import parse_lists

MAX_BYTES = 2 << 20
TOO_LARGE = f"The limit for a file, and for a text, is {MAX_BYTES // 1_000_000} MB."
TEXT_TYPES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")
_FILE_TYPES = (*TEXT_TYPES, ".parquet", ".eval", ".gz", ".bz2", ".xz", ".zst")
_DATASET = re.compile(r"(?P<name>[\w.-]+/[\w.-]+)(?:/(?P<file>[\w./ -]+))?")
_COLUMNS = re.compile(r'\s*\{\s*("\w+":\s*\[\s*\[|"n":\s*\[)')
"""How an object begins whose first entry has the lists of all questions, or their numbers n."""
_SECONDS = 10.0  # for each answer of the Hub
_MAX_SHOWN = 5


def copy_files(uploads: Sequence[str]) -> list[str]:
    """Copy uploaded files to the current folder; return their new names, short and plain."""
    names: dict[str, str] = {}
    for number, upload in enumerate(map(Path, uploads), start=1):
        label = _label(upload)
        if upload.stat().st_size > MAX_BYTES:
            raise ValueError(TOO_LARGE)
        if label in names:
            label = f"{label}_{number}"
        names[label] = _write(label, upload.suffix, upload.read_bytes())
    return list(names.values())


def write_text(text: str, notes: list[str]) -> str:
    """Write a text, or the dataset that it names, to the current folder.

    Args:
        text: samples; or the name of a dataset on the Hub, such as "owner/name", or of one of its
            files, such as "owner/name/runs/a.jsonl".
        notes: sentences that say what was read, to which this adds.

    Returns:
        The name of the file.
    """
    if len(text.encode(errors="replace")) > MAX_BYTES:
        raise ValueError(TOO_LARGE)
    if not text.strip():
        raise ValueError("There is no text. Paste JSON Lines or CSV.")
    if found := _DATASET.fullmatch(text.strip()):
        return _download(found["name"], found["file"], notes)
    file_type = _type_of(text)
    name = f"text.{file_type}"
    Path(name).write_text(text, encoding="utf-8", errors="replace")
    return name


def _type_of(text: str) -> str:
    """Return the type of file that a text would be in: an object of columns is JSON, not a line."""
    if parse_lists(text):
        return "csv"
    start = text.lstrip()[:1]
    if start != "{":
        return "json" if start == "[" else "csv"
    if "\n" in text.strip():
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return "jsonl"
        return "json"
    return "json" if _COLUMNS.match(text) else "jsonl"


def _label(file: Path) -> str:
    """Return a short and plain label for a file; a ValueError if it is of another type."""
    if file.suffix.lower() not in _FILE_TYPES:
        raise ValueError(f"The name of a file must end in one of {', '.join(_FILE_TYPES)}.")
    return re.sub(r"[^\w.=+-]+", "_", file.stem).strip("._-")[:24] or "file"


def _write(label: str, suffix: str, content: bytes) -> str:
    name = f"{label}{'.csv' if suffix.lower() == '.tsv' else suffix.lower()}"
    Path(name).write_bytes(content)
    return name


# --- Datasets on the Hub ------------------------------------------------------------------


def _download(dataset: str, file: str | None, notes: list[str]) -> str:
    """Download a file of a public dataset to the current folder, and return its name."""
    listing = _answer(dataset, f"api/datasets/{dataset}")
    try:
        files = [entry["rfilename"] for entry in json.loads(listing)["siblings"]]
    except (ValueError, LookupError, TypeError) as error:
        raise ValueError(f"The answer of the Hub about {dataset} cannot be read.") from error
    files = [name for name in files if Path(name).suffix.lower() in _FILE_TYPES]
    if file is not None and file not in files:
        raise ValueError(f"The dataset {dataset} has no file {file} of samples. {_choice(files)}")
    if file is None and len(files) != 1:
        count = f"{len(files)} files" if files else "no file"
        raise ValueError(f"The dataset {dataset} has {count} of samples. {_choice(files, dataset)}")
    file = file or files[0]
    content = _answer(dataset, f"datasets/{dataset}/resolve/main/{urllib.parse.quote(file)}")
    notes.append(f"Read from the file {file} of the dataset {dataset}.")
    return _write(_label(Path(file)), Path(file).suffix, content)


def _choice(files: Sequence[str], dataset: str = "") -> str:
    if not files:
        return f"The page reads files that end in one of {', '.join(_FILE_TYPES)}."
    shown = ", ".join(f"{dataset}/{name}".strip("/") for name in files[:_MAX_SHOWN])
    return f"Give one of {shown}{', ..' if len(files) > _MAX_SHOWN else ''}."


def _answer(dataset: str, path: str) -> bytes:
    """Return what the Hub answers without a token, so that private datasets stay private."""
    hub = os.environ.get("HF_ENDPOINT", "https://huggingface.co")
    try:
        with urllib.request.urlopen(f"{hub}/{path}", timeout=_SECONDS) as answer:
            content = answer.read(MAX_BYTES + 1)
    except urllib.error.HTTPError as error:
        raise ValueError(
            f"The Hub has no public dataset {dataset} (its answer is {error.code}). Paste JSON "
            f"Lines or CSV, or give the name of a dataset."
        ) from error
    except OSError as error:
        raise ValueError(
            f"{dataset:.100} can be the name of a dataset, but the Hub cannot be reached from this "
            f"page. Paste its rows or upload its file, or use at_k.read."
        ) from error
    if len(content) > MAX_BYTES:
        raise ValueError(TOO_LARGE)
    return content
