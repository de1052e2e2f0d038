"""The logs that the harnesses wrote, in `fixtures/`, and how they are scored in tests."""

import json
from pathlib import Path
from typing import Any

import at_k
import pytest

FIXTURES = Path(__file__).parent / "fixtures"


def the_file(pattern: str) -> Path:
    """Return the only file of the fixtures with a name of this pattern."""
    (file,) = FIXTURES.glob(pattern)
    return file


def json_of(name: str) -> Any:
    """Return the JSON in a file of the fixtures."""
    return json.loads((FIXTURES / name).read_text())


def write_json(path: Path, content: Any) -> Path:
    """Write a file of JSON, and its folder, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path


def pass_at_k_of(source: Any, k: Any = (1, 2, 4), **columns: Any) -> dict[str, float]:
    """Return pass@k of a log."""
    arguments = at_k.read(source, **columns)
    return at_k.load("gpassk").compute(**arguments, k=list(k), include=["pass@k"])


def mean_of(source: Any, **columns: Any) -> float:
    """Return the mean over questions of the mean outcome of their samples, which may be floats."""
    scores = at_k.load("max_at_k").compute(**at_k.read(source, **columns), k=1)
    return scores["max@1"]


def refused(source: Any, message: str, **options: Any) -> Any:
    """Assert that reading a source is refused with a message that matches; return the error."""
    with pytest.raises(ValueError, match=message) as caught:
        at_k.read(source, **options)
    return caught.value
