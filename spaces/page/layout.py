"""The components of a page."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.components import Component

from .answer_html import html_of
from .asking import ROLES
from .controls import Choice, Control, TextField
from .question_table import ALL, FILTERS
from .received import MAX_BYTES
from .request import Request
from .samples import MAX_SAMPLES
from .space import CHECKERS, TITLES, Space

TEXT, FILES = "Paste", "Files"
COPY_LINK = "Copy link"

_REPOSITORY = "https://github.com/evaluate-at-k/evaluate-at-k"
_STATES = {
    "changed": "The inputs have changed since. Press Score.",
    "scoring": "Computing ..",
    "stopped": "Stopped: these inputs have no result yet.",
    "failed": "There is no result: the server did not answer. Press Score to try again.",
    "large": f"The file is too large: at most {MAX_BYTES // 1_000_000} MB are read.",
}
"""What is said instead of a result. The script of the page sets the state."""


@dataclass(frozen=True)
class Inputs:
    """The components that hold a request.

    Attributes:
        is_narrow: whether charts are drawn for a phone. The script of the page says so.
        address: what the address has after its path when the page opens, from the script too.
        source: the choice between `text` and `files`.
        text, files: the samples.
        checker: the choice of the checker.
        controls: the component of each option, by its name.
        ways: the choices that the rules of reading need, if they need one.
        chosen: what was chosen of these.
        columns: the column of each role, if they have no usual names.
        correct: the outcomes that are correct, if they are other words or scores.
        asked_for: the fingerprint of the samples for which these were chosen.
        lowered: for each option that was lowered to the number of samples, the value that was used
            and the one that was requested.
    """

    is_narrow: gr.Checkbox
    address: gr.Textbox
    source: gr.Radio
    text: gr.Textbox
    files: gr.File
    checker: gr.Radio
    controls: dict[str, gr.Number | gr.Radio | gr.Textbox]
    ways: gr.Radio
    chosen: gr.CheckboxGroup
    columns: dict[str, gr.Dropdown]
    correct: gr.Textbox
    asked_for: gr.State
    lowered: gr.State

    @property
    def answers(self) -> list[Component]:
        """Those that answer what the rules of reading ask."""
        return [
            self.ways,
            self.chosen,
            *self.columns.values(),
            self.correct,
            self.asked_for,
            self.lowered,
        ]

    @property
    def components(self) -> set[Component]:
        """All of them."""
        samples = {self.source, self.text, self.files, self.checker}
        return {self.is_narrow, self.address, *samples, *self.controls.values(), *self.answers}


@dataclass(frozen=True)
class Outputs:
    """The components that show an answer, or why there is none.

    Attributes:
        problem: why there is no answer.
        asking: the column with the inputs that answer what the rules of reading ask.
        answer, details: the columns with the answer.
        working: where the progress is shown.
        result: the result in words.
        first_chart, scores, charts, code: parts of the details.
        only: which questions are shown.
        questions: the questions and their samples.
        samples: the samples of the question that the visitor selects.
        download: the choice of what to download.
        file: the button that downloads it.
        copy_link: the button that copies the address of the result.
        folder: the folder of the answer, see `Downloads`.
    """

    problem: gr.HTML
    asking: gr.Column
    answer: gr.Column
    details: gr.Column
    working: gr.HTML
    result: gr.HTML
    first_chart: gr.HTML
    scores: gr.HTML
    charts: gr.HTML
    code: gr.HTML
    only: gr.Radio
    questions: gr.HTML
    samples: gr.HTML
    download: gr.HTML
    file: gr.DownloadButton
    copy_link: gr.Button
    folder: gr.State

    @property
    def components(self) -> set[Any]:
        """Those that a request updates."""
        return {*vars(self).values()} - {self.working}


@dataclass(frozen=True)
class Layout:
    """The components of a page that take part in events.

    Attributes:
        examples: the button of each example.
        inputs, outputs: the components that hold a request, and that show its answer.
        score, stop: the buttons that begin and end a request.
    """

    examples: list[gr.Button]
    inputs: Inputs
    outputs: Outputs
    score: gr.Button
    stop: gr.Button


def build_layout(space: Space, request: Request, shown: dict[str, Any]) -> Layout:
    """Create the components of a page in the current `gr.Blocks`.

    Args:
        space: the description of the Space.
        request: the request of the first example.
        shown: the values of the components of its answer, by their names in `Outputs`.
    """
    is_narrow = gr.Checkbox(visible=False)
    address = gr.Textbox("", visible=False)
    gr.HTML(title_html(space), elem_id="summary")
    with gr.Column(elem_id="examples"):
        examples = [gr.Button(example.name, size="sm") for example in space.examples]
    with gr.Column(elem_id="body"):
        with gr.Column(elem_id="top"):
            states = "".join(f'<p class="{x}">{text}</p>' for x, text in _STATES.items())
            gr.HTML(f'<div role="status">{states}</div>', elem_id="state")
            working = gr.HTML(elem_id="working")
            stop = gr.Button("Stop", size="sm", elem_id="stop")
            problem = gr.HTML(visible=False, elem_id="problem")
            asking, answers = _answers_of_questions()
            with gr.Column(elem_id="answer") as answer:
                result = gr.HTML(shown["result"], elem_id="result")
        with gr.Column(elem_id="inputs"):
            inputs, score = _inputs(space, request, (is_narrow, address), answers)
        with gr.Column(elem_id="details") as details:
            first_chart = gr.HTML(shown["first_chart"], elem_classes="charts")
            scores = gr.HTML(shown["scores"])
            gr.HTML(
                f'<h2>{space.row_noun.capitalize()}s</h2><p class="caption">Select a row to read '
                f"its {space.cell_noun}s in full.</p>"
            )
            only = gr.Radio(
                list(FILTERS),
                value=ALL,
                label=f"Which {space.row_noun}s",
                show_label=False,
                container=False,
                visible=space.has_references,
                elem_id="only",
            )
            questions = gr.HTML(
                shown["questions"],
                js_on_load="page.followRows(element, trigger)",
                elem_id="questions",
            )
            samples = gr.HTML(elem_id="samples")
            charts = gr.HTML(shown["charts"], elem_classes="charts")
            code = gr.HTML(shown["code"], elem_id="code")
            with gr.Column(elem_id="downloads"):
                download = gr.HTML(
                    shown["download"],
                    js_on_load="page.followMenu(element, trigger)",
                    elem_id="download",
                )
                file = gr.DownloadButton(
                    f"Download {Path(shown['file']).name}",
                    shown["file"],
                    size="sm",
                    elem_id="file",
                )
                copy_link = gr.Button(COPY_LINK, size="sm", elem_id="copy-link")
    gr.HTML(html_of(f"## What it measures\n{space.about}\n\n{_links(space)}"), elem_id="about")
    outputs = Outputs(
        problem=problem,
        asking=asking,
        answer=answer,
        details=details,
        working=working,
        result=result,
        first_chart=first_chart,
        scores=scores,
        charts=charts,
        code=code,
        only=only,
        questions=questions,
        samples=samples,
        download=download,
        file=file,
        copy_link=copy_link,
        folder=gr.State(shown["folder"]),
    )
    return Layout(examples, inputs, outputs, score, stop)


def title_html(space: Space) -> str:
    """Return the title of a page and what its metric measures."""
    return html_of(f"# {space.title}\n{space.summary}")


def _answers_of_questions() -> tuple[gr.Column, dict[str, Any]]:
    """Create the inputs that answer what the rules of reading ask, in a hidden column."""
    with gr.Column(visible=False, elem_id="asking") as asking:
        ways = gr.Radio([], label="Choose one", visible=False, elem_id="ways")
        columns = {
            role: gr.Dropdown(
                [("none", "")], value="", label=label, visible=False, elem_id=f"column-{role}"
            )
            for role, label in ROLES.items()
        }
        correct = gr.Textbox(
            label="Correct outcomes",
            info="separated by commas, such as A, B; or the least score, such as >= 0.75",
            visible=False,
            elem_id="correct",
        )
        chosen = gr.CheckboxGroup([], label="You have chosen", visible=False, elem_id="chosen")
    answers = {"ways": ways, "chosen": chosen, "columns": columns, "correct": correct}
    return asking, answers


def _inputs(
    space: Space, request: Request, from_script: tuple[Any, Any], answers: dict[str, Any]
) -> tuple[Inputs, gr.Button]:
    """Create the components that hold a request, and the button that scores it."""
    cell = space.cell_noun
    source = gr.Radio(
        [TEXT, FILES], value=TEXT, label=f"{cell.capitalize()}s", elem_id="source", min_width=100
    )
    text = gr.Textbox(
        request.text,
        lines=6,
        max_lines=6,
        label="A table, rows of outcomes, JSON, or the name of a dataset on the Hub",
        elem_id="text",
    )
    files = gr.File(
        file_count="multiple",
        label=f"One file, or up to {space.max_files} to compare, or a saved page",
        visible=False,
        height=150,
        elem_id="files",
    )
    programs = " Programs are not run here." if space.has_references else ""
    gr.HTML(
        f"<p>At most {MAX_BYTES // 1_000_000} MB and {MAX_SAMPLES:,} {cell}s.{programs}</p>",
        elem_id="limits",
    )
    checker = gr.Radio(
        list(CHECKERS),
        value=request.checker,
        label="Checker",
        info=f"how a {cell} is compared with its reference",
        visible=space.has_references,
        elem_id="checker",
    )
    score = gr.Button("Score", variant="primary", elem_id="score")
    controls = {x.name: _control(x, request.raw_options[x.name]) for x in space.controls}
    inputs = Inputs(
        *from_script,
        source,
        text,
        files,
        checker,
        controls,
        **answers,
        asked_for=gr.State(""),
        lowered=gr.State({}),
    )
    return inputs, score


def _control(control: Control, value: Any) -> gr.Number | gr.Radio | gr.Textbox:
    about: dict[str, Any] = {"label": control.label, "info": control.info, "elem_id": control.name}
    if isinstance(control, Choice):
        choices = [(text, name) for name, text in control.choices.items()]
        return gr.Radio(choices, value=value, **about)
    if isinstance(control, TextField):
        return gr.Textbox(value, **about)
    if not control.limited_by_samples:
        about["info"] += f", {control.minimum:g} to {control.maximum:g}"
    return gr.Number(value, step=control.step, **about)


def _links(space: Space) -> str:
    """Return a sentence with links to the other metrics and the package, in Markdown.

    On the Hub, the other metrics are Spaces of the same owner. Elsewhere, the links lead to their
    cards.
    """
    owner = os.environ.get("SPACE_ID", "").rpartition("/")[0]
    pages = (
        f"https://huggingface.co/spaces/{owner}" if owner else f"{_REPOSITORY}/tree/main/metrics"
    )
    others = [
        f"[{title}]({pages}/{name})" for name, title in TITLES.items() if name != space.metric
    ]
    package = f"[evaluate-at-k]({_REPOSITORY})"
    return f"Other metrics: {', '.join(others)}. Package, command and charts: {package}."
