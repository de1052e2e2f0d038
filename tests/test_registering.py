"""Scripts in the caches of evaluate, which import the metrics from the package."""

import os
from pathlib import Path
from typing import Any

import at_k
import evaluate
import pytest
from at_k.loading import register, unregister

OUTCOMES: dict[str, Any] = {"predictions": [[1, 0]], "k": 1, "include": "pass@k"}


@pytest.fixture
def registered():
    """The folder of gpassk in the cache of scripts."""
    yield register()["gpassk"]
    unregister()


def files_in(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_registered_metric_is_the_class_of_the_package(registered):
    metric = evaluate.load("gpassk")
    assert type(metric) is type(at_k.load("gpassk"))
    assert metric.compute(**OUTCOMES) == {"pass@1": 0.5}
    assert len((registered / "gpassk.py").read_text().splitlines()) == 3


def test_registering_on_a_full_disk_leaves_whole_files(registered, monkeypatch):
    (registered / "gpassk.py").write_text("# of an earlier version")
    before = files_in(Path(os.environ["HF_HOME"]))

    def fail(self, *args, **options):
        with open(self, "wb") as file:
            file.write(b"half a fi")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "open", fail)
    with pytest.raises(OSError, match="No space left"):
        register()
    monkeypatch.undo()
    assert files_in(Path(os.environ["HF_HOME"])) == before
    register()
    assert evaluate.load("gpassk").compute(**OUTCOMES) == {"pass@1": 0.5}


def test_one_process_writes_no_data(tmp_path):
    metric = at_k.load("gpassk", cache_dir=str(tmp_path / "data"))
    metric.add_batch(predictions=[[1, 0]])
    assert metric.compute(k=1, include="pass@k") == {"pass@1": 0.5}
    assert not (tmp_path / "data").exists()
