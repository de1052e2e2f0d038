"""Run a task of inspect_ai with metrics of this package, by a model that replays replies.

`python inspect_run.py FOLDER` writes the log. It is a process of its own, because in the tests a
warning is an error, and inspect_ai gives some.
"""

import sys
from typing import Any

from at_k.integrations.inspect import at_k
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import accuracy, match
from inspect_ai.solver import solver

REPLIES = {"a": "1101", "b": "0000", "c": "1111", "d": "1000", "e": "xx11", "f": "xxxx"}
TOPICS = dict(zip(REPLIES, "ststss", strict=True))


@solver
def fails():
    """Raise an error where the reply is x."""

    async def solve(state, generate):
        state = await generate(state)
        if state.output.completion == "x":
            raise ValueError("no reply")
        return state

    return solve


def main(folder):
    """Run six samples in four epochs: two epochs of e raise an error, and all of f."""
    asked = dict.fromkeys(REPLIES, 0)

    def respond(messages, *_):
        question = messages[-1].text
        reply = REPLIES[question][asked[question]]
        asked[question] += 1
        output = ModelOutput.from_content("mockllm/model", reply)
        output.usage = ModelUsage()
        return output

    metrics: Any = [
        accuracy(),
        at_k(k=[1, 2, 4], interval="questions", groups="topic"),
        at_k(k=2, scores=["G-Pass@k", "max@k"], confidence=None),
        at_k(k=1, scores="pass@k", groups="absent"),
    ]
    samples = [Sample(id=q, input=q, target="1", metadata={"topic": TOPICS[q]}) for q in REPLIES]
    eval(
        Task(dataset=samples, solver=fails(), scorer=match(), metrics=metrics, epochs=4, name="t"),
        model=get_model("mockllm/model", custom_outputs=respond),
        fail_on_error=False,
        max_samples=1,
        display="none",
        log_dir=folder,
    )


if __name__ == "__main__":
    main(sys.argv[1])
