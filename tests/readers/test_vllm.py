"""Request outputs of vLLM, of which these stand-ins have the attributes."""

from types import SimpleNamespace

import at_k
import pytest


def request_output(request_id, prompt, texts):
    outputs = [SimpleNamespace(index=i, text=text) for i, text in enumerate(texts)]
    return SimpleNamespace(request_id=request_id, prompt=prompt, outputs=outputs, finished=True)


OUTPUTS = [
    request_output("0", "1 + 2", ["3", "4", "3", "5"]),
    request_output("1", "2 + 2", ["4", "4", "4", "4"]),
]


def test_outputs_are_the_samples_of_a_request():
    arguments = at_k.read(OUTPUTS)
    assert arguments == {"predictions": [["3", "4", "3", "5"], ["4", "4", "4", "4"]]}
    scores = at_k.load("gpassk").compute(
        **arguments, references=["3", "4"], k=[1, 4], include=["pass@k"]
    )
    assert scores == {"pass@1": 0.75, "pass@4": 1.0}
    assert at_k.read(OUTPUTS[0]) == {"predictions": [["3", "4", "3", "5"]]}


def test_other_objects_are_not_request_outputs():
    with pytest.raises(TypeError, match="cannot be read"):
        at_k.read([SimpleNamespace(prompt="1 + 2", outputs=["3"])])
