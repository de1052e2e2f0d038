"""The public functions: help, scorio, random calls, runs as inputs, and limits of each kind."""

import doctest
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import at_k
import numpy as np
import pytest
from at_k.core.samples import read_outcomes
from generated_calls import check_calls, check_hostile_calls
from scored import gpassk, simulate
from scorio import eval as scorio

pytestmark = pytest.mark.filterwarnings("ignore:The limits of the posterior")

POINT = (
    *("pass_at_k", "pass_hat_k", "unanimous_at_k", "g_pass_at_k", "mg_pass_at_k", "auc_at_k"),
    *("maj_at_k", "geom_at_k", "geom_ds_at_k", "geo_spectrum_at_k", "geo_spectrum_star_at_k"),
    "max_at_k",
)
PACKAGE = Path(at_k.__file__).parent
MODULES = [
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]
OWN = {"Counts", "load", "read", "cons_at_k", "score_agg", "compare", "leaderboard", "plan"}
OWN |= {"advantages", "noise"}
R = [[0, 1, 1, 0, 1], [1, 1, 0, 1, 1]]


@pytest.mark.parametrize("name", sorted(set(at_k.__all__) - {"Counts", "charts"}))
def test_help_names_each_parameter_the_result_the_errors_an_example_and_the_source(name):
    text = inspect.getdoc(getattr(at_k, name))
    assert text is not None
    for section in ("Args", "Returns", "Examples"):
        assert f"\n\n{section}:\n" in text
    assert "\n\nRaises:\n" in text or "`at_k.functions`" in text
    sources = r"arXiv:\d{4}\.\d{5}|AISBench|Source: |https://pypi.org/project/scorio|\(\d{4}\)"
    assert re.search(sources, text) or name in ("load", "read")
    arguments = text.split("\n\nArgs:\n")[1].split("\n\n")[0]
    entries = re.findall(r"^    (\w+(?:,\s+\w+)*): ", arguments, re.MULTILINE)
    documented = {parameter for entry in entries for parameter in re.split(r",\s+", entry)}
    assert documented == {*inspect.signature(getattr(at_k, name)).parameters}
    assert max(map(len, text.splitlines())) <= 96


def test_help_of_an_estimate_names_the_function_of_its_limits():
    for name in set(at_k.__all__) & {f"{estimate}_ci" for estimate in at_k.__all__}:
        limits = getattr(at_k, name).__name__
        text = " ".join((inspect.getdoc(getattr(at_k, name[:-3])) or "").split())
        assert f"`{limits}` has its limits" in text
    assert "cons_at_k_ci" not in (at_k.cons_at_k.__doc__ or "")
    errors = "raise a ValueError if an outcome or a parameter is invalid"
    assert errors in (at_k.functions.__doc__ or "")  # once for all functions


@pytest.mark.parametrize("module", MODULES)
def test_docstring_examples_print_the_shown_results(module):
    results = doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS)
    assert results.attempted > 0
    assert results.failed == 0


# --- Agreement with scorio --------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_scorio_agrees(seed):
    rng = np.random.default_rng(seed)
    outcomes, categories = simulate(seed, 20, 12), rng.integers(0, 4, (15, 9))
    rewards, prior = [0.0, 0.5, 0.5, 2.0], rng.integers(0, 4, (15, 2))
    rest = {"confidence": 0.8, "bounds": (0.1, 0.9)}
    beta = {"alpha0": 0.5, "beta0": 2.0}
    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("avg", (categories, rewards), rest),
        ("bayes", (categories, rewards, prior), rest),
    ]
    for k in (1, 2, 5, 12):
        weights = rng.dirichlet(np.ones(k)) * rng.random()
        calls += [(name, (outcomes, k), rest | beta) for name in POINT if name != "max_at_k"]
        calls += [("g_pass_at_k_tau", (outcomes, k, x), rest | beta) for x in (0, 0.3, 0.75, 1)]
        for name, *options in (
            ("threshold_spectrum_at_k", weights),
            ("geom_at_k", 0.3, 1.5),
            ("geom_ds_at_k", 0.3, 1.5),
            ("geo_spectrum_at_k", 0.3, weights),
            ("geo_spectrum_at_k", 1.0, weights),
            ("geo_spectrum_at_k", 0.0, list(weights)),
        ):
            calls.append((name, (outcomes, k, *options), rest | beta))
        if k < 9:
            calls.append(("max_at_k", (categories, k, rewards), rest | {"R0": prior}))
    for name, arguments, of_limits in calls:
        for end, more in (("", {}), ("_ci", of_limits)):
            ours, theirs = (
                getattr(package, f"{name}{end}")(*arguments, **more) for package in (at_k, scorio)
            )
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-14, err_msg=name)


