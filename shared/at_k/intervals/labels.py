"""The rates of a checker from the labels that a person gives to some samples.

Of the samples that the checker accepts, a share P is correct, and of the rejected ones a share F.
Labels estimate P and F, so they may be drawn by verdict (a stratified sample: Cochran 1977,
Sampling Techniques, 5.2).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..core.checks import check_count
from ..core.interval import normal_z
from ..core.questions import student_quantile
from ..core.samples import Samples, require_binary
from ..scores.aligned import read_aligned
from ..scores.checker_rates import CheckerRates

CONFIDENCE_OF_RATES = 0.95
"""The confidence with which labels have to show that a checker is better than chance."""

_DEPENDENT = 0.001  # Errors count as dependent if as many pairs are less probable than this.
_LABEL_COUNTS = ("tp", "fn", "fp", "tn")

_Limits = tuple[float, float]


class LabelledRun(NamedTuple):
    """How labels were drawn from a number of `samples`, a share of which the checker `accepted`.

    Labels of accepted and of rejected samples have design `effects`, 1 if they are drawn at random,
    and degrees of `freedom`. The errors of P and F have a `correlation`, not negative.
    """

    accepted: float
    samples: float
    effects: tuple[float, float] = (1.0, 1.0)
    freedom: tuple[float, float] = (math.inf, math.inf)
    correlation: float = 0.0


class LabelCounts(NamedTuple):
    """Numbers of labelled samples by the label and the verdict of the checker.

    They estimate P and F if the `run` that they belong to is known. Otherwise they estimate the
    rates t and f, which is valid if samples were labelled whatever the checker says of them.
    """

    tp: float
    fn: float
    fp: float
    tn: float
    run: LabelledRun | None = None

    @property
    def number(self) -> int:
        """Return the number of labelled samples."""
        return round(sum(self[:4]))

    @property
    def strata(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the (successes, failures) among the labels that estimate P and F, or t and f."""
        if self.run is None:
            return (self.tp, self.fn), (self.fp, self.tn)
        return (self.tp, self.fp), (self.fn, self.tn)

    @property
    def rates(self) -> CheckerRates:
        """Return the estimated rates of the checker. Rates that labels do not determine are NaN."""
        return self.rates_at(*(a / (a + b) if a + b else math.nan for a, b in self.strata))

    def rates_at(self, first: float, second: float) -> CheckerRates:
        """Return the rates (t, f) of the checker from `first` and `second`.

        These are t and f themselves if the run is not known. Otherwise they are P and F, the shares
        of correct samples among those accepted and among those rejected, and Bayes' theorem gives,
        with the share s of accepted samples:

            t = s P / (s P + (1 - s) F),    f = s (1 - P) / (s (1 - P) + (1 - s) (1 - F)).
        """
        if self.run is None:
            return CheckerRates(first, second)
        s = self.run.accepted
        correct, incorrect = s * first + (1 - s) * second, s * (1 - first) + (1 - s) * (1 - second)
        return CheckerRates(
            s * first / correct if correct else math.nan,
            s * (1 - first) / incorrect if incorrect else math.nan,
        )

    def moved_rates(self, confidence: float) -> list[list[CheckerRates]]:
        """Return the rates with P (or t) at its lower and upper limit, and those with F (or f)."""
        shares = [a / (a + b) for a, b in self.strata]
        lo, hi = zip(*self._limits_of_strata(confidence), strict=True)
        return [
            [self.rates_at(limit, shares[1]) for limit in (lo[0], hi[0])],
            [self.rates_at(shares[0], limit) for limit in (lo[1], hi[1])],
        ]

    def unlabelled(self) -> tuple[float, float]:
        """Return the shares of the variances of P and F, or t and f, due to unlabelled samples."""
        if self.run is None:
            return 1.0, 1.0
        shares = (self.run.accepted, 1 - self.run.accepted)
        # Finite population correction, with the effective number of labels, labels / effect.
        first, second = (
            max(0.0, 1 - sum(labels) / max(share * self.run.samples, 1e-9) / effect)
            for labels, share, effect in zip(self.strata, shares, self.run.effects, strict=True)
        )
        return first, second

    def limits(self, confidence: float) -> tuple[_Limits, _Limits]:
        """Return the (lower, upper) limits of the true-positive and of the false-positive rate.

        Labels of a `run` estimate P and F, on which both rates depend. The distance of a limit from
        a rate is the root of the sum of two squares: the changes of the rate as P, and as F, moves
        to its limit.
        """
        if self.run is None:
            return self._limits_of_strata(confidence)
        moved = np.array(self.moved_rates(confidence)) - self.rates  # (P or F, end, rate)
        moved = np.nan_to_num(moved, nan=1.0)  # 1 is the largest possible change of a rate.
        down = np.sqrt((np.minimum(moved.min(axis=1), 0) ** 2).sum(axis=0))
        up = np.sqrt((np.maximum(moved.max(axis=1), 0) ** 2).sum(axis=0))
        lo, hi = np.clip([self.rates - down, self.rates + up], 0.0, 1.0).tolist()
        return (lo[0], hi[0]), (lo[1], hi[1])

    def _limits_of_strata(self, confidence: float) -> tuple[_Limits, _Limits]:
        """Return the limits of P and of F, or of t and of f.

        They are those of Jeffreys' interval (Brown, Cai & DasGupta 2001, Statistical Science 16,
        101). Labels of G questions of the run count as (z / t')^2 / (design effect) times as many
        independent ones, where t' is the quantile of Student's distribution with G - 1 degrees of
        freedom (Korn & Graubard 1998, Survey Methodology 24, 193).
        """
        from scipy.special import betaincinv  # imported here: it takes longer than all of at_k

        limits, z, tail = [], normal_z(confidence), (1 - confidence) / 2
        for i, (successes, failures) in enumerate(self.strata):
            weight = 1.0
            if self.run is not None:
                t = student_quantile(self.run.freedom[i], 1 - confidence)
                weight = (z / t) ** 2 / self.run.effects[i]
            a, b = weight * successes, weight * failures
            lo, hi = betaincinv(a + 0.5, b + 0.5, [tail, 1 - tail]).tolist()
            limits.append((lo if successes else 0.0, hi if failures else 1.0))
        return limits[0], limits[1]

    def require_use(self) -> LabelCounts:
        """Return these counts. Raises ValueError if the checker may be no better than chance."""
        number, correct = self.number, self.tp + self.fn
        if correct in (0, number):
            which = "correct" if correct else "incorrect"
            labelled = f"{number} samples, all of them {which}" if number else "no labelled sample"
            raise ValueError(
                f"labels has {labelled}: the rates of a checker need labels of correct and of "
                f"incorrect samples."
            )
        (least, _), (_, most) = self._limits_of_strata(CONFIDENCE_OF_RATES)
        if least <= most or not all(map(sum, self.strata)):
            raise ValueError(
                f"labels do not show that the checker is better than chance: of {correct} correct "
                f"samples it calls {self.tp / correct:.0%} correct, and of {number - correct} "
                f"incorrect ones {self.fp / (number - correct):.0%}. Label more samples."
            )
        return self


