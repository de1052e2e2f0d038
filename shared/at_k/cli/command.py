"""The command `at-k`: the metrics on files, without a line of Python.

What a metric can be asked for is read off the metric, so that every metric is served, and
by one path. Heavy imports wait until they are needed: `at-k --help` answers at once.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import inspect
import json
import os
import re
import sys
import textwrap
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..loading import load, metric_folders, metric_script, register
from .tables import score_table

if TYPE_CHECKING:
    from .reading import Questions

# Parameters of `compute` that do not become flags of their own: columns are named instead, and
# an executor is an object.
_NO_FLAGS = ("predictions", "references", "executor")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit status."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if hasattr(sys.stdout, "reconfigure"):  # so that a label never stops a table
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        options = vars(_parser(arguments).parse_args(arguments))
        run: Callable[..., str] = options.pop("run")
        print(run(**options), flush=True)
    except KeyboardInterrupt:
        print("at-k: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # whoever reads has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ValueError, TypeError, ImportError, OSError) as error:
        print(f"at-k: {error}", file=sys.stderr)
        return 2
    return 0


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="at-k",
        description="Numbers to publish from questions that were sampled many times.",
        epilog="at-k METRIC --help tells what a metric can be asked for.",
    )
    release = _version() if arguments[:1] == ["--version"] else ""
    parser.add_argument("--version", action="version", version=release)
    parser.set_defaults(run=parser.format_help)
    commands = parser.add_subparsers(metavar="COMMAND")
    for name in metric_folders():
        summary = _first_line(name)
        command = commands.add_parser(
            name,
            help=summary,
            description=summary,
            usage=f"at-k {name} FILE [flags]",
            epilog=_EXAMPLES.format(name=name),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if arguments[:1] == [name]:
            _add_metric_flags(command, name)
    summary = "by how much the second of two files of the same questions is ahead, and at which k"
    command = commands.add_parser(
        "compare",
        help=summary,
        description=f"At k draws, {summary}.",
        usage="at-k compare FILE FILE [flags]",
        epilog=_EXAMPLES_OF_COMPARE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if arguments[:1] == ["compare"]:
        _add_compare_flags(command)
    command = commands.add_parser(
        "demo", help="what the metrics tell of real samples of one model, cool and warm"
    )
    command.set_defaults(run=_demo)
    command = commands.add_parser(
        "register", help="let evaluate.load find the metrics by their bare names, offline too"
    )
    command.set_defaults(run=_register)
    return parser


def _version() -> str:
    from importlib.metadata import version

    return version("evaluate-at-k")


_EXAMPLES = """\
examples:
  at-k {name} samples.jsonl --check-correct-fn numeric --groups topic
  at-k {name} samples.csv --check-correct-fn my_module:my_function --num-proc 4
  at-k {name} results.parquet --outcomes passed --json
"""

_EXAMPLES_OF_COMPARE = """\
examples:
  at-k compare cool.jsonl warm.jsonl --check-correct-fn numeric
  at-k compare before.csv after.csv --metric pass^k --k 1 2 4 8 --interval questions
"""


def _first_line(name: str) -> str:
    """The first line of the docstring of a metric's script, which is not imported for it."""
    module = ast.parse(metric_script(name).read_text(encoding="utf-8"))
    return (ast.get_docstring(module) or name).splitlines()[0]


# --- A metric on a file -----------------------------------------------------------------


_FILE = "JSON Lines, JSON, CSV, TSV or Parquet, a saved dataset, or a dataset's name"


def _add_metric_flags(command: argparse.ArgumentParser, name: str) -> None:
    from .reading import read_questions

    metric = load(name)
    parameters = inspect.signature(metric._compute).parameters
    command.add_argument("file", metavar="FILE", help=_FILE)
    _add_flags(command, parameters.values(), _argument_helps(metric.inputs_description))

    def run(**given: Any) -> str:
        as_json = given.pop("json")
        questions = read_questions(given.pop("file"), **_columns_named(given))
        with contextlib.redirect_stdout(sys.stderr):  # what a judge prints is no score
            scores = metric.compute(
                predictions=questions.predictions,
                references=questions.references,
                **questions.options,
                **given,
            )
        if as_json:
            return json.dumps(scores, indent=2)  # in ASCII, which any terminal can show
        judge = given.get("check_correct_fn", "exact_match")
        return f"{_what_was_read(questions, judge)}\n\n{score_table(scores)}"

    command.set_defaults(run=run)


