"""What happens on a page when a visitor changes something."""

from __future__ import annotations

import functools
import logging
from typing import Any

import gradio as gr

from .controls import Slider
from .downloads import Downloads
from .files import sample_file
from .layout import (
    FILES,
    TABLE,
    TEXT,
    Layout,
    plot_data,
    slider_maximum,
    table_with_headers,
)
from .markup import caption_html, escape, problem_html
from .request import Request, make_request
from .scoring import score
from .space import Example, Space
from .view import View, make_view

_logger = logging.getLogger(__name__)

Values = dict[Any, Any]
"""The value of each component, by component: given to a handler, or returned as updates."""

_CLICK_IMAGE = """() => {
  const image = document.querySelector("#image");
  setTimeout(() => (image.matches("a, button") ? image : image.querySelector("a, button")).click());
}"""


def connect_events(space: Space, layout: Layout, downloads: Downloads) -> None:
    """Connect the components of a page with the handlers, in the current `gr.Blocks`."""
    handlers = Handlers(space, layout, downloads)
    inputs, outputs = layout.inputs, layout.outputs
    # With a set of inputs, Gradio passes a dict by component instead of positional arguments.
    values = set(inputs.components())
    updated = [*outputs.components(), *inputs.controls.values()]

    changes = [
        inputs.source.input,
        inputs.table.input,
        inputs.text.change,  # `input` does not follow a text that is pasted into the empty field
        inputs.files.upload,
        inputs.files.delete,
        inputs.files.clear,
        inputs.checker.input,
    ]
    for component in inputs.controls.values():
        is_slider = isinstance(component, gr.Slider)
        changes.append(component.input if is_slider else component.change)
    scoring: dict[str, Any] = {
        "fn": handlers.show_scores,
        "inputs": values,
        "outputs": updated,
        "api_visibility": "private",
        "show_progress": "minimal",
        "show_progress_on": [outputs.result],
    }
    gr.on(changes, trigger_mode="always_last", **scoring)
    inputs.source.change(
        handlers.show_source,
        inputs.source,
        list(inputs.by_source.values()),
        api_visibility="private",
        show_progress="hidden",
    )
    for button, example in zip(layout.examples, space.examples, strict=True):
        button.click(
            functools.partial(handlers.fill_example, example),
            outputs=inputs.components(),
            api_visibility="private",
            show_progress="hidden",
        ).then(**scoring)
    layout.image_button.click(
        handlers.write_image,
        values,
        layout.image,
        api_visibility="private",
        show_progress_on=[layout.image_button],
    ).success(None, js=_CLICK_IMAGE, api_visibility="private")


class Handlers:
    """The event handlers of a page. Each returns updates of components, by component."""

    def __init__(self, space: Space, layout: Layout, downloads: Downloads):
        self._space = space
        self._inputs = layout.inputs
        self._outputs = layout.outputs
        self._downloads = downloads

    def show_scores(self, values: Values) -> Values:
        """Score the samples and show the result, or the problem."""
        try:
            request = self._request(values)
            answer = score(request)
            view = make_view(self._space, request, answer, self._downloads)
        except ValueError as error:
            return self._problem_updates(str(error))
        except Exception:
            _logger.exception("Unexpected error while preparing the scores for the page")
            return self._problem_updates(
                "The samples were scored, but an error on this server prevents showing the result."
            )
        updates = self._view_updates(view)
        for control in self._space.controls:
            if isinstance(control, Slider) and control.limited_by_samples:
                updates[self._inputs.controls[control.name]] = gr.update(
                    value=answer.options[control.name], maximum=slider_maximum(control, answer)
                )
        return updates

    def write_image(self, values: Values) -> str:
        """Score the samples, and return the path of an image of the charts."""
        try:
            answer = score(self._request(values))
        except ValueError as error:
            raise gr.Error(escape(str(error)), print_exception=False) from error
        return self._downloads.write_charts(answer)

    def show_source(self, source: str) -> Values:
        """Show the component of the chosen source, and hide the others."""
        components = self._inputs.by_source
        return {
            component: gr.update(visible=name == source) for name, component in components.items()
        }

    def fill_example(self, example: Example) -> Values:
        """Put an example into the inputs."""
        inputs = self._inputs
        updates: Values = {
            inputs.source: FILES if example.files else TABLE,
            inputs.files: [str(sample_file(name)) for name in example.files] or None,
            inputs.checker: example.checker,
        }
        if example.table:
            headers, *rows = table_with_headers(self._space, example)
            updates[inputs.table] = {"headers": headers, "data": rows}
        for control in self._space.controls:
            value = example.options.get(control.name, control.value)
            if isinstance(control, Slider):
                value = gr.update(value=value, maximum=control.maximum)
            updates[inputs.controls[control.name]] = value
        return updates

    def _request(self, values: Values) -> Request:
        """Return the request that the inputs hold; a ValueError if it is incomplete or invalid."""
        inputs = self._inputs
        options = {name: values[component] for name, component in inputs.controls.items()}
        samples = self._samples(values)
        return make_request(self._space, values[inputs.checker], options, **samples)

    def _samples(self, values: Values) -> dict[str, Any]:
        """Return the samples of the chosen source, as an argument of `make_request`."""
        inputs = self._inputs
        if values[inputs.source] == TABLE:
            frame = values[inputs.table]
            cells = frame.astype(object).where(frame.notna(), None)
            return {"table": [list(map(str, cells.columns)), *cells.values.tolist()]}
        if values[inputs.source] == TEXT:
            return {"text": values[inputs.text] or ""}
        files = values[inputs.files]
        if not files:
            raise ValueError("There is no file. Upload JSON Lines or CSV.")
        most = self._space.max_files
        if len(files) > most:
            raise ValueError(f"{len(files)} files are too many. The limit is {most}.")
        # Gradio passes instances of its own str class. A worker process could not load them
        # without importing Gradio.
        return {"files": tuple(str(file) for file in files)}

    def _view_updates(self, view: View) -> Values:
        outputs = self._outputs
        updates: Values = {
            outputs.problem: gr.update(visible=False),
            outputs.answer: gr.update(visible=True),
            outputs.details: gr.update(visible=True),
            outputs.result: view.result,
            outputs.table: view.table,
            outputs.scores_file: view.scores_file,
            outputs.code: view.code,
        }
        for output, chart in zip(outputs.charts, view.charts, strict=True):
            updates[output.caption] = caption_html(chart)
            updates[output.plot] = plot_data(chart)
        return updates

    def _problem_updates(self, problem: str) -> Values:
        outputs = self._outputs
        return {
            outputs.problem: gr.update(value=problem_html(problem), visible=True),
            outputs.answer: gr.update(visible=False),
            outputs.details: gr.update(visible=False),
        }
