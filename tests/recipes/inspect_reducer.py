"""A reducer of inspect_ai for pass^k, and its log scored afterwards. Needs inspect_ai."""

import os
import tempfile

import at_k
from inspect_ai import Epochs, Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, match, score_reducer, value_to_float
from inspect_ai.solver import generate


@score_reducer(name="pass_hat")
def pass_hat(k: int = 2):
    """All of k epochs are correct, as a mean over subsets of the epochs of a sample."""
    as_float = value_to_float()

    def reduce(scores: list[Score]) -> Score:
        outcomes = [as_float(score.value) for score in scores if score.value == score.value]
        # inspect_ai also reduces single scores, in its progress display. An error for k > n would
        # stop the evaluation, so such a sample is not scored.
        if k > len(outcomes):
            return Score.unscored(explanation=f"{len(outcomes)} epochs are too few for k = {k}")
        return Score(value=at_k.pass_hat_k([outcomes], k))

    return reduce


def replay():
    """Return a model that replies 3, 4, 3, 3, .. to all questions."""
    replies = iter(["3", "4", "3", "3"] * 2)

    def respond(*_):
        output = ModelOutput.from_content("mockllm/model", next(replies))
        output.usage = ModelUsage()
        return output

    return get_model("mockllm/model", custom_outputs=respond)


os.chdir(tempfile.mkdtemp())
samples = [Sample(input="1 + 2", target="3"), Sample(input="2 + 2", target="4")]
task = Task(dataset=samples, solver=generate(), scorer=match(), name="sums")
epochs = Epochs(4, [pass_hat(2), pass_hat(8)])
(log,) = eval(task, model=replay(), epochs=epochs, max_samples=1, display="none")
assert log.status == "success"
assert log.results is not None
reported = log.results.scores[0].metrics["accuracy"].value

scores = at_k.load("gpassk").compute(**at_k.read(log.location), k=2, include=["pass^k"])
assert abs(scores["pass^2"] - reported) < 1e-12, (scores, reported)
