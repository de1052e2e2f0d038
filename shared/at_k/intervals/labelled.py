"""The rates of a checker from labels, and intervals that account for how few labels there are.

A person labels some of the samples, chosen without regard to what the checker says. Of those that
are correct the checker calls a share t correct, and of the others a share f. Each rate has the
limits of Jeffreys' interval (Brown, Cai & DasGupta 2001, Statistical Science 16, 101).

Let S be the estimate of a score with both rates estimated, and S - x and S + y the limits that
hold for known rates. As t moves to its limits, S moves by at most a downwards and b upwards, and as
f moves, by at most c and d. The errors of all three are independent, so the interval extends from S
downwards by sqrt(x^2 + a^2 + c^2) and upwards by sqrt(y^2 + b^2 + d^2) (Zou & Donner 2008,
Statistics in Medicine 27, 1693).

An estimate is unbiased, and may lie outside of the range of its score. Limits are clipped to it.

Suppose that the labelled samples are a share s of those that are scored. A chance error of the
checker on one of them then moves both S and the estimated rate, and the moves cancel in part. With
N incorrect samples, sN of them labelled, f(1 - f) / N is the covariance of the rate that S sees and
the estimated one. The squares a^2, .., d^2 are then multiplied by 1 - 2s, or by 0 if that is
negative.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np

from ..core.checks import check_count
from ..core.counts import BinaryCounts
from ..core.interval import Interval, IntervalMethod, normal_z
from ..core.samples import Samples, require_binary
from ..core.score import ScoreKey, Scores
from ..scores.aligned import read_aligned
from ..scores.checker_rates import NO_ERRORS, CheckerRates, check_rates

CONFIDENCE_OF_RATES = 0.95
"""With which labels have to show that a checker is better than chance."""

_CONTRADICTION = 3.0  # standard deviations by which samples contradict the rates

_LABEL_COUNTS = ("tp", "fn", "fp", "tn")

_Limits = tuple[float, float]


class LabelCounts(NamedTuple):
    """Labelled samples by what the person and the checker say.

    Attributes:
        tp, fn: correct samples that the checker calls correct and incorrect.
        fp, tn: incorrect samples that the checker calls correct and incorrect.
        share: of the samples that are scored, those that are labelled. 0 for labels of others.
    """

    tp: float
    fn: float
    fp: float
    tn: float
    share: float = 0.0

    @classmethod
    def expected(cls, labels: int, rates: CheckerRates, correct: float) -> LabelCounts:
        """The expected counts of labels, where a share `correct` of the samples is correct."""
        (t, f), incorrect = rates, 1 - correct
        shares = (t * correct, (1 - t) * correct, f * incorrect, (1 - f) * incorrect)
        return cls(*(labels * share for share in shares))

    @property
    def number(self) -> int:
        """The number of labelled samples."""
        return round(sum(self[:4]))

    @property
    def rates(self) -> CheckerRates:
        """The estimated rates of the checker."""
        return CheckerRates(self.tp / (self.tp + self.fn), self.fp / (self.fp + self.tn))

    def limits(self, confidence: float) -> tuple[_Limits, _Limits]:
        """The limits of the true-positive and of the false-positive rate."""
        return (
            jeffreys_limits(self.tp, self.fn, confidence),
            jeffreys_limits(self.fp, self.tn, confidence),
        )

    @property
    def show_use(self) -> bool:
        """Whether they show that the checker is better than chance."""
        (least, _), (_, most) = self.limits(CONFIDENCE_OF_RATES)
        return least > most

    def require_use(self) -> LabelCounts:
        """Return the counts; raise a ValueError unless they show that the checker is of use."""
        number, correct = self.number, self.tp + self.fn
        if correct in (0, number):
            which = "correct" if correct else "incorrect"
            labelled = f"{number} samples, all of them {which}" if number else "no labelled sample"
            raise ValueError(
                f"labels has {labelled}: the rates of a checker need labels of correct and of "
                f"incorrect samples."
            )
        if not self.show_use:
            t, f = self.rates
            raise ValueError(
                f"labels do not show that the checker is better than chance: of {correct} correct "
                f"samples it calls {t:.0%} correct, and of {number - correct} incorrect ones "
                f"{f:.0%}. Label more samples."
            )
        return self


def jeffreys_limits(successes: float, failures: float, confidence: float) -> _Limits:
    """Limits of a proportion: quantiles of its posterior under Jeffreys' prior."""
    from scipy.special import betaincinv  # imported here, because it takes longer than all of at_k

    tail = (1 - confidence) / 2
    lo, hi = betaincinv(successes + 0.5, failures + 0.5, [tail, 1 - tail]).tolist()
    return lo if successes else 0.0, hi if failures else 1.0


