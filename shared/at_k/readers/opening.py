"""What is opened: regular files, standard input and pipes, up to a number of bytes.

A device such as /dev/zero never ends, a FIFO without a writer never begins, and a small compressed
file may hold more than the memory. Each is an error before it is read, or soon after.
"""

from __future__ import annotations

import errno
import io
import math
import os
import select
import stat
import sys
from typing import Any

_CHUNK = 1 << 24
_MOST_BLANK = 1 << 24
"""How many blank bytes in a row a file may have. A parser takes a minute for 300 MB of them."""
_BLANK = b" \t\r\n"
_SECONDS_FOR_WRITER = 5
_REMEDY = "If that is meant, split the file, or load it and give its rows as a data frame."


def require_openable(name: str) -> None:
    """Raise a ValueError unless a path is a regular file, a pipe or a folder, or does not exist.

    The name "-" is standard input.
    """
    try:
        status = _standard_input_status() if name == "-" else os.stat(name)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise ValueError(f"{name} is a symbolic link that leads back to itself.") from error
        return  # the reader says what is wrong
    if status is None or stat.S_ISDIR(status.st_mode) or stat.S_ISFIFO(status.st_mode):
        return
    if not stat.S_ISREG(status.st_mode):
        kind = "a socket" if stat.S_ISSOCK(status.st_mode) else "a device"
        raise ValueError(f"{_shown(name)} is {kind}: give a file, a pipe, or - for standard input.")


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


def _read_pipe(name: str) -> bytes:
    """Return what a pipe holds, or standard input if the name is "-".

    Raises:
        ValueError: if that is more than `most_bytes`, or if no program writes to the pipe.
    """
    if name == "-":
        return Limited(sys.stdin.buffer, _shown(name), most_bytes()).read()
    descriptor = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with open(descriptor, "rb", buffering=0) as pipe:
        start = _first_byte(descriptor, name)
        os.set_blocking(descriptor, True)
        return start + Limited(pipe, name, most_bytes()).read()


def read_file(name: str) -> bytes:
    """Return what a file, a pipe or standard input ("-") holds, see `require_openable`.

    Raises:
        ValueError: if it is another kind of file, or holds more than `most_bytes`.
    """
    require_openable(name)
    if name == "-" or stat.S_ISFIFO(os.stat(name).st_mode):
        return _read_pipe(name)
    most = most_bytes()
    require_size(name, os.stat(name).st_size, most)
    with open(name, "rb") as file:
        return Limited(file, name, most).read()


def _first_byte(descriptor: int, name: str) -> bytes:
    """Wait until a program writes to the pipe, and return the byte that is read for this, if any.

    Raises:
        ValueError: if no program has opened the pipe after some seconds.
    """
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    if waiting.poll(1000 * _SECONDS_FOR_WRITER):
        return b""
    try:
        start = os.read(descriptor, 1)
    except BlockingIOError:  # a program has opened it and writes later
        return b""
    if not start:
        raise ValueError(
            f"{name} is a pipe that no program writes to: start the one that writes first."
        )
    return start


class Limited(io.RawIOBase):
    """A stream of bytes that ends with a ValueError after a number of them, or of blank ones."""

    def __init__(self, stream: Any, name: str, most: float, is_compressed: bool = False):
        super().__init__()
        self._stream, self._name, self._most = stream, name, most
        self._when = " when it is decompressed" if is_compressed else ""
        self._bytes = self._blank = 0

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            return b"".join(iter(lambda: self.read(_CHUNK), b""))
        data = self._stream.read(size)
        self._bytes += len(data)
        if self._bytes > self._most:
            most = f"{self._most / 1e9:.3g} GB{self._when}"
            raise ValueError(f"{self._name} holds more than {most}. {_REMEDY}")
        self._blank = 0 if data.strip(_BLANK) else self._blank + len(data)
        if self._blank > _MOST_BLANK:
            raise ValueError(
                f"{self._name} has more than {_MOST_BLANK >> 20} MB of blank lines in a row, which "
                f"is no table."
            )
        return data


def _standard_input_status() -> os.stat_result | None:
    """Return the status of standard input, or None for a terminal or an object of Python."""
    try:
        descriptor = sys.stdin.fileno()
    except (AttributeError, ValueError, OSError):
        return None
    return None if os.isatty(descriptor) else os.fstat(descriptor)


def _shown(name: str) -> str:
    return "standard input" if name == "-" else name


def _memory() -> float:
    """Return the number of bytes of the memory, or infinity if the system does not tell it."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return math.inf
