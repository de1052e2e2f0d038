"""Read the output of the Batch API of OpenAI, in which a line is a request with n choices.

The file has neither references nor outcomes, and its lines are not in the order of the requests:
`custom_id` identifies the question. A choice without text (a refusal, or a call of a tool) is an
empty answer. A request that failed has one sample that is not scored.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .table import Columns, Table


def read_openai_batch(table: Table, path: Path | None) -> Table | None:
    """Return a row for each request, with the texts of its choices in order of their index."""
    if not table.columns.keys() >= {"custom_id", "response", "error"}:
        return None
    if not all(isinstance(response or {}, dict) for response in table.columns["response"]):
        return None
    bodies = [(response or {}).get("body") or {} for response in table.columns["response"]]
    columns: Columns = dict(table.columns)
    columns["choices"] = [_choice_texts(body) for body in bodies]
    origin = {"harness": "OpenAI Batch API"}
    models = dict.fromkeys(body["model"] for body in bodies if "model" in body)
    if models:
        origin["model"] = ", ".join(models)
    return Table(columns, {"questions": "custom_id", "predictions": "choices"}, origin)


def _choice_texts(body: Mapping[str, Any]) -> list[str | None]:
    if "choices" not in body:
        return [None]
    choices = sorted(body["choices"], key=lambda choice: choice["index"])
    return [
        (choice["message"]["content"] if "message" in choice else choice["text"]) or ""
        for choice in choices
    ]