def _add_flags(
    command: argparse.ArgumentParser,
    parameters: Iterable[inspect.Parameter],
    helps: dict[str, str],
) -> None:
    """The flags of all commands on files: for columns, for parameters, and for JSON."""
    from .reading import OUTCOMES, PER_QUESTION, PREDICTIONS, QUESTIONS, REFERENCES

    columns = command.add_argument_group("columns of the file, found by these names if not given")
    for flag, text, usual in (
        ("predictions", "the samples that are to be judged", PREDICTIONS),
        ("outcomes", "or outcomes: samples that were judged", OUTCOMES),
        ("references", "what to judge the samples by", REFERENCES),
        ("questions", "where a row is one sample, which question it is of", QUESTIONS),
    ):
        columns.add_argument(f"--{flag}", metavar="COLUMN", help=f"{text}: {', '.join(usual)}")
    columns.add_argument("--config", metavar="NAME", help="configuration of a dataset")
    columns.add_argument("--split", metavar="NAME", help="split of a dataset")
    flags = command.add_argument_group("parameters of the metric")
    for parameter in parameters:
        text = helps.get(parameter.name, "").replace("%", "%%")
        flag = f"--{parameter.name.replace('_', '-')}"
        if parameter.name in PER_QUESTION:
            names = ", ".join(PER_QUESTION[parameter.name])
            columns.add_argument(flag, metavar="COLUMN", help=f"{text} Found as: {names}.")
        elif parameter.name not in _NO_FLAGS:
            flags.add_argument(flag, help=text, default=argparse.SUPPRESS, **_flag(parameter))
    command.add_argument("--json", action="store_true", help="print the dict of scores as JSON")


def _columns_named(given: dict[str, Any]) -> dict[str, str | None]:
    """What was given for the columns of a file, which is taken out."""
    from .reading import PER_QUESTION, read_questions

    reading = [*inspect.signature(read_questions).parameters, *PER_QUESTION]
    named = {key: given.pop(key) for key in reading if key in given}
    if given.get("interval") not in ("questions", "auto") and named.get("clusters") is None:
        named.pop("clusters", None)  # a column of a usual name is of no use then
    return named


def _what_was_read(questions: Questions, judge: str | Callable[..., Any]) -> str:
    sizes = [len(samples) for samples in questions.predictions]
    least, most = min(sizes), max(sizes)
    count = "1 question" if len(sizes) == 1 else f"{len(sizes)} questions"
    bank = f"{count}, {least if least == most else f'{least} to {most}'} samples each"
    if missing := sum(sample is None for samples in questions.predictions for sample in samples):
        bank += f" ({missing} of them missing)"
    if questions.judged_by is None:
        what = "taken as outcomes"
    else:
        name = judge if isinstance(judge, str) else getattr(judge, "__name__", type(judge).__name__)
        what = f"judged against {questions.judged_by} by {name}"
    others = "".join(f"; {option} from {name}" for option, name in questions.taken_from.items())
    return f"{bank}, {what}{others}."


def _argument_helps(description: str) -> dict[str, str]:
    """What the docstring of a metric says of each of its parameters."""
    block = re.search(r"^Args:\n(.*?)^\S", description, re.MULTILINE | re.DOTALL)
    entries = re.findall(
        r"^    (\w+): (.*?)(?=^    \w|\Z)",
        block.group(1) if block else "",
        re.MULTILINE | re.DOTALL,
    )
    return {name: " ".join(text.split()) for name, text in entries}


