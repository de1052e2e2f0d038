"""The published score_agg: releases of eval-ai-library, of which each wheel is read for one
function, and nothing is installed."""

from __future__ import annotations

import subprocess
import sys
import zipimport
from collections.abc import Callable
from importlib.util import module_from_spec
from pathlib import Path

RELEASES = {"0.3": "0.3.3", "0.7": "0.7.10", "0.8": "0.8.2"}


def published_score_agg(release: str, folder: Path) -> Callable[..., float]:
    """The function of a release, whose wheel is downloaded into the folder if it is not there."""
    name = f"eval_ai_library-{release}-*.whl"
    if not list(folder.glob(name)):
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        subprocess.run([*pip, "--dest", folder, f"eval-ai-library=={release}"], check=True)
    (wheel,) = folder.glob(name)
    # utils.py on its own: the package around it would import all that it depends on.
    spec = zipimport.zipimporter(str(wheel / "eval_lib")).find_spec("utils")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.score_agg
