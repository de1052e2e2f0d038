"""A page reads the logs that the command reads, to the same samples."""

import importlib
from typing import Any

import at_k
import pytest
from conftest import ROOT

FIXTURES = ROOT / "tests" / "readers" / "fixtures"
LM_EVAL = "lm_eval/org__replay-1b/samples_sums_{}_2026-11-22T06-03-47.795372.jsonl"
# What a visitor chooses of the columns and rows of a log, and the arguments of `at_k.read`.
LOGS: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "evalplus/base_only_eval_results.json": ({}, {}),
    "evalplus/plus_eval_results.json": ({"predictions": "plus"}, {"outcomes": "plus"}),
    "human_eval/samples.jsonl_results.jsonl": ({}, {}),
    "inspect_ai/sums.eval": ({}, {}),
    "inspect_ai/sums.json": ({}, {}),
    "inspect_ai/sums_several.eval": (
        {"predictions": "score_letters"},
        {"outcomes": "score_letters"},
    ),
    "inspect_ai/samples_df.parquet": (
        {"predictions": "score_aspects.exact"},
        {"outcomes": "score_aspects.exact"},
    ),
    LM_EVAL.format("plain"): ({}, {}),
    LM_EVAL.format("first"): ({"predictions": "resps"}, {"predictions": "resps"}),
    LM_EVAL.format("pass"): ({"where": "filter=strict"}, {"where": {"filter": "strict"}}),
    "trl/completions_00001.parquet": ({"predictions": "is_three"}, {"outcomes": "is_three"}),
    "verl/100.jsonl": ({"predictions": "acc"}, {"outcomes": "acc"}),
}


@pytest.fixture(name="page", scope="module")
def modules_of_the_page(request):
    patch = pytest.MonkeyPatch()
    patch.syspath_prepend(ROOT / "spaces")
    modules = {name: importlib.import_module(f"page.{name}") for name in ("request", "samples")}
    yield modules
    patch.undo()


@pytest.mark.parametrize("name", LOGS)
def test_a_log_has_the_samples_that_the_command_reads(page, monkeypatch, tmp_path, name):
    class Space:
        metric, controls, headers = "gpassk", (), ("reference",)

    chosen, named = LOGS[name]
    monkeypatch.chdir(tmp_path)
    make_request, read_samples = page["request"].make_request, page["samples"].read_samples
    if chosen:
        undecided = make_request(Space, "numeric", {}, files=(str(FIXTURES / name),))
        with pytest.raises(page["request"].ColumnError) as error:
            read_samples(undecided, ())
        assert {*chosen.values()} <= {*error.value.columns, *error.value.rows}
    request = make_request(Space, "numeric", {}, files=(str(FIXTURES / name),), columns=chosen)
    ((read, *others), *_) = (list(part.values()) for part in read_samples(request, ())[:1])
    assert not others
    expected = at_k.read(FIXTURES / name, **named)
    for role in ("predictions", "references"):
        assert plain(read.get(role)) == plain(expected.get(role))


def plain(column):
    return column.to_pylist() if hasattr(column, "to_pylist") else column
