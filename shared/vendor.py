"""Join the modules of at_k that a metric needs into the kernel.py of its folder.

    python shared/vendor.py            write metrics/<name>/kernel.py for each metric
    python shared/vendor.py --check    write nothing, and fail if a kernel is out of date

`evaluate.load` downloads a script and each module that the script names in `from .name import`,
with requests for each of them at every load. A script therefore imports from `.kernel` only. The
kernel holds the modules that define the imported names, and all modules that these import.

The modules of a kernel share one namespace. `name_problems` and `form_problems` find whatever
would mean something else there; each problem names a file, a line and a remedy.

"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent / "at_k"
METRICS = PACKAGE.parents[1] / "metrics"
KERNEL = "kernel"

_RULE = "# " + "=" * 98
_IGNORED = {"__pycache__", ".DS_Store", ".ipynb_checkpoints"}
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_NAMED = (*_DEFINITIONS, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
# What depends on the file that a module is in. Loggers may use `__name__`, as a label.
_OF_A_FILE = ("__doc__", "__file__", "__loader__", "__package__", "__path__", "__spec__", "globals")


class VendorError(Exception):
    """Modules cannot be joined, with a line for each reason."""


# --- A module ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Module:
    """A source file.

    Attributes:
        name: Dotted name within the package, such as "scores.credits".
        path: Path within the project, for messages and headers.
        source: Text of the file.
    """

    name: str
    path: str
    source: str

    def at(self, line: int) -> str:
        return f"{self.path}:{line}"

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.source)

    @cached_property
    def docstring(self) -> str:
        return ast.get_docstring(self.tree) or ""

    @cached_property
    def outside_functions(self) -> list[ast.AST]:
        """All syntax nodes that are not in a function, a class or a comprehension's target."""
        return list(_outside_functions(self.tree))

    @cached_property
    def names(self) -> dict[str, int]:
        """The names that the module defines at the top level, each with a line."""
        found = dict(self.rebound)
        for node in self.outside_functions:
            if isinstance(node, _NAMED) and node.name:
                found[node.name] = node.lineno
            elif isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
                found[node.id] = node.lineno
        return found

    @cached_property
    def rebound(self) -> dict[str, int]:
        """The names that functions bind by `global`, each with a line."""
        statements = [node for node in ast.walk(self.tree) if isinstance(node, ast.Global)]
        return {name: node.lineno for node in statements for name in node.names}

    @cached_property
    def imports(self) -> list[ast.Import | ast.ImportFrom]:
        """The import statements at the top level."""
        return [node for node in self.tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]

    @cached_property
    def statements(self) -> list[ast.stmt]:
        """The other statements at the top level, without the docstring."""
        body = self.tree.body[1:] if self.docstring else self.tree.body
        return [node for node in body if not isinstance(node, (ast.Import, ast.ImportFrom))]

    @cached_property
    def external_names(self) -> dict[str, tuple[str, int]]:
        """The names that imports from outside the package bind: what each means, and its line."""
        found = {}
        for node in self.outside_functions:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    top = alias.name.partition(".")[0]
                    found[alias.asname or top] = (alias.name if alias.asname else top, node.lineno)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                for alias in node.names:
                    meaning = f"{node.module}.{alias.name}"
                    found[alias.asname or alias.name] = (meaning, node.lineno)
        return found

    def target(self, node: ast.ImportFrom) -> str:
        """Return the dotted name of the module that a relative import names."""
        above = self.name.split(".")
        if node.module is None or node.level > len(above):
            return _origin(node)
        return ".".join([*above[: -node.level], node.module])

    @cached_property
    def targets(self) -> dict[str, str]:
        """The modules of the package that this one imports, each with a place."""
        nodes = [node for node in self.imports if isinstance(node, ast.ImportFrom) and node.level]
        return {self.target(node): self.at(node.lineno) for node in nodes}

    @property
    def body(self) -> str:
        """The source below the imports."""
        last = max((node.end_lineno or 0 for node in self.imports), default=0)
        return "\n".join(self.source.splitlines()[last:]).strip("\n")


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    own = node.target if isinstance(node, ast.comprehension) else None
    for child in ast.iter_child_nodes(node):
        if child is not own:
            yield child
            if not isinstance(child, (*_DEFINITIONS, ast.Lambda)):
                yield from _outside_functions(child)


def read_package(package: Path = PACKAGE) -> dict[str, Module]:
    """Return the modules of the package by name, without any `__init__`.

    Raises:
        VendorError: If a top-level name has two meanings.
    """
    modules = {}
    for path in sorted(package.rglob("*.py")):
        if path.name != "__init__.py":
            name = ".".join(path.relative_to(package).with_suffix("").parts)
            label = path.relative_to(package.parents[1]).as_posix()
            modules[name] = Module(name, label, path.read_text(encoding="utf-8"))
    _raise_if_any(name_problems(modules.values()))
    return modules


