"""Rows of APPS and LiveCodeBench, with the imports that their graders put before a program."""

import base64
import json
import pickle
import zlib

import at_k
import pytest
from at_k.checkers import python_tests

PROGRAM = (
    "class Solution:\n    def total(self, rows: List[List[int]]) -> Optional[int]:\n"
    "        return reduce(add, chain(*rows), 0) if rows else None\n"
)
PUBLIC = [{"input": "[[1, 2], [3]]", "output": "6", "testtype": "functional"}]
PRIVATE = [
    {"input": "[]", "output": "null", "testtype": "functional"},
    {"input": "[[5]]", "output": "5", "testtype": "functional"},
]


def packed(cases):
    return base64.b64encode(zlib.compress(pickle.dumps(json.dumps(cases)))).decode()


def row(private):
    return {
        "question_content": "Sum all numbers.",
        "starter_code": "class Solution: ..",
        "public_test_cases": json.dumps(PUBLIC),
        "private_test_cases": private,
        "metadata": json.dumps({"func_name": "total"}),
    }


def test_a_row_of_the_hub_has_public_and_private_cases():
    wrong = PROGRAM.replace("if rows else None", "if rows else 0")
    rows = [row(private) for private in (packed(PRIVATE), json.dumps(PRIVATE), PRIVATE)]
    cases = [{"input": "3 4\n", "output": "7\n", "testtype": "stdin"}]
    rows += [row(packed(cases)) | {"public_test_cases": json.dumps(cases), "metadata": "{}"}]
    script = "print(sum(map(int, stdin.readline().split())))\n"
    *records, scripts = python_tests(workers=2).run([[PROGRAM, wrong]] * 3 + [[script]], rows)
    for right, other in records:
        assert (right["status"], right["tests"]) == ("passed", 3)
        assert (other["status"], other["tests"]) == ("failed", 2)
        assert other["message"] == "case 1: returned 0, expected None"
    assert [(x["status"], x["tests"]) for x in scripts] == [("passed", 2)]


def test_the_header_is_that_of_the_benchmark_unless_another_is_given():
    """It leaves builtin functions and modules as programs expect them."""
    apps = {"input_output": json.dumps({"fn_name": "total", "inputs": [[[[1]]]], "outputs": [1]})}
    future = "from __future__ import annotations\n" + PROGRAM
    program = "def f(): return [pow(2, 5, 7), datetime.date(2020, 1, 2).day, bisect.bisect([1], 1)]"
    called = {"input_output": {"fn_name": "f", "inputs": [[]], "outputs": [[4, 2, 1]]}}
    rows = python_tests().run([[PROGRAM, future], [program]], [apps, called])
    assert [x["status"] for row in rows for x in row] == ["passed"] * 3
    assert python_tests(header="")(PROGRAM, apps) is False
    header = "from typing import *\nfrom functools import reduce\nfrom operator import add\n"
    header += "from itertools import chain\n"
    code = ["assert Solution().total([[2]]) == 2"]
    rows = python_tests(header=header).run([[PROGRAM]] * 2, [apps, code])
    assert [x["status"] for [x] in rows] == ["passed"] * 2
    with pytest.raises(ValueError, match=r"header is 'import \('"):
        python_tests(header="import (")


class Evil:
    def __reduce__(self):
        return print, ("evil",)


@pytest.mark.parametrize(
    "private",
    [
        base64.b64encode(zlib.compress(pickle.dumps(Evil()))).decode(),
        *("not base64!", base64.b64encode(b"x").decode(), json.dumps([{"input": "1"}]), 7),
    ],
)
def test_private_cases_that_cannot_be_read_are_an_error_and_run_nothing(private, capsys):
    with pytest.raises(ValueError, match=r"references\[0\]\['private_test_cases'\] is"):
        python_tests().run([[PROGRAM]], [row(private)])
    assert "evil" not in capsys.readouterr().out


def test_names_that_a_header_would_define_are_counted_in_a_warning():
    programs = ["def f(x: List[int]): return x", "def f(x) -> Optional[int]: return x", "f = g"]
    programs += ["def f(x: List[int]): return 1", "def f(x): return x"]
    with pytest.warns(UserWarning, match=r"^3 of 5 .* \(List, Optional\).*header="):
        scores = at_k.load("gpassk").compute(
            predictions=[programs],
            references=["assert f(2) == 2"],
            check_correct_fn="python_tests",
            k=1,
            include="pass@k",
        )
    assert scores == {"pass@1": 0.2}


def test_the_command_reads_rows_of_the_hub(tmp_path, capsys):
    from at_k.cli.command import main

    file = tmp_path / "rows.jsonl"
    lines = [
        row(packed(PRIVATE)) | {"question_id": str(i), "samples": [PROGRAM, "x"]} for i in (0, 1)
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    flags = ["--check-correct-fn", "python_tests", "--k", "1", "--include", "pass@k", "--json"]
    main(["gpassk", str(file), "--predictions", "samples", *flags])
    assert json.loads(capsys.readouterr().out) == {"pass@1": 0.5}
