# Copyright 2026 The evaluate-at-k authors. Licensed under the Apache License, Version 2.0.
"""score_agg: graded verdicts aggregated into one score, with a temperature for strictness."""

import datasets
import evaluate

from .kernel import SCORE_AGG, SampledMetric, has_same_package

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
score_agg aggregates graded verdicts on the statements of an answer (fully, mostly, partial, minor
or none supported, or numbers from 0 to 1) into one score. The score is the power mean of the
verdicts. A temperature sets the exponent, from strict, close to the worst verdict, through the
plain mean to lenient, close to the best. Each verdict of 0 reduces the score by a further share.
"""

_KWARGS_DESCRIPTION = """
Computes the power mean of the verdicts on each item, and the mean over all items.
Args:
    predictions: for each item, the list of its verdicts: labels from weights, or numbers from 0 to
        1, None if not scored; or, with references, the list of its statements, which are checked
        against its reference. The lists may differ in length. Or counts in place of lists:
        {"answers": [["fully", "none"], ..], "counts": [[3, 1], ..]}.
    references: one for each item: a text, a number, a list, or whatever check_correct_fn accepts.
    temperature: strictness, from 0.1 (strict) through 0.5 (the plain mean) to 1.0 (lenient).
        Default: 0.5.
    penalty: the share of an item's score that each of its verdicts of 0 takes off, from 0 to 1.
        Default: 0.1.
    eps_for_neg_p: a small number above 0, which replaces smaller verdicts at temperatures up to
        0.443, where the exponent is not positive. Default: 1e-9.
    weights: labels of verdicts, and the weight of each from 0 to 1. Default:
        {"fully": 1.0, "mostly": 0.9, "partial": 0.7, "minor": 0.3, "none": 0.0}.
    check_correct_fn: a function of a statement and a reference that returns the verdict: a label
        from weights, a number from 0 to 1, or None if it is not to be scored; or "exact_match" (the
        default), "numeric" (compares the number in the text), "choice" (compares the option that it
        chooses), "math_verify" (the math-verify library) or "python_tests" (runs programs with
        their tests, in a sandbox). Each distinct statement of an item is checked once. The function
        may be async; or, with the attribute batched = True, take a list of predictions and a list
        of references, of at most batch_size entries (an attribute too, by default 64), and return a
        list. If it fails, or the run is interrupted, computing again with the same function checks
        only what is missing.
    num_proc: number of processes to run the checker in. Each imports the module of the checker.
    executor: a concurrent.futures.Executor to run the checker in. 32 calls of an async checker run
        at the same time, or as many as a ThreadPoolExecutor has threads.
    timeout: seconds that the checker may take for a sample, or for a batch. Samples that take
        longer are not scored, and a warning gives their number. The checker runs in separate
        processes, num_proc or one, which are killed if they exceed the limit.
    confidence: a probability such as 0.95. Adds the estimate score_agg_mu, its standard deviation
        score_agg_sigma, and the limits score_agg_lo and score_agg_hi of an interval.
    interval: the interval method: "questions", for other items like these; or "auto", which is
        "questions" if there are two items or more. It adds the name as score_agg_interval, or
        "none: " and the reason why the score has no interval. Requires a confidence. Default:
        "auto".
    clusters: a label of the cluster of each item. Default: each item is its own cluster.
    anytime: whether limits are valid at all looks together. While items are added, you may then
        look at the limits as often as you like, and stop when they decide. They are 1.6 to 1.8
        times as wide. Requires a confidence.
    groups: a label for each item. Adds <label>/score_agg, the score over the items with that label.
    average: "questions" (the default), for the mean over all items; or "groups", for the mean of
        the scores of the groups, whatever their sizes (macro average). Needs groups.
    question_weights: a weight of at least 0 for each item. Default: equal weights.
    return_per_question: whether to add per_question, with the list of the scores of the items.
    keys: "exact" (the default); or "safe", for names of letters, digits and underscores that every
        logger takes, such as score_agg_lo, and for numbers only: without <key>_interval and
        per_question.
Returns:
    A dict with the float "score_agg" from 0 to 1, higher is better.
Raises:
    ValueError: if an input is invalid, with the item and the verdict. Items that were added before
        are kept.
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
    >>> round(scores["score_agg"], 3)  # the mean of 1.0, 0.7 and 0.0, reduced by 10 %
    0.51
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class ScoreAgg(SampledMetric):
    computation = SCORE_AGG
    _compute = staticmethod(SCORE_AGG.results)

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
                "https://arxiv.org/abs/2604.08595",
                "https://github.com/meshkovQA/Eval-ai-library",
            ],
        )


if has_same_package():  # so that a process has one copy of each class
    from at_k.metrics.score_agg.score_agg import ScoreAgg  # type: ignore  # noqa: F401

    __test__ = {"inputs": _KWARGS_DESCRIPTION}  # doctest skips the class of another module
