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

    A method passes its arguments to a function or class of the package, and returns the result.
    """

    def result(self, *arguments: Any) -> Result:
        """Return the dict of `compute` with its estimates."""
        return Result(*arguments)

    def run_name(self) -> str | None:
        """Return a name that is the same in all processes of a run."""
        from .exchange import default_experiment

        return default_experiment()

    def exchange(self, metric: Any) -> Any:
        """Return the exchange of rows between the processes that compute with a metric."""
        from .exchange import Exchange

        folder = Path(metric.data_dir, f"{metric.experiment_id}-{metric.num_process}")
        return Exchange(folder, metric.num_process, metric.process_id, metric.timeout)

    def checker(self, *arguments: Any) -> Any:
        """Return the package's checker with a name, such as "numeric"."""
        from .checkers.named import package_checker

        return package_checker(*arguments)

    def check_workers(self, *arguments: Any) -> Any:
        """Raise a ValueError if options of an async checker contradict each other."""
        from .checkers.workers import check_workers

        return check_workers(*arguments)

    def check_pairs(self, *arguments: Any) -> Any:
        """Yield the results of a checker for pairs, in worker processes if requested."""
        from .checkers.workers import check_pairs

        return check_pairs(*arguments)

    def errors(self, *arguments: Any) -> Any:
        """Return the errors of a checker with these rates or labels."""
        from .intervals.labelled import CheckerErrors

        return CheckerErrors(*arguments)

    def first_successes(self, *arguments: Any) -> Any:
        """Return pass@k of samples that stop at the first success."""
        from .scores.first_success import FirstSuccesses

        return FirstSuccesses(*arguments)

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
        """Return TailPass@k at the included k and thresholds."""
        from .scores.tails import tail_scores

        return tail_scores(*arguments)

    def picked(self, *arguments: Any) -> Any:
        """Return picked@k, the mean reward of the best of k samples by another score; its range."""
        from .scores.picked import picked_scores

        return picked_scores(*arguments)

    def weighted_votes(self, *arguments: Any) -> Any:
        """Return weighted_vote@k, the vote of answers with a weight for each sample."""
        from .scores.weighted_votes import weighted_vote_scores

        return weighted_vote_scores(*arguments)

    def joined(self, *arguments: Any) -> Any:
        """Return one method of limits made of two, each for some of the scores."""
        from .intervals.consensus import JoinedIntervals

        return JoinedIntervals(*arguments)

    def anytime_limits(self, *arguments: Any) -> Any:
        """Return a method whose limits hold at all looks together."""
        from .intervals.anytime import AnytimeIntervals

        return AnytimeIntervals(*arguments)

    def band(self, *arguments: Any) -> Any:
        """Return the simultaneous band of each score over k."""
        from .intervals.band import band

        return band(*arguments)
