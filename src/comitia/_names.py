"""Names: what to say about one that is not known, and how those of others are shown and written."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, TypeVar

from comitia._errors import ComitiaError

Value = TypeVar("Value")

# Control characters, and those that turn the direction of the text after them.
_HIDDEN = re.compile("[\x00-\x08\n-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """Say that a name is not known, which one may have been meant, and which there are.

    Examples
    --------
    >>> unknown("loss", "hamnig", ["hamming", "f1"])
    "unknown loss 'hamnig': did you mean 'hamming'? There are: hamming, f1."
    >>> unknown("loss", "auc", ["hamming", "f1"])
    "unknown loss 'auc'. There are: hamming, f1."
    """
    names = list(known)
    close = get_close_matches(str(name).lower(), names, n=1, cutoff=0.5)
    guess = f": did you mean {close[0]!r}?" if close else "."
    return f"unknown {kind} {name!r}{guess} There are: {enumerated(names, most=40)}."


def enumerated(names: Iterable[str], most: int | None = None) -> str:
    """Write names with commas between them, one that holds a comma in quotes, as lists of names are also read.

    Examples
    --------
    >>> enumerated(["calm", "loud, fast", "sad"], most=2)
    'calm, "loud, fast", ... (3 in all)'
    """
    listed = [f'"{name}"' if "," in name else name for name in names]
    more = [] if most is None or len(listed) <= most else [f"... ({len(listed)} in all)"]
    return ", ".join([*listed[:most], *more])


def as_known(name: str, known: Collection[str], titles: Mapping[str, str] | None = None) -> str:
    """Return which of the known names is meant by one in other letters, or by a title as it is printed.

    The word loss may stand behind either, or not.
    A name that means none of them comes back as it is.

    Examples
    --------
    >>> as_known("PTC-mbr", ["gmv", "ptc-mbr"]), as_known("F1-measure", ["f1"], {"f1": "F1-measure"})
    ('ptc-mbr', 'f1')
    >>> as_known("f1 loss", ["f1"]), as_known("Subset 0/1", ["subset01"], {"subset01": "Subset 0/1 loss"})
    ('f1', 'subset01')
    >>> as_known("mine", ["gmv"])
    'mine'
    """
    if not isinstance(name, str) or name in known:
        return name
    small = name.casefold().removesuffix(" loss")
    meant = {title.casefold().removesuffix(" loss"): one for one, title in (titles or {}).items() if one in known}
    return {**meant, **{one.casefold(): one for one in known}}.get(small, name)


def looked_up(
    kind: str, name: object, known: Mapping[str, Value], titles: Callable[[Value], str] | None = None
) -> Value:
    """Return what a name stands for, also in other letters or as it is printed, or say which names there are.

    Examples
    --------
    >>> looked_up("pool", "Mean", {"mean": 1, "median": 2})
    1
    """
    printed = None if titles is None else {one: titles(value) for one, value in known.items()}
    meant = as_known(name, known, printed) if isinstance(name, str) else ""
    if meant not in known:
        raise ComitiaError(unknown(kind, name, known))
    return known[meant]


def printable(name: object) -> str:
    r"""Return a name in which line breaks are blanks and every other control character shows as its escape.

    A name from a file can hold what moves the cursor, changes the colour or retitles the window of whoever prints it.

    Examples
    --------
    >>> printable("width\n(cm)")
    'width (cm)'
    >>> print(printable("red\x1b[31m"))
    red\x1b[31m
    """
    text = str(name)
    if not _HIDDEN.search(text):
        return text
    return _HIDDEN.sub(_shown, text.replace("\r\n", " "))


def _shown(found: re.Match[str]) -> str:
    code = ord(found[0])
    if found[0] in "\n\v\f\r\u2028\u2029":
        return " "
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def shown(text: str) -> str:
    r"""Return a text of several lines as a terminal may show it, whatever names stand in it.

    Examples
    --------
    >>> print(shown("Results on red\x1b[31m:\n  none"))
    Results on red\x1b[31m:
      none
    """
    return "\n".join(printable(line) for line in text.split("\n"))


def in_csv(name: str) -> str:
    """Return a name as a spreadsheet takes it for a text: one that could begin a formula gets an apostrophe in front.

    Those are the names that begin with ``=``, ``+``, ``-``, ``@``, a tab or a line break.  A carriage return becomes a
    line feed: Python before 3.13 writes it without quotes, and what follows would be a cell.

    Examples
    --------
    >>> in_csv("=1+1"), in_csv("calm")
    ("'=1+1", 'calm')
    """
    name = name.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{name}" if name.startswith(("=", "+", "-", "@", "\t", "\n")) else name


def as_names(option: str, given: Any) -> list[str]:
    """Return one text, or several, as a list of them."""
    try:
        found = [given] if isinstance(given, str) else list(given)
    except TypeError:
        found = [given]
    if not all(isinstance(one, str) for one in found):
        raise ComitiaError(f"{option} must be a text or a list of texts; got {given!r}.")
    return found
