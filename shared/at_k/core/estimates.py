"""Estimates of scores, and the flat dict of `compute`.

Only `as_dict` makes keys such as "topic/G-Pass@4_0.5_lo". Code that shows results uses the fields
of an `Estimate` (see `at_k.results`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .interval import Interval
from .score import ScoreId


class Estimate(NamedTuple):
    """The score of all questions of a run or of a group, and its uncertainty.

    Attributes:
        metric, k, tau: the identity of the score, as in `ScoreId`.
        group: the label of the group, or None for all questions.
        score: the point estimate.
        interval: its interval, or None. Fields that were not requested are None; without an
            interval of this score, all are None but `interval`, which is then the reason.
        band: the lower and the upper limit of the simultaneous band over k, or None.
    """

    metric: str
    k: int | str | None
    tau: float | None
    group: str | None
    score: float
    interval: Interval | None = None
    band: tuple[float, float] | None = None

    @property
    def key(self) -> str:
        """Return the key of the score without the group, such as "G-Pass@4_0.5"."""
        return ScoreId(self.metric, self.k, self.tau).key

    @property
    def full_key(self) -> str:
        """Return the key of the score in the dict of `compute`, such as "topic/G-Pass@4_0.5"."""
        return self.key if self.group is None else f"{self.group}/{self.key}"

    @property
    def limits(self) -> tuple[float, float] | None:
        """Return (lower, upper), or None if they were not requested or the data show no limits."""
        if self.interval is None or self.interval.lo is None or self.interval.is_unknown:
            return None
        return self.interval.lo, self.interval.hi


# --- Estimates to keys --------------------------------------------------------------------


def as_dict(
    estimates: Sequence[Estimate], safe: bool = False, others: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the flat dict of `compute`, with each estimate in order, and `others` at the end.

    If `safe`, the keys are names that every logger takes, and the values numbers only. Two groups
    with the same safe name raise a ValueError.
    """
    groups = [*dict.fromkeys(x.group for x in estimates if x.group is not None)]
    prefixes: dict[str | None, str] = {group: f"{group}/" for group in groups}
    if safe:
        prefixes = safe_prefixes(groups)
    result: dict[str, Any] = {}
    for estimate in estimates:
        score_id = ScoreId(*estimate[:3])
        name = safe_name(score_id) if safe else score_id.key
        name = prefixes.get(estimate.group, "") + name
        result[name] = estimate.score
        if estimate.interval is None and estimate.band is None:
            continue
        for field, value in _requested_fields(estimate).items():
            if not (safe and field == "interval"):
                result[f"{name}_{field}"] = value
    return result | dict(others or {})


def _requested_fields(estimate: Estimate) -> dict[str, Any]:
    """Return the fields of the interval and the band of an estimate that are not None."""
    fields = {} if estimate.interval is None else estimate.interval._asdict()
    if estimate.band is not None:
        fields["band_lo"], fields["band_hi"] = estimate.band
    return {field: value for field, value in fields.items() if value is not None}


def safe_name(score: ScoreId) -> str:
    """Return a name of letters, digits and underscores for a score.

    >>> [safe_name(ScoreId(*x)) for x in [("pass^k", 2), ("G-Pass@k", 4, 0.5), ("mG-Pass@k", 4)]]
    ['pass_hat_2', 'g_pass_at_4_tau_0_5', 'mg_pass_at_4']
    """
    name = score._replace(tau=None).key.replace("@", "_at_").replace("^", "_hat_")
    return _with_underscores(name if score.tau is None else f"{name}_tau_{score.tau}").lower()


def safe_prefixes(labels: Sequence[str]) -> dict[str | None, str]:
    """Return a dict from the label of each group to the prefix of its names with keys="safe".

    Raises a ValueError if two labels have the same safe name.
    """
    names = [_with_underscores(label) for label in labels]
    names = [name if name[:1].isalpha() else f"group_{name}" for name in names]
    label_of: dict[str, str] = {}
    for name, label in zip(names, labels, strict=True):
        if label_of.setdefault(name, label) != label:
            raise ValueError(
                f"groups has the labels {label_of[name]!r} and {label!r}, which have the same safe "
                f"name {name!r}: rename one, or use keys='exact'."
            )
    return {label: f"{name}__" for label, name in zip(labels, names, strict=True)}


def _with_underscores(text: str) -> str:
    """Replace each run of characters other than a-z, A-Z, 0-9 by "_"; remove "_" at both ends."""
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")


# --- Keys to scores -----------------------------------------------------------------------

_SCORE_KEY = re.compile(
    r"(.*[@^])(\d+|n)(?:_(\d+(?:\.\d+)?(?:e-\d+)?))?|(accuracy \()(\d+|n)( runs average\))"
)


def read_score(key: str) -> ScoreId:
    """Return the `ScoreId` of a key without a group. Text of another form is itself the metric.

    >>> read_score("G-Pass@4_0.5"), read_score("avg@n").metric, read_score("score_agg").k
    (ScoreId(metric='G-Pass@k', k=4, tau=0.5), 'avg@N', None)
    """
    match = _SCORE_KEY.fullmatch(key)
    if match is None:
        return ScoreId(key)
    name, k, tau, before, n, after = match.groups()
    if before:
        return ScoreId(f"{before}n{after}", n if n == "n" else int(n))
    letter = "N" if name in ("avg@", "bayes@") else "k"
    return ScoreId(
        f"{name}{letter}", k if k == "n" else int(k), None if tau is None else float(tau)
    )