def test_parameters_have_the_names_order_and_defaults_of_scorio():
    for name in at_k.__all__:
        if name in OWN:
            continue
        ours = inspect.signature(getattr(at_k, name)).parameters.values()
        theirs = inspect.signature(getattr(scorio, name)).parameters.values()
        # Our own parameter is given by its name.
        common = [(x.name, x.default) for x in ours if x.name != "interval"]
        assert common == [(x.name, x.default) for x in theirs]
    assert {name for name in dir(scorio) if name.endswith(("at_k", "hat_k", "_ci"))} <= {
        *at_k.__all__
    }


# --- Inputs -----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, float])
@pytest.mark.parametrize(
    "size", [1, 2, 7, 8, 12, 16, 48, 64, 72, 100, 128, 255, 256, 264, 300, 640]
)
def test_samples_of_every_number_and_dtype_are_counted(size, dtype):
    outcomes = np.random.default_rng(size).random((21, size)) < np.linspace(0, 1, 21)[:, None]
    counts = read_outcomes(outcomes.astype(dtype)).counts
    np.testing.assert_array_equal(counts.c, outcomes.sum(axis=1))


def test_a_flat_list_is_one_question():
    assert at_k.pass_at_k([0, 1, 1, 0], 2) == at_k.pass_at_k([[0, 1, 1, 0]], 2)


@pytest.mark.parametrize(
    "name", [name for name in at_k.__all__ if name.endswith(("at_k", "hat_k", "_k_ci", "_tau"))]
)
def test_k_above_n_raises_an_error_except_where_scorio_accepts_it(name):
    outcomes, k = np.array([[1, 0, 1], [1, 1, 0]]), 4
    parameters = inspect.signature(getattr(at_k, name)).parameters
    options: dict[str, Any] = {"tau": 0.5} if "tau" in parameters else {}
    if parameters.get("weights") and parameters["weights"].default is inspect.Parameter.empty:
        options["weights"] = [0.25] * k
    ours, theirs = getattr(at_k, name), getattr(scorio, name, None)
    try:
        expected = theirs(outcomes, k, **options) if theirs else None
    except ValueError:
        expected = None
    if expected is None:
        with pytest.raises(ValueError, match="k is 4, but question 0 has n = 3"):
            ours(outcomes, k, **options)
    else:
        assert ours(outcomes, k, **options) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("bounds", [(0.9, 1.0), (0.0, 0.1), (0.5, 0.5), None])
def test_the_lower_limit_is_never_above_the_upper_limit(bounds):
    _, _, lo, hi = at_k.pass_at_k_ci(R, 1, bounds=bounds)
    least, most = bounds or (lo, hi)
    assert least <= lo <= hi <= most


# --- Runs that were read ----------------------------------------------------------------

