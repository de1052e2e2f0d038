"""Comparing files: matched questions, tables, leaderboards, sentences, JSON and errors."""

import csv
import io
import json
import re

import at_k
import numpy as np
import pytest
from conftest import ROOT
from run_command import error_of, output_of, scores_of, words_of, write_json_lines, write_runs

SHIPPED = [ROOT / f"shared/at_k/samples/smollm2_{name}.jsonl" for name in ("cool", "warm")]
NUMERIC = ("--check-correct-fn", "numeric")
OUTCOMES_A = [[0, 0, 1, 0], [1, 0, 1, 1], [0, 1, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0], [1, 1, 0, 0]]
OUTCOMES_B = [[0, 1, 1, 0], [1, 1, 1, 1], [0, 1, 0, 1], [1, 1, 1, 0], [0, 0, 1, 0], [1, 0, 0, 1]]


def write_two_runs(folder, **columns) -> list:
    return write_runs(folder, {"a": OUTCOMES_A, "b": OUTCOMES_B}, **columns or {"id": str})


def test_the_output_says_at_which_k_each_file_is_higher(capsys):
    command = ("compare", *SHIPPED, *NUMERIC, "--interval", "sampling")
    printed = output_of(capsys, *command)
    head, table, summary, sentence = printed.strip().split("\n\n")
    assert head.splitlines() == [
        f"smollm2_{name}: 94 questions, 32 samples each in predictions, checked against reference "
        f"with numeric ({unanswered} without an answer, incorrect); questions from id."
        for name, unanswered in (("cool", 361), ("warm", 685))
    ]
    lines = table.splitlines()
    assert lines[0].split("  ")[-1] == "band hi"
    assert len(lines) == 2 + 32
    assert lines[9].split()[:4] == ["pass@8", "0.6077", "0.6556", "+0.0479"]
    higher = (
        "excludes 0 from pass@1 to pass@4, where smollm2_cool is higher, and from pass@8 to "
        "pass@32, where smollm2_warm is higher."
    )
    assert summary.startswith("diff: smollm2_warm minus smollm2_cool. lo and hi: ")
    assert " ".join(summary.split()).endswith(f"The band {higher}")
    assert " ".join(sentence.split()) == (
        "On 94 questions with 32 samples each, checked with numeric, pass@1 is 41.9 % for "
        "smollm2_cool and 23.8 % for smollm2_warm, a difference of 18.1 percentage points (95 % "
        "confidence interval 16.4 to 19.7, for the same questions, sampled again). "
        f"The simultaneous 95 % confidence band over all 32 values of k {higher}"
    )
    contains = "The interval contains 0, so the data do not show which run has the higher pass@6."
    assert contains in words_of(capsys, *command, "--k", 6)
    excludes = "The interval excludes 0: smollm2_warm has the higher pass@16."
    assert excludes in words_of(capsys, *command, "--k", 16)


def test_json_is_the_dict_of_the_function(capsys, tmp_path):
    files = write_two_runs(tmp_path)
    flags = "--include G-Pass@k --tau 0.75 --k 2 4 --interval questions --confidence 0.9"
    scores = scores_of(capsys, "compare", *files, *flags.split())
    expected = at_k.compare(OUTCOMES_A, OUTCOMES_B, "G-Pass@k", [2, 4], "questions", 0.9, tau=0.75)
    assert scores == expected
    assert list(scores) == list(expected)
    printed = output_of(capsys, "compare", *files, *flags.split(), "--format", "csv")
    rows = csv.DictReader(io.StringIO(printed))
    numbers = [(row["group"], row["key"], float(row["difference"])) for row in rows]
    assert numbers == [("", key, expected[key]) for key in ("G-Pass@2_0.75", "G-Pass@4_0.75")]


@pytest.mark.parametrize("column", ["id", "question_id", "Prompt"])
def test_questions_are_matched_by_a_column_that_identifies_them(capsys, tmp_path, column):
    a, b = write_two_runs(tmp_path, **{column: lambda i: f"q{i}"})
    rows = [json.loads(line) for line in b.read_text().splitlines()][::-1]
    expected = at_k.compare(OUTCOMES_A, OUTCOMES_B)
    samples = [{column: row[column], "outcome": x} for row in rows for x in row["outcomes"]]
    for reordered in (rows, samples):
        assert scores_of(capsys, "compare", a, write_json_lines(b, reordered)) == expected
    write_json_lines(b, rows[:-1])
    error = error_of(capsys, "compare", a, b)
    assert f"b lacks 1 of the questions of a, such as {column} 'q0'" in error


