"""Read what a chart shows from its Vega-Lite specification, and from its picture."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any

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
