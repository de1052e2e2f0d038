"""`at-k compare FILE FILE...`: the comparison of runs on the same questions, one in each file."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..runs.differences import Compared, compare, compare_groups, differences_of
from ..runs.leaderboard import leaderboard_of_groups
from ..runs.noise import correction_in_words
from ..runs.options import ComparisonOptions
from ..runs.outcomes_of_runs import naming_questions, shared_by
from .comparison_tables import ComparisonView, LeaderboardView
from .flags import COOL, WARM, add_flags, add_second_flags, parameters_and_helps
from .formats import Scope, View, enumerated, print_output
from .graded_files import FileArguments, file_arguments, graded_files
from .plot import chart_of_comparison, check_plot, draw
from .run_input import RunInput, checker_of_all
from .score_tables import nouns_of

_COMPARE_EXAMPLES = f"""\
examples, with the samples of the package:
  at-k compare {COOL} {WARM} --check-correct-fn numeric
  at-k compare {COOL} {WARM} --check-correct-fn numeric --include pass^k --k 1 4 --p-values
  at-k compare {COOL} {WARM} --check-correct-fn numeric --k 8 --names 0.2 0.8 --format latex
"""


def add_compare_flags(command: argparse.ArgumentParser) -> None:
    """Add the flags of `at_k.compare` and of reading files to the parser, and set what it runs."""
    parameters, helps = parameters_and_helps(compare, ("R_a", "R_b"))
    helps["groups"] = "a label for each question. The runs are also compared within each group."
    helps["k"] += (
        " For three files or more: the largest of 4, 8 and 16 that every question has samples for."
    )
    command.add_argument(
        "--names", nargs="+", metavar="NAME", help="names of the runs. Default: those of the files"
    )
    add_flags(command, "FILE FILE...", _COMPARE_EXAMPLES, parameters.values(), helps)
    add_second_flags(command, "the second file")
    command.set_defaults(run=_compare_files)


def _compare_files(
    files: Sequence[str],
    output_format: str,
    names: Sequence[str] | None = None,
    p_values: bool = False,
    plot: str | None = None,
    **flags: Any,
) -> None:
    """Print the comparison of the runs in two files, or the leaderboard of more files."""
    check_plot(plot)
    arguments = _checked_arguments(flags, files)
    are_two = len(files) == 2
    names = _names_of_files(files, arguments) if names is None else _checked_names(names, files)
    requested = ComparisonOptions(**arguments.parameters, all_k=are_two)
    sources = [(name, [file]) for name, file in zip(names, files, strict=True)]
    inputs, runs, options = graded_files(sources, arguments, requested)
    with naming_questions(inputs[0].questions):
        groups = shared_by([(run.name, run.questions) for run in inputs], "groups")
        overall = Compared(runs, options)
    by_group, scope = compare_groups(overall, groups), _scope_of_runs(inputs, overall)
    sentences = []
    for file, run in zip(files, inputs, strict=True):
        name_of_file = "" if run.name == _stem(file) else f"{file}: "
        sentences.append(f"{run.name}: {name_of_file}{run.described()}")
    if are_two:
        differences = {
            group: differences_of(compared, p_values, group) for group, compared in by_group.items()
        }
        view: View = ComparisonView(differences, names, overall.options, scope, sentences)
    else:
        view = LeaderboardView(leaderboard_of_groups(by_group, p_values), scope, sentences)
    print_output(view.printed(output_format))
    draw(plot, lambda: chart_of_comparison(overall, inputs))


def _checked_arguments(flags: dict[str, Any], files: Sequence[str]) -> FileArguments:
    """Return the values of the flags. Raises ValueError unless they fit the number of files."""
    if len(files) < 2:
        file = shlex.quote(files[0])
        raise ValueError(
            f"There is one file: compare needs two or more. If it has two runs: at-k compare "
            f"{file} {file} --where model=A --where-b model=B."
        )
    arguments = file_arguments(flags, files)
    if arguments.second and len(files) > 2:
        raise ValueError("Flags that end in -b are for the second of two files.")
    if arguments.parameters.get("anytime") and len(files) > 2:
        raise ValueError("--anytime is for two files: the ranks of more hold at one look.")
    return arguments


def _scope_of_runs(inputs: Sequence[RunInput], compared: Compared) -> Scope:
    """Return the `Scope` of compared runs, which the sentences of the output state."""
    missing = [f"{run.name}: {run.questions.missing}" for run in inputs if run.questions.missing]
    correction = enumerated([*dict.fromkeys(map(correction_in_words, compared.checkers.values()))])
    if compared.falling:
        names = enumerated(compared.falling)
        correction += (
            f" (the corrected pass@k of {names} falls with k, which no success rates allow)"
        )
    return Scope(
        [run.outcomes.n for run in compared.runs],
        checker_of_all(inputs),
        *nouns_of([compared.options.metric]),
        correction=correction,
        averaging=compared.options.weighting.words,
        missing="; ".join(missing),
        clusters=compared.options.clusters,
    )


def _names_of_files(files: Sequence[str], arguments: FileArguments) -> list[str]:
    """Return a default name for the run of each file. All names are different.

    They are the file names without suffixes; if two are equal, the names of the folders; if two of
    these are equal, "run 1", "run 2" and so on. If one file has two runs, selected by one condition
    each, --where and --where-b, the names are the conditions, such as "T=0.2".
    """
    where = arguments.reading.get("where", ())
    where_b = arguments.second.get("where") or ()  # the flag --where-b
    if len({*files}) == len(where) == len(where_b) == 1:
        return [f"{column}={value}" for column, value in (*where, *where_b)]
    for names in ([*map(_stem, files)], [Path(file).parent.name for file in files]):
        if len({*names} - {""}) == len(files):
            return names
    return [f"run {number}" for number in range(1, len(files) + 1)]


def _stem(file: str) -> str:
    """Return the name of a file without its suffixes."""
    return Path(file).name.split(".")[0]


def _checked_names(names: Sequence[str], files: Sequence[str]) -> list[str]:
    """Return the names with single spaces. Raises ValueError unless each file has its own name."""
    checked = [" ".join(name.split()) for name in names]
    if len(names) != len(files) or len({*checked} - {""}) < len(names):
        typed = " ".join(map(shlex.quote, names))
        raise ValueError(f"--names {typed}: give each of the {len(files)} files a name of its own.")
    return checked
