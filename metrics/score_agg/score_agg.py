# Copyright 2026 The evaluate-at-k authors.
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
"""score_agg: graded verdicts folded into one score, as strictly as a temperature says."""

from concurrent.futures import Executor

import datasets
import evaluate
import numpy as np

from .kernel import (
    VERDICTS,
    Checker,
    QuestionIntervals,
    Report,
    SampledMetric,
    Score,
    Scores,
    check_eps,
    check_interval,
    check_penalty,
    check_weights,
    exponent,
    graded_outcomes,
    is_text,
    item_scores,
    require_weights,
)

_CITATION = """\
@misc{meshkov2026adaptiverigoraievaluation,
      title={Adaptive Rigor in AI System Evaluation using Temperature-Controlled Verdict
             Aggregation via Generalized Power Mean},
      author={Aleksandr Meshkov},
      year={2026},
      eprint={2604.08595},
      archivePrefix={arXiv},
      primaryClass={cs.CL},
      url={https://arxiv.org/abs/2604.08595},
}
"""

_DESCRIPTION = """\
score_agg folds graded verdicts on the statements of an answer (fully, mostly, partial, minor or
none supported, or numbers from 0 to 1) into one score. It is their power mean, the exponent of
which is set by a temperature: from strict, close to the worst verdict, over the plain mean to
lenient, close to the best. Each verdict of 0 takes a further share off.
"""

_KWARGS_DESCRIPTION = """
Computes the power mean of the verdicts on each item, and the mean over all items.
Args:
    predictions: for each item the list of its verdicts: labels of weights, or numbers from 0 to
        1, with None for what is not scored; or, where references are given, the list of its
        statements, to be judged against its reference. The lists may differ in length.
    references: one for each item: a text, a number, a list, or whatever check_correct_fn takes.
    temperature: how strict to be, from 0.1 (strict) over 0.5 (the plain mean) to 1.0 (lenient).
    penalty: the share of an item's score that each of its verdicts of 0 takes off, from 0 to 1.
    eps_for_neg_p: a small number above 0 that stands for 0 at temperatures below 0.443, where
        the exponent is negative.
    weights: what verdicts may be called, and the weight of each from 0 to 1. Default:
        {"fully": 1.0, "mostly": 0.9, "partial": 0.7, "minor": 0.3, "none": 0.0}.
    check_correct_fn: a function of a statement and a reference that returns the verdict: a label
        of weights, a number from 0 to 1, or None for a statement that is not to be scored; or
        "exact_match", "numeric" (the last number of the text) or "math_verify" (the math-verify
        library). Each distinct statement of an item is judged once.
    num_proc: number of processes to judge in.
    executor: a concurrent.futures.Executor to judge in.
    confidence: probability such as 0.95. Adds the centre score_agg_mu, the standard deviation
        score_agg_sigma, and the interval from score_agg_lo to score_agg_hi.
    interval: "questions", the interval for new items like these.
    clusters: the source of each item, where some share one.
    groups: a label for each item. Adds <label>/score_agg, the score over the items of that label.
    return_per_question: adds per_question, with the list of the items' own scores.
Returns:
    A dict with the float "score_agg" from 0 to 1, the higher the better.
Raises:
    ValueError: where an input is wrong, naming the item and the verdict. What was added before
        is kept.
Examples:
    >>> score_agg = evaluate.load("score_agg")
    >>> verdicts = [["fully", "mostly", "partial", "minor"], ["mostly", "mostly", "partial"]]
    >>> by_temperature = [
    ...     score_agg.compute(predictions=verdicts, temperature=t) for t in (0.1, 0.5, 1.0)
    ... ]
    >>> [round(scores["score_agg"], 3) for scores in by_temperature]
    [0.568, 0.779, 0.892]

    Statements that a function grades:
    >>> source = "the eiffel tower in paris is 330 m tall"
    >>> def grade(statement, source):
    ...     known = [word in source.split() for word in statement.split()]
    ...     share = sum(known) / len(known)
    ...     return "fully" if share == 1 else "partial" if share > 0.5 else "none"
    >>> statements = ["the tower is 330 m tall", "it is in paris", "it is gold"]
    >>> scores = score_agg.compute(
    ...     predictions=[statements], references=[source], check_correct_fn=grade
    ... )
    >>> round(scores["score_agg"], 3)  # the mean of 1.0, 0.7 and 0.0, less a tenth of it
    0.51
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class ScoreAgg(SampledMetric):
    def _info(self):
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=datasets.Features(
                {
                    "predictions": datasets.Sequence(datasets.Value("string")),
                    "references": datasets.Value("string"),
                }
            ),
            reference_urls=[
                "https://arxiv.org/abs/2604.08595",
                "https://github.com/meshkovQA/Eval-ai-library",
            ],
        )

    def check_outcomes(self, predictions):
        # What labels there are is known only when the scores are asked for.
        if not is_text(predictions.type.value_type):
            require_weights(graded_outcomes(predictions))

    def _compute(
        self,
        predictions,
        references,
        temperature: float = 0.5,
        penalty: float = 0.1,
        eps_for_neg_p: float = 1e-9,
        weights: dict[str, float] = VERDICTS,
        check_correct_fn: Checker = "exact_match",
        num_proc: int | None = None,
        executor: Executor | None = None,
        confidence: float | None = None,
        interval: str = "questions",
        clusters: list[str] | None = None,
        groups: list[str] | None = None,
        return_per_question: bool = False,
    ):
        # What can be wrong before the judge is asked is found before.
        p, penalty, eps = exponent(temperature), check_penalty(penalty), check_eps(eps_for_neg_p)
        weights = check_weights(weights)
        sources = check_interval(interval, clusters, len(predictions), ("questions",))
        report = Report(len(predictions), groups, confidence, return_per_question, interval)

        outcomes = self.outcomes(
            predictions, references, check_correct_fn, num_proc, executor, weights
        )
        scores = item_scores(require_weights(outcomes), p, penalty, eps)
        found = Scores({"score_agg": Score((0,))}, np.arange(len(scores)), scores[:, None])
        return report.of(found, QuestionIntervals({"score_agg": scores}, (0.0, 1.0), sources))
