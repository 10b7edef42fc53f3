"""Labels in words: which cell of a column says that a label holds."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comitia._errors import ComitiaError
from comitia._labels import LabelArray

_YES_AND_NO = (("0", "1"), ("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("x",))
_KNOWN = {word for pair in _YES_AND_NO for word in pair}


def word_for_yes(words: Collection[str]) -> str | None:
    """Return which of the words of a column, in small letters, says that a label holds; None where that is not known.

    Examples
    --------
    >>> word_for_yes({"yes", "no"}), word_for_yes({"x"}), word_for_yes({"ja", "nein"})
    ('yes', 'x', None)
    """
    return next((pair[-1] for pair in _YES_AND_NO if words and set(words) <= set(pair)), None)


def cell_text(cell: Any) -> str:
    """Return a cell of a label's column as the text that it would be in a file; a missing one is empty."""
    if cell is None or (isinstance(cell, float) and cell != cell) or str(cell) == "<NA>":
        return ""
    if isinstance(cell, bool | np.bool_):
        return "true" if cell else "false"
    whole = isinstance(cell, float | np.floating) and float(cell).is_integer()
    if whole or isinstance(cell, int | np.integer):
        return str(int(cell))
    return str(cell).strip()


def small_word(cell: Any) -> str:
    """Return a cell as words are compared: small and capital letters are alike."""
    return cell_text(cell).casefold()


def yes_among(words: Sequence[str], positive: str | None = None) -> str | None:
    """Return the word of a column that says that its label holds; None where that is not known.

    Parameters
    ----------
    words : sequence of str
        The cells of the column, as `small_word` gives them.
    positive : str, optional
        The word for yes, of which all others are the opposite.  A column that has it nowhere and speaks for itself, as
        x and nothing beside columns of ja and nein, is taken at its own words; a number is no such word, for ratings
        that leave one number out are no labels.

    Examples
    --------
    >>> yes_among(["ja", "nein", ""], "Ja"), yes_among(["x", "", "x"], "Ja"), yes_among(["0"], "4")
    ('ja', 'x', '4')
    """
    found = set(words) - {""}
    known = word_for_yes(found)
    if positive is not None:
        meant = small_word(positive)
        if meant in found or known is None or meant in _KNOWN or _is_number(meant):
            return meant
    return known if "" not in words or found == {known} else None


def first_unclear(words: Sequence[str]) -> int:
    """Return the place of the first cell of a column for which `yes_among` knows no word for yes."""
    known = word_for_yes(set(words) - {""})
    return next(i for i, word in enumerate(words) if (word not in ("0", "1") if known is None else not word))


def labels_in_words(columns: NDArray[Any], name: str, positive: str | None = None) -> LabelArray:
    """Return columns of yes and no, y and n, true and false, x and nothing, zeros and ones as int8, (m, K).

    Examples
    --------
    >>> labels_in_words(np.array([["yes", "x"], ["no", None]], dtype=object), "y")
    array([[1, 1],
           [0, 0]], dtype=int8)
    """
    Y = np.zeros(columns.shape, dtype=np.int8)
    met = positive is None
    for k in range(columns.shape[1]):
        words = [small_word(cell) for cell in columns[:, k]]
        yes = yes_among(words, positive)
        if words and yes is None:
            wrong = first_unclear(words)
            what = f"{columns[wrong, k]!r} in row {wrong}, column {k}"
            raise ComitiaError(f"{name} must hold 0 and 1, or words for no and yes; got {what}.")
        Y[:, k] = [word == yes for word in words]
        met = met or small_word(positive) in words
    if not met:
        raise ComitiaError(f"{name} must hold where a cell is {positive!r}; got none.")
    return Y


def _is_number(word: str) -> bool:
    return word.lstrip("+-").replace(".", "", 1).isdecimal()
