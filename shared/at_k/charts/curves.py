"""Charts of scores against the number of samples k, and against the threshold of G-Pass@k."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from .captions import ChartDetails
from .figure import Figure
from .lines import LineAxis, figure_of_scores, k_axis
from .results import (
    ChartResults,
    ChartScores,
    Row,
    chosen_among,
    in_all_runs,
    keys_by_k,
    keys_by_threshold,
    metric_title,
    runs_by_name,
    score_row,
)


def by_k(
    results: ChartResults,
    metric: str | Sequence[str] | None = None,
    *,
    highlight: int | None = None,
    questions: int | None = None,
    n: int | str | None = None,
    checker: str | None = None,
    confidence: float | None = None,
    interval: str | None = None,
    caption: str | None = None,
    width: float = 3.3,
) -> Figure:
    """Return a chart of scores against k, with their limits as bands.

    The metrics of one run are lines of one panel. For several runs there is a panel for each
    metric, and the runs are its lines. maj@k is shown at odd k only, if the results have several:
    at even k a tie is not a majority, so a line through all k would be a zigzag. avg@N, the mean of
    the samples, is the same for all k: it is shown beside other metrics if it is requested.

    The caption says what the bands are only if it is known: pass interval=, confidence=, n= and
    questions=. Results name their interval method only for `interval="auto"`.

    Args:
        results: what `compute` returns, or a dict of several, {name: result}.
        metric: the metrics that are shown, such as "pass@k" or ["pass@k", "pass^k"]. "G-Pass@k"
            stands for all thresholds, "G-Pass@k_0.5" for one. Default: all that have several k.
        highlight: a k that a dashed line marks.
        questions, n, checker, confidence, interval, caption, width: see `at_k.charts`.

    Raises:
        TypeError: if results are not a dict.
        ValueError: if no score is for several k, the metric is not among the results, highlight is
            not among the k that are shown, or the results name another interval.

    Examples:
        >>> result = {"pass@1": 0.25, "pass@2": 0.42, "pass@1_lo": 0.12, "pass@1_hi": 0.4}
        >>> result |= {"pass@2_lo": 0.2, "pass@2_hi": 0.6}
        >>> options = {"confidence": 0.95, "interval": "questions"}  # as in compute
        >>> chart = by_k(result, questions=30, n=16, checker="numeric", **options)
        >>> chart.save("curve.pdf")  # doctest: +SKIP
    """
    runs = runs_by_name(results)
    curves = {}
    for name, scores in runs.items():
        found = keys_by_k(scores)
        curves[name] = {each: keys for each, keys in found.items() if len(keys) > 1}
        if not curves[name]:
            raise ValueError(
                f"{name or 'The result'} has no score for several k to draw a line through: "
                f"compute with k=[1, 2, 4, 8], for example, of a metric such as pass@k."
            )
        if metric is not None and "avg@k" in found:
            (key,) = found["avg@k"].values()
            ks = {k for keys in curves[name].values() for k in keys}
            curves[name]["avg@k"] = dict.fromkeys(sorted(ks), key)
    metrics = chosen_among(metric, in_all_runs(curves, "scores for several k"), "metric")
    rows = [
        score_row(_shown_scores(each, key, scores), key, run=name, metric=each, x=k)
        for name, scores in runs.items()
        for each in metrics
        for k, key in _shown_ks(each, curves[name][each]).items()
    ]
    of_votes = [of_run["maj@k"] for of_run in curves.values() if "maj@k" in metrics]
    odd = any(_shown_ks("maj@k", keys) != keys for keys in of_votes)
    details = ChartDetails(questions, n, checker, confidence, interval, caption)
    text = details.caption_of(
        details.limits(rows, "Bands"), "maj@k is shown at odd k only." if odd else ""
    )
    names = {each: metric_title(each) for each in metrics}
    x = k_axis(row["x"] for row in rows)
    title = names[metrics[0]] if len(metrics) == 1 else "mean over the questions"
    return figure_of_scores(rows, names, x, text, width, title, highlight)


def _shown_ks(metric: str, keys: dict[int, str]) -> dict[int, str]:
    """Return the keys of the k that are shown: for maj@k the odd ones, if there are several."""
    odd = {k: key for k, key in keys.items() if k % 2}
    return odd if metric == "maj@k" and len(odd) > 1 else keys


def _shown_scores(metric: str, key: str, scores: ChartScores) -> ChartScores:
    """Return the scores, for avg@N without its limits, which would cover those of other metrics."""
    return {key: scores[key]} if metric == "avg@k" else scores


def by_threshold(
    results: ChartResults,
    k: int | Sequence[int] | None = None,
    *,
    highlight: float | None = None,
    questions: int | None = None,
    n: int | str | None = None,
    checker: str | None = None,
    confidence: float | None = None,
    interval: str | None = None,
    caption: str | None = None,
    width: float = 3.3,
) -> Figure:
    """Return a chart of G-Pass@k against its threshold, with the limits as bands.

    Each k of one run is a line of one panel. For several runs there is a panel for each k, and the
    runs are its lines.

    Args:
        results: what `compute` of gpassk returns for several thresholds, or a dict of several,
            {name: result}.
        k: the numbers of samples that are shown. Default: all that have several thresholds.
        highlight: a threshold that a dashed line marks.
        questions, n, checker, confidence, interval, caption, width: see `at_k.charts`.

    Raises:
        TypeError: if results are not a dict.
        ValueError: if there is no G-Pass@k for several thresholds, or not for this k.
    """
    runs = runs_by_name(results)
    curves = {}
    for name, scores in runs.items():
        found = keys_by_threshold(scores)
        curves[name] = {f"{each}": keys for each, keys in found.items() if len(keys) > 1}
        if not curves[name]:
            raise ValueError(
                f"{name or 'The result'} has no G-Pass@k for several thresholds: compute gpassk "
                f"with thresholds=[0.25, 0.5, 0.75, 1.0], for example."
            )
    requested = None if k is None else [str(x) for x in ([k] if isinstance(k, int) else k)]
    ks = chosen_among(requested, in_all_runs(curves, "G-Pass@k for several thresholds"), "k")
    rows = [
        score_row(scores, run=name, metric=each, **point)
        for name, scores in runs.items()
        for each in ks
        for point in _with_steps(int(each), curves[name][each])
    ]
    details = ChartDetails(questions, n, checker, confidence, interval, caption)
    text = details.caption_of(details.limits(rows, "Bands"))
    title = "G-Pass@k: at least a share τ of k samples correct"
    names = {each: f"k = {each}" if len(runs) == 1 else f"{title}, k = {each}" for each in ks}
    x = LineAxis("threshold τ", [0, 0.25, 0.5, 0.75, 1], 0, 1)
    return figure_of_scores(rows, names, x, text, width, title, highlight)


def _with_steps(k: int, keys: Mapping[float, str]) -> list[Row]:
    """Return the points of a line: x, the key of the score, and whether there is a marker.

    G-Pass@k is a step function of its threshold: all from above (m - 1) / k to m / k require m
    correct samples. If the thresholds include one of each step, the corners of the steps are added.
    """
    steps = [(max(1, math.ceil(tau * k - 1e-9)), tau, key, True) for tau, key in keys.items()]
    if len({m for m, *_ in steps}) == k:
        corners = {m: key for m, _, key, _ in steps}.items()
        steps += [(m, x / k, key, False) for m, key in corners for x in (m - 1, m)]
        steps.sort(key=lambda step: step[:2])
    return [{"x": tau, "key": key, "marker": given} for _, tau, key, given in steps]
