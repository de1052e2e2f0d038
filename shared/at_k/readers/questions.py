"""`at_k.read`: choose the columns of a source, and gather its rows into questions."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core.checks import (
    QUESTION,
    InputError,
    InPython,
    check_count,
    check_depth,
    check_positive,
    check_text,
    is_list_like,
    short,
)
from ..core.containers import QUESTION_NAMES
from .columns import (
    COUNT,
    PER_QUESTION,
    PER_SAMPLE,
    SelectionError,
    as_lists,
    comparable,
    entry_text,
    find_column,
    found_columns,
    list_columns,
    parsed_outcomes,
    question_columns,
    usual_columns,
    with_fields,
)
from .grids import BY_CONTENT, Unnamed, with_sample_lists
from .rows import (
    Gathering,
    gathered,
    number_questions,
    refuse_filters,
    refuse_lists_of_ids,
    refuse_mixtures,
    refuse_repeated_samples,
    rows_by_question,
    rows_where,
    warn_of_copies,
)
from .samples import (
    TESTS,
    are_elsewhere,
    compute_predictions,
    graded,
    join_references,
    read_cells,
    with_tests,
)
from .selection import choose_columns, count_columns
from .shards import Named
from .sources import Reading, is_paths, load_table
from .table import ArrowColumn, Columns, Table

Names = str | Sequence[str]
"""The name of a column, or of several."""


def read(
    source: Any,
    *,
    predictions: str | None = None,
    outcomes: str | None = None,
    references: str | Mapping[Any, Any] | None = None,
    questions: Names | None = None,
    n: str | None = None,
    correct: str | None = None,
    counts: Names | Mapping[Any, str] | None = None,
    groups: str | None = None,
    R0: str | None = None,
    clusters: str | None = None,
    labels: str | None = None,
    picked_by: str | None = None,
    vote_weights: str | None = None,
    correct_values: Collection[Any] = (),
    where: Mapping[str, Any] | None = None,
    pool: Names = (),
    group_size: int | None = None,
    records: str | None = None,
    max_gb: float | None = None,
    config: str | None = None,
    split: str | None = None,
) -> dict[str, Any]:
    """Read samples or outcomes from a file, log, data frame or dataset, as arguments of `compute`.

    A row of the source is a question with the list of its samples or a column for each sample (1,
    2, .. or sample_1, sample_2, ..), or one sample, or the counts of a question. Rows with the same
    question id belong to one question. Columns are found by their
    usual names if they are not given, except those from `R0` to `vote_weights`. A name such as
    `response.choices` leads to the fields of nested objects. A table without names holds outcomes.

    Logs of agents that retry stop at the first correct sample: no question has two, and those with
    fewer samples than others end with one. Scores of shares of correct samples are biased then:
    give gpassk the largest possible number of samples as `budget`.

    Args:
        source: the path of a file or folder, a name that fsspec opens (`https://`, `s3://`,
            `hf://datasets/..`), the name of a dataset that `datasets` can load, or a list of
            files with parts of one run; or an object: an open file, a data frame, an Arrow table,
            a `datasets.Dataset`, or a dict of columns.
        predictions: the column of samples to be checked.
        outcomes: the column of already-graded outcomes, instead of `predictions`.
        references: the column to check the samples against. If the log has none: a dict with the
            reference of each question, or a file with columns of questions and references.
        questions: the column with the id of the question, or several that identify it together.
        n: the column of numbers of samples, if the source has counts.
        correct: the column of numbers of correct samples, if the source has counts.
        counts: the columns of numbers of samples, one for each category 0, 1, .., in this order, or
            named by their outcomes, such as 0, 0.5 and 1; or a dict with the column of each
            outcome. A single column has lists of such numbers. Beside `predictions` or `outcomes`,
            it has the number of times that the sample of its row occurs.
        groups: the column of groups.
        R0: the column of prior outcomes.
        clusters: the column of clusters.
        labels: the column of what a person says of a sample, 1 or 0, empty for most samples.
        picked_by: the column of the scores that pick one of k samples, for max_at_k.
        vote_weights: the column of the weights of votes, for cons_at_k.
        correct_values: the outcomes that are correct, such as ["C"] or ["yes", "true"]; numbers are
            compared as numbers. All others are incorrect.
        where: the rows to read, by their entries: {"filter": "strict-match"}; a list of entries are
            alternatives.
        pool: columns whose entries may differ between the samples of a question. Without it, a
            column such as run or filter with different entries is an error. With `pool=["run"]`,
            rows of different runs are different samples. The rows of two filters of
            lm-evaluation-harness have the same responses: select one filter with `where` instead.
        group_size: the number of consecutive rows that belong to a question, such as 8 for the
            rewards of TRL or verl with 8 samples of each prompt.
        records: where the rows are, if they are inside of one object of JSON: the path to the list
            of them, such as "results.results".
        max_gb: the most that a file may hold, in GB (10^9 bytes), when it is decompressed. Default:
            half of the memory, unless its rows can be counted while they are read; and for a
            compressed file 1 GB, or 100 times its size if that is more.
        config: the configuration of a dataset.
        split: the split of a dataset.

    Returns:
        A dict of arguments of `compute`: predictions; references and groups, if the source has
        them; and those from R0 to vote_weights whose columns are named.

    Raises:
        SelectionError: (a ValueError) if columns are missing or ambiguous; the message names the
            argument to give.
        ValueError: if the source cannot be read. The message names the line or row if it can. Or if
            one of correct_values is no outcome.
        FileNotFoundError: if there is no such file or folder.

    Examples:
        >>> columns = {"question": ["q1", "q1", "q2"], "answer": ["12", "13", "7"]}
        >>> read(columns, predictions="answer", references={"q1": "12", "q2": "8"})
        {'predictions': [['12', '13'], ['7']], 'references': ['12', '8']}
    """
    for name in [source] if isinstance(source, str) else source if type(source) is list else ():
        if isinstance(name, str) and not (name and name.isprintable()):
            raise ValueError(f"source is {short(name)}: this is no name of a file.")
    # These are only read if they are named.
    optional = {"R0": R0, "clusters": clusters, "labels": labels}
    optional |= {"picked_by": picked_by, "vote_weights": vote_weights}
    named: dict[str, Any] = {role: name for role, name in optional.items() if name is not None}
    try:
        loaded = read_questions(
            source,
            questions=questions,
            correct_values=correct_values,
            where=_pairs_of("where", where),
            pool=pool,
            group_size=group_size,
            records=records,
            max_gb=max_gb,
            config=config,
            split=split,
            predictions=predictions,
            outcomes=outcomes,
            references=references,
            n=n,
            correct=correct,
            counts=counts,
            groups=groups,
            **named,
        )
    except SelectionError as error:
        problem = f"{error} Pass {' or '.join(dict.fromkeys(error.roles))}."
        raise SelectionError(
            problem, error.roles, error.choices, error.examples, error.further
        ) from None
    except ValueError as error:
        if type(error).__module__.startswith("pyarrow"):
            raise ValueError(f"The source cannot be read: {error}") from error
        raise
    check_correct_values(correct_values, [loaded])
    return loaded.arguments


def _pairs_of(name: str, values: Mapping[str, Any] | None) -> list[tuple[str, Any]]:
    if values is not None and not isinstance(values, Mapping):
        raise TypeError(f"{name} is {short(values)}: give a dict, {{column: entry}}.")
    return [
        (column, entry)
        for column, entries in (values or {}).items()
        for entry in (entries if isinstance(entries, list) else [entries])
    ]


@dataclass(frozen=True)
class Questions:
    """The M questions of a source, and the columns that they were read from.

    Attributes:
        arguments: what `compute` takes, M entries each: the predictions, and if the source has
            them references, groups, R0, clusters and labels. Counts are a dict, see
            `inputs.count_tables`.
        columns: the name of the column of each role. Graded samples have the role outcomes, n and
            correct, or counts, which may be a tuple of columns. The role questions names the
            columns by which rows were gathered.
        identifiers: columns that identify the questions, by name in lower case: M distinct texts
            each.
        origin: what the source says about itself.
        unscored: why samples are None, if the source is a log that knows.
        grades: M lists of the outcomes of the samples in a log, if they are to be checked again and
            it has one outcome of each; otherwise None.
        places: where each outcome occurs first, if large files were reduced to counts.
        outcomes: what the outcomes were before correct_values graded them, as `graded` returns it.
    """

    arguments: dict[str, Any]
    columns: dict[str, Any]
    identifiers: dict[str, list[Any]]
    origin: dict[str, str] = field(default_factory=dict)
    unscored: str = ""
    grades: list[list[Any]] | None = None
    places: Mapping[Any, str] = field(default_factory=dict)
    outcomes: frozenset[Any] = frozenset()


def read_questions(
    source: Any,
    *,
    questions: Names | None = None,
    correct_values: Collection[Any] = (),
    where: Iterable[tuple[str, Any]] = (),
    pool: Names = (),
    group_size: int | None = None,
    records: str | None = None,
    max_gb: float | None = None,
    config: str | None = None,
    split: str | None = None,
    checked: bool = False,
    unnamed: Unnamed = BY_CONTENT,
    **columns: Any,
) -> Questions:
    """Read questions from a source. Most of the arguments are those of `read`.

    Args:
        source: as in `read`, like questions, correct_values, pool, group_size, config and split.
        where: pairs of a column and an entry, which the rows have in it. Entries of the same column
            are alternatives.
        checked: whether the caller gives a checker.
        unnamed: how a table is read whose columns may have no names.
        **columns: the columns of the other roles. Those of PER_QUESTION that are not given are not
            read; the other roles, and those that are None, are found by their usual names.

    Raises:
        SelectionError, ValueError, FileNotFoundError: as `read`.
    """
    key, pool, where = _names(questions, "questions"), _names(pool, "pool"), list(where)
    correct_values = _listed("correct_values", correct_values)
    if group_size is not None:
        group_size = check_count("group_size", group_size)
    for name, _ in where:
        check_text("where", name)
    for role, name in columns.items():
        if name is not None and role not in ("references", "counts"):
            check_text(role, name)
    if max_gb is not None:
        max_gb = check_positive("max_gb", max_gb, "give a number of GB above 0", 1e9)
    if records is not None:
        check_text("records", records)
    reading = Reading(config, split, max_gb, records, where, unnamed)
    roles = {name: columns.get(name) for name in ("outcomes", "groups", "R0", "clusters")}
    others = {name for name, column in columns.items() if column is not None} - roles.keys()
    named_columns = None
    if not (checked or others or pool or group_size or records or config or split):
        outcomes = roles.pop("outcomes")
        per_question = list(filter(None, roles.values()))
        names_of_where = [name for name, _ in where]
        has_values = bool(correct_values)
        named_columns = Named(key, outcomes, per_question, names_of_where, has_values, max_gb)
    table = load_table(source, reading, named_columns)
    if is_reduced := COUNT in table.columns:
        columns["counts"] = COUNT
    if are_elsewhere(columns.get("references"), table):
        table, columns["references"] = join_references(table, columns["references"], key)
    elif checked and columns.get("references") is None:
        table = with_tests(table)
        columns["references"] = TESTS if TESTS in table.columns else None
    named = {role: name for role, name in columns.items() if name is not None}
    if "counts" in named:
        named["counts"] = count_columns(named["counts"])
    lists = {"questions": key, "pool": pool, "where": [name for name, _ in where]}
    table, lists_of_samples = with_sample_lists(table, unnamed, named | lists, checked)
    named |= lists_of_samples
    table = rows_where(with_fields(table, _pairs(named | lists)), where)
    title = _title(source)
    if not any(map(len, table.columns.values())):
        raise InputError(f"{title} has no ", QUESTION, "s.")
    if group_size is not None:
        if key:
            raise ValueError("Questions are identified by columns or by group_size, not by both.")
        table, name = number_questions(table, group_size, title)
        key = (name,)

    @functools.cache
    def rows_of_samples() -> dict[Any, list[int]]:
        """Return the rows of each question, if a row is one sample."""
        return rows_by_question(table.columns, key or question_columns(table, of_lists=False))

    of_samples = {
        role: name for role, name in named.items() if role not in (*PER_QUESTION, *PER_SAMPLE)
    }
    try:
        refuse_filters(table)
    except SelectionError as error:
        raise _with_all_flags(error, table, of_samples, checked) from None
    if table.roles:  # A log knows its questions, so runs are distinguished first.
        log_key = key or question_columns(table, of_lists=False)
        known = {name for _, name in _pairs(named)} | {*pool}
        refuse_mixtures(Gathering(table.columns, title, log_key, rows_of_samples(), pool, known))
    chosen: dict[str, Any] = dict(
        choose_columns(table, of_samples, checked, lambda: list(rows_of_samples().values()))
    )
    chosen |= {role: named[role] for role in PER_SAMPLE if role in named}
    cells, of_lists = read_cells(table, chosen, title, lists_as_text=not key)
    before: frozenset[Any] = frozenset()
    if correct_values:
        if "references" in cells or "samples" not in cells:
            raise ValueError("correct_values are for outcomes: name their column.")
        cells["samples"], before = graded(cells["samples"], correct_values)
    for role, name in _columns_per_question(table, columns).items():
        chosen[role] = name
        cells[role] = list(as_lists(table.columns[name]) if role == "R0" else table.columns[name])
    with_grades = found_columns(table, "outcomes") if table.roles and "references" in chosen else []
    if len(with_grades) == 1:
        grades = table.columns[with_grades[0]]
        cells["grades"] = [[grade] for grade in grades] if of_lists else grades
    if group_size is not None and of_lists:
        raise ValueError(f"group_size is for one sample in each row, and {title} has lists.")

    key = key or question_columns(table, of_lists)
    identifiers = _unique_columns(table.columns) if of_lists else {}
    usual = usual_columns(table.columns, "questions")
    are_different = of_lists and (table.sources == 1 or 0 < len(usual) == len(identifiers))
    if not key and not are_different:
        raise _unknown_questions(table, usual, of_lists, title)
    if of_lists and "samples" in cells:
        names = key or (*usual, *_ids_beside(chosen))
        refuse_lists_of_ids(table.columns, names, cells["samples"], title)
    if key:
        rows_of = rows_by_question(table.columns, key, title)
        if not of_lists or len(rows_of) < len(table.columns[key[0]]):
            used = {name for role, name in _pairs(chosen) if role not in PER_QUESTION} | {*pool}
            gathering = Gathering(table.columns, title, key, rows_of, pool, used)
            refuse_mixtures(gathering)
            if not of_lists:
                refuse_repeated_samples(gathering)
            if pool and "predictions" in chosen:
                warn_of_copies(gathering, list(cells["samples"]))
            cells = {
                role: gathered(gathering, role, entries, of_lists)
                for role, entries in cells.items()
            }
            identifiers, chosen["questions"] = {}, ", ".join(key)
        identifiers |= {", ".join(key).lower(): list(rows_of)}
        is_checked = bool({"outcomes", "references"} & chosen.keys())
        if table.roles and is_checked and "samples" in cells:
            scored = _scored_questions(cells["samples"], list(rows_of), title)
            if len(scored) < len(rows_of):
                cells, identifiers = (_entries_at(x, scored) for x in (cells, identifiers))
    of_log: Any = cells.pop("grades", None)
    arguments = {"predictions": compute_predictions(cells, chosen), **cells}
    arguments = {
        role: entries.array if isinstance(entries, ArrowColumn) else entries
        for role, entries in arguments.items()
    }
    if is_reduced:
        del chosen["counts"]
    origin, unscored, places = table.origin, table.unscored, table.places
    return Questions(arguments, chosen, identifiers, origin, unscored, of_log, places, before)


def check_correct_values(correct_values: Collection[Any], runs: Sequence[Questions]) -> None:
    """Raise a ValueError if one of the correct values is an outcome of none of these runs."""
    outcomes = frozenset[Any]().union(*(run.outcomes for run in runs))
    for value in _listed("correct_values", correct_values):
        if comparable(*parsed_outcomes([value])) not in outcomes:
            shown = [str(outcome) for outcome in sorted(outcomes, key=str)]
            listed = ", ".join(map(short, shown[:8])) + (", .." if len(shown) > 8 else "")
            raise ValueError(
                f"correct_values=[{short(value)}]: there is no such outcome. The outcomes are "
                f"{listed}: name those that are correct."
            )


def _with_all_flags(
    error: SelectionError, table: Table, named: Mapping[str, Any], checked: bool
) -> SelectionError:
    """Return the error with all that has to be named to read the rows of each of its examples.

    Examples that name a task are left out if logs of all tasks can be read together.
    """
    ways = []
    for example, conditions in zip(error.examples, error.further, strict=True):
        filters = [example, *(other for _, other in conditions)]
        choices = _choices(rows_where(table, filters), named, checked)
        ways += [(example, (*conditions, *choice)) for choice in choices]
    together = [way for way in ways if way[0].column != "task"]
    examples, further = zip(*(together or ways), strict=True)
    return SelectionError(error.args, ["where"] * len(examples), error.choices, examples, further)


def _choices(
    table: Table, named: Mapping[str, Any], checked: bool
) -> list[tuple[tuple[str, str], ...]]:
    """Return the (role, column) pairs of each way in which a log can be read, if there is one."""
    try:
        choose_columns(table, named, checked, list)
    except SelectionError as error:
        role = error.roles[0]
        found = [] if role in named else found_columns(table, role)
        ways = [
            ((role, name), *further)
            for name in found
            for further in _choices(table, {**named, role: name}, checked)
        ]
        return ways
    return [()]


def _entries_at(columns: Mapping[str, Sequence[Any]], rows: Sequence[int]) -> dict[str, Any]:
    return {name: [cells[row] for row in rows] for name, cells in columns.items()}


def _scored_questions(samples: Sequence[Any], ids: Sequence[Any], title: str) -> list[int]:
    """Return the questions of a log that have a sample with a score. A warning names the others.

    Harnesses leave them out too: all of their samples ended in an error.
    """
    lost = [
        question
        for question, entries in enumerate(samples)
        if isinstance(entries, list) and entries and all(entry is None for entry in entries)
    ]
    if len(lost) == len(samples):
        raise ValueError(f"{title} has no sample that is scored.")
    if lost:
        texts = [ids[question] for question in lost[:10]]
        shown = ", ".join(x if isinstance(x, str) else " ".join(x) for x in texts)
        warnings.warn(
            f"{title}: {len(lost)} of {len(samples)} questions have no sample that is scored, and "
            f"are left out: {shown}{', ..' if len(lost) > 10 else ''}.",
            stacklevel=2,
        )
    unscored = {*lost}
    return [question for question in range(len(samples)) if question not in unscored]


def _title(source: Any) -> str:
    """Return what to call the source in messages."""
    if isinstance(source, (str, Path)):
        return str(source)
    return ", ".join(map(str, source)) if is_paths(source) else "The source"


def _ids_beside(chosen: Mapping[str, Any]) -> Iterator[str]:
    """Yield the paths that ids of questions would have beside samples inside of a list."""
    for path in (chosen.get("predictions"), chosen.get("outcomes")):
        while isinstance(path, str) and (path := path.rpartition(".")[0]):
            # The `id` of a sample is often its own.
            yield from (f"{path}.{name}" for name in QUESTION_NAMES if name != "id")


def _names(names: Names | None, role: str = "counts") -> tuple[str, ...]:
    return () if names is None else tuple(check_text(role, x) for x in _listed(role, names))


def _listed(role: str, values: Any) -> list[Any]:
    if not isinstance(values, (str, Set)) and not is_list_like(values):
        raise TypeError(f"{role} is {short(values)}: give a text, or a list.")
    listed = [values] if isinstance(values, str) else list(values)
    check_depth(role, listed)
    return listed


def _pairs(names: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return (role, column) pairs; a role may have several columns, or a dict of them."""
    return [
        (role, column)
        for role, columns in names.items()
        for column in _names([*columns.values()] if isinstance(columns, Mapping) else columns)
    ]


