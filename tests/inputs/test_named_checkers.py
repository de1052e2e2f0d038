"""The named checkers: exact_match, numeric and math_verify."""

import builtins
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import at_k
import numpy as np
import pytest
from at_k.checkers import named as named_checkers
from at_k.core.checking import Checking
from at_k.core.columns import stored
from at_k.core.computations import CONS_AT_K
from at_k.core.samples import read_samples
from scored import OUTCOMES, REFERENCES, SAMPLES, check


@pytest.mark.filterwarnings("ignore:1 of the first 4 samples contain their reference")
@pytest.mark.parametrize(
    ("predictions", "references", "outcomes"),
    [
        (SAMPLES, REFERENCES, OUTCOMES),
        ([["a", "A", " a", ""]], ["a"], [[1, 0, 0, 0]]),
        ([["é", "e\u0301"]], ["é"], [[1, 0]]),
        ([["a", None, "b"]], ["a"], [[1, None, 0]]),
        ([["12", "12.0"]], [12], [[1, 0]]),
        ([["a", "b", "c"], ["a", "b"]], [["a", "b"], ["c"]], [[1, 1, 0], [0, 0]]),
        ([[1, 2], [3]], [1, 4], [[1, 0], [0]]),
        ([[0.5, 1.5]], [[0.5, 1.5]], [[1, 1]]),
        ([[True, False]], [True], [[1, 0]]),
        ([[True, False]], [1], [[1, 0]]),
        ([[1, 2]], [[10**25, 2]], [[0, 1]]),
        ([[2**53 + 1, 2**53]], [[10**25, 2**53]], [[0, 1]]),
        ([[1, 2]], [[1.5, 2.0]], [[0, 1]]),
        ([[0.5, 2.0]], [[2, 10**400]], [[0, 1]]),
        ([[0.0, -0.0, 1.0]], [0], [[1, 1, 0]]),
        (np.array([[0.1, 0.2]], dtype="f4"), [0.1], [[1, 0]]),
        ([[2**53 + 1, 2**53], [1, 2]], [2**53, 1.5], [[0, 1], [0, 0]]),
        ([["a", "b"], ["b"]], [["a", "b", "c"], "b"], [[1, 1], [1]]),
    ],
)
def test_exact_match_compares_texts_or_numbers(predictions, references, outcomes):
    assert check(predictions, references) == outcomes


def test_numeric_compares_the_last_numbers_digit_by_digit():
    samples = ["so 12", "12.00", "is it 12 or 13", "twelve", None, "1e1 + 2"]
    assert check([samples], ["#### 12"], "numeric") == [[1, 1, 0, 0, None, 0]]
    assert check([samples], [12], "numeric") == [[1, 1, 0, 0, None, 0]]
    assert check([[12, 13]], ["12"], "numeric") == [[1, 0]]
    assert check([["0.1"], ["0.3"]], [0.1, 0.1 + 0.2], "numeric") == [[1], [0]]
    big = "12345678901234567890"
    assert check([[big, f"{big[:-1]}1"]], [int(big)], "numeric") == [[1, 0]]
    assert check([["1", "2", "3"]], [["1", "2.0"]], "numeric") == [[1, 1, 0]]
    assert check([["1e99999999999999999999", "1"]], ["1"], "numeric") == [[0, 1]]


@pytest.mark.parametrize(
    ("prediction", "reference", "outcome"),
    [
        *(("A", "A", 1), ("1+x", "x+1", 1), ("0.5", "1/2", 1), ("1/3", "1/2", 0)),
        *(("2", ["3", "4"], 0), ("3", ["3", "4"], 1), ("no idea", "12", 0)),
        (r"so $\frac{1}{2}$", "1/2", 1),
        (r"$3\sqrt{2}$", r"3\sqrt{2}", 1),
        ("3", r"3\sqrt{2}", 0),
        ("$18.90", r"\$18.90", 1),
        (r"\boxed{4}, or rather \boxed{9}", "9", 1),
        (r"\boxed{(1, 2)}, or rather \boxed{(3, 4)}", "(3, 4)", 1),
        (r"\boxed{\frac{1}{2}} no, \boxed{\frac{\sqrt{3}}{2}}", r"\frac{\sqrt{3}}{2}", 1),
        (r"$x$ is \boxed{4} or \boxed{9}", r"\{4, 9\}", 1),
        (r"\boxed{4} and \boxed{9}", "4, 9", 1),
        (r"\boxed{1} \boxed{2,500}", "2,500", 1),
        (r"<think>\boxed{9}</think>\boxed{4}", "9", 0),
        (r"<think>\boxed{9}", "9", 0),
        ("3*pi/2 + 1", r"1 + \frac{3\pi}{2}", 1),
        ("The answer is e^16 - 1.", "e^{16} - 1", 1),
        ("-sqrt(5)/2", r"-\frac{\sqrt{5}}{2}", 1),
        ("2^(1/3)", r"\sqrt[3]{2}", 1),
        ("e^(2*x)", "e^{2x}", 1),
        ("2**10", "1024", 1),
        ("1.6e-19", r"1.6 \times 10^{-19}", 1),
        (r"\boxed{9.1 \times 10^{-31}}", r"9.1 \times 10^{-31}", 1),
        (r"\boxed{10^{-20}}", "0", 0),
        (r"$E = 1.38 \times 10^{-23}$", "6.63e-34", 0),
        (r"$\{10^{-20}, 1\}$", r"\{10^{-25}, 1\}", 0),
        (r"\boxed{1, 3, \ldots, 2n - 1}", r"3, 1, \dots, 2n - 1", 0),
        (r"1, 3, \ldots, 2n", r"1, 3, \ldots, 2n", 1),
    ],
)
def test_math_verify_compares_expressions(prediction, reference, outcome):
    """The last box counts, and small numbers are as they are."""
    assert check([[prediction]], [reference], "math_verify") == [[outcome]]


