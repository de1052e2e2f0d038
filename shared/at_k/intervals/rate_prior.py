"""The prior of success rates that scores of k > n are estimated with.

Such scores depend on rates below 1 / n, which n samples do not tell from 0. The prior is therefore
a distribution with few parameters, which the data extend to small rates: a share of unsolvable
questions with the rate 0, a share with the rate 1, and a Beta distribution for the others (a
Beta-binomial model with inflated zeros). Models without one of the shares, or both, are fitted by
maximum likelihood too, and averaged with Akaike's weights exp(-AIC / 2) (Burnham & Anderson 2002,
Model Selection and Multimodel Inference, 2.9): without evidence of unsolvable questions the Beta
distribution has the largest weight.

A few distinct rates are no Beta distribution. The averaged prior is therefore averaged once more,
with one that the EM algorithm adapts to the data, stopped early as in `prior`. Its weight is that
of a model with two more parameters and the nonparametric maximum of the likelihood (Kiefer &
Wolfowitz 1956).
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np

from .prior import LOG_ODDS_STEP, early_steps

_LEAST_SPREAD = LOG_ODDS_STEP**2  # variance of the log-odds, about, of the narrowest Beta
_MOST_SPREAD = 400.0
_MORE_PARAMETERS = 2  # that an adapted prior counts for
_FULL_STEPS = 200  # of the EM algorithm, which is then near its limit
_MOST_STEPS, _LONGEST_STEP, _CONVERGED = 60, 2.0, 1e-6  # of scoring
_TINY = 1e-300


def inflated_priors(
    likelihood: np.ndarray, multiplicity: np.ndarray, log_odds: np.ndarray
) -> np.ndarray:
    """(B, J) priors of B groups over rates, the first of which is 0 and the last 1.

    Args:
        likelihood: (U, J) probability of each distinct count at each rate.
        multiplicity: (B, U) number of questions with each.
        log_odds: (J - 2,) of the rates between.
    """
    total = multiplicity.sum(axis=1, keepdims=True)
    models = [
        _Model(likelihood, multiplicity / total, log_odds, shares).fit()
        for size in range(3)
        for shares in itertools.combinations((0, 1), size)
    ]
    criterion = np.array([total[:, 0] * x.loss + x.number for x in models])
    weights = np.exp(criterion.min(axis=0) - criterion)[:, :, None]
    averaged = sum(w * x.prior for w, x in zip(weights, models, strict=True)) / weights.sum(axis=0)
    early = np.array([[early_steps(float(number))] for number in total[:, 0]])
    full = adapted = moved = averaged
    for step in range(max(_FULL_STEPS, early.max())):
        moved = _em_step(likelihood, multiplicity / total, moved)
        full = moved if step < _FULL_STEPS else full
        adapted = np.where(step < early, moved, adapted)
    gain = np.log(_chances(full, likelihood)) - np.log(_chances(averaged, likelihood))
    gain = np.sum(multiplicity * gain, axis=1, keepdims=True)
    weight = 1 / (1 + np.exp(_MORE_PARAMETERS - gain))
    return weight * adapted + (1 - weight) * averaged


def _chances(prior: np.ndarray, likelihood: np.ndarray) -> np.ndarray:
    return np.maximum(prior @ likelihood.T, _TINY)


def _em_step(likelihood: np.ndarray, share: np.ndarray, prior: np.ndarray) -> np.ndarray:
    return prior * ((share / _chances(prior, likelihood)) @ likelihood)


class _Fitted(NamedTuple):
    """A model fitted to B groups.

    Attributes:
        loss: (B,) negative log-likelihood of a question.
        prior: (B, J).
        number: of parameters.
    """

    loss: np.ndarray
    prior: np.ndarray
    number: int


class _Model:
    """A Beta distribution with shares at some ends, for B groups.

    The parameters are the logit of the mean of the Beta distribution with a and b, the logarithm of
    1 / a + 1 / b, and for each share the logarithm of its ratio to that of the Beta distribution.

    Args:
        likelihood: (U, J).
        share: (B, U) of the questions with each count.
        log_odds: (J - 2,) of the rates between 0 and 1.
        ends: where there are shares, 0 for the rate 0 and 1 for the rate 1.
    """

    def __init__(
        self,
        likelihood: np.ndarray,
        share: np.ndarray,
        log_odds: np.ndarray,
        ends: tuple[int, ...],
    ):
        self._likelihood, self._share, self._ends = likelihood, share, ends
        self._log_rates = -np.logaddexp(0, -log_odds), -np.logaddexp(0, log_odds)
        least, most = math.log(_LEAST_SPREAD), math.log(_MOST_SPREAD)
        self._least = np.array([-14.0, least] + [-12.0] * len(ends))
        self._most = np.array([14.0, most] + [8.0] * len(ends))

    def fit(self) -> _Fitted:
        """The maximum of the likelihood, from one start or two."""
        fits = [self._scored(self._start(taken)) for taken in ((0.1, 0.9) if self._ends else (0,))]
        loss, prior = fits[0]
        for other_loss, other_prior in fits[1:]:
            prior = np.where((other_loss < loss)[:, None], other_prior, prior)
            loss = np.minimum(loss, other_loss)
        return _Fitted(loss, prior, len(self._least))

    def _start(self, taken: float) -> np.ndarray:
        """(B, p) parameters by moments, if shares take so much of the questions at their ends."""
        rates = np.concatenate([[0.0], np.exp(self._log_rates[0]), [1.0]])
        best = rates[self._likelihood.argmax(axis=1)]
        weights, ratios = self._share.copy(), []
        for end in self._ends:
            ratios.append(taken * weights[:, best == end].sum(axis=1))
            weights[:, best == end] *= 1 - taken
        rest = np.maximum(weights.sum(axis=1), 1e-6)
        mean = np.clip(weights @ best / rest, 1e-3, 1 - 1e-3)
        variance = np.maximum(weights @ best**2 / rest - mean**2, 1e-6)
        size = np.maximum(mean * (1 - mean) / variance - 1, 0.05)
        spread = -np.log(size * mean * (1 - mean))
        logs = [np.log(np.maximum(ratio, 1e-4) / rest) for ratio in ratios]
        start = np.column_stack([np.log(mean / (1 - mean)), spread, *logs])
        return np.clip(start, self._least, self._most)

    def _scored(self, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(B,) losses and (B, J) priors at the maximum that Fisher's scoring finds.

        The information is that of the observed questions (Berndt et al. 1974), and damped as by
        Levenberg and Marquardt.
        """
        at, damping = start, np.full(len(start), 0.1)
        loss, prior, slopes = self._evaluate(at)
        is_done = np.zeros(len(start), bool)  # so that a group does not depend on the others
        for _ in range(_MOST_STEPS):
            gradient = np.einsum("bu,bup->bp", self._share, slopes)
            information = np.einsum("bu,bup,buq->bpq", self._share, slopes, slopes)
            diagonal = np.einsum("bpp->bp", information)
            diagonal *= 1 + damping[:, None]
            diagonal += 1e-9
            step = np.linalg.solve(information, gradient[:, :, None])[:, :, 0]
            step *= np.minimum(1, _LONGEST_STEP / np.maximum(np.abs(step).max(axis=1), 1e-9))[
                :, None
            ]
            moved = np.clip(at + step, self._least, self._most)
            other_loss, other_prior, other_slopes = self._evaluate(moved)
            is_less = (other_loss < loss) & ~is_done
            gain = np.where(is_less, loss - other_loss, 0.0)
            at = np.where(is_less[:, None], moved, at)
            prior = np.where(is_less[:, None], other_prior, prior)
            slopes = np.where(is_less[:, None, None], other_slopes, slopes)
            loss = np.where(is_less, other_loss, loss)
            is_done |= np.where(is_less, gain < _CONVERGED, damping > 1e6)
            damping = np.where(is_less, damping / 4, damping * 8)
            if is_done.all():
                break
        return loss, prior

    def _evaluate(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(B,) losses, (B, J) priors, and (B, U, p) slopes of the log-likelihood of each count."""
        beta, scores = self._beta(at)
        ratios = np.exp(at[:, 2:])
        whole = 1 + ratios.sum(axis=1, keepdims=True)
        prior, shares = beta / whole, ratios / whole
        for i, end in enumerate(self._ends):
            prior[:, -end] += shares[:, i]
        chances = _chances(prior, self._likelihood)
        slopes = [(beta / whole * score) @ self._likelihood.T / chances for score in scores]
        for i, end in enumerate(self._ends):
            slopes.append(shares[:, i, None] * (self._likelihood[:, -end] / chances - 1))
        return -np.sum(self._share * np.log(chances), axis=1), prior, np.stack(slopes, axis=2)

    def _beta(self, at: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        """(B, J) Beta distributions, and the slopes of their logarithms by both parameters.

        What is below the smallest rate counts as 0, and what is above the largest as 1.
        """
        mean = 1 / (1 + np.exp(-at[:, :1]))
        a, b = np.exp(-at[:, 1:2]) / (1 - mean), np.exp(-at[:, 1:2]) / mean
        log_rate, log_rest = (np.concatenate([[x[0]], x, [x[-1]]]) for x in self._log_rates)
        log_weight = a * log_rate + b * log_rest
        by_a, by_b = (np.tile(x, (len(at), 1)) for x in (log_rate, log_rest))
        for size, end, by_size in ((a, 0, by_a), (b, -1, by_b)):
            tail = -size * LOG_ODDS_STEP / 2 - np.log(size * LOG_ODDS_STEP)
            log_weight[:, end] += tail[:, 0]
            by_size[:, end] -= (LOG_ODDS_STEP / 2 + 1 / size)[:, 0]
        beta = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
        beta /= beta.sum(axis=1, keepdims=True)
        scores = [a * mean * by_a - b * (1 - mean) * by_b, -a * by_a - b * by_b]
        return beta, [score - np.sum(beta * score, axis=1, keepdims=True) for score in scores]
