"""Write the fixtures of evalplus with its own `evaluate`, on two problems of ours.

Made with evalplus 0.3.1 on Python 3.11.7 (`pip install evalplus`). Run it as
`python make_evalplus.py`. It also saves what evalplus prints, its own pass@k.
"""

import contextlib
import io
import json
import os
import re
import shutil
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent / "fixtures" / "evalplus"

PROBLEMS = [
    {
        "task_id": "HumanEval/0",
        "prompt": "def add(a, b):\n",
        "contract": "",
        "canonical_solution": "    return a + b\n",
        "entry_point": "add",
        "base_input": [[1, 2], [2, 2]],
        "plus_input": [[0, 0], [-3, 1]],
        "atol": 0,
    },
    {
        "task_id": "HumanEval/1",
        "prompt": "def largest(values):\n",
        "contract": "",
        "canonical_solution": "    return max(values)\n",
        "entry_point": "largest",
        "base_input": [[[1, 2, 3]], [[4]]],
        "plus_input": [[[-1, -2]]],
        "atol": 0,
    },
]
SOLUTIONS = [
    [
        "    return a + b\n",
        "    return abs(a) + abs(b)\n",
        "    return a * b\n",
        "    return a +\n",
    ],
    [
        "    return max(values)\n",
        "    return sorted(values)[-1]\n",
        "    return max(0, *values)\n",
        "    while True: pass\n",
    ],
]


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        # evalplus reads both when it is imported.
        os.environ["HOME"] = os.environ["XDG_CACHE_HOME"] = folder
        os.environ["HUMANEVAL_OVERRIDE_PATH"] = "problems.jsonl"
        Path("problems.jsonl").write_text("".join(json.dumps(p) + "\n" for p in PROBLEMS))
        lines = [
            json.dumps({"task_id": problem["task_id"], "solution": f"{problem['prompt']}{body}"})
            for problem, bodies in zip(PROBLEMS, SOLUTIONS, strict=True)
            for body in bodies
        ]
        import evalplus.evaluate as evalplus

        # The set of problems is ours, so it need not have 164 of them.
        complete = evalplus.get_human_eval_plus
        evalplus.get_human_eval_plus = lambda **given: complete(err_incomplete=False, **given)
        printed = {}
        for name, base_only in (("plus", False), ("base_only", True)):
            Path(f"{name}.jsonl").write_text("\n".join(lines) + "\n")
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                evalplus.evaluate("humaneval", f"{name}.jsonl", base_only=base_only, parallel=1)
            shutil.copy(f"{name}_eval_results.json", FOLDER)
            printed[name] = [
                float(each) for each in re.findall(r"pass@1:\t([0-9.]+)", output.getvalue())
            ]
        (FOLDER / "printed_pass_at_1.json").write_text(json.dumps(printed) + "\n")
        os.chdir(FOLDER)


if __name__ == "__main__":
    main()
