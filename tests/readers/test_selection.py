"""Which columns are taken: the only reading that their names allow, or an error that lists all."""

import io
import itertools
from typing import Any

import at_k
import pytest
from at_k.readers.table import SelectionError
from logs import refused
from run_command import error_of, output_of, pass_at_k, write_json_lines

LONG = [{"id": q, "sample": s, "correct": True} for q in ("a", "b") for s in (0, 1)]
SAMPLES, REFERENCES, OUTCOMES = {"response": ["1", "2"]}, {"answer": "1"}, {"correct": [0, 1]}
Ways = list[dict[str, Any]]


def ways_of(source, **options) -> Ways:
    """Return the arguments of the ways that the error of reading a source offers."""
    with pytest.raises(SelectionError, match="which may give different scores") as caught:
        at_k.read(source, **options)
    return [dict(way.arguments) for way in caught.value.ways]


def read_in_way(source, way):
    """Return what is read with the arguments of a way."""
    of_counts = {role: name for role, name in way.items() if role in ("n", "correct")}
    others = {role: name for role, name in way.items() if role not in of_counts}
    return at_k.read(source, columns=of_counts, **others)


def outcomes(*names: str) -> Ways:
    return [{"outcomes": name} for name in names]


def checked(samples: str, *references: str) -> Ways:
    return [{"predictions": samples, "references": name} for name in references]


def gold(answers: str, outcome: str) -> Ways:
    return outcomes(outcome) + checked(answers, outcome)


def scores(*names: str) -> Ways:
    return [{"correct_at_least": ".."}, *outcomes(*names)]


# --- One reading ------------------------------------------------------------------------


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("name", ["sample", "response", "completion", "Output"])
def test_the_index_of_a_sample_is_not_its_outcome(name, first):
    rows = [{"id": x["id"], name: x["sample"] + first, "correct": x["correct"]} for x in LONG]
    for ordered in (rows, rows[::-1]):
        assert at_k.read(ordered) == {"predictions": [[True, True], [True, True]]}


@pytest.mark.parametrize("name", ["sample", "generation", "epoch"])
def test_a_column_that_only_numbers_the_samples_has_to_be_named(name):
    rows = [{"id": question, name: sample} for question in "ab" for sample in (0, 1, 2)]
    refused(rows, "no column with a usual name for samples")
    assert at_k.read(rows, outcomes=name) == {"predictions": [[0, 1, 2], [0, 1, 2]]}


@pytest.mark.parametrize(
    ("columns", "taken"),
    [
        (SAMPLES | REFERENCES, {"predictions": [["1", "2"]], "references": ["1"]}),
        (SAMPLES | OUTCOMES, {"predictions": [[0, 1]]}),
        (OUTCOMES | REFERENCES, {"predictions": [[0, 1]]}),
        (SAMPLES, {"predictions": [["1", "2"]]}),
    ],
)
def test_graded_outcomes_are_taken_where_nothing_can_be_checked(columns, taken):
    for order in itertools.permutations(columns):
        assert at_k.read([{name: columns[name] for name in order}]) == taken


@pytest.mark.parametrize(
    ("row", "outcome"),
    [
        ({"pred": "B", "correct": True}, "correct"),  # a bool that no answer can be
        ({"response": "so it is 12", "correct": 1}, "correct"),  # no answer, but a text
        ({"answer": "B", "is_correct": 1}, "is_correct"),
        ({"answer": "B", "correct": [1, 0]}, "correct"),
        ({"model_confidence": 0.9, "passed": 1}, "passed"),
        ({"pred_tokens": 1, "passed": 1}, "passed"),
        ({"passed": True, "score": 1.0}, "passed"),  # equal
        ({"correct": 1, "confidence_score": 0.5}, "correct"),
        ({"reward": 0.5, "format_reward": 1.0}, "reward"),
    ],
)
def test_other_columns_are_no_outcomes(row, outcome):
    run = at_k.read([{"id": i, **row} for i in range(3)])
    assert run.columns == {"outcomes": outcome, "questions": "id"}


