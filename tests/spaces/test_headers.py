"""Which rows of a pasted table are names of columns."""

from typing import Any

import pytest
from conftest import ROOT


@pytest.fixture(name="has_header")
def function_of_the_page(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "spaces")
    from page.pasted import has_header, parse_table

    return lambda text: has_header(parse_table(text))


@pytest.mark.parametrize(
    "text",
    [
        "1,0.5,0.25\n0.4,0.3,0.9\n0.2,0.2,0.1",
        "0.5,1,0.25\n1,0,0.75",
        "0,0.5,1\n1,1,0.5",
        "1,2,3\n4,5,6",
        "0,1\n1,0",
        "0,1,2\n2,1,0",
        "1\n0\n1",
        "2,1\n1,2",
        "true,false,1\n1,0,true",
        "1,fully,none\nfully,none,minor",
        "fully,none\nmostly,minor",
        "1;0,5;0,25\n0,4;0,3;0,9",
    ],
)
def test_a_row_of_values_is_no_header(has_header, text):
    assert not has_header(text)


@pytest.mark.parametrize(
    "text",
    [
        "reference,1,2\n12,12,13",
        "question,run 1,run 2\nq1,1,0",
        "1,2,3\n0,1,1\n1,1,1",
        "0\t1\t2\n1\t1\t0",
        "answer;sample_1;sample_2\n12;12;13",
        "id,correct\nq1,1",
        ",1,2\nq1,0,1",
        "1,2\nfully,none",
        "1,2,3,4\nfully,none,minor,\npartial,mostly,,",
    ],
)
def test_a_row_of_names_is_a_header(has_header, text):
    assert has_header(text)


@pytest.mark.parametrize(
    ("table", "questions"),
    [
        ([["1", "2", "3"], ["1", "0.9", "0.0"]], 1),
        ([["1", "2"], [4, 5], [6, 7]], 2),
        ([["0.5", "1", "0.25"], ["1", "0", "0.75"]], 2),
        ([["2", "1"], ["1", "2"]], 2),
    ],
)
def test_a_table_names_its_columns_or_has_rewards_only(monkeypatch, tmp_path, table, questions):
    monkeypatch.syspath_prepend(ROOT / "spaces")
    monkeypatch.chdir(tmp_path)
    from page.request import make_request
    from page.samples import read_samples
    from page.space import Space

    unused: Any = None
    space = Space("max_at_k", "", "", [], [], [], unused, unused, unused, unused, ())
    samples, _, _ = read_samples(
        make_request(space, "exact_match", {}, table=table), ["predictions"]
    )
    assert [len(run["predictions"]) for run in samples.values()] == [questions]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("0,5 1 0,25\n1 0 0,75", [["0.5", "1", "0.25"], ["1", "0", "0.75"]]),
        ("0,5\t1\n1\t0,75", [["0.5", "1"], ["1", "0.75"]]),
        ("0,5;1\n1;0,75", [["0.5", "1"], ["1", "0.75"]]),
        ("1,000\t2\n3\t4", [["1,000", "2"], ["3", "4"]]),  # thousands
        ("1,5\t2.5\n3\t4", [["1,5", "2.5"], ["3", "4"]]),
        ("1, 0\n0, 1", [["1", " 0"], ["0", " 1"]]),
        ("the answer is 12\nit is 13", [["the answer is 12"], ["it is 13"]]),
        ("10\n2", [["10"], ["2"]]),
        ("0122\n1002", [["sample 1", "sample 2", "sample 3", "sample 4"], [*"0122"], [*"1002"]]),
        ('["a, [b]", "c"]', [["sample 1", "sample 2"], ["a, [b]", "c"]]),
        ("[1 2\n 3]", [["sample 1", "sample 2", "sample 3"], ["1", "2", "3"]]),
        ("f(1, 2)", [["f(1", " 2)"]]),
    ],
)
def test_cells_are_what_separates_them(monkeypatch, text, rows):
    monkeypatch.syspath_prepend(ROOT / "spaces")
    from page.pasted import parse_table

    assert parse_table(text) == rows
