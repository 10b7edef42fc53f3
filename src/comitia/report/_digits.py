"""Handwritten digits and the displays that aggregations light for them, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from comitia._errors import ComitiaError


@dataclass(frozen=True, eq=False)
class SevenSegments:
    """Handwritten digits, the segments that should light and those that each aggregation lights.

    Attributes
    ----------
    images : array-like of shape (n, 8, 8)
        Handwritten digits; larger is darker.
    truth : array-like of shape (n, 7)
        Segments a to g that should light: a top, b top right, c bottom right, d bottom, e bottom left, f top left,
        g middle.
    labelings : mapping of str to array-like of shape (n, 7)
        For each aggregation the segments it lights.
    loss : str
        The loss that the aggregations were asked to minimise; empty when it is not known.

    Examples
    --------
    >>> import numpy as np
    >>> from comitia.report import SevenSegments
    >>> one = [[0, 1, 1, 0, 0, 0, 0]]
    >>> SevenSegments(np.zeros((1, 8, 8)), one, {"gmv": [[0, 1, 0, 0, 0, 0, 0]], "ctp": one}).loss
    ''
    """

    images: ArrayLike
    truth: ArrayLike
    labelings: Mapping[str, ArrayLike]
    loss: str = ""

    def __post_init__(self) -> None:
        n = len(np.asarray(self.images))
        if np.shape(self.images) != (n, 8, 8) or n == 0:
            raise ComitiaError(f"images must have shape (n, 8, 8), n of 1 or more; got shape {np.shape(self.images)}.")
        if not self.labelings:
            raise ComitiaError("labelings must be of at least one aggregation; got none.")
        for name, value in {"truth": self.truth, **self.labelings}.items():
            array = np.asarray(value)
            if array.shape != (n, 7) or not np.isin(array, (0, 1)).all():
                raise ComitiaError(f"{name} must be zeros and ones of shape ({n}, 7); got shape {array.shape}.")

    def most_disputed(self, count: int) -> SevenSegments:
        """Keep the digits on which the aggregations' displays differ most, in their order."""
        lit = np.array([np.asarray(value) for value in self.labelings.values()])
        share = lit.mean(axis=0)
        doubt = (share * (1 - share)).sum(axis=1)
        kept = np.sort(np.argsort(-doubt, kind="stable")[:count])
        return SevenSegments(
            np.asarray(self.images)[kept],
            np.asarray(self.truth)[kept],
            {name: np.asarray(value)[kept] for name, value in self.labelings.items()},
            self.loss,
        )

    def as_lists(self) -> dict[str, Any]:
        """Give the digits as plain lists, for JSON: the arguments with which they can be made again."""
        return {
            "images": np.asarray(self.images).tolist(),
            "truth": np.asarray(self.truth).tolist(),
            "labelings": {name: np.asarray(value).tolist() for name, value in self.labelings.items()},
            "loss": self.loss,
        }
