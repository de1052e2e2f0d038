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
from dataclasses import dataclass
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import NamedTuple

from ..core.match import decimal_form
from .responses import answer_part, boxed, marks_in, text_after_retraction

# --- Numbers ------------------------------------------------------------------------------

_SPACES = " \u00a0\u2009\u202f"
_DIGITS = rf"(?:\d(?:[\d.,'\u2019_]*\d)?(?:[{_SPACES}]\d{{3}}(?!\d))*(?:[.,]\d+)?|(?<!\d)\.\d+)"
_VULGAR = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
_SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_POWER = r"(?:\^|\*\*)[ ]?\{?[ ]?(?P<NAME>[-+]?\d+)[ ]?\}?"
# Letters of scripts without spaces, apart from \u7b2c, which makes a number an ordinal.
_NO_SPACES = "\u3040-\u30ff\u4e00-\u7b2b\u7b2d-\u9fff\uac00-\ud7af"
_NUMBER = re.compile(
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


def _form_of_match(match: re.Match[str], negative: bool) -> str | None:
    """Return the normal form of a match of `_NUMBER`, negated if `negative`, or None."""
    try:
        value = _value(match)
        if value is None:
            return None
        power = _SCALES[match["scale"].lower()] if match["scale"] else 0
        if isinstance(value, Fraction):
            value = value * 10**power * (-1 if negative else 1)
        else:
            value = value.scaleb(power, _ALL_DIGITS) if power else value
            value = value.copy_negate() if negative else value
        return number_form(value, "%" if match["percent"] else "")
    except ArithmeticError:  # the exponent is too large
        return None


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


def _plain(text: str) -> str:
    """Return a text without the signs of LaTeX, Markdown and currencies, which change no number."""
    if not text.isascii():
        text = text.translate(_PLAIN)
        text = re.sub(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", lambda run: f"^{run[0].translate(_SUPERSCRIPTS)}", text)
    if "\\" in text or "{,}" in text:
        for pattern, replacement in _LATEX:
            text = pattern.sub(replacement, text)
    text = re.sub(r"(?<=[-+])\s?\$\s?|\$(?=-)|(?<=\s)\$", "", text).replace("$", " ")
    text = re.sub(r"(?<!\d)\*\*|\*\*(?!\d)", "", text)
    text = re.sub(r"</?[a-zA-Z][^<>]*>", " ", text)
    return text.replace("~", " ")  # a space of LaTeX, or "about"


# --- Numbers and the text around them --------------------------------------------------

_WORD_OPERATOR = r"\b(?:x|plus|minus|times|divided by|multiplied by|or)\b"
_OPERATOR = rf"(?:[-+*\u00d7÷·/^±]|\\(?:times|cdot|div|pm)(?![a-z])|{_WORD_OPERATOR})"
_FUNCTION = r"(?:log|ln|sin|cos|tan|sqrt|lfloor|lceil)(?:_\{?\w+\}?|\[\w+\])?(?![a-z])"
_NAME_BEFORE = re.compile(r"(?:[^\W\d_]{2,}|(?<![^\W\d_])[ms])\s?\^\s?\{?$|_\{$|[^\W\d_]{2,}-$")
_SIGN = re.compile(r"(?:(?<![\w.)\]}%])[-+]|(?<=[=(:] )[-+] |\b(?:[mM]inus|[nN]egative) )$")
_TERM_BEFORE = re.compile(r"[\d)]\s?$")
_OPERAND_BEFORE = re.compile(
    rf"(?:[\d%)\]}}],?|(?<![^\W\d_])[b-z])\s?{_OPERATOR}\s?[({{]?$",
    re.IGNORECASE,  # 7 - , x^, (a + b)/, 12, 13, or
)
_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}")
_UNITS_OF_TIME = r"hours?|hrs?|h|minutes?|mins?|seconds?|secs?|days?|weeks?|months?|years?"
_OTHER_UNITS = r"feet|foot|ft|inch(?:es)?|pounds?|lbs?|ounces?|oz|dollars?|cents?"
_MIXED_UNITS = rf"(?:{_UNITS_OF_TIME}|{_OTHER_UNITS})\b|小时|分钟?"  # 2 hours and 30 minutes
_MONTHS = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sep(?:t(?:ember)?)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
# A number after `_PART_AFTER`, or before `_PART_BEFORE`, is a part of something else.
_PART_AFTER = re.compile(
    r"[({\[]\s?[-+]?[\d./]+(?:\s?,\s?[-+]?[\d./]+)*\s?,\s?$"  # (3,
    r"|\d\s*(?:[,;]|,?\s*or)\s*[a-z](?:_\{?\w+\}?)?\s*[=≈]\s*$"  # x = 2 or x =
    r"|(?<!\w)[a-z](?:_\{?\w+\}?)?\s*[=≈][^=]*\d,?\s*and\s*[a-z](?:_\{?\w+\}?)?\s*[=≈]\s*$"
    r"|\d:$"  # 12:
    r"|[<>!]=\s?$|(?<![-=<>\n])(?<!^)[<>]\s?$|[≤≥≠±√∛]\s?\(?$|\}\{\s?$"
    rf"|\\(?:leq?|geq?|neq?|lt|gt|pm|overline|{_FUNCTION})\s?[({{]?$|\b{_FUNCTION}\s?\(?$",
    re.IGNORECASE,
)
_PART_AFTER_WORDS = re.compile(
    r"\d(?:,?\sand\s|\s[^\W\d_]+,?\sor\s|\sin\s"  # 2 and, 24 hours or, 3 in
    rf"|\s?(?:{_MIXED_UNITS})(?:,|,?\sand)?\s?)$"  # 2 hours and
    r"|\b(?:at (?:least|most)|(?<!add )(?<!adds )(?<!sum )(?<!sums )(?<!adding )up to"
    r"|(?:than|not|except)(?:\s(?:the|by))?|(?:quarter|half|\d+)\s(?:past|to))\s$",
    re.IGNORECASE,
)
_RANGE = re.compile(
    r"\b(?:(?:between|entre|zwischen)\s(?:\S+\s(?:and|et|und|y)\s)?"
    r"|(?:from|von|de)\s\S*\d\S*\s(?:to|bis|à|a)\s)$|\d\s(?:to|bis)\s$",
    re.IGNORECASE,
)
_EQUALS_SIGN = re.compile(r"\s?=")
_STATED = re.compile(
    r"(?:(?<![<>!])=|≈|\b(?:is|are|be|[iI]t['\u2019]s|equals?|equal to|get|gives?))\s?$"
)
_PART_BEFORE = re.compile(
    r"\s?(?:\\?(?:sqrt|pi|overline)\b|[π√∛]|\^(?!\{?(?:th|st|nd|rd)\b))"
    r"|[KMB]\b|\s(?:dozen|score|gross)\b"
    r"|[abceijknpqrtuvwxyz](?![a-zA-Z'\u2019])|\s[xyzn](?![\w'\u2019])(?!\s?[\d(])"
    r"|\s?(?:[-+*\u00d7÷·/]|\\(?:times|cdot))\s?(?:\d+)?\(?(?:[b-z](?![\w'\u2019.])|\\(?:sqrt|pi))"
    rf"|\s?(?:{_MIXED_UNITS})\s?(?:and\s)?\d+(?:\.\d+)?\s?(?:{_MIXED_UNITS})"
)
_MONTH_BEFORE = re.compile(rf"\b{_MONTHS}\s$")
_GOES_ON = re.compile(
    r"\s(?:less|more|fewer)\sthan\s[-+]?\d|\stimes\s(?:as|more|the)\b|"
    rf"\s?{_OPERATOR}\s?[({{]?\s?[-+]?[\d.\\]|\s?[|)]?\s?=|:\d|\s(?:to|bis)\s\d|\s?,\s?[-+]?\d+\s?[)\]}}]"
    r"|(?:,\s[-+]?\d[\d.]*)+,?\s(?:or|and)\s"
    r"|\s*(?:,|\bor\b|\band\b)\s*[a-z](?:_\{?\w+\}?)?\s*=\s*[-+]?\d"
)


_NUMBERED = re.compile(  # before a number that is a name: step 3
    r"\b(?:steps?|figure|table|equation|case|example|section|problem) $", re.IGNORECASE
)
_PARENTHESIS = re.compile(  # 72 inches (, and a sentence in parentheses
    r"(?:\d(?:[^\W\d_]|[ °%²³'\"/*-])*[\s\u4e00-\u9fff]|[.!?]\*{0,2}\s)\([^()\n]*$"
)
_DATE_BEFORE = re.compile(
    rf"\b(?:{_MONTHS}\s{_DAY},?|{_DAY}\s(?:of\s)?{_MONTHS},?)\s$", re.IGNORECASE
)
_DATE_AFTER = re.compile(rf"(?::\d\d)?\s?[aApP]\.?[mM]\b|(?:st|nd|rd|th)?\s(?:of\s)?{_MONTHS}\b")
_COMPARED_WITH = (
    r"out of|\d+\sof(?:\s(?:her|his|their|my|our))?|of wh(?:ich|om)|reach|including"
    r"|more\s[^.\d]{0,16}\bto\s\w+|than(?:\s[^.,;\d]{1,24})??|not|except|excluding"
    r"|not\s(?:counting|including)|(?:after|by|before|without)\s[a-z]+ing"
    r"|each\s(?:with|having|of|at|for|holding|containing)|after|among|from\san?|at\san?\s[a-z]+\sof"
    r"|из"
)
_KNOWN = (  # a determiner names a number that is known from before
    r"(?:at|for|from|in|of|on|over|to|with)\s(?:the|these|those|his|her|their|its)"
    r"(?:\s(?:first|last|original|other|remaining|usual))?|all"
    r"|(?:en|de|por|para|con|à|pour|dans|avec|sans)\s(?:l[aeo]s|sus|ses|leurs|ces)"
)
_ASIDE = re.compile(
    rf"\b(?:{_COMPARED_WITH}|{_KNOWN})\s(?:the\s|all\s|an?\s|a total of\s)?\s?[-+]?\d\S*\s?$"
    rf"|\b(?:at|with)\s[\d.]+\s?%$|,\swith\s(?![^,]*\btotal)[^,\d]*[-+]?\d\S*\s?$"
    r"|\b(?:in|since|by|until)\s(?:1[5-9]|20)\d\d$"  # a year
    r"|比[^\d\uff0c。]*[-+]?\d\S*$",
    re.IGNORECASE,
)
# Before the second number of "$12 for 2 tickets" and "5 hours to cover 280 miles", and after it.
_OF_FIRST = re.compile(
    r"\d(?:(?:\s[^\W\d_]+){0,3}\s(?:for|from|over|on|across|of)|[^\n.!?;,]{1,32}\s(?:in|within|every)"
    r"|\s[^\W\d_]{3,}\sto\s(?!(?:get|obtain|find|give)\b)[a-z]+)\s(?:all\s)?$"
)
_COUNTED = re.compile(rf"\s(?:{_UNITS_OF_TIME})\b|\s(?!dollars?\b|cents?\b|euros?\b)[^\W\d_]{{3,}}")
# Before a number that is a name: in Room 101.
_LABELLED = re.compile(rf"\b(?:in|at|on|from|of)\s(?!{_MONTHS}\s)[A-Z][a-z]{{2,}}\s$")
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b")
_EXPLANATION = re.compile(
    r"\b(?:because|since|although|though|whereas|given that|instead of|rather than|ahead of"
    r"|compared (?:to|with)|(?:down|up|reduced|raised) from)\b"
    r"|\b(?:before|until|unless|if|when|once)\b(?=[^,\n]*$)"
    r"|,\sas\s|—|[:.]\sCheck:|\bis (?:the|a) solution (?:of|to)\b"
    r"|,\s(?:of which|who|enough|just|only)\b"
    r"|\b(?:weil|wenn|parce qu|puisque|porque|ya que|perché|потому что|если)"
    r"|,\s(?:car|da|denn|si)\s"
    r"|(?P<after>\bafter\s[a-z]+ing\b)"
    r"|,\swhich\b(?!\s(?:[a-z]+ly\s|indeed\s|also\s)?(?:is|are|equals?|makes?|means|gives?|leaves?"
    r"|results|yields|totals?|comes|amounts|adds|works|rounds|simplifies)\b)"
)
_CONCLUSION = re.compile(
    r"\b(?:so|thus|hence|therefore|then|total|answer|now|leav(?:es|ing)|remain\w*|giv(?:es|ing)"
    r"|making|gets?)\b|\n|。|[.!?;](?=\s)",
    re.IGNORECASE,
)
_TWO_FACTS = re.compile(
    r".*\b(?:and|while|but)\s(?!(?:each|every|only|he|she|it|they|we)\b)\S.*\s([^\W\d_]+)\s"
)
_NEXT_SUBJECT = re.compile(r"[^.,;=]*,?\s(?:and|while|but)\s(?:the|its|his|her|their)\s")
_ASIDE_AFTER = re.compile(  # 5 years older than, 3 short of, 24 of which, 100% sure
    r"\s(?:[^\W\d_]+\s)?(?:(?:more|less|[a-z]+er)\sthan|short\sof|(?:mehr|weniger)\sals"
    r"|(?:más|menos)\sque|in\s(?:più|meno)\sdi|de\s(?:plus|moins)\sque|a\sm(?:ais|enos)\sdo"
    r"|(?:больше|меньше),\s\u0447\u0435\u043c)\b"
    r"|\sof\swh(?:ich|om)\b"
    r"|\s(?:sure|certain|confident)\b"
)
_ARGUMENT = re.compile(r"\b(?:at|when|where|for|if)\s\\?\(?[a-z]\s?=\s?$")
_RESULT_OF = ("=", "+", "*")
_BEFORE_PARTS = re.compile(r"[:(]\s*$")


@dataclass(slots=True)  # frozen ones take longer to make
class _Token:
    """A number in a text that `_plain` has returned, which may be a part of something else.

    `match` is a match of `_NUMBER` in `text`. `start` is the index of its sign, or of the match.
    """

    text: str
    match: re.Match[str]
    start: int

    @property
    def before(self) -> str:
        """The 32 characters before the number, or fewer at the start of the text."""
        return self.text[max(0, self.start - 32) : self.start]

    @property
    def is_operand(self) -> bool:
        """Return whether a term and an operator precede the number (12 - 3), or part of a range."""
        before = self.before
        if self.start < self.match.start() and _TERM_BEFORE.search(before[-3:]):
            return True
        return bool(_OPERAND_BEFORE.search(before[-24:]) or _RANGE.search(before))

    @property
    def form(self) -> str | None:
        """Return the normal form of the number, or None if the number does not stand alone.

        An operand, a bound, and a part of a date or of a list do not stand alone.
        """
        text, stop, before = self.text, self.match.end(), self.before
        if self.is_operand or _PART_AFTER.search(before):
            return None
        if before.rstrip()[-1:] not in _RESULT_OF and _PART_AFTER_WORDS.search(before):
            return None
        if self.is_date or _PART_BEFORE.match(text, stop):
            return None
        if "." in self.match[0] and text.startswith(("...", "…"), stop):
            return None
        is_in_brackets = before.rstrip(" ")[-1:] in _OPENING and text[stop : stop + 1] in _CLOSING
        if is_in_brackets and _has_decimal_comma(self.match):
            return None
        return _form_of_match(self.match, text[self.start] == "-" or text[self.start].isalpha())

    @property
    def is_date(self) -> bool:
        """Return whether the number is part of a date or of a time of the day."""
        stop, before = self.match.end(), self.before
        is_day = stop - self.start <= 2 and _MONTH_BEFORE.search(before) is not None
        is_followed = _DATE_AFTER.match(self.text, stop) is not None
        return is_day or is_followed or _DATE_BEFORE.search(before) is not None

    @property
    def is_aside(self) -> bool:
        """Return whether the number is not an answer, because of the words or signs around it.

        Such a number explains another one, is compared with it, is in parentheses, or is a date.
        """
        stop = self.match.end()
        if self.is_date or any(x.match(self.text, stop) for x in (_ASIDE_AFTER, _ORDINAL)):
            return True
        before = self.text[max(0, self.start - 48) : self.start]
        if before.endswith("[") and self.text.startswith("]", stop):
            return True  # the number of a source
        if "(" in before and _PARENTHESIS.search(before):
            return True
        if before.rstrip()[-1:] in _RESULT_OF:
            return _ARGUMENT.search(before) is not None
        if _OF_FIRST.search(before) and _COUNTED.match(self.text, stop):
            return True
        return _ASIDE.search(before + self.text[self.start : stop]) is not None

    @property
    def goes_on(self) -> bool:
        """Return whether a calculation, comparison, range or list goes on after the number."""
        return _GOES_ON.match(self.text, self.match.end()) is not None

    @property
    def is_stated(self) -> bool:
        """Return whether something is said to be this number, as after "is" or before "="."""
        if _EQUALS_SIGN.match(self.text, self.match.end()):
            return True
        return _STATED.search(self.before) is not None and not self.goes_on


def _tokens(text: str) -> Iterator[_Token]:
    """Yield the numbers in a text that `_plain` has returned, from left to right.

    Digits of a name (`GPT-4`) and the number of something numbered ("step 3") are left out.
    """
    for match in _NUMBER.finditer(text):
        start = match.start()
        before = text[max(0, start - 24) : start]
        if any(name.search(before) for name in (_NAME_BEFORE, _NUMBERED, _LABELLED)):
            continue
        if sign := _SIGN.search(before):
            start -= len(sign[0])
        yield _Token(text, match, start)


# --- Responses ----------------------------------------------------------------------------

_DIGIT = re.compile(rf"[\d{_VULGAR}]")
_TAIL = re.compile(  # how the text begins that a response adds after its answer
    r"[\n.!?][ \t]*[#*_]*(?:(?:confidence|certainty|sources?|references?|citations?)"
    r"(?: (?:level|score))?[*_]*:"
    r"|(?:let me know|feel free|i hope|hope this|would you like|is there anything|note that)\b"
    r"|if you(?:['\u2019]d| would| have (?:any|more|further)| need| want)\b)",
    re.IGNORECASE,
)
_CHECK = re.compile(
    r"[\n.!?][ \t]*[#*_]*(?:to |let me |let['\u2019]s )?"
    r"(?:(?:(?:double[- ]?)?check|verif\w+|note)\b[^.\n]{0,30}?[:,]|indeed,)",
    re.IGNORECASE,
)
"""How a verification begins, or a note. It ends a response if it is in the last paragraph."""
_BOLD = re.compile(r"\*\*(?!\s)([^*\n]+?)(?<![:\s])\*\*(?!:)")
_HEADING = re.compile(r"\s*\d+[.)]\s|.*\b(?:step|case|part)\s\d", re.IGNORECASE)
_REMARK = re.compile(r"\*{0,2}\([^\W\d_]{2}[^()]*\)\.?\*{0,2}")
_MOST_BEFORE, _MOST_AFTER = 240, 40  # characters around the last digit that are read
_ITEM = re.compile(r"[\s*#]*(\d+)[.)]\**\s+[^\W\d]")
_HASHES = re.compile(r"####\s*(?:[Aa]nswer:?\s*)?(?=[-+$\\.\d\u2212])")
_NOUNS = r"answer|réponse|antwort|respuesta|risposta|resposta|ответ"
_ADJECTIVES = r"(?:\s(?:finale?|correcta?|correcte|definitiva|richtige))?"
_VERBS = r"is|can(?:no|['\u2019])t be|are|equals|would be|must be|est|ist|lautet|es|è|é"
_ANSWER_MARK = re.compile(
    rf"(?<![^\W_])(?:{_NOUNS}){_ADJECTIVES}[\"']?(?:\s(?:to|for|here|in)\b[^.\n]{{0,80}}?)?[*_]*\s?"
    rf"(?:(?<![^\W_])(?:{_VERBS})(?![^\W_])|=|:|\|)(?:\s(?:therefore|thus|donc|also))?[*_]*\s?:?(?!\s*not\b)"
    r"|(?:答案|答え|정답)[^\n。:\uff1a是为為]{0,8}(?:是|为|為|は|은|는|[:\uff1a])[ \uff1a:]*"
    r"|[\"'](?:final|result|solution)[\"']\s*:\s*"
    r"|<answer>|^[#*_ \t]*(?:final )?answer[*_]*[ ]*$",
    re.IGNORECASE | re.MULTILINE,
)
_NO_ANSWER = re.compile(
    r"[\s*_\"'(]*(?:none|un(?:known|clear|determined)|undefined|determined|found|known|not|impossible|infinite(?:ly)?"
    r"|(?:there (?:is|are) )?no (?:real |such )?(?:solutions?|answers?|numbers?))\b",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\b(?:can(?:no|['\u2019])t|unable to|impossible to)"
    r" (?:be )?(?:determine|answer|solve|find|say|tell)"
    r"|\bthere is no (?:answer|solution)",
    re.IGNORECASE,
)
_TERM_IN_WORDS = re.compile(
    r"\b(?:twice|thrice|double|triple|half"
    r"|(?:half|third|quarter|sum|product|difference|average|square|cube) of) $"
)
_CLAUSE_END = re.compile(r",\s|;|\s\(|\s(?:because|since|as|when|if|for)\s")
_SEVERAL = re.compile(r"(?:[,;]?\s|,?\s(?:and|und|et|y|&)\s)[-+]?\d[\d.,]*[\s.)]*$")
_BEFORE_ANSWER = re.compile(r"(?:\s|[*_:|`>]|\\\[|\\\(|\$\$)+")
_POINT_OF_THOUSANDS = re.compile(r"(?<![\d.,])([1-9]\d{0,2})\.(\d{3})(?=\s[^\W\d_]{3})")
_POINT_LANGUAGES = re.compile(
    r"\b(?:il|è|di|sono|o|é|são|der|die|das|und|ist|sind|genau|insgesamt|antwort|el|la|los|las|es|son|respuesta|resultado)\b"
)
_SENTENCE_END = re.compile(r"\n|。|(?<!i\.e)(?<!e\.g)[.!?;](?=\s|$)|</answer>")
_KEY_OF_JSON = re.compile(r"[\"']\s*:\s*$")
_VALUE_OF_JSON = re.compile(r"\s*(?:\"([^\"\n]*)\"|'([^'\n]*)'|([^,}\n]*))")


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
    marks = _marks(text)
    if marks and (corrected := _correction(text[marks[-1].stop :])) is not None:
        return corrected
    for mark in reversed(marks):
        if mark.box is not None:
            return _number_of_box(mark.box)
        answer = _answer_after(text, mark)
        if _has_digit(answer):
            return _first_number(answer)
        if _is_key_of_json(text, mark):
            return None
    return _number_in_bold(text) or _last_number(text)


class _Mark(NamedTuple):
    """The place of a mark in a text, such as "answer:". `box` is the content of a box, or None."""

    start: int
    stop: int
    box: str | None = None


def _marks(text: str) -> list[_Mark]:
    """Return the marks in a text, in order. Of boxes and of ####, only the last counts."""
    marks = [_Mark(*mark.span()) for mark in marks_in(text, _ANSWER_MARK)]
    marks += [_Mark(*mark.span()) for mark in _HASHES.finditer(text)][-1:]
    if (box := boxed(text)) is not None:
        start = text.rfind("\\boxed")
        marks.append(_Mark(start, start + len("\\boxed") + len(box), box))
    return sorted(marks)


def _is_key_of_json(text: str, mark: _Mark) -> bool:
    """Return whether a mark is a key of JSON, as in {"answer": 5}."""
    return _KEY_OF_JSON.search(text[max(0, mark.stop - 8) : mark.stop]) is not None


def _answer_after(text: str, mark: _Mark) -> str:
    """Return the sentence after a mark; if the mark is a key of JSON, the value of the key."""
    if _is_key_of_json(text, mark):
        value = _VALUE_OF_JSON.match(text, mark.stop)
        return next(filter(None, value.groups()), "") if value else ""
    space = _BEFORE_ANSWER.match(text, mark.stop)
    start = space.end() if space else mark.stop
    end = _SENTENCE_END.search(text, start)
    answer = text[start : end.start() if end else None]
    is_in_line = "\n" not in text[mark.start : start]
    # "- 5" in the line of the mark is -5. In a later line, it is an item of a list.
    return re.sub(r"^[-\u2212] (?=\d)", "-", answer) if is_in_line else answer


def _correction(text: str) -> str | None:
    """Return the form of the last number that a text states after a word such as "Wait", or None.

    A number right after the word is stated, as in "Correction: 7".
    """
    text = _plain(text_after_retraction(text))
    stated = [x.form for x in _tokens(text) if x.is_stated or (x.start == 0 and not x.goes_on)]
    return stated[-1] if stated else None


def _has_digit(text: str) -> bool:
    """Return whether a text has a digit, or a fraction such as ½."""
    return _DIGIT.search(text) is not None


def _first_number(text: str) -> str | None:
    """Return the form of the first number in the sentence after a mark, or None if that is unclear.

    Terms of a calculation are skipped, such as 3 and 4 in "3 * 4 = 12". A sentence that says that
    there is no answer ("unknown") or gives several ("5, 6") returns None.
    """
    if _NO_ANSWER.match(text):
        return None
    text = _plain(text)
    clause = _CLAUSE_END.split(text)[0]
    if clause.count("=") == text.count("=") == 1 and (number := _side_of_equation(clause)):
        return number
    for token in _tokens(text):
        is_term = token.goes_on or _TERM_IN_WORDS.search(token.before)
        if not is_term and (form := token.form) is not None:
            return None if _SEVERAL.match(text, token.match.end()) else form
    return None


def _number_in_bold(text: str) -> str | None:
    """Return the form of the only number in bold, not in a heading; None in a text with "Wait"."""
    bold = [part for part in _BOLD.findall(text) if not _HEADING.match(part)]
    forms = {_last_number(part) for part in bold if _has_digit(part)}
    return forms.pop() if len(forms) == 1 and not text_after_retraction(text) else None


def _last_number(text: str) -> str | None:
    """Return the form of the last number that may be the answer in a text without marks, or None.

    What follows an answer is skipped: a closing phrase, a check, a question, a remark in
    parentheses, and items of a list. Only the line of the last number is read, because texts may be
    long. The text has at least one digit.
    """
    digits = [match.start() for match in _DIGIT.finditer(text)]
    stop = len(text)
    if tail := _TAIL.search(text, digits[0]):
        stop = tail.start()
    last_paragraph = text.rstrip().rfind("\n\n", 0, stop)
    if check := _CHECK.search(text, max(digits[0], last_paragraph), stop):
        stop = check.start()
    while digits:
        digit = digits.pop()
        if digit >= stop:
            continue
        line = text.rfind("\n", 0, digit) + 1
        end = text.find("\n", line)
        sentence = text[line : None if end < 0 else end].strip()
        is_remark = line > 0 and (sentence.endswith("?") or _REMARK.fullmatch(sentence) is not None)
        if is_remark or _is_number_of_item(text, line, digit):
            stop = line
            continue
        start = max(line, text.rfind(" ", 0, max(0, digit - _MOST_BEFORE)) + 1)
        if tokens := [*_tokens(_plain(text[start : min(stop, digit + _MOST_AFTER)]))]:
            return _answer_of_line(tokens)
        stop = start
    return None


def _answer_of_line(tokens: list[_Token]) -> str | None:
    """Return the form of the last number in a line that is not an aside, or None.

    Two facts give None. Explanations and the parts of a total do not count. If the number is an
    operand, as the 4 in "12, not 3 * 4", the last stated number before it counts.
    """
    while len(tokens) > 1 and tokens[-1].is_aside:
        between = _text_between(*tokens[-2:])
        if _SENTENCE_END.search(between) and "(" not in between:
            break
        tokens.pop()
    tokens = _without_parts(_without_explanation(tokens))
    sentence = _SENTENCE_END.split(tokens[-1].text[: tokens[-1].start])[-1]
    if _REFUSAL.search(sentence) or _are_two_facts(tokens):
        return None
    answer = tokens[-1].form
    if answer is not None or not tokens[-1].is_operand:
        return answer
    stated = (token.form for token in reversed(tokens[:-1]) if token.is_stated)
    return next((form for form in stated if form is not None), None)


def _is_number_of_item(text: str, line: int, digit: int) -> bool:
    """Return whether a digit is part of the number of a list item, such as the 2 of "2. Add them".

    `line` is the index at which its line starts. The item with the preceding number has to be above
    it.
    """
    item = _ITEM.match(text, line)
    if item is None or item.end(1) <= digit:
        return False
    return re.search(rf"^[\s*#]*{int(item[1]) - 1}[.)]", text[:line], re.MULTILINE) is not None


def _text_between(first: _Token, second: _Token) -> str:
    """Return the text between two tokens."""
    return first.text[first.match.end() : second.start]


def _without_explanation(tokens: list[_Token]) -> list[_Token]:
    """Return the numbers before the explanation in "7, because 6 hold 28"; all if there is none."""
    text, stop = tokens[-1].text, tokens[-1].start
    for explanation in _EXPLANATION.finditer(text, tokens[0].match.end(), stop):
        explained = [token for token in tokens if token.match.end() <= explanation.start()]
        if explanation["after"] and not explained[-1].is_stated:
            continue  # she had 12, and after giving away 5 she has 7
        is_apart = _SENTENCE_END.search(text, explained[-1].match.end(), explanation.start())
        if not is_apart and not _CONCLUSION.search(text, explanation.end(), stop):
            return explained
    return tokens


def _without_parts(tokens: list[_Token]) -> list[_Token]:
    """Return the numbers up to the total in "28: 15 girls, 13 boys"; all if there is no sum."""
    for index in range(len(tokens) - 2):
        first, last = tokens[index + 1], tokens[-1]
        if not _BEFORE_PARTS.search(_text_between(tokens[index], first)):
            continue
        forms = [token.form for token in tokens[index:]]
        if None in forms or ")" in last.text[first.start : last.start]:
            continue
        total, *parts = (Fraction(str(form).rstrip("%")) for form in forms)
        if total == sum(parts):
            return tokens[: index + 1]
    return tokens


def _are_two_facts(tokens: list[_Token]) -> bool:
    """Return whether the last two of `tokens` state similar facts: "Ann has 5 and Bob has 7"."""
    if len(tokens) < 2:
        return False
    between = _text_between(*tokens[-2:])
    if _CONCLUSION.search(between):
        return False
    if tokens[-2].is_stated and tokens[-1].is_stated and _NEXT_SUBJECT.match(between):
        return True
    fact = _TWO_FACTS.fullmatch(between)
    if fact is None:
        return False
    return tokens[-2].before.endswith(f" {fact[1]} ")


# --- References ---------------------------------------------------------------------------

_WORD = r"[^\W\d_]{2,}"
_NAME = re.compile(r"\s*[^\W\d_]\w*(?:\(\w\))?\s*")
_CALCULATION = re.compile(r"(?:[\s\d.,()+*/^\u00d7÷·-]|\\(?:times|cdot|div))*\d[\s)]*")
_NAME_ON_LEFT = re.compile(rf"[\s(\[]*(?:{_WORD}[.:]?[\s(\[]+)*≈?\s?")
_OPTION = re.compile(r"^\s*\(?[A-Z]\)\s")
_UNIT_ON_RIGHT = re.compile(r"(?:[\s°'\"()\[\].]|[^\W\d_]|(?<=[^\W\d_])[-/](?=[^\W\d_]))*")
_MULTIPLE = re.compile(r"\s*\d+\s?[a-zA-Z]\s*")
_NEXT_EQUATION = re.compile(r"[\d)}][,;\s]+(?:and\s+|or\s+)?[a-zA-Z]\w*\s*$|[,;]")
_UNIT_POWER = re.compile(r"(?<=[^\W\d_])\s?\^\s?\{?-?\d\}?")


def read_reference(answer: str) -> str | None:
    """Return the normal form of the number that a reference is, or None if it is not one number.

    >>> read_reference("3/4"), read_reference("so 5 + 7 = 12\\n#### 12"), read_reference("x^2")
    ('0.75', '12', None)
    """
    content = boxed(answer)
    if content is None:
        marks = [*_HASHES.finditer(answer)]
        content = answer[marks[-1].end() :] if marks else answer
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
    token = next(_tokens(text), None)
    if token is None or (is_reference and _has_decimal_comma(token.match)):
        return None
    left, right = text[: token.start], text[token.match.end() :]
    if not is_reference:
        left = _OPTION.sub("", left)
    if not (_NAME_ON_LEFT.fullmatch(left) and _UNIT_ON_RIGHT.fullmatch(_UNIT_POWER.sub("", right))):
        return None
    return token.form
