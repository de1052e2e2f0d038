"""How the scores of one run are shown: in the terminal, in papers, as records and in a sentence."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..core.estimates import Estimate
from ..results import estimates_of, overall_label
from ..runs.noise import Noise
from .formats import (
    OTHER_QUESTIONS,
    SAME_QUESTIONS,
    Cells,
    Limits,
    Scale,
    Scope,
    View,
    enumerated,
    make_table,
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
        scope: the questions and their samples.
        input: sentences that say what was read, and how scores are corrected and averaged.
        options: of the metric, with their defaults.
        noise: what the error of one of the scores is made of, or None.
        ids: of the M questions, see `readers.run.Run`; or None.
    """

    scores: dict[str, Any]
    scope: Scope
    input: Sequence[str] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    noise: Noise | None = None
    ids: Sequence[Any] | None = None

    @property
    def confidence(self) -> float | None:
        """The confidence of the intervals, or None if there are none."""
        return self.options.get("confidence")

    @cached_property
    def estimates(self) -> list[Estimate]:
        """The scores with their limits, of all questions and of groups."""
        return estimates_of(self.scores)

    @cached_property
    def _by_group(self) -> dict[str | None, dict[str, Estimate]]:
        """The estimates by their keys: those of all questions, then those of each group."""
        groups: dict[str | None, dict[str, Estimate]] = {None: {}}
        for estimate in self.estimates:
            groups.setdefault(estimate.group, {})[estimate.key] = estimate
        return groups

    @cached_property
    def _rows(self) -> list[dict[str, Any]]:
        """The rows of `records`, as dicts."""
        return _score_rows(self.estimates)

    def method_of(self, x: Estimate) -> str:
        """The method of the interval of a score that has one.

        The posterior is the default of bayes_at_n, whose scores do not name their intervals.
        """
        named = x.interval is not None and x.interval.interval
        return named or self.options.get("interval") or "posterior"

    @cached_property
    def _methods(self) -> set[str]:
        """The methods of the intervals: none if no score has limits."""
        return {self.method_of(x) for x in self.estimates if x.limits is not None}

    @property
    def _has_band(self) -> bool:
        """Whether a score has a simultaneous band."""
        return any(x.band is not None for x in self.estimates)

    def data(self) -> dict[str, Any]:
        """The dict that `compute` returns."""
        return self.scores

    # --- Tables ---------------------------------------------------------------------------

    def tables(self) -> list[Cells]:
        """A row for each key, and a column for all questions and for each group.

        With intervals there is a table for all questions and one for each group. Scores of single
        questions follow in a table of their own.
        """
        headings = self._group_headings("" if self._methods else "score")
        groups, tables = self._by_group, []
        if not self._methods:
            rows = [[x, *(f"{y[x].score:.4f}" for y in groups.values())] for x in groups[None]]
            return [[["", *headings], *rows], *self._per_question_table()]
        for group, heading in zip(groups, headings, strict=True):
            shown = [row for row in self._rows if row["group"] == group]
            columns = {"key": heading} | _known_columns(shown)
            if all(row.get("mu", row["score"]) == row["score"] for row in shown):
                columns.pop("mu", None)  # the center of the intervals is the score itself
            tables.append(make_table(columns, shown, _cell))
        return [*tables, *self._per_question_table()]

    def paper_tables(self) -> list[Cells]:
        """A table with a row for each key and a column for each group, transposed if narrower."""
        overall, *groups = self._group_headings("Estimate")
        rows, columns = [*self._by_group[None]], [overall.capitalize(), *groups]
        scale = self._scale([*self._by_group[None].values()])
        suffix, band = "", []
        if self.confidence is not None and self._methods:
            words = Limits(self.confidence, next(iter(self._methods)), self.scope.row)
            is_one = len(self._methods) == 1
            suffix = f" ({words.heading if is_one else f'{words.percent} CI'})"
            band = [f"{words.percent} band"] if self._has_band else []
        grid = [
            [_paper_cells(scale, group.get(key), bool(band)) for group in self._by_group.values()]
            for key in rows
        ]
        if len(rows) < len(columns):
            rows, columns, grid = columns, rows, [list(cells) for cells in zip(*grid, strict=True)]
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
        values = [value for row in self._rows for value in row.values()]
        numbers = [value for value in values if isinstance(value, (int, float))]
        return Scale.of([x.metric for x in shown], numbers)

    def _group_headings(self, without_groups: str) -> list[str]:
        """Return the headings of all questions, or `without_groups`, and of each group."""
        labels = [label for label in self._by_group if label is not None]
        overall = overall_label(self.scope.averaging) if labels else without_groups
        return [overall, *map(short_label, labels)]

    def _per_question_table(self) -> list[Cells]:
        """The table of the scores of single questions, if there are any."""
        if "per_question" not in self.scores:
            return []
        per_question = self.scores["per_question"]
        scores_of_questions = [*zip(*per_question.values(), strict=True)]
        ids = self.ids or range(len(scores_of_questions))
        rows = [
            [short_label(" ".join(x) if isinstance(x, tuple) else str(x)), *map("{:.4f}".format, y)]
            for x, y in zip(ids, scores_of_questions, strict=True)
        ]
        return [[["question", *per_question], *rows]]

    # --- Sentences ------------------------------------------------------------------------

    def notes(self, for_paper: bool = False) -> list[str]:
        """What the limits are for, why scores have none, and what mG-Pass@k and maj@k are."""
        notes = self._notes_of_limits(for_paper)
        if "falls_with_k" in self.scores.get("checker", {}):
            notes.append(
                "The corrected pass@k falls with k, which no success rates allow: do not report it."
            )
        if self.noise is not None and not for_paper:
            notes.append(self._noise_in_words(self.noise))
        notes += _reasons_for_no_interval(self.estimates)
        metrics = {x.metric for x in self.estimates}
        odd = {x.metric for x in self.estimates if isinstance(x.k, int) and x.k % 2}
        if "mG-Pass@k" in odd:
            notes.append("mG-Pass@k is at most (k - 1)/k for odd k: compare it at even k.")
        if "maj@k" in metrics:
            where = ", in this table" if "vote@k" in metrics else " of cons_at_k"
            notes.append(
                f"maj@k: more than half of k samples are correct. The majority vote of most papers "
                f"(maj@k, cons@64) is vote@k{where}."
            )
        return notes

    def _noise_in_words(self, noise: Noise) -> str:
        """The limits that the table lacks, for other or the same questions, and the shares."""
        noun, key = self.scope.row, noise.score_id.key
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
        scale = Scale.of(
            [x.metric for x in self._by_group[None].values()], limits
        )  # as the other sentences
        lo, hi = scale.number(limits[0]), scale.with_unit(limits[1])
        return (
            f"For {what}, {key} is between {lo} and {hi}. Of {of}, {enumerated(shares)}, {helps}."
        )

    def _notes_of_limits(self, for_paper: bool) -> list[str]:
        """Return what the limits are for, and which scores are extrapolated."""
        if not self._methods or self.confidence is None:
            return []
        limits, band = "lo and hi are limits", "band lo and band hi are limits"
        if for_paper:
            percent = f"{100 * self.confidence:g} %"
            limits, band = f"{percent} CI: confidence limits", f"{percent} band: limits"
        scopes = {Limits(self.confidence, x, self.scope.row).scope for x in self._methods}
        words = f"{SAME_QUESTIONS}; by `questions`, {OTHER_QUESTIONS}"
        if len(scopes) == 1:
            (words,) = scopes
        notes = [f"{limits} {words}."]
        shown = self._by_group[None].values() if "hierarchical" in self._methods else []
        if numbers := [f"{x.key} {words}" for x in shown if (words := self._extrapolated(x))]:
            notes.append(
                f"Scores are extrapolated where a {self.scope.row} has fewer than k "
                f"{self.scope.noun}s: {enumerated(numbers)}."
            )
        if self.options.get("anytime"):
            notes.append("The limits hold at all looks together.")
        if self._has_band:
            notes.append(f"{band} that cover each score at all k together.")
        return notes

    def sentence(self) -> str:
        """The scores with their limits, or an empty text if a score has none, or if many do.

        There is none either for a corrected pass@k that falls with k. A cons@k with a k below n is
        biased, and left out. vote@k, the majority vote of most papers, is the first.
        """
        shown = [x for x in self._by_group[None].values() if not self._is_biased(x)]
        shown.sort(key=lambda x: x.metric != "vote@k")
        if self.options.get("interval") not in (None, "posterior"):
            shown = [x for x in shown if x.metric != "bayes@N"]  # its limits are those of avg@N
        has_limits = all(x.limits is not None for x in shown) and self.confidence is not None
        falls = "falls_with_k" in self.scores.get("checker", {})
        if falls or not has_limits or len(shown) > _MOST_SCORES:
            return ""
        scale = self._scale(shown)
        statements = [self._statement(x, scale, is_first=x is shown[0]) for x in shown]
        return f"On {self.scope.in_words()}, {enumerated(statements)}."

    def _is_biased(self, x: Estimate) -> bool:
        """Whether a score is a cons@k with a k below the number of samples of a question."""
        if x.metric != "cons@k" or not isinstance(x.k, int):
            return False
        return any(int(n.max()) > x.k for n in self.scope.sizes)

    def _extrapolated(self, x: Estimate) -> str:
        """For how many questions the score is extrapolated, or "" if for none.

        Samples that stop at the first correct one (`budget`) may be fewer than k.
        """
        if not isinstance(x.k, int) or self.method_of(x) != "hierarchical":
            return ""
        sizes, noun = np.concatenate(self.scope.sizes), self.scope.row
        number = int((sizes < x.k).sum())
        if number == len(sizes):
            return f"for all {noun}s"
        return f"for {number} of {len(sizes)} {noun}s" if number else ""

    def _statement(self, x: Estimate, scale: Scale, is_first: bool) -> str:
        """A score with its limits, whose method and confidence the first one names.

        Limits of a posterior need not contain the score, so its mean is named instead.
        """
        assert x.limits is not None
        assert x.interval is not None
        name, value, method = x.key, x.score, self.method_of(x)
        if "temperature" in self.options:
            name = f"{x.key} at temperature {self.options['temperature']:g}"
        if method == "posterior" and x.interval.mu is not None:
            name, value = f"the posterior mean of {x.key}", x.interval.mu
        words = " to ".join(map(scale.number, x.limits))
        if is_first:
            confidence, anytime = self.confidence or 0.0, bool(self.options.get("anytime"))
            words = Limits(confidence, method, self.scope.row, anytime).described(scale, x.limits)
        if extrapolated := self._extrapolated(x):
            words += f", extrapolated {extrapolated}"
        return f"{name} is {scale.with_unit(value)} ({words})"


