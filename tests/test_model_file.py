"""Model files: what is saved can be loaded, and what is hostile or damaged ends in one sentence."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import comitia
from comitia import ENSEMBLES, ComitiaError, ModelFileError, load, save
from comitia.aggregation import CombineThenPredict
from comitia.datasets import Dataset
from comitia.model_file import Model
from comitia.model_file._archive import inspect
from comitia.model_file._model import known_types
from comitia.relevance import TrimmedMean

# A committee has ensembles in the place of a number of members.
OF_MEMBERS = [kind for kind in ENSEMBLES if kind != "committee"]


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "model.skops"


def fitted(kind, data, **parameters):
    return ENSEMBLES[kind](n_estimators=12, random_state=0, **parameters).fit(data.X, data.Y)


@pytest.mark.parametrize("kind", OF_MEMBERS)
@pytest.mark.parametrize("oob", [False, True])
@pytest.mark.filterwarnings("ignore:.*out-of-bag")
def test_what_is_loaded_predicts_what_was_saved(kind, oob, joint, path):
    ensemble = fitted(kind, joint, oob_score=oob, loss=comitia.FLoss(beta=2))
    ensemble.set_params(pool=TrimmedMean(0.1))
    save(ensemble, path)
    opened = load(path)
    assert (opened.predict(joint.X) == ensemble.predict(joint.X)).all()
    assert (opened.predict_proba(joint.X) == ensemble.predict_proba(joint.X)).all()
    opened.set_params(loss="subset01", aggregation=CombineThenPredict())
    save(opened, path)
    assert (load(path).predict(joint.X) == opened.predict(joint.X)).all()


def test_frames_and_binary_targets_keep_their_names(joint, path):
    X = pd.DataFrame(joint.X, columns=list("abcd")).assign(e=["u", "v"] * 75)
    ensemble = ENSEMBLES["emodt"](n_estimators=2, random_state=0).fit(X, np.array(["no", "yes"])[joint.Y[:, 0]])
    save(ensemble, path)
    assert (load(path).predict(X) == ensemble.predict(X)).all()
    opened = Model.open(path)
    assert (opened.features, opened.labels, opened.nominal) == (tuple("abcde"), ("y0",), ("e",))


@pytest.mark.parametrize(
    "make",
    [
        lambda: comitia.MultilabelBaggingClassifier(KNeighborsClassifier(), 2, random_state=0),
        lambda: comitia.MultilabelVotingClassifier([("tree", DecisionTreeClassifier(max_depth=2))]),
        lambda: comitia.EBRClassifier(LogisticRegression(solver="liblinear"), 2, random_state=0),
        lambda: comitia.ECCClassifier(DecisionTreeClassifier(max_depth=2), 2, random_state=0),
    ],
)
def test_members_of_other_packages_are_saved_and_opened_only_by_who_trusts_them(make, joint, path):
    ensemble = make().fit(joint.X, joint.Y)
    with pytest.raises(ModelFileError, match="could not be opened again: it holds sklearn") as refused:
        save(ensemble, path)
    assert "save and load take that if trusted=['" in str(refused.value)
    assert "date" not in str(refused.value)
    assert not path.exists()
    save(ensemble, path, trusted=["sklearn", "numpy"])
    with pytest.raises(ModelFileError, match=r"cannot be opened as a model: it holds sklearn.*trusted="):
        load(path)
    assert (load(path, trusted=["sklearn", "numpy"]).predict(joint.X) == ensemble.predict(joint.X)).all()


def test_every_known_type_is_builtin_or_numpys_or_ours():
    packages = {name.partition(".")[0] for names in known_types().values() for name in names}
    assert packages == {"builtins", "numpy", "comitia"}


def test_an_ensemble_that_is_not_fitted_is_not_saved(path):
    with pytest.raises(ComitiaError, match="must be a fitted ensemble"):
        save(comitia.EBRClassifier(), path)
    assert not path.exists()


def test_what_cannot_be_opened_again_leaves_the_earlier_file(joint, path):
    path.write_text("before")
    ensemble = fitted("ebr", joint).set_params(loss=lambda y, h: (y != h).mean(axis=1))
    with pytest.raises(ModelFileError):
        save(ensemble, path)
    assert path.read_text() == "before"
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def rewritten(path, change=None, stored=zipfile.ZIP_STORED, again=()):
    """Write the members of a model file anew, with another schema."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    if change:
        members = change(members)
    with zipfile.ZipFile(path, "w", stored) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        for name in again:
            archive.writestr(name, members[name])


