"""Boosted multi-objective trees: sequences of small trees, each of which serves all labels at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from comitia._arrays import as_count, check_form
from comitia._clusters import Common, on_cluster
from comitia._errors import ComitiaError
from comitia._jobs import local_threads
from comitia._threads import Helpers, over_slices
from comitia.learners._boost_bins import bin_features
from comitia.learners._boost_input import check_settings
from comitia.learners._boost_rounds import boost
from comitia.learners._boost_scores import add_values
from comitia.learners._few_rows import FEW
from comitia.learners._tree_codes import encode
from comitia.learners._tree_input import check_features, check_seeds, check_sparse_labels, weight_columns

_PER_NODE = {"threshold": np.float64, "right": np.int32, "missing_left": np.bool_, "gain": np.float64}

_ROWS_AT_ONCE = 256
"""Instances that pass all trees before the next do: their scores stay in the cache."""


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    r"""A boosted sequence of trees, in plain arrays, tree after tree.

    The log-odds of label k are ``base[k]`` plus the values that the leaves of all trees have for it.  Nodes of a tree
    are in preorder: the left child of a node is the next node; an instance goes left if its value is at most the
    threshold.

    Parameters
    ----------
    n_features, n_labels : int
    base : float64 array of shape (K,)
        Log-odds before the first tree.
    tree_starts, leaf_starts : int64 arrays of shape (n_rounds + 1,)
        Where the nodes and the leaves of each tree begin.
    feature : int32 array of shape (n_nodes,)
        Feature that the node asks for; −1 in a leaf.
    threshold : float64 array of shape (n_nodes,)
        NaN in a leaf.
    right : int32 array of shape (n_nodes,)
        Right child, counted from the tree's first node; in a leaf its number, counted from the tree's first leaf.
    missing_left : bool array of shape (n_nodes,)
        Whether missing values go left.
    gain : float64 array of shape (n_nodes,)
        What the split gained; zero in a leaf.
    values : float32 array of shape (n_leaves, K)
        What a leaf adds to the log-odds, shrinkage included.
    losses : float64 array of shape (n_rounds + 1,)
        Mean log loss, over labels and unseen instances, before the first tree and after each; empty if all instances
        were seen.

    Examples
    --------
    >>> from comitia.learners import boost_trees
    >>> (trees,) = boost_trees([[0.0], [1.0], [2.0], [3.0]] * 5, [[0], [0], [1], [1]] * 5, seeds=[0], max_rounds=3)
    >>> trees.n_rounds, trees.values.shape
    (3, (6, 1))
    """

    n_features: int
    n_labels: int
    base: NDArray[np.float64]
    tree_starts: NDArray[np.int64]
    leaf_starts: NDArray[np.int64]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    right: NDArray[np.int32]
    missing_left: NDArray[np.bool_]
    gain: NDArray[np.float64]
    values: NDArray[np.float32]
    losses: NDArray[np.float64]

    @property
    def n_rounds(self) -> int:
        """Number of trees."""
        return len(self.tree_starts) - 1

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each feature in what all splits gained; zeros if there is none."""
        return self.feature_importances(self.n_rounds)

    def feature_importances(self, n_rounds: int) -> NDArray[np.float64]:
        """Return the share of each feature in what the splits of the first trees gained; zeros if there is none."""
        nodes = slice(self.tree_starts[min(n_rounds, self.n_rounds)])
        inner = self.feature[nodes] >= 0
        importances = np.bincount(self.feature[nodes][inner], self.gain[nodes][inner], minlength=self.n_features)
        total = importances.sum()
        return np.asarray(importances / total if total > 0 else importances)

    def __post_init__(self) -> None:
        """Raise ComitiaError unless the arrays are trees: compiled loops follow them without looking again."""
        as_count("the number of features of boosted trees", self.n_features, least=1)
        as_count("the number of labels of boosted trees", self.n_labels, least=1)
        check_form("feature", self.feature, np.int32, (None,))
        for name, dtype in _PER_NODE.items():
            check_form(name, getattr(self, name), dtype, self.feature.shape)
        for name in ("tree_starts", "leaf_starts"):
            check_form(name, getattr(self, name), np.int64, (None,))
        check_form("base", self.base, np.float64, (self.n_labels,))
        check_form("values", self.values, np.float32, (None, self.n_labels))
        check_form("losses", self.losses, np.float64, (None,))
        if not np.isfinite(self.values).all() or np.isnan(self.base).any():
            raise ComitiaError("the values of leaves must be finite.")
        self._check_nodes()

    def _check_nodes(self) -> None:
        n_nodes, n_leaves = len(self.feature), len(self.values)
        for starts, end in ((self.tree_starts, n_nodes), (self.leaf_starts, n_leaves)):
            if len(starts) != self.n_rounds + 1 or starts[0] != 0 or starts[-1] != end or (np.diff(starts) < 1).any():
                raise ComitiaError("the trees of a boosted sequence must follow each other without a gap.")
        at = np.arange(n_nodes) - np.repeat(self.tree_starts[:-1], np.diff(self.tree_starts))
        size = np.repeat(np.diff(self.tree_starts), np.diff(self.tree_starts))
        leaf = self.feature < 0
        leaf_numbers = np.arange(n_leaves) - np.repeat(self.leaf_starts[:-1], np.diff(self.leaf_starts))
        if not (
            (self.feature < self.n_features).all()
            and (self.right[~leaf] > at[~leaf] + 1).all()
            and (self.right[~leaf] < size[~leaf]).all()
            and np.array_equal(self.right[leaf], leaf_numbers)
        ):
            raise ComitiaError("a node of a tree must lead to later nodes by a feature that exists, or be a leaf.")


