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
    FOUR_DECIMALS,
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

Row = Mapping[str, Any]
"""An estimate by columns: group, key, metric, k, method, and those of `_HEADINGS` that it has."""


@dataclass
class ScoresView(View):
    """The output for the scores of a run.

    `scores` is the dict that `compute` returns with these `options`, defaults included. `noise` has
    entries of `at_k.noise` by the key of a score, and `ids` those of the questions. `scale` is the
    unit of the numbers for papers; the default suits all scores.
    """

    scores: dict[str, Any]
    scope: Scope
    input: Sequence[str] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    noise: Mapping[str, Any] = field(default_factory=dict)
    ids: Sequence[Any] | None = None
    label: str = "scores"
    scale: Scale | None = None

    def __post_init__(self) -> None:
        """Collect the rows of each group, and the methods of all limits."""
        # The method of an interval is the option if the interval has no name.
        default = self.options.get("interval") or "posterior"
        rows = map(_row_of, estimates_of(self.scores))
        self._rows = [row | {"method": row.get("interval", default)} for row in rows]
        # {group: {key: row}}. The group None has all questions.
        self._by_group: dict[str | None, dict[str, Row]] = {None: {}}
        for row in self._rows:
            self._by_group.setdefault(row["group"], {})[row["key"]] = row
        self._overall = self._by_group[None]
        self._methods = {row["method"] for row in self._rows if "lo" in row}
        averaging, has_groups = self.scope.averaging, len(self._by_group) > 1
        self._headings = [group_heading(group, has_groups, averaging) for group in self._by_group]
        # A corrected pass@k that falls with k shows that errors of the checker are dependent.
        self._falls_with_k = "falls_with_k" in self.scores.get("checker", {})

    def _limits_by(self, method: str) -> Limits:
        """Return the words for limits by this method."""
        confidence = self.options.get("confidence") or 0.0
        return Limits(confidence, method, self.scope.row, bool(self.options.get("anytime")))

    def data(self) -> dict[str, Any]:
        """Return the dict that `compute` returns."""
        return self.scores

    # --- Tables ---------------------------------------------------------------------------

    def tables(self) -> list[Cells]:
        """Return a table for each group (without limits, one for all), then any of questions."""
        groups = self._by_group.values()
        if not self._methods:
            headings = self._headings if len(groups) > 1 else ["score"]
            cells = [
                [key, *(f"{rows[key]['score']:.4f}" for rows in groups)] for key in self._overall
            ]
            return [[["", *headings], *cells], *self._table_of_questions()]
        tables = []
        for rows, heading in zip(groups, self._headings, strict=True):
            columns = {"key": heading} | _HEADINGS
            if all(row.get("mu", row["score"]) == row["score"] for row in rows.values()):
                del columns["mu"]  # The intervals are centered at the scores themselves.
            tables.append(make_table(columns, rows.values(), "{:.4f}".format, _TEXTS))
        return [*tables, *self._table_of_questions()]

    def paper_tables(self) -> list[Cells]:
        """Return a table of keys and groups for papers, and that of single questions if any."""
        scale, heads = self._scale, [""]
        if self._methods:
            limits = self._limits_by(next(iter(self._methods)))
            name = limits.heading if len(self._methods) == 1 else f"{limits.percent} CI"
            heads = [f" ({name})", *([f"{limits.percent} band"] if self._has_band else [])]
        cells = [
            [_paper_cells(scale, group.get(key))[: len(heads)] for group in self._by_group.values()]
            for key in self._overall
        ]
        overall, *groups = self._headings
        columns = [overall.capitalize() or "Estimate", *groups]
        table = crossed(scale.heading, [*self._overall], columns, cells, heads)
        return [table, *self._table_of_questions(scale)]

    def records(self) -> Cells:
        """Return a row for each key and group. Raises ValueError for scores of single questions."""
        if "per_question" in self.scores:
            raise ValueError("CSV has no scores of single questions: use --format json.")
        return records_of(estimates_of(self.scores))

    @cached_property
    def _scale(self) -> Scale:
        """The scale of all tables and sentences: `scale`, or the one that suits all scores."""
        values = (row.get(name) for row in self._rows for name in _HEADINGS)
        numbers = [value for value in values if isinstance(value, (int, float))]
        return self.scale or Scale.of([row["metric"] for row in self._rows], numbers)

    def _table_of_questions(self, scale: Scale = FOUR_DECIMALS) -> list[Cells]:
        """Return a list with the table of the scores of single questions, or [] without them."""
        if "per_question" not in self.scores:
            return []
        columns, unit = self.scores["per_question"], " in %" if scale.percent else ""
        rows = [*zip(*columns.values(), strict=True)]
        table = [["question", *(f"{key}{unit}" for key in columns)]]
        for question, row in zip(self.ids or range(len(rows)), rows, strict=True):
            name = " ".join(question) if isinstance(question, tuple) else str(question)
            table.append([short_label(name), *map(scale.number, row)])
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
            notes += [self._noise_in_words(key, noise) for key, noise in self.noise.items()]
        # A row without limits has "none: " and the reason in place of the name of an interval.
        methods = {row.get("interval", "") for row in self._rows}
        reasons = sorted(method for method in methods if method.startswith("none"))
        notes += [f"{reason.replace('none', 'No interval', 1)}." for reason in reasons]
        return notes + self._notes_on_metrics()

    def _notes_on_metrics(self) -> list[str]:
        """Return sentences about mG-Pass@k at odd k, a biased cons@k, and maj@k."""
        notes, metrics = [], {row["metric"] for row in self._rows}
        ks = [row["k"] for row in self._rows if row["metric"] == "mG-Pass@k"]
        if any(isinstance(k, int) and k % 2 for k in ks):
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
            percent = self._limits_by("").percent
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
        """Return sentences with limits that the table lacks, and the causes of the variance."""
        noun, helps = self.scope.row, noise["helps_most"]
        causes = {"questions": "questions", "samples": "samples", "checker": "labels"}
        shares = [
            f"{100 * noise[name]:.0f} % from the {cause}"
            for name, cause in causes.items()
            if noise[name]
        ]
        shares[0] = shares[0].replace("from", "comes from")  # the verb of all shares
        if helps != largest_share(noise):
            advice = f"but so few {noun}s show little of how they vary: more would help most"
        elif helps == "questions" and self.scope.clusters is not None:
            advice = "so more clusters would help most"
        else:
            advice = f"so more {helps} would help most"
        limits, population, of_what = noise["other_questions"], f"other {noun}s like these", ""
        if self._methods == {"questions"} and noise["same_questions"] is not None:
            limits, population = noise["same_questions"], f"the same {noun}s, sampled again"
            of_what = f" for other {noun}s"
        scale = self._scale
        lo, hi = scale.number(limits[0]), scale.with_unit(limits[1])
        return (
            f"For {population}, {key} is between {lo} and {hi}. Of the variance of {key}{of_what}, "
            f"{enumerated(shares)}, {advice}."
        )

    def sentence(self) -> str:
        """Return a sentence with scores of all questions and their limits, vote@k first, or ""."""
        has_limits = self.options.get("confidence") is not None
        stated = self._stated_rows() if has_limits and not self._falls_with_k else []
        if not stated:
            return ""
        scale = self._scale
        # The sentence begins with vote@k, the majority vote of most papers.
        first, *others = sorted(stated, key=lambda row: row["metric"] != "vote@k")
        # The first clause has the confidence and the method, which hold for the others too.
        limits = self._limits_by(first["method"])
        clauses = [self._clause(first, scale, limits.described(scale, (first["lo"], first["hi"])))]
        clauses += [self._clause(x, scale, scale.range(x["lo"], x["hi"])) for x in others]
        return f"On {self.scope.in_words()}, {enumerated(clauses)}."

    def _stated_rows(self) -> list[Row]:
        """Return the rows that the sentence states; none if many, or if one has no limits."""
        rows = [row for key, row in self._overall.items() if key not in self._biased]
        if self.options.get("interval") not in (None, "posterior"):
            # The limits are those of avg@N here, not of the posterior.
            rows = [row for row in rows if row["metric"] != "bayes@N"]
        is_stated = len(rows) <= _MOST_SCORES_IN_SENTENCE and all("lo" in row for row in rows)
        return rows if is_stated else []

    def _clause(self, row: Row, scale: Scale, limits: str) -> str:
        """Return a clause with a score, or its posterior mean, and the text `limits`."""
        name, value = row["key"], row["score"]
        if "temperature" in self.options:
            name += f" at temperature {self.options['temperature']:g}"
        if row["method"] == "posterior" and "mu" in row:
            name, value = f"the posterior mean of {name}", row["mu"]
        if row["key"] in self._extrapolated:
            limits += f", extrapolated {self._extrapolated[row['key']]}"
        return f"{name} is {scale.with_unit(value)} ({limits})"

    def published(self) -> tuple[float, list[str]]:
        """Return the score of all questions and phrases on it; ValueError if there are several."""
        row, *others = self._overall.values()
        if others:
            raise ValueError(
                f"The format eval-results has one score for a task, and there are "
                f"{len(self._overall)}, such as {row['key']} and {others[0]['key']}: select one, "
                f"as by --include pass@k --k 1."
            )
        phrases = [row["key"], self.scope.in_words()]
        if "lo" in row:
            method, limits = row["method"], (row["lo"], row["hi"])
            described = self._limits_by(method).described(FOUR_DECIMALS, limits)
            phrases += [f"standard error {row['sigma']:.4f}", f"{described} ({method})"]
        return row["score"], phrases

    @property
    def _has_band(self) -> bool:
        """Whether there are limits that hold for all k together."""
        return any("band_lo" in row for row in self._rows)

    @cached_property
    def _biased(self) -> list[str]:
        """The keys of scores cons@k whose k is below the number of samples of a question."""
        largest_n = max(int(n.max()) for n in self.scope.sizes)
        cons = [row for row in self._overall.values() if row["metric"] == "cons@k"]
        return [row["key"] for row in cons if row["k"] != "n" and row["k"] < largest_n]

    @cached_property
    def _extrapolated(self) -> dict[str, str]:
        """For how many questions a score is extrapolated: {"pass@8": "for 3 of 30 questions"}."""
        sizes, noun, result = np.concatenate(self.scope.sizes), self.scope.row, {}
        for key, row in self._overall.items():
            if isinstance(row["k"], int) and row["method"] == "hierarchical":
                number = int((sizes < row["k"]).sum())
                share = "all" if number == len(sizes) else f"{number} of {len(sizes)}"
                if number > 0:
                    result[key] = f"for {share} {noun}s"
        return result


