"""Scores of the pass@k family, each defined by the credits of its correct samples.

Take k samples of a question. The r-th correct sample among them adds the credit w_r >= 0, and the
score of the question is the expected sum,

    S_w = sum over r of  w_r x P(at least r of k samples are correct),

the threshold spectrum of "Geom@k: Stable Evaluation and Fast Rank Recovery for LLM Reasoning".
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .checks import as_list, check_k, check_ks, check_name, check_number
from .estimates import read_score
from .score import Score, ScoreId

_VALID_TAU = "a threshold is a share of the k samples, from 0 to 1"
_MOST_CREDITS = 20_000_000  # The limit for all scores together. A score at k has k credits.

Credits = tuple[float, ...]
"""The credits (w_1, .., w_k) of the first, second, .., k-th correct sample, none negative."""


def at_least(k: int, needed: int) -> Credits:
    """Return the credits of a score that is 1 if at least `needed` of k samples are correct, or 0.

    All credits are 0 if k < needed.
    """
    return ((0.0,) * (needed - 1) + (1.0,) + (0.0,) * (k - needed))[:k]


def any_correct(k: int) -> Credits:
    """Return the credits of pass@k: 1 if any of k samples is correct.

    Source: Chen et al. 2021, arXiv:2107.03374.
    """
    return at_least(k, 1)


def all_correct(k: int) -> Credits:
    """Return the credits of pass^k, or unanimous@k: 1 if all k samples are correct.

    Source: Yao et al. 2024, arXiv:2406.12045.
    """
    return at_least(k, k)


def majority(k: int) -> Credits:
    """Return the credits of maj@k: 1 if more than half of k samples are correct."""
    return at_least(k, k // 2 + 1)


def threshold(k: int, tau: float) -> Credits:
    """Return the credits of G-Pass@k_tau: 1 if at least max(1, ceil(tau k)) samples are correct.

    tau is from 0 to 1. Source: Liu et al. 2024, arXiv:2412.13147.
    """
    return at_least(k, required_samples(k, tau))


def required_samples(k: int, tau: float) -> int:
    """Return max(1, ceil(tau k)), how many of k samples G-Pass@k_tau requires to be correct.

    A product tau k within 1e-9 of an integer counts as that integer: in floating point,
    0.28 x 25 is above 7 and 25/49 x 49 is below 25.
    """
    return max(1, math.ceil(tau * k - 1e-9))


def check_tau(tau) -> float:
    """Return tau as a float; raise a ValueError if it is not from 0 to 1."""
    return check_number("tau", tau, _VALID_TAU, 0, 1)


def check_thresholds(thresholds) -> list[float]:
    """Return one or more thresholds as a list; raise a ValueError if one is not from 0 to 1."""
    values = as_list("thresholds", thresholds)
    return [check_number(f"thresholds[{i}]", tau, _VALID_TAU, 0, 1) for i, tau in enumerate(values)]


def above_half(k: int) -> Credits:
    """Return the credits of mG-Pass@k: 2/k for each correct sample beyond ceil(k/2), otherwise 0.

    It is a Riemann sum for twice the area under G-Pass@k_tau from tau = 1/2 to 1, and equal to it
    for even k. For odd k it is smaller: if all samples are correct, it is (k-1)/k, and not 1.
    Source: Liu et al. 2024, arXiv:2412.13147.
    """
    half = -(-k // 2)
    return (0.0,) * half + (2 / k,) * (k - half)


def area_under_pass(k: int) -> Credits:
    """Return the credits of AUC@k: the area under pass@j from j = 1 to k, divided by k - 1.

    The area is that of the trapezoidal rule. If i >= 1 of k samples are correct, a share
    C(k-i, j) / C(k, j) of the subsets of size j has no correct sample. The sum of these shares over
    j = 1 .. k is (k+1) / (i+1) - 1, so i correct samples have the value
    V_i = [(k+1) i/(i+1) - (i/k + 1)/2] / (k-1), and V_0 is 0. The credits are the differences
    V_r - V_(r-1) (Hu et al. 2026, arXiv:2601.08763).
    """
    if k == 1:
        return any_correct(1)
    first = (k + 1) / (2 * k)
    # Each credit is a quotient of two integers, which Python rounds correctly.
    return first, *(
        (2 * k * (k + 1) - r * (r + 1)) / (2 * k * (k - 1) * r * (r + 1)) for r in range(2, k + 1)
    )


def spectrum(k: int, weights=None) -> Credits:
    """Return `weights` as the credits of Spectrum@k; or the credits of mG-Pass@k if it is None.

    Raises a ValueError unless there are k weights in [0, 1] whose sum is at most 1.
    """
    if weights is None:
        return above_half(k)
    wanted = "a weight is a number from 0 to 1"
    credits = tuple(
        check_number(f"weights[{r}]", weight, wanted, 0, 1)
        for r, weight in enumerate(as_list("weights", weights))
    )
    if len(credits) != k:
        raise ValueError(f"weights has {len(credits)} entries but k is {k}: give k weights.")
    if math.fsum(credits) > 1 + 1e-12:
        raise ValueError(f"The sum of weights is {math.fsum(credits)}: it can be at most 1.")
    return credits


def geom(k: int, pass_power: float = 0.5, unanimous_power: float = 0.5) -> Score:
    """Return Geom@k: the mean of (pass@k)^pass_power x (pass^k)^unanimous_power of a question."""
    powers = check_powers(pass_power, unanimous_power)
    return _product((any_correct(k), all_correct(k)), powers, pooled=False)


def geom_ds(k: int, pass_power: float = 0.5, unanimous_power: float = 0.5) -> Score:
    """Return Geom_ds@k: (mean pass@k)^pass_power x (mean pass^k)^unanimous_power."""
    powers = check_powers(pass_power, unanimous_power)
    return _product((any_correct(k), all_correct(k)), powers, pooled=True)


def geo_spectrum(k: int, lam: float = 0.5, weights=None) -> Score:
    """Return GeoSpectrum@k: (mean pass@k)^lam x (mean Spectrum@k)^(1 - lam)."""
    lam = check_lam(lam)
    return _product((any_correct(k), spectrum(k, weights)), (lam, 1 - lam), pooled=True)


def check_lam(lam) -> float:
    """Return lam as a float; raise a ValueError unless it is from 0 to 1."""
    return check_number("lam", lam, "it is a number from 0 to 1", 0, 1)


def check_powers(pass_power, unanimous_power) -> tuple[float, float]:
    """Return both powers as floats; raise a ValueError unless both are at least 0, and one above.

    With a negative power the score would fall as one of its two scores rises.
    """
    wanted = "a power is a finite number of at least 0, and one of the two is above 0"
    most = sys.float_info.max
    powers = (
        check_number("pass_power", pass_power, wanted, 0, most),
        check_number("unanimous_power", unanimous_power, wanted, 0, most),
    )
    if powers == (0, 0):
        raise ValueError(f"pass_power and unanimous_power are both 0: {wanted}.")
    return powers


def _product(credits: tuple[Credits, ...], powers: tuple[float, ...], pooled: bool) -> Score:
    """Return the `Score` that is a product of powers of expected credits, without powers of 0."""
    factors = [(credit, power) for credit, power in zip(credits, powers, strict=True) if power]
    terms, powers_of_terms = zip(*factors, strict=True)
    return Score(terms, powers_of_terms, pooled)


class ScoreOptions(NamedTuple):
    """The parameters of scores other than k, by default those of gpassk. The values are valid.

    `powers` are those of pass@k and pass^k in Geom@k and Geom_ds@k.
    """

    thresholds: Sequence[float] = (0.25, 0.5, 0.75, 1.0)
    lam: float = 0.5
    weights: Sequence[float] | None = None
    powers: tuple[float, float] = (0.5, 0.5)


PASS_FAMILY: dict[str, Callable[[int, float, ScoreOptions], Score]] = {
    "G-Pass@k": lambda k, tau, options: Score((threshold(k, tau),)),
    "mG-Pass@k": lambda k, tau, options: Score((above_half(k),)),
    "pass@k": lambda k, tau, options: Score((any_correct(k),)),
    "pass^k": lambda k, tau, options: Score((all_correct(k),)),
    "maj@k": lambda k, tau, options: Score((majority(k),)),
    "AUC@k": lambda k, tau, options: Score((area_under_pass(k),)),
    "Geom@k": lambda k, tau, options: geom(k, *options.powers),
    "Geom_ds@k": lambda k, tau, options: geom_ds(k, *options.powers),
    "GeoSpectrum@k": lambda k, tau, options: geo_spectrum(k, options.lam, options.weights),
    "Spectrum@k": lambda k, tau, options: Score((spectrum(k, options.weights),)),
}
"""For each name of a score, a function that builds the score at one k.

