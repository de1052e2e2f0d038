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

    def __getattr__(self, method: str) -> Callable[..., Any]:
        """Return the function or class for another method: it computes scores or limits."""
        function: Any
        match method:
            case "anytime_limits":
                from .intervals.anytime import AnytimeIntervals as function  # noqa: N813
            case "band":
                from .intervals.band import band as function
            case "check_pairs":
                from .checkers.workers import check_pairs as function
            case "check_workers":
                from .checkers.workers import check_worker_options as function
            case "checker":
                from .checkers.named import package_checker as function
            case "consensus_limits":
                from .intervals.consensus import consensus_limits as function
            case "errors":
                from .intervals.labelled import CheckerErrors as function  # noqa: N813
            case "first_successes":
                from .scores.first_success import FirstSuccesses as function  # noqa: N813
            case "frame_rows":
                from .functions.sample_tables import frame_rows as function
            case "joined":
                from .intervals.consensus import JoinedIntervals as function  # noqa: N813
            case "max_limits":
                from .intervals.reward_family import max_intervals as function
            case "pass_limits":
                from .intervals.binary_family import pass_intervals as function
            case "picked":
                from .scores.picked import picked_scores as function
            case "read_table":
                from .functions.sample_tables import read_table as function
            case "tails":
                from .scores.tails import tail_scores as function
            case "weighted_votes":
                from .scores.weighted_votes import weighted_vote_scores as function
            case _:
                raise AttributeError(method)
        return function
