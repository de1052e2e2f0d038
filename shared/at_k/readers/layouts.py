"""Define the layouts of the files of tools, by which they are recognised and read.

`LAYOUTS` has an entry for each tool, recognised by fields that every row has. It says which columns
have which role, and how the tool counts missing outcomes. A new tool needs an entry and a fixture.
"""

from __future__ import annotations

import fnmatch
import json
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .table import FILE, Columns, Roles, Table, rows_of, table_of_rows
from .words import is_list_of, parse_list

LogRow = dict[str, Any]
"""A record of a log by its fields, or a row that is made from it."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The layout of the files of a tool. In texts of several names, spaces separate them.

    Attributes:
        tool: its name, for the first line of output.
        fields: the fields that every record has.
        is_record: returns whether a record is one of the tool, where its fields do not tell.
        is_object: whether a file is one object of JSON, with all rows inside.
        rows: returns the row in a record, or several. Default: the record itself.
        columns: the columns that are added to rows, each with a function of a row. If `rows` or
            `columns` make a table, its column `model` is a fact about the run, and with `rows` all
            of `_FACTS` are.
        questions: the columns that identify a question together. `task` may be missing.
        outcomes, predictions, references, groups: the columns of these roles, or patterns such as
            "value.*". Several are alternatives, of which the caller chooses one.
        samples: the columns that number the samples of a question.
        filters: the column of filters, each of which has the same samples again.
        find_roles: returns the columns of further roles, which depend on the entries.
        facts_in_path: returns facts about the run from the path of a file.
        missing: "drop" if the tool leaves out missing outcomes, "incorrect" if it counts them so;
            "" if it has no rule, so that the caller is asked.
        why: why samples are missing, for the first line.
        files_are_runs: whether files with the same questions are repeated runs of one model.
        refusal: the message for a file that cannot be read, without its name; or "".
    """

    tool: str
    fields: str
    is_record: Callable[[LogRow], bool] | None = None
    is_object: bool = False
    rows: Callable[[LogRow], LogRow | Iterable[LogRow]] | None = None
    columns: Mapping[str, Callable[[LogRow], Any]] = field(default_factory=dict)
    questions: str = ""
    outcomes: str = ""
    predictions: str = ""
    references: str = ""
    groups: str = ""
    samples: str = ""
    filters: str = ""
    find_roles: Callable[[Columns], Roles] | None = None
    facts_in_path: Callable[[Path], dict[str, str]] | None = None
    missing: str = ""
    why: str = ""
    files_are_runs: bool = False
    refusal: str = ""

    def matches(self, table: Table) -> bool:
        """Return whether a table has the fields of the tool in every row, and its records."""
        if not {*self.fields.split()} <= table.columns.keys() - table.partial:
            return False
        if self.is_object and table.size != 1:
            return False
        return self.is_record is None or all(map(self.is_record, rows_of(table)))

    def rows_in(self, records: Sequence[LogRow]) -> Iterator[LogRow]:
        """Yield the rows in the records, with the columns that are added."""
        for record in records:
            rows = self.rows(record) if self.rows else record
            for row in [rows] if isinstance(rows, dict) else rows:
                yield row | {name: make(row) for name, make in self.columns.items()}

    def roles_of(self, columns: Columns) -> Roles:
        """Return the columns by role, without columns that have no entry."""
        roles: Roles = {}
        for role in _ROLES:
            patterns = getattr(self, role).split()
            names = [x for pattern in patterns for x in fnmatch.filter(columns, pattern)]
            if role != "questions":
                names = [x for x in names if _has_entries(columns[x])]
            if names:
                roles[role] = tuple(names)
        return roles | self.find_roles(columns) if self.find_roles else roles


_FACTS = ("domain", "agent", "model", "source", "task", "env")
"""The facts about a run that the first line states, in this order."""
_ROLES = ("questions", "outcomes", "predictions", "references", "groups", "samples", "filters")
"""The roles for which a layout has an attribute with the names of the columns."""


