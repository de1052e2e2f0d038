"""The format eval-results, in which scores are published on the Hub's model pages.

`--format eval-results` prints the YAML of a file in the folder `.eval_results` of a model on the
Hub, whose model page and leaderboards show it (https://huggingface.co/docs/hub/eval-results).
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

import at_k

from ..core.estimates import Estimate
from .formats import Scale, as_flag
from .score_tables import ScoresView

PUBLISHED_FORMAT = "eval-results"
PUBLISHED_FIELDS = {
    "dataset": "id of the benchmark's dataset on the Hub, such as cais/hle",
    "task": "task of the benchmark, such as default",
    "source_url": "where the samples or a report are",
}
"""The flags for facts that published scores need besides the samples, and their help."""


def check_published(fields: Mapping[str, str | None], output_format: str) -> None:
    """Raise a ValueError if PUBLISHED_FORMAT lacks a field, or another format has one."""
    is_published = output_format == PUBLISHED_FORMAT
    for name, value in fields.items():
        flag = as_flag(name)
        if value is not None and not is_published:
            raise ValueError(
                f"{flag} is for --format {PUBLISHED_FORMAT}: add that, or leave it out."
            )
        if value is None and is_published and name != "source_url":
            raise ValueError(
                f"--format {PUBLISHED_FORMAT} needs {flag} ({PUBLISHED_FIELDS[name]})."
            )


def published(view: ScoresView, fields: Mapping[str, str | None]) -> str:
    """Return the YAML of the score of all questions in a view. Scores of groups are left out.

    `fields` are values by the names in `PUBLISHED_FIELDS`. A ValueError is raised if there are
    several scores of all questions. The format has one for each task.
    """
    import yaml

    estimate, *others = (estimate for estimate in view.estimates if estimate.group is None)
    if others:
        raise ValueError(
            f"The format eval-results has one score for a task, and there are {1 + len(others)}, "
            f"such as {estimate.key} and {others[0].key}: select one, as by --include pass@k --k 1."
        )
    entry: dict[str, Any] = {
        "dataset": {"id": fields["dataset"], "task_id": fields["task"]},
        "value": estimate.score,
    }
    if fields["source_url"] is not None:
        entry["source"] = {"url": fields["source_url"]}
    entry["notes"] = _notes_on_score(estimate, view)
    return yaml.safe_dump([entry], sort_keys=False, allow_unicode=True, width=88).rstrip()


def add_publishing_flags(command: argparse.ArgumentParser) -> None:
    """Add the flags of PUBLISHED_FORMAT to the parser of a metric."""
    group = command.add_argument_group(
        "for --format eval-results",
        "Save it as a file .eval_results/NAME.yaml in the model's repository on the Hub.",
    )
    for name, text in PUBLISHED_FIELDS.items():
        group.add_argument(as_flag(name), metavar="TEXT", help=f"{text}.")


def _notes_on_score(estimate: Estimate, view: ScoresView) -> str:
    """Return one line for readers of a score: its key, samples, limits and the package."""
    notes = [estimate.key, view.scope.in_words()]
    if estimate.interval is not None and estimate.limits is not None:
        method = view.method_of(estimate)
        words = view.limits_by(method).described(Scale(False, 4), estimate.limits)
        notes += [f"standard error {estimate.interval.sigma:.4f}", f"{words} ({method})"]
    return "; ".join([*notes, f"evaluate-at-k {at_k.__version__}"])
