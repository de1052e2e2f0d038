"""Decide whether tests have to run in the process of their program, from the code of the tests.

In a process of their own, tests call functions of a program and methods of its objects, and compare
values: what they expect stays there. Tests that do more run in the process of the program, which
can read and change them. The code of the tests alone decides that, so that no program can choose.
Where the rules here miss what tests do, a correct program may fail, but no incorrect one passes.
Only `examiner.py` notices that tests give a program a function or an object of their own.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable
from typing import Any

# Modules that only work with values. Other modules may change the interpreter of a program, or
# look at its objects.
PURE_MODULES = {
    *("bisect", "calendar", "cmath", "collections", "copy", "datetime", "decimal", "enum"),
    *("fractions", "functools", "hashlib", "heapq", "itertools", "json", "math", "numbers"),
    *("numpy", "operator", "pytest", "random", "re", "statistics", "string", "textwrap"),
    *("time", "typing", "unittest", "__future__"),
}
# Builtin functions that look at objects, or reach into the interpreter.
_REACHING = {
    *("exec", "eval", "compile", "globals", "locals", "vars", "input", "open", "id", "dir"),
    *("getattr", "setattr", "hasattr", "delattr", "__import__", "ExceptionGroup"),
}
_FIXTURES = {
    *("capsys", "capfd", "capsysbinary", "capfdbinary", "caplog", "monkeypatch", "recwarn"),
    *("tmp_path", "tmp_path_factory", "tmpdir", "tmpdir_factory"),
}
# Names of unittest and pytest that watch or change the process in which the tests run.
_NEEDING_INTERPRETER = {
    *("mock", "warns", "deprecated_call", "MonkeyPatch", "assertWarns", "assertWarnsRegex"),
    *("assertLogs", "assertNoLogs"),
}
# Attributes of numbers, dates, arrays and exceptions that are not methods.
_ATTRIBUTES_OF_VALUES = {
    *("real", "imag", "numerator", "denominator", "year", "month", "day", "hour", "minute"),
    *("second", "microsecond", "tzinfo", "days", "seconds", "microseconds", "shape", "dtype"),
    *("size", "ndim", "T", "start", "stop", "step", "maxlen", "default_factory", "args"),
}
# Functions that only call the function that is their argument.
_CALLING = {"map", "filter", "sorted", "min", "max", "reduce", "partial", "callable"}
_RAISING = {"assertRaises", "assertRaisesRegex", "raises"}
_BINDING = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
    *(ast.ExceptHandler, ast.MatchAs, ast.MatchStar),
)
_OF_INTERPRETER = (ast.Await, ast.AsyncFor, ast.AsyncWith, ast.TryStar, ast.MatchClass)


def need_interpreter(tree: ast.Module) -> bool:
    """Return whether tests, as a tree, have to run in the process of their program."""
    uses = _Uses(tree)
    paths = [path.split(".") for path in uses.paths.values()]
    return any(
        parts[0] not in PURE_MODULES or not _NEEDING_INTERPRETER.isdisjoint(parts)
        for parts in paths
    ) or any(map(uses.need_interpreter, ast.walk(tree)))


class _Uses:
    """Finds out what tests do with names of a program, its objects, and modules.

    A name of the program is one that the tests do not bind or import, and that is not builtin.

    Attributes:
        paths: a dict from imported names to dotted paths, such as {"mean": "statistics.mean"}.
    """

    def __init__(self, tree: ast.AST):
        nodes = [*ast.walk(tree)]

        def all_of(*kinds: type) -> list[Any]:
            return [node for node in nodes if isinstance(node, kinds)]

        self.paths = imports(nodes)
        self._parents = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
        self._read = [x for x in all_of(ast.Name, ast.Attribute) if isinstance(x.ctx, ast.Load)]
        parameters = {node.arg for node in all_of(ast.arg)}
        self._bound = {x.id for x in all_of(ast.Name) if isinstance(x.ctx, ast.Store)} | parameters
        self._bound |= {node.name for node in all_of(*_BINDING)}
        # Without fixtures, whose values tests get.
        self._functions = {node.name for node in all_of(ast.FunctionDef)} - parameters
        self._managers = {_name(node.optional_vars) for node in all_of(ast.withitem)}

    def need_interpreter(self, node: ast.AST) -> bool:
        """Return whether a node of the tests has to run in the process of the program."""
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                is_reaching = name in _REACHING and name not in self._bound
                return is_reaching or self._is_more_than_called(node)
            case ast.arg(arg=name):
                return name in _FIXTURES
            case ast.Attribute():
                return self._is_attribute_of_an_object(node)
            case ast.Call():
                return self._makes_an_object(node) or self._has_an_effect(node)
            case ast.Compare(ops=operators, comparators=right):
                # Values are copies, and so never identical.
                return any(
                    isinstance(operator, (ast.Is, ast.IsNot)) and not isinstance(side, ast.Constant)
                    for operator, side in zip(operators, right, strict=True)
                )
            case ast.withitem(context_expr=manager):
                function = manager.func if isinstance(manager, ast.Call) else manager
                is_of_test = isinstance(function, ast.Attribute) and _name(function.value) == "self"
                return not is_of_test and not self._path(function).startswith("pytest")
            case ast.comprehension(is_async=is_async):
                return bool(is_async)
        return isinstance(node, _OF_INTERPRETER)

    # --- Names ----------------------------------------------------------------------------

    def _is_of_program(self, name: str) -> bool:
        """Return whether a name can only be one of the program."""
        known = name in self._bound or name in self.paths or hasattr(builtins, name)
        return name != "" and not known and name[:2] != "__"

    def _path(self, node: ast.AST) -> str:
        """Return the dotted path of a name or attribute of a module, such as "math.pi", or ""."""
        if isinstance(node, ast.Attribute):
            path = self._path(node.value)
            return path and f"{path}.{node.attr}"
        return self.paths.get(_name(node), "")

    def _is_called(self, node: ast.AST) -> bool:
        """Return whether a node is the function of a call."""
        parent = self._parents[node]
        return isinstance(parent, ast.Call) and parent.func is node

    def _is_method(self, node: ast.AST) -> bool:
        """Return whether a node is an attribute that is called, or assigned only to be called."""
        if not isinstance(node, ast.Attribute) or self._is_called(node):
            return isinstance(node, ast.Attribute)
        uses = self._uses_of_target(self._parents[node])
        return uses is not None and all(map(self._is_called, uses))

    def _uses_of_target(self, node: ast.AST) -> list[ast.expr] | None:
        """Return the nodes that read the only variable, or attribute of a test, of an assignment.

        A fixture is read by its name as well. Returns None for other nodes.
        """
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
        elif isinstance(node, (ast.Return, ast.Yield)):
            while not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                node = self._parents[node]
            if any("fixture" in ast.unparse(decorator) for decorator in node.decorator_list):
                targets = [ast.Name(node.name)]
        names = {*map(_own_name, targets)}
        if len(names) != 1 or "" in names:
            return None
        return [read for read in self._read if _own_name(read) in names]

    def _is_more_than_called(self, node: ast.Name) -> bool:
        """Return whether a name of the program is used as more than a function to call.

        In a process of their own, tests have a copy of its value, or an object without attributes.
        """
        if not self._is_of_program(node.id) or self._is_called(node):
            return False
        parent = self._parents[node]
        is_class = node.id[0].isupper()
        if isinstance(parent, ast.Assign):
            return is_class or not all(map(_name, parent.targets))
        if isinstance(parent, ast.keyword):
            parent = self._parents[parent]
        if not isinstance(parent, ast.Call) or is_class:
            return True
        function = _name(parent.func) or getattr(parent.func, "attr", "")
        if function in _RAISING:
            return node not in parent.args[1:]
        of_tests = function in self._functions or self._is_of_program(function)
        return not of_tests and function not in _CALLING

    # --- Objects and effects --------------------------------------------------------------

    def _makes_an_object(self, node: ast.Call) -> bool:
        """Return whether a call makes an object with which tests do more than call its methods.

        A name of the program with a capital is that of a class, unless the result is compared.
        """
        parent = self._parents[node]
        if not self._is_class(node) or isinstance(parent, ast.Expr) or self._is_method(parent):
            return False
        if isinstance(parent, ast.Compare):  # in `assert Sum([1, 2]) == 3` it is a function
            is_alone = sum(map(self._is_class, ast.walk(parent))) == 1
            return not (is_alone and all(isinstance(x, ast.Eq) for x in parent.ops))
        uses = self._uses_of_target(parent)
        return uses is None or not all(self._is_method(self._parents[use]) for use in uses)

    def _is_class(self, node: ast.AST) -> bool:
        """Return whether a node calls a name of the program with a capital."""
        name = _name(node.func) if isinstance(node, ast.Call) else ""
        return name[:1].isupper() and self._is_of_program(name)

    def _is_attribute_of_an_object(self, node: ast.Attribute) -> bool:
        """Return whether an attribute is set, is special, or may be that of a program's object."""
        owner = _name(node.value)
        if not isinstance(node.ctx, ast.Load):
            return owner not in ("self", "cls")
        if node.attr in _NEEDING_INTERPRETER:
            return True
        if node.attr[:2] == "__":
            return not (isinstance(node.value, ast.Call) and _name(node.value.func) == "super")
        return not (
            owner in {"self", "cls", "request", *self._managers} - {""}
            or hasattr(builtins, owner)
            or self._is_method(node)
            or self._path(node)
            or isinstance(node.value, ast.Constant)
            or node.attr in _ATTRIBUTES_OF_VALUES
        )

    def _has_an_effect(self, node: ast.Call) -> bool:
        """Return whether a function of a module is called for its effect, such as `random.seed`.

        In a process of their own, it would not reach the program, and would last for later tests.
        """
        path = self._path(node.func)
        if not path or path.startswith(("pytest", "unittest", "numpy.testing")):
            return False
        is_setting = path.rpartition(".")[2].startswith(("set", "seed"))
        return is_setting or isinstance(self._parents[node], ast.Expr)


def _name(node: ast.AST | None) -> str:
    """Return the name of a variable, or "" for anything else."""
    return node.id if isinstance(node, ast.Name) else ""


def _own_name(node: ast.AST) -> str:
    """Return the name of a variable, or of an attribute of a test; "" for anything else."""
    if isinstance(node, ast.Attribute) and _name(node.value) in ("self", "cls"):
        return node.attr
    return _name(node)


def imports(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """Return a dict from each name that nodes import to its path, such as "math.pi" for pi."""
    paths = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                paths[alias.asname or first] = alias.name if alias.asname else first
        elif isinstance(node, ast.ImportFrom) and node.module:
            found = {x.asname or x.name: f"{node.module}.{x.name}" for x in node.names}
            paths |= {path if name == "*" else name: path for name, path in found.items()}
    return paths
