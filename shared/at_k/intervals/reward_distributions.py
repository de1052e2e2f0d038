"""How the rewards of a bank's questions are spread: a prior over laws, learned from the bank.

Of a law over the levels r_1 < .. < r_L, with F_l the probability of at most r_l, the best of k
samples has the mean r_L - sum over l < L of (r_(l+1) - r_l) F_l^k. Two sets A and B of j and k of n
samples share c of them, by the hypergeometric law, and

    P(best of A <= r_l, best of B <= r_m) = F_l^j E[F_m^(k-c)]  for l <= m,

from which all variances and covariances of the unbiased estimates follow, for any j, k <= n.

*Which laws there may be*: those whose log-odds of more than r_l are a b_l + d, where b_l are those
of all samples taken together, less their mean. So d says where a question is, and a how sharp it
is; of two levels it is a grid of success rates (that of `sampling`), of three it is every law. How
likely each is, a few steps of EM tell, from a start that is uniform in the mean reward, and about
as sharp as the samples are on average. They stop early, as in `sampling`, and for its reason.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import gammaln

from ..scores.rewards import Rewards

_FEW_LEVELS = 40  # levels that are kept as they are
_REWARD_BINS = (
    20  # of more: of equal shares of the samples, of the range, and ever fewer of the best
)
_LOCATION_STEP, _LOCATION_RANGE = (
    0.45,
    12.0,
)  # of d, on the scale of log-odds; a step of 0.15 for two levels
_OCTAVES = np.arange(-2, 3.1, 0.5)  # of a, around the average sharpness
_RARE = 1e-7  # of the likeliest law: laws rarer than that are left out
_MANY = 2000  # kinds of questions to learn from, and to work on at once
_ODDS = np.linspace(-25, 25, 2001)  # where the excess of an overlap is tabulated


class Levels:
    """The samples of each kind of question, by the level of their rewards.

    Args:
        rewards: of the bank. Of more than a few distinct ones, those close to each other are taken
            together, and their mean is the level.

    Attributes:
        levels: (L,) rewards, ascending.
        counts: (U, L) how many samples of each kind of question have that reward.
    """

    def __init__(self, rewards: Rewards):
        counts = np.diff(rewards.seen, axis=1, prepend=0)
        self._categories = rewards.levels.ndim == 1
        if self._categories:
            self.levels, self.counts = rewards.levels, counts
            return
        kinds, _ = np.nonzero(counts)
        times, values = counts[counts > 0], rewards.levels[counts > 0]
        self.levels, place = np.unique(values, return_inverse=True)
        if len(self.levels) > _FEW_LEVELS:
            shares, (low, high) = np.linspace(0, 1, _REWARD_BINS + 1), self.levels[[0, -1]]
            best = 1 - 0.5 ** np.arange(2, math.log2(times.sum()))  # which decide where k is large
            cuts = np.sort([*np.quantile(values, [*shares, *best]), *(low + shares * (high - low))])
            _, place = np.unique(np.searchsorted(cuts, values, "right"), return_inverse=True)
            weight = np.bincount(place, times)
            self.levels = np.bincount(place, times * (values - low)) / weight + low
        cell = kinds * len(self.levels) + place
        cells = len(counts) * len(self.levels)
        self.counts = np.bincount(cell, times, cells).astype(np.int64).reshape(len(counts), -1)

    def spread(self, questions: np.ndarray) -> Laws | None:
        """How (U,) questions of each kind are spread, or None where all rewards are the same."""
        counts = self.counts[questions > 0]
        held = counts.any(axis=0) | self._categories
        if held.sum() == 1:
            return None
        return Laws(self.levels[held], counts[:, held], questions[questions > 0])


class Laws:
    """The laws that questions may have, and how likely each is.

    Args:
        levels: (L,) rewards, ascending, of which there are two or more.
        counts: (U, L) samples of each kind of question by level.
        questions: (U,) how many questions there are of each kind.

    Attributes:
        scaled: (L,) the levels from 0 to 1, as which all moments take them.
        gaps: (L - 1,) between these.
        log_odds: (J, L - 1) of a reward above each level but the last, of each law.
        n: (U,) samples of each kind; where they differ by less than a factor of 2, their harmonic
            mean.
        priors: {n: (J,)} the learned prior, split by these; of sum 1 in all.
    """

    def __init__(self, levels: np.ndarray, counts: np.ndarray, questions: np.ndarray):
        self.levels, self.gaps = levels, np.diff(levels) / (levels[-1] - levels[0])
        self.scaled = np.append(0.0, np.cumsum(self.gaps))
        self.counts, self.questions = counts, questions
        self.n = _alike(counts.sum(axis=1), questions)
        log_odds, start = self._laws()
        some = slice(None, None, -(-len(counts) // _MANY))
        likelihood, n = _likelihood(log_odds, counts[some]), self.n[some]
        share = questions[some] / questions[some].sum()
        prior = before = start
        for _ in range(max(20, int(2 * math.sqrt(questions[some].sum())))):
            before, weight = prior, share / (likelihood @ prior)
            prior = before * (weight @ likelihood)
        kept = prior > _RARE * prior.max()
        self.log_odds = log_odds[kept]
        self.priors = {
            size: before[kept] * (weight[n == size] @ likelihood[n == size][:, kept])
            for size in np.unique(n).tolist()
        }

    @cached_property
    def surplus(self) -> float:
        """How much more samples vary than by the laws, at least 1.

        Of few questions the laws are too close to the samples, and of many levels there may be
        laws that none of these is near.
        """
        if len(self.gaps) == 1:  # where every law is there is, as in `sampling`
            return 1.0
        learned = best_covariance(self.log_odds, self.gaps, 1, 1, 1) @ self.prior
        return max(1.0, self._within / learned)

    @cached_property
    def prior(self) -> np.ndarray:
        """(J,) the learned prior."""
        return sum(self.priors.values(), np.zeros(len(self.log_odds)))

    def posterior_mean(self, values: np.ndarray) -> np.ndarray:
        """(U, m) of (J, m) values of the laws, the mean for each kind of question."""
        means = []
        for start in range(0, len(self.counts), _MANY):
            counts = self.counts[start : start + _MANY]
            weight = _likelihood(self.log_odds, counts) * self.prior
            means.append(weight @ values / weight.sum(axis=1, keepdims=True))
        return np.concatenate(means)

    def _laws(self) -> tuple[np.ndarray, np.ndarray]:
        """(J, L - 1) log-odds of each law, and (J,) what EM starts from."""
        total = self.questions @ self.counts + 0.5
        above = np.cumsum(total[::-1])[::-1][1:] / total.sum()
        base = np.log(above) - np.log1p(-above)
        base = base - self.gaps @ base
        few = len(base) == 1  # one threshold has no sharpness
        step, laws, start = _LOCATION_STEP / 3 if few else _LOCATION_STEP, [], []
        for octave in [0.0] if few else _OCTAVES:
            spread = self._sharpness() * 2**octave * base
            ends = [-_LOCATION_RANGE - spread.max(), _LOCATION_RANGE - spread.min()]
            d = step * np.arange(math.floor(ends[0] / step), math.ceil(ends[1] / step) + 1)
            laws.append(spread + d[:, None])
            weight = np.exp(-np.logaddexp(0, laws[-1]) - np.logaddexp(0, -laws[-1])) @ self.gaps
            # Half an octave is the standard deviation.
            start.append(math.exp(-2 * octave**2) * weight / weight.sum())
        weights = np.concatenate(start)
        return np.concatenate(laws), weights / weights.sum()

    def _sharpness(self) -> float:
        """How many times as far as the samples of one question those of all are spread."""
        n = self.counts.sum(axis=1)
        first, second = (self.questions @ (self.counts @ self.scaled**each) for each in (1, 2))
        overall = second / (self.questions @ n) - (first / (self.questions @ n)) ** 2
        return math.sqrt(min(max(overall / self._within, 1.0), 1024.0)) if self._within else 1.0

    @cached_property
    def _within(self) -> float:
        """The variance of a sample of one question, without bias; 0 where none is seen."""
        n, sums = self.counts.sum(axis=1), self.counts @ self.scaled
        squares = self.questions @ (self.counts @ self.scaled**2 - sums**2 / n)
        return squares / (self.questions @ (n - 1)) if squares > 1e-9 else 0.0


def _alike(n: np.ndarray, questions: np.ndarray) -> np.ndarray:
    octave = np.floor(np.log2(n)).astype(np.int64)
    inverse = np.bincount(octave, questions / n) / np.maximum(np.bincount(octave, questions), 1)
    return np.rint(1 / inverse[octave]).astype(np.int64)


def _likelihood(log_odds: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """(U, J) how likely the samples are by each law, of which the likeliest has 1."""
    below, above = -np.logaddexp(0, log_odds), -np.logaddexp(0, -log_odds)
    # Between two levels, F_l - F_(l-1) = F_l (1 - F_(l-1)) (1 - the quotient of the odds).
    apart = -np.expm1(np.minimum(np.diff(log_odds, axis=1), -1e-9))
    inner = below[:, 1:] + above[:, :-1] + np.log(apart)
    law = np.concatenate([below[:, :1], inner, above[:, -1:]], axis=1)
    log = counts @ law.T
    return np.exp(log - log.max(axis=1, keepdims=True))


# --- Moments of laws --------------------------------------------------------------------


def best_mean(log_odds: np.ndarray, gaps: np.ndarray, k: int) -> np.ndarray:
    """(..) the expected best of k of laws (.., L - 1), from 0 to 1 with gaps of sum 1."""
    return gaps.sum() - np.exp(-k * np.logaddexp(0, log_odds)) @ gaps


def best_covariance(log_odds: np.ndarray, gaps: np.ndarray, n: int, j: int, k: int) -> np.ndarray:
    """(..) of laws (.., L - 1), the covariance of the best of j and of k of the same n samples."""
    below = -np.logaddexp(0, log_odds)
    one, two = gaps * np.exp(j * below), gaps * np.exp(k * below)
    more = gaps * np.interp(log_odds, _ODDS, _excess(n, j, k))
    less = more if j == k else gaps * np.interp(log_odds, _ODDS, _excess(n, k, j))
    upper, lower = np.cumsum(one, axis=-1), np.cumsum(two, axis=-1) - two
    return (more * upper + less * lower).sum(axis=-1)


@lru_cache(maxsize=256)
def _excess(n: int, j: int, k: int) -> np.ndarray:
    """(2001,) E[F^(k-c)] - F^k at each of the odds, c of k samples being among j of the n."""
    c = np.arange(max(0, j + k - n), min(j, k) + 1)
    ways = _log_choose(k, c) + _log_choose(n - k, j - c) - _log_choose(n, j)
    c, ways = c[ways > -40], ways[ways > -40]
    below = -np.logaddexp(0, _ODDS)[:, None]
    return -np.expm1(c * below) * np.exp((k - c) * below) @ np.exp(ways)


def _log_choose(n: int, c) -> np.ndarray:
    return gammaln(n + 1) - gammaln(np.asarray(c) + 1) - gammaln(n - np.asarray(c) + 1)
