"""What is in view on a page, at the sizes of a desktop, a tablet and a phone."""

import time

import pytest
from browsing import (
    CHART,
    DESKTOP,
    LIMIT,
    PHONE,
    TABLET,
    opened,
    smallest_text,
    upload,
    wait_for_change,
)
from conftest import ROOT

pytest_plugins = ["space_fixtures"]

SAMPLES = ROOT / "shared" / "at_k" / "samples"
TWO_FILES = [str(SAMPLES / f"smollm2_{name}.jsonl") for name in ("cool", "warm")]


@pytest.mark.parametrize("space", ["gpassk"], indirect=True, scope="session")
def test_a_desktop_opens_with_k_in_view_and_keys_on_one_line(browser, space):
    with opened(browser, space, DESKTOP) as page:
        number = page.locator("#k input[type=number]").bounding_box()
        assert number["y"] + number["height"] <= DESKTOP["height"]
        key = page.locator(".verdict span", has_text="G-Pass@4_0.5")
        assert key.evaluate("key => key.getClientRects().length") == 1


@pytest.mark.parametrize("space", ["gpassk"], indirect=True, scope="session")
def test_the_text_of_charts_is_about_as_large_as_that_around_them(browser, space):
    with opened(browser, space, TABLET) as page:
        page.wait_for_function(
            "chart => document.querySelector(chart).viewBox.baseVal.width < 330", arg=CHART
        )
        for width in (1024, 900, 768, 690, 390):
            page.set_viewport_size({"width": width, "height": 900})
            end = time.monotonic() + LIMIT  # charts are drawn again for the new width
            while not 10 < smallest_text(page) < 16:
                assert time.monotonic() < end
                page.wait_for_timeout(50)
            margins = width - page.locator("#body").bounding_box()["width"]
            assert margins == (32 if width <= 600 else 64)


@pytest.mark.parametrize("space", ["gpassk"], indirect=True, scope="session")
def test_a_request_that_takes_long_says_so(browser, space):
    said = "getComputedStyle(document.getElementById('answer'), '::before').content"
    with opened(browser, space) as page:
        assert page.evaluate(said) == "none"
        page.evaluate("document.getElementById('result').ariaBusy = 'true'")
        assert page.evaluate(said) == '"Computing .."'


@pytest.mark.parametrize("space", ["gpassk"], indirect=True, scope="session")
def test_a_comparison_fits_a_phone(browser, space):
    check_that_a_comparison_fits(browser, space, PHONE)


@pytest.mark.parametrize("space", ["max_at_k"], indirect=True, scope="session")
def test_a_comparison_with_bands_fits_a_tablet(browser, space):
    check_that_a_comparison_fits(browser, space, TABLET)


def check_that_a_comparison_fits(browser, space, viewport):
    with opened(browser, space, viewport) as page:
        before = page.inner_text(".numbers")
        upload(page, *TWO_FILES)
        wait_for_change(page, before, lambda page: page.locator(".numbers").first.inner_text())
        assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
        widths = page.locator(".numbers").evaluate_all(
            "tables => tables.map(table => [table.scrollWidth, table.clientWidth])"
        )
        assert all(needed <= there for needed, there in widths), widths


@pytest.mark.parametrize("space", ["score_agg"], indirect=True, scope="session")
def test_a_single_item_has_no_chart_of_items_and_no_interval(browser, space):
    with opened(browser, space) as page:
        before = page.inner_text(".numbers")
        page.get_by_role("button", name="One unsupported statement").click()
        wait_for_change(page, before, lambda page: page.inner_text(".numbers"))
        reason = "No interval: there is one item, or one cluster of items."
        assert reason in page.inner_text("#details")
        assert not page.get_by_text("Score per item").is_visible()


CUT_CELLS = """() => [...document.querySelectorAll("#table [data-row] span")].filter(
  (cell) => cell.scrollWidth > cell.clientWidth + 1 && cell.innerText.trim()
).map((cell) => cell.innerText)"""


@pytest.mark.parametrize("space", ["score_agg"], indirect=True, scope="session")
def test_verdicts_are_not_cut(browser, space):
    with opened(browser, space) as page:
        assert page.evaluate(CUT_CELLS) == []


FOCUSED = """() => {
  const focused = document.activeElement;
  const parts = ["head", "inputs", "answer", "details", "about", "links"];
  return parts.find((name) => focused.closest(`#${name}`));
}"""


@pytest.mark.parametrize("space", ["gpassk"], indirect=True, scope="session")
@pytest.mark.parametrize("viewport", [PHONE, DESKTOP])
def test_the_focus_goes_through_the_page_in_the_order_in_which_it_is_seen(browser, space, viewport):
    body = ["inputs", "answer"] if viewport == DESKTOP else ["answer", "inputs"]
    order = ["head", *body, "details", "about", "links"]
    with opened(browser, space, viewport) as page:
        parts: list[str] = []
        while True:
            page.keyboard.press("Tab")
            part = page.evaluate(FOCUSED)
            if part is None:  # after the last part
                break
            parts.append(part)
        assert list(dict.fromkeys(parts)) == order
        assert parts == sorted(parts, key=order.index)
