"""The parts of docstrings that many functions share.

A function documents what is its own, and `documented` adds the parameters, the return value and the
errors that it shares with others. So `help` of each function is complete, and each text is written
once.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping

_OUTCOMES = (
    "outcomes of M questions: an (M, N) array or tensor, a nested list, which may be ragged, a "
    "data frame with a question in each row, or `Counts`, the numbers of samples by outcome. A "
    "flat list is one question. "
)
_UNSCORED = "Samples that are None, masked, or NA in a data frame are not scored."
_PARAMETERS = {
    "R": f"{_OUTCOMES}An outcome is 0 or False (incorrect), or 1 or True (correct). {_UNSCORED}",
    "k": "number of samples in a subset, from 1 to the smallest number of samples of a question.",
    "confidence": "probability that the interval covers the true value, between 0 and 1.",
    "bounds": "(lo, hi), to which the confidence limits are clipped, or None for no clipping.",
    "alpha0": "first parameter of the Beta prior of the success rate of each question, above 0.",
    "beta0": "second parameter of this prior, above 0.",
    "tau": "required share of correct samples, from 0 (pass@k) to 1 (pass^k).",
    "weights": "w_1, .., w_k of the threshold spectrum, each at least 0, with a sum of at most 1.",
    "lam": "exponent of pass@k, from 0 to 1. That of the spectrum is 1 - lam.",
    "lambda_": "another name of lam.",
    "pass_power": "the exponent a of pass@k.",
    "unanimous_power": (
        "the exponent b of pass^k. At least one of a and b is not 0. A negative exponent requires "
        "a score above 0."
    ),
    "w": "rewards of the categories 0, .., C, C + 1 numbers. Default: (0, 1), for binary outcomes.",
    "R0": "prior outcomes of the questions, (M, D), or a flat list of M x D. Default: none.",
}
_REWARDS = _PARAMETERS | {
    "R": (
        f"{_OUTCOMES}An outcome is a category, an integer from 0 to C; or a real reward, if w is "
        f"None and one of the outcomes is a float other than 0 and 1. {_UNSCORED}"
    )
}
_ABOVE_N = {"k": "number of new samples, at least 1. It may exceed the number of samples."}
_RETURNS = "A float from 0 to 1: the mean over questions of an unbiased estimate."
_RETURNS_SUMMARY = (
    "(mu, sigma, lo, hi): the posterior mean and standard deviation of the score of k new samples, "
    "averaged over questions, and the limits mu -+ z sigma, clipped to the bounds. The success "
    "rate of each question has a Beta(alpha0, beta0) prior (Hariri et al. 2026)."
)
_SEE_ALSO = (
    "its limits by the posterior. The metrics (`at_k.load`) have other intervals, whose coverage "
    "is closer to the confidence."
)
_RAISES = (
    "ValueError: if an outcome or a parameter is invalid. The message names the entry (`R[3][7]`), "
    "the question or the parameter, and says what would be valid."
)
_REFERENCES = {
    "AISBench": "AISBench, benchmark tool. https://github.com/AISBench/benchmark",
    "Bagirov et al. 2025": (
        "Bagirov et al. (2025). The Best of N Worlds: Aligning Reinforcement Learning with "
        "Best-of-N Sampling via max@k Optimization. arXiv:2510.23393"
    ),
    "Chen et al. 2021": (
        "Chen et al. (2021). Evaluating Large Language Models Trained on Code. arXiv:2107.03374"
    ),
    "Geom@k": "Geom@k: Stable Evaluation and Fast Rank Recovery for LLM Reasoning.",
    "Hariri et al. 2026": (
        "Hariri et al. (2026). Don't Pass@k: A Bayesian Framework for Large Language Model "
        "Evaluation. arXiv:2510.04265"
    ),
    "Hu et al. 2026": (
        "Hu et al. (2026). Rewarding the Rare: Uniqueness-Aware RL for Creative Problem Solving in "
        "LLMs. arXiv:2601.08763"
    ),
    "Liu et al. 2024": (
        "Liu et al. (2024). Are Your LLMs Capable of Stable Reasoning? arXiv:2412.13147"
    ),
    "Yao et al. 2024": (
        "Yao et al. (2024). tau-bench: A Benchmark for Tool-Agent-User Interaction in Real-World "
        "Domains. arXiv:2406.12045"
    ),
}
_SECTION = re.compile(r"^(Args|Returns|Raises|Examples):\n", re.MULTILINE)
_ENTRY = re.compile(r"^    (\w+): ", re.MULTILINE)


def documented(function: Callable | None = None, *, rewards: bool = False, above_n: bool = False):
    """Add shared parts to the docstring of a function, and the sources that it cites.

    Args:
        function: to be documented.
        rewards: whether outcomes may be categories or real rewards.
        above_n: whether k may exceed the number of samples of a question.
    """
    if function is None:
        return lambda each: documented(each, rewards=rewards, above_n=above_n)
    if function.__doc__ is None:  # Python runs with -OO
        return function
    shared = (_REWARDS if rewards else _PARAMETERS) | (_ABOVE_N if above_n else {})
    head, *parts = _SECTION.split(inspect.cleandoc(function.__doc__))
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    _, *entries = _ENTRY.split(sections.get("Args", ""))
    own = dict(zip(entries[::2], entries[1::2], strict=True))
    returns = _RETURNS_SUMMARY if function.__name__.endswith("_ci") else _RETURNS
    see_also = ""
    if not function.__name__.endswith("_ci") and function.__name__ != "cons_at_k":
        see_also = _entry(f"{function.__name__}_ci: {_SEE_ALSO}")
    filled = {
        "Args": _arguments(list(inspect.signature(function).parameters), own, shared),
        "Returns": sections.get("Returns", _entry(returns)),
        "Raises": sections.get("Raises", "").rstrip()
        + "\n" * ("Raises" in sections)
        + _entry(_RAISES),
        "See also": see_also,
        "Examples": sections.get("Examples", ""),
    }
    cited = [
        entry for citation, entry in _REFERENCES.items() if citation in head + filled["Returns"]
    ]
    filled["References"] = "\n".join(map(_entry, cited))
    text = "\n\n".join(f"{name}:\n{body.rstrip()}" for name, body in filled.items() if body)
    function.__doc__ = f"{head.rstrip()}\n\n{text}\n"
    return function


def _arguments(names: Iterable[str], own: Mapping[str, str], shared: Mapping[str, str]) -> str:
    texts = {name: " ".join((own.get(name) or shared[name]).split()) for name in names}
    return "\n".join(_entry(f"{name}: {text}") for name, text in texts.items())


def _entry(text: str) -> str:
    return textwrap.fill(text, 96, initial_indent="    ", subsequent_indent="        ")
