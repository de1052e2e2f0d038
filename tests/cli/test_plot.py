"""The flag `--plot FILE` of the command."""

import json
import re

import pytest
from at_k.cli.command import main
from run_command import output_of, question_rows, write_json_lines, write_runs


@pytest.fixture
def file(tmp_path):
    rows = question_rows("samples", "answer")
    return write_json_lines(tmp_path / "run.jsonl", [row | {"topic": "x"} for row in rows])


def text_of(path) -> str:
    """Return the texts of an SVG file, on one line."""
    texts = re.findall(r"<text[^>]*>(.*?)</text>", path.read_text(encoding="utf-8"))
    return " ".join(re.sub(r"(<[^>]*>)+", " ", text).strip() for text in texts)


def test_a_chart_is_written_beside_the_scores(capsys, file, tmp_path):
    flags = ("--k", "1", "2", "--include", "pass@k", "--confidence", "0.9", "--json")
    plain = output_of(capsys, "gpassk", file, *flags)
    assert output_of(capsys, "gpassk", file, *flags, "--plot", tmp_path / "a.svg") == plain
    assert "pass@2" in json.loads(plain)
    text = text_of(tmp_path / "a.svg")
    assert "pass@k: at least 1 of k samples correct" in text
    assert "Bands: pointwise 90 % confidence limits for the same questions, sampled again." in text
    assert "2 questions, 3 to 4 samples each, checked with exact_match." in text


@pytest.mark.parametrize(
    ("metric", "flags", "shown"),
    [
        ("gpassk", ("--k", "2"), "threshold τ"),
        ("gpassk", ("--k", "1", "2", "--include", "pass@k", "--groups", "topic"), "all questions"),
        ("bayes_at_n", ("--groups", "topic"), "for the same questions, sampled again"),
        ("bayes_at_n", ("--return-per-question",), "from the hardest to the easiest"),
        ("max_at_k", ("--k", "1", "2"), "max@k: best of k samples"),
    ],
)
def test_the_scores_decide_the_chart(capsys, file, tmp_path, metric, flags, shown):
    output_of(capsys, metric, file, *flags, "--plot", tmp_path / "a.svg")
    assert shown in text_of(tmp_path / "a.svg")


@pytest.mark.parametrize(
    ("names", "flags", "shown"),
    [
        (["one", "two"], (), "difference of pass@k: two minus one"),
        (["one", "two"], ("--include", "avg@N"), "avg@3: mean reward of the samples"),
        (["one", "two", "three"], (), "runs that share a letter cannot be told apart"),
    ],
)
def test_comparisons_have_charts(capsys, tmp_path, names, flags, shown):
    files = write_runs(tmp_path, {name: [[0, 1, 1], [1, 0, 0], [1, 1, 0]] for name in names})
    output_of(capsys, "compare", *files, *flags, "--plot", tmp_path / "a.svg")
    text = text_of(tmp_path / "a.svg")
    assert shown in text
    assert "3 questions, 3 samples each." in text


def test_scores_are_printed_before_the_reason_why_there_is_no_chart(capsys, tmp_path):
    runs = {name: [[0, 1, 1, 0], [1, 0, 0, 1]] for name in "abc"}
    files = [str(file) for file in write_runs(tmp_path, runs)]
    chart = tmp_path / "chart.svg"
    for arguments, reason in (
        (["cons_at_k", files[0], "--k", "2"], "give several k, such as --k 1 2 4 8"),
        (["gpassk", files[0], "--k", "1", "2", "--return-per-question"], "choose at most 6 of"),
        (["gpassk", files[0], "--k", "1", "2"], "Is a directory"),
        (["compare", *files], "Is a directory"),
    ):
        if reason == "Is a directory":
            chart.mkdir(exist_ok=True)
        plain = output_of(capsys, *arguments)
        assert main([*arguments, "--plot", str(chart)]) == 2
        printed = capsys.readouterr()
        assert printed.out == plain
        assert printed.err.startswith("at-k: There is no chart: "), printed.err
        assert reason in printed.err
