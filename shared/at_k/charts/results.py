"""Turn the results of `compute` into the rows, titles and captions of charts.

A row is a dict with the values of one mark, such as a point of a curve. `runs` is a dict from the
name of each run to its scores. k is the number of samples that a score is about.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from ..core.checks import (
    as_list,
    check_confidence,
    check_count,
    check_flag,
    check_text,
    did_you_mean,
    short,
)
from ..core.estimates import Estimate, read_score
from ..core.score import ScoreId
from ..results import estimates_of
from ..runs.comparison import Difference
from ..runs.noise import correction_in_words

Row = dict[str, Any]
"""A row of the data of a chart: the values of a score by the names of columns."""

ChartScores = Mapping[str, Any]
"""The dict that `compute` returns."""

ChartResults = ChartScores | Mapping[str, ChartScores]
"""The scores of one run, or those of several runs by their names."""

Curve = dict[Any, Estimate]
"""The estimates of one score over all questions, by k or another number in ascending order."""

MOST_KEYS = 6

_IN_WORDS = {
    "pass@k": "at least 1 of {k} samples correct",
    "pass^k": "all {k} samples correct",
    "mG-Pass@k": "mean of G-Pass@{k} over τ from 0.5 to 1",
    "maj@k": "more than half of {k} samples correct",
    "vote@k": "majority vote of {k} samples correct",
    "weighted_vote@k": "weighted vote of {k} samples correct",
    "max@k": "best of {k} samples",
    "picked@k": "picked one of {k} samples",
    "bayes@N": "expected reward of a new sample",
    "avg@N": "mean reward of the samples",
}


# --- Runs ---------------------------------------------------------------------------------


def runs_by_name(results: ChartResults) -> dict[str, ChartScores]:
    """Return a dict from the name of each run to its scores. A single run has the name ""."""
    check_dict("results", results, "compute returns, or a dict of several, {name: result}")
    if not results:
        raise ValueError("results is empty: give the dict that compute returns.")
    # A single result is a dict of dicts too, if its only key is "per_question".
    are_several = all(isinstance(value, Mapping) for value in results.values())
    if not are_several or set(results) == {"per_question"}:
        results = {"": results}
    for scores in results.values():
        check_scores("results", scores, "compute returns")
    runs = {str(name): scores for name, scores in results.items()}
    if len(runs) < len(results):
        raise ValueError(f"results has two runs with the same name: {short([*results])}.")
    return runs


def check_dict(name: str, value: Any, wanted: str) -> None:
    """Raise a TypeError unless the argument `name` is a dict, such as that which `wanted` names."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} is {type(value).__name__}: give the dict that {wanted}.")


def check_scores(name: str, scores: Any, wanted: str) -> None:
    """Raise a TypeError unless the argument `name` is a dict of finite scores, as `wanted` says."""
    check_dict(name, scores, wanted)
    if not all(isinstance(key, str) for key in scores):
        raise TypeError(f"{name} is {short(scores)}: give the dict that {wanted}.")
    if not isinstance(scores.get("per_question", {}), Mapping):
        raise TypeError(f"{name} has no dict of scores under 'per_question'.")
    for x in estimates_of(scores):
        lo, hi = (None, None) if x.interval is None else (x.interval.lo, x.interval.hi)
        if (lo is None) != (hi is None):
            raise TypeError(
                f"{name} has only one limit of {short(x.full_key)}: give the dict that {wanted}."
            )
        numbers = (x.score, *(x.band or ()), *(() if lo is None else (lo, hi)))
        if not all(map(_is_number, numbers)):
            raise TypeError(
                f"{name} has {short(x.score)} under the key {short(x.full_key)}: give the dict "
                f"that {wanted}, whose scores are numbers."
            )


