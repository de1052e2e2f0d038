"""Make named checkers with options, and run programs with tests in a sandbox."""

from __future__ import annotations

from .named import choice, math_verify, numeric
from .python_tests import PythonTests, python_tests
from .sandbox import Record, SandboxError

__all__ = [
    "PythonTests",
    "Record",
    "SandboxError",
    "choice",
    "math_verify",
    "numeric",
    "python_tests",
]