@pytest.mark.parametrize(
    "beside",
    [
        {"judge_reasoning": "because it is"},
        {"judge": "gpt-4"},
        {"max_score": 1},
        {"score_max": 1},
        {"grade_level": 8},
        {"result": {"latency": 2.0}},
    ],
)
def test_samples_are_checked_beside_columns_that_are_no_verdicts(beside):
    rows = [{"id": i, "pred": "a", "answer": "ab"[i], **beside} for i in range(2)]
    assert at_k.read(rows)["references"] == ["a", "b"]


def test_a_score_that_picks_a_sample_is_no_verdict():
    rows = [{"id": 1, "pred": "a", "answer": "a", "score": 0.5}]
    assert at_k.read(rows, columns={"picked_by": "score"}).columns["predictions"] == "pred"


# --- Several readings -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "ways"),
    [
        # two columns of one role
        (
            {"response": ["a"], "output": ["b"]},
            [{"predictions": x} for x in ("response", "output")],
        ),
        ({"correct": [1], "reward": [0.5]}, outcomes("correct", "reward")),
        (
            {"response": ["a"], "answer": "a", "target": "b"},
            checked("response", "answer", "target"),
        ),
        (
            {"response": ["a"], "references": "a", "label": "b"},
            checked("response", "references", "label"),
        ),
        ({"success": True, "score": 0.0}, outcomes("success", "score")),
        ({"correct": 1, "judge_correct": 0}, outcomes("correct", "judge_correct")),
        ({"outcomes": 1, "correct": 0}, outcomes("outcomes", "correct")),
        ({"isCorrect": 1, "is_correct": 0}, outcomes("isCorrect", "is_correct")),
        ({"Correct": 1, "correct": 0}, outcomes("Correct", "correct")),
        # samples that can be checked, beside outcomes or verdicts
        (
            {**SAMPLES, **REFERENCES, **OUTCOMES},
            checked("response", "answer") + outcomes("correct"),
        ),
        *(
            (
                {"pred": "a", "answer": "b", name: verdict},
                checked("pred", "answer") + outcomes("metrics.em" if name == "metrics" else name),
            )
            for name, verdict in {
                "score": 1,
                "accuracy": 1.0,
                "grade": "CORRECT",
                "judge_score": 7,
                "acc_strict": True,
                "Correctness (judge)": True,
                "correctness_math_verify": True,
                "metrics": {"em": 1.0},
            }.items()
        ),
        # outcomes that may be the gold answers
        ({"pred": "yes", "correct": True}, gold("pred", "correct")),
        ({"prediction": "12", "correct": 1}, gold("prediction", "correct")),
        ({"answer": ["B", "A"], "correct": [1, 0]}, gold("answer", "correct")),
        ({"prediction": 1, "outcome": 0}, gold("prediction", "outcome")),
        ({"model_answer": "T", "correct": "T"}, gold("model_answer", "correct")),
        ({"choice": "C", "correct": "C"}, gold("choice", "correct")),
        ({"forecast": 0.9, "resolved": True}, gold("forecast", "resolved")),
        ({"model_forecast": 0.9, "outcome": 1}, gold("model_forecast", "outcome")),
        ({"answer": "yes", "success": "no"}, gold("answer", "success")),
        (
            {"predicted_verdict": True, "verdict": False},
            gold("predicted_verdict", "verdict") + outcomes("predicted_verdict"),
        ),
        # answers or scores without references
        ({"prediction": 1}, [{"references": None}, *outcomes("prediction")]),
        *(
            ({"pred": "yes", name: 1}, [{"references": None}, *scores(name, "pred")])
            for name in ("score", "accuracy", "judge_score")
        ),
        ({"score": 0.5}, scores("score")),
        ({"score": "[1, 0]"}, scores("score")),
    ],
)
def test_all_readings_that_the_names_allow_are_offered(row, ways):
    rows = [{"id": i, **row} for i in range(3)]
    assert ways_of(rows) == ways
    for way in ways:
        if not {"..", None} & {*way.values()}:
            assert read_in_way(rows, way).columns == {**way, "questions": "id"}


def test_grades_have_no_least_correct_one(capsys, tmp_path):
    file = write_json_lines(tmp_path / "a.jsonl", [{"id": 1, "grade": x} for x in "AB"])
    assert "'A' in grade: name those that are correct" in error_of(capsys, "gpassk", file)
    flags = ("--outcomes", "grade", "--correct-values", "A")
    assert pass_at_k(capsys, file, *flags) == {"pass@1": 0.5}


