"""The formats of the output: CSV in full precision, Markdown, LaTeX, and what is published."""

import csv
import io
import json
import os
import random
import shutil
import subprocess

import pytest
import yaml
from at_k.cli.command import main
from conftest import ROOT
from huggingface_hub import parse_eval_result_entries
from run_command import (
    FLAGS,
    error_of,
    output_of,
    question_rows,
    scores_of,
    write_json_lines,
    write_runs,
)


@pytest.fixture
def file(tmp_path):
    return write_json_lines(tmp_path / "s.jsonl", question_rows("samples", "answer"))


def records_of(printed: str) -> list[dict]:
    return list(csv.DictReader(io.StringIO(printed)))


def test_csv_has_all_scores_in_full_precision_and_nothing_else(capsys, file):
    flags = (*FLAGS, "--confidence", 0.95, "--groups", "answer")
    scores = json.loads(output_of(capsys, "gpassk", file, *flags, "--json"))
    assert main(["gpassk", str(file), *map(str, flags), "--format", "csv"]) == 0
    printed = capsys.readouterr()
    assert printed.err.startswith("2 questions, 3 to 4 samples each in samples, checked against")
    suffixes = {"score": "", "mean": "_mu", "sd": "_sigma", "lo": "_lo", "hi": "_hi"}
    found = {}
    for row in records_of(printed.out):
        prefix = f"{row['group']}/" if row["group"] else ""
        for column, suffix in suffixes.items():
            if row[column]:
                found[prefix + row["key"] + suffix] = float(row[column])
    assert found == {key: value for key, value in scores.items() if not key.endswith("_interval")}


