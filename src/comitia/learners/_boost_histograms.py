"""Histograms of a node: in each bin of each feature the sums of its instances' channels, which are integers."""

from __future__ import annotations

import numpy as np

from comitia._compiled import njit

BLOCK = 8
"""Channels are added so many at a time: their number is a multiple of this."""


@njit(cache=True, nogil=True, error_model="numpy")
def sum_channels(channels, rows, totals):  # type: ignore[no-untyped-def]
    for row in rows:
        for c in range(channels.shape[1]):
            totals[c] += channels[row, c]


@njit(cache=True, nogil=True, error_model="numpy")
def fill_histogram(  # type: ignore[no-untyped-def]
    bins, channels, rows, chosen, wanted, ordered, totals, histogram, in_blocks, listed
):
    """Sum the channels of the rows in each bin of the chosen features.

    ``in_blocks`` is the histogram as (bins, blocks, BLOCK), and so is ``ordered``; ``listed`` are the channels in that
    form, or None where bins are not listed.
    """
    n_blocks = in_blocks.shape[1]
    histogram[:] = 0
    if listed is not None:
        for row in rows:
            for t in range(bins.row_starts[row], bins.row_starts[row + 1]):
                at = wanted[bins.row_features[t]]
                if at >= 0:
                    for block in range(n_blocks):
                        _add_block(
                            in_blocks, np.uint64(at + bins.row_bins[t]), listed, np.uint64(row), np.uint64(block)
                        )
        for f in chosen:
            _complete(histogram, wanted[f], bins.starts[f + 1] - bins.starts[f], bins.implicit[f], totals)
    else:
        for i in range(len(rows)):
            for block in range(n_blocks):
                for c in range(BLOCK):
                    ordered[i, block, c] = channels[rows[i], block * BLOCK + c]
        for f in chosen:
            column = bins.by_feature[f * bins.n : (f + 1) * bins.n]
            of_feature = in_blocks[wanted[f] :]
            for i in range(len(rows)):
                b = np.uint64(column[rows[i]])
                for block in range(n_blocks):
                    _add_block(of_feature, b, ordered, np.uint64(i), np.uint64(block))


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _add_block(sums, at, channels, row, block):  # type: ignore[no-untyped-def]
    """Add eight channels; all are read before any is written, so that they are added at once."""
    a0, a1 = channels[row, block, 0], channels[row, block, 1]
    a2, a3 = channels[row, block, 2], channels[row, block, 3]
    a4, a5 = channels[row, block, 4], channels[row, block, 5]
    a6, a7 = channels[row, block, 6], channels[row, block, 7]
    b0, b1, b2, b3 = sums[at, block, 0], sums[at, block, 1], sums[at, block, 2], sums[at, block, 3]
    b4, b5, b6, b7 = sums[at, block, 4], sums[at, block, 5], sums[at, block, 6], sums[at, block, 7]
    sums[at, block, 0] = a0 + b0
    sums[at, block, 1] = a1 + b1
    sums[at, block, 2] = a2 + b2
    sums[at, block, 3] = a3 + b3
    sums[at, block, 4] = a4 + b4
    sums[at, block, 5] = a5 + b5
    sums[at, block, 6] = a6 + b6
    sums[at, block, 7] = a7 + b7


@njit(cache=True, nogil=True, error_model="numpy")
def _complete(histogram, first, n_bins, implicit, totals):  # type: ignore[no-untyped-def]
    """Give the bin that is not listed what the others of the feature leave of the node's totals."""
    rest = histogram[first + implicit]
    for c in range(len(totals)):
        rest[c] += totals[c]
    for b in range(n_bins):
        if b != implicit and histogram[first + b, -1] > 0:
            others = histogram[first + b]
            for c in range(len(totals)):
                rest[c] -= others[c]


@njit(cache=True, nogil=True, error_model="numpy")
def subtract(of, what):  # type: ignore[no-untyped-def]
    for t in range(len(of)):
        of[t] -= what[t]
