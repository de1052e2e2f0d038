"""The output of subcommands in its formats: plain text, CSV, Markdown, LaTeX and JSON."""

from __future__ import annotations

import abc
import csv
import html
import io
import itertools
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
"""The cells of a table, by rows. The first row has the headings."""

Texts = Mapping[str, Callable[[Any], str]]
"""For a column by its name: the function that returns the text of a value in it."""

FORMATS_OF_OUTPUT = ("table", "json", "csv", "markdown", "latex")

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_STARTS_OF_FORMULAS = "=+-@\uff1d\uff0b\uff0d\uff20"  # also the full-width forms of = + - @
_NUMBER_IN_CELL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?(inf|nan)")
_LATEX_CHARACTERS = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
}


class View(abc.ABC):
    """The base class of the output of a subcommand, in all of FORMATS_OF_OUTPUT.

    `label` is the name of the table in LaTeX, and `input` has sentences on what was read.
    """

    label = "scores"
    input: Sequence[str] = ()
    scope: Scope | None = None

    @abc.abstractmethod
    def data(self) -> dict[str, Any]:
        """Return the dict that the Python function returns, for JSON."""

    @abc.abstractmethod
    def tables(self) -> list[Cells]:
        """Return the tables for the terminal."""

    @abc.abstractmethod
    def records(self) -> Cells:
        """Return one table with full precision, for CSV."""

    @abc.abstractmethod
    def notes(self, for_paper: bool = False) -> list[str]:
        """Return sentences that explain `paper_tables` if `for_paper`, or else `tables`."""

    def paper_tables(self) -> list[Cells]:
        """Return the tables for papers, for Markdown and LaTeX. Default: those for the terminal."""
        return self.tables()

    def sentence(self) -> str:
        """Return a sentence about the result for a paper, or an empty text."""
        return ""

    def printed(self, output_format: str) -> str:
        """Return the output in a format. For JSON and CSV, sentences go to standard error."""
        if output_format == "json":
            print(printable("\n".join(self.input)), file=sys.stderr)
            return json.dumps(self.data(), indent=2)
        if output_format == "csv":
            text = csv_text(self.records())
            sentences = [*self.input, *self.notes(), self.sentence()]
            print(printable("\n".join(filter(None, sentences))), file=sys.stderr)
            return text.rstrip("\n")
        lines = [" ".join(printable(line).split("\n")) for line in self.input]
        if output_format == "latex":
            return self._latex("\n".join(f"% {line}" for line in lines))
        for_paper = output_format == "markdown"
        notes = "\n".join(_wrapped(note, 78) for note in self.notes(for_paper))
        texts = ["\n".join(lines), notes, _wrapped(self.sentence(), 80)]
        if not for_paper:
            return _paragraphs(texts[0], *map(aligned, self.tables()), *texts[1:])
        first, *others = (html.escape(text, quote=False) for text in texts)
        return _paragraphs(first, *map(_markdown, self.paper_tables()), *others)

    def _latex(self, comment: str) -> str:
        """Return a comment, the tables with captions, and the sentence in LaTeX."""
        scope = [f"{self.scope.in_words()}."] if self.scope else []
        caption = " ".join([*scope, *self.notes(for_paper=True)])
        tables = [
            _latex_table(table, f"{self.label}-{index}" if index else self.label, caption)
            for index, table in enumerate(self.paper_tables())
        ]
        return _paragraphs(comment, *tables, _wrapped(_latex_text(self.sentence()), 80))


def _paragraphs(*texts: str) -> str:
    """Return the texts that are not empty, joined by empty lines."""
    return "\n\n".join(filter(None, texts))


def _wrapped(text: str, width: int) -> str:
    """Break a text into lines of at most this width, but not within "95 %" or "T = 0.2"."""
    with_no_break_spaces = re.sub(r" (?=[%=])|(?<==) ", "\xa0", text)
    lines = textwrap.fill(with_no_break_spaces, width, break_on_hyphens=False)
    return lines.replace("\xa0", " ")


