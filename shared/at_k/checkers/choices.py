"""How `choice` reads the option that a response chooses: a letter, or the text of an option."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .numbers import answer_part
from .options import NamedChecker, checker_with_options

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_WORDS = (("yes", "no"), ("true", "false"))


def choice(stop: Sequence[str] = ()) -> NamedChecker:
    """Return the checker "choice" with options: see `at_k.checkers.numeric`."""
    return checker_with_options("choice", stop)


@dataclass(frozen=True)
class Options:
    """The reference of a question.

    Attributes:
        correct: the letters of the correct options, or a word such as "YES".
        letters: the letters that an answer may be.
        texts: the texts of the options in a normal form, if they are known.
    """

    correct: str
    letters: str
    texts: tuple[str, ...] = ()


def read_options(reference: Any) -> Options | None:
    """Return the options of a reference, or None if it is no choice.

    A reference is a letter, "yes", "no", "true" or "false", or a dict with the options and the
    answer, which is a letter, the index of an option (`answer_index`), or the text of one.
    """
    if isinstance(reference, Mapping):
        texts = reference.get("options", reference.get("choices"))
        answer = reference.get("answer", reference.get("answer_index"))
        if isinstance(texts, Mapping):  # as in ARC: {"text": [..], "label": [..]}
            texts = texts.get("text", [*texts.values()])
        if not isinstance(texts, Sequence) or isinstance(texts, str) or len(texts) > len(_LETTERS):
            return None
        known = tuple(_normal(str(text)) for text in texts)
        letters = _LETTERS[: len(known)]
        if isinstance(answer, int) and not isinstance(answer, bool):
            letter = letters[answer] if 0 <= answer < len(known) else None
        else:
            letter = _letter_of_reference(answer)
            if letter is None and _normal(str(answer)) in known:
                letter = letters[known.index(_normal(str(answer)))]
        return None if letter is None or letter not in letters else Options(letter, letters, known)
    if isinstance(reference, str):
        for words in _WORDS:
            if reference.strip().lower() in words:
                return Options(reference.strip().upper(), "", words)
    letter = _letter_of_reference(reference)
    return None if letter is None else Options(letter, _LETTERS)


def _letter_of_reference(answer: Any) -> str | None:
    match = re.fullmatch(r"\s*\(?([A-Za-z])[).]?\s*", answer) if isinstance(answer, str) else None
    return None if match is None else match[1].upper()


def _normal(text: str) -> str:
    return " ".join(
        re.sub(r"[*_`$]|\\text(?:bf)?|[{}]", " ", text).strip().casefold().split()
    ).strip(" .,;:!\"'")


# --- Responses ----------------------------------------------------------------------------

_MARKS_AROUND = r"(?:\s|[*_`$\"':]|\\(?:text\w*|mathrm|mathbf)|\{|\\\(|\\\[)*"
_NOUN = r"(?:option|choice|answer|letter|alternative)"
# A letter that is no word: "A" before another word is an article, unless a reason follows.
_LETTER = (
    rf"(?:{_NOUN}\s+)?{_MARKS_AROUND}"
    r"(?:[(\[](?P<inside>[A-Za-z])[)\]]"
    r"|(?P<capital>[A-Z])(?![^\W_]|['\u2019-])"
    r"(?!(?<=[AI])\s+(?!because|since|as\b|for|due|which|and|or\b|is\b|with|in\b|from|by\b)"
    r"[a-z])"
    r"|(?P<small>[a-z])(?=[).]))"
)
_STATES = re.compile(
    r"(?:\b(?:answer|choice|option|solution|selection)\b[*_]*(?:\s(?:to|for)\s[^.\n]{0,80}?)?"
    r"[\"']?[*_]*\s*(?:is|would be|must be|should be|=|:|\|)(?:\s+(?:therefore|thus|clearly))?"
    r"(?:\s+not\s+\S+\s+but\b)?(?!\s*not\b)"
    r"|\b(?:choose|chose|select|pick|go with|conclude)\b|\\boxed|<answer>|####"
    r"|(?:答案|正确选项)[^\n。]{0,6}?(?:是|为|[:\uff1a])"
    r"|\b(?:réponse|antwort|respuesta)\b[^.\n]{0,20}?(?:est|ist|lautet|es|:))"
    rf"{_MARKS_AROUND}(?:the\s+|option\s+|choice\s+|letter\s+)*",
    re.IGNORECASE,
)
_FOLLOWING = re.compile(_LETTER)
_NAMED = re.compile(rf"\b(?:[Oo]ption|[Cc]hoice|[Aa]lternative)\s+{_LETTER}")
_RULED_OUT = re.compile(
    r"\s*[)*\].]*\s*(?:is|are|was)\s+(?:not|in|un|wrong|false|also wrong)", re.I
)
_SECOND = re.compile(
    r"[\s)*\].}$]*(?:\bor\b|\band\b|/|,|&|\boder\b|\bou\b|\bo\b)\s*(?:option\s+)?[*(\[]*"
    r"(?P<other>[A-Z])(?![\w'\u2019])"
)
_ALONE = re.compile(rf"^[\s#>-]*{_LETTER}", re.MULTILINE)
_IN_BRACKETS = re.compile(r"\(([A-Z])\)|\*\*([A-Z])\*\*|\*\*\(([A-Z])\)\*\*")


def read_choice(text: str, options: Options, stop: Sequence[str] = ()) -> str | None:
    """Return the letter, or the word, that a response chooses, or None if it chooses none or two.

    >>> read_choice("(A) is wrong. The answer is (C).", Options("C", "ABCD"))
    'C'
    """
    text = answer_part(text, stop, lambda part: _chosen(part, options) is not None).strip()
    return _chosen(text, options)


def _chosen(text: str, options: Options) -> str | None:
    starts = [mark.end() for mark in _STATES.finditer(text)]
    for start in reversed(starts):
        rest = text[start:]
        if options.letters and (found := _FOLLOWING.match(rest)):
            return _single_letter(found, rest, options)
        if options.texts and (named := _option_in(re.split(r"\n|\.\s", rest)[0], options)):
            return named
    if options.letters:
        named_letters = [
            found for found in _NAMED.finditer(text) if not _RULED_OUT.match(text, found.end())
        ]
        if named_letters:
            return _single_letter(named_letters[-1], text, options)
        alone = _FOLLOWING.match(text)
        if alone is not None and (
            not text[alone.end() :].strip(" .)*}]$\n") or _starts(alone, text)
        ):
            return _single_letter(alone, text, options)
        last = [found for found in _ALONE.finditer(text) if _is_line(text, found)]
        if last:
            return _single_letter(last[-1], text, options)
        letters = {
            next(filter(None, found.groups()))
            for found in _IN_BRACKETS.finditer(text)
            if not _RULED_OUT.match(text, found.end())
        }
        if len(letters) == 1:
            return _valid(letters.pop(), options)
    if options.texts:
        sentences = [part for part in re.split(r"\n|(?<=[.!?])\s", text) if part.strip()]
        for sentence in reversed(sentences):
            if named := _option_in(sentence, options):
                return named
    return None


def _starts(found: re.Match[str], text: str) -> bool:
    """Whether a letter at the start of a text is set apart: "C) The cell"."""
    return text[found.end()] in ").:*\n"


def _is_line(text: str, found: re.Match[str]) -> bool:
    """Whether a line has nothing but a letter."""
    return not re.split(r"\n", text[found.end() :], maxsplit=1)[0].strip(" .)*}]$:_`")


def _single_letter(found: re.Match[str], text: str, options: Options) -> str | None:
    """Return the letter of a match, or None if another one follows as an alternative."""
    letter = found["inside"] or found["capital"] or found["small"]
    second = _SECOND.match(text, found.end())
    if second is not None and second["other"] != letter.upper():
        return None
    return _valid(letter, options)


def _valid(letter: str, options: Options) -> str | None:
    return letter.upper() if letter.upper() in options.letters else None


def _option_in(sentence: str, options: Options) -> str | None:
    """Return the letter of the only option whose text is in a sentence; or the word itself."""
    normal = _normal(sentence)
    if normal in options.texts and options.texts.count(normal) == 1:
        return _name(options, options.texts.index(normal))
    found = [
        index
        for index, text in enumerate(options.texts)
        if text and re.search(rf"(?<![\w.-]){re.escape(text)}(?![\w-]|\.\d)", normal)
    ]
    # An option that is part of another one is not meant: "acid" in "nucleic acid".
    longest = [
        i for i in found if not any(i != j and options.texts[i] in options.texts[j] for j in found)
    ]
    return _name(options, longest[0]) if len(longest) == 1 else None


def _name(options: Options, index: int) -> str:
    return options.letters[index] if options.letters else options.texts[index].upper()
