"""Plans that name more than what comes with the library: parameters, other people's classes, losses of one's own."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from comitia import ComitiaError, FLoss, MultilabelBaggingClassifier, MultilabelVotingClassifier, compare
from comitia._compare import read_run
from comitia.experiments import (
    LossSetting,
    PlanError,
    Store,
    _imports,
    _settings,
    parse_plan,
    read_plan,
    run_plan,
    write_plan,
)
from comitia.experiments._agreement import Agreement, about
from comitia.losses import CustomLoss, Hamming
from tests.conftest import LABELS
from tests.experiments import own_code

HEAD = """
name = "open"
folds = 2
losses = LOSSES
aggregations = ["gmv", "ctp"]
[[datasets]]
name = "joint"
path = "joint.csv"
labels = ["y*"]
"""
OWN = "tests.experiments.own_code"
BAGGING = '[[ensembles]]\nkind = "bagging"\nn_estimators = 3\nestimator = {class = "OWN.Stump", depth = 2}\n'
VOTING = """[[ensembles]]
kind = "voting"
weights = [2, 1]
estimators = [
  {name = "trees", kind = "emodt", n_estimators = 2},
  {name = "stump", class = "OWN.Stump"},
]
"""
OWN_CLASS = '[[ensembles]]\nclass = "OWN.Stump"\nname = "stump"\ndepth = 2\n'
F2, URGENT = '{kind = "f1", name = "f2", beta = 2.0}', '{function = "OWN.urgent"}'
ALL_LOSSES = (
    "hamming",
    F2,
    '{kind = "hamming", false_negative = [3, 1, 1]}',
    URGENT,
    '{class = "OWN.Twice", times = 3.0}',
)


def text_of(*ensembles, losses=("f1",)):
    listed = ", ".join(loss if loss.startswith("{") else f'"{loss}"' for loss in losses)
    return (HEAD.replace("LOSSES", f"[{listed}]") + "".join(ensembles)).replace("OWN", OWN)


@pytest.fixture
def file(joint_csv, tmp_path):
    """A plan beside its data."""
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "joint.csv").write_bytes(joint_csv.read_bytes())
    found = tmp_path / "plans" / "plan.toml"
    found.write_text(text_of(BAGGING, VOTING, OWN_CLASS, losses=ALL_LOSSES))
    return found


def test_a_plan_holds_bagging_voting_classes_by_path_and_losses_of_ones_own(file, tmp_path):
    plan = read_plan(file, trust=True)
    bagged, voted, stump = (setting.build() for setting in plan.ensembles)
    assert isinstance(bagged, MultilabelBaggingClassifier)
    assert bagged.estimator.get_params() == {"depth": 2}
    assert isinstance(voted, MultilabelVotingClassifier)
    assert [name for name, _ in voted.estimators] == ["trees", "stump"]
    assert stump.estimators[0][1].depth == 2
    assert plan.loss_names == ("hamming", "f2", "hamming(false_negative=[3, 1, 1])", "urgent", "Twice(times=3.0)")
    assert list(plan.targets.values()) == [
        Hamming(),
        FLoss(beta=2.0),
        Hamming(false_negative=(3, 1, 1)),
        CustomLoss(own_code.urgent),
        own_code.Twice(times=3.0),
    ]
    found = run_plan(plan, tmp_path / "run", n_jobs=2)
    assert (found.computed, found.failures) == (6, ())
    assert {(row["ensemble"], row["loss"]) for row in found.rows} == {
        (setting.name, loss) for setting in plan.ensembles for loss in plan.loss_names
    }
    values = {(row["ensemble"], row["fold"], row["aggregation"], row["loss"]): row["value"] for row in found.rows}
    for (ensemble, fold, aggregation, loss), value in values.items():
        if loss == "hamming":
            assert values[ensemble, fold, aggregation, "Twice(times=3.0)"] == pytest.approx(3 * value)


def test_a_run_of_an_open_plan_goes_on_and_is_reported_without_importing_anything(file, tmp_path, monkeypatch):
    plan = read_plan(file, trust=True)
    first = list(plan.cells())[:2]
    run_plan(plan, tmp_path / "run", cells=first, n_jobs=1)
    last = run_plan(read_plan(tmp_path / "run" / "plan.toml", trust=True), tmp_path / "run", n_jobs=1)
    assert (last.kept, last.computed) == (2, 4)
    assert last.rows == run_plan(plan, n_jobs=1).rows
    monkeypatch.setattr(_imports, "imported", lambda path: pytest.fail(f"{path} was imported"))
    monkeypatch.setattr(_settings, "imported", lambda path: pytest.fail(f"{path} was imported"))
    shown = Store.read(tmp_path / "run")
    assert [setting.name for setting in shown.plan.ensembles] == ["bagging", "voting", "stump"]
    with pytest.raises(PlanError, match="was not imported: consent with --trust"):
        shown.plan.ensembles[2].build()
    results = read_run(tmp_path / "run")
    assert results.html()
    assert "Stump(depth=2)" in results.settings["bagging"].arguments["estimator"]
    assert f"from {OWN} import Stump" in results.settings["voting"].imports


@pytest.mark.parametrize(
    ("ensembles", "losses"), [([BAGGING], ["f1"]), ([VOTING], ["f1"]), ([OWN_CLASS], ["f1"]), (["ECC"], [URGENT])]
)
def test_code_that_a_plan_names_is_imported_only_with_consent(ensembles, losses):
    text = text_of(*(one.replace("ECC", '[[ensembles]]\nkind = "ecc"\n') for one in ensembles), losses=losses)
    with pytest.raises(PlanError, match=r"own_code\.\w+ would be imported.*--trust"):
        parse_plan(text)
    assert parse_plan(text, trust=True).paths


def test_refusing_a_plan_imports_nothing(tmp_path):
    (tmp_path / "loud.py").write_text("raise SystemExit('it ran')\n")
    (tmp_path / "plan.toml").write_text(text_of('[[ensembles]]\nclass = "loud.Thing"\n'))
    with pytest.raises(PlanError, match=r"loud\.Thing would be imported"):
        read_plan(tmp_path / "plan.toml")
    assert "loud" not in sys.modules


def test_what_comes_with_the_library_needs_no_consent():
    text = text_of('[[ensembles]]\nclass = "comitia.ECCClassifier"\nn_estimators = 2\n', losses=[F2])
    assert parse_plan(text).ensembles[0].n_members == 2


def test_modules_are_found_beside_the_plan(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "beside_the_plan.py").write_text("def never(truth, labeling):\n    return 0.0 * truth[:, 0]\n")
    (tmp_path / "plan.toml").write_text(
        text_of('[[ensembles]]\nkind = "ecc"\n', losses=['{function = "beside_the_plan.never"}'])
    )
    assert read_plan(tmp_path / "plan.toml", trust=True).loss_names == ("never",)


@pytest.mark.parametrize(
    ("ensemble", "loss", "message"),
    [
        (OWN_CLASS.replace("OWN.Stump", "nowhere.Thing"), "f1", "'nowhere.Thing' cannot be imported: ModuleNotFound"),
        (OWN_CLASS.replace("Stump", "Stumpp"), "f1", "did you mean 'Stump'?"),
        (OWN_CLASS.replace("depth", "dept"), "f1", "'dept': did you mean 'depth'?"),
        (OWN_CLASS.replace("Stump", "NoClassifier").replace("depth = 2\n", ""), "f1", "which has no fit"),
        (OWN_CLASS.replace("Stump", "urgent"), "f1", "must be a class"),
        (BAGGING.replace("OWN.Stump", "Stump"), "f1", "'Stump' must be an import path"),
        ('[[ensembles]]\nkind = "bagging"\n', "f1", "'bagging' must have 'estimator'"),
        ('[[ensembles]]\nkind = "OWN.Stump"\n', "f1", "goes under 'class'"),
        (VOTING.replace("emodt", "emodtt"), "f1", "unknown kind 'emodtt'"),
        (OWN_CLASS, '{kind = "f1", bet = 2}', "'bet': did you mean 'beta'?"),
        (OWN_CLASS, '{kind = "f1", beta = -1}', "losses, entry 1"),
        (OWN_CLASS, '{kind = "f1", name = "jaccard"}', "name 'jaccard' is that of a loss"),
        (OWN_CLASS, '{function = "OWN.NOTHING"}', "must be a loss, a measure or a function"),
        (OWN_CLASS, '{kind = "f1", class = "OWN.Twice"}', "one 'kind' or 'class' or 'function'"),
    ],
)
def test_a_mistake_in_an_open_plan_is_named_before_the_first_cell(ensemble, loss, message):
    with pytest.raises(PlanError) as caught:
        parse_plan(text_of(ensemble, losses=[loss]), trust=True)
    assert message in str(caught.value)


def test_all_of_it_is_in_the_digest_and_survives_being_written(file):
    plan = read_plan(file, trust=True)
    again = parse_plan(write_plan(plan), trust=True)
    assert again == plan
    assert again.digest() == plan.digest()
    changes = [("depth = 2}", "depth = 3}"), ("weights = [2, 1]", "weights = [1, 1]"), ("depth = 2\n", "depth = 3\n")]
    changes += [("beta = 2.0", "beta = 3.0"), ("urgent", 'urgent", name = "other'), ("[3, 1, 1]", "[1, 3, 1]")]
    for before, after in changes:
        other = parse_plan(file.read_text().replace(before, after), trust=True)
        assert other.digest() != plan.digest(), after
    assert set(plan.identity()["ensembles"]["voting"]["code"]) == {f"{OWN}.Stump"}


def test_paths_begin_where_the_plan_is_wherever_it_is_run_from(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = read_plan("plans/plan.toml", trust=True)
    assert plan.source("joint").load().label_names == tuple(LABELS)
    run_plan(plan, "run", cells=list(plan.cells())[:1], n_jobs=1)
    assert 'path = "../plans/joint.csv"' in (tmp_path / "run" / "plan.toml").read_text()
    monkeypatch.chdir(tmp_path / "plans")
    taken_up = run_plan(read_plan("plan.toml", trust=True), "../run", cells=list(plan.cells())[:1], n_jobs=1)
    assert taken_up.kept == 1


def test_patterns_of_labels_that_fit_no_column_are_named(file):
    plan = parse_plan(file.read_text().replace('"y*"', '"z*"'), trust=True, folder=file.parent)
    with pytest.raises(ComitiaError, match=r"joint\.csv: no column is like 'z\*'"):
        plan.source("joint").load()


def test_compare_takes_calls_objects_and_paths(joint):
    results = compare(
        joint.X,
        joint.Y,
        ensembles=["emodt", f"bagging(estimator={OWN}.Stump(depth=2))", ("tree", DecisionTreeClassifier(max_depth=2))],
        losses=["f1", "f1(beta=2)", ("dear", Hamming(false_negative=3.0)), own_code.urgent, f"{OWN}.Twice"],
        members=3,
        folds=2,
        n_jobs=1,
        trust=True,
    )
    assert set(results.losses) == {"f1", "f1(beta=2)", "dear", "urgent", "Twice"}
    best = results.recommendation("f1(beta=2)")
    assert best.measure.higher_is_better
    assert best.aggregation == "own" or "loss=FLoss(beta=2)" in best.code
    assert "from comitia.losses import FLoss" in best.imports
    assert "oob" in results.rows["aggregation"].unique()
    with pytest.raises(PlanError, match=r"Stump would be imported"):
        compare(joint.X, joint.Y, ensembles=[f"{OWN}.Stump"])


def test_a_loss_of_ones_own_is_scored_as_by_hand(joint):
    from comitia.measures._registry import loss_of

    truth, labeling = joint.Y, np.zeros_like(joint.Y)
    expected = own_code.urgent(truth, labeling).mean()
    assert loss_of(LossSetting(f"{OWN}.urgent").target(), truth, labeling) == pytest.approx(expected)


def test_costs_that_are_no_shares_are_shown_as_they_are(joint):
    results = compare(
        joint.X, joint.Y, ensembles=["emodt"], losses=["f1", own_code.urgent], aggregations=["ctp"], members=3, folds=2
    )
    mean = results.rows.query("loss == 'urgent'")["value"].mean()
    advice = results.recommendation("urgent")
    assert advice.percent == pytest.approx(mean)
    assert mean > 1, "no share: it is to be larger than one"
    assert f"urgent: EMODT with CTP, {mean:.2f}." in str(advice)
    assert "urgent, lower is better" in results.table()
    assert "F1-measure in percent, higher is better" in results.table()
    records = {row["loss"]: row for row in results.as_records()["results"]}
    assert (records["urgent"]["percent"], records["urgent"]["value"]) == (None, pytest.approx(mean))
    assert records["f1"]["percent"] == records["f1"]["value"]
    assert "| EMODT | urgent ↓ | CTP |" in results.table(format="markdown")
    assert "<b>urgent</b>, lower is better" in results.html()


def test_workers_that_lack_the_code_or_have_other_are_refused():
    path = f"{OWN}.Stump"
    agreement = Agreement((), False, [path])
    agreement.check({"here": about([path])})
    other = about([path])
    other["versions"][path] = "other"
    with pytest.raises(ComitiaError, match=rf"w1 has {path} other"):
        agreement.check({"w1": other})
    with pytest.raises(ComitiaError, match=r"w2 cannot compute cells: PlanError: 'nowhere\.Thing' cannot be imported"):
        agreement.check({"w2": PlanError("'nowhere.Thing' cannot be imported")})


def test_a_real_learner_of_one_label_is_wrapped_a_label_at_a_time(joint):
    pytest.importorskip("lightgbm", reason="needs lightgbm")
    text = text_of('[[ensembles]]\nkind = "ebr"\nestimator = {class = "lightgbm.LGBMClassifier", n_estimators = 3}\n')
    plan = replace(parse_plan(text, trust=True), folds=2)
    assert not run_plan(plan, data={"joint": joint}, cells=list(plan.cells())[:1], n_jobs=1).failures
