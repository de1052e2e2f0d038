"""The flags of subcommands, from the signatures and docstrings of the functions that they run."""

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
from .formats import FORMATS_OF_OUTPUT
from .plot import PLOT_HELP

_FILE_HELP = (
    "JSON Lines, JSON, CSV, TSV or Parquet file, also compressed (.gz .bz2 .xz .zst .zip), "
    "or a folder of them; a log or a folder of logs of an evaluation harness; a saved dataset; the "
    "name of a dataset; or - for standard input."
)

_SAMPLES = Path(__file__).resolve().parents[1] / "samples"
COOL, WARM = (str(_SAMPLES / f"smollm2_{name}.jsonl") for name in ("cool", "warm"))
"""The files with the samples of one model at the temperatures 0.2 (COOL) and 0.8 (WARM)."""


def parameter_helps(docstring: str) -> dict[str, str]:
    """Return the text of each parameter in the section `Args:` of a docstring, by its name."""
    section = re.search(r"^Args:\n(.*?)(?=^\S|\Z)", docstring, re.MULTILINE | re.DOTALL)
    if section is None:
        return {}
    entries = re.findall(r"^    (\w+): (.*?)(?=^    \w|\Z)", section[1], re.MULTILINE | re.DOTALL)
    return {name: " ".join(text.split()) for name, text in entries}


def value_of_text(kind: type, text: str, none: bool = False) -> Any:
    """Convert a text to `kind`: int, float or str. With `none`, the text "none" becomes None."""
    if none and text == "none":
        return None
    try:
        return kind(text)
    except ValueError:
        wanted = "a whole number" if kind is int else "a number"
        remedy = ": separate several by spaces" if "," in text else ""
        if kind is float and (percent := re.fullmatch(r"(\d+|\d*\.\d+) ?%", text)):
            remedy = f": give {float(percent[1]) / 100:g}"
        raise argparse.ArgumentTypeError(f"{text!r} is not {wanted}{remedy}") from None


def condition(text: str) -> tuple[str, str]:
    """Split a text COLUMN=VALUE into (column, value). Raises ArgumentTypeError if it has no =."""
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
    "labels": "what a person says of a sample: 1 if it is correct, 0 if not, and empty where there "
    "is no label. The rates of the checker are estimated from the labels, of each run from its "
    "own, and the scores are corrected.",
}
"""The help texts of flags that name columns. The others have those of the Python function."""

_FILE_COLUMNS = [role for role in _COLUMN_HELPS if role not in PER_SAMPLE]
"""The roles of columns that every subcommand reads. Others depend on its parameters."""

_ROW_FLAGS: dict[str, dict[str, Any]] = {
    "where": {
        **{"action": "append", "default": [], "type": condition, "metavar": "COLUMN=VALUE"},
        "help": "read only the rows with this entry. Can be given several times; entries of the "
        "same column are alternatives.",
    },
    "pool": {"nargs": "+", "action": "extend", "metavar": "COLUMN"},
    "group_size": {"type": partial(value_of_text, int), "metavar": "G"},
    "missing": {"choices": CHOICES},
    "correct_at_least": {"type": partial(value_of_text, float), "metavar": "SCORE"},
    "records": {
        "metavar": "PATH",
        "help": "where the rows are, if they are inside of one object of JSON: the path to the "
        "list of them, such as results.results.",
    },
    "unfinished": {"choices": ("incorrect",)},
    "correct_values": {
        **{"nargs": "+", "action": "extend", "metavar": "VALUE"},
        "help": "outcomes that are correct, such as C, yes or 0.5. All others are incorrect.",
    },
    "by_order": {
        "action": "store_true",
        "help": "pair questions without ids by their order in the files.",
    },
    "config": {"metavar": "NAME", "help": "configuration of a dataset."},
    "split": {"metavar": "NAME", "help": "split of a dataset."},
}
"""Options of `add_argument` for parameters of `read`. The default of "help" is in `read` itself."""

_READING = (*_FILE_COLUMNS, *_ROW_FLAGS, *PER_QUESTION, *PER_SAMPLE)
"""The parameters of `read_run` that are flags."""

