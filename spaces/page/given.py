"""Read a request from the values of the inputs of a page."""

from __future__ import annotations

from typing import Any

from .input_layout import FILES, TABLE, TEXT, Inputs, Shown
from .request import Request, make_request
from .space import Space
from .table_editing import table_rows

Values = dict[Any, Any]
"""The value of each component, by component: given to a handler, or returned as updates."""


def request_of(space: Space, inputs: Inputs, values: Values) -> Request:
    """Return the request that the inputs hold; a ValueError if it is incomplete or invalid.

    A slider that was lowered for samples and not moved since stands for what was requested.
    """
    shown: Shown = values[inputs.shown]
    options = {name: values[component] for name, component in inputs.controls.items()}
    for name, used in shown.used.items():
        if options[name] == used:
            options[name] = shown.requested[name]
    chosen = {role: values[component] for role, component in inputs.columns.items()}
    columns = {role: column for role, column in chosen.items() if column}
    samples = _samples(space, inputs, values) | {"reading": values[inputs.reading]}
    return make_request(space, values[inputs.checker], options, **samples, columns=columns)


def is_empty(inputs: Inputs, values: Values) -> bool:
    """Whether a visitor has chosen a text or files, and has not given any yet."""
    sources = {TEXT: values[inputs.text], FILES: values[inputs.files]}
    return not sources.get(values[inputs.source], True)


def _samples(space: Space, inputs: Inputs, values: Values) -> dict[str, Any]:
    """Return the samples of the chosen source, as an argument of `make_request`."""
    if values[inputs.source] == TABLE:
        return {"table": table_rows(values[inputs.table])}
    if values[inputs.source] == TEXT:
        return {"text": values[inputs.text] or ""}
    files = values[inputs.files] or ()
    if len(files) > space.max_files:
        raise ValueError(f"{len(files)} files are too many. The limit is {space.max_files}.")
    # Gradio passes instances of its own str class. A worker process could not load them without
    # importing Gradio.
    return {"files": tuple(str(file) for file in files)}
