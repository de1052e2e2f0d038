"""Write the `kernel.py` of each metric: the modules of `at_k` that its script needs, in one file.

    python shared/vendor.py            write every metrics/<name>/kernel.py
    python shared/vendor.py --check    change nothing, and fail where a file differs

`evaluate.load` downloads a script and the files that the script imports from its own folder,
one request each. So a script imports from one file only. The modules it needs are found from
the names that it imports: the module that defines each name, and the modules that this one
imports in turn. They are joined in import order, with their imports from each other dropped
and all other imports at the top.

Joining modules puts all their top-level names in one namespace. What that could change is
refused: a top-level name that two modules share, a relative import inside a function, an
import cycle.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent / "at_k"
METRICS = PACKAGE.parents[1] / "metrics"
KERNEL = "kernel"


class VendorError(Exception):
    """The modules cannot be joined without changing what they mean."""


@dataclass(frozen=True)
class Module:
    """One source file of the package.

    Attributes:
        name: dotted, from the package down: `scores.credits`.
        imports: the modules of the package that it imports.
        external: the lines that import anything else, at the top level.
        names: the names that it defines at the top level.
    """

    name: str
    source: str
    tree: ast.Module = field(repr=False)

    @classmethod
    def read(cls, path: Path, package: Path) -> Module:
        source = path.read_text(encoding="utf-8")
        name = ".".join(path.relative_to(package).with_suffix("").parts)
        return cls(name, source, ast.parse(source))

    @cached_property
    def imports(self) -> list[str]:
        found = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and node.level:
                if node not in self.tree.body:
                    raise VendorError(
                        f"{self._at(node)}: a relative import belongs at the top level"
                    )
                if any(alias.asname for alias in node.names):
                    raise VendorError(f"{self._at(node)}: a relative import cannot rename")
                found.append(self._target(node))
        return found

    def _target(self, node: ast.ImportFrom) -> str:
        """The module that a relative import names."""
        room = self.name.split(".")[: -node.level]
        if len(self.name.split(".")) < node.level or not node.module:
            raise VendorError(f"{self._at(node)}: import from a module of the package")
        return ".".join([*room, node.module])

    @cached_property
    def external(self) -> list[ast.Import | ast.ImportFrom]:
        return [
            node
            for node in self.tree.body
            if isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and not node.level)
        ]

    @cached_property
    def names(self) -> list[str]:
        return [*dict.fromkeys(_defined(self.tree.body)), *_globals(self.tree)]

    @cached_property
    def bound_by_imports(self) -> dict[str, str]:
        """What each name is that an external import binds."""
        bound = {}
        for node in self.external:
            for alias in node.names:
                where = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
                bound[alias.asname or alias.name.split(".")[0]] = where + alias.name
        return bound

    @property
    def docstring(self) -> str:
        return ast.get_docstring(self.tree) or ""

    @property
    def body(self) -> str:
        """The source without the docstring and the imports."""
        lines = self.source.splitlines()
        dropped = [
            node
            for node in self.tree.body
            if isinstance(node, (ast.Import, ast.ImportFrom)) or _is_docstring(node, self.tree)
        ]
        for node in dropped:
            for line in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[line] = ""
        return "\n".join(lines).strip("\n")

    def _at(self, node: ast.stmt) -> str:
        return f"{self.name}, line {node.lineno}"


def _is_docstring(node: ast.stmt, tree: ast.Module) -> bool:
    return node is tree.body[0] and ast.get_docstring(tree) is not None


def _defined(statements: Iterable[ast.stmt]) -> Iterator[str]:
    """The names that top-level statements bind, imports aside."""
    for statement in statements:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            yield statement.name
        elif not isinstance(statement, (ast.Import, ast.ImportFrom)):
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    yield node.id


def _globals(tree: ast.Module) -> Iterator[str]:
    """The names that functions bind at the top level by `global`."""
    bound = set(_defined(tree.body))
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            yield from (name for name in node.names if name not in bound)


# --- The package ------------------------------------------------------------------------


def read_package(package: Path = PACKAGE) -> dict[str, Module]:
    """The modules of the package by name.

    Raises:
        VendorError: if two modules share a top-level name, or one hides a built-in or an import.
    """
    paths = sorted(package.rglob("*.py"))
    modules = [Module.read(path, package) for path in paths if path.name != "__init__.py"]
    owner: dict[str, str] = {}
    for module in modules:
        for name in module.names:
            if name in owner:
                raise VendorError(f"{name} is defined in {owner[name]} and in {module.name}")
            if hasattr(builtins, name):
                raise VendorError(f"{module.name} defines {name}, which is a built-in name")
            owner[name] = module.name
    meaning: dict[str, str] = {}
    for module in modules:
        for name, what in module.bound_by_imports.items():
            if name in owner:
                raise VendorError(f"{module.name} imports {name}, which {owner[name]} defines")
            if meaning.setdefault(name, what) != what:
                raise VendorError(f"{module.name} imports {what} as {name}, others {meaning[name]}")
    return {module.name: module for module in modules}


def in_import_order(wanted: Iterable[str], modules: dict[str, Module]) -> list[Module]:
    """These modules and all that they import, each after those that it imports.

    Raises:
        VendorError: if modules import each other in a cycle.
    """
    ordered: dict[str, Module] = {}

    def visit(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise VendorError(f"modules import each other: {' -> '.join([*above, name])}")
        if name not in ordered:
            for imported in modules[name].imports:
                visit(imported, (*above, name))
            ordered[name] = modules[name]

    for name in wanted:
        visit(name, ())
    return list(ordered.values())


# --- One file ---------------------------------------------------------------------------


def names_from(source: str, kernel: str = KERNEL) -> list[str]:
    """The names that a source file imports from the kernel beside it."""
    return [
        alias.name
        for node in ast.parse(source).body
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module == kernel
        for alias in node.names
    ]


def names_from_package(source: str, package: str = PACKAGE.name) -> list[str]:
    """The names that a source file imports from modules of the package."""
    return [
        alias.name
        for node in ast.parse(source).body
        if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith(f"{package}.")
        for alias in node.names
    ]


def modules_for(names: Iterable[str], modules: dict[str, Module]) -> list[Module]:
    """The modules that define the names, and all that they import, in import order."""
    owner = {name: module.name for module in modules.values() for name in module.names}
    wanted = list(names)
    if unknown := [name for name in wanted if name not in owner]:
        raise VendorError(f"no module of at_k defines {', '.join(unknown)}")
    return in_import_order(sorted({owner[name] for name in wanted}), modules)


def joined(modules: list[Module], title: str) -> str:
    """The source of one file that holds all these modules."""
    origin = "Generated by shared/vendor.py: edit the modules in shared/at_k instead."
    parts = [
        f'"""{title}\n\n{origin}\n"""',
        "\n".join(["from __future__ import annotations", "", *_hoisted(modules)]),
        *(f"{_header(module)}\n\n{module.body}" for module in modules),
    ]
    return "\n\n\n".join(parts) + "\n"


def _hoisted(modules: list[Module]) -> list[str]:
    """The external imports of all modules, each once: plain ones first."""
    plain, names = Counter[str](), dict[str, Counter[str]]()
    for module in modules:
        for node in module.external:
            for alias in node.names:
                renamed = alias.name + (f" as {alias.asname}" if alias.asname else "")
                if isinstance(node, ast.Import):
                    plain[renamed] += 1
                elif node.module != "__future__":
                    names.setdefault(str(node.module), Counter())[renamed] += 1
    lines = [f"import {name}" for name in sorted(plain)]
    for source in sorted(names):
        line = f"from {source} import {', '.join(sorted(names[source]))}"
        if len(line) > 100:
            line = f"from {source} import (\n    " + ",\n    ".join(sorted(names[source])) + ",\n)"
        lines.append(line)
    return lines


def _header(module: Module) -> str:
    rule = "# " + "=" * 86
    path = module.name.replace(".", "/")
    text = [f"# shared/at_k/{path}.py", "#"]
    text += [f"# {line}".rstrip() for line in module.docstring.splitlines()]
    return "\n".join([rule, *text, rule])


def kernel_of(script: Path, modules: dict[str, Module]) -> str:
    """The source of the kernel that a metric's script imports."""
    names = names_from(script.read_text(encoding="utf-8"))
    return joined(modules_for(names, modules), f"What the metric {script.stem} computes with.")


# --- The command ------------------------------------------------------------------------


def main() -> None:
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        raise SystemExit(__doc__)
    try:
        modules = read_package()
        wanted = {
            folder / f"{KERNEL}.py": kernel_of(folder / f"{folder.name}.py", modules)
            for folder in sorted(METRICS.iterdir())
            if (folder / f"{folder.name}.py").exists()
        }
    except VendorError as error:
        raise SystemExit(f"shared/vendor.py: {error}.") from error
    stale = [
        path
        for path, text in wanted.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    for path in stale:
        print(path.relative_to(METRICS.parent))
        if not check:
            path.write_text(wanted[path], encoding="utf-8")
    if check and stale:
        raise SystemExit("These differ from shared/at_k: run python shared/vendor.py")


if __name__ == "__main__":
    main()
