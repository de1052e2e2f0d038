"""Copies of the metrics in the caches of evaluate: nothing is ever half written."""

import os
import shutil
import threading
import time
from pathlib import Path

import at_k
import evaluate
import pytest
from at_k.loading import _cached_downloads, _remove, register, unregister
from conftest import ROOT

SCRIPT, KERNEL = (ROOT / "metrics/gpassk" / name for name in ("gpassk.py", "kernel.py"))
OUTCOMES = {"predictions": [[1, 0]], "k": 1, "include": "pass@k"}


@pytest.fixture
def registered():
    """The folder of the copy of gpassk in the cache of scripts."""
    yield register()["gpassk"]
    unregister()


def files_in(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_registering_on_a_full_disk_changes_nothing(registered, monkeypatch):
    home = Path(os.environ["HF_HOME"])
    (registered / "kernel.py").write_text("# of an earlier version")
    before = files_in(home)
    copyfile, copied, full_after = shutil.copyfile, [], 0

    def copy_until_the_disk_is_full(source, target):
        copyfile(source, target)
        copied.append(target)
        if len(copied) == full_after:
            Path(target).write_text("half a fi")
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", copy_until_the_disk_is_full)
    for copies in range(1, 31, 7):
        full_after = copies
        copied.clear()
        with pytest.raises(OSError, match="No space left"):
            register()
        assert files_in(home) == before
    full_after = 0
    register()
    assert (registered / "kernel.py").read_bytes() == KERNEL.read_bytes()


def test_registering_mends_what_an_interrupted_registration_left(registered):
    shutil.rmtree(registered)
    registered.mkdir()
    nothing_in_it = registered.with_name("0" * 64)
    nothing_in_it.mkdir()
    assert register()["gpassk"] == registered
    assert not nothing_in_it.exists()
    assert evaluate.load("gpassk").compute(**OUTCOMES) == {"pass@1": 0.5}


def test_registering_removes_what_a_killed_process_left_an_hour_ago(registered):
    (download, *_) = _cached_downloads("gpassk", "kernel.py")
    old = [
        registered.with_name(f"new-{'0' * 32}"),
        download.with_name(f"{download.name}-{'0' * 32}"),
    ]
    new = [
        registered.with_name(f"new-{'1' * 32}"),
        download.with_name(f"{download.name}-{'1' * 32}"),
    ]
    for folder, file in (old, new):
        folder.mkdir()
        (folder / "kernel.py").write_text("half a fi")
        file.write_text("half a fi")
    for path in old:
        os.utime(path, (time.time() - 4000,) * 2)
    register()
    assert [path.exists() for path in (*old, *new)] == [False, False, True, True]
    assert evaluate.load("gpassk").compute(**OUTCOMES) == {"pass@1": 0.5}
    for path in new:
        _remove(path)


def test_a_metric_can_be_read_while_it_is_registered(registered):
    stop, broken = threading.Event(), []

    def read():
        while not stop.is_set():
            for name, original in (("gpassk.py", SCRIPT), ("kernel.py", KERNEL)):
                if (registered / name).read_bytes() != original.read_bytes():
                    broken.append(name)

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(10):
        register()
    stop.set()
    reader.join()
    assert broken == []


def test_one_process_writes_no_data(tmp_path):
    metric = at_k.load("gpassk", cache_dir=str(tmp_path / "data"))
    metric.add_batch(predictions=[[1, 0]])
    assert metric.compute(k=1, include="pass@k") == {"pass@1": 0.5}
    assert not (tmp_path / "data").exists()