def recognised(table: Table, path: Path | None = None) -> Table | None:
    """Return the table as read by the first layout that matches it, or None if none does. `path` is
    the path of the file, from which some layouts read the model or the task. A ValueError is raised
    if the file has the fields of a layout, but not its entries; or if the layout is refused."""
    for layout in LAYOUTS:
        if not layout.matches(table):
            continue
        if layout.refusal:
            raise ValueError(f"{table.title} {layout.refusal}")
        try:
            return read_layout(layout, table, path)
        except (AttributeError, LookupError, TypeError) as error:
            raise ValueError(
                f"{table.title} has the fields of {layout.tool} ({layout.fields}), but not its "
                f"entries: {type(error).__name__}: {error}."
            ) from error
    return None


def read_layout(layout: Layout, table: Table, path: Path | None = None) -> Table:
    """Return the table as a layout reads it, with `layout` and `origin` set."""
    facts: dict[str, str] = {}
    if layout.rows or layout.columns:
        rows = list(layout.rows_in(rows_of(table)))
        table = replace(table_of_rows(rows, table.title), is_csv=table.is_csv)
        # Other columns of a record may have these names, such as a `task` that is a long text.
        for fact in _FACTS if layout.rows else ("model",):
            cells = table.columns.get(fact, ())
            texts = [str(x) for x in cells if x and not isinstance(x, (list, dict))]
            facts[fact] = ", ".join(dict.fromkeys(texts))
    from_path = layout.facts_in_path(path) if layout.facts_in_path and path else {}
    if "task" in from_path:
        table = table.with_columns(table.columns | {"task": [from_path["task"]] * table.size})
    lacking = {*layout.questions.split()} - {*table.columns, "task"}
    if lacking and table.size:
        raise KeyError(*sorted(lacking))
    facts |= from_path
    known = {fact: facts[fact] for fact in _FACTS if facts.get(fact)}
    return replace(table, layout=layout, origin={"harness": layout.tool, **known})


# --- lm-evaluation-harness --------------------------------------------------------------------

_RESPONSES, _CORRECT = "number of responses", "number of correct ones by pass@1"
LM_EVAL_NAME = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.-]+?)\.jsonl")


def _lm_eval_row(record: LogRow) -> LogRow:
    """Return a record as a row with its responses as a list, and counts of correct programs. The
    harness has run the programs of tasks such as humaneval, whose responses are not equal to their
    target: its pass@1 says how many are correct."""
    responses, kept = record["resps"], record["filtered_resps"]
    if len(responses) != 1 or not all(isinstance(text, str) for text in responses[0]):
        return record  # log-likelihoods
    texts, kept_texts = responses[0], kept[0] if isinstance(kept[0], list) else [kept[0]]
    row = record | {"resps": texts, "filtered_resps": kept_texts}
    row["target_list"] = _list_of_texts(record["target"])
    n, pass_at_1 = len(texts), record.get("pass@1", record.get("pass_at_1"))
    if isinstance(pass_at_1, (int, float)) and 0 <= pass_at_1 <= 1 and n == len(kept_texts):
        correct = round(pass_at_1 * n)
        if abs(pass_at_1 * n - correct) < 1e-6:
            row |= {_RESPONSES: n, _CORRECT: correct}
    return row


def _list_of_texts(target: Any) -> list[str] | None:
    """Return the list of texts that the harness has written as Python's repr, or None."""
    texts = parse_list(target)
    are_texts = texts is not None and all(isinstance(text, str) for text in texts)
    return texts if are_texts and repr(texts) == target else None


