"""Read the option that a response chooses, for `choice`: a letter, or the text of an option.

A *mark* is what announces an answer, such as "The answer is" or a box.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from .responses import answer_part, last_answer, sentences

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_WORDS = (("yes", "no"), ("true", "false"))


@dataclass(frozen=True)
class Options:
    """The options of a question, and the correct one."""

    correct: str  # its letter, or a word such as "YES"
    letters: str  # that an answer may be; "" if it is a word
    texts: tuple[str, ...] = ()  # of the options, see `_normal`, if they are known


def read_options(reference: Any) -> Options | None:
    """Return the options and the correct one by a reference, or None if it cannot be read.

    It is a letter, yes, no, true or false, or a dict with the options and the answer.
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
    """Return the options in a row such as {"options": [..], "answer": "B"}, or None if invalid.

    Options are a list, a dict of texts by labels, or as in ARC {"text": [..], "label": [..]}.
    """
    given, labels = row.get("options", row.get("choices")), []
    if isinstance(given, Mapping):
        labels = [*map(str, given.get("label", [*given]))]
        given = given.get("text", [*given.values()])
    if not isinstance(given, Sequence) or isinstance(given, str):
        return None
    texts, letters = tuple(_normal(str(text)) for text in given), _LETTERS[: len(given)]
    names = [label.strip().upper() for label in labels or letters]
    if not texts or len({*names}) != len(texts) or len(texts) > len(_LETTERS):
        return None
    if all(len(name) == 1 and name in _LETTERS for name in names):
        letters = "".join(names)
    answer = row.get("answer") if row.get("answer") is not None else row.get("answer_index")
    index = None if answer is None else _index_of_answer(answer, names, texts, bool(labels))
    return None if index is None else Options(letters[index], letters, texts)


def _index_of_answer(
    answer: Any, names: Sequence[str], texts: Sequence[str], are_labels: bool
) -> int | None:
    """Return the index of the correct option, or None if the answer does not tell which it is."""
    if isinstance(answer, int) and not isinstance(answer, bool):
        return answer if 0 <= answer < len(texts) else None
    name, text = _letter_of_reference(answer) or str(answer).strip(), _normal(str(answer))
    indices = {names.index(name)} if name in names else set()
    # "B" may be the name of one option and the text of another. A label of the row counts alone.
    if not (indices and are_labels):
        indices |= {index for index, option in enumerate(texts) if option == text}
    return indices.pop() if len(indices) == 1 else None


def _letter_of_reference(answer: Any) -> str | None:
    """Return the capital letter of an answer such as "c" or "(C)", or None for other values."""
    match = re.fullmatch(r"\s*\(?([A-Za-z])[).]?\s*", answer) if isinstance(answer, str) else None
    return None if match is None else match[1].upper()


def _normal(text: str) -> str:
    """Return a text in small letters without Markdown, LaTeX and punctuation at its ends."""
    plain = re.sub(r"[*_`$]|\\text(?:bf)?|[{}]", " ", unicodedata.normalize("NFKC", text))
    return " ".join(plain.casefold().split()).strip(" .,;:!\"'")


# --- Responses ----------------------------------------------------------------------------

