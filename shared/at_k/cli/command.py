"""The command `at-k`: its parser, its subcommands and its exit status.

The flags of a metric are derived from the signature of its script, so every metric is served in
the same way. Modules that import slow libraries are only imported by the subcommand that needs
them: `at-k --help` answers at once.
"""

from __future__ import annotations

import argparse
import ast
import os
import sys
import textwrap
from collections.abc import Callable, Sequence

import at_k

from ..loading import metric_folders, metric_script, register
from .flags import flags_for
from .selection import SelectionError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit status."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if hasattr(sys.stdout, "reconfigure"):
        # Print a character that the terminal cannot encode as an escape, instead of failing.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        options = vars(_parser(arguments).parse_args(arguments))
        run: Callable[..., str] = options.pop("run")
        print(run(**options), flush=True)
    except KeyboardInterrupt:
        print("at-k: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of the output has closed it, as `head` does. Python flushes stdout on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except SelectionError as error:
        print(f"at-k: {error} {flags_for(error)}", file=sys.stderr)
        return 2
    except (ValueError, TypeError, ImportError, OSError) as error:
        print(f"at-k: {error}", file=sys.stderr)
        return 2
    return 0


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser, with the flags of the subcommand that the arguments start with."""
    chosen = arguments[0] if arguments else None
    parser = argparse.ArgumentParser(
        prog="at-k",
        description="Metrics for repeated sampling: pass@k, G-Pass@k, majority votes and others.",
        epilog="Run `at-k COMMAND --help` for the flags of a command.",
    )
    parser.add_argument("--version", action="version", version=at_k.__version__)
    parser.set_defaults(run=parser.format_help)
    commands = parser.add_subparsers(metavar="COMMAND [flags]")
    for name in metric_folders():
        command = _add_command(
            commands, name, _metric_summary(name), f"at-k {name} FILE [flags]", _METRIC_EXAMPLES
        )
        if chosen == name:
            from .score_file import add_metric_flags

            add_metric_flags(command, name)
    command = _add_command(
        commands,
        "compare",
        "Compare two files of samples of the same questions, at every k.",
        "at-k compare FILE FILE [flags]",
        _COMPARE_EXAMPLES,
    )
    if chosen == "compare":
        from .compare_files import add_compare_flags

        add_compare_flags(command)
    demo_summary = "Score samples of one model at two temperatures."
    _add_command(commands, "demo", demo_summary).set_defaults(run=_demo)
    register_summary = "Let evaluate.load find the metrics by name, also offline."
    _add_command(commands, "register", register_summary).set_defaults(run=_register)
    return parser


def _add_command(
    commands: argparse._SubParsersAction,
    name: str,
    summary: str,
    usage: str | None = None,
    examples: str = "",
) -> argparse.ArgumentParser:
    return commands.add_parser(
        name,
        help=summary,
        description=summary,
        usage=usage,
        epilog=examples.format(name=name),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _metric_summary(metric: str) -> str:
    """Return the first line of the docstring of a metric's script, without importing it."""
    module = ast.parse(metric_script(metric).read_text(encoding="utf-8"))
    return (ast.get_docstring(module) or metric).splitlines()[0]


_METRIC_EXAMPLES = """\
examples:
  at-k {name} samples.jsonl --check-correct-fn numeric --groups topic
  at-k {name} samples.csv --check-correct-fn my_module:my_function --num-proc 4
  at-k {name} results.parquet --outcomes passed --json
"""

_COMPARE_EXAMPLES = """\
examples:
  at-k compare a.jsonl b.jsonl --check-correct-fn numeric
  at-k compare before.csv after.csv --metric pass^k --k 1 2 4 8 --interval questions
"""


def _demo() -> str:
    from .demo import demo

    return demo()


def _register() -> str:
    names = ", ".join(f'"{name}"' for name in register())
    return textwrap.fill(
        f"evaluate.load now finds {names} by name, in the cache of this user, unless the Hub has a "
        f"metric of the same name."
    )