def _lm_eval_roles(columns: Columns) -> Roles:
    """Return the columns by role: predictions with references, counts, and metrics as outcomes. A
    metric is an outcome only if each document has one response."""
    roles: Roles = {}
    if _has_counts_by_pass_at_1(columns):
        roles |= {"n": _RESPONSES, "correct": _CORRECT}
    most = 1  # the number of responses of a document
    if all(isinstance(text, str) for responses in columns["resps"] for text in responses):
        sizes, kept_sizes = (list(map(len, columns[x])) for x in ("resps", "filtered_resps"))
        most = max(sizes)
        is_unfiltered = set(columns.get("filter", ("none",))) == {"none"}
        names = ("resps",) if is_unfiltered else ("resps", "filtered_resps")
        roles["predictions"] = ("filtered_resps",) if sizes == kept_sizes else names
        has_lists = None not in columns.get("target_list", (None,))
        roles["references"] = ("target", "target_list") if has_lists else ("target",)
    if most == 1 and (metrics := _number_columns(columns, ("doc_id", _RESPONSES, _CORRECT))):
        roles["outcomes"] = metrics
    return roles


def _has_counts_by_pass_at_1(columns: Columns) -> bool:
    """Return whether all documents have a number of correct responses by pass@1, and one of them,
    with several responses, has another number that are equal to its target."""
    correct = columns.get(_CORRECT, (None,))
    if None in correct or None not in columns.get("target_list", (None,)):
        return False
    rows = zip(columns["filtered_resps"], columns["target"], correct, strict=True)
    return any(len(texts) > 1 and texts.count(target) != n for texts, target, n in rows)


