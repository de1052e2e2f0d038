"""Choose the column of each role in a table: samples, outcomes, references, counts, ids.

The caller names it, or the layout of a tool does, or it has one of the exact names of the role. Two
candidates are a `SelectionError`, whose ways are the arguments that decide. In a table of counts,
n is the number of samples of a question, and c or `correct` how many of them are correct.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..core.checks import InputError, short
from . import names as usual
from .names import columns_named, is_verdict, plain_name, sample_numbers, shown_name, usual_columns
from .reading import ReadingOptions
from .table import (
    FILE,
    Columns,
    ColumnsByRole,
    SelectionError,
    Table,
    Way,
    list_columns,
    nested_columns,
    pairs_of,
)
from .words import (
    as_lists,
    as_outcome,
    as_outcomes,
    as_whole_number,
    entry_text,
    flat,
    has_lists,
    is_list_of,
)

_FREQUENCY = re.compile(
    r"n|total|counts?|freq|frequency|frequencies|multiplicity|occurrences|((n|num|number_of|total)_)?"
    r"(samples|attempts|trials|runs|tries|repeats|rollouts|draws|generations|completions|responses)"
)
"""The names of numbers of samples, or of times that a sample occurs."""
_COMPLEMENT = re.compile(
    "((num|n)_)?(incorrect|wrong|failed)|fails?|failures?|(un|not_)(resolved|solved)|not_passed"
)
"""The names of numbers of incorrect samples."""
_THOUSANDS = re.compile(r"\d{1,3}([.,'\s]\d{3})+")
_INPUTS = ("input", "inputs", "query", "question_text", "problem_statement")
"""Names of the texts of questions that are no ids. Equal texts say that rows are samples."""
_SUMMARIES = ("results", "summary", "scores", "metrics", "aggregate")
"""Names of objects with the scores of whole runs, in files that have no samples."""


def columns_of_role(table: Table, role: str) -> list[str]:
    """Return the names of all columns that may have a role, such as "references".

    The layout of the table names them. Without one, they are the usual names of the role.
    """
    if table.layout is not None:
        known = table.roles.get(role, ())
        return [known] if isinstance(known, str) else list(known)
    names = usual_columns(table.columns, role)
    if role != "predictions":
        return names
    # Whole numbers in a column such as `sample` number the samples of a question. If they are the
    # answers, the caller has to name the column.
    numbers = sample_numbers({name: table.columns[name] for name in names})
    return [name for name in names if name not in numbers]


def choose_columns(table: Table, named: ColumnsByRole, reading: ReadingOptions) -> dict[str, Any]:
    """Return the columns of samples, outcomes, references or counts, by role.

    1. The columns that the caller names. Predictions in a column with an exact name of outcomes are
       outcomes, unless references are named. Predictions beside outcomes are graded answers.
    2. Those of the layout of a tool; its graded outcomes, unless a checker is given.
    3. Those with exact names, `COLUMN_NAMES`: graded outcomes or counts if there are no
       predictions, or no references to check these against; predictions if nothing is graded, or
       if a checker is given.
    4. Otherwise there are two readings, which can give different scores, and a SelectionError asks
       the caller to name one. The same holds for two columns of one role, unless they are equal.
       Beside samples that can be checked, or beside outcomes, more names are those of outcomes: see
       `_verdicts`.

    The roles are "predictions" with or without "references", or "outcomes", or "n" and "correct".
    Beside these, "counts" has the column that says how often a sample occurs. Alone, "counts" has a
    column of lists of counts, or a dict with the column of each outcome.
    """
    _check_exclusive(named)
    if "counts" in named:
        return _with_counts(table, named, reading)
    if "n" in named or "outcomes" in named:
        roles = ("n", "correct", "outcomes", "predictions")
        return {role: named[role] for role in roles if role in named}
    references = columns_of_role(table, "references")
    if "references" in named:
        references = [named["references"]]
    if "predictions" in named:
        samples = named["predictions"]
        if "references" not in named and plain_name(samples) in usual.COLUMN_NAMES["outcomes"]:
            return {"outcomes": samples}
        return _with_references(table, [samples], references)
    return _columns_by_name(table, references, named, reading)


def _columns_by_name(
    table: Table, references: Sequence[str], named: ColumnsByRole, reading: ReadingOptions
) -> dict[str, Any]:
    """Return the columns by role if the caller names neither samples, outcomes nor counts.

    These are the steps 2 to 4 of `choose_columns`. A SelectionError is raised if no column, or more
    than one reading, fits.
    """
    are_named = "references" in named
    counts = _counts_of(table, reading)
    predictions, outcomes = _samples_by_name(table, counts, reading.graded_by)
    if reading.graded_by:
        return {"outcomes": column_of_role(table, "outcomes", outcomes)}
    if predictions and (are_named or (reading.checker and references)):
        return _with_references(table, predictions, references)
    if are_named or not (predictions or outcomes or counts):
        raise _no_samples(table, are_named)
    others = {"questions": reading.questions, "pool": reading.pool, "where": tuple(reading.where)}
    candidates = {"samples": (*predictions, *references, *outcomes), "counts": counts}
    used = {name for _, name in pairs_of({**named, **others, **candidates})}
    if not (outcomes or counts):
        if not reading.has_labels:
            _refuse_numbers(table, predictions[0], references)
        return _ungraded_samples(table, predictions, references, used)
    _refuse_two_readings(table, predictions, references, outcomes, counts)
    if counts:
        return counts
    _refuse_gold_answers(table, outcomes[0], references)
    rivals = _rivals(table, outcomes[0], _verdicts(table, table.columns, used))
    return {"outcomes": column_of_role(table, "outcomes", [*outcomes, *rivals])}


def _refuse_numbers(table: Table, name: str, references: Sequence[str]) -> None:
    """Raise a SelectionError if a column of single answers without references has numbers.

    They are no outcomes by the name of the column.
    """
    is_single = plain_name(name) in usual.SINGLE and not (references or table.layout)
    if is_single and any(isinstance(x, (int, float)) for x in table.columns[name]):
        raise SelectionError(
            f"{shown_name(name)} has answers by its name, and there is nothing to check them "
            f"against.",
            [Way({"outcomes": name}, "they are outcomes"), Way({"references": None})],
        )


def _ungraded_samples(
    table: Table, predictions: Sequence[str], references: Sequence[str], used: Collection[str]
) -> dict[str, str]:
    """Return the columns of samples, and of references if there are any, by their roles."""
    verdicts = _verdicts(table, nested_columns(table) if references else table.columns, used)
    if references and verdicts:
        _refuse_two_readings(table, predictions, references, verdicts, {})
    elif not references:
        _refuse_scores(table, verdicts, predictions[:1])
    return _with_references(table, predictions, references)


def _verdicts(table: Table, columns: Columns, used: Collection[str]) -> list[str]:
    """Return the names of the columns, except those in `used`, that may have outcomes.

    They have a name of verdicts and an entry that is an outcome. If the name is none of `VERDICTS`,
    such as judge_score, all entries have to be outcomes. A layout knows its outcomes.
    """
    if table.layout:
        return []
    verdicts = []
    for name in [x for x in columns if x not in used and is_verdict(x)]:
        entries = [x for x in map(as_outcome, flat(columns[name])) if x is not None]
        are_outcomes = [isinstance(x, (bool, int, float)) for x in entries]
        is_exact = plain_name(name) in usual.VERDICTS
        if any(are_outcomes) and (is_exact or all(are_outcomes)):
            verdicts.append(name)
    return verdicts


def _rivals(table: Table, outcome: str, verdicts: Sequence[str]) -> list[str]:
    """Return the columns in `verdicts` that may be the outcomes in place of the column `outcome`.

    They differ from it in a row in which both have an entry. A column with a name in `VERDICTS` is
    a rival whatever the entries are; another one, such as judge_correct, only if all entries of
    both columns are 0 or 1.
    """
    cells = as_outcomes(table.columns[outcome])
    rivals = []
    for name in verdicts:
        others = as_outcomes(table.columns[name])
        known = [(x, y) for x, y in zip(cells, others, strict=True) if None not in (x, y)]
        are_binary = all(x in (0, 1, None) for x in flat([*cells, *others]))
        if any(x != y for x, y in known) and (are_binary or plain_name(name) in usual.VERDICTS):
            rivals.append(name)
    return rivals


def _samples_by_name(
    table: Table, counts: Mapping[str, str], graded_by: str
) -> tuple[list[str], list[str]]:
    """Return the columns that may have predictions, and those that may have outcomes."""
    predictions, outcomes = (
        [name for name in columns_of_role(table, role) if name not in counts.values()]
        for role in ("predictions", "outcomes")
    )
    if graded_by == "correct_at_least" and not outcomes and not table.layout:
        outcomes = columns_named(table.columns, usual.SCORES)
    if not counts:
        _refuse_frequencies(table, [*predictions, *outcomes])
    if graded_by and not outcomes:
        problem = f"{graded_by} says which outcomes are correct, and there are none."
        raise SelectionError(f"{problem} {list_columns(table.columns)}", ["outcomes"])
    return predictions, outcomes


def _refuse_two_readings(
    table: Table,
    predictions: Sequence[str],
    references: Sequence[str],
    outcomes: Sequence[str],
    counts: Mapping[str, str],
) -> None:
    """Raise a SelectionError if a table has samples and references, outcomes, or counts as well."""
    graded = [Way({"outcomes": name}) for name in outcomes]
    graded += [Way(counts)] if counts else []
    names = [*outcomes[:1], *counts.values()]
    if predictions and references and not table.layout:
        raise SelectionError(
            f"The samples in {shown_name(predictions[0])} can be checked against "
            f"{shown_name(references[0])}, and {shown_name(names[-1])} has graded outcomes.",
            [Way({"predictions": predictions[0]}), *graded],
        )
    if outcomes and counts:
        problem = f"There are outcomes in {names[0]}, and counts in {' and '.join(names[1:])}."
        raise SelectionError(problem, graded)


def _no_samples(table: Table, has_references: bool) -> SelectionError:
    """Return the error for a table without samples, with or without named references."""
    if table.layout and table.files:
        tasks = dict.fromkeys(map(entry_text, table.columns.get("task", ())))
        return SelectionError(
            "These logs hold their samples or outcomes in different columns: score each by "
            "itself, or those of the same kind together.",
            [Way({"where": {"task": task}}) for task in tasks] if len(tasks) > 1 else (),
        )
    problem = "There is no column with a usual name for samples, nor sample_1, sample_2, .."
    lists, summaries = _objects_inside(table)
    if summaries:
        problem += (
            f" In {summaries[0]} there are scores of whole runs: give the file of their samples, "
            f"such as samples_*.jsonl of lm-eval or details_*.parquet of lighteval."
        )
    elif lists:
        return SelectionError(
            f"{problem} It is one object of JSON, with several objects in {', '.join(lists)}.",
            [Way({"records": name}) for name in lists],
        )
    if not has_references:
        _refuse_scores(table, columns_named(table.columns, usual.SCORES)[:1])
    roles = ("predictions",) if has_references else ("predictions", "outcomes", "counts")
    return SelectionError(f"{problem} {list_columns(table.columns)}", roles)


def _objects_inside(table: Table) -> tuple[list[str], list[str]]:
    """Return the keys of one object of JSON that have rows inside, and those that have scores.

    Rows are a list of objects; or an object of objects, if no key has a list of objects or scores.
    """
    inside = {name: cells[0] for name, cells in table.columns.items()} if table.is_object else {}
    if lists := [name for name, x in inside.items() if is_list_of(x, dict)]:
        return lists, []
    objects = {name: [*x.values()] for name, x in inside.items() if isinstance(x, dict)}
    summaries = [name for name in objects if name in _SUMMARIES]
    return [name for name, x in objects.items() if is_list_of(x, dict)], summaries


def _refuse_scores(table: Table, scores: Sequence[str], samples: Sequence[str] = ()) -> None:
    """Raise a SelectionError if there are columns of scores, unless a layout has named them."""
    if scores and not table.layout:
        raise SelectionError(
            f"{shown_name(scores[0])} has scores: say from which score on a sample is correct, or "
            f"which column has the outcomes.",
            [Way({"correct_at_least": ".."}), *(Way({"outcomes": x}) for x in (*scores, *samples))],
        )


def _refuse_gold_answers(table: Table, outcome: str, references: Sequence[str]) -> None:
    """Raise a SelectionError if the column `outcome` may hold the gold answers.

    This needs a column of answers without references, where both columns have lists or neither has.
    The answers have to look like outcomes (0, yes, 0.5), unless `outcome` is named `correct` or
    `outcome` and has an entry that is not a bool.
    """
    names = columns_named(table.columns, usual.ANSWERS)
    if table.layout or [name for name in references if name not in names]:
        return
    cells = table.columns[outcome]
    are_bools = all(isinstance(x, bool) for x in flat(cells) if x is not None)
    may_be_gold = plain_name(outcome) in ("correct", "outcome") and not are_bools
    for name in names:
        answers = table.columns[name]
        if name == outcome or has_lists(cells) != has_lists(answers):
            continue
        if may_be_gold or _are_shares(answers):
            raise SelectionError(
                f"{shown_name(outcome)} may hold the outcomes, or the correct answers to check "
                f"{shown_name(name)} against.",
                [Way({"outcomes": outcome}), Way({"predictions": name, "references": outcome})],
            )


def _are_shares(cells: Sequence[Any]) -> bool:
    """Return whether all entries are missing or outcomes from 0 to 1; False if all are missing."""
    entries = [x for x in map(as_outcome, flat(cells)) if x is not None]
    are_numbers = all(isinstance(x, (bool, int, float)) for x in entries)
    return bool(entries) and are_numbers and all(0 <= x <= 1 for x in entries)


def _check_exclusive(named: ColumnsByRole) -> None:
    """Raise a ValueError if columns are named that cannot be read together."""
    if ("n" in named) != ("correct" in named):
        named_role, missing = ("n", "correct") if "n" in named else ("correct", "n")
        raise ValueError(f"Counts need two columns: {named_role} is given without {missing}.")
    samples = ("predictions", "references", "outcomes")
    excluded = {"outcomes": ("references",), "n": samples, "counts": ("n", *samples)}
    if isinstance(named.get("counts"), str):
        excluded["counts"] = ("n",)  # the column says how often a sample occurs
    for role in excluded.keys() & named.keys():
        for other in excluded[role]:
            if other in named:
                raise ValueError(f"{role} are already graded: leave out {other}.")


def _with_references(
    table: Table, predictions: Sequence[str], references: Sequence[str]
) -> dict[str, str]:
    """Return the columns of predictions and, if `references` has others, of references, by role."""
    samples = column_of_role(table, "predictions", predictions)
    chosen = {"predictions": samples}
    references = [name for name in references if name != samples]
    if references:
        chosen["references"] = column_of_role(table, "references", references)
    return chosen


def column_of_role(table: Table, role: str, names: Sequence[str]) -> str:
    """Return the first of several columns of a role; a SelectionError if their entries differ."""
    first = names[0]
    for other in names[1:]:
        if list(table.columns[first]) != list(table.columns[other]):
            raise SelectionError(
                f"The columns {shown_name(first)} and {shown_name(other)} can both hold the "
                f"{role}.",
                [Way({role: name}) for name in names],
            )
    return first


def finish_column(table: Table) -> str:
    """Return the column that says why a response ended; a SelectionError unless there is one."""
    names = columns_named(table.columns, usual.FINISH)
    if len(names) != 1:
        raise SelectionError(
            f"{len(names) or 'No'} columns have a usual name for why a response ended, such as "
            f"{usual.FINISH[0]}. {list_columns(table.columns)}",
            ["finish"],
        )
    return names[0]


def column_per_question(table: Table, role: str, name: str | None) -> str | None:
    """Return the column of a role of `PER_QUESTION`: `name`, or the first usual one, or None.

    Groups that a layout finds are None if all rows have the same entry, such as one task.
    """
    names = columns_of_role(table, role) if name is None else [name]
    if not names:
        return None
    is_one_task = role == "groups" and table.layout and name is None
    return None if is_one_task and len({*table.columns[names[0]]}) == 1 else names[0]


# --- Which question a row belongs to ----------------------------------------------------------


def question_columns(table: Table) -> tuple[str, ...]:
    """Return the columns that identify the questions if the caller names none; () if none does.

    The layout names them. Otherwise it is one column: an id, or else an index, or else a text. An
    id such as question_id is preferred to `id` and `_id`, which may identify rows. A SelectionError
    is raised if two ids give different questions, or if an id may identify samples.
    """
    if table.layout is not None:
        return tuple(columns_of_role(table, "questions"))
    texts = columns_named(table.columns, usual.QUESTION_TEXTS)
    for names in (usual.IDS, usual.INDICES):
        if columns := columns_named(table.columns, names):
            column = _id_column(table, columns)
            inputs = columns_named(table.columns, _INPUTS)
            _refuse_ids_of_samples(table, column, [*texts, *inputs])
            return (column,)
    return tuple(texts[:1])


def _refuse_ids_of_samples(table: Table, column: str, texts: Sequence[str]) -> None:
    """Raise a SelectionError if each row has an id of its own, and each text several rows."""
    if any(map(has_lists, table.columns.values())) or not is_unique(table, column):
        return
    for text in texts:
        numbers = Counter(map(entry_text, table.columns[text]))
        if len(numbers) > 1 and min(numbers.values()) > 1:
            raise SelectionError(
                f"{column} is different in each of the {table.size} rows, and {text} has "
                f"{len(numbers)} texts, each in several rows: rows may be samples of the same "
                f"question.",
                [
                    Way({"questions": text}, "rows with the same text are samples of a question"),
                    Way({"questions": column}, "each row is a question with one sample"),
                ],
            )


def is_unique(table: Table, *names: str) -> bool:
    """Return whether no two rows are equal in these columns. Names without a column are ignored."""
    columns = (table.columns[name] for name in names if name in table.columns)
    rows = list(zip(*(map(entry_text, cells) for cells in columns), strict=True))
    return len({*rows}) == len(rows)


def _id_column(table: Table, names: Sequence[str]) -> str:
    """Return the first of several columns of ids; a SelectionError if others give other questions.

    Beside question_id and the like, an `id` that differs in all rows is ignored: it identifies
    rows.
    """
    if len(names) == 1:
        return names[0]
    specific = ("question_id", "problem_id", "qid")
    first, others = names[0], list(names[1:])
    if plain_name(first) in specific:
        row_ids = [x for x in columns_named(others, ("id", "_id")) if is_unique(table, x)]
        others = [x for x in others if x not in row_ids]
    texts = {name: list(map(entry_text, table.columns[name])) for name in (first, *others)}
    for other in others:
        pairs = len({*zip(texts[first], texts[other], strict=True)})
        if not pairs == len({*texts[first]}) == len({*texts[other]}):
            numbers = ", ".join(f"{name} {len({*texts[name]})}" for name in (first, other))
            raise SelectionError(
                f"Both {first} and {other} can identify the questions, and they give different "
                f"ones ({numbers}).",
                [Way({"questions": names}) for names in (first, other, (first, other))],
            )
    return first


# --- Counts -----------------------------------------------------------------------------------


def _with_counts(table: Table, named: ColumnsByRole, reading: ReadingOptions) -> dict[str, Any]:
    """Return the columns by role if the caller names `counts`: these columns, and those of samples.

    A column of lists of counts stands alone if no other column is named, and no samples are found.
    """
    counts = named["counts"]
    if not isinstance(counts, str):
        return {"counts": counts}
    columns = {name: cells for name, cells in table.columns.items() if name != counts}
    rest = {role: name for role, name in named.items() if role != "counts"}
    try:
        samples = choose_columns(table.with_columns(columns), rest, reading)
    except SelectionError as error:
        if rest or not has_lists(as_lists(table.columns[counts])):
            error.ways = [way for way in error.ways if "counts" not in way.arguments]
            raise
        return {"counts": counts}
    return {**samples, "counts": counts}


def whole_numbers(table: Table, name: str) -> list[int | None]:
    """Return the entries of a column as whole numbers, with None for other entries."""
    return list(map(as_whole_number, table.columns[name]))


def count_column(table: Table, name: str) -> list[int]:
    """Return the entries of a column as counts; an InputError if one is no whole number >= 0."""
    counts = []
    for row, count in enumerate(whole_numbers(table, name)):
        if count is None or count < 0:
            what = f": {name} is {short(table.columns[name][row])}, and a count is a whole number"
            raise InputError(*table.row_place(row), what, " of at least 0.")
        counts.append(count)
    return counts


def _counts_of(table: Table, reading: ReadingOptions) -> dict[str, str]:
    """Return the columns of "n" and "correct" in a table of counts, or {} in other tables."""
    pairs = []
    for n, correct in itertools.product(*(columns_of_role(table, x) for x in ("n", "correct"))):
        sizes, counts = whole_numbers(table, n), whole_numbers(table, correct)
        if n == correct:
            continue
        if None in sizes or None in counts:
            _refuse_bad_counts(table, n, correct)
            continue
        pairs.append((n, correct))
        if not table.layout and _may_be_samples(table, n, correct, reading):
            are_binary = {*counts} <= {0, 1}
            raise SelectionError(
                f"{n} and {correct} can be counts of the samples of a question, or tell of one "
                f"sample in each row, which may have passed some of its tests: then a column has "
                f"to say whether it is correct.",
                [Way({"n": n, "correct": correct}), *[Way({"outcomes": correct})][:are_binary]],
            )
    ways = [Way({"n": n, "correct": correct}) for n, correct in pairs]
    if len({tuple(tuple(table.columns[name]) for name in pair) for pair in pairs}) > 1:
        names = dict.fromkeys(itertools.chain(*pairs))
        raise SelectionError(f"Several columns can hold counts: {', '.join(names)}.", ways)
    if not pairs:
        _refuse_complements(table)
    return dict(ways[0].arguments) if pairs else {}


def _may_be_samples(table: Table, n: str, correct: str, reading: ReadingOptions) -> bool:
    """Return whether a row of whole numbers may be a sample, and not the counts of a question.

    In a column with a usual name of outcomes, 0 and 1 are counts only if all questions have one row
    and the same n above 0.
    """
    if (plain_name(n), plain_name(correct)) == ("total", "passed"):
        return True
    sizes, counts = ({*whole_numbers(table, name)} for name in (n, correct))
    key = reading.questions or question_columns(table)
    is_repeated = bool(key) and not is_unique(table, *key, FILE)
    if counts <= {0, 1}:
        is_outcome = plain_name(correct) in usual.COLUMN_NAMES["outcomes"]
        return is_outcome and (is_repeated or 0 in sizes or len(sizes) > 1)
    return is_repeated and plain_name(n) not in ("n", "n_samples", "num_samples")


def _refuse_bad_counts(table: Table, n: str, correct: str) -> None:
    """Raise an InputError if two columns are counts, and one of their entries is mistyped.

    They are no counts if n may hold answers, or if no entry of n is a number.
    """
    sizes, counts = ({*whole_numbers(table, name)} for name in (n, correct))
    has_sizes = sizes != {None} or any(_THOUSANDS.fullmatch(str(x)) for x in table.columns[n])
    may_be_outcomes = plain_name(correct) in usual.COLUMN_NAMES["outcomes"] and counts == {None}
    if has_sizes and not may_be_outcomes and plain_name(n) not in usual.COLUMN_NAMES["predictions"]:
        count_column(table, n)
        count_column(table, correct)


def _refuse_complements(table: Table) -> None:
    """Raise a SelectionError if two columns count the correct and the incorrect samples."""
    names = [*columns_of_role(table, "correct"), *columns_of_role(table, "outcomes")]
    complements = [name for name in table.columns if _COMPLEMENT.fullmatch(plain_name(name))]
    for correct, incorrect in itertools.product(names, complements):
        columns = whole_numbers(table, correct), whole_numbers(table, incorrect)
        pairs = zip(*columns, strict=True)
        totals = {None if x is None or y is None else x + y for x, y in pairs}
        if None not in totals and totals != {1}:
            errors = columns_named(table.columns, usual.ERRORS)
            others = f" Samples in {errors[0]} count nowhere then." if errors else ""
            raise SelectionError(
                f"{correct} and {incorrect} can be counts of samples, or {correct} can be the "
                f"outcome of one sample in each row.{others}",
                [Way({"counts": (incorrect, correct)}), Way({"outcomes": correct})],
            )


def _refuse_frequencies(table: Table, samples: Sequence[str]) -> None:
    """Raise a SelectionError if a column such as `count` may say how many samples a row has.

    Then the row has the counts of a question, or one sample and how often it occurs, as after a
    GROUP BY. No error is raised if all rows have the same number, such as that of the samples
    requested, or if a question has the same sample in several rows.
    """
    names = [name for name in table.columns if _FREQUENCY.fullmatch(plain_name(name))]
    for name, sample in itertools.product([] if table.layout else names, samples):
        numbers = {*whole_numbers(table, name)}
        if name == sample or numbers <= {None, 0, 1}:
            continue
        role = "outcomes" if sample in columns_of_role(table, "outcomes") else "predictions"
        ways = []
        are_counts = role == "outcomes" and _may_be_counts(table, name, sample)
        if are_counts:
            counts = {"n": name, "correct": sample}
            ways.append(Way(counts, "each row counts the samples of a question"))
        if len(numbers) > 1:
            counts = {"counts": name, role: sample}
            ways.append(Way(counts, "each row is a sample that occurs so often"))
        ways.append(Way({role: sample}, "each row is one sample"))
        is_grouped = len(numbers) > 1 and None not in numbers
        if are_counts or (is_grouped and is_unique(table, *question_columns(table), FILE, sample)):
            problem = f"{shown_name(name)} can be a number of samples, beside {shown_name(sample)}."
            raise SelectionError(problem, ways)


def _may_be_counts(table: Table, n: str, correct: str) -> bool:
    """Return whether each question has one row, in which 0 <= correct <= n. Cells may be empty."""
    columns = table.columns[n], table.columns[correct]
    rows = list(zip(*columns, whole_numbers(table, n), whole_numbers(table, correct), strict=True))
    key = question_columns(table)
    return (
        all(x is not None or not entry_text(cell) for _, cell, _, x in rows)
        and all(0 <= x <= y for _, _, y, x in rows if x is not None and y is not None)
        and (not key or is_unique(table, *key, FILE))
    )
