"""What visitors of one server get at the same time, and the files that they download."""

import contextlib
import csv
import io
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from apps import answer_of, uploaded

pytest_plugins = ["space_fixtures"]

PAGE = "This page, to be opened again"


@contextlib.contextmanager
def downloads_of(page, space):
    downloads = page.downloads.Downloads(space)
    with downloads._root:
        yield downloads


def test_each_of_many_visitors_gets_the_own_samples(page, monkeypatch):
    monkeypatch.setattr(page.downloads, "_MAX_FOLDERS", 20)
    visitors = [answer_of(page, "gpassk", f'{{"outcomes": [1, {i % 2}]}}') for i in range(2)]
    with downloads_of(page, visitors[0][0]) as downloads:
        first = Path(downloads.keep(visitors[0][1], "first"))

        def visit(number):
            folder = downloads.keep(visitors[number % 2][1], f"request {number}")
            try:
                shared = Path(downloads.write(folder, PAGE)).read_text()
                return folder, shared, downloads.answer(folder).runs
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
        with pytest.raises(ValueError, match="has removed this answer"):
            downloads.answer(files[1])


def test_every_download_is_a_file_of_its_kind(page):
    space, answer = answer_of(page, "gpassk", "1,0,1\n0,0,1", k=2)
    starts = {
        "json": b"{",
        "csv": b"run,",
        "tex": b"%",
        "md": b"|",
        "svg": b"<svg",
        "pdf": b"%PDF",
        "png": b"\x89PNG",
        "py": b"# pip",
        "txt": b"eN",
    }
    with downloads_of(page, space) as downloads:
        folder = downloads.keep(answer, "eNx")
        for choice in downloads.choices(answer):
            file = Path(downloads.write(folder, choice))
            assert file.name.startswith("gpassk")
            assert file.read_bytes().lstrip().startswith(starts[file.suffix[1:]]), choice


def test_a_later_request_of_a_visitor_ends_an_earlier_one_in_any_order(page, monkeypatch):
    space, answer = answer_of(page, "gpassk", "1,0,1\n0,0,1", k=2)
    monkeypatch.setattr(page.events, "score_in_steps", lambda request: iter([None, answer]))
    layout = SimpleNamespace(problem="problem", number="number")
    handlers = page.events.Handlers(space, layout, None)
    monkeypatch.setattr(handlers, "_request", lambda *_: ("request", {}))
    monkeypatch.setattr(handlers, "_answer_updates", lambda *_: {"answer": answer})
    event = SimpleNamespace(target=None)

    def steps(session, number):
        return handlers.score({"number": number}, SimpleNamespace(session_hash=session), event)

    first, other, second = steps("one", 1), steps("other", 1), steps("one", 2)
    assert [list(next(run)) for run in (first, other, second)] == [["problem"]] * 3
    assert [list(x) for x in first] == [["problem"]]
    assert list(other) == [{"number": 1, "answer": answer}]
    assert list(second) == [{"number": 2, "answer": answer}]
    assert [list(x) for x in steps("one", 1)] == [["problem"]]  # which the server starts last
    handlers.forget(SimpleNamespace(session_hash="one"))
    assert [*handlers._latest] == ["other"]


FORMULAS = ['=HYPERLINK("http://x.example","x")', "+1+cmd", "-2+3", "\u200b=cmd", "@SUM(1)", "\n=1"]


@pytest.mark.parametrize("metric", ["bayes_at_n", "gpassk"])
def test_no_text_in_the_csv_of_a_page_is_a_formula(page, metric):
    others = ["-1.5", "a\r=cmd"]
    rows = [["group", "1", "2"], *([name, "1", "0"] for name in [*FORMULAS, *others])]
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    space, answer = answer_of(page, metric, text.getvalue())
    printed = page.score_tables.table_text(space, answer, "CSV")
    assert "\r" not in printed  # a spreadsheet would start a row there
    groups = {row[1] for row in csv.reader(io.StringIO(printed))}
    assert groups == {"group", "", "-1.5", r"a\r=cmd", *(f"'{name}" for name in FORMULAS)}


def test_no_name_of_a_file_is_a_formula_in_the_csv_of_a_page(page, tmp_path):
    text = "id,1,2,3\na,1,0,1\nb,0,1,1\nc,1,1,0\n"
    files = uploaded(tmp_path, dict.fromkeys(("=cmd.csv", "+1+cmd.csv", "=3*9.csv"), text))
    space, answer = answer_of(page, "gpassk", files=files, k=1)
    table = list(csv.reader(io.StringIO(page.score_tables.table_text(space, answer, "CSV"))))
    assert any("cmd" in row[0] for row in table)
    assert {row[0][:2] for row in table[1:]} == {"'=", "'+"}
