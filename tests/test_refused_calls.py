"""What Python refuses: calls as people type them, and what the message says.

Before " >> " is a call, of several functions if their names are joined by "/", and after it are
parts of the error, which begins with its type. A metric stands for its `compute`.
"""

import functools
import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import at_k
import numpy as np
import pytest
from scored import check, compute, same

METRICS = ("gpassk", "bayes_at_n", "max_at_k", "cons_at_k", "score_agg")
KINDS = ("sampling", "questions", "hierarchical", "posterior", "auto")
NAMES: dict[str, Any] = {
    **{name: getattr(at_k, name) for name in at_k.__all__},
    **{name: functools.partial(compute, name) for name in METRICS},
    "compare_same": lambda R, **options: at_k.compare(R, R, **options),
    "assert_at_least": at_k.testing.assert_at_least,
    "check": check,
    "same": same,
    "ThreadPoolExecutor": ThreadPoolExecutor,
    "inf": math.inf,
    "nan": math.nan,
    "np": np,
    "ONE": [[1], [0]],
    "TWO": [[1, 0], [0, 1]],
    "REAL": [[0.1], [0.5]],
    "ROWS": [[0, 1], [1, 1], [0, 0]],
    "PILOT": [[0, 1, 1, 0], [1, 1, 1, 1], [0, 0, 1, 0], [0, 0, 0, 0], [1, 1, 0, 1]],
    "LABELLED": {"predictions": [[1, 0]] * 60, "labels": [[1, 0]] * 60},
    "CALLED": [[1, 0, 1], [0, 0, 1]],
    "COUNTS": {"tp": 90, "fn": 8, "fp": 3, "tn": 99},
    "RATES": (0.9, 0.1),
    "A_1": [["a"], ["1"]],
    "AB": {"predictions": [["a"], ["b"]], "references": ["a", "b"]},
    "AC": {"predictions": [["a"], ["b"]], "references": ["a", "c"]},
    # The options of limits of each kind.
    **{kind: {"confidence": 0.9, "interval": kind} for kind in KINDS},
    "no_limits": {"confidence": None},
    "looks": {"confidence": 0.9, "anytime": True},
}

