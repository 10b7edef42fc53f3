"""What a cell keeps for its report: counts, baselines and disputes that are those of the instances themselves."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from comitia import EMODTClassifier
from comitia._baselines import BASELINES, constant_answers
from comitia.datasets import MultilabelStratifiedKFold
from comitia.experiments import Cell, DataSource, EnsembleSetting, Plan, Store, run_plan
from comitia.experiments._cell import compute_cell, fit_cell
from comitia.experiments._details import BINS, Details
from comitia.experiments._memory import Memory
from comitia.measures._registry import loss_of

LOSSES = ("hamming", "subset01", "f1")


@pytest.fixture(scope="module")
def plan() -> Plan:
    ensembles = (EnsembleSetting("emodt", {"n_estimators": 8}), EnsembleSetting("ebr", {"n_estimators": 3}))
    return Plan("details", (DataSource("joint"),), ensembles, LOSSES, folds=3, stratified=True)


@pytest.fixture(scope="module")
def cell() -> Cell:
    return Cell("joint", "emodt", 0, 1)


@pytest.fixture(scope="module")
def computed(plan, cell, joint):
    return compute_cell(plan, 1, cell, joint)


@pytest.fixture(scope="module")
def fitted(plan, cell, joint):
    return fit_cell(plan, cell, joint, n_jobs=1)


def test_baselines_see_the_training_labels_and_are_scored_on_the_same_fold(computed, plan, cell, joint):
    splits = MultilabelStratifiedKFold(3, shuffle=True, random_state=plan.seed_of_folds(cell)).split(joint.X, joint.Y)
    train, test = list(splits)[1]
    for loss, found in computed.details["baselines"].items():
        assert list(found) == list(BASELINES)
        for name, answer in constant_answers(joint.Y[train]).items():
            assert found[name] == loss_of(loss, joint.Y[test], np.tile(answer, (len(test), 1)))


def test_the_most_frequent_set_is_that_of_a_plain_count(joint):
    rows = [tuple(row) for row in joint.Y]
    assert tuple(constant_answers(joint.Y)["frequent"]) == max(dict.fromkeys(rows), key=rows.count)
    assert (constant_answers(joint.Y)["majority"] == (joint.Y.mean(axis=0) > 0.5)).all()
    assert not constant_answers(joint.Y)["nothing"].any()


def test_counts_of_labels_are_those_of_the_predictions(computed, fitted, joint):
    forest, test = fitted
    truth = joint.Y[test]
    kept = {(one["loss"], one["aggregation"]): np.array(one["counts"]) for one in computed.details["labels"]}
    for loss in LOSSES:
        for aggregation in ("gmv", "ctp", "ptc-mode"):
            answer = forest.set_params(loss=loss, aggregation=aggregation).predict(joint.X[test])
            right, wrong = (answer & truth).sum(axis=0), (answer & ~truth & 1).sum(axis=0)
            missed = (truth & ~answer & 1).sum(axis=0)
            assert (kept[loss, aggregation] == [right, wrong, missed]).all()


def test_disputed_instances_are_where_the_decisions_differ_most(computed, fitted, joint):
    forest, test = fitted
    for kept in computed.details["disputed"]:
        row = int(np.flatnonzero(test == kept["instance"])[0])
        assert kept["truth"] == np.flatnonzero(joint.Y[test[row]]).tolist()
        for answer in kept["answers"]:
            if answer["aggregation"] == "oob":
                continue
            predicted = forest.set_params(loss=kept["loss"], aggregation=answer["aggregation"]).predict(joint.X[test])
            assert answer["labels"] == np.flatnonzero(predicted[row]).tolist()
        assert len({tuple(answer["labels"]) for answer in kept["answers"]}) > 1


def test_of_disputed_instances_the_three_that_differ_most_are_kept_the_first_first():
    rng = np.random.default_rng(0)
    truth, ways = rng.integers(0, 2, (40, 3)), {f"way {i}": rng.integers(0, 2, (40, 3)) for i in range(5)}
    share = np.mean(list(ways.values()), axis=0)
    doubt = (share * (1 - share)).sum(axis=1)
    for steps in (1, 4):
        details = Details(EMODTClassifier(), truth, np.arange(40))
        for rows in (slice(start, start + 40 // steps) for start in range(0, 40, 40 // steps)):
            details._dispute("f1", {way: labeling[rows] for way, labeling in ways.items()}, rows)
        found = details._disputed["f1"]
        assert [one[0] for one in found] == sorted(doubt, reverse=True)[:3]
        for most, place, answers in found:
            assert doubt[place] == most
            assert all((answers[way] == ways[way][place]).all() for way in ways)


def test_probabilities_are_counted_with_how_often_they_were_right(computed, fitted, joint):
    forest, test = fitted
    p, y = forest.predict_proba(joint.X[test]).ravel(), joint.Y[test].ravel()
    count, total, positive = np.array(computed.details["bins"])
    place = np.minimum((p * BINS).astype(int), BINS - 1)
    assert (count == [np.sum(place == one) for one in range(BINS)]).all()
    assert (positive == [y[place == one].sum() for one in range(BINS)]).all()
    np.testing.assert_allclose(total.sum(), p.sum())


@pytest.mark.parametrize(("n", "predicted"), [(3, 3), (500, 500), (501, 500)])
def test_a_prediction_is_timed_on_five_hundred_instances_at_most(n, predicted):
    asked = []
    ensemble = SimpleNamespace(pool="mean", predict=lambda X: asked.append(len(X)))
    for X in (np.zeros((n, 2)), pd.DataFrame(np.zeros((n, 2)))):
        seconds = Details(ensemble, np.zeros((n, 1)), np.arange(n))._timed(X)
        assert seconds["predicted"] == predicted
        assert seconds["predict"] >= 0
    assert asked == [predicted] * 2


def test_details_are_kept_with_the_run_and_their_loss_costs_only_themselves(plan, joint, tmp_path):
    run_plan(plan, tmp_path / "run", data={"joint": joint}, n_jobs=1)
    in_memory = run_plan(plan, None, data={"joint": joint}, n_jobs=1).store
    store = Store.read(tmp_path / "run")
    assert isinstance(in_memory, Memory)
    for cell in plan.cells():
        kept, here = store.details(cell), in_memory.details(cell)
        assert {k: v for k, v in kept.items() if k != "seconds"} == {k: v for k, v in here.items() if k != "seconds"}
        assert kept["seconds"]["fit"] > 0
    next((tmp_path / "run" / "details").iterdir()).write_text("{")
    assert sum(store.details(cell) is None for cell in plan.cells()) == 1
    assert not store.failures()
    assert store.rows() == in_memory.rows()
