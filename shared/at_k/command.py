"""The command `at-k`: the metrics on files, without a line of Python.

What a metric can be asked for is read off the metric, so that every metric is served, and
by one path. Heavy imports wait until they are needed: `at-k --help` answers at once.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import json
import re
import sys
import textwrap
import types
import typing
from collections.abc import Callable, Sequence
from typing import Any

from .loading import load, metric_folders, metric_script, register

# Parameters of `compute` that do not become flags: columns are named instead, and an
# executor is an object.
_NO_FLAGS = ("predictions", "references", "groups", "executor")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit status."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    parser = _parser(arguments)
    options = vars(parser.parse_args(arguments))
    run: Callable[..., str] = options.pop("run")
    try:
        print(run(**options))
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
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in metric_folders():
        summary = _summary(name)
        command = commands.add_parser(name, help=summary, description=summary)
        if arguments[:1] == [name]:
            _add_metric_flags(command, name)
    command = commands.add_parser(
        "demo", help="what the metrics tell of real samples of one model, cool and warm"
    )
    command.set_defaults(run=_demo)
    command = commands.add_parser(
        "register", help="let evaluate.load find the metrics by their bare names, offline too"
    )
    command.set_defaults(run=_register)
    return parser


def _summary(name: str) -> str:
    """The first line of the docstring of a metric's script, which is not imported for it."""
    module = ast.parse(metric_script(name).read_text(encoding="utf-8"))
    return (ast.get_docstring(module) or name).splitlines()[0]


# --- A metric on a file -----------------------------------------------------------------


def _add_metric_flags(command: argparse.ArgumentParser, name: str) -> None:
    command.add_argument(
        "file", help="JSON Lines, CSV or Parquet, a saved dataset, or a dataset's name"
    )
    columns = command.add_argument_group("columns", "found by their usual names if not given")
    columns.add_argument("--predictions", metavar="COLUMN", help="lists of samples, or outcomes")
    columns.add_argument("--references", metavar="COLUMN", help="what to judge the samples by")
    columns.add_argument("--groups", metavar="COLUMN", help="labels to give scores by")
    columns.add_argument(
        "--questions", metavar="COLUMN", help="which question a row's one sample is of"
    )
    columns.add_argument("--config", metavar="NAME", help="configuration of the dataset")
    columns.add_argument("--split", metavar="NAME", help="split of the dataset")
    metric = load(name)
    helps = _argument_helps(metric.inputs_description)
    flags = command.add_argument_group("parameters of the metric")
    for parameter in inspect.signature(metric._compute).parameters.values():
        if parameter.name not in _NO_FLAGS:
            text = helps.get(parameter.name, "").replace("%", "%%")
            flag = f"--{parameter.name.replace('_', '-')}"
            flags.add_argument(flag, help=text, **_flag(parameter))
    command.add_argument("--json", action="store_true", help="print the metric's dict as JSON")

    def run(
        file: str,
        predictions: str | None,
        references: str | None,
        groups: str | None,
        questions: str | None,
        config: str | None,
        split: str | None,
        json: bool,
        **parameters: Any,
    ) -> str:
        from .reading import read_questions
        from .tables import score_table

        rows = read_questions(file, predictions, references, groups, questions, config, split)
        given = {key: value for key, value in parameters.items() if value is not None}
        if rows.groups is not None:
            given["groups"] = rows.groups
        scores = metric.compute(predictions=rows.predictions, references=rows.references, **given)
        return _to_json(scores) if json else score_table(scores)

    command.set_defaults(run=run)


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
        return {"action": "store_true", "default": None}
    kinds = (
        typing.get_args(parameter.annotation)
        if isinstance(parameter.annotation, types.UnionType)
        else (parameter.annotation,)
    )
    if any(typing.get_origin(kind) is Callable for kind in kinds):
        return {"type": _judge, "metavar": "NAME"}
    plain = next((kind for kind in kinds if kind in (int, float, str)), None)
    listed = next(
        (typing.get_args(kind) for kind in kinds if typing.get_origin(kind) is list), None
    )
    if listed and listed[0] in (int, float, str):
        return {"nargs": "+", "type": listed[0], "metavar": listed[0].__name__.upper()}
    if plain is not None:
        return {"type": plain, "metavar": plain.__name__.upper()}
    return {"type": json.loads, "metavar": "JSON"}


def _judge(text: str) -> str | Callable[..., Any]:
    """A name that the metric knows, or module:function of a judge of one's own."""
    module, colon, function = text.partition(":")
    if not colon:
        return text
    sys.path.insert(0, "")  # where a script of one's own is
    try:
        return getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise argparse.ArgumentTypeError(f"{text}: {error}") from error


def _to_json(scores: dict[str, Any]) -> str:
    return json.dumps(scores, indent=2, ensure_ascii=False)


# --- Demo and register ------------------------------------------------------------------


def _demo() -> str:
    from .demo import demo

    return demo().rstrip()


def _register() -> str:
    names = ", ".join(f'"{folder.parent.name.split("--")[1]}"' for folder in register())
    return textwrap.fill(
        f"evaluate.load now finds {names} by name, from this user's cache, wherever no Hub has a "
        f"metric of that name."
    )
