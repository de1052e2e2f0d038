"""Which columns are taken: the graded ones, no index of samples, and no silent choice."""

import io
import itertools

import at_k
import pytest
from at_k.readers.table import SelectionError
from run_command import error_of, output_of, write_json_lines

LONG = [
    {"id": question, "sample": sample, "correct": True}
    for question in ("a", "b")
    for sample in (0, 1)
]


def read_rows(tmp_path, rows, **arguments):
    """Return what is read from a file of these rows."""
    return at_k.read(write_json_lines(tmp_path / "rows.jsonl", rows), **arguments)


# --- The index of a sample --------------------------------------------------------------


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("name", ["sample", "response", "completion", "Output"])
def test_the_index_of_a_sample_is_not_its_outcome(tmp_path, name, first):
    rows = [
        {"id": row["id"], name: row["sample"] + first, "correct": row["correct"]} for row in LONG
    ]
    assert read_rows(tmp_path, rows) == {"predictions": [[True, True], [True, True]]}
    assert read_rows(tmp_path, rows[::-1]) == {"predictions": [[True, True], [True, True]]}


@pytest.mark.parametrize("name", ["sample", "generation", "epoch"])
def test_a_column_that_only_numbers_the_samples_has_to_be_named(tmp_path, name):
    rows = [{"id": question, name: sample} for question in "ab" for sample in (0, 1, 2)]
    with pytest.raises(SelectionError, match="no column with a usual name for samples"):
        read_rows(tmp_path, rows)
    assert read_rows(tmp_path, rows, outcomes=name) == {"predictions": [[0, 1, 2], [0, 1, 2]]}


# --- Graded outcomes and text -----------------------------------------------------------


SAMPLES, REFERENCES, OUTCOMES = {"response": ["1", "2"]}, {"answer": "1"}, {"correct": [0, 1]}


@pytest.mark.parametrize(
    ("columns", "taken"),
    [
        (SAMPLES | REFERENCES, {"predictions": [["1", "2"]], "references": ["1"]}),
        (SAMPLES | OUTCOMES, {"predictions": [[0, 1]]}),
        (OUTCOMES | REFERENCES, {"predictions": [[0, 1]]}),
        (SAMPLES, {"predictions": [["1", "2"]]}),
    ],
)
def test_graded_outcomes_are_taken_where_nothing_can_be_checked(tmp_path, columns, taken):
    for order in itertools.permutations(columns):
        assert read_rows(tmp_path, [{name: columns[name] for name in order}]) == taken


def test_the_caller_chooses_between_outcomes_and_samples_that_can_be_checked(capsys, tmp_path):
    rows = [SAMPLES | REFERENCES | OUTCOMES]
    with pytest.raises(SelectionError, match="Pass predictions='response' or outcomes") as raised:
        read_rows(tmp_path, rows)
    assert raised.value.roles == {"predictions", "outcomes"}
    checked = {"predictions": [["1", "2"]], "references": ["1"]}
    assert read_rows(tmp_path, rows, predictions="response") == checked
    assert read_rows(tmp_path, rows, references="answer") == checked
    assert read_rows(tmp_path, rows, outcomes="correct") == {"predictions": [[0, 1]]}
    file = tmp_path / "rows.jsonl"
    ways = "Add --predictions response or --outcomes correct."
    assert ways in error_of(capsys, "gpassk", file)
    printed = output_of(capsys, "gpassk", file, "--k", 1, "--check-correct-fn", "exact_match")
    assert "in response, checked against answer with exact_match." in printed


def test_several_columns_have_a_sample_each(capsys, tmp_path):
    rows = [{"a": "x", "b": "y", "n": 3}, {"a": "y", "b": "y", "n": 3}]
    expected = {"predictions": [["x", "y"], ["y", "y"]], "references": ["x", "y"]}
    assert read_rows(tmp_path, rows, predictions=["a", "b"], references=["x", "y"]) == expected
    with pytest.raises(SelectionError, match="There is no column 'c'"):
        read_rows(tmp_path, rows, predictions=["a", "c"])
    file = tmp_path / "graded.csv"
    file.write_text("id,a,b\nq1,yes,no\nq2,no,no\n")
    printed = output_of(capsys, "gpassk", file, "--predictions", "a", "--predictions", "b")
    assert "2 questions, 2 samples each, already graded in a to b" in printed
    assert at_k.read(file, predictions=["a", "b"]) == {
        "predictions": [[True, False], [False, False]]
    }


