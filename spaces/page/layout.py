"""Create the components of a page."""

import os
import re
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.components import Component

from .answer_html import html_of
from .asking import ROLES
from .controls import Choice, Control, NumberField
from .question_table import ALL, FILTERS
from .request import MAX_SAMPLES_PER_QUESTION, Request
from .samples import MAX_BYTES, MAX_FILES, MAX_QUESTIONS, MAX_SAMPLES
from .space import CHECKERS, TITLES, Space

TEXT, FILES = "Paste", "Files"
COPY_LINK = "Copy link"
NO_LINK = "No link: the samples are too large for an address. Share the download of this page."

_REPOSITORY = "https://github.com/evaluate-at-k/evaluate-at-k"
_STATES = {
    "changed": "The inputs have changed since. Press Score.",
    "scoring": "Computing ..",
    "failed": "There is no result: the server did not answer. Press Score to try again.",
    "large": f"The file is too large: at most {MAX_BYTES // 1_000_000} MB are read.",
}
"""What the page says instead of a result, by its state. The script of the page sets the state."""


class Layout:
    """Create the components of a page in the current `gr.Blocks`, and hold them as attributes.

    Attributes:
        address: the fragment or the query of the address with which the page opens, or "". The
            script of the page fills it in.
        number: the number of a request, by which the script of the page tells later from earlier.
        examples: the button of each example.
        problem: the box that says why there is no answer.
        asking: the column with inputs for choosing how samples are read.
        answer, details: the columns with the result in words, and with charts, tables and files.
        folder: the path of the folder of the answer in `Downloads`.
        asked_for: the fingerprint of the samples for which `asking` holds choices, or "".
    """

    def __init__(self, space: Space, request: Request, shown: dict[str, Any]):
        """Create the components, which show the request of the first example.

        `shown` is its answer, as `shown_values` returns it.
        """
        self.number = gr.Number(0, visible=False)  # the first of `inputs`, as it is created first
        self.address = gr.Textbox("", visible=False)
        self.folder, self.asked_for = gr.State(shown["folder"]), gr.State("")
        title = f"# {TITLES[space.metric]}\n{space.summary}"
        gr.HTML(html_of(title), elem_id="summary")
        with gr.Column(elem_id="examples"):
            self.examples = [gr.Button(example.name, size="sm") for example in space.examples]
        with gr.Column(elem_id="body"):
            with gr.Column(elem_id="top"):
                states = "".join(f'<p class="{x}">{text}</p>' for x, text in _STATES.items())
                gr.HTML(f'<div role="status">{states}</div>', elem_id="state")
                self.working = gr.HTML(elem_id="working")
                self.problem = gr.HTML(visible=False, elem_id="problem")
                with gr.Column(visible=False, elem_id="asking") as self.asking:
                    self._add_choices()
                with gr.Column(elem_id="answer") as self.answer:
                    self.result = gr.HTML(shown["result"], elem_id="result")
            with gr.Column(elem_id="inputs"):
                self._add_inputs(space, request)
            with gr.Column(elem_id="details") as self.details:
                self._add_details(space, shown)
        about = f"## What it measures\n{_description(space)}\n\n{_links(space)}"
        gr.HTML(html_of(about), elem_id="about")

    def _add_choices(self) -> None:
        """Add inputs for choosing how samples are read, and a list of what was chosen before."""
        self.choices = gr.Radio([], label="Choose one", visible=False, elem_id="choices")
        self.columns = {
            role: gr.Dropdown(
                [("none", "")], value="", label=label, visible=False, elem_id=f"column-{role}"
            )
            for role, label in ROLES.items()
        }
        info = "separated by commas, such as A, B; or the least score, such as >= 0.75"
        self.correct = gr.Textbox(
            label="Correct outcomes", info=info, visible=False, elem_id="correct"
        )
        self.chosen = gr.CheckboxGroup([], label="You have chosen", visible=False, elem_id="chosen")

    def _add_inputs(self, space: Space, request: Request) -> None:
        """Add the samples, the checker, the button that scores them, and the options."""
        sample, megabytes = space.sample_noun, MAX_BYTES // 1_000_000
        label = f"{sample.capitalize()}s"
        self.source = gr.Radio(
            [TEXT, FILES], value=TEXT, label=label, elem_id="source", min_width=100
        )
        label = "A table, rows of outcomes, or JSON"
        self.text = gr.Textbox(request.text, lines=6, max_lines=6, label=label, elem_id="text")
        label = f"Up to {MAX_FILES} files, or a saved page"
        self.files = gr.File(
            file_count="multiple", label=label, visible=False, height=150, elem_id="files"
        )
        limits = (
            f"At most {megabytes} MB, {MAX_QUESTIONS:,} {space.question_noun}s, "
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

    def _add_details(self, space: Space, shown: dict[str, Any]) -> None:
        """Add the components below the result: charts, tables, questions, code and downloads."""
        question = space.question_noun
        self.charts = gr.HTML(shown["charts"], elem_classes="charts")
        self.scores = gr.HTML(shown["scores"])
        gr.HTML(
            f'<h2>{question.capitalize()}s</h2><p class="caption">Select a row to read its '
            f"{space.sample_noun}s in full.</p>"
        )
        self.filter = gr.Radio(
            list(FILTERS),
            value=ALL,
            label=f"Which {question}s",
            show_label=False,
            container=False,
            visible=space.has_references,
            elem_id="filter",
        )
        script = "page.followRows(element, trigger)"
        self.questions = gr.HTML(shown["questions"], js_on_load=script, elem_id="questions")
        self.samples = gr.HTML(elem_id="samples")
        self.code = gr.HTML(shown["code"], elem_id="code")
        with gr.Column(elem_id="downloads"):
            script = "page.followMenu(element, trigger)"
            self.download = gr.HTML(shown["download"], js_on_load=script, elem_id="download")
            self.file = gr.DownloadButton(
                f"Download {Path(shown['file']).name}", shown["file"], size="sm", elem_id="file"
            )
            self.copy_link = gr.Button(COPY_LINK, size="sm", elem_id="copy-link")

    @property
    def inputs(self) -> set[Component]:
        """Return the components that hold a request."""
        samples = {self.number, self.address, self.source, self.text, self.files, self.checker}
        choices = {self.choices, self.chosen, *self.columns.values(), self.correct, self.asked_for}
        return samples | choices | {*self.controls.values()}

    @property
    def outputs(self) -> set[Any]:
        """Return the components that a request updates."""
        columns = {self.asking, self.answer, self.details}
        details = {self.charts, self.scores, self.filter, self.questions, self.samples}
        ends = {self.code, self.download, self.file, self.copy_link, self.folder}
        updated_inputs = self.inputs - {self.address}
        return {self.problem, self.result} | columns | details | ends | updated_inputs


def _control(control: Control, value: Any) -> gr.Number | gr.Radio | gr.Textbox:
    """Return the component of a control, which shows `value`."""
    about: dict[str, Any] = {"label": control.label, "info": control.info, "elem_id": control.name}
    if isinstance(control, Choice):
        choices = [(text, name) for name, text in control.choices.items()]
        return gr.Radio(choices, value=value, **about)
    if not isinstance(control, NumberField):
        return gr.Textbox(value, **about)
    if control.name != "k":  # the largest k depends on the samples
        about["info"] += f", {control.minimum:g} to {control.maximum:g}"
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
