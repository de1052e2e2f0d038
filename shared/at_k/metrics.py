"""The scripts of the metrics, as modules `at_k.metrics.<name>.<name>`.

They are in the folder `metrics` of the installed package, or of the repository in a checkout.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
METRICS_FOLDER = next(
    folder for folder in (_PACKAGE / "metrics", _PACKAGE.parents[1] / "metrics") if folder.is_dir()
)

__path__ = [str(METRICS_FOLDER)]