def check_errors(checker_rates, labels) -> bool:
    """Return whether scores are to be corrected for the errors of a checker.

    Args:
        checker_rates: its true-positive and false-positive rate, or None.
        labels: labels of samples in the form of the samples, a dict of counts, or None.

    Raises:
        ValueError: if the rates are invalid, or given beside labels.
    """
    if checker_rates is None:
        return labels is not None
    check_rates(checker_rates)
    if labels is not None:
        raise ValueError("checker_rates and labels are both given: labels estimate the rates.")
    return True


@dataclass(frozen=True)
class Errors:
    """The errors of a checker that scores are corrected for.

    Attributes:
        rates: known or estimated.
        labels: what they are estimated from, or None if they are known.
    """

    rates: CheckerRates = NO_ERRORS
    labels: LabelCounts | None = None

    @classmethod
    def of_options(cls, checker_rates, labels, graded: Samples | None) -> Errors:
        """Return the errors that the parameters of a metric state, after `check_errors`.

        Args:
            checker_rates, labels: see `check_errors`.
            graded: what the checker says of each sample; None if only counts of that are left.

        Raises:
            ValueError: if the labels are invalid, or too few.
        """
        if labels is None:
            return cls(check_rates(checker_rates))
        counts = count_labels(labels, graded).require_use()
        return cls(counts.rates, counts)

    def warn_if_contradicted(self, counts: BinaryCounts) -> None:
        """Warn if no success rates explain how many samples are called correct."""
        (t, f), samples = self.rates, int(counts.n.sum())
        if self.labels is not None:
            (_, t), (f, _) = self.labels.limits(CONFIDENCE_OF_RATES)
        share = float(counts.c.sum()) / samples
        for rate, excess, name in ((t, share - t, "true"), (f, f - share, "false")):
            if excess > _CONTRADICTION * math.sqrt(rate * (1 - rate) / samples):
                warnings.warn(
                    f"{share:.1%} of the samples are called correct, which the {name}-positive "
                    f"rate of the checker, {rate:.1%}, does not allow: it was measured on other "
                    f"samples, or errors are not independent. The corrected scores are not valid.",
                    stacklevel=2,
                )

    def described(self) -> dict[str, float]:
        """The rates, and if they are estimated their limits and the number of labels."""
        t, f = self.rates
        if self.labels is None:
            return {"true_positive_rate": t, "false_positive_rate": f}
        (t_lo, t_hi), (f_lo, f_hi) = self.labels.limits(CONFIDENCE_OF_RATES)
        return {
            "true_positive_rate": t,
            "true_positive_rate_lo": t_lo,
            "true_positive_rate_hi": t_hi,
            "false_positive_rate": f,
            "false_positive_rate_lo": f_lo,
            "false_positive_rate_hi": f_hi,
            "labels": self.labels.number,
        }

    def widened(
        self,
        method: IntervalMethod,
        points: Scores,
        under: Callable[[CheckerRates], Scores],
        weights: np.ndarray | None = None,
    ) -> IntervalMethod:
        """Return the method of intervals, widened by the uncertainty of estimated rates.

        Args:
            method: of the intervals if the rates were known.
            points: the estimates.
            under: the estimates under other rates.
            weights: (M,) of the questions, or None if they are equal.
        """
        if self.labels is None:
            return method
        return LabelledIntervals(method, points, cache(under), self.labels, weights)


def count_labels(labels, graded: Samples | None) -> LabelCounts:
    """Count labelled samples by what the person and the checker say.

    Raises:
        ValueError: if the labels are invalid, with the question and the sample.
    """
    if isinstance(labels, Mapping):
        if sorted(labels) != sorted(_LABEL_COUNTS):
            raise ValueError(
                f"labels has the keys {', '.join(map(str, labels))}: counts of labels have the "
                f"keys {', '.join(_LABEL_COUNTS)}."
            )
        for name, count in labels.items():
            check_count(f"labels[{name!r}]", count, "give a number of samples", least=0)
        tp, fn, fp, tn = (int(labels[name]) for name in _LABEL_COUNTS)
        return LabelCounts(tp, fn, fp, tn)
    if graded is None or graded.multiplicity is not None:
        raise ValueError(
            "labels go with samples in their order, and predictions are counts: give counts of "
            "labels, such as {'tp': 110, 'fn': 8, 'fp': 3, 'tn': 79}."
        )
    aligned = read_aligned(labels, "labels", graded.sizes)
    label, verdict = aligned.values, require_binary(graded).values
    aligned.require((label == 0) | (label == 1), "a label is 1 if the sample is correct, or else 0")
    is_compared = aligned.is_given & graded.is_scored
    tp, fn, fp, tn = (
        int(np.sum(is_compared & (label == a) & (verdict == b)))
        for a, b in [(1, 1), (1, 0), (0, 1), (0, 0)]
    )
    return LabelCounts(tp, fn, fp, tn, share=(tp + fn + fp + tn) / int(graded.n.sum()))


