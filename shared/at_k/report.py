"""The flat dict that `compute` returns: scores of all questions and of groups of them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from .checks import check_confidence, check_flag, check_names
from .inputs.labels import label_index
from .intervals.band import simultaneous_confidence
from .intervals.interval import Interval, IntervalMethod
from .scores.score import Scores


class Report:
    """What `compute` returns: the mean scores over all questions and over each group.

    Args:
        questions: M.
        groups: a label for each question, or None.
        confidence: of the intervals, or None to leave them out.
        return_per_question: whether to add the scores of each question.
        keys: "exact", or "safe" for numbers only, under names that every logger takes.
        fields: what to add for an interval.
        band: whether to add the simultaneous band of each score over k.

    Raises:
        ValueError: if there are not M labels, if a band has no confidence, if confidence is not a
            probability, or if two labels have the same safe name.
    """

    def __init__(
        self,
        questions: int,
        groups,
        confidence: float | None,
        return_per_question: bool,
        keys: str = "exact",
        fields: tuple[str, ...] = ("mu", "sigma", "lo", "hi"),
        band: bool = False,
    ):
        self._safe = check_names("keys", [keys], ("exact", "safe")) == ["safe"]
        self._names, self._prefixes, self._parts = ["The run"], [""], [np.arange(questions)]
        if groups is not None:
            labels, index = label_index(groups, questions, "groups")
            last = np.cumsum(np.bincount(index))
            self._parts += np.split(np.argsort(index, kind="stable"), last[:-1])
            self._names += [f"Group {label!r}" for label in labels]
            self._prefixes += safe_prefixes(labels) if self._safe else [f"{x}/" for x in labels]
        self._confidence = None if confidence is None else check_confidence(confidence)
        self._return_per_question = check_flag("return_per_question", return_per_question)
        self._fields, self._band = fields, check_flag("band", band)
        if band and confidence is None:
            raise ValueError("band needs an interval: give a confidence, such as 0.95.")

    def of(
        self, scores: Scores, method: IntervalMethod | None = None, name_methods: bool = False
    ) -> dict[str, Any]:
        """Each key over all questions, then over each group, with intervals if requested.

        Args:
            scores: of the questions.
            method: of the intervals, or None to leave them out.
            name_methods: whether to add to each key <key>_interval, the name of its interval
                method, or "none: " and the reason why it has no interval.

        Raises:
            ValueError: if the data do not allow the interval, with the label of the group.
        """
        result: dict[str, Any] = {}
        name_methods = name_methods and not self._safe
        fields = (*self._fields, "interval") if name_methods else self._fields
        name = safe_name if self._safe else str
        intervals = self._intervals(method)
        bands = self._bands(method, intervals)
        for prefix, rows, found, band in zip(
            self._prefixes, self._parts, intervals, bands, strict=True
        ):
            for key, mean in scores.over(rows).items():
                result[prefix + name(key)] = mean
                if key in found:
                    values = found[key]._asdict()
                    if math.isclose(values["mu"], mean, rel_tol=1e-12):
                        values["mu"] = mean  # the center is the score, summed in another order
                    result |= {prefix + name(f"{key}_{x}"): values[x] for x in fields}
                    if key in band:
                        result[prefix + name(f"{key}_band_lo")] = band[key].lo
                        result[prefix + name(f"{key}_band_hi")] = band[key].hi
                elif name_methods and method is not None and self._confidence is not None:
                    # All other methods that are named have an interval for each score.
                    result[f"{prefix}{key}_interval"] = f"none: {key} has no posterior"
        if self._return_per_question and not self._safe:
            result["per_question"] = scores.per_question()
        return result

    def _intervals(self, method: IntervalMethod | None) -> list[dict[str, Interval]]:
        """The intervals over all questions and over each group."""
        if method is None or self._confidence is None:
            return [{} for _ in self._parts]
        for name, rows in zip(self._names, self._parts, strict=True):
            if problem := method.problem(rows):
                raise ValueError(f"{name} has no interval: {problem}.")
        return method.for_parts(self._parts, self._confidence)

    def _bands(
        self, method: IntervalMethod | None, intervals: list[dict[str, Interval]]
    ) -> list[dict[str, Interval]]:
        """The simultaneous bands over all questions and over each group."""
        if method is None or self._confidence is None or not self._band:
            return [{} for _ in self._parts]
        bands = []
        for rows, found in zip(self._parts, intervals, strict=True):
            band: dict[str, Interval] = {}
            for keys in curves(found):
                covariance = method.covariance(rows, keys)
                each = simultaneous_confidence(covariance, self._confidence)
                wider = method.for_parts([rows], each)[0]
                band |= {key: wider[key] for key in keys}
            bands.append(band)
        return bands


def curves(keys: Iterable[str]) -> list[list[str]]:
    """Return the keys of each score in ascending order of k.

    >>> curves(["pass@1", "pass^1", "pass@16", "pass@4", "avg@n"])
    [['pass@1', 'pass@4', 'pass@16'], ['pass^1'], ['avg@n']]
    """
    by_score: dict[tuple[str, str], dict[int, str]] = {}
    for key in keys:
        score = re.fullmatch(r"(.+[@^])(\d+)(_.+)?", key)
        name = (score[1], score[3] or "") if score else (key, "")
        by_score.setdefault(name, {})[int(score[2]) if score else 0] = key
    return [[curve[k] for k in sorted(curve)] for curve in by_score.values()]


# --- Names for loggers --------------------------------------------------------------------


def safe_name(key: str) -> str:
    """Return a name of letters, digits and underscores for the key of a score.

    >>> [safe_name(key) for key in ("pass@2", "pass^2_lo", "G-Pass@4_0.5", "mG-Pass@4")]
    ['pass_at_2', 'pass_hat_2_lo', 'g_pass_at_4_tau_0_5', 'mg_pass_at_4']
    """
    key = re.sub(r"(?<=Pass@)(\d+)_(?=\d)", r"\1_tau_", key)
    return _with_underscores(key.replace("@", "_at_").replace("^", "_hat_")).lower()


def safe_prefixes(labels: list[str]) -> list[str]:
    """Return what precedes the safe names of the scores of each group.

    Raises:
        ValueError: if two labels have the same safe name.
    """
    names = [_with_underscores(label) for label in labels]
    names = [name if name[:1].isalpha() else f"group_{name}" for name in names]
    repeated, times = Counter(names).most_common(1)[0]
    if times > 1:
        alike = [label for label, name in zip(labels, names, strict=True) if name == repeated]
        raise ValueError(
            f"groups has the labels {alike[0]!r} and {alike[1]!r}, which have the same safe name "
            f"{repeated!r}: rename one, or use keys='exact'."
        )
    return [f"{name}__" for name in names]


def _with_underscores(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")
