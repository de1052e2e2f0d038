"""Finds the tests in a module that has run, as pytest and unittest find them, and runs them.

Classes of `unittest` are loaded and run by unittest. Functions `test*`, and methods `test*` of
classes `Test*`, are those of pytest: without parameters they need nothing but a call, and so pytest
does not have to be installed. Tests that import pytest, or take fixtures or functions of set-up,
are run by pytest itself.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import itertools
import os
import sys
import types
import unittest
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

from .program import exception_line

MODULE = "__main__"  # as in a script, so that what a file does only then runs as well
CODE = "module"  # the name of the test that is the code outside functions and classes
_FILE = "<tests>"


class UnusableTestsError(Exception):
    """Tests that no program can pass, with what is wrong with them."""


class _NoMain:
    """In place of `unittest.main`: its tests are found with all others."""

    def __init__(self, *arguments: Any, **options: Any):
        self.result = unittest.TestResult()

    def __bool__(self) -> bool:  # as a status of exit
        return False


class Result(unittest.TestResult):
    """What happened to each test.

    Attributes:
        ran: the names of the tests that ran.
        problem: how the first test failed, or None.
    """

    def __init__(self) -> None:
        super().__init__()
        self.ran: list[str] = []
        self._is_skipped = False
        self.problem: str | None = None

    def fails(self, name: str, problem: BaseException | str) -> None:
        """Note that a test failed."""
        if self.problem is not None:
            return
        text = last_line(problem) if isinstance(problem, BaseException) else problem
        is_alone = isinstance(problem, BaseException) and name in (CODE, "check")
        self.problem = text if is_alone else f"{name}: {text}"

    def startTest(self, test: Any) -> None:  # noqa: N802
        self._is_skipped = False

    def stopTest(self, test: Any) -> None:  # noqa: N802
        if not self._is_skipped:
            self.ran.append(name_of(test))

    def addError(self, test: Any, err: Any) -> None:  # noqa: N802
        self.fails(name_of(test), err[1])

    addFailure = addError  # noqa: N815

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:  # noqa: N802
        if err is not None:
            self.fails(name_of(test), err[1])

    def addSkip(self, test: Any, reason: str) -> None:  # noqa: N802
        self._is_skipped = True
        if not _skips_itself(test):
            self.fails(name_of(test), "was skipped, and so it did not pass")

    def addUnexpectedSuccess(self, test: Any) -> None:  # noqa: N802
        self.fails(name_of(test), "passed, and was expected to fail")


def name_of(test: Any) -> str:
    """Return the name of a test, without the parameters that it has."""
    return str(test.id()).removeprefix(f"{MODULE}.").partition("[")[0]


def run_tests(
    code: types.CodeType,
    linked: dict[str, Any],
    entry_point: str | None,
    is_test: bool,
    only_find: bool = False,
) -> Result:
    """Run the code of tests, and the tests that it defines.

    Args:
        code: the tests.
        linked: the values of the program that they use, by their names.
        entry_point: the function that `check` is called with, if the tests define one.
        is_test: whether the code outside functions and classes is a test itself.
        only_find: whether to run no test: `ran` has the names of those that would run.

    Raises:
        UnusableTestsError: if no program can pass the tests.
    """
    result, module = Result(), types.ModuleType(MODULE)
    space = vars(module)
    space |= {"__file__": "/tmp/tests.py", **linked}
    own_main, sys.modules[MODULE] = sys.modules[MODULE], module
    try:
        if (error := _problem_of_code(code, space)) is not None:
            if only_find:
                raise error
            result.fails(CODE, error)
            return result
        if is_test:
            result.ran.append(CODE)
        defined = {key: x for key, x in space.items() if key not in linked or x is not linked[key]}
        if entry_point is not None and inspect.isfunction(defined.get("check")):
            result.ran.append("check")
            if not only_find:
                _note_failure_of(
                    result, "check", lambda: defined["check"](_entry_point(space, entry_point))
                )
        if _needs_pytest(defined, code):
            if importlib.util.find_spec("pytest") is None:
                raise UnusableTestsError("have fixtures of pytest, which is not installed here")
            _run_with_pytest(module, defined, result, only_find)
        else:
            suite = _suite(module, defined)
            if only_find:
                result.ran += [
                    name_of(test) for test in _single_tests(suite) if not _skips_itself(test)
                ]
            else:
                _note_failure_of(result, CODE, lambda: suite.run(result))
        return result
    finally:
        sys.modules[MODULE] = own_main


def _problem_of_code(code: types.CodeType, space: dict[str, Any]) -> BaseException | None:
    """Run the code of tests, and return the exception that it raises, or None.

    The code may end with `sys.exit(0)`, but a program that exits does not pass its tests.
    """
    with _without_main():
        try:
            exec(code, space)
        except BaseException as error:
            is_exit = isinstance(error, SystemExit) and not error.code
            return None if is_exit and _raises(code, error) else error
    return None


def _note_failure_of(result: Result, name: str, call: Callable[[], Any]) -> None:
    """Make a call of a test, and note what it raises as the failure of the test."""
    try:
        call()
    except BaseException as error:
        result.fails(name, error)


def _entry_point(space: dict[str, Any], name: str) -> Any:
    """Return the function of a name such as "f" or "Solution.f"."""
    first, *attributes = name.split(".")
    if first not in space:
        raise NameError(f"name {name!r} is not defined")
    return functools.reduce(getattr, attributes, space[first])


@contextmanager
def _without_main() -> Any:
    """Let calls of `unittest.main` and `pytest.main` do nothing."""
    before, unittest.main = unittest.main, _NoMain  # type: ignore[assignment]
    pytest: Any = sys.modules.get("pytest")
    if pytest is not None:
        main_of_pytest, pytest.main = pytest.main, lambda *arguments, **options: 0
    try:
        yield
    finally:
        unittest.main = before
        if pytest is not None:
            pytest.main = main_of_pytest


def _raises(code: types.CodeType, error: BaseException) -> bool:
    """Whether code, or a function in it, raises an exception itself and calls nothing that does."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return last is not None and _contains(code, last.tb_frame.f_code)


