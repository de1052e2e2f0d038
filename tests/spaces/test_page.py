"""What a visitor sees on a page, and how it follows the controls."""

import json
import re
import time
from pathlib import Path

import pytest
from browsing import (
    CHART,
    COMPLETE,
    DESKTOP,
    LIMIT,
    PHONE,
    TABLET,
    all_answered,
    chart_texts,
    leave,
    note,
    opened,
    opening,
    paste,
    scores,
    sentence,
    smallest_text,
    take_screenshot,
    tooltip,
    unused_tab,
    upload,
    wait_for_change,
    wait_for_charts,
)
from conftest import ROOT

pytest_plugins = ["space_fixtures"]

SAMPLES = ROOT / "shared" / "at_k" / "samples"
TWO_FILES = [str(SAMPLES / f"smollm2_{name}.jsonl") for name in ("cool", "warm")]
BOTH_WORDINGS = ["gpassk", "score_agg"]  # the other pages have the layout and the words of gpassk

OUT_OF_THE_PANEL = """() => {
  const panel = document.querySelector("#inputs").getBoundingClientRect();
  return [...document.querySelectorAll("#inputs input:not([type=file])")].filter((input) => {
    const place = input.getBoundingClientRect();
    const scrolls = input.closest("#table");
    return !scrolls && place.width && (place.left < panel.left || place.right > panel.right);
  }).length;
}"""


@pytest.mark.parametrize("space", BOTH_WORDINGS, indirect=True, scope="session")
def test_the_page_opens_on_a_phone_and_a_desktop_with_an_example_and_its_charts(browser, space):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    with opened(browser, space, PHONE) as page:
        page.wait_for_function("/[0-9]/.test(document.querySelector('.sentence')?.innerText)")
        assert page.locator(".numbers tbody tr").count()
        assert len(chart_texts(page)) == page.locator(".chart:visible").count()
        page.wait_for_function(  # a phone gets charts of its own after the page has opened
            "chart => document.querySelector(chart).viewBox.baseVal.width < 250", arg=CHART
        )
        assert opening(page)[0] < 0.01
        described = page.locator(".chart [role=graphics-document]").first
        noun = "items" if space.name == "score_agg" else "questions"
        assert noun in described.get_attribute("aria-label")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.wait_for_selector("body.dark" if scheme == "dark" else "body:not(.dark)")
            for size, shape in {"phone": PHONE, "tablet": TABLET, "desktop": DESKTOP}.items():
                page.set_viewport_size(shape)
                assert page.evaluate("document.documentElement.scrollWidth") == shape["width"]
                end = time.monotonic() + LIMIT  # charts are drawn again for the new width
                while smallest_text(page) <= 10:
                    assert time.monotonic() < end
                    page.wait_for_timeout(50)
                take_screenshot(page, f"{space.name}-{size}-{scheme}")
            page.wait_for_selector(COMPLETE)  # the charts are those of this width, and not faded
            page.wait_for_timeout(500)
            violations = axe.run(page).response["violations"]
            serious = [x for x in violations if x["impact"] in ("serious", "critical")]
            assert not serious, [(x["id"], [node["html"] for node in x["nodes"]]) for x in serious]


def test_a_desktop_opens_with_all_controls_charts_and_their_tooltips_and_fits_a_phone(
    browser, space
):
    with opened(browser, space) as page:
        moved, requests, size = opening(page)
        assert moved < 0.01
        assert requests <= 56
        assert size < 360_000
        assert page.evaluate(OUT_OF_THE_PANEL) == 0
        last = page.locator("#inputs input:visible").last
        last.scroll_into_view_if_needed()
        place, panel = last.bounding_box(), page.locator("#inputs").bounding_box()
        bottom = place["y"] + place["height"]
        assert bottom <= min(panel["y"] + panel["height"], page.viewport_size["height"])
        assert page.locator("#inputs").evaluate("panel => panel.scrollLeft") == 0
        chart = page.locator(f"{CHART}:visible").last
        noun, order = ("question", "the hardest to the easiest")
        if space.name == "score_agg":
            noun, order = ("item", "the lowest to the highest")
        assert f"{noun}s, from {order}" in chart.text_content()
        assert noun in tooltip(page, chart.locator(".mark-symbol path").nth(0))
        take_screenshot(page, f"{space.name}-opened")
        page.mouse.move(0, 0)  # so that the tooltip, which is wide, goes
        page.set_viewport_size(PHONE)
        page.wait_for_function(  # charts are drawn again for the new width
            "width => document.documentElement.scrollWidth === width", arg=PHONE["width"]
        )
        assert page.evaluate(OUT_OF_THE_PANEL) == 0


