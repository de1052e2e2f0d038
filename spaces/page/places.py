"""Messages about samples in the words of a page: "Row 1, sample 2" for `predictions[0][1]`."""

from __future__ import annotations

from at_k.core.checks import Index, InputError, InPython, Noun, Place, RunName
from at_k.core.samples import GRADED_SCORES

REWARDS = " (the pages Max@k and Bayes@N score rewards)"
_NOUNS = {"references": "reference", "groups": "group", "clusters": "cluster"}


def message_in_words(error: Exception, row: str, cell: str, has_names: bool = True) -> str:
    """Return the message of an error with places that count from 1.

    Args:
        error: what was raised.
        row: what a row of the table is called, such as "row" or "question".
        cell: what a cell is called, such as "sample".
        has_names: whether the visitor knows the names of runs, which are those of files.
    """
    if not isinstance(error, InputError):
        return str(error)
    nouns = {"question": row, "sample": cell}
    message = ""
    for part in error.args:
        words = str(part)
        if isinstance(part, Place):
            words = _place_in_words(part, row, cell)
            if not message or message.rstrip().endswith((".", ":")):
                words = f"{words[0].upper()}{words[1:]}"
        elif isinstance(part, Noun):
            words = nouns[part]
        elif isinstance(part, Index):
            words = str(part + 1)
        elif isinstance(part, InPython) or (isinstance(part, RunName) and not has_names):
            words = ""
        message += words
    # It names the metrics; a visitor knows the pages.
    return message.replace(GRADED_SCORES, REWARDS)


def _place_in_words(place: Place, row: str, cell: str) -> str:
    words = f"{row} {place.question + 1}"
    if place.key is not None:
        return f"the entry of {place.key} for {words}"
    if place.sample is not None:
        words += f", {cell} {place.sample + 1}"
    noun = _NOUNS.get(place.parameter)
    return f"the {noun} of {words}" if noun else words
