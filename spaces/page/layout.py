"""The components of a page, and where they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
from at_k.charts.figure import Figure
from gradio.blocks import Block
from gradio.components.plot import PlotData

from .charts import Chart
from .controls import Control, Slider, TextField
from .downloads import CHART_FORMATS
from .figures import DESKTOP, page_spec
from .links import links
from .markup import caption_html
from .request import Answer, Request
from .samples import MAX_BYTES, MAX_QUESTIONS, MAX_SAMPLES, MAX_SAMPLES_PER_QUESTION
from .score_tables import FORMATS
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
        folder: the folder of the answer, see `Downloads`.
        requested: the limited options as the visitor requested them.
        used: the limited options as the sliders show them, which can be lower.
    """

    fingerprint: str
    folder: str
    requested: Options
    used: Options

    @classmethod
    def of(cls, fingerprint: str, request: Request, answer: Answer, folder: str) -> Shown:
        """Return what a page shows for a request and its answer."""
        requested, used = (
            {name: options[name] for name in request.limited_options}
            for options in (request.options, answer.options)
        )
        return cls(fingerprint, folder, requested, used)


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
        inches: for which width the charts are drawn, one of `WIDTHS`.
        shown: what the page shows, a `Shown`.
    """

    source: gr.Radio
    table: gr.Dataframe
    text: gr.Textbox
    files: gr.File
    checker: gr.Dropdown
    controls: dict[str, gr.Slider | gr.Textbox]
    inches: gr.Number
    shown: gr.State

    @property
    def by_source(self) -> dict[str, gr.Dataframe | gr.Textbox | gr.File]:
        """The component of each choice of the source."""
        return {TABLE: self.table, TEXT: self.text, FILES: self.files}

    def components(self) -> list[Block]:
        """Return all of them."""
        samples = [self.source, self.table, self.text, self.files]
        return [*samples, self.checker, *self.controls.values(), self.inches, self.shown]


@dataclass(frozen=True)
class ChartOutput:
    """The components that show a chart.

    Attributes:
        column: what holds them. Hidden if the runs do not have this chart.
        caption: the title and the explanation.
        plot: the chart.
        buttons: a button for each format of files.
    """

    column: gr.Column
    caption: gr.HTML
    plot: gr.Plot
    buttons: dict[str, gr.Button]

    def components(self) -> list[Block]:
        """Return those that an answer updates."""
        return [self.column, self.caption, self.plot]


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
        questions: the table of questions.
        samples: the samples of the question that the visitor selects.
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
    questions: gr.Dataframe
    samples: gr.HTML

    def components(self) -> list[Block]:
        """Return all of them."""
        charts = [part for chart in self.charts for part in chart.components()]
        columns = [self.problem, self.working, self.progress, self.answer, self.details]
        results = [self.result, *charts, self.table, self.scores_file, self.code]
        return [*columns, *results, self.questions, self.samples]


@dataclass(frozen=True)
class Layout:
    """The components of a page that take part in events.

    Attributes:
        examples: the button of each example.
        inputs: the components that hold a request.
        outputs: the components that show an answer.
        cancel: the button that ends a request.
        table_buttons: the button of each format of the table of scores.
        file: a hidden button that downloads a file after it is written.
    """

    examples: list[gr.Button]
    inputs: Inputs
    outputs: Outputs
    cancel: gr.Button
    table_buttons: dict[str, gr.Button]
    file: gr.DownloadButton


def build_layout(
    space: Space, request: Request, answer: Answer, view: View, figures: Sequence[Figure | None]
) -> Layout:
    """Create the components of a page in the current `gr.Blocks`, with the first example on it.

    Args:
        space: the description of the Space.
        request: the request of the first example.
        answer: its scores.
        view: what is shown for them.
        figures: the charts.
    """
    parts = list(zip(range(1, len(figures) + 1), view.charts, figures, strict=True))
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
            with gr.Column(elem_id="result") as answer_column:
                result = gr.HTML(view.result)
                charts = [_chart_output(*parts[0])]
        with gr.Column(elem_id="inputs"):
            inputs = _build_inputs(space, request, answer, view)
        with gr.Column(elem_id="details") as details:
            charts += [_chart_output(*part) for part in parts[1:]]
            table = gr.HTML(view.table)
            with gr.Row(elem_classes="files"):
                scores_file = gr.DownloadButton("JSON", view.scores_file, size="sm", elem_id="json")
                table_buttons = {
                    name: gr.Button(name, size="sm", elem_id=f"scores-{name.lower()}")
                    for name in FORMATS
                }
                file = gr.DownloadButton(visible="hidden", elem_id="file")
            gr.HTML(f"<h3>{space.row_noun.capitalize()}s</h3>")
            questions = gr.Dataframe(
                view.question_rows,
                headers=view.question_headers,
                interactive=False,
                max_height=300,
                show_label=False,
                elem_id="questions",
            )
            note = f"Select a {space.row_noun} to see its {space.cell_noun}s."
            samples = gr.HTML(f'<p class="caption">{note}</p>', elem_id="samples")
            gr.HTML("<h3>Python code for these scores and charts</h3>")
            code = gr.Code(
                view.code,
                language="python",
                interactive=False,
                max_lines=16,
                show_label=False,
                elem_id="code",
            )
    gr.Markdown(f"## What it measures\n{space.about}", elem_id="about", latex_delimiters=_LATEX)
    gr.Markdown(links(space.metric), elem_id="links")
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
        questions=questions,
        samples=samples,
    )
    return Layout(examples, inputs, outputs, cancel, table_buttons, file)


def plot_data(figure: Figure) -> PlotData:
    """Return a chart in the form that `gr.Plot` takes."""
    return PlotData(type="altair", plot=page_spec(figure))


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


def _build_inputs(space: Space, request: Request, answer: Answer, view: View) -> Inputs:
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
        label="JSON Lines, CSV, or a table from a spreadsheet",
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
    inches = gr.Number(DESKTOP, visible="hidden", elem_id="inches")
    fingerprint = page_fingerprint(request, DESKTOP)
    shown = gr.State(Shown.of(fingerprint, request, answer, view.folder))
    return Inputs(source, table, text, files, checker, controls, inches, shown)


def page_fingerprint(request: Request, inches: float) -> str:
    """Return a text that is equal for requests for which a page shows the same."""
    return f"{request.fingerprint()} {inches}"


def _column_widths(headers: Sequence[str]) -> list[str | int]:
    """Return the widths of the columns in pixels. Samples, numbered 1, 2, .., are narrow."""
    return [64 if header.isdigit() else 96 for header in headers]


def _files_label(space: Space) -> str:
    return f"One file, or up to {space.max_files} to compare"


def _chart_output(number: int, chart: Chart | None, figure: Figure | None) -> ChartOutput:
    with gr.Column(visible=chart is not None, elem_classes="chart-column") as column:
        caption = gr.HTML(chart and caption_html(chart))
        plot = gr.Plot(figure and plot_data(figure), show_label=False, elem_classes="chart")
        with gr.Row(elem_classes="files"):
            buttons = {
                name: gr.Button(name.upper(), size="sm", elem_id=f"chart-{number}-{name}")
                for name in CHART_FORMATS
            }
    return ChartOutput(column, caption, plot, buttons)


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