def success_rates(
    called_correct: Scores,
    method: IntervalMethod | None,
    errors: Errors,
    weights: np.ndarray | None = None,
) -> tuple[Scores, IntervalMethod | None]:
    """Return success rates, and the method of their intervals, or None.

    Args:
        called_correct: the rates of samples that are called correct.
        method: of their intervals, or None.
        errors: of the checker.
        weights: (M,) of the questions, or None if they are equal.
    """

    def under(rates: CheckerRates) -> Scores:
        return replace(called_correct, columns=rates.corrected(called_correct.columns))

    points = under(errors.rates)
    if method is None:
        return points, None
    return points, errors.widened(RateIntervals(method, errors.rates), points, under, weights)


class RateIntervals(IntervalMethod):
    """Intervals of success rates, from those of the rates of samples that are called correct."""

    def __init__(self, method: IntervalMethod, rates: CheckerRates):
        self._method, self._rates = method, rates

    def problem(self, questions: np.ndarray) -> str | None:
        return self._method.problem(questions)

    def for_groups(
        self, groups: Sequence[np.ndarray], confidence: float
    ) -> list[dict[ScoreKey, Interval]]:
        (t, f), corrected = self._rates, self._rates.corrected

        def in_range(limit: float) -> float:
            return min(1.0, max(0.0, corrected(limit)))

        return [
            {
                key: Interval(
                    corrected(mu),
                    sigma / (t - f),
                    in_range(lo),
                    in_range(hi),
                    name,
                )
                for key, (mu, sigma, lo, hi, name) in of_group.items()
            }
            for of_group in self._method.for_groups(groups, confidence)
        ]


class LabelledIntervals(IntervalMethod):
    """Intervals of scores that are corrected with rates estimated from labels.

    Args:
        method: of the intervals if the rates were known.
        points: the estimates.
        under: the estimates under other rates.
        labels: counts of labels.
        weights: (M,) of the questions, or None if they are equal.
    """

    def __init__(
        self,
        method: IntervalMethod,
        points: Scores,
        under: Callable[[CheckerRates], Scores],
        labels: LabelCounts,
        weights: np.ndarray | None = None,
    ):
        self._method, self._points, self._under, self._labels = method, points, under, labels
        self._weights = weights

    def problem(self, questions: np.ndarray) -> str | None:
        return self._method.problem(questions)

    def unidentified(self, questions: np.ndarray) -> Collection[ScoreKey]:
        return self._method.unidentified(questions)

    def covariance(self, questions: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        return self._method.covariance(questions, keys)

    def for_groups(
        self, groups: Sequence[np.ndarray], confidence: float
    ) -> list[dict[ScoreKey, Interval]]:
        known = self._method.for_groups(groups, confidence)
        return [
            self._wider(of_group, questions, confidence)
            for of_group, questions in zip(known, groups, strict=True)
        ]

    def _wider(
        self, known: dict[ScoreKey, Interval], questions: np.ndarray, confidence: float
    ) -> dict[ScoreKey, Interval]:
        center, z = self._points.over(questions, self._weights), normal_z(confidence)

        def under(rates: CheckerRates) -> np.ndarray:
            return np.array([*self._under(rates).over(questions, self._weights).values()])

        moves = moves_of_rates(self._labels, np.array([*center.values()]), under, confidence)
        moves_of = dict(zip(center, moves.T.tolist(), strict=True))
        result = {}
        for key, (mu, sigma, lo, hi, name) in known.items():
            (down, up), point = moves_of[key], center[key]
            below = math.hypot(max(point - lo, 0.0), down)
            above = math.hypot(max(hi - point, 0.0), up)
            lo, hi = (min(1.0, max(0.0, limit)) for limit in (point - below, point + above))
            result[key] = Interval(mu, math.hypot(sigma, (down + up) / 2 / z), lo, hi, name)
        return result


def moves_of_rates(
    labels: LabelCounts,
    points: np.ndarray,
    under: Callable[[CheckerRates], np.ndarray],
    confidence: float,
) -> np.ndarray:
    """(2, m) how far m scores may lie below and above their estimates, as rates are estimated.

    Args:
        labels: that the rates are estimated from.
        points: (m,) estimates.
        under: returns the (m,) estimates under other rates.
        confidence: of the limits of the rates.
    """
    (t, f), (limits_of_t, limits_of_f) = labels.rates, labels.limits(confidence)
    part, squares = math.sqrt(max(0.0, 1 - 2 * labels.share)), np.zeros((2, len(points)))
    for rates in [
        [CheckerRates(limit, f) for limit in limits_of_t],
        [CheckerRates(t, limit) for limit in limits_of_f],
    ]:
        moves = np.full((2, len(points)), [[-math.inf], [math.inf]])  # unless labels bound them
        if all(t > f for t, f in rates):
            moved = part * (np.array([under(limit) for limit in rates]) - points)
            moves = np.where(np.isfinite(moved).all(axis=0), moved, moves)
        squares += np.minimum(moves.min(axis=0), 0) ** 2, np.maximum(moves.max(axis=0), 0) ** 2
    return np.sqrt(squares)
