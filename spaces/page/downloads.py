"""The files that visitors download: scores as JSON, and charts as PNG."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import deque
from pathlib import Path
from typing import Any

import vl_convert

from .charts import sheet
from .request import Answer
from .space import Space

_MAX_FOLDERS = 100


def result_dict(space: Space, answer: Answer) -> dict[str, Any]:
    """Return the options, the scores of each call, and the samples, as the API returns them."""
    scores = {name: {run.label: run.results[name] for run in answer.runs} for name in answer.calls}
    return {
        "metric": space.metric,
        "options": answer.options,
        **scores,
        "samples": answer.samples,
    }


class Downloads:
    """A temporary folder for the files of one page, which keeps the latest only.

    Gradio copies a file when the page offers it, so older ones are not needed.
    """

    def __init__(self, space: Space):
        self._space = space
        self._root = tempfile.TemporaryDirectory(prefix="downloads-")
        self._folders: deque[Path] = deque()

    def write_scores(self, answer: Answer) -> str:
        """Write the scores as JSON, and return the path of the file."""
        file = self._new_folder() / f"{self._space.metric}.json"
        result = result_dict(self._space, answer)
        file.write_text(json.dumps(result, indent=1), encoding="utf-8")
        return str(file)

    def write_charts(self, answer: Answer) -> str:
        """Write all charts as one PNG image, and return the path of the file."""
        charts = [chart(answer.runs, answer.options) for chart in self._space.charts]
        spec = json.dumps(sheet(self._space.title, charts))
        file = self._new_folder() / f"{self._space.metric}.png"
        file.write_bytes(vl_convert.vegalite_to_png(spec, scale=2))
        return str(file)

    def _new_folder(self) -> Path:
        self._folders.append(Path(tempfile.mkdtemp(dir=self._root.name)))
        if len(self._folders) > _MAX_FOLDERS:
            shutil.rmtree(self._folders.popleft())
        return self._folders[-1]
