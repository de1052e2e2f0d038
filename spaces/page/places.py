"""Messages about samples in the words of a page: "Row 1, sample 2" for `predictions[0][1]`."""

from __future__ import annotations

import re
from collections.abc import Sequence

_PLACE = re.compile(
    r"(?:the result for )?\b(?P<column>predictions|references|groups|clusters)"
    r"(?:\['(?P<counts>\w+)'\])?\[(?P<row>\d+)\](?:\[(?P<cell>\d+)\])?"
)
_NUMBER_OF_QUESTION = re.compile(r"\b(?P<noun>[Qq]uestion) (?P<row>\d+)\b")
_ROW_OF_FILE = re.compile(r"\b(?P<noun>[Rr]ow|[Rr]ows \d+ and) (?P<row>\d+) \(from 0\)")
_WORDS = (
    # The page has no checkers that are functions.
    (", a list of acceptable ones, or a function as check_correct_fn.", ", or a list of them."),
    (": give a function as check_correct_fn.", "."),
    (" (np.ma.masked_invalid leaves out every NaN of an array)", ""),
    (" is 0 or False if incorrect, 1 or True if correct", " is 0 if incorrect and 1 if correct"),
    (", or contains itself.", "."),
    (" holds nothing but None: leave it out.", " has no scored {cell}: leave it out."),
    (" has no sample.", " has no {cell}."),
    (" has no questions.", " has no {row}s."),
    (" a question needs a sample.", " each {row} needs a {cell}."),
    ("If samples of a question follow each other, give their number as group size. ", ""),
    (" each question has a list of samples.", " each {row} has a list of {cell}s."),
)
_NOUNS = {"references": "reference", "groups": "group", "clusters": "cluster"}


def in_words(message: str, row: str, cell: str, numbers: Sequence[int] | None = None) -> str:
    """Return a message of at_k with places that count from 1.

    Args:
        message: the message.
        row: what a row of the table is called, such as "row" or "question".
        cell: what a cell is called, such as "sample".
        numbers: the number of each row, if some rows of the table are empty.
    """

    def number(place: str) -> int:
        index = int(place)
        return numbers[index] if numbers and index < len(numbers) else index + 1

    def place_in_words(found: re.Match[str]) -> str:
        words = f"{row} {number(found['row'])}"
        if found["counts"]:
            words = f"the entry of {found['counts']} for {words}"
        elif found["column"] != "predictions":
            words = f"the {_NOUNS[found['column']]} of {words}"
        elif found["cell"]:
            words += f", {cell} {int(found['cell']) + 1}"
        return words if _is_inside(message, found.start()) else f"{words[0].upper()}{words[1:]}"

    for ours, theirs in _WORDS:
        message = message.replace(ours, theirs.format(row=row, cell=cell))
    message = _ROW_OF_FILE.sub(lambda found: f"{found['noun']} {int(found['row']) + 1}", message)
    message = _NUMBER_OF_QUESTION.sub(
        lambda found: f"{found['noun']} {number(found['row'])}", message
    )
    return _PLACE.sub(place_in_words, message)


def _is_inside(message: str, start: int) -> bool:
    """Return whether a place is inside a sentence, and not at its start."""
    return bool(re.search(r"[^.:]\s*$", message[:start]))
