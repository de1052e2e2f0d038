"""Many runs on the same questions: scores, ranks, and simultaneous limits of differences."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import short
from ..functions import Run
from .letters import letters, ranks

if TYPE_CHECKING:
    from .compared import Compared


def leaderboard(
    runs: Mapping[str, Run],
    metric: str = "pass@k",
    k: int | list[int] | None = None,
    interval: str | None = None,
    confidence: float = 0.95,
    tau: float = 0.5,
    clusters: list[str] | None = None,
    w: list[float] | None = None,
    temperature: float = 0.5,
    check_correct_fn: str | Callable[..., Any] = "exact_match",
    num_proc: int | None = None,
    p_values: bool = False,
) -> dict[str, Any]:
    """Rank runs on the same questions, with simultaneous confidence limits of their differences.

    With the given confidence, the limits band_lo to band_hi contain the differences of all pairs of
    runs at all k. Ranks and letters follow from them, so that the probability of any false
    statement that one run is better than another is at most 1 - confidence. The limits are by the
    Gaussian correlation inequality, or for "sampling" by the studentized range of Tukey and Kramer
    if it is narrower.

    Args:
        runs: the runs by their names, two or more: for each the outcomes of the samples of M
            questions, or a dict of predictions and references, as `at_k.read` returns it. All have
            the same questions in the same order. The numbers of samples may differ.
        metric: the score, see `compare`.
        k: size of the subsets of samples, one or several. Default: the largest of 4, 8 and 16 that
            every question has samples for; for vote@k the smallest number of samples of a question.
        interval: see `compare`.
        confidence: probability of the intervals of scores and of single differences, and of all
            differences together.
        tau: share of correct samples that G-Pass@k requires, from 0 to 1.
        clusters: see `compare`.
        w: see `compare`.
        temperature: see `compare`.
        check_correct_fn: see `compare`.
        num_proc: see `compare`.
        p_values: whether to add p and p_adjusted to the differences.

    Returns:
        A dict with

        - "metric", "interval", "confidence", and "questions", the number of them;
        - "simultaneous_confidence", of each interval from band_lo to band_hi;
        - "runs", a list of dicts, for each k by descending score:

          - "run", its name, and "key", such as "pass@8";
          - "score", and its limits "lo" and "hi";
          - "rank", and the ranks that it may have, "rank_lo" to "rank_hi";
          - "letters": runs that share one cannot be told apart;
          - "n_min" and "n_max", the numbers of samples of a question;

        - "pairs", a list of dicts, for each k and each pair of runs in the order of "runs":

          - "a" and "b", their names, and "key";
          - "difference", the score of a minus that of b (in `compare`, it is b minus a);
          - "lo" and "hi", its limits, and "band_lo" and "band_hi", its simultaneous limits;
          - if requested, "p", the two-sided p-value of no difference: the smallest alpha at which
            the interval from lo to hi with the confidence 1 - alpha excludes 0; and "p_adjusted",
            the same for band_lo to band_hi.

    Raises:
        ValueError: if an outcome or a parameter is invalid, if there are fewer than two runs, or if
            the runs have different questions, with the name of the run.

    Examples:
        >>> runs = {"x": [[0, 0, 1, 0], [1, 0, 1, 1]], "y": [[0, 1, 1, 0], [1, 1, 1, 1]]}
        >>> board = leaderboard(runs, k=1)
        >>> [(row["run"], row["score"], row["letters"]) for row in board["runs"]]
        [('y', 0.75, 'a'), ('x', 0.5, 'a')]

    References:
        Kramer (1956). Extension of Multiple Range Tests to Group Means with Unequal Numbers of
            Replications. Biometrics 12, 307.
        Piepho (2004). An Algorithm for a Letter-Based Representation of All-Pairwise Comparisons.
            Journal of Computational and Graphical Statistics 13, 456.
        Royen (2014). A Simple Proof of the Gaussian Correlation Conjecture Extended to
            Multivariate Gamma Distributions. Far East Journal of Theoretical Statistics 48, 139.
    """
    # Imported here because SciPy takes longer to import than the rest of at_k.
    from .compared import compare_sources

    found = compare_sources(
        check_runs(runs),
        check_correct_fn,
        num_proc,
        metric=metric,
        k=k,
        interval=interval,
        confidence=confidence,
        tau=tau,
        clusters=clusters,
        w=w,
        temperature=temperature,
        all_k=False,
    )
    return leaderboard_of(found, p_values)


def check_runs(runs: Any) -> dict[str, Any]:
    """Return two or more runs by their names."""
    if not isinstance(runs, Mapping):
        raise ValueError(f"runs is {short(runs)}: give a dict from names to runs.")
    for name in runs:
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"runs has the name {short(name)}: give each run a text as its name.")
    if len(runs) < 2:
        raise ValueError(f"A leaderboard needs two runs or more, and runs has {len(runs)}.")
    return dict(runs)


def leaderboard_of(found: Compared, p_values: bool = False) -> dict[str, Any]:
    """Return what `leaderboard` returns, for compared runs."""
    measure, differences = found.measure, found.differences
    simultaneous = differences.multiplicity.confidence_of_each(measure.confidence)
    lo, hi = differences.of_all_runs(measure.confidence)
    band_lo, band_hi = differences.of_all_runs(simultaneous)
    limits = {"lo": lo, "hi": hi, "band_lo": band_lo, "band_hi": band_hi}
    p = differences.p_values() if p_values else None
    rows: list[dict[str, Any]] = []
    pairs: list[dict[str, Any]] = []
    for place, key in enumerate(found.keys):
        scores = [float(run.estimates[place]) for run in found.measured]
        order = sorted(range(len(scores)), key=lambda run: -scores[run])
        rows += _rows(found, place, order, band_lo[:, :, place] > 0)
        for a, b in itertools.combinations(order, 2):
            pair: dict[str, Any] = {"a": found.runs[a].name, "b": found.runs[b].name, "key": key}
            pair |= {"difference": scores[a] - scores[b]}
            pair |= {name: float(each[a, b, place]) for name, each in limits.items()}
            if p is not None:
                pair["p"] = float(p[a, b, place])
                pair["p_adjusted"] = differences.multiplicity.adjusted(pair["p"])
            pairs.append(pair)
    return {
        "metric": measure.metric,
        "interval": measure.interval,
        "confidence": measure.confidence,
        "simultaneous_confidence": simultaneous,
        "questions": len(found.runs[0].outcomes.sizes),
        "runs": rows,
        "pairs": pairs,
    }


def _rows(
    found: Compared, place: int, order: Sequence[int], better: np.ndarray
) -> list[dict[str, Any]]:
    """Return the rows of the runs for one score, by descending score.

    Args:
        found: the compared runs.
        place: of the score.
        order: the runs by descending score.
        better: (K, K) whether each run is certainly better than each other.
    """
    scores = np.array([run.estimates[place] for run in found.measured])
    rank, rank_lo, rank_hi = ranks(scores, better)
    marks = letters((better | better.T)[np.ix_(order, order)])
    rows = []
    for run, mark in zip(order, marks, strict=True):
        lo, hi = found.measured[run].limits(found.measure.confidence)[:, place]
        n = found.runs[run].outcomes.n
        rows.append(
            {
                "run": found.runs[run].name,
                "key": found.keys[place],
                "score": float(scores[run]),
                "lo": float(lo),
                "hi": float(hi),
                "rank": int(rank[run]),
                "rank_lo": int(rank_lo[run]),
                "rank_hi": int(rank_hi[run]),
                "letters": mark,
                "n_min": int(n.min()),
                "n_max": int(n.max()),
            }
        )
    return rows