def nouns_of(metrics: Iterable[str]) -> tuple[str, str]:
    """Return what metrics call a question and a sample: score_agg has items with verdicts."""
    return ("item", "verdict") if "score_agg" in metrics else ("question", "sample")


def records_of(estimates: Iterable[Estimate]) -> Cells:
    """Return a row for each key and group, see `ScoresView.records`."""
    rows = _score_rows(estimates)
    columns = _known_columns([row for row in rows if row["group"] is None])
    return make_table({"group": "group", "key": "key"} | columns, rows)


def _score_rows(estimates: Iterable[Estimate]) -> list[dict[str, Any]]:
    """Return a dict for each estimate: its group, key and score, and known limits and band."""
    rows = []
    for x in estimates:
        row: dict[str, Any] = {"group": x.group, "key": x.key, "score": x.score}
        if x.interval is not None:
            fields = x.interval._asdict()
            if x.interval.is_unknown:
                fields = {"interval": x.interval.interval}
            row |= {name: value for name, value in fields.items() if value is not None}
        if x.band is not None:
            row["band_lo"], row["band_hi"] = x.band
        rows.append(row)
    return rows


def _known_columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The columns of the statistics that some rows have, with their headings."""
    known = {name for row in rows for name in row}
    return {name: heading for name, heading in _HEADINGS.items() if name in known}


def _reasons_for_no_interval(estimates: Iterable[Estimate]) -> list[str]:
    """Sentences that say why scores have no interval."""
    intervals = (x.interval for x in estimates if x.interval is not None and x.interval.is_unknown)
    reasons = sorted({str(interval.interval) for interval in intervals})
    return [f"{reason.replace('none', 'No interval', 1)}." for reason in reasons]


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


def _cell(name: str, value: float | str | None) -> str:
    """Return a cell of a table for the terminal, with 4 decimals."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value.partition(":")[0] if name == "interval" else value
    return f"{value:.4f}"
