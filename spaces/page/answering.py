"""Answer a request: read, check, score and compare its samples.

k is the number of samples that a score is about, and n the number of samples of a question.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from at_k.cli.formats import Scope
from at_k.cli.run_input import CheckedOnce
from at_k.core.checking import Checking
from at_k.core.checks import category_numbers
from at_k.core.computation import Computation
from at_k.core.computations import COMPUTATIONS
from at_k.core.samples import Samples as MetricSamples
from at_k.core.score_agg import VERDICTS
from at_k.runs.options import naming_run
from at_k.runs.outcomes_of_runs import Run as GradedRun
from at_k.runs.outcomes_of_runs import check_same_questions

from .asking import message_for_page
from .comparing import compare
from .controls import OTHER_QUESTIONS, SAME_QUESTIONS
from .request import Answer, Request
from .samples import read_samples
from .space import Call, Options, Run, SampleFile, Space

_EXECUTORS: dict[Any, Any] = {"math_verify": SimpleNamespace(map=map)}
"""The checker math_verify would start processes of its own. This executor starts none."""


def answer_to(request: Request) -> Answer:
    """Return the answer to a request, or raise a ValueError. Write into the current folder."""
    space, computation = request.space, COMPUTATIONS[request.space.metric]
    files, notes, problem = read_samples(request, computation.parameters)
    has_references = any("references" in file.samples for file in files)
    checker = request.checker if has_references else None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        sampled = _samples_for_metric(computation, files)
        sizes = [questions.n for questions in sampled.values()]
        options, changes = _used_options(request, sizes)
        calls = _calls(request, options, sizes, checker)
        graded = _grade(space, sampled, options, checker)
        runs = [
            _scored_run(space, file, sampled[run.name], run, options, calls)
            for run, file in zip(graded, files, strict=True)
        ]
        comparison = None
        if len(runs) > 1 and not problem:
            scope = Scope(sizes, checker, *space.nouns)
            keys = space.main_scores(runs[0], options)
            try:
                check_same_questions([GradedRun(label, x.batch) for label, x in sampled.items()])
                comparison = compare(space, graded, keys, calls, scope)
            except ValueError as error:
                problem = f"The runs are not compared: {message_for_page(error, request)}"
    warned = dict.fromkeys(message_for_page(warning.message, request) for warning in caught)
    notes = [*filter(None, [*notes, *changes, *warned, problem])]
    return Answer(request, runs, calls, options, checker, comparison, tuple(notes))


# --- Options and calls --------------------------------------------------------------------


def _used_options(request: Request, sizes: Sequence[np.ndarray]) -> tuple[Options, list[str]]:
    """Return the options that are used, and sentences that say which ones were changed.

    `sizes` has the n of all questions, by run. Raise a ValueError if a chosen k is above one of n.
    """
    space, options, changes = request.space, dict(request.options), []
    question, sample = space.nouns
    k, smallest_n = options.get("k", 1), min(int(n.min()) for n in sizes)
    if k > smallest_n:
        reason = f"the smallest number of {sample}s of any {question}"
        if k != space.defaults["k"]:  # nobody has chosen the default
            raise ValueError(f"k is {k}: it can be at most {smallest_n}, {reason}.")
        options["k"] = smallest_n
        changes.append(f"k was lowered to {smallest_n}, {reason}.")
    interval = options.setdefault("interval", SAME_QUESTIONS)
    has_one_sample_each = all(n.max() == 1 for n in sizes)
    can_vary_questions = space.has_references and all(len(n) > 1 for n in sizes)
    if interval == SAME_QUESTIONS and has_one_sample_each and can_vary_questions:
        options["interval"] = OTHER_QUESTIONS
        limits = f"the limits are for other {question}s like these"
        changes.append(f"Each {question} has one {sample}, so {limits}.")
    return options, changes


def _calls(
    request: Request, options: Options, sizes: Sequence[np.ndarray], checker: str | None
) -> dict[str, Call]:
    """Return the calls of `compute` by name: those of the Space, with the options of all pages."""
    smallest_n = min(int(n.min()) for n in sizes)
    shared = {name: options[name] for name in ("confidence", "interval")}
    if checker not in (None, "exact_match"):
        shared["check_correct_fn"] = checker
    return {
        name: replace(
            call,
            arguments={x: y for x, y in call.arguments.items() if y is not None} | shared,
        )
        for name, call in request.space.compute_calls(options, smallest_n).items()
    }


# --- Scores -------------------------------------------------------------------------------


def _samples_for_metric(
    computation: Computation, files: Sequence[SampleFile]
) -> dict[str, CheckedOnce]:
    """Return {label: samples in the form of the metric}. Raise a ValueError if one is invalid."""
    sampled = {}
    for file in files:
        with naming_run(file.label):
            batch = computation.read(file.samples["predictions"], file.samples.get("references"))
        sampled[file.label] = CheckedOnce(batch, computation.validate)
    return sampled


def _grade(
    space: Space, sampled: Mapping[str, CheckedOnce], options: Options, checker: str | None
) -> list[GradedRun]:
    """Return the outcomes and answers of each run. Raise a ValueError if a check fails."""
    labels = category_numbers(options.get("categories")) if space.has_references else VERDICTS
    checking = Checking(checker or "exact_match", executor=_EXECUTORS.get(checker), labels=labels)
    runs = []
    for label, questions in sampled.items():
        with naming_run(label):
            checked = questions.check(checking)
        runs.append(GradedRun(label, checked.outcomes, checked.answers))
    return runs


def _scored_run(
    space: Space,
    file: SampleFile,
    questions: CheckedOnce,
    graded: GradedRun,
    options: Options,
    calls: Mapping[str, Call],
) -> Run:
    """Return the run of a file with its scores, from its samples and their outcomes."""
    in_questions = ("predictions", "references")
    columns = {name: column for name, column in file.samples.items() if name not in in_questions}
    compute = partial(COMPUTATIONS[space.metric].results, questions, **columns)
    has_rewards = options.get("w") or options.get("categories") or not space.has_references
    results = {name: call.results(compute) for name, call in calls.items()}
    return Run(
        **vars(file),
        rewards=_rewards_by_question(graded.outcomes, options.get("w")),
        results=results,
        is_binary=not has_rewards and {*graded.outcomes.scored_values.tolist()} <= {0, 1},
    )


def _rewards_by_question(
    outcomes: MetricSamples, w: Sequence[float] | None
) -> list[list[float | None]]:
    """Return for each question a list of the rewards of its samples, None for an unscored one."""
    values = np.array(w)[outcomes.values.astype(int)] if w else outcomes.values.astype(float)
    rewards: Any = np.where(outcomes.is_scored, values, None)
    sizes = outcomes.sizes
    if outcomes.are_counts:  # Equal samples of a question are stored once.
        sizes, rewards = outcomes.n, np.repeat(rewards, outcomes.weights)
    return [row.tolist() for row in np.split(rewards, np.cumsum(sizes)[:-1])]
