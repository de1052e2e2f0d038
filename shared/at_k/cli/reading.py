"""Questions out of a file or a dataset: which columns hold what, and in what shape."""

from __future__ import annotations

import ast
import contextlib
import csv
import glob
import io
import itertools
import json
import sys
import tempfile
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa

from ..checks import short

# The usual names of a column, the first that is there is taken.
PREDICTIONS = (
    *("predictions", "prediction", "samples", "sample", "responses", "response"),
    *("completions", "completion", "generations", "generation", "outputs", "output"),
)
OUTCOMES = (
    *("outcomes", "outcome", "correct", "is_correct", "passed"),
    *("rewards", "reward", "verdicts", "verdict"),
)
REFERENCES = (
    *("references", "reference", "answers", "answer", "targets", "target", "ground_truth"),
    *("gold", "solution", "expected", "label"),
)
# What a metric takes one of per question, and whose usual names.
PER_QUESTION = {
    "groups": ("groups", "group"),
    "R0": ("r0",),
    "clusters": ("clusters", "cluster"),
}
QUESTIONS = (
    *("question_id", "task_id", "problem_id", "prompt_id", "id"),
    *("question", "problem", "prompt"),
)

Columns = dict[str, Sequence[Any]]
_TEXT_FORMATS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")


@dataclass(frozen=True)
class Questions:
    """What goes into `compute`, an entry per question, and the columns it is from."""

    predictions: Sequence[Any]
    references: Sequence[Any] | None
    options: dict[str, Sequence[Any]]
    """What else the metric is given one of per question, by its parameter."""
    taken_from: dict[str, str]
    """The column of each of these."""
    judged_by: str | None
    """The column of the references, or None where the predictions are outcomes."""
    names: dict[str, list[str]]
    """The entries of each column that tells the questions apart, as texts."""


def read_questions(
    source: str,
    predictions: str | None = None,
    outcomes: str | None = None,
    references: str | None = None,
    questions: str | None = None,
    config: str | None = None,
    split: str | None = None,
    **options: str | None,
) -> Questions:
    """The questions of a file, or of whatever else `datasets` can load.

    Columns that are not named are found by the usual names. A row is a question with the
    list of its samples (in CSV a cell such as ["12", "13"]); or it is one sample, and those
    of one question share an entry in the column `questions`. The options are of PER_QUESTION,
    each with its column, or None for the usual one.

    Raises:
        ValueError: that names the columns there are, if one is missing, or the line of a
            file that cannot be read.
        FileNotFoundError: if there is no such file.
    """
    columns = _load(source, config, split)
    if not any(len(column) for column in columns.values()):
        raise ValueError(f"{source} holds no question.")
    if predictions and outcomes:
        raise ValueError("--predictions are judged, --outcomes are not: name one of them.")
    samples = _find(columns, outcomes or predictions, OUTCOMES if outcomes else PREDICTIONS)
    samples = samples or _find(columns, None, OUTCOMES)
    if samples is None:
        raise ValueError(
            f"{source} has no column with a usual name for samples: name one with --predictions "
            f"or --outcomes. {_there_are(columns)}"
        )
    # Beside outcomes, an answer is no reference to judge them by.
    judged = not (outcomes or samples.lower() in OUTCOMES)
    answers = _find(columns, references, REFERENCES if judged else ())
    roles = {"samples": samples, "answers": answers} | {
        option: _find(columns, name, PER_QUESTION[option]) for option, name in options.items()
    }
    chosen: Columns = {role: columns[name] for role, name in roles.items() if name is not None}
    chosen = _parse_list_cells(chosen, source, questions)
    listed = [isinstance(cell, list) for cell in chosen["samples"] if cell is not None]
    if any(listed) and not all(listed):
        raise ValueError(f"{source} has lists of samples in some rows and single ones in others.")
    if any(listed):
        names = {name: list(map(_name, columns[name])) for name in _usual(columns, QUESTIONS)}
    else:
        key, entries, chosen = _gather(columns, chosen, source, questions)
        names = {key: entries}
    taken = {option: name for option, name in roles.items() if option in options and name}
    given = {option: chosen[option] for option in taken}
    told_apart = {
        column.lower(): entries
        for column, entries in names.items()
        if "" not in entries and len(set(entries)) == len(entries)
    }
    return Questions(chosen["samples"], chosen.get("answers"), given, taken, answers, told_apart)


