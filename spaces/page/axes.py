"""The axes of charts, as channels of Vega-Lite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Channel = dict[str, Any]


def number_axis(
    column: str, title: str | None, ticks: Sequence[float] | None = None, **scale: Any
) -> Channel:
    """Return the channel of a column of numbers.

    Args:
        column: the name of the column.
        title: the title of the axis.
        ticks: the values that are marked, or None for about six.
        **scale: properties of the Vega-Lite scale.
    """
    axis: Channel = {
        "title": title,
        "grid": True,
        "domain": False,
        "tickSize": 0,
        "labelPadding": 6,
        "labelOverlap": True,
        "labelFlush": False,
    }
    if ticks is None:
        axis["tickCount"] = 6
    else:
        axis["values"] = list(ticks)
    scale = {"nice": False, **scale}
    return {"field": column, "type": "quantitative", "axis": axis, "scale": scale}


def percent_axis(column: str, title: str | None = None) -> Channel:
    """Return the channel of a column of shares, from 0 to 100 %."""
    channel = number_axis(column, title, [0, 0.25, 0.5, 0.75, 1], domain=[0, 1])
    channel["axis"]["format"] = ".0%"
    return channel


def k_axis(maximum: int) -> Channel:
    """Return the channel of the column k, from 1 to `maximum`; logarithmic above 8."""
    title = "k, number of samples"
    domain = [1, max(2, maximum)]
    if maximum > 8:
        ticks = [2**i for i in range(maximum.bit_length())]
        channel = number_axis("k", title, ticks, domain=domain, type="log", base=2)
    else:
        channel = number_axis("k", title, list(range(1, maximum + 1)), domain=domain)
    channel["axis"]["format"] = "d"
    return channel


def curve_ks(maximum: int, points: int = 24) -> list[int]:
    """Return the k values of a curve from 1 to `maximum`, in increasing order.

    All integers if there are at most `points`. Otherwise the powers of two, and about `points`
    values at equal distances on a logarithmic scale.
    """
    if maximum <= points:
        return list(range(1, maximum + 1))
    ratio = maximum ** (1 / (points - 1))
    spread = {round(ratio**i) for i in range(points)}
    return sorted(spread | {2**i for i in range(maximum.bit_length())})