Only G-Pass@k uses the threshold tau.
"""


def build_scores(
    requested: Iterable[ScoreId], ks: Sequence[int], options: ScoreOptions
) -> dict[ScoreId, Score]:
    """Return the requested scores by their ids. Their terms are credits.

    An id without k is built at every k of `ks`, and "G-Pass@k" without tau at every threshold. A
    ValueError is raised if the sum of several k over all scores exceeds 20 million, because time
    and memory grow with this sum.
    """
    ids = [
        (name, k, tau)
        for name, id_k, id_tau in requested
        for k in (ks if id_k is None else [int(id_k)])
        for tau in (options.thresholds if name == "G-Pass@k" and id_tau is None else [id_tau])
    ]
    if len(ks) > 1 and sum(k for _, k, _ in ids) > _MOST_CREDITS:
        per_k = max(1, len(ids) // len(ks))
        raise ValueError(
            f"k has {len(ks):,} values with the sum {sum(ks):,}, and for {per_k} scores of each k "
            f"the sum can be {_MOST_CREDITS // per_k:,} at most: give fewer k, such as 1, 2, 4, 8."
        )
    scores = {}
    for name, k, tau in ids:
        score = scores[ScoreId(name, k, tau)] = PASS_FAMILY[name](k, tau or 0.0, options)
        assert all(len(credits) == k for credits in score.terms), f"{name} has k credits"
    return scores


def included_scores(
    include: str | Iterable[str],
    k,
    known: Collection[str] = PASS_FAMILY,
    metrics: Mapping[str, str] = {},
    parameter: str = "include",
) -> tuple[list[ScoreId], list[int] | None]:
    """Return the ids of the scores that `include` lists, and a list of the k.

    `include` has names, such as "pass@k", and keys, such as "pass@4", which are scores at one k.
    The k are those of `k`, or by default those of all keys; None if there are none. `known` are the
    valid names, `metrics` the `metric` of each name that differs from it, and `parameter` is the
    name of `include` in messages. A ValueError is raised for another entry, or if `k` lacks the k
    of a key.
    """
    ks, ks_of_keys, included = check_ks(k), [], []
    for entry in as_list(parameter, include):
        score = _score_of_key(entry, known) or ScoreId(check_name(parameter, entry, known))
        included.append(score._replace(metric=metrics.get(score.metric, score.metric)))
        if score.k is None:
            continue
        ks_of_keys.append(check_k(score.k))
        if ks is not None and score.k not in ks:
            raise ValueError(
                f"{parameter} has {entry!r}, and k is {', '.join(map(str, ks))}: leave out k, or "
                f"add {score.k} to it."
            )
    return included, ks or list(dict.fromkeys(ks_of_keys)) or None


def _score_of_key(entry: Any, known: Collection[str]) -> ScoreId | None:
    """Return the id of a score of `known` from its key, such as "G-Pass@4_0.5", or None.

    A key has a k. The N of avg@N is the number of samples, which a key cannot choose.
    """
    if not isinstance(entry, str):
        return None
    score = read_score(entry)
    if score.metric not in known or not isinstance(score.k, int) or score.metric.endswith("N"):
        return None
    if score.tau is None:
        return score
    check_tau(score.tau)
    has_tau = score.metric in ("G-Pass@k", "TailPass@k")
    return score if has_tau else None


def only_included(
    values: Mapping[ScoreId, Any], included: Collection[ScoreId]
) -> dict[ScoreId, Any]:
    """Return the entries whose id is in `included`, where an id without k stands for all k."""
    return {
        score: value
        for score, value in values.items()
        if any(x.metric == score.metric and x.k in (None, score.k) for x in included)
    }
