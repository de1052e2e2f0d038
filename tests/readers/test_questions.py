"""Reading questions: which columns are used, and how rows become questions."""

import json
import pickle

import at_k
import pandas as pd
import pytest
from at_k.readers.run import read_run
from at_k.readers.table import SelectionError
from logs import refused
from run_command import (
    FLAGS,
    REFERENCES,
    SAMPLES,
    SCORES,
    error_of,
    pass_at_k,
    question_rows,
    scores_of,
    write_json_lines,
)


def test_columns_can_be_named(capsys, tmp_path):
    file = write_json_lines(tmp_path / "s.jsonl", question_rows("generated", "key"))
    assert "--predictions" in error_of(capsys, "gpassk", file)
    named = ("--predictions", "generated", "--references", "key", "--groups", "key")
    scores = scores_of(capsys, "gpassk", file, *FLAGS, *named)
    of_groups = {"a/pass@2": 1.0, "a/pass^2": 1 / 3, "b/pass@2": 1.0, "b/pass^2": 0.5}
    assert scores == SCORES | of_groups
    error = error_of(capsys, "gpassk", file, "--predictions", "generatd")
    assert "'generatd'" in error
    assert "generated, key, other" in error


@pytest.mark.parametrize("as_text", [json.dumps, repr])
@pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".tsv", "\t")])
def test_the_cells_of_csv_can_hold_lists(capsys, tmp_path, as_text, suffix, delimiter):
    frame = pd.DataFrame({"samples": map(as_text, SAMPLES), "reference": REFERENCES})
    frame.to_csv(tmp_path / f"samples{suffix}", index=False, sep=delimiter)
    assert scores_of(capsys, "gpassk", tmp_path / f"samples{suffix}", *FLAGS) == SCORES


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_rows_of_one_sample_each_are_gathered_into_questions(capsys, tmp_path, suffix):
    rows = [
        {"task_id": i, "response": samples[j], "target": REFERENCES[i], "topic": f"t{i}"}
        for j in range(4)
        for i, samples in enumerate(SAMPLES)
        if j < len(samples)
    ]
    file, frame = tmp_path / f"samples{suffix}", pd.DataFrame(rows)
    if suffix == ".csv":
        frame.to_csv(file, index=False)
    else:
        frame.to_json(file, orient="records", lines=True)
    scores = scores_of(capsys, "gpassk", file, *FLAGS, "--groups", "topic")
    assert scores.items() >= SCORES.items()
    assert scores["t1/pass^2"] == 0.5
    assert scores_of(capsys, "gpassk", file, *FLAGS, "--questions", "topic") == SCORES


def test_any_column_can_identify_the_questions(capsys, tmp_path):
    samples = [("x", "[1, 2]"), ("x", "[2]"), ("y", "[3]"), ("y", "?")]
    rows = [
        {
            "id": i,
            "prompt": [{"role": "user", "content": question}],
            "response": response,
            "answer": "[1, 2]",
        }
        for i, (question, response) in enumerate(samples)
    ]
    file = write_json_lines(tmp_path / "s.jsonl", rows)
    # The id numbers the samples. Responses that look like lists are single samples here.
    assert pass_at_k(capsys, file, "--questions", "prompt", k=2) == {"pass@2": 0.5}


def test_the_error_of_a_missing_column_names_no_flag_but_has_its_roles_and_the_columns(tmp_path):
    file = write_json_lines(tmp_path / "a.jsonl", [{"x": 1, "y": 2}])
    with pytest.raises(SelectionError) as raised:
        read_run(str(file))
    assert "--" not in str(raised.value).replace(str(file), "")
    for error in (raised.value, pickle.loads(pickle.dumps(raised.value))):
        assert error.roles == {"predictions", "outcomes", "counts"}
        assert str(error) == str(raised.value)


@pytest.mark.parametrize("name", ["id", "index", "question_id"])
@pytest.mark.parametrize("problem", ["problem", "input", "query"])
def test_ids_of_rows_beside_questions_that_repeat_are_asked_about(name, problem):
    rows: dict[str, list] = {name: list(range(12)), problem: list("aaabbbcccddd")}
    rows["correct"] = [1, 0, 1] * 4
    error = refused(rows, rf"{name} is different in each of the 12 rows")
    assert f"{problem} has 4 texts" in str(error)
    assert at_k.read(rows, questions=problem)["predictions"] == [[1, 0, 1]] * 4
    assert at_k.read(rows, questions=name)["predictions"] == [[x] for x in rows["correct"]]
    rows[problem][0] = "once"  # so texts do not show that all questions have several samples
    assert len(at_k.read(rows)["predictions"]) == 12
