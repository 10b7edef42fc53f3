"""Extra-random trees: one cut a feature, drawn; all else as in trees of best cuts."""

import numpy as np
import pytest
from scipy import sparse
from tests.learners.test_tree import KINDS, assert_same
from tests.learners.tree_twins import goes_left, make_data, nodes_of, score

from comitia.learners._tree import grow_trees
from comitia.learners._tree_codes import encode


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("min_samples_leaf", [1, 4])
def test_every_split_has_enough_instances_on_both_sides_and_leaves_are_what_the_walk_says(kind, min_samples_leaf):
    X, Y = make_data(120, 6, 5, kind=kind)
    for tree in grow_trees(X, Y, range(5), splitter="random", min_samples_leaf=min_samples_leaf):
        assert tree.n_leaves > 3
        for node, rows in nodes_of(tree, X).items():
            assert len(rows) == tree.n_samples[node] >= min_samples_leaf
            if tree.feature[node] >= 0:
                assert 0 < goes_left(tree, node, X[rows]).sum() < len(rows)


def test_a_single_feature_is_cut_evenly_over_the_ranks_of_its_values():
    X = np.exp(np.arange(9.0))[:, np.newaxis]
    Y = np.random.default_rng(0).integers(0, 2, (9, 3))
    trees = grow_trees(X, Y, range(4000), splitter="random", max_depth=1)
    cut = np.array([(X[:, 0] <= tree.threshold[0]).sum() for tree in trees])
    counts = np.bincount(cut, minlength=9)[1:]
    assert ((counts - 500) ** 2 / 500).sum() < 24.3  # the 0.999 quantile of χ² with 7 degrees of freedom


def test_the_best_of_the_features_tried_is_taken():
    X = np.random.default_rng(0).integers(0, 2, (200, 6)).astype(float)  # a feature of two values has one cut
    Y = (X[:, [0, 1, 0]] + np.random.default_rng(1).random((200, 3)) > 1.2).astype(int)
    (random,) = grow_trees(X, Y, [0], splitter="random", max_features=None)
    for node, rows in nodes_of(random, X).items():
        if random.feature[node] >= 0:
            scores = [score(Y[rows], np.ones(len(rows)), x == 0) for x in X[rows].T if 0 < x.sum() < len(x)]
            assert score(Y[rows], np.ones(len(rows)), goes_left(random, node, X[rows])) == pytest.approx(max(scores))


def test_counts_as_weights_equal_repeated_instances():
    X, Y = make_data(80, 4, 3)
    counts = np.random.default_rng(0).poisson(1.0, 80)
    (weighted,) = grow_trees(X, Y, [3], sample_weight=counts.astype(float), splitter="random")
    kept = counts > 0
    repeated = np.repeat(X[kept], counts[kept], axis=0), np.repeat(Y[kept], counts[kept], axis=0)
    (without,) = grow_trees(X[kept], Y[kept], [3], sample_weight=counts[kept].astype(float), splitter="random")
    (copies,) = grow_trees(*repeated, [3], splitter="random")
    np.testing.assert_array_equal(without.threshold, copies.threshold)
    np.testing.assert_array_equal(weighted.weight[0], copies.weight[0])


def test_any_number_of_jobs_grows_the_same_trees():
    X, Y = make_data(200, 9, 4, kind="missing")
    one = grow_trees(X, Y, range(6), splitter="random", n_jobs=1)
    two = grow_trees(X, Y, range(6), splitter="random", n_jobs=2)
    for a, b in zip(one, two, strict=True):
        assert_same(a, b)


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_features_grow_the_same_tree_as_dense_ones(kind, monkeypatch):
    X, Y = make_data(200, 9, 4, kind=kind)
    (dense,) = grow_trees(X, Y, [0], splitter="random", max_features=None)
    (tree,) = grow_trees(sparse.csr_array(X), Y, [0], splitter="random", max_features=None)
    assert_same(dense, tree)
    monkeypatch.setattr("comitia.learners._tree.encode", lambda X: encode(X, dense_codes=0))
    (listed,) = grow_trees(sparse.csr_array(X), Y, [0], splitter="random", max_features=None)
    np.testing.assert_array_equal(tree.weight[0], listed.weight[0])
    assert listed.n_leaves > 3


def test_values_missing_from_one_kind_of_instance_tell_it_apart():
    x = np.r_[np.full(10, 3.0), np.full(5, np.nan)]
    (tree,) = grow_trees(x[:, np.newaxis], np.isnan(x)[:, np.newaxis], [0], splitter="random")
    np.testing.assert_array_equal(tree.predict_proba([[1e9], [-1e9], [np.nan]]).ravel(), [0, 0, 1])


def test_another_splitter_is_refused():
    with pytest.raises(ValueError, match="splitter must be 'best' or 'random'; got 'Random'"):
        grow_trees([[0.0], [1.0]], [[0], [1]], [0], splitter="Random")
