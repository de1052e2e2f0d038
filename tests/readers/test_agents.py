"""Logs of agents and of tools that test prompts, against the numbers that these tools report.

Each log has attempts that ended in an error, which are not scored, as the first line says.
"""

import json
import warnings

import at_k
import pytest
from logs import FIXTURES, json_of, mean_of, pass_at_k_of, write_json
from run_command import error_of, output_of, pass_at_k
from scored import gpassk

HARBOR = FIXTURES / "harbor" / "2026-11-24__10-00-00"
SWE_BENCH = [
    FIXTURES / "swe_bench" / f"org__replay-1.5b.{run}.json" for run in ("first", "second", "third")
]


@pytest.mark.parametrize("source", [HARBOR, str(HARBOR / "*" / "result.json")])
def test_a_job_of_harbor_has_its_pass_at_k(capsys, source):
    (stats,) = json.loads((HARBOR / "result.json").read_text())["stats"]["evals"].values()
    scores = pass_at_k_of(source, k=[2, 4])
    assert scores == {f"pass@{k}": pytest.approx(x) for k, x in stats["pass_at_k"].items()}
    assert "(1 more not scored, after an error)" in output_of(capsys, "gpassk", source)
    assert "read its folder" in error_of(capsys, "gpassk", HARBOR / "result.json")


def test_the_rewards_of_harbor_are_not_scored_if_it_calls_them_void(tmp_path):
    trials = [json.loads(file.read_text()) for file in sorted(HARBOR.glob("*/result.json"))]
    assert sum(trial["verifier_result"] is None for trial in trials) == 1
    for trial in trials:  # an error of the verifier after a reward was written
        trial["verifier_result"] = trial["verifier_result"] or {"rewards": {"reward": 0.0}}
    file = write_json(tmp_path / "trials.json", trials)
    assert pass_at_k_of(file, k=[1]) == pass_at_k_of(HARBOR, k=[1])


