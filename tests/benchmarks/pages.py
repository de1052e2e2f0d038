"""Measure how long the pages of the Spaces take, in Chromium.

    python tests/benchmarks/pages.py [NAME ...]

For each Space: the requests of a page that opens, their bytes as sent, its first and largest paint,
when it is complete, and how far it has moved, in a new browser (cold) and in one that has its files
(warm); and the time from a paste to the complete result with all charts, for one visitor, and for
20 at once with 60 x 16 outcomes. Times are medians of five, on a machine that does nothing else.
For gpassk and cons_at_k also the time of a request with math_verify, for the 94 questions with 32
samples that the package ships. Needs the extra `test` and Chromium.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

import numpy as np
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "spaces"))

from browsing import DESKTOP, STARTED, opened, opening, paste, sentence, wait_for_change
from conftest import ROOT
from running_space import client, start
from test_refusals import call_in_session, page_of

NAMES = ["gpassk", "bayes_at_n", "max_at_k", "cons_at_k", "score_agg"]
REPEATS = 5
VISITORS = 20
DESKTOP_INCHES = 6.6
SAMPLES = ROOT / "shared" / "at_k" / "samples" / "smollm2_warm.jsonl"
PAINTS = """() => new Promise((done) => {
  const first = performance.getEntriesByName("first-contentful-paint")[0].startTime;
  new PerformanceObserver((list) => done([first, list.getEntries().at(-1).startTime]))
    .observe({type: "largest-contentful-paint", buffered: true});
})"""


def texts() -> list[str]:
    """Return samples that differ in the outcome of one question."""
    rng = np.random.default_rng(0)
    outcomes = rng.integers(0, 2, (REPEATS, 6, 8)).tolist()
    return ["\n".join(f'{{"outcomes": {row}}}' for row in rows) for rows in outcomes]


def measure_visitors(space) -> list[float]:
    """Return the seconds until each of 20 visitors, who paste at once, has scores and charts."""
    function = page_of(space)
    names = list(function.inputs)

    def visit(seed: int) -> float:
        session = uuid.uuid4().hex
        call_in_session(space, session, function.start, [DESKTOP_INCHES, None, ""])
        rows = np.random.default_rng(seed).integers(0, 2, (60, 16)).tolist()
        inputs = function.inputs | {"source": "Paste", "text": json.dumps(rows)}
        ready.wait()
        begin = time.perf_counter()
        done = call_in_session(space, session, function.id, [inputs[name] for name in names])
        seconds = time.perf_counter() - begin
        assert "<svg" in json.dumps(done["output"]), done["output"]
        return seconds

    ready = threading.Barrier(VISITORS)
    with ThreadPoolExecutor(VISITORS) as pool:
        return sorted(pool.map(visit, range(VISITORS)))


def main() -> None:
    chosen = sys.argv[1:] or NAMES
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for name in chosen:
            empty = Path(folder, name)
            empty.mkdir()
            with start(name, sys.executable, empty) as space:
                measure(browser, space)


def measure_opening(context, url) -> tuple[float, ...]:
    """Return what `opening` does, and the seconds of the paints and until the page is complete."""
    page = context.new_page()
    page.set_viewport_size(DESKTOP)
    begin = time.perf_counter()
    page.goto(url)
    page.wait_for_selector(STARTED)
    complete = time.perf_counter() - begin
    paints = [milliseconds / 1000 for milliseconds in page.evaluate(PAINTS)]
    measured = (*opening(page), *paints, complete)
    page.close()
    return measured


def measure(browser, space) -> None:
    """Print the figures of one Space."""
    contexts = {"cold": [browser.new_context() for _ in range(REPEATS)]}
    contexts["warm"] = contexts["cold"][:1] * REPEATS
    for name, of_kind in contexts.items():
        measured = [measure_opening(context, space.url) for context in of_kind]
        moved, requests, size, first, largest, complete = map(median, zip(*measured, strict=True))
        print(
            f"{space.name}, {name}: {requests:.0f} requests, {size / 1000:.0f} KB, first paint "
            f"{first:.2f} s, largest paint {largest:.2f} s, complete {complete:.2f} s, moved by "
            f"{moved:.3f}",
            flush=True,
        )
    for context in contexts["cold"]:
        context.close()
    with opened(browser, space) as page:
        answers = []
        for text in texts():
            before, begin = sentence(page), time.perf_counter()
            paste(page, text)
            wait_for_change(page, before)
            answers.append(time.perf_counter() - begin)
    seconds = measure_visitors(space)
    print(
        f"{space.name}: {VISITORS} visitors at once, median {median(seconds):.1f} s, last "
        f"{seconds[-1]:.1f} s",
        flush=True,
    )
    print(f"{space.name}: paste to complete result {median(answers):.2f} s", flush=True)
    if space.name in ("gpassk", "cons_at_k"):
        api = client(space)
        text = SAMPLES.read_text()
        begin = time.perf_counter()
        api.predict(text, "math_verify", api_name="/scores")
        taken = time.perf_counter() - begin
        print(f"{space.name}: math_verify of 94 x 32 samples {taken:.2f} s", flush=True)


if __name__ == "__main__":
    main()
