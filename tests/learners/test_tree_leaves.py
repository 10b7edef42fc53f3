"""What trees predict, hold and keep: leaves, means over trees, storage."""

import pickle
from pathlib import Path

import numba
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.ensemble import RandomForestRegressor
from tests.learners.tree_twins import leaves_of, make_data, proportions

from comitia.learners._tree import MultiObjectiveTree, grow_trees
from comitia.learners._tree_apply import apply_trees, mean_marginals
from comitia.learners._tree_pruning import cut_back


def bootstraps(n: int, n_trees: int, seed: int = 0) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    return np.stack([np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(n_trees)], axis=1) * 1.0


@pytest.fixture(scope="module")
def forest() -> tuple[list[MultiObjectiveTree], NDArray[np.float64], NDArray[np.int8], NDArray[np.float64]]:
    X, Y = make_data(400, 6, 5, kind="missing")
    weight = bootstraps(400, 8)
    _, labelset = np.unique(Y, axis=0, return_inverse=True)
    trees = grow_trees(X, Y, range(8), sample_weight=weight, labelsets=labelset, min_samples_leaf=3)
    return trees, X, Y, weight


def test_every_instance_falls_into_the_leaf_that_its_answers_lead_to(forest):
    trees, X, _, _ = forest
    new = make_data(3000, 6, 5, seed=1, kind="missing")[0]
    np.testing.assert_array_equal(apply_trees(trees, new), [leaves_of(tree, new) for tree in trees])
    np.testing.assert_array_equal(trees[2].apply(X), leaves_of(trees[2], X))


def test_rows_that_nobody_asks_about_are_in_leaf_zero(forest):
    trees, X, _, _ = forest
    about = np.random.default_rng(0).random((len(trees), len(X))) < 0.4
    expected = np.where(about, [leaves_of(tree, X) for tree in trees], 0)
    np.testing.assert_array_equal(apply_trees(trees, X, about), expected)


@pytest.mark.parametrize("width", [1, 400])
def test_weighted_means_are_those_of_the_trees_added_up_in_their_order(forest, width):
    trees, X, _, _ = forest
    leaves = apply_trees(trees, X)
    mass = np.random.default_rng(0).integers(0, 3, (len(trees), width)) * 0.7
    mass[3] += 1.0
    expected, total = np.zeros((len(X), 5)), np.zeros((width, 1))
    for tree, its_leaves, weight in zip(trees, leaves, mass, strict=True):
        expected += weight[:, None] * tree.leaf_marginals().toarray()[its_leaves]
        total += weight[:, None]
    np.testing.assert_array_equal(mean_marginals(trees, leaves, mass), np.minimum(expected / total, 1.0))


def test_leaves_hold_the_weighted_proportions_of_their_instances(forest):
    trees, X, Y, weight = forest
    for tree, column in zip(trees, weight.T, strict=True):
        leaves = leaves_of(tree, X)
        expected = proportions(leaves, tree.n_leaves, Y, column)
        np.testing.assert_allclose(tree.leaf_marginals().toarray(), expected, atol=1e-15)
        assert tree.n_samples[tree.is_leaf].min() >= 3
        np.testing.assert_array_equal(tree.leaf_weight, np.bincount(leaves, column, minlength=tree.n_leaves))


def test_labelsets_in_the_leaves_sum_to_one_and_have_the_same_marginals(forest):
    trees, X, Y, weight = forest
    table, labelset = np.unique(Y, axis=0, return_inverse=True)
    for tree, column in zip(trees, weight.T, strict=True):
        held = tree.leaf_labelsets()
        assert held.shape == (tree.n_leaves, len(table))
        np.testing.assert_allclose(held.sum(axis=1), 1.0)
        np.testing.assert_allclose((held @ table), tree.leaf_marginals().toarray(), atol=1e-12)
        expected = proportions(leaves_of(tree, X), tree.n_leaves, np.eye(len(table))[labelset], column)
        np.testing.assert_allclose(held.toarray(), expected, atol=1e-15)


def test_columns_of_a_leaf_ascend(forest):
    for tree in forest[0]:
        for table in (tree.leaf_marginals(), tree.leaf_labelsets()):
            assert table.has_canonical_format


def test_mean_marginals_are_the_mean_of_the_trees(forest):
    trees, X, _, _ = forest
    expected = sum(tree.leaf_marginals().toarray()[tree.apply(X)] for tree in trees) / len(trees)
    np.testing.assert_array_equal(mean_marginals(trees, apply_trees(trees, X)), expected)
    np.testing.assert_array_equal(trees[0].predict_proba(X), trees[0].leaf_marginals().toarray()[trees[0].apply(X)])


def test_slices_threads_and_layouts_of_features_do_not_change_a_bit(forest, monkeypatch):
    trees, _, _, _ = forest
    X = make_data(3000, 6, 5, seed=1, kind="missing")[0]
    leaves = apply_trees(trees, X)
    means = mean_marginals(trees, leaves)
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        monkeypatch.setattr("comitia.learners._tree_leaves._ROWS_AT_ONCE", 700)
        for form in (np.asfortranarray(X), sparse.csr_array(X), sparse.csc_array(X)):
            np.testing.assert_array_equal(apply_trees(trees, form), leaves)
        np.testing.assert_array_equal(mean_marginals(trees, leaves), means)
    finally:
        numba.set_num_threads(before)
    parts = [slice(0, 7), slice(7, 1500), slice(1500, 3000)]
    np.testing.assert_array_equal(np.hstack([apply_trees(trees, X[part]) for part in parts]), leaves)
    np.testing.assert_array_equal(np.vstack([mean_marginals(trees, leaves[:, part]) for part in parts]), means)


