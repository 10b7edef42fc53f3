"""`comitia train` and `comitia predict`: models in files, and files that must not be opened."""

import os
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import skops.io

from comitia import ENSEMBLES
from comitia.datasets import Dataset
from comitia.model_file import Model, save
from tests.cli.conftest import comitia, write
from tests.conftest import LABELS

# A committee has ensembles in the place of a number of members.
OF_MEMBERS = [kind for kind in ENSEMBLES if kind != "committee"]


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


def test_numbers_that_begin_with_a_zero_are_numbers_where_the_model_knows_them(tmp_path):
    for beside in ({}, {"kind": ["a", "b"] * 15}):
        frame = pd.DataFrame({"n": range(30), **beside, "y": [0] * 15 + [1] * 15})
        frame.to_csv(tmp_path / "t.csv", index=False)
        model = ("--ensemble", "emodt", "-m", 5, "--force", "-o", tmp_path / "m.skops")
        assert comitia("train", tmp_path / "t.csv", "-l", "y", *model).code == 0
        (tmp_path / "new.csv").write_text("n,kind\n002,a\n028,b\n")
        ended = comitia("predict", tmp_path / "m.skops", tmp_path / "new.csv", "--force", "-o", tmp_path / "out.csv")
        assert ended.code == 0, ended.said
        assert pd.read_csv(tmp_path / "out.csv")["y"].tolist() == [0, 1]


def test_text_where_the_model_knows_numbers_is_refused(trained, features, tmp_path):
    ended = comitia(
        "predict", trained, write(tmp_path / "new.csv", features.assign(x2=[0.5, "?!"] * 75)), "-o", tmp_path / "o.csv"
    )
    assert ended.code == 1
    assert "new.csv, column 'x2': expected numbers, found '?!' in row 2, '?!' in row 4, '?!' in row 6 and 72 more." in (
        ended.said
    )
    assert ended.said.endswith("--missing-values '?!' counts them as missing.")
    how = ("--missing-values", "?!", "-o", tmp_path / "o.csv")
    ended = comitia("predict", trained, tmp_path / "new.csv", *how)
    assert ended.code == 0, ended.said


@pytest.mark.parametrize("kind", OF_MEMBERS)
def test_a_model_of_nominal_features_predicts_after_it_was_saved(kind, joint, tmp_path):
    colours = pd.Categorical.from_codes(np.arange(150) % 3, ["red", "green", "blue"])
    numbers = pd.Categorical.from_codes(np.arange(150) % 2, ["1", "2"])
    X = pd.DataFrame({"colour": colours, "x": joint.X[:, 0], "number": numbers})
    data = Dataset(X, joint.Y, ("colour", "x", "number"), LABELS, "nominal")
    classifier = ENSEMBLES[kind](n_estimators=5, random_state=0)
    save(Model.fit(classifier, data), tmp_path / "model.skops")
    assert Model.open(tmp_path / "model.skops").nominal == ("colour", "number")
    file = write(tmp_path / "new.csv", X[:3][["number", "colour", "x"]])
    ended = comitia("predict", tmp_path / "model.skops", file, "-o", tmp_path / "out.csv")
    assert ended.code == 0
    assert (pd.read_csv(tmp_path / "out.csv").to_numpy() == classifier.predict(X[:3])).all()


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
    assert "model.skops cannot be opened as a model: it holds " in ended.said
    assert "could run code" in ended.said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.skops", "new.csv"]


def test_a_model_that_is_not_there_is_told(tmp_path):
    ended = comitia("predict", tmp_path / "none.skops", tmp_path / "new.csv", "-o", tmp_path / "out.csv")
    assert ended.code == 2
    assert "none.skops' does not exist" in ended.said


def test_training_that_fails_leaves_an_earlier_model_alone(joint_csv, tmp_path):
    text = joint_csv.read_text().splitlines()
    (tmp_path / "gaps.csv").write_text("\n".join([text[0], "inf" + text[1][text[1].index(",") :], *text[2:]]))
    (tmp_path / "model.skops").write_text("before")
    ended = comitia("train", tmp_path / "gaps.csv", "-l", "y*", "-m", 3, "-o", tmp_path / "model.skops", "--force")
    assert ended.code == 1
    assert "infinity" in ended.said
    assert (tmp_path / "model.skops").read_text() == "before"


FEW = ("-l", "y*", "--ensemble", "ebr", "-m", 2)


def linked(mine, ending):
    """The same file by another path and by other names."""
    (mine.parent / f"soft.{ending}").symlink_to(mine)
    os.link(mine, mine.parent / f"hard.{ending}")
    return [f"soft.{ending}", f"hard.{ending}"]


def test_training_never_writes_over_its_data(mine):
    before = mine.read_bytes()
    assert (
        "expected a name that ends in .skops; got mine.csv."
        in comitia("train", "mine.csv", *FEW, "-o", "mine.csv").said
    )
    for name in linked(mine, "skops"):
        ended = comitia("train", mine, *FEW, "-o", name, "--force")
        assert (ended.code, ended.out) == (2, "")
        assert f"{name} is the file to read, which is never written over." in ended.said
        assert (mine.parent / name).read_bytes() == before
    assert mine.read_bytes() == before


def test_predicting_never_writes_over_data_or_model(trained, features, mine):
    write(mine, features)
    before = mine.read_bytes()
    for name in ("mine.csv", f"../{mine.parent.name}/mine.csv", *linked(mine, "csv")):
        ended = comitia("predict", trained, mine, "-o", name, "--force")
        assert (ended.code, ended.out) == (2, "")
        assert "is the file to read, which is never written over." in ended.said
    (mine.parent / "model.csv").symlink_to(trained)
    assert comitia("predict", trained, mine, "-o", "model.csv", "--force").code == 2
    assert mine.read_bytes() == before


