"""The rooms around the core, as the core calls them: see `core.package`.

Each method imports its room when it is called, so that `import at_k` stays fast.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .core.package import Rooms
from .exchange import Exchange, default_experiment

if TYPE_CHECKING:
    import numpy as np

    from .core.checking import BatchResult, Checked, Checking, PairToCheck
    from .core.choice import IntervalOptions
    from .core.consensus import Consensus
    from .core.counts import BinaryCounts
    from .core.interval import IntervalMethod
    from .core.rewards import Rewards
    from .core.samples import Samples
    from .core.score import Score, ScoreKey, Scores
    from .intervals.corrected import CheckerErrors
    from .scores.weighted_votes import WeightedVotes


class PackageRooms(Rooms):
    """What the installed package adds to the core."""

    def checker(self, checker: Any) -> Any:
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
        return default_experiment()

    def exchange(self, metric: Any) -> Exchange:
        folder = Path(metric.data_dir, f"{metric.experiment_id}-{metric.num_process}")
        return Exchange(folder, metric.num_process, metric.process_id, metric.timeout)

    def errors(self, checker_rates: Any, labels: Any) -> CheckerErrors:
        from .intervals.corrected import CheckerErrors

        return CheckerErrors(checker_rates, labels)

    def first_successes(
        self, checked: Checked, budget: int, ks: list[int] | None, options: IntervalOptions
    ) -> tuple[Scores, IntervalMethod]:
        from .scores.first_success import first_successes

        return first_successes(checked, budget, ks, options)

    def pass_limits(
        self, counts: BinaryCounts, scores: Mapping[ScoreKey, Score], options: IntervalOptions
    ) -> tuple[Scores, IntervalMethod]:
        from .intervals.binary_family import pass_intervals

        return pass_intervals(counts, scores, options)

    def max_limits(
        self, rewards: Rewards, ks: Mapping[ScoreKey, int], options: IntervalOptions
    ) -> tuple[Scores, IntervalMethod]:
        from .intervals.reward_family import max_intervals

        return max_intervals(rewards, ks, options)

    def consensus_limits(self, consensus: Consensus, options: IntervalOptions) -> IntervalMethod:
        from .intervals.consensus import consensus_limits

        return consensus_limits(consensus, options)

    def tails(self, rewards: Rewards, ks: Sequence[int], thresholds: Sequence[float]) -> Scores:
        from .scores.tails import tail_scores

        return tail_scores(rewards, ks, thresholds)

    def picked(
        self, outcomes: Samples, rewards: np.ndarray, picked_by: Any, ks: Sequence[int]
    ) -> Scores:
        from .scores.picked import picked_scores

        return picked_scores(outcomes, rewards, picked_by, ks)

    def weighted_votes(
        self, checked: Checked, vote_weights: Any, merge_right: bool
    ) -> WeightedVotes:
        from .scores.weighted_votes import WeightedVotes

        return WeightedVotes.from_checked(checked, vote_weights, merge_right)

    def joined(
        self, most: IntervalMethod, some: IntervalMethod, keys: Iterable[ScoreKey]
    ) -> IntervalMethod:
        from .intervals.methods import JoinedIntervals

        return JoinedIntervals(most, some, keys)

    def band_confidence(self, covariance: np.ndarray, confidence: float) -> float:
        from .intervals.band import simultaneous_confidence

        return simultaneous_confidence(covariance, confidence)
