"""What the logs of harnesses, trainers and servers hold: a function for each format.

A reader returns a `Table`, or None if the source is not what it reads. It imports libraries other
than NumPy in its function only. To support another log, add a function and name it at the end. Its
tests read files that the harness has written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

from .agents import (
    read_deepeval,
    read_harbor,
    read_harbor_folder,
    read_promptfoo,
    read_swe_bench,
    read_tau2,
    read_verifiers,
)
from .inspect_ai import (
    read_eval_file,
    read_eval_logs,
    read_inspect_folder,
    read_inspect_json,
    read_samples_df,
)
from .lm_eval import lm_eval_files, read_lm_eval
from .table import Columns, Roles, Table, newest_logs


def read_lighteval(table: Table, path: Path | None) -> Table | None:
    """Read the details of lighteval: `details_<task>_<date>.parquet`, by `--save-details`.

    A row is a document, with its responses in `model_response` and its metrics in `metric`. The
    metrics are read if each document has one response at most. Those of several responses are
    scores already, so the responses are checked against the gold answers. If lighteval removes the
    reasoning before it checks a response, the response without it is read. lighteval counts every
    logged response, an empty one as incorrect.
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


def lighteval_files(folder: Path) -> list[Path]:
    """Return the details in a folder of lighteval, the newest of each task."""
    files = sorted(folder.rglob("details_*.parquet"), key=lambda file: file.parent.name)
    tasks = {file: (file.parents[1], file.name.partition("_20")[0]) for file in files}
    return newest_logs(folder, tasks)


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
    folders = path.resolve().parts if path else ()
    if "details" not in folders:
        return {}
    start = len(folders) - folders[::-1].index("details")
    model = "/".join(folders[start:-2])
    return {"model": model} if model else {}


def read_evalplus(table: Table, path: Path | None) -> Table | None:
    """Read the results of evalplus: `*_eval_results.json`, with a row for each solution.

    evalplus counts every sample. A sample passes `base` if it passes the original tests, and `plus`
    if it also passes the additional ones, when these were run. A test that times out has failed.
    """
    if not table.columns.keys() >= {"date", "hash", "eval"} or len(table.columns["eval"]) != 1:
        return None
    (tasks,) = table.columns["eval"]
    if not isinstance(tasks, dict):
        return None
    results = [result for solutions in tasks.values() for result in solutions]
    base = [result["base_status"] == "pass" for result in results]
    columns: Columns = {
        "task_id": [task for task, solutions in tasks.items() for _ in solutions],
        "solution": [result["solution"] for result in results],
        "base": base,
    }
    outcomes: tuple[str, ...] = ("base",)
    if all(result["plus_status"] is not None for result in results):
        passed = [result["plus_status"] == "pass" for result in results]
        columns["plus"] = list(map(all, zip(base, passed, strict=True)))
        outcomes = ("base", "plus")
    return Table(columns, {"questions": "task_id", "outcomes": outcomes}, {"harness": "evalplus"})


def read_human_eval(table: Table, path: Path | None) -> Table | None:
    """Read the results of human-eval: `*_results.jsonl`.

    human-eval counts every sample, and one that times out as incorrect.
    """
    if not table.columns.keys() >= {"task_id", "completion", "result", "passed"}:
        return None
    roles: Roles = {"questions": "task_id", "outcomes": "passed"}
    return Table(table.columns, roles, {"harness": "human-eval"})


def read_openai_batch(table: Table, path: Path | None) -> Table | None:
    """Read the output of the Batch API of OpenAI, in which a line is a request with n choices.

    The file has neither references nor outcomes, and its lines are not in the order of the
    requests: `custom_id` identifies the question. A choice without text (a refusal, or a call of a
    tool) is an empty answer. A request that failed has one sample that is not scored.
    """
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


