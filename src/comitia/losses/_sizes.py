"""Compiled loops that look at the sizes of answers, and bring those to size that are too small or too large.

Gains come as integers in the same order, of which many are compared at a time; floats, which might be NaN, are not.
"""

# numba compiles what these functions say; types for a checker would say less.
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import numpy as np

from comitia._compiled import njit

FEW = 8
"""Up to how many labels the largest are found one after the other; beyond, by a partial sort."""

_LEAST = np.int64(np.iinfo(np.int64).min)
_MOST = np.int64(np.iinfo(np.int64).max)


@njit(cache=True, nogil=True)
def allowed(labeling, at_least, at_most, starts, members, children, parents, found):
    """Fill in which rows have a size that is allowed, no two labels of a group, and the parents of their children."""
    for i in range(len(labeling)):
        row = labeling[i]
        size = _size(row)
        fits = at_least <= size <= at_most
        for g in range(len(starts) - 1):
            of_group = 0
            for e in range(starts[g], starts[g + 1]):
                of_group += row[members[e]]
            fits &= of_group <= 1
        for e in range(len(children)):
            fits &= row[children[e]] <= row[parents[e]]
        found[i] = fits


@njit(cache=True, nogil=True)
def settle_groups(gain, starts, members, labeling):
    """Leave of each group that has several labels in a row the one of the largest gain, the first of equals."""
    for i in range(len(gain)):
        for g in range(len(starts) - 1):
            best = -1
            for e in range(starts[g], starts[g + 1]):
                k = members[e]
                if labeling[i, k]:
                    if best >= 0 and (gain[i, k] < gain[i, best] or (gain[i, k] == gain[i, best] and k > best)):
                        labeling[i, k] = 0
                        continue
                    if best >= 0:
                        labeling[i, best] = 0
                    best = k


@njit(cache=True, nogil=True)
def bring_to_size(gain, at_least, at_most, labeling, late):
    """Set the largest gains of the rows whose size is not allowed, the first of equals; return how many are left.

    A row that must have more than `FEW` labels is marked in ``late`` and left as it is.
    """
    left = 0
    for i in range(len(gain)):
        size = _size(labeling[i])
        late[i] = False
        if at_least <= size <= at_most:
            continue
        wanted = at_most if size > at_most else at_least
        if wanted > FEW:
            late[i] = True
            left += 1
        else:
            _set_largest(gain[i], wanted, labeling[i])
    return left


@njit(cache=True, nogil=True)
def cut_to_size(gain, cuts, sizes, labeling):
    """Set in each row the gains that reach its cut, the first of equals, so many as its size."""
    for i in range(len(gain)):
        reached = _set_from(gain[i], cuts[i], labeling[i])
        _drop_level(gain[i], cuts[i], reached - sizes[i], labeling[i])


@njit(cache=True, nogil=True)
def _set_largest(gain, size, row):
    cut = _MOST
    for _ in range(size):
        cut = _largest_below(gain, cut)
    reached = _set_from(gain, cut, row)
    if reached != size:
        # There are equals among them.
        cut, reached = _MOST, 0
        while reached < size:
            cut = _largest_below(gain, cut)
            reached = _set_from(gain, cut, row)
        _drop_level(gain, cut, reached - size, row)


@njit(cache=True, nogil=True)
def _set_from(gain, cut, row):
    for k in range(len(gain)):
        row[k] = gain[k] >= cut
    return _size(row)


@njit(cache=True, nogil=True)
def _drop_level(gain, cut, surplus, row):
    k = len(gain)
    while surplus > 0:
        k -= 1
        if gain[k] == cut:
            row[k] = 0
            surplus -= 1


@njit(cache=True, nogil=True)
def _largest_below(gain, cut):
    largest = _LEAST
    for k in range(len(gain)):
        largest = max(largest, gain[k] if gain[k] < cut else _LEAST)
    return largest


@njit(cache=True, nogil=True)
def _size(row):
    size = 0
    for k in range(len(row)):
        size += row[k]
    return size