def test_a_column_of_clusters_is_read_if_the_interval_uses_them(capsys, tmp_path):
    files = write_two_runs(tmp_path, id=str, cluster=lambda i: f"c{i // 2}")
    labels = [f"c{i // 2}" for i in range(len(OUTCOMES_A))]
    expected = at_k.compare(OUTCOMES_A, OUTCOMES_B, clusters=labels)
    assert scores_of(capsys, "compare", *files) == expected
    assert "questions in 3 clusters with" in output_of(capsys, "compare", *files)
    again = ("--interval", "sampling")
    expected = at_k.compare(OUTCOMES_A, OUTCOMES_B, interval="sampling")
    assert scores_of(capsys, "compare", *files, *again) == expected
    error = error_of(capsys, "compare", *files, *again, "--clusters", "cluster")
    assert "--interval questions" in error
    assert "interval='" not in error


def test_groups_of_questions_are_compared_for_themselves(capsys, tmp_path):
    a, b = write_two_runs(tmp_path, id=lambda i: f"q{i}", topic=lambda i: "xy"[i % 2])
    write_json_lines(b, [json.loads(line) for line in b.read_text().splitlines()][::-1])
    command = ("compare", a, b, "--groups", "topic")
    expected = scores_of(capsys, *command[:3])
    for i, label in enumerate("xy"):
        own = at_k.compare(OUTCOMES_A[i::2], OUTCOMES_B[i::2])
        expected |= {f"{label}/{key}": value for key, value in own.items()}
    assert scores_of(capsys, *command) == expected
    printed = output_of(capsys, *command, "--k", 1, 2)
    headings = [block.split("  ")[0] for block in printed.split("\n\n")[1:-2]]
    assert headings == ["all questions", "x", "y"]
    printed = output_of(capsys, *command, "--k", 1, "--format", "markdown")
    rows = [line.split(" | ")[0] for line in printed.splitlines() if line.startswith("|")][2:]
    assert rows == ["| pass@1, all questions", "| pass@1, x", "| pass@1, y"]
    assert "The interval (all questions) " in printed


def test_two_runs_in_one_file_are_compared_by_their_rows(capsys, tmp_path):
    rows = [
        {"id": i, "model": model, "passed": int(i < last)}
        for model, last in (("x", 2), ("y", 3))
        for i in range(4)
        for _ in range(2)
    ]
    file = write_json_lines(tmp_path / "models.jsonl", rows)
    command = ("compare", file, file, "--where", "model=x", "--where-b", "model=y", "--k", 1)
    compared = scores_of(capsys, *command)
    assert (compared["pass@1_a"], compared["pass@1_b"]) == (0.5, 0.75)
    assert "diff: model=y minus model=x." in output_of(capsys, *command)
    parts = (file, "--baseline", file, "--where", "model=y", "--where-b", "model=x", "--margin", 1)
    verdict = scores_of(capsys, "gate", *parts, "--k", 1)
    assert (verdict["score"], verdict["baseline"]) == (0.75, 0.5)


def test_files_of_the_same_name_are_named_by_their_folders_or_numbers(capsys, tmp_path):
    described = "6 questions, 4 samples each, already graded in outcomes; questions from id."
    for folder, names in (("", "xy"), ("/z", ("run 1", "run 2"))):
        for name in "xy":
            (tmp_path / f"{name}{folder}").mkdir()
        runs = {f"x{folder}/run": OUTCOMES_A, f"y{folder}/run": OUTCOMES_B}
        files = write_runs(tmp_path, runs)
        lines = output_of(capsys, "compare", *files, "--k", 1).splitlines()
        assert lines[:2] == [
            f"{name}: {file}: {described}" for name, file in zip(names, files, strict=True)
        ]
        assert lines[3].split()[: 2 * len(names[0].split())] == " ".join(names).split()
        assert "band" not in "".join(lines)


def test_parameters_are_validated_before_any_sample_is_checked(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "never.py").write_text("def check(p, r):\n    raise RuntimeError('checked')")
    rows = [{"id": f"q{i}", "samples": ["a", "b"], "answer": "a"} for i in range(3)]
    files = [write_json_lines(tmp_path / f"{x}.jsonl", rows) for x in "ab"]
    checker = ("--check-correct-fn", "never:check")
    for flags in (("--k", "3"), ("--confidence", "2"), ("--interval", "posterior")):
        assert "checked" not in error_of(capsys, "compare", *files, *checker, *flags)


