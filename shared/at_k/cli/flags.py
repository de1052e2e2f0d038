"""Derive the flags of a subcommand from the signature and the docstring of what it runs."""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import re
import sys
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ..core.checks import short
from ..core.signatures import parameters_of
from ..readers.missing import CHOICES
from ..readers.names import COLUMN_NAMES, PER_QUESTION, PER_SAMPLE
from ..readers.run import read
from .formats import FORMATS_OF_OUTPUT, as_flag
from .plot import PLOT_HELP

_FILE_HELP = (
    "JSON Lines, JSON, CSV, TSV or Parquet file, also compressed (.gz .bz2 .xz .zst .zip), "
    "or a folder of them; a log or a folder of logs of an evaluation harness; a saved dataset; the "
    "name of a dataset; or - for standard input."
)

_SAMPLES = Path(__file__).resolve().parents[1] / "samples"
COOL, WARM = (str(_SAMPLES / f"smollm2_{name}.jsonl") for name in ("cool", "warm"))
"""Files of samples of one model at the temperatures 0.2 and 0.8."""


def parameter_helps(docstring: str) -> dict[str, str]:
    """Return the text of each parameter in the section `Args:` of a docstring."""
    section = re.search(r"^Args:\n(.*?)(?=^\S|\Z)", docstring, re.MULTILINE | re.DOTALL)
    if section is None:
        return {}
    entries = re.findall(r"^    (\w+): (.*?)(?=^    \w|\Z)", section[1], re.MULTILINE | re.DOTALL)
    return {name: " ".join(text.split()) for name, text in entries}


def condition(text: str) -> tuple[str, str]:
    """Return the column and the entry of COLUMN=VALUE."""
    column, equals, value = text.partition("=")
    if not (column and equals):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not of the form COLUMN=VALUE, such as filter=strict-match"
        )
    return column, value


_READ_HELPS = parameter_helps(inspect.getdoc(read) or "")
_COLUMN_HELPS = {
    **{role: _READ_HELPS[role] for role in ("predictions", "outcomes", "questions")},
    "references": "references to check the samples against, or a file with them by question.",
    "n": "numbers of samples, in a table of counts.",
    "correct": "numbers of correct samples, in a table of counts. For graded samples: --outcomes.",
    "counts": "numbers of samples: the columns of the categories 0, 1, .., in this order, or "
    "columns that are named by their outcomes, such as 0, 0.5 and 1. In a file with a sample in "
    "each row: one column, how often this sample occurred.",
    "finish": "why a response ended, for --unfinished. Usual names: finish_reason, stop_reason.",
}
_LABELS_HELP = (
    "what a person says of a sample: 1 if it is correct, 0 if not, and empty where there is no "
    "label. The rates of the checker are estimated from the labels, of each run from its own, and "
    "the scores are corrected. Or the counts of labels "
    '{"tp": 90, "fn": 8, "fp": 3, "tn": 99}.'
)
_ROW_FLAGS: dict[str, dict[str, Any]] = {
    "where": {
        **{"action": "append", "default": [], "type": condition, "metavar": "COLUMN=VALUE"},
        "help": "read only the rows with this entry. Can be given several times; entries of the "
        "same column are alternatives.",
    },
    "pool": {"nargs": "+", "default": (), "metavar": "COLUMN"},
    "group_size": {"type": int, "metavar": "G"},
    "missing": {"choices": CHOICES},
    "correct_at_least": {"type": float, "metavar": "SCORE"},
    "records": {
        "metavar": "PATH",
        "help": "where the rows are, if they are inside of one object of JSON: the path to the "
        "list of them, such as results.results.",
    },
    "unfinished": {"choices": ("incorrect",)},
    "correct_values": {
        **{"nargs": "+", "default": (), "metavar": "VALUE"},
        "help": "outcomes that are correct, such as C, yes or 0.5. All others are incorrect.",
    },
    "by_order": {
        "action": "store_true",
        "help": "pair questions without ids by their order in the files.",
    },
}
"""Flags of `read`, whose texts are those of its parameters unless there is a help."""

