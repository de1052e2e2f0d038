"""The page of a Space: its interface, made of a description, and its API."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gradio as gr
import vl_convert
from gradio.components.plot import PlotData
from starlette.middleware import Middleware

from .files import PAGE, sample_file
from .pictures import as_sheet
from .scoring import (
    MOST_BYTES,
    MOST_EACH,
    MOST_QUESTIONS,
    MOST_SAMPLES,
    Answer,
    Request,
    score,
)
from .space import JUDGES, Bank, Example, Line, Options, Picture, Slider, Space

_logger = logging.getLogger(__name__)
_TABLE, _TEXT, _FILES = "Table", "Paste", "Files"
_MOST_BODY = 3 * MOST_BYTES
_INLINE = 3_000
"""Up to so many characters of samples stand in the Python that is shown; more are in a file."""


class ThemedPlot(PlotData):
    """A plot that Gradio draws in the page's own colours and to the page's width."""

    chart: str = "themed"


def serve(space: Space) -> None:
    """Show the page of this Space, and answer its API, until the process ends."""
    os.chdir(PAGE.parent)  # worker processes import the package `page` from here
    page(space).queue(max_size=200, default_concurrency_limit=64).launch(
        max_threads=80,
        app_kwargs={"middleware": [Middleware(BoundedBody)]},
        theme=gr.themes.Default(
            primary_hue="blue",
            font=["ui-sans-serif", "system-ui", "sans-serif"],
            font_mono=["ui-monospace", "Consolas", "monospace"],
        ).set(body_text_color_subdued="*neutral_600", block_info_text_color="*neutral_600"),
        css_paths=[PAGE / "page.css"],
        footer_links=["api"],
        ssr_mode=False,
    )


class BoundedBody:
    """Refuses requests whose body is larger than any that this page sends."""

    def __init__(self, app):
        self._app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http" and scope["method"] in ("POST", "PUT", "PATCH"):
            length = dict(scope["headers"]).get(b"content-length", b"")
            if not length.isdigit() or int(length) > _MOST_BODY:
                status = 413 if length.isdigit() else 411
                headers = [(b"content-type", b"text/plain")]
                await send({"type": "http.response.start", "status": status, "headers": headers})
                most = f"What is sent here can have up to {_MOST_BODY // 1_000_000} MB."
                await send({"type": "http.response.body", "body": most.encode()})
                return
        await self._app(scope, receive, send)


# --- From what was given to what is shown -------------------------------------------------


def request_of(space: Space, judge: str, options: Options, **samples: Any) -> Request:
    """What the page or the API was given, checked; a ValueError says what is wrong with it."""
    if judge not in JUDGES:
        raise ValueError(f"The judge has to be one of {', '.join(JUDGES)}.")
    known = {control.name: control for control in space.controls}
    for name in options:
        if name not in known:
            raise ValueError(f"There is no option {name!r:.60}: there are {', '.join(known)}.")
    values = {
        name: control.read(options.get(name, control.value)) for name, control in known.items()
    }
    lowered = tuple(c.name for c in space.controls if isinstance(c, Slider) and c.of_samples)
    return Request(space.metric, judge, values, space.calls, lowered, **samples)


def as_api(space: Space) -> Callable[..., dict]:
    def scores(samples: str, judge: str = "exact_match", options: dict | None = None) -> dict:
        """Score samples, given as a text of JSON Lines or CSV.

        `options` are those of the page by their names; what is left out is as the page has it.
        """
        try:
            return dict(
                _result(space, score(request_of(space, judge, options or {}, text=samples)))
            )
        except ValueError as error:
            raise gr.Error(str(error), print_exception=False) from error

    return scores


def _result(space: Space, answer: Answer) -> Iterator[tuple[str, Any]]:
    """What is downloaded as JSON: what was scored, how, and the scores of each call."""
    yield "metric", space.metric
    yield "options", answer.options
    for name in answer.calls:
        yield name, {bank.label: bank.results[name] for bank in answer.banks}
    yield "samples", answer.samples


def summary(space: Space, answer: Answer, judge: str) -> str:
    """What was read: how many questions and samples, and who judged them."""
    parts = []
    for bank in answer.banks:
        least, most = min(bank.sizes), max(bank.sizes)
        each = f"{least}" if least == most else f"{least} to {most}"
        named = f"{bank.label}: " if len(answer.banks) > 1 else ""
        rows = space.row if len(bank.sizes) == 1 else f"{space.row}s"
        parts.append(f"{named}{len(bank.sizes)} {rows}, {each} {space.cell}s each")
    samples = answer.samples.values()
    if "references" not in next(iter(samples)):
        return f"{'; '.join(parts)}."
    told = f"{'; '.join(parts)}. Judged by {judge}."
    if judge == "exact_match" and not any(map(_any_exact, samples)):
        told += f" No {space.cell} is its reference to the letter: try another judge."
    return told


def _any_exact(samples: dict[str, Any]) -> bool:
    return any(
        str(reference) in map(str, row) if not isinstance(reference, list) else True
        for row, reference in zip(samples["predictions"], samples["references"], strict=True)
    )


def python_code(space: Space, answer: Answer) -> str:
    """The Python that gives the numbers and the pictures' numbers, all of them."""
    metric, several = space.metric, len(answer.banks) > 1
    samples = answer.samples if several else next(iter(answer.samples.values()))
    shown = "banks" if several else "samples"
    lines = ["import evaluate", ""]
    given = "\n".join(_assigned(shown, samples))
    if len(given) > _INLINE:
        lines.insert(0, "import json\n")
        where = "" if several else f'["{answer.banks[0].label}"]'
        given = f'with open("{metric}.json") as file:  # "Numbers as JSON", from this page\n'
        given += f'    {shown} = json.load(file)["samples"]{where}'
    # On the Hub the Space says whose it is, so that this loads the one that is looked at.
    lines += [f'{metric} = evaluate.load("{os.environ.get("SPACE_ID", metric)}")', given, ""]
    for name, call in answer.calls.items():
        arguments = [f"{key}={value!r}" for key, value in call.arguments.items()]
        if call.over is not None:
            arguments.append(f"{call.over[0]}=each")
        compute = f"{metric}.compute(**samples, {', '.join(arguments)})"
        if call.over is not None:
            compute = f"[{compute} for each in {call.over[1]!r}]"
        if several:
            compute = f"{{label: {compute} for label, samples in banks.items()}}"
        lines.append(f"{name} = {compute}")
    return "\n".join(lines)


