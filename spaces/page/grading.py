"""The checked samples of a request, as scores and tables take them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from at_k.core.checking import CheckCache, Checked, Checking
from at_k.core.columns import from_numpy
from at_k.core.computation import Computation, SampledQuestions
from at_k.core.samples import Samples as MetricSamples
from at_k.runs.outcomes_of_runs import Run

from .request import Questions, Samples

_TEXTS = ("question", "problem", "prompt", "instruction", "input", "query")
"""Names of columns with the texts of questions, in lower case."""


@dataclass(frozen=True)
class CheckedSamples(SampledQuestions):
    """Samples of which a metric gets the outcomes without another check.

    Attributes:
        run: the outcomes and answers.
    """

    run: Run

    def check(self, checking: Checking) -> Checked:
        """Return the validated outcomes of all questions, and their answers."""
        answers = self.run.answers
        assert answers is not None
        codes = from_numpy(answers, answers < 0)  # which stand for the answers
        self.validate(self.run.outcomes)
        return Checked(self.run.outcomes, pa.chunked_array([codes]))


def samples_for(computation: Computation, samples: Samples, run: Run) -> SampledQuestions:
    """Return the samples of a run as a metric takes them, with the outcomes of their checks."""
    batch = computation.read(samples["predictions"], samples.get("references"))
    if batch.references is not None:
        return CheckedSamples(batch, computation.validate, CheckCache(), run)
    return SampledQuestions(batch, computation.validate, CheckCache())


def questions_of(
    samples: Mapping[str, Samples], identifiers: Mapping[str, Sequence[Any]], runs: Sequence[Run]
) -> Questions:
    """Return the questions, and the outcomes of their samples."""
    first = next(iter(samples.values()))["predictions"]
    total = len(first["n"]) if isinstance(first, dict) else len(first)
    columns = {name: [str(entry) for entry in entries] for name, entries in identifiers.items()}
    texts = next((columns[name] for name in _TEXTS if name in columns), [""] * total)
    names = next(
        (entries for name, entries in columns.items() if name not in _TEXTS),
        [str(number) for number in range(1, total + 1)],
    )
    return Questions(names, texts, {run.name: _by_question(run.outcomes) for run in runs})


def _by_question(outcomes: MetricSamples) -> list[list[float | None]]:
    """Return the outcome of each sample of each question, None if it is not scored."""
    values: list[float | None]
    if outcomes.multiplicity is not None:  # counts
        sizes, values = outcomes.n, [float(value) for value in outcomes.scored_values]
    else:
        sizes = outcomes.sizes
        scored = itertools.repeat(True) if outcomes.scored is None else outcomes.scored
        values = [
            float(value) if is_scored else None
            for value, is_scored in zip(outcomes.values, scored, strict=False)
        ]
    entries = iter(values)
    return [list(itertools.islice(entries, size)) for size in sizes.tolist()]
