"""How many of k draws are right: the laws, and the moments of scores under them.

Samples of one question are exchangeable, so a question is its counts: n samples, c of
them right. A law says how likely it is that j of k draws are right, and there are two laws,
which are one urn: of n balls c are right, and each ball that is drawn stays out, or goes back
with one more like it. Write C(k, j) for the binomial coefficient, fall(x, j) =
x (x-1) .. (x-j+1) and rise(x, j) = x (x+1) .. (x+j-1). Drawn without replacement from the
observed samples,

    P(j) = C(k, j) fall(c, j) fall(n-c, k-j) / fall(n, k),

the hypergeometric law, which gives unbiased estimates. Drawn anew, from a question whose
success rate had a Beta(a, b) prior before the n samples were seen,

    P(j) = C(k, j) rise(c+a, j) rise(n-c+b, k-j) / rise(n+a+b, k),

the Beta-binomial law, which gives posterior means (Hariri et al. 2026, arXiv:2510.04265).
A score is an expected credit (see `credits`) under either. Of few samples `exact` has tables,
in whole numbers; here it is done for any number of them, in doubles of twice the digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

from ..checks import check_positive
from ..inputs.outcomes import Counts, one_size
from ..intervals.interval import Blend, Posterior, Scores
from .credits import Credits, Score, as_score
from .double_double import DoubleDouble, rising_factorials
from .integer_tables import Prior, covariance_table, expected_table, has_table

_CELLS_AT_ONCE = 1 << 18  # cells of a law worked on at once, which bounds the memory


# --- Laws ---------------------------------------------------------------------


def law(
    n: np.ndarray,
    c: np.ndarray,
    k: int,
    prior: Prior | None = None,
    right: np.ndarray | None = None,
) -> DoubleDouble:
    """P(j of k draws are right): (U, k + 1) for j = 0 .. k and U questions (n, c).

    Args:
        n: (U,) samples. Without a prior the draws are taken from them, and k <= n.
        c: (U,) how many of them are right, 0 <= c <= n.
        right: the j that are wanted, if not all.
    """
    right = np.arange(k + 1) if right is None else right
    wrong = k - right
    n, c = n[:, None], c[:, None]
    factorial, inverse = rising_factorials(Fraction(1), max(k, n.max(initial=0)))
    choose = inverse[right] * inverse[wrong] * factorial[k]
    if prior is None:
        c_left, wrong_left = c - right, (n - c) - wrong
        possible = (c_left >= 0) & (wrong_left >= 0)
        cells = inverse[np.where(possible, c_left, 0)] * inverse[np.where(possible, wrong_left, 0)]
        rows = factorial[c] * factorial[n - c] * (factorial[n - k] * inverse[n])
        return (cells.where(possible) * choose * rows).to_double_double()
    alpha0, beta0 = Fraction(prior[0]), Fraction(prior[1])
    most = n.max(initial=0) + k
    alpha, inverse_alpha = rising_factorials(alpha0, most)
    beta, inverse_beta = rising_factorials(beta0, most)
    both, inverse_both = rising_factorials(alpha0 + beta0, most)
    cells = alpha[c + right] * beta[n - c + wrong]
    rows = inverse_alpha[c] * inverse_beta[n - c] * (both[n] * inverse_both[n + k])
    return (cells * choose * rows).to_double_double()


def check_prior(alpha0: float, beta0: float) -> Prior:
    """Both parameters of a Beta prior, positive and small enough to leave sigma its digits."""
    wanted = "a parameter of the Beta prior is a positive number, 1e15 at most"
    return (
        check_positive("alpha0", alpha0, wanted, 1e15),
        check_positive("beta0", beta0, wanted, 1e15),
    )


# --- Moments ------------------------------------------------------------------


def expected(
    n: np.ndarray, c: np.ndarray, credits: Sequence[Credits], prior: Prior | None = None
) -> np.ndarray:
    """Expected credits: (U, m) of m credits for U questions (n, c), both (U,).

    Each credit has the k that its length says. Without a prior no k is above any n: that is
    for the caller to see to.
    """
    result = np.zeros((len(c), len(credits)))
    size = one_size(n)
    for k, columns in _by_draws(credits).items():
        if size and has_table(size, k, prior):
            for column in columns:
                result[:, column] = expected_table(size, credits[column], prior)[c]
            continue
        taken = sorted({r for column in columns for r in _taken(credits[column])})
        for rows in _blocks(np.arange(len(c)), k):
            tails = _tails(n[rows], c[rows], k, taken, prior)
            for column in columns:
                result[rows, column] = _climb(tails, credits[column])
    return result


def covariances(
    n: np.ndarray, c: np.ndarray, pairs: Sequence[tuple[Credits, Credits]], prior: Prior
) -> np.ndarray:
    """Posterior covariances of pairs of scores of k new samples, never negative: (U, m).

    The product of two scores is what 2k new samples are worth when the credit that a gives to
    the first half is multiplied by the one that b gives to the second: so its mean is that of
    a credit too, under the same law at 2k.
    """
    result = np.zeros((len(c), len(pairs)))
    size = one_size(n)
    for k, columns in _by_draws([a if any(b) else b for a, b in pairs]).items():
        if size and has_table(size, 2 * k, prior):
            for column in columns:
                result[:, column] = covariance_table(size, *pairs[column], prior)[c]
            continue
        for rows in _blocks(np.arange(len(c)), 2 * k):
            one, two = (law(n[rows], c[rows], draws, prior) for draws in (k, 2 * k))
            for column in columns:
                result[rows, column] = _covariance(one, two, *pairs[column])
    return result


def _by_draws(credits: Sequence[Credits]) -> dict[int, list[int]]:
    """The columns of each number of draws; those of no credit at all have none."""
    columns: dict[int, list[int]] = {}
    for column, credit in enumerate(credits):
        if any(credit):
            columns.setdefault(len(credit), []).append(column)
    return columns


def _taken(credit: Credits) -> list[int]:
    """The numbers of right draws that add something."""
    return [r for r, w in enumerate(credit, start=1) if w]


def _climb(tails: Mapping[int, np.ndarray], credit: Credits) -> np.ndarray:
    """Sum of credit[r] x P(at least r right), (U,) of each r.

    The tails are rounded to doubles before they are added, as the formula of mG-Pass@k
    has it: so its published digits come out to the last. The sum itself is exact.
    """
    terms = [credit[r - 1] * tails[r] for r in _taken(credit)]
    if len(terms) == 1:
        return terms[0]
    return np.array([math.fsum(row) for row in np.array(terms).T.tolist()])


def _tails(
    n: np.ndarray, c: np.ndarray, k: int, taken: list[int], prior: Prior | None
) -> dict[int, np.ndarray]:
    """P(at least r of k draws are right), rounded: (U,) for each r that is taken."""
    low, high = [r for r in taken if 2 * r <= k], [r for r in taken if 2 * r > k]
    tails = dict(zip(high, _upper_tails(n, c, k, high, prior).T, strict=True))
    if low:
        # From the nearer end, 0; but where next to nothing is left of 1, as above.
        below = law(n, c, k, prior, np.arange(low[-1])[::-1]).suffix_sums()[:, ::-1]
        left = (DoubleDouble.from_doubles(1.0) - below[:, np.array(low) - 1]).hi
        few = np.flatnonzero((left < 1e-12).any(axis=1))
        left[few] = _upper_tails(n[few], c[few], k, low, prior)
        tails |= zip(low, left.T, strict=True)
    return tails


def _upper_tails(
    n: np.ndarray, c: np.ndarray, k: int, taken: list[int], prior: Prior | None
) -> np.ndarray:
    if not taken:
        return np.empty((len(c), 0))
    right = np.arange(taken[0], k + 1)
    return law(n, c, k, prior, right).suffix_sums().hi[:, np.array(taken) - taken[0]]


def _centred(
    credit: Credits, one: DoubleDouble
) -> Iterator[tuple[np.ndarray, DoubleDouble, DoubleDouble]]:
    """What right draws are worth beyond a plateau, its mean, and the rows it is for.

    A covariance is the same of numbers less a constant, and its digits are left, when the product
    of means is taken from the mean of products, if the means are small: so the constant is the
    plateau that the mean is nearest to, which is 0 near failure and all credit near certainty.
    """
    total = worth(credit)
    flat = [0, *(r for r, w in enumerate(credit) if w == 0 and any(credit[r:])), len(credit)]
    bases = {float(total.hi[j]): total[j] for j in flat}
    above = [total - base for base in bases.values()]
    means = [(one * each).sum() for each in above]
    nearest = np.argmin(np.abs([mean.hi for mean in means]), axis=0)
    for place, (each, mean) in enumerate(zip(above, means, strict=True)):
        yield nearest == place, each, mean


def worth(credit: Credits) -> DoubleDouble:
    """What 0, 1, .., k right draws are worth."""
    return DoubleDouble.from_doubles((0.0, *credit)[::-1]).suffix_sums()[::-1]


def _covariance(one: DoubleDouble, two: DoubleDouble, a: Credits, b: Credits) -> np.ndarray:
    """The same for the laws of k and of 2k draws."""
    result = np.empty(len(one.hi))
    for rows_a, first, mean_a in _centred(a, one):
        for rows_b, second, mean_b in _centred(b, one):
            rows = rows_a & rows_b
            if rows.any():
                product = (two[rows] * _halves(first, second)).sum()
                result[rows] = np.maximum((product - mean_a[rows] * mean_b[rows]).hi, 0.0)
    return result


def _halves(first: DoubleDouble, second: DoubleDouble) -> DoubleDouble:
    """Mean of first[i] second[m - i] over the halves of 2k draws, for m = 0 .. 2k right."""
    k = len(first.hi) - 1
    taken = np.flatnonzero(first.hi)  # of a threshold near an end, a few
    parts = []
    for m in _blocks(np.arange(2 * k + 1), len(taken)):
        other = np.clip(m[:, None] - taken, 0, k)  # where clipped, the law is 0
        chance = law(np.full(len(m), 2 * k), m, k, right=taken)
        parts.append((chance * (first[taken] * second[other])).sum())
    return DoubleDouble.concatenate(parts)


def draw_scores(counts: Counts, scores: Mapping[str, Score | Credits]) -> Scores:
    """The unbiased estimates of the scores of each kind of question."""
    credits, keys = _columns(scores)
    return Scores(keys, counts.kind, expected(*counts.kinds, credits))


def posterior(
    counts: Counts,
    scores: Mapping[str, Score | Credits],
    prior: Prior,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Posterior:
    """The posterior means of the scores of each kind of question, and their covariances."""
    credits, keys = _columns(scores)
    n, c = counts.kinds
    pairs = sorted({pair for blend in keys.values() for pair in blend.pairs()})
    spread = covariances(n, c, [(credits[a], credits[b]) for a, b in pairs], prior)
    return Posterior(
        keys,
        counts,
        expected(n, c, credits, prior),
        dict(zip(pairs, spread.T, strict=True)),
        bounds,
    )


def estimator(
    scores: Mapping[str, Score | Credits],
) -> tuple[dict[str, Blend], Callable[[np.ndarray, np.ndarray], np.ndarray]]:
    """Each score as a blend of columns; and their unbiased estimates for questions (n, c).

    What is blended question by question has a column of its own.
    """
    credits, keys = _columns(scores)
    own = [key for key, blend in keys.items() if not blend.pooled]

    def estimate(n: np.ndarray, c: np.ndarray) -> np.ndarray:
        columns = expected(n, c, credits)
        blends = [keys[key].of(columns.T) for key in own]
        return np.column_stack([columns, *blends]) if own else columns

    alone = {key: Blend((len(credits) + place,)) for place, key in enumerate(own)}
    return keys | alone, estimate


def _columns(scores: Mapping[str, Score | Credits]) -> tuple[list[Credits], dict[str, Blend]]:
    """The distinct credits of all scores, and each score as a blend of these columns."""
    wanted = {key: as_score(score) for key, score in scores.items()}
    place: dict[Credits, int] = {}
    keys = {
        key: Blend(
            tuple(place.setdefault(credit, len(place)) for credit in score.credits),
            score.powers,
            score.pooled,
        )
        for key, score in wanted.items()
    }
    return list(place), keys


def _blocks(rows: np.ndarray, k: int) -> Iterator[np.ndarray]:
    step = max(1, _CELLS_AT_ONCE // (k + 1))
    return (rows[start : start + step] for start in range(0, len(rows), step))
