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
    Texts,
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
_TEXTS: Texts = {"key": str, "interval": lambda method: method.partition(":")[0]}  # or "none"

_MOST_SCORES_IN_SENTENCE = 6  # More scores than this are easier to read in a table.


@dataclass
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

    Attributes:
        estimates: the estimates of the scores, for all questions and for groups.
        confidence: the confidence of the intervals, or None if there are none.
    """

    scores: dict[str, Any]
    scope: Scope
    input: Sequence[str] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    noise: Mapping[str, Any] = field(default_factory=dict)
    ids: Sequence[Any] | None = None
    label: str = "scores"

    def __post_init__(self) -> None:
        """Collect the estimates of each group, and the methods of all limits."""
        self.estimates = estimates_of(self.scores)
        self.confidence = self.options.get("confidence")
        # The estimates by group and key. All questions are the group None.
        self._by_group: dict[str | None, dict[str, Estimate]] = {None: {}}
        for x in self.estimates:
            self._by_group.setdefault(x.group, {})[x.key] = x
        self._overall = self._by_group[None]
        self._methods = {self.method_of(x) for x in self.estimates if x.limits is not None}
        self._has_band = any(x.band is not None for x in self.estimates)
        averaging, has_groups = self.scope.averaging, len(self._by_group) > 1
        self._headings = [group_heading(x, has_groups, averaging) for x in self._by_group]
        # A corrected pass@k that falls with k shows that errors of the checker are dependent.
        self._falls_with_k = "falls_with_k" in self.scores.get("checker", {})

    def method_of(self, x: Estimate) -> str:
        """Return the method of a score's interval; it is the option if the interval has no name."""
        named = x.interval is not None and x.interval.interval
        return named or self.options.get("interval") or "posterior"

    def limits_by(self, method: str) -> Limits:
        """Return the words for limits by this method. There has to be a confidence."""
        anytime = bool(self.options.get("anytime"))
        return Limits(self.confidence or 0.0, method, self.scope.row, anytime)

    def data(self) -> dict[str, Any]:
        """Return the dict that `compute` returns."""
        return self.scores

    def tables(self) -> list[Cells]:
        """Return the tables for the terminal.

        Without intervals, one table has a row for each key and a column for each group. With
        intervals, each group has a table. A table of single questions may follow.
        """
        if not self._methods:
            groups = self._by_group.values()
            headings = self._headings if len(groups) > 1 else ["score"]
            rows = [
                [key, *(f"{group[key].score:.4f}" for group in groups)] for key in self._overall
            ]
            return [[["", *headings], *rows], *self._table_of_questions()]
        tables = []
        for estimates, heading in zip(self._by_group.values(), self._headings, strict=True):
            values = [{"key": key} | _statistics(x) for key, x in estimates.items()]
            columns = {"key": heading} | _HEADINGS
            if all(row.get("mu", row["score"]) == row["score"] for row in values):
                del columns["mu"]  # The intervals are centered at the scores themselves.
            tables.append(make_table(columns, values, "{:.4f}".format, _TEXTS))
        return [*tables, *self._table_of_questions()]

    def paper_tables(self) -> list[Cells]:
        """Return a table of keys and groups for papers, and that of single questions if any."""
        scale, heads = self._scale(self._overall.values()), [""]
        if self._methods:
            limits = self.limits_by(next(iter(self._methods)))
            is_one = len(self._methods) == 1
            heads = [f" ({limits.heading if is_one else f'{limits.percent} CI'})"]
            heads += [f"{limits.percent} band"] if self._has_band else []
        keys, (overall, *groups) = [*self._overall], self._headings
        cells = [
            [_paper_cells(scale, group.get(key))[: len(heads)] for group in self._by_group.values()]
            for key in keys
        ]
        columns = [overall.capitalize() or "Estimate", *groups]
        table = crossed(scale.heading, keys, columns, cells, heads)
        return [table, *self._table_of_questions()]

    def records(self) -> Cells:
        """Return a row for each key and group. Raises ValueError for scores of single questions."""
        if "per_question" in self.scores:
            raise ValueError("CSV has no scores of single questions: use --format json.")
        return records_of(self.estimates)

    def _scale(self, estimates: Iterable[Estimate]) -> Scale:
        """Return the scale for these scores that suits all numbers of all scores and groups."""
        values = (value for x in self.estimates for value in _statistics(x).values())
        numbers = [value for value in values if isinstance(value, (int, float))]
        return Scale.of([x.metric for x in estimates], numbers)

    def _table_of_questions(self) -> list[Cells]:
        """Return a list with the table of the scores of single questions, or [] without them."""
        if "per_question" not in self.scores:
            return []
        columns = self.scores["per_question"]
        rows = [*zip(*columns.values(), strict=True)]
        table = [["question", *columns]]
        for name, row in zip(self.ids or range(len(rows)), rows, strict=True):
            text = " ".join(name) if isinstance(name, tuple) else str(name)
            table.append([short_label(text), *map("{:.4f}".format, row)])
        return [table]

    # --- Sentences ------------------------------------------------------------------------

    def notes(self, for_paper: bool = False) -> list[str]:
        """Return sentences about the limits, scores without limits, mG-Pass@k, cons@k and maj@k."""
        notes = self._notes_on_limits(for_paper) if self._methods else []
        if self._falls_with_k:
            notes.append(
                "The corrected pass@k falls with k, which no success rates allow: do not report it."
            )
        if not for_paper:
            notes += [self._noise_in_words(*item) for item in self.noise.items()]
        intervals = [x.interval for x in self.estimates if x.interval is not None]
        for reason in sorted({str(x.interval) for x in intervals if x.is_unknown}):
            notes.append(f"{reason.replace('none', 'No interval', 1)}.")
        return notes + self._notes_on_metrics()

    def _notes_on_metrics(self) -> list[str]:
        """Return sentences about mG-Pass@k at odd k, a biased cons@k, and maj@k."""
        notes, metrics = [], {x.metric for x in self.estimates}
        if ("mG-Pass@k", 1) in {
            (x.metric, x.k % 2) for x in self.estimates if isinstance(x.k, int)
        }:
            notes.append("mG-Pass@k is at most (k - 1)/k for odd k: compare it at even k.")
        if self._biased:
            notes.append(
                f"{enumerated(self._biased)}: more than k/2 of all n samples are correct, so it "
                f"rises with n. maj@k has no such bias."
            )
        if "maj@k" in metrics:
            where = ", in this table" if "vote@k" in metrics else " of cons_at_k"
            notes.append(
                f"maj@k: more than half of k samples are correct. The majority vote of most papers "
                f"(maj@k, cons@64) is vote@k{where}."
            )
        return notes

    def _notes_on_limits(self, for_paper: bool) -> list[str]:
        """Return sentences that say what the limits are for, and which scores are extrapolated."""
        limits, band = "lo and hi are limits", "band lo and band hi are limits"
        if for_paper:
            percent = self.limits_by("").percent
            limits, band = f"{percent} CI: confidence limits", f"{percent} band: limits"
        scopes = {Limits(0.0, method, self.scope.row).scope for method in self._methods}
        if len(scopes) > 1:
            scopes = {f"{SAME_QUESTIONS}; by `questions`, {OTHER_QUESTIONS}"}
        notes = [f"{limits} {scope}." for scope in scopes]
        if self._extrapolated:
            scores = [f"{key} {questions}" for key, questions in self._extrapolated.items()]
            notes.append(
                f"Scores are extrapolated where a {self.scope.row} has fewer than k "
                f"{self.scope.noun}s: {enumerated(scores)}."
            )
        if self.options.get("anytime"):
            notes.append("The limits hold at all looks together.")
        if self._has_band:
            notes.append(f"{band} that cover each score at all k together.")
        return notes

    def _noise_in_words(self, key: str, noise: Mapping[str, Any]) -> str:
        """Return sentences with limits that the table lacks, and with the causes of the variance.

        `noise` is the entry of the score `key` in the result of `at_k.noise`.
        """
        noun, by_cause = self.scope.row, {x: noise[x] for x in ("questions", "samples")}
        by_cause["labels"] = noise["checker"]
        shares = [f"{100 * x:.0f} % from the {cause}" for cause, x in by_cause.items() if x]
        shares[0] = shares[0].replace("from", "comes from")  # the verb of all shares
        helps = noise["helps_most"]
        if helps == "questions" and self.scope.clusters is not None:
            helps = "clusters"
        advice = f"so more {helps} would help most"
        if noise["helps_most"] != largest_share(noise):
            advice = f"but so few {noun}s show little of how they vary: more would help most"
        limits, population, of_what = noise["other_questions"], f"other {noun}s like these", ""
        if self._methods == {"questions"} and noise["same_questions"] is not None:
            limits, population = noise["same_questions"], f"the same {noun}s, sampled again"
            of_what = f" for other {noun}s"
        scale = Scale.of([x.metric for x in self._overall.values()], limits)
        lo, hi = scale.number(limits[0]), scale.with_unit(limits[1])
        return (
            f"For {population}, {key} is between {lo} and {hi}. Of the variance of {key}{of_what}, "
            f"{enumerated(shares)}, {advice}."
        )

    def sentence(self) -> str:
        """Return a sentence with the scores of all questions and their limits, or "".

        It begins with vote@k, the majority vote of most papers, and leaves out a biased
        cons@k. It is "" for too many scores, and if a corrected pass@k falls with k.
        """
        stated = {key: x for key, x in self._overall.items() if key not in self._biased}
        if self.options.get("interval") not in (None, "posterior"):
            # The limits are those of avg@N here, not of the posterior.
            stated = {key: x for key, x in stated.items() if x.metric != "bayes@N"}
        is_short = self.confidence is not None and len(stated) <= _MOST_SCORES_IN_SENTENCE
        if self._falls_with_k or not is_short or any(x.limits is None for x in stated.values()):
            return ""
        scale, clauses = self._scale(stated.values()), list[str]()
        for key, x in sorted(stated.items(), key=lambda item: item[1].metric != "vote@k"):
            # The first clause has the confidence and the method, which hold for the others too.
            clauses.append(self._statement(key, x, scale, is_first=not clauses))
        return f"On {self.scope.in_words()}, {enumerated(clauses)}."

    def _statement(self, key: str, x: Estimate, scale: Scale, is_first: bool) -> str:
        """Return a clause with a score, or its posterior mean, and its limits.

        `is_first` adds the confidence and the method.
        """
        limits, interval = x.limits, x.interval
        assert limits is not None
        assert interval is not None
        name, value, method = key, x.score, self.method_of(x)
        if "temperature" in self.options:
            name += f" at temperature {self.options['temperature']:g}"
        if method == "posterior" and interval.mu is not None:
            name, value = f"the posterior mean of {name}", interval.mu
        text = " to ".join(map(scale.number, limits))
        if is_first:
            text = self.limits_by(method).described(scale, limits)
        if key in self._extrapolated:
            text += f", extrapolated {self._extrapolated[key]}"
        return f"{name} is {scale.with_unit(value)} ({text})"

    @cached_property
    def _biased(self) -> list[str]:
        """The keys of scores cons@k whose k is below the number of samples of a question."""
        most, scores = max(int(n.max()) for n in self.scope.sizes), self._overall.items()
        return [key for key, x in scores if x.metric == "cons@k" and x.k in range(most)]

    @cached_property
    def _extrapolated(self) -> dict[str, str]:
        """For which questions each extrapolated score is: {"pass@8": "for 3 of 30 questions"}.

        Only the interval "hierarchical" extrapolates, for questions with fewer than k samples.
        """
        sizes, noun, result = np.concatenate(self.scope.sizes), self.scope.row, {}
        for key, x in self._overall.items():
            if isinstance(x.k, int) and self.method_of(x) == "hierarchical":
                number = int((sizes < x.k).sum())
                share = "all" if number == len(sizes) else f"{number} of {len(sizes)}"
                if number:
                    result[key] = f"for {share} {noun}s"
        return result


