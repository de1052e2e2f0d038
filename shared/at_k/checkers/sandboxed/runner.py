"""Find tests in code as pytest and unittest find them, run them, and note what happens to each.

unittest runs its own classes and functions `test*` without parameters. pytest runs all tests of
code that imports it, or that has fixtures, set-up, coroutine functions or classes `Test*`.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import importlib.util
import inspect
import linecache
import os
import sys
import traceback
import types
import unittest
from collections.abc import Callable, Collection
from typing import Any

from .program import exception_line

MODULE = "__main__"  # as in a script, so that what a file does only then runs as well
CODE = "module"  # the name of the test that is the code outside functions and classes
_FILE = "<tests>"


class UnusableTestsError(Exception):
    """No program can pass the tests. The text says why, and lacks a subject: "need pytest, ..."."""


class _NoMain:
    """Replaces `main` of unittest and pytest, which would load files: all tests run anyway."""

    def __init__(self, *arguments: Any, **options: Any):
        self.result = unittest.TestResult()

    def __bool__(self) -> bool:  # as a status of exit
        return False


class Result(unittest.TestResult):
    """Collects what happened to the tests of a question."""

    def __init__(self, only_find: bool) -> None:
        super().__init__()
        self.only_find = only_find  # whether no test is run
        self.ran: list[str] = []  # the names of the tests that ran, or would run
        self.problem: str | None = None  # how the first test failed
        self._is_skipped = False

    def fails(self, name: str, problem: BaseException | str) -> None:
        """Note that a test failed, with an exception or a text; only the first failure is kept."""
        if self.problem is not None:
            return
        text = failure_line(problem) if isinstance(problem, BaseException) else problem
        # There is only one test of each of these names, so an exception needs no name.
        needs_no_name = isinstance(problem, BaseException) and name in (CODE, "check")
        self.problem = text if needs_no_name else f"{name}: {text}"

    def call(self, name: str, function: Callable[[], Any]) -> None:
        """Call a function, and note an exception that it raises as the failure of a test."""
        try:
            function()
        except BaseException as error:
            self.fails(name, error)

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
    """Return the name of a test of unittest, such as "TestSum.test_one"."""
    return str(test.id()).removeprefix(f"{MODULE}.")


def find_tests(job: dict[str, Any]) -> dict[str, Any]:
    """Find the tests in code, with mock objects in place of the names of a program.

    Return a dict with `ran`, the names of the tests, or None if only a program can show them; and
    `problem`, a text on why no program can pass the tests, or None.
    """
    from unittest.mock import MagicMock

    tree = ast.parse(job["tests"])  # without assertions that need a program
    tree.body = [node for node in tree.body if not isinstance(node, ast.Assert)]
    stubs = {name: MagicMock() for name in {*job["names"]} - {*dir(builtins)}}
    module = types.ModuleType("tests")
    vars(module).update(stubs)
    try:
        result = run_tests(job | {"tests": ast.unparse(tree)}, module)
    except UnusableTestsError as error:
        return {"ran": [], "problem": str(error)}
    except BaseException:
        return {"ran": None, "problem": None}
    return {"ran": result.ran, "problem": None}


def run_tests(job: dict[str, Any], module: types.ModuleType) -> Result:
    """Run the code of tests in a module, then the tests that it defines, and return the results.

    The module already has the names of the program. `job` is the examiner's, see `Tests.jobs`. If
    its form is "find", the tests that the code defines are only listed, and what it raises is
    raised. An UnusableTestsError is raised if no program can pass the tests.
    """
    source = job["tests"]
    code = compile(source, _FILE, "exec", dont_inherit=True)
    linecache.cache[_FILE] = (len(source), None, source.splitlines(keepends=True), _FILE)
    result, space = Result(job["form"] == "find"), vars(module)
    space |= {"__name__": MODULE, "__file__": "/tmp/tests.py"}
    before = dict(space)
    own_main, sys.modules[MODULE] = sys.modules[MODULE], module
    try:
        # Files of tests often call main. pytest may be missing if the code does not import it.
        for name in {"unittest", "pytest"} & {"unittest", *job["modules"]}:
            importlib.import_module(name).main = _NoMain  # type: ignore[attr-defined]
        error = _problem_of_code(code, space)
        if error is None:
            if job["is_test"]:
                result.ran.append(CODE)
            defined = {
                name: value
                for name, value in space.items()
                if name not in before or value is not before[name]
            }
            _run_defined_tests(job, module, defined, result)
        elif result.only_find:
            raise error
        else:
            result.fails(CODE, error)
        return result
    finally:
        sys.modules[MODULE] = own_main


def _run_defined_tests(
    job: dict[str, Any], module: types.ModuleType, defined: dict[str, Any], result: Result
) -> None:
    """Run (or find) the tests in `defined`, the names that their code defines; add to `result`."""
    check, entry_point = defined.get("check"), job["entry_point"]
    if entry_point is not None and inspect.isfunction(check):
        result.ran.append("check")
        if not result.only_find:
            result.call("check", lambda: check(_tested_object(vars(module), entry_point)))
    if "pytest" in job["modules"] or any(_needs_pytest(*item) for item in defined.items()):
        if importlib.util.find_spec("pytest") is None:
            raise UnusableTestsError("need pytest, which is not installed here")
        _run_with_pytest(module, defined, result)
        return
    suite = _suite(module, defined)
    if result.only_find:
        tests = _single_tests(suite)
        result.ran += [name_of(test) for test in tests if not _skips_itself(test)]
    else:
        result.call(CODE, lambda: suite.run(result))


def _problem_of_code(code: types.CodeType, space: dict[str, Any]) -> BaseException | None:
    """Run the code of tests in the namespace `space`; return the exception it raises, or None."""
    try:
        exec(code, space)
    except BaseException as error:
        # Tests may end with `sys.exit(0)`, but a program that calls it does not pass them.
        is_success = isinstance(error, SystemExit) and not error.code
        return None if is_success and _is_raised_by(code, error) else error
    return None


def _tested_object(space: dict[str, Any], name: str) -> Any:
    """Return the object in `space` with a name such as "f" or "Solution.f"."""
    first, *attributes = name.split(".")
    if first not in space:
        raise NameError(f"name {name!r} is not defined")
    return functools.reduce(getattr, attributes, space[first])


def _is_raised_by(code: types.CodeType, error: BaseException) -> bool:
    """Return whether an exception was raised by code itself, or by a function that it defines."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return last is not None and _contains(code, last.tb_frame.f_code)


