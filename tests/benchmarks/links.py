"""Count how often a link shows what its sender saw, and leaves the address as it was.

    python tests/benchmarks/links.py [LOADS]

The link holds 60 questions with 32 samples, k = 8 and another checker than the first example. It is
opened LOADS times (20 by default) at each width, in a new browser (cold) and in one that has the
files of the page (warm). Needs the extra `test` and Chromium.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "spaces"))

from browsing import DESKTOP, STARTED, opened, paste, scores, sentence, wait_for_change
from running_space import start
from test_sharing import WIDTHS, address, graded

LOADS = 20
SECONDS = 60


def sent(browser, space) -> tuple[str, tuple[str, str]]:
    """Return a link, and the sentence and the table that its sender sees."""
    with opened(browser, space, DESKTOP) as page:
        before = sentence(page)
        paste(page, graded(60, 32))
        before = wait_for_change(page, before)
        link = address(page)
        page.click("#checker input")
        page.get_by_role("option", name="numeric").click()
        link = address(page, link)
        page.fill("#k input[type=number]", "8")
        shown = wait_for_change(page, before), scores(page)
        return address(page, link), shown


def is_as_sent(page: Page, url: str, link: str, shown: tuple[str, str]) -> bool:
    """Open a link, and return whether its result and address are there, and stay."""
    page.goto(f"{url}{link}")
    page.wait_for_selector(STARTED)
    end = time.monotonic() + SECONDS
    while (sentence(page), scores(page)) != shown and time.monotonic() < end:
        page.wait_for_timeout(50)
    page.wait_for_timeout(500)
    is_held = (sentence(page), scores(page), page.evaluate("location.hash")) == (*shown, link)
    return is_held and page.input_value("#k input[type=number]") == "8"


def main() -> None:
    loads = int(sys.argv[1]) if len(sys.argv) > 1 else LOADS
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        with start("gpassk", sys.executable, Path(folder)) as space:
            link, shown = sent(browser, space)
            for width in WIDTHS.values():
                counts = []
                for is_cold in (True, False):
                    context = browser.new_context()
                    count = 0
                    for _ in range(loads):
                        if is_cold:
                            context.close()
                            context = browser.new_context()
                        page = context.new_page()
                        page.set_viewport_size({"width": width["width"], "height": width["height"]})
                        count += is_as_sent(page, space.url, link, shown)
                        page.close()
                    context.close()
                    counts.append(f"{'cold' if is_cold else 'warm'} {count} of {loads}")
                print(f"{width['width']} px: {', '.join(counts)}", flush=True)


if __name__ == "__main__":
    main()
