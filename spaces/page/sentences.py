"""Numbers and results in sentences."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from at_k.cli.formats import (
    INTERVAL_NAME,
    INTERVAL_SCOPE,
    Scale,
    Scope,
    enumerated,
    limits_in_words,
)

from .space import Run, interval_method


def percent(share: float) -> str:
    """Return a share in percent: "12 %", with a decimal below 1 % and above 99 %."""
    if 0 < share < 0.0005:
        return "less than 0.1 %"
    if 0.9995 <= share < 1:
        return "more than 99.9 %"
    is_extreme = 0 < share < 0.01 or 0.99 < share < 1
    return f"{100 * share:.1f} %" if is_extreme else f"{100 * share:.0f} %"


def decimal(value: float) -> str:
    """Return a number with three decimals."""
    return f"{round(value, 3) + 0.0:.3f}"  # adding 0 avoids -0.000


def sentence_per_run(runs: Sequence[Run], clauses: Sequence[str]) -> str:
    """Return one sentence for each run, from a clause in lower case for each.

    If there are several runs, each sentence starts with the label of its run.
    """
    if len(runs) == 1:
        return f"{clauses[0][0].upper()}{clauses[0][1:]}."
    return " ".join(f"{run.label}: {clause}." for run, clause in zip(runs, clauses, strict=True))


def sizes_note(runs: Sequence[Run], row: str, cell: str) -> str:
    """Return how many questions and samples there are: "6 questions, 8 samples each.".

    Args:
        runs: the runs. If there are several, their labels are named.
        row: what a question is called.
        cell: what a sample is called.
    """
    clauses = []
    for run in runs:
        counts = run.sample_counts
        rows = f"{len(counts)} {row}{'s' * (len(counts) != 1)}"
        cells = f"{number_range(counts)} {cell}{'s' * (max(counts) != 1)}"
        clauses.append(f"{f'{run.label}: ' if len(runs) > 1 else ''}{rows}, {cells} each")
    return f"{'; '.join(clauses)}."


def number_range(numbers: Collection[int]) -> str:
    """Return the range of numbers: "6 to 8", or "8" if they are equal."""
    lowest, highest = min(numbers), max(numbers)
    return f"{lowest}" if lowest == highest else f"{lowest} to {highest}"


def scale_of(runs: Sequence[Run]) -> Scale:
    """Return how the page prints scores: in percent, or rewards and verdicts in their own unit."""
    has_rewards = any(x.metric == "max@k" for run in runs for x in run.estimates().values())
    if has_rewards or not all(run.is_binary for run in runs):
        return Scale(False, 3)
    return Scale(True, 1)


def limits_sentence(run: Run, keys: Sequence[str], scope: Scope, confidence: float) -> str:
    """Return the scores of a run with their limits, or "" if one has none.

    Args:
        run: the run.
        keys: the scores, the most important first.
        scope: the questions and their samples.
        confidence: the confidence level.
    """
    scale = scale_of([run])
    clauses: list[str] = []
    for key in keys:
        estimate = run.estimates()[key]
        if estimate.limits is None:
            return ""
        words = " to ".join(map(scale.number, estimate.limits))
        if not clauses:
            method = interval_method(estimate)
            words = limits_in_words(scale, estimate.limits, method, confidence, scope.row)
        clauses.append(f"{key} is {scale.with_unit(estimate.score)} ({words})")
    return f"On {scope.in_words()}, {enumerated(clauses)}."


def interval_notes(
    runs: Sequence[Run], keys: Sequence[str], confidence: float, row: str
) -> list[str]:
    """Return the sentences below a table that say what its intervals are, and why some lack one.

    Args:
        runs: the runs in the table.
        keys: the scores in the table.
        confidence: the confidence level.
        row: what a question is called.
    """
    scores_by_meaning: dict[str, list[str]] = {}
    scores_by_reason: dict[str, list[str]] = {}
    for run in runs:
        for key in keys:
            name, _, reason = interval_method(run.estimates()[key]).partition(": ")
            if name == "none":
                scores_by_reason.setdefault(reason, []).append(key)
            elif name:
                meaning = f"{INTERVAL_NAME[name]} {INTERVAL_SCOPE[name].replace('question', row)}"
                scores_by_meaning.setdefault(meaning, []).append(key)
    notes = []
    for meaning, shown in scores_by_meaning.items():
        which = f" for {_names(shown)}" if len(scores_by_meaning) > 1 else ""
        notes.append(f"Interval{which}: {percent(confidence)} {meaning}.")
    for reason, shown in scores_by_reason.items():
        which = f" for {_names(shown)}" if scores_by_meaning else ""
        notes.append(f"No interval{which}: {reason.replace('question', row)}.")
    return notes


def _names(keys: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(keys))
