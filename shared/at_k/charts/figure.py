"""A figure: panels below each other, with a legend above and a caption below."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import altair as alt

from ..core.checks import check_number
from .results import Row
from .style import (
    LEGEND_SYMBOL,
    PADDING,
    PERCENT_FORMATS,
    POINTS_PER_INCH,
    config,
    inline_data,
    wrap_text,
)

_NARROWEST_VIEW = 60.0
_CAPTION_SHARE = 0.86  # of the width: fonts that stand in for Helvetica are up to 16 % wider
_PPI = 300
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


class Figure(alt.FacetChart):
    """An Altair chart that keeps its size in print, and shows itself without a network.

    All other methods and attributes are those of `altair.FacetChart`.
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
        if details.pop("percent", False):
            _show_percent(spec["spec"])
        return spec

    def _svg(self) -> str:
        """Return the chart as SVG, whose units are points."""
        stream = io.StringIO()
        super().save(stream, format="svg")
        return re.sub(r' (width|height)="([\d.]+)"', r' \1="\2pt"', stream.getvalue(), count=2)

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
        return "<at_k.charts figure>"


def printed_width(inches: float) -> float:
    """Return the width of a figure without its padding, in points."""
    wanted = "give a number of inches, such as 3.3"
    return check_number("width", inches, wanted, 0.0, 1000.0) * POINTS_PER_INCH - 2 * PADDING


def view_width(inches: float, left: float, right: float) -> float:
    """Return the width of the views of a figure.

    Args:
        inches: the width of the figure.
        left, right: the points beside the views, for the labels of axes.

    Raises:
        ValueError: if the width leaves nothing for the views.
    """
    view = printed_width(inches) - left - right
    if not view >= _NARROWEST_VIEW:
        least = (left + right + _NARROWEST_VIEW + 2 * PADDING) / POINTS_PER_INCH
        raise ValueError(f"width is {inches} inches: this chart needs at least {least:.1f}.")
    return view


def wrap_names(rows: Sequence[Row], room: float) -> list[Row]:
    """Return rows whose panels and series are broken into lines, for headers and the legend.

    Args:
        rows: the data.
        room: the width from the left of the views to the right of the figure.
    """
    return [
        row
        | {
            "panel": wrap_text(row["panel"], room),
            "series": wrap_text(row["series"], room - LEGEND_SYMBOL),
        }
        for row in rows
    ]


def make_figure(
    panel: alt.LayerChart,
    rows: Sequence[Row],
    caption: str,
    inches: float,
    content: Sequence[str] = ("", ""),
    **resolved: Any,
) -> Figure:
    """Return a figure with a panel for each value of the column `panel`, its title.

    Args:
        panel: the marks of a panel, without data.
        rows: the data.
        caption: the text below the panels, or "".
        inches: the width of the figure.
        content: what the panels show, for readers who do not see them: with scores as they are, and
            with scores in percent.
        **resolved: the scales that panels do not share, as in `resolve_scale`.
    """
    description, in_percent = (f"{text} {caption}".strip() for text in content)
    lines = wrap_text(caption, _CAPTION_SHARE * printed_width(inches)).split("\n")
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    return Figure(
        data=inline_data(rows),
        facet=alt.FacetMapping(row=alt.Row("panel:N", sort=panels)),
        spec=panel,
        resolve=alt.Resolve(scale=alt.ScaleResolveMap(**resolved)),
        title=alt.TitleParams(lines) if caption else alt.Undefined,
        description=description,
        spacing=14,
        background="white",
        padding=PADDING,
        config=config(),
        usermeta={"inches": inches, "in_percent": in_percent},
    )


def _with_printable_text(value: Any) -> Any:
    """Return a part of a specification with a space for each character that is not printable.

    Line breaks stay: labels have some.
    """
    if isinstance(value, dict):
        return {name: _with_printable_text(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_with_printable_text(part) for part in value]
    if isinstance(value, str) and not value.isprintable():
        return "".join(x if x.isprintable() or x == "\n" else " " for x in value)
    return value


def _show_percent(part: Any) -> None:
    """Let the axes and tooltips of a part of a specification show scores in percent."""
    if isinstance(part, list):
        for entry in part:
            _show_percent(entry)
    elif isinstance(part, dict):
        if part.get("format") in PERCENT_FORMATS:
            part["format"] = PERCENT_FORMATS[part["format"]]
        for entry in part.values():
            _show_percent(entry)
