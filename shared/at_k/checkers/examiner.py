"""The process of the tests: it never runs code of a program, and no program can reach it.

Names of a program are proxies here. A call is sent to the process of the program, and its result
comes back as a value, see `values.py`, so that what is expected is compared here. Objects of
classes that a program defines stay there. They are asked for attributes, calls and operators. An
object that equals everything would pass, so that objects are trusted to different degrees, see
`_MADE_HERE`, `_RETURNED` and `_HAS_SEEN_A_VALUE`.

Tests that reach into the interpreter of the program (see `references.py`), or hand it objects of
their own, run in its process instead; what it reports is counted here.
"""

from __future__ import annotations

import builtins
import importlib
import os
import signal
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, NoReturn

from .runner import UnusableTestsError, last_line, run_tests
from .values import COMPARISONS, NEED_BOTH, SPECIAL_METHODS, decode, encode, receive, send

_PREDICATES = {
    name
    for kind in (str, bytes, set, float)
    for name in dir(kind)
    if name.startswith("is") or name.endswith("with")
} | {"equals"}
_OWN_NUMBER = 2  # in a namespace: the first process that the server forks


class _EndedError(BaseException):
    """The process of the program ended, or sent what is no message. Tests cannot catch it."""


class _NeedsInterpreterError(BaseException):
    """The tests hand the program an object that only their own process has."""


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
        A dict with `status`: "passed", "failed", "ended" if the process of the program did, or
        "shares interpreter" if the tests need it; `message`; and `tests`, how many of them ran.
        If the tests are only to be found, what `find_tests` returns.
    """
    try:
        if job["only_find"]:
            return program.exchange({"find": job})
        if job["shares_interpreter"]:
            ran, problem = program.run(job)
        else:
            result = run_tests(job, _linked(job, program.names(job)))
            ran, problem = result.ran, result.problem
    except _ProgramError as error:
        ran, problem = [], str(error)
    except UnusableTestsError as error:
        ran, problem = [], f"the tests {error}"
    except _EndedError:
        ran, problem = [], None
    if program.has_ended or program.needs_interpreter:
        status = "ended" if program.has_ended else "shares interpreter"
        return {"status": status, "message": "", "tests": 0}
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
    """The process of a program.

    Attributes:
        has_ended: whether it ended, or sent what is no message.
        needs_interpreter: whether the tests handed it an object that cannot be sent.
    """

    def __init__(self, connection: int):
        self._connection = connection
        self.has_ended = self.needs_interpreter = False
        self._proxies: dict[int, Any] = {}
        self._exceptions: dict[int, type[BaseException]] = {}
        self._named_classes: set[int] = set()

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
        names = {name: value for name, value in names.items() if name in wanted}
        self._named_classes = {
            value._at_k_number
            for name, value in names.items()
            if isinstance(value, _Object) and name in job["classes"]
        }
        return names

    def run(self, job: dict[str, Any]) -> tuple[list[str], str | None]:
        """Run tests in the process of the program; return `ran` and `problem` of their `Result`."""
        reply = self.exchange({"run": job})
        if not isinstance(reply.get("ran"), list):
            self._end()
        return [*map(str, reply["ran"])], reply.get("problem")

    def ask(self, operation: str, *arguments: Any, **options: Any) -> Any:
        """Return the result of an operation, or raise the exception of the program."""
        sent = [encode(argument, self._reference_to) for argument in arguments]
        keywords = {
            name: encode(argument, self._reference_to) for name, argument in options.items()
        }
        reply = self.exchange({"do": operation, "with": sent, "by_name": keywords})
        try:
            for index, changed in reply.get("changed", ()):
                _replace_content(arguments[index], decode(changed, self._resolve))
            if "argument" in reply and not isinstance(arguments[reply["argument"]], _Object):
                return arguments[reply["argument"]]
        except (ValueError, TypeError, KeyError, IndexError, ImportError, RecursionError):
            self._end()
        try:
            result = self._result(reply)
        except (StopIteration, StopAsyncIteration) as error:
            if operation == "next":
                raise
            # A loop of the tests over `map` would end, and compare nothing.
            raise RuntimeError(f"the program raised {type(error).__name__}") from error
        return self._trusted(operation, arguments, result)

    def _trusted(self, operation: str, arguments: Sequence[Any], result: Any) -> Any:
        """Return the result of an operation, if its arguments are trusted to have one.

        An object gets a trust of its own, see `_HAS_SEEN_A_VALUE`. Operators return NotImplemented
        for arguments that are not trusted.

        Raises:
            TypeError: for other operations, if the result may depend on what the tests expect.
        """
        objects = [x for x in arguments if isinstance(x, _Object)]
        trust = min((x._at_k_trust for x in objects), default=_RETURNED)
        has_seen_value = operation in NEED_BOTH and len(objects) < len(arguments)
        if not isinstance(result, _Object):
            if has_seen_value and trust < _MADE_HERE:
                return NotImplemented
            if trust == _HAS_SEEN_A_VALUE and operation not in NEED_BOTH:
                raise TypeError("an object that was combined with a value of the tests gives none")
            return result
        if operation == "call" and arguments[0]._at_k_number in self._named_classes:
            trust = _MADE_HERE
        elif operation not in NEED_BOTH:
            trust = min(trust, _RETURNED)
        elif has_seen_value and trust < _MADE_HERE:
            trust = _HAS_SEEN_A_VALUE
        object.__setattr__(result, "_at_k_trust", trust)
        return result

    def _result(self, reply: dict[str, Any]) -> Any:
        """Return the value in a reply, or raise the exception in it."""
        try:
            if "value" in reply:
                return decode(reply["value"], self._resolve)
            error = self._exception(*reply["error"])
        except (ValueError, TypeError, KeyError, IndexError, ImportError, RecursionError):
            self._end()
        raise error

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

    def _reference_to(self, value: Any) -> Any:
        """Return how an object that is no value is sent: by its number, if it is the program's.

        Other objects cannot be sent.
        """
        if isinstance(value, _Object):
            return {"object": value._at_k_number}
        if isinstance(value, BaseException) and "_at_k_object" in value.__dict__:
            return {"object": value.__dict__["_at_k_object"]}
        for number, kind in self._exceptions.items():
            if kind is value:
                return {"object": number}
        self.needs_interpreter = True
        raise _NeedsInterpreterError

    def _resolve(self, name: str, described: Any) -> Any:
        """Return the proxy of what `_AnsweringProgram._keep` has described."""
        if name == "exception class":
            return self._exception_class(described)
        number, kind, class_name, special = described
        if number not in self._proxies:
            proxy_class = _proxy_class(kind, str(class_name), tuple(special))
            self._proxies[number] = proxy_class(number, self)
        object.__setattr__(self._proxies[number], "_at_k_trust", _RETURNED)
        return self._proxies[number]

    def _exception_class(self, chain: list[Any]) -> type[BaseException]:
        """Return a class of the program or of Python from its chain, see `_AnsweringProgram`."""
        number, module, name = chain[0]
        if number not in self._exceptions:
            known = getattr(sys.modules.get(module), name, None) if module in _MODULES else None
            if not (isinstance(known, type) and issubclass(known, BaseException)):
                base = self._exception_class(chain[1:])
                members = {"__getattr__": _attribute_of_exception, "__str__": _text_of_exception}
                known = type(str(name), (base,), members)
            self._exceptions[number] = known
        return self._exceptions[number]

    def _exception(self, chain: list[Any], arguments: Any, text: str, number: int) -> BaseException:
        """Return an exception of the program, whose `str` there is the text."""
        kind = self._exception_class(chain)
        values = decode(arguments, self._resolve)
        is_builtin = kind.__module__ == "builtins"
        error = kind(*values) if is_builtin else kind.__new__(kind, *values)
        error.__dict__.update(_at_k_object=number, _at_k_program=self, _at_k_text=str(text))
        return error


# Of other modules, such as unittest, a program could raise what says that a test did not fail.
_MODULES = ("builtins", "json.decoder", "decimal", "statistics", "re", "datetime", "copy", "numpy")


def _text_of_exception(error: BaseException) -> str:
    return error.__dict__.get("_at_k_text") or BaseException.__str__(error)


def _attribute_of_exception(error: Any, name: str) -> Any:
    if name.startswith("__") or "_at_k_object" not in error.__dict__:
        raise AttributeError(name)
    program, number = error.__dict__["_at_k_program"], error.__dict__["_at_k_object"]
    return program.ask("getattr", program._resolve("object", [number, 0, "error", []]), name)


def _replace_content(container: Any, content: Any) -> None:
    """Change a list, dict, set or other container to what a call has made of it."""
    container.clear()
    add_all = container.update if hasattr(container, "update") else container.extend
    add_all(content)


_HAS_SEEN_A_VALUE, _RETURNED, _MADE_HERE = range(3)
"""How far an object is trusted.

