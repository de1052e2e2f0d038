"""Create or update the metrics and their pages on a Hub, as one Space for each metric.

    python shared/publish.py --organization NAME [--dry-run]

The Space NAME/gpassk has the files that `evaluate.load("NAME/gpassk")` downloads, and the page that
runs them, so that both always have the same version. Only files that differ from those on the Hub
are sent, and files that are no longer needed are removed, in one commit for each Space. The commit
of a release is tagged with its version. The token is that of `hf auth login` or of HF_TOKEN;
HF_ENDPOINT names another Hub.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
from huggingface_hub.errors import HTTPError, RepositoryNotFoundError
from huggingface_hub.hf_api import RepoFile

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "spaces"))

from bundle import METRICS, bundle  # noqa: E402

KEPT = {".gitattributes"}  # the Hub adds it to a new repository


@dataclass(frozen=True)
class Changes:
    """What differs between a folder and a Space.

    Args:
        is_new: whether there is no such Space.
        sent: paths whose contents differ, or that the Space lacks.
        removed: paths that only the Space has.
    """

    is_new: bool
    sent: list[str]
    removed: list[str]

    def __str__(self) -> str:
        if not (self.sent or self.removed):
            return "is up to date"
        verb = "is created with" if self.is_new else "gets"
        removed = f", and {len(self.removed)} files are removed" if self.removed else ""
        return f"{verb} {len(self.sent)} files{removed}"


def publish(organization: str, version: str, is_dry_run: bool = False) -> list[str]:
    """Publish all metrics, and return a sentence for each Space.

    Args:
        organization: the user or organization on the Hub.
        version: of the package. A version without ".dev" is tagged.
        is_dry_run: whether to compare only.

    Raises:
        ValueError: if a Space has a tag of this version, and the files differ: a release does not
            change.
    """
    api, sentences = HfApi(), []
    names = sorted(path.parent.name for path in METRICS.glob("*/requirements.txt"))
    tag = None if ".dev" in version else f"v{version}"
    with tempfile.TemporaryDirectory() as folder:
        changes = {}
        for name in names:
            bundle(name, Path(folder) / name)
            changes[name] = _changes(api, f"{organization}/{name}", Path(folder) / name)
            if tag is not None:
                _refuse_tagged(api, f"{organization}/{name}", changes[name], tag)
        for name, change in changes.items():  # Nothing is sent before all have been compared.
            space = f"{organization}/{name}"
            if not is_dry_run:
                _send(api, space, Path(folder) / name, change, version)
                if tag is not None:
                    api.create_tag(space, tag=tag, repo_type="space", exist_ok=True)
            sentences.append(f"{space} {change}.")
    return sentences


def _changes(api: HfApi, space: str, folder: Path) -> Changes:
    """Return what differs between a folder and a Space, which may not exist yet."""
    local = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    try:
        tree = list(api.list_repo_tree(space, recursive=True, repo_type="space"))
    except RepositoryNotFoundError:
        return Changes(is_new=True, sent=sorted(local), removed=[])
    remote = {file.path: file for file in tree if isinstance(file, RepoFile)}
    sent = [path for path, content in local.items() if not _is_equal(content, remote.get(path))]
    return Changes(False, sent=sorted(sent), removed=sorted(remote.keys() - local.keys() - KEPT))


def _is_equal(content: bytes, file: RepoFile | None) -> bool:
    """Whether a file on the Hub has this content, by the hash that git or its LFS gives it."""
    if file is None:
        return False
    if file.lfs is not None:
        return file.lfs.sha256 == hashlib.sha256(content).hexdigest()
    blob = b"blob %d\0%b" % (len(content), content)
    return file.blob_id == hashlib.sha1(blob, usedforsecurity=False).hexdigest()


def _refuse_tagged(api: HfApi, space: str, changes: Changes, tag: str) -> None:
    """Raise a ValueError if a Space has a tag, and its files differ."""
    if changes.is_new or not (changes.sent or changes.removed):
        return
    if tag in (ref.name for ref in api.list_repo_refs(space, repo_type="space").tags):
        raise ValueError(
            f"{space} has the tag {tag} with other files: raise __version__ in "
            f"shared/at_k/__init__.py."
        )


def _send(api: HfApi, space: str, folder: Path, changes: Changes, version: str) -> None:
    """Send the files that differ, in one commit, to a Space, which is created if it is new."""
    if changes.is_new:
        api.create_repo(space, repo_type="space", space_sdk="gradio", exist_ok=True)
    operations: list[CommitOperationAdd | CommitOperationDelete] = []
    operations += [CommitOperationAdd(path, folder / path) for path in changes.sent]
    operations += [CommitOperationDelete(path) for path in changes.removed]
    if operations:
        message = f"evaluate-at-k {version}"
        api.create_commit(space, operations, commit_message=message, repo_type="space")


def _version() -> str:
    """Return the version of the package in this checkout."""
    text = (ROOT / "shared/at_k/__init__.py").read_text(encoding="utf-8")
    (version,) = re.findall(r'^__version__ = "(.+)"', text, re.MULTILINE)
    return version


def main() -> int:
    """Run the command, and return its exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--organization", required=True, metavar="NAME", help="owner of the Spaces")
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would be sent, send nothing"
    )
    options = parser.parse_args()
    try:
        sentences = publish(options.organization, _version(), options.dry_run)
    except (ValueError, HTTPError, OSError) as error:
        print(f"publish.py: {error}", file=sys.stderr)
        return 1
    print("\n".join(sentences))
    return 0


if __name__ == "__main__":
    sys.exit(main())
