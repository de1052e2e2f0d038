"""Handle what a visitor changes or clicks on a page."""

import json
import logging
from collections.abc import Callable, Iterator, Sequence
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
from .request import Answer, ChoiceError, Reading, Request, make_request
from .samples import MAX_FILES
from .scoring import score_in_steps
from .sharing import (
    MAX_LINK,
    check_parameters,
    example_request,
    is_saved_page,
    opened_request,
    shared_text,
)
from .space import Example, Space

_logger = logging.getLogger(__name__)

Values = dict[Any, Any]
"""A value or an update for each component, by component."""

_BEGIN = "(...values) => page.begin(values)"
_BEGIN_AT_TOP = "(...values) => page.begin(values, true)"
_UNEXPECTED = "An error on this server prevents a result for these inputs."


def shown_values(
    space: Space, request: Request, answer: Answer, downloads: Downloads
) -> dict[str, Any]:
    """Save an answer for downloads. Return a dict from names in `Layout` to values that show it.

    A value is HTML, an update of Gradio, or for "file" and "folder" a path.
    """
    shared = shared_text(request)
    link = shared if len(shared) <= MAX_LINK else ""
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
    """Connect the components of a page with their handlers, in the current `gr.Blocks`.

    The script of the page marks the result as outdated when an input changes, until there is a new
    result. The script listens itself for what is typed, pasted and selected.
    """
    handlers = Handlers(space, layout, downloads)
    private: dict[str, Any] = {"api_visibility": "private"}
    columns = [component.input for component in layout.columns.values()]
    gr.on(columns, js="() => page.mark()", **private)
    files = [layout.files.upload, layout.files.delete, layout.files.clear]
    gr.on(files, js="() => page.markFiles()", **private)
    by_source = [layout.text, layout.files]
    layout.source.input(
        handlers.show_source,
        layout.source,
        by_source,
        queue=False,
        trigger_mode="always_last",  # the answer to an earlier choice would hide what is chosen
        **private,
    )
    scoring: dict[str, Any] = {
        "inputs": layout.inputs,
        "outputs": layout.outputs,
        "concurrency_id": "scores",
        "show_progress_on": [layout.working],
        **private,
    }
    score = handlers.scoring(handlers.request_from_inputs)
    # Each of these events starts at once: a later request of a visitor ends an earlier one.
    answers = [layout.score.click, layout.choices.input, layout.chosen.input]
    options = [component.input for component in layout.controls.values()]
    score_address = handlers.scoring(handlers.request_from_address)
    events = [
        gr.on(answers, score, js=_BEGIN_AT_TOP, trigger_mode="multiple", **scoring),
        gr.on(options, score, js=_BEGIN, trigger_mode="always_last", **scoring),
        layout.address.change(score_address, js=_BEGIN, **scoring),
    ]
    for button, example in zip(layout.examples, space.examples, strict=True):
        score_example = handlers.scoring(partial(handlers.request_of_example, example))
        clicked = button.click(score_example, js=_BEGIN, trigger_mode="multiple", **scoring)
        events.append(clicked)
    for event in events:
        shown = [layout.result, layout.problem]
        event.success(None, shown, js="(...shown) => page.done(...shown)", **private)
        event.failure(None, js="() => page.fail()", **private)
    opened = [layout.address, layout.text]
    blocks.load(None, layout.text, opened, js="(text) => page.open(text)", **private)
    quick: dict[str, Any] = {"show_progress": "hidden", **private}
    by_filter = [layout.folder, layout.filter]
    layout.filter.input(handlers.show_questions, by_filter, layout.questions, **quick)
    layout.questions.select(
        handlers.show_samples, layout.folder, layout.samples, trigger_mode="always_last", **quick
    )
    layout.download.select(
        handlers.write_file, layout.folder, layout.file, trigger_mode="always_last", **private
    )
    layout.copy_link.click(None, None, layout.copy_link, js="() => page.copyLink()", **private)


