"""Every table in LaTeX compiles, whatever is in the names."""

import os
import random
import shutil
import subprocess

import pytest
from at_k.cli.command import main
from run_command import output_of, write_json_lines, write_runs

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
