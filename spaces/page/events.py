"""Handle what a visitor changes or clicks on a page."""

import json
import logging
import tempfile
from collections.abc import Iterator, Sequence
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
from .space import Space

_logger = logging.getLogger(__name__)

Values = dict[Any, Any]
"""A value or an update for each component, by component."""

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
    layout.source.input(
        handlers.show_source,
        layout.source,
        [layout.text, layout.files],
        queue=False,
        trigger_mode="always_last",  # the answer to an earlier choice would hide what is chosen
        **private,
    )
    clicks = [button.click for button in (layout.score, *layout.examples)]
    others = [layout.choices.input, layout.chosen.input, layout.address.change]
    options = [component.input for component in layout.controls.values()]
    for triggers, js, mode in (
        # Each of these events starts at once: a later request of a visitor ends an earlier one.
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
    quick: dict[str, Any] = {"show_progress": "hidden", **private}
    by_filter = [layout.folder, layout.filter]
    layout.filter.input(handlers.show_questions, by_filter, layout.questions, **quick)
    last: dict[str, Any] = {"trigger_mode": "always_last"}
    layout.questions.select(handlers.show_samples, layout.folder, layout.samples, **last, **quick)
    layout.download.select(handlers.write_file, layout.folder, layout.file, **last, **private)
    layout.copy_link.click(None, None, layout.copy_link, js="() => page.copyLink()", **private)


class Handlers:
    """Handle the events of a page."""

    def __init__(self, space: Space, layout: Layout, downloads: Downloads):
        self._space = space
        self._layout = layout
        self._downloads = downloads
        self._latest: dict[str | None, int] = {}  # the number of the last request of each session

    def score(self, values: Values, visitor: gr.Request, event: gr.EventData) -> Iterator[Values]:
        """Yield updates that show the answer to a request, until the visitor makes a later one.

        The page numbers the requests of a visitor, because a server that gets two at once may start
        either one first.
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
        """Yield {} every second, and then updates that show the answer or the problem.

        `trigger` is the component that the visitor has used.
        """
        request: Request | None = None
        updates: Values = {}
        try:
            with tempfile.TemporaryDirectory() as folder:
                request, updates = self._request(trigger, values, Path(folder))
                for answer in score_in_steps(request):
                    yield updates | self._answer_updates(request, answer) if answer else {}
        except ValueError as error:
            yield updates | self._problem_updates(request, error)
        except Exception:
            _logger.exception("Unexpected error while preparing the scores for the page")
            yield self._problem_updates(None, ValueError(_UNEXPECTED))

    # --- Requests ---------------------------------------------------------------------------

    def _request(self, trigger: Any, values: Values, folder: Path) -> tuple[Request, Values]:
        """Return the request of an example, the address or the inputs, and updates of the inputs.

        The updates let the inputs show the request. Files of a link or a saved page are written to
        `folder`. Raises a ValueError if the request is incomplete or invalid.
        """
        space, layout = self._space, self._layout
        if trigger in layout.examples:
            request = example_request(space, space.examples[layout.examples.index(trigger)])
        elif trigger is not layout.address:
            request = self._request_from_inputs(values)
            if (text := _saved_page(request.files)) is None:
                return request, {}
            request = opened_request(space, text, folder)
        elif (address := values[layout.address]).startswith("#"):
            request = opened_request(space, address[1:], folder)
        else:
            check_parameters(dict(parse_qsl(address[1:])))
            request = example_request(space, space.examples[0])
        return request, self._input_updates(request)

    def _request_from_inputs(self, values: Values) -> Request:
        """Return the request that the inputs hold. Choices made for other samples are left out.

        Raises a ValueError if the request is incomplete or invalid.
        """
        layout = self._layout
        options = {name: values[component] for name, component in layout.controls.items()}
        samples: dict[str, Any] = {"text": values[layout.text] or ""}
        if values[layout.source] == FILES:
            # Gradio passes instances of its own str class. A worker process could not load them
            # without importing Gradio.
            samples = {"files": tuple(map(str, values[layout.files] or ()))}
            if not samples["files"]:
                raise ValueError("There are no files. Choose one, or paste samples.")
            if len(samples["files"]) > MAX_FILES:
                number = len(samples["files"])
                raise ValueError(f"{number} files are too many. The limit is {MAX_FILES}.")
        request = make_request(self._space, values[layout.checker], options, **samples)
        # The visitor made the choices for the samples with the fingerprint `asked_for`.
        if request.fingerprint_of_samples() == values[layout.asked_for]:
            request = replace(request, reading=self._reading(values))
        return request

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
            **self._asking_updates(request),
        }

    def _problem_updates(self, request: Request | None, problem: ValueError) -> Values:
        """Return updates that show a problem, and the inputs for choices, instead of the answer."""
        layout = self._layout
        asking = problem if isinstance(problem, ChoiceError) else None
        return {
            layout.problem: gr.update(value=problem_html(str(problem)), visible=True),
            layout.answer: gr.update(visible=False),
            layout.details: gr.update(visible=False),
            **(self._asking_updates(request, asking) if request else {}),
        }

    def _asking_updates(self, request: Request, asking: ChoiceError | None = None) -> Values:
        """Return updates that list the choices in a request, and show the inputs for new ones.

        Depending on the error, these are a list of choices, a field for the correct outcomes, and
        menus of columns. Without an error they are hidden.
        """
        layout, reading, asking = self._layout, request.reading, asking or ChoiceError()
        choices = [(choice_in_words(choice), json.dumps(choice)) for choice in asking.choices]
        chosen = [
            (choice_in_words({name: value}), json.dumps({name: value}))
            for name, value in reading.items()
            if not name.startswith("correct_")
        ]
        correct = correct_outcomes_text(reading)
        columns = [("none", ""), *((name, name) for name in asking.columns)]
        updates: Values = {
            layout.choices: gr.update(choices=choices, value=None, visible=bool(choices)),
            layout.correct: gr.update(value=correct, visible=asking.asks_correct or bool(correct)),
            layout.chosen: gr.update(
                choices=chosen, value=[choice for _, choice in chosen], visible=bool(chosen)
            ),
        }
        for role, component in layout.columns.items():
            value = reading[role] if reading.get(role) in asking.columns else ""
            is_asked = bool(asking.columns)
            updates[component] = gr.update(choices=columns, value=value, visible=is_asked)
        is_open = any(update["visible"] for update in updates.values())
        updates[layout.asking] = gr.update(visible=is_open)
        return updates | {layout.asked_for: request.fingerprint_of_samples()}

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
    if len(files) != 1 or not files[0].endswith(".txt"):
        return None
    text = Path(files[0]).read_text(encoding="ascii", errors="replace")
    return text if is_saved_page(text) else None


def _file_update(path: str) -> Any:
    """Return the update of the button that downloads a file."""
    return gr.update(value=path, label=f"Download {Path(path).name}")


def correct_outcomes_text(reading: Reading) -> str:
    """Return the text from which `parse_correct_outcomes` returns the correct outcomes again."""
    if "correct_at_least" in reading:
        return f">= {reading['correct_at_least']:g}"
    return ", ".join(reading.get("correct_values", ()))


def parse_correct_outcomes(text: str) -> Reading:
    """Parse "A, B" to {"correct_values": ["A", "B"]}, and ">= 0.75" to {"correct_at_least": 0.75}.

    Return {} for an empty text. Raise a ValueError if it starts with >, and is not >= and a number.
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
