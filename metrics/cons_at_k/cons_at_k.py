# Copyright 2026 The evaluate-at-k authors. Licensed under the Apache License, Version 2.0.
"""cons@k, avg@n, pass@k, maj@k and vote@k: scores of a majority of the samples."""

import datasets
import evaluate

from .kernel import CONS_AT_K, SampledMetric, has_same_package

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
    k: size of the subsets of samples, one or several. Default: all n samples of each question.
    include: the scores to compute, one or several of "cons@k", "avg@n", "pass@k", "maj@k",
        "accuracy", "vote@k" and "weighted_vote@k". Default: all that the outcomes allow.
    merge_right: whether all correct answers to a question count as one answer in vote@k. If not,
        votes are counted for each wording. Default: True.
    vote_weights: a number of at least 0 for each sample, in lists like those of predictions, such
        as its confidence or its reward. In weighted_vote@k the answer with the largest sum among k
        samples wins, and ties are shared. It is exact for up to 20,000 subsets of k samples, and
        otherwise the mean over 10,000 random ones. Needs all predictions in one call of compute.
    check_correct_fn: a function of a prediction and a reference that returns whether the prediction
        is correct, a share of correctness from 0.0 to 1.0 (correct if above 0.5), or None if it is
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
    confidence: a probability such as 0.95. Adds to each score, as <key>, the estimate <key>_mu, its
        standard deviation <key>_sigma, and the limits <key>_lo and <key>_hi of an interval. Only
        avg@n, pass@k and maj@k have a posterior.
    interval: the interval method. For the same questions, sampled again: "sampling", with the
        variance estimated from the data; "posterior", a Bayesian posterior with a Beta prior. For
        other questions like these: "questions". "auto" is the first of these that applies:
        "posterior" if alpha0 or beta0 is not 1; "questions" if clusters are given or each question
        has one sample; "sampling". It adds the name as <key>_interval, or "none: " and the reason
        why a score has no interval. Requires a confidence. Default: "auto".
    clusters: a cluster for each question, for interval "questions". Default: each has its own.
    anytime: whether limits are valid at all looks together. While samples or questions are added,
        you may then look at the limits as often as you like, and stop when they decide. They are
        1.6 to 1.8 times as wide. Requires a confidence, and no posterior.
    alpha0: first parameter of the Beta prior of a question's success rate. Default: 1.
    beta0: second parameter of the Beta prior of a question's success rate. Default: 1.
    band: whether to add <key>_band_lo and <key>_band_hi: limits that contain the scores at all k
        together with the given confidence. Requires a confidence.
    groups: a label for each question. Adds <label>/<key>, the score over its questions.
    average: "questions" (the default), for the mean over all questions; or "groups", for the mean
        of the scores of the groups, whatever their sizes (macro average). Needs groups.
    question_weights: a weight of at least 0 for each question. Default: equal weights.
    return_per_question: whether to add per_question: for each key, the scores of the questions.
    keys: "exact" (the default); or "safe", for names of letters, digits and underscores that every
        logger takes, such as maj_at_4_lo, and for numbers only: without <key>_interval and
        per_question.
Returns:
    A dict of floats from 0 to 1, higher is better: "cons@{k}" for each k, "avg@{n}", "pass@{k}" and
    "maj@{k}"; "accuracy ({n} runs average)", the mean share of correctness, if outcomes are such
    shares; "vote@{k}", if predictions are answers; and "weighted_vote@{k}", if they have weights. n
    is the number of samples of each question, or the letter n if it differs, and k is n by default.
Raises:
    ValueError: if an input is invalid, with the question and the sample; or if k exceeds the number
        of scored samples of a question. Questions that were added before are kept.
Examples:
    >>> cons_at_k = evaluate.load("cons_at_k")
    >>> samples = [["A", "A", "X"], ["B", "C", "B"], ["X", "X", "C"], ["X", "X", "X"]]
    >>> cons_at_k.compute(predictions=samples, references=["A", "B", "C", "D"])
    {'cons@3': 0.5, 'avg@3': 0.41666666666666663, 'pass@3': 0.75, 'maj@3': 0.5, 'vote@3': 0.5}

    Shares of correctness instead of answers:
    >>> cons_at_k.compute(predictions=[[0.6, 0.4, 0.6]])["accuracy (3 runs average)"]
    0.5333333333333333
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class ConsAtK(SampledMetric):
    computation = CONS_AT_K
    _compute = staticmethod(CONS_AT_K.results)

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
                "https://arxiv.org/abs/2203.11171",
                "https://github.com/AISBench/benchmark",
            ],
        )


if has_same_package():  # so that a process has one copy of each class
    from at_k.metrics.cons_at_k.cons_at_k import ConsAtK  # type: ignore  # noqa: F401

    __test__ = {"inputs": _KWARGS_DESCRIPTION}  # doctest skips the class of another module
