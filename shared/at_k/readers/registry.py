"""The readers of logs, tried in order. To support another log, add a module and a line.

A reader returns a `Table`, or None if the source is not what it reads. It imports libraries other
than NumPy in its function only. Its tests read files that the harness has written.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from .table import Table

PATH_READERS: tuple[Callable[[Path], Table | None], ...] = ()
"""Readers of files and folders with a format of their own, such as `.eval` of inspect_ai."""

TABLE_READERS: tuple[Callable[[Table, Path | None], Table | None], ...] = ()
"""Readers of tables that were parsed from JSON Lines, JSON, CSV or Parquet at a path, or None."""

OBJECT_READERS: tuple[Callable[[Any], Table | None], ...] = ()
"""Readers of Python objects, such as a list of `RequestOutput` of vLLM."""