def test_other_files_are_written_over_only_by_force(trained, features, mine):
    write(mine, features)
    for name, command in (
        ("out.csv", ("predict", trained, "mine.csv")),
        ("model.skops", ("train", "joint.csv", *FEW)),
    ):
        (mine.parent / "joint.csv").write_text("x0,y0,y1\n" + "1,0,1\n2,1,0\n" * 9)
        (mine.parent / name).write_text("before")
        ended = comitia(*command, "-o", name)
        assert (ended.code, ended.out) == (2, "")
        assert f"{name} is there already; --force writes over it." in ended.said
        assert (mine.parent / name).read_text() == "before"
        assert comitia(*command, "-o", name, "--force").code == 0
        assert (mine.parent / name).read_bytes() != b"before"


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("model.pkl", "expected a name that ends in .skops; got model.pkl."),
        ("model.joblib", "expected a name that ends in .skops"),
        ("model", "expected a name that ends in .skops; got model."),
        ("mine.csv/model.skops", "is no folder that can be written to."),
    ],
)
def test_that_the_model_can_be_written_is_known_before_the_work(name, answer, mine, monkeypatch):
    monkeypatch.setattr(ENSEMBLES["ebr"], "fit", lambda *_: pytest.fail("has begun to work"))
    ended = comitia("train", "mine.csv", *FEW, "-o", name)
    assert ended.code == 2
    assert answer in ended.said
    assert [path.name for path in mine.parent.iterdir()] == ["mine.csv"]


def test_dates_are_learnt_from_and_new_ones_predicted(mine):
    days = pd.date_range("2020-01-01", periods=150, freq="h")
    frame = pd.read_csv(mine).assign(day=days)
    frame.to_parquet(mine.parent / "days.parquet")
    assert comitia("train", "days.parquet", *FEW, "-o", "model.skops").code == 0
    frame.assign(day="2031-05-01").drop(columns=list(LABELS)).to_csv(mine.parent / "new.csv")
    assert comitia("predict", "model.skops", "new.csv", "-o", "out.csv").code == 0


ESCAPE = "\x1b[31mred\x1b[0m\x9b2J"


def test_names_never_steer_the_terminal(joint, mine):
    labels = [f"{ESCAPE}{k}" for k in range(3)]
    pd.DataFrame(np.hstack([joint.X, joint.Y]), columns=["a", "b", ESCAPE, "d", *labels]).to_csv(mine, index=False)
    train = ("train", "mine.csv", "-l", "*[012]", "--ensemble", "ebr", "-m", 2)
    for arguments in (
        (*train, "-o", f"{ESCAPE}.skops"),
        (*train, "-o", f"{ESCAPE}.skops", "--json", "--force"),
        (*train, "-o", f"{ESCAPE}.skops"),
        (*train, "-o", f"{ESCAPE}.pkl"),
        ("predict", f"{ESCAPE}.skops", "mine.csv", "-o", f"{ESCAPE}.csv"),
        ("predict", f"{ESCAPE}.skops", "mine.csv", "-o", f"{ESCAPE}.csv", "--force", "--json"),
    ):
        ended = comitia(*arguments)
        assert ended.out + ended.err
        assert not {"\x1b", "\x9b"} & set(ended.out + ended.err)
    (mine.parent / "other.csv").write_text("a,b\n1,2\n")
    ended = comitia("predict", f"{ESCAPE}.skops", "other.csv", "-o", "out.csv")
    assert ended.code == 1
    assert "\\x1b[31mred" in ended.said
    assert "\x1b" not in ended.err


def test_names_that_begin_a_formula_are_texts_in_csv(joint, mine):
    labels = ["=cmd|'/c calc'!A1", "+1", "-x", "@sum", "calm"]
    Y = joint.Y[:, [0, 1, 2, 0, 1]]
    data = Dataset(joint.X, Y, joint.feature_names, tuple(labels), "formulas")
    save(Model.fit(ENSEMBLES["ebr"](n_estimators=2, random_state=0), data), "model.skops")
    for name in ("out.csv", "out.parquet"):
        assert comitia("predict", "model.skops", "mine.csv", "-o", name).code == 0
    assert list(pd.read_csv("out.csv").columns) == [*(f"'{label}" for label in labels[:4]), "calm"]
    assert list(pd.read_parquet("out.parquet").columns) == labels
    found = [
        ";".join(name for name, one in zip(labels, row, strict=True) if one)
        for row in pd.read_parquet("out.parquet").to_numpy()
    ]
    assert any(";@" in cell for cell in found)
    for name in ("one.csv", "one.parquet"):
        assert comitia("predict", "model.skops", "mine.csv", "--labels-in-one-column", "-o", name).code == 0
    assert pd.read_parquet("one.parquet")["labels"].tolist() == found
    told = pd.read_csv("one.csv", keep_default_na=False)["labels"].tolist()
    assert [";".join(name.removeprefix("'") for name in cell.split(";")) for cell in told] == found
    assert not any(name.startswith(("=", "+", "-", "@")) for cell in told for name in cell.split(";"))


def test_the_version_of_a_model_is_no_markup(joint, mine):
    model = Model.fit(ENSEMBLES["ebr"](n_estimators=2, random_state=0), joint)
    save(replace(model, version="[/bold] [red]1\x1b"), "model.skops")
    ended = comitia("predict", "model.skops", "mine.csv", "-o", "out.csv")
    assert ended.code == 0
    assert "fitted by comitia [/bold] [red]1\\x1b;" in ended.said
