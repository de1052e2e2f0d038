"""The page and the API of a Space."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from inspect import Parameter, Signature

import gradio as gr
from starlette.middleware import Middleware

from .controls import Choice, Control, Slider
from .downloads import Downloads, result_dict
from .events import connect_events
from .figures import DESKTOP, draw
from .files import PAGE
from .input_layout import table_with_headers
from .layout import build_layout, title_html
from .opening import Opening
from .pasted import as_csv
from .refusals import API_NAME, Page, Refusals
from .request import make_request
from .scoring import preload, score
from .space import CHECKERS, Options, Space
from .view import make_view, notes_of


def serve(space: Space) -> None:
    """Serve the page and the API of a Space until the process ends."""
    os.chdir(PAGE.parent)  # worker processes import the package `page` from here
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # so that temporary folders are removed
    page = build_page(space)
    opening = Middleware(Opening, config=page.config, title=title_html(space))
    page.queue(max_size=200, default_concurrency_limit=64).launch(
        max_threads=80,
        app_kwargs={"middleware": [Middleware(Refusals), opening]},
        theme=gr.themes.Default(
            primary_hue="blue",
            font=["ui-sans-serif", "system-ui", "sans-serif"],
            font_mono=["ui-monospace", "Consolas", "monospace"],
        ).set(body_text_color_subdued="*neutral_600", block_info_text_color="*neutral_600"),
        css_paths=[PAGE / "page.css"],
        footer_links=["api"],
        ssr_mode=False,
        state_session_capacity=1_000,
    )


def build_page(space: Space) -> gr.Blocks:
    """Return the page of a Space, with the first example on it."""
    example = space.examples[0]
    options: Options = {control.name: control.value for control in space.controls}
    options |= example.options
    table = table_with_headers(space, example)
    request = make_request(space, example.checker, options, table=table)
    preload(space)
    answer = score(request)
    downloads = Downloads(space)
    view = make_view(space, request, answer, downloads)
    figures = [draw(chart, answer, DESKTOP) if chart else None for chart in view.charts]
    with Page(title=space.title, analytics_enabled=False, delete_cache=(600, 3600)) as blocks:
        layout = build_layout(space, request, answer, view, figures)
        connect_events(space, blocks, layout, downloads, answer)
        gr.api(scores_endpoint(space), api_name=API_NAME)
    return blocks


def scores_endpoint(space: Space) -> Callable[..., dict]:
    """Return the function that the API offers, which has a parameter for each option of the page.

    Clients use the names of its parameters, and Gradio shows its docstring.
    """
    options = {control.name: control for control in space.controls}
    described = "\n".join(f"    {name}: {_described(each)}." for name, each in options.items())
    parameters = [
        Parameter("samples", Parameter.POSITIONAL_OR_KEYWORD, annotation=str),
        *(
            Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=value, annotation=type(value))
            for name, value in (
                ("checker", "exact_match"),
                *((name, each.value) for name, each in options.items()),
            )
        ),
    ]

    def scores(samples, checker, *values):
        try:
            if not isinstance(samples, str):
                raise ValueError("samples must be a text in JSON Lines, JSON or CSV.")
            given = dict(zip(options, values, strict=True))
            request = make_request(space, checker, given, text=samples)
            answer = score(request)
            return result_dict(space, answer) | {"notes": notes_of(space, request, answer)}
        except ValueError as error:
            raise gr.Error(str(error), print_exception=False) from error

    example = as_csv((space.examples[0].table or [])[:2]).strip()
    scores.__doc__ = (
        f"Score samples, such as client.predict({example!r}, api_name='/{API_NAME}').\n\n"
        "Args:\n"
        "    samples: text: a table, rows of outcomes, JSON Lines or JSON.\n"
        f"    checker: what compares samples with references: {', '.join(CHECKERS)}.\n"
        f"{described}\n\n"
        "Returns:\n"
        "    A dict with the scores and their limits, the samples as they were read, and notes.\n"
    )
    scores.__annotations__ = {each.name: each.annotation for each in parameters} | {"return": dict}
    scores.__signature__ = Signature(parameters, return_annotation=dict)  # type: ignore[attr-defined]
    return scores


def _described(control: Control) -> str:
    """Return what the value of a control means, and which values it has."""
    if isinstance(control, Choice):
        choices = [f"{value!r} ({text})" for value, text in control.choices.items()]
        return f"{control.info}: {' or '.join(choices)}"
    if isinstance(control, Slider):
        return f"{control.info}, from {control.minimum:g} to {control.maximum:g}"
    return f"{control.info}, as text"
