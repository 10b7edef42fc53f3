"""`comitia.compare` as somebody uses it in a notebook."""

import shlex
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB

import comitia
from comitia import ComitiaError, ECCClassifier, FLoss, Results, compare
from comitia._titles import aggregation_and_pool
from comitia.report._vocabulary import title
from tests.cli.conftest import comitia as command_line
from tests.conftest import LABELS

FEW = {"ensembles": ["ebr"], "losses": ["subset01", "f1"], "members": 5, "folds": 2, "n_jobs": 1, "progress": False}


@pytest.fixture(scope="module")
def of_arrays(joint) -> Results:
    return compare(joint.X, joint.Y, **FEW)


def values(results: Results) -> list[float]:
    return results.to_frame()["value"].tolist()


def test_arrays_frames_sparse_arrays_and_datasets_give_the_same_numbers(joint, of_arrays):
    import polars

    X, Y = pd.DataFrame(joint.X, columns=list(joint.feature_names)), pd.DataFrame(joint.Y, columns=list(LABELS))
    for given in (
        (X, Y),
        (polars.from_pandas(X), polars.from_pandas(Y)),
        (joint.X.tolist(), joint.Y.tolist()),
        (joint.X, csr_array(joint.Y)),
        (joint.X, joint.Y.astype(bool)),
    ):
        assert values(compare(*given, **FEW)) == values(of_arrays)
    assert values(compare(X.join(Y), labels=["y*"], **FEW)) == values(of_arrays)
    in_sparse = compare(csr_array(joint.X), joint.Y, **FEW)
    np.testing.assert_allclose(values(in_sparse), values(of_arrays), atol=0.05)


def test_labels_are_taken_as_lists_of_names_and_as_words(joint, of_arrays):
    names = ["a", "b", "c"]
    lists = [[name for name, one in zip(names, row, strict=True) if one] for row in joint.Y]
    assert values(found := compare(joint.X, lists, **FEW)) == values(of_arrays)
    assert found.datasets[0]["label_names"] == names
    assert values(compare(joint.X, pl.Series(lists), **FEW)) == values(of_arrays)
    words = pd.DataFrame({name: np.where(joint.Y[:, k], "yes", "no") for k, name in enumerate(names)})
    assert values(compare(joint.X, words.assign(c=joint.Y[:, 2]), **FEW)) == values(of_arrays)


def test_names_of_frames_are_kept(joint):
    frame = pd.DataFrame(joint.X).add_prefix("f")
    results = compare(frame, joint.Y, labels=("red", "green", "blue"), **FEW)
    (described,) = results.datasets
    assert described["label_names"] == ["red", "green", "blue"]


def test_a_dataset_by_name_with_a_classifier_of_ones_own_among_the_ensembles():
    forest = RandomForestClassifier(10, random_state=0)
    results = compare(
        "seven-segment", ensembles=["emodt", ("forest", forest)], members=5, folds=2, n_jobs=1, progress=False
    )
    assert results.ensemble_names == ["emodt", "forest"]
    assert "own" in set(results.rows[results.rows.ensemble == "forest"].aggregation)
    assert results.digits is not None
    advice = results.recommendation("subset01", ensemble="forest")
    assert "RandomForestClassifier(n_estimators=10, random_state=0)" in advice.code
    assert "from sklearn.ensemble import RandomForestClassifier" in advice.imports
    assert results.recommendation("subset01", ensemble="emodt").command.startswith(
        "comitia train seven-segment --ensemble emodt --members 5 --loss subset01 --aggregation "
    )
    assert repr(results).startswith("Results on seven-segment: EMODT, forest, 2 folds\n  Hamming loss")


def test_the_recommended_code_runs_for_ensembles_of_ones_own(joint):
    pairs = [
        ("chains", ECCClassifier(LogisticRegression(C=0.5), n_estimators=3)),
        ("logistic", MultiOutputClassifier(LogisticRegression(C=2.0))),
    ]
    results = compare(joint, **FEW | {"ensembles": pairs})
    for name, inner in (("chains", "LogisticRegression(C=0.5)"), ("logistic", "LogisticRegression(C=2.0)")):
        advice = results.recommendation("f1", ensemble=name)
        space = {}
        exec(f"{advice.imports}\nmade = {advice.code}", space)
        assert inner in repr(space["made"])
        assert space["made"].fit(joint.X, joint.Y).predict(joint.X).shape == joint.Y.shape
        assert advice.command == ""


