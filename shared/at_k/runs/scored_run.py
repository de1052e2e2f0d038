"""The scores of a run of a comparison, and how uncertain they are."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import cache, cached_property

import numpy as np

from ..core.choice import IntervalOptions
from ..core.interval import IntervalMethod
from ..core.questions import cluster_errors, degrees_of_freedom, effective_clusters
from ..core.score import Scores
from ..intervals.anytime import AnytimeIntervals


class ScoredRun:
    """The scores of a run, and how uncertain they are.

    Comparisons, leaderboards, gates, `noise` and plans take it.

    Args:
        points: the scores of the questions.
        n: (M,) samples of the questions.
        options: of the limits.
        method: of the limits.
        resampled: returns the method of limits for the same questions, sampled again; None if it
            is `method`, or if there is none.
        covariance: returns the (m, m) covariance of the scores for new samples of the same
            questions; None if the data do not show it.
        moves: returns (2, m) how far the scores may lie below and above because labels estimate
            the rates of the checker, for a confidence; None if the rates are known.
    """

    def __init__(
        self,
        points: Scores,
        n: np.ndarray,
        options: IntervalOptions,
        method: IntervalMethod,
        resampled: Callable[[], IntervalMethod] | None = None,
        covariance: Callable[[], np.ndarray] | None = None,
        moves: Callable[[float], np.ndarray] | None = None,
    ):
        self.points, self.n, self.options = points, n, options
        self._method, self._resampled, self._covariance, self.moves = (
            method,
            resampled,
            covariance,
            moves,
        )
        self.limits = cache(self._limits)

    @cached_property
    def counted(self) -> np.ndarray:
        """The indices of the questions that have a weight."""
        weights = self.options.weights
        return np.arange(len(self.n)) if weights is None else np.flatnonzero(weights)

    @cached_property
    def estimates(self) -> np.ndarray:
        """(m,) scores over all questions, to the last digit as `compute` returns them."""
        return np.array([*self.points.over(self.counted, self.options.weights).values()])

    @cached_property
    def errors(self) -> np.ndarray:
        """(G, m) by how much the scores move without each question or cluster of questions.

        See `cluster_errors`.
        """
        weights = self.options.weights
        return cluster_errors(self.points.linearized(weights), self.options.clusters, weights)

    @property
    def standard_errors(self) -> np.ndarray:
        """(m,) standard errors of the estimates, for other questions."""
        return np.sqrt(np.sum(self.errors**2, axis=0))

    @property
    def number(self) -> float:
        """M; with weights the effective number of questions."""
        return effective_clusters(None, len(self.n), self.options.weights)

    @property
    def freedom(self) -> float:
        """The degrees of freedom of the standard errors."""
        options = self.options
        return degrees_of_freedom(
            effective_clusters(options.clusters, len(self.n), options.weights)
        )

    @property
    def clusters(self) -> int:
        """The number of clusters of questions; without clusters that of questions."""
        labels = self.options.clusters
        return len(self.counted) if labels is None else len(np.unique(labels[self.counted]))

    @cached_property
    def covariance(self) -> np.ndarray | None:
        """(m, m) covariance of the scores for new samples of the same questions, if known."""
        return None if self._covariance is None else self._covariance()

    def at_all_looks(self) -> ScoredRun:
        """Return the run with limits that hold at all looks together."""
        run = copy(self)
        run.options = replace(self.options, anytime=True)
        run.limits = cache(run._limits)
        return run

    def _limits(self, confidence: float, resampled: bool = False) -> np.ndarray:
        """(2, m) lower and upper limits.

        Args:
            confidence: of each interval.
            resampled: whether they are for the same questions, sampled again.

        Raises:
            ValueError: if the questions have no interval.
        """
        method = self._method
        if resampled and self._resampled is not None:
            method = self._resampled()
        if self.options.anytime:
            other_questions = self.options.method == "questions" and not resampled
            method = AnytimeIntervals(method, self.n, other_questions)
        if problem := method.problem(self.counted):
            raise ValueError(f"{problem}.")
        (intervals,) = method.for_groups([self.counted], confidence)
        return np.array([[x.lo, x.hi] for x in intervals.values()]).T
