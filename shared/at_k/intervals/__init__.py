"""The uncertainty of scores: one method of limits in each file, and the families they rest on."""

from ..core.interval import Interval
from ..core.score import ScoreKey

Intervals = dict[ScoreKey, Interval]
"""The interval of each score of a group of questions, by the key of the score."""
