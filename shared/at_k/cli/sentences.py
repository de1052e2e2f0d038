"""Sentences about the scores of runs that a paper can use as they are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .comparison_tables import INTERVAL_NAME, INTERVAL_SCOPE, compared_keys, zero_in_band
from .formats import number_of
from .paper_tables import Scale, keys_of_board, scale_of_many, scale_of_scores, scale_of_two
from .tables import layout, method_of, nouns_of

_MOST_NAMES = 5  # up to which runs are listed by name
_MOST_SCORES = 6  # of one run in a sentence: a table shows more of them better


def sentence_of_one(
    scores: Mapping[str, Any],
    sizes: Sequence[int],
    interval: str | None,
    confidence: float | None,
    checker: str | None = None,
    temperature: float | None = None,
) -> str:
    """Return the scores with their limits, or an empty text if a score has none, or if many do.

    Limits of a posterior need not contain the score, so its mean is named instead.

    Args:
        scores: of `compute`.
        sizes: (M,) numbers of samples that are not missing.
        interval: the requested interval method, or None for the default.
        confidence: of the intervals, or None if there are none.
        checker: the name of the checker, or None if the samples were graded before.
        temperature: of score_agg, or None for other metrics.
    """
    values, keys, _ = layout(scores)
    if interval not in (None, "posterior"):  # limits of the mean reward, which is avg@N
        keys = [key for key in keys if not key.startswith("bayes@")]
    methods = [method_of(values, key, interval) for key in keys if f"{key}_lo" in values]
    has_intervals = len(methods) == len(keys) and INTERVAL_NAME.keys() >= {*methods}
    if confidence is None or not has_intervals or len(keys) > _MOST_SCORES:
        return ""
    nouns = nouns_of(scores)
    scale, found = scale_of_scores(values, keys), list[str]()
    for key, method in zip(keys, methods, strict=True):
        limits = [values[f"{key}_lo"], values[f"{key}_hi"]]
        name, value = key, values[key]
        if temperature is not None:
            name = f"{key} at temperature {temperature:g}"
        if method == "posterior" and f"{key}_mu" in values:
            name, value = f"the posterior mean of {key}", values[f"{key}_mu"]
        if not found:
            shown = _interval(scale, limits, method, confidence, nouns[0])
        else:
            shown = " to ".join(map(scale.number, limits))
        found.append(f"{name} is {_with_unit(scale, value)} ({shown})")
    return f"On {_questions([np.array(sizes)], checker, *nouns)}, {_enumerated(found)}."


def sentence_of_two(
    scores: Mapping[str, float],
    names: Sequence[str],
    sizes: Sequence[np.ndarray],
    interval: str,
    confidence: float,
    key: str | None = None,
    checker: str | None = None,
) -> str:
    """Return the difference at one k, and at which k the band excludes 0.

    Args:
        scores: of `at_k.compare`.
        names: of both runs.
        sizes: for each run (M,) numbers of samples.
        interval: the method of the intervals.
        confidence: of the intervals.
        key: of the difference. Default: that at the largest k.
        checker: the name of the checker, or None if the samples were graded before.
    """
    keys = compared_keys(scores)
    key, scale = key or keys[-1], scale_of_two(scores, keys)
    order = [1, 0] if scores[key] >= 0 else [0, 1]
    best, other = (names[run] for run in order)
    values = [_with_unit(scale, scores[f"{key}_{'ab'[run]}"]) for run in order]
    limits = [scores[f"{key}_lo"], scores[f"{key}_hi"]]
    if scores[key] < 0:
        limits = [-limit for limit in limits[::-1]]
    unit = " percentage points" if scale.percent else ""
    sentence = (
        f"On {_questions(sizes, checker)}, {key} is {values[0]} for {best} and {values[1]} for "
        f"{other}, a difference of {scale.number(abs(scores[key]))}{unit} "
        f"({_interval(scale, limits, interval, confidence)})."
    )
    if len(keys) == 1:
        return sentence
    return (
        f"{sentence} The simultaneous {100 * confidence:g} % confidence band over all "
        f"{len(keys)} values of k {zero_in_band(scores, names)}."
    )


def sentence_of_many(
    board: Mapping[str, Any], sizes: Sequence[np.ndarray], checker: str | None = None
) -> str:
    """Return the highest score, and which runs it differs from."""
    key = keys_of_board(board)[-1]
    rows = [row for row in board["runs"] if row["key"] == key]
    best, scale, confidence = rows[0], scale_of_many(board), board["confidence"]
    limits = [best["lo"], best["hi"]]
    pairs = [pair for pair in board["pairs"] if pair["key"] == key]
    behind = [pair["b"] for pair in pairs if pair["a"] == best["run"] and pair["band_lo"] > 0]
    equal = [row["run"] for row in rows[1:] if row["run"] not in behind]
    ks = len({pair["key"] for pair in board["pairs"]})
    over = f"{len(pairs)} pairwise differences" + (f" at each of {ks} values of k" * (ks > 1))
    highest = [row["run"] for row in rows if math.isclose(row["score"], best["score"])]
    have, of_one = ("have", f"for {best['run']}, ") if len(highest) > 1 else ("has", "")
    text = (
        f"Of {len(rows)} runs on {_questions(sizes, checker)}, {_enumerated(highest)} {have} the "
        f"highest {key}, {_with_unit(scale, best['score'])} "
        f"({of_one}{_interval(scale, limits, board['interval'], confidence)}). "
        f"By simultaneous {100 * confidence:g} % confidence intervals of all {over}, the {key} of "
        f"{best['run']} "
    )
    if not behind:
        return f"{text}cannot be told apart from that of any other run."
    text += f"is higher than that of {_listed(behind, len(rows) - 1)}"
    if not equal:
        return f"{text}."
    return f"{text} and cannot be told apart from that of {_listed(equal, len(rows) - 1)}."


def _questions(
    sizes: Sequence[np.ndarray], checker: str | None, row: str = "question", noun: str = "sample"
) -> str:
    """The numbers of rows and of their samples, with these nouns, and the checker."""
    ranges = dict.fromkeys((int(n.min()), int(n.max())) for n in sizes)
    if len(ranges) > 2:
        ranges = {(min(low for low, _ in ranges), max(high for _, high in ranges)): None}
    number = " and ".join(f"{low}" if low == high else f"{low} to {high}" for low, high in ranges)
    samples = f"{number} {noun}" if number == "1" else f"{number} {noun}s"
    checked = f", checked with {checker}" if checker else ""
    return f"{number_of(len(sizes[0]), row)} with {samples} each{checked}"


def _with_unit(scale: Scale, value: float) -> str:
    return scale.number(value) + (" %" if scale.percent else "")


def _interval(
    scale: Scale, limits: Sequence[float], interval: str, confidence: float, row: str = "question"
) -> str:
    lo, hi = (scale.number(limit) for limit in limits)
    scope = INTERVAL_SCOPE[interval].replace("question", row)
    return f"{100 * confidence:g} % {INTERVAL_NAME[interval]} {lo} to {hi}, {scope}"


def _listed(runs: Sequence[str], others: int) -> str:
    if len(runs) == others:
        return "every other run" if others > 1 else runs[0]
    if len(runs) > _MOST_NAMES:
        return f"{len(runs)} of the other {others} runs"
    return _enumerated(runs)


def _enumerated(texts: Sequence[str]) -> str:
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)
