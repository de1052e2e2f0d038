"""Check programs, or responses with one, with the tests of their question: `python_tests`."""

from __future__ import annotations

import os
import re
import shutil
import sys
import warnings
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.checking import Checked, Checking, DistinctPairs, PairToCheck
from ..core.checks import InputError, check_count, check_positive, short
from ..core.columns import TEXTS, to_python
from ..core.samples import Samples, sample_place
from .references import CONTEST_HEADER, FORMS, Tests, names_of_contests, read_tests
from .responses import code_in, is_code
from .sandbox import Limits, Pool, Record, SandboxError, available_cores
from .workers import BatchResult, results_of_pairs, with_progress

_NO_CODE = ("SyntaxError: ", "IndentationError: ", "TabError: ")  # of a program
_CONSENT = "HF_ALLOW_CODE_EVAL"
_LONGEST = 1e6  # seconds of CPU time
_LIMITS_TO_FIND = Limits(10, 10**9)  # of the code of tests, without a program


@dataclass(frozen=True)
class PythonTests:
    """Checks programs with tests, in a sandbox. Made by `python_tests`, which has the options."""

    timeout: float = 3
    memory: int = 10**9
    workers: int | None = None
    header: str | None = None
    # The names of the tests in a TestCode, as a sandbox has found them.
    _test_names: dict[Any, tuple[str, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        check_positive("timeout", self.timeout, "give seconds of CPU time", _LONGEST)
        least = "give a number of bytes, such as 10**9, of at least 1 MiB"
        check_count("memory", self.memory, least, 2**20)
        if self.workers is not None:
            check_count("workers", self.workers, "give a number of sandboxes")
        if self.header is not None and not is_code(self.header):
            raise ValueError(f"header is {short(self.header)}: give Python code, such as imports.")

    def __call__(self, program: str, tests: Any) -> bool | None:
        """Return whether a program passes its tests, or None if it could not be run."""
        [[record]] = self.run([[program]], [tests])
        return _outcome(record)

    def run(self, programs: Sequence[Sequence[str]], tests: Sequence[Any]) -> list[list[Record]]:
        """Run M lists of programs with M references; return lists with a `Record` of each program.

        Raises:
            ValueError: if a reference has no known form, or does not compile, with its index.
            TypeError: if a sample is no text, with its indices.
            SandboxError: if no sandbox can start, with what is missing.
        """
        if len(programs) != len(tests):
            text = f"There are {len(programs)} lists of programs but {len(tests)} references"
            raise ValueError(f"{text}: give one of each for every question.")
        tests_by_question, samples = self._read_references(tests), []
        for question, row in enumerate(programs):
            if isinstance(row, str):
                raise ValueError(f"programs[{question}] is {short(row)}: give a list of samples.")
            for index, program in enumerate(row):
                if not isinstance(program, str):
                    where = f"programs[{question}][{index}]"
                    raise TypeError(f"{where} is {short(program)}: give Python code.")
                samples.append((tests_by_question[question], program))
        # Pairs of an index and a record come in any order.
        records = iter([record for _, record in sorted(self._run(samples))])
        return [[next(records) for _ in row] for row in programs]

    def validate(self, checking: Checking) -> None:
        """Raise a ValueError if a metric got an executor or a timeout, which have no use here."""
        if checking.executor is not None or checking.timeout is not None:
            raise ValueError(
                "python_tests runs programs in sandboxes of its own: instead of an executor give "
                "num_proc, and check_correct_fn=at_k.checkers.python_tests(timeout=..)."
            )

    def check_samples(self, rows: Samples, checking: Checking, cache: dict[str, Any]) -> Checked:
        """Return the outcome of each sample. `Checking.check` calls this."""
        self._read_references(to_python(rows.references))
        if rows.values.type != TEXTS:
            first = int(rows.is_scored.argmax())
            what = f" is {short(to_python(rows.values)[first])}: python_tests checks Python "
            raise InputError(sample_place(rows.name, rows.sizes, first), what, "code.")
        pairs = DistinctPairs.from_samples(rows)
        results = results_of_pairs(checking, pairs, cache, self._outcomes)
        return Checked(pairs.outcomes([outcome for outcome, _ in results]), rows.values)

    def _read_references(self, references: Iterable[Any]) -> list[Tests]:
        """Return the tests of all questions; raise a ValueError if some of them are invalid."""
        read = [read_tests(reference, f"references[{i}]") for i, reference in enumerate(references)]
        unknown = [
            question
            for question, tests in enumerate(read)
            if tests.code and tests.code.may_have_tests and tests.code not in self._test_names
        ]
        # A sandbox finds the names of tests in functions and classes: the code does not show them.
        without_program = [(read[question], None) for question in unknown]
        for index, found in self._run(without_program, limits=_LIMITS_TO_FIND):
            problem = found["problem"]
            if problem is None and found["ran"] == []:
                problem = f"test nothing: python_tests takes {FORMS}"
            if problem is not None:
                raise ValueError(f"The tests of references[{unknown[index]}] {problem}.")
            self._test_names[read[unknown[index]].code] = tuple(found["ran"] or ())
        return read

    def _outcomes(
        self, checking: Checking, pairs: list[PairToCheck]
    ) -> Generator[BatchResult, None, None]:
        """Yield the outcome of each pair, as a `CheckPairs`, and warn of problems at the end."""
        tests = {id(reference): read_tests(reference, "a reference") for _, reference in pairs}
        samples = [(tests[id(reference)], program) for program, reference in pairs]
        records = []
        running = ((index, [record]) for index, record in self._run(samples, checking.num_proc))
        for index, [record] in with_progress(running, len(pairs)):
            records.append(record)
            yield index, [(_outcome(record), None)]
        for problem in _problems(records):
            warnings.warn(problem, stacklevel=2)

    def _run(
        self,
        samples: Sequence[tuple[Tests, str | None]],
        workers: int | None = None,
        limits: Limits | None = None,
    ) -> Generator[tuple[int, Any], None, None]:
        """Yield what `Pool.run` yields for pairs of tests and a sample, or None to find tests."""
        if samples:
            workers = min(workers or self.workers or available_cores(), len(samples))
            limits = limits or Limits(self.timeout, self.memory)
            with closing(self._pool(workers, limits)) as pool:
                yield from pool.run(self._prepared(*sample) for sample in samples)

    def _prepared(self, tests: Tests, sample: str | None) -> tuple[Tests, str | None]:
        """Return tests with the header and the names that have to run, and the program to run."""
        own = CONTEST_HEADER if tests.is_contest else ""
        header = own if self.header is None else self.header
        program = None if sample is None else tests.prompt + code_in(sample, tests.wanted_names)
        setup = f"{header}\n{tests.setup}" if header else tests.setup
        return replace(tests, setup=setup, expected=self._test_names.get(tests.code, ())), program

    def _pool(self, workers: int, limits: Limits) -> Pool:
        """Start sandboxes, or with consent plain processes if they fail; or raise SandboxError."""
        if sys.platform == "win32":
            raise SandboxError("python_tests runs on Windows in the Windows Subsystem for Linux.")
        if shutil.which("bwrap") is None:
            problem = "bubblewrap is not installed (apt-get install bubblewrap)"
        else:
            try:
                return Pool(limits, workers, is_isolated=True)
            except SandboxError as error:
                problem = (
                    f"bubblewrap cannot make a sandbox ({error}); on Ubuntu, sudo sysctl "
                    f"kernel.apparmor_restrict_unprivileged_userns=0 may allow it"
                )
        if os.environ.get(_CONSENT) != "1":
            raise SandboxError(
                f"python_tests runs programs in a sandbox, and {problem}. With the environment "
                f"variable {_CONSENT}=1 it runs them in plain processes with limits, which are not "
                f"a sandbox: do that only in a container or machine that you can lose."
            )
        warnings.warn(
            f"{problem}. Programs run in plain processes with limits, which are not a sandbox, "
            f"because {_CONSENT} is 1.",
            stacklevel=2,
        )
        return Pool(limits, workers, is_isolated=False)


def _outcome(record: Record) -> bool | None:
    """Return whether a program passed, or None if it could not be run."""
    return None if record["status"] == "not run" else record["status"] == "passed"


def _problems(records: Sequence[Record]) -> Iterator[str]:
    """Yield sentences about what may be wrong with all samples, or with the sandbox."""
    distinct = f"of {len(records)} distinct samples"
    if missing := sum(record["status"] == "not run" for record in records):
        yield f"{missing} {distinct} could not be run: their sandbox died twice. They are unscored."
    if all(record["message"].startswith(_NO_CODE) for record in records):
        yield (
            f"None {distinct} is Python code. A sample is a program, or a response with one "
            f'between ``` and ```, or the body of the function in "prompt".'
        )
    undefined = Counter[str]()
    for record in records:
        names = re.findall(r"NameError: name '(\w+)' is not defined", record["message"])
        undefined.update(name for name in names if name in names_of_contests())
    if undefined:
        common = ", ".join(name for name, _ in undefined.most_common(3))
        yield (
            f"{undefined.total()} {distinct} failed with a NameError for a name of the standard "
            f"library ({common}). If the benchmark puts imports before each program, give them: "
            f'at_k.checkers.python_tests(header="from typing import *").'
        )


def python_tests(
    timeout: float = 3,
    memory: int = 10**9,
    workers: int | None = None,
    header: str | None = None,
) -> PythonTests:
    """Return a checker that runs each program with the tests of its question, in a sandbox.

    It is a `check_correct_fn` of every metric that takes one. `check_correct_fn="python_tests"` is
    the checker with the default options. A sample is a program, or a response with one: its code is
    the fenced block that defines a name that the tests use, or else the last one; without fences,
    the whole text. It is correct if all tests pass. A reference is one of these:

    - code that raises an exception if a test fails, as assertions do; or a list of assertions
    - code with tests as pytest or unittest find them. Classes Test* and fixtures need pytest
    - {"test": .., "entry_point": ..}, where the test defines check(candidate), and a "prompt" that
      is put before the sample: a row of HumanEval
    - {"test_list": [..], "test_imports": [..]}: a row of MBPP
    - {"inputs": [..], "outputs": [..]}: texts for standard input, and what is to be printed
    - {"entry_point": .., "inputs": [[..]], "outputs": [..]}: arguments of calls, and their results.
      The name may be that of a method, such as "Solution.add"
    - {"input_output": ..} with one of the last two as JSON: a row of APPS
    - {"public_test_cases": .., "private_test_cases": .., "metadata": ..}: a row of LiveCodeBench

    A test that was not run did not pass. What is expected is compared outside the process of the
    program, which does not know it, except for tests that do more than to compare values, such as
    those that use attributes of objects, `unittest.mock`, `sys` or `capsys`.

    Args:
        timeout: seconds of CPU time that a program may take, with its tests or for each of its
            inputs. One that waits is ended after ten times this and 10 seconds.
        memory: bytes that a program may use.
        workers: number of sandboxes that run programs at the same time; by default the number of
            cores. `num_proc` of `compute` replaces it.
        header: code that runs before each program, such as imports; by default, that of
            LiveCodeBench for rows of APPS and LiveCodeBench, which imports much of the standard
            library, and none for others.

    Raises:
        ValueError, TypeError: if an option is invalid.

    Examples:
        >>> import at_k
        >>> checker = at_k.checkers.python_tests(timeout=1)
        >>> programs = [["def add(a, b): return a + b", "def add(a, b): return a - b"]]
        >>> [records] = checker.run(programs, ["assert add(1, 2) == 3"])
        >>> [record["status"] for record in records]
        ['passed', 'failed']
    """
    return PythonTests(timeout, memory, workers, header)
