"""Link installed packages into another environment."""

from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement


def link_requirements(requirements: list[str], folder: Path) -> None:
    """Link the installed distributions that meet requirements, and all that these require.

    Args:
        requirements: lines of a requirements.txt.
        folder: the folder of packages of another environment with the same Python.

    Raises:
        ValueError: if another version is installed.
        importlib.metadata.PackageNotFoundError: if a distribution is not installed.
    """
    waiting = [(Requirement(line), "") for line in requirements]
    done = set()
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        found = distribution(requirement.name)
        if not requirement.specifier.contains(found.version, prereleases=True):
            raise ValueError(f"{requirement} is required, and {found.version} is installed.")
        for wanted in ("", *requirement.extras):
            if (found.name, wanted) not in done:
                done.add((found.name, wanted))
                waiting += [(Requirement(line), wanted) for line in found.requires or ()]
        link_files(found, folder)


def link_files(found: Distribution, folder: Path) -> None:
    """Link the modules, packages and metadata of a distribution, but not its scripts."""
    for name in {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
        link = folder / name
        if not link.exists():
            link.symlink_to(Path(str(found.locate_file(name))))
