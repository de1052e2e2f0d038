"""Limits that hold at all looks together."""

import math
import re
from typing import Any

import at_k
import numpy as np
import pytest
from at_k.cli.command import main
from at_k.core.interval import normal_z
from at_k.core.questions import means_of_questions
from at_k.intervals.anytime import confidence_of_a_look, look_size
from at_k.testing import assert_at_least
from run_command import error_of, output_of
from scipy import integrate, stats
from scored import compute, gpassk

LIMITS: dict[str, Any] = {"include": "pass@k", "k": 1, "confidence": 0.95}


def z_of(confidence: float, size: float) -> float:
    return normal_z(confidence_of_a_look(confidence, size))


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("size", [0.2, 1.0, 3.0, 40.0])
def test_limits_are_where_the_mixture_of_likelihood_ratios_is_one_over_alpha(confidence, size):
    center = math.sqrt(2 * math.log(2 / (1 - confidence)))
    deviation = z_of(confidence, size) * math.sqrt(size)  # z times the root of the information

    def ratio(effect: float) -> float:
        likelihood_ratio = math.exp(effect * deviation - effect**2 * size / 2)
        return likelihood_ratio * stats.norm.pdf(effect, center, 1) / 2  # the mixture's upper half

    assert integrate.quad(ratio, -40, 60, limit=400, points=[0, 3])[0] == pytest.approx(
        1 / (1 - confidence), rel=1e-6
    )


def test_widths_are_within_the_promised_factors_of_one_look():
    for least, most, factor in ((1, 1, 1.46), (0.25, 4, 1.65), (1, 10, 1.78), (0.1, 100, 2.15)):
        sizes = np.geomspace(least, most, 41)
        assert max(z_of(0.95, size) / normal_z(0.95) for size in sizes) < factor


ENDS = ("_lo", "_hi")


@pytest.mark.parametrize("looks", [6, 30])
def test_limits_for_the_same_questions_are_rarely_wrong_at_any_look(looks):
    rng, runs, questions = np.random.default_rng(3), 80, 20
    q = rng.random((runs, questions))
    correct, wrong = rng.random((runs, questions, 32)) < q[..., None], np.zeros((2, runs), bool)
    groups = np.repeat(np.arange(runs).astype(str), questions).tolist()
    for size in {*np.geomspace(4, 32, looks).astype(int).tolist()}:
        counts = {"n": [size] * q.size, "correct": correct[:, :, :size].sum(axis=2).ravel()}
        for row, anytime in enumerate((False, True)):
            options = LIMITS | {"interval": "sampling", "anytime": anytime}
            scores = gpassk(counts, groups=groups, **options)
            lo, hi = (np.array([scores[f"{i}/pass@1{end}"] for i in range(runs)]) for end in ENDS)
            wrong[row] |= (q.mean(axis=1) < lo) | (q.mean(axis=1) > hi)
    one_look, every_look = wrong.mean(axis=1)
    assert every_look <= 0.05 < 0.1 < one_look


@pytest.mark.parametrize("looks", [6, 30])
def test_limits_for_other_questions_are_rarely_wrong_at_any_look(looks):
    rng, runs = np.random.default_rng(3), 1000
    scores, wrong = rng.binomial(3, rng.random((300, runs))) / 3, np.zeros((2, runs), bool)
    for size in {*np.geomspace(15, 300, looks).astype(int).tolist()}:
        means = means_of_questions(scores[:size])
        look = confidence_of_a_look(0.95, look_size(np.full(size, 3), other_questions=True))
        for row, confidence in enumerate((0.95, look)):
            lo, hi = means.limits(confidence, (0.0, 1.0))
            wrong[row] |= (lo > 0.5) | (hi < 0.5)
    one_look, every_look = wrong.mean(axis=1)
    assert every_look <= 0.05 < 0.1 < one_look


@pytest.mark.parametrize("name", ["gpassk", "bayes_at_n", "max_at_k", "cons_at_k", "score_agg"])
def test_every_metric_has_wider_limits_that_hold_at_all_looks(name):
    rows = np.random.default_rng(4).binomial(1, 0.6, (40, 6)).tolist()
    options: dict[str, Any] = {"predictions": rows, "confidence": 0.95, "interval": "questions"}
    one, every = compute(name, **options), compute(name, **options, anytime=True)
    keys = [key.removesuffix("_lo") for key in one if key.endswith("_lo")]
    assert keys
    for key in keys:
        assert every[key] == one[key]
        assert every[f"{key}_lo"] < one[f"{key}_lo"] <= one[f"{key}_hi"] < every[f"{key}_hi"]


@pytest.mark.parametrize("interval", ["sampling", "questions"])
def test_compare_has_wider_limits_and_larger_p_values(interval):
    rng = np.random.default_rng(6)
    a, b = (rng.binomial(1, rate, (60, 8)) for rate in (0.4, 0.55))
    options: dict[str, Any] = {"k": [1, 2], "interval": interval, "p_values": True}
    one, every = at_k.compare(a, b, **options), at_k.compare(a, b, anytime=True, **options)
    for k in (1, 2):
        for of_limits in ("", "_band"):
            lo, hi = (f"pass@{k}{of_limits}{end}" for end in ENDS)
            assert every[lo] < one[lo] < one[hi] < every[hi]
        assert every[f"pass@{k}_p"] > one[f"pass@{k}_p"]


def test_the_gate_says_how_to_look_again(capsys, tmp_path):
    file = tmp_path / "run.jsonl"
    file.write_text("\n".join('{"outcomes": [1, 0, 1, 1]}' for _ in range(12)))
    claim = ("gate", file, "--interval", "sampling", "--at-least", 0.7)
    assert main(list(map(str, claim))) == 3
    text = capsys.readouterr().out
    assert "of each question would decide" in text
    first_look = " ".join(text.split())
    assert "look again, give --anytime (anytime=True) at each look" in first_look
    assert main([*map(str, claim), "--anytime"]) == 3
    text = " ".join(capsys.readouterr().out.split())
    assert "sampled again, at all looks together" in text
    assert "look again" not in text
    with pytest.raises(AssertionError, match="anytime=True"):
        assert_at_least([[1, 0, 1, 1]] * 12, 0.7, interval="sampling")
    with pytest.raises(AssertionError, match="at all looks together"):
        assert_at_least([[1, 0, 1, 1]] * 12, 0.7, interval="sampling", anytime=True)


def test_the_command_says_that_limits_hold_at_all_looks(capsys, tmp_path):
    files = [tmp_path / f"{name}.jsonl" for name in "abc"]
    for file in files:
        file.write_text("\n".join(f'{{"id": {i}, "outcomes": [1, 0, 1, 1]}}' for i in range(12)))
    flags = ["--k", "1", "--include", "pass@k", "--confidence", "0.95", "--anytime"]
    scores = output_of(capsys, "gpassk", files[0], *flags)
    assert "The limits hold at all looks together." in scores
    assert re.search(r"sampled again,\s+at\s+all\s+looks\s+together", scores)
    compared = output_of(capsys, "compare", *files[:2], "--k", 1, "--anytime")
    assert "at all looks together" in " ".join(compared.split())
    assert "--anytime is for two files" in error_of(capsys, "compare", *files, "--anytime")
