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
"""Bayes@N and avg@N: the mean reward of the samples, and how sure we are of it."""

from concurrent.futures import Executor

import datasets
import evaluate

from .kernel import (
    INTERVALS,
    Checker,
    PosteriorIntervals,
    Report,
    SampledMetric,
    Scores,
    bayes_moments,
    category_rewards,
    check_bounds,
    check_categories,
    check_interval,
    check_prior_outcomes,
    check_rewards,
    graded_outcomes,
    is_text,
    number_of_samples,
    require_categories,
    reward_intervals,
)

_CITATION = """\
@inproceedings{hariri2026dontpassk,
      title={Don't Pass@k: A Bayesian Framework for Large Language Model Evaluation},
      author={Mohsen Hariri and Amirhossein Samandar and Michael Hinczewski and
              Vipin Chaudhary},
      booktitle={International Conference on Learning Representations},
      year={2026},
      eprint={2510.04265},
      archivePrefix={arXiv},
      url={https://arxiv.org/abs/2510.04265},
}
"""

_DESCRIPTION = """\
Bayes@N is the posterior mean of the reward of one sample, averaged over questions, when each of N
samples of a question fell in one of a few categories (wrong and right, or more) with a reward each.
It comes with its standard deviation and interval, and so does avg@N, the average of the samples.
"""

_KWARGS_DESCRIPTION = """
Computes Bayes@N and avg@N, each with its standard deviation and interval, from N samples of each
question.
Args:
    predictions: for each question the list of its samples, to be judged against its reference;
        or, where references are left out, the list of its outcomes: categories 0, 1, .., C (of two,
        0 or False is wrong and 1 or True is right), or labels of them; None for not scored. The
        lists may differ in length.
    references: one for each question: a text, a number, a list of acceptable answers, or
        whatever check_correct_fn takes.
    w: the reward of each category, C + 1 numbers. Default: 0 and 1, for outcomes that are wrong
        or right.
    R0: for each question the list of its prior outcomes, all of one length; they count as samples
        that were seen before.
    categories: labels of the categories 0, 1, .., in this order, for outcomes or verdicts that are
        labels.
    check_correct_fn: a function of a prediction and a reference that returns whether it is
        right, a category, a label of one, or None for a sample that is not to be scored; or
        "exact_match", "numeric" (the last number of the text) or "math_verify" (the math-verify
        library). Each distinct prediction of a question is judged once.
    num_proc: number of processes to judge in.
    executor: a concurrent.futures.Executor to judge in.
    confidence: the probability that the intervals hold, or None for none.
    interval: which interval: "posterior", that of the literature; "sampling", of new samples of
        these questions; "hierarchical", the same of laws that are learned; "questions", of new
        questions like these; or "auto", the best of these, its name being given as
        <key>_interval.
    clusters: the source of each question, where some share one, for the interval "questions".
    bounds: two numbers that no interval goes beyond.
    groups: a label for each question. Adds <label>/<key>, the score over the questions of that
        label.
    return_per_question: adds per_question, for each key the list of the questions' own scores.
Returns:
    A dict of floats in the unit of the rewards: "bayes@{N}", its posterior standard deviation
    "bayes@{N}_sigma" and its interval from "bayes@{N}_lo" to "bayes@{N}_hi"; then the same for
    "avg@{N}". N is the number of samples of each question, or the letter n where it differs.
Raises:
    ValueError: where an input is wrong, naming the question and the sample. What was added before
        is kept.
Examples:
    >>> bayes_at_n = evaluate.load("bayes_at_n")
    >>> outcomes = [[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]]
    >>> results = bayes_at_n.compute(predictions=outcomes, w=[0.0, 0.5, 1.0])
    >>> for key, value in results.items():
    ...     print(key, round(value, 4))
    bayes@5 0.5625
    bayes@5_sigma 0.092
    bayes@5_lo 0.3822
    bayes@5_hi 0.7428
    avg@5 0.6
    avg@5_sigma 0.1472
    avg@5_lo 0.3115
    avg@5_hi 0.8885

    Labels instead of numbers, and outcomes that were seen before:
    >>> verdicts = [["wrong", "close", "right"], ["right", "right", "close"]]
    >>> results = bayes_at_n.compute(
    ...     predictions=verdicts,
    ...     categories=["wrong", "close", "right"],
    ...     w=[0.0, 0.5, 1.0],
    ...     R0=[[0, 2], [1, 2]],
    ...     confidence=None,
    ... )
    >>> print(results)
    {'bayes@3': 0.59375, 'avg@3': 0.6666666666666667}
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class BayesAtN(SampledMetric):
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
                "https://arxiv.org/abs/2510.04265",
                "https://github.com/mohsenhariri/scorio",
            ],
        )

    def check_outcomes(self, predictions):
        if not is_text(predictions.type.value_type):  # texts may be labels, known to compute
            require_categories(graded_outcomes(predictions))

    def _compute(
        self,
        predictions,
        references,
        w: list[float] | None = None,
        R0: list[list[int]] | None = None,
        categories: list[str] | None = None,
        check_correct_fn: Checker = "exact_match",
        num_proc: int | None = None,
        executor: Executor | None = None,
        confidence: float | None = 0.95,
        interval: str = "posterior",
        clusters: list[str] | None = None,
        bounds: tuple[float, float] | None = None,
        groups: list[str] | None = None,
        return_per_question: bool = False,
    ):
        # What can be wrong before the judge is asked is found before.
        labels = check_categories(categories)
        worth = check_rewards(w, labels)
        prior = check_prior_outcomes(R0, len(predictions), len(worth))
        limits = check_bounds(bounds)
        sources = check_interval(interval, clusters, len(predictions), INTERVALS)
        # Both scores are the centres of their intervals: no key of its own is due to mu.
        told = ("sigma", "lo", "hi")
        report = Report(len(predictions), groups, confidence, return_per_question, interval, told)

        outcomes = self.outcomes(
            predictions, references, check_correct_fn, num_proc, executor, labels
        )
        rewards = category_rewards(outcomes, worth, prior)
        n = number_of_samples(rewards.n)
        keys = f"bayes@{n}", f"avg@{n}"
        moments = bayes_moments(rewards, *keys)
        scores = Scores(moments.keys, moments.inverse, moments.mean)
        if confidence is None or interval == "posterior":
            return report.of(scores, PosteriorIntervals(moments, limits))
        # Both scores estimate the mean reward, which is Max@1.
        range_of_mean = max(worth.min(), limits[0]), min(worth.max(), limits[1])
        ks = dict.fromkeys(keys, 1)
        _, method = reward_intervals(rewards, ks, interval, range_of_mean, sources)
        return report.of(scores, method)
