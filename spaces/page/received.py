"""Write what a visitor gives to the current folder: a text, files, or the name of a dataset."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from at_k.readers.formats import COMPRESSED, FORMATS

MAX_BYTES = 40_000_000
TOO_LARGE = f"The limit for a file, and for a text, is {MAX_BYTES // 1_000_000} MB."
_FILE_TYPES = (*FORMATS, ".eval", *COMPRESSED)
_SPREADSHEETS = (".xlsx", ".xls", ".ods", ".numbers")
_DATASET = re.compile(r"(?P<name>\w[\w.-]*/\w[\w.-]*)(?:/(?P<file>[\w./ -]+))?")
_SECONDS = 10  # for each answer of the Hub
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
        suffix = upload.suffix.lower()  # a text is read as if it were pasted
        names[label] = write(f"{label}{'' if suffix == '.txt' else suffix}", upload.read_bytes())
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
        raise ValueError("There are no samples. Paste a table, rows of outcomes, or JSON.")
    if match := _DATASET.fullmatch(text.strip()):
        return _download(match["name"], match["file"], notes)
    return write("text", text)


def _label(file: Path) -> str:
    """Return a short and plain label for a file; a ValueError if it is of another type."""
    suffix = file.suffix.lower()
    if suffix in _SPREADSHEETS:
        raise ValueError(f"A file {suffix} is a spreadsheet: save its table as CSV.")
    if suffix not in (*_FILE_TYPES, ".txt"):
        raise ValueError(f"The name of a file must end in one of {', '.join(_FILE_TYPES)}.")
    return re.sub(r"[^\w.=+-]+", "_", file.stem).strip("._-")[:24] or "file"


def write(name: str, content: str | bytes) -> str:
    """Write a file to the current folder; return its name."""
    content = content.encode(errors="replace") if isinstance(content, str) else content
    Path(name).write_bytes(content)
    return name


# --- Datasets on the Hub ------------------------------------------------------------------


def _download(dataset: str, file: str | None, notes: list[str]) -> str:
    """Download a file of a public dataset to the current folder, and return its name."""
    from huggingface_hub import HfApi, constants, errors

    constants.HF_HUB_OFFLINE = False  # in this process, which ends with its request
    constants.HF_HUB_DOWNLOAD_TIMEOUT = constants.HF_HUB_ETAG_TIMEOUT = _SECONDS
    hub = HfApi(token=False)  # so that private datasets stay private
    try:
        described = hub.dataset_info(dataset, timeout=_SECONDS, files_metadata=True)
        sizes = {entry.rfilename: entry.size or 0 for entry in described.siblings or ()}
        file = _chosen(dataset, file, [x for x in sizes if Path(x).suffix.lower() in _FILE_TYPES])
        if sizes[file] > MAX_BYTES:
            raise ValueError(TOO_LARGE)
        path = Path(hub.hf_hub_download(dataset, file, repo_type="dataset", local_dir="dataset"))
    except errors.RepositoryNotFoundError as error:
        raise ValueError(
            f"The Hub has no public dataset {dataset}. Paste JSON Lines or CSV, or give the name "
            f"of a dataset."
        ) from error
    except ValueError:
        raise
    except Exception as error:  # of the library for HTTP, which is one of several
        raise ValueError(
            f"{dataset:.100} can be the name of a dataset, but the Hub cannot be reached from this "
            f"page. Paste its rows or upload its file, or use at_k.read."
        ) from error
    notes.append(f"Read from the file {file} of the dataset {dataset}.")
    (name,) = copy_files([str(path)])
    return name


def _chosen(dataset: str, file: str | None, files: Sequence[str]) -> str:
    """Return the file of a dataset that is meant; a ValueError if there is no such one."""
    if file is not None and file not in files:
        raise ValueError(f"The dataset {dataset} has no file {file} of samples. {_choice(files)}")
    if file is None and len(files) != 1:
        count = f"{len(files)} files" if files else "no file"
        raise ValueError(f"The dataset {dataset} has {count} of samples. {_choice(files, dataset)}")
    return file or files[0]


def _choice(files: Sequence[str], dataset: str = "") -> str:
    if not files:
        return f"The page reads files that end in one of {', '.join(_FILE_TYPES)}."
    shown = ", ".join(f"{dataset}/{name}".strip("/") for name in files[:_MAX_SHOWN])
    return f"Give one of {shown}{', ..' if len(files) > _MAX_SHOWN else ''}."
