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
    return np.array(
        [
            _inflated_prior(likelihood[numbers > 0], numbers[numbers > 0], log_odds)
            for numbers in multiplicity
        ]
    )


def _inflated_prior(
    likelihood: np.ndarray, multiplicity: np.ndarray, log_odds: np.ndarray
) -> np.ndarray:
    """(J,) the prior of one group."""
    questions = float(multiplicity.sum())
    share = multiplicity / questions
    fits = [
        _Model(likelihood, share, log_odds, ends).fit()
        for size in range(3)
        for ends in itertools.combinations((0, 1), size)
    ]
    criterion = np.array([questions * fit.loss + fit.parameters for fit in fits])
    weights = np.exp(criterion.min() - criterion)
    averaged = weights @ np.array([fit.prior for fit in fits]) / weights.sum()
    adapted = _em_steps(likelihood, share, averaged, early_steps(questions))
    full = _em_steps(likelihood, share, averaged, _FULL_STEPS)
    gain = np.log(_chances(full, likelihood)) - np.log(_chances(averaged, likelihood))
    weight = 1 / (1 + np.exp(_MORE_PARAMETERS - multiplicity @ gain))
    return weight * adapted + (1 - weight) * averaged


def _chances(prior: np.ndarray, likelihood: np.ndarray) -> np.ndarray:
    """(U,) the probability of each count."""
    return np.maximum(likelihood @ prior, _TINY)


def _em_steps(
    likelihood: np.ndarray, share: np.ndarray, prior: np.ndarray, steps: int
) -> np.ndarray:
    for _ in range(steps):
        prior = prior * ((share / _chances(prior, likelihood)) @ likelihood)
    return prior


class _Fitted(NamedTuple):
    """A model of maximum likelihood.

    Attributes:
        loss: negative log-likelihood of a question.
        prior: (J,).
        parameters: their number.
    """

    loss: float
    prior: np.ndarray
    parameters: int


class _Model:
    """A Beta distribution with shares at some ends.

    The parameters are the logit of the mean of the Beta distribution with a and b, the logarithm of
    1 / a + 1 / b, and for each share the logarithm of its ratio to that of the Beta distribution.

    Args:
        likelihood: (U, J).
        share: (U,) of the questions with each count.
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
        spread = math.log(_LEAST_SPREAD), math.log(_MOST_SPREAD)
        self._bounds = np.array([(-14.0, 14.0), spread] + [(-12.0, 8.0)] * len(ends))

    def fit(self) -> _Fitted:
        """The maximum of the likelihood, from one start or two."""
        from scipy.optimize import minimize  # imported here: it takes longer than all of at_k

        fits = [
            minimize(
                self.loss_and_gradient,
                self._start(taken),
                method="TNC",
                jac=True,
                bounds=self._bounds,
                options={"ftol": 1e-8},
            )
            for taken in ((0.1, 0.9) if self._ends else (0.0,))
        ]
        best = min(fits, key=lambda fit: fit.fun)
        return _Fitted(float(best.fun), self._prior_and_slopes(best.x)[0], len(best.x))

    def loss_and_gradient(self, at: np.ndarray) -> tuple[float, np.ndarray]:
        """The loss at (p,) parameters, and its derivatives."""
        prior, slopes = self._prior_and_slopes(at)
        chances = _chances(prior, self._likelihood)
        loss = -float(self._share @ np.log(chances))
        return loss, -(self._share / chances) @ self._likelihood @ slopes

    def _start(self, taken: float) -> np.ndarray:
        """(p,) parameters by moments, if shares take so much of the questions at their ends."""
        rates = np.concatenate([[0.0], np.exp(self._log_rates[0]), [1.0]])
        best = rates[self._likelihood.argmax(axis=1)]
        weights, ratios = self._share.copy(), []
        for end in self._ends:
            ratios.append(max(taken * weights[best == end].sum(), 1e-4))
            weights[best == end] *= 1 - taken
        rest = max(weights.sum(), 1e-6)
        mean = min(max(weights @ best / rest, 1e-3), 1 - 1e-3)
        variance = max(weights @ best**2 / rest - mean**2, 1e-6)
        size = max(mean * (1 - mean) / variance - 1, 0.05)
        spread = -math.log(size * mean * (1 - mean))
        start = [math.log(mean / (1 - mean)), spread, *np.log(ratios) - math.log(rest)]
        return np.clip(start, *self._bounds.T)

    def _prior_and_slopes(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(J,) the prior, and (J, p) its derivatives by the parameters."""
        beta, scores = self._beta(at)
        ratios = np.exp(at[2:])
        beta, shares = beta / (1 + ratios.sum()), ratios / (1 + ratios.sum())
        ends = np.zeros((len(shares), len(beta)))
        ends[np.arange(len(shares)), [-end for end in self._ends]] = 1.0
        prior = beta + shares @ ends
        return prior, np.vstack([beta * scores, shares[:, None] * (ends - prior)]).T

    def _beta(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(J,) the Beta distribution, and (2, J) the slopes of its logarithm by its parameters.

        What is below the smallest rate counts as 0, and what is above the largest as 1.
        """
        mean = 1 / (1 + math.exp(-at[0]))
        a, b = math.exp(-at[1]) / (1 - mean), math.exp(-at[1]) / mean
        by_a, by_b = (np.concatenate([x[:1], x, x[-1:]]) for x in self._log_rates)
        log_weight = a * by_a + b * by_b
        for size, end, by_size in ((a, 0, by_a), (b, -1, by_b)):
            log_weight[end] -= size * LOG_ODDS_STEP / 2 + math.log(size * LOG_ODDS_STEP)
            by_size[end] -= LOG_ODDS_STEP / 2 + 1 / size
        beta = np.exp(log_weight - log_weight.max())
        beta /= beta.sum()
        scores = np.array([a * mean * by_a - b * (1 - mean) * by_b, -a * by_a - b * by_b])
        return beta, scores - (scores @ beta)[:, None]
