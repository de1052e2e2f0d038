"""Ranks of runs and compact letter displays, from the differences that are certain."""

from __future__ import annotations

import string

import numpy as np


def ranks(scores: np.ndarray, better: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rank of each run by its score, and the lowest and highest rank it may have.

    Equal scores share a rank. A run ranks below all runs that are certainly better, and above all
    that are certainly worse. If the intervals of all differences cover, so do the intervals of all
    ranks (Mohamad, Goeman & van Zwet 2022, Biometrics 78, 238).

    Args:
        scores: (K,).
        better: (K, K) whether each run is certainly better than each other.
    """
    rank = 1 + np.sum(scores[None, :] > scores[:, None], axis=1)
    return rank, 1 + better.sum(axis=0), len(scores) - better.sum(axis=1)


def letters(different: np.ndarray) -> list[str]:
    """Letters for K runs in their order: runs that share a letter cannot be told apart.

    A letter is given to each largest group of runs without a certain difference, by insertion and
    absorption (Piepho 2004, J. Computational and Graphical Statistics 13, 456).

    Args:
        different: (K, K), symmetric: whether two runs certainly differ.
    """
    groups = [frozenset(range(len(different)))]
    for a, b in np.argwhere(np.triu(different)).tolist():
        split = [group for group in groups if {a, b} <= group]
        groups = [group for group in groups if group not in split]
        for group in (part - {one} for one in (a, b) for part in split):
            if not any(group <= other for other in groups):
                groups.append(group)
    groups.sort(key=sorted)
    names = [_letter(place) for place in range(len(groups))]
    return [
        "".join(name for name, group in zip(names, groups, strict=True) if run in group)
        for run in range(len(different))
    ]


def _letter(place: int) -> str:
    """The name of a group: a .. z, A .. Z, then with a number."""
    turn, letter = divmod(place, len(string.ascii_letters))
    return string.ascii_letters[letter] + (str(turn) if turn else "")
