"""Many runs on the same questions: scores, ranks, and simultaneous limits of differences."""

from __future__ import annotations

import itertools
import string
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import short
from ..functions import RunLike

if TYPE_CHECKING:
    from .differences import Compared


def leaderboard(
    runs: Mapping[str, RunLike],
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
    by_order: bool = False,
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
            the same questions, paired as in `compare`. The numbers of samples may differ. If runs
            were read with labels, all have to be, and their scores are corrected; see `compare`.
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
        by_order: see `compare`.

    Returns:
        A dict with

        - "metric", "interval", "confidence", and "questions", the number of them;
        - "checker", if scores are corrected: for each run the rates of its checker, as `compute` of
          gpassk returns them;
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
    from .differences import compare_sources
    from .measure import ComparisonOptions

    sources = check_runs(runs)
    options = ComparisonOptions(
        metric, k, interval, confidence, tau, clusters, w, temperature, all_k=False
    )
    compared = compare_sources(sources, options, check_correct_fn, num_proc, by_order=by_order)
    return leaderboard_of(compared, p_values)


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


def leaderboard_of(compared: Compared, p_values: bool = False) -> dict[str, Any]:
    """Return what `leaderboard` returns, for compared runs."""
    options, differences = compared.options, compared.differences
    simultaneous = differences.multiplicity.confidence_of_each(options.confidence)
    lo, hi = differences.of_all_runs(options.confidence)
    band_lo, band_hi = differences.of_all_runs(simultaneous)
    limits = {"lo": lo, "hi": hi, "band_lo": band_lo, "band_hi": band_hi}
    p = differences.p_values() if p_values else None
    rows: list[dict[str, Any]] = []
    pairs: list[dict[str, Any]] = []
    for column, score_id in enumerate(compared.scores):
        scores = [float(run.estimates[column]) for run in compared.measured]
        order = sorted(range(len(scores)), key=lambda run: -scores[run])
        rows += _rows(compared, column, order, band_lo[:, :, column] > 0)
        for a, b in itertools.combinations(order, 2):
            names = {"a": compared.runs[a].name, "b": compared.runs[b].name}
            pair: dict[str, Any] = {**names, "key": score_id.key}
            pair |= {"difference": scores[a] - scores[b]}
            pair |= {name: float(limit[a, b, column]) for name, limit in limits.items()}
            if p is not None:
                pair["p"] = float(p[a, b, column])
                pair["p_adjusted"] = differences.multiplicity.adjusted(pair["p"])
            pairs.append(pair)
    checkers = compared.checkers
    return ({"checker": checkers} if checkers else {}) | {
        "metric": options.metric,
        "interval": options.interval,
        "confidence": options.confidence,
        "simultaneous_confidence": simultaneous,
        "questions": len(compared.runs[0].outcomes.sizes),
        "runs": rows,
        "pairs": pairs,
    }


def _rows(
    compared: Compared, column: int, order: Sequence[int], better: np.ndarray
) -> list[dict[str, Any]]:
    """Return the rows of the runs for one score, by descending score.

    Args:
        compared: the runs.
        column: index of the score.
        order: the runs by descending score.
        better: (K, K) whether each run is certainly better than each other.
    """
    scores = np.array([run.estimates[column] for run in compared.measured])
    rank, rank_lo, rank_hi = ranks(scores, better)
    letters_of_runs = letters((better | better.T)[np.ix_(order, order)])
    rows = []
    for run, letters_of_run in zip(order, letters_of_runs, strict=True):
        limits = compared.measured[run].limits_with_moves(compared.options.confidence)
        lo, hi = limits[:, column]
        n = compared.runs[run].outcomes.n
        rows.append(
            {
                "run": compared.runs[run].name,
                "key": compared.scores[column].key,
                "score": float(scores[run]),
                "lo": float(lo),
                "hi": float(hi),
                "rank": int(rank[run]),
                "rank_lo": int(rank_lo[run]),
                "rank_hi": int(rank_hi[run]),
                "letters": letters_of_run,
                "n_min": int(n.min()),
                "n_max": int(n.max()),
            }
        )
    return rows


# --- Ranks and letters --------------------------------------------------------------------


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
    names = [_name_of_group(index) for index in range(len(groups))]
    return [
        "".join(name for name, group in zip(names, groups, strict=True) if run in group)
        for run in range(len(different))
    ]


def _name_of_group(index: int) -> str:
    """The name of a group: a .. z, A .. Z, then with a number."""
    number, letter = divmod(index, len(string.ascii_letters))
    return string.ascii_letters[letter] + (str(number) if number else "")