def test_common_questions_are_compared_if_that_is_said(capsys, tmp_path):
    rows = [{"id": f"q{i}", "outcomes": row} for i, row in enumerate(OUTCOMES_A)]
    others = [{"id": f"q{i}", "outcomes": row} for i, row in enumerate(OUTCOMES_B, 2)][::-1]
    a, b = (write_json_lines(tmp_path / f"{x}.jsonl", y) for x, y in (("a", rows), ("b", others)))
    assert "--common to compare the 4 that both have" in error_of(capsys, "compare", a, b)
    expected = at_k.compare(OUTCOMES_A[2:], OUTCOMES_B[:4], k=2)
    command = ("compare", a, b, "--k", 2, "--common")
    assert scores_of(capsys, *command) == expected
    runs = at_k.read(a), at_k.read(b)
    assert at_k.compare(*runs, k=2, common=True) == expected
    board = at_k.leaderboard(dict(zip("ab", runs, strict=True)), k=2, common=True)
    assert board["pairs"][0]["difference"] == pytest.approx(abs(expected["pass@2"]))
    printed = words_of(capsys, *command)
    assert "a: 4 questions, 4 samples each (without 2 questions that others lack)" in printed
    assert "On 4 questions with 4 samples each (a: without 2 questions that others" in printed
    gate = scores_of(capsys, "gate", b, "--baseline", a, "--k", 2, "--common", "--margin", 1)
    assert gate["score"] - gate["baseline"] == pytest.approx(expected["pass@2"])
    none = write_json_lines(tmp_path / "c.jsonl", [{"id": "x", "outcomes": [1, 0]}])
    error = error_of(capsys, "compare", a, none, "--common")
    assert "The runs have no question in common, by id" in error
    with pytest.raises(ValueError, match="R_a has no ids"):
        at_k.compare(OUTCOMES_A, OUTCOMES_B, k=1, common=True)


def test_questions_without_ids_are_paired_by_order_if_that_is_said(capsys, tmp_path):
    a = write_json_lines(tmp_path / "a.jsonl", [{"correct": [1, 0]}, {"correct": [1, 1]}])
    b = write_json_lines(tmp_path / "b.jsonl", [{"id": i, "correct": [1, 0]} for i in (1, 2)])
    expected = at_k.compare([[1, 0], [1, 1]], [[1, 0], [1, 0]], k=1)
    for files in ((a, b), (b, a)):
        error = error_of(capsys, "compare", *files, "--k", 1)
        assert "a has no ids, so its questions cannot be" in error
        assert error.count("--by-order") == 1
    assert scores_of(capsys, "compare", a, b, "--k", 1, "--by-order") == expected
    with pytest.raises(ValueError, match="R_a has no ids"):
        at_k.compare(at_k.read(a), at_k.read(b), k=1)
    assert at_k.compare(at_k.read(a), at_k.read(b), k=1, by_order=True) == expected


def test_an_error_about_the_second_file_names_it_and_its_flags(capsys, tmp_path):
    a = write_json_lines(tmp_path / "a.jsonl", [{"qid": x, "ok": y} for x in "xy" for y in (0, 1)])
    b = write_json_lines(tmp_path / "b.jsonl", [{"item": x, "right": 1} for x in "xy"])
    command = ["compare", a, b, "--questions", "qid", "--outcomes", "ok", "--k", 1]
    message = error_of(capsys, *command)
    assert message.startswith(f"at-k: {b}: There is no column 'ok'.")
    assert message.strip().endswith("Give --outcomes-b COLUMN (already graded).")
    message = error_of(capsys, *command, "--outcomes-b", "right")
    assert message.strip().endswith("Give --questions-b COLUMN (what identifies a question).")
    flags = ("--outcomes-b", "right", "--questions-b", "item")
    assert scores_of(capsys, *command, *flags)["pass@1"] == 0.5


