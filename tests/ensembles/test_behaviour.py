"""What users of the ensembles rely on: frames, weights, out-of-bag choices, constants, errors."""

import inspect
import pickle
import re
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from comitia import (
    AGGREGATIONS,
    EBRClassifier,
    ECCClassifier,
    EMODTClassifier,
    FLoss,
    MultilabelBaggingClassifier,
    MultilabelVotingClassifier,
    SubsetZeroOne,
)
from comitia.aggregation import PredictThenCombine
from comitia.datasets import load_seven_segment
from comitia.relevance import Seen
from comitia.relevance._base import Memory

X, Y = make_multilabel_classification(n_samples=200, n_features=6, n_classes=4, random_state=1)
OWN = [EBRClassifier(n_estimators=9, random_state=0), ECCClassifier(n_estimators=9, random_state=0),
       EMODTClassifier(n_estimators=9, random_state=0)]  # fmt: skip
own = pytest.mark.parametrize("ensemble", OWN, ids=lambda e: type(e).__name__)


def frames():
    rng = np.random.default_rng(0)
    colour = np.where(Y[:, 0] == 1, "red", np.where(rng.random(200) < 0.5, "green", "blue"))
    columns = {f"x{j}": X[:, j] for j in range(6)} | {"colour": colour}
    labels = {f"label {k}": Y[:, k] for k in range(4)}
    yield pd.DataFrame(columns).astype({"colour": "category"}), pd.DataFrame(labels)
    yield pd.DataFrame(columns), pd.DataFrame(labels)
    yield pl.DataFrame(columns), pl.DataFrame(labels)


@own
@pytest.mark.parametrize("kind", [0, 1, 2], ids=["pandas categorical", "pandas strings", "polars"])
def test_frames_keep_their_names_and_their_nominal_columns(ensemble, kind):
    features, labels = list(frames())[kind]
    fitted = clone(ensemble).fit(features, labels)
    assert fitted.label_names_.tolist() == [f"label {k}" for k in range(4)]
    assert fitted.feature_names_in_.tolist() == [*(f"x{j}" for j in range(6)), "colour"]
    without = clone(ensemble).fit(X, Y)
    first = FLoss().value(Y[:, :1], fitted.predict(features)[:, :1]).mean()
    assert first <= FLoss().value(Y[:, :1], without.predict(X)[:, :1]).mean(), "the colour tells the first label"
    np.testing.assert_array_equal(fitted.predict(features[:7]), fitted.predict(features)[:7])
    with pytest.raises(ValueError, match="frame"):
        fitted.predict(X)


@own
def test_a_value_that_was_not_there_in_fit_stops_no_prediction(ensemble):
    features, labels = next(iter(frames()))
    fitted = clone(ensemble).fit(features, labels)
    other = features.astype({"colour": str}).assign(colour="mauve")
    assert fitted.predict(other).shape == labels.shape


@own
def test_out_of_bag_losses_are_known_for_every_aggregation_and_the_best_is_used(ensemble):
    fitted = clone(ensemble).set_params(n_estimators=25, oob_score=True, aggregation="oob", loss="f1").fit(X, Y)
    assert set(fitted.oob_table_) == {"hamming", "subset01", "f1", "jaccard"}
    names = set(AGGREGATIONS) - (set() if fitted.supports_joint else {"ctp-joint"})
    seen = {f"ctp · seen {power}": power for power in ("0", "0.3", "0.6", "1")}
    for loss, row in fitted.oob_table_.items():
        # To search for the best Jaccard index over each labelset takes long: only where it is the loss of the fit.
        assert set(row) == names | (set() if loss == "jaccard" else set(seen))
        best, usual = min(row, key=row.__getitem__), "ctp"
        if loss == "subset01":
            usual = "ctp-joint" if fitted.supports_joint else "ptc-mode"
        choice = fitted.set_params(loss=loss, aggregation="oob").oob_choice_
        assert choice == (best if row[usual] - row[best] > fitted.oob_errors_[loss][best] else usual)
        assert fitted.oob_loss_ == row[choice]
        chosen = fitted.predict(X)
        if choice in seen:
            fitted.set_params(aggregation="ctp", reading=Seen(float(seen[choice])))
        np.testing.assert_array_equal(chosen, fitted.set_params(aggregation=choice.split(" · ")[0]).predict(X))
        fitted.set_params(reading="auto")
    assert fitted.oob_proba_.shape == Y.shape
    assert not np.isnan(fitted.oob_proba_).any()


