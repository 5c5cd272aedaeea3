"""Numbers with their scale, unit and sign, as documents write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

from orchestra.document.grammar.words import (
    CURRENCIES,
    CURRENCY_UNITS,
    MEASURES,
    NUMBER_WORDS,
    SCALE_LETTERS,
    SCALE_WORDS,
    UNIT_WORDS,
)

Sign = Literal["", "-", "+", "()"]

FIRST_YEAR, LAST_YEAR = 1500, 2199
_BASIS_POINT = -2  # the scale of a hundredth of a percentage point
_MAX_DIGITS = 24  # longer runs are keys and checksums


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written: $1.2 billion has the value 1.2, the scale 9 and the unit "$".

    `places`: digits after the point. `scale`: the power of ten that its words give, None without any.
    `unit`: "" | "%" | "points" (of a percentage) | "x" | a currency | a measure | "quarter" | "half" | "ordinal".
    `sign`: as written; "()" are brackets around it, which mean a minus in a table.
    `is_open`: nothing after it says what it counts, so that its unit may stand elsewhere, as for a table's cell.
    `is_cell`: it stands as in a table's row: another number, a bar or the line's end follows.
    """

    text: str
    start: int
    end: int
    value: Decimal
    places: int = 0
    scale: int | None = None
    unit: str = ""
    sign: Sign = ""
    is_open: bool = True
    is_cell: bool = False

    @property
    def is_year(self) -> bool:
        """A whole number from 1500 to 2199, written as years are."""
        is_bare = not self.unit and self.scale is None and not self.places and "," not in self.text
        return is_bare and FIRST_YEAR <= self.value <= LAST_YEAR