OUTCOMES = """
pass_at_k/pass_at_k_ci([], 1) >> R holds no question
pass_at_k/pass_at_k_ci([[1, 0], []], 1) >> R[1] is empty
pass_at_k/pass_at_k_ci(np.zeros((2, 0)), 1) >> R[0] is empty
pass_at_k/pass_at_k_ci([[1, 0], [0, 2]], 1) >> R[1][1] is 2: an outcome is 0 or False if
pass_at_k/pass_at_k_ci([[1, 0], [-1]], 1) >> R[1][0] is -1
pass_at_k/pass_at_k_ci([[1], [0, 0, 0.5]], 1) >> R[1][2] is 0.5
pass_at_k/pass_at_k_ci([[1, nan]], 1) >> R[0][1] is nan: an outcome is a finite number
pass_at_k/pass_at_k_ci([[1, inf]], 1) >> R[0][1] is inf
pass_at_k/pass_at_k_ci([[1], ["a"]], 1) >> R[1][0] is 'a'
pass_at_k/pass_at_k_ci([[1, 1], [True, "a"]], 1) >> R[1][1] is 'a'
pass_at_k/pass_at_k_ci([[1], 0], 1) >> R[1] is 0: each question has a list
pass_at_k/pass_at_k_ci([[1], "ab"], 1) >> R[1] is 'ab': each question has a list
pass_at_k/pass_at_k_ci([[[1]], [[0]]], 1) >> R[0][0] is [1]
pass_at_k/pass_at_k_ci(np.zeros((2, 2, 2)), 1) >> R has 3 dimensions
pass_at_k/pass_at_k_ci(7, 1) >> R is 7
pass_at_k/pass_at_k_ci("01", 1) >> R is '01'
pass_at_k/pass_at_k_ci(np.array([["a"]]), 1) >> R[0][0] is 'a'
pass_at_k([[None]], 1) >> R[0] has no scored sample
compare(np.ma.array([[1, 0]] * 3, mask=True), ROWS) >> R_a[0] has no scored sample
gpassk(np.array(1)) >> predictions is 1: give a list with the samples
"""
FUNCTIONS = """
pass_at_k/pass_at_k_ci(TWO, 0) >> k is 0: | positive integer
pass_at_k/pass_at_k_ci(TWO, -1) >> positive integer
pass_at_k/pass_at_k_ci(TWO, True) >> positive integer
pass_at_k/pass_at_k_ci(TWO, 1.0) >> positive integer
pass_at_k/pass_at_k_ci(TWO, "1") >> positive integer
pass_at_k/pass_at_k_ci(TWO, None) >> positive integer
pass_at_k/pass_at_k_ci(TWO, nan) >> positive integer
g_pass_at_k_tau([[1, 0, 1, 0]], 4, -0.1) >> share of the k samples
g_pass_at_k_tau([[1, 0, 1, 0]], 4, 1.1) >> share of the k samples
g_pass_at_k_tau([[1, 0, 1, 0]], 4, nan) >> share of the k samples
g_pass_at_k_tau([[1, 0, 1, 0]], 4, True) >> share of the k samples
pass_at_k_ci(TWO, 2, alpha0=0.0) >> alpha0 is 0.0
pass_at_k_ci(TWO, 2, beta0=-1.0) >> beta0 is -1.0
pass_at_k_ci(TWO, 2, beta0=nan) >> beta0 is nan
pass_at_k_ci(TWO, 2, alpha0=inf) >> alpha0 is inf
pass_at_k_ci(TWO, 2, confidence=0.0) >> confidence is 0.0
pass_at_k_ci(TWO, 2, confidence=1.0) >> confidence is 1.0
pass_at_k_ci(TWO, 2, confidence=95) >> confidence is 95
pass_at_k_ci(TWO, 2, bounds=(1.0, 0.0)) >> second of bounds is 0.0
pass_at_k_ci(TWO, 2, bounds="01") >> bounds are
pass_at_k_ci(TWO, 2, interval="wilson") >> interval has 'wilson', which is none of posterior, samp
pass_at_k_ci(TWO, 2, **sampling, alpha0=2.0) >> only interval='posterior' uses alpha0, beta0
pass_at_k_ci(TWO, 10, **sampling) >> k is 10, but question 0 has n = 2
pass_at_k_ci(ONE, 1, **sampling) >> R has no interval: one sample
pass_at_k_ci(TWO, 2, 0.95, (0.0, 1.0), 1.0, 1.0, "sampling") >> TypeError:
tailpass(TWO, 2, w=[0, 2]) >> a score is from 0 to 1
tailpass(TWO, 2, eta=2) >> eta is 2
tailpass(TWO, 2, prior=[1, 2, 3]) >> prior has the shape (3,): give a number, 2 numbers
tailpass(TWO, 2, prior=0) >> prior is 0.0
tailpass(TWO, 10_000) >> too many for a posterior
tailpass([[0, 1]], 2).linear([1]) >> weights has 1 entries with the sum 1: give 2 weights
auc_at_k_ci(Counts([10**6], [3 * 10**5]), 10**6) >> k = 1000000 needs | give a smaller k, or inter
bayes([[0.5]]) >> one real reward, which shows no variation
max_at_k_ci([[0.5, 0.25]], 3) >> k is 3, but question 0 has n = 2
bayes([[0.5, 0.25]], None, [[1]]) >> R0 is given
"""
WEIGHTS = """
advantages([[1, 0, 0], [1, 0]], 3) >> k is 3, but prompt 1 has n = 2 scored samples
advantages([[1, 0, 0], [1, 0, None]], 3) >> k is 3, but prompt 1 has n = 2
advantages([[1, 0, 0], [1, 0, 1]], {1: 1, 4: 1}) >> k is 4, but prompt 0 has n = 3
advantages([[1], [None]], 1) >> prompt 1 has n = 0
advantages([[1], []], 1) >> rewards[1] is empty
advantages([1, 0, 1], 2, groups=["x", "y", "x"]) >> prompt 'y' has n = 1
advantages(TWO, 2, baseline="centered") >> prompt 0 has n = 2 | needs k < n
advantages([[1, 0, 1], [1, 0]], 2, baseline="leave-one-out") >> prompt 1 has n = 2 | needs k < n
advantages([[1, 0], [0.5, 1]], 2) >> rewards[1][0] is 0.5: for the score 'pass@k'
advantages([[1, 0], [1, 0, 2]], 2, score=[1, 0]) >> rewards[1][2] is 2
advantages([1, 0, 1, 3], 2, group_size=2) >> rewards[3] of prompt 1 is 3
advantages([1, 0, 1, 3], 2, groups=[*"abab"]) >> rewards[3] of prompt 'b' is 3
advantages([[1, 0], [1, inf]], 2, score="max@k") >> rewards[1][1] is inf
advantages([[1, 0], [1, 10**400]], 2, score="max@k") >> rewards[1][1] is 10
advantages([[1, 0], [1, "yes"]], 2) >> rewards[1][1] is 'yes'
advantages([[1, 0], [1, [0]]], 2) >> rewards[1][1] is [0]
advantages([[1, 0], 1], 2) >> rewards[1] is 1: each question has a list
advantages([1, 0, 1], 2) >> rewards is flat: give group_size
advantages([1, 0, 1], 2, group_size=2) >> 3 rewards are no groups of group_size = 2
advantages([1, 0, 1], 2, groups=[1, 1]) >> groups has 2 ids for 3 rewards
advantages([1, 0], 2, groups=[1, None]) >> groups[1] is None
advantages([1, 0], 2, groups=[1, nan]) >> groups[1] is nan
advantages([1, 0], 2, groups=[1, 1], group_size=2) >> both given
advantages([[1, 0]], 2, group_size=2) >> for flat rewards
advantages([1, 0], 2, group_size=0) >> group_size is 0
advantages([1, 0], 2, group_size=True) >> group_size is True
advantages([], 2) >> rewards holds no question
advantages([[]], 2) >> rewards[0] is empty
advantages(np.zeros((3, 0)), 2) >> rewards[0] is empty
advantages(np.zeros((1, 2, 2)), 2) >> rewards has 3 dimensions
advantages([np.zeros((1, 2))], 2) >> rewards[0][0] is [0.0, 0.0]
advantages([[1, 0]], 0) >> k is 0
advantages([[1, 0]], 1.5) >> k is 1.5
advantages([[1, 0]], [1, 2]) >> a dict of weights such as {1: 0.5, 8: 0.5}
advantages([[1, 0]], {}) >> k is an empty dict
advantages([[1, 0]], {1: nan}) >> k[1] is nan
advantages([[1, 0]], 2, baseline="mean") >> baseline has 'mean', which is none of marginal, none
advantages([[1, 0]], 2, normalize=True) >> normalize has True, which is none of std
advantages([[1, 0]], 2, score="best@k") >> none of max@k, G-Pass@k_0.5
advantages([[1, 0]], 2, score="pass@2") >> give 'pass@k', and k=2
advantages([[1, 0]], 2, score="G-Pass@k") >> add the threshold
advantages([[1, 0]], 2, score="G-Pass@k_x") >> add the threshold
advantages([[1, 0]], 2, score="G-Pass@k_2") >> a threshold is a share
advantages([[1, 0]], 2, score="Geom@k") >> a product of expected values
advantages([[1, 0]], 2, score=[1, 0, 0]) >> score has 3 credits but k is 2
advantages([[1, 0]], 2, score=[1, -1]) >> score[1] is -1
advantages([[1, 0]], 2, score=None) >> score
advantages(np.array([[1, 0]]), 2) >> TypeError: | dtype int64, which cannot hold the weights
advantages(np.array([[True, False]]), 2) >> TypeError: | dtype bool
advantages([np.array([1, 0])], 2) >> TypeError: | dtype int64
advantages(np.array([["1", "0"]]), 2) >> TypeError: | dtype <U1
advantages(np.array([[1.0, None]], dtype=object), 2) >> TypeError: | dtype object
advantages("10", 2) >> TypeError: | rewards is a builtins.str
advantages({"a": [1, 0]}, 2) >> TypeError: | rewards is a builtins.dict
advantages(np.array(1.0), 2) >> TypeError: | rewards is a numpy.ndarray
advantages(None, 2) >> TypeError: | rewards is a builtins.NoneType
advantages(Counts([4], [2]), 2) >> TypeError: | Counts
"""
LIMITS = """
gpassk(ONE, k=1, **sampling) >> The run has no interval: one sample | how samples vary
gpassk(ONE, k=1, **hierarchical) >> The run has no interval: one sample | how questions differ
gpassk([[1, 0, 1]], k=1, **questions) >> The run has no interval: one question, or one cluster
gpassk(TWO, k=1, **questions, clusters=["x", "x"]) >> The run has no interval: one question
gpassk(ROWS, k=1, **questions, groups=[*"xxy"]) >> Group 'y' has no interval: one question
gpassk(TWO, k=1, confidence=0.9, interval="bayes") >> 'bayes', which is none of posterior
gpassk([[1, 0]], k=1, **sampling, clusters=["x"]) >> clusters are used by interval=
gpassk(TWO, k=1, **questions, clusters=["x"]) >> clusters has 1 labels for 2 questions
gpassk([[1, 0]], k=4, **sampling) >> k is 4, but question 0 has n = 2 | give a k of at most 2.
gpassk([[1, 0]], k=4, **questions) >> k is 4, but question 0 has n = 2
gpassk([[1, 0]], k=4, **auto, include="Geom@k") >> Geom@4 is a product
gpassk([[1, 0]], k=1, **hierarchical, include="Geom_ds@k") >> Geom_ds@1 is a product
gpassk(TWO, k=1, band=True) >> only limits use band
gpassk(TWO, k=1, confidence=0.9, band="yes") >> band is 'yes'
gpassk(TWO, k=1, anytime=True) >> only limits use anytime, and there is no confidence
gpassk(TWO, k=1, **looks | posterior) >> interval is 'posterior'
gpassk(TWO, k=1, **looks, alpha0=2.0) >> without a prior
gpassk(TWO, k=1, **looks, band=True) >> leave out band or anytime
gpassk(TWO, k=1, **looks | {"anytime": 3}) >> anytime is 3
gpassk/bayes_at_n/max_at_k/cons_at_k/score_agg(TWO, **no_limits, clusters=[1, 2]) >> only limits use
gpassk/bayes_at_n/max_at_k/cons_at_k/score_agg(TWO, **questions | no_limits) >> interval
gpassk/bayes_at_n/max_at_k/cons_at_k/score_agg(TWO, **auto | no_limits) >> interval
bayes_at_n(TWO, anytime=True) >> give interval='sampling'
compare(TWO, TWO, metric="bayes@N", anytime=True) >> not for bayes@N
max_at_k(REAL, k=1, **sampling) >> The run has no interval: one sample | how samples vary
max_at_k([[0], [1]], k=2, **hierarchical) >> The run has no interval: | how questions differ
max_at_k(REAL, k=2, **hierarchical) >> k is 2, but question 0
max_at_k(REAL, k=2, **sampling) >> k is 2, but question 0
max_at_k([[0.1, 0.5]], k=1, **questions) >> The run has no interval: one question, or one cluster
max_at_k([[0.1, 0.5], [0.2, 0.3], [0.5]], k=1, **sampling, groups=[*"xxy"]) >> Group 'y' has no
bayes_at_n(ONE, **sampling) >> The run has no interval: one sample of each question
bayes_at_n(ONE, interval="bayes") >> none of posterior, sampling
bayes_at_n(ONE, clusters=["a", "b"]) >> clusters are used by interval=
cons_at_k(TWO, **hierarchical) >> none of posterior, sampling, questions, auto
score_agg([[1.0], [0.0]], **sampling) >> none of questions
score_agg([[1.0], [0.0]], confidence=0.9, clusters=["a"]) >> 1 labels for 2 questions
bayes_at_n(REAL, **posterior) >> real rewards: choose limits for the same questions
bayes_at_n(REAL, R0=[[0], [1]]) >> R0 is given, but the outcomes are real rewards
bayes_at_n(REAL, categories=["a", "b"]) >> categories is given, but the outcomes are real rewards
max_at_k(REAL, k=1, **posterior) >> real rewards: choose limits for the same questions
max_at_k(REAL, k=1, R0=[[0], [1]]) >> R0 is given, but the outcomes are real rewards
max_at_k(REAL, k=1, categories=["a", "b"]) >> categories is given, but the outcomes are real
"""
OPTIONS = """
cons_at_k(CALLED, include="vote@k") >> include has 'vote@k', which is a vote among answers
cons_at_k(CALLED, include=["avg@n", "accuracy"]) >> include has 'accuracy', which is the mean share
cons_at_k(CALLED, include="cons_at_k") >> Did you mean 'cons@k'
cons_at_k(CALLED, include=[]) >> include
max_at_k(TWO, k=1, keys="save") >> keys has 'save', which is none of exact, safe
max_at_k(TWO, k=1, groups=["a b", "a-b"], keys="safe") >> groups has the labels 'a b' and 'a-b', wh\
ich have the same safe name 'a_b'
max_at_k(TWO, picked_by=[[1, 2]]) >> picked_by has 1 questions
max_at_k(TWO, picked_by=[[1, None], [1, 2]]) >> picked_by[0][1] is missing
max_at_k(TWO, picked_by=[[1, 2], [1, 2, 3]]) >> picked_by[1] has 3 entries
max_at_k(TWO, picked_by=TWO, include="Max@k") >> give both, or neither
max_at_k(TWO, include="picked@k") >> give both, or neither
max_at_k(TWO, picked_by=TWO, **posterior) >> picked@k has limits for other questions only: give
max_at_k(TWO, picked_by=TWO, k=3) >> k is 3
cons_at_k(TWO, vote_weights=TWO) >> vote_weights weigh answers
cons_at_k(TWO, include="weighted_vote@k") >> needs vote_weights
cons_at_k(TWO, references=[1, 1], vote_weights=TWO, **sampling) >> weighted_vote@k has limits for o
max_at_k(TWO, include="TailPass@k", k=2, thresholds=[1.5]) >> thresholds[0] is 1.5: a threshold is
max_at_k(TWO, include="pass@k", k=2) >> include has 'pass@k', which is none of Max@k, TailPass@k
max_at_k(TWO, include="TailPass@k", k=2, w=[0, 2]) >> TailPass@k needs rewards from 0 to 1
max_at_k(TWO, include="TailPass@k", k=2, w=[0, 0.123456]) >> multiples of 1/D for some D up to 1000
max_at_k(TWO, include="TailPass@k", k=5) >> k is 5, but question 0 has n = 2
max_at_k(TWO, include="TailPass@k", k=5, confidence=0.9) >> k is 5, but question 0 has n = 2
max_at_k(TWO, include="TailPass@k", **hierarchical) >> TailPass@k has limits for other questions onl
max_at_k(TWO, include="TailPass@k", **sampling) >> TailPass@k has limits for other questions only
max_at_k(TWO, include="TailPass@k", **posterior) >> TailPass@k has limits for other questions only
gpassk/compare_same(ROWS, k=1, question_weights=[1, 2]) >> question_weights has 2 entries for
gpassk/compare_same(ROWS, k=1, question_weights=[1, -2, 1]) >> question_weights[1] is -2: a w
gpassk/compare_same(ROWS, k=1, question_weights=[1, "x", 1]) >> question_weights[1] is 'x'
gpassk/compare_same(ROWS, k=1, question_weights=[1, nan, 1]) >> question_weights[1] is nan
gpassk/compare_same(ROWS, k=1, question_weights=[1, 1e-60, 1]) >> question_weights[1] is 1e-60
gpassk/compare_same(ROWS, k=1, question_weights=[0, 0, 0]) >> question_weights are all 0
gpassk/compare_same(ROWS, k=1, average="groups") >> give a label of its group for each quest
gpassk/compare_same(ROWS, k=1, average="macro") >> average has 'macro', which is none of que
gpassk/compare_same(ROWS, k=1, groups=[*"aab"], question_weights=[1, 1, 0]) >> question_weigh\
ts are 0 for all questions of group 'b'
gpassk(ROWS, k=9, include="pass@k", groups=[*"aab"], average="groups", **auto) >> k is 9, but quest
gpassk(ROWS, k=2, include="Geom_ds@k", groups=[*"aab"], average="groups") >> product of two means o
gpassk(ROWS, k=2, include="GeoSpectrum@k", groups=[*"aab"], average="groups") >> product of two mea
compare(ROWS, ROWS, "Geom_ds@k", k=2, groups=[*"aab"], average="groups") >> product of two means ov
compare(ROWS, ROWS, "GeoSpectrum@k", k=2, groups=[*"aab"], average="groups") >> product of two mean
gpassk([[0, 1, 0]], budget=4) >> predictions[0][1] is correct, and others follow
gpassk([[0, 1], [1, 1]], budget=4) >> predictions[1][0] is correct
gpassk([[0, None, 1]], budget=4) >> predictions[0][1] is not scored
gpassk([[0, 0], [0, 0, 0, 0, 1]], budget=4) >> Question 1 has more samples than the budget of 4
gpassk({"n": [4], "correct": [2]}, budget=4) >> Question 0 has 2 correct samples
gpassk([[1], [0, 0]], budget=4, k=3) >> k is 3, but question 1 has n = 2
gpassk([[1]], budget=4, k=5) >> k is 5: give a k of at most the budget, 4
gpassk([[1]], budget=0) >> budget is 0
gpassk([[1]], budget=4, include=["pass@k", "pass^k"]) >> include has 'pass^k'
gpassk([[1]], budget=4, **sampling) >> none of questions, auto
gpassk([[1]], budget=4, checker_rates=RATES) >> leave these out
gpassk([[1]], budget=4, alpha0=2) >> leave these out
gpassk(CALLED, labels=[[None] * 3] * 2) >> labels has no labelled sample
gpassk(CALLED, labels=[[1, 0, 1]]) >> labels has 1 questions, and predictions have 2
gpassk(CALLED, labels=[[1, 0], [0, 0, 1]]) >> labels[0] has 2 entries for 3 samples
gpassk(CALLED, labels=[[1, 0, 2], None]) >> labels[0][2] is 2: a label is 1
gpassk(CALLED, labels=[[1, 0, 1], [0, 0.5, 1]]) >> labels[1][1] is 0.5
gpassk(CALLED, labels=[["yes", None, None], None]) >> give a number for each sample
gpassk(CALLED, labels=[[1, None, 1], None]) >> labels of correct and of incorrect samples
gpassk(CALLED, labels=[[1, 0, 1], [0, 0, 1]]) >> better than chance: of 3 correct
gpassk(CALLED, labels={"tp": 3, "tn": 4}) >> counts of labels have the keys tp, fn, fp, tn
gpassk(CALLED, labels=COUNTS | {"fn": -1}) >> labels['fn'] is -1
gpassk(CALLED, labels=COUNTS | {"fn": "8"}) >> labels['fn'] is '8'
gpassk(CALLED, labels=COUNTS, checker_rates=RATES) >> labels estimate the rates
gpassk(CALLED, checker_rates=RATES, include="Geom@k", k=2) >> leave it out
gpassk(CALLED, checker_rates=RATES, **posterior) >> interval='posterior' does not correct
gpassk({"n": [3, 3], "correct": [2, 1]}, labels=CALLED) >> predictions are counts
gpassk(TWO, checker_rates=(0.5, 0.5)) >> says nothing about the samples
gpassk(TWO, checker_rates=(0.2, 0.7)) >> says nothing about the samples
gpassk(TWO, checker_rates=(0.9,)) >> give the true-positive and the false-positive rate
gpassk(TWO, checker_rates=(1.2, 0.1)) >> checker_rates[0] is 1.2
gpassk(TWO, checker_rates=(0.9, None)) >> checker_rates[1] is None
gpassk(TWO, checker_rates="ab") >> checker_rates
bayes_at_n(CALLED, w=[0, 2], checker_rates=RATES) >> leave out w, categories and bounds
bayes_at_n([[0.5, 1.0]], checker_rates=RATES) >> an outcome is 0 or False
gpassk([[1, 0]], includes=1) >> TypeError: | Did you mean 'include'?
"""
RUNS = """
plan() >> Give a pilot run or | , such as rates=[0.2, 0.8]
plan(PILOT, rates=[0.5]) >> not both
plan(ONE) >> R has one sample of each question
plan(PILOT, k=4, samples=[8, 3]) >> samples[1] is 3: give integers from 4
plan(PILOT, questions=[10.5]) >> questions[0] is 10.5
plan(rates=[0.5, 1.5]) >> rates[1] is 1.5: a success rate is a number from 0 to 1
plan(rates=[0.5], half_width=0.1, difference=0.1) >> give one of them
plan(rates=[0.5], power=1) >> power is 1: give a probability from 0.5
plan(rates=[0.5], sample_cost=-1) >> sample_cost is -1
plan(rates=[0.5], metric="vote@k") >> metric has 'vote@k', which is none of G-Pass@k
plan(rates=[0.5], interval="posterior") >> interval has 'posterior'
plan(rates=[0.5], question_weights=[1]) >> those of a pilot run
plan(LABELLED) >> has labels, and a plan is not corrected | : leave out the labels
plan([[1, 0]], power_=1) >> TypeError: | 'power_'. Did you mean 'power'?
compare([[1, 0]], TWO) >> R_a has 1 questions and R_b has 2
compare([[1, 0], [1, 2]], TWO) >> R_a[1][1] is 2
compare([[1, 0]], [[1]], k=2) >> question 0 has n = 1
compare(TWO, TWO, k=[]) >> k is empty
compare(TWO, TWO, metric="best") >> metric has 'best'
compare(TWO, TWO, interval="auto") >> interval has 'auto'
compare(TWO, TWO, metric="G-Pass@k", tau=2) >> tau is 2
compare(TWO, TWO, metric="pass@k", tau=0.9) >> pass@k does not use it
compare(TWO, TWO, metric="G-Pass@2_0.5", tau=1) >> tau is 1, and that of G-Pass
compare(TWO, TWO, metric="pass@2", w=[0, 2]) >> w is for max@k, avg@N, bayes@N
compare([[1, 0]], [[1, 0]], groups=["a", "b"]) >> groups has 2 labels for 1 questions
compare([[1, 0]], [[1, 0]]) >> R_a: one question, or one cluster
compare(AB, AB, metric="vote@k", clusters=["x", "x"]) >> R_a: one question, or one cluster
compare(ONE, ONE, interval="sampling") >> R_a: one sample of each question
compare(TWO, TWO, interval="sampling", clusters=["x", "y"]) >> used by interval='questions'
compare(TWO, TWO, k=1, common=True) >> R_a has no ids
compare([[1, 0]], [[1, 0]], ks=1) >> TypeError: | 'ks'. Did you mean 'k'?
compare(CALLED, CALLED, k=2, labels=(COUNTS, None)) >> R_b has no labels: a checker
compare(CALLED, CALLED, k=2, labels=COUNTS) >> labels of two runs are a pair
compare(CALLED, CALLED, k=2, labels=([[1]], [[1]])) >> R_a: labels has 1 questions
compare(CALLED, CALLED, k=2, checker_rates=RATES, metric="max@k") >> max@k is not corrected
compare(CALLED, CALLED, k=2, checker_rates=RATES, metric="Geom@k") >> cannot be corrected
leaderboard({"x": TWO}) >> needs two runs or more, and runs has 1
leaderboard([TWO, TWO]) >> give a dict from names to runs
leaderboard({"x": TWO, 3: TWO}) >> runs has the name 3
leaderboard({"x": TWO, "y": TWO}, metric="avg@N", k=1) >> leave k out
leaderboard({"x": TWO, "y": TWO}, metric="vote@k") >> x: vote@k needs answers
leaderboard({"x": TWO, "y": TWO}, metric="bayes@N", interval="questions") >> with interval='post
leaderboard({"x": TWO, "y": TWO}, check_correct_fn="numeric") >> no run has references
leaderboard({"x": AB, "y": ONE}, metric="vote@k", interval="sampling") >> x: one sample of each
leaderboard({"x": AB, "y": AC}) >> Question 1 has the reference 'b' in x and 'c' in y
leaderboard({"x": AB | {"R0": [[1]] * 2}, "y": AB}) >> x has prior outcomes R0
leaderboard({"a": [[1]], "b": [[1]]}, cluster=1) >> TypeError: | mean 'clusters'?
noise([[1, 0]], 1) >> one question, or one cluster
noise(TWO, 3) >> k is 3
noise(TWO, 1, "bayes@N") >> bayes@N is compared with
noise(TWO, 1, "pass") >> metric
noise([[1, 0]], weights=1) >> TypeError: | Did you mean 'question_weights'?
assert_at_least(TWO, inf) >> threshold is inf
"""
CHECKERS = """
check(A_1, ["a", None], "exact_match") >> references[1] is None
check(A_1, ["a", 0.5], "exact_match") >> references[1] is 0.5 | there is numeric
check(A_1, ["a", {"tests": 1}], "exact_match") >> references[1] is {'tests': 1}
check(A_1, ["a", []], "exact_match") >> references[1] is []
check(A_1, ["1", "none"], "numeric") >> references[1] is 'none', but numeric
check(A_1, ["1", ["2", "?"]], "numeric") >> references[1] is ['2', '?']
check(A_1, [{"a": 1}, "x"], "numeric") >> references[0]
check(A_1, ["5", []], "numeric") >> references[1] is []
check(A_1, ["5", None], "math_verify") >> references[1] is None, but math_verify compares with
check(A_1, ["5", {"a": 1}], "math_verify") >> references[1]
check([[1.0], [nan]], [1.0, 2.0]) >> predictions[1][0] is nan
check(A_1, ["a", "1"], "exactmatch") >> exact_match, numeric, choice, math_verify
check(A_1, ["a", "1"], 3) >> TypeError: | cannot be called
check(A_1, ["a", "1"], same, num_proc=0) >> num_proc is
check(A_1, ["a", "1"], same, num_proc=-1) >> num_proc is
check(A_1, ["a", "1"], same, num_proc=True) >> num_proc is
check(A_1, ["a", "1"], same, timeout=0) >> timeout is
check(A_1, ["a", "1"], same, timeout=-1.0) >> timeout is
check(A_1, ["a", "1"], same, timeout=nan) >> timeout is
check(A_1, ["a", "1"], same, timeout=True) >> timeout is
check(A_1, ["a", "1"], same, timeout="5") >> timeout is
check(A_1, ["a", "1"], same, executor=ThreadPoolExecutor) >> executor is
check(A_1, ["a", "1"], same, executor=3) >> executor is
check(A_1, ["a", "1"], same, num_proc=2, executor=ThreadPoolExecutor(1)) >> give one of them
check(A_1, ["a", "1"], same, timeout=1, executor=ThreadPoolExecutor(1)) >> give num_proc instead
"""
LINES = "".join((OUTCOMES, FUNCTIONS, WEIGHTS, LIMITS, OPTIONS, RUNS, CHECKERS)).split("\n")


@pytest.mark.parametrize(("call", "parts"), [x.split(" >> ") for x in LINES if x])
def test_an_invalid_call_is_refused_with_the_remedy(call, parts):
    names, _, arguments = call.partition("(")
    for name in names.split("/"):
        with pytest.raises((ValueError, TypeError)) as caught:
            eval(f"{name}({arguments}", NAMES)
        message = f"{caught.type.__name__}: {caught.value}"
        for part in parts.split(" | "):
            assert part in message
