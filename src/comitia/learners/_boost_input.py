"""What the boosted trees accept, and the form that the rounds take."""

from __future__ import annotations

from math import isfinite
from numbers import Integral
from sys import float_info
from typing import Any, NamedTuple

from comitia._arrays import as_limit, lies_in
from comitia._errors import ComitiaError
from comitia.learners._boost_bins import MAX_BINS

SKETCH_ABOVE = 23
SKETCH = 15
"""With more labels than that, gradients are sketched to so many outputs unless it is said otherwise.

Beside the weight they fill blocks of eight channels, which are added at once.
"""

FEWEST_FEATURES = 5
"""A share of the features is never fewer than so many."""


class Settings(NamedTuple):
    """How a sequence is boosted."""

    learning_rate: float
    max_rounds: int
    max_leaves: int
    max_depth: int
    min_samples_leaf: float
    l2: float
    n_features: int
    """Number of features that each tree is grown on."""
    subsample: float
    max_bins: int
    n_outputs: int
    """Number of outputs that the gradients are projected to; the number of labels if they are not."""
    patience: int


def check_settings(
    d: int,
    K: int,
    *,
    learning_rate: Any,
    max_rounds: Any,
    max_leaves: Any,
    max_depth: Any,
    min_samples_leaf: Any,
    l2: Any,
    max_features: Any,
    subsample: Any,
    max_bins: Any,
    sketch: Any,
    patience: Any,
) -> Settings:
    """Return the settings for d features and K labels."""
    depth = as_limit("max_depth", 2**31 if max_depth is None else max_depth, 1)
    bins = as_limit("max_bins", max_bins, 2)
    if bins > MAX_BINS:
        raise ComitiaError(f"max_bins must be an integer from 2 to {MAX_BINS}; got {max_bins!r}.")
    for name, share in (("learning_rate", learning_rate), ("subsample", subsample)):
        if not lies_in(share, 0, 1) or share == 0:
            raise ComitiaError(f"{name} must be a number in (0, 1]; got {share!r}.")
    for name, number in (("min_samples_leaf", min_samples_leaf), ("l2", l2)):
        if not lies_in(number, 0, float_info.max):
            raise ComitiaError(f"{name} must be a number, at least 0; got {number!r}.")
    return Settings(
        float(learning_rate),
        as_limit("max_rounds", max_rounds, 1),
        as_limit("max_leaves", max_leaves, 2),
        depth,
        float(min_samples_leaf),
        float(l2),
        _n_features(max_features, d),
        float(subsample),
        bins,
        _n_outputs(sketch, K),
        as_limit("patience", patience, 1),
    )


def _n_features(max_features: Any, d: int) -> int:
    if max_features is None:
        return d
    if isinstance(max_features, Integral) and 1 <= int(max_features) <= d:
        return int(max_features)
    if isinstance(max_features, float) and isfinite(max_features) and 0 < max_features <= 1:
        return min(d, max(FEWEST_FEATURES, int(max_features * d)))
    raise ComitiaError(
        f"max_features must be None, an integer from 1 to {d} or a share in (0, 1]; got {max_features!r}."
    )


def _n_outputs(sketch: Any, K: int) -> int:
    if isinstance(sketch, str) and sketch == "auto":
        return K if K <= SKETCH_ABOVE else SKETCH
    if sketch is None:
        return K
    if isinstance(sketch, Integral) and int(sketch) >= 1:
        return min(int(sketch), K)
    raise ComitiaError(f"sketch must be 'auto', None or a positive number of outputs; got {sketch!r}.")
