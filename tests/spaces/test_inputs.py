"""How a page reads what visitors paste and upload, and what it refuses."""

import json
import re

import pytest
from browsing import (
    choose_source,
    note,
    opened,
    paste,
    sentence,
    take_screenshot,
    upload,
    wait_for_change,
    wait_for_problem,
)

pytest_plugins = ["space_fixtures"]

# The code that reads inputs is the same for all Spaces. Only score_agg has other words for them.
BOTH_WORDINGS = ["gpassk", "score_agg"]


@pytest.mark.parametrize("space", BOTH_WORDINGS, indirect=True, scope="session")
def test_pasted_csv_with_one_sample_in_each_row_or_with_counts_is_scored(browser, space):
    if space.name == "score_agg":
        text = "question,verdicts\nq1,fully\nq1,none\nq2,mostly\nq2,minor\n"
    else:
        text = "question,prediction,reference\nq1,12,12\nq1,13,12\nq2,7,7\nq2,7,7\n"
    with opened(browser, space) as page:
        before = sentence(page)
        choose_source(page, "Paste")
        choose_source(page, "Files")
        choose_source(page, "Paste")
        page.wait_for_selector("#text textarea")
        characters = page.get_attribute("#text textarea", "maxlength")
        # A browser must not cut a text that is too large to one that is scored.
        assert characters is None or int(characters) > 2 << 20
        assert not page.locator(".problem:visible, .previous:visible").count()
        page.fill("#text textarea", text)
        before = wait_for_change(page, before)
        assert re.match(r"2 \w+, 2 \w+ each\.", note(page))
        paste(page, "question_id,n,correct\nq1,6,2\nq2,6,6\nq3,6,0\n")
        wait_for_change(page, before)
        graded = "" if space.name == "score_agg" else ", already graded"
        assert re.match(rf"3 \w+, 6 \w+ each{graded}\.$", note(page).split(" k was")[0])


CLEAR = "#files button[aria-label='Clear']"
LM_EVAL = ("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter")


def bad_texts(space):
    """Return texts that cannot be scored, with a part of the message for each."""
    row = "Item" if space.name == "score_agg" else "Question"
    bad = {
        '{"predictions": [': "line 1: invalid JSON",
        "openai/gsm8k": "can be the name of a dataset, but the Hub cannot be reached",
        '{"text": "1"}': "no column with a usual name for samples. The columns are text. Name a "
        'column "predictions" or "outcomes".',
        "sample\n1\n0": "no column with a usual name for samples. The columns are sample. Name a "
        'column "predictions" or "outcomes".',
        "[" * 100_000: "nested too deep",
        '{"outcomes": []}': "is empty",
        '{"outcomes": null}\n{"outcomes": [1]}': f"{row} 1 is None: each {row.lower()} has a list",
        "id,model,outcome\nq1,a,1\nq1,b,0": "different values of model: 'a', 'b'. They can be "
        "different runs or questions. Give each run as a file of its own, or leave out the column "
        "model if all samples are of one run.",
        f"{','.join(LM_EVAL)}\n0,a,7,p,7,7,x\n0,a,7,p,7,7,y": "The rows of each filter hold the "
        "same responses, which would be counted 2 times: choose one filter. Choose its rows, or "
        "leave out the others.",
        '{"samples": ["1"], "answer": "1", "outcomes": [1]}': "has graded outcomes. Choose one, or "
        "leave out the columns that are not meant.",
        '{"outcomes": [null]}': "has no sample that is scored: all 1 are missing.",
    }
    if space.name != "score_agg":
        bad['{"predictions": ["1"]}'] = "Question 1, sample 1 is '1', not a number."
    return bad


@pytest.mark.parametrize("space", BOTH_WORDINGS, indirect=True, scope="session")
def test_bad_text_shows_a_message_and_no_chart(browser, space):
    with opened(browser, space) as page:
        choose_source(page, "Paste")
        for text, message in bad_texts(space).items():
            page.fill("#text textarea", text)
            wait_for_problem(page, message)
        take_screenshot(page, f"{space.name}-problem")
        choose_source(page, "Table")
        page.wait_for_selector(".problem", state="hidden")
        page.wait_for_selector(".previous", state="detached")


@pytest.mark.parametrize("space", ["gpassk"], indirect=True, scope="session")
def test_a_row_without_a_reference_is_named(browser, space):
    with opened(browser, space) as page:
        page.locator("#table").get_by_test_id("cell-2-0").dblclick()
        page.wait_for_selector("#table textarea[aria-label='Edit cell']")
        page.keyboard.press("Control+A")
        page.keyboard.press("Delete")
        page.keyboard.press("Enter")
        wait_for_problem(page, "Row 3 has no reference, but other rows have one.")


@pytest.mark.parametrize("space", ["gpassk"], indirect=True, scope="session")
def test_uploads_that_are_too_large_or_not_readable_are_refused_with_a_sentence(
    browser, space, tmp_path
):
    row = '{"outcomes": [1, 0]}\n'
    uploads: dict[str, dict[str, str | bytes]] = {
        "The limit for a file, and for a text, is 2 MB.": {"large.jsonl": row * 120_000},
        "10,001 questions are too many. The limit is 10,000.": {"long.jsonl": row * 10_001},
        "The name of a file must end in one of": {"<img src=x onerror='window.hacked=1'>.txt": row},
        "has no questions": {"head.csv": "question,prediction,reference\n"},
        "9 files are too many": {f"{number}.jsonl": row for number in range(9)},
        "One file has references": {"a.jsonl": row, "b.csv": 'prediction,reference\n"[""1""]",1'},
        "latin.csv, line 2: the text is not UTF-8 (invalid start byte), but may be Latin-1": {
            "latin.csv": "question,prediction,reference\nq,Köln,Köln".encode("latin1")
        },
    }
    with opened(browser, space) as page:
        for message, files in uploads.items():
            for name, text in files.items():
                (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
            upload(page, *(tmp_path / name for name in files))
            wait_for_problem(page, message)
            assert not page.locator("img[src=x]").count()
            page.click(CLEAR)
            page.wait_for_selector(CLEAR, state="detached")


HOSTILE = '<img src=x onerror="window.hacked=1"> {{7*7}} ${window.hacked=1} **b** [a](http://x.y)'


@pytest.mark.parametrize("space", ["gpassk"], indirect=True, scope="session")
def test_text_of_a_visitor_never_becomes_html(browser, space, tmp_path):
    row = {"outcomes": [1, 0, 0], "group": HOSTILE, HOSTILE: 1}
    file = tmp_path / "<img src=x onerror=alert(1)>${7*7}.jsonl"
    file.write_text(json.dumps(row) + "\n")
    with opened(browser, space) as page:
        before = sentence(page)
        upload(page, file)
        wait_for_change(page, before)
        choose_source(page, "Paste")
        paste(page, json.dumps({HOSTILE: 1}))
        wait_for_problem(page, HOSTILE[:50])  # the message shortens a long name
        assert page.evaluate("window.hacked") is None
        assert not page.locator("img[src='x'], .problem a, .problem strong").count()
