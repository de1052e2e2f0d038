"""The public functions: agreement with scorio, ragged outcomes, forms of input, and errors."""

import doctest
import importlib
import inspect
import math
import re
from pathlib import Path
from typing import Any

import at_k
import numpy as np
import pytest
from at_k.core.samples import read_outcomes
from scorio import eval as scorio

pytestmark = pytest.mark.filterwarnings("ignore:The limits of the posterior")

POINT = (
    *("pass_at_k", "pass_hat_k", "unanimous_at_k", "g_pass_at_k", "mg_pass_at_k", "auc_at_k"),
    *("maj_at_k", "geom_at_k", "geom_ds_at_k", "geo_spectrum_at_k", "geo_spectrum_star_at_k"),
    "max_at_k",
)
PRODUCTS = ("geom_at_k", "geom_ds_at_k", "geo_spectrum_at_k", "geo_spectrum_star_at_k")
POOLED = PRODUCTS[1:]
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


def test_the_errors_that_all_functions_raise_are_documented_once():
    assert "raise a ValueError if an outcome or a parameter is invalid" in (
        at_k.functions.__doc__ or ""
    )


@pytest.mark.parametrize("module", MODULES)
def test_docstring_examples_print_the_shown_results(module):
    results = doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS)
    assert results.attempted > 0
    assert results.failed == 0


# --- Agreement with scorio --------------------------------------------------------------


def random_outcomes(seed: int, questions: int = 20, samples: int = 12) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.random((questions, samples)) < rng.random((questions, 1))).astype(int)


@pytest.mark.parametrize("seed", range(5))
def test_scorio_agrees(seed):
    rng = np.random.default_rng(seed)
    outcomes, categories = random_outcomes(seed), rng.integers(0, 4, (15, 9))
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


def test_none_and_masked_samples_are_not_scored():
    expected = at_k.pass_at_k([[1, 0], [1, 1, 0]], 1)
    assert at_k.pass_at_k([[1, None, 0], [1, 1, 0]], 1) == expected
    nan = math.nan
    assert at_k.pass_at_k(np.ma.masked_invalid([[1.0, nan, 0.0], [1, 1, 0]]), 1) == expected
    with pytest.raises(ValueError, match=r"R\[0\] has no scored sample"):
        at_k.pass_at_k([[None]], 1)


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
    assert lo <= hi
    if bounds:
        assert bounds[0] <= lo
        assert hi <= bounds[1]
