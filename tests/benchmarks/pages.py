"""Measure how long the pages of the Spaces take, in Chromium.

    python tests/benchmarks/pages.py [NAME ...]

For each Space: the first paint and the complete result when the page is opened again, and the time
from a paste of six questions with eight samples to its complete result with all charts, each the
median of five. For gpassk and cons_at_k also the time of a request with math_verify, for the 94
questions with 32 samples that the package ships. Needs the extra `test` and Chromium.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import gradio_client
import numpy as np
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "spaces"))

from browsing import opened, paste, sentence, wait_for_change
from conftest import ROOT
from running_space import start

NAMES = ["gpassk", "bayes_at_n", "max_at_k", "cons_at_k", "score_agg"]
REPEATS = 5
SAMPLES = ROOT / "shared" / "at_k" / "samples" / "smollm2_warm.jsonl"
FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime / 1000"


def texts() -> list[str]:
    """Return samples that differ in the outcome of one question."""
    rng = np.random.default_rng(0)
    outcomes = rng.integers(0, 2, (REPEATS, 6, 8)).tolist()
    return ["\n".join(f'{{"outcomes": {row}}}' for row in rows) for rows in outcomes]


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


def measure(browser, space) -> None:
    """Print the times of one Space."""
    with opened(browser, space):
        pass  # so that the server and the browser have loaded everything once
    paints, loads = [], []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        with opened(browser, space) as page:
            loads.append(time.perf_counter() - begin)
            paints.append(page.evaluate(FIRST_PAINT))
    with opened(browser, space) as page:
        answers = []
        for text in texts():
            before, begin = sentence(page), time.perf_counter()
            paste(page, text)
            wait_for_change(page, before)
            answers.append(time.perf_counter() - begin)
    print(
        f"{space.name}: first paint {median(paints):.2f} s, complete {median(loads):.2f} s, "
        f"paste to complete result {median(answers):.2f} s",
        flush=True,
    )
    if space.name in ("gpassk", "cons_at_k"):
        client = gradio_client.Client(space.url, verbose=False)
        text = SAMPLES.read_text()
        begin = time.perf_counter()
        client.predict(text, "math_verify", api_name="/scores")
        taken = time.perf_counter() - begin
        print(f"{space.name}: math_verify of 94 x 32 samples {taken:.2f} s", flush=True)


if __name__ == "__main__":
    main()
