"""The metric for lighteval, which needs torch and is not installed for the tests.

The stand-in has the classes that the metric uses, with the attributes and calls of lighteval 0.13.
tests/readers/test_harnesses.py compares what lighteval itself reported for a task with the metric.
"""

import sys
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

import at_k
import pytest
from scored import gpassk


class PassAtK:
    """Compares texts, as the class of lighteval does without arguments for normalization."""

    def __init__(self, k, n):
        self.k, self.n = k, n

    def compute(self, doc, model_response):
        return self.pass_at_k([int(text == doc) for text in model_response[: self.n]])

    def pass_at_k(self, all_scores):
        raise NotImplementedError

    def num_samples(self):
        return self.n


@dataclass
class CorpusLevelMetric:
    metric_name: str
    sample_level_fn: Any
    category: str
    corpus_level_fn: Any
    higher_is_better: bool


@pytest.fixture
def make_metric(monkeypatch):
    contents: dict[str, dict[str, Any]] = {
        "metrics.metrics_sample": {"PassAtK": PassAtK},
        "metrics.utils.metric_utils": {"CorpusLevelMetric": CorpusLevelMetric},
        "tasks.requests": {"SamplingMethod": SimpleNamespace(GENERATIVE="GENERATIVE")},
    }
    for name, content in contents.items():
        parts = ["lighteval", *name.split(".")]
        for i in range(1, len(parts) + 1):
            module = ModuleType(".".join(parts[:i]))
            module.__path__ = []
            monkeypatch.setitem(sys.modules, module.__name__, module)
        vars(module).update(content)
    monkeypatch.delitem(sys.modules, "at_k.integrations.lighteval", raising=False)
    yield at_k.integrations.lighteval.at_k
    monkeypatch.delitem(sys.modules, "at_k.integrations.lighteval")


def test_outcomes_of_documents_become_scores_of_the_task(make_metric, caplog):
    metric = make_metric(k=[1, 2, 8], n=4, scores=["pass@k", "pass^k"], interval="questions")
    assert metric.sample_level_fn.num_samples() == 4
    samples = [metric.sample_level_fn.compute(doc, text) for doc, text in (("a", "aba"), ("b", ""))]
    assert samples == [[1, 0, 1], []]
    samples = [[1.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0]]
    scores = metric.corpus_level_fn(samples)
    expected = gpassk(
        samples, k=[1, 2], include=["pass@k", "pass^k"], confidence=0.95, interval="questions"
    )
    for name in ("pass@1", "pass@2", "pass^2_lo", "pass@1_hi"):
        assert scores[name] == pytest.approx(expected[name], rel=1e-12)
    assert scores["pass@8"] != scores["pass@8"]
    assert "2 questions with fewer than 8 scored samples" in caplog.text
    assert make_metric(k=[1, 4]).sample_level_fn.num_samples() == 4
