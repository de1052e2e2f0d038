"""The downloads of a page, and the Python code that it shows."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from browsing import opened, screenshot_file, sentence, wait_for_change
from conftest import ROOT

pytest_plugins = ["space_fixtures"]


def test_the_downloads_are_the_charts_and_the_scores_that_the_code_gives(browser, space, tmp_path):
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
        shown = page.locator(".numbers").last.locator("tbody tr").all_inner_texts()
        code = page.locator("#code pre").text_content()
    (label, first_scores), *_ = result["scores"].items()
    key = next(iter(first_scores))
    assert f"{label},,{key},{first_scores[key]}" in table
    assert r"\toprule" in latex
    rows = [row.split("\t") for row in shown]
    assert rows
    for name, score, limits in rows:
        lo, _, hi = limits.partition(" to ")
        assert f"| {name} | {score} ({lo}, {hi}) |" in markdown
    code += f"\nimport json\nprint(json.dumps([{', '.join(_calls(result))}]))"
    *printed, results = lines_of(code, tmp_path)
    assert printed == [f"{name}: {score} ({limits})" for name, score, limits in rows]
    assert json.loads(results) == [result[call][label] for call in _calls(result)]
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".pdf"]


def lines_of(code, folder):
    """Run Python code as it is, in a process of its own, and return the lines that it prints."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "shared")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("space", ["gpassk"], indirect=True, scope="session")
def test_the_code_of_two_runs_prints_the_scores_and_differences_of_the_page(
    browser, space, tmp_path
):
    with opened(browser, space) as page:
        before = sentence(page)
        page.get_by_role("button", name="The same model at").click()
        wait_for_change(page, before)
        downloaded(page, "#json", "gpassk.json", tmp_path)
        rows = page.locator(".numbers tbody tr").all_inner_texts()
        code = page.locator("#code pre").text_content()
    first, second, difference = {}, {}, {}
    for row in rows:
        name, *cells = row.replace("\N{MINUS SIGN}", "-").split("\t")
        first[name], second[name], difference[name] = (
            "{} ({})".format(*cell.split("\n")) for cell in cells[:3]
        )
    printed = lines_of(code, tmp_path)
    starts = [printed.index(x) for x in ("smollm2_cool", "smollm2_warm", "difference")]
    for shown, start, end in zip(
        (first, second, difference), starts, [*starts[1:], None], strict=True
    ):
        for line in printed[start + 1 : end]:
            name, _, score = line.partition(": ")
            assert score == shown[name].replace("+", ""), name


def _calls(result):
    return [name for name in result if name not in ("metric", "options", "samples")]


def downloaded(page, button, name, folder=None):
    """Click a button and return the path of the file that the browser gets.

    Args:
        folder: where the file is saved, or None for a temporary folder.
    """
    with page.expect_download() as download:
        page.click(button)
    assert download.value.suggested_filename == name
    if folder is not None:
        download.value.save_as(folder / name)
    return Path(download.value.path())
