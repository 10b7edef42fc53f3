"""Boosted trees: splits and leaves against plain NumPy, losses that fall, and what the data may look like."""

from inspect import signature

import numpy as np
import pytest
from scipy import sparse
from tests.learners.boosting_twins import binned, gain_of, goes_left, log_loss_of, nodes_of_tree, scores_after
from tests.learners.tree_twins import make_data

from comitia._threads import Helpers
from comitia.learners import _boost_bins, _boost_growth, _boost_rounds, _boosting
from comitia.learners._boost_bins import bin_features, spread
from comitia.learners._boost_input import check_settings
from comitia.learners._boost_scores import LONGEST_STEP, newton_values, sigmoid, step
from comitia.learners._boosting import BoostedTrees, boost_trees, common_rounds, predict_boosted
from comitia.learners._tree_codes import encode

KINDS = ["continuous", "few values", "mostly zero", "missing"]
ALL = {"max_features": None, "subsample": 1.0}
FIELDS = [name for name in BoostedTrees.__dataclass_fields__ if not name.startswith("n_")]


def assert_same(one, two):
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(one, field), getattr(two, field), err_msg=field)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weights", ["ones", "counts", "real"])
def test_the_split_of_the_root_is_the_best_of_all(kind, weights):
    for seed in range(3):
        X, Y = make_data(90, 4, 3, seed, kind=kind)
        rng = np.random.default_rng(seed)
        weight = {"ones": np.ones(90), "counts": rng.poisson(1.0, 90) + 1.0, "real": rng.uniform(0.1, 2, 90)}[weights]
        settings = {"max_leaves": 2, "max_rounds": 1, "min_samples_leaf": 4, "l2": 1.0, "max_bins": 20, **ALL}
        (model,) = boost_trees(X, Y, [0], sample_weight=weight, **settings)
        p = 1 / (1 + np.exp(-model.base))
        g = (p - Y) * np.maximum(p * (1 - p) / (p * (1 - p)).max(), 1e-6) ** -_boost_rounds.BALANCE
        best = max(
            gain_of(g, weight, left, 1.0) for left in binned(X, 20) if min(weight[left].sum(), weight[~left].sum()) >= 4
        )
        reached = gain_of(g, weight, goes_left(model, 0, X), 1.0)
        assert reached == pytest.approx(best, rel=1e-5)
        assert model.gain[0] == pytest.approx(best - gain_of(g, weight, np.ones(90, bool), 1.0), rel=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sketch", [None, 2])
def test_leaves_hold_newtons_values_for_every_label(kind, sketch):
    X, Y = make_data(150, 5, 4, kind=kind)
    weight = np.random.default_rng(0).poisson(1.0, 150).astype(float)
    settings = {"max_rounds": 6, "l2": 0.5, "learning_rate": 0.3, "sketch": sketch, "patience": 100}
    (model,) = boost_trees(X, Y, [0], sample_weight=weight, **settings)
    assert model.n_rounds > 2
    for tree in range(model.n_rounds):
        p = 1 / (1 + np.exp(-scores_after(model, X, tree)))
        for leaf, rows in nodes_of_tree(model, tree, X).items():
            w = weight[rows][:, np.newaxis]
            step_ = -(w * (p - Y)[rows]).sum(axis=0) / ((w * (p * (1 - p))[rows]).sum(axis=0) + 0.5)
            np.testing.assert_allclose(model.values[leaf], 0.3 * step_.clip(-LONGEST_STEP, LONGEST_STEP), atol=2e-5)


def test_gradients_are_the_derivatives_of_the_log_loss():
    rng = np.random.default_rng(0)
    scores, Y = rng.normal(0, 4, (30, 5)), rng.integers(0, 2, (30, 5)).astype(np.int8)
    gradient = np.empty((30, 5), np.float32)
    nothing = np.zeros((1, 5), np.float32)
    step(np.arange(30, dtype=np.uint32), np.zeros(30, np.int32), nothing, Y, scores.astype(np.float32), gradient)

    def loss(s):
        return np.logaddexp(0, s) - Y * s

    np.testing.assert_allclose(gradient, (loss(scores + 1e-5) - loss(scores - 1e-5)) / 2e-5, atol=1e-5)


def test_the_sigmoid_has_nine_digits():
    x = np.linspace(-20, 20, 4001)
    np.testing.assert_allclose([sigmoid(v) for v in x], 1 / (1 + np.exp(-x)), rtol=1e-8)
    assert 0 < sigmoid(-1e30) < 1e-8
    assert 1 - 1e-8 < sigmoid(1e30) < 1


@pytest.mark.parametrize("sketch", [None, 3])
def test_the_loss_on_training_data_falls_with_every_tree(sketch):
    X, Y = make_data(200, 6, 8)
    (model,) = boost_trees(X, Y, [0], max_rounds=60, sketch=sketch)
    losses = [log_loss_of(scores_after(model, X, tree), Y) for tree in range(model.n_rounds + 1)]
    assert (np.diff(losses) < 0).all()
    assert losses[-1] < 0.5 * losses[0]


def test_the_sequence_ends_where_the_loss_of_unseen_instances_is_lowest():
    X, Y = make_data(300, 6, 3)
    weight = (np.arange(300) % 3 > 0).astype(float)
    judged = np.random.default_rng(0).integers(1, 3, 300)
    (model,) = boost_trees(X, Y, [0], sample_weight=weight, unseen_weight=judged, patience=7)
    assert model.n_rounds - 7 == model.losses.argmin() == common_rounds([model])
    unseen = np.repeat(np.arange(300), judged * (weight == 0))
    for tree in (0, 1, model.n_rounds):
        assert log_loss_of(scores_after(model, X, tree)[unseen], Y[unseen]) == pytest.approx(
            model.losses[tree], abs=1e-5
        )


@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_are_those_of_the_summed_leaves_dense_or_sparse(kind):
    X, Y = make_data(700, 5, 3, kind=kind)
    models = boost_trees(X, Y, [0, 1], max_rounds=20)
    for model, p, q in zip(
        models, predict_boosted(models, X), predict_boosted(models, sparse.csr_array(X)), strict=True
    ):
        np.testing.assert_allclose(p, 1 / (1 + np.exp(-scores_after(model, X, model.n_rounds))), rtol=1e-12)
        np.testing.assert_array_equal(p, q)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("K", [3, 30])
def test_how_features_are_stored_and_how_many_histograms_are_kept_changes_no_bit(kind, K, monkeypatch):
    X, Y = make_data(300, 9, K, kind=kind)
    weight = np.random.default_rng(0).poisson(1.0, (300, 2)).astype(float)
    models = []
    for below, kept, spelled_out in ((0.0, 2**26, 0), (2.0, 2**26, 2**26), (2.0, 2**26, 0), (0.0, 0, 0)):
        monkeypatch.setattr(_boost_bins, "SPELLED_OUT", spelled_out)
        bins = bin_features(encode(X), 300, 64, listed_below=below)
        assert bins.listed == (below > 0)
        assert len(bins.by_row) == (0 if below > 0 and not spelled_out else 300 * 9)
        settings = _settings(X, Y)
        if kept == 0:
            monkeypatch.setattr(_boost_growth, "KEPT_CELLS", 0)
        with Helpers(threads=1, pieces=1) as helpers:
            fit = _boost_rounds.boost(encode(X), bins, Y, weight[:, 0], np.ones(300), settings, 1, helpers)
        models.append(BoostedTrees(9, K, *fit))
    for model in models[1:]:
        assert_same(models[0], model)
    monkeypatch.undo()
    monkeypatch.setattr("comitia.learners._boosting.encode", lambda X: encode(X, dense_codes=0))
    (model,) = boost_trees(sparse.csr_array(X), Y, [1], sample_weight=weight[:, 0], max_rounds=8)
    assert_same(models[0], model)


@pytest.mark.parametrize("least", [0, 3, 12.5])
def test_features_that_are_too_rare_for_a_leaf_are_left_out_and_no_bit_changes(least, monkeypatch):
    rng = np.random.default_rng(2)
    X = rng.integers(1, 4, (300, 40)) * 1.0 * (rng.random((300, 40)) < np.linspace(0, 0.2, 40))
    X[:, 37] = np.where(X[:, 37] == 1, np.nan, X[:, 37])
    Y = (X[:, [30, 38]] + rng.random((300, 2)) > 1.5).astype(np.int8)
    looked_at = []

    def spy(bins, channels, rows, chosen, least):
        found = _boost_bins.worth_a_look(bins, channels, rows, chosen, least)
        for f in np.setdiff1d(chosen, found):
            there = np.nan_to_num(X[rows, f], nan=1.0) != 0
            assert (channels[rows, -1] @ there) < max(least, 1)
        looked_at.append(len(found) / len(chosen))
        return found

    monkeypatch.setattr(_boost_growth, "worth_a_look", spy)
    models, weight = [], rng.poisson(1.0, 300).astype(float)
    for below in (0.0, 2.0):
        looked_at.clear()
        bins = bin_features(encode(X), 300, 64, listed_below=below)
        settings = _settings(X, Y)._replace(min_samples_leaf=least, n_features=40)
        with Helpers(threads=1, pieces=1) as helpers:
            fit = _boost_rounds.boost(encode(X), bins, Y, weight, np.ones(300), settings, 1, helpers)
        models.append(BoostedTrees(40, 2, *fit))
        assert (max(looked_at) < 1) == bins.listed
    assert_same(*models)


def _settings(X, Y):
    defaults = {
        name: parameter.default
        for name, parameter in signature(boost_trees).parameters.items()
        if name in signature(check_settings).parameters
    }
    return check_settings(X.shape[1], Y.shape[1], **{**defaults, "max_rounds": 8})


@pytest.mark.parametrize("n_seeds", [1, 3])
def test_threads_that_help_each_other_within_a_sequence_boost_the_same_trees(n_seeds, monkeypatch):
    X, Y = make_data(300, 9, 30)
    weight = np.random.default_rng(0).poisson(1.0, (300, n_seeds)).astype(float)
    alone = boost_trees(X, Y, range(n_seeds), sample_weight=weight, max_rounds=12, n_jobs=1)
    parts = set()

    class Noted(Helpers):
        def over(self, work, n, *, at_least):
            def noted(part):
                parts.add((part.start, n))
                work(part)

            super().over(noted, n, at_least=at_least)

    monkeypatch.setattr(_boosting, "Helpers", Noted)
    monkeypatch.setattr(_boost_rounds, "_CELLS_OF_A_PART", 1024)
    together = boost_trees(X, Y, range(n_seeds), sample_weight=weight, max_rounds=12, n_jobs=8)
    assert {(8, 30), (16, 30)} < parts, "labels are shared out"
    assert any(start and n > 30 for start, n in parts), "and so are instances"
    for one, other in zip(alone, together, strict=True):
        assert_same(one, other)


def test_any_number_of_jobs_and_any_company_boost_the_same_trees():
    X, Y = make_data(200, 9, 4)
    weight = np.random.default_rng(0).poisson(1.0, (200, 4)).astype(float)
    one = boost_trees(X, Y, range(4), sample_weight=weight, max_rounds=20, n_jobs=1)
    two = boost_trees(X, Y, range(4), sample_weight=weight, max_rounds=20, n_jobs=2)
    for a, b in zip(one, two, strict=True):
        assert_same(a, b)
    (alone,) = boost_trees(X, Y, [2], sample_weight=weight[:, 2], max_rounds=20)
    assert_same(one[2], alone)


def test_counts_as_weights_equal_repeated_instances():
    X, Y = make_data(80, 4, 3, kind="few values")
    counts = np.random.default_rng(0).integers(1, 4, 80)
    copies = np.repeat(np.arange(80), counts)
    (weighted,) = boost_trees(X, Y, [3], sample_weight=counts.astype(float), max_rounds=20, **ALL)
    (repeated,) = boost_trees(X[copies], Y[copies], [3], max_rounds=20, **ALL)
    np.testing.assert_array_equal(weighted.threshold, repeated.threshold)
    np.testing.assert_allclose(weighted.values, repeated.values, atol=1e-5)


def test_constant_labels_and_features_and_few_instances_do_no_harm():
    X, Y = make_data(50, 3, 3)
    X[:, 0], X[:, 1] = np.nan, 1.0
    Y[:, 0], Y[:, 1] = 0, 1
    (model,) = boost_trees(X, Y, [0], max_rounds=20)
    assert set(model.feature[model.feature >= 0]) == {2}
    (p,) = predict_boosted([model], X)
    assert (p[:, 0] < 0.02).all()
    assert (p[:, 1] > 0.98).all()
    for n in (1, 2, 5):
        (few,) = boost_trees(X[:n], Y[:n], [0])
        assert np.isfinite(next(predict_boosted([few], X))).all()


def test_a_single_label_is_learnt():
    X, Y = make_data(300, 4, 1)
    (model,) = boost_trees(X, Y, [0], max_rounds=80)
    assert ((next(predict_boosted([model], X)) > 0.5) == Y).mean() > 0.95


def test_limits_hold():
    X, Y = make_data(300, 6, 3)
    (model,) = boost_trees(X, Y, [0], max_rounds=5, max_leaves=6, max_depth=2, min_samples_leaf=40, subsample=1.0)
    for tree in range(model.n_rounds):
        leaves = nodes_of_tree(model, tree, X)
        assert len(leaves) <= 4
        assert min(map(len, leaves.values())) >= 40


def test_values_are_spread_over_bins_evenly_and_heavy_ones_are_alone():
    even = spread(np.ones(1000, np.int64), 10)
    np.testing.assert_array_equal(np.bincount(even[:-1]), np.full(10, 100))
    assert even[-1] == 10
    counts = np.ones(201, np.int64)
    counts[100] = 800
    heavy = spread(counts, 11)
    assert (heavy[:-1] == heavy[100]).sum() == 1
    assert np.bincount(heavy[:-1], counts)[heavy[:100]].max() <= 40


def test_newtons_values_without_curvature_are_bounded():
    gradient = np.array([[-1.0, 1.0]], np.float32)
    rows, leaves = np.zeros(1, np.uint32), np.zeros(1, np.int32)
    values = np.empty((1, 2), np.float32)
    newton_values(rows, leaves, np.full(1, 1e6), gradient, 0.0, 0.1, 0, 2, np.zeros((2, 1, 2)), values)
    assert np.abs(values).max() <= 0.1 * LONGEST_STEP + 1e-6


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"learning_rate": 0}, "learning_rate must be a number in"),
        ({"subsample": 1.5}, "subsample must be a number in"),
        ({"max_bins": 256}, "max_bins must be an integer from 2 to 255; got 256"),
        ({"max_leaves": 1}, "max_leaves must be an integer, at least 2; got 1"),
        ({"max_features": 9}, "max_features must be None, an integer from 1 to 3"),
        ({"sketch": "all"}, "sketch must be 'auto', None or"),
        ({"l2": -1}, "l2 must be a number, at least 0"),
    ],
)
def test_what_cannot_be_meant_is_refused(settings, message):
    X, Y = make_data(20, 3, 2)
    with pytest.raises(ValueError, match=message):
        boost_trees(X, Y, [0], **settings)