# --- What joining would change ----------------------------------------------------------


def name_problems(modules: Iterable[Module]) -> Iterator[str]:
    """Find the top-level names with two meanings among all modules."""
    modules = list(modules)
    defined: dict[str, str] = {}
    for module in modules:
        for name, line in module.names.items():
            here = module.at(line)
            if name in defined:
                yield f"{here}: {name} is also defined at {defined[name]}; rename one of them"
            elif hasattr(builtins, name):
                yield f"{here}: {name} hides a built-in name; rename it"
            defined[name] = here
    imported: dict[str, tuple[str, str]] = {}
    for module in modules:
        for name, (meaning, line) in module.external_names.items():
            here = module.at(line)
            other, there = imported.setdefault(name, (meaning, here))
            if name in defined:
                yield f"{here}: {name} is also defined at {defined[name]}; rename one of them"
            elif hasattr(builtins, name):
                yield f"{here}: {name} hides a built-in name; import it under another name"
            elif meaning != other:
                yield f"{here}: {name} is {meaning} here and {other} at {there}; rename one of them"


def form_problems(module: Module, modules: Mapping[str, Module]) -> Iterator[tuple[int, str]]:
    """Find what would make a module mean something else in a kernel, each with its line."""
    if "annotations" not in module.external_names:
        yield 1, "add `from __future__ import annotations`, with which a kernel starts"
    first = min((node.lineno for node in module.statements), default=sys.maxsize)
    for statement in module.imports:
        if (statement.end_lineno or 0) >= first:
            yield statement.lineno, "move this import above all other statements"
    for name, line in module.names.items():
        if name.startswith("__"):
            yield line, f"{name} would apply to the whole kernel; define it outside kernels"
    outside_functions = set(module.outside_functions)
    for node in ast.walk(module.tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            relative = isinstance(node, ast.ImportFrom) and node.level > 0
            if node not in module.imports and (relative or node in outside_functions):
                yield node.lineno, "move this import to the top level of the module"
            for problem in _import_problems(node, module, modules):
                yield node.lineno, problem
        elif isinstance(node, ast.Name) and node.id in _OF_A_FILE:
            yield node.lineno, f"{node.id} differs in a kernel; use it in modules outside kernels"
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield node.lineno, "move what depends on TYPE_CHECKING to the top level of the module"


def _import_problems(
    node: ast.Import | ast.ImportFrom, module: Module, modules: Mapping[str, Module]
) -> Iterator[str]:
    names = [alias.name for alias in node.names]
    if "*" in names:
        yield "name what the star imports"
    elif isinstance(node, ast.Import) or not node.level:
        origins = names if isinstance(node, ast.Import) else [node.module or ""]
        if any(origin.partition(".")[0] == PACKAGE.name for origin in origins):
            yield f"make this import from {PACKAGE.name} a relative one"
    elif (target := modules.get(module.target(node))) is None:
        yield "this is not a module of the package; import names from the module that defines them"
    else:
        for alias in node.names:
            if alias.asname:
                yield f"import {alias.name} under its own name"
            if alias.name not in target.names:
                owners = [m.path for m in modules.values() if alias.name in m.names]
                remedy = "".join(f"; import it from {owner}" for owner in owners)
                yield f"{target.path} does not define {alias.name}{remedy}"
            if alias.name in target.rebound:
                line = target.at(target.rebound[alias.name])
                yield f"{alias.name} is rebound by `global` at {line}; import a function instead"


def _raise_if_any(problems: Iterable[str]) -> None:
    if lines := [f"{problem}." for problem in problems]:
        raise VendorError("\n".join(lines))


# --- The modules that are needed --------------------------------------------------------


def needed_by(script: Module, modules: Mapping[str, Module]) -> list[Module]:
    """Return the modules that a script needs, each after those that it imports.

    Args:
        script: The script, which imports names of the package from its kernel.
        modules: The modules of the package by name.

    Raises:
        VendorError: If a name is not defined, or a module cannot be joined with others.
    """
    owners = {name: module.name for module in modules.values() for name in module.names}
    wanted: set[str] = set()
    for node in ast.walk(script.tree):
        if isinstance(node, ast.ImportFrom) and _origin(node) == f".{KERNEL}.":
            names, here = {alias.name for alias in node.names}, script.at(node.lineno)
            unknown = sorted(names - owners.keys())
            _raise_if_any(f"{here}: no module of at_k defines {name}" for name in unknown)
            wanted |= {owners[name] for name in names}
    return _in_import_order(wanted, modules)


def _origin(node: ast.ImportFrom) -> str:
    return f"{'.' * node.level}{node.module or ''}."


def _in_import_order(wanted: Iterable[str], modules: Mapping[str, Module]) -> list[Module]:
    """Return the wanted modules and all that they import, folder by folder."""
    imports: dict[str, dict[str, str]] = {}
    waiting = list(wanted)
    while waiting:
        module = modules[waiting.pop()]
        if module.name not in imports:
            problems = sorted(form_problems(module, modules))
            _raise_if_any(f"{module.at(line)}: {problem}" for line, problem in problems)
            imports[module.name] = module.targets
            waiting += module.targets
    ordered = _imported_first(imports)
    folder = {name: name.rpartition(".")[0] or name for name in imports}
    between: dict[str, dict[str, str]] = {folder[name]: {} for name in ordered}
    for name, targets in imports.items():
        others = {folder[target]: place for target, place in targets.items()}
        between[folder[name]] |= {at: others[at] for at in others if at != folder[name]}
    folders = _imported_first(between)
    return [modules[name] for name in sorted(ordered, key=lambda name: folders.index(folder[name]))]


def _imported_first(imports: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Sort importers so that each follows those that it imports, given with their places."""
    graph = {name: sorted(imports[name]) for name in sorted(imports)}
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        cycle = error.args[1][::-1]
        problem = f"an import cycle, {' -> '.join(cycle)}; move what is shared elsewhere"
        raise VendorError(f"{imports[cycle[0]][cycle[1]]}: {problem}.") from error


# --- One file ---------------------------------------------------------------------------


def join(modules: Sequence[Module], title: str, licence: str = "") -> str:
    """Return the source of one file that holds the modules.

    Args:
        modules: The modules, each after those that it imports.
        title: First line of the docstring.
        licence: Comment lines to start with.
    """
    notice = "Generated by shared/vendor.py: edit the modules below instead, and run it again."
    width = max(len(module.path) for module in modules)
    contents = [
        f"# {module.path:<{width}}  {module.docstring.partition(chr(10))[0]}" for module in modules
    ]
    head = [f'{licence}"""{title}\n\n{notice}\n"""', "\n".join(contents)]
    head += ["from __future__ import annotations", _external_imports(modules)]
    sections = [f"{_header(module)}\n\n{module.body}".strip() for module in modules]
    return "\n\n\n".join(["\n\n".join(head), *sections]) + "\n"


def _header(module: Module) -> str:
    text = [module.path, "", *module.docstring.splitlines()]
    return "\n".join([_RULE, *(f"# {line}".rstrip() for line in text), _RULE])


def _external_imports(modules: Iterable[Module]) -> str:
    """Return the imports from outside the package, those of the standard library first."""
    plain: set[str] = set()
    named: dict[str, set[str]] = {}
    for node in [node for module in modules for node in module.imports]:
        names = {ast.unparse(alias) for alias in node.names}
        if isinstance(node, ast.Import):
            plain |= names
        elif not node.level and node.module != "__future__":
            named.setdefault(node.module or "", set()).update(names)
    lines = [f"import {name}" for name in sorted(plain)]
    lines += [f"from {name} import {', '.join(sorted(named[name]))}" for name in sorted(named)]
    standard = [line for line in lines if re.split(r"[ .]", line)[1] in sys.stdlib_module_names]
    return "\n".join([*standard, "", *(line for line in lines if line not in standard)]).strip()


def kernel_of(script: Path, modules: Mapping[str, Module]) -> str:
    """Return the source of the kernel that a metric's script imports from."""
    source = Module(script.stem, "/".join(script.parts[-3:]), script.read_text(encoding="utf-8"))
    title = f"The modules of at_k that the metric {script.stem} uses, in one file."
    licence = "".join(re.findall(r"\A(?:#.*\n)+", source.source))
    return join(needed_by(source, modules), title, licence)


# --- The command ------------------------------------------------------------------------


def update(write: bool) -> list[str]:
    """Write or compare the kernels, and return what is wrong with the folders of the metrics."""
    modules = read_package()
    folders = sorted(path for path in METRICS.iterdir() if path.is_dir())
    scripts = [folder / f"{folder.name}.py" for folder in folders]
    kernels = {path.parent.name: kernel_of(path, modules) for path in scripts if path.exists()}
    problems = []
    for name, text in kernels.items():
        kernel = METRICS / name / f"{KERNEL}.py"
        if write:
            kernel.write_text(text, encoding="utf-8")
        elif kernel.exists() and kernel.read_text(encoding="utf-8") != text:
            problems.append(f"metrics/{name}/{kernel.name} is out of date; run shared/vendor.py")
    for folder in folders:
        expected = {f"{folder.name}.py", f"{KERNEL}.py", "README.md", "requirements.txt"}
        found = {path.name for path in folder.iterdir()} - _IGNORED
        for name in sorted(expected ^ found):
            wrong = "is missing" if name in expected else "does not belong there"
            problems.append(f"metrics/{folder.name}/{name} {wrong}")
    return problems


def main() -> None:
    flags = sys.argv[1:]
    if flags not in ([], ["--check"]):
        raise SystemExit(__doc__)
    try:
        _raise_if_any(update(write=not flags))
    except VendorError as error:
        raise SystemExit(str(error)) from error


if __name__ == "__main__":
    main()
