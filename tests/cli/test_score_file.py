"""Scoring a file: every metric and parameter is served, and the scores are those of `compute`."""

from typing import Any

import at_k
import datasets
import pytest
from conftest import ROOT
from run_command import error_of, output_of, question_rows, scores_of, words_of, write_json_lines
from scored import gpassk

WARM, COOL = (f"{ROOT}/shared/at_k/samples/smollm2_{name}.jsonl" for name in ("warm", "cool"))
NUMERIC = "--check-correct-fn numeric"
PRIORS = [{"outcomes": [0, 1, 1, 1], "R0": [0, 0]}, {"outcomes": [1, 1, 0, 1], "R0": [0, 1]}]
FILES = {
    "samples": question_rows("samples", "answer"),
    "priors": PRIORS,
    "clusters": [{"outcomes": PRIORS[i % 2]["outcomes"], "cluster": i // 2} for i in range(4)],
    "once": [{"outcomes": [x]} for x in (0, 1, 1)],
    "verdicts": [{"outcomes": ["good", "fair"]}, {"outcomes": ["bad", "good"]}],
    "missing": [{"id": i, "outcomes": [1, 0, i % 2, None if i < 2 else 1]} for i in range(6)],
}
CHECKERS = """
import functools
def check(p, r): return p != r
again = functools.partial(check)
def chatty(p, r):
    print("hm")
    return p == r
"""


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(CHECKERS)
    for name, rows in FILES.items():
        write_json_lines(tmp_path / name, rows)


def test_json_is_the_dict_of_the_metric(capsys):
    table = datasets.Dataset.from_json(WARM)
    expected = gpassk(
        table["predictions"],
        references=table["reference"],
        groups=table["topic"],
        check_correct_fn="numeric",
        k=[3, 8],
        thresholds=[0.5, 1.0],
        confidence=0.9,
        beta0=2.0,
        return_per_question=True,
    )
    flags = "--k 3 8 --thresholds 0.5 1 --confidence 0.9 --beta0 2 --return-per-question"
    command = f"gpassk {WARM} --groups topic {NUMERIC} {flags}"
    scores = scores_of(capsys, *command.split())
    assert scores == expected
    assert list(scores) == list(expected)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ('score_agg verdicts --weights {"good":1,"fair":0.5,"bad":0}', {"score_agg": 0.6}),
        ("gpassk once", {"pass@1": 2 / 3}),
        ("gpassk samples --check-correct-fn mine:check --k 2 --include pass^k", {"pass^2": 0.0}),
        # What a checker prints is not mixed with the scores.
        ("gpassk samples --check-correct-fn mine:chatty --k 2 --include pass@k", {"pass@2": 1.0}),
    ],
)
def test_files_have_these_scores(capsys, words, expected):
    assert scores_of(capsys, *words.split()) == expected


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        ("gpassk priors --include pass@k pass^k --k 1 4", "pass@1 pass@4 pass^1 pass^4"),
        ("gpassk priors --include pass@k pass^k --k 1 --k 4", "pass@1 pass@4 pass^1 pass^4"),
        ("gpassk priors --k 4 --thresholds 0.25 0.5", "G-Pass@4_0.25 G-Pass@4_0.5 mG-Pass@4"),
        ("gpassk once --include mG-Pass@k", "mG-Pass@1"),
        ("bayes_at_n priors --confidence none", "bayes@4 avg@4"),
        (f"gpassk {COOL} {NUMERIC} --include pass^4 pass@1 pass@4", "pass^4 pass@1 pass@4"),
        (f"gpassk {COOL} {NUMERIC} --include pass@k pass^4", "pass@4 pass^4"),
        (f"gpassk {COOL} {NUMERIC} --include pass@k pass^2 --k 1 2", "pass@1 pass@2 pass^2"),
        (
            f"gpassk {COOL} {NUMERIC} --include G-Pass@4_0.6 G-Pass@k --thresholds 0.5",
            "G-Pass@4_0.6 G-Pass@4_0.5",
        ),
    ],
)
def test_scores_are_included_by_their_names_or_keys(capsys, words, keys):
    command = words.split()
    scores = scores_of(capsys, *command)
    assert " ".join(scores) == keys
    if COOL in command:
        options = f"{NUMERIC} --include pass@k pass^k G-Pass@k --k 1 2 4 --thresholds 0.5 0.6"
        all_scores = scores_of(capsys, "gpassk", COOL, *options.split())
        assert scores == {key: all_scores[key] for key in scores}