def test_a_run_to_be_checked_is_compared_with_one_that_is_graded(capsys, tmp_path):
    rows = [{"id": x, "answer": [x, "y"], "gold": x} for x in "xy"]
    a = write_json_lines(tmp_path / "a.jsonl", rows)
    b = write_json_lines(tmp_path / "b.jsonl", [{"id": x, "ok": [1, 0]} for x in "xy"])
    command = ("compare", a, b, "--k", 1, "--predictions", "answer", "--references", "gold")
    graded = "--predictions-b '' --references-b '' --outcomes-b COLUMN."
    assert f"If it is graded: {graded}" in error_of(capsys, *command)
    flags = ("--predictions-b", "", "--references-b", "", "--outcomes-b", "ok")
    expected = at_k.compare([[1, 0], [1, 1]], [[1, 0], [1, 0]], k=1)
    assert scores_of(capsys, *command, *flags) == expected


def test_counts_are_compared_with_samples(capsys, tmp_path):
    a = write_json_lines(tmp_path / "a.jsonl", [{"id": x, "correct": [x > "x", 1]} for x in "xy"])
    counts = tmp_path / "b.csv"
    counts.write_text("problem,samples,solved\nx,4,1\ny,4,3\n")
    command = ("compare", a, counts, "--k", 1)
    flags = "--n-b samples --correct-b solved"
    assert flags in error_of(capsys, *command)
    expected = at_k.compare([[0, 1], [1, 1]], at_k.Counts([4, 4], [1, 3]), k=1)
    assert scores_of(capsys, *command, *flags.split()) == expected
    turned = ("compare", counts, a, "--n", "samples", "--correct", "solved")
    assert scores_of(capsys, *turned, "--n-b", "", "--correct-b", "", "--k", 1)["pass@1_a"] == 0.5


# --- Leaderboards -----------------------------------------------------------------------

NAMES = ["small", "medium", "large"]


def outcomes() -> dict[str, list[list[int]]]:
    rng = np.random.default_rng(0)
    p = rng.random((30, 1))
    return {
        name: (rng.random((30, 8)) < p ** (1.5 - i / 2)).astype(int).tolist()
        for i, name in enumerate(NAMES)
    }


@pytest.fixture
def files(tmp_path):
    return write_runs(tmp_path, outcomes(), id=lambda i: f"q{i}", topic=lambda i: "xy"[i % 2])


def test_json_is_the_leaderboard_of_the_function(capsys, files):
    flags = "--include pass^k --k 1 2 --interval questions --confidence 0.9 --p-values"
    board = scores_of(capsys, "compare", *files, *flags.split())
    assert board == at_k.leaderboard(outcomes(), "pass^k", [1, 2], "questions", 0.9, p_values=True)
    assert scores_of(capsys, "compare", *files) == at_k.leaderboard(outcomes())


def test_groups_have_leaderboards_of_their_own(capsys, files):
    board = scores_of(capsys, "compare", *files, "--groups", "topic", "--k", 4)
    halves = {name: rows[1::2] for name, rows in outcomes().items()}
    assert board["groups"]["y"] == at_k.leaderboard(halves, k=4)
    printed = output_of(capsys, "compare", *files, "--groups", "topic", "--k", 4)
    assert [line.split()[0] for line in printed.splitlines() if line.endswith("letters")] == [
        "all",
        "x",
        "y",
    ]


def test_the_tables_are_explained(capsys, files):
    printed = output_of(capsys, "compare", *files, "--k", 4, "--p-values")
    _, runs, pairs, notes, sentence = printed.strip().split("\n\n")
    head = " ".join(runs.splitlines()[0].split())
    assert head == "pass@4 lo hi rank rank interval letters"
    assert [line.split()[0] for line in runs.splitlines()[2:]] == NAMES[::-1]
    assert pairs.splitlines()[0].split()[-3:] == ["p", "adjusted", "p"]
    assert len(pairs.splitlines()) == 2 + 3
    assert max(map(len, runs.splitlines())) <= 80
    assert "runs that share a letter cannot be told apart" in " ".join(notes.split())
    assert " ".join(sentence.split()).startswith(
        "Of 3 runs on 30 questions with 8 samples each, large has the highest pass@4, "
    )


def test_the_sentence_names_all_runs_with_the_highest_score(capsys, tmp_path):
    rows = {"one": [1, 0, 1, 0, 1], "two": [0, 1, 1, 1, 0], "low": [0, 0, 0, 0, 1]}
    files = write_runs(tmp_path, {name: [[x] for x in row] for name, row in rows.items()})
    printed = words_of(capsys, "compare", *files, "--interval", "questions")
    assert (
        "with 1 sample each, one and two have the highest pass@1, 60.0 % (for one, 95 %" in printed
    )


