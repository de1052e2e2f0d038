"""Graded runs from sources: matrices of outcomes, counts, or the dicts that `at_k.read` returns."""

from __future__ import annotations

import contextlib
import itertools
import warnings
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..core.checking import Checked, Checking
from ..core.checks import InputError, InPython, Place, as_list, require_same_index, short
from ..core.columns import stored, to_python
from ..core.containers import to_numpy
from ..core.samples import (
    Labels,
    Samples,
    as_outcomes,
    read_outcomes,
    read_samples,
    warn_of_stopping,
)
from ..intervals.labelled import Errors, check_errors
from .options import ComparisonOptions, naming_run

OptionsT = TypeVar("OptionsT", bound=ComparisonOptions)
_ROLES = ("clusters", "groups", "question_weights")


class Run(NamedTuple):
    """The outcomes of a run, with a name for messages and tables.

    Before grading, `outcomes` are the samples with their references. `answers` has equal integers
    for samples with the same answer, or is None if they were given as outcomes. Scores are
    corrected for the `errors` of the checker, which found no answer in `unanswered` samples.
    """

    name: str
    outcomes: Samples
    answers: np.ndarray | None = None
    errors: Errors = Errors()
    unanswered: int = 0
    source: Any = None

    @property
    def has_references(self) -> bool:
        """Return whether the samples are not graded yet, and have references."""
        return self.outcomes.references is not None

    def for_questions(self, rows: Sequence[int] | np.ndarray) -> Run:
        """Return the graded run of only the questions with these indices; it has no `source`."""
        outcomes, sizes = self.outcomes, self.outcomes.sizes
        starts, sizes = (np.cumsum(sizes) - sizes)[rows], sizes[rows]
        # The indices of the samples of each question: its start and those that follow.
        index = np.repeat(starts - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
        answers = None if self.answers is None else self.answers[index]
        subset = replace(
            outcomes,
            values=outcomes.values[index],
            sizes=sizes,
            multiplicity=None if outcomes.multiplicity is None else outcomes.multiplicity[index],
        )
        return Run(self.name, subset, answers, self.errors)


def grade_sources(
    sources: Sequence[tuple[str, Any]],
    options: OptionsT,
    checker_rates: Any = None,
    labels: Any = None,
    by_order: bool = False,
    common: bool = False,
) -> tuple[list[Run], OptionsT]:
    """Parse and grade pairs of a name and a source, with all questions in the order of the first.

    The other parameters are those of `compare`; `labels` has an entry for each source. Options
    without clusters, groups or weights are returned with those that the runs were read with. Raises
    ValueError, before a checker runs, if a source or an option is invalid.
    """
    if not by_order:
        require_same_index(dict(sources) | {role: getattr(options, role) for role in _ROLES})
    check_errors(checker_rates, labels)
    if labels is not None:
        sources = _with_labels(sources, labels)
    sources = in_one_order(sources, by_order, common)
    checking = options.checking
    runs = [_parse_run(name, source, checking.labels) for name, source in sources]
    with naming_questions(sources[0][1]):
        options = _with_values_of_runs(sources, options)
        check_same_questions(runs)
        _check_before_grading(runs, options, checking)
    runs = [_grade_run(run, checking) if run.has_references else run for run in runs]
    for run in runs:
        warn_of_stopping(run.outcomes, f"{run.name}: " if len(runs) > 1 else "")
    return _with_errors(runs, checker_rates, labels is not None), options


def _check_before_grading(
    runs: Sequence[Run], options: ComparisonOptions, checking: Checking
) -> None:
    """Raise a ValueError for invalid options before a checker runs, which may take long."""
    if any(run.has_references for run in runs):
        # Only its errors matter here: it is called again with the numbers of scored samples.
        options.for_samples({run.name: run.outcomes.n for run in runs})
    elif not checking.matches_exactly:
        raise ValueError(
            "check_correct_fn is given, but no run has references to check against: a run with "
            "references is a dict of predictions and references, as at_k.read returns it."
        )


def _with_labels(sources: Sequence[tuple[str, Any]], labels: Any) -> list[tuple[str, Any]]:
    """Return the sources as dicts that contain their labels, so that pairing reorders both."""
    if isinstance(labels, Mapping) or len(labels := as_list("labels", labels)) != len(sources):
        raise ValueError("labels of two runs are a pair: give (labels of run a, labels of run b).")
    labelled = []
    for (name, source), own in zip(sources, labels, strict=True):
        is_dict = isinstance(source, Mapping) and "predictions" in source
        result: Any = copy(source) if is_dict else {"predictions": source}
        result["labels"] = own
        labelled.append((name, result))
    return labelled


def _with_values_of_runs(sources: Sequence[tuple[str, Any]], options: OptionsT) -> OptionsT:
    """Return a copy of the options with the clusters, groups and weights of the runs, if used."""
    is_used = {"clusters": options.interval == "questions", "groups": options.average == "groups"}
    result = copy(options)
    for role in _ROLES:  # Weights are always used.
        if is_used.get(role, True) and getattr(options, role) is None:
            setattr(result, role, shared_by(sources, role))
    return result


def shared_by(sources: Sequence[tuple[str, Any]], role: str) -> Any:
    """Return the values for questions of a role, such as "clusters", that runs were read with.

    It is None if no run has some. Raises InputError, with the question, if two runs differ.
    """
    read = [(name, x.get(role)) for name, x in sources if isinstance(x, Mapping)]
    (first, shared), *others = [x for x in read if x[1] is not None] or [("", None)]
    for name, values in others:
        pairs = zip(as_list(role, shared), as_list(role, values), strict=False)
        for question, (first_value, value) in enumerate(pairs):
            if first_value != value:
                raise InputError(
                    Place("Question", question),
                    f" has {short(first_value)} in the {role} of {first} and {short(value)} in "
                    f"those of {name}: read the runs with the same {role}, or give {role} that "
                    f"hold for all of them.",
                )
    return shared


@contextlib.contextmanager
def naming_questions(source: Any) -> Iterator[None]:
    """Add the id of the question, if it is known, to an InputError that is raised in the block."""
    try:
        yield
    except InputError as error:
        place, ids = error.place, _ids_of(source) or ()
        if place is None or place.question >= len(ids):
            raise
        entry, column = short(ids[place.question]), source.columns["questions"]
        text = f" Question {place.question} has the {column} {entry}."
        raise InputError(*error.args, text) from error


# --- Pairing ------------------------------------------------------------------------------


def in_one_order(
    sources: Sequence[tuple[str, Any]], by_order: bool = False, common: bool = False
) -> list[tuple[str, Any]]:
    """Return the sources with their questions in the order of the first, paired by their ids.

    Runs stay as they are if all are matrices, or if one has no ids and `by_order` is True. With
    `common`, questions that a run lacks are left out. Raises ValueError if a run lacks ids or
    questions, or with `common`, if they have no question in common.
    """
    ids: list[Any] = [_ids_of(run) for _, run in sources]
    is_plain = all(getattr(run, "is_matrix", True) for _, run in sources)
    if len(sources) < 2 or (is_plain and not common) or (by_order and None in ids):
        return list(sources)
    if None in ids:
        name, _ = sources[ids.index(None)]
        raise InputError(
            f"{name} has no ids, so its questions cannot be paired with those of the others: add a "
            f"column id",
            InPython(
                ", name the column of their ids (questions; in the shell --questions), or give "
                "by_order=True if all runs have the same questions in the same order"
            ),
            ".",
        )
    if not common:
        _require_same_questions(sources)
    questions = _common_questions([run for _, run in sources])
    ordered = [(name, _with_questions(run, questions)) for name, run in sources]
    _warn_of_other_texts(ordered)
    return ordered


def _common_questions(runs: Sequence[Any]) -> list[Any]:
    """Return the ids of the first run that all runs have. Raises ValueError if there are none."""
    first, *others = runs
    shared = set(first.ids).intersection(*(run.ids for run in others))
    if not shared:
        key = first.columns.get("questions", "")
        raise ValueError(f"The runs have no question in common, by {key}.")
    return [question for question in first.ids if question in shared]


def _ids_of(source: Any) -> Any:
    """Return the ids of a run that `at_k.read` returned, or None. Masked arrays have `ids`, too."""
    return getattr(source, "ids", None) if isinstance(source, Mapping) else None


def _require_same_questions(sources: Sequence[tuple[str, Any]]) -> None:
    """Raise an InputError if a run lacks a question of the first run, or has another one."""
    (first, run), *others = sources
    column = run.columns.get("questions", "")
    for name, other in others:
        pair = (name, other.ids), (first, run.ids)
        for (lacking, ids), (having, ids_of_other) in (pair, pair[::-1]):
            known = {*ids}
            if missing := [x for x in ids_of_other if x not in known]:
                number = len(known.intersection(ids_of_other))
                way_out = f", or common=True to compare the {number} that both have"
                raise InputError(
                    f"{lacking} lacks {len(missing)} of the questions of {having}, such as "
                    f"{column} {short(missing[0])}: give the same questions in all runs, with the "
                    f"same ids",
                    InPython(way_out if number else ""),
                    ".",
                )


def _with_questions(run: Any, questions: list[Any]) -> Any:
    """Return a run of `at_k.read` with only the questions of these ids, in the order of the ids."""
    if list(run.ids) == questions:
        return run
    position = {question: index for index, question in enumerate(run.ids)}
    result = run.select([position[question] for question in questions])
    if left_out := len(run.ids) - len(questions):
        note = f"without {left_out} question{'s' if left_out > 1 else ''} that others lack"
        result.missing = "; ".join(filter(None, [run.missing, note]))
    return result


def _warn_of_other_texts(sources: Sequence[tuple[str, Any]]) -> None:
    """Warn if a question has another text in the first of several runs than in another run."""
    (first, run), *others = sources
    for (name, other), column in itertools.product(others, ("question", "problem")):
        texts = zip(*(x.identifiers.get(column, ()) for x in (run, other)), strict=False)
        differing = [i for i, (a, b) in enumerate(texts) if a.split() != b.split()]
        if differing:
            warnings.warn(
                f"{len(differing)} questions of {first} and {name} have the same ids and different "
                f"texts in {column}, such as {short(run.ids[differing[0]])}: runs on different "
                f"questions cannot be compared.",
                stacklevel=2,
            )


def check_same_questions(runs: Sequence[Run]) -> None:
    """Raise a ValueError unless all runs have equally many questions with the same references."""
    first, questions = runs[0].name, len(runs[0].outcomes)
    for run in runs[1:]:
        if len(run.outcomes) != questions:
            raise ValueError(
                f"{first} has {questions} questions and {run.name} has {len(run.outcomes)}: give "
                f"the same questions in all runs."
            )
    references = [
        (run.name, to_python(run.outcomes.references)) for run in runs if run.has_references
    ]
    for name, entries in references[1:]:
        other, others = references[0]
        for question, (entry, expected) in enumerate(zip(entries, others, strict=True)):
            if entry != expected and str(entry) != str(expected):  # A file of CSV has only texts.
                raise InputError(
                    Place("Question", question),
                    f" has the reference {short(expected)} in {other} and {short(entry)} in "
                    f"{name}: give the same questions in the same order.",
                )


# --- Grading ------------------------------------------------------------------------------


def _parse_run(name: str, source: Any, labels: Labels | None) -> Run:
    """Return the run of a source, before the checker of the options grades it.

    A check_correct_fn of its own, as graded answers have, is applied here. `labels` has the numbers
    of labels, such as verdicts, that stand for outcomes. Raises ValueError if it is invalid.
    """
    if not (isinstance(source, Mapping) and "predictions" in source):
        return Run(name, read_outcomes(source, name, labels))  # Errors name the run already.
    if source.get("R0") is not None:
        raise ValueError(
            f"{name} has prior outcomes R0, which only the metrics bayes_at_n and max_at_k use: "
            f"read it without R0."
        )
    with naming_questions(source), naming_run(name):
        rows = read_samples(source["predictions"])
        if source.get("references") is None:
            return Run(name, as_outcomes(rows, labels), source=source)
        run = Run(name, stored(rows, source["references"]), source=source)
        checker = source.get("check_correct_fn")
        checking = None if checker is None else Checking(checker)
    return run if checking is None else _grade_run(run, checking)


def _grade_run(run: Run, checking: Checking) -> Run:
    """Return a copy of a run whose samples have been checked against their references."""
    with naming_questions(run.source), naming_run(run.name):
        checked = checking.check(run.outcomes)
        return run._replace(
            outcomes=checked.outcomes,
            answers=checked.answers,
            unanswered=number_unanswered(checked),
        )


def number_unanswered(checked: Checked) -> int:
    """Return the number of scored samples in which the checker found no answer."""
    if checked.read_answers is None:
        return 0
    return int(checked.outcomes.weights[to_numpy(checked.read_answers.is_null())].sum())


# --- Errors of the checker ----------------------------------------------------------------


def _with_errors(runs: Sequence[Run], checker_rates: Any, need_labels: bool) -> list[Run]:
    """Return the runs with the errors of their checker, by `checker_rates` or else by their labels.

    Without rates and labels, runs stay as they are. Raises ValueError for invalid labels, and if a
    run has none but they are needed, or another run has some.
    """
    labels = [None if run.source is None else run.source.get("labels") for run in runs]
    if checker_rates is not None:
        labels = [None] * len(runs)  # The rates take the place of labels that runs were read with.
    elif not need_labels and all(own is None for own in labels):
        return [*runs]
    result = []
    for run, own in zip(runs, labels, strict=True):
        if checker_rates is None and own is None:
            raise ValueError(
                f"{run.name} has no labels: a checker may favor one of two runs, so label samples "
                f"of both. If you know that it does not, give its checker_rates."
            )
        with naming_run(run.name):
            errors = Errors.from_options(checker_rates, own, run.outcomes)
            errors.warn_if_contradicted(run.outcomes.counts)
        result.append(run._replace(errors=errors))
    return result
