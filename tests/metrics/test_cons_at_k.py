"""cons_at_k: the worked examples of AISBench, shares of correctness, and votes."""

import at_k
import numpy as np
import pytest
from exact import vote
from scored import cons_at_k


def rounded(scores):
    return {key: round(value, 4) for key, value in scores.items()}


def test_the_worked_example_of_aisbench():
    samples = [["A", "A", "X"], ["B", "C", "B"], ["X", "X", "C"], ["X", "X", "X"]]
    scores = cons_at_k(samples, references=["A", "B", "C", "D"])
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
def test_the_three_scenarios_of_aisbench(samples, references, cons, avg):
    scores = rounded(cons_at_k(samples, references=references))
    assert (scores["cons@3"], scores["avg@3"]) == (cons, avg)


@pytest.mark.parametrize("checked", [True, False])
def test_shares_of_correctness_add_their_mean(checked):
    shares = [[0.6, 0.4, 0.6], [0.5, 1.0, 0.0]]
    if checked:
        texts = [[str(share) for share in row] for row in shares]
        scores = cons_at_k(texts, references=["", ""], check_correct_fn=lambda p, r: float(p))
    else:
        scores = cons_at_k(shares)
    assert scores["accuracy (3 runs average)"] == pytest.approx((1.6 / 3 + 1.5 / 3) / 2)
    assert scores["avg@3"] == pytest.approx(0.5)  # a half is not more than a half
    assert scores["cons@3"] == 0.5
    assert ("vote@3" in scores) == checked


def test_the_default_k_is_the_n_of_each_question():
    scores = cons_at_k([[1, 0, 1], [1, 0]], return_per_question=True)
    assert scores.pop("per_question") == {
        "cons@n": [1.0, 0.0],
        "avg@n": pytest.approx([2 / 3, 1 / 2]),
        "pass@n": [1.0, 1.0],
        "maj@n": [1.0, 0.0],
    }
    assert scores == pytest.approx({"cons@n": 0.5, "avg@n": 7 / 12, "pass@n": 1.0, "maj@n": 0.5})


def test_the_posterior_of_the_default_k_uses_the_n_of_each_question():
    outcomes = [[1, 0, 1], [1, 0, 0, 0]]
    scores = cons_at_k(outcomes, confidence=0.9, interval="posterior")
    means = [at_k.maj_at_k_ci([row], len(row))[0] for row in outcomes]
    assert scores["maj@n_mu"] == pytest.approx(sum(means) / 2)


def test_numeric_votes_for_numbers():
    samples = [["so 12", "it is 12.0", "13", "14, no, so 13", "none", "7"]]
    options = {"references": [12], "check_correct_fn": "numeric", "k": [2, 3]}
    scores = cons_at_k(samples, **options)
    for k in (2, 3):
        assert scores[f"vote@{k}"] == pytest.approx(float(vote([2], [2, 1], 1, k)))


def test_a_function_votes_for_texts():
    samples = [["1/2", "0.5", "0.5", "2", "2", "3"]]
    options = {"references": [0.5], "check_correct_fn": lambda p, r: p in ("1/2", "0.5"), "k": 4}
    merged = cons_at_k(samples, **options)
    assert merged["vote@4"] == pytest.approx(float(vote([3], [2, 1], 0, 4)))
    apart = cons_at_k(samples, merge_right=False, **options)
    assert apart["vote@4"] == pytest.approx(float(vote([2, 1], [2, 1], 0, 4)))


@pytest.mark.parametrize(
    ("answers", "reference"),
    [
        ([{"a": 1, "b": [2]}, {"b": [2], "a": 1}] * 2 + [{"c": 0}] * 3, {"c": 0}),
        ([[1, {"x": 2}], [1.0, {"x": 2}]] * 2 + [[0]] * 3, [0]),
        ([1, True, 1, True, 0, 0, 0], 0),
        ([1, 1.0, 2**53 + 1, 0, 0, 1, 1.0], 0),
    ],
)
def test_values_that_are_equal_in_python_are_one_answer(answers, reference):
    scores = cons_at_k([answers], references=[reference], check_correct_fn=lambda x, y: x == y)
    assert scores["vote@7"] == 0


def test_math_verify_votes_for_expressions():
    samples = [["\\boxed{3}", "$3$", "4", "4", "no idea"]]
    options = {"references": ["7"], "check_correct_fn": "math_verify", "k": 3}
    assert cons_at_k(samples, **options)["vote@3"] == 0
    options["references"] = ["3"]
    scores = cons_at_k(samples, **options)
    assert scores["vote@3"] == pytest.approx(float(vote([2], [2], 1, 3)))


