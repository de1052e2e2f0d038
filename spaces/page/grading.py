"""The checked samples of a request, as scores and tables take them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from at_k.cli.run_input import CheckedOnce
from at_k.core.checking import CheckCache, Checking
from at_k.core.computation import Computation
from at_k.core.counts import sums_per_question
from at_k.core.samples import Samples as MetricSamples
from at_k.runs.options import naming_run
from at_k.runs.outcomes_of_runs import Run

from .space import Samples

_TEXTS = ("question", "problem", "prompt", "instruction", "input", "query")
"""Names of columns with the texts of questions, in lower case."""


def samples_for_metric(
    computation: Computation, runs: Mapping[str, Samples]
) -> dict[str, CheckedOnce]:
    """Return the samples of each run as a metric takes them; a ValueError if one is invalid."""
    sampled = {}
    for label, samples in runs.items():
        with naming_run(label):
            batch = computation.read(samples["predictions"], samples.get("references"))
        sampled[label] = CheckedOnce(batch, computation.validate, CheckCache())
    return sampled


def grade(sampled: Mapping[str, CheckedOnce], checking: Checking) -> list[Run]:
    """Return the outcomes and answers of each run; a ValueError if a sample cannot be checked."""
    runs = []
    for label, questions in sampled.items():
        with naming_run(label):
            checked = questions.check(checking)
        runs.append(Run(label, checked.outcomes, checked.answers))
    return runs


def names_and_texts(
    identifiers: Mapping[str, Sequence[Any]], total: int
) -> tuple[list[str], list[str]]:
    """Return the name of each question, or its number from 1; and its text, or "".

    Args:
        identifiers: columns that identify the questions, by name in lower case.
        total: the number of questions.
    """
    columns = {name: [str(entry) for entry in entries] for name, entries in identifiers.items()}
    texts = next((columns[name] for name in _TEXTS if name in columns), [""] * total)
    names = next(
        (entries for name, entries in columns.items() if name not in _TEXTS),
        [str(number) for number in range(1, total + 1)],
    )
    return names, texts


def rewards_by_question(
    outcomes: MetricSamples, w: Sequence[float] | None
) -> list[list[float | None]]:
    """Return the outcome of each sample of each question, None if it is not scored.

    Args:
        outcomes: of all questions.
        w: the reward of each category, which takes the place of the category, or None.
    """
    values = outcomes.values.astype(float)
    if w:
        values = np.array(w)[outcomes.values.astype(int)]
    rewards = np.where(outcomes.is_scored, values, None)
    entries = iter(np.repeat(rewards, outcomes.occurrences).tolist())
    sizes = sums_per_question(outcomes.occurrences, outcomes.sizes)
    return [list(itertools.islice(entries, size)) for size in sizes.tolist()]
