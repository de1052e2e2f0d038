"""Count the calls of our own functions that score two questions, in four ways, and what is complex.

    python tests/benchmarks/trace.py

The ways are `compute`, the command with limits, `compare` of two runs, and a text that is pasted on
the page of gpassk. Each is done twice, since caches are filled the first time. Counted are the
calls of named functions in `shared/at_k`, `metrics` and `spaces`, without comprehensions and
lambdas.

The complexity of a function is 1 plus its decisions: branches, loops, handlers of errors, `and` and
`or`, conditions in comprehensions and in expressions. Functions inside it count as its own.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import runpy
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import at_k
from at_k.cli.command import main as command

ROOT = Path(__file__).resolve().parents[2]
OURS = tuple(f"{ROOT / folder}{os.sep}" for folder in ("shared/at_k", "metrics", "spaces"))
QUESTIONS = [["a", "b", "a", "a"], ["b", "b", "a", "c"]], ["a", "b"]
OUTCOMES = [[1, 0, 1, 1], [1, 1, 0, 0]]
LINES = "".join(
    json.dumps({"predictions": row, "reference": reference}) + "\n"
    for row, reference in zip(*QUESTIONS, strict=True)
)
DECISIONS = (
    *(ast.If, ast.IfExp, ast.For, ast.While, ast.ExceptHandler, ast.comprehension, ast.Assert),
    ast.match_case,
)
Functions = Counter[tuple[str, str]]
"""How often each function is called, by its file and name."""


# --- Calls ------------------------------------------------------------------------------


@contextlib.contextmanager
def ways() -> Iterator[dict[str, Callable[[], object]]]:
    """Yield the call of each way, in a new folder that holds the file of the command."""
    metric, (predictions, references) = at_k.load("gpassk"), QUESTIONS
    sys.path.insert(0, str(ROOT / "spaces"))
    from page import answer_html, answering, request

    space = runpy.run_path(str(ROOT / "spaces/gpassk/app.py"))["SPACE"]

    def paste() -> object:
        asked = request.make_request(space, "exact_match", {"k": 2}, text=LINES)
        answer = answering.answer_to(asked)
        return answer_html.result_html(answer), answer_html.details_html(answer)

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("run.jsonl").write_text(LINES)
        yield {
            "compute": lambda: metric.compute(predictions=predictions, references=references, k=2),
            "command": lambda: command(["gpassk", "run.jsonl", "--k", "2", "--confidence", "0.95"]),
            "compare": lambda: at_k.compare(OUTCOMES, OUTCOMES[::-1], "pass@k", k=2),
            "page": paste,
        }


def calls(run: Callable[[], object]) -> Functions:
    """Return which functions a call calls."""
    counts: Functions = Counter()

    def count(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_name[0] != "<" and code.co_filename.startswith(OURS):
            counts[code.co_filename.removeprefix(f"{ROOT}{os.sep}"), code.co_qualname] += 1

    with contextlib.redirect_stdout(io.StringIO()):
        sys.setprofile(count)
        try:
            run()
        finally:
            sys.setprofile(None)
    return counts


# --- Complexity -------------------------------------------------------------------------


def complexities(folder: Path) -> dict[str, int]:
    """Return the complexity of each function in the Python files of a folder."""
    found = {}
    for file in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                place = f"{file.relative_to(ROOT)}:{node.lineno} {node.name}"
                found[place] = 1 + sum(map(_decisions, ast.walk(node)))
    return found


def _decisions(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    return isinstance(node, DECISIONS) + len(getattr(node, "ifs", ()))


def main() -> None:
    with ways() as by_name:
        for name, run in by_name.items():
            first, counts = calls(run), calls(run)
            files = len({file for file, _ in counts})
            print(
                f"{name}: {first.total()} calls at first, then {counts.total()} of {len(counts)} "
                f"functions in {files} files"
            )
    for folder in ("shared/at_k", "spaces"):
        of_all = complexities(ROOT / folder)
        above = [sum(x > limit for x in of_all.values()) for limit in (10, 15)]
        worst = max(of_all, key=lambda place: of_all[place])
        print(
            f"{folder}: {len(of_all)} functions, {above[0]} with a complexity above 10, "
            f"{above[1]} above 15; most is {of_all[worst]}: {worst}"
        )


if __name__ == "__main__":
    main()
