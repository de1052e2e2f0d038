"""Join the definitions of at_k that a metric needs into the kernel.py of its folder.

    python shared/vendor.py            write metrics/<name>/kernel.py for each metric
    python shared/vendor.py --check    write nothing, and fail if a kernel is out of date

`evaluate.load` downloads a script and each module that the script names in `from .name import`,
with requests for each of them at every load. A script therefore imports from `.kernel` only. The
kernel has the definitions that the script can reach, without docstrings, in one namespace.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent / "at_k"
METRICS = PACKAGE.parents[1] / "metrics"

_FUTURE = "from __future__ import annotations"
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_NAMED = (*_DEFINITIONS, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
# What depends on the file that a module is in. Loggers may use `__name__`, as a label.
_OF_A_FILE = {"__doc__", "__file__", "__loader__", "__package__", "__path__", "__spec__", "globals"}
# The methods that users call. `evaluate` appends to their docstrings, and fails without any.
_DOCUMENTED = {"add", "add_batch", "compute"}


class VendorError(Exception):
    """Modules cannot be joined, with a line for each reason."""


def _raise_if_any(problems: Iterable[str]) -> None:
    if lines := [f"{problem}." for problem in problems]:
        raise VendorError("\n".join(lines))


# --- A module ---------------------------------------------------------------------------


class Module:
    """A source file: its dotted name in the package, its path in the project, and its text.

    Attributes:
        lines: The lines of the source, with None for those of docstrings.
        names: The names that definitions and assignments at the top level bind, with their lines.
        external: The imports from outside the package: name, origin, alias and line.
        targets: The dotted names of the modules that relative imports name, with their lines.
        statements: The other top-level statements, with the names that they bind and use.
    """

    def __init__(self, name: str, path: str, source: str):
        self.name, self.path, self.tree = name, path, ast.parse(source)
        self.lines = _without_docstrings(self.tree, source.splitlines())
        self.outside_functions = list(_outside_functions(self.tree))
        self.names = dict(_bound(self.outside_functions))
        self.external: list[tuple[str, str, str, int]] = []
        self.targets: dict[str, int] = {}
        self.statements: dict[ast.stmt, tuple[set[str], set[str]]] = {}
        for node in self.outside_functions:
            if isinstance(node, ast.ImportFrom) and node.level:
                room = name.split(".")[: -node.level]
                self.targets[".".join([*room, node.module or ""])] = node.lineno
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                origin = node.module or "" if isinstance(node, ast.ImportFrom) else ""
                for alias in node.names:
                    bound = alias.name if origin else alias.name.partition(".")[0]
                    entry = alias.asname or bound, origin, ast.unparse(alias), node.lineno
                    self.external.append(entry)
            elif node in self.tree.body and not _is_text(node):
                assert isinstance(node, ast.stmt)
                inner = [] if isinstance(node, _DEFINITIONS) else _outside_functions(node)
                binds = {name for name, _ in _bound([node, *inner])}
                uses = {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}
                self.statements[node] = binds, uses

    def at(self, line: int) -> str:
        return f"{self.path}:{line}"

    def text_of(self, statements: set[ast.stmt]) -> str:
        """Return the source of top-level statements and of the comments above them."""
        chunks, end = [], 0
        for node in self.tree.body:
            start, end = min(end, node.lineno - 1), node.end_lineno or 0
            if node in statements:
                lines = [line for line in self.lines[start:end] if line is not None]
                chunks.append(re.sub(r"^\n+", "\n", "\n".join(lines)))
        return "\n".join(chunks).strip("\n")


def _without_docstrings(tree: ast.Module, source: list[str]) -> list[str | None]:
    """Return lines of source, with None for those of docstrings and of rulers."""
    lines = [None if line.startswith("# ---") else line for line in source]
    for node in ast.walk(tree):
        if isinstance(node, _DEFINITIONS) and node.name not in _DOCUMENTED:
            texts = [child for child in node.body if _is_text(child)]
            for text in texts:
                first, end = text.lineno - 1, text.end_lineno or 0
                if text is node.body[0] and lines[end : end + 1] == [""]:
                    end += 1
                lines[first:end] = [None] * (end - first)
            if texts == node.body:
                lines[texts[0].lineno - 1] = f"{' ' * texts[0].col_offset}pass"
    return lines


def _is_text(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes that are not in a function, a class or the target of a comprehension."""
    own = node.target if isinstance(node, ast.comprehension) else None
    for child in ast.iter_child_nodes(node):
        if child is not own:
            yield child
            if not isinstance(child, (*_DEFINITIONS, ast.Lambda)):
                yield from _outside_functions(child)


