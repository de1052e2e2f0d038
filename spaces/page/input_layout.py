"""The components that hold a request: samples, checker and controls."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.blocks import Block

from .controls import Choice, Control, Slider, TextField
from .figures import DESKTOP
from .pasted import Row
from .received import MAX_BYTES
from .request import Answer, Request
from .samples import MAX_QUESTIONS, MAX_SAMPLES, MAX_SAMPLES_PER_QUESTION
from .space import CHECKERS, READINGS, Example, Options, Space
from .view import View

TABLE, TEXT, FILES = "Table", "Paste", "Files"

_NONE = ("none", "")
_PLACEHOLDER = """\
1 0 1 1
0 0 1 0

or a table with a sample in each row:

question,prediction,reference
q1,12,12
q1,13,12

or {"predictions": ["12", "13"], "reference": "12"}"""

_PLACEHOLDER_OF_VERDICTS = """\
fully none mostly
minor fully partial

or a table with a verdict in each row:

question,verdict
q1,fully
q1,none"""


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
            None until the page has looked for a link in its address.
        folder: the folder of the answer, see `Downloads`.
        requested: the limited options as the visitor requested them.
        used: the limited options as the sliders show them, which can be lower.
    """

    fingerprint: str | None
    folder: str
    requested: Options
    used: Options

    @classmethod
    def of(cls, fingerprint: str | None, request: Request, answer: Answer, folder: str) -> Shown:
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
        table_box: the column with the table and its buttons.
        add_row: the button that adds a row to the table.
        clear: the button that empties the table.
        pasted: a hidden field for cells that are pasted into the table, see page.js.
        picker: what holds the choices of columns. Hidden unless no column has a usual name.
        columns: the choice of the column of each role, and of the rows to read.
        reading: the choice of what the cells of a table are. Hidden beside the table of the page.
        checker: the choice of the checker.
        controls: the component of each option, by its name.
        inches: for which width the charts are drawn, one of `WIDTHS`.
        shown: what the page shows, a `Shown`.
    """

    source: gr.Radio
    table: gr.Dataframe
    text: gr.Textbox
    files: gr.File
    table_box: gr.Column
    add_row: gr.Button
    clear: gr.Button
    pasted: gr.Textbox
    picker: gr.Column
    columns: dict[str, gr.Dropdown]
    reading: gr.Radio
    checker: gr.Dropdown
    controls: dict[str, gr.Slider | gr.Textbox | gr.Radio]
    inches: gr.Number
    shown: gr.State

    @property
    def by_source(self) -> dict[str, gr.Column | gr.Textbox | gr.File]:
        """The component of each choice of the source."""
        return {TABLE: self.table_box, TEXT: self.text, FILES: self.files}

    def components(self) -> list[Block]:
        """Return all of them."""
        samples = [self.source, self.table, self.text, self.files]
        options = [*self.columns.values(), self.reading, self.checker, *self.controls.values()]
        return [*samples, *options, self.inches, self.shown]


def build_inputs(space: Space, request: Request, answer: Answer, view: View) -> Inputs:
    example = space.examples[0]
    row, cell = space.row_noun, space.cell_noun
    outcome = "outcome" if space.has_references else cell
    source = gr.Radio(
        [TABLE, TEXT, FILES], value=TABLE, label=f"{cell.capitalize()}s", elem_id="source"
    )
    headers, *rows = table_with_headers(space, example)
    with gr.Column(elem_id="table-box") as table_box:
        table = gr.Dataframe(
            rows,
            headers=headers,
            datatype="str",
            interactive=True,
            label=f"One {row} per row, one {cell} per column",
            max_height=240,
            column_widths=_column_widths([headers, *rows]),
            elem_id="table",
        )
        with gr.Row(elem_classes="files"):
            add_row = gr.Button("Add a row", size="sm", elem_id="add-row")
            clear = gr.Button("Clear", size="sm", elem_id="clear")
    pasted = gr.Textbox(visible="hidden", elem_id="pasted")
    text = gr.Textbox(
        placeholder=_PLACEHOLDER if space.has_references else _PLACEHOLDER_OF_VERDICTS,
        lines=9,
        max_lines=9,
        max_length=MAX_BYTES + 1,  # what is longer is cut by browsers, and has to be refused
        label=f"Rows of {outcome}s, a table, JSON, or the name of a dataset on the Hub",
        visible=False,
        elem_id="text",
    )
    files = gr.File(
        file_count="multiple",
        label=_files_label(space),
        visible=False,
        height=160,
        elem_id="files",
    )
    with gr.Column(visible=False, elem_id="picker") as picker:
        columns = {
            role: gr.Dropdown([_NONE], value="", label=label, info=info, elem_id=f"column-{role}")
            for role, label, info in (
                ("predictions", f"Column of {cell}s", "or of outcomes"),
                ("references", "Column of references", "none if outcomes are given"),
                ("questions", f"Column of {row}s", f"none if each {row} has one row"),
                ("where", "Rows", "all, or those with this entry"),
            )
        }
    readings = ("Automatic", f"All {outcome}s", "First column: references", "First row: names")
    reading = gr.Radio(
        [
            choice
            for choice in zip(readings, READINGS, strict=True)
            if space.has_references or choice[1] != "references"
        ],
        value="",
        label="Cells of a table",
        visible=False,
        elem_id="reading",
    )
    checker = gr.Dropdown(
        list(CHECKERS),
        value=example.checker,
        label="Checker",
        info=f"how a {cell} is compared with its reference",
        visible=space.has_references,
        elem_id="checker",
    )
    controls = {
        control.name: _control_component(control, example, answer) for control in space.controls
    }
    programs = " Programs are not run here." if space.has_references else ""
    gr.HTML(
        f"<p>At most {MAX_QUESTIONS:,} {row}s, {MAX_SAMPLES_PER_QUESTION} {cell}s per {row}, "
        f"{MAX_SAMPLES:,} {cell}s in total, and {MAX_BYTES // 1_000_000} MB per file."
        f"{programs}</p>",
        elem_id="limits",
    )
    inches = gr.Number(DESKTOP, visible="hidden", elem_id="inches")
    shown = gr.State(Shown.of(None, request, answer, view.folder))
    return Inputs(
        source=source,
        table=table,
        text=text,
        files=files,
        table_box=table_box,
        add_row=add_row,
        clear=clear,
        pasted=pasted,
        picker=picker,
        columns=columns,
        reading=reading,
        checker=checker,
        controls=controls,
        inches=inches,
        shown=shown,
    )


def picker_updates(
    inputs: Inputs, columns: Sequence[str], rows: Sequence[str] = ()
) -> dict[Any, Any]:
    """Return updates that let a visitor choose among columns and rows, or that hide the choices."""
    updates: dict[Any, Any] = {inputs.picker: gr.update(visible=bool(columns))}
    for role, component in inputs.columns.items():
        choices = rows if role == "where" else columns
        is_visible = role != "where" or bool(rows)
        updates[component] = gr.update(choices=[_NONE, *choices], value="", visible=is_visible)
    return updates


def table_updates(rows: list[Row]) -> dict[str, Any]:
    """Return updates that show headers and the rows below them in the table."""
    headers, *cells = rows
    value = {"headers": headers, "data": cells}
    return gr.update(value=value, column_widths=_column_widths(rows))


def _column_widths(rows: list[Row]) -> list[str | int]:
    """Return the widths of columns in pixels that show their cells, except very long ones."""
    widths: list[str | int] = []
    for column in itertools.zip_longest(*rows, fillvalue=""):
        longest = max(map(len, column))
        widths.append(min(max(64, 28 + 9 * longest), 220))
    return widths


def _files_label(space: Space) -> str:
    return f"One file, or up to {space.max_files} to compare"


def slider_maximum(slider: Slider, answer: Answer) -> float:
    """Return how far a slider goes for the samples of an answer."""
    if not slider.limited_by_samples:
        return slider.maximum
    return max(2, min(min(run.sample_counts) for run in answer.runs))


def table_with_headers(space: Space, example: Example) -> list[list[str]]:
    """Return the table of an example, with a row of headers above it."""
    rows = example.table or []
    if example.headers:
        return [example.headers, *rows]
    samples = max(map(len, rows), default=4) - len(space.headers)
    numbers = [str(number) for number in range(1, samples + 1)]
    return [[*space.headers, *numbers], *rows]


def _control_component(
    control: Control, example: Example, answer: Answer
) -> gr.Slider | gr.Textbox | gr.Radio:
    value = example.options.get(control.name, control.value)
    if isinstance(control, Choice):
        choices = [(text, name) for name, text in control.choices.items()]
        return gr.Radio(
            choices, value=value, label=control.label, info=control.info, elem_id=control.name
        )
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
