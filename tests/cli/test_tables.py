"""What the command prints about the input, and the tables below it."""

import json

import at_k
import numpy as np
import pytest
from at_k.cli.formats import Scope
from at_k.cli.score_tables import ScoresView
from run_command import FLAGS, output_of, question_rows, words_of, write_json_lines
from scored import compute, max_at_k

INPUT = "2 questions, 3 to 4 samples each in samples, checked against answer with exact_match"


@pytest.fixture
def file(tmp_path):
    return write_json_lines(tmp_path / "s.jsonl", question_rows("samples", "answer"))


def test_a_table_has_a_row_for_each_score_and_a_column_for_each_group(capsys, file, tmp_path):
    command = ("gpassk", file, *FLAGS)
    assert output_of(capsys, *command) == (
        f"{INPUT}.\n\n         score\n------  ------\npass@2  1.0000\npass^2  0.4167\n"
    )
    assert output_of(capsys, *command, "--groups", "answer") == (
        f"{INPUT}; groups from answer.\n\n"
        "        all questions       a       b\n"
        "------  -------------  ------  ------\n"
        "pass@2         1.0000  1.0000  1.0000\n"
        "pass^2         0.4167  0.3333  0.5000\n"
    )
    rows = [row | {"id": f"x/{i}"} for i, row in enumerate(question_rows("samples", "answer"))]
    named = write_json_lines(tmp_path / "ids.jsonl", rows)
    for path, name in ((file, "1"), (named, "x/1")):
        flags = (*FLAGS, "--return-per-question")
        lines = output_of(capsys, "gpassk", path, *flags).splitlines()
        assert lines[-1].split() == [name, "1.0000", "0.5000"]
        markdown = output_of(capsys, "gpassk", path, *flags, "--format", "markdown")
        *_, head, _, _, last = markdown.splitlines()
        assert head == "| question | pass@2 in % | pass^2 in % |"  # as the table of scores above it
        assert last == f"| {name} | 100.0 | 50.0 |"


def test_with_intervals_each_group_has_a_table(capsys, file):
    flags = (*FLAGS, "--confidence", 0.95, "--interval", "posterior")
    for rows, score, more in (
        ([[1, 0, 1], [1, 0, 1, 1]], "0.4167", ()),
        ([[1, 0, 1, 1]], "0.5000", ("--groups", "answer")),
    ):
        numbers = "  ".join(f"{x:.4f}" for x in at_k.pass_hat_k_ci(rows, 2))
        printed = output_of(capsys, "gpassk", file, *flags, *more)
        assert f"pass^2  {score}  {numbers}" in printed
    assert "\n\nb        score    mean      sd      lo      hi\n" in printed
    sampling = output_of(capsys, "gpassk", file, *FLAGS, "--confidence", 0.95)
    assert sampling.splitlines()[2].split() == ["score", "sd", "lo", "hi", "interval"]


@pytest.mark.parametrize("output_format", ["table", "csv", "markdown", "latex"])
@pytest.mark.parametrize(
    ("metric", "flags"),
    [
        ("gpassk", ("--k", 1, 2, "--include", "pass@k", "maj@k", "--confidence", 0.9, "--band")),
        ("gpassk", ("--k", 2, "--interval", "questions", "--confidence", 0.8)),
        ("cons_at_k", ("--k", 2, "--confidence", 0.95, "--groups", "topic")),
        ("bayes_at_n", ("--groups", "topic")),
    ],
)
def test_names_for_loggers_change_no_table_and_no_sentence(
    capsys, tmp_path, metric, flags, output_format
):
    """`--keys safe` is for the names in JSON: a sampling limit is no posterior by another name."""
    rows = question_rows("samples", "answer") * 3
    rows = [row | {"topic": f"t {i % 2}", "id": i} for i, row in enumerate(rows)]
    file = write_json_lines(tmp_path / "s.jsonl", rows)
    command = (metric, file, *flags, "--format", output_format)
    assert output_of(capsys, *command, "--keys", "safe") == output_of(capsys, *command)
    safe = json.loads(output_of(capsys, *command[:-1], "json", "--keys", "safe"))
    assert all(key.isidentifier() for key in safe)


SAME = "lo and hi are limits for the same questions, sampled again"
OTHER = "for other questions like these"


@pytest.mark.parametrize(
    ("metric", "flags", "sentence"),
    [
        ("gpassk", ["--k", 1], f"{SAME}."),
        ("gpassk", ["--k", 1, "--interval", "questions"], f"lo and hi are limits {OTHER}."),
        ("gpassk", ["--k", 1, "--interval", "posterior"], f"{SAME}."),
        ("gpassk", ["--k", 1, "--groups", "topic"], f"{SAME}; by `questions`, {OTHER}."),
        ("bayes_at_n", [], f"{SAME}."),
        ("score_agg", [], "lo and hi are limits for other items like these."),
    ],
)
def test_a_sentence_below_the_limits_says_what_they_are_for(
    capsys, tmp_path, metric, flags, sentence
):
    rows: list[dict] = [
        {"outcomes": [0, 1, 1], "topic": "a"},
        {"outcomes": [1], "topic": "b"},
        {"outcomes": [0], "topic": "b"},
    ]
    file = write_json_lines(tmp_path / "r.jsonl", rows)
    printed = output_of(capsys, metric, file, "--confidence", 0.9, *flags)
    blocks = [" ".join(block.split()) for block in printed.split("\n\n")]
    assert any(block.startswith(sentence) for block in blocks)


