"""Features at the door: frames with nominal columns become numbers; identical rows are found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from comitia._errors import ComitiaError
from comitia._labels import FloatArray


def is_frame(X: Any) -> bool:
    """Whether X is a pandas or polars frame."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def nominal_columns(X: Any) -> list[str]:
    """Return the columns of a frame that do not hold numbers."""
    return [column for column in X.columns if np.asarray(X[column][:0]).dtype.kind not in "biuf"]


@dataclass(frozen=True)
class NominalEncoder:
    """How a frame becomes numbers: first its nominal columns, then the others as they are.

    One-hot columns suit linear members, which would take an order for real; trees split codes well and stay small.  It
    is plain data, so that a model file holds nothing of it but names and values.

    Parameters
    ----------
    kind : {"one-hot", "ordinal"}
        A column of zeros and ones for each value, or one column with the number of the value; NaN if it is missing.
    names : tuple of str
        The columns of the frame.
    columns : tuple of str
        Those that are nominal.
    categories : tuple of tuples
        The values that each of them may have.
    """

    kind: Literal["one-hot", "ordinal"]
    names: tuple[str, ...]
    columns: tuple[str, ...]
    categories: tuple[tuple[Any, ...], ...]

    @classmethod
    def of(cls, X: Any, columns: list[str], kind: Literal["one-hot", "ordinal"]) -> NominalEncoder:
        """Return the encoder of a frame: a categorical column has the values its type declares, others those it has."""
        return cls(kind, tuple(X.columns), tuple(columns), tuple(tuple(_values(X[column])) for column in columns))

    def __post_init__(self) -> None:
        if self.kind not in ("one-hot", "ordinal"):
            raise ComitiaError(f"kind must be 'one-hot' or 'ordinal'; got {self.kind!r}.")
        parts = (self.names, self.columns, self.categories, *self.categories)
        if not all(isinstance(part, tuple) for part in parts) or len(self.columns) != len(self.categories):
            raise ComitiaError("an encoder must have names, columns and the values of each column as tuples.")
        if not set(self.columns) <= set(self.names) or any(
            len(set(v)) < len(v) for v in (self.names, *self.categories)
        ):
            raise ComitiaError("an encoder must know each column and each value of it once.")

    def transform(self, X: Any) -> FloatArray:
        """Return the frame as numbers, (n, d'); a value that was not there before is refused."""
        blocks = [
            self._codes(X[column], column, values) for column, values in zip(self.columns, self.categories, strict=True)
        ]
        others = [np.asarray(X[name], dtype=np.float64)[:, None] for name in self.names if name not in self.columns]
        return np.hstack([*blocks, *others])

    def _codes(self, column: Any, name: str, values: tuple[Any, ...]) -> FloatArray:
        place = {value: number for number, value in enumerate(values)}
        given = np.asarray(column, dtype=object)
        codes = np.array([place.get(value, -1) for value in given], dtype=np.intp)
        missing = np.array(
            [code < 0 and is_missing(value) for code, value in zip(codes, given, strict=True)], dtype=bool
        )
        strange = np.flatnonzero((codes < 0) & ~(missing if self.kind == "ordinal" else np.zeros_like(missing)))
        if strange.size:
            raise ComitiaError(
                f"X must hold values in {name!r} that were there in fit; got {given[strange[0]]!r}, and there are:"
                f" {', '.join(map(repr, values[:12]))}{' ...' if len(values) > 12 else ''}."
            )
        if self.kind == "ordinal":
            return np.asarray(np.where(missing, np.nan, codes)[:, None])
        return np.asarray(codes[:, None] == np.arange(len(values)), dtype=np.float64)


def is_missing(value: Any) -> bool:
    """Whether a value of a column stands for none: None, NaN or a NaN of another package."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def _values(column: Any) -> NDArray[Any]:
    declared = getattr(column.dtype, "categories", None)
    if isinstance(declared, Iterable):
        return np.asarray(list(declared), dtype=object)
    return np.asarray(sorted({value for value in column if not is_missing(value)}), dtype=object)


def pass_features(ensemble: Any, X: Any, fit: bool) -> Any:
    """Check numeric arrays; leave frames, texts and other things to the members, which know what to do with them."""
    if is_frame(X):
        return validate_data(ensemble, X, reset=fit, skip_check_array=True)
    if not issparse(X):
        array = np.asarray(X)
        if array.dtype.kind in "OUS" and array.ndim == 1 and array.size and all(isinstance(x, str) for x in array):
            return array
    tags = ensemble.__sklearn_tags__().input_tags
    return validate_data(
        ensemble,
        X,
        reset=fit,
        accept_sparse=("csr", "csc") if tags.sparse else False,
        ensure_all_finite="allow-nan" if tags.allow_nan else True,
        ensure_min_samples=1 if fit else 0,
    )
