"""`at-k METRIC FILE...`: the scores of a metric for the samples in files."""

from __future__ import annotations

import argparse
import contextlib
import functools
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import at_k

from ..core.checking import Checked
from ..core.choice import KnownClusters
from ..core.computation import Computation
from ..core.computations import COMPUTATIONS, GPASSK
from ..core.estimates import Estimate
from ..core.samples import Samples
from ..intervals.labelled import Errors
from ..loading import metric_script
from ..readers.missing import CHOICES, MissingError
from ..readers.run import read_run
from ..results import Result, estimates_of
from ..runs.noise import correction_in_words, noise_of
from ..runs.options import WITHOUT_K, ComparisonOptions, RunOptions, compared_scores
from ..runs.outcomes_of_runs import Run, naming_questions, number_unanswered
from .flags import COOL, WARM, add_flags, parameter_helps, split_arguments
from .formats import FORMATS_OF_OUTPUT, Scope, as_flag, print_output
from .plot import chart_of_scores, check_plot, draw
from .run_input import CheckedOnce, RunInput, refuse_ungraded, warn_of_other_grades
from .score_tables import ScoresView, nouns_of

_METRIC_EXAMPLES = """\
examples, with the samples of the package:
  at-k {name} {warm} --check-correct-fn numeric
  at-k {name} {warm} --check-correct-fn numeric --groups topic --confidence 0.95
  at-k {name} {cool} --check-correct-fn numeric --format markdown
"""
_VERDICT_EXAMPLES = """\
examples:
  echo '{{"verdicts": ["fully", "partial"]}}' > answers.jsonl
  echo '{{"verdicts": ["mostly", "none", "minor"]}}' >> answers.jsonl
  at-k score_agg answers.jsonl --temperature 0.3
  at-k score_agg answers.jsonl --confidence 0.95
"""
_FILES = """
Several files are parts of one run, and - is standard input:
  python make.py | at-k {name} - --json
"""

_PUBLISHED_FORMAT = "eval-results"
"""The YAML of a file in a model's folder `.eval_results`, which its page on the Hub shows.

https://huggingface.co/docs/hub/eval-results
"""
_PUBLISHED_FIELDS = {
    "dataset": "id of the benchmark's dataset on the Hub, such as cais/hle",
    "task": "task of the benchmark, such as default",
    "source_url": "where the samples or a report are",
}
"""The flags for facts that published scores need besides the samples, and their help."""

_WITH_NOISE = {*compared_scores()} - {"bayes@N", "score_agg"}
"""The names of the scores that `at_k.noise` takes."""

_OPTIONS_WITHOUT_NOISE = {"weights", "lam", "pass_power", "unanimous_power"}
_OPTIONS_WITHOUT_NOISE |= {"R0", "categories", "budget"}
"""Options that change the definition of a score, which `at_k.noise` does not have."""


def add_metric_flags(command: argparse.ArgumentParser, name: str) -> None:
    """Add the flags of a metric to the parser of its subcommand, and set what this runs."""
    computation = COMPUTATIONS[name]
    examples = _VERDICT_EXAMPLES if name == "score_agg" else _METRIC_EXAMPLES
    epilog = (examples + _FILES).format(name=name, cool=COOL, warm=WARM)
    script = metric_script(name).read_text(encoding="utf-8")
    docstring = script.partition('_KWARGS_DESCRIPTION = """')[2].partition('"""')[0]
    helps, formats = parameter_helps(docstring), (*FORMATS_OF_OUTPUT, _PUBLISHED_FORMAT)
    add_flags(command, "FILE...", epilog, computation.parameters.values(), helps, formats=formats)
    group = command.add_argument_group(
        "for --format eval-results",
        "Save it as a file .eval_results/NAME.yaml in the model's repository on the Hub.",
    )
    for field, text in _PUBLISHED_FIELDS.items():
        group.add_argument(as_flag(field), metavar="TEXT", help=f"{text}.")
    command.set_defaults(run=functools.partial(_score_files, name, computation))


def _score_files(
    name: str,
    computation: Computation,
    files: Sequence[str],
    output_format: str,
    plot: str | None = None,
    **flags: Any,
) -> None:
    """Print the scores of the metric `name` for a run. `files` are the parts of the run."""
    fields = {field: flags.pop(field) for field in _PUBLISHED_FIELDS}
    _check_published(fields, output_format)
    reading, parameters = split_arguments(flags)
    check_plot(plot)
    run = _read_samples_of_run(name, computation, files, reading, parameters)
    view = _scores_view(name, computation, run, parameters)
    is_published = output_format == _PUBLISHED_FORMAT
    print_output(_eval_results_yaml(view, fields) if is_published else view.printed(output_format))
    draw(plot, lambda: chart_of_scores(view, run))


