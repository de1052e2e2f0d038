"""Intervals around an estimate."""

from __future__ import annotations

from statistics import NormalDist


def normal_interval(
    mu: float, sigma: float, confidence: float, bounds: tuple[float, float]
) -> tuple[float, float]:
    """mu -+ z sigma, each end clipped to the bounds (lo, hi)."""
    reach = -NormalDist().inv_cdf((1 - confidence) / 2) * sigma
    least, most = bounds
    return min(max(mu - reach, least), most), max(min(mu + reach, most), least)
