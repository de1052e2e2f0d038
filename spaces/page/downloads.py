"""Write the files that visitors download: scores, tables, samples, charts, code and the page."""

import json
import pickle
import shutil
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from at_k.charts.figure import Figure

from .charts import charts_of, draw
from .python_code import python_code
from .question_table import samples_csv
from .request import Answer
from .score_tables import FORMATS, table_text
from .space import Space

_MAX_FOLDERS = 300
_ANSWER, _SAVED_PAGE = "answer.pickle", "page.txt"


def result_dict(space: Space, answer: Answer) -> dict[str, Any]:
    """Return the metric, the options, the scores of each call by run, and the samples.

    The API returns this dict, and the download as JSON has it. The scores of a sweep are a list.
    """
    result: dict[str, Any] = {"metric": space.metric, "options": answer.options}
    for name, call in answer.calls.items():
        results = {run.label: run.results[name] for run in answer.runs}
        if call.sweep:
            results = {label: [*by_value.values()] for label, by_value in results.items()}
        result[name] = results
    if answer.comparison is not None:
        differences = answer.comparison.results
        result["comparison"] = differences[0] if answer.comparison.is_leaderboard else differences
    return result | {"samples": {run.label: run.samples for run in answer.runs}}


class Downloads:
    """Keep the latest answers of one page in a temporary folder, and write the files to download.

    Each answer has a subfolder. A file is written into it when a visitor asks for the file. Threads
    of several visitors use one object at the same time.
    """

    def __init__(self, space: Space):
        self._space = space
        self._root = tempfile.TemporaryDirectory(prefix="downloads-")
        self._folders: list[str] = []
        self._lock = threading.Lock()

    def keep(self, answer: Answer, shared: str) -> str:
        """Save an answer and its request in a new folder, and return the path of the folder.

        `shared` is the request as text, which `sharing.shared_text` returns. If there are too many
        folders, the oldest one is removed, except the first: each new page shows its answer.
        """
        folder = tempfile.mkdtemp(dir=self._root.name)
        Path(folder, _SAVED_PAGE).write_text(shared, encoding="ascii")
        Path(folder, _ANSWER).write_bytes(pickle.dumps(answer))
        with self._lock:
            self._folders.append(folder)
            oldest = self._folders.pop(1) if len(self._folders) > _MAX_FOLDERS else None
        if oldest is not None:
            # Under another name first: a visitor may be writing a file of this answer.
            shutil.rmtree(Path(oldest).rename(f"{oldest}-removed"))
        return folder

    def answer(self, folder: str) -> Answer:
        """Return the answer in a folder. Raise a ValueError if the server has removed it."""
        try:
            return pickle.loads(Path(folder, _ANSWER).read_bytes())
        except FileNotFoundError as error:
            raise ValueError(
                "The server has removed this answer. Press Score to score again."
            ) from error

    def choices(self, answer: Answer) -> list[str]:
        """Return the entries of the menu of downloads of an answer."""
        return list(self._files(answer, ""))

    def _files(
        self, answer: Answer, folder: str
    ) -> dict[str, tuple[str, Callable[[], str | Figure]]]:
        """Return a dict from each entry of the menu to a pair: end of the file name, function.

        The function returns the content of the file: a text, or the figure of a chart.
        """
        space, noun = self._space, self._space.sample_noun
        samples = f"{noun.capitalize()}s with their outcomes as CSV"
        files: dict[str, tuple[str, Callable[[], str | Figure]]] = {
            "Scores as JSON": (".json", lambda: json.dumps(result_dict(space, answer), indent=1)),
            **{
                f"Scores as {name}": (f".{ending}", partial(table_text, space, answer, name))
                for name, ending in FORMATS.items()
            },
            samples: (f"-{noun}s.csv", partial(samples_csv, space, answer)),
        }
        for number, chart in enumerate(charts_of(space, answer), start=1):
            for name in ("SVG", "PDF", "PNG"):
                ending = f"-{number}.{name.lower()}"
                files[f"Chart {number} as {name}"] = ending, partial(draw, chart, answer)
        files["Python code"] = ".py", partial(python_code, space, answer)
        files["This page, to be opened again"] = "-page.txt", Path(folder, _SAVED_PAGE).read_text
        return files

    def write(self, folder: str, choice: str) -> str:
        """Write a download into the folder of its answer, and return the path of the file.

        `choice` is one of `choices`. Raise a ValueError if the server has removed the answer.
        """
        ending, make = self._files(self.answer(folder), folder)[choice]
        path, content = f"{folder}/{self._space.metric}{ending}", make()
        if isinstance(content, str):
            Path(path).write_text(content, encoding="utf-8")
        else:
            content.save(path)
        return path