_READING = (*_COLUMN_HELPS, *_ROW_FLAGS, "config", "split", *PER_QUESTION, *PER_SAMPLE)

# Parameters of `compute` without a flag of their own: the first two are read from columns, and an
# executor is an object.
_WITHOUT_FLAG = ("predictions", "references", "executor", "by_order")


def add_flags(
    command: argparse.ArgumentParser,
    files: str,
    epilog: str,
    parameters: Iterable[inspect.Parameter],
    helps: Mapping[str, str],
    has_charts: bool = True,
    formats: Sequence[str] = FORMATS_OF_OUTPUT,
) -> None:
    """Add a flag for each column of a file and for each parameter, and those of the output.

    Args:
        command: the parser of the subcommand.
        files: how the help shows its files.
        epilog: the end of the help.
        parameters: those of the function that it runs.
        helps: the help text of each parameter, by name.
        has_charts: whether a chart can show the scores.
        formats: of the output, with "table" and "json" among them.
    """
    command.usage, command.epilog = f"{command.prog} {files} [flags]", epilog.replace("%", "%%")
    nargs = "*" if files.startswith("[") else "+"
    command.add_argument("files", metavar="FILE", nargs=nargs, help=_FILE_HELP)
    columns = command.add_argument_group(
        "columns of the file, found by their usual names if not given",
        "A name such as response.choices leads to the fields of nested objects.",
    )
    rows = command.add_argument_group("rows of the file, and their outcomes")
    dataset = command.add_argument_group("part of a dataset")
    flags = command.add_argument_group("parameters")
    column_helps = dict(_COLUMN_HELPS)
    for parameter in parameters:
        text = helps.get(parameter.name, "")
        if parameter.name == "labels":
            column_helps["labels"] = _LABELS_HELP
        elif parameter.name in (*PER_QUESTION, *PER_SAMPLE):
            column_helps[parameter.name] = text
        elif parameter.name not in _WITHOUT_FLAG:
            options = _argparse_options(parameter, text) | {"default": argparse.SUPPRESS}
            flags.add_argument(as_flag(parameter.name), **options)
            if parameter.name == "include":  # the name that some commands had for it
                options |= {"dest": "include", "help": argparse.SUPPRESS}
                flags.add_argument("--metric", **options)
    for role, text in column_helps.items():
        if COLUMN_NAMES.get(role):
            only = ' with --interval "questions"' if role == "clusters" else ""
            text = f"{text} Usual names{only}: {', '.join(COLUMN_NAMES[role])}."
        options = {"nargs": "+"} if role in ("questions", "counts") else {}
        if role == "predictions":
            options, text = {"action": "append"}, f"{text} Give the flag once for each."
        elif role in PER_SAMPLE:
            options = {"type": _column_or_counts}
        columns.add_argument(as_flag(role), metavar="COLUMN", help=text, **options)
    for name, options in _ROW_FLAGS.items():
        rows.add_argument(as_flag(name), **({"help": _READ_HELPS.get(name)} | options))
    dataset.add_argument("--config", metavar="NAME", help="configuration of the dataset.")
    dataset.add_argument("--split", metavar="NAME", help="split of the dataset.")
    command.add_argument(
        "--format",
        dest="output_format",
        choices=formats,
        default="table",
        help="output format. json prints what the Python function returns. Default: table.",
    )
    command.add_argument(
        "--json",
        action="store_const",
        const="json",
        dest="output_format",
        help="the same as --format json.",
    )
    if has_charts:
        command.add_argument("--plot", metavar="FILE", help=PLOT_HELP)


def parameters_and_helps(
    function: Callable[..., Any], leave_out: Collection[str]
) -> tuple[dict[str, inspect.Parameter], dict[str, str]]:
    """Return the parameters of a function that become flags, and their texts.

    Its metric is --include.
    """
    helps = parameter_helps(inspect.getdoc(function) or "")
    parameters = parameters_of(function)
    parameters["metric"] = parameters["metric"].replace(name="include")
    shown = {name: x for name, x in parameters.items() if name not in leave_out}
    return shown, helps | {"include": helps["metric"]}