def schema(change):
    def changed(members):
        tree = json.loads(members["schema.json"])
        change(tree)
        return {**members, "schema.json": json.dumps(tree).encode()}

    return changed


def of(tree, *names):
    """The node of an attribute of the ensemble."""
    node = tree["content"]["ensemble"]
    for name in names:
        node = node["content"]["content"][name]
    return node


def header(shape):
    def changed(members):
        name = max((name for name in members if name.endswith(".npy")), key=lambda name: len(members[name]))
        buffer = io.BytesIO()
        np.lib.format.write_array_header_1_0(buffer, {"descr": "<f8", "fortran_order": False, "shape": shape})
        return {**members, name: buffer.getvalue() + members[name][128:]}

    return changed


@pytest.mark.parametrize(
    ("damage", "answer"),
    [
        (lambda p: p.write_bytes(b""), "BadZipFile"),
        (lambda p: p.write_bytes(b"not a zip file"), "BadZipFile"),
        (lambda p: p.write_bytes(p.read_bytes()[:-100]), "BadZipFile"),
        (lambda p: rewritten(p, stored=zipfile.ZIP_DEFLATED), "compressed or encrypted members"),
        (lambda p: rewritten(p, again=["schema.json"]), "two members of one name"),
        (lambda p: rewritten(p, lambda m: {"a": b""}), "it holds no schema.json"),
        (lambda p: rewritten(p, lambda m: {**m, "schema.json": b"{" * 10**5}), "JSONDecodeError|RecursionError"),
        (lambda p: rewritten(p, lambda m: {**m, "schema.json": b"[" * 10**5 + b"]" * 10**5}), "RecursionError|nested"),
        (lambda p: rewritten(p, lambda m: {**m, "schema.json": b"[1, 2]"}), "AttributeError|TypeError"),
        (lambda p: rewritten(p, header((2**40,))), "its header says float64 of shape"),
        (lambda p: rewritten(p, header((-1,))), "its header says float64 of shape"),
        (lambda p: rewritten(p, schema(lambda t: of(t)["content"].update(__id__=of(t)["__id__"]))), "have one number"),
        (lambda p: rewritten(p, schema(lambda t: of(t).update(__loader__="FunctionNode"))), r"EBRClassifier \(Funct"),
        (lambda p: rewritten(p, schema(lambda t: of(t, "members_").update(__module__="os"))), r"os\.LogisticCrew"),
        (lambda p: rewritten(p, schema(lambda t: of(t, "members_").update(__class__="TreeCrew"))), "other attributes"),
        (lambda p: rewritten(p, schema(lambda t: of(t, "members_").update(__class__=7))), "has no type"),
        (lambda p: rewritten(p, schema(lambda t: t["content"]["format"].update(content="1"))), "it has format 1, and"),
        (lambda p: rewritten(p, schema(lambda t: t["content"]["comitia"].update(content="1"))), "which version"),
        (lambda p: rewritten(p, schema(lambda t: t["content"].pop("labels"))), "lacks labels|."),
        (lambda p: p.write_bytes(skops.io.dumps([1, 2])), "it holds something else"),
        (lambda p: p.write_bytes(skops.io.dumps({"format": 2, "comitia": ""})), "it lacks ensemble, features, labels"),
    ],
)
def test_a_file_that_is_no_model_ends_in_one_sentence(damage, answer, joint, path):
    save(fitted("ebr", joint), path)
    damage(path)
    with pytest.raises(ModelFileError, match=rf"model\.skops cannot be opened as a model: [^\n]*({answer})"):
        load(path)


def test_attributes_that_are_no_fields_are_refused(joint, path):
    save(fitted("emodt", joint), path)

    def smuggle(tree):
        crew = of(tree, "members_")["content"]
        crew["content"]["_beliefs"] = crew["content"]["table"]
        crew["key_types"]["content"].append(crew["key_types"]["content"][0])

    rewritten(path, schema(smuggle))
    with pytest.raises(ModelFileError, match="a TreeCrew of it has other attributes"):
        load(path)


@pytest.mark.parametrize("kind", OF_MEMBERS)
def test_memory_is_known_before_it_is_taken(kind, joint, path):
    save(fitted(kind, joint), path)
    with path.open("rb") as file:
        needed = inspect(file).n_bytes
    assert path.stat().st_size < needed < 2**24
    load(path, max_bytes=needed)
    with pytest.raises(ModelFileError, match="bytes of memory, more than max_bytes="):
        load(path, max_bytes=needed - 1)


