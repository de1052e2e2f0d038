"""Clusters of questions: the effect on a variance of questions that share a cluster.

Questions of one cluster, such as those about one text, are correlated. The variance of their mean
follows from the sums over clusters (Miller 2024, arXiv:2411.00640).
"""

from __future__ import annotations

import numpy as np

ONE_CLUSTER = "there is one question, or one cluster of questions"

TOO_FEW_CLUSTERS = (
    "one question, or one cluster of questions, does not show how questions vary: add questions, "
    "or pass interval='sampling'"
)


def cluster_deviations(columns: np.ndarray, clusters: np.ndarray | None) -> np.ndarray:
    """(G, m) sums over each cluster of the deviations from the mean of (M, m) columns.

    Args:
        clusters: (M,) labels, or None if each question is its own cluster.
    """
    deviations = columns - columns.mean(axis=0)
    if clusters is None:
        return deviations
    _, inverse = np.unique(clusters, return_inverse=True)
    return np.array([np.bincount(inverse, column) for column in deviations.T]).T


def design_effects(columns: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """(m,) the factor by which clusters increase the variance of the mean, at least 1."""
    independent = np.sum(cluster_deviations(columns, None) ** 2, axis=0)
    clustered = np.sum(cluster_deviations(columns, clusters) ** 2, axis=0)
    return np.maximum(1.0, clustered / np.where(independent > 0, independent, np.inf))
