"""The process of the tests: it never runs code of a program, and no program can reach it.

It asks the process of the program for the names that the tests use, for calls of functions, of
methods of objects, and for the next item of an iterator. None of these tells it what is expected.
Results are values, see `values.py`, which are compared here, or references to functions, iterators
and other objects, see `_Object`.

Tests that do more (see `placement.py`) run in the process of the program instead; what it reports
is counted here.
"""

from __future__ import annotations

import builtins
import importlib
import os
import signal
import socket
import sys
import time
import types
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

from .runner import MODULE, UnusableTestsError, last_line, run_tests
from .values import decode, encode, receive, send, updated

# A method of an object that returned True for these would say what is expected of a value.
_PREDICATES = {
    name
    for kind in (str, bytes, set, float)
    for name in dir(kind)
    if name.startswith("is") or name.endswith("with")
} | {"equals"}
_OWN_NUMBER = 2  # in a namespace: the first process that the server forks


class _EndedError(BaseException):
    """The process of the program ended, or sent what is no message. Tests cannot catch it."""


def examine(control: socket.socket, jobs: int, replies: int, is_isolated: bool) -> None:
    """Run tests, one after another, until the server ends.

    Args:
        control: the server sends "p" with the connection to a program, or "k" to end all other
            processes; each is answered with the same letter.
        jobs: a pipe with the tests, as lines of JSON.
        replies: a pipe for what happened to them.
        is_isolated: whether the server is process 1 of a namespace.
    """
    while True:
        letter, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not letter:
            return
        if letter == b"p":
            send(replies, _examined(receive(jobs), _RemoteProgram(descriptors[0])))
            os.close(descriptors[0])  # which ends the program
        elif is_isolated:
            _end_other_processes()
        control.send(letter)


def _end_other_processes() -> None:
    """End all processes but the server and this one, and wait until the server has reaped them."""
    if os.getpid() != _OWN_NUMBER:
        raise RuntimeError("this process is in no namespace of its own")
    try:
        os.kill(-1, signal.SIGKILL)
        while True:
            os.kill(-1, 0)
            time.sleep(0.0001)
    except ProcessLookupError:
        return


def _examined(job: dict[str, Any], program: _RemoteProgram) -> dict[str, Any]:
    """Run tests with a program, and return what happened.

    Args:
        job: what `Tests.jobs` returns.
        program: the process of the program.

    Returns:
        A dict with `status`: "passed", "failed", or "ended" if the process of the program did;
        `message`; and `tests`, how many of them ran. If the tests are only to be found, what
        `find_tests` returns.
    """
    try:
        if job["only_find"]:
            return program.exchange({"find": job})
        if job["shares_interpreter"]:
            ran, problem = program.run(job)
        else:
            module = types.ModuleType("tests")
            vars(module).update(_linked(job, program.names(job)))
            result = run_tests(job, module)
            ran, problem = result.ran, result.problem
    except _ProgramError as error:
        ran, problem = [], str(error)
    except UnusableTestsError as error:
        ran, problem = [], f"the tests {error}"
    except _EndedError:
        ran, problem = [], None
    if program.has_ended:
        return {"status": "ended", "message": "", "tests": 0}
    missing = {*(job["expected"] or ran)} - {*ran}
    if problem is None and missing:
        problem = f"{min(missing)} did not run"
    if problem is None and not ran:
        problem = "no test ran"
    status = "passed" if problem is None else "failed"
    return {"status": status, "message": problem or "", "tests": len(ran)}


def _linked(job: dict[str, Any], names: dict[str, Any]) -> dict[str, Any]:
    """Return the names of a program that its tests, the `job`, see.

    A name of a builtin function, such as `abs`, is one of them only if the tests use no other name
    of the program, or if it is the entry point. A module that the program imports for its tests is
    imported here: it may be one that the program made up.
    """
    for name, module in job["borrowed"]:
        if name in names:
            with suppress(ImportError):
                names[name] = importlib.import_module(module)
    shadowing = {name for name in names if hasattr(builtins, name)} - {job["entry_point"]}
    if job["entry_point"] or {*names} - shadowing:
        return {name: value for name, value in names.items() if name not in shadowing}
    return names


# --- The program, as the tests see it -----------------------------------------------------


class _ProgramError(Exception):
    """A program cannot be loaded."""