def _bound(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, int]]:
    for node in nodes:
        if isinstance(node, _NAMED) and node.name:
            yield node.name, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            yield node.id, node.lineno


def read_package(package: Path = PACKAGE) -> dict[str, Module]:
    """Return the modules of the package by name, without any `__init__`.

    Raises:
        VendorError: If a top-level name has two meanings.
    """
    modules = {}
    for path in sorted(package.rglob("*.py")):
        # Each integration is called at_k, as harnesses show it, and none is part of a kernel.
        if path.name != "__init__.py" and path.parent.name not in ("integrations", "readers"):
            name = ".".join(path.relative_to(package).with_suffix("").parts)
            label = path.relative_to(package.parents[1]).as_posix()
            modules[name] = Module(name, label, path.read_text(encoding="utf-8"))
    _raise_if_any(_problems_of_names(modules.values()))
    return modules


# --- What joining would change ----------------------------------------------------------


def _problems_of_names(modules: Iterable[Module]) -> Iterator[str]:
    """Find the top-level names with two meanings among all modules."""
    meanings: dict[str, tuple[tuple[str, str], str]] = {}
    for module in modules:
        own = [(name, (module.name, ""), line) for name, line in module.names.items()]
        imported = [
            (name, (origin, alias if origin or " as " in alias else name), line)
            for name, origin, alias, line in module.external
        ]
        for name, meaning, line in own + imported:
            other, there = meanings.setdefault(name, (meaning, module.at(line)))
            if hasattr(builtins, name):
                yield f"{module.at(line)}: {name} hides a built-in name; use another name"
            elif meaning != other:
                yield f"{module.at(line)}: {name} is also defined at {there}; rename one of them"


def _problems_of_form(module: Module) -> Iterator[tuple[int, str]]:
    """Find what would make a module mean something else in a kernel, each with its line."""
    if ("annotations", "__future__") not in {entry[:2] for entry in module.external}:
        yield 1, f"add `{_FUTURE}`, with which a kernel starts"
    for name, line in module.names.items():
        if name.startswith("__"):
            yield line, f"{name} would apply to the whole kernel; define it outside kernels"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Name) and node.id in _OF_A_FILE:
            yield node.lineno, f"{node.id} differs in a kernel; use it in modules outside kernels"
        elif isinstance(node, ast.Global):
            yield node.lineno, "`global` may rebind a name of another module; use an object"
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            relative = isinstance(node, ast.ImportFrom) and node.level > 0
            origins = [alias.name for alias in node.names]
            if isinstance(node, ast.ImportFrom):
                origins = [node.module or ""]
            if node not in module.tree.body and (relative or node in module.outside_functions):
                yield node.lineno, "move this import to the top level of the module"
            if not relative and any(f"{origin}.".startswith("at_k.") for origin in origins):
                yield node.lineno, "make this import from at_k a relative one"
            if any(alias.name == "*" or (relative and alias.asname) for alias in node.names):
                yield node.lineno, "import names, each under its own name"


# --- One file ---------------------------------------------------------------------------


def kernel_of(script: Module, modules: Mapping[str, Module]) -> str:
    """Return the source of the kernel that a metric's script imports from.

    Raises:
        VendorError: If a name is not defined, or a module cannot be joined with others.
    """
    owners = {name: module for module in modules.values() for name in module.names}
    wanted = {
        alias.name: script.at(node.lineno)
        for node in ast.walk(script.tree)
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module == "kernel"
        for alias in node.names
    }
    missing = sorted(wanted.keys() - owners.keys())
    _raise_if_any(f"{wanted[name]}: no module of at_k defines {name}" for name in missing)
    ordered = _in_import_order({owners[name].name for name in wanted}, modules)
    # A local name may be that of a definition in a module that the script does not import.
    imported = {name: module for name, module in owners.items() if module in ordered}
    statements, names = _reachable(wanted, imported)
    texts = {module.path: module.text_of(statements) for module in ordered}
    sections = [f"# {f'--- {path} ':-<98}\n\n{text}" for path, text in texts.items() if text]
    licence = "".join(f"{line}\n" for line in script.lines[: script.tree.body[0].lineno - 1])
    title = f"The definitions of at_k that the metric {script.name} uses, in one file."
    notice = "Generated by shared/vendor.py: edit the modules below instead, and run it again."
    head = [f'{licence}"""{title}\n\n{notice}\n"""', _FUTURE, _imports(ordered, names)]
    return "\n\n\n".join(["\n\n".join(filter(None, head)), *sections]) + "\n"


