"""Read the bytes of local files, pipes and standard input, and of remote files by fsspec.

The number of bytes is limited, because a pipe may never end, and a small compressed file may hold
more than the memory. The names of remote files have a protocol, such as `https://` or `s3://`.
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
    """Raise a ValueError if a path exists and is a device or a socket."""
    path = Path(name)
    if path.exists() and not (path.is_file() or path.is_dir() or path.is_fifo()):
        kind = "a socket" if path.is_socket() else "a device"
        raise ValueError(f"{name} is {kind}: give a file, a pipe, or - for standard input.")


def require_size(name: str, size: int, most: float) -> None:
    """Raise a ValueError if the size of a file is above `most`, in bytes."""
    if size > most:
        raise ValueError(
            f"{name} has {size / 1e9:.3g} GB, more than {most / 1e9:.3g} GB. {_REMEDY}"
        )


def most_bytes(compressed_size: int | None = None) -> float:
    """Return the largest number of bytes that a file may hold: half of the memory. A compressed
    file may hold no more than 1 GB, or 100 times its size if that is more."""
    most = _memory() / 2
    return most if compressed_size is None else min(most, max(1e9, 100.0 * compressed_size))


def read_file(name: str) -> bytes:
    """Return the bytes of a file, a remote file, a pipe or standard input ("-"). A ValueError is
    raised if there are too many."""
    if is_remote(name):
        return _remote_content(name)
    most = most_bytes()
    if name == "-":
        return read_limited(sys.stdin.buffer, "standard input", most)
    require_openable(name)
    require_size(name, os.stat(name).st_size, most)
    with open(name, "rb") as file:
        return read_limited(file, name, most)


def read_limited(stream: Any, name: str, most: float, when: str = "") -> bytes:
    """Return the bytes of a stream, which messages call `name`; a ValueError above `most` bytes."""
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


# --- Remote files -----------------------------------------------------------------------------

_SECONDS_OF_SILENCE = 60
"""The number of seconds after which a server of HTTP that sends nothing is given up."""


def is_remote(source: str) -> bool:
    """Return whether a source is a name with a protocol, such as `s3://`."""
    return re.match(r"[a-z][a-z0-9+.]*(::|://)", source) is not None


def remote_names(pattern: str) -> list[str]:
    """Return the names of the files that match a pattern, or [pattern] without wildcards."""
    is_http = pattern.startswith("http")  # where a question mark starts the query
    if not ("*" in pattern if is_http else glob.has_magic(pattern)):
        return [pattern]
    files = _with_system(pattern, lambda x, path: sorted(map(x.unstrip_protocol, x.glob(path))))
    if not files:
        raise FileNotFoundError(f"No file matches {pattern}.")
    return files


def _remote_content(name: str) -> bytes:
    """Return the bytes of a remote file. Raise an error if it cannot be read or is a web page."""
    content = _with_system(name, lambda system, path: system.cat_file(path))
    start = content[:100].lstrip().lower()
    if name.startswith("http") and start.startswith((b"<!doctype html", b"<html")):
        raise ValueError(f"{name} is a page: give the address that downloads the file.")
    return content


def _with_system(name: str, use: Callable[[Any, str], Any]) -> Any:
    """Return `use(system, path)`, where `system` is fsspec's file system of a remote name."""
    import fsspec

    options: dict[str, Any] = {}
    try:
        if name.startswith("http"):
            from aiohttp import ClientTimeout

            limits = dict.fromkeys(("sock_connect", "sock_read"), _SECONDS_OF_SILENCE)
            options["client_kwargs"] = {"timeout": ClientTimeout(**limits)}
        return use(*fsspec.core.url_to_fs(name, **options))
    except ImportError as error:
        cause = error.__cause__ if isinstance(error.__cause__, ImportError) else error
        package = (cause.name or "").partition(".")[0]
        hint = f"pip install {package}" if package else str(error)
        raise ImportError(f"{name} needs a driver that is not installed: {hint}.") from error
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"There is no file {name}. Files in a folder are read by a pattern such as /*.jsonl."
        ) from error
    except Exception as error:  # of fsspec's drivers and their libraries
        reason = " ".join(str(error).split())
        kind = type(error).__name__
        raise ValueError(f"{name} cannot be read: {kind}{reason and ': '}{reason}.") from error
