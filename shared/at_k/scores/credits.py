"""What k draws of a question are worth: the scores of the pass family, as credits.

A score rewards k draws by how many of them are right. What the first right draw adds to
their worth, the second, .., the k-th, are its credits w_1, .., w_k, none of them negative;
so j right draws are worth w_1 + .. + w_j, and the score of a question is

    S_w = sum over r of  w_r x P(at least r of k draws are right).

pass@k has all of its credit at r = 1, pass^k at r = k, the others in between. S_w is the
threshold spectrum of the paper "Geom@k: Stable Evaluation and Fast Rank Recovery for LLM
Reasoning", as are the geometric blends below.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ..checks import as_list, check_number

Credits = tuple[float, ...]
"""What the first, second, .., k-th right draw adds, none negative: k numbers."""


class Score(NamedTuple):
    """A product of powers of expected credits, all of the same k.

    Of their averages over questions where `pooled`; if not, of each question's, and then
    averaged.
    """

    credits: tuple[Credits, ...]
    powers: tuple[float, ...] = (1.0,)
    pooled: bool = True


def as_score(score: Score | Credits) -> Score:
    """Credits alone are a score."""
    return score if isinstance(score, Score) else Score((score,))


def at_least(k: int, needed: int) -> Credits:
    """1 once `needed` of k are right, 0 below."""
    return (0.0,) * (needed - 1) + (1.0,) + (0.0,) * (k - needed)


def any_right(k: int) -> Credits:
    """pass@k: one of k suffices (Chen et al. 2021, arXiv:2107.03374)."""
    return at_least(k, 1)


def all_right(k: int) -> Credits:
    """pass^k, or unanimous@k: all k are needed (Yao et al. 2024, arXiv:2406.12045)."""
    return at_least(k, k)


def majority(k: int) -> Credits:
    """maj@k: more than half of k are needed."""
    return at_least(k, k // 2 + 1)


def threshold(k: int, tau: float) -> Credits:
    """G-Pass@k_tau: max(1, ceil(tau k)) of k are needed (Liu et al. 2024, arXiv:2412.13147).

    A product within 1e-9 of an integer is that integer: as doubles, 0.28 x 25 lies above
    7 and 25/49 x 49 below 25.

    Raises:
        ValueError: unless 0 <= tau <= 1.
    """
    return at_least(k, max(1, math.ceil(check_tau(tau) * k - 1e-9)))


def check_tau(tau) -> float:
    """The share of the draws that a threshold asks for, from 0 to 1."""
    return check_number("A threshold", tau, "it is a share of the k draws, from 0 to 1", 0, 1)


def above_half(k: int) -> Credits:
    """mG-Pass@k: 2/k for each of the right draws beyond a half, rounded up.

    So (2/k) times the sum of G-Pass@k_(i/k) over i = ceil(k/2) + 1 .. k: the Riemann sum of
    the paper for twice the area under G-Pass@k_tau from tau = 1/2 to 1. It equals the area
    for even k; for odd k it stays below, at (k-1)/k where all draws are right.
    """
    half = -(-k // 2)
    return (0.0,) * half + (2 / k,) * (k - half)


def area(k: int) -> Credits:
    """AUC@k: the area under pass@j from j = 1 to k, by trapezoids, over k - 1.

    Of i right draws among k, a share C(k-i, j) / C(k, j) of the subsets of j draws has none.
    Summed over j these shares are (k+1) / (i+1) - 1, so i right draws are worth
    [(k+1) i/(i+1) - (i/k + 1)/2] / (k-1), whose differences these are
    (Hu et al. 2026, arXiv:2601.08763).
    """
    if k == 1:
        return any_right(1)
    first = (k + 1) / (2 * k)
    # Divisions of integers, which Python rounds correctly.
    return first, *(
        (2 * k * (k + 1) - r * (r + 1)) / (2 * k * (k - 1) * r * (r + 1)) for r in range(2, k + 1)
    )


def spectrum(k: int, weights=None) -> Credits:
    """Threshold spectrum S_w: weights as given, or those of mG-Pass@k.

    Raises:
        ValueError: unless there are k weights, finite and not negative, of sum 1 at most.
    """
    if weights is None:
        return above_half(k)
    wanted = "a weight is a number from 0 to 1"
    credits = tuple(
        check_number(f"weights[{r}]", weight, wanted, 0, 1)
        for r, weight in enumerate(as_list("weights", weights))
    )
    if len(credits) != k:
        raise ValueError(f"There are {len(credits)} weights, but k is {k}: give k of them.")
    if math.fsum(credits) > 1 + 1e-12:
        raise ValueError(f"The weights add up to {math.fsum(credits)}: they may to 1 at most.")
    return credits


# --- Geometric blends -------------------------------------------------------------------


def geom(k: int, pass_power: float = 0.5, unanimous_power: float = 0.5) -> Score:
    """Geom@k: pass@k to one power times pass^k to another, question by question."""
    return _blend((any_right(k), all_right(k)), check_powers(pass_power, unanimous_power), False)


def geom_ds(k: int, pass_power: float = 0.5, unanimous_power: float = 0.5) -> Score:
    """Geom@k of the dataset: the same of the averages over questions."""
    return _blend((any_right(k), all_right(k)), check_powers(pass_power, unanimous_power), True)


def geo_spectrum(k: int, lam: float = 0.5, weights=None) -> Score:
    """GeoSpectrum@k: pass@k to the power lam times the spectrum to 1 - lam, of averages."""
    lam = check_lam(lam)
    return _blend((any_right(k), spectrum(k, weights)), (lam, 1 - lam), True)


def check_lam(lam) -> float:
    """The power of pass@k beside the spectrum's."""
    return check_number("lam", lam, "it is a number from 0 to 1", 0, 1)


