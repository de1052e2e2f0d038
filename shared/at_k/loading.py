"""Where the metrics are, and how `evaluate` gets at them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import evaluate


def metric_folders() -> dict[str, Path]:
    """The folder of each metric, by its name."""
    here = Path(__file__).resolve().parent
    installed, checkout = here / "metrics", here.parents[1] / "metrics"
    folders = installed if installed.is_dir() else checkout
    return {path.stem: path.parent for path in sorted(folders.glob("*/*.py")) if _is_script(path)}


def _is_script(path: Path) -> bool:
    return path.stem == path.parent.name


def metric_script(name: str) -> Path:
    """The script of a metric; a ValueError that names the metrics if there is none."""
    folders = metric_folders()
    if name not in folders:
        raise ValueError(f"There is no metric {name!r}: there are {', '.join(folders)}.")
    return folders[name] / f"{name}.py"


def load(name: str, **options) -> evaluate.Metric:
    """The metric of that name as it is installed: no network, no copy of the folder.

    Args:
        name: such as "gpassk".
        options: of `evaluate.load`, such as num_process, process_id and experiment_id.

    Raises:
        ValueError: that names the metrics, if there is none of that name.
    """
    import evaluate

    return evaluate.load(str(metric_script(name)), **options)


def register() -> list[Path]:
    """Put the metrics where `evaluate.load` looks for a bare name that no Hub answers to.

    That is its cache of scripts, in which it takes the newest of each name. Returns the
    folders that were written.
    """
    import hashlib
    import shutil

    from evaluate.loading import init_dynamic_modules

    cache = Path(init_dynamic_modules()) / "metrics"
    written = []
    for name, folder in metric_folders().items():
        modules = sorted(folder.glob("*.py"))
        code = b"".join(module.read_bytes() for module in modules)
        target = cache / f"evaluate-metric--{name}" / hashlib.sha256(code).hexdigest()
        target.mkdir(parents=True, exist_ok=True)
        for package in (cache, target.parent, target):
            (package / "__init__.py").touch()
        for module in modules:
            shutil.copyfile(module, target / module.name)
        written.append(target)
    return written
