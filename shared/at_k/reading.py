"""Questions out of a file or a dataset: which columns hold what, and in what shape."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets

_FORMATS = {
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
}

_OUTCOMES = ("outcomes", "outcome", "correct", "passed", "results", "rewards", "verdicts")
_PREDICTIONS = (
    "predictions",
    "prediction",
    "samples",
    "responses",
    "response",
    "completions",
    "completion",
    "generations",
    "outputs",
    "output",
)
_REFERENCES = (
    "references",
    "reference",
    "answers",
    "answer",
    "targets",
    "target",
    "ground_truth",
    "gold",
    "solution",
    "expected",
    "label",
)
_GROUPS = ("groups", "group")
_QUESTIONS = ("question_id", "task_id", "problem_id", "id", "question", "problem", "prompt")


@dataclass(frozen=True)
class Questions:
    """Columns, an entry per question, that go into `compute`."""

    predictions: Any
    references: Any = None
    groups: Any = None


def read_questions(
    source: str,
    predictions: str | None = None,
    references: str | None = None,
    groups: str | None = None,
    questions: str | None = None,
    config: str | None = None,
    split: str | None = None,
) -> Questions:
    """The questions of a file, or of whatever else `datasets` can load.

    Columns that are not named are found by the usual names. A row is a question with the
    list of its samples (in CSV a cell such as ["12", "13"]); or it is one sample, and those
    of one question share an entry in the column `questions`.

    Raises:
        ValueError: that names the columns there are, if one is missing.
        FileNotFoundError: if there is no such file.
    """
    rows = _load(source, config, split)
    samples = _column(rows, "predictions", predictions, (*_PREDICTIONS, *_OUTCOMES))
    if samples is None:
        raise ValueError(
            f"{source} has no column with a usual name for samples, but {_names(rows)}: "
            f"name one with --predictions."
        )
    # Beside outcomes, an answer is no reference to judge them by.
    usual = () if predictions is None and samples in _OUTCOMES else _REFERENCES
    answers = _column(rows, "references", references, usual)
    labels = _column(rows, "groups", groups, _GROUPS)
    columns = {
        name: rows[column]
        for name, column in (("predictions", samples), ("references", answers), ("groups", labels))
        if column is not None
    }
    if not _has_lists(rows.features[samples]):
        cells = [_as_list(cell) for cell in columns["predictions"]]
        if all(cell is not None for cell in cells):
            columns["predictions"] = cells
        else:
            columns = _gather(rows, source, questions, columns)
    return Questions(**columns)


def _load(source: str, config: str | None, split: str | None) -> datasets.Dataset:
    path = Path(source)
    bars = datasets.are_progress_bars_disabled()
    datasets.disable_progress_bars()
    try:
        if (path.is_dir() and any(path.glob("*/state.json"))) or (path / "state.json").is_file():
            loaded = datasets.load_from_disk(source)
        elif path.is_file():
            kind = next((_FORMATS[end] for end in reversed(path.suffixes) if end in _FORMATS), None)
            if kind is None:
                raise ValueError(f"{source} ends in none of {', '.join(_FORMATS)}.")
            options = {"sep": "\t"} if ".tsv" in path.suffixes else {}
            loaded = datasets.load_dataset(kind, data_files=source, split="train", **options)
        elif path.suffix in _FORMATS:
            raise FileNotFoundError(f"There is no file {source}.")
        else:
            loaded = datasets.load_dataset(source, config)
    finally:
        if not bars:
            datasets.enable_progress_bars()
    if isinstance(loaded, datasets.Dataset):
        return loaded
    if split is None and len(loaded) == 1:
        return next(iter(loaded.values()))
    if split not in loaded:
        raise ValueError(f"{source} has the splits {', '.join(loaded)}: name one with --split.")
    return loaded[split]


def _names(rows: datasets.Dataset) -> str:
    return ", ".join(rows.column_names)


def _column(
    rows: datasets.Dataset, role: str, named: str | None, usual: Iterable[str]
) -> str | None:
    if named is not None and named not in rows.column_names:
        raise ValueError(f"There is no column {named!r} for {role}, but {_names(rows)}.")
    return named or next((name for name in usual if name in rows.column_names), None)


def _has_lists(feature) -> bool:
    return isinstance(feature, (list, datasets.List, datasets.LargeList))


def _as_list(cell) -> list[Any] | None:
    """The list that a cell of a CSV file holds as text, or None if it holds none."""
    if not (isinstance(cell, str) and cell.strip().startswith("[")):
        return None
    for read in (json.loads, ast.literal_eval):
        try:
            value = read(cell)
        except (ValueError, SyntaxError):
            continue
        return value if isinstance(value, list) else None
    return None


def _gather(
    rows: datasets.Dataset, source: str, questions: str | None, columns: dict[str, Any]
) -> dict[str, list[Any]]:
    """Rows of one sample each, as questions."""
    key = _column(rows, "questions", questions, _QUESTIONS)
    if key is None:
        raise ValueError(
            f"{source} has one sample in each row, and no column that says of which question, but "
            f"{_names(rows)}: name one with --questions."
        )
    gathered: dict[Any, dict[str, Any]] = {}
    entries = zip(rows[key], *columns.values(), strict=True)
    for row, (question, *cells) in enumerate(entries):
        sample, *others = cells
        first = gathered.setdefault(question, {"samples": [], "others": others, "row": row})
        first["samples"].append(sample)
        if first["others"] != others:
            raise ValueError(
                f"Rows {first['row']} and {row} of {source} are both of {key} {question!r}, but "
                f"differ in {' or '.join(list(columns)[1:])}: {first['others']} and {others}."
            )
    names = list(columns)[1:]
    return {"predictions": [each["samples"] for each in gathered.values()]} | {
        name: [each["others"][place] for each in gathered.values()]
        for place, name in enumerate(names)
    }
