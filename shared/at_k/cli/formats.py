"""What a subcommand prints, and the formats: plain text, CSV, Markdown, LaTeX and JSON."""

from __future__ import annotations

import abc
import csv
import html
import io
import json
import os
import re
import sys
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..results import overall_label

Cells = list[list[str]]
"""The cells of a table, by rows. The first row is the head."""

FORMATS_OF_OUTPUT = ("table", "json", "csv", "markdown", "latex")


_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_STARTS_OF_FORMULAS = "=+-@\uff1d\uff0b\uff0d\uff20"
_NUMBER_IN_CELL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?(inf|nan)")
_BEYOND_PDFLATEX = re.compile("[^\x00-\u017f]|[ĦħĸĿŀŉŦŧſ]")
_LATEX_CHARACTERS = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
}


class View(abc.ABC):
    """What a subcommand prints, in one of FORMATS_OF_OUTPUT.

    Attributes:
        label: what LaTeX calls its table.
        input: a sentence for each file: what was read.
        scope: the questions and their samples, or None.
    """

    label = "scores"
    input: Sequence[str] = ()
    scope: Scope | None = None

    @abc.abstractmethod
    def data(self) -> dict[str, Any]:
        """What JSON has: the dict that the Python function returns."""

    @abc.abstractmethod
    def tables(self) -> list[Cells]:
        """The tables for the terminal."""

    @abc.abstractmethod
    def records(self) -> Cells:
        """One table with full precision, as programs read it."""

    @abc.abstractmethod
    def notes(self, for_paper: bool = False) -> list[str]:
        """Sentences that explain the tables for the terminal, or those of papers."""

    def paper_tables(self) -> list[Cells]:
        """The tables as papers print them, for Markdown and LaTeX."""
        return self.tables()

    def sentence(self) -> str:
        """A sentence about the result that a paper can use, or an empty text."""
        return ""

    def printed(self, output_format: str) -> str:
        """Return the output in a format.

        JSON has the scores only, and what was read goes to standard error. CSV has the records
        only; the sentences go to standard error. LaTeX has the notes in the captions.
        """
        if output_format == "json":
            print(printable("\n".join(self.input)), file=sys.stderr)
            return json.dumps(self.data(), indent=2)
        if output_format == "csv":
            text = csv_text(self.records())
            sentences = [*self.input, *self.notes(), self.sentence()]
            print(printable("\n".join(filter(None, sentences))), file=sys.stderr)
            return text.rstrip("\n")
        read = "\n".join(" ".join(printable(line).split("\n")) for line in self.input)
        if output_format == "latex":
            return self._latex(read)
        if output_format == "markdown":
            tables, notes = map(_markdown, self.paper_tables()), self.notes(for_paper=True)
            read, *notes, sentence = (
                html.escape(text, quote=False) for text in (read, *notes, self.sentence())
            )
        else:
            tables, notes, sentence = map(aligned, self.tables()), self.notes(), self.sentence()
        below = "\n".join(_filled(note, 78) for note in notes)
        return _blocks(read, *tables, below, _filled(sentence, 80))

    def _latex(self, read: str) -> str:
        """Return the tables with captions, and above them a comment: the sentences `read`."""
        scope = [f"{self.scope.in_words()}."] if self.scope else []
        caption = " ".join([*scope, *self.notes(for_paper=True)])
        tables = [
            _latex_table(table, f"{self.label}{f'-{i}' if i else ''}", caption)
            for i, table in enumerate(self.paper_tables())
        ]
        comment = "\n".join(f"% {line}" for line in read.splitlines())
        return _blocks(comment, *tables, _filled(_latex_text(self.sentence()), 80))


def _blocks(*texts: str) -> str:
    """Return texts with an empty line between them, without those that are empty."""
    return "\n\n".join(filter(None, texts))


def _filled(text: str, width: int) -> str:
    """Return a text in lines, without a break in a value such as "95 %" or "T = 0.2"."""
    joined = re.sub(r" (?=[%=])|(?<==) ", "\xa0", text)
    return textwrap.fill(joined, width, break_on_hyphens=False).replace("\xa0", " ")


def printable(text: str) -> str:
    """Return a text in which characters that control a terminal are written as escapes.

    They are control characters other than line feeds and tabs, separators of lines, and those that
    change the direction of text: a label could erase or rewrite what is printed before it.
    """
    return _CONTROLS.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def print_output(text: str) -> None:
    """Print what a subcommand returns; it is no error if its reader has closed the pipe."""
    try:
        print(printable(text), flush=True)
    except BrokenPipeError:  # as `head` does. Python flushes standard output when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def make_table(
    columns: Mapping[str, str],
    rows: Iterable[Mapping[str, Any]],
    cell: Callable[[str, Any], str] = lambda _, value: "" if value is None else str(value),
) -> Cells:
    """Return a head, and a row of cells for each mapping.

    Args:
        columns: the headings, by the names of the values.
        rows: the values. A row need not have all.
        cell: makes a cell from the name of a column and a value. Default: in full precision.
    """
    head = [*columns.values()]
    return [head, *([cell(name, row.get(name)) for name in columns] for row in rows)]


