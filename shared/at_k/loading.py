"""Functions that load the metrics of this package, and register them with `evaluate`."""

from __future__ import annotations

import hashlib
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

from .core.checks import did_you_mean, short

_PACKAGE = Path(__file__).resolve().parent
_INSTALLED, _CHECKOUT = _PACKAGE / "metrics", _PACKAGE.parents[1] / "metrics"
METRICS_FOLDER = _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT
"""The folder of the metrics: in the installed package, or in the repository of a checkout."""


def metric_folders() -> dict[str, Path]:
    """Return the folder of each metric by the metric's name."""
    scripts = sorted(METRICS_FOLDER.glob("*/*.py"))
    return {path.stem: path.parent for path in scripts if path.stem == path.parent.name}


def core_hash() -> str:
    """Return the hash of this package's core. Kernels that were made from it have the same hash."""
    code = b"".join(path.read_bytes() for path in sorted(_PACKAGE.glob("core/*.py")))
    return hashlib.sha256(code).hexdigest()[:12]


def metric_script(name: str) -> Path:
    """Return the path of a metric's script. Raises ValueError if there is no such metric."""
    folders = metric_folders()
    if not isinstance(name, str) or name not in folders:
        hint = did_you_mean(name, folders) if isinstance(name, str) else ""
        raise ValueError(
            f"There is no metric {short(name)}.{hint} The metrics are {', '.join(folders)}."
        )
    return folders[name] / f"{name}.py"


def load(name: str, **options: Any) -> Any:
    """Load a metric from this package, without a network. Nothing is written.

    Args:
        name: Name of the metric, such as "gpassk".
        options: Options of `evaluate.load`, such as num_process, process_id and experiment_id.
            Options about downloads have no effect.

    Returns:
        The metric, an `evaluate.Metric` with the methods `add`, `add_batch` and `compute`.

    Raises:
        ValueError: If there is no metric of this name.

    Examples:
        >>> load("gpassk").compute(predictions=[[1, 0, 1, 1]], k=2, include="pass^k")
        {'pass^2': 0.5}
    """
    metric_script(name)
    script = import_module(f"at_k.metrics.{name}.{name}")  # imports evaluate, which takes seconds
    return getattr(script, _class_name(name))(**options)


def _class_name(name: str) -> str:
    """Return the name of the class of a metric, such as "MaxAtK" for "max_at_k"."""
    return name.title().replace("_", "")


def register() -> dict[str, Path]:
    """Make the metrics known to `evaluate.load` by name, without a network.

    For each metric, a script of two lines that imports it from this package is written to two
    caches of `evaluate`. If the Hub has no such file or cannot be reached, `evaluate` takes the
    script from the cache of downloads. A version of `evaluate` that names downloads in another way
    takes it from the cache of scripts, with a warning.

    Returns:
        For each metric, by its name, the folder of its script in the cache of scripts.
    """
    from .exchange import write_whole  # Imported here because it imports pyarrow.

    folders = {}
    for name in metric_folders():
        script = (
            f'"""The metric {name} of the installed package evaluate-at-k."""\n\n'
            f"from at_k.metrics.{name}.{name} import {_class_name(name)}\n"
        )
        version = hashlib.sha256(script.encode()).hexdigest()
        folders[name] = _scripts_folder(name) / version
        for package in (folders[name].parent.parent, folders[name].parent, folders[name]):
            package.mkdir(parents=True, exist_ok=True)
            (package / "__init__.py").touch()  # `evaluate` imports scripts as modules.
        for path in [folders[name] / f"{name}.py", *_download_paths(name, f"{name}.py")]:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, script.encode())
    return folders


def unregister() -> list[str]:
    """Remove the scripts that `register` wrote, and return the names of the metrics."""
    folders = metric_folders()
    for name, folder in folders.items():
        shutil.rmtree(_scripts_folder(name), ignore_errors=True)
        # Earlier versions also copied the modules beside the script.
        for module in folder.glob("*.py"):
            for path in _download_paths(name, module.name):
                path.unlink(missing_ok=True)
    return list(folders)


def _scripts_folder(name: str) -> Path:
    """Return the folder in which `evaluate` caches the versions of the script of a metric."""
    from evaluate.loading import init_dynamic_modules

    return Path(init_dynamic_modules()) / "metrics" / f"evaluate-metric--{name}"


def _download_paths(name: str, file: str) -> list[Path]:
    """Return the paths at which `evaluate` caches a file of a metric, by revision."""
    from evaluate.config import DOWNLOADED_EVALUATE_PATH
    from evaluate.loading import SCRIPTS_VERSION
    from evaluate.utils.file_utils import hash_url_to_filename, hf_hub_url

    urls = [
        hf_hub_url(f"evaluate-metric/{name}", file, revision)
        for revision in (f"v{SCRIPTS_VERSION}", "main")
    ]
    return [Path(DOWNLOADED_EVALUATE_PATH) / hash_url_to_filename(url) for url in urls]