def test_reports_of_swe_bench_are_the_runs_of_a_model(capsys):
    for file in SWE_BENCH[:1]:  # without failures of the infrastructure
        report = json.loads(file.read_text())
        resolved = report["resolved_instances"] / report["total_instances"]
        assert pass_at_k_of(file, k=[1])["pass@1"] == resolved
    with pytest.warns(UserWarning, match="1 of 4 instances have no prediction, such as b__b-2"):
        arguments = at_k.read(SWE_BENCH)
    assert arguments["predictions"] == [
        [True, True, False],
        [False, False, True],
        [True, None, True],
        [False, False],
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # the command prints them
        printed = output_of(capsys, "gpassk", *SWE_BENCH, "--k", 1)
    assert "SWE-bench, model org__replay-1.5b: 4 questions, 2 to 3 samples each (1 more" in printed
    assert "(1 more not scored, after a failure of the infrastructure)" in printed


def test_reports_of_two_models_are_not_pooled(capsys, tmp_path):
    other = write_json(tmp_path / "another.first.json", json_of(f"swe_bench/{SWE_BENCH[0].name}"))
    assert "not parts of one run" in error_of(capsys, "gpassk", SWE_BENCH[0], other)


@pytest.mark.parametrize("name", ["results.json", "folder_results.json"])
def test_simulations_of_tau2_give_its_pass_hat_k(capsys, name):
    # tau2 takes the mean over tasks of comb(c, k) / comb(n, k), up to the least n, here 3.
    file = FIXTURES / "tau2" / name
    scores = gpassk(**at_k.read(file), k=[1, 2, 3], include=["pass^k"])
    counts = [(4, 3), (3, 1), (4, 3)]  # n and c
    assert scores["pass^1"] == pytest.approx(sum(c / n for n, c in counts) / 3)
    assert scores["pass^2"] == pytest.approx((3 / 6 + 0 + 3 / 6) / 3)
    assert scores["pass^3"] == pytest.approx((1 / 4 + 0 + 1 / 4) / 3)
    printed = output_of(capsys, "gpassk", file, "--k", 1)
    assert printed.startswith("tau2, domain airline, model org/replay-1b: 3 questions")
    assert "(1 more not scored" in printed


def test_tau2_may_have_one_task(tmp_path):
    log = json_of("tau2/results.json")
    log["simulations"] = [run for run in log["simulations"] if run["task_id"] == "1"]
    file = write_json(tmp_path / "results.json", log)
    assert pass_at_k_of(file, k=[1, 2]) == {"pass@1": pytest.approx(1 / 3), "pass@2": 2 / 3}


def test_simulations_of_tau2_at_two_temperatures_are_not_pooled(tmp_path):
    log = json_of("tau2/results.json")
    for run, temperature in enumerate((0.0, 0.7)):
        log["info"]["agent_info"]["llm_args"] = {"temperature": temperature}
        log["simulations"][run]["reward_info"]["reward"] = run
        write_json(tmp_path / f"run{run}.json", log)
    with pytest.raises(ValueError, match=r"different values of temperature: '0', '0\.7'"):
        at_k.read(sorted(tmp_path.iterdir()))


def test_rollouts_of_verifiers_give_its_scores(capsys):
    folder = FIXTURES / "verifiers"
    reported = json.loads((folder / "metadata.json").read_text())
    rows = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    whole = [row for row in rows if row["error"] is None]
    (question,) = [row["example_id"] for row in rows if row["error"]]
    # verifiers 0.1 counts an error as a reward of 0: in the mean of four rollouts of a question.
    mean = mean_of(folder / "results.jsonl")
    rest = sum(row["reward"] for row in whole if row["example_id"] == question)
    assert mean - reported["avg_reward"] == pytest.approx((rest / 3 - rest / 4) / 3)
    others = [row for row in whole if row["example_id"] != question]
    assert mean_of(others) == pytest.approx(sum(row["reward"] for row in others) / len(others))
    # Its newer versions leave the error out, as is done here.
    assert mean_of(folder / "traces.jsonl") == mean
    for name in ("results.jsonl", "traces.jsonl"):
        printed = output_of(capsys, "max_at_k", folder / name, "--k", 1)
        assert "(1 more not scored, after an error)" in printed


def test_the_texts_of_tasks_are_no_fact_about_a_run(tmp_path):
    lines = (FIXTURES / "verifiers" / "results.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    rows = [{**row, "task": f"Task {row['example_id']}: a long text."} for row in rows]
    (tmp_path / "results.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert at_k.read(tmp_path / "results.jsonl").origin == {"harness": "verifiers"}


@pytest.mark.parametrize("name", ["results.json", "results.jsonl"])
def test_repeated_tests_of_promptfoo_are_samples_of_a_question(capsys, name):
    file = FIXTURES / "promptfoo" / name
    results = json_of("promptfoo/results.json")["results"]
    outcomes = at_k.read(file)["predictions"]
    assert outcomes == [[True, False, True, True], [True, False, False, None], [True] * 4]
    for outcome, count in ((True, "successes"), (False, "failures"), (None, "errors")):
        assert sum(row.count(outcome) for row in outcomes) == results["stats"][count]
    printed = output_of(capsys, "gpassk", file, "--k", 1)
    assert printed.startswith("promptfoo, model replay: 3 questions, 3 to 4 samples each (1 more")


def test_two_providers_of_promptfoo_are_not_pooled(capsys, tmp_path):
    rows = (FIXTURES / "promptfoo" / "results.jsonl").read_text()
    file = tmp_path / "two.jsonl"
    file.write_text(rows + rows.replace('"id":"replay"', '"id":"another"'))
    assert "model" in error_of(capsys, "gpassk", file)
    assert pass_at_k(capsys, file, "--where", "model=replay") == pass_at_k_of(
        FIXTURES / "promptfoo" / "results.jsonl", k=[1]
    )


def test_test_runs_of_deepeval_have_its_passes_fails_and_errors(capsys):
    file = FIXTURES / "deepeval" / "test_run.json"
    (metric,) = json.loads(file.read_text())["metricsScores"]
    outcomes = at_k.read(file)["predictions"]
    for outcome, count in ((True, "passes"), (False, "fails"), (None, "errors")):
        assert sum(row.count(outcome) for row in outcomes) == metric[count]
    printed = output_of(capsys, "gpassk", file, "--k", 1)
    assert printed.startswith("deepeval: 3 questions, 3 to 4 samples each (1 more not scored")


def test_flaky_metrics_of_deepeval_do_not_decide(tmp_path):
    log = json_of("deepeval/test_run.json")
    flaky = {"name": "Tone", "success": False, "flaky": True, "error": "TimeoutError: "}
    log["testCases"][0]["metricsData"].append(flaky)
    file = write_json(tmp_path / "test_run.json", log)
    assert at_k.read(file) == at_k.read(FIXTURES / "deepeval" / "test_run.json")


@pytest.mark.parametrize("name", ["mlflow.json", "wandb.table.json"])
def test_tables_of_columns_and_data_are_read(name):
    assert at_k.read(FIXTURES / "tables" / name, outcomes="correct")["predictions"] == [
        [True, False],
        [True, True],
    ]
