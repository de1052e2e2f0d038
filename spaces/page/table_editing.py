"""How a visitor edits the table of samples, other than cell by cell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pandas
from gradio.events import Dependency

from .input_layout import Inputs, table_updates
from .pasted import Row, paste_cells, unnamed_of
from .received import MAX_BYTES, TOO_LARGE
from .saving import shown_to_visitor
from .space import Space

_EMPTY_ROWS = 4


def table_rows(frame: pandas.DataFrame) -> list[Row]:
    """Return the headers and the rows of a table as Gradio passes it."""
    cells = frame.astype(object).where(frame.notna(), "")
    return [list(map(str, row)) for row in [list(cells.columns), *cells.values.tolist()]]


def connect_table(space: Space, inputs: Inputs) -> Iterator[Dependency]:
    """Connect the buttons of the table, and what is pasted into it. Yield each event."""
    options: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}

    def paste(frame: pandas.DataFrame, pasted: str) -> dict[str, Any]:
        with shown_to_visitor():
            if len(pasted) > MAX_BYTES:
                raise ValueError(TOO_LARGE)
            cells = json.loads(pasted)
            row, column, text = cells["row"], cells["column"], cells["text"]
            rows = paste_cells(unnamed_of(space), table_rows(frame), row, column, text)
            return table_updates(rows)

    yield inputs.pasted.change(paste, [inputs.table, inputs.pasted], inputs.table, **options)
    yield inputs.add_row.click(_add_row, inputs.table, inputs.table, **options)
    yield inputs.clear.click(_clear, inputs.table, inputs.table, **options)


def _add_row(frame: pandas.DataFrame) -> dict[str, Any]:
    rows = table_rows(frame)
    return table_updates([*rows, [""] * len(rows[0])])


def _clear(frame: pandas.DataFrame) -> dict[str, Any]:
    headers = table_rows(frame)[0]
    return table_updates([headers, *([""] * len(headers) for _ in range(_EMPTY_ROWS))])