# Repetitions have a bound, so that a text of nothing but such marks takes no quadratic time.
_MARKS_AROUND = r"(?:\s{1,200}+|[*_`$\"':\[]|\\(?:text\w{0,8}|mathrm|mathbf)|\{|\\\(|\\\[){0,16}"
_NOUN = r"(?:option|choice|answer|letter|statement|alternative)"
_OTHER_NOUNS = (
    "réponse|antwort|lösung|respuesta|risposta|resposta|ответ|odpowiedź|antwoord|cevap|jawaban"
    "|đáp án|الإجابة|الجواب|option|alternativa|opción|opção|opzione|вариант"
)
_OTHER_LETTERS = (
    "lettre|letra|lettera|option|opción|opção|opzione|alternativa|buchstabe|буква|вариант"
)
# Letters of a word, apart from those of scripts without spaces.
_PART_OF_WORD = "[^\\W_\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]"
_NO_NAME = rf"(?!{_PART_OF_WORD}|['\u2019](?=\w)|[#-]|[ ]*(?:[+^]|=(?!>)))"  # C++, E = mc^2
# "A" before another word is an article, unless a reason follows.
_NO_ARTICLE = (
    r"(?!\s+(?!because|since|as\b|for|due|which|and|or\b|is\b|with|in\b|from|by\b|not\b)[a-z])"
)
_LETTER = (
    rf"(?:{_NOUN}\s+)?{_MARKS_AROUND}"
    r"(?:[(\[]{1,3}([A-Za-z])[)\]]"
    r"|<([A-Z])>(?![^\n]{0,200}</)"  # no tag of HTML
    rf"|([B-HJ-Z]|[AI]{_NO_ARTICLE}){_NO_NAME}"
    r"|([a-z])(?=[).]))"
)
# After a mark, and alone, a letter without a parenthesis may be small, if it is one of the first.
_MARKED_LETTER = rf"(?:{_LETTER}|{_MARKS_AROUND}([a-h]){_NO_NAME}{_NO_ARTICLE})"
_ADVERB = r"(?:\s+(?:therefore|thus|for sure|(?:most )?[a-z]+ly|then))"
_ARTICLE = (  # what may be between "is" and a letter, as in "est donc la lettre C"
    r"(?:(?:donc|also|quindi)\s+)?(?:(?:the|la|le|die|el|o|a|het)\s+)?(?:l['\u2019])?"
    rf"(?:(?:{_OTHER_LETTERS})\s+)?"
)
_ANSWER_MARK = re.compile(
    r"(?:\b(?:"  # one word boundary for all words, which is searched fast
    r"(?:answer|ans|choice|option|letter|solution|selection|correct|final)\b[*_]*(?:\s(?:to|for|here|in)\b[^.\n]{0,80}?)?"
    rf"[\"']?[*_]*\s*(?:(?:is|would be|must be|should be)\b|[=:|\u2013\u2192-]){_ADVERB}?"
    r"(?:\s+not\s+\S+\s+but\b)?(?!\s*not\b)"
    r"|(?:choose|chose|select|pick|guess|go(?:ing)? with|conclude|leaves|leaving|left"
    r"|(?:['\u2019]ll|will|would)\sanswer)\b"
    r"(?:\s+(?:us|with|only))*"
    rf"|(?P<it_is>it(?:['\u2019]s|\s(?:is|must be|has to be|should be))){_ADVERB}?"
    rf"|(?:{_OTHER_NOUNS})\b[^.\n]{{0,20}}?(?:\b(?:est|ist|lautet|es|é|è|is|هي|هو)\s+{_ARTICLE}|:\s*{_ARTICLE}|—))"
    r"|\\boxed|<answer>|####|^[#*_ \t]*(?:final |correct )?answer[*_]*(?:[ ]*$|[ ](?=\W*[A-Z]\W*$))"
    r"|(?:答案|选项)[^\n。]{0,6}?(?:是|为|為|:)|(?<!不)选择?|(?:正解|答え|정답)[は은는:])"
    rf"{_MARKS_AROUND}(?:the\s+|option\s+|choice\s+|letter\s+)*",
    re.IGNORECASE | re.MULTILINE,
)
_LETTER_AFTER_MARK = re.compile(_MARKED_LETTER)
_NAMED_LETTER = (
    r"(?:\b(?:[Oo]ption|[Cc]hoice|[Ss]tatement|[Aa]lternative|Antwort|[Oo]pción|[Oo]pção|вариант)\s+"
    rf"|选项\s*){_MARKED_LETTER}"
)
_CORRECT = (
    r"(?:it is\b|(?:fits|matches|works|answers)\b[^.,;\n]*\bbest\b"
    r"|(?:\b(?:is|must be|seems|would be)\s+)?(?:(?:the|clearly|only|most|best|better)\s+)*"
    r"(?:[Cc]orrect|[Rr]ight|[Tt]rue|[Yy]es|best|answer|accurate|plausible|likely|appropriate"
    r"|supported)\b(?!\s+if\b))"
)
# "B is the correct one", where "Vitamin B is .." has another subject.
_LETTER_CALLED_CORRECT = (
    r"(?:^|[\n.,;:][ \t]*|\b(?:[Ss]o|[Tt]hus|[Tt]herefore|[Hh]ence|but|that|only|think|believe"
    rf"|[Oo]ption|[Cc]hoice)\s+)[*_]{{0,3}}{_LETTER}[)*\].:,]*\s*{_CORRECT}"
)
_TO_END_OF_LINE = r"(?=[ .)*}\]$:_`\"']*$)"
_NAME_IN_LINE = rf"[ \t#>-]*(?:{_LETTER}(?=[).:*\n]|[^\x00-\x7f]|\s+[-\u2013\u2014]\s+\w\w|\Z)"
_PLACES = [  # where a text without a mark has its letter, if all letters there agree
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        rf"\A(?:{_MARKED_LETTER}|{_NAMED_LETTER}){_TO_END_OF_LINE}",
        _LETTER_CALLED_CORRECT,
        _NAMED_LETTER,
        rf"\A{_NAME_IN_LINE}|\(([A-Za-z])\)(?![\s\S]*\([A-Za-z]\)))",
        rf"^(?:[ \t#>-]*|[^\n:]{{1,60}}:\s*){_LETTER}{_TO_END_OF_LINE}",
        r"\(([A-Z])\)|\*\*([A-Z])\*\*",
        r"(?:\b(?:[Ii]s|[Ss]o|[Tt]herefore|[Tt]hus|[Hh]ence)[,\s]++|[.!?]\s++|=>|[\u2192\u21d2\u2234])\s*+"
        rf"{_LETTER}[)*\].\s]*\Z|\bis\s+{_LETTER}[)*\]]*:\s",
    )
]
_RULED_OUT = re.compile(
    r"\s*[)*\].:]*\s*(?:(?:is|are|was)\s+)?(?:also\s+)?(?:not\b|no\b|in|un|wrong|false|contradict|eliminat|refuted|rejected|ruled|错|不)",
    re.I,
)
_ALTERNATIVE = re.compile(
    r"[\s)*\].}$\"']*(?:\bor\b|\band\b|/|,|&|\boder\b|\bou\b|\bo\b|[或和、])\s*(?:option\s+)?[*(\[\"']*"
    r"([A-Z])(?![\w'\u2019])"
)
_ITEM = re.compile(
    r"^[ \t*#(-]*(?:(?:option|choice)\s+)?\W{0,3}([A-Z])\W{0,3}[).:].*\n?", re.M | re.I
)
_VERDICT = re.compile(r"\b(?:correct|right|true|yes|answer)\b", re.I)
_LONGEST_OPTION = 1000  # characters
_DENIED = r"(?<!not )(?<!not the )(?<!n't )(?<!n\u2019t )(?<!nor )(?<!than )(?<!than the )"
_REASON = re.compile(r"[,;(]|\b(?:since|because|as)\b")
_STRAIGHT_QUOTES = str.maketrans("\u201c\u201d\u201e\u2018\u2019", '"""\'\'')
_TAG = re.compile(r"</?(?:b|i|u|p|br|em|strong)\b[^<>]*>")