@pytest.mark.parametrize("space", ["gpassk"], indirect=True, scope="session")
def test_the_title_is_there_before_the_scripts_of_the_page_and_does_not_move(browser, space):
    places = """parent => [...document.querySelectorAll(`${parent} :is(h1, h1 + p)`)].map(
        element => [element.innerText, JSON.stringify(element.getBoundingClientRect())])"""
    for width in (PHONE, TABLET, DESKTOP):
        page = unused_tab(browser)
        page.set_viewport_size(width)
        page.route("**/assets/*.js", lambda route: route.abort())
        page.goto(space.url)
        early = page.evaluate(places, "#early")
        leave(page)
        assert early[0][0] == "G-Pass@k"
        with opened(browser, space, width) as page:
            assert page.evaluate(places, "#summary") == early
            assert not page.locator("#early:visible").count()


@pytest.mark.parametrize("space", ["gpassk"], indirect=True, scope="session")
def test_the_inputs_stay_in_view_and_a_table_can_cover_the_page(browser, space):
    with opened(browser, space) as page:
        page.evaluate("window.scrollTo(0, 1200)")
        page.wait_for_function(
            "document.querySelector('#inputs').getBoundingClientRect().top === 12"
        )
        page.evaluate("window.scrollTo(0, 0)")
        page.locator("#table button[aria-label=Fullscreen]").click()
        page.wait_for_function("document.elementFromPoint(1000, 30).closest('#table') !== null")
        assert "Max@k" in page.inner_text("#links")


def test_every_example_is_scored(browser, space):
    with opened(browser, space) as page:
        buttons = page.locator("#examples button:not(#open-page)").all()
        for button in buttons[1:]:
            before = sentence(page)
            button.click()
            wait_for_change(page, before)
            assert not page.locator(".problem:visible").count()
        table = page.locator("#table:visible")
        cells = table.all_inner_texts()
        for button in (buttons[0], buttons[-1]):  # the last one for the second time
            before = sentence(page)
            button.click()
            wait_for_change(page, before)
        page.wait_for_timeout(500)
        assert table.all_inner_texts() == cells


# Both in one step: the example must not be shown before the slider moves.
CLICK_AND_MOVE = """(slider, button) => {
  button.click();
  slider.stepDown();
  slider.dispatchEvent(new Event("input", {bubbles: true}));
  slider.dispatchEvent(new Event("change", {bubbles: true}));
}"""


@pytest.mark.parametrize("space", ["cons_at_k"], indirect=True, scope="session")
def test_the_last_change_of_a_visitor_counts(browser, space):
    with opened(browser, space) as page:
        slider = page.locator("#k input[type=range]")
        with all_answered(page):
            before = sentence(page)
            example = page.locator("#examples button").nth(1).element_handle()
            slider.evaluate(CLICK_AND_MOVE, example)
            assert "A vote of 4 is correct" in wait_for_change(page, before)
        page.wait_for_timeout(300)
        assert "A vote of 4 is correct" in sentence(page)
        assert slider.input_value() == "4"
        assert page.locator("#source input:checked").get_attribute("value") == "Table"


@pytest.mark.parametrize("space", ["gpassk"], indirect=True, scope="session")
def test_the_scores_follow_a_slider_and_an_edit_of_the_table(browser, space):
    def answer_and_scores(page):
        return page.inner_text("#answer") + scores(page)

    with opened(browser, space) as page:
        before = answer_and_scores(page)
        page.locator("#inputs input[type=range]").first.focus()
        page.keyboard.press("ArrowLeft")
        wait_for_change(page, before, answer_and_scores)
        before = scores(page)
        page.locator("#table").get_by_test_id("cell-0-3").dblclick()
        page.wait_for_selector("#table textarea[aria-label='Edit cell']")
        page.keyboard.press("Control+A")
        page.keyboard.type("?")
        page.keyboard.press("Enter")
        wait_for_change(page, before, scores)


