"""Multi-objective decision trees whose cost follows the labels that instances have, not the labels that exist."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from comitia._arrays import as_count, check_form
from comitia._clusters import Common, on_cluster
from comitia._errors import ComitiaError
from comitia._jobs import local_threads
from comitia.learners._tree_apply import apply_trees, mean_marginals
from comitia.learners._tree_codes import FeatureCodes, encode, thresholds
from comitia.learners._tree_growth import Limits, SparseLabels, grow
from comitia.learners._tree_input import (
    check_features,
    check_labelsets,
    check_limits,
    check_seeds,
    check_sparse_labels,
    weight_columns,
)
from comitia.learners._tree_leaves import LeafCounts, count_in_leaves

_PER_NODE = {
    "threshold": np.float64,
    "right": np.int32,
    "missing_left": np.bool_,
    "impurity": np.float64,
    "weight": np.float64,
    "n_samples": np.int32,
}


@dataclass(frozen=True, eq=False)
class MultiObjectiveTree:
    """One decision tree for all labels, in plain arrays.

    Nodes are numbered in preorder: the root is 0 and the left child of a node is the next node.  An instance goes left
    if its value is at most the threshold.  Leaves also have numbers of their own, 0 to ``n_leaves`` − 1 in that order.

    Parameters
    ----------
    n_features, n_labels : int
        Shape of the data that the tree was grown on.
    feature : int32 array of shape (n_nodes,)
        Feature that the node asks for; −1 in a leaf.
    threshold : float64 array of shape (n_nodes,)
        NaN in a leaf.
    right : int32 array of shape (n_nodes,)
        Right child; in a leaf the number of the leaf.
    missing_left : bool array of shape (n_nodes,)
        Whether missing values go left.
    impurity : float64 array of shape (n_nodes,)
        Gini impurity, the mean over the labels of 2 p (1 − p).
    weight : float64 array of shape (n_nodes,)
        Sum of the sample weights.
    n_samples : int32 array of shape (n_nodes,)
        Number of instances with a positive weight.
    labels : LeafCounts
        Weight of each label in each leaf.
    labelsets : LeafCounts or None
        Weight of each labelset in each leaf, if it was asked for.
    n_labelsets : int
        Number of columns of ``labelsets``.

    Examples
    --------
    >>> from comitia.learners import grow_trees
    >>> [tree.n_leaves for tree in grow_trees([[0.0], [1.0]], [[1, 0], [0, 1]], seeds=[0])]
    [2]
    """

    n_features: int
    n_labels: int
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    right: NDArray[np.int32]
    missing_left: NDArray[np.bool_]
    impurity: NDArray[np.float64]
    weight: NDArray[np.float64]
    n_samples: NDArray[np.int32]
    labels: LeafCounts
    labelsets: LeafCounts | None = None
    n_labelsets: int = 0

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.feature)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.labels.starts) - 1

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Whether each node is a leaf."""
        return self.feature < 0

    @cached_property
    def leaf_weight(self) -> NDArray[np.float64]:
        """Sum of the sample weights in each leaf."""
        return self.weight[self.is_leaf]

    @property
    def depth(self) -> int:
        """Number of questions on the longest way from the root to a leaf."""
        depth = np.zeros(self.n_nodes, np.int64)
        for node in np.flatnonzero(~self.is_leaf):
            depth[node + 1] = depth[self.right[node]] = depth[node] + 1
        return int(depth.max())

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each feature in the decrease of impurity; zeros if there is none."""
        inner = np.flatnonzero(~self.is_leaf)
        impurity = self.weight * self.impurity
        decrease = impurity[inner] - impurity[inner + 1] - impurity[self.right[inner]]
        importances = np.zeros(self.n_features)
        np.add.at(importances, self.feature[inner], decrease)
        total = importances.sum()
        return importances / total if total > 0 else importances

    def __post_init__(self) -> None:
        """Raise ComitiaError unless the arrays are a tree: compiled loops follow them without looking again."""
        as_count("the number of features of a tree", self.n_features, least=1)
        as_count("the number of labels of a tree", self.n_labels, least=1)
        as_count("the number of labelsets of a tree", self.n_labelsets)
        check_form("feature", self.feature, np.int32, (None,))
        for name, dtype in _PER_NODE.items():
            check_form(name, getattr(self, name), dtype, self.feature.shape)
        nodes = np.arange(self.n_nodes)
        inner = ~self.is_leaf
        if not (
            self.n_nodes
            and (self.feature < self.n_features).all()
            and (self.right[inner] > nodes[inner] + 1).all()
            and (self.right[inner] < self.n_nodes).all()
            and np.array_equal(self.right[~inner], np.arange(np.count_nonzero(~inner)))
        ):
            raise ComitiaError("a node of a tree must lead to later nodes by a feature that exists, or be a leaf.")
        weight = self.weight[self.is_leaf]
        if not (np.isfinite(weight) & (weight > 0)).all():
            raise ComitiaError("the weight of every leaf must be positive and finite.")
        if not isinstance(self.labels, LeafCounts) or not isinstance(self.labelsets, LeafCounts | None):
            raise ComitiaError("labels and labelsets must be LeafCounts.")
        self.labels.check(self.n_labels, weight)
        if self.labelsets is not None:
            self.labelsets.check(self.n_labelsets, weight)
            self.labelsets.check_complete(weight)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def apply(self, X: ArrayLike) -> NDArray[np.int32]:
        """Return the number of the leaf that each row of X falls into."""
        leaves: NDArray[np.int32] = apply_trees([self], X)[0]
        return leaves

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the marginals of the leaf that each row of X falls into, (n, K)."""
        return mean_marginals([self], apply_trees([self], X))

    def leaf_marginals(self) -> sparse.csr_array:
        """Return the weighted proportion of each label in each leaf, (n_leaves, K)."""
        return self._proportions(self.labels, self.n_labels)

    def leaf_labelsets(self) -> sparse.csr_array:
        """Return the weighted proportion of each labelset in each leaf, (n_leaves, U); rows sum to 1."""
        if self.labelsets is None:
            raise ComitiaError("the leaves hold no labelsets; grow_trees(…, labelsets=…) keeps them.")
        return self._proportions(self.labelsets, self.n_labelsets)

    def _proportions(self, table: LeafCounts, n_columns: int) -> sparse.csr_array:
        proportions = table.counts / np.repeat(self.leaf_weight, np.diff(table.starts))
        return sparse.csr_array((proportions, table.indices, table.starts), shape=(self.n_leaves, n_columns))