VOTES = f"cons_at_k {COOL} {NUMERIC} --confidence 0.95 --interval questions --k"
CLUSTERS = "gpassk clusters --k 1 --include pass@k --confidence 0.9"
EXTRAPOLATED = "gpassk missing --missing drop --k 3 4 5 --include pass@k --confidence 0.95"


@pytest.mark.parametrize(
    ("words", "texts", "absent"),
    [
        (f"{VOTES} 8", "numeric, vote@8 is 49.4 % (95 % confidence interval", "cons@8 is"),
        (f"{VOTES} 32", "cons@32 is", "cons@32: more than"),  # k = n
        ("gpassk samples --check-correct-fn mine:again", "against answer with partial", "hm"),
        (CLUSTERS, "4 samples each", "cluster"),
        (
            f"{CLUSTERS} --interval questions",
            "; clusters from cluster.|questions in 2 clusters with",
            "4 clusters",
        ),
        (
            EXTRAPOLATED,
            "6 questions, 3 to 4 samples each (2 more not scored)|pass@4 for 2 of 6 questions and "
            "pass@5 for all questions.|, extrapolated for 2 of 6 questions)",
            "pass@3 for",
        ),
        (
            f"{EXTRAPOLATED} --format latex",
            "extrapolated where a question has fewer than k samples: pass@4 for 2 of 6",
            "pass@3 for",
        ),
    ],
)
def test_the_output_says_what_scores_are_of(capsys, words, texts, absent):
    printed = words_of(capsys, *words.split())
    for text in texts.split("|"):
        assert text in printed
    assert absent not in printed


def test_prior_outcomes_are_read_from_their_column_and_reported(capsys, tmp_path):
    printed = output_of(capsys, "bayes_at_n", "priors", "--confidence", "none")
    assert "; R0 from R0." in printed
    expected = at_k.bayes([row["outcomes"] for row in PRIORS], R0=[row["R0"] for row in PRIORS])[0]
    assert f"bayes@4  {expected:.4f}\n" in printed
    csv = tmp_path / "run.csv"
    csv.write_text('outcomes,R0\n"[0, 1, 1, 1]","[0, 0]"\n"[1, 1, 0, 1]","[0, 1]"\n')
    assert output_of(capsys, "bayes_at_n", csv, "--confidence", "none") == printed


def test_integers_below_0_are_rewards_if_their_column_says_so(capsys, tmp_path):
    for name in ("rewards", "reward_total"):
        file = write_json_lines(tmp_path / "a.jsonl", [{name: [1, -1, -3]}])
        assert "sample 1 is -1.0" in error_of(capsys, "gpassk", file, "--outcomes", name)
        scores = scores_of(capsys, "max_at_k", file, "--outcomes", name, "--k", 1, 2, 3)
        assert [scores[f"max@{k}"] for k in (1, 2, 3)] == pytest.approx([-1, 1 / 3, 1])


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
    printed = words_of(capsys, "gpassk", file, *flags, "--confidence", 0.95)
    lo, hi = (f"{100 * clustered[f'pass@1_{end}']:.1f}" for end in ("lo", "hi"))
    assert f"For other questions like these, pass@1 is between {lo} and {hi} %" in printed


def test_questions_of_several_benchmarks_with_the_same_numbers_are_no_clusters(capsys, tmp_path):
    rows = [
        {"id": i, "benchmark": benchmark, "outcomes": [i % 2, 1]}
        for benchmark in ("AIME", "MATH")
        for i in range(8)
    ]
    file = write_json_lines(tmp_path / "run.jsonl", rows)
    flags = ("--questions", "benchmark", "id", "--groups", "benchmark", "--confidence", 0.95)
    assert "clusters" not in output_of(capsys, "gpassk", file, *flags, "--interval", "questions")