def _flag(parameter: inspect.Parameter) -> dict[str, Any]:
    """The options of argparse for a parameter, from its annotation."""
    if parameter.annotation is bool:
        return {"action": argparse.BooleanOptionalAction if parameter.default else "store_true"}
    kinds = (
        typing.get_args(parameter.annotation)
        if isinstance(parameter.annotation, types.UnionType)
        else (parameter.annotation,)
    )
    if any(typing.get_origin(kind) is Callable for kind in kinds):
        return {"type": _judge, "metavar": "NAME|MODULE:FUNCTION"}
    plain = next((kind for kind in kinds if kind in (int, float, str)), None)
    listed = next(
        (typing.get_args(kind) for kind in kinds if typing.get_origin(kind) is list), None
    )
    if listed and listed[0] in (int, float, str):
        return {"nargs": "+", "type": listed[0], "metavar": listed[0].__name__.upper()}
    pair = next((typing.get_args(kind) for kind in kinds if typing.get_origin(kind) is tuple), ())
    if pair and pair[-1] is not ...:
        return {"nargs": len(pair), "type": pair[0], "metavar": pair[0].__name__.upper()}
    if plain is not None:
        optional = types.NoneType in kinds and parameter.default is not None
        kind = (lambda text: None if text == "none" else plain(text)) if optional else plain
        return {"type": kind, "metavar": plain.__name__.upper() + "|none" * optional}
    return {"type": json.loads, "metavar": "JSON"}


def _judge(text: str) -> str | Callable[..., Any]:
    """A name that the metric knows, or module:function of a judge of one's own."""
    module, colon, function = text.partition(":")
    if not colon:
        return text
    sys.path.insert(0, "")  # where a script of one's own is
    try:
        return getattr(importlib.import_module(module), function)
    except Exception as error:  # whatever a script of one's own may raise
        raise argparse.ArgumentTypeError(
            f"{text} cannot be imported as MODULE:FUNCTION: {type(error).__name__}: {error}"
        ) from error


# --- Two files --------------------------------------------------------------------------


def _add_compare_flags(command: argparse.ArgumentParser) -> None:
    from ..functions.comparison import compare
    from .compare_files import compare_files, difference_table, labels_of, who_is_ahead
    from .reading import read_questions

    metric = load("gpassk")  # by whose rules samples are judged
    judging = inspect.signature(metric._compute).parameters
    _, _, *parameters = inspect.signature(compare, eval_str=True).parameters.values()
    defaults = {parameter.name: parameter.default for parameter in parameters}
    helps = _argument_helps(metric.inputs_description)
    helps |= _argument_helps(inspect.getdoc(compare) or "")
    command.add_argument("files", metavar="FILE", nargs=2, help=_FILE)
    _add_flags(command, [*parameters, judging["check_correct_fn"], judging["num_proc"]], helps)

    def run(**given: Any) -> str:
        as_json, files, named = given.pop("json"), given.pop("files"), _columns_named(given)
        judge = {key: given.pop(key) for key in ("check_correct_fn", "num_proc") if key in given}
        asked = defaults | given
        a = read_questions(files[0], **named)
        named.pop("clusters", None)  # which are of the questions, as the first file has them
        b = read_questions(files[1], **named)
        asked |= a.options
        with contextlib.redirect_stdout(sys.stderr):  # what a judge prints is no score
            scores = compare_files(a, b, asked, **judge)
        if as_json:
            return json.dumps(scores, indent=2)
        labels, judged = labels_of(files), judge.get("check_correct_fn", "exact_match")
        read = [
            f"{label}: {_what_was_read(questions, judged)}"
            for label, questions in zip(labels, (a, b), strict=True)
        ]
        sentence = who_is_ahead(scores, labels, asked["interval"], asked["confidence"])
        return "\n\n".join(["\n".join(read), difference_table(scores, labels), sentence])

    command.set_defaults(run=run)


# --- Demo and register ------------------------------------------------------------------


def _demo() -> str:
    from .demo import demo

    return demo()


def _register() -> str:
    names = ", ".join(f'"{folder.parent.name.split("--")[1]}"' for folder in register())
    return textwrap.fill(
        f"evaluate.load now finds {names} by name, from this user's cache, wherever no Hub has a "
        f"metric of that name."
    )
