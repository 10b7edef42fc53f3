"""What to say about a name that is not known."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


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
    return f"unknown {kind} {name!r}{guess} There are: {', '.join(names)}."
