"""Frames, texts, missing numbers and names as people bring them to an ensemble; and the files of such models."""

from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow
import pytest
from scipy.sparse import csr_array
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

import comitia
from comitia import ENSEMBLES, ComitiaError
from comitia.columns._encoders import Categories, Medians, Words
from comitia.ensembles._features import as_texts

GENRES = ("rock", "jazz", None)


@cache
def songs(n: int = 90) -> pd.DataFrame:
    random = np.random.default_rng(0)
    loud = random.integers(0, 2, n)
    return pd.DataFrame(
        {
            "tempo": np.where(np.arange(n) % 7 == 0, np.nan, loud + random.normal(0, 0.2, n)),
            "genre": [GENRES[i % 3] for i in range(n)],
            "released": pd.date_range("2020-01-01", periods=n, freq="D"),
            "uuid": [f"{i:08x}-a" for i in range(n)],
            "title": [f"song about {'thunder' if one else 'rain'} number {i}" for i, one in enumerate(loud)],
        }
    )


@cache
def labels(n: int = 90) -> np.ndarray:
    X = songs(n)
    return np.column_stack([X["title"].str.contains("thunder"), X["genre"] == "jazz"]).astype(int)


NEW = pd.DataFrame(
    {
        "tempo": [None, 3.0],
        "genre": ["polka", None],
        "released": ["2031-02-03", None],
        "uuid": ["", "b"],
        "title": ["thunder and polka", None],
    }
)


@pytest.mark.parametrize("kind", [kind for kind in ENSEMBLES if kind != "committee"])
@pytest.mark.parametrize("make", [lambda frame: frame, pl.from_pandas], ids=["pandas", "polars"])
def test_a_frame_of_everything_is_fitted_saved_opened_and_predicts_unseen_values(kind, make, tmp_path):
    ensemble = ENSEMBLES[kind](n_estimators=3, random_state=0).fit(make(songs()), labels())
    assert ensemble._encoder.kinds_ == {
        "tempo": "number", "genre": "category", "released": "date", "uuid": "left out", "title": "left out",
    }  # fmt: skip
    assert (ensemble.predict(make(songs()))[:, 1] == labels()[:, 1]).mean() > 0.9
    comitia.save(ensemble, tmp_path / "model.skops")
    opened = comitia.load(tmp_path / "model.skops")
    np.testing.assert_array_equal(opened.predict_proba(make(NEW)), ensemble.predict_proba(make(NEW)))
    assert opened.predict(NEW).shape == (2, 2)


@pytest.mark.parametrize(
    "make",
    [
        lambda: comitia.EBRClassifier(n_estimators=2, random_state=0, verbose=1),
        lambda: comitia.MultilabelBaggingClassifier(GaussianNB(), 2, random_state=0),
        lambda: comitia.MultilabelVotingClassifier([("a", comitia.EMODTClassifier(2))]),
        lambda: comitia.CommitteeClassifier([("a", comitia.EMODTClassifier(9))], random_state=0),
    ],
    ids=["ebr", "bagging", "voting", "committee"],
)
def test_an_ensemble_says_what_columns_were_taken_for(make, capsys):
    ensemble = make().fit(songs(), labels())
    assert ensemble.columns_ == (
        "numbers 1; categories 1: genre, 2 values; dates 1; left out 2: uuid, every row differs; title, text"
    )
    assert (f"columns: {ensemble.columns_}" in capsys.readouterr().out) == bool(getattr(ensemble, "verbose", 0))
    with pytest.raises(AttributeError, match="not fitted on a frame"):
        make().fit(songs()[["tempo"]].fillna(0.0).to_numpy(), labels()).columns_  # noqa: B018


@pytest.mark.parametrize("verbose", [0, 1])
def test_an_ensemble_that_is_to_talk_says_which_labels_can_hardly_be_learnt(verbose, capsys):
    y = pd.DataFrame(labels()).set_axis([f"tag {k}" for k in range(labels().shape[1])], axis=1)
    y["none"], y["rare"] = 0, np.arange(len(y)) < 3
    comitia.EMODTClassifier(n_estimators=2, random_state=0, verbose=verbose).fit(songs(), y)
    said = capsys.readouterr().out
    assert ("1 label never holds: 'none'." in said) == bool(verbose)
    assert ("1 label holds for fewer than 10 instances only: 'rare'." in said) == bool(verbose)


def test_an_error_about_a_column_of_a_frame_says_where_its_options_go():
    X = songs().assign(tempo=["unknown"] + [str(i) for i in range(len(songs()) - 1)])
    with pytest.raises(ComitiaError, match=r"missing_values=\['unknown'\] .* Such parameters stand in X\.attrs"):
        comitia.EBRClassifier(n_estimators=1).fit(X, labels())
    X.attrs["columns"] = {"missing_values": ["unknown"]}
    assert comitia.EBRClassifier(n_estimators=1).fit(X, labels())._encoder.kinds_["tempo"] == "number"


