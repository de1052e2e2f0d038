"""Tables as papers print them: percentages with their limits, such as 61.2 (59.7, 62.6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .formats import Cells
from .tables import group_heading, layout, per_question_table, score_notes


class Scale(NamedTuple):
    """How numbers are shown: as percentages, or rewards in their own unit.

    Args:
        percent: whether the scores are shares.
        decimals: of the numbers that are shown.
    """

    percent: bool
    decimals: int

    @classmethod
    def of(cls, keys: Iterable[str], values: Iterable[float]) -> Scale:
        """The scale of scores with these keys and values, limits included."""
        rewards = any(key.startswith(("max@", "bayes@")) for key in keys)
        largest, smallest = max(values := [*values]), min(values)
        if not rewards and smallest >= 0 and largest <= 1:
            return cls(True, 1)
        return cls(False, 3 if max(largest, -smallest) < 10 else 1)

    @property
    def heading(self) -> str:
        return "Score (%)" if self.percent else "Score"

    def number(self, value: float, sign: bool = False) -> str:
        shown = round(100 * value if self.percent else value, self.decimals) + 0.0  # not -0.0
        return f"{shown:{'+' if sign and shown else ''}.{self.decimals}f}"

    def limits(self, lo: float, hi: float) -> str:
        return f"({self.number(lo)}, {self.number(hi)})"

    def estimate(self, value: float, lo: float, hi: float, sign: bool = False) -> str:
        return f"{self.number(value, sign)} {self.limits(lo, hi)}"


def interval_heading(confidence: float) -> str:
    return f"{100 * confidence:g} % CI"


def band_heading(confidence: float) -> str:
    return f"{100 * confidence:g} % band"


P_VALUES = (
    "p: two-sided p-value of no difference, the smallest alpha at which the interval with the "
    "confidence 1 - alpha excludes 0."
)


def p_value(p: float) -> str:
    return "< 0.0001" if p < 1e-4 else f"{p:.4f}"


# --- One run ------------------------------------------------------------------------------


def paper_tables_of_scores(scores: Mapping[str, Any], confidence: float | None) -> list[Cells]:
    """Return the scores of `compute`: keys by groups of questions, whichever is narrower."""
    values, keys, labels = layout(scores)
    scale = scale_of_scores(values, keys)
    parts = {"": "All questions" if labels else "Estimate"}
    parts |= {f"{label}/": group_heading(label) for label in labels}
    suffix, band = "", []
    if confidence is not None and any(f"{key}_lo" in values for key in keys):
        suffix = f" ({interval_heading(confidence)})"
        if any(f"{key}_band_lo" in values for key in keys):
            band = [band_heading(confidence)]

    def cells(key: str) -> list[str]:
        return [
            _estimate_cell(scale, values, key),
            *(_limits(scale, values, f"{key}_band") for _ in band),
        ]

    if len(keys) < len(parts):
        columns = keys
        rows = [
            [part, *(cell for key in keys for cell in cells(prefix + key))]
            for prefix, part in parts.items()
        ]
    else:
        columns = list(parts.values())
        rows = [[key, *(cell for prefix in parts for cell in cells(prefix + key))] for key in keys]
    head = [cell for column in columns for cell in (column + suffix, *band)]
    return [[[scale.heading, *head], *rows], *per_question_table(scores)]


def _estimate_cell(scale: Scale, values: Mapping[str, Any], key: str) -> str:
    if key not in values:
        return ""
    return f"{scale.number(values[key])} {_limits(scale, values, key)}".strip()


def _limits(scale: Scale, values: Mapping[str, Any], key: str) -> str:
    known = f"{key}_lo" in values
    return scale.limits(values[f"{key}_lo"], values[f"{key}_hi"]) if known else ""


def paper_notes(
    scores: dict[str, Any], interval: str | None, confidence: float | None
) -> list[str]:
    """Return the sentences of `score_notes` for these tables."""
    if confidence is None:
        return score_notes(scores, interval)
    return score_notes(
        scores,
        interval,
        f"{interval_heading(confidence)}: confidence limits",
        f"{band_heading(confidence)}: limits",
    )


# --- Several runs -------------------------------------------------------------------------


def paper_tables_of_two(
    scores: Mapping[str, float],
    keys: Sequence[str],
    names: Sequence[str],
    groups: Sequence[str],
    confidence: float,
) -> list[Cells]:
    """Return the scores of two runs and their difference: a row for each k."""
    tables = []
    for group in ["", *groups]:
        prefix = f"{group}/" if group else ""
        scale = scale_of_two(scores, keys, prefix)
        head = [scale.heading, *names, f"Difference ({interval_heading(confidence)})"]
        if group:
            head[0] += f", {group_heading(group)}"
        several = len(keys) > 1
        head += [band_heading(confidence)] * several
        head += ["p"] * any(f"{prefix}{key}_p" in scores for key in keys)
        table = [head]
        for key in keys:
            name = prefix + key
            cells = [key, *(scale.number(scores[f"{name}_{run}"]) for run in "ab")]
            cells.append(
                scale.estimate(scores[name], scores[f"{name}_lo"], scores[f"{name}_hi"], sign=True)
            )
            if several:
                cells.append(scale.limits(scores[f"{name}_band_lo"], scores[f"{name}_band_hi"]))
            if f"{name}_p" in scores:
                cells.append(p_value(scores[f"{name}_p"]))
            table.append(cells)
        tables.append(table)
    return tables


def scale_of_two(scores: Mapping[str, float], keys: Sequence[str], prefix: str = "") -> Scale:
    """The scale of the scores of two runs."""
    return Scale.of(keys, [scores[f"{prefix}{key}_{run}"] for key in keys for run in "ab"])


def paper_tables_of_many(board: Mapping[str, Any]) -> list[Cells]:
    """Return the runs of a leaderboard: one row each, and the scores at each k with letters."""
    tables = []
    for group, each in {"": board, **board.get("groups", {})}.items():
        keys, scale = keys_of_board(each), scale_of_many(each)
        head = [f"Run, {group_heading(group)}" if group else "Run"]
        unit = " in %" if scale.percent else ""
        for key in keys:
            head += [f"{key}{unit} ({interval_heading(each['confidence'])})", ""]
            if len(keys) == 1:
                head[-1] = "Letters"
        if len(keys) == 1:
            head.append(f"Rank ({interval_heading(each['confidence'])})")
        rows = {row["run"]: [row["run"]] for row in each["runs"]}
        for row in each["runs"]:
            cells = rows[row["run"]]
            cells += [scale.estimate(row["score"], row["lo"], row["hi"]), row["letters"]]
            if len(keys) == 1:
                cells.append(f"{row['rank']} ({row['rank_lo']}, {row['rank_hi']})")
        tables.append([head, *rows.values()])
    return tables


def scale_of_scores(values: Mapping[str, Any], keys: Iterable[str]) -> Scale:
    """The scale of the scores of `compute`, from all numbers in it except those of questions."""
    return Scale.of(keys, [each for each in values.values() if isinstance(each, (int, float))])


def keys_of_board(board: Mapping[str, Any]) -> list[str]:
    """The keys of the scores of a leaderboard, one for each k."""
    return list(dict.fromkeys(row["key"] for row in board["runs"]))


def scale_of_many(board: Mapping[str, Any]) -> Scale:
    """The scale of the scores of a leaderboard."""
    rows = board["runs"]
    return Scale.of(
        [row["key"] for row in rows],
        [row[name] for row in rows for name in ("score", "lo", "hi")],
    )
