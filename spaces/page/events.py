"""What happens on a page when a visitor changes or clicks something."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import gradio as gr

from .answer_html import (
    chart_html,
    code_html,
    escape,
    menu_html,
    problem_html,
    result_html,
    scores_html,
)
from .asking import in_words, merged
from .downloads import Downloads
from .layout import COPY_LINK, FILES, TEXT, Layout
from .python_code import python_code
from .question_table import ALL, questions_html, samples_html
from .received import MAX_BYTES
from .request import Answer, ChoiceError, Reading, Request, make_request
from .scoring import score_in_steps
from .sharing import (
    LONGEST_LINK,
    example_request,
    is_saved_page,
    opened_request,
    request_of_address,
    shared_text,
)
from .space import Example, Space

_logger = logging.getLogger(__name__)

Values = dict[Any, Any]
"""The value of each component, by component: given to a handler, or returned as updates."""

_BEGIN = "(...values) => page.begin(values, false)"
_BEGIN_AT_TOP = "(...values) => page.begin(values, true)"
_UNEXPECTED = "An error on this server prevents a result for these inputs."


def shown_values(
    space: Space, request: Request, answer: Answer, downloads: Downloads, widths: list[str]
) -> dict[str, Any]:
    """Return the values of the components that show an answer, by their names in `Outputs`."""
    shared = shared_text(request)
    folder = downloads.keep(answer, shared)
    choices = downloads.choices(answer)
    return {
        "result": result_html(space, answer, shared if len(shared) <= LONGEST_LINK else ""),
        "first_chart": chart_html(space, answer, widths, slice(1)),
        "scores": scores_html(space, answer),
        "charts": chart_html(space, answer, ["narrow"], slice(1, None)),
        "code": code_html(python_code(space, answer)),
        "questions": questions_html(space, answer),
        "download": menu_html(choices),
        "file": downloads.write(folder, choices[0]),
        "folder": folder,
    }


def connect_events(space: Space, blocks: gr.Blocks, layout: Layout, downloads: Downloads) -> None:
    """Connect the components of a page with the handlers, in the current `gr.Blocks`.

    The script of the page marks the result as soon as an input changes, and removes the mark when
    the result of these inputs is there.
    """
    handlers = Handlers(space, layout, downloads)
    inputs, outputs = layout.inputs, layout.outputs
    private: dict[str, Any] = {"api_visibility": "private"}
    options = [component.input for component in inputs.controls.values()]
    answers = [inputs.ways.input, inputs.chosen.input]
    # The script itself follows what is typed, pasted and selected.
    changes = [inputs.files.upload, inputs.files.delete, inputs.files.clear]
    changes += [component.input for component in inputs.columns.values()]
    gr.on(changes, js="() => page.mark()", **private)
    by_source = [inputs.text, inputs.files]
    inputs.source.input(handlers.show_source, inputs.source, by_source, queue=False, **private)
    scoring: dict[str, Any] = {
        "fn": handlers.score,
        "inputs": inputs.components,
        "outputs": inputs.components - {inputs.is_narrow, inputs.address} | outputs.components,
        "concurrency_id": "scores",
        "show_progress_on": [outputs.working],
        **private,
    }
    # A later request of a visitor ends an earlier one, so that none has to wait for its end.
    events = [
        gr.on([layout.score.click, *answers], js=_BEGIN_AT_TOP, trigger_mode="multiple", **scoring),
        gr.on(options, js=_BEGIN, trigger_mode="always_last", **scoring),
        *(
            button.click(js=_BEGIN, **scoring | {"fn": handlers.for_example(example)})
            for button, example in zip(layout.examples, space.examples, strict=True)
        ),
        inputs.address.change(js=_BEGIN, **scoring | {"fn": handlers.open}),
    ]
    for event in events:
        shown = [outputs.result, outputs.problem]
        event.success(None, shown, js="(...shown) => page.done(...shown)", **private)
        event.failure(None, js="() => page.fail()", **private)
    blocks.load(None, None, inputs.address, js="() => page.open()", **private)
    layout.stop.click(None, js="() => page.stop()", cancels=events, **private)
    quick: dict[str, Any] = {"show_progress": "hidden", **private}
    outputs.only.input(
        handlers.show_questions, [outputs.folder, outputs.only], outputs.questions, **quick
    )
    outputs.questions.select(
        handlers.show_samples,
        outputs.folder,
        outputs.samples,
        trigger_mode="always_last",
        **quick,
    )
    outputs.download.select(
        handlers.write_file, outputs.folder, outputs.file, trigger_mode="always_last", **private
    )
    outputs.copy_link.click(None, None, outputs.copy_link, js="() => page.copyLink()", **private)


class Handlers:
    """The event handlers of a page."""

    def __init__(self, space: Space, layout: Layout, downloads: Downloads):
        self._space = space
        self._inputs = layout.inputs
        self._outputs = layout.outputs
        self._downloads = downloads
        self._latest: dict[str | None, object] = {}  # the last request of each session

    def score(
        self,
        values: Values,
        visitor: gr.Request,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Iterator[Values]:
        """Score the inputs and show the progress, then the answer, a question or the problem."""
        try:
            request, updates = self._request(values)
        except ValueError as error:
            yield self._problem_updates(str(error))
            return
        yield from self._steps(request, updates, values, visitor, progress)

    def open(
        self,
        values: Values,
        visitor: gr.Request,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Iterator[Values]:
        """Show what the address of a new page asks for: a link, or an example with options."""
        address = values[self._inputs.address] or ""
        try:
            if address.startswith("#"):
                request: Request | None = self._opened(address[1:])
            else:
                request = request_of_address(self._space, dict(parse_qsl(address[1:])))
        except ValueError as error:
            yield self._problem_updates(str(error))
            return
        if request is None:
            yield {self._outputs.problem: gr.skip()}
            return
        yield from self._steps(request, self._input_updates(request), values, visitor, progress)

    def for_example(self, example: Example) -> Callable[..., Iterator[Values]]:
        """Return the handler of the button of an example."""

        def show_example(
            values: Values,
            visitor: gr.Request,
            progress: gr.Progress = gr.Progress(),  # noqa: B008
        ) -> Iterator[Values]:
            request = example_request(self._space, example)
            yield from self._steps(request, self._input_updates(request), values, visitor, progress)

        return show_example

    def _opened(self, text: str) -> Request:
        return opened_request(self._space, text, self._downloads.new_folder)

    def _steps(
        self,
        request: Request,
        updates: Values,
        values: Values,
        visitor: gr.Request,
        progress: gr.Progress,
    ) -> Iterator[Values]:
        """Score a request until its answer is there, or the visitor makes another request.

        Args:
            request: the request.
            updates: those that let the inputs show it.
            values: what the inputs hold.
            visitor: who makes it.
            progress: what shows the progress.
        """
        session = visitor.session_hash
        current = self._latest[session] = object()
        try:
            for step in score_in_steps(request):
                if self._latest.get(session) is not current:
                    return
                if step is None:
                    yield {self._outputs.problem: gr.skip()}
                else:
                    yield updates | self._answer_updates(request, step, values)
        except ChoiceError as error:
            yield updates | self._asking_updates(request, error)
        except ValueError as error:
            yield updates | self._problem_updates(str(error)) | self._chosen_updates(request)
        except Exception:
            _logger.exception("Unexpected error while preparing the scores for the page")
            yield self._problem_updates(_UNEXPECTED)
        finally:
            if self._latest.get(session) is current:
                del self._latest[session]

    # --- Inputs -----------------------------------------------------------------------------

    def _request(self, values: Values) -> tuple[Request, Values]:
        """Return the request that the inputs hold, and updates if they hold a saved page.

        What was chosen for other samples is not used.

        Raises:
            ValueError: if it is incomplete or invalid.
        """
        inputs = self._inputs
        options = {name: values[component] for name, component in inputs.controls.items()}
        for name, (used, requested) in values[inputs.lowered].items():
            if options[name] == used:  # the visitor has not changed it since
                options[name] = requested
        samples: dict[str, Any] = {"text": values[inputs.text] or ""}
        if values[inputs.source] == FILES:
            # Gradio passes instances of its own str class. A worker process could not load them
            # without importing Gradio.
            files = tuple(map(str, values[inputs.files] or ()))
            if not files:
                raise ValueError("There are no files. Choose one, or paste samples.")
            if len(files) > self._space.max_files:
                limit = self._space.max_files
                raise ValueError(f"{len(files)} files are too many. The limit is {limit}.")
            if text := _saved_page(files):
                request = self._opened(text)
                return request, self._input_updates(request)
            samples = {"files": files}
        request = make_request(self._space, values[inputs.checker], options, **samples)
        if request.fingerprint_of_samples() != values[inputs.asked_for]:
            return request, {}
        return replace(request, reading=self._reading(values)), {}

    def _reading(self, values: Values) -> Reading:
        """Return what the visitor has chosen about the samples."""
        inputs = self._inputs
        columns = {role: values[component] for role, component in inputs.columns.items()}
        named = {role: name for role, name in columns.items() if name}
        ways = [*(values[inputs.chosen] or ()), *filter(None, [values[inputs.ways]])]
        reading = merged([named, *map(json.loads, ways)])
        return reading | _correct_outcomes(values[inputs.correct] or "")

    def _input_updates(self, request: Request) -> Values:
        """Return updates that let the inputs show a request."""
        inputs = self._inputs
        has_files = bool(request.files)
        options = {inputs.controls[name]: value for name, value in request.raw_options.items()}
        return {
            inputs.source: FILES if has_files else TEXT,
            inputs.text: gr.update(value=request.text, visible=not has_files),
            inputs.files: gr.update(value=list(request.files) or None, visible=has_files),
            inputs.checker: request.checker,
            **options,
        }

    def show_source(self, source: str) -> tuple[Any, Any]:
        """Show the text or the files."""
        return gr.update(visible=source != FILES), gr.update(visible=source == FILES)

    # --- What a request shows ------------------------------------------------------------------

    def _answer_updates(self, request: Request, answer: Answer, values: Values) -> Values:
        """Show an answer, and the options that were used."""
        outputs, inputs = self._outputs, self._inputs
        widths = ["narrow" if values[inputs.is_narrow] else "wide"]
        shown = shown_values(self._space, request, answer, self._downloads, widths)
        file = Path(shown.pop("file"))
        updates = {getattr(outputs, name): value for name, value in shown.items()}
        updates |= {
            outputs.problem: gr.update(value="", visible=False),
            outputs.answer: gr.update(visible=True),
            outputs.details: gr.update(visible=True),
            outputs.only: ALL,
            outputs.samples: "",
            outputs.file: _file_update(file),
            outputs.copy_link: COPY_LINK,
        }
        lowered = {
            name: (answer.options[name], request.options[name])
            for name in request.limited_options
            if answer.options[name] != request.options[name]
        }
        updates[inputs.lowered] = lowered
        updates |= {
            component: answer.options[name]
            for name, component in inputs.controls.items()
            if name in request.limited_options and values[component] != answer.options[name]
        }
        return updates | self._chosen_updates(request)

    def _problem_updates(self, problem: str) -> Values:
        """Show a problem in the place of the answer."""
        outputs = self._outputs
        return {
            outputs.problem: gr.update(value=problem_html(problem), visible=True),
            outputs.answer: gr.update(visible=False),
            outputs.details: gr.update(visible=False),
        }

    def _asking_updates(self, request: Request, error: ChoiceError) -> Values:
        """Show what the rules of reading ask, and inputs for the answer."""
        inputs, outputs = self._inputs, self._outputs
        ways = [(in_words(way), json.dumps(way)) for way in error.ways]
        updates = self._problem_updates(str(error)) | self._chosen_updates(request)
        columns = [("none", ""), *((name, name) for name in error.columns)]
        updates |= {
            outputs.asking: gr.update(visible=True),
            inputs.ways: gr.update(choices=ways, value=None, visible=bool(ways)),
            inputs.correct: gr.update(visible=error.asks_correct),
        }
        if error.columns:
            for role, component in inputs.columns.items():
                value = request.reading.get(role)
                value = value if value in error.columns else ""
                updates[component] = gr.update(choices=columns, value=value, visible=True)
        return updates

    def _chosen_updates(self, request: Request) -> Values:
        """Show what was chosen about the samples, and ask no more."""
        inputs, outputs = self._inputs, self._outputs
        correct = {x: y for x, y in request.reading.items() if x.startswith("correct_")}
        rest = {x: y for x, y in request.reading.items() if x not in correct}
        ways = [{role: value} for role, value in rest.items()]
        choices = [(in_words(way), json.dumps(way)) for way in ways]
        updates: Values = {
            outputs.asking: gr.update(visible=bool(request.reading)),
            inputs.ways: gr.update(choices=[], value=None, visible=False),
            inputs.correct: gr.update(value=_words_of_correct(correct), visible=bool(correct)),
            inputs.chosen: gr.update(
                choices=choices, value=[way for _, way in choices], visible=bool(choices)
            ),
            inputs.asked_for: request.fingerprint_of_samples(),
        }
        hidden = gr.update(value="", visible=False)
        return updates | dict.fromkeys(inputs.columns.values(), hidden)

    # --- Parts of an answer --------------------------------------------------------------------

    def show_questions(self, folder: str, only: str) -> str:
        """Show the questions that a visitor selects."""
        return questions_html(self._space, self._answer(folder), only)

    def show_samples(self, folder: str, selected: gr.EventData) -> str:
        """Show the samples of the question in the selected row."""
        return samples_html(self._space, self._answer(folder), int(selected.value))

    def write_file(self, folder: str, selected: gr.EventData) -> Any:
        """Write the file that a visitor selects in the menu."""
        self._answer(folder)
        return _file_update(Path(self._downloads.write(folder, selected.value)))

    def _answer(self, folder: str) -> Answer:
        try:
            return self._downloads.answer(folder)
        except ValueError as error:
            raise gr.Error(escape(str(error)), print_exception=False) from error


def _file_update(file: Path) -> Any:
    return gr.update(value=str(file), label=f"Download {file.name}")


def _saved_page(files: tuple[str, ...]) -> str:
    """Return what the only file holds if it is a saved page, and else ""."""
    file = Path(files[0])
    is_page = len(files) == 1 and file.suffix == ".txt" and file.stat().st_size <= 4 * MAX_BYTES
    text = file.read_text(encoding="ascii", errors="replace") if is_page else ""
    return text if is_saved_page(text) else ""


def _correct_outcomes(text: str) -> Reading:
    """Return the outcomes that are correct: words such as "A, B", or ">= 0.75".

    Raises:
        ValueError: if the least score is no number.
    """
    text = text.strip()
    if not text:
        return {}
    if not text.startswith((">", "\N{GREATER-THAN OR EQUAL TO}")):
        return {"correct_values": [word.strip() for word in text.split(",") if word.strip()]}
    try:
        return {"correct_at_least": float(text.lstrip(">=\N{GREATER-THAN OR EQUAL TO} "))}
    except ValueError as error:
        raise ValueError(f"The least score has to be a number: {text!r:.40} is none.") from error


def _words_of_correct(reading: Reading) -> str:
    if "correct_at_least" in reading:
        return f">= {reading['correct_at_least']:g}"
    return ", ".join(reading.get("correct_values", ()))