ROWS = [
    {"id": q, "correct": ok, "half": q % 2, "w": q + 1} for q in range(4) for ok in (1, q % 2, 0)
]
OUTCOMES = [[1, q % 2, 0] for q in range(4)]
FUNCTIONS = {
    "pass_at_k": (2,),
    "pass_hat_k": (2,),
    "g_pass_at_k_tau": (2, 0.5),
    "maj_at_k": (2,),
    "cons_at_k": (2,),
    "auc_at_k": (3,),
    "bayes": (),
    "avg": (),
    "max_at_k": (2,),
    "pass_at_k_ci": (2,),
    "score_agg": (),
    "advantages": (2,),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("groups", [None, "half"])
def test_a_run_gives_what_its_outcomes_give(name, groups):
    function, run = getattr(at_k, name), at_k.read(ROWS, groups=groups)
    assert function(run, *FUNCTIONS[name]) == function(OUTCOMES, *FUNCTIONS[name])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_run_with_more_than_outcomes_is_refused(name):
    runs = {
        "question_weights": at_k.read(ROWS, columns={"question_weights": "w"}),
        "clusters": at_k.read(ROWS, columns={"clusters": "half"}),
        "references": at_k.read([{"id": 1, "prediction": "a", "reference": "a"}]),
    }
    for argument, run in runs.items():
        with pytest.raises(ValueError, match=f"is a run with {argument}, which a function"):
            getattr(at_k, name)(run, *FUNCTIONS[name])


# --- Random calls -----------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_random_calls_agree_with_brute_force(seed):
    problems = check_calls(180, seed)
    assert not problems, "\n".join(problems)


def test_arguments_that_make_no_sense_give_a_result_or_an_error_that_names_one():
    problems = check_hostile_calls(800, seed=3)
    assert not problems, "\n".join(problems)


# --- The interval of the functions that end in _ci --------------------------------------

RNG = np.random.default_rng(7)
RUN = (RNG.uniform(size=(24, 9)) < RNG.uniform(size=(24, 1))).astype(int).tolist()
# The function, its other arguments, and the name and the key of the same score of the metric.
SCORES = [
    ("pass_at_k_ci", (), "pass@k", "pass@4"),
    ("pass_hat_k_ci", (), "pass^k", "pass^4"),
    ("auc_at_k_ci", (), "AUC@k", "AUC@4"),
    ("maj_at_k_ci", (), "maj@k", "maj@4"),
    ("g_pass_at_k_tau_ci", (0.6,), "G-Pass@k", "G-Pass@4_0.6"),
    ("mg_pass_at_k_ci", (), "mG-Pass@k", "mG-Pass@4"),
    ("geom_at_k_ci", (), "Geom@k", "Geom@4"),
    ("geom_ds_at_k_ci", (), "Geom_ds@k", "Geom_ds@4"),
]


@pytest.mark.parametrize("interval", ["posterior", "sampling", "questions", "hierarchical", "auto"])
@pytest.mark.parametrize("score", SCORES, ids=lambda score: score[0])
def test_the_limits_are_those_of_the_metric(score, interval):
    function, arguments, include, key = score
    if interval == "hierarchical" and function.startswith("geom"):
        with pytest.raises(ValueError, match="is a product of two scores"):
            getattr(at_k, function)(RUN, 4, interval=interval)
        return
    options = {"k": 4, "confidence": 0.9, "interval": interval, "include": include}
    scores = gpassk(RUN, thresholds=0.6, **options)
    summary = getattr(at_k, function)(RUN, 4, *arguments, confidence=0.9, interval=interval)
    expected = [scores[f"{key}_{name}"] for name in ("mu", "sigma", "lo", "hi")]
    assert summary == pytest.approx(expected, rel=1e-12)
    assert all(isinstance(value, float) for value in summary)


def test_the_limits_are_clipped_to_the_bounds():
    mu, sigma, lo, hi = at_k.pass_at_k_ci(RUN, 2, interval="sampling")
    middle = (lo + hi) / 2
    clipped = at_k.pass_at_k_ci(RUN, 2, bounds=(0.0, middle), interval="sampling")
    assert clipped == (mu, sigma, lo, middle)


@pytest.mark.parametrize("score", SCORES, ids=lambda score: score[0])
def test_auto_extrapolates_nothing_from_one_sample_of_each_question(score):
    function, arguments, *_ = score
    problem = "k is 3, but each question has one sample, which does not identify"
    if function.startswith("geom"):
        problem = "^The score is a product of two scores, for which neither k > n"
    for outcomes in ([[1], [0], [1]], [[1]]):
        with pytest.raises(ValueError, match=problem):
            getattr(at_k, function)(outcomes, 3, *arguments, interval="auto")
    _, _, lo, hi = getattr(at_k, function)([[1], [0]], 1, *arguments, interval="auto")
    assert 0 <= lo <= hi <= 1


def test_auto_extrapolates_for_a_k_above_n():
    mu, _, lo, hi = at_k.pass_at_k_ci(RUN, 20, interval="auto")
    assert at_k.pass_at_k(RUN, 9) < mu < 1
    assert lo < mu < hi


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("function", "arguments", "estimate"),
    [
        (at_k.pass_at_k_ci, (np.zeros((100, 32)), 8), 0),
        (at_k.pass_hat_k_ci, (np.ones((60, 5)), 4), 1),
        (at_k.g_pass_at_k_tau_ci, (np.zeros((90, 12)), 8, 0.5, 0.8), 0),
        (at_k.geo_spectrum_star_at_k_ci, (np.ones((80, 6)), 4), 1),
        (at_k.maj_at_k_ci, (at_k.Counts([4] * 200, [1] * 200), 3), 0),
    ],
)
def test_limits_of_a_posterior_that_exclude_the_estimate_warn_and_name_others(
    function, arguments, estimate
):
    with pytest.warns(UserWarning, match=rf"the samples, {estimate}: .* pass interval='sampling'"):
        _, _, lo, hi = function(*arguments)
    assert not lo <= estimate <= hi
    R, *rest = arguments
    _, _, lo, hi = function(R, *rest[:2], interval="sampling")
    assert lo <= estimate <= hi


@pytest.mark.filterwarnings("error")
def test_limits_that_contain_the_estimate_or_have_none_do_not_warn():
    rows = np.random.default_rng(0).integers(0, 2, (20, 8))
    at_k.pass_at_k_ci(rows, 2)
    at_k.geom_ds_at_k_ci(np.zeros((100, 4)), 8)  # no estimate: k is above n
    at_k.max_at_k_ci(rows, 1)
    with pytest.warns(UserWarning, match="use the metric max_at_k with interval='sampling'"):
        at_k.max_at_k_ci(np.zeros((100, 32), dtype=int), 8)
