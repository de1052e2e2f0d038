"""Read logs of inspect_ai: files, folders, `EvalLog` objects, and data frames of `samples_df`.

A row is a sample in one epoch, which is a sample of its question here. There is a column
`score_<scorer>` for each scorer and `metadata_<key>` for each key of the metadata, as in
`samples_df`, and `score_<scorer>.<key>` for each entry of a score that is a dict. As in inspect_ai,
"C" is 1, "P" is 0.5, and "I" and "N" (no answer) are 0. A sample that raised an error, or whose
score is NaN (unscored), is None, because inspect_ai does not count it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .table import Columns, Roles, Table, newest_logs

_SCORE_VALUES = {"C": 1, "P": 0.5, "I": 0, "N": 0, "yes": 1, "true": 1, "no": 0, "false": 0}
_START_OF_JSON = re.compile(r'\s*{\s*"version":\s*\d+,\s*"status":')


def read_eval_file(path: Path) -> Table | None:
    """Return the samples of a `.eval` file, read by inspect_ai.

    Raises:
        ImportError: if inspect_ai is not installed.
    """
    return _logs_table([_read_log(path)]) if path.suffix == ".eval" else None


def read_inspect_folder(path: Path) -> Table | None:
    """Return the samples of all logs in a folder, such as that of an evaluation set.

    A task that was run again after an error has several logs. The newest that is complete is read,
    and a warning names the others.

    Raises:
        ImportError: if inspect_ai is not installed.
        ValueError: if the logs are of several models.
    """
    if not path.is_dir():
        return None
    logs = {file: _read_log(file) for file in sorted(path.rglob("*")) if _is_log_file(file)}
    files = sorted(logs, key=lambda file: _order(logs[file]))
    newest = newest_logs(path, {file: logs[file]["eval"]["task_id"] for file in files})
    return _logs_table([logs[file] for file in newest], str(path)) if logs else None


def _is_log_file(file: Path) -> bool:
    if file.suffix != ".json" or not file.is_file():
        return file.suffix == ".eval"
    with file.open(encoding="utf-8", errors="replace") as lines:
        return bool(_START_OF_JSON.match(lines.read(200)))


def _order(log: Mapping[str, Any]) -> tuple[bool, str]:
    return log["status"] == "success", log["eval"]["created"]


def _read_log(path: Path) -> dict[str, Any]:
    """Return a log as a dict, without the events of its samples."""
    if path.suffix == ".json":
        return json.loads(path.read_text(encoding="utf-8"))
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
    return _log_dict(log)


def _log_dict(log: Any) -> dict[str, Any]:
    """Return an `EvalLog` as a dict, without the events of its samples."""
    fields = {"id", "epoch", "target", "output", "scores", "error", "metadata"}
    return {
        "status": log.status,
        "eval": {name: getattr(log.eval, name) for name in ("model", "task", "task_id", "created")},
        "samples": [sample.model_dump(include=fields) for sample in log.samples or []],
    }


def read_eval_logs(source: Any) -> Table | None:
    """Return the samples of an `EvalLog`, or of several, as `eval` and `eval_set` return them.

    They are recognized by their attributes. A log that has no samples, such as those of `eval_set`,
    is read from its file.
    """
    if isinstance(source, tuple) and len(source) == 2 and isinstance(source[0], bool):
        source = source[1]  # of eval_set, whose first entry says whether all logs are complete
    logs = source if isinstance(source, (list, tuple)) else [source]
    if not logs or not all(map(_is_eval_log, logs)):
        return None
    return _logs_table(
        [
            _read_log(Path(log.location.removeprefix("file://")))
            if log.samples is None and log.location
            else _log_dict(log)
            for log in logs
        ]
    )


def _is_eval_log(log: Any) -> bool:
    return all(hasattr(log, name) for name in ("eval", "status", "samples", "location", "plan"))


def read_inspect_json(table: Table, path: Path | None) -> Table | None:
    """Return the samples of a log in JSON, which was parsed into one row."""
    if not table.columns.keys() >= {"version", "status", "eval", "plan", "samples"}:
        return None
    if len(table.columns["eval"]) != 1:
        return None
    return _logs_table([{name: cells[0] for name, cells in table.columns.items()}])


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


def _logs_table(logs: Sequence[Mapping[str, Any]], title: str = "The source") -> Table:
    """Return the table of the samples of logs, each with its fields in a dict.

    Raises:
        ValueError: if the logs are of several models, or if an evaluation failed before a sample
            was scored.
    """
    models = list(dict.fromkeys(log["eval"]["model"] for log in logs))
    if len(models) > 1:
        raise ValueError(
            f"{title} has logs of {len(models)} models, which are not parts of one run: "
            f"{', '.join(models)}. Give the logs of one model, or compare the files."
        )
    rows = [(log["eval"]["task"], sample) for log in logs for sample in _samples_of(log)]
    samples = [sample for _, sample in rows]
    columns: Columns = {
        name: [sample[name] for sample in samples] for name in ("id", "epoch", "target")
    }
    columns["completion"] = [
        None if sample.get("error") else (sample.get("output") or {}).get("completion")
        for sample in samples
    ]
    columns["task"] = [task for task, _ in rows]
    metadata = [sample.get("metadata") or {} for sample in samples]
    for key in dict.fromkeys(key for of_sample in metadata for key in of_sample):
        columns[f"metadata_{key}"] = [of_sample.get(key) for of_sample in metadata]
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
    origin = {"harness": "inspect_ai", "model": models[0]}
    origin["task"] = ", ".join(dict.fromkeys(columns["task"]))
    return _with_scores(columns, scores, roles, origin)


def _samples_of(log: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    samples = log["samples"] or []
    if log["status"] != "success" and not any(sample.get("scores") for sample in samples):
        raise ValueError(
            f"The log of {log['eval']['task']} has the status {log['status']!r}, and no sample is "
            f"scored: its samples are not incorrect. Run the evaluation again (inspect eval-retry)."
        )
    return samples


def _with_scores(
    columns: Mapping[str, Sequence[Any]],
    scores: Mapping[str, Sequence[Any]],
    roles: Roles,
    origin: dict[str, str],
) -> Table:
    """Return the table with the columns of scores as outcomes.

    If several tasks have different scorers, one each, their scores are in the column `score`.
    """
    outcomes: Columns = {}
    for name, cells in scores.items():
        values = [_parsed_score(cell) for cell in cells]
        keys = dict.fromkeys(key for value in values for key in _score_entries(value))
        if keys:
            for key in keys:
                outcomes[f"{name}.{key}"] = [
                    score_outcome(_score_entries(value).get(key)) for value in values
                ]
        else:
            outcomes[name] = list(map(score_outcome, values))
    names = [name for name, cells in outcomes.items() if any(cell is not None for cell in cells)]
    if len(names) > 1 and isinstance(roles.get("groups"), str):
        scored = list(_scored(columns[str(roles["groups"])], [outcomes[name] for name in names]))
        if scored:
            outcomes["score"], names = scored, ["score"]
    if names:
        roles = roles | {"outcomes": tuple(names)}
    return Table(dict(columns) | outcomes, roles, origin)


def _scored(tasks: Sequence[Any], scores: Sequence[Sequence[Any]]) -> Iterator[Any]:
    """Yield the score of each row, or nothing if the samples of a task have several scores."""
    rows = list(zip(tasks, zip(*scores, strict=True), strict=True))
    found = {(task, i) for task, row in rows for i, score in enumerate(row) if score is not None}
    scorer_of = dict(found)
    if len(scorer_of) == len(found):
        yield from (row[scorer_of.get(task, 0)] for task, row in rows)


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


def score_outcome(value: Any) -> Any:
    """Return a score as a number, None if it is NaN, or the text that is not a usual score."""
    if isinstance(value, str):
        return _SCORE_VALUES.get(
            value, _SCORE_VALUES.get(value.lower() if len(value) > 1 else value, value)
        )
    return _none_if_nan(value)


def _none_if_nan(value: Any) -> Any:
    """Return a value, or None if it is NaN."""
    return None if isinstance(value, float) and value != value else value
