"""Read logs of inspect_ai: `.eval` and `.json` files, and data frames of `samples_df`.

A row is a sample in one epoch, which is a sample of its question here. There is a column
`score_<scorer>` for each scorer, as in `samples_df`, or `score_<scorer>.<key>` for each entry of a
score that is a dict. As in inspect_ai, "C" is 1, "P" is 0.5, and "I" and "N" (no answer) are 0. A
sample that raised an error, or whose score is NaN (unscored), is None, because inspect_ai does not
count it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .table import Columns, Roles, Table

_SCORE_VALUES = {"C": 1, "P": 0.5, "I": 0, "N": 0, "yes": 1, "true": 1, "no": 0, "false": 0}


def read_eval_file(path: Path) -> Table | None:
    """Return the samples of a `.eval` file, read by inspect_ai.

    Raises:
        ImportError: if inspect_ai is not installed.
    """
    if path.suffix != ".eval":
        return None
    try:
        from inspect_ai.log import read_eval_log
    except ImportError as error:
        raise ImportError(
            f"{path} needs inspect_ai: pip install inspect_ai. It also converts the log to JSON: "
            f"inspect log dump {path} > log.json."
        ) from error
    unread = {"messages", "events", "store", "attachments"}
    try:
        log = read_eval_log(str(path), exclude_fields=unread)
    except Exception as error:  # of zip, zstd, JSON or pydantic
        raise ValueError(f"{path} cannot be read by inspect_ai: {error}") from error
    fields = {"id", "epoch", "target", "output", "scores", "error"}
    samples = [sample.model_dump(include=fields) for sample in log.samples or []]
    return _log_table(log.eval.model, log.eval.task, samples, log.status)


def read_inspect_json(table: Table, path: Path | None) -> Table | None:
    """Return the samples of a log in JSON, which was parsed into one row."""
    if not table.columns.keys() >= {"version", "status", "eval", "plan", "samples"}:
        return None
    if len(table.columns["eval"]) != 1:
        return None
    (log,) = table.columns["eval"]
    (status,), (samples,) = table.columns["status"], table.columns["samples"]
    return _log_table(log["model"], log["task"], samples or [], status)


def read_samples_df(table: Table, path: Path | None) -> Table | None:
    """Return the samples of a data frame of `samples_df`, which may hold several logs.

    If several logs have the same questions, the caller has to choose one, with
    where={"eval_id": ..}.
    """
    if not table.columns.keys() >= {"sample_id", "eval_id", "id", "epoch", "target"}:
        return None
    columns = {name: list(map(_none_if_nan, cells)) for name, cells in table.columns.items()}
    origin = {"harness": "inspect_ai"}
    roles: Roles = {"questions": "id"}
    if "model" in columns:
        origin["model"] = ", ".join(dict.fromkeys(columns["model"]))
    if "task_name" in columns:
        roles |= {"questions": ("task_name", "id"), "groups": "task_name"}
        origin["task"] = ", ".join(dict.fromkeys(columns["task_name"]))
    scores = {name: columns.pop(name) for name in list(columns) if name.startswith("score_")}
    return _with_scores(columns, scores, roles, origin)


def _log_table(model: str, task: str, samples: Sequence[Mapping[str, Any]], status: str) -> Table:
    """Return the table of the samples of one log, each with its fields in a dict.

    Raises:
        ValueError: if the evaluation failed before a sample was scored.
    """
    if status != "success" and not any(sample.get("scores") for sample in samples):
        raise ValueError(
            f"The log of {task} has the status {status!r}, and no sample is scored: its samples "
            f"are not incorrect. Run the evaluation again (inspect eval-retry)."
        )
    columns: Columns = {
        name: [sample[name] for sample in samples] for name in ("id", "epoch", "target")
    }
    columns["completion"] = [(sample.get("output") or {}).get("completion") for sample in samples]
    columns["task"] = [task] * len(samples)
    scorers = dict.fromkeys(name for sample in samples for name in sample.get("scores") or {})
    scores = {
        f"score_{name}": [
            None
            if sample.get("error") or name not in (sample.get("scores") or {})
            else sample["scores"][name]["value"]
            for sample in samples
        ]
        for name in scorers
    }
    roles: Roles = {"questions": ("task", "id"), "groups": "task"}
    roles |= {"predictions": "completion", "references": "target"}
    origin = {"harness": "inspect_ai", "model": model, "task": task}
    return _with_scores(columns, scores, roles, origin)


def _with_scores(
    columns: Mapping[str, Sequence[Any]],
    scores: Mapping[str, Sequence[Any]],
    roles: Roles,
    origin: dict[str, str],
) -> Table:
    """Return the table with the columns of scores as outcomes."""
    outcomes: Columns = {}
    for name, cells in scores.items():
        values = [_parsed_score(cell) for cell in cells]
        keys = dict.fromkeys(key for value in values for key in _score_entries(value))
        if keys:
            for key in keys:
                outcomes[f"{name}.{key}"] = [
                    _score_outcome(_score_entries(value).get(key)) for value in values
                ]
        else:
            outcomes[name] = list(map(_score_outcome, values))
    if outcomes:
        roles = roles | {"outcomes": tuple(outcomes)}
    return Table(dict(columns) | outcomes, roles, origin)


def _score_entries(value: Any) -> Mapping[Any, Any]:
    """Return the entries of a score that is a dict or a list, or none."""
    if isinstance(value, Mapping):
        return value
    return dict(enumerate(value)) if isinstance(value, list) else {}


def _parsed_score(value: Any) -> Any:
    """Return a score that `samples_df` wrote as JSON, because it is a dict or a list."""
    if isinstance(value, str) and value.startswith(("{", "[")):
        return json.loads(value)
    return value


def _score_outcome(value: Any) -> Any:
    """Return a score as a number, None if it is NaN, or the text that is not a usual score."""
    if isinstance(value, str):
        return _SCORE_VALUES.get(
            value, _SCORE_VALUES.get(value.lower() if len(value) > 1 else value, value)
        )
    return _none_if_nan(value)


def _none_if_nan(value: Any) -> Any:
    """Return a value, or None if it is NaN."""
    return None if isinstance(value, float) and value != value else value