@pytest.mark.parametrize("kind", [kind for kind in ENSEMBLES if kind != "committee"])
def test_text_columns_that_a_frame_names_are_words_of_the_model(kind, tmp_path):
    X = songs().copy()
    X.attrs["columns"] = {"text": ["title"], "ignore": ["released"]}
    ensemble = ENSEMBLES[kind](n_estimators=3, random_state=0).fit(X, labels())
    assert ensemble._encoder.kinds_["title"] == "text"
    assert (ensemble.predict(X) == labels()).mean() > 0.9
    comitia.save(ensemble, tmp_path / "model.skops")
    opened = comitia.load(tmp_path / "model.skops")
    np.testing.assert_array_equal(opened.predict_proba(NEW), ensemble.predict_proba(NEW))


def test_frames_whose_columns_have_numbers_for_names_are_taken_too(tmp_path):
    X = pd.DataFrame(np.arange(60.0).reshape(20, 3))
    ensemble = comitia.EBRClassifier(n_estimators=2, random_state=0).fit(X, np.arange(40).reshape(20, 2) % 2)
    assert len(ensemble.predict(X)) == 20
    comitia.save(ensemble, tmp_path / "model.skops")


@pytest.mark.parametrize("make", [comitia.EBRClassifier, comitia.ECCClassifier])
def test_missing_numbers_are_imputed_with_a_column_that_says_where(make, tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 2))
    gone = random.random(200) < 0.5
    Y = np.column_stack([gone, X[:, 1] > 0]).astype(int)
    X[gone, 0] = np.nan
    ensemble = make(n_estimators=3, random_state=0).fit(X, Y)
    assert (ensemble.predict(X) == Y).mean() > 0.95, "where a number is missing tells the first label"
    comitia.save(ensemble, tmp_path / "model.skops")
    np.testing.assert_array_equal(comitia.load(tmp_path / "model.skops").predict(X), ensemble.predict(X))
    unseen = np.array([[np.nan, np.nan]])
    assert ensemble.predict(unseen).shape == (1, 2)
    kept = make(HistGradientBoostingClassifier(max_iter=2), n_estimators=1, random_state=0).fit(X, Y)
    assert kept._encoder is None


@pytest.mark.parametrize("make", [comitia.EBRClassifier, comitia.ECCClassifier, comitia.MultilabelBaggingClassifier])
@pytest.mark.parametrize("chain", ["predict", "joint"])
def test_pipelines_for_texts_work_inside(make, chain, tmp_path):
    if chain == "joint" and make is not comitia.ECCClassifier:
        pytest.skip("only chains have a chain method")
    texts, Y = songs()["title"].tolist(), labels()
    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression(C=100))
    more = {"chain_method": chain} if make is comitia.ECCClassifier else {}
    ensemble = make(pipeline, n_estimators=2, random_state=0, **more).fit(texts, Y)
    assert (ensemble.predict(texts)[:, 0] == Y[:, 0]).all()
    assert ensemble.predict(["nothing of this was there"]).shape == (1, 2)
    trusted = ["sklearn", "numpy", "scipy"]
    comitia.save(ensemble, tmp_path / "model.skops", trusted=trusted)
    opened = comitia.load(tmp_path / "model.skops", trusted=trusted)
    np.testing.assert_array_equal(opened.predict(texts), ensemble.predict(texts))


def test_chains_over_texts_need_a_pipeline():
    with pytest.raises(ComitiaError, match="must be a Pipeline whose first steps turn texts into numbers"):
        comitia.ECCClassifier(GaussianNB(), 2, random_state=0).fit(["a b", "c d"] * 9, [[1, 0], [0, 1]] * 9)


@pytest.mark.parametrize(
    ("no", "yes"), [("No", "Yes"), ("n", "y"), ("false", "true"), ("", "x"), (None, "X"), (0, 1), (False, True)]
)
def test_columns_of_words_are_labels_also_beside_numbers(no, yes):
    X, Y = np.arange(40.0)[:, None], np.column_stack([np.arange(40) >= 20, np.arange(40) % 2])
    said = pd.DataFrame({"late": [yes if one else no for one in Y[:, 0]], "odd": Y[:, 1]})
    forest = comitia.EMODTClassifier(5, random_state=0).fit(X, said)
    assert forest.label_names_.tolist() == ["late", "odd"]
    assert np.array_equal(forest.predict(X), comitia.EMODTClassifier(5, random_state=0).fit(X, Y).predict(X))


