"""What is opened: regular files, standard input and pipes, up to a number of bytes.

A device such as /dev/zero never ends, and a small compressed file may hold more than the memory.
Each is an error before it is read, or soon after.
"""

from __future__ import annotations

import math
import os
import stat
import sys
from typing import Any

_CHUNK = 1 << 24
_REMEDY = "If that is meant, split the file, or load it and give its rows as a data frame."


def require_openable(name: str) -> None:
    """Raise a ValueError if a path is a device or a socket."""
    try:
        mode = os.stat(name).st_mode
    except OSError:
        return  # the reader says what is wrong
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISFIFO(mode)):
        kind = "a socket" if stat.S_ISSOCK(mode) else "a device"
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
    """Return the bytes of a stream; a ValueError if there are more than it may have."""
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
