"""`comitia train` and `comitia predict`: models in files, and files that must not be opened."""

import os

import numpy as np
import pandas as pd
import pytest
import skops.io

from comitia import ENSEMBLES
from comitia.cli.model_file import TRUSTED, Model, ModelFileError
from comitia.datasets import Dataset
from tests.cli.conftest import comitia
from tests.conftest import LABELS


@pytest.fixture(scope="module")
def trained(joint_csv, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.skops"
    ended = comitia("train", joint_csv, "-l", "y*", "--ensemble", "ecc", "--loss", "f1", "-m", 5, "-o", path)
    assert ended.code == 0
    return path


def write(path, frame: pd.DataFrame):
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def features(joint) -> pd.DataFrame:
    return pd.DataFrame(joint.X, columns=list(joint.feature_names))


def test_predictions_are_those_of_the_classifier_itself(trained, joint, features, tmp_path):
    chains = ENSEMBLES["ecc"](n_estimators=5, loss="f1", random_state=0).fit(joint.X, joint.Y)
    data = write(tmp_path / "new.csv", features[:20])
    ended = comitia("predict", trained, data, "-o", tmp_path / "out.csv")
    assert (ended.code, ended.out.split(":")[0]) == (0, "labels of 20 instances")
    found = pd.read_csv(tmp_path / "out.csv")
    assert tuple(found.columns) == LABELS
    assert (found.to_numpy() == chains.predict(joint.X[:20])).all()
    comitia("predict", trained, data, "-o", tmp_path / "out.parquet", "--proba")
    assert (pd.read_parquet(tmp_path / "out.parquet").to_numpy() == chains.predict_proba(joint.X[:20])).all()


def test_columns_are_found_by_name_and_others_are_left_alone(trained, joint, features, tmp_path):
    plain = write(tmp_path / "plain.csv", features)
    mixed = features[["x3", "x1"]].assign(id="a text", y0=7, x0=features["x0"], x2=features["x2"])
    comitia("predict", trained, plain, "-o", tmp_path / "plain-out.csv")
    ended = comitia("predict", trained, write(tmp_path / "mixed.csv", mixed), "-o", tmp_path / "mixed-out.csv")
    assert ended.code == 0
    assert (tmp_path / "mixed-out.csv").read_text() == (tmp_path / "plain-out.csv").read_text()


def test_missing_columns_are_named(trained, features, tmp_path):
    ended = comitia("predict", trained, write(tmp_path / "new.csv", features[["x1", "x3"]]), "-o", tmp_path / "o.csv")
    assert ended.code == 1
    assert "new lacks 2 of the 4 columns that the model needs: x0, x2. It has: x1, x3." in ended.said
    assert not (tmp_path / "o.csv").exists()


def test_text_where_the_model_knows_numbers_is_refused(trained, features, tmp_path):
    ended = comitia("predict", trained, write(tmp_path / "new.csv", features.assign(x2="?!")), "-o", tmp_path / "o.csv")
    assert ended.code == 1
    assert "column 'x2' holds text, and the model has learned from numbers there" in ended.said


@pytest.mark.parametrize("kind", ENSEMBLES)
def test_a_model_of_nominal_features_predicts_after_it_was_saved(kind, joint, tmp_path):
    colours = pd.Categorical.from_codes(np.arange(150) % 3, ["red", "green", "blue"])
    numbers = pd.Categorical.from_codes(np.arange(150) % 2, ["1", "2"])
    X = pd.DataFrame({"colour": colours, "x": joint.X[:, 0], "number": numbers})
    data = Dataset(X, joint.Y, ("colour", "x", "number"), LABELS, "nominal")
    classifier = ENSEMBLES[kind](n_estimators=5, random_state=0)
    Model.fit(classifier, data).save(tmp_path / "model.skops")
    opened = Model.open(tmp_path / "model.skops")
    assert opened.nominal == {"colour": ["blue", "green", "red"], "number": ["1", "2"]}
    file = write(tmp_path / "new.csv", X[:3][["number", "colour", "x"]])
    ended = comitia("predict", tmp_path / "model.skops", file, "-o", tmp_path / "out.csv")
    assert ended.code == 0
    assert (pd.read_csv(tmp_path / "out.csv").to_numpy() == classifier.predict(X[:3])).all()


@pytest.mark.parametrize("kind", ENSEMBLES)
@pytest.mark.parametrize("oob", [False, True])
def test_a_model_is_made_of_trusted_types_alone(kind, oob, joint):
    classifier = ENSEMBLES[kind](n_estimators=20, oob_score=oob, random_state=0).fit(joint.X, joint.Y)
    assert set(skops.io.get_untrusted_types(data=skops.io.dumps(classifier))) <= set(TRUSTED)


def test_every_trusted_type_is_the_librarys_own_or_numpys():
    assert {name.partition(".")[0] for name in TRUSTED} == {"comitia", "numpy"}


def test_the_choice_out_of_bag_is_kept_and_told(joint_csv, tmp_path):
    asked = ("--ensemble", "emodt", "--aggregation", "oob", "-m", 12, "-o", tmp_path / "m.skops", "--json")
    ended = comitia("train", joint_csv, "-l", "y*", *asked)
    assert ended.json["aggregation"] == Model.open(tmp_path / "m.skops").ensemble.oob_aggregation_
    assert ended.json["labels"] == list(LABELS)


class Trap:
    """Would leave a file where it was opened."""

    def __init__(self, path):
        self.path = str(path)

    def __setstate__(self, state):
        os.mkdir(state["path"])  # noqa: PTH102


@pytest.mark.parametrize("strange", [os.system, Trap("sprung"), {"ensemble": [np.array([1]), print]}])
def test_a_file_with_anything_else_in_it_is_refused_and_not_run(strange, features, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.skops").write_bytes(skops.io.dumps({"format": 1, "ensemble": strange}))
    data = write(tmp_path / "new.csv", features)
    ended = comitia("predict", "model.skops", data, "-o", "out.csv")
    assert ended.code == 1
    assert "model.skops is not opened: it holds " in ended.said
    assert "could run code" in ended.said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.skops", "new.csv"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda tree: tree.feature.put(0, 99),  # a feature that is not there
        lambda tree: tree.right.put(0, 10**6),  # out of the tree
        lambda tree: tree.right.put(0, 0),  # in a circle
        lambda tree: tree.right.put(-1, 10**6),  # a leaf that is not there
        lambda tree: tree.labels.indices.put(0, 10**6),
        lambda tree: tree.labels.starts.put(1, 10**6),
        lambda tree: tree.labelsets.indices.put(0, -1),
        lambda tree: tree.__dict__.update(threshold=tree.threshold[:1]),
        lambda tree: tree.__dict__.update(n_labelsets=10**6),
    ],
)
def test_trees_that_lead_out_of_bounds_are_refused(damage, joint, tmp_path):
    model = Model.fit(ENSEMBLES["emodt"](n_estimators=2, random_state=0), joint)
    damage(model.ensemble.members_.trees[1])
    model.save(tmp_path / "model.skops")
    with pytest.raises(ModelFileError, match=r"is not a model .*\(ValueError: (the|a) .*"):
        Model.open(tmp_path / "model.skops")