def _number_columns(columns: Columns, others: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that have only numbers, at least one, and are not in `others`."""
    return tuple(
        name
        for name, cells in columns.items()
        if name not in (*others, FILE)
        and all(isinstance(cell, (int, float)) for cell in cells if cell is not None)
        and _has_entries(cells)
    )


def _lm_eval_path(path: Path) -> dict[str, str]:
    """Return the task in the name of a file, and the model in the results beside the file."""
    if (name := LM_EVAL_NAME.fullmatch(path.name)) is None:
        return {}
    facts, results = {"task": name["task"]}, path.with_name(f"results_{name['date']}.json")
    if results.is_file():
        model = json.loads(results.read_text(encoding="utf-8")).get("model_name")
        facts |= {"model": model} if isinstance(model, str) else {}
    return facts


# --- inspect_ai -------------------------------------------------------------------------------

_INSPECT_SCORES = {"C": 1, "P": 0.5, "I": 0, "N": 0, "yes": 1, "true": 1, "no": 0, "false": 0}


def score_of_inspect(value: Any) -> Any:
    """Return a score of inspect_ai as a number, or None for NaN; other values are unchanged."""
    if isinstance(value, str):
        grade = value.lower() if len(value) > 1 else value  # Letters are upper-case only.
        return _INSPECT_SCORES.get(grade, value)
    return None if isinstance(value, float) and value != value else value


def _inspect_rows(log: LogRow) -> list[LogRow]:
    """Return a row for each sample, with a column `score` if all have the same single scorer."""
    about, samples = log["eval"], log["samples"] or []
    if log["status"] != "success" or all(sample.get("error") for sample in samples):
        _require_scores(log, samples)  # or warn that the log is not complete
    facts = {"task": about["task"], "model": about.get("model")}
    rows = [_inspect_row(sample) | facts for sample in samples]
    names = (name for row in rows for name, value in row.items() if value is not None)
    scorers = list(dict.fromkeys(name for name in names if name.startswith("score_")))
    return [row | {"score": row.get(scorers[0])} for row in rows] if len(scorers) == 1 else rows


def _require_scores(log: LogRow, samples: Sequence[LogRow]) -> None:
    """Raise a ValueError if no sample of a log is scored, or else warn that it is not complete."""
    about, status, number = log["eval"], log["status"], len(samples)
    if not any(sample.get("scores") and not sample.get("error") for sample in samples):
        raise ValueError(
            f"The log of {about['task']} has the status {status!r}, and no sample that is scored: "
            f"its samples are not incorrect. Run the evaluation again (inspect eval-retry)."
        )
    config, dataset = (about.get(name) or {} for name in ("config", "dataset"))
    planned = (dataset.get("samples") or 0) * (config.get("epochs") or 1)
    counted = f"{number} of {planned}" if planned else number
    warnings.warn(
        f"The log of {about['task']} is not complete: it has the status {status!r}, and {counted} "
        f"samples. Those that are missing count nowhere. To run them: inspect eval-retry.",
        stacklevel=2,
    )


def _inspect_row(sample: LogRow) -> LogRow:
    """Return a sample of inspect_ai as a row, without answer and scores if it raised an error."""
    row = {name: sample[name] for name in ("id", "epoch", "target")}
    is_void = bool(sample.get("error"))
    output = sample.get("output") or {}
    row["completion"] = None if is_void else output.get("completion")
    row["stop_reason"] = next((x.get("stop_reason") for x in output.get("choices") or ()), None)
    row |= {f"metadata_{key}": x for key, x in (sample.get("metadata") or {}).items()}
    scores = {} if is_void else sample.get("scores") or {}
    return row | _score_columns({f"score_{x}": y["value"] for x, y in scores.items()})


def _score_columns(scores: Mapping[str, Any]) -> LogRow:
    """Return the scores of a sample by column. A score that is a dict or a list, also as JSON in a
    text, has a column for each of its entries."""
    columns: LogRow = {}
    for name, value in scores.items():
        if isinstance(value, str) and value.startswith(("{", "[")):
            value = json.loads(value)
        if isinstance(value, list):
            value = dict(enumerate(value))
        if isinstance(value, Mapping):
            columns |= {f"{name}.{key}": score_of_inspect(x) for key, x in value.items()}
        else:
            columns[name] = score_of_inspect(value)
    return columns


def _samples_df_row(record: LogRow) -> LogRow:
    """Return a row of inspect_ai's `samples_df` with its scores by column, and its task."""
    scores = {name: x for name, x in record.items() if name.startswith("score_")}
    row = {name: None if x != x else x for name, x in record.items() if name not in scores}  # NaN
    row |= {"task": row["task_name"]} if "task_name" in row else {}
    return row | _score_columns(scores)


def _inspect_roles(columns: Columns) -> Roles:
    """Return `score` as the column of outcomes if tasks have different scorers, or else {}."""
    scorers = [x for x in columns if x.startswith("score_") and _has_entries(columns[x])]
    is_merged = len(scorers) != 1 and _has_entries(columns.get("score", ()))
    return {"outcomes": ("score",)} if is_merged else {}


def _has_entries(cells: Sequence[Any]) -> bool:
    """Return whether a cell is not None."""
    return any(cell is not None for cell in cells)


# --- Other tools ------------------------------------------------------------------------------


def _lighteval_row(record: LogRow) -> LogRow:
    """Return a document as a row with its responses, without reasoning if lighteval removes it.
    Metrics of a document with several responses are scores of all of them, and are left out."""
    doc, response = record["doc"], record["model_response"]
    indices = doc["gold_index"]
    golds = [doc["choices"][i] for i in (indices if isinstance(indices, list) else [indices])]
    row = {"task": doc["task_name"], "id": doc["id"]}
    row["responses"] = list(response.get("text_post_processed") or response["text"] or ())
    row["gold"] = golds[0] if len(golds) == 1 else golds
    metrics = record["metric"] if len(row["responses"]) <= 1 else {}
    return row | {f"metric.{name}": value for name, value in metrics.items()}


def _lighteval_roles(columns: Columns) -> Roles:
    """Return the columns by role: responses, and metrics of documents with one response."""
    most = max(map(len, columns["responses"]), default=0)
    roles: Roles = {"predictions": "responses", "references": "gold"} if most else {}
    metrics = tuple(name for name in columns if name.startswith("metric."))
    return roles | ({"outcomes": metrics} if most <= 1 else {})


def _evalplus_rows(record: LogRow) -> Iterator[LogRow]:
    """Yield a row for each solution, with the outcomes `base` and `plus`. A solution passes `plus`
    if it passes the tests of both kinds. Before version 0.3, a task has lists of [status, details]
    for each kind."""
    passing = ("pass", "success")
    for task, solutions in record["eval"].items():
        if isinstance(solutions, dict):
            bases = [x[0] for x in solutions["base"]]
            pluses = [x[0] for x in solutions.get("plus") or ()] or [None] * len(bases)
            statuses = list(zip(bases, pluses, strict=True))
        else:
            statuses = [(x["base_status"], x["plus_status"]) for x in solutions]
        for base, plus in statuses:
            passes_both = None if plus is None else base in passing and plus in passing
            yield {"task_id": task, "base": base in passing, "plus": passes_both}


def _harbor_row(trial: LogRow) -> LogRow:
    """Return a trial as a row, without its rewards if `reward_valid` is False."""
    is_void = trial.get("reward_valid") is False
    rewards = {} if is_void else (trial["verifier_result"] or {}).get("rewards") or {}
    agent = trial["agent_info"]
    row = {"source": trial["source"] or "adhoc", "task_name": trial["task_name"]}
    row |= {"trial_name": trial["trial_name"], "agent": agent["name"]}
    row["model"] = (agent.get("model_info") or {}).get("name")
    return row | rewards


def _swe_bench_rows(report: LogRow) -> list[LogRow]:
    """Return a row for each instance that was submitted with a prediction. SWE-bench gives the
    percentage of resolved instances among those that were submitted. A failure of the
    infrastructure has no outcome. Warn of instances without a prediction."""
    resolved, void = {*report["resolved_ids"]}, {*(report.get("infra_failure_ids") or ())}
    outside = {*(report.get("incomplete_ids") or ())}
    instances = [x for x in dict.fromkeys(report["submitted_ids"]) if x not in outside]
    if outside:
        warnings.warn(
            f"{len(outside)} of {len(outside) + len(instances)} instances have no prediction, such "
            f"as {min(outside)}, and are left out: SWE-bench gives the percentage of submitted "
            f"instances. Its leaderboard counts them as not resolved.",
            stacklevel=2,
        )
    return [{"instance_id": x, "resolved": None if x in void else x in resolved} for x in instances]


def _swe_bench_lists(results: LogRow) -> list[LogRow]:
    """Return a row for each instance in the lists of a leaderboard, which name all attempts."""
    resolved = {*results["resolved"]}
    every = dict.fromkeys(x for ids in results.values() for x in ids)
    return [{"instance_id": x, "resolved": x in resolved} for x in every]


def _arc_rows(submission: LogRow) -> list[LogRow]:
    """Return a row for each test input of a task of ARC, with the attempts as texts of JSON."""
    return [
        {"task": task, "test": i, "attempts": [json.dumps(grid) for grid in attempts.values()]}
        for task, tests in submission.items()
        for i, attempts in enumerate(tests)
    ]


def _is_arc(submission: LogRow) -> bool:
    """Return whether an object has lists of attempts by task, as submissions to ARC have."""
    return bool(submission) and all(
        is_list_of(tests, dict) and all("attempt_1" in x for x in tests)
        for tests in submission.values()
    )


def _promptfoo_row(record: LogRow) -> LogRow:
    """Return a result as a row with its test, prompt and model; no outcome if the call failed."""
    test = {key: record["testCase"].get(key) for key in ("description", "vars", "assert")}
    provider = record["provider"]
    if isinstance(provider, dict):
        provider = provider.get("label") or provider["id"]
    return {
        "test": json.dumps(test, sort_keys=True, ensure_ascii=False),
        "prompt_name": record["prompt"]["label"],
        "model": provider,
        "success": None if record["failureReason"] == 2 else record["success"],
    }


def _deepeval_success(case: LogRow) -> bool | None:
    """Return whether a test case passed, or None if a metric that is not flaky had an error."""
    metrics = [x for x in case.get("metricsData") or () if not x.get("flaky")]
    return None if any(x.get("error") for x in metrics) else case.get("success")


def _verifiers_traces(episode: LogRow) -> Iterator[LogRow]:
    """Yield a row for each trace of an agent that is trained, or one row without traces. The reward
    of a trace is the weighted sum of its scores. It is None if the trace or the episode failed, or
    if there are no traces."""
    task, env = episode["task"], episode["env"]["id"]
    for trace in episode["traces"] or [{"agent": {"name": "agent"}, "ok": False}]:
        if trace["agent"].get("trainable", True):
            scores = (trace.get("rewards") or {}).values()
            reward = sum(x["score"] * x.get("weight", 1) for x in scores if x)
            key = task.get("key")
            example = (task.get("data") or {}).get("idx") if key is None else key
            row = {"env": env, "agent": trace["agent"]["name"], "example_id": example}
            yield row | {"reward": reward if episode["ok"] and trace["ok"] else None}


def _batch_body(row: LogRow) -> LogRow:
    """Return the body of the response to a request of a batch, or {} if there is none."""
    return (row["response"] or {}).get("body") or {}


def _batch_choices(row: LogRow) -> list[str | None]:
    """Return the texts of the choices of a request, with "" for a refusal. If the request failed,
    the list is [None]."""
    body = _batch_body(row)
    if "choices" not in body:
        return [None]
    return [
        (choice["message"]["content"] if "message" in choice else choice["text"]) or ""
        for choice in sorted(body["choices"], key=lambda choice: choice["index"])
    ]


def _is_one(reward: Any) -> bool:
    """Return whether a reward of tau-bench is a success: missing rewards are not."""
    return reward is not None and abs(reward - 1) <= 1e-6


def _tau2_success(run: LogRow) -> bool | None:
    """Return whether a simulation succeeded, or None if the infrastructure failed."""
    if run["termination_reason"] == "infrastructure_error":
        return None
    return _is_one(run.get("reward", (run.get("reward_info") or {}).get("reward")))


def _tau2_rows(log: LogRow) -> list[LogRow]:
    """Return the simulations as rows, without `id`, which is that of a simulation, not of a task.
    If each simulation has a file of its own, they are read from the index in `results.json`."""
    info = log["info"]
    agent, user = (info.get(name) or {} for name in ("agent_info", "user_info"))
    facts = {
        "domain": info["environment_info"]["domain_name"],
        "model": agent.get("llm"),
        "user_model": user.get("llm"),
        "temperature": (agent.get("llm_args") or {}).get("temperature"),
    }
    runs = log["simulations"] or log.get("simulation_index") or []
    return [facts | {x: y for x, y in run.items() if x != "id"} for run in runs]


def _groups_in_path(pattern: str) -> Callable[[Path], dict[str, str]]:
    """Return a `facts_in_path` that returns the named groups of a pattern for the end of a path."""

    def facts_in(path: Path) -> dict[str, str]:
        match = re.fullmatch(f".*/{pattern}", path.resolve().as_posix())
        return match.groupdict() if match else {}

    return facts_in


def _numbers_without(names: str) -> Callable[[Columns], Roles]:
    """Return a `find_roles` for which all columns of numbers are outcomes, except some names."""
    return lambda columns: {"outcomes": _number_columns(columns, names.split())}


def _evalscope_row(record: LogRow) -> LogRow:
    """Return the record as a row, with a column for each of its scores."""
    sample, score = record["sample_score"], record["sample_score"]["score"]
    group = sample.get("group_id")
    row = {"question": record["index"] if group is None else group}
    row |= {"sample_id": sample.get("sample_id"), "prediction": score.get("extracted_prediction")}
    return record | row | {f"value.{name}": value for name, value in score["value"].items()}


def _nemo_judged(row: LogRow) -> bool | None:
    """Return the outcome of a judgement, as the tool counts it. A judgement without "Judgement:
    yes" is incorrect. Without a judgement, `judge_correct` is returned."""
    if row.get("judgement") is None:
        return row.get("judge_correct")
    _, colon, verdict = row["judgement"].rpartition("Judgement:")
    return bool(colon) and verdict.strip().lower().startswith("yes")


_ERROR = "after an error"
_INSPECT: Any = {
    "questions": "task id",
    "groups": "task",
    "samples": "epoch",
    "outcomes": "score_*",
    "predictions": "completion",
    "references": "target",
    "missing": "drop",
    "why": _ERROR,
    "find_roles": _inspect_roles,
}
_LM_EVAL = "doc_id doc target arguments resps filtered_resps"
_PROMPTFOO: Any = {"questions": "test", "outcomes": "success", "missing": "drop", "why": _ERROR}

# fmt: off
LAYOUTS = (
    Layout(tool="lm-evaluation-harness", fields=_LM_EVAL, rows=_lm_eval_row,
           questions="task doc_id", groups="task", filters="filter",
           find_roles=_lm_eval_roles, facts_in_path=_lm_eval_path, missing="incorrect"),
    Layout(tool="lm-evaluation-harness", fields="results n-shot higher_is_better",
           refusal="has the results of lm-evaluation-harness, without samples. Read the files "
           "samples_*.jsonl, which the harness writes if it is run with --log_samples."),
    Layout(tool="inspect_ai", fields="version status eval samples", is_object=True,
           is_record=lambda log: isinstance(log["eval"], dict), rows=_inspect_rows, **_INSPECT),
    Layout(tool="inspect_ai", fields="sample_id eval_id id epoch target", rows=_samples_df_row,
           **_INSPECT),
    Layout(tool="lighteval", fields="doc metric model_response", rows=_lighteval_row,
           questions="task id", groups="task", find_roles=_lighteval_roles,
           facts_in_path=_groups_in_path(r"details/(?P<model>.+)/[^/]+/[^/]+"),
           missing="incorrect"),
    Layout(tool="evalplus", fields="date hash eval", is_object=True, rows=_evalplus_rows,
           is_record=lambda log: isinstance(log["eval"], dict),
           questions="task_id", outcomes="base plus", missing="incorrect"),
    Layout(tool="human-eval", fields="task_id completion result passed", questions="task_id",
           outcomes="passed", missing="incorrect"),
    Layout(tool="OpenAI Batch API", fields="custom_id response error",
           is_record=lambda row: isinstance(row["response"], dict | None),
           columns={"choices": _batch_choices, "model": lambda row: _batch_body(row).get("model")},
           questions="custom_id", predictions="choices", why="after a failed request"),
    Layout(tool="verl", fields="input output gts score step", questions="input",
           predictions="output", references="gts", outcomes="acc score"),
    Layout(tool="TRL", fields="step prompt completion advantage", questions="prompt",
           predictions="completion", find_roles=_numbers_without("step advantage"),
           missing="drop", why="NaN"),
    Layout(tool="Harbor", fields="source task_name trial_name agent_info verifier_result",
           questions="source task_name", groups="source", samples="trial_name",
           rows=_harbor_row, missing="drop", why=_ERROR, files_are_runs=True,
           find_roles=_numbers_without("source task_name trial_name agent model")),
    Layout(tool="Harbor", fields="n_total_trials stats", is_object=True,
           refusal="is the summary of a job of Harbor: read its folder."),
    Layout(tool="Terminal-Bench", fields="results n_resolved accuracy", is_object=True,
           rows=lambda log: log["results"] or [], questions="task_id", samples="trial_name",
           outcomes="is_resolved", missing="incorrect", why="without a verdict",
           files_are_runs=True),
    Layout(tool="SWE-bench", fields="submitted_ids resolved_ids empty_patch_ids error_ids",
           is_object=True, rows=_swe_bench_rows, questions="instance_id", outcomes="resolved",
           facts_in_path=_groups_in_path(r"(?P<model>[^/]+)\.[^/.]*\.json"), missing="drop",
           why="after a failure of the infrastructure", files_are_runs=True),
    Layout(tool="SWE-bench", fields="resolved applied", is_object=True, rows=_swe_bench_lists,
           questions="instance_id", outcomes="resolved", files_are_runs=True),
    Layout(tool="SWE-bench", fields="resolved generated", is_object=True, rows=_swe_bench_lists,
           questions="instance_id", outcomes="resolved", files_are_runs=True),
    Layout(tool="SWE-bench", fields="resolved no_generation no_logs", is_object=True,
           refusal="lists the instances that are resolved, and not all that were attempted: give "
           "the folder of logs, with a report.json for each instance."),
    Layout(tool="tau2", fields="info tasks simulations", is_object=True, rows=_tau2_rows,
           columns={"success": _tau2_success}, questions="domain task_id", outcomes="success",
           samples="trial", missing="drop", why="after an error of the infrastructure"),
    Layout(tool="tau-bench", fields="task_id reward info traj trial", questions="task_id",
           columns={"success": lambda row: _is_one(row["reward"])}, outcomes="success",
           samples="trial", missing="incorrect"),
    Layout(tool="verifiers", fields="example_id completion reward is_completed timing",
           columns={"reward": lambda row: None if row.get("error") else row["reward"]},
           questions="example_id", outcomes="reward", missing="drop", why=_ERROR),
    Layout(tool="verifiers", fields="env task traces ok", rows=_verifiers_traces,
           questions="env example_id", outcomes="reward", missing="drop", why=_ERROR),
    Layout(tool="promptfoo", fields="evalId results config", is_object=True, **_PROMPTFOO,
           rows=lambda log: map(_promptfoo_row, log["results"]["results"])),
    Layout(tool="promptfoo", fields="testIdx promptIdx success failureReason testCase",
           rows=_promptfoo_row, **_PROMPTFOO),
    Layout(tool="deepeval", fields="testCases metricsScores testPassed", is_object=True,
           rows=lambda log: log["testCases"] or [], questions="input", outcomes="success",
           columns={"success": _deepeval_success}, missing="drop", why=_ERROR),
    Layout(tool="NeMo-Skills", fields="problem generation expected_answer predicted_answer "
           "symbolic_correct", questions="problem", predictions="predicted_answer",
           references="expected_answer", outcomes="symbolic_correct judge_correct",
           columns={"judge_correct": _nemo_judged},
           missing="incorrect", why="no answer"),
    Layout(tool="evalscope", fields="index target sample_score", rows=_evalscope_row,
           questions="task question", groups="task", samples="sample_id",
           predictions="prediction", references="target", outcomes="value.*",
           facts_in_path=_groups_in_path(r"reviews/(?P<model>[^/]+)/(?P<task>[^/]+)\.jsonl")),
    Layout(tool="LiveCodeBench", fields="question_id code_list graded_list",
           questions="question_id", outcomes="graded_list", missing="incorrect"),
    Layout(tool="aider", fields="testcase model edit_format tests_outcomes",
           columns={"first_try": lambda row: bool((row["tests_outcomes"] or [False])[0]),
                    "any_try": lambda row: any(row["tests_outcomes"] or ())},
           questions="task testcase", groups="task", outcomes="first_try any_try",
           # Languages have exercises of the same names.
           facts_in_path=_groups_in_path(r"(?P<task>[^/]+)/exercises/practice/[^/]+/[^/]+"),
           missing="incorrect"),
    Layout(tool="Terminal-Bench", fields="trial_name task_id is_resolved failure_mode",
           questions="task_id", samples="trial_name", outcomes="is_resolved", missing="incorrect",
           why="without a verdict", files_are_runs=True),
    Layout(tool="ARC", fields="", is_object=True, is_record=_is_arc, rows=_arc_rows,
           questions="task test", predictions="attempts"),
)
# fmt: on
