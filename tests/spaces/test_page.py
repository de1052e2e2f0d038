"""What a visitor sees on a page. All pages are the same here, so that one of them is tested."""

import json
import os
import signal

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsing import (
    CHART,
    DESKTOP,
    FRESH,
    PHONE,
    SETTLED,
    STATE,
    TABLET,
    choose_source,
    note,
    opened,
    paste,
    problem,
    sentence,
    settle,
    smallest_text,
    state,
    take_screenshot,
    upload,
    wait_for_state,
)
from conftest import ROOT
from running_space import wait_for_worker

pytest_plugins = ["space_fixtures"]

SAMPLES = ROOT / "shared" / "at_k" / "samples"
TWO_FILES = [str(SAMPLES / f"smollm2_{name}.jsonl") for name in ("cool", "warm")]
SIZES = {"phone": PHONE, "tablet": TABLET, "desktop": DESKTOP}
NUMBER = "#k input"
QUESTION = "#questions details"
STALE = "The inputs have changed since. Press Score."


def opening(page):
    """Return how far a page has moved while it opened, its requests, and their bytes as sent."""
    return page.evaluate(
        """() => new Promise((done) => {
            let moved = 0;
            const add = (list) => list.getEntries().forEach((shift) => { moved += shift.value; });
            new PerformanceObserver(add).observe({type: "layout-shift", buffered: true});
            const kinds = ["navigation", "resource"];
            const files = kinds.flatMap((kind) => performance.getEntriesByType(kind));
            const bytes = files.reduce((sum, file) => sum + file.encodedBodySize, 0);
            setTimeout(() => done([moved, files.length, bytes]), 200);
        })"""
    )


def alone_in_last_row(page, parts):
    """Return the text of the last part if others are beside each other, and it is not."""
    boxes = [part.bounding_box() for part in page.locator(parts).all()]
    rows = [sum(abs(x["y"] - y["y"]) < 40 for y in boxes) for x in boxes]
    return [page.locator(parts).last.inner_text()] if max(rows) > 1 == rows[-1] else []


def test_the_page_opens_at_all_sizes_light_and_dark_with_an_example(browser, space):
    axe = Axe()
    with opened(browser, space) as page:
        moved, requests, size = opening(page)
        assert moved < 0.03
        assert requests <= 57
        assert size < 260_000
        assert sentence(page).startswith("Of 4 samples of a question, at least one is correct 88 %")
        number = page.locator(NUMBER).bounding_box()
        assert number["y"] + number["height"] <= DESKTOP["height"]
        assert page.locator("button:visible").count() <= 12
        titles = page.locator("#details h2").all_inner_texts()
        assert titles[0] == "pass@k and pass^k by k"
        assert titles[-2:] == ["Scores", "Questions"]
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.wait_for_selector("body.dark" if scheme == "dark" else "body:not(.dark)")
            for name, shape in SIZES.items():
                page.set_viewport_size(shape)
                page.wait_for_timeout(100)
                assert page.evaluate("document.documentElement.scrollWidth") == shape["width"]
                assert page.locator(f"{CHART}:visible").count() == 3
                assert 10 < smallest_text(page) < 18
                assert alone_in_last_row(page, "#checker label") == []
                assert alone_in_last_row(page, ".charts section > *") == []
                take_screenshot(page, f"gpassk-{name}-{scheme}")
            violations = axe.run(page).response["violations"]
            serious = [x for x in violations if x["impact"] in ("serious", "critical")]
            assert not serious, [(x["id"], [node["html"] for node in x["nodes"]]) for x in serious]
        page.set_viewport_size(PHONE)
        tops = [page.locator(x).bounding_box()["y"] for x in (".sentence", "#inputs", "#details")]
        assert tops == sorted(tops)
        assert tops[1] < PHONE["height"]


def test_every_example_is_scored_with_one_click(browser, space):
    with opened(browser, space) as page:
        shown = [sentence(page)]
        for button in page.locator("#examples button").all()[1:]:
            button.click()
            settle(page)
            assert sentence(page) not in shown
            shown.append(sentence(page))
            assert page.locator("#source input:checked").get_attribute("value") == "Files"
        page.locator("#examples button").first.click()
        settle(page)
        assert sentence(page) == shown[0]
        assert page.input_value("#text textarea").startswith("reference,1,2")