def printable(text: str) -> str:
    """Replace characters that control a terminal, or set the direction of text, by escapes.

    With such characters, a label could erase or rewrite printed text.
    """
    return _CONTROLS.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def print_output(text: str) -> None:
    """Print the output of a subcommand. A pipe that was closed by its reader is not an error."""
    try:
        print(printable(text), flush=True)
    except BrokenPipeError:
        # Readers such as `head` close the pipe early. Python flushes standard output when it ends,
        # which would raise the error again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# --- Tables -------------------------------------------------------------------------------


def make_table(
    columns: Mapping[str, str],
    rows: Iterable[Mapping[str, Any]],
    text: Callable[[Any], str] = str,
    texts: Mapping[str, Callable[[Any], str]] = {},
    missing: str = "",
) -> Cells:
    """Return a table of rows, which are dicts by the names of columns; `columns` has the headings.

    Columns that all rows lack are left out. `text` returns the text of a value, and `texts` has
    other functions by column. `missing` stands for None, and for a value that its row lacks.
    """
    rows = list(rows)
    known = {name for row in rows for name in row}
    shown = [(name, texts.get(name, text)) for name in columns if name in known]
    cells = (
        [missing if row.get(name) is None else text_of(row[name]) for name, text_of in shown]
        for row in rows
    )
    return [[columns[name] for name, _ in shown], *cells]


def crossed(
    corner: str,
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Sequence[Sequence[Sequence[str]]],
    heads: Sequence[str] = ("",),
) -> Cells:
    """Return a table of rows and columns with these names, turned if it has more columns than rows.

    Each of the `cells`, by row and column, is a list with a text for each of `heads`. The first is
    below the column's name and heads[0], "algebra (95 % CI)"; others have headings of their own.
    """
    if len(rows) < len(columns):
        rows, columns, cells = columns, rows, [*zip(*cells, strict=True)]
    first, *others = heads
    headings = [text for column in columns for text in (f"{column}{first}", *others)]
    table = [[name, *itertools.chain(*texts)] for name, texts in zip(rows, cells, strict=True)]
    return [[corner, *headings], *table]


