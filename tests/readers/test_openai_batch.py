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
    arguments = at_k.read(FOLDER / "with_failure.jsonl")
    assert arguments["predictions"] == [["3", "4", "3", ""], [None]]
    with pytest.raises(ValueError, match=r"predictions\[1\] has no scored sample"):
        at_k.load("gpassk").compute(**arguments, references=["3", "7"], k=1)
