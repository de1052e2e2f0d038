"""The data of charts are the numbers of the results, and their captions say what these are."""

import json
import re
import subprocess
import sys
import xml.dom.minidom
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any

import at_k
import numpy as np
import pandas as pd
import pytest
from at_k import charts
from at_k.charts.style import COLORS
from scored import gpassk

OUTCOMES = (np.random.default_rng(0).random((12, 9)) < np.linspace(0.1, 0.9, 12)[:, None]).astype(
    int
)
OTHER = (np.random.default_rng(1).random((12, 9)) < np.linspace(0.5, 0.9, 12)[:, None]).astype(int)
NO_DICT: Any = [0.5]
TOPICS = ["algebra", "geometry", "number/theory"] * 4


@pytest.fixture(autouse=True)
def without_repeated_validation(monkeypatch):
    """Let Altair validate no part of a chart: what is saved is validated as a whole."""
    monkeypatch.setattr("altair.utils.schemapi.DEBUG_MODE", False)


@pytest.fixture(scope="module")
def result():
    return gpassk(
        OUTCOMES,
        k=[1, 2, 3, 4, 5, 8],
        thresholds=[0.25, 0.5, 1.0],
        include=["pass@k", "pass^k", "maj@k", "G-Pass@k"],
        groups=TOPICS,
        confidence=0.9,
        return_per_question=True,
    )


@pytest.fixture(scope="module")
def comparison():
    return at_k.compare(OUTCOMES, OTHER, interval="sampling")


def test_scores_against_k_are_those_of_the_result(result):
    rows = rows_of(charts.by_k(result, ["pass@k", "pass^k"]))
    keys = [f"{metric}{k}" for metric in ("pass@", "pass^") for k in (1, 2, 3, 4, 5, 8)]
    assert [row["key"] for row in rows] == keys
    assert [row["x"] for row in rows] == [1, 2, 3, 4, 5, 8] * 2
    assert scores_by_key(rows) == {key: result[key] for key in keys}
    for limit in ("lo", "hi"):
        assert scores_by_key(rows, limit) == {key: result[f"{key}_{limit}"] for key in keys}
    # A band has a gap where a score has no limits.
    votes = {"vote@1": 0.1, "vote@2": 0.2, "vote@4": 0.3, "vote@1_lo": 0, "vote@1_hi": 0.2}
    assert [("lo" in row) for row in rows_of(charts.by_k(votes))] == [True, False, False]


def test_all_metrics_with_several_k_are_shown_by_default(result):
    rows = rows_of(charts.by_k(result))
    assert {row["metric"] for row in rows} == {
        "pass@k",
        "pass^k",
        "maj@k",
        "G-Pass@k_0.25",
        "G-Pass@k_0.5",
        "G-Pass@k_1.0",
    }
    chosen = rows_of(charts.by_k(result, "G-Pass@k"))
    assert {row["metric"] for row in chosen} == {"G-Pass@k_0.25", "G-Pass@k_0.5", "G-Pass@k_1.0"}


def test_several_runs_are_lines_of_a_panel_for_each_metric(result):
    other = {key: value / 2 for key, value in result.items() if isinstance(value, float)}
    chart = charts.by_k({"first": result, "second": other}, ["pass@k", "pass^k"])
    rows = rows_of(chart)
    assert list(dict.fromkeys(row["series"] for row in rows)) == ["first", "second"]
    assert len({row["panel"] for row in rows}) == 2
    halves = scores_by_key([row for row in rows if row["series"] == "second"])
    assert halves["pass^4"] == result["pass^4"] / 2
    assert [x for x in texts_of(chart) if x[0] in ("first", "second")] == [["first"], ["second"]]


def test_simultaneous_bands_are_shown_beside_the_limits_at_each_k():
    result = {"max@2": 3.0, "max@4": 5.0}
    for key, score in list(result.items()):
        result |= {f"{key}_lo": score - 1, f"{key}_hi": score + 1}
        result |= {f"{key}_band_lo": score - 2, f"{key}_band_hi": score + 2}
    chart = charts.by_k(result, confidence=0.95, interval="questions")
    assert scores_by_key(rows_of(chart), "band_hi") == {"max@2": 5.0, "max@4": 7.0}
    assert caption_of(chart) == (
        "Bands: 95 % confidence limits at each k (dark) and simultaneous 95 % band over all k "
        "(pale) for other questions like these."
    )