def test_roots_that_are_equal_are_one_answer_in_a_vote():
    scores = CONS_AT_K.compute(
        predictions=[["$\\sqrt{12}$", "$2\\sqrt{3}$", "1", "1", "$\\sqrt{12}$"]],
        references=["7"],
        check_correct_fn="math_verify",
        merge_right=False,
        k=[5],
    )
    assert scores["vote@5"] == 0.0
    answers = {named_checkers.verify_math(x, "7")[1] for x in ("$\\sqrt{12}$", "$2\\sqrt{3}$")}
    assert answers == {"2*sqrt(3)"}


VOTES: dict[str, Any] = {
    "predictions": [["so 31", "31", "62/2", None, "it is 31"], ["$17/2$", "8.5", "no idea", "9"]],
    "references": ["31", "17/2"],
    "check_correct_fn": "math_verify",
    "k": 2,
}


@pytest.fixture
def parsed(monkeypatch):
    """The texts that math-verify reads in this process, of which none is remembered."""
    texts = []
    parse = named_checkers._parse_math.__wrapped__

    def counted_parse(text):
        texts.append(text)
        return parse(text)

    monkeypatch.setattr(named_checkers, "_parse_math", counted_parse)
    return texts


def test_votes_with_math_verify_read_each_sample_once(parsed):
    CONS_AT_K.compute(**VOTES, executor=SimpleNamespace(map=map))
    samples = [sample for row in VOTES["predictions"] for sample in row if sample]
    read = [text for text in parsed if text not in VOTES["references"]]
    assert sorted(read) == sorted({*samples} - {*VOTES["references"]})


@pytest.mark.parametrize("workers", [{}, {"num_proc": 2}])
def test_votes_with_math_verify_read_samples_in_the_workers_only(parsed, workers):
    scores = CONS_AT_K.compute(**VOTES, **workers)
    assert {*parsed} == {*VOTES["references"]}
    # Of the pairs of samples of the second question, one elects only "9", and two have a tie.
    assert scores["vote@2"] == pytest.approx((1 + (3 + 2 / 2) / 6) / 2)


def answer_codes(checked):
    return None if checked.answers is None else checked.answers.tolist()


def test_checks_that_are_kept_after_a_failure_keep_their_answers():
    class Failing:
        def map(self, check, batches):
            yield check(batches[0])
            raise RuntimeError("lost")

    rows = stored(read_samples(VOTES["predictions"][:1]), ["31"])
    whole = Checking("math_verify").check(rows)
    cache: dict[str, Any] = {}
    failing: Any = Failing()
    with pytest.raises(RuntimeError, match="lost") as caught:
        Checking("math_verify", executor=failing).check(rows, cache)
    assert caught.value.__notes__ == [
        "1 finished checks are kept: compute again with the same check_correct_fn to check the "
        "others."
    ]
    resumed = Checking("math_verify").check(rows, cache)
    assert answer_codes(resumed) == answer_codes(whole) == [0, 0, 0, -1, 0]
    assert resumed.outcomes.values.tolist() == [1, 1, 1, 0, 1]


def test_math_verify_has_a_time_limit_in_a_thread(monkeypatch):
    monkeypatch.setattr("at_k.checkers.named.LONGEST_CHECK", 2)
    samples = [["1/2", "$9^{9^{9^{9}}}$"]]
    with ThreadPoolExecutor(1) as thread, pytest.warns(UserWarning, match="1 of 2 distinct"):
        assert thread.submit(check, samples, ["0.5"], "math_verify").result() == [[1, 0]]


def test_an_old_math_verify_finds_no_reference_in_a_thread(monkeypatch):
    """Version 0.5.2 hides that it cannot set a signal there, and finds no answer in any text."""
    monkeypatch.setattr(named_checkers.math_verify_library(), "parse", lambda *_, **__: [])
    with (
        ThreadPoolExecutor(1) as thread,
        pytest.raises(ValueError, match="none outside of the main thread"),
    ):
        thread.submit(check, [["171"]], ["171"], "math_verify").result()


