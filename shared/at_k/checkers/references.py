"""Read references of any form that `python_tests` takes into `Tests`, and run nothing of them."""

from __future__ import annotations

import ast
import base64
import builtins
import importlib.util
import io
import json
import pickle
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

from ..core.checks import short
from .placement import DEFINITIONS, Uses
from .responses import is_code
from .sandboxed.values import are_equal

FORMS = (
    "code with assertions, a list of assertions, a row of HumanEval or MBPP, or inputs and outputs"
)
_IMPORTS = (ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class TestCode:
    """Tests that are code, as the examiner gets them."""

    tests: str
    names: tuple[str, ...]  # that the code uses, and that of the function that is tested
    imports: tuple[str, ...]  # the statements outside functions and classes
    modules: tuple[str, ...]  # all that are imported, without their parts
    is_test: bool  # whether the code outside functions and classes is a test itself
    may_have_tests: bool  # whether functions and classes may be tests, which a sandbox finds out
    borrowed: tuple[tuple[str, str], ...]  # names and modules that are used without an import
    replaced: tuple[str, ...]  # attributes that the code sets, such as "pi" for `math.pi = 3`
    shares_interpreter: bool  # whether the process of the program runs it, see `placement.py`


@dataclass(frozen=True)
class Tests:
    """The tests of a question: code, or inputs with outputs."""

    prompt: str = ""  # code before a sample
    setup: str = ""  # code that runs before a program, in its namespace
    entry_point: str | None = None  # the function that is tested, if it is known
    code: TestCode | None = None  # None if there are inputs and outputs
    inputs: tuple[Any, ...] = ()  # of each case: a text for standard input, or a list of arguments
    outputs: tuple[Any, ...] = ()  # what is expected of each case
    is_wrapped: bool = False  # whether an output may be in a list of its own, as in APPS
    is_contest: bool = False  # whether it is a row of APPS or LiveCodeBench, which have a header
    expected: tuple[str, ...] = ()  # names of tests that have to run; empty if they are not known

    @property
    def wanted_names(self) -> frozenset[str]:
        """The names of which a program defines at least one; empty if they are not known."""
        if self.entry_point is not None:
            return frozenset({self.entry_point, self.entry_point.partition(".")[0], "Solution"})
        return frozenset(self.code.names if self.code is not None else ())

    def jobs(self, program: str | None, case: int = 0) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the jobs of the server and of the examiner that run a program with a case.

        If `program` is None, the tests are only to be found. The job of the server has no tests and
        no expected output. That of the examiner has a `form`, and what `examiner.py` reads for it.
        """
        is_script = self.code is None and self.entry_point is None
        job: dict[str, Any] = {"setup": self.setup, "program": program, "preload": []}
        job["stdin"] = self.inputs[case] if is_script else None
        exam: dict[str, Any] = {"entry_point": self.entry_point}
        if self.code is None:
            exam |= {"form": "stdin" if is_script else "calls", "case": case}
            exam |= {"output": self.outputs[case], "is_wrapped": self.is_wrapped}
            return job, exam | {"arguments": self.inputs[case]}
        if program is None or self.code.shares_interpreter:
            job["preload"] = ["unittest.mock" if program is None else "unittest"]
        form = "find" if program is None else "tests"
        return job, exam | vars(self.code) | {"form": form, "expected": self.expected}


def read_tests(reference: Any, where: str) -> Tests:
    """Return the tests that a reference describes, whose name in messages is `where`.

    Raises a ValueError if it has no known form, or if its code cannot test a program.
    """
    reference = _joined_lines(reference)
    if isinstance(reference, str):
        cases = _json_object(reference) or {}
        if not {"inputs", "outputs"} <= cases.keys():
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


def _joined_lines(value: Any) -> Any:
    """Return a list of lines as one text, and any other value unchanged."""
    is_lines = isinstance(value, (list, tuple)) and all(isinstance(line, str) for line in value)
    return "\n".join(value) if is_lines else value


def _json_object(value: Any) -> dict[str, Any] | None:
    """Return a dict, or the dict that a JSON text holds; None for other values."""
    with suppress(ValueError, RecursionError):
        parsed = json.loads(value) if isinstance(value, str) else value
        return parsed if isinstance(parsed, dict) else None
    return None


def _object(value: Any, where: str) -> dict[str, Any]:
    """Return a dict, or the dict that a JSON text holds; raise a ValueError for other values."""
    parsed = _json_object(value)
    if parsed is None:
        raise ValueError(f"{where} is {short(value)}: give inputs and outputs, also as JSON.")
    return parsed


def _text(value: Any, where: str, wanted: str) -> str:
    """Return a text, or a list of lines as one text; raise a ValueError that asks for `wanted`."""
    text = _joined_lines(value)
    if not isinstance(text, str):
        raise ValueError(f"{where} is {short(value)}: give {wanted}.")
    return text


def _check_entry_point(entry_point: Any, where: str) -> None:
    """Raise a ValueError unless an entry point is None, a name, or names joined by dots."""
    is_name = isinstance(entry_point, str) and all(
        part.isidentifier() for part in entry_point.split(".")
    )
    if entry_point is not None and not is_name:
        raise ValueError(f"{where} has the entry point {short(entry_point)}: give a name.")


def _code_in(row: Mapping[str, Any], names: Sequence[str], where: str) -> str | None:
    """Return the code in the first of the fields `names` that a row has, or None if it has none."""
    for name in names:
        if name in row:
            return _text(row[name], f"{where}[{name!r}]", "code")
    return None


def _prompt_of_function(row: Mapping[str, Any], entry_point: str | None, where: str) -> str:
    """Return the code in "prompt" that a sample completes; "" without one or an entry point."""
    prompt = _code_in(row, ("prompt",), where) if entry_point else None
    bodies = ("", "\n    pass", "\n        pass")  # its last function may lack one
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
    """Parse code that tests a program, or raise the errors of `ast.parse`.

    A ValueError whose message lacks its subject is raised if it tests nothing, or misses a module.
    """
    tree = ast.parse(code, "<tests>")
    compile(tree, "<tests>", "exec", dont_inherit=True)
    uses = Uses(tree)
    is_test = _has_active_code(tree)
    has_definitions = bool(uses.of(*DEFINITIONS, ast.Lambda))
    if not is_test and not has_definitions:
        raise ValueError(f"is {short(code)}, which tests nothing: python_tests takes {FORMS}.")
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    modules = sorted({path.partition(".")[0] for path in uses.imported.values()})
    _require_installed(modules)
    names = {node.id for node in uses.of(ast.Name)}
    names |= {entry_point.partition(".")[0]} if entry_point else set()
    return TestCode(
        tests=code,
        names=tuple(sorted(name for name in names if not name.startswith("__"))),
        imports=tuple(ast.unparse(node) for node in tree.body if isinstance(node, _IMPORTS)),
        modules=tuple(modules),
        is_test=is_test,
        may_have_tests=has_definitions and not (entry_point and "check" in functions),
        borrowed=tuple(uses.borrowed.items()),
        replaced=tuple(
            node.attr for node in uses.of(ast.Attribute) if isinstance(node.ctx, ast.Store)
        ),
        shares_interpreter=uses.need_interpreter(),
    )


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
    """Return whether code outside functions and classes can fail for an incorrect program."""
    defined = {node.name: node for node in ast.walk(tree) if isinstance(node, DEFINITIONS)}
    outside = [*_outside(tree)]
    statements = {node.value for node in outside if isinstance(node, ast.Expr)}
    return any(
        isinstance(node, (ast.Assert, ast.Raise))
        or (isinstance(node, ast.Call) and _calls_a_test(node.func, node in statements, defined))
        for node in outside
    )


def _calls_a_test(function: ast.expr, is_statement: bool, defined: Mapping[str, ast.AST]) -> bool:
    """Return whether a call is one of a lambda, or of a function or a class in `defined`.

    A statement may also call a function of the program, or a method that is named like a test.
    """
    if isinstance(function, ast.Name):
        of_program = not hasattr(builtins, function.id) and function.id != "main"
        of_tests = isinstance(defined.get(function.id), DEFINITIONS[:2])
        return of_tests or (is_statement and of_program)
    owner, *_ = [*(node.id for node in ast.walk(function) if isinstance(node, ast.Name)), ""]
    if isinstance(function, ast.Lambda) or isinstance(defined.get(owner), ast.ClassDef):
        return True
    method = getattr(function, "attr", "")
    return is_statement and method.startswith(("assert", "check", "run", "test"))


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
    wanted = "a text, or an entry_point to call"
    read_input: Callable[[Any, str], Any] = partial(_text, wanted=wanted)
    read_output = read_input
    if entry_point is not None:
        are_texts = all(isinstance(arguments, str) for arguments in inputs)
        read_input, read_output = _arguments, _json_value if are_texts else _checked_json

    def read_cases(name: str, read: Callable[[Any, str], Any]) -> tuple[Any, ...]:
        return tuple(read(case, f"{where}[{name!r}][{i}]") for i, case in enumerate(row[name]))

    return Tests(
        prompt="" if is_contest else _prompt_of_function(row, entry_point, where),
        entry_point=entry_point,
        inputs=read_cases("inputs", read_input),
        outputs=read_cases("outputs", read_output),
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
    inputs, outputs = [case[0] for case in cases], [case[1] for case in cases]
    return {"inputs": inputs, "outputs": outputs} | ({"fn_name": function} if function else {})


class _Unpickler(pickle.Unpickler):
    """Reads pickles of texts and numbers, and refuses those that name an object of Python."""

    def find_class(self, module: str, name: str) -> Any:
        """Raise an error: a pickle could run any function that it names."""
        raise pickle.UnpicklingError(f"the pickle asks for {module}.{name}")


def _arguments(value: Any, where: str) -> Any:
    """Return the arguments in a list or a text of JSON lines; raise a ValueError for others."""
    if isinstance(value, str):
        return [_json_value(line, where) for line in value.splitlines()]
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"{where} is {short(value)}: give the list of arguments of a call.")
    return _checked_json(list(value), where)


def _json_value(value: Any, where: str) -> Any:
    """Return the value that a text holds as JSON, or a value that is no JSON text itself."""
    try:
        return json.loads(value)
    except (TypeError, ValueError):
        return _checked_json(value, where)


def _checked_json(value: Any, where: str) -> Any:
    """Return a value, or raise a ValueError if JSON cannot hold it. A tuple counts as a list."""
    with suppress(TypeError, ValueError, RecursionError):
        if are_equal(json.loads(json.dumps(value)), value):
            return value
    what = "give numbers, texts, lists, and dicts with texts as keys."
    raise ValueError(f"{where} is {short(value)}: {what}")
