"""Read the number that a reference is, or that a response gives as its answer, for `numeric`.

A text goes in. What comes out is the normal form of its number, or None. Equal numbers have the
same form: 12, 1E+3, 2/3, or 50% for a percentage. All arithmetic is exact.

A *mark* is what announces an answer, such as "The answer is", "####" or a box. A *token* is a
number in a text, with its place there.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from fractions import Fraction
from functools import cached_property

from .responses import answer_part, boxed, last_answer, sentences

# --- Numbers ------------------------------------------------------------------------------

_SPACES = " \u00a0\u2009\u202f"
_DIGITS = rf"(?:\d(?:[\d.,'\u2019_]*\d)?(?:[{_SPACES}]\d{{3}}(?!\d))*(?:[.,]\d+)?|(?<!\d)\.\d+)"
_VULGAR = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
_SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_POWER = r"(?:\^|\*\*)[ ]?\{?[ ]?(?P<NAME>[-+]?\d+)[ ]?\}?"
# Letters of scripts without spaces, apart from \u7b2c, which makes a number an ordinal.
_NO_SPACES = "\u3040-\u30ff\u4e00-\u7b2b\u7b2d-\u9fff\uac00-\ud7af"
_NUMBER = re.compile(
    r"(?P<sign>(?<![\w.)\]}%])[-+]|(?<=[=(:] )[-+] |\b(?:[mM]inus|[nN]egative) )?"
    # A digit after a letter is part of a name.
    rf"(?<![^\W\d{_NO_SPACES}])(?<!\d)(?<!\d\.)"
    r"(?:"
    r"(?:(?P<whole>\d+)[ ]?)?\\[dtc]?frac[ ]?"
    rf"(?:\{{[ ]?(?P<top>[-+]?{_DIGITS})[ ]?\}}|(?P<top1>\d))"
    rf"[ ]?(?:\{{[ ]?(?P<bottom>[-+]?{_DIGITS})[ ]?\}}|(?P<bottom1>\d))"
    rf"|(?P<mixed>\d+)[ ](?:and[ ])?(?P<over>\d+)/(?P<under>\d+)"
    rf"|(?P<integer>\d+)?[ ]?(?P<vulgar>[{_VULGAR}])"
    rf"|(?P<number>{_DIGITS})(?:[eE](?P<exponent>[-+]?\d+))?"
    rf"(?:[ ]?/[ ]?(?P<divisor>{_DIGITS}))?"
    rf"(?:{_POWER.replace('NAME', 'power')}"
    rf"|[ ]?(?:\\times|\\cdot|[\u00d7x*·])[ ]?10{_POWER.replace('NAME', 'ten')})?"
    r")"
    r"(?:[ ]?(?P<percent>%|percent(?![a-z])|per[ ]cent\b|pct\b)"
    rf"|[ ](?P<scale>{'|'.join(_SCALES)})\b)?",
)
_PLAIN_DIGITS = re.compile(r"\d*\.?\d+")
_THOUSANDS = re.compile(
    rf"[1-9]\d{{0,2}}([,'\u2019_{_SPACES}])\d{{3}}(?:\1\d{{3}})*(?:\.\d+)?"
    r"|[1-9]\d?(?:,\d{2})+,\d{3}(?:\.\d+)?"  # 12,34,567.8
)
_COMMA_IS_POINT = re.compile(rf"\d{{1,3}}(?:([.{_SPACES}])\d{{3}})(?:\1\d{{3}})*,\d+")
_POINTS_ARE_COMMAS = re.compile(r"\d{1,3}(?:\.\d{3}){2,}")
_DECIMAL_COMMA = re.compile(r"\d+,\d+")
_SEPARATORS = re.compile(rf"[,'\u2019_{_SPACES}]")
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
    value = Fraction(number) if "/" in number else Decimal(number)
    shifted: Decimal | Fraction
    if isinstance(value, Decimal):
        shifted = value.scaleb(-2 if percent else 2, _ALL_DIGITS)
    else:
        shifted = value / 100 if percent else value * 100
    other = "" if percent else "%"
    same = [f"{number}{other}"] if not -1 < value < 1 else []
    return [form, number_form(shifted, other), *same]


def _value_of_digits(text: str) -> Decimal | None:
    """Return the value of digits, with or without separators (1,200.5); None for other texts."""
    if not _PLAIN_DIGITS.fullmatch(text):
        if _COMMA_IS_POINT.fullmatch(text) or _POINTS_ARE_COMMAS.fullmatch(text):
            text = re.sub(rf"[.{_SPACES}]", "", text).replace(",", ".")
        elif _THOUSANDS.fullmatch(text):
            text = _SEPARATORS.sub("", text)
        elif _DECIMAL_COMMA.fullmatch(text):
            text = text.replace(",", ".")
        else:
            return None
    return Decimal(text)


def _quotient(numerator: str, denominator: str) -> Fraction | None:
    """Return the quotient of two texts of digits, such as "1,200" and "7", or None.

    There is no quotient if a text is not a number or is longer than `_LONGEST_FRACTION`, or if the
    denominator is 0.
    """
    if max(len(numerator), len(denominator)) > _LONGEST_FRACTION:
        return None
    negative = numerator.startswith("-") != denominator.startswith("-")
    top, bottom = (_value_of_digits(x.lstrip("-+")) for x in (numerator, denominator))
    if top is None or not bottom:
        return None
    value = Fraction(top) / Fraction(bottom)
    return -value if negative else value


def _value_of_fraction(match: re.Match[str]) -> Fraction | None:
    """Return the value of a match of `_NUMBER` that is a fraction, such as 1 1/2 or ½, or None."""
    if match["vulgar"]:
        # Unicode decomposes ½ into 1, a slash of its own, and 2.
        top, bottom = unicodedata.normalize("NFKC", match["vulgar"]).split("\u2044")
        whole = match["integer"]
    elif match["mixed"]:
        whole, top, bottom = match["mixed"], match["over"], match["under"]
    else:
        whole = match["whole"]
        top, bottom = match["top"] or match["top1"], match["bottom"] or match["bottom1"]
    fraction = _quotient(top, bottom)
    if fraction is None or not whole:
        return fraction
    # 1 1/2 is 1.5, but 3 48/2 are two numbers, and the last one counts.
    return int(whole[-_LONGEST_FRACTION:]) + fraction if fraction < 1 else fraction


def _value(match: re.Match[str]) -> Decimal | Fraction | None:
    """Return the value of a match of `_NUMBER`, without its sign and unit, or None if it has none.

    A power of a number other than 10 (2^3) has no value here, nor does a list of digits (1,2,3).
    """
    number = match["number"]
    if number is None:
        return _value_of_fraction(match)
    shift = match["exponent"] or match["ten"] or match["power"]
    if match["divisor"]:
        return None if shift else _quotient(number, match["divisor"])
    if match["power"] and (number != "10" or match["exponent"]):
        return None
    value = Decimal(1) if match["power"] else _value_of_digits(number)
    return value if value is None or not shift else Decimal(f"{value:f}E{shift}")


def _form_of_match(match: re.Match[str]) -> str | None:
    """Return the normal form of a match of `_NUMBER`, or None if it has no value."""
    sign = -1 if (match["sign"] or "")[:1].lower() in ("-", "m", "n") else 1
    power = _SCALES[match["scale"].lower()] if match["scale"] else 0
    try:
        value = _value(match)
        if isinstance(value, Fraction):
            value = value * sign * 10**power
        elif value is not None:
            value = (value if sign == 1 else value.copy_negate()).scaleb(power, _ALL_DIGITS)
    except ArithmeticError:  # the exponent is too large
        return None
    return None if value is None else number_form(value, "%" if match["percent"] else "")


def _has_decimal_comma(match: re.Match[str]) -> bool:
    """Return whether a match of `_NUMBER` has a decimal comma, as "1,5" and unlike "1,500"."""
    number = match["number"] or ""
    return bool(_DECIMAL_COMMA.fullmatch(number)) and not _THOUSANDS.fullmatch(number)


# --- A text without the marks of LaTeX, Markdown and currencies ---------------------------

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_PLAIN = str.maketrans(
    {"\u2212": "-", "\u2013": "-", "\uff08": "(", "\uff09": ")"} | dict.fromkeys("€£¥₹", "$")
)
_LATEX = [
    (re.compile(r"(?<=\d)(?:\{,\}|\\[,!]|,\\!\s?)(?=\d{3})"), ","),  # 12{,}345 12\,345 12,\!345
    (
        re.compile(r"\\(?:text\w*|mathrm|mathbf|mathit|mbox|operatorname|boxed)\s?\{([^{}]*)\}"),
        r" \1 ",
    ),
    (re.compile(r"\\(?:left|right|displaystyle|quad|qquad)(?![a-zA-Z])|\\[,;:! ()\[\]]"), " "),
    (re.compile(r"\^\s?\{?\s?\\circ\s?\}?|\\degree"), "°"),
    (re.compile(r"\\([%$])"), r"\1"),
    (re.compile(r"\\(?:approx|simeq|sim)(?![a-zA-Z])"), "≈"),
    (re.compile(r"\\(?:to|rightarrow|implies|Rightarrow)(?![a-zA-Z])"), " "),
]
_NAMES = re.compile(  # cm^2, a_{3}, GPT-4, step 3: the digits belong to a name
    r"(?<=[^\W\d_]{2})\s?\^\s?\{?-?\d\}?|(?<=(?<![^\W\d_])[ms])\s?\^\s?\{?-?\d\}?"
    r"|(?<=[^\W\d_])_(?:\d|\{[^{}]*\})|(?<=[^\W\d_]{2})-\d+"
    r"|\b(?:(?<=step)|(?<=case)|(?<=part)|(?<=table)|(?<=figure)|(?<=problem)|(?<=example))\s\d+",
    re.IGNORECASE,
)


def _plain(text: str) -> str:
    """Replace LaTeX, Markdown, HTML and currency signs; remove digits of names such as GPT-4."""
    if not text.isascii():
        text = text.translate(_PLAIN)
        text = re.sub(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", lambda run: f"^{run[0].translate(_SUPERSCRIPTS)}", text)
    if "\\" in text or "{,}" in text:
        for pattern, replacement in _LATEX:
            text = pattern.sub(replacement, text)
    text = re.sub(r"(?<=[-+])\s?\$\s?|\$(?=-)|(?<=\s)\$", "", text).replace("$", " ")
    text = re.sub(r"(?<!\d)\*\*|\*\*(?!\d)", "", text)
    text = re.sub(r"</?[a-zA-Z][^<>]*>", " ", text)
    text = _NAMES.sub("", text)
    return text.replace("~", " ")  # a space of LaTeX, or "about"


# --- Numbers and the text around them --------------------------------------------------

_N = r"[-+]?\d+(?:[.,]\d+)*"
_LETTER = r"[bceijknpqrtuvwxyz]"  # a variable, and no unit or article
_UNIT = (
    r"(?:(?:hours?|hrs?|h|minutes?|mins?|seconds?|secs?|days?|weeks?|months?|years?"
    r"|feet|foot|ft|inch(?:es)?|pounds?|lbs?|ounces?|oz|dollars?|cents?)\b|小时|分钟?)"
)
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sep(?:t(?:ember)?)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b"
)
_DATE = rf"""(?:\b{_MONTH}\s\d+(?:st|nd|rd|th)?\b(?:,?\s\d{{4}})?
    |\b\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}(?:,?\s\d{{4}})?
    |\b\d{{1,2}}(?::\d\d)?\s?[ap]\.?m\b)"""
_OPERATOR = (
    r"(?:[-+*\u00d7÷·/^±]|\\(?:times|cdot|div|pm)(?![a-z])"
    r"|\b(?:x|plus|minus|times|divided\sby|multiplied\sby|or)\b)"
)
_PART = re.compile(  # A number that touches such a text does not stand alone.
    rf"""
    (?<=\d)\s*(?:[,;]|,?\s*or|,?\s*and)\s*[a-z]\s*[=≈]\s*{_N}              # x = 2 or x = 3
    |(?P<term>
      (?:(?<=[\d%)\]}}])|(?<![^\W\d_]){_LETTER}),?\s?{_OPERATOR}\s?[({{]?\s?
        (?:{_N}|{_LETTER}\b(?!')|\\(?:sqrt|pi|frac))                       # 3 * 4
      |\b(?:between|entre|zwischen)\s\S+\s(?:and|et|und|y)\s{_N}
      |(?:\b(?:from|von|de)\s{_N}\S*|(?<=\d))\s(?:to|bis|à|a)\s{_N}        # from 3 to 4
    )
    |[(\[{{]\s?{_N}(?:\s?,(?!\d{{3}}(?!\d))\s?{_N})+|\}}\{{{_N}            # (3, 4
    |(?<=\d):\d+|{_DATE}
    |(?<=\d)(?:\sand|\sin(?!\s(?:1[5-9]|20)\d\d\b)|\s[^\W\d_]+\sor)\s{_N}  # 3 in 4
    |(?<=\d)\s?{_UNIT}(?:,|,?\sand)?\s?{_N}\s?{_UNIT}                      # 2 hours and 30 minutes
    |(?:[<>!]=|(?<![-=<>\n])(?<!^)[<>]|[≤≥≠±√∛]|\\(?:leq?|geq?|neq?|lt|gt|pm|overline)(?![a-z])
      |\\?\b(?:log|ln|sin|cos|tan|sqrt|lfloor|lceil)(?:\[\w+\])?|\b[a-z](?=\()
      |\b(?:at\s(?:least|most)|than|not|except)(?:\s(?:the|by))?)\s?[({{]?\s?{_N}
    |(?<=\d)(?:\.\.\.|…|\s(?:dozen|score|gross)\b|(?-i:[KMB]\b|(?:a|{_LETTER})(?![a-zA-Z'\u2019])))
    |(?<=[\d}}])\s?(?:\\?(?:sqrt|pi|overline)\b|[π√∛])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_STATED = re.compile(r"(?:(?<![<>!])=|≈|\b(?:is|are|be|it's|equals?|equal to|get|gives?))\s?$")


class _Number:
    """A number in a text that `_plain` has returned, from a match of `_NUMBER`."""

    def __init__(self, match: re.Match[str]):
        self.text = match.string
        self.match = match
        self.start, self.stop = match.span()

    @cached_property
    def part(self) -> re.Match[str] | None:
        """The match of `_PART` that the number touches, or None if the number stands alone."""
        start, stop = self.start, self.stop
        for part in _PART.finditer(self.text, max(0, start - _CONTEXT), stop + _CONTEXT):
            is_inside = start < part.start() and part.end() <= stop  # as the / in 1/2
            if part.start() <= stop and part.end() >= start and not is_inside:
                return part
        return None

    @property
    def form(self) -> str | None:
        """Return the normal form of the number, or None if the number does not stand alone."""
        return None if self.part else _form_of_match(self.match)

    @property
    def is_stated(self) -> bool:
        """Return whether something is said to be this number, as after "is" or before "="."""
        before = self.text[max(0, self.start - _CONTEXT) : self.start]
        after = self.text[self.stop : self.stop + 2]
        return _STATED.search(before) is not None or after.lstrip().startswith("=")


def _numbers(text: str) -> Iterator[_Number]:
    """Yield the numbers in a text that `_plain` has returned, from left to right."""
    return map(_Number, _NUMBER.finditer(text))


# --- Responses ----------------------------------------------------------------------------

_DIGIT = re.compile(rf"[\d{_VULGAR}]")
_NOUNS = r"answer|réponse|antwort|respuesta|risposta|resposta|ответ"
_ADJECTIVES = r"(?:\s(?:finale?|correcta?|correcte|definitiva|richtige))?"
_VERBS = r"is|can(?:no|['\u2019])t be|are|equals|would be|must be|est|ist|lautet|es|è|é"
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
    r"[\s*_\"'(]*(?:none|un(?:known|clear|determined)|undefined|determined|found|known|not|impossible|infinite(?:ly)?"
    r"|(?:there (?:is|are) )?no (?:real |such )?(?:solutions?|answers?|numbers?))\b"
    r"(?!\s(?:by|to|as|using)\b)",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\b(?:can(?:no|['\u2019])t|unable to|impossible to)"
    r" (?:be )?(?:determine|answer|solve|find|say|tell)"
    r"|\bthere is no (?:answer|solution)",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r",\s|;|\s\(|\s(?:because|since|as|when|if|for)\s")
_SEVERAL = re.compile(r"(?:[,;]?\s|,?\s(?:and|und|et|y|&)\s)[-+]?\d[\d.,]*[\s.)]*$")
_BEFORE_ANSWER = re.compile(r"(?:\s|[*_:|`>]|\\\[|\\\(|\$\$)+")
_SENTENCE_END = re.compile(r"\n|。|(?<!i\.e)(?<!e\.g)[.!?;](?=\s|$)|</answer>")
_KEY_OF_JSON = re.compile(r"[\"']\s*:\s*$")
_VALUE_OF_JSON = re.compile(r"\s*(?:\"([^\"\n]*)\"|'([^'\n]*)'|([^,}\n]*))")
_POINT_OF_THOUSANDS = re.compile(r"(?<![\d.,])([1-9]\d{0,2})\.(\d{3})(?=\s[^\W\d_]{3})")
_POINT_LANGUAGES = re.compile(
    r"\b(?:il|è|di|sono|o|é|são|der|die|das|und|ist|sind|genau|insgesamt|antwort|el|la|los|las|es|son|respuesta|resultado)\b"
)
_BOLD = re.compile(r"\*\*(?!\s)([^*\n]+?)(?<![:\s])\*\*(?!:)")
_HEADING = re.compile(r"\s*\d+[.)]\s|.*\b(?:step|case|part)\s\d", re.IGNORECASE)
_TAIL = re.compile(  # how the last paragraph goes on after an answer
    r"[\n.!?][ \t]*[#*_]*(?:(?:confidence|certainty|sources?|references?|citations?)"
    r"(?: (?:level|score))?[*_]*:"
    r"|(?:let me know|feel free|i hope|hope this|would you like|is there anything|indeed,)"
    r"|if you(?:['\u2019]d| would| have (?:any|more|further)| need| want)\b"
    r"|(?:to |let me |let['\u2019]s )?(?:(?:double[- ]?)?check|verif\w+|note)\b[^.\n]{0,30}?[:,]"
    r"|note that\b)",
    re.IGNORECASE,
)
_ITEM = re.compile(r"^[ \t*#]*\d+[.)]\**\s+(?=\S)", re.MULTILINE)
_REMARK = re.compile(r"\*{0,2}\([^\W\d_]{2}[^()]*\)\.?\*{0,2}|.*\?")
_CONTEXT = 40  # characters around a number in which it may be part of something
_LONGEST_SENTENCE = 400  # characters, of which the last are read
_CONCLUSION = (
    r"(?:so|thus|hence|therefore|then|total|answer|now|leav(?:es|ing)|remain\w*|giv(?:es|ing)"
    r"|making|gets?)\b"
)
_PREPOSITION = r"at|for|from|in|of|on|over|to|with|en|de|por|para|con|à|pour|dans|avec|sans"
_DETERMINER = r"the|these|those|his|her|their|its|all|each|l[aeo]s|sus|ses|leurs|ces"
_ASIDE = re.compile(  # what explains an answer before it, or is compared with it
    rf"""
    \([^()]*\)|\[\d+\]|{_DATE}
    |:\s{_N}\s(?=[^=]*\band\b).*                                    # 28: 15 girls and 13 boys
    |(?:\b(?:because|since|although|though|whereas|given\sthat|instead\sof|rather\sthan|ahead\sof
      |compared\s(?:to|with)|(?:down|up|reduced|raised)\sfrom|is\s(?:the|a)\ssolution\s(?:of|to)
      |weil|wenn|parce\squ|puisque|porque|ya\sque|perché)\b
      |,\s(?:car|da|denn|si|as|of\swhich|who|enough|just|only
        |which(?!\s(?:\w+ly\s|indeed\s|also\s)?\w+s\b))\b
      |—|:\sCheck:)(?!.*\b{_CONCLUSION}).*
    |\b(?:before|until|unless|if|when|once)\b[^,]*
    |\b(?:out\sof|of\swh(?:ich|om)|\d+\sof\s(?:her|his|their|my|our)|at\san?\s\w+\sof|including
      |than|not|except|excluding|after|among|without)\s(?:[^\d.,;]{{1,24}}\s)??\$?{_N}
    |(?:,|\beach)\swith\s(?!.*\btotal)[^,\d]*{_N}
    |\b(?:{_PREPOSITION})\s(?:{_DETERMINER})\s(?:[a-z]+\s)?\$?{_N}  # 48 tiles for the 3 rooms
    |(?<=\d)(?:\s[^\W\d_]+){{0,3}}\s(?:for|from|over|on|across|of|in|within|every)
      \s(?:all\s)?{_N}(?=\s[^\W\d_]{{3}})                           # $24 for 8 stamps
    |(?<=\d)(?:\s[^\W\d_]+){{0,3}}\sto\s(?!(?:get|obtain|find|give|make|equal|total)\b)[a-z]+
      \s(?:all\s|the\s)?{_N}                                        # 5 hours to cover 280 miles
    |\b(?:at|when|where|for|if)\s[a-z]\s?=\s?{_N}|\b(?:in|since|by|until)\s(?:1[5-9]|20)\d\d\b
    |\b{_N}(?:(?:st|nd|rd|th)\b|\sof\swh(?:ich|om)\b|%?\s(?:sure|certain|confident)\b)
    |\b{_N}(?=\s(?:\w+\s)?(?:(?:more|less|\w+er)\sthan|short\sof|(?:mehr|weniger)\sals)\b)
    |比[^\d\uff0c。]*{_N}
    """,
    re.VERBOSE | re.IGNORECASE,
)
_TWO_FACTS = re.compile(
    rf"(?!.*\b{_CONCLUSION}).*\b(?:and|while|but)"
    r"\s(?!(?:each|every|only|he|she|it|they|we)\b)\S.*\s([^\W\d_]+)\s"
)


def read_response(text: str, stop: Sequence[str] = ()) -> str | None:
    """Return the normal form of the number that a response gives as its answer, or None.

    The response ends before the first text in `stop`.

    >>> read_response("9 + 3 = 12."), read_response("The answer is 1/3, not 2"), read_response("?")
    ('12', '1/3', None)
    """
    text = answer_part(text, stop, _has_digit)
    if not _has_digit(text):
        return None
    if _POINT_OF_THOUSANDS.search(text) and len({*_POINT_LANGUAGES.findall(text.lower())}) > 1:
        text = _POINT_OF_THOUSANDS.sub(r"\1\2", text)
    return last_answer(text, _ANSWER_MARK, _number_after, _number_without_mark)


def _has_digit(text: str) -> bool:
    """Return whether a text has a digit, or a fraction such as ½."""
    return _DIGIT.search(text) is not None


def _number_after(text: str, mark: re.Match[str]) -> str | None:
    """Return the form of the number after a mark, "" if it is unclear or denied, or None."""
    if mark[0].startswith("\\"):
        return _number_of_box(boxed(text[mark.start() :]) or "") or ""
    is_key = _KEY_OF_JSON.search(mark[0]) is not None
    answer = _value_of_key(text, mark) if is_key else _answer_after(text, mark)
    if _NO_ANSWER.match(answer):
        return ""
    if _has_digit(answer):
        return _first_number(answer) or ""
    return "" if is_key else None


def _value_of_key(text: str, mark: re.Match[str]) -> str:
    """Return the value after a mark that is a key of JSON, as in {"answer": 5}."""
    value = _VALUE_OF_JSON.match(text, mark.end())
    return next(filter(None, value.groups()), "") if value else ""


def _answer_after(text: str, mark: re.Match[str]) -> str:
    """Return the sentence after a mark."""
    space = _BEFORE_ANSWER.match(text, mark.end())
    start = space.end() if space else mark.end()
    end = _SENTENCE_END.search(text, start)
    answer = text[start : end.start() if end else None]
    is_in_line = "\n" not in text[mark.start() : start]
    # "- 5" in the line of the mark is -5. In a later line, it is an item of a list.
    return re.sub(r"^[-\u2212] (?=\d)", "-", answer) if is_in_line else answer


def _first_number(text: str) -> str | None:
    """Return the form of the answer in the sentence after a mark, or None.

    It is a side of the only equation, or the first number that stands alone, but not of "5, 6".
    """
    text = _plain(text)
    clause = _CLAUSE_END.split(text)[0]
    if clause.count("=") == text.count("=") == 1 and (side := _side_of_equation(clause)):
        return side
    for number in _numbers(text):
        if (form := number.form) is not None:
            return None if _SEVERAL.match(text, number.stop) else form
    return None


def _number_without_mark(text: str) -> str | None:
    """Return the form of the only number in bold (not in headings), or else of `_last_number`."""
    bold = [part for part in _BOLD.findall(text) if not _HEADING.match(part)]
    forms = {_last_number(part) for part in bold if _has_digit(part)}
    return (forms.pop() if len(forms) == 1 else None) or _last_number(text)


def _last_number(text: str) -> str | None:
    """Return the form of the number that the last sentence with one gives as an answer, or None.

    What follows an answer is skipped: a closing phrase, a check, a question, a remark in
    parentheses. So are the numbers of list items.
    """
    first = _DIGIT.search(text)
    if first is None:
        return None
    while tail := _TAIL.search(text, max(first.start(), text.rstrip().rfind("\n\n"))):
        text = text[: tail.start()]
    if len(_ITEM.findall(text)) > 1:
        text = _ITEM.sub("", text)
    for sentence in reversed(sentences(text)):
        if not _has_digit(sentence) or _REMARK.fullmatch(sentence.strip()):
            continue
        start = sentence.rfind(" ", 0, max(0, len(sentence) - _LONGEST_SENTENCE)) + 1
        plain = _plain(sentence[start:])
        if numbers := [*_numbers(plain)]:
            return _answer_of_sentence(plain, numbers)
    return None


def _answer_of_sentence(text: str, numbers: list[_Number]) -> str | None:
    """Return the form of the last of the numbers in a sentence that is not an aside, or None.

    A refusal and two facts give None. If the number is an operand, as the 4 in "12, not 3 * 4", the
    last number that is stated (see `is_stated`) counts.
    """
    if len(numbers) > 1:
        asides = [aside.span() for aside in _ASIDE.finditer(text, numbers[0].stop)]
        numbers = [
            number
            for number in numbers
            if not any(start <= number.start < stop for start, stop in asides)
        ]
    if _REFUSAL.search(text) or _are_two_facts(text, numbers):
        return None
    part = numbers[-1].part
    if part is None or part["term"] is None:
        return numbers[-1].form
    stated = (number.form for number in reversed(numbers) if number.is_stated)
    return next(filter(None, stated), None)


def _are_two_facts(text: str, numbers: list[_Number]) -> bool:
    """Return whether the last two numbers state similar facts: "Ann has 5 and Bob has 7"."""
    if len(numbers) < 2:
        return False
    first, second = numbers[-2:]
    fact = _TWO_FACTS.fullmatch(text, first.stop, second.start)
    return fact is not None and text[: first.start].endswith(f" {fact[1]} ")


# --- References ---------------------------------------------------------------------------

_WORD = r"[^\W\d_]{2,}"
_NAME = re.compile(r"\s*[^\W\d_]\w*(?:\(\w\))?\s*")
_CALCULATION = re.compile(r"(?:[\s\d.,()+*/^\u00d7÷·-]|\\(?:times|cdot|div))*\d[\s)]*")
_NAME_ON_LEFT = re.compile(rf"[\s(\[]*(?:{_WORD}[.:]?[\s(\[]+)*≈?\s?")
_OPTION = re.compile(r"^\s*\(?[A-Z]\)\s")
_UNIT_ON_RIGHT = re.compile(r"(?:[\s°'\"()\[\].]|[^\W\d_]|(?<=[^\W\d_])[-/](?=[^\W\d_]))*")
_MULTIPLE = re.compile(r"\s*\d+\s?[a-zA-Z]\s*")
_NEXT_EQUATION = re.compile(r"[\d)}][,;\s]+(?:and\s+|or\s+)?[a-zA-Z]\w*\s*$|[,;]")


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
    return _number_with_unit(text, bool(names), is_reference=True)


def _number_of_box(content: str) -> str | None:
    """Return the form of the number in a box, which may be an equation, or None."""
    exact, *rounded = _plain(content).split("≈")
    return _side_of_equation(exact) or (_side_of_equation(rounded[-1]) if rounded else None)


def _side_of_equation(text: str) -> str | None:
    """Return the form of the number right of the last "=", or else of that left of the first.

    Several equations, or a factor before the unknown (2x = 6), give None.
    """
    left, *sides = text.split("=")
    if not sides:
        return _number_with_unit(left)
    if _MULTIPLE.fullmatch(left) or any(_NEXT_EQUATION.search(side) for side in sides[:-1]):
        return None  # 2x = 6; x = 2, y = 3
    return _number_with_unit(sides[-1], follows_equals=True) or _number_with_unit(left)


def _number_with_unit(
    text: str, follows_equals: bool = False, is_reference: bool = False
) -> str | None:
    """Return the form of the number in a text, or None if more than words and a unit surround it.

    With `follows_equals`, "- 5" is a negative number. In a reference, 1,5 may be two answers and
    "A) 5" an option, so both give None.
    """
    if follows_equals:
        text = re.sub(r"^\s*- ", "-", text)
    number = next(_numbers(text), None)
    if number is None or (is_reference and _has_decimal_comma(number.match)):
        return None
    left, right = text[: number.start], text[number.stop :]
    if not is_reference:
        left = _OPTION.sub("", left)
    if not (_NAME_ON_LEFT.fullmatch(left) and _UNIT_ON_RIGHT.fullmatch(right)):
        return None
    return number.form
