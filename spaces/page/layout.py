"""Create the components of a page."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gradio as gr

from .answer_html import details_html, html_of, result_html
from .asking import ROLES, ROLES_OF_VERDICTS, SEVERAL
from .controls import Choice, Control, NumberField
from .request import MAX_BYTES, MAX_FILES, Answer, Request
from .samples import MAX_QUESTIONS, MAX_SAMPLES, MAX_SAMPLES_PER_QUESTION
from .space import CHECKERS, TITLES, Space

TEXT, FILES = "Paste", "Files"

_REPOSITORY = "https://github.com/evaluate-at-k/evaluate-at-k"
_STATES = {
    "changed": "The inputs have changed since. Press Score.",
    "scoring": "Computing ..",
    "failed": "There is no result: the server did not answer. Press Score to try again.",
    "unknown": "The address has a parameter that this page does not read. Choose an example, or "
    "paste samples, and copy the link of the result.",
    "large": f"The file is too large: at most {MAX_BYTES // 1_000_000} MB are read.",
}
"""What the page says instead of a result, by its state. The script of the page sets the state."""


class Layout:
    """Create the components of a page in the current `gr.Blocks`, and hold them as attributes.

    Attributes:
        number: the number of a request, by which the script of the page tells later from earlier.
        address: the fragment of the address with which the page opens, or "". The script of the
            page fills it in.
        reading: a dict with the visitor's "choices" as a `Reading`, and the "samples" for which
            they were made, as `Request.fingerprint_of_samples` returns them.
        choices, columns, correct: inputs for choosing how samples are read.
        again: the button that forgets what was chosen.
    """

    def __init__(self, answer: Answer):
        """Create the components of the page, which show the answer to the first example."""
        space = answer.space
        self.number = gr.Number(0, visible=False)  # the first of `inputs`, as it is created first
        self.address = gr.Textbox("", visible=False)
        self.reading = gr.State({"choices": {}, "samples": ""})
        gr.HTML(html_of(f"# {TITLES[space.metric]}\n{space.summary}"), elem_id="summary")
        with gr.Column(elem_id="examples"):
            self.examples = [gr.Button(example.name, size="sm") for example in space.examples]
        with gr.Column(elem_id="body"):
            with gr.Column(elem_id="top"):
                states = "".join(f'<p class="{x}">{text}</p>' for x, text in _STATES.items())
                gr.HTML(f'<div role="status">{states}</div>', elem_id="state")
                self.working = gr.HTML(elem_id="working")
                self.problem = gr.HTML(elem_id="problem")
                with gr.Column(elem_id="asking"):
                    self._add_choices(ROLES if space.has_references else ROLES_OF_VERDICTS)
                self.result = gr.HTML(result_html(answer), elem_id="answer")
                self.again = gr.Button(
                    "Read the samples in another way", size="sm", visible=False, elem_id="again"
                )
            with gr.Column(elem_id="inputs"):
                self._add_inputs(answer.request)
            with gr.Column(elem_id="details"):
                self.details = gr.HTML(details_html(answer))
                name = "Make files of the scores, charts and code"
                self.files = gr.Button(name, size="sm", elem_id="make-files")
                self.written = gr.File(
                    file_count="multiple",
                    label="Files",
                    interactive=False,
                    visible=False,
                    elem_id="written",
                )
        about = f"## What it measures\n{_description(space)}\n\n{_links(space)}"
        gr.HTML(html_of(about), elem_id="about")

    def _add_choices(self, roles: Mapping[str, str]) -> None:
        """Add inputs for choosing how samples are read. `roles` has the label of each role."""
        self.choices = gr.Radio([], label="Choose one", visible=False, elem_id="choices")
        info = "separated by commas, such as A, B; or the least score, such as >= 0.75"
        self.correct = gr.Textbox(
            label="Correct outcomes", info=info, visible=False, elem_id="correct"
        )
        self.columns = {
            role: gr.Dropdown(
                [],
                label=f"{label} (one column, or one for each sample)" if role in SEVERAL else label,
                multiselect=role in SEVERAL,
                visible=False,
                elem_id=f"column-{role}",
            )
            for role, label in roles.items()
        }

    def _add_inputs(self, request: Request) -> None:
        """Add the samples, the checker, the button that scores them, and the options."""
        space = request.space
        question, sample = space.nouns
        label = f"{sample.capitalize()}s"
        self.source = gr.Radio(
            [TEXT, FILES], value=TEXT, label=label, elem_id="source", min_width=100
        )
        label = "A table, rows of outcomes, or JSON"
        self.text = gr.Textbox(request.text, lines=6, max_lines=6, label=label, elem_id="text")
        label = f"Up to {MAX_FILES} files, or a saved page"
        self.uploads = gr.File(
            file_count="multiple", label=label, visible=False, height=150, elem_id="files"
        )
        limits = (
            f"At most {MAX_BYTES // 1_000_000} MB, {MAX_QUESTIONS:,} {question}s, "
            f"{MAX_SAMPLES_PER_QUESTION} {sample}s each, {MAX_SAMPLES:,} in all."
        )
        gr.HTML(f"<p>{limits}</p>", elem_id="limits")
        self.checker = gr.Radio(
            list(CHECKERS),
            value=request.checker,
            label="Checker",
            info=f"how a {sample} is compared with its reference; runs no programs",
            visible=space.has_references,
            elem_id="checker",
        )
        self.score = gr.Button("Score", variant="primary", elem_id="score")
        self.controls = {x.name: _control(x, request.shown[x.name]) for x in space.controls}

    @property
    def inputs(self) -> set[Any]:
        """Return the components that hold a request."""
        samples = {self.source, self.text, self.uploads, self.checker, *self.controls.values()}
        choices = {self.reading, self.choices, *self.columns.values(), self.correct}
        return {self.number, self.address} | samples | choices

    @property
    def outputs(self) -> set[Any]:
        """Return the components that a request updates."""
        shown = {self.problem, self.result, self.again, self.details, self.written}
        return shown | (self.inputs - {self.address})


def _control(control: Control, value: Any) -> gr.Number | gr.Radio | gr.Textbox:
    """Return the component of a control, which shows `value`."""
    about: dict[str, Any] = {"label": control.label, "info": control.info, "elem_id": control.name}
    if isinstance(control, Choice):
        choices = [(text, name) for name, text in control.choices.items()]
        return gr.Radio(choices, value=value, **about)
    if not isinstance(control, NumberField):
        return gr.Textbox(value, **about)
    return gr.Number(value, step=control.step, **about)


def _description(space: Space) -> str:
    """Return the description of the metric in its card, without pictures, as Markdown."""
    # The card is the README.md of a bundled Space, or in a clone that of the metric.
    spaces = Path(__file__).resolve().parents[1]
    cards = spaces / "README.md", spaces.parent / "metrics" / space.metric / "README.md"
    card = next(path for path in cards if path.exists()).read_text(encoding="utf-8")
    _, _, description = card.partition("## Metric Description\n")
    return re.sub(r"!\[.*\)\n", "", description.partition("\n## ")[0])


def _links(space: Space) -> str:
    """Return a sentence with links to the other metrics and the package, in Markdown."""
    cards = f"{_REPOSITORY}/tree/main/metrics"
    owner = os.environ.get("SPACE_ID", "").rpartition("/")[0]
    # On the Hub, the other metrics are Spaces of the same owner.
    pages = f"https://huggingface.co/spaces/{owner}" if owner else cards
    others = [
        f"[{title}]({pages}/{name})" for name, title in TITLES.items() if name != space.metric
    ]
    return (
        f"[Card]({cards}/{space.metric}) with the papers. Other metrics: {', '.join(others)}. "
        f"Package, command and charts: [evaluate-at-k]({_REPOSITORY})."
    )
