"""Numbers as people write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, get_args

Notation = Literal["plain", "1,234.5", "1.234,5"]
NOTATIONS: tuple[str, ...] = get_args(Notation)

_PLAIN = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_CODE = re.compile(r"[+-]?0[0-9][0-9.,eE]*")
_CURRENCY = re.compile(r"(?:US|CA|A|NZ|HK)?[$€£¥₹₽₩₺₫₴]|\b(?:USD|EUR|GBP|JPY|CHF|CNY|INR|SEK|NOK|DKK|PLN|CZK|HUF)\b")
# Between thousands stand commas or points, blanks of several widths, or apostrophes.
_BLANKS = "[ \u00a0\u2009\u202f'’]"
_GROUPED = {
    "1,234.5": re.compile(rf"[0-9]{{1,3}}(?:(?:,|{_BLANKS})[0-9]{{3}})+(?:\.[0-9]*)?|[0-9]*\.?[0-9]+|[0-9]+\."),
    "1.234,5": re.compile(rf"[0-9]{{1,3}}(?:(?:\.|{_BLANKS})[0-9]{{3}})+(?:,[0-9]*)?|[0-9]*,?[0-9]+|[0-9]+,"),
}


def as_number(text: str, notation: str) -> float | None:
    """Return the number that a text is in a notation, or None where it is none.

    ``"plain"`` is what programs write: digits, a point, an exponent.  The others also take thousands separators,
    currency and per cent signs, and negative numbers in parentheses, where the decimal sign is that of the example.

    Examples
    --------
    >>> as_number("$1,234.50", "plain"), as_number("$1,234.50", "1,234.5"), as_number("15 %", "1.234,5")
    (None, 1234.5, 0.15)
    """
    text = text.strip()
    if _PLAIN.fullmatch(text) and (notation != "1.234,5" or "." not in text):
        value = float(text)
        return value if abs(value) < float("inf") else None
    return None if notation == "plain" else _decorated(text, notation)


def _decorated(text: str, notation: str) -> float | None:
    sign, share = 1.0, 1.0
    text = _CURRENCY.sub("", text.replace("−", "-"), count=1).strip()
    if text.startswith("(") and text.endswith(")"):
        sign, text = -1.0, text[1:-1].strip()
    if text.endswith("%"):
        share, text = 0.01, text[:-1].strip()
    if text[:1] in ("+", "-"):
        sign, text = -sign if text[0] == "-" else sign, text[1:].strip()
    text = _CURRENCY.sub("", text, count=1).strip()
    if not _GROUPED[notation].fullmatch(text):
        return None
    point, group = (".", ",") if notation == "1,234.5" else (",", ".")
    value = float(re.sub(_BLANKS, "", text.replace(group, "")).replace(point, "."))
    return sign * share * value if value < float("inf") else None


def as_numbers(texts: Iterable[str], notation: str) -> dict[str, float]:
    """Return the numbers among different texts."""
    found = ((text, as_number(text, notation)) for text in texts)
    return {text: value for text, value in found if value is not None}


def are_codes(texts: Iterable[str]) -> bool:
    """Whether some number starts with a zero that no number needs, as postal codes do."""
    return any(_CODE.fullmatch(text.strip()) for text in texts)
