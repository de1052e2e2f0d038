"""Use the page of a Space in a browser.

Screenshots are kept in build/screenshots, or in the folder that SCREENSHOTS names.
"""

import contextlib
import os
from pathlib import Path

from conftest import ROOT

SCREENSHOTS = Path(os.environ.get("SCREENSHOTS", ROOT / "build" / "screenshots"))
LIMIT = 180  # seconds until a page shows what a test waits for: the machine may be very busy
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
TABLET = {"width": 1024, "height": 768}
CHART = ".chart svg.marks"
STATE = "document.documentElement.dataset.state"  # undefined until the page has read its address
FRESH = f"{STATE} === '' && document.querySelector('#answer .sentence')?.checkVisibility()"
SETTLED = f"{STATE} === ''"


@contextlib.contextmanager
def opened(browser, space, viewport=DESKTOP, scheme="light", query="", ready=FRESH):
    """Open the page of a Space. It must raise no error and send no request to another host.

    The tests of a process share a context, and with it the files of the server.
    """
    problems = []

    def check_request(request):
        if not request.url.startswith((space.url, "data:", "blob:")):
            problems.append(request.url)

    def check_message(message):
        # As a test lets a server say, or not answer.
        is_meant = "503" in message.text or "net::ERR_FAILED" in message.text
        if message.type == "error" and not is_meant:
            problems.append(message.text)

    context = browser.contexts[0] if browser.contexts else browser.new_context()
    page = context.new_page()
    page.set_default_timeout(1000 * LIMIT)
    page.set_viewport_size(viewport)
    page.emulate_media(color_scheme=scheme)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", check_message)
    page.on("request", check_request)
    try:
        page.goto(f"{space.url}{query}")
        page.wait_for_selector("#score")
        page.wait_for_function(ready)
        page.wait_for_timeout(500)  # the events of the opening are handled
        yield page
    finally:
        raised = [*problems]  # When a page is closed, Gradio aborts requests, which raises errors.
        page.close()
    assert not raised, raised


def take_screenshot(page, name):
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.wait_for_timeout(300)
    page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)


def state(page):
    """Return "" if the result belongs to the inputs, or what is said instead of it."""
    return page.evaluate(STATE)


def wait_for_state(page, expected):
    page.wait_for_function(f"expected => {STATE} === expected", arg=expected)


def settle(page):
    """Wait until there is a result of the inputs, or a problem."""
    page.wait_for_timeout(100)
    page.wait_for_function(SETTLED)


def sentence(page):
    """Return the result in words, or "" if the page shows none."""
    return page.evaluate(
        """() => {
            const shown = document.querySelector("#answer .sentence");
            return shown?.checkVisibility({visibilityProperty: true}) ? shown.innerText : "";
        }"""
    )


def note(page):
    return page.inner_text(".note")


def problem(page):
    """Return the problem that the page shows in the place of the result."""
    page.wait_for_selector(".problem:visible")
    assert sentence(page) == ""
    assert not page.locator("#details:visible").count()
    return page.inner_text(".problem")


def choose_source(page, source):
    page.locator("#source").get_by_text(source, exact=True).click()


def paste(page, text):
    """Paste a text, and score it."""
    page.fill("#text textarea", text)
    wait_for_state(page, "changed")
    page.click("#score")
    settle(page)


def upload(page, *files):
    """Upload files, without scoring them."""
    choose_source(page, "Files")
    page.wait_for_selector("#files input[type=file]", state="attached")
    with page.expect_response("**/upload*"):
        page.set_input_files("#files input[type=file]", list(files))
    page.wait_for_selector("#files .file-preview")


def smallest_text(page):
    """Return the size of the text in the smallest visible chart, in pixels of the screen."""
    return page.evaluate(
        """charts => Math.min(...[...document.querySelectorAll(charts)].map(
            chart => 8 * chart.getBoundingClientRect().width / chart.viewBox.baseVal.width
        ).filter(size => size > 0))""",
        CHART,
    )
