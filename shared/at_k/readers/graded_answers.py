"""Define the checker of answers that are already graded, for votes that verdicts score."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.checking import Checked, Checking, outcomes_of_match
from ..core.checks import InputError, Place
from ..core.columns import to_python
from ..core.samples import Samples, sample_place


@dataclass(frozen=True)
class GradedAnswers:
    """A checker of `compute` for answers that have been graded.

    The reference of a question is the list of the verdicts of its samples, as JSON. Equal answers
    may have different verdicts, as a judge gives them.
    """

    def validate(self, checking: Checking) -> None:
        """Accept all options of `compute`."""

    def check_samples(self, rows: Samples, checking: Checking, cache: dict[str, Any]) -> Checked:
        """Return the verdicts in the references as outcomes, and the samples as answers."""
        verdicts = [json.loads(reference) for reference in to_python(rows.references)]
        for question, (row, size) in enumerate(zip(verdicts, rows.sizes.tolist(), strict=True)):
            if len(row) != size:
                raise InputError(
                    Place("predictions", question),
                    f" has {size} samples, and its reference has the verdicts of {len(row)}: give "
                    f"predictions and references as at_k.read returned them.",
                )
        values = np.array([*itertools.chain(*verdicts)], dtype=float)
        if len(wrong := np.flatnonzero(~((values >= 0) & (values <= 1)))):
            raise InputError(
                sample_place("predictions", rows.sizes, wrong[0]),
                f" has the verdict {values[wrong[0]]:g}: a vote takes verdicts from 0 to 1. To "
                f"score verdicts alone, leave out predictions.",
            )
        return Checked(outcomes_of_match(rows, values), rows.values)
