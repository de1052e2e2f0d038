"""The differences between runs on the same questions, with intervals that may cover together.

Let A and B be the scores of two runs, with the intervals A - x_lo .. A + x_hi and
B - y_lo .. B + y_hi. The interval of B - A extends upwards by

    sqrt(y_hi^2 + x_lo^2 - 2 r y_hi x_lo),

and downwards by the same expression of y_lo and x_hi. This is the variance of a difference, applied
to the limits that bound it, so the interval is skewed as they are and stays within the range of
differences (Newcombe 1998, Statistics in Medicine 17, 873 and 2635; Zou & Donner 2008, ibid. 27,
1693). New samples of the same questions are independent, so r = 0. For new questions, r is the
correlation of the scores over questions, or over clusters of questions: a question may be hard for
both runs.

The p-value of a difference is the smallest miscoverage at which its interval excludes 0.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from ..intervals.band import path_angles
from .measure import Measured
from .multiplicity import Multiplicity

_LARGEST_Z, _HALVINGS = 8.0, 26


class Differences:
    """The differences b - a between all pairs of K runs, for m scores of each.

    Args:
        runs: the scores of the runs.
        new_questions: whether the questions are new too, and so the runs are paired by question.
        width: size of the range of the scores.

    Attributes:
        pairs: (P, 2) the indices of a and b.
        values: (P, m) the differences.
        multiplicity: simultaneous inference about all of them.
    """

    def __init__(self, runs: Sequence[Measured], new_questions: bool, width: float):
        self._runs = runs
        self.pairs = np.array([*itertools.combinations(range(len(runs)), 2)])
        a, b = self.pairs.T
        estimates = np.array([run.estimates for run in runs])
        self.values = estimates[b] - estimates[a]
        self._correlation = np.zeros(self.values.shape)
        angles = []
        for pair, (run_a, run_b) in enumerate((runs[i], runs[j]) for i, j in self.pairs.tolist()):
            of_samples = None
            if run_a.of_samples is not None and run_b.of_samples is not None:
                of_samples = run_a.of_samples + run_b.of_samples
            if new_questions:
                # Where samples show no variation, 2 stands for one question that only a answers and
                # one that only b does.
                least = 2.0 * width**2 if of_samples is None else np.diag(of_samples)
                self._correlation[pair] = _correlation(run_a.deviations, run_b.deviations, least)
                errors = run_b.deviations - run_a.deviations
                angles.append(path_angles(errors.T @ errors))
            else:
                assert of_samples is not None
                angles.append(path_angles(of_samples))
        self.multiplicity = Multiplicity(len(runs), np.array(angles), not new_questions)

    def limits(self, confidence: float) -> np.ndarray:
        """(2, P, m) lower and upper limits of the differences."""
        each = [self.limits_of(pair, confidence) for pair in range(len(self.pairs))]
        return np.stack(each, axis=1)

    def limits_of(self, pair: int, confidence: float) -> np.ndarray:
        """(2, m) lower and upper limits of the differences of a pair."""
        a, b = (self._runs[run] for run in self.pairs[pair])
        (lo_a, hi_a), (lo_b, hi_b) = a.limits(confidence), b.limits(confidence)
        r, difference = self._correlation[pair], self.values[pair]
        down = _length(b.estimates - lo_b, hi_a - a.estimates, r)
        up = _length(hi_b - b.estimates, a.estimates - lo_a, r)
        return np.stack([difference - down, difference + up])

    def simultaneous_limits(self, confidence: float) -> np.ndarray:
        """(2, P, m) limits that cover together, over all pairs and scores."""
        return self.limits(self.multiplicity.confidence_of_each(confidence))

    def of_all_runs(self, confidence: float) -> np.ndarray:
        """(2, K, K, m) lower and upper limits of each run minus each other run."""
        lo, hi = self.limits(confidence)
        a, b = self.pairs.T
        runs = len(self._runs)
        result = np.zeros((2, runs, runs, lo.shape[1]))
        result[:, b, a] = lo, hi
        result[:, a, b] = -hi, -lo
        return result

    def p_values(self) -> np.ndarray:
        """(K, K, m) p-values of the differences between each two runs, each by itself."""
        normal = NormalDist()
        p = np.ones((len(self._runs), len(self._runs), self.values.shape[1]))
        for pair, score in np.argwhere(self.values != 0).tolist():
            least, most = 0.0, _LARGEST_Z
            for _ in range(_HALVINGS):
                z = (least + most) / 2
                lo, hi = self.limits_of(pair, 1 - 2 * normal.cdf(-z))[:, score]
                least, most = (z, most) if lo > 0 or hi < 0 else (least, z)
            a, b = self.pairs[pair]
            p[a, b, score] = p[b, a, score] = 2 * normal.cdf(-least)
        return p


def _length(x: np.ndarray, y: np.ndarray, r: np.ndarray) -> np.ndarray:
    return np.sqrt(np.maximum(0.0, x * x + y * y - 2 * r * x * y))


def _correlation(a: np.ndarray, b: np.ndarray, least: np.ndarray | float) -> np.ndarray:
    """(m,) correlations of the scores of two runs over questions or clusters.

    A correlation is limited so that the difference varies at least as much as it does for new
    samples of the same questions.

    Args:
        a, b: (G, m) deviations.
        least: the smallest sum of squares of b - a, (m,).
    """
    square_a, square_b = np.sum(a * a, axis=0), np.sum(b * b, axis=0)
    most = np.maximum(square_a + square_b - least, 0.0) / 2
    size = np.sqrt(square_a * square_b)
    return np.minimum(np.sum(a * b, axis=0), most) / np.where(size > 0, size, 1.0)
