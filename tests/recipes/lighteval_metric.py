"""pass@k, pass^k and their limits as one metric of lighteval. Needs lighteval."""

from at_k.integrations.lighteval import at_k
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.requests import Doc

# In a task: LightevalTaskConfig(.., metrics=[metric]), which generates 8 samples of each document.
metric = at_k(k=[1, 4], n=8, interval="questions", strip_strings=True)

docs = [Doc(query=query, choices=[gold], gold_index=0) for query, gold in (("1+2", "3"), ("", "5"))]
response = ModelResponse(text=["3", " 3", "4", "3", "3 ", "3", "3", "5"])
samples = [metric.compute_sample(doc=doc, model_response=response)["at_k"] for doc in docs]
scores = metric.get_corpus_aggregations()["at_k"](samples)
assert abs(scores["pass^4"] - 15 / 70 / 2) < 1e-12, scores
assert scores["pass@1_lo"] < scores["pass@1"] == 7 / 16 < scores["pass@1_hi"]
