"""The command `at-k`: its parser, its subcommands and its exit status.

Modules that import slow libraries are only imported by the subcommand that needs them:
`at-k --help` answers at once.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shlex
import sys
import textwrap
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

import at_k

from ..core.checks import did_you_mean
from ..loading import metric_folders, metric_script, register, unregister
from ..readers.table import SelectionError
from .formats import Output, printable

_COMPARE_DETAILS = """\
Questions are paired by their ids; without ids, --by-order pairs them by their
order. Of two files, a difference is the second minus the first. More files are
ranked, and a difference A - B is the score of A minus that of B.
"""

_EPILOG = """\
Run `at-k COMMAND --help` for the flags of a command.

exit status:
  0    the scores were printed, also if there were warnings
  1    gate: the contrary of what the run has to reach is shown
  2    the arguments or the files are invalid, and the message on standard
       error says why. If only the chart of --plot fails, the scores are
       printed all the same
  3    gate: the data show neither
  130  interrupted
"""

_COMPLETION = """\
# Completion of at-k. Add this line to ~/.bashrc, or below `autoload -U bashcompinit; bashcompinit`
# to ~/.zshrc:
#   eval "$(at-k completion)"
_at_k() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words=""
  if [ "$COMP_CWORD" = 1 ]; then
    words="{commands}"
  else
    case $word in -*) case ${{COMP_WORDS[1]}} in
{cases}
    esac ;; esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _at_k at-k"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit status."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if hasattr(sys.stdout, "reconfigure"):
        # Print a character that the terminal cannot encode as an escape, instead of failing.
        sys.stdout.reconfigure(errors="backslashreplace")
    parser = _parser(arguments)
    print_message = partial(_print_message, _flags(parser, arguments))
    try:
        options = _options(parser, arguments)
        run: Callable[..., str | tuple[str, int] | Output] = options.pop("run")
        with warnings.catch_warnings():
            # Without the line of code that a warning comes from.
            warnings.showwarning = lambda message, *_: print_message(f"warning: {message}")
            output = run(**options)
            text, status, draw = Output(*output) if isinstance(output, tuple) else Output(output)
            _print_scores(text)
            if draw is not None:
                draw()
    except KeyboardInterrupt:
        print("at-k: interrupted", file=sys.stderr)
        return 130
    except SelectionError as error:
        examples = error.examples or [""] * len(error.roles)
        flags = " or ".join(
            " ".join(
                f"{_flag(role)} {value}".strip() for role, value in ((role, example), *further)
            )
            for role, example, further in zip(error.roles, examples, error.further, strict=True)
        )
        verb = "Add" if error.examples else "Name one with"
        _print_message((), f"{error} {verb} {flags}.")  # with names of columns, such as k=1
        return 2
    except (ValueError, TypeError, ImportError, OSError) as error:
        print_message(str(error))
        return 2
    return status


