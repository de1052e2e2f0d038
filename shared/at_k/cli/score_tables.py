"""The output for the scores of one run: tables, records and sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..core.estimates import Estimate
from ..results import estimates_of
from ..runs.noise import largest_share
from .formats import (
    OTHER_QUESTIONS,
    SAME_QUESTIONS,
    Cells,
    Limits,
    Scale,
    Scope,
    View,
    crossed,
    enumerated,
    group_heading,
    make_table,
    short_label,
)

_HEADINGS = {"score": "score", "mu": "mean", "sigma": "sd", "lo": "lo", "hi": "hi"}
_HEADINGS |= {"band_lo": "band lo", "band_hi": "band hi", "interval": "interval"}
"""The heading of each statistic in a table of scores."""

_MOST_SCORES_IN_SENTENCE = 6  # More scores than this are easier to read in a table.


@dataclass(frozen=True)
class ScoresView(View):
    """The output for the scores of a run.

    Args:
        scores: the dict that `compute` returns.
        scope: the facts about the run that sentences state.
        input: sentences that say what was read, and how scores are corrected and averaged.
        options: the options of the metric, defaults included.
        noise: the key of one score with its entry in the result of `noise`; empty for no score.
        ids: the ids of the M questions, or None.
        label: the name of the table in LaTeX.
    """

    scores: dict[str, Any]
    scope: Scope
    input: Sequence[str] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    noise: Mapping[str, Any] = field(default_factory=dict)
    ids: Sequence[Any] | None = None
    label: str = "scores"

    @property
    def confidence(self) -> float | None:
        """The confidence of the intervals, or None if there are none."""
        return self.options.get("confidence")

    def limits_by(self, method: str) -> Limits:
        """Return the words for limits by this method. There has to be a confidence."""
        anytime = bool(self.options.get("anytime"))
        return Limits(self.confidence or 0.0, method, self.scope.row, anytime)

    @cached_property
    def estimates(self) -> list[Estimate]:
        """The estimates of the scores, for all questions and for groups."""
        return estimates_of(self.scores)

    @cached_property
    def _rows(self) -> list[dict[str, Any]]:
        """The values of each estimate, by the names of the columns."""
        return list(map(_score_row, self.estimates))

    @cached_property
    def _by_group(self) -> dict[str | None, dict[str, Estimate]]:
        """The estimates of each group by their keys, with all questions as the group None."""
        groups: dict[str | None, dict[str, Estimate]] = {None: {}}
        for estimate in self.estimates:
            groups.setdefault(estimate.group, {})[estimate.key] = estimate
        return groups

    def method_of(self, x: Estimate) -> str:
        """Return the method of a score's interval; it is the option if the interval has no name."""
        named = x.interval is not None and x.interval.interval
        return named or self.options.get("interval") or "posterior"

    @property
    def unnamed_method(self) -> str | None:
        """The method of the intervals if they do not name it, as those of bayes_at_n; or None."""
        is_named = any(x.interval and x.interval.interval for x in self.estimates)
        return None if is_named else self.method_of(self.estimates[0])

    @cached_property
    def _methods(self) -> set[str]:
        """The methods of all intervals; empty if there are none."""
        return {self.method_of(x) for x in self.estimates if x.limits is not None}

    @property
    def _has_band(self) -> bool:
        """Whether some score has a simultaneous band."""
        return any(x.band is not None for x in self.estimates)

    def data(self) -> dict[str, Any]:
        """Return the dict that `compute` returns."""
        return self.scores

    def tables(self) -> list[Cells]:
        """Return the tables for the terminal.

        Without intervals, it is one table with a row for each key, and columns for all questions
        and for each group. With intervals, there is a table for each of these. A table of the
        scores of single questions may follow.
        """
        tables = []
        headings = self._group_headings("" if self._methods else "score")
        if not self._methods:
            rows = [
                [key, *(f"{group[key].score:.4f}" for group in self._by_group.values())]
                for key in self._by_group[None]
            ]
            return [[["", *headings], *rows], *self._per_question_table()]
        for group, heading in zip(self._by_group, headings, strict=True):
            rows_of_group = [row for row in self._rows if row["group"] == group]
            columns = {"key": heading} | _HEADINGS
            if all(row.get("mu", row["score"]) == row["score"] for row in rows_of_group):
                del columns["mu"]  # The intervals are centered at the scores themselves.
            tables.append(make_table(columns, rows_of_group, _table_cell))
        return [*tables, *self._per_question_table()]

    def paper_tables(self) -> list[Cells]:
        """Return the tables for papers: keys and groups, and maybe scores of single questions."""
        overall, *groups = self._group_headings("Estimate")
        scale, heads = self._scale(self._by_group[None].values()), [""]
        if self.confidence is not None and self._methods:
            limits = self.limits_by(next(iter(self._methods)))
            is_one = len(self._methods) == 1
            heads = [f" ({limits.heading if is_one else f'{limits.percent} CI'})"]
            heads += [f"{limits.percent} band"] if self._has_band else []
        cells = [
            [_paper_cells(scale, group.get(key))[: len(heads)] for group in self._by_group.values()]
            for key in self._by_group[None]
        ]
        columns = [overall.capitalize(), *groups]
        table = crossed(scale.heading, [*self._by_group[None]], columns, cells, heads)
        return [table, *self._per_question_table()]

    def records(self) -> Cells:
        """Return a row for each key and group. Raises ValueError for scores of single questions."""
        if "per_question" in self.scores:
            raise ValueError("CSV has no scores of single questions: use --format json.")
        return records_of(self.estimates)

    def _scale(self, estimates: Iterable[Estimate]) -> Scale:
        """Return a scale for these scores in which all numbers of the run can be shown."""
        values = (value for row in self._rows for value in row.values())
        numbers = [value for value in values if isinstance(value, (int, float))]
        return Scale.of([x.metric for x in estimates], numbers)

    def _group_headings(self, without_groups: str) -> list[str]:
        """Return a heading for all questions and each group, or [without_groups] without groups."""
        has_groups, averaging = len(self._by_group) > 1, self.scope.averaging
        headings = [group_heading(group, has_groups, averaging) for group in self._by_group]
        return headings if has_groups else [without_groups]

    def _per_question_table(self) -> list[Cells]:
        """Return a list with the table of the scores of single questions, or [] without them."""
        if "per_question" not in self.scores:
            return []
        columns = self.scores["per_question"]
        rows = [*zip(*columns.values(), strict=True)]
        ids = self.ids or range(len(rows))
        names = [" ".join(i) if isinstance(i, tuple) else str(i) for i in ids]
        table = [["question", *columns]]
        for name, row in zip(names, rows, strict=True):
            table.append([short_label(name), *map("{:.4f}".format, row)])
        return [table]

    # --- Sentences ------------------------------------------------------------------------

    @property
    def _falls_with_k(self) -> bool:
        """Return whether a corrected pass@k falls with k, which shows that errors are dependent."""
        return "falls_with_k" in self.scores.get("checker", {})

    def notes(self, for_paper: bool = False) -> list[str]:
        """Return sentences about the limits, scores without limits, mG-Pass@k, cons@k and maj@k."""
        notes = self._notes_of_limits(for_paper)
        if self._falls_with_k:
            notes.append(
                "The corrected pass@k falls with k, which no success rates allow: do not report it."
            )
        if not for_paper:
            notes += [self._noise_in_words(*item) for item in self.noise.items()]
        reasons = {row["interval"] for row in self._rows if "interval" in row and "lo" not in row}
        notes += [f"{reason.replace('none', 'No interval', 1)}." for reason in sorted(reasons)]
        return notes + self._notes_on_metrics()

    def _notes_on_metrics(self) -> list[str]:
        """Return sentences about mG-Pass@k at odd k, a biased cons@k, and maj@k."""
        notes, metrics = [], {x.metric for x in self.estimates}
        odd = {x.metric for x in self.estimates if isinstance(x.k, int) and x.k % 2}
        if "mG-Pass@k" in odd:
            notes.append("mG-Pass@k is at most (k - 1)/k for odd k: compare it at even k.")
        if biased := [x.key for x in self._by_group[None].values() if self._is_biased(x)]:
            notes.append(
                f"{enumerated(biased)}: more than k/2 of all n samples are correct, so it rises "
                f"with n. maj@k has no such bias."
            )
        if "maj@k" in metrics:
            where = ", in this table" if "vote@k" in metrics else " of cons_at_k"
            notes.append(
                f"maj@k: more than half of k samples are correct. The majority vote of most papers "
                f"(maj@k, cons@64) is vote@k{where}."
            )
        return notes

    def _noise_in_words(self, key: str, noise: Mapping[str, Any]) -> str:
        """Return sentences about one score: limits that the table lacks, and causes of variance."""
        noun, by_cause = self.scope.row, {x: noise[x] for x in ("questions", "samples")}
        by_cause["labels"] = noise["checker"]
        shares = [f"{100 * x:.0f} % from the {name}" for name, x in by_cause.items() if x]
        shares[0] = shares[0].replace("from", "comes from")
        advice = f"so more {noise['helps_most']} would help most"
        if noise["helps_most"] != largest_share(noise):
            advice = f"but so few {noun}s show little of how they vary: more would help most"
        limits, population, of_what = noise["other_questions"], f"other {noun}s like these", ""
        if self._methods == {"questions"} and noise["same_questions"] is not None:
            limits, population = noise["same_questions"], f"the same {noun}s, sampled again"
            of_what = f" for other {noun}s"
        scale = Scale.of([x.metric for x in self._by_group[None].values()], limits)
        lo, hi = scale.number(limits[0]), scale.with_unit(limits[1])
        return (
            f"For {population}, {key} is between {lo} and {hi}. Of the variance of {key}{of_what}, "
            f"{enumerated(shares)}, {advice}."
        )

    def _notes_of_limits(self, for_paper: bool) -> list[str]:
        """Return sentences that say what the limits are for, and which scores are extrapolated."""
        if not self._methods or self.confidence is None:
            return []
        limits, band = "lo and hi are limits", "band lo and band hi are limits"
        if for_paper:
            percent = f"{100 * self.confidence:g} %"
            limits, band = f"{percent} CI: confidence limits", f"{percent} band: limits"
        scopes = {Limits(self.confidence, x, self.scope.row).scope for x in self._methods}
        if len(scopes) > 1:
            scopes = {f"{SAME_QUESTIONS}; by `questions`, {OTHER_QUESTIONS}"}
        extrapolated = [
            f"{x.key} {where}"
            for x in self._by_group[None].values()
            if (where := self._extrapolation(x))
        ]
        notes = [f"{limits} {scope}." for scope in scopes]
        if extrapolated:
            notes.append(
                f"Scores are extrapolated where a {self.scope.row} has fewer than k "
                f"{self.scope.noun}s: {enumerated(extrapolated)}."
            )
        if self.options.get("anytime"):
            notes.append("The limits hold at all looks together.")
        if self._has_band:
            notes.append(f"{band} that cover each score at all k together.")
        return notes

    def sentence(self) -> str:
        """Return a sentence with the scores of all questions and their limits.

        Return "" if a score has no limits, if there are too many scores, or if a corrected pass@k
        falls with k. The sentence leaves out a biased cons@k (see `_is_biased`), and begins with
        vote@k, which is the majority vote of most papers.
        """
        if self._falls_with_k or self.confidence is None:
            return ""
        stated = [x for x in self._by_group[None].values() if not self._is_biased(x)]
        stated.sort(key=lambda x: x.metric != "vote@k")
        if self.options.get("interval") not in (None, "posterior"):
            # The limits are those of avg@N here, not of the posterior.
            stated = [x for x in stated if x.metric != "bayes@N"]
        has_limits = all(x.limits is not None for x in stated)
        if not has_limits or len(stated) > _MOST_SCORES_IN_SENTENCE:
            return ""
        scale = self._scale(stated)
        statements = [self._statement(x, scale, is_first=x is stated[0]) for x in stated]
        return f"On {self.scope.in_words()}, {enumerated(statements)}."

    def _is_biased(self, estimate: Estimate) -> bool:
        """Return whether a score is a cons@k with a k below the number of samples of a question."""
        if estimate.metric != "cons@k" or not isinstance(estimate.k, int):
            return False
        return any(int(n.max()) > estimate.k for n in self.scope.sizes)

    def _extrapolation(self, estimate: Estimate) -> str:
        """Return for which questions a score is extrapolated, such as "for 3 of 10 questions".

        Return "" if it is for none. The interval "hierarchical" extrapolates where a question has
        fewer than k samples. By other methods, a score needs k samples, or all up to a success.
        """
        if not isinstance(estimate.k, int) or self.method_of(estimate) != "hierarchical":
            return ""
        sizes, noun = np.concatenate(self.scope.sizes), self.scope.row
        number = int((sizes < estimate.k).sum())
        if number == len(sizes):
            return f"for all {noun}s"
        return f"for {number} of {len(sizes)} {noun}s" if number else ""

    def _statement(self, estimate: Estimate, scale: Scale, is_first: bool) -> str:
        """Return a clause with a score and its limits, such as "pass@4 is 51.2 % (48.0 to 54.1)".

        Limits of a posterior need not contain the score, so the clause has the posterior mean
        instead. `is_first` adds the confidence and the method, which hold for later clauses too.
        """
        assert estimate.limits is not None
        assert estimate.interval is not None
        name, value, method = estimate.key, estimate.score, self.method_of(estimate)
        if "temperature" in self.options:
            name = f"{estimate.key} at temperature {self.options['temperature']:g}"
        if method == "posterior" and estimate.interval.mu is not None:
            name, value = f"the posterior mean of {estimate.key}", estimate.interval.mu
        limits = " to ".join(map(scale.number, estimate.limits))
        if is_first:
            limits = self.limits_by(method).described(scale, estimate.limits)
        if extrapolated := self._extrapolation(estimate):
            limits += f", extrapolated {extrapolated}"
        return f"{name} is {scale.with_unit(value)} ({limits})"


