"""gpassk: the example of its card, its scores and intervals, groups and unscored samples."""

import re

import at_k
import datasets
import pytest
from conftest import ROOT
from scored import gpassk

CARD = ["a", "b", "a", "a", "b", "a", "b", "c", "a", "c", "b", "a", "a", "b", "a", "b"]
OUTCOMES = [[1, 0, 1, 1, 0], [0, 0, 0, 1, 0], [1, 1, 1, 1, 1]]


def test_the_example_of_the_card_is_reproduced_digit_by_digit_and_in_order():
    scores = gpassk(
        [CARD], references=["a"], k=[4, 8], check_correct_fn=lambda pred, ref: pred == ref
    )
    assert list(scores.items()) == [
        ("G-Pass@4_0.25", 0.9615384615384616),
        ("G-Pass@4_0.5", 0.7153846153846154),
        ("G-Pass@4_0.75", 0.2846153846153846),
        ("G-Pass@4_1.0", 0.038461538461538464),
        ("G-Pass@8_0.25", 0.9949494949494949),
        ("G-Pass@8_0.5", 0.6903651903651904),
        ("G-Pass@8_0.75", 0.06596736596736597),
        ("G-Pass@8_1.0", 7.77000777000777e-05),
        ("mG-Pass@4", 0.16153846153846152),
        ("mG-Pass@8", 0.09518259518259518),
    ]
    assert all(type(value) is float for value in scores.values())


@pytest.mark.filterwarnings("ignore:The limits of the posterior")
def test_the_posterior_interval_is_that_of_the_function():
    scores = gpassk(OUTCOMES, k=[2, 3], include="pass^k", confidence=0.9, alpha0=0.5, beta0=2)
    for k in (2, 3):
        summary = at_k.pass_hat_k_ci(OUTCOMES, k, 0.9, alpha0=0.5, beta0=2.0)
        assert [scores[f"pass^{k}_{end}"] for end in ("mu", "sigma", "lo", "hi")] == list(summary)
        assert scores[f"pass^{k}"] == at_k.pass_hat_k(OUTCOMES, k)


def test_the_default_k_are_those_that_every_question_has_samples_for():
    def ks(samples):
        return list(gpassk([[1] * samples, [0] * 40], include="pass@k"))

    assert ks(40) == ["pass@4", "pass@8", "pass@16"]
    assert ks(15) == ["pass@4", "pass@8"]
    assert ks(4) == ["pass@4"]
    assert ks(3) == ["pass@3"]
    assert ks(1) == ["pass@1"]


def same_or_none(prediction, reference):
    return None if prediction == "?" else prediction == reference


def test_the_default_k_depend_on_the_samples_that_the_checker_scores():
    samples = [list("abababab"), list("ab?b?bab")]
    scores = gpassk(samples, references=["a", "a"], check_correct_fn=same_or_none, include="pass@k")
    assert list(scores) == ["pass@4"]


def test_samples_that_the_checker_does_not_score_are_ignored():
    samples = [["a", "?", "b", "a"], ["?", "b", "a", "?"]]
    options = {"references": ["a", "a"], "check_correct_fn": same_or_none}
    assert gpassk(samples, **options, k=2) == gpassk([[1, 0, 1], [0, 1]], k=2)
    with pytest.raises(ValueError, match="k is 3, but question 1 has n = 2 scored samples"):
        gpassk(samples, **options, k=3)
    with pytest.raises(ValueError, match=r"predictions\[0\] has no scored sample"):
        gpassk([["?"]] * 2, **options, k=1)


def test_samples_of_a_model_have_the_scores_of_outcomes_graded_by_hand():
    rows = datasets.Dataset.from_json(str(ROOT / "shared/at_k/samples/smollm2_warm.jsonl"))
    options = {"check_correct_fn": "numeric", "k": 1, "include": "pass@k"}
    options |= {"references": rows["reference"], "return_per_question": True}

    def last(text):
        return str(int((re.findall(r"\d+", text) or ["-1"])[-1]))

    # `last` reads 5 in 12.5, 24 in 1,024, operands, "25 and 27", "not 3", "3 of 4" and the 4 in
    # "10, since 4": only texts without these are compared.
    other = re.compile(
        r"\d[.,]\d|nswer\D*\d+\D+\d|(?:[-+*/:]|times|times by|or|not)\s*\d+\D*$|\d+ and \d+"
        r"|, (?:since|where|which)|shells to 1|[-+*/]$"
    )
    plain = [[text for text in row if not other.search(text)] for row in rows["predictions"]]
    assert sum(map(len, plain)) > 2000
    ours = gpassk(plain, **options)["per_question"]["pass@1"]
    answers = zip(plain, rows["reference"], strict=True)
    assert ours == [sum(last(x) == answer for x in row) / len(row) for row, answer in answers]
    scores = gpassk(rows["predictions"], groups=rows["topic"], **options)
    assert scores["pass@1"] == pytest.approx(0.238, abs=5e-4)
