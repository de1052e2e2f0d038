"""How the scores of one run are shown: in the terminal, in papers, as records and in a sentence."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..core.estimates import Estimate
from ..results import estimates_of
from ..runs.noise import Noise, correction_in_words
from .formats import (
    INTERVAL_SCOPE,
    Cells,
    Scale,
    Scope,
    View,
    band_heading,
    enumerated,
    interval_heading,
    interval_scope,
    limits_in_words,
    outside_of_range,
    short_label,
)

_HEADINGS = {
    "score": "score",
    "mu": "mean",
    "sigma": "sd",
    "lo": "lo",
    "hi": "hi",
    "band_lo": "band lo",
    "band_hi": "band hi",
    "interval": "interval",
}
"""The columns of a table of scores: the statistic, and the heading."""

_MOST_SCORES = 6  # in a sentence: a table shows more of them better


@dataclass(frozen=True)
class ScoresView(View):
    """The scores of a run.

    Args:
        scores: of `compute`.
        input: a sentence that says what was read.
        scope: the questions and their samples, for the sentence.
        interval: the requested interval method, or None for the default.
        confidence: of the intervals, or None if there are none.
        temperature: of score_agg, or None for other metrics.
        noise: what the error of one of the scores is made of, or None.
        anytime: whether the intervals hold at all looks together.
    """

    scores: dict[str, Any]
    input: Sequence[str] = ()
    scope: Scope | None = None
    interval: str | None = None
    confidence: float | None = None
    temperature: float | None = None
    noise: Noise | None = None
    anytime: bool = False

    @cached_property
    def estimates(self) -> list[Estimate]:
        return estimates_of(self.scores)

    @cached_property
    def _by_group(self) -> dict[str | None, dict[str, Estimate]]:
        """The estimates by their keys: those of all questions, then those of each group."""
        groups: dict[str | None, dict[str, Estimate]] = {}
        for estimate in self.estimates:
            groups.setdefault(estimate.group, {})[estimate.key] = estimate
        return groups

    @cached_property
    def _overall(self) -> list[Estimate]:
        """The estimates of all questions."""
        return list(self._by_group.get(None, {}).values())

    @property
    def _noun(self) -> str:
        """What a question is called."""
        return nouns_of({x.metric for x in self.estimates})[0]

    def method_of(self, x: Estimate) -> str:
        """The method of the interval of a score that has one.

        The posterior is the default of bayes_at_n, whose scores do not name their intervals.
        """
        named = x.interval is not None and x.interval.interval
        return named or self.interval or "posterior"

    @cached_property
    def _methods(self) -> set[str]:
        """The methods of the intervals: none if no score has limits."""
        return {self.method_of(x) for x in self.estimates if x.limits is not None}

    @property
    def _has_band(self) -> bool:
        return any(x.band is not None for x in self.estimates)

    def data(self) -> dict[str, Any]:
        return self.scores

    # --- Tables ---------------------------------------------------------------------------

    def tables(self) -> list[Cells]:
        """A row for each key, and a column for all questions and for each group.

        With intervals there is a table for all questions and one for each group. Scores of single
        questions follow in a table of their own.
        """
        headings = self._group_headings("all questions", "")
        if self._methods:
            tables = [
                _interval_table(list(of_group.values()), heading)
                for of_group, heading in zip(self._by_group.values(), headings, strict=True)
            ]
        else:
            head = ["", *(headings if len(headings) > 1 else ["score"])]
            rows = [
                [x.key, *(_cell(of_group[x.key].score) for of_group in self._by_group.values())]
                for x in self._overall
            ]
            tables = [[head, *rows]]
        return [*tables, *self._per_question_table()]

    def paper_tables(self) -> list[Cells]:
        """Keys by groups of questions, whichever is narrower."""
        scale = self._scale(self._overall)
        headings = self._group_headings("All questions", "Estimate")
        suffix, band = "", []
        if self.confidence is not None and self._methods:
            method = next(iter(self._methods)) if len(self._methods) == 1 else None
            suffix = f" ({interval_heading(self.confidence, method, self._noun)})"
            band = [band_heading(self.confidence)] * self._has_band
        rows, columns = list(self._by_group[None]), headings
        grid = [
            [_paper_cells(scale, group.get(key), bool(band)) for group in self._by_group.values()]
            for key in rows
        ]
        if len(rows) < len(columns):
            rows, columns, grid = columns, rows, list(map(list, zip(*grid, strict=True)))
        head = [cell for column in columns for cell in (column + suffix, *band)]
        table = [[row, *itertools.chain(*cells)] for row, cells in zip(rows, grid, strict=True)]
        return [[[scale.heading, *head], *table], *self._per_question_table()]

    def records(self) -> Cells:
        """A row for each key and group, with an empty text for the group of all questions.

        Raises:
            ValueError: if there are scores of single questions, which have other columns.
        """
        if "per_question" in self.scores:
            raise ValueError("CSV has no scores of single questions: use --format json.")
        return records_of(self.estimates)

    def _scale(self, shown: Sequence[Estimate]) -> Scale:
        """The scale of some of the scores, by all numbers of the run."""
        values = [value for x in self.estimates for value in _statistics(x).values()]
        numbers = [value for value in values if isinstance(value, (int, float))]
        return Scale.of([x.metric for x in shown], numbers)

    def _is_biased(self, x: Estimate) -> bool:
        """Whether a score is cons@k with a k below n, which papers should not report."""
        if x.metric != "cons@k" or self.scope is None:
            return False
        return isinstance(x.k, int) and any(int(n.max()) > x.k for n in self.scope.sizes)

    def _group_headings(self, all_questions: str, without_groups: str) -> list[str]:
        labels = [label for label in self._by_group if label is not None]
        return [all_questions if labels else without_groups, *map(short_label, labels)]

    def _per_question_table(self) -> list[Cells]:
        """The table of the scores of single questions, if there are any."""
        if "per_question" not in self.scores:
            return []
        per_question = self.scores["per_question"]
        rows = [
            [str(question), *map(_cell, scores)]
            for question, scores in enumerate(zip(*per_question.values(), strict=True))
        ]
        return [[["question", *per_question], *rows]]

    # --- Sentences ------------------------------------------------------------------------

    def notes(self, for_paper: bool = False) -> list[str]:
        """What the limits are for, where the error comes from, and which vote maj@k is."""
        notes = self._notes_of_limits(for_paper)
        if self.scope is not None and self.scope.averaging:
            notes.append(f"Scores of all {self._noun}s are {self.scope.averaging}.")
        if self.noise is not None:
            notes.append(self._noise_in_words(self.noise))
        notes += _reasons_for_no_interval(self.estimates)
        metrics = {x.metric for x in self.estimates}
        if "maj@k" in metrics:
            where = ", in this table" if "vote@k" in metrics else " of cons_at_k"
            notes.append(
                f"maj@k: more than half of k samples are correct. The majority vote of most papers "
                f"(maj@k, cons@64) is vote@k{where}."
            )
        number = len(self._for_sentence)
        if number > _MOST_SCORES and self._methods and not for_paper:
            notes.append(
                f"A sentence for a paper has up to {_MOST_SCORES} scores, and here are {number}: "
                f"choose some with --include and --k."
            )
        return notes

    def caption_notes(self) -> list[str]:
        return self._notes_of_limits(for_paper=True)

    def _notes_of_limits(self, for_paper: bool) -> list[str]:
        """What the limits are for, and whether scores are corrected."""
        limits, band = "lo and hi are limits", "band lo and band hi are limits"
        if for_paper and self.confidence is not None:
            limits = f"{interval_heading(self.confidence)}: confidence limits"
            band = f"{band_heading(self.confidence)}: limits"
        notes = []
        scopes = {interval_scope(method, self._noun): method for method in sorted(self._methods)}
        if len(scopes) == 1:
            notes.append(f"{limits} {next(iter(scopes))}.")
        elif scopes:
            same, other = INTERVAL_SCOPE["sampling"], INTERVAL_SCOPE["questions"]
            notes.append(f"{limits} {same}; by `questions`, {other}.")
        shown = self._overall if self._methods else []
        numbers = [f"{x.key} {words}" for x in shown if (words := self._extrapolated(x))]
        if numbers:
            noun = nouns_of({x.metric for x in self.estimates})[1]
            notes.append(
                f"Scores are extrapolated where a {self._noun} has fewer than k {noun}s: "
                f"{enumerated(numbers)}."
            )
        if self.anytime:
            notes.append("The limits hold at all looks together.")
        if self._has_band:
            notes.append(f"{band} that cover each score at all k together.")
        if checker := self.scores.get("checker"):
            beyond = outside_of_range(x.score for x in self.estimates)
            notes.append(f"The scores are {correction_in_words(checker)}.{beyond}")
            if "falls_with_k" in checker:
                notes.append(
                    "The corrected pass@k falls with k, which no success rates allow: do not "
                    "report it."
                )
        return notes

    def _noise_in_words(self, noise: Noise) -> str:
        """The limits for the other of the two questions, and where the error comes from."""
        noun, key = self._noun, noise.score_id.key
        by_cause = {"questions": noise.questions, "samples": noise.samples, "labels": noise.checker}
        shares = [f"{100 * x:.0f} % from the {name}" for name, x in by_cause.items() if x]
        shares[0] = shares[0].replace("from", "comes from")
        helps = f"so more {noise.helps_most} would help most"
        if noise.helps_most != noise.largest_share:
            helps = f"but so few {noun}s show little of how they vary: more would help most"
        limits, what = noise.other_questions, f"other {noun}s like these"
        of = f"the variance of {key}"
        if self._methods == {"questions"} and noise.same_questions is not None:
            limits, what = noise.same_questions, f"the same {noun}s, sampled again"
            of = f"the variance of {key} for other {noun}s"
        scale = Scale.of([x.metric for x in self._overall], limits)  # as the other sentences
        lo, hi = scale.number(limits[0]), scale.with_unit(limits[1])
        return (
            f"For {what}, {key} is between {lo} and {hi}. Of {of}, {enumerated(shares)}, {helps}."
        )

    @property
    def _for_sentence(self) -> list[Estimate]:
        """The scores that a sentence would name."""
        shown = [x for x in self._overall if not self._is_biased(x)]
        shown.sort(key=lambda x: x.metric != "vote@k")
        if self.interval not in (None, "posterior"):  # limits of the mean reward, which is avg@N
            shown = [x for x in shown if x.metric != "bayes@N"]
        return shown

    def sentence(self) -> str:
        """The scores with their limits, or an empty text if a score has none, or if many do.

        There is none either for a corrected pass@k that falls with k.

        vote@k, the majority vote of most papers, is the first. Limits of a posterior need not
        contain the score, so its mean is named instead.
        """
        shown = self._for_sentence
        falls = "falls_with_k" in self.scores.get("checker", {})
        if self.scope is None or self.confidence is None or falls or len(shown) > _MOST_SCORES:
            return ""
        if any(x.limits is None for x in shown):
            return ""
        scale = self._scale(shown)
        statements = [self._statement(x, scale, is_first=x is shown[0]) for x in shown]
        text = f"On {self.scope.in_words()}, {enumerated(statements)}"
        if checker := self.scores.get("checker"):
            beyond = outside_of_range(x.score for x in shown)
            return f"{text}. The scores are {correction_in_words(checker)}.{beyond}"
        return f"{text}."

    def _extrapolated(self, x: Estimate) -> str:
        """For how many questions the score is extrapolated, or "" if for none.

        Samples that stop at the first correct one (`budget`) may be fewer than k.
        """
        if self.scope is None or not isinstance(x.k, int) or self.method_of(x) != "hierarchical":
            return ""
        sizes = np.concatenate(self.scope.sizes)
        number, noun = int((sizes < x.k).sum()), self._noun
        if number == len(sizes):
            return f"for all {noun}s"
        return f"for {number} of {len(sizes)} {noun}s" if number else ""

    def _statement(self, x: Estimate, scale: Scale, is_first: bool) -> str:
        """A score with its limits, whose method and confidence the first one names."""
        assert self.scope is not None
        assert x.limits is not None
        assert x.interval is not None
        name, value, method = x.key, x.score, self.method_of(x)
        if self.temperature is not None:
            name = f"{x.key} at temperature {self.temperature:g}"
        if method == "posterior" and x.interval.mu is not None:
            name, value = f"the posterior mean of {x.key}", x.interval.mu
        words = " to ".join(map(scale.number, x.limits))
        if is_first:
            confidence = self.confidence or 0.0
            words = limits_in_words(
                scale, x.limits, method, confidence, self.scope.row, self.anytime
            )
        if extrapolated := self._extrapolated(x):
            words += f", extrapolated {extrapolated}"
        return f"{name} is {scale.with_unit(value)} ({words})"


def nouns_of(metrics: Iterable[str]) -> tuple[str, str]:
    """Return what metrics call a question and a sample: score_agg has items with verdicts."""
    return ("item", "verdict") if "score_agg" in metrics else ("question", "sample")


def records_of(estimates: Sequence[Estimate]) -> Cells:
    """Return a row for each key and group, see `ScoresView.records`."""
    statistics = [_statistics(x) for x in estimates]
    columns = _columns_of(
        values for x, values in zip(estimates, statistics, strict=True) if x.group is None
    )
    table = [["group", "key", *(_HEADINGS[column] for column in columns)]]
    for x, values in zip(estimates, statistics, strict=True):
        table.append([x.group or "", x.key, *(str(values.get(column, "")) for column in columns)])
    return table


def _statistics(x: Estimate) -> dict[str, Any]:
    """The score, and what was requested of its interval and its band, by name."""
    values: dict[str, Any] = {"score": x.score}
    if x.interval is not None:
        fields = x.interval._asdict()
        if x.interval.is_unknown:
            fields = {"interval": x.interval.interval}
        values |= {name: value for name, value in fields.items() if value is not None}
    if x.band is not None:
        values["band_lo"], values["band_hi"] = x.band
    return values


def _columns_of(statistics: Iterable[Mapping[str, Any]]) -> list[str]:
    """The columns for the statistics of some estimates."""
    known = {name for values in statistics for name in values}
    return [name for name in _HEADINGS if name in known]


def _reasons_for_no_interval(estimates: Iterable[Estimate]) -> list[str]:
    """Sentences that say why scores have no interval."""
    intervals = (x.interval for x in estimates if x.interval is not None and x.interval.is_unknown)
    reasons = sorted({str(interval.interval) for interval in intervals})
    return [f"{reason.replace('none', 'No interval', 1)}." for reason in reasons]


def _interval_table(estimates: Sequence[Estimate], heading: str) -> Cells:
    """A row for each score, with the columns of its interval that have values.

    The center of the intervals is left out if it is the score itself.
    """
    statistics = [_statistics(x) for x in estimates]
    columns = _columns_of(statistics)
    if all(values.get("mu", values["score"]) == values["score"] for values in statistics):
        columns = [column for column in columns if column != "mu"]
    headings = _HEADINGS | {"mu": "center"}
    table = [[heading, *(headings[column] for column in columns)]]
    for x, values in zip(estimates, statistics, strict=True):
        table.append([x.key, *(_cell(values.get(column)) for column in columns)])
    return table


def _paper_cells(scale: Scale, x: Estimate | None, has_band: bool) -> list[str]:
    """The score with its limits, and the limits of the band in a cell of their own."""
    score = band = ""
    if x is not None:
        score = scale.number(x.score)
        if x.limits is not None:
            score += f" {scale.limits(*x.limits)}"
        if x.band is not None:
            band = scale.limits(*x.band)
    return [score, band] if has_band else [score]


def _cell(value: float | str | None) -> str:
    if value is None:
        return ""
    return value.partition(":")[0] if isinstance(value, str) else f"{value:.4f}"
