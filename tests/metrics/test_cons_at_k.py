"""cons_at_k: the worked examples of AISBench, soft accuracy, and votes."""

import at_k
import pytest
from exact import vote


@pytest.fixture
def cons_at_k():
    return at_k.load("cons_at_k")


def rounded(scores):
    return {key: round(value, 4) for key, value in scores.items()}


def test_the_worked_example(cons_at_k):
    samples = [["A", "A", "X"], ["B", "C", "B"], ["X", "X", "C"], ["X", "X", "X"]]
    scores = cons_at_k.compute(predictions=samples, references=["A", "B", "C", "D"])
    assert rounded(scores) == {
        "cons@3": 0.5,
        "avg@3": 0.4167,
        "pass@3": 0.75,
        "maj@3": 0.5,
        "vote@3": 0.5,
    }
    assert at_k.cons_at_k([[1, 1, 0], [1, 0, 1], [0, 0, 1], [0, 0, 0]], 3) == 0.5


@pytest.mark.parametrize(
    ("samples", "references", "cons", "avg"),
    [
        ([["A", "A", "B"], ["B", "B", "C"]], ["A", "B"], 1.0, 0.6667),
        ([["A", "B", "C"], ["A", "B", "C"]], ["A", "B"], 0.0, 0.3333),
        ([["A", "A", "A"], ["B", "B", "B"]], ["A", "C"], 0.5, 0.5),
    ],
)
def test_the_three_scenarios(cons_at_k, samples, references, cons, avg):
    scores = rounded(cons_at_k.compute(predictions=samples, references=references))
    assert (scores["cons@3"], scores["avg@3"]) == (cons, avg)


@pytest.mark.parametrize("judged", [True, False])
def test_soft_accuracy_beside_hard(cons_at_k, judged):
    shares = [[0.6, 0.4, 0.6], [0.5, 1.0, 0.0]]
    if judged:
        texts = [[str(share) for share in row] for row in shares]
        scores = cons_at_k.compute(
            predictions=texts, references=["", ""], check_correct_fn=lambda p, r: float(p)
        )
    else:
        scores = cons_at_k.compute(predictions=shares)
    assert scores["accuracy (3 runs average)"] == pytest.approx((1.6 / 3 + 1.5 / 3) / 2)
    assert scores["avg@3"] == pytest.approx(0.5)  # a half is not more than a half
    assert scores["cons@3"] == 0.5
    assert ("vote@3" in scores) == judged


def test_shares_that_are_not_scored_leave_the_mean(cons_at_k):
    scores = cons_at_k.compute(predictions=[[0.6, None, 0.4], [1.0, 0.0, None]])
    assert scores["accuracy (2 runs average)"] == pytest.approx(0.5)


def test_by_default_every_question_is_asked_for_all_of_its_samples(cons_at_k):
    scores = cons_at_k.compute(predictions=[[1, 0, 1], [1, 0]], return_per_question=True)
    assert scores.pop("per_question") == {
        "cons@n": [1.0, 0.0],
        "avg@n": pytest.approx([2 / 3, 1 / 2]),
        "pass@n": [1.0, 1.0],
        "maj@n": [1.0, 0.0],
    }
    assert scores == pytest.approx({"cons@n": 0.5, "avg@n": 7 / 12, "pass@n": 1.0, "maj@n": 0.5})


def test_majorities_of_fewer_draws_are_the_unbiased_estimates(cons_at_k):
    bank = [[1, 0, 1, 1, 0], [0, 0, 1, 0, 0]]
    scores = cons_at_k.compute(predictions=bank, k=[1, 2, 3], confidence=0.9)
    for k in (1, 2, 3):
        assert scores[f"maj@{k}"] == pytest.approx(at_k.maj_at_k(bank, k))
        assert scores[f"cons@{k}"] == at_k.cons_at_k(bank, k)
        for name, function in (("maj", at_k.maj_at_k_ci), ("pass", at_k.pass_at_k_ci)):
            ends = [scores[f"{name}@{k}_{end}"] for end in ("mu", "sigma", "lo", "hi")]
            assert ends == pytest.approx(function(bank, k, 0.9))
    ends = [scores[f"avg@5_{end}"] for end in ("mu", "sigma", "lo", "hi")]
    assert ends == pytest.approx(at_k.avg_ci(bank, None, 0.9, (0.0, 1.0)))
    assert not {"cons@1_mu", "vote@1"} & scores.keys()