def _read_samples_of_run(
    name: str,
    computation: Computation,
    files: Sequence[str],
    reading: dict[str, Any],
    parameters: Mapping[str, Any],
) -> RunInput:
    """Read one run to be scored with the metric `name` and these `parameters` of `compute`.

    `reading` has arguments of `read_run`. Raises ValueError if the metric cannot score the samples.
    """
    has_labels = name == "score_agg" or "categories" in parameters
    in_order = bool(computation.ordered_options(parameters))
    reading = reading | {"has_labels": has_labels, "in_order": in_order}
    if parameters.get("interval") != "questions" and reading.get("clusters") is None:
        reading.pop("clusters", None)  # With None, a column with a usual name would be read.
    checker = parameters.get("check_correct_fn", "exact_match")
    try:
        questions = read_run(files, **reading)
    except MissingError as error:
        raise _with_both_scores(error, files, reading, checker) from None
    if "check_correct_fn" in questions and name != "cons_at_k":
        raise ValueError(
            "--outcomes beside --predictions are for the votes of cons_at_k: leave out one of them."
        )
    if not (has_labels or (computation.accepts_labels and "outcomes" in questions.columns)):
        refuse_ungraded(questions)
    return RunInput(questions, checker, interval=parameters.get("interval"))


def _scores_view(
    name: str, computation: Computation, run: RunInput, parameters: Mapping[str, Any]
) -> ScoresView:
    """Score a run with the metric `name`. `parameters` of `compute` override those in the run."""
    questions = run.questions
    defaults = {key: option.default for key, option in computation.parameters.items()}
    read_options = {key: questions[key] for key in questions.keys() & defaults.keys()}
    arguments = read_options | dict(parameters)
    if name == "gpassk" and "include" not in arguments and run.sizes.max(initial=1) == 1:
        arguments["include"] = "pass@k"  # With one sample of each question, all scores are equal.
    options, noise = defaults | arguments, {}
    # What a checker prints goes to standard error, so that it does not mix with the scores.
    with contextlib.redirect_stdout(sys.stderr), naming_questions(questions):
        batch = computation.read(questions["predictions"], questions.get("references"))
        samples = CheckedOnce(batch, computation.validate)
        scores = computation.results(samples, **arguments)
        if samples.checks:  # The metric has checked the samples.
            (checked,) = samples.checks
            warn_of_other_grades(questions, checked.outcomes)
            run.unanswered = number_unanswered(checked)
            if not _OPTIONS_WITHOUT_NOISE & arguments.keys():
                noise = _noise_of_leading_score(scores, checked, options)
    scope = _scope_of_run(name, run, scores, options)
    input_sentences = [run.described(scope.row, scope.noun)]
    if scope.correction or scope.averaging:
        phrases = filter(None, [scope.correction, scope.averaging])
        input_sentences.append(f"Scores are {', '.join(phrases)}.")
    return ScoresView(scores, scope, input_sentences, options, noise, questions.ids, name)


def _scope_of_run(name: str, run: RunInput, scores: Result, options: Mapping[str, Any]) -> Scope:
    """Return the facts about a run, scored with the metric `name`, that sentences state."""
    clusters = options.get("clusters")
    if isinstance(clusters, KnownClusters) and options["interval"] != "questions":
        clusters = None  # Clusters that the user has not named are only used by this interval.
    return Scope(
        [run.sizes],
        run.checker,
        *nouns_of([name]),
        correction=correction_in_words(scores["checker"]) if "checker" in scores else "",
        averaging=scores.averaging,
        missing=run.questions.missing,
        clusters=clusters,
    )


