"""Scoring a file: every metric and parameter is served, and the scores are those of `compute`."""

from typing import Any

import at_k
import datasets
import pytest
from at_k.cli.command import main
from conftest import ROOT
from run_command import (
    FLAGS,
    error_of,
    output_of,
    pass_at_k,
    question_rows,
    scores_of,
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("gpassk --k 1,4", "--k: '1,4' is not a whole number: separate several by spaces"),
        ("bayes_at_n --confidence no", "--confidence: 'no' is not a number"),
        ("bayes_at_n --confidence 95%", "--confidence: '95%' is not a number: give 0.95"),
        ("gate --at-least 80.5%", "--at-least: '80.5%' is not a number: give 0.805"),
        ("score_agg --weights {a:1}", "--weights: '{a:1}' is invalid JSON"),
        ("gpassk --check-correct-fn none:f", "--check-correct-fn: none:f cannot be imported as"),
    ],
)
def test_a_value_that_is_not_of_its_type_is_named(capsys, arguments, message):
    with pytest.raises(SystemExit):
        main([*arguments.split(), "a.jsonl"])
    assert f"error: argument {message}" in capsys.readouterr().err


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
    error = error_of(capsys, "gpassk", file, "--clusters", "cluster")
    assert "only limits use clusters, and there is no confidence" in error


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--k", "33"], "question 0 has n = 32"),
        (["--include", "pass@1", "--k", "2"], "include has 'pass@1', and k is 2: leave out k, or"),
        (["--include", "pass@4_0.5"], "give 'pass@k', and --k 4"),
        (["--include", "G-Pass@4_1.5"], "tau is 1.5"),
        (["--include", "pass_hat_k"], "Did you mean 'pass^k'?"),
        (["--outcomes", "topic", "--references", "reference"], "leave out references"),
    ],
)
def test_an_error_of_the_metric_is_one_line(capsys, flags, message):
    file = ROOT / "shared/at_k/samples/smollm2_cool.jsonl"
    assert message in error_of(capsys, "gpassk", file, *flags)


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
    sentence = " ".join(output_of(capsys, "cons_at_k", file, *flags, "--k", 8).split())
    assert "checked with numeric, vote@8 is 49.1 % (95 % confidence interval" in sentence
    assert "cons@8 is" not in sentence
    sentence = " ".join(output_of(capsys, "cons_at_k", file, *flags, "--k", 32).split())
    assert "cons@32 is" in sentence  # k = n


def test_one_sample_of_each_question_has_pass_at_1_alone(capsys, tmp_path):
    file = write_json_lines(tmp_path / "once.jsonl", [{"outcomes": [x]} for x in (0, 1, 1)])
    assert scores_of(capsys, "gpassk", file) == {"pass@1": 2 / 3}
    assert "mG-Pass@1" in scores_of(capsys, "gpassk", file, "--include", "mG-Pass@k")


NOTHING = "in response, and there is nothing to check it against: name the column of references"


@pytest.mark.parametrize("command", ["gpassk", "compare", "gate --at-least 0.5", "plan"])
@pytest.mark.parametrize(
    ("column", "entries", "message"),
    [
        ("verdict", ["pass", "maybe"], "1 has the outcome 'maybe' in verdict: name those that are"),
        ("response", ["12", "13"], f"0 has the sample '12' {NOTHING}, or a file"),
    ],
)
def test_texts_that_nothing_grades_are_named_with_the_flag(
    capsys, tmp_path, command, column, entries, message
):
    rows = [{"id": i, column: x} for i, x in enumerate(entries)]
    files = [write_json_lines(tmp_path / f"{name}.jsonl", rows) for name in "ab"]
    name, *flags = command.split()
    error = error_of(capsys, name, *files[: 1 + (name == "compare")], *flags, "--k", 1)
    assert f"Question {message}" in error


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("gpassk", "--k", 3), "question 1 has n = 2 scored samples"),
        (("compare", "--k", 3), "question 1 has n = 2 scored samples"),
        (("gate", "--k", 3, "--at-least", 0.5), "question 1 has n = 2 scored samples"),
        (("compare", "--include", "cons@k"), None),
    ],
)
def test_a_question_is_named_by_its_id(capsys, tmp_path, arguments, problem):
    rows = [{"id": "q-16", "correct": [1, 0, 1]}, {"id": "q-17", "correct": [1, 0]}]
    command, *flags = arguments
    files = [write_json_lines(tmp_path / f"{i}.jsonl", rows) for i in range(2)]
    error = error_of(capsys, command, *files[: 1 + (command == "compare")], *flags)
    assert problem is None or problem in error
    assert ("Question 1 has the id 'q-17'." in error) == (problem is not None)


