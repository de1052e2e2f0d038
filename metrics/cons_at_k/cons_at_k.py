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
"""cons@k, avg@n, pass@k, maj@k and vote@k: scores of a majority of the samples."""

from concurrent.futures import Executor

import datasets
import evaluate
import numpy as np

from .kernel import (
    BinaryFamily,
    Checker,
    EstimatedScore,
    IntervalMethod,
    JoinedIntervals,
    PosteriorIntervals,
    QuestionIntervals,
    Report,
    SampledMetric,
    Scores,
    VarianceIntervals,
    check_clusters,
    check_flag,
    check_interval,
    check_ks,
    check_prior,
    check_samples,
    choose_interval,
    consensus_estimator,
    consensus_moments,
    consensus_scores,
    count_answers,
    flat_samples,
    given_per_question,
    has_references,
    mean_shares,
    method_with_prior,
    more_than_half,
    number_of_samples,
    one_column_each,
    read_answers,
    require_shares,
    share_variances,
    vote_at_k,
    vote_variances,
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
Scores of a majority of samples. cons@k is the share of questions with more than k/2 correct
samples, maj@k the probability that more than half of k samples are correct, and vote@k the
probability that the most frequent answer among k samples is correct. The majority vote of most
papers (maj@k, cons@64) is vote@k here. avg@n and pass@k are computed beside them.
"""

_KWARGS_DESCRIPTION = """
Computes cons@k, avg@n, pass@k, maj@k and, if answers are checked, vote@k.
Args:
    predictions: for each question, the list of its samples, which are checked against its
        reference; or, without references, the list of its already-graded outcomes: 1 or True if
        correct, 0 or False if incorrect, a share of correctness from 0.0 to 1.0, None if not
        scored. The lists may differ in length. Or counts of samples in place of lists: {"n": [8,
        8], "correct": [3, 5]}, or with references {"answers": [["12", "13"], ["7"]], "counts": [[5,
        3], [8]]}.
    references: one for each question: a text, a number, a list of acceptable answers, or
        whatever check_correct_fn accepts.
    k: number of samples that are drawn, or a list. Default: all n samples of each question.
    merge_right: whether all correct answers to a question count as one answer in vote@k. If not,
        votes are counted for each wording.
    check_correct_fn: a function of a prediction and a reference that returns whether the prediction
        is correct, a share of correctness from 0.0 to 1.0 (correct if above 0.5), or None if it is
        not to be scored; or "exact_match", "numeric" (compares the last number of the text) or
        "math_verify" (the math-verify library). Each distinct prediction of a question is checked
        once. The function may be async; or, with the attribute batched = True, take a list of
        predictions and a list of references, of at most batch_size entries (an attribute too, by
        default 64), and return a list. If it fails, or the run is interrupted, computing again with
        the same function checks only what is missing.
    num_proc: number of processes to run the checker in. The module of the checker is imported in
        each: it should import little.
    executor: a concurrent.futures.Executor to run the checker in. 32 calls of an async checker run
        at the same time, or as many as a ThreadPoolExecutor has threads.
    timeout: seconds that the checker may take for a sample, or for a batch. A sample that takes
        longer is not scored, and a warning says how many are. The checker runs in a process of its
        own, or in num_proc processes, which are ended.
    confidence: a probability such as 0.95. Adds to each score, as <key>, the center <key>_mu, the
        standard deviation <key>_sigma, and the limits <key>_lo and <key>_hi of an interval. Only
        avg@n, pass@k and maj@k have a posterior.
    interval: the interval method. For the same questions, sampled again: "sampling", with the
        variance estimated from the data; "posterior", a Bayesian posterior with a Beta prior. For
        other questions like these: "questions". "auto" chooses from the data: "sampling",
        "questions" if each question has one sample, and "posterior" if alpha0 or beta0 is given. It
        adds the name as <key>_interval, or "none: " and the reason why a score has no interval.
        Requires a confidence. Default: "auto".
    clusters: a label of the cluster of each question, for interval "questions". Default: each
        question is its own cluster.
    alpha0: first parameter of the Beta prior of a question's success rate.
    beta0: second parameter of the Beta prior of a question's success rate.
    band: whether to add the limits <key>_band_lo and <key>_band_hi of a simultaneous confidence
        band, which covers each score at all its k together. Requires a confidence.
    groups: a label for each question. Adds <label>/<key>, the score over the questions with that
        label.
    return_per_question: whether to add per_question, which has for each key the list of the scores
        of the questions.
    keys: "exact"; or "safe", for names of letters, digits and underscores that every logger takes,
        such as maj_at_4_lo, and for numbers only: without <key>_interval and per_question.
Returns:
    A dict of floats from 0 to 1, higher is better: "cons@{k}" for each k, "avg@{n}", "pass@{k}" and
    "maj@{k}"; "accuracy ({n} runs average)", the mean share of correctness, if outcomes are such
    shares; and "vote@{k}", if predictions are answers. n is the number of samples of each question,
    or the letter n if it differs, and k is n by default.
Raises:
    ValueError: if an input is invalid, with the question and the sample; or if k exceeds the number
        of scored samples of a question. What was added before is kept.
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

    def validate(self, outcomes):
        return require_shares(outcomes)

    def _compute(
        self,
        predictions,
        references,
        k: int | list[int] | None = None,
        merge_right: bool = True,
        check_correct_fn: Checker = "exact_match",
        num_proc: int | None = None,
        executor: Executor | None = None,
        timeout: float | None = None,
        confidence: float | None = None,
        interval: str | None = None,
        clusters: list[str] | None = None,
        alpha0: float = 1.0,
        beta0: float = 1.0,
        band: bool = False,
        groups: list[str] | None = None,
        return_per_question: bool = False,
        keys: str = "exact",
    ):
        # Validate everything that does not depend on outcomes first.
        merge_right = check_flag("merge_right", merge_right)
        prior = check_prior(alpha0, beta0)
        interval = check_interval(interval, confidence, _INTERVALS)
        method = method_with_prior(interval, None if prior == (1, 1) else "alpha0, beta0")
        cluster_index = check_clusters(clusters, method, confidence, len(predictions))
        report = Report(len(predictions), groups, confidence, return_per_question, keys, band=band)
        requested = check_ks(k)
        check_samples(requested or [], given_per_question(predictions))

        outcomes = self.outcomes(
            predictions, references, check_correct_fn, num_proc, executor, timeout
        )
        correct = more_than_half(outcomes)
        counts = correct.counts()
        check_samples(requested or [], counts.n)  # the checker may leave samples unscored
        n = number_of_samples(counts.n)
        ks = {str(k): k for k in requested} if requested else {n: None}  # None: all n samples
        scores = consensus_scores(ks, n)
        values = {
            key: score.estimate(*counts.unique)[counts.inverse] for key, score in scores.items()
        }
        same_questions = confidence is not None and method in ("sampling", "auto")
        estimated: dict[str, EstimatedScore] = {}  # of more than the counts of correct samples
        if outcomes.values.dtype.kind == "f":
            key = f"accuracy ({n} runs average)"
            values[key] = mean_shares(outcomes)
            if same_questions:
                estimated[key] = EstimatedScore(values[key], share_variances(outcomes), counts.n)
        if has_references(references):
            answers = read_answers(flat_samples(predictions)[0], check_correct_fn)
            votes = count_answers(correct, answers, merge_right)
            for name, size in ks.items():
                drawn = counts.n if size is None else size
                key = f"vote@{name}"
                values[key] = vote_at_k(votes, drawn)
                if same_questions:
                    variances = vote_variances(votes, drawn)
                    estimated[key] = EstimatedScore(values[key], variances, counts.n / drawn)
        points = Scores(
            one_column_each(values),
            np.arange(len(counts.n)),
            np.stack([*values.values()], axis=1),
        )
        if confidence is None:
            return report.of(points)
        intervals: IntervalMethod
        if method == "posterior":
            moments = consensus_moments(scores, counts, prior)
            intervals = PosteriorIntervals(moments, (0.0, 1.0))
        elif method == "questions":
            intervals = QuestionIntervals(values, (0.0, 1.0), cluster_index)
        else:
            family = BinaryFamily(counts, *consensus_estimator(scores), {})
            intervals = JoinedIntervals(
                choose_interval(family, method, cluster_index),
                VarianceIntervals(estimated, counts.n, cluster_index),
                estimated,
            )
        return report.of(points, intervals, name_methods=interval == "auto")