def nouns_of(metrics: Iterable[str]) -> tuple[str, str]:
    """Return the words for a question and a sample: ("item", "verdict") for score_agg."""
    return ("item", "verdict") if "score_agg" in metrics else ("question", "sample")


def records_of(estimates: Iterable[Estimate]) -> Cells:
    """Return a table with a row for each estimate, with full precision, for CSV."""
    return make_table({"group": "group", "key": "key"} | _HEADINGS, map(_row_of, estimates))


def _row_of(estimate: Estimate) -> dict[str, Any]:
    """Return an estimate as a `Row` without "method". An unknown interval gives only its reason."""
    names = ("group", "key", "metric", "k", "score")
    row: dict[str, Any] = {name: getattr(estimate, name) for name in names}
    if (interval := estimate.interval) is not None:
        statistics = interval._asdict()
        if interval.is_unknown:
            statistics = {"interval": interval.interval}
        row |= {name: value for name, value in statistics.items() if value is not None}
    if estimate.band is not None:
        row["band_lo"], row["band_hi"] = estimate.band
    return row


def _paper_cells(scale: Scale, row: Row | None) -> list[str]:
    """Return two texts: a score with its limits, if any, and its band. A missing one is ""."""
    if row is None:
        return ["", ""]
    limits = f" {scale.limits(row['lo'], row['hi'])}" if "lo" in row else ""
    band = scale.limits(row["band_lo"], row["band_hi"]) if "band_lo" in row else ""
    return [f"{scale.number(row['score'])}{limits}", band]