def test_without_limits_there_is_no_sentence_about_them(capsys, tmp_path):
    file = write_json_lines(tmp_path / "r.jsonl", [{"outcomes": [0, 1, 1]}, {"outcomes": [1, 0]}])
    printed = output_of(capsys, "gpassk", file, "--k", 1)
    assert "limits" not in printed
    assert not printed.startswith("On ")


SAMPLED_AGAIN = f"for {SAME.partition(' for ')[2]}"


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (
            "gpassk --k 2 --include pass@k --interval questions",
            f"pass@2 is 100.0 % (90 % confidence interval 8.7 to 100.0, {OTHER}).",
        ),
        (
            "gpassk --k 1 8 --include pass@k",
            f"pass@1 is 70.8 % (90 % confidence interval 40.3 to 89.8, {SAMPLED_AGAIN}) and "
            "pass@8 is 100.0 % (59.9 to 100.0, extrapolated for all questions).",
        ),
        (
            "max_at_k --k 2 --w 0 5",
            f"max@2 is 5.000 (90 % confidence interval 2.994 to 5.000, {SAMPLED_AGAIN}).",
        ),
        (
            "gpassk --k 2 --include pass@k --interval posterior",
            "the posterior mean of pass@2 is 82.9 % (90 % credible interval 64.3 to 100.0, "
            f"{SAMPLED_AGAIN}).",
        ),
        (
            "score_agg --temperature 0.7 --check-correct-fn exact_match",
            "score_agg at temperature 0.7 is 83.5 % (90 % confidence interval 9.7 to 99.6, for "
            "other items like these).",
        ),
        ("gpassk --k 1 2", None),
        ("score_agg --where answer=a --check-correct-fn exact_match", None),
    ],
)
def test_a_sentence_has_up_to_six_scores_with_their_limits(capsys, file, flags, sentence):
    metric, *others = flags.split()
    printed = output_of(capsys, metric, file, "--confidence", 0.9, *others)
    shown = " ".join(printed.split("\n\n")[-1].split())
    row, noun = ("item", "verdict") if metric == "score_agg" else ("question", "sample")
    start = f"On 2 {row}s with 3 to 4 {noun}s each, checked with exact_match, "
    assert shown == start + sentence if sentence else not shown.startswith("On ")


def test_the_sentence_has_the_score_that_the_limits_are_of(capsys, tmp_path):
    file = write_json_lines(tmp_path / "r.jsonl", [{"outcomes": [0] * 8}] * 20)
    for flags, key in ((["--interval", "questions"], "avg@8 is 0.000"), ([], "bayes@8 is 0.100")):
        printed = words_of(capsys, "bayes_at_n", file, *flags)
        assert f"8 samples each, {key} (95 % " in printed


def test_the_center_is_the_score_to_the_last_digit_unless_it_is_that_of_a_posterior():
    rows = [[1, 0, 1], [1, 1, 0], [0, 0, 1], [1, 0, 0], [1, 1, 1], [0, 1, 0], [0, 0, 0]]
    for metric in ("gpassk", "cons_at_k", "max_at_k"):
        scores = compute(metric, rows, k=2, confidence=0.95)
        centers = [key for key in scores if key.endswith("_mu")]
        assert centers
        assert all(scores[key] == scores[key.removesuffix("_mu")] for key in centers)
    tiny: dict = {"w": [0.0, 1e-13], "k": 1, "confidence": 0.95, "interval": "posterior"}
    scores = max_at_k([[0, 1, 1, 1]], **tiny)
    assert scores["max@1"] == pytest.approx(0.75e-13, rel=1e-12)
    assert scores["max@1_mu"] == pytest.approx(4 / 6 * 1e-13, rel=1e-12)  # (3 + 1) / (4 + 2)


def test_the_reason_why_a_score_has_no_interval_is_below_the_table(capsys, file):
    printed = output_of(capsys, "cons_at_k", file, "--confidence", 0.9, "--alpha0", 2)
    table, notes = printed.split("\n\n")[1:]
    row = next(line for line in table.splitlines() if line.startswith("vote@n"))
    assert row.split() == ["vote@n", "1.0000", "none"]
    assert "No interval: vote@n has no posterior." in notes.splitlines()


def test_where_maj_at_k_is_shown_the_output_says_what_other_papers_call_so(capsys, file):
    vote = "The majority vote of most papers (maj@k, cons@64) is vote@k"
    below_n = "cons@1: more than k/2 of all n samples are correct, so it rises with n."
    printed = words_of(capsys, "cons_at_k", file)
    assert f"{vote}, in this table." in printed
    assert below_n not in printed
    assert below_n in words_of(capsys, "cons_at_k", file, "--k", 1)
    command = ("gpassk", file, "--k", 1)
    assert f"{vote} of cons_at_k." in words_of(capsys, *command, "--include", "maj@k")
    assert "most papers" not in output_of(capsys, *command)


SCOPE = Scope([np.array([1])], None)


def test_a_key_with_the_suffix_of_a_limit_can_be_a_score():
    assert ScoresView({"odd_lo": 1.0}, SCOPE).tables() == [[["", "score"], ["odd_lo", "1.0000"]]]


def test_long_and_empty_labels_of_groups_have_short_headings():
    scores = {"x": 1.0, "a very\nlong label of many words/x": 1.0, "/x": 0.5}
    (table,) = ScoresView(scores, SCOPE).tables()
    assert table[0][-2:] == ["a very long.. many words", "(no label)"]
