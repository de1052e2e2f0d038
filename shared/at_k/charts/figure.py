"""A figure: panels below each other, with a key of the series above and a caption below."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import altair as alt

from ..core.checks import check_number
from .results import Row
from .style import (
    LINE_HEIGHT,
    PADDING,
    POINTS_PER_INCH,
    SCORE_FORMAT,
    UNIT,
    config,
    decimals_of,
    inline_data,
    series_scales,
    text_width,
    wrap_text,
)

_KEY_LINE = 20.0  # length of the line in the key
_BEFORE_NAME, _AFTER_NAME = 4.0, 12.0
_NARROWEST_VIEW = 60.0
_BEYOND = 1.2  # how far marks at the border are drawn beyond their place
_PPI = 300
_SCORE_COLUMNS = ("score", "lo", "band_lo", "y")  # columns on axes of scores
# On a page, a figure is as wide as the page allows, up to twice its size in print.
_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Chart</title>
<style>
body {{ background: white; }}
#chart {{ width: min(100%, {width:.0f}pt); box-sizing: border-box; }}
#chart svg.marks {{ width: 100%; height: auto; }}
</style>
<script>{scripts}</script>
</head>
<body>
<div id="chart"></div>
<script>
const actions = {{"source": false, "compiled": false, "editor": false}};
vegaEmbed("#chart", {spec}, {{"renderer": "svg", "actions": actions}}).catch(console.error);
</script>
</body>
</html>
"""


class Figure(alt.VConcatChart):
    """An Altair chart that keeps its size in print, and shows itself without a network.

    All other methods and attributes are those of `altair.VConcatChart`.
    """

    def save(  # type: ignore[override]
        self, fp: str | Path | IO[Any], format: Any = None, **options: Any
    ) -> None:
        """Write the chart to a file.

        Args:
            fp: path of the file, or an open file.
            format: "svg", "pdf", "png", "html" or "json". Default: the suffix of the path.
            **options: options of `altair.Chart.save`. A PNG has 300 pixels per inch unless `ppi` is
                given. SVG and HTML have no options: HTML includes all scripts that it needs.
        """
        if format is None and isinstance(fp, (str, Path)):
            format = Path(fp).suffix.lstrip(".").lower()
        if format in ("svg", "html"):
            if options:
                raise TypeError(f"A chart saved as {format} has no option {', '.join(options)}.")
            text = self._svg() if format == "svg" else self._html()
            if isinstance(fp, (str, Path)):
                Path(fp).write_text(text, encoding="utf-8")
            else:
                fp.write(text)
            return
        if format == "png" and "scale_factor" not in options:
            options = {"ppi": _PPI, **options}
        super().save(str(fp) if isinstance(fp, Path) else fp, format=format, **options)

    def in_percent(self) -> Figure:
        """Return the same chart with scores from 0 to 1 in percent, in its description too."""
        figure = self.copy(deep=False)
        figure.description = self.usermeta.get("in_percent", self.description)
        figure.usermeta = {**self.usermeta, "percent": True}
        return figure

    def to_dict(self, *args: Any, **options: Any) -> dict[str, Any]:
        """Return the Vega-Lite specification, with spaces in place of control characters.

        These are not allowed in SVG, and vl-convert ends the process at some of them.
        """
        spec = _with_printable_text(super().to_dict(*args, **options))
        details = spec.get("usermeta", {})
        details.pop("in_percent", None)
        if details.pop("percent", False):  # so that a copy is not changed again
            _show_percent(spec)
        return spec

    def _svg(self) -> str:
        """Return the chart as SVG, whose units are points."""
        stream = io.StringIO()
        super().save(stream, format="svg")
        head, _, rest = stream.getvalue().partition(">")
        for length in ("width", "height"):
            before, _, after = head.partition(f' {length}="')
            value, _, after = after.partition('"')
            head = f'{before} {length}="{value}pt"{after}'
        return f"{head}>{rest}"

    def _html(self) -> str:
        """Return the chart as an HTML page that holds all scripts."""
        # Imported here because it is only needed to write files.
        from vl_convert import javascript_bundle

        version = alt.SCHEMA_VERSION.rpartition(".")[0]  # "v6.1" of "v6.1.0"
        return _PAGE.format(
            width=2 * POINTS_PER_INCH * self.usermeta["inches"],
            scripts=javascript_bundle(vl_version=version),  # type: ignore[call-arg]
            # Text of users could otherwise end the script.
            spec=self.to_json(indent=None).replace("<", "\\u003c"),
        )

    def _repr_mimebundle_(self, *args: Any, **options: Any) -> Any:
        """Return the chart as SVG, or what an explicitly enabled renderer of Altair makes of it."""
        if alt.renderers.active != "default":
            return super()._repr_mimebundle_(*args, **options)
        return {"image/svg+xml": self._svg(), "text/plain": repr(self)}

    def __repr__(self) -> str:
        return f"<at_k.charts figure, {len(self.vconcat)} parts>"


