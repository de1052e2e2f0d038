"""References in a dict or in another file, and those that have options beside them."""

import at_k
import pandas as pd
import pytest
from at_k.readers.run import read_run
from logs import FIXTURES, refused
from run_command import error_of, output_of, pass_at_k, write_json_lines

BATCH = FIXTURES / "openai_batch" / "chat.jsonl"
ANSWERS = {"sum-0": "3", "sum-1": "4", "sum-2": "7", "sum-3": "10"}


def test_references_in_a_dict_are_joined_by_question():
    arguments = at_k.read(BATCH, references=ANSWERS)
    assert arguments["references"] == ["7", "3", "4"]
    rows = {"id": [1, 1, 2], "sample": ["a", "b", "c"]}
    read = at_k.read(rows, references={1: "a", 2: ["c", "d"]})
    assert read == {"predictions": [["a", "b"], ["c"]], "references": ["a", ["c", "d"]]}


def test_references_in_a_file_are_joined_by_question(capsys, tmp_path):
    rows = [{"custom_id": name, "answer": answer} for name, answer in ANSWERS.items()]
    file = write_json_lines(tmp_path / "answers.jsonl", rows)
    assert pass_at_k(capsys, BATCH, "--references", file) == {"pass@1": 0.5}
    rows = [{"id": name, "answer": answer} for name, answer in ANSWERS.items()]
    file = write_json_lines(tmp_path / "others.jsonl", rows)
    assert pass_at_k(capsys, BATCH, "--references", file) == {"pass@1": 0.5}


def test_references_that_cannot_be_joined_are_refused():
    refused(BATCH, "'sum-2', for which references has no reference", references={"sum-0": "3"})
    refused({"samples": [["a"]]}, "joined by one column", references={"x": "a"})
    columns = {"id": [1], "correct": [1], "x": [["a"]]}
    refused(columns, "options go with references", columns={"options": "x"})


def test_files_that_give_no_references_are_refused(capsys, tmp_path):
    file = write_json_lines(tmp_path / "answers.jsonl", [{"custom_id": "sum-0", "key": "3"}])
    assert "usual name for references" in error_of(capsys, "gpassk", BATCH, "--references", file)
    rows = [{"custom_id": "sum-0", "answer": "3"}, {"custom_id": "sum-0", "answer": "4"}]
    file = write_json_lines(tmp_path / "answers.jsonl", rows)
    error = error_of(capsys, "gpassk", BATCH, "--references", file)
    assert "two references for 'sum-0'" in error


def test_outputs_of_tests_are_no_samples(capsys, tmp_path):
    row = {"task_id": "t", "code": "print(input())", "inputs": ["1"], "outputs": ["1"]}
    file = write_json_lines(tmp_path / "a.jsonl", [row])
    flags = ("--check-correct-fn", "python_tests", "--k", 1)
    error = error_of(capsys, "gpassk", file, *flags)
    assert "no column with a usual name for samples" in error
    assert at_k.read(file, outcomes="outputs")["predictions"] == [[1]]


def test_a_column_in_a_file_of_references_is_chosen_by_its_name(capsys, tmp_path):
    file = write_json_lines(tmp_path / "s.jsonl", [{"qid": 1, "response": "12"}])
    answers = tmp_path / "answers.csv"
    for text, message in (
        (
            "qid,gold,answer\n1,x,12\n",
            "in 2 ways by the names of its columns, which may give different scores. Name the ids",
        ),
        ("task_id,id,gold\n1,1,12\n1,2,12\n", "ones (task_id 1, id 2). Name the ids qid, as"),
    ):
        answers.write_text(text)
        assert message in error_of(capsys, "gpassk", file, "--references", answers)
    answers.write_text("qid,gold,answer\n1,x,12\n")
    assert at_k.read(file, references=f"{answers}:answer")["references"] == ["12"]
    answers.write_text("qid,references\n1,12\n")
    assert at_k.read(file, references=str(answers))["references"] == ["12"]


