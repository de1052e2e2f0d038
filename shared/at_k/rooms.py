"""The functions of other folders (rooms) of the package that the core calls; see `core.package`.

They are imported only when they are called, so that `import at_k` stays fast.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from .core.package import Rooms
from .results import Result


class PackageRooms(Rooms):
    """The functions that the installed package adds to the core, as methods."""

    def result(self, scores: dict[str, Any], estimates: Any, averaging: str) -> Result:
        """Return the dict of `compute` with its estimates."""
        return Result(scores, estimates, averaging)

    def run_name(self) -> str | None:
        """Return a name that is the same in all processes of a run."""
        from .exchange import default_experiment

        return default_experiment()

    def exchange(self, metric: Any) -> Any:
        """Return the exchange of rows between the processes that compute with a metric."""
        from .exchange import Exchange

        folder = Path(metric.data_dir, f"{metric.experiment_id}-{metric.num_process}")
        return Exchange(folder, metric.num_process, metric.process_id, metric.timeout)

    def check_pairs(self, checking: Any, pairs: list[Any]) -> Any:
        """Return an iterator over the results of checks, in worker processes if requested."""
        from .checkers.workers import check_pairs

        return check_pairs(checking, pairs)

    def checker(self, *arguments: Any) -> Any:
        """Return the package's checker with a name, such as "numeric"."""
        from .checkers.named import package_checker

        return package_checker(*arguments)

    def check_workers(self, *arguments: Any) -> Any:
        """Raise a ValueError if options of an async checker contradict each other."""
        from .checkers.workers import check_workers

        return check_workers(*arguments)

    def __getattr__(self, method: str) -> Callable[..., Any]:
        """Return the function or class for another method: it computes scores or limits."""
        from .intervals import anytime, band, binary_family, consensus, labelled, reward_family
        from .scores import first_success, picked, tails, weighted_votes

        functions: dict[str, Callable[..., Any]] = {
            "anytime_limits": anytime.AnytimeIntervals,
            "band": band.band,
            "consensus_limits": consensus.consensus_limits,
            "errors": labelled.CheckerErrors,
            "first_successes": first_success.FirstSuccesses,
            "joined": consensus.JoinedIntervals,
            "max_limits": reward_family.max_intervals,
            "pass_limits": binary_family.pass_intervals,
            "picked": picked.picked_scores,
            "tails": tails.tail_scores,
            "weighted_votes": weighted_votes.weighted_vote_scores,
        }
        if method not in functions:
            raise AttributeError(method)
        return functions[method]