def nouns_of(metrics: Iterable[str]) -> tuple[str, str]:
    """Return the words for a question and a sample: ("item", "verdict") for score_agg."""
    return ("item", "verdict") if "score_agg" in metrics else ("question", "sample")


def records_of(estimates: Iterable[Estimate]) -> Cells:
    """Return a table with a row for each estimate, with full precision, for CSV."""
    columns = {"group": "group", "key": "key"} | _HEADINGS
    rows = ({"group": x.group, "key": x.key} | _statistics(x) for x in estimates)
    return make_table(columns, rows)


def _statistics(x: Estimate) -> dict[str, Any]:
    """Return the numbers of an estimate by column; of an unknown interval, only the reason."""
    row: dict[str, Any] = {"score": x.score}
    if x.interval is not None:
        entries = x.interval._asdict()
        if x.interval.is_unknown:
            entries = {"interval": x.interval.interval}
        row |= {name: value for name, value in entries.items() if value is not None}
    if x.band is not None:
        row["band_lo"], row["band_hi"] = x.band
    return row


def _paper_cells(scale: Scale, x: Estimate | None) -> list[str]:
    """Return two texts: a score with its limits, if any, and its band. A missing one is ""."""
    if x is None:
        return ["", ""]
    limits = "" if x.limits is None else f" {scale.limits(*x.limits)}"
    return [f"{scale.number(x.score)}{limits}", "" if x.band is None else scale.limits(*x.band)]
