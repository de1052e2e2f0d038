"""Read a source as a `Run`, the arguments of `compute`, in four steps.

A source becomes a table, its columns samples by role, its rows questions, and the questions a run.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from typing import Any

from ..core.checks import QUESTION, InputError, check_name, short
from ..core.choice import KnownClusters
from . import names as usual
from .counting import counted_run
from .grids import with_sample_lists
from .names import last_part
from .questions import (
    entries_of_questions,
    identifiers_of,
    refuse_filters,
    refuse_mixed_files,
    refuse_spaces,
    refuse_summaries,
    with_questions,
)
from .reading import ReadingOptions, make_reading
from .references import TESTS, are_elsewhere, join_references, with_tests
from .roles import columns_by_role
from .samples import Reading, read_samples
from .settings import refuse_repeats, refuse_settings
from .sources import load_files, load_object, names_in
from .table import (
    FILE,
    FILES,
    ColumnsByRole,
    SelectionError,
    Table,
    Way,
    list_columns,
    names_of_files,
    pairs_of,
    rows_where,
    with_fields,
)
from .words import entry_text, has_lists

Names = str | Sequence[str]
"""The name of a column, or of several."""


COLUMNS = (
    "n",
    "correct",
    "counts",
    *usual.PER_QUESTION[1:],
    *usual.PER_SAMPLE,
    "finish",
    "options",
)
"""The roles whose columns the argument `columns` of `read` may name."""


class Run(dict[str, Any]):
    """A run as it was read: the arguments of `compute`, by name.

    Attributes:
        ids: what identifies each of the M questions: a text, or a tuple of the texts of several
            columns. None if nothing does, so that questions have an order only.
        origin: what the source says about itself, such as {"harness": .., "model": .., "task": ..}.
        columns: the column of each role. "questions" has those of the ids.
        files: the names of the files that were read, if there are several.
        missing: what the first line says of samples that are missing or were added, or "".
        identifiers: columns that identify the questions, by name in lower case: M texts each.
        is_matrix: whether the source has nothing but a row of outcomes for each question.
        grades: M lists of the outcomes of the samples in a log, if they are to be checked again
            and it has one outcome of each; otherwise None.
    """

    ids: list[Any] | None = None
    origin: Mapping[str, str] = {}
    columns: Mapping[str, Any] = {}
    files: tuple[str, ...] = ()
    missing: str = ""
    identifiers: Mapping[str, list[Any]] = {}
    is_matrix: bool = False
    grades: list[list[Any]] | None = None

    def select(self, questions: Sequence[int]) -> Run:
        """Return the run of the questions with these indices, in this order."""

        def selected(values: Any) -> Any:
            """Return the entries of these questions, or a value of the whole run as it is."""
            if isinstance(values, dict):  # of counts, or of identifiers
                return {name: selected(entries) for name, entries in values.items()}
            if hasattr(values, "take"):  # an array
                return values.take(questions)
            if isinstance(values, list):  # or a subclass, such as `KnownClusters`
                return type(values)(values[question] for question in questions)
            return values

        result = copy(self)
        result.update(selected(dict(self)))
        for name in ("ids", "identifiers", "grades"):
            setattr(result, name, selected(getattr(self, name)))
        return result


def read(
    source: Any,
    *,
    predictions: Names | None = None,
    outcomes: Names | None = None,
    references: str | Mapping[Any, Any] | Sequence[Any] | None = None,
    questions: Names | None = None,
    groups: str | None = None,
    columns: Mapping[str, Any] | None = None,
    where: Mapping[str, Any] | None = None,
    pool: Names = (),
    missing: str | None = None,
    unfinished: str | None = None,
    correct_values: Collection[Any] | None = (),
    correct_at_least: float | None = None,
    group_size: int | None = None,
) -> Run:
    """Read samples or outcomes from a file, log, data frame or dataset, as arguments of `compute`.

    A row of the source is a question with the list of its samples or a column for each sample (1,
    2, .. or sample_1, sample_2, ..), or one sample, or the counts of a question. Rows with the same
    question id belong to one question. The layouts of many tools are recognised. In other sources
    columns are found by exact names if they are not named, except those in `columns`. A name such
    as `response.choices` leads to the fields of nested objects. A table without names holds
    outcomes. Outcomes are 0 and 1, true and false, or words such as yes and no, pass and fail,
    correct and incorrect.

    Args:
        source: the path of a file or folder, a name that fsspec opens (`https://`, `s3://`,
            `hf://datasets/..`), the name of a dataset that `datasets` can load, or a list of
            files with parts of one run; or an object: an open file, a data frame, an Arrow table,
            a `datasets.Dataset`, a list of dicts, or a dict of columns. Of several logs of a task,
            the newest that is complete is read.
        predictions: the column of samples to be checked, or several with a sample each. Beside
            `outcomes`: the column of the graded answers, for the votes of cons_at_k.
        outcomes: the column of already-graded outcomes, or several with an outcome each.
        references: the column to check the samples against. If the log has none: a dict with the
            reference of each question, a list with the reference of each row, or a file with
            columns of questions and references; FILE:COLUMN names one of several.
        questions: the column with the id of the question, or several that identify it together.
        groups: the column of groups. A setting, such as the strategy of a prompt, gives a group
            for each of its values.
        columns: further columns, by what they have: {"clusters": "repo"}. Of counts, "n" and
            "correct", or "counts" (a list of the columns of numbers of samples, one for each
            category 0, 1, .., or named by their outcomes, such as 0, 0.5 and 1; a dict with the
            column of each outcome; or the column that says how often the sample of its row
            occurs); of questions, "R0", "clusters", "question_weights" and "options" (which join
            the references, for `choice`); of samples, "labels" (what a person says of some: 1, 0 or
            nothing), "picked_by" (the scores that pick one of k samples), "vote_weights", and
            "finish" (why a response ended).
        where: the rows to read, by their entries: {"filter": "strict-match"}; a list of entries are
            alternatives.
        pool: columns whose entries may differ between the samples of a question, such as "run";
            "files" for files with the same questions. Without it, different entries are an error.
        missing: how a missing outcome or answer counts: as "incorrect"; "drop" leaves it out.
            Default: the rule of the tool that wrote the log; otherwise an error asks.
        unfinished: "incorrect" if responses that were cut off by length are incorrect.
        correct_values: the outcomes that are correct, such as ["C"]. All others are incorrect.
            Default: the usual words, such as pass and yes. None: outcomes stay as they are written,
            as categories, or as verdicts of score_agg, where questions may be in a column item.
        correct_at_least: the least score that is correct, such as 0.75.
        group_size: the number of consecutive rows that belong to a question, such as 8 for the
            rewards of TRL or verl with 8 samples of each prompt.

    Returns:
        A dict of arguments of `compute`, with the attributes of `Run`. If questions occur with
        several settings, it has clusters, one for each question without its setting: limits for
        other questions use them.

    Raises:
        SelectionError: (a ValueError) if columns are missing or ambiguous; the message names the
            argument to give.
        ValueError: if the source cannot be read. The message names the line or row if it can.
        FileNotFoundError: if there is no such file or folder.

    Examples:
        >>> columns = {"question": ["q1", "q1", "q2"], "answer": ["12", "13", "7"]}
        >>> run = read(columns, predictions="answer", references={"q1": "12", "q2": "8"})
        >>> run
        {'predictions': [['12', '13'], ['7']], 'references': ['12', '8']}
        >>> run.ids
        ['q1', 'q2']
    """
    if isinstance(source, Run):
        raise TypeError(
            "source is a Run, which has been read: compute and compare take it as it is."
        )
    if not isinstance(columns, Mapping | None):
        raise TypeError(
            f"columns is {short(columns)}: it is a dict such as {{'clusters': 'repo'}}."
        )
    for role in columns or ():
        check_name("columns", role, COLUMNS)
    try:
        return read_run(
            source,
            predictions=predictions,
            outcomes=outcomes,
            references=references,
            questions=questions,
            groups=groups,
            where=where,
            pool=pool,
            missing=missing,
            correct_values=correct_values,
            correct_at_least=correct_at_least,
            group_size=group_size,
            has_labels=correct_values is None,
            unfinished=unfinished,
            **(columns or {}),
        )
    except SelectionError as error:
        raise type(error)(f"{error}{error.remedy('Pass', _in_python)}", error.ways) from None


def _in_python(way: Way) -> list[str]:
    """Return the arguments of a way as typed in Python: missing='drop', or groups=.. to fill in."""
    if "records" in way.arguments:
        return [f"the list in {way.arguments['records']} itself"]
    if "split" in way.arguments:
        return ["one split, as datasets.load_dataset(name, split=..) returns it"]
    typed, columns = [], {}
    for role, value in way.arguments.items():
        if isinstance(value, tuple):
            value = value[0] if len(value) == 1 else list(value)
        if role in COLUMNS:  # a key of the argument `columns`
            columns[role] = value or ".."
        else:
            typed.append(f"{role}={'..' if value in ('..', None) else repr(value)}")
    return [", ".join([*typed, f"columns={columns}"] if columns else typed)]


def read_run(source: Any, **options: Any) -> Run:
    """Return the run in a source as `read` does, with the options of `make_reading`.

    The message of a SelectionError leaves out how to settle it: the caller words its `ways`.
    """
    reading = make_reading(**options)
    names = names_in(source, "files" in reading.pool)
    if not names:
        return _read_table(load_object(source, reading), reading)
    run = counted_run(names, reading, _read_table)  # for large files
    return _read_table(load_files(names, reading), reading) if run is None else run


def _read_table(table: Table, options: ReadingOptions) -> Run:
    """Return the run in the table of a source; the errors are those of `read`."""
    return _run_of_questions(_with_checked_questions(_samples_in_columns(table, options)))


def _samples_in_columns(table: Table, options: ReadingOptions) -> Reading:
    """Return the samples of the chosen rows, with one entry for each role that has a column."""
    table, named = _with_added_columns(table, options)  # `named` has the columns given by role
    table = _chosen_rows(table, named, options)
    refuse_filters(table)
    columns = columns_by_role(table, named, options)
    others = {**named, "questions": options.questions, "where": [*options.where]}
    table, columns = with_sample_lists(table, columns, others)
    reading = read_samples(table, columns, options)
    for role, noun in (("groups", "group"), ("clusters", "cluster")):
        if role in reading.rows:
            texts = list(map(entry_text, reading.rows[role]))
            refuse_spaces(reading.table, reading.columns[role], texts, noun)
    return reading


def _with_checked_questions(reading: Reading) -> Reading:
    """Return the reading with the rows of each question, which do not mix runs or settings."""
    reading = with_questions(reading)
    refuse_summaries(reading)
    refuse_mixed_files(reading)
    refuse_settings(reading.with_outcomes())
    if reading.several and "multiplicities" not in reading.samples:
        refuse_repeats(reading)
    return reading


def _run_of_questions(reading: Reading) -> Run:
    """Return the run of the questions of a reading, with missing samples as the caller says."""
    ids, entries, missing = entries_of_questions(reading)
    run, table = Run(), reading.table
    run.grades, run.missing = entries.pop("grades", None), missing
    run.identifiers = identifiers_of(reading, ids)
    run.columns = dict(reading.columns)
    if run.identifiers:
        run.ids = ids
        run.columns |= {"questions": ", ".join(reading.key)}
    run.files, run.origin = table.files, table.origin
    run.is_matrix = table.is_matrix and FILE not in table.columns
    run.update(_arguments(entries, reading.columns))
    if "clusters" not in run and (clusters := _clusters_of_settings(reading, run)):
        run["clusters"] = clusters
    return run


def _with_added_columns(table: Table, options: ReadingOptions) -> tuple[Table, dict[str, Any]]:
    """Return the table with columns of files, references and tests, and the columns by role."""
    named = options.named()
    if FILES in (named.get("groups"), *options.questions) and FILES not in table.columns:
        table = table.with_columns({**table.columns, **names_of_files(table)})
    if are_elsewhere(named.get("references"), table):
        fields = [("questions", name) for name in options.questions]
        table, named["references"] = join_references(
            with_fields(table, fields), named["references"], options
        )
    elif options.checker and "references" not in named:
        table = with_tests(table)
        named |= {"references": TESTS} if TESTS in table.columns else {}
    return table, named


def _chosen_rows(table: Table, named: ColumnsByRole, options: ReadingOptions) -> Table:
    """Return the table with a column for each name, and with the rows that `where` selects.

    Conditions on lists select samples, so they wait until each sample has a row (`read_samples`).
    """
    pool = [name for name in options.pool if name != FILES]
    others = {"questions": options.questions, "pool": pool, "where": list(options.where)}
    table = with_fields(table, pairs_of({**named, **others}))
    columns, where = table.columns, options.where
    conditions = {name: where[name] for name in where if not has_lists(columns[name])}
    table = rows_where(table, conditions)
    if not table.size:
        header = f", only a header. {list_columns(table.columns)}" if table.columns else "."
        raise InputError(f"{table.title} has no ", QUESTION, f"s{header}")
    return table


def _clusters_of_settings(reading: Reading, run: Run) -> KnownClusters | None:
    """Return the clusters of a run whose questions occur with several settings, or None.

    The same question with another setting, which is its group, is no independent question: its
    cluster is its id without the group. The column `clusters` is added to those of the run.
    """
    key, group = reading.key, reading.columns.get("groups", FILES)
    others = [index for index, name in enumerate(key) if name != group]
    are_parts = group == FILES or last_part(group) in usual.PARTS or "harness" in run.origin
    if are_parts or not run.ids or not 0 < len(others) < len(key):
        return None
    clusters = [", ".join(texts[index] for index in others) for texts in run.ids]
    if len({*clusters}) == len(clusters):
        return None
    run.columns = {**run.columns, "clusters": ", ".join(key[index] for index in others)}
    return KnownClusters(clusters)


def _arguments(entries: dict[str, Any], columns: ColumnsByRole) -> dict[str, Any]:
    """Return the arguments of `compute` from the entries of the questions by role."""
    further = ("samples", "counts", "multiplicities", "verdicts")
    others = {role: values for role, values in entries.items() if role not in further}
    if "counts" in entries:
        return {"predictions": _counts(entries["counts"], columns), **others}
    samples: Any = entries["samples"]
    if "multiplicities" in entries:
        samples = {"answers": samples, "counts": entries["multiplicities"]}
    arguments: dict[str, Any] = {"predictions": samples}
    if "verdicts" in entries:
        from .graded_answers import GradedAnswers  # imported here, because Arrow takes long

        shares = ([float(verdict or 0) for verdict in row] for row in entries["verdicts"])
        arguments["references"] = [json.dumps(row) for row in shares]
        arguments["check_correct_fn"] = GradedAnswers()
    return arguments | others


def _counts(rows: list[list[int]], columns: ColumnsByRole) -> dict[str, Any]:
    """Return the argument `predictions` for rows of (n, correct), or of a count of each outcome."""
    if "n" in columns:
        return {"n": [n for n, _ in rows], "correct": [correct for _, correct in rows]}
    outcomes = list(columns["counts"])
    if outcomes == list(range(len(outcomes))):
        return {"counts": rows}
    return {"answers": [outcomes] * len(rows), "counts": rows}
