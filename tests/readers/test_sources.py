"""Loading sources: every format gives the same columns, and texts are not converted."""

import gzip
import io
import json
import re

import at_k
import datasets
import pandas as pd
import pytest
from logs import refused
from run_command import (
    FLAGS,
    SCORES,
    error_of,
    output_of,
    pass_at_k,
    question_rows,
    scores_of,
    write_json_lines,
)


@pytest.fixture(autouse=True)
def without_progress_bars():
    """Keep the progress bars of files that a test writes out of the output of the command."""
    datasets.disable_progress_bars()
    yield
    datasets.enable_progress_bars()


def test_a_saved_dataset_is_read_and_one_of_several_splits_has_to_be_named(capsys, tmp_path):
    dataset = datasets.Dataset.from_list(question_rows("predictions", "answer"))
    dataset.save_to_disk(str(tmp_path / "one"))
    assert scores_of(capsys, "gpassk", tmp_path / "one", *FLAGS) == SCORES
    datasets.DatasetDict({"dev": dataset, "test": dataset}).save_to_disk(str(tmp_path / "two"))
    error = error_of(capsys, "gpassk", tmp_path / "two", *FLAGS)
    assert error.endswith("two has the splits dev, test. Give --split SPLIT.\n")
    assert scores_of(capsys, "gpassk", tmp_path / "two", *FLAGS, "--split", "dev") == SCORES


def test_a_plain_folder_is_its_files_and_one_with_a_card_is_a_dataset(capsys, tmp_path):
    dataset = datasets.Dataset.from_list(
        [{"id": i, **row} for i, row in enumerate(question_rows("predictions", "answer"))]
    )
    for split in ("train", "test"):
        dataset.to_parquet(tmp_path / f"{split}.parquet")
    assert "train.parquet contains all rows of" in error_of(capsys, "gpassk", tmp_path, *FLAGS)
    output = output_of(capsys, "gpassk", tmp_path, "--pool", "files", *FLAGS)
    assert output.startswith("2 files as parts of one run: ")
    card = tmp_path / "README.md"
    card.write_text("# Results\n")
    with pytest.warns(UserWarning, match=r"not read are 'README\.md'"):
        at_k.read(tmp_path, pool="files")
    card.write_text("---\nlicense: mit\n---\n")
    assert scores_of(capsys, "gpassk", tmp_path, *FLAGS, "--split", "test") == SCORES
    assert "the splits train, test" in error_of(capsys, "gpassk", tmp_path, *FLAGS)


def test_all_formats_in_a_plain_folder_are_read_whatever_their_names(tmp_path):
    (tmp_path / "more").mkdir()
    (tmp_path / ".cache.jsonl").write_text("{")
    rows = [{"id": name, "correct": i % 2} for i, name in enumerate("abcdef")]
    write_json_lines(tmp_path / "math_test.jsonl", rows[:2])
    pd.DataFrame(rows[2:4]).to_csv(tmp_path / "results.csv", index=False)
    (tmp_path / "more" / "results.json.gz").write_bytes(
        gzip.compress(json.dumps(rows[4:]).encode())
    )
    run = at_k.read(tmp_path)
    assert (sorted(run.ids or []), len(run.files)) == (list("abcdef"), 3)
    (tmp_path / "config.json").write_text('{"model": "m"}')
    with pytest.raises(ValueError, match=r"config\.json and .* have no column in"):
        at_k.read(tmp_path)


def test_wildcards_in_a_file_name_are_not_expanded(capsys, tmp_path):
    (tmp_path / "run1.jsonl").write_text('{"outcomes": [1, 1]}')
    (tmp_path / "run[1].jsonl").write_text('{"outcomes": [0, 0]}')
    assert pass_at_k(capsys, tmp_path / "run[1].jsonl") == {"pass@1": 0.0}


def test_the_cells_of_csv_are_not_converted(capsys, tmp_path):
    file = tmp_path / "s.csv"
    file.write_text(
        "id,response,reference,group\n"
        "1,012,012,1.10\n1,12,012,1.10\n"
        "2,None,None,1.1\n2,,None,1.1\n2,NA,None,1.1\n2,NaN,None,1.1\n"
        '3,"a, ""b""\nc","a, ""b""\nc",x\n3,2024-01-01,"a, ""b""\nc",x\n'
    )
    assert "3 of 8 answers are missing" in error_of(capsys, "gpassk", file, "--k", 1)
    assert pass_at_k(capsys, file, "--missing", "incorrect") == {
        "pass@1": pytest.approx((1 / 2 + 1 / 4 + 1 / 2) / 3),
        "1.10/pass@1": 0.5,
        "1.1/pass@1": 0.25,
        "x/pass@1": 0.5,
    }


def test_the_texts_of_json_are_not_converted(capsys, tmp_path):
    row = {"samples": ["2024-01-01", "idk"], "answer": "2024-01-01", "note": None}
    rows = [*[row] * 9999, row | {"note": "x"}]
    assert pass_at_k(capsys, write_json_lines(tmp_path / "s.jsonl", rows)) == {"pass@1": 0.5}


