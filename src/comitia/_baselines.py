"""Answers that learn nothing from the features: what any classifier has to beat."""

from __future__ import annotations

import numpy as np

from comitia._labels import LabelArray, distinct_rows

BASELINES = {
    "nothing": "no label at all",
    "all": "every label",
    "frequent": "the most frequent set",
    "majority": "each label's majority",
}
"""The baselines by name, and what each of them answers every instance with."""


def constant_answers(Y: LabelArray) -> dict[str, LabelArray]:
    """Return what each baseline answers every instance with, (K,), after labels of shape (n, K) were seen.

    Examples
    --------
    >>> Y = np.array([[1, 0, 1], [1, 0, 1], [0, 0, 1], [0, 1, 1], [1, 1, 0]], dtype=np.int8)
    >>> for name, answer in constant_answers(Y).items():
    ...     print(BASELINES[name], answer)
    no label at all [0 0 0]
    every label [1 1 1]
    the most frequent set [1 0 1]
    each label's majority [1 0 1]
    """
    sets, place = distinct_rows(Y)
    answers = {
        "nothing": np.zeros(Y.shape[1], dtype=np.int8),
        "all": np.ones(Y.shape[1], dtype=np.int8),
        "frequent": sets[np.bincount(place).argmax()],
        "majority": (2 * Y.sum(axis=0, dtype=np.int64) > len(Y)).astype(np.int8),
    }
    return {name: answers[name] for name in BASELINES}