def places(a: Questions, b: Questions) -> list[int]:
    """Where in b each question of a is, by a column that names them in both.

    Where there is none, they are in the same order.

    Raises:
        ValueError: if such columns name other questions, or there are not as many.
    """
    shared = [column for column in a.names if column in b.names]
    for column in shared:
        if set(a.names[column]) == set(b.names[column]):
            place = {entry: i for i, entry in enumerate(b.names[column])}
            return [place[entry] for entry in a.names[column]]
    if shared:
        column = shared[0]
        for one, other, which in ((a, b, "first"), (b, a, "second")):
            known = set(other.names[column])
            alone = [entry for entry in one.names[column] if entry not in known]
            if alone:
                raise ValueError(
                    f"The files differ in their questions by {column}: {len(alone)} of them are "
                    f"in the {which} only, such as {short(alone[0])}."
                )
    if len(a.predictions) != len(b.predictions):
        raise ValueError(
            f"There are {len(a.predictions)} questions in the first file and "
            f"{len(b.predictions)} in the second: give both the same."
        )
    return list(range(len(a.predictions)))


# --- Files and datasets -----------------------------------------------------------------


def _load(source: str, config: str | None, split: str | None) -> Columns:
    path = Path(source)
    ending = next((end.lower() for end in reversed(path.suffixes) if end.lower() != ".gz"), "")
    bars = datasets.are_progress_bars_disabled()
    datasets.disable_progress_bars()
    try:
        if path.is_file():
            if config or split:
                raise ValueError("--config and --split are for datasets: a file has neither.")
            if ending not in (*_TEXT_FORMATS, ".parquet"):
                raise ValueError(f"{source} is none of {', '.join(_TEXT_FORMATS)}, .parquet.")
            loaded = _load_file(path, "parquet" if ending == ".parquet" else "text")
            return (
                _dataset_columns(loaded) if ending == ".parquet" else _parse(loaded, source, ending)
            )
        if any((path / name).is_file() for name in ("state.json", "dataset_dict.json")):
            loaded = datasets.load_from_disk(source)
        elif path.is_dir():
            loaded = _load_uncached(str(path.resolve()), name=config)
        elif ending in (*_TEXT_FORMATS, ".parquet") or source.startswith((".", "/", "~")):
            raise FileNotFoundError(f"There is no such file or folder: {source!r}")
        else:
            loaded = datasets.load_dataset(source, config)
        return _dataset_columns(_one_split(loaded, source, split))
    finally:
        if not bars:
            datasets.enable_progress_bars()


def _load_file(path: Path, builder: str) -> datasets.Dataset:
    options = {"keep_linebreaks": True} if builder == "text" else {}
    try:
        return _load_uncached(builder, data_files=glob.escape(str(path)), split="train", **options)
    except (datasets.exceptions.DatasetGenerationError, pa.ArrowInvalid) as error:
        problem = error.__cause__ or error
        reason = f"cannot be read: {problem}" if path.stat().st_size else "is empty"
        raise ValueError(f"{path} {reason}.") from error


def _load_uncached(source: str, **options):
    """A local dataset as it is now: the cache knows a file by its path and time only."""
    with tempfile.TemporaryDirectory() as cache:
        return datasets.load_dataset(source, cache_dir=cache, keep_in_memory=True, **options)


def _one_split(
    loaded: datasets.Dataset | datasets.DatasetDict, source: str, split: str | None
) -> datasets.Dataset:
    if isinstance(loaded, datasets.Dataset):
        loaded = {str(loaded.split or "train"): loaded}
    if split is None and len(loaded) == 1:
        return next(iter(loaded.values()))
    if split not in loaded:
        raise ValueError(f"{source} has the splits {', '.join(loaded)}: name one with --split.")
    return loaded[split]


def _dataset_columns(rows: datasets.Dataset) -> Columns:
    return {name: rows[name] for name in rows.column_names}


def _parse(rows: datasets.Dataset, source: str, ending: str) -> Columns:
    """The columns of a text file. The builders of `datasets` for them guess at types, and
    take "2024-01-01" for a time, 012 for 12, and the answer "None" for no answer."""
    lines = rows["text"][:]
    lines[0] = lines[0].removeprefix("\ufeff")
    if ending in (".csv", ".tsv"):
        return _parse_csv(lines, source, "\t" if ending == ".tsv" else ",")
    if ending == ".json":
        parsed = _parse_json("".join(lines), source)
        if isinstance(parsed, dict) and all(isinstance(value, list) for value in parsed.values()):
            return parsed
        records = parsed if isinstance(parsed, list) else [parsed]
    else:
        records = [
            _parse_json(line, f"{source}, line {number}")
            for number, line in enumerate(lines, start=1)
            if line.strip()
        ]
    if not all(isinstance(record, dict) for record in records):
        raise ValueError(f"{source} holds something other than objects with a key per column.")
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}


def _parse_json(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"{place}: this is no JSON: {error}.") from error


def _parse_csv(lines: list[str], source: str, delimiter: str) -> Columns:
    csv.field_size_limit(sys.maxsize)
    reader = csv.reader(lines, delimiter=delimiter)
    names = [name.strip() for name in next(reader)]
    if len(set(names)) < len(names):
        raise ValueError(f"{source}, line 1: two columns have the same name.")
    records = []
    for record in reader:
        if record and len(record) != len(names):
            raise ValueError(
                f"{source}, line {reader.line_num}: {len(record)} cells under {len(names)} names."
            )
        records += [record] if record else []
    return {name: [record[i] for record in records] for i, name in enumerate(names)}