def check_powers(pass_power, unanimous_power) -> tuple[float, float]:
    """The powers of pass@k and pass^k, not both 0."""
    wanted = "a power is a number from 0 to 100, and one of the two is above 0"
    powers = (
        check_number("pass_power", pass_power, wanted, 0, 100),
        check_number("unanimous_power", unanimous_power, wanted, 0, 100),
    )
    if powers == (0, 0):
        raise ValueError(f"pass_power and unanimous_power are both 0: {wanted}.")
    return powers


def _blend(credits: tuple[Credits, ...], powers: tuple[float, ...], pooled: bool) -> Score:
    kept = [(credit, power) for credit, power in zip(credits, powers, strict=True) if power]
    return Score(tuple(credit for credit, _ in kept), tuple(power for _, power in kept), pooled)


# --- By their names ---------------------------------------------------------------------


class Options(NamedTuple):
    """What the scores need besides k: checked."""

    thresholds: Sequence[float] = (0.25, 0.5, 0.75, 1.0)
    lam: float = 0.5
    weights: Sequence[float] | None = None
    powers: tuple[float, float] = (0.5, 0.5)


NAMED: dict[str, Callable[[int, Options], dict[str, Score | Credits]]] = {
    "G-Pass@k": lambda k, o: {f"G-Pass@{k}_{tau}": threshold(k, tau) for tau in o.thresholds},
    "mG-Pass@k": lambda k, o: {f"mG-Pass@{k}": above_half(k)},
    "pass@k": lambda k, o: {f"pass@{k}": any_right(k)},
    "pass^k": lambda k, o: {f"pass^{k}": all_right(k)},
    "maj@k": lambda k, o: {f"maj@{k}": majority(k)},
    "AUC@k": lambda k, o: {f"AUC@{k}": area(k)},
    "Geom@k": lambda k, o: {f"Geom@{k}": geom(k, *o.powers)},
    "Geom_ds@k": lambda k, o: {f"Geom_ds@{k}": geom_ds(k, *o.powers)},
    "GeoSpectrum@k": lambda k, o: {f"GeoSpectrum@{k}": geo_spectrum(k, o.lam, o.weights)},
    "Spectrum@k": lambda k, o: {f"Spectrum@{k}": spectrum(k, o.weights)},
}
"""The scores of one number of draws that a name stands for, and their keys."""


def named(
    names: Iterable[str], draws: Iterable[int], options: Options
) -> dict[str, Score | Credits]:
    """The scores of these names for these numbers of draws, by their keys."""
    draws = [*draws]
    scores = [NAMED[name](k, options) for name in names for k in draws]
    return {key: score for each in scores for key, score in each.items()}
