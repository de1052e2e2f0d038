"""Show the scores of an answer in the tables and sentences of the command at-k."""

from at_k.cli.formats import Scope, View, csv_text
from at_k.cli.score_tables import ScoresView, records_of
from at_k.core.credits import required_samples
from at_k.core.estimates import Estimate, as_dict
from at_k.results import Result

from .request import Answer
from .space import Run

FORMATS = {"CSV": "csv", "LaTeX": "tex", "Markdown": "md"}
"""The formats of tables, and the types of their files."""


def views_of(answer: Answer, for_paper: bool = False) -> list[View]:
    """Return the views of an answer, each of which can print its tables.

    For two compared runs, it is only the comparison. Otherwise there is a view of each run, after
    the leaderboard if there is one. With `for_paper`, those of runs have the main scores only.
    """
    views: list[View] = [] if answer.comparison is None else [answer.comparison.view]
    if answer.comparison is None or len(answer.runs) > 2:
        views += [_run_view(answer, run, for_paper) for run in answer.runs]
    return views


def _run_view(answer: Answer, run: Run, for_paper: bool) -> ScoresView:
    """Return a view of the main scores of a run, followed by all others unless `for_paper`."""
    main_keys = answer.space.main_scores(run, answer.options)
    all_estimates = [x for x in run.scores().estimates if not _is_repeated(x)]
    estimates = [x for key in main_keys for x in all_estimates if x.key == key]
    if not for_paper:
        estimates += [x for x in all_estimates if x.key not in main_keys]
    has_several_runs = len(answer.runs) > 1
    return ScoresView(
        Result(as_dict(estimates), estimates),
        Scope([run.sample_counts], answer.checker, *answer.space.nouns),
        [run.label] if has_several_runs else (),
        answer.options,
        label=f"scores-{run.label}" if has_several_runs else "scores",
    )


def _is_repeated(estimate: Estimate) -> bool:
    """Return whether a score equals pass@k or pass^k for all data, so that tables leave it out."""
    k, tau = estimate.k, estimate.tau
    if estimate.metric == "mG-Pass@k":
        return k == 2
    return tau is not None and isinstance(k, int) and required_samples(k, tau) in (1, k)


def table_text(answer: Answer, name: str) -> str:
    """Return the tables of an answer as text in one of `FORMATS`.

    CSV has a row for each run, group and key, in full precision. The other formats have the scores
    that a paper would report.
    """
    if name != "CSV":
        views = views_of(answer, for_paper=True)
        return "\n\n".join(view.printed(name.lower()) for view in views) + "\n"
    labelled = [(run.label, x) for run in answer.runs for x in run.scores().estimates]
    head, *records = records_of([estimate for _, estimate in labelled])
    rows = [[label, *record] for (label, _), record in zip(labelled, records, strict=True)]
    return csv_text([["run", *head], *rows])
