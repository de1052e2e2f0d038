"""The address of a page holds its settings and small samples, so that a link shows the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .controls import Slider
from .input_layout import FILES, TABLE, TEXT
from .layout import Layout
from .space import CHECKERS, Example, Space

_LONGEST = 2_000
"""Characters of samples above which the address has none."""

_WRITE_ADDRESS = """(source, text, table, files, checker, ...values) => {
  const query = new URLSearchParams();
  const rows = JSON.stringify(table ? [table.headers, ...table.data] : []);
  const names = (files ?? []).map(file => file.orig_name).join("/");
  const example = %(examples)s.indexOf(names);
  if (source === "%(text)s" && text && text.length <= %(longest)d) query.set("text", text);
  if (source === "%(table)s" && rows.length <= %(longest)d) query.set("table", rows);
  if (source === "%(files)s" && example >= 0) query.set("example", example);
  if ([...query].length) {
    query.set("checker", checker);
    %(names)s.forEach((name, i) => query.set(name, values[i]));
  }
  history.replaceState(null, "", query.size ? `?${query}` : location.pathname);
}"""


def connect_address(space: Space, layout: Layout) -> None:
    """Write the settings into the address of the page after each answer."""
    inputs = layout.inputs
    names = ["/".join(example.files) or None for example in space.examples]
    js = _WRITE_ADDRESS % {
        "examples": json.dumps(names),
        "names": json.dumps(list(inputs.controls)),
        "longest": _LONGEST,
        "table": TABLE,
        "text": TEXT,
        "files": FILES,
    }
    given = [inputs.source, inputs.text, inputs.table, inputs.files, inputs.checker]
    layout.outputs.result.change(
        None, [*given, *inputs.controls.values()], None, js=js, api_visibility="private"
    )


def linked_example(space: Space, query: Mapping[str, str]) -> Example | None:
    """Return what the address of a page holds, or None if it has no samples or is invalid."""
    try:
        samples = _linked_samples(space, query)
        checker = query.get("checker", CHECKERS[0])
        if samples is None or checker not in CHECKERS:
            return None
        options: dict[str, Any] = {}
        for control in space.controls:
            if control.name in query:
                value = query[control.name]
                options[control.name] = float(value) if isinstance(control, Slider) else value
                control.parse(options[control.name])
        return Example("link", **samples, checker=checker, options=options)
    except (ValueError, LookupError):
        return None


def _linked_samples(space: Space, query: Mapping[str, str]) -> dict[str, Any] | None:
    if "text" in query:
        return {"text": query["text"]}
    if "example" in query:
        return {"files": space.examples[int(query["example"])].files}
    if "table" in query:
        rows = json.loads(query["table"])
        if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
            raise ValueError("The rows are no lists.")
        headers, *table = [["" if cell is None else str(cell) for cell in row] for row in rows]
        return {"table": table, "headers": headers}
    return None
