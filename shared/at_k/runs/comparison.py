"""The difference between the scores of two runs on the same questions."""

from __future__ import annotations

from ..inputs.outcomes import read_outcomes


def compare(
    R_a,
    R_b,
    metric: str = "pass@k",
    k: int | list[int] | None = None,
    interval: str = "sampling",
    confidence: float = 0.95,
    tau: float = 0.5,
    clusters: list[str] | None = None,
) -> dict[str, float]:
    """Return the score of run b minus that of run a on the same questions, for each k.

    Args:
        R_a: outcomes of run a on M questions, 0 or 1.
        R_b: outcomes of run b on the same questions, in the same order. The numbers of samples may
            differ.
        metric: the score: pass@k, pass^k, G-Pass@k, mG-Pass@k, maj@k or AUC@k.
        k: number of samples that are drawn, or a list. Default: each k up to the smallest number of
            samples of a question.
        interval: "sampling", for new samples of these questions; or "questions", for new questions
            like these, paired.
        confidence: probability of the interval at each k, and of the simultaneous band over all k.
        tau: share of correct samples that G-Pass@k requires, from 0 to 1.
        clusters: a label of the cluster of each question, for interval "questions". Default: each
            question is its own cluster.

    Returns:
        For each k in ascending order, with <key> such as "pass@4": <key>, the difference; <key>_a
        and <key>_b, the scores; <key>_lo and <key>_hi, the confidence limits of the difference;
        <key>_band_lo and <key>_band_hi, the limits of the simultaneous confidence band. The band is
        equal to the interval if there is a single k.

    Raises:
        ValueError: if an outcome or a parameter is invalid, if the runs have different numbers of
            questions, or if there are too few samples or questions to estimate a variance.

    Examples:
        >>> result = compare([[0, 0, 1, 0], [1, 0, 1, 1]], [[0, 1, 1, 0], [1, 1, 1, 1]], k=1)
        >>> {key: round(value, 3) for key, value in result.items() if "band" not in key}
        {'pass@1': 0.25, 'pass@1_a': 0.5, 'pass@1_b': 0.75, 'pass@1_lo': -0.116, 'pass@1_hi': 0.58}
    """
    # Imported here because SciPy takes longer to import than the rest of at_k.
    from .differences import compare_counts

    a, b = read_outcomes(R_a, "R_a").counts(), read_outcomes(R_b, "R_b").counts()
    return compare_counts(a, b, metric, k, interval, confidence, tau, clusters)