def _contains(code: types.CodeType, inner: types.CodeType) -> bool:
    """Whether code is other code, or defines it at any depth."""
    nested = (x for x in code.co_consts if isinstance(x, types.CodeType))
    return code is inner or any(_contains(x, inner) for x in nested)


# --- Tests that need no pytest ------------------------------------------------------------


def _suite(module: types.ModuleType, defined: dict[str, Any]) -> unittest.TestSuite:
    """Return the tests of a module, among what it defines by name."""
    loader = unittest.TestLoader()
    if inspect.isfunction(defined.get("load_tests")):
        return loader.loadTestsFromModule(module)
    suite = unittest.TestSuite()
    for name, value in defined.items():
        if inspect.isfunction(value) and name.startswith("test"):
            suite.addTest(_Function(name, value))
        elif _is_case(value):
            suite.addTest(loader.loadTestsFromTestCase(value))
        elif _is_class_of_tests(name, value):
            for method in dir(value):
                if method.startswith("test"):
                    suite.addTest(_Function(f"{name}.{method}", getattr(value(), method)))
    return suite


def _is_case(value: Any) -> bool:
    """Whether a value is a class of tests, and none of unittest itself."""
    return (
        isinstance(value, type)
        and issubclass(value, unittest.TestCase)
        and value.__module__.partition(".")[0] != "unittest"
    )


def _is_class_of_tests(name: str, value: Any) -> bool:
    """Whether pytest would take a value for a class of tests, other than those of unittest."""
    return (
        isinstance(value, type)
        and name.startswith("Test")
        and not issubclass(value, unittest.TestCase)
        and getattr(value, "__test__", True)
        and value.__init__ is object.__init__
        and value.__new__ is object.__new__
    )


class _Function(unittest.FunctionTestCase):
    """A test that is a function, or a bound method; a coroutine function is awaited."""

    def __init__(self, name: str, function: Any):
        super().__init__(function)
        self._name, self._function = name, function

    def runTest(self) -> None:  # noqa: N802
        if inspect.iscoroutinefunction(self._function):
            import asyncio

            asyncio.run(self._function())
        else:
            self._function()

    def id(self) -> str:
        return self._name


def _single_tests(suite: Any) -> list[Any]:
    """Return the tests of a suite, and of the suites in it."""
    if not isinstance(suite, unittest.BaseTestSuite):
        return [suite]
    return [test for part in suite for test in _single_tests(part)]


def _skips_itself(test: Any) -> bool:
    """Whether a decorator of the test or of its class skips it."""
    method = getattr(test, getattr(test, "_testMethodName", ""), None)
    return any(getattr(what, "__unittest_skip__", False) for what in (test, method))


# --- Tests that pytest runs ---------------------------------------------------------------

_SET_UP = ("setup_", "teardown_", "pytest_plugins")


def _needs_pytest(defined: dict[str, Any], code: types.CodeType) -> bool:
    """Whether tests use pytest, its set-up or fixtures, or have classes of tests in a class.

    Args:
        defined: what the module of the tests defines, by name.
        code: of the module.
    """
    if "pytest" in code.co_names:
        return True
    members = [*defined.items()]
    for name, value in defined.items():
        if _is_class_of_tests(name, value):
            # A property of an instance may need what a set-up makes, and one of a class does not.
            entries = ((key, getattr(value, key, None)) for key in dir(value) if key[:2] != "__")
            members += [(key, _method_without_self(value, key, entry)) for key, entry in entries]
    nested = (key for key, x in members[len(defined) :] if _is_class_of_tests(key, x))
    return any(nested) or any(itertools.starmap(_is_set_up_or_has_fixtures, members))


