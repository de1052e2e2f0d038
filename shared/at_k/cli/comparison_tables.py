"""The tables of a comparison of two runs, and the sentences that explain its limits."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from .formats import Cells
from .paper_tables import P_VALUES, p_value
from .tables import group_heading

INTERVAL_SCOPE = {
    "sampling": "for the same questions, sampled again",
    "hierarchical": "for the same questions, sampled again",
    "posterior": "for the same questions, sampled again",
    "questions": "for other questions like these",
}
INTERVAL_NAME = {
    "sampling": "confidence interval",
    "hierarchical": "confidence interval",
    "posterior": "credible interval",
    "questions": "confidence interval",
}
_COLUMNS = {
    "": "difference",
    "_lo": "lo",
    "_hi": "hi",
    "_band_lo": "band lo",
    "_band_hi": "band hi",
}
"""The columns of a difference: the suffix of the keys, and the heading."""


def comparison_tables(
    scores: Mapping[str, float], labels: Sequence[str], groups: Sequence[str]
) -> list[Cells]:
    """Return a table for all questions and one for each group.

    There is a row for each k: both scores, their difference and its limits.
    """
    headings = {"": "all questions" if groups else ""}
    headings |= {f"{group}/": group_heading(group) for group in groups}
    columns = {**_COLUMNS, "": "diff"}  # so that most tables have 80 columns
    if len(compared_keys(scores)) == 1:  # the band is equal to the interval
        columns = {suffix: columns[suffix] for suffix in ("", "_lo", "_hi")}
    tables = []
    for prefix, heading in headings.items():
        has_p = any(key.endswith("_p") for key in scores)
        table = [[heading, *labels, *columns.values(), *["p"] * has_p]]
        for key in compared_keys(scores):
            name = prefix + key
            both = [f"{scores[name + suffix]:.4f}" for suffix in ("_a", "_b")]
            numbers = [f"{scores[name + suffix]:+.4f}" for suffix in columns]
            table.append(
                [key, *both, *numbers, *map(p_value, [scores[f"{name}_p"]] if has_p else [])]
            )
        tables.append(table)
    return tables


def comparison_records(
    scores: Mapping[str, float], labels: Sequence[str], groups: Sequence[str]
) -> Cells:
    """Return the comparisons of all questions and of each group in one table, in full precision."""
    has_p = any(key.endswith("_p") for key in scores)
    columns = _COLUMNS | ({"_p": "p"} if has_p else {})
    table = [["group", "key", *labels, *columns.values()]]
    for group in ["", *groups]:
        for key in compared_keys(scores):
            name = f"{group}/{key}" if group else key
            suffixes = ("_a", "_b", *columns)
            table.append([group, key, *(str(scores[name + suffix]) for suffix in suffixes)])
    return table


def comparison_summary(
    scores: Mapping[str, float],
    labels: Sequence[str],
    interval: str,
    confidence: float,
    for_paper: bool = False,
) -> str:
    """Return sentences that explain the difference and its limits, and say which run is higher.

    Args:
        scores: of `at_k.compare`.
        labels: the names of both runs.
        interval: the method of the intervals.
        confidence: of the intervals.
        for_paper: whether limits are in parentheses, and not in columns lo and hi.
    """
    percent = f"{100 * confidence:g} %"
    limits, band = ("lo and hi", "band lo and band hi")
    if for_paper:
        limits, band = f"{percent} CI", f"{percent} band"
    name, conclusion = f"{percent} {INTERVAL_NAME[interval]}", zero_in_band(scores, labels)
    difference = f"{'Difference' if for_paper else 'diff'}: {labels[1]} minus {labels[0]}."
    if len(compared_keys(scores)) == 1:
        parts = [f"{limits}: {name} of the difference, {INTERVAL_SCOPE[interval]}."]
        parts.append(f"The interval {conclusion}.")
    else:
        parts = [f"{limits}: {name} of the difference at each k, {INTERVAL_SCOPE[interval]}."]
        parts.append(f"{band}: simultaneous {percent} confidence band over all k.")
        parts.append(f"The band {conclusion}.")
    if any(key.endswith("_p") for key in scores):
        parts.append(P_VALUES)
    return " ".join([difference, *parts])


def zero_in_band(scores: Mapping[str, float], labels: Sequence[str]) -> str:
    """Return where the band excludes 0, and which run is higher there: what follows "The band"."""
    compared = compared_keys(scores)
    found = []
    for sign, group in itertools.groupby(compared, lambda key: _band_sign(scores, key)):
        keys = list(group)
        if sign != 0:
            label = labels[1] if sign > 0 else labels[0]
            if len(compared) == 1:
                return f"excludes 0: {label} has the higher {keys[0]}"
            where = f"at {keys[0]}" if len(keys) == 1 else f"from {keys[0]} to {keys[-1]}"
            found.append(f"{where}, where {label} is higher")
    if found:
        return f"excludes 0 {', and '.join(found)}"
    if len(compared) == 1:
        return f"contains 0, so the data do not show which run has the higher {compared[0]}"
    return "contains 0 at all k, so the data do not show which run is higher"


def _band_sign(scores: Mapping[str, float], key: str) -> int:
    """Return 1 or -1 if the band at a key is above or below 0, or else 0."""
    if scores[f"{key}_band_lo"] > 0:
        return 1
    return -1 if scores[f"{key}_band_hi"] < 0 else 0


def compared_keys(scores: Mapping[str, float]) -> list[str]:
    """Return the keys of the differences for all questions."""
    return [key for key in scores if f"{key}_band_lo" in scores and "/" not in key]
