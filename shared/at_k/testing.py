"""Assertions about the scores of runs, for test suites.

    from at_k.testing import assert_at_least

    def test_the_model_solves_three_of_five_questions():
        assert_at_least(outcomes, 0.6)

An assertion fails unless the whole confidence interval agrees with it. The message says that the
data show the contrary, or how many more questions or samples would decide. The command `at-k gate`
does the same with files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from .core.signatures import check_options, shows_options
from .functions import OutcomesLike
from .runs.options import ComparisonOptions, RunOptions

if TYPE_CHECKING:
    from .runs.gate import Gate

__all__ = ["assert_at_least", "assert_not_worse"]


@shows_options(RunOptions, ComparisonOptions)
def assert_at_least(
    R: OutcomesLike,
    threshold: float,
    metric: str = "pass@k",
    k: int | None = None,
    interval: str | None = None,
    confidence: float = 0.95,
    *,
    anytime: bool = False,
    **options: Unpack[RunOptions],
) -> None:
    """Assert that the score of a run is at least a threshold.

    Args:
        R: the outcomes of M questions, or a run that `at_k.read` returns, as in `at_k.compare`.
        threshold: the least score.
        metric, interval, confidence, anytime: as in `at_k.compare`.
        k: size of the subsets of samples. Default: 1, for metrics that have a k.
        options: tau, clusters, w, check_correct_fn, num_proc, groups, average and question_weights,
            as in `at_k.compare`. Groups only have an effect with average "groups".

    Raises:
        AssertionError: if the lower confidence limit is below the threshold.
        ValueError: if an outcome or a parameter is invalid.

    Examples:
        >>> assert_at_least([[1, 1, 1, 0], [1, 1, 1, 1], [1, 0, 1, 1]] * 20, 0.7)
        >>> assert_at_least([[1, 0, 1, 0], [0, 1, 1, 1]], 0.6)
        Traceback (most recent call last):
        ...
        AssertionError: Not decided: the score may or may not be at least 0.6. ...
    """
    from .runs.gate import check_bound, gate_at_least, gate_options
    from .runs.outcomes_of_runs import grade_sources

    check_options(assert_at_least, options)
    requested = gate_options(metric, k, interval, confidence, anytime=anytime, **options)
    threshold = check_bound("threshold", threshold, requested.metric)
    (run,), requested = grade_sources([("R", R)], requested)
    _assert_shown(gate_at_least(run, threshold, requested))


@shows_options(RunOptions, ComparisonOptions)
def assert_not_worse(
    R: OutcomesLike,
    baseline: OutcomesLike,
    margin: float = 0.0,
    metric: str = "pass@k",
    k: int | None = None,
    interval: str | None = None,
    confidence: float = 0.95,
    *,
    anytime: bool = False,
    by_order: bool = False,
    common: bool = False,
    **options: Unpack[RunOptions],
) -> None:
    """Assert that the score of a run is at least that of a baseline minus a margin.

    Args:
        R: a run. For this and all parameters that are not here, see `assert_at_least`.
        baseline: a run on the same questions.
        margin: the most that the score may be below that of the baseline, 0 or more.
        by_order, common: how questions are paired, as in `at_k.compare`.

    Raises:
        AssertionError: if the lower confidence limit of the difference is below minus the margin.
        ValueError: if an outcome or a parameter is invalid.

    Examples:
        >>> assert_not_worse([[1, 1, 1, 0]] * 50, [[1, 0, 1, 0]] * 50)
    """
    from .runs.gate import check_bound, gate_not_worse, gate_options
    from .runs.outcomes_of_runs import grade_sources

    check_options(assert_not_worse, options)
    requested = gate_options(metric, k, interval, confidence, anytime=anytime, **options)
    margin = check_bound("margin", margin, requested.metric, is_margin=True)
    sources = [("R", R), ("baseline", baseline)]
    (run, other), requested = grade_sources(sources, requested, by_order=by_order, common=common)
    _assert_shown(gate_not_worse(run, other, margin, requested))


def _assert_shown(gate: Gate) -> None:
    """Raise an AssertionError that states the result, unless the limits show the claim."""
    from .cli.gate_files import verdict
    from .runs.gate import SHOWN

    if gate.status != SHOWN:
        raise AssertionError(verdict(gate))
