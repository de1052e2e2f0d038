"""Samples files of lm-evaluation-harness, against the scores in its own file of results."""

import itertools
import json
import math
import shutil
import warnings

import at_k
import pytest
from at_k.cli.command import main
from logs import mean_of, pass_at_k_of, the_file
from run_command import error_of, output_of, write_json_lines

RESULTS = json.loads(the_file("lm_eval/*/results_*.json").read_text())["results"]


def samples_of(task):
    return the_file(f"lm_eval/*/samples_{task}_*.jsonl")


def edited(tmp_path, task, edit):
    """Return a copy of a log in which a function has edited each row."""
    file = tmp_path / f"samples_{task}_2026-01-01T00-00-00.000000.jsonl"
    rows = [json.loads(line) for line in samples_of(task).read_text().splitlines()]
    file.write_text("".join(json.dumps(edit(row)) + "\n" for row in rows))
    return file


@pytest.mark.parametrize("name", ["strict", "flexible"])
def test_repeats_give_the_pass_at_k_of_the_harness(name):
    scores = pass_at_k_of(samples_of("sums_pass"), where={"filter": name})
    for k in (1, 2, 4):
        assert scores[f"pass@{k}"] == pytest.approx(RESULTS["sums_pass"][f"pass@{k},{name}"])


@pytest.mark.parametrize(
    "flags", [(), ("--pool", "filter"), ("--questions", "filter", "task", "doc_id")]
)
@pytest.mark.parametrize("column", ["filtered_resps", "resps"])
def test_one_of_several_filters_has_to_be_chosen(capsys, flags, column):
    error = error_of(capsys, "gpassk", samples_of("sums_pass"), "--predictions", column, *flags)
    assert "different values of filter: 'strict', 'flexible'" in error
    assert "the same responses, which would be counted 2 times: choose one filter" in error
    ways = (f"--where filter={name} (only these samples)" for name in ("strict", "flexible"))
    assert error.endswith(f" Add {', or '.join(ways)}.\n")


def test_a_filter_that_keeps_all_responses_can_be_chosen_beside_one_that_takes_the_first(
    tmp_path, capsys
):
    rows = [
        json.loads(line) | {"filter": name or json.loads(line)["filter"]}
        for task, name in (("sums_pass", None), ("sums_first", "first"))
        for line in samples_of(task).read_text().splitlines()
    ]
    file = tmp_path / samples_of("sums_pass").name
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name in ("strict", "flexible"):
        scores = pass_at_k_of(file, where={"filter": name})
        assert scores == pass_at_k_of(samples_of("sums_pass"), where={"filter": name})
    error = error_of(capsys, "gpassk", file)
    ways = [f"--where filter={name}" for name in ("strict", "flexible", "first")]
    meaning = " (only these samples)"
    assert error.endswith(f" Add {f'{meaning}, or '.join(ways)}{meaning}.\n")
    checked = ("--check-correct-fn", "numeric", "--k", 1)
    for way in ways[:2]:  # both work as they are
        assert "4 questions, " in output_of(capsys, "gpassk", file, *way.split(), *checked)
    error = error_of(capsys, "gpassk", file, *ways[2].split())
    assert error.endswith(
        " --predictions filtered_resps --references target (samples to be checked).\n"
    )
    for column in ("resps", "filtered_resps"):
        flags = (*ways[2].split(), "--predictions", column, *checked)
        assert "4 questions, " in output_of(capsys, "gpassk", file, *flags)


def test_one_filter_of_each_task_can_be_chosen(capsys):
    names = [samples_of(f"sums_{task}") for task in ("first", "pass")]
    flags = "--where filter=flexible --where filter=first --predictions resps"
    options = ("--check-correct-fn", "numeric", "--k", 2, "--include", "pass@k")
    printed = output_of(capsys, "gpassk", *names, *flags.split(), *options)
    assert "sums_first  sums_pass" in printed


