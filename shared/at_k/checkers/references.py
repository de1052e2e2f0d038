"""Read references into tests of a program.

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
from .placement import PURE_MODULES, imports, need_interpreter
from .responses import is_code
from .values import are_equal

FORMS = (
    "code with assertions, a list of assertions, a row of HumanEval or MBPP, or inputs and outputs"
)


@dataclass(frozen=True)
class TestCode:
    """Tests that are code, as `examine` gets them.

    Attributes:
        tests: the code.
        missing_imports: imports of modules that the code uses without importing them.
        names: the names that the code uses, and that of the function that is tested.
        imports: the import statements outside functions and classes, as code.
        modules: the names of all imported modules, without those of their parts.
        is_test: whether the code outside functions and classes is a test itself.
        may_have_tests: whether functions and classes may be tests, which a sandbox finds out.
        replaced: the names of attributes that the code sets, such as "pi" for `math.pi = 3`.
        shares_interpreter: whether the process of the program runs the code, see `placement.py`.
    """

    tests: str
    missing_imports: str
    names: tuple[str, ...]
    imports: tuple[str, ...]
    modules: tuple[str, ...]
    is_test: bool
    may_have_tests: bool
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
        outputs: for each case a list of outputs, one of which is expected.
        is_contest: whether it is a row of APPS or LiveCodeBench, which has a header of imports.
        expected: the names of the tests in the code that have to run; empty if they are not known.
    """

    prompt: str = ""
    setup: str = ""
    entry_point: str | None = None
    code: TestCode | None = None
    inputs: tuple[Any, ...] = ()
    outputs: tuple[Any, ...] = ()
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

    def jobs(self, program: str | None, case: int = 0) -> dict[str, dict[str, Any]]:
        """Return what the server gets to run a program with a case: its arguments `job` and `exam`.

        The job, of the starter, has the code in `setup` and `program`; the text for `stdin`, or
        None; and `preload`, the modules to import before. It has no tests and no expected output.
        If `program` is None, the tests are only to be found.
        """
        job: dict[str, Any] = {"setup": self.setup, "program": program, "stdin": None}
        job["preload"] = []
        if self.code is None:
            given, exam = self.inputs[case], {"case": case, "accepted": self.outputs[case]}
            if self.entry_point is None:
                return {"job": job | {"stdin": given}, "exam": exam}
            exam |= {"form": "call", "call": [self.entry_point, given]}
            return {"job": job, "exam": exam}
        if program is None or self.code.shares_interpreter:
            job["preload"] = ["unittest.mock" if program is None else "unittest"]
            job["preload"] += ["pytest"] if self.code.may_have_tests else []
        form = "find" if program is None else "tests"
        exam = {**vars(self.code), "entry_point": self.entry_point, "form": form}
        return {"job": job, "exam": exam | {"expected": self.expected}}


def read_tests(reference: Any, where: str) -> Tests:
    """Return the tests that a reference of any form describes.

    Args:
        reference: see the documentation of `python_tests`.
        where: its name in messages, such as "references[3]".

    Raises:
        ValueError: if it has no known form, or if its code cannot test a program.
    """
    reference = _as_text(reference)
    if isinstance(reference, str):
        cases = _json_value(reference)
        if not isinstance(cases, dict) or not {"inputs", "outputs"} <= cases.keys():
            return _tests_in_code(reference, where)
        reference = {"input_output": cases}
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
    names = entry_point.split(".") if isinstance(entry_point, str) else [""]
    if entry_point is not None and not all(map(str.isidentifier, names)):
        raise ValueError(f"{where} has the entry point {short(entry_point)}: give a name.")
    if {"inputs", "outputs"} <= row.keys():
        return _cases(row, entry_point, where)
    tests = _code_in(row, ("test", "tests", "test_list"), where)
    if tests is None:
        return None
    setup = _code_in(row, ("test_imports", "test_setup_code"), where) or ""
    try:
        nodes = ast.parse(setup).body
    except SyntaxError:
        nodes = []  # the tests, which get this code, do not compile then, which is an error
    # The tests have imports of their own, so that a program cannot replace them.
    own = setup if all(isinstance(x, (ast.Import, ast.ImportFrom)) for x in nodes) else ""
    return replace(
        _tests_in_code(f"{own}\n{tests}", where, entry_point),
        prompt=_prompt_of_function(row, entry_point, where),
        setup=setup,
    )


def _as_text(value: Any) -> Any:
    """Return a list of lines as one text, and any other value unchanged."""
    is_lines = isinstance(value, (list, tuple)) and all(isinstance(line, str) for line in value)
    return "\n".join(value) if is_lines else value


def _json_value(text: Any) -> Any:
    """Return the value that `text` holds as JSON, or `text` itself if it is not JSON."""
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return text


def _object(value: Any, where: str) -> dict[str, Any]:
    """Return a dict, or the dict that a JSON text holds; raise a ValueError for other values."""
    parsed = _json_value(value)
    if not isinstance(parsed, dict):
        raise ValueError(f"{where} is {short(value)}: give inputs and outputs, also as JSON.")
    return parsed


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


