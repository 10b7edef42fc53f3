"""Multi-objective trees against brute force and against scikit-learn."""

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeRegressor

from comitia.learners.tree import MultiObjectiveTree, apply_trees, grow_trees, mean_marginals


def make_data(
    n: int, d: int, K: int, seed: int, *, n_values: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Labels that depend on the features, some of which repeat their values if ``n_values`` is given."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) if n_values is None else rng.integers(0, n_values, (n, d)).astype(float)
    scores = X @ rng.normal(size=(d, K)) + rng.normal(size=(n, K))
    return X, (scores > np.quantile(scores, 0.7, axis=0)).astype(np.int8)


def best_root_score(X: NDArray[np.float64], Y: NDArray[np.int8], weight: NDArray[np.float64]) -> float:
    """Largest Σ L²/w + Σ R²/(W − w) over all cuts of all features, from the definition."""
    best = -np.inf
    for x in X.T:
        for cut in np.unique(x)[:-1]:
            score = 0.0
            for side in (x <= cut, x > cut):
                score += ((weight[side] @ Y[side]) ** 2).sum() / weight[side].sum()
            best = max(best, score)
    return best


def root_score(
    tree: MultiObjectiveTree, X: NDArray[np.float64], Y: NDArray[np.int8], weight: NDArray[np.float64]
) -> float:
    left = X[:, tree.feature[0]] <= tree.threshold[0]
    return sum(((weight[s] @ Y[s]) ** 2).sum() / weight[s].sum() for s in (left, ~left))


@pytest.mark.parametrize("n_values", [None, 2, 5])
@pytest.mark.parametrize("weights", ["ones", "counts", "real"])
def test_the_root_is_the_best_cut_of_all(n_values, weights):
    for seed in range(5):
        X, Y = make_data(60, 4, 5, seed, n_values=n_values)
        rng = np.random.default_rng(seed)
        weight = {"ones": np.ones(60), "counts": rng.poisson(1.0, 60) * 1.0, "real": rng.uniform(0.1, 2, 60)}[weights]
        (tree,) = grow_trees(X, Y, [seed], sample_weight=weight, max_features=None)
        kept = weight > 0
        X, Y, weight = X[kept], Y[kept], weight[kept]
        assert root_score(tree, X, Y, weight) == pytest.approx(best_root_score(X, Y, weight), rel=1e-12)


@pytest.mark.parametrize(
    "settings", [{"min_samples_leaf": 5}, {"min_samples_leaf": 5, "max_depth": 4}, {"min_samples_split": 20}]
)
def test_a_tree_on_all_features_equals_scikit_learns(settings):
    X, Y = make_data(300, 6, 4, 0)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 300)  # two cuts are never equally good
    (tree,) = grow_trees(X, Y, [0], sample_weight=weight, max_features=None, **settings)
    peer = DecisionTreeRegressor(random_state=0, **settings).fit(X, Y, sample_weight=weight)
    assert tree.n_leaves == peer.get_n_leaves()
    assert tree.depth == peer.get_depth()
    np.testing.assert_allclose(tree.predict_proba(X), peer.predict(X))
    np.testing.assert_allclose(tree.feature_importances_, peer.feature_importances_)


def test_counts_as_weights_equal_repeated_instances():
    X, Y = make_data(80, 4, 3, 0)
    counts = np.random.default_rng(0).poisson(1.0, 80)
    (weighted,) = grow_trees(X, Y, [3], sample_weight=counts.astype(float), max_features=None)
    (repeated,) = grow_trees(np.repeat(X, counts, axis=0), np.repeat(Y, counts, axis=0), [3], max_features=None)
    np.testing.assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))


def test_any_number_of_jobs_grows_the_same_bits():
    X, Y = make_data(200, 9, 4, 0)
    weight = np.random.default_rng(0).poisson(1.0, (200, 6)).astype(float)
    one, two = (grow_trees(X, Y, range(6), sample_weight=weight, n_jobs=jobs) for jobs in (1, 2))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a.threshold, b.threshold)
        np.testing.assert_array_equal(a.labels.counts, b.labels.counts)
    np.testing.assert_array_equal(
        mean_marginals(one, apply_trees(one, X)), np.mean([t.predict_proba(X) for t in two], axis=0)
    )
