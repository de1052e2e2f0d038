"""Where tests run: in a process of their own, or in that of their program.

In a process of their own, tests call functions of a program and methods of its objects, and compare
values: what they expect stays there. Tests that do more run in the process of the program, which
can read and change them. The code of the tests alone decides that, so that no program can choose.
A rule that does not see what tests do costs a correct program its pass, and forges none.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

# What works with values alone. Other modules may change the interpreter of a program, or look at
# its objects.
_PURE_MODULES = frozenset(
    (
        *("bisect", "calendar", "cmath", "collections", "copy", "datetime", "decimal", "enum"),
        *("fractions", "functools", "hashlib", "heapq", "itertools", "json", "math", "numbers"),
        *("numpy", "operator", "pytest", "random", "re", "statistics", "string", "textwrap"),
        *("time", "typing", "unittest", "__future__"),
    )
)
# Builtin functions that look at objects, or reach into the interpreter.
_REACHING = frozenset(
    (
        *("exec", "eval", "compile", "globals", "locals", "vars", "input", "open", "id", "dir"),
        *("getattr", "setattr", "hasattr", "delattr", "__import__", "ExceptionGroup"),
    )
)
_FIXTURES = frozenset(
    (
        *("capsys", "capfd", "capsysbinary", "capfdbinary", "caplog", "monkeypatch", "recwarn"),
        *("tmp_path", "tmp_path_factory", "tmpdir", "tmpdir_factory"),
    )
)
# Of unittest and pytest, which would watch the process of the program; and what makes a class.
_NEEDING_INTERPRETER = frozenset(
    (
        *("mock", "warns", "deprecated_call", "MonkeyPatch", "assertWarns", "assertWarnsRegex"),
        *("assertLogs", "assertNoLogs", "namedtuple"),
    )
)
# Other than methods, of numbers, dates, arrays and exceptions.
_ATTRIBUTES_OF_VALUES = frozenset(
    (
        *("real", "imag", "numerator", "denominator", "year", "month", "day", "hour", "minute"),
        *("second", "microsecond", "tzinfo", "days", "seconds", "microseconds", "shape", "dtype"),
        *("size", "ndim", "T", "start", "stop", "step", "maxlen", "default_factory", "args"),
    )
)
# Functions that do nothing with a function but call it.
_CALLING = frozenset(("map", "filter", "sorted", "min", "max", "reduce", "partial", "callable"))
_RAISING = frozenset(("assertRaises", "assertRaisesRegex", "raises"))
_MAKING_ITERATORS = frozenset(("iter", "map", "filter", "zip", "enumerate", "reversed"))
_MAKING_OBJECTS = (
    *("itertools.", "functools.partial", "random.Random", "numpy.random.default_rng"),
    *("numpy.random.RandomState", "re.compile", "operator.itemgetter", "operator.attrgetter"),
)
_OF_INTERPRETER = (ast.Await, ast.AsyncFor, ast.AsyncWith, ast.TryStar, ast.MatchClass)
_BINDING = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
    *(ast.ExceptHandler, ast.MatchAs, ast.MatchStar),
)
_DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Starred)


def needs_interpreter(tree: ast.AST, borrowed: Mapping[str, str]) -> bool:
    """Return whether tests do what only the process of their program can do.

    Args:
        tree: the code of the tests.
        borrowed: the modules that they use without importing them, by their names there.
    """
    return _Uses(tree, borrowed).need_interpreter()


class _Uses:
    """What tests do with names of a program, its objects, and modules.

    A name of the program is one that the tests do not bind or import, and that is not builtin.
    """

    def __init__(self, tree: ast.AST, borrowed: Mapping[str, str]):
        self._nodes = [*ast.walk(tree)]
        self._parents = {
            child: node for node in self._nodes for child in ast.iter_child_nodes(node)
        }
        self._paths = {**borrowed, **imports(self._nodes)}  # dotted, by names
        self._bound = {*_bound_names(self._nodes)}
        self._managers = {
            item.optional_vars.id
            for item in self._nodes
            if isinstance(item, ast.withitem) and isinstance(item.optional_vars, ast.Name)
        }
        parameters = {node.arg for node in self._nodes if isinstance(node, ast.arg)}
        functions = {x.name for x in self._nodes if isinstance(x, ast.FunctionDef)}
        self._functions = functions - parameters  # without fixtures, whose values tests get
        self._unsendable = {*self._functions}
        self._unsendable |= {
            target
            for node in self._nodes
            if isinstance(node, ast.Assign) and self._cannot_be_sent(node.value)
            for target in map(_name, node.targets)
        }

    def need_interpreter(self) -> bool:
        """Return whether one of the rules below holds for a part of the code."""
        rules = {
            ast.Name: [self._is_reaching, self._is_more_than_called],
            ast.arg: [lambda node: node.arg in _FIXTURES],
            ast.Attribute: [self._is_attribute_of_an_object],
            ast.Call: [self._makes_an_object, self._sends_an_object, self._has_an_effect],
            ast.ClassDef: [lambda node: node.name not in self._test_classes()],
            ast.Compare: [_compares_identities],
            ast.comprehension: [lambda node: node.is_async],
            ast.withitem: [self._has_a_manager_of_others],
        }
        if self._imports_others() or any(isinstance(x, _OF_INTERPRETER) for x in self._nodes):
            return True
        return any(rule(node) for node in self._nodes for rule in rules.get(type(node), ()))

    # --- Names and modules ----------------------------------------------------------------

    def _imports_others(self) -> bool:
        """Return whether tests import modules that may do more than compute."""
        return any(
            path.partition(".")[0] not in _PURE_MODULES
            or not _NEEDING_INTERPRETER.isdisjoint(path.split("."))
            for path in self._paths.values()
        )

    def _is_reaching(self, node: ast.Name) -> bool:
        return node.id in _REACHING and node.id not in self._bound

    def _is_of_program(self, name: str) -> bool:
        known = name in self._bound or name in self._paths or hasattr(builtins, name)
        return not known and name[:2] != "__"

    def _path(self, node: ast.AST) -> str | None:
        """Return the dotted path of a name or an attribute of a module, or None for others."""
        if isinstance(node, ast.Attribute):
            path = self._path(node.value)
            return path and f"{path}.{node.attr}"
        return self._paths.get(_name(node))

    def _is_called(self, node: ast.AST) -> bool:
        parent = self._parents.get(node)
        return isinstance(parent, ast.Call) and parent.func is node

    def _is_asked(self, node: ast.AST) -> bool:
        """Return whether a method of an object is called."""
        parent = self._parents.get(node)
        return isinstance(parent, ast.Attribute) and self._is_method(parent)

    def _is_method(self, node: ast.Attribute) -> bool:
        """Return whether an attribute is called, or gets a name that is only called."""
        if self._is_called(node):
            return True
        target = self._target(self._parents[node])
        return bool(target) and all(map(self._is_called, self._uses(target)))

    def _uses(self, target: str) -> list[ast.expr]:
        """Return where tests read what is assigned to a target."""
        return [
            node
            for node in self._nodes
            if isinstance(node, (ast.Name, ast.Attribute))
            and isinstance(node.ctx, ast.Load)
            and _own_name(node) == target
        ]

    def _is_more_than_called(self, node: ast.Name) -> bool:
        """Return whether tests use a name of the program as more than a function.

        Its value is a copy, or an object that has no attributes in the process of the tests.
        """
        if not isinstance(node.ctx, ast.Load) or not self._is_of_program(node.id):
            return False
        parent = self._parents[node]
        if self._is_called(node):  # a decorator would be given a function of the tests
            return isinstance(self._parents[parent], _BINDING)
        if isinstance(parent, ast.Assign):
            return node.id[0].isupper() or not all(map(_name, parent.targets))
        if isinstance(parent, ast.keyword):
            parent = self._parents[parent]
        if not isinstance(parent, ast.Call) or node.id[0].isupper():
            return True
        function = _name(parent.func) or getattr(parent.func, "attr", "")
        if function in _RAISING:
            return node not in parent.args[1:]
        of_tests = function in self._functions or self._is_of_program(function)
        return not of_tests and function not in _CALLING

    # --- Objects --------------------------------------------------------------------------

    def _is_class(self, node: ast.AST) -> bool:
        """Return whether a call seems to make an object of a class of the program."""
        name = _name(node.func) if isinstance(node, ast.Call) else ""
        return name[:1].isupper() and self._is_of_program(name)

    def _makes_an_object(self, node: ast.Call) -> bool:
        """Return whether tests do more with an object that they make than to call its methods."""
        parent = self._parents[node]
        if not self._is_class(node) or isinstance(parent, ast.Expr) or self._is_asked(node):
            return False
        if isinstance(parent, ast.Compare):  # in `assert Sum([1, 2]) == 3` it is a function
            is_alone = sum(map(self._is_class, ast.walk(parent))) == 1
            return not (is_alone and all(isinstance(op, ast.Eq) for op in parent.ops))
        target = self._target(parent)
        return not (target and all(map(self._is_asked, self._uses(target))))

    def _target(self, node: ast.AST) -> str:
        """Return the name that gets a value, also as that of a fixture; "" if it is not one."""
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
        """Return whether tests read or set an attribute of what may be an object of the program.

        Attributes of values are here, as well as those of the tests themselves and of modules.
        """
        of = _name(node.value)
        if not isinstance(node.ctx, ast.Load):
            return of not in ("self", "cls")
        if node.attr in _NEEDING_INTERPRETER:
            return True
        if node.attr[:2] == "__":
            return not (isinstance(node.value, ast.Call) and _name(node.value.func) == "super")
        is_here = of in ("self", "cls", "request") or of in self._managers or hasattr(builtins, of)
        return not (
            is_here
            or self._is_method(node)
            or self._path(node) is not None
            or isinstance(node.value, ast.Constant)
            or node.attr in _ATTRIBUTES_OF_VALUES
        )

    def _test_classes(self) -> set[str]:
        """Return the names of classes with tests. Objects of others may be for the program."""
        names: set[str] = set()
        for node in self._nodes:
            if isinstance(node, ast.ClassDef):
                bases = [self._path(base) or _name(base) for base in node.bases]
                is_case = any(base in names or base.endswith("TestCase") for base in bases)
                names |= {node.name} if is_case or node.name.startswith("Test") else set()
        return names

    def _sends_an_object(self, node: ast.Call) -> bool:
        """Return whether a call of the program is given a function or an iterator of tests."""
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        parts = (part for argument in arguments for part in _parts(argument))
        return any(map(self._cannot_be_sent, parts)) and self._is_call_of_program(node.func)

    def _is_call_of_program(self, function: ast.AST) -> bool:
        """Return whether a function may be the program's, or a method of one of its objects."""
        if isinstance(function, ast.Attribute):
            made: list[Any] = [
                node.value
                for node in self._nodes
                if isinstance(node, (ast.Assign, ast.AnnAssign))
                and self._target(node) == _own_name(function.value) != ""
            ]
            return any(map(self._is_class, [function.value, *made]))
        name = _name(function)
        return not (name in self._functions or name in self._paths or hasattr(builtins, name))

    def _cannot_be_sent(self, node: ast.AST) -> bool:
        """Return whether an expression is a function or an iterator that only the tests have."""
        if isinstance(node, ast.Attribute):  # a method, such as str.upper
            return hasattr(builtins, _name(node.value))
        if isinstance(node, ast.Call):
            path = self._path(node.func) or ""
            return _name(node.func) in _MAKING_ITERATORS or path.startswith(_MAKING_OBJECTS)
        return _name(node) in self._unsendable or isinstance(node, (ast.Lambda, ast.GeneratorExp))

    # --- Effects --------------------------------------------------------------------------

    def _has_an_effect(self, node: ast.Call) -> bool:
        """Return whether a function of a module is called for its effect, such as `random.seed`.

        It would not reach the program, and it would last for the next tests.
        """
        path = self._path(node.func)
        if path is None or path.startswith(("pytest", "unittest", "numpy.testing")):
            return False
        is_setting = path.rpartition(".")[2].startswith(("set", "seed"))
        return is_setting or isinstance(self._parents[node], ast.Expr)

    def _has_a_manager_of_others(self, node: ast.withitem) -> bool:
        """Return whether a context is not one of unittest or pytest."""
        manager = node.context_expr
        function = manager.func if isinstance(manager, ast.Call) else manager
        path = self._path(function) or ""
        is_of_test = isinstance(function, ast.Attribute) and _name(function.value) == "self"
        return not (is_of_test or path.startswith("pytest"))


