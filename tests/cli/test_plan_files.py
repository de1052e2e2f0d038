"""The command `at-k plan`: pilot runs from files, assumed rates, tables and sentences."""

import re
from typing import Any

import at_k
from conftest import ROOT
from run_command import output_of, scores_of, words_of, write_json_lines

SHIPPED = ROOT / "shared/at_k/samples/smollm2_warm.jsonl"
NUMERIC = ("--check-correct-fn", "numeric")
GRID = ("--number-of-questions", "100", "400", "--number-of-samples", "8")
RATES = ("--rates", "0.1", "0.5", "0.9")


def test_json_is_the_dict_of_plan(capsys):
    run = at_k.read(str(SHIPPED))
    design: dict[str, Any] = {"k": 4, "questions": [100, 400], "samples": 8, "half_width": 0.03}
    expected = at_k.plan(run, check_correct_fn="numeric", **design)
    flags = (*GRID, "--k", 4, "--half-width", 0.03)
    assert scores_of(capsys, "plan", SHIPPED, *NUMERIC, *flags) == expected


def test_the_table_is_followed_by_what_its_columns_are_the_cheapest_design_and_assumptions(capsys):
    printed = output_of(capsys, "plan", *RATES, *GRID, "--k", 4, "--half-width", 0.08)
    table, notes = printed.strip().split("\n\n")
    head, _, *rows = table.splitlines()
    columns = "questions, samples, cost, +- sampling, +- questions, diff. sampling, diff. questions"
    assert re.split(r" {2,}", head) == columns.split(", ")
    assert [row.split()[:3] for row in rows[:2]] == [["100", "8", "800"], ["400", "8", "3200"]]
    notes = " ".join(notes.split())
    best = scores_of(capsys, "plan", *RATES, *GRID, "--k", 4, "--half-width", 0.08)["cheapest"]
    assert (
        f"The cheapest design, in the last row, has {best['questions']} questions with 8 samples "
        f"each, and costs {best['cost']:g}. It has a half-width of at most 0.08, for other "
        f"questions like these."
    ) in notes
    assert "success rates of questions are assumed" in notes
    assert "over questions, 0.50, is assumed." in notes


def test_what_no_design_reaches_is_said(capsys):
    printed = output_of(capsys, "plan", *RATES, *GRID, "--difference", 0.001)
    assert (
        "No design with these numbers finds a difference of 0.001 with a probability of 80 %, for "
        "other questions like these: allow more questions (--number-of-questions) or samples "
        "(--number-of-samples)."
    ) in " ".join(printed.split())


def test_an_extrapolated_score_is_said(capsys, tmp_path):
    rows = [{"outcomes": row} for row in ([0, 1], [1, 1], [0, 0])]
    file = write_json_lines(tmp_path / "pilot.jsonl", rows)
    printed = words_of(capsys, "plan", file, "--k", 4)
    assert (
        "3 questions with 2 samples each, and scores with more samples are extrapolated" in printed
    )


def test_csv_has_the_rows_of_the_grid_and_the_cheapest_design(capsys):
    printed = output_of(capsys, "plan", *RATES, *GRID, "--half-width", 0.08, "--format", "csv")
    head, *rows = printed.strip().splitlines()
    assert head.startswith("design,key,questions,samples,cost,half_width_sampling")
    assert [row.split(",")[0] for row in rows] == ["grid", "grid", "cheapest"]


def test_the_cheapest_design_has_the_range_that_the_pilot_run_leaves(capsys, tmp_path):
    file = tmp_path / "pilot.csv"
    rows = [
        f"q{i},{int(i % 3 > j % 2)},{'ab'[i > 8]},{1 + i % 3}" for i in range(12) for j in (0, 1)
    ]
    file.write_text("\n".join(["id,correct,topic,weight", *rows]))
    best = scores_of(capsys, "plan", file, "--half-width", 0.1)["cheapest"]
    text = words_of(capsys, "plan", file, "--half-width", 0.1)
    limits = f"({best['questions_lo']} to {best['questions_hi']}, as far as the pilot run tells)"
    assert f"has {best['questions']} questions {limits} with" in text
    for flags in (["--average", "groups", "--groups", "topic"], ["--question-weights", "weight"]):
        text = words_of(capsys, "plan", file, *flags)
        assert "averaged as in the pilot run, which increases variances by a factor of 1." in text
