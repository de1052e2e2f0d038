"""The buttons that download charts and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import gradio as gr

from .downloads import Downloads
from .input_layout import Shown
from .layout import Layout
from .markup import escape

_CLICK_FILE = """() => {
  const file = document.querySelector("#file");
  setTimeout(() => (file.matches("a, button") ? file : file.querySelector("a, button")).click());
}"""


def connect_downloads(layout: Layout, downloads: Downloads) -> None:
    """Let each button write its file, and then download it."""
    writers: dict[gr.Button, Callable[[str], str]] = {
        button: partial(downloads.write_table, name=name)
        for name, button in layout.table_buttons.items()
    }
    for place, output in enumerate(layout.outputs.charts):
        for name, button in output.buttons.items():
            writers[button] = partial(downloads.write_chart, place=place, file_type=name)
    for button, write in writers.items():
        written = button.click(
            _for_visitor(write),
            layout.inputs.shown,
            layout.file,
            api_visibility="private",
            show_progress_on=[button],
        )
        written.success(None, js=_CLICK_FILE, api_visibility="private")


def _for_visitor(write: Callable[[str], str]) -> Callable[[Shown], str]:
    """Return the handler that writes a file of the answer that a visitor sees."""

    def write_file(shown: Shown) -> str:
        with shown_to_visitor():
            return write(shown.folder)

    return write_file


@contextmanager
def shown_to_visitor() -> Iterator[None]:
    """Let the page show the message of a ValueError."""
    try:
        yield
    except ValueError as error:
        raise gr.Error(escape(str(error)), print_exception=False) from error