# --- Tests in code ------------------------------------------------------------------------

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


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
    definitions = [x for x in ast.walk(tree) if isinstance(x, (*_DEFINITIONS, ast.Lambda))]
    is_test = _has_active_code(tree)
    if not is_test and not definitions:
        raise ValueError(f"is {short(code)}, which tests nothing: python_tests takes {FORMS}.")
    own_imports = [x for x in tree.body if isinstance(x, (ast.Import, ast.ImportFrom))]
    missing_imports = _missing_imports(tree)
    tree.body += ast.parse(missing_imports).body
    modules = sorted({path.partition(".")[0] for path in imports(ast.walk(tree)).values()})
    _require_installed(modules)
    has_check = any(getattr(node, "name", None) == "check" for node in tree.body)
    attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    return TestCode(
        tests=code,
        missing_imports=missing_imports,
        names=_used_names(tree, entry_point),
        imports=tuple(map(ast.unparse, own_imports)),
        modules=tuple(modules),
        is_test=is_test,
        may_have_tests=bool(definitions) and not (entry_point and has_check),
        replaced=tuple(x.attr for x in attributes if isinstance(x.ctx, ast.Store)),
        shares_interpreter=need_interpreter(tree),
    )


def _used_names(tree: ast.Module, entry_point: str | None) -> tuple[str, ...]:
    """Return the names that tests use, without special ones, and that of the entry point."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
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
    definitions = [node for node in ast.walk(tree) if isinstance(node, _DEFINITIONS)]
    classes = {node.name for node in definitions if isinstance(node, ast.ClassDef)}
    functions = {node.name for node in definitions} - classes
    for node in _outside(tree):
        match node:
            case ast.Assert() | ast.Raise() | ast.Call(func=ast.Lambda()):
                return True
            case ast.Call(func=ast.Name(id=name)) if name in functions:
                return True
            case ast.Call(func=ast.Attribute() as method) if _first_name(method) in classes:
                return True
            case ast.Expr(value=ast.Call(func=ast.Name(id=name))):
                if not hasattr(builtins, name) and name != "main":
                    return True
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name))):
                if name.startswith(("assert", "check", "run", "test")):
                    return True
    return False


def _first_name(node: ast.AST) -> str:
    """Return the first name in an expression, such as "A" in "A().check", or ""."""
    return next((x.id for x in ast.walk(node) if isinstance(x, ast.Name)), "")


def _outside(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree that are in no function and no class."""
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, _DEFINITIONS):
            yield node
            yield from _outside(node)


# Functions of the same name may be meant by the others, such as copy.
_BORROWED = {"np": "numpy as np"} | {
    name: name for name in PURE_MODULES - {"copy", "datetime", "time", "pytest", "unittest"}
}


def _missing_imports(tree: ast.Module) -> str:
    """Return imports of the modules that tests use without importing them, as code in one line.

    The tests do not take them from their program, which may have replaced them.
    """
    owners = {getattr(x.value, "id", "") for x in ast.walk(tree) if isinstance(x, ast.Attribute)}
    used = owners - imports(ast.walk(tree)).keys()
    return "; ".join(f"import {module}" for name, module in _BORROWED.items() if name in used)


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
    if entry_point is None:
        inputs, outputs = [*map(_as_text, inputs)], [*map(_as_text, outputs)]
    elif all(isinstance(x, str) for x in inputs):  # with an argument in each line
        inputs = [[*map(_json_value, x.splitlines())] for x in inputs]
        outputs = [*map(_json_value, outputs)]
    for name, values in (("inputs", inputs), ("outputs", outputs)):
        for case, value in enumerate(values):
            if what := _expected_case(value, name, entry_point):
                text = f"{where}[{name!r}][{case}] is {short(value)}: give {what}."
                raise ValueError(text)
    return Tests(
        prompt="" if is_contest else _prompt_of_function(row, entry_point, where),
        entry_point=entry_point,
        inputs=tuple(inputs),
        outputs=tuple(_accepted(x, "input_output" in row) for x in outputs),
        is_contest=is_contest,
    )


def _accepted(output: Any, is_apps: bool) -> list[Any]:
    """Return the acceptable outputs of a case: in APPS, one may be in a list of its own."""
    is_wrapped = is_apps and isinstance(output, list) and len(output) == 1
    return [output, *output] if is_wrapped else [output]


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


def _expected_case(value: Any, name: str, entry_point: str | None) -> str:
    """Return what to give instead of a value in "inputs" or "outputs", or "" if it is valid."""
    if entry_point is None:
        return "" if isinstance(value, str) else "a text, or an entry_point to call"
    if name == "inputs" and not isinstance(value, (list, tuple)):
        return "the list of arguments of a call"
    try:
        is_json = are_equal(json.loads(json.dumps(value)), value)  # a tuple counts as a list
    except (TypeError, ValueError, RecursionError):
        is_json = False
    return "" if is_json else "numbers, texts, lists, and dicts with texts as keys"