def read_choice(text: str, options: Options, stop: Sequence[str] = ()) -> str | None:
    """Return the letter or word that a response chooses, or None if it does not choose exactly one.

    >>> read_choice("(A) is wrong. The answer is (C).", Options("C", "ABCD"))
    'C'
    """
    text = unicodedata.normalize("NFKC", text.translate(_STRAIGHT_QUOTES))
    text = _TAG.sub(" ", text)
    text = answer_part(text, stop, lambda part: _chosen(part, options) is not None)
    return _chosen(text, options)


def _chosen(text: str, options: Options) -> str | None:
    """Return the letter or word that the answer part of a response chooses, or None."""
    read_after_mark, read_without_mark = _word_after, _word_without_mark
    if options.letters:
        read_after_mark, read_without_mark = _letter_after, _letter_without_mark
    return last_answer(
        _without_list(text).strip(),
        _ANSWER_MARK,
        partial(read_after_mark, options),
        partial(read_without_mark, options),
    )


def _without_list(text: str) -> str:
    """Return a text without its list of the options, but for the lines that call one correct."""
    names = [item[1].upper() for item in _ITEM.finditer(text)]
    if len(names) < 2 or names != sorted({*names}):
        return text
    return _ITEM.sub(lambda item: item[0] if _VERDICT.search(item[0]) else "", text)


def _letter_after(options: Options, text: str, mark: re.Match[str]) -> str | None:
    """Return the letter of the option after a mark, "" if it is not clear, or None without one."""
    match = _LETTER_AFTER_MARK.match(text, mark.end())
    if match is not None:
        return _single_letter(match, text, options) or ""
    rest = text[mark.end() : mark.end() + _LONGEST_OPTION]
    return _option_in(re.split(r"\n|\.\s", rest)[0], options)


