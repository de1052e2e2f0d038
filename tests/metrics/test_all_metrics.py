"""What all metrics have in common: groups, unscored samples, categories, digits and names."""

import itertools
import math
import random
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import at_k
import pytest
from at_k.core.estimates import as_dict
from at_k.results import estimates_of
from scored import bayes_at_n, compute, max_at_k

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


# --- Categories, labels and rewards -----------------------------------------------------

GRADED, W = [[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]], [0.0, 0.5, 1.0]
GRADES = ["wrong", "close", "right"]
GRADED_LABELS = [[GRADES[outcome] for outcome in row] for row in GRADED]


def grade(prediction, reference):
    return GRADES[int(prediction) - reference]


def test_scores_and_intervals_are_those_of_the_functions():
    scores = bayes_at_n(GRADED, w=W, bounds=(0.3, 0.7))
    fields = ("", "_sigma", "_lo", "_hi")
    keys = [f"{name}@5{field}" for name in ("bayes", "avg") for field in fields]
    assert list(scores) == keys
    bayes, avg = (
        at_k.bayes_ci(GRADED, W, bounds=(0.3, 0.7)),
        at_k.avg_ci(GRADED, W, bounds=(0.3, 0.7)),
    )
    assert list(scores.values()) == pytest.approx([*bayes, *avg], rel=1e-15)


def test_without_confidence_there_are_no_intervals():
    scores = bayes_at_n(GRADED, w=W, confidence=None)
    assert scores == {"bayes@5": 0.5625, "avg@5": 0.6}


@pytest.mark.parametrize("name", ["bayes_at_n", "max_at_k"])
@pytest.mark.parametrize("workers", [{}, {"num_proc": 2}])
def test_labels_numbers_and_checkers_give_the_same_scores(name, workers):
    metric = at_k.load(name)
    options = {"w": W, "R0": [[0, 2], [1, 2]], "confidence": 0.9}
    options |= {"k": [1, 3]} if name == "max_at_k" else {}
    wanted = metric.compute(predictions=GRADED, **options)
    assert metric.compute(predictions=GRADED_LABELS, categories=GRADES, **options) == wanted
    texts = [[str(10 + outcome) for outcome in row] for row in GRADED]
    checked = {"references": [10, 10], "check_correct_fn": grade, "categories": GRADES}
    assert metric.compute(predictions=texts, **checked, **workers, **options) == wanted
    for batch in (0, 1):
        metric.add_batch(predictions=[GRADED_LABELS[batch]])
    assert metric.compute(categories=GRADES, **options) == wanted


# --- The same digits, however samples are added -----------------------------


def share(prediction: str, reference: str) -> float:
    return min(len(prediction), len(reference)) / max(len(prediction), len(reference))


def is_correct(prediction: str, reference: str) -> bool:
    return prediction == reference


def category(prediction: str, reference: str) -> int:
    return min(2, abs(len(prediction) - len(reference)))


WITH_INTERVALS = {"confidence": 0.9, "return_per_question": True}
CHECKED: dict[str, tuple[Any, dict[str, Any]]] = {
    "gpassk": (is_correct, {"k": [1, 3], "include": ["G-Pass@k", "maj@k", "Geom@k"]}),
    "bayes_at_n": (category, {"w": [0.1, 0.4, 0.7], "interval": "auto"}),
    "max_at_k": (share, {"k": [1, 3]}),
    "cons_at_k": (share, {}),
    "score_agg": (share, {"temperature": 0.3}),
}


def questions_of(name: str) -> tuple[list[list[str]], list[str], list[str]]:
    """Return random samples of 11 questions, which differ in number, references and groups."""
    rng = random.Random(name)
    references = ["x" * rng.randrange(1, 6) for _ in range(11)]
    samples = [["x" * rng.randrange(1, 6) for _ in range(rng.randrange(3, 12))] for _ in references]
    return samples, references, [rng.choice("ab") for _ in references]


