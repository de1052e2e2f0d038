"""Choose the column of each role in a table: samples, outcomes, references, counts, ids.

The caller names it, or the layout of a tool does, or it has one of the exact names of the role.
Each reading that these allow is a `Way`. Unless there is one, a `SelectionError` offers them.
"""

from __future__ import annotations

import itertools
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..core.checks import InputError, InputWarning, InPython, short
from . import names as usual
from .grids import cells_of_rows, numbered_columns
from .names import columns_named, is_verdict, plain_name, sample_numbers, shown_name
from .reading import ReadingOptions
from .table import (
    FILE,
    ColumnsByRole,
    SelectionError,
    Table,
    Way,
    column_at,
    list_columns,
    nested_columns,
    pairs_of,
)
from .words import (
    as_lists,
    as_outcome,
    as_whole_number,
    entry_text,
    flat,
    has_lists,
    is_list_of,
    is_outcome,
    word,
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

_MOST_PATHS = 8  # in a message
_ENDS_IN_NUMBER = re.compile(r"[^@]*\d").fullmatch  # without pass@1

_ONE_SAMPLE = "each row is one sample"
_ANSWERS = {*usual.COLUMN_NAMES["predictions"], "answer"} - {"sample", "samples"}
"""Texts before the number of a column with an answer each, such as answer_1."""

Samples = str | tuple[str, ...]
"""The name of a column of samples, or the names of several with a sample each."""


def columns_of_role(table: Table, role: str) -> list[str]:
    """Return the columns that may have a role: those that the layout names, or by usual names."""
    if table.layout is not None:
        known = table.roles.get(role, ())
        return [known] if isinstance(known, str) else list(known)
    names = columns_named(table.columns, usual.COLUMN_NAMES[role])
    if role != "predictions":
        return names
    # Whole numbers in a column such as `sample` number the samples of a question. If they are the
    # answers, the caller has to name the column.
    numbers = sample_numbers({name: table.columns[name] for name in names})
    return [name for name in names if name not in numbers]


def columns_by_role(table: Table, named: ColumnsByRole, options: ReadingOptions) -> dict[str, Any]:
    """Return the column of each role that is read: those of `choose_columns`, and further ones."""
    columns = choose_columns(table, named, options)
    if options.are_labels:
        columns.pop("references", None)  # of the answers
    if options.has_labels and not {"references", "outcomes"} & columns.keys():  # already graded
        renamed = {"predictions": "outcomes"}
        columns = {renamed.get(role, role): name for role, name in columns.items()}
    columns |= {role: named[role] for role in usual.PER_SAMPLE if role in named}
    is_checked = "references" in columns
    columns |= _finish_column(table, named.get("finish"), options, is_checked=is_checked)
    columns |= _options_column(table, named.get("options"), options, is_checked=is_checked)
    for role in options.roles_per_question:
        if (name := column_per_question(table, role, named.get(role))) is not None:
            columns[role] = name
    return columns


def _finish_column(
    table: Table, name: str | None, options: ReadingOptions, *, is_checked: bool
) -> dict[str, str]:
    """Return {"finish": the column that says why responses ended}, `name` or the only usual one.

    Return {} if it is not asked for, and warn if responses that are to be checked were cut off.
    """
    names = [name] if name else columns_named(table.columns, usual.FINISH)
    if options.unfinished and len(names) == 1:
        return {"finish": names[0]}
    if options.unfinished:
        raise SelectionError(
            f"{len(names) or 'No'} columns have a usual name for why a response ended, such as "
            f"{usual.FINISH[0]}. {list_columns(table.columns)}",
            ["finish"],
        )
    for name in names if is_checked else ():
        if number := sum(word(reason) in usual.CUT_OFF for reason in flat(table.columns[name])):
            warning = InputWarning(
                f"{number} of the responses were cut off by length, as {shown_name(name)} says, "
                f"and are read as they are",
                InPython(": unfinished='incorrect' counts them as incorrect"),
                ".",
            )
            warnings.warn(warning, stacklevel=2)
    return {}


def _options_column(
    table: Table, name: str | None, options: ReadingOptions, *, is_checked: bool
) -> dict[str, str]:
    """Return {"options": `name`, or a usual column if the checker is `choice`}, or {}."""
    if name is not None and not is_checked:
        raise ValueError("options go with references: name the column of references.")
    if name is None and is_checked and options.checker == "choice":
        first = next(iter(columns_named(table.columns, usual.OPTIONS)), "")
        has_options = any(isinstance(x, (list, dict)) for x in table.columns.get(first, ()))
        name = first if has_options else None
    return {} if name is None else {"options": name}


def column_per_question(table: Table, role: str, name: str | None) -> str | None:
    """Return the column of a role of `PER_QUESTION`: `name`, or the first usual one, or None."""
    if name is not None:
        return name
    first = next(iter(columns_of_role(table, role)), None)
    if first is not None and role == "groups" and table.layout:
        return first if len({*table.columns[first]}) > 1 else None  # A single task is no group.
    return first


def choose_columns(table: Table, named: ColumnsByRole, options: ReadingOptions) -> dict[str, Any]:
    """Return the columns of samples, outcomes, references or counts, by role.

    The caller names them, or the layout of a tool, or they have exact names that allow one reading.
    Otherwise a SelectionError offers the readings: entries never choose between them, but may add
    one. Graded outcomes go before samples, unless a checker is given. Named columns that exclude
    each other are a ValueError.

    The roles are "predictions" (alone, with "references", or with "outcomes", if they are graded),
    "outcomes", or "n" and "correct". Several columns with a sample each are a tuple. "counts" is
    the column that says how often a sample occurs, or alone a dict of a column for each outcome.
    """
    _check_exclusive(named)
    counts = named.get("counts")
    if isinstance(counts, str):
        others = {name: cells for name, cells in table.columns.items() if name != counts}
        rest = {role: name for role, name in named.items() if role != "counts"}
        columns = choose_columns(table.with_columns(others), rest, options)
        if "n" in columns:
            raise ValueError(
                f"{counts} says how often a sample occurs, and {columns['n']} counts the samples "
                f"of a question: leave out counts, or name the samples."
            )
        return {**columns, "counts": counts}
    if not {"counts", "n", "outcomes"}.isdisjoint(named):
        roles = ("counts", "n", "correct", "outcomes", "predictions")
        return {role: named[role] for role in roles if role in named}
    ways = _Readings(table, named, options).ways()
    if options.graded_by and not ways:
        problem = f"{options.graded_by} says which outcomes are correct, and there are none."
        raise SelectionError(f"{problem} {list_columns(table.columns)}", ["outcomes"])
    ways = ways or _ways_inside(table, (dict, list, int))
    if not ways:
        raise _no_samples(table, "references" in named)
    return dict(require_one_way(table, ways).arguments)


def _check_exclusive(named: ColumnsByRole) -> None:
    """Raise a ValueError if columns are named that cannot be read together."""
    for role, other in itertools.permutations(("n", "correct")):
        if role in named and other not in named:
            raise ValueError(f"Counts need two columns: {role} is given without {other}.")
    samples = ("predictions", "references", "outcomes")
    excluded = {"outcomes": ("references",), "n": samples, "counts": ("n", *samples)}
    if isinstance(named.get("counts"), str):
        excluded["counts"] = ("n",)  # the column says how often a sample occurs
    for role in excluded.keys() & named.keys():
        for other in excluded[role]:
            if other in named:
                raise ValueError(f"{role} are already graded: leave out {other}.")


def _entries_by_role(table: Table, way: Way) -> dict[str, Any]:
    """Return the entries of each column that a way reads, and other arguments as they are."""
    names = {name for name in way.arguments.values() if name in table.columns}
    entries = {name: [*table.columns[name]] for name in names}
    return {role: entries.get(name, name) for role, name in way.arguments.items()}


def require_one_way(table: Table, ways: Sequence[Way]) -> Way:
    """Return the only way; a SelectionError offers the ways unless all read the same entries.

    Rows inside of an object are never the only way, because the object may be a row itself.
    """
    distinct: list[Way] = []
    for way in ways:
        if _entries_by_role(table, way) not in (_entries_by_role(table, x) for x in distinct):
            distinct.append(way)
    paths = [way.arguments["records"] for way in distinct if "records" in way.arguments]
    if paths:
        problem = f"{table.title} is one object of JSON, with rows in {', '.join(paths)}."
    elif len(distinct) > 1:
        problem = (
            f"{table.title} can be read in {len(distinct)} ways by the names of its columns, which "
            f"may give different scores."
        )
    else:
        return distinct[0]
    is_open = any(None in way.arguments.values() for way in distinct)
    raise SelectionError(
        f"{problem} {list_columns(table.columns)}" if is_open else problem, distinct
    )


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
    summaries = {*_SUMMARIES} & {*table.columns} if table.is_object else ()
    if summaries:
        problem += (
            f" {min(summaries)} may have scores of whole runs: give the file of their samples, "
            f"such as samples_*.jsonl of lm-eval or details_*.parquet of lighteval."
        )
    problem += f" {list_columns(table.columns)}"
    if len(list(filter(_ENDS_IN_NUMBER, table.columns))) > 1:
        problem += " Columns with a sample each are named together."
    roles = ("predictions",) if has_references else ("predictions", "outcomes", "counts")
    return SelectionError(problem, roles)


# --- Rows inside of one object ----------------------------------------------------------------


def _ways_inside(table: Table, kinds: Sequence[type] = (dict,)) -> list[Way]:
    """Return a way for each list or object of rows inside of the only object of a table of JSON.

    Rows are objects, or lists of entries of other `kinds`.
    """
    is_one = table.is_object and table.size == 1
    record = {name: cells[0] for name, cells in table.columns.items()} if is_one else {}
    paths = itertools.islice(_paths_to_rows(record, kinds), _MOST_PATHS)
    return [Way({"records": path}) for path in paths]


def _paths_to_rows(
    record: Mapping[str, Any], kinds: Sequence[type], path: str = ""
) -> Iterator[str]:
    """Yield the dotted path of each list of objects inside of an object, or object of rows."""
    for name, inner in record.items():
        if is_list_of(inner, dict) or (isinstance(inner, dict) and _has_rows(name, inner, kinds)):
            yield path + name
        elif isinstance(inner, dict):
            yield from _paths_to_rows(inner, kinds, f"{path}{name}.")


def _has_rows(name: str, record: Mapping[str, Any], kinds: Sequence[type]) -> bool:
    """Return whether an object has two or more lists of one of the `kinds`, or rows that share a
    column. In an object with a name such as "results", which may hold scores, the column has a
    usual name."""
    values = [*record.values()]
    if len(values) < 2:
        return False
    if not is_list_of(values, dict):
        return any(all(is_list_of(value, kind) for value in values) for kind in kinds)
    shared = set.intersection(*map(set, values))
    usual_names = [*itertools.chain(*usual.COLUMN_NAMES.values())]
    return bool(columns_named(shared, usual_names) if name in _SUMMARIES else shared)


# --- Readings by name, and doubts about them --------------------------------------------------


class _Readings:
    """The readings that the caller, the layout, or the names and entries of columns allow."""

    def __init__(self, table: Table, named: ColumnsByRole, options: ReadingOptions) -> None:
        self.table, self.named, self.options = table, named, options
        name = named.get("references")
        self.references = columns_of_role(table, "references") if name is None else [name]

    def ways(self) -> list[Way]:
        """Return all readings: several if columns share a role, or if entries raise a doubt."""
        table, options = self.table, self.options
        if "predictions" in self.named:
            return self._ways_of_named(self.named["predictions"])
        if numbered := self._ways_of_numbered():
            return numbered
        counts = _count_ways(table)
        checked = self._checked(self._columns("predictions", counts))
        graded = _graded(self._columns("outcomes", counts))
        if options.graded_by:
            return _with_frequencies(table, graded)
        if "references" in self.named or (options.checker and self.references and checked):
            return _with_frequencies(table, checked)
        if table.layout:
            return counts or graded or checked
        ways = [*counts, *(checked if self.references else ()), *graded] or checked
        return self._with_rows_inside(self._with_doubts(ways))

    def _columns(self, role: str, counts: Sequence[Way]) -> list[str]:
        """Return the columns of a role that no reading in `counts` uses."""
        used = {*itertools.chain(*(way.arguments.values() for way in counts))}
        names = [name for name in columns_of_role(self.table, role) if name not in used]
        if role == "outcomes" and not names and self.options.correct_at_least is not None:
            return columns_named(self.table.columns, usual.SCORES)  # which become outcomes
        return names

    def _checked(self, samples: Iterable[Samples]) -> list[Way]:
        """Return a reading for each samples and column of references, or without references."""
        ways = []
        for names in samples:
            own = (names,) if isinstance(names, str) else names
            references = [{"references": name} for name in self.references if name not in own]
            ways += [Way({"predictions": names, **reference}) for reference in references or [{}]]
        return ways

    def _may_be_checked(self, samples: Sequence[str]) -> bool:
        """Return whether other columns than `samples` have references, and outcomes no labels."""
        return not self.options.are_labels and not {*self.references} <= {*samples}

    # Samples in the columns that the caller names, or in numbered ones

    def _ways_of_named(self, samples: Samples) -> list[Way]:
        """Return the readings of the columns that the caller names as predictions.

        Without references, they are outcomes if they have a name of outcomes, or if several columns
        have a sample each and nothing can check them.
        """
        if "references" in self.named:
            is_graded = False
        elif isinstance(samples, str):
            is_graded = plain_name(samples) in usual.COLUMN_NAMES["outcomes"]
        else:
            is_graded = not (self.options.checker or self._may_be_checked(samples))
        return _graded([samples]) if is_graded else self._checked([samples])

    def _ways_of_numbered(self) -> list[Way]:
        """Return the readings of columns such as sample_1, sample_2, .. that have a sample each.

        There are none if another column has samples, or if a column of outcomes is beside a single
        numbered one. Outcomes beside several numbered columns are a further reading.
        """
        columns = self.table.columns
        numbered = {} if self.table.layout else numbered_columns(columns)
        names = {*itertools.chain(*numbered.values())}
        others = [name for name in columns if name not in names]
        outcomes = columns_named(others, usual.COLUMN_NAMES["outcomes"])
        least = 2 if outcomes else 1
        if columns_named(others, usual.COLUMN_NAMES["predictions"]) or len(names) < least:
            return []
        ways = [self._ways_of_group(text, tuple(group)) for text, group in numbered.items()]
        return [*itertools.chain(*ways), *_graded(outcomes)]

    def _ways_of_group(self, text: str, samples: tuple[str, ...]) -> list[Way]:
        """Return the readings of columns with a sample each, whose names are `text` and a number.

        Entries may add readings: as outcomes, if the references are none; and as counts, if the
        columns are 0 and 1, and no row has words or only zeros.
        """
        graded, checked = _graded([samples]), self._checked([samples])
        if text in usual.COLUMN_NAMES["outcomes"]:
            return graded
        if self.options.checker or "references" in self.named:
            return checked
        rows = [[*map(as_outcome, row)] for row in cells_of_rows(self.table, samples)]
        if self._may_be_checked(samples):
            gold = self.table.columns[checked[0].arguments["references"]]
            may_be_graded = _are_binary(flat(rows)) and not _are_binary(flat(gold))
            ways = [*(graded if may_be_graded else ()), *checked]
        elif text in _ANSWERS and not self.options.are_labels:
            return [Way({"predictions": samples, "references": None}), *graded]
        else:
            ways = graded
        return [*_binary_counts(samples, rows), *ways]

    # Doubts

    def _with_doubts(self, ways: list[Way]) -> list[Way]:
        """Return the `ways` to read a table without a layout, and those that its values add."""
        options = self.options
        roles = {"questions": options.questions, "pool": options.pool, "where": [*options.where]}
        used = {*self.references, *(name for _, name in pairs_of({**self.named, **roles}))}
        verdicts = self._verdicts(used.union(*(way.arguments.values() for way in ways)))
        if not any("n" in way.arguments for way in ways):
            ways = [*_complements(self.table), *_with_frequencies(self.table, ways)]
        doubts = [doubt for way in ways for doubt in self._doubts(way, verdicts)]
        if doubts:  # samples alone need references
            needed = Way({"references": None})
            ways = [needed if [*way.arguments] == ["predictions"] else way for way in ways]
        return [*ways, *doubts]

    def _verdicts(self, used: Collection[str]) -> list[str]:
        """Return the columns that may have outcomes by name and entries, except those in `used`."""
        verdicts = []
        for name, cells in nested_columns(self.table).items():
            if is_verdict(name) and name not in used:
                entries = [entry for entry in flat(cells) if as_outcome(entry) is not None]
                are_outcomes = list(map(is_outcome, entries))
                is_exact = plain_name(name) in usual.VERDICTS
                if any(are_outcomes) and (is_exact or all(are_outcomes)):
                    verdicts.append(name)
        return verdicts

    def _doubts(self, way: Way, verdicts: Sequence[str]) -> list[Way]:
        """Return other readings that entries allow. Beside a `way` with counts: a row is one sample
        and its tests are counted; with outcomes: they are correct answers, or others of `verdicts`
        are meant; with samples: `verdicts` or samples without references are outcomes."""
        columns = way.arguments
        if "n" in columns:
            return self._one_sample(columns["n"], columns["correct"])
        if "outcomes" in columns:
            name = columns["outcomes"]
            return [*self._gold_answers(name), *self._rivals(name, verdicts)]
        if "references" in columns or "predictions" not in columns:
            return _graded(verdicts)
        samples = columns["predictions"]
        if verdicts:
            return self._ways_of_scores([*verdicts, samples])
        is_single = plain_name(samples) in usual.SINGLE and not self.options.has_labels
        has_numbers = any(isinstance(cell, (int, float)) for cell in self.table.columns[samples])
        return _graded([samples]) if is_single and has_numbers else []

    def _with_rows_inside(self, ways: list[Way]) -> list[Way]:
        """Return the `ways`, after those to rows inside of one object; or else those of scores."""
        inside = _ways_inside(self.table)
        paths = {way.arguments["records"] for way in inside}
        ways = [way for way in ways if paths.isdisjoint(way.arguments.values())]
        if not (ways or inside):
            return self._ways_of_scores(columns_named(self.table.columns, usual.SCORES)[:1])
        return [*inside, *ways]

    def _ways_of_scores(self, names: Sequence[str]) -> list[Way]:
        """Return the readings of scores as outcomes, or by the least correct one (no grades)."""
        cells = (column_at(self.table.columns, names[0]) or ()) if names else ()
        are_grades = any(isinstance(as_outcome(cell), str) for cell in flat(as_lists(cells)))
        least = [] if are_grades or not names else [Way({"correct_at_least": ".."})]
        return [*least, *_graded(names)]

    def _rivals(self, outcome: str, verdicts: Sequence[str]) -> list[Way]:
        """Return a reading for each column of `verdicts` that differs from `outcome` in some row.
        If its name is not in `VERDICTS`, both have nothing but 0, 1 or missing entries."""
        columns = nested_columns(self.table)
        outcomes = list(map(as_outcome, flat(self.table.columns[outcome])))
        rivals = []
        for name in verdicts:
            others = list(map(as_outcome, flat(columns[name])))
            pairs = [pair for pair in zip(outcomes, others, strict=False) if None not in pair]
            differ = len(outcomes) != len(others) or any(one != other for one, other in pairs)
            is_exact = plain_name(name) in usual.VERDICTS
            if differ and (is_exact or _are_binary([*outcomes, *others])):
                rivals.append(Way({"outcomes": name}, f"differs from {shown_name(outcome)}"))
        return rivals

    def _gold_answers(self, outcome: str) -> list[Way]:
        """Return the readings in which the column `outcome` has correct answers, not outcomes.

        There is one for each column of answers, if these are outcomes too, from 0 to 1. They may be
        any texts if `outcome` has the name "correct" or "outcome", and other entries than bools.
        """
        columns = self.table.columns
        answers = columns_named(columns, usual.ANSWERS)
        if not {*self.references} <= {*answers}:  # Another column has the references.
            return []
        are_bools = all(isinstance(x, (bool, type(None))) for x in flat(columns[outcome]))
        may_be_texts = plain_name(outcome) in ("correct", "outcome") and not are_bools
        return [
            Way({"predictions": name, "references": outcome}, "the column has correct answers")
            for name in answers
            if name != outcome and has_lists(columns[outcome]) == has_lists(columns[name])
            if may_be_texts or _are_shares(columns[name])
        ]

    def _one_sample(self, n: str, correct: str) -> list[Way]:
        """Return the reading of a row as one sample; [] if n and `correct` are clearly counts.

        They may count its tests (total, passed), or n the requested samples, which each sample
        repeats.
        """
        sizes, counts = ({*whole_numbers(self.table, name)} for name in (n, correct))
        key = self.options.questions or question_columns(self.table)
        is_repeated = bool(key) and not is_unique(self.table, *key, FILE)
        if counts <= {0, 1}:
            way = Way({"outcomes": correct}, _ONE_SAMPLE)
            is_outcome_name = plain_name(correct) in usual.COLUMN_NAMES["outcomes"]
            may_be_one = is_outcome_name and (is_repeated or 0 in sizes or len(sizes) > 1)
        else:
            way = Way({"outcomes": None}, f"{_ONE_SAMPLE}, whose outcome is in COLUMN")
            may_be_one = is_repeated and plain_name(n) not in ("n", "n_samples", "num_samples")
        may_count_tests = (plain_name(n), plain_name(correct)) == ("total", "passed")
        return [way] if may_be_one or may_count_tests else []


def _graded(outcomes: Iterable[Samples]) -> list[Way]:
    """Return a reading for each column of outcomes, or each tuple of columns of single outcomes."""
    return [Way({"outcomes": names}) for names in outcomes]


def _binary_counts(names: tuple[str, ...], rows: Sequence[Sequence[Any]]) -> list[Way]:
    """Return the reading of columns 0 and 1 as counts, in a list; [] if the outcomes in the rows
    have words, or a row has only zeros."""
    are_numbers = not any(isinstance(outcome, bool) for outcome in flat(rows))
    are_counts = names == ("0", "1") and are_numbers and all(map(any, rows))
    return [Way({"counts": names})] if are_counts else []


def _are_binary(cells: Iterable[Any]) -> bool:
    """Return whether all cells are 0 and 1, or words of outcomes, or missing."""
    return all(outcome in (0, 1, None) for outcome in map(as_outcome, cells))


def _are_shares(cells: Sequence[Any]) -> bool:
    """Return whether all entries are missing or outcomes from 0 to 1; False if all are missing."""
    outcomes = [outcome for outcome in map(as_outcome, flat(cells)) if outcome is not None]
    return bool(outcomes) and all(is_outcome(x) and 0 <= x <= 1 for x in outcomes)


# --- Which question a row belongs to ----------------------------------------------------------


def question_columns(table: Table) -> tuple[str, ...]:
    """Return the columns that identify the questions: those of the layout, or one id, index or
    text; () if there is none. A SelectionError is raised if ids differ, or may identify samples."""
    if table.layout is not None:
        return tuple(columns_of_role(table, "questions"))
    ids = columns_named(table.columns, usual.IDS) or columns_named(table.columns, usual.INDICES)
    texts = columns_named(table.columns, usual.QUESTION_TEXTS)
    if not ids:
        return tuple(texts[:1])
    _refuse_other_ids(table, *ids)
    _refuse_sample_ids(table, ids[0], [*texts, *columns_named(table.columns, _INPUTS)])
    return (ids[0],)


def _refuse_other_ids(table: Table, first: str, *others: str) -> None:
    """Raise a SelectionError if another column of ids gives other questions than `first`."""
    is_specific = plain_name(first) in ("question_id", "problem_id", "qid")
    for other in others:
        if is_specific and plain_name(other) in ("id", "_id") and is_unique(table, other):
            continue
        one, two = (list(map(entry_text, table.columns[name])) for name in (first, other))
        if not len({*zip(one, two, strict=True)}) == len({*one}) == len({*two}):
            raise SelectionError(
                f"Both {first} and {other} can identify the questions, and they give different "
                f"ones ({first} {len({*one})}, {other} {len({*two})}).",
                [Way({"questions": names}) for names in (first, other, (first, other))],
            )


def _refuse_sample_ids(table: Table, column: str, texts: Sequence[str]) -> None:
    """Raise a SelectionError if the ids in `column` may identify samples instead of questions.

    No two ids are equal then, but each text in a column of `texts` is in several rows. In a table
    with lists, a row may have all samples of its question, so nothing is raised.
    """
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
    """Return whether no two rows are equal in the columns `names`, or no such column exists."""
    columns = (table.columns[name] for name in names if name in table.columns)
    rows = list(zip(*(map(entry_text, cells) for cells in columns), strict=True))
    return len({*rows}) == len(rows)


# --- Counts -----------------------------------------------------------------------------------


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


def _count_ways(table: Table) -> list[Way]:
    """Return the readings of two columns of whole numbers as n and `correct`; an InputError if one
    column, or separated thousands, says that they are counts, and an entry is no whole number."""
    ways = []
    candidates = columns_of_role(table, "n"), columns_of_role(table, "correct")
    for n, correct in itertools.product(*candidates):
        if n == correct:
            continue
        sizes, counts = ({*whole_numbers(table, name)} for name in (n, correct))
        if None not in sizes | counts:
            ways.append(Way({"n": n, "correct": correct}))
            continue
        has_thousands = any(map(_THOUSANDS.fullmatch, map(str, table.columns[n])))
        are_sizes = has_thousands or sizes != {None}
        are_samples = plain_name(n) in usual.COLUMN_NAMES["predictions"]
        are_outcomes = counts == {None} and plain_name(correct) in usual.COLUMN_NAMES["outcomes"]
        if are_sizes and not are_samples and not are_outcomes:
            count_column(table, n)
            count_column(table, correct)
    return ways


def _complements(table: Table) -> list[Way]:
    """Return the readings of columns such as `correct` and `incorrect`, as numbers of samples of a
    question, and as the outcome of one sample in each row."""
    names = [*columns_of_role(table, "correct"), *columns_of_role(table, "outcomes")]
    complements = [name for name in table.columns if _COMPLEMENT.fullmatch(plain_name(name))]
    errors = columns_named(table.columns, usual.ERRORS)
    meaning = f"without the samples in {errors[0]}" if errors else ""
    ways = []
    for correct, incorrect in itertools.product(names, complements):
        rows = {*zip(whole_numbers(table, correct), whole_numbers(table, incorrect), strict=True)}
        totals = {sum(filter(None, row)) for row in rows}
        if None not in itertools.chain(*rows) and totals != {1}:
            ways.append(Way({"counts": (incorrect, correct)}, meaning))
            ways.append(Way({"outcomes": correct}, _ONE_SAMPLE))
    return ways


def _with_frequencies(table: Table, ways: Sequence[Way]) -> list[Way]:
    """Return the ways, or others if a column such as `count` may say how many samples a row has.

    These are the counts of a question, one sample and how often it occurs (as after a GROUP BY), or
    one sample.
    """
    columns = () if table.layout else table.columns
    names = [name for name in columns if _FREQUENCY.fullmatch(plain_name(name))]
    others = []
    for name, way in itertools.product(names, ways):
        role, sample = next(iter(way.arguments.items()))
        numbers = {*whole_numbers(table, name)}
        if name == sample or numbers <= {None, 0, 1}:
            continue
        if role == "outcomes" and _may_be_counts(table, name, sample):
            others.append(Way({"n": name, "correct": sample}))
        is_grouped = len(numbers) > 1 and None not in numbers
        if is_grouped and is_unique(table, *question_columns(table), FILE, sample):
            meaning = "each row is a sample that occurs so often"
            others.append(Way({"counts": name, **way.arguments}, meaning))
    if not others:
        return list(ways)
    return [*others, *(way._replace(meaning=_ONE_SAMPLE) for way in ways)]


def _may_be_counts(table: Table, n: str, correct: str) -> bool:
    """Return whether each question has one row, with 0 <= correct <= n where both are numbers."""
    key = question_columns(table)
    if key and not is_unique(table, *key, FILE):
        return False
    columns = table.columns[correct], whole_numbers(table, n), whole_numbers(table, correct)
    for cell, size, count in zip(*columns, strict=True):
        if count is None and entry_text(cell):
            return False
        if count is not None and size is not None and not 0 <= count <= size:
            return False
    return True
