"""Join the modules of the core into kernel.py, which is the same in the folder of each metric.

    python shared/vendor.py            write metrics/<name>/kernel.py for each metric
    python shared/vendor.py --check    write nothing, and fail if a kernel is out of date

`evaluate.load` downloads a script and each module that the script names in `from .name import`, and
sends requests for each of them at every load. A script therefore imports from `.kernel` only. The
kernel has the modules of shared/at_k/core in full, each after the modules that it imports.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sys
from graphlib import TopologicalSorter
from pathlib import Path

SHARED = Path(__file__).resolve().parent
CORE = SHARED / "at_k/core"
METRICS = SHARED.parent / "metrics"

_TITLE = '''\
# Copyright 2026 The evaluate-at-k authors. Licensed under the Apache License, Version 2.0.
"""The core of evaluate-at-k in one file, for the metric in this folder.

shared/vendor.py joins the modules below: edit these instead, and run it again.
"""

from __future__ import annotations
'''


def kernel(core: Path = CORE) -> str:
    """Return the source of one module that has the contents of all modules in the folder `core`.

    Relative imports are left out, and other imports are collected at the top. SystemExit is raised
    if a name has two meanings, or an import cannot be joined.
    """
    sources = {path.stem: path.read_text(encoding="utf-8") for path in sorted(core.glob("*.py"))}
    trees = dict(zip(sources, map(ast.parse, sources.values()), strict=True))
    _check_names(trees)
    imported = {name: sorted(_relative_imports(name, tree)) for name, tree in trees.items()}
    imports: set[str] = set()
    sections = []
    for name in TopologicalSorter(imported).static_order():
        lines = sources[name].splitlines()
        for node in reversed(trees[name].body):  # from the end, so that line numbers stay valid
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                del lines[node.lineno - 1 : node.end_lineno]
                if not getattr(node, "level", 0):
                    imports.add(ast.unparse(node))
        text = re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines).strip("\n"))
        if text:
            sections.append(f"# {f'--- shared/at_k/core/{name}.py ':-<98}\n\n{text}")
    imports.discard("from __future__ import annotations")
    plain = sorted(line for line in imports if line.startswith("import "))
    head = "\n".join([_TITLE, *plain, *sorted(imports.difference(plain))])
    joined = "\n\n\n".join([head, *sections]) + "\n"
    return joined.replace('KERNEL = ""', f'KERNEL = "{core_hash(core)}"', 1)


def core_hash(core: Path = CORE) -> str:
    """Return the hash of the modules in a folder, which `at_k.loading.core_hash` has to equal."""
    code = b"".join(path.read_bytes() for path in sorted(core.glob("*.py")))
    return hashlib.sha256(code).hexdigest()[:12]


def _relative_imports(name: str, tree: ast.Module) -> set[str]:
    """Return the core modules that a module imports; SystemExit for another relative import."""
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            is_plain = not any(alias.asname or alias.name == "*" for alias in node.names)
            if node.level > 1 or not node.module or not is_plain or node not in tree.body:
                raise SystemExit(
                    f"{name}.py:{node.lineno}: write `from .module import name` at the top level: "
                    f"the core imports nothing else of at_k."
                )
            modules.add(node.module)
    return modules


def _check_names(trees: dict[str, ast.Module]) -> None:
    """Raise SystemExit if two modules define the same name, as they become one module."""
    owners: dict[str, str] = {}
    for module, tree in trees.items():
        for node in tree.body:
            targets = getattr(node, "targets", [getattr(node, "target", None)])
            names = {target.id for target in targets if isinstance(target, ast.Name)}
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                names.add(node.name)
            for name in names:
                if owners.setdefault(name, module) != module:
                    raise SystemExit(
                        f"{module}.py:{node.lineno}: {name} is also defined in {owners[name]}.py: "
                        f"rename one of them."
                    )


def main() -> None:
    """Write the kernels, or with --check exit with an error if one is out of date."""
    flags = sys.argv[1:]
    if flags not in ([], ["--check"]):
        raise SystemExit(__doc__)
    text, stale = kernel(), []
    for card in sorted(METRICS.glob("*/README.md")):
        path = card.with_name("kernel.py")
        if not flags:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            name = card.parent.name
            stale.append(f"metrics/{name}/kernel.py is out of date; run shared/vendor.py.")
    if stale:
        raise SystemExit("\n".join(stale))


if __name__ == "__main__":
    main()
