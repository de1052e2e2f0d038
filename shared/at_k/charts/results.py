"""What charts show: the results of `compute` as estimates, their titles and their captions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from ..core.checks import as_list, check_confidence, check_count, check_text, short
from ..core.estimates import Estimate, Result, estimates_of, read_score
from ..core.score import ScoreId
from ..runs.comparison import Difference
from ..runs.noise import correction_in_words

Row = dict[str, Any]
"""What is drawn of a score: a row of the data of a chart."""

ChartScores = Mapping[str, Any]
"""What `compute` returns."""

ChartResults = ChartScores | Mapping[str, ChartScores]
"""The scores of one run, or those of several runs by their names."""

_MOST_KEYS = 6

_IN_WORDS = {
    "pass@k": "at least 1 of {k} samples correct",
    "pass^k": "all {k} samples correct",
    "mG-Pass@k": "mean of G-Pass@{k} over τ from 0.5 to 1",
    "maj@k": "more than half of {k} samples correct",
    "vote@k": "majority vote of {k} samples correct",
    "weighted_vote@k": "weighted vote of {k} samples correct",
    "max@k": "best of {k} samples",
    "picked@k": "picked one of {k} samples",
    "bayes@k": "expected reward of a new sample",
    "avg@k": "mean reward of the samples",
}


# --- Runs ---------------------------------------------------------------------------------


def runs_by_name(results: ChartResults) -> dict[str, ChartScores]:
    """Return the scores of each run by its name. A single run has the name "".

    Raises:
        TypeError: if these are not the scores of one or several runs.
        ValueError: if there are none.
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
    for scores in runs.values():
        check_scores("results", scores)
    return runs


def check_scores(name: str, scores: Any) -> None:
    """Raise a TypeError unless these are what `compute`, `compare` or a leaderboard returns."""
    if not isinstance(scores, Mapping):
        raise TypeError(f"{name} is {short(scores)}: give the dict that was returned.")
    if isinstance(scores, Result) and scores.is_unchanged:
        return
    for key, value in scores.items():
        is_number = key not in ("per_question", "checker") and _is_finite(value)
        if not isinstance(key, str) or not (
            is_number
            or (value is None and key.endswith(("_mu", "_sigma", "_lo", "_hi")))
            or (isinstance(value, str) and key.endswith("_interval"))
            or (key in ("per_question", "checker") and isinstance(value, Mapping))
        ):
            raise TypeError(
                f"{name} has {short(value)} under the key {short(key)}: give the dict that was "
                f"returned, whose scores are numbers."
            )
        other = key.removesuffix("_lo") + "_hi"
        if key.endswith("_lo") and (value is None) != (scores.get(other) is None):
            raise TypeError(
                f"{name} has only one limit of {short(key.removesuffix('_lo'))}: give the dict "
                f"that was returned."
            )


def correction(runs: Mapping[str, ChartScores]) -> str:
    """Return the sentence on the errors of checkers that scores were corrected for, or ""."""
    words = {x: correction_in_words(y["checker"]) for x, y in runs.items() if "checker" in y}
    if len(words) == len(runs) > 1 and len({*words.values()}) == 1:
        words = {"": next(iter(words.values()))}
    return " ".join(f"{name or 'Scores'}: {text}." for name, text in words.items())


def correction_of_runs(compared: Mapping[str, Any]) -> str:
    """The same for a comparison or a leaderboard, with "checker" for each run."""
    return correction({name: {"checker": x} for name, x in compared.get("checker", {}).items()})


def _is_finite(value: Any) -> bool:
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # no double can hold it
        return False


def estimates_by_key(scores: ChartScores) -> dict[str, Estimate]:
    """Return the scores of a run, also those of groups, by their keys."""
    return {estimate.full_key: estimate for estimate in estimates_of(scores)}