def test_the_axis_of_scores_goes_from_0_to_1_unless_scores_are_outside(result):
    shares = ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
    assert labels_of(charts.by_k(result, "pass@k"), "Y") == shares
    rewards = labels_of(charts.by_k({"max@2": 3.0, "max@4": 5.5}), "Y")
    assert rewards == ["3.0", "3.5", "4.0", "4.5", "5.0", "5.5"]


@pytest.mark.parametrize(
    ("ks", "scale", "ticks"),
    [
        (range(1, 9), None, [1, 2, 3, 4, 5, 6, 7, 8]),
        ([1, 2, 4, 8], "log", [1, 2, 4, 8]),
        (range(1, 81), "log", [1, 2, 4, 8, 16, 32, 64]),
        (range(1, 101), "log", [1, 2, 4, 8, 16, 32, 64, 100]),
        ([10, 11, 12], None, [10, 11, 12]),
        (range(20, 41), None, [20, 25, 30, 35, 40]),
    ],
)
def test_the_axis_of_k_is_logarithmic_where_k_has_a_wide_range(ks, scale, ticks):
    chart = charts.by_k({f"pass@{k}": 0.5 for k in ks})
    assert ("log" in values_of(chart.to_dict(validate=False), "type")) == (scale == "log")
    assert labels_of(chart, "X") == [str(tick) for tick in ticks]


def test_markers_of_many_k_are_apart_and_include_the_first_and_the_last():
    rows = rows_of(charts.by_k({f"pass@{k}": 0.5 for k in range(1, 81)}))
    assert [row["x"] for row in rows if row["marker"]] == [1, 2, 4, 8, 16, 32, 64, 80]


def test_scores_against_the_threshold_are_those_of_the_result(result):
    rows = [row for row in rows_of(charts.by_threshold(result, 8)) if row["marker"]]
    assert {row["x"]: row["score"] for row in rows} == {
        tau: result[f"G-Pass@8_{tau}"] for tau in (0.25, 0.5, 1.0)
    }
    assert all(row["lo"] == result[f"{row['key']}_lo"] for row in rows)


def test_g_pass_is_a_step_function_if_the_thresholds_include_all_steps():
    result = {f"G-Pass@2_{tau}": score for tau, score in ((0.5, 0.8), (0.75, 0.3), (1.0, 0.3))}
    rows = rows_of(charts.by_threshold(result))
    corners = [(row["x"], row["score"]) for row in rows]
    assert corners == [
        *((0, 0.8), (0.5, 0.8), (0.5, 0.8)),
        *((0.5, 0.3), (0.75, 0.3), (1.0, 0.3), (1.0, 0.3)),
    ]
    fewer = charts.by_threshold({"G-Pass@4_0.5": 0.8, "G-Pass@4_1.0": 0.3})
    assert len(rows_of(fewer)) == 2


def test_the_difference_is_that_of_the_comparison(comparison):
    chart = charts.difference(comparison, ("before", "after"), confidence=0.95)
    rows = rows_of(chart)
    keys = [f"pass@{k}" for k in range(1, 10)]
    assert scores_by_key(rows) == {key: comparison[key] for key in keys}
    for field in ("lo", "hi", "band_lo", "band_hi", "a", "b"):
        assert scores_by_key(rows, field) == {key: comparison[f"{key}_{field}"] for key in keys}
    assert ["difference of pass@k: after minus before"] in texts_of(chart)


def test_the_line_at_0_is_heavy_where_the_band_excludes_0(comparison):
    excluded = [k for k in range(1, 10) if comparison[f"pass@{k}_band_lo"] > 0]
    assert excluded == [1, 2, 3]
    chart = charts.difference(comparison, ("before", "after"))
    (segment,) = rows_of(chart, "end")
    assert (segment["x"], segment["end"]) == (1, 3)
    assert "band excludes 0 from pass@1 to pass@3, where after is higher." in caption_of(chart)
    none = charts.difference(at_k.compare(OUTCOMES, OUTCOMES))
    assert rows_of(none, "end") == []
    assert "The simultaneous band contains 0 at all k" in caption_of(none)


