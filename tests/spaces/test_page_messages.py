"""Messages of errors in the words of a page."""

import pytest
from at_k.core.checks import FROM_0, SAMPLE, Index, InputError, InPython, Place, RunName

pytest_plugins = ["space_fixtures"]

LIKE_A_PLACE = "'predictions[0][1] of question 4, row 3 (from 0)'"


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (
            [Place("predictions", 1, 1), f" is {LIKE_A_PLACE}."],
            f"Answer 2, verdict 2 is {LIKE_A_PLACE}.",
        ),
        (["k is 3, but ", Place("question", 0), " has n = 2."], "k is 3, but answer 1 has n = 2."),
        (
            [Place("references", 0), " is bad", InPython(", or a function"), "."],
            "The reference of answer 1 is bad.",
        ),
        ([Place("predictions", 2, key="n"), " is -1."], "The entry of n for answer 3 is -1."),
        (
            ["a.csv, rows ", Index(0), " and ", Index(1), FROM_0, " differ."],
            "a.csv, rows 1 and 2 differ.",
        ),
        ([RunName("text: "), Place("Question", 1), " has no ", SAMPLE], "Answer 2 has no verdict"),
    ],
)
def test_a_page_words_the_parts_of_an_error(page, parts, message):
    error = InputError(*parts)
    assert (
        page.messages.message_for_page(error, "answer", "verdict", show_run_names=False) == message
    )


def test_a_page_keeps_names_of_files_and_other_messages(page):
    error = InputError(RunName("a.csv: "), Place("predictions", 0), " is empty.")
    assert page.messages.message_for_page(error, "row", "sample") == "a.csv: Row 1 is empty."
    assert page.messages.message_for_page(ValueError(LIKE_A_PLACE), "row", "sample") == LIKE_A_PLACE
