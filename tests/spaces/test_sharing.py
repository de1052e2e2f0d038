"""A link and a saved page show what their sender saw."""

import json
import random

import pytest
from browsing import (
    DESKTOP,
    PHONE,
    TABLET,
    opened,
    paste,
    scores,
    sentence,
    take_screenshot,
    upload,
    wait_for_change,
)

pytest_plugins = ["space_fixtures"]

NUMBER = "#k input[type=number]"
WIDTHS = {"phone": PHONE, "desktop": DESKTOP}
only_gpassk = pytest.mark.parametrize("space", ["gpassk"], indirect=True, scope="session")


def address(page, before=""):
    """Return what the address has after "#", once it differs from another."""
    page.wait_for_function(
        "before => location.hash.length > 1 && location.hash !== before", arg=before
    )
    return page.evaluate("location.hash")


def graded(questions, samples):
    source = random.Random(3)
    rows = [[source.randint(100, 999) for _ in range(samples)] for _ in range(questions)]
    return "".join(json.dumps({"predictions": row, "reference": row[0]}) + "\n" for row in rows)


@only_gpassk
def test_a_link_wins_over_the_start_of_the_page_on_a_phone_and_a_desktop(browser, space):
    with opened(browser, space) as page:
        before = sentence(page)
        paste(page, graded(60, 32))
        before = wait_for_change(page, before)
        link = address(page)
        page.fill(NUMBER, "8")
        expected = wait_for_change(page, before), scores(page)
        link = address(page, link)
        assert len(link) < 16_000
    for (name, width), scheme in zip(WIDTHS.items(), ("light", "dark"), strict=True):
        with opened(browser, space, width, scheme, query=link) as page:
            page.wait_for_function(
                "text => document.querySelector('.sentence')?.innerText === text",
                arg=expected[0],
            )
            page.wait_for_timeout(500)
            assert (sentence(page), scores(page)) == expected
            assert page.input_value(NUMBER) == "8"
            assert address(page) == link
            take_screenshot(page, f"link-{name}-{scheme}")


@only_gpassk
def test_files_and_a_table_are_in_the_link(browser, space, tmp_path):
    file = tmp_path / "mine.jsonl"
    file.write_text(graded(3, 4))
    with opened(browser, space) as page:
        page.get_by_role("button", name="The same model at").click()
        expected = [wait_for_change(page, sentence(page))]
        links = [address(page)]
    with opened(browser, space) as page:
        before = sentence(page)
        upload(page, str(file))
        expected.append(wait_for_change(page, before))
        links.append(address(page))
    assert len(links[0]) < 400  # the files of an example are named
    for link, shown in zip(links, expected, strict=True):
        with opened(browser, space, PHONE, query=link) as page:
            page.wait_for_function(
                "text => document.querySelector('.sentence')?.innerText === text", arg=shown
            )


@only_gpassk
@pytest.mark.parametrize("link", ["#nonsense", "cut", "#%3Cscript%3E"])
def test_a_broken_link_says_so_and_shows_no_result(browser, space, link):
    if link == "cut":
        with opened(browser, space) as page:
            link = "#" + page.input_value("#link textarea, #link input")[:-40]
    with opened(browser, space, PHONE, query=link, ready=".problem") as page:
        assert "is broken, or a part of it is missing" in page.inner_text(".problem")
        assert not page.locator(".sentence:visible").count()
        take_screenshot(page, "link-broken")
        page.get_by_role("button", name="Six questions").click()
        page.wait_for_selector(".sentence:visible")
        page.wait_for_selector(".problem", state="hidden")


@only_gpassk
def test_what_is_too_large_for_a_link_is_saved_and_opened(browser, space, tmp_path):
    with opened(browser, space) as page:
        before = sentence(page)
        paste(page, graded(500, 60))
        expected = wait_for_change(page, before)
        page.click("#copy-link")
        page.wait_for_selector("#shared [role=status]")
        assert "too large for a link" in page.inner_text("#shared")
        assert page.evaluate("location.hash") == ""
        with page.expect_download() as download:
            page.click("#save-page")
        saved = tmp_path / download.value.suggested_filename
        download.value.save_as(saved)
    with opened(browser, space, TABLET) as page:
        page.set_input_files("#head input[type=file]", str(saved))
        assert wait_for_change(page, before) == expected