@pytest.mark.parametrize(
    ("columns", "role"),
    [
        ({"response": ["a"], "output": ["b"], "answer": "a"}, "predictions"),
        ({"correct": [1], "reward": [0.5]}, "outcomes"),
        ({"response": ["a"], "answer": "a", "target": "b"}, "references"),
        ({"response": ["a"], "solution": "so a", "answer": "a"}, "references"),
        ({"response": ["a"], "references": "a", "label": "b"}, "references"),
    ],
)
def test_one_of_two_columns_that_differ_has_to_be_named(tmp_path, columns, role):
    with pytest.raises(SelectionError, match=f"can both hold the {role}"):
        read_rows(tmp_path, [columns])
    first = next(name for name in columns if name != "response" or role == "predictions")
    assert read_rows(tmp_path, [columns], **{role: first})


def test_outcomes_and_references_exclude_each_other(tmp_path):
    rows = [SAMPLES | REFERENCES | OUTCOMES]
    with pytest.raises(ValueError, match="outcomes are already graded: leave out references"):
        read_rows(tmp_path, rows, outcomes="correct", references="answer")


# --- Counts -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "names", [("n", "correct"), ("n", "c"), ("num_samples", "num_correct"), ("attempts", "passed")]
)
def test_a_table_of_counts_is_read_as_counts(capsys, tmp_path, names):
    file = tmp_path / "counts.csv"
    file.write_text(f"question_id,{names[0]},{names[1]}\nq1,8,1\nq2,8,0\nq3,8,1\n")
    counts = {"n": [8, 8, 8], "correct": [1, 0, 1]}
    assert at_k.read(file) == {"predictions": counts}
    rows = [
        {"question_id": f"q{i}", names[0]: 8, names[1]: correct}
        for i, correct in enumerate(counts["correct"])
    ]
    assert read_rows(tmp_path, rows) == {"predictions": counts}
    # The counts of shards add, where the names say that samples are counted, and not tests.
    shards = [*rows, rows[0] | {names[1]: 7}]
    added = {"predictions": {"n": [16, 8, 8], "correct": [8, 0, 1]}}
    assert read_rows(tmp_path, shards, columns={"n": names[0], "correct": names[1]}) == added
    if names[0] == "attempts":
        with pytest.raises(SelectionError, match="attempts and passed can be counts"):
            read_rows(tmp_path, shards)
    else:
        assert read_rows(tmp_path, shards) == added


def test_numbers_of_correct_and_incorrect_samples_are_not_outcomes(tmp_path):
    rows = [{"id": i, "correct": i % 2, "incorrect": 7 - i % 2} for i in range(3)]
    with pytest.raises(SelectionError, match="correct and incorrect can be counts of samples"):
        read_rows(tmp_path, rows)
    added = {"counts": [[7, 0], [6, 1], [7, 0]]}
    assert read_rows(tmp_path, rows, counts=["incorrect", "correct"]) == {"predictions": added}
    rows = [{"id": i, "correct": i % 2, "incorrect": 1 - i % 2} for i in range(3)]
    assert read_rows(tmp_path, rows) == {"predictions": [[0], [1], [0]]}
    rows = [{"id": i, "resolved": i % 2, "unresolved": 7 - i % 2, "error": 0} for i in range(3)]
    with pytest.raises(SelectionError, match="Samples in error count nowhere then"):
        read_rows(tmp_path, rows)
    assert read_rows(tmp_path, rows, counts=["unresolved", "resolved"]) == {"predictions": added}
    rows = [{"id": i, "success": i % 2, "failure": 7 - i % 2} for i in range(3)]
    with pytest.raises(SelectionError, match="success and failure can be counts of samples"):
        read_rows(tmp_path, rows)


