"""The scripts of the metrics, as modules `at_k.metrics.<name>.<name>`.

They are in the folder `metrics` of the installed package, or of the repository in a checkout.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_INSTALLED, _CHECKOUT = _PACKAGE / "metrics", _PACKAGE.parents[1] / "metrics"
METRICS_FOLDER = _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT

__path__ = [str(METRICS_FOLDER)]
