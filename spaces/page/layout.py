"""The components of a page, and where they are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.blocks import Block
from gradio.components.plot import PlotData

from .charts import Chart
from .controls import Control, Slider, TextField
from .markup import caption_html
from .request import Answer, Request
from .samples import MAX_BYTES, MAX_QUESTIONS, MAX_SAMPLES, MAX_SAMPLES_PER_QUESTION
from .space import CHECKERS, Example, Options, Space
from .view import View

TABLE, TEXT, FILES = "Table", "Paste", "Files"

_LATEX: list[dict[str, str | bool]] = [
    {"left": "$$", "right": "$$", "display": True},
    {"left": "$", "right": "$", "display": False},
]
_PLACEHOLDER = """\
{"predictions": ["12", "13", "12"], "reference": "12"}
{"predictions": ["7", "7", "8"], "reference": "7"}

or CSV with a sample in each row:

question,prediction,reference
q1,12,12
q1,13,12"""


def _pass_on(slider: gr.Slider, payload: Any) -> Any:
    """Pass on every value of a slider, so that the page says in a sentence what is wrong."""
    return payload


# Not in a class of its own: Gradio writes a file beside the module of each class of components.
gr.Slider.preprocess = _pass_on  # type: ignore[assignment,method-assign]


@dataclass(frozen=True)
class Shown:
    """What a page shows.

    Attributes:
        fingerprint: that of the request whose answer is shown, or "" if a problem is shown.
        requested: the limited options as the visitor requested them.
        used: the limited options as the sliders show them, which can be lower.
    """

    fingerprint: str
    requested: Options
    used: Options

    @classmethod
    def of(cls, request: Request, answer: Answer) -> Shown:
        """Return what a page shows for a request and its answer."""
        requested, used = (
            {name: options[name] for name in request.limited_options}
            for options in (request.options, answer.options)
        )
        return cls(request.fingerprint(), requested, used)


@dataclass(frozen=True)
class Inputs:
    """The components that hold a request.

    Attributes:
        source: the choice among `table`, `text` and `files`.
        table: the samples as a table.
        text: the samples as text.
        files: the samples as files.
        checker: the choice of the checker.
        controls: the component of each option, by its name.
        shown: what the page shows, a `Shown`.
    """

    source: gr.Radio
    table: gr.Dataframe
    text: gr.Textbox
    files: gr.File
    checker: gr.Dropdown
    controls: dict[str, gr.Slider | gr.Textbox]
    shown: gr.State

    @property
    def by_source(self) -> dict[str, gr.Dataframe | gr.Textbox | gr.File]:
        """The component of each choice of the source."""
        return {TABLE: self.table, TEXT: self.text, FILES: self.files}

    def components(self) -> list[Block]:
        """Return all of them."""
        samples = [self.source, self.table, self.text, self.files]
        return [*samples, self.checker, *self.controls.values(), self.shown]


@dataclass(frozen=True)
class ChartOutput:
    """The components that show a chart."""

    caption: gr.HTML
    plot: gr.Plot


@dataclass(frozen=True)
class Outputs:
    """The components that show an answer, or why there is none.

    Attributes:
        problem: why there is no new answer. Hidden if there is one.
        working: the column with the progress and a button to cancel. Hidden if nothing is checked.
        progress: how much is checked.
        answer: the column with the result and the first chart.
        details: the column with everything else.
        result: the result in words.
        charts: the charts, in the order of the Space.
        table: the table of scores.
        scores_file: the button that downloads the scores.
        code: the Python code.
    """

    problem: gr.HTML
    working: gr.Column
    progress: gr.HTML
    answer: gr.Column
    details: gr.Column
    result: gr.HTML
    charts: list[ChartOutput]
    table: gr.HTML
    scores_file: gr.DownloadButton
    code: gr.Code

    def components(self) -> list[Block]:
        """Return all of them."""
        charts = [part for chart in self.charts for part in (chart.caption, chart.plot)]
        columns = [self.problem, self.working, self.progress, self.answer, self.details]
        return [*columns, self.result, *charts, self.table, self.scores_file, self.code]


@dataclass(frozen=True)
class Layout:
    """The components of a page that take part in events.

    Attributes:
        examples: the button of each example.
        inputs: the components that hold a request.
        outputs: the components that show an answer.
        cancel: the button that ends a request.
        image_button: the button that asks for the charts as an image.
        image: a hidden button that downloads the image.
    """

    examples: list[gr.Button]
    inputs: Inputs
    outputs: Outputs
    cancel: gr.Button
    image_button: gr.Button
    image: gr.DownloadButton


class ThemedPlot(PlotData):
    """A plot that Gradio draws in the colors and the width of the page."""

    chart: str = "themed"


def build_layout(space: Space, request: Request, answer: Answer, view: View) -> Layout:
    """Create the components of a page in the current `gr.Blocks`, with the first example on it.

    Args:
        space: the description of the Space.
        request: the request of the first example.
        answer: its scores.
        view: what is shown for them.
    """
    with gr.Column(elem_id="head"):
        gr.Markdown(f"# {space.title}\n{space.summary}", elem_id="summary")
        with gr.Row(elem_id="examples"):
            examples = [gr.Button(example.name, size="sm") for example in space.examples]
    with gr.Row(elem_id="body"):
        with gr.Column(elem_id="answer"):
            problem = gr.HTML(visible=False)
            with gr.Column(visible=False, elem_id="working") as working:
                progress = gr.HTML()
                cancel = gr.Button("Cancel", size="sm")
            with gr.Column() as answer_column:
                result = gr.HTML(view.result)
                charts = [_chart_output(view.charts[0])]
        with gr.Column(elem_id="inputs"):
            inputs = _build_inputs(space, request, answer)
        with gr.Column(elem_id="details") as details:
            charts += [_chart_output(chart) for chart in view.charts[1:]]
            gr.HTML("<h3>Scores</h3>")
            table = gr.HTML(view.table)
            with gr.Row(elem_id="downloads"):
                scores_file = gr.DownloadButton("Scores as JSON", view.scores_file, elem_id="json")
                image_button = gr.Button("Charts as PNG", elem_id="png")
                image = gr.DownloadButton(visible="hidden", elem_id="image")
            gr.HTML("<h3>Python code for these scores</h3>")
            code = gr.Code(
                view.code,
                language="python",
                interactive=False,
                max_lines=16,
                show_label=False,
                elem_id="code",
            )
    gr.Markdown(f"## What it measures\n{space.about}", elem_id="about", latex_delimiters=_LATEX)
    outputs = Outputs(
        problem=problem,
        working=working,
        progress=progress,
        answer=answer_column,
        details=details,
        result=result,
        charts=charts,
        table=table,
        scores_file=scores_file,
        code=code,
    )
    return Layout(examples, inputs, outputs, cancel, image_button, image)


def plot_data(chart: Chart) -> PlotData:
    """Return a chart in the form that `gr.Plot` takes."""
    return ThemedPlot(type="altair", plot=json.dumps(chart.spec))


def slider_maximum(slider: Slider, answer: Answer) -> float:
    """Return how far a slider goes for the samples of an answer."""
    if not slider.limited_by_samples:
        return slider.maximum
    return max(2, min(min(run.sample_counts) for run in answer.runs))


def table_with_headers(space: Space, example: Example) -> list[list[str]]:
    """Return the table of an example, with a row of headers above it."""
    rows = example.table or []
    samples = max(map(len, rows), default=4) - len(space.headers)
    numbers = [str(number) for number in range(1, samples + 1)]
    return [[*space.headers, *numbers], *rows]


def _build_inputs(space: Space, request: Request, answer: Answer) -> Inputs:
    example = space.examples[0]
    source = gr.Radio([TABLE, TEXT, FILES], value=TABLE, label="Samples", elem_id="source")
    headers, *rows = table_with_headers(space, example)
    table = gr.Dataframe(
        rows,
        headers=headers,
        datatype="str",
        interactive=True,
        show_label=False,
        max_height=300,
        column_widths=_column_widths(headers),
        elem_id="table",
    )
    text = gr.Textbox(
        placeholder=_PLACEHOLDER,
        lines=9,
        max_lines=9,
        max_length=MAX_BYTES,
        label="JSON Lines or CSV",
        visible=False,
        elem_id="text",
    )
    files = gr.File(
        file_count="multiple",
        label=f"{_files_label(space)} (JSON Lines or CSV)",
        visible=False,
        height=160,
        elem_id="files",
    )
    row, cell = space.row_noun, space.cell_noun
    gr.Markdown(
        f"One {row} per row, one {cell} per column. At most {MAX_QUESTIONS:,} {row}s, "
        f"{MAX_SAMPLES_PER_QUESTION} {cell}s per {row}, {MAX_SAMPLES:,} {cell}s in total, and "
        f"{MAX_BYTES // 1_000_000} MB per file.",
        elem_id="limits",
    )
    checker = gr.Dropdown(
        list(CHECKERS),
        value=example.checker,
        label="Checker",
        info=f"how a {cell} is compared with the reference",
        visible=space.has_references,
        elem_id="checker",
    )
    controls = {
        control.name: _control_component(control, example, answer) for control in space.controls
    }
    shown = gr.State(Shown.of(request, answer))
    return Inputs(source, table, text, files, checker, controls, shown)


def _column_widths(headers: Sequence[str]) -> list[str | int]:
    """Return the widths of the columns in pixels. Samples, numbered 1, 2, .., are narrow."""
    return [64 if header.isdigit() else 96 for header in headers]


def _files_label(space: Space) -> str:
    return "One file, or two to compare" if space.max_files > 1 else "One file"


def _chart_output(chart: Chart) -> ChartOutput:
    caption = gr.HTML(caption_html(chart))
    plot = gr.Plot(plot_data(chart), show_label=False, elem_classes="chart")
    return ChartOutput(caption, plot)


def _control_component(
    control: Control, example: Example, answer: Answer
) -> gr.Slider | gr.Textbox:
    value = example.options.get(control.name, control.value)
    if isinstance(control, TextField):
        return gr.Textbox(value, label=control.label, info=control.info, elem_id=control.name)
    return gr.Slider(
        control.minimum,
        slider_maximum(control, answer),
        value,
        step=control.step,
        label=control.label,
        info=control.info,
        elem_id=control.name,
    )
