"""Build and serve the page and the API of a Space."""

import json
import os
import signal
import sys
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any, Literal

import at_k
import gradio as gr
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from .asking import ChoiceError, is_reading
from .controls import Choice, Control
from .events import connect_events
from .files import result_dict
from .layout import Layout
from .request import MAX_BYTES, example_request, make_request
from .samples import MAX_SAMPLES
from .scoring import preload, score
from .space import CHECKERS, TITLES, Space

_PAGE = Path(__file__).resolve().parent


def serve(space: Space) -> None:
    """Serve the page and the API of a Space until the process ends."""
    os.chdir(_PAGE.parent)  # worker processes import the package `page` from here
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # so that temporary folders are removed
    script = (_PAGE / "page.js").read_text(encoding="utf-8")
    build_page(space).queue(max_size=200, default_concurrency_limit=64).launch(
        max_threads=80,
        max_file_size=MAX_BYTES,
        # The page shows the files of examples as if they were uploaded.
        allowed_paths=[str(Path(at_k.__file__).parent / "samples")],
        app_kwargs={"middleware": [Middleware(GZipMiddleware, compresslevel=6)]},
        theme=gr.themes.Default(
            primary_hue="blue",
            font=["ui-sans-serif", "system-ui", "sans-serif"],
            font_mono=["ui-monospace", "Consolas", "monospace"],
        ).set(
            body_text_color_subdued="*neutral_600",
            block_info_text_color="*neutral_600",
            button_primary_background_fill="*primary_600",
        ),
        css_paths=[_PAGE / "page.css"],
        head=f"<script>{script}page.maxBytes = {MAX_BYTES};</script>",
        footer_links=["api"],
        run_history=False,
        ssr_mode=False,  # rendering on the server would need Node.js
        state_session_capacity=1_000,
    )


def build_page(space: Space) -> gr.Blocks:
    """Score the first example, and return the page of a Space that shows it."""
    preload(space)
    answer = score(example_request(space, space.examples[0]))
    with gr.Blocks(
        title=TITLES[space.metric], analytics_enabled=False, delete_cache=(600, 3600)
    ) as blocks:
        connect_events(space, blocks, Layout(answer))
        connect_api(space)
    return blocks


def connect_api(space: Space) -> None:
    """Add the function `scores` to the API, with a parameter for each option of the page."""
    kind = Parameter.POSITIONAL_OR_KEYWORD
    parameters = [
        Parameter("samples", kind, annotation=str),
        Parameter("checker", kind, default="exact_match", annotation=Literal[CHECKERS]),
    ]
    for control in space.controls:
        taken: Any = type(control.value)
        if isinstance(control, Choice):
            taken = Literal[tuple(control.choices)]
        parameters.append(Parameter(control.name, kind, default=control.value, annotation=taken))
    parameters.append(Parameter("reading", kind, default={}, annotation=dict))

    def scores(samples, checker, *values):
        """Return the `result_dict` of the answer, with its notes. Raise gr.Error without one."""
        try:
            if not isinstance(samples, str):
                raise ValueError("samples must be a text in JSON Lines, JSON or CSV.")
            *option_values, reading = values
            if not (isinstance(reading, dict) and is_reading(reading)):
                raise ValueError(
                    "reading must be an object, such as {'missing': 'drop'} or "
                    "{'where': [['model', 'a']]}."
                )
            chosen = dict(zip(space.defaults, option_values, strict=True))
            request = make_request(space, checker, chosen, text=samples, reading=reading)
            answer = score(request)
            result = result_dict(answer) | {"notes": answer.notes}
            # JSON texts can have lone surrogates, which UTF-8 cannot encode. They become "?".
            return json.loads(json.dumps(result, ensure_ascii=False).encode(errors="replace"))
        except ValueError as error:
            remedy = _remedy(error) if isinstance(error, ChoiceError) else ""
            raise gr.Error(f"{error}{remedy}", print_exception=False) from error

    # Gradio describes the function to clients by its signature.
    scores.__annotations__ = {x.name: x.annotation for x in parameters} | {"return": dict}
    scores.__signature__ = Signature(parameters, return_annotation=dict)  # type: ignore[attr-defined]
    example = "\n".join(space.examples[0].text.splitlines()[:2])
    described = "; ".join(f"{control.name}: {_described(control)}" for control in space.controls)
    description = (
        f"Scores samples, such as client.predict({example!r}, api_name='/scores'). samples: text: "
        f"a table, rows of outcomes, JSON Lines or JSON, at most {MAX_SAMPLES:,} samples; checker: "
        f"what compares samples with references; {described}; reading: arguments of at_k.read that "
        f"say how the samples are read, such as {{'missing': 'drop'}}: an error names what is "
        f"needed. Returns the scores and their limits, the samples as they were read, and notes."
    )
    gr.api(scores, api_name="scores", api_description=description)


def _remedy(error: ChoiceError) -> str:
    """Return the end of an error message, which says what `reading` settles the error."""
    choices = [json.dumps(choice) for choice in error.choices]
    if error.columns:
        choices.append('{"predictions": .., "references": ..}')
    if error.asks_correct:
        choices.append('{"correct_values": [..]}')
    return f" Give reading={' or '.join(choices)}."


def _described(control: Control) -> str:
    """Return what the API says about an option: its meaning and its valid values, as one text."""
    if not isinstance(control, Choice):
        return control.info
    choices = [f"{value!r} ({text})" for value, text in control.choices.items()]
    return f"{control.info}: {' or '.join(choices)}"
