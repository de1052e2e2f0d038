"""The downloads of a page, and the Python code that it shows."""

import json
import shutil
from pathlib import Path

import evaluate
from browsing import opened, scores, screenshot_file

pytest_plugins = ["space_fixtures"]


def test_the_downloads_are_the_charts_and_the_scores_that_the_code_gives(
    browser, space, monkeypatch, tmp_path
):
    with opened(browser, space) as page:
        with page.expect_download() as download:
            page.click("#json")
        result = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
        for name, start in {"svg": b"<svg", "pdf": b"%PDF", "png": b"\x89PNG"}.items():
            file = downloaded(page, f"#chart-1-{name}", f"{space.name}-1.{name}")
            assert file.read_bytes().startswith(start)
        shutil.copyfile(file, screenshot_file(f"{space.name}-download"))
        table = downloaded(page, "#scores-csv", f"{space.name}.csv").read_text()
        latex = downloaded(page, "#scores-latex", f"{space.name}.tex").read_text()
        markdown = downloaded(page, "#scores-markdown", f"{space.name}.md").read_text()
        shown = scores(page)
        code = shown_code(page)
    (label, first_scores), *_ = result["scores"].items()
    key = next(iter(first_scores))
    assert f"{first_scores[key]:.4f}" in shown
    assert f"{label},,{key},{first_scores[key]}" in table
    assert r"\toprule" in latex
    assert f"| {key} |" in markdown or f" {key} (" in markdown
    monkeypatch.chdir(tmp_path)
    names = run_code(code, space, monkeypatch)
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".pdf"]
    for call in result.keys() - {"metric", "options", "samples"}:
        assert json.loads(json.dumps(names[call])) == result[call][label]


def downloaded(page, button, name):
    """Click a button and return the path of the file that the browser gets."""
    with page.expect_download() as download:
        page.click(button)
    assert download.value.suggested_filename == name
    return Path(download.value.path())


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
