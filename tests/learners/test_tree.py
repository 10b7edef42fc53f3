"""Growing multi-objective trees: every split against brute force, whole trees against scikit-learn's."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.learners.tree_twins import best_score, goes_left, make_data, nodes_of, score

from comitia.learners import _tree_split
from comitia.learners._tree import MultiObjectiveTree, grow_trees
from comitia.learners._tree_codes import encode

KINDS = ["continuous", "few values", "mostly zero", "missing"]
FIELDS = ("feature", "threshold", "right", "missing_left", "impurity", "weight", "n_samples")


def assert_same(one: MultiObjectiveTree, two: MultiObjectiveTree) -> None:
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(one, field), getattr(two, field), err_msg=field)
    np.testing.assert_array_equal(one.leaf_marginals().toarray(), two.leaf_marginals().toarray())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weights", ["ones", "counts", "real"])
@pytest.mark.parametrize("min_samples_leaf", [1, 4])
def test_every_split_is_the_best_of_all(kind, weights, min_samples_leaf):
    for seed in range(3):
        X, Y = make_data(80, 4, 5, seed, kind=kind)
        rng = np.random.default_rng(seed)
        weight = {"ones": np.ones(80), "counts": rng.poisson(1.0, 80) * 1.0, "real": rng.uniform(0.1, 2, 80)}[weights]
        (tree,) = grow_trees(X, Y, [seed], sample_weight=weight, max_features=None, min_samples_leaf=min_samples_leaf)
        kept = weight > 0
        X, Y, weight = X[kept], Y[kept], weight[kept]
        assert tree.n_leaves > 3
        for node, rows in nodes_of(tree, X).items():
            best = best_score(X[rows], Y[rows], weight[rows], min_samples_leaf)
            if tree.feature[node] >= 0:
                reached = score(Y[rows], weight[rows], goes_left(tree, node, X[rows]))
                assert reached == pytest.approx(best, rel=1e-12)
            else:
                assert best < 0 or (Y[rows] == Y[rows[0]]).all()


@pytest.mark.parametrize(
    "settings", [{"min_samples_leaf": 5}, {"min_samples_leaf": 5, "max_depth": 4}, {"min_samples_split": 20}]
)
@pytest.mark.parametrize("kind", ["continuous", "missing"])
def test_a_tree_on_all_features_equals_scikit_learns(settings, kind):
    X, Y = make_data(300, 6, 4, kind=kind)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 300)  # no two cuts are equally good
    (tree,) = grow_trees(X, Y, [0], sample_weight=weight, max_features=None, **settings)
    peer = DecisionTreeRegressor(random_state=0, **settings).fit(X, Y, sample_weight=weight)
    leaves = peer.tree_.children_left < 0
    arrived = np.bincount(peer.apply(X), weight, len(leaves))
    if kind == "missing" and not np.allclose(arrived[leaves], peer.tree_.weighted_n_node_samples[leaves]):
        pytest.skip("this scikit-learn (1.6 does) grew the tree on other rows than those that arrive in its leaves")
    assert tree.n_leaves == peer.get_n_leaves()
    assert tree.depth == peer.get_depth()
    np.testing.assert_allclose(tree.predict_proba(X), peer.predict(X))
    np.testing.assert_allclose(tree.feature_importances_, peer.feature_importances_)


@pytest.mark.parametrize("least", [0.001, 0.005, 0.02])
def test_min_impurity_decrease_means_what_it_means_in_scikit_learn(least):
    X, Y = make_data(300, 6, 4)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 300)
    (tree,) = grow_trees(X, Y, [0], sample_weight=weight, max_features=None, min_impurity_decrease=least)
    peer = DecisionTreeClassifier(random_state=0, min_impurity_decrease=least).fit(X, Y, sample_weight=weight)
    assert 1 < tree.n_leaves == peer.get_n_leaves()
    np.testing.assert_allclose(np.sort(tree.impurity), np.sort(peer.tree_.impurity), atol=1e-12)


def test_counts_as_weights_equal_repeated_instances():
    X, Y = make_data(80, 4, 3)
    counts = np.random.default_rng(0).poisson(1.0, 80)
    (weighted,) = grow_trees(X, Y, [3], sample_weight=counts.astype(float))
    (repeated,) = grow_trees(np.repeat(X, counts, axis=0), np.repeat(Y, counts, axis=0), [3])
    np.testing.assert_array_equal(weighted.threshold, repeated.threshold)
    np.testing.assert_array_equal(weighted.weight, repeated.weight)
    np.testing.assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))


def test_instances_of_weight_zero_are_left_out():
    X, Y = make_data(80, 4, 3)
    weight = np.random.default_rng(0).uniform(0.5, 1.0, 80)
    weight[::3] = 0.0
    kept = weight > 0
    (tree,) = grow_trees(X, Y, [1], sample_weight=weight)
    (without,) = grow_trees(X[kept], Y[kept], [1], sample_weight=weight[kept])
    assert_same(tree, without)
    assert tree.n_samples[0] == kept.sum()


def test_any_number_of_jobs_and_any_form_of_weights_grow_the_same_trees():
    X, Y = make_data(200, 9, 4)
    weight = np.random.default_rng(0).poisson(1.0, (200, 6)).astype(float)
    one = grow_trees(X, Y, range(6), sample_weight=weight, n_jobs=1)
    two = grow_trees(X, Y, range(6), sample_weight=(column for column in weight.T), n_jobs=2)
    for a, b in zip(one, two, strict=True):
        assert_same(a, b)


def test_a_tree_depends_on_its_seed_and_weights_alone():
    X, Y = make_data(200, 9, 4)
    (alone,) = grow_trees(X, Y, [7])
    among = grow_trees(X, Y, [3, 7, 9], sample_weight=np.ones((200, 3)))
    assert_same(alone, among[1])
    assert not np.array_equal(among[0].feature, among[1].feature)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
def test_sparse_features_and_labels_grow_the_same_tree_as_dense_ones(form):
    X, Y = make_data(200, 9, 4, kind="mostly zero")
    (dense,) = grow_trees(X, Y, [0])
    (tree,) = grow_trees(form(X), form(Y), [0])
    assert_same(dense, tree)
    np.testing.assert_array_equal(dense.apply(X), tree.apply(form(X)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [300, 30])
def test_features_too_many_to_make_dense_grow_the_same_tree(kind, n, monkeypatch):
    X, Y = make_data(n, 40, 4, kind=kind)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, n)  # no two cuts are equally good
    settings = {"sample_weight": weight, "max_features": None, "min_samples_leaf": 5}
    (tree,) = grow_trees(X, Y, [0], **settings)
    monkeypatch.setattr("comitia.learners._tree.encode", lambda X: encode(X, dense_codes=0))
    (listed,) = grow_trees(sparse.csr_array(X), Y, [0], **settings)
    assert_same(tree, listed)


def test_features_that_no_instance_of_a_node_lists_do_not_count(monkeypatch):
    monkeypatch.setattr("comitia.learners._tree.encode", lambda X: encode(X, dense_codes=0))
    rng = np.random.default_rng(0)
    X = sparse.csr_array((rng.random((60, 2000)) < 0.002) * rng.integers(1, 4, (60, 2000)) * 1.0)
    Y = rng.integers(0, 2, (60, 5))
    trees = grow_trees(X, Y, range(20), max_features=1)
    for tree in trees:
        for node, rows in nodes_of(tree, X.toarray()).items():
            if tree.feature[node] < 0:
                dense = X[rows].toarray()
                assert (Y[rows] == Y[rows[0]]).all() or (dense == dense[0]).all()
    assert len({tree.feature[0] for tree in trees}) > 10


@pytest.mark.parametrize("kind", ["few values", "continuous", "missing"])
def test_a_large_node_finds_the_best_cut_of_few_values_and_nearly_the_best_of_many(kind):
    n = _tree_split.LARGE_NODE + 500
    X, Y = make_data(n, 2, 3, kind=kind)
    (tree,) = grow_trees(X, Y, [0], max_features=None, max_depth=1)
    reached = score(Y, np.ones(n), goes_left(tree, 0, X))
    parent = (Y.sum(axis=0) ** 2).sum() / n
    gain = (reached - parent) / (best_score(X, Y, np.ones(n)) - parent)
    assert gain == pytest.approx(1.0, rel=1e-9 if kind == "few values" else 0.02)


def test_constant_features_do_not_count():
    X, Y = make_data(100, 1, 3)
    X = np.hstack([np.ones((100, 50)), X])
    for seed in range(5):
        (tree,) = grow_trees(X, Y, [seed], max_features=1)
        assert (tree.feature[~tree.is_leaf] == 50).all()
        np.testing.assert_array_equal(tree.predict_proba(X), Y)


def test_drawing_goes_on_until_a_feature_can_be_cut():
    X = np.zeros((100, 51))
    X[np.arange(50), np.arange(50)] = 1.0  # fifty features that leave a single instance on one side
    X[:, 50] = np.arange(100) % 2
    Y = X[:, [50]].astype(np.int8)
    for seed in range(5):
        (tree,) = grow_trees(X, Y, [seed], max_features=1, min_samples_leaf=10)
        assert tree.feature.tolist() == [50, -1, -1]


def test_features_are_drawn_with_equal_chances():
    X, Y = np.tile(np.arange(40.0)[:, np.newaxis], 8), (np.arange(40) >= 20)[:, np.newaxis]
    trees = grow_trees(X, Y, range(4000), max_features=1)
    counts = np.bincount([tree.feature[0] for tree in trees], minlength=8)
    assert ((counts - 500) ** 2 / 500).sum() < 24.3  # the 0.999 quantile of χ² with 7 degrees of freedom


def test_a_split_that_gains_nothing_at_once_is_made():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 3)
    Y = (X[:, [0]] != X[:, [1]]).astype(np.int8)
    (tree,) = grow_trees(X, Y, [0], max_features=None)
    np.testing.assert_array_equal(tree.predict_proba(X), Y)


def test_instances_that_agree_are_not_split():
    X, _ = make_data(50, 3, 1)
    (tree,) = grow_trees(X, np.tile([1, 0, 1], (50, 1)), [0])
    assert tree.n_leaves == 1
    assert tree.depth == 0
    np.testing.assert_array_equal(tree.feature_importances_, np.zeros(3))
    np.testing.assert_array_equal(tree.predict_proba(X[:2]), [[1, 0, 1]] * 2)


def test_values_missing_from_training_go_to_the_larger_side():
    X = np.arange(10.0)[:, np.newaxis]
    for n_ones, share in ((3, 0.0), (7, 1.0)):
        (tree,) = grow_trees(X, np.arange(10)[:, np.newaxis] < n_ones, [0])
        assert tree.predict_proba([[np.nan]]).item() == share


def test_values_missing_from_one_kind_of_instance_tell_it_apart():
    x = np.r_[np.arange(10.0), np.full(5, np.nan)]
    (tree,) = grow_trees(x[:, np.newaxis], np.isnan(x)[:, np.newaxis], [0])
    assert tree.n_leaves == 2
    np.testing.assert_array_equal(tree.predict_proba([[1e9], [-1e9], [np.nan]]).ravel(), [0, 0, 1])


def test_a_threshold_separates_neighbouring_numbers():
    x = np.array([1.0, np.nextafter(1.0, 2.0), np.nextafter(1.0, 0.0)])
    (tree,) = grow_trees(x[:, np.newaxis], [[0], [1], [0]], [0])
    np.testing.assert_array_equal(tree.predict_proba(x[:, np.newaxis]).ravel(), [0, 1, 0])
