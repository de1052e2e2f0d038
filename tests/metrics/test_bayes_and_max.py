"""bayes_at_n and max_at_k: categories, labels, rewards, and invalid inputs."""

import at_k
import pytest
from scored import bayes_at_n

OUTCOMES, W = [[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]], [0.0, 0.5, 1.0]
GRADES = ["wrong", "close", "right"]
LABELS = [[GRADES[outcome] for outcome in row] for row in OUTCOMES]


def grade(prediction, reference):
    return GRADES[int(prediction) - reference]


def test_scores_and_intervals_are_those_of_the_functions():
    scores = bayes_at_n(OUTCOMES, w=W, bounds=(0.3, 0.7))
    fields = ("", "_sigma", "_lo", "_hi")
    keys = [f"{name}@5{field}" for name in ("bayes", "avg") for field in fields]
    assert list(scores) == keys
    bayes, avg = (
        at_k.bayes_ci(OUTCOMES, W, bounds=(0.3, 0.7)),
        at_k.avg_ci(OUTCOMES, W, bounds=(0.3, 0.7)),
    )
    assert list(scores.values()) == pytest.approx([*bayes, *avg], rel=1e-15)


def test_without_confidence_there_are_no_intervals():
    scores = bayes_at_n(OUTCOMES, w=W, confidence=None)
    assert scores == {"bayes@5": 0.5625, "avg@5": 0.6}


@pytest.mark.parametrize("name", ["bayes_at_n", "max_at_k"])
@pytest.mark.parametrize("workers", [{}, {"num_proc": 2}])
def test_labels_numbers_and_checkers_give_the_same_scores(name, workers):
    metric = at_k.load(name)
    options = {"w": W, "R0": [[0, 2], [1, 2]], "confidence": 0.9}
    options |= {"k": [1, 3]} if name == "max_at_k" else {}
    wanted = metric.compute(predictions=OUTCOMES, **options)
    assert metric.compute(predictions=LABELS, categories=GRADES, **options) == wanted
    texts = [[str(10 + outcome) for outcome in row] for row in OUTCOMES]
    checked = {"references": [10, 10], "check_correct_fn": grade, "categories": GRADES}
    assert metric.compute(predictions=texts, **checked, **workers, **options) == wanted
    for batch in (0, 1):
        metric.add_batch(predictions=[LABELS[batch]])
    assert metric.compute(categories=GRADES, **options) == wanted
