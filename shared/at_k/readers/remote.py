"""Files elsewhere, by names that fsspec opens: `https://`, `s3://`, `hf://datasets/..`, `memory://`.

fsspec and its drivers are imported where they are needed.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_PAGES = (b"<!doctype html", b"<html")
_SECONDS_OF_SILENCE = 60
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
    files = _with_system(
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
    content = _with_system(name, _file_or_none)
    is_page = content is not None and content[:100].lstrip().lower().startswith(_PAGES)
    if content is None or (name.startswith("http") and is_page):
        what = "a page" if is_page else "a folder"
        raise ValueError(
            f"{name} is {what}, and files elsewhere are read one by one: name them"
            f"{'' if is_page else f', or give a pattern such as {name}/*.jsonl'}."
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


def _with_system(name: str, use: Any) -> Any:
    """Return what a function of the file system and the path returns."""
    import fsspec

    options: dict[str, Any] = {}
    with _reasons(name):
        if name.startswith("http"):
            import aiohttp

            silence = _SECONDS_OF_SILENCE
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
