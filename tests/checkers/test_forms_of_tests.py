"""Which tests run: what pytest and unittest find themselves, and what a program can do about it.

Every reference has one test that the incorrect program fails. A reference whose test does not run
would let it pass.
"""

import pytest
from at_k.checkers import python_tests

RIGHT = "def f(x):\n    return 2 * x\n"
WRONG = "def f(x):\n    return 5\n"
CASE = "import unittest\nclass A(unittest.TestCase):\n    def test_a(self):\n"
CHECK = "        self.assertEqual(f(2), 4)\n"

REFERENCES = {
    # unittest
    "an alias of TestCase": "from unittest import TestCase as Case\nclass A(Case):\n"
    "    def test_a(self):\n" + CHECK,
    "two levels of classes": "import unittest\nclass B(unittest.TestCase): pass\nclass C(B): pass\n"
    "class D(C):\n    def test_a(self):\n" + CHECK,
    "a class made by type": "import unittest\ndef t(self): self.assertEqual(f(2), 4)\n"
    "A = type('A', (unittest.TestCase,), {'test_a': t})\n",
    "a class of coroutines": "import unittest\nclass A(unittest.IsolatedAsyncioTestCase):\n"
    "    async def test_a(self):\n" + CHECK,
    "setUp": CASE.replace("    def test_a", "    def setUp(self): self.x = 2\n    def test_a")
    + "        self.assertEqual(f(self.x), 4)\n",
    "tearDown that asserts": "import unittest\nclass A(unittest.TestCase):\n"
    "    def test_a(self): self.x = f(2)\n    def tearDown(self): self.assertEqual(self.x, 4)\n",
    "subtests": CASE + "        for x in (2.5, 2, 3):\n            with self.subTest(x=x):\n"
    "                self.assertEqual(f(x), 2 * x)\n",
    "an expected failure": "import unittest\nclass A(unittest.TestCase):\n"
    "    @unittest.expectedFailure\n    def test_a(self): self.assertEqual(f(2), 5)\n",
    "load_tests": CASE + CHECK + "def load_tests(loader, tests, pattern): return tests\n",
    "a class under a guard": "import unittest\nif True:\n    class A(unittest.TestCase):\n"
    "        def test_a(self): self.assertEqual(f(2), 4)\n",
    "main under a guard": CASE + CHECK + "if __name__ == '__main__':\n    unittest.main()\n",
    "main that does not exit": CASE + CHECK + "r = unittest.main(exit=False).result\n"
    "assert r.wasSuccessful()\n",
    "a runner": CASE + CHECK + "suite = unittest.TestLoader().loadTestsFromTestCase(A)\n"
    "unittest.TextTestRunner().run(suite)\n",
    "skipped beside another": CASE + CHECK + "    @unittest.skip('slow')\n"
    "    def test_b(self): self.fail()\n",
    # pytest
    "a class": "class TestF:\n    def test_a(self): assert f(2) == 4\n",
    "a method of a class, static": "class TestF:\n    @staticmethod\n"
    "    def test_a(): assert f(2) == 4\n",
    "a class in a class": "class TestF:\n    class TestG:\n"
    "        def test_a(self): assert f(2) == 4\n",
    "set-up of pytest": "class TestF:\n    def setup_method(self): self.x = 2\n"
    "    def test_a(self): assert f(self.x) == 4\n",
    "a property of what a set-up makes": "class TestF:\n    def setup_method(self): self.x = 1\n"
    "    @property\n    def y(self): return self.x + 1\n"
    "    def test_a(self): assert f(self.y) == 4\n",
    "set-up of a class": "class TestF:\n    @classmethod\n    def setup_class(cls): cls.x = 2\n"
    "    def test_a(self): assert f(self.x) == 4\n",
    "parameters": "import pytest\n@pytest.mark.parametrize('x', [2.5, 2, 3])\n"
    "def test_a(x): assert f(x) == 2 * x\n",
    "a fixture": "import pytest\n@pytest.fixture\ndef x():\n    yield 2\n"
    "def test_a(x): assert f(x) == 4\n",
    "a fixture of pytest": "def test_a(tmp_path):\n    assert tmp_path.exists() and f(2) == 4\n",
    "approx": "import pytest\ndef test_a(): assert f(2) == pytest.approx(4)\n",
    "an exception": "import pytest\ndef test_a():\n    with pytest.raises(TypeError): f(None)\n",
    "a test nested in an if": "if True:\n    def test_a(): assert f(2) == 4\n",
    "a coroutine": "async def test_a(): assert f(2) == 4\n",
    "a coroutine and a fixture": "import pytest\n@pytest.fixture\ndef x(): return 2\n"
    "async def test_a(x): assert f(x) == 4\n",
    "a lambda": "test_a = lambda: f(2) / 0 if f(2) != 4 else 0\n",
    # scripts
    "only under a guard": "def run_all():\n    assert f(2) == 4\n"
    "if __name__ == '__main__':\n    run_all()\n",
    "under a guard beside others": "def test_0(): assert f(2)\n"
    "if __name__ == '__main__':\n    assert f(2) == 4\n",
    "a loop": "for x in (2.5, 2, 3):\n    assert f(x) == 2 * x\n",
    "exit after a main": CASE + CHECK + "import sys\nif __name__ == '__main__':\n"
    "    sys.exit(unittest.main())\n",
    # in the interpreter of the program
    "a mock": "from unittest import mock\ndef test_a():\n    m = mock.Mock(return_value=4)\n"
    "    assert f(2) == m()\n",
    "a function that is patched": "from unittest.mock import patch\nimport unittest\n"
    "class A(unittest.TestCase):\n    @patch('builtins.print')\n"
    "    def test_a(self, p): self.assertEqual(f(2), 4)\n",
    "capsys": "def test_a(capsys):\n    print(f(2))\n"
    "    assert capsys.readouterr().out == '4\\n'\n",
    "sys": "import sys\ndef test_a():\n    assert f(2) == 4 and sys.maxsize\n",
    "doctest": 'import doctest, sys, unittest\ndef g():\n    """\n    >>> f(2)\n    4\n    """\n'
    "def load_tests(loader, tests, pattern):\n"
    "    tests.addTests(doctest.DocTestSuite(sys.modules[__name__]))\n    return tests\n",
    "a text that is evaluated": "assert eval('f(2)') == 4\n",
    "an object of the tests": "class Number:\n    def __rmul__(self, x): return x * 7\n"
    "def test_a(): assert f(Number()) == 14\n",
}


