"""A limit on the size of requests."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from .samples import MAX_BYTES

_MAX_BODY = 9 * MAX_BYTES  # the page sends at most eight files, and some text around them


class BodyLimit:
    """ASGI middleware that refuses requests with a large body, or one of unknown length."""

    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] in ("POST", "PUT", "PATCH"):
            length = dict(scope["headers"]).get(b"content-length", b"")
            if not length.isdigit():
                return await _refuse(send, 411)
            if int(length) > _MAX_BODY:
                return await _refuse(send, 413)
        await self._app(scope, receive, send)


async def _refuse(send: Send, status: int) -> None:
    text = f"The limit for a request is {_MAX_BODY // 1_000_000} MB."
    headers = [(b"content-type", b"text/plain")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})
