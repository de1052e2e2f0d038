"""Files elsewhere, by names that fsspec opens: `https://`, `s3://`, `hf://datasets/..`, `memory://`.

fsspec and its drivers are imported where they are needed.
"""

from __future__ import annotations

import glob
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_PAGES = (b"<!doctype html", b"<html")
SECONDS_OF_SILENCE = 60
"""How long a server of HTTP may send nothing."""


def is_remote(source: str) -> bool:
    """Whether the source is a name with a protocol, such as `s3://`."""
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
    files = _opened(
        pattern, lambda system, path: sorted(map(system.unstrip_protocol, system.glob(path)))
    )
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
    content = _opened(name, _file_or_none)
    is_page = content is not None and content[:100].lstrip().lower().startswith(_PAGES)
    if content is None or (name.startswith("http") and is_page):
        what = "a page" if is_page else "a folder"
        raise ValueError(
            f"{name} is {what}, and files elsewhere are read one by one: name them"
            f"{'' if is_page else f', or give a pattern such as {name}/*.jsonl'}."
        )
    return content


def remote_size(name: str) -> int:
    """Return the number of bytes of a file, or 0 if the server does not say it."""
    return _opened(name, lambda system, path: system.size(path)) or 0


class RemoteFile(io.RawIOBase):
    """A file that is read in blocks.

    Args:
        name: of the file.
        seekable: whether parts of it are read in any order, which some servers of HTTP refuse.

    Raises:
        FileNotFoundError, ImportError, ValueError: as `remote_content`, also while it is read.
    """

    def __init__(self, name: str, seekable: bool = False):
        super().__init__()
        in_order = {} if seekable or not name.startswith("http") else {"block_size": 0}
        self._name = name
        self._file = _opened(name, lambda system, path: system.open(path, "rb", **in_order))

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._file.seekable()

    def readinto(self, buffer: Any) -> int:
        with _reasons(self._name):
            data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def _file_or_none(system: Any, path: str) -> bytes | None:
    """Return the bytes of a file, or None if it is a folder."""
    try:
        return system.cat_file(path)
    except (FileNotFoundError, IsADirectoryError):
        if system.isdir(path):
            return None
        raise


def _opened(name: str, use: Any) -> Any:
    """Return what a function of the file system and the path returns."""
    import fsspec

    options: dict[str, Any] = {}
    with _reasons(name):
        if name.startswith("http"):
            import aiohttp

            silence = SECONDS_OF_SILENCE
            timeout = aiohttp.ClientTimeout(sock_connect=silence, sock_read=silence)
            options["client_kwargs"] = {"timeout": timeout}
        system, path = fsspec.core.url_to_fs(name, **options)
        return use(system, path)


@contextmanager
def _reasons(name: str) -> Iterator[None]:
    """Raise the errors of fsspec's drivers as those of `remote_content`, which name the file."""
    try:
        yield
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