def test_a_library_that_catches_all_errors_cannot_hide_that_time_is_up(monkeypatch):
    """Version 0.5.2 finds no answer in a text that it reads for too long."""

    def parse(text, **no_limit):
        try:
            while "slow" in text:
                pass
        except Exception:
            return []
        return [text]

    monkeypatch.setattr(named_checkers.math_verify_library(), "parse", parse)
    monkeypatch.setattr(named_checkers, "TIME_LIMIT", 0.1)
    for text, result in (("slow", (named_checkers.TIMED_OUT, None)), ("fast", (0, "fast"))):
        assert named_checkers.verify_math(text, "no text") == result


def test_math_verify_does_not_run_in_a_pool_of_threads():
    with ThreadPoolExecutor(1) as executor, pytest.raises(ValueError, match="has no time limit"):
        check([["1/2"]], ["0.5"], "math_verify", executor=executor)


# --- Warnings -----------------------------------------------------------------------------


@pytest.mark.parametrize("samples", [[["so 12", "it is 12"], ["7 apples", None]], [["x"], ["y"]]])
def test_exact_match_warns_if_every_sample_of_a_run_of_texts_is_incorrect(samples):
    scored = sum(sample is not None for row in samples for sample in row)
    message = f"None of the {scored} scored samples equals its reference: .*numeric.*math_verify"
    with pytest.warns(UserWarning, match=message):
        check(samples, ["12", "7"])


@pytest.mark.parametrize("references", [["12", "8"], [["12", "thirteen"], ["8"]]])
def test_exact_match_warns_if_texts_contain_their_reference(references):
    """Unless these texts are at most a tenth of those that equal it."""
    samples = [["The answer is 12.", "12", "It is 121.", None], ["7 or 8", "so 8", "9 apples"]]
    message = "3 of the first 6 samples contain their reference but do not equal it: exact_match"
    with pytest.warns(UserWarning, match=message):
        check(samples, references)


def test_samples_that_are_counted_are_as_many_as_their_counts():
    answers = [["12", "so 12", "it is 12"], ["8"]]
    compute = at_k.load("gpassk").compute
    options = {"references": ["12", "8"], "k": 1, "include": "pass@k"}
    most_equal = {"answers": answers, "counts": [[98, 1, 1], [4]]}
    assert compute(predictions=most_equal, **options)["pass@1"] == pytest.approx(0.99)
    most_contain = {"answers": answers, "counts": [[1, 40, 59], [4]]}
    message = "99 of the first 104 samples contain their reference but do not equal it"
    with pytest.warns(UserWarning, match=message):
        compute(predictions=most_contain, **options)


@pytest.mark.parametrize(
    ("samples", "references", "checker"),
    [
        ([["so 12", *["12"] * 6], ["7"] * 4], ["12", "7"], "exact_match"),
        ([["112", "12"], ["17 apples", "7"]], ["12", "7"], "exact_match"),
        ([["13"], ["8"]], ["12", "7"], "numeric"),
        ([[13], [8]], [12, 7], "exact_match"),
    ],
)
def test_other_runs_give_no_warning(samples, references, checker):
    check(samples, references, checker)  # the tests are run with warnings as errors


@pytest.mark.parametrize("workers", [{}, {"num_proc": 2}])
def test_samples_that_run_into_the_time_limit_of_math_verify_are_counted(monkeypatch, workers):
    monkeypatch.setattr(named_checkers, "TIME_LIMIT", 1)
    slow = r"$(10^{7})!$"
    message = "1 of 3 distinct samples ran into the time limit of 1 s of math-verify, and count as"
    with pytest.warns(UserWarning, match=message):
        outcomes = check([["3", slow, slow], ["4"]], ["3", "4"], "math_verify", **workers)
    assert outcomes == [[1, 0, 0], [1]]


def test_a_sample_that_equals_the_text_of_its_reference_needs_no_time():
    assert check([[r"$(10^{7})!$"]], [["3", r"$(10^{7})!$"]], "math_verify") == [[1]]


# --- math-verify that cannot be imported --------------------------------------------------


@pytest.mark.parametrize(
    "error", [ModuleNotFoundError("No module named 'math_verify'"), AttributeError("no x")]
)
def test_a_math_verify_that_cannot_be_imported_is_an_error_with_the_reason(monkeypatch, error):
    imported = builtins.__import__

    def failing(name, *arguments):
        if name == "math_verify":
            raise error
        return imported(name, *arguments)

    monkeypatch.delitem(sys.modules, "math_verify", raising=False)
    monkeypatch.setattr(builtins, "__import__", failing)
    reason = f"pip install math-verify.*: {type(error).__name__}: {error}"
    with pytest.raises(ImportError, match=reason):
        check([["3"]], ["3"], "math_verify")
