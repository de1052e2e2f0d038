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
"""G-Pass@k, and with it pass@k and pass^k: how often some, most or all of k samples are right."""

from concurrent.futures import Executor

import datasets
import evaluate

from .kernel import (
    INTERVALS,
    PASS_FAMILY,
    Checker,
    Report,
    SampledMetric,
    ScoreOptions,
    as_list,
    check_interval,
    check_lam,
    check_names,
    check_powers,
    check_prior,
    check_tau,
    choose_k,
    given_per_question,
    graded_outcomes,
    pass_intervals,
    pass_scores,
    require_binary,
    scores_by_name,
)

_CITATION = """\
@misc{liu2024llmscapablestablereasoning,
      title={Are Your LLMs Capable of Stable Reasoning?},
      author={Junnan Liu and Hongwei Liu and Linchen Xiao and Ziyi Wang and Kuikun Liu and
              Songyang Gao and Wenwei Zhang and Songyang Zhang and Kai Chen},
      year={2024},
      eprint={2412.13147},
      archivePrefix={arXiv},
      primaryClass={cs.AI},
      url={https://arxiv.org/abs/2412.13147},
}
"""

_DESCRIPTION = """\
G-Pass@k is the probability that at least a share tau of k samples of a question is right. With one
formula it measures the potential of a language model (small tau: one right answer will do) and its
stability (tau = 1: all must be right). mG-Pass@k sums it up over the tau above 0.5.
"""

_KWARGS_DESCRIPTION = """
Computes G-Pass@k, mG-Pass@k, pass@k, pass^k and others of their family, from n >= k samples of each
question.
Args:
    predictions: for each question the list of its samples, to be judged against its reference;
        or, where references are left out, the list of its outcomes: 1 or True for right, 0 or
        False for wrong, None for not scored. The lists may differ in length.
    references: one for each question: a text, a number, a list of acceptable answers, or
        whatever check_correct_fn takes.
    k: number of draws, or a list of them. Default: those of 4, 8 and 16 that every question has
        samples for.
    thresholds: the shares tau of right samples, from 0 to 1, that G-Pass@k asks for.
    include: which scores to compute, of "G-Pass@k", "mG-Pass@k", "pass@k", "pass^k", "maj@k"
        (more than half are right), "AUC@k" (the area under pass@1 .. pass@k), "Geom@k" (the
        geometric mean of pass@k and pass^k, of each question), "Geom_ds@k" (of their averages),
        "GeoSpectrum@k" (of the averages of pass@k and a spectrum) and "Spectrum@k" (a weighted
        sum of the chances that at least 1, 2, .., k are right). Default: the first two.
    lam: from 0 to 1, the power of pass@k in GeoSpectrum@k; that of the spectrum is 1 - lam.
    weights: of Spectrum@k and GeoSpectrum@k: k numbers, not negative, of sum 1 at most.
        Default: those of mG-Pass@k.
    pass_power: the power of pass@k in Geom@k and Geom_ds@k.
    unanimous_power: the power of pass^k in Geom@k and Geom_ds@k.
    check_correct_fn: a function of a prediction and a reference that returns whether it is
        right, or None for a sample that is not to be scored; or "exact_match", "numeric" (the
        last number of the text) or "math_verify" (the math-verify library). Each distinct
        prediction of a question is judged once.
    num_proc: number of processes to judge in.
    executor: a concurrent.futures.Executor to judge in.
    confidence: probability such as 0.95. Adds to each <key> the posterior mean <key>_mu and
        standard deviation <key>_sigma, and a credible interval from <key>_lo to <key>_hi.
    interval: which interval: "posterior", that of the literature, of a Beta prior; "sampling", of
        new samples of these questions; "questions", of new questions like these; "hierarchical",
        of a prior that is learned, with which k may be larger than n; or "auto", the best of
        these, its name being given as <key>_interval.
    clusters: the source of each question, where some share one, for the interval "questions".
    alpha0: first parameter of the Beta prior of a question's success rate.
    beta0: second parameter of the Beta prior of a question's success rate.
    groups: a label for each question. Adds <label>/<key>, the score over the questions of that
        label.
    return_per_question: adds per_question, for each key the list of the questions' own scores.
Returns:
    A dict of floats from 0 to 1, the higher the better: "G-Pass@{k}_{threshold}" for each k and
    threshold, then "mG-Pass@{k}" for each k; or, in its order, what include asks for.
Raises:
    ValueError: where an input is wrong, naming the question and the sample; above all where k is
        larger than the number of scored samples of a question. What was added before is kept.
Examples:
    >>> gpassk = evaluate.load("gpassk")
    >>> samples = [["a", "b", "a", "a", "b", "a", "b", "c", "a", "c", "b", "a", "a", "b", "a", "b"]]
    >>> results = gpassk.compute(predictions=samples, references=["a"], k=[4, 8])
    >>> print(results["G-Pass@4_0.5"], results["mG-Pass@8"])
    0.7153846153846154 0.09518259518259518

    Outcomes, and which scores to give:
    >>> outcomes = [[1, 0, 1, 1], [0, 0, 1, 0]]
    >>> gpassk.compute(predictions=outcomes, k=2, include=["pass@k", "pass^k"])
    {'pass@2': 0.75, 'pass^2': 0.25}

    An error bar:
    >>> results = gpassk.compute(predictions=outcomes, k=2, include=["pass@k"], confidence=0.95)
    >>> for key, value in results.items():
    ...     print(key, round(value, 3))
    pass@2 0.75
    pass@2_mu 0.69
    pass@2_sigma 0.133
    pass@2_lo 0.431
    pass@2_hi 0.95
"""

