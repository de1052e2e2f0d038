"""What a program is tested with: the forms of references, and the comparison of outputs."""

from __future__ import annotations

import ast
import importlib.util
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from typing import Any

from ..core.checks import short

_LONG = 10_000  # characters of a result that is not shown as Python shows it, which takes long
FORMS = (
    "code with assertions, a list of assertions, a row of HumanEval or MBPP, or inputs and outputs"
)


@dataclass(frozen=True)
class Tests:
    """The tests of a question.

    Attributes:
        prompt: what is put before a sample.
        setup: code that runs before a program, in its namespace.
        entry_point: the function that is tested, or None if it is not known.
        code: the tests as code, or None if there are inputs and outputs.
        names: the names that the code uses.
        imports: the modules that the code imports.
        inputs: the input of each case: a text for standard input, or a list of arguments.
        outputs: the expected output of each case.
        is_wrapped: whether an output may be in a list of its own, as in APPS.
    """

    prompt: str = ""
    setup: str = ""
    entry_point: str | None = None
    code: str | None = None
    names: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    inputs: tuple[Any, ...] = ()
    outputs: tuple[Any, ...] = ()
    is_wrapped: bool = False

    @property
    def cases(self) -> int:
        """How many times a program runs, if it passes."""
        return 1 if self.code is not None else len(self.inputs)

    @property
    def wanted_names(self) -> frozenset[str]:
        """The names of which a program defines one, if they are known."""
        if self.entry_point is not None:
            return frozenset({self.entry_point, self.entry_point.partition(".")[0], "Solution"})
        return frozenset(self.names)

    def job(self, program: str, case: int) -> dict[str, Any]:
        """Return what the server needs to run a case. The expected output is not in it."""
        if self.code is not None:
            return {
                "form": "tests",
                "setup": self.setup,
                "program": program,
                "tests": self.code,
                "entry_point": self.entry_point,
                "names": self.names,
                "imports": self.imports,
            }
        return {
            "form": "stdin" if self.entry_point is None else "calls",
            "setup": "",
            "program": program,
            "entry_point": self.entry_point,
            "imports": (),
            "input": self.inputs[case],
        }

    def problem(self, case: int, output: str) -> str | None:
        """Return how the output of a case differs from the expected one, or None if it does not."""
        if self.code is not None:
            return None
        expected = self.outputs[case]
        if self.entry_point is None:
            if _are_equal_texts(output, expected):
                return None
            return f"case {case}: printed {short(output)}, expected {short(expected)}"
        try:
            result = json.loads(output)
        except (ValueError, RecursionError) as error:
            return f"case {case}: the result is not JSON ({type(error).__name__})"
        if are_equal(result, expected) or (
            self.is_wrapped
            and isinstance(expected, list)
            and len(expected) == 1
            and are_equal(result, expected[0])
        ):
            return None
        returned = short(result) if len(output) < _LONG else f"{output[:60]}.."
        return f"case {case}: returned {returned}, expected {short(expected)}"


def read_tests(reference: Any, where: str) -> Tests:
    """Read a reference of any form.

    Args:
        reference: see the documentation of `python_tests`.
        where: its name in messages, such as "references[3]".

    Raises:
        ValueError: if it has no known form, or if its code cannot test a program.
    """
    if isinstance(reference, str):
        return _tests_in_code(reference, where)
    if isinstance(reference, (list, tuple)) and reference and _are_texts(reference):
        return _tests_in_code("\n".join(reference), where)
    if isinstance(reference, Mapping):
        row = {key: value for key, value in reference.items() if value is not None}
        if "input_output" in row:
            row |= _object(row["input_output"], f"{where}['input_output']")
        entry_point = row.get("entry_point", row.get("fn_name"))
        _check_entry_point(entry_point, where)
        if {"inputs", "outputs"} <= row.keys():
            return _cases(row, entry_point, where)
        tests = next((row[name] for name in ("test", "tests", "test_list") if name in row), None)
        if tests is not None:
            setup = _as_code(row.get("test_imports", row.get("test_setup_code", "")), where)
            # The tests have imports of their own, so that a program cannot replace them.
            own = setup if _has_only_imports(setup) else ""
            return replace(
                _tests_in_code(f"{own}\n{_as_code(tests, where)}", where, entry_point),
                prompt=_as_code(row.get("prompt", ""), where) if entry_point else "",
                setup=setup,
            )
    raise ValueError(f"{where} is {short(reference)}: python_tests takes {FORMS}.")


def _are_texts(entries: Any) -> bool:
    return all(isinstance(entry, str) for entry in entries)


