"""How `numeric` reads a number in a reference and in a response."""

import re

import numpy as np
import pytest
from at_k.checkers.numbers import equal_forms, read_reference, read_response
from conftest import ROOT
from scored import check, cons_at_k

GUIDE = ROOT / "shared/site/pages/checkers.md"

BOTH = [  # what references and responses have in common
    ("12", "12"),
    ("\u22125", "-5"),
    ("minus 5", "-5"),
    ("-0", "0"),
    ("0.50", "0.5"),
    (".5", "0.5"),
    ("2e3", "2E+3"),
    ("1,234,567.8", "1234567.8"),
    ("1,23,456", "123456"),
    ("1'000", "1E+3"),
    ("1_000", "1E+3"),
    ("1.234.567", "1234567"),
    ("1.000,5", "1000.5"),
    ("12{,}345", "12345"),
    (r"12\,345", "12345"),
    (r"\$12,\!345,\! 678", "12345678"),
    (r"-\$3.50", "-3.5"),
    ("USD 5", "5"),
    ("5 million", "5E+6"),
    ("1/2", "0.5"),
    ("-1/3", "-1/3"),
    ("1 1/2", "1.5"),
    ("1½", "1.5"),
    (r"\frac{3}{4}", "0.75"),
    (r"-\dfrac{1}{3}", "-1/3"),
    (r"\frac{-1}{3}", "-1/3"),
    (r"1\frac{1}{2}", "1.5"),
    (r"$\boxed{\frac{1}{2}}$", "0.5"),
    ("50%", "5E+1%"),
    (r"50\%", "5E+1%"),
    ("12.5 percent", "12.5%"),
    (r"3 \times 10^{4}", "3E+4"),
    ("3 \u00d7 10⁻²", "0.03"),
    ("10^6", "1E+6"),
    ("5 km/h", "5"),
    (r"5 \text{ cm}", "5"),
    (r"90^\circ", "9E+1"),
    ("x = 5", "5"),
    ("so 5 + 7 = 12\n#### 12", "12"),
    ("١٢", "12"),
    ("1" * 5000, "1" * 5000),
    # --- what is no number
    (r"\frac{x}{2}", None),
    ("2π", None),
    ("[0,1]", None),
    ("x <= 5", None),
    (r"x \leq 5", None),
]


@pytest.mark.parametrize(("text", "number"), BOTH)
def test_references_and_responses_are_read_alike(text, number):
    assert read_reference(text) == number
    assert read_response(text) == number


@pytest.mark.parametrize(
    "reference",
    [
        *("1,5", "2, 3", "5!", "|5|", "f(5)", "5 of 10", "x = 2, y = 3", "12 34", "A) 5"),
        r"x is \boxed{2} or \boxed{3}",
    ],
)
def test_a_reference_that_is_not_one_number_is_refused(reference):
    assert read_reference(reference) is None
    message = rf"references\[1\] is .*{reference[:1]}.*one number.*math_verify"
    message = message.replace("|", r"\|")
    with pytest.raises(ValueError, match=message):
        check([["1"], ["2"]], ["1", reference], "numeric")


