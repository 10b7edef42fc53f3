"""Runs without a folder, and classifiers that come as objects."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from comitia import EBRClassifier, EMODTClassifier, MultilabelVotingClassifier
from comitia.datasets import Dataset, make_joint
from comitia.experiments import (
    Cell,
    DataSource,
    EnsembleSetting,
    Plan,
    PlanError,
    Store,
    StoreError,
    parse_plan,
    run_plan,
    write_plan,
)
from comitia.experiments._cell import fit_cell
from tests.experiments.conftest import small_plan


def with_objects(*settings: EnsembleSetting, **changes) -> Plan:
    return Plan(**({"name": "mine", "datasets": (DataSource("mine"),), "ensembles": settings, "folds": 2} | changes))


def test_a_run_in_memory_has_the_rows_of_one_in_a_folder_and_writes_nothing(plan, joint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kept = run_plan(plan, tmp_path / "run", n_jobs=1)
    before = sorted(tmp_path.rglob("*"))
    for n_jobs in (1, 2):
        found = run_plan(plan, data={"joint": joint}, n_jobs=n_jobs)
        assert found.rows == kept.rows == Store.read(tmp_path / "run").rows()
        assert (found.total, found.kept, found.computed, found.failures) == (6, 0, 6, ())
        assert found.identity == kept.identity
        assert found.cells.keys() == kept.cells.keys()
        assert found.warnings == kept.warnings
        assert [entry["n"] for entry in found.datasets] == [150]
        assert [session["cells"] for session in found.provenance["sessions"]] == [6]
    assert sorted(tmp_path.rglob("*")) == before


def test_data_in_memory_is_not_looked_for_elsewhere(joint, tmp_path):
    plan = with_objects(EnsembleSetting("emodt", {"n_estimators": 5}))
    assert run_plan(plan, n_jobs=1).failures[0]["error"].startswith("FileNotFoundError: mine is neither a file")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert run_plan(plan, tmp_path, data={"mine": joint}, n_jobs=1).computed == 2
        assert run_plan(plan, tmp_path, data={"mine": joint}, n_jobs=1).kept == 2
    shuffled = replace(joint, Y=joint.Y[::-1].copy())
    with pytest.raises(StoreError, match="dataset 'mine' is not what it was"):
        run_plan(plan, tmp_path, data={"mine": shuffled}, n_jobs=1)


def test_data_that_the_plan_does_not_name_is_refused(joint):
    plan = with_objects(EnsembleSetting("emodt", {"n_estimators": 5}))
    with pytest.raises(ValueError, match=r"unknown dataset of plan 'mine': 'mien': did you mean 'mine'\?"):
        run_plan(plan, data={"mien": joint})


@pytest.mark.parametrize("kind", ["array", "sparse", "frame"])
def test_data_of_every_form_reaches_processes_as_it_is(kind):
    data = make_joint(20_000, 8, 3, dependence=0.5, random_state=0).dataset
    frame = pd.DataFrame(data.X, columns=list(data.feature_names))
    frame[data.feature_names[0]] = pd.Categorical(np.where(data.X[:, 0] > 0, "high", "low"))
    forms = {"array": data.X, "sparse": csr_array(data.X), "frame": frame}
    settings = [EnsembleSetting("emodt", {"n_estimators": 3, "max_depth": 3, "bootstrap": False})]
    plan = with_objects(*settings, aggregations=("ctp",))
    found = [run_plan(plan, data={"mine": replace(data, X=forms[kind])}, n_jobs=n_jobs) for n_jobs in (1, 2)]
    assert found[0].failures == found[1].failures == ()
    assert found[0].rows == found[1].rows


def test_one_of_our_ensembles_as_an_object_is_scored_like_its_kind(joint):
    given = EnsembleSetting(name="emodt", estimator=EMODTClassifier(12, random_state=99, loss="f1", n_jobs=3))
    by_name = with_objects(EnsembleSetting("emodt", {"n_estimators": 12}))
    found = run_plan(with_objects(given), data={"mine": joint}, n_jobs=1)
    assert found.rows == run_plan(by_name, data={"mine": joint}, n_jobs=1).rows
    assert given.estimator.random_state == 99


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(5),
        MultiOutputClassifier(LogisticRegression()),
        KNeighborsClassifier(),
        DecisionTreeClassifier(max_depth=3),
        DummyClassifier(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_any_classifier_is_scored_by_its_own_predictions_and_as_one_member(estimator, joint):
    plan = with_objects(EnsembleSetting(estimator=estimator, name="theirs"))
    found = run_plan(plan, data={"mine": joint}, n_jobs=1)
    assert found.failures == ()
    assert not hasattr(estimator, "classes_")
    values = {(row["fold"], row["loss"], row["aggregation"]): row["value"] for row in found.rows if row["size"] == 1}
    assert {aggregation for _, _, aggregation in values} == {"gmv", "ctp", "own"}
    assert len(values) == len(found.rows) == 2 * 3 * 3
    fitted, test = fit_cell(plan, Cell("mine", "theirs", 0, 0), joint)
    own = fitted.named_estimators_["own"].predict(joint.X[test])
    assert values[0, "hamming", "own"] == pytest.approx((own != joint.Y[test]).mean())
    assert values[0, "subset01", "own"] == (own != joint.Y[test]).any(axis=1).mean()
    half = fitted.predict_proba(joint.X[test]) > 0.5
    assert values[0, "hamming", "gmv"] == pytest.approx((half != joint.Y[test]).mean())


def test_open_seeds_are_drawn_from_the_plan_and_fixed_ones_stay(joint):
    plan = with_objects(EnsembleSetting(estimator=RandomForestClassifier(5), name="theirs"))
    cell = Cell("mine", "theirs", 0, 0)
    first, again = (fit_cell(plan, cell, joint)[0].named_estimators_["own"] for _ in range(2))
    assert first.random_state == again.random_state == plan.seed_of_members(cell) % (2**31 - 1)
    fixed = with_objects(EnsembleSetting(estimator=RandomForestClassifier(5, random_state=3), name="theirs"))
    assert fit_cell(fixed, cell, joint)[0].named_estimators_["own"].random_state == 3


def test_rows_of_objects_do_not_depend_on_the_number_of_processes(joint):
    settings = (
        EnsembleSetting(estimator=RandomForestClassifier(5), name="forest"),
        EnsembleSetting(estimator=MultilabelVotingClassifier([("tree", DecisionTreeClassifier())]), name="vote"),
        EnsembleSetting(estimator=EBRClassifier(n_estimators=5), name="ebr"),
    )
    data = {"mine": replace(joint, X=csr_array(joint.X))}
    found = [run_plan(with_objects(*settings), data=data, n_jobs=n_jobs) for n_jobs in (1, 2)]
    assert found[0].failures == found[1].failures == ()
    assert found[0].rows == found[1].rows
    assert {row["ensemble"] for row in found[0].rows} == {"forest", "vote", "ebr"}


def test_labels_that_are_constant_in_training_are_predicted_as_they_were(joint):
    Y = np.column_stack([joint.Y[:, :2], np.ones(150, np.int8)])
    data = Dataset(joint.X, Y, joint.feature_names, ("a", "b", "c"), "mine")
    plan = with_objects(EnsembleSetting(estimator=MultiOutputClassifier(LogisticRegression()), name="theirs"))
    found = run_plan(plan, data={"mine": data}, n_jobs=1)
    assert found.failures == ()
    assert max(row["value"] for row in found.rows if row["loss"] == "hamming") < 2 / 3


def test_a_run_of_objects_goes_on_in_its_folder_and_refuses_others(joint, tmp_path):
    plan = with_objects(EnsembleSetting(estimator=RandomForestClassifier(5), name="theirs"))
    run_plan(plan, tmp_path, data={"mine": joint}, cells=plan.select(folds=1), n_jobs=1)
    same = with_objects(EnsembleSetting(estimator=RandomForestClassifier(5), name="theirs"))
    rest = run_plan(same, tmp_path, data={"mine": joint}, n_jobs=1)
    assert (rest.kept, rest.computed) == (1, 1)
    assert Store.read(tmp_path).rows() == rest.rows == run_plan(plan, data={"mine": joint}, n_jobs=1).rows
    other = with_objects(EnsembleSetting(estimator=RandomForestClassifier(6), name="theirs"))
    with pytest.raises(StoreError, match=r"ensembles\.theirs\.n_estimators: 5 in the folder, 6 now"):
        run_plan(other, tmp_path, data={"mine": joint}, n_jobs=1)


def test_the_identity_of_an_object_is_its_class_and_its_parameters_to_the_bottom():
    nested = MultiOutputClassifier(RandomForestClassifier(5, max_features=np.float64(0.5)))
    identity = with_objects(EnsembleSetting(estimator=nested, name="theirs")).identity()["ensembles"]["theirs"]
    assert identity["object"] == "sklearn.multioutput.MultiOutputClassifier"
    assert identity["estimator"]["class"] == "sklearn.ensemble._forest.RandomForestClassifier"
    assert (identity["estimator"]["n_estimators"], identity["estimator"]["max_features"]) == (5, 0.5)


def test_a_plan_with_objects_is_written_but_not_run_from_its_file(tmp_path):
    plan = with_objects(EnsembleSetting("ebr"), EnsembleSetting(estimator=RandomForestClassifier(5), name="theirs"))
    with pytest.raises(PlanError, match=r"'theirs' was given as an object, sklearn\.ensemble\._forest\.Random.*Python"):
        parse_plan(write_plan(plan))
    shown = parse_plan(write_plan(plan), objects=True)
    assert list(shown.cells()) == list(plan.cells())
    assert write_plan(shown) == write_plan(plan)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"estimator": RandomForestClassifier}, "must be an object; got the class RandomForestClassifier: call it"),
        ({"estimator": object()}, "must be a multilabel classifier of scikit-learn's kind; got <object"),
        ({"estimator": RandomForestClassifier(), "kind": "ebr"}, "estimator must stand alone"),
        ({"estimator": RandomForestClassifier(), "choose": {"own__max_depth": [1]}}, "has no out-of-bag losses"),
        ({}, "unknown ensemble ''"),
    ],
)
def test_what_is_no_classifier_is_refused(given, message):
    with pytest.raises(PlanError, match=message):
        EnsembleSetting(**given)


def test_the_digits_are_drawn_from_what_the_run_predicted():
    plan = replace(
        small_plan("unused"), datasets=(DataSource("seven-segment"),), aggregations=("gmv", "ctp", "ctp-joint", "oob")
    )
    found = run_plan(plan, cells=plan.select(folds=1, ensembles=["emodt"]), n_jobs=1)
    assert found.digits["loss"] == "subset01"
    truth = np.array(found.digits["truth"])
    assert np.array(found.digits["images"]).shape == (len(truth), 8, 8)
    lit = {name: np.array(labeling) for name, labeling in found.digits["labelings"].items()}
    assert list(lit) == ["gmv", "ctp", "ctp-joint"]
    for row in found.rows:
        if row["loss"] == "subset01" and row["aggregation"] in lit:
            assert row["value"] == (lit[row["aggregation"]] != truth).any(axis=1).mean()
    assert run_plan(plan, cells=[Cell("seven-segment", "ebr", 0, 0)], n_jobs=1).digits is None


def test_data_is_read_once_and_hashed_once(plan, joint, monkeypatch, tmp_path):
    from comitia.experiments import _provenance

    counts = {"read": 0, "hashed": 0}
    load, checksum = DataSource.load, _provenance.checksum

    def counted_load(self, data_home=None):
        counts["read"] += 1
        return load(self, data_home)

    def counted_checksum(dataset):
        counts["hashed"] += 1
        return checksum(dataset)

    monkeypatch.setattr(DataSource, "load", counted_load)
    monkeypatch.setattr(_provenance, "checksum", counted_checksum)
    run_plan(plan, tmp_path, n_jobs=1)
    assert counts == {"read": 1, "hashed": 1}
    run_plan(plan, data={"joint": joint}, n_jobs=1)
    assert counts == {"read": 1, "hashed": 2}
