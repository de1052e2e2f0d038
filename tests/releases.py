"""The published `score_agg`, loaded from the wheels of releases of eval-ai-library.

The releases cannot be installed side by side, and need many libraries. So each wheel is downloaded,
and only the module that defines the function is loaded from it.
"""

from __future__ import annotations

import subprocess
import sys
import zipimport
from collections.abc import Callable
from importlib.util import module_from_spec
from pathlib import Path

# The release for each value of the parameter `compat`.
RELEASES = {"0.3": "0.3.3", "0.7": "0.7.10", "0.8": "0.8.2"}


def published_score_agg(release: str, folder: Path) -> Callable[..., float]:
    """Return the function of a release. Its wheel is downloaded unless it is in the folder."""
    name = f"eval_ai_library-{release}-*.whl"
    if not list(folder.glob(name)):
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        subprocess.run([*pip, "--dest", folder, f"eval-ai-library=={release}"], check=True)
    (wheel,) = folder.glob(name)
    # Load utils.py alone: the package would import all its dependencies.
    spec = zipimport.zipimporter(str(wheel / "eval_lib")).find_spec("utils")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.score_agg
