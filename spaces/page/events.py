"""Handle what a visitor changes or clicks on a page."""

import json
import logging
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr

from .answer_html import details_html, escape, problem_html, result_html
from .asking import ChoiceError, Reading, choice_in_words, merged, parse_correct_outcomes
from .files import write_files
from .layout import FILES, TEXT, Layout
from .request import (
    Answer,
    Request,
    example_request,
    make_request,
    opened_request,
    saved_page,
)
from .scoring import score, score_in_steps
from .space import Space

_logger = logging.getLogger(__name__)

Values = dict[Any, Any]
"""A value or an update for each component, by component."""

_UNEXPECTED = "An error on this server prevents a result for these inputs."


def connect_events(space: Space, blocks: gr.Blocks, layout: Layout) -> None:
    """Connect the components of a page with their handlers, in the current `gr.Blocks`.

    The script of the page marks the result as outdated when an input changes. The script listens
    itself for what is typed, pasted and selected.
    """
    handlers = Handlers(space, layout)
    private: dict[str, Any] = {"api_visibility": "private"}
    columns = [component.input for component in layout.columns.values()]
    gr.on(columns, js="() => page.mark()", **private)
    uploads = [layout.uploads.upload, layout.uploads.delete, layout.uploads.clear]
    gr.on(uploads, js="() => page.markFiles()", **private)
    layout.source.input(
        lambda source: [gr.update(visible=source == x) for x in (TEXT, FILES)],
        layout.source,
        [layout.text, layout.uploads],
        queue=False,
        trigger_mode="always_last",  # the answer to an earlier choice would hide what is chosen
        **private,
    )
    clicks = [button.click for button in (layout.score, layout.again, *layout.examples)]
    others = [layout.choices.input, layout.address.change]
    options = [component.input for component in layout.controls.values()]
    for triggers, js, mode in (
        # Each of these events starts at once, because a later request of a visitor ends an earlier
        # one. With `true`, the page scrolls to the answer.
        ([*clicks, *others], "(...values) => page.begin(values, true)", "multiple"),
        (options, "(...values) => page.begin(values)", "always_last"),
    ):
        scored = gr.on(
            triggers,
            handlers.score,
            layout.inputs,
            layout.outputs,
            js=js,
            trigger_mode=mode,
            concurrency_id="scores",
            show_progress_on=[layout.working],
            **private,
        )
        shown = [layout.number, layout.result, layout.problem]
        scored.success(None, shown, js="(...shown) => page.done(...shown)", **private)
        scored.failure(None, js="() => page.fail()", **private)
    blocks.unload(handlers.forget)
    opened = [layout.address, layout.text]
    blocks.load(None, layout.text, opened, js="(text) => page.open(text)", **private)
    layout.files.click(handlers.write_files, layout.inputs, layout.written, **private)


