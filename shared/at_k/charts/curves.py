"""Draw charts of lines: scores or differences against k, a threshold or a parameter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, Literal

import altair as alt

from ..core.checks import as_list, check_k, check_name, check_text, entries_of, short
from ..core.credits import required_samples
from ..core.estimates import Estimate
from ..core.score import ScoreId
from ..runs.comparison import Difference, by_sign, differences_in, zero_in_band
from .figure import Figure
from .lines import MOST_LABELED, LineAxis, figure_of_lines, k_axis, vertical_channel, with_panels
from .results import (
    MOST_KEYS,
    ChartResults,
    ChartScores,
    Curve,
    Row,
    check_scores,
    curves_of,
    details_of,
    metric_label,
    metric_title,
    overall_estimates,
    row_of,
    runs_by_name,
    score_notes,
    score_titles,
    shown_names,
)
from .style import DARK, inline_data


def by_k(
    results: ChartResults,
    metric: str | Sequence[str] | None = None,
    *,
    highlight: int | None = None,
    **options: Any,
) -> Figure:
    """Return a chart of scores against k, with their limits as bands.

    Request "avg@k" to add avg@N, the mean of the samples, as a line that is constant over k. The
    line of maj@k leaves out even k if there are two or more odd ones, because a tie, which is no
    majority, would make it zigzag.

    Args:
        results: the result of `compute`, or a dict of several, {name: result}.
        metric: the metrics that are shown, such as "pass@k" or ["pass@k", "pass^k"]. "G-Pass@k"
            stands for all thresholds, and "G-Pass@k_0.5" for one. Default: all that have several k.
        highlight: a k that a dashed line marks.
        **options: see `at_k.charts`.

    Raises:
        ValueError: if no score has several k, the metric is not among the results, highlight is
            outside of the range of k, or the results name another interval.

    Examples:
        >>> result = {"pass@1": 0.25, "pass@2": 0.42, "pass@1_lo": 0.12, "pass@1_hi": 0.4}
        >>> result |= {"pass@2_lo": 0.2, "pass@2_hi": 0.6}
        >>> options = {"confidence": 0.95, "interval": "questions"}  # as in compute
        >>> chart = by_k(result, questions=30, n=16, checker="numeric", **options)
        >>> chart.save("curve.pdf")  # doctest: +SKIP
    """
    runs = runs_by_name(results)
    curves = {name: _curves_with_several_k(scores, metric) for name, scores in runs.items()}
    remedy = "compute with k=[1, 2, 4, 8], for example, of a metric such as pass@k"
    metrics = shown_names(metric, curves, "metric", "scores for several k", remedy)
    first = next(iter(curves.values()))
    titles = {shown: metric_title(next(iter(first[shown].values()))) for shown in metrics}
    all_rows = _rows_of_curves(curves, titles)
    rows, sentences = _without_ties(all_rows), [score_notes(runs)]
    if len(rows) < len(all_rows):
        sentences.append("maj@k is drawn at odd k: at even k, ties count as incorrect.")
    x = k_axis(row["x"] for row in all_rows)
    return figure_of_lines(rows, x, details_of(options), *sentences, highlight=highlight)


def _without_ties(rows: Sequence[Row]) -> Sequence[Row]:
    """Return the rows without maj@k at even k; all rows if it has fewer than two odd k."""
    odd = {row["x"] for row in rows if row["metric"] == "maj@k" and row["x"] % 2}
    return [row for row in rows if row["metric"] != "maj@k" or row["x"] in odd or len(odd) < 2]


def _curves_over_k(scores: ChartScores) -> dict[str, Curve]:
    """Return the curves over k by names such as "pass@k"; avg@N is named "avg@k"."""
    return curves_of(
        (ScoreId(x.metric, "k", x.tau).key, x.k, x)
        for x in overall_estimates(scores)
        if isinstance(x.k, int) and x.metric[-1] in "kN"
    )


def _curves_with_several_k(
    scores: ChartScores, requested: str | Sequence[str] | None
) -> dict[str, Curve]:
    """Return the curves with several k by name, and a constant avg@k if metrics are requested."""
    curves = _curves_over_k(scores)
    lines = {metric: curve for metric, curve in curves.items() if len(curve) > 1}
    if requested is not None and lines and "avg@k" in curves:
        (average,) = curves["avg@k"].values()
        # Its limits would cover those of other metrics.
        average = average._replace(interval=None, band=None)
        lines["avg@k"] = dict.fromkeys(sorted({k for x in lines.values() for k in x}), average)
    return lines


def _rows_of_curves(
    curves: Mapping[str, Mapping[str, Curve]],
    names: Mapping[str, str],
    several: str = "mean over the questions",
) -> list[Row]:
    """Return the rows of {run: {metric: {x: estimate}}} for the metrics in `names`, with panels."""
    rows = (
        row_of(estimate, run=run, metric=metric, x=x)
        for run, lines in curves.items()
        for metric in names
        for x, estimate in lines[metric].items()
    )
    return with_panels(rows, names, several)


def by_threshold(
    results: ChartResults,
    k: int | Sequence[int] | None = None,
    *,
    highlight: float | None = None,
    **options: Any,
) -> Figure:
    """Return a chart of G-Pass@k against its threshold, with the limits as bands.

    Args:
        results: the result of `compute` of gpassk for several thresholds, or a dict of several,
            {name: result}.
        k: the values of k that are shown. Default: all that have several thresholds.
        highlight: a threshold that a dashed line marks.
        **options: see `at_k.charts`.

    Raises:
        ValueError: if a run has no G-Pass@k for several thresholds, or highlight is not in [0, 1].

    Examples:
        >>> import at_k
        >>> outcomes = [[1, 1, 0, 1], [0, 1, 0, 0]]
        >>> result = at_k.load("gpassk").compute(predictions=outcomes, k=[2, 4], confidence=0.95)
        >>> chart = by_threshold(result, k=4, questions=2, n=4, confidence=0.95)
        >>> chart.save("thresholds.pdf")  # doctest: +SKIP
    """
    runs = runs_by_name(results)
    curves = {name: _curves_over_thresholds(scores) for name, scores in runs.items()}
    requested = None if k is None else [str(check_k(x)) for x in as_list("k", k)]
    remedy = "compute gpassk with thresholds=[0.25, 0.5, 0.75, 1.0], for example"
    ks = shown_names(requested, curves, "k", "G-Pass@k for several thresholds", remedy)
    title = "G-Pass@{0}: at least a share τ of {0} samples correct"
    are_series = len(runs) == 1 and len(ks) > 1
    names = {x: f"k = {x}" if are_series else title.format(x) for x in ks}
    rows = with_panels(
        (
            row_of(estimate, run=name, metric=shown, x=tau, marker=has_marker)
            for name in runs
            for shown in ks
            for tau, estimate, has_marker in _points_of_steps(int(shown), curves[name][shown])
        ),
        names,
        title.format("k"),
    )
    x = LineAxis("threshold τ", 0, 1, [0, 0.25, 0.5, 0.75, 1])
    return figure_of_lines(rows, x, details_of(options), score_notes(runs), highlight=highlight)


def _curves_over_thresholds(scores: ChartScores) -> dict[str, Curve]:
    """Return the curves of G-Pass@k over several thresholds, by k as a text ("8")."""
    estimates = sorted(overall_estimates(scores), key=lambda x: x.k if isinstance(x.k, int) else 0)
    curves = curves_of(
        (str(x.k), x.tau, x) for x in estimates if x.metric == "G-Pass@k" and x.tau is not None
    )
    return {k: curve for k, curve in curves.items() if len(curve) > 1}


def _points_of_steps(k: int, curve: Curve) -> list[tuple[float, Estimate, bool]]:
    """Return the points (threshold, estimate, whether it has a marker) of a curve of G-Pass@k.

    G-Pass@k is a step function: thresholds above (m - 1) / k and up to m / k require m correct
    samples. If the curve has a threshold in each of the k steps, a point without a marker is added
    for both ends of each step.
    """
    points = [(required_samples(k, tau), tau, estimate, True) for tau, estimate in curve.items()]
    by_m = {m: estimate for m, _, estimate, _ in points}
    if len(by_m) == k:
        points += [(m, end / k, x, False) for m, x in by_m.items() for end in (m - 1, m)]
        points.sort(key=lambda point: point[:2])
    return [point[1:] for point in points]


def by_parameter(
    results: Mapping[Any, Any],
    key: str | Sequence[str] | None = None,
    *,
    parameter: str,
    highlight: float | None = None,
    **options: Any,
) -> Figure:
    """Return a chart of scores against a parameter, with their limits as bands.

    Args:
        results: the result of `compute` for each value of the parameter, {value: result}, or a dict
            of several of these, {name: {value: result}}.
        key: the scores that are shown, such as "pass@8". Default: all.
        parameter: the title of the horizontal axis, such as "temperature".
        highlight: a value of the parameter that a dashed line marks.
        **options: see `at_k.charts`.

    Raises:
        ValueError: if a run has under two values or lacks the key, or highlight is out of range.

    Examples:
        >>> results = {0.2: {"pass@1": 0.31}, 0.6: {"pass@1": 0.35}, 1.0: {"pass@1": 0.33}}
        >>> chart = by_parameter(results, parameter="temperature", n=32)
    """
    check_text("parameter", parameter)
    if not isinstance(results, Mapping) or not results:
        kind = "empty" if isinstance(results, Mapping) else type(results).__name__
        raise TypeError(f"results is {kind}: give a dict, {{value: result}}.")
    if _are_numbers(results):
        results = {"": results}
    curves = {name: _curves_of_sweep(name, x, parameter) for name, x in results.items()}
    remedy = f"give results with the same keys for all values of {parameter}"
    keys = shown_names(key, curves, "key", "scores", remedy, MOST_KEYS)
    rows = _rows_of_curves(curves, score_titles(keys))
    values = [row["x"] for row in rows]
    x = LineAxis(parameter, min(values), max(values))
    return figure_of_lines(rows, x, details_of(options), highlight=highlight)


def _curves_of_sweep(name: str, by_value: Any, parameter: str) -> dict[str, Curve]:
    """Return {key: {value: estimate}} for the keys that all results of the run `name` have."""
    if not isinstance(by_value, Mapping) or not _are_numbers(by_value):
        raise TypeError(
            f"results has {short(by_value)} under {short(name)}: give a dict, {{value: result}}, "
            f"whose values of {parameter} are numbers."
        )
    if len(by_value) < 2:
        raise ValueError(
            f"{name or 'results'} has too few values of {parameter}: a line needs two."
        )
    for scores in by_value.values():
        check_scores("results", scores, "compute returns")
    curves = curves_of(
        (x.key, value, x) for value in sorted(by_value) for x in overall_estimates(by_value[value])
    )
    return {key: curve for key, curve in curves.items() if len(curve) == len(by_value)}


def _are_numbers(values: Iterable[Any]) -> bool:
    """Return whether all values are real numbers."""
    return all(isinstance(value, Real) for value in values)


def by_question(
    results: ChartResults,
    key: str | Sequence[str] | None = None,
    *,
    labels: Sequence[Any] | None = None,
    noun: Literal["question", "item"] = "question",
    **options: Any,
) -> Figure:
    """Return a chart of the scores of single questions, from the hardest to the easiest.

    Each line has its own order of questions.

    Args:
        results: the result of `compute` with `return_per_question=True`, or a dict of several,
            {name: result}.
        key: the scores that are shown, such as "pass@8". Default: all.
        labels: a label for each question, for tooltips. Default: its index, from 0.
        noun: what the chart calls a question: "item" for score_agg. The axis of items says "from
            the lowest to the highest" and not "from the hardest to the easiest".
        **options: see `at_k.charts`.

    Raises:
        ValueError: if a run has no scores of single questions or lacks the key, if there are over
            six keys, or if there is not one label for each question.

    Examples:
        >>> result = {"per_question": {"pass@1": [0.5, 0.0, 0.25, 1.0]}}
        >>> chart = by_question(result, n=4)
    """
    runs = runs_by_name(results)
    check_name("noun", noun, ("question", "item"))
    per_question = {name: scores.get("per_question", {}) for name, scores in runs.items()}
    remedy = "compute with return_per_question=True"
    keys = shown_names(key, per_question, "key", "scores of single questions", remedy, MOST_KEYS)
    rows: list[Row] = []
    sizes = set()
    for name, by_key in per_question.items():
        for shown in keys:
            ranked = _ranked_rows(by_key[shown], shown, labels, noun)
            rows += [{"run": name, "metric": shown, "key": shown, **row} for row in ranked]
            sizes.add(len(ranked))
    most = max(sizes)
    order = "hardest to the easiest" if noun == "question" else "lowest to the highest"
    ticks = range(1, most + 1) if most <= MOST_LABELED else None
    x = LineAxis(f"{noun}s, from the {order}", 1, max(2, most), ticks, integers=True)
    questions = most if len(sizes) == 1 and noun == "question" else None
    known = {"questions": questions, **options}
    rows = with_panels(rows, score_titles(keys), f"score of the {noun}")
    return figure_of_lines(rows, x, details_of(known), score_notes(runs))


def _ranked_rows(values: Any, key: str, labels: Any, noun: str) -> list[Row]:
    """Return a row for each value by ascending score: rank "x", "score", and its label as `noun`.

    The label is the index if `labels` is None. Raises TypeError or ValueError for invalid input.
    """
    if not _are_numbers(entries_of("per_question", values)):
        raise TypeError(f"per_question has no numbers under {key}.")
    if not values:
        raise ValueError(f"per_question has no scores under {key}: it is empty.")
    names = range(len(values)) if labels is None else [*map(str, entries_of("labels", labels))]
    if len(names) != len(values):
        raise ValueError(f"labels has {len(names)} entries for {len(values)} {noun}s.")
    order = sorted(range(len(values)), key=values.__getitem__)
    return [{"x": x, "score": values[i], noun: names[i]} for x, i in enumerate(order, start=1)]


def difference(
    comparison: ChartScores,
    runs: Sequence[str] = ("A", "B"),
    *,
    highlight: int | None = None,
    **options: Any,
) -> Figure:
    """Return a chart of the difference of two runs against k.

    The dark band shows the confidence limits at each k, and the pale band is the simultaneous band
    over all k. The line at 0 is heavy where the simultaneous band excludes 0.

    Args:
        comparison: the result of `at_k.compare` for several k. If it has several scores, the chart
            shows the one with the most k.
        runs: the names of the two runs, in the order in which `at_k.compare` got them. The
            difference is the score of the second run minus that of the first.
        highlight: a k that a dashed line marks.
        **options: see `at_k.charts`.

    Raises:
        ValueError: if it does not have several k, or if highlight is outside of their range.

    Examples:
        >>> import at_k
        >>> comparison = at_k.compare([[0, 0, 1, 0], [1, 0, 1, 1]], [[0, 1, 1, 0], [1, 1, 1, 1]])
        >>> chart = difference(comparison, runs=("before", "after"), confidence=0.95)
    """
    check_scores("comparison", comparison, "at_k.compare returns")
    points = _longest_curve(differences_in(comparison))
    names = [check_text("runs", name) for name in as_list("runs", runs)]
    if len(names) != 2:
        raise ValueError(f"runs has {len(names)} names: give those of both runs.")
    series = f"{names[1]} minus {names[0]}"
    title = f"difference of {metric_label(points[0])}: {series}"
    rows: list[Row] = [
        {
            **{"panel": title, "series": series, "x": x.k, "key": x.key, "score": x.score},
            **{"a": x.a, "b": x.b, "lo": x.interval[0], "hi": x.interval[1]},
            **{"band_lo": x.band[0], "band_hi": x.band[1]},
        }
        for x in points
    ]
    axis, details = k_axis(row["x"] for row in rows), details_of(options)
    bands = [limit for point in points for limit in point.band]
    y: dict[str, Any] = {
        "scale": alt.Scale(domain=[min(0.0, *bands), max(0.0, *bands)]),
        "format": f"+{details.axis_format}",
        # In percent, a difference is in percentage points.
        "labelExpr": "datum.value ? replace(datum.label, '%', ' pp') : '0'",
    }
    lines = _zero_lines(points, axis, vertical_channel("y", **y))
    start = "Heavy line at 0: the" if len(lines) > 1 else "The"
    conclusion = f"{start} simultaneous band {zero_in_band(points, names)}."
    corrected = score_notes({"": comparison}, comparison.get("checker", {}))
    return figure_of_lines(
        rows, axis, details, corrected, conclusion, highlight=highlight, y=y, notes=lines
    )


def _zero_lines(points: Sequence[Difference], x: LineAxis, y: alt.Y) -> list[alt.Chart]:
    """Return the line at 0, and a heavy one where the simultaneous band excludes 0, if anywhere."""
    zero = alt.Chart(inline_data([{"y": 0}])).encode(y=y)
    lines = [zero.mark_rule(color=DARK, strokeWidth=0.6)]
    stretches = [stretch for sign, stretch in by_sign(points) if sign]
    if stretches:
        rows = [{"x": points[0].k, "end": points[-1].k, "y": 0} for points in stretches]
        heavy = zero.properties(data=inline_data(rows))
        heavy = heavy.mark_rule(color=DARK, strokeWidth=2.5, strokeCap="round")
        lines.append(heavy.encode(x=x.channel(), x2=alt.X2("end:Q")))
    return lines


def _longest_curve(differences: Iterable[Difference]) -> list[Difference]:
    """Return the differences of the score with the most k; raise a ValueError if it has one k."""
    curves: dict[tuple[str, float | None], dict[int, Difference]] = {}
    for point in differences:
        if point.group is None and isinstance(point.k, int):
            curves.setdefault((point.metric, point.tau), {})[point.k] = point
    curve = max(curves.values(), key=len, default={})
    if len(curve) < 2:
        raise ValueError(
            "The comparison is not at several k: give what at_k.compare returns with "
            "k=[1, 2, 4, 8], for example, or without k."
        )
    return [curve[k] for k in sorted(curve)]
