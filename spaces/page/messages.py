"""Word messages of the package for a page: "Row 1, sample 2" instead of `predictions[0][1]`."""

import re
from typing import Any

from at_k.core.checks import Index, InputError, InPython, Noun, Place, RunName
from at_k.core.samples import GRADED_SCORES

NO_SAMPLES = "There are no samples. Paste a table, rows of outcomes, or JSON."
REWARDS = " (the pages Max@k and Bayes@N score rewards)"

_NOUNS = {"references": "reference", "groups": "group", "clusters": "cluster"}
_PYTHON_TERMS = {
    GRADED_SCORES: REWARDS,
    " If the samples of a question follow each other, give their number as group_size (in the "
    "shell --group-size).": "",
    ", for programs with tests python_tests": "",
    "w has rewards for": "There are rewards for",
    ", and 'python_tests' runs programs with tests": "",
    "check_correct_fn=": "The checker ",
    ": unfinished='incorrect' counts them as incorrect": "",
    "correct_at_least": "the least correct score",
    ", or None if the sample is not scored": "",
    "write rewards as floats": "write rewards with a point",
    "'incorrect' counts them as incorrect, and 'drop' leaves them out": "They are incorrect, or "
    "left out",
    "'drop' leaves out all": "leave out all",
    "'drop' leaves them out": "They can be left out",
}
"""Phrases about Python, exactly as messages of the package have them, and what a page says."""


def message_for_page(
    error: Exception, question_noun: str, sample_noun: str, show_run_names: bool = True
) -> str:
    """Return the message of an error in the words of a page, with places that count from 1.

    Args:
        error: the error, whose message is in the words of the package.
        question_noun: what the page calls a question.
        sample_noun: what the page calls a sample.
        show_run_names: whether to keep the names of runs and files. If False, the samples are a
            pasted text, whose name "text" the visitor does not know.
    """
    message = ""
    for part in error.args if isinstance(error, InputError) else [str(error)]:
        words = _part_in_words(part, question_noun, sample_noun, show_run_names)
        if isinstance(part, Place) and (not message or message.rstrip().endswith((".", ":"))):
            words = f"{words[0].upper()}{words[1:]}"
        message += words
    if not show_run_names:
        if message.startswith("text has no "):
            return NO_SAMPLES
        message = without_name(message, "text")
    return replace_python_terms(message)


def _part_in_words(part: Any, question_noun: str, sample_noun: str, show_run_names: bool) -> str:
    """Return the words of a page for a part of an InputError; "" for Python and hidden names."""
    if isinstance(part, Place):
        return _place_in_words(part, question_noun, sample_noun)
    if isinstance(part, Noun):
        return {"question": question_noun, "sample": sample_noun}[part]
    if isinstance(part, Index):
        return str(part + 1)
    is_left_out = isinstance(part, InPython) or (isinstance(part, RunName) and not show_run_names)
    return "" if is_left_out else str(part)


def _place_in_words(place: Place, question_noun: str, sample_noun: str) -> str:
    """Return a place such as "the reference of question 3" or "question 3, sample 2"."""
    words = f"{question_noun} {place.question + 1}"
    if place.key is not None:
        return f"the entry of {place.key} for {words}"
    if place.sample is not None:
        words += f", {sample_noun} {place.sample + 1}"
    noun = _NOUNS.get(place.parameter)
    return f"the {noun} of {words}" if noun else words


def without_name(message: str, name: str) -> str:
    """Return a message without the name of a run or file at its start."""
    return re.sub(f"^{re.escape(name)}[:,] (.)", lambda match: match[1].upper(), message)


def replace_python_terms(message: str) -> str:
    """Return a message of the package without phrases about Python, which a page does not have."""
    for python, page in _PYTHON_TERMS.items():
        message = message.replace(python, page)
    return message