def _is_number(value: Any) -> bool:
    """Return whether a value is a real number of size below 1e308, and no bool."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return is_number and -1e308 < value < 1e308


def score_notes(runs: Mapping[str, ChartScores], checkers: Mapping[str, Any] | None = None) -> str:
    """Return sentences on how scores are averaged and for which errors they are corrected, or "".

    `checkers` maps corrected runs to entries "checker" of `compute`. Default: those in `runs`.
    """
    averages = dict.fromkeys(getattr(scores, "averaging", "") for scores in runs.values())
    sentences = [f"{text[0].upper()}{text[1:]}." for text in averages if text]
    if checkers is None:
        checkers = {name: scores["checker"] for name, scores in runs.items() if "checker" in scores}
    texts = list(map(correction_in_words, checkers.values()))
    all_are_corrected = len(texts) >= len(runs)
    if all_are_corrected and len({*texts}) == 1:  # in the same way
        sentences.append(f"Scores: {texts[0]}.")
    else:
        named = zip(checkers, texts, strict=True)
        sentences += [f"{name or 'Scores'}: {text}." for name, text in named]
    return " ".join(sentences)


def row_of(estimate: Estimate, **columns: Any) -> Row:
    """Return a row: `columns`, key, score, and if known lo, hi, band_lo, band_hi and interval."""
    row = {**columns, "key": estimate.full_key, "score": estimate.score}
    if estimate.limits is not None:
        row["lo"], row["hi"] = estimate.limits
    if estimate.band is not None:
        row["band_lo"], row["band_hi"] = estimate.band
    if estimate.interval is not None and estimate.interval.interval is not None:
        row["interval"] = estimate.interval.interval
    return row


def curves_of(points: Iterable[tuple[str, Any, Estimate]]) -> dict[str, Curve]:
    """Return the curve of each name from points (name, x, estimate)."""
    curves: dict[str, Curve] = {}
    for name, x, estimate in points:
        curves.setdefault(name, {})[x] = estimate
    return {name: dict(sorted(curve.items())) for name, curve in curves.items()}


def overall_estimates(scores: ChartScores) -> list[Estimate]:
    """Return the estimates for all questions."""
    return [x for x in estimates_of(scores) if x.group is None]


def shown_names(
    requested: str | Sequence[str] | None,
    by_run: Mapping[str, Iterable[str]],
    parameter: str,
    what: str,
    remedy: str = "",
    most: float = math.inf,
) -> list[str]:
    """Return the names of the scores that a chart shows: those requested, or all of every run.

    Each has to be in all runs, and there may be `most` names. Messages call the scores `what`, and
    `requested` the `parameter`; `remedy` says how a run gets such scores.
    """
    for run, names in by_run.items():
        if not names:
            raise ValueError(f"{run or 'The result'} has no {what}: {remedy}.")
    first, *others = by_run.values()
    known = [name for name in dict.fromkeys(first) if all(name in names for names in others)]
    if not known:
        raise ValueError(f"The runs {', '.join(by_run)} have no {what} in common.")
    shown = known if requested is None else _named(as_list(parameter, requested), known, parameter)
    if len(shown) > most:
        raise ValueError(
            f"{len(shown)} scores are too many for a chart of questions or groups: choose at most "
            f"{most} of {', '.join(shown)}."
        )
    return shown


def _named(requested: Iterable[str], known: Sequence[str], parameter: str) -> list[str]:
    """Return the known names of requested ones, "G-Pass@k_0.5" also for "G-Pass@k"; or raise."""
    named: dict[str, None] = {}
    for name in requested:
        check_text(parameter, name)
        matching = [other for other in known if f"{other}_".startswith(f"{name}_")]
        if not matching:
            raise ValueError(f"{parameter} is {short(name)}: the results have {', '.join(known)}.")
        named |= dict.fromkeys(matching)
    return list(named)


def metric_label(score: Estimate | Difference | ScoreId, k: int | str = "k") -> str:
    """Return the name of a score with `k` in place of its own k, such as "G-Pass@k, τ = 0.5"."""
    name = ScoreId(score.metric, k).key
    return name if score.tau is None else f"{name}, τ = {score.tau}"


def metric_title(score: Estimate | ScoreId, k: int | str = "k") -> str:
    """Return the title of a panel or series: `metric_label(score, k)`, and its meaning if known."""
    words = _IN_WORDS.get(score.metric)
    if score.metric == "G-Pass@k" and score.tau is not None:
        words = f"at least {100 * score.tau:g} % of {{k}} samples correct"
    if k == 1 and score.metric in ("pass@k", "pass^k", "maj@k"):
        words = "share of correct samples"
    label = metric_label(score, k)
    return f"{label}: {words.format(k=k)}" if words else label


def score_titles(keys: Iterable[str]) -> dict[str, str]:
    """Return a dict from each key of a score, such as "pass@4", to the title of its panel."""
    scores = {key: read_score(key) for key in keys}
    return {
        key: metric_title(x, x.k) if isinstance(x.k, int) and x.metric[-1] in "kN" else key
        for key, x in scores.items()
    }


# --- Captions -----------------------------------------------------------------------------


def details_of(options: Mapping[str, Any]) -> ChartDetails:
    """Return the options of a chart. Raises TypeError if one is unknown."""
    known = ChartDetails.__annotations__
    for name in options.keys() - known.keys():
        hint = did_you_mean(name, known)
        raise TypeError(f"A chart has no option {name!r}.{hint} It has {', '.join(known)}.")
    return ChartDetails(**options)


@dataclass
class ChartDetails:
    """Hold and check the options of a chart, which the module `at_k.charts` describes."""

    questions: int | None = None
    n: int | str | None = None
    checker: str | None = None
    confidence: float | None = None
    interval: str | None = None
    caption: str | None = None
    percent: bool = False
    width: float = 3.3

    def __post_init__(self) -> None:
        if self.questions is not None:
            self.questions = check_count("questions", self.questions)
        if self.n is not None and not isinstance(self.n, str):
            self.n = check_count("n", self.n)
        if self.confidence is not None:
            check_confidence(self.confidence)
        check_flag("percent", self.percent)
        for name in ("checker", "interval", "caption"):
            if (text := getattr(self, name)) is not None:
                check_text(name, text)

    @property
    def axis_format(self) -> str:
        """The format of scores in Vega, in percent if `percent` is set."""
        return "%" if self.percent else "f"

    @property
    def text_format(self) -> str:
        """The format of scores in Python."""
        return ".2%" if self.percent else ".4f"

    def caption_of(self, rows: Iterable[Row], mark: str, *more: str) -> str:
        """Return the option `caption`, or sentences on limits, the sentences `more`, and samples.

        `mark` is "Bands" or "Bars", the marks that show the limits of `rows`.
        """
        limited = [row for row in rows if "lo" in row]
        # Even for a caption: it raises a ValueError if `interval` is not the method of the rows.
        limits = self._sentence_on_limits(limited, mark) if limited else ""
        if self.caption is not None:
            return self.caption
        return " ".join(filter(None, (limits, *more, self._sentence_on_samples())))

    def _sentence_on_samples(self) -> str:
        """Return a sentence on what was scored, as far as it is known, or ""."""
        clauses = []
        if self.questions is not None:
            clauses.append(f"{self.questions} question{'s' if self.questions != 1 else ''}")
        if self.n is not None:
            scope = "each" if clauses else "per question"
            clauses.append(f"{self.n} sample{'s' if self.n != 1 else ''} {scope}")
        if self.checker is not None:
            clauses.append(f"{'checked' if clauses else 'Checked'} with {self.checker}")
        return f"{', '.join(clauses)}." if clauses else ""

    def _sentence_on_limits(self, rows: Sequence[Row], mark: str) -> str:
        """Return a sentence on the limits of rows, which begins with `mark`."""
        methods = {row.get("interval", self.interval) for row in rows}
        if self.interval not in (None, "auto") and methods != {self.interval}:
            others = " and ".join(sorted(str(x) for x in methods - {self.interval}))
            raise ValueError(
                f"interval is {self.interval!r}, but the limits in the results are by the method "
                f"{others}: leave out interval."
            )
        percent = "" if self.confidence is None else f"{100 * self.confidence:.6g} % "
        limits = f"{percent}confidence limits"
        if any("band_lo" in row for row in rows):
            limits += f" at each k (dark) and simultaneous {percent}band over all k (pale)"
        elif mark == "Bands":
            limits = f"pointwise {limits}"
        return f"{mark}: {limits}{_population(methods)}."


def _population(methods: Collection[str | None]) -> str:
    """Return which questions limits by these methods are for, or "" if a method is not known."""
    if methods == {"questions"}:
        return " for other questions like these"
    if None in methods or "auto" in methods:
        return ""
    text = " for the same questions, sampled again"
    if "questions" in methods:
        text += " (by the method questions, for other questions like these)"
    return text
