"""Read the samples of lm-evaluation-harness: `samples_<task>_<date>.jsonl`, by `--log_samples`.

A row is a document under one filter, with the responses as generated in `resps`, those that the
filter returned in `filtered_resps`, and a column for each metric of the document. The harness stops
if a request fails. If a filter finds no answer, its fallback is logged, such as "[invalid]", which
is incorrect here as in the harness.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .table import Columns, Roles, Table, newest_logs

_LOG_COLUMNS = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps"}
_RESULTS_COLUMNS = {"results", "n-shot", "higher_is_better"}
_RESPONSES, _CORRECT = "number of responses", "number of correct ones by pass@1"
_LOG_NAME = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.-]+?)\.jsonl")


def lm_eval_files(folder: Path) -> list[Path]:
    """Return the samples files in a folder that the harness writes, the newest of each task.

    Raises:
        ValueError: if there are results, but no samples.
    """
    files = sorted(file for pattern in ("*.js*", "*/*.js*") for file in folder.glob(pattern))
    logs = [(file, name) for file in files if (name := _LOG_NAME.match(file.name))]
    if not logs and any(map(_is_results_file, files)):
        raise ValueError(f"{folder} is a folder of lm-evaluation-harness. {_give_one_of([])}")
    logs.sort(key=lambda log: log[1]["date"])
    return newest_logs(folder, {file: (file.parent, name["task"]) for file, name in logs})


def _is_results_file(path: Path) -> bool:
    if not (path.name.startswith("results_") and path.suffix == ".json"):
        return False
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return False
    return isinstance(results, dict) and results.keys() >= _RESULTS_COLUMNS


def _give_one_of(logs: Sequence[Path]) -> str:
    if not logs:
        return "Run the harness with --log_samples, which writes samples_*.jsonl: here are none."
    shown = ", ".join(map(str, logs[:8])) + (", .." if len(logs) > 8 else "")
    return f"Give one of its files of samples: {shown}."


def read_lm_eval(table: Table, path: Path | None) -> Table | None:
    """Return the responses of each document, or its metrics if it has one response.

    The metrics of a document with several responses are scores already, so its responses are
    checked against the target. If the harness has graded them by more than that, such as by
    running programs, its pass@1 gives the numbers of correct responses. The harness keeps the first
    response if a task has no filter: then all responses are read. If another filter keeps some of
    them, the caller has to name `resps` or `filtered_resps`. The rows of each filter repeat the
    same responses, so those of one filter have to be chosen, with where={"filter": ..}. A file of
    results is refused with a ValueError.
    """
    if table.columns.keys() >= _RESULTS_COLUMNS:
        logs = sorted(path.parent.glob("samples_*.jsonl")) if path else []
        raise ValueError(
            f"{path or 'The source'} has the results of lm-evaluation-harness, without samples. "
            f"{_give_one_of(logs)}"
        )
    if not table.columns.keys() >= _LOG_COLUMNS:
        return None
    columns = dict(table.columns)
    origin = _log_origin(path)
    if "task" in origin:
        columns["task"] = [origin["task"]] * len(columns["doc_id"])
    if all(map(_is_generated, columns["resps"])):
        columns["resps"] = [row[0] for row in columns["resps"]]
        columns["filtered_resps"] = [_kept_responses(row[0]) for row in columns["filtered_resps"]]
        lists = [_list_of_texts(target) for target in columns["target"]]
        if None not in lists:
            columns["target_list"] = lists
        columns |= _counts_of_harness(columns)
    roles = _find_roles(columns)
    if not {"predictions", "outcomes"} & roles.keys():
        raise ValueError(
            "This log of lm-evaluation-harness has log-likelihoods, and no metric that is one "
            "number for each document, as for a perplexity: there are no outcomes to score."
        )
    return Table(columns, roles, origin, find_roles=_find_roles)


def _find_roles(columns: Columns) -> Roles:
    """Return the roles of the columns for these rows, which may be those of one filter."""
    roles: Roles = {"questions": "doc_id"}
    if "task" in columns:
        roles |= {"questions": ("task", "doc_id"), "groups": "task"}
    if "filter" in columns:
        roles["filters"] = "filter"
    if _CORRECT in columns and None not in columns[_CORRECT]:
        roles |= {"n": _RESPONSES, "correct": _CORRECT}
    samples_per_document = 1
    if all(isinstance(text, str) for responses in columns["resps"] for text in responses):
        samples_per_document = max(map(len, columns["resps"]))
        roles |= {
            "predictions": _response_columns(columns),
            # The harness writes a list of acceptable answers as text, in the same way as a target
            # that has this form: the caller has to say which it is.
            "references": ("target", "target_list") if "target_list" in columns else "target",
        }
    if samples_per_document == 1:
        metrics = tuple(name for name in columns if name != "doc_id" and _is_metric(columns[name]))
        roles |= {"outcomes": metrics} if metrics else {}
    return roles


def _counts_of_harness(columns: Columns) -> Columns:
    """Return columns of the numbers of responses and of correct ones, by the logged pass@1.

    The harness has run the programs of tasks such as humaneval, whose responses are not equal to
    their target. If comparing responses with the target gives the same numbers, there is no column.
    """
    metric = next((name for name in ("pass@1", "pass_at_1") if name in columns), None)
    if metric is None or "target_list" in columns:
        return {}
    counts, differ = [], False
    rows = zip(
        *(columns[name] for name in ("resps", "filtered_resps", "target", metric)), strict=True
    )
    for all_responses, responses, target, mean in rows:
        n = len(responses)
        count = round(mean * n) if isinstance(mean, (int, float)) and mean == mean else None
        if count is None or len(all_responses) != n or abs(mean * n - count) > 1e-6:
            count = None
        counts.append(count)
        differ = differ or (count is not None and responses.count(target) != count)
    if not differ or max(map(len, columns["resps"])) == 1:
        return {}
    return {_RESPONSES: [len(row) for row in columns["filtered_resps"]], _CORRECT: counts}


def _log_origin(path: Path | None) -> dict[str, str]:
    """Return the harness, and what the name of the file and the file of results beside it say."""
    origin = {"harness": "lm-evaluation-harness"}
    name = _LOG_NAME.match(path.name) if path else None
    if path and name:
        results = path.with_name(f"results_{name['date']}.json")
        if results.is_file():
            origin["model"] = json.loads(results.read_text(encoding="utf-8"))["model_name"]
        origin["task"] = name["task"]
    return origin


def _is_generated(responses: Sequence[Any]) -> bool:
    """Whether the document has one request, and its responses are texts, not log-likelihoods."""
    return len(responses) == 1 and all(isinstance(text, str) for text in responses[0])


def _kept_responses(responses: Any) -> list[Any]:
    """Return the responses that a filter keeps: a list, or a text if it takes the first."""
    return responses if isinstance(responses, list) else [responses]


def _response_columns(columns: Columns) -> str | tuple[str, ...]:
    """Return the column of responses, or both if a filter keeps some of them only."""
    if list(map(len, columns["resps"])) == list(map(len, columns["filtered_resps"])):
        return "filtered_resps"
    unfiltered = set(columns.get("filter", ("none",))) == {"none"}
    return "resps" if unfiltered else ("resps", "filtered_resps")


def _list_of_texts(target: Any) -> list[str] | None:
    try:
        parsed = ast.literal_eval(target)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None
    is_list = isinstance(parsed, list) and all(isinstance(text, str) for text in parsed)
    return parsed if is_list and repr(parsed) == target else None


def _is_metric(cells: Sequence[Any]) -> bool:
    numbers = [cell for cell in cells if cell is not None]
    return bool(numbers) and all(isinstance(cell, (int, float)) for cell in numbers)
