"""Write the fixtures of lighteval with its own command `lighteval custom`.

Made with lighteval 0.13.0, datasets 5.2.0 and pyarrow 26.0.1 on Python 3.11.7 (`pip install
lighteval "xxhash<4"`) and this package. Run it as `python make_lighteval.py`. This module is also
the custom model, which replays fixed responses, and the list of custom tasks. A `|` in the names of
the files becomes `_`.
"""

import json
import os
import shutil
import tempfile
from pathlib import Path

from at_k.integrations.lighteval import at_k
from lighteval.metrics.metrics import Metrics
from lighteval.models.abstract_model import LightevalModel
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc
from lighteval.utils.cache_management import SampleCache

FOLDER = Path(__file__).parent / "fixtures" / "lighteval"

ANSWERS = {"1 + 2": "3", "2 + 2": "4", "3 + 4": "7", "5 + 5": "10"}
RESPONSES = {
    "1 + 2": ["3", "<think>1 + 2 is</think>4", "<think>easy</think>3", "5"],
    "2 + 2": ["4", "4", "4", "4"],
    "3 + 4": ["8", "9", "6", "1"],
    "5 + 5": ["11", "10", "10", "?"],
}


class Replay(LightevalModel):
    """A model that replays the fixed responses to a question."""

    def __init__(self, config):
        self.config = config
        self._cache = SampleCache(config)

    @property
    def tokenizer(self):
        return None

    @property
    def add_special_tokens(self):
        return False

    @property
    def max_length(self):
        return 2048

    def greedy_until(self, docs):
        return [
            ModelResponse(input=doc.query, text=RESPONSES[doc.query][: doc.num_samples])
            for doc in docs
        ]

    def loglikelihood(self, docs):
        # The first choice is the most likely one.
        return [
            ModelResponse(
                logprobs=[-1.0 - i for i in range(len(doc.choices))],
                argmax_logits_eq_gold=[i == 0 for i in range(len(doc.choices))],
                input_tokens=[1],
                output_tokens=[[2] for _ in doc.choices],
            )
            for doc in docs
        ]

    def loglikelihood_rolling(self, docs):
        raise NotImplementedError


def as_doc(line, task_name=None):
    return Doc(task_name=task_name, query=line["question"], choices=[line["answer"]], gold_index=0)


def as_choice(line, task_name=None):
    choices = sorted({line["answer"], "3", "10"})
    gold = choices.index(line["answer"])
    return Doc(task_name=task_name, query=line["question"], choices=choices, gold_index=gold)


def task(name, prompt_function, metrics):
    return LightevalTaskConfig(
        name=name,
        prompt_function=prompt_function,
        hf_repo="questions",
        hf_subset="default",
        hf_avail_splits=["train"],
        evaluation_splits=["train"],
        generation_size=8,
        metrics=metrics,
    )


TASKS_TABLE = [
    task(
        "sums_pass",
        as_doc,
        [
            *(Metrics.pass_at_k(sample_params={"k": k, "n": 4}) for k in (1, 2, 4)),
            Metrics.g_pass_at_k(sample_params={"k": 2, "n": 4}),
        ],
    ),
    task("sums_at_k", as_doc, [at_k(k=[1, 2], n=4, interval="questions")]),
    task("sums_once", as_doc, [Metrics.exact_match]),
    task("sums_choice", as_choice, [Metrics.loglikelihood_acc]),
]


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    script = Path(__file__).resolve()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # so that no path of this machine is logged
        os.environ["HF_HOME"] = str(Path(folder) / "hf")
        shutil.copy(script, "replay.py")
        Path("questions").mkdir()
        lines = (json.dumps({"question": q, "answer": a}) + "\n" for q, a in ANSWERS.items())
        (Path("questions") / "train.jsonl").write_text("".join(lines))
        from lighteval.main_custom import custom
        from lighteval.tasks.registry import Registry

        # Some built-in tasks use the network when they are imported, so none is.
        for load in ("_load_from_files", "_load_from_subdirs"):
            setattr(Registry, load, staticmethod(lambda *_: {}))

        custom(
            "org/replay-1b",
            "replay.py",
            tasks="sums_pass|0,sums_at_k|0,sums_once|0,sums_choice|0",
            custom_tasks="replay.py",
            output_dir=str(FOLDER),
            save_details=True,
        )
        os.chdir(FOLDER)
    for file in FOLDER.rglob("*|*"):  # a name that Windows does not have
        file.rename(file.with_name(file.name.replace("|", "_")))


if __name__ == "__main__":
    main()