@pytest.mark.parametrize(
    ("name", "text", "flags", "message"),
    [
        ("a.jsonl", "", (), "a.jsonl is empty"),
        ("a.csv", "", (), "a.csv is empty"),
        ("a.csv", "samples,answer\n", (), "no questions, only a header. The columns are samples"),
        (
            "a.json",
            f"[[1{'0' * 400}, null], [1e308]]",
            (),
            "the first of question 0. Add --missing",
        ),
        ("a.json", "[]", (), "has no questions"),
        ("a.jsonl", "\n\n", (), "has no questions"),
        ("a.jsonl", '{"samples": ["a"]}\n{"samp', (), "a.jsonl, line 2: invalid JSON: Unterm"),
        ("a.jsonl", '{"a":\n1},', (), "a.jsonl, line 2: invalid JSON: Expecting value (column 3)"),
        ("a.jsonl", '{"a": 1\n{"b": 1}', (), "line 1: invalid JSON: Expecting ',' del"),
        ("a.json", '[{"a": 1},\n{"a"}]', (), "a.json, line 2: invalid JSON"),
        ("a.json", "[1, 2]", (), "row 0 (from 0) is 1: write an object with a key for each"),
        ("a.jsonl", "null\n[]", (), "row 0 (from 0) is None: write the list of the samples"),
        ("a.json", "[[1, 0], null]", (), "row 1 (from 0) is None: write the list of the samples"),
        ("a.json", '[["a"], "b"]', (), "row 1 (from 0) is 'b': write the list of the samples"),
        ("a.jsonl", '{"id": 1}\n[1]', (), "row 1 (from 0) is [1]: write an object with a key"),
        ("a.json", "[[1, 0], []]", (), "row 1 (from 0) is empty: write null for each sample"),
        ("a.csv", "[[1, 0],\n[]]", (), "row 1 (from 0) is empty: write null for each sample"),
        ("a.json", '{"a": {"passed": 1}, "b": null}', (), "row 1 (from 0) is None: write an obj"),
        ("a.json", '{"a": null, "b": [1, 0]}', (), "row 0 (from 0) is None: write the list"),
        ("a.json", '{"a": 1, "b": null}', (), "1 of 2 outcomes are missing, the first of"),
        ("a.json", '{"x": [{"id": 1}, null]}', ("--records", "x"), "x, row 1 (from 0) is None"),
        ("a.csv", "id,sample\n1,a,b\n", (), "line 2: 3 cells, but line 1 has 2"),
        ("a.csv", "samples,samples\n[1],[0]\n", (), "two columns have the same name"),
        ("a.parquet", "not parquet", (), "a.parquet cannot be read"),
        ("a.md", "a", (), "a.md has none of the supported formats: .jsonl"),
        ("a.xlsx", "PK\x03\x04", (), "one of them, such as spreadsheets as CSV"),
        ("a.txt", "a\nb", (), "The columns are a."),
        ("a.json", '{"a": 1}\n{"b"}', (), "a.json, line 2: invalid JSON: Expecting ':'"),
        ("a.csv", "id,correct\na,1\nid,correct\nb,1\n", (), "line 3: the names of line 1 occur"),
        ("a.csv", "id,correct\na,1\n\ufeffid,correct \nb,1\n", (), "line 3: the names of line 1"),
        ("a.csv", "|id|n|\n|-|-|\n|a|1|\n|id|n|", (), "row 2: the names of line 1 occur again"),
        ("a.jsonl", '1 2"a"{}', (), "line 1: invalid JSON: Another value begins in the same line"),
        ("a.csv", "# of a run\nid,correct\n", (), "If lines above the table are its title or comm"),
        ("a.jsonl", '{"samples": ["a"]}', ("--split", "test"), "config and split apply to"),
        # rows that are no questions
        ("a.csv", "sample\na\n", (), "Give --questions COLUMN (what identifies a question)."),
        ("a.csv", "id,sample\n,a\n", (), "row 0 (from 0) has no id, so the question is unknown"),
        ("a.csv", "x,y\n1,2\n", (), "The columns are x, y."),
        ("a.csv", "x,y\n1,2\n", (), "--outcomes COLUMN (already graded), or --counts"),
        ("a.csv", "samples\n[1 0 1]\n", (), "'[1 0 1]' is not a JSON list of samples"),
        ("a.csv", 'samples\n"[1, 0]"\n"[1, "\n', (), "row 1 (from 0): '[1, ' is not a JSON list"),
        ("a.csv", "samples\n\"['a' 'b']\"\n\"['a', 'b']\"\n", (), "row 0 (from 0): \"['a' 'b']\""),
        ("a.csv", "id,sample\n1,a\n", ("--questions", "no"), "There is no column 'no'"),
        ("a.jsonl", '{"samples": "a"}\n{"samples": ["a"]}', (), "0 (from 0): samples is 'a', and"),
        ("a.jsonl", '{"samples": ["a"]}', (), "nothing to check it against"),
        ("a.jsonl", '{"samples": ["a"], "answer": null}', (), "references[0] is None"),
        (
            "a.jsonl",
            '{"outcomes": [1], "samples": ["a"]}',
            ("--outcomes", "outcomes", "--predictions", "samples"),
            "beside --predictions are for the votes of cons_at_k",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_an_error_with_its_line_or_row(
    capsys, tmp_path, name, text, flags, message
):
    (tmp_path / name).write_text(text)
    assert message in error_of(capsys, "gpassk", tmp_path / name, "--k", 1, *flags)


def test_columns_that_some_files_lack_are_named(tmp_path, recwarn):
    a = write_json_lines(tmp_path / "a.jsonl", [{"id": 1, "correct": 1, "group": "x"}])
    b = write_json_lines(tmp_path / "b.jsonl", [{"id": 2, "correct": 0, "level": 3}])
    message = f"without group (not in {b}), level (not in {a})."
    with pytest.warns(UserWarning, match=re.escape(message)):
        assert at_k.read([a, b]) == {"predictions": [[1], [0]]}


def test_open_files_are_read():
    def opened(text):
        data = text.encode()
        return io.StringIO(text), io.BytesIO(data), io.BytesIO(gzip.compress(data))

    for file in opened("id,outcome\n1,0\n1,1\n"):
        assert at_k.read(file)["predictions"] == [[0, 1]]
    for file in opened("id,outcome\n1,0\n1,1,2\n"):
        refused(file, "The file, line 3: 3 cells")