@pytest.mark.parametrize(
    ("cells", "references"),
    [
        (['["Rome", "Roma"]', '["Bern"]'], [["Rome", "Roma"], ["Bern"]]),
        (['["Rome", "Roma"]', "Bern"], ['["Rome", "Roma"]', "Bern"]),
    ],
)
def test_lists_in_cells_of_csv_are_acceptable_answers_if_all_are_lists(tmp_path, cells, references):
    for pred in ("Rome", "[1, 2]"):
        frame = pd.DataFrame({"id": [1, 2], "pred": [pred, "Bern"], "answers": cells})
        frame.to_csv(tmp_path / "a.csv", index=False)
        read = at_k.read(tmp_path / "a.csv")["references"]
        assert read == (references if pred == "Rome" else cells)  # where lists are answers


@pytest.mark.parametrize(
    ("answer", "options", "prediction", "correct"),
    [
        (0, ["Paris", "Rome"], "A", 1),
        (0, ["Paris", "Rome"], "Paris", 1),
        (0, ["Paris", "Rome"], "B", 0),
        ("B", ["London", "Paris"], "Paris", 1),
        ("Paris", ["London", "Paris"], "Paris", 1),
        ("A", ["London", "Paris"], "Paris", 0),
        ("B", ["0", "2", "3"], "The answer is 2.", 1),
        ("B", ["x", "y", "2"], "The answer is 2.", 0),
    ],
)
@pytest.mark.parametrize("name", ["choices", "options"])
def test_an_answer_is_an_index_a_letter_or_the_text_of_an_option(
    capsys, tmp_path, answer, options, prediction, correct, name
):
    row = {"id": 1, name: options, "answer": answer, "prediction": prediction}
    file = write_json_lines(tmp_path / "a.jsonl", [row])
    checked = ("--check-correct-fn", "choice")
    assert pass_at_k(capsys, file, *checked) == {"pass@1": correct}
    first = output_of(capsys, "gpassk", file, *checked, "--k", 1)
    assert f"; options from {name}; questions from id." in first.splitlines()[0]
    run = at_k.read(file, references="answer", columns={"options": name})
    assert run == read_run([file], checker="choice")


@pytest.mark.parametrize("as_object", [dict, lambda x: {"label": list(x), "text": [*x.values()]}])
def test_options_may_be_objects(capsys, tmp_path, as_object):
    options = as_object({"A": "cat", "B": "dog"})
    row = {"id": 1, "choices": options, "answer": "B", "prediction": "dog"}
    file = write_json_lines(tmp_path / "a.jsonl", [row, {**row, "id": 2, "choices": None}])
    assert pass_at_k(capsys, file, "--check-correct-fn", "choice") == {"pass@1": 0.5}


def test_options_are_read_from_the_file_of_references(capsys, tmp_path):
    row = {"id": 1, "choices": ["Paris", "Rome"], "answer": "B"}
    answers = write_json_lines(tmp_path / "answers.jsonl", [row])
    file = write_json_lines(tmp_path / "a.jsonl", [{"id": 1, "prediction": "Rome"}])
    flags = ("--references", answers, "--check-correct-fn", "choice")
    assert pass_at_k(capsys, file, *flags) == {"pass@1": 1}


def test_indices_of_options_that_may_count_from_1_are_warned_about(tmp_path):
    rows = [
        {"id": i, "choices": ["Paris", "Rome", "Bern"], "answer": answer, "predictions": ["B"]}
        for i, answer in enumerate([1, 2])
    ]
    file = write_json_lines(tmp_path / "run.jsonl", rows)
    with pytest.warns(UserWarning, match="from 0, and none of them is 0: they are 1 to 2"):
        read_run([file], checker="choice")


def test_a_file_of_scores_is_told_from_a_file_of_samples(tmp_path):
    file = tmp_path / "results.json"
    file.write_text('{"results": {"gsm8k": {"exact_match,strict": 0.5}}, "configs": {}}')
    refused(file, "results may have scores of whole runs: give the")
