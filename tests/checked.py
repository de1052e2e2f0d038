"""Run a checker on nested lists, and return the outcomes as nested lists."""

import itertools

from at_k.core.checking import Checking
from at_k.core.columns import stored
from at_k.core.samples import read_samples

SAMPLES = [["a", "b", "a"], ["b"], ["c", "c", "a", "b"]]
REFERENCES = ["a", "b", "c"]
OUTCOMES = [[1, 0, 1], [1], [1, 1, 0, 0]]


def check(predictions, references, checker="exact_match", **options):
    """Return the outcome of every sample, None for a sample that is not scored."""
    rows = stored(read_samples(predictions), references)
    outcomes = Checking(checker, **options).check(rows).outcomes
    scored = outcomes.is_scored
    flat = iter(
        value if is_scored else None
        for value, is_scored in zip(outcomes.values.tolist(), scored, strict=False)
    )
    return [list(itertools.islice(flat, size)) for size in outcomes.sizes]


def same(prediction, reference):
    return prediction == reference
