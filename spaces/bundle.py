"""Write the Space of a metric as a folder that runs by itself and can be pushed to the Hub.

    python spaces/bundle.py gpassk ../gpassk-space

The folder must be empty or not exist. It gets the files of the metric, app.py, and a folder `page`
with everything else: the page that all Spaces share, and the modules of the package at_k that it
imports. The card of the metric is the README.md of the Space.
"""

import configparser
import re
import shutil
import sys
from modulefinder import ModuleFinder
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SPACES, METRICS, PACKAGE = ROOT / "spaces", ROOT / "metrics", ROOT / "shared" / "at_k"
PYTHON_VERSION = "3.11"  # a Space runs Python 3.10 unless its card names a version
EXTRAS = ("spaces", "math", "charts", "inspect")  # the extras of the package that a Space requires
SETUP = configparser.ConfigParser()
SETUP.read(ROOT / "setup.cfg", encoding="utf-8")

_INIT = '''\
"""The modules of the package evaluate-at-k that this page needs."""

from .core.package import PACKAGE
from .rooms import PackageRooms

{version}

PACKAGE.rooms = PackageRooms()
'''


def bundle(name: str, target: Path) -> None:
    """Write the Space of the metric `name` into the folder `target`, an absolute path."""
    names = sorted(path.parent.name for path in SPACES.glob("*/app.py"))
    if name not in names:
        raise SystemExit(f"There is no Space {name!r}. The Spaces are {', '.join(names)}.")
    if target.exists() and any(target.iterdir()):
        raise SystemExit(f"{target} is not empty.")
    unneeded = shutil.ignore_patterns("__pycache__", "*.md")
    shutil.copytree(SPACES / "page", target / "page", ignore=unneeded)
    for file in (METRICS / name).glob("*.py"):
        shutil.copyfile(file, target / file.name)
    app = (SPACES / name / "app.py").read_text(encoding="utf-8")
    # In a bundle, `page` is beside app.py.
    app = re.sub(r"^import sys\n|^sys\.path\.append.+\n", "", app, flags=re.MULTILINE)
    (target / "app.py").write_text(app, encoding="utf-8")
    _copy_package(target, target / "page" / "lib")
    card = METRICS / name / "README.md"
    text = card.read_text(encoding="utf-8")
    version = re.search(r"^sdk_version: (.+)$", text, re.MULTILINE)
    assert version is not None
    text = text.replace(version[0], f'{version[0]}\npython_version: "{PYTHON_VERSION}"', 1)
    (target / "README.md").write_text(_with_links_to_repository(text, card), encoding="utf-8")
    (target / "requirements.txt").write_text(_requirements(name, version[1]), encoding="utf-8")


def _copy_package(target: Path, lib: Path) -> None:
    """Copy the modules of the package that the Space in `target` imports into the folder `lib`."""
    copy = lib / PACKAGE.name
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "*.md"))
    version = re.search(r"^__version__ = .+", (PACKAGE / "__init__.py").read_text(), re.MULTILINE)
    assert version is not None
    (copy / "__init__.py").write_text(_INIT.format(version=version[0]))
    finder = ModuleFinder([str(target), str(lib)])
    finder.run_script(str(target / "app.py"))
    for module in target.glob("page/*.py"):
        finder.import_hook(f"page.{module.stem}")
    # ModuleFinder takes `.numbers` for the module of the standard library, which it does not find.
    finder.import_hook("at_k.checkers.numbers")
    imported = {vars(module)["__file__"] for module in finder.modules.values()}
    for path in copy.rglob("*.py"):
        if str(path) not in imported:
            path.unlink()


def _requirements(name: str, gradio: str) -> str:
    """Return the requirements of a Space: of the metric, of the page, and a version of Gradio."""
    needed = (METRICS / name / "requirements.txt").read_text(encoding="utf-8").split()
    extras = "\n".join(SETUP["options.extras_require"][extra] for extra in EXTRAS).split()
    needed += [x for x in extras if not x.startswith(("evaluate-at-k", "gradio"))]
    return "".join(f"{line}\n" for line in dict.fromkeys([*needed, f"gradio=={gradio}"]))


def _with_links_to_repository(text: str, card: Path) -> str:
    """Return the text of the file `card` with its relative links leading to the repository."""

    def replaced(link: re.Match[str]) -> str:
        """Return the link that takes the place of a match."""
        path = (card.parent / link["path"]).resolve().relative_to(ROOT)
        kind = "raw" if path.suffix in (".svg", ".png") else "blob"
        return f"]({SETUP['metadata']['url']}/{kind}/main/{path}{link['anchor'] or ''})"

    return re.sub(r"\]\((?!https?:|#)(?P<path>[^)#]+)(?P<anchor>#[^)]*)?\)", replaced, text)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    bundle(sys.argv[1], Path(sys.argv[2]).resolve())