def test_a_run_in_a_folder_is_that_of_the_command_line(joint_csv, tmp_path):
    results = compare(joint_csv, labels=["y*"], folder=tmp_path / "run", **FEW)
    assert values(Results.read(tmp_path / "run")) == values(results)
    few = ("--members", 5, "--folds", 2, "--ensembles", "ebr", "--losses", "subset01,f1", "-j", 1)
    ended = command_line("compare", joint_csv, "--labels", "y*", *few, "-o", tmp_path / "run", "--json")
    assert (ended.code, ended.json["kept"], ended.json["computed"]) == (0, 2, 0)
    assert ended.json["recommendations"] == [one.as_record() for one in results.recommendations]


def test_the_recommended_command_trains(joint_csv, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results = compare(joint_csv, labels=["y*"], **FEW)
    advice = results.recommendation("f1")
    ended = command_line(*shlex.split(advice.command)[1:], "--json")
    assert (ended.code, ended.json["aggregation"]) == (0, advice.aggregation)
    assert (tmp_path / "model.skops").is_file()


def test_the_lines_of_python_run_as_they_stand(joint, joint_csv, of_arrays):
    of_a_file = compare(joint_csv, labels=["y*"], **FEW)
    for results, given in ((of_a_file, {}), (of_arrays, {"X": joint.X, "Y": joint.Y})):
        for advice in results.recommendations:
            assert len(advice.python.splitlines()) == 4
            exec(advice.python, space := dict(given))
            assert space["classifier"].predict(joint.X).shape == joint.Y.shape


def test_what_is_no_name_of_a_loss_is_told_which_there_are(of_arrays):
    for ask in (of_arrays.recommendation, of_arrays.table):
        with pytest.raises(ComitiaError, match=r"unknown loss FLoss\(beta=1.0.*subset01"):
            ask(FLoss())


def test_numbers_of_numpy_and_single_names_are_as_good_as_pythons_and_lists(joint, of_arrays):
    numbers = {"folds": np.int64(2), "n_jobs": np.int32(1), "random_state": np.int64(0), "stratified": np.bool_(False)}
    names = {"ensembles": "ebr", "losses": np.array(["subset01", "f1"])}
    assert values(compare(joint.X, joint.Y, **FEW | numbers | names)) == values(of_arrays)


def test_without_a_random_state_another_seed_is_drawn_and_kept(joint):
    first, second = (compare(joint.X, joint.Y, **FEW | {"random_state": None}) for _ in range(2))
    assert values(first) != values(second)


def test_names_are_taken_as_they_are_printed(joint, of_arrays):
    printed = FEW | {"ensembles": ["EBR"], "losses": ["Subset 0/1 loss", "F1"]}
    again = compare(joint.X, joint.Y, **printed)
    assert values(again) == values(of_arrays)
    assert (
        again.recommendation("F1") == again.recommendation("f1") == again.recommendation("F1-measure", ensemble="EBR")
    )
    some = compare(joint.X, joint.Y, aggregations=["GMV", "PTC-mbr", "OOB choice"], **FEW)
    assert set(some.rows.aggregation) == {"gmv", "ptc-mbr", "oob"}


def test_aggregations_with_a_pool_or_a_reading_are_taken_as_they_are_printed(joint, joint_csv, tmp_path, monkeypatch):
    few = FEW | {"losses": ["f1"], "pools": ["median"]}
    pooled = compare(joint.X, joint.Y, aggregations=["ctp"], **few)
    assert [block.methods for block in pooled.blocks] == [("ctp · median",)]
    printed = compare(joint.X, joint.Y, aggregations=["CTP · median"], **few | {"pools": ["mean"]})
    assert printed.rows.to_dict() == pooled.rows.to_dict()
    named = ["GMV", "CTP · seen 0.3", "CTP · median"]
    both = compare(joint_csv, labels=LABELS, aggregations=named, **few | {"pools": ["mean"]})
    assert [title(name) for name in both.blocks[0].all_methods] == named
    monkeypatch.chdir(tmp_path)
    (advice,) = pooled.recommendations
    assert advice.choice == "EBR with CTP · median"
    for block in both.blocks:
        for name in block.all_methods:
            aggregation, pool = aggregation_and_pool(name)
            found = both.settings["ebr"].command(both.source, "f1", aggregation, pool, 0)
            assert command_line(*shlex.split(found)[1:], "--force").code == 0
            line = both.settings["ebr"].code("ebr", "f1", aggregation, pool, 0)
            fitted = eval(line, vars(comitia)).fit(joint.X, joint.Y)
            saved = comitia.load("model.skops")
            assert (saved.predict(joint.X) == fitted.predict(joint.X)).all()
            saved.set_params(aggregation=title(name), pool="mean")
            assert (saved.predict(joint.X) == fitted.predict(joint.X)).all()


def test_noise_is_called_noise():
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(150, 3)), (random.random((150, 3)) < 0.3).astype(int)
    results = compare(X, Y, **FEW | {"folds": 5, "losses": ["hamming", "f1", "macro-f1"]})
    assert [advice.learnt for advice in results.recommendations] == [False, False, False]
    assert all("learnt" in advice.plain for advice in results.recommendations)