def test_the_question_of_an_error_is_not_read_from_the_text_of_a_sample(capsys, tmp_path):
    rows = [
        {"id": "q-16", "responses": ["1"], "answer": "1"},
        {"id": "q-17", "responses": ["1"], "answer": "Question 0 of predictions[0]"},
    ]
    file = write_json_lines(tmp_path / "a.jsonl", rows)
    error = error_of(capsys, "gpassk", file, "--check-correct-fn", "numeric")
    assert "references[1] is 'Question 0 of predictions[0]'" in error
    assert error.endswith(" Question 1 has the id 'q-17'.\n")


def test_integers_below_0_are_rewards_if_their_column_says_so(capsys, tmp_path):
    file = write_json_lines(tmp_path / "a.jsonl", [{"outcomes": [1, -1, -3]}])
    for metric in ("gpassk", "max_at_k"):
        error = error_of(capsys, metric, file)
        assert "Question 0, sample 1 is -1: an outcome is 0 or False if incorrect" in error
        assert "(max_at_k and bayes_at_n take graded scores and rewards, as floats such as" in error
        assert "--correct-at-least, of at_k.read in Python, is the least score" in error
    for name in ("rewards", "reward_total"):
        write_json_lines(file, [{name: [1, -1, -3]}])
        assert "sample 1 is -1.0" in error_of(capsys, "gpassk", file, "--outcomes", name)
        scores = scores_of(capsys, "max_at_k", file, "--outcomes", name, "--k", 1, 2, 3)
        assert [scores[f"max@{k}"] for k in (1, 2, 3)] == pytest.approx([-1, 1 / 3, 1])


def test_samples_without_references_lead_to_columns_of_outcomes(capsys, tmp_path):
    rows = [{"step": 2, "prompt": "p", "completion": x, "reward_total": 0.5} for x in "ab"]
    file = write_json_lines(tmp_path / "a.jsonl", rows)
    for metric in ("max_at_k", "bayes_at_n", "gpassk"):
        error = error_of(capsys, metric, file)
        assert "with --references. Or name outcomes with --outcomes. Question 0" in error
    assert scores_of(capsys, "max_at_k", file, "--outcomes", "reward_total", "--k", 1)


def test_scores_name_the_questions_for_which_they_are_extrapolated(capsys, tmp_path):
    rows = [{"id": i, "outcomes": [1, 0, i % 2, None if i < 2 else 1]} for i in range(6)]
    file = write_json_lines(tmp_path / "outcomes.jsonl", rows)
    flags = ("--missing", "drop", "--k", 3, 4, 5, "--include", "pass@k", "--confidence", 0.95)
    printed = " ".join(output_of(capsys, "gpassk", file, *flags).split())
    assert "6 questions, 3 to 4 samples each (2 more not scored)" in printed
    assert "pass@4 for 2 of 6 questions and pass@5 for all questions." in printed
    assert "pass@3 for" not in printed
    assert ", extrapolated for 2 of 6 questions)" in printed
    latex = " ".join(output_of(capsys, "gpassk", file, *flags, "--format", "latex").split())
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
