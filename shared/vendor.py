"""Copy the modules of `at_k` that a metric's script imports beside it, byte for byte.

    python shared/vendor.py            write the copies, and remove those no longer needed
    python shared/vendor.py --check    change nothing, and fail where a copy differs

`evaluate` loads a script together with the modules that the script itself names, and
not those that they import in turn: so the script has to name them all, which is checked.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

SHARED = Path(__file__).resolve().parent / "at_k"
METRICS = SHARED.parents[1] / "metrics"


def local_imports(module: Path) -> set[str]:
    return set(
        re.findall(r"^from \.(\w+) import", module.read_text(encoding="utf-8"), re.MULTILINE)
    )


def vendored_modules(script: Path) -> set[str]:
    """The modules that the script names, which are to be all that it needs."""
    named = local_imports(script)
    needed = named.union(*(local_imports(SHARED / f"{name}.py") for name in named))
    if missing := needed - named:
        raise SystemExit(f"{script} has to import from these too: {', '.join(sorted(missing))}")
    return named


def drift(script: Path) -> dict[Path, bytes | None]:
    """The files of a metric's folder that are not as they should be: what they should hold."""
    folder = script.parent
    wanted = {
        folder / f"{name}.py": (SHARED / f"{name}.py").read_bytes()
        for name in vendored_modules(script)
    }
    stale = set(folder.glob("*.py")) - set(wanted) - {script}
    return dict.fromkeys(stale) | {
        path: text
        for path, text in wanted.items()
        if not path.exists() or path.read_bytes() != text
    }


def main() -> None:
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        raise SystemExit(__doc__)
    changes = {
        path: text
        for script in sorted(METRICS.glob("*/*.py"))
        if script.stem == script.parent.name
        for path, text in drift(script).items()
    }
    for path, text in changes.items():
        print(path.relative_to(METRICS.parent))
        if not check:
            path.unlink() if text is None else path.write_bytes(text)
    if check and changes:
        raise SystemExit("These differ from shared/at_k: run python shared/vendor.py")


if __name__ == "__main__":
    main()