RESPONSES = [
    # the first number after a mark counts, and not the last number
    ("The answer is 12, because 12 > 5.", "12"),
    ("The answer is 2 + 6 which equals 10.", "1E+1"),
    ("The answer is not 12 but 13", "13"),
    ("The answer is\n\n**12**\n\nNote that 5 is odd", "12"),
    ("Answer: $1,200 for 3 people", "1.2E+3"),
    ("Answer: 21 = 3 * 7", "21"),
    ("Answer: - 12", "-12"),
    ("Answer:\n- 12", "12"),
    ("The answer is:\n\n$$\n6\n$$\n(8 is wrong)", "6"),
    ("| of | 8 |\n| answer | 6 |\n| pages | 9 |", "6"),
    ('{"result": 31, "retries": 2}', "31"),
    ('{"answer": null, "retries": 2}', None),
    ("\\boxed{\\text{(C) } 62}", "62"),
    # the last mark counts, of whichever kind, or a correction after it
    (r"\boxed{1} no, \boxed{\text{about } 2 \text{ km}} of 3", "2"),
    ("#### 8\n<answer>6</answer>", "6"),
    ("The answer is 12. Wait, that's wrong. It's 14.", "14"),
    ("The answer is 12. Wait, that is right.", "12"),
    ("Answer: 7? No, 8.", "8"),
    ("It holds 7, no, 8 cups.", "8"),
    ("The answer is 7. Let me recount: 4 + 4 = 8.", "8"),
    # thinking
    ("6 <think>8</think>", "6"),
    ("[THINK]8", None),
    # languages
    ("La respuesta correcta es 6 de 8", "6"),
    ("答え\uff1a6\uff088個中\uff09", "6"),
    ("En total son los 4.500 pesos.", "4.5E+3"),
    ("The answer is 4.500 dollars.", "4.5"),
    # no single number after a mark
    ("The answer is (3, 4).", None),
    (r"\boxed{(3, 4)} and 5", None),
    (r"\boxed{2(x + 1)}", None),
    ("The answer is from 6 to 8", None),
    ("The answer is 8 und 9.", None),
    ("Answer: 3, 4 and 5", None),
    ("The answer is a = 3, b = 4.", None),
    ("Answer: 3 cats and 4 dogs", None),
    ("Answer: undefined (0 in the denominator)", None),
    ("The answer can't be determined from 4 sides.", None),
    # the end of a turn, and other remarks
    ("The total is 8.</s>81", "8"),
    ("It is 8, although it could be 9.", None),
    ("The sum is 8 + ", None),
    ("To solve the equation 61 + 18 =", None),
    ("Consider the problem 3 times 9 with care", None),
    ("35 is not equal to 35 + 15.", None),
    # lists with words, and amounts with labels
    ("She bought 3 pens on Monday, 4 on Friday and 5 today.", None),
    ("The roots are 1, 4 or 9.", None),
    ("- Red: 4 marbles\n- Blue: 9 marbles", None),
    ("- Red: 4 marbles\n- Blue: 9 marbles\n- Total: 13 marbles", "13"),
    # without a mark, the first number after the last word of a result in the last sentence
    ("It is 3 times 9, which is 27.", "27"),
    ("P = 1/6 ≈ 0.17", "1/6"),
    ("It equals 3(10 + 15), or 75.", "75"),
    ("Max is 4 more than 9, so 13.", "13"),
    ("31 euros, 3 times the price", "31"),
    ("He had 12, and 5 were lost, so he has 7.", "7"),
    ("He has 3 * 4", None),
    # or else the only one that does not explain another one
    ("Each of the 3 boats carries 8 people.", "8"),
    ("He rode for 3 hours and covered 31 miles.", "31"),
    ("The price fell by 4% to $31.", "31"),
    ("You roll it 6 times before you see a 4.", "6"),
    ("Recibe 7 euros por las 5 horas.", "7"),
    ("The bus drives 31 miles in 2 hours.", "31"),
    ("Ada sold 41 cones more than Bob, who sold 12.", "41"),
    ("还剩8天\uff0c比原来少2天", "8"),
    ("17 is the 5th number.", "17"),
    # a clause that explains is not read, unless there is nothing else
    ("She saved 6 coins, whereas 2 + 9 = 11 were spent.", "6"),
    ("The least value is -4, at x = 3.", "-4"),
    ("So when x is 3 the value is 8.", "8"),
    ("Counting the 2 at the door, we get to 8.", "8"),
    ("Sind nach 3 Tagen noch 8 da.", "8"),
    ("Out of 30, with 4 absent, 8 are new.", "8"),
    ("8 are new. This is because it was 30 before.", "8"),
    ("With 30", "3E+1"),
    # nor is a remark, a question, or the number of an item
    ("It has 31 floors.\nSource: page 7", "31"),
    ("It has 31 floors. Feel free to ask 2 more questions.", "31"),
    ("It has 31 floors. Would it have 12 in 1999?", "31"),
    ("n = 31. Let me double-check: 2 * 31 = 62, as required.", "31"),
    ("Note: a box has 4 pens.\nSo there are 31 pens.", "31"),
    # bold, and headings
    ("It holds **8**.\n\nIt has 2 other lids.", "8"),
    ("**Step 1: Add 4**\n27 + 4 = 31\n\nIt has 31 floors.", "31"),
    # two results, a refusal, or no single number
    ("Ann has 31 cards and Bob has 28.", None),
    ("It could be 31 or it could be 28.", None),
    ("The longer one takes 31 days; hers takes 28.", None),
    ("With 31 it is unclear.", None),
    ("It holds 31. I am not sure about it.", None),
    ("She drove 31 miles, he 28.", None),
    ("So 31 cost 7 *", None),
    ("half past 7", None),
    ("It opened on 3 May 1999.", None),
    ("entre 6 et 8", None),
    ("at most 6", None),
    ("$y = 1$ and $y = -1$", None),
    (r"$y = 2 \pm \sqrt{3}$", None),
    ("I cannot determine it from these 3 facts.", None),
    ("用时 2小时30分钟", None),
    ("The shop opens at 9 pm.", None),
    ("It costs $7K.", None),
    ("2 dozen rolls", None),
    ("x = 1.666...", None),
]


