"""Read references into tests of a program, and compare outputs with what is expected.

A reference of any form that `python_tests` takes goes in, and a `Tests` comes out. Nothing is run
here but the header of contests.
"""

from __future__ import annotations

import ast
import base64
import builtins
import importlib.util
import io
import json
import pickle
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from ..core.checks import short
from .placement import DEFINITIONS, Uses
from .responses import is_code
from .values import are_equal

FORMS = (
    "code with assertions, a list of assertions, a row of HumanEval or MBPP, or inputs and outputs"
)


_IMPORTS = (ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class TestCode:
    """Tests that are code, as the examiner gets them.

    Attributes:
        tests: the code.
        names: the names that the code uses, and that of the function that is tested.
        imports: the import statements outside functions and classes, as code.
        modules: the names of all imported modules, without those of their parts.
        is_test: whether the code outside functions and classes is a test itself.
        may_have_tests: whether functions and classes may be tests, which a sandbox finds out.
        borrowed: pairs of a name and a module that is used under this name without an import.
        replaced: the names of attributes that the code sets, such as "pi" for `math.pi = 3`.
        shares_interpreter: whether the process of the program runs the code, see `placement.py`.
    """

    tests: str
    names: tuple[str, ...]
    imports: tuple[str, ...]
    modules: tuple[str, ...]
    is_test: bool
    may_have_tests: bool
    borrowed: tuple[tuple[str, str], ...]
    replaced: tuple[str, ...]
    shares_interpreter: bool


@dataclass(frozen=True)
class Tests:
    """The tests of a question: code, or inputs with outputs.

    Attributes:
        prompt: code that is put before a sample; "" if there is none.
        setup: code that runs before a program, in its namespace.
        entry_point: the function that is tested, or None if it is not known.
        code: the tests as code, or None if there are inputs and outputs.
        inputs: the input of each case: a text for standard input, or a list of arguments.
        outputs: the expected output of each case.
        is_wrapped: whether an output may be in a list of its own, as in APPS.
        is_contest: whether it is a row of APPS or LiveCodeBench, which has a header of imports.
        expected: the names of the tests in the code that have to run; empty if they are not known.
    """

    prompt: str = ""
    setup: str = ""
    entry_point: str | None = None
    code: TestCode | None = None
    inputs: tuple[Any, ...] = ()
    outputs: tuple[Any, ...] = ()
    is_wrapped: bool = False
    is_contest: bool = False
    expected: tuple[str, ...] = ()

    @property
    def wanted_names(self) -> frozenset[str]:
        """The names of which a program defines at least one; empty if they are not known."""
        if self.entry_point is not None:
            return frozenset({self.entry_point, self.entry_point.partition(".")[0], "Solution"})
        return frozenset(self.code.names if self.code is not None else ())

    @property
    def cases(self) -> int:
        """How often a program runs: once for each input, or once with tests that are code."""
        return max(1, len(self.inputs))

    def in_interpreter(self) -> Tests:
        """Return the tests, which are code, such that the process of the program runs them."""
        assert self.code is not None
        return replace(self, code=replace(self.code, shares_interpreter=True))

    def jobs(self, program: str | None, case: int = 0) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the jobs of the server and of the examiner that run a program with a case.

        If `program` is None, the tests are only to be found. The job of the server has no tests and
        no expected output. That of the examiner has a `form`, and what `examiner.py` reads for it.
        """
        is_script = self.code is None and self.entry_point is None
        job: dict[str, Any] = {
            "setup": self.setup,
            "program": program,
            "stdin": self.inputs[case] if is_script else None,
            "preload": [],
        }
        exam: dict[str, Any] = {"entry_point": self.entry_point}
        if self.code is not None:
            if program is None or self.code.shares_interpreter:
                job["preload"] = ["unittest.mock" if program is None else "unittest"]
            form = "find" if program is None else "tests"
            return job, exam | vars(self.code) | {"form": form, "expected": self.expected}
        exam |= {"form": "stdin" if is_script else "calls", "case": case}
        exam |= {"output": self.outputs[case], "is_wrapped": self.is_wrapped}
        return job, exam | {"arguments": self.inputs[case]}


def read_tests(reference: Any, where: str) -> Tests:
    """Return the tests that a reference of any form describes.

    Args:
        reference: see the documentation of `python_tests`.
        where: its name in messages, such as "references[3]".

    Raises:
        ValueError: if it has no known form, or if its code cannot test a program.
    """
    reference = _as_text(reference)
    if isinstance(reference, str) and _holds_cases(reference):
        reference = {"input_output": reference}
    if isinstance(reference, str):
        return _tests_in_code(reference, where)
    tests = _tests_of_row(reference, where) if isinstance(reference, Mapping) else None
    if tests is None:
        raise ValueError(f"{where} is {short(reference)}: python_tests takes {FORMS}.")
    return tests


def _tests_of_row(reference: Mapping[str, Any], where: str) -> Tests | None:
    """Return the tests of a benchmark row, or None without any; raise a ValueError for bad ones."""
    row = {key: value for key, value in reference.items() if value is not None}
    if "input_output" in row:
        row |= _object(row["input_output"], f"{where}['input_output']")
    elif "public_test_cases" in row:
        row |= _cases_of_hub(row, where)
    entry_point = row.get("entry_point", row.get("fn_name"))
    _check_entry_point(entry_point, where)
    if {"inputs", "outputs"} <= row.keys():
        return _cases(row, entry_point, where)
    tests = _code_in(row, ("test", "tests", "test_list"), where)
    if tests is None:
        return None
    setup = _code_in(row, ("test_imports", "test_setup_code"), where) or ""
    # The tests have imports of their own, so that a program cannot replace them.
    own = setup if _has_only_imports(setup) else ""
    return replace(
        _tests_in_code(f"{own}\n{tests}", where, entry_point),
        prompt=_prompt_of_function(row, entry_point, where),
        setup=setup,
    )


def _as_text(value: Any) -> Any:
    """Return a list of lines as one text, and any other value unchanged."""
    is_lines = isinstance(value, (list, tuple)) and all(isinstance(line, str) for line in value)
    return "\n".join(value) if is_lines else value


def _holds_cases(text: str) -> bool:
    """Return whether a text is a JSON object with the keys "inputs" and "outputs"."""
    try:
        cases = json.loads(text) if text.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        return False
    return isinstance(cases, dict) and {"inputs", "outputs"} <= cases.keys()


def _object(value: Any, where: str) -> dict[str, Any]:
    """Return a dict, or the dict that a JSON text holds; raise a ValueError for other values."""
    try:
        parsed = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        raise ValueError(f"{where} is {short(value)}: give inputs and outputs, also as JSON.")
    return parsed


def _check_entry_point(entry_point: Any, where: str) -> None:
    """Raise a ValueError unless an entry point is None, a name, or names joined by dots."""
    is_name = isinstance(entry_point, str) and all(
        part.isidentifier() for part in entry_point.split(".")
    )
    if entry_point is not None and not is_name:
        raise ValueError(f"{where} has the entry point {short(entry_point)}: give a name.")


def _code_in(row: Mapping[str, Any], names: Sequence[str], where: str) -> str | None:
    """Return the code in the first of the fields `names` that a row has, or None if it has none.

    Raises a ValueError if the field is neither a text nor a list of lines.
    """
    name = next((name for name in names if name in row), None)
    if name is None:
        return None
    code = _as_text(row[name])
    if not isinstance(code, str):
        raise ValueError(f"{where}[{name!r}] is {short(code)}: give code.")
    return code


def _prompt_of_function(row: Mapping[str, Any], entry_point: str | None, where: str) -> str:
    """Return the code in "prompt" that a sample completes, or "" if there is none.

    A prompt is code if it can be parsed, or could be if its last function had a body. Without an
    entry point, a prompt is not used.
    """
    prompt = _code_in(row, ("prompt",), where) if entry_point else None
    bodies = ("", "\n    pass", "\n        pass")
    return prompt if prompt and any(is_code(prompt + body) for body in bodies) else ""


def _has_only_imports(code: str) -> bool:
    """Return whether code has nothing but imports; also True if it cannot be parsed as Python."""
    try:
        return all(isinstance(node, _IMPORTS) for node in ast.parse(code).body)
    except SyntaxError:
        return True  # the tests, which get this code, do not compile then, which is an error


# --- Tests in code ------------------------------------------------------------------------


def _tests_in_code(code: str, where: str, entry_point: str | None = None) -> Tests:
    """Return tests that are code; raise a ValueError if the code is invalid or tests nothing."""
    try:
        return Tests(entry_point=entry_point, code=_parsed_tests(code, entry_point))
    except ValueError as error:
        raise ValueError(f"{where} {error}") from error
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"{where} is not Python code: {error}.") from error


@lru_cache(maxsize=1 << 12)
def _parsed_tests(code: str, entry_point: str | None) -> TestCode:
    """Parse code that tests a program.

    Raises a ValueError if the code tests nothing, or imports a module that is not installed, with a
    message that lacks its subject. Raises the errors of `ast.parse` if it is not Python code.
    """
    tree = ast.parse(code, "<tests>")
    compile(tree, "<tests>", "exec", dont_inherit=True)
    uses = Uses(tree)
    is_test = _has_active_code(tree)
    has_definitions = bool(uses.of(*DEFINITIONS, ast.Lambda))
    if not is_test and not has_definitions:
        raise ValueError(f"is {short(code)}, which tests nothing: python_tests takes {FORMS}.")
    has_check = "check" in [x.name for x in tree.body if isinstance(x, ast.FunctionDef)]
    modules = sorted({path.partition(".")[0] for path in uses.imported.values()})
    _require_installed(modules)
    replaced = [x.attr for x in uses.of(ast.Attribute) if isinstance(x.ctx, ast.Store)]
    return TestCode(
        tests=code,
        names=_names(uses, entry_point),
        imports=tuple(ast.unparse(x) for x in tree.body if isinstance(x, _IMPORTS)),
        modules=tuple(modules),
        is_test=is_test,
        may_have_tests=has_definitions and not (entry_point and has_check),
        borrowed=tuple(uses.borrowed.items()),
        replaced=tuple(replaced),
        shares_interpreter=uses.need_interpreter(),
    )


def _names(uses: Uses, entry_point: str | None) -> tuple[str, ...]:
    """Return the names in code, and the first one of an entry point, but none with "__" before."""
    names = {node.id for node in uses.of(ast.Name)}
    names |= {entry_point.partition(".")[0]} if entry_point else set()
    return tuple(sorted(name for name in names if not name.startswith("__")))


def _require_installed(modules: Iterable[str]) -> None:
    """Raise a ValueError if a module is not installed; its message starts with "imports"."""
    for module in modules:
        try:
            spec = importlib.util.find_spec(module)
        except (ImportError, ValueError):  # ValueError for a module such as __main__
            spec = None
        if spec is None:
            what = "install it; tests see the names of their program without an import."
            raise ValueError(f"imports {module}, which is not installed here: {what}")


def _has_active_code(tree: ast.Module) -> bool:
    """Return whether code outside functions and classes can fail for an incorrect program.

    Then the code is a test: assert and raise, statements that call a function of the program or a
    method named like a test, and calls of lambdas, functions and classes that the tests define.
    """
    defined = {node.name: node for node in ast.walk(tree) if isinstance(node, DEFINITIONS)}
    outside = [*_outside(tree)]
    statements = {node.value for node in outside if isinstance(node, ast.Expr)}
    return any(
        isinstance(node, (ast.Assert, ast.Raise))
        or (node in statements and _calls_the_program(node))
        or _calls_a_definition(node, defined)
        for node in outside
    )


def _calls_a_definition(node: ast.AST, defined: Mapping[str, ast.AST]) -> bool:
    """Return whether a node calls a lambda, or a function or a method of a class in `defined`."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name):
        return isinstance(defined.get(node.func.id), DEFINITIONS[:2])
    names = [x.id for x in ast.walk(node.func) if isinstance(x, ast.Name)]
    is_method = isinstance(defined.get((*names, "")[0]), ast.ClassDef)
    return isinstance(node.func, ast.Lambda) or is_method


def _calls_the_program(node: ast.AST) -> bool:
    """Return whether a node calls a possible function of the program, or a method like a test's."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name):
        return not hasattr(builtins, node.func.id) and node.func.id != "main"
    return getattr(node.func, "attr", "").startswith(("assert", "check", "run", "test"))


def _outside(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree that are in no function and no class."""
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, DEFINITIONS):
            yield node
            yield from _outside(node)


