"""The rooms around the core, as the core calls them: see `core.package`.

Each method imports its room when it is called, so that `import at_k` stays fast.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .core.package import Rooms
from .results import Result

if TYPE_CHECKING:
    import numpy as np

    from .core.checking import BatchResult, Checked, Checking, PairToCheck
    from .core.choice import IntervalOptions
    from .core.consensus import Consensus
    from .core.counts import BinaryCounts
    from .core.estimates import Estimate
    from .core.interval import Interval, IntervalMethod
    from .core.rewards import Rewards
    from .core.samples import Samples
    from .core.score import Score, ScoreId, ScoreKey, Scores
    from .exchange import Exchange
    from .intervals.labelled import CheckerErrors
    from .scores.weighted_votes import WeightedVotes


class PackageRooms(Rooms):
    """What the installed package adds to the core."""

    def checker(self, checker: Any) -> Any:
        """Return what checks samples with a checker of the package, which may be its name."""
        from .checkers.named import package_checker

        return package_checker(checker)

    def check_workers(self, checking: Checking) -> None:
        from .checkers.workers import check_workers

        check_workers(checking)

    def check_pairs(
        self, checking: Checking, pairs: list[PairToCheck]
    ) -> Generator[BatchResult, None, None]:
        from .checkers.workers import check_pairs

        return check_pairs(checking, pairs)

    def run_name(self) -> str | None:
        from .exchange import default_experiment

        return default_experiment()

    def result(
        self, scores: dict[str, Any], estimates: Sequence[Estimate], averaging: str
    ) -> Result:
        return Result(scores, estimates, averaging)

    def exchange(self, metric: Any) -> Exchange:
        """Return what gathers the rows of several processes."""
        from .exchange import Exchange

        folder = Path(metric.data_dir, f"{metric.experiment_id}-{metric.num_process}")
        return Exchange(folder, metric.num_process, metric.process_id, metric.timeout)

    def errors(self, checker_rates: Any, labels: Any) -> CheckerErrors:
        """Return the errors of a checker, which scores are corrected for."""
        from .intervals.labelled import CheckerErrors

        return CheckerErrors(checker_rates, labels)

    def first_successes(
        self, checked: Checked, budget: int, ks: list[int] | None, options: IntervalOptions
    ) -> tuple[Scores, IntervalMethod]:
        """Return pass@k of samples that stop at the first success, and its method of limits."""
        from .scores.first_success import first_successes

        return first_successes(checked, budget, ks, options)

    def pass_limits(
        self, counts: BinaryCounts, scores: Mapping[ScoreKey, Score], options: IntervalOptions
    ) -> tuple[Scores, IntervalMethod]:
        """Return scores of the pass@k family, and the method of their limits."""
        from .intervals.binary_family import pass_intervals

        return pass_intervals(counts, scores, options)

    def max_limits(
        self, rewards: Rewards, ks: Mapping[ScoreKey, int], options: IntervalOptions
    ) -> tuple[Scores, IntervalMethod]:
        """Return Max@k, and the method of its limits."""
        from .intervals.reward_family import max_intervals

        return max_intervals(rewards, ks, options)

    def consensus_limits(self, consensus: Consensus, options: IntervalOptions) -> IntervalMethod:
        """Return the method of the limits of the scores of cons_at_k."""
        from .intervals.consensus import consensus_limits

        return consensus_limits(consensus, options)

    def tails(self, rewards: Rewards, ks_and_taus: Sequence[tuple[int, float]]) -> Scores:
        """Return TailPass@k of each question, for pairs of a k and a threshold."""
        from .scores.tails import tail_scores

        return tail_scores(rewards, ks_and_taus)

    def picked(
        self, outcomes: Samples, rewards: np.ndarray, picked_by: Any, ks: Sequence[int]
    ) -> Scores:
        """Return picked@k of each question."""
        from .scores.picked import picked_scores

        return picked_scores(outcomes, rewards, picked_by, ks)

    def weighted_votes(
        self, checked: Checked, vote_weights: Any, merge_right: bool
    ) -> WeightedVotes:
        """Return the votes of answers with weights."""
        from .scores.weighted_votes import WeightedVotes

        return WeightedVotes.from_checked(checked, vote_weights, merge_right)

    def joined(
        self, most: IntervalMethod, some: IntervalMethod, keys: Iterable[ScoreKey]
    ) -> IntervalMethod:
        """Return a method of limits for most scores, joined with another for those with keys."""
        from .intervals.methods import JoinedIntervals

        return JoinedIntervals(most, some, keys)

    def anytime_limits(
        self, method: IntervalMethod, n: np.ndarray, other_questions: bool | None
    ) -> IntervalMethod:
        """Return a method of limits that hold at all looks together."""
        from .intervals.anytime import AnytimeIntervals

        return AnytimeIntervals(method, n, other_questions)

    def bands(
        self,
        method: IntervalMethod,
        groups: Sequence[np.ndarray],
        intervals: Sequence[dict[ScoreId, Interval]],
        confidence: float,
    ) -> list[dict[ScoreId, tuple[float, float]]]:
        """Return the limits of the simultaneous bands over k, of each group."""
        from .intervals.band import bands

        return bands(method, groups, intervals, confidence)
