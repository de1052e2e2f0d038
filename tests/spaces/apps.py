"""The apps of the Spaces in this process, as a worker process has them."""

import importlib.util
import sys

from conftest import ROOT

NAMES = sorted(path.parent.name for path in (ROOT / "spaces").glob("*/app.py"))
MODULES = sorted(path.stem for path in (ROOT / "spaces" / "page").glob("[!_]*.py"))


def space_of(metric):
    """Return the description of a Space."""
    name = f"app_of_{metric}"
    if name not in sys.modules:
        path = ROOT / "spaces" / metric / "app.py"
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name].SPACE


def request_for(page, metric, text="", files=(), reading=None, checker="exact_match", **options):
    return page.request.make_request(
        space_of(metric), checker, options, text=text, files=files, reading=reading or {}
    )


def answer_of(page, metric, text="", **given):
    return page.answering.answer_to(request_for(page, metric, text, **given))


def samples_of(page, metric, text="", **given):
    """Return the samples of each file by its label, as the page reads them."""
    files, _, _ = page.samples.read_samples(request_for(page, metric, text, **given), ())
    return {file.label: file.samples for file in files}


def refusal_of(page, metric, text="", **given):
    """Return the error for samples that the page refuses, in the words of the page."""
    request = request_for(page, metric, text, **given)
    try:
        page.answering.answer_to(request)
    except ValueError as error:
        return page.scoring.error_for_page(error, request)
    raise AssertionError("The samples are scored.")


def uploaded(folder, files):
    """Write texts by their file names as a server does with uploads, and return their paths."""
    (folder / "uploaded").mkdir(exist_ok=True)
    paths = [folder / "uploaded" / name for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        path.write_bytes(text.encode(errors="surrogateescape"))
    return tuple(map(str, paths))
