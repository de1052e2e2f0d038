"""The dicts that `compute` returns, as the rows that charts show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Row = dict[str, Any]
ChartScores = Mapping[str, Any]
"""What `compute` returns."""
ChartResults = ChartScores | Mapping[str, ChartScores]
"""The scores of one run, or those of several runs by their names."""

_KEY = re.compile(r"(?P<name>[^@^/]+[@^])(?P<k>\d+)(?P<tau>_\d\S*)?")
_SAFE_KEY = re.compile(r"\w+_(at|hat)_\d+(_\w+)?")
_LIMITS = ("lo", "hi", "band_lo", "band_hi")
_MOST_KEYS = 6
_OTHER_FIELDS = ("mu", "sigma", "interval", *_LIMITS)

_IN_WORDS = {
    "pass@k": "at least 1 of k samples correct",
    "pass^k": "all k samples correct",
    "mG-Pass@k": "mean of G-Pass@k over τ from 0.5 to 1",
    "maj@k": "more than half of k samples correct",
    "vote@k": "majority vote of k samples correct",
    "max@k": "best of k samples",
    "bayes@k": "expected reward of a new sample",
    "avg@k": "mean reward of the samples",
}


def runs_by_name(results: ChartResults) -> dict[str, ChartScores]:
    """Return the scores of each run by its name. A single run has the name "".

    Raises:
        TypeError: if these are not the scores of one or several runs.
        ValueError: if there are none, or if their keys are names for loggers.
    """
    if not isinstance(results, Mapping):
        raise TypeError(
            f"results is {type(results).__name__}: give the dict that compute returns, or a dict "
            f"of several, {{name: result}}."
        )
    if not results:
        raise ValueError("results is empty: give the dict that compute returns.")
    runs: dict[str, ChartScores] = {"": results}
    if all(isinstance(value, Mapping) for value in results.values()) and set(results) != {
        "per_question"
    }:
        runs = {str(name): scores for name, scores in results.items()}
    for key in (key for scores in runs.values() for key in scores):
        if _SAFE_KEY.fullmatch(key):
            raise ValueError(
                f"{key!r} is a name for loggers: give the result of compute with keys='exact'."
            )
    return runs


def score_keys(scores: ChartScores) -> list[str]:
    """Return the keys of scores, also of groups, without those of limits and single questions."""
    fields = {f"{key}_{field}" for key in scores for field in _OTHER_FIELDS}
    return [key for key in scores if key not in fields and key != "per_question"]


def score_row(scores: ChartScores, key: str, **columns: Any) -> Row:
    """Return a row of data: a score, its limits if it has any, and more columns."""
    fields = (*_LIMITS, "interval")
    limits = {x: scores[f"{key}_{x}"] for x in fields if f"{key}_{x}" in scores}
    return {**columns, "key": key, "score": scores[key], **limits}


def keys_by_k(scores: ChartScores) -> dict[str, dict[int, str]]:
    """Return the key of each score over all questions, by metric and by k in ascending order.

    A metric is written as "pass@k". G-Pass@k with each threshold is a metric, "G-Pass@k_0.5".
    """
    found: dict[str, dict[int, str]] = {}
    for key in score_keys(scores):
        if part := _KEY.fullmatch(key):
            metric = f"{part['name']}k{part['tau'] or ''}"
            found.setdefault(metric, {})[int(part["k"])] = key
    return {metric: dict(sorted(keys.items())) for metric, keys in found.items()}


def keys_by_threshold(scores: ChartScores) -> dict[int, dict[float, str]]:
    """Return the key of each G-Pass@k by k, and by its threshold in ascending order."""
    found: dict[int, dict[float, str]] = {}
    for metric, keys in keys_by_k(scores).items():
        name, _, tau = metric.partition("_")
        if name == "G-Pass@k" and tau:
            for k, key in keys.items():
                found.setdefault(k, {})[float(tau)] = key
    return {k: dict(sorted(keys.items())) for k, keys in sorted(found.items())}


def in_all_runs(found: Mapping[str, Iterable[Any]], what: str) -> list[Any]:
    """Return what each run has, in the order of the first one.

    Args:
        found: what is found in each run, by the name of the run.
        what: what it is, in the plural, for the message.

    Raises:
        ValueError: if the runs have nothing in common.
    """
    first, *others = (dict.fromkeys(of_run) for of_run in found.values())
    common = [each for each in first if all(each in other for other in others)]
    if not common:
        raise ValueError(f"The runs {', '.join(found)} have no {what} in common.")
    return common


def chosen_among(requested: str | Sequence[str] | None, found: Sequence[str], what: str) -> list:
    """Return the requested names, or all that are found.

    A name such as "G-Pass@k" stands for all that begin with "G-Pass@k_".

    Raises:
        ValueError: if a name is not among those that are found.
    """
    if requested is None:
        return list(found)
    names = [requested] if isinstance(requested, str) else list(requested)
    chosen: dict[str, None] = {}
    for name in names:
        matching = [each for each in found if each == name or each.startswith(f"{name}_")]
        if not matching:
            raise ValueError(f"{what} is {name!r}: the results have {', '.join(found)}.")
        chosen |= dict.fromkeys(matching)
    return list(chosen)


def few_of(requested: str | Sequence[str] | None, found: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the keys that a chart shows: the requested ones, or all that each run has.

    Raises:
        ValueError: if a run does not have them, or if these are too many for a chart.
    """
    keys = chosen_among(requested, in_all_runs(found, "scores"), "key")
    if len(keys) > _MOST_KEYS:
        raise ValueError(
            f"{len(keys)} scores are too many for a chart of questions or groups: choose at most "
            f"{_MOST_KEYS} of {', '.join(keys)}."
        )
    return keys


def metric_label(metric: str) -> str:
    """Return the name of a metric as charts write it: "G-Pass@k, τ = 0.5"."""
    return metric.replace("@k_", "@k, τ = ")


def metric_title(metric: str) -> str:
    """Return the title of an axis: the name of a metric, and its meaning in words."""
    words = _IN_WORDS.get(metric)
    name, _, tau = metric.partition("_")
    if name == "G-Pass@k" and tau:
        words = f"at least {100 * float(tau):g} % of k samples correct"
    return f"{metric_label(metric)}: {words}" if words else metric_label(metric)


def score_title(key: str) -> str:
    """Return the title of an axis for a single score, such as pass@4."""
    part = _KEY.fullmatch(key)
    if part is None:
        return key
    metric = f"{part['name']}k{part['tau'] or ''}"
    if part["k"] == "1" and metric in ("pass@k", "pass^k", "maj@k"):
        return f"{key}: share of correct samples"
    title = metric_title(metric)
    return re.sub(r"(?<![A-Za-z])k(?![A-Za-z])", part["k"], title)
