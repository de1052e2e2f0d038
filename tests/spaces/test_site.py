"""The site: one command builds it out of what is there, with every public symbol."""

import functools
import html.parser
import http.server
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import at_k
import pytest
from conftest import ROOT

pytest_plugins = ["space_fixtures"]

METRICS = sorted(path.parent.name for path in (ROOT / "metrics").glob("*/requirements.txt"))


@pytest.fixture(name="site", scope="module")
def built_site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    result = subprocess.run(
        [*command, "-f", ROOT / "shared/site/mkdocs.yml", "-d", folder / "site"],
        env=os.environ | {"PYTHONPATH": str(ROOT / "shared"), "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    return folder / "site"


class Page(html.parser.HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, file: Path):
        super().__init__()
        self.links: list[str] = []
        self.sources: list[str] = []
        self.anchors: set[str] = set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if tag in ("script", "img", "link"):
            self.sources += filter(None, [values.get("src"), values.get("href")])
        self.anchors |= {value for name, value in attrs if name in ("id", "name") and value}


def test_every_public_symbol_has_its_documentation(site):
    anchors = Page(site / "functions.html").anchors
    assert {f"at_k.{name}" for name in at_k.__all__} <= anchors
    assert {"at_k.charts.by_k", "at_k.testing.assert_at_least"} <= anchors
    assert "at_k.checkers.python_tests.python_tests" in anchors
    text = (site / "functions.html").read_text()
    assert "::: at_k" not in text
    assert "filter_list" in text  # of the example for lm-evaluation-harness


def test_every_metric_has_a_page_with_its_formulas(site):
    for name in METRICS:
        text = (site / "metrics" / f"{name}.html").read_text(encoding="utf-8")
        assert "Metric Card" in text
        assert "$$" not in text
    assert "<math" in (site / "metrics/gpassk.html").read_text(encoding="utf-8")


def test_the_notebook_has_run_and_shows_its_figures(site):
    text = (site / "from_samples_to_paper.html").read_text(encoding="utf-8")
    assert "0.419" in text
    assert r"\toprule" in text
    assert "data:image/png" in text or "<svg" in text or "vega" in text
    assert str(ROOT) not in text


def test_links_between_pages_resolve(site):
    pages = {file: Page(file) for file in site.rglob("*.html") if file.name != "404.html"}
    assert len(pages) >= 14
    for file, page in pages.items():
        for link in page.links:
            target, _, anchor = link.partition("#")
            if target.startswith(("http", "mailto")):
                continue
            other = (file.parent / target).resolve() if target else file
            assert other.exists(), f"{file.name}: {link}"
            if anchor and other in pages and not anchor.startswith("__"):
                assert anchor in pages[other].anchors, f"{file.name}: {link}"


def test_nothing_is_loaded_from_another_server(site):
    for file in site.rglob("*.html"):
        for source in Page(file).sources:
            is_address = source.startswith("https://evaluate-at-k.github.io/")  # canonical links
            assert is_address or not source.startswith(("http", "//")), f"{file.name}: {source}"


def test_the_search_finds_pages_without_the_internet(site, browser):
    index = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))
    assert any("hierarchical" in entry["text"] for entry in index["docs"])
    handler = functools.partial(_Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for address in (f"http://127.0.0.1:{server.server_port}", site.as_uri()):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            failed: list[str] = []
            page.on("requestfailed", lambda request, failed=failed: failed.append(request.url))
            page.goto(f"{address}/index.html")
            page.click(".md-search__input")
            page.keyboard.type("hierarchical")
            page.wait_for_selector(".md-search-result__item a[href*='metrics/']")
            page.close()
            assert not failed
        server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format, *args):
        pass