# --- A result and its inputs ----------------------------------------------------------------


def test_a_result_is_marked_as_soon_as_an_input_changes(browser, space):
    with opened(browser, space) as page:
        first = sentence(page)
        changes = {
            "text": lambda: page.type("#text textarea", "1"),
            "checker": lambda: page.get_by_role("radio", name="numeric").check(),
            "source": lambda: choose_source(page, "Files"),
            "file": lambda: page.set_input_files("#files input[type=file]", TWO_FILES[0]),
        }
        for name, change in changes.items():
            change()
            page.wait_for_timeout(100)
            assert state(page) == "changed", name
            assert page.locator("#state p:visible").inner_text() == STALE
            shown = page.locator("#answer")
            assert shown.evaluate("part => part.inert && getComputedStyle(part).opacity") == "0.3"
            assert sentence(page) == first
            if name == "source":
                page.wait_for_selector("#files input[type=file]", state="attached")
        page.click("#score")
        settle(page)
        assert sentence(page) != first
        assert not page.locator("#state p:visible").count()


def test_options_act_at_once_and_only_the_default_of_k_is_lowered(browser, space):
    with opened(browser, space) as page:
        page.fill("#tau input", "1")
        settle(page)
        assert sentence(page).count("%") == 2  # of at least one, and of all
        page.get_by_role("radio", name="other questions like these").check()
        settle(page)
        assert "for other questions like these" in page.inner_text(".numbers + .caption")
        assert "interval='questions'" in page.locator("#code pre").text_content()
        for text, k in ("1 0\n1 1", 2), ("1 0 1 1 1 0 1 1\n1 1 1 1 1 1 1 0", 4):
            paste(page, text)
            assert sentence(page).startswith(f"Of {k} samples")
            assert ("k was lowered to 2" in note(page)) == (k == 2)
        page.fill(NUMBER, "9")
        settle(page)
        assert "k is 9: it can be at most 8, the smallest number of samples" in problem(page)
        page.fill(NUMBER, "")
        settle(page)
        assert problem(page) == "k must be a number between 1 and 512."


def test_a_slow_request_gives_way_to_a_later_one(browser, space):
    texts = [rf"$\frac{{{number}}}{{x + 1}}$" for number in range(100)]
    questions = [{"predictions": texts, "reference": text} for text in texts[:25]]
    with opened(browser, space) as page:
        page.fill("#text textarea", "\n".join(map(json.dumps, questions)))
        page.get_by_role("radio", name="math_verify").check()
        page.click("#score")
        # The process uses no more of its time, however long the browser of a busy machine takes.
        os.kill(wait_for_worker(space), signal.SIGSTOP)
        page.wait_for_selector("#state .scoring:visible")
        take_screenshot(page, "gpassk-computing")
        page.wait_for_timeout(2500)
        assert sentence(page) == ""
        for number in (0, 1, 0, 1, 0):
            page.locator("#examples button").nth(number).click()
        settle(page)
        page.wait_for_timeout(2500)  # in which nothing of the earlier requests comes
        assert state(page) == ""
        assert page.input_value(NUMBER) == "4"
        assert page.locator("#checker input:checked").get_attribute("value") == "exact_match"
        assert sentence(page).startswith("Of 4 samples of a question, at least one is correct 88 %")


def test_what_is_refused_leaves_no_earlier_result(browser, space, tmp_path):
    (tmp_path / "large.jsonl").write_text('{"outcomes": [1, 0]}\n' * 2_000_000)
    with opened(browser, space) as page:
        paste(page, '{"predictions": [')
        assert "line 1: invalid JSON" in problem(page)
        take_screenshot(page, "gpassk-refused")
        (tmp_path / "asked.csv").write_text("id,correct\na,1\na,\n")
        upload(page, tmp_path / "asked.csv")
        page.click("#score")
        page.wait_for_selector("#choices:visible")
        page.set_input_files("#files input[type=file]", tmp_path / "large.jsonl")
        wait_for_state(page, "large")
        limit = "The file is too large: at most 40 MB are read."
        assert page.locator("#state p:visible").inner_text() == limit
        assert not page.locator("#asking:visible").count()
        assert sentence(page) == ""
        take_screenshot(page, "gpassk-too-large")