def as_flag(parameter: str) -> str:
    """Return a parameter as it is typed in a shell: "--check-correct-fn"."""
    return f"--{parameter.replace('_', '-')}"


def number_of(count: int | str, noun: str) -> str:
    """Return a number with its noun, such as "1 sample", "2 samples" or "2 to 3 samples"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def short_label(label: str) -> str:
    """Return the label of a group on one short line."""
    line = " ".join(label.split()) or "(no label)"
    return line if len(line) <= 24 else f"{line[:22]}.."


def group_heading(group: str | None, has_groups: bool, averaging: str) -> str:
    """Return the heading of a table of all questions (None), or of a group of them.

    `averaging` is that of `Scope`.
    """
    if group is None:
        return overall_label(averaging) if has_groups else ""
    return short_label(group)


class Scale(NamedTuple):
    """How papers print numbers: as percentages, or rewards in their own unit.

    Args:
        percent: whether the scores are shares.
        decimals: of the numbers that are shown.
    """

    percent: bool
    decimals: int

    @classmethod
    def of(cls, metrics: Iterable[str], values: Iterable[float]) -> Scale:
        """The scale of scores of these metrics with these values, limits included."""
        is_reward = not {"max@k", "bayes@N"}.isdisjoint(metrics)
        largest, smallest = max(values := [*values]), min(values)
        if not is_reward and smallest >= 0 and largest <= 1:
            return cls(True, 1)
        return cls(False, 3 if max(largest, -smallest) < 10 else 1)

    @property
    def heading(self) -> str:
        """The heading of scores, with their unit."""
        return "Score (%)" if self.percent else "Score"

    def number(self, value: float, sign: bool = False) -> str:
        """Return a number without its unit; with `sign`, numbers above 0 have a +."""
        shown = round(100 * value if self.percent else value, self.decimals) + 0.0  # not -0.0
        return f"{shown:{'+' if sign and shown else ''}.{self.decimals}f}"

    def with_unit(self, value: float) -> str:
        """Return a number with its unit: "12.5 %"."""
        return self.number(value) + (" %" if self.percent else "")

    def limits(self, lo: float, hi: float) -> str:
        """Return limits in brackets: "(1.2, 3.4)"."""
        return f"({self.number(lo)}, {self.number(hi)})"


# --- Formats of tables --------------------------------------------------------------------


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


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Return rows as CSV, in which no text is a formula or starts another row."""
    stream = io.StringIO()
    safe = ([_text_cell(x) if isinstance(x, str) else x for x in row] for row in rows)
    csv.writer(stream, lineterminator="\n").writerows(safe)
    return stream.getvalue()


def _text_cell(cell: str) -> str:
    """Return a cell that a spreadsheet takes for text: OWASP, "CSV injection".

    A cell that starts with a formula's first character, and is no number, gets an apostrophe.
    Spreadsheets drop spaces and characters that cannot be seen before it. A carriage return would
    start a row, because the module csv does not quote it.
    """
    cell = printable(cell)
    first = next((x for x in cell if x.isprintable() and not x.isspace()), " ")
    starts = first in _STARTS_OF_FORMULAS or cell.startswith(("\t", "\n"))
    return f"'{cell}" if starts and not _NUMBER_IN_CELL.fullmatch(cell) else cell


def _markdown(table: Cells) -> str:
    """Return a table in Markdown, with the first column on the left and others on the right."""
    lines = ["| " + " | ".join(map(_markdown_text, row)).rstrip() + " |" for row in table]
    rule = "|" + "|".join([":--", *["--:"] * (len(table[0]) - 1)]) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def _markdown_text(text: str) -> str:
    """Return a text without a tag, a link, an entity or a code span, on one line."""
    text = re.sub(
        r"[\\|`*\[\]]|~(?=~)|(?<!\w)_|_(?!\w)",
        lambda match: f"\\{match[0]}",
        " ".join(text.split()),
    )
    return html.escape(text, quote=False)


def _latex_table(table: Cells, label: str, caption: str) -> str:
    """Return a table with the rules of the package booktabs; numbers are on the right."""
    columns = list(zip(*table[1:], strict=True))[1:]
    sides = "l" + "".join("r" if re.search(r"\d", "".join(cells)) else "l" for cells in columns)
    head, *lines = (" & ".join(map(_latex_cell, row)) + r" \\" for row in table)
    caption = _filled(rf"\caption{{{_latex_text(caption)}}}", 80)
    body = [caption, rf"\label{{tab:{label}}}", rf"\begin{{tabular}}{{{sides}}}"]
    body += [r"\toprule", head, r"\midrule", *lines, r"\bottomrule"]
    needs = [r"% needs \usepackage{booktabs}"]
    if beyond := sorted({*_BEYOND_PDFLATEX.findall("".join(body))}):
        needs.append(f"% needs lualatex or xelatex, and a font with {' '.join(beyond)}")
    elif not "".join(body).isascii():
        needs.append(r"% needs \usepackage[T1]{fontenc}")
    start, end = [r"\begin{table}", r"\centering"], [r"\end{tabular}", r"\end{table}"]
    return "\n".join([*needs, *start, *body, *end])


