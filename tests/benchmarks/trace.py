"""Count the calls of our own functions that score two questions of four samples.

    python tests/benchmarks/trace.py [--functions]

The metric is built from the package instead of its kernel, so that modules have names. Calls of the
second of two equal computations are counted, when caches are filled: those of named functions in
`shared/at_k`, without comprehensions and lambdas. `--functions` lists them.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "shared" / "at_k"

# Two questions of four letters.
CALL: dict[str, Any] = {
    "predictions": [["a", "b", "a", "a"], ["b", "b", "a", "c"]],
    "references": ["a", "b"],
    "k": 2,
}


def metric_of_package(name: str = "gpassk") -> Any:
    """Return a metric whose script imports from the modules of the package."""
    script = (ROOT / "metrics" / name / f"{name}.py").read_text(encoding="utf-8")
    imported = re.search(r"^from \.kernel import (.*)$", script, re.MULTILINE)
    assert imported
    names = imported[1].split(", ")
    owners = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    lines = []
    for wanted in names:
        (path,) = (
            path
            for path, source in owners.items()
            if re.search(rf"^(class |def )?{wanted}\b( =|\(|:)", source, re.MULTILINE)
        )
        owner = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        lines.append(f"from {owner} import {wanted}")
    source = script.replace(imported[0], "\n".join(lines))
    spec = importlib.util.spec_from_loader(name, loader=None)
    assert spec
    module = importlib.util.module_from_spec(spec)
    exec(compile(source, f"{name}.py", "exec"), vars(module))
    (metric,) = (
        value
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == name
    )
    return metric()


def calls(metric: Any, **call: Any) -> Counter[tuple[str, str]]:
    """Return how often each function of the package is called, by its module and name."""
    counts: Counter[tuple[str, str]] = Counter()

    def count(frame: FrameType, event: str, argument: object) -> None:
        path = Path(frame.f_code.co_filename)
        is_named = not frame.f_code.co_name.startswith("<")
        if event == "call" and is_named and path.is_relative_to(PACKAGE):
            counts[str(path.relative_to(PACKAGE)), frame.f_code.co_qualname] += 1

    metric.compute(**call)
    sys.setprofile(count)
    try:
        metric.compute(**call)
    finally:
        sys.setprofile(None)
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--functions", action="store_true", help="list the functions")
    options = parser.parse_args()
    counts = calls(metric_of_package(), **CALL)
    if options.functions:
        for (module, function), number in sorted(counts.items()):
            print(f"{number:4} {module:40} {function}")
    modules = {module for module, _ in counts}
    print(f"{counts.total()} calls of {len(counts)} functions in {len(modules)} modules")


if __name__ == "__main__":
    main()
