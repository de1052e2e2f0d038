"""Find the files that a page needs, in a bundled Space and in a checkout of the project."""

from __future__ import annotations

from pathlib import Path

import at_k

PAGE = Path(__file__).resolve().parent


def sample_file(name: str) -> Path:
    """Return the path of a file of samples that the project ships."""
    return Path(at_k.__file__).parent / "samples" / name
