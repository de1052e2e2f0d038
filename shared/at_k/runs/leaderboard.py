"""Rank K runs on the same questions, and compute simultaneous limits of their differences."""

from __future__ import annotations

import itertools
import string
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from ..core.checks import short
from ..core.estimates import Estimate
from ..core.interval import Interval
from ..core.signatures import check_options, shows_options
from ..functions import OutcomesLike
from ..results import Result
from .differences import Compared, compare_groups
from .options import ComparisonOptions, RunOptions
from .outcomes_of_runs import grade_sources


@shows_options(RunOptions, ComparisonOptions)
def leaderboard(
    runs: Mapping[str, OutcomesLike],
    metric: str = "pass@k",
    k: int | list[int] | None = None,
    interval: str | None = None,
    confidence: float = 0.95,
    *,
    temperature: float = 0.5,
    p_values: bool = False,
    by_order: bool = False,
    common: bool = False,
    **options: Unpack[RunOptions],
) -> Result:
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
        confidence: probability of the intervals of scores and of single differences, and of all
            differences together.
        p_values: whether to add p and p_adjusted to the differences.
        groups: a label for each question. Adds the leaderboard of each group.
        interval, temperature, by_order, common, tau, clusters, w: see `compare`.
        check_correct_fn, num_proc, average, question_weights: see `compare`.

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
            the same for band_lo to band_hi;

        - "groups", if requested: such a dict for each group.

    Raises:
        ValueError: if an outcome or a parameter is invalid, if there are fewer than two runs, or if
            the runs have different questions, with the name of the run.

    Examples:
        >>> runs = {"x": [[0, 0, 1, 0], [1, 0, 1, 1]], "y": [[0, 1, 1, 0], [1, 1, 1, 1]]}
        >>> board = leaderboard(runs, k=1)
        >>> [(row["run"], row["score"], row["letters"]) for row in board["runs"]]
        [('y', 0.75, 'a'), ('x', 0.5, 'a')]

    References:
        Gramm, Guo, Hueffner, Niedermeier & Schmidt (2008). Algorithms for Compact Letter Displays:
            Comparison and Evaluation. Computational Statistics & Data Analysis 52, 725.
        Piepho (2004). An Algorithm for a Letter-Based Representation of All-Pairwise Comparisons.
            Journal of Computational and Graphical Statistics 13, 456.
        Hayter (1984). Annals of Statistics 12, 61; and Royen (2014). Far East Journal of
            Theoretical Statistics 48, 139: see `at_k.runs.differences`.
    """
    check_options(leaderboard, options)
    if not isinstance(runs, Mapping):
        raise ValueError(f"runs is {short(runs)}: give a dict from names to runs.")
    for name in runs:
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"runs has the name {short(name)}: give each run a text as its name.")
    if len(runs) < 2:
        raise ValueError(f"A leaderboard needs two runs or more, and runs has {len(runs)}.")
    requested = ComparisonOptions(
        metric, k, interval, confidence, temperature=temperature, all_k=False, **options
    )
    graded = grade_sources([*runs.items()], requested, by_order=by_order, common=common)
    overall = Compared(*graded)
    return leaderboard_of_groups(compare_groups(overall, overall.options.groups), p_values)


def leaderboard_of_groups(
    compared: Mapping[str | None, Compared], p_values: bool = False
) -> Result:
    """Return the result of `leaderboard`, with the leaderboards of groups, if any, in "groups"."""
    boards = {group: leaderboard_of(runs, p_values) for group, runs in compared.items()}
    board = boards.pop(None)
    return Result(board | {"groups": boards}, board.estimates, board.averaging) if boards else board


def leaderboard_of(compared: Compared, p_values: bool = False) -> Result:
    """Return the result of `leaderboard` for one comparison, without groups."""
    options = compared.options
    simultaneous = compared.confidence_of_each
    lo, hi = compared.limits_by_run(options.confidence)
    band_lo, band_hi = compared.limits_by_run(simultaneous)
    limits = {"lo": lo, "hi": hi, "band_lo": band_lo, "band_hi": band_hi}
    p = {ab: pair.p_values() for ab, pair in compared.pairs.items()} if p_values else {}
    rows: list[dict[str, Any]] = []
    pairs: list[dict[str, Any]] = []
    estimates: list[Estimate] = []
    for column, score_id in enumerate(compared.scores):
        scores = [float(run.estimates[column]) for run in compared.scored]
        order = sorted(range(len(scores)), key=lambda run: -scores[run])
        rows_of_score = _rows_of_score(compared, column, order, band_lo[:, :, column] > 0)
        rows += rows_of_score
        estimates += [
            Estimate(*score_id, None, row["score"], Interval(lo=row["lo"], hi=row["hi"]))
            for row in rows_of_score
        ]
        for a, b in itertools.combinations(order, 2):
            pair: dict[str, Any] = {
                "a": compared.runs[a].name,
                "b": compared.runs[b].name,
                "key": score_id.key,
                "difference": scores[a] - scores[b],
                **{name: float(limit[a, b, column]) for name, limit in limits.items()},
            }
            if p_values:
                pair["p"] = p[min(a, b), max(a, b)][column]
                pair["p_adjusted"] = compared.simultaneous.adjusted(pair["p"])
            pairs.append(pair)
    checkers = compared.checkers
    board = ({"checker": checkers} if checkers else {}) | {
        "metric": options.metric,
        "interval": options.interval,
        "confidence": options.confidence,
        "simultaneous_confidence": simultaneous,
        "questions": len(compared.runs[0].outcomes.sizes),
        "runs": rows,
        "pairs": pairs,
    }
    return Result(board, estimates, options.weighting.words)


def _rows_of_score(
    compared: Compared, column: int, order: Sequence[int], better: np.ndarray
) -> list[dict[str, Any]]:
    """Return the entries of "runs" for the score with this index; `order` is by descending score.

    better[i, j], (K, K), is whether run i is certainly better than run j.
    """
    scores = np.array([run.estimates[column] for run in compared.scored])
    rank, rank_lo, rank_hi = ranks(scores, better)
    letters_of_runs = letters((better | better.T)[np.ix_(order, order)])
    rows, confidence = [], compared.options.confidence
    for run, letters_of_run in zip(order, letters_of_runs, strict=True):
        scored = compared.scored[run]
        limits = scored.widened(scored.limits(confidence), confidence)  # for checker rates
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
    """Return the rank of each run, and the least and the greatest rank that it may have, each (K,).

    A run ranks below all that are certainly better, and above all that are certainly worse. If the
    intervals of all differences cover, so do those of ranks (Mohamad, Goeman & van Zwet 2022,
    Biometrics 78, 238). better[i, j], (K, K), is whether run i is certainly better than run j.
    """
    rank = 1 + np.sum(scores[None, :] > scores[:, None], axis=1)
    return rank, 1 + better.sum(axis=0), len(scores) - better.sum(axis=1)


def letters(different: np.ndarray) -> list[str]:
    """Return the letters of each run, such as "ab": two runs share a letter unless they differ.

    The letters are a clique cover, by the heuristic of Kellerman (Gramm et al. 2008).
    different[i, j], (K, K) and symmetric, is whether runs i and j certainly differ.
    """
    groups = _without_redundant(_clique_cover(~different), len(different))
    names = [_name_of_group(index) for index in range(len(groups))]
    return [
        "".join(name for name, group in zip(names, groups, strict=True) if run in group)
        for run in range(len(different))
    ]


def _clique_cover(alike: np.ndarray) -> list[list[int]]:
    """Return groups of indices of runs: two runs share a group if and only if they are alike.

    The groups are found greedily and may not be the fewest. A run with a pair that is in no group
    yet starts a group. Of the runs that are alike to all runs of the group, the one that adds most
    such pairs joins it, until none is left.
    """
    runs = len(alike)
    alike = alike & ~np.eye(runs, dtype=bool)
    # The diagonal is uncovered at first, so that a run that is alike no other has its own group.
    uncovered = alike | np.eye(runs, dtype=bool)
    groups = []
    for run in range(runs):
        while uncovered[run].any():
            group, candidates, gain = [run], alike[run].copy(), uncovered[run].astype(int)
            while candidates.any():
                # `gain` is how many pairs that are in no group yet a run has with the group.
                best = int(np.argmax(np.where(candidates, gain, -1)))
                group.append(best)
                candidates &= alike[best]
                gain += uncovered[best]
            uncovered[np.ix_(group, group)] = False
            groups.append(sorted(group))
    return groups


def _without_redundant(groups: Sequence[list[int]], runs: int) -> list[list[int]]:
    """Drop each group whose pairs are all in groups that remain. Return the others, sorted."""
    number = np.zeros((runs, runs), dtype=int)  # how many groups contain each pair
    for group in groups:
        number[np.ix_(group, group)] += 1
    kept = []
    for group in groups:
        pairs = np.ix_(group, group)
        if number[pairs].min() > 1:
            number[pairs] -= 1
        else:
            kept.append(group)
    return sorted(kept)


def _name_of_group(index: int) -> str:
    """Return the letter of a group: a .. z, A .. Z, then a1, b1 and so on."""
    number, letter = divmod(index, len(string.ascii_letters))
    return string.ascii_letters[letter] + (str(number) if number else "")
