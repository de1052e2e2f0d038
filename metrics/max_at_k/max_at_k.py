# Copyright 2026 The evaluate-at-k authors. Licensed under the Apache License, Version 2.0.
"""Max@k: the expected reward of the best of k samples."""

import datasets
import evaluate

from .kernel import MAX_AT_K, SampledMetric, has_same_package

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
Max@k is the expected reward of the best of k samples of a question, as best-of-k sampling with a
perfect selector would obtain it. With rewards 0 and 1 it is pass@k; it generalizes pass@k to more
categories and to the real rewards of a reward model.
"""

_KWARGS_DESCRIPTION = """
Computes Max@k, without bias, from n >= k samples of each question.
Args:
    predictions: for each question, the list of its samples, which are checked against its
        reference; or, without references, the list of its already-graded outcomes: rewards, as
        floats; categories 0, 1, .., C, or labels of them; None if not scored. The lists may differ
        in length. Or counts of samples in place of lists: {"counts": [[2, 5, 1], ..]} with one
        count for each category, or {"n": [8, ..], "correct": [3, ..]}.
    references: one for each question: a text, a number, a list of acceptable answers, or
        whatever check_correct_fn accepts.
    k: size of the subsets of samples, one or several. Default: those of 4, 8 and 16 that every
        question has samples for, or else the smallest n.
    w: rewards of the categories, C + 1 numbers. Default: 0 and 1, for incorrect and correct; or,
        if an outcome is a float other than 0 and 1, the outcomes are rewards themselves.
    R0: for each question, the list of its prior outcomes, all of one length. They count in the
        intervals as samples that were observed before.
    picked_by: a number for each sample, in lists like those of predictions, such as the score of a
        reward model: picked@k is the mean reward of the one of k samples with the largest number
        (best-of-n), and ties are shared. Needs all predictions in one call of compute.
    include: which scores to compute: "Max@k", "picked@k" (see picked_by), and "TailPass@k", the
        probability that the mean reward of k samples reaches a threshold: G-Pass@k for rubrics. It
        needs rewards from 0 to 1 that are multiples of a unit such as 0.05, and k of at most n.
        Default: "picked@k" if picked_by is given, or else "Max@k".
    thresholds: the mean rewards, from 0 to 1, that TailPass@k requires. Default: 0.25, 0.5, 0.75
        and 1.0.
    categories: the labels of the categories 0, 1, .., if outcomes are labels.
    check_correct_fn: a function of a prediction and a reference that returns whether the prediction
        is correct, a category, a label of a category, a reward from 0.0 to 1.0, or None if it is
        not to be scored; or "exact_match" (the default), "numeric" (compares the number in the
        text), "choice" (compares the option that it chooses), "math_verify" (the math-verify
        library) or "python_tests" (runs programs with their tests, in a sandbox). Each distinct
        prediction of a question is checked once. The function may be async; or, with the attribute
        batched = True, take a list of predictions and a list of references, of at most batch_size
        entries (an attribute too, by default 64), and return a list. If it fails, or the run is
        interrupted, computing again with the same function checks only what is missing.
    num_proc: number of processes to run the checker in. Each imports the module of the checker.
    executor: a concurrent.futures.Executor to run the checker in. 32 calls of an async checker run
        at the same time, or as many as a ThreadPoolExecutor has threads.
    timeout: seconds that the checker may take for a sample, or for a batch. Samples that take
        longer are not scored, and a warning gives their number. The checker runs in separate
        processes, num_proc or one, which are killed if they exceed the limit.
    confidence: a probability such as 0.95. Adds to each <key> the estimate <key>_mu, its standard
        deviation <key>_sigma, and the limits <key>_lo and <key>_hi of an interval.
    interval: the interval method. For the same questions, sampled again: "sampling", with the
        variance estimated from the data; "posterior", a Bayesian posterior with a Dirichlet prior,
        for categories; "hierarchical", the scores under all distributions of rewards that fit the
        data, for categories also for k > n. For other questions like these: "questions". "auto"
        is the first of these that applies: "posterior" if R0 is given; "questions" if clusters are
        given or each question has one sample; "hierarchical" if k > n; "sampling". It adds the name
        as <key>_interval, or "none: " and the reason why a score has no interval. Requires a
        confidence. Default: "auto". If real rewards are skewed and samples are few, there may be
        none from the tail: 95 % limits for ten questions then contain the score in as few as 80 %
        of runs.
    clusters: a cluster for each question, for interval "questions". Default: each has its own.
    anytime: whether limits are valid at all looks together. While samples or questions are added,
        you may then look at the limits as often as you like, and stop when they decide. They are
        1.6 to 1.8 times as wide. Requires a confidence, and no posterior.
    bounds: lower and upper bound that intervals are clipped to, in addition to the least and the
        greatest reward. Default: none.
    band: whether to add <key>_band_lo and <key>_band_hi: limits that contain the scores at all k
        together with the given confidence. Requires a confidence.
    groups: a label for each question. Adds <label>/<key>, the score over its questions.
    average: "questions" (the default), for the mean over all questions; or "groups", for the mean
        of the scores of the groups, whatever their sizes (macro average). Needs groups.
    question_weights: a weight of at least 0 for each question. Default: equal weights.
    return_per_question: whether to add per_question: for each key, the scores of the questions.
    keys: "exact" (the default); or "safe", for names of letters, digits and underscores that every
        logger takes, such as max_at_4_lo, and for numbers only: without <key>_interval and
        per_question.
Returns:
    A dict of floats in the unit of the rewards, higher is better: "max@{k}" for each k; and if
    included "picked@{k}", and "TailPass@{k}_{threshold}", a probability, for each k and threshold.
Raises:
    ValueError: if an input is invalid, with the question and the sample; or if k exceeds the number
        of scored samples of a question. Questions that were added before are kept.
Examples:
    >>> max_at_k = evaluate.load("max_at_k")
    >>> rewards = [[0.25, 1.0, -0.5, 0.75], [2.0, 1.5, 2.5, 0.0]]
    >>> max_at_k.compute(predictions=rewards, k=[1, 2, 4])
    {'max@1': 0.9375, 'max@2': 1.4791666666666665, 'max@4': 1.75}

    Categories with rewards, and an interval:
    >>> outcomes = [[0, 1, 2, 2, 1], [1, 1, 0, 2, 2]]
    >>> results = max_at_k.compute(predictions=outcomes, w=[0.0, 0.5, 1.0], k=2, confidence=0.95)
    >>> for key, value in results.items():
    ...     print(key, value if key.endswith("_interval") else round(value, 4))
    max@2 0.85
    max@2_mu 0.85
    max@2_sigma 0.1126
    max@2_lo 0.5594
    max@2_hi 0.9673
    max@2_interval sampling
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class MaxAtK(SampledMetric):
    computation = MAX_AT_K
    _compute = staticmethod(MAX_AT_K.results)

    def _info(self):
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=datasets.Features(
                {"predictions": datasets.Sequence(text), "references": text}
            ),
            reference_urls=["https://arxiv.org/abs/2510.23393", "https://arxiv.org/abs/2505.15201"],
        )


if has_same_package():  # so that a process has one copy of each class
    from at_k.metrics.max_at_k.max_at_k import MaxAtK  # type: ignore  # noqa: F401

    __test__ = {"inputs": _KWARGS_DESCRIPTION}  # doctest skips the class of another module