def grow_trees(
    X: ArrayLike | sparse.sparray,
    Y: ArrayLike | sparse.sparray,
    seeds: Iterable[int],
    *,
    sample_weight: NDArray[Any] | Iterable[ArrayLike] | None = None,
    labelsets: ArrayLike | None = None,
    max_features: Literal["sqrt"] | int | float | None = "sqrt",
    min_samples_leaf: int = 1,
    min_samples_split: int = 2,
    max_depth: int | None = None,
    min_impurity_decrease: float = 0.0,
    splitter: Literal["best", "random"] = "best",
    n_jobs: int | None = None,
    verbose: int = 0,
) -> list[MultiObjectiveTree]:
    r"""Grow multi-objective trees, one for each seed.

    Each split maximises the decrease of the Gini impurity summed over the labels, which for labels 0 and 1 ranks
    splits as their summed variance does.  With the weights :math:`L_k` and :math:`R_k` of label k on either side,

    .. math:: \sum_k \frac{L_k^2}{\sum_i w_i [i \in L]} + \sum_k \frac{R_k^2}{\sum_i w_i [i \in R]}

    is largest.  Trying a feature at a node of n instances costs O(n + their labels): labels that exist but that no
    instance of the node has cost nothing.  The values of a feature are ranked once for all trees.  A node with more
    than 4096 instances considers at most 256 cuts of a feature, evenly spaced between the ranks of its instances (all
    cuts if it has no more values); smaller nodes consider every cut.

    Features are drawn without replacement.  One that is constant in the node does not count towards ``max_features``,
    and drawing goes on until some feature can be cut; scikit-learn counts constant features and may give up, which
    loses accuracy where features are sparse.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        NaN is a missing value.  A split sends missing values to the side where they lower the impurity more, and to
        the larger side if it saw none.
    Y : 0/1 array or sparse matrix of shape (n, K)
    seeds : iterable of M integers
        Each tree draws its features from a generator of its own, started here.
    sample_weight : array of shape (n,) or (n, M), or iterable of M arrays of shape (n,), optional
        Weights for all trees or for each; a bootstrap is a column of counts.  Instances of weight zero are left out.
        Sums of weights are exact as long as weights are integers.
    labelsets : array of n integers, optional
        The labelset of each instance as its row in a table of labelsets; leaves then count labelsets too.
    max_features : "sqrt", int, float or None
        Number of features that each split chooses from: √d, that many, that share of them, or all.
    min_samples_leaf, min_samples_split : int
        Smallest number of instances, whatever their weight, in a leaf and in a node that is split.
    max_depth : int, optional
    min_impurity_decrease : float
        Smallest decrease that a split must bring, weighted by the share of the tree's weight that the node has.
    splitter : "best" or "random"
        Whether each feature that is tried is cut where that is best, or once, at random (extra-random trees, Geurts et
        al. 2006): halfway between two neighbours, drawn evenly, of the values in the training data that lie between its
        smallest and largest value in the node.  Drawing by rank, not by size, makes a tree the same whatever the scale
        of its features is.  The best of the features tried is taken in both cases.  A random cut that leaves too few
        instances on a side is none.
    n_jobs : int, optional
        Number of threads; the trees do not depend on it.
    verbose : int
        How much joblib tells of the progress.

    Returns
    -------
    list of MultiObjectiveTree
        In the order of the seeds.

    References
    ----------
    H. Blockeel, L. De Raedt and J. Ramon, "Top-down induction of clustering trees", ICML 1998.
    D. Kocev, C. Vens, J. Struyf and S. Džeroski, "Ensembles of multi-objective decision trees", ECML 2007.
    P. Geurts, D. Ernst and L. Wehenkel, "Extremely randomized trees", Machine Learning 63, 2006.

    Examples
    --------
    >>> from comitia.learners import grow_trees
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> Y = [[1, 0, 1], [1, 0, 1], [0, 1, 1], [0, 0, 1]]
    >>> (tree,) = grow_trees(X, Y, seeds=[0], max_depth=1)
    >>> tree.apply(X)
    array([0, 0, 1, 1], dtype=int32)
    >>> tree.leaf_marginals().toarray()
    array([[1. , 0. , 1. ],
           [0. , 0.5, 1. ]])
    """
    X = check_features(X)
    n, d = X.shape
    labels = check_sparse_labels(Y, n)
    sets = None if labelsets is None else check_labelsets(labelsets, n)
    seeds = check_seeds(seeds)
    limits = check_limits(
        d,
        max_features=max_features,
        min_samples_leaf=min_samples_leaf,
        min_samples_split=min_samples_split,
        max_depth=max_depth,
        min_impurity_decrease=min_impurity_decrease,
    )._replace(random_cuts=_is_random(splitter))
    weights = weight_columns(sample_weight, n, len(seeds))
    features = encode(X)

    def shared() -> Any:
        return features, labels, sets, list(weights), limits, seeds

    elsewhere = on_cluster(_grow_there, Common(shared), range(len(seeds)), n_jobs)
    if elsewhere is not None:
        return elsewhere
    each = zip(weights, seeds, strict=True)
    jobs = (delayed(_grow_tree)(features, labels, sets, weight, limits, seed) for weight, seed in each)
    threads = max(1, min(local_threads(n_jobs), len(seeds)))
    return list(Parallel(n_jobs=threads, require="sharedmem", verbose=verbose)(jobs))


