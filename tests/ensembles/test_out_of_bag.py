"""What is judged by members that have not seen an instance: by all of it, in parts of any size, and by nobody else."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from comitia import LOSSES, Beliefs, ComitiaError, EBRClassifier, ECCClassifier, EMODTClassifier, get_reading
from comitia.ensembles import _asking, _few_labels, _out_of_bag
from comitia.ensembles._out_of_bag import OutOfBag, best_way
from comitia.losses import Hamming, SubsetZeroOne

RNG = np.random.default_rng(2)
X = RNG.normal(size=(60, 4))
Y = (X[:, :3] + RNG.normal(size=(60, 3)) > 0.5).astype(np.int8)
pytestmark = pytest.mark.filterwarnings("ignore:.*have no out-of-bag decision")


def test_labels_that_no_member_has_seen_count_where_labels_are_left_out(monkeypatch):
    """Of two trees many instances are in the sample of neither, and each has a label that nobody else has."""
    alone = np.hstack([np.eye(40, dtype=np.int8), (X[:40, :1] > 0).astype(np.int8)])
    monkeypatch.setattr(_few_labels, "_CELLS", 1)
    found = []
    for many in (10**9, 0):
        monkeypatch.setattr(_asking, "MANY_LABELS", many)
        found.append(EMODTClassifier(2, oob_score=True, loss="f1", random_state=0).fit(X[:40], alone))
    assert found[0].oob_mask_.all(axis=0).any()
    assert found[0].oob_table_ == found[1].oob_table_
    np.testing.assert_array_equal(found[0].oob_losses_, found[1].oob_losses_)


def test_instances_that_every_member_has_seen_are_counted_in_the_warning():
    weight = np.arange(60) % 4 > 0
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fitted = EMODTClassifier(2, oob_score=True, random_state=0).fit(X, Y, sample_weight=weight * 1.0)
    seen = np.count_nonzero(weight & ~fitted.oob_mask_.any(axis=0))
    assert 0 < seen < 45
    assert [str(one.message).split(" instances")[0] for one in said] == [f"{seen} of 45"]
    assert said[0].filename == __file__, "it is the line that fits"


@pytest.mark.parametrize("cells", [1, 1000])
def test_decisions_by_calibrated_beliefs_are_the_same_however_many_are_made_at_a_time(cells, monkeypatch):
    ensemble = EMODTClassifier(9, oob_score=True, aggregation="oob", calibration="sigmoid", random_state=0)
    whole = clone(ensemble).fit(X, Y)
    monkeypatch.setattr(_out_of_bag, "_CELLS_AT_ONCE", cells)
    parts = clone(ensemble).fit(X, Y)
    assert parts.oob_table_ == whole.oob_table_
    for loss, row in whole._oob.values.items():
        for way, values in row.items():
            np.testing.assert_array_equal(parts._oob.values[loss][way], values)
    graded = (whole.oob_proba_ > 0.5) != Y
    assert whole.oob_table_["hamming"]["gmv · calibrated"] == pytest.approx(np.nanmean(graded))


def test_a_fit_for_a_measure_looks_at_beliefs_alone_and_says_so_where_losses_are_asked_for(monkeypatch):
    given = {"n_estimators": 20, "oob_score": True, "random_state": 0}
    known = EMODTClassifier(**given).fit(X, Y)
    with monkeypatch.context() as patch:
        patch.setattr(Beliefs, "decide", None)
        fitted = EMODTClassifier(**given, loss="macro-f1").fit(X, Y)
        calibrated = EMODTClassifier(**given, loss="macro-f1", calibration="sigmoid").fit(X, Y)
    assert (fitted.oob_table_, fitted.oob_aggregation_) == ({}, "ctp")
    assert calibrated.oob_aggregation_ == "ctp · calibrated"
    np.testing.assert_array_equal(fitted.oob_proba_, known.oob_proba_)
    assert fitted.oob_score_ == known.set_params(loss="macro-f1").oob_score_
    for loss in ("micro-f1", "f1"):
        np.testing.assert_array_equal(fitted.set_params(loss=loss).predict(X), known.set_params(loss=loss).predict(X))
    with pytest.raises(ComitiaError, match="no out-of-bag losses are known for 'f1': fit with this loss"):
        _ = fitted.oob_loss_
    chosen = EMODTClassifier(**given, loss="macro-f1", aggregation="oob").fit(X, Y)
    assert chosen.oob_table_.keys() == LOSSES.keys(), "any loss may be asked for after it"


def judged(weight, values):
    labels = np.zeros((len(weight), 1), np.int8)
    return OutOfBag(weight, np.zeros((len(weight), 1)), {"hamming": values}, "Mean()", "Auto()", labels)


def test_means_and_their_errors_are_weighted_over_those_that_could_be_judged():
    weight, value = RNG.integers(0, 3, 30).astype(float), RNG.random(30)
    value[weight == 0] = np.nan
    found, known = judged(weight, {}), weight > 0
    w, v = weight[known] / weight[known].sum(), value[known]
    assert found.mean(value) == pytest.approx(np.sum(w * v), abs=1e-15)
    assert found.error(value) == pytest.approx(np.sqrt(np.sum((w * (v - np.sum(w * v))) ** 2)), abs=1e-15)


@pytest.mark.parametrize(
    ("loss", "means", "errors", "best"),
    [
        (Hamming(), {"ctp": 0.75, "gmv": 0.5}, 0.25, "ctp"),
        (Hamming(), {"ctp": 0.75, "gmv": 0.5}, 0.2499, "gmv"),
        (Hamming(), {"gmv": 0.5, "ctp": 0.5}, 0.0, "ctp"),
        (Hamming(), {"ctp": 1.0, "ctp · calibrated": 0.75, "gmv": 0.5}, 0.25, "ctp · calibrated"),
        (Hamming(), {"ctp": 1.0, "ctp · calibrated": 0.5, "gmv": 0.75}, 0.5, "ctp"),
        (Hamming(), {"ctp": 1.0, "ctp · calibrated": 1.0, "gmv": 0.5}, 0.1, "gmv"),
        (Hamming(), {"ctp · calibrated": 0.5, "gmv": 0.5}, 0.0, "ctp · calibrated"),
        (SubsetZeroOne(), {"ctp": 0.5, "ptc-mode": 0.75}, 0.25, "ptc-mode"),
        (SubsetZeroOne(), {"ptc-mode": 0.5, "ctp-joint": 0.75}, 0.25, "ctp-joint"),
        (SubsetZeroOne(), {"ptc-mode": 0.5, "ctp-joint": 0.75}, 0.2, "ptc-mode"),
    ],
)
def test_the_usual_way_gives_way_to_one_that_is_better_by_more_than_an_error(loss, means, errors, best):
    assert best_way(loss, means, dict.fromkeys(means, errors)) == best


def test_a_fit_that_judges_nothing_leaves_nothing_of_an_earlier_one():
    fitted = EMODTClassifier(3, oob_score=True, warm_start=True, random_state=0).fit(X, Y)
    assert fitted.oob_mask_.shape == (3, 60)
    fitted.set_params(oob_score=False, n_estimators=5).fit(X, Y)
    assert not hasattr(fitted, "oob_mask_")
    assert not hasattr(fitted, "oob_loss_")
    with pytest.raises(ComitiaError, match="oob_score=True cannot be turned on by a warm start"):
        fitted.set_params(oob_score=True, n_estimators=7).fit(X, Y)


def test_a_warm_start_on_other_instances_is_refused_where_members_are_judged():
    fitted = EBRClassifier(n_estimators=3, oob_score=True, warm_start=True, random_state=0).fit(X, Y)
    with pytest.raises(ComitiaError, match="the same data: it has 40 instances, it had 60"):
        fitted.set_params(n_estimators=5).fit(X[:40], Y[:40])
    assert len(fitted.members_) == 3
    fitted.set_params(oob_score=False).fit(X[:40], Y[:40])
    assert len(fitted.members_) == 5


def test_the_usual_reading_leaves_the_choice_of_one_however_it_is_given():
    usual = {"n_estimators": 4, "aggregation": "oob", "oob_score": True, "random_state": 0}
    tables = [
        EMODTClassifier(reading=one, **usual).fit(X, Y).oob_table_ for one in ("auto", "Auto", get_reading("auto"))
    ]
    assert "ctp · seen 0.3" in tables[0]["f1"]
    assert tables[0] == tables[1] == tables[2]


def test_chains_search_for_the_best_jaccard_index_only_where_it_is_asked_for():
    chains = ECCClassifier(n_estimators=4, chain_method="joint", oob_score=True, random_state=0)
    others = chains.fit(X, Y).oob_table_
    asked = chains.set_params(loss="jaccard").fit(X, Y).oob_table_
    left_out = {(loss, way) for loss, row in asked.items() for way in row.keys() - others[loss].keys()}
    assert left_out == {("jaccard", "ptc-lw"), ("jaccard", "ptc-mode"), ("jaccard", "ptc-mbr")}
    assert all(others[loss][way] == asked[loss][way] for loss, row in others.items() for way in row)
