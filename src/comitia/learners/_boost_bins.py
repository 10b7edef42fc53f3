"""Features in at most 255 bins, made once from their ranks and shared by all boosted sequences.

Bins are kept cell by cell or, where few cells differ from the most frequent bin of their feature, entry by entry.  Sums
over bins are sums of integers, so that both ways give the same trees, bit for bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from comitia._compiled import njit
from comitia._threads import over_slices
from comitia.learners._tree_codes import FeatureCodes

MAX_BINS = 255

LISTED_BELOW = 0.25
"""Bins are listed if a smaller share of the cells than this differs from the most frequent bin of their feature."""

SPELLED_OUT = 2**26
"""Up to so many cells are also kept one by one where bins are listed: they are looked up for every tree."""


class Bins(NamedTuple):
    """The bin of every cell; a missing value is in the bin after those of its feature's values."""

    n: int
    listed: bool
    by_feature: NDArray[np.uint8]
    by_row: NDArray[np.uint8]
    """Bins of all cells, feature after feature and instance after instance.

    Where bins are listed the first is empty, and the second if there are more than `SPELLED_OUT` cells.
    """
    row_starts: NDArray[np.int64]
    row_features: NDArray[np.int32]
    row_bins: NDArray[np.uint8]
    """Instance i has bin ``row_bins[t]`` of feature ``row_features[t]`` for t from ``row_starts[i]`` on, ascending."""
    implicit: NDArray[np.int32]
    """Bin of the cells that are not listed."""
    n_bins: NDArray[np.int32]
    """Number of bins of each feature's values."""
    starts: NDArray[np.int64]
    """Where each feature's bins begin among all bins, that of missing values included if there is one."""
    last_code: NDArray[np.int32]
    """The largest code in each of all bins."""


def bin_features(features: FeatureCodes, n: int, max_bins: int, *, listed_below: float = LISTED_BELOW) -> Bins:
    """Put the values of n instances into at most ``max_bins`` bins a feature, about equally full.

    A feature with no more values than that has a bin for each.  Costs O(n d), or O(entries) where codes are listed.
    """
    d = len(features.n_values)
    bin_of: list[NDArray[np.uint8]] = [np.empty(0, np.uint8)] * d
    implicit, n_bins, n_differ = np.zeros(d, np.int32), np.zeros(d, np.int32), np.zeros(d, np.int64)
    missing = np.zeros(d, np.bool_)

    def spread_features(some: slice) -> None:
        for f in range(some.start, some.stop):
            counts = _count(features, f, n)
            bin_of[f] = spread(counts[:-1], max_bins)
            n_bins[f] = bin_of[f][-2] + 1 if len(counts) > 1 else 0
            missing[f] = counts[-1] > 0
            full = np.bincount(bin_of[f], counts)
            implicit[f] = bin_of[f][features.implicit[f]] if features.listed else int(full.argmax())
            n_differ[f] = n - full[implicit[f]]

    over_slices(spread_features, d, at_least=16)
    starts = np.concatenate([[0], np.cumsum(n_bins + missing, dtype=np.int64)])
    last_code = np.zeros(starts[-1], np.int32)
    for f in range(d):
        last_code[starts[f] : starts[f] + n_bins[f]] = (
            np.searchsorted(bin_of[f][:-1], np.arange(n_bins[f]), "right") - 1
        )
    listed = features.listed or n_differ.sum() < listed_below * n * d
    none = np.empty(0, np.uint8)
    by_feature, by_row = none, none
    entries = np.zeros(1, np.int64), np.empty(0, np.int32), none
    if listed:
        code_starts = np.concatenate([[0], np.cumsum([len(table) for table in bin_of], dtype=np.int64)])
        entries = _list(features, n, np.concatenate(bin_of), code_starts, implicit)
        if n * d <= SPELLED_OUT:
            by_row = np.tile(implicit.astype(np.uint8), n)
            by_row[np.repeat(np.arange(n) * d, np.diff(entries[0])) + entries[1]] = entries[2]
    else:
        by_feature = np.empty(n * d, np.uint8)

        def fill(some: slice) -> None:
            for f in range(some.start, some.stop):
                by_feature[f * n : (f + 1) * n] = bin_of[f][features.codes[f * n : (f + 1) * n]]

        over_slices(fill, d, at_least=4)
        by_row = np.ascontiguousarray(by_feature.reshape(d, n).T).ravel()
    return Bins(n, listed, by_feature, by_row, *entries, implicit, n_bins, starts, last_code)