def test_the_message_names_the_task_where_a_folder_has_several(capsys):
    folder = samples_of("sums_pass").parent
    error = error_of(capsys, "gpassk", folder)
    flags = "--where filter=strict --where task=sums_pass"
    assert f"Add {flags} (only these samples), or " in error
    printed = output_of(capsys, "gpassk", folder, *flags.split(), "--k", 2)
    assert "task sums_pass: 4 questions, 4 samples each" in printed
    filters = [x for name in ("none", "first", "strict") for x in ("--where", f"filter={name}")]
    error = error_of(capsys, "gpassk", folder, *filters)
    assert "Add --where task=sums_choice (only these samples), or --where task=sums_first " in error


def test_entries_of_the_same_column_are_alternatives():
    columns = {"id": [1, 2, 1, 2], "run": ["a", "a", "b", "c"], "correct": [1, 0, 1, 1]}
    read = at_k.read(columns, where={"run": ["a", "b"]}, pool="run")
    assert read["predictions"] == [[1, 1], [0]]


def test_without_a_filter_all_repeats_are_read():
    # The harness scores the first response of each document, which it keeps.
    arguments = at_k.read(samples_of("sums_plain"))
    assert [len(samples) for samples in arguments["predictions"]] == [4, 4, 4, 4]
    assert arguments["predictions"][0][0] == "The answer is 3"
    assert arguments["references"] == ["3", "4", "7", "10"]
    assert "outcomes" not in arguments


def test_if_a_filter_keeps_one_of_the_repeats_the_caller_chooses(capsys):
    file = samples_of("sums_first")
    error = error_of(capsys, "gpassk", file)
    assert (
        "--predictions resps --references target (samples to be checked), or --predictions fi"
        in error
    )
    assert "--predictions" in error
    reported = RESULTS["sums_first"]["exact_match,first"]
    assert pass_at_k_of(file, k=[1], predictions="filtered_resps")["pass@1"] == reported
    assert pass_at_k_of(file, k=[1], outcomes="exact_match")["pass@1"] == reported
    assert len(at_k.read(file, predictions="resps")["predictions"][0]) == 4


def test_the_metric_of_a_document_with_one_response_is_its_outcome(capsys):
    # The harness ignores "The answer is", and exact_match of ours does not.
    file = samples_of("sums_once")
    assert mean_of(file) == RESULTS["sums_once"]["exact_match,none"] == 0.5
    checked = ("--check-correct-fn", "numeric", "--k", 1)
    assert "checked against target" in output_of(capsys, "gpassk", file, *checked)


def test_the_choices_of_a_document_are_not_samples(tmp_path, capsys):
    assert mean_of(samples_of("sums_choice")) == RESULTS["sums_choice"]["acc,none"]
    file = edited(tmp_path, "sums_choice", lambda row: row | {"acc_norm": 1 - row["acc_norm"]})
    assert "--outcomes acc (already graded), or --outcomes acc_norm" in error_of(
        capsys, "gpassk", file
    )
    assert mean_of(file, outcomes="acc") == RESULTS["sums_choice"]["acc,none"]


def test_targets_that_may_be_lists_written_as_text_are_refused(tmp_path, capsys):
    def with_list(row):
        return row | {"target": str([row["target"], "zero"])}

    file = edited(tmp_path, "sums_pass", with_list)
    flags = ("--where", "filter=strict", "--k", 1, "--include", "pass@k")
    assert "--references target (samples to be checked), or " in error_of(
        capsys, "gpassk", file, *flags
    )
    scores = pass_at_k_of(file, where={"filter": "strict"}, references="target_list")
    assert scores["pass@1"] == RESULTS["sums_pass"]["pass@1,strict"]


def test_tasks_of_several_files_are_groups():
    files = [samples_of("sums_once"), samples_of("sums_first")]
    arguments = at_k.read(files, outcomes="exact_match")
    assert arguments["groups"] == ["sums_once"] * 4 + ["sums_first"] * 4
    assert len(arguments["predictions"]) == 8
    read = at_k.read([samples_of("sums_plain"), samples_of("sums_once")], predictions="resps")
    assert [len(samples) for samples in read["predictions"]] == [4] * 4 + [1] * 4


def test_logs_of_samples_and_of_outcomes_are_not_read_together(capsys):
    error = error_of(capsys, "gpassk", samples_of("sums_choice"), samples_of("sums_plain"))
    assert "These logs hold their samples or outcomes in different columns" in error


