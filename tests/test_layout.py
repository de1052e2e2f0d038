"""The layout of the repository: folders of metrics, and rooms of the package."""

import ast
from pathlib import Path

import pytest
from conftest import ROOT

PACKAGE = ROOT / "shared" / "at_k"
METRICS = sorted(path.parent for path in (ROOT / "metrics").glob("*/requirements.txt"))
# Each room may import from the rooms before it.
ROOMS = [
    ["core"],
    ["exchange", "results", "scores"],
    ["intervals"],
    ["functions", "checkers"],
    ["rooms"],
    ["loading"],
    ["metrics"],
    ["readers"],
    ["runs"],
    ["charts"],
    ["cli"],
    ["testing"],
    ["integrations"],
    ["__main__"],
]
LEVEL = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}
MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]


def room_of(path: Path) -> str:
    """Return the folder of a module, or its name if it is in no folder."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def rooms_imported_by(path: Path) -> set[str]:
    """Return the rooms that relative imports of a module lead to, its own included."""
    folder = path.relative_to(PACKAGE).parts[:-1]
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            target = folder[: len(folder) - node.level + 1]
            rooms.add([*target, *(node.module or "").split(".")][0])
    return rooms


@pytest.mark.parametrize("folder", METRICS, ids=lambda folder: folder.name)
def test_a_metric_is_four_files(folder):
    files = {path.name for path in folder.iterdir() if path.name != "__pycache__"}
    assert files == {f"{folder.name}.py", "kernel.py", "README.md", "requirements.txt"}


def test_every_metric_has_a_space():
    names = [folder.name for folder in METRICS]
    assert names == sorted(path.parent.name for path in (ROOT / "spaces").glob("*/app.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_between_rooms_point_one_way(path):
    own = room_of(path)
    for room in rooms_imported_by(path) - {own}:
        assert LEVEL[room] < LEVEL[own], f"{own} imports {room}"
