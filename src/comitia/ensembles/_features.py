"""Features at the door: frames with nominal columns become numbers; identical rows are found."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder
from sklearn.utils.validation import validate_data

ENCODERS = (ColumnTransformer, OneHotEncoder, OrdinalEncoder, FunctionTransformer)
"""What the encoder of nominal columns is made of; columns that pass through do so by a FunctionTransformer."""


def is_frame(X: Any) -> bool:
    """Whether X is a pandas or polars frame."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def nominal_columns(X: Any) -> list[str]:
    """Return the columns of a frame that do not hold numbers."""
    return [column for column in X.columns if np.asarray(X[column][:0]).dtype.kind not in "biuf"]


def nominal_encoder(X: Any, columns: list[str], kind: Literal["one-hot", "ordinal"]) -> ColumnTransformer:
    """Return a fitted encoder of a frame's nominal columns; the others pass through.

    One-hot columns suit linear members, which would take an order for real; trees split codes well and stay small.
    A categorical column has the values its type declares, whether or not they occur.
    """
    categories = [_values(X[column]) for column in columns]
    encoder = (
        OneHotEncoder(categories=categories, sparse_output=False)
        if kind == "one-hot"
        else OrdinalEncoder(categories=categories, encoded_missing_value=np.nan)
    )
    return ColumnTransformer([("nominal", encoder, columns)], remainder="passthrough", sparse_threshold=0).fit(X)


def _values(column: Any) -> NDArray[Any]:
    declared = getattr(column.dtype, "categories", None)
    if isinstance(declared, Iterable):
        return np.asarray(list(declared), dtype=object)
    return np.asarray(sorted({value for value in column if value is not None and value == value}), dtype=object)


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
