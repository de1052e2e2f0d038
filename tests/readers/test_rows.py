"""Which rows become one question: no mixtures of runs, and lists of the same question merge."""

import math

import at_k
import pytest
from logs import refused
from run_command import error_of, output_of, pass_at_k, write_json_lines
from scored import gpassk

# --- Mixtures of runs -------------------------------------------------------------------


def rows_of_runs(name: str, values=("x", "y", "z")) -> list[dict]:
    return [
        {"doc_id": question, name: value, "correct": int(value == values[0])}
        for value in values
        for question in range(4)
    ]


@pytest.mark.parametrize("name", ["filter", "model", "Model", "eval_id", "run_id", "condition"])
@pytest.mark.parametrize("key", [None, "doc_id"])
def test_different_runs_are_not_samples_of_one_question(name, key):
    rows = rows_of_runs(name)
    raised = refused(rows, "different values of", questions=key)
    message = "The samples of doc_id 0 have different values of {}: 'x', 'y', 'z'. "
    assert str(raised).startswith(message.format(name))
    assert str(raised).endswith(
        f"Pass where={{{name!r}: 'x'}} (only these samples), or groups={name!r}, "
        f"questions=['doc_id', {name!r}] (scores for each of them), or "
        f"questions=['doc_id', {name!r}] (each is another question), or "
        f"pool={name!r} (they are samples of one question)."
    )
    one = {"predictions": [[1]] * 4}
    assert at_k.read(rows, questions=key, where={name: "x"}) == one
    assert at_k.read(rows, questions=[name, "doc_id"])["predictions"] == ([[1]] * 4 + [[0]] * 8)
    assert at_k.read(rows, pool=name) == {"predictions": [[1, 0, 0]] * 4}


def test_a_name_that_all_questions_share_does_not_identify_them():
    rows = [{"task_id": "gsm8k", "question": f"q{i}", "correct": 1} for i in range(3)]
    refused(rows, "different values of question")
    rows = [{"task_id": "gsm8k", "id": i, "correct": 1} for i in range(3)]
    refused(rows, r"different ones \(task_id 1, id 3\)")
    assert len(at_k.read(rows, questions="id")["predictions"]) == 3


# --- The same sample twice --------------------------------------------------------------

TWICE = [{"id": i, "sample_id": j, "correct": int(j == 1)} for i in "ab" for j in range(3)]


@pytest.mark.parametrize(
    "name",
    [
        *("sample_id", "Sample_Idx", "sampleIdx", "completion_id", "epoch", "attempt", "trial_id"),
        *("Trial Number", "rollout", "rollout-id", "sample", "repeat", "repeat_index", "try"),
        *("seed", "run"),
    ],
)
def test_the_same_sample_twice_is_refused(capsys, tmp_path, name):
    rows = [{name if key == "sample_id" else key: x for key, x in row.items()} for row in TWICE]
    assert at_k.read(rows) == {"predictions": [[0, 1, 0]] * 2}
    shown = repr(name) if " " in name else name
    message = rf"rows 4 and 6 \(from 0\) have the same sample: {shown} 1 of id 'b'\. Leave out one"
    refused([*rows, rows[4]], message)
    assert at_k.read([*rows, rows[4]], pool=name) == {"predictions": [[0, 1, 0], [0, 1, 0, 1]]}
    file = write_json_lines(tmp_path / "rows.jsonl", [*rows, rows[4]])
    remedy = f"Add --pool {shown} (they are samples of one question).\n"
    assert error_of(capsys, "gpassk", file).endswith(remedy)


def test_samples_of_pooled_runs_may_have_the_same_numbers():
    rows = [{"run_name": run, **row} for run in "xy" for row in TWICE]
    assert at_k.read(rows, pool="run_name") == {"predictions": [[0, 1, 0] * 2] * 2}
    refused([*rows, rows[0]], "have the same sample", pool="run_name")


def test_equal_answers_and_a_seed_that_all_samples_share_are_no_repeated_samples():
    rows = [{"id": row["id"], "seed": 1, "correct": row["correct"]} for row in TWICE]
    assert at_k.read(rows)["predictions"] == [[0, 1, 0]] * 2
    refused([{**row, "sample_id": 1} for row in TWICE], "have the same sample: sample_id 1")
    rows = [{**row, "completion": "7" if row["correct"] else "8"} for row in TWICE]
    assert at_k.read(rows)["predictions"] == [[0, 1, 0]] * 2


# --- Merged rows ------------------------------------------------------------------------

SHARDS = [
    {"id": f"q{i}", "samples": ["a", "b"], "answer": "a", "group": f"g{i}"}
    for _ in range(2)
    for i in range(3)
]


def test_lists_of_the_same_question_are_merged(capsys, tmp_path):
    assert at_k.read(SHARDS) == {
        "predictions": [["a", "b", "a", "b"]] * 3,
        "references": ["a"] * 3,
        "groups": ["g0", "g1", "g2"],
    }
    file = write_json_lines(tmp_path / "rows.jsonl", SHARDS)
    printed = output_of(capsys, "gpassk", file, "--k", 1)
    of_rows = "3 questions, 4 samples each (added from 6 rows)"
    assert printed.startswith(f"{of_rows} in samples, checked against answer")
    uneven = [{"id": 1, "outcomes": [1]}, {"id": 2, "outcomes": [0]}, {"id": 1, "outcomes": [0, 0]}]
    assert at_k.read(uneven) == {"predictions": [[1, 0, 0], [0]]}