@pytest.mark.parametrize("graded", [False, True], ids=["checked", "graded"])
@pytest.mark.parametrize("name", CHECKED)
def test_processes(name, graded, tmp_path):
    checker, options = CHECKED[name]
    samples, references, groups = questions_of(name)
    rows: dict[str, list[Any]] = {"predictions": samples, "references": references}
    options = options | WITH_INTERVALS | {"check_correct_fn": checker}
    if graded:
        del options["check_correct_fn"]
        pairs = zip(samples, references, strict=True)
        rows = {"predictions": [[checker(each, answer) for each in row] for row, answer in pairs]}

    def computed_by(processes: int) -> dict[str, Any]:
        places = [len(samples) * each // processes for each in range(processes + 1)]

        def run(process: int) -> dict[str, Any] | None:
            metric = at_k.load(
                name, num_process=processes, process_id=process, cache_dir=str(tmp_path)
            )
            start, end = places[process : process + 2]
            middle = (start + end) // 2
            for part in itertools.pairwise((start, middle, end)):
                metric.add_batch(**{key: each[slice(*part)] for key, each in rows.items()})
            return metric.compute(groups=groups, **options)

        with ThreadPoolExecutor(processes) as threads:
            results = list(threads.map(run, range(processes)))
        assert results[0] is not None
        assert results[1:] == [None] * (processes - 1)
        return results[0]

    at_once = compute(name, **rows, groups=groups, **options)
    assert [computed_by(processes) for processes in (1, 2, 4)] == [at_once] * 3


# --- Names for loggers ------------------------------------------------------------------

PREDICTIONS = [["a", "b", "a", "a"], ["b", "b", "a", "a"], ["a"] * 4]
DATA = {"predictions": PREDICTIONS, "references": ["a", "b", "a"]}
GROUPS = ["7 x", "größe/b", "größe/b"]
EVERY_SCORE = [
    *("G-Pass@k", "mG-Pass@k", "pass@k", "pass^k", "maj@k", "AUC@k"),
    *("Geom@k", "Geom_ds@k", "GeoSpectrum@k", "Spectrum@k"),
]
OPTIONS: dict[str, dict] = {
    "gpassk": {"k": [2, 4], "include": EVERY_SCORE, "thresholds": [0, 1e-5, 0.25, 1.0]},
    "bayes_at_n": {},
    "max_at_k": {"k": [1, 3]},
    "cons_at_k": {},
    "score_agg": {},
}
# The rule of Weights & Biases, whose own names start with _, and the 250 characters of MLflow.
# TensorBoard, Prometheus and Trackio take more names.
NAME = re.compile(r"[a-zA-Z][_a-zA-Z0-9]{0,249}")


def computed(name: str, keys: str) -> dict:
    options = {"confidence": 0.9, "groups": GROUPS, "return_per_question": keys == "exact"}
    return compute(name, **DATA, **options, **OPTIONS[name], keys=keys)


@pytest.mark.parametrize("name", OPTIONS)
def test_safe_keys_are_names_for_all_loggers_with_the_numbers_of_the_exact_keys(name):
    exact, safe = computed(name, "exact"), computed(name, "safe")
    numbers = [value for value in exact.values() if isinstance(value, float)]
    assert list(safe.values()) == numbers
    assert all(type(value) is float and math.isfinite(value) for value in safe.values())
    assert all(map(NAME.fullmatch, safe))


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("pass@2", "pass_at_2"),
        ("pass^2_lo", "pass_hat_2_lo"),
        ("G-Pass@4_0.5", "g_pass_at_4_tau_0_5"),
        ("G-Pass@16_1.0_sigma", "g_pass_at_16_tau_1_0_sigma"),
        ("G-Pass@4_1e-05", "g_pass_at_4_tau_1e_05"),
        ("mG-Pass@4_mu", "mg_pass_at_4_mu"),
        ("bayes@8_lo", "bayes_at_8_lo"),
        ("avg@n", "avg_at_n"),
        ("accuracy (4 runs average)_hi", "accuracy_4_runs_average_hi"),
        ("Geom_ds@4", "geom_ds_at_4"),
        ("score_agg", "score_agg"),
    ],
)
def test_each_key_has_a_safe_name(key, name):
    score = re.sub("_(mu|sigma|lo|hi)$", "", key)
    assert name in as_dict(estimates_of({score: 0.5, key: 0.25}), safe=True)


def test_the_safe_name_of_a_group_precedes_that_of_the_score():
    scores = max_at_k([[0, 1]] * 3, k=1, groups=GROUPS, keys="safe")
    assert list(scores) == ["max_at_1", "group_7_x__max_at_1", "gr_e_b__max_at_1"]


def test_leaving_out_the_scores_of_each_question_is_warned_of():
    with pytest.warns(UserWarning, match='keys="safe" leaves out per_question'):
        scores = max_at_k([[0.5, 1.0]], k=1, return_per_question=True, keys="safe")
    assert scores == {"max_at_1": 0.75}