def _options(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> dict[str, Any]:
    """Return the values of the flags; exit with a message if an argument is not known."""
    commands = _commands(parser)
    if arguments and not arguments[0].startswith("-") and arguments[0] not in commands:
        parser.error(
            f"there is no command {arguments[0]!r}.{did_you_mean(arguments[0], commands)} The "
            f"commands are {', '.join(commands)}."
        )
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        command = commands.get(arguments[0], parser)
        flags = _flags(parser, arguments)
        hint = did_you_mean(unknown[0], flags)
        command.error(
            f"unrecognized arguments: {' '.join(unknown)}.{hint} "
            f"`{command.prog} --help` lists the flags, and which take several values."
        )
    return vars(options)


def _print_scores(text: str) -> None:
    try:
        print(printable(text), flush=True)
    except BrokenPipeError:
        # The reader of the output has closed it, as `head` does. Python flushes stdout on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


_ARGUMENT = re.compile(
    r"(?<![\w'\"])(?P<name>[a-zA-Z]\w*)="
    r"(?P<value>True|False|-?\d+(?:\.\d+)?(?:e-?\d+)?|'(?:[^'\\]|\\.)*'|\[[^\[\]]*\])(?![\w'\"])"
)
"""An argument as the package writes it in a message: interval='questions', k=[1, 2] or budget=8."""


def _print_message(flags: Collection[str], message: str) -> None:
    """Print a message, with those of the flags of a subcommand that it names as arguments."""

    def in_shell(argument: re.Match[str]) -> str:
        flag = _flag(argument["name"])
        value = ast.literal_eval(argument["value"])
        if value is False:
            flag, value = f"--no-{flag[2:]}", True
        if flag not in flags:
            return argument[0]
        values = [] if value is True else value if isinstance(value, list) else [value]
        return " ".join([flag, *(shlex.quote(str(x)) for x in values)])

    print(f"at-k: {printable(_ARGUMENT.sub(in_shell, message))}", file=sys.stderr)


def _flag(parameter: str) -> str:
    return f"--{parameter.replace('_', '-')}"


class _Parser(argparse.ArgumentParser):
    """A parser whose messages are safe to print: an argument may be the name of a file."""

    def error(self, message: str):
        super().error(printable(message))


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser, with the flags of the subcommand that the arguments start with."""
    chosen = arguments[0] if arguments else None
    parser = _Parser(
        prog="at-k",
        description="Metrics for repeated sampling: pass@k, G-Pass@k, majority votes and others.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=at_k.__version__)
    parser.set_defaults(run=parser.format_help)
    commands = parser.add_subparsers(metavar="COMMAND [flags]")

    def add_command(name: str, summary: str, details: str = "") -> argparse.ArgumentParser:
        return commands.add_parser(
            name,
            help=summary,
            description=f"{summary}\n{details}".strip(),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    for name in metric_folders():
        # The first line of the docstring of the script, which is not imported.
        script = ast.parse(metric_script(name).read_text(encoding="utf-8"))
        command = add_command(name, (ast.get_docstring(script) or name).splitlines()[0])
        if chosen == name:
            from .score_file import add_metric_flags

            add_metric_flags(command, name)
    command = add_command("compare", "Compare runs on the same questions.", _COMPARE_DETAILS)
    if chosen == "compare":
        from .compare_files import add_compare_flags

        add_compare_flags(command)
    command = add_command(
        "plan", "Plan how many questions and samples a run needs, from a pilot run."
    )
    if chosen == "plan":
        from .plan_files import add_plan_flags

        add_plan_flags(command)
    command = add_command(
        "gate", "Exit with a status that says whether a run reaches a score, for CI."
    )
    if chosen == "gate":
        from .gate_files import add_gate_flags

        add_gate_flags(command)
    command = add_command(
        "completion", "Print a script that completes commands and flags in bash and zsh."
    )
    command.set_defaults(run=_completion)
    command = add_command("demo", "Score samples of one model at two temperatures.")
    if chosen == "demo":
        from .score_file import demo

        command.set_defaults(run=demo)
    command = add_command("register", "Let evaluate.load find the metrics by name, also offline.")
    command.add_argument(
        "--remove", action="store_true", help="remove the copies that this command made"
    )
    command.set_defaults(run=_register)
    return parser


def _completion() -> str:
    """Return a script for shells, in which words that are neither commands nor flags are files."""
    cases = []
    commands = _commands(_parser([]))
    for name in commands:
        options = _commands(_parser([name]))[name]._option_string_actions
        flags = " ".join(flag for flag in options if flag.startswith("--"))
        cases.append(f'      {name}) words="{flags}" ;;')
    return _COMPLETION.format(commands=" ".join(commands), cases="\n".join(cases))


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    (subparsers,) = (x for x in parser._actions if isinstance(x, argparse._SubParsersAction))
    return subparsers.choices


def _flags(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> Mapping[str, Any]:
    """Return the flags of the subcommand that the arguments start with."""
    command = _commands(parser).get(arguments[0], parser) if arguments else parser
    return command._option_string_actions


def _register(remove: bool) -> str:
    names = ", ".join(f'"{name}"' for name in (unregister if remove else register)())
    if remove:
        return textwrap.fill(f"evaluate.load no longer finds {names} in the cache of this user.")
    return textwrap.fill(
        f"evaluate.load now finds {names} by name, in the cache of this user, unless the Hub has a "
        f"metric of the same name."
    )