@dataclass(frozen=True)
class FigureSpace:
    """The horizontal space of a figure, in points.

    Attributes:
        left: what is left of the views: the labels of vertical axes.
        view: width of the views.
        right: what is right of the views.
    """

    left: float
    view: float
    right: float

    @property
    def total(self) -> float:
        """The width of the figure without its padding."""
        return self.left + self.view + self.right

    def x(self, column: str) -> alt.X:
        """Return a channel of positions that are counted from the left of the figure."""
        scale = alt.Scale(domain=[self.left, self.left + self.view], nice=False, zero=False)
        return alt.X(f"{column}:Q", scale=scale, axis=None)


def printed_width(inches: float) -> float:
    """Return the width of a figure without its padding, in points."""
    wanted = "give a number of inches, such as 3.3"
    return check_number("width", inches, wanted, 0.0, 1000.0) * POINTS_PER_INCH - 2 * PADDING


def divide_space(inches: float, left: float, right: float) -> FigureSpace:
    """Return the space of a figure of a given width.

    Raises:
        ValueError: if the width leaves nothing for the views.
    """
    total = printed_width(inches)
    if not total - left - right >= _NARROWEST_VIEW:
        least = (left + right + _NARROWEST_VIEW + 2 * PADDING) / POINTS_PER_INCH
        raise ValueError(f"width is {inches} inches: this chart needs at least {least:.1f}.")
    return FigureSpace(left, total - left - right, right)


