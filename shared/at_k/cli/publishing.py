"""Formats in which scores are published: those of the Hub's model pages, and of Every Eval Ever.

`--format eval-results` prints the YAML of a file in the folder `.eval_results` of a model on the
Hub, whose model page and leaderboards show it (https://huggingface.co/docs/hub/eval-results).
`--format every-eval-ever` prints the JSON of a record of the schema 0.3.0 of Every Eval Ever
(https://github.com/evaleval/every_eval_ever).
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from typing import Any

import at_k

from ..core.estimates import Estimate
from ..runs.noise import correction_in_words
from .formats import INTERVAL_SCOPE, Scale, enumerated, limits_in_words
from .score_tables import ScoresView

PUBLISHED_FORMATS = ("eval-results", "every-eval-ever")
_SCHEMA_VERSION = "0.3.0"


PUBLISHED_FIELDS = {
    "model": "id of the model, such as org/name",
    "dataset": "id of the benchmark's dataset on the Hub, such as cais/hle",
    "task": "task of the benchmark, such as default",
    "organization": "who ran the evaluation",
    "source_url": "where the samples or a report are",
}
_NEEDED = {
    "eval-results": ("dataset", "task"),
    "every-eval-ever": ("model", "dataset", "organization"),
}


@dataclass(frozen=True)
class Publication:
    """What published scores say about a run, besides its samples: see PUBLISHED_FIELDS."""

    model: str | None = None
    dataset: str | None = None
    task: str | None = None
    organization: str | None = None
    source_url: str | None = None

    def check(self, output_format: str) -> None:
        """Raise a ValueError unless the format has what it needs and takes what is given."""
        needed, missing = _NEEDED.get(output_format), []
        for name, text in PUBLISHED_FIELDS.items():
            flag, value = f"--{name.replace('_', '-')}", getattr(self, name)
            if needed is None and value is not None:
                formats = " or ".join(PUBLISHED_FORMATS)
                raise ValueError(f"{flag} is given: it belongs to --format {formats}.")
            if needed is not None and name in needed and value is None:
                missing.append(f"{flag} ({text})")
        if missing:
            raise ValueError(f"--format {output_format} needs {enumerated(missing)}.")

    def printed(self, view: ScoresView, output_format: str) -> str:
        """Return the scores in one of PUBLISHED_FORMATS.

        Raises:
            ValueError: if the format has one score, and there are several.
        """
        if output_format == "eval-results":
            return self._as_eval_results(view)
        return self._as_every_eval_ever(view)

    def _as_eval_results(self, view: ScoresView) -> str:
        import yaml

        x, *others = (x for x in view.estimates if x.group is None)
        if others:
            raise ValueError(
                f"The format eval-results has one score for a task, and there are "
                f"{1 + len(others)}, such as {x.key} and {others[0].key}: select one, as by "
                f"--include pass@k --k 1."
            )
        entry: dict[str, Any] = {
            "dataset": {"id": self.dataset, "task_id": self.task},
            "value": x.score,
        }
        if self.source_url is not None:
            entry["source"] = {"url": self.source_url}
        entry["notes"] = _notes(x, view)
        return yaml.safe_dump([entry], sort_keys=False, allow_unicode=True, width=88).rstrip()

    def _as_every_eval_ever(self, view: ScoresView) -> str:
        now = f"{time.time():.0f}"
        name = "/".join(filter(None, [self.dataset, self.task]))
        details = {"deployment_type": "unknown", "model_availability": "unknown"}
        record = {
            "schema_version": _SCHEMA_VERSION,
            "evaluation_id": f"{name}/{self.model}/{now}",
            "retrieved_timestamp": now,
            "source_metadata": {
                "source_type": "evaluation_run",
                "source_organization_name": self.organization,
                "evaluator_relationship": "other",
            },
            "eval_library": {"name": "evaluate-at-k", "version": at_k.__version__},
            "model_info": {"name": self.model, "id": self.model, "additional_details": details},
            "evaluation_results": [
                {
                    "evaluation_result_id": x.full_key,
                    "evaluation_name": name,
                    "source_data": self._source,
                    "metric_config": _metric_config(x),
                    "score_details": _score_details(x, view),
                }
                for x in view.estimates
            ],
        }
        return json.dumps(record, indent=2)

    @property
    def _source(self) -> dict[str, Any]:
        if self.source_url is None:
            kind: dict[str, Any] = {"source_type": "hf_dataset", "hf_repo": self.dataset}
        else:
            kind = {"source_type": "url", "url": [self.source_url]}
        return {"dataset_name": self.dataset} | kind


def add_publishing_flags(command: argparse.ArgumentParser) -> None:
    """Add the flags of PUBLISHED_FORMATS to the parser of a metric."""
    group = command.add_argument_group(
        "for --format eval-results and every-eval-ever",
        "Save eval-results as a file .eval_results/NAME.yaml in the model's repository on the Hub.",
    )
    for name, text in PUBLISHED_FIELDS.items():
        group.add_argument(f"--{name.replace('_', '-')}", metavar="TEXT", help=f"{text}.")


def _notes(x: Estimate, view: ScoresView) -> str:
    """Return what a reader needs to judge a score: its name, its samples and its uncertainty."""
    notes = [x.key]
    if view.scope is not None:
        notes.append(view.scope.in_words())
    if x.interval is not None and x.limits is not None:
        method = view.method_of(x)
        words = limits_in_words(Scale(False, 4), x.limits, method, view.confidence or 0.0)
        notes += [f"standard error {x.interval.sigma:.4f}", f"{words} ({method})"]
    if checker := view.scores.get("checker"):
        notes.append(correction_in_words(checker))
    return "; ".join([*notes, f"evaluate-at-k {at_k.__version__}"])


def _metric_config(x: Estimate) -> dict[str, Any]:
    parameters = {"k": x.k, "tau": x.tau}
    # Rewards have a unit of their own, and no limits that are known here.
    is_share = x.metric not in ("max@k", "bayes@N", "avg@N")
    unit = {"metric_unit": "proportion"} if is_share else {}
    return unit | {
        "evaluation_description": f"{x.key} of {x.group or 'all questions'}",
        "metric_id": x.metric,
        "metric_name": x.key,
        "metric_parameters": {key: value for key, value in parameters.items() if value is not None},
        "lower_is_better": False,
        "score_type": "continuous",
        "min_score": 0 if is_share else None,
        "max_score": 1 if is_share else None,
    }


def _score_details(x: Estimate, view: ScoresView) -> dict[str, Any]:
    details = {"group": x.group or "all questions"}
    if view.scope is not None and x.group is None:
        (sizes,) = view.scope.sizes
        least, most = int(sizes.min()), int(sizes.max())
        details |= {
            "questions": str(len(sizes)),
            "samples_per_question": str(most) if least == most else f"{least} to {most}",
            "checker": view.scope.checker or "graded before",
        }
    if checker := view.scores.get("checker"):
        details["correction"] = correction_in_words(checker)
    record: dict[str, Any] = {"score": x.score, "details": details}
    if x.interval is not None and x.limits is not None:
        method = view.method_of(x)
        method = f"{method}: {INTERVAL_SCOPE[method]}"
        record["uncertainty"] = {
            "standard_error": {"value": x.interval.sigma, "method": method},
            "confidence_interval": {
                "lower": x.interval.lo,
                "upper": x.interval.hi,
                "confidence_level": view.confidence,
                "method": method,
            },
        }
    return record
