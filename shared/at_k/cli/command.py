"""The command `at-k`: its parser, its subcommands and its exit status.

Modules that import slow libraries are only imported by the subcommand that needs them:
`at-k --help` answers at once.
"""

from __future__ import annotations

import argparse
import ast
import re
import shlex
import sys
import textwrap
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import at_k

from ..core.checks import InputError, Place, did_you_mean
from ..loading import metric_folders, metric_script, register, unregister
from ..readers.table import SelectionError, Way
from .formats import as_flag, print_output, printable

_COMMANDS = {
    "compare": "Compare runs on the same questions.",
    "plan": "Plan how many questions and samples a run needs, from a pilot run.",
    "gate": "Exit with a status that says whether a run reaches a score, for CI.",
    "demo": "Score samples of one model at two temperatures.",
    "register": "Let evaluate.load find the metrics by name, also offline.",
}
"""The summaries of the subcommands that are not metrics."""

# What the help of a subcommand says after its summary.
_DETAILS = {
    "compare": """
Questions are paired by their ids; without ids, --by-order pairs them by their
order. With two files, a difference is the second minus the first. With more,
files are ranked, and a difference A - B is the score of A minus that of B.
""",
    "register": """
After it, evaluate.load("gpassk") in any program of this user loads the metric of
this installation, by a script of two lines in the cache of Hugging Face. Run it
again after the cache was emptied. at-k and at_k.load do not need it.
""",
}

