"""Checkers that need more than a metric has: programs that run tests in a sandbox."""

from __future__ import annotations

from .pool import Record
from .python_tests import PythonTests, python_tests
from .sandbox import SandboxError

__all__ = ["PythonTests", "Record", "SandboxError", "python_tests"]
