"""Dates of ARFF files, whose format is one of Java's ``SimpleDateFormat``."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass

from comitia._errors import ComitiaError

_PIECES = re.compile(r"'((?:[^']|'')*+)'|([A-Za-z])\2*+|([^A-Za-z']+)")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_EPOCH = datetime.datetime(1970, 1, 1)


@dataclass(frozen=True)
class DateFormat:
    """One date format: text in, milliseconds since the start of 1970 out.

    Of the pattern letters those are known that place an instant without a time zone, a locale or a week: years (``y``),
    months (``M``, also as the first three letters of their English names), days (``d``), hours (``H``), minutes
    (``m``), seconds (``s``) and milliseconds (``S``).

    Examples
    --------
    >>> DateFormat.parse("yyyy-MM-dd'T'HH:mm:ss").milliseconds("1970-01-02T00:00:01")
    86401000
    """

    pattern: str
    expression: re.Pattern[str]

    @classmethod
    def parse(cls, pattern: str) -> DateFormat:
        """Read a Java pattern; a ValueError says what it has that is not known."""
        expression, position = "", 0
        fields: set[str] = set()
        while position < len(pattern):
            piece = _PIECES.match(pattern, position)
            if piece is None:
                raise ComitiaError(f"{pattern!r}, with a quote that is never closed")
            letter = piece[2]
            if letter is None:
                expression += re.escape(piece[3] or piece[1].replace("''", "'") or "'")
            elif letter not in "yMdHmsS" or letter in fields:
                raise ComitiaError(f"{pattern!r}, in which {piece[0]!r} is not known or comes twice")
            else:
                expression += _field(letter, len(piece[0]))
            fields.add(letter or "")
            position = piece.end()
        if "y" not in fields:
            raise ComitiaError(f"{pattern!r}, which has no year")
        return cls(pattern, re.compile(expression, re.IGNORECASE | re.ASCII))

    def milliseconds(self, text: str) -> int:
        """The date that ``text`` is; a ValueError where it is none."""
        found = self.expression.fullmatch(text)
        if found is None:
            raise ComitiaError(f"{text!r} is not written as {self.pattern!r}")
        parts = found.groupdict()
        year, month = int(parts["y"]), parts.get("M", "1")
        if len(parts["y"]) == 2:
            # As POSIX reads them; Java's window moves with the day of reading.
            year += 2000 if year < 69 else 1900
        date = datetime.datetime(
            year,
            int(month) if month.isdecimal() else _MONTHS.index(month.lower()) + 1,
            int(parts.get("d", 1)),
            int(parts.get("H", 0)),
            int(parts.get("m", 0)),
            int(parts.get("s", 0)),
            1000 * int(parts.get("S", 0)),
        )
        return (date - _EPOCH) // datetime.timedelta(milliseconds=1)


def _field(letter: str, width: int) -> str:
    if letter == "M" and width >= 3:
        return f"(?P<M>{'|'.join(_MONTHS)})"
    digits = {"y": "2" if width == 2 else "4", "S": "1,3"}.get(letter, "1,2")
    return f"(?P<{letter}>[0-9]{{{digits}}})"
