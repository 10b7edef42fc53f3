"""Defaults that choose themselves: what is chosen, for whom, and that it is what a user could have given."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from comitia import ComitiaError, EBRClassifier, ECCClassifier, EMODTClassifier
from comitia._labels import LabelRows
from comitia.ensembles import _chosen_trees
from comitia.ensembles._chosen import Trial, better
from comitia.ensembles._chosen_logistic import _descended, _scalings, choose_logistic
from comitia.ensembles._chosen_trees import TreeSize, choose_tree_size
from comitia.ensembles._logistic import FastLogistic
from comitia.ensembles._samples import TrainingSet

ENSEMBLES = [EBRClassifier(n_estimators=3), ECCClassifier(n_estimators=3), EMODTClassifier(3)]
NAMES = ("C", "scaling", "chain_method", "min_samples_split", "max_features")
CHOSEN = {name: f"{name}_" for name in NAMES}
each = pytest.mark.parametrize("ensemble", ENSEMBLES, ids=lambda ensemble: type(ensemble).__name__)


def make(n=150, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, :3] + rng.normal(size=(n, 3)) > 0.3).astype(np.int8)


def chosen(ensemble):
    return {name: getattr(ensemble, fitted) for name, fitted in CHOSEN.items() if hasattr(ensemble, fitted)}


@each
def test_what_is_chosen_gives_the_same_ensemble_where_it_is_given(ensemble):
    X, Y = make()
    auto = clone(ensemble).set_params(random_state=0).fit(X, Y)
    given = clone(auto).set_params(**chosen(auto)).fit(X, Y)
    assert chosen(given) == chosen(auto)
    assert np.array_equal(given.predict_proba(X), auto.predict_proba(X))


@each
def test_a_choice_depends_neither_on_jobs_nor_on_members_nor_on_the_order_of_instances(ensemble):
    X, Y = make()
    auto = chosen(clone(ensemble).set_params(random_state=0).fit(X, Y))
    assert auto == chosen(clone(ensemble).set_params(random_state=0, n_jobs=2, n_estimators=5).fit(X, Y))
    assert auto == chosen(clone(ensemble).set_params(random_state=0).fit(X[::-1], Y[::-1]))


@each
def test_weights_count_as_copies_in_a_choice(ensemble):
    X, Y = make(60)
    weight = np.arange(60) % 3 + 1
    weighted = clone(ensemble).set_params(random_state=0).fit(X, Y, sample_weight=weight)
    copied = clone(ensemble).set_params(random_state=0).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0))
    assert chosen(weighted) == chosen(copied)


@each
def test_a_warm_start_keeps_what_was_chosen(ensemble):
    X, Y = make()
    first = clone(ensemble).set_params(random_state=0, warm_start=True).fit(X, Y)
    before = chosen(first)
    first.set_params(n_estimators=5).fit(X, Y)
    assert chosen(first) == before


@each
@pytest.mark.parametrize("kind", ["few instances", "constant labels", "one label", "one feature", "sparse"])
def test_little_data_and_other_forms_leave_something_to_fit(ensemble, kind):
    X, Y = make(8 if kind == "few instances" else 60)
    Y = np.zeros_like(Y) if kind == "constant labels" else Y[:, :1] if kind == "one label" else Y
    X = X[:, :1] if kind == "one feature" else sparse.csr_array(np.where(X > 0, X, 0)) if kind == "sparse" else X
    fitted = clone(ensemble).set_params(random_state=0).fit(X, Y)
    assert fitted.predict(X).shape == Y.shape
    if kind in ("few instances", "constant labels"):
        usual = dict(zip(NAMES, (1.0, "standard", "predict", 4, "sqrt"), strict=True))
        assert chosen(fitted).items() <= usual.items()


@pytest.mark.parametrize("scaling", ["none", "standard", "range"])
def test_a_scaling_that_was_read_from_a_file_is_that_of_its_name(scaling):
    X, Y = make(60)
    read = scaling.encode().decode()  # another object than the name in the code
    ours, theirs = (
        EBRClassifier(n_estimators=2, C=1.0, scaling=name, random_state=0).fit(X, Y).predict_proba(X)
        for name in (scaling, read)
    )
    np.testing.assert_array_equal(ours, theirs)


def test_labels_in_lists_are_tried_as_those_in_arrays_and_constant_ones_are_not():
    Y = np.random.default_rng(0).integers(0, 2, (60, 5)).astype(np.int8)
    Y[:, 0], Y[:, 1], Y[0, 0], Y[0, 1] = 0, 1, 1, 0  # one instance has the first, and one has not the second
    Y[:, 2], Y[:, 3] = 0, 1
    rows = LabelRows.of(sparse.csr_array(Y), "Y")
    dense, listed = (Trial.of(TrainingSet(None, labels, np.ones(60), None), 3, 4) for labels in (Y, rows))
    assert dense.labels.tolist() == listed.labels.tolist() == [0, 1, 4]
    np.testing.assert_array_equal(dense.Y, listed.Y)
    np.testing.assert_array_equal(dense.Y, Y[dense.rows][:, [0, 1, 4]])


def test_logistic_regressions_leave_rare_features_as_they_are_where_labels_hang_on_them():
    rng = np.random.default_rng(0)
    Y = (rng.random((300, 6)) < 0.15).astype(np.int8)
    signs = np.repeat(Y, 3, axis=1) * (rng.random((300, 18)) < 0.9)
    X = np.hstack([signs, rng.random((300, 300)) < 0.006]).astype(float)
    fitted = EBRClassifier(n_estimators=5, random_state=0).fit(X, Y)
    assert fitted.scaling_ == "none"
    assert fitted.C_ >= 10


def test_logistic_regressions_scale_features_of_different_sizes():
    X, Y = make(300)
    fitted = EBRClassifier(n_estimators=5, random_state=0).fit(X * np.geomspace(1e-5, 1e5, 6), Y)
    assert fitted.scaling_ != "none"


def test_trees_are_grown_to_the_end_where_labels_are_certain_and_not_where_they_are_noise():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    certain = np.stack([(X[:, 0] > k / 2) & (X[:, 0] < k / 2 + 0.1) for k in range(-3, 3)], axis=1).astype(np.int8)
    noise = (rng.random((300, 6)) < 0.4).astype(np.int8)
    split = [EMODTClassifier(3, random_state=0).fit(X, Y).min_samples_split_ for Y in (certain, noise)]
    assert split[0] < split[1]


@pytest.mark.parametrize("max_features", ["auto", "sqrt", 2, 0.5, None])
@pytest.mark.parametrize("min_samples_split", ["auto", 5])
def test_what_is_given_is_taken_as_it_is_and_only_the_rest_is_chosen(max_features, min_samples_split):
    # One of twenty features tells everything: whoever may, looks at more of them.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    Y = np.stack([X[:, 7] > k / 2 for k in range(-2, 3)], axis=1).astype(np.int8)
    given = {"max_features": max_features, "min_samples_split": min_samples_split}
    found = chosen(EMODTClassifier(3, random_state=0, **given).fit(X, Y))
    assert found["max_features"] == (8 if max_features == "auto" else max_features)
    assert found["min_samples_split"] in ((2, 4, 8, 16, 32) if min_samples_split == "auto" else (5,))


def test_who_gives_the_size_of_leaves_gets_it():
    X, Y = make()
    fitted = EMODTClassifier(3, min_samples_leaf=5, random_state=0).fit(X, Y)
    assert fitted.min_samples_split_ == 2
    assert min(tree.n_samples[tree.is_leaf].min() for tree in fitted.members_.trees) >= 5


def test_chains_weigh_seen_labelsets_where_labels_agree_and_not_where_new_sets_come():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 6))
    # What the first link decides, those after it only repeat, however sure it was; and nearly every labelset is new.
    agreeing = np.repeat((X[:, :1] + 2 * rng.normal(size=(1000, 1)) > 0).astype(np.int8), 4, axis=1)
    new = (X @ rng.normal(size=(6, 20)) > 2).astype(np.int8)
    for Y, method in ((agreeing, "joint"), (new, "predict")):
        fitted = ECCClassifier(n_estimators=20, oob_score=True, random_state=0).fit(X, Y)
        assert fitted.chain_method_ == method
        assert fitted.supports_joint == fitted.can_decide_by("ctp-joint") == (method == "joint")
        assert ("ctp-joint" in fitted.oob_table_["subset01"]) == (method == "joint")
        same = clone(fitted).set_params(chain_method=method).fit(X, Y)
        np.testing.assert_array_equal(same.predict_proba(X), fitted.predict_proba(X))


def test_what_chains_pass_on_is_not_tried_with_many_labelsets_or_a_learner_of_ones_own(monkeypatch):
    from sklearn.linear_model import LogisticRegression

    def refused(*given, **more):
        raise AssertionError("tried")

    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(400, 3)), (rng.random((400, 40)) < 0.5).astype(np.int8)
    monkeypatch.setattr("comitia.ensembles._chosen_chains.fit_chains", refused)
    assert ECCClassifier(n_estimators=2, C=1.0, scaling="none").fit(X, Y).chain_method_ == "predict"
    assert ECCClassifier(LogisticRegression(), n_estimators=2).fit(X, Y[:, :2]).chain_method_ == "predict"
    assert ECCClassifier(n_estimators=2, chain_method="joint").fit(X, Y[:, :2]).chain_method_ == "joint"
    with pytest.raises(AssertionError, match="tried"):
        ECCClassifier(n_estimators=2).fit(X, Y[:, :2])


@pytest.mark.parametrize("order", [[2, 0, 1], [[2, 0, 1], [0, 1, 2]]])
def test_chains_of_given_orders_are_tried_in_these(monkeypatch, order):
    from comitia.ensembles import _chosen_chains

    X, Y = make()
    tried = []

    def seen(X, Y, orders, **more):
        tried.append(np.asarray(orders).tolist())
        return fit_chains(X, Y, orders, **more)

    fit_chains = _chosen_chains.fit_chains
    monkeypatch.setattr(_chosen_chains, "fit_chains", seen)
    ECCClassifier(n_estimators=2, order=order, random_state=0).fit(X, Y)
    assert tried == [[[2, 0, 1], order[-1] if len(order) == 2 else [2, 0, 1]] * 2 + [[2, 0, 1]]]


def test_parameters_of_the_default_learner_are_refused_where_they_mean_nothing():
    from sklearn.linear_model import LogisticRegression

    X, Y = make(30)
    for wrong, words in (
        ({"C": -1.0}, "C must be 'auto' or a number"),
        ({"scaling": "standrad"}, "did you mean 'standard'"),
        ({"estimator": LogisticRegression(), "C": 1.0}, "must be 'auto' where estimator is given"),
    ):
        with pytest.raises(ComitiaError, match=words):
            EBRClassifier(**wrong).fit(X, Y)


def test_the_score_of_a_trial_is_the_brier_score_of_many_members():
    rng = np.random.default_rng(0)
    n, truth = 400, 0.3
    Y = (rng.random((n, 1)) < truth).astype(np.int8)
    data = TrainingSet(np.zeros((n, 1)), Y, np.ones(n), None)
    trial = Trial.of(data, 0, 8)
    assert trial is not None
    noisy = trial.judged(truth + 0.3 * rng.normal(size=(unseen.sum(), 1)) for unseen in trial.unseen).sum()
    exact = trial.judged(np.full((unseen.sum(), 1), truth) for unseen in trial.unseen).sum()
    assert exact == pytest.approx(((Y - truth) ** 2).mean(), abs=0.02)
    assert noisy == pytest.approx(exact + 0.3**2 / 50, abs=0.02)


def test_what_an_instance_adds_to_the_score_is_the_formula_over_its_members_and_pairs_of_them():
    rng = np.random.default_rng(0)
    Y, weight = rng.integers(0, 2, (9, 3)).astype(np.int8), rng.random(9)
    trial = Trial(np.arange(9), np.arange(3), Y, weight, rng.integers(0, 2, (9, 6)).astype(float))
    p = rng.random((6, 9, 3))
    error = np.where(trial.unseen[:, :, None], p - Y, np.nan)
    alone, together, members, pairs = np.zeros(9), np.zeros(9), 0.0, 0.0
    for i in range(9):
        of_unseen = error[trial.unseen[:, i], i]
        members += weight[i] * len(of_unseen)
        alone[i] = weight[i] * sum((one * one).mean() for one in of_unseen)
        for a, one in enumerate(of_unseen):
            for b, other in enumerate(of_unseen):
                if a != b:
                    pairs += weight[i]
                    together[i] += weight[i] * (one * other).mean()
    found = trial.judged(belief[unseen] for belief, unseen in zip(p, trial.unseen, strict=True))
    np.testing.assert_allclose(found, alone / members / 50 + together / pairs * 49 / 50, atol=1e-15)


def test_a_candidate_is_better_by_more_than_two_standard_errors():
    usual = np.array([1.0, 3.0])
    assert not better(usual, usual)
    assert better(np.zeros(2), usual), "a gain of 4, with errors of 1.4"
    assert not better(np.array([1.0, 1.0]), usual), "a gain of 2"
    assert not better(np.array([0.0, 2.0]), np.array([1.0, 1.0]))


@pytest.mark.parametrize(("n", "rows"), [(19, None), (20, 20), (2000, 2000), (2001, 2000)])
def test_a_trial_is_of_twenty_instances_to_two_thousand_and_48_labels(n, rows):
    rng = np.random.default_rng(0)
    Y = rng.integers(0, 2, (n, 50)).astype(np.int8)
    Y[:2] = [[0] * 50, [1] * 50]
    for K in (47, 48, 49):
        trial = Trial.of(TrainingSet(None, Y[:, :K], rng.random(n), None), 3, 2)
        assert (trial is None) == (rows is None)
        if trial is not None:
            assert (trial.Y.shape, trial.draws.shape) == ((rows, min(K, 48)), (rows, 2))
            assert (np.diff(trial.rows) > 0).all()
            assert (np.diff(trial.labels) > 0).all()
    assert Trial.of(TrainingSet(None, Y, rng.random(n), None), 3, 1) is None, "one member makes no pair"


@pytest.mark.parametrize(
    ("scores", "start", "found", "asked"),
    [
        ({0.1: 6, 10: 4, 100: 3, 1000: 3}, 1.0, (3, 100), [0.1, 10, 100, 1000]),
        ({0.1: 4, 0.01: 4.5}, 1.0, (4, 0.1), [0.1, 0.01]),
        ({10: 5, 0.1: 5}, 1.0, (5, 1.0), [0.1, 10]),
        ({0.1: 4, 0.01: 3, 0.001: 2}, 1.0, (2, 0.001), [0.1, 0.01, 0.001]),
        ({0.1: np.nan, 10: 4, 100: np.nan}, 1.0, (4, 10), [0.1, 10, 100]),
        ({100: 6}, 1000.0, (5, 1000.0), [100]),
        ({0.01: 6, 1: 4, 10: 7}, 0.1, (4, 1), [0.01, 1, 10]),
    ],
)
def test_a_path_is_followed_down_or_else_up_for_as_long_as_the_score_falls(scores, start, found, asked):
    walked = []
    assert _descended(lambda C: walked.append(C) or scores[C], 5, start) == found
    assert walked == asked


def tried(monkeypatch, scores, **given):
    """What is chosen where the scores of each scaling, of a C, are these, and which of them were asked for."""
    X, Y = make(60)
    asked = []

    def scored(trial, features, *_):
        kind = next(kind for kind, (centre, scale) in kinds.items() if np.allclose(features * scale + centre, X))
        return lambda C: asked.append((kind, C)) or scores[kind](C)

    data = TrainingSet(X, Y, np.ones(60), None)
    kinds = _scalings(data, "auto")
    monkeypatch.setattr("comitia.ensembles._chosen_logistic._scored", scored)
    # All rows in their order are tried, so that what is scaled can be told apart.
    return choose_logistic(data, 0, **{"C": "auto", "scaling": "auto"} | given), asked


BOWLS = {"none": lambda C: 1 + abs(np.log10(C)), "standard": lambda C: 1.04, "range": lambda C: 1.05 / C**0.01}


def test_the_scaling_and_the_strength_of_the_smallest_score_are_chosen(monkeypatch):
    found, asked = tried(monkeypatch, BOWLS)
    assert found == FastLogistic(C=1000.0, scaling="range")
    begun, followed = asked[:3], asked[3:]
    assert begun == [("none", 1.0), ("range", 1.0), ("standard", 0.1)]
    up = [("range", 0.1), ("range", 10.0), ("range", 100.0), ("range", 1000.0)]
    assert followed == [("none", 0.1), ("none", 10.0), *up, ("standard", 0.01), ("standard", 1.0)]


@pytest.mark.parametrize(("C", "kind"), [(1.0, "none"), (2.0, "standard"), (1e8, "range")])
def test_a_strength_that_is_given_is_not_searched_for(C, kind, monkeypatch):
    found, asked = tried(monkeypatch, BOWLS, C=C)
    assert found == FastLogistic(C=C, scaling=kind)
    assert asked == [("none", C), ("range", C), ("standard", C)]


def test_a_scaling_that_is_given_is_the_only_one_tried_and_nothing_is_chosen_by_infinite_scores(monkeypatch):
    found, asked = tried(monkeypatch, BOWLS, scaling="range")
    assert found == FastLogistic(C=1000.0, scaling="range")
    assert {kind for kind, _ in asked} == {"range"}
    never = dict.fromkeys(BOWLS, lambda C: np.inf)
    assert tried(monkeypatch, never)[0] == FastLogistic()
    assert tried(monkeypatch, never, C=3.0)[0] == FastLogistic(C=3.0)
    assert tried(monkeypatch, never, C=3.0, scaling="none") == (FastLogistic(C=3.0, scaling="none"), [])


def test_scalings_that_change_next_to_nothing_or_give_no_numbers_are_not_tried():
    X = np.linspace(0, 1, 30)[:, None] * [1.0, 0.96, 1.04]

    def kinds(X, scaling="auto"):
        with np.errstate(over="ignore", invalid="ignore"):
            return list(_scalings(TrainingSet(X, None, np.ones(30), None), scaling))

    assert kinds(X) == ["none", "standard"]
    for far in (0.94, 1.06):
        assert kinds(X * [1, 1, far / 1.04]) == ["none", "range", "standard"]
    assert kinds(X, "range") == ["range"]
    assert "range" not in kinds(1.5e308 * (X - 0.5)), "its mean overflows"
    assert kinds(1.5e308 * (X - 0.5), "range") == ["none"]


@pytest.mark.parametrize(("d", "features"), [(1, ["sqrt"]), (2, ["sqrt", 2]), (3, ["sqrt", 3]), (20, ["sqrt", 8])])
@pytest.mark.parametrize(
    ("worth", "chosen"),
    [
        ({}, (4, 0)),
        ({(8, 0): -1}, (8, 0)),
        ({(2, 0): -1}, (2, 0)),
        ({(32, 0): -1, (4, 0): -2}, (4, 0)),
        ({(8, 1): -1}, (8, 1)),
        ({(16, 1): -1}, (16, 1)),
        ({(16, 1): -1, (4, 0): -1}, (4, 0)),
        ({(16, 1): -1, (4, 0): -2}, (4, 0)),
        ({(16, 1): -3, (4, 0): -2}, (16, 1)),
    ],
)
def test_trees_take_what_is_better_than_the_usual_and_more_features_what_is_better_still(
    d, features, worth, chosen, monkeypatch
):
    asked = []

    def scores(data, trial, seeds, of, splits, growth):
        asked.append(of)
        at = features.index(of)
        return {TreeSize(split, of): np.full(60, 1.0 + worth.get((split, at), 0) / 10) for split in splits}

    monkeypatch.setattr(_chosen_trees, "_scores", scores)
    X, Y = make(60, max(d, 3))
    data = TrainingSet(X[:, :d], Y, np.ones(60), None)
    found = choose_tree_size(data, 0, min_samples_split="auto", max_features="auto")
    assert asked == features
    if len(features) == 1:
        worth = {key: value for key, value in worth.items() if key[1] == 0}
        chosen = chosen if chosen[1] == 0 else (min(worth, key=worth.get)[0] if worth else 4, 0)
    assert found == TreeSize(chosen[0], features[chosen[1]])
    only = choose_tree_size(data, 0, min_samples_split=5, max_features="auto")
    assert only.min_samples_split == 5


@pytest.mark.parametrize(("first", "followed"), [(1.1, True), (1.1001, False)])
def test_a_scaling_that_begins_far_behind_is_not_followed(monkeypatch, first, followed):
    X, Y = make()
    asked = []

    def scored(trial, scaled, *given):
        kind = "none" if np.isin(scaled, X).all() else "other"

        def score(C):
            asked.append((kind, C))
            return first if kind == "none" else 1.0

        return score

    monkeypatch.setattr("comitia.ensembles._chosen_logistic._scored", scored)
    EBRClassifier(n_estimators=2, random_state=0).fit(X, Y)
    assert (len([C for kind, C in asked if kind == "none"]) > 1) == followed
    assert len([C for kind, C in asked if kind == "other"]) > 2
