"""The components of a page, and where they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import gradio as gr
from at_k.charts.figure import Figure
from gradio.blocks import Block

from .charts import Chart
from .downloads import CHART_FORMATS
from .figures import page_svg
from .input_layout import Inputs, build_inputs
from .links import links
from .markup import caption_html
from .request import Answer, Request
from .score_tables import FORMATS
from .space import Space
from .texts import html_of
from .view import View


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
    plot: gr.HTML
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
        order: the choice of the order of questions.
        questions: the table of questions.
        samples: the samples of the question that the visitor selects.
        link: a hidden field with what a link to this answer has after "#".
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
    code: gr.HTML
    order: gr.Radio
    questions: gr.Dataframe
    samples: gr.HTML
    link: gr.Textbox

    def components(self) -> list[Block]:
        """Return all of them."""
        charts = [part for chart in self.charts for part in chart.components()]
        columns = [self.problem, self.working, self.progress, self.answer, self.details]
        results = [self.result, *charts, self.table, self.scores_file, self.code]
        return [*columns, *results, self.order, self.questions, self.samples, self.link]


@dataclass(frozen=True)
class Layout:
    """The components of a page that take part in events.

    Attributes:
        examples: the button of each example.
        open_page: the button that opens a saved page.
        copy_link: the button that copies a link.
        save_page: the button that saves the page as a file.
        shared: says what the last two did.
        copy_code: the button that copies the Python code.
        copied_code: says what it did.
        inputs: the components that hold a request.
        outputs: the components that show an answer.
        cancel: the button that ends a request.
        table_buttons: the button of each format of the table of scores.
        file: a hidden button that downloads a file after it is written.
    """

    examples: list[gr.Button]
    open_page: gr.UploadButton
    copy_link: gr.Button
    save_page: gr.Button
    shared: gr.HTML
    copy_code: gr.Button
    copied_code: gr.HTML
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
        gr.HTML(title_html(space), elem_id="summary")
        with gr.Row(elem_id="examples"):
            examples = [gr.Button(example.name, size="sm") for example in space.examples]
            open_page = gr.UploadButton(
                "Open a saved page", size="sm", file_types=[".txt"], elem_id="open-page"
            )
    with gr.Row(elem_id="body"):
        with gr.Column(elem_id="inputs"):
            inputs = build_inputs(space, request, answer, view)
        with gr.Column(elem_id="answer"):
            problem = gr.HTML(visible=False)
            with gr.Column(visible=False, elem_id="working") as working:
                progress = gr.HTML()
                cancel = gr.Button("Cancel", size="sm")
            with gr.Column(elem_id="result") as answer_column:
                result = gr.HTML(view.result)
                with gr.Row(elem_classes="files"):
                    copy_link = gr.Button("Copy link", size="sm", elem_id="copy-link")
                    save_page = gr.Button("Save page", size="sm", elem_id="save-page")
                    link = gr.Textbox(view.link, visible="hidden", elem_id="link")
                shared = gr.HTML(elem_id="shared", elem_classes="shared")
                charts = [_chart_output(*parts[0])]
        with gr.Column(elem_id="details") as details:
            table = gr.HTML(view.table)
            with gr.Row(elem_classes="files"):
                scores_file = gr.DownloadButton(
                    "Scores as JSON", view.scores_file, size="sm", elem_id="json"
                )
                table_buttons = {
                    name: gr.Button(
                        f"Scores as {name}", size="sm", elem_id=f"scores-{name.lower()}"
                    )
                    for name in FORMATS
                }
                file = gr.DownloadButton(visible="hidden", elem_id="file")
            charts += [_chart_output(*part) for part in parts[1:]]
            note = f"Select a row to see its {space.cell_noun}s."
            head = f'<h2>{space.row_noun.capitalize()}s</h2><p class="caption">{note}</p>'
            gr.HTML(head)
            order = gr.Radio(
                view.question_orders,
                value=view.question_orders[0],
                label=f"Order of the {space.row_noun}s",
                show_label=False,
                container=False,
                elem_id="order",
            )
            questions = gr.Dataframe(
                view.question_rows,
                headers=view.question_headers,
                interactive=False,
                max_height=300,
                show_label=False,
                elem_id="questions",
            )
            samples = gr.HTML(elem_id="samples")
            gr.HTML("<h2>Python code for these scores and charts</h2>")
            code = gr.HTML(view.code, elem_id="code")
            with gr.Row(elem_classes="files"):
                copy_code = gr.Button("Copy code", size="sm", elem_id="copy-code")
            copied_code = gr.HTML(elem_classes="shared")
    gr.HTML(html_of(f"## What it measures\n{space.about}"), elem_id="about")
    gr.HTML(html_of(links(space.metric)), elem_id="links")
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
        order=order,
        questions=questions,
        samples=samples,
        link=link,
    )
    return Layout(
        examples=examples,
        open_page=open_page,
        copy_link=copy_link,
        save_page=save_page,
        shared=shared,
        copy_code=copy_code,
        copied_code=copied_code,
        inputs=inputs,
        outputs=outputs,
        cancel=cancel,
        table_buttons=table_buttons,
        file=file,
    )


def title_html(space: Space) -> str:
    """Return the title of a page and what its metric measures."""
    return html_of(f"# {space.title}\n{space.summary}")


def _chart_output(number: int, chart: Chart | None, figure: Figure | None) -> ChartOutput:
    with gr.Column(visible=chart is not None, elem_classes="chart-column") as column:
        caption = gr.HTML(chart and caption_html(chart))
        plot = gr.HTML(figure and page_svg(figure))
        with gr.Row(elem_classes="files"):
            buttons = {
                name: gr.Button(
                    f"Chart as {name.upper()}", size="sm", elem_id=f"chart-{number}-{name}"
                )
                for name in CHART_FORMATS
            }
    return ChartOutput(column, caption, plot, buttons)