@pytest.fixture(scope="module")
def records():
    rows = python_tests(workers=2).run([[RIGHT, WRONG]] * len(REFERENCES), [*REFERENCES.values()])
    return dict(zip(REFERENCES, rows, strict=True))


@pytest.mark.parametrize("form", REFERENCES)
def test_tests_of_this_form_run(form, records):
    right, wrong = records[form]
    assert right["status"] == "passed", right
    assert right["tests"] > 0
    assert wrong["status"] == "failed", wrong


def test_the_number_of_tests_that_ran_is_in_the_record():
    """A function of a program that is named like a test is none."""
    own = "def test_double(x): assert x % 2 == 0\n" + RIGHT.replace("x\n", "x or test_double(1)\n")
    tests = "import pytest\ndef test_a(): assert f(2) == 4\n"
    tests += "def test_b():\n    with pytest.raises(AssertionError): f(0)\n"
    many = "import pytest\n" + CASE + CHECK + "def test_b(): assert f(2) == 4\nassert f(0) == 0\n"
    many += "@pytest.mark.parametrize('x', [1, 2, 3])\ndef test_c(x): assert f(x) == 2 * x\n"
    cases = {"entry_point": "f", "inputs": [[1], [2]], "outputs": [2, 4]}
    rows = python_tests(workers=2).run(
        [[own], [own], [RIGHT], [RIGHT]], [tests, "import sys\n" + tests, many, cases]
    )
    ran = [(record["status"], record["tests"]) for [record] in rows]
    assert ran == [("passed", 2), ("passed", 2), ("passed", 6), ("passed", 2)]


NO_TESTS = {
    "def helper(x): return f(x) == 4\n": "test nothing",
    "def check(candidate): assert candidate(2) == 4\n": "test nothing",
    "class Check:\n    def test_a(self): assert f(2) == 4\n": "test nothing",
    "import unittest\nclass A(unittest.TestCase):\n    def check_a(self): pass\n"
    "unittest.main()\n": "test nothing",
    "import unittest\n@unittest.skip('x')\nclass A(unittest.TestCase):\n"
    "    def test_a(self): assert f(2) == 4\n": "test nothing",
    "import pytest\n@pytest.mark.skip\ndef test_a(): assert f(2) == 4\n": "test nothing",
    "def test_add(candidate): assert candidate(2) == 4\n": "fixture 'candidate' not found",
}


