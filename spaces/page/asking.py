"""Ask the visitor how samples are read, and word the errors of the package for a page."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from at_k.core.checks import Index, InputError, InputWarning, InPython, Noun, Place, RunName
from at_k.readers.names import SINGLE, plain_name
from at_k.readers.reading import make_reading
from at_k.readers.sources import load_files
from at_k.readers.table import Columns, SelectionError, column_at
from at_k.readers.words import entry_text

if TYPE_CHECKING:
    from .request import Request

Reading = dict[str, Any]
"""What a visitor has chosen about samples: arguments of `read_run`, such as {"missing": "drop"}."""


class ChoiceError(InputError):
    """Say that samples can be read in several ways, and that the visitor has to choose one.

    The visitor chooses one of `choices`, each a reading, or what `columns` with these names hold,
    or says which outcomes are correct. `parts` are the pieces of the message.
    """

    def __init__(
        self,
        *parts: Any,
        choices: Iterable[Reading] = (),
        columns: Iterable[str] = (),
        asks_correct: bool = False,
    ):
        super().__init__(*parts)
        self.choices, self.columns = tuple(choices), tuple(columns)
        self.asks_correct = asks_correct


ROLES = {
    "predictions": "Samples",
    "outcomes": "Outcomes, already graded",
    "references": "References",
    "questions": "Questions",
}
"""The roles of columns that a visitor can choose, and their labels."""

ROLES_OF_VERDICTS = {"outcomes": "Verdicts", "questions": "Items"}

SEVERAL = ("predictions", "outcomes")
"""The roles of which each sample may have a column."""

_CORRECT = ("correct_values", "correct_at_least")
_MAX_ENTRIES, _MAX_COLUMNS, _MAX_CHARACTERS, _MAX_MESSAGE = 40, 200, 120, 600
_MISSING = {
    "incorrect": "Missing samples are incorrect",
    "drop": "Missing samples are left out",
}
_WORDS: dict[str, Callable[[Any], str]] = {
    "missing": lambda choice: _MISSING[choice],
    "where": lambda where: f"only rows with {' and '.join(f'{x} = {y}' for x, y in where)}",
    "groups": lambda name: f"Scores for each {name}",
    "questions": lambda names: f"Questions are identified by {' and '.join(_as_list(names))}",
    "pool": lambda names: f"Rows that differ in {', '.join(names)} are samples of one question",
    "predictions": lambda names: f"Samples in {', '.join(_as_list(names))}",
    "outcomes": lambda names: f"Outcomes in {', '.join(_as_list(names))}",
    "references": lambda name: f"References in {name}",
    "records": lambda path: f"The rows in {path}",
    "n": lambda name: f"Numbers of samples in {name}",
    "correct": lambda name: f"Numbers of correct samples in {name}",
    "counts": lambda names: f"Numbers of equal samples in {', '.join(_as_list(names))}",
}
"""Functions that return the words for the value of an argument, by the name of the argument."""


def choice_in_words(choice: Reading) -> str:
    """Return a choice as text, such as "Missing samples are left out"."""
    parts = [_WORDS[argument](value) for argument, value in choice.items()]
    words = ", ".join(f"{part[0].lower()}{part[1:]}" for part in parts)
    dots = ".." if len(words) > _MAX_CHARACTERS else ""
    return f"{words[0].upper()}{words[1:_MAX_CHARACTERS]}{dots}"


def is_reading(reading: Any) -> bool:
    """Return whether an object from a link or program is a choice for `choice_in_words`."""
    try:
        # Correct outcomes are not checked here.
        choice = {name: value for name, value in reading.items() if name not in _CORRECT}
        return not choice or bool(choice_in_words(choice))
    except (TypeError, ValueError, LookupError, AttributeError):
        return False


def merged(reading: Reading, choice: Reading) -> Reading:
    """Return a reading with one more choice, which wins. All conditions "where" are kept."""
    where = [*reading.get("where", ()), *choice.get("where", ())]
    return reading | choice | ({"where": where} if where else {})


def parse_correct_outcomes(text: str) -> Reading:
    """Parse "A, B" to {"correct_values": ["A", "B"]}, and ">= 0.75" to {"correct_at_least": 0.75}.

    Return {} for an empty text. Raise a ValueError if it starts with >, and is not >= and a number.
    """
    text = text.strip().replace("\N{GREATER-THAN OR EQUAL TO}", ">=", 1)
    if not text.startswith(">"):
        words = [word.strip() for word in text.split(",") if word.strip()]
        return {"correct_values": words} if words else {}
    try:
        return {"correct_at_least": float(text.removeprefix(">="))}
    except ValueError as error:
        raise ValueError(
            f"Give the least correct score after >=, such as >= 0.75. Got {text!r:.40}."
        ) from error


def choice_error(error: SelectionError, path: str, has_references: bool) -> ChoiceError:
    """Turn an error of the reader about the file at `path` into a question to the visitor."""
    columns = load_columns(path)
    asks_columns = error.is_open and error.roles & {*ROLES, "counts"}
    choices = [*_choices_from_error(error, columns)]
    if asks_columns:
        roles = error.roles & {*(ROLES if has_references else ROLES_OF_VERDICTS)}
        choices += _likely_choices(columns, roles)
    remedy = [" Name another group column, or none."] if error.roles == {"groups"} else []
    return ChoiceError(
        *error.args,
        *remedy,
        choices=choices,
        columns=[name for name in columns if name][:_MAX_COLUMNS] if asks_columns else (),
        asks_correct=has_references and "correct_at_least" in error.roles,
    )


def load_columns(path: str) -> Columns:
    """Return the columns of a file by name, or an empty dict if it cannot be read as a table."""
    try:
        return load_files([path], make_reading()).columns
    except ValueError:
        return {}


def _likely_choices(columns: Columns, roles: Collection[str]) -> list[Reading]:
    """Return a choice of likely columns for each of the `roles` that are in `SEVERAL`.

    These are the largest group of numbered columns (a1, a2, ..), or else one of the names `SINGLE`.
    """
    by_start: dict[str, list[str]] = {}
    for name in columns:
        by_start.setdefault(name.rstrip("0123456789"), []).append(name)
    likely: Any = max(by_start.values(), key=len, default=[])
    if len(likely) < 2:
        likely = next((name for name in columns if plain_name(name) in SINGLE), None)
    return [{role: likely} for role in SEVERAL if role in roles and likely]


def _choices_from_error(error: SelectionError, columns: Columns) -> Iterator[Reading]:
    """Yield a choice for each way to settle an error, with those of its arguments in `_WORDS`.

    Of ways with "where", the first gives one for each combination of entries in its columns.
    """
    filters = [way.arguments["where"] for way in error.ways if "where" in way.arguments]
    if filters:
        yield from _row_filter_choices(columns, filters[0])
    for way in error.ways:
        known = {x: y for x, y in way.arguments.items() if x in _WORDS and y is not None}
        if known and "where" not in known:
            yield {x: _as_list(y) if x in ("questions", "pool") else y for x, y in known.items()}


def _row_filter_choices(columns: Columns, where: Mapping[str, str]) -> Iterator[Reading]:
    """Yield {"where": [[column, entry], ..]} for each combination of entries in these columns.

    If the table lacks a column, its entry is that in `where`. At most 40 are yielded.
    """
    size = len(next(iter(columns.values()), [""]))
    cells = [column_at(columns, name) or [entry] * size for name, entry in where.items()]
    combinations = dict.fromkeys(zip(*(map(entry_text, x) for x in cells), strict=True))
    for entries in [*combinations][:_MAX_ENTRIES]:
        yield {"where": [list(pair) for pair in zip(where, entries, strict=True)]}


def _as_list(names: Any) -> list[str]:
    """Return a name in a list, or a sequence of names as a list."""
    return [names] if isinstance(names, str) else list(names)


# --- Messages -----------------------------------------------------------------------------

_NOUNS = {"references": "reference", "groups": "group", "clusters": "cluster"}


def message_for_page(error: Warning | Exception | str, request: Request) -> str:
    """Return the message of an error or a warning in the words of a page: places count from 1."""
    pair, message = request.space.nouns, ""
    nouns = dict(zip(("question", "sample"), pair, strict=True))
    # The run of a pasted text is not named.
    unsaid = InPython if request.files else (InPython, RunName)
    pieces = error.args if isinstance(error, (InputError, InputWarning)) else [str(error)]
    for part in pieces:
        if isinstance(part, Place):
            words = _place_in_words(part, *pair)
            is_start = not message or message.rstrip().endswith((".", ":"))
            message += f"{words[0].upper()}{words[1:]}" if is_start else words
        elif isinstance(part, Noun):
            message += nouns[part]
        elif isinstance(part, Index):
            message += str(part + 1)
        elif not isinstance(part, unsaid):
            message += str(part)
    return message if len(message) < _MAX_MESSAGE else f"{message[:_MAX_MESSAGE]}.."


def _place_in_words(place: Place, question_noun: str, sample_noun: str) -> str:
    """Return a place such as "the reference of question 3" or "question 3, sample 2"."""
    words = f"{question_noun} {place.question + 1}"
    if place.key is not None:
        return f"the entry of {place.key} for {words}"
    if place.sample is not None:
        words += f", {sample_noun} {place.sample + 1}"
    noun = _NOUNS.get(place.parameter)
    return f"the {noun} of {words}" if noun else words
