"""Output of the Batch API of OpenAI."""

import at_k
import pytest
from logs import FIXTURES

FOLDER = FIXTURES / "openai_batch"


@pytest.mark.parametrize("name", ["chat.jsonl", "completions.jsonl"])
def test_choices_are_the_samples_of_a_request(name):
    arguments = at_k.read(FOLDER / name)
    expected = [["8", "9", "6", "1"], ["3", "4", "3", ""], ["4", "4", "4", "4"]]
    assert arguments == {"predictions": expected}
    scores = at_k.load("gpassk").compute(
        **arguments, references=["7", "3", "4"], k=[1, 4], include=["pass@k"]
    )
    assert scores == pytest.approx({"pass@1": 0.5, "pass@4": 2 / 3})


def test_a_failed_request_has_no_scored_sample():
    with pytest.raises(ValueError, match="1 of 5 answers are missing, the first of question sum-3"):
        at_k.read(FOLDER / "with_failure.jsonl")
    counted = at_k.read(FOLDER / "with_failure.jsonl", missing="incorrect")
    assert counted["predictions"] == [["3", "4", "3", ""], [""]]
    with pytest.warns(UserWarning, match="1 of 2 questions have no sample"):
        arguments = at_k.read(FOLDER / "with_failure.jsonl", missing="drop")
    assert arguments["predictions"] == [["3", "4", "3", ""]]