def test_chains_that_lead_out_of_bounds_are_refused(joint, tmp_path):
    model = Model.fit(ENSEMBLES["ecc"](n_estimators=2, random_state=0), joint)
    fit = model.ensemble.members_.fit
    fit.__dict__.update(influence=fit.influence[:, :1, :1])
    model.save(tmp_path / "model.skops")
    with pytest.raises(ValueError, match="influence has shape"):
        Model.open(tmp_path / "model.skops").ensemble.predict(joint.X)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not a zip file",
        skops.io.dumps({"format": 2}),
        skops.io.dumps({"format": 1, "ensemble": np.zeros(3)}),
        skops.io.dumps([1, 2]),
    ],
)
def test_a_file_that_is_no_model_is_refused(content, tmp_path):
    (tmp_path / "model.skops").write_bytes(content)
    with pytest.raises(ModelFileError, match=r"model\.skops (is not a model|holds no ensemble)"):
        Model.open(tmp_path / "model.skops")


def test_a_model_that_is_not_there_is_told(tmp_path):
    ended = comitia("predict", tmp_path / "none.skops", tmp_path / "new.csv", "-o", tmp_path / "out.csv")
    assert ended.code == 2
    assert "none.skops' does not exist" in ended.said


def test_training_that_fails_leaves_an_earlier_model_alone(joint_csv, tmp_path):
    text = joint_csv.read_text().splitlines()
    (tmp_path / "gaps.csv").write_text("\n".join([text[0], "NA" + text[1][text[1].index(",") :], *text[2:]]))
    (tmp_path / "model.skops").write_text("before")
    ended = comitia("train", tmp_path / "gaps.csv", "-l", "y*", "-m", 3, "-o", tmp_path / "model.skops")
    assert ended.code == 1
    assert "NaN" in ended.said
    assert (tmp_path / "model.skops").read_text() == "before"
