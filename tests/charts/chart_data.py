"""Read what a chart shows from its Vega-Lite specification."""

from typing import Any


def rows_of(chart, *columns: str) -> list[dict[str, Any]]:
    """Return the rows of the data of a chart that have a column "key", or the named columns."""
    wanted = columns or ("key",)
    datasets = chart.to_dict(validate=False)["datasets"].values()
    return [row for rows in datasets for row in rows if all(column in row for column in wanted)]


def caption_of(chart) -> str:
    """Return the caption of a chart on one line."""
    return " ".join(row["caption"] for row in rows_of(chart, "caption"))


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
