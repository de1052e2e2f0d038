"""Tables as people write and paste them: a column for each sample, with names or without."""

import io
import json
import re
import warnings
from typing import Any

import at_k
import numpy as np
import pytest
from at_k.cli.command import main
from logs import refused
from run_command import error_of, output_of, pass_at_k

CHECKED = {"predictions": [["12", "13"], ["7", "7"]], "references": ["12", "7"]}
GRADED = {"predictions": [[1, 0], [1, 1]]}
BOOLS = {"predictions": [[True, False], [True, True]]}
SHARES = {"predictions": [[0.5, 1], [0, 0.25]]}
COUNTS = {"predictions": {"n": [8, 8], "correct": [3, 5]}}
TABLES = {
    "numbers as names above words": ("0,1\nTrue,False\nTrue,True", BOOLS),
    "from a spreadsheet": ("reference\t1\t2\n12\t12\t13\n7\t7\t7", CHECKED),
    "numbered samples": ("answer;sample_1;sample_2\n12;12;13\n7;7;7", CHECKED),
    "one sample in each row": (
        "question,response,reference\nq1,12,12\nq1,13,12\nq2,7,7\nq2,7,7",
        CHECKED,
    ),
    "one sample in each row, with semicolons": (
        "\ufeffquestion;prediction;reference\nq1;12;12\nq1;13;12\nq2;7;7\nq2;7;7",
        CHECKED,
    ),
    "references before samples": ("reference,1,2\n12,12,13\n7,7,7", CHECKED),
    "outcomes of runs": ("question,run 1,run 2\nq1,1,0\nq2,1,1", GRADED),
    "nested lists": ("[[1, 0], [1, 1]]", GRADED),
    "an array of NumPy": ("array([[1, 0],\n       [1, 1]])", GRADED),
    "lists of Python": ("[[True, False],\n [True, True]]", BOOLS),
    "a Markdown table": ("| id | 1 | 2 |\n|:--|--:|--:|\n| a | 1 | 0 |\n| b | 1 | 1 |", GRADED),
    "a Markdown table without outer bars": ("id | 1 | 2\n--|--|--\na | 1 | 0\nb | 1 | 1", GRADED),
    "a table of MySQL": ("+--+-+-+\n|id|1|2|\n+--+-+-+\n|a |1|0|\n|b |1|1|\n+--+-+-+", GRADED),
    "a table of PostgreSQL": (
        " id | 1 | 2\n----+---+---\n a | 1 | 0\n b | 1 | 1\n(2 rows)",
        GRADED,
    ),
    "between bars": ("id|1|2\na|1|0\nb|1|1", GRADED),
    "empty rows below": ("id,correct\na,1\na,0\nb,1\nb,1\n,\n,\n", GRADED),
    "objects over several lines": (
        '{\n "id": "a",\n "passed": [1, 0]\n}\n{\n "id": "b",\n "passed": [1, 1]\n}\n',
        GRADED,
    ),
    "columns of JSON": ('{"n": [8, 8],\n "correct": [3, 5]}', COUNTS),
    "lists of all questions in a line": ('{"outcomes": [[1, 0], [1, 1]]}', GRADED),
    "a byte order mark": ("\ufeffquestion,correct\nq1,1\nq1,0\nq2,1\nq2,1", GRADED),
    "empty rows": ("id,1,2\nq1,1,0\n,,\nq2,1,1\n", GRADED),
    "decimal commas": ("id;1;2\na;0,5;1\nb;0;0,25", SHARES),
    "decimal commas in a column": ("id;outcome\na;0,5\na;1\nb;0\nb;0,25", SHARES),
    "the first line of Excel": ("sep=;\nid;1;2\na;1;0\nb;1;1", GRADED),
    "groups": ("group,1,2\nx,1,0\ny,1,1", GRADED | {"groups": ["x", "y"]}),
}
WITH_MISSING = {
    "verdicts": (
        "id,1,2,3\na,fully,none,None\nb,minor,,mostly",
        [["fully", "none", None], ["minor", None, "mostly"]],
    ),
    "samples that are not scored": ("id,1,2,3\na,1,NA,0\nb,1,1,", [[1, None, 0], [1, 1, None]]),
    "an empty cell at the end": ("id,1,2\nq1,1,\nq2,1,1", [[1, None], [1, 1]]),
    "an empty cell at the end, without names": ("1,0\n1,", [[1, 0], [1, None]]),
    "an empty cell at the end, between bars": (
        "| id | 1 | 2 |\n|--|--|--|\n| a | 1 | |\n| b | 1 | 1 |",
        [[1, None], [1, 1]],
    ),
    "a matrix": ("1 None 0\n1 1 1", [[1, None, 0], [1, 1, 1]]),
}
WITHOUT_NAMES = {
    "outcomes": ("1\t0\n1\t1", GRADED),
    "between commas": ("1, 0\n1, 1", GRADED),
    "one outcome each": ("1\n0\n1", {"predictions": [[1], [0], [1]]}),
    "between spaces": ("1 0\n1 1", GRADED),
    "bools": ("True False\nTrue True", GRADED),
    "rewards": ("1,0.5,0.25\n0.4,0.3,0.9", {"predictions": [[1, 0.5, 0.25], [0.4, 0.3, 0.9]]}),
    "decimal commas": ("0,5;1\n1;0,75", {"predictions": [[0.5, 1], [1, 0.75]]}),
    "verdicts": (
        "fully,none\nmostly,minor",
        {"predictions": [["fully", "none"], ["mostly", "minor"]]},
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_read_as_people_write_it(name):
    text, expected = TABLES[name]
    assert at_k.read(io.StringIO(text)) == expected


@pytest.mark.parametrize("name", WITH_MISSING)
@pytest.mark.filterwarnings("ignore:The file")
def test_missing_cells_of_a_table_are_asked_about(name):
    text, expected = WITH_MISSING[name]
    refused(io.StringIO(text), r"outcomes are missing.*Pass missing='incorrect' ")
    assert at_k.read(io.StringIO(text), missing="drop")["predictions"] == expected


def test_a_comma_between_spaces_or_commas_is_no_decimal_point(tmp_path):
    file = tmp_path / "run.csv"
    file.write_text('id,outcome\na,"1,0"\na,"0,5"\nb,1\n')
    assert at_k.read(file)["predictions"] == [["1,0", "0,5"], [1]]  # which no metric takes
    with pytest.warns(UserWarning, match="no names"):
        assert at_k.read(io.StringIO("0,5 1\n1 0,75"))["predictions"][0] == ["0,5", 1]


@pytest.mark.parametrize("name", WITHOUT_NAMES)
def test_a_table_without_names_holds_outcomes(name):
    text, expected = WITHOUT_NAMES[name]
    with pytest.warns(
        UserWarning, match="The file: the columns have no names. They are read as out"
    ):
        assert at_k.read(io.StringIO(text)) == expected


def test_what_numpy_and_spreadsheets_save_is_read(tmp_path):
    outcomes = np.array([[1, 0, 1], [0, 0, 1]])
    np.savetxt(tmp_path / "spaces.csv", outcomes)
    np.savetxt(tmp_path / "commas.csv", outcomes, fmt="%d", delimiter=",")
    for name in ("spaces.csv", "commas.csv"):
        with pytest.warns(UserWarning, match="no names"):
            assert at_k.read(tmp_path / name)["predictions"] == outcomes.tolist()
    (tmp_path / "lists.json").write_text(json.dumps(outcomes.tolist()))
    (tmp_path / "lists.jsonl").write_text("[1, 0, 1]\n[0, 0, 1]\n")
    (tmp_path / "excel.tsv").write_bytes("id\t1\t2\t3\nä\t1\t0\t1\nb\t0\t0\t1".encode("utf-16"))
    (tmp_path / "excel.csv").write_bytes("id;1;2;3\nä;1;0;1\nb;0;0;1".encode("utf-16"))
    for name in ("lists.json", "lists.jsonl", "excel.tsv", "excel.csv"):
        assert at_k.read(tmp_path / name) == {"predictions": outcomes.tolist()}


def test_data_frames_have_a_column_for_each_sample_too():
    columns: dict[str, list[Any]] = {
        "question": ["a", "b"],
        "answer": ["7", "8"],
        "sample_0": ["7", "8"],
    }
    columns |= {"sample_1": ["6", None]}
    expected = {"predictions": [["7", "6"], ["8", None]], "references": ["7", "8"]}
    assert at_k.read(columns, missing="drop") == expected
    del columns["answer"]
    options = {"references": {"a": "7", "b": "8"}, "questions": "question", "missing": "drop"}
    assert at_k.read(columns, **options) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,1,2\na,1,0,1", "line 2: 4 cells, but line 1 has 3"),
        ("1,0\n1,0,1,1\n1", ""),
        ("\n \n", "The file has no questions."),
        ("\ufeff\n", "The file has no questions."),
        ("[[1, 0],\n[1", "The file, line 2: invalid JSON"),
        ('id,1,2\na,"1,0\nb,1,1', "a quote is not closed"),
        ("x_1,x_2\n1,0\n0,1", "There is no column with a usual name for samples"),
        ("id;reward\n1;1.234\n1;1,5", "1,5 and 1.234 have a decimal comma and a point"),
        ("| a | 1 |\n| b | 1 | 0 |", "row 1: 3 cells, but line 1 has 2"),
        ("question n correct\na 8 3", "The columns are 'question n correct'."),
        ("| id | id |\n| 1 | 1 |", "two columns have the same name"),
    ],
)
def test_a_table_that_cannot_be_read_is_an_error(text, message):
    if not message:
        with pytest.warns(UserWarning, match="no names"):
            assert at_k.read(io.StringIO(text))["predictions"] == [[1, 0], [1, 0, 1, 1], [1]]
        return
    refused(io.StringIO(text), re.escape(message))