def row_of(estimate: Estimate, **columns: Any) -> Row:
    """Return a row of data: more columns, a score, and its limits if it has any."""
    row = {**columns, "key": estimate.full_key, "score": estimate.score}
    if estimate.limits is not None:
        row["lo"], row["hi"] = estimate.limits
    if estimate.band is not None:
        row["band_lo"], row["band_hi"] = estimate.band
    if estimate.interval is not None and estimate.interval.interval is not None:
        row["interval"] = estimate.interval.interval
    return row


_Named = Estimate | Difference | ScoreId

Curve = dict[int, Estimate]
"""A score over all questions, by k in ascending order."""


def curves_by_name(scores: ChartScores) -> dict[str, Curve]:
    """Return the scores over all questions by metric: "pass@k", "G-Pass@k_0.5"."""
    curves: dict[str, Curve] = {}
    for estimate in estimates_of(scores):
        if estimate.group is None and isinstance(estimate.k, int) and _has_letter(estimate):
            metric = ScoreId(_metric(estimate), "k", estimate.tau).key
            curves.setdefault(metric, {})[estimate.k] = estimate
    return {metric: dict(sorted(curve.items())) for metric, curve in curves.items()}


def curves_by_threshold(scores: ChartScores) -> dict[int, dict[float, Estimate]]:
    """Return each G-Pass@k by k, and by its threshold in ascending order."""
    curves: dict[int, dict[float, Estimate]] = {}
    for estimate in estimates_of(scores):
        if estimate.metric == "G-Pass@k" and estimate.group is None and estimate.tau is not None:
            curves.setdefault(int(estimate.k or 0), {})[estimate.tau] = estimate
    return {k: dict(sorted(curve.items())) for k, curve in sorted(curves.items())}


def in_all_runs(by_run: Mapping[str, Iterable[Any]], what: str) -> list[Any]:
    """Return what each run has, in the order of the first one.

    Args:
        by_run: what each run has, by the name of the run.
        what: what it is, in the plural, for the message.

    Raises:
        ValueError: if the runs have nothing in common.
    """
    first, *more = (dict.fromkeys(of_run) for of_run in by_run.values())
    common = [name for name in first if all(name in of_run for of_run in more)]
    if not common:
        raise ValueError(f"The runs {', '.join(by_run)} have no {what} in common.")
    return common


def chosen_among(requested: str | Sequence[str] | None, known: Sequence[str], what: str) -> list:
    """Return the requested names, or all that are known.

    A name such as "G-Pass@k" stands for all that begin with "G-Pass@k_".

    Raises:
        ValueError: if a name is not known.
    """
    if requested is None:
        return list(known)
    chosen: dict[str, None] = {}
    for name in as_list(what, requested):
        check_text(what, name)
        matching = [other for other in known if other == name or other.startswith(f"{name}_")]
        if not matching:
            raise ValueError(f"{what} is {short(name)}: the results have {', '.join(known)}.")
        chosen |= dict.fromkeys(matching)
    return list(chosen)