@own
def test_an_out_of_bag_decision_is_that_of_the_members_that_have_not_seen_the_instance(ensemble):
    fitted = clone(ensemble).set_params(n_estimators=12, oob_score=True, loss="subset01").fit(X, Y)
    members = [member.marginals() for member in fitted.predict_members(X)]
    unseen = fitted.oob_mask_
    assert 0.3 < unseen.mean() < 0.45, "a bootstrap leaves out 37 percent"
    expected = np.array([np.mean([p[i] for p, out in zip(members, unseen, strict=True) if out[i]], axis=0)
                         for i in range(200) if unseen[:, i].any()])  # fmt: skip
    np.testing.assert_allclose(fitted.oob_proba_[unseen.any(axis=0)], expected, rtol=1e-9)
    judged = np.flatnonzero(unseen.any(axis=0))
    graded = SubsetZeroOne().value(Y[judged], (expected > 0.5).astype(int)).mean()
    assert fitted.oob_table_["subset01"]["gmv"] == pytest.approx(graded)


@own
def test_the_loss_of_each_instance_out_of_bag_is_known_and_its_mean_is_the_loss(ensemble):
    weight = np.arange(len(X)) % 3 * 1.0
    fitted = clone(ensemble).set_params(n_estimators=6, oob_score=True, loss="f1", aggregation="gmv")
    with pytest.warns(UserWarning, match="no out-of-bag decision"):
        fitted.fit(X, Y, sample_weight=weight)
    judged = fitted.oob_mask_.any(axis=0) & (weight > 0)
    np.testing.assert_array_equal(np.isnan(fitted.oob_losses_), ~judged)
    labeling = (fitted.oob_proba_[judged] > 0.5).astype(int)
    np.testing.assert_allclose(fitted.oob_losses_[judged], FLoss().value(Y[judged], labeling))
    assert fitted.oob_loss_ == pytest.approx(np.average(fitted.oob_losses_[judged], weights=weight[judged]))


def test_out_of_bag_choices_need_members_that_leave_something_out():
    with pytest.raises(ValueError, match="set oob_score=True"):
        clone(OWN[0]).set_params(aggregation="oob").fit(X, Y)
    with pytest.raises(ValueError, match="leave instances out"):
        clone(OWN[0]).set_params(oob_score=True, bootstrap=False).fit(X, Y)
    with pytest.warns(UserWarning, match="have no out-of-bag decision"):
        clone(OWN[0]).set_params(oob_score=True, n_estimators=1).fit(X, Y)


@own
def test_labels_that_never_or_always_occur_are_predicted_so(ensemble):
    constant = Y.copy()
    constant[:, 0], constant[:, 1] = 0, 1
    for loss in ("hamming", "f1", "subset01"):
        predicted = clone(ensemble).set_params(loss=loss).fit(X, constant).predict(X)
        assert not predicted[:, 0].any()
        assert predicted[:, 1].all()


@own
def test_a_single_label_works_as_a_column_and_as_a_binary_target(ensemble):
    column = clone(ensemble).fit(X, Y[:, :1])
    assert column.predict(X).shape == (200, 1)
    named = np.where(Y[:, 0] == 1, "yes", "no")
    target = clone(ensemble).fit(X, named)
    np.testing.assert_array_equal(target.predict(X), np.where(column.predict(X)[:, 0] == 1, "yes", "no"))
    np.testing.assert_allclose(
        target.predict_proba(X), np.hstack([1 - column.predict_proba(X), column.predict_proba(X)])
    )


def test_missing_values_are_taken_by_every_ensemble():
    holes = X.copy()
    holes[::7, 2] = np.nan
    assert EMODTClassifier(5, random_state=0).fit(holes, Y).predict(holes).shape == Y.shape
    boosted = EBRClassifier(HistGradientBoostingClassifier(max_iter=3), 2, random_state=0)
    assert boosted.fit(holes, Y).predict(holes).shape == Y.shape
    assert EBRClassifier(n_estimators=5).fit(holes, Y).predict(holes).shape == Y.shape


