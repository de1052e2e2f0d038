"""gpassk as a metric in the YAML of a task of lm-evaluation-harness. Needs lm-eval and torch."""

import json
import os
import tempfile
from pathlib import Path

import at_k
from at_k.loading import register

YAML = """
task: sums
dataset_path: json
dataset_kwargs: {data_files: documents.jsonl}
test_split: train
doc_to_text: "{{question}}"
doc_to_target: "{{answer}}"
output_type: generate_until
repeats: 4
generation_kwargs: {do_sample: true, temperature: 0.8, until: ["Q:"]}
filter_list:
  - name: four
    filter:
      - {function: take_first_k, k: 4}
metric_list:
  - metric: gpassk
    hf_evaluate: true
    aggregation: mean
    higher_is_better: true
    k: [1, 2]
    include: ["pass@k"]
"""

os.chdir(tempfile.mkdtemp())
os.environ["HF_HOME"] = os.getcwd()
register()  # or once: at-k register

from lm_eval import simple_evaluate  # noqa: E402
from lm_eval.api.model import LM  # noqa: E402
from lm_eval.tasks import TaskManager  # noqa: E402


class Replay(LM):
    """A model that replies 3, 4, 3, 3, .. to all questions."""

    def generate_until(self, requests, disable_tqdm=False):
        return [["3", "4", "3", "3"][i % 4] for i in range(len(requests))]

    def loglikelihood(self, requests, disable_tqdm=False):
        raise NotImplementedError

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        raise NotImplementedError


documents = [{"question": "1 + 2", "answer": "3"}, {"question": "2 + 2", "answer": "4"}]
Path("documents.jsonl").write_text("".join(json.dumps(each) + "\n" for each in documents))
Path("sums.yaml").write_text(YAML)
manager = TaskManager(include_path=".", include_defaults=False)
evaluated = simple_evaluate(Replay(), tasks=["sums"], task_manager=manager, bootstrap_iters=0)
results = evaluated["results"]["sums"]
assert (results["pass@1,four"], results["pass@2,four"]) == (0.5, 0.75), results

# The same from the logged samples.
rows = evaluated["samples"]["sums"]
scores = at_k.load("gpassk").compute(**at_k.read(rows), k=[1, 2], include=["pass@k"])
assert scores == {"pass@1": 0.5, "pass@2": 0.75}, scores
