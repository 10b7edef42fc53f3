"""What was learnt of a column, as plain data: the values of a category, the words of a text, the middle of numbers.

Model files hold these, so each checks what it is made of: nothing that a file says is followed unseen.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfVectorizer

from comitia._arrays import check_finite, check_form
from comitia._errors import ComitiaError
from comitia._labels import FloatArray, IntArray
from comitia._threads import over_slices
from comitia.columns._cells import Cells
from comitia.columns._kinds import FEW_VALUES

RARE = "(rare)"
"""Stands for the values of a category that are too rare to be told apart."""


@dataclass(frozen=True)
class Categories:
    """The values of a category.

    Parameters
    ----------
    encoding : {"one-hot", "ordinal"}
        A column of zeros and ones for each value, or one column with the number of the value.
    values : tuple of str and None
        The values that are told apart; None is a missing one, ``"(rare)"`` all rare ones.
    rare : tuple of str
        The values that are rare.
    """

    encoding: Literal["one-hot", "ordinal"]
    values: tuple[str | None, ...]
    rare: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.encoding not in ("one-hot", "ordinal"):
            raise ComitiaError(f"encoding must be 'one-hot' or 'ordinal'; got {self.encoding!r}.")
        if not isinstance(self.values, tuple) or not all(value is None or type(value) is str for value in self.values):
            raise ComitiaError("values of a category must be a tuple of texts, None for a missing one.")
        if not isinstance(self.rare, tuple) or not all(type(value) is str for value in self.rare):
            raise ComitiaError("rare values of a category must be a tuple of texts.")
        if not self.values or len(set(self.values)) < len(self.values) or (self.rare and RARE not in self.values):
            raise ComitiaError("values of a category must be different ones, with a place for rare ones.")

    @classmethod
    def of(
        cls,
        cells: Cells,
        encoding: Literal["one-hot", "ordinal"],
        min_frequency: int | None,
        max_categories: int | None,
    ) -> Categories:
        """Return the values of a column.

        A type that declares a few values has a place for each of them, seen or not, in its order.
        """
        counts = Counter(text for text in cells.texts() if text is not None)
        values = sorted(counts) if cells.declared is None else list(cells.declared)
        if len(values) > FEW_VALUES:
            values = [value for value in values if counts[value]]
        least = min_frequency or (5 if len(counts) > FEW_VALUES else 1)
        rare = {value for value, count in counts.items() if count < least}
        if max_categories is not None and len(counts) - len(rare) > max_categories:
            # The most frequent stay, of equally frequent ones those that come first.
            by_frequency = sorted((value for value in values if value not in rare), key=lambda value: -counts[value])
            rare.update(by_frequency[max_categories:])
        kept: list[str | None] = [value for value in values if value not in rare and value != RARE]
        kept += [RARE] if rare or RARE in values else []
        kept += [None] if counts.total() < len(cells.values) else []
        return cls(encoding, tuple(kept), tuple(sorted(rare)))

    @property
    def width(self) -> int:
        """Number of columns that stand for it."""
        return len(self.values) if self.encoding == "one-hot" else 1

    def encode(self, cells: Cells) -> Any:
        """Return the columns that stand for the values, (n, width); one that was not seen before is none of them."""
        places: dict[str | None, int] = {value: place for place, value in enumerate(self.values)}
        places.update(dict.fromkeys(self.rare, places.get(RARE, -1)))
        codes = np.array([places.get(text, -1) for text in cells.texts()], dtype=np.intp)
        known = codes >= 0
        if self.encoding == "ordinal":
            return np.where(known, codes, np.nan)[:, None]
        starts = np.concatenate([[0], np.cumsum(known)])
        return csr_array((np.ones(starts[-1]), codes[known], starts), shape=(len(codes), len(self.values)))


@dataclass(frozen=True)
class Words:
    """The words of a text and their weights: scikit-learn's TF-IDF, with logarithms of counts.

    Parameters
    ----------
    text : str
        The words, sorted, with blanks between them.
    idf : array, shape (words,)
        The weight of each.
    """

    text: str
    idf: FloatArray

    def __post_init__(self) -> None:
        if type(self.text) is not str or len(set(self.words)) < len(self.words):
            raise ComitiaError("words of a text must be different ones, with blanks between them.")
        check_form("idf", self.idf, np.float64, (len(self.words),))
        check_finite("idf", self.idf)

    @classmethod
    def of(cls, cells: Cells, max_words: int | None) -> Words | None:
        """Return the words of a column, or None where there are none.

        Words of one row only, such as numbers and names, and words of all rows are left out where there are others.
        Nothing is learnt from either, and as a row's weights share a length of one, both make known rows unlike new
        ones: the first take most of it, and in new rows are not known; the second vary with what stands beside them.
        """
        analyse, documents = TfidfVectorizer().build_analyzer(), _documents(cells)
        words = [set(analyse(document)) for document in documents]
        rows, most = Counter(word for found in words for word in found), sum(map(bool, words)) - 1
        if not rows:
            return None
        bounds = {"min_df": 2, "max_df": most} if any(2 <= count <= most for count in rows.values()) else {}
        vectorizer = TfidfVectorizer(sublinear_tf=True, max_features=max_words, **bounds).fit(documents)
        return cls(" ".join(vectorizer.get_feature_names_out()), np.array(vectorizer.idf_, dtype=np.float64))

    @property
    def words(self) -> list[str]:
        """The words, one by one."""
        return self.text.split(" ")

    @property
    def width(self) -> int:
        """Number of columns that stand for it."""
        return len(self.idf)

    def encode(self, cells: Cells) -> Any:
        """Return the weights of the words in each text, (n, words)."""
        vectorizer = TfidfVectorizer(sublinear_tf=True, vocabulary=self.words)
        vectorizer.idf_ = self.idf
        return csr_array(vectorizer.transform(_documents(cells)))


@dataclass(frozen=True)
class Medians:
    """What stands in for missing numbers: the median of their column, and a column more that says where.

    Parameters
    ----------
    medians : array, shape (d,)
        Zero for a column in which all are missing.
    told : array of int
        The columns in which some were missing; each has another that tells so.

    Examples
    --------
    >>> Medians.of(np.array([[1.0, np.nan], [3.0, 5.0]])).encode(np.array([[np.nan, np.nan]]))
    array([[2., 5., 1.]])
    """

    medians: FloatArray
    told: IntArray

    def __post_init__(self) -> None:
        check_form("medians", self.medians, np.float64, (None,))
        check_finite("medians", self.medians)
        check_form("told", self.told, np.intp, (None,))
        if len(self.told) and not (self.told.min() >= 0 and self.told.max() < len(self.medians)):
            raise ComitiaError(f"told must hold columns out of {len(self.medians)}; got {self.told.tolist()}.")

    @classmethod
    def of(cls, X: FloatArray) -> Medians:
        """Return what stands in for missing numbers of X, (n, d)."""
        missing = np.isnan(X)
        told = np.flatnonzero(missing.any(axis=0))
        medians = np.empty(X.shape[1])

        def fill(columns: slice) -> None:
            medians[columns] = np.median(X[:, columns], axis=0)

        over_slices(fill, X.shape[1], at_least=4)
        for j in told:
            known = X[~missing[:, j], j]
            medians[j] = np.median(known) if len(known) else 0.0
        # Infinite numbers are refused elsewhere, in words.
        return cls(np.where(np.isfinite(medians), medians, 0.0), told.astype(np.intp))

    @property
    def width(self) -> int:
        """Number of columns of what `encode` returns."""
        return len(self.medians) + len(self.told)

    def encode(self, X: FloatArray) -> FloatArray:
        """Return numbers without missing ones, (n, width)."""
        if X.shape[1] != len(self.medians):
            raise ComitiaError(f"X must have {len(self.medians)} columns of numbers; got {X.shape[1]}.")
        missing = np.isnan(X)
        if not missing.any() and not len(self.told):
            return X
        return np.hstack([np.where(missing, self.medians, X), missing[:, self.told]])


def _documents(cells: Cells) -> list[str]:
    return [text or "" for text in cells.texts()]
