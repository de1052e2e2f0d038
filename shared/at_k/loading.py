"""Load the metrics that come with this package, and make them known to `evaluate`."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import evaluate


def metric_folders() -> dict[str, Path]:
    """Return the folder of each metric by the metric's name."""
    package = Path(__file__).resolve().parent
    installed, checkout = package / "metrics", package.parents[1] / "metrics"
    folders = installed if installed.is_dir() else checkout
    scripts = sorted(folders.glob("*/*.py"))
    return {path.stem: path.parent for path in scripts if path.stem == path.parent.name}


def metric_script(name: str) -> Path:
    """Return the path of a metric's script.

    Raises:
        ValueError: If there is no metric of this name.
    """
    folders = metric_folders()
    if name not in folders:
        raise ValueError(f"There is no metric {name!r}. The metrics are {', '.join(folders)}.")
    return folders[name] / f"{name}.py"


def load(name: str, **options) -> evaluate.Metric:
    """Load a metric from this package, without a network.

    Args:
        name: Name of the metric, such as "gpassk".
        options: Options of `evaluate.load`, such as num_process, process_id and experiment_id.

    Raises:
        ValueError: If there is no metric of this name.
    """
    import evaluate  # takes seconds, and only this function needs it

    return evaluate.load(str(metric_script(name)), **options)


def register() -> dict[str, Path]:
    """Copy the metrics to where `evaluate.load` finds them by name without a network.

    This is the cache in which `evaluate` keeps the scripts that it has downloaded, with a folder
    for each version. If it cannot reach the Hub, it takes the version that was written last.

    Returns:
        The folder that was written for each metric, by the metric's name.
    """
    from evaluate.loading import init_dynamic_modules

    cache = Path(init_dynamic_modules()) / "metrics"
    written = {}
    for name, source in metric_folders().items():
        modules = sorted(source.glob("*.py"))
        code = b"".join(module.read_bytes() for module in modules)
        target = cache / f"evaluate-metric--{name}" / hashlib.sha256(code).hexdigest()
        target.mkdir(parents=True, exist_ok=True)
        for package in (cache, target.parent, target):
            (package / "__init__.py").touch()
        for module in modules:
            shutil.copyfile(module, target / module.name)
        written[name] = target
    return written