def _object(value: Any, where: str) -> dict[str, Any]:
    """Return a dict, or the dict that a text holds as JSON."""
    try:
        parsed = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        raise ValueError(f"{where} is {short(value)}: give inputs and outputs, also as JSON.")
    return parsed


def _check_entry_point(entry_point: Any, where: str) -> None:
    is_name = isinstance(entry_point, str) and all(
        part.isidentifier() for part in entry_point.split(".")
    )
    if entry_point is not None and not is_name:
        raise ValueError(f"{where} has the entry point {short(entry_point)}: give a name.")


def _as_code(value: Any, where: str) -> str:
    """Return a text, or texts as lines of one."""
    if isinstance(value, (list, tuple)) and _are_texts(value):
        return "\n".join(value)
    if not isinstance(value, str):
        raise ValueError(f"{where} has the tests {short(value)}: give code.")
    return value


def _has_only_imports(code: str) -> bool:
    try:
        return all(isinstance(node, (ast.Import, ast.ImportFrom)) for node in ast.parse(code).body)
    except SyntaxError:
        return True  # the tests do not compile then, which is an error


# --- Tests in code ------------------------------------------------------------------------

_RUN_CASES = """
import unittest as unittest_of_at_k
for class_of_at_k in ({classes},):
    result_of_at_k = unittest_of_at_k.TestResult()
    unittest_of_at_k.defaultTestLoader.loadTestsFromTestCase(class_of_at_k).run(result_of_at_k)
    for test_of_at_k, text_of_at_k in result_of_at_k.errors + result_of_at_k.failures:
        raise AssertionError(f"{{test_of_at_k}}: {{text_of_at_k.strip().splitlines()[-1]}}")
"""


def _tests_in_code(code: str, where: str, entry_point: str | None = None) -> Tests:
    try:
        return _parsed_tests(code, entry_point)
    except ValueError as error:
        raise ValueError(f"{where} {error}") from error


@lru_cache(maxsize=1 << 12)
def _parsed_tests(code: str, entry_point: str | None) -> Tests:
    """Read tests that are code, with calls of the test functions and classes that it defines.

    Raises:
        ValueError: if they cannot test a program, with the predicate of the message.
    """
    try:
        tree = ast.parse(code)
        compile(tree, "<tests>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f" in line {error.lineno}" if isinstance(error, SyntaxError) else ""
        problem = error.msg if isinstance(error, SyntaxError) else error
        raise ValueError(f"is not Python code: {problem}{line}.") from error
    calls = list(_calls(tree, entry_point))
    if not calls and not any(map(_is_active, tree.body)):
        raise ValueError(f"is {short(code)}, which tests nothing: python_tests takes {FORMS}.")
    code = "\n".join([code, *calls])
    nodes = list(ast.walk(ast.parse(code)))
    modules = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    modules += [
        node.module
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
    ]
    for module in modules:
        if not _is_installed(module.partition(".")[0]):
            raise ValueError(f"imports {module}, which is not installed here.")
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return Tests(
        entry_point=entry_point,
        code=code,
        names=tuple(sorted(names)),
        imports=tuple(sorted({*modules})),
    )


def _calls(tree: ast.Module, entry_point: str | None) -> Iterator[str]:
    """Yield the code that runs the test functions and classes that nothing else calls."""
    called = {
        node.func.id
        for statement in tree.body
        if not isinstance(statement, (ast.FunctionDef, ast.ClassDef))
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    classes = []
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            if any(ast.unparse(base).endswith("TestCase") for base in node.bases):
                classes.append(node.name)
        elif isinstance(node, ast.FunctionDef) and node.name not in called:
            if node.name == "check":
                if entry_point is None:
                    raise ValueError(
                        "defines check(candidate) and does not call it: give a dict with "
                        '"test" and "entry_point", the name of the function to be checked.'
                    )
                yield f"check({entry_point})"
            elif node.name.startswith("test"):
                if len(node.args.posonlyargs + node.args.args) > len(node.args.defaults):
                    raise ValueError(
                        f"has the test function {node.name} with parameters: python_tests "
                        f"calls test functions without arguments."
                    )
                yield f"{node.name}()"
    if classes:
        yield _RUN_CASES.format(classes=", ".join(classes))


def _is_active(node: ast.stmt) -> bool:
    """Whether a statement does more than to define a name."""
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    if isinstance(node, (*definitions, ast.Assign, ast.AnnAssign, ast.Pass)):
        return False
    if isinstance(node, ast.If) and "__name__" in ast.unparse(node.test):
        return False
    return not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


@lru_cache(maxsize=1 << 10)
def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):  # ValueError for a module such as __main__
        return False


# --- Inputs and outputs -------------------------------------------------------------------


def _cases(row: Mapping[str, Any], entry_point: str | None, where: str) -> Tests:
    """Read inputs and outputs: texts for standard input, or arguments of a function."""
    inputs, outputs = row["inputs"], row["outputs"]
    for name, values in (("inputs", inputs), ("outputs", outputs)):
        if not isinstance(values, (list, tuple)) or not values:
            raise ValueError(f"{where}[{name!r}] is {short(values)}: give a list of cases.")
    if len(inputs) != len(outputs):
        raise ValueError(f"{where} has {len(inputs)} inputs but {len(outputs)} outputs.")
    read_inputs: list[Any]
    read_outputs: list[Any]
    if entry_point is None:
        read_inputs = [_lines(x, f"{where}['inputs'][{case}]") for case, x in enumerate(inputs)]
        read_outputs = [_lines(x, f"{where}['outputs'][{case}]") for case, x in enumerate(outputs)]
    else:
        read_inputs = [_arguments(x, f"{where}['inputs'][{case}]") for case, x in enumerate(inputs)]
        read_outputs = [*map(_value_of_case, outputs)] if _are_texts(inputs) else list(outputs)
        for name, values in (("inputs", read_inputs), ("outputs", read_outputs)):
            for case, value in enumerate(values):
                if not _is_json(value):
                    raise ValueError(
                        f"{where}[{name!r}][{case}] is {short(value)}: give numbers, texts, lists, "
                        f"and dicts whose keys are texts."
                    )
    return Tests(
        prompt=row.get("prompt", "") if entry_point and "input_output" not in row else "",
        entry_point=entry_point,
        inputs=tuple(read_inputs),
        outputs=tuple(read_outputs),
        is_wrapped="input_output" in row,
    )


def _lines(value: Any, where: str) -> str:
    """Return a text, or the text of a list of lines."""
    if isinstance(value, (list, tuple)) and _are_texts(value):
        return "\n".join(value)
    if not isinstance(value, str):
        raise ValueError(
            f"{where} is {short(value)}: give a text, or the entry_point of a function to call."
        )
    return value


def _arguments(value: Any, where: str) -> list[Any]:
    """Return a list of arguments, which may be a text with one of them as JSON in each line."""
    if isinstance(value, str):
        return [_value_of_case(line) for line in value.splitlines()]
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"{where} is {short(value)}: give the list of arguments of a call.")
    return list(value)


