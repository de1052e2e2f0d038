"""Figures: their files, their size, their text, and how they show themselves."""

import re
import subprocess
import sys
import xml.dom.minidom

import at_k
import pytest
from at_k import charts
from at_k.charts.style import COLORS
from chart_data import labels_of, paths_of, rows_of, texts_of, values_of

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
