"""How `choice` reads a reference and the option that a response chooses."""

import at_k
import pytest
from at_k.checkers.choices import read_choice, read_options
from conftest import ROOT

PLANETS = {"options": ["Venus", "Mars", "the Moon", "Mars and the Moon"], "answer": "B"}


def chosen(text, reference="A"):
    options = read_options(reference)
    assert options is not None
    return read_choice(text, options)


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        # the last mark counts, with the letter after it, or a correction
        (r"\boxed{\textbf{(D) } 12}", "D"),
        ("The answer is \u201cD\u201d.", "D"),
        ("That leaves us with D.", "D"),
        ("First D.\n\nThe answer is D\n\nQ: 2 + 2?\nThe answer is A", "D"),
        ("Answer: A\nActually no, D.", "D"),
        ("(A), surely</think>D", "D"),
        ("故答案是\uff1aD。", "D"),
        ("La opción correcta es la D.", "D"),
        ("Верный ответ — D", "D"),
        ("A ist falsch.\nSvar: D", "D"),
        # a letter that is alone, at the start, at the end, named, or called correct
        ("<b>D</b>", "D"),
        ("<D>", "D"),
        ("D) 12 m\n\nA) is too small.", "D"),
        ("B \u2013 because of the tides", "B"),
        ("Option D\n\nOption B is close.", "D"),
        ("**D**\n\nExplanation: Option A melts, whereas option B boils.", "D"),
        ("2 < 3 \u21d2 B", "B"),
        ("The best answer in this case is D: it is colder than A.", "D"),
        ("选项A错误\uff0c选项D正确", "D"),
        ("D is correct. A would be correct if it were colder.", "D"),
        ("A) Wrong.\nB) Wrong.\nD) Correct.", "D"),
        ("Each option:\nA) Too low\nB) Too low\nC) Too low\nD) High\n\nSo D is correct.", "D"),
        ("A. Low: no\nB. Low: no\nD. High: yes", "D"),
        ("A? No, D.", "D"),
        # no letter, or several
        ("Answer: (A)/(D)", None),
        ("答案\uff1aA或B", None),
        ('{"answer": ["A", "D"]}', None),
        ("Option A: 5\nOption B: 6\nOption D: 8", None),
        ("The answer is F = ma.", None),
        ("D' is the image of D.", None),
        ("<D>Saturn</D>", None),
        ("Vitamin D is the most plausible.", None),
    ],
)
def test_a_letter_is_read_as_a_person_reads_it(text, letter):
    assert chosen(text) == letter


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("Mars or Venus", None),
        ("Venus is too hot. So it must be the moon!", "C"),
        ("The answer is Mars, not Venus.", "B"),
        ("Not Mars.", None),
        ("Not the moon, nor Venus: Mars.", "B"),
        ("Answer: Venus, because Mars is colder.", "A"),
    ],
)
def test_the_text_of_an_option_is_a_choice_where_the_reference_has_the_options(text, letter):
    assert chosen(text, PLANETS) == letter


@pytest.mark.parametrize(
    ("reference", "text", "word"),
    [
        # a word after a mark, or with which a text starts, counts before all others
        ("no", "The answer is no, yes would be too easy.", "NO"),
        ("no", "**No**\n\nReason: whoever says yes is mistaken.", "NO"),
        ("yes", "Yes. Nobody said no.", "YES"),
        ("false", "False, although it is true that 2 < 3.", "FALSE"),
        ("yes", "The answer is yes or no.", None),
        # "no" before a noun, and a word that is denied, are no answer
        ("no", "No-one can say.", None),
        ("true", "The claim is never true.", None),
        ("true", "It isn't true.", None),
        ("false", "It would be false for x = 1.", None),
        ("true", "It is false. I mean, that cannot be true.", None),
    ],
)
def test_yes_and_no_are_read_as_answers_and_not_as_words(reference, text, word):
    assert chosen(text, reference) == word


