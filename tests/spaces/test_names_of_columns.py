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
