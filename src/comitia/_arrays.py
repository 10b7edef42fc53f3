"""Arrays that compiled loops follow without looking again: what they must be before they get there."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from comitia._errors import ComitiaError

HEAVIEST = 1e15
"""What weights of instances may add up to: counts stay exact in double precision, and no product of them overflows."""


def check_form(name: str, array: Any, dtype: DTypeLike, shape: Sequence[int | None]) -> None:
    """Raise unless ``array`` is a NumPy array of exactly this type and shape; None stands for any length.

    Examples
    --------
    >>> import numpy as np
    >>> check_form("starts", np.zeros(3, np.int64), np.int64, (None,))
    >>> check_form("starts", np.zeros(3, np.uint64), np.int64, (None,))
    Traceback (most recent call last):
      ...
    comitia._errors.ComitiaError: starts must be an array of int64 of shape (any,); got uint64 of shape (3,).
    """
    expected = np.dtype(dtype)
    fits = (
        isinstance(array, np.ndarray)
        and array.dtype == expected
        and array.ndim == len(shape)
        and all(length in (None, found) for length, found in zip(shape, array.shape, strict=True))
    )
    if not fits:
        what = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        wanted = ", ".join("any" if length is None else str(length) for length in shape)
        wanted = f"({wanted},)" if len(shape) == 1 else f"({wanted})"
        raise ComitiaError(f"{name} must be an array of {expected} of shape {wanted}; got {what}.")


def check_finite(name: str, array: Any, or_infinite: bool = False) -> None:
    """Raise unless all entries are numbers, and finite ones unless they may be infinite."""
    wrong = np.isnan(array) if or_infinite else ~np.isfinite(array)
    if wrong.any():
        kind = "numbers" if or_infinite else "finite numbers"
        raise ComitiaError(f"{name} must hold {kind}; got {array[wrong][0]}.")


def check_sparse(name: str, matrix: Any) -> None:
    """Raise unless the inside of a CSR matrix is within its bounds, of which SciPy looks at the ends alone.

    Costs a pass over the indices.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> check_sparse("X", csr_array(([1.0], [7], [0, 1]), shape=(1, 2)))
    Traceback (most recent call last):
      ...
    comitia._errors.ComitiaError: X must be a sparse matrix whose indices exist: indices must be < 2
    """
    try:
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise ComitiaError(f"{name} must be a sparse matrix whose indices exist: {error}") from None


def as_count(name: str, value: Any, least: int = 0, most: int | None = None) -> int:
    """Return an integer, of Python or of NumPy, as one of Python; raise where it is none, too small or too large.

    Examples
    --------
    >>> as_count("folds", 10**100, 2, 50)
    Traceback (most recent call last):
      ...
    comitia._errors.ComitiaError: folds must be an integer, at least 2 and at most 50; got 100000000000000000000....
    """
    if not is_count(value, least) or (most is not None and value > most):
        limits = f"at least {least}" + (f" and at most {most}" if most is not None else "")
        text = repr(value)
        raise ComitiaError(f"{name} must be an integer, {limits}; got {text if len(text) < 24 else text[:21] + '...'}.")
    return int(value)


def as_limit(name: str, value: Any, least: int) -> int:
    """Return an integer for compiled loops that count up to it: they never get farther than 2³¹ − 1.

    Examples
    --------
    >>> as_limit("max_depth", 3, 1), as_limit("max_depth", 10**400, 1)
    (3, 2147483647)
    """
    return min(as_count(name, value, least), 2**31 - 1)


def is_count(value: Any, least: int = 0) -> bool:
    """Whether ``value`` is an integer, and not too small.

    Examples
    --------
    >>> is_count(3), is_count(-1), is_count(True), is_count("3")
    (True, False, False, False)
    """
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def lies_in(value: Any, low: float, high: float) -> bool:
    """Whether ``value`` is a number from ``low`` to ``high``: texts and arrays are none, and NaN lies nowhere.

    Examples
    --------
    >>> lies_in(0.5, 0, 1), lies_in("0.5", 0, 1), lies_in(float("nan"), 0, 1)
    (True, False, False)
    """
    try:
        return isinstance(value, Real) and low <= float(value) <= high
    except OverflowError:  # an integer larger than any float
        return False


def as_floats(name: str, values: Any) -> NDArray[np.float64]:
    """Return an array of floats, or say what is no number."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ComitiaError(f"{name} must hold numbers; got {values!r}.") from None
    except OverflowError:
        raise ComitiaError(f"{name} must hold numbers up to 1.8e+308; got a larger one.") from None


def as_weights(name: str, values: Any, n: int) -> NDArray[np.float64]:
    """Return how much each of n instances counts, ones by default.

    Examples
    --------
    >>> as_weights("weight", None, 2)
    array([1., 1.])
    >>> as_weights("weight", [1.0, 1e300], 2)
    Traceback (most recent call last):
      ...
    comitia._errors.ComitiaError: weight must hold a number ≥ 0 for each of 2 instances, at most 1e+15 together.
    """
    weight = np.ones(n) if values is None else as_floats(name, values)
    with np.errstate(over="ignore"):
        total = weight.sum()
    if weight.shape != (n,) or not ((weight >= 0).all() and total <= HEAVIEST):
        raise ComitiaError(f"{name} must hold a number ≥ 0 for each of {n} instances, at most {HEAVIEST:.0e} together.")
    return weight
