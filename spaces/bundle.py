"""Write the Space of a metric as a folder that runs by itself and can be pushed to the Hub.

    python spaces/bundle.py gpassk ../gpassk-space

The folder must not exist, or be empty. It will hold the files of the metric, app.py, and one
folder `page` with everything that the page needs.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "shared"))

from vendor import Module, join, needed_by, read_package  # noqa: E402

SPACES, METRICS, SAMPLES = ROOT / "spaces", ROOT / "metrics", ROOT / "shared" / "at_k" / "samples"
READER = SPACES / "page" / "reading.py"
REQUIREMENTS = ("math-verify>=0.9", "vl-convert-python>=1.9")
# A Space runs Python 3.10 unless its card says otherwise.
PYTHON_VERSION = "3.11"


def bundle(name: str, target: Path) -> None:
    """Write the Space of the metric `name` into the folder `target`."""
    names = sorted(path.parent.name for path in SPACES.glob("*/app.py"))
    if name not in names:
        raise SystemExit(f"There is no Space {name!r}: there are {', '.join(names)}.")
    if target.exists() and any(target.iterdir()):
        raise SystemExit(f"{target} is not empty.")
    page = target / "page"
    (page / "samples").mkdir(parents=True)
    for source in (*METRICS.joinpath(name).glob("*.py"), SPACES / name / "app.py"):
        shutil.copyfile(source, target / source.name)
    for source in SPACES.glob("page/*.*"):
        shutil.copyfile(source, page / source.name)
    for source in SAMPLES.glob("*.jsonl"):
        shutil.copyfile(source, page / "samples" / source.name)
    (page / READER.name).write_text(reader(), encoding="utf-8")

    card = (METRICS / name / "README.md").read_text(encoding="utf-8")
    version = re.search(r"^sdk_version: (.+)$", card, re.MULTILINE)
    if version is None:
        raise SystemExit(f"The card of {name} names no sdk_version.")
    card = card.replace(version[0], f'{version[0]}\npython_version: "{PYTHON_VERSION}"', 1)
    for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", card):
        picture = METRICS / name / link
        shutil.copyfile(picture, page / picture.name)
        card = card.replace(f"]({link})", f"](page/{picture.name})")
    (target / "README.md").write_text(card, encoding="utf-8")
    needed = (METRICS / name / "requirements.txt").read_text(encoding="utf-8").split()
    needed += [f"gradio=={version[1]}", *REQUIREMENTS]
    (target / "requirements.txt").write_text("\n".join(needed) + "\n", encoding="utf-8")


def reader() -> str:
    """Return one source for the modules of at_k that spaces/page/reading.py uses."""
    source = Module("reading", "spaces/page/reading.py", READER.read_text(encoding="utf-8"))
    needed = needed_by(source, "at_k", read_package())
    return join(needed, "The modules of at_k that read files.")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    bundle(sys.argv[1], Path(sys.argv[2]))
