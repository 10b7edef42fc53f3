"""The joint distribution that a classifier chain has: the probability of every label set that was seen."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from comitia._errors import ComitiaError
from comitia._jobs import local_threads, one_blas_thread
from comitia._label_trie import ROOM, Counts, LabelTrie, check_missing, check_sets, joined_rows
from comitia._labels import FloatArray, LabelArray
from comitia._threads import over_parts
from comitia.learners._chain_joint_kernels import LARGEST, Logs, Room, weigh_sets
from comitia.learners._chains import ChainFit
from comitia.learners._few_rows import are_few
from comitia.learners._logistic_predict import ROWS, linear_scores

MISSING = 1e-3
PAIRS = 1 << 22  # label sets × instances whose probabilities are in memory at a time, where links are asked one by one
ASKED = 1 << 16  # rows that a link is asked for at a time

Link = Callable[[int, LabelArray, NDArray[np.intp]], FloatArray]


def chain_joint(
    fit: ChainFit,
    X: ArrayLike | sp.sparray,
    table: ArrayLike,
    counts: ArrayLike,
    a: float = 0.0,
    *,
    own: ArrayLike | None = None,
    own_weight: ArrayLike | None = None,
    missing: float = MISSING,
    about: NDArray[np.bool_] | None = None,
    n_jobs: int | None = None,
) -> Iterator[sp.csr_array]:
    """Yield, chain by chain, the probability of each label set that was seen, P(y) ∝ count(y)^a Π_k P(y_k | x, y_<k).

    A chain gives every labeling a probability by the chain rule; walking it greedily throws that away.

    Parameters
    ----------
    fit : ChainFit
    X : array or sparse array of shape (n, d)
    table : array-like of 0/1, shape (U, K)
        The label sets that were seen, each once.
    counts : array-like of float, shape (U,)
        How often.  A set of count zero is out.
    a : float
        Power of the counts: 0 takes all seen sets as alike.
    own : array-like of int, shape (n,), optional
        For instances that were counted themselves: the row of the table that each has, -1 for none.  Its weight is
        taken from that row's count, so that an instance's own label set counts only if another has it.
    own_weight : array-like of float, shape (n,), optional
        What each instance contributed to the count of its row; 1 by default.
    missing : float
        Label sets that together have at most this probability may be left out of a row, whose other weights are then
        scaled to sum to 1.  A decision for a loss in [0, 1] pays at most as much for it in expectation.
    about : array of bool, shape (M, n), optional
        Which chains are asked about which instances: rows of the others are empty.
    n_jobs : int, optional
        Threads.  The result has the same bits for any number, and a row's bits do not depend on other rows.

    Yields
    ------
    csr_array of shape (n, U)
        Rows sum to 1; the entries of a row are in the order of the chain's trie.

    Notes
    -----
    The features' part of all scores is one matrix product a chain.  One walk over the trie of the seen sets in the
    chain's order then enters each beginning that sets share once: with the odds o_k of the links after it, a link
    that sees one label more has the odds o_k exp(influence), so that a node costs K − j multiplications and divisions
    and no exponential.  The labels between two relevant ones share a running product of 1 / (1 + o_k).

    The sets below a node have together at most the probability of its beginning times the largest count^a among
    them.  A subtree with m sets is left out when this is at most ``missing`` / 2 · m / U of the best set found so far;
    subtrees are disjoint, so at most ``missing`` / 2 is lost.  The other half pays for the lightest of the sets that
    were found.

    A link whose label was constant in training is certain.  Where certain links rule all seen sets out, those are
    left that contradict the fewest, weighed by the other links: the limit of links that are nearly certain.

    References
    ----------
    Dembczyński, Cheng and Hüllermeier (2010), Bayes optimal multilabel classification via probabilistic classifier
    chains, ICML.

    Examples
    --------
    >>> from comitia.learners import fit_chains
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[0, 0], [1, 0], [0, 1], [1, 1]]
    >>> fit = fit_chains(X, Y, orders=[[0, 1], [1, 0]])
    >>> one, two = chain_joint(fit, X, table=[[0, 0], [1, 1]], counts=[1, 1])
    >>> one.toarray()[[0, 3]].round(1)
    array([[0.9, 0.1],
           [0.1, 0.9]])
    """
    sets = check_sets(table, counts)
    X = check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X", ensure_min_samples=0)
    if X.shape[1] != fit.coef.shape[2]:
        raise ComitiaError(f"X has {X.shape[1]} features, but the chains were fitted on {fit.coef.shape[2]}.")
    if sets.shape[1] != fit.orders.shape[1]:
        raise ComitiaError(f"table has {sets.shape[1]} labels, but the chains were fitted on {fit.orders.shape[1]}.")
    check_missing(missing)
    weight = Counts.of(counts, a, X.shape[0], own, own_weight)

    here = threading.local()  # each thread has room of its own, for all of its chains

    def ask(m: int) -> sp.csr_array:
        trie = LabelTrie.of(sets, fit.orders[m])
        if not hasattr(here, "room"):
            here.room = Room.to_walk(sets.shape[1], trie.n_sets, int(trie.depth.max()))
        if about is None or about[m].all():
            return _joint_of(fit, m, X, trie, weight, missing / 2, here.room)
        rows = np.flatnonzero(about[m])
        return _spread(_joint_of(fit, m, X[rows], trie, weight.take(rows), missing / 2, here.room), rows, X.shape[0])

    return _in_threads(ask, range(len(fit.orders)), 1 if are_few(X) else local_threads(n_jobs))


def _spread(some: sp.csr_array, rows: NDArray[np.intp], n: int) -> sp.csr_array:
    """Return n rows, of which these are ``some`` and the others empty."""
    lengths = np.zeros(n, some.indptr.dtype)
    lengths[rows] = np.diff(some.indptr)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(some.indptr.dtype)
    return sp.csr_array((some.data, some.indices, starts), shape=(n, some.shape[1]))


def _in_threads(ask: Callable[[int], sp.csr_array], chosen: Sequence[int], threads: int) -> Iterator[sp.csr_array]:
    if threads == 1:
        for m in chosen:
            with one_blas_thread():
                joint = ask(m)
            yield joint
        return
    with one_blas_thread():
        joints = over_parts(ask, chosen, threads)
    yield from joints


def _joint_of(
    fit: ChainFit, m: int, X: Any, trie: LabelTrie, weight: Counts, missing: float, room: Room
) -> sp.csr_array:  # fmt: skip
    with np.errstate(divide="ignore", over="ignore"):
        limit = missing * trie.share() / np.exp(trie.largest(weight.log))
    weights, own_weights = np.exp(weight.log), np.exp(weight.own_log)
    influence = fit.influence[m]
    grow = np.exp(np.clip(influence, -700, 700))
    is_tame = bool(np.abs(influence).sum(axis=0).max() <= LARGEST)
    K, deepest = len(influence), int(trie.depth.max())
    logs = None if is_tame else Logs.to_walk(K, deepest)
    parts: dict[int, tuple[Any, Any, Any]] = {}
    for start in range(0, max(X.shape[0], 1), ROWS):
        rows = slice(start, start + ROWS)
        scores = linear_scores(X[rows], fit.coef[m], fit.intercept[m])
        size = max(min(len(scores) * trie.n_sets, ROOM), 1)
        given = (
            scores, influence, is_tame, grow, trie.position, trie.depth, trie.skip, trie.set_of,
            limit, weights, weight.own[rows], own_weights[rows], missing, room,
        )  # fmt: skip
        lengths = np.empty(len(scores), np.int64)
        out = lengths, np.empty(size, np.int32), np.empty(size)
        filled, columns, data = weigh_sets(*given, logs, *out)
        if filled < 0:
            logs = Logs.to_walk(K, deepest)
            filled, columns, data = weigh_sets(*given, logs, *out)
        parts[start] = lengths, columns[:filled], data[:filled]
    return joined_rows(parts, trie.n_sets)


def chain_joint_of_links(
    link: Link,
    order: ArrayLike,
    n: int,
    table: ArrayLike,
    counts: ArrayLike,
    a: float = 0.0,
    *,
    own: ArrayLike | None = None,
    own_weight: ArrayLike | None = None,
    missing: float = MISSING,
) -> sp.csr_array:
    """Return the same distribution for a chain of any classifiers with probabilities.

    Parameters
    ----------
    link : callable
        ``link(position, labels, rows)`` returns the probability, (m,), that the label at this position of the order is
        relevant for the instances ``rows`` (m,), given the labels at the positions before it, (m, position).
    order : array-like of int, shape (K,)
        The label at each position.
    n : int
        Number of instances.
    table, counts, a, own, own_weight, missing
        As in :func:`chain_joint`.

    Notes
    -----
    Each link is asked once for every distinct beginning of a seen set and every instance, many at a time: Σ_k n B_k
    rows, where B_k is the number of distinct beginnings of k labels, at most U.  Memory follows 2²² pairs of a label
    set and an instance.

    Examples
    --------
    >>> import numpy as np
    >>> alike = lambda position, labels, rows: np.where(labels.sum(axis=1) > 0, 0.9, 0.5)
    >>> chain_joint_of_links(alike, [0, 1], 1, [[0, 0], [1, 1]], [1, 1]).toarray().round(3)
    array([[0.357, 0.643]])
    """
    sets = check_sets(table, counts)
    check_missing(missing)
    at = np.asarray(order)
    if not np.array_equal(np.sort(at), np.arange(sets.shape[1])):
        raise ComitiaError(f"order must be a permutation of 0..{sets.shape[1] - 1}; got {at.tolist()}.")
    weight = Counts.of(counts, a, n, own, own_weight)
    step = max(1, PAIRS // len(sets))
    parts = {}
    for start in range(0, max(n, 1), step):
        rows = np.arange(start, min(start + step, n))
        logs, broken = _chain_rule(link, sets[:, at], rows)
        logs += weight.log
        if len(weight.own):
            known = np.flatnonzero(weight.own[rows] >= 0)
            mine = weight.own[rows[known]]
            logs[known, mine] += weight.own_log[rows[known]] - weight.log[mine]
        parts[start] = _heaviest(logs, broken, missing)
    return joined_rows(parts, len(sets))


def _chain_rule(link: Link, ordered: LabelArray, rows: NDArray[np.intp]) -> tuple[FloatArray, NDArray[np.int16]]:
    """Return log P(y) of each instance and set, (n, U), less what is impossible, and how often it is contradicted."""
    logs, broken = np.zeros((len(rows), 1)), np.zeros((len(rows), 1), np.int16)
    beginning = np.zeros(len(ordered), np.intp)
    first = np.zeros(1, np.intp)
    for k in range(ordered.shape[1]):
        relevant = _asked(link, k, ordered[first, :k], rows)
        _, first, after = np.unique(2 * beginning + ordered[:, k], return_index=True, return_inverse=True)
        before = beginning[first]
        q = np.where(ordered[first, k] == 1, relevant[:, before], 1 - relevant[:, before])
        possible = q > 0
        logs = logs[:, before] + np.log(np.where(possible, q, 1.0))
        broken = broken[:, before] + ~possible
        beginning = after
    return logs[:, beginning], broken[:, beginning]


def _asked(link: Link, position: int, labels: LabelArray, rows: NDArray[np.intp]) -> FloatArray:
    """Ask a link about all instances after each of the beginnings ``labels`` (B, position); return (n, B)."""
    probability = np.empty((len(rows), len(labels)))
    step = max(1, ASKED // max(len(rows), 1))
    for start in range(0, len(labels), step):
        some = labels[start : start + step]
        asked = link(position, np.repeat(some, len(rows), axis=0), np.tile(rows, len(some)))
        probability[:, start : start + step] = np.reshape(asked, (len(some), len(rows))).T
    return probability


def _heaviest(logs: FloatArray, broken: NDArray[np.int16], missing: float) -> tuple[Any, Any, Any]:
    """Return the rows' label sets and weights that sum to 1, without the lightest."""
    broken = np.where(np.isneginf(logs), np.iinfo(np.int16).max, broken)
    logs = np.where(broken == broken.min(axis=1, keepdims=True, initial=np.iinfo(np.int16).max), logs, -np.inf)
    best = logs.max(axis=1, keepdims=True, initial=-np.inf)
    weights = np.exp(logs - np.where(np.isneginf(best), 0.0, best))
    order = np.argsort(weights, axis=1)
    below = np.cumsum(np.take_along_axis(weights, order, axis=1), axis=1)
    light = below <= missing * below[:, -1:]
    dropped = np.empty_like(light)
    np.put_along_axis(dropped, order, light, axis=1)
    weights[dropped] = 0.0
    row, columns = np.nonzero(weights)
    lengths = np.bincount(row, minlength=len(weights))
    data = weights[row, columns] / weights.sum(axis=1)[row]
    return lengths, columns.astype(np.int32), data