One that the tests make, by calling a class that they name, or combine of such objects, may compare
itself with a value. One that something else returned may only be compared with other objects, and
combined with a value into an object, which then gives no value: that would be computed from what
the tests expect.
"""


class _Object:
    """An object of the program. Its subclasses have the special methods that its class has."""

    def __init__(self, number: int, program: _RemoteProgram):
        object.__setattr__(self, "_at_k_number", number)
        object.__setattr__(self, "_at_k_program", program)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_at_k") or name in _PREDICATES:
            raise AttributeError(name)
        return self._at_k_program.ask("getattr", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._at_k_program.ask("setattr", self, name, value)

    def __delattr__(self, name: str) -> None:
        self._at_k_program.ask("delattr", self, name)

    def __instancecheck__(self, value: Any) -> bool:
        return isinstance(value, _Object) and self._at_k_program.ask("isinstance", value, self)

    def __subclasscheck__(self, value: Any) -> bool:
        return isinstance(value, _Object) and self._at_k_program.ask("issubclass", value, self)

    def __mro_entries__(self, bases: Any) -> NoReturn:
        """Python calls it if a class of the tests has an object of the program as its base."""
        self._at_k_program.needs_interpreter = True
        raise _NeedsInterpreterError


@lru_cache(maxsize=1024)
def _proxy_class(kind: int, name: str, operations: tuple[str, ...]) -> type:
    """Return the class of proxies for a class of a program that supports these operations.

    Attributes are set and deleted as `_Object` does it. The number of the class keeps classes of a
    program apart that have one name.
    """
    # A class that defines __eq__ without __hash__ would not be hashable.
    members: dict[str, Any] = {"__hash__": _Object.__hash__}
    for method, operation in SPECIAL_METHODS.items():
        if operation in operations and method not in ("__setattr__", "__delattr__"):
            members[method] = _method(operation)
    return type(name, (_Object,), members)


@lru_cache(maxsize=256)
def _method(operation: str) -> Any:
    """Return a special method of proxies that asks the program for this operation."""

    def method(self: Any, *arguments: Any, **options: Any) -> Any:
        is_made_here = self._at_k_trust == _MADE_HERE
        if operation in COMPARISONS and not (is_made_here or isinstance(arguments[0], _Object)):
            return NotImplemented
        if operation == "contains" and not is_made_here:
            return any(item is arguments[0] or item == arguments[0] for item in self)
        if operation == "exit":
            arguments = ()
        return self._at_k_program.ask(operation, self, *arguments, **options)

    return method