def _is_json(value: Any) -> bool:
    """Whether a value is the same after it was written as JSON, tuples as lists."""
    try:
        return are_equal(json.loads(json.dumps(value)), value)
    except (TypeError, ValueError, RecursionError):
        return False


def _value_of_case(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text


_DECIMAL = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,4})?")


def _are_equal_texts(output: str, expected: str) -> bool:
    """Whether two texts have the same words in the same lines, and equal numbers.

    White space around words, and empty lines at the start and end, do not count.
    """
    lines, expected_lines = output.strip().splitlines(), expected.strip().splitlines()
    if len(lines) != len(expected_lines):
        return False
    for line, expected_line in zip(lines, expected_lines, strict=True):
        words, expected_words = line.split(), expected_line.split()
        if len(words) != len(expected_words):
            return False
        for word, expected_word in zip(words, expected_words, strict=True):
            if word != expected_word and not (
                _DECIMAL.fullmatch(word)
                and _DECIMAL.fullmatch(expected_word)
                and Decimal(word) == Decimal(expected_word)
            ):
                return False
    return True


def are_equal(result: Any, expected: Any) -> bool:
    """Whether a result equals what is expected; floats may differ by 1e-9, relative or absolute."""
    if isinstance(expected, (list, tuple)):
        return (
            isinstance(result, list)
            and len(result) == len(expected)
            and all(map(are_equal, result, expected))
        )
    if isinstance(expected, dict):
        return (
            isinstance(result, dict)
            and result.keys() == expected.keys()
            and all(are_equal(result[key], expected[key]) for key in expected)
        )
    if isinstance(expected, float) or isinstance(result, float):
        if not (isinstance(result, (int, float)) and isinstance(expected, (int, float))):
            return False
        if math.isnan(expected):
            return math.isnan(result)
        if abs(result) < 2**53 and abs(expected) < 2**53:
            return math.isclose(result, expected, rel_tol=1e-9, abs_tol=1e-9)
    return bool(result == expected)
