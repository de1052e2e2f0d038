"""What the logs of agents, and of tools that test prompts, hold: a function for each format.

The readers are as those of `harnesses`. An attempt that ended in an error of the infrastructure,
such as a container that did not start, is None: it is not scored, as in most of these tools.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .table import Columns, Roles, Table, columns_of_rows

_ERROR = "after an error"


def read_harbor_folder(path: Path) -> Table | None:
    """Read the folder of a job of Harbor (Terminal-Bench), with a `result.json` for each trial."""
    files = sorted(path.glob("*/result.json")) if path.is_dir() else []
    trials = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    trials = [trial for trial in trials if isinstance(trial, dict) and trial.keys() >= _TRIAL]
    return read_harbor(Table(columns_of_rows(trials)), path) if trials else None


_TRIAL = {"source", "task_name", "trial_name", "agent_info", "verifier_result"}


def read_harbor(table: Table, path: Path | None) -> Table | None:
    """Read the trials of Harbor: `result.json`, with the rewards of one trial.

    Harbor says in `reward_valid` whether an error made the rewards void. Its older versions do not:
    their trials without rewards are not scored.
    """
    if table.columns.keys() >= {"n_total_trials", "stats"} and len(table.columns["stats"]) == 1:
        raise ValueError(f"{path} is the summary of a job of Harbor: read its folder.")
    if not table.columns.keys() >= _TRIAL:
        return None
    cells = {name: list(table.columns[name]) for name in _TRIAL}
    is_valid = table.columns.get("reward_valid") or [None] * len(cells["trial_name"])
    rewards = [
        {} if valid is False else (result or {}).get("rewards") or {}
        for valid, result in zip(is_valid, cells["verifier_result"], strict=True)
    ]
    names = dict.fromkeys(name for row in rewards for name in row) or {"reward": None}
    agents = cells["agent_info"]
    columns: Columns = {
        "source": [source or "adhoc" for source in cells["source"]],
        "task_name": cells["task_name"],
        "trial_name": cells["trial_name"],
        "agent": [agent["name"] for agent in agents],
        "model": [(agent.get("model_info") or {}).get("name") for agent in agents],
        **{name: [row.get(name) for row in rewards] for name in names},
    }
    origin = {"harness": "Harbor", **_origin(columns, "agent", "model", "source")}
    roles: Roles = {"questions": ("source", "task_name"), "groups": "source"}
    return Table(columns, roles | {"outcomes": tuple(names)}, origin, unscored=_ERROR)


def read_swe_bench(table: Table, path: Path | None) -> Table | None:
    """Read the report of a run of SWE-bench: `<model>.<run>.json`, with a sample per instance.

    Several reports of one model are its repeated runs. As in SWE-bench, an empty patch and one that
    cannot be applied are incorrect. Instances in `infra_failure_ids` are not scored, and those
    without a prediction are no samples.
    """
    keys = ("submitted_ids", "resolved_ids", "empty_patch_ids", "error_ids")
    if not table.columns.keys() >= {*keys} or len(table.columns["resolved_ids"]) != 1:
        return None
    submitted, resolved, *_ = (table.columns[key][0] for key in keys)
    unscored = {*table.columns.get("infra_failure_ids", [[]])[0]}
    outside = {*table.columns.get("incomplete_ids", [[]])[0]}
    instances = [instance for instance in submitted if instance not in outside]
    columns: Columns = {
        "instance_id": instances,
        "resolved": [None if x in unscored else x in {*resolved} for x in instances],
    }
    origin = {"harness": "SWE-bench"}
    if path and "." in path.stem:
        origin["model"] = path.stem.rpartition(".")[0]
    roles: Roles = {"questions": "instance_id", "outcomes": "resolved"}
    return Table(columns, roles, origin, unscored="after a failure of the infrastructure")


def read_tau2(table: Table, path: Path | None) -> Table | None:
    """Read the results of tau2-bench: one object, with a simulation for each trial of a task.

    As in tau2, a reward of 1 is a success, and simulations that cannot be evaluated are not scored:
    those that ended in an error of the infrastructure, or because the context was full. If there
    is a file for each simulation, `results.json` has an index of them.
    """
    if not table.columns.keys() >= {"info", "tasks", "simulations"}:
        return None
    if len(table.columns["simulations"]) != 1:
        return None
    ((info,), (runs,)) = table.columns["info"], table.columns["simulations"]
    runs = runs or table.columns.get("simulation_index", [None])[0] or []
    columns = columns_of_rows(runs)
    if "id" in columns:  # of simulations: the name is usual for questions
        columns["simulation_id"] = columns.pop("id")
    rewards = [run["reward"] if "reward" in run else _reward_of(run) for run in runs]
    void = ("infrastructure_error", "context_window_exceeded")
    columns["success"] = [
        None
        if run["termination_reason"] in void
        else reward is not None and abs(reward - 1) <= 1e-6
        for run, reward in zip(runs, rewards, strict=True)
    ]
    origin = {"harness": "tau2", "domain": info["environment_info"]["domain_name"]}
    if info["agent_info"].get("llm"):
        origin["model"] = info["agent_info"]["llm"]
    roles: Roles = {"questions": "task_id", "outcomes": "success"}
    return Table(columns, roles, origin, unscored="after an error, or with a full context")


def _reward_of(run: Mapping[str, Any]) -> float | None:
    return (run.get("reward_info") or {}).get("reward")


def read_verifiers(table: Table, path: Path | None) -> Table | None:
    """Read the rollouts of verifiers: `results.jsonl`, and `traces.jsonl` since version 0.2.

    A rollout with an error is not scored. A line of `traces.jsonl` is an episode: each trace of an
    agent that is trained is a sample, and its reward is the weighted sum of its rewards.
    """
    columns: Columns = dict(table.columns)
    roles: Roles = {"questions": "example_id", "outcomes": "reward"}
    if columns.keys() >= {"example_id", "completion", "reward", "is_completed", "timing"}:
        errors = columns.get("error") or [None] * len(columns["reward"])
        columns["reward"] = [
            None if error else reward
            for error, reward in zip(errors, columns["reward"], strict=True)
        ]
        return Table(columns, roles, {"harness": "verifiers"}, unscored=_ERROR)
    if not columns.keys() >= {"env", "task", "traces", "ok"}:
        return None
    traces = [
        {
            "env": env["id"],
            "agent": trace["agent"]["name"],
            "example_id": task.get("key") or task["data"].get("idx"),
            "reward": _weighted(trace) if ok and trace["ok"] else None,
        }
        for env, task, ok, episode in zip(
            *(columns[name] for name in ("env", "task", "ok", "traces")), strict=True
        )
        for trace in episode or [{"agent": {"name": "agent"}, "ok": False}]
        if trace["agent"].get("trainable", True)
    ]
    columns = columns_of_rows(traces)
    origin = {"harness": "verifiers", **_origin(columns, "env")}
    return Table(columns, roles, origin, unscored=_ERROR)


def _weighted(trace: Mapping[str, Any]) -> float:
    rewards = trace["rewards"].values()
    return sum(reward["score"] * reward.get("weight", 1) for reward in rewards if reward)


def read_promptfoo(table: Table, path: Path | None) -> Table | None:
    """Read the results of promptfoo: `--output results.json` or `.jsonl`.

    With `--repeat n`, tests with the same variables and assertions are n samples of a question. A
    call that failed is an error in promptfoo, and is not scored. Several prompts or providers are
    several runs: choose one, with where={"model": ..} or where={"prompt": ..}.
    """
    columns = table.columns
    if columns.keys() >= {"evalId", "results", "config"} and len(columns["results"]) == 1:
        columns = columns_of_rows(columns["results"][0]["results"])
    if not columns.keys() >= {"testIdx", "promptIdx", "success", "failureReason", "testCase"}:
        return None
    tests = [
        {key: test.get(key) for key in ("description", "vars", "assert")}
        for test in columns["testCase"]
    ]
    rows: Columns = {
        "test": [json.dumps(test, sort_keys=True, ensure_ascii=False) for test in tests],
        "prompt": [prompt["label"] for prompt in columns["prompt"]],
        "model": [provider["label"] or provider["id"] for provider in columns["provider"]],
        "success": [
            None if reason == 2 else success
            for reason, success in zip(columns["failureReason"], columns["success"], strict=True)
        ],
    }
    origin = {"harness": "promptfoo", **_origin(rows, "model")}
    roles: Roles = {"questions": "test", "outcomes": "success"}
    return Table(rows, roles, origin, unscored=_ERROR)


def read_deepeval(table: Table, path: Path | None) -> Table | None:
    """Read the runs of deepeval: `test_run_<date>.json`, in the folder DEEPEVAL_RESULTS_FOLDER.

    Test cases with the same input are samples of a question. A test case passes if all metrics that
    are not flaky do. One with a metric that failed is not scored.
    """
    if not table.columns.keys() >= {"testCases", "metricsScores", "testPassed"}:
        return None
    if len(table.columns["testCases"]) != 1:
        return None
    cases = table.columns["testCases"][0]
    columns = columns_of_rows(cases)
    columns["success"] = [
        None if any(x.get("error") for x in case.get("metricsData", ())) else case.get("success")
        for case in cases
    ]
    roles: Roles = {"questions": "input", "outcomes": "success"}
    return Table(columns, roles, {"harness": "deepeval"}, unscored=_ERROR)


def _origin(columns: Mapping[str, Sequence[Any]], *names: str) -> dict[str, str]:
    """Return the entries of these columns, as far as there are any."""
    entries = {name: dict.fromkeys(filter(None, columns[name])) for name in names}
    return {name: ", ".join(found) for name, found in entries.items() if found}