ROLES_OF_SECOND = (
    *("predictions", "outcomes", "references", "questions", "n", "correct", "counts", "where"),
)
"""The arguments of `read_run` that may differ for a second file: its columns, and its rows."""

_WITHOUT_FLAG = ("predictions", "references", "executor", "by_order")
"""Parameters without a flag: an executor is an object, and the others are flags of reading."""

_SCALARS = (int, float, str)


class _Once(argparse.Action):
    """Store the one value of a flag, and refuse the flag if it is given twice."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        """Store the value, or end the process with the status 2 if there is one already."""
        if getattr(namespace, self.dest, None) is not None:
            parser.error(f"argument {option}: give it once, with one value")
        setattr(namespace, self.dest, values)


def add_flags(
    command: argparse.ArgumentParser,
    files: str,
    epilog: str,
    parameters: Iterable[inspect.Parameter],
    helps: Mapping[str, str],
    has_charts: bool = True,
    formats: Sequence[str] = FORMATS_OF_OUTPUT,
) -> None:
    """Add the flags of a subcommand that reads runs to its parser.

    `files` is the text of the usage for the files; with "[FILE]" they are optional. Each of
    `parameters` becomes a flag with the text in `helps`; `_WITHOUT_FLAG` lists exceptions.
    """
    command.usage, command.epilog = f"{command.prog} {files} [flags]", epilog.replace("%", "%%")
    nargs = "*" if files.startswith("[") else "+"
    command.add_argument("files", metavar="FILE", nargs=nargs, help=_FILE_HELP)
    columns = command.add_argument_group(
        "columns of the file, found by their usual names if not given",
        "A name such as response.choices leads to the fields of nested objects.",
    )
    rows = command.add_argument_group("rows of the file, and their outcomes")
    others = command.add_argument_group("parameters")
    added = [(columns, role, _column_options(role, _COLUMN_HELPS[role])) for role in _FILE_COLUMNS]
    for parameter in parameters:
        name, text = parameter.name, helps.get(parameter.name, "")
        if name in (*PER_QUESTION, *PER_SAMPLE):
            added.append((columns, name, _column_options(name, _COLUMN_HELPS.get(name, text))))
        elif name not in _WITHOUT_FLAG:
            options = _argparse_options(parameter, text) | {"default": argparse.SUPPRESS}
            added.append((others, name, options))
            if name == "include":
                # Some commands called this flag --metric. The help does not show that name.
                options = options | {"dest": "include", "help": argparse.SUPPRESS}
                added.append((others, "metric", options))
    for name, options in _ROW_FLAGS.items():
        added.append((rows, name, {"help": _READ_HELPS.get(name)} | options))
    for group, name, options in added:
        group.add_argument(f"--{name.replace('_', '-')}", **options)
    output: dict[str, Any] = {"dest": "output_format", "default": "table"}
    text = "output format. json prints what the Python function returns. Default: table."
    command.add_argument("--format", choices=formats, help=text, **output)
    text = "the same as --format json."
    command.add_argument("--json", action="store_const", const="json", help=text, **output)
    if has_charts:
        command.add_argument("--plot", metavar="FILE", help=PLOT_HELP)


def _column_options(role: str, text: str) -> dict[str, Any]:
    """Return the options of `add_argument` for a column, whose help begins with `text`."""
    # Names such as problem_idx are left out, because they are variants of names such as problem.
    variant = "_(idx|index|number|num|no)$"
    names = [name for name in COLUMN_NAMES.get(role) or () if not re.search(variant, name)]
    if role == "questions":
        names.append("problem_idx and the like")
    if names:
        condition = ' with --interval "questions"' if role == "clusters" else ""
        text = f"{text} Usual names{condition}: {', '.join(names)}."
    options: dict[str, Any] = {"metavar": "COLUMN", "help": text}
    if role in ("predictions", "outcomes", "questions", "counts"):
        return options | {"nargs": "+", "action": "extend"}
    return options | {"action": _Once}


def add_second_flags(command: argparse.ArgumentParser, file: str) -> None:
    """Add flags such as --where-b for a second file, which the help calls `file`."""
    group = command.add_argument_group(f"columns and rows of {file}, if they differ")
    for role in ROLES_OF_SECOND:
        options = _column_options(role, "") | {"help": f"as --{role}; '' for none."}
        if role == "where":
            # Without a default: if the flag is not given, the rows are chosen as in the first file.
            options = {key: value for key, value in _ROW_FLAGS[role].items() if key != "default"}
            options["type"] = lambda text: condition(text) if text else None
            options["help"] = "as --where; '' for all rows."
        group.add_argument(f"--{role}-b", **options)


def parameters_and_helps(
    function: Callable[..., Any], leave_out: Collection[str]
) -> tuple[dict[str, inspect.Parameter], dict[str, str]]:
    """Return the parameters of a function and their help texts, both by the name of the flag.

    `leave_out` has the names of parameters without a flag. The flag of `metric` is --include.
    """
    helps = parameter_helps(inspect.getdoc(function) or "")
    parameters = parameters_of(function)
    parameters["metric"] = parameters["metric"].replace(name="include")
    kept = {name: value for name, value in parameters.items() if name not in leave_out}
    return kept, helps | {"include": helps["metric"]}


def split_arguments(flags: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split the values of flags into arguments of `read_run` and all others.

    The checker is in both: as "checker" and as "check_correct_fn".
    """
    reading = {name: value for name, value in flags.items() if name in _READING}
    others = {name: value for name, value in flags.items() if name not in _READING}
    return reading | {"checker": flags.get("check_correct_fn")}, others


