"""Write the fixture of verl with the function of its trainer that dumps generations.

Made with verl 0.9.1 on Python 3.11.7 (`pip install verl tensordict torchdata cachetools`). Run it
as `python make_verl.py`. It also saves what `process_validation_metrics` of verl returns for them.
"""

import json
import shutil
from pathlib import Path

from verl.trainer.ppo.metric_utils import process_validation_metrics
from verl.trainer.ppo.ray_trainer import RayPPOTrainer

FOLDER = Path(__file__).parent / "fixtures" / "verl"

ANSWERS = {"1 + 2": "3", "2 + 2": "4", "3 + 4": "7", "5 + 5": "10"}
RESPONSES = {
    "1 + 2": ["3", "4", "3", "5"],
    "2 + 2": ["4", "4", "4", "4"],
    "3 + 4": ["8", "9", "6", "1"],
    "5 + 5": ["11", "10", "10", "?"],
}


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    questions = [question for question in RESPONSES for _ in range(4)]
    outputs = [response for responses in RESPONSES.values() for response in responses]
    golds = [ANSWERS[question] for question in questions]
    correct = [float(output == gold) for output, gold in zip(outputs, golds, strict=True)]
    # The score of a rule-based reward can be -1 for an incorrect answer; `acc` is 0 or 1.
    extra = {"acc": correct, "pred": outputs}
    scores = [2 * each - 1 for each in correct]
    RayPPOTrainer._write_generations(questions, outputs, golds, scores, extra, str(FOLDER), 100)
    metrics = process_validation_metrics(["sums"] * 16, questions, {"reward": scores, **extra})
    (FOLDER / "validation_metrics.json").write_text(json.dumps(metrics) + "\n")


if __name__ == "__main__":
    main()
