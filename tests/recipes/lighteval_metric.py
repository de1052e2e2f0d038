"""pass^k as a metric of lighteval, beside those that it has. Needs lighteval."""

import at_k
import numpy as np
from lighteval.metrics.metrics_sample import PassAtK
from lighteval.metrics.utils.metric_utils import SampleLevelMetric
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.requests import Doc, SamplingMethod


class PassHatK(PassAtK):
    """All of k samples are correct, normalized and scored as for pass@k of lighteval."""

    def pass_at_k(self, all_scores):
        return at_k.pass_hat_k([all_scores], self.k)


pass_hat_4 = SampleLevelMetric(
    metric_name="pass^4",
    sample_level_fn=PassHatK(k=4, n=8, strip_strings=True),
    category=SamplingMethod.GENERATIVE,
    corpus_level_fn=np.mean,
    higher_is_better=True,
)

doc = Doc(query="1 + 2", choices=["3"], gold_index=0)
response = ModelResponse(text=["3", " 3", "4", "3", "3 ", "3", "3", "5"])
score = pass_hat_4.sample_level_fn.compute(doc=doc, model_response=response)
assert abs(score - 15 / 70) < 1e-12, score