@pytest.mark.parametrize("answer", ["503", "none"])
def test_a_server_that_does_not_answer_leaves_no_earlier_result(browser, space, answer):
    def refuse(route):
        route.fulfill(status=503, body="down") if answer == "503" else route.abort()

    with opened(browser, space) as page:
        page.route("**/queue/join*", refuse)
        page.route("**/favicon.ico", refuse)
        page.click("#score")
        # Gradio may load the page again at any time, so all is asked at once.
        page.wait_for_function(
            """() => document.querySelector("#state .failed").checkVisibility()
                && !document.querySelector("#answer").checkVisibility()"""
        )
        page.unroute("**/queue/join*")
        page.unroute("**/favicon.ico")
        page.click("#score")
        page.wait_for_function(FRESH)


# --- What the rules of reading ask ------------------------------------------------------------


def test_a_page_asks_with_choices_which_hold_for_these_samples_only(browser, space):
    text = "id,strategy,correct\na,x,1\na,x,1\na,y,\na,y,1\nb,x,1\nb,x,1\nb,y,1\nb,y,0"
    with opened(browser, space) as page:
        paste(page, text)
        assert "different values of strategy" in problem(page)
        take_screenshot(page, "gpassk-asking")
        page.locator("#choices").get_by_text("Only rows with strategy = y").click()
        settle(page)
        assert "1 of 4 outcomes are missing" in problem(page)
        page.locator("#choices").get_by_text("Missing samples are incorrect").click()
        page.wait_for_function(FRESH)
        assert note(page).startswith("2 questions, 2 samples each (1 of them missing, counted as")
        page.fill(NUMBER, "1")
        settle(page)
        assert sentence(page) == "A sample is correct 50 % of the time."
        page.click("#again")
        settle(page)
        assert "different values of strategy" in problem(page)
        page.locator("#choices").get_by_text("Only rows with strategy = y").click()
        settle(page)
        paste(page, text.replace("b,y,0", "b,y,1"))  # other samples
        assert "different values of strategy" in problem(page)
        assert not page.locator("#again:visible").count()


def test_columns_and_correct_outcomes_are_named(browser, space):
    def choose(role, *columns):
        for column in columns:
            page.click(f"#column-{role} input")
            page.locator("[role=option]:visible", has_text=column).click()
        page.keyboard.press("Escape")
        page.wait_for_selector("[role=listbox]", state="hidden")

    with opened(browser, space) as page:
        paste(page, "item,resp1,resp2,gold\nq1,12,13,12\nq2,7,7,7")
        assert "no column with a usual name for samples" in problem(page)
        page.locator("#column-questions input").focus()
        page.wait_for_selector("[role=listbox]")
        page.wait_for_timeout(300)  # a person is slower than the script that opens the list
        page.keyboard.press("Tab")
        page.wait_for_selector("[role=listbox]", state="hidden")
        choose("predictions", "resp1", "resp2")
        choose("references", "gold")
        choose("questions", "item")
        page.click("#score")
        settle(page)
        assert note(page).startswith(
            "2 questions, 2 samples each in resp1 to resp2, checked against gold"
        )
        paste(page, "id,outcome\na,A\na,B\nb,A\nb,A")
        assert "sample 1 is 'A', which is no outcome" in problem(page)
        page.fill("#correct textarea, #correct input", "A")
        page.click("#score")
        settle(page)
        assert sentence(page).startswith(
            "Of 2 samples of a question, at least one is correct 100 %"
        )


# --- Files, links and history -------------------------------------------------------------------


@pytest.mark.parametrize("viewport", [PHONE, TABLET], ids=["phone", "tablet"])
def test_two_files_are_compared_and_fit(browser, space, viewport):
    with opened(browser, space, viewport) as page:
        upload(page, *TWO_FILES)
        page.get_by_role("radio", name="numeric").check()
        page.click("#score")
        settle(page)
        compared = sentence(page)
        assert "smollm2_cool" in compared
        assert "smollm2_warm" in compared
        verdict = page.inner_text(".verdict")
        assert "percentage points (95 % " in verdict or "a difference of " in verdict
        assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
        widths = page.locator(".numbers, #questions .list").evaluate_all(
            "tables => tables.map(table => [table.scrollWidth, table.clientWidth])"
        )
        assert all(needed <= there for needed, there in widths), widths
        page.locator(f"{QUESTION} summary").nth(2).click()
        assert page.locator("#questions .runs > div:visible").count() == 2
        take_screenshot(page, f"gpassk-two-files-{viewport['width']}")


