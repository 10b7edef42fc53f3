"""Compiled loops over sparse distributions of labelings: arrays in, arrays out."""

# numba compiles what these functions say; types for a checker would say less.
# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def add_labelsets(indptr, indices, data, table, out):
    """Add to out[i] the weighted sum of the rows of ``table`` that row i of the CSR matrix names."""
    for i in range(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            weight = data[e]
            row = table[indices[e]]
            for k in range(table.shape[1]):
                out[i, k] += weight * row[k]


@njit(cache=True, nogil=True)
def index_patterns(words, place):
    """Number the distinct rows of ``words`` (m, W) in the order of their first occurrence.

    ``place[r]`` becomes the number of row r; the rows where each number first occurs are returned.  Open addressing
    with linear probing; the numbering does not depend on the hash.
    """
    m, W = words.shape
    bits = 4
    while (1 << bits) < 2 * m:
        bits += 1
    slots = np.full(1 << bits, -1, np.int32)
    mask = (1 << bits) - 1
    first = np.empty(m, np.int64)
    found = 0
    for r in range(m):
        h = np.uint64(0)
        for w in range(W):
            h = (h ^ words[r, w]) * np.uint64(0x9E3779B97F4A7C15)
            h ^= h >> np.uint64(29)
        slot = np.int64(h >> np.uint64(64 - bits)) & mask
        while True:
            number = slots[slot]
            if number < 0:
                slots[slot] = found
                first[found] = r
                place[r] = found
                found += 1
                break
            same = True
            for w in range(W):
                if words[first[number], w] != words[r, w]:
                    same = False
                    break
            if same:
                place[r] = number
                break
            slot = (slot + 1) & mask
    return first[:found].copy()


@njit(cache=True, nogil=True)
def count_votes(words, weights, start, stop, first, count, n_distinct):
    """Group the votes words[:, i] of each instance i in [start, stop) into distinct labelings.

    The d-th distinct labeling of instance i was first cast by member first[i, d] and has the weight count[i, d].
    Members of weight zero are passed over.
    """
    M, _, W = words.shape
    for i in range(start, stop):
        distinct = 0
        for m in range(M):
            if weights[m] == 0.0:
                continue
            d = 0
            while d < distinct:
                other = first[i, d]
                same = True
                for w in range(W):
                    if words[other, i, w] != words[m, i, w]:
                        same = False
                        break
                if same:
                    break
                d += 1
            if d == distinct:
                first[i, d] = m
                count[i, d] = 0.0
                distinct += 1
            count[i, d] += weights[m]
        n_distinct[i] = distinct


@njit(cache=True, nogil=True)
def gather_votes(words, first, count, indptr, patterns, data):
    """Lay the distinct labelings of every instance one after another: their words and their weights."""
    for i in range(len(indptr) - 1):
        for d in range(indptr[i + 1] - indptr[i]):
            e = indptr[i] + d
            data[e] = count[i, d]
            for w in range(words.shape[2]):
                patterns[e, w] = words[first[i, d], i, w]


@njit(cache=True, nogil=True)
def merge_repeats(indptr, columns, data, width):
    """Add the repeated columns of each row of a CSR matrix; each keeps the place of its first occurrence."""
    out_indptr = np.zeros_like(indptr)
    out_columns = np.empty_like(columns)
    out_data = np.empty_like(data)
    seen_at = np.full(width, -1, np.int64)
    filled = 0
    for i in range(len(indptr) - 1):
        row_start = filled
        for e in range(indptr[i], indptr[i + 1]):
            column = columns[e]
            at = seen_at[column]
            if at >= row_start:
                out_data[at] += data[e]
            else:
                seen_at[column] = filled
                out_columns[filled] = column
                out_data[filled] = data[e]
                filled += 1
        out_indptr[i + 1] = filled
    return out_indptr, out_columns[:filled].copy(), out_data[:filled].copy()


@njit(cache=True, nogil=True)
def fingerprint_rows(indptr, indices, data, scale, fingerprints):
    """Fill fingerprints (n, 2) with a 128-bit fingerprint of each row of a CSR matrix, scale included."""
    bits = data.view(np.uint64)
    scales = scale.view(np.uint64)
    for i in range(len(indptr) - 1):
        a = np.uint64(0x243F6A8885A308D3) ^ scales[i]
        b = np.uint64(0x13198A2E03707344)
        for e in range(indptr[i], indptr[i + 1]):
            a = (a ^ np.uint64(indices[e])) * np.uint64(0x9E3779B97F4A7C15)
            a ^= a >> np.uint64(32)
            a = (a ^ bits[e]) * np.uint64(0xBF58476D1CE4E5B9)
            a ^= a >> np.uint64(29)
            b = (b + bits[e]) * np.uint64(0x94D049BB133111EB)
            b ^= b >> np.uint64(31)
            b = (b + np.uint64(indices[e])) * np.uint64(0xD6E8FEB86659FD93)
            b ^= b >> np.uint64(32)
        fingerprints[i, 0] = a
        fingerprints[i, 1] = b
