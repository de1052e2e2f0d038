"""Parse labels of questions, such as groups and clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import is_list_like, short


def label_index(labels, questions: int, name: str) -> tuple[list[str], np.ndarray]:
    """Return the distinct labels as texts, and (M,) the index of each question's label.

    The labels are in order of their first appearance.

    Args:
        labels: a list, an array or a column of M labels.
        questions: M.
        name: of the parameter, for messages.

    Raises:
        ValueError: if there are not M labels, or if a label is None.
    """
    entries = _entries_of_column(labels, name)
    if len(entries) != questions:
        raise ValueError(
            f"{name} has {len(entries)} labels for {questions} questions: give one for each."
        )
    if None in entries:
        raise ValueError(f"{name}[{entries.index(None)}] is None: give every question a label.")
    codes: dict[str, int] = {}
    index = np.array([codes.setdefault(str(label), len(codes)) for label in entries])
    return list(codes), index


def _entries_of_column(labels, name: str) -> list[Any]:
    if hasattr(labels, "to_pylist"):  # Arrow, whose conversion to NumPy turns None into nan
        return labels.to_pylist()
    if hasattr(labels, "__array__") and not isinstance(labels, np.ndarray):
        labels = np.asarray(labels)
    if not is_list_like(labels):
        raise ValueError(f"{name} is {short(labels)}: give a list with an entry per question.")
    if isinstance(labels, np.ndarray):
        return labels.tolist()
    return [label.item() if hasattr(label, "item") else label for label in labels]
