"""Read the number that a reference is, or that a response gives as its answer, for `numeric`.

Numbers are exact and in normal form, in which equal ones are the same: 12, 1E+3, 2/3, or 50%. The
answer of a response is the first number that *stands alone* after the last *mark*, such as "The
answer is", "####" or a box. Without a mark, see `_number_without_mark`. A sentence with two results
has no answer.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from fractions import Fraction

from .responses import answer_part, boxed, last_answer, sentences

# --- A text without the marks of LaTeX, Markdown and currencies ---------------------------

_SPACES = " \u00a0\u2009\u202f"
_VULGAR = "[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]"
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_PLAIN = str.maketrans(
    {"\u2212": "-", "\u2013": "-", "\uff08": "(", "\uff09": ")"} | dict.fromkeys("€£¥₹", "$")
)
_PART_OF_FRACTION = r" ?(?:\{ ?([-+]?[\d.,]+) ?\}|(\d))"
_LATEX = [
    (re.compile(r"(?<=\d)(?:\{,\}|\\[,!]|,\\!\s?)(?=\d{3})"), ","),  # 12{,}345 12\,345 12,\!345
    (re.compile(r"(?<=\d) ?(?=\\[dtc]?frac)"), " "),
    (re.compile(rf"\\[dtc]?frac{_PART_OF_FRACTION * 2}"), r"\1\2/\3\4"),
    (
        re.compile(r"\\(?:text\w*|mathrm|mathbf|mathit|mbox|operatorname|boxed)\s?\{([^{}]*)\}"),
        r" \1 ",
    ),
    (re.compile(r"\\(?:left|right|displaystyle|quad|qquad)(?![a-zA-Z])|\\[,;:! ()\[\]]"), " "),
    (re.compile(r"\^\s?\{?\s?\\circ\s?\}?|\\degree"), "°"),
    (re.compile(r"\\([%$])"), r"\1"),
    (re.compile(r"\\(?:times|cdot)(?![a-zA-Z])"), "\u00d7"),
    (re.compile(r"\\(?:approx|simeq|sim)(?![a-zA-Z])"), "≈"),
]
_POWER_OF_TEN = re.compile(
    r"(?:(?<=\d) ?[\u00d7x*·] ?|(?<![\d.,^*\u00d7·/]))10 ?(?:\^|\*\*) ?\{? ?([-+]?\d+) ?\}?"
)
_NAMES = re.compile(  # cm^2, a_{3}, GPT-4, 5th, step 3: the digits belong to a name
    r"(?<=[^\W\d_]{2})\s?\^\s?\{?-?\d\}?|(?<=(?<![^\W\d_])[ms])\s?\^\s?\{?-?\d\}?"
    r"|(?<=[^\W\d_])_(?:\d|\{[^{}]*\})|(?<=[^\W\d_]{2})-\d+|\b\d+(?:st|nd|rd|th)\b"
    r"|\b(?:(?<=step)|(?<=case)|(?<=part)|(?<=table)|(?<=figure)|(?<=problem)|(?<=example)|(?<=option)|(?<=plan)|(?<=method)|(?<=equation)"
    r"|(?<=scenario))\s\d+",
    re.IGNORECASE,
)


def _plain(text: str) -> str:
    """Return a text without LaTeX, Markdown, HTML, currency signs and names such as GPT-4.

    A fraction is written as 1/2, and a power of ten as 3e4.
    """
    if not text.isascii():
        text = text.translate(_PLAIN)
        text = re.sub(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", lambda run: f"^{run[0].translate(_SUPERSCRIPTS)}", text)
        text = re.sub(rf"(?<=\d) ?(?={_VULGAR})", " ", text)
        text = re.sub(_VULGAR, lambda sign: unicodedata.normalize("NFKC", sign[0]), text)
        text = text.replace("\u2044", "/")  # the slash of a fraction in Unicode
    if "\\" in text or "{,}" in text:
        for pattern, replacement in _LATEX:
            text = pattern.sub(replacement, text)
    text = _POWER_OF_TEN.sub(lambda power: f"{'e' if power[0][0] != '1' else '1e'}{power[1]}", text)
    text = re.sub(r"(?<=[-+])\s?\$\s?|\$(?=-)|(?<=\s)\$", "", text).replace("$", " ")
    text = re.sub(r"(?<!\d)\*\*|\*\*(?!\d)", "", text)
    text = re.sub(r"</?[a-zA-Z][^<>]*>", " ", text)
    text = _NAMES.sub("", text)
    return text.replace("~", " ")  # a space of LaTeX, or "about"


# --- Numbers ------------------------------------------------------------------------------

_DIGITS = rf"(?:\d(?:[\d.,'\u2019_]*\d)?(?:[{_SPACES}]\d{{3}}(?!\d))*(?:[.,]\d+)?|(?<!\d)\.\d+)"
_SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
# Letters of scripts without spaces, apart from \u7b2c, which makes a number an ordinal.
_NO_SPACES = "\u3040-\u30ff\u4e00-\u7b2b\u7b2d-\u9fff\uac00-\ud7af"
_NUMBER = re.compile(
    r"(?P<sign>(?<![\w.)\]}%])[-+]|(?<=[=(:] )[-+] |\b(?:[mM]inus|[nN]egative) )?"
    # A digit after a letter is part of a name.
    rf"(?<![^\W\d{_NO_SPACES}])(?<!\d)(?<!\d\.)"
    r"(?:(?P<whole>\d+)[ ](?:and[ ])?(?=\d+/\d))?"
    rf"(?P<number>{_DIGITS})(?:[eE](?P<exponent>[-+]?\d+)|[ ]?/[ ]?(?P<divisor>{_DIGITS}))?"
    r"(?:[ ]?(?P<percent>%|percent(?![a-z])|per[ ]cent\b|pct\b)"
    rf"|[ ](?P<scale>{'|'.join(_SCALES)})\b)?"
)
_PLAIN_DIGITS = re.compile(r"\d*\.?\d+")
_THOUSANDS = re.compile(
    rf"[1-9]\d{{0,2}}([,'\u2019_{_SPACES}])\d{{3}}(?:\1\d{{3}})*(?:\.\d+)?"
    r"|[1-9]\d?(?:,\d{2})+,\d{3}(?:\.\d+)?"  # 12,34,567.8
)
_COMMA_IS_POINT = re.compile(
    rf"\d{{1,3}}(?:([.{_SPACES}])\d{{3}})(?:\1\d{{3}})*,\d+|\d{{1,3}}(?:\.\d{{3}}){{2,}}|\d+,\d+"
)
_ALL_DIGITS = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
_LONGEST_FRACTION = 40  # characters of a numerator or denominator


def decimal_form(number: Decimal) -> str:
    """Return the normal form of a decimal, a text with all its digits. Equal numbers share it."""
    return f"{number.normalize(_ALL_DIGITS) if number else Decimal(0)}"


def number_form(number: Decimal | Fraction, unit: str = "") -> str:
    """Return the normal form of a number, and after it the unit, which is "%" or ""."""
    if isinstance(number, Fraction):
        # A fraction with a finite number of decimals has no more than its denominator has bits.
        digits = number.denominator.bit_length()
        shifted = number * 10**digits
        if shifted.denominator != 1:
            return f"{number}{unit}"
        number = Decimal(f"{shifted}E-{digits}")
    return decimal_form(number) + unit


def equal_forms(form: str) -> list[str]:
    """Return a list of the forms that count as equal to `form`. The first is `form` itself.

    The second has the same value with % or without (50% and 0.5). The third has the same number
    (50% and 50), because one side may lack the sign %, and is left out between -1 and 1.
    """
    number, percent = form.rstrip("%"), form.endswith("%")
    value: Decimal | Fraction
    shifted: Decimal | Fraction
    if "/" in number:
        value = Fraction(number)
        shifted = value / 100 if percent else value * 100
    else:
        value = Decimal(number)
        shifted = value.scaleb(-2 if percent else 2, _ALL_DIGITS)
    other = "" if percent else "%"
    same = [f"{number}{other}"] if not -1 < value < 1 else []
    return [form, number_form(shifted, other), *same]


def _value_of_digits(text: str) -> Decimal | None:
    """Return the value of digits, with or without separators (1,200.5); None for other texts."""
    if not _PLAIN_DIGITS.fullmatch(text):
        if _THOUSANDS.fullmatch(text):
            text = re.sub(rf"[,'\u2019_{_SPACES}]", "", text)
        elif _COMMA_IS_POINT.fullmatch(text):
            text = re.sub(rf"[.{_SPACES}]", "", text).replace(",", ".")
        else:
            return None
    return Decimal(text)


def _value(match: re.Match[str]) -> Decimal | Fraction | None:
    """Return the value of a match of `_NUMBER` without "%"; raise an ArithmeticError if too large.

    It is None for a list of digits such as 1,2,3, a fraction with 0 below, or one with long parts.
    """
    number, divisor = match["number"], match["divisor"]
    sign = -1 if (match["sign"] or "+")[0] in "-mMnN" else 1
    factor = sign * 10 ** _SCALES.get(match["scale"], 0)
    top = _value_of_digits(number)
    if top is None:
        return None
    if divisor is None:
        return _ALL_DIGITS.multiply(Decimal(f"{top:f}E{match['exponent'] or 0}"), factor)
    bottom = _value_of_digits(divisor)
    if not bottom or max(len(number), len(divisor)) > _LONGEST_FRACTION:
        return None
    fraction = Fraction(top) / Fraction(bottom)
    if match["whole"] and fraction < 1:  # 1 1/2, unlike 3 48/2, whose last number counts
        fraction += int(match["whole"][-_LONGEST_FRACTION:])
    return fraction * factor


def _form(match: re.Match[str]) -> str | None:
    """Return the normal form of a match of `_NUMBER`, or None if it has no value."""
    try:
        value = _value(match)
    except ArithmeticError:
        return None
    return None if value is None else number_form(value, "%" if match["percent"] else "")


# --- Numbers that stand alone -------------------------------------------------------------

_N = r"[-+]?\d+(?:[.,]\d+)*"
_LETTER = r"[bceijknpqrtuvwxyz]"  # a variable, and no unit or article
_OPERATOR = (
    r"(?:[-+*\u00d7÷·/^±]|\\(?:div|pm)(?![a-z])"
    r"|\b(?:x|plus|minus|times|fois|divided\sby|multiplied\sby)\b)"
)
_UNIT = r"(?:h|hours?|min(?:ute)?s?|days?|weeks?|months?|years?|feet|ft|小时)"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_AND = r"(?:and|or|und|oder|et|ou|y|o)"
_FACTOR = r"(?<=\d)\((?=[-\d\s.+*/]+\))"  # 3(4 + 5)
_CONNECTED = re.compile(  # A number that touches such a text does not stand alone.
    rf"""
    (?:(?<=[\d%)\]}}])|(?<![^\W\d_]){_LETTER})\s?{_OPERATOR}\s?[({{]?\s?
      (?={_N}|{_LETTER}\b(?!')|\\(?:sqrt|pi|frac))                         # 3 * 4
    |{_FACTOR}|[(\[{{]\s?{_N}(?:\s?,(?!\d{{3}}(?!\d))\s?{_N})+|\}}\{{{_N}            # (3, 4)
    |(?<=\d)(?::\d+|\s?[ap]\.?m\b)|\b(?:past|quarter\sto)\s{_N}|\so'clock  # 3:30, half past 3
    |(?<=\d)\s(?-i:{_MONTH})(?:\s{_N})?\b|\b(?-i:{_MONTH})\s\d\d?\b(?:,\s{_N})?  # 4 July 1776
    |(?<=\d)\s?[+*\u00d7÷]\s*\Z                                            # 3 *, cut off
    |\b(?:between|entre|zwischen)\s\S+\s(?:and|et|und|y)\s{_N}
    |(?<=[\d%])(?:\s[^\W\d_]+){{0,2}}\s{_AND}\s{_N}                           # 2 days and 3 hours
    |(?<=[\d%])(?:\s[^\W\d_]+){{0,3}},\s\$?{_N}
      (?=(?:\s[^\W\d_]+){{0,3}},?\s{_AND}\s\$?{_N})                          # 2, 5 or 8
    |(?<=\d)\s?[\u4e00-\u9fff]{{0,4}}\s?[和与及或、]\s?{_N}
    |(?<=\d)\s(?:to|in(?!\s(?:1[5-9]|20)\d\d\b)|bis|à|a)\s{_N}                # 3 in 4
    |(?<=\d)(?:[,;]?\s(?:(?:and|&)\s)?{_N})+(?=[\s.)]*\Z)|(?<=\d)\s?{_UNIT},?\s?{_N}
    |(?<=\d)\s*(?:[,;]|,?\s*or|,?\s*and)\s*[a-z]\s*[=≈]\s*{_N}             # x = 2, y = 3
    |(?:[<>!]=|(?<![-=<>\n])(?<!^)[<>]|[≤≥≠±√∛]|\\(?:leq?|geq?|neq?|lt|gt|pm|overline)(?![a-z])
      |\\?\b(?:log|ln|sin|cos|tan|sqrt|frac|lfloor|lceil)(?:\[\w+\])?|\b[a-z](?=\()
      |(?:\b(?:at\s(?:least|most)|than|not|except)|n['\u2019]t)(?:\s(?:the|by))?)\s?[({{]?\s?{_N}
    |(?<=\d)(?:!(?=\s?[=)}}/*])|\.\.\.|…
      |\s(?:dozen|score|gross|times\s(?:the|as))\b
      |(?-i:[KMB]\b|(?:a|{_LETTER})(?![a-zA-Z'\u2019])))                  # 2x
    |(?<=[\d}}])\s?(?:\\?(?:sqrt|pi|overline)\b|[π√∛])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CONTEXT = 40  # characters around a number in which it may be connected with something


def _stands_alone(number: re.Match[str]) -> bool:
    """Return whether a match of `_NUMBER` is no operand, bound, or part of a list or a tuple."""
    start, stop = number.span()
    for part in _CONNECTED.finditer(number.string, max(0, start - _CONTEXT), stop + _CONTEXT):
        is_inside = start < part.start() and part.end() <= stop  # as the / in 1/2
        if part.start() <= stop and part.end() >= start and not is_inside:
            return False
    return True


def _numbers_alone(text: str, start: int = 0) -> Iterator[tuple[int, str]]:
    """Yield the position and the normal form of each number from `start` on that stands alone."""
    for number in _NUMBER.finditer(text, start):
        if _stands_alone(number) and (form := _form(number)) is not None:
            yield number.start(), form


# --- Responses ----------------------------------------------------------------------------

_DIGIT = re.compile(rf"\d|{_VULGAR}")
_NOUNS = r"answer|réponse|antwort|respuesta|risposta|resposta|ответ"
_ADJECTIVES = r"(?:\s(?:finale?|correcta?|correcte|definitiva|richtige))?"
_VERBS = r"is|are|equals|must be|est|ist|lautet|es|è|é"
_ANSWER_MARK = re.compile(
    rf"(?<![^\W_])(?:{_NOUNS}){_ADJECTIVES}[\"']?(?:\s(?:to|for|here|in)\b[^.\n]{{0,80}}?)?[*_]*\s?"
    rf"(?:(?<![^\W_])(?:{_VERBS})(?![^\W_])|=|:|\|)(?:\s(?:therefore|thus|donc|also))?[*_]*\s?:?(?!\s*not\b)"
    r"|(?:答案|答え|정답)[^\n。:\uff1a是为為]{0,8}(?:是|为|為|は|은|는|[:\uff1a])[ \uff1a:]*"
    r"|[\"'](?:final|result|solution)[\"']\s*:\s*"
    r"|<answer>|^[#*_ \t]*(?:final )?answer[*_]*[ ]*$"
    r"|####\s*(?:answer:?\s*)?(?=[-+$\\.\d\u2212])|\\boxed",
    re.IGNORECASE | re.MULTILINE,
)
_NO_ANSWER = re.compile(
    r"^\W*(?:none|null|un(?:known|determined|defined)|impossible|infinite(?:ly)?)\b(?!\s\w+:)"
    r"|(?:\bcannot|n['\u2019]t|\b(?:not|unable to|impossible to|not possible to)) (?:be )?"
    r"(?:determine|answer|solve|find|say|tell|compute|calculate|look|see|know|sure|certain)"
    r"|\b(?:though|although|but|or) (?:(?:it|this) )?(?:(?:could|might|may)(?: also)? be|maybe)\b"
    r"|\b(?:not|n['\u2019]t)(?: \w+)? enough information\b|\b(?:unclear|insufficient information)\b"
    r"|(?:^\W*|\bthere (?:is|are) )no (?:real |such )?(?:solutions?|answers?|numbers?)\b",
    re.IGNORECASE,
)
_BEFORE_ANSWER = re.compile(r"(?:\s|[*_:|`>\"']|\\\[|\\\(|\$\$)+")
_SENTENCE_END = re.compile(r"\n|。|(?<!i\.e)(?<!e\.g)[.!?;](?=\s|$)|</answer>|,\s*[\"']")
_POINT_OF_THOUSANDS = re.compile(r"(?<![\d.,])([1-9]\d{0,2})\.(\d{3})(?=\s[^\W\d_]{3})")
_POINT_LANGUAGES = re.compile(
    r"\b(?:il|è|di|sono|o|é|são|der|die|das|und|ist|sind|genau|insgesamt|antwort|el|la|los|las|es|son|respuesta|resultado)\b"
)
_BOLD = re.compile(  # but no headings
    r"\*\*(?!\s|\d+[.)]\s|[^*\n]*\b(?i:step|case|part)\s\d)([^*\n]+?)(?<![:\s])\*\*(?!:)"
)
_ITEM = re.compile(r"^[ \t*#]*\d+[.)]\**\s+(?=\S)", re.MULTILINE)
_REMARK = re.compile(
    r"[\s#*_]*(?:.*\?\W*$|\[\d+\]"
    r"|(?:confidence|certainty|sources?|references?|citations?|explanation|reasoning)(?:\s(?:level|score))?[*_]*:"
    r"|let me know|feel free|i hope|hope this|note\b|if you(?:['\u2019]d| would| need| want)\b"
    r"|(?:to |let me |let['\u2019]s )?(?:double[- ]?check|check|verif\w+)\b[^.\n]{0,30}?[:,]"
    r"|(?:plug|substitut)\w*\s(?:\S+\s){0,3}(?:back|in|into)\b)",
    re.IGNORECASE,
)
_LONGEST_SENTENCE = 400  # characters, of which the last are read
_RESULT = re.compile(  # "≈" after a number only rounds it
    r"=|(?<!\d)(?<!\d )≈|→|:\s(?=\D*\d[\d.,/]*\D*$)|\b(?:is|are|was|were|be|becomes?|equals?|means"
    r"|mak(?:es?|ing)|giv(?:es?|ing)|gets?|ha(?:s|ve)(?! to)|leav(?:es?|ing)|comes? (?:out )?to"
    r"|total of|totals?(?= \d)|yields?|returns?|prints?|outputs?|results? in|amounts? to"
    r"|adds? up to|weighs?|measures?"
    r"|costs?|needs?|takes?|pays?|paid|so|thus|hence|therefore|then|donc|tanto|est|ist|es"
    r"|kostet|cuesta|coûte)\b"
    r"|所以|因此|一共|剩",
    re.IGNORECASE,
)
_PREPOSITION = (
    r"\b(?:with|out\sof|of|for(?!\sa\stotal)|in|at|by|from|on|over|per|than|among|within|during|as"
    r"|given|where|before|after|sur|von|de|por|car|da|denn|si|nach|avant|après|antes|después|dopo)\b"
)
_CONJUNCTION = (
    r"\b(?:because|since|although|though|whereas|while|who|if|when|until|unless|before|after"
    r"|which(?!\s(?:\w+ly\s)?(?:equals|gives|means|makes|leaves))"
    r"|compared|instead|weil|wenn|porque|puisque|perché|avant|après|antes|después|dopo)\b"
)
_CLAUSE = r"(?:[^,]|,(?=\d))*"
_PARTICIPLE = r"\w+ing\b(?![^,]*\b(?:is|are|was|equals|gives|makes|means|leaves|yields)\b)"
_ASIDE = re.compile(  # (3 + 4), because .., which is ..
    rf"(?!{_FACTOR})\([^()]*\)|(?:,\s{_PREPOSITION}|(?<=[\w,)%]\s)(?<!\bso\s){_CONJUNCTION}){_CLAUSE}"
    rf"|^\W*(?:(?:and|so|then|thus)\s)?(?:{_PREPOSITION}|{_CONJUNCTION}|{_PARTICIPLE}){_CLAUSE}(?=,\s)",
    re.IGNORECASE,
)
_EXPLAINING = re.compile(  # It starts or ends where a number starts: of 10, the 10, 10 more than
    rf"(?:{_PREPOSITION}(?:\s(?:all|day))?|\b(?:the|all|every|each|first|last|next|other|twice|les"
    rf"|las|der|den))\s(?={_N})"
    rf"|(?<![\d.,]){_N}(?:-[a-z]|\s(?:\w+\s)?(?:(?:\w+er|more|less)\sthan|each)\b)",
    re.IGNORECASE,
)
_EQUAL = re.compile(r"(?:=|\b(?:is|are)\b)(?=\D*\d)")
_SUBJECT = re.compile(  # "84 min" of "84 min = 1 h 24 min"
    r"(?<![-+\d.,/%])[-+]?\d[\d.,/%]*\s*(?:[^\W\d_]+\s*)?\Z"
)
_LABELLED = re.compile(  # - Width: 7 cm
    rf"[\s*\u2022-]*(?!.*(?:total|sum|result|answer|altogether|overall|combined|left|remain))"
    rf"[^\W\d][^:\n\d]*:[\s*]*\$?{_N}(?:\s?[^\W\d_]+)?\W*",
    re.IGNORECASE,
)
_THEN = r"\b(?:so|thus|hence|therefore|then|donc|which|that|who)\b|=|所以|因此"
_TWO_RESULTS = re.compile(  # one has 2 and the other has 3
    rf"(:\s|\b(?:is|be|es|a|[^\W\d_]{{3,}})\s|[有是为]\s?){_N}(?!{_N})(?:(?!{_THEN})[^\d\n])*?"
    rf"(?:[,;\uff0c\uff1b]|\b(?:and|or|und|et|y|while|whereas)\b)(?:(?!{_THEN})[^\d\n])*?\1{_N}"
)


def read_response(text: str, stop: Sequence[str] = ()) -> str | None:
    """Return the normal form of the number that a response gives as its answer, or None.

    >>> read_response("9 + 3 = 12."), read_response("The answer is 1/3, not 2"), read_response("?")
    ('12', '1/3', None)
    """
    text = answer_part(text, stop, _DIGIT.search)
    if _POINT_OF_THOUSANDS.search(text) and len({*_POINT_LANGUAGES.findall(text.lower())}) > 1:
        text = _POINT_OF_THOUSANDS.sub(r"\1\2", text)
    return last_answer(text, _ANSWER_MARK, _number_after, _number_without_mark)


def _number_after(text: str, mark: re.Match[str]) -> str | None:
    """Return the form of the number after a mark, "" if unclear or denied, None without a digit."""
    if mark[0].startswith("\\"):
        return _number_in_box(boxed(text[mark.start() :]) or "") or ""
    space = _BEFORE_ANSWER.match(text, mark.end())
    start = space.end() if space else mark.end()
    end = _SENTENCE_END.search(text, start)
    answer = text[start : end.start() if end else None]
    if _NO_ANSWER.search(_DIGIT.split(answer)[0]):
        return ""
    if not _DIGIT.search(answer):
        return None
    if "\n" not in text[mark.start() : start]:  # else "- 5" is an item of a list
        answer = re.sub(r"^[-\u2212] (?=\d)", "-", answer)
    return next((form for _, form in _numbers_alone(_plain(answer))), "")


def _number_in_box(content: str) -> str | None:
    """Return the form of the number in a box, or None. An option mark such as "(A)" is skipped.

    The number is alone, or on one side of an equation: the right side is read first, then the left
    one, and then what follows "≈". Several equations, or 2x = 6, give None.
    """
    exact, *approximations = re.sub(r"^\s*\(?[A-Z]\)\s", "", _plain(content)).split("≈")
    left, *other_sides = exact.split("=")
    has_factor = other_sides and re.fullmatch(r"\s*\d+\s?[a-zA-Z]\s*", left)
    # Of x = 2, y = 3, the middle side has a comma.
    if has_factor or any(re.search(r"[,;]|\b(?:and|or)\b", side) for side in other_sides[:-1]):
        return None
    candidates = (*other_sides[-1:], left, *approximations[-1:])
    return next(filter(None, map(_number_with_unit, candidates)), None)


def _number_without_mark(text: str) -> str | None:
    """Return the form of the only number in bold (not in headings), or else of `_last_number`."""
    forms = {_last_number(part) for part in _BOLD.findall(text) if _DIGIT.search(part)}
    return (forms.pop() if len(forms) == 1 else None) or _last_number(text)


def _last_number(text: str) -> str | None:
    """Return the form of the number that the last sentence with one gives as its result, or None.

    Remarks, questions, list items, and clauses that explain are read if there is nothing else.
    """
    if len(_ITEM.findall(text)) > 1:
        text = _ITEM.sub("", text)
    stating = [part for part in sentences(text) if _DIGIT.search(part) and not _REMARK.match(part)]
    if len(stating) > 1 and all(map(_LABELLED.fullmatch, stating[-2:])):
        return None
    only_explaining = []  # the last sentence first
    for sentence in reversed(stating):
        start = sentence.rfind(" ", 0, max(0, len(sentence) - _LONGEST_SENTENCE)) + 1
        plain = _plain(sentence[start:])
        with_next = text[text.rfind(sentence) :][: len(sentence) + _LONGEST_SENTENCE]
        if _NO_ANSWER.search(with_next) or _TWO_RESULTS.search(re.split(_THEN, plain)[-1]):
            return None
        main_clauses = _ASIDE.sub("", plain)
        if _NUMBER.search(main_clauses):
            return _number_of_result(main_clauses) or _stated_number(plain)
        only_explaining.append(plain)
    return next((_stated_number(plain) for plain in only_explaining if _NUMBER.search(plain)), None)


def _stated_number(text: str) -> str | None:
    """Return the form of the number that a sentence gives as its result or subject, or None."""
    return _number_of_result(text) or _left_side(text)


def _number_of_result(text: str) -> str | None:
    """Return the form of the number that a sentence gives as its result, or None.

    It is the first number after the last word that states a result. Without such a word, it is the
    only number. Numbers that explain another one, such as "of the 10", do not count beside others.
    """
    *_, last = [0, *(number.start() for number in _NUMBER.finditer(text))]
    result_words = [word.end() for word in _RESULT.finditer(text) if word.end() <= last]
    numbers = dict(_numbers_alone(text, max(result_words, default=0)))
    explaining = {end for match in _EXPLAINING.finditer(text) for end in match.span()}
    starts = (numbers.keys() - explaining) or numbers.keys()
    return numbers[min(starts)] if len(starts) == 1 or (result_words and starts) else None


def _left_side(text: str) -> str | None:
    """Return the form of the number before the last "=", "is" or "are" of a sentence, or None."""
    *_, last = [0, *(equal.start() for equal in _EQUAL.finditer(text))]
    subject = _SUBJECT.search(text[:last])
    return dict(_numbers_alone(text, subject.start())).get(subject.start()) if subject else None


# --- References ---------------------------------------------------------------------------

_NAME = re.compile(r"\s*[^\W\d_]\w*(?:\(\w\))?\s*")
_CALCULATION = re.compile(r"(?:[\s\d.,()+*/^\u00d7÷·-]|\\div)*\d[\s)]*")
_WORDS_BEFORE = re.compile(r"[\s(\[]*(?:[^\W\d_]{2,}[.:]?[\s(\[]+)*≈?\s?")
_UNIT_AFTER = re.compile(r"(?:[\s°'\"()\[\].]|[^\W\d_]|(?<=[^\W\d_])[-/](?=[^\W\d_]))*")


def read_reference(answer: str) -> str | None:
    """Return the normal form of the number that a reference is, or None if it is not one number.

    >>> read_reference("3/4"), read_reference("so 5 + 7 = 12\\n#### 12"), read_reference("x^2")
    ('0.75', '12', None)
    """
    content = boxed(answer)
    if content is None:
        content = re.split(r"####\s*(?=[-+$\\.\d\u2212])", answer)[-1]
    elif len({boxed(f"\\boxed{box}") for box in answer.split("\\boxed")[1:]} - {""}) > 1:
        return None  # several answers
    *names, text = _plain(content).split("=")
    if not all(_NAME.fullmatch(name) or _CALCULATION.fullmatch(name) for name in names):
        return None
    number = _NUMBER.search(text)
    is_list = number and re.fullmatch(r"\d+,\d+", number[0]) and not _THOUSANDS.fullmatch(number[0])
    return None if is_list else _number_with_unit(text)  # 1,5 may be two answers


def _number_with_unit(text: str) -> str | None:
    """Return the form of a number with no more than words before and a unit after it, or None."""
    text = re.sub(r"^\s*- ", "-", text)
    number = _NUMBER.search(text)
    if number is None or not _stands_alone(number):
        return None
    before, after = text[: number.start()], text[number.end() :]
    is_alone = _WORDS_BEFORE.fullmatch(before) and _UNIT_AFTER.fullmatch(after)
    return _form(number) if is_alone else None