def test_questions_are_ordered_from_the_hardest_to_the_easiest(result):
    rows = rows_of(charts.by_question(result, "pass@1"))
    assert [row["score"] for row in rows] == sorted(result["per_question"]["pass@1"])
    for row in rows:
        assert row["score"] == result["per_question"]["pass@1"][row["question"]]
    items = charts.by_question({"per_question": {"score_agg": [0.5, 0.2]}}, noun="item")
    assert "items, from the lowest to the highest" in json.dumps(items.to_dict(validate=False))


def test_groups_have_the_scores_of_the_result(result):
    rows = rows_of(charts.by_group(result, ["pass@1", "pass@8"]))
    labels = ["all questions", "algebra", "geometry", "number/theory"]
    assert list(dict.fromkeys(row["label"] for row in rows)) == labels
    for row in rows:
        prefix = "" if row["label"] == "all questions" else f"{row['label']}/"
        assert row["score"] == result[f"{prefix}{row['metric']}"]
        assert row["hi"] == result[f"{prefix}{row['metric']}_hi"]


def test_the_forest_has_the_scores_ranks_and_letters_of_the_leaderboard():
    runs = {"one": OUTCOMES, "two": OTHER, "three": OUTCOMES}
    board = at_k.leaderboard(runs, k=[1, 4], interval="sampling")
    chart = charts.forest(board, checker="numeric")
    rows = [{name: row[name] for name in board["runs"][0]} for row in rows_of(chart)]
    assert rows == board["runs"]
    texts = [" ".join(lines) for lines in texts_of(chart)]
    assert {"rank", "letters"} < set(texts)
    for row in board["runs"]:
        assert row["run"] in texts
        assert row["letters"] in texts
    assert {(row["rank_lo"], row["rank_hi"]) for row in board["runs"]} >= {(1, 1), (2, 3)}
    assert {"1", "2\u20133"} <= set(texts)
    assert caption_of(chart) == (
        "Bars: 95 % confidence limits for the same questions, sampled again. Ranks and letters: "
        "simultaneous 95 % limits of all differences; runs that share a letter cannot be told "
        "apart. 12 questions, 9 samples each, checked with numeric."
    )
    assert {row["key"] for row in rows_of(charts.forest(board, "pass@4"))} == {"pass@4"}


def test_the_caption_names_n_the_checker_the_confidence_and_what_the_band_answers(result):
    details: dict[str, Any] = {"questions": 12, "n": 9, "checker": "numeric", "confidence": 0.9}
    assert caption_of(charts.by_k(result, "pass@k", **details)) == (
        "Bands: pointwise 90 % confidence limits for the same questions, sampled again. "
        "12 questions, 9 samples each, checked with numeric."
    )
    named = {key: value for key, value in result.items() if not key.endswith("_interval")}
    text = caption_of(charts.by_group(named, "pass@8", interval="questions", n="5 to 9"))
    assert text == (
        "Bars: confidence limits for other questions like these. 5 to 9 samples per question."
    )
    with pytest.raises(ValueError, match="interval is 'questions', but the limits in the results"):
        charts.by_k(result, "pass@k", interval="questions")
    assert caption_of(charts.by_k(named, "pass@k")) == "Bands: pointwise confidence limits."
    assert caption_of(charts.by_question(result, "pass@1", n=9)) == "12 questions, 9 samples each."
    one = {"per_question": {"pass@1": [0.5]}}
    assert caption_of(charts.by_question(one, n=2)) == "1 question, 2 samples each."
    assert caption_of(charts.by_k(result, caption="Mine.", n=9)) == "Mine."