def test_a_row_without_its_reference_or_samples_is_an_error(capsys, tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("reference,1,2\n7,7,8\n,8,8\n")
    assert "references[1] is None" in error_of(capsys, "gpassk", file, "--k", 1)
    file.write_text("id,1,2\na,1,0\nb,,\n")
    assert "Add --missing incorrect (they count as incorrect), or --missing drop" in error_of(
        capsys, "gpassk", file
    )
    assert at_k.read(file, missing="incorrect")["predictions"] == [[1, 0], [False, False]]


def test_the_command_reads_a_matrix(tmp_path, capsys):
    file = tmp_path / "runs.csv"
    file.write_text("1,0,1\n0,0,1\n")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert main(["gpassk", str(file), "--k", "1", "--include", "pass@k"]) == 0
    printed = capsys.readouterr()
    assert "0.5000" in printed.out
    assert "runs.csv: the columns have no names" in printed.err
    file.write_text("id,1,2,3\na,12,12,13\nb,7,7,7\n")
    assert "is 12: an outcome is 0 or False" in error_of(capsys, "gpassk", file)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_large_tables_are_read_whole(monkeypatch, tmp_path, encoding):
    monkeypatch.setattr("at_k.readers.counting.LEAST_BYTES", 0)
    (tmp_path / "runs.csv").write_text("1,0,1\n0,0,1\n", encoding=encoding)
    with pytest.warns(UserWarning, match="no names"):
        assert at_k.read(tmp_path / "runs.csv")["predictions"] == [[1, 0, 1], [0, 0, 1]]


@pytest.mark.filterwarnings("ignore:The file")
@pytest.mark.parametrize(
    ("text", "questions"),
    [
        # a first row of values
        ("0.5,1,0.25\n1,0,0.75", 2),
        ("0,1\n1,0", 2),
        ("0,1,1,0\n1,1,0,0", 2),
        ("1,1,2\n1,2,2", 2),
        ("2,1\n1,2", 2),
        ("true,false,1\n1,0,true", 2),
        ("0,5 1\n1 0", 2),
        # names
        ("1,2,3\n0,1,1\n1,1,1", 2),
        ("0,1,2\n1,1,0", 1),
        (",1,2\nq1,0,1", 1),
        ("1,2\nfully,none", 1),
        ("1,2,3,4\nfully,none,minor,\npartial,mostly,,", 2),
    ],
)
def test_a_first_row_has_names_or_values(text, questions):
    assert len(at_k.read(io.StringIO(text), missing="drop")["predictions"]) == questions


@pytest.mark.filterwarnings("ignore:The file")
@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("0,5 1 0,25\n1 0 0,75", ["0,5", 1, "0,25"]),
        ("10\n2", [10]),
        ('["a, [b]", "c"]', ["a, [b]", "c"]),
    ],
)
def test_cells_are_what_separates_them(text, row):
    assert at_k.read(io.StringIO(text))["predictions"][0] == row


