# Copyright 2026 The evaluate-at-k authors. Licensed under the Apache License, Version 2.0.
"""G-Pass@k, pass@k and pass^k: how often some, most or all of k samples are correct."""

import datasets
import evaluate

from .kernel import GPASSK, SampledMetric, has_same_package

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
G-Pass@k is the probability that at least ceil(tau k) of k samples of a question are correct. One
formula measures both the potential of a language model (small tau: one correct sample suffices) and
its stability (tau = 1: all samples have to be correct). mG-Pass@k is its mean over tau above 0.5.
"""

_KWARGS_DESCRIPTION = """
Computes G-Pass@k, mG-Pass@k, pass@k, pass^k and related scores from n >= k samples of each
question.
Args:
    predictions: for each question, the list of its samples, which are checked against its
        reference; or, without references, the list of its already-graded outcomes: 1 or True if
        correct, 0 or False if incorrect, None if not scored. The lists may differ in length. Or
        counts of samples in place of lists: {"n": [8, 8], "correct": [3, 5]}, or with references
        {"answers": [["12", "13"], ["7"]], "counts": [[5, 3], [8]]}.
    references: one for each question: a text, a number, a list of acceptable answers, or
        whatever check_correct_fn accepts.
    k: size of the subsets of samples, one or several. Default: those of 4, 8 and 16 that every
        question has samples for, or else the smallest n. A key in include has its own k.
    thresholds: the shares tau of correct samples, from 0 to 1, that G-Pass@k requires. Default:
        0.25, 0.5, 0.75 and 1.0.
    include: which scores to compute. Default: "G-Pass@k" and "mG-Pass@k". Others: "pass@k",
        "pass^k", "maj@k" (more than half are correct; the majority vote of most papers is vote@k of
        cons_at_k), "AUC@k" (area under pass@1 .. pass@k), "Spectrum@k" (weighted sum of the
        probabilities that at least 1, 2, .., k are correct), "Geom@k" (mean over questions of the
        geometric mean of pass@k and pass^k), "Geom_ds@k" (geometric mean of their averages) and
        "GeoSpectrum@k" (geometric mean of the averages of pass@k and Spectrum@k). A key, such as
        "pass@4" or "G-Pass@4_0.5", is a score at one k.
    lam: exponent of pass@k in GeoSpectrum@k, from 0 to 1; that of the spectrum is 1 - lam. Default:
        0.5.
    weights: k weights of Spectrum@k and GeoSpectrum@k, not negative, with a sum of at most 1.
        Default: those of mG-Pass@k.
    pass_power: exponent of pass@k in Geom@k and Geom_ds@k, at least 0. Default: 0.5.
    unanimous_power: exponent of pass^k in Geom@k and Geom_ds@k, at least 0. Default: 0.5.
    check_correct_fn: a function of a prediction and a reference that returns whether the prediction
        is correct, or None if it is not to be scored; or "exact_match" (the default), "numeric"
        (compares the number in the text), "choice" (compares the option that it chooses),
        "math_verify" (the math-verify library) or "python_tests" (runs programs with their tests,
        in a sandbox). Each distinct prediction of a question is checked once. The function may be
        async; or, with the attribute batched = True, take a list of predictions and a list of
        references, of at most batch_size entries (an attribute too, by default 64), and return a
        list. If it fails, or the run is interrupted, computing again with the same function checks
        only what is missing.
    num_proc: number of processes to run the checker in. Each imports the module of the checker.
    executor: a concurrent.futures.Executor to run the checker in. 32 calls of an async checker run
        at the same time, or as many as a ThreadPoolExecutor has threads.
    timeout: seconds that the checker may take for a sample, or for a batch. Samples that take
        longer are not scored, and a warning gives their number. The checker runs in separate
        processes, num_proc or one, which are killed if they exceed the limit.
    confidence: a probability such as 0.95. Adds to each <key> the estimate <key>_mu, its standard
        deviation <key>_sigma, and the limits <key>_lo and <key>_hi of an interval.
    interval: the interval method. For the same questions, sampled again: "sampling", with the
        variance estimated from the data; "posterior", a Bayesian posterior with a Beta prior;
        "hierarchical", the scores under all distributions of success rates that fit the data, also
        for k > n. For other questions like these: "questions". "auto" is the first of
        these that applies: "posterior" if alpha0 or beta0 is not 1; "questions" if clusters are
        given or each question has one sample; "hierarchical" if k > n; "sampling". It adds the name
        as <key>_interval, or "none: " and the reason why a score has no interval. Requires a
        confidence. Default: "auto". For Geom@k, "sampling" and "questions" cover its expected value
        at this n.
    clusters: a cluster for each question, for interval "questions". Default: each has its own.
    anytime: whether limits are valid at all looks together. While samples or questions are added,
        you may then look at the limits as often as you like, and stop when they decide. They are
        1.6 to 1.7 times as wide. Requires a confidence, and no posterior.
    alpha0: first parameter of the Beta prior of a question's success rate. Default: 1.
    beta0: second parameter of the Beta prior of a question's success rate. Default: 1.
    band: whether to add <key>_band_lo and <key>_band_hi: limits that contain the scores at all k
        together with the given confidence. Requires a confidence.
    checker_rates: the true-positive and the false-positive rate of a checker that errs: the
        probabilities that it calls a correct and an incorrect sample correct. The scores are then
        unbiased estimates of those of truly correct samples, and may lie outside of 0 to 1, to
        which limits are clipped. Errors have to be independent, also between samples of a question.
        Not for Geom@k, nor for interval "posterior".
    labels: the labels that a person gave to some samples, from which the rates are estimated: lists
        like those of predictions, with 1 if the sample is correct, 0 if not, and None where there
        is no label. The labelled samples may be drawn at random, by verdict (such as more of the
        accepted samples), or by question. Or the counts of labels {"tp": 90, "fn": 8, "fp": 3,
        "tn": 99} of samples that were drawn independently of what the checker returns for them.
        Intervals account for the number of labels. The result has the rates in "checker", and
        "falls_with_k" if the corrected pass@k falls with k, which shows that errors are not
        independent. Needs all predictions in one call of compute.
    budget: the largest number of samples that a question could have, if its samples stop at the
        first correct one, such as those of an agent that retries. Each k is then at most the
        budget, and pass@k, the only score, is the share of questions with a correct one among the
        first k. Limits are for other questions. Needs all predictions in one call of compute.
    groups: a label for each question. Adds <label>/<key>, the score over its questions.
    average: "questions" (the default), for the mean over all questions; or "groups", for the mean
        of the scores of the groups, whatever their sizes (macro average). Needs groups.
    question_weights: a weight of at least 0 for each question. Default: equal weights.
    return_per_question: whether to add per_question: for each key, the scores of the questions.
    keys: "exact" (the default); or "safe", for names of letters, digits and underscores that every
        logger takes, such as g_pass_at_4_tau_0_5 and pass_hat_4_lo, and for numbers only: without
        <key>_interval, per_question and checker.