_DEFAULT_K = (4, 8, 16)
_DEFAULT_INCLUDE = ("G-Pass@k", "mG-Pass@k")


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class Gpassk(SampledMetric):
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
                "https://arxiv.org/abs/2412.13147",
                "https://github.com/open-compass/GPassK",
            ],
        )

    def check_outcomes(self, predictions):
        require_binary(graded_outcomes(predictions))

    def _compute(
        self,
        predictions,
        references,
        k: int | list[int] | None = None,
        thresholds: float | list[float] | tuple[float, ...] = (0.25, 0.5, 0.75, 1.0),
        include: str | list[str] | None = None,
        lam: float = 0.5,
        weights: list[float] | None = None,
        pass_power: float = 0.5,
        unanimous_power: float = 0.5,
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
        include = check_names(
            "include", _DEFAULT_INCLUDE if include is None else include, PASS_FAMILY
        )
        taus = [check_tau(tau) for tau in as_list("thresholds", thresholds)]
        powers = check_powers(pass_power, unanimous_power)
        options = ScoreOptions(taus, check_lam(lam), weights, powers)
        if weights is not None and not {"Spectrum@k", "GeoSpectrum@k"} & {*include}:
            raise ValueError("weights are for Spectrum@k and GeoSpectrum@k: include one of them.")
        prior = check_prior(alpha0, beta0)
        sources = check_interval(interval, clusters, len(predictions), INTERVALS)
        report = Report(len(predictions), groups, confidence, return_per_question, interval)
        beyond = confidence is not None and interval in ("hierarchical", "auto")
        k = k if k is None else as_list("k", k)
        draws = choose_k(k, _DEFAULT_K, given_per_question(predictions), beyond)
        wanted = scores_by_name(include, draws, options)

        outcomes = self.outcomes(predictions, references, check_correct_fn, num_proc, executor)
        counts = outcomes.counts()
        if (scored := choose_k(k, _DEFAULT_K, counts.n, beyond)) != draws:
            wanted = scores_by_name(include, scored, options)
        if confidence is None:
            return report.of(pass_scores(counts, wanted))
        return report.of(*pass_intervals(counts, wanted, interval, prior, sources))
