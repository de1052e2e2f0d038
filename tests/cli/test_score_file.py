"""Scoring a file: every metric and parameter is served, and the scores are those of `compute`."""

from typing import Any

import at_k
import datasets
import pytest
from conftest import ROOT
from run_command import (
    FLAGS,
    error_of,
    output_of,
    pass_at_k,
    question_rows,
    scores_of,
    words_of,
    write_json_lines,
)

ROWS = [{"outcomes": [0, 1, 1, 1], "R0": [0, 0]}, {"outcomes": [1, 1, 0, 1], "R0": [0, 1]}]


def test_json_is_the_dict_of_the_metric(capsys):
    file = ROOT / "shared/at_k/samples/smollm2_warm.jsonl"
    table = datasets.Dataset.from_json(str(file))
    expected = at_k.load("gpassk").compute(
        predictions=table["predictions"],
        references=table["reference"],
        groups=table["topic"],
        check_correct_fn="numeric",
        k=[3, 8],
        thresholds=[0.5, 1.0],
        confidence=0.9,
        beta0=2.0,
        return_per_question=True,
    )
    flags = (
        "--groups topic --check-correct-fn numeric --k 3 8 --thresholds 0.5 1 --confidence 0.9 "
        "--beta0 2 --return-per-question"
    )
    scores = scores_of(capsys, "gpassk", file, *flags.split())
    assert scores == expected
    assert list(scores) == list(expected)


def test_a_checker_is_named_by_module_and_function(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "import functools\ndef check(p, r): return p != r\nagain = functools.partial(check)"
    )
    file = write_json_lines(tmp_path / "s.jsonl", question_rows("samples", "answer"))
    scores = scores_of(capsys, "gpassk", file, *FLAGS, "--check-correct-fn", "mine:check")
    assert scores["pass^2"] == 0.0
    again = output_of(capsys, "gpassk", file, *FLAGS, "--check-correct-fn", "mine:again")
    assert "checked against answer with partial" in again