def _method_without_self(kind: type, name: str, entry: Any) -> Any:
    """Return an entry of a class as an instance has it, if it is a method, or as it is."""
    is_method = isinstance(inspect.getattr_static(kind, name, None), types.FunctionType)
    return types.MethodType(entry, kind) if is_method else entry


def _is_set_up_or_has_fixtures(name: str, value: Any) -> bool:
    """Whether a name of a module or class is a test with parameters, or a set-up of pytest."""
    if not name.startswith("test") or not (inspect.isfunction(value) or inspect.ismethod(value)):
        return name == "pytestmark" or (name.startswith(_SET_UP) and callable(value))
    parameters = inspect.signature(value).parameters.values()
    return any(parameter.default is parameter.empty for parameter in parameters)


def _run_with_pytest(
    module: types.ModuleType, defined: dict[str, Any], result: Result, only_find: bool
) -> None:
    """Collect and run the tests of a module by pytest, which reads no file and no settings.

    `defined` is what the module defines, by name. Its other names are those of the program.
    """
    import pytest

    for name in {*vars(module)} - {*defined}:
        if name.lower().startswith("test"):
            vars(module).pop(name)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    # pytest reads the folder of a file, and a program must not be able to write to it.
    path = os.__file__
    options = ["-q", "-s", "--assert=plain", "-p", "no:cacheprovider", "-c", os.devnull]
    options += ["-W", "ignore", "--noconftest", *(["--collect-only"] if only_find else [])]
    plugin = _Plugin(module, result, only_find)
    pytest.hookimpl(wrapper=True)(_Plugin.pytest_runtest_makereport)
    pytest.hookimpl(tryfirst=True)(_Plugin.pytest_pyfunc_call)
    status = pytest.main([*options, "--rootdir", os.path.dirname(path), path], [plugin])
    if plugin.problem is not None:
        raise UnusableTestsError(plugin.problem)
    if status not in (0, 1, 5):
        result.fails(CODE, f"pytest ended with status {status}")


class _Plugin:
    """Hooks of pytest, which give it a module instead of a file, and note what happens.

    Attributes:
        problem: why no program can pass the tests, or None.
    """

    def __init__(self, module: types.ModuleType, result: Result, only_find: bool):
        self._module, self._result, self._only_find = module, result, only_find
        self.problem: str | None = None

    def pytest_pycollect_makemodule(self, module_path: Any, parent: Any) -> Any:
        import pytest

        module = self._module

        class Tests(pytest.Module):
            def _getobj(self) -> Any:
                return module

        return Tests.from_parent(parent, path=module_path)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.problem = f"cannot be collected by pytest: {report.longrepr}"

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        for item in items:
            if (name := _unknown_parameter(item)) is not None:
                self.problem = (
                    f"have the test {item.name} with the parameter {name}, which is no fixture of "
                    f"pytest"
                )
            if self._only_find and not _is_marked_to_skip(item):
                self._result.ran.append(_name_of_item(item))

    def pytest_pyfunc_call(self, pyfuncitem: Any) -> bool | None:
        """Await a coroutine function."""
        if not inspect.iscoroutinefunction(pyfuncitem.obj):
            return None
        import asyncio

        names = pyfuncitem._fixtureinfo.argnames
        asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
        return True

    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        report, name = (yield), _name_of_item(item)
        if report.when == "call":
            self._result.ran.append(name)
        if report.failed:
            problem = call.excinfo.value if call.excinfo else str(report.longrepr)
            self._result.fails(name, problem)
        elif report.skipped:
            is_expected = hasattr(report, "wasxfail") and item.get_closest_marker("xfail")
            if not (is_expected or _is_marked_to_skip(item)):
                self._result.fails(name, "was skipped, and so it did not pass")
        return report


def _unknown_parameter(item: Any) -> str | None:
    """Return a parameter of a test that has no values and is no fixture, or None."""
    fixtures = item._fixtureinfo
    for name in fixtures.argnames:
        has_values = hasattr(item, "callspec") and name in item.callspec.params
        if not (has_values or name in fixtures.name2fixturedefs or name == "request"):
            return name
    return None


def _is_marked_to_skip(item: Any) -> bool:
    from _pytest.skipping import evaluate_skip_marks

    return evaluate_skip_marks(item) is not None


def _name_of_item(item: Any) -> str:
    """Return the name of a test of pytest, such as "TestSum.test_one", without parameters."""
    return item.nodeid.partition("::")[2].replace("::", ".").partition("[")[0]


def last_line(error: BaseException) -> str:
    """Return the last line of the traceback; for an assertion without a message, its test."""
    line, traceback = exception_line(error), error.__traceback__
    if line == "AssertionError":
        while traceback is not None:
            if traceback.tb_frame.f_code.co_filename == _FILE:
                line = f"AssertionError: {_source[0].splitlines()[traceback.tb_lineno - 1].strip()}"
            traceback = traceback.tb_next
    return line.splitlines()[0][:500]


_source: list[str] = []


def remember(source: str) -> None:
    """Keep the text of tests, for the lines that fail."""
    _source[:] = [source]