def test_markdown_and_latex_have_percentages_with_one_decimal(capsys, file):
    markdown = output_of(capsys, "gpassk", file, *FLAGS, "--format", "markdown")
    assert markdown.splitlines()[2:] == [
        "| Score (%) | Estimate |",
        "|:--|--:|",
        "| pass@2 | 100.0 |",
        "| pass^2 | 41.7 |",
    ]
    latex = output_of(capsys, "gpassk", file, *FLAGS, "--format", "latex")
    assert latex.splitlines()[0].startswith("% 2 questions, 3 to 4 samples each")
    assert latex.splitlines()[2:] == [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        r"\caption{2 questions with 3 to 4 samples each, checked with exact\_match.}",
        r"\label{tab:gpassk}",
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"Score (\%) & Estimate \\",
        r"\midrule",
        r"pass@2 & 100.0 \\",
        r"pass\textasciicircum{}2 & 41.7 \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]


FORMULAS = ["=1+1", "+SUM(A1)", "-2+3", "@SUM(1)", " =1", "\t=2", "\uff1d1", "=HYPERLINK(1)"]
MARKUP = ["<script>alert(1)</script>", "![](http://x)", "`a` *b* _c_ ~~d~~", "&lt;"]
NO_MARKUP = ["&lt;script&gt;ale..1)&lt;/script&gt;", "!\\[\\](http://x)", "&amp;lt;"]
NO_MARKUP += ["\\`a\\` \\*b\\* \\_c\\_ \\~~d\\~~"]
SPECIAL = "a|b_%$#&{}~\\"
IN_LATEX = r"a\textbar{}b\_\%\$\#\&\{\}\textasciitilde{}\textbackslash{} & 50.0 \\"


@pytest.mark.parametrize(
    ("output_format", "names", "cells"),
    [
        ("markdown", MARKUP, NO_MARKUP),
        ("markdown", [SPECIAL], ["| a\\|b\\_%$#&amp;{}~\\\\ |"]),
        ("latex", [SPECIAL], [IN_LATEX]),
        ("csv", [*FORMULAS, "-3", "1e5", "a=1", "-inf"], []),
    ],
)
def test_names_are_no_formulas_and_no_markup(capsys, tmp_path, output_format, names, cells):
    rows = [{"outcomes": [1, 0], "group": name} for name in names]
    file = write_json_lines(tmp_path / "<b>s.jsonl", rows)
    flags = ("--k", 1, "--include", "pass@k", "--groups", "group", "--format", output_format)
    printed = output_of(capsys, "gpassk", file, *flags)
    for cell in cells:
        assert cell in printed
    assert output_format != "markdown" or "<" not in printed
    if output_format == "csv":
        groups = {row["group"] for row in records_of(printed)}
        assert groups == {"", "-3", "1e5", "a=1", "-inf", *(f"'{name}" for name in FORMULAS)}


# --- Tables in LaTeX --------------------------------------------------------------------

_DOCUMENT = r"""\documentclass{article}
\newcommand\toprule{\hline}\let\midrule\toprule\let\bottomrule\toprule %% of booktabs
\begin{document}
%s
\end{document}
"""
_CHARACTERS = "\\^~&%$#_{}<>|\"'`-[]*=+@!?/:;,. aZ09\x00\x07\x1b\x7f\x85\u00a0\u200b\u2028\u202e"
_SCRIPTS = (
    "",
    "é Ø ß ł ğ ¿ ¡",
    "τ ≥ … “x” €",
    "模型 日本",
    "Жирно",
    "مرحبا",
    "हिन्दी",
    "🤖",
    "Ħ ŧ e\u0301",
)


def compile_latex(tables, folder):
    """Compile a document with the tables of each engine, and return the tables by engine."""
    if shutil.which("pdflatex") is None:
        if os.environ.get("CI"):
            pytest.fail("LaTeX is required if CI is set: apt-get install texlive-latex-base")
        pytest.skip("LaTeX is not installed: apt-get install texlive-latex-base")
    documents: dict[str, list[str]] = {}
    for table in tables:
        engine = "lualatex" if "% needs lualatex" in table else "pdflatex"
        documents.setdefault(engine, []).append(table)
    for engine, texts in documents.items():
        file = folder / f"{engine}.tex"
        file.write_text(_DOCUMENT % "\n\n".join(texts), encoding="utf-8")
        flags = ["-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape"]
        finished = subprocess.run([engine, *flags, file.name], cwd=folder, capture_output=True)
        assert finished.returncode == 0, finished.stdout.decode(errors="replace")[-2000:]
    return documents


def hostile_names(number):
    source = random.Random(5)
    names = ["".join(source.choices(_CHARACTERS, k=8)) + "x" for _ in range(number)]
    return [f"{name} {_SCRIPTS[i % len(_SCRIPTS)]}" for i, name in enumerate(names)] + ["[1]", "*"]


def test_tables_of_all_commands_compile(capsys, tmp_path):
    rows = [
        {"outcomes": [(i + j) % 3 == 0 for j in range(4)], "group": name}
        for i, name in enumerate(hostile_names(60))
    ]
    tables = []
    for i in range(0, len(rows), 6):
        file = write_json_lines(tmp_path / f"{i}_{{$&~^.jsonl", rows[i : i + 6])
        for flags in (("--groups", "group"), ("--confidence", 0.9)):
            given = ("--k", "1", "2", *flags, "--format", "latex")
            tables.append(output_of(capsys, "gpassk", file, *given))
    runs = {"g": [[1, 0, 1, 1]] * 4, "h": [[0, 0, 1, 0]] * 4, "i": [[1, 0, 1, 1]] * 4}
    graded, other, third = write_runs(tmp_path, runs)
    for command in (
        ("bayes_at_n", graded),
        ("max_at_k", graded, "--k", "1", "2"),
        ("cons_at_k", graded),
        ("compare", graded, other, "--names", "a_{b", "模型"),
        ("compare", graded, other, third, "--names", "=1", "2--", "<x>"),
        ("compare", graded, other, "--names", "é_Ł", "ß ş ¿"),
        ("plan", graded),
    ):
        arguments = [*map(str, command), "--format", "latex"]
        assert main(arguments) == 0, (arguments, capsys.readouterr().err)
        tables.append(capsys.readouterr().out)
    assert compile_latex(tables, tmp_path).keys() == {"pdflatex", "lualatex"}


# --- What is published ------------------------------------------------------------------

COOL = ROOT / "shared/at_k/samples/smollm2_cool.jsonl"
HUB = ("--format", "eval-results", "--dataset", "org/sums", "--task", "default")


@pytest.mark.parametrize(
    ("interval", "kind", "looks"),
    [
        ("sampling", "confidence", ()),
        ("questions", "confidence", ()),
        ("posterior", "credible", ()),
        ("questions", "confidence", ("--anytime",)),
    ],
)
def test_the_yaml_of_a_model_page_is_read_by_the_client_of_the_hub(capsys, interval, kind, looks):
    limits = ("--confidence", 0.9, "--interval", interval, *looks)
    flags = ("--check-correct-fn", "numeric", "--include", "pass@k", "--k", 4, *limits)
    printed = output_of(capsys, "gpassk", COOL, *flags, *HUB, "--source-url", "https://a.org/b")
    (entry,) = parse_eval_result_entries(yaml.safe_load(printed))
    scores = scores_of(capsys, "gpassk", COOL, *flags)
    assert (entry.dataset_id, entry.task_id) == ("org/sums", "default")
    assert (entry.value, entry.source_url) == (scores["pass@4"], "https://a.org/b")
    for words in (
        "pass@4; 94 questions with 32 samples each, checked with numeric",
        f"standard error {scores['pass@4_sigma']:.4f}",
        f"90 % {kind} interval {scores['pass@4_lo']:.4f} to {scores['pass@4_hi']:.4f}, for ",
        f"at all looks together ({interval})" if looks else f"({interval})",
    ):
        assert words in str(entry.notes)


def test_a_score_without_limits_has_no_standard_error(capsys):
    flags = ("--check-correct-fn", "numeric", "--include", "pass@k", "--k", 1)
    (entry,) = yaml.safe_load(output_of(capsys, "gpassk", COOL, *flags, *HUB))
    assert entry["notes"].startswith("pass@1; 94 questions with 32 samples each")
    assert "standard error" not in entry["notes"]


FORMATS = {
    **{name: ("--format", name) for name in ("table", "json", "csv", "markdown", "latex")},
    "eval-results": HUB,
}


@pytest.mark.filterwarnings("always")
@pytest.mark.parametrize("output_format", FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize("metric", ["gpassk", "max_at_k"])
def test_no_format_has_an_extrapolation_that_nothing_identifies(
    capsys, tmp_path, metric, output_format
):
    """With one sample of each question, pass@7 may be that of equal rates, or pass@1."""
    rows = [{"id": i, "outcomes": [int(i < 9)]} for i in range(30)]
    file = write_json_lines(tmp_path / "one.jsonl", rows)
    include = ("--include", "pass@k") if metric == "gpassk" else ()
    command = (metric, file, *include, "--confidence", 0.9, *output_format)
    assert "give --k 1, or add samples" in error_of(capsys, *command, "--k", 7)
    assert main([*map(str, command), "--k", "1", "7", "23"]) == 0
    printed = capsys.readouterr()
    for key in ("pass@7", "pass@23") if metric == "gpassk" else ("max@7", "max@23"):
        assert key not in printed.out
        assert f"{key}" in printed.err
    assert "0.3" in printed.out or "30.0" in printed.out  # the score at k = 1 remains


@pytest.mark.parametrize("output_format", FORMATS.values(), ids=FORMATS)
def test_the_whole_range_of_a_score_is_not_shown_as_its_limits(capsys, tmp_path, output_format):
    """One sample of one question: nothing shows how others would turn out."""
    file = write_json_lines(tmp_path / "one.jsonl", [{"id": 1, "outcomes": [1]}])
    printed = output_of(capsys, "gpassk", file, "--k", 1, "--confidence", 0.9, *output_format)
    assert "90 %" not in printed
    assert "uncertainty" not in printed
    assert "(0.0, 100.0)" not in printed
