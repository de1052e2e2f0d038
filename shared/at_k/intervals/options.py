"""Checks of the options `interval` and `clusters`, and what a prior means for the interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..checks import check_names
from ..inputs.labels import label_index


def check_interval(
    interval: str | None, confidence: float | None, known: Sequence[str], default: str = "auto"
) -> str:
    """Return the name of the interval method.

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


def chosen_method(interval: str, prior: str | None, clusters: object) -> str:
    """Return the name of the interval method, where "auto" is the one that uses what was given.

    Args:
        interval: the requested method.
        prior: the names of the parameters that give a prior, or None if none was given.
        clusters: the labels of clusters, or None if none were given.

    Raises:
        ValueError: if the requested method does not use a prior, or if clusters are given, too.
    """
    if prior is None:
        return "questions" if interval == "auto" and clusters is not None else interval
    if interval not in ("posterior", "auto"):
        raise ValueError(f"only interval='posterior' uses {prior}, and interval is {interval!r}.")
    if interval == "auto" and clusters is not None:
        raise ValueError(
            f"interval='posterior' uses {prior}, and interval='questions' uses clusters: leave out "
            f"one of them."
        )
    return "posterior"


def check_clusters(
    clusters, interval: str, confidence: float | None, questions: int
) -> np.ndarray | None:
    """Return (M,) cluster labels as integers, or None if each question is its own cluster.

    Raises:
        ValueError: if there are not M labels, or no interval that uses clusters.
    """
    if clusters is None:
        return None
    if confidence is None:
        raise ValueError(
            "clusters are given but confidence is None: give a confidence, such as 0.95."
        )
    if interval not in ("questions", "auto"):
        raise ValueError(
            f"clusters are used by interval='questions' only, and interval is {interval!r}."
        )
    return label_index(clusters, questions, "clusters")[1]
