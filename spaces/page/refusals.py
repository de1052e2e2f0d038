"""Answers in a sentence to requests that the page itself never sends."""

from __future__ import annotations

import logging
from typing import Any

import gradio as gr
from gradio.blocks import BlockFunction
from gradio.route_utils import FnIndexInferError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .received import MAX_BYTES, TOO_LARGE

API_NAME = "scores"
"""The function for programs."""

_MAX_BODY = 9 * MAX_BYTES  # the page sends at most eight files, and some text around them
_MAX_IGNORED = 50 * MAX_BYTES
"""A larger body is not read to its end, so some clients see an aborted connection."""

_NO_FUNCTION = "There is no such function. The function for programs is /scores."
_NO_LENGTH = "The header Content-Length is missing. It has to say how long the request is."
_BAD_INPUTS = (
    "The inputs are not those that the page sends. The function for programs is /scores, which "
    "takes samples as text."
)
_UNEXPECTED = "An error on this server prevents an answer."

_logger = logging.getLogger(__name__)


class Refusals:
    """ASGI middleware that refuses requests which are large, or which name no function."""

    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in ("POST", "PUT", "PATCH"):
            return await self._app(scope, receive, send)
        length = dict(scope["headers"]).get(b"content-length", b"")
        if not length.isdigit():
            return await _refuse(send, 411, _NO_LENGTH)
        if int(length) > _MAX_BODY:
            if int(length) <= _MAX_IGNORED:
                await _read(receive)
            return await _refuse(send, 413, TOO_LARGE)
        has_started = False

        async def send_on(message: Message) -> None:
            nonlocal has_started
            has_started = True
            await send(message)

        try:
            await self._app(scope, receive, send_on)
        except (KeyError, FnIndexInferError) as error:
            if has_started:
                raise
            _logger.warning("%s is refused: %r", scope["path"], error)
            await _refuse(send, 404, _NO_FUNCTION)


async def _read(receive: Receive) -> None:
    """Read a body and forget it. Many clients do not look at an answer before they sent all."""
    while (await receive()).get("more_body"):
        pass


async def _refuse(send: Send, status: int, text: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})


class Page(gr.Blocks):
    """A page that says in a sentence what is wrong with the inputs of a request."""

    async def preprocess_data(self, block_fn: BlockFunction, *args: Any, **options: Any) -> list:
        """Return the inputs of a handler."""
        if block_fn.fn is None:  # what runs in the browser
            raise gr.Error(_NO_FUNCTION, print_exception=False)
        try:
            return await super().preprocess_data(block_fn, *args, **options)
        except Exception as error:
            raise gr.Error(_BAD_INPUTS, print_exception=False) from error

    async def process_api(
        self, block_fn: BlockFunction | int, *args: Any, **options: Any
    ) -> dict[str, Any]:
        """Return what a handler returns."""
        try:
            return await super().process_api(block_fn, *args, **options)
        except gr.Error:
            raise
        except Exception as error:
            _logger.exception("Unexpected error in a handler")
            raise gr.Error(_UNEXPECTED, print_exception=False) from error
        finally:
            if getattr(block_fn, "api_name", None) == API_NAME:
                self._forget(options["session_hash"])

    def _forget(self, session: str) -> None:
        """Free the memory of a session of a program, of which each request has its own."""
        self.state_holder.session_data.pop(session, None)
        self.state_holder.time_last_used.pop(session, None)
