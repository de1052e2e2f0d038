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
"""cons@k, avg@n, pass@k, maj@k and vote@k: what a majority of the samples would say."""

from concurrent.futures import Executor

import datasets
import evaluate
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .kernel import (
    BinaryFamily,
    Checker,
    PosteriorIntervals,
    QuestionIntervals,
    Report,
    SampledMetric,
    Scores,
    as_list,
    check_flag,
    check_interval,
    check_prior,
    choose_interval,
    choose_k,
    consensus_estimator,
    consensus_moments,
    consensus_scores,
    count_answers,
    given_per_question,
    graded_outcomes,
    mean_shares,
    more_than_half,
    number_of_samples,
    one_column_each,
    read_answers,
    require_shares,
    vote_at_k,
)

_CITATION = """\
@misc{wang2022selfconsistency,
      title={Self-Consistency Improves Chain of Thought Reasoning in Language Models},
      author={Xuezhi Wang and Jason Wei and Dale Schuurmans and Quoc Le and Ed Chi and
              Sharan Narang and Aakanksha Chowdhery and Denny Zhou},
      year={2022},
      eprint={2203.11171},
      archivePrefix={arXiv},
      primaryClass={cs.CL},
      url={https://arxiv.org/abs/2203.11171},
}
"""

_DESCRIPTION = """\
What a majority of k samples would say. cons@k is the share of questions with more than k/2 right
samples, maj@k the chance that more than half of k drawn samples are right, and vote@k the chance
that the most frequent answer of k drawn samples is a right one; beside them avg@n and pass@k.
"""

_KWARGS_DESCRIPTION = """
Computes cons@k, avg@n, pass@k, maj@k and, where answers are judged, vote@k.
Args:
    predictions: for each question the list of its samples, to be judged against its reference;
        or, where references are left out, the list of its outcomes: 1 or True for right, 0 or
        False for wrong, a share of correctness from 0.0 to 1.0, None for not scored. The lists may
        differ in length.
    references: one for each question: a text, a number, a list of acceptable answers, or
        whatever check_correct_fn takes.
    k: number of draws, or a list of them. Default: all n samples of each question.
    merge_right: whether the right answers to a question are one answer in vote@k. If not, each
        wording has its own votes.
    check_correct_fn: a function of a prediction and a reference that returns whether it is
        right, a share of correctness from 0.0 to 1.0 (right if above 0.5), or None for a sample
        that is not to be scored; or "exact_match", "numeric" (the last number of the text) or
        "math_verify" (the math-verify library). Each distinct prediction of a question is judged
        once.
    num_proc: number of processes to judge in.
    executor: a concurrent.futures.Executor to judge in.
    confidence: probability such as 0.95. Adds to avg@n, pass@k and maj@k, as <key>, the centre
        <key>_mu, standard deviation <key>_sigma, and interval from <key>_lo to <key>_hi; to cons@k
        where the interval is no posterior, and to all scores for "questions".
    interval: which interval: "posterior", that of the literature; "sampling", of new samples of
        these questions; "questions", of new questions like these; or "auto", the first of these
        two that the bank allows, its name being given as <key>_interval.
    clusters: the source of each question, where some share one, for the interval "questions".
    alpha0: first parameter of the Beta prior of a question's success rate.
    beta0: second parameter of the Beta prior of a question's success rate.
    groups: a label for each question. Adds <label>/<key>, the score over the questions of that
        label.
    return_per_question: adds per_question, for each key the list of the questions' own scores.
Returns:
    A dict of floats from 0 to 1, the higher the better: "cons@{k}" for each k, "avg@{n}",
    "pass@{k}" and "maj@{k}"; "accuracy ({n} runs average)", the mean share of correctness, where
    there are such; and "vote@{k}", where predictions are answers. n is the number of samples of
    each question, or the letter n where it differs, and k is n by default.
Raises:
    ValueError: where an input is wrong, naming the question and the sample; above all where k is
        larger than the number of scored samples of a question. What was added before is kept.
Examples:
    >>> cons_at_k = evaluate.load("cons_at_k")
    >>> samples = [["A", "A", "X"], ["B", "C", "B"], ["X", "X", "C"], ["X", "X", "X"]]
    >>> cons_at_k.compute(predictions=samples, references=["A", "B", "C", "D"])
    {'cons@3': 0.5, 'avg@3': 0.41666666666666663, 'pass@3': 0.75, 'maj@3': 0.5, 'vote@3': 0.5}

    Shares of correctness instead of answers:
    >>> cons_at_k.compute(predictions=[[0.6, 0.4, 0.6]])["accuracy (3 runs average)"]
    0.5333333333333333
"""

_INTERVALS = ("posterior", "sampling", "questions", "auto")


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class ConsAtK(SampledMetric):
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
                "https://arxiv.org/abs/2203.11171",
                "https://github.com/AISBench/benchmark",
            ],
        )

    def check_outcomes(self, predictions):
        require_shares(graded_outcomes(predictions))

    def _compute(
        self,
        predictions,
        references,
        k: int | list[int] | None = None,
        merge_right: bool = True,
        check_correct_fn: Checker = "exact_match",
        num_proc: int | None = None,
        executor: Executor | None = None,
        confidence: float | None = None,
        interval: str = "posterior",
        clusters: list[str] | None = None,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        groups: list[str] | None = None,
        return_per_question: bool = False,
    ):
        # What can be wrong before the judge is asked is found before.
        prior, merge_right = check_prior(alpha0, beta0), check_flag("merge_right", merge_right)
        sources = check_interval(interval, clusters, len(predictions), _INTERVALS)
        report = Report(len(predictions), groups, confidence, return_per_question, interval)
        k = k if k is None else as_list("k", k)
        _ks_by_name(k, given_per_question(predictions))

        outcomes = self.outcomes(predictions, references, check_correct_fn, num_proc, executor)
        correct = more_than_half(outcomes)
        counts = correct.counts()
        ks, n = _ks_by_name(k, counts.n), number_of_samples(counts.n)
        scores = consensus_scores(ks, n)
        values = {
            key: score.estimate(*counts.unique)[counts.inverse] for key, score in scores.items()
        }
        if outcomes.values.dtype.kind == "f":
            values[f"accuracy ({n} runs average)"] = mean_shares(outcomes)
        if not pa.types.is_null(references.type):
            answers = read_answers(pc.list_flatten(predictions), check_correct_fn)
            votes = count_answers(correct, answers, merge_right)
            for name, size in ks.items():
                values[f"vote@{name}"] = vote_at_k(votes, counts.n if size is None else size)
        points = Scores(
            one_column_each(values),
            np.arange(len(counts.n)),
            np.stack([*values.values()], axis=1),
        )
        if confidence is None:
            return report.of(points)
        if interval == "posterior":
            moments = consensus_moments(scores, counts, prior)
            return report.of(points, PosteriorIntervals(moments, (0.0, 1.0)))
        if interval == "questions":
            return report.of(points, QuestionIntervals(values, (0.0, 1.0), sources))
        family = BinaryFamily(counts, *consensus_estimator(scores), {})
        return report.of(points, choose_interval(family, interval, sources))


def _ks_by_name(k: list[int] | None, n: np.ndarray) -> dict[str, int | None]:
    """Return each k by its name in the keys. None stands for all samples of each question."""
    if k is None:
        return {number_of_samples(n): None}
    return {str(each): each for each in choose_k(k, (), n)}