def test_papers_get_scores_with_limits_ranks_and_letters(capsys, files):
    board = scores_of(capsys, "compare", *files, "--k", 4)
    first = board["runs"][0]
    lo, hi = (f"{100 * first[limit]:.1f}" for limit in ("lo", "hi"))
    cell = f"{100 * first['score']:.1f} ({lo}, {hi})"
    rank = f"1 ({first['rank_lo']}, {first['rank_hi']})"
    markdown = output_of(capsys, "compare", *files, "--k", 4, "--format", "markdown")
    assert "| Run | pass@4 in % (95 % CI, other questions) | Letters | Rank (95 % CI) |" in markdown
    assert f"| large | {cell} | {first['letters']} | {rank} |" in markdown
    latex = output_of(capsys, "compare", *files, "--k", 1, 4, "--format", "latex")
    assert (
        r"Run & pass@4 in \% (95\,\% CI, other questions) & Letters & Rank (95\,\% CI) \\"
    ) in latex
    assert f"& {cell} & " in latex
    assert latex.count(r"\midrule") == 2
    assert r"\begin{tabular}{lrlr}" in latex
    for flags in ((), ("--p-values",)):
        printed = output_of(capsys, "compare", *files, "--k", 4, *flags, "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(printed)))
        scores = [float(row["score"]) for row in rows if row["run"]]
        assert scores == [row["score"] for row in board["runs"]]
        pairs = [(row["a"], row["b"], float(row["band_lo"])) for row in rows if row["a"]]
        assert pairs == [(pair["a"], pair["b"], pair["band_lo"]) for pair in board["pairs"]]
    assert [bool(row["p_adjusted"]) for row in rows] == [not row["run"] for row in rows]


def test_a_paper_has_one_table_of_runs_and_groups(capsys, files):
    flags = ("--groups", "topic", "--k", 4)
    board = scores_of(capsys, "compare", *files, *flags)
    printed = output_of(capsys, "compare", *files, *flags, "--format", "markdown")
    head, _, *rows = [line for line in printed.splitlines() if line.startswith("|")]
    assert head == "| pass@4 in % | all questions | x | y |"
    assert [row.split(" | ")[0] for row in rows] == [f"| {name}" for name in NAMES[::-1]]
    for name, row in zip(NAMES[::-1], rows, strict=True):
        (in_y,) = (x for x in board["groups"]["y"]["runs"] if x["run"] == name)
        score, lo, hi = (f"{100 * in_y[x]:.1f}" for x in ("score", "lo", "hi"))
        assert row.endswith(f" | {score} ({lo}, {hi}) {in_y['letters']} |")
    printed = output_of(capsys, "compare", *files, *flags, "--p-values", "--format", "latex")
    caption = " ".join(printed.split())
    assert "In parentheses: 95\\,\\% confidence interval of each score" in caption
    assert "share a letter within a group" in caption
    assert "p-value" not in caption
    assert printed.count("tabular") == 2


def test_names_are_given_or_those_of_the_files(capsys, files, tmp_path):
    board = scores_of(capsys, "compare", *files, "--names", "a", "b", "c")
    assert {row["run"] for row in board["runs"]} == {"a", "b", "c"}
    for name in NAMES:
        (tmp_path / name).mkdir()
    folders = write_runs(tmp_path, {f"{name}/samples": x for name, x in outcomes().items()})
    board = scores_of(capsys, "compare", *folders)
    assert {row["run"] for row in board["runs"]} == set(NAMES)


def test_rewards_have_their_own_unit(capsys, tmp_path):
    rng = np.random.default_rng(0)
    rewards = {name: rng.normal(i, 1, (20, 4)).tolist() for i, name in enumerate(NAMES)}
    files = write_runs(tmp_path, rewards)
    markdown = output_of(
        capsys, "compare", *files, "--include", "max@k", "--k", 2, "--format", "markdown"
    )
    board = scores_of(capsys, "compare", *files, "--include", "max@k", "--k", 2)
    assert f"| large | {board['runs'][0]['score']:.3f} (" in markdown
    assert "percentage" not in markdown
    two = output_of(capsys, "compare", *files[:2], "--include", "avg@N")
    assert re.search(r"avg@4 is [\d.]+ % for medium and ", " ".join(two.split()))
