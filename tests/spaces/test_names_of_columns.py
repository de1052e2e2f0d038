"""The names of the columns of a page's table."""

from typing import Any

import pytest
from conftest import ROOT


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


EMPTY = [["reference", "1", "2"], ["", "", ""], ["", "", ""]]
FULL = [["reference", "1", "2"], ["12", "12", "13"], ["7", "7", "8"]]


@pytest.mark.parametrize(
    ("metric", "table", "place", "text", "expected"),
    [
        ("gpassk", EMPTY, (0, 0), "1\t0\n1\t1", [["1", "2"], ["1", "0"], ["1", "1"]]),
        ("gpassk", EMPTY, (1, 1), "1\t0\n1\t1", [["1", "2"], ["1", "0"], ["1", "1"]]),
        ("gpassk", FULL, (0, 0), "1\t0\n1\t1", [["1", "2"], ["1", "0"], ["1", "1"]]),
        ("gpassk", EMPTY, (0, 0), "12\t13\n7\t7", [["reference", "1"], ["12", "13"], ["7", "7"]]),
        ("max_at_k", EMPTY, (0, 0), "0,5\t1\n2\t3", [["1", "2"], ["0,5", "1"], ["2", "3"]]),
        ("gpassk", EMPTY, (0, 0), "[[1, 0], [1]]", [["1", "2"], ["1", "0"], ["1", ""]]),
        ("gpassk", FULL, (1, 1), "0\t1\n2\t3", [*FULL[:2], ["7", "0", "1"], ["", "2", "3"]]),
        (
            "gpassk",
            FULL,
            (0, 2),
            "1\t0",
            [["reference", "1", "2", "3"], ["12", "12", "1", "0"], ["7", "7", "8", ""]],
        ),
        ("gpassk", FULL, (1, 1), "id\tcorrect\na\t1", [["id", "correct"], ["a", "1"]]),
    ],
)
def test_pasted_cells_are_samples_or_follow_the_names(
    monkeypatch, metric, table, place, text, expected
):
    monkeypatch.syspath_prepend(ROOT / "spaces")
    from page.pasted import paste_cells, unnamed_of
    from page.space import Space

    unused: Any = None
    headers = ["reference"]
    space = Space(metric, "", "", headers, [], [], unused, unused, unused, unused, ())
    row, column = place
    assert paste_cells(unnamed_of(space), table, row, column, text) == expected