def _argparse_options(parameter: inspect.Parameter, text: str) -> dict[str, Any]:
    """Return the options of `add_argument` for a parameter whose help is `text`."""
    annotation, default = parameter.annotation, parameter.default
    if annotation is bool:
        action = argparse.BooleanOptionalAction if default else "store_true"
        return {"action": action, "help": text.removeprefix("whether to ")}
    if "default" not in text.lower() and default not in (None, inspect.Parameter.empty):
        text = f"{text} Default: {default}."
    return {"help": text.replace("%", "%%"), **_value_options(annotation, default is not None)}


def _value_options(annotation: Any, has_default: bool) -> dict[str, Any]:
    """Return the options of `add_argument` for values of a type, such as list[int] | None.

    A list of scalars takes one or more values, and a tuple as many as it has. With a default other
    than None (`has_default`), the text "none" stands for None. Other values are written as JSON.
    """
    is_union = isinstance(annotation, types.UnionType)
    kinds = typing.get_args(annotation) if is_union else (annotation,)
    # {list: (int,)} for list[int]. The keys of other kinds are None.
    entries: dict[Any, tuple[Any, ...]] = {typing.get_origin(x): typing.get_args(x) for x in kinds}
    if Callable in entries:
        return {"type": _checker_of_text, "metavar": "NAME|MODULE:FUNCTION"}
    number_of_values: dict[str, Any] = {}
    if list in entries and entries[list][0] in _SCALARS:
        kinds, number_of_values = entries[list], {"nargs": "+", "action": "extend"}
    elif tuple in entries and entries[tuple][-1] is not ...:
        kinds, number_of_values = entries[tuple], {"nargs": len(entries[tuple])}
    scalars = [kind for kind in _SCALARS if kind in kinds]
    if not scalars:
        return {"type": _json_of_text, "metavar": "JSON"}
    accepts_none = types.NoneType in kinds and has_default
    return number_of_values | {
        "type": partial(value_of_text, scalars[0], none=accepts_none),
        "metavar": scalars[0].__name__.upper() + ("|none" if accepts_none else ""),
    }


def _json_of_text(text: str) -> Any:
    """Parse a text as JSON. Raises ArgumentTypeError if it is invalid."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{short(text)} is invalid JSON: {error}") from error


def _checker_of_text(text: str) -> str | Callable[..., Any]:
    """Import the function of a text MODULE:FUNCTION. Return a text without a colon unchanged."""
    module, colon, function = text.partition(":")
    if not colon:
        return text
    sys.path.insert(0, "")  # to find modules in the current directory
    try:
        return getattr(importlib.import_module(module), function)
    except Exception as error:  # A module may raise anything when it is imported.
        raise argparse.ArgumentTypeError(
            f"{text} cannot be imported as MODULE:FUNCTION: {type(error).__name__}: {error}"
        ) from error
