"""The formats of the output: CSV in full precision, Markdown and LaTeX."""

import csv
import io
import json

import pytest
from at_k.cli.command import main
from run_command import FLAGS, output_of, question_rows, write_json_lines


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


def test_special_characters_are_escaped(capsys, tmp_path):
    rows = [{"outcomes": [1, 0], "group": "a|b_%$#&{}~\\"}]
    file = write_json_lines(tmp_path / "s.jsonl", rows)
    flags = ("--k", 1, "--include", "pass@k", "--format")
    assert "| a\\|b\\_%$#&amp;{}~\\\\ |" in output_of(capsys, "gpassk", file, *flags, "markdown")
    latex = output_of(capsys, "gpassk", file, *flags, "latex")
    assert r"a\textbar{}b\_\%\$\#\&\{\}\textasciitilde{}\textbackslash{} & 50.0 \\" in latex


FORMULAS = ["=1+1", "+SUM(A1)", "-2+3", "@SUM(1)", " =1", "\t=2", "\uff1d1", "=HYPERLINK(1)"]


def test_no_name_is_a_formula_of_a_spreadsheet(capsys, tmp_path):
    names = [*FORMULAS, "-3", "1e5", "a=1", "-inf"]
    rows = [{"outcomes": [1, 0], "group": name} for name in names]
    file = write_json_lines(tmp_path / "s.jsonl", rows)
    flags = ("--k", 1, "--include", "pass@k", "--groups", "group", "--format", "csv")
    groups = [row["group"] for row in records_of(output_of(capsys, "gpassk", file, *flags))]
    assert {name for name in groups if name.startswith("'")} == {f"'{name}" for name in FORMULAS}
    assert {"-3", "1e5", "a=1", "-inf"} <= set(groups)


def test_markdown_has_no_markup_of_names(capsys, tmp_path):
    names = ["<script>alert(1)</script>", "![](http://x)", "`a` *b* _c_ ~~d~~", "&lt;"]
    rows = [{"outcomes": [1, 0], "group": name} for name in names]
    file = write_json_lines(tmp_path / "<b>s.jsonl", rows)
    flags = ("--k", 1, "--include", "pass@k", "--groups", "group", "--format", "markdown")
    printed = output_of(capsys, "gpassk", file, *flags)
    for cell in (
        "&lt;script&gt;ale..1)&lt;/script&gt;",
        "!\\[\\](http://x)",
        "\\`a\\` \\*b\\* \\_c\\_ \\~~d\\~~",
        "&amp;lt;",
    ):
        assert cell in printed
    assert "<" not in printed
