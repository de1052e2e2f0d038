"""Write the Space of a metric as a folder that can be pushed as it is, and runs by itself.

    python spaces/bundle.py gpassk ../gpassk-space

DEST is made, and has to be empty if it is there.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SPACES, METRICS, SHARED = ROOT / "spaces", ROOT / "metrics", ROOT / "shared" / "at_k"
PAGE = ("page.py", "page.css", "scoring.py", "space.py", "pictures.py")
READER = ("reading.py", "parameters.py")
REQUIREMENTS = ("math-verify>=0.9", "vl-convert-python>=1.9")


def bundle(name: str, target: Path) -> None:
    """Write the Space of the metric `name` into the folder `target`."""
    names = sorted(path.parent.name for path in SPACES.glob("*/app.py"))
    if name not in names:
        raise SystemExit(f"There is no Space {name!r}: there are {', '.join(names)}.")
    if target.exists() and any(target.iterdir()):
        raise SystemExit(f"{target} is not empty.")
    (target / "at_k").mkdir(parents=True)
    metric = METRICS / name
    written = ("README.md", "requirements.txt")
    files = [file for file in metric.glob("*.*") if file.name not in written]
    files += [SPACES / name / "app.py", *(SPACES / page for page in PAGE)]
    files += (SHARED / "samples").glob("*.jsonl")
    for file in files:
        if (target / file.name).exists():
            raise SystemExit(f"Two files of the Space would be called {file.name}.")
        shutil.copyfile(file, target / file.name)
    for module in READER:
        shutil.copyfile(SHARED / module, target / "at_k" / module)
    (target / "at_k" / "__init__.py").write_text('"""The reading of files, as `at-k` has it."""\n')
    card = (metric / "README.md").read_text(encoding="utf-8")
    version = re.search(r"^sdk_version: (.+)$", card, re.MULTILINE)
    if version is None:
        raise SystemExit(f"The card of {name} names no sdk_version.")
    # Spaces run Python 3.10 unless they are told.
    card = card.replace(version[0], f'{version[0]}\npython_version: "3.11"', 1)
    (target / "README.md").write_text(card, encoding="utf-8")
    needed = (metric / "requirements.txt").read_text(encoding="utf-8").split()
    needed += [f"gradio=={version[1]}", *REQUIREMENTS]
    (target / "requirements.txt").write_text("\n".join(needed) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    bundle(sys.argv[1], Path(sys.argv[2]))