@pytest.mark.parametrize(
    ("reference", "correct"),
    [
        *(("C", "C"), ("(c)", "C"), ("yes", "YES"), ("False", "FALSE")),
        (PLANETS | {"answer": 2}, "C"),
        (PLANETS | {"answer": "mars."}, "B"),
        ({"choices": {"text": ["x", "y"], "label": ["A", "B"]}, "answer": "B"}, "B"),
        # Labels say which option is which, in any order.
        ({"choices": {"text": ["x", "y"], "label": ["B", "A"]}, "answer": "B"}, "B"),
        ({"choices": {"text": ["2", "3"], "label": ["1", "2"]}, "answer": "2"}, "B"),
        ({"options": {"B": "x", "A": "y"}, "answer": "x"}, "B"),
        ({"options": ["q", "B"], "answer": "B"}, "B"),
        (PLANETS | {"answer": None, "answer_index": 2}, "C"),
    ],
)
def test_the_forms_of_a_reference(reference, correct):
    options = read_options(reference)
    assert options is not None
    assert options.correct == correct


def test_a_list_of_the_options_is_no_choice():
    reference = {"options": ["4", "5", "6", "7"], "answer": "D"}
    assert chosen("A. 4\nB. 5\nC. 6\nD. 7", reference) is None
    assert chosen("A. 4\nB. 5\nC. 6\nD. 7\nSo it is 6.", reference) == "C"


@pytest.mark.parametrize("repeated", ["**", "#", "[", "\\boxed{", "\n"])
@pytest.mark.parametrize("reference", ["A", "yes", PLANETS])
def test_marks_that_a_model_repeats_are_no_choice(repeated, reference):
    # This takes many minutes if a pattern takes a time that is quadratic in their number.
    assert chosen(repeated * 5_000, reference) is None


@pytest.mark.parametrize("repeated", ["\n", " \n", "**\n", ". \n"])
def test_lines_that_a_model_repeats_after_its_choice_take_linear_time(repeated):
    assert chosen(f"The answer is B{repeated * 20_000}x", "B") == "B"


@pytest.mark.parametrize(
    "reference",
    [
        *("AB", "maybe", 3, "", PLANETS | {"answer": "E"}, {}, None),
        {"options": ["B", "A"], "answer": "B"},  # the letter, or the text of A
        {"options": ["x", "$x$", "y"], "answer": "x"},
        {"options": ["None", "One"], "answer": None},
        ["A", "yes"],
    ],
)
def test_a_reference_that_is_no_choice_is_an_error_with_its_index(reference):
    with pytest.raises(ValueError, match=r"references\[1\] .*choice compares with a letter"):
        at_k.load("gpassk").compute(
            predictions=[["A"], ["B"]], references=["A", reference], check_correct_fn="choice", k=1
        )


def test_letters_are_voted_on_and_words_are_compared():
    scores = at_k.load("cons_at_k").compute(
        predictions=[
            ["(B)", "Answer: B", "C", "I do not know"],
            ["No.", "The answer is no", "Yes"],
        ],
        references=["B", "no"],
        check_correct_fn="choice",
    )
    assert scores["vote@n"] == 1.0
    assert scores["avg@n"] == pytest.approx((1 / 2 + 2 / 3) / 2)


def test_the_warning_about_exact_match_names_choice():
    with pytest.warns(UserWarning, match="'choice' compares the option"):
        at_k.load("gpassk").compute(
            predictions=[["The answer is A."], ["No."]], references=["A", "no"], k=1
        )


def test_named_checkers_take_texts_with_which_a_response_ends():
    checkers = {
        at_k.checkers.numeric(stop=["Exercise"]): ("It is 7. Exercise 8", "7"),
        at_k.checkers.choice(stop="###"): ("B\n### (C)", "B"),
        at_k.checkers.math_verify(stop=["Exercise"]): (r"$\sqrt{2}$ Exercise: $3$", r"\sqrt{2}"),
    }
    for checker, (text, reference) in checkers.items():
        scores = at_k.load("gpassk").compute(
            predictions=[[text]], references=[reference], check_correct_fn=checker, k=1,
            include="pass@k",
        )  # fmt: skip
        assert scores == {"pass@1": 1.0}, checker
    with pytest.raises(ValueError, match="stop has 3: give texts"):
        at_k.checkers.numeric(stop=[3])  # type: ignore[list-item]


@pytest.mark.parametrize("authors", ["", "-of-many-models", "-of-current-models"])
def test_the_texts_of_the_study_are_read_as_a_person_reads_them(monkeypatch, authors):
    monkeypatch.syspath_prepend(ROOT / "tests/benchmarks")
    from extraction import read_cases, wrong_verdicts

    assert not wrong_verdicts("choice", read_cases(f"letters{authors}"))
