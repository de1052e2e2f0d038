"""What visitors of one server get at the same time, and the files that they download."""

import contextlib
import csv
import importlib.util
import io
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import ROOT


@pytest.fixture
def page(monkeypatch, tmp_path):
    """The modules of the page, with threads that take turns as often as possible."""
    monkeypatch.syspath_prepend(ROOT / "spaces")
    monkeypatch.chdir(tmp_path)  # where requests write their files
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    from page import downloads, events, request, score_tables, worker

    yield SimpleNamespace(
        downloads=downloads, events=events, request=request, tables=score_tables, worker=worker
    )
    sys.setswitchinterval(interval)


@contextlib.contextmanager
def downloads_of(page, space):
    downloads = page.downloads.Downloads(space)
    with downloads._root:
        yield downloads


def answer_of(page, metric, text="", files=(), **options):
    """Return the Space of a metric, and the answer of its page to samples."""
    spec = importlib.util.spec_from_file_location(metric, ROOT / "spaces" / metric / "app.py")
    assert spec is not None
    assert spec.loader is not None
    app = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(app)
    given = {"text": text} if text else {"files": files}
    request = page.request.make_request(app.SPACE, "exact_match", options, **given)
    return app.SPACE, page.worker._score(request, lambda progress: None)


def test_each_of_many_visitors_gets_the_own_samples(page, monkeypatch):
    monkeypatch.setattr(page.downloads, "_MAX_FOLDERS", 20)
    visitors = [answer_of(page, "gpassk", f'{{"outcomes": [1, {i % 2}]}}') for i in range(2)]
    with downloads_of(page, visitors[0][0]) as downloads:
        first = downloads.keep(visitors[0][1], "first").parent

        def visit(number):
            folder = downloads.keep(visitors[number % 2][1], f"request {number}").parent
            try:
                shared = Path(downloads.saved_page(str(folder))).read_text()
                return folder, shared, downloads.answer(str(folder)).runs
            except (ValueError, FileNotFoundError):  # others have had 20 answers in the meantime
                return folder, None, None

        with ThreadPoolExecutor(16) as executor:
            visits = list(executor.map(visit, range(400)))
        assert len({folder for folder, *_ in visits}) == len(visits)
        removed = 0
        for number, (_, *shown) in enumerate(visits):
            own = [f"request {number}", visitors[number % 2][1].runs]
            assert shown in (own, [None, None])
            removed += shown == [None, None]
        assert removed < 200
        assert len(list(first.parent.iterdir())) == 20
        assert downloads.answer(str(first)).runs == visitors[0][1].runs


def test_a_visitor_of_a_removed_answer_is_told_so(page, monkeypatch):
    monkeypatch.setattr(page.downloads, "_MAX_FOLDERS", 2)
    space, answer = answer_of(page, "gpassk", "1,0,1\n0,0,1")
    with downloads_of(page, space) as downloads:
        files = [downloads.keep(answer, "") for _ in range(3)]
        folder = str(files[1].parent)
        for write in (downloads.answer, downloads.saved_page):
            with pytest.raises(ValueError, match="has removed this answer"):
                write(folder)
        # The folder may be removed between the reading of the answer and the writing of a file.
        monkeypatch.setattr(downloads, "answer", lambda folder: answer)
        for write, kind in (
            (downloads.write_table, ("CSV",)),
            (downloads.write_chart, (0, "svg")),
            (downloads.write_chart, (0, "png")),
        ):
            with pytest.raises(ValueError, match="has removed this answer"):
                write(folder, *kind)


def test_a_request_that_ends_does_not_end_the_next_one(page):
    """The check that a request is the last one, and its removal, are one step."""
    layout = SimpleNamespace(inputs=None, outputs=None)
    handlers = page.events.Handlers(None, layout, None, None)
    visitor = SimpleNamespace(session_hash="visitor")
    inner = handlers._is_last
    next_run = handlers._run(visitor, "second")
    waiting: list[Any] = []

    def is_last(running, visitor):
        """Let another request start between the check and the removal, if nothing prevents it."""
        result = inner(running, visitor)
        if result and not waiting:
            started = executor.submit(next_run.__enter__)
            waiting.append(started)
            with pytest.raises(TimeoutError):  # it has to wait for the removal
                started.result(timeout=0.3)
        return result

    handlers._is_last = is_last
    with ThreadPoolExecutor(1) as executor:
        with handlers._run(visitor, "first"):
            pass
        second = waiting[0].result()
    assert inner(second, visitor)


FORMULAS = ['=HYPERLINK("http://x.example","x")', "+1+cmd", "-2+3", "\u200b=cmd", "@SUM(1)", "\n=1"]


@pytest.mark.parametrize("metric", ["bayes_at_n", "gpassk"])
def test_no_text_in_the_csv_of_a_page_is_a_formula(page, metric):
    others = ["-1.5", "a\r=cmd"]
    rows = [["group", "1", "2"], *([name, "1", "0"] for name in [*FORMULAS, *others])]
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    space, answer = answer_of(page, metric, text.getvalue())
    printed = page.tables.table_text(space, answer, "CSV")
    assert "\r" not in printed  # a spreadsheet would start a row there
    groups = {row[1] for row in csv.reader(io.StringIO(printed))}
    assert groups == {"group", "", "-1.5", r"a\r=cmd", *(f"'{name}" for name in FORMULAS)}


@pytest.mark.parametrize("number", [2, 3])
def test_no_name_of_a_file_is_a_formula_in_the_csv_of_a_page(page, tmp_path, number):
    """With two files there are differences, and with three a ranking."""
    files = []
    (tmp_path / "uploaded").mkdir()
    for name in ("=cmd.csv", "+1+cmd.csv", "=3*9.csv")[:number]:
        file = tmp_path / "uploaded" / name
        file.write_text("id,1,2,3\na,1,0,1\nb,0,1,1\nc,1,1,0\n")
        files.append(str(file))
    space, answer = answer_of(page, "gpassk", files=tuple(files), k=1)
    table = list(csv.reader(io.StringIO(page.tables.table_text(space, answer, "CSV"))))
    assert any("cmd" in row[0] for row in table)
    assert {row[0][:2] for row in table[1:]} == {"'=", "'+"}