def test_texts_are_left_to_pipelines():
    texts = ["red round fruit", "green round fruit", "red fast car", "green fast car"] * 5
    tags = np.array([[1, 0], [0, 0], [1, 1], [0, 1]] * 5)
    pipeline = make_pipeline(TfidfVectorizer(), MultiOutputClassifier(LogisticRegression(C=100)))
    for ensemble in (
        MultilabelBaggingClassifier(pipeline, 5, random_state=0),
        MultilabelVotingClassifier([("a", pipeline), ("b", make_pipeline(TfidfVectorizer(), KNeighborsClassifier(1)))]),
    ):
        np.testing.assert_array_equal(ensemble.fit(texts, tags).predict(texts), tags)


def test_searches_and_pickles_work_as_with_any_estimator():
    search = GridSearchCV(EMODTClassifier(5, random_state=0), {"loss": ["f1"], "min_samples_leaf": [1, 20]}, cv=2)
    assert search.fit(X, Y).best_params_["loss"] == "f1"
    assert cross_val_score(EBRClassifier(n_estimators=3, loss="f1"), X, Y, cv=2).shape == (2,)
    fitted = EMODTClassifier(5, loss="f1", aggregation="ptc-mode", random_state=0).fit(X, Y)
    expected = fitted.predict(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), expected)
    assert len(pickle.dumps(fitted)) == len(pickle.dumps(clone(fitted).fit(X, Y))), "decisions are not part of a model"


def test_where_every_instance_has_a_label_none_is_predicted_without():
    every = np.eye(3, dtype=int)[np.arange(200) % 3]
    noise = np.random.default_rng(0).normal(size=X.shape)
    ensemble = EBRClassifier(n_estimators=5, random_state=0).fit(noise, every)
    for loss in ("f1", "jaccard", "subset01"):
        for aggregation in ("ctp", "ptc-mode", "ptc-mbr"):
            ensemble.set_params(loss=loss, aggregation=aggregation, reading="auto")
            assert ensemble.predict(noise).any(axis=1).all()
            never_empty = ensemble.set_params(reading="nonempty").predict(noise)
            np.testing.assert_array_equal(ensemble.set_params(reading="auto").predict(noise), never_empty)
    ensemble.set_params(loss="subset01", aggregation="gmv")
    assert not ensemble.predict(noise).any(axis=1).all(), "a vote cuts at one half"
    # One instance without a label is enough to know that there are such.
    ensemble.fit(noise, every * (np.arange(200) > 0)[:, None]).set_params(aggregation="ctp", reading="auto")
    np.testing.assert_array_equal(ensemble.predict(noise), ensemble.set_params(reading="independent").predict(noise))


@own
def test_out_of_bag_attributes_follow_the_parameters(ensemble):
    fitted = clone(ensemble).set_params(n_estimators=20, oob_score=True, loss="f1").fit(X, Y)
    for loss in ("subset01", "f1"):
        for aggregation in ("gmv", "ptc-mode", "oob"):
            fitted.set_params(loss=loss, aggregation=aggregation)
            row = fitted.oob_table_[loss]
            name = fitted.oob_choice_ if aggregation == "oob" else aggregation
            assert fitted.oob_aggregation_ == name
            assert fitted.oob_loss_ == row[name]
            assert fitted.oob_score_ == 1 - row[name]
            assert np.nanmean(fitted.oob_losses_) == pytest.approx(row[name])
    for other, message in (
        ({"loss": FLoss(beta=2)}, "no out-of-bag losses are known"),
        ({"loss": "f1", "pool": "median"}, "for pool Mean"),
        ({"pool": "mean", "reading": "independent"}, "for reading Auto"),
    ):
        with pytest.raises(ValueError, match=message):
            fitted.set_params(**other).oob_loss_  # noqa: B018  asking is what is refused
    refitted = fitted.set_params(aggregation="oob").fit(X, Y)
    assert refitted.oob_loss_ == refitted.oob_table_["f1"][refitted.oob_choice_]


