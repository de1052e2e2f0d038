"""References that are not in the log, but in a dict or in another file."""

import at_k
import pytest
from logs import FIXTURES
from run_command import error_of, pass_at_k, write_json_lines

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


def test_a_question_without_reference_is_refused(capsys, tmp_path):
    with pytest.raises(ValueError, match="'sum-2', for which references has no reference"):
        at_k.read(BATCH, references={"sum-0": "3"})


def test_files_that_give_no_references_are_refused(capsys, tmp_path):
    file = write_json_lines(tmp_path / "answers.jsonl", [{"custom_id": "sum-0", "key": "3"}])
    assert "usual name for references" in error_of(capsys, "gpassk", BATCH, "--references", file)
    rows = [{"custom_id": "sum-0", "answer": "3"}, {"custom_id": "sum-0", "answer": "4"}]
    file = write_json_lines(tmp_path / "answers.jsonl", rows)
    error = error_of(capsys, "gpassk", BATCH, "--references", file)
    assert "two references for 'sum-0'" in error


def test_without_a_column_of_questions_references_cannot_be_joined():
    with pytest.raises(ValueError, match="joined by one column"):
        at_k.read({"samples": [["a"]]}, references={"x": "a"})
