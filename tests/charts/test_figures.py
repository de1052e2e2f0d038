"""Figures: their files, their size, their text, and how they show themselves."""

import re
import subprocess
import sys
import xml.dom.minidom

import at_k
import pytest
from at_k import charts
from at_k.charts.figure import Figure
from at_k.charts.style import COLORS, nice_ticks, text_width, wrap_text
from chart_data import rows_of, values_of

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


def test_files_have_their_formats(files):
    assert files[".svg"].startswith(b"<svg")
    assert files[".pdf"].startswith(b"%PDF")
    assert files[".png"].startswith(b"\x89PNG")
    assert files[".html"].startswith(b"<!DOCTYPE html>")


def test_a_chart_in_percent_differs_in_its_axis_its_tooltips_and_its_description(chart):
    percent, shares = chart.in_percent().to_dict(), chart.to_dict()
    text = re.sub(r'<[^>]*aria-label="[^"]*"', "<", chart.in_percent()._svg())
    labels = re.findall(r">([\d.]+)</text>", text)
    assert labels[-6:] == ["0", "20", "40", "60", "80", "100"]
    assert "samples correct (%)" in text
    panel = percent["vconcat"][1]
    (lines,) = [layer["encoding"]["tooltip"] for layer in panel["layer"] if "tooltip" in str(layer)]
    assert [line["format"] for line in lines if "format" in line] == [".2%"] * 3
    assert panel["data"] == shares["vconcat"][1]["data"]
    assert Figure.from_dict(percent).to_dict() == percent
    assert "(%)" not in chart._svg()


def test_svg_has_no_options(chart, tmp_path):
    with pytest.raises(TypeError, match="A chart saved as svg has no option ppi"):
        chart.save(tmp_path / "chart.svg", ppi=100)


def test_files_are_as_wide_as_a_column(files):
    width = re.search(rb'width="([\d.]+)pt"', files[".svg"])
    assert width is not None
    assert float(width[1]) / 72 == pytest.approx(3.3, abs=0.06)
    box = re.search(rb"MediaBox ?\[0 0 ([\d.]+)", files[".pdf"])
    assert box is not None
    assert float(box[1]) / 72 == pytest.approx(3.3, abs=0.06)
    pixels = int.from_bytes(files[".png"][16:20], "big")
    assert pixels / 300 == pytest.approx(3.3, abs=0.06)


def test_html_needs_no_network_and_runs_no_text_of_results(files):
    page = files[".html"].decode()
    assert not re.search(r"<(script|link)[^>]*(src|href)=", page)
    assert HOSTILE not in page
    assert page.count("</script>") == 2


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


def test_lines_differ_in_color_dash_and_shape_and_are_named_in_the_key():
    results = {f"model {i}": RESULT for i in range(12)}
    chart = charts.by_k(results)
    scales = [scale for scale in values_of(chart.to_dict(), "scale") if "range" in scale]
    ranges = {str(scale["range"]): scale["range"] for scale in scales}.values()
    assert len(ranges) == 3
    looks = {str(look) for look in zip(*ranges, strict=True)}
    assert len(looks) == 12
    names = [row["name"] for row in rows_of(chart, "name")]
    assert names == list(results)


def test_names_in_the_key_are_not_clipped():
    long = "an-organization/a-model-with-a-long-name-70B-instruct-2025-11-22-checkpoint-00012000"
    chart = charts.by_k({long: RESULT, "short": RESULT})
    rows = rows_of(chart, "name")
    assert "".join(row["name"] for row in rows if row["series"] == long) == long
    assert all(row["start"] + text_width(row["name"]) <= 3.3 * 72 for row in rows)


def test_every_color_differs_in_grey_from_white():
    for color in COLORS:
        red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
        assert 0.299 * red + 0.587 * green + 0.114 * blue < 190


def test_text_is_wrapped_to_a_width():
    text = "Bands: pointwise 95 % confidence limits for the same questions, sampled again."
    lines = wrap_text(text, 100)
    assert " ".join(lines) == text
    assert all(text_width(line) <= 100 for line in lines)
    assert wrap_text("a" * 50, 100) != ["a" * 50]


@pytest.mark.parametrize(
    ("lowest", "highest", "ticks"),
    [
        (0.0, 1.0, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (-0.21, 0.27, [-0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3]),
        (3, 3, [2.7, 2.8, 2.9, 3.0, 3.1, 3.2, 3.3]),
        (0, 0, [-1, -0.5, 0, 0.5, 1]),
        (1e-7, 3e-7, [1e-7, 1.5e-7, 2e-7, 2.5e-7, 3e-7]),
    ],
)
def test_ticks_are_round_and_enclose_the_values(lowest, highest, ticks):
    assert nice_ticks(lowest, highest) == pytest.approx(ticks, rel=1e-12)


def run_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_charts_are_an_attribute_that_is_imported_when_it_is_used():
    code = "import sys, at_k; print('altair' in sys.modules, at_k.charts.by_k.__name__)"
    assert run_python(code).split() == ["False", "by_k"]
    with pytest.raises(AttributeError, match="module 'at_k' has no attribute 'chart'"):
        _ = at_k.chart


def test_without_altair_the_error_says_what_to_install():
    code = "import sys; sys.modules['altair'] = None\ntry:\n import at_k.charts\n"
    code += "except ImportError as error: print(error)"
    assert "pip install altair vl-convert-python" in run_python(code)