# --- Columns ----------------------------------------------------------------------------


def _find(columns: Columns, named: str | None, usual: Iterable[str]) -> str | None:
    if named is not None and named not in columns:
        raise ValueError(f"There is no column {named!r}. {_there_are(columns)}")
    return named or next(iter(_usual(columns, usual)), None)


def _usual(columns: Columns, usual: Iterable[str]) -> list[str]:
    """Those of the usual names that are there, in whatever case, as they are written there."""
    lower = {name.lower(): name for name in reversed(columns)}
    return [lower[name] for name in usual if name in lower]


def _there_are(columns: Columns) -> str:
    return f"The columns are {', '.join(columns)}."


def _parse_list_cells(chosen: Columns, source: str, questions: str | None) -> Columns:
    """Lists for the cells of text, as CSV has them, that stand for lists."""
    if "R0" in chosen:
        lists = [_list_in(cell) for cell in chosen["R0"]]
        if None not in lists:
            chosen = chosen | {"R0": lists}
    if questions is not None:
        return chosen
    cells = chosen["samples"]
    if not all(isinstance(cell, str) for cell in cells):
        return chosen
    lists = [_list_in(cell) for cell in cells]
    if not any(lists) and not all(cell.startswith("[") for cell in cells):
        return chosen
    if None in lists:
        row = lists.index(None)
        raise ValueError(
            f"{source}, row {row} (from 0): {short(cells[row])} is no list of samples, as JSON "
            f"writes it. If each row is one sample, name a column with --questions."
        )
    chosen = chosen | {"samples": lists}
    answers = [_list_in(cell) for cell in chosen.get("answers", ())]
    return chosen | {"answers": answers} if answers and None not in answers else chosen


def _list_in(cell) -> list[Any] | None:
    """The list that a text stands for, in JSON or in Python, or None if it is none."""
    if not (isinstance(cell, str) and cell.strip().startswith("[")):
        return None
    try:
        return json.loads(cell)
    except ValueError:
        if _joins_texts(cell):
            return None
    try:
        return ast.literal_eval(cell.strip())
    except (ValueError, SyntaxError):
        return None


def _joins_texts(cell: str) -> bool:
    """Whether texts follow each other without a comma, as NumPy prints them: ['a' 'b']."""
    try:
        tokens = [token.type for token in tokenize.generate_tokens(io.StringIO(cell).readline)]
    except (tokenize.TokenError, SyntaxError):
        return False
    return (tokenize.STRING, tokenize.STRING) in itertools.pairwise(tokens)


def _gather(
    columns: Columns, chosen: Columns, source: str, questions: str | None
) -> tuple[str, list[str], Columns]:
    """Rows of one sample each, as questions; and by which column they are told apart, and how."""
    usual = _usual(columns, QUESTIONS)
    # A number for each row is not a number for each question.
    fewer = [name for name in usual if len(set(map(repr, columns[name]))) < len(columns[name])]
    key = _find(columns, questions, ()) or next(iter(fewer or usual), None)
    if key is None:
        raise ValueError(
            f"{source} has one sample in each row, and no column with a usual name for what "
            f"question it is of: name one with --questions. {_there_are(columns)}"
        )
    if "answers" not in chosen:
        chosen = chosen | {"samples": [as_outcome(cell) for cell in chosen["samples"]]}
    others = [role for role in chosen if role != "samples"]
    first: dict[str, int] = {}
    gathered: dict[str, list[Any]] = {}
    for row, question in enumerate(columns[key]):
        name = _name(question)
        if not name:
            raise ValueError(f"{source}, row {row} (from 0) has no {key}: which question is it of?")
        start = first.setdefault(name, row)
        gathered.setdefault(name, []).append(chosen["samples"][row])
        for role in others:
            if chosen[role][start] != chosen[role][row]:
                raise ValueError(
                    f"Rows {start} and {row} of {source} have the same {key}, {short(question)}, "
                    f"but unlike entries {short(chosen[role][start])} and "
                    f"{short(chosen[role][row])}."
                )
    lists = {"samples": list(gathered.values())} | {
        role: [chosen[role][row] for row in first.values()] for role in others
    }
    return key, list(first), lists


def _name(question) -> str:
    """What a question is called; nothing if it has no name."""
    return question if isinstance(question, str) else "" if question is None else repr(question)


def as_outcome(cell) -> Any:
    """The number or bool that a text of CSV stands for; nothing for nothing."""
    words = {"": None, "true": True, "false": False}
    if not isinstance(cell, str):
        return cell
    if (word := cell.strip().lower()) in words:
        return words[word]
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(cell)
    return cell
