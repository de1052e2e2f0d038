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

    These are two of its caches: that of downloads, which it takes if the Hub has no such file or
    cannot be reached, and that of scripts, which it takes with a warning if another version of
    `evaluate` looks for other downloads. The latter has a folder for each version of a metric, and
    the one that was written last is taken.

    Returns:
        The folder that was written for each metric, by the metric's name.
    """
    written = {}
    for name, source in metric_folders().items():
        modules = sorted(source.glob("*.py"))
        code = b"".join(module.read_bytes() for module in modules)
        scripts = _cached_scripts(name)
        target = scripts / hashlib.sha256(code).hexdigest()
        target.mkdir(parents=True, exist_ok=True)
        for package in (scripts.parent, scripts, target):
            (package / "__init__.py").touch()
        for module in modules:
            for copy in (target / module.name, *_cached_downloads(name, module.name)):
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(module, copy)
        written[name] = target
    return written


def unregister() -> list[str]:
    """Remove the copies that `register` made, and return the names of the metrics."""
    folders = metric_folders()
    for name, source in folders.items():
        shutil.rmtree(_cached_scripts(name), ignore_errors=True)
        for module in source.glob("*.py"):
            for copy in _cached_downloads(name, module.name):
                copy.unlink(missing_ok=True)
    return list(folders)


def _cached_scripts(name: str) -> Path:
    """Return the folder in which `evaluate` keeps the versions of a metric."""
    from evaluate.loading import init_dynamic_modules

    return Path(init_dynamic_modules()) / "metrics" / f"evaluate-metric--{name}"


def _cached_downloads(name: str, file: str) -> list[Path]:
    """Return where `evaluate` keeps a file of a metric that it has downloaded from the Hub."""
    from evaluate.config import DOWNLOADED_EVALUATE_PATH
    from evaluate.loading import SCRIPTS_VERSION
    from evaluate.utils.file_utils import hash_url_to_filename, hf_hub_url

    urls = [
        hf_hub_url(f"evaluate-metric/{name}", file, revision)
        for revision in (f"v{SCRIPTS_VERSION}", "main")
    ]
    return [Path(DOWNLOADED_EVALUATE_PATH) / hash_url_to_filename(url) for url in urls]