def boost_trees(
    X: ArrayLike | sparse.sparray,
    Y: ArrayLike | sparse.sparray,
    seeds: Iterable[int],
    *,
    sample_weight: NDArray[Any] | Iterable[ArrayLike] | None = None,
    unseen_weight: ArrayLike | None = None,
    learning_rate: float = 0.1,
    max_rounds: int = 500,
    max_leaves: int = 15,
    max_depth: int | None = None,
    min_samples_leaf: float = 3,
    l2: float = 3.0,
    max_features: int | float | None = 0.2,
    subsample: float = 0.6,
    max_bins: int = 64,
    sketch: Literal["auto"] | int | None = "auto",
    patience: int = 25,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> list[BoostedTrees]:
    r"""Boost multi-objective trees for the logistic loss of all labels, one sequence for each seed.

    With the gradients :math:`g_{ik} = p_{ik} - y_{ik}` and curvatures :math:`h_{ik} = p_{ik}(1 - p_{ik})` of the loss
    at the scores so far, a round grows one tree, the leaf that gains the most first, and gives its leaves Newton's
    values for every label,

    .. math:: v_{lk} = -\eta \frac{\sum_{i \in l} w_i g_{ik}}{\sum_{i \in l} w_i h_{ik} + \lambda}.

    A split maximises :math:`\sum_k \bar h_k^{-1/2} G_k^2 / (w + \lambda)`, summed over both sides, where :math:`G_k`
    is the weighted sum of the gradients of label k, w the weight of the side and :math:`\bar h_k` the mean curvature
    of the label: halfway between gradients alone, for which only frequent labels count, and Newton's own gain, by
    which rare ones do.  With many labels the gradients are first multiplied by a matrix of random signs, drawn anew
    for every tree (a random projection, which keeps sums of squares in expectation), so that finding the tree costs
    the same for any number of labels.

    Gradients are rounded to integers whose sums fit 32 bits, so that sums are exact: a result depends neither on the
    order of adding nor on how features are stored.  A round costs O(n d' S + n K) for n instances, d' features and S
    outputs.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        NaN is a missing value; it goes to the side where it gains more, and to the heavier one if a split saw none.
    Y : 0/1 array or sparse matrix of shape (n, K)
    seeds : iterable of M integers
    sample_weight : array of shape (n,) or (n, M), or iterable of M arrays of shape (n,), optional
        Weights for all sequences or for each; a bootstrap is a column of counts.  Instances of weight zero are not
        learnt from; by their log loss the sequence knows when to stop.
    unseen_weight : array of shape (n,), optional
        What an instance counts where it is not learnt from; 1 by default.
    learning_rate : float
        η, the share of Newton's step that is taken.
    max_rounds : int
        Most trees of a sequence; all of them are grown where no instance has weight zero.
    max_leaves, max_depth : int, int or None
        Limits of a tree.
    min_samples_leaf : float
        Smallest sum of weights in a leaf: an instance of weight w counts as w.
    l2 : float
        λ, the penalty on the values of leaves.
    max_features : int, float or None
        Number of features that each tree is grown on: that many, that share of them but at least five, or all.
    subsample : float
        Share of the instances whose gradients decide on the splits of a tree.  The values of its leaves come from all.
    max_bins : int
        Most bins that the values of a feature are put into, from 2 to 255.
    sketch : "auto", int or None
        Number of outputs that the gradients are projected to; ``None`` projects none.  ``"auto"`` takes 15 if there are
        more than 23 labels.
    patience : int
        Stop after so many rounds that did not lower the loss of unseen instances.  Trees after the best are kept:
        :func:`common_rounds` says how many to use.
    n_jobs : int, optional
        Number of threads; the trees do not depend on it.
    verbose : int
        How much joblib tells of the progress.

    Returns
    -------
    list of BoostedTrees
        In the order of the seeds.

    References
    ----------
    J. Friedman, "Greedy function approximation: a gradient boosting machine", Annals of Statistics 29, 2001.
    L. Iosipoi and A. Vakhrushev, "SketchBoost: fast gradient boosted decision tree for multioutput problems",
    NeurIPS 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from comitia.learners import boost_trees, predict_boosted
    >>> X = np.arange(40.0)[:, np.newaxis]
    >>> Y = np.hstack([X < 10, X >= 20]).astype(int)
    >>> models = boost_trees(X, Y, seeds=[0], max_rounds=50)
    >>> (p,) = predict_boosted(models, X[[0, 15, 39]])
    >>> p.round()
    array([[1., 0.],
           [0., 0.],
           [0., 1.]])
    """
    X = check_features(X)
    n, d = X.shape
    labels = check_sparse_labels(Y, n)
    seeds = check_seeds(seeds)
    settings = check_settings(
        d,
        labels.n_labels,
        learning_rate=learning_rate,
        max_rounds=max_rounds,
        max_leaves=max_leaves,
        max_depth=max_depth,
        min_samples_leaf=min_samples_leaf,
        l2=l2,
        max_features=max_features,
        subsample=subsample,
        max_bins=max_bins,
        sketch=sketch,
        patience=patience,
    )
    weights = weight_columns(sample_weight, n, len(seeds))
    judged = next(weight_columns(None if unseen_weight is None else np.asarray(unseen_weight), n, 1))
    codes = encode(X)
    bins = bin_features(codes, n, settings.max_bins)
    dense = np.zeros((n, labels.n_labels), np.int8)
    dense[np.repeat(np.arange(n), np.diff(labels.starts)), labels.indices] = 1

    def shared() -> Any:
        return codes, bins, dense, list(weights), judged, settings, seeds

    fits = on_cluster(_boost_there, Common(shared), range(len(seeds)), n_jobs)
    if fits is None:
        threads = local_threads(n_jobs)
        with Helpers(threads, len(seeds)) as helpers:
            jobs = (
                delayed(boost)(codes, bins, dense, weight, judged, settings, seed, helpers)
                for seed, weight in zip(seeds, weights, strict=True)
            )
            fits = Parallel(n_jobs=min(threads, len(seeds)), require="sharedmem", verbose=verbose)(jobs)
    return [BoostedTrees(d, labels.n_labels, *fit) for fit in fits]


def _boost_there(shared: tuple[Any, ...], at: int) -> Any:
    codes, bins, dense, weights, judged, settings, seeds = shared
    with Helpers(threads=1, pieces=1) as helpers:
        return boost(codes, bins, dense, weights[at], judged, settings, seeds[at], helpers)


def common_rounds(models: Sequence[BoostedTrees]) -> int:
    """Return the number of trees after which the log loss of unseen instances, averaged over sequences, is smallest.

    Each sequence has its own unseen instances; a number that is common to all hangs on none of them much, so that
    beliefs about unseen instances stay honest.  A sequence that has ended goes on with its last loss.
    """
    longest = max(model.n_rounds for model in models)
    curves = [
        np.pad(model.losses, (0, longest + 1), mode="edge")[: longest + 1] for model in models if len(model.losses)
    ]
    return int(np.mean(curves, axis=0).argmin()) if curves else longest


def predict_boosted(
    models: Sequence[BoostedTrees], X: ArrayLike | sparse.sparray, n_rounds: int | None = None
) -> Iterator[NDArray[np.float64]]:
    """Yield the probabilities (n, K) that each of the sequences, or their first trees, gives to the labels of X.

    Costs O(n (depth + K)) a tree.  A sparse X is made dense a slice at a time.

    Parameters
    ----------
    models : sequence of BoostedTrees
    X : array or sparse matrix, shape (n, d)
    n_rounds : int, optional
        How many trees of each sequence are asked; all by default.

    Examples
    --------
    >>> from comitia.learners import boost_trees, predict_boosted
    >>> models = boost_trees([[0.0], [1.0], [2.0], [3.0]] * 5, [[0], [0], [1], [1]] * 5, seeds=[0, 1], max_rounds=20)
    >>> [p.round().tolist() for p in predict_boosted(models, [[0.0], [3.0]])]
    [[[0.0], [1.0]], [[0.0], [1.0]]]
    """
    if not models:
        raise ComitiaError("at least one boosted sequence is needed; got none.")
    X = check_features(X)
    for model in models:
        if X.shape[1] != model.n_features:
            raise ComitiaError(f"X has {X.shape[1]} features, but the trees were grown on {model.n_features}.")
    if X.shape[0] <= FEW:
        yield from _of_few(models, X, n_rounds)
        return
    for model in models:
        yield _probabilities(model, X, n_rounds)


def _probabilities(model: BoostedTrees, X: Any, n_rounds: int | None) -> NDArray[np.float64]:
    scores = np.tile(model.base, (X.shape[0], 1))

    def add_rows(rows: slice) -> None:
        for start in range(rows.start, rows.stop, _ROWS_AT_ONCE):
            part = slice(start, min(start + _ROWS_AT_ONCE, rows.stop))
            _add(model, X[part].toarray() if sparse.issparse(X) else X[part], n_rounds, scores[part])
            scores[part] = _sigmoid(scores[part])

    over_slices(add_rows, len(scores))
    return scores


def _of_few(models: Sequence[BoostedTrees], X: Any, n_rounds: int | None) -> NDArray[np.float64]:
    """Return the probabilities (M, n, K) of all sequences at once, which takes less than what Python does for each."""
    X = np.ascontiguousarray(X.toarray() if sparse.issparse(X) else X)
    scores = np.repeat(np.array([model.base for model in models])[:, None, :], len(X), axis=1)
    for model, found in zip(models, scores, strict=True):
        _add(model, X, n_rounds, found)
    return _sigmoid(scores)


def _add(model: BoostedTrees, X: Any, n_rounds: int | None, scores: NDArray[np.float64]) -> None:
    """Add what the first trees of a sequence, or all, say about dense X to ``scores`` (n, K)."""
    add_values(
        np.ascontiguousarray(X),
        model.feature,
        model.threshold,
        model.right,
        model.missing_left,
        model.tree_starts if n_rounds is None else model.tree_starts[: n_rounds + 1],
        model.values,
        model.leaf_starts,
        scores,
    )


def _sigmoid(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1.0 / (1.0 + np.exp(-scores)))