@pytest.mark.parametrize(
    ("text", "n", "correct"),
    [
        ("Problem,Solved,Attempts\nP1,0,8\nP2,1,8", "Attempts", "Solved"),
        ("task_id,resolved,trials\na,0,8\nb,1,8", "trials", "resolved"),
        ("task_id,solved,num_samples\na,0,32\nb,3,32", "num_samples", "solved"),
        ("task_id,is_correct,n\na,1,3\nb,0,5", "n", "is_correct"),
        ("task_id,reward,num attempts\na,1,8\nb,0,8", "num attempts", "reward"),
        ("task_id,correct,runs\na,1,8\nb,0,8", "runs", "correct"),
        ("id,solved,totalRollouts\na,1,8\nb,0,\nc,0,8", "totalRollouts", "solved"),
        ("solved,n\n1,8\n0,8", "n", "solved"),
    ],
)
def test_a_number_of_samples_beside_an_outcome_may_count_them(text, n, correct):
    with pytest.raises(SelectionError, match=f"{n}'? can be a number of samples") as caught:
        at_k.read(io.StringIO(text))
    first, *_, last = caught.value.ways
    assert (first.arguments, last.arguments) == (
        {"n": n, "correct": correct},
        {"outcomes": correct},
    )


def test_a_number_of_samples_beside_several_rows_of_a_question_is_what_was_requested():
    rows = [{"id": i, "solved": x, "num_samples": 4} for i in range(3) for x in (0, 1, 1, 0)]
    assert at_k.read(rows)["predictions"] == [[0, 1, 1, 0]] * 3
    assert at_k.read([x | {"num_samples": 1, "id": i} for i, x in enumerate(rows)])


def test_columns_of_counts_can_be_named(tmp_path):
    rows = [{"runs": 4, "good": 3, "correct": 1, "group": "x"}]
    read = read_rows(tmp_path, rows, columns={"n": "runs", "correct": "good"})
    assert read == {"predictions": {"n": [4], "correct": [3]}, "groups": ["x"]}
    for flags in ({"n": "runs"}, {"correct": "good"}):
        with pytest.raises(ValueError, match="Counts need two columns"):
            read_rows(tmp_path, rows, columns=flags)
    for n, correct in ((4, 5), (4, -1), (4.5, 1), (None, 1), ("many", 1)):
        with pytest.raises(ValueError, match=r"row 0 \(from 0\): .* whole number"):
            read_rows(
                tmp_path,
                [{"runs": n, "good": correct}],
                columns={"n": "runs", "correct": "good"},
            )


def test_counts_and_outcomes_of_single_samples_are_not_mistaken_for_each_other(tmp_path):
    rows = [{"id": i, "n": 2, "correct": outcome} for i in (0, 1) for outcome in (0, 1)]
    with pytest.raises(SelectionError, match="n and correct can be counts"):
        read_rows(tmp_path, rows)
    assert read_rows(tmp_path, rows, outcomes="correct") == {"predictions": [[0, 1]] * 2}
    read = read_rows(tmp_path, rows, columns={"n": "n", "correct": "correct"})
    assert read == {"predictions": {"n": [4, 4], "correct": [1, 1]}}
    # Here n is the index of a sample, which its name does not say.
    rows = [{"id": i, "n": n, "correct": 1} for i in (0, 1) for n in (0, 1)]
    with pytest.raises(SelectionError, match="n and correct can be counts"):
        read_rows(tmp_path, rows)
    assert read_rows(tmp_path, rows, outcomes="correct", pool="n") == {"predictions": [[1, 1]] * 2}
    tries = [{"id": n, "attempts": n, "passed": n < 5} for n in (1, 3, 5)]
    with pytest.raises(SelectionError, match="attempts and passed can be counts"):
        read_rows(tmp_path, [x | {"passed": int(x["passed"])} for x in tries])
    rows = [{"id": n, "n": n, "correct": 1} for n in (1, 2, 3)]
    with pytest.raises(SelectionError, match="n and correct can be counts"):
        read_rows(tmp_path, rows)


def test_whole_numbers_in_a_column_sample_are_answers_only_if_they_are_named():
    rows = [{"id": i, "sample": j, "text": str(i), "gold": i} for i in range(2) for j in range(2)]
    with pytest.raises(ValueError, match="no column with a usual name for samples"):
        at_k.read(rows)
    assert at_k.read(rows, predictions="text")["predictions"] == [["0", "0"], ["1", "1"]]
    numbers = [{"id": 0, "sample": 12, "gold": 12}, {"id": 0, "sample": 13, "gold": 12}]
    assert at_k.read(numbers, predictions="sample")["predictions"] == [[12, 13]]