_EPILOG = """\
Run `at-k COMMAND --help` for the flags of a command.

exit status:
  0    the scores were printed, also if there were warnings
  2    the arguments or the files are invalid, and the message on standard
       error says why. If only the chart of --plot fails, the scores are
       printed all the same
  130  interrupted
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `at-k` with these arguments (default: sys.argv[1:]), and return the exit status."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if hasattr(sys.stdout, "reconfigure"):
        # Print a character that the terminal cannot encode as an escape, instead of failing.
        sys.stdout.reconfigure(errors="backslashreplace")
    parser = _parser(arguments)
    print_message = partial(_print_message, parser.flags)
    try:
        options = parser.values(arguments[1:] if parser.is_subcommand else arguments)
        run: Callable[..., int | None] = options.pop("run")
        with warnings.catch_warnings():
            # Show warnings without the line of code that they come from.
            warnings.showwarning = lambda message, *_: print_message(f"warning: {message}")
            return run(**options) or 0
    except KeyboardInterrupt:
        print("at-k: interrupted", file=sys.stderr)
        return 130
    except SelectionError as error:
        # The message names columns. Without flags, none of them is taken for a parameter.
        verb = "Give" if error.is_open else "Add"  # A flag with a wrong column is there already.
        _print_message({}, f"{error}{error.remedy(verb, _flags_of_way)}")
        return 2
    except InputError as error:
        print_message(_message_with_places(error))
        return 2
    except (ValueError, TypeError, ImportError, OSError) as error:
        print_message(str(error))
        return 2


_OPEN_VALUES = {"split": "SPLIT", "where": "COLUMN=VALUE"}


def _flags_of_way(way: Way) -> list[str]:
    """Return the flags for the arguments of a way as they are typed in a shell.

    A dict {column: entry} becomes a flag for each COLUMN=ENTRY. None becomes COLUMN or the like.
    """
    typed = []
    for parameter, value in way.arguments.items():
        flag = as_flag(parameter)
        if isinstance(value, dict):
            typed += [f"{flag} {shlex.quote(f'{name}={entry}')}" for name, entry in value.items()]
        else:
            open_value = _OPEN_VALUES.get(parameter, "COLUMN")
            names = value if isinstance(value, tuple) else [open_value if value is None else value]
            typed.append(" ".join([flag, *(shlex.quote(str(name)) for name in names)]))
    return typed


def _message_with_places(error: InputError) -> str:
    """Return the message of an error with "question 0, sample 1" in place of predictions[0][1]."""
    text = ""
    for part in error.args:
        if isinstance(part, Place) and part.parameter == "predictions" and part.sample is not None:
            part = f"{'question' if text else 'Question'} {part.question}, sample {part.sample}"
        text += str(part)
    return text


_ARGUMENT = re.compile(
    r"(?<![\w'\"])(?P<name>[a-zA-Z]\w*)="
    r"(?P<value>True|False|-?\d+(?:\.\d+)?(?:e-?\d+)?|'(?:[^'\\]|\\.)*'|\[[^\[\]]*\])(?![\w'\"])"
)
"""Matches an argument in a message of the package, such as interval='questions' or k=[1, 2]."""

_PARAMETER = re.compile(
    r"(?:^|(?<=: ))(?P<subject>[a-z]\w*)(?:\[\d+\])?(?= (?:is|has) )"
    r"|(?<![\w'\"./-])(?P<name>[a-z0-9]+(?:_[a-z0-9]+)+)(?![\w'\".=(\[/-])"
)
"""Matches the name of a parameter that is the subject of a message, or that has an underscore."""


def _print_message(flags: Mapping[str, argparse.Action], message: str) -> None:
    """Print a message to standard error; parameters that it names become flags if in `flags`."""

    def parameter_as_flag(parameter: re.Match[str]) -> str:
        """Return the flag of the parameter that was matched, or the same text if it has none."""
        action = flags.get(as_flag(parameter["subject"] or parameter["name"]))
        if action is None or action.metavar == "COLUMN":
            return parameter[0]  # The message is about the values of a column, not its name.
        return as_flag(action.dest)

    def argument_as_flag(argument: re.Match[str]) -> str:
        """Return the argument k=[1, 2] as --k 1 2; or unchanged if the command has no such flag."""
        flag = as_flag(argument["name"])
        value = ast.literal_eval(argument["value"])
        if value is False:
            flag, value = f"--no-{flag[2:]}", True
        if flag not in flags:
            return argument[0]
        values = [] if value is True else value if isinstance(value, list) else [value]
        return " ".join([flag, *(shlex.quote(str(entry)) for entry in values)])

    message = _PARAMETER.sub(parameter_as_flag, _ARGUMENT.sub(argument_as_flag, message))
    print(f"at-k: {printable(message)}", file=sys.stderr)


class _Parser(argparse.ArgumentParser):
    """The parser of a subcommand, or of the whole command if `is_subcommand` is False."""

    is_subcommand = False

    @property
    def flags(self) -> Mapping[str, argparse.Action]:
        """The action of argparse for each flag, such as --help."""
        return self._option_string_actions

    def values(self, arguments: Sequence[str]) -> dict[str, Any]:
        """Return the values of the flags by name; exit with status 2 if a flag is unknown."""
        options, unknown = self.parse_known_args(arguments)
        if unknown:
            hint = did_you_mean(unknown[0], self.flags)
            self.error(
                f"unrecognized arguments: {' '.join(unknown)}.{hint} "
                f"`{self.prog} --help` lists the flags, and which take several values."
            )
        return vars(options)

    def error(self, message: str):
        """Print a message with the usage, and exit with the status 2."""
        if "--help" not in message:
            message += f" (`{self.prog} --help` says what each flag takes)"
        super().error(printable(message))  # It may have the name of a file, with any characters.


def _parser(arguments: Sequence[str]) -> _Parser:
    """Return the parser of the subcommand that the first argument names, or of the whole command.

    An unknown subcommand ends the process with the status 2.
    """
    name = arguments[0] if arguments else ""
    commands = [*metric_folders(), *_COMMANDS]
    if name in commands:
        parser = _Parser(
            prog=f"at-k {name}",
            description=_summary(name) + _DETAILS.get(name, ""),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        parser.is_subcommand = True
        _add_flags_of_command(parser, name)
        return parser
    parser = _Parser(
        prog="at-k",
        description="Metrics for repeated sampling: pass@k, G-Pass@k, majority votes and others.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=at_k.__version__)
    parser.set_defaults(run=parser.print_help)
    listed = parser.add_subparsers(metavar="COMMAND [flags]")
    for command in commands:
        listed.add_parser(command, help=_summary(command))
    if name and not name.startswith("-"):
        parser.error(
            f"there is no command {name!r}.{did_you_mean(name, commands)} The commands are "
            f"{', '.join(commands)}."
        )
    return parser


def _add_flags_of_command(parser: _Parser, name: str) -> None:
    """Add the flags of a subcommand and what it runs, and import only its module."""
    if name == "compare":
        from .compare_files import add_compare_flags

        add_compare_flags(parser)
    elif name == "plan":
        from .plan_files import add_plan_flags

        add_plan_flags(parser)
    elif name == "gate":
        from .gate_files import add_gate_flags

        add_gate_flags(parser)
    elif name == "demo":
        from .demo import demo

        parser.set_defaults(run=demo)
    elif name == "register":
        text = "remove the scripts that this command wrote"
        parser.add_argument("--remove", action="store_true", help=text)
        parser.set_defaults(run=_register)
    else:
        from .score_file import add_metric_flags

        add_metric_flags(parser, name)


def _summary(name: str) -> str:
    """Return a line about a subcommand: for a metric, the first in the docstring of its script."""
    if name in _COMMANDS:
        return _COMMANDS[name]
    _, _, docstring = metric_script(name).read_text(encoding="utf-8").partition('"""')
    return docstring.splitlines()[0].removesuffix('"""')


def _register(remove: bool) -> None:
    """Register the metrics with `evaluate.load`, or unregister them, and print their names."""
    names = ", ".join(f'"{name}"' for name in (unregister if remove else register)())
    finds = "no longer finds" if remove else "now finds"
    unless = "" if remove else ", unless the Hub has a metric of the same name"
    print_output(textwrap.fill(f"evaluate.load {finds} {names} in the cache of this user{unless}."))