@pytest.mark.parametrize("tests", NO_TESTS)
def test_a_reference_without_a_test_that_runs_is_an_error_with_its_index(tests):
    with pytest.raises(ValueError, match=r"references\[1\][\s\S]*" + NO_TESTS[tests]):
        python_tests(workers=1).run([[RIGHT], [RIGHT]], ["assert f(2) == 4", tests])


# --- Programs that would pass without the tests -------------------------------------------

FORGED = {
    "skips": "import unittest\ndef f(x): raise unittest.SkipTest('x')\n",
    "skips by pytest": "import pytest\ndef f(x): pytest.skip('x')\n",
    "changes the prefix of tests": "import unittest\n"
    "unittest.defaultTestLoader.testMethodPrefix = 'no'\n"
    "unittest.TestLoader.testMethodPrefix = 'no'\n" + WRONG,
    "marks all tests as skipped": "import unittest\n"
    "unittest.TestCase.__unittest_skip__ = True\n" + WRONG,
    "takes part of the assertions away and restores them": "import unittest\n"
    "own = unittest.TestCase.assertEqual\ndef fake(self, *x):\n"
    "    unittest.TestCase.assertEqual = own\nunittest.TestCase.assertEqual = fake\n" + WRONG,
    "replaces a function of math until it is called": "import math\nown = math.isclose\n"
    "def fake(*x, **y):\n    math.isclose = own\n    return True\nmath.isclose = fake\n" + WRONG,
    "replaces a function of math in each call": "import math\nown = math.isclose\n"
    "def fake(*x, **y):\n    math.isclose = own\n    return True\n"
    "def f(x):\n    math.isclose = fake\n    return 5\n",
    "ends the run": "def f(x): raise KeyboardInterrupt\n",
    "exits": "def f(x): raise SystemExit(0)\n",
    "ends generators": "def f(x): raise GeneratorExit\n",
    "replaces the results of tests": "import unittest\n"
    "unittest.TestResult.addFailure = unittest.TestResult.addError = lambda *x: None\n"
    "unittest.case._Outcome.result_supports_subtests = False\n" + WRONG,
    "replaces the reports of pytest": "import _pytest.reports\n"
    "own = _pytest.reports.TestReport.from_item_and_call\n"
    "def fake(item, call):\n    call.excinfo = None\n    return own(item, call)\n"
    "_pytest.reports.TestReport.from_item_and_call = fake\n" + WRONG,
    "defines tests of its own": WRONG + "def test_a(): pass\nclass A: pass\nclass TestF: pass\n",
    "replaces what runs an assertion": "import builtins\nbuiltins.AssertionError = type('E', "
    "(Exception,), {'__new__': lambda *x: None})\n" + WRONG,
    "replaces a module": "import sys, types\n"
    "sys.modules['math'] = types.SimpleNamespace(isclose=lambda *x, **y: True)\n" + WRONG,
    "replaces the loader": "import unittest\n"
    "unittest.TestLoader.loadTestsFromTestCase = lambda *x: unittest.TestSuite()\n" + WRONG,
    "leaves in the middle": "import os\ndef f(x): os._exit(0)\n",
}
TESTS = {
    "unittest": "import math\n" + CASE + CHECK + "        self.assertTrue(math.isclose(f(2), 4))\n",
    "pytest": "import math, pytest\ndef test_a(): assert math.isclose(f(2), 4)\n",
    "functions": "import math\nclass TestF:\n    def test_a(self): assert math.isclose(f(2), 4)\n",
    "assertions": "import math\nassert math.isclose(f(2), 4)\n",
}


@pytest.fixture(scope="module")
def forged():
    rows = python_tests(workers=2).run([[*FORGED.values()]] * len(TESTS), [*TESTS.values()])
    return {
        (tests, name): record
        for tests, row in zip(TESTS, rows, strict=True)
        for name, record in zip(FORGED, row, strict=True)
    }


@pytest.mark.parametrize("tests", TESTS)
@pytest.mark.parametrize("name", FORGED)
def test_a_forged_success_fails(name, tests, forged):
    assert forged[tests, name]["status"] == "failed", forged[tests, name]


def test_tests_in_the_interpreter_of_a_program_are_counted_outside_of_it():
    tests = "import sys\n" + TESTS["unittest"]
    names = ["skips", "changes the prefix of tests", "marks all tests as skipped", "exits"]
    names += ["takes part of the assertions away and restores them", "leaves in the middle"]
    [row] = python_tests(workers=1).run([[RIGHT, *(FORGED[name] for name in names)]], [tests])
    assert [record["status"] for record in row] == ["passed"] + ["failed"] * len(names), row


