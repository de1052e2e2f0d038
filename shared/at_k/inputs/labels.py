"""Parse labels of questions, such as groups and clusters."""

from __future__ import annotations

import math

import numpy as np

from ..checks import check_depth, entries_of, has_no_axes, short


def label_index(labels, questions: int, name: str) -> tuple[list[str], np.ndarray]:
    """Return the distinct labels as texts, and (M,) the index of each question's label.

    The labels are in order of their first appearance.

    Args:
        labels: a list, an array or a column of M labels.
        questions: M.
        name: of the parameter, for messages.

    Raises:
        ValueError: if there are not M labels, or if a label is None, nan, an array or a frame.
    """
    entries = [label.item() if has_no_axes(label) else label for label in entries_of(name, labels)]
    if len(entries) != questions:
        raise ValueError(
            f"{name} has {len(entries)} labels for {questions} questions: give one for each."
        )
    for question, label in enumerate(entries):
        if hasattr(label, "shape"):
            raise ValueError(
                f"{name}[{question}] is {short(label)}: a label is a text or a number."
            )
        if label is None or (isinstance(label, float) and math.isnan(label)):
            raise ValueError(f"{name}[{question}] is {label}: give every question a label.")
    check_depth(name, entries)
    codes: dict[str, int] = {}
    index = np.array([codes.setdefault(str(label), len(codes)) for label in entries])
    return list(codes), index