def test_the_caption_says_what_checker_scores_are_corrected_for():
    compute = at_k.load("gpassk").compute
    options: dict[str, Any] = {"k": [1, 2, 4], "include": "pass@k"}
    options |= {"groups": TOPICS, "return_per_question": True}
    outcomes = np.vstack([np.zeros_like(OUTCOMES[:1]), OUTCOMES[1:]])
    corrected = compute(predictions=outcomes, checker_rates=(0.9, 0.05), **options)
    sentence = (
        "corrected for a judge with a true-positive rate of 90.0 % and a false-positive rate of "
        "5.0 %, assuming that its errors are independent."
    )
    for draw in (charts.by_k, charts.by_group, charts.by_question):
        assert f"Scores: {sentence}" in caption_of(draw(corrected))
    assert min(row["score"] for row in rows_of(charts.by_question(corrected, "pass@4"))) < 0
    other = compute(predictions=OTHER, **options)
    text = caption_of(charts.by_k({"A": corrected, "B": other}, "pass@k"))
    assert f"A: {sentence}" in text
    assert "B: " not in text


RISING = {"pass@1": 0.1, "pass@2": 0.2}
NINE = {f"{group}pass@{k}": 0.5 for group in ("", "a/") for k in range(9)}
ONE_LIMIT = {"pass@1": 0.5, "pass@2": 0.6, "pass@2_lo": 0.5}
NO_METRIC_IN_COMMON = {"a": RISING, "b": {"max@1": 0, "max@2": 0}}


