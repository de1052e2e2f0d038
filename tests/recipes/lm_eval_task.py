"""pass@k and its limits in the table of lm-evaluation-harness, by one line of YAML. Needs lm-eval.

In the shell, `python -m at_k.integrations.lm_eval run --tasks sums ..` runs the harness with it.
"""

import json
import os
import tempfile
from pathlib import Path

import at_k
import at_k.integrations.lm_eval

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
  - {name: four, filter: [{function: take_first_k, k: 4}]}
  - {name: first, filter: [{function: take_first}]}
metric_list:
  - {metric: at_k, k: [1, 2], interval: questions, check_correct_fn: numeric}
"""

os.chdir(tempfile.mkdtemp())
os.environ["HF_HOME"] = os.getcwd()

from lm_eval import simple_evaluate  # noqa: E402
from lm_eval.api.model import LM  # noqa: E402
from lm_eval.tasks import TaskManager  # noqa: E402
from lm_eval.utils import make_table  # noqa: E402


class Replay(LM):
    """A model that replies "It is 3", "It is 4", "It is 3", "It is 3", .. to all questions."""

    def generate_until(self, requests, disable_tqdm=False):
        return [f"It is {(3, 4, 3, 3)[i % 4]}" for i in range(len(requests))]

    def loglikelihood(self, requests, disable_tqdm=False):
        raise NotImplementedError

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        raise NotImplementedError


documents = [{"question": "1 + 2", "answer": "3"}, {"question": "2 + 2", "answer": "4"}]
Path("documents.jsonl").write_text("".join(json.dumps(each) + "\n" for each in documents))
Path("sums.yaml").write_text(YAML)
manager = TaskManager(include_path=".", include_defaults=False)
evaluated = simple_evaluate(Replay(), tasks=["sums"], task_manager=manager)
results = evaluated["results"]["sums"]
print(make_table(evaluated))
assert (results["pass@1,four"], results["pass@2,four"]) == (0.5, 0.75), results
assert results["pass@1,first"] == 0.5
assert results["pass@2,first"] != results["pass@2,first"]  # NaN: this filter keeps one response

# The same from the logged samples.
rows = [row for row in evaluated["samples"]["sums"] if row["filter"] == "four"]
scores = at_k.load("gpassk").compute(
    **at_k.read(rows, predictions="resps"),
    check_correct_fn="numeric",
    k=[1, 2],
    include=["pass@k"],
    confidence=0.95,
    interval="questions",
)
for name in ("pass@1", "pass@2", "pass@1_lo", "pass@2_hi"):
    assert abs(results[f"{name},four"] - scores[name]) < 1e-12, (name, results, scores)