@pytest.mark.parametrize(("response", "number"), RESPONSES)
def test_the_number_that_a_response_gives_as_its_answer(response, number):
    assert read_response(response) == number


@pytest.mark.parametrize(
    "prompt",
    [
        *("Aufgabe 2: 9 mal 9?\nAntwort: 81", "Ejercicio: 9 por 9\nRespuesta: 81"),
        *("Задача 3: 9 * 9 = 81", "問題\uff1a9*9\n答え\uff1a81", "题目\uff1a9*9\n答案\uff1a81"),
        *("3. Question: 9 * 9\nAnswer: 81", "Exercise\n9 * 9\nAnswer: 81", "Q. 9 * 9\nA. 81"),
        *("### Problem 7.\n9 * 9\nAnswer: 81", "Exercise 7. 9 * 9\nAnswer: 81"),
        *("[Problem]\n9 * 9\n[Answer]\n81", "**Problem**\n9 * 9\nAnswer: 81"),
    ],
)
def test_a_new_prompt_of_any_form_ends_a_response(prompt):
    assert read_response(f"The answer is 5.\n\n{prompt}") == "5"
    assert read_response(f"Let us see.\n\n{prompt}") == "81"


@pytest.mark.parametrize(
    ("content", "number"),
    [
        *((r"p - q = 7", "7"), (r"\sqrt[3]{8} = 2", "2"), (r"4! = 24", "24"), (r"|x| = 9", "9")),
        *((r"\angle A = 35^\circ", "35"), (r"\text{Total cost} = \$45", "45"), ("a_{3} = 8", "8")),
        *((r"V = \frac{4}{3} \pi r^3 \approx 33.5", "33.5"), (r"45 = 3^2 \cdot 5", "45")),
        *((r"\frac{1}{4} \approx 0.3", "0.25"), (r"\frac{n}{2} = 3.5 \text{ cm}", "3.5")),
        *(("4x = 12", None), ("x = 1, y = 2", None), ("x = 1 \\text{ or } x = 2", None)),
        *(("y = x + 1", None), (r"A = 4\pi", None), ("x^2 = y", None)),
    ],
)
def test_an_equation_in_a_box_is_its_single_number(content, number):
    assert read_response(rf"So $\boxed{{{content}}}$.") == number


def test_a_response_ends_with_a_text_of_its_own():
    assert read_response("so 6 STOP so 8") == "8"
    assert read_response("6 STOP 8 END 9", ["END", "STOP"]) == "6"


@pytest.mark.parametrize(
    ("mark", "number"),
    [
        *(("\nQ: ", 30_000), ("<think>", 30_000), ("answer is ", 20_000)),
        *(
            ("[THINK]x[/THINK]", 9_000),
            ("\n", 30_000),
            (" \n", 20_000),
            (". (y)", 9_000),
            (". (9)", 3_000),
        ),
    ],
)
def test_thousands_of_marks_are_read_as_three_in_linear_time(mark, number):
    for end in ("x 1 x", "so it is 5"):
        assert read_response(number * mark + end) == read_response(3 * mark + end)


def test_a_percentage_equals_its_value_and_without_its_sign_its_number():
    assert equal_forms("5E+1%") == ["5E+1%", "0.5", "5E+1"]
    assert equal_forms("1/3") == ["1/3", "100/3%"]
    for reference, outcomes in (
        ("50%", [1, 1, 1, 1, 0, None]),
        ("50", [1, 0, 1, 0, 0, None]),
        ("1/2", [1, 1, 0, 1, 0, None]),
        ("0.5", [1, 1, 0, 1, 0, None]),
    ):
        samples = ["50 %", "0.5", "50", r"\frac{5}{10}", "0.5%", None]
        assert check([samples], [reference], "numeric") == [outcomes]
    assert check([["1e999999%", "2"]], ["2"], "numeric") == [[0, 1]]


