"""Limits that hold at all looks together."""

import math
import re
from typing import Any

import at_k
import numpy as np
import pytest
from at_k.cli.command import main
from at_k.core.interval import normal_z
from at_k.intervals.anytime import confidence_of_a_look
from at_k.testing import assert_at_least
from run_command import error_of, output_of
from scipy import integrate, stats
from scored import compute, gpassk

LIMITS: dict[str, Any] = {"include": "pass@k", "k": 1, "confidence": 0.95}


def z_of(confidence: float, size: float) -> float:
    return normal_z(confidence_of_a_look(confidence, size))


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("size", [0.2, 1.0, 3.0, 40.0])
def test_limits_are_where_the_mixture_of_likelihood_ratios_is_one_over_alpha(confidence, size):
    z_0 = z_of(confidence, 1.0)
    x = (z_0**2 - 1) * size  # the variance of the mixture times the information

    def ratio(effect: float) -> float:
        z = z_of(confidence, size)
        return math.exp(effect * z - effect**2 / 2) * stats.norm.pdf(effect, 0, math.sqrt(x))

    assert integrate.quad(ratio, -60, 60, limit=400, points=[0, 3])[0] == pytest.approx(
        1 / (1 - confidence), rel=1e-6
    )


def test_widths_are_within_the_promised_factors_of_one_look():
    factors = [z_of(0.95, size) / normal_z(0.95) for size in np.geomspace(0.25, 25, 41)]
    assert z_of(0.95, 1.0) / normal_z(0.95) < 1.56
    assert max(factors) < 1.75
    assert min(factors) == pytest.approx(z_of(0.95, 1.0) / normal_z(0.95), rel=1e-5)


def errors_at_some_look(anytime: bool, interval: str, looks: int) -> float:
    """The share of runs that are wrong at one of the looks, at samples or questions that grow."""
    rng, runs, more_samples = np.random.default_rng(3), 80, interval == "sampling"
    questions, samples, first = (20, 32, 4) if more_samples else (300, 3, 15)
    q = rng.random((runs, questions))
    correct = rng.random((runs, questions, samples)) < q[..., None]
    truth = q.mean(axis=1) if more_samples else np.full(runs, 0.5)
    wrong = np.zeros(runs, bool)
    for size in {*np.geomspace(first, samples if more_samples else questions, looks).astype(int)}:
        seen = correct[:, :, :size] if more_samples else correct[:, :size]
        c = seen.sum(axis=2)
        scores = gpassk(
            {"n": [seen.shape[2]] * c.size, "correct": c.ravel().tolist()},
            groups=np.repeat(np.arange(runs).astype(str), c.shape[1]).tolist(),
            interval=interval,
            anytime=anytime,
            **LIMITS,
        )
        lo, hi = (np.array([scores[f"{i}/pass@1{end}"] for i in range(runs)]) for end in ENDS)
        wrong |= (truth < lo) | (truth > hi)
    return float(wrong.mean())


ENDS = ("_lo", "_hi")


@pytest.mark.parametrize("interval", ["sampling", "questions"])
@pytest.mark.parametrize("looks", [6, 30])
def test_limits_are_rarely_wrong_at_any_look(interval, looks):
    assert errors_at_some_look(True, interval, looks) <= 0.05
    if looks == 6:
        assert errors_at_some_look(False, interval, looks) > 0.1


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