def _contains(code: types.CodeType, inner: types.CodeType) -> bool:
    """Return whether code is `inner`, or defines it at any depth."""
    nested = (value for value in code.co_consts if isinstance(value, types.CodeType))
    return code is inner or any(_contains(part, inner) for part in nested)


# --- Tests that need no pytest ------------------------------------------------------------


def _suite(module: types.ModuleType, defined: dict[str, Any]) -> unittest.TestSuite:
    """Return the tests among the names that the code of tests has defined, as a suite."""
    loader = unittest.TestLoader()
    if inspect.isfunction(defined.get("load_tests")):
        return loader.loadTestsFromModule(module)
    suite = unittest.TestSuite()
    for name, value in defined.items():
        if inspect.isfunction(value) and name.startswith("test"):
            suite.addTest(unittest.FunctionTestCase(value))
        elif _is_own_class(value) and issubclass(value, unittest.TestCase):
            suite.addTest(loader.loadTestsFromTestCase(value))
    return suite


def _is_own_class(value: Any) -> bool:
    """Return whether a value is a class that the tests define."""
    return isinstance(value, type) and value.__module__ == MODULE


def _single_tests(suite: Any) -> list[Any]:
    """Return a list of the tests of a suite, and of the suites in it."""
    if not isinstance(suite, unittest.BaseTestSuite):
        return [suite]
    return [test for part in suite for test in _single_tests(part)]


def _skips_itself(test: Any) -> bool:
    """Return whether a `skip` decorator of a test of unittest, or of its class, skips the test."""
    method = getattr(test, getattr(test, "_testMethodName", ""), None)
    return any(getattr(what, "__unittest_skip__", False) for what in (test, method))


# --- Tests that pytest runs ---------------------------------------------------------------

_SET_UP = ("setup_", "teardown_", "pytest_plugins")


