"""Limits that are in the order that the scores have by definition.

Let P(k, r) be the probability that at least r of k samples are correct: pass@k is P(k, 1), pass^k
is P(k, k), and G-Pass@k is P(k, r) with r = ceil(tau k). For every success rate,

    P(j, 1) <= P(k, 1) and P(k, k) <= P(j, j) for j <= k,    P(k, s) <= P(k, r) for r <= s.

If score A is never below score B, neither limit of A may be below that of B. The limits at one k
must not depend on which other k are requested. So they are compared with those of neighbors: pass@j
and pass^j at all j of `spread_of_k(n)`, for the smallest n of a question, and for scores between
them also P(k, s) at 1, k and the s of `spread_of_r(k)`. Where k > n, only the limits of k > n move.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache, partial
from typing import NamedTuple

import numpy as np

from .credits import at_least
from .interval import DerivedIntervals, Interval, IntervalMethod
from .score import Score, ScoreKey

_EVERY_K, _EVERY_R = 64, 16  # Up to these, all k and all r are neighbors.
_LARGEST_N = 10_000  # With more samples, limits are narrow and take long: no neighbors are added.


class Event(NamedTuple):
    """The event that at least r of k samples are correct, and the key of a neighbor in dicts."""

    k: int
    r: int


@lru_cache(maxsize=256)
def event_of(score: Score) -> Event | None:
    """Return the event whose probability the score is, or None if there is no such event."""
    credits = score.terms[0]
    if score.powers != (1.0,) or [credit for credit in credits if credit] != [1.0]:
        return None
    return Event(len(credits), credits.index(1.0) + 1)


def _events_by_key(scores: Mapping[ScoreKey, Score]) -> dict[ScoreKey, Event]:
    """Return a dict from key to event, of the scores that are the probability of an event."""
    return {key: event for key, score in scores.items() if (event := event_of(score))}


def spread_of_k(most: int) -> list[int]:
    """Return k up to `most`, ascending: 1 to 64, rounded powers of sqrt(2) above, and `most`."""
    large = (round(2 ** (power / 2)) for power in range(2 * most.bit_length()))
    return sorted({*range(1, min(most, _EVERY_K) + 1), *(k for k in large if k <= most), most})


def spread_of_r(k: int) -> list[int]:
    """Return all r with 1 < r < k if k is at most 16, otherwise 15 of them at equal distances."""
    steps = min(k, _EVERY_R)
    return sorted({-(-step * k // steps) for step in range(1, steps)} - {1, k})


def with_neighbors(scores: Mapping[ScoreKey, Score], least: int) -> dict[ScoreKey, Score]:
    """Return the scores with k <= `least` by their keys, and their neighbors by their events.

    There are no neighbors if `least`, the smallest number of samples of a question, is above
    10,000, or if no score is the probability of an event.
    """
    result = {key: score for key, score in scores.items() if len(score.terms[0]) <= least}
    events = _events_by_key(scores).values()
    if least > _LARGEST_N or not events:
        return result
    return result | _neighbors(least, frozenset(k for k, r in events if 1 < r < k <= least))


@lru_cache(maxsize=16)
def _neighbors(least: int, inner_ks: frozenset[int]) -> dict[Event, Score]:
    """Return pass@j and pass^j for j up to `least`, and scores between them at each inner k."""
    events = [Event(j, r) for j in spread_of_k(least) for r in (1, j)]
    for k in inner_ks:
        events += [Event(k, r) for r in (1, k, *spread_of_r(k))]
    return {event: Score((at_least(*event),)) for event in events}


Limits = tuple[float, float]


class _Ladder:
    """Limits of scores that ascend with an integer, their rung, moved so that they ascend, too."""

    def __init__(self, limits: Mapping[int, Limits]):
        self._rungs = sorted(limits)
        lo, hi = np.array([limits[rung] for rung in self._rungs]).reshape(-1, 2).T
        self._lo = np.maximum.accumulate(lo)
        self._hi = np.minimum.accumulate(hi[::-1])[::-1]

    def moved(self, rung: int, lo: float, hi: float) -> Limits:
        """Return (lo, hi) of a score at any rung, clipped to the limits at the rungs around it."""
        # The indices of the last rung at or below this one, and of the first at or above it.
        below = np.searchsorted(self._rungs, rung, side="right") - 1
        above = np.searchsorted(self._rungs, rung, side="left")
        if below >= 0:
            lo, hi = max(lo, self._lo[below]), max(hi, self._hi[below])
        if above < len(self._rungs):
            lo, hi = min(lo, self._lo[above]), min(hi, self._hi[above])
        return float(lo), float(hi)


def _rung(event: Event) -> int:
    """Return the rung of pass@k or pass^k in the order pass^n, .., pass^1 = pass@1, .., pass@n."""
    return event.k - 1 if event.r == 1 else 1 - event.k


def _ladder_over_r(limits: Mapping[Event, Limits], over_k: _Ladder, k: int) -> _Ladder:
    """Return the ladder of P(k, r) over r at one k. The rung of r is -r, because P(k, r) falls.

    Limits are moved over k at r = 1 and r = k, and clipped to these at other r.
    """
    by_rung = {-event.r: pair for event, pair in limits.items() if event.k == k}
    for rung in by_rung.keys() & {-1, -k}:
        by_rung[rung] = over_k.moved(_rung(Event(k, -rung)), *by_rung[rung])
    if by_rung:
        ends = by_rung[min(by_rung)], by_rung[max(by_rung)]
        by_rung = {rung: tuple(np.clip(pair, *ends)) for rung, pair in by_rung.items()}
    return _Ladder(by_rung)


class CoherentIntervals(DerivedIntervals):
    """The intervals of another method, with limits moved into the order of the scores.

    The other method also computes the intervals of the neighbors, which `scores` lacks.
    """

    def __init__(self, method: IntervalMethod, scores: Mapping[ScoreKey, Score]):
        super().__init__(method)
        self._keys = [*scores]
        self._events = _events_by_key(scores)

    def intervals(self, questions: np.ndarray, confidence: float) -> dict[ScoreKey, Interval]:
        """Return the interval of each requested score over these questions."""
        intervals = self._method.intervals(questions, confidence)
        result = {key: intervals[key] for key in self._keys if key in intervals}
        limits = {
            event: (interval.lo, interval.hi)
            for event, interval in intervals.items()
            if isinstance(event, Event)
        }
        # Intervals are unknown for all scores or for none.
        if not limits or next(iter(intervals.values())).is_unknown:
            return result
        over_k = _Ladder({_rung(x): pair for x, pair in limits.items() if x.r in (1, x.k)})
        over_r = cache(partial(_ladder_over_r, limits, over_k))
        for key in self._events.keys() & result.keys():
            interval, (k, r) = result[key], self._events[key]
            at_end = r in (1, k)
            ladder, rung = (over_k, _rung(self._events[key])) if at_end else (over_r(k), -r)
            lo, hi = ladder.moved(rung, interval.lo, interval.hi)
            result[key] = interval._replace(lo=min(lo, interval.mu), hi=max(hi, interval.mu))
        return result