def _count(features: FeatureCodes, f: int, n: int) -> NDArray[np.int64]:
    """Return how many instances have each code of a feature; missing values are the last."""
    codes = features.codes[features.starts[f] : features.starts[f + 1]]
    counts = np.bincount(codes, minlength=int(features.n_values[f]) + 1)
    if features.listed:
        counts[features.implicit[f]] += n - len(codes)
    return counts


def spread(counts: NDArray[np.int64], max_bins: int) -> NDArray[np.uint8]:
    """Return the bin of each code, and after them that of missing values.

    A code that more than twice its share of the instances have is alone in its bin; the others are spread evenly.
    """
    bin_of = np.arange(len(counts) + 1).astype(np.uint8)
    if len(counts) > max_bins:
        _spread(counts, max_bins, 2 * counts.sum() / max_bins, bin_of)
    return bin_of


@njit(cache=True, nogil=True)
def _spread(counts, max_bins, heavy, bin_of):  # type: ignore[no-untyped-def]
    n_codes = len(counts)
    n_light, n_heavy = 0, 0
    for count in counts:
        if count > heavy:
            n_heavy += 1
        else:
            n_light += count
    # A heavy code takes a bin and may leave the one before it short; there are fewer than max_bins / 2 of them.
    full = n_light / (max_bins - 2 * n_heavy)
    current, filled = 0, 0.0
    for code in range(n_codes):
        alone = counts[code] > heavy
        if filled > 0 and current < max_bins - 1 and (alone or filled + counts[code] / 2 > full):
            current += 1
            filled = 0.0
        bin_of[code] = current
        filled += np.inf if alone else counts[code]
    bin_of[n_codes] = current + 1


@njit(cache=True, nogil=True)
def _list(features, n, bin_of, code_starts, implicit):  # type: ignore[no-untyped-def]
    """List the cells that are not in their feature's implicit bin, instance after instance."""
    d = len(implicit)
    starts = np.zeros(n + 1, np.int64)
    for f in range(d):
        first = features.starts[f]
        for t in range(first, features.starts[f + 1]):
            row = np.int64(features.rows[t]) if features.listed else t - first
            starts[row + 1] += bin_of[code_starts[f] + features.codes[t]] != implicit[f]
    for row in range(n):
        starts[row + 1] += starts[row]
    filled = starts[:-1].copy()
    row_features, row_bins = np.empty(starts[n], np.int32), np.empty(starts[n], np.uint8)
    for f in range(d):
        first = features.starts[f]
        for t in range(first, features.starts[f + 1]):
            row = np.int64(features.rows[t]) if features.listed else t - first
            b = bin_of[code_starts[f] + features.codes[t]]
            if b != implicit[f]:
                row_features[filled[row]] = f
                row_bins[filled[row]] = b
                filled[row] += 1
    return starts, row_features, row_bins


def worth_a_look(bins: Bins, channels: Any, rows: Any, chosen: Any, least: float) -> Any:
    """Return the chosen features that any cut can part: of wide sparse ones few occur often enough for a leaf.

    A side without the implicit bin has at most the weight, the last channel, of the rows that the feature lists.
    """
    return chosen[_listed_weight(bins, channels, rows)[chosen] >= max(1.0, least)] if bins.listed else chosen


@njit(cache=True, nogil=True, error_model="numpy")
def _listed_weight(bins, channels, rows):  # type: ignore[no-untyped-def]
    found = np.zeros(len(bins.n_bins), np.int64)
    for row in rows:
        for t in range(bins.row_starts[row], bins.row_starts[row + 1]):
            found[bins.row_features[t]] += channels[row, -1]
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def bin_at(bins, row, f):  # type: ignore[no-untyped-def]
    """Return the bin of one cell; where bins are listed alone, O(log entries of the row)."""
    if len(bins.by_row):
        return np.int32(bins.by_row[row * len(bins.n_bins) + f])
    t, above = bins.row_starts[row], bins.row_starts[row + 1]
    end = above
    while t < above:
        middle = (t + above) // 2
        if bins.row_features[middle] < f:
            t = middle + 1
        else:
            above = middle
    if t < end and bins.row_features[t] == f:
        return np.int32(bins.row_bins[t])
    return np.int32(bins.implicit[f])


def cut_codes(
    bins: Bins, feature: NDArray[np.int32], cut: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the codes next to each cut, as :func:`comitia.learners._tree_codes.thresholds` takes them."""
    low, high = np.full(len(feature), -1, np.int32), np.full(len(feature), -1, np.int32)
    inner = np.flatnonzero(feature >= 0)
    f, b = feature[inner], cut[inner]
    low[inner] = bins.last_code[bins.starts[f] + b]
    high[inner] = np.where(b + 1 < bins.n_bins[f], low[inner] + 1, -1)
    return low, high