class _RemoteProgram:
    """The process of a program. `has_ended` is whether it ended, or sent what is no message."""

    def __init__(self, connection: int):
        self._connection = connection
        self.has_ended = False

    def names(self, job: dict[str, Any]) -> dict[str, Any]:
        """Return the names of the program that its tests use; raise a _ProgramError if it fails."""
        message = {"load": job["imports"], "names": job["names"], "entry_point": job["entry_point"]}
        try:
            names = self._result(self.exchange(message))
        except BaseException as error:
            raise _ProgramError(last_line(error)) from error
        if not isinstance(names, dict):
            self._end()
        # No others, such as __builtins__.
        wanted = {*job["names"], (job["entry_point"] or "").partition(".")[0]}
        return {name: value for name, value in names.items() if name in wanted}

    def run(self, job: dict[str, Any]) -> tuple[list[str], str | None]:
        """Run tests in the process of the program; return `ran` and `problem` of their `Result`."""
        reply = self.exchange({"run": job})
        if not isinstance(reply.get("ran"), list):
            self._end()
        return [*map(str, reply["ran"])], reply.get("problem")

    def ask(self, number: int, method: str, /, *arguments: Any, **options: Any) -> Any:
        """Call an object, or a method of it, and return the result, or raise its exception.

        Args:
            number: of the object.
            method: its name; "" to call the object itself.
            arguments, options: of the call, which may change them.
        """
        values = [*arguments, *options.values()]
        sent = {"arguments": encode(values, _reference_to), "keywords": [*options]}
        reply = self.exchange({"object": number, "method": method, **sent})
        if "changed" in reply:
            updated(values, self._decoded(reply["changed"]))
        try:
            return self._result(reply)
        except (StopIteration, StopAsyncIteration) as error:
            if method == "__next__":
                raise
            # In a loop of the tests over `map(f, inputs)`, it would end the loop without a failure.
            raise RuntimeError(f"the program raised {type(error).__name__}") from error

    def _result(self, reply: dict[str, Any]) -> Any:
        """Return the value in a reply, or raise the exception in it."""
        if "value" in reply:
            return self._decoded(reply["value"])
        try:
            classes, arguments, text = reply["error"]
            error = _exception(classes, self._decoded(arguments), str(text))
        except (ValueError, TypeError, KeyError, AttributeError, StopIteration):
            self._end()
        raise error

    def _decoded(self, sent: Any) -> Any:
        try:
            return decode(sent, self._resolve)
        except (ValueError, TypeError, KeyError, IndexError, ImportError, RecursionError):
            self._end()

    def exchange(self, message: Any) -> dict[str, Any]:
        """Send a message to the program, and return its reply, see `program.py`."""
        if self.has_ended:
            self._end()
        try:
            send(self._connection, message)
            reply = receive(self._connection)
        except (EOFError, OSError):
            self._end()
        if not isinstance(reply, dict):
            self._end()
        return reply

    def _end(self) -> NoReturn:
        """End the tests, because the program has ended or sent what is no message."""
        self.has_ended = True
        raise _EndedError

    def _resolve(self, kind: str, number: Any) -> _Object:
        """Return the object of which `_AnsweringProgram._keep` has described the kind."""
        return _KINDS[kind](partial(self.ask, number), {kind: number})


def _reference_to(value: Any) -> Any:
    """Return how an argument that is no value is sent: an object of the program as it came.

    Functions and classes of modules are sent by their names.
    """
    if isinstance(value, _Object):
        return value._at_k_reference
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
    if module != MODULE and getattr(sys.modules.get(str(module)), name, None) is value:
        return {"import": [module, name]}
    raise TypeError(f"tests cannot give a program an object of their own ({type(value).__name__})")


# Of other modules, such as unittest, a program could raise what says that a test did not fail.
_MODULES = frozenset(
    (
        *("builtins", "json.decoder", "decimal", "statistics", "re", "datetime", "copy", "numpy"),
        *("numpy.linalg", "numpy.exceptions"),
    )
)


def _exception(classes: list[Any], arguments: tuple[Any, ...], text: str) -> BaseException:
    """Return an exception of the nearest class that is known here, with the text as its `str`.

    Args:
        classes: pairs of a module and a name: those of its class, and of the bases of that.
        arguments: its `args`.
        text: its text in the process of the program.
    """
    found = (getattr(sys.modules.get(m), name, None) for m, name in classes if m in _MODULES)
    kind = next(x for x in found if isinstance(x, type) and issubclass(x, BaseException))
    error = kind.__new__(kind, *arguments)
    if [kind.__module__, kind.__name__] == classes[0] and str(error) == text:
        return error
    own = type(str(classes[0][1]), (kind,), {"__str__": lambda self: text})
    return own.__new__(own, *arguments)


class _Object:
    """An object of the program, whose methods can be called. It equals nothing but itself."""

    def __init__(self, ask: Any, reference: dict[str, int]):
        self._at_k_ask, self._at_k_reference = ask, reference

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__" or name in _PREDICATES:
            raise AttributeError(f"an object of the program has no {name} here")
        return partial(self._at_k_ask, name)

    def __bool__(self) -> bool:
        return bool(self._at_k_ask("__bool__"))

    def __repr__(self) -> str:
        return "an object of the program"


class _Function(_Object):
    def __call__(self, /, *arguments: Any, **options: Any) -> Any:
        return self._at_k_ask("", *arguments, **options)


class _Iterable(_Object):
    def __iter__(self) -> Any:
        return self._at_k_ask("__iter__")


class _Iterator(_Iterable):
    def __next__(self) -> Any:
        return self._at_k_ask("__next__")


_KINDS = {"object": _Object, "function": _Function, "iterable": _Iterable, "iterator": _Iterator}
for _kind in _KINDS.values():
    _kind.__name__ = "object of the program"  # in the TypeErrors of Python for what it cannot do
