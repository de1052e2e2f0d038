"""The downloads of a page, and the Python code that it shows."""

import json
import shutil
from pathlib import Path

import evaluate
from browsing import opened, scores, screenshot_file

pytest_plugins = ["space_fixtures"]


def test_the_downloads_are_the_charts_and_the_scores_that_the_code_gives(
    browser, space, monkeypatch
):
    with opened(browser, space) as page:
        with page.expect_download() as download:
            page.click("#json")
        result = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
        with page.expect_download() as download:
            page.click("#png")
        assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")
        assert download.value.suggested_filename == f"{space.name}.png"
        shutil.copyfile(download.value.path(), screenshot_file(f"{space.name}-download"))
        shown = scores(page)
        code = shown_code(page)
    (label, first_scores), *_ = result["scores"].items()
    key = next(iter(first_scores))
    assert f"{first_scores[key]:.4f}" in shown
    names = run_code(code, space, monkeypatch)
    for call in result.keys() - {"metric", "options", "samples"}:
        assert json.loads(json.dumps(names[call])) == result[call][label]


def shown_code(page):
    """Return the Python code of the page. The editor may display only a part of it."""
    page.locator("#code .cm-content").click()
    return page.evaluate(
        "document.querySelector('#code .cm-content').cmTile?.view?.state.doc.toString()"
        " ?? document.querySelector('#code .cm-content').cmView.view.state.doc.toString()"
    )


def run_code(code, space, monkeypatch):
    """Run code with the metric of a Space, and return its variables."""
    load = evaluate.load
    monkeypatch.setattr("evaluate.load", lambda name: load(str(space.folder / f"{name}.py")))
    names: dict = {}
    exec(code, names)
    return names
