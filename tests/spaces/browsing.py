"""Use the page of a Space in a browser.

Screenshots are kept in build/screenshots, or in the folder that SCREENSHOTS names.
"""

import contextlib
import os
import time
from pathlib import Path

from conftest import ROOT

SCREENSHOTS = Path(os.environ.get("SCREENSHOTS", ROOT / "build" / "screenshots"))
LIMIT = 180  # seconds until a page shows what a test waits for: the machine may be very busy
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
TABLET = {"width": 1024, "height": 768}
CHART = ".chart svg.marks"
EMPTY = "about:blank"
STARTED = "html.started"  # the page has looked at its address, and follows its inputs
COMPLETE = "#details[aria-busy=false]"  # all of the result is of one answer, and is drawn


@contextlib.contextmanager
def opened(browser, space, viewport=DESKTOP, scheme="light", query="", ready=COMPLETE):
    """Open the page of a Space. It must raise no error and send no request to another host.

    The tests of a process use one tab after each other, which halves the time to open a page: the
    browser keeps the files of the server and their compiled scripts.
    """
    problems = []

    def check_request(request):
        if not request.url.startswith((space.url, "data:", "blob:")):
            problems.append(request.url)

    def check_message(message):
        if message.type == "error":
            problems.append(message.text)

    def check_error(error):
        problems.append(str(error))

    checks = {"pageerror": check_error, "console": check_message, "request": check_request}
    page = unused_tab(browser)
    page.set_viewport_size(viewport)
    page.emulate_media(color_scheme=scheme)
    for event, check in checks.items():
        page.on(event, check)
    try:
        page.goto(f"{space.url}{query}")
        page.wait_for_selector(STARTED)
        page.wait_for_selector(ready)
        yield page
    except BaseException:
        page.close()
        raise
    # A page that is left ends its requests, which can be an error.
    for event, check in checks.items():
        page.remove_listener(event, check)
    leave(page)
    assert not problems, problems


def unused_tab(browser):
    """Return an empty tab. All tabs share a context, and with it the files of the server."""
    context = browser.contexts[0] if browser.contexts else browser.new_context()
    for page in context.pages:
        if page.url == EMPTY:
            return page
    page = context.new_page()
    page.set_default_timeout(1000 * LIMIT)
    return page


def leave(page):
    """Leave a page, so that the tab can be used again."""
    page.unroute_all()
    page.mouse.move(0, 0)
    page.goto(EMPTY)


def screenshot_file(name):
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return SCREENSHOTS / f"{name}.png"


def take_screenshot(page, name):
    page.wait_for_timeout(300)
    page.screenshot(path=screenshot_file(name), full_page=True)


def sentence(page):
    return page.inner_text(".sentence")


def note(page):
    return page.inner_text(".note")


def scores(page):
    return page.inner_text(".numbers")


def wait_for_change(page, before, read=sentence):
    """Return what `read` reads from the page, once it differs from `before` and is complete."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        if page.locator(COMPLETE).count() and (now := read(page)) != before:
            return now
        page.wait_for_timeout(50)
    raise AssertionError(f"this did not change: {before}")


@contextlib.contextmanager
def all_answered(page):
    """Wait until the page has received the answers to all requests that are sent in the block."""
    ended = []

    def remember(request):
        ended.append(request.url)

    events = ("requestfinished", "requestfailed")  # the page may abort the stream of answers
    for event in events:
        page.on(event, remember)
    yield
    end = time.monotonic() + LIMIT
    while not any("/queue/data" in url for url in ended):
        assert time.monotonic() < end, ended
        page.wait_for_timeout(50)
    for event in events:
        page.remove_listener(event, remember)


def problem(page):
    """Return the problem that the page shows above the previous scores."""
    page.wait_for_selector(".problem")
    page.wait_for_selector(".previous")
    text = page.inner_text(".problem")
    assert "Traceback" not in text
    assert "The result below is the previous one." in text
    return text


def wait_for_problem(page, text):
    """Wait until the page shows a problem whose message contains a text."""
    page.wait_for_function(
        "text => document.querySelector('.problem')?.innerText.includes(text)", arg=text
    )
    assert text in problem(page)


def choose_source(page, source):
    page.locator("#source").get_by_text(source, exact=True).click()


def paste(page, text):
    choose_source(page, "Paste")
    page.fill("#text textarea", text)


def upload(page, *files):
    choose_source(page, "Files")
    page.wait_for_selector("#files input[type=file]", state="attached")
    page.set_input_files("#files input[type=file]", list(files))


def chart_texts(page):
    """Return the text of each chart that the page shows."""
    return [chart.text_content() for chart in page.locator(f"{CHART}:visible").all()]


def tooltip(page, mark):
    """Return the tooltip of a mark of a chart.

    The pointer comes again until there is one: it may have been there before the mark was.
    """
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        page.mouse.move(0, 0)
        mark.hover()
        page.wait_for_timeout(200)
        if page.locator("#tooltip:visible").count():
            return page.inner_text("#tooltip")
    raise AssertionError("this mark has no tooltip")


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


def smallest_text(page):
    """Return the size of the text in the smallest chart, in pixels of the screen."""
    return page.evaluate(
        """charts => Math.min(...[...document.querySelectorAll(charts)].map(
            chart => 8 * chart.getBoundingClientRect().width / chart.viewBox.baseVal.width))""",
        CHART,
    )


def wait_for_charts(page, text):
    """Wait until a chart contains a text. Charts are drawn after the scores are shown."""
    page.wait_for_function(
        "([charts, text]) => [...document.querySelectorAll(charts)].some("
        "chart => chart.textContent.includes(text))",
        arg=[CHART, text],
    )