def _with_printable_text(value: Any) -> Any:
    """Return a part of a specification with a space for each character that is not printable."""
    if isinstance(value, dict):
        return {name: _with_printable_text(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_with_printable_text(part) for part in value]
    if isinstance(value, str) and not value.isprintable():
        return "".join(character if character.isprintable() else " " for character in value)
    return value


def _show_percent(part: Any) -> None:
    """Let the axes and tooltips of a part of a specification show scores in percent."""
    if isinstance(part, list):
        for entry in part:
            _show_percent(entry)
    elif isinstance(part, dict):
        if part.get("field") in _SCORE_COLUMNS and (axis := part.get("axis")):
            *lines, last = axis["title"]
            axis["title"] = [*lines, f"{last}{UNIT}"]
            decimals = decimals_of([round(100 * x, 12) for x in axis["values"]])
            sign = "+" * ("+" in axis.get("labelExpr", ""))
            number = f"format(100 * datum.value, '{sign}.{decimals}f')"
            axis["labelExpr"] = f"datum.value ? {number} : '0'" if sign else number
        if part.get("format") == SCORE_FORMAT:
            part["format"] = ".2%"
        for name, entry in part.items():
            if name != "data":
                _show_percent(entry)


def make_figure(
    panels: Sequence[alt.LayerChart],
    names: Sequence[str],
    caption: str,
    space: FigureSpace,
    dashed: bool = True,
    content: Sequence[str] = ("", ""),
) -> Figure:
    """Return a figure.

    Args:
        panels: the panels.
        names: the series that the key explains, or none.
        caption: the text below the panels, or "".
        space: the horizontal space.
        dashed: whether the series differ in their dash patterns.
        content: what the panels show, for readers who do not see them: with scores as they are, and
            with scores in percent.
    """
    views: list[Any] = list(panels)
    if names:
        views.insert(0, _key(names, space, dashed))
    if caption:
        views.append(_caption(caption, space))
    description, in_percent = (f"{text} {caption}".strip() for text in content)
    return Figure(
        vconcat=views,
        description=description,
        spacing=6,
        background="white",
        padding=PADDING - _BEYOND,
        config=config(),
        usermeta={
            "inches": (space.total + 2 * PADDING) / POINTS_PER_INCH,
            "in_percent": in_percent,
        },
    )


def pixel_y(column: str, height: float) -> alt.Y:
    """Return a channel of positions that are counted from the top of a view."""
    scale = alt.Scale(domain=[height, 0], nice=False, zero=False)
    return alt.Y(f"{column}:Q", scale=scale, axis=None)


def _key(names: Sequence[str], space: FigureSpace, dashed: bool) -> alt.LayerChart:
    """Return the key: the line, the marker and the name of each series."""
    drawn: list[Row] = []
    rows: list[Row] = []
    x = y = 0.0
    for name in names:
        lines = wrap_text(name, space.total - _KEY_LINE - _BEFORE_NAME)
        needed = _KEY_LINE + _BEFORE_NAME + max(map(text_width, lines))
        if x and x + needed > space.total:
            x, y = 0.0, y + LINE_HEIGHT
        drawn.append(
            {"series": name, "x": x, "middle": x + _KEY_LINE / 2, "end": x + _KEY_LINE, "y": y}
        )
        for line in lines:
            start = x + _KEY_LINE + _BEFORE_NAME
            rows.append({"series": name, "start": start, "y": y, "name": line})
            y += LINE_HEIGHT
        y -= LINE_HEIGHT
        x += needed + _AFTER_NAME
    height = y + LINE_HEIGHT
    scales = series_scales(names)
    vertical = pixel_y("y", height)
    base = alt.Chart(inline_data(drawn)).encode(
        y=vertical, color=alt.Color("series:N", scale=scales["color"], legend=None)
    )
    line = base.mark_rule(strokeWidth=1.4, yOffset=LINE_HEIGHT / 2).encode(
        x=space.x("x"), x2=alt.X2("end:Q")
    )
    if dashed:
        dash = alt.StrokeDash("series:N", scale=scales["dash"], legend=None)
        line = line.encode(strokeDash=dash)
    marker = base.mark_point(filled=True, opacity=1, size=20, yOffset=LINE_HEIGHT / 2).encode(
        x=space.x("middle"), shape=alt.Shape("series:N", scale=scales["shape"], legend=None)
    )
    text = (
        alt.Chart(inline_data(rows))
        .mark_text(align="left", baseline="middle", yOffset=LINE_HEIGHT / 2)
        .encode(x=space.x("start"), y=vertical, text=alt.Text("name:N"))
    )
    return alt.LayerChart(layer=[line, marker, text], width=space.view, height=height)


def _caption(caption: str, space: FigureSpace) -> alt.LayerChart:
    """Return the lines of the caption."""
    lines = wrap_text(caption, space.total)
    height = LINE_HEIGHT * len(lines)
    rows = [{"x": 0, "y": i * LINE_HEIGHT, "caption": line} for i, line in enumerate(lines)]
    text = (
        alt.Chart(inline_data(rows))
        .mark_text(align="left", baseline="top")
        .encode(x=space.x("x"), y=pixel_y("y", height), text=alt.Text("caption:N"))
    )
    return alt.LayerChart(layer=[text], width=space.view, height=height)