def test_an_instances_own_labelset_counts_out_of_bag_only_if_another_has_it():
    rng = np.random.default_rng(0)
    alone = np.unpackbits(np.arange(1, 65, dtype=np.uint8)[:, None], axis=1)[:, 1:].astype(int)
    fitted = EBRClassifier(n_estimators=15, oob_score=True, aggregation="oob", loss="subset01", random_state=0)
    fitted.fit(rng.normal(size=(64, 3)), alone)
    assert fitted.oob_table_["subset01"]["ctp · seen 0"] == 1, "nobody else has any of these labelsets"


def test_without_out_of_bag_losses_there_is_nothing_to_choose_by_and_no_attribute():
    fitted = clone(OWN[0]).fit(X, Y)
    assert not hasattr(fitted, "oob_loss_")
    with pytest.raises(ValueError, match="fit with oob_score=True"):
        fitted.set_params(aggregation="oob").predict(X)


def test_any_number_of_losses_leaves_the_memory_of_a_model_as_it_was():
    forest = EMODTClassifier(5, random_state=0).fit(X, Y)
    for beta in np.linspace(0.5, 3, 60):
        forest.set_params(loss=FLoss(beta=beta), aggregation="ptc-mode").predict(X)
    kept = [len(memory) for *_, memory in forest.members_._leaves.values()]
    assert kept
    assert max(kept) <= 3 * Memory.KEPT


def test_a_loss_that_cannot_be_hashed_is_minimised_like_any_other():
    class Unhashable:
        __hash__ = None

        def __call__(self, truth, labeling):
            return (truth != labeling).mean(axis=1)

    forest = EMODTClassifier(5, random_state=0, loss=Unhashable()).fit(X, Y)
    for aggregation in ("ctp", "ptc-mbr"):
        expected = clone(forest).set_params(loss="hamming", aggregation=aggregation).fit(X, Y).predict(X)
        found = forest.set_params(aggregation=aggregation).predict(X)
        assert (found == expected).mean() > 0.99, "they differ where a vote is tied"


def test_trees_that_are_added_count_the_labelsets_of_one_table():
    first = EMODTClassifier(3, random_state=0, warm_start=True).fit(X[:100], Y[:100])
    both = first.set_params(n_estimators=6).fit(X[100:], Y[100:])
    table = both.members_.table
    assert len(np.unique(table, axis=0)) == len(table)
    for member, leaves in zip(both.predict_members(X, joint=True), both.predict_members(X), strict=True):
        np.testing.assert_allclose(member.marginals(), leaves.marginals(), atol=1e-12)
    assert both.set_params(loss="subset01", aggregation="ctp-joint").predict(X).shape == Y.shape
    with pytest.raises(ValueError, match="features"):
        both.set_params(n_estimators=8).fit(X[:, :3], Y)


@own
def test_no_instances_have_no_labels(ensemble):
    fitted = clone(ensemble).fit(X, Y)
    assert fitted.predict(X[:0]).shape == (0, 4)
    assert fitted.predict_proba(X[:0]).shape == (0, 4)
    assert fitted.set_params(loss="f1", aggregation="ptc-mbr").expected_loss(X[:0]).shape == (0,)


def test_a_number_in_the_place_of_the_base_learner_is_pointed_out():
    for make in (EBRClassifier, ECCClassifier):
        with pytest.raises(ValueError, match=r"estimator must be a classifier.*got 10.*n_estimators"):
            make(10).fit(X, Y)


@pytest.mark.parametrize("ensemble", [*OWN, MultilabelBaggingClassifier(KNeighborsClassifier()),
                                      MultilabelVotingClassifier([])], ids=lambda e: type(e).__name__)  # fmt: skip
def test_help_describes_every_parameter_with_its_default(ensemble):
    described = type(ensemble).__doc__
    assert not re.search(r"\[\[\w+ (parameters|attributes)", described)
    for name, value in inspect.signature(type(ensemble)).parameters.items():
        line = next((line for line in described.splitlines() if re.match(rf"{name} :", line)), "")
        if value.default not in (inspect.Parameter.empty, None):
            shown = f'"{value.default}"' if isinstance(value.default, str) else f"{value.default:g}"
            assert f"default={shown}" in line or f"default={value.default}" in line, line