def _letter_without_mark(options: Options, text: str) -> str | None:
    """Return the letter of the option that a text names and does not deny ("not C"), or None."""
    for pattern in _PLACES:
        matches = [
            match
            for match in pattern.finditer(text)
            if not text[: match.start()].rstrip().endswith(" not")
            and not _RULED_OUT.match(text, match.end())
        ]
        # Of "option A" and "option B", the last one counts.
        if matches and (pattern.pattern == _NAMED_LETTER or len({*map(_letter, matches)}) == 1):
            return _single_letter(matches[-1], text, options)
    named = (_option_in(sentence, options) for sentence in reversed(sentences(text)))
    return next(filter(None, named), None)


def _letter(match: re.Match[str]) -> str:
    """Return the letter of a match as a capital: its only group that is not empty."""
    return next(filter(None, match.groups())).upper()


def _single_letter(match: re.Match[str], text: str, options: Options) -> str | None:
    """Return the letter of a match, or None if it is no option, or another follows ("B or C")."""
    letter = _letter(match)
    second = _ALTERNATIVE.match(text, match.end())
    if second is not None and second[1] != letter:
        return None
    return letter if letter in options.letters else None


def _option_in(sentence: str, options: Options) -> str | None:
    """Return the letter of the only option whose text occurs in a sentence, or None."""
    normal, texts = _normal(sentence), options.texts
    # If several occur, only the part before a reason counts, and texts within longer ones do not.
    for part in (normal, _REASON.split(normal)[0]):
        found = [
            text
            for text in texts
            if text and re.search(rf"(?<![\w.-]){_DENIED}{re.escape(text)}(?![\w-]|\.\d)", part)
        ]
        longest = [text for text in found if sum(text in other for other in found) == 1]
        if len(longest) < 2:
            return options.letters[texts.index(longest[0])] if longest else None
    return None


# --- Yes or no, true or false ---------------------------------------------------------------

_WORD = r"\b(?P<word>yes|no|true|false)\b(?!-\w)"
_NO_NOUN = (  # "no idea" is no answer, and "no, ..", "no because .." are
    r"(?=\s*(?:$|[^\w\s])"
    r"|\s+(?:because|since|as|for|if|in|when|but|due|it|this|that|these|those|the|there|he|she|they|we|you|i)\b)"
)
_ANSWER_WORD = re.compile(
    rf"[\s#>*_`\"'(]{{0,16}}{_WORD}{_NO_NOUN}(?!\s*(?:or|and|/)\s*(?:yes|no|true|false)\b)", re.I
)
_YES_OR_NO = re.compile(r"\byes\b|(?<!the )\b(?:true|false)\b|\bno\b(?!-\w)" + _NO_NOUN, re.I)
_DENIAL = re.compile(
    r"(?:\b(?:not|never|neither|nor|cannot|if|whether|would|could|might|may)\b|n['\u2019]t\b)[^,;:]*$",
    re.I,
)


def _word_after(options: Options, text: str, mark: re.Match[str]) -> str | None:
    """Return in capitals the word after a mark, or None if none of the options follows."""
    return None if mark["it_is"] else _word_at(text, mark.end(), options)


def _word_without_mark(options: Options, text: str) -> str | None:
    """Return in capitals the word that a text without a mark chooses, such as "YES", or None.

    It starts the text or the last sentence with a word, or is the only word there and not denied.
    """
    first, *others = sentences(text)
    if word := _word_at(first, 0, options):
        return word
    for sentence in reversed([first, *others]):
        if word := _word_at(sentence, 0, options):
            return word
        words = [word for word in _YES_OR_NO.finditer(sentence) if word[0].lower() in options.texts]
        if words:
            is_denied = _DENIAL.search(sentence[: words[0].start()]) is not None
            different = {word[0].upper() for word in words}
            return different.pop() if len(different) == 1 and not is_denied else None
    return None


def _word_at(text: str, start: int, options: Options) -> str | None:
    """Return in capitals the word that stands at `start` as an answer, as in "Yes, ..", or None."""
    word = _ANSWER_WORD.match(text, start)
    return word["word"].upper() if word and word["word"].lower() in options.texts else None