def _with_both_scores(
    error: MissingError, files: Sequence[str], reading: Mapping[str, Any], checker: Any
) -> MissingError:
    """Return an error about missing answers with pass@1 added for both choices of --missing.

    It is unchanged if the checker may be slow, a pipe cannot be read again, samples are graded, or
    the message has such numbers. `files` and `reading` are the arguments of `read_run`.
    """
    is_fast = checker in ("exact_match", "numeric", "choice")
    has_pipe = any(file == "-" or Path(file).is_fifo() for file in files)
    if not is_fast or has_pipe or len(error.ways) < 2 or "the mean outcome" in str(error):
        return error
    scores = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for missing in CHOICES:
            run = read_run(files, **{**reading, "missing": missing})
            if "references" not in run or "check_correct_fn" in run:  # The samples are graded.
                return error
            result = GPASSK.compute(**run, check_correct_fn=checker, k=1, include="pass@k")
            scores.append(result["pass@1"])
    text = f"{error} pass@1 with {checker} is {scores[0]:.4g} or {scores[1]:.4g}."
    return MissingError(text, error.ways)


def _leading_score(scores: Result) -> Estimate | None:
    """Return vote@k, or else the first score whose noise can be shown, at its largest k, or None.

    It is also None if the samples differ in number, so that the k of the score is the text "n".
    """
    estimates = [x for x in estimates_of(scores) if x.group is None and x.metric in _WITH_NOISE]
    metrics = [estimate.metric for estimate in estimates]
    leading = "vote@k" if "vote@k" in metrics else next(iter(metrics), "")
    with_k = [(x.k, x) for x in estimates if x.metric == leading and isinstance(x.k, int)]
    return max(with_k, key=lambda pair: pair[0])[1] if with_k else None


def _show_noise(outcomes: Samples, score: Estimate, clusters: Sequence[Any] | None) -> bool:
    """Return whether outcomes show how questions and samples vary.

    They show it by two clusters of questions, a question with two samples, and k samples of each.
    """
    has_k = score.metric not in WITHOUT_K and isinstance(score.k, int)
    has_samples = outcomes.n.max() > 1 and (not has_k or score.k <= outcomes.n.min())
    number_of_clusters = len(outcomes) if clusters is None else len({*clusters})
    return has_samples and number_of_clusters > 1


def _noise_of_leading_score(
    scores: Result, checked: Checked, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return {key: entry of `at_k.noise`} of the leading score, or {} if noise is unknown or 0."""
    leading, outcomes = _leading_score(scores), checked.outcomes
    if leading is None or leading.interval is None:
        return {}
    if not _show_noise(outcomes, leading, options["clusters"]):
        return {}
    metric = leading.metric if leading.metric in WITHOUT_K else leading.key
    errors = Errors.from_options(options.get("checker_rates"), options.get("labels"), outcomes)
    shared = {name: options[name] for name in RunOptions.__annotations__ if name in options}
    comparison = ComparisonOptions(metric, None, "questions", options["confidence"], **shared)
    known, method = None, leading.interval.interval or options["interval"]
    if method == "sampling" and not options["anytime"] and errors == Errors():
        known = [leading.interval]  # These limits for the same questions are not computed again.
    noise = noise_of(Run("The file", outcomes, checked.answers, errors), comparison, known)
    return {key: entry for key, entry in noise.items() if entry["standard_error"] > 0}


# --- Scores on model pages of the Hub ---------------------------------------------------------


def _check_published(fields: Mapping[str, str | None], output_format: str) -> None:
    """Raise a ValueError if eval-results lacks a required field, or another format has a field.

    A field is the value of a flag in `_PUBLISHED_FIELDS`, or None.
    """
    is_published = output_format == _PUBLISHED_FORMAT
    for name, value in fields.items():
        flag = as_flag(name)
        if value is not None and not is_published:
            raise ValueError(f"{flag} is for --format eval-results: add that, or leave it out.")
        if value is None and is_published and name != "source_url":
            raise ValueError(f"--format eval-results needs {flag} ({_PUBLISHED_FIELDS[name]}).")


def _eval_results_yaml(view: ScoresView, fields: Mapping[str, str | None]) -> str:
    """Return the YAML of `--format eval-results` for the score of all questions.

    Raises ValueError if there are several scores. `fields` has the entries of `_PUBLISHED_FIELDS`.
    """
    import yaml

    value, phrases = view.published()
    entry: dict[str, Any] = {
        "dataset": {"id": fields["dataset"], "task_id": fields["task"]},
        "value": value,
        "source": {"url": fields["source_url"]},
        "notes": "; ".join([*phrases, f"evaluate-at-k {at_k.__version__}"]),
    }
    if fields["source_url"] is None:
        del entry["source"]
    return yaml.safe_dump([entry], sort_keys=False, allow_unicode=True, width=88).rstrip()