def test_the_loss_matters_on_the_seven_segments():
    digits = load_seven_segment()
    train, test = np.arange(0, 1200), np.arange(1200, 1797)
    forest = EMODTClassifier(30, loss="subset01", random_state=0).fit(digits.X[train], digits.Y[train])
    wrong = {
        name: 1 - forest.set_params(aggregation=name).score(digits.X[test], digits.Y[test])
        for name in ("gmv", "ptc-mode", "ctp-joint")
    }
    assert wrong["ptc-mode"] < 0.75 * wrong["gmv"]
    assert wrong["ctp-joint"] < 0.75 * wrong["gmv"]


@own
def test_many_instances_are_predicted_in_little_memory(ensemble):
    rng = np.random.default_rng(0)
    labels = (rng.random((300, 40)) < 0.1).astype(np.int8)
    fitted = (
        clone(ensemble).set_params(n_estimators=20, loss="f1", aggregation="ptc-mbr").fit(rng.random((300, 5)), labels)
    )
    new = rng.random((60_000, 5))
    fitted.predict(new[:10])
    tracemalloc.start()
    predicted = fitted.predict(new)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    everything = 20 * new.shape[0] * 40 * 8
    assert predicted.shape == (60_000, 40)
    assert peak < everything / 1.5, f"{peak / 2**20:.0f} MiB of {everything / 2**20:.0f} for all beliefs at once"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must be an integer, at least 1"),
        ({"loss": "f7"}, "unknown loss 'f7'"),
        ({"aggregation": "vote"}, "unknown aggregation 'vote'"),
        ({"pool": "best"}, "unknown pool 'best'"),
        ({"max_samples": 0}, "max_samples"),
        ({"max_samples": 1.5}, r"share must lie in \(0, 1\]"),
        ({"max_samples": "half"}, "max_samples must be None"),
    ],
)
@own
def test_a_wrong_parameter_is_named_with_what_was_expected(ensemble, settings, message):
    with pytest.raises(ValueError, match=message):
        clone(ensemble).set_params(**settings).fit(X, Y).predict(X)


@pytest.mark.parametrize(
    ("order", "message"),
    [("sorted", "'random' or an array"), ([0, 1], r"shape \(4,\)"), ([0, 0, 1, 2], "every label 0..3 once")],
)
def test_a_chain_needs_an_order_of_its_labels(order, message):
    with pytest.raises(ValueError, match=message):
        ECCClassifier(n_estimators=2, order=order).fit(X, Y)


def test_joint_decisions_need_trees():
    with pytest.raises(ValueError, match="pools joint distributions"):
        clone(OWN[0]).set_params(aggregation="ctp-joint").fit(X, Y)
    for ensemble in (EBRClassifier(n_estimators=2), MultilabelBaggingClassifier(KNeighborsClassifier(), 2)):
        ensemble.fit(X, Y).set_params(aggregation="ctp-joint")
        with pytest.raises(ValueError, match="pools joint distributions"):
            ensemble.predict(X)


def test_an_aggregation_of_ones_own_is_judged_out_of_bag_as_well():
    mine = PredictThenCombine(combine=FLoss(beta=2))
    fitted = clone(OWN[2]).set_params(n_estimators=20, oob_score=True, loss="f1", aggregation=mine).fit(X, Y)
    assert fitted.oob_loss_ == fitted.oob_table_["f1"][repr(mine)]
    assert fitted.oob_aggregation_ == repr(mine)


def test_y_must_be_labels():
    with pytest.raises(ValueError, match="0 and 1 only; got 2"):
        EBRClassifier().fit(X, Y + (Y == 1))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        EBRClassifier().fit(X, Y[:-1])
    with pytest.raises(ValueError, match="fractions"):
        MultilabelBaggingClassifier(KNeighborsClassifier(), bootstrap=False).fit(X, Y, np.full(200, 0.5))
    fitted = EMODTClassifier(2).fit(X, Y)
    with pytest.raises(ValueError, match="y has 3 labels; the ensemble was fitted with 4"):
        fitted.score(X, Y[:, :3])


@own
def test_verbose_fits_say_how_far_they_are(ensemble, capfd):
    clone(ensemble).set_params(verbose=10).fit(X, Y)
    assert "Done" in "".join(capfd.readouterr())
