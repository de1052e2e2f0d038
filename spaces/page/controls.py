"""Define the controls of a page, and parse and check their values."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

_MAX_CHARACTERS = 500


@dataclass(frozen=True)
class Control:
    """Describe the control of one option.

    `info` is the text below the label, and `value` the default, as the control shows it.
    """

    name: str
    label: str
    info: str
    value: Any

    def parse(self, value: Any) -> Any:
        """Return the value of the option for a shown value. Raise a ValueError if it is invalid."""
        raise NotImplementedError


@dataclass(frozen=True)
class NumberField(Control):
    """Describe a field for a number. If `step`, that of the arrow keys, is an integer, so is it."""

    minimum: float
    maximum: float
    step: float

    def parse(self, value: Any) -> int | float:
        """Return the number, as an int if `step` is one."""
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not self.minimum <= value <= self.maximum:
            raise ValueError(
                f"{self.name} must be a number between {self.minimum} and {self.maximum}."
            )
        if self.step != int(self.step):
            return round(float(value), 6)
        if value != int(value):
            raise ValueError(f"{self.name} must be an integer.")
        return int(value)


@dataclass(frozen=True)
class TextField(Control):
    """Describe a field for one line of text, which `parser` converts to the value of the option."""

    parser: Callable[[str], Any]

    def parse(self, value: Any) -> Any:
        """Return what the parser returns for the stripped text, or None if the text is blank."""
        if not isinstance(value, str) or len(value) > _MAX_CHARACTERS:
            raise ValueError(f"{self.name} must be a text of at most {_MAX_CHARACTERS} characters.")
        return self.parser(value.strip()) if value.strip() else None


@dataclass(frozen=True)
class Choice(Control):
    """Describe a choice among values; `choices` has the text that the page shows for each value."""

    choices: Mapping[str, str]

    def parse(self, value: Any) -> str:
        """Return the value, which must be one of the choices."""
        if value not in self.choices:
            raise ValueError(f"{self.name} must be one of {', '.join(self.choices)}.")
        return value


CONFIDENCE = NumberField(
    "confidence", "Confidence", "of the limits, 0.5 to 0.99", 0.95, 0.5, 0.99, 0.01
)

SAME_QUESTIONS, OTHER_QUESTIONS = "auto", "questions"
WHICH_QUESTIONS = Choice(
    "interval",
    "Which questions?",
    "what the limits are for; for a benchmark, most papers mean other questions",
    SAME_QUESTIONS,
    {
        SAME_QUESTIONS: "the same questions, sampled again",
        OTHER_QUESTIONS: "other questions like these",
    },
)
"""The values are those of the parameter `interval` of `compute`."""


def parse_numbers(text: str) -> list[float]:
    """Parse "0, 0.5, 1" or "0 0.5 1". Raise a ValueError unless it has finite numbers only."""
    try:
        numbers = [float(part) for part in re.split(r"[,;\s]+", text.strip(",; "))]
    except ValueError:
        numbers = []
    if not numbers or not all(map(math.isfinite, numbers)):
        raise ValueError(f"Give numbers separated by commas, such as 0, 0.5, 1. Got {text!r}.")
    return numbers


def parse_words(text: str) -> list[str] | None:
    """Parse words with commas between them. Return None if there are only commas and spaces."""
    return [part.strip() for part in text.split(",") if part.strip()] or None
