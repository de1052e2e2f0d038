"""Define a request to score samples, its answer, and its text in a link or a saved page.

Whoever opens the link or the saved page gets the same result. A link has the request in its
fragment, which browsers do not send to servers. The request is compressed JSON in URL-safe Base64.
"""

import base64
import binascii
import hashlib
import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from at_k.cli.formats import Scale

from .asking import Reading, is_reading
from .comparing import Comparison
from .describing import COOL, WARM
from .space import CHECKERS, Call, Example, Options, Run, Space, sample_file

MAX_BYTES = 40_000_000
MAX_FILES = 8
_MAX_LINK = 16_000  # characters; programs for mail and chats cut longer links
_MAX_IN_LINK = 1_000_000  # bytes of samples; compressing more takes long, and rarely fits
_MAX_JSON = 10 * MAX_BYTES
_EXAMPLES = (COOL, WARM)
_BROKEN = (
    "This link or saved page is broken, or a part of it is missing. Ask the sender to copy it "
    "again, or for the page as a file."
)


@dataclass(frozen=True)
class Request:
    """Say what to score, and how. The samples are a text, or files at these paths.

    The `checker` is used if the samples have references. `shown` has the value of each control as
    it is shown, and `reading` what the visitor has chosen about these samples.
    """

    space: Space
    checker: str
    shown: Options
    text: str = ""
    files: tuple[str, ...] = ()
    reading: Reading = field(default_factory=dict)

    @cached_property
    def options(self) -> Options:
        """Return a dict from each option to its value. Raise a ValueError if one is invalid."""
        return {
            control.name: control.parse(self.shown[control.name]) for control in self.space.controls
        }

    @property
    def size(self) -> int:
        """Return the number of characters of the text, or of bytes in the files."""
        return sum((Path(file).stat().st_size for file in self.files), start=len(self.text))

    def fingerprint_of_samples(self) -> str:
        """Return a text that is equal only for requests with the same samples."""
        content = hashlib.sha256(self.text.encode(errors="replace"))
        for file in self.files:
            content.update(Path(file).name.encode() + b"\0" + Path(file).read_bytes() + b"\0")
        return content.hexdigest()


@dataclass(frozen=True)
class Answer:
    """Hold the scores of a request, and how they were computed.

    Attributes:
        calls: the calls of `compute` that gave the scores, by name.
        options: the options that were used. k can be lower than its default.
        checker: the name of the checker, or None if the samples have no references.
        comparison: the differences between the runs, or None if there is one run or they cannot be
            compared.
        notes: sentences that say how the samples were read, and what to beware of.
    """

    request: Request
    runs: list[Run]
    calls: dict[str, Call]
    options: Options
    checker: str | None
    comparison: Comparison | None = None
    notes: tuple[str, ...] = ()

    @property
    def space(self) -> Space:
        """Return the page of the metric."""
        return self.request.space

    @property
    def scale(self) -> Scale:
        """Return how the page prints scores: in percent, or rewards in their own unit.

        A comparison is of the first main score, so its unit is that of the page.
        """
        estimates = [estimate for run in self.runs for estimate in run.scores().estimates]
        if self.comparison is not None:
            key = self.space.main_scores(self.runs[0], self.options)[0]
            estimates = [estimate for estimate in estimates if estimate.key == key]
        return Scale.of([x.metric for x in estimates], [x.score for x in estimates])


def make_request(space: Space, checker: str, options: Options, **samples: Any) -> Request:
    """Return a request. `options` has values as controls show them; others have their defaults.

    `samples` are the arguments `text` or `files`, and `reading`, of `Request`. Raise a ValueError
    if something is invalid.
    """
    if checker not in CHECKERS:
        raise ValueError(f"checker must be one of {', '.join(CHECKERS)}.")
    for name in options:
        if name not in space.defaults:
            known = ", ".join(space.defaults)
            raise ValueError(f"There is no option {name!r:.60}. The options are {known}.")
    request = Request(space, checker, space.defaults | options, **samples)
    _ = request.options  # a ValueError if one is invalid
    return request


def example_request(space: Space, example: Example) -> Request:
    """Return the request of an example."""
    files = tuple(sample_file(name) for name in example.files)
    return make_request(space, example.checker, example.options, text=example.text, files=files)


# --- Links and saved pages ------------------------------------------------------------------


def link_text(request: Request) -> str:
    """Return `shared_text(request)`, or "" if it would be too long for a link."""
    text = "" if request.size > _MAX_IN_LINK else shared_text(request)
    return text if len(text) <= _MAX_LINK else ""


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

    Its files are written into `folder`. Raise a ValueError if the text, which anybody may have
    written, is damaged or of another page.
    """
    try:
        decompressor = zlib.decompressobj()
        characters = text.strip().encode("ascii")
        compressed = base64.b64decode(characters, altchars=b"-_", validate=True)
        content = json.loads(decompressor.decompress(compressed, _MAX_JSON))
        metric, checker, options = (content[name] for name in ("metric", "checker", "options"))
        samples = _samples_of_link(content, folder)
        reading = content["reading"]
        is_complete = decompressor.eof and not decompressor.unused_data
        if not (is_complete and isinstance(options, dict) and is_reading(reading)):
            raise ValueError(_BROKEN)
    except (zlib.error, binascii.Error, ValueError, LookupError, TypeError, RecursionError) as e:
        raise ValueError(_BROKEN) from e
    if metric != space.metric:
        raise ValueError(f"This link or saved page is of the page {metric!r:.40}, and not of this.")
    return make_request(space, checker, options, **samples, reading=reading)


def _samples_of_link(content: dict[str, Any], folder: Path) -> dict:
    """Return the samples in a link for `make_request`, and write its files into the folder."""
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