Returns:
    A dict of floats from 0 to 1, higher is better: "G-Pass@{k}_{threshold}" for each k and
    threshold, then "mG-Pass@{k}" for each k; or the scores of include, in its order.
Raises:
    ValueError: if an input is invalid, with the question and the sample; or if k exceeds the number
        of scored samples of a question. Questions that were added before are kept.
Examples:
    >>> gpassk = evaluate.load("gpassk")
    >>> samples = [["a", "b", "a", "a", "b", "a", "b", "c", "a", "c", "b", "a", "a", "b", "a", "b"]]
    >>> results = gpassk.compute(predictions=samples, references=["a"], k=[4, 8])
    >>> print(results["G-Pass@4_0.5"], results["mG-Pass@8"])
    0.7153846153846154 0.09518259518259518

    Already-graded outcomes, and a choice of scores:
    >>> outcomes = [[1, 0, 1, 1], [0, 0, 1, 0]]
    >>> gpassk.compute(predictions=outcomes, k=2, include=["pass@k", "pass^k"])
    {'pass@2': 0.75, 'pass^2': 0.25}

    An interval:
    >>> results = gpassk.compute(predictions=outcomes, k=2, include=["pass@k"], confidence=0.95)
    >>> for key, value in results.items():
    ...     print(key, value if key.endswith("_interval") else round(value, 3))
    pass@2 0.75
    pass@2_mu 0.75
    pass@2_sigma 0.188
    pass@2_lo 0.326
    pass@2_hi 0.959
    pass@2_interval sampling
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class Gpassk(SampledMetric):
    computation = GPASSK
    _compute = staticmethod(GPASSK.results)

    def _info(self):
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=datasets.Features(
                {"predictions": datasets.Sequence(text), "references": text}
            ),
            reference_urls=[
                "https://arxiv.org/abs/2412.13147",
                "https://github.com/open-compass/GPassK",
            ],
        )


if has_same_package():  # so that a process has one copy of each class
    from at_k.metrics.gpassk.gpassk import Gpassk  # type: ignore  # noqa: F401

    __test__ = {"inputs": _KWARGS_DESCRIPTION}  # doctest skips the class of another module