def test_single_precision_features_are_separated_as_they_were_in_training():
    X, Y = make_data(300, 4, 3)
    single = X.astype(np.float32)
    (tree,) = grow_trees(single, Y, [0])
    np.testing.assert_array_equal(tree.predict_proba(single), Y)
    np.testing.assert_array_equal(tree.apply(single), tree.apply(single.astype(np.float64)))


def test_a_tree_without_labelsets_says_how_to_keep_them():
    (tree,) = grow_trees([[0.0], [1.0]], [[0], [1]], [0])
    with pytest.raises(ValueError, match=r"labelsets=…"):
        tree.leaf_labelsets()


def test_stored_trees_predict_the_same(forest, tmp_path: Path):
    trees, X, _, _ = forest
    expected = mean_marginals(trees, apply_trees(trees, X))
    copies = pickle.loads(pickle.dumps(trees))
    np.testing.assert_array_equal(mean_marginals(copies, apply_trees(copies, X)), expected)
    skops = pytest.importorskip("skops.io")
    skops.dump(trees, tmp_path / "trees.skops")
    copies = skops.load(tmp_path / "trees.skops", trusted=skops.get_untrusted_types(file=tmp_path / "trees.skops"))
    np.testing.assert_array_equal(mean_marginals(copies, apply_trees(copies, X)), expected)
    np.testing.assert_array_equal(copies[0].leaf_labelsets().toarray(), trees[0].leaf_labelsets().toarray())


@pytest.mark.parametrize(
    ("leaves", "message"),
    [
        (np.array([[0, 2]]), "from 0 to 1"),
        (np.array([[-1, 0]]), "from 0 to 1"),
    ],
)
def test_numbers_that_are_no_leaves_are_refused(leaves, message):
    trees = grow_trees([[0.0], [1.0]], [[0], [1]], [0])
    with pytest.raises(ValueError, match=message):
        mean_marginals(trees, leaves)


def test_forests_that_do_not_fit_are_refused():
    trees = grow_trees([[0.0], [1.0]], [[0], [1]], [0])
    others = grow_trees([[0.0, 1.0], [1.0, 0.0]], [[0], [1]], [0])
    with pytest.raises(ValueError, match="2 features, but the trees were grown on 1"):
        apply_trees(trees, [[0.0, 1.0]])
    with pytest.raises(ValueError, match="different numbers"):
        apply_trees([*trees, *others], [[0.0]])
    with pytest.raises(ValueError, match="at least one tree"):
        apply_trees([], [[0.0]])


@pytest.mark.parametrize("name", ["emotions", "yeast"])
@pytest.mark.parametrize("min_samples_leaf", [1, 4])
def test_a_forest_is_as_good_as_scikit_learns(name, min_samples_leaf, shared_data):
    """Differences of the mean squared error and the Hamming loss over splits are within three standard errors."""
    from comitia.datasets import load_mulan

    data = load_mulan(shared_data / name / f"{name}.arff", shared_data / name / f"{name}.xml")
    X, Y = np.asarray(data.X), np.asarray(data.Y)
    n, differences = len(X), []
    for seed in range(6):
        order = np.random.default_rng(seed).permutation(n)
        train, test = order[: n // 2], order[n // 2 :]
        weight = bootstraps(len(train), 50, seed)
        seeds = range(50 * seed, 50 * seed + 50)
        trees = grow_trees(X[train], Y[train], seeds, sample_weight=weight, min_samples_leaf=min_samples_leaf)
        peer = RandomForestRegressor(50, max_features="sqrt", min_samples_leaf=min_samples_leaf, random_state=seed)
        relevances = (
            mean_marginals(trees, apply_trees(trees, X[test])),
            peer.fit(X[train], Y[train]).predict(X[test]),
        )
        ours, theirs = ([((P - Y[test]) ** 2).mean(), ((P > 0.5) != Y[test]).mean()] for P in relevances)
        differences.append(np.subtract(ours, theirs))
    error = np.std(differences, axis=0, ddof=1) / np.sqrt(len(differences))
    assert (np.abs(np.mean(differences, axis=0)) < 3 * error + 1e-3).all()


def test_a_tree_that_is_cut_back_believes_what_its_larger_nodes_hold():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(120, 4)), (rng.random((120, 3)) < 0.4).astype(int)
    weight = rng.integers(0, 3, 120).astype(float)
    (tree,) = grow_trees(X, Y, [0], sample_weight=weight)
    for least in (2, 5, 20, 1000):
        at = np.zeros(len(X), int)  # walks down by hand, as far as nodes are large enough
        while (down := ~tree.is_leaf[at] & (tree.n_samples[at] >= least)).any():
            left = X[down, tree.feature[at[down]]] <= tree.threshold[at[down]]
            at[down] = np.where(left, at[down] + 1, tree.right[at[down]])
        p = cut_back(tree, least, tree.leaf_marginals().toarray()[:, 1:])[tree.apply(X)]
        for node in np.unique(at):
            expected = np.average(Y[at == node][:, 1:], axis=0, weights=weight[at == node])
            np.testing.assert_allclose(p[at == node], np.tile(expected, (np.sum(at == node), 1)), atol=1e-15)
        assert len(np.unique(at)) == {2: tree.n_leaves, 1000: 1}.get(least, len(np.unique(at)))
