"""The files that visitors download: scores and tables of scores, and charts."""

from __future__ import annotations

import json
import pickle
import re
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .charts import charts_of
from .figures import draw
from .python_code import python_code
from .question_table import samples_csv
from .request import Answer
from .score_tables import FORMATS, table_text
from .space import Space

_MAX_FOLDERS = 300
_ANSWER, _LINK = "answer.pickle", "page.txt"
_CHART = re.compile(r"Chart (\d) as (SVG|PDF|PNG)")


def result_dict(space: Space, answer: Answer) -> dict[str, Any]:
    """Return the options, the scores of each call, and the samples, as the API returns them."""
    result: dict[str, Any] = {"metric": space.metric, "options": answer.options}
    for name, call in answer.calls.items():
        results = {run.label: run.results[name] for run in answer.runs}
        if call.sweep:
            results = {label: [*by_value.values()] for label, by_value in results.items()}
        result[name] = results
    if answer.comparison is not None:
        first, *others = answer.comparison.results
        result["comparison"] = first if answer.comparison.is_leaderboard else [first, *others]
    return result | {"samples": {run.label: run.samples for run in answer.runs}}


class Downloads:
    """A temporary folder for the files of one page, which keeps those of the latest answers only.

    Each answer has a folder in it. Its files are written when a visitor asks for them.
    Threads of several visitors use one object at the same time.
    """

    def __init__(self, space: Space):
        self._space = space
        self._root = tempfile.TemporaryDirectory(prefix="downloads-")
        self._folders: list[Path] = []
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
            oldest = self._folders.pop(1) if len(self._folders) > _MAX_FOLDERS else None
        if oldest is not None:
            # Under another name first: a visitor may be writing a file of this answer.
            shutil.rmtree(oldest.rename(f"{oldest}-removed"))

    def keep(self, answer: Answer, shared: str) -> str:
        """Write an answer, and return its folder.

        Args:
            answer: the answer.
            shared: its request as in a link, which is the content of a saved page.
        """
        folder = Path(tempfile.mkdtemp(dir=self._root.name))
        (folder / _LINK).write_text(shared, encoding="ascii")
        (folder / _ANSWER).write_bytes(pickle.dumps(answer))
        self._add(folder)  # now that it is complete
        return str(folder)

    def choices(self, answer: Answer) -> list[str]:
        """Return what a visitor can download of an answer."""
        charts = [number for number, chart in enumerate(charts_of(self._space, answer), 1) if chart]
        return [
            *(f"Scores as {name}" for name in ("JSON", *FORMATS)),
            f"{self._space.cell_noun.capitalize()}s with their outcomes as CSV",
            *(f"Chart {number} as {name}" for number in charts for name in ("SVG", "PDF", "PNG")),
            "Python code",
            "This page, to be opened again",
        ]

    def write(self, folder: str, choice: str) -> str:
        """Write what a visitor has chosen from `choices`, and return the path of the file.

        Raises:
            ValueError: if the server has removed the answer, or there is no such choice.
        """
        answer, metric = self.answer(folder), self._space.metric
        if choice not in self.choices(answer):
            raise ValueError(f"There is no download {choice!r:.40}.")
        with _unless_removed():
            if match := _CHART.fullmatch(choice):
                chart = charts_of(self._space, answer)[int(match[1]) - 1]
                file = Path(folder) / f"{metric}-{match[1]}.{match[2].lower()}"
                assert chart is not None
                draw(chart, answer).save(file)
                return str(file)
            name, text = self._text(Path(folder), answer, choice)
            file = Path(folder) / f"{metric}{name}"
            file.write_text(text, encoding="utf-8")
        return str(file)

    def _text(self, folder: Path, answer: Answer, choice: str) -> tuple[str, str]:
        """Return the end of the name of a file, and what it holds."""
        kind = choice.removeprefix("Scores as ")
        if kind == "JSON":
            return ".json", json.dumps(result_dict(self._space, answer), indent=1)
        if kind in FORMATS:
            return f".{FORMATS[kind]}", table_text(self._space, answer, kind)
        if choice == "Python code":
            return ".py", python_code(self._space, answer)
        if choice.startswith("This page"):
            return "-page.txt", (folder / _LINK).read_text(encoding="ascii")
        return f"-{self._space.cell_noun}s.csv", samples_csv(self._space, answer)

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
            "The server has removed this answer. Press Score to score again."
        ) from error