# What graders of contests import before each program. The builtin functions come after math and
# operator, which have a `pow` of their own, and the modules come last: `datetime` is the module.
_MODULES_OF_CONTESTS = (
    *("string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random"),
    *("statistics", "itertools", "functools", "operator", "io", "sys", "json", "typing"),
)
CONTEST_HEADER = "\n".join(
    [
        *(f"from {name} import *" for name in (*_MODULES_OF_CONTESTS, "builtins")),
        *(f"import {name}" for name in _MODULES_OF_CONTESTS),
        "sys.setrecursionlimit(50_000)",
    ]
)


@lru_cache(maxsize=1)
def names_of_contests() -> frozenset[str]:
    """Return the names that the header of contests defines."""
    space: dict[str, Any] = {}
    exec(CONTEST_HEADER.rpartition("\n")[0], space)
    return frozenset(space)


# --- Inputs and outputs -------------------------------------------------------------------


def _cases(row: Mapping[str, Any], entry_point: str | None, where: str) -> Tests:
    """Return the tests of a row with inputs and outputs; raise a ValueError if they are invalid."""
    inputs, outputs = row["inputs"], row["outputs"]
    is_contest = not {"input_output", "public_test_cases"}.isdisjoint(row)
    for name, values in (("inputs", inputs), ("outputs", outputs)):
        if not isinstance(values, (list, tuple)) or not values:
            raise ValueError(f"{where}[{name!r}] is {short(values)}: give a list of cases.")
    if len(inputs) != len(outputs):
        raise ValueError(f"{where} has {len(inputs)} inputs but {len(outputs)} outputs.")
    in_inputs, in_outputs = f"{where}['inputs']", f"{where}['outputs']"
    if entry_point is None:
        inputs = [_lines(x, f"{in_inputs}[{case}]") for case, x in enumerate(inputs)]
        outputs = [_lines(x, f"{in_outputs}[{case}]") for case, x in enumerate(outputs)]
    else:
        if all(isinstance(x, str) for x in inputs):
            outputs = [*map(_value_of_case, outputs)]
        inputs = [_arguments(x, f"{in_inputs}[{case}]") for case, x in enumerate(inputs)]
        _check_json(inputs, in_inputs)
        _check_json(outputs, in_outputs)
    return Tests(
        prompt="" if is_contest else _prompt_of_function(row, entry_point, where),
        entry_point=entry_point,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        is_wrapped="input_output" in row,
        is_contest=is_contest,
    )