# --- Counting -----------------------------------------------------------------------------


def count_labels(labels, graded: Samples | None) -> LabelCounts:
    """Return the numbers of labelled samples by the label and the verdict of the checker.

    `labels` are in the form of the samples, or a dict of counts, as they have to be if the verdicts
    `graded` are counts. Warns if errors of the checker depend on the question.
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
    if graded is None or graded.are_counts:
        raise ValueError(
            "labels go with samples in their order, and predictions are counts: give counts of "
            "labels, such as {'tp': 110, 'fn': 8, 'fp': 3, 'tn': 79}."
        )
    labelled = read_aligned(labels, "labels", graded.sizes)
    label, verdict = labelled.values, require_binary(graded).values
    labelled.require(
        (label == 0) | (label == 1), "a label is 1 if the sample is correct, or else 0"
    )
    question = np.repeat(np.arange(len(graded.sizes)), graded.sizes)
    is_labelled = labelled.is_scored & graded.is_scored
    warn_of_dependent_errors(question[is_labelled], label[is_labelled], verdict[is_labelled])
    cells = np.array(
        [
            np.bincount(question, is_labelled & (label == correct) & (verdict == accepted))
            for correct, accepted in [(1, 1), (1, 0), (0, 1), (0, 0)]
        ]
    )
    counts, (tp, fn, fp, tn) = graded.counts, cells.sum(axis=1).astype(int).tolist()
    return LabelCounts(tp, fn, fp, tn, _labelled_run(cells, counts.n, counts.c))


def _labelled_run(cells: np.ndarray, n: np.ndarray, c: np.ndarray) -> LabelledRun:
    """Return how labels were drawn, from the numbers tp, fn, fp, tn of each question, (4, M).

    Labels of whole questions are clusters. With the residuals r_g = (correct labels of question g)
    - P (labels of g), the variance of P is

        V = (1 - h) G / (G - 1) sum r_g^2 / a^2 + h P (1 - P) / a,

    for `a` labels of G questions, which are a share h of the questions with such samples (two-stage
    sampling: Cochran, 10.3). The design effect is V over the variance P (1 - P) / a of independent
    labels, and at its largest where P is 0 or 1.
    """
    correct, samples = cells[:2], np.stack([c, n - c])  # row 0: accepted samples, row 1: rejected
    labels = correct + cells[2:]
    number, questions = labels.sum(axis=1), np.count_nonzero(labels, axis=1)
    labelled_share = questions / np.maximum(np.count_nonzero(samples, axis=1), 1)
    p = correct.sum(axis=1) / np.maximum(number, 1)
    # Variances are those of the numbers of correct labels: of independent labels, of clusters.
    residuals, independent = correct - p[:, None] * labels, number * p * (1 - p)
    freedom = np.maximum(questions - 1.0, 1.0)
    clustered = questions / freedom * np.sum(residuals**2, axis=1)
    largest_effect = np.where(number, np.sum(labels**2, axis=1) / np.maximum(number, 1), 1.0)
    is_known = (independent > 0) & (questions > 1)
    effect = np.where(is_known, clustered / np.where(is_known, independent, 1.0), largest_effect)
    effects = (1 - labelled_share) * np.maximum(effect, 1.0) + labelled_share
    deviations = math.sqrt(np.prod(independent) * np.prod(effects))
    covariance = (1 - labelled_share.max()) * float(residuals[0] @ residuals[1])
    return LabelledRun(
        float(c.sum() / n.sum()),
        int(n.sum()),
        tuple(effects.tolist()),
        tuple(freedom.tolist()),
        min(max(covariance / deviations, 0.0), 1.0) if deviations else 0.0,
    )


def warn_of_dependent_errors(question: np.ndarray, label: np.ndarray, verdict: np.ndarray) -> None:
    """Warn if errors of the checker share questions more often than independent ones would.

    The arrays have the question's index, the true label and the checker's verdict, 0 or 1, of each
    labelled sample. The test counts pairs of errors in one question. If errors are independent, it
    takes this number as Poisson distributed.
    """
    from scipy.special import gammainc

    pairs, expected = 0.0, 0.0
    for true_label in (0, 1):
        has_label = label == true_label
        is_error = has_label & (verdict != true_label)
        sizes, errors = (np.bincount(question[mask]) for mask in (has_label, is_error))
        total, n_errors = float(sizes.sum()), float(errors.sum())
        pairs += float(np.sum(errors * (errors - 1))) / 2
        if total > 1:
            chance = n_errors * (n_errors - 1) / (total * (total - 1))  # that both of a pair err
            expected += float(np.sum(sizes * (sizes - 1))) / 2 * chance
    p_value = gammainc(pairs, expected) if pairs else 1.0  # P(at least so many pairs)
    if p_value < _DEPENDENT:
        warnings.warn(
            f"Errors of the checker on labelled samples come in {pairs:.0f} pairs of one question, "
            f"and {expected:.1f} are expected by chance: they depend on the question. The scores "
            f"with k > 1 are corrected as if errors were independent, so they are biased and their "
            f"limits are too narrow. Those with k = 1 are not.",
            stacklevel=2,
        )
