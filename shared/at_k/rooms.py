"""The functions of other folders (rooms) of the package that the core calls; see `core.package`.

Each method imports its function only when it is called, so that `import at_k` stays fast.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .core.package import Rooms
from .results import Result


class PackageRooms(Rooms):
    """The functions that the installed package adds to the core.

    Each method passes its arguments to the function or class that it imports, and returns the
    result. `core.package.OPTIONS` says which option of a metric needs it.
    """

    def result(self, *arguments: Any) -> Result:
        return Result(*arguments)

    def run_name(self) -> str | None:
        from .exchange import default_experiment

        return default_experiment()

    def exchange(self, metric: Any) -> Any:
        from .exchange import Exchange

        folder = Path(metric.data_dir, f"{metric.experiment_id}-{metric.num_process}")
        return Exchange(folder, metric.num_process, metric.process_id, metric.timeout)

    def checker(self, *arguments: Any) -> Any:
        from .checkers.named import package_checker

        return package_checker(*arguments)

    def check_workers(self, *arguments: Any) -> Any:
        from .checkers.workers import check_workers

        return check_workers(*arguments)

    def check_pairs(self, *arguments: Any) -> Any:
        from .checkers.workers import check_pairs

        return check_pairs(*arguments)

    def errors(self, *arguments: Any) -> Any:
        from .intervals.labelled import CheckerErrors

        return CheckerErrors(*arguments)

    def first_successes(self, *arguments: Any) -> Any:
        from .scores.first_success import first_successes

        return first_successes(*arguments)

    def pass_limits(self, *arguments: Any) -> Any:
        from .intervals.binary_family import pass_intervals

        return pass_intervals(*arguments)

    def max_limits(self, *arguments: Any) -> Any:
        from .intervals.reward_family import max_intervals

        return max_intervals(*arguments)

    def consensus_limits(self, *arguments: Any) -> Any:
        from .intervals.consensus import consensus_limits

        return consensus_limits(*arguments)

    def tails(self, *arguments: Any) -> Any:
        from .scores.tails import tail_scores

        return tail_scores(*arguments)

    def picked(self, *arguments: Any) -> Any:
        from .scores.picked import picked_scores

        return picked_scores(*arguments)

    def weighted_votes(self, *arguments: Any) -> Any:
        from .scores.weighted_votes import WeightedVotes

        return WeightedVotes.from_checked(*arguments)

    def joined(self, *arguments: Any) -> Any:
        from .intervals.consensus import JoinedIntervals

        return JoinedIntervals(*arguments)

    def anytime_limits(self, *arguments: Any) -> Any:
        from .intervals.anytime import AnytimeIntervals

        return AnytimeIntervals(*arguments)

    def bands(self, *arguments: Any) -> Any:
        from .intervals.band import bands

        return bands(*arguments)