def split_arguments(flags: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arguments of `read_run`, and those of the function that is called."""
    reading = {name: value for name, value in flags.items() if name in _READING}
    parameters = {name: value for name, value in flags.items() if name not in _READING}
    for role in PER_SAMPLE:
        if isinstance(reading.get(role), dict):  # counts, instead of a column
            parameters[role] = reading.pop(role)
    reading["checked"] = "check_correct_fn" in parameters
    return reading, parameters


def _argparse_options(parameter: inspect.Parameter, text: str) -> dict[str, Any]:
    """Return the options of `add_argument` for a parameter, from its annotation and default.

    Args:
        text: its help, which gets the default if it has none.
    """
    annotation, default = parameter.annotation, parameter.default
    if annotation is bool:
        action = argparse.BooleanOptionalAction if default else "store_true"
        return {"action": action, "help": text.removeprefix("whether to ")}
    if "efault" not in text and default not in (None, inspect.Parameter.empty):
        text = f"{text} Default: {default}."
    return {"help": text.replace("%", "%%"), **_value_options(annotation, default is not None)}


def _value_options(annotation: Any, has_default: bool) -> dict[str, Any]:
    """Return the options of `add_argument` that make values of a type, such as list[int] | None.

    With a default, a number or a text that may be None is also given as "none".
    """
    is_union = isinstance(annotation, types.UnionType)
    kinds = typing.get_args(annotation) if is_union else (annotation,)
    origins = {typing.get_origin(kind): typing.get_args(kind) for kind in kinds}
    if Callable in origins:
        return {"type": _checker, "metavar": "NAME|MODULE:FUNCTION"}
    if list in origins and origins[list][0] in (int, float, str):
        kind = origins[list][0]
        options = {"nargs": "+", "action": "extend", "type": partial(_value, kind)}
        return options | {"metavar": kind.__name__.upper()}
    if tuple in origins and origins[tuple][-1] is not ...:
        kind, number = origins[tuple][0], len(origins[tuple])
        return {"nargs": number, "type": partial(_value, kind), "metavar": kind.__name__.upper()}
    for kind in kinds:
        if kind in (int, float, str):
            metavar = kind.__name__.upper()
            if types.NoneType in kinds and has_default:
                return {"type": partial(_value_or_none, kind), "metavar": f"{metavar}|none"}
            return {"type": partial(_value, kind), "metavar": metavar}
    return {"type": _json, "metavar": "JSON"}


def _value(kind: type, text: str) -> Any:
    """Return the value of a flag from its text: an int, a float or a str, as `kind` says."""
    try:
        return kind(text)
    except ValueError:
        wanted = "a whole number" if kind is int else "a number"
        spaces = ": separate several by spaces" if "," in text else ""
        raise argparse.ArgumentTypeError(f"{text!r} is not {wanted}{spaces}") from None


def _value_or_none(kind: type, text: str) -> Any:
    """Return the value of a flag from its text; None for "none"."""
    return None if text == "none" else _value(kind, text)


def _column_or_counts(text: str) -> Any:
    """Return the name of a column, or a dict of counts such as {"tp": 90, ..} from JSON."""
    return _json(text) if text.startswith("{") else text


def _json(text: str) -> Any:
    """Return the value of a flag that is written as JSON."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{short(text)} is invalid JSON: {error}") from error


def _checker(text: str) -> str | Callable[..., Any]:
    """Return the name of a checker as it is, or the function that MODULE:FUNCTION names."""
    module, colon, function = text.partition(":")
    if not colon:
        return text
    sys.path.insert(0, "")  # find modules in the current directory
    try:
        return getattr(importlib.import_module(module), function)
    except Exception as error:  # the module may raise anything when it is imported
        raise argparse.ArgumentTypeError(
            f"{text} cannot be imported as MODULE:FUNCTION: {type(error).__name__}: {error}"
        ) from error
