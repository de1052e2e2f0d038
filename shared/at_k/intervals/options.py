"""Checks of the options `interval` and `clusters`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..checks import check_names
from ..inputs.labels import label_index


def check_interval(
    interval: str | None, confidence: float | None, known: Sequence[str], default: str
) -> str:
    """Return the name of the interval method, by default `default`.

    Raises:
        ValueError: if the name is unknown, or given without a confidence.
    """
    if interval is None:
        return default
    check_names("interval", [interval], known)
    if confidence is None:
        raise ValueError(
            f"interval is {interval!r} but confidence is None: give a confidence, such as 0.95."
        )
    return interval


def check_clusters(clusters, interval: str, questions: int) -> np.ndarray | None:
    """Return (M,) cluster labels as integers, or None if each question is its own cluster.

    Raises:
        ValueError: if there are not M labels, or the interval does not use clusters.
    """
    if clusters is None:
        return None
    if interval not in ("questions", "auto"):
        raise ValueError(
            f"clusters are used by interval='questions' only, and interval is {interval!r}."
        )
    return label_index(clusters, questions, "clusters")[1]