def _in_import_order(wanted: Iterable[str], modules: Mapping[str, Module]) -> list[Module]:
    """Return the wanted modules and all that they import, room by room, imported ones first."""
    graph: dict[str, list[str]] = {}
    rooms: dict[str, set[str]] = {}
    waiting = sorted(wanted)
    while waiting:
        module = modules[waiting.pop()]
        if module.name not in graph:
            problems = list(_problems_of_form(module))
            for target, line in module.targets.items():
                if target not in modules:
                    problems.append((line, f"there is no module {target}"))
            _raise_if_any(f"{module.at(line)}: {problem}" for line, problem in sorted(problems))
            graph[module.name] = sorted(module.targets)
            room = _room(module.name)
            rooms.setdefault(room, set()).update({*map(_room, module.targets)} - {room})
            waiting += graph[module.name]
    try:
        first = list(
            TopologicalSorter({name: sorted(rooms[name]) for name in rooms}).static_order()
        )
        order = TopologicalSorter({name: graph[name] for name in sorted(graph)}).static_order()
        return [modules[name] for name in sorted(order, key=lambda name: first.index(_room(name)))]
    except CycleError as error:
        raise VendorError(f"The imports {' -> '.join(error.args[1][::-1])} are a cycle.") from error


def _room(name: str) -> str:
    return name.rpartition(".")[0] or name


def _reachable(
    wanted: Iterable[str], owners: Mapping[str, Module]
) -> tuple[set[ast.stmt], set[str]]:
    """Return the top-level statements that names lead to, and all names in these.

    Of modules that are reached, statements with an effect are kept, such as `@atexit.register`.
    """
    reached: set[ast.stmt] = set()
    names, waiting = set(wanted), list(wanted)
    while waiting:
        name = waiting.pop()
        for node, (binds, uses) in owners[name].statements.items() if name in owners else ():
            decorators = node.decorator_list if isinstance(node, _DEFINITIONS) else []
            if name in binds or not binds or any("register" in ast.dump(d) for d in decorators):
                reached.add(node)
                waiting += uses - names
                names |= uses
    return reached, names


def _imports(modules: Iterable[Module], names: set[str]) -> str:
    """Return the imports of these names from outside the package."""
    aliases: dict[str, set[str]] = {"": set()}
    for name, origin, alias, _ in (entry for module in modules for entry in module.external):
        if name in names:
            aliases.setdefault(origin, set()).add(alias)
    plain = [f"import {alias}" for alias in sorted(aliases.pop(""))]
    named = [f"from {origin} import {', '.join(sorted(aliases[origin]))}" for origin in aliases]
    return "\n".join(plain + sorted(named))


# --- The command ------------------------------------------------------------------------


def update(write: bool) -> list[str]:
    """Write or compare the kernels, and return which of them are out of date."""
    modules, kernels = read_package(), {}
    for path in sorted(METRICS.glob("*/*.py")):
        if path.stem == path.parent.name:
            label = f"metrics/{path.stem}/{path.name}"
            script = Module(path.stem, label, path.read_text(encoding="utf-8"))
            kernels[path.with_name("kernel.py")] = kernel_of(script, modules)
    problems = []
    for path, text in kernels.items():
        if write:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            problems.append(f"metrics/{path.parent.name}/kernel.py is out of date")
    return problems


def main() -> None:
    flags = sys.argv[1:]
    if flags not in ([], ["--check"]):
        raise SystemExit(__doc__)
    try:
        if problems := update(write=not flags):
            raise SystemExit("\n".join(f"{problem}; run shared/vendor.py." for problem in problems))
    except VendorError as error:
        raise SystemExit(str(error)) from error


if __name__ == "__main__":
    main()
