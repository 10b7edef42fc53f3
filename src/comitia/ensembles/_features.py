"""Features at the door: what is a frame, what are texts, and what is left to the members."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.utils import InputTags, get_tags
from sklearn.utils.validation import has_fit_parameter, validate_data

from comitia._errors import ComitiaError
from comitia._frames import is_frame


def nominal_columns(X: Any) -> list[str]:
    """Return the columns of a frame that do not hold numbers."""
    return [column for column in X.columns if np.asarray(X[column][:0]).dtype.kind not in "biuf"]


def input_tags(estimator: Any) -> InputTags:
    """Return what features an estimator takes; what is none is refused, in words, when it is fitted."""
    return get_tags(estimator).input_tags if hasattr(type(estimator), "__sklearn_tags__") else InputTags()


def needs_numbers(estimator: Any, X: Any) -> bool:
    """Whether X is a frame with columns that are no numbers, and an estimator of somebody else cannot take them.

    A pipeline, or what holds one, makes numbers of them itself; some trees take categories as pandas declares them.
    """
    nominal = nominal_columns(X) if is_frame(X) else []
    if not nominal or getattr(estimator, "reads_frames", False):
        return False
    given = estimator.get_params() if hasattr(estimator, "get_params") else {}
    if any(isinstance(one, Pipeline | ColumnTransformer) for one in (estimator, *given.values())):
        return False
    takes = bool({"categorical_features", "cat_features"} & set(given)) or has_fit_parameter(
        estimator, "categorical_feature"
    )
    return not (takes and all(hasattr(X[name].dtype, "categories") for name in nominal))


def as_texts(X: Any) -> NDArray[Any] | None:
    """Return X as an array if it is a list of texts, one an instance; None where it is something else."""
    if is_frame(X) or issparse(X):
        return None
    array = np.asarray(X)
    texts = array.dtype.kind in "OUS" and array.ndim == 1 and array.size and all(isinstance(x, str) for x in array)
    return array if texts else None


def encoded(encode: Callable[[Any], Any], X: Any) -> Any:
    """Return the columns of a frame as numbers; say where the options of an encoder go if there is no file."""
    try:
        return encode(X)
    except ComitiaError as error:
        names_a_way_out = "=" in str(error)
        if "source" in getattr(X, "attrs", {}) or not names_a_way_out:
            raise
        raise ComitiaError(
            f"{error} Such parameters stand in X.attrs['columns'], or in a comitia.columns.TableEncoder before the"
            " ensemble."
        ) from None


def with_names(X: Any) -> Any:
    """Return a frame whose columns are called by texts: a pandas frame made of an array has numbers."""
    if all(isinstance(name, str) for name in X.columns):
        return X
    return X.set_axis([str(name) for name in X.columns], axis=1)


def pass_features(ensemble: Any, X: Any, fit: bool) -> Any:
    """Check numeric arrays; leave frames, texts and other things to the members, which know what to do with them."""
    if is_frame(X):
        return validate_data(ensemble, X, reset=fit, skip_check_array=True)
    texts = as_texts(X)
    if texts is not None:
        return texts
    tags = ensemble.__sklearn_tags__().input_tags
    return validate_data(
        ensemble,
        X,
        reset=fit,
        accept_sparse=("csr", "csc") if tags.sparse else False,
        ensure_all_finite="allow-nan" if tags.allow_nan else True,
        ensure_min_samples=1 if fit else 0,
    )


def number_of_rows(X: Any) -> int:
    """Return the number of instances of an array, a frame or a list."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)