def _assigned(name: str, samples: dict[str, Any]) -> list[str]:
    lines = [f"{name} = {{"]
    for key, value in samples.items():
        if isinstance(value, dict):
            inner = _assigned("", value)
            lines += [f"    {key!r}: {{", *(f"    {line}" for line in inner[1:-1]), "    },"]
        elif key == "predictions":
            lines += [f"    {key!r}: [", *(f"        {row!r}," for row in value), "    ],"]
        else:
            lines.append(f"    {key!r}: {value!r},")
    return [*lines, "}"]


# --- HTML, of which no visitor's text becomes a part ---------------------------------------


def plain(text: str) -> str:
    """A text that is shown as it is, whatever is in it: no tags, and no template either."""
    return re.sub(r"[^\w\s.,:;()%/=+@^'-]", lambda found: f"&#{ord(found[0])};", text)


def answer_html(sentence: str, told: str) -> str:
    strong = re.sub(r"\b[\d.]+ %|(?<![\w.@^])\d\.\d+\b", r"<strong>\g<0></strong>", plain(sentence))
    return f'<p class="sentence">{strong}</p><p class="told">{plain(told)}</p>'


def problem_html(problem: str) -> str:
    return f'<div class="problem" role="alert">{plain(problem)}</div>'


def table_html(banks: list[Bank]) -> str:
    """The scores of all banks, with their intervals and, of two, what is between them."""
    first = banks[0].scores()
    details = ("_mu", "_sigma", "_lo", "_hi")
    keys = [
        key
        for key, value in first.items()
        if isinstance(value, float) and not key.endswith(details) and _in_all(key, banks)
    ]
    sure = any(f"{key}_lo" in first for key in keys)
    heads = ["", *(cell for bank in banks for cell in _heads(bank, len(banks) > 1, sure))]
    rows = []
    for key in keys:
        cells = [plain(key)]
        for bank in banks:
            scores = bank.scores()
            cells.append(f"{scores[key]:.4f}")
            if sure:
                ends = (scores.get(f"{key}_lo"), scores.get(f"{key}_hi"))
                cells.append("" if None in ends else f"{ends[0]:.3f} to {ends[1]:.3f}")
        if len(banks) == 2:
            cells.append(f"{banks[1].scores()[key] - first[key]:+.4f}".replace("-", "&minus;"))
        rows.append(cells)
    if len(banks) == 2:
        heads.append("difference")
    head = "".join(f'<th scope="col">{cell}</th>' for cell in heads)
    body = "".join(
        f'<tr><th scope="row">{row[0]}</th>{"".join(f"<td>{cell}</td>" for cell in row[1:])}</tr>'
        for row in rows
    )
    return (
        f'<div class="numbers"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _in_all(key: str, banks: list[Bank]) -> bool:
    return all(key in bank.scores() for bank in banks)


def _heads(bank: Bank, several: bool, sure: bool) -> list[str]:
    name = plain(bank.label) if several else "score"
    return [name, "band"] if sure else [name]


# --- What is shown ------------------------------------------------------------------------


class Show:
    """What the page's components hold for what was given: an answer, or a problem."""

    def __init__(self, space: Space):
        self._space = space
        self._downloads = tempfile.TemporaryDirectory(prefix="downloads-")
        self._written: deque[Path] = deque()

    def __call__(self, *given: Any):
        """The updates of the page's outputs, in their order."""
        try:
            answer, judge, asked = self._answer(*given)
            shown = self.of(answer, judge, asked)
        except ValueError as error:
            return self._problem(str(error))
        except Exception:
            _logger.exception("An answer could not be shown, in a way that is not foreseen")
            return self._problem("This was scored, but could not be shown: that is our mistake.")
        pictures = [each for picture in shown["pictures"] for each in _parts(picture)]
        return [
            gr.update(visible=False),
            gr.update(visible=True),
            gr.update(visible=True),
            shown["said"],
            *pictures,
            *(shown[name] for name in ("numbers", "json", "code")),
            *(_moved(control, answer) for control in self._space.controls),
        ]

    def as_png(self, *given: Any):
        """The file with the pictures, which are drawn for it only when it is asked for."""
        try:
            answer, _, _ = self._answer(*given)
        except ValueError as error:
            raise gr.Error(plain(str(error)), print_exception=False) from error
        pictures = [draw(answer.banks, answer.options) for draw in self._space.pictures]
        sheet = as_sheet(self._space.title, [(each.title, each.spec) for each in pictures])
        image = self._folder() / f"{self._space.metric}.png"
        image.write_bytes(vl_convert.vegalite_to_png(json.dumps(sheet), scale=2))
        return str(image)

    def _answer(
        self, source: str, table: Any, text: str, files: list[str] | None, judge: str, *chosen: Any
    ) -> tuple[Answer, str, Options]:
        given = _given(self._space, source, table, text, files)
        names = [control.name for control in self._space.controls]
        asked = dict(zip(names, chosen, strict=True))
        return score(request_of(self._space, judge, asked, **given)), judge, asked

    def _problem(self, problem: str):
        hidden = gr.update(visible=False)
        kept = 1 + 2 * len(self._space.pictures) + 3 + len(self._space.controls)
        said = gr.update(value=problem_html(problem), visible=True)
        return [said, hidden, hidden, *[gr.skip() for _ in range(kept)]]

    def of(self, answer: Answer, judge: str, asked: Options) -> dict[str, Any]:
        """The values of the page's outputs, by name."""
        space, banks = self._space, answer.banks
        told = summary(space, answer, judge)
        for control in space.controls:
            if isinstance(control, Slider) and answer.options[control.name] < asked[control.name]:
                least = answer.options[control.name]
                told += f" {control.label} is {least}: a question has no more samples."
        pictures = [draw(banks, answer.options) for draw in space.pictures]
        numbers = self._folder() / f"{space.metric}.json"
        numbers.write_text(json.dumps(dict(_result(space, answer)), indent=1), encoding="utf-8")
        return {
            "said": answer_html(space.sentence(banks, answer.options), told),
            "pictures": pictures,
            "numbers": table_html(banks),
            "json": str(numbers),
            "code": python_code(space, answer),
        }

    def _folder(self) -> Path:
        """A new folder for downloads, of which Gradio keeps copies: so only the last ones stay."""
        self._written.append(Path(tempfile.mkdtemp(dir=self._downloads.name)))
        if len(self._written) > 100:
            shutil.rmtree(self._written.popleft())
        return self._written[-1]


def _given(
    space: Space, source: str, table: Any, text: str, files: list[str] | None
) -> dict[str, Any]:
    """The samples of the source that is chosen, as a request takes them."""
    if source == _TABLE:
        cells = table.astype(object).where(table.notna(), None)
        return {"table": [list(map(str, cells.columns)), *cells.values.tolist()]}
    if source == _TEXT:
        return {"text": text or ""}
    if not files:
        raise ValueError("There is no file yet: upload JSON Lines or CSV.")
    if len(files) > space.most_files:
        most = "one file" if space.most_files == 1 else "two files to compare"
        raise ValueError(f"{len(files)} files are too many: give {most}.")
    # Plain texts, so that a worker need not import the class that Gradio has for them.
    return {"files": [str(file) for file in files]}


def _parts(picture: Picture) -> tuple[str, PlotData]:
    """The caption and the plot of a picture."""
    caption = f'<h3>{plain(picture.title)}</h3><p class="caption">{plain(picture.caption)}</p>'
    return caption, ThemedPlot(type="altair", plot=json.dumps(picture.spec))


def _moved(control: Slider | Line, answer: Answer):
    """A slider that goes as far as the samples do."""
    if not (isinstance(control, Slider) and control.of_samples):
        return gr.skip()
    return gr.update(value=answer.options[control.name], maximum=_most(control, answer))


def _most(control: Slider, answer: Answer) -> float:
    if not control.of_samples:
        return control.most
    return max(2, min(min(bank.sizes) for bank in answer.banks))


# --- The page -----------------------------------------------------------------------------


def page(space: Space) -> gr.Blocks:
    """The page, with the first example already on it."""
    first = space.examples[0]
    options = {control.name: control.value for control in space.controls} | first.options
    answer = score(request_of(space, first.judge, options, table=_headed(space, first)))
    show = Show(space)
    start = show.of(answer, first.judge, options)

    with gr.Blocks(title=space.title, analytics_enabled=False, delete_cache=(600, 3600)) as blocks:
        with gr.Column(elem_id="head"):
            gr.Markdown(f"# {space.title}\n{space.lead}", elem_id="lead")
            with gr.Row(elem_id="examples"):
                buttons = [gr.Button(each.name, size="sm") for each in space.examples]
        with gr.Row(elem_id="body"):
            with gr.Column(elem_id="answer"):
                problem = gr.HTML(visible=False)
                with gr.Column() as answered:
                    said = gr.HTML(start["said"])
                    drawn = [_drawn(start["pictures"][0])]
            with gr.Column(elem_id="given"):
                source, given = _sources(space, _headed(space, first))
                judge = gr.Dropdown(
                    list(JUDGES),
                    value=first.judge,
                    label="Judge",
                    info="what decides whether a sample is right",
                    visible=space.judged,
                    elem_id="judge",
                )
                controls = [_widget(each, options[each.name], answer) for each in space.controls]
            with gr.Column(elem_id="more") as more:
                drawn += [_drawn(each) for each in start["pictures"][1:]]
                gr.HTML("<h3>The numbers</h3>")
                numbers = gr.HTML(start["numbers"])
                with gr.Row(elem_id="downloads"):
                    as_json = gr.DownloadButton("Numbers as JSON", start["json"], elem_id="json")
                    as_png = gr.Button("Pictures as PNG", elem_id="png")
                    image = gr.DownloadButton(visible="hidden", elem_id="image")
                gr.HTML("<h3>The same in Python</h3>")
                code = gr.Code(
                    start["code"],
                    language="python",
                    interactive=False,
                    max_lines=16,
                    show_label=False,
                    elem_id="code",
                )
        gr.Markdown(f"## What it measures\n{space.about}", elem_id="about", latex_delimiters=_LATEX)

        inputs = [source, *given.values(), judge, *controls]
        plots = [component for pair in drawn for component in pair]
        outputs = [problem, answered, more, said, *plots, numbers, as_json, code, *controls]
        quiet: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
        asking: dict[str, Any] = {
            "fn": show,
            "inputs": inputs,
            "outputs": outputs,
            "api_visibility": "private",
            "show_progress": "minimal",
            "show_progress_on": [said],
        }
        files = given[_FILES]
        changes = [source.input, given[_TABLE].input, given[_TEXT].change, judge.input]
        changes += [files.upload, files.delete, files.clear]
        # A text that is pasted into an empty box is a change of it, but no input to it.
        changes += [each.input if isinstance(each, gr.Slider) else each.change for each in controls]
        gr.on(changes, trigger_mode="always_last", **asking)
        source.change(_only_chosen, source, list(given.values()), **quiet)
        for button, example in zip(buttons, space.examples, strict=True):
            button.click(_filler(space, example), outputs=inputs, **quiet).then(**asking)
        as_png.click(
            show.as_png, inputs, image, api_visibility="private", show_progress_on=[as_png]
        ).success(None, js=_DOWNLOAD, api_visibility="private")
        gr.api(as_api(space), api_name="scores")
    return blocks


_LATEX: list[dict[str, str | bool]] = [
    {"left": "$$", "right": "$$", "display": True},
    {"left": "$", "right": "$", "display": False},
]
_DOWNLOAD = """() => {
  const image = document.querySelector("#image");
  setTimeout(() => (image.matches("a, button") ? image : image.querySelector("a, button")).click());
}"""
_PLACEHOLDER = """\
{"predictions": ["12", "13", "12"], "reference": "12"}
{"predictions": ["7", "7", "8"], "reference": "7"}

or CSV with a sample in each row:

question,prediction,reference
q1,12,12
q1,13,12"""


def _headed(space: Space, example: Example) -> list[list[str]]:
    """The table of an example under its headers."""
    table = example.table or []
    samples = max(map(len, table), default=4) - len(space.headers)
    return [[*space.headers, *(str(i) for i in range(1, samples + 1))], *table]


def _sources(space: Space, table: list[list[str]]) -> tuple[gr.Radio, dict[str, Any]]:
    """The choice of where samples come from, and the component for each."""
    source = gr.Radio([_TABLE, _TEXT, _FILES], value=_TABLE, label="Samples", elem_id="source")
    files = "One file, or two to compare" if space.most_files > 1 else "A file"
    given = {
        _TABLE: gr.Dataframe(
            table[1:],
            headers=table[0],
            datatype="str",
            interactive=True,
            show_label=False,
            max_height=300,
            column_widths=[64 if head.isdigit() else 96 for head in table[0]],
            elem_id="table",
        ),
        _TEXT: gr.Textbox(
            placeholder=_PLACEHOLDER,
            lines=9,
            max_lines=9,
            max_length=MOST_BYTES,
            label="JSON Lines or CSV",
            visible=False,
            elem_id="text",
        ),
        _FILES: gr.File(
            file_count="multiple",
            label=f"{files}, of JSON Lines or CSV",
            visible=False,
            height=160,
            elem_id="files",
        ),
    }
    gr.Markdown(
        f"{space.row.capitalize()}s down, {space.cell}s across. Up to {MOST_QUESTIONS:,} "
        f"{space.row}s, {MOST_EACH} {space.cell}s of each, {MOST_SAMPLES:,} in all; files of "
        f"{MOST_BYTES // 1_000_000} MB.",
        elem_id="limits",
    )
    return source, given


def _drawn(picture: Picture) -> tuple[gr.HTML, gr.Plot]:
    caption, plot = _parts(picture)
    return gr.HTML(caption), gr.Plot(plot, show_label=False, elem_classes="picture")


def _widget(control: Slider | Line, value: Any, answer: Answer) -> gr.Slider | gr.Textbox:
    shared: dict[str, Any] = {"label": control.label, "info": control.info, "elem_id": control.name}
    if isinstance(control, Line):
        return gr.Textbox(value, **shared)
    return gr.Slider(control.least, _most(control, answer), value, step=control.step, **shared)


def _only_chosen(chosen: str):
    return [gr.update(visible=name == chosen) for name in (_TABLE, _TEXT, _FILES)]


def _filler(space: Space, example: Example) -> Callable[[], list[Any]]:
    """What puts an example where a visitor's own samples would be."""

    def fill():
        source = _FILES if example.files else _TABLE
        headers, *rows = _headed(space, example)
        table = {"headers": headers, "data": rows} if example.table else gr.skip()
        files = [str(sample_file(name)) for name in example.files] or None
        values = [
            gr.update(value=value, maximum=control.most) if isinstance(control, Slider) else value
            for control in space.controls
            for value in [example.options.get(control.name, control.value)]
        ]
        return [source, table, gr.skip(), files, example.judge, *values]

    return fill