class Handlers:
    """Handle the events of a page."""

    def __init__(self, space: Space, layout: Layout, downloads: Downloads):
        self._space = space
        self._layout = layout
        self._downloads = downloads
        self._latest: dict[str | None, object] = {}  # a token of the last request of each session

    def scoring(
        self, make: Callable[[Values], tuple[Request | None, Values]]
    ) -> Callable[..., Iterator[Values]]:
        """Return a handler that scores a request, and shows the answer, a question or a problem.

        `make` takes the values of the inputs. It returns a request, and updates for the inputs to
        show this request. If the request is None, nothing is updated.
        """

        def show(values: Values, visitor: gr.Request) -> Iterator[Values]:
            """Yield updates of components, until the visitor's session makes a later request."""
            session = visitor.session_hash
            current = self._latest[session] = object()
            try:
                for updates in self._steps(make, values):
                    is_latest = self._latest.get(session) is current
                    # Gradio empties all outputs if a generator ends before it yields anything.
                    yield updates if updates and is_latest else {self._layout.problem: gr.skip()}
                    if not is_latest:  # a later request has begun
                        return
            finally:
                if self._latest.get(session) is current:
                    del self._latest[session]

        return show

    def _steps(
        self, make: Callable[[Values], tuple[Request | None, Values]], values: Values
    ) -> Iterator[Values]:
        """Yield {} every second, and then the updates that show the answer or the problem.

        `make` returns the request for `values`, as in `scoring`. If it is None, yield only {}.
        """
        request: Request | None = None
        updates: Values = {}
        try:
            request, updates = make(values)
            if request is None:
                yield {}
                return
            for answer in score_in_steps(request):
                yield updates | self._answer_updates(request, answer) if answer else {}
        except ValueError as error:
            yield updates | self._problem_updates(request, error)
        except Exception:
            _logger.exception("Unexpected error while preparing the scores for the page")
            yield self._problem_updates(None, _UNEXPECTED)

    # --- Requests ---------------------------------------------------------------------------

    def request_of_example(self, example: Example, values: Values) -> tuple[Request, Values]:
        """Return the request of an example, and updates that let the inputs show it."""
        request = example_request(self._space, example)
        return request, self._input_updates(request)

    def request_from_address(self, values: Values) -> tuple[Request | None, Values]:
        """Return the request in the fragment of the address, and updates for inputs to show it.

        Return (None, {}) if the address has no fragment. Raises a ValueError if the link is broken,
        or if the address has no fragment but a parameter that the page does not read.
        """
        address = values[self._layout.address] or ""
        if address.startswith("#"):
            return self._open_request(address[1:])
        check_parameters(dict(parse_qsl(address[1:])))
        return None, {}

    def request_from_inputs(self, values: Values) -> tuple[Request, Values]:
        """Return the request that the inputs hold, and updates of the inputs, mostly {}.

        If the uploaded file is a saved page, return its request, and updates for the inputs to show
        it. Choices that were made for other samples are ignored. Raises a ValueError if the request
        is incomplete or invalid.
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
            if (text := _saved_page(files)) is not None:
                return self._open_request(text)
            samples = {"files": files}
        request = make_request(self._space, values[layout.checker], options, **samples)
        if request.fingerprint_of_samples() == values[layout.asked_for]:
            request = replace(request, reading=self._reading(values))
        return request, {}

    def _open_request(self, text: str) -> tuple[Request, Values]:
        """Return the request in a link or saved page, and updates that let the inputs show it."""
        request = opened_request(self._space, text, self._downloads.new_folder)
        return request, self._input_updates(request)

    def _reading(self, values: Values) -> Reading:
        """Return the visitor's choices as one reading. Raise a ValueError if one is invalid."""
        layout = self._layout
        columns = {role: values[component] for role, component in layout.columns.items()}
        named = {role: name for role, name in columns.items() if name}
        choices = [*(values[layout.chosen] or ()), *filter(None, [values[layout.choices]])]
        reading = merged([named, *map(json.loads, choices)])
        return reading | parse_correct_outcomes(values[layout.correct] or "")

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
        """Return updates of the text field and the file field, which show only the chosen one."""
        return gr.update(visible=source != FILES), gr.update(visible=source == FILES)

    # --- Answers and problems -----------------------------------------------------------------

    def _answer_updates(self, request: Request, answer: Answer) -> Values:
        """Save an answer for downloads, and return updates that show it."""
        layout = self._layout
        shown = shown_values(self._space, request, answer, self._downloads)
        file = shown.pop("file")
        return {
            **{getattr(layout, name): value for name, value in shown.items()},
            layout.problem: gr.update(value="", visible=False),
            layout.answer: gr.update(visible=True),
            layout.details: gr.update(visible=True),
            layout.filter: ALL,
            layout.samples: "",
            layout.file: _file_update(file),
            **self._chosen_updates(request),
        }

    def _problem_updates(self, request: Request | None, problem: ValueError | str) -> Values:
        """Return updates that show a problem instead of the answer.

        If the problem is a ChoiceError, they also show the inputs for a choice.
        """
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
        """Return updates that show the inputs for the choice that an error asks for.

        Depending on the error, they are a list of choices, a field for the correct outcomes, and
        menus of columns.
        """
        layout = self._layout
        choices = [(choice_in_words(choice), json.dumps(choice)) for choice in error.choices]
        updates: Values = {
            layout.asking: gr.update(visible=True),
            layout.choices: gr.update(choices=choices, value=None, visible=bool(choices)),
        }
        if error.asks_correct:
            updates[layout.correct] = gr.update(visible=True)
        if error.columns:
            columns = [("none", ""), *((name, name) for name in error.columns)]
            for role, component in layout.columns.items():
                value = request.reading.get(role)
                value = value if value in error.columns else ""
                updates[component] = gr.update(choices=columns, value=value, visible=True)
        return updates

    def _chosen_updates(self, request: Request) -> Values:
        """Return updates that list the choices in a request, and hide the inputs for new ones."""
        layout = self._layout
        least = request.reading.get("correct_at_least")
        words = ", ".join(request.reading.get("correct_values", ()))
        correct = words if least is None else f">= {least:g}"
        choices = [
            (choice_in_words({name: value}), json.dumps({name: value}))
            for name, value in request.reading.items()
            if not name.startswith("correct_")
        ]
        hidden = gr.update(value="", visible=False)
        return {
            layout.asking: gr.update(visible=bool(request.reading)),
            layout.choices: gr.update(choices=[], value=None, visible=False),
            layout.correct: gr.update(value=correct, visible=bool(correct)),
            layout.chosen: gr.update(
                choices=choices, value=[choice for _, choice in choices], visible=bool(choices)
            ),
            layout.asked_for: request.fingerprint_of_samples(),
            **dict.fromkeys(layout.columns.values(), hidden),
        }

    # --- Parts of an answer --------------------------------------------------------------------

    def show_questions(self, folder: str, filter_name: str) -> str:
        """Return the HTML of the questions that pass a filter."""
        return questions_html(self._space, self._answer(folder), filter_name)

    def show_samples(self, folder: str, selected: gr.EventData) -> str:
        """Return the HTML of the samples of the question in the selected row."""
        return samples_html(self._space, self._answer(folder), int(selected.value))

    def write_file(self, folder: str, selected: gr.EventData) -> Any:
        """Write the download that is selected in the menu, and return an update of its button."""
        self._answer(folder)
        return _file_update(self._downloads.write(folder, selected.value))

    def _answer(self, folder: str) -> Answer:
        """Return the answer in a folder. Raise an error of Gradio if the server has removed it."""
        try:
            return self._downloads.answer(folder)
        except ValueError as error:
            raise gr.Error(escape(str(error)), print_exception=False) from error


