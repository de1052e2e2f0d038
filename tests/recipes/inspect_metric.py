"""pass@k, pass^k and their limits in the log of a task of inspect_ai. Needs inspect_ai."""

import os
import tempfile

import at_k
from at_k.integrations.inspect import at_k as at_k_metric
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match
from inspect_ai.solver import generate


def replay():
    """Return a model that replies 3, 4, 3, 3, .. to all questions."""
    replies = iter(["3", "4", "3", "3"] * 2)

    def respond(*_):
        output = ModelOutput.from_content("mockllm/model", next(replies))
        output.usage = ModelUsage()
        return output

    return get_model("mockllm/model", custom_outputs=respond)


os.chdir(tempfile.mkdtemp())
task = Task(
    dataset=[Sample(input="1 + 2", target="3"), Sample(input="2 + 2", target="4")],
    solver=generate(),
    scorer=match(),
    metrics=[at_k_metric(k=[1, 2, 4], scores=["pass@k", "pass^k"], interval="questions")],
    epochs=4,
    name="sums",
)
(log,) = eval(task, model=replay(), max_samples=1, display="none")
assert log.status == "success"
assert log.results is not None
logged = {name: metric.value for name, metric in log.results.scores[0].metrics.items()}

# The same from the log, afterwards.
scores = at_k.load("gpassk").compute(
    **at_k.read(log.location),
    k=[1, 2, 4],
    include=["pass@k", "pass^k"],
    confidence=0.95,
    interval="questions",
)
for name in ("pass@1", "pass@4", "pass^2", "pass@2_lo", "pass@2_hi"):
    assert abs(logged[name] - scores[name]) < 1e-12, (name, logged, scores)