def _latex_cell(text: str) -> str:
    """Return a cell. A bracket at its start would be an argument of the end of the line before."""
    text = _latex_text(text)
    return f"{{}}{text}" if text.startswith(("[", "*")) else text


def _latex_text(text: str) -> str:
    """Return a text for pdfLaTeX; a letter beyond Latin Extended-A needs another engine."""
    text = unicodedata.normalize("NFC", printable(text).replace("\t", " ").replace("\n", " "))
    text = re.sub(
        r"[\\^~&%$#_{}<>|`]", lambda match: _LATEX_CHARACTERS.get(match[0], f"\\{match[0]}"), text
    )
    text = re.sub(r"-(?=-)", "-{}", text)  # two hyphens would be a dash
    text = re.sub(r"(?<=\d) (?=\\%)", r"\\,", text)
    return re.sub(r"(?<![\w.])-(?=\d)", "$-$", text)  # a minus, and no hyphen


# --- Words for intervals, samples and runs ------------------------------------------------

SAME_QUESTIONS = "for the same questions, sampled again"
OTHER_QUESTIONS = "for other questions like these"
P_VALUES = (
    "p: two-sided p-value of no difference, the smallest alpha at which the interval with the "
    "confidence 1 - alpha excludes 0."
)


class Scope(NamedTuple):
    """What a sentence is about: the questions of one or several runs, and their samples.

    Args:
        sizes: for each run (M,) numbers of samples.
        checker: the name of the checker, or None if the samples were graded before.
        row, noun: what a question and a sample are called.
        correction: what the scores are corrected for, as the end of a sentence, or "".
        averaging: how questions are averaged, as the end of a sentence, or "".
        missing: what was missing and how it was counted, or "".
    """

    sizes: Sequence[np.ndarray]
    checker: str | None
    row: str = "question"
    noun: str = "sample"
    correction: str = ""
    averaging: str = ""
    missing: str = ""

    def in_words(self) -> str:
        """The numbers of questions and of their samples, and the checker."""
        ranges = dict.fromkeys((int(n.min()), int(n.max())) for n in self.sizes)
        if len(ranges) > 2:
            ranges = {(min(low for low, _ in ranges), max(high for _, high in ranges)): None}
        number = " and ".join(
            f"{low}" if low == high else f"{low} to {high}" for low, high in ranges
        )
        samples = f"{number_of(1 if number == '1' else number, self.noun)} each"
        if self.missing:
            samples += f" ({self.missing})"
        checked = f"checked with {self.checker}" if self.checker else ""
        clauses = filter(None, [samples, checked, self.correction, self.averaging])
        return f"{number_of(len(self.sizes[0]), self.row)} with {', '.join(clauses)}"


class Limits(NamedTuple):
    """What limits are, in words.

    Args:
        confidence: of the interval.
        interval: "sampling", "hierarchical", "posterior" or "questions".
        row: what a question is called.
        anytime: whether the limits hold at all looks together.
    """

    confidence: float
    interval: str
    row: str = "question"
    anytime: bool = False

    @property
    def percent(self) -> str:
        """The confidence."""
        return f"{100 * self.confidence:g} %"

    @property
    def name(self) -> str:
        """The name of the interval: "95 % confidence interval"."""
        kind = "credible" if self.interval == "posterior" else "confidence"
        return f"{self.percent} {kind} interval"

    @property
    def scope(self) -> str:
        """What the interval is for, such as "for other questions like these"."""
        scope = OTHER_QUESTIONS if self.interval == "questions" else SAME_QUESTIONS
        scope = scope.replace("question", self.row)
        return f"{scope}, at all looks together" if self.anytime else scope

    @property
    def heading(self) -> str:
        """The heading of a column: the confidence, and which questions the limits are for."""
        which = "other" if self.interval == "questions" else "same"
        return f"{self.percent} CI, {which} {self.row}s"

    def described(self, scale: Scale, limits: tuple[float, float]) -> str:
        """Return limits with the name of the interval and what it is for."""
        lo, hi = map(scale.number, limits)
        return f"{self.name} {lo} to {hi}, {self.scope}"


def p_value(p: float) -> str:
    """Return a p-value as a text."""
    return "< 0.0001" if p < 1e-4 else f"{p:.4f}"


def enumerated(texts: Sequence[str]) -> str:
    """Return texts with commas, and "and" before the last."""
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)
