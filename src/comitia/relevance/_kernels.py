"""Compiled loops over sparse distributions of labelings: arrays in, arrays out."""

# numba compiles what these functions say; types for a checker would say less.
# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"

import numpy as np

from comitia._compiled import njit


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
def put_rows(indptr, indices, data, scale, place, start, columns, out):
    """Put the entries of each row i of a CSR matrix, times ``scale[i]``, at ``start[i]``, and move that past them."""
    for i in range(len(indptr) - 1):
        at = start[i]
        for e in range(indptr[i], indptr[i + 1]):
            columns[at] = place[indices[e]]
            out[at] = data[e] * scale[i]
            at += 1
        start[i] = at


@njit(cache=True, nogil=True)
def put_held(index, mass, indptr, indices, data, total, columns, out):
    """Put, for each instance, the entries of the rows that members hold one after the other: row index[m, i] of m.

    An entry is multiplied by the member's mass, (M, 1) or (M, n), and divided by the row's total; a member without mass
    for an instance that has it for others is passed over.
    """
    each = mass.shape[1] > 1
    at = 0
    for i in range(index.shape[1]):
        for m in range(index.shape[0]):
            weight = mass[m, i if each else 0]
            if each and weight == 0.0:
                continue
            row = index[m, i]
            scale = weight / total[row]
            for e in range(indptr[row], indptr[row + 1]):
                columns[at] = indices[e]
                out[at] = data[e] * scale
                at += 1


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


@njit(cache=True, nogil=True)
def rows_are_alike(indptr, indices, data, scale, other):
    """Return whether each row i of a CSR matrix has the entries, in their order, and the scale of row other[i]."""
    for i in range(len(indptr) - 1):
        j = other[i]
        if indptr[i + 1] - indptr[i] != indptr[j + 1] - indptr[j] or scale[i] != scale[j]:
            return False
        for e in range(indptr[i + 1] - indptr[i]):
            if indices[indptr[i] + e] != indices[indptr[j] + e] or data[indptr[i] + e] != data[indptr[j] + e]:
                return False
    return True
