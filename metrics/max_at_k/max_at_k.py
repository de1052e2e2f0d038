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
"""Max@k: how good the best of k samples is."""

from concurrent.futures import Executor

import datasets
import evaluate

from .kernel import (
    INTERVALS,
    Checker,
    Report,
    SampledMetric,
    as_list,
    category_rewards,
    check_bounds,
    check_categories,
    check_interval,
    check_prior_outcomes,
    check_rewards,
    choose_k,
    given_per_question,
    graded_outcomes,
    is_text,
    max_scores,
    real_rewards,
    reward_intervals,
)

_CITATION = """\
@misc{bagirov2025bestofnworlds,
      title={The Best of N Worlds: Aligning Reinforcement Learning with Best-of-N Sampling via max@k
             Optimization},
      author={F. Bagirov and others},
      year={2025},
      eprint={2510.23393},
      archivePrefix={arXiv},
      primaryClass={cs.LG},
      url={https://arxiv.org/abs/2510.23393},
}
"""

_DESCRIPTION = """\
Max@k is the expected reward of the best of k samples of a question: what best-of-k sampling with a
perfect selector would get. With rewards 0 and 1 it is pass@k; with more of them, or with the real
rewards of a reward model, it is pass@k's generalization.
"""

_KWARGS_DESCRIPTION = """
Computes Max@k, unbiased, from n >= k samples of each question.
Args:
    predictions: for each question the list of its samples, to be judged against its reference;
        or, where references are left out, the list of its outcomes: rewards, as floats; categories
        0, 1, .., C, or labels of them; None for not scored. The lists may differ in length.
    references: one for each question: a text, a number, a list of acceptable answers, or
        whatever check_correct_fn takes.
    k: number of draws, or a list of them. Default: those of 4, 8 and 16 that every question has
        samples for.
    w: the reward of each category, C + 1 numbers. Default: 0 and 1, for outcomes that are wrong
        or right; outcomes that are floats are rewards themselves.
    R0: for each question the list of its prior outcomes, all of one length; they count in the
        intervals as samples that were seen before.
    categories: labels of the categories 0, 1, .., in this order, for outcomes or verdicts that are
        labels.
    check_correct_fn: a function of a prediction and a reference that returns whether it is
        right, a category, a label of one, a reward from 0.0 to 1.0, or None for a sample that is
        not to be scored; or "exact_match", "numeric" (the last number of the text) or
        "math_verify" (the math-verify library). Each distinct prediction of a question is judged
        once.
    num_proc: number of processes to judge in.
    executor: a concurrent.futures.Executor to judge in.
    confidence: probability such as 0.95. Adds to each <key> its centre <key>_mu, its standard
        deviation <key>_sigma, and an interval from <key>_lo to <key>_hi.
    interval: which interval: "posterior", that of the literature, for outcomes that are categories;
        "sampling", of new samples of these questions; "questions", of new questions like these;
        "hierarchical", of laws that are learned, with which k may be larger than n; or "auto", the
        best of these, its name being given as <key>_interval.
    clusters: the source of each question, where some share one, for the interval "questions".
    bounds: two numbers that no interval goes beyond. Default: the least and the greatest reward.
    groups: a label for each question. Adds <label>/<key>, the score over the questions of that
        label.
    return_per_question: adds per_question, for each key the list of the questions' own scores.
Returns:
    A dict of floats in the unit of the rewards, the higher the better: "max@{k}" for each k.
Raises:
    ValueError: where an input is wrong, naming the question and the sample; above all where k is
        larger than the number of scored samples of a question. What was added before is kept.
Examples:
    >>> max_at_k = evaluate.load("max_at_k")
    >>> rewards = [[0.25, 1.0, -0.5, 0.75], [2.0, 1.5, 2.5, 0.0]]
    >>> max_at_k.compute(predictions=rewards, k=[1, 2, 4])
    {'max@1': 0.9375, 'max@2': 1.4791666666666665, 'max@4': 1.75}

    Categories with rewards, and an error bar:
    >>> outcomes = [[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]]
    >>> results = max_at_k.compute(predictions=outcomes, w=[0.0, 0.5, 1.0], k=2, confidence=0.95)
    >>> for key, value in results.items():
    ...     print(key, round(value, 4))
    max@2 0.85
    max@2_mu 0.75
    max@2_sigma 0.0881
    max@2_lo 0.5773
    max@2_hi 0.9227
"""

_DEFAULT_K = (4, 8, 16)


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class MaxAtK(SampledMetric):
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
                "https://arxiv.org/abs/2510.23393",
                "https://arxiv.org/abs/2505.15201",
            ],
        )

    def check_outcomes(self, predictions):
        if not is_text(predictions.type.value_type):  # texts may be labels, known to compute
            graded_outcomes(predictions)

    def _compute(
        self,
        predictions,
        references,
        k: int | list[int] | None = None,
        w: list[float] | None = None,
        R0: list[list[int]] | None = None,
        categories: list[str] | None = None,
        check_correct_fn: Checker = "exact_match",
        num_proc: int | None = None,
        executor: Executor | None = None,
        confidence: float | None = None,
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
        limits = None if bounds is None else check_bounds(bounds)
        sources = check_interval(interval, clusters, len(predictions), INTERVALS)
        report = Report(len(predictions), groups, confidence, return_per_question, interval)
        k = k if k is None else as_list("k", k)
        beyond = confidence is not None and interval in ("hierarchical", "auto")
        choose_k(k, _DEFAULT_K, given_per_question(predictions), beyond)

        outcomes = self.outcomes(
            predictions, references, check_correct_fn, num_proc, executor, labels
        )
        if w is None and outcomes.values.dtype.kind == "f":
            if R0 is not None or categories is not None:
                raise ValueError("R0 and categories are for categories, and outcomes are rewards.")
            rewards = real_rewards(outcomes)
            beyond = False  # how great rewards can be that n samples have not shown, nothing tells
        else:
            rewards = category_rewards(outcomes, worth, prior)
        draws = {f"max@{each}": each for each in choose_k(k, _DEFAULT_K, rewards.n, beyond)}
        if confidence is None:
            return report.of(max_scores(rewards, draws))
        limits = limits or (float(rewards.levels.min()), float(rewards.levels.max()))
        return report.of(*reward_intervals(rewards, draws, interval, limits, sources))