def _saved_page(files: Sequence[str]) -> str | None:
    """Return the content of the only file if it is a saved page, and otherwise None."""
    if len(files) > 1 or not files[0].endswith(".txt"):
        return None
    text = Path(files[0]).read_text(encoding="ascii", errors="replace")
    return text if is_saved_page(text) else None


def _file_update(path: str) -> Any:
    """Return the update of the button that downloads a file."""
    return gr.update(value=path, label=f"Download {Path(path).name}")


def parse_correct_outcomes(text: str) -> Reading:
    """Parse "A, B" to {"correct_values": ["A", "B"]}, and ">= 0.75" to {"correct_at_least": 0.75}.

    Return {} for an empty text.

    Raises:
        ValueError: if the text starts with >, and is not >= and a number.
    """
    text = text.strip()
    if not text.startswith((">", "\N{GREATER-THAN OR EQUAL TO}")):
        words = [word.strip() for word in text.split(",") if word.strip()]
        return {"correct_values": words} if words else {}
    least = text.removeprefix(">=").removeprefix("\N{GREATER-THAN OR EQUAL TO}")
    try:
        return {"correct_at_least": float(least)}
    except ValueError as error:
        raise ValueError(
            f"Give the least correct score after >=, such as >= 0.75. Got {text!r:.40}."
        ) from error
