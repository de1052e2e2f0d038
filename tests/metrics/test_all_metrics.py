"""What all metrics have in common: groups, unscored samples, and scores of each question."""

from typing import Any

import pytest
from scored import compute

OUTCOMES = [[1, 0, 1, 1], [0, 0, 0, 1], [1, 1, 1, 1], [0, 1, 0, 0]]
# Data and options of each metric. What has no posterior has an interval for other questions.
CASES: dict[str, tuple[list[list], dict[str, Any]]] = {
    "gpassk": (OUTCOMES, {"k": [1, 2], "include": ["pass@k", "mG-Pass@k", "Geom_ds@k"]}),
    "bayes_at_n": ([[0, 1, 2, 2], [1, 1, 0, 2], [2, 2, 0, 0], [1, 0, 0, 0]], {"w": [0, 0.5, 1]}),
    "max_at_k": ([[0.25, 3.0, 0.0], [2.0, 1.5, 0.0], [0.5, 0.75, 1.0], [1.0, 3.0, 2.0]], {"k": 2}),
    "cons_at_k": ([[0.6, 0.4, 0.7], [1.0, 0.0, 0.5], [0.2, 0.9, 0.9], [0.0, 0.0, 1.0]], {"k": 3}),
    "score_agg": ([["fully", "none"], ["minor", "minor"], ["mostly", "partial"], ["none"] * 2], {}),
}


@pytest.mark.parametrize("name", CASES)
def test_a_group_has_the_scores_and_the_interval_of_its_questions_alone(name):
    rows, options = CASES[name]
    options = options | {"confidence": 0.9, "interval": "questions"}
    scores = compute(name, rows, groups=["x", 7, "x", 7], **options)
    whole = compute(name, rows, **options)
    assert list(scores) == [*whole, *(f"{group}/{key}" for group in ("x", 7) for key in whole)]
    for group, first in (("x", 0), ("7", 1)):
        alone = compute(name, rows[first::2], **options)
        assert {key: scores[f"{group}/{key}"] for key in alone} == pytest.approx(alone)


@pytest.mark.parametrize("name", CASES)
def test_unscored_samples_are_ignored(name):
    rows, options = CASES[name]
    options = options | {"confidence": 0.9}
    unscored = [[None, *row] if i % 2 else [row[0], None, *row[1:]] for i, row in enumerate(rows)]
    scored = compute(name, rows, **options)
    assert compute(name, unscored, **options) == scored
    with pytest.raises(ValueError, match=r"predictions\[4\] has no scored sample"):
        compute(name, [*rows, [None, None]], **options)


@pytest.mark.parametrize("name", CASES)
def test_the_scores_of_questions_average_to_the_score(name):
    rows, options = CASES[name]
    options = options | {"confidence": None, "return_per_question": True}
    scores = compute(name, rows, **options)
    for key, values in scores.pop("per_question").items():
        assert [type(value) for value in values] == [float] * len(rows)
        if not key.startswith("Geom_ds"):  # a product of means
            assert scores[key] == pytest.approx(sum(values) / len(values), rel=1e-14)