def test_columns_of_samples_beside_one_of_outcomes_are_asked_about(capsys, tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("id,trial_1,trial_2,success\na,1,0,1\nb,0,0,0\n")
    flags = ("--outcomes", "trial_1", "trial_2")
    error = error_of(capsys, "gpassk", file)
    assert error.endswith(
        f"Add {' '.join(flags)} (already graded), or --outcomes success (already graded).\n"
    )
    assert pass_at_k(capsys, file, *flags)["pass@1"] == 0.25
    assert pass_at_k(capsys, file, "--outcomes", "success") == {"pass@1": 0.5}
    (tmp_path / "b.csv").write_text("id,correct\na,1\nb,0\n")
    error = error_of(capsys, "compare", tmp_path / "b.csv", file)
    assert "Add --outcomes-b trial_1 trial_2 (already graded), or --outcomes-b success" in error
    of_second = [x.replace("--outcomes", "--outcomes-b") for x in flags]
    output = output_of(capsys, "compare", tmp_path / "b.csv", file, *of_second)
    assert "a: 2 questions, 2 samples each, already graded in trial_1 to trial_2" in output


def test_numbered_columns_may_be_in_any_order():
    row = {f"run {i}": int(i == 10) for i in (1, 10, *range(2, 10))}  # sorted as texts
    assert at_k.read([{"id": 1, **row}])["predictions"] == [[0] * 9 + [1]]
    refused([{"id": 1, **row, "correct": 1}], "can be read in 2 ways")
    with pytest.warns(UserWarning, match="no names"):
        assert at_k.read(io.StringIO("2,1\n1,1"))["predictions"] == [[2, 1], [1, 1]]


@pytest.mark.parametrize("role", ["questions", "groups", "references", "where", "columns"])
def test_a_numbered_column_with_another_role_is_asked_about(role):
    rows = [{"id": i, "run_1": x, "run_2": 1} for i, x in enumerate("0110")]
    named: dict[str, Any] = {"where": {"run_1": "0"}, "columns": {"clusters": "run_1"}}
    options = {role: named.get(role, "run_1")}
    refused(rows, "run_1 is one of the columns with a sample each, and is named for", **options)
    refused(rows, "run_1 |leave out ref", outcomes=["run_1", "run_2"], **options)
    assert at_k.read(rows, outcomes=["run_1", "run_2"], pool="run_1").ids == [*"0123"]
