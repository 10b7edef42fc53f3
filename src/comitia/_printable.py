"""Names from outside, fit for a terminal, a table and a page."""

from __future__ import annotations

import re

# Control characters, and those that turn the direction of the text after them.
_HIDDEN = re.compile("[\x00-\x08\n-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(name: str) -> str:
    r"""Return a name in which line breaks are blanks and every other control character shows as its escape.

    A name from a file can hold what moves the cursor, changes the colour or retitles the window of whoever prints it.

    Examples
    --------
    >>> printable("width\n(cm)")
    'width (cm)'
    >>> print(printable("red\x1b[31m"))
    red\x1b[31m
    """
    if not _HIDDEN.search(name):
        return name
    return _HIDDEN.sub(_shown, name.replace("\r\n", " "))


def _shown(found: re.Match[str]) -> str:
    code = ord(found[0])
    if found[0] in "\n\v\f\r\u2028\u2029":
        return " "
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
