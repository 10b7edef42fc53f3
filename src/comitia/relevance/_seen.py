"""Marginals read over the label sets that were seen."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from comitia._compiled import njit
from comitia._errors import ComitiaError
from comitia._label_trie import (
    NONE,
    ROOM,
    Counts,
    LabelTrie,
    appended,
    check_missing,
    check_sets,
    first_dropped,
    joined_rows,
)
from comitia._labels import FloatArray
from comitia._threads import over_slices
from comitia.relevance._observed import Observed

MISSING = 1e-3
LANES = 8  # rows that walk side by side: as many as fit a few vector registers
SMALL = 8
BINS = 1024
QUARTERS = 4 / np.log(2.0)  # quarter powers of two in a unit of log weight


def seen_label_sets(
    p: FloatArray,
    table: ArrayLike,
    counts: ArrayLike,
    a: float = 0.0,
    *,
    own: ArrayLike | None = None,
    own_weight: ArrayLike | None = None,
    missing: float = MISSING,
    at_most: int | None = None,
    trie: LabelTrie | None = None,
) -> csr_array:
    """Return the probability of each label set that was seen, P(y) ∝ count(y)^a Π p_k^{y_k} (1 − p_k)^{1 − y_k}.

    Parameters
    ----------
    p : array of float, shape (n, K)
        Marginals in [0, 1].
    table : array-like of 0/1, shape (U, K)
        The label sets that were seen, each once.
    counts : array-like of float, shape (U,)
        How often.  A set of count zero is out.
    a : float
        Power of the counts: 0 takes all seen sets as alike, 1 weighs them as they were seen.
    own : array-like of int, shape (n,), optional
        For instances that were counted themselves: the row of the table that each has.  Its weight is taken from that
        row's count, so that an instance's own label set counts only if another has it.  -1 stands for none.
    own_weight : array-like of float, shape (n,), optional
        What each instance contributed to the count of its row; 1 by default.
    missing : float
        Label sets that together have at most this probability may be left out of a row, whose other weights are then
        scaled to sum to 1.  A decision for a loss in [0, 1] pays at most as much for it in expectation.
    at_most : int, optional
        Keep no more than this many sets of a row, the heaviest: a limit to the cost of decisions where beliefs are
        flat.  What is left out is then no longer bounded by ``missing``.
    trie : LabelTrie, optional
        The table's trie (:meth:`LabelTrie.frequent_first`), where many calls share it.

    Returns
    -------
    csr_array of shape (n, U)
        Rows sum to 1; the entries of a row are in the order of the trie.

    Raises
    ------
    ComitiaError
        If an instance has nothing left, because nobody else was seen at all.

    Notes
    -----
    Up to what all sets have in common, log P(y) is a log count(y) + Σ_{k∈y} log(p_k / (1 − p_k)): a walk over the trie
    of the sets costs one addition a node.  The sets below a node with the labels B, the last at position j of the
    order, have together at most the mass

        max count^a · Π_{k∈B} p_k / (1 − p_k) · Π_{k after j} 1 / (1 − p_k),

    because all continuations of B would sum to that.  A subtree with m sets is left out when this is at most
    ``missing`` / 2 · m / U of the best set found so far; subtrees are disjoint, so at most ``missing`` / 2 is lost.
    The other half pays for the lightest of the sets that were found.  Time follows the nodes that are entered, memory
    is 12 bytes for each entry that is kept.

    A label of probability exactly 0 or 1 rules sets out.  Where it rules all of them out, the answer is the limit of
    moving these probabilities to ε and 1 − ε: the sets that contradict the fewest certain labels, weighed by the
    other labels.

    Examples
    --------
    >>> import numpy as np
    >>> seen = seen_label_sets(np.array([[0.5, 0.4]]), [[1, 0], [0, 1]], [3, 1])
    >>> seen.toarray().round(3)
    array([[0.6, 0.4]])
    """
    sets = check_sets(table, counts)
    if p.ndim != 2 or p.shape[1] != sets.shape[1]:
        raise ComitiaError(f"p must have shape (n, {sets.shape[1]}), as table has labels; got {p.shape}.")
    check_missing(missing)
    if at_most is not None and at_most < 1:
        raise ComitiaError(f"at_most must be positive; got {at_most}.")
    weight = Counts.of(counts, a, len(p), own, own_weight)
    trie = LabelTrie.frequent_first(sets) if trie is None else trie
    share = trie.share()
    with np.errstate(divide="ignore", invalid="ignore"):
        allowed = np.log(missing / 2 * share) - trie.largest(weight.log)
    # Whether a small subtree can be left out is a coin toss that costs more than walking it.
    allowed[share * trie.n_sets < SMALL] = -np.inf
    parts: dict[int, tuple[Any, Any, Any]] = {}

    def read(rows: slice) -> None:
        parts[rows.start] = read_seen(
            p[rows], trie.order, trie.position, trie.depth, trie.skip, trie.set_of,
            allowed, weight.log, weight.own[rows], weight.own_log[rows], missing / 2, at_most or len(sets),
        )  # fmt: skip

    over_slices(read, len(p), at_least=64)
    return joined_rows(parts, len(sets))


def by_count(weights: csr_array, observed: Observed, power: float) -> csr_array:
    """Return weights (n, U) of the labelsets that were seen, each times count^power, rows scaled to sum to 1.

    Examples
    --------
    >>> from comitia.relevance import Observed
    >>> by_count(csr_array([[0.5, 0.5]]), Observed([[1, 0], [0, 1]], [3, 1]), 1.0).toarray()
    array([[0.75, 0.25]])
    """
    row = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
    factor = np.where(observed.counts > 0, observed.counts**power, 0.0)[weights.indices]
    if observed.own is not None and observed.own_weight is not None:
        mine = np.flatnonzero(weights.indices == observed.own[row])
        count = observed.counts[weights.indices[mine]]
        left = count - observed.own_weight[row[mine]]
        # Differences of sums of weights may be off by a rounding error where nothing is left.
        factor[mine] = np.where(left > 1e-9 * count, np.abs(left) ** power, 0.0)
    data = weights.data * factor
    sums = np.bincount(row, data, weights.shape[0])
    return csr_array((data / sums[row], weights.indices, weights.indptr), shape=weights.shape)


@njit(cache=True, nogil=True)
def read_seen(
    p: Any, order: Any, position: Any, depth: Any, skip: Any, set_of: Any,
    allowed: Any, logs: Any, own: Any, own_logs: Any, missing: float, at_most: int,
) -> Any:  # fmt: skip
    """Return how many sets each row keeps, and all of them one after another: their columns and their weights.

    Rows walk ``LANES`` at a time, side by side, and none looks at another: its bits are its own.
    """
    n, K = p.shape
    U = len(logs)
    lengths = np.empty(n, np.int64)
    room = max(min(n * U, ROOM), 1)
    columns, data, filled = np.empty(room, np.int32), np.empty(room), np.int64(0)
    sets, scores = np.empty((LANES, U + 1), np.int32), np.empty((LANES, U + 1))
    found, best = np.empty(LANES, np.int64), np.empty(LANES)
    odds, rest = np.empty((K, LANES)), np.zeros((K + 1, LANES))
    mine, my_log = np.full(LANES, NONE), np.zeros(LANES)
    usual = np.empty(LANES, np.bool_)
    far = np.log(2 * U / missing) if missing > 0.0 else np.inf
    for start in range(0, n, LANES):
        for r in range(LANES):
            i = min(start + r, n - 1)
            usual[r] = _log_odds(p[i], order, odds[:, r], rest[:, r])
            if len(own):
                mine[r], my_log[r] = own[i], own_logs[i]
        _walk(odds, rest, position, depth, skip, set_of, allowed, logs, mine, my_log, far, sets, scores, found, best)
        for r in range(min(LANES, n - start)):
            if not usual[r] or best[r] == -np.inf:
                found[r], best[r] = _walk_certain(
                    p[start + r], order, position, depth, set_of, logs, mine[r], my_log[r], sets[r], scores[r]
                )
            kept = _weigh(sets[r], scores[r], found[r], best[r], missing, at_most)
            columns, data = appended(columns, data, filled, sets[r], scores[r], kept)
            lengths[start + r] = kept
            filled += kept
    return lengths, columns[:filled], data[:filled]


@njit(cache=True, nogil=True)
def _log_odds(p: Any, order: Any, odds: Any, rest: Any) -> bool:
    """Fill, by position, the log odds and rest[j] = Σ log(1 + odds) from j on; return False if a label is certain."""
    usual = True
    for j in range(len(order) - 1, -1, -1):
        q = p[order[j]]
        if q >= 1.0:
            usual, q = False, 0.5
        other = np.log1p(-q)
        odds[j] = np.log(q) - other if q > 0.0 else -np.inf
        rest[j] = rest[j + 1] - other
    return usual


@njit(cache=True, nogil=True)
def _walk(
    odds: Any, rest: Any, position: Any, depth: Any, skip: Any, set_of: Any, allowed: Any, logs: Any,
    mine: Any, my_log: Any, far: float, sets: Any, scores: Any, found: Any, best: Any,
) -> None:  # fmt: skip
    """Collect, in each lane, the sets that are not ``far`` below the best so far, and their log weights.

    A lane that has nothing to gain from a subtree is out of it with the log weight -inf.
    """
    prefix = np.zeros((odds.shape[0] + 1, LANES))
    found[:], best[:] = 0, -np.inf
    node = 0
    while node < len(position):
        d, j, least = depth[node], position[node], allowed[node]
        here = prefix[d]
        if node > 0:
            for r in range(LANES):
                here[r] = prefix[d - 1, r] + odds[j, r]
            if least > -np.inf:
                alive = 0
                for r in range(LANES):
                    out = here[r] + rest[j + 1, r] <= best[r] + least
                    here[r] = -np.inf if out else here[r]
                    alive += int(here[r] > -np.inf)
                if alive == 0:
                    node = skip[node]
                    continue
        u = set_of[node]
        node += 1
        if u >= 0:
            log = logs[u]
            for r in range(LANES):
                value = here[r] + (my_log[r] if u == mine[r] else log)
                best[r] = max(best[r], value)
                # No branch: what is far off is written over.
                sets[r, found[r]], scores[r, found[r]] = u, value
                found[r] += int(value > best[r] - far and value > -np.inf)


@njit(cache=True, nogil=True)
def _walk_certain(
    p: Any, order: Any, position: Any, depth: Any, set_of: Any,
    logs: Any, mine: int, my_log: float, sets: Any, scores: Any,
) -> Any:  # fmt: skip
    """Collect the sets that contradict the fewest certain labels; certain labels are counted, the others weighed."""
    prefix, broken = np.zeros(len(p) + 1), np.zeros(len(p) + 1, np.int64)
    for k in range(len(p)):
        broken[0] += int(p[k] >= 1.0)
    found, best, fewest = 0, -np.inf, len(p) + 1
    for node in range(len(position)):
        d = depth[node]
        if node > 0:
            q = p[order[position[node]]]
            sure, impossible = q >= 1.0, q <= 0.0
            broken[d] = broken[d - 1] + int(impossible) - int(sure)
            prefix[d] = prefix[d - 1] if sure or impossible else prefix[d - 1] + np.log(q) - np.log1p(-q)
        u = set_of[node]
        if u < 0 or broken[d] > fewest:
            continue
        value = prefix[d] + (my_log if u == mine else logs[u])
        if value == -np.inf:
            continue
        if broken[d] < fewest:
            found, best, fewest = 0, -np.inf, broken[d]
        sets[found], scores[found] = u, value
        best = max(best, value)
        found += 1
    return found, best


@njit(cache=True, nogil=True)
def _weigh(sets: Any, scores: Any, found: int, best: float, missing: float, at_most: int) -> int:
    """Turn log weights into weights that sum to 1, without the lightest; return how many are left."""
    kept = found
    if missing > 0.0 and found > 0:
        kept = _nearest(sets, scores, kept, best, np.log(2 * found / missing))
    if missing > 0.0 or kept > at_most:
        count = np.zeros(BINS, np.int64)
        for e in range(kept):
            count[int(min((best - scores[e]) * QUARTERS, BINS - 1.0))] += 1
        kept = _nearest(sets, scores, kept, best, first_dropped(count, missing / 2, at_most) / QUARTERS)
        kept = min(kept, at_most)
    total = 0.0
    for e in range(kept):
        scores[e] = np.exp(scores[e] - best)
        total += scores[e]
    for e in range(kept):
        scores[e] /= total
    return kept


@njit(cache=True, nogil=True)
def _nearest(sets: Any, scores: Any, found: int, best: float, far: float) -> int:
    """Keep the sets whose log weight is less than ``far`` below the best; again without a branch."""
    kept = 0
    for e in range(found):
        sets[kept], scores[kept] = sets[e], scores[e]
        kept += int(best - scores[e] < far)
    return kept
