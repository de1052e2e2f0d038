"""`--average groups` and `--question-weights`: scores, sentences, charts and refusals."""

from typing import Any

import at_k
import pytest
from run_command import output_of, scores_of, words_of
from scored import gpassk

GROUPS = ["x", "x", "y", "x", "z", "z"]
WEIGHTS = [2, 1, 1, 3, 0.5, 1]
RUNS = (
    [[1, 0, 1], [0, 0, 1], [1, 1, 1], [1, 0, 0], [0, 0, 0], [1, 1, 0]],
    [[1, 1, 1], [0, 1, 1], [1, 1, 1], [1, 0, 0], [1, 0, 1], [1, 1, 0]],
)
BOTH = ("--groups", "topic", "--average", "groups", "--question-weights", "weight")
IN_WORDS = {
    ("--question-weights", "weight"): "averaged with weights",
    ("--groups", "topic", "--average", "groups"): "averaged over 3 groups",
    BOTH: "averaged over 3 groups, with weights in each",
}


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / "one.csv", tmp_path / "two.csv"]
    for path, run in zip(paths, RUNS, strict=True):
        rows = zip(run, GROUPS, WEIGHTS, strict=True)
        lines = [
            f"q{i},{outcome},{group},{weight}"
            for i, (outcomes, group, weight) in enumerate(rows)
            for outcome in outcomes
        ]
        path.write_text("\n".join(["id,correct,topic,weight", *lines]))
    return paths


def options_of(flags):
    given: dict[str, Any] = {"groups": GROUPS} if "--groups" in flags else {}
    given |= {"average": "groups"} if "--average" in flags else {}
    return given | ({"question_weights": WEIGHTS} if "--question-weights" in flags else {})


@pytest.mark.parametrize("flags", IN_WORDS)
def test_the_command_has_the_results_of_python(capsys, files, flags):
    options = options_of(flags)
    scores = scores_of(capsys, "gpassk", files[0], "--k", 2, *flags, "--confidence", 0.9)
    expected = gpassk(RUNS[0], k=2, confidence=0.9, **options)
    assert scores == pytest.approx(expected)
    limits = ("--k", 2, "--interval", "sampling")
    compared = scores_of(capsys, "compare", *files, *limits, *flags)
    expected = at_k.compare(*RUNS, k=2, interval="sampling", **options)
    assert compared == pytest.approx(expected)


@pytest.mark.parametrize(("flags", "words"), IN_WORDS.items())
def test_sentences_and_charts_say_how_questions_are_averaged(capsys, files, tmp_path, flags, words):
    chart = tmp_path / "chart.svg"
    ways = [
        ("gpassk", files[0], "--include", "pass@k", "--k", 1, 2, "--confidence", 0.9),
        ("compare", *files, "--k", 1, 2, "--interval", "sampling"),
    ]
    for way in ways:
        text = words_of(capsys, *way, *flags, "--plot", chart)
        assert f"On 6 questions with 3 samples each, {words}, " in text
        caption = chart.read_text()
        assert f"{words[0].upper()}{words[1:]}." in caption
        assert words in words_of(capsys, *way, *flags, "--format", "latex")
    gate = output_of(capsys, "gate", files[0], "--at-least", 0, "--interval", "sampling", *flags)
    assert f"pass@1, {words}, is 0." in " ".join(gate.split())


def test_equal_weights_are_not_mentioned_in_sentences(capsys, files):
    assert "averaged" not in output_of(capsys, "gpassk", files[0], "--groups", "topic")
