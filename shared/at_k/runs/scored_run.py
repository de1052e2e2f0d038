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
from ..intervals.anytime import AnytimeIntervals, confidence_of_a_look, look_size


class ScoredRun:
    """The scores of a run, and how uncertain they are.

    Comparisons, leaderboards, gates, `noise` and plans take it.

    Args:
        points: the scores of the questions.
        n: (M,) samples of the questions.
        options: of the limits.
        method: of the limits.
        resampled: returns the method of limits for the same questions, sampled again; None if the
            data do not show how samples vary.
        covariance: returns the (m, m) covariance of the scores for new samples of the same
            questions. Default: that of the method of `resampled`.
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
        self._method, self._resampled, self._covariance = method, resampled, covariance
        self._moves = moves
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
        clusters, weights = self.options.clusters, self.options.weights
        return degrees_of_freedom(effective_clusters(clusters, len(self.n), weights))

    @property
    def clusters(self) -> int:
        """The number of clusters of questions; without clusters that of questions."""
        labels = self.options.clusters
        return len(self.counted) if labels is None else len(np.unique(labels[self.counted]))

    @cached_property
    def covariance(self) -> np.ndarray | None:
        """(m, m) covariance of the scores for new samples of the same questions, if known."""
        if self._resampled is None:
            return None
        if self._covariance is not None:
            return self._covariance()
        return self._resampled().covariance(self.counted, [*self.points.keys])

    def at_all_looks(self) -> ScoredRun:
        """Return the run with limits that hold at all looks together."""
        run = copy(self)
        run.options = replace(self.options, anytime=True)
        run.limits = cache(run._limits)
        return run

    def moves(self, confidence: float, same_questions: bool = False) -> np.ndarray | None:
        """(2, m) how far the scores may lie below and above because labels estimate the rates.

        None if the rates of the checker are known. The arguments are those of `_limits`.
        """
        if self._moves is None:
            return None
        return self._moves(self.look_confidence(confidence, same_questions))

    def limits_with_moves(self, confidence: float, same_questions: bool = False) -> np.ndarray:
        """(2, m) limits that account for estimated rates of the checker too, see `_limits`."""
        limits = self.limits(confidence, same_questions)
        moves = self.moves(confidence, same_questions)
        if moves is None:
            return limits
        distances = np.maximum([self.estimates - limits[0], limits[1] - self.estimates], 0.0)
        down, up = np.hypot(distances, moves)
        return np.clip([self.estimates - down, self.estimates + up], 0.0, 1.0)

    def look_confidence(self, confidence: float, same_questions: bool = False) -> float:
        """Return the confidence of the limits at this look.

        With `anytime`, `confidence` is that of all looks together, and each look has a higher one.
        The arguments are those of `_limits`.
        """
        if not self.options.anytime:
            return confidence
        size = look_size(self.n[self.counted], self._is_for_other_questions(same_questions))
        return confidence_of_a_look(confidence, size)

    def _is_for_other_questions(self, same_questions: bool) -> bool:
        """Whether limits are for other questions: see `_limits`."""
        return self.options.method == "questions" and not same_questions

    def _limits(self, confidence: float, same_questions: bool = False) -> np.ndarray:
        """(2, m) lower and upper limits.

        Args:
            confidence: of each interval; with `anytime`, at all looks together.
            same_questions: whether they are for the same questions, sampled again, whatever the
                method in the options.

        Raises:
            ValueError: if the questions have no interval.
        """
        method = self._resampled() if same_questions and self._resampled else self._method
        if self.options.anytime:
            other_questions = self._is_for_other_questions(same_questions)
            method = AnytimeIntervals(method, self.n, other_questions)
        if problem := method.problem(self.counted):
            raise ValueError(f"{problem}.")
        (intervals,) = method.for_groups([self.counted], confidence)
        return np.array([[x.lo, x.hi] for x in intervals.values()]).T
