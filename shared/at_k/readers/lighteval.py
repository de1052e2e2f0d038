"""Read the details of lighteval: `details_<task>_<date>.parquet`, by `--save-details`.

A row is a document, with the responses in `model_response`, and the metrics of the document in
`metric`. lighteval checks responses without their reasoning, if it is told to remove it: these are
read. Every logged response is counted by lighteval, an empty one as incorrect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .table import Columns, Roles, Table


def read_lighteval(table: Table, path: Path | None) -> Table | None:
    """Return the responses of each document, or its metrics if it has one response at most.

    The metrics of a document with several responses are scores already, so its responses are
    checked against the gold answers.
    """
    if not table.columns.keys() >= {"doc", "metric", "model_response"}:
        return None
    columns: Columns = dict(table.columns)
    documents, metrics, responses = (columns[name] for name in ("doc", "metric", "model_response"))
    columns["id"] = [document["id"] for document in documents]
    columns["task"] = [document["task_name"] for document in documents]
    columns["responses"] = [_response_texts(response) for response in responses]
    columns["gold"] = [_gold_answers(document) for document in documents]
    roles: Roles = {"questions": ("task", "id"), "groups": "task"}
    samples_per_document = max(map(len, columns["responses"]))
    if samples_per_document > 0:
        roles |= {"predictions": "responses", "references": "gold"}
    if samples_per_document <= 1:
        names = dict.fromkeys(name for document in metrics for name in document)
        for name in names:
            columns[f"metric.{name}"] = [document.get(name) for document in metrics]
        roles["outcomes"] = tuple(f"metric.{name}" for name in names)
    origin = {"harness": "lighteval", **_model_of_folder(path)}
    origin["task"] = ", ".join(dict.fromkeys(columns["task"]))
    return Table(columns, roles, origin)


def _response_texts(response: Mapping[str, Any]) -> list[str]:
    processed = response.get("text_post_processed")
    return list((response["text"] if processed is None else processed) or ())


def _gold_answers(document: Mapping[str, Any]) -> Any:
    """Return the gold answer of a document, or the list of them if there are several."""
    indices = document["gold_index"]
    golds = [
        document["choices"][i] for i in (indices if isinstance(indices, Sequence) else [indices])
    ]
    return golds[0] if len(golds) == 1 else golds


def _model_of_folder(path: Path | None) -> dict[str, str]:
    """Return the model of a file in `details/<model>/<date>/`."""
    parts = path.resolve().parts if path else ()
    if "details" not in parts:
        return {}
    start = len(parts) - parts[::-1].index("details")
    model = "/".join(parts[start:-2])
    return {"model": model} if model else {}
