"""scikit-learn's encoders for one column of categories or of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from comitia.columns._cells import Cells
from comitia.columns._kinds import FEW_VALUES

RARE = "(rare)"
"""Stands for the values of a category that are too rare to be told apart."""


def fit_category(
    cells: Cells, encoding: str, min_frequency: int | None, max_categories: int | None
) -> tuple[OneHotEncoder | OrdinalEncoder, list[str]]:
    """Return an encoder of the values of a category, and those that share the place of the rare ones.

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
    return _encoder(kept, encoding), sorted(rare)


def _encoder(kept: list[str | None], encoding: str) -> OneHotEncoder | OrdinalEncoder:
    categories = [np.array(kept, dtype=object)]
    if encoding == "one-hot":
        encoder = OneHotEncoder(categories=categories, handle_unknown="ignore")
    else:
        encoder = OrdinalEncoder(
            categories=categories,
            handle_unknown="use_encoded_value",
            unknown_value=np.nan,
        )
    return encoder.fit(np.array([kept[:1]], dtype=object))


def encode_category(encoder: OneHotEncoder | OrdinalEncoder, rare: Collection[str], cells: Cells) -> Any:
    """Return the columns that stand for the values of a category."""
    grouped = set(rare)
    texts = [RARE if text in grouped else text for text in cells.texts()]
    codes = encoder.transform(np.array(texts, dtype=object)[:, None])
    return csr_array(codes) if issparse(codes) else codes


def fit_text(cells: Cells, max_words: int | None) -> TfidfVectorizer | None:
    """Return the vectorizer of a text, or None where there is no word in it."""
    vectorizer = TfidfVectorizer(sublinear_tf=True, max_features=max_words)
    documents = _documents(cells)
    analyse = vectorizer.build_analyzer()
    return vectorizer.fit(documents) if any(analyse(document) for document in documents) else None


def encode_text(vectorizer: TfidfVectorizer, cells: Cells) -> Any:
    """Return the weights of the words of a text."""
    return csr_array(vectorizer.transform(_documents(cells)))


def _documents(cells: Cells) -> list[str]:
    return [text or "" for text in cells.texts()]