def _name(node: ast.AST) -> str:
    """Return the name of a variable, or "" for anything else."""
    return node.id if isinstance(node, ast.Name) else ""


def _own_name(node: ast.AST) -> str:
    """Return the name of a variable, or of an attribute of a test; "" for anything else."""
    if isinstance(node, ast.Attribute) and _name(node.value) in ("self", "cls"):
        return node.attr
    return _name(node)


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """Yield an expression, or the parts of a list, a tuple, a set or a dict that is written out."""
    if isinstance(node, _DISPLAYS):
        for part in ast.iter_child_nodes(node):
            yield from _parts(part)
    else:
        yield node


def _compares_identities(node: ast.Compare) -> bool:
    """Return whether `is` compares more than None or another constant. Values are copies."""
    sides = [node.left, *node.comparators]
    return any(
        isinstance(op, (ast.Is, ast.IsNot)) and not isinstance(side, ast.Constant)
        for op, side in zip(node.ops, sides[1:], strict=True)
    )


def imports(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """Return the dotted path of each name that is imported."""
    paths = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                paths[alias.asname or first] = alias.name if alias.asname else first
        elif isinstance(node, ast.ImportFrom) and node.module:
            paths |= {x.asname or x.name: f"{node.module}.{x.name}" for x in node.names}
    return paths


def _bound_names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names of variables, parameters, functions and classes."""
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, _BINDING) and node.name:
            yield node.name