def test_questions_are_filtered_and_show_their_samples(browser, space):
    with opened(browser, space) as page:
        for name, number in (("Some correct", 5), ("None correct", 0), ("All correct", 1)):
            page.get_by_role("radio", name=name).check()
            assert page.locator(f"{QUESTION}:visible").count() == number
        page.locator(f"{QUESTION}:visible summary").press("Enter")
        shown = page.inner_text(f"{QUESTION}[open]")
        assert "Reference: 56, checked with exact_match" in shown
        assert "\u2713 56" in shown


def test_a_link_shows_the_same_result_and_back_returns_to_the_last_one(browser, space):
    with opened(browser, space) as page:
        paste(page, "1 1\n1 0")
        page.wait_for_function("location.hash.length > 1")
        link, first = page.evaluate("location.hash"), sentence(page)
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.click("#link button")
        page.wait_for_function("document.querySelector('#link').innerText.includes('is copied')")
        assert page.evaluate("navigator.clipboard.readText()") == page.evaluate("location.href")
        paste(page, "x")
        assert page.evaluate("location.hash") == ""
        page.go_back()
        page.wait_for_function(FRESH)
        assert sentence(page) == first
        assert page.input_value("#text textarea") == "1 1\n1 0"
        page.fill("#text textarea", "not scored")
        page.reload()
        wait_for_state(page, "changed")
        page.wait_for_function("document.querySelector('textarea').value === 'not scored'")
        paste(page, "\n".join(" ".join(f"{i:0512b}") for i in range(3**300, 3**320, 3**315)))
        page.click("#link button")
        assert "the samples are too large" in page.inner_text("#link")
    with opened(browser, space, PHONE, "dark", query=f"/{link}") as page:
        assert sentence(page) == first
        assert page.evaluate("location.hash") == link
        take_screenshot(page, "gpassk-link-dark")
    with opened(browser, space, PHONE, query="/#nonsense", ready=SETTLED) as page:
        assert "is broken, or a part of it is missing" in problem(page)
    with opened(browser, space, query="/?example=2", ready=f"{STATE} === 'unknown'") as page:
        assert "a parameter that this page does not read" in page.inner_text("#state p:visible")
        assert sentence(page) == ""


def test_files_and_a_saved_page_that_is_opened_again(browser, space, tmp_path):
    with opened(browser, space) as page:
        paste(page, "1 1 0\n1 0 0")
        expected = sentence(page)
        page.click("#make-files")
        for name in ("gpassk-scores.tex", "gpassk-chart-1.pdf", "gpassk-page.txt"):
            with page.expect_download() as download:
                page.locator(f"#written a[download='{name}']").click()
            assert download.value.suggested_filename == name
        download.value.save_as(tmp_path / name)
        page.click("#score")
        settle(page)
        assert not page.locator("#written:visible").count()
        upload(page, tmp_path / name)
        page.click("#score")
        page.wait_for_function(FRESH)
        assert sentence(page) == expected
        assert page.input_value("#text textarea") == "1 1 0\n1 0 0"


# --- Keyboard -----------------------------------------------------------------------------

FOCUSED = """() => {
  const focused = document.activeElement;
  const parts = ["examples", "top", "inputs", "details", "about"];
  return parts.find((name) => focused.closest(`#${name}`));
}"""


def test_the_focus_goes_through_the_page_in_its_order_and_is_seen(browser, space):
    with opened(browser, space) as page:
        parts: list[str] = []
        while parts[-1:] != ["about"]:
            assert len(parts) < 60
            page.keyboard.press("Tab")
            parts += filter(None, [page.evaluate(FOCUSED)])
        assert list(dict.fromkeys(parts)) == ["examples", "inputs", "details", "about"]
        page.locator("#checker input").first.focus()
        page.keyboard.press("ArrowRight")
        label = page.locator("#checker label:has(input:focus)")
        assert label.evaluate("label => getComputedStyle(label).outlineStyle") == "solid"
