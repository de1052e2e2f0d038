"""The option `interval`: it needs a confidence, and None stands for the default."""

import evaluate
import pytest
from conftest import ROOT

DATA = {
    "gpassk": [[1, 0, 1, 1], [0, 0, 1, 0]],
    "bayes_at_n": [[1, 0, 1, 1], [0, 0, 1, 0]],
    "max_at_k": [[1, 0, 1, 1], [0, 0, 1, 0]],
    "cons_at_k": [[1, 0, 1, 1], [0, 0, 1, 0]],
    "score_agg": [["fully", "none"], ["minor", "mostly"]],
}
DEFAULT = dict.fromkeys(DATA, "posterior") | {"score_agg": "questions"}


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("interval", ["questions", "auto"])
def test_an_interval_without_a_confidence_is_refused(name, interval):
    metric = evaluate.load(str(ROOT / "metrics" / name))
    with pytest.raises(ValueError, match="interval"):
        metric.compute(predictions=DATA[name], confidence=None, interval=interval)
    assert metric.compute(predictions=DATA[name], confidence=None)  # the metric is still usable


@pytest.mark.parametrize("name", DATA)
def test_the_default_interval_is_the_documented_one(name):
    metric = evaluate.load(str(ROOT / "metrics" / name))
    options = {"predictions": DATA[name], "confidence": 0.9}
    named = metric.compute(**options, interval=DEFAULT[name])
    assert metric.compute(**options) == named