@pytest.mark.parametrize(
    ("samples", "vote"),
    [
        (["50%", "0.5", "3", "3", "0.5"], 1.0),
        (["30%", "0.3", "3/10", "0.5", "0.5"], 0.0),  # equal answers that are incorrect
        (["30%", "30", "0.5", "0.5", "7"], 1.0),
    ],
)
def test_a_percentage_and_its_value_are_one_answer_in_a_vote(samples, vote):
    scores = cons_at_k([samples], references=["1/2"], check_correct_fn="numeric", k=5)
    assert scores["vote@5"] == vote


@pytest.mark.parametrize(
    ("part", "number"), [("9", 100_000), ("1,", 50_000), ("(1, ", 30_000), ("1 - ", 30_000)]
)
def test_long_texts_hold_a_number_if_short_ones_do_in_linear_time(part, number):
    def numbers_in(text):
        return (
            read_response(text + "x"),
            read_response("the answer is " + text),
            read_reference(text),
        )

    short, long = numbers_in(3 * part), numbers_in(number * part)
    assert [x is None for x in long] == [x is None for x in short]
    assert [x for x in long if x] == [x.replace("999", "9" * number) for x in short if x]


# --- Numbers as predictions -----------------------------------------------------------------


@pytest.mark.parametrize("checker", ["exact_match", "numeric"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floats_of_lower_precision_are_read_as_their_shortest_decimals(checker, dtype):
    values = np.array([[0.1, 0.3, 1 / 3, -2.5]], dtype)
    for predictions in (values, [list(values[0])], values):
        assert check(predictions, [0.1], checker) == [[1, 0, 0, 0]]
        assert check(predictions, [[0.3, -2.5]], checker) == [[0, 1, 0, 1]]
    assert check([[0.1], [0.7]], np.array([0.1, 0.7], dtype), checker) == [[1], [1]]


@pytest.mark.parametrize("checker", ["exact_match", "numeric"])
def test_large_integers_equal_floats_only_if_their_decimals_agree(checker):
    large = 2**53 + 1
    assert check([[float(large)]], [large], checker) == [[0]]
    assert check([[large, 0.5]], [large], checker) == [[1, 0]]
    assert check([[large, 0.5]], [large - 1], checker) == [[0, 0]]
    # The float 1e23 is below 10**23, and has its decimals.
    assert check([[1e22, 1e23]], [10**23], checker) == [[0, int(checker == "numeric")]]
    assert check(np.array([[2**63, 1]], np.uint64), [2**63], checker) == [[1, 0]]
    assert check([np.array([2**63], np.uint64), np.array([1])], [2**63, 1], checker) == [[1], [1]]


# --- The guide ------------------------------------------------------------------------------


def rows_of_the_guide():
    """Return what is read and what is not, of each row."""
    text = GUIDE.read_text(encoding="utf-8")
    table = text.partition("## How `numeric` reads a number")[2].split("\n\n")[1]
    return [row.split("|")[2:4] for row in table.splitlines()[2:]]


def test_the_table_in_the_guide_is_what_is_read():
    examples = [[re.findall(r"`([^`]+)`", cell) for cell in row] for row in rows_of_the_guide()]
    assert sum(len(read) for read, _ in examples) > 30
    for read, refused in examples:
        for text in read:
            prefix = "x = " if text == "- 5" else ""
            if text not in ("=", "x ="):
                assert read_reference(prefix + text) is not None, text
                assert read_response(prefix + text) == read_reference(prefix + text), text
        for text in refused:
            assert read_reference(text) is None, text
            assert text == "12 34" or read_response(text) is None, text


@pytest.mark.parametrize(
    ("name", "false_positives", "misses"),
    [
        *(("first", 1, 3), ("several-answers", 0, 0), ("many-models", 0, 1), ("adjusted", 0, 1)),
        *(("held-back", 0, 2), ("distracting", 0, 3), ("later", 0, 7), ("endings", 2, 1)),
        *(("current-models", 2, 1), ("current-models-later", 0, 2)),
    ],
)
def test_the_texts_of_the_study_are_read_as_the_guide_says(
    monkeypatch, name, false_positives, misses
):
    monkeypatch.syspath_prepend(ROOT / "tests/benchmarks")
    from extraction import read_cases, wrong_verdicts

    wrong = wrong_verdicts("numeric", read_cases(name))
    assert sum(case.is_correct for case in wrong) == misses
    assert len(wrong) - misses == false_positives