@pytest.mark.parametrize(
    ("columns", "ways"),
    [
        # n and the number of correct samples, or the outcome of one sample in each row
        ("Problem,Solved,Attempts\nP1,0,8\nP2,1,8", [("Attempts", "Solved"), "Solved"]),
        ("task_id,resolved,trials\na,0,8\nb,1,8", [("trials", "resolved"), "resolved"]),
        ("task_id,solved,num_samples\na,0,32\nb,3,32", [("num_samples", "solved"), "solved"]),
        ("task_id,reward,num attempts\na,1,8\nb,0,8", [("num attempts", "reward"), "reward"]),
        ("task_id,correct,runs\na,1,8\nb,0,8", [("runs", "correct"), "correct"]),
        ("id,solved,totalRollouts\na,1,8\nb,0,\nc,0,8", [("totalRollouts", "solved"), "solved"]),
        ("solved,n\n1,8\n0,8", [("n", "solved"), "solved"]),
        ("id,attempts,passed\n1,1,1\n3,3,1\n5,5,0", [("attempts", "passed"), "passed"]),
        ("id,n,correct\n1,1,1\n2,2,1\n3,3,1", [("n", "correct"), "correct"]),
        ("id,n,correct\n0,0,1\n0,1,1\n1,0,1\n1,1,1", [("n", "correct"), "correct"]),
        ("id,n,correct\n0,2,0\n0,2,1\n1,2,0\n1,2,1", [("n", "correct"), "correct"]),
        ("id,attempts,passed\n1,8,1\n1,8,7\n2,8,0", [("attempts", "passed"), None]),
        ("task_id,total,passed\n0,4,0\n1,4,1\n2,4,2", [("total", "passed"), None]),
        ("task_id,Total,Passed\n0,4,0\n1,4,1\n2,4,2", [("Total", "Passed"), None]),
        ("id,correct,n_correct,n\na,1,1,2\nb,1,2,2", [("n", "correct"), ("n", "n_correct")]),
        # how often a sample occurs
        ("id,is_correct,n\na,1,3\nb,0,5", [("n", "is_correct"), "n is_correct", "is_correct"]),
        *(
            (f"id,outcome,{name}\na,0,3\na,1,1\nb,1,4", [f"{name} outcome", "outcome"])
            for name in ("count", "freq", "n_samples", "attempts", "total")
        ),
    ],
)
def test_numbers_beside_an_outcome_may_count_samples(columns, ways):
    """A pair has n and correct, and a text has the column of outcomes, after that of counts."""
    offered: Ways = []
    for way in ways:
        if isinstance(way, tuple):
            offered.append(dict(zip(("n", "correct"), way, strict=True)))
        else:
            names = way.rpartition(" ") if way else ("", "", None)
            offered.append(({"counts": names[0]} if names[0] else {}) | {"outcomes": names[2]})
    assert ways_of(io.StringIO(columns)) == offered
    if {"outcomes": None} in offered:
        message = r"The columns are .* outcomes=\.\. \(each row is one sample, whose outcome is in"
        refused(io.StringIO(columns), message)


@pytest.mark.parametrize(
    ("correct", "incorrect", "beside"),
    [
        ("correct", "incorrect", {}),
        ("success", "failure", {}),
        ("resolved", "unresolved", {"error": 0}),
    ],
)
def test_numbers_of_correct_and_incorrect_samples_are_not_outcomes(correct, incorrect, beside):
    rows = [{"id": i, correct: i % 2, incorrect: 7 - i % 2, **beside} for i in range(3)]
    assert ways_of(rows) == [{"counts": (incorrect, correct)}, {"outcomes": correct}]
    if beside:
        refused(rows, "without the samples in error")
    added = {"counts": [[7, 0], [6, 1], [7, 0]]}
    assert at_k.read(rows, columns={"counts": [incorrect, correct]}) == {"predictions": added}
    rows = [{"id": i, correct: i % 2, incorrect: 1 - i % 2} for i in range(3)]
    assert at_k.read(rows) == {"predictions": [[0], [1], [0]]}