def test_progress_is_told_to_who_asks(joint):
    seen = []
    compare(joint, **FEW | {"progress": seen.append})
    assert [(one.done, one.total) for one in seen] == [(0, 2), (1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("arguments", "changes", "message"),
    [
        ((np.zeros((4, 2)),), {}, "Y must have the labels"),
        ((np.zeros((4, 2)), np.full((4, 2), 3)), {}, "Y must hold 0 and 1 only; got 3"),
        ((np.zeros((4, 2)), np.zeros((5, 2))), {}, "X and Y must have as many rows; got 4 and 5"),
        ((np.zeros(4), np.zeros((4, 2))), {}, "X must have shape"),
        ((np.zeros((4, 2)), np.zeros((4, 2))), {"folds": 5}, "5 folds need as many instances; data has 4"),
        ((np.zeros((4, 2)), np.zeros((4, 2))), {"labels": ["a"]}, "labels must name the 2 columns of Y"),
        (("emotion",), {}, "unknown dataset 'emotion': did you mean 'emotions'"),
        (("emotions",), {"labels": ["a"]}, "labels must be left out for emotions"),
        (("emotions", np.zeros((4, 2))), {}, "Y must be left out where X names a dataset"),
        (("seven-segment",), {"ensembles": ["ec"]}, "unknown ensemble 'ec': did you mean 'ecc'"),
        (("seven-segment",), {"ensembles": [RandomForestClassifier()]}, "classifier. pairs; got Random"),
        (("seven-segment",), {"losses": ["f2"]}, "unknown loss 'f2'"),
        (("seven-segment",), {"ensembles": 3}, "ensembles must be a list; got 3"),
        (("seven-segment",), {"losses": None}, "losses must be a list; got None"),
        (("seven-segment",), {"aggregations": [1]}, r"aggregations must be a text or a list of texts; got \[1\]"),
        (("seven-segment",), {"pools": 3}, "pools must be a text or a list of texts; got 3"),
        (("seven-segment",), {"folds": 2.5}, "folds must be an integer, at least 2; got 2.5"),
        (("seven-segment",), {"repeats": None}, "repeats must be an integer, at least 1 .*; got None"),
        (("seven-segment",), {"repeats": 10**400}, "repeats must be an integer, at least 1 and .*; got 1000"),
        (("seven-segment",), {"members": 10**400}, "members must be an integer, at least 1 and .*; got 1000"),
        (("seven-segment",), {"stratified": "yes"}, "stratified must be true or false; got 'yes'"),
        (("seven-segment",), {"n_jobs": "all"}, "n_jobs must be a number of cores, .* got 'all'"),
        (("seven-segment",), {"columns": "title"}, "columns must be a mapping, such as .*; got 'title'"),
        ((np.zeros((4, 2)), np.zeros((4, 2))), {"labels": 2}, "labels must be a list; got 2"),
        ((np.full((9, 2), np.inf), np.eye(9, 2)), {}, "all 2 parts of the comparison failed"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused_with_what_was_expected(arguments, changes, message):
    with pytest.raises(comitia.ComitiaError, match=message):
        compare(*arguments, **FEW | changes)


def test_compare_is_the_function_and_importing_the_library_does_not_load_it():
    program = """
import sys, comitia
assert not {"comitia._compare", "comitia.report", "comitia.experiments"} & set(sys.modules)
import comitia._compare
assert callable(comitia.compare) and comitia.compare is comitia._compare.compare
assert comitia.Results.__name__ == "Results"
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_without_pandas_the_rest_works_and_a_comparison_says_what_it_needs():
    program = """
import sys
sys.modules["pandas"] = None
import comitia
assert comitia.ECCClassifier()
try:
    comitia.compare
except ImportError as error:
    print(error)
"""
    ended = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert ended.stdout == 'comitia.compare needs pandas: pip install "comitia[cli]"\n'


def test_measures_of_a_whole_fold_are_compared_and_recommended_with_what_they_need(joint):
    forest = RandomForestClassifier(5, random_state=0)
    results = compare(joint.X, joint.Y, **FEW | {"ensembles": ["emodt", ("forest", forest)], "losses": ["macro-f1"]})
    rows = results.to_frame()
    assert set(rows[rows.ensemble == "forest"].aggregation) == {"own"}
    assert {"gmv", "ctp", "oob"} <= set(rows[rows.ensemble == "emodt"].aggregation)
    advice = results.recommendation("macro-f1", ensemble="emodt")
    assert 'loss="macro-f1"' in advice.code
    assert "oob_score=True" in advice.code
    assert advice.measure.title == "Macro-F1"


def songs() -> pd.DataFrame:
    """A frame as somebody has it: a title, a price, an identifier, a category with gaps, and labels in one column."""
    loud = np.random.default_rng(0).integers(0, 2, 60)
    return pd.DataFrame(
        {
            "uuid": [f"{i:06x}" for i in range(60)],
            "title": [f"a song of {'thunder' if one else 'rain'} and {i} stars" for i, one in enumerate(loud)],
            "price": [f"$1,{i:03}.50" for i in range(60)],
            "genre": [("rock", "jazz", None)[i % 3] for i in range(60)],
            "tags": [["loud"] * one + ["jazz"] * (i % 3 == 1) for i, one in enumerate(loud)],
        }
    )


COLUMNS = {"text": ["title"], "numbers": "1,234.5"}


@pytest.mark.parametrize("form", ["pandas", "polars", "texts", "file"])
def test_labels_in_one_column_and_what_columns_are_is_said_of_files_and_frames(form, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame, how = songs(), FEW | {"losses": ["f1"], "aggregations": ["ctp"], "columns": COLUMNS}
    expected = compare(frame.drop(columns="tags"), frame["tags"], **how)
    X = pl.from_pandas(frame) if form == "polars" else frame
    separator = None
    if form in ("texts", "file"):
        X, separator = frame.assign(tags=frame["tags"].map("|".join)), "|"
    if form == "file":
        X.to_csv("songs.csv", index=False)
        X = "songs.csv"
    found = compare(X, labels_in="tags", separator=separator, **how)
    assert values(found) == values(expected)
    (advice,) = found.recommendations
    space = {"X": frame.drop(columns="tags"), "Y": frame["tags"]}
    exec(advice.python, space)
    assert space["classifier"]._encoder.kinds_["title"] == "text"
    assert ("--labels-in tags --separator '|' --text title" in advice.command) == (form == "file")


def test_a_word_of_ones_own_says_that_labels_hold_in_frames_too(joint, of_arrays):
    frame = pd.DataFrame(joint.X, columns=joint.feature_names).assign(
        **{name: np.where(joint.Y[:, k] == 1, "ja", "nein") for k, name in enumerate(joint.label_names)}
    )
    said = compare(frame, labels=list(joint.label_names), positive="ja", **FEW)
    assert values(said) == values(of_arrays)
    with pytest.raises(ComitiaError, match="Y must hold where a cell is 'oui'; got none"):
        compare(frame, labels=list(joint.label_names), positive="oui", **FEW)


def test_what_columns_are_taken_for_and_notes_on_labels_are_said_where_somebody_looks(capsys):
    frame = songs().assign(tags=[["loud"]] * 3 + [["jazz"]] * 57)
    how = FEW | {"losses": ["f1"], "aggregations": ["ctp"], "progress": True}
    compare(frame, labels_in="tags", columns=COLUMNS | {"ignore": ["price"]}, **how)
    said = capsys.readouterr().err
    assert "columns: categories 1: genre, 2 values; text 1: title," in said
    assert "left out 1: uuid, every row differs" in said
    assert "note: 1 label holds for fewer than 10 instances only: 'loud'." in said


def test_columns_of_arrays_have_no_names_to_say_anything_of(joint):
    with pytest.raises(ComitiaError, match="columns is for files and frames, whose columns have names; got ndarray"):
        compare(joint.X, joint.Y, columns={"categories": ["x0"]}, **FEW)


def test_classifiers_of_others_are_compared_on_frames_and_a_label_at_a_time():
    frame = songs().assign(when=pd.date_range("2020-01-01", periods=60), price=range(60))
    X, Y = frame.drop(columns="tags"), frame["tags"]
    others = [("forest", RandomForestClassifier(5)), ("one", LogisticRegression()), ("half", GaussianNB())]
    found = compare(X, Y, **FEW | {"ensembles": others, "losses": ["hamming"]})
    assert not found.failures
    new = X[:2].assign(genre=["polka", None], when=[pd.NaT, pd.Timestamp("2031-12-31")])
    for name, _ in others:
        exec(found.recommendation("hamming", ensemble=name).python, space := {"X": X, "Y": Y})
        assert space["classifier"].predict(new).shape == (2, 2)
