"""Run tests in code, and note what happens to each: assertions, `check`, and tests by pytest.

pytest finds and runs test functions and classes, those of unittest too.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import importlib.util
import linecache
import os
import sys
import traceback
import types
from collections.abc import Collection
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
        import unittest

        self.result = unittest.TestResult()

    def __bool__(self) -> bool:  # as a status of exit
        return False


class Result:
    """What happened to the tests of a question.

    Attributes:
        only_find: whether no test is run; then `ran` has the tests that would run.
        ran: the names of the tests that ran.
        problem: how the first test failed, or None.
    """

    def __init__(self, only_find: bool) -> None:
        self.only_find = only_find
        self.ran: list[str] = []
        self.problem: str | None = None

    def fails(self, name: str, problem: BaseException | str) -> None:
        """Note that a test failed, with an exception or a text; only the first failure is kept."""
        if self.problem is not None:
            return
        text = last_line(problem) if isinstance(problem, BaseException) else problem
        is_alone = isinstance(problem, BaseException) and name in (CODE, "check")
        self.problem = text if is_alone else f"{name}: {text}"


def find_tests(exam: dict[str, Any]) -> dict[str, Any]:
    """Find the tests in code without a program: mock objects replace the names of the program.

    Return a dict with `ran`, the names of the tests, or None if only a program can show them; and
    `problem`, a text on why no program can pass the tests, or None.
    """
    import ast
    from unittest.mock import MagicMock

    tree = ast.parse(exam["tests"])  # without assertions that need a program
    tree.body = [node for node in tree.body if not isinstance(node, ast.Assert)]
    stubs = {name: MagicMock() for name in {*exam["names"]} - {*dir(builtins)}}
    module = types.ModuleType("tests")
    vars(module).update(stubs)
    try:
        result = run_tests(exam | {"tests": ast.unparse(tree)}, module, only_find=True)
    except UnusableTestsError as error:
        return {"ran": [], "problem": str(error)}
    except BaseException:
        return {"ran": None, "problem": None}
    return {"ran": result.ran, "problem": None}


def run_tests(exam: dict[str, Any], module: types.ModuleType, only_find: bool = False) -> Result:
    """Run the code of tests in a module, then the tests that it defines, and return the results.

    The module already has the names of the program. `exam` is that of `Tests.job`. With `only_find`
    the code runs, but the tests that it defines are only listed.

    Raises:
        UnusableTestsError: if no program can pass the tests.
        BaseException: the exception that the code raises, with `only_find`.
    """
    source = exam["tests"]
    code = compile(source, _FILE, "exec", dont_inherit=True)
    linecache.cache[_FILE] = (len(source), None, source.splitlines(keepends=True), _FILE)
    result, space = Result(only_find), vars(module)
    space |= {"__name__": MODULE, "__file__": "/tmp/tests.py"}
    exec(exam["missing_imports"], space)
    before = dict(space)
    own_main, sys.modules[MODULE] = sys.modules[MODULE], module
    try:
        for name in {"unittest", "pytest"} & {*exam["modules"]}:  # files of tests often call main
            importlib.import_module(name).main = _NoMain  # type: ignore[attr-defined]
        _run_code(code, space, result)
        if result.problem is None:
            if exam["is_test"]:
                result.ran.append(CODE)
            defined = {x: y for x, y in space.items() if x not in before or y is not before[x]}
            _run_check(defined.get("check"), exam["entry_point"], space, result)
            _run_with_pytest(module, defined, result)
        return result
    finally:
        sys.modules[MODULE] = own_main


def _run_code(code: types.CodeType, space: dict[str, Any], result: Result) -> None:
    """Run the code of tests, and note an exception that it raises, or raise it if `only_find`.

    The code may end with `sys.exit(0)`, but a program that exits does not pass its tests.
    """
    try:
        exec(code, space)
    except BaseException as error:
        *_, (frame, _) = traceback.walk_tb(error.__traceback__)
        is_exit = isinstance(error, SystemExit) and not error.code
        if is_exit and _contains(code, frame.f_code):
            return
        if result.only_find:
            raise
        result.fails(CODE, error)


def _contains(code: types.CodeType, inner: types.CodeType) -> bool:
    """Return whether code is `inner`, or defines it at any depth."""
    nested = (x for x in code.co_consts if isinstance(x, types.CodeType))
    return code is inner or any(_contains(x, inner) for x in nested)


def _run_check(check: Any, name: str | None, space: dict[str, Any], result: Result) -> None:
    """Call `check` of HumanEval with the object in `space` named `name`, as "f" or "Solution.f"."""
    if name is None or not isinstance(check, types.FunctionType):
        return
    result.ran.append("check")
    if result.only_find:
        return
    first, *attributes = name.split(".")
    try:
        if first not in space:
            raise NameError(f"name {name!r} is not defined")
        check(functools.reduce(getattr, attributes, space[first]))
    except BaseException as error:
        result.fails("check", error)


# --- Tests that pytest runs ---------------------------------------------------------------


# Parts of pytest that take much of the time of a small test.
_UNUSED_PLUGINS = (
    *("cacheprovider", "unraisableexception", "threadexception", "faulthandler", "junitxml"),
    *("pastebin", "doctest", "stepwise"),
)


def _run_with_pytest(module: types.ModuleType, defined: dict[str, Any], result: Result) -> None:
    """Let pytest collect and run the tests among the names that the code of tests defines.

    pytest reads no file and no settings.
    """
    if "load_tests" in defined:  # of unittest
        defined["test_suite"] = vars(module)["test_suite"] = functools.partial(_run_suite, module)
    if not any(_is_test(*item) for item in defined.items()):
        return
    if importlib.util.find_spec("pytest") is None:
        raise UnusableTestsError("need pytest, which is not installed here: pip install pytest")
    import pytest
    from _pytest.config import main

    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    # pytest reads the folder of a file, and a program must not be able to write to it.
    path = os.__file__
    options = ["-q", "-s", "--tb=native", "--assert=plain", "-W", "ignore", "--noconftest"]
    options += ["-c", os.devnull]
    options += [x for name in _UNUSED_PLUGINS for x in ("-p", f"no:{name}")]
    options += ["--setup-plan"] if result.only_find else []
    plugin = _Plugin(module, defined, result)
    pytest.hookimpl(wrapper=True)(_Plugin.pytest_runtest_makereport)
    pytest.hookimpl(tryfirst=True)(_Plugin.pytest_pyfunc_call)
    status = main([*options, "--rootdir", os.path.dirname(path), path], [plugin])
    if plugin.problem is not None:
        raise UnusableTestsError(f"cannot be run by pytest: {plugin.problem}")
    if status not in (0, 1, 5):
        result.fails(CODE, f"pytest ended with status {status}")


def _run_suite(module: types.ModuleType) -> None:
    """Load the tests of a module by its `load_tests`; raise an AssertionError unless all pass."""
    import unittest

    result = unittest.TestLoader().loadTestsFromModule(module).run(unittest.TestResult())
    problems = [text for _, text in result.failures + result.errors + result.skipped]
    assert not problems, problems[0]
    assert result.testsRun, "no test ran"
    assert result.wasSuccessful(), "a test passed, and was expected to fail"


def _is_test(name: str, value: Any) -> bool:
    """Return whether pytest takes a definition in the code of tests for tests."""
    if isinstance(value, type):
        is_case = "unittest" in sys.modules and issubclass(value, sys.modules["unittest"].TestCase)
        return value.__module__ == MODULE and (is_case or name.startswith("Test"))
    return name.startswith("test") and callable(value)


class _Plugin:
    """Hooks that give pytest a module instead of a file, and note what happens; see `Result`."""

    def __init__(self, module: types.ModuleType, defined: Collection[str], result: Result):
        self._module, self._defined, self._result = module, defined, result
        self.problem: Any = None  # why no program can pass the tests

    def pytest_ignore_collect(self, collection_path: Any) -> bool:
        """Return whether a path is another one than that which stands for the module."""
        return str(collection_path) not in (os.__file__, os.path.dirname(os.__file__))

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
            self.problem = report.longrepr

    def pytest_pyfunc_call(self, pyfuncitem: Any) -> bool | None:
        """Run a test that is a coroutine function; return None for others, which pytest runs."""
        import inspect

        if not inspect.iscoroutinefunction(pyfuncitem.obj):
            return None
        import asyncio

        names = pyfuncitem._fixtureinfo.argnames
        asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
        return True

    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        """Note that a test runs, fails or is skipped, and return the report of pytest."""
        report, result = (yield), self._result
        # The name of a test, such as "TestSum.test_one", without parameters.
        name = item.nodeid.partition("::")[2].replace("::", ".").partition("[")[0]
        if report.failed and result.only_find:  # of fixtures that do not exist
            self.problem = report.longrepr
        elif report.failed:
            problem = call.excinfo.value if call.excinfo else str(report.longrepr)
            result.fails(name, problem)
        elif report.skipped and not _may_be_skipped(item):
            result.fails(name, "was skipped, and so it did not pass")
        elif report.when == "setup" and report.passed and not _is_flagged(item, "skip"):
            result.ran.append(name)
        return report


def _may_be_skipped(item: Any) -> bool:
    """Return whether a decorator of a test, or of its class, skips it or expects it to fail."""
    from _pytest.skipping import evaluate_skip_marks

    is_marked = item.get_closest_marker("xfail") or evaluate_skip_marks(item) is not None
    return is_marked or _is_flagged(item, "skip") or _is_flagged(item, "expecting_failure")


def _is_flagged(item: Any, flag: str) -> bool:
    """Return whether a decorator of unittest has set a flag of a test, or of its class."""
    name = f"__unittest_{flag}__"
    own = [x for x in getattr(item.cls, "__mro__", ()) if x.__module__ == MODULE]
    return getattr(item.obj, name, False) or any(name in vars(x) for x in own)


def last_line(error: BaseException) -> str:
    """Return the first line of `exception_line` of an exception, at most 500 characters.

    For an assertion without a message, the source line of the assertion in the tests is added.
    """
    line = exception_line(error)
    if line == "AssertionError":
        frames = traceback.extract_tb(error.__traceback__)
        tests = [frame.line or "" for frame in frames if frame.filename == _FILE]
        line = ": ".join([line, *tests[-1:]])
    return line.splitlines()[0][:500]
