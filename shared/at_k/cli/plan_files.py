"""`at-k plan FILE`: the precision of runs with other numbers of questions and samples."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..runs.plan import PlanOptions, plan, plan_for
from .flags import COOL, WARM, add_flags, parameters_and_helps
from .formats import (
    OTHER_QUESTIONS,
    SAME_QUESTIONS,
    Cells,
    Limits,
    Texts,
    View,
    make_table,
    number_of,
    print_output,
)
from .graded_files import file_arguments, graded_files

_FLAG_NAMES = {"questions": "number_of_questions", "samples": "number_of_samples"}
"""The names of flags for parameters whose own names stand for columns of a file."""

# The headings of the columns of a plan by their names.
_PLAN_COLUMNS = {
    "questions": "questions",
    "samples": "samples",
    "cost": "cost",
    "half_width_sampling": "+- sampling",
    "half_width_questions": "+- questions",
    "difference_sampling": "diff. sampling",
    "difference_questions": "diff. questions",
}
_EXAMPLES = f"""\
examples, with the samples of the package:
  at-k plan {WARM} --check-correct-fn numeric --k 4 --half-width 0.02
  at-k plan {COOL} --check-correct-fn numeric --k 1 --difference 0.03 --sample-cost 0.1
  at-k plan --rates 0.1 0.5 0.9 --number-of-questions 100 500 --number-of-samples 1 4 16
"""


def add_plan_flags(command: argparse.ArgumentParser) -> None:
    """Add the flags of `at_k.plan` and of reading files to the parser, and set what it runs."""
    parameters, helps = parameters_and_helps(plan, ("R",))
    helps |= {flag: f"{helps[name]} In Python: {name}." for name, flag in _FLAG_NAMES.items()}
    flags = [
        parameter.replace(name=_FLAG_NAMES.get(parameter.name, parameter.name))
        for parameter in parameters.values()
    ]
    add_flags(command, "[FILE]", _EXAMPLES, flags, helps, has_charts=False)
    command.set_defaults(run=_plan_files)


def _plan_files(files: Sequence[str], output_format: str, **flags: Any) -> None:
    """Print the plan for a pilot run in a file, or for assumed rates."""
    if len(files) > 1:
        raise ValueError(
            f"There are {len(files)} files: give one pilot run. For a --difference, say how the "
            f"scores of two runs vary together with --correlation, such as 0.8."
        )
    arguments = file_arguments(flags)
    names = {flag: name for name, flag in _FLAG_NAMES.items()}
    parameters = {names.get(flag, flag): value for flag, value in arguments.parameters.items()}
    options = PlanOptions(**parameters)
    read, run = [], None
    if files:
        (source,), (run,), options = graded_files([(files[0], files)], arguments, options)
        read = [source.described()]
    print_output(PlanView(plan_for(run, options), options, read).printed(output_format))


@dataclass(frozen=True)
class PlanView(View):
    """The output for the dict of `at_k.plan`."""

    plan: dict[str, Any]
    options: PlanOptions
    input: Sequence[str] = ()
    label = "plan"

    def data(self) -> dict[str, Any]:
        """Return the dict that `plan` returns."""
        return self.plan

    def _rows(self) -> list[dict[str, Any]]:
        """Return the rows of the plan and its cheapest design, with their "design"."""
        designs = [("grid", row) for row in self.plan["rows"]]
        if self.plan["cheapest"]:
            designs.append(("cheapest", self.plan["cheapest"]))
        return [{"design": name, "key": self.plan["key"], **row} for name, row in designs]

    def tables(self) -> list[Cells]:
        """Return one table with a row for each design."""
        texts: Texts = {"questions": str, "samples": str, "cost": "{:g}".format}
        return [make_table(_PLAN_COLUMNS, self._rows(), "{:.4f}".format, texts, missing="-")]

    def paper_tables(self) -> list[Cells]:
        """Return the same table, with words for the sign of half-widths."""
        ((head, *rows),) = self.tables()
        return [[[heading.replace("+-", "half-width,") for heading in head], *rows]]

    def records(self) -> Cells:
        """Return a table with a row for each design: "grid" or "cheapest", the key, and numbers."""
        columns = ["design", "key", *_PLAN_COLUMNS]
        return make_table({name: name for name in columns}, self._rows())

    def notes(self, for_paper: bool = False) -> list[str]:
        """Return paragraphs on columns, the cheapest design (if wanted), and the assumptions."""
        plan, options = self.plan, self.options
        confidence, power = (f"{100 * plan[name]:g} %" for name in ("confidence", "power"))
        sign, command = "half-width: that", "at-k compare"
        if not for_paper:
            sign, command = "+-: half-width", "`at-k compare`"
        notes = [
            f"{plan['key']}, expected score {plan['score']:.4f}. {sign} of the "
            f"{confidence} interval. diff.: by how much the score of a second run has to be higher "
            f"for {command} to find it with a probability of {power}. sampling: "
            f"{SAME_QUESTIONS}. questions: {OTHER_QUESTIONS}; comparisons are paired by question."
        ]
        if options.wanted is not None:
            name, value = options.wanted
            claim = f"has a half-width of at most {value:g}"
            if name == "difference":
                claim = f"finds a difference of {value:g} with a probability of {power}"
            claim += f", {Limits(options.confidence, str(options.interval)).scope}"
            notes.append(_cheapest_in_words(plan["cheapest"], claim))
        return [*notes, _assumptions_in_words(plan["assumptions"])]


def _cheapest_in_words(cheapest: Mapping[str, Any] | None, claim: str) -> str:
    """Return a sentence on the cheapest design that fulfils the clause `claim`, if any."""
    if cheapest is None:
        return (
            f"No design with these numbers {claim}: allow more questions (--number-of-questions) "
            f"or samples (--number-of-samples)."
        )
    questions = number_of(cheapest["questions"], "question")
    if "questions_lo" in cheapest:
        lo, hi = cheapest["questions_lo"], cheapest["questions_hi"]
        questions += f" ({lo} to {hi}, as far as the pilot run tells)"
    samples = number_of(cheapest["samples"], "sample")
    return (
        f"The cheapest design, in the last row, has {questions} with {samples} each, and costs "
        f"{cheapest['cost']:g}. It {claim}."
    )


def _assumptions_in_words(assumptions: Mapping[str, Any]) -> str:
    """Return sentences that state the assumptions of a plan, from its entry "assumptions"."""
    if assumptions["rates_are"] == "assumed":
        text = "The success rates of questions are assumed"
    else:
        pilot = number_of(assumptions["pilot_questions"], "question")
        samples = number_of(assumptions["pilot_samples"], "sample")
        text = f"The success rates of questions are estimated from {pilot} with {samples} each"
        if "design_effect" in assumptions:
            effect = f"increases variances by a factor of {assumptions['design_effect']:.2f}"
            text += f", and averaged as in the pilot run, which {effect}"
        if "pilot_clusters" in assumptions:
            clusters = number_of(assumptions["pilot_clusters"], "cluster")
            text += f", in {clusters}; more questions are assumed to come in more such clusters"
        if assumptions["extrapolated"]:
            text += ", and scores with more samples are extrapolated"
    return (
        f"{text}. The correlation of the scores of two runs over questions, "
        f"{assumptions['correlation']:.2f}, is {assumptions['correlation_is']}."
    )