def test_the_interval_of_all_draws_is_that_of_each_questions_own_k(cons_at_k):
    bank = [[1, 0, 1], [1, 0, 0, 0]]
    scores = cons_at_k.compute(predictions=bank, confidence=0.9)
    means = [at_k.maj_at_k_ci([row], len(row))[0] for row in bank]
    assert scores["maj@n_mu"] == pytest.approx(sum(means) / 2)


def test_votes_are_on_the_answer_that_a_named_judge_reads(cons_at_k):
    samples = [["so 12", "it is 12.0", "13", "14 or 13", "none", "7"]]
    options = {"references": [12], "check_correct_fn": "numeric", "k": [2, 3]}
    scores = cons_at_k.compute(predictions=samples, **options)
    for k in (2, 3):
        assert scores[f"vote@{k}"] == pytest.approx(float(vote([2], [2, 1], 1, k)))


def test_votes_of_a_function_are_on_the_text(cons_at_k):
    samples = [["1/2", "0.5", "0.5", "2", "2", "3"]]
    options = {"references": [0.5], "check_correct_fn": lambda p, r: p in ("1/2", "0.5"), "k": 4}
    merged = cons_at_k.compute(predictions=samples, **options)
    assert merged["vote@4"] == pytest.approx(float(vote([3], [2, 1], 0, 4)))
    apart = cons_at_k.compute(predictions=samples, merge_right=False, **options)
    assert apart["vote@4"] == pytest.approx(float(vote([2, 1], [2, 1], 0, 4)))


def test_votes_of_math_verify_are_on_what_it_reads(cons_at_k):
    samples = [["\\boxed{3}", "$3$", "4", "4", "no idea"]]
    options = {"references": ["7"], "check_correct_fn": "math_verify", "k": 3}
    assert cons_at_k.compute(predictions=samples, **options)["vote@3"] == 0
    options["references"] = ["3"]
    scores = cons_at_k.compute(predictions=samples, **options)
    assert scores["vote@3"] == pytest.approx(float(vote([2], [2], 1, 3)))


def test_acceptable_answers_vote_together_or_apart(cons_at_k):
    samples = [["Paris", "paris", "Lyon", "Lyon", "Nice"]]
    options = {"references": [["Paris", "paris"]], "k": 4}
    together = cons_at_k.compute(predictions=samples, **options)["vote@4"]
    apart = cons_at_k.compute(predictions=samples, merge_right=False, **options)["vote@4"]
    assert together == pytest.approx(float(vote([2], [2, 1], 0, 4)))
    assert apart == pytest.approx(float(vote([1, 1], [2, 1], 0, 4)))


def test_what_the_judge_leaves_out_has_no_vote(cons_at_k):
    def check(prediction, reference):
        return None if prediction == "?" else prediction == reference

    options = {"references": ["a"], "check_correct_fn": check}
    scores = cons_at_k.compute(predictions=[["a", "?", "b", "?", "a"]], **options)
    assert scores["vote@3"] == 1.0
    assert scores["cons@3"] == 1.0


def test_subsets_have_votes_of_their_own(cons_at_k):
    scores = cons_at_k.compute(
        predictions=[["a", "a", "b"], ["a", "b", "b"]], references=["a", "a"], groups=["x", "y"]
    )
    assert (scores["x/vote@3"], scores["y/vote@3"], scores["vote@3"]) == (1.0, 0.0, 0.5)


@pytest.mark.parametrize(
    ("predictions", "options", "message"),
    [
        ([[0, 2]], {}, r"predictions\[0\]\[1\] is 2: an outcome is 0 or 1, or a share"),
        ([[0.5, 1.5]], {}, r"predictions\[0\]\[1\] is 1.5"),
        ([["a"]], {}, "no references to check"),
        ([[0, 1]], {"k": 3}, r"k is 3, but question 0 has n = 2"),
        ([[0, 1]], {"k": [1, 0]}, "k is 0"),
        ([[0, 1]], {"alpha0": 0}, "alpha0 is 0"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(cons_at_k, predictions, options, message):
    with pytest.raises(ValueError, match=message):
        cons_at_k.compute(predictions=predictions, **options)


def test_a_category_is_no_verdict_of_a_consensus(cons_at_k):
    with pytest.raises(ValueError, match=r"the result for predictions\[0\]\[1\] is 2"):
        cons_at_k.compute(
            predictions=[["a", "b"]],
            references=["x"],
            check_correct_fn=lambda p, r: "ab".index(p) * 2,
        )