def _needs_pytest(name: str, value: Any) -> bool:
    """Return whether a definition in the code of tests needs pytest to run."""
    if _is_own_class(value):
        return name.startswith("Test") and not issubclass(value, unittest.TestCase)
    if not name.startswith("test") or not inspect.isfunction(value):
        return name == "pytestmark" or (name.startswith(_SET_UP) and callable(value))
    parameters = inspect.signature(value).parameters.values()
    has_parameters = any(parameter.default is parameter.empty for parameter in parameters)
    return has_parameters or inspect.iscoroutinefunction(value)


def _run_with_pytest(module: types.ModuleType, defined: dict[str, Any], result: Result) -> None:
    """Let pytest collect and run the tests of a module; pytest reads no file and no settings."""
    import pytest
    from _pytest.config import main

    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    # pytest reads the folder of a file, and a program must not be able to write to it.
    path = os.__file__
    options = ["-q", "-s", "--assert=plain", "-p", "no:cacheprovider", "-c", os.devnull]
    options += ["-W", "ignore", "--noconftest", *(["--setup-plan"] if result.only_find else [])]
    plugin = _Plugin(module, defined, result)
    # Decorators in the class would need pytest when this module is imported.
    pytest.hookimpl(wrapper=True)(_Plugin.pytest_runtest_makereport)
    pytest.hookimpl(tryfirst=True)(_Plugin.pytest_pyfunc_call)
    status = main([*options, "--rootdir", os.path.dirname(path), path], [plugin])
    if plugin.problem is not None:
        raise UnusableTestsError(plugin.problem)
    if status not in (0, 1, 5):  # other than all passed, some failed, and no tests
        result.fails(CODE, f"pytest ended with status {status}")


class _Plugin:
    """Hooks that give pytest a module instead of a file, and note what happens; see `Result`."""

    def __init__(self, module: types.ModuleType, defined: Collection[str], result: Result):
        self._module, self._defined, self._result = module, defined, result
        self.problem: str | None = None  # why no program can pass the tests

    def pytest_pycollect_makemodule(self, module_path: Any, parent: Any) -> Any:
        """Return a collector that takes the tests from the module instead of from a file."""
        import pytest

        module = self._module

        class Tests(pytest.Module):
            def _getobj(self) -> Any:
                return module

        return Tests.from_parent(parent, path=module_path)

    def pytest_pycollect_makeitem(self, collector: Any, name: str) -> Any:
        """Return [] for a name of the program, so that it is no test; None for others."""
        return [] if collector.obj is self._module and name not in self._defined else None

    def pytest_collectreport(self, report: Any) -> None:
        """Set `problem` if pytest cannot collect the tests."""
        if report.failed:
            self.problem = f"cannot be run by pytest: {report.longrepr}"

    def pytest_pyfunc_call(self, pyfuncitem: Any) -> bool | None:
        """Run a test that is a coroutine function; return None for others, which pytest runs."""
        if not inspect.iscoroutinefunction(pyfuncitem.obj):
            return None
        import asyncio

        names = pyfuncitem._fixtureinfo.argnames
        asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
        return True

    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        """Note that a test ran, failed or was skipped, and return the report of pytest."""
        from _pytest.skipping import evaluate_skip_marks

        report, only_find = (yield), self._result.only_find
        # The name of a test, such as "TestSum.test_one", without parameters.
        name = item.nodeid.partition("::")[2].replace("::", ".").partition("[")[0]
        if report.when == "call" or (only_find and report.when == "setup" and report.passed):
            self._result.ran.append(name)
        if report.failed and only_find:  # of fixtures that do not exist
            self.problem = f"cannot be run by pytest: {report.longrepr}"
        elif report.failed:
            problem = call.excinfo.value if call.excinfo else str(report.longrepr)
            self._result.fails(name, problem)
        elif report.skipped:
            is_expected = hasattr(report, "wasxfail") and item.get_closest_marker("xfail")
            if not is_expected and evaluate_skip_marks(item) is None:
                self._result.fails(name, "was skipped, and so it did not pass")
        return report


def failure_line(error: BaseException) -> str:
    """Return the class of an exception and the first line of its text, at most 500 characters."""
    line = exception_line(error)
    if line == "AssertionError":  # It has no message, so its source line in the tests is added.
        frames = traceback.extract_tb(error.__traceback__)
        lines_of_tests = [frame.line or "" for frame in frames if frame.filename == _FILE]
        line = ": ".join([line, *lines_of_tests[-1:]])
    return line.splitlines()[0][:500]
