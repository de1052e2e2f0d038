"""The files that visitors download: scores and tables of scores, and charts."""

from __future__ import annotations

import json
import pickle
import shutil
import tempfile
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .charts import charts_of
from .figures import draw
from .request import Answer
from .score_tables import FORMATS, table_text
from .space import Space

CHART_FORMATS = ("svg", "pdf", "png")

_MAX_FOLDERS = 300
_ANSWER = "answer.pickle"


def result_dict(space: Space, answer: Answer) -> dict[str, Any]:
    """Return the options, the scores of each call, and the samples, as the API returns them."""
    scores = {name: {run.label: run.results[name] for run in answer.runs} for name in answer.calls}
    return {
        "metric": space.metric,
        "options": answer.options,
        **scores,
        **_comparison(answer),
        "samples": answer.samples,
    }


def _comparison(answer: Answer) -> dict[str, Any]:
    found = answer.comparison
    return {} if found is None else {"comparison": found.board or found.differences}


class Downloads:
    """A temporary folder for the files of one page, which keeps those of the latest answers only.

    Each answer has a folder in it. Charts and tables are written when a visitor asks for them.
    Threads of several visitors use one object at the same time.
    """

    def __init__(self, space: Space):
        self._space = space
        self._root = tempfile.TemporaryDirectory(prefix="downloads-")
        self._folders: deque[Path] = deque()
        self._lock = threading.Lock()

    def new_folder(self) -> Path:
        """Create a folder for the files of a request, which is removed as those of answers are."""
        folder = Path(tempfile.mkdtemp(dir=self._root.name))
        self._add(folder)
        return folder

    def _add(self, folder: Path) -> None:
        """Add a folder, and remove the oldest except the first, which a new page shows."""
        with self._lock:
            self._folders.append(folder)
            oldest = self._folders[1] if len(self._folders) > _MAX_FOLDERS else None
            if oldest is not None:
                del self._folders[1]
        if oldest is not None:
            # Under another name first: a visitor may be writing a file of this answer.
            shutil.rmtree(oldest.rename(f"{oldest}-removed"))

    def keep(self, answer: Answer, shared: str) -> Path:
        """Write an answer, and return the path of its scores as JSON.

        Args:
            answer: the answer.
            shared: its request as in a link, which is the content of a saved page.
        """
        folder = Path(tempfile.mkdtemp(dir=self._root.name))
        (folder / self._page_name).write_text(shared, encoding="ascii")
        file = folder / f"{self._space.metric}.json"
        result = result_dict(self._space, answer)
        file.write_text(json.dumps(result, indent=1), encoding="utf-8")
        (folder / _ANSWER).write_bytes(pickle.dumps(answer))
        self._add(folder)  # now that it is complete
        return file

    def write_table(self, folder: str, name: str) -> str:
        """Write the table of scores of an answer in a format, and return the path of the file."""
        answer = self.answer(folder)
        file = Path(folder) / f"{self._space.metric}.{FORMATS[name]}"
        with _unless_removed():
            file.write_text(table_text(self._space, answer, name), encoding="utf-8")
        return str(file)

    def write_chart(self, folder: str, place: int, file_type: str) -> str:
        """Write a chart of an answer for a paper, and return the path of the file.

        Args:
            folder: the folder of the answer.
            place: the place of the chart in `charts_of`.
            file_type: one of `CHART_FORMATS`.

        Raises:
            ValueError: if the server has removed the answer.
        """
        answer = self.answer(folder)
        chart = charts_of(self._space, answer)[place]
        file = Path(folder) / f"{self._space.metric}-{place + 1}.{file_type}"
        if chart is not None:
            with _unless_removed():
                draw(chart, answer).save(file)
        return str(file)

    @property
    def _page_name(self) -> str:
        return f"{self._space.metric}-page.txt"

    def saved_page(self, folder: str) -> str:
        """Return the path of the request of an answer, from which a page shows it again."""
        self.answer(folder)
        return str(Path(folder) / self._page_name)

    def answer(self, folder: str) -> Answer:
        """Return the answer in a folder; a ValueError if the server has removed it."""
        with _unless_removed():
            content = (Path(folder) / _ANSWER).read_bytes()
        return pickle.loads(content)


@contextmanager
def _unless_removed() -> Iterator[None]:
    """Raise a ValueError if the folder of an answer has been removed."""
    try:
        yield
    except FileNotFoundError as error:
        raise ValueError(
            "The server has removed this answer. Change a value to score again."
        ) from error