@pytest.mark.parametrize("space", ["gpassk"], indirect=True, scope="session")
def test_two_files_are_compared(browser, space):
    with opened(browser, space) as page:
        before = sentence(page)
        upload(page, *TWO_FILES)
        before = wait_for_change(page, before)
        assert "Counted as correct: the sample equals the reference exactly." in note(page)
        page.click("#checker input")
        page.get_by_role("option", name="numeric").click()
        compared = wait_for_change(page, before)
        assert "smollm2_cool" in compared
        assert "smollm2_warm" in compared
        assert "Checked with numeric" in note(page)
        verdict = page.inner_text(".verdict")
        assert "percentage points (95 % " in verdict or "a difference of " in verdict
        assert "overlap" not in page.inner_text("#answer")
        assert page.locator(".numbers th", has_text="difference").count() == 1
        assert "Difference: smollm2_warm minus smollm2_cool" in page.inner_text("#details")
        # The questions on which the runs differ most are first, and a click shows both.
        page.wait_for_selector("#questions [data-testid=header-2][title^='difference in ']")
        cells = page.locator("#questions [data-testid^=cell-][data-testid$='-2']").all_inner_texts()
        assert not any("-" in cell for cell in cells)  # a minus sign, as in the table of scores
        differences = [abs(float(cell.strip()[1:])) for cell in cells if cell.strip()]
        assert len(differences) > 5
        assert differences == sorted(differences, reverse=True)
        for order, number in (("Lowest score first", "20"), ("As given", "1")):
            page.get_by_role("radio", name=order).check()
            page.wait_for_function(
                "number => document.querySelector('#questions [data-testid=cell-0-0]')"
                ".innerText.trim() === number",
                arg=number,
            )
        page.locator("#questions [data-testid=cell-2-2]").click()
        page.wait_for_selector("#samples .runs")
        first, second = page.locator("#samples .runs > div").all()
        assert first.bounding_box()["y"] == second.bounding_box()["y"]
        assert not page.locator(".numbers").evaluate_all(
            "tables => tables.some(table => table.scrollWidth > table.clientWidth)"
        )
        take_screenshot(page, f"{space.name}-two-files")


@pytest.mark.parametrize("space", ["gpassk"], indirect=True, scope="session")
def test_many_files_are_a_sorted_table_with_letters(browser, space, tmp_path):
    """The questions of the third file are in another order."""
    rows = [json.loads(line) for line in Path(TWO_FILES[0]).read_text().splitlines()]
    better = [
        row | {"predictions": [row["reference"]] * 16 + row["predictions"][16:]} for row in rows
    ]
    (tmp_path / "better.jsonl").write_text("\n".join(map(json.dumps, better[::-1])))
    with opened(browser, space, TABLET) as page:
        before = sentence(page)
        upload(page, *TWO_FILES, tmp_path / "better.jsonl")
        before = wait_for_change(page, before)
        page.click("#checker input")
        page.get_by_role("option", name="numeric").click()
        found = wait_for_change(page, before)
        samples = "94 questions with 32 samples each, checked with numeric"
        assert found.startswith(f"Of 3 runs on {samples}, better has the highest pass@4, ")
        table = page.locator(".numbers").first
        names = table.locator("tbody th").all_inner_texts()
        assert names == ["better", "smollm2_cool", "smollm2_warm"]
        assert [row.split()[-1] for row in table.locator("tr").all_inner_texts()][1:] == [
            *("a", "b", "c")
        ]
        wait_for_charts(page, "letters")
        assert page.evaluate("document.documentElement.scrollWidth") == TABLET["width"]
        assert table.evaluate("table => table.scrollWidth <= table.clientWidth")
        take_screenshot(page, f"{space.name}-three-files")


@pytest.mark.parametrize("space", ["gpassk"], indirect=True, scope="session")
def test_another_checker_is_suggested_if_few_samples_equal_their_references(browser, space):
    with opened(browser, space) as page:
        before = sentence(page)
        paste(page, '{"predictions": ["12.0", "13"], "reference": "12"}')
        wait_for_change(page, before)
        assert note(page).count("No sample does. Try the checker numeric") == 1
        assert "exact_match" not in note(page)  # the warning of compute would repeat this


