"""Put panels below each other in a figure, with a legend above and a caption below.

A view is the area of a panel in which data are drawn, without labels of axes.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any

import altair as alt

from ..core.checks import check_name, check_number
from .results import Row
from .style import LEGEND_SYMBOL, PADDING, POINTS_PER_INCH, config, inline_data, wrap_text

_FORMATS = ("svg", "pdf", "png", "html", "json")
_NARROWEST_VIEW = 60.0
_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Chart</title>
<style>body {{ background: white; }} svg {{ width: min(100%, 60em); height: auto; }}</style>
</head>
<body>{svg}</body>
</html>
"""


class Figure(alt.FacetChart):
    """An Altair chart that keeps its size in print and needs no network in notebooks."""

    def save(  # type: ignore[override]
        self, fp: str | Path | IO[Any], format: Any = None, **options: Any
    ) -> None:
        """Write the chart to a file.

        Args:
            fp: path of the file, or an open file.
            format: "svg", "pdf", "png", "html" or "json". Default: the suffix of the path.
            **options: options of `altair.Chart.save`. A PNG has 300 pixels per inch unless `ppi` or
                `scale_factor` is given. SVG and HTML have no options. HTML is a page with the SVG.

        Raises:
            ValueError: if the format is none of these.
            TypeError: if SVG or HTML is given an option.
        """
        if format is None and isinstance(fp, (str, Path)):
            format = Path(fp).suffix.lstrip(".").lower()
        check_name("format", format, _FORMATS)
        if format not in ("svg", "html"):
            if format == "png" and "scale_factor" not in options:
                options = {"ppi": 300, **options}
            super().save(str(fp) if isinstance(fp, Path) else fp, format=format, **options)
            return
        if options:
            raise TypeError(f"A chart saved as {format} has no option {', '.join(options)}.")
        text = self.svg() if format == "svg" else _PAGE.format(svg=self.svg())
        if isinstance(fp, (str, Path)):
            Path(fp).write_text(text, encoding="utf-8")
        else:
            fp.write(text)

    def to_dict(self, *args: Any, **options: Any) -> dict[str, Any]:
        """Return the Vega-Lite specification with spaces for control characters, as in SVG."""
        return _with_printable_text(super().to_dict(*args, **options))

    def svg(self) -> str:
        """Return the chart as SVG. Its width and height are in points.

        Tooltips need no script: each marker has its text as a <title>, which browsers show.
        """
        # Imported here because only drawing needs it.
        from vl_convert import vegalite_to_svg

        spec = self.to_dict(validate=False)
        version = alt.SCHEMA_VERSION.rpartition(".")[0]  # "v6.1" of "v6.1.0"
        svg = vegalite_to_svg(spec, vl_version=version)
        described = f'<svg role="graphics-document" aria-label="{html.escape(spec["description"])}"'
        svg = svg.replace("<svg", described, 1)
        svg = re.sub(r' (width|height)="([\d.]+)"', r' \1="\2pt"', svg, count=2)
        return re.sub(
            r'<path (aria-label="([^"]*)"[^>]*)/>', r"<path \1><title>\2</title></path>", svg
        )

    def _repr_mimebundle_(self, *args: Any, **options: Any) -> Any:
        """Return the chart for a notebook: as SVG, unless another renderer of Altair is enabled."""
        if alt.renderers.active != "default":
            return super()._repr_mimebundle_(*args, **options)
        return {"image/svg+xml": self.svg()}


def printed_width(inches: float) -> float:
    """Return `inches` in points, less the padding. Raises ValueError unless from 0 to 1000."""
    wanted = "give a number of inches, such as 3.3"
    return check_number("width", inches, wanted, 0.0, 1000.0) * POINTS_PER_INCH - 2 * PADDING


def view_width(inches: float, left: float, right: float) -> float:
    """Return the width of views in points, beside labels of the widths `left` and `right`."""
    view = printed_width(inches) - left - right
    if not view >= _NARROWEST_VIEW:
        least = (left + right + _NARROWEST_VIEW + 2 * PADDING) / POINTS_PER_INCH
        raise ValueError(f"width is {inches} inches: this chart needs at least {least:.1f}.")
    return view


def wrap_names(rows: Iterable[Row], room: float) -> list[Row]:
    """Return rows with line breaks in "panel" and "series", so that lines fit in `room` points."""
    rooms = {"panel": room, "series": room - LEGEND_SYMBOL}
    return [row | {name: wrap_text(row[name], x) for name, x in rooms.items()} for row in rows]


def make_figure(
    panel: alt.LayerChart, rows: Sequence[Row], caption: str, inches: float, **resolved: Any
) -> Figure:
    """Return a figure `inches` wide with a panel for each value of the column "panel" of `rows`.

    `panel` has the layers of each. With y="independent", panels do not share the scale of y.
    """
    # Fonts that replace Helvetica are up to 16 % wider, which needs room beside the caption.
    lines = wrap_text(caption, 0.86 * printed_width(inches)).split("\n")
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    return Figure(
        data=inline_data(rows),
        facet=alt.FacetMapping(row=alt.Row("panel:N", sort=panels)),
        spec=panel,
        resolve=alt.Resolve(scale=alt.ScaleResolveMap(**resolved)),
        title=alt.TitleParams(lines) if caption else alt.Undefined,
        description=" ".join([f"{'; '.join(panels)}.", caption]),
        spacing=14,
        background="white",
        padding=PADDING,
        config=config(),
    )


def _with_printable_text(value: Any) -> Any:
    """Return a copy in which unprintable characters except line breaks have become spaces."""
    if isinstance(value, dict):
        return {name: _with_printable_text(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_with_printable_text(part) for part in value]
    if isinstance(value, str) and not value.isprintable():
        return "".join(x if x.isprintable() or x == "\n" else " " for x in value)
    return value
