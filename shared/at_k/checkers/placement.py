"""Decide, from the code of tests alone, whether they have to run in the process of their program.

Tests that only call a program and compare values have a process of their own, so that the program
cannot read or change them. Where the rules here miss what tests do, a correct program may fail, but
no incorrect one passes. Only `examiner.py` notices that tests pass their own objects to a program.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from typing import TypeVar

# Modules that only work with values. Other modules may change the interpreter of a program, or
# look at its objects.
_PURE_MODULES = {
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
_OF_INTERPRETER = (ast.Await, ast.AsyncFor, ast.AsyncWith, ast.TryStar, ast.MatchClass)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BINDING = (*DEFINITIONS, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
# Modules that programs import for their tests, as in MBPP. Modules such as datetime and copy are
# left out, because they have a function of the same name, which may be meant.
_BORROWED = {"np": "numpy", "numpy": "numpy"} | {
    name: name
    for name in (
        *("math", "cmath", "collections", "itertools", "functools", "operator", "random", "re"),
        *("string", "statistics", "heapq", "json", "fractions", "decimal"),
    )
}

_Node = TypeVar("_Node", bound=ast.AST)


class Uses:
    """Finds out what tests do with names of a program, its objects, and modules.

    A name of the program is one that the tests do not bind or import, and that is not builtin.
    """

    def __init__(self, tree: ast.AST):
        self.nodes = [tree]
        self._parents: dict[ast.AST, ast.AST] = {}
        for node in self.nodes:  # which grows
            children = [*ast.iter_child_nodes(node)]
            self._parents |= dict.fromkeys(children, node)
            self.nodes += children
        self.imported = dict(_imports(self.nodes))  # paths, such as {"mean": "statistics.mean"}
        owners = {_name(attribute.value) for attribute in self.of(ast.Attribute)}
        names = (owners & _BORROWED.keys()) - self.imported.keys()
        self.borrowed = {name: _BORROWED[name] for name in names}  # used without an import
        self._paths = self.borrowed | self.imported
        self._bound = {*_bound_names(self.nodes)}
        self._managers = {_name(item.optional_vars) for item in self.of(ast.withitem)} - {""}
        parameters = {parameter.arg for parameter in self.of(ast.arg)}
        functions = {function.name for function in self.of(ast.FunctionDef)}
        self._functions = functions - parameters  # without fixtures, whose values tests get

    def of(self, *kinds: type[_Node]) -> list[_Node]:
        """Return the nodes of some kinds."""
        return [node for node in self.nodes if isinstance(node, kinds)]

    def need_interpreter(self) -> bool:
        """Return whether the tests have to run in the process of their program."""
        reaching = _REACHING - self._bound
        rules = {
            ast.Name: [lambda node: node.id in reaching, self._needs_process_of_program],
            ast.arg: [lambda node: node.arg in _FIXTURES],
            ast.Attribute: [self._is_attribute_of_an_object],
            ast.Call: [self._makes_an_object, self._has_an_effect],
            ast.Compare: [_compares_identities],
            ast.comprehension: [lambda node: node.is_async],
            ast.withitem: [self._has_another_manager],
        }
        if self._imports_others() or self.of(*_OF_INTERPRETER):
            return True
        return any(rule(node) for node in self.nodes for rule in rules.get(type(node), ()))

    # --- Names and modules ----------------------------------------------------------------

    def _imports_others(self) -> bool:
        """Return whether tests import a module or function that may do more than compute."""
        return any(
            path.partition(".")[0] not in _PURE_MODULES
            or not _NEEDING_INTERPRETER.isdisjoint(path.split("."))
            for path in self._paths.values()
        )

    def _is_of_program(self, name: str) -> bool:
        """Return whether a name can only be one of the program."""
        known = name in self._bound or name in self._paths or hasattr(builtins, name)
        return not known and name[:2] != "__"

    def _path(self, node: ast.AST) -> str | None:
        """Return the dotted path of a name or attribute of a module, such as "math.pi", or None."""
        if isinstance(node, ast.Attribute):
            path = self._path(node.value)
            return path and f"{path}.{node.attr}"
        return self._paths.get(_name(node))

    def _is_called(self, node: ast.AST) -> bool:
        """Return whether a node is the function of a call."""
        parent = self._parents.get(node)
        return isinstance(parent, ast.Call) and parent.func is node

    def _has_method_called(self, node: ast.AST) -> bool:
        """Return whether the tests call a method of the object that a node stands for."""
        parent = self._parents.get(node)
        return isinstance(parent, ast.Attribute) and self._is_method(parent)

    def _is_method(self, node: ast.Attribute) -> bool:
        """Return whether an attribute is called, or assigned to a name that is only called."""
        if self._is_called(node):
            return True
        target = self._target(self._parents[node])
        return bool(target) and all(map(self._is_called, self._uses(target)))

    def _uses(self, target: str) -> list[ast.expr]:
        """Return the nodes that read a variable, or an attribute of a test, of this name."""
        nodes: list[ast.Name | ast.Attribute] = [*self.of(ast.Name), *self.of(ast.Attribute)]
        return [
            node for node in nodes if isinstance(node.ctx, ast.Load) and _own_name(node) == target
        ]

    def _needs_process_of_program(self, node: ast.Name) -> bool:
        """Return whether the tests do more with a name of the program than call it or pass it on.

        They may assign a function to a name, or pass it to a function of the program or the tests,
        or to one that only calls it, such as `map`. A class (with a capital) they may only call.
        """
        if not isinstance(node.ctx, ast.Load) or not self._is_of_program(node.id):
            return False
        parent = self._parents[node]
        if self._is_called(node):
            return False
        if isinstance(parent, ast.Assign):
            return node.id[0].isupper() or not all(map(_name, parent.targets))
        if isinstance(parent, ast.keyword):
            parent = self._parents[parent]
        if not isinstance(parent, ast.Call) or node.id[0].isupper():
            return True
        function = _name(parent.func) or getattr(parent.func, "attr", "")
        if function in _RAISING:
            return node not in parent.args[1:]
        is_known = function in self._functions or self._is_of_program(function)
        return not is_known and function not in _CALLING

    # --- Objects --------------------------------------------------------------------------

    def _is_class(self, node: ast.AST) -> bool:
        """Return whether a node calls a name of the program with a capital, so probably a class."""
        name = _name(node.func) if isinstance(node, ast.Call) else ""
        return name[:1].isupper() and self._is_of_program(name)

    def _makes_an_object(self, node: ast.Call) -> bool:
        """Return whether a call makes an object with which tests do more than call its methods."""
        parent = self._parents[node]
        if not self._is_class(node) or isinstance(parent, ast.Expr):
            return False
        if self._has_method_called(node):
            return False
        if isinstance(parent, ast.Compare):  # in `assert Sum([1, 2]) == 3` it is a function
            is_alone = sum(map(self._is_class, ast.walk(parent))) == 1
            return not (is_alone and all(isinstance(op, ast.Eq) for op in parent.ops))
        target = self._target(parent)
        return not (target and all(map(self._has_method_called, self._uses(target))))

    def _target(self, node: ast.AST) -> str:
        """Return the only name that a statement assigns to, or the fixture that it ends, or ""."""
        if isinstance(node, ast.AnnAssign):
            return _own_name(node.target)
        if isinstance(node, ast.Assign):
            return _own_name(node.targets[0]) if len(node.targets) == 1 else ""
        if not isinstance(node, (ast.Return, ast.Yield)):
            return ""
        while not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            node = self._parents[node]
        is_fixture = any("fixture" in ast.unparse(decorator) for decorator in node.decorator_list)
        return node.name if is_fixture else ""

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
            owner in ("self", "cls", "request")
            or owner in self._managers
            or hasattr(builtins, owner)
            or self._is_method(node)
            or self._path(node) is not None
            or isinstance(node.value, ast.Constant)
            or node.attr in _ATTRIBUTES_OF_VALUES
        )

    # --- Effects --------------------------------------------------------------------------

    def _has_an_effect(self, node: ast.Call) -> bool:
        """Return whether a function of a module is called for its effect, such as `random.seed`."""
        path = self._path(node.func)
        if path is None or path.startswith(("pytest", "unittest", "numpy.testing")):
            return False
        # Apart, the effect would not reach the program, and would last for later tests.
        is_setting = path.rpartition(".")[2].startswith(("set", "seed"))
        return is_setting or isinstance(self._parents[node], ast.Expr)

    def _has_another_manager(self, node: ast.withitem) -> bool:
        """Return whether a context manager is neither one of pytest nor a method of `self`."""
        manager = node.context_expr
        function = manager.func if isinstance(manager, ast.Call) else manager
        path = self._path(function) or ""
        is_of_test = isinstance(function, ast.Attribute) and _name(function.value) == "self"
        return not (is_of_test or path.startswith("pytest"))


def _name(node: ast.AST | None) -> str:
    """Return the name of a variable, or "" for anything else."""
    return node.id if isinstance(node, ast.Name) else ""


def _own_name(node: ast.AST) -> str:
    """Return the name of a variable, or of an attribute of a test; "" for anything else."""
    if isinstance(node, ast.Attribute) and _name(node.value) in ("self", "cls"):
        return node.attr
    return _name(node)


def _compares_identities(node: ast.Compare) -> bool:
    """Return whether a comparison has `is` or `is not` before anything but a constant."""
    # Tests in another process get copies of the program's values, which are never identical.
    sides = [node.left, *node.comparators]
    return any(
        isinstance(op, (ast.Is, ast.IsNot)) and not isinstance(side, ast.Constant)
        for op, side in zip(node.ops, sides[1:], strict=True)
    )


def _imports(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield pairs of an imported name and its path: ("pi", "math.pi"), or ("math.*", "math.*")."""
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (first, first)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                path = f"{node.module}.{alias.name}"
                name = path if alias.name == "*" else alias.asname or alias.name
                yield name, path


def _bound_names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names that nodes bind: of variables, parameters, functions and classes."""
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, _BINDING) and node.name:
            yield node.name
