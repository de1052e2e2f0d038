"""Limits that agree with the orders that hold by definition.

Let P(k, r) be the probability that at least r of k samples are correct: pass@k is P(k, 1), pass^k
is P(k, k), and G-Pass@k is P(k, r) with r = ceil(tau k). For every success rate,

    P(j, 1) <= P(k, 1) for j <= k,    P(k, k) <= P(j, j),    P(k, s) <= P(k, r) for r <= s.

A score that is never below another one has at least its lower limit, and one that is never above
another one at most its upper limit. These limits take part: for pass@k and pass^k those at all j up
to the n of the questions (see `spread_of_k`), for G-Pass@k those of pass@k and pass^k and those at
the shares 1/4, 1/2 and 3/4. They do so whether or not they are requested, so one k alone has the
limits that it has among others.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from .credits import at_least
from .interval import Interval, IntervalMethod
from .score import Score, ScoreKey

_EVERY_K = 64  # up to which all k take part
_LARGEST_N = 10_000  # of a question: with more, limits are narrow and take long
_USUAL_SHARES = (0.25, 0.5, 0.75)


class Event(NamedTuple):
    """At least r of k samples are correct. It is the key of the score of a neighbor."""

    k: int
    r: int


def event_of(score: Score) -> Event | None:
    """Return the event whose probability a score is, or None."""
    if score.powers != (1.0,):
        return None
    credits = score.terms[0]
    counted = [r for r, credit in enumerate(credits, start=1) if credit]
    if len(counted) != 1 or credits[counted[0] - 1] != 1.0:
        return None
    return Event(len(credits), counted[0])


def spread_of_k(most: int) -> list[int]:
    """Return k from 1 to `most`: each up to 64, then powers of the square root of 2, and `most`."""
    large = (round(2 ** (power / 2)) for power in range(2 * most.bit_length()))
    return sorted({*range(1, min(most, _EVERY_K) + 1), *(k for k in large if k <= most), most})


def with_neighbors(scores: Mapping[ScoreKey, Score], least: int) -> dict[ScoreKey, Score]:
    """Return the scores of the pass family and those that limits of theirs depend on.

    Args:
        least: smallest number of samples of a question.
    """
    if least > _LARGEST_N:
        return dict(scores)
    events = [event for score in scores.values() if (event := event_of(score))]
    related = dict.fromkeys(x for event in events for x in _related_events(event, least))
    return dict(scores) | {event: Score((at_least(*event),)) for event in related}


def _related_events(event: Event, least: int) -> Iterator[Event]:
    k, r = event
    if r in (1, k):
        for j in spread_of_k(least):
            yield Event(j, 1 if r == 1 else j)
    else:
        for s in sorted({1, k, *(math.ceil(share * k) for share in _USUAL_SHARES)}):
            yield Event(k, s)


def _is_at_most(a: Event, b: Event) -> bool:
    """Whether the event a has at most the probability of b, for every success rate."""
    return b.r <= a.r and (a.k <= b.k or a.k - a.r <= b.k - b.r)


class CoherentIntervals(IntervalMethod):
    """The intervals of a method, with limits in the order of the scores.

    Args:
        method: of the intervals of the scores and of their neighbors.
        scores: by their keys, without the neighbors.
    """

    def __init__(self, method: IntervalMethod, scores: Mapping[ScoreKey, Score]):
        self._method, self._keys = method, [*scores]
        self._events = {key: event for key, x in scores.items() if (event := event_of(x))}

    def problem(self, questions: np.ndarray) -> str | None:
        return self._method.problem(questions)

    def unidentified(self, questions: np.ndarray) -> Collection[ScoreKey]:
        return self._method.unidentified(questions)

    def covariance(self, questions: np.ndarray, keys: Sequence[ScoreKey]) -> np.ndarray:
        return self._method.covariance(questions, keys)

    def for_groups(
        self, groups: Sequence[np.ndarray], confidence: float
    ) -> list[dict[ScoreKey, Interval]]:
        return [self._ordered(of_group) for of_group in self._method.for_groups(groups, confidence)]

    def _ordered(self, found: dict[ScoreKey, Interval]) -> dict[ScoreKey, Interval]:
        result = {key: found[key] for key in self._keys if key in found}
        # Limits for other questions say nothing of those for the same ones.
        for of_questions in (True, False):
            known = {
                key: (event, interval)
                for key, interval in found.items()
                if (event := self._events.get(key) or (key if isinstance(key, Event) else None))
                and not str(interval.interval).startswith("none")
                and (interval.interval == "questions") == of_questions
            }
            for key in known.keys() & result.keys():
                event, interval = known[key]
                lo = max(x.lo for other, x in known.values() if _is_at_most(other, event))
                hi = min(x.hi for other, x in known.values() if _is_at_most(event, other))
                # A posterior mean of k > n is not ordered with unbiased estimates.
                lo, hi = (
                    min(lo, max(interval.lo, interval.mu)),
                    max(hi, min(interval.hi, interval.mu)),
                )
                result[key] = interval._replace(lo=lo, hi=hi)
        return result
