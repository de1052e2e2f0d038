"""The scripts of the metrics, as modules `at_k.metrics.<name>.<name>`.

A script imports from `.kernel`, a file with all modules of the core. Here a module made of the core
takes its place, so that a process has one copy of each class.
"""

from __future__ import annotations

import sys
from types import ModuleType

from .core import computations, metric, package
from .loading import METRICS_FOLDER, metric_folders

__path__ = [str(METRICS_FOLDER)]

_kernel = ModuleType(f"{__name__}.kernel")
for _module in (package, computations, metric):
    vars(_kernel).update(vars(_module))
for _name in metric_folders():
    sys.modules[f"{__name__}.{_name}.kernel"] = _kernel
