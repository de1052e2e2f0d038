"""Draw the results of `compute`, `compare` and `leaderboard` for papers and notebooks.

    pip install altair vl-convert-python

    options = {"confidence": 0.95, "interval": "questions"}
    results = {"before": metric.compute(..., **options), "after": metric.compute(..., **options)}
    chart = at_k.charts.by_k(results, "pass@k", questions=94, n=32, checker="numeric", **options)
    chart.save("figure.pdf")

by_k: scores against the number of samples k, of one or many runs.
by_threshold: G-Pass@k against its threshold.
by_parameter: scores against any other parameter, such as a temperature.
by_group: scores of groups of questions.
by_question: scores of questions, from the hardest to the easiest.
difference: the difference of two runs against k, with a simultaneous band.
forest: many runs with their limits, ranks and letters.

The scores of one run are lines, or series, of one panel. For several runs there is a panel for each
score, and the runs are its lines.

No function computes scores. Each function returns an Altair chart of results, and raises a
TypeError if they are no dict of scores. Notebooks show the chart, and its method `save(file)`
writes SVG, PDF, PNG or HTML. SVG and HTML need no network and no script. A chart is 3.3 inches
wide, like the column of a paper, with text of 8 points. Lines differ in color, dash pattern and
marker, so that they can be told apart without color.

The caption below a chart says what the limits are and what was scored, as far as it is known.
Results name only the method that `interval="auto"` chose. So pass the other options of `compute` as
keywords, which all functions take:

Args:
    questions: number of questions.
    n: number of samples of each question, or a text such as "30 to 32".
    checker: name of the checker.
    confidence: confidence of the limits in the results.
    interval: interval method of the limits. Leave it out for "auto". A ValueError is raised if the
        results name another method. The caption says which questions the limits are for: with
        "questions", other questions like these; with every other method, the same questions,
        sampled again.
    caption: a text to show in place of the caption, or "" for none.
    percent: whether scores are shown in percent, which suits scores from 0 to 1.
    width: width of the chart in inches.
"""

try:
    import altair  # noqa: F401
except ImportError as error:
    raise ImportError(
        f"at_k.charts needs Altair ({error}): pip install altair vl-convert-python"
    ) from error

from .curves import by_k, by_parameter, by_question, by_threshold, difference
from .intervals import by_group, forest

__all__ = [
    "by_group",
    "by_k",
    "by_parameter",
    "by_question",
    "by_threshold",
    "difference",
    "forest",
]