def test_other_words_are_refused_by_their_place():
    with pytest.raises(ComitiaError, match=r"0 and 1, or words for no and yes; got 'ja' in row 0, column 1"):
        comitia.EMODTClassifier(3).fit([[0.0], [1.0]], pd.DataFrame({"a": ["yes", "no"], "b": ["ja", "nein"]}))


def test_texts_alone_are_refused_with_the_way_to_use_them():
    with pytest.raises(ComitiaError, match=r"got texts, as 'a song'. In a frame, comitia.columns.TableEncoder\(text="):
        comitia.EBRClassifier(n_estimators=2).fit(["a song", "another"], [[1], [0]])


def test_lists_of_names_are_labels():
    X, Y = np.array(songs()[["tempo"]]), labels()
    names = [[name for name, one in zip(("storm", "jazz"), row, strict=True) if one] for row in Y]
    fit = comitia.EMODTClassifier(n_estimators=3, random_state=0).fit
    named = fit(X, names)
    assert named.label_names_.tolist() == ["jazz", "storm"]
    np.testing.assert_array_equal(named.observed_.table.shape[1], 2)
    again = comitia.EMODTClassifier(n_estimators=3, random_state=0).fit(X, Y[:, ::-1])
    np.testing.assert_array_equal(named.predict(X), again.predict(X))
    assert named.score(X, names) == again.score(X, Y[:, ::-1])
    assert named.score(X, [set(row) for row in names]) == named.score(X, pd.Series(names))
    of_arrow = pd.Series(names, dtype=pd.ArrowDtype(pyarrow.list_(pyarrow.string())))
    for column in (pd.Series(names), pl.Series(names), of_arrow, pl.Series([row or None for row in names])):
        one = comitia.EMODTClassifier(n_estimators=3, random_state=0).fit(X, column)
        assert one.label_names_.tolist() == ["jazz", "storm"]
        assert one.score(X, column) == named.score(X, names)
    with pytest.raises(ComitiaError, match="row 1 of y must hold labels out of"):
        named.score(X[:1], [["polka"]])


@pytest.mark.parametrize("learner", [LogisticRegression(), GaussianNB(), make_pipeline(LogisticRegression())])
def test_learners_of_one_label_are_wrapped_a_label_at_a_time(learner, tmp_path):
    X, Y = np.random.default_rng(0).normal(size=(60, 3)), np.zeros((60, 3), int)
    Y[:, 0], Y[:, 1] = X[:, 0] > 0, X[:, 1] > 0
    bagging = comitia.MultilabelBaggingClassifier(learner, 3, random_state=0).fit(X, Y)
    voting = comitia.MultilabelVotingClassifier([("one", learner)]).fit(X, Y)
    for ensemble in (bagging, voting):
        assert (ensemble.predict(X) == Y).mean() > 0.9
        comitia.save(ensemble, tmp_path / "model.skops", trusted=["sklearn", "numpy"])
        opened = comitia.load(tmp_path / "model.skops", trusted=["sklearn", "numpy"])
        np.testing.assert_array_equal(opened.predict_proba(X), ensemble.predict_proba(X))


@pytest.mark.parametrize("learner", [LogisticRegression(), GaussianNB(), HistGradientBoostingClassifier(max_iter=2)])
@pytest.mark.parametrize(
    "make",
    [
        lambda learner: comitia.MultilabelBaggingClassifier(learner, 3, random_state=0),
        lambda learner: comitia.MultilabelVotingClassifier([("a", learner), ("b", comitia.EMODTClassifier(3))]),
    ],
    ids=["bagging", "voting"],
)
def test_bagging_and_voting_make_numbers_of_frames_for_learners_that_take_nothing_else(make, learner, tmp_path):
    ensemble = make(learner).fit(songs(), labels())
    trusted = ["sklearn", "numpy", "_loss"]  # as the losses of boosting call their package before scikit-learn 1.7
    comitia.save(ensemble, tmp_path / "model.skops", trusted=trusted)
    opened = comitia.load(tmp_path / "model.skops", trusted=trusted)
    np.testing.assert_array_equal(opened.predict_proba(NEW), ensemble.predict_proba(NEW))
    assert opened.predict(NEW).shape == (2, 2)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Categories("hashed", ("a",), ()),
        lambda: Categories("ordinal", ["a"], ()),
        lambda: Categories("ordinal", ("a", "a"), ()),
        lambda: Categories("ordinal", ("a", 3), ()),
        lambda: Categories("ordinal", (), ()),
        lambda: Categories("ordinal", ("a",), ("b",)),
        lambda: Categories("ordinal", ("a", "(rare)"), ["b"]),
        lambda: Words("a a", np.ones(2)),
        lambda: Words("a b", np.ones(3)),
        lambda: Words("a b", np.array([1.0, np.nan])),
        lambda: Words(["a"], np.ones(1)),
        lambda: Medians(np.array([np.nan]), np.array([0])),
        lambda: Medians(np.zeros(2), np.array([2])),
        lambda: Medians(np.zeros(2), np.array([-1])),
        lambda: Medians(np.zeros(2), np.array([0.5])),
    ],
)
def test_what_was_never_learnt_is_refused(make):
    with pytest.raises((ComitiaError, AttributeError)):
        make()


