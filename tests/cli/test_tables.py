"""What the command prints about the input, and the tables below it."""

import json

import at_k
from at_k.cli.tables import aligned, score_table
from run_command import FLAGS, output_of, question_rows, write_json_lines

INPUT = "2 questions, 3 to 4 samples each, checked against answer with exact_match"


def test_a_table_has_a_row_for_each_score_and_a_column_for_each_group(capsys, tmp_path):
    file = write_json_lines(tmp_path / "s.jsonl", question_rows("samples", "answer"))
    assert output_of(capsys, "gpassk", file, *FLAGS) == (
        f"{INPUT}.\n\n         score\n------  ------\npass@2  1.0000\npass^2  0.4167\n"
    )
    assert output_of(capsys, "gpassk", file, *FLAGS, "--groups", "answer") == (
        f"{INPUT}; groups from answer.\n\n"
        "        all questions       a       b\n"
        "------  -------------  ------  ------\n"
        "pass@2         1.0000  1.0000  1.0000\n"
        "pass^2         0.4167  0.3333  0.5000\n"
    )
    per_question = output_of(capsys, "gpassk", file, *FLAGS, "--return-per-question")
    assert per_question.splitlines()[-1].split() == ["1", "1.0000", "0.5000"]


def test_with_intervals_each_group_has_a_table(capsys, tmp_path):
    file = write_json_lines(tmp_path / "s.jsonl", question_rows("samples", "answer"))
    flags = (*FLAGS, "--confidence", 0.95)
    numbers = at_k.pass_hat_k_ci([[1, 0, 1], [1, 0, 1, 1]], 2)
    row = "  ".join(["pass^2  0.4167", *(f"{x:.4f}" for x in numbers)])
    assert row in output_of(capsys, "gpassk", file, *flags)
    numbers = at_k.pass_hat_k_ci([[1, 0, 1, 1]], 2)
    row = "  ".join(["pass^2  0.5000", *(f"{x:.4f}" for x in numbers)])
    grouped = output_of(capsys, "gpassk", file, *flags, "--groups", "answer")
    assert "\n\nb        score    mean      sd      lo      hi\n" in grouped
    assert row in grouped


def test_a_column_without_values_is_omitted(capsys, tmp_path):
    file = write_json_lines(tmp_path / "r.jsonl", [{"outcomes": [0, 1, 1]}, {"outcomes": [1, 0]}])
    head = output_of(capsys, "bayes_at_n", file).splitlines()[2]
    assert head.split() == ["score", "sd", "lo", "hi"]


def test_columns_are_as_wide_as_their_widest_cell():
    assert aligned([["", "long head"], ["long row", "1"]]) == (
        "          long head\n--------  ---------\nlong row          1"
    )


def test_a_key_with_the_suffix_of_a_limit_can_be_a_score():
    assert "1.0000" in score_table({"odd_lo": 1.0})


def test_long_and_empty_labels_of_groups_have_short_headings():
    table = score_table({"x": 1.0, "a very\nlong label of many words/x": 1.0, "/x": 0.5})
    assert table.splitlines()[0].split("  ")[-2:] == ["a very long label of m..", "(no label)"]


def test_missing_samples_are_counted(capsys, tmp_path):
    file = tmp_path / "run.jsonl"
    file.write_text(json.dumps({"outcomes": [0, None, 1]}))
    printed = output_of(capsys, "cons_at_k", file)
    assert printed.startswith("1 question, 3 samples each (1 of them missing), already graded.")
