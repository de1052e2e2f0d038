"""Score the samples of an evaluation loop of transformers.Trainer. Needs transformers and torch."""

import at_k
import numpy as np
import torch
from transformers import EvalPrediction, Trainer, TrainingArguments

gpassk = at_k.load("gpassk")


def compute_metrics(evaluated: EvalPrediction):
    """Return pass@k, where the predictions are 4 sampled classes of each question."""
    return gpassk.compute(
        predictions=np.asarray(evaluated.predictions) == np.asarray(evaluated.label_ids)[:, None],
        k=[1, 4],
        include=["pass@k"],
        keys="safe",
    )


class FixedSamples(torch.nn.Module):
    """A model whose samples are part of its input."""

    def forward(self, samples, labels):
        return {"loss": torch.zeros(1), "logits": samples}


questions = [
    {"samples": torch.tensor([1, 2, 1, 1]), "labels": 1},
    {"samples": torch.tensor([0, 2, 1, 2]), "labels": 3},
]
trainer = Trainer(
    FixedSamples(),
    TrainingArguments(output_dir="out", use_cpu=True, report_to=[], disable_tqdm=True),
    eval_dataset=questions,
    compute_metrics=compute_metrics,
)
scores = trainer.evaluate()
assert scores["eval_pass_at_1"] == 0.375, scores
assert scores["eval_pass_at_4"] == 0.5, scores
