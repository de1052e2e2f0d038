"""What happens on a page when a visitor changes or clicks something."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
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
from .asking import choice_in_words, merged
from .downloads import Downloads
from .layout import COPY_LINK, FILES, NO_LINK, TEXT, Layout
from .python_code import python_code
from .question_table import ALL, questions_html, samples_html
from .received import MAX_FILES
from .request import Answer, ChoiceError, Reading, Request, make_request
from .scoring import score_in_steps
from .sharing import (
    LONGEST_LINK,
    check_parameters,
    example_request,
    is_saved_page,
    opened_request,
    shared_text,
)
from .space import Example, Space

_logger = logging.getLogger(__name__)

Values = dict[Any, Any]
"""The value of each component, by component: given to a handler, or returned as updates."""

_BEGIN = "(...values) => page.begin(values)"
_BEGIN_AT_TOP = "(...values) => page.begin(values, true)"
_UNEXPECTED = "An error on this server prevents a result for these inputs."


def shown_values(
    space: Space, request: Request, answer: Answer, downloads: Downloads
) -> dict[str, Any]:
    """Return the values of the components that show an answer, by their names in `Layout`."""
    shared = shared_text(request)
    link = shared if len(shared) <= LONGEST_LINK else ""
    folder = downloads.keep(answer, shared)
    choices = downloads.choices(answer)
    return {
        "result": result_html(space, answer, link),
        "scores": scores_html(space, answer),
        "charts": chart_html(space, answer),
        "code": code_html(python_code(space, answer)),
        "questions": questions_html(space, answer),
        "download": menu_html(choices),
        "file": downloads.write(folder, choices[0]),
        "folder": folder,
        "copy_link": gr.update(value=COPY_LINK if link else NO_LINK, interactive=bool(link)),
    }


def connect_events(space: Space, blocks: gr.Blocks, layout: Layout, downloads: Downloads) -> None:
    """Connect the components of a page with the handlers, in the current `gr.Blocks`.

    The script of the page marks the result as soon as an input changes, and removes the mark when
    the result of these inputs is there.
    """
    handlers = Handlers(space, layout, downloads)
    private: dict[str, Any] = {"api_visibility": "private"}
    # The script itself follows what is typed, pasted and selected.
    columns = [component.input for component in layout.columns.values()]
    gr.on(columns, js="() => page.mark()", **private)
    files = [layout.files.upload, layout.files.delete, layout.files.clear]
    gr.on(files, js="() => page.markFiles()", **private)
    by_source = [layout.text, layout.files]
    layout.source.input(
        handlers.show_source, layout.source, by_source, queue=False, **private
    ).then(None, js="() => page.review()", **private)
    scoring: dict[str, Any] = {
        "inputs": layout.inputs,
        "outputs": layout.outputs,
        "concurrency_id": "scores",
        "show_progress_on": [layout.working],
        **private,
    }
    score = handlers.scoring(handlers.requested)
    # A later request of a visitor ends an earlier one, so that none has to wait for its end.
    answers = [layout.score.click, layout.ways.input, layout.chosen.input]
    options = [component.input for component in layout.controls.values()]
    events = [
        gr.on(answers, score, js=_BEGIN_AT_TOP, trigger_mode="multiple", **scoring),
        gr.on(options, score, js=_BEGIN, trigger_mode="always_last", **scoring),
        *(
            button.click(handlers.scoring(partial(handlers.example, example)), js=_BEGIN, **scoring)
            for button, example in zip(layout.examples, space.examples, strict=True)
        ),
        layout.address.change(handlers.scoring(handlers.addressed), js=_BEGIN, **scoring),
    ]
    for event in events:
        shown = [layout.result, layout.problem]
        event.success(None, shown, js="(...shown) => page.done(...shown)", **private)
        event.failure(None, js="() => page.fail()", **private)
    opened = [layout.address, layout.text]
    blocks.load(None, layout.text, opened, js="(text) => page.open(text)", **private)
    quick: dict[str, Any] = {"show_progress": "hidden", **private}
    layout.only.input(
        handlers.show_questions, [layout.folder, layout.only], layout.questions, **quick
    )
    layout.questions.select(
        handlers.show_samples, layout.folder, layout.samples, trigger_mode="always_last", **quick
    )
    layout.download.select(
        handlers.write_file, layout.folder, layout.file, trigger_mode="always_last", **private
    )
    layout.copy_link.click(None, None, layout.copy_link, js="() => page.copyLink()", **private)


class Handlers:
    """The event handlers of a page."""

    def __init__(self, space: Space, layout: Layout, downloads: Downloads):
        self._space = space
        self._layout = layout
        self._downloads = downloads
        self._latest: dict[str | None, object] = {}  # the last request of each session

    def scoring(
        self, requested: Callable[[Values], tuple[Request | None, Values]]
    ) -> Callable[..., Iterator[Values]]:
        """Return a handler that scores a request and shows the answer, a question or the problem.

        Args:
            requested: returns a request, and updates that let the inputs show it.
        """

        def show(values: Values, visitor: gr.Request) -> Iterator[Values]:
            nothing = {self._layout.problem: gr.skip()}
            session = visitor.session_hash
            current = self._latest[session] = object()
            request: Request | None = None
            updates: Values = {}
            try:
                request, updates = requested(values)
                for answer in score_in_steps(request) if request else [None]:
                    if self._latest.get(session) is not current:
                        return
                    if request is None or answer is None:
                        yield nothing
                    else:
                        yield updates | self._answer_updates(request, answer)
            except ValueError as error:
                yield updates | self._problem_updates(request, error)
            except Exception:
                _logger.exception("Unexpected error while preparing the scores for the page")
                yield self._problem_updates(None, _UNEXPECTED)
            finally:
                if self._latest.get(session) is current:
                    del self._latest[session]

        return show

    # --- Inputs -----------------------------------------------------------------------------

    def example(self, example: Example, values: Values) -> tuple[Request, Values]:
        """Return the request of an example."""
        request = example_request(self._space, example)
        return request, self._input_updates(request)

    def addressed(self, values: Values) -> tuple[Request | None, Values]:
        """Return the request that the address of a new page holds, or None."""
        address = values[self._layout.address] or ""
        if address.startswith("#"):
            return self._opened(address[1:])
        check_parameters(dict(parse_qsl(address[1:])))
        return None, {}

    def _opened(self, text: str) -> tuple[Request, Values]:
        request = opened_request(self._space, text, self._downloads.new_folder)
        return request, self._input_updates(request)

    def requested(self, values: Values) -> tuple[Request, Values]:
        """Return the request that the inputs hold, and updates if they hold a saved page.

        What was chosen for other samples is not used.

        Raises:
            ValueError: if it is incomplete or invalid.
        """
        layout = self._layout
        options = {name: values[component] for name, component in layout.controls.items()}
        samples: dict[str, Any] = {"text": values[layout.text] or ""}
        if values[layout.source] == FILES:
            # Gradio passes instances of its own str class. A worker process could not load them
            # without importing Gradio.
            files = tuple(map(str, values[layout.files] or ()))
            if not files:
                raise ValueError("There are no files. Choose one, or paste samples.")
            if len(files) > MAX_FILES:
                raise ValueError(f"{len(files)} files are too many. The limit is {MAX_FILES}.")
            if text := _saved_page(files):
                return self._opened(text)
            samples = {"files": files}
        request = make_request(self._space, values[layout.checker], options, **samples)
        if request.fingerprint_of_samples() != values[layout.asked_for]:
            return request, {}
        return replace(request, reading=self._reading(values)), {}

    def _reading(self, values: Values) -> Reading:
        """Return what the visitor has chosen about the samples."""
        layout = self._layout
        columns = {role: values[component] for role, component in layout.columns.items()}
        named = {role: name for role, name in columns.items() if name}
        ways = [*(values[layout.chosen] or ()), *filter(None, [values[layout.ways]])]
        reading = merged([named, *map(json.loads, ways)])
        return reading | _correct_outcomes(values[layout.correct] or "")

    def _input_updates(self, request: Request) -> Values:
        """Return updates that let the inputs show a request."""
        layout = self._layout
        has_files = bool(request.files)
        options = {layout.controls[name]: value for name, value in request.shown.items()}
        return {
            layout.source: FILES if has_files else TEXT,
            layout.text: gr.update(value=request.text, visible=not has_files),
            layout.files: gr.update(value=list(request.files) or None, visible=has_files),
            layout.checker: request.checker,
            **options,
        }

    def show_source(self, source: str) -> tuple[Any, Any]:
        """Show the text or the files."""
        return gr.update(visible=source != FILES), gr.update(visible=source == FILES)

    # --- What a request shows ------------------------------------------------------------------

    def _answer_updates(self, request: Request, answer: Answer) -> Values:
        """Show an answer."""
        layout = self._layout
        shown = shown_values(self._space, request, answer, self._downloads)
        file = Path(shown.pop("file"))
        updates = {getattr(layout, name): value for name, value in shown.items()}
        updates |= {
            layout.problem: gr.update(value="", visible=False),
            layout.answer: gr.update(visible=True),
            layout.details: gr.update(visible=True),
            layout.only: ALL,
            layout.samples: "",
            layout.file: _file_update(file),
        }
        return updates | self._chosen_updates(request)

    def _problem_updates(self, request: Request | None, problem: ValueError | str) -> Values:
        """Show a problem in the place of the answer, and inputs for the choices that it needs."""
        layout = self._layout
        updates: Values = {
            layout.problem: gr.update(value=problem_html(str(problem)), visible=True),
            layout.answer: gr.update(visible=False),
            layout.details: gr.update(visible=False),
        }
        if request is not None:
            updates |= self._chosen_updates(request)
            if isinstance(problem, ChoiceError):
                updates |= self._asking_updates(request, problem)
        return updates

    def _asking_updates(self, request: Request, error: ChoiceError) -> Values:
        """Show inputs for what the rules of reading ask."""
        layout = self._layout
        ways = [(choice_in_words(way), json.dumps(way)) for way in error.ways]
        columns = [("none", ""), *((name, name) for name in error.columns)]
        updates: Values = {
            layout.asking: gr.update(visible=True),
            layout.ways: gr.update(choices=ways, value=None, visible=bool(ways)),
        }
        if error.asks_correct:
            updates[layout.correct] = gr.update(visible=True)
        if error.columns:
            for role, component in layout.columns.items():
                value = request.reading.get(role)
                value = value if value in error.columns else ""
                updates[component] = gr.update(choices=columns, value=value, visible=True)
        return updates

    def _chosen_updates(self, request: Request) -> Values:
        """Show what was chosen about the samples, and ask no more."""
        layout = self._layout
        rest = {x: y for x, y in request.reading.items() if not x.startswith("correct_")}
        choices = [(choice_in_words({x: y}), json.dumps({x: y})) for x, y in rest.items()]
        correct = _correct_as_text(request.reading)
        updates: Values = {
            layout.asking: gr.update(visible=bool(request.reading)),
            layout.ways: gr.update(choices=[], value=None, visible=False),
            layout.correct: gr.update(value=correct, visible=bool(correct)),
            layout.chosen: gr.update(
                choices=choices, value=[way for _, way in choices], visible=bool(choices)
            ),
            layout.asked_for: request.fingerprint_of_samples(),
        }
        hidden = gr.update(value="", visible=False)
        return updates | dict.fromkeys(layout.columns.values(), hidden)

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
    if len(files) > 1 or not files[0].endswith(".txt"):
        return ""
    text = Path(files[0]).read_text(encoding="ascii", errors="replace")
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


def _correct_as_text(reading: Reading) -> str:
    """Return the outcomes that are correct as a visitor types them, or ""."""
    if "correct_at_least" in reading:
        return f">= {reading['correct_at_least']:g}"
    return ", ".join(reading.get("correct_values", ()))
