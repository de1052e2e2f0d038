"""Methods that compute the limits of scores, and the families of distributions they rest on."""

from ..core.interval import Interval
from ..core.score import ScoreKey

Intervals = dict[ScoreKey, Interval]
"""The interval of each score of a group of questions, by the key of the score."""