class Handlers:
    """Handle the events of a page."""

    def __init__(self, space: Space, layout: Layout):
        self._space = space
        self._layout = layout
        self._latest: dict[str | None, int] = {}  # the number of the last request of each session

    def score(self, values: Values, visitor: gr.Request, event: gr.EventData) -> Iterator[Values]:
        """Yield updates that show the answer to a request, until the visitor makes a later one.

        Requests have numbers, because a server that gets two at once may start either one first.
        """
        session, number = visitor.session_hash, values[self._layout.number]
        self._latest[session] = max(number, self._latest.get(session, 0))
        for updates in self._steps(event.target, values):
            is_latest = self._latest.get(session) == number
            # Gradio empties all outputs if a generator ends before it yields anything.
            nothing = {self._layout.problem: gr.skip()}
            yield {self._layout.number: number} | updates if updates and is_latest else nothing
            if not is_latest:
                return

    def forget(self, visitor: gr.Request) -> None:
        """Forget a session, whose page is closed."""
        self._latest.pop(visitor.session_hash, None)

    def _steps(self, trigger: Any, values: Values) -> Iterator[Values]:
        """Yield {} every second, and then updates that show the answer or the problem."""
        request: Request | None = None
        updates: Values = {}
        try:
            with tempfile.TemporaryDirectory() as folder:
                request, updates = self._request(trigger, values, Path(folder))
                for answer in score_in_steps(request):
                    yield updates | self._answer_updates(answer) if answer else {}
        except ValueError as error:
            yield updates | self._problem_updates(request, error)
        except Exception:
            _logger.exception("Unexpected error while preparing the scores for the page")
            yield self._problem_updates(None, ValueError(_UNEXPECTED))

    def write_files(self, values: Values) -> Iterator[Any]:
        """Score the request in the inputs again, and yield the list of its files."""
        try:
            request = self._request_from_inputs(values)
            with tempfile.TemporaryDirectory() as folder:
                paths = write_files(score(request), folder)
                yield gr.update(value=paths, visible=True)
        except ValueError as error:
            raise gr.Error(escape(str(error)), print_exception=False) from error

    # --- Requests ---------------------------------------------------------------------------

    def _request(self, trigger: Any, values: Values, folder: Path) -> tuple[Request, Values]:
        """Return the request of an example, the address or the inputs, and updates that show it.

        The updates are {} if the inputs show it already. Files of a link or a saved page are
        written to `folder`. Raise a ValueError if one is bad.
        """
        space, layout = self._space, self._layout
        if trigger in layout.examples:
            request = example_request(space, space.examples[layout.examples.index(trigger)])
        elif trigger is not layout.address:
            # Compare ids, because a session has its own copy of a component that it has updated.
            is_again = trigger.elem_id == layout.again.elem_id
            request = self._request_from_inputs(values, forgets=is_again)
            if (page := saved_page(request.files)) is None:
                return request, {}
            request = opened_request(space, page, folder)
        else:
            request = opened_request(space, values[layout.address].removeprefix("#"), folder)
        return request, self._input_updates(request)

    def _request_from_inputs(self, values: Values, forgets: bool = False) -> Request:
        """Return the request that the inputs hold. Choices made for other samples are left out.

        With `forgets`, all choices are left out. Raise a ValueError if the request is invalid.
        """
        layout = self._layout
        options = {name: values[component] for name, component in layout.controls.items()}
        samples: dict[str, Any] = {"text": values[layout.text] or ""}
        if values[layout.source] == FILES:
            # Gradio passes instances of its own str class. A worker process could not load them
            # without importing Gradio.
            samples = {"files": tuple(map(str, values[layout.uploads] or ()))}
        request = make_request(self._space, values[layout.checker], options, **samples)
        are_same = request.fingerprint_of_samples() == values[layout.reading]["samples"]
        keeps_choices = are_same and not forgets
        return replace(request, reading=self._reading(values)) if keeps_choices else request

    def _reading(self, values: Values) -> Reading:
        """Return the visitor's choices as one reading. Raise a ValueError if one is invalid."""
        layout, reading = self._layout, dict(values[self._layout.reading]["choices"])
        for role, component in layout.columns.items():
            if names := values[component]:
                reading[role] = names[0] if isinstance(names, list) and len(names) == 1 else names
        if values[layout.choices]:
            reading = merged(reading, json.loads(values[layout.choices]))
        return reading | parse_correct_outcomes(values[layout.correct] or "")

    # --- Updates ------------------------------------------------------------------------------

    def _input_updates(self, request: Request) -> Values:
        """Return updates that let the inputs show a request."""
        layout = self._layout
        has_files = bool(request.files)
        options = {layout.controls[name]: value for name, value in request.shown.items()}
        return {
            layout.source: FILES if has_files else TEXT,
            layout.text: gr.update(value=request.text, visible=not has_files),
            layout.uploads: gr.update(value=list(request.files) or None, visible=has_files),
            layout.checker: request.checker,
            **options,
        }

    def _answer_updates(self, answer: Answer) -> Values:
        """Return updates that show an answer."""
        layout = self._layout
        return {
            layout.problem: "",
            layout.result: result_html(answer),
            layout.details: details_html(answer),
            layout.written: gr.update(value=None, visible=False),
            **self._asking_updates(answer.request, ChoiceError()),  # hides the inputs for choices
        }

    def _problem_updates(self, request: Request | None, problem: ValueError) -> Values:
        """Return updates that show a problem, and inputs for choices that would settle it."""
        updates: Values = {self._layout.problem: problem_html(str(problem))}
        if request is not None:
            asking = problem if isinstance(problem, ChoiceError) else ChoiceError()
            updates |= self._asking_updates(request, asking)
        return updates

    def _asking_updates(self, request: Request, asking: ChoiceError) -> Values:
        """Return updates that keep the choices of a request, and show the inputs for new ones."""
        layout, reading = self._layout, request.reading
        choices = [(choice_in_words(choice), json.dumps(choice)) for choice in asking.choices]
        names, are_asked = list(asking.columns), bool(asking.columns)
        columns = {
            component: gr.update(choices=names, value=None, visible=are_asked)
            for component in layout.columns.values()
        }
        return columns | {
            layout.reading: {"choices": reading, "samples": request.fingerprint_of_samples()},
            layout.choices: gr.update(choices=choices, value=None, visible=bool(choices)),
            layout.correct: gr.update(value="", visible=asking.asks_correct),
            layout.again: gr.update(visible=bool(reading)),
        }
