"""Write a request into a link or a saved page, and read it again.

Whoever opens the link or the saved page gets the same result. A link has the request in its
fragment, which browsers do not send to servers. The request is compressed JSON in URL-safe Base64.
"""

import base64
import binascii
import json
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .asking import is_reading
from .describing import COOL, WARM
from .request import Request, make_request
from .samples import MAX_BYTES, MAX_FILES
from .space import Example, Space, sample_file

_MAX_LINK = 16_000  # characters; programs for mail and chats cut longer links
_MAX_JSON = 10 * MAX_BYTES
_EXAMPLES = (COOL, WARM)
_BROKEN = (
    "This link or saved page is broken, or a part of it is missing. Ask the sender to copy it "
    "again, or for the page as a file."
)


def shared_text(request: Request) -> str:
    """Return a request as URL-safe text, which `opened_request` turns back into the request."""
    content: dict[str, Any] = {
        "metric": request.space.metric,
        "checker": request.checker,
        "options": request.shown,
        "reading": request.reading,
    }
    if request.files:
        content["files"] = [_shared_file(Path(file)) for file in request.files]
    else:
        content["text"] = request.text
    return base64.urlsafe_b64encode(zlib.compress(json.dumps(content).encode(), 9)).decode()


def link_text(request: Request) -> str:
    """Return a request as `shared_text` does, or "" if it is too long for a link."""
    shared = shared_text(request)
    return shared if len(shared) <= _MAX_LINK else ""


def _shared_file(file: Path) -> list[str | None]:
    """Return [name, bytes decoded as Latin-1], or [name, None] for a file of an example."""
    content = file.read_bytes()
    if file.name in _EXAMPLES and content == Path(sample_file(file.name)).read_bytes():
        return [file.name, None]
    return [file.name, content.decode("latin-1")]


def saved_page(files: Sequence[str]) -> str | None:
    """Return the text in the only file if `shared_text` seems to have made it; otherwise None."""
    if len(files) != 1 or not files[0].endswith(".txt"):
        return None
    text = Path(files[0]).read_text(encoding="ascii", errors="replace")
    return text if re.fullmatch(r"\s*eN[\w=-]{20,}\s*", text) else None


def opened_request(space: Space, text: str, folder: Path) -> Request:
    """Return the request in `text`: the fragment of a link without #, or a saved page.

    Anybody may have written the text. Its files are written into `folder`. Raise a ValueError if
    the text is damaged or of another page, or if its request is invalid.
    """
    try:
        decompressor = zlib.decompressobj()
        characters = text.strip().encode("ascii")
        compressed = base64.b64decode(characters, altchars=b"-_", validate=True)
        content = json.loads(decompressor.decompress(compressed, _MAX_JSON))
        metric, checker, options = (content[name] for name in ("metric", "checker", "options"))
        samples = _samples(content, folder)
        reading = content["reading"]
        is_complete = decompressor.eof and not decompressor.unused_data
        if not (is_complete and isinstance(options, dict) and is_reading(reading)):
            raise ValueError(_BROKEN)
    except (zlib.error, binascii.Error, ValueError, LookupError, TypeError, RecursionError) as e:
        raise ValueError(_BROKEN) from e
    if metric != space.metric:
        raise ValueError(f"This link or saved page is of the page {metric!r:.40}, and not of this.")
    return make_request(space, checker, options, **samples, reading=reading)


def _samples(content: dict[str, Any], folder: Path) -> dict:
    """Return the samples in a link as {"text": text} or {"files": paths}, for `make_request`.

    Write files into the folder. Raise a ValueError for an unknown file without content.
    """
    if "text" in content:
        return {"text": str(content["text"])}
    files = []
    for number, (name, text) in enumerate(content["files"][:MAX_FILES]):
        if text is None:
            if name not in _EXAMPLES:
                raise ValueError(_BROKEN)
            files.append(sample_file(name))
        else:
            plain_name = re.sub(r"[^\w.=+-]+", "_", Path(name).name).lstrip(".")[-80:] or "file"
            file = folder / str(number) / plain_name  # two files may have the same name
            file.parent.mkdir()
            file.write_bytes(text.encode("latin-1"))
            files.append(str(file))
    return {"files": tuple(files)}


def example_request(space: Space, example: Example) -> Request:
    """Return the request of an example."""
    files = tuple(sample_file(name) for name in example.files)
    return make_request(space, example.checker, example.options, text=example.text, files=files)