def _grow_there(shared: tuple[Any, ...], at: int) -> MultiObjectiveTree:
    features, labels, sets, weights, limits, seeds = shared
    return _grow_tree(features, labels, sets, weights[at], limits, seeds[at])


def _grow_tree(
    features: FeatureCodes,
    labels: SparseLabels,
    labelsets: NDArray[np.int32] | None,
    weight: NDArray[np.float64],
    limits: Limits,
    seed: int,
) -> MultiObjectiveTree:
    grown = grow(features, labels, weight, limits, seed)

    def count(starts: NDArray[np.int64], indices: NDArray[np.int32], n_columns: int) -> LeafCounts:
        return count_in_leaves(grown.rows, grown.bounds, starts, indices, n_columns, weight)

    n_labelsets = 0 if labelsets is None else int(labelsets.max()) + 1
    return MultiObjectiveTree(
        n_features=len(features.n_values),
        n_labels=labels.n_labels,
        feature=grown.feature,
        threshold=thresholds(features, grown.feature, grown.low, grown.high),
        right=grown.right,
        missing_left=grown.missing_left,
        impurity=grown.impurity,
        weight=grown.weight,
        n_samples=grown.n_samples,
        labels=count(*labels),
        labelsets=None if labelsets is None else count(np.arange(len(labelsets) + 1), labelsets, n_labelsets),
        n_labelsets=n_labelsets,
    )


def _is_random(splitter: str) -> bool:
    if splitter not in ("best", "random"):
        raise ComitiaError(f"splitter must be 'best' or 'random'; got {splitter!r}.")
    return splitter == "random"