def test_groups_that_are_nan_in_all_rows_of_a_question_are_the_same():
    rows = [{"id": "q", "correct": i, "group": math.nan} for i in (0, 1)]
    with pytest.raises(ValueError, match=r"groups\[0\] is nan: give every question a label"):
        gpassk(**at_k.read(rows, groups="group"), k=1)


def test_rows_with_an_entry_of_their_own_are_different_questions():
    rows = [{"id": i, "prompt": "same", "outcomes": [i]} for i in (0, 1)]
    assert at_k.read(rows) == {"predictions": [[0], [1]]}
    assert at_k.read(rows, questions="prompt", pool="id") == {"predictions": [[0, 1]]}


# --- Consecutive samples ----------------------------------------------------------------

REWARDS = [1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.5, 0.25]


def test_consecutive_rows_can_be_grouped(capsys, tmp_path):
    rows = [{"prompt": f"question {i // 4}", "reward": x} for i, x in enumerate(REWARDS)]
    assert at_k.read(rows, group_size=4)["predictions"] == [REWARDS[:4], REWARDS[4:]]
    file = write_json_lines(tmp_path / "rows.jsonl", rows)
    printed = output_of(capsys, "max_at_k", file, "--group-size", 4, "--k", 1)
    assert "questions from every 4 rows" in printed
    error = error_of(capsys, "max_at_k", file, "--group-size", 8, "--k", 1)
    assert "different values of prompt" in error


@pytest.mark.parametrize(
    ("rewards", "options", "message"),
    [
        (REWARDS, {}, "as group_size"),
        (REWARDS, {"group_size": 3}, "8 rows, which is not a multiple of 3"),
        (REWARDS, {"group_size": 0}, "group_size is 0: give a positive integer"),
        ([REWARDS], {"group_size": 2}, "one sample in each row"),
        (REWARDS, {"group_size": 4, "questions": "rewards"}, "not by both"),
        ([1, None, True, 0], {"group_size": 2}, "1 of 4 outcomes are missing"),
    ],
)
def test_group_sizes_that_do_not_fit_are_refused(rewards, options, message):
    refused({"rewards": rewards}, message, **options)


# --- Fields and outcomes ----------------------------------------------------------------


def test_a_dotted_path_leads_to_fields_and_through_lists():
    rows = [
        {
            "custom_id": f"q{i}",
            "response": {"choices": [{"text": "a", "n": 1}, {"text": "b"}]},
            "doc": {"answer": "a", "meta": {"task": "t"}},
        }
        for i in (0, 1)
    ]
    read = at_k.read(
        rows,
        predictions="response.choices.text",
        references="doc.answer",
        groups="doc.meta.task",
        where={"custom_id": "q1"},
    )
    assert read == {"predictions": [["a", "b"]], "references": ["a"], "groups": ["t"]}
    refused(rows, r"There is no column 'response\.choice'", predictions="response.choice")


def test_a_column_with_a_dot_in_its_name_is_found():
    assert at_k.read([{"a.b": [1], "a": {"b": [0]}}], outcomes="a.b") == {"predictions": [[1]]}


def test_correct_values_grade_labels(capsys, tmp_path):
    rows = [{"id": 1, "score": x} for x in ("C", "I", None)]
    rows += [{"id": 2, "score": x} for x in ("c", "P")]
    read = at_k.read(rows, outcomes="score", correct_values=["C"], missing="drop")
    assert read == {"predictions": [[True, False, None], [True, False]]}
    flags = ("--outcomes", "score", "--correct-values", "C", "P", "--missing", "drop")
    file = write_json_lines(tmp_path / "rows.jsonl", rows)
    assert pass_at_k(capsys, file, *flags) == {"pass@1": 0.75}
    mixed: list[dict] = [{"id": 1, "score": [1, True, 1.0, "yes", 2]}]
    read = at_k.read(mixed, outcomes="score", correct_values=[1, "true", "YES"])
    assert read == {"predictions": [[True, True, True, True, False]]}  # 1.0 is 1
    message = r"correct_values has 'y', and no outcome.*True"
    refused(mixed, message, outcomes="score", correct_values=["y"])
    refused(SHARDS, "correct_values says which outcomes are correct, and", correct_values=["a"])


def test_a_correct_value_that_occurs_nowhere_is_an_error():
    """inspect_ai's "C", "P" and "I" are read as 1, 0.5 and 0."""
    rows = {"question": [1, 2], "score": [1, 0.5]}
    for values in (["C"], ["2"], [1, 0.25]):
        message = r"equal to it\. The outcomes are 1, 0\.5\."
        refused(rows, message, outcomes="score", correct_values=values)
    read = at_k.read(rows, outcomes="score", correct_values=["1.0"])
    assert read == {"predictions": [[True], [False]]}


@pytest.mark.parametrize("entry", [3, "3", True, "true", None, 0.5, "x"])
def test_rows_are_chosen_by_entries_of_any_type(entry):
    rows: list[dict] = [{"a": entry, "outcomes": [1]}, {"a": "other", "outcomes": [0]}]
    assert at_k.read(rows, where={"a": entry}) == {"predictions": [[1]]}
    refused(rows, r"No row has 'no' in a\. Its entries are .*'other'", where={"a": "no"})
    refused(rows, "There is no column 'b'", where={"b": "no"})
