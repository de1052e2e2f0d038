"""What happens on a page when a visitor changes something."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import gradio as gr

from .charts import Chart, charts_of
from .controls import Slider
from .downloads import Downloads
from .figures import DESKTOP, NARROW, NARROWEST, PHONE, TABLET, WIDTHS, draw, page_svg
from .files import PAGE, sample_file
from .given import Values, is_empty, request_of
from .input_layout import (
    FILES,
    TABLE,
    TEXT,
    Shown,
    picker_updates,
    slider_maximum,
    table_updates,
    table_with_headers,
)
from .layout import Layout
from .markup import caption_html, problem_html, progress_html
from .question_table import question_headers, question_rows, samples_html
from .received import MAX_BYTES
from .request import Answer, ColumnError, Progress, Request, make_request
from .saving import OPENED, connect_copying, connect_downloads, shown_to_visitor
from .scoring import score, score_in_steps
from .sharing import opened_page
from .space import Example, Space
from .table_editing import connect_table
from .view import View, make_view

_logger = logging.getLogger(__name__)

_PREVIOUS = ["previous"]
"""The CSS class of a result that does not fit the controls."""

_INCHES = (
    f"((width) => width < {NARROWEST} ? {PHONE} : width < {NARROW} ? {TABLET} : {DESKTOP})"
    "(document.getElementById('answer').clientWidth)"
)
_MAX_PAGE = 8 * MAX_BYTES
_START = f"(inches, shown, link) => [{_INCHES}, null, location.hash.slice(1)]"


def connect_events(
    space: Space, blocks: gr.Blocks, layout: Layout, downloads: Downloads, first: Answer
) -> None:
    """Connect the components of a page with the handlers, in the current `gr.Blocks`.

    Args:
        space: the description of the Space.
        blocks: the page.
        layout: its components.
        downloads: where files are written.
        first: the answer that a new page shows.
    """
    handlers = Handlers(space, layout, downloads, first)
    inputs, outputs = layout.inputs, layout.outputs
    # With a set of inputs, Gradio passes a dict by component instead of positional arguments.
    values = set(inputs.components())
    picker = [inputs.picker, *inputs.columns.values()]
    updated = [*outputs.components(), *picker, *inputs.controls.values(), inputs.shown]
    everything = [*inputs.components(), inputs.picker, *outputs.components()]

    changes = [
        inputs.source.input,
        inputs.table.input,
        inputs.text.change,  # `input` does not follow a text that is pasted into the empty field
        inputs.files.upload,
        inputs.files.delete,
        inputs.files.clear,
        inputs.checker.input,
        inputs.reading.input,
        *(component.input for component in inputs.columns.values()),
    ]
    # `input` follows neither the reset button of a slider nor a number that it sets into its range.
    changes += [component.change for component in inputs.controls.values()]
    # Gradio starts the events of one queue in their order, and those of several in random order.
    scoring: dict[str, Any] = {
        "api_visibility": "private",
        "concurrency_id": "scores",
        "show_progress": "minimal",
        "show_progress_on": [outputs.result],
    }
    gr.on(changes, handlers.show_scores, values, updated, trigger_mode="always_last", **scoring)
    script = (PAGE / "page.js").read_text(encoding="utf-8")
    script = script.replace("%(inches)s", _INCHES)
    blocks.load(None, None, None, js=script, api_visibility="private")
    start: dict[str, Any] = {"js": _START, **scoring}
    address = [inputs.inches, inputs.shown, outputs.link]
    started = blocks.load(handlers.show_start, address, everything, **start)
    linked = started.then(handlers.show_link, address, everything, **start)
    linked.then(None, js=OPENED, api_visibility="private")
    inputs.inches.input(
        handlers.show_width,
        [inputs.inches, inputs.shown],
        outputs.components(),
        trigger_mode="always_last",
        **scoring,
    )
    saved = [layout.open_page, inputs.inches, inputs.shown]
    layout.open_page.upload(handlers.show_saved_inputs, saved, everything, **scoring).then(
        handlers.show_saved_page, saved, everything, **scoring
    )
    connect_copying(layout)
    inputs.source.change(
        handlers.show_source,
        inputs.source,
        [*inputs.by_source.values(), inputs.reading],
        api_visibility="private",
        show_progress="hidden",
    )
    for button, example in zip(layout.examples, space.examples, strict=True):
        button.click(
            handlers.for_example(example),
            {inputs.shown, inputs.inches},
            everything,
            **scoring,
        )
    layout.cancel.click(
        handlers.show_cancelled,
        inputs.shown,
        updated,
        api_visibility="private",
        show_progress="hidden",
    )
    outputs.order.input(
        handlers.show_order,
        [inputs.shown, outputs.order],
        outputs.questions,
        api_visibility="private",
        show_progress="hidden",
    )
    outputs.questions.select(
        handlers.show_samples,
        inputs.shown,
        outputs.samples,
        api_visibility="private",
        show_progress="hidden",
    )
    for edited in connect_table(space, inputs):
        edited.then(handlers.show_scores, values, updated, **scoring)
    connect_downloads(layout, downloads)


@dataclass(eq=False)
class _Running:
    """A request that is being scored. Two of them differ, also with the same fingerprint.

    Attributes:
        fingerprint: its fingerprint on this page.
        problem: the problem that the page shows since this request was ended, or "".
    """

    fingerprint: str
    problem: str = ""

    def end(self, problem: str) -> None:
        """End the request at its next step. The same request may then be made again."""
        self.fingerprint, self.problem = "", problem


class Handlers:
    """The event handlers of a page. Each returns updates of components, by component."""

    def __init__(self, space: Space, layout: Layout, downloads: Downloads, first: Answer):
        self._space = space
        self._first = first
        self._inputs = layout.inputs
        self._outputs = layout.outputs
        self._downloads = downloads
        self._running: dict[str | None, _Running] = {}  # the last request of each session
        self._lock = threading.Lock()  # of `_running`

    def show_scores(self, values: Values, visitor: gr.Request) -> Iterator[Values]:
        """Score the samples and show the progress, then the result or the problem.

        Gradio sends several events for some changes, also at the same time. What is shown already,
        or will be, is not scored again. A later request, also an invalid one, ends an earlier one.
        """
        shown: Shown = values[self._inputs.shown]
        if is_empty(self._inputs, values):  # the last result remains
            yield self._no_updates()
            return
        if shown.fingerprint is None:  # a link in the address is more than any event of the start
            yield self._no_updates()
            return
        running = self._running.get(visitor.session_hash)
        try:
            request = request_of(self._space, self._inputs, values)
        except ValueError as error:
            if running:
                running.end(str(error))
            yield self._problem_updates(str(error), shown)
            return
        fingerprint = request.fingerprint()
        if fingerprint in (shown.fingerprint, running and running.fingerprint):
            yield self._no_updates()
            return
        with self._run(visitor, fingerprint) as current:
            for updates in self._updates_in_steps(request, fingerprint, values):
                # The progress of an ended request may have replaced the problem on the page.
                problem = current.problem
                if problem:
                    updates = self._problem_updates(problem, shown)
                yield updates if self._is_last(current, visitor) else self._no_updates()
                if problem or not self._is_last(current, visitor):
                    return

    def _updates_in_steps(
        self, request: Request, fingerprint: str, values: Values
    ) -> Iterator[Values]:
        """Score a request, and yield the updates that show its progress, its answer or a problem.

        Args:
            request: the request.
            fingerprint: its fingerprint on this page.
            values: what the inputs hold.
        """
        shown: Shown = values[self._inputs.shown]
        try:
            for step in score_in_steps(request):
                if isinstance(step, Answer):
                    yield self._answer_updates(request, step, fingerprint, values)
                else:
                    yield self._progress_updates(step)
        except ColumnError as error:
            problem = f"{error} You can choose columns below the samples."
            updates = self._problem_updates(problem, shown)
            names = {name for role, name in request.columns.items() if role != "where"}
            is_choosing = bool(request.columns) and names <= {*error.columns}
            if not is_choosing:
                updates |= picker_updates(self._inputs, error.columns, error.rows)
            yield updates
        except ValueError as error:
            updates = self._problem_updates(str(error), shown)
            if not request.columns:  # nothing is left to choose from an earlier problem
                updates |= picker_updates(self._inputs, ())
            yield updates
        except Exception:
            _logger.exception("Unexpected error while preparing the scores for the page")
            yield self._problem_updates(
                "The samples were scored, but an error on this server prevents showing the result.",
                shown,
            )

    @contextmanager
    def _run(self, visitor: gr.Request, fingerprint: str) -> Iterator[_Running]:
        """Remember the last request of a visitor until its handler has returned."""
        running = _Running(fingerprint)
        with self._lock:
            self._running[visitor.session_hash] = running
        try:
            yield running
        finally:
            # A later request may start now, and must not be forgotten.
            with self._lock:
                if self._is_last(running, visitor):
                    del self._running[visitor.session_hash]

    def _is_last(self, running: _Running, visitor: gr.Request) -> bool:
        return self._running.get(visitor.session_hash) is running

    def for_example(self, example: Example) -> Callable[[Values, gr.Request], Values]:
        """Return the handler of the button of an example.

        If the visitor changes an input in the meantime, the handler updates nothing.
        """
        _, request = self._inputs_of(example)
        fingerprint = request.fingerprint()

        def show_example(values: Values, visitor: gr.Request) -> Values:
            with self._run(visitor, fingerprint) as running:
                updates, _ = self._inputs_of(example)  # anew, because Gradio empties them
                shown = self._example_updates(updates, request, fingerprint, values)
                if running.problem or not self._is_last(running, visitor):
                    return self._no_updates()
                return shown

        return show_example

    def show_start(self, inches: float, shown: Shown, link: str) -> Values:
        """Put what the address of the page holds into the inputs, or show the first example.

        All changes are ignored until the answer of the link is shown.
        """
        updates: Values = {self._inputs.inches: inches}
        if link:
            return updates | self._shared_inputs(link, shown)
        updates[self._inputs.shown] = replace(shown, fingerprint="")
        if inches != DESKTOP:
            charts = charts_of(self._space, self._first)
            updates |= self._chart_updates(charts, self._first, inches)
        return updates

    def show_link(self, inches: float, shown: Shown, link: str, visitor: gr.Request) -> Values:
        """Show the scores of what the address of the page holds."""
        return self._shared_answer(link, inches, shown, visitor)

    def show_saved_inputs(self, file: str, inches: float, shown: Shown) -> Values:
        """Put what a visitor has saved into the inputs."""
        return self._shared_inputs(_text_of(file), shown)

    def show_saved_page(
        self, file: str, inches: float, shown: Shown, visitor: gr.Request
    ) -> Values:
        """Show the scores of what a visitor has saved."""
        return self._shared_answer(_text_of(file), inches, shown, visitor)

    def _shared_inputs(self, text: str, shown: Shown) -> Values:
        """Put a link or a saved page into the inputs, in which changes are ignored from now on."""
        try:
            example = opened_page(self._space, text, self._downloads.new_folder)
            updates, _ = self._inputs_of(example)
        except ValueError as error:
            return self._without_result(str(error), shown)
        for control in self._space.controls:
            if isinstance(control, Slider):
                component = self._inputs.controls[control.name]
                updates[component] = gr.update(value=updates[component], maximum=control.maximum)
        return updates | {
            self._inputs.shown: replace(shown, fingerprint=None),
            self._outputs.problem: gr.update(visible=False),
            self._outputs.answer: gr.update(visible=False),
            self._outputs.details: gr.update(visible=False),
        }

    def _shared_answer(self, text: str, inches: float, shown: Shown, visitor: gr.Request) -> Values:
        """Show the scores of a link or a saved page whose inputs are shown."""
        if shown.fingerprint is not None:
            return self._no_updates()
        try:
            example = opened_page(self._space, text, self._downloads.new_folder)
            updates, request = self._inputs_of(example)
            answer, fingerprint = score(request), request.fingerprint()
        except ValueError as error:
            return self._without_result(str(error), shown)
        values = {self._inputs.inches: inches, self._inputs.shown: shown, **updates}
        return self._answer_updates(request, answer, fingerprint, values, set_sliders=True)

    def _without_result(self, problem: str, shown: Shown) -> Values:
        """Say why there is no result, and show no other."""
        outputs = self._outputs
        return self._problem_updates(problem, shown) | {
            outputs.problem: gr.update(value=problem_html(problem, False), visible=True),
            outputs.answer: gr.update(visible=False),
            outputs.details: gr.update(visible=False),
        }

    def show_width(self, inches: float, shown: Shown) -> Values:
        """Draw the charts again for another width of the page."""
        try:
            answer = self._downloads.answer(shown.folder)
        except ValueError:  # the charts remain as they are
            return self._no_updates()
        return self._chart_updates(charts_of(self._space, answer), answer, inches)

    def _example_updates(
        self, inputs: Values, request: Request, fingerprint: str, values: Values
    ) -> Values:
        """Put an example into the inputs and show its scores, at once.

        Args:
            inputs: the updates that put the example into the inputs.
            request: its request.
            fingerprint: that of the request.
            values: what the page holds.
        """
        try:
            answer = score(request)
        except ValueError as error:  # the server is busy
            return inputs | self._problem_updates(str(error), values[self._inputs.shown])
        return inputs | self._answer_updates(request, answer, fingerprint, values, set_sliders=True)

    def _inputs_of(self, example: Example) -> tuple[Values, Request]:
        """Return updates that put an example into the inputs, and its request."""
        options = {control.name: control.value for control in self._space.controls}
        options |= example.options
        files = tuple(str(sample_file(name)) for name in example.files)
        samples: dict[str, Any] = {"files": files}
        if example.table:
            samples = {"table": table_with_headers(self._space, example)}
        elif example.text:
            samples = {"text": example.text}
        inputs = self._inputs
        updates: Values = {
            inputs.source: FILES if files else TEXT if example.text else TABLE,
            inputs.files: list(files) or None,
            inputs.checker: example.checker,
        }
        updates[inputs.reading] = gr.update(value=example.reading, visible=not example.table)
        updates |= {inputs.controls[name]: value for name, value in options.items()}
        if example.table:
            updates[inputs.table] = table_updates(samples["table"])
        if example.text:
            updates[inputs.text] = example.text
        chosen = example.columns
        columns = {name: None for role, name in chosen.items() if role != "where"}
        rows = [name for role, name in chosen.items() if role == "where"]
        updates |= picker_updates(inputs, [*columns], rows)
        updates |= {
            component: updates[component] | {"value": chosen[role]}
            for role, component in inputs.columns.items()
            if role in chosen
        }
        samples |= {"columns": chosen, "reading": example.reading}
        request = make_request(self._space, example.checker, options, **samples)
        return updates, request

    def show_cancelled(self, shown: Shown, visitor: gr.Request) -> Values:
        """Let the running request of a visitor end, and say so."""
        problem = "The request was cancelled."
        running = self._running.get(visitor.session_hash)
        if running:
            running.end(problem)
        return self._problem_updates(problem, shown)

    def show_samples(self, shown: Shown, selected: gr.SelectData) -> str:
        """Show the samples of the question in the selected row."""
        with shown_to_visitor():
            answer = self._downloads.answer(shown.folder)
        return samples_html(self._space, answer, int(selected.row_value[0]) - 1)

    def show_order(self, shown: Shown, order: str) -> dict[str, Any]:
        """Show the questions in another order."""
        with shown_to_visitor():
            answer = self._downloads.answer(shown.folder)
        headers = question_headers(self._space, answer)
        return {"headers": headers, "data": question_rows(self._space, answer, order)}

    def show_source(self, source: str) -> Values:
        """Show the component of the chosen source, and hide the others."""
        components = self._inputs.by_source
        return {
            component: gr.update(visible=name == source) for name, component in components.items()
        } | {self._inputs.reading: gr.update(visible=source != TABLE)}

    def _answer_updates(
        self,
        request: Request,
        answer: Answer,
        fingerprint: str,
        values: Values,
        set_sliders: bool = False,
    ) -> Values:
        """Show an answer and the limited options that were used.

        A slider that shows the right value is not set, because the visitor may be moving it.

        Args:
            request: the request.
            answer: its answer.
            fingerprint: that of the page.
            values: what the inputs hold.
            set_sliders: whether to set the sliders in any case.
        """
        view = make_view(self._space, request, answer, self._downloads)
        updates = self._view_updates(view)
        for control in self._space.controls:
            if isinstance(control, Slider) and control.limited_by_samples:
                component = self._inputs.controls[control.name]
                update: dict[str, Any] = {"maximum": slider_maximum(control, answer)}
                used = answer.options[control.name]
                if set_sliders or values[component] != used:
                    update["value"] = used
                updates[component] = gr.update(**update)
        if not request.columns:
            updates |= picker_updates(self._inputs, ())
        updates[self._inputs.shown] = Shown.of(fingerprint, request, answer, view.folder)
        return updates | self._chart_updates(view.charts, answer, values[self._inputs.inches])

    def _chart_updates(
        self, charts: Sequence[Chart | None], answer: Answer, inches: float
    ) -> Values:
        """Draw the charts of an answer."""
        if inches not in WIDTHS:
            inches = DESKTOP
        updates: Values = {}
        for output, chart in zip(self._outputs.charts, charts, strict=True):
            updates[output.column] = gr.update(visible=chart is not None)
            if chart is not None:
                updates[output.caption] = caption_html(chart)
                updates[output.plot] = page_svg(draw(chart, answer, inches))
        return updates

    def _no_updates(self) -> Values:
        return {self._outputs.problem: gr.skip()}

    def _progress_updates(self, progress: Progress | None) -> Values:
        outputs = self._outputs
        if progress is None:
            return {outputs.progress: gr.skip()}
        return {
            outputs.problem: gr.update(visible=False),
            outputs.working: gr.update(visible=True),
            outputs.progress: progress_html(progress),
            outputs.answer: gr.update(elem_classes=_PREVIOUS),
            outputs.details: gr.update(elem_classes=_PREVIOUS),
        }

    def _view_updates(self, view: View) -> Values:
        outputs = self._outputs
        return {
            outputs.problem: gr.update(visible=False),
            outputs.working: gr.update(visible=False),
            outputs.answer: gr.update(elem_classes=[], visible=True),
            outputs.details: gr.update(elem_classes=[], visible=True),
            outputs.link: view.link,
            outputs.result: view.result,
            outputs.table: view.table,
            outputs.scores_file: view.scores_file,
            outputs.code: view.code,
            outputs.order: gr.update(choices=view.question_orders, value=view.question_orders[0]),
            outputs.questions: {"headers": view.question_headers, "data": view.question_rows},
            outputs.samples: "",
        }

    def _problem_updates(self, problem: str, shown: Shown) -> Values:
        """Show a problem above the previous answer, and remember that the answer is not valid."""
        outputs = self._outputs
        return {
            outputs.problem: gr.update(value=problem_html(problem), visible=True),
            outputs.working: gr.update(visible=False),
            outputs.answer: gr.update(elem_classes=_PREVIOUS),
            outputs.details: gr.update(elem_classes=_PREVIOUS),
            self._inputs.shown: replace(shown, fingerprint=""),
        }


def _text_of(file: str) -> str:
    """Return the content of a saved page; "" if it is too large to be one."""
    if Path(file).stat().st_size > _MAX_PAGE:
        return ""
    return Path(file).read_text(encoding="ascii", errors="replace")
