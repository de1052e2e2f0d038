"""keys="safe": names that loggers take, by their documented rules."""

import math
import re

import pytest
from at_k.core.estimates import as_dict
from at_k.results import estimates_of
from scored import compute, max_at_k

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
