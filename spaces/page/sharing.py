"""What a link and a saved page hold: a request, from which another page shows the same result.

A link has it in its fragment, which browsers do not send to servers. It is JSON, compressed, as
Base64 for addresses.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .files import sample_file
from .received import MAX_BYTES
from .request import Request, make_request
from .space import CHECKERS, READINGS, Example, Space

LONGEST_LINK = 16_000
"""Characters. Programs for mail and chats cut longer ones."""

_MAX_JSON = 40 * MAX_BYTES
_BROKEN = (
    "This link or saved page is broken, or a part of it is missing. Ask the sender to copy it "
    "again, or for the page as a file."
)


def shared_text(request: Request) -> str:
    """Return a request as text that an address can hold."""
    content: dict[str, Any] = {
        "metric": request.space.metric,
        "checker": request.checker,
        "options": request.raw_options,
        "columns": request.columns,
        "reading": request.reading,
    }
    if request.table is not None:
        content["table"] = request.table
    elif request.files:
        content["files"] = [_shared_file(request.space, Path(file)) for file in request.files]
    else:
        content["text"] = request.text
    return base64.urlsafe_b64encode(zlib.compress(json.dumps(content).encode(), 9)).decode()


def _shared_file(space: Space, file: Path) -> list[str | None]:
    """Return the name of a file and its bytes as characters, or None for a file of an example."""
    content = file.read_bytes()
    if file.name in _example_files(space) and content == sample_file(file.name).read_bytes():
        return [file.name, None]
    return [file.name, content.decode("latin-1")]


def _example_files(space: Space) -> set[str]:
    return {name for example in space.examples for name in example.files}


def opened_page(space: Space, text: str, new_folder: Callable[[], Path]) -> Example:
    """Return what a link or a saved page holds.

    Args:
        space: the description of the Space.
        text: what `shared_text` returned.
        new_folder: creates a folder for the files that it holds.

    Raises:
        ValueError: if a part is missing or changed, or it is of another page.
    """
    try:
        decompressor = zlib.decompressobj()
        characters = text.strip().encode("ascii")
        compressed = base64.b64decode(characters, altchars=b"-_", validate=True)
        content = json.loads(decompressor.decompress(compressed, _MAX_JSON))
        metric = content["metric"]
        example = Example("shared page", **_samples(space, content, new_folder), **_how(content))
    except (zlib.error, binascii.Error, ValueError, LookupError, TypeError, RecursionError) as e:
        raise ValueError(_BROKEN) from e
    if not decompressor.eof or decompressor.unused_data:
        raise ValueError(_BROKEN)
    if metric != space.metric:
        raise ValueError(f"This link or saved page is of the page {metric!r:.40}, and not of this.")
    make_request(space, example.checker, example.options)  # raises if an option is invalid
    return example


def _how(content: dict[str, Any]) -> dict[str, Any]:
    """Return the checker, the options, the chosen columns and the reading."""
    checker, options, columns = content["checker"], content["options"], content["columns"]
    reading = content.get("reading", "")
    is_text = all(isinstance(part, str) for pair in columns.items() for part in pair)
    is_known = checker in CHECKERS and reading in READINGS
    if not is_known or not isinstance(options, dict) or not is_text:
        raise ValueError(_BROKEN)
    return {"checker": checker, "options": options, "columns": columns, "reading": reading}


def _samples(space: Space, content: dict[str, Any], new_folder: Callable[[], Path]) -> dict:
    """Return the table, the text or the paths of the files."""
    if "table" in content:
        headers, *rows = [[str(cell) for cell in row] for row in content["table"]]
        return {"headers": headers, "table": rows}
    if "text" in content:
        return {"text": str(content["text"])}
    files, folder = [], None
    for number, (name, text) in enumerate(content["files"][: space.max_files]):
        if text is None:
            if name not in _example_files(space):
                raise ValueError(_BROKEN)
            files.append(name)
        else:
            folder = folder or new_folder()
            plain = re.sub(r"[^\w.=+-]+", "_", Path(name).name).lstrip(".")[-80:] or "file"
            file = folder / str(number) / plain  # two files may have the same name
            file.parent.mkdir()
            file.write_bytes(text.encode("latin-1"))
            files.append(str(file))
    return {"files": tuple(files)}