def _cases_of_hub(row: dict[str, Any], where: str) -> dict[str, Any]:
    """Return a dict with `inputs`, `outputs`, and perhaps `fn_name`, of a row of LiveCodeBench."""
    cases = []
    for name in ("public_test_cases", "private_test_cases"):
        value = row.get(name, [])
        try:
            if isinstance(value, str) and not value.lstrip().startswith("["):
                packed = zlib.decompress(base64.b64decode(value, validate=True))
                value = _Unpickler(io.BytesIO(packed)).load()
            value = json.loads(value) if isinstance(value, str | bytes) else value
            cases += [(case["input"], case["output"]) for case in value]
        except (ValueError, TypeError, KeyError, EOFError, zlib.error, pickle.PickleError) as error:
            what = "give a list of objects with input and output, also as JSON or packed."
            raise ValueError(f"{where}[{name!r}] is {short(row[name])}: {what}") from error
    metadata = _object(row.get("metadata") or {}, f"{where}['metadata']")
    function = row.get("func_name", metadata.get("func_name"))
    read = {"inputs": [x for x, _ in cases], "outputs": [y for _, y in cases]}
    return read | ({"fn_name": function} if function else {})


class _Unpickler(pickle.Unpickler):
    """Reads pickles of texts and numbers, and refuses those that name an object of Python."""

    def find_class(self, module: str, name: str) -> Any:
        """Raise an error: a pickle could run any function that it names."""
        raise pickle.UnpicklingError(f"the pickle asks for {module}.{name}")


def _lines(value: Any, where: str) -> str:
    """Return a text, or a list of lines as one text; raise a ValueError for other values."""
    text = _as_text(value)
    if not isinstance(text, str):
        raise ValueError(f"{where} is {short(value)}: give a text, or an entry_point to call.")
    return text


def _arguments(value: Any, where: str) -> list[Any]:
    """Return the arguments in a list or a text of JSON lines; raise a ValueError for others."""
    if isinstance(value, str):
        return [_value_of_case(line) for line in value.splitlines()]
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"{where} is {short(value)}: give the list of arguments of a call.")
    return list(value)


def _check_json(values: Iterable[Any], where: str) -> None:
    """Raise a ValueError unless JSON can hold all values. A tuple counts as a list."""
    for case, value in enumerate(values):
        try:
            is_json = are_equal(json.loads(json.dumps(value)), value)
        except (TypeError, ValueError, RecursionError):
            is_json = False
        if not is_json:
            what = "give numbers, texts, lists, and dicts with texts as keys."
            raise ValueError(f"{where}[{case}] is {short(value)}: {what}")


def _value_of_case(text: Any) -> Any:
    """Return the value that `text` holds as JSON, or `text` itself if it is not JSON."""
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text