def test_a_folder_is_read_as_the_newest_log_of_each_task(tmp_path):
    folder = tmp_path / "org__model"
    folder.mkdir()
    for task in ("sums_once", "sums_first"):
        shutil.copy(samples_of(task), folder)
    files = [samples_of("sums_first"), samples_of("sums_once")]
    expected = at_k.read(files, outcomes="exact_match")
    assert at_k.read(folder, outcomes="exact_match") == expected
    assert at_k.read(tmp_path, outcomes="exact_match") == expected
    older = edited(folder, "sums_once", lambda row: row | {"exact_match": 1.0})
    older.rename(older.with_name("samples_sums_once_2020-01-01T00-00-00.000000.jsonl"))
    with pytest.warns(UserWarning, match=r"without .*samples_sums_once_2020"):
        assert at_k.read(folder, outcomes="exact_match") == expected
    logs = str(folder / "samples_sums_once_*.jsonl")
    with pytest.warns(UserWarning, match=r"without .*samples_sums_once_2020"):
        newest = at_k.read(logs, outcomes="exact_match")
    assert newest == at_k.read(samples_of("sums_once"), outcomes="exact_match")
    runs = at_k.read(logs, outcomes="exact_match", pool="files")["predictions"]
    assert [{*row} for row in runs] == [{1.0, x} for (x,) in newest["predictions"]]


def test_programs_that_the_harness_has_run_are_counted_by_its_pass_at_1(tmp_path, capsys):
    def as_program(row):
        return row | {"target": "assert f(1) == 2"}

    file = edited(tmp_path, "sums_pass", as_program)
    for name in ("strict", "flexible"):
        scores = pass_at_k_of(file, where={"filter": name})
        for k in (1, 2, 4):
            assert scores[f"pass@{k}"] == pytest.approx(RESULTS["sums_pass"][f"pass@{k},{name}"])
    printed = output_of(capsys, "gpassk", file, "--where", "filter=strict", "--k", 1)
    assert "counted in number of responses and number of correct ones by pass@1" in printed
    first = as_program(json.loads(file.read_text().splitlines()[0]))
    for c, n in itertools.combinations(range(1, 30), 2):
        texts = [["return 1"] * n]
        row = {x: y for x, y in first.items() if not x.startswith("pass@")}
        row |= {"resps": texts, "filtered_resps": texts, "pass@1": c / n}
        edited_file = write_json_lines(tmp_path / file.name, [row])
        assert pass_at_k_of(edited_file, k=[1])["pass@1"] == pytest.approx(c / n)
    for score in (0.3, math.nan):  # What is no multiple of 1/4 is no pass@1 of four responses.
        other = edited(tmp_path, "sums_pass", lambda row, x=score: as_program(row) | {"pass@1": x})
        assert "n" not in at_k.read(other, where={"filter": "strict"})["predictions"]


def test_files_of_results_lead_to_the_files_of_samples(tmp_path, capsys):
    results = the_file("lm_eval/*/results_*.json")
    error = error_of(capsys, "gpassk", results)
    assert "without samples. Read the files samples_*.jsonl, which" in error
    alone = tmp_path / "org__model" / results.name
    alone.parent.mkdir()
    alone.write_bytes(results.read_bytes())
    for source in (tmp_path, alone.parent, alone):
        error = error_of(capsys, "gpassk", source)
        assert "which the harness writes if it is run with --log_samples" in error


def test_grades_of_the_harness_that_a_checker_does_not_share_are_named(capsys):
    file = str(samples_of("sums_once"))  # the harness ignores "The answer is"
    messages = {}
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        for checker in ("exact_match", "numeric"):
            arguments = ["gpassk", file, "--check-correct-fn", checker, "--k", "1"]
            assert main(arguments) == 0
            messages[checker] = capsys.readouterr().err
    assert (
        "The log grades 2 of 4 samples otherwise than the checker does, such as question "
        "sums_once 0, sample 0 (1 there, 0 here)."
    ) in messages["exact_match"]
    assert messages["numeric"] == ""
