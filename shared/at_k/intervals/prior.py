"""The prior over a grid of distributions, estimated from the counts of a run.

A group has M questions with U distinct counts. The grid has J distributions, and a model p
parameters. n is the number of samples of a question.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

LOG_ODDS_STEP = 0.15  # step of the grids
_FITTING = 4.0  # largest likelihood ratio statistic of priors that fit: two standard errors
# The range of 1 / a + 1 / b, which is about the variance of log-odds under the Beta distribution.
_LEAST_SPREAD, _MOST_SPREAD = LOG_ODDS_STEP**2, 400.0
_MORE_PARAMETERS = 2  # The adapted prior counts as so many parameters more.
_IMPROBABLE = 1e-12  # likelihood of a count divided by its largest one
_FULL_STEPS = 200  # After so many steps, the EM algorithm is near its limit.


class Observed(NamedTuple):
    """Counts of a group: (U,) numbers of samples, (U, J) likelihoods, and (U,) multiplicities."""

    n: np.ndarray
    likelihood: np.ndarray
    multiplicity: np.ndarray

    def estimates(
        self, start: np.ndarray, log_rates: Sequence[np.ndarray], mean: float, between: float
    ) -> list[dict[int, np.ndarray]]:
        """Return one or two estimates of the prior, each in parts {n: (J,)} as from `last_step`.

        The first is from EM steps from `start`, (J,), the prior under which rates are uniform. The
        second is one EM step from the Beta distribution with this mean and variance `between`. It
        is left out if its likelihood is much smaller. `log_rates`, (2, J), has log(rate) and
        log(1 - rate).
        """
        first = self.estimated_prior(start)
        second = self.last_step(self._beta_prior(start, log_rates, mean, between))
        log_likelihoods = [
            self.multiplicity @ np.log(_probabilities(whole_prior(estimate), self.likelihood))
            for estimate in (first, second)
        ]
        loss = log_likelihoods[0] - log_likelihoods[1]
        return [first, second] if 2 * loss <= _FITTING else [first]

    def estimated_prior(self, start: np.ndarray) -> dict[int, np.ndarray]:
        """Return the prior after T = `early_steps` EM steps from `start`, (J,), in parts {n: (J,)}.

        Its limit is the nonparametric maximum likelihood estimate (Kiefer & Wolfowitz 1956; Laird
        1978), which has a few atoms. After T steps, a question without a correct sample keeps
        success rates of the order 1 / (n T), so no variance is estimated as 0.
        """
        questions = self.multiplicity.sum()
        share, steps = self.multiplicity / questions, early_steps(questions)
        return self.last_step(_em_steps(self.likelihood, share, start, steps - 1))

    def last_step(self, prior: np.ndarray) -> dict[int, np.ndarray]:
        """Return the (J,) prior after one more EM step, in parts by n, {n: (J,)}."""
        share = self.multiplicity / self.multiplicity.sum()
        weights = share / _probabilities(prior, self.likelihood)
        return {
            size: prior * (weights[self.n == size] @ self.likelihood[self.n == size])
            for size in np.unique(self.n).tolist()
        }

    def _beta_prior(
        self, start: np.ndarray, log_rates: Sequence[np.ndarray], mean: float, between: float
    ) -> np.ndarray:
        """Return a prior under which rates are Beta distributed with this mean and variance, (J,).

        Its standard deviation in log-odds is at least a step of the grid. The prior `start` has the
        weight of one question in M + 1, so that no distribution is excluded.
        """
        questions, samples = self.multiplicity.sum(), self.multiplicity @ self.n
        mean = min(max(mean, 1 / (samples + 2)), 1 - 1 / (samples + 2))
        most = mean * (1 - mean)
        size = most / min(max(between, (most * LOG_ODDS_STEP) ** 2), 0.999 * most) - 1
        log_density = (size * mean - 1) * log_rates[0] + (size * (1 - mean) - 1) * log_rates[1]
        beta = start * np.exp(log_density - log_density.max())
        return (questions * beta / beta.sum() + start) / (questions + 1)


def early_steps(questions: float) -> int:
    """Return the number of EM steps for M `questions`: 2 sqrt(M), and at least 20."""
    return max(20, int(2 * math.sqrt(questions)))


def whole_prior(priors: Mapping[int, np.ndarray]) -> np.ndarray:
    """Return the sum of the parts of a prior, {n: (J,)}, which is the prior for all n, (J,)."""
    return np.sum([*priors.values()], axis=0)


def _em_steps(
    likelihood: np.ndarray, share: np.ndarray, prior: np.ndarray, steps: int
) -> np.ndarray:
    """Return the (J,) prior after `steps` EM steps. `share`, (U,), has the share of each count."""
    relative = likelihood / np.maximum(likelihood.max(axis=1, keepdims=True), 1e-300)
    # Distributions under which all counts are improbable would get no share, but take time.
    kept = relative.max(axis=0) > _IMPROBABLE
    relative, kept_prior = relative[:, kept], prior[kept]
    for _ in range(steps):
        kept_prior = kept_prior * ((share / _probabilities(kept_prior, relative)) @ relative)
    result = np.zeros_like(prior)
    result[kept] = kept_prior
    return result


def _probabilities(prior: np.ndarray, likelihood: np.ndarray) -> np.ndarray:
    """Return the probability of each count under a (J,) prior, (U,)."""
    # A count may be impossible up to rounding.
    return np.maximum(likelihood @ prior, 1e-300)


# --- Scores of k > n ----------------------------------------------------------------------


def inflated_prior(
    likelihood: np.ndarray, multiplicity: np.ndarray, log_odds: np.ndarray
) -> np.ndarray:
    """Return the prior of a group over J success rates from 0 to 1, both included, (J,).

    Scores of k > n depend on rates below 1 / n, which n samples do not tell from 0. So the prior
    has few parameters, which the data extend to small rates: a Beta distribution beside a share of
    questions with the rate 0, one with the rate 1, both or none. The fitted priors are averaged
    with Akaike's weights exp(-AIC / 2) (Burnham & Anderson 2002, Model Selection and Multimodel
    Inference, 2.9): without evidence of unsolvable questions the Beta distribution has most weight.

    A few distinct rates are no Beta distribution. So the result is averaged once more, with a prior
    that EM adapts to the data and stops early. Its weight is that of a model with two more
    parameters and the nonparametric maximum of the likelihood.

    `log_odds`, (J - 2,), are those of the rates between 0 and 1. Each multiplicity is above 0.
    """
    questions = float(multiplicity.sum())
    share = multiplicity / questions
    fits = [  # one for each subset of the rates 0 and 1
        _Model(likelihood, share, log_odds, ends).fit(questions)
        for size in range(3)
        for ends in itertools.combinations((0, 1), size)
    ]
    half_aic, priors = (np.array(x) for x in zip(*fits, strict=True))
    weights = np.exp(half_aic.min() - half_aic)
    averaged = weights @ priors / weights.sum()
    adapted = _em_steps(likelihood, share, averaged, early_steps(questions))
    converged = _em_steps(likelihood, share, averaged, _FULL_STEPS)
    before, after = (np.log(_probabilities(x, likelihood)) for x in (averaged, converged))
    gain = multiplicity @ (after - before)  # of log-likelihood
    weight = 1 / (1 + np.exp(_MORE_PARAMETERS - gain))
    return weight * adapted + (1 - weight) * averaged


class _Model:
    """A prior that mixes a Beta distribution with shares of the rates `ends`: 0, 1, both or none.

    The p parameters are the logit of the mean a/(a+b) and log(1/a + 1/b) of the Beta distribution,
    and for each end the logarithm of its share over that of the Beta distribution.
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

    def fit(self, questions: float) -> tuple[float, np.ndarray]:
        """Return AIC / 2 and the (J,) prior, both at the maximum likelihood of M `questions`."""
        from scipy.optimize import minimize  # imported here: it takes longer than all of at_k

        # With a share of the rate 0 or 1, the likelihood may have two local maxima. So the search
        # starts with 10 % and with 90 % of the questions that such a rate suits best.
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
        prior, _ = self._prior_and_slopes(best.x)
        # AIC / 2 is minus the log-likelihood, of which `fun` is the mean, plus p parameters.
        return questions * float(best.fun) + len(best.x), prior

    def loss_and_gradient(self, at: np.ndarray) -> tuple[float, np.ndarray]:
        """Return minus the mean log-likelihood at (p,) parameters, and its derivatives, (p,)."""
        prior, slopes = self._prior_and_slopes(at)
        chances = _probabilities(prior, self._likelihood)
        loss = -float(self._share @ np.log(chances))
        return loss, -(self._share / chances) @ self._likelihood @ slopes

    def _start(self, taken: float) -> np.ndarray:
        """Return the (p,) parameters to start from, estimated by moments.

        Of the questions whose most probable rate is an end, the part `taken` is its share.
        """
        rates = np.concatenate([[0.0], np.exp(self._log_rates[0]), [1.0]])
        best = rates[self._likelihood.argmax(axis=1)]
        weights, ratios = self._share.copy(), []
        for end in self._ends:
            ratios.append(max(taken * weights[best == end].sum(), 1e-4))
            weights[best == end] *= 1 - taken
        beta_share = max(weights.sum(), 1e-6)
        mean = min(max(weights @ best / beta_share, 1e-3), 1 - 1e-3)
        variance = max(weights @ best**2 / beta_share - mean**2, 1e-6)
        size = max(mean * (1 - mean) / variance - 1, 0.05)
        spread = -math.log(size * mean * (1 - mean))
        start = [math.log(mean / (1 - mean)), spread, *np.log(ratios) - math.log(beta_share)]
        return np.clip(start, *self._bounds.T)

    def _prior_and_slopes(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the (J,) prior at (p,) parameters, and its derivatives by each, (J, p)."""
        beta, log_slopes = self._beta(at)
        ratios = np.exp(at[2:])
        beta, shares = beta / (1 + ratios.sum()), ratios / (1 + ratios.sum())
        ends = np.zeros((len(shares), len(beta)))
        ends[np.arange(len(shares)), [-end for end in self._ends]] = 1.0  # first or last rate
        prior = beta + shares @ ends
        return prior, np.vstack([beta * log_slopes, shares[:, None] * (ends - prior)]).T

    def _beta(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the Beta distribution on the grid, (J,), and slopes of its logarithm, (2, J).

        The rates 0 and 1 have the probabilities of all rates outside of the inner ones.
        """
        mean = 1 / (1 + math.exp(-at[0]))
        a, b = math.exp(-at[1]) / (1 - mean), math.exp(-at[1]) / mean
        by_a, by_b = (np.concatenate([x[:1], x, x[-1:]]) for x in self._log_rates)
        log_weight = a * by_a + b * by_b
        for size, end, by_size in ((a, 0, by_a), (b, -1, by_b)):  # integrals of exponential tails
            log_weight[end] -= size * LOG_ODDS_STEP / 2 + math.log(size * LOG_ODDS_STEP)
            by_size[end] -= LOG_ODDS_STEP / 2 + 1 / size
        beta = np.exp(log_weight - log_weight.max())
        beta /= beta.sum()
        log_slopes = np.array([a * mean * by_a - b * (1 - mean) * by_b, -a * by_a - b * by_b])
        return beta, log_slopes - (log_slopes @ beta)[:, None]