def test_what_a_checker_prints_is_not_mixed_with_the_scores(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chatty.py").write_text("def check(p, r):\n    print('hm')\n    return p == r")
    file = write_json_lines(tmp_path / "s.jsonl", question_rows("samples", "answer"))
    assert pass_at_k(capsys, file, "--check-correct-fn", "chatty:check", k=2) == {"pass@2": 1.0}


def test_weights_of_labels_are_given_as_json(capsys, tmp_path):
    rows = [{"outcomes": ["good", "fair"]}, {"outcomes": ["bad", "good"]}]
    file = write_json_lines(tmp_path / "verdicts.jsonl", rows)
    weights = '{"good": 1, "fair": 0.5, "bad": 0}'
    assert scores_of(capsys, "score_agg", file, "--weights", weights) == {"score_agg": 0.6}


@pytest.mark.parametrize("ks", [("1", "4"), ("1", "--k", "4")])
def test_several_values_are_separated_by_spaces_or_flags(capsys, tmp_path, ks):
    file = write_json_lines(tmp_path / "run.jsonl", ROWS)
    scores = scores_of(capsys, "gpassk", file, "--include", "pass@k", "pass^k", "--k", *ks)
    assert list(scores) == ["pass@1", "pass@4", "pass^1", "pass^4"]
    scores = scores_of(capsys, "gpassk", file, "--k", 4, "--thresholds", 0.25, 0.5)
    assert list(scores) == ["G-Pass@4_0.25", "G-Pass@4_0.5", "mG-Pass@4"]


def test_none_disables_a_parameter_that_has_a_default(capsys, tmp_path):
    file = write_json_lines(tmp_path / "run.jsonl", ROWS)
    scores = scores_of(capsys, "bayes_at_n", file, "--confidence", "none")
    assert list(scores) == ["bayes@4", "avg@4"]


def test_prior_outcomes_are_read_from_their_column_and_reported(capsys, tmp_path):
    file = write_json_lines(tmp_path / "run.jsonl", ROWS)
    printed = output_of(capsys, "bayes_at_n", file, "--confidence", "none")
    assert "; R0 from R0." in printed
    expected = at_k.bayes([row["outcomes"] for row in ROWS], R0=[row["R0"] for row in ROWS])[0]
    assert f"bayes@4  {expected:.4f}\n" in printed
    csv = tmp_path / "run.csv"
    csv.write_text('outcomes,R0\n"[0, 1, 1, 1]","[0, 0]"\n"[1, 1, 0, 1]","[0, 1]"\n')
    assert output_of(capsys, "bayes_at_n", csv, "--confidence", "none") == printed


def test_a_column_of_clusters_is_read_if_the_interval_uses_them(capsys, tmp_path):
    rows = [
        {"outcomes": row["outcomes"], "cluster": place // 2} for place, row in enumerate(ROWS * 2)
    ]
    file = write_json_lines(tmp_path / "run.jsonl", rows)
    flags = ("--k", 1, "--include", "pass@k", "--confidence", 0.9)
    assert "cluster" not in output_of(capsys, "gpassk", file, *flags)
    printed = output_of(capsys, "gpassk", file, *flags, "--interval", "questions")
    assert "; clusters from cluster." in printed
    assert "questions in 2 clusters with" in printed.replace("\n", " ")


@pytest.mark.parametrize(
    ("flags", "keys"),
    [
        (["pass^4", "pass@1", "pass@4"], ["pass^4", "pass@1", "pass@4"]),
        (["pass@k", "pass^4"], ["pass@4", "pass^4"]),
        (["pass@k", "pass^2", "--k", "1", "2"], ["pass@1", "pass@2", "pass^2"]),
        (["G-Pass@4_0.6", "G-Pass@k", "--thresholds", "0.5"], ["G-Pass@4_0.6", "G-Pass@4_0.5"]),
    ],
)
def test_scores_at_one_k_are_included_by_their_keys(capsys, flags, keys):
    file = ROOT / "shared/at_k/samples/smollm2_cool.jsonl"
    scores = scores_of(capsys, "gpassk", file, "--check-correct-fn", "numeric", "--include", *flags)
    assert list(scores) == keys
    options = "--include pass@k pass^k G-Pass@k --k 1 2 4 --thresholds 0.5 0.6"
    all_scores = scores_of(
        capsys, "gpassk", file, "--check-correct-fn", "numeric", *options.split()
    )
    assert scores == {key: all_scores[key] for key in keys}


def test_the_sentence_of_votes_leads_with_the_vote_and_has_no_biased_score(capsys):
    file = ROOT / "shared/at_k/samples/smollm2_cool.jsonl"
    flags = ("--check-correct-fn", "numeric", "--confidence", 0.95, "--interval", "questions")
    sentence = words_of(capsys, "cons_at_k", file, *flags, "--k", 8)
    assert "checked with numeric, vote@8 is 49.3 % (95 % confidence interval" in sentence
    assert "cons@8 is" not in sentence
    sentence = words_of(capsys, "cons_at_k", file, *flags, "--k", 32)
    assert "cons@32 is" in sentence  # k = n


def test_one_sample_of_each_question_has_pass_at_1_alone(capsys, tmp_path):
    file = write_json_lines(tmp_path / "once.jsonl", [{"outcomes": [x]} for x in (0, 1, 1)])
    assert scores_of(capsys, "gpassk", file) == {"pass@1": 2 / 3}
    assert "mG-Pass@1" in scores_of(capsys, "gpassk", file, "--include", "mG-Pass@k")


def test_integers_below_0_are_rewards_if_their_column_says_so(capsys, tmp_path):
    for name in ("rewards", "reward_total"):
        file = write_json_lines(tmp_path / "a.jsonl", [{name: [1, -1, -3]}])
        assert "sample 1 is -1.0" in error_of(capsys, "gpassk", file, "--outcomes", name)
        scores = scores_of(capsys, "max_at_k", file, "--outcomes", name, "--k", 1, 2, 3)
        assert [scores[f"max@{k}"] for k in (1, 2, 3)] == pytest.approx([-1, 1 / 3, 1])


def test_scores_name_the_questions_for_which_they_are_extrapolated(capsys, tmp_path):
    rows = [{"id": i, "outcomes": [1, 0, i % 2, None if i < 2 else 1]} for i in range(6)]
    file = write_json_lines(tmp_path / "outcomes.jsonl", rows)
    flags = ("--missing", "drop", "--k", 3, 4, 5, "--include", "pass@k", "--confidence", 0.95)
    printed = words_of(capsys, "gpassk", file, *flags)
    assert "6 questions, 3 to 4 samples each (2 more not scored)" in printed
    assert "pass@4 for 2 of 6 questions and pass@5 for all questions." in printed
    assert "pass@3 for" not in printed
    assert ", extrapolated for 2 of 6 questions)" in printed
    latex = words_of(capsys, "gpassk", file, *flags, "--format", "latex")
    assert "extrapolated where a question has fewer than k samples: pass@4 for 2 of 6" in latex


def test_questions_with_several_settings_are_clusters(capsys, tmp_path):
    rows = [
        {"id": f"q{i}", "T": T, "outcomes": [int(i % 3 > s) for s in range(3)]}
        for i in range(12)
        for T in (0.2, 0.8)
    ]
    file = write_json_lines(tmp_path / "run.jsonl", rows)
    flags = ("--questions", "id", "T", "--groups", "T", "--k", 1, "--include", "pass@k")
    limits = ("--confidence", 0.95, "--interval", "questions")
    printed = output_of(capsys, "gpassk", file, *flags, *limits)
    assert "; clusters from id." in printed.splitlines()[0]
    assert "On 24 questions in 12 clusters with 3 samples each" in " ".join(printed.split())
    clustered = scores_of(capsys, "gpassk", file, *flags, *limits, "--clusters", "id")
    assert scores_of(capsys, "gpassk", file, *flags, *limits) == clustered
    # A run that is read in Python carries them, and everything but these limits ignores them.
    run, metric = at_k.read(file, questions=["id", "T"], groups="T"), at_k.load("gpassk")
    options: dict[str, Any] = {"k": 1, "include": "pass@k"}
    other = metric.compute(**run, **options, confidence=0.95, interval="questions")
    assert other == clustered
    assert at_k.noise(run, 1)["pass@1"]["other_questions"] == (
        other["pass@1_lo"],
        other["pass@1_hi"],
    )
    plain = {name: values for name, values in run.items() if name != "clusters"}
    for given in ({}, {"confidence": 0.95}, {"confidence": 0.95, "interval": "sampling"}):
        assert metric.compute(**run, **options, **given) == metric.compute(
            **plain, **options, **given
        )
    # The noise beside limits for the same questions is that of the clusters too.
    printed = output_of(capsys, "gpassk", file, *flags, "--confidence", 0.95)
    lo, hi = (f"{100 * clustered[f'pass@1_{end}']:.1f}" for end in ("lo", "hi"))
    assert f"For other questions like these, pass@1 is between {lo} and {hi} %" in " ".join(
        printed.split()
    )


def test_questions_of_several_benchmarks_with_the_same_numbers_are_no_clusters(capsys, tmp_path):
    rows = [
        {"id": i, "benchmark": benchmark, "outcomes": [i % 2, 1]}
        for benchmark in ("AIME", "MATH")
        for i in range(8)
    ]
    file = write_json_lines(tmp_path / "run.jsonl", rows)
    flags = ("--questions", "benchmark", "id", "--groups", "benchmark", "--confidence", 0.95)
    assert "clusters" not in output_of(capsys, "gpassk", file, *flags, "--interval", "questions")
