"""Metrics for evaluation harnesses, which write the scores into the logs of the harness.

Each module needs its harness, and is imported when it is first used.

    at_k.integrations.inspect.at_k      a metric of inspect_ai
    at_k.integrations.lm_eval.at_k      a metric in the YAML of a task of lm-evaluation-harness
    at_k.integrations.lighteval.at_k    a metric of lighteval

The names of scores are those of `compute`, such as "pass@4" and "topic/pass@4". Beside each of them
are "pass@4_stderr", "pass@4_lo" and "pass@4_hi": its standard error and its confidence limits.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Import the module of a harness when it is first used."""
    if name in ("inspect", "lighteval", "lm_eval"):
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