@pytest.fixture
def committee(joint, path) -> Path:
    members = [("trees", ENSEMBLES["emodt"](8)), ("lines", ENSEMBLES["ebr"](n_estimators=8))]
    save(ENSEMBLES["committee"](members, random_state=0).fit(joint.X, joint.Y), path)
    return path


@pytest.mark.filterwarnings("ignore:.*out-of-bag")
@pytest.mark.parametrize("name", ["weights_", "joint_weights_"])
@pytest.mark.parametrize(
    ("weight", "answer"),
    [('"ctp-joint"', "numbers of zero or more"), ("-1.0", "of zero"), ("7.0", "sum to one over 2")],
)
def test_a_committee_with_odd_weights_is_refused(name, weight, answer, committee):
    load(committee)
    rewritten(committee, schema(lambda tree: of(tree, name)["content"]["trees"].update(content=weight)))
    with pytest.raises(ModelFileError, match=f"{name} must .*{answer}"):
        load(committee)


@pytest.mark.filterwarnings("ignore:.*out-of-bag")
def test_a_model_is_opened_before_its_file_takes_its_name(committee):
    before, ensemble = committee.read_bytes(), load(committee)
    ensemble.weights_ = dict.fromkeys(ensemble.weights_, 7.0)
    with pytest.raises(ModelFileError, match=r"is not saved to .* could not be opened again: .*sum to one"):
        save(ensemble, committee)
    assert committee.read_bytes() == before


@pytest.mark.filterwarnings("ignore:.*out-of-bag")
def test_a_committee_of_something_else_is_refused(committee):
    def replace(tree):
        pair = of(tree, "members")["content"][0]["content"]
        pair[1] = {**of(tree, "weights_")["content"]["trees"], "__id__": 1}

    rewritten(committee, schema(replace))
    with pytest.raises(ModelFileError, match="cannot be opened as a model"):
        load(committee)


@pytest.mark.filterwarnings("ignore:.*out-of-bag")
def test_a_committee_whose_members_have_odd_encoders_is_refused(joint, path):
    X = pd.DataFrame(joint.X, columns=list("abcd")).assign(e=["u", "v"] * 75)
    members = [("trees", ENSEMBLES["emodt"](8)), ("lines", ENSEMBLES["ebr"](n_estimators=8))]
    save(ENSEMBLES["committee"](members, random_state=0).fit(X, joint.Y), path)
    load(path)

    def replace(tree):
        crew = of(tree, "members_")["content"]["content"]["ensembles"]["content"]
        encoders = crew[0]["content"]["content"]["_encoder"]["content"]["content"]["encoders_"]["content"]
        encoders["e"] = {**of(tree, "loss"), "__id__": 1}

    rewritten(path, schema(replace))
    with pytest.raises(ModelFileError, match="cannot be opened as a model"):
        load(path)


@pytest.mark.filterwarnings("ignore:.*out-of-bag")
def test_a_committee_that_learnt_from_a_frame_is_given_frames(joint, path):
    X = pd.DataFrame(joint.X, columns=list("abcd")).assign(e=["u", "v"] * 75)
    members = [("trees", ENSEMBLES["emodt"](8)), ("lines", ENSEMBLES["ebr"](n_estimators=8))]
    save(ENSEMBLES["committee"](members, random_state=0).fit(X, joint.Y), path)
    model = Model.open(path)
    assert (model.nominal, model.needed) == (("e",), tuple("abcde"))
    new = Dataset(X[::-1], joint.Y, tuple("abcde"), joint.label_names, "new")
    given = model.inputs(new)
    assert given.equals(X[::-1])
    assert model.ensemble.predict(given).shape == joint.Y.shape


@pytest.mark.filterwarnings("ignore:.*out-of-bag")
@pytest.mark.parametrize("attribute", ["members_", "n_features_in_"])
def test_a_committee_whose_members_are_odd_is_refused(attribute, committee):
    def replace(tree):
        crew = of(tree, "members_")["content"]["content"]["ensembles"]["content"]
        crew[1]["content"]["content"][attribute] = {**of(tree, "loss"), "__id__": 1}

    rewritten(committee, schema(replace))
    with pytest.raises(ModelFileError, match="members and a number of features must be known"):
        load(committee)