# Programs that reach for the process of the tests, with the tests that they would pass.
PATCH = "import sys\nP = sys.modules['sandboxed.program']._AnsweringProgram\n"
ALWAYS = "    def __eq__(self, other): return True\n    def __sub__(self, other): return 0\n"
RETURNS_ITSELF = "class S:\n    def f(self, x): return self\n" + ALWAYS
REACHING = {
    "hands over builtin functions": (
        PATCH + "own = P.names\ndef names(self, *x):\n    reply = own(self, *x)\n"
        "    builtins = self._encoded({'abs': lambda x: 0})\n"
        "    reply['value']['dict'].append(['__builtins__', builtins])\n    return reply\n"
        "P.names = names\n" + WRONG,
        "assert abs(f(2) - 4) < 0.1",
    ),
    "has a class with a name that the tests import": (
        "class TestCase:\n" + ALWAYS + "def f(x): return TestCase()\n",
        "from unittest import TestCase\n" + CASE.replace("unittest.", "") + CHECK,
    ),
    "returns the object that the tests made": (RETURNS_ITSELF, "assert S().f(2) == 4"),
    "returns that object in a list": (
        RETURNS_ITSELF.replace("return self", "return [self]"),
        "assert S().f(2) == [4]",
    ),
    "subtracts to zero": (RETURNS_ITSELF, "assert abs(S().f(2) - 4) < 0.1"),
    "subtracts to an object without a size": (
        RETURNS_ITSELF + "class D(S):\n    def __abs__(self): return 0\n"
        "    def __round__(self, n=0): return 0\n    def __getattr__(self, name): return 0\n"
        "S.__sub__ = S.__rsub__ = lambda self, other: D()\n",
        "import unittest\nclass A(unittest.TestCase):\n"
        "    def test_a(self): self.assertAlmostEqual(S().f(2), 4)\n",
    ),
    "has a length and no entries": (
        "class S(object):\n    __len__ = lambda self: 1\n    __iter__ = lambda self: iter([])\n"
        "def f(x): return S()\n",
        "import pytest\ndef test_a(): assert f(2) == pytest.approx([4])\n",
    ),
    "has the hash of what is expected": (
        "class S:\n" + ALWAYS + "    def __hash__(self): return 4\ndef f(x): return S()\n",
        "assert f(2) in {4} or {4: 1}[f(2)]",
    ),
    "ends a loop": (
        "def f(x): raise StopIteration\n",
        "for result, expected in zip(map(f, [2, 3]), [4, 6]):\n    assert result == expected\n",
    ),
    "ends a loop with an exception of its own": (
        "class End(StopIteration): pass\ndef f(x): raise End\n",
        "assert all(map(lambda case: f(case[0]) == case[1], [(2, 4)]))",
    ),
    "makes a dict of another builtin function": (
        PATCH + "own = P._encoded\n"
        "P._encoded = lambda self, x: {'defaultdict': ['exit', {'dict': []}]} if x == 5 "
        "else own(self, x)\n" + WRONG,
        "assert f(2)['a'] == 4",
    ),
    "changes an argument to what is no argument": (
        PATCH + "own = P.call\ndef call(self, *x):\n"
        "    return own(self, *x) | {'changed': [{'set': [[]]}, 3]}\nP.call = call\n"
        "def f(x): return 4\n",
        "assert f([2]) == 4",
    ),
    "raises an exception of another kind": (
        PATCH + "P._described = lambda self, error: [[['unittest.case', 'SkipTest']], 3, None]\n"
        "def f(x): raise ValueError\n",
        "import unittest\n" + CASE + CHECK,
    ),
    "expects to fail": (
        "import pytest\ndef f(x): pytest.xfail('x')\n",
        "import pytest, sys\ndef test_a(): assert f(2) == 4\n",
    ),
    "replaces what pytest calls": (
        "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n" + WRONG,
        "import pytest, sys\ndef test_a(): assert f(2) == 4\n",
    ),
}


def test_a_program_that_reaches_for_the_tests_fails():
    rows = python_tests(workers=2).run(
        [[program] for program, _ in REACHING.values()], [tests for _, tests in REACHING.values()]
    )
    statuses = {name: row[0]["status"] for name, row in zip(REACHING, rows, strict=True)}
    assert statuses == dict.fromkeys(REACHING, "failed")
