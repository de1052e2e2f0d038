"""The buttons that download charts, tables and the page, and the one that copies a link."""

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

OPENED = """() => {
  document.documentElement.classList.remove("opening");
  document.documentElement.classList.add("started"); // a page that starts does not fade
}"""
_WRITE_ADDRESS = """(link) => {
  history.replaceState(null, "", location.pathname + location.search + (link ? `#${link}` : ""));
}"""
_COPY = """async function copy(text, done) {
  const said = (text) => `<p role="status">${text}</p>`;
  try {
    await navigator.clipboard.writeText(text);
  } catch { // the page is in a frame, or not served by https
    const field = document.body.appendChild(document.createElement("textarea"));
    field.value = text;
    field.select();
    const isCopied = document.execCommand("copy");
    field.remove();
    if (!isCopied) return said("The browser does not let the page copy. Select and copy it.");
  }
  return said(done);
}"""
_COPY_LINK = (
    """(link) => {
  if (!link) {
    return '<p role="status">This is too large for a link. Save the page, and send the file.</p>';
  }
  const address = `${location.origin}${location.pathname}${location.search}#${link}`;
  return copy(address, "The link is copied. Everyone who has it can read the samples.");
  """
    + _COPY
    + "}"
)
_COPY_CODE = (
    """() => {
  return copy(document.querySelector("#code pre").textContent, "The code is copied.");
  """
    + _COPY
    + "}"
)


def connect_downloads(layout: Layout, downloads: Downloads) -> None:
    """Let each button write its file, and then download it."""
    writers: dict[gr.Button, Callable[[str], str]] = {
        button: partial(downloads.write_table, name=name)
        for name, button in layout.table_buttons.items()
    }
    for place, output in enumerate(layout.outputs.charts):
        for name, button in output.buttons.items():
            writers[button] = partial(downloads.write_chart, place=place, file_type=name)
    writers[layout.save_page] = downloads.saved_page
    for button, write in writers.items():
        written = button.click(
            _for_visitor(write),
            layout.inputs.shown,
            layout.file,
            api_visibility="private",
            show_progress_on=[button],
        )
        written.success(None, js=_CLICK_FILE, api_visibility="private")


def connect_copying(layout: Layout) -> None:
    """Let the address of the page follow the answer, and buttons copy it and the code."""
    link = layout.outputs.link
    link.change(None, link, js=_WRITE_ADDRESS, api_visibility="private")
    layout.copy_link.click(None, link, layout.shared, js=_COPY_LINK, api_visibility="private")
    layout.copy_code.click(None, None, layout.copied_code, js=_COPY_CODE, api_visibility="private")


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