def aligned(table: Cells) -> str:
    """Return a table as text: a rule below the headings, the first column flush left."""
    widths = [max(len(cell) for cell in column) for column in zip(*table, strict=True)]
    lines = []
    for first, *others in [table[0], ["-" * width for width in widths], *table[1:]]:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    return "\n".join(lines)


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Return rows as CSV, with texts that are safe to open in a spreadsheet."""
    stream = io.StringIO()
    safe = ([_spreadsheet_safe(x) if isinstance(x, str) else x for x in row] for row in rows)
    csv.writer(stream, lineterminator="\n").writerows(safe)
    return stream.getvalue()


def _spreadsheet_safe(cell: str) -> str:
    """Return a cell that spreadsheets do not take for a formula (OWASP, "CSV injection").

    One that starts like a formula, and is no number, gets an apostrophe in front. Carriage returns,
    which would start a row, are escaped.
    """
    cell = printable(cell)
    first = next((x for x in cell if x.isprintable() and not x.isspace()), " ")
    is_like_formula = first in _STARTS_OF_FORMULAS or cell.startswith(("\t", "\n"))
    return f"'{cell}" if is_like_formula and not _NUMBER_IN_CELL.fullmatch(cell) else cell


def _markdown(table: Cells) -> str:
    """Return a table in Markdown, with the first column to the left and all texts escaped."""
    special = re.compile(r"[\\|`*\[\]]|~(?=~)|(?<!\w)_|_(?!\w)")
    lines = []
    for row in table:
        cells = (special.sub(lambda match: f"\\{match[0]}", " ".join(x.split())) for x in row)
        text = html.escape(" | ".join(cells), quote=False)
        lines.append(f"| {text.rstrip()} |")
    lines.insert(1, "|" + "|".join([":--", *["--:"] * (len(table[0]) - 1)]) + "|")
    return "\n".join(lines)


def _latex_table(table: Cells, label: str, caption: str) -> str:
    """Return a table in LaTeX, below comments that name the packages that it needs."""
    columns = list(zip(*table[1:], strict=True))[1:]
    alignment = "l"
    alignment += "".join("r" if re.search(r"\d", "".join(cells)) else "l" for cells in columns)
    head, *lines = (" & ".join(map(_latex_cell, row)) + r" \\" for row in table)
    caption = _wrapped(rf"\caption{{{_latex_text(caption)}}}", 80)
    body = [caption, rf"\label{{tab:{label}}}", rf"\begin{{tabular}}{{{alignment}}}"]
    body += [r"\toprule", head, r"\midrule", *lines, r"\bottomrule"]
    needs = [r"% needs \usepackage{booktabs}"]
    if not "".join(body).isascii():
        needs.append("% needs lualatex or xelatex, and a font with these letters")
    start, end = [r"\begin{table}", r"\centering"], [r"\end{tabular}", r"\end{table}"]
    return "\n".join([*needs, *start, *body, *end])


def _latex_cell(text: str) -> str:
    """Return a cell in LaTeX."""
    text = _latex_text(text)
    # LaTeX would take a bracket or an asterisk for an argument of the end of the row above.
    return f"{{}}{text}" if text.startswith(("[", "*")) else text


def _latex_text(text: str) -> str:
    """Return a text on one line of LaTeX. Special characters are escaped, and letters are kept."""
    text = unicodedata.normalize("NFC", printable(text).replace("\t", " ").replace("\n", " "))
    text = "".join(_LATEX_CHARACTERS.get(character, character) for character in text)
    text = re.sub(r"-(?=-)", "-{}", text)  # LaTeX would print two hyphens as a dash.
    text = re.sub(r"(?<=\d) (?=\\%)", r"\\,", text)
    return re.sub(r"(?<![\w.])-(?=\d)", "$-$", text)  # This hyphen is a minus.


# --- Words --------------------------------------------------------------------------------

SAME_QUESTIONS = "for the same questions, sampled again"
OTHER_QUESTIONS = "for other questions like these"
P_VALUES = (
    "p: two-sided p-value of no difference, the smallest alpha at which the interval with the "
    "confidence 1 - alpha excludes 0."
)


def as_flag(parameter: str) -> str:
    """Return the flag of a parameter in the shell, such as "--check-correct-fn"."""
    return f"--{parameter.replace('_', '-')}"


def number_of(count: int | str, noun: str) -> str:
    """Return a number with its noun, such as "1 sample", "2 samples" or "2 to 3 samples"."""
    return f"{count} {noun}" if str(count) == "1" else f"{count} {noun}s"


def enumerated(texts: Sequence[str]) -> str:
    """Return one or more texts as an enumeration: "a, b and c"."""
    return f"{', '.join(texts[:-1])} and {texts[-1]}" if len(texts) > 1 else "".join(texts)


def p_value(p: float) -> str:
    """Return a p-value with 4 decimals, or "< 0.0001"."""
    return "< 0.0001" if p < 1e-4 else f"{p:.4f}"


def short_label(label: str) -> str:
    """Return a label on one line of at most 24 characters, without the middle of a longer one."""
    line = " ".join(label.split()) or "(no label)"
    return line if len(line) <= 24 else f"{line[:11]}..{line[-11:]}"


def group_heading(group: str | None, has_groups: bool, averaging: str) -> str:
    """Return the heading of a group, or if it is None, of all questions ("" without groups)."""
    if group is None:
        return overall_label(averaging) if has_groups else ""
    return short_label(group)


class Scale(NamedTuple):
    """Format numbers for papers: as percentages, or unscaled with a number of decimals."""

    percent: bool
    decimals: int

    @classmethod
    def of(cls, metrics: Iterable[str], values: Iterable[float]) -> Scale:
        """Return the scale for these values: percentages if all are scores from 0 to 1.

        Rewards, and values outside of [0, 1], have 3 decimals, or 1 if a value is 10 or more.
        """
        has_rewards = not {"max@k", "bayes@N"}.isdisjoint(metrics)
        numbers = list(values)
        smallest, largest = min(numbers), max(numbers)
        if not has_rewards and smallest >= 0 and largest <= 1:
            return cls(percent=True, decimals=1)
        return cls(percent=False, decimals=3 if max(largest, -smallest) < 10 else 1)

    @property
    def heading(self) -> str:
        """The heading of a column of scores, with the unit."""
        return "Score (%)" if self.percent else "Score"

    def number(self, value: float, sign: bool = False) -> str:
        """Return a number without its unit. With `sign`, numbers above 0 begin with +."""
        rounded = round(100 * value if self.percent else value, self.decimals)
        rounded += 0.0  # This turns -0.0 into 0.0.
        return f"{rounded:{'+' if sign and rounded else ''}.{self.decimals}f}"

    def with_unit(self, value: float) -> str:
        """Return a number with its unit: "12.5 %"."""
        return self.number(value) + (" %" if self.percent else "")

    def limits(self, lo: float, hi: float) -> str:
        """Return limits without their unit: "(1.2, 3.4)"."""
        return f"({self.number(lo)}, {self.number(hi)})"

    def range(self, lo: float, hi: float) -> str:
        """Return limits in words, without their unit: "1.2 to 3.4"."""
        return f"{self.number(lo)} to {self.number(hi)}"


FOUR_DECIMALS = Scale(percent=False, decimals=4)


class Scope(NamedTuple):
    """The facts about one or several runs that the sentences of the output state.

    `sizes` has (M,) numbers of samples for each run. `checker` is None if samples were graded
    before. `row` and `noun` are the words for a question and a sample. `correction`, `averaging`
    and `missing` are phrases on errors of the checker, means over questions and missing samples.
    """

    sizes: Sequence[np.ndarray]
    checker: str | None
    row: str = "question"
    noun: str = "sample"
    correction: str = ""
    averaging: str = ""
    missing: str = ""
    clusters: Iterable[Any] | None = None

    def in_words(self) -> str:
        """Return one phrase with all facts, such as "94 questions with 32 samples each"."""
        ranges = list(dict.fromkeys((int(n.min()), int(n.max())) for n in self.sizes))
        if len(ranges) > 2:  # Of more than two, only the range of all is stated.
            ranges = [(min(low for low, _ in ranges), max(high for _, high in ranges))]
        numbers = [f"{low}" if low == high else f"{low} to {high}" for low, high in ranges]
        samples = f"{number_of(' and '.join(numbers), self.noun)} each"
        samples += f" ({self.missing})" if self.missing else ""
        checked = f"checked with {self.checker}" if self.checker else ""
        questions = number_of(len(self.sizes[0]), self.row)
        if self.clusters is not None:
            questions += f" in {number_of(len({*self.clusters}), 'cluster')}"
        clauses = filter(None, [samples, checked, self.correction, self.averaging])
        return f"{questions} with {', '.join(clauses)}"


class Limits(NamedTuple):
    """Describe the limits of an interval in words. `row` is the word for a question."""

    confidence: float
    interval: str
    row: str = "question"
    anytime: bool = False

    @property
    def percent(self) -> str:
        """The confidence, such as "95 %"."""
        return f"{100 * self.confidence:g} %"

    @property
    def name(self) -> str:
        """The name of the interval: "95 % confidence interval"."""
        kind = "credible" if self.interval == "posterior" else "confidence"
        return f"{self.percent} {kind} interval"

    @property
    def scope(self) -> str:
        """What the interval is for: OTHER_QUESTIONS or SAME_QUESTIONS, with `row` in them."""
        scope = OTHER_QUESTIONS if self.interval == "questions" else SAME_QUESTIONS
        scope = scope.replace("question", self.row)
        return f"{scope}, at all looks together" if self.anytime else scope

    @property
    def heading(self) -> str:
        """The heading of a column of limits: "95 % CI, other questions" or "same questions"."""
        which = "other" if self.interval == "questions" else "same"
        return f"{self.percent} CI, {which} {self.row}s"

    def described(self, scale: Scale, limits: tuple[float, float]) -> str:
        """Return limits in words: "95 % confidence interval 1.2 to 3.4, for other questions .."."""
        return f"{self.name} {scale.range(*limits)}, {self.scope}"
