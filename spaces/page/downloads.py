"""Write the files that visitors download: scores, tables, samples, charts, code and the page."""

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

from .charts import charts_of, draw
from .python_code import python_code
from .question_table import samples_csv
from .request import Answer
from .score_tables import FORMATS, table_text
from .space import Space

_MAX_FOLDERS = 300
_ANSWER, _SAVED_PAGE = "answer.pickle", "page.txt"
_CHART = re.compile(r"Chart (\d) as (SVG|PDF|PNG)")


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
    """Keep the latest answers of one page in a temporary folder, and write files of them.

    Each answer has a folder in it. A file is written when a visitor asks for it. Threads of several
    visitors use one object at the same time.
    """

    def __init__(self, space: Space):
        self._space = space
        self._root = tempfile.TemporaryDirectory(prefix="downloads-")
        self._folders: list[Path] = []
        self._lock = threading.Lock()

    def new_folder(self) -> Path:
        """Create a folder for the files of a request, which is removed like that of an answer."""
        folder = Path(tempfile.mkdtemp(dir=self._root.name))
        self._add(folder)
        return folder

    def _add(self, folder: Path) -> None:
        """Add a folder. If there are too many, remove the oldest one except the first.

        The first folder has the answer that each new page shows.
        """
        with self._lock:
            self._folders.append(folder)
            oldest = self._folders.pop(1) if len(self._folders) > _MAX_FOLDERS else None
        if oldest is not None:
            # Under another name first: a visitor may be writing a file of this answer.
            shutil.rmtree(oldest.rename(f"{oldest}-removed"))

    def keep(self, answer: Answer, shared: str) -> str:
        """Save an answer, and return the path of its folder.

        Args:
            answer: the answer.
            shared: the request as `sharing.shared_text` returns it, which a saved page holds.
        """
        folder = Path(tempfile.mkdtemp(dir=self._root.name))
        (folder / _SAVED_PAGE).write_text(shared, encoding="ascii")
        (folder / _ANSWER).write_bytes(pickle.dumps(answer))
        self._add(folder)  # now that it is complete
        return str(folder)

    def answer(self, folder: str) -> Answer:
        """Return the answer in a folder. Raise a ValueError if the server has removed it."""
        with _naming_removed_answers():
            content = (Path(folder) / _ANSWER).read_bytes()
        return pickle.loads(content)

    def choices(self, answer: Answer) -> list[str]:
        """Return the entries of the menu of downloads of an answer."""
        charts = [number for number, chart in enumerate(charts_of(self._space, answer), 1) if chart]
        return [
            *(f"Scores as {name}" for name in ("JSON", *FORMATS)),
            f"{self._space.sample_noun.capitalize()}s with their outcomes as CSV",
            *(f"Chart {number} as {name}" for number in charts for name in ("SVG", "PDF", "PNG")),
            "Python code",
            "This page, to be opened again",
        ]

    def write(self, folder: str, choice: str) -> str:
        """Write a download into the folder of its answer, and return the path of the file.

        Args:
            folder: the path of the folder.
            choice: an entry of `choices`.

        Raises:
            ValueError: if the server has removed the answer, or there is no such choice.
        """
        answer, start = self.answer(folder), Path(folder) / self._space.metric
        if choice not in self.choices(answer):
            raise ValueError(f"There is no download {choice!r:.40}.")
        with _naming_removed_answers():
            if match := _CHART.fullmatch(choice):
                chart = charts_of(self._space, answer)[int(match[1]) - 1]
                assert chart is not None
                file = f"{start}-{match[1]}.{match[2].lower()}"
                draw(chart, answer).save(file)
            else:
                end, text = self._text_file(Path(folder), answer, choice)
                file = f"{start}{end}"
                Path(file).write_text(text, encoding="utf-8")
        return file

    def _text_file(self, folder: Path, answer: Answer, choice: str) -> tuple[str, str]:
        """Return the end of the name of a file, and its content."""
        kind = choice.removeprefix("Scores as ")
        if kind == "JSON":
            return ".json", json.dumps(result_dict(self._space, answer), indent=1)
        if kind in FORMATS:
            return f".{FORMATS[kind]}", table_text(self._space, answer, kind)
        if choice == "Python code":
            return ".py", python_code(self._space, answer)
        if choice.startswith("This page"):
            return "-page.txt", (folder / _SAVED_PAGE).read_text(encoding="ascii")
        return f"-{self._space.sample_noun}s.csv", samples_csv(self._space, answer)


@contextmanager
def _naming_removed_answers() -> Iterator[None]:
    """Turn the error of a missing folder into a ValueError: the server has removed the answer."""
    try:
        yield
    except FileNotFoundError as error:
        raise ValueError(
            "The server has removed this answer. Press Score to score again."
        ) from error
