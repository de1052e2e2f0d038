"""Word messages of the package for a page: "Row 1, sample 2" instead of `predictions[0][1]`."""

from at_k.core.checks import Index, InputError, InPython, Noun, Place, RunName
from at_k.core.samples import GRADED_SCORES

from .request import Request

REWARDS = " (the pages Max@k and Bayes@N score rewards)"

_NOUNS = {"references": "reference", "groups": "group", "clusters": "cluster"}
_PYTHON_TERMS = {
    "name the column of their ids (questions; in the shell --questions), or give by_order=True if "
    "all runs have the same questions in the same order": "add a column id",
    GRADED_SCORES: REWARDS,
    " If the samples of a question follow each other, give their number as group_size (in the "
    "shell --group-size).": "",
    ", for programs with tests python_tests": "",
    "w has rewards for": "There are rewards for",
    ", and 'python_tests' runs programs with tests": "",
    "check_correct_fn=": "The checker ",
    ": unfinished='incorrect' counts them as incorrect": "",
    "correct_at_least": "the least correct score",
    "pass interval='sampling'": "choose the same questions, sampled again",
    ", or None if the sample is not scored": "",
    "write rewards as floats": "write rewards with a point",
    "'incorrect' counts them as incorrect, and 'drop' leaves them out": "They are incorrect, or "
    "left out",
    "'drop' leaves out all": "leave out all",
    "'drop' leaves them out": "They can be left out",
}
"""Phrases about Python, exactly as messages of the package have them, and what a page says."""


def message_for_page(error: Exception, request: Request) -> str:
    """Return the message of an error in the words of a page, with places that count from 1.

    The name of a run is left out if it is a pasted text.
    """
    nouns = dict(zip(("question", "sample"), request.space.nouns, strict=True))
    message, has_names = "", bool(request.files)
    for part in error.args if isinstance(error, InputError) else [str(error)]:
        if isinstance(part, Place):
            words = _place_in_words(part, *request.space.nouns)
            is_start = not message or message.rstrip().endswith((".", ":"))
            message += f"{words[0].upper()}{words[1:]}" if is_start else words
        elif isinstance(part, Noun):
            message += nouns[part]
        elif isinstance(part, Index):
            message += str(part + 1)
        elif not isinstance(part, InPython if has_names else (InPython, RunName)):
            message += str(part)
    return replace_python_terms(message)


def not_compared(error: ValueError, request: Request) -> str:
    """Return a sentence that says why runs are not compared."""
    return f"The runs are not compared: {message_for_page(error, request)}"


def _place_in_words(place: Place, question_noun: str, sample_noun: str) -> str:
    """Return a place such as "the reference of question 3" or "question 3, sample 2"."""
    words = f"{question_noun} {place.question + 1}"
    if place.key is not None:
        return f"the entry of {place.key} for {words}"
    if place.sample is not None:
        words += f", {sample_noun} {place.sample + 1}"
    noun = _NOUNS.get(place.parameter)
    return f"the {noun} of {words}" if noun else words


def replace_python_terms(message: str) -> str:
    """Return a message of the package without phrases about Python, which a page does not have."""
    for python, page in _PYTHON_TERMS.items():
        message = message.replace(python, page)
    return message
