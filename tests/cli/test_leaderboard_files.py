"""`at-k compare` with three files or more: the leaderboard, its tables, sentences and errors."""

import csv
import io
import re

import at_k
import numpy as np
import pytest
from at_k.cli.command import main
from run_command import output_of, scores_of, words_of, write_runs

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


def test_json_is_the_dict_of_the_function(capsys, files):
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
    main(["compare", *map(str, files), "--k", "4", "--p-values", "--format", "csv"])
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    scores = [float(row["score"]) for row in rows if row["run"]]
    assert scores == [row["score"] for row in board["runs"]]
    pairs = [(row["a"], row["b"]) for row in rows if row["p_adjusted"]]
    assert pairs == [(pair["a"], pair["b"]) for pair in board["pairs"]]


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