def _columns_per_question(table: Table, columns: Mapping[str, str | None]) -> dict[str, str]:
    """Return the columns of the roles of PER_QUESTION that the table has."""
    columns_by_role = {}
    for role in PER_QUESTION:
        name = find_column(table, role, columns[role]) if role in columns else None
        is_log_of_one_task = (
            role == "groups"
            and name is not None
            and table.roles
            and columns[role] is None
            and len(set(table.columns[name])) == 1
        )
        if name is not None and not is_log_of_one_task:
            columns_by_role[role] = name
    return columns_by_role


def _unknown_questions(
    table: Table, usual: Sequence[str], of_lists: bool, title: str
) -> SelectionError:
    """Return the error that no column with a usual name identifies the question of a row."""
    what, hint = "several files", ""
    if not of_lists:
        what = "one sample in each row"
        hint = (
            "If the samples of a question follow each other, give their number as group_size "
            "(in the shell --group-size). "
        )
    problem = "no column with a usual name for the question of a row"
    if usual:
        problem = f"which rows are of the same question is not clear from {' and '.join(usual)}"
    return SelectionError(
        [f"{title} has {what}, and {problem}. ", InPython(hint), list_columns(table.columns)],
        ["questions"],
        table.columns,
    )


def _unique_columns(columns: Columns) -> dict[str, list[Any]]:
    """Return the columns with usual names of questions that have no entry twice, as texts."""
    texts = {
        name.lower(): [entry_text(entry) for entry in columns[name]]
        for name in usual_columns(columns, "questions")
    }
    return {
        name: entries
        for name, entries in texts.items()
        if "" not in entries and len(set(entries)) == len(entries)
    }