def any_of(words: Iterable[str]) -> str:
    """A pattern for any of these words, the longest first."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


SYMBOLS = any_of(word for word in CURRENCIES if not word.isalpha())
CODES = any_of(word for word in CURRENCIES if word.isalpha())

_DIGITS = re.compile(
    r"""
    (?<!\w) (?<![0-9][.,])
    (?:
        (?P<grouped> [0-9]{1,3} (?:,[0-9]{2,3})* ,[0-9]{3} (?:\.[0-9]+)? ) (?: [0-9] (?![0-9]) | (?![0-9]) )
      | (?P<spaced> [0-9]{1,3} (?:['’\u00a0\u2009\u202f][0-9]{3})+ (?:[.,][0-9]+)? ) (?![0-9])
      | (?P<dotted> [0-9]{1,3} (?: (?:\.[0-9]{3})+,[0-9]{1,2} | (?:\.[0-9]{3}){2,} ) ) (?![0-9.])
      | (?P<path> [0-9]+ (?:\.[0-9]+){2,} )
      | (?P<comma> [0-9]+,[0-9]{1,2} ) (?=\s?%)
      | (?P<plain> [0-9]+ (?:\.[0-9]+)? | (?<!\.)\.[0-9]+ )
    )
    """,
    re.VERBOSE,
)
_LEFT = re.compile(
    rf"(?P<open>\(\s?)?(?P<sign>(?<![\w)\]%])[+\-−–])?"
    rf"(?:(?P<money>{SYMBOLS}|(?<![A-Za-z])(?:{CODES}))\s{{0,2}}(?P<open2>\(\s?)?(?P<sign2>[-−–])?)?$",
    re.IGNORECASE,
)
_LEFT_LENGTH = 14
_CLOSE = r"\s?\)"
_RIGHT = re.compile(
    rf"""
    (?P<close>{_CLOSE})?
    (?: (?P<letter> {any_of(SCALE_LETTERS)}) (?!\w) )?
    (?: [\s-]{{0,2}} (?P<scale> {any_of(SCALE_WORDS)}) \b )?
    (?P<close2>{_CLOSE})?
    (?: \s?(?P<points> percentage[\s-]+points?\b | %[\s-]?points?\b | ppts?\b | pps?\b )
      | \s?(?P<basis> basis[\s-]+points?\b | bps?\b )
      | \s?(?P<percent> % | per\s?cent\b | pct\b )
      | (?P<times> [x×](?!\w) | \s?times\b | -?fold\b )
      | \s?(?P<money> {SYMBOLS} | (?:{CODES})\b )
      | (?P<ordinal> (?:st|nd|rd|th)\b )
      | [\s-]?(?P<measure> (?:{any_of(MEASURES)})(?!\w) )
    )?
    (?P<close3>{_CLOSE})?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_RIGHT_OF_YEAR = re.compile(rf"s?(?P<close>{_CLOSE})?")
_GOES_ON = re.compile(r"\w|-[A-Z]")
_OPEN = re.compile(
    r"\s*(?:$|[\n|;:.,)\]\[\"'”’\0]|[0-9$€£¥₩₹(+\-−–—*†‡/])"
    r"|\s+(?:and|or|to|in|from|for|at|as|on|by|versus|vs|compared|respectively|while|with|than)\b"
)
_CELL = re.compile(r"[ \t]*(?:$|[\n|0-9$€£¥₩₹(—–]|-(?!\w))")
_WORDS = re.compile(
    rf"(?<![\w-])(?:(?P<first>{any_of(NUMBER_WORDS)})(?:[\s-](?P<ones>{any_of(UNIT_WORDS)}))?|(?P<one>one))"
    r"(?!\w)(?!-(?:thirds?|fourths?|fifths?|quarters?|halves|half|tenths?))",
    re.IGNORECASE,
)
_RANGE_GAP = re.compile(r"\s?[-–—]\s?|\s+to\s+")
_PAIR_GAP = re.compile(r"\s+(?:and|or)\s+")


def find_numbers(text: str) -> list[Number]:
    """The numbers of a text in order. Digits inside names (10-K, 3M, COVID-19) and paths (5.2.1) are none."""
    found = [*_written_in_digits(text), *_written_in_words(text)]
    return _share_units(sorted(found, key=lambda number: number.start), text)


def _written_in_digits(text: str) -> Iterator[Number]:
    for match in _DIGITS.finditer(text):
        kind = match.lastgroup or ""
        digits, (start, end) = match[kind], match.span()
        if kind == "path" or len(digits) > _MAX_DIGITS:
            continue
        is_year = len(digits) == 4 and digits.isdecimal() and FIRST_YEAR <= int(digits) <= LAST_YEAR
        if not is_year and start >= 2 and text[start - 1] in "-‐‑" and text[start - 2].isalpha():
            continue
        around = _Around.read(text, start, end, is_year)
        if not around.is_name(digits):
            yield _number(text, _plain_digits(kind, digits), around)


def _written_in_words(text: str) -> Iterator[Number]:
    for match in _WORDS.finditer(text):
        around = _Around.read(text, match.start(), match.end(), is_year=False)
        if match["one"] and around.scale is None and around.unit != "%":
            continue
        value = 1 if match["one"] else NUMBER_WORDS[match["first"].lower()]
        ones = UNIT_WORDS[match["ones"].lower()] if match["ones"] else 0
        yield _number(text, str(value + ones if value >= 20 else value), around)


def _plain_digits(kind: str, digits: str) -> str:
    """The digits with a point before the decimals and nothing else."""
    if kind == "grouped":
        return digits.replace(",", "")
    if kind == "dotted":
        return digits.replace(".", "").replace(",", ".")
    return re.sub(r"[^0-9.]", "", digits.replace(",", "."))


@dataclass(frozen=True, slots=True)
class _Around:
    """What stands around the digits of a number."""

    begin: int
    end: int
    scale: int | None
    letter: str
    unit: str
    has_money: bool
    sign: Sign
    goes_on: bool

    @classmethod
    def read(cls, text: str, start: int, end: int, is_year: bool) -> _Around:
        left = _LEFT.search(text, max(0, start - _LEFT_LENGTH), start)
        right = (_RIGHT_OF_YEAR if is_year else _RIGHT).match(text, end)
        before, after = left.groupdict() if left else {}, right.groupdict() if right else {}
        money = before.get("money") or after.get("money")
        letter = after.get("letter") or ""
        scale = SCALE_WORDS[after["scale"].lower()] if after.get("scale") else None
        if after.get("basis"):
            scale = _BASIS_POINT
        elif letter:
            scale = SCALE_LETTERS[letter.lower()] + (scale or 0)
        stop = right.end() if right else end
        return cls(
            begin=left.start() if left else start,
            end=stop,
            scale=scale,
            letter=letter,
            unit=_unit(after, money),
            has_money=bool(money),
            sign=_sign(before, after),
            goes_on=stop == end and _GOES_ON.match(text, end) is not None,
        )

    def is_name(self, digits: str) -> bool:
        """7A, 10-K, 13th: a word goes on after the digits. 3M, 5G: one digit and one capital."""
        is_letter_name = len(digits) == 1 and len(self.letter) == 1 and self.letter.isupper() and not self.has_money
        return self.goes_on or is_letter_name


def _unit(after: dict[str, str | None], money: str | None) -> str:
    if after.get("points") or after.get("basis"):
        return "points"
    if after.get("percent"):
        return "%"
    if money:
        return CURRENCIES[money.lower()]
    if after.get("times"):
        return "x"
    if after.get("ordinal"):
        return "ordinal"
    measure = after.get("measure")
    return MEASURES[measure.lower()] if measure else ""


def _sign(before: dict[str, str | None], after: dict[str, str | None]) -> Sign:
    is_closed = any(after.get(name) for name in ("close", "close2", "close3"))
    if is_closed and (before.get("open") or before.get("open2")):
        return "()"
    sign = before.get("sign") or before.get("sign2")
    return "" if not sign else "+" if sign == "+" else "-"


def _number(text: str, digits: str, around: _Around) -> Number:
    value = Decimal(digits)
    exponent = value.as_tuple().exponent
    written = text[around.begin : around.end].strip()
    return Number(
        text=written if around.sign == "()" else written.strip("() "),
        start=around.begin,
        end=around.end,
        value=value,
        places=-exponent if isinstance(exponent, int) and exponent < 0 else 0,
        scale=around.scale,
        unit=around.unit,
        sign=around.sign,
        is_open=_OPEN.match(text, around.end) is not None,
        is_cell=_CELL.match(text, around.end) is not None,
    )


def _share_units(numbers: list[Number], text: str) -> list[Number]:
    """In "5-7 million", "12 to 14%", "$5-7" and "$5 and $7 million" both ends have the scale and the unit of one."""
    shared = list(numbers)
    for place in range(len(shared) - 2, -1, -1):
        first, second = shared[place], shared[place + 1]
        is_range = _RANGE_GAP.fullmatch(text, first.end, second.start)
        is_pair = first.places == second.places and _PAIR_GAP.fullmatch(text, first.end, second.start)
        if first.is_year or first.scale is not None or not (is_range or is_pair):
            continue
        if first.unit in CURRENCY_UNITS and not second.unit and not second.is_year and is_range:
            shared[place + 1] = second = replace(second, unit=first.unit)
        if not first.unit and (second.unit == "%" or second.scale):
            shared[place] = replace(first, unit=second.unit, scale=second.scale)
        elif first.unit in CURRENCY_UNITS and first.unit == second.unit:
            shared[place] = replace(first, scale=second.scale)
    return shared