@pytest.mark.parametrize(
    ("chart", "results", "options", "message"),
    [
        ("by_k", NO_DICT, {}, "results is list: give the dict that compute returns"),
        ("by_k", {}, {}, "results is empty"),
        ("by_k", {1: {"pass@1": 0.5}, "1": {"pass@1": 1.0}}, {}, "two runs with the same name"),
        ("by_k", {"a": RISING, "b": {"pass@2": 1}}, {}, "b has no scores for several k: compute"),
        ("by_k", RISING, {"metric": "pass^k"}, r"metric is 'pass\^k': the results have pass@k"),
        ("by_k", NO_METRIC_IN_COMMON, {}, "The runs a, b have no scores for several k in common"),
        ("by_k", ONE_LIMIT, {}, "results has only one limit of 'pass@2'"),
        ("by_k", RISING, {"width": 0.5}, "width is 0.5 inches: this chart needs at least"),
        ("by_threshold", {"pass@1": 0.5}, {}, "no G-Pass@k for several thresholds"),
        ("by_question", {"pass@1": 0.5}, {}, "return_per_question=True"),
        ("by_group", {"pass@1": 0.5}, {}, "compute with groups"),
        ("by_group", NINE, {}, "9 scores are too many"),
        ("forest", {"pass@1": 0.5}, {}, "This is not a leaderboard"),
        ("difference", {"pass@1": 0.5}, {}, "The comparison is not at several k"),
        ("difference", pd.DataFrame(), {}, "comparison is DataFrame: give the dict that at_k.comp"),
        ("by_k", RISING, {"percent": "yes"}, "percent is 'yes'"),
        ("by_question", {"per_question": {"a": []}}, {}, "per_question has no scores under a"),
        ("by_parameter", {"0.2": RISING}, {"parameter": "T"}, "values of T are numbers"),
        ("by_k", RISING, {"with": 3}, "A chart has no option 'with'. Did you mean 'width'"),
    ],
)
def test_results_that_a_chart_cannot_show_are_refused(chart, results, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        getattr(charts, chart)(results, **options)


def test_a_dashed_line_marks_a_k_or_a_threshold(result):
    chart = charts.by_k(result, "pass@k", highlight=4)
    assert {"x": 4} in rows_of(chart, "x")
    assert [3, 2] in values_of(chart.to_dict(validate=False), "strokeDash")
    assert {"x": 0.5} in rows_of(charts.by_threshold(result, 8, highlight=0.5), "x")
    comparison = at_k.compare(OUTCOMES, OTHER, k=[1, 4, 8])
    assert {"x": 4.0} in rows_of(charts.difference(comparison, highlight=4), "x")
    with pytest.raises(ValueError, match="highlight is 9: it must be from 1 to 8"):
        charts.by_k(result, "pass@k", highlight=9)


def test_the_mean_of_the_samples_is_a_line_beside_the_metrics_of_k():
    result = {"avg@3": 0.5, "avg@3_lo": 0.4, "avg@3_hi": 0.6, "maj@1": 0.5, "maj@3": 0.7}
    rows = rows_of(charts.by_k(result, ["maj@k", "avg@k"]))
    assert [(row["x"], row["score"]) for row in rows if row["metric"] == "avg@k"] == [
        (1, 0.5),
        (3, 0.5),
    ]
    assert not any("lo" in row for row in rows)
    assert {row["metric"] for row in rows_of(charts.by_k(result))} == {"maj@k"}


def test_a_line_of_majorities_leaves_out_even_k_if_there_are_odd_ones(result):
    chart = charts.by_k(result, ["pass@k", "maj@k"], highlight=8)
    drawn = [row["x"] for row in rows_of(chart) if row["metric"] == "maj@k"]
    assert drawn == [1, 3, 5]
    assert "maj@k is drawn at odd k: at even k, ties count as incorrect." in caption_of(chart)
    assert {"x": 8.0} in rows_of(charts.by_k(result, "maj@k", highlight=8), "x")
    even = charts.by_k({"maj@1": 0.5, "maj@2": 0.25, "maj@4": 0.3}, "maj@k")
    assert [row["x"] for row in rows_of(even)] == [1, 2, 4]
    assert not caption_of(even)


def test_every_point_of_a_line_has_a_tooltip_also_without_a_marker(result):
    chart = charts.by_question(result, "pass@1", labels=[f"q{i}" for i in range(12)], width=1.5)
    rows = rows_of(chart)
    assert sorted(row["question"] for row in rows) == sorted(f"q{i}" for i in range(12))
    assert not all(row["marker"] for row in rows)
    spec = chart.to_dict(validate=False)
    assert "datum.marker" not in values_of(spec, "filter")
    assert all(f"question {row['question']}, " in row["text"] for row in rows)
    with pytest.raises(ValueError, match="labels has 2 entries for 12 questions"):
        charts.by_question(result, "pass@1", labels=["a", "b"])


def test_scores_against_a_parameter(result):
    sweep = {0.2: {"pass@1": 0.3}, 1.0: {"pass@1": 0.4}, 0.6: {"pass@1": 0.5}}
    rows = rows_of(charts.by_parameter(sweep, parameter="temperature", highlight=0.6))
    assert [(row["x"], row["score"]) for row in rows] == [(0.2, 0.3), (0.6, 0.5), (1.0, 0.4)]
    chart = charts.by_parameter({"a": sweep, "b": sweep}, "pass@1", parameter="temperature")
    assert {row["series"] for row in rows_of(chart)} == {"a", "b"}
    with pytest.raises(ValueError, match="results has too few values of step: a line needs two"):
        charts.by_parameter({1: result}, "pass@1", parameter="step")


def test_panels_are_in_the_order_of_the_request():
    compute = at_k.load("gpassk").compute
    options: dict[str, Any] = {"k": [1, 2, 4], "include": ["pass@k", "AUC@k"]}
    results = {
        name: compute(predictions=x, **options) for name, x in (("A", OUTCOMES), ("B", OTHER))
    }
    for metrics in (["pass@k", "AUC@k"], ["AUC@k", "pass@k"]):
        titles = charts.by_k(results, metrics).to_dict()["facet"]["row"]["sort"]
        assert [title.partition(":")[0] for title in titles] == metrics


# --- Figures ----------------------------------------------------------------------------

RESULT = {"pass@1": 0.2, "pass@2": 0.4, "pass@4": 0.5, "pass@4_lo": 0.4, "pass@4_hi": 0.6}
HOSTILE = "</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def chart():
    return charts.by_k({"one": RESULT, HOSTILE: RESULT}, n=8, confidence=0.95)


@pytest.fixture(scope="module")
def files(chart, tmp_path_factory):
    folder = tmp_path_factory.mktemp("charts")
    for suffix in ("svg", "pdf", "png", "html"):
        chart.save(folder / f"chart.{suffix}")
    return {path.suffix: path.read_bytes() for path in folder.iterdir()}


def test_files_have_their_formats(chart, files, tmp_path):
    starts = {".svg": b"<svg", ".pdf": b"%PDF", ".png": b"\x89PNG", ".html": b"<!DOCTYPE html>"}
    assert all(files[suffix].startswith(start) for suffix, start in starts.items())
    for name, format in (("chart", None), ("chart.svg", "jpg")):
        with pytest.raises(ValueError, match=r"format has '.*', which is none of svg, pdf, png"):
            chart.save(tmp_path / name, format)
    with pytest.raises(TypeError, match="A chart saved as svg has no option ppi"):
        chart.save(tmp_path / "chart.svg", ppi=100)


def test_a_chart_in_percent_differs_in_its_axis_and_its_tooltips():
    shares, percent = (charts.by_k(RESULT, percent=x) for x in (False, True))
    assert labels_of(percent, "Y") == ["0%", "20%", "40%", "60%", "80%", "100%"]
    assert "%" not in "".join(labels_of(shares, "Y"))
    assert [row["text"].rpartition(": ")[2] for row in rows_of(percent)] == [
        "20.00%",
        "40.00%",
        "50.00%, limits 40.00% to 60.00%",
    ]


def test_a_difference_in_percent_is_in_percentage_points():
    comparison = at_k.compare([[0, 0, 1, 0]] * 3, [[0, 1, 1, 0]] * 3)
    labels = labels_of(charts.difference(comparison, percent=True), "Y")
    assert "0" in labels
    assert all(re.fullmatch(r"[+\u2212]\d+ pp", label) for label in labels if label != "0")


def test_marks_in_svg_have_their_tooltips_as_titles(files):
    titles = re.findall("<title>(one.*?)</title>", files[".svg"].decode())
    assert titles == [
        "one, pass@1: 0.2000",
        "one, pass@2: 0.4000",
        "one, pass@4: 0.5000, limits 0.4000 to 0.6000",
    ]
    assert titles[-1] in files[".html"].decode()


def test_files_are_as_wide_as_a_column(files):
    (width,) = re.findall(rb'^<svg[^>]* width="([\d.]+)pt"', files[".svg"])
    (box,) = re.findall(rb"MediaBox ?\[0 0 ([\d.]+)", files[".pdf"])
    pixels = int.from_bytes(files[".png"][16:20], "big")
    inches = [float(width) / 72, float(box) / 72, pixels / 300]
    assert inches == pytest.approx([3.3] * 3, abs=0.06)


def test_html_needs_no_network_and_runs_no_text_of_results(files):
    page = files[".html"].decode()
    assert not re.search(r"<(script|link)[^>]*(src|href)=", page)
    assert "<script" not in page


def test_control_characters_in_names_are_spaces(tmp_path):
    hostile = "\x1b[31m\x00\ud800\n"
    scores = {"pass@1": 0.2, f"{hostile}/pass@1": 0.3}
    charts.by_group({f"a{hostile}": scores, "b": scores}).save(tmp_path / "chart.svg")
    text = xml.dom.minidom.parse(str(tmp_path / "chart.svg")).toxml()
    assert "a [31m" in text


def test_text_of_results_is_in_no_expression():
    name = "datum.x; alert('1')"
    results = {f"{name}/pass@1": 0.1, "pass@1": 0.2}
    specification = charts.by_group({name: results, "other": results}).to_dict()
    expressions = [
        *values_of(specification, "labelExpr"),
        *values_of(specification, "expr"),
        *values_of(specification, "filter"),
    ]
    assert not any("alert" in str(expression) for expression in expressions)


def test_a_notebook_shows_svg_on_white(chart):
    bundle = chart._repr_mimebundle_()
    assert bundle["image/svg+xml"].startswith("<svg")
    assert 'fill="white"' in bundle["image/svg+xml"]


def test_lines_differ_in_color_and_dash_and_their_markers_are_named_in_the_legend():
    results = {f"model {i}": RESULT for i in range(12)}
    chart = charts.by_k(results)
    lines, symbols = paths_of(chart, "mark-line"), paths_of(chart, "role-legend-symbol")
    assert len({(line.get("stroke"), line.get("stroke-dasharray")) for line in lines}) == 12
    assert len({(symbol.get("fill"), symbol.get("d")) for symbol in symbols}) == 12
    texts = [" ".join(lines) for lines in texts_of(chart)]
    assert [text for text in texts if text in results] == list(results)


@pytest.mark.parametrize("draw", [charts.by_k, charts.by_group])
def test_long_names_are_broken_into_lines_and_not_clipped(draw):
    long = "an-organization/a-model-with-a-long-name-70B-instruct-2025-11-22-checkpoint-00012000"
    scores = RESULT | {f"{long}/pass@1": 0.3}
    chart = draw({long: scores, "short": scores})
    lines = [lines for lines in texts_of(chart) if "".join(lines) == long]
    assert lines
    assert all(len(broken) > 1 for broken in lines)
    width = re.search(r'width="([\d.]+)pt"', chart.svg())
    assert width is not None
    assert float(width[1]) / 72 == pytest.approx(3.3, abs=0.06)


def test_every_color_differs_in_grey_from_white():
    for color in COLORS:
        red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
        assert 0.299 * red + 0.587 * green + 0.114 * blue < 190


def test_without_altair_the_error_says_what_to_install():
    code = "import sys; sys.modules['altair'] = None\ntry:\n import at_k.charts\n"
    code += "except ImportError as error: print(error)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install altair vl-convert-python" in done.stdout


# --- Reading a chart --------------------------------------------------------------------

SVG = "{http://www.w3.org/2000/svg}"


def rows_of(chart, *columns: str) -> list[dict[str, Any]]:
    """Return the rows of the data of a chart that have a column "key", or the named columns."""
    wanted = columns or ("key",)
    datasets = chart.to_dict(validate=False)["datasets"].values()
    return [row for rows in datasets for row in rows if all(column in row for column in wanted)]


def caption_of(chart) -> str:
    """Return the caption of a chart on one line."""
    return " ".join(chart.to_dict(validate=False).get("title", {"text": []})["text"])


def texts_of(chart) -> list[list[str]]:
    """Return the lines of each text that a reader sees in the picture of a chart."""
    return list(_visible_texts(ET.fromstring(chart.svg())))


def labels_of(chart, axis: str) -> list[str]:
    """Return the labels at the ticks of an axis, "X" or "Y", in the picture of a chart."""
    groups = ET.fromstring(chart.svg()).iter(f"{SVG}g")
    (found,) = (x for x in groups if x.get("aria-label", "").startswith(f"{axis}-axis"))
    (labels,) = (x for x in found.iter() if "role-axis-label" in x.get("class", ""))
    return ["".join(lines) for lines in _visible_texts(labels)]


def paths_of(chart, kind: str) -> list[ET.Element]:
    """Return the paths of marks of a kind, such as "mark-line", in the picture of a chart."""
    groups = ET.fromstring(chart.svg()).iter(f"{SVG}g")
    found = [group for group in groups if kind in group.get("class", "").split()]
    return [path for group in found for path in group.iter(f"{SVG}path")]


def _visible_texts(part: ET.Element) -> Iterator[list[str]]:
    for text in part.iter(f"{SVG}text"):
        if text.get("opacity") != "0":
            lines = [line.text or "" for line in text.iter(f"{SVG}tspan")] or [text.text or ""]
            yield [line for line in lines if line]


def scores_by_key(rows, field: str = "score") -> dict[str, float]:
    """Return a field of rows by their key."""
    return {row["key"]: row[field] for row in rows if field in row}


def values_of(specification: Any, name: str) -> list[Any]:
    """Return all values of a property, anywhere in a specification."""
    if isinstance(specification, list):
        return [value for part in specification for value in values_of(part, name)]
    if not isinstance(specification, dict):
        return []
    own = [specification[name]] if name in specification else []
    return own + [value for part in specification.values() for value in values_of(part, name)]