def test_the_shell_and_python_write_the_ways(capsys, tmp_path):
    rows = [SAMPLES | REFERENCES | OUTCOMES]
    raised = refused(rows, "Pass predictions='response', references=")
    assert raised.roles == {"predictions", "references", "outcomes"}
    assert at_k.read(rows, predictions="response") == at_k.read(rows, references="answer")
    file = write_json_lines(tmp_path / "rows.jsonl", rows)
    ways = "Add --predictions response --references answer (samples to be checked), or --outcomes"
    names = "by the names of its columns, which may give different scores"
    assert f"rows.jsonl can be read in 2 ways {names}. {ways}" in error_of(capsys, "gpassk", file)
    printed = output_of(capsys, "gpassk", file, "--k", 1, "--check-correct-fn", "exact_match")
    assert "in response, checked against answer with exact_match." in printed


# --- Columns that are named -------------------------------------------------------------


def test_several_columns_have_a_sample_each(capsys, tmp_path):
    rows = [{"a": "x", "b": "y", "n": 3}, {"a": "y", "b": "y", "n": 3}]
    expected = {"predictions": [["x", "y"], ["y", "y"]], "references": ["x", "y"]}
    assert at_k.read(rows, predictions=["a", "b"], references=["x", "y"]) == expected
    refused(rows, "There is no column 'c'", predictions=["a", "c"])
    file = tmp_path / "graded.csv"
    file.write_text("id,a,b\nq1,yes,no\nq2,no,no\n")
    printed = output_of(capsys, "gpassk", file, "--predictions", "a", "--predictions", "b")
    assert "2 questions, 2 samples each, already graded in a to b" in printed
    assert at_k.read(file, predictions=["a", "b"]) == {
        "predictions": [[True, False], [False, False]]
    }


def test_graded_answers_may_have_a_column_each():
    rows = [{"id": 1, "a1": "x", "a2": "y", "c1": 1, "c2": 0}]
    run = at_k.read(rows, predictions=["a1", "a2"], outcomes=["c1", "c2"])
    assert run["predictions"] == [["x", "y"]]
    assert run["references"] == ["[1.0, 0.0]"]


def test_outcomes_and_references_exclude_each_other():
    rows = [SAMPLES | REFERENCES | OUTCOMES]
    message = "outcomes are already graded: leave out references"
    refused(rows, message, outcomes="correct", references="answer")


def test_columns_of_counts_can_be_named():
    rows = [{"runs": 4, "good": 3, "correct": 1, "group": "x"}]
    named = {"n": "runs", "correct": "good"}
    read = at_k.read(rows, columns=named)
    assert read == {"predictions": {"n": [4], "correct": [3]}, "groups": ["x"]}
    for flags in ({"n": "runs"}, {"correct": "good"}):
        refused(rows, "Counts need two columns", columns=flags)
    for n, correct in ((4, 5), (4, -1), (4.5, 1), (None, 1), ("many", 1)):
        refused([{"runs": n, "good": correct}], r"row 0 \(from 0\): .* whole number", columns=named)


@pytest.mark.parametrize(
    "names", [("n", "correct"), ("n", "c"), ("num_samples", "num_correct"), ("attempts", "passed")]
)
def test_a_table_of_counts_is_read_as_counts(tmp_path, names):
    text = f"question_id,{names[0]},{names[1]}\nq1,8,1\nq2,8,0\nq3,8,1\n"
    assert at_k.read(io.StringIO(text)) == {"predictions": {"n": [8, 8, 8], "correct": [1, 0, 1]}}
    # The counts of shards add, where the names say that samples are counted, and not tests.
    shards = io.StringIO(f"{text}q1,8,7\n")
    columns = dict(zip(("n", "correct"), names, strict=True)) if names[0] == "attempts" else {}
    added = {"n": [16, 8, 8], "correct": [8, 0, 1]}
    assert at_k.read(shards, columns=columns)["predictions"] == added


def test_whole_numbers_in_a_column_sample_are_answers_only_if_they_are_named():
    rows = [{"id": i, "sample": j, "text": str(i), "gold": i} for i in range(2) for j in range(2)]
    refused(rows, "no column with a usual name for samples")
    assert at_k.read(rows, predictions="text")["predictions"] == [["0", "0"], ["1", "1"]]
    numbers = [{"id": 0, "sample": 12, "gold": 12}, {"id": 0, "sample": 13, "gold": 12}]
    assert at_k.read(numbers, predictions="sample")["predictions"] == [[12, 13]]
