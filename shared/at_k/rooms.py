"""The rooms around the core, as the core calls them: see `core.package`.

Each method imports its room when it is called, so that `import at_k` stays fast.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .core.package import Rooms
from .results import Result


class PackageRooms(Rooms):
    """What the installed package adds to the core.

    The arguments of a method are those of what it calls.
    """

    def result(self, *arguments: Any) -> Result:
        """Return the dict of `compute`, which carries its estimates."""
        return Result(*arguments)

    def run_name(self) -> str | None:
        """Return a name that the processes of this run share."""
        from .exchange import default_experiment

        return default_experiment()

    def exchange(self, metric: Any) -> Any:
        """Return what gathers the rows of several processes."""
        from .exchange import Exchange

        folder = Path(metric.data_dir, f"{metric.experiment_id}-{metric.num_process}")
        return Exchange(folder, metric.num_process, metric.process_id, metric.timeout)

    def checker(self, *arguments: Any) -> Any:
        """Return what checks samples with a checker of the package, which may be its name."""
        from .checkers.named import package_checker

        return package_checker(*arguments)

    def check_workers(self, *arguments: Any) -> Any:
        """Raise an error if workers cannot check as these options say."""
        from .checkers.workers import check_workers

        return check_workers(*arguments)

    def check_pairs(self, *arguments: Any) -> Any:
        """Yield the results of batches of pairs, which worker processes may check."""
        from .checkers.workers import check_pairs

        return check_pairs(*arguments)

    def errors(self, *arguments: Any) -> Any:
        """Return the errors of a checker, which scores are corrected for."""
        from .intervals.labelled import CheckerErrors

        return CheckerErrors(*arguments)

    def first_successes(self, *arguments: Any) -> Any:
        """Return pass@k of samples that stop at the first success, and its method of limits."""
        from .scores.first_success import first_successes

        return first_successes(*arguments)

    def pass_limits(self, *arguments: Any) -> Any:
        """Return scores of the pass@k family, and the method of their limits."""
        from .intervals.binary_family import pass_intervals

        return pass_intervals(*arguments)

    def max_limits(self, *arguments: Any) -> Any:
        """Return Max@k, and the method of its limits."""
        from .intervals.reward_family import max_intervals

        return max_intervals(*arguments)

    def consensus_limits(self, *arguments: Any) -> Any:
        """Return the method of the limits of the scores of cons_at_k."""
        from .intervals.consensus import consensus_limits

        return consensus_limits(*arguments)

    def tails(self, *arguments: Any) -> Any:
        """Return TailPass@k of each question, for pairs of a k and a threshold."""
        from .scores.tails import tail_scores

        return tail_scores(*arguments)

    def picked(self, *arguments: Any) -> Any:
        """Return picked@k of each question."""
        from .scores.picked import picked_scores

        return picked_scores(*arguments)

    def weighted_votes(self, *arguments: Any) -> Any:
        """Return the votes of answers with weights."""
        from .scores.weighted_votes import WeightedVotes

        return WeightedVotes.from_checked(*arguments)

    def joined(self, *arguments: Any) -> Any:
        """Return a method of limits for most scores, joined with another for those with keys."""
        from .intervals.methods import JoinedIntervals

        return JoinedIntervals(*arguments)

    def anytime_limits(self, *arguments: Any) -> Any:
        """Return a method of limits that hold at all looks together."""
        from .intervals.anytime import AnytimeIntervals

        return AnytimeIntervals(*arguments)

    def bands(self, *arguments: Any) -> Any:
        """Return the limits of the simultaneous bands over k, of each group."""
        from .intervals.band import bands

        return bands(*arguments)
