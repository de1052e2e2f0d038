"""Intervals around an estimate."""

from __future__ import annotations

import math
from statistics import NormalDist


def check_confidence(confidence: float) -> float:
    """Raise a ValueError unless 0 < confidence < 1."""
    if isinstance(confidence, bool) or not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence!r}: give a probability such as 0.95.")
    return float(confidence)


def normal_interval(
    mu: float, sigma: float, confidence: float, bounds: tuple[float, float] | None
) -> tuple[float, float]:
    """mu -+ z sigma, each end clipped to the bounds (lo, hi) where there are any."""
    reach = NormalDist().inv_cdf((1 + check_confidence(confidence)) / 2) * sigma
    least, most = bounds if bounds is not None else (-math.inf, math.inf)
    if not least <= most:
        raise ValueError(f"bounds are {bounds!r}: give (lo, hi) with lo <= hi.")
    return min(max(mu - reach, least), most), max(min(mu + reach, most), least)