def few_of(requested: str | Sequence[str] | None, by_run: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the keys that a chart shows: the requested ones, or all that each run has.

    Raises:
        ValueError: if a run does not have them, or if these are too many for a chart.
    """
    keys = chosen_among(requested, in_all_runs(by_run, "scores"), "key")
    if len(keys) > _MOST_KEYS:
        raise ValueError(
            f"{len(keys)} scores are too many for a chart of questions or groups: choose at most "
            f"{_MOST_KEYS} of {', '.join(keys)}."
        )
    return keys


# --- Titles -------------------------------------------------------------------------------


def _metric(score: _Named) -> str:
    """Return the metric as axes write it, with k for every number: "avg@k"."""
    return score.metric.replace("@N", "@k")


def _has_letter(score: _Named) -> bool:
    return "@" in score.metric or "^" in score.metric


def metric_label(score: _Named, k: int | str = "k") -> str:
    """Return the name of a score as charts write it: "G-Pass@k, τ = 0.5"."""
    name = ScoreId(score.metric, k).key
    return name if score.tau is None else f"{name}, τ = {score.tau}"


def metric_title(score: _Named, k: int | str = "k") -> str:
    """Return the title of an axis: the name of a score, and its meaning in words."""
    words = _IN_WORDS.get(_metric(score))
    if score.metric == "G-Pass@k" and score.tau is not None:
        words = f"at least {100 * score.tau:g} % of {{k}} samples correct"
    label = metric_label(score, k)
    return f"{label}: {words.format(k=k)}" if words else label


def score_titles(keys: Iterable[str], known: Iterable[_Named]) -> dict[str, str]:
    """Return the titles of axes for single scores, such as pass@4, by their keys.

    Args:
        keys: of the scores.
        known: records of scores; the keys of others are read.
    """
    by_key = {score.key: score for score in known}
    return {key: _score_title(by_key.get(key) or read_score(key)) for key in keys}


def _score_title(score: _Named) -> str:
    if not isinstance(score.k, int) or not _has_letter(score):
        return score.key
    if score.k == 1 and score.metric in ("pass@k", "pass^k", "maj@k"):
        return f"{score.key}: share of correct samples"
    return metric_title(score, score.k)


# --- Captions -----------------------------------------------------------------------------


@dataclass(frozen=True)
class ChartDetails:
    """What results do not say about themselves, and a caption does; see `at_k.charts`."""

    questions: int | None = None
    n: int | str | None = None
    checker: str | None = None
    confidence: float | None = None
    interval: str | None = None
    caption: str | None = None

    def __post_init__(self) -> None:
        for name in ("questions", "n"):
            value = getattr(self, name)
            if value is not None and not (name == "n" and isinstance(value, str)):
                object.__setattr__(self, name, check_count(name, value))
        if self.confidence is not None:
            check_confidence(self.confidence)
        for name in ("checker", "interval", "caption"):
            if (text := getattr(self, name)) is not None:
                check_text(name, text)

    def caption_of(self, *sentences: str) -> str:
        """Return the caption that is given, or these sentences and one on what was scored."""
        if self.caption is not None:
            return self.caption
        return " ".join(sentence for sentence in (*sentences, self._scored()) if sentence)

    def _scored(self) -> str:
        clauses = []
        if self.questions is not None:
            clauses.append(f"{self.questions} question{'s' * (self.questions != 1)}")
        if self.n is not None:
            scope = " each" if clauses else " per question"
            clauses.append(f"{self.n} sample{'s' * (self.n != 1)}{scope}")
        if self.checker is not None:
            clauses.append(f"checked with {self.checker}")
        scored = ", ".join(clauses)
        return f"{scored[0].upper()}{scored[1:]}." if scored else ""

    def limits(self, rows: Iterable[Row], mark: str) -> str:
        """Return the sentence on confidence limits, or "" if no score has any.

        Args:
            rows: the rows of the scores.
            mark: what shows the limits: "Bands" or "Bars".

        Raises:
            ValueError: if the results name other intervals than the caller.
        """
        rows = [row for row in rows if "lo" in row]
        if not rows:
            return ""
        named = sorted({row["interval"] for row in rows if "interval" in row} - {self.interval})
        if named and self.interval not in (None, "auto"):
            raise ValueError(
                f"interval is {self.interval!r}, but the limits in the results are by the method "
                f"{' and '.join(named)}: leave out interval."
            )
        percent = "" if self.confidence is None else f"{100 * self.confidence:.6g} % "
        limits = f"{percent}confidence limits"
        if any("band_lo" in row for row in rows):
            limits += f" at each k (dark) and simultaneous {percent}band over all k (pale)"
        elif mark == "Bands":
            limits = f"pointwise {limits}"
        sentence = f"{mark}: {limits}"
        scope = self._scope(rows)
        return f"{sentence} {scope}." if scope else f"{sentence}."

    def _scope(self, rows: Iterable[Row]) -> str:
        """Return the question that the limits answer, or "" if it is unknown."""
        methods = {row.get("interval", self.interval) for row in rows}
        others = "for other questions like these"
        if methods == {"questions"}:
            return others
        if None in methods or "auto" in methods:
            return ""
        also = f" (by the method questions, {others})" if "questions" in methods else ""
        return f"for the same questions, sampled again{also}"