def test_acceptable_answers_share_their_votes_or_not():
    samples = [["Paris", "paris", "Lyon", "Lyon", "Nice"]]
    options = {"references": [["Paris", "paris"]], "k": 4}
    together = cons_at_k(samples, **options)["vote@4"]
    apart = cons_at_k(samples, merge_right=False, **options)["vote@4"]
    assert together == pytest.approx(float(vote([2], [2, 1], 0, 4)))
    assert apart == pytest.approx(float(vote([1, 1], [2, 1], 0, 4)))


def test_unscored_samples_have_no_vote():
    def checker(prediction, reference):
        return None if prediction == "?" else prediction == reference

    options = {"references": ["a"], "check_correct_fn": checker}
    scores = cons_at_k([["a", "?", "b", "?", "a"]], **options)
    assert scores["vote@3"] == 1.0
    assert scores["cons@3"] == 1.0


def test_an_empty_text_has_no_vote_unless_it_is_correct():
    samples = [["12", "13", "", ""], ["", "", "7", "7"]]
    for checker in ("exact_match", lambda p, r: p == r):
        options = {"references": ["12", ""], "check_correct_fn": checker, "k": 3}
        votes = cons_at_k(samples, include="vote@k", **options)["vote@3"]
        expected = vote([1], [1], 2, 3), vote([2], [2], 0, 3)
        assert votes == pytest.approx(float(sum(expected)) / 2)


def test_each_group_has_its_own_votes():
    scores = cons_at_k([["a", "a", "b"], ["a", "b", "b"]], references=["a", "a"], groups=["x", "y"])
    assert (scores["x/vote@3"], scores["y/vote@3"], scores["vote@3"]) == (1.0, 0.0, 0.5)


# --- The scores that are included -----------------------------------------------------------

ANSWERS = {
    "predictions": [["A", "A", "X", "B"], ["B", "C", "B", "B"], ["X", "X", "C", "C"]],
    "references": ["A", "B", "C"],
}


@pytest.mark.parametrize("interval", ["sampling", "questions", "posterior", "auto"])
@pytest.mark.parametrize("include", ["vote@k", "cons@k", ["maj@k", "vote@k"], ["avg@n", "pass@k"]])
def test_included_scores_are_those_of_all_scores(include, interval):
    options = {"k": [1, 3], "confidence": 0.9, "interval": interval, "band": True}
    everything = cons_at_k(**ANSWERS, **options)
    chosen = cons_at_k(**ANSWERS, **options, include=include)
    names = [include] if isinstance(include, str) else include
    assert chosen == {
        key: value
        for key, value in everything.items()
        if key.partition("@")[0] in [name.partition("@")[0] for name in names]
    }


def test_the_mean_share_is_included_by_its_name():
    result = cons_at_k([[0.6, 0.4], [0.9, 0.1]], include="accuracy")
    assert result == {"accuracy (2 runs average)": 0.5}


# --- The functions of the same names ------------------------------------------------------

EQUAL_N = (np.random.default_rng(3).random((12, 6)) < np.linspace(0, 1, 12)[:, None]).tolist()
RAGGED = [row[: 4 + i % 3] for i, row in enumerate(EQUAL_N)]
FUNCTIONS = {"cons": at_k.cons_at_k, "pass": at_k.pass_at_k, "maj": at_k.maj_at_k}


@pytest.mark.filterwarnings("ignore:The limits of the posterior")
@pytest.mark.parametrize(("rows", "n"), [(EQUAL_N, 6), (RAGGED, "n")], ids=["equal n", "ragged"])
def test_scores_and_posteriors_are_those_of_the_functions(rows, n):
    questions = cons_at_k(rows, return_per_question=True)["per_question"]
    assert list(questions) == [f"cons@{n}", f"avg@{n}", f"pass@{n}", f"maj@{n}"]
    assert questions[f"avg@{n}"] == [at_k.avg([row])[0] for row in rows]
    prior = {"alpha0": 0.5, "beta0": 2.0}
    scores = cons_at_k(rows, k=[2, 3], confidence=0.9, interval="posterior", **prior)
    expected = {f"avg@{n}": at_k.avg_ci(rows, confidence=0.9, bounds=(0.0, 1.0))}
    for name, function in FUNCTIONS.items():
        assert questions[f"{name}@{n}"] == [function([row], len(row)) for row in rows]
        for k in (2, 3):
            assert scores[f"{name}@{k}"] == pytest.approx(function(rows, k), rel=1e-14)
            if name != "cons":  # which has no posterior
                limits = getattr(at_k, f"{name}_at_k_ci")(rows, k, 0.9, (0.0, 1.0), **prior)
                expected[f"{name}@{k}"] = limits
    assert {key.removesuffix("_mu") for key in scores if key.endswith("_mu")} == {*expected}
    for key, summary in expected.items():
        found = [scores[f"{key}_{end}"] for end in ("mu", "sigma", "lo", "hi")]
        assert found == pytest.approx(summary, rel=1e-13)