def nouns_of(metrics: Iterable[str]) -> tuple[str, str]:
    """Return the words for a question and a sample: ("item", "verdict") for score_agg."""
    return ("item", "verdict") if "score_agg" in metrics else ("question", "sample")


def records_of(estimates: Iterable[Estimate]) -> Cells:
    """Return a table with a row for each estimate, with full precision, for CSV."""
    columns = {"group": "group", "key": "key"} | _HEADINGS
    return make_table(columns, map(_score_row, estimates))


def _score_row(x: Estimate) -> dict[str, Any]:
    """Return the group, key and score of an estimate, and the entries of its interval and band.

    An interval that is not known has only the entry "interval", which is the reason.
    """
    row: dict[str, Any] = {"group": x.group, "key": x.key, "score": x.score}
    if x.interval is not None:
        entries = x.interval._asdict()
        if x.interval.is_unknown:
            entries = {"interval": x.interval.interval}
        row |= {name: value for name, value in entries.items() if value is not None}
    if x.band is not None:
        row["band_lo"], row["band_hi"] = x.band
    return row


def _paper_cells(scale: Scale, estimate: Estimate | None) -> list[str]:
    """Return the cell of a score with its limits, and that of its band; "" where there is none."""
    if estimate is None:
        return ["", ""]
    limits = "" if estimate.limits is None else f" {scale.limits(*estimate.limits)}"
    band = "" if estimate.band is None else scale.limits(*estimate.band)
    return [f"{scale.number(estimate.score)}{limits}", band]


def _table_cell(name: str, value: float | str | None) -> str:
    """Return the text of a value for the terminal: "none" for the interval "none: REASON"."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value.partition(":")[0] if name == "interval" else value
    return f"{value:.4f}"
