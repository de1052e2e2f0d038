"""The shares of the variance of a score: against simulation, and in words."""

import json
import re

import at_k
import numpy as np
import pytest
from run_command import output_of, write_runs
from scored import bayes_at_n

RATES = {"uniform": (1, 1), "alike": (30, 30), "two kinds": (0.3, 0.3)}


@pytest.mark.parametrize("name", RATES)
@pytest.mark.parametrize(("n", "k"), [(8, 2), (16, 1)])
def test_shares_agree_with_a_simulation(name, n, k):
    rng, size = np.random.default_rng(1), 400
    q = rng.beta(*RATES[name], 200_000)
    truth = 1 - (1 - q) ** k
    c = rng.binomial(n, q)
    estimates = np.array([at_k.pass_at_k([[1] * x + [0] * (n - x)], k) for x in range(n + 1)])[c]
    expected = np.var(truth) / np.var(estimates)
    shares = []
    for _ in range(40):
        rows = at_k.Counts([n] * size, rng.binomial(n, rng.choice(q, size)))
        result = at_k.noise(rows, k)[f"pass@{k}"]
        shares.append(result["questions"])
        assert result["questions"] + result["samples"] == pytest.approx(1)
        assert result["standard_error"] == pytest.approx(
            np.sqrt(np.var(estimates) / size), rel=0.25
        )
    assert np.mean(shares) == pytest.approx(expected, abs=0.04)


def test_labels_have_a_share():
    rng = np.random.default_rng(3)
    rows = (rng.random((200, 8)) < rng.random((200, 1))).astype(int)
    few, many = (
        at_k.noise(rows, 1, labels={"tp": 9 * x, "fn": x, "fp": x, "tn": 9 * x})["pass@1"]
        for x in (8, 800)
    )
    assert few["helps_most"] == "labels"
    assert many["checker"] < 0.05 < 0.5 < few["checker"]
    assert sum(few[part] for part in ("questions", "samples", "checker")) == pytest.approx(1)
    widths = [x["other_questions"][1] - x["other_questions"][0] for x in (few, many)]
    assert widths[0] > 1.4 * widths[1]


def test_the_mean_of_corrected_outcomes_has_the_noise_of_pass_at_1():
    rows = (np.random.default_rng(7).random((60, 6)) < 0.6).astype(int)
    options = {"labels": {"tp": 90, "fn": 10, "fp": 10, "tn": 90}}
    result = at_k.noise(rows, 1, **options)["pass@1"]
    assert at_k.noise(rows, metric="avg@N", **options) == {"avg@6": result}
    scores = bayes_at_n(rows, **options)
    assert result["score"] == pytest.approx(scores["avg@6"])
    with pytest.raises(ValueError, match=r"max@k is not corrected .* avg@N without rewards"):
        at_k.noise(rows, 2, "max@k", **options)
    with pytest.raises(ValueError, match="avg@N is not corrected"):
        at_k.noise(rows, metric="avg@N", w=[0.0, 2.0], **options)


def test_one_sample_of_each_question_does_not_tell_its_noise():
    result = at_k.noise([[1], [0], [1], [1]], 1)["pass@1"]
    assert (result["questions"], result["samples"], result["same_questions"]) == (1, None, None)


@pytest.mark.parametrize(
    ("rows", "most"),
    [
        ([[1] * 4] * 6, "questions"),
        ([[0] * 3] * 9, "questions"),
        ([[1, 1, 1, 0, 0]] * 7, "samples"),  # all questions have the same score
        ([[1]] * 5, "questions"),
        ([[1] * 64] * 100, "questions"),
    ],
)
def test_shares_have_the_sum_1_if_all_questions_have_the_same_score(rows, most):
    for noise in at_k.noise(rows).values():
        shares = [noise["questions"], noise["samples"] or 0.0, noise["checker"]]
        assert sum(shares) == pytest.approx(1, rel=1e-12)
        assert min(shares) >= 0
        assert noise["standard_error"] == 0
        if noise["samples"] is not None:
            same, other = (np.diff(noise[f"{name}_questions"])[0] for name in ("same", "other"))
            assert noise["samples"] == pytest.approx(min(1.0, (same / other) ** 2))
    assert at_k.noise(rows, k=1)["pass@1"]["helps_most"] == most


def test_clusters_move_the_error_to_the_questions():
    rows = np.repeat(np.random.default_rng(4).random((20, 1)) < 0.5, 5, axis=0)
    rows = np.where(np.random.default_rng(5).random((100, 4)) < 0.1, ~rows, rows).astype(int)
    clusters = [f"c{i // 5}" for i in range(100)]
    alone, clustered = (at_k.noise(rows, 1, clusters=x)["pass@1"] for x in (None, clusters))
    assert clustered["standard_error"] > 1.5 * alone["standard_error"]
    assert clustered["questions"] > alone["questions"]


@pytest.mark.parametrize(
    ("flags", "beginning", "of"),
    [
        ([], "For other questions like these, pass@2 is between", "Of the variance of pass@2,"),
        (
            ["--interval", "questions"],
            "For the same questions, sampled again, pass@2 is between",
            "Of the variance of pass@2 for other questions,",
        ),
    ],
)
def test_the_command_says_the_limits_for_the_other_question(capsys, tmp_path, flags, beginning, of):
    rng = np.random.default_rng(6)
    rows = (rng.random((30, 5)) < rng.random((30, 1))).astype(int).tolist()
    (file,) = write_runs(tmp_path, {"run": rows})
    options = ("--k", 2, "--include", "pass@k", "--confidence", 0.95)
    printed = " ".join(output_of(capsys, "gpassk", file, *options, *flags).split())
    assert beginning in printed
    assert f"{of} " in printed
    assert "so more questions would help most." in printed


def test_the_command_advises_more_clusters_where_questions_have_them(capsys, tmp_path):
    rng = np.random.default_rng(6)
    outcomes = rng.random((30, 5)) < np.repeat(rng.random((10, 1)), 3, axis=0)
    lines = [
        json.dumps({"topic": f"t{i // 3}", "outcomes": row})
        for i, row in enumerate(outcomes.astype(int).tolist())
    ]
    (tmp_path / "run.jsonl").write_text("\n".join(lines))
    flags = ("--k", 1, "--include", "pass@k", "--confidence", 0.95, "--interval", "questions")
    printed = output_of(capsys, "gpassk", tmp_path / "run.jsonl", *flags, "--clusters", "topic")
    assert "so more clusters would help most." in " ".join(printed.split())


def test_the_noise_of_rewards_is_in_their_unit(capsys, tmp_path):
    """Rewards from 0 to 1 are no percentages, here and in the sentence with the scores."""
    rows = [[0.25, 0.5, 0.75], [0.25, 0.375, 0.875], [0.5, 0.375, 0.25]]
    (file,) = write_runs(tmp_path, {"run": rows})
    for command in (("bayes_at_n",), ("max_at_k", "--k", 2, "--confidence", 0.9)):
        printed = " ".join(output_of(capsys, command[0], file, *command[1:]).split())
        sentence = printed[printed.index("For other questions") :].partition(".. ")[0]
        assert re.match(r"[\w ,]+@[23] is between 0\.\d{3} and [01]\.\d{3}\. Of the", sentence)
