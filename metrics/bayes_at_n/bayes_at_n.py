# Copyright 2026 The evaluate-at-k authors. Licensed under the Apache License, Version 2.0.
"""Bayes@N and avg@N: the mean reward of the samples, and its uncertainty."""

import datasets
import evaluate

from .kernel import BAYES_AT_N, SampledMetric, has_same_package

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
Bayes@N is the posterior mean of the reward of a sample, averaged over questions. Each of N samples
of a question is in one of a few categories (incorrect and correct, or more), each with a reward.
Bayes@N comes with its standard deviation and interval, and so does avg@N, the average reward.
"""

_KWARGS_DESCRIPTION = """
Computes Bayes@N and avg@N, each with its standard deviation and interval, from N samples of each
question.
Args:
    predictions: for each question, the list of its samples, which are checked against its
        reference; or, without references, the list of its already-graded outcomes: categories 0, 1,
        .., C (of two, 0 or False is incorrect and 1 or True is correct), or labels of them; real
        rewards, as floats; None if not scored. The lists may differ in length. Or counts of samples
        in place of lists: {"counts": [[2, 5, 1], ..]} with one count for each category, or {"n":
        [8, ..], "correct": [3, ..]}.
    references: one for each question: a text, a number, a list of acceptable answers, or
        whatever check_correct_fn accepts.
    w: rewards of the categories, C + 1 numbers. Default: 0 and 1, for incorrect and correct; or,
        if an outcome is a float other than 0 and 1, the outcomes are rewards themselves. Bayes@N
        needs categories, so with real rewards both scores are the mean reward.
    R0: for each question, the list of its prior outcomes, all of one length. They count as samples
        that were observed before.
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
    confidence: probability of the intervals, or None to leave them out. Default: 0.95.
    interval: the interval method. For the same questions, sampled again: "posterior", a Bayesian
        posterior with a Dirichlet prior, for categories; "sampling", with the variance estimated
        from the data; "hierarchical", the mean rewards under all distributions that fit the data.
        For other questions like these: "questions". "auto" is "questions" if clusters are given
        or each question has one sample, and otherwise "sampling". It adds the name as
        <key>_interval, or "none: " and the reason why a score has no interval. Requires a
        confidence. Default: "posterior" for categories, which defines Bayes@N, and "auto" for real
        rewards. If real rewards are skewed and samples are few, there may be none from the tail:
        95 % limits for ten questions then contain the score in as few as 80 % of runs.
    clusters: a cluster for each question, for interval "questions". Default: each has its own.
    anytime: whether limits are valid at all looks together. While samples or questions are added,
        you may then look at the limits as often as you like, and stop when they decide. They are
        1.6 to 1.8 times as wide. Requires a confidence, and no posterior.
    bounds: lower and upper bound that intervals are clipped to. Default: the least and the greatest
        reward, which intervals other than the posterior never leave.
    checker_rates: the true-positive and the false-positive rate of a checker that errs: the
        probabilities that it calls a correct and an incorrect sample correct. The scores are then
        unbiased estimates of those of truly correct samples, and may lie outside of 0 to 1, to
        which limits are clipped. Errors have to be independent, also between samples of a question.
        Not with w, categories or bounds.
    labels: the labels that a person gave to some samples, from which the rates are estimated: lists
        like those of predictions, with 1 if the sample is correct, 0 if not, and None where there
        is no label. The labelled samples may be drawn at random, by verdict (such as more of the
        accepted samples), or by question. Or the counts of labels {"tp": 90, "fn": 8, "fp": 3,
        "tn": 99} of samples that were drawn independently of what the checker returns for them.
        Intervals account for the number of labels. The result has the rates in "checker". Needs all
        predictions in one call of compute.
    groups: a label for each question. Adds <label>/<key>, the score over its questions.
    average: "questions" (the default), for the mean over all questions; or "groups", for the mean
        of the scores of the groups, whatever their sizes (macro average). Needs groups.
    question_weights: a weight of at least 0 for each question. Default: equal weights.
    return_per_question: whether to add per_question: for each key, the scores of the questions.
    keys: "exact" (the default); or "safe", for names of letters, digits and underscores that every
        logger takes, such as bayes_at_8_lo, and for numbers only: without <key>_interval,
        per_question and checker.
Returns:
    A dict of floats in the unit of the rewards: "bayes@{N}", its posterior standard deviation
    "bayes@{N}_sigma" and the limits "bayes@{N}_lo" and "bayes@{N}_hi" of its interval; then the
    same for "avg@{N}". N is the number of samples of each question, or the letter n if it differs.
Raises:
    ValueError: if an input is invalid, with the question and the sample. Questions that were added
        before are kept.
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

    Labels instead of numbers, and prior outcomes:
    >>> labels = [["incorrect", "close", "correct"], ["correct", "correct", "close"]]
    >>> results = bayes_at_n.compute(
    ...     predictions=labels,
    ...     categories=["incorrect", "close", "correct"],
    ...     w=[0.0, 0.5, 1.0],
    ...     R0=[[0, 2], [1, 2]],
    ...     confidence=None,
    ... )
    >>> print(results)
    {'bayes@3': 0.59375, 'avg@3': 0.6666666666666667}
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class BayesAtN(SampledMetric):
    computation = BAYES_AT_N
    _compute = staticmethod(BAYES_AT_N.results)

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
                "https://arxiv.org/abs/2510.04265",
                "https://github.com/mohsenhariri/scorio",
            ],
        )


if has_same_package():  # so that a process has one copy of each class
    from at_k.metrics.bayes_at_n.bayes_at_n import BayesAtN  # type: ignore  # noqa: F401

    __test__ = {"inputs": _KWARGS_DESCRIPTION}  # doctest skips the class of another module
