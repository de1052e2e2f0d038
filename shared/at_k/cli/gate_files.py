"""`at-k gate FILE`: an exit status that says whether a run reaches a score."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

from ..runs.differences import compare
from ..runs.gate import (
    CONTRARY,
    SHOWN,
    UNDECIDED,
    Gate,
    check_bound,
    gate_at_least,
    gate_not_worse,
    gate_options,
)
from ..runs.outcomes_of_runs import naming_questions
from .flags import COOL, WARM, add_flags, add_second_flags, parameters_and_helps, value_of_text
from .formats import FOUR_DECIMALS, Limits, number_of, print_output, printable
from .graded_files import file_arguments, graded_files
from .run_input import RunInput

EXIT_STATUS = {SHOWN: 0, CONTRARY: 1, UNDECIDED: 3}
_GATE_EXAMPLES = f"""\
exit status:
  0  the whole interval is at or above the least score: the run reaches it
  1  the whole interval is below the least score: the run does not reach it
  2  the arguments or the files are invalid
  3  the interval contains the least score: the data do not decide

examples, with the samples of the package:
  at-k gate {COOL} --check-correct-fn numeric --at-least 0.3
  at-k gate {WARM} --check-correct-fn numeric --include pass@k --k 8 --at-least 0.6
  at-k gate {COOL} --check-correct-fn numeric --baseline {WARM} --margin 0.02 --format json
"""


def add_gate_flags(command: argparse.ArgumentParser) -> None:
    """Add the flags of the gate and of reading files to the parser, and set what it runs."""
    parameters, helps = parameters_and_helps(compare, ("R_a", "R_b", "p_values"))
    helps["k"] = "size of the subsets of samples. Default: 1."
    helps["confidence"] = "probability that the interval covers the true score or difference."
    claim = command.add_argument_group("what the run has to reach")
    number = partial(value_of_text, float)
    claim.add_argument("--at-least", type=number, metavar="SCORE", help="the least score.")
    text = "a run on the same questions. The score has to be at least its score minus the margin."
    claim.add_argument("--baseline", metavar="FILE", help=text)
    text = "by how much the score may be lower than that of the baseline. Default: 0."
    claim.add_argument("--margin", type=number, metavar="DIFFERENCE", help=text)
    files = "FILE... (--at-least SCORE | --baseline FILE)"
    options: dict[str, Any] = {"has_charts": False, "formats": ("table", "json")}
    add_flags(command, files, _GATE_EXAMPLES, parameters.values(), helps, **options)
    add_second_flags(command, "the baseline")
    command.set_defaults(run=_gate_files)


def _gate_files(
    files: Sequence[str],
    output_format: str,
    at_least: float | None = None,
    baseline: str | None = None,
    margin: float | None = None,
    **flags: Any,
) -> int:
    """Print the verdict on a run, and return the exit status. `files` are the parts of the run."""
    if (at_least is None) == (baseline is None):
        raise ValueError(
            "Give either the least score as --at-least, or a run to compare as --baseline."
        )
    arguments = file_arguments(flags, files if baseline is None else [*files, baseline])
    if baseline is None and (arguments.second or margin is not None):
        raise ValueError("--margin and flags that end in -b belong to --baseline: give that too.")
    requested = gate_options(**arguments.parameters)
    sources = [(", ".join(files), files)]
    if baseline is None:
        bound = check_bound("--at-least", at_least, requested.metric)
    else:
        bound = check_bound("--margin", margin or 0.0, requested.metric, is_margin=True)
        name = f"{baseline} (baseline)" if [baseline] == list(files) else baseline
        sources.append((name, [baseline]))
    inputs, (run, *baselines), options = graded_files(sources, arguments, requested)
    with naming_questions(inputs[0].questions):
        if baselines:
            gate = gate_not_worse(run, baselines[0], bound, options)
        else:
            gate = gate_at_least(run, bound, options)
    return _print_verdict(gate, inputs, output_format)


def _print_verdict(gate: Gate, inputs: Sequence[RunInput], output_format: str) -> int:
    """Print what was read and the verdict, and return the exit status."""
    status = EXIT_STATUS[gate.status]
    sentences = "\n".join(f"{run.name}: {run.described()}" for run in inputs)
    if output_format == "table":
        print_output(f"{sentences}\n{verdict(gate)}")
        return status
    print(printable(sentences), file=sys.stderr)
    fields: dict[str, Any] = {"status": gate.status, "exit_status": status}
    for name in ("key", "score", "baseline", "threshold", "lo", "hi"):
        fields[name] = getattr(gate, name)
    for name in ("interval", "confidence", "anytime"):
        fields[name] = getattr(gate.options, name)
    if gate.status == UNDECIDED:
        fields[f"more_{gate.unit}s"] = gate.more
    print_output(json.dumps(fields | {"message": verdict(gate)}, indent=2))
    return status


def verdict(gate: Gate) -> str:
    """Return sentences with the verdict and the limits, and how much more data would decide."""
    least = f"{gate.threshold:g}"
    if gate.baseline is not None:
        least = "that of the baseline"
        least += f" minus {-gate.threshold:g}" if gate.threshold else ""
    measured = _measured(gate)
    if gate.status == SHOWN:
        return f"Shown: the score is at least {least}. {measured}"
    if gate.status == CONTRARY:
        return f"The contrary is shown: the score is below {least}. {measured}"
    undecided = f"Not decided: the score may or may not be at least {least}. {measured}"
    return f"{undecided} {_what_would_decide(gate)}"


def _measured(gate: Gate) -> str:
    """Return a sentence with the score, and its difference from that of a baseline, if any."""
    scale, options = FOUR_DECIMALS, gate.options
    limits = Limits(options.confidence, str(options.interval), anytime=options.anytime)
    interval, averaging = limits.described(scale, (gate.lo, gate.hi)), options.weighting.words
    name = f"{gate.key}, {averaging}," if averaging else gate.key
    if gate.baseline is None:
        return f"{name} is {scale.number(gate.score)} ({interval})."
    return (
        f"{name} is {scale.number(gate.score)}, and {scale.number(gate.baseline)} in the baseline, "
        f"a difference of {scale.number(gate.estimate, sign=True)} ({interval})."
    )


def _what_would_decide(gate: Gate) -> str:
    """Return sentences on the questions or samples that an undecided gate lacks."""
    if gate.more is None:
        return (
            f"No number of {gate.unit}s would decide, as the estimate is equal to the least score."
        )
    more = number_of(gate.more, f"more {gate.unit}")
    more += " of each question" if gate.unit == "sample" else ""
    more += ", and more labels in proportion," if gate.has_labels else ""
    text = f"About {more} would decide, if the estimate stays the same."
    if gate.options.anytime or gate.options.interval == "posterior":
        return text
    return (
        f"{text} To add them and look again, give --anytime (anytime=True) at each look, which "
        f"needs some more."
    )