@pytest.mark.filterwarnings("ignore:.*out-of-bag")
@pytest.mark.parametrize(
    ("attribute", "content", "answer"),
    [("n_features_in_", "-1", "must know the features of the committee"), ("_encoder", "1", "has no attribute")],
)
def test_a_committee_whose_members_cannot_be_asked_is_refused_when_opened(attribute, content, answer, committee):
    load(committee)

    def replace(tree):
        crew = of(tree, "members_")["content"]["content"]["ensembles"]["content"]
        crew[1]["content"]["content"][attribute] = {**of(tree, "loss"), "content": content, "__id__": 1}

    rewritten(committee, schema(replace))
    with pytest.raises(ModelFileError, match=answer):
        load(committee)


def test_an_estimator_that_is_none_is_refused_when_a_model_is_opened(joint, path):
    save(fitted("ebr", joint), path)

    def replace(tree):
        tree["content"]["ensemble"]["content"]["content"]["estimator"] = {**of(tree, "loss"), "__id__": 1}

    rewritten(path, schema(replace))
    with pytest.raises(ModelFileError, match=r"estimator must be a classifier .* got 'hamming'"):
        load(path)


BOTH = [("trees", ENSEMBLES["emodt"](2)), ("lines", ENSEMBLES["ebr"](n_estimators=2))]
OF_ENSEMBLES = {
    "bagging": lambda: comitia.MultilabelBaggingClassifier(ENSEMBLES["emodt"](2), 2, random_state=0),
    "voting": lambda: comitia.MultilabelVotingClassifier(BOTH),
}


@pytest.mark.parametrize("kind", OF_ENSEMBLES)
@pytest.mark.parametrize("changed", ["n_features_in_", "pool", "members_", "the member itself"])
def test_members_that_are_odd_ensembles_are_refused_when_opened(kind, changed, joint, path):
    save(OF_ENSEMBLES[kind]().fit(joint.X, joint.Y), path)
    assert load(path).predict(joint.X).shape == joint.Y.shape

    def change(tree):
        member = of(tree, "members_", "members")["content"][1]["content"]["content"]
        attributes = member["estimator"]["content"]
        if changed == "the member itself":
            member["estimator"] = {**of(tree, "loss"), "__id__": 1}
        elif changed == "n_features_in_":
            attributes["content"][changed]["content"] = "3"
        else:
            del attributes["content"][changed]

    rewritten(path, schema(change))
    with pytest.raises(ModelFileError, match="cannot be opened as a model"):
        load(path)


def test_voters_whose_names_are_none_are_refused_when_opened(joint, path):
    save(OF_ENSEMBLES["voting"]().fit(joint.X, joint.Y), path)

    def change(tree):
        of(tree, "estimators")["content"][0]["content"][0].update(content="7", __id__=1)

    rewritten(path, schema(change))
    with pytest.raises(ModelFileError, match="estimators must have names"):
        load(path)


@pytest.mark.parametrize("kind", OF_ENSEMBLES)
def test_ensembles_of_ensembles_keep_the_names_of_a_frame(kind, joint, path):
    X = pd.DataFrame(joint.X, columns=list("abcd")).assign(e=["u", "v"] * 75)
    for frame in (X, X.drop(columns="e")):
        ensemble = OF_ENSEMBLES[kind]().fit(frame, joint.Y)
        save(ensemble, path)
        assert (load(path).predict(frame) == ensemble.predict(frame)).all()
    change = schema(lambda tree: tree["content"]["features"]["content"][0].update(content='"other"', __id__=1))
    rewritten(path, change)
    with pytest.raises(
        ModelFileError, match=r"its (features have other names in|columns are not those of) the ensemble"
    ):
        load(path)


def test_one_array_read_many_times_counts_as_often(joint, path):
    save(fitted("ebr", joint), path)
    with path.open("rb") as file:
        needed = inspect(file).n_bytes

    def repeat(tree):
        node = of(tree, "members_", "coef")
        for k in range(1000):
            tree["content"][f"copy{k}"] = {**node, "__id__": k + 1}

    rewritten(path, schema(repeat))
    with path.open("rb") as file:
        assert inspect(file).n_bytes > needed + 1000 * 2 * 12 * 3 * 4 * 8


def test_without_skops_the_way_to_get_it_is_told(joint, path, monkeypatch):
    import sys

    ensemble = fitted("ebr", joint)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(ImportError, match="model files need skops: pip install"):
        save(ensemble, path)