@pytest.mark.parametrize(
    "damage",
    [
        lambda encoder: encoder.kinds_.update(genre="magic"),
        lambda encoder: encoder.kinds_.pop("genre"),
        lambda encoder: encoder.encoders_.clear(),
        lambda encoder: encoder.date_spans_.update(released=[2, 1]),
        lambda encoder: encoder.date_parts_.update(released=["century"]),
        lambda encoder: setattr(encoder, "imputer_", 3),
        lambda encoder: setattr(encoder, "encoding", "hashed"),
        lambda encoder: setattr(encoder, "sparse_output_", None),
    ],
)
def test_an_encoder_that_does_not_fit_together_is_refused(damage, tmp_path):
    ensemble = comitia.EBRClassifier(n_estimators=1, random_state=0).fit(songs(), labels())
    damage(ensemble._encoder)
    with pytest.raises(comitia.ModelFileError):
        comitia.save(ensemble, tmp_path / "model.skops")


def test_texts_are_a_list_of_them_and_nothing_else():
    assert as_texts(["a", "b c"]).tolist() == ["a", "b c"]
    assert as_texts(np.array(["a", "b"], object)).tolist() == ["a", "b"]
    for other in ([], [["a"], ["b"]], ["a", 1.0, None], np.array(["a", 2], object), np.arange(3.0), csr_array((2, 2))):
        assert as_texts(other) is None
    assert as_texts(np.array([], object)) is None
    assert as_texts(pd.DataFrame({"a": ["b"]})) is None


def test_numbers_of_a_frame_may_come_as_an_array_of_any_kind_and_texts_forget_its_columns():
    X, Y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(80).reshape(40, 2) // 3 % 2
    named = pd.DataFrame(X).add_prefix("x")
    ensemble = comitia.EBRClassifier(n_estimators=2, random_state=0).fit(named, Y)
    expected = ensemble.predict_proba(named)
    for form in (X, csr_array(X)):
        np.testing.assert_array_equal(ensemble.predict_proba(form), expected)
    ensemble.set_params(estimator=make_pipeline(TfidfVectorizer(), LogisticRegression()))
    ensemble.fit(songs()["title"].tolist(), labels())
    assert not hasattr(ensemble, "feature_names_in_")
    assert not hasattr(ensemble, "n_features_in_")
    assert ensemble._encoder is None


def test_missing_numbers_of_a_sparse_matrix_are_for_trees_alone():
    X, Y = np.eye(12)[:, :4], np.arange(24).reshape(12, 2) % 2
    X[0, 0] = np.nan
    assert comitia.EMODTClassifier(2, random_state=0).fit(csr_array(X), Y).predict(csr_array(X)).shape == (12, 2)
    for make in (comitia.EBRClassifier, comitia.ECCClassifier):
        with pytest.raises(ValueError, match="NaN"):
            make(n_estimators=2).fit(csr_array(X), Y)
        assert make(n_estimators=2, random_state=0).fit(X, Y).predict(X).shape == (12, 2)


@pytest.mark.parametrize(
    "use",
    [
        lambda X, Y: comitia.EMODTClassifier(2).fit(X, Y.collect()),
        lambda X, Y: comitia.EBRClassifier(n_estimators=2).fit(X.collect(), Y),
        lambda X, Y: comitia.EMODTClassifier(2).fit(X.collect(), Y.collect()).predict(X),
        lambda X, Y: comitia.MultilabelBaggingClassifier(GaussianNB()).fit(X, Y.collect()),
        lambda X, Y: comitia.MultilabelVotingClassifier([("a", GaussianNB())]).fit(X, Y.collect()),
        lambda X, Y: comitia.CommitteeClassifier([("a", GaussianNB())]).fit(X, Y.collect()),
        lambda X, Y: comitia.compare(X, Y.collect(), folds=2),
        lambda X, Y: comitia.compare(X, labels=["a"], folds=2),
        lambda X, Y: comitia.columns.TableEncoder().fit(X),
    ],
)
def test_a_frame_that_does_not_have_its_data_yet_is_refused_with_what_gets_them(use):
    X, Y = pl.LazyFrame({"a": range(9), "b": range(9)}), pl.LazyFrame({"u": [0, 1, 1] * 3})
    with pytest.raises(ComitiaError, match=r"in memory; got a LazyFrame: \.collect\(\) gives"):
        use(X, Y)
