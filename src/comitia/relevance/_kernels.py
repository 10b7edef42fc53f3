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
def pack_rows(labels, words):
    """Pack rows of 0/1 bytes (m, K) into words (m, ceil(K / 64)), label k as bit k; return whether all were 0 or 1.

    Eight bytes at a time: multiplied by the magic number, byte b of a word of 0/1 bytes arrives at bit 56 + b.
    """
    m, K = labels.shape
    others = np.uint64(0)
    for r in range(m):
        row = labels[r]
        for w in range(words.shape[1]):
            word = np.uint64(0)
            for start in range(64 * w, min(64 * w + 64, K), 8):
                eight = np.uint64(0)
                if start + 8 <= K:
                    for b in range(8):
                        eight |= np.uint64(row[start + b]) << np.uint64(8 * b)
                else:
                    for b in range(K - start):
                        eight |= np.uint64(row[start + b]) << np.uint64(8 * b)
                others |= eight
                word |= ((eight * np.uint64(0x0102040810204080)) >> np.uint64(56)) << np.uint64(start - 64 * w)
            words[r, w] = word
    return (others & ~np.uint64(0x0101010101010101)) == 0


@njit(cache=True, nogil=True)
def count_votes(words, weights, start, stop):
    """Group the votes words[:, i] of each instance i in [start, stop) into distinct labelings.

    Return how many labelings each instance has, and all of them one after another in the order in which they were
    first cast: their words and their weights.  ``weights`` has one column for all instances or one for each; members
    of weight zero are passed over.
    """
    M, _, W = words.shape
    each = weights.shape[1] > 1
    lengths = np.zeros(stop - start, np.int64)
    patterns = np.empty(((stop - start) * M, W), np.uint64)
    data = np.empty((stop - start) * M)
    filled = 0
    for i in range(start, stop):
        begin = filled
        for m in range(M):
            weight = weights[m, i if each else 0]
            if weight == 0.0:
                continue
            e = begin
            while e < filled:
                same = True
                for w in range(W):
                    if patterns[e, w] != words[m, i, w]:
                        same = False
                        break
                if same:
                    break
                e += 1
            if e == filled:
                for w in range(W):
                    patterns[e, w] = words[m, i, w]
                data[e] = 0.0
                filled += 1
            data[e] += weight
        lengths[i - start] = filled - begin
    return lengths, patterns[:filled].copy(), data[:filled].copy()


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
