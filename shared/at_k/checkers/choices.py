"""How `choice` reads the option that a response chooses: a letter, or the text of an option."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .numbers import answer_part

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_WORDS = (("yes", "no"), ("true", "false"))


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
        return _options_of_row(reference)
    if isinstance(reference, str):
        for words in _WORDS:
            if reference.strip().lower() in words:
                return Options(reference.strip().upper(), "", words)
    letter = _letter_of_reference(reference)
    return None if letter is None else Options(letter, _LETTERS)


def _options_of_row(row: Mapping[str, Any]) -> Options | None:
    texts = row.get("options", row.get("choices"))
    answer = row.get("answer", row.get("answer_index"))
    if isinstance(texts, Mapping):  # as in ARC: {"text": [..], "label": [..]}
        texts = texts.get("text", [*texts.values()])
    if not isinstance(texts, Sequence) or isinstance(texts, str) or len(texts) > len(_LETTERS):
        return None
    known = tuple(_normal(str(text)) for text in texts)
    letters = _LETTERS[: len(known)]
    if isinstance(answer, int) and not isinstance(answer, bool):
        return Options(letters[answer], letters, known) if 0 <= answer < len(known) else None
    letter = _letter_of_reference(answer)
    if letter is None and _normal(str(answer)) in known:
        letter = letters[known.index(_normal(str(answer)))]
    return None if letter is None or letter not in letters else Options(letter, letters, known)


def _letter_of_reference(answer: Any) -> str | None:
    match = re.fullmatch(r"\s*\(?([A-Za-z])[).]?\s*", answer) if isinstance(answer, str) else None
    return None if match is None else match[1].upper()


def _normal(text: str) -> str:
    return " ".join(
        re.sub(r"[*_`$]|\\text(?:bf)?|[{}]", " ", text).strip().casefold().split()
    ).strip(" .,;:!\"'")


# --- Responses ----------------------------------------------------------------------------

_MARKS_AROUND = r"(?:\s|[*_`$\"':]|\\(?:text\w*|mathrm|mathbf)|\{|\\\(|\\\[)*"
_NOUN = r"(?:option|choice|answer|letter|statement|alternative)"
# Letters of a word, apart from those of scripts without spaces.
_PART_OF_WORD = "[^\\W_\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]"
# A letter that is no word: "A" before another word is an article, unless a reason follows.
_LETTER = (
    rf"(?:{_NOUN}\s+)?{_MARKS_AROUND}"
    r"(?:[(\[]+(?P<inside>[A-Za-z])[)\]]"
    rf"|(?P<capital>[A-Z])(?!{_PART_OF_WORD}|['\u2019-])"
    r"(?!(?<=[AI])\s+(?!because|since|as\b|for|due|which|and|or\b|is\b|with|in\b|from|by\b|not\b)"
    r"[a-z])"
    r"|(?P<small>[a-z])(?=[).]))"
)
_ADVERB = r"(?:\s+(?:therefore|thus|clearly|for sure|definitely|certainly|(?:most )?likely|then))"
_ARTICLE = r"(?:(?:the|la|le|die|el|o|a)\s+)?"
_STATES = re.compile(
    r"(?:\b(?:answer|ans|choice|option|letter|solution|selection|correct)\b[*_]*(?:\s(?:to|for)\s[^.\n]{0,80}?)?"
    rf"[\"']?[*_]*\s*(?:is|would be|must be|should be|=|:|\||[-\u2013\u2192]){_ADVERB}?"
    r"(?:\s+not\s+\S+\s+but\b)?(?!\s*not\b)"
    r"|\b(?:choose|chose|select|pick|go(?:ing)? with|conclude|leaves|leaving)\b"
    r"(?:\s+(?:us|with|only))*"
    rf"|\bit(?:['\u2019]s|\s(?:is|must be|has to be|should be)){_ADVERB}?"
    r"|\\boxed|<answer>|####|^[#*_\s]*(?:final |correct )?answer[*_]*(?:[ ]*$|[ ](?=\W*[A-Z]\W*$))"
    r"|(?:答案|正确选项)[^\n。]{0,6}?(?:是|为|[:\uff1a])|(?:应|故|因此|所以)选择?|(?:正解|答え|정답)[は은는:\uff1a]"
    r"|\b(?:réponse|antwort|respuesta|risposta|resposta|ответ)\b[^.\n]{0,20}?"
    rf"(?:\b(?:est|ist|lautet|es|é|è)\s+{_ARTICLE}|:))"
    rf"{_MARKS_AROUND}(?:the\s+|option\s+|choice\s+|letter\s+)*",
    re.IGNORECASE | re.MULTILINE,
)
_FOLLOWING = re.compile(_LETTER)
_NAMED = re.compile(rf"\b(?:[Oo]ption|[Cc]hoice|[Ss]tatement|[Aa]lternative)\s+{_LETTER}")
# "B is the correct one", where "Vitamin B is .." has another subject.
_CALLED_CORRECT = re.compile(
    r"(?:^|[\n.,;:]\s*|\b(?:[Ss]o|[Tt]hus|[Tt]herefore|[Hh]ence|but|that|only)\s+|[Oo]ption\s+)[*_]*"
    rf"{_LETTER}[)*\].:]*\s*(?:\b(?:is|must be|seems|would be)\s+)?"
    r"(?:(?:the|clearly|only|most|best)\s+)*"
    r"(?:[Cc]orrect|[Rr]ight|[Tt]rue|[Yy]es|best|answer|accurate|plausible|likely|appropriate)\b"
)
_RULED_OUT = re.compile(
    r"\s*[)*\].:]*\s*(?:(?:is|are|was)\s+)?(?:also\s+)?(?:not\b|no\b|in|un|wrong|false)", re.I
)
_SECOND = re.compile(
    r"[\s)*\].}$]*(?:\bor\b|\band\b|/|,|&|\boder\b|\bou\b|\bo\b)\s*(?:option\s+)?[*(\[]*"
    r"(?P<other>[A-Z])(?![\w'\u2019])"
)
_ALONE = re.compile(rf"^[\s#>-]*{_LETTER}", re.MULTILINE)
_IN_BRACKETS = re.compile(r"\(([A-Z])\)|\*\*([A-Z])\*\*|\*\*\(([A-Z])\)\*\*")
_AT_END = re.compile(rf"\b(?:is|so)[,\s]+{_LETTER}[)*\].\s]*$")
_ITEM = re.compile(r"^[\s*(-]*([A-Z])[).:]", re.MULTILINE)


def read_choice(text: str, options: Options, stop: Sequence[str] = ()) -> str | None:
    """Return the letter, or the word, that a response chooses, or None if it chooses none or two.

    >>> read_choice("(A) is wrong. The answer is (C).", Options("C", "ABCD"))
    'C'
    """
    text = answer_part(text, stop, lambda part: _chosen(part, options) is not None).strip()
    return _chosen(text, options)


def _chosen(text: str, options: Options) -> str | None:
    for mark in reversed([*_STATES.finditer(text)]):
        rest = text[mark.end() :]
        if options.letters and (letter := _FOLLOWING.match(rest)):
            return _single_letter(letter, rest, options)
        if options.texts and (named := _option_in(re.split(r"\n|\.\s", rest)[0], options)):
            return named
    if options.letters:
        for find in _FINDERS:
            letter = find(text)
            if letter is not None:
                return _single_letter(letter, text, options)
    if options.texts:
        sentences = [part for part in re.split(r"\n|(?<=[.!?])\s", text) if part.strip()]
        for sentence in reversed(sentences):
            if named := _option_in(sentence, options):
                return named
    return None


def _letter_called_correct(text: str) -> re.Match[str] | None:
    """Return the only letter that is called correct, as in "D) Correct"."""
    return _only([*_CALLED_CORRECT.finditer(text)])


def _named_letter(text: str) -> re.Match[str] | None:
    """Return the last letter after "option" that is not ruled out."""
    matches = [match for match in _NAMED.finditer(text) if not _is_ruled_out(text, match)]
    return matches[-1] if matches else None


def _lone_letter(text: str) -> re.Match[str] | None:
    """Return a letter with which a text starts, as in "C) The cell", or that has its own line."""
    first = _ALONE.match(text)
    if first is not None:
        follows = text[first.end() :]
        is_alone = not follows.strip(" .)*}]$\n")
        is_apart = follows[:1] in tuple(").:*\n\u3002\uff0c\u3001") or not follows[:1].isascii()
        items = _ITEM.findall(text)
        is_list = len(items) > 1 and items == sorted({*items})
        if is_alone or (is_apart and not is_list):
            return first
    lines = [match for match in _ALONE.finditer(text) if _ends_line(text, match)]
    return lines[-1] if lines else None


def _ends_line(text: str, match: re.Match[str]) -> bool:
    return not text[match.end() :].partition("\n")[0].strip(" .)*}]$:_`")


def _bracketed_letter(text: str) -> re.Match[str] | None:
    """Return the only letter in brackets or in bold that is not ruled out."""
    matches = _IN_BRACKETS.finditer(text)
    return _only([match for match in matches if not _is_ruled_out(text, match)])


def _is_ruled_out(text: str, match: re.Match[str]) -> bool:
    is_denied = text[: match.start()].rstrip().endswith(" not")
    return is_denied or _RULED_OUT.match(text, match.end()) is not None


def _letter_at_end(text: str) -> re.Match[str] | None:
    """Return the letter with which a response ends, as in "the only one is D."."""
    return _AT_END.search(text)


_FINDERS = (
    _letter_called_correct,
    _named_letter,
    _lone_letter,
    _bracketed_letter,
    _letter_at_end,
)


def _only(matches: list[re.Match[str]]) -> re.Match[str] | None:
    """Return the last match if all have the same letter."""
    return matches[-1] if len({_letter(match) for match in matches}) == 1 else None


def _letter(match: re.Match[str]) -> str:
    return next(filter(None, match.groups())).upper()


def _single_letter(match: re.Match[str], text: str, options: Options) -> str | None:
    """Return the letter of a match, or None if another one follows as an alternative."""
    letter = _letter(match)
    second = _SECOND.match(text, match.end())
    if second is not None and second["other"] != letter:
        return None
    return letter if letter in options.letters else None


def _option_in(sentence: str, options: Options) -> str | None:
    """Return the letter of the only option whose text is in a sentence; or the word itself."""
    normal = _normal(sentence)
    if normal in options.texts and options.texts.count(normal) == 1:
        return _name(options, options.texts.index(normal))
    chosen = [
        index
        for index, text in enumerate(options.texts)
        if text and re.search(rf"(?<![\w.-]){re.escape(text)}(?![\w-]|\.\d)", normal)
    ]
    # An option that is part of another one is not meant: "acid" in "nucleic acid".
    longest = [
        i
        for i in chosen
        if not any(i != j and options.texts[i] in options.texts[j] for j in chosen)
    ]
    return _name(options, longest[0]) if len(longest) == 1 else None


def _name(options: Options, index: int) -> str:
    return options.letters[index] if options.letters else options.texts[index].upper()
