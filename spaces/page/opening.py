"""What a browser gets before the scripts of Gradio run: the title, and what the page needs next.

Gradio asks for the style sheet of each component by itself, and for a script after it has read
the one that needs it. Here one file has all style sheets, and all scripts are asked for at once.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gradio.routes import BUILD_PATH_LIB
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .figures import NARROW

_ASSETS = Path(BUILD_PATH_LIB)
_ENTRY = re.compile(r'<script type="module" crossorigin src="\./assets/([^"]+)">')
_STYLES = re.compile(r'<link rel="stylesheet" crossorigin href="\./assets/[^"]+">')

_NARROW_PAGE = NARROW + 550  # from this width, the column of the answer is not narrow

_HEAD = f"""<script>
const start = document.documentElement.classList;
start.add("mounting");
setTimeout(() => start.remove("mounting"), 15000);
if (location.hash.length > 1 || innerWidth < {_NARROW_PAGE}) start.add("opening");
</script><style>
html:not(.mounting) #early {{ display: none; }}
.mounting gradio-app {{ visibility: hidden; }}
html:not(.started) :is(#inputs, #examples) {{ pointer-events: none; }}
#early {{
  position: absolute; left: 0; right: 0; max-width: 1240px; margin: 0 auto; padding: 16px 32px;
  box-sizing: border-box; color: var(--col);
  font: 1.05rem/1.625 ui-sans-serif, system-ui, sans-serif;
}}
#early h1 {{ font-size: 2rem; line-height: 1.3; font-weight: 600; margin: 0 0 4px; }}
#early p {{ max-width: 100ch; margin: 0; }}
#early p + p {{ opacity: 0.7; margin-top: 10px; }}
@media (max-width: 899px) {{ #early {{ font-size: 1rem; }} }}
@media (max-width: 600px) {{
  :is(#early, .gradio-container > .main) {{ padding: 16px !important; }}
}}
@media (prefers-color-scheme: dark) {{ #early {{ color: var(--col-dark); }} }}
</style>"""
"""Shows the title where it will be. Hides the components until all are there, and the first example
until its charts fit, or while a link is opened: so nothing that is seen moves. Until a page has
looked at its address, it ignores changes, so that nobody is to make any."""


class Opening:
    """ASGI middleware that completes the page which Gradio sends.

    Args:
        app: the server.
        config: the configuration of the page.
        title: HTML with the title and the summary of the page.
    """

    def __init__(self, app: ASGIApp, config: Mapping[str, Any], title: str):
        files = files_of(config)
        texts = [(_ASSETS / name).read_text("utf-8") for name in files if name.endswith(".css")]
        self._app = app
        self._all_styles = "\n".join(texts)
        name = f"page-{hashlib.sha256(self._all_styles.encode()).hexdigest()[:8]}.css"
        self._links = "\n".join(_links(files, name))
        self._early = f'<div id="early">{title}<p>The page is loading ..</p></div>'
        # The style sheet is in the folder of those that it has, and finds the same files.
        self._answers: dict[str, ASGIApp] = {
            "/": GZipMiddleware(self._page),
            f"/assets/{name}": self._styles,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_read = scope["type"] == "http" and scope["method"] == "GET"
        answer = self._answers.get(scope["path"], self._app) if is_read else self._app
        await answer(scope, receive, send)

    async def _page(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the page, with what its head is to have."""
        messages: list[Message] = []

        async def keep(message: Message) -> None:
            messages.append(message)

        await self._app(scope, receive, keep)
        start, *parts = messages
        html = b"".join(part["body"] for part in parts).decode()
        html = html.replace("<head>", f"<head>{_HEAD}", 1)
        html = html.replace("<gradio-app", f"{self._early}<gradio-app", 1)
        if self._links:
            html = _STYLES.sub(self._links, html, count=1)
        response = Response(html, start["status"])
        kept = [pair for pair in start["headers"] if pair[0] != b"content-length"]
        length = [pair for pair in response.raw_headers if pair[0] == b"content-length"]
        response.raw_headers = kept + length
        await response(scope, receive, send)

    async def _styles(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {"Cache-Control": "max-age=31536000, immutable"}
        response = Response(self._all_styles, headers=headers, media_type="text/css")
        await response(scope, receive, send)


def _links(files: list[str], styles: str) -> Iterator[str]:
    """Yield the links to scripts and to the style sheet with those of all components.

    Gradio asks for no style sheet that has a link. A browser does not either if it is disabled.
    """
    if files:
        yield f'<link rel="stylesheet" href="./assets/{styles}">'
    for name in files:
        if name.endswith(".css"):
            yield f'<link rel="stylesheet" disabled href="./assets/{name}">'
        else:
            yield f'<link rel="modulepreload" href="./assets/{name}">'


def files_of(config: Mapping[str, Any]) -> list[str]:
    """Return the names of the scripts and style sheets that a page loads when it opens.

    There are none if Gradio names its files in another way. It then asks for each by itself.

    Args:
        config: the configuration of the page.
    """
    entry = _ENTRY.search((_ASSETS.parent / "index.html").read_text(encoding="utf-8"))
    if entry is None:
        return []
    files = _imported(entry[1], r"import\(`\./Index-")
    for name in list(files):
        if name.startswith("Index-") and name.endswith(".js"):
            files += _imported(name, r"import\(`\./Blocks-")
        if name.startswith("core-") and name.endswith(".js"):
            for component in sorted(_shown_types(config)):
                files += _imported(name, rf"\b{component}:\{{.*?component:")
    return list(dict.fromkeys(files))


def _imported(script: str, pattern: str) -> list[str]:
    """Return the names of the files that a script loads with the import that a pattern finds."""
    text = (_ASSETS / script).read_text(encoding="utf-8")
    files = re.search(r"__vite__mapDeps=.*?(\[\".*?\])", text)
    used = re.search(pattern + r".*?__vite__mapDeps\(\[([\d,]*)\]", text, re.DOTALL)
    if files is None or used is None:
        return []
    names = [name.removeprefix("./") for name in json.loads(files[1])]
    return [names[int(place)] for place in used[1].split(",")]


def _shown_types(config: Mapping[str, Any]) -> set[str]:
    """Return the types of the components that are not hidden, which Gradio loads at once."""
    components = {component["id"]: component for component in config["components"]}
    found = set()

    def visit(node: Mapping[str, Any]) -> None:
        component = components.get(node["id"])
        if component is not None:
            if component["props"].get("visible") is False:
                return
            found.add(component["type"])
        for child in node.get("children", ()):
            visit(child)

    visit(config["layout"])
    return found
