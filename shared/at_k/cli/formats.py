"""Print tables and the sentences around them as plain text, CSV, Markdown or LaTeX, or as JSON."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Cells = list[list[str]]
"""The cells of a table, by rows. The first row is the head."""

FORMATS_OF_OUTPUT = ("table", "json", "csv", "markdown", "latex")


_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Output:
    """What a subcommand prints.

    Attributes:
        scores: the dict of scores, for JSON.
        input: a sentence for each file: what was read.
        tables: returns the tables of scores, for the terminal.
        paper: returns them as papers print them, for Markdown and LaTeX.
        records: returns one table of all scores with full precision, as programs read them.
        notes: sentences that explain the tables.
        paper_notes: the same for the tables of papers. Default: notes.
        sentence: a sentence about the result that a paper can use, or an empty text.
    """

    scores: dict[str, Any]
    input: Sequence[str]
    tables: Callable[[], Sequence[Cells]]
    paper: Callable[[], Sequence[Cells]]
    records: Callable[[], Cells]
    notes: Sequence[str] = ()
    paper_notes: Sequence[str] | None = None
    sentence: str = ""

    def printed(self, output_format: str) -> str:
        """Return the output in one of FORMATS_OF_OUTPUT.

        JSON has the scores only. CSV has the records only; the sentences go to standard error.
        """
        if output_format == "json":
            return json.dumps(self.scores, indent=2)
        if output_format == "csv":
            stream = io.StringIO()
            csv.writer(stream, lineterminator="\n").writerows(self.records())
            sentences = [*self.input, *self.notes, self.sentence]
            print(printable("\n".join(filter(None, sentences))), file=sys.stderr)
            return stream.getvalue().rstrip("\n")
        start = "% " if output_format == "latex" else ""
        render = {"table": aligned, "markdown": _markdown, "latex": _latex}[output_format]
        source, notes = self.tables, self.notes
        if output_format != "table":
            source, notes = self.paper, notes if self.paper_notes is None else self.paper_notes
        notes = [_filled(note, 78) for note in notes]
        blocks = [
            "\n".join(f"{start}{line}" for line in self.input),
            *(render(table) for table in source()),
            "\n".join(f"{start}{line}" for note in notes for line in note.splitlines()),
            _filled(_latex_text(self.sentence) if start else self.sentence, 80),
        ]
        return "\n\n".join(filter(None, blocks))


def _filled(text: str, width: int) -> str:
    """Return a text in lines, without a break in a value such as "95 %" or "T = 0.2"."""
    joined = re.sub(r" (?=[%=])|(?<==) ", "\xa0", text)
    return textwrap.fill(joined, width).replace("\xa0", " ")


class PlotError(ValueError):
    """There are scores, but no chart of them.

    Args:
        message: why there is no chart.
        output: what the command prints before the message.
    """

    def __init__(self, message: str, output: str):
        super().__init__(message)
        self.output = output


def printable(text: str) -> str:
    """Return a text in which characters that control a terminal are written as escapes.

    They are control characters other than line feeds and tabs, separators of lines, and those that
    change the direction of text: a label could erase or rewrite what is printed before it.
    """
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def number_of(count: int, noun: str) -> str:
    """Return a number with its noun, such as "1 sample" or "2 samples"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def aligned(table: Cells) -> str:
    """Return rows of cells as lines of text, with a rule below the first row.

    The first column is aligned to the left, the others to the right.
    """
    widths = [max(len(cell) for cell in column) for column in zip(*table, strict=True)]
    rule = "  ".join("-" * width for width in widths)
    lines = []
    for first, *others in table:
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join([lines[0], rule, *lines[1:]])


def _markdown(table: Cells) -> str:
    lines = [
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row).rstrip() + " |" for row in table
    ]
    rule = "|" + "|".join([":--", *["--:"] * (len(table[0]) - 1)]) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def _latex(table: Cells) -> str:
    """Return a tabular with the rules of the package booktabs; numbers are on the right."""
    others = list(zip(*table[1:], strict=True))[1:]
    columns = "l" + "".join("r" if re.search(r"\d", "".join(each)) else "l" for each in others)
    head, *lines = (" & ".join(map(_latex_text, row)) + r" \\" for row in table)
    body = [r"\toprule", head, r"\midrule", *lines, r"\bottomrule"]
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            rf"\begin{{tabular}}{{{columns}}}",
            *body,
            r"\end{tabular}",
        ]
    )


def _latex_text(text: str) -> str:
    named = {
        "\\": r"\textbackslash{}",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
    }
    text = re.sub(r"[\\^~&%$#_{}<>]", lambda found: named.get(found[0], f"\\{found[0]}"), text)
    text = re.sub(r"(?<=\d) (?=\\%)", r"\\,", text)
    return re.sub(r"(?<![\w.])-(?=\d)", "$-$", text)  # a minus, and no hyphen
