"""What is opened: files, pipes and standard input up to a number of bytes, and files elsewhere.

A device such as /dev/zero never ends, and a small compressed file may hold more than the memory.
Each is an error before it is read, or soon after.

Files elsewhere have names that fsspec opens: `https://`, `s3://`, `hf://datasets/..`, `memory://`.
fsspec and its drivers are imported where they are needed.
"""

from __future__ import annotations

import glob
import math
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_CHUNK = 1 << 24
_REMEDY = "If that is meant, split the file, or load it and give its rows as a data frame."


def require_openable(name: str) -> None:
    """Raise a ValueError if a path is a device or a socket."""
    path = Path(name)
    if path.exists() and not (path.is_file() or path.is_dir() or path.is_fifo()):
        kind = "a socket" if path.is_socket() else "a device"
        raise ValueError(f"{name} is {kind}: give a file, a pipe, or - for standard input.")


def require_size(name: str, size: int, most: float) -> None:
    """Raise a ValueError if a file has more bytes than it may have."""
    if size > most:
        raise ValueError(
            f"{name} has {size / 1e9:.3g} GB, more than {most / 1e9:.3g} GB. {_REMEDY}"
        )


def most_bytes(compressed_size: int | None = None) -> float:
    """Return how many bytes are read at once: half of the memory.

    A file that is compressed may hold 1 GB, or 100 times its size if that is more.
    """
    most = _memory() / 2
    return most if compressed_size is None else min(most, max(1e9, 100.0 * compressed_size))


def read_file(name: str) -> bytes:
    """Return what a file, a pipe or standard input ("-") holds.

    Raises:
        ValueError: if it is another kind of file, or holds more than `most_bytes`.
    """
    most = most_bytes()
    if name == "-":
        return read_limited(sys.stdin.buffer, "standard input", most)
    require_openable(name)
    require_size(name, os.stat(name).st_size, most)
    with open(name, "rb") as file:
        return read_limited(file, name, most)


def read_limited(stream: Any, name: str, most: float, when: str = "") -> bytes:
    """Return the bytes of a stream; a ValueError if there are more than `most`.

    `when` is part of its message, such as " when it is decompressed".
    """
    chunks, size = [], 0
    while chunk := stream.read(_CHUNK):
        chunks.append(chunk)
        size += len(chunk)
        if size > most:
            raise ValueError(f"{name} holds more than {most / 1e9:.3g} GB{when}. {_REMEDY}")
    return b"".join(chunks)


def _memory() -> float:
    """Return the number of bytes of the memory, or infinity if the system does not tell it."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return math.inf


# --- Files elsewhere --------------------------------------------------------------------------

_PAGES = (b"<!doctype html", b"<html")
_SECONDS_OF_SILENCE = 60
"""How long a server of HTTP may send nothing."""


def is_remote(source: str) -> bool:
    """Return whether the source is a name with a protocol, such as `s3://`."""
    return re.match(r"[a-z][a-z0-9+.]*(::|://)", source) is not None


def path_of(source: str) -> Path:
    """Return the path of a file, with the suffixes that tell its format: without a query."""
    return Path(source.partition("?")[0] if is_remote(source) else source)


def remote_names(pattern: str) -> list[str]:
    """Return the files that match a name with wildcards, or the name if it has none.

    Raises:
        FileNotFoundError: if no file matches.
        ImportError, ValueError: as `remote_content`.
    """
    is_http = pattern.startswith("http")  # where a question mark starts the query
    if not ("*" in pattern if is_http else glob.has_magic(pattern)):
        return [pattern]
    files = _with_system(pattern, lambda x, path: sorted(map(x.unstrip_protocol, x.glob(path))))
    if not files:
        raise FileNotFoundError(f"No file matches {pattern}.")
    return files


def remote_content(name: str) -> bytes:
    """Return the bytes of a file.

    Raises:
        FileNotFoundError: if there is no such file.
        ImportError: if the driver of the protocol is not installed.
        ValueError: if the file cannot be read, or is a folder, with the reason.
    """
    content = _with_system(name, _file_or_none)
    is_page = content is not None and content[:100].lstrip().lower().startswith(_PAGES)
    if content is None or (name.startswith("http") and is_page):
        raise ValueError(
            f"{name} is {'a page' if is_page else 'a folder'}, and files elsewhere are read one by "
            f"one: name them, or give a pattern such as {name}/*.jsonl."
        )
    return content


def _file_or_none(system: Any, path: str) -> bytes | None:
    """Return the bytes of a file, or None if it is a folder."""
    try:
        return system.cat_file(path)
    except (FileNotFoundError, IsADirectoryError):
        if system.isdir(path):
            return None
        raise


def _with_system(name: str, use: Callable[[Any, str], Any]) -> Any:
    """Return `use(system, path)` for the file system of fsspec and the path in it of a name.

    The errors of fsspec's drivers are raised as those of `remote_content`, which name the file.
    """
    import fsspec

    options: dict[str, Any] = {}
    try:
        if name.startswith("http"):
            import aiohttp

            silence = _SECONDS_OF_SILENCE
            timeout = aiohttp.ClientTimeout(sock_connect=silence, sock_read=silence)
            options["client_kwargs"] = {"timeout": timeout}
        return use(*fsspec.core.url_to_fs(name, **options))
    except ImportError as error:
        cause = error.__cause__ if isinstance(error.__cause__, ImportError) else error
        package = (cause.name or "").partition(".")[0]
        hint = f"pip install {package}" if package else str(error)
        raise ImportError(f"{name} needs a driver that is not installed: {hint}.") from error
    except FileNotFoundError as error:
        raise FileNotFoundError(f"There is no file {name}") from error
    except Exception as error:  # of fsspec's drivers and their libraries
        reason = " ".join(str(error).split())
        kind = type(error).__name__
        raise ValueError(f"{name} cannot be read: {kind}{reason and ': '}{reason}.") from error
