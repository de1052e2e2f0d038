"""Links to the pages of the other metrics, and to the package."""

from __future__ import annotations

import os

from .space import TITLES

_REPOSITORY = "https://github.com/evaluate-at-k/evaluate-at-k"


def links(metric: str) -> str:
    """Return a sentence with the links of the page of a metric, in Markdown.

    On the Hub, the other metrics are Spaces of the same owner. Elsewhere, the links lead to their
    cards.
    """
    owner = os.environ.get("SPACE_ID", "").rpartition("/")[0]
    pages = (
        f"https://huggingface.co/spaces/{owner}" if owner else f"{_REPOSITORY}/tree/main/metrics"
    )
    others = [f"[{title}]({pages}/{name})" for name, title in TITLES.items() if name != metric]
    package = f"[evaluate-at-k]({_REPOSITORY})"
    return f"Other metrics: {', '.join(others)}. Package, command and charts: {package}."
