"""The readers of logs, tried in order. To support another log, add a module and a line.

A reader returns a `Table`, or None if the source is not what it reads. It imports libraries other
than NumPy in its function only. Its tests read files that the harness has written.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from .evalplus import read_evalplus
from .flat_rewards import read_flat_rewards
from .human_eval import read_human_eval
from .inspect_ai import read_eval_file, read_inspect_json, read_samples_df
from .lighteval import read_lighteval
from .lm_eval import read_lm_eval, refuse_lm_eval_folder
from .openai_batch import read_openai_batch
from .table import Table
from .trl import read_trl
from .verl import read_verl
from .vllm import read_request_outputs

PATH_READERS: tuple[Callable[[Path], Table | None], ...] = (
    read_eval_file,
    refuse_lm_eval_folder,
)
"""Readers of files and folders with a format of their own, such as `.eval` of inspect_ai."""

TABLE_READERS: tuple[Callable[[Table, Path | None], Table | None], ...] = (
    read_lm_eval,
    read_inspect_json,
    read_samples_df,
    read_lighteval,
    read_evalplus,
    read_human_eval,
    read_openai_batch,
    read_verl,
    read_trl,
)
"""Readers of tables that were parsed from JSON Lines, JSON, CSV or Parquet at a path, or None."""

OBJECT_READERS: tuple[Callable[[Any], Table | None], ...] = (
    read_request_outputs,
    read_flat_rewards,
)
"""Readers of Python objects, such as a list of `RequestOutput` of vLLM."""