@pytest.mark.parametrize("space", ["cons_at_k"], indirect=True, scope="session")
def test_the_table_and_the_charts_say_what_the_intervals_are_for(browser, space):
    many = '{"outcomes": [1, 0]}\n{"outcomes": [1, 1]}\n{"outcomes": [0, 0]}'
    with opened(browser, space) as page:
        before = scores(page)
        paste(page, many)
        before = wait_for_change(page, before, scores)
        interval = "95 % confidence interval for the same questions, sampled again."
        assert interval in page.inner_text(".numbers + .caption")
        wait_for_charts(page, "the same questions, sampled again. 3 questions, 2 samples each.")
        paste(page, '{"outcomes": [1]}\n{"outcomes": [0]}\n{"outcomes": [1]}')
        wait_for_change(page, before, scores)
        interval = "95 % confidence interval for other questions like these."
        assert interval in page.inner_text(".numbers + .caption")
        # Curves need two values of k.
        page.wait_for_function(
            "charts => [...document.querySelectorAll(charts)].filter("
            "chart => chart.checkVisibility()).length === 1",
            arg=CHART,
        )
        assert not page.locator(".problem:visible").count()


@pytest.mark.parametrize("space", ["gpassk"], indirect=True, scope="session")
def test_the_chosen_questions_are_in_the_sentence_the_table_the_charts_the_code_and_the_link(
    browser, space
):
    scope = "for other questions like these"
    with opened(browser, space) as page:
        before = page.inner_text(".verdict")
        assert "for the same questions, sampled again" in before
        page.get_by_role("radio", name="other questions like these").check()
        shown = wait_for_change(page, before, lambda page: page.inner_text(".verdict"))
        assert scope in shown
        assert scope in page.inner_text(".numbers + .caption")
        wait_for_charts(page, scope)
        assert "interval='questions'" in page.inner_text("#code")
        link = page.evaluate("location.hash")
    with opened(browser, space, PHONE, query=link) as page:
        page.wait_for_function(
            "text => document.querySelector('.verdict')?.innerText === text", arg=shown
        )
        assert page.get_by_role("radio", name="other questions like these").is_checked()


@pytest.mark.parametrize("space", ["cons_at_k"], indirect=True, scope="session")
def test_a_score_without_an_interval_has_a_reason(browser, space):
    with opened(browser, space) as page:
        before = scores(page)
        paste(page, '{"outcomes": [1]}')
        wait_for_change(page, before, scores)
        reason = "No interval: each question has one sample, and there is one question"
        assert page.inner_text(".numbers + .caption").startswith(reason)
        assert "0.000 to 1.000" not in scores(page)


@pytest.mark.parametrize("space", ["gpassk"], indirect=True, scope="session")
def test_k_is_lowered_to_the_number_of_samples(browser, space):
    with opened(browser, space) as page:
        before = sentence(page)
        paste(page, '{"outcomes": [1, 0]}\n{"outcomes": [1, 1, 0]}')
        wait_for_change(page, before)
        lowered = "k was lowered to 2, the smallest number of samples of any question."
        assert note(page) == f"2 questions, 2 to 3 samples each, already graded. {lowered}"
        assert page.locator("#k input[type=range]").get_attribute("max") == "2"


@pytest.mark.parametrize("space", ["gpassk"], indirect=True, scope="session")
def test_a_question_shows_its_samples_and_how_each_was_checked(browser, space):
    text = '{"id": "q7", "question": "2 + 2?", "predictions": ["4", "5"], "reference": "4"}'
    other = '{"id": "q8", "question": "1 + 1?", "predictions": ["2", "2"], "reference": "2"}'
    with opened(browser, space) as page:
        before = note(page)
        paste(page, f"{text}\n{other}")
        wait_for_change(page, before, note)
        page.locator("#questions [data-testid=cell-0-2]", has_text="1 of 2").click()
        page.wait_for_selector("#samples li")
        shown = page.inner_text("#samples")
        assert "Question q7" in shown
        assert "2 + 2?" in shown
        assert re.search(r"\bcorrect\s+4\b.*incorrect\s+5", shown, re.DOTALL)
        assert "Reference: 4, checked with exact_match" in shown
        chart = page.locator(f"{CHART}:visible").last
        assert "q7" in tooltip(page, chart.locator(".mark-symbol path").nth(0))
