"""Checkers with options, and those that need more than a metric has, such as a sandbox."""

from __future__ import annotations

from .choices import choice
from .options import NamedChecker, ParallelChecker, math_verify, numeric, parallel
from .pool import Record
from .python_tests import PythonTests, python_tests
from .sandbox import SandboxError

__all__ = [
    "NamedChecker",
    "ParallelChecker",
    "PythonTests",
    "Record",
    "SandboxError",
    "choice",
    "math_verify",
    "numeric",
    "parallel",
    "python_tests",
]