def read_verl(table: Table, path: Path | None) -> Table | None:
    """Read the generations that the trainer of verl dumps: `<step>.jsonl`.

    A row is a sample: the rows with equal `input` belong to a question. verl scores every sample.
    If the reward function also gives `acc`, the caller has to choose between it and `score`, unless
    both are equal.
    """
    if not table.columns.keys() >= {"input", "output", "gts", "score", "step"}:
        return None
    roles: Roles = {
        "questions": "input",
        "predictions": "output",
        "references": "gts",
        "outcomes": ("acc", "score") if "acc" in table.columns else "score",
    }
    return Table(table.columns, roles, {"harness": "verl"})


def read_trl(table: Table, path: Path | None) -> Table | None:
    """Read the completions that TRL logs: `completions_<step>.parquet`, by `log_completions`.

    A row is a sample: the rows with equal `prompt` belong to a question. TRL leaves out a reward
    that is NaN, which is None here.
    """
    if not table.columns.keys() >= {"step", "prompt", "completion", "advantage"}:
        return None
    columns: Columns = dict(table.columns)
    rewards = tuple(
        name
        for name, cells in columns.items()
        if name not in ("step", "advantage")
        and all(isinstance(cell, (int, float)) for cell in cells if cell is not None)
    )
    for name in rewards:
        columns[name] = [None if cell != cell else cell for cell in columns[name]]
    roles: Roles = {"questions": "prompt", "predictions": "completion"}
    return Table(columns, roles | {"outcomes": rewards}, {"harness": "TRL"})


def read_request_outputs(source: Any) -> Table | None:
    """Read the `RequestOutput` objects that `LLM.generate` and `LLM.chat` of vLLM return.

    They are recognized by their attributes, so that vLLM need not be installed. They have no
    references: pass those as `compute(**at_k.read(outputs), references=answers)`, in the order of
    the prompts.
    """
    requests = source if isinstance(source, (list, tuple)) else [source]
    if not requests or not all(map(_is_request_output, requests)):
        return None
    columns: Columns = {
        "request_id": [request.request_id for request in requests],
        "prompt": [request.prompt for request in requests],
        "outputs": [[output.text for output in request.outputs] for request in requests],
    }
    roles: Roles = {"questions": "request_id", "predictions": "outputs"}
    return Table(columns, roles, {"harness": "vLLM"})


def _is_request_output(request: Any) -> bool:
    return all(hasattr(request, name) for name in ("request_id", "prompt", "outputs")) and all(
        hasattr(output, "text") for output in request.outputs
    )


def read_flat_rewards(source: Any) -> Table | None:
    """Read flat rewards, as reward functions of TRL and verl return them, in a list or an array.

    The rows of a question follow each other: the caller has to give their number.
    """
    if getattr(source, "ndim", None) == 1 and hasattr(source, "tolist"):
        source = source.tolist()
    if not isinstance(source, (list, tuple)) or not source:
        return None
    if not all(reward is None or isinstance(reward, Real) for reward in source):
        return None
    return Table({"rewards": list(source)}, {"outcomes": "rewards"})


PATH_READERS: tuple[Callable[[Path], Table | None], ...] = (
    read_eval_file,
    read_inspect_folder,
    read_harbor_folder,
)
"""Readers of files and folders with a format of their own, such as `.eval` of inspect_ai."""

LOG_FOLDERS: tuple[Callable[[Path], list[Path]], ...] = (lm_eval_files, lighteval_files)
"""Functions that return the logs of a harness in a folder, which are read as several files."""

TABLE_READERS: tuple[Callable[[Table, Path | None], Table | None], ...] = (
    read_lm_eval,
    read_inspect_json,
    read_samples_df,
    read_lighteval,
    read_evalplus,
    read_human_eval,
    read_openai_batch,
    read_verl,
    read_trl,
    read_harbor,
    read_swe_bench,
    read_tau2,
    read_verifiers,
    read_promptfoo,
    read_deepeval,
)
"""Readers of tables that were parsed from JSON Lines, JSON, CSV or Parquet at a path, or None."""

OBJECT_READERS: tuple[Callable[[Any], Table | None], ...] = (
    read_eval_logs,
    read_request_outputs,
    read_flat_rewards,
)
"""Readers of Python objects, such as a list of `RequestOutput` of vLLM."""
